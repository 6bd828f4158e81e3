"""What an upgrade does to the scale: whether it shifts, keeps the order of texts, and repeats itself as well. `drift`:
whether a judge's newer version answers as the older one did."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal

import numpy as np
import pandas as pd

from recuse.metrics.estimates import SHARES, estimated, number, undefined
from recuse.metrics.measure import Named, describe, itself, measure, per_subject
from recuse.metrics.right_choices import right_first, right_responses
from recuse.metrics.upgrade import change as changes
from recuse.metrics.upgrade.change import METHOD, NO_ANSWERS, Hidden, Pair, mean_change, span_of
from recuse.metrics.upgrade.pairing import Upgrade, levels_of_judges
from recuse.ratings import Ratings, judges_array, mean_of
from recuse.ratings.answers import COMPARED, WON, Answers, answers_of
from recuse.ratings.ratings_table import JUDGE
from recuse.schema import Distribution, Estimate
from recuse.schema.arrays import Floats, Mask, taken, total
from recuse.schema.factors import VERSION, levels_in
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.clusters import clustered_mean, clustered_share
from recuse.statistics.distributions import Folded, Largest

ENOUGH_LOST = 3
BY_VERSION = "same texts, first version against last; t over texts (an exact share where nothing was asked twice)"

describe(
    "upgrade_shift", "shift of the scale", signed=True, rank=10, above="gives higher scores",
    below="gives lower scores",
    reading="The candidate's mean less the incumbent's on the same texts.",
)  # fmt: skip
describe(
    "upgrade_order", "same order of texts", signed=True, rank=12, below="puts the texts in another order",
    reading="Rank correlation of one answer of the candidate with one of the incumbent, less that of two answers of "
    "the incumbent: 0 where the candidate agrees with the incumbent as well as that does with itself.",
)  # fmt: skip
describe(
    "upgrade_order_once", "same order of texts", ends=(-1, 1), rank=12, below="puts the texts in another order",
    reading="Rank correlation of candidate and incumbent; nothing is known of how well the incumbent agrees with "
    "itself, because it was asked once.",
)  # fmt: skip
describe(
    "upgrade_noise", "spread over repeats", signed=True, rank=16, above="repeats itself less well",
    reading="How far two answers to one text lie apart, the candidate's less the incumbent's; of options, how often "
    "they differ.",
)  # fmt: skip
describe(
    "upgrade_flips", "decisions flipped", unit="share", rank=14, above="decides otherwise",
    reading="Share of texts on which one answer of the candidate decides otherwise than one of the incumbent, less the "
    "share on which the incumbent, asked again, decides otherwise than it did.",
)  # fmt: skip
describe(
    "upgrade_losses", "unusable answers", unit="share", signed=True, rank=18,
    above="leaves more replies without a usable answer",
    reading="Share of replies without a usable answer, the candidate's less the incumbent's.",
)  # fmt: skip
describe(
    "upgrade_right_answers", "right responses first", unit="share", signed=True, rank=2,
    below="puts the right response first less often",
    reading="Share of items of which a judge scores the right response above all others, the candidate's less the "
    "incumbent's.",
)  # fmt: skip


def shift(pair: Pair) -> Estimate | None:
    """Mean over texts of the candidate's mean less the incumbent's, each over its repeats; lost repeats are left out.

    Of more than two options, or options without an order, the share of answers that moves most (`Largest`). None for
    choices between two texts, whose names a and b mean nothing: `decisions_flipped` says it all."""
    answers = pair.answers
    if answers.options == WON:
        return None
    old, new, _ = pair.averaged()
    used = np.isfinite((new - old)[:, 0])
    if not used.any():
        return pair.no_change("upgrade_shift", NO_ANSWERS, span=span_of(answers))
    parts = [pair.mean_change(column, span=span_of(answers)) for column in (new - old).T]
    down, up = could_hide(answers, old[:, 0], new[:, 0]) if answers.counts else (0.0, 0.0)
    detail = {"hidden": [number(-down), number(up)]}
    return level_change("upgrade_shift", pair, parts, (old, new), used, (down, up), detail, both=True)


def level_change(
    metric: str, pair: Pair, parts: Sequence[Any], levels: tuple[Floats, Floats], used: Mask,
    hidden: tuple[float, float], detail: Mapping[str, object], *, both: bool, **more: Any,
) -> Estimate:  # fmt: skip
    """What a level changes by: the one of numbers, widened by what texts could hide (`could_hide`), with its `detail`;
    of several shares the `parts` of which are their changes, the largest (`both`: of any sign). `levels` (U, C) of
    incumbent and candidate."""
    answers, sizes = pair.answers, [abs(part.value) if both else part.value for part in parts]
    most, note = int(np.argmax(sizes)), ""
    distribution: Distribution = Largest(tuple(map(Folded, parts) if both else parts))
    if answers.counts:
        distribution = Hidden(parts[0], *hidden) if any(hidden) else parts[0]
        note = "wider by what texts could hide that one of the two never answered" if any(hidden) else ""
    else:
        detail = {"option": answers.options[most]}
    old, new = (answers.mean(level[:, most], used) for level in levels)
    value = parts[0].value if answers.counts else sizes[most]
    more |= {"value": value, "note": note, "detail": detail, **pair.unit_and_span}
    return pair.change(metric, distribution, (old, new), used, **more)


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
        by_one, by_both = (np.where(texts, known, np.nan) for texts in (either, used))
        apart = mean_change(by_one, by_both, answers.clusters, answers.times, span=span_of(answers))
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
    old, new = (changes.graded(given, answers.times) for given in answers.judged[:2])
    used: Mask = np.logical_and(np.isfinite(old).any(axis=1), np.isfinite(new).any(axis=1))
    twice = used & (pair.repeats(0) > 1)
    if np.nanstd(old[used]) < 1e-9 if used.any() else False:
        return None
    asked_once = answers.number(twice) * 2 <= answers.number(used)
    name = "upgrade_order_once" if asked_once else "upgrade_order"
    if answers.number(used) < 4:
        return pair.no_change(name, "an order takes four texts that both answered")
    x, y, xx, yy = (mean_of(one, axis=1) for one in (old, new, old**2, new**2))
    n = np.isfinite(old).sum(axis=1)  # products of two different answers of the incumbent
    other = ratio((n * np.nan_to_num(x)) ** 2 - np.nansum(old**2, axis=1), (n * (n - 1)).astype(float))
    own = None if asked_once else changes.rank_sums(twice, x, x, xx, xx, other)
    return changes.rank_change(name, pair, used, changes.rank_sums(used, x, y, xx, yy), own)


def noise(pair: Pair) -> Estimate | None:
    """Mean over texts of how far two different answers of the candidate lie apart, less the same of the incumbent; of
    options, how often the two differ. None unless both were asked repeatedly."""
    answers = pair.answers
    if answers.options:
        _, old, new = (1 - part for part in changes.agreement_of_two(answers.judged[:2], len(answers.options)))
    else:
        given = answers.judged[:2]
        there = np.isfinite(given)
        n = there.sum(axis=-1).astype(float)
        # the sum of distances over pairs of sorted answers is sum_k (2 k - n - 1) x_k
        ordered = np.sort(np.where(there, given, np.inf), axis=-1)
        place = 2.0 * np.arange(1, given.shape[-1] + 1) - n[..., None] - 1
        old, new = ratio(2 * (place * np.where(np.isfinite(ordered), ordered, 0.0)).sum(axis=-1), n * (n - 1))
    if not np.isfinite(new - old).any():
        return None
    return pair.change_of_means("upgrade_noise", old, new, **pair.unit_and_span)


def decisions_flipped(pair: Pair) -> Estimate | None:
    """P(one answer of the candidate decides otherwise than one of the incumbent) less P(two answers of the incumbent
    differ), over texts. Options decide as they are, numbers by the side of the thresholds; None without a threshold.

    Where the incumbent was asked once, how often it flips by itself is not known, but for a bound: with shares m_k of
    its decisions, 1 - sum m_k^2, reached by one that draws them anew for every text. Then nothing is taken off the
    value, and the interval's lower end lies lower by the bound: only more flips than that are a change for sure."""
    given = pair.codes(pair.answers.judged[:2])
    if given is None:
        return None
    across, own, _ = changes.agreement_of_two(*given)
    used, answers = np.isfinite(across), pair.answers
    if not used.any():
        return pair.no_change("upgrade_flips", NO_ANSWERS, **SHARES)
    again = used & (pair.repeats(0) > 1)
    known = bool(again.any())
    seen = pair.mean_change(1 - across, np.where(again, 1 - own, np.nan) if known else None, span=1.0)
    old, note, by_itself = answers.mean(1 - own, again) if known else math.nan, "", 0.0
    detail: dict[str, object] = {"thresholds": list(pair.thresholds)} if pair.thresholds else {}
    if not known:
        decided = np.stack([(given[0][0] == code).sum(axis=1) for code in range(given[1])], axis=1)
        hits = total(decided[used].astype(float), taken(answers.times, used))
        by_itself = float(1 - (answers.evened(hits / hits.sum()) ** 2).sum())  # mean p_ik^2 is >= m_k^2 (Jensen)
        note = "the incumbent was asked once, so how often it flips by itself is not known"
        least = by_itself + changes.smallest(seen, answers.cluster_count(used))
        detail |= {"asked_once": True, "by_itself_at_most": by_itself, "smallest": least if least < 1 else None}
    return pair.change(
        "upgrade_flips", seen if known else Hidden(seen, by_itself, 0.0), (old, answers.mean(1 - across, used)), used,
        value=seen.value, note=note, detail=detail, **SHARES,
    )  # fmt: skip


