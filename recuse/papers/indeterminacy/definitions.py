"""Definitions of performance: a measure of agreement with the aggregation of either side (Table 1 of the paper),
written measure(judge/people); 34 triples are valid, any other is refused with what is possible.

    definition("mse(srs/srs)").value(judges, people)      # (J,)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.special import xlogy

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.agreement.options import alpha_of_counts, cohen_kappa, scott_pi

# --------------------------------------------------------------------------- from shares to rating vectors
# The four aggregations of sec. 4. A rating vector has one number per option, (..., K).
# Items without a valid answer are NaN and stay NaN: whoever aggregates says how many they are.

Aggregation = Literal["h", "s", "hrs", "srs"]  # hard and soft, of choices and of response sets
CLOSE = 1e-9  # shares this close are equal: 0.1 + 0.2 reaches a threshold of 0.3


def hard(choices: Floats) -> Floats:
    """The mode of the forced choices as a vector with a single 1; several options that are chosen equally often get
    equal shares, the expectation of an even draw (argmax would favour the first)."""
    top = choices.max(axis=-1, keepdims=True)
    modes = (choices >= top - CLOSE).astype(float)
    return np.where(np.isnan(top), np.nan, modes / np.maximum(modes.sum(axis=-1, keepdims=True), 1.0))


def hard_response_set(endorsed: Floats, tau: float) -> Floats:
    """1 for every option endorsed by a share of at least tau; all may be 0."""
    if not 0 < tau <= 1:
        raise RecuseError(f"a cut-off tau lies above 0 and is at most 1; got {tau:g}")
    return np.where(np.isnan(endorsed), np.nan, (endorsed >= tau - CLOSE).astype(float))


@dataclass(frozen=True, eq=False)
class RatingVectors:
    """What one side says of every item: `choices` O and `endorsed` Omega, both (..., I, K)."""

    choices: Floats
    endorsed: Floats
    tau: float = 0.5

    h = cached_property(lambda self: hard(self.choices))
    """The most frequent choice, (..., I, K)."""
    hrs = cached_property(lambda self: hard_response_set(self.endorsed, self.tau))
    """Options endorsed by a share of at least tau, (..., I, K)."""

    def by(self, aggregation: Aggregation) -> Floats:
        """The vectors (..., I, K) under one aggregation."""
        return np.asarray(getattr(self, {"s": "choices", "srs": "endorsed"}.get(aggregation, aggregation)))


TAUS = (0.3, 0.5, 0.7)  # the cut-offs that the paper averages over


def decisions(vectors: Floats, option: int, tau: float | Sequence[float]) -> Floats:
    """1 where the option's number is at least tau, (..., I); with several taus they are the first axis. NaN where the
    item has no valid answer. Prevalence of a pair's option "win" is the win rate."""
    value = vectors[..., option]
    if isinstance(tau, Sequence):
        return np.stack([hard_response_set(value, cut) for cut in tau])
    return hard_response_set(value, tau)


def consistency(judge: Floats, people: Floats) -> Floats:
    """C (...): share of the items that both decided on which both decided alike; NaN where there is none."""
    return prevalence(np.where(np.isnan(judge + people), np.nan, (judge == people).astype(float)))


def estimation_bias(judge: Floats, people: Floats) -> Floats:
    """B (...): the judge's prevalence less people's over the items that both decided on; below 0 underestimates.
    |B| <= 1 - C always, as a difference of prevalence takes as many different decisions."""
    return prevalence(judge - people)


def prevalence(decided: Floats, times: Floats | None = None) -> Floats:
    """Share of the decided items that are positive, (...): their mean; each counts so many `times` (I,)."""
    there = ~np.isnan(decided) * (1.0 if times is None else times)
    return ratio((there * np.nan_to_num(decided)).sum(axis=-1), there.sum(axis=-1))


# --------------------------------------------------------------------------- ratings that settle a decision

MOST = 1000


