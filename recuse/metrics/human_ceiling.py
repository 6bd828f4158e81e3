"""The human ceiling: does a judge agree with people as well as people agree with each other, on the same texts?

Agreement beyond chance has no natural target: 0.6 may be all there is where people themselves disagree. So the judge is
measured against that: its agreement with people less people's agreement among themselves, both on the very texts that
the judge was asked about and that two people or more rated, and texts (clusters) leave together.

Where right answers are known beside people, both are measured against these: people who are wrong together neither
refuse a judge that is right nor clear one that is wrong with them, and one person is enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from recuse.metrics.agreement_estimates import FEWEST
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.array import mean_of, smallest_step
from recuse.ratings.chosen_labels import groups_on, label_weights
from recuse.ratings.people_faults import MOST
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, Mask, average, taken, total
from recuse.schema.number_text import of_units
from recuse.statistics.agreement.coefficient import SLIGHT, AtMost, Coefficient, ratio
from recuse.statistics.agreement.options import distances, mean_distance
from recuse.statistics.clusters import Contrast, stratified_mean

METHOD = "agreement beyond chance, judge-human less human-human; paired jackknife over texts, t"
MARGIN = 0.1  # the margin of the shipped gate, for which `power` in the detail is computed
SLIP = 0.125  # share of the expected squared difference that a slip makes at least: half a standard deviation
LEAN = 0.5  # share of the skewness that the interval of options follows: more keeps good judges out, hardly a bad one
FEW_PEOPLE = 3
LOWEST = -2.0  # the end of the difference's range: a judge that contradicts people who are at one
HIDDEN = 20  # so many texts show half the skewness of what they come from: rare large disagreements are not among them
SQUARED = np.array([[0.0, 0.0, 1.0], [0.0, -2.0, 0.0], [1.0, 0.0, 0.0]])  # `distances_of` numbers
PLACES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()  # with these places they average a polynomial of a normal number, to the 29th power


@measure(
    "human_ceiling", "agreement with people less people's own", signed=True, rank=290, counts=True,
    below="agrees with your people less than they agree with each other",
    reading="Agreement beyond chance of judge and person less that of person and person, on the same texts: 0 means "
    "that the judge is as good as one more person.",
)  # fmt: skip
@per_judge(answers_of, *COMPARED)
def human_ceiling(answers: Answers, judge: int, margin: float = MARGIN) -> Estimate:
    """kappa_jh - kappa_hh by judge and factor level, over the texts that judge was asked about and two people rated:

        kappa_jh = answered share * (1 - D_jh / E_jh)      kappa_hh = 1 - D_hh / E_hh

    D: mean over texts of the mean distance between the judge's answer and a person's, and between two people's. E: the
    same for answers drawn from the shares (means and variances) of all texts. Distances: unequal or not for options
    without order, squared for options in order and for numbers, so that the coefficients are Cohen's kappa (quadratic:
    Lin's concordance) and Scott's pi of people. Where right answers are known, they stand for the (other) person in
    both, on the texts that they and a person answered: then both are Cohen's. A text that the judge left without an
    answer counts as a guess: no judge gains by leaving out the hard ones. Rare options count together with all others.

    The interval is over texts (clusters), with these people: a paired jackknife t that allows for one slip more than
    was seen (`Coefficient.jackknife`). A slip is another option; of options in order and numbers one step, at least
    half a standard deviation.

    Detail: both coefficients; `answered`; what it would be without the unanswered texts; `labels` per option;
    `people_agree`, whether people's agreement is shown to exceed `margin` (the low end of its 95 % interval);
    `same_answers`, the first two people who never differ on 20 texts or more, whose agreement may be a copy's; and
    `power`, the chance that one more person is cleared at `margin`, from people's answers alone (None with right
    answers). Where people are not shown to agree, a judge that always says the same may lie inside the margin: the
    interval then has no low end, so nobody passes, `power` is 0, and the note says so; but for a judge that is itself
    shown to agree so with the right answers.

    Labels that were chosen by group count by their weight (`recuse.ratings.chosen_labels`), and each text's influence
    varies about the mean of its group (`stratified_mean`).

    Undefined where two people (a person and the right answers) rated fewer than 20 texts, or none; where the judge
    never answered; and where people or judge always say the same.

    >>> estimates = human_ceiling(rated(judge="ppff" * 20, ann="ppff" * 20, bea="pppf" * 20)).of(judge="judge")
    >>> estimates.detail["judge_human"], estimates.detail["human_human"], estimates.low > -0.1
    (0.75, 0.466666666667, True)
    """
    people, truth = answers.people_and_truth
    table = _table(people, judge, truth)
    used = table.used
    clusters, shares, times = answers.clusters[used], table.shares[used], taken(answers.times, used)
    unanswered = int(answers.number(used) - round(float(total(shares[:, 1], times))))
    groups, weights = groups_on(answers.part, answers.items, answers.targets), np.ones(len(shares))
    if groups is not None and used.any():
        weights = label_weights(groups, answers.requested[judge], used)
        shares = shares * weights[:, None] / weights.mean()
    facts = answers.facts(used, method=METHOD)
    difference = Coefficient(
        shares, lambda s: np.subtract(*table.of(s)), table.why, "difference", table.one_slip, lean=table.lean,
        times=times,
    )  # fmt: skip
    sums = difference.sums
    if difference.undefined:
        return undefined("human_ceiling", difference.undefined, n_excluded=unanswered, **facts)
    judged, among = (float(kappa[0]) for kappa in table.of(sums[None]))

    def alone(k: int) -> tuple[float, float]:
        built = Coefficient(shares, lambda s: table.of(s)[k], lambda s: "", "chance", table.persons_slip, times=times)
        return built.jackknife(clusters).interval(0.95)

    low, high = alone(1)
    agree = low > margin
    told_apart = agree or (truth is not None and alone(0)[0] > margin)
    distribution: Any = difference.jackknife(clusters)
    single: Any = difference.jackknife()
    if groups is not None:  # each text's influence, about the mean of its group
        without = difference.of(sums - shares)
        pulled = difference.value + (without.mean() - without) * weights.sum() / weights
        slip = table.one_slip(sums)
        distribution = stratified_mean(pulled, groups[used], weights, clusters, step=slip)
        single = stratified_mean(pulled, groups[used], weights, np.arange(len(pulled)), step=slip)
    alike = 1.0 if answers.over == "items" else max(1.0, distribution.se / single.se)
    chance = math.nan if truth else 0.0
    if agree and truth is None:
        person = table.person()
        person = person._replace(texts=person.texts / alike**2)  # texts of a cluster say less where they are alike
        chance = chance_to_pass(person, distribution.df, table.persons_slip(sums), table.lean, margin)
    count, answered = int(np.isfinite(people.rated).any((1, 2)).sum()), float(sums[1] / sums[0])
    detail: dict[str, Any] = {
        "judge_human": number(judged), "human_human": number(among), "answered": number(answered),
        "answered_only": number(judged / answered - among), "people": count, "people_agree": bool(agree),
        "human_human_interval": [number(low), number(high)], "margin": margin, "power": number(round(chance, 6)),
        **(truth.held if truth else {}),
    }  # fmt: skip
    if truth is None and (alike_people := _without_difference(people, used)):
        detail["same_answers"] = alike_people
    if answers.options:
        labels = total(np.nan_to_num(answers.evened((truth or people).people_shares[used])), times)
        detail["labels"] = {name: number(count) for name, count in zip(answers.options, labels, strict=True)}
    notes = []
    if distribution.df < 29:
        unit = answers.clusters_called if answers.over == "clusters" else "texts"
        notes.append(f"provisional: fewer than 30 {unit}")
    if not told_apart and not math.isnan(low):
        whom = "people agree with the right answers" if truth else "people agree"
        notes.append(
            f"the labels decide nothing: {whom} beyond chance by {among:.2f} ({low:.2f} to {high:.2f}), not "
            f"shown to be more than {margin:g}, so one answer given to everything may agree with them as well"
        )
        distribution = AtMost(distribution, LOWEST)
    if count <= FEW_PEOPLE:
        these, them = (f"these {count} people" if count > 1 else "one person"), "them" if truth else "each other"
        notes.append(f"{these}: how far others would agree with {them} is unknown")
    facts |= {"n_excluded": unanswered, "detail": detail, "note": "; ".join(notes)}
    return estimated("human_ceiling", difference.value, distribution, **facts)


def _without_difference(people: Answers, used: Mask) -> list[str]:
    """The first two people who never differ on the texts that both rated, `FEWEST` or more; of too many people none."""
    means = np.where(used, people.person_means, np.nan)
    for k, j in combinations(range(len(means)), 2) if len(means) <= MOST else ():
        both = np.isfinite(means[k] + means[j])
        alike = means[k][both] == means[j][both]
        if alike.all() and people.number(both) >= FEWEST:
            return [people.people[k], people.people[j]]
    return []


@dataclass(frozen=True, eq=False)
class TwoKappas:
    """Two kappas over the same texts, of a judge and of people or of two judges, from each text's `shares` of sums: 1,
    answered by the first, the mean distance of either from whom both are held against, then the points (`points`) of
    the two and of these. `apart`: the distances of points."""

    shares: Floats
    apart: Floats

    def expected(self, s: Floats) -> tuple[Floats, Floats]:
        """Both distances by chance, of sums (B, F)."""
        q, p, r = np.split(s[:, 4:], 3, axis=1)
        n = np.maximum(s[:, :1], 1e-300)
        by_first = mean_distance(q / np.maximum(s[:, 1:2], 1e-300), r / n, self.apart)
        return by_first, mean_distance(p / n, r / n, self.apart)

    def of(self, s: Floats) -> tuple[Floats, Floats]:
        """Answered share * kappa of the first, and kappa of the second, of sums (B, F)."""
        observed = ratio(s[:, 2], s[:, 1]), ratio(s[:, 3], s[:, 0])
        first, second = (1 - ratio(d, e) for d, e in zip(observed, self.expected(s), strict=True))
        return ratio(s[:, 1], s[:, 0]) * first, second


@dataclass(frozen=True, eq=False)
class _Table(TwoKappas):
    """kappa_jh and kappa_hh. `slip`: the distance of a slip; `lean`: as in `Coefficient`; `person()`: how far one more
    person would fall; `raters`: who rated the texts in use beside the judge."""

    used: Mask
    raters: str
    slip: float
    lean: float
    person: Callable[[], OneMorePerson]

    def one_slip(self, s: Floats) -> float:
        """What a slip of judge or people takes from a coefficient, times the number of texts, of sums (F,)."""
        return max(SLIP, self.slip / min(float(part[0]) for part in self.expected(s[None])))

    def persons_slip(self, s: Floats) -> float:
        """The same of people alone."""
        return max(SLIP, self.slip / float(self.expected(s[None])[1][0]))

    def why(self, s: Floats) -> str:
        if s[0] == 0:
            one = "a second person's" if self.raters == "two people" else "a person's"
            return f"no text was rated by {self.raters} and the judge; add {one} ratings of the same texts"
        if s[1] == 0:
            return f"the judge answered none of the texts that {self.raters} rated"
        if s[0] < FEWEST:
            return f"{self.raters} rated {of_units(int(s[0]), 'texts')}; an interval needs {FEWEST}"
        judged, people = self.expected(s[None])
        if not people[0] > 1e-13:
            return "people gave every text one and the same answer, so nothing tells their agreement from chance"
        return "" if judged[0] > 1e-13 else "judge and people gave every text one and the same answer"


def _table(answers: Answers, judge: int, truth: Answers | None) -> _Table:
    """`truth`: the right answers, where judge and people are both held against these."""
    apart, m = distances_of(answers), answers.raters.astype(float)
    if answers.options:
        each, own = answers.person_shares, answers.judge_shares[judge]
        right = None if truth is None else truth.people_shares
        step, lean = float(apart[apart > 0].min(initial=1.0)), LEAN
    else:
        known = np.isfinite(answers.people_mean)
        middle = answers.mean(answers.people_mean, known) if known.any() else 0.0
        each, own = points(answers.rated - middle), points(answers.judged[judge] - middle)
        right = None if truth is None else points((truth.people_mean - middle)[:, None])
        step, lean = smallest_step(answers.scale, answers.rated[np.isfinite(answers.rated)]) ** 2, 1.0
    people, answered = np.nan_to_num(mean_of(each, axis=0)), np.isfinite(own[:, 0]).astype(float)
    each, own, right = np.nan_to_num(each), np.nan_to_num(own), people if right is None else np.nan_to_num(right)
    if truth is None:
        used, raters = answers.requested[judge] & (answers.raters >= 2), "two people"
        with_oneself, together = np.einsum("puk,kl,pul->u", each, apart, each), each.sum(axis=0)
        among = np.nan_to_num(ratio(mean_distance(together, together, apart) - with_oneself, m * (m - 1)))
    else:
        used, raters = answers.requested[judge] & (m > 0) & (truth.raters > 0), "a person and the right answers"
        among = mean_distance(people, right, apart)
    columns = [np.ones(len(m)), answered, mean_distance(own, right, apart), among]
    shares = np.column_stack([*columns, *map(answers.evened, (own, people, right))])

    def person() -> OneMorePerson:
        times, theirs = taken(answers.times, used), people[used]
        if not answers.options:
            return OneMorePerson.of_numbers(theirs[:, 1], theirs[:, 2], m[used], among[used], times)
        p = total(answers.evened(theirs), times) / answers.number(used)
        return OneMorePerson.of_options(theirs, p, m[used], among[used], apart, times)

    return _Table(shares, apart, used, raters, step, lean, person)


# --------------------------------------------------------------------------- distances of answers
# An option is a point, 1 at its own place among K, and a number x is the point (1, x, x^2). The mean distance of the
# answers of two raters is then the same product of their mean points for both, p' M q: M are the distances of every two
# options, or what makes (x - y)^2 of (1, x, x^2) and (1, y, y^2).


def distances_of(answers: Answers) -> Floats:
    """M of these answers: unequal or not of options without order, squared of options in order and of numbers."""
    return distances(len(answers.options), "quadratic" if answers.ordered else "plain") if answers.options else SQUARED


def points(given: Floats) -> Floats:
    """Mean over the last axis of the points of numbers (..., R), (..., 3); NaN where there is none."""
    mean = mean_of(given, axis=-1)
    return np.stack([np.where(np.isfinite(mean), 1.0, np.nan), mean, mean_of(given**2, axis=-1)], axis=-1)


# --------------------------------------------------------------------------- the agreement of one more person
# So the chance to be cleared is one number for a set of labels, whoever is judged on it. What one more person would say
# of a text follows from what people said of it and from how far they agree (`OneMorePerson`); what that changes in
# kappa_jh - kappa_hh is, text by text and to first order,
#
#     change = -(T - lambda (f(x) - mean over people of f(x_b))) / E,    lambda = D / E
#
#     T = mean over people of d(x, x_b) - mean over pairs of people of d(x_a, x_b)
#
# d the distance, D and E its mean over pairs of people and by chance, f(x) the mean distance of x from everybody's
# answers. T averages 0 for one more person; the second part is what other answers than people's own change in E.


class OneMorePerson(NamedTuple):
    """Moments of what one more person's answer to one of `texts` changes in the difference of coefficients, times the
    number of texts: its variance, and skewness and kurtosis (3 of a normal distribution)."""

    variance: float
    skew: float
    kurtosis: float
    texts: float

    @classmethod
    def of_options(
        cls, people: Floats, p: Floats, raters: Floats, among: Floats, distances: Floats, times: Floats | None
    ) -> OneMorePerson:
        """From people's shares (U, K) of K options, their shares over all texts (K,), how many rated (U,), and their
        mean distance among themselves (U,).

        One more person says k with probability (a p_k + m share_k) / (a + m), a = (1 - kappa) / kappa: the
        Dirichlet-multinomial distribution with people's shares and their agreement."""
        by_chance = distances @ p
        expected = float(p @ by_chance)
        kappa = 1 - average(among, times) / expected
        prior, m = (1 - kappa) / max(kappa, 1e-9), raters[:, None]
        chances = (prior * p + m * people) / (prior + m)
        apart = people @ distances - among[:, None]
        leaning = by_chance[None] - (people @ by_chance)[:, None]
        return cls._of(chances, (apart - (1 - kappa) * leaning) / -expected, times)

    @classmethod
    def of_numbers(
        cls, mean: Floats, squares: Floats, raters: Floats, among: Floats, times: Floats | None
    ) -> OneMorePerson:
        """From people's mean and mean square of each text (U,), how many rated, and their mean squared distance among
        themselves.

        One more person's number is normal about people's mean of the text, drawn towards that of all texts as far as
        people's errors ask for: the posterior of the text, and a person's error beside it."""
        centre = average(mean, times)
        squares, mean = squares - 2 * centre * mean + centre**2, mean - centre
        spread = average(squares, times)
        kappa = min(max(1 - average(among, times) / (2 * spread), 0.0), 1.0)
        weight = raters * kappa / (1 + (raters - 1) * kappa)
        sd = np.sqrt(spread * (1 - kappa * weight))
        given = (weight * mean)[:, None] + sd[:, None] * PLACES
        apart = given**2 - 2 * mean[:, None] * given + (squares - among)[:, None]
        leaning = given**2 - squares[:, None]
        chances = np.broadcast_to(WEIGHTS, given.shape)
        return cls._of(chances, (apart - (1 - kappa) * leaning) / (-2 * spread), times)

    @classmethod
    def _of(cls, chances: Floats, change: Floats, times: Floats | None) -> OneMorePerson:
        moved = change - average((chances * change).sum(axis=1), times)
        variance, third, fourth = (average((chances * moved**power).sum(axis=1), times) for power in (2, 3, 4))
        texts = len(change) if times is None else float(times.sum())
        if not variance > 1e-9:
            return cls(0.0, 0.0, 3.0, texts)
        return cls(variance, third / variance**1.5, fourth / variance**2, texts)


