"""Which calls a protocol makes of a panel's judges: judges x items x factor levels x repeats, in a fixed order."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recuse.judges import wire
from recuse.judges.provider_responses import decoded
from recuse.panels import Panel
from recuse.protocols import ElicitationProtocol, called, check_stages, protocol, template
from recuse.protocols.wording import wording_hash
from recuse.ratings.scale import Numeric
from recuse.schema import Call, Item, Judge, Prompt, RecuseError, Request
from recuse.schema.plain_values import paused_cycle_collector
from recuse.tasks import Task

Identify = Callable[[Request], str]
Levels = Mapping[str, Sequence[str]]
_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str).encode
UNTOLD = (  # tables of task.toml no judge is told: prose for readers, what answers are compared with, where texts end
    "title", "description", "target", "tier", "text", "cluster", "clusters", "people", "reference", "thresholds",
    "payloads", "rules", "longest",
)  # fmt: skip
_NESTED = ("generationConfig", "inferenceConfig", "options")
_LIMITS = ("max_tokens", "maxOutputTokens", "max_completion_tokens", "max_output_tokens", "maxTokens")


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
    panel_judges: Mapping[str, Judge] = field(default_factory=dict)  # in order, also those left out of `judges`

    @cached_property
    @paused_cycle_collector()
    def calls(self) -> Sequence[Call]:
        """Judges x items x factor levels x repeats; of several stages none: see `recuse.elicitation.chains`."""
        task, how, crossed = self.task, protocol(self.protocol), self.crossed_levels
        if getattr(how, "STAGES", ()):
            return []
        prompts: dict[tuple[object, ...], Prompt] = {}  # depends on no judge and no repeat, so each is rendered once
        calls: list[Call] = []
        for (name, item_id, target), item in self.items.items():
            judge = self.judges[name]
            request_of = wire(judge.wire).request
            for chosen in crossed:
                levels = (level for _, level in chosen)
                cell = f"{self.panel}/{task.name}/{self.protocol}/{'~'.join((name, target, *levels))}"
                if (prompt := prompts.get((item_id, target, chosen))) is None:
                    with lacking_fields_named(self.protocol, task, item):
                        prompt = prompts[item_id, target, chosen] = how.prompt(task, item, dict(chosen))
                request, key = None, ""
                for repeat in range(self.repeats):
                    if request is None or judge.seeded:  # identical requests are built and identified once
                        seed = seed_for(task.name, self.protocol, item, chosen, repeat) if judge.seeded else None
                        request = request_of(judge, prompt, seed)
                        key = self.identify(request)
                    about = (task.name, self.protocol, name, item_id, target, chosen, repeat)
                    calls.append(Call(*about, request, key, cell, "", prompt))
        return calls

    @property
    def crossed_levels(self) -> list[tuple[tuple[str, str], ...]]:
        """Every combination of the levels that are asked, each level with its factor."""
        return [tuple(zip(self.factors, levels, strict=True)) for levels in itertools.product(*self.factors.values())]

    def without(self, judges: AbstractSet[str]) -> Plan:
        """The same plan for the other judges."""
        kept = {name: judge for name, judge in self.judges.items() if name not in judges}
        return replace(self, judges=kept, items={key: item for key, item in self.items.items() if key[0] in kept})


def make_plan(
    panel: str, task: Task, protocol_name: str, judges: Mapping[str, Judge], *, identify: Identify,
    repeats: int | None = None, targets: Sequence[str] | None = None, factors: Levels | None = None,
    first: int | None = None,
) -> Plan:  # fmt: skip
    """The plan of one protocol. `identify` gives a request its cassette key; `factors` restricts what is varied to some
    levels, by either name, `first` the items to so many. `RecuseError` for an unknown target or level."""
    how = protocol(protocol_name)
    varied = planned_levels(how, protocol_name, factors or {})
    if unknown := [target for target in targets or () if target not in task.targets]:
        strange, known = ", ".join(unknown), ", ".join(task.targets)
        raise RecuseError(f"panel {panel}, task {task.name}: unknown target {strange}; known: {known}")
    if not getattr(how, "SEEDED", True):
        judges = {name: replace(judge, seeded=False) for name, judge in judges.items()}
    shown = ((judge.name, item) for judge in judges.values() for item in planned_items(how, task, judge, first))
    items = {(name, item.id, item.target): item for name, item in shown if targets is None or item.target in targets}
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
    """The protocol's factors with the levels asked: all, or those `wanted`. `RecuseError` for unknown ones."""
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