@dataclass(frozen=True, slots=True)
class ItemSpread:
    """Items' shares of positive ratings follow Beta(a, b)."""

    a: float
    b: float

    def expected_consistency(self, ratings: int, tau: float) -> float:
        """P(the decision from `ratings` ratings of an item is that of its whole population of raters):

        sum_x P(X = x) P(1[p >= tau] = 1[x / n >= tau] | x),   p | x ~ Beta(a + x, b + n - x)"""
        x = np.arange(ratings + 1)
        a, b = self.a + x, self.b + ratings - x
        ways = -np.log(ratings + 1) - special.betaln(ratings - x + 1, x + 1)  # of x among the ratings, as a logarithm
        chance = np.exp(ways + special.betaln(a, b) - special.betaln(self.a, self.b))
        above = special.betaincc(a, b, tau)
        same = np.where(x >= tau * ratings - CLOSE, above, 1 - above)
        return float((chance * same).sum())

    def needed(self, tau: float, wanted: float) -> int | None:
        """The smallest number of ratings per item whose decisions are the population's on a share `wanted` of the
        items; None where 1000 do not do.

        One more rating changes the decision on items with k - 1 positive ones (then k: decided now), where k are
        needed of n and of n + 1, or with k (undecided now), where k + 1 are: one term of the sum each."""
        n, k = np.arange(MOST), np.ceil(tau * np.arange(MOST + 1) - CLOSE)
        more, k = np.diff(k), k[:-1]
        a, b, x = self.a + k, self.b + n + 1 - k, k - 1 + more
        ways = -np.log(n + 1) - special.betaln(n - x + 1, x + 1)
        chance = np.exp(ways + special.betaln(a, b) - special.betaln(self.a, self.b))
        gains = (1 - 2 * more) * chance * (1 - 2 * special.betainc(a, b, tau))
        reached = special.betaincc(self.a, self.b, tau) + np.cumsum(gains)
        near = np.flatnonzero(reached >= wanted - CLOSE) + 1
        return next((n for n in map(int, near) if self.expected_consistency(n, tau) >= wanted), None)


def item_spread(positive: ArrayLike, ratings: ArrayLike, times: Floats | None = None) -> ItemSpread | None:
    """By moments: mean of x / n and of x (x - 1) / (n (n - 1)), which are E p and E p^2 without bias. Both (items,), as
    `times`: how many items each stands for. None where no item has two ratings (one cannot tell an item that divides
    raters from raters that err) or all are alike. The least spread is Beta(1000 m, 1000 (1 - m))."""
    x, n = np.asarray(positive, dtype=float), np.asarray(ratings, dtype=float)
    rated, twice = n > 0, n > 1
    if not twice.any():
        return None
    w = np.ones(len(n)) if times is None else times
    mean = float((w[rated] * (x[rated] / n[rated])).sum() / w[rated].sum())
    if not 0 < mean < 1:
        return None
    x, n, w = x[twice], n[twice], w[twice]
    square = float((w * (x * (x - 1) / (n * (n - 1)))).sum() / w.sum())
    share = (square - float((w * (x / n)).sum() / w.sum()) ** 2) / (mean * (1 - mean))
    total = 1 / min(max(share, 1e-3), 0.99) - 1
    return ItemSpread(mean * total, (1 - mean) * total) if np.isfinite(total) else None


# --------------------------------------------------------------------------- the definitions

PerItem = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, slots=True)
class Definition:
    """p = (a^j, a^h, m). `higher`: whether more is better."""

    measure: str
    judge: Aggregation
    people: Aggregation
    higher: bool
    title: str
    per_item: PerItem

    @property
    def name(self) -> str:
        """ "measure(judge/people)", as in the paper."""
        return f"{self.measure}({self.judge}/{self.people})"

    def items(self, judges: RatingVectors, people: RatingVectors) -> Floats:
        """The measure of every item, (..., I), leading axes broadcast; of a coefficient the agreement before chance."""
        return self.per_item(judges.by(self.judge), people.by(self.people))

    def value(self, judges: RatingVectors, people: RatingVectors, weights: Floats | None = None) -> Floats:
        """The measure over items, (...), each counted as often as `weights` (..., I) says; NaN where undefined. Items
        that either side left without a valid answer do not count."""
        values = self.items(judges, people)
        there = ~np.isnan(values)
        mass = there.astype(float) if weights is None else there * weights
        count, total = mass.sum(axis=-1), (mass * np.where(there, values, 0.0)).sum(axis=-1)
        if self.measure in CHANCE_CORRECTED:
            sides = (np.einsum("...i,...ik->...k", mass, np.nan_to_num(side)) for side in (judges.h, people.h))
            return chance_corrected(self.measure, count, total, *sides)
        return ratio(total, count)

    def resampled(self, judges: RatingVectors, people: RatingVectors, weights: Iterable[Floats]) -> Floats:
        """`value` for every row of weights, given in portions (w, I), as (W, J); judges (J, I, K), people (I, K)."""
        values = self.items(judges, people)
        there = ~np.isnan(values)
        parts = [there, np.where(there, values, 0.0)]
        if self.measure in CHANCE_CORRECTED:
            sides = np.broadcast_to(judges.h, (*values.shape, judges.h.shape[-1])), people.h
            parts += [np.where(there, side[..., k], 0.0) for side in sides for k in range(side.shape[-1])]
        columns = np.concatenate(parts).T.astype(float)
        sums = np.concatenate([portion @ columns for portion in weights])
        count, total, *given = np.moveaxis(sums.reshape(len(sums), len(parts), -1), 1, 0)
        if given:
            halves = np.stack(given, axis=-1).reshape(*count.shape, 2, -1)
            return chance_corrected(self.measure, count, total, halves[..., 0, :], halves[..., 1, :])
        return ratio(total, count)

    def gain(self, value: Floats) -> Floats:
        """The value with its sign turned where less is better, so that more is always better."""
        return value if self.higher else -value


