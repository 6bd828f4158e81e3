"""The only loop over judges, items, factors and repeats: makes the plan of calls, and reads every reply once.

plan -> calls -> (call, response) -> read() -> ratings table, usage, excerpts
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recuse.excerpts import Excerpts
from recuse.judges import read_response, wire
from recuse.protocols import ElicitationProtocol, called, protocol
from recuse.ratings.table import COLUMNS, JUDGE, check_table
from recuse.schema import Call, Item, Judge, Judgement, RawResponse, RecuseError, Request
from recuse.tasks import Task
from recuse.usage import Usages

if TYPE_CHECKING:
    import pandas as pd

Identify = Callable[[Request], str]
Levels = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Plan:
    """Every call one protocol makes of a panel's judges on one task, in a fixed order.

    `factors`: the levels that are asked, as the protocol calls them. The calls are built when they are first wanted: who
    only wants to know what is asked about pays for no prompt."""

    panel: str
    task: Task
    protocol: str
    judges: Mapping[str, Judge]
    items: Mapping[tuple[str, str, str], Item]  # (judge, item id, target) -> item
    factors: Mapping[str, tuple[str, ...]]
    repeats: int
    identify: Identify

    @cached_property
    def calls(self) -> Sequence[Call]:
        """Judges x items x factor levels x repeats."""
        return _calls(self)

    def with_calls(self, calls: Sequence[Call]) -> Plan:
        """The same plan with these calls instead of its own."""
        changed = replace(self)
        changed.__dict__["calls"] = list(calls)  # where the cached property would put them
        return changed

    def without(self, judges: AbstractSet[str]) -> Plan:
        """The same plan for the other judges."""
        kept = {name: judge for name, judge in self.judges.items() if name not in judges}
        return replace(self, judges=kept, items={key: item for key, item in self.items.items() if key[0] in kept})


@dataclass(frozen=True)
class Elicited:
    """What one pass over the replies found. `table` has the factors under the names of `recuse.ratings.factors`."""

    table: pd.DataFrame
    usage: list[dict[str, Any]]
    excerpts: list[dict[str, Any]]


def plan(
    panel: str,
    task: Task,
    protocol_name: str,
    judges: Mapping[str, Judge],
    *,
    identify: Identify,
    repeats: int | None = None,
    targets: Sequence[str] | None = None,
    factors: Levels | None = None,
) -> Plan:
    """The plan of one protocol. `identify` gives a request its cassette key; `factors` restricts what is varied to some
    levels, by the protocol's names or by those of the ratings table. `RecuseError` for an unknown target or level."""
    how = protocol(protocol_name)
    varied = levels_asked(how, protocol_name, factors or {})
    if unknown := [target for target in targets or () if target not in task.targets]:
        raise RecuseError(
            f"panel {panel}, task {task.name}: unknown target {', '.join(unknown)}; known: {', '.join(task.targets)}"
        )
    items = {
        (judge.name, item.id, item.target): item
        for judge in judges.values()
        for item in how.items(task, judge)
        if targets is None or item.target in targets
    }
    return Plan(panel, task, protocol_name, judges, items, varied, repeats or how.REPEATS, identify)


def _calls(asked: Plan) -> list[Call]:
    how, task = protocol(asked.protocol), asked.task
    prompts = _Prompts(how, task)
    crossed = [tuple(zip(asked.factors, levels, strict=True)) for levels in itertools.product(*asked.factors.values())]
    calls: list[Call] = []
    for (name, item_id, target), item in asked.items.items():
        judge = asked.judges[name]
        request_of = wire(judge.wire).request
        for chosen in crossed:
            levels = (level for _, level in chosen)
            cell = f"{asked.panel}/{task.name}/{asked.protocol}/{'~'.join((name, target, *levels))}"
            request, key = None, ""
            for repeat in range(asked.repeats):
                if request is None or judge.seeded:  # identical requests are built and identified once
                    seed = seed_for(task.name, asked.protocol, item, chosen, repeat) if judge.seeded else None
                    request = request_of(judge, prompts.of(item, chosen), seed)
                    key = asked.identify(request)
                about = (task.name, asked.protocol, name, item_id, target, chosen, repeat)
                calls.append(Call(*about, request, key, cell))
    return calls


def levels_asked(how: ElicitationProtocol, name: str, wanted: Levels) -> dict[str, tuple[str, ...]]:
    """The protocol's factors with the levels that are asked: all, unless `wanted` restricts them. `RecuseError` for a
    factor or level that the protocol does not have."""
    varied = {factor: tuple(levels) for factor, levels in how.FACTORS.items()}
    for factor, chosen in wanted.items():
        own = next((f for f in varied if factor in (f, called(how, f))), None)
        if own is None:
            raise RecuseError(f"protocol {name} has no factor {factor!r}; it has {', '.join(varied) or 'none'}")
        known = {called(how, own, level): level for level in varied[own]} | {level: level for level in varied[own]}
        if not chosen or (strange := [level for level in chosen if level not in known]):
            named = ", ".join(map(repr, strange)) if chosen else "none"
            raise RecuseError(f"protocol {name}: factor {factor} has the levels {', '.join(varied[own])}; got {named}")
        kept = {known[level] for level in chosen}
        varied[own] = tuple(level for level in varied[own] if level in kept)
    return varied


