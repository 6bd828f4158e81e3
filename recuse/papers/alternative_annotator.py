"""The alternative annotator test: would the judge stand in for one of the people better than that person does?

One person is left out at a time. On every text that this person and others rated, whoever agrees better with the others
has the advantage: the judge, the person, or both where they tie. Calderon, Reichart and Dror (2025), The alternative
annotator test for LLM-as-a-judge, ACL 2025 (arXiv:2501.10970)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, measure, per_judge, per_subject
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.schema import Estimate, RecuseError
from recuse.schema.arrays import Floats, Mask, average, taken
from recuse.statistics.clusters import OverClusters, clustered_mean
from recuse.statistics.distributions import Dual

FEWEST = 30  # texts per person below which the t-test is not to be trusted (sec. 3 of the paper)
EPSILON = 0.1
"""The paper's strictest allowance for a cheaper judge: 0.1 for crowd-workers, 0.15 for skilled, 0.2 for experts."""
METHOD = "share of texts where the judge is at least as close to the other people, less the same of the person; t"


@measure(
    "advantage_over_person", "advantage over one person", signed=True, rank=292, bad="below", counts=True,
    below="stands in for a person worse than that person",
    reading="Share of texts where the judge agrees with the other people at least as well as this person does, less "
    "the share where this person does at least as well as the judge.",
)  # fmt: skip
@per_subject(("judge", "person"), answers_of, *COMPARED)
def advantage_over_person(answers: Answers, expert: str | None = None) -> Iterator[Named]:
    """mean_u (W_judge - W_person), by judge, person and factor level. W_judge is 1 on a text where the judge's
    agreement with the others is at least the person's, and W_person the other way round; both are 1 on a tie. Agreement
    with the others: the share that gives the same answer; of numbers, less the root mean squared difference. With
    `expert`, the others are this one person, and everyone else is compared in representing them (the single-expert
    form). Where the judge was asked and gave no answer, the person wins. Undefined below 30 texts that the person,
    another one and the judge have in common.

    >>> three = rated(judge="pf" * 20, ann="pf" * 20, bea="pf" * 20)
    >>> advantage_over_person(three).of(judge="judge", person="ann").value
    0.0
    """
    for j, judge in enumerate(answers.judges):
        for person, comparison in _comparisons(answers, j, expert).items():
            facts: dict[str, Any] = {"n": comparison.n, "n_excluded": 0, "method": METHOD, **answers.about}
            if comparison.n < FEWEST:
                why = f"the judge, this person and another have {comparison.n} texts in common; the test needs {FEWEST}"
                yield (judge, person), undefined("advantage_over_person", why, **facts)
                continue
            shares = (number(average(side, comparison.times)) for side in (comparison.judge, comparison.person))
            detail = {**dict(zip(("judge", "person"), shares, strict=True)), "unanswered": comparison.lost}
            over = comparison.distribution
            yield (judge, person), estimated("advantage_over_person", over.value, over, detail=detail, **facts)


