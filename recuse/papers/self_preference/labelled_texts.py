"""Scores against what texts are known to deserve (`true_<criterion>`), never against another judge: a remedy that
makes judges alike would win by that. Thesis on bias in LLM self-evaluation, sec. 1.2.1, 1.2.3 and 2.4.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from recuse.metrics.consensus import WELCH
from recuse.metrics.estimates import THESE_TEXTS, estimated, number, undefined
from recuse.metrics.human_alignment import Compared, People
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.rank_tests import spearman
from recuse.papers.self_preference import over_texts
from recuse.papers.self_preference.over_texts import Scored, by_rater, mean_or_none, scored_under, true_scores
from recuse.ratings import TRUE, Cells, Ratings, against_truth, arrays_by_level, mean_of
from recuse.ratings.needs import counted_criteria
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats, Mask, distinct
from recuse.schema.factors import PROMPT
from recuse.statistics.bounded import BOUNDED, bounded_mean
from recuse.statistics.distributions import SEED, by_content, generator

# AutoCalibrate's last step: of several lists of criteria, keep the one that fits the labels best on texts of one fold
# (calibration), and say what it is worth on those of the other (held_out). Liu et al. 2023, arXiv:2309.13308.
CRITERIA, FOLD = "criteria", "fold"
CHOOSING, TESTING = "calibration", "held_out"


@measure(
    "calibrated_criteria", "error change by inferred criteria", signed=True, rank=354,
    reading="Distance from the labels by the judge's own criteria, chosen on other texts, less that by the given ones. "
    "Below 0: it helps.",
)  # fmt: skip
@per_subject("judge", itself, CRITERIA)
def calibrated_criteria(part: Ratings) -> Iterator[Named]:
    """Mean over held-out texts of |own - label| - |given - label|, by judge; own criteria are those whose scores
    correlate best with the labels on the calibration texts (the nearest to them where no correlation is defined). The
    first level of factor `criteria` is the given ones. Detail: `chosen`; `calibration`, each list's correlation on the
    texts that choose; `before` and `after` on the held-out ones. Undefined without labels (texts: true_<criterion>) or
    folds, and without a held-out text scored both ways.

    >>> rows = "given a 3; given b 3; given c 3; given d 3; draft a 1; draft b 5; draft c 2; draft d 4"
    >>> texts = table("item true_rating fold", "a 1 calibration; b 5 calibration; c 1 held_out; d 5 held_out")
    >>> scores = example("criteria item score", rows, factors=["criteria"], texts=texts.assign(target=""))
    >>> calibrated_criteria(scores).of(judge="j").value
    -1.0
    """
    arrays = arrays_by_level(part, CRITERIA)
    if not arrays:
        return
    first = next(iter(arrays.values()))
    true, fold = true_scores(part, first), over_texts.facts_of_texts(part, FOLD, first)
    given, *own = arrays
    metric, tested, why = "calibrated_criteria", fold == TESTING, "there are no criteria but the given ones"
    if np.isnan(true).all() or not (fold == CHOOSING).any():
        own, why = [], "no labels, or no text that chooses (texts: true_<criterion>, fold)"
    for row, judge in enumerate(first.raters):
        scores = {level: array.means[row] for level, array in arrays.items()}
        fits = {level: _fit(scores[level], true, fold == CHOOSING) for level in own}
        best = max(own, key=fits.__getitem__, default=None)
        if best is None:
            yield judge, undefined(metric, why, unit=part.scale.unit, method="none")
            continue
        before, after = (np.where(tested, np.abs(scores[level] - true), np.nan) for level in (given, best))
        both = np.isfinite(after - before)
        known = {level: number(r) if np.isfinite(r) and abs(r) <= 1 else None for level, r in fits.items()}
        detail = {
            "chosen": best, "calibration": known, "before": mean_or_none(before[both]),
            "after": mean_or_none(after[both]),
        }  # fmt: skip
        yield judge, over_texts.mean_over_texts(
            metric, after - before, first, part, detail=detail, requested=tested & np.isfinite(true),
            why="no held-out text was scored by the given and by the chosen criteria",
        )  # fmt: skip


def _fit(scores: Floats, true: Floats, chosen: Mask) -> float:
    """Pearson's r with the labels; below every r, the nearer to them the better, where it is not defined."""
    there = chosen & np.isfinite(scores) & np.isfinite(true)
    x, y = scores[there], true[there]
    if len(x) > 1 and x.std() > 1e-12 and y.std() > 1e-12:
        slope = (x[1] - x[0]) * (y[1] - y[0])  # of two texts r is 1 or -1, but for rounding
        return float(np.corrcoef(x, y)[0, 1] if len(x) > 2 else np.sign(slope))
    return -2.0 - (float(np.abs(x - y).mean()) if len(x) else 1e9)