def losses(pair: Pair) -> Estimate:
    """Mean over texts of the candidate's share of replies without a usable answer less the incumbent's. Detail
    `never`: texts that each of them never answered; `answered`: texts that both answered."""
    answers = pair.answers
    got = np.stack([pair.repeats(0), pair.repeats(1)]).astype(float)
    lost = np.zeros_like(got) if answers.lost is None else answers.lost[:2].astype(float)
    never = {"incumbent": answers.number(got[0] == 0), "candidate": answers.number(got[1] == 0)}
    detail = {"never": never, "answered": answers.number(np.all(got > 0, axis=0))}
    old, new = ratio(lost, lost + got)
    return pair.change_of_means("upgrade_losses", old, new, "no text was asked of both", detail=detail, **SHARES)


def right_answers(upgrade: Upgrade) -> list[tuple[dict[str, str], Estimate]]:
    """P(candidate scores the right response of an item above all others) less the same of the incumbent, paired over
    items with two responses or more, by levels of `upgrade.by()`; none where the texts do not say which is right. The
    score is the mean of the repeats. A tie counts as wrong, and so does an item of which a judge left a response
    without an answer: nobody gains by leaving one out."""
    ratings, texts, estimates = upgrade.both, upgrade.both.texts, list[tuple[dict[str, str], Estimate]]()
    scored = all(ratings.scales[name].counts for name in ratings.headline)
    if texts is None or not {"gold", "target"} <= set(texts.columns) or not scored:
        return []
    for names, part in levels_of_judges(ratings):
        array = judges_array(part)
        right = right_responses(ratings, array)
        used = (array.requested.all(axis=0).sum(axis=1) > 1) & right.any(axis=1)
        over: Literal["clusters", "items"] = "clusters" if array.clustered else "items"
        about: dict[str, Any] = {"method": METHOD, "over": over, **SHARES}
        if used.any():
            old, new = (right_first(array.means[j], array.requested[j], right) == 1.0 for j in (0, 1))
            clusters = np.unique(np.asarray(array.clusters, dtype=object).astype(str), return_inverse=True)[1]
            change = np.where(used, new.astype(float) - old, np.nan)
            distribution = mean_change(change, None, clusters.astype(np.intp), None, span=1.0)
            detail = {
                "incumbent": float(old[used].mean()), "candidate": float(new[used].mean()), "texts": int(used.sum()),
                "smallest": number(changes.smallest(distribution, len(np.unique(clusters[used])))),
            }  # fmt: skip
            about |= {"n": int(used.sum()), "level": 0.9, "detail": detail}
            estimate = estimated("upgrade_right_answers", distribution.value, distribution, **about)
        elif estimates:
            estimate = undefined("upgrade_right_answers", "no item was asked of both", **about)
        else:
            return []
        estimates.append((dict(zip_longest(upgrade.by(), names, fillvalue=ratings.criterion)), estimate))
    return estimates


