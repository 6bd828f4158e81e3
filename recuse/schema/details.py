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


# --------------------------------------------------------------------------- of many measures


class Span(TypedDict, total=False):
    """A value with its interval."""

    value: float | None
    low: float | None
    high: float | None


class Cells(TypedDict):
    """One value per row (who judges, or is measured) and column."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: Values


class Naive(TypedDict, total=False):
    """A matrix of deviations from a consensus that holds the judge itself."""

    values: Values
    shrinkage: float | None
    expected: float | None


class Matrix(Cells, total=False):
    """`own`: (row, column) of what is one's own; `n` and `sd` of each cell, and the ends of its interval."""

    own: Sequence[Sequence[str]]
    low: Values | None
    high: Values | None
    sd: Values | None
    n: Values | None
    naive: Naive | None


class MatrixDetail(Matrix, total=False):
    """A measure that is a matrix; `criterion`: what of the judgement it is of."""

    kind: Literal["matrix"]
    criterion: str


class Slice(TypedDict):
    """Part of the texts: those with one level of a column."""

    column: str
    level: str


class SliceDetail(TypedDict, total=False):
    """`slice`: the part of the texts that the number is of, where one was looked for."""

    slice: Slice | None


class Losses(TypedDict):
    """What answers that were lost may have said. `sides`: how many were lost, of how many, on each; `bounds` of the
    value, had they said the worst (None: none)."""

    sides: dict[str, list[int]]
    bounds: list[float | None]
    difference: list[float] | None
    margin: float
    unrelated: bool


class LossesDetail(TypedDict):
    """Of a comparison of two sides, both of which lose answers."""

    losses: Losses


class TheseTextsDetail(TypedDict, total=False):
    """The interval for these texts alone, where only replies are new, and its degrees of freedom."""

    these_texts: list[float | None] | None
    these_texts_df: float | None


class BeforeAfterDetail(TypedDict, total=False):
    """The same number before and after something was done."""

    before: Span | None
    after: Span | None


class UpgradeDetail(SliceDetail, total=False):
    """A component of an upgrade: both judges' own values, and the smallest change that it could find."""

    incumbent: float | None
    candidate: float | None
    smallest: float | None
    people_agree: float | None
    asked_once: bool
    option: str
    unit: str


# --------------------------------------------------------------------------- agreement with people


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


class CeilingDetail(TypedDict, total=False):
    """A judge's agreement with people beside that of people with one another."""

    judge_human: float | None
    human_human: float | None
    margin: float | None
    power: float | None


class WinningDetail(TypedDict, total=False):
    """Person by person."""

    people: list[PersonReplaced]


class DelegableDetail(TypedDict, total=False):
    """What may be left to a judge at `bound` errors."""

    groups: list[SurestTexts]
    bound: float | None


class Constant(TypedDict, total=False):
    """The commonest answer, and how often it would agree with people."""

    answer: str
    agrees: float | None


class ConstantDetail(TypedDict, total=False):
    """Agreement beside that of always giving the commonest answer."""

    constant: Constant | None


class CorrectedDetail(TypedDict, total=False):
    """A mean as people would rate: the judge's own, the labels there are, and those that the wanted interval takes."""

    judge_alone: float | None
    labels: int
    labels_needed: int | None


class SlicesDetail(TypedDict, total=False):
    """Every slice that was looked at, the likeliest fault first."""

    slices: list[SliceRow]


class Distance(TypedDict, total=False):
    """A judge's distance from people; `first`: how often it is the closest when repeats are redrawn."""

    judge: str
    distance: float | None
    first: float | None


class ClosestDetail(TypedDict, total=False):
    """Who is closest to people."""

    judge: str
    ranking: list[Distance]


# --------------------------------------------------------------------------- levels and true values


class Step(TypedDict, total=False):
    """A level with the mean true value of what was put there."""

    level: float
    mean_value: float | None


