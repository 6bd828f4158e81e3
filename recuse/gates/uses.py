"""What a judge is used for, and so which gates decide about it.

    [use.grade]
    of = ["scores"]                                # offered by ratings that meet all of these needs ("a | b": one)
    yardstick = ["human_ceiling"]                  # one of these must be measured, or nobody is cleared
    decides = ["human_offset", "unanswered"]       # these must pass as well, wherever they can be asked

A gate that no use names is a condition on every use wherever a panel probes it (injected text, a turned scale). A gates
file without uses has one, `EVERY_GATE`: all of its gates decide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from recuse.configuration.toml_files import Table, did_you_mean
from recuse.gates.limits import GatesError

EVERY_GATE = "every gate"  # the one use of a gates file that names none
STUDY = "none"  # what a panel states that is measured only: nobody in it is cleared or refused


class UseTable(Table, strict=False):
    """[use.<name>]: a purpose, and the gates that decide whether a judge serves it."""

    of: tuple[str, ...] = Field(
        (),
        description='needs that ratings must offer to be used so, e.g. of = ["scores", "people | reference"], '
        "where one of several is enough; without it, where stated",
    )
    question: str = Field("", description="what a team does with the judge, as a clause")
    yardstick: tuple[str, ...] = Field(
        (), description='gates of which one must be measured for anybody to be cleared, e.g. yardstick = ["accuracy"]'
    )
    decides: tuple[str, ...] = Field((), description='gates that must pass too, e.g. decides = ["unanswered"]')

    @property
    def gates(self) -> tuple[str, ...]:
        """All gates that decide, in file order, each once."""
        return tuple(dict.fromkeys((*self.yardstick, *self.decides)))


@dataclass(frozen=True, slots=True)
class Uses:
    """Of a panel or file: uses that it states, by which a run is green, and `further` ones that it offers."""

    stated: tuple[str, ...]
    further: tuple[str, ...] = ()
    offers: frozenset[str] = field(default=frozenset(), repr=False, compare=False)  # needs that its ratings meet

    @property
    def every(self) -> tuple[str, ...]:
        """Those stated, then the others."""
        return (*self.stated, *self.further)


def uses_for(
    stated: Sequence[str] | None, offers: Iterable[Collection[str]], uses: Mapping[str, UseTable], place: str
) -> Uses:
    """What a panel's judges are used for: as `stated`, or else the first use of the file that its ratings offer.
    `offers`: of each elicitation, the needs that its ratings meet. Raises `GatesError` naming `place` for a use that
    the gates file does not have.

    >>> grade = UseTable(of=("scores",), yardstick=("agreement",))
    >>> uses_for(None, [{"scores", "people"}], {"grade": grade}, "p").stated
    ('grade',)
    >>> uses_for(["none"], [{"scores"}], {"grade": grade}, "p")
    Uses(stated=(), further=())
    """
    if stated and STUDY in stated:
        return Uses(())
    if unknown := [name for name in stated or () if name not in (uses or (EVERY_GATE,))]:
        raise GatesError(
            f"{place}: there is no use {unknown[0]!r} in the gates file.{did_you_mean(unknown[0], uses)} It has: "
            f"{', '.join(uses) or 'none'}. Name one of them, add a table [use.{unknown[0]}], or say {STUDY!r} for a "
            "study"
        )
    if not uses:
        return Uses((EVERY_GATE,))
    every = [set(one) for one in offers]
    needs = {name: [set(need.split(" | ")) for need in use.of] for name, use in uses.items() if use.of}
    offered = [name for name, of in needs.items() if any(all(need & one for need in of) for one in every)]
    chosen = tuple(stated or offered[:1])
    further = tuple(name for name in offered if name not in chosen) if chosen else ()
    return Uses(chosen, further, frozenset().union(*every))
