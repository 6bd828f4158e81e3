"""Protocols of several calls: what a judge wrote in one call goes into the prompt of the next.

A protocol without `STAGES` makes one call per judgement. One with `STAGES` lists the calls that come before, in order;
its own `prompt`, `read` and `uses` are the last stage, the one that judges:

    STAGES = (Stage("knowledge", ...), Stage("rubric", per=("item", "rubric"), uses=lambda factors: [Use("knowledge")]))

    def uses(factors): return [Use("rubric")]
    def prompt(task, item, factors, earlier): ... earlier["rubric"] ...
    def read(task, item, factors, reply, earlier): ...

Nobody lists the calls of the earlier stages: a call is made because a later one uses its reply, once for all that do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recuse.schema import Item, Prompt, RecuseError, Reply

if TYPE_CHECKING:
    from recuse.tasks import Task

__all__ = ["Earlier", "Stage", "Use", "check_stages", "stages_of"]

Levels = Mapping[str, str]
Earlier = Mapping[str, Any]
"""Stage -> what its reader made of the reply."""


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
    """One call that prepares a judgement.

    `read` makes of the reply what later stages get as `earlier[name]`, or raises `reading.Unreadable`: all that depends
    on this reply is then lost under the stage's name, and nothing else. `per` says what its calls differ by beside the
    judge: "item", "target", "repeat", or the name of a factor. A stage that is not per target is shown no output: of an
    item it gets the fields that all targets share and that are no judged text. `specimen` is a value such as `read`
    returns, as long as they come: what a recording will cost is estimated with it before there is any reply.
    """

    name: str
    prompt: Callable[[Task, Item, Levels, Earlier], Prompt]
    read: Callable[[Task, Item, Levels, Reply, Earlier], Any]
    specimen: Callable[[Task, Item, Levels], Any]
    per: tuple[str, ...] = ("item",)
    uses: Callable[[Levels], Sequence[Use]] = lambda factors: ()


def stages_of(how: object) -> tuple[Stage, ...]:
    """The stages before a protocol's judging call; none where one call is all."""
    return tuple(getattr(how, "STAGES", ()))


def check_stages(how: object, name: str) -> None:
    """`RecuseError` for a chain that cannot be planned: two stages of one name, a unit that the protocol does not have,
    or a use of a stage that does not come earlier."""
    earlier: list[str] = []
    factors: Mapping[str, Any] = getattr(how, "FACTORS", {})
    for stage in stages_of(how):
        if stage.name in earlier:
            raise RecuseError(f"protocol {name}: two stages are called {stage.name!r}; name them apart")
        if unknown := [unit for unit in stage.per if unit not in ("item", "target", "repeat", *factors)]:
            raise RecuseError(
                f"protocol {name}, stage {stage.name}: per {', '.join(unknown)}; its calls can differ by item, target, "
                f"repeat{''.join(f', {factor}' for factor in factors)}"
            )
        earlier.append(stage.name)


def check_use(use: Use, earlier: Sequence[str], where: str) -> None:
    """`RecuseError` where a prompt is to be made from a reply that does not come before it."""
    if use.stage not in earlier:
        raise RecuseError(
            f"{where} uses {use.stage!r}, which is no earlier stage; earlier: {', '.join(earlier) or 'none'}"
        )