@measure(
    "drift", "change of answers from version to version", unit="share", rank=60, above="is not the judge it was",
    reading="Share of the texts that both versions judged on which the answer is another one; of numbers, the mean "
    "distance as a share of the scale's range.",
)  # fmt: skip
@per_subject("judge", itself, *COMPARED, VERSION)
def drift(part: Ratings) -> Iterator[Named]:
    """Mean over texts of the distance between the answers of the first and the last level of the factor `version`, by
    judge and the other factors. Distance: the chance that one answer of each differs (of numbers: the distance of the
    means over the range, that of all answers compared where the scale has no ends). Where both versions were asked
    repeatedly, the chance that two answers of one version differ, averaged over both, is taken off: a judge that wavers
    has not drifted. Detail: `versions`, `mean_change` (last less first, where answers have an order), `own_noise`.

    Undefined where no text was answered by both.

    >>> rows = "march 0 p; march 1 f; march 2 p; march 3 f; april 0 p; april 1 f; april 2 p; april 3 p"
    >>> drift(example("version item response", rows)).of(judge="j").value
    0.25
    """
    if VERSION not in part.factors:
        return
    versions = levels_in(part.table[part.table["kind"] == JUDGE], VERSION)  # people judged texts, not versions
    first, last = versions[0], versions[-1]
    left = tuple(name for name in part.factors if name != VERSION)
    for judge in part.judges:
        rows = part.table[(part.table["rater"] == judge) & part.table[VERSION].isin((first, last))]
        if rows[VERSION].nunique() < 2:
            continue
        older, newer = (rows[rows[VERSION].eq(level)].assign(rater=level) for level in (first, last))
        table = pd.concat([older, newer], ignore_index=True).drop(columns=VERSION)
        both = Ratings(table, part.scales, left, {}, part.headline, texts=part.texts, clusters=part.clusters)
        answers = answers_of(both, both, people=False)
        old, new = (answers.judges.index(version) for version in (first, last))
        moved, noise = answers.judge_means[new] - answers.judge_means[old], np.full(len(answers.items), np.nan)
        distance = np.abs(moved) / max(span_of(answers), 1e-12)
        if answers.options:
            across, *own = changes.agreement_of_two(answers.judged, len(answers.options))
            distance, noise = 1 - across, 1 - (own[0] + own[1]) / 2
        there = np.isfinite(distance)
        facts = answers.facts(there, n_excluded=int((~there).sum()), method=BY_VERSION, **SHARES)
        if not there.any():
            yield judge, undefined("drift", "no text was answered by both versions", **facts)
            continue
        own_noise = float(np.nanmean(noise)) if np.isfinite(noise).any() else 0.0
        values, clusters = distance[there] - np.nan_to_num(noise)[there], answers.clusters[there]
        plain = own_noise == 0.0 and set(np.unique(values)) <= {0.0, 1.0}
        distribution = clustered_share(values, clusters) if plain else clustered_mean(values, clusters)
        detail = {"versions": [first, last], "own_noise": number(own_noise),
                  "mean_change": number(float(moved[there].mean())) if answers.counts else None}  # fmt: skip
        yield judge, estimated("drift", float(values.mean()), distribution, detail=detail, **facts)