# --------------------------------------------------------------------------- escalation
# A jury hands a text on where its members differ. Labels are what is true or what people say on average (sec. 2.4).

BOUND = 0.1
FEWEST = 4


@measure(
    "escalation", "error change by escalation", signed=True, rank=357,
    reading="Distance of the jury's mean from the labels on texts that it keeps, less that on all, where texts that "
    "its members differ about go to people. Below 0: it helps.",
)  # fmt: skip
@per_subject((), itself)
def escalation(part: Ratings) -> Estimate:
    """Error of the jury on the texts that it keeps less on all texts, on one half of the items (clusters), drawn at
    random, in units of the scale; by factor level. Texts whose members' range is above the threshold go to people: the
    largest range seen in the other half at which the mean error of what is kept is at most a tenth of the scale's
    range, else the smallest range. Detail: `threshold`; `escalated`, the share of texts of the half that is measured;
    `before` and `after`. Undefined below two judges or four labelled items, and where nothing is kept.

    >>> rows, true = f"x {'/'.join('15' * 10)}; y {'/'.join('11' * 10)}", "/".join("15" * 10)
    >>> escalation(example("judge score", rows, texts=table("true_rating", true).assign(target=""))).of().value
    -1.2
    """
    array = against_truth(part).array()
    judged, labels = array.means[~array.people], true_scores(part, array)
    if np.isnan(labels).all():
        labels = mean_of(array.means[array.people], axis=0)
    there = np.isfinite(judged).all(axis=0) & np.isfinite(labels)
    groups = over_texts.clusters_of_texts(array)
    count = distinct(groups[there])
    about: dict[str, Any] = {
        "over": "clusters", "clusters": part.clusters, "unit": part.scale.unit, "span": 2 * part.scale.span,
        "method": BOUNDED, "seed": SEED,
    }  # fmt: skip
    if len(judged) < 2 or count < FEWEST:
        why = f"it takes two judges, and {FEWEST} items with labels that all of them scored"
        return undefined("escalation", why, **about)
    spread, error = judged.max(axis=0) - judged.min(axis=0), np.abs(judged.mean(axis=0) - labels)
    first = np.zeros_like(there)
    order = by_content(groups[there], [spread[there], error[there]])
    first[there] = generator(SEED, "escalation").permutation(count)[order] < count // 2
    rest = there & ~first
    ranges = np.unique(spread[first]).tolist()
    errors = [error[first][spread[first] <= value + 1e-9].mean() for value in ranges]
    good = [value for value, mean in zip(ranges, errors, strict=True) if mean <= BOUND * part.scale.span + 1e-9]
    threshold = good[-1] if good else ranges[0]
    kept = rest & (spread <= threshold + 1e-9)
    before, after = (float(mean_of(error[which], axis=0)) for which in (rest, kept))
    detail: dict[str, Any] = {
        "threshold": number(threshold), "escalated": number(1 - kept.sum() / rest.sum()), "before": number(before)
    }  # fmt: skip
    if not kept.any():
        return undefined("escalation", "every text of one half goes to people", detail=detail, **about)
    detail["after"] = number(after)
    weights = np.where(kept, rest.sum() / kept.sum(), 0.0) - 1.0  # the difference of the means, as one mean over texts
    values = (weights * error)[rest]
    widest = float(np.abs(weights[rest]).max()) * part.scale.span
    return estimated(
        "escalation", after - before, bounded_mean(values, groups[rest], (-widest, widest)), n=int(rest.sum()),
        n_clusters=distinct(groups[rest]), detail=detail, **about,
    )  # fmt: skip