def definition(name: str) -> Definition:
    """The definition by its written form; `RecuseError` for what Table 1 does not have."""
    if name not in KNOWN:
        beside = [other for other in KNOWN if other.startswith(f"{name.split('(')[0]}(")]
        beside = beside or sorted({each.measure for each in KNOWN.values()})
        raise RecuseError(f"{name!r} is no definition of performance; there are {', '.join(beside)}")
    return KNOWN[name]


CHANCE_CORRECTED = ("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "scott_pi")


def _agreement(judge: Floats, people: Floats) -> Floats:
    return np.asarray((judge * people).sum(axis=-1))


def chance_corrected(measure: str, count: Floats, agreed: Floats, judge: Floats, people: Floats) -> Floats:
    """A coefficient of two raters, (...), from its sums over items: how many (...), how many agreed (...), and how
    often either side gave each option, (..., K)."""
    options, shape = judge.shape[-1], count.shape
    n, apart = count.reshape(-1, 1), (count - agreed).reshape(-1, 1)
    first, second = (np.broadcast_to(side, (*shape, options)).reshape(-1, options) for side in (judge, people))
    one = np.zeros((1, options))
    if measure == "krippendorff_alpha":
        corrected = alpha_of_counts(one, "nominal", np.arange(options)).of(np.hstack([2 * apart, first + second]))
    elif measure == "fleiss_kappa":
        corrected = scott_pi(one).of(np.hstack([n, apart, n, (first + second) / 2]))
    else:
        build = cohen_kappa if measure == "cohen_kappa" else scott_pi
        corrected = build(np.zeros((1, options, options))).of(np.hstack([n, apart, n, first, second]))
    return corrected.reshape(shape)


# --------------------------------------------------------------------------- distances between distributions
# `p` and `q` have shape (..., K) and broadcast; what is not a number stays so. A probability of 0 under q where p is
# not 0 makes Kullback-Leibler and cross-entropy infinite. Shares from a few ratings are 0 all the time, so both sides
# are first mixed with the uniform distribution. `smoothing` = 0 is an error where something becomes infinite.

SMOOTHING = 0.02  # mixed in: of two options none is below .01, so that one item counts at most ln 100 = 4.6 nats


def smoothed(p: Floats, smoothing: float = SMOOTHING) -> Floats:
    """(1 - smoothing) p + smoothing / K."""
    if not 0 <= smoothing < 1:
        raise RecuseError(f"smoothing is a share, at least 0 and below 1; got {smoothing:g}")
    return np.asarray((1 - smoothing) * p + smoothing / p.shape[-1])


def kl_divergence(p: Floats, q: Floats, smoothing: float = SMOOTHING) -> Floats:
    """KL(p || q) = sum p log(p / q), (...). p leads: KL(h || j) in Appendix C is KLD(h, j) in Tables 3 and 4."""
    a = smoothed(p, smoothing)
    return np.asarray(cross_entropy(p, q, smoothing) + xlogy(a, a).sum(axis=-1))


def cross_entropy(p: Floats, q: Floats, smoothing: float = SMOOTHING) -> Floats:
    """H(p) + KL(p || q) = - sum p log q, (...). With p people's it ranks judges as KL(p || q) does."""
    a, b = smoothed(p, smoothing), smoothed(q, smoothing)
    if smoothing == 0 and ((a > 0) & (b == 0)).any():
        raise RecuseError("an option has probability 0 on one side and not on the other: give smoothing above 0")
    return np.asarray(-xlogy(a, b).sum(axis=-1))


def jensen_shannon_divergence(p: Floats, q: Floats) -> Floats:
    """(KL(p || m) + KL(q || m)) / 2 with m = (p + q) / 2, (...): symmetric, at most log 2; never infinite, so it needs
    no smoothing. It is the square of the distance, which is a metric, and scipy's `jensenshannon`."""
    m = (p + q) / 2
    divergence = (xlogy(p, p) + xlogy(q, q)).sum(axis=-1) / 2 - xlogy(m, m).sum(axis=-1)
    return np.asarray(np.maximum(divergence, 0.0))


def binary_cross_entropy(judge: Floats, people: Floats, smoothing: float = SMOOTHING) -> Floats:
    """- sum_k [b log a + (1 - b) log(1 - a)] with a = (1 - smoothing) judge + smoothing / 2, (...)."""
    a = (1 - smoothing) * judge + smoothing / 2
    if smoothing == 0 and (((people > 0) & (a <= 0)) | ((people < 1) & (a >= 1))).any():
        raise RecuseError("an option is certain for the judge and not for people: give smoothing above 0")
    return np.asarray(-(xlogy(people, a) + xlogy(1 - people, 1 - a)).sum(axis=-1))


# --------------------------------------------------------------------------- sets against sets
# `judge` and `people` have shape (..., K): a hard vector (shares of the modes, sum 1) or a hard response set (0 and 1).


def coverage(judge: Floats, people: Floats) -> Floats:
    """1 where everything the judge names is in people's set, (...): of a single option, whether it is in the set; of a
    set, whether it is a subset. An empty set covers nothing. Where modes are tied, hard vectors count by their shares,
    so that hard against hard is the hit rate."""
    single = np.abs(judge.sum(axis=-1) - 1) < 1e-9
    among = (judge * people).sum(axis=-1)
    inside = np.where(judge > 0, people, 1.0).min(axis=-1) * (judge.sum(axis=-1) > 0)
    return np.where(np.isnan(among), np.nan, np.where(single, among, inside))


def recall(judge: Floats, people: Floats) -> Floats:
    """Share of people's options that the judge names, (...). NaN where people's set is empty: the item counts not."""
    return ratio((judge * people).sum(axis=-1), people.sum(axis=-1))


def precision(judge: Floats, people: Floats) -> Floats:
    """Share of the judge's options that are people's, (...). A judge that names nothing where people name something has
    precision 0, so that silence gains nothing; where people name nothing either, the item does not count."""
    hits, named, right = (judge * people).sum(axis=-1), judge.sum(axis=-1), people.sum(axis=-1)
    return np.where((named == 0) & (right > 0), 0.0, ratio(hits, named))


def _turned(measure: PerItem) -> PerItem:
    return lambda judge, people: measure(people, judge)


H: tuple[Aggregation, ...] = ("h",)
S: tuple[Aggregation, ...] = ("s",)
SETS: tuple[Aggregation, ...] = ("h", "hrs")
ANY: tuple[Aggregation, ...] = ("h", "s", "hrs", "srs")
ANY_BUT_S: tuple[Aggregation, ...] = ("h", "hrs", "srs")
Row = tuple[str, bool, tuple[Aggregation, ...], tuple[Aggregation, ...], str, PerItem]
TABLE: tuple[Row, ...] = (
    # categorical
    ("hit_rate", True, H, H, "hit rate", _agreement),
    ("krippendorff_alpha", True, H, H, "Krippendorff's alpha", _agreement),
    ("fleiss_kappa", True, H, H, "Fleiss' kappa", _agreement),
    ("cohen_kappa", True, H, H, "Cohen's kappa", _agreement),
    ("scott_pi", True, H, H, "Scott's pi", _agreement),
    # distributional
    ("kl_people_judge", False, S, S, "KL(people || judge), nats", _turned(kl_divergence)),
    ("kl_judge_people", False, S, S, "KL(judge || people), nats", kl_divergence),
    ("cross_entropy_people_judge", False, S, S, "cross-entropy of people's answers, nats", _turned(cross_entropy)),
    ("cross_entropy_judge_people", False, S, S, "cross-entropy of the judge's, nats", cross_entropy),
    ("js_divergence", False, S, S, "Jensen-Shannon divergence, nats", jensen_shannon_divergence),
    ("js_distance", False, S, S, "Jensen-Shannon distance, root of nats",
     lambda p, q: np.sqrt(jensen_shannon_divergence(p, q))),
    # categorical multi-label
    ("coverage", True, SETS, SETS, "coverage", coverage),
    ("set_size", False, SETS, ("hrs",), "predictive efficiency (set size)",
     lambda judge, people: judge.sum(axis=-1) + 0.0 * people.sum(axis=-1)),
    ("recall", True, SETS, SETS, "recall", recall),
    ("precision", True, SETS, SETS, "precision", precision),
    # continuous multi-label
    ("binary_cross_entropy", False, ANY, ANY_BUT_S, "binary cross-entropy, nats", binary_cross_entropy),
    ("mse", False, ANY, ANY, "squared error", lambda judge, people: ((judge - people) ** 2).sum(axis=-1)),
)  # fmt: skip
"""Table 1, with the distance beside the divergence, and soft response sets of people for binary cross-entropy, which
sec. 4 allows. Predictive efficiency has no side of people's; the items are those with people's sets. The squared error
is a sum over options (Appendix D.1), so two different modes are 2 apart."""
KNOWN = {
    each.name: each
    for measure, higher, by_judge, by_people, title, per_item in TABLE
    for judge in by_judge
    for people in by_people
    for each in [Definition(measure, judge, people, higher, title, per_item)]
}
"""Every valid definition by its written form, in the order of Table 1."""
