"""What an upgrade does to the scale: whether it shifts, keeps the order of texts, and repeats itself as well."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import describe
from recuse.metrics.right_choices import right_first, right_responses
from recuse.metrics.upgrade.change import (
    METHOD,
    NO_ANSWERS,
    Hidden,
    Within,
    agreement_of_two,
    averaged,
    change,
    change_of_means,
    codes,
    graded,
    mean_change,
    mean_gap,
    no_change,
    rank_correlation,
    rank_sums,
    repeats,
    smallest,
    span_of,
    with_a_swap,
)
from recuse.metrics.upgrade.pairing import Pair, Upgrade, levels_of_judges
from recuse.ratings.answers import WON, Answers
from recuse.ratings.array import judges_array, mean_of
from recuse.schema import Distribution, Estimate
from recuse.schema.arrays import Floats, taken, total
from recuse.statistics.agreement.coefficient import Coefficient, ratio
from recuse.statistics.multiplicity import Largest

ENOUGH_LOST = 3

describe(
    "upgrade_shift", "shift of the scale", signed=True, rank=10, above="gives higher scores",
    below="gives lower scores",
    reading="The candidate's mean less the incumbent's on the same texts.",
)  # fmt: skip
describe(
    "upgrade_order", "same order of texts", signed=True, rank=12, bad="below", below="puts the texts in another order",
    reading="Rank correlation of one answer of the candidate with one of the incumbent, less that of two answers of "
    "the incumbent: 0 where the candidate agrees with the incumbent as well as that does with itself.",
)  # fmt: skip
describe(
    "upgrade_order_once", "same order of texts", ends=(-1, 1), rank=12, bad="below",
    below="puts the texts in another order",
    reading="Rank correlation of candidate and incumbent; nothing is known of how well the incumbent agrees with "
    "itself, because it was asked once.",
)  # fmt: skip
describe(
    "upgrade_noise", "spread over repeats", signed=True, rank=16, bad="above", above="repeats itself less well",
    reading="How far two answers to one text lie apart, the candidate's less the incumbent's; of options, how often "
    "they differ.",
)  # fmt: skip


def shift(pair: Pair) -> Estimate | None:
    """Mean over texts of the candidate's mean less the incumbent's, each over its repeats; lost repeats are left out.

    Of more than two options, or options without an order, the share of answers that moves most (`Largest`). None for
    choices between two texts, whose names a and b mean nothing: `decisions_flipped` says it all."""
    answers = pair.answers
    if answers.options == WON:
        return None
    old, new, _ = averaged(answers)
    moved, span, note = new - old, span_of(answers), ""
    used = np.isfinite(moved[:, 0])
    if not used.any():
        return no_change("upgrade_shift", pair, NO_ANSWERS, span=span)
    parts = tuple(mean_change(column, None, answers.clusters, answers.times, span=span) for column in moved.T)
    most = int(np.argmax([abs(part.value) for part in parts]))
    about: dict[str, Any] = {"unit": "share", "value": abs(parts[most].value), "span": span}
    distribution: Distribution = Largest(parts, True)
    if answers.counts:
        down, up = could_hide(answers, old[:, 0], new[:, 0])
        note = "" if down == up == 0 else "wider by what texts could hide that one of the two never answered"
        distribution = Hidden(parts[0], down, up) if note else parts[0]
        about |= {
            "unit": answers.scale.unit,
            "value": parts[0].value,
            "detail": {"hidden": [number(-down), number(up)]},
        }
    else:
        about["detail"] = {"option": answers.options[most]}
    values = answers.mean(old[:, most], used), answers.mean(new[:, most], used)
    return change("upgrade_shift", pair, distribution, values, used, note=note, **about)


def could_hide(answers: Answers, old: Floats, new: Floats) -> tuple[float, float]:
    """How far the mean shift over all texts could lie below and above that over the texts both answered.

    At most as far as the scale allows: each text that one of them never answered at the end that moves most. Where
    there are three such texts or more, losses that have nothing to do with the scores are told from others by the
    judge that did answer: then at most their share of the texts, times how far (95 %) they lie from the others."""
    used, either = np.isfinite(old) & np.isfinite(new), np.isfinite(old) ^ np.isfinite(new)
    share = answers.number(either) / max(answers.number(either | used), 1)
    if not either.any() or not np.isfinite(answers.scale.span):
        return 0.0, 0.0
    low, high = answers.scale.ends
    lowest, highest = np.where(np.isfinite(new), new, low), np.where(np.isfinite(new), new, high)
    moved = answers.mean(new - old, used)
    down = share * (moved - answers.mean(lowest - np.where(np.isfinite(old), old, high), either))
    up = share * (answers.mean(highest - np.where(np.isfinite(old), old, low), either) - moved)
    if answers.number(either) >= ENOUGH_LOST:
        known = np.where(np.isfinite(old), old, new)
        apart = mean_change(
            np.where(either, known, np.nan), np.where(used, known, np.nan), answers.clusters, answers.times,
            span=span_of(answers),
        )  # fmt: skip
        most = share * max(map(abs, apart.interval(0.95)), default=math.inf)
        if math.isfinite(most):
            return min(down, most), min(up, most)
    return max(down, 0.0), max(up, 0.0)


def order(pair: Pair) -> Estimate | None:
    """Spearman's rank correlation of single answers, candidate with incumbent, less the incumbent with itself:

        rho(new, old) - rho(old, old'),    old' another repeat of the same text

    Answers are graded by the share of the judge's own answers that lie below (mid-ranks), and products of different
    answers to a text are averaged, so more repeats make neither correlation higher. Where the candidate gives every
    text the same, rho(new, old) is 0. Jackknife over texts or clusters. None for options without an order, for two
    options (`decisions_flipped` says it all) and where the incumbent gives every text the same: there is no order to
    keep. Where the incumbent was asked once, the estimate is rho(new, old) alone and called `upgrade_order_once`."""
    answers = pair.answers
    if answers.options and (not answers.ordered or len(answers.options) == 2):
        return None
    old, new = (graded(given, answers.times) for given in answers.judged[:2])
    used: NDArray[np.bool_] = np.logical_and(np.isfinite(old).any(axis=1), np.isfinite(new).any(axis=1))
    twice = used & (repeats(answers, 0) > 1)
    if np.nanstd(old[used]) < 1e-9 if used.any() else False:
        return None
    name = "upgrade_order" if answers.number(twice) * 2 > answers.number(used) else "upgrade_order_once"
    if answers.number(used) < 4:
        return no_change(name, pair, "an order takes four texts that both answered")
    asked_once = name == "upgrade_order_once"
    main = rank_sums(used, *(mean_of(one, axis=1) for one in (old, new, old**2, new**2)))

    def less(s: Floats) -> Floats:
        return rank_correlation(s) if asked_once else rank_correlation(s) - _own(s)

    built = Coefficient(np.hstack([main, _again(old, twice)]), less, lambda s: "", times=answers.times)
    across, own = float(rank_correlation(built.sums[None])[0]), float(_own(built.sums[None])[0])
    spread = with_a_swap(built.jackknife(answers.clusters), answers.cluster_count(used))
    distribution = Within(spread, -1.0, 1.0) if asked_once else spread
    values = (math.nan, across) if asked_once else (own, across)
    return change(
        name, pair, distribution, values, used, value=across if asked_once else across - own,
        method="Spearman's rank correlation of single answers, jackknife over texts, t",
    )  # fmt: skip


def _again(old: Floats, twice: NDArray[np.bool_]) -> Floats:
    """Per text 1, xx' of two different answers of the incumbent, x and xx, (U, 4); 0 where there are no two."""
    n, x = np.isfinite(old).sum(axis=1), mean_of(old, axis=1)
    other = ratio((n * np.nan_to_num(x)) ** 2 - np.nansum(old**2, axis=1), (n * (n - 1)).astype(float))
    columns = np.column_stack([np.ones(len(x)), other, x, mean_of(old**2, axis=1)])
    return np.nan_to_num(np.where(twice[:, None], columns, 0.0))


def _own(s: Floats) -> Floats:
    n = np.maximum(s[:, 6], 1e-300)
    other, x, xx = s[:, 7] / n, s[:, 8] / n, s[:, 9] / n
    return np.nan_to_num(ratio(other - x**2, xx - x**2))


def noise(pair: Pair) -> Estimate | None:
    """Mean over texts of how far two different answers of the candidate lie apart, less the same of the incumbent; of
    options, how often the two differ. None unless both were asked repeatedly."""
    answers = pair.answers
    if answers.options:
        _, old, new = (1 - part for part in agreement_of_two(answers.judged[:2], len(answers.options)))
    else:
        old, new = mean_gap(answers.judged[0]), mean_gap(answers.judged[1])
    if not np.isfinite(new - old).any():
        return None
    unit = "share" if answers.options else answers.scale.unit
    return change_of_means("upgrade_noise", pair, old, new, span=span_of(answers), unit=unit)


# --------------------------------------------------------------------------- decisions, losses and right answers

describe(
    "upgrade_flips", "decisions flipped", unit="share", rank=14, bad="above", above="decides otherwise",
    reading="Share of texts on which one answer of the candidate decides otherwise than one of the incumbent, less the "
    "share on which the incumbent, asked again, decides otherwise than it did.",
)  # fmt: skip
describe(
    "upgrade_losses", "unusable answers", unit="share", signed=True, rank=18, bad="above",
    above="leaves more replies without a usable answer",
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
        return no_change("upgrade_flips", pair, NO_ANSWERS, unit="share", span=1.0)
    again = used & (repeats(answers, 0) > 1)
    known = bool(again.any())
    minus = np.where(again, 1 - own, np.nan) if known else None
    seen = mean_change(1 - across, minus, answers.clusters, answers.times, span=1.0)
    decided = np.stack([(given[0][0] == code).sum(axis=1) for code in range(given[1])], axis=1)
    hits = total(decided[used].astype(float), taken(answers.times, used))
    shares = answers.evened(hits / hits.sum())
    by_itself = 0.0 if known else float(1 - (shares**2).sum())  # the mean of p_ik^2 is at least m_k^2 (Jensen)
    old = answers.mean(1 - own, again) if known else math.nan
    note = "" if known else "the incumbent was asked once, so how often it flips by itself is not known"
    detail: dict[str, object] = {"thresholds": list(pair.thresholds)} if pair.thresholds else {}
    if not known:
        least = by_itself + smallest(seen, answers.cluster_count(used))
        detail |= {"asked_once": True, "by_itself_at_most": by_itself, "smallest": least if least < 1 else None}
    return change(
        "upgrade_flips", pair, seen if known else Hidden(seen, by_itself, 0.0),
        (old, answers.mean(1 - across, used)), used, value=seen.value, unit="share", span=1.0, note=note,
        detail=detail,
    )  # fmt: skip


def losses(pair: Pair) -> Estimate:
    """Mean over texts of the candidate's share of replies without a usable answer less the incumbent's. Detail
    `never`: texts that each of them never answered; `answered`: texts that both answered."""
    answers = pair.answers
    got = np.stack([repeats(answers, 0), repeats(answers, 1)]).astype(float)
    lost = np.zeros_like(got) if answers.lost is None else answers.lost[:2].astype(float)
    old, new = ratio(lost, lost + got)
    if not np.isfinite(new - old).any():
        return no_change("upgrade_losses", pair, "no text was asked of both", unit="share", span=1.0)
    never = {"incumbent": answers.number(got[0] == 0), "candidate": answers.number(got[1] == 0)}
    detail = {"never": never, "answered": answers.number(np.all(got > 0, axis=0))}
    return change_of_means("upgrade_losses", pair, old, new, unit="share", span=1.0, detail=detail)


describe(
    "upgrade_right_answers", "right responses first", unit="share", signed=True, rank=2, bad="below",
    below="puts the right response first less often",
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
    array = judges_array(next(part for _, part in levels_of_judges(ratings)))
    several = array.requested.all(axis=0).sum(axis=1) > 1
    return bool((right_responses(ratings, array).any(axis=1) & several).any())


def right_answers(upgrade: Upgrade) -> dict[tuple[str, ...], Estimate]:
    """P(candidate scores the right response of an item above all others) less the same of the incumbent, paired over
    items with two responses or more, by levels of `upgrade.by()`. The score is the mean of the repeats. A tie counts as
    wrong, and so does an item of which a judge left a response without an answer: nobody gains by leaving one out."""
    estimates: dict[tuple[str, ...], Estimate] = {}
    ratings = upgrade.both
    for names, part in levels_of_judges(ratings):
        array = judges_array(part)
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
        distribution = mean_change(np.where(used, new - old, np.nan), None, clusters.astype(np.intp), None, span=1.0)
        values = float(old[used].mean()), float(new[used].mean())
        count = len(np.unique(clusters[used]))
        estimates[levels] = estimated(
            "upgrade_right_answers", distribution.value, distribution, n=int(used.sum()), level=0.9,
            detail={"incumbent": values[0], "candidate": values[1], "texts": int(used.sum()),
                    "smallest": number(smallest(distribution, count))},
            method=METHOD, over=over, unit="share", span=1.0,
        )  # fmt: skip
    return estimates