# --------------------------------------------------------------------------- error against a known score
# Merchant-risk paper, Appendix A: completeness is a point per dimension and level, 25 in all; a text with 20 of them
# deserves 8.0 of 10, whoever judges. Texts carry the right score of a criterion as `true_<criterion>`.

OVER_TEXTS = "mean of score less right score over texts, cluster-robust t over items"


@measure(
    "known_score_error", "error against the known score", signed=True, rank=285, bad="both",
    above="overrates what can be counted", below="underrates what can be counted",
    reading="Mean of a judge's score less the right score, on a criterion that can be counted.",
)  # fmt: skip
def known_score_error(ratings: Ratings) -> Estimates:
    """Mean over texts of score minus right score, by judge, factor level and criterion. Over repeats where every target
    has one text (new replies on these texts), else over texts. Detail: `absolute`, the mean of |score - right|;
    `order`, Spearman's rho with the right scores, None where one side is constant; `worst`, [item, target, score,
    right] of the text furthest off. Undefined without a usable score of a text whose right score is known.

    >>> scores = example("item target score", "i t 9; k t 8", texts=table("item target true_rating", "i t 8; k t 8"))
    >>> known_score_error(scores).of(judge="j", criterion="rating").value
    0.5
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for criterion in counted_criteria(ratings):
        for names, part in ratings.with_criterion(criterion).each():
            cells = part.cells()
            known = over_texts.known_of_texts(part, TRUE + criterion)
            places = zip(cells.items, cells.targets, strict=True)
            texts = [(cells.item_names[i], cells.target_names[t]) for i, t in places]
            right = np.array([known.get(text, np.nan) for text in texts], dtype=float)  # NaN where it is not known
            for judge in cells.judges:
                estimates[(judge, *names, criterion)] = _error(cells, judge, right)
    return Estimates(("judge", *ratings.factors, "criterion"), estimates)


def _error(cells: Cells, judge: str, right: Floats) -> Estimate:
    row, against = cells.row(judge), Compared(cells, People(right), {})
    errors = against.differences[row]
    used = np.isfinite(errors)
    about = {
        **cells.about(cells.fixed), "method": WELCH if cells.fixed else OVER_TEXTS,
        "n_excluded": int(cells.lost[row].sum()) if cells.fixed else int((~used).sum()),
    }  # fmt: skip
    if not used.any():
        return undefined("known_score_error", "no text with a known score has a usable one of the judge", **about)
    at = int(np.nanargmax(np.abs(errors).round(9)))
    where = [cells.item_names[cells.items[at]], cells.target_names[cells.targets[at]]]
    scores, deserved = cells.mean[row][used], right[used]
    varied = len(scores) > 2 and min(np.ptp(scores), np.ptp(deserved)) >= 1e-9
    detail = {
        "absolute": number(np.abs(errors[used]).mean()),
        "order": number(float(spearman(scores, deserved))) if varied else None,
        "worst": [*where, number(cells.mean[row, at]), number(right[at])],
    }  # fmt: skip
    own = against.only(row) & used
    over = against.over_repeats(own) if cells.fixed else against.over_texts(own)
    if cells.over == "clusters" and not cells.fixed:
        about["n_clusters"] = distinct(cells.clusters[used])
    n, note = int(cells.count[own].sum()), THESE_TEXTS
    if not cells.fixed:
        n, note = distinct(cells.items[used]), ""
    return estimated("known_score_error", over.value, over, n=n, note=note, detail=detail, **about)


# --------------------------------------------------------------------------- another way of asking

_Ways = Iterable[tuple[Scored, Floats, Mapping[str, float | None]]]
"""Each judge under each prompt, what the texts deserve, NaN where that is not known, and its mean tokens per text."""


def _ways(part: Ratings, ratings: Ratings) -> _Ways:
    counted = f"{part.criterion}.tokens"
    spent = arrays_by_level(part.with_criterion(counted), PROMPT) if counted in part.criteria else {}
    tokens = {level: by_rater(array, mean_of(array.means, axis=(1, 2))) for level, array in spent.items()}
    for one in scored_under(part, PROMPT):
        true = true_scores(part, one.array)
        known = np.isfinite(true)
        mean = partial(one.mean, requested=one.requested & (known | ~known.any()))
        yield one._replace(mean=mean), true, {level: tokens.get(level, {}).get(one.judge) for level in one.scores}


@measure(
    "error_by_prompt", "distance from what is true", rank=346, above="is far from what the texts deserve",
    reading="Mean distance between a judgement and what the text is known to deserve, by the way of asking.",
)  # fmt: skip
@per_subject(("judge", PROMPT), _ways, PROMPT)
def error_by_prompt(ways: _Ways) -> Iterator[Named]:
    """Mean of |score - true score| over texts, by judge and prompt; in units of the scale, of two options as the share
    of wrong answers. Detail: `tokens`, their mean per text, where counted. Undefined without true scores.

    >>> more = {"factors": ["prompt"], "texts": table("true_rating", "2/5").assign(target="")}
    >>> error_by_prompt(example("prompt score", "plain 1/5; solved 2/5", **more)).of(judge="j", prompt="plain").value
    0.5
    """
    for one, true, tokens in ways:
        for level, scores in one.scores.items():
            yield (one.judge, level), one.mean(
                "error_by_prompt", np.abs(scores - true), why=over_texts.UNKNOWN, signed=False,
                detail={"tokens": tokens[level]},
            )  # fmt: skip


@measure(
    "error_change", "change of the distance from what is true", signed=True, rank=347,
    below="would come closer to the truth", bad="none",
    reading="Distance from what the text deserves with another way of asking less that with the ordinary one, on the "
    "same texts. Below 0: it helps.",
)  # fmt: skip
@per_subject(("judge", PROMPT), _ways, PROMPT)
def error_change(ways: _Ways) -> Iterator[Named]:
    """Mean over texts of |after - true| - |before - true|, by judge and every prompt but the first, which is before.
    Detail: `before` and `after`; `tokens_before`, `tokens_after`, `times`, their quotient. Undefined where no true
    score is known, and where no text was judged both ways.

    >>> more = {"factors": ["prompt"], "texts": table("item true_rating", "x 2; y 5").assign(target="")}
    >>> scores = example("item prompt score", "x plain 1; y plain 5; x solved 2; y solved 5", **more)
    >>> error_change(scores).of(judge="j", prompt="solved").value
    -0.5
    """
    return _changes("error_change", ways, lambda scores, true: np.abs(scores - true), over_texts.UNKNOWN)


@measure(
    "score_change", "shift by the way of asking", signed=True, rank=348,
    reading="Score with another way of asking less that with the ordinary one, on the same texts.",
)  # fmt: skip
@per_subject(("judge", PROMPT), _ways, PROMPT)
def score_change(ways: _Ways) -> Iterator[Named]:
    """Mean over texts of after - before on the ascending scale, by judge and every prompt but the first. Detail as
    `error_change`. Undefined where no text was judged both ways.

    >>> scores = example("prompt score", "plain 1; solved 3", factors=["prompt"])
    >>> score_change(scores).of(judge="j", prompt="solved").value
    2.0
    """
    return _changes("score_change", ways, lambda scores, true: scores, "no text was judged in both ways")


def _changes(metric: str, ways: _Ways, figure: Callable[[Floats, Floats], Floats], why: str) -> Iterator[Named]:
    for one, true, tokens in ways:
        first, *others = one.scores
        for level in others:
            before, after = (figure(one.scores[way], true) for way in (first, level))
            was, now = tokens[first], tokens[level]
            both = np.isfinite(after - before)
            detail = {
                "tokens_before": was, "tokens_after": now, **({"times": number(now / was)} if was and now else {}),
                "before": mean_or_none(before[both]), "after": mean_or_none(after[both]),
            }  # fmt: skip
            yield (one.judge, level), one.mean(metric, after - before, why=why, detail=detail)
