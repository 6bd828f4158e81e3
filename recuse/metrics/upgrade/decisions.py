"""How many decisions an upgrade flips, beyond those that the judge in use flips by itself, what it leaves out, and
whether it puts the response that is known to be right first as often."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import describe
from recuse.metrics.right_choices import right_first, right_responses
from recuse.metrics.upgrade.change import METHOD, agreement_of_two, change, codes, no_change, repeats, smallest
from recuse.metrics.upgrade.change_distributions import Hidden, mean_change
from recuse.metrics.upgrade.pairing import Pair, Upgrade
from recuse.schema import Estimate

describe(
    "upgrade_flips", "decisions flipped", unit="share", rank=14, bad="above",
    above="decides otherwise|decide otherwise",
    reading="Share of texts on which one answer of the candidate decides otherwise than one of the incumbent, less the "
    "share on which the incumbent, asked again, decides otherwise than it did.",
)  # fmt: skip
describe(
    "upgrade_losses", "unusable replies", unit="share", signed=True, rank=18, bad="above",
    above="leaves more replies without a usable answer|leave more replies without a usable answer",
    reading="Share of replies without a usable answer, the candidate's less the incumbent's.",
)  # fmt: skip


def decisions_flipped(pair: Pair) -> Estimate | None:
    """P(one answer of the candidate decides otherwise than one of the incumbent) less P(two answers of the incumbent
    differ), over texts. Options decide as they are, numbers by the side of the thresholds; None without a threshold.

    Where the incumbent was asked once, how often it flips by itself is not known, but for a bound: with shares m_k of
    its decisions, 1 - sum m_k^2, reached by one that draws them anew for every text. Then nothing is taken off the
    value, and the interval's lower end lies lower by the bound: only more flips than that are a change for sure."""
    given = codes(pair)
    if given is None:
        return None
    across, own, _ = agreement_of_two(*given)
    used, answers = np.isfinite(across), pair.answers
    if not used.any():
        return no_change("upgrade_flips", pair, "no text has a usable answer of both", unit="share", span=1.0)
    again = used & (repeats(answers, 0) > 1)
    known = bool(again.any())
    minus = np.where(again, 1 - own, np.nan) if known else None
    seen = mean_change(1 - across, minus, answers.clusters, span=1.0)
    by_itself = 0.0 if known else _most_by_itself(given[0][0][used], given[1])
    old = float((1 - own)[again].mean()) if known else math.nan
    note = "" if known else "the incumbent was asked once, so how often it flips by itself is not known"
    detail: dict[str, object] = {"thresholds": list(pair.thresholds)} if pair.thresholds else {}
    if not known:
        found = by_itself + smallest(seen, answers.cluster_count(used))
        detail |= {"asked_once": True, "by_itself_at_most": by_itself, "smallest": found if found < 1 else None}
    return change(
        "upgrade_flips", pair, seen if known else Hidden(seen, by_itself, 0.0),
        (old, float((1 - across)[used].mean())), used, value=seen.value, unit="share", span=1.0, note=note,
        detail=detail,
    )  # fmt: skip


def _most_by_itself(given: NDArray[np.float64], count: int) -> float:
    """The largest chance that two answers of a judge to one text differ, given the codes (U, R) of its answers:
    1 - sum m_k^2, since the mean over texts of p_ik^2 is at least the square of the mean (Jensen)."""
    decided = given[np.isfinite(given)].astype(int)
    shares = np.bincount(decided, minlength=count) / len(decided)
    return float(1 - (shares**2).sum())


def losses(pair: Pair) -> Estimate:
    """Mean over texts of the candidate's share of replies without a usable answer less the incumbent's. Detail
    `worst_case`: the smallest and largest shift of the scale if every text that one of them never answered had the
    score that moves the mean most; `never`: texts that each of them never answered; `answered`: texts that both
    answered."""
    answers = pair.answers
    got = np.stack([repeats(answers, 0), repeats(answers, 1)]).astype(float)
    lost = np.zeros_like(got) if answers.lost is None else answers.lost[:2].astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = lost / (lost + got)
    used = np.isfinite(share).all(axis=0)
    if not used.any():
        return no_change("upgrade_losses", pair, "no text was asked of both", unit="share", span=1.0)
    distribution = mean_change(np.where(used, share[1] - share[0], np.nan), None, answers.clusters, span=1.0)
    never = {"incumbent": int((got[0] == 0).sum()), "candidate": int((got[1] == 0).sum())}
    return change(
        "upgrade_losses", pair, distribution, (float(share[0][used].mean()), float(share[1][used].mean())), used,
        value=distribution.value, unit="share", span=1.0,
        detail={"never": never, "answered": int((got > 0).all(axis=0).sum())},
    )  # fmt: skip


describe(
    "upgrade_right_answers", "right responses first", unit="share", signed=True, rank=2, bad="below",
    below="puts the right response first less often|put the right response first less often",
    reading="Share of items of which a judge scores the right response above all others, the candidate's less the "
    "incumbent's.",
)  # fmt: skip


def knows_right_answers(upgrade: Upgrade) -> bool:
    """Whether the texts say which of an item's responses is right, and both judges scored these."""
    ratings = upgrade.both
    texts = ratings.texts
    if texts is None or not {"gold", "target"} <= set(texts.columns):
        return False
    if not all(ratings.scales[name].counts for name in ratings.headline):
        return False
    array = next(part for _, part in ratings.each()).array().only_judges()
    several = array.requested.all(axis=0).sum(axis=1) > 1
    return bool((right_responses(ratings, array).any(axis=1) & several).any())


def right_answers(upgrade: Upgrade) -> dict[tuple[str, ...], Estimate]:
    """P(candidate scores the right response of an item above all others) less the same of the incumbent, paired over
    items with two responses or more, by levels of `upgrade.by()`. The score is the mean of the repeats. A tie counts as
    wrong, and so does an item of which a judge left a response without an answer: nobody gains by leaving one out."""
    estimates: dict[tuple[str, ...], Estimate] = {}
    ratings = upgrade.both
    for names, part in ratings.each():
        array = part.array().only_judges()
        levels = (*names, *(ratings.criterion for _ in range(len(upgrade.by()) - len(names))))
        right = right_responses(ratings, array)
        used = (array.requested.all(axis=0).sum(axis=1) > 1) & right.any(axis=1)
        over: Literal["clusters", "items"] = "clusters" if array.clustered else "items"
        if not used.any():
            estimates[levels] = undefined(
                "upgrade_right_answers", "no item was asked of both", method=METHOD, over=over, unit="share", span=1.0
            )
            continue
        there = np.isfinite(array.means) | ~array.requested
        old, new = ((right_first(array.means[j], right) & there[j].all(axis=1)).astype(float) for j in (0, 1))
        clusters = np.unique(np.asarray(array.clusters, dtype=object).astype(str), return_inverse=True)[1]
        distribution = mean_change(np.where(used, new - old, np.nan), None, clusters.astype(np.intp), span=1.0)
        values = float(old[used].mean()), float(new[used].mean())
        count = len(np.unique(clusters[used]))
        estimates[levels] = estimated(
            "upgrade_right_answers", distribution.value, distribution, n=int(used.sum()), level=0.9,
            detail={"incumbent": values[0], "candidate": values[1], "texts": int(used.sum()),
                    "smallest": number(smallest(distribution, count))},
            method=METHOD, over=over, unit="share", span=1.0,
        )  # fmt: skip
    return estimates
