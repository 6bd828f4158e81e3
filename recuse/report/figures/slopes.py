"""Slopes: one small picture per judge of how a number moves between two levels of a factor (names shown -> hidden)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from recuse.report.estimate_format import spread, value
from recuse.report.gated_number import Number
from recuse.report.numbers import decimals_for, fixed, is_number
from recuse.report.scale import scale_over

HEIGHT = 96  # of one picture, in pixels


@dataclass(frozen=True, slots=True)
class Slope:
    label: str
    texts: tuple[str, str]
    ys: tuple[float, float]
    zero: float
    crosses: bool  # the sign turns, as the measure of the move found
    notes: list[str]  # "27.3 % smaller"
    outcome: str  # of the gate on the move itself
    verdict: str  # "effect of the name +0.21 (+0.04 to +0.38)"


@dataclass(frozen=True, slots=True)
class Slopes:
    caption: str
    ends: tuple[str, str]
    slopes: list[Slope]
    height: int = HEIGHT


def slopes(
    numbers: Sequence[Number],
    label: Callable[[str], str],
    ends: tuple[str, str],
    *,
    caption: str,
    by: str,
    notes: Mapping[str, str] | None = None,
    moves: Sequence[Number] = (),
) -> Slopes | None:
    """One slope for each judge measured at both `ends`, two levels of the factor `by`; None if there is none.

    `moves` are the estimates of the move itself, with their verdicts; `notes` a few words per judge.
    """
    values: dict[str, dict[str, float]] = {}
    for n in numbers:
        if n.subject.get(by) in ends and is_number(n.value):
            values.setdefault(n.who, {})[n.subject[by]] = n.value
    both = {who: (at[ends[0]], at[ends[1]]) for who, at in values.items() if len(at) == 2}
    if not both:
        return None
    scale = scale_over([v for pair in both.values() for v in pair], zero=True)
    decimals = decimals_for(v for pair in both.values() for v in pair)

    def y(v: float) -> float:
        return round(14 + (HEIGHT - 28) * (1 - (scale.at(v) or 0.0) / 100), 1)

    moved = {n.who: n for n in moves}
    drawn = [
        Slope(
            label(who),
            (fixed(a, decimals, signed=True), fixed(b, decimals, signed=True)),
            (y(a), y(b)),
            y(0.0),
            moved[who].detail.get("direction_kept") is False if who in moved else False,
            [notes[who]] if notes and who in notes else [],
            moved[who].state if who in moved else "",
            _move(moved[who]) if who in moved else "",
        )
        for who, (a, b) in both.items()
    ]
    return Slopes(caption, (numbers[0].lexicon.level(by, ends[0]), numbers[0].lexicon.level(by, ends[1])), drawn)


def _move(n: Number) -> str:
    inside = spread(n)
    return f"{value(n)} ({inside})" if inside else value(n)
