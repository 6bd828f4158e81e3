"""Agreement with people under each definition of performance: measures and aggregations of Table 1, side by side.

Which judge is better depends on the definition where more than one answer may be right, so they are shown together and
none is gated. Guerdan et al. (2025), Validating LLM-as-a-judge systems in the absence of gold labels, sec. 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, undefined
from recuse.metrics.measure import measure
from recuse.papers.indeterminacy import RatingVectors, definition
from recuse.papers.indeterminacy.decision_consistency import people_vectors
from recuse.papers.indeterminacy.rated_options import RatedOptions, each_rated
from recuse.ratings import Ratings
from recuse.schema import Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.resampling import SEED, generator, percentile

__all__ = ["SHOWN", "draws_for", "performance", "resampled_weights", "vectors_of"]

DRAWS = 499
CELLS = 2_000_000
WEIGHTS = 20_000_000
METHOD = f"percentile bootstrap, {DRAWS} draws (fewer of very many texts)"
SHOWN = tuple(definition(name) for name in (
    "hit_rate(h/h)", "krippendorff_alpha(h/h)", "fleiss_kappa(h/h)", "cohen_kappa(h/h)", "scott_pi(h/h)",
    "kl_people_judge(s/s)", "kl_judge_people(s/s)", "cross_entropy_people_judge(s/s)",
    "cross_entropy_judge_people(s/s)", "js_divergence(s/s)", "js_distance(s/s)", "coverage(h/hrs)", "coverage(hrs/hrs)",
    "set_size(hrs/hrs)", "recall(hrs/hrs)", "precision(hrs/hrs)", "binary_cross_entropy(srs/hrs)",
    "binary_cross_entropy(srs/srs)", "mse(h/h)", "mse(s/s)", "mse(hrs/hrs)", "mse(srs/srs)",
))  # fmt: skip


@measure(
    "performance", "agreement by definition", rank=340,
    reading="How well a judge agrees with people depends on what of their answers is kept: the commonest one (h), "
    "shares of choices (s), options that half of them endorse (hrs), shares of endorsement (srs). Of divergences and "
    "errors less is better.",
)  # fmt: skip
def performance(ratings: Ratings, tau: float = 0.5, beta: float = 0.0) -> Estimates:
    """Every definition of `SHOWN`, by judge, definition and factor level; of response sets alone, those that need no
    forced choices.

    Without response sets, people's endorsement is taken from their choices at `beta`, a judge's from its own choices.
    Ties of a mode are split evenly; zero probabilities are smoothed (`divergences.SMOOTHING`). Interval: bootstrap over
    texts or clusters. Detail: `title`, `higher` (whether more is better), `tau`, `beta`. Undefined where either side
    has no valid answer, and where a coefficient is 0 / 0.

    >>> from recuse.metrics.agreement_example import rated
    >>> performance(rated(judge="ppff", ann="pppf")).of(judge="judge", definition="hit_rate(h/h)").value
    0.75
    """
    estimates = {}
    for names, rated in each_rated(ratings):
        sides = vectors_of(rated, tau, beta)
        offered = [each for each in SHOWN if rated.offers(each.judge, each.people)]
        weights = [portion.astype(np.uint8) for portion in resampled_weights(rated, draws_for(rated, DRAWS))]
        for each in offered:
            values = each.value(sides.judges, sides.people)
            draws = each.resampled(sides.judges, sides.people, (portion.astype(float) for portion in weights))
            for place, judge in enumerate(rated.judges):
                there = np.isfinite(each.items(sides.judges, sides.people)[place])
                facts: dict[str, Any] = {
                    "n": int(there.sum()), "n_excluded": int(rated.lost[place]), "over": rated.over, "method": METHOD,
                    "clusters": rated.clusters_called, "seed": SEED,
                    "detail": {"title": each.title, "higher": each.higher, "tau": tau, "beta": beta},
                }  # fmt: skip
                key = (judge, each.name, *names)
                if np.isfinite(values[place]):
                    distribution = percentile(float(values[place]), draws[:, place])
                    estimates[key] = estimated("performance", float(values[place]), distribution, **facts)
                else:
                    why = "no text has valid answers of both" if not there.any() else "it is 0 / 0 on these answers"
                    estimates[key] = undefined("performance", why, **facts)
    return Estimates(("judge", "definition", *ratings.within()), estimates)


@dataclass(frozen=True, slots=True)
class Sides:
    """Rating vectors of both sides on the same texts."""

    judges: RatingVectors
    people: RatingVectors


def vectors_of(rated: RatedOptions, tau: float, beta: float) -> Sides:
    """Both sides as rating vectors at one tau and beta, (J, U, K) and (U, K)."""
    own = np.isfinite(rated.judge_endorsed).any(axis=(1, 2), keepdims=True)
    endorsed = np.where(own, rated.judge_endorsed, rated.judge_choices)
    people = people_vectors(rated, (beta,))[0]
    return Sides(RatingVectors(rated.judge_choices, endorsed, tau), RatingVectors(rated.people_choices, people, tau))


def draws_for(rated: RatedOptions, draws: int) -> int:
    """So many resamples, or fewer of very many texts: draws times texts stay below `WEIGHTS`, down to 99 draws."""
    return max(99, min(draws, WEIGHTS // max(1, len(rated.clusters))))


def resampled_weights(rated: RatedOptions, draws: int) -> Iterator[Floats]:
    """How often each text counts in resamples of clusters, in portions of shape (b, U); the same for every measure."""
    count, rng = int(rated.clusters.max(initial=-1)) + 1, generator(SEED, "performance")
    size = max(1, CELLS // max(len(rated.clusters), 1))
    for portion in (min(size, draws - start) for start in range(0, draws, size)):
        drawn = rng.integers(count, size=(portion, count)) + np.arange(portion)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=portion * count).reshape(portion, count)
        yield times[:, rated.clusters].astype(float)
