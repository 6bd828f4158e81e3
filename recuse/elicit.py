"""The only loop over judges, items, conditions and repeats: makes the plan of calls, and turns replies into ratings."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recuse.judges import read_response, wire
from recuse.protocols import ElicitationProtocol, protocol
from recuse.schema import RATING_COLUMNS, Call, Item, Judge, Judgement, RawResponse, RecuseError, Request, check_ratings
from recuse.tasks import Task

if TYPE_CHECKING:
    import pandas as pd

Identify = Callable[[Request], str]


@dataclass(frozen=True)
class Plan:
    """Every call one protocol makes of a panel's judges on one task, in a fixed order."""

    task: Task
    protocol: str
    judges: Mapping[str, Judge]
    calls: Sequence[Call]
    items: Mapping[tuple[str, str, str], Item]  # (judge, item id, target) -> item

    @property
    def factors(self) -> Mapping[str, tuple[str, ...]]:
        return protocol(self.protocol).FACTORS


def plan(
    panel: str,
    task: Task,
    protocol_name: str,
    judges: Mapping[str, Judge],
    *,
    identify: Identify,
    repeats: int | None = None,
    targets: Sequence[str] | None = None,
) -> Plan:
    """Judges x items x factor levels x repeats. `identify` gives a request its cassette key."""
    how = protocol(protocol_name)
    if unknown := [target for target in targets or () if target not in task.targets]:
        raise RecuseError(
            f"panel {panel}, task {task.name}: unknown target {', '.join(unknown)}; known: {', '.join(task.targets)}"
        )
    calls: list[Call] = []
    asked: dict[tuple[str, str, str], Item] = {}
    prompts = _Prompts(how, task)
    for judge in judges.values():
        for item in how.items(task, judge):
            if targets is not None and item.target not in targets:
                continue
            asked[judge.name, item.id, item.target] = item
            for levels in itertools.product(*how.FACTORS.values()):
                factors = tuple(zip(how.FACTORS, levels, strict=True))
                cell = f"{panel}/{task.name}/{protocol_name}/{'~'.join((judge.name, item.target, *levels))}"
                request, key = None, ""
                for repeat in range(repeats or how.REPEATS):
                    if request is None or judge.seeded:  # identical requests are built and identified once
                        seed = seed_for(task.name, protocol_name, item, factors, repeat) if judge.seeded else None
                        request = wire(judge.wire).request(judge, prompts.of(item, factors), seed)
                        key = identify(request)
                    calls.append(
                        Call(
                            task.name,
                            protocol_name,
                            judge.name,
                            item.id,
                            item.target,
                            factors,
                            repeat,
                            request,
                            key,
                            cell,
                        )
                    )
    return Plan(task, protocol_name, judges, calls, asked)


def seed_for(task: str, protocol_name: str, item: Item, factors: Sequence[tuple[str, str]], repeat: int) -> int:
    """A sampling seed of its own for every (item, factors, repeat): one seed reused would correlate the draws."""
    text = "\0".join((task, protocol_name, item.id, item.target, *(f"{k}={v}" for k, v in factors), str(repeat)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) & 0x7FFFFFFF


def ratings(plan_: Plan, responses: Iterable[tuple[Call, RawResponse]]) -> pd.DataFrame:
    """The checked ratings table of the plan: one row per call and criterion, in the order of the plan's calls."""
    how = protocol(plan_.protocol)
    formats = {name: wire(judge.wire) for name, judge in plan_.judges.items()}
    calls: list[Call] = []
    sizes: list[int] = []  # rows of each call
    read: dict[str, list[Any]] = {name: [] for name in ("item", "criterion", "score", "response", "status")}
    for call, response in responses:
        item = plan_.items[call.judge, call.item, call.target]
        rows = how.read(plan_.task, item, dict(call.factors), read_response(formats[call.judge], response))
        calls.append(call)
        sizes.append(len(rows))
        _append(read, call, rows)
    return check_ratings(_table(calls, sizes, read, tuple(how.FACTORS)), tuple(how.FACTORS))


def _append(read: dict[str, list[Any]], call: Call, rows: Iterable[Judgement]) -> None:
    for row in rows:
        read["item"].append(row.item or call.item)
        read["criterion"].append(row.criterion)
        read["score"].append(row.score)
        read["response"].append(row.response)
        read["status"].append(row.status)


def _table(
    calls: Sequence[Call], sizes: Sequence[int], read: dict[str, list[Any]], factors: Sequence[str]
) -> pd.DataFrame:
    """What a call has is spread over its rows column by column, which takes a fraction of building row after row."""
    import numpy as np
    import pandas as pd

    of = np.repeat(np.arange(len(calls)), sizes)

    def spread(values: list[Any]) -> Any:
        return pd.Series(values).take(of).array

    by_call = {name: [getattr(call, name) for call in calls] for name in _OF_CALLS}
    by_call |= {factor: [call.factors[n][1] for call in calls] for n, factor in enumerate(factors)}
    by_call["request"] = [call.key for call in calls]
    columns = {}
    for name in (*RATING_COLUMNS, *factors):
        # One column after the other, each list given up as its column is made: a third less memory at its peak.
        found = spread(by_call[name]) if name in by_call else pd.Series(read.pop(name), dtype=_DTYPES.get(name)).array
        columns[name] = found
    return pd.DataFrame(columns, copy=False)


_OF_CALLS = ("task", "protocol", "judge", "target", "repeat")
_DTYPES = {"score": "float64"}


class _Prompts:
    """A prompt depends on item and factors only: rendered once, whatever the number of judges and repeats."""

    def __init__(self, how: ElicitationProtocol, task: Task) -> None:
        self._how, self._task = how, task
        self._made: dict[tuple[str, str, tuple[tuple[str, str], ...]], Any] = {}

    def of(self, item: Item, factors: tuple[tuple[str, str], ...]) -> Any:
        key = (item.id, item.target, factors)
        if key not in self._made:
            self._made[key] = self._how.prompt(self._task, item, dict(factors))
        return self._made[key]
