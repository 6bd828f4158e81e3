"""Protocols: how a judge is asked, and how its words become rows. A protocol is a module, or an object in one; add
yours to PROTOCOLS, or leave it in your own repository and name it in the panel file, protocols =
["our_judges.one_word"]. Protocols of one paper's study stand in `recuse.papers` and are found by entry points, as those
of a package of yours. None guesses: what cannot be read is a named failure (unparsed, refused, out_of_scale, error)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from recuse.configuration import entry_points_of, named
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply

if TYPE_CHECKING:
    from recuse.tasks import Task

PROTOCOLS = {
    "rubric": "recuse.protocols.rubric", "grading": "recuse.protocols.grading.GRADING",
    "grading_injected": "recuse.protocols.grading.INJECTED", "pairwise": "recuse.protocols.pairwise.PAIRWISE",
    "pairwise_injected": "recuse.protocols.pairwise.INJECTED", "pairwise_length": "recuse.protocols.pairwise.LENGTH",
    "verdict": "recuse.protocols.last_line.VERDICT",
}  # fmt: skip
"""Name -> where it is. The name stands in panels, evals, cassettes and results."""

_named: dict[str, Any] = {}
Levels = Mapping[str, str]
Earlier = Mapping[str, Any]  # stage -> what its reader made of the reply


class ElicitationProtocol(Protocol):
    """What elicitation needs to know of a protocol. A module or an object with these names is one.

    It may also have: `FACTOR_NAMES`, for factors that its prompts call otherwise than the ratings table does, as
    {"condition": ("names", {"attributed": "shown", "anonymized": "hidden"})}; `headline(task)`, the criteria that stand
    for the judgement (the task's unless given); `parts(task)`, those of which the one headline criterion claims to be
    the mean; `scales(task)`, criterion -> scale where it is not the task's; `facts(task, item)`, what measures may know
    of an item (cluster, text, words, a, b, payload, ...; unless given, its text and what it belongs to); `STAGES`, the
    calls before the one that judges: `prompt` and `read` then also get what was read there;
    `explanations(task, item, factors, reply)` and `quotes(...)`, a judgement per reason that a reply gives for a score
    and per place that it cites, read where asked; `written(task, item, reply)`, of a protocol by which a model writes,
    the fields of what is to be judged, or None (`recuse generate`);
    `SEEDED = False` where no judge is sent a seed, so that all repeats of an item are draws from one request."""

    OFFERS: str  # what its rows are: "scores", "choices", ... (recuse.ratings.needs)
    FACTORS: Mapping[str, tuple[str, ...]]  # what is varied on purpose: factor -> its levels, fully crossed
    REPEATS: int  # independent runs unless the panel says otherwise

    def items(self, task: Task, judge: Judge) -> Sequence[Item]:
        """What this judge is asked about."""

    def prompt(self, task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
        """What every judge is asked about an item at these factor levels. `KeyError` for a field the item has not."""

    def read(self, task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
        """One judgement per wanted criterion, whatever the reply; what cannot be read carries a status and a why."""


def protocol(name: str) -> ElicitationProtocol:
    """The protocol of this name: Recuse's own, a paper's or a team's. `RecuseError` where there is none."""
    needs = ("OFFERS", "FACTORS", "REPEATS", "items", "prompt", "read")
    if name not in _named:
        where = PROTOCOLS.get(name, name)
        _named[name] = named(where, what="protocol", package=__name__, known=tuple(PROTOCOLS), needs=needs)
    return cast(ElicitationProtocol, _named[name])


def module_of(name: str) -> str:
    """The module that a protocol is, or stands in."""
    dotted = (PROTOCOLS.get(name) or entry_points_of(__name__).get(name) or name).replace(":", ".")
    return dotted if isinstance(protocol(name), ModuleType) else dotted.rpartition(".")[0]


def template(name: str) -> str:
    """Under which name the task's prompts folder holds the protocol's wording: its own, without the package, unless the
    protocol asks with another one's words and says so (`WORDING`)."""
    return str(getattr(protocol(name), "WORDING", name.rpartition(".")[2]))


def headline_of(how: ElicitationProtocol, task: Task) -> tuple[str, ...]:
    """The criteria that stand for the judgement as a whole."""
    return tuple(getattr(how, "headline", lambda task: task.criteria)(task))


def parts_of(how: ElicitationProtocol, task: Task) -> tuple[str, ...]:
    """The criteria of which the one headline criterion claims to be the mean."""
    return tuple(getattr(how, "parts", lambda task: ())(task))


def called(how: ElicitationProtocol, factor: str, level: str | None = None) -> str:
    """What the ratings table calls a protocol's factor, or one of its levels: by `FACTOR_NAMES`, else its own name."""
    name, levels = getattr(how, "FACTOR_NAMES", {}).get(factor, (factor, {}))
    return str(name) if level is None else str(levels.get(level, level))


def offered_kinds() -> tuple[str, ...]:
    """What the protocols that have been named so far offer, a team's own among them."""
    return tuple(dict.fromkeys(str(getattr(module, "OFFERS", "")) for module in _named.values()))


# --------------------------------------------------------------------------- protocols of several calls
# `STAGES` are the calls that come before, in order; the protocol's own `prompt`, `read` and `uses` are the last stage,
# the one that judges. Nobody lists the calls of a stage: one is made because a later one uses its reply, once for all.
#
#     STAGES = Stage("knowledge", ...), Stage("rubric", per=("item", "rubric"), uses=lambda factors: [Use("knowledge")])
#     def uses(factors): return [Use("rubric")]
#     def prompt(task, item, factors, earlier): ... earlier["rubric"] ...
#     def read(task, item, factors, reply, earlier): ...


@dataclass(frozen=True, slots=True)
class Use:
    """An earlier stage whose reply a prompt is made from: the same judge's, under the same factor levels, unless said
    otherwise. `first_judge`: the reply of the panel's first judge serves all. `factors`: levels to look under."""

    stage: str
    first_judge: bool = False
    next_judge: bool = False
    factors: Levels = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stage:
    """One call that prepares a judgement. `read` makes of the reply what later stages get as `earlier[name]`, or raises
    `reading.Unreadable`: all that depends on this reply is then lost under the stage's name, and nothing else. `per`
    says what its calls differ by beside the judge: "item", "target", "repeat", or the name of a factor. A stage that is
    not per target is shown no output: of an item it gets the fields that all targets share and that are no judged text.
    `specimen` is a value such as `read` returns, by whose length costs are estimated before there is any reply."""

    name: str
    prompt: Callable[[Task, Item, Levels, Earlier], Prompt]
    read: Callable[[Task, Item, Levels, Reply, Earlier], Any]
    specimen: Callable[[Task, Item, Levels], Any]
    per: tuple[str, ...] = ("item",)
    uses: Callable[[Levels], Sequence[Use]] = lambda factors: ()


def check_stages(how: object, name: str) -> None:
    """`RecuseError` for a chain that cannot be planned: two stages of one name, or a unit that the protocol has not."""
    stages, factors = getattr(how, "STAGES", ()), getattr(how, "FACTORS", {})
    for place, stage in enumerate(stages):
        if stage.name in (earlier.name for earlier in stages[:place]):
            raise RecuseError(f"protocol {name}: two stages are called {stage.name!r}; name them apart")
        known = ("item", "target", "repeat", *factors)
        if unknown := [unit for unit in stage.per if unit not in known]:
            what = f"protocol {name}, stage {stage.name}: per {', '.join(unknown)}"
            raise RecuseError(f"{what}; its calls can differ by {', '.join(known)}")
