"""Which calls a protocol makes of a panel's judges: judges x items x factor levels x repeats, in a fixed order."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from recuse.judges import wire
from recuse.protocols import ElicitationProtocol, called, protocol
from recuse.protocols.stages import check_stages, stages_of
from recuse.schema import Call, Item, Judge, Prompt, RecuseError, Request
from recuse.schema.cycle_collector import paused_cycle_collector
from recuse.tasks import Task

__all__ = ["Plan", "make_plan", "planned_items", "planned_levels", "seed_for"]

Identify = Callable[[Request], str]
Levels = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Plan:
    """Every call one protocol makes of a panel's judges on one task, in a fixed order.

    `factors`: the levels that are asked, as the protocol calls them. The calls are built when they are first wanted:
    who only wants to know what is asked about pays for no prompt."""

    panel: str
    task: Task
    protocol: str
    judges: Mapping[str, Judge]
    items: Mapping[tuple[str, str, str], Item]  # (judge, item id, target) -> item
    factors: Mapping[str, tuple[str, ...]]
    repeats: int
    identify: Identify
    panel_judges: Mapping[str, Judge] = field(
        default_factory=dict
    )  # also those left out of `judges`; the first is first

    @cached_property
    def calls(self) -> Sequence[Call]:
        """Judges x items x factor levels x repeats; of a protocol of several calls none: what it asks depends on
        the replies before, see `recuse.elicitation.chains`."""
        return [] if stages_of(protocol(self.protocol)) else _calls(self)

    def without(self, judges: AbstractSet[str]) -> Plan:
        """The same plan for the other judges."""
        kept = {name: judge for name, judge in self.judges.items() if name not in judges}
        return replace(self, judges=kept, items={key: item for key, item in self.items.items() if key[0] in kept})


def make_plan(
    panel: str,
    task: Task,
    protocol_name: str,
    judges: Mapping[str, Judge],
    *,
    identify: Identify,
    repeats: int | None = None,
    targets: Sequence[str] | None = None,
    factors: Levels | None = None,
    first: int | None = None,
) -> Plan:
    """The plan of one protocol. `identify` gives a request its cassette key; `factors` restricts what is varied to some
    levels, by the protocol's names or by those of the ratings table, `first` the items to so many. `RecuseError` for an
    unknown target or level."""
    how = protocol(protocol_name)
    varied = planned_levels(how, protocol_name, factors or {})
    if unknown := [target for target in targets or () if target not in task.targets]:
        raise RecuseError(
            f"panel {panel}, task {task.name}: unknown target {', '.join(unknown)}; known: {', '.join(task.targets)}"
        )
    if not getattr(how, "SEEDED", True):
        judges = {name: replace(judge, seeded=False) for name, judge in judges.items()}
    items = {
        (judge.name, item.id, item.target): item
        for judge in judges.values()
        for item in planned_items(how, task, judge, first)
        if targets is None or item.target in targets
    }
    check_stages(how, protocol_name)
    return Plan(panel, task, protocol_name, judges, items, varied, repeats or how.REPEATS, identify, judges)


def planned_items(how: ElicitationProtocol, task: Task, judge: Judge, first: int | None) -> Sequence[Item]:
    """The items that a judge is shown: all of the protocol's, or those of its first so many ids."""
    items = how.items(task, judge)
    if first is None:
        return items
    chosen = {*list(dict.fromkeys(item.id for item in items))[:first]}
    return [item for item in items if item.id in chosen]


def planned_levels(how: ElicitationProtocol, name: str, wanted: Levels) -> dict[str, tuple[str, ...]]:
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


def seed_for(
    task: str, protocol_name: str, item: Item, factors: Sequence[tuple[str, str]], repeat: int, stage: str = ""
) -> int:
    """A sampling seed of its own for every (item, factors, repeat, stage): a seed used twice would correlate draws."""
    where = (task, protocol_name, item.id, item.target, *(f"{k}={v}" for k, v in factors), str(repeat))
    text = "\0".join((*where, stage) if stage else where)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) & 0x7FFFFFFF


@paused_cycle_collector()
def _calls(plan: Plan) -> list[Call]:
    task = plan.task
    prompts = _Prompts(plan)
    crossed = [tuple(zip(plan.factors, levels, strict=True)) for levels in itertools.product(*plan.factors.values())]
    calls: list[Call] = []
    for (name, item_id, target), item in plan.items.items():
        judge = plan.judges[name]
        request_of = wire(judge.wire).request
        for chosen in crossed:
            levels = (level for _, level in chosen)
            cell = f"{plan.panel}/{task.name}/{plan.protocol}/{'~'.join((name, target, *levels))}"
            request, key, prompt = None, "", None
            for repeat in range(plan.repeats):
                if request is None or judge.seeded:  # identical requests are built and identified once
                    seed = seed_for(task.name, plan.protocol, item, chosen, repeat) if judge.seeded else None
                    prompt = prompts.of(item, chosen)
                    request = request_of(judge, prompt, seed)
                    key = plan.identify(request)
                about = (task.name, plan.protocol, name, item_id, target, chosen, repeat)
                calls.append(Call(*about, request, key, cell, "", prompt))
    return calls


class _Prompts:
    """A prompt depends on item and factors only: rendered once, whatever the number of judges and repeats."""

    def __init__(self, plan: Plan) -> None:
        self._how, self._plan, self._task = protocol(plan.protocol), plan, plan.task
        self._made: dict[tuple[str, str, tuple[tuple[str, str], ...]], Prompt] = {}

    def of(self, item: Item, factors: tuple[tuple[str, str], ...]) -> Prompt:
        key = (item.id, item.target, factors)
        if key not in self._made:
            with lacking_fields_named(self._plan.protocol, self._task, item):
                self._made[key] = self._how.prompt(self._task, item, dict(factors))
        return self._made[key]


@contextmanager
def lacking_fields_named(protocol: str, task: Task, item: Item) -> Iterator[None]:
    """A field that a prompt wants and an item has not, as a `RecuseError` with the item's place."""
    try:
        yield
    except KeyError as error:
        raise RecuseError(
            f"{task.folder / task.items_file}: item {item.id!r} of {item.target!r} has no field {error}, which "
            f"protocol {protocol} shows its judges; it has {', '.join(item.fields) or 'none'}"
        ) from None