def chance_to_pass(person: OneMorePerson, df: float, slip: float, lean: float, margin: float) -> float:
    """Chance that the 95 % interval of one more person lies above -`margin`: the interval of `Coefficient.jackknife` of
    a "difference" on `df` degrees of freedom, with `slip` (`Coefficient.worst`) and `lean`.

    The difference falls normally about 0; the standard error that is estimated with it is log-normal, (kurtosis - 1) /
    4n the variance of its logarithm, and correlated with it as mean and variance of a skewed sample are,
    skewness / sqrt(kurtosis - 1)."""
    if df < 1:
        return 0.0
    if person.variance == 0.0:  # nobody ever differs: the interval of as many slips as cannot be ruled out
        return float(-slip * math.expm1(math.log(0.025) / (df + 1)) <= margin)
    se, slip, n = math.sqrt(person.variance / person.texts), slip / (df + 1), person.texts
    skew = lean * person.skew * n / (n + HIDDEN) / math.sqrt(n)
    low = -Contrast(0.0, 1.0, df, skew, symmetric=SLIGHT).interval(0.95)[0]
    z = np.linspace(-6.0, 6.0, 241)
    density = np.exp(-(z**2) / 2)
    wide = (se * z + margin) / low  # the widest standard error that still passes
    own = np.sqrt(np.maximum(wide**2 - slip**2, 0.0)) / se
    alike = person.skew / math.sqrt(person.kurtosis - 1)
    spread = math.sqrt((person.kurtosis - 1) / n) / 2
    rest = spread * math.sqrt(max(1 - alike**2, 1e-9))
    reached = np.log(np.maximum(own, 1e-300)) - alike * spread * z
    passes = np.where((wide > 0) & (own > 0), special.ndtr(reached / rest), 0.0)
    return float((density * passes).sum() / density.sum())
