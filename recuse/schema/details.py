"""What a measure says besides its number: the `detail` of an estimate, by kind of figure.

Measures choose their own keys, so an estimate holds `Mapping[str, object]`; its metric says of which kind it is. Who
reads one names the kind, once, at the place where it is read:

    matrix = detail_as(MatrixDetail, estimate["detail"])
    matrix["values"][0][1]

An estimate may be of several kinds at once: a matrix with the answers that were lost. Keys that a drawing merely prints
as they are (`n.detail.get("tau")`) have no kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, TypeVar, cast

Values = Sequence[Sequence[float | None]]
"""A row of values per name of a row, one per name of a column."""

Kind = TypeVar("Kind")


def detail_as(kind: type[Kind], detail: Mapping[str, object]) -> Kind:
    """The detail as one of its kinds, unchecked: it came out of JSON, and its metric says of which kind it is."""
    return cast("Kind", detail)


class Cells(TypedDict):
    """One value per row (who judges, or is measured) and column."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: Values


class Matrix(Cells, total=False):
    """`own`: (row, column) of what is one's own; `n` and `sd` of each cell, and the ends of its interval."""

    own: Sequence[Sequence[str]]
    low: Values | None
    high: Values | None
    sd: Values | None
    n: Values | None


class MatrixDetail(Matrix, total=False):
    """A measure that is a matrix; `criterion`: what of the judgement it is of."""

    kind: Literal["matrix"]
    criterion: str


class Slice(TypedDict):
    """Part of the texts: those with one level of a column."""

    column: str
    level: str


class Losses(TypedDict):
    """What answers that were lost may have said. `sides`: how many were lost, of how many, on each; `bounds` of the
    value, had they said the worst (None: none)."""

    sides: dict[str, list[int]]
    bounds: list[float | None]
    difference: list[float] | None
    margin: float
    unrelated: bool


class CommonDetail(TypedDict, total=False):
    """`slice`: the part of the texts that the number is of, where one was looked for; `losses`: of a comparison of two
    sides, both of which lose answers; the interval for these texts alone, where only replies are new, and its degrees
    of freedom."""

    slice: Slice | None
    losses: Losses
    these_texts: list[float | None] | None
    these_texts_df: float | None


class PersonReplaced(TypedDict):
    """Whether the judge does as well as one person."""

    person: str
    won: bool
    advantage: float | None
    p: float | None
    n: int


class SurestTexts(TypedDict):
    """A share of the texts, surest first: errors seen among its labels, and the most that they leave possible."""

    share: float
    errors: float
    labels: int
    at_most: float | None


class SliceRow(Slice):
    """A slice with its mean, and its difference to the rest."""

    mean: float | None
    difference: float | None
    p: float | None
    n: int


class Constant(TypedDict, total=False):
    """The commonest answer, and how often it would agree with people."""

    answer: str
    agrees: float | None


class PairsDetail(TypedDict, total=False):
    """Judge against people: (people's mean, the judge's mean, how many texts), and the ends of the scale."""

    pairs: list[list[float | None]]
    ends: list[float | None]


class PeopleDetail(TypedDict, total=False):
    """Agreement with people: a judge's own, and that of people with one another; person by person; what may be left to
    it at `bound` errors; the commonest answer; a mean as people would rate, with the labels there are and those that
    the wanted interval takes; every slice, the likeliest fault first; who stands in people's place; two who never
    differ."""

    judge_human: float | None
    human_human: float | None
    same_answers: list[str]
    held_against: str
    margin: float | None
    power: float | None
    people: list[PersonReplaced]
    groups: list[SurestTexts]
    bound: float | None
    constant: Constant | None
    judge_alone: float | None
    labels: int
    labels_needed: int | None
    slices: list[SliceRow]


Gap = tuple[float | None, float | None, float | None, float | None]
"""Two texts as far apart as low to high: how many pairs, and the share that the order turns."""


class JudgingDetail(TypedDict, total=False):
    """How many replies ended in which way; by how far apart two texts are."""

    by_status: dict[str, int]
    bins: list[Gap]
