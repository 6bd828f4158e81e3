"""Faults among the people that judges are compared with: one who answers in reverse, at random, or always alike; camps.

    r_i = correlation of person i's answers with the mean of the other people's, over the texts that both rated

Answers are numbers, places in an order, or one indicator per option; of indicators, r = sum_k cov(x_k, y_k) /
sqrt(sum_k var(x_k) sum_k var(y_k)), which is phi for two options. Intervals are Fisher's, tanh(atanh(r) +- z se), with
se the larger of 1/sqrt(n - 3) over n clusters and of the delete-one-cluster jackknife. People are fair unless shown
otherwise: every statement holds at a level of 1 % over all people of a criterion (Bonferroni), so a file of fair people
is faulted at most once in a hundred.

- reversed: r_i lies below 0, and the others agree with one another.
- unrelated: r_i is not shown to differ from 0 (95 %), it lies below what the others agree, and below half of it.
- constant: i gives all n texts one answer, which is a share s of the others' answers to them; the others agree with one
  another, and s^n, the chance of so many answers like theirs to be this one, is below the level.
- camps: of four people or more, every pair within two groups agrees more than every pair across them.
- opposed: of two people, r lies below 0; nobody says which of them is right.

What is known of a person stays undefined below 20 common texts, or where one of the two answers never varies.
Source: Fisher (1921) for the interval; leave-one-out agreement as in crowd-worker screening (Snow et al. 2008)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np

from recuse.ratings.answers import WON, Answers, answers_of
from recuse.ratings.array import mean_of
from recuse.ratings.ratings import Ratings
from recuse.schema.arrays import Floats, average, taken
from recuse.schema.number_text import rate
from recuse.statistics.agreement.coefficient import Coefficient

if TYPE_CHECKING:
    from recuse.statistics.distributions import Student

LEVEL = 0.01
FEWEST, MOST = 20, 60  # texts, or clusters, that two must share; people beyond whom nobody is looked at one by one
MOST_IN_CAMPS = 12
HALF = 0.5


class PeopleFault(NamedTuple):
    """`people` are at fault in the way of `kind`; in camps and opposition they stand against the people in `against`.
    `agreement` with its interval `low` to `high` (99 % over all people): of `people` with the others, of camps the best
    across them; of a constant answer its share of the others' answers, without an interval. `others`: what the others
    agree among themselves, of camps the least within them; None of two people.
    `n`: texts."""

    kind: Literal["reversed", "unrelated", "constant", "camps", "opposed"]
    criterion: str
    people: tuple[str, ...]
    against: tuple[str, ...]
    agreement: float
    low: float
    high: float
    others: float | None
    n: int

    def sentence(self) -> str:
        """What is wrong, how that is known, and what can be done."""
        who, others, of = ", ".join(self.people), ", ".join(self.against), self.criterion
        number, within = f"{self.agreement:.2f}, {self.low:.2f} to {self.high:.2f}", f"{self.others or 0:.2f}"
        correlation = f"correlation with them {number}; they with one another {within}"
        return {
            "reversed": f"{who} answers {of} in reverse of the other people ({correlation}): turn these answers round "
            "or leave this person out. No judge is to blame for them",
            "unrelated": f"the answers of {who} to {of} have nothing to do with the other people's ({correlation}): "
            "look at some, or leave this person out. No judge is to blame for them",
            "constant": f"{who} gives all of {self.n} texts the same answer ({of}); of the other people's answers "
            f"{rate(self.agreement)} are this one: leave this person out. No judge is to blame for them",
            "opposed": f"{who} and {others} answer {of} in reverse of each other (correlation {number}): one of them "
            "may have read the scale the other way round; nobody else says which",
            "camps": f"people are of two camps on {of}: {who} against {others} (correlation across at most {number}; "
            f"within at least {within}). A judge can follow one of them only: say which is right",
        }[self.kind]


def sentences(faults: Sequence[PeopleFault]) -> list[str]:
    """What is wrong, once for each of the people: of several criteria with the numbers of the first."""
    criteria: dict[tuple[str, ...], list[PeopleFault]] = {}
    for fault in faults:
        criteria.setdefault((fault.kind, *fault.people, "", *fault.against), []).append(fault)
    return [
        first.sentence() + "".join(f"; the same is true of {fault.criterion}" for fault in more)
        for first, *more in criteria.values()
    ]


def people_faults(ratings: Ratings) -> tuple[PeopleFault, ...]:
    """Every fault among the people of these ratings, criterion by criterion; none where fewer than two people rated
    the same texts. Camps explain who stands apart: where there are any, nobody is faulted alone.

    >>> from recuse.ratings import Ratings
    >>> marks = {"ann": range(40), "ben": range(40), "eve": range(40, 0, -1)}
    >>> rows = [(who, "person", f"t{k}", mark) for who, own in marks.items() for k, mark in enumerate(own)]
    >>> found = people_faults(Ratings.of(pd.DataFrame(rows, columns=["rater", "kind", "item", "score"])))
    >>> [(fault.kind, fault.people) for fault in found]
    [('reversed', ('eve',))]
    """
    faults: list[PeopleFault] = []
    ratings = ratings.folded()
    for _, part in ratings.each(*ratings.factors) if 2 <= len(ratings.persons) <= MOST else ():
        answers, _ = answers_of(part, part).people_and_truth  # the right answers are no person
        if np.isfinite(answers.rated).any(axis=(1, 2)).sum() > 1:
            people, values = _values(answers)
            faults += _camps(part.criterion, people, values, answers) or _alone(part.criterion, people, values, answers)
    return tuple(faults)


def _values(answers: Answers) -> tuple[tuple[str, ...], Floats]:
    """Who answered; and their answers (P, U, K), mean over what one said of a text, NaN for nothing: a number, or an
    indicator per option that is used; of a choice between two, by how much more often a won than b."""
    there = np.isfinite(answers.rated)
    who = np.flatnonzero(there.any(axis=(1, 2)))
    if answers.ordered:
        values = answers.person_means[..., None]
    elif answers.options == WON:
        values = answers.person_shares[..., :1] - answers.person_shares[..., 1:2]
    else:
        given = (np.where(there, answers.rated == code, np.nan) for code in np.unique(answers.rated[there]))
        values = np.stack([mean_of(one, axis=2) for one in given], axis=-1)
    return tuple([answers.people[k] for k in who.tolist()]), values[who]


class _Correlation(NamedTuple):
    value: float
    error: float  # of atanh(value)
    n: int

    def end(self, level: float) -> float:
        """The bound beyond which the correlation lies with this probability: an upper one above 1/2."""
        from scipy.special import ndtri

        return math.tanh(math.atanh(self.value) + float(ndtri(level)) * self.error)


def _correlation(x: Floats, y: Floats, texts: Answers) -> _Correlation | None:
    """Of two answers (U, K) over the texts that both have; None where they share too few, or one never varies."""
    both = np.isfinite(x[:, 0]) & np.isfinite(y[:, 0])
    count = texts.cluster_count(both)
    if count < FEWEST:
        return None
    centre = 0.0 if texts.either_way else 1.0  # where a and b may be called either way, 0 is the middle
    x, y = (side[both] - centre * side[both].mean(axis=0) for side in (x, y))
    products = [(one * other).sum(axis=1) for one, other in ((x, x), (y, y), (x, y))]
    sums = np.column_stack([np.ones(len(x)), *centre * x.T, *centre * y.T, *products])

    def on_z(sums: Floats) -> Floats:
        """atanh of correlations (S,) by the sums over texts (S, 1 + 2 width + 3); NaN without variance."""
        n, a, b = sums[:, 0], sums[:, 1 : 1 + x.shape[1]], sums[:, 1 + x.shape[1] : -3]
        aa, bb, ab = (sums[:, k] - (p * q).sum(axis=1) / n for k, p, q in ((-3, a, a), (-2, b, b), (-1, a, b)))
        varied = (aa > 1e-9) & (bb > 1e-9)
        r = np.where(varied, ab / np.sqrt(np.where(varied, aa * bb, 1.0)), np.nan)
        return np.asarray(np.arctanh(np.clip(r, -0.9999, 0.9999)))

    z = Coefficient(sums, on_z, lambda sums: "", times=taken(texts.times, both))
    if z.undefined:
        return None
    spread = cast("Student", z.jackknife(texts.clusters[both]))
    return _Correlation(math.tanh(z.value), max(spread.se, 1 / math.sqrt(count - 3)), texts.number(both))


def _alone(criterion: str, people: tuple[str, ...], answers: Floats, texts: Answers) -> Iterator[PeopleFault]:
    level = LEVEL / len(people)
    for k, name in enumerate(people):
        rest = np.delete(answers, k, 0)
        r = _correlation(answers[k], mean_of(rest, axis=0), texts)
        if r is not None and r.end(0.025) > 0:
            continue  # follows the others
        others = people[:k] + people[k + 1 :]
        if r is None:  # this one's answers never vary, or the others', who then agree on nothing
            share, n = _constant(answers[k], rest, texts)
            among = _among(rest, texts) if share**n < level else None
            if among is not None and among.end(level / 2) > 0:
                yield PeopleFault("constant", criterion, (name,), others, share, share, share, among.value, n)
            continue
        low, high = r.end(level / 2), r.end(1 - level / 2)
        if len(rest) == 1:
            if high < 0 and k == 0:
                yield PeopleFault("opposed", criterion, (name,), others, r.value, low, high, None, r.n)
            continue
        among = _among(rest, texts)
        if among is None or among.end(level / 2) <= max(high, 0.0):
            continue
        facts = (criterion, (name,), others, r.value, low, high, among.value, r.n)
        if high < 0:
            yield PeopleFault("reversed", *facts)
        elif r.end(0.975) >= 0 and high < HALF * among.value:
            yield PeopleFault("unrelated", *facts)


def _constant(own: Floats, rest: Floats, texts: Answers) -> tuple[float, int]:
    """Which share of the others' answers (P, U, K) are somebody's (U, K), 1 on too few texts; and on how many texts."""
    both = np.isfinite(own[:, 0]) & np.isfinite(rest[..., 0]).any(axis=0)
    own, rest = own[both], rest[:, both]
    n = texts.cluster_count(both)
    if n < FEWEST:
        return 1.0, n
    alike = np.where(np.isfinite(rest[..., 0]), np.abs(rest - own[0]).max(axis=-1) < 1e-9, np.nan)
    return average(mean_of(alike, axis=0), taken(texts.times, both)), n


def _among(answers: Floats, texts: Answers) -> _Correlation | None:
    """What the middle one of these people agrees with the others of them."""
    rs = (_correlation(own, mean_of(np.delete(answers, k, 0), axis=0), texts) for k, own in enumerate(answers))
    known = sorted((r for r in rs if r is not None), key=lambda r: r.value)
    return known[(len(known) - 1) // 2] if known else None


def _camps(criterion: str, people: tuple[str, ...], answers: Floats, texts: Answers) -> list[PeopleFault]:
    if not 4 <= len(people) <= MOST_IN_CAMPS:
        return []
    pairs = {(i, j): _correlation(answers[i], answers[j], texts) for i, j in combinations(range(len(people)), 2)}
    known = {pair: r for pair, r in pairs.items() if r is not None}
    if len(known) < len(pairs):
        return []
    # who is grouped with the first person where people are joined, the closest first, until two groups are left
    group = list(range(len(people)))
    for i, j in sorted(known, key=lambda pair: -known[pair].value):
        if group[i] != group[j] and len(set(group)) > 2:
            group = [group[i] if g == group[j] else g for g in group]
    camp = {k for k, g in enumerate(group) if g == group[0]}
    level = LEVEL / len(pairs) / 2
    if min(len(camp), len(people) - len(camp)) < 2:
        return []
    within = [r for (i, j), r in known.items() if (i in camp) == (j in camp)]
    across = [r for (i, j), r in known.items() if (i in camp) != (j in camp)]
    if min(r.end(level) for r in within) <= max(0.0, *(r.end(1 - level) for r in across)):
        return []
    one, other = (tuple(n for k, n in enumerate(people) if (k in camp) == inside) for inside in (True, False))
    best, least = max(across, key=lambda r: r.value), min(r.value for r in within)
    low, high = best.end(level), best.end(1 - level)
    return [PeopleFault("camps", criterion, one, other, best.value, low, high, least, best.n)]