def seed_for(task: str, protocol_name: str, item: Item, factors: Sequence[tuple[str, str]], repeat: int) -> int:
    """A sampling seed of its own for every (item, factors, repeat): one seed reused would correlate the draws."""
    text = "\0".join((task, protocol_name, item.id, item.target, *(f"{k}={v}" for k, v in factors), str(repeat)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) & 0x7FFFFFFF


def read(plan_: Plan, responses: Iterable[tuple[Call, RawResponse]]) -> Elicited:
    """The checked table with one row per call and criterion, in the order of the plan's calls, and what the replies
    say beside the scores. Each reply is decoded and read once."""
    how = protocol(plan_.protocol)
    formats = {name: wire(judge.wire) for name, judge in plan_.judges.items()}
    usages, excerpts = Usages(plan_), Excerpts(plan_)
    rows = _Rows()
    named = {chosen: dict(chosen) for chosen in {call.factors for call in plan_.calls}}
    for call, response in responses:
        item = plan_.items[call.judge, call.item, call.target]
        reply = read_response(formats[call.judge], response)
        judgements = how.read(plan_.task, item, named[call.factors], reply)
        usages.count(call, reply)
        excerpts.note(call, reply, judgements)
        rows.add(call, judgements)
    columns = {factor: called(how, factor) for factor in plan_.factors}
    table = check_table(rows.table(how, columns), tuple(columns.values()))
    return Elicited(table, usages.rows(), excerpts.rows())


class _Rows:
    """Collects judgements, and makes the table column by column. What a call has is one value for all its rows; every
    text is stored once and pointed to, which takes a fraction of the time and memory of building row after row."""

    CHUNK = 20_000

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._sizes: list[int] = []  # rows of each call
        self._pending: list[Judgement] = []
        self._elsewhere: dict[int, str] = {}  # row -> its item, where it is not the call's
        self._parts: list[dict[str, Any]] = []
        self._count = 0

    def add(self, call: Call, judgements: Sequence[Judgement]) -> None:
        for place, row in enumerate(judgements, self._count):
            if row.item is not None:
                self._elsewhere[place] = row.item
        self._calls.append(call)
        self._sizes.append(len(judgements))
        self._count += len(judgements)
        self._pending += judgements
        if len(self._pending) >= self.CHUNK:
            self._settle()

    def _settle(self) -> None:
        """Turn the judgements collected so far into columns."""
        import numpy as np

        rows, self._pending = self._pending, []
        self._parts.append(
            {
                "criterion": np.array([row.criterion for row in rows], dtype=object),
                "score": np.array([row.score for row in rows], dtype=np.float64),
                "response": np.array([row.response for row in rows], dtype=object),
                "status": np.array([row.status for row in rows], dtype=object),
            }
        )

    def table(self, how: ElicitationProtocol, columns: Mapping[str, str]) -> pd.DataFrame:
        import numpy as np
        import pandas as pd

        self._settle()
        of = np.repeat(np.arange(len(self._calls)), self._sizes)

        def spread(values: list[Any]) -> Any:
            return np.array(values, dtype=object)[of] if values else np.array([], dtype=object)

        made: dict[str, Any] = {
            name: np.concatenate([part.pop(name) for part in self._parts])
            for name in ("criterion", "score", "response", "status")
        }
        calls = self._calls
        for name, attribute in _OF_CALLS.items():
            made[name] = spread([getattr(call, attribute) for call in calls])
        made["repeat"] = np.array([call.repeat for call in calls], dtype=np.int64)[of]
        made["kind"] = np.full(len(of), JUDGE, dtype=object)
        for place, item in self._elsewhere.items():
            made["item"][place] = item
        for place, (factor, column) in enumerate(columns.items()):
            levels = {level: called(how, factor, level) for level in {call.factors[place][1] for call in calls}}
            made[column] = spread([levels[call.factors[place][1]] for call in calls])
        typed = {
            name: pd.Series(
                made.pop(name), dtype="float64" if name == "score" else "int64" if name == "repeat" else object
            )
            for name in (*COLUMNS, *columns.values())
        }
        return pd.DataFrame(typed, copy=False)


_OF_CALLS = {
    "task": "task", "protocol": "protocol", "rater": "judge", "item": "item", "target": "target", "request": "key",
}  # fmt: skip


class _Prompts:
    """A prompt depends on item and factors only: rendered once, whatever the number of judges and repeats."""

    def __init__(self, how: ElicitationProtocol, task: Task) -> None:
        self._how, self._task = how, task
        self._made: dict[tuple[str, str, tuple[tuple[str, str], ...]], Any] = {}

    def of(self, item: Item, factors: tuple[tuple[str, str], ...]) -> Any:
        key = (item.id, item.target, factors)
        if key not in self._made:
            try:
                self._made[key] = self._how.prompt(self._task, item, dict(factors))
            except KeyError as error:
                name = self._how.__name__.rpartition(".")[2] if hasattr(self._how, "__name__") else "this protocol"
                raise RecuseError(
                    f"{self._task.folder / self._task.items_file}: item {item.id!r} of {item.target!r} has no field "
                    f"{error}, which protocol {name} shows its judges; it has {', '.join(item.fields) or 'none'}"
                ) from None
        return self._made[key]
