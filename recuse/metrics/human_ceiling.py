"""The human ceiling: does a judge agree with people as well as people agree with each other, on the same texts?

Agreement beyond chance has no natural target: 0.6 may be all there is where people themselves disagree. So the judge is
measured against that: its agreement with people less people's agreement among themselves, both on the very texts that
the judge was asked about and that two people or more rated, and texts (clusters) leave together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recuse.metrics.agreement_estimates import FEWEST, by_judge, too_few
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.answers import Answers
from recuse.ratings.array import mean_of
from recuse.schema import Estimate, Estimates
from recuse.statistics.agreement import Coefficient, distances
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.agreement.difference import Difference, Known

__all__ = ["MARGIN", "human_ceiling"]

Floats = NDArray[np.float64]
METHOD = "agreement beyond chance, judge-human less human-human; jackknife over texts, variances recovered"
MARGIN = 0.1
"""The margin of the shipped gate, for which `power` in the detail is computed."""

MOST_SHARED = 0.5


@measure(
    "human_ceiling", "agreement with people less people's own", signed=True, rank=290, bad="below",
    below="agrees with people less than they agree among themselves|"
    "agree with people less than these agree among themselves",
    reading="Agreement beyond chance of judge and person less that of person and person, on the same texts: 0 means "
    "that the judge is as good as one more person.",
)  # fmt: skip
def human_ceiling(ratings: Ratings, margin: float = MARGIN) -> Estimates:
    """kappa_jh - kappa_hh by judge and factor level, over the texts that judge was asked about and two people rated:

        kappa_jh = answered share * (1 - D_jh / E_jh)      kappa_hh = 1 - D_hh / E_hh

    D: mean over texts of the mean distance between the judge's answer and a person's, and between two people's. E: the
    same for answers drawn from the shares (means and variances) of all texts. Distances: unequal or not for options
    without order, squared for options in order and for numbers, so that the coefficients are Cohen's kappa (quadratic:
    Lin's concordance) and Scott's pi of people. A text that the judge left without an answer counts as a guess: no
    judge gains by leaving out the hard ones. Detail: both coefficients, `answered`, what it would be without the
    unanswered texts, and `power`, the chance that a judge which is as good as a person is cleared at `margin`.

    Undefined with fewer than `FEWEST` labels outside people's commonest answer (of numbers: texts), where no two people
    rated one text, where the judge never answered, and where people or judge always say the same.

    >>> from recuse.metrics.agreement_example import said
    >>> estimates = human_ceiling(said(judge="ppff" * 20, ann="ppff" * 20, bea="pppf" * 20)).of(judge="judge")
    >>> estimates.detail["judge_human"], estimates.detail["human_human"], estimates.low > -0.1
    (0.75, 0.466666666667, True)
    """
    return by_judge(ratings, lambda answers, judge: _ceiling(answers, judge, margin))


def _ceiling(answers: Answers, judge: int, margin: float) -> Estimate:
    table = _options(answers, judge) if answers.options else _numbers(answers, judge)
    used = table.used
    facts: dict[str, Any] = {"n": int(used.sum()), "method": METHOD, "over": answers.over,
                             "clusters": answers.clusters_called}  # fmt: skip
    coefficient = Coefficient(table.shares[used], lambda s: table.judge_human(s) - table.human_human(s), table.why)
    sums = coefficient.sums
    unanswered = int(used.sum() - round(float(sums[1]))) if used.any() else 0
    if coefficient.undefined:
        return undefined("human_ceiling", coefficient.undefined, n_excluded=unanswered, **facts)
    judged, among = (float(part(sums[None])[0]) for part in (table.judge_human, table.human_human))
    distribution = _distribution(table, coefficient, answers.clusters[used])
    answered = float(sums[1] / sums[0])
    detail = {
        "judge_human": number(judged), "human_human": number(among), "answered": number(answered),
        "answered_only": number(judged / answered - among), "people": int(np.isfinite(answers.rated).any((1, 2)).sum()),
        "margin": margin, "power": number(round(_power(distribution, margin), 6)),
    }  # fmt: skip
    note = "provisional: fewer than 30 " + (answers.clusters_called if answers.over == "clusters" else "texts")
    return estimated(
        "human_ceiling", coefficient.value, distribution, n_excluded=unanswered, detail=detail,
        note=note if distribution.df < 29 else "", **facts,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Table:
    """Per text the sums of both coefficients: 1, answered, D_jh, D_hh, then what expected distances are made of."""

    shares: Floats
    used: NDArray[np.bool_]
    expected: Callable[[Floats], tuple[Floats, Floats]]
    largest: float  # what one text of disagreement takes from a coefficient, times their number; 0: 1 / E_hh
    few: Callable[[Floats], str]
    most_shared: float = 1.0

    def judge_human(self, s: Floats) -> Floats:
        """kappa_jh of sums (B, F)."""
        kappa = 1 - ratio(ratio(s[:, 2], s[:, 1]), self.expected(s)[0])
        return ratio(s[:, 1], s[:, 0]) * kappa

    def human_human(self, s: Floats) -> Floats:
        """kappa_hh of sums (B, F)."""
        return 1 - ratio(ratio(s[:, 3], s[:, 0]), self.expected(s)[1])

    def why(self, s: Floats) -> str:
        if s[0] == 0:
            return "no text was rated by two people and the judge; add a second person's ratings of the same texts"
        if s[1] == 0:
            return "the judge answered none of the texts that two people rated"
        if reason := self.few(s):
            return reason
        mine, people = self.expected(s[None])
        if not people[0] > 1e-13:
            return "people gave every text one and the same answer, so nothing tells their agreement from chance"
        return "" if mine[0] > 1e-13 else "judge and people gave every text one and the same answer"


def _options(answers: Answers, judge: int) -> _Table:
    k = len(answers.options)
    apart = distances(k, "quadratic" if answers.ordered else "plain")
    each, mine = np.nan_to_num(answers.person_shares), np.nan_to_num(answers.judge_shares[judge])
    m, together = answers.raters.astype(float), each.sum(axis=0)
    own = np.einsum("puk,kl,pul->u", each, apart, each)
    among = ratio(((together @ apart) * together).sum(axis=1) - own, m * (m - 1))
    people = np.nan_to_num(answers.people_shares)
    answered = mine.sum(axis=1)
    between = ((mine @ apart) * people).sum(axis=1)
    shares = np.column_stack([np.ones(len(m)), answered, between, np.nan_to_num(among), mine, people])

    def expected(s: Floats) -> tuple[Floats, Floats]:
        p = s[:, 4 + k :] / np.maximum(s[:, :1], 1e-300)
        q = s[:, 4 : 4 + k] / np.maximum(s[:, 1:2], 1e-300)
        return ((q @ apart) * p).sum(axis=1), ((p @ apart) * p).sum(axis=1)

    def few(s: Floats) -> str:
        return too_few(answers.options, s[4 + k :])

    return _Table(shares, _used(answers, judge), expected, 2.0 if answers.ordered and k > 2 else 0.0, few, MOST_SHARED)


def _numbers(answers: Answers, judge: int) -> _Table:
    middle = np.nanmean(answers.people_mean) if np.isfinite(answers.people_mean).any() else 0.0
    x, y = answers.judged[judge] - middle, answers.rated - middle
    mine, squares = np.nan_to_num(mean_of(x, axis=1)), np.nan_to_num(mean_of(x**2, axis=1))
    person, person_squares = mean_of(y, axis=2), mean_of(y**2, axis=2)
    m = answers.raters.astype(float)
    people, people_squares = (np.nan_to_num(mean_of(part, axis=0)) for part in (person, person_squares))
    crossed = ratio((m * people) ** 2 - np.nansum(person**2, axis=0), m * (m - 1))
    answered = np.isfinite(answers.judged[judge]).any(axis=1).astype(float)
    between = answered * (squares - 2 * mine * people + people_squares)
    among = np.nan_to_num(2 * people_squares - 2 * crossed)
    shares = np.column_stack([np.ones(len(m)), answered, between, among, mine, squares, people, people_squares])

    def expected(s: Floats) -> tuple[Floats, Floats]:
        n, judged = np.maximum(s[:, 0], 1e-300), np.maximum(s[:, 1], 1e-300)
        means = s[:, 4] / judged, s[:, 6] / n
        second = s[:, 5] / judged, s[:, 7] / n
        return second[0] - 2 * means[0] * means[1] + second[1], 2 * (second[1] - means[1] ** 2)

    def few(s: Floats) -> str:
        return "" if s[0] >= FEWEST else f"two people rated {int(s[0])} texts; an interval needs {FEWEST}"

    return _Table(shares, _used(answers, judge), expected, 2.0, few)


def _used(answers: Answers, judge: int) -> NDArray[np.bool_]:
    used: NDArray[np.bool_] = answers.requested[judge] & (answers.raters >= 2)
    return used


def _distribution(table: _Table, coefficient: Coefficient, clusters: NDArray[np.intp]) -> Difference:
    """The difference of two coefficients, each with its own interval; they share texts, so they are correlated.

    Of options, the correlation is held to at most `MOST_SHARED`: from few disagreements it comes out too high, and
    intervals then lie above 0 for judges that are merely one more person."""
    worst = table.largest

    def part(k: int) -> Coefficient:
        return Coefficient(
            coefficient.shares, (table.judge_human, table.human_human)[k], lambda s: "", "chance",
            lambda s: worst or float(1 / table.expected(s[None])[k][0]),
        )  # fmt: skip

    both = part(0), part(1)
    without = np.nan_to_num(np.stack([one.left_out(clusters) - one.value for one in both]))
    spread = without.std(axis=1)
    shared = float(np.cov(without, bias=True)[0, 1] / spread.prod()) if spread.min() > 1e-12 else 0.0
    first, second = (one.jackknife(clusters) for one in both)
    if spread[0] < 1e-12 and abs(both[0].value) < 1e-12:  # a judge that always says the same has 0 in every sample
        return Difference((0.0, both[1].value), Known(0.0), second, 0.0, len(np.unique(clusters)) - 1.0)
    shared = min(shared, table.most_shared)
    return Difference((both[0].value, both[1].value), first, second, shared, len(np.unique(clusters)) - 1.0)


def _power(distribution: Difference, margin: float) -> float:
    """Chance that the interval lies above -margin if the truth is 0, given the spread seen; at 95 %. NaN where there
    was none, or none downwards: people who are always at one, and a judge that always says the same."""
    low, high = distribution.interval(0.95)
    below = distribution.values[0] - distribution.values[1] - low
    if not high > low or distribution.df < 1 or not below > 0:
        return math.nan
    critical = float(special.stdtrit(distribution.df, 0.975))
    se = below / critical
    return float(special.stdtr(distribution.df, margin / se - critical))
