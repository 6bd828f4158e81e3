"""Which judge would each measure choose, and what does the choice cost where the judge is used? Regret is what the best
judge reaches in decision consistency less what the chosen one does. Without people's response sets both depend on beta,
so they are made over a range of it. Guerdan et al. (2025), sec. 5 and 7, Tables 3 and 4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.indeterminacy.definitions import TAUS, Definition, decisions, definition
from recuse.papers.indeterminacy.rated_options import BETAS, RatedOptions, answers_among_options, judges_rated
from recuse.ratings import Numeric, Ratings, ResponseSets, remembered
from recuse.schema import Estimate, RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.distributions import SEED, generator, percentile

DRAWS = 9999
FEWEST = 10
METHOD = f"percentile bootstrap over texts, {DRAWS} draws (fewer of very many texts), the choice held fixed"
CHOOSING = tuple(definition(name) for name in (
    "hit_rate(h/h)", "cohen_kappa(h/h)", "krippendorff_alpha(h/h)", "kl_people_judge(s/s)", "kl_judge_people(s/s)",
    "js_divergence(s/s)", "mse(s/s)", "coverage(h/hrs)", "mse(srs/srs)",
))  # fmt: skip

Scored = tuple[RatedOptions, dict[float, tuple[Floats, Floats]]]


@remembered
def scored(part: Ratings, ratings: Ratings) -> Scored | None:
    """By beta, means over taus of consistency and of bias of every judge, (1 + draws, J): on all texts, then on
    resamples, drawn once for all questions about these answers."""
    rated = judges_rated(part, ratings)
    if rated is None:
        return None
    decided = decisions(rated.judges_act_by, rated.positive, TAUS)
    right = decisions(rated.people_by_beta(BETAS), rated.positive, TAUS)[:, :, None]  # (taus, betas, 1, U)
    there = np.isfinite(decided[0]) & np.isfinite(right[0, 0])
    alike = there * (decided[:, None] == right).mean(axis=0)
    apart = there * np.nan_to_num(decided[:, None] - right).mean(axis=0)
    columns = np.concatenate([there[None].astype(float), alike, apart]).reshape(-1, there.shape[1]).T
    seen = (columns * rated.times[:, None]).sum(axis=0)[None]
    sums = np.concatenate([seen, *(weights @ columns for weights in rated.resampled(DRAWS))])
    count, *rest = np.moveaxis(sums.reshape(len(sums), -1, len(there)), 1, 0)
    means = [ratio(part, count) for part in rest]
    return rated, {beta: (means[b], means[len(BETAS) + b]) for b, beta in enumerate(BETAS)}


@measure(
    "selection_regret", "cost of choosing by it", unit="share", rank=350, counts=True, above="chooses a worse judge",
    reading="Consistency with people's decisions that is lost by using the judge that this measure ranks first instead "
    "of the best one. Mean over thresholds .3, .5 and .7; people's choices at face value.",
)  # fmt: skip
@per_subject("definition", scored)
def selection_regret(seen: Scored) -> Iterator[Named]:
    """Regret in consistency of the judge that each definition of `CHOOSING` chooses, by definition and factor level.
    Detail: `chosen`, `best`, `best_by_bias`, `consistency`, `abs_bias`, `regret_bias`, and `right`: the share of
    resamples of texts in which the chosen judge is the best one; where it is in all of them, the interval is 0 to 0.
    The best of a resample is chosen anew, which lifts the interval a little above the value: it errs against the
    choice. Undefined with fewer than two judges that have valid answers.

    >>> selection_regret(rated(judge="ppff", ann="pppf")).of(definition="hit_rate(h/h)").note
    'undefined: choosing takes two judges with valid answers; there are 1 of 1'
    """
    return _by_definition("selection_regret", seen, BETAS[:1])


@measure(
    "regret_over_beta", "cost of choosing by it, however unsure people were", unit="share", rank=351, counts=True,
    above="chooses a worse judge",
    reading="The same at the beta from 0 to .4 where it is largest. With people's response sets beta is not needed.",
)  # fmt: skip
@per_subject("definition", scored)
def regret_over_beta(seen: Scored) -> Iterator[Named]:
    """`selection_regret` at the worst beta. Detail has `over_beta`: for each, the judge chosen, the best, regrets and
    `right`; `survives`: whether one judge is chosen, and is the best, for all of them.

    >>> regret_over_beta(rated(judge="ppff", ann="pppf")).of(definition="hit_rate(h/h)").note
    'undefined: choosing takes two judges with valid answers; there are 1 of 1'
    """
    return _by_definition("regret_over_beta", seen, BETAS)


@measure(
    "best_judge", "chance to be the best judge", unit="share", rank=352, counts=True,
    reading="Share of resamples of texts in which this judge decides most often as people do.",
)  # fmt: skip
@per_subject("judge", scored)
def best_judge(seen: Scored) -> Iterator[Named]:
    """By judge and factor level; ties go to the first. No interval: it is itself a statement of doubt. Detail:
    `consistency`, mean over taus, and `at_beta`, the same share for every beta of `BETAS`.

    >>> best_judge(rated(judge="ppff", ann="pppf")).of(judge="judge").value
    1.0
    """
    rated, by_beta = seen
    values, facts = by_beta[0.0][0][0], _facts(rated)
    shares = [
        np.bincount(best(scores[1:]), minlength=len(values)) / (len(scores) - 1)
        for scores, _ in by_beta.values()
        if np.isfinite(scores).any(axis=1).all()
    ]
    for place, judge in enumerate(rated.judges):
        if not shares or np.isnan(values[place]):
            yield judge, undefined("best_judge", "the judge has no valid answer", **facts)
            continue
        at_beta = [number(share[place]) for share in shares]
        detail = {"consistency": number(values[place]), "betas": list(BETAS), "at_beta": at_beta}
        yield judge, Estimate(metric="best_judge", value=float(shares[0][place]), detail=detail, **facts)


def _by_definition(metric: str, seen: Scored, betas: Sequence[float]) -> Iterator[Named]:
    each = (one for one in CHOOSING if seen[0].offers(one.judge, one.people))
    return ((one.name, _regret(metric, one, seen, betas)) for one in each)


def _regret(metric: str, each: Definition, seen: Scored, betas: Sequence[float]) -> Estimate:
    rated, by_beta = seen
    facts, names = _facts(rated), rated.judges
    usable = sum(np.isfinite(judge).any() for judge in rated.judges_act_by)
    if usable < 2:
        why = f"choosing takes two judges with valid answers; there are {usable} of {len(names)}"
        return undefined(metric, why, **facts)
    if facts["n"] < FEWEST:
        return undefined(metric, f"people rated {facts['n']} texts; {FEWEST} are the fewest to choose by", **facts)
    rows, regretted, resampled = [], [], []
    for beta, (consistency, bias) in ((beta, by_beta[beta]) for beta in betas):
        values = each.value(*rated.vectors(0.5, beta), rated.times)
        if np.isnan(values).all() or np.isnan(consistency[0]).all():
            return undefined(metric, "the measure is undefined for every judge on these answers", **facts)
        right, off = consistency[0], np.abs(bias[0])
        # The judge that the measure ranks first, and the best ones; values that differ by rounding tie
        chosen, first, least = (int(best(gains.round(12))) for gains in (each.gain(values), right, -off))
        lost = np.nanmax(consistency[1:], axis=1) - consistency[1:, chosen]
        regretted.append(float(np.nanmax(right) - right[chosen]))
        resampled.append(lost)
        rows.append({
            "beta": beta, "chosen": names[chosen], "best": names[first], "best_by_bias": names[least],
            "consistency": number(right[chosen]), "abs_bias": number(off[chosen]), "regret": number(regretted[-1]),
            "regret_bias": number(off[chosen] - np.nanmin(off)), "right": number(float(np.mean(lost <= 1e-12))),
        })  # fmt: skip
    worst = int(np.argmax(np.round(regretted, 12)))
    survives = len({(row["chosen"], row["best"]) for row in rows}) == 1 and rows[0]["chosen"] == rows[0]["best"]
    detail: dict[str, Any] = {**rows[worst], "title": each.title, "survives": survives}
    if len(rows) > 1:
        detail["over_beta"] = rows
    distribution = percentile(regretted[worst], resampled[worst], discrete=True)
    return estimated(metric, regretted[worst], distribution, detail=detail, **facts)


def _facts(rated: RatedOptions) -> dict[str, Any]:
    there = np.isfinite(rated.people_by_beta((0.0,))[0, :, rated.positive])
    return {
        "n": int(rated.times[there].sum()), "n_excluded": int(rated.lost.sum()), "method": METHOD, "seed": SEED,
        **rated.facts,
    }  # fmt: skip


def best(gains: Floats) -> NDArray[np.intp]:
    """The index of the best judge, (...); gains (..., J). The first of those that tie; an undefined value never wins.
    `RecuseError` where no judge has one."""
    if np.isnan(gains).all(axis=-1).any():
        raise RecuseError("no judge has a value to be chosen by: none gave a valid answer to an item that people rated")
    return np.asarray(np.nanargmax(gains, axis=-1))


# --------------------------------------------------------------------------- what judges have in common

DAWID_SKENE = "Dawid-Skene by EM, percentile bootstrap over texts"
WARNING = (
    "an error that all judges share is invisible here: this is not accuracy, and the truth may lie anywhere in `truth`"
)


@measure(
    "common_class_recall", "finds what the judges have in common", unit="share", rank=353,
    reading="How often a judge gives an option to texts of the class that all judges' answers together point to. "
    "Errors that all share do not show: it is no accuracy, which takes labels.",
)  # fmt: skip
@per_subject(("judge", "option"), itself)
def common_class_recall(part: Ratings) -> Iterator[Named]:
    """P(the judge gives the option | the class that judges have in common), by judge, option and factor level, from
    each judge's commonest usable answer to a text. Dawid and Skene (1979), Applied Statistics 28, 20-28. Undefined,
    with the reason, unless there are three judges or more, better than chance together, whose independence could be
    tested and was not rejected. Detail: `truth`, the bounds of the same share against the truth, if every text of the
    class is truly of it; `p_independent`; `prevalence` of the class.

    >>> common_class_recall(rated(judge="ppff")).of(judge="judge", option="pass").note
    'undefined: without labels, three raters at least are needed to tell whose answer is off; there are 1'
    """
    if isinstance(part.scale, Numeric | ResponseSets):
        return
    answers = answers_among_options(part)
    there = np.asarray(np.isfinite(answers.judged).any(axis=2))
    answered = there.any(axis=1)
    judged, shares = np.array(answers.judges, dtype=object)[answered].tolist(), np.nan_to_num(answers.judge_shares)
    if not judged:
        return
    # The commonest answer of each judge to each text, the first of those that tie; NaN where there is none
    codes = np.where(there, shares.argmax(axis=2), np.nan)[answered]
    fitted = common_classes(codes, len(answers.options), generator(SEED, "common classes"))
    metric, tested = "common_class_recall", {"p_independent": number(fitted.p_independent)}
    for (r, judge), (k, option) in product(enumerate(judged), enumerate(answers.options)):
        facts = dict[str, Any](n=int(np.isfinite(codes[r]).sum()), unit="share", method=DAWID_SKENE, seed=SEED)
        if fitted.problem:
            yield (judge, option), undefined(metric, fitted.problem, detail=tested, **facts)
            continue
        value, prevalence = float(fitted.recall[r, k]), float(fitted.prevalence[k])
        # The truth lies lowest where all other items are truly of the class as well and nobody saw it
        detail = {**tested, "truth": [number(value * prevalence), number(value)], "prevalence": number(prevalence)}
        distribution = percentile(value, fitted.draws[:, r, k])
        yield (judge, option), estimated(metric, value, distribution, note=WARNING, detail=detail, **facts)


# The model: every item has one class, raters answer independently given it. What is estimated are the classes that the
# *answers* show. An error that all raters share is in them: four judges that miss the same half of all faults agree
# perfectly well with each other, and the model gives each a recall near 1 of the class they have in common. No data
# without labels can tell. So nothing here is called accuracy, and detail `truth` says what remains possible.

STEPS = 500
PRIOR = 0.1  # pseudo-counts per cell of a confusion matrix and per class: no cell that nobody filled is certain
LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class CommonClasses:
    """`prevalence` (K,) of the classes; `recall` (R, K): P(a rater answers k | common class k); `draws` (B, R, K)
    recalls over a bootstrap of items; `problem`: why the numbers may not be used, if anything; `p_independent`:
    parametric bootstrap p-value of conditional independence, NaN if untested."""

    prevalence: Floats
    recall: Floats
    draws: Floats
    problem: str
    p_independent: float


def common_classes(
    answers: ArrayLike, options: int, rng: np.random.Generator, *, draws: int = 199, simulations: int = 99
) -> CommonClasses:
    """Fit by EM from the majority's answers; (raters, items) codes 0..K-1, NaN where a rater gave none. Dawid and Skene
    (1979), Applied Statistics 28, 20-28. `problem` is told below three raters, where independence has no degree of
    freedom left to be tested by or is rejected at 5 %, and where raters are not better than chance together."""
    codes = np.asarray(answers, dtype=float)
    if codes.ndim != 2 or not np.isin(codes[np.isfinite(codes)], np.arange(options)).all():
        raise RecuseError(f"answers are codes from 0 to {options - 1}, raters x items; NaN where there is none")
    empty = [r for r in range(len(codes)) if not np.isfinite(codes[r]).any()]
    if empty:
        raise RecuseError(f"rater {empty[0]} has no valid answer; leave it out")
    raters, items = codes.shape
    if raters < 3:
        why = f"without labels, three raters at least are needed to tell whose answer is off; there are {raters}"
        unknown = np.full((raters, options), np.nan)
        return CommonClasses(unknown[0], unknown, np.empty((0, raters, options)), why, np.nan)
    seen, times = _patterns(codes, options)
    model = _fit(seen, times[None])
    _, again = _fit(seen, rng.multinomial(items, times / items, size=draws).astype(float), start=model)
    # Whether raters together give every class its own name most often under that class
    mean = model[1][0].mean(axis=0)
    named = (np.diagonal(mean) > np.where(np.eye(options, dtype=bool), -1.0, mean).max(axis=0)).all()
    # Whether pairs of raters give one answer more often than in 99 deals of their answers to items at random: EM finds
    # classes in pure noise too, with recalls well above one half
    dealt = [_agreements(np.array([rng.permutation(row) for row in codes])) for _ in range(99)]
    p, problem = np.nan, ""
    if _agreements(codes) <= max(dealt) or not named:
        problem = "raters together are hardly better than chance, so their answers show no common classes"
    elif options**raters - 1 <= raters * options * (options - 1) + options - 1:  # no degree of freedom is left
        fit = f"{raters} raters of {options} options fit any answers"
        problem = f"{fit}, so whether they err independently cannot be tested; add a rater, or labels by people"
    elif (p := _independence(seen, times, model, rng, simulations)) < LEVEL:
        problem = (
            f"raters do not err independently of each other (p = {p:.3g}), as the model needs; use labels by people"
        )
    recall, redrawn = (np.diagonal(part, axis1=-2, axis2=-1) for part in (model[1][0], again))
    return CommonClasses(model[0][0], recall, redrawn, problem, p)


def _patterns(codes: Floats, options: int) -> tuple[Floats, Floats]:
    """Different columns of answers, (patterns, raters, K): 1 for the answer given; how many items have each."""
    patterns, times = np.unique(np.where(np.isfinite(codes), codes, -1.0).T, axis=0, return_counts=True)
    return (patterns[..., None] == np.arange(options)).astype(float), times.astype(float)


def _fit(seen: Floats, weights: Floats, start: tuple[Floats, Floats] | None = None) -> tuple[Floats, Floats]:
    """EM for every row of weights (B, patterns): prevalence (B, K), confusion (B, R, K, K)."""
    votes = seen.sum(axis=1)
    post = np.broadcast_to(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1), (len(weights), *votes.shape))
    if start is not None:
        post = _posterior(seen, *(np.repeat(part, len(weights), axis=0) for part in start))
    before: Floats | None = None
    for _ in range(STEPS):
        mass = weights[..., None] * post
        sums = mass.sum(axis=1) + PRIOR, np.einsum("bpk,pra->brka", mass, seen) + PRIOR
        prevalence, confusion = (part / part.sum(-1, keepdims=True) for part in sums)
        if before is not None and np.abs(confusion - before).max() < 1e-4:
            break
        before, post = confusion, _posterior(seen, prevalence, confusion)
    return prevalence, confusion


def _posterior(seen: Floats, prevalence: Floats, confusion: Floats) -> Floats:
    patterns, raters, options = seen.shape
    of_answers = np.log(confusion).swapaxes(2, 3).reshape(-1, raters * options, options)  # (B, RA, K)
    logs = np.log(prevalence)[:, None, :] + seen.reshape(patterns, -1) @ of_answers
    largest = reduce(np.maximum, (logs[..., k] for k in range(options)))  # along so short an axis `max` takes longer
    odds = np.exp(logs - largest[..., None])
    return np.asarray(odds / odds.sum(axis=-1, keepdims=True))


def _agreements(codes: Floats) -> int:
    return sum(int((one == other).sum()) for one, other in combinations(codes, 2))


def _independence(
    seen: Floats, times: Floats, model: tuple[Floats, Floats], rng: np.random.Generator, simulations: int
) -> float:
    """p-value of the worst pair's departure from the joint answers that the model expects, over simulated panels that
    err independently and are fitted anew."""
    there = np.repeat(seen.sum(axis=2) > 0, times.astype(int), axis=0).T
    observed = _departure(seen, times, *model)
    hits = 0
    prevalence, confusion = (part[0] for part in model)
    for _ in range(simulations):
        classes = rng.choice(len(prevalence), size=there.shape[1], p=prevalence)
        edges = np.cumsum(confusion[:, classes, :], axis=2)
        codes = (rng.random((*there.shape, 1)) > edges[:, :, :-1]).sum(axis=2).astype(float)
        drawn, count = _patterns(np.where(there, codes, np.nan), seen.shape[2])
        hits += _departure(drawn, count, *_fit(drawn, count[None], start=model)) >= observed - 1e-12
    return (hits + 1) / (simulations + 1)


def _departure(seen: Floats, times: Floats, prevalence: Floats, confusion: Floats) -> float:
    worst = -1.0
    for r, s in combinations(range(seen.shape[1]), 2):
        observed = np.einsum("p,pa,pb->ab", times, seen[:, r], seen[:, s])
        n = observed.sum()
        if n == 0:
            continue
        expected = n * np.einsum("k,ka,kb->ab", prevalence[0], confusion[0, r], confusion[0, s])
        worst = max(worst, float(((observed - expected) ** 2 / np.maximum(expected, 0.5)).sum()))
    return worst
