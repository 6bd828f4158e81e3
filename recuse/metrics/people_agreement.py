"""People among themselves: how well they agree, which bounds what any judge can be asked to reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, measure, per_subject
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.schema import Estimate
from recuse.statistics.agreement import Coefficient, counts_of, krippendorff_alpha
from recuse.statistics.agreement.krippendorff import Level, alpha_of_counts
from recuse.statistics.agreement.options import fleiss_kappa, gwet_many, percent_many


@measure(
    "people_alpha", "people's agreement among themselves", ends=(-1, 1), rank=306,
    reading="Krippendorff's alpha of all people who rated the texts: what a judge's agreement is to be compared with.",
)  # fmt: skip
@per_subject("rater", answers_of, *COMPARED)
def people_alpha(answers: Answers, level: Level | None = None) -> Iterator[Named]:
    """Krippendorff's alpha of people, gaps and all, by factor level (and criterion): nominal for options, ordinal for
    options in order, interval for numbers, unless `level` says otherwise. A person's repeats count by their mean (of
    options: the commonest). Detail, for options: Fleiss' kappa, Gwet's AC1 and the share of equal pairs.

    Undefined with one person, and where all ratings are equal.

    >>> from recuse.metrics.agreement_estimates import rated
    >>> round(people_alpha(rated(judge="pppp", ann="ppff", bea="ppfp")).of(rater="people").value, 4)
    0.5333
    """
    yield "people", _alpha(answers, level)


def _alpha(answers: Answers, level: Level | None) -> Estimate:
    fitting: Level = level or ("interval" if not answers.options else "ordinal" if answers.ordered else "nominal")
    rated = answers.raters >= 2
    facts: dict[str, Any] = {
        "n": int(rated.sum()), "over": answers.over, "clusters": answers.clusters_called,
        "method": f"{fitting} alpha, jackknife, t",
    }  # fmt: skip
    if not rated.any():
        return undefined("people_alpha", "no two people rated one text", **facts)
    detail: dict[str, Any] = {"people": int(np.isfinite(answers.rated).any(axis=(1, 2)).sum())}
    alpha: Coefficient
    if answers.options:
        shares = answers.person_shares[:, rated]
        codes = np.where(np.isfinite(shares[:, :, 0]), np.nan_to_num(shares).argmax(axis=2), np.nan)
        counts = counts_of(codes, len(answers.options))
        alpha = alpha_of_counts(counts, fitting, np.arange(len(answers.options)))
        others = {"fleiss_kappa": fleiss_kappa, "gwet_ac1": gwet_many, "percent_agreement": percent_many}
        detail |= {name: number(build(counts).value) for name, build in others.items()}
    else:
        alpha = krippendorff_alpha(answers.person_means[:, rated], fitting)
    if alpha.undefined:
        return undefined("people_alpha", alpha.undefined, detail=detail, **facts)
    return estimated("people_alpha", alpha.value, alpha.jackknife(answers.clusters[rated]), detail=detail, **facts)
