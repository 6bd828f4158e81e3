"""Which judge would each measure choose, and what does the choice cost where the judge is used? Regret is what the best
judge reaches in decision consistency less what the chosen one does. Without people's response sets both depend on beta
(`decision_consistency`), so the choice is made, and scored, over a range of it. Guerdan et al. (2025), sec. 5 and 7,
Tables 3 and 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.papers.indeterminacy.decision_consistency import BETAS, people_vectors
from recuse.papers.indeterminacy.definitions import TAUS, Definition, decisions, definition
from recuse.papers.indeterminacy.rated_options import RatedOptions, each_rated
from recuse.papers.indeterminacy.response_sets import resampled_weights, vectors_of
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.distributions import SEED, percentile

DRAWS = 9999
FEWEST = 10
METHOD = f"percentile bootstrap over texts, {DRAWS} draws (fewer of very many texts), the choice held fixed"
CHOOSING = tuple(definition(name) for name in (
    "hit_rate(h/h)", "cohen_kappa(h/h)", "krippendorff_alpha(h/h)", "kl_people_judge(s/s)", "kl_judge_people(s/s)",
    "js_divergence(s/s)", "mse(s/s)", "coverage(h/hrs)", "mse(srs/srs)",
))  # fmt: skip


@measure(
    "selection_regret", "cost of choosing by it", unit="share", rank=350, counts=True, above="chooses a worse judge",
    reading="Consistency with people's decisions that is lost by using the judge that this measure ranks first instead "
    "of the best one. Mean over thresholds .3, .5 and .7; people's choices at face value.",
)  # fmt: skip
def selection_regret(ratings: Ratings, taus: Sequence[float] = TAUS) -> Estimates:
    """Regret in consistency of the judge that each definition of `CHOOSING` chooses, by definition and factor level.
    Detail: `chosen`, `best`, `best_by_bias`, `consistency`, `abs_bias`, `regret_bias`, and `right`: the share of
    resamples of texts in which the chosen judge is the best one; where it is in all of them, the interval is 0 to 0.
    The best of a resample is chosen anew, which lifts the interval a little above the value: it errs against the
    choice. Undefined with fewer than two judges that have valid answers.

    >>> selection_regret(rated(judge="ppff", ann="pppf")).of(definition="hit_rate(h/h)").note
    'undefined: choosing takes two judges with valid answers; there are 1 of 1'
    """
    return _by_definition("selection_regret", ratings, taus, (0.0,))


@measure(
    "regret_over_beta", "cost of choosing by it, however unsure people were", unit="share", rank=351, counts=True,
    above="chooses a worse judge",
    reading="The same at the beta from 0 to .4 where it is largest. With people's response sets beta is not needed.",
)  # fmt: skip
def regret_over_beta(ratings: Ratings, taus: Sequence[float] = TAUS, betas: Sequence[float] = BETAS) -> Estimates:
    """`selection_regret` at the worst beta. Detail has `over_beta`: for each, the judge chosen, the best, regrets and
    `right`; `survives`: whether one judge is chosen, and is the best, for all of them.

    >>> regret_over_beta(rated(judge="ppff", ann="pppf")).of(definition="hit_rate(h/h)").note
    'undefined: choosing takes two judges with valid answers; there are 1 of 1'
    """
    return _by_definition("regret_over_beta", ratings, taus, betas)


@measure(
    "best_judge", "chance to be the best judge", unit="share", rank=352, counts=True,
    reading="Share of resamples of texts in which this judge decides most often as people do.",
)  # fmt: skip
def best_judge(ratings: Ratings, taus: Sequence[float] = TAUS) -> Estimates:
    """By judge and factor level; ties go to the first. No interval: it is itself a statement of doubt. Detail:
    `consistency`, mean over taus, and `at_beta`, the same share for every beta of `BETAS`.

    >>> best_judge(rated(judge="ppff", ann="pppf")).of(judge="judge").value
    1.0
    """
    estimates = {}
    for names, rated in each_rated(ratings):
        scored = _scored(ratings, names, rated, tuple(taus), BETAS)
        values = scored[0.0][0]
        shares = [
            np.bincount(best(scores[1:]), minlength=len(rated.judges)) / (len(scores) - 1)
            for scores, _ in scored.values()
            if np.isfinite(scores).any(axis=1).all()
        ]
        facts = _facts(rated)
        for place, judge in enumerate(rated.judges):
            if not shares or np.isnan(values[0, place]):
                estimates[judge, *names] = undefined("best_judge", "the judge has no valid answer", **facts)
                continue
            at_beta = [number(share[place]) for share in shares]
            detail = {"consistency": number(values[0, place]), "betas": list(BETAS), "at_beta": at_beta}
            value = float(shares[0][place])
            estimates[judge, *names] = Estimate(metric="best_judge", value=value, detail=detail, **facts)
    return Estimates(("judge", *ratings.within()), estimates)


def _by_definition(metric: str, ratings: Ratings, taus: Sequence[float], betas: Sequence[float]) -> Estimates:
    estimates = {}
    for names, rated in each_rated(ratings):
        scored = _scored(ratings, names, rated, tuple(taus), betas)
        for each in CHOOSING:
            if rated.offers(each.judge, each.people):
                estimates[each.name, *names] = _regret(metric, each, rated, scored)
    return Estimates(("definition", *ratings.within()), estimates)


def _regret(metric: str, each: Definition, rated: RatedOptions, scored: dict[float, tuple[Floats, Floats]]) -> Estimate:
    facts, names = _facts(rated), rated.judges
    usable = sum(np.isfinite(judge).any() for judge in rated.judges_act_by)
    if usable < 2:
        why = f"choosing takes two judges with valid answers; there are {usable} of {len(names)}"
        return undefined(metric, why, **facts)
    if facts["n"] < FEWEST:
        return undefined(metric, f"people rated {facts['n']} texts; {FEWEST} are the fewest to choose by", **facts)
    rows, regretted, resampled = [], [], []
    for beta, (consistency, bias) in scored.items():
        values = each.value(*vectors_of(rated, 0.5, beta), rated.times)
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
    there = np.isfinite(people_vectors(rated, (0.0,))[0, :, rated.positive])
    return {
        "n": int(rated.times[there].sum()), "n_excluded": int(rated.lost.sum()), "method": METHOD, "seed": SEED,
        **rated.facts,
    }  # fmt: skip


def _scored(
    ratings: Ratings, names: tuple[str, ...], rated: RatedOptions, taus: tuple[float, ...], betas: Sequence[float]
) -> dict[float, tuple[Floats, Floats]]:
    """By beta, means over taus of consistency and of bias, (1 + draws, J): on all texts, then on resamples, drawn once
    for all questions about these answers: theirs are among `BETAS`."""
    every = BETAS if set(betas) <= set(BETAS) else tuple(betas)

    def scored() -> dict[float, tuple[Floats, Floats]]:
        decided = decisions(rated.judges_act_by, rated.positive, taus)
        right = decisions(people_vectors(rated, every), rated.positive, taus)[:, :, None]  # (taus, betas, 1, U)
        there = np.isfinite(decided[0]) & np.isfinite(right[0, 0])
        alike = there * (decided[:, None] == right).mean(axis=0)
        apart = there * np.nan_to_num(decided[:, None] - right).mean(axis=0)
        columns = np.concatenate([there[None].astype(float), alike, apart]).reshape(-1, there.shape[1]).T
        seen = (columns * rated.times[:, None]).sum(axis=0)[None]
        drawn = (weights @ columns for weights in resampled_weights(rated, DRAWS))
        sums = np.concatenate([seen, *drawn])
        count, *rest = np.moveaxis(sums.reshape(len(sums), -1, len(there)), 1, 0)
        means = [ratio(part, count) for part in rest]
        return {beta: (means[b], means[len(every) + b]) for b, beta in enumerate(every)}

    known = ratings.remember(("downstream", names, taus, every), scored)
    return {beta: known[beta] for beta in betas}


def best(gains: Floats) -> NDArray[np.intp]:
    """The index of the best judge, (...); gains (..., J). The first of those that tie; an undefined value never wins.
    `RecuseError` where no judge has one."""
    if np.isnan(gains).all(axis=-1).any():
        raise RecuseError("no judge has a value to be chosen by: none gave a valid answer to an item that people rated")
    winners: NDArray[np.intp] = np.nanargmax(gains, axis=-1)
    return winners
