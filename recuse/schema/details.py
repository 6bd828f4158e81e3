"""What a measure says besides its number: the `detail` of an estimate, by kind of figure. Measures choose their own
keys; who reads a matrix names the kind once, `detail_as(Matrix, estimate["detail"])`. An estimate may be of several
kinds at once. Keys that a drawing merely prints (`n.detail.get("tau")`) have no kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, TypeVar, cast

Values = Sequence[Sequence[float | None]]
"""A row of values per name of a row, one per name of a column."""

Kind = TypeVar("Kind")


def detail_as(kind: type[Kind], detail: Mapping[str, object]) -> Kind:
    """The detail as one of its kinds, unchecked: it came out of JSON, and its metric says of which kind it is."""
    return cast("Kind", detail)


class Matrix(TypedDict):
    """One value per row (who judges, or is measured) and column. `own`: (row, column) of what is one's own; `n` and
    `sd` of each cell, and the ends of its interval; `criterion`: what of the judgement it is of."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: Values
    own: NotRequired[Sequence[Sequence[str]]]
    low: NotRequired[Values | None]
    high: NotRequired[Values | None]
    sd: NotRequired[Values | None]
    n: NotRequired[Values | None]
    kind: NotRequired[Literal["matrix"]]
    criterion: NotRequired[str]


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


class Constant(TypedDict, total=False):
    """The commonest answer, and how often it would agree with people."""

    answer: str
    agrees: float | None


Gap = tuple[float | None, float | None, float | None, float | None]
"""Two texts as far apart as low to high: how many pairs, and the share that the order turns."""


class Detail(TypedDict, total=False):
    """What any measure but a matrix may say."""

    slice: Slice | None  # the part of the texts that the number is of, where one was looked for
    losses: Losses  # of a comparison of two sides, both of which lose answers
    these_texts: list[float | None] | None  # the interval for these texts alone, where only replies are new
    these_texts_df: float | None
    pairs: list[list[float | None]]  # people's mean, the judge's mean, how many texts
    ends: list[float | None]  # of the scale
    judge_human: float | None  # a judge's agreement with people, and that of people with one another
    human_human: float | None
    same_answers: list[str]  # two who never differ
    held_against: str  # who stands in people's place
    margin: float | None
    power: float | None
    people: list[dict[str, Any]]  # does the judge as well as one: person, won, advantage, p, n
    groups: list[dict[str, Any]]  # a share of the texts, surest first: errors among its labels, and at_most possible
    bound: float | None
    constant: Constant | None
    judge_alone: float | None
    labels: int  # for a mean as people would rate: there are, and the wanted interval takes
    labels_needed: int | None
    slices: list[dict[str, Any]]  # the likeliest fault first: column, level, mean, difference to the rest, p, n
    by_status: dict[str, int]  # how many replies ended in which way
    bins: list[Gap]  # by how far apart two texts are