@measure(
    "winning_rate", "people it may stand in for", unit="share", rank=293, bad="below", counts=True,
    below="stands in for fewer people than half",
    reading="Share of people whom the judge represents as well as they do themselves, beyond chance (alternative "
    "annotator test); from one half on, the test is passed.",
)  # fmt: skip
@per_judge(answers_of, *COMPARED)
def winning_rate(
    answers: Answers, j: int, epsilon: float = EPSILON, q: float = 0.05, expert: str | None = None
) -> Estimate:
    """Share of people j for whom "advantage_j <= -epsilon" is rejected, by judge and factor level, at a false discovery
    rate of `q` by Benjamini and Yekutieli (2001), Annals of Statistics 29, 1165-1188, as the p-values share the judge.
    Detail: per person n, advantage and p-value, and the average advantage probability, the mean over people of mean_u
    W_judge, by which judges may be compared. The interval holds what the tests leave open: from the share for whom it
    is shown, to all but those for whom the opposite is shown, each at a false discovery rate of 1 - level. Undefined
    where no person has 30 texts in common with another one. `RecuseError` for an epsilon outside [0, 1).

    >>> winning_rate(rated(judge="pf" * 20, ann="pf" * 20, bea="pf" * 20)).of(judge="judge").value
    1.0
    """
    if not 0 <= epsilon < 1:
        raise RecuseError(f"epsilon is how much worse the judge may be, from 0 to below 1; got {epsilon!r}")
    comparisons = _comparisons(answers, j, expert)
    method = f"alternative annotator test, epsilon {epsilon:g}, Benjamini-Yekutieli at {q:g}"
    facts: dict[str, Any] = {"method": method, **answers.about, "unit": "share", "span": 1.0}
    tested = {name: one for name, one in comparisons.items() if one.n >= FEWEST}
    most = max((one.n for one in comparisons.values()), default=0)
    if not tested:
        why = f"no person has {FEWEST} texts in common with another one and the judge; the most is {most}"
        return undefined("winning_rate", why, n=most, **facts)
    p, worse = (
        np.array([one.distribution.p_value(-epsilon, side) for one in tested.values()]) for side in ("above", "below")
    )
    rejected = p <= _threshold(p, q)
    detail = {
        "average_advantage": number(float(np.mean([average(one.judge, one.times) for one in tested.values()]))),
        "epsilon": epsilon,
        "people": [
            {"person": name, "n": one.n, "advantage": number(one.distribution.value), "p": float(f"{value:.6g}"),
             "won": won}
            for (name, one), value, won in zip(tested.items(), p.tolist(), rejected.tolist(), strict=True)
        ],
        "too_few_texts": [name for name in comparisons if name not in tested],
    }  # fmt: skip
    facts["clusters"] = facts["clusters"] if facts["over"] == "clusters" else ""
    distribution = Won(p, worse)
    low, high = distribution.interval(0.95)
    return Estimate(
        metric="winning_rate", value=float(rejected.mean()), low=low, high=high, n=most, detail=detail,
        note=f"{int(rejected.sum())} of {len(tested)} people", distribution=distribution, **facts,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Judge against one person: `judge` and `person` (n,) mark who was at least as good; `clusters` (n,). `times` (n,):
    how many texts each stands for."""

    judge: Floats
    person: Floats
    clusters: NDArray[np.intp]
    lost: int
    times: Floats | None

    @property
    def n(self) -> int:
        return len(self.judge) if self.times is None else int(self.times.sum())

    @property
    def distribution(self) -> OverClusters:
        return clustered_mean(self.judge - self.person, self.clusters, step=1.0, times=self.times)


def _comparisons(answers: Answers, judge: int, expert: str | None) -> dict[str, _Comparison]:
    if expert is None or expert in answers.people_and_truth[0].people:  # else it may be the right answers
        answers = answers.people_and_truth[0]
    elif expert not in answers.people:
        raise RecuseError(f"there is no person {expert!r}; people: {', '.join(answers.people)}")
    others = np.array([expert is None or name == expert for name in answers.people])
    there: Mask = np.asarray(np.isfinite(answers.rated).any(axis=2))
    answered = np.isfinite(answers.judged[judge]).any(axis=1)
    comparisons = {}
    for p, name in enumerate(answers.people):
        rest = others & (np.arange(len(others)) != p)
        if not rest.any():
            continue
        if answers.options:
            own, shares = answers.judge_shares[judge], answers.person_shares
            total = np.where(rest[:, None, None], np.nan_to_num(shares), 0.0).sum(axis=0)
            scores = [(np.nan_to_num(side) * total).sum(axis=1) for side in (own, shares[p])]
        else:
            means = answers.person_means
            scores = [-np.nansum((means[rest] - side) ** 2, axis=0) for side in (answers.judge_means[judge], means[p])]
        used = answers.requested[judge] & there[p] & there[rest].any(axis=0)
        judge_scores, person_scores = np.where(answered, scores[0], -np.inf)[used], scores[1][used]
        slack = 1e-12 * np.maximum(1.0, np.abs(person_scores))
        comparisons[name] = _Comparison(
            (judge_scores >= person_scores - slack).astype(float),
            (person_scores >= judge_scores - slack).astype(float), answers.clusters[used],
            answers.number(used & ~answered), taken(answers.times, used),
        )  # fmt: skip
    return comparisons


@dataclass(frozen=True, slots=True, eq=False)
class Won(Dual):
    """What is shown of the share of people won: `won` and `lost` (J,) are p-values against the one and the other."""

    won: Floats
    lost: Floats
    undefined: ClassVar[str] = ""

    def interval(self, level: float) -> tuple[float, float]:
        q = 1 - level
        shown, opposite = (float((p <= _threshold(p, q)).mean()) for p in (self.won, self.lost))
        return shown, 1 - opposite

    def half_width_at(self, factor: float) -> float | None:
        return None


def _threshold(p: Floats, q: float) -> float:
    """The largest p-value that Benjamini and Yekutieli's procedure rejects; below 0 where it rejects none."""
    m, ascending = len(p), np.sort(p)
    steps = np.arange(1, m + 1) * q / (m * math.fsum(1 / k for k in range(1, m + 1)))
    passed = np.flatnonzero(ascending <= steps)
    return float(ascending[passed[-1]]) if len(passed) else -1.0