@contextmanager
def lacking_fields_named(protocol: str, task: Task, item: Item) -> Iterator[None]:
    """A field that a prompt wants and an item has not, as a `RecuseError` with the item's place."""
    try:
        yield
    except KeyError as error:
        wanted = f"no field {error}, which protocol {protocol} shows its judges"
        place = f"{task.folder / task.items_file}: item {item.id!r} of {item.target!r}"
        raise RecuseError(f"{place} has {wanted}; it has {', '.join(item.fields) or 'none'}") from None


def headers(panel: Panel, plan: Plan, calls: Sequence[Call] | None = None) -> dict[str, dict[str, Any]]:
    """Cell -> the header that opens its cassette, of the plan's (known) calls; a changed field makes the cell stale."""
    first_calls: dict[str, Call] = {}
    for call in plan.calls if calls is None else calls:
        first_calls.setdefault(call.cell, call)
    prompt, rubric = wording_hash(plan.task, template(plan.protocol)), rubric_hash(plan.task)
    scale = "; ".join(  # where the task has none, those of its criteria or their options: "toxic|not toxic"
        f"{one.minimum:g}..{one.maximum:g}" if isinstance(one, Numeric) else "|".join(one.options)
        for one in plan.task.scales.values()
    )
    if "scale" in plan.task.data:
        scale = "{:g}..{:g}".format(*plan.task.scale)
    made = {}
    for cell, call in first_calls.items():
        judge, body = plan.panel_judges.get(call.judge) or plan.judges[call.judge], decoded(call.request.body)
        # some formats keep their sampling parameters a level deeper
        config: dict[str, Any] = {**body, **next((body[name] for name in _NESTED if name in body), {})}
        fingerprint: dict[str, Any] = {
            "wire": judge.wire, "host": urlsplit(judge.base_url).netloc, "model": judge.model,
            "temperature": config.get("temperature"),
            "max_tokens": next((config[name] for name in _LIMITS if name in config), None),
            "parameters": dict(judge.parameters), "structured": judge.structured, "seeded": judge.seeded,
            # Only where there are any: what a cassette recorded without them says is still true.
            **{name: dict(more) for name in ("headers", "query", "rename") if (more := getattr(judge, name))},
            **({"omit": list(judge.omit)} if judge.omit else {}),
            "prompt": prompt, "rubric": rubric, "scale": scale,
        }  # fmt: skip
        # what stands behind a local model's address and shows in no request
        if server := panel.servers.get(call.judge):
            fingerprint["served"] = {
                "weights_sha256": server.sha256, "packages": list(server.packages), "licence": server.licence,
                "context": server.context, "threads": server.threads,
                "chat_template": server.chat_template or "from the weights",
            }  # fmt: skip
        made[cell] = {
            "provenance": panel.provenance, "panel": panel.name, "task": plan.task.name, "protocol": plan.protocol,
            "judge": call.judge, "target": call.target, **({"stage": call.stage} if call.stage else {}),
            "factors": dict(call.factors), "source": panel.source, "fingerprint": fingerprint,
        }  # fmt: skip
    return made


def digests(plan: Plan, headers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What a plan's judges were asked, who they are and what they are measured by, in short, of `headers` and task:
    {"items", "prompt", "rubric", "scale", "people", "truth", "provenance", "judges": {name: digest}}."""
    different = {id(item): item for item in plan.items.values()}  # most judges are shown the same
    items = sorted({(item.id, item.target, _canonical(item.fields)) for item in different.values()})
    digests: dict[str, Any] = {"items": _digest(items)}
    judges: dict[str, dict[str, None]] = {}
    for header in headers.values():
        fingerprint = dict(header["fingerprint"])
        for name in ("prompt", "rubric", "scale"):
            digests[name] = fingerprint.pop(name)
        judges.setdefault(header["judge"], {})[_canonical(fingerprint)] = None
    for name, tables in {"people": ("people",), "truth": ("reference", "thresholds", "cluster", "clusters")}.items():
        digests[name] = _digest(_with_files([plan.task.data.get(table) for table in tables], plan.task.folder))
    digests["provenance"] = ", ".join(sorted({header["provenance"] for header in headers.values()}))
    return digests | {"judges": {name: _digest(sorted(prompts)) for name, prompts in sorted(judges.items())}}


def _with_files(value: Any, folder: Path) -> Any:
    """A table of task.toml with the contents of the files that it names."""
    if isinstance(value, Mapping):
        return {name: _with_files(part, folder) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_files(part, folder) for part in value]
    path = folder / value if isinstance(value, str) and value else folder
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest() if path.is_file() else value


def _digest(value: Any) -> str:
    return hashlib.blake2b(_canonical(value).encode(), digest_size=8).hexdigest()


def rubric_hash(task: Task) -> str:
    """Identifies criteria, anchors and levels: 16 hex digits over task.toml without what no judge is told."""
    return _digest({key: value for key, value in task.data.items() if key not in UNTOLD})
