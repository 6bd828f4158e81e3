"""Kappa with one expert: of several labels, none of which is the one that is looked for, does the judge give his?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.agreement_estimates import JACKKNIFE, describe_people, too_few
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.binary_decisions import against_truth, has_several_options
from recuse.schema import Estimate, Estimates
from recuse.statistics.agreement import Coefficient, distances
from recuse.statistics.agreement.coefficient import ratio

__all__ = ["expert_kappa"]

Floats = NDArray[np.float64]


@measure(
    "expert_kappa", "kappa with the expert", ends=(-1, 1), bad="below", rank=289,
    below="agrees with the expert hardly more than by chance|agree with the expert hardly more than by chance",
    reading="Agreement with the expert's labels (or the right answers) beyond what both reach by chance: 0 is chance, "
    "1 is complete. A text without an answer counts as a guess.",
)  # fmt: skip
def expert_kappa(ratings: Ratings) -> Estimates:
    """Cohen's kappa of the judge's label and a person's, by judge and factor level, of every criterion with three
    options or more; weighted by squared distance where they are in order. Times the share of texts that the judge
    answered, as in `human_ceiling`: an unanswered text counts as a guess, and no judge gains by leaving out the hard
    ones. Jackknife over texts (clusters). Detail: `answered`, `answered_only`, and people's base rate.

    Undefined with fewer than 20 labels outside the expert's commonest one, and where both say the same of every text.

    >>> import pandas as pd
    >>> labels = (("j", "judge", "aabbcc" * 10), ("p", "person", "aabbca" * 10))
    >>> rows = [(who, kind, k, label) for who, kind, of in labels for k, label in enumerate(of)]
    >>> ratings = Ratings.of(pd.DataFrame(rows, columns=["rater", "kind", "item", "response"]))
    >>> expert_kappa(ratings).of(judge="j").value
    0.75
    """
    held = against_truth(ratings)
    several = tuple(c for c in held.headline if has_several_options(held.scales[c], held.positive.get(c, "")))
    if not several:
        return Estimates(("judge", *held.within(*COMPARED)), {})
    part = held if several == held.headline else held.with_criterion(*several)
    if len(several) == 1 < len(held.headline):
        part = replace(part, one_of_several=True, _memory={})
    return _kappa(part)


@per_judge(answers_of, *COMPARED)
def _kappa(answers: Answers, judge: int) -> Estimate:
    k = len(answers.options)
    apart = distances(k, "quadratic" if answers.ordered else "plain")
    used = answers.requested[judge] & (answers.raters > 0)
    mine, people = np.nan_to_num(answers.judge_shares[judge]), np.nan_to_num(answers.people_shares)
    answered = mine.sum(axis=1)
    between = ((mine @ apart) * people).sum(axis=1)
    shares = np.column_stack([np.ones(len(mine)), answered, between, mine, answered[:, None] * people])[used]

    def kappa(s: Floats) -> Floats:
        n = np.maximum(s[:, 1:2], 1e-300)
        q, p = s[:, 3 : 3 + k] / n, s[:, 3 + k :] / n
        return ratio(s[:, 1], s[:, 0]) * (1 - ratio(ratio(s[:, 2], s[:, 1]), ((q @ apart) * p).sum(axis=1)))

    def why(s: Floats) -> str:
        if s[0] == 0 or s[1] == 0:
            return "no text was answered by both the judge and the expert"
        q, p = s[3 : 3 + k], s[3 + k :]
        return "" if q @ apart @ p > 1e-12 else "judge and expert gave every text one and the same answer"

    coefficient = Coefficient(shares, kappa, why, "chance", lambda s: 2.0)
    facts: dict[str, Any] = {
        "n": int(used.sum()), "over": answers.over, "clusters": answers.clusters_called,
        "method": f"answered share of Cohen's kappa, {JACKKNIFE}",
    }  # fmt: skip
    share = float(answered[used].mean()) if used.any() else 0.0
    detail: dict[str, Any] = {**describe_people(answers, judge), "answered": number(share)}
    if coefficient.undefined:
        return undefined("expert_kappa", coefficient.undefined, detail=detail, **facts)
    detail["answered_only"] = number(coefficient.value / share)
    if few := too_few(answers.options, people[used].sum(axis=0)):
        return undefined("expert_kappa", few, detail=detail, **facts)
    distribution = coefficient.jackknife(answers.clusters[used])
    return estimated("expert_kappa", coefficient.value, distribution, detail=detail, **facts)
