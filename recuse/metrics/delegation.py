"""What may be left to the judge: the share of texts on which its errors stay below a stated bound, shown by labels.

Texts are taken from the most confident answer down. Groups are tested in a fixed order, each by an exact bound on its
error rate, until one fails: so the whole series is wrong with at most the stated probability."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings.answers import COMPARED, Answers, answers_against_truth
from recuse.schema import Estimate, RecuseError
from recuse.schema.arrays import Floats, average, taken
from recuse.schema.number_text import percent
from recuse.statistics.clusters import clustered_mean, clustered_share
from recuse.statistics.distributions import Binomial
from recuse.statistics.paired import fewest

STEPS = 10
BINS = 10


@measure(
    "delegable_share", "may be left to the judge", unit="share", rank=370, counts=True,
    below="leaves nothing that needs no person",
    reading="Share of texts, from the judge's most confident answer down, on which its error rate is shown to stay "
    "below the bound; 0 where no group can be shown to.",
)  # fmt: skip
@per_judge(answers_against_truth, *COMPARED)
def delegable_share(
    answers: Answers, judge: int, bound: float = 0.05, level: float = 0.95, tolerance: float = 0.1,
    confidence: str = "confidence",
) -> Estimate:  # fmt: skip
    """Share of the texts that the judge answered which fall into the largest safe group, by judge and factor level.

    An error is an answer that is not people's commonest, or a number further than `tolerance` of the scale's range from
    people's mean. Confidence is the table's column of that name (mean over repeats); without one, how well the judge's
    repeats agree; of numbers asked once, the distance from the middle of the scale; otherwise all texts are one group.
    Groups are the most confident 1/10, 2/10, ... of labelled texts, from the first that could pass without an error;
    a group is safe if the one-sided Clopper-Pearson bound at `level` (at the effective sample size in clusters) is at
    most `bound`. Groups are tested in this order and the first failure ends it, so the chance that any group called
    safe is not is at most 1 - level.

    Detail: `groups`, `by` (what confidence is), and where nothing is safe `labels_needed` for the first group at the
    error rate seen, None where that is itself above the bound. Undefined without labelled texts.

    >>> delegable_share(rated(judge="pf" * 50, ann="pf" * 50)).of(judge="judge").value
    1.0
    >>> delegable_share(rated(judge="pf" * 20, ann="pf" * 20)).of(judge="judge").note
    'nothing yet: the first group needs 59 labels, there are 40'
    """
    if not 0 < bound < 1:
        raise RecuseError(f"an error bound lies between 0 and 1, for example 0.05; got {bound!r}")
    sure, by = confidence_of(answers, judge, confidence)
    wrong = errors_of(answers, judge, tolerance)
    labelled = np.flatnonzero(np.isfinite(wrong))
    answered = np.isfinite(answers.judged[judge]).any(axis=1)
    facts: dict[str, Any] = {
        "n": answers.number(np.isfinite(wrong)), "over": answers.over, "unit": "share", "span": 1.0,
        "n_excluded": answers.number(answers.requested[judge] & ~answered),
        "method": f"one-sided Clopper-Pearson bound at {level:g}, fixed sequence; errors at most {bound:g}",
    }  # fmt: skip
    if not len(labelled):
        return undefined("delegable_share", "no text was rated by both the judge and a person", **facts)
    order = labelled[np.argsort(-sure[labelled], kind="stable")]
    groups, safe = [], 0.0
    fewest = labels_for_bound(0.0, bound, level) or 0
    each = np.ones(len(order)) if answers.times is None else answers.times[order]
    for size in _sizes(sure[order], each, fewest):
        chosen = order[np.cumsum(each) <= size]
        times = taken(answers.times, chosen)
        rate = average(wrong[chosen], times)
        upper = clustered_share(wrong[chosen], answers.clusters[chosen], times).interval(2 * level - 1)[1]
        share = answers.mean(sure >= sure[chosen[-1]], answered)
        groups.append({"share": number(share), "labels": size, "errors": number(rate), "at_most": number(upper)})
        if upper > bound:
            break
        safe = share
    note, needed = "", None
    if not safe:
        first = groups[0] if groups else {"labels": facts["n"]}
        errors = float(first.get("errors") or 0.0)
        needed = labels_for_bound(errors, bound, level)
        note = f"nothing yet: the first group needs {needed} labels, there are {first['labels']}"
        if groups and needed is None:
            note = f"nothing: errors in the surest group are {percent(errors)}, not below {percent(bound)}"
    detail = {"bound": bound, "level": level, "by": by, "groups": groups, "labels_needed": needed, **answers.held}
    clusters = answers.clusters_called if answers.over == "clusters" else ""
    return Estimate(metric="delegable_share", value=safe, note=note, clusters=clusters, detail=detail, **facts)


def labels_for_bound(error_rate: float, bound: float, level: float = 0.95) -> int | None:
    """Smallest number of labels at which this error rate is shown to lie below `bound`; None where it does not.

    >>> labels_for_bound(0.0, 0.05), labels_for_bound(0.03, 0.05)
    (59, 386)
    """
    if not error_rate < bound:
        return None
    return fewest(lambda n: Binomial(math.ceil(error_rate * n - 1e-9), n).interval(2 * level - 1)[1] <= bound, 0, 10**8)


def safe_from(answers: Answers, judge: int, share: Estimate, tolerance: float = 0.1) -> float:
    """The confidence from which on `delegable_share` found that no person is needed; infinite where it found none."""
    safe = [group for group in share.detail.get("groups", ()) if group["at_most"] <= share.detail["bound"]]
    if not share.defined or not share.value or not safe:
        return math.inf
    sure = confidence_of(answers, judge)[0][np.isfinite(errors_of(answers, judge, tolerance))]
    return float(np.sort(sure)[::-1][safe[-1]["labels"] - 1])


def _sizes(sure: Floats, times: Floats, fewest: int) -> list[int]:
    """Sizes of the groups: tenths of the labelled texts, grown so that equal confidence (`sure`) stays together."""
    upto, total = np.cumsum(times), int(times.sum())
    wanted = sorted({max(fewest, math.ceil(total * k / STEPS)) for k in range(1, STEPS + 1)})
    last = sure[np.searchsorted(upto, [size for size in wanted if size <= total])]
    return sorted({int(times[sure >= end].sum()) for end in last})


def errors_of(answers: Answers, judge: int, tolerance: float) -> Floats:
    """1 where the judge is wrong, 0 where it is right, NaN where nobody knows; shape (U,)."""
    if answers.options:
        own, people = answers.judge_shares[judge], answers.people_shares
        known = np.isfinite(own[:, 0]) & np.isfinite(people[:, 0])
        given = np.nan_to_num(own).argmax(axis=1)
        most = np.nan_to_num(people).max(axis=1)
        right = np.nan_to_num(people)[np.arange(len(given)), given] >= most - 1e-9
    else:
        apart = np.abs(answers.judge_means[judge] - answers.people_mean)
        known, right = np.isfinite(apart), apart <= tolerance * answers.scale.span + 1e-12
    return np.where(known, np.where(right, 0.0, 1.0), np.nan)


def confidence_of(answers: Answers, judge: int, column: str = "confidence") -> tuple[Floats, str]:
    """How sure the judge is of each text, (U,), and by what; larger is surer."""
    part, given = answers.part, answers.judged[judge]
    if part is not None and column in part.table:
        name = answers.judges[judge]
        rows = part.table[(part.table["rater"] == name) & (part.table["criterion"] == part.criterion)]
        means = rows[column].astype(float).groupby([rows["item"].astype(str), rows["target"].astype(str)]).mean()
        confidence = means.reindex(list(zip(answers.items, answers.targets, strict=True))).to_numpy(dtype=float)
        return np.nan_to_num(confidence, nan=-np.inf), f"column {column}"
    if given.shape[1] > 1:
        if answers.options:
            return np.nan_to_num(answers.judge_shares[judge]).max(axis=1), "agreement of its repeats"
        there = np.isfinite(given)
        apart = np.where(there, given - np.nan_to_num(answers.judge_means[judge])[:, None], 0.0)
        return -np.sqrt((apart**2).sum(axis=1) / np.maximum(there.sum(axis=1), 1)), "spread of its repeats"
    if not answers.options and np.isfinite(answers.scale.span):
        middle = sum(answers.scale.ends) / 2
        return np.nan_to_num(np.abs(given[:, 0] - middle)), "distance from the middle of the scale"
    return np.zeros(len(given)), "nothing: all texts are one group"


@measure(
    "brier_score", "error of its confidence", unit="", ends=(0, 1), rank=372, bad="above",
    reading="Mean squared distance between how sure the judge says it is and whether people agree with it: 0 is "
    "perfect, 0.25 is what saying 0.5 of everything gives.",
)  # fmt: skip
@per_judge(answers_against_truth, *COMPARED)
def brier_score(answers: Answers, judge: int, tolerance: float = 0.1) -> Estimate | None:
    """mean over texts of (c_u - r_u)^2, by judge and factor level; none where the table has no column `confidence`.

    c_u: the judge's confidence (percent are shares), r_u: 1 where it is right, as `delegable_share` has it: people's
    commonest answer, or within `tolerance` of the scale's range of their mean (Brier 1950, Monthly Weather Review 78,
    1-3). t over texts (clusters).

    Detail: `says` and `right`, the means of c and r; `ece`, the expected calibration error: over ten equal parts of
    0 to 1, the mean of |mean c - mean r| by their number of texts (Naeini, Cooper and Hauskrecht 2015, AAAI);
    `ece_of_chance`, what a judge whose confidence is exactly right would show with so many texts,

        sum_b n_b / n sqrt(2 / pi c_b (1 - c_b) / n_b)

    `reliability`: the table behind it. Undefined where confidence is neither a share nor a percentage.

    >>> rows = "j judge 1 p .9; j judge 2 f .6; a person 1 p; a person 2 p"
    >>> estimate = brier_score(example("rater kind item response confidence", rows)).of(judge="j")
    >>> round(estimate.value, 3), estimate.detail["says"], estimate.detail["right"]
    (0.185, 0.75, 0.5)
    """
    if answers.part is None or "confidence" not in answers.part.table:
        return None
    sure, _ = confidence_of(answers, judge)
    wrong = errors_of(answers, judge, tolerance)
    used = np.isfinite(sure) & np.isfinite(wrong)
    facts = answers.facts(used, method="mean squared error of confidence, t over texts")
    if not used.any():
        return undefined("brier_score", "no text has the judge's confidence and a person's answer", **facts)
    c, r = sure[used], 1 - wrong[used]
    c = c / 100 if 1 < c.max() <= 100 and c.min() >= 0 and c.max() > 10 else c
    if c.min() < 0 or c.max() > 1:
        why = f"confidence runs from {c.min():g} to {c.max():g}, which is neither a share nor a percentage"
        return undefined("brier_score", why, **facts)
    rows, ece, chance = [], 0.0, 0.0
    place = np.minimum((c * BINS).astype(int), BINS - 1)
    for k in sorted(set(place.tolist())):
        inside = place == k
        n, says, right = int(inside.sum()), float(c[inside].mean()), float(r[inside].mean())
        rows.append({"from": k / BINS, "to": (k + 1) / BINS, "n": n, "says": number(says), "right": number(right)})
        ece += n / len(c) * abs(says - right)
        chance += n / len(c) * math.sqrt(2 / math.pi * says * (1 - says) / n)
    detail = {
        "says": number(float(c.mean())), "right": number(float(r.mean())), "ece": number(ece),
        "ece_of_chance": number(chance), "reliability": rows, **answers.held,
    }  # fmt: skip
    squares = (c - r) ** 2
    distribution = clustered_mean(squares, answers.clusters[used])
    return estimated("brier_score", float(squares.mean()), distribution, detail=detail, **facts)