Fall = TypedDict("Fall", {"from": float, "to": float, "by": float})
"""A step down where the levels go up."""


class Pick(TypedDict, total=False):
    """An item with the level it was given and the one that the data give it."""

    item: str
    name: str
    assigned: float
    empirical: float
    value: float | None


class StepsDetail(TypedDict, total=False):
    """The ladder of levels."""

    levels: list[Step]
    falls: list[Fall] | None


class PicksDetail(TypedDict, total=False):
    """Picks by how far they are off."""

    nonadjacent: list[Pick]
    adjacent: list[Pick]
    in_place: list[Pick]


class TrueOrderDetail(TypedDict, total=False):
    """Whether an order follows the data."""

    unknown: list[object]
    beyond_chance: bool | None


class SourcesDetail(Matrix, total=False):
    """Correlations of peers, people and data, and the figures behind them, model by model."""

    p: Values | None
    figures: dict[str, dict[str, float | None]]


# --------------------------------------------------------------------------- attacks, rules, statements


class Language(TypedDict):
    """What a filter finds in one language."""

    language: str
    payloads: int
    share: float


class AttackDetail(TypedDict, total=False):
    """What became of attacks, by outcome."""

    outcomes: dict[str, int]
    lift: float | None


class DetectionDetail(TypedDict, total=False):
    """What a filter finds, language by language."""

    by_language: list[Language]


class RulesDetail(TypedDict, total=False):
    """`breaches`: (what, how often); `texts`: (item, words, what they break)."""

    breaches: list[tuple[str, int]]
    texts: list[tuple[str, str, list[str]]]


class Offender(TypedDict, total=False):
    """A reported number that does not follow."""

    target: str
    final: float | None
    mean_of_criteria: float | None
    difference: float | None
    mean_difference: float | None
    wrong: int
    replies: int


class OffendersDetail(TypedDict, total=False):
    """Reported numbers that do not follow, of `checked`."""

    offenders: list[Offender]
    wrong: int
    checked: int


# --------------------------------------------------------------------------- pairs, thresholds, replies


class PairChange(TypedDict):
    """What another rubric changes for a pair of judges."""

    pair: str
    delta: float | None


class GroundedDetail(TypedDict, total=False):
    """Pair by pair."""

    cells: list[PairChange]


class PairAgreement(TypedDict):
    """r of a pair of judges."""

    pair: str
    r: float | None


class PairsDetail(TypedDict, total=False):
    """Pair by pair."""

    pairs: list[PairAgreement]


class Chosen(TypedDict):
    """The judge that a measure chooses at a beta, and the best one."""

    beta: float
    chosen: str
    best: str
    consistency: float | None
    regret: float | None


class OverBetaDetail(TypedDict, total=False):
    """The choice, beta by beta."""

    over_beta: list[Chosen]


class GridDetail(TypedDict, total=False):
    """A value per threshold and beta."""

    taus: list[float]
    betas: list[float]
    value: list[list[float | None]]


class RatingsNeededDetail(TypedDict):
    """Ratings that there are per text, and the share of texts that these and one and enough decide."""

    have: int
    tau: float
    now: float
    wanted: float


class PrevalenceDetail(TypedDict, total=False):
    """People's share at the least and the greatest beta, and between."""

    prevalence: Sequence[float | None]


class RepliesDetail(TypedDict, total=False):
    """How many replies were read in which way."""

    by_status: dict[str, int]


class PowerDetail(TypedDict, total=False):
    """What could have been found with 80 % chance, in SDs and in points."""

    smallest_effect: float
    smallest_difference: float | None


class ExcludedDetail(TypedDict, total=False):
    """What texts that were left out lack."""

    excluded: dict[str, int]


Gap = tuple[float | None, float | None, float | None, float | None]
"""Two texts as far apart as low to high: how many pairs, and the share that the order turns."""


class GapsDetail(TypedDict, total=False):
    """By how far apart two texts are."""

    bins: list[Gap]
