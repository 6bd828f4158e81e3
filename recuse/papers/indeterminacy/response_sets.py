"""Is one answer always right? What response sets say of it, and how many ratings a decision takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, table, undefined
from recuse.metrics.measure import Named, measure, per_subject
from recuse.papers.indeterminacy.definitions import TAUS, definition, item_spread
from recuse.papers.indeterminacy.rated_options import RatedOptions, judges_rated
from recuse.papers.indeterminacy.rating_task import PRIOR, RatingTask, identifiability, transition_estimate
from recuse.ratings import PERSON, Ratings, ResponseSets
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats, median_of
from recuse.statistics.distributions import SEED, Binomial, percentile

WANTED = 0.9  # share of texts on which decisions by the ratings at hand are to be those of everybody
PEOPLE, ENDS = "people", ("", "_low", "_high")


@measure(
    "indeterminate_share", "answers that name several options", unit="share", rank=345,
    reading="Share of response sets with more than one option. Where it is above 0, the task is underspecified: a "
    "forced choice hides it.",
)  # fmt: skip
@per_subject("rater", judges_rated)
def indeterminate_share(rated: RatedOptions) -> Iterator[Named]:
    """By rater ("people" together, then judges) and factor level, among texts that the rater also chose an option of;
    exact interval over pairs of rater and text. Detail: `words`, what Theorem 3.4 says of the task: whether choices
    determine response sets, from the rank of the estimated F (options x sets seen); F (`choice`) and F' (`reverse`)
    with intervals (`PRIOR` per allowed cell), without choices `outside` the rater's own set, which are counted.

    >>> indeterminate_share(accepted(judge="pbfp", ann="bbpf")).of(rater="people").value
    0.5
    """
    for rater, joint in _by_rater(rated):
        task = RatingTask.of(rated.options, rated.sets)
        several, answers, inside = task.sizes > 1, joint.sum(axis=1), task.membership.T > 0
        chances = task.membership[:, (answers > 0) | ~several] / task.sizes[(answers > 0) | ~several]
        detail: dict[str, Any] = {"words": identifiability(chances)}
        if joint.any():
            kept, sets = np.where(inside, joint, 0.0), [task.set_name(v) for v in range(len(task.sets))]
            matrices = {"choice": transition_estimate(kept.T, inside.T), "reverse": transition_estimate(kept, inside)}
            ends = {f"{of}{end}": table(one) for of in matrices for end, one in zip(ENDS, matrices[of], strict=True)}
            detail |= {
                "options": list(task.options), "sets": sets, "outside": number(float(joint[~inside].sum())),
                "counts": table(joint), "prior": PRIOR, **ends,
                "empty": [name for name, counts in zip(sets, kept, strict=True) if not counts.any()],
            }  # fmt: skip
        hits, n = float(answers[several].sum()), float(answers.sum())
        yield rater, _share("indeterminate_share", hits, n, rater, detail)


@measure(
    "accepted_both", "chose otherwise, would have accepted it", unit="share", rank=346,
    reading="Beta: of those who chose another option, the share whose response set holds the positive one.",
)  # fmt: skip
@per_subject("rater", judges_rated)
def accepted_both(rated: RatedOptions) -> Iterator[Named]:
    """beta = P(positive in S | O is another option), by rater and factor level; exact interval over pairs of rater and
    text. Beta of judges says nothing of people's: it only shows which values occur (sec. 7).

    >>> accepted_both(accepted(judge="pbfp", ann="bbpf")).of(rater="people").value  # nobody who chose fail
    0.0
    """
    positive = rated.options[rated.positive]
    others = [k for k in range(len(rated.options)) if k != rated.positive and k not in rated.beyond]
    held = np.array([positive in members for members in rated.sets])
    for rater, joint in _by_rater(rated):
        hits, n = float(joint[held][:, others].sum()), float(joint[:, others].sum())
        yield rater, _share("accepted_both", hits, n, rater, {"option": positive})


@measure(
    "rater_error", "answers that a rater would take back", unit="share", rank=348,
    reading="Epsilon: the chance that a person's answer is not the set of options that this person holds reasonable, "
    "from people who answered a text twice. It takes one error model for all of them.",
)  # fmt: skip
def rater_error(ratings: Ratings) -> Estimates:
    """epsilon of the paper's error matrix E (sec. 6: 1 - epsilon on the diagonal, the rest even over the other sets),
    from response sets that one person gave one text twice. With V admissible sets, and what a person holds reasonable
    unchanged in between, they agree by chance

        a = (1 - epsilon)^2 + epsilon^2 / (V - 1),    of which epsilon is the smaller root.

    By factor level; the exact interval of a over pairs of answers, turned. Detail: `agree`, `sets` V. Undefined where
    fewer answers agree than by any epsilon; empty where no person answered a text twice. Skew (eta) does not show.

    >>> rows = "; ".join(f"ann person t{k} {r} {'yes|no' if r and k < 2 else 'yes'}" for k in range(10) for r in (0, 1))
    >>> sets = ResponseSets(("yes", "no"))
    >>> given = example("rater kind item repeat response", f"{rows}; x judge t0 0 yes", scales=sets)
    >>> round(rater_error(given).of().value, 3)  # 8 of 10 agree
    0.109
    """
    estimates = {}
    for names, part in ratings.each():
        sets = part if isinstance(part.scale, ResponseSets) else ratings.beside("response_sets")
        if sets is None or not isinstance(sets.scale, ResponseSets):
            continue
        rows = sets.table
        rows = rows[(rows["kind"] == PERSON) & (rows["criterion"] == sets.criterion) & rows["response"].notna()]
        text = ["rater", "item", "target", *sets.factors]
        same, pairs = (  # pairs of answers by one person to one text that agree, and all of them
            int((counts * (counts - 1)).sum()) // 2
            for counts in (rows.groupby(by, observed=True).size() for by in ([*text, "response"], text))
        )
        if not pairs:
            continue
        count = 2 ** len(sets.scale.options) - 1
        facts: dict[str, Any] = {
            "n": pairs, "over": "calls", "unit": "share", "detail": {"agree": number(same / pairs), "sets": count},
            "method": "from the share of equal answers, Clopper-Pearson interval turned",
        }  # fmt: skip
        whole = 1 + 1 / (count - 1)
        if whole * (1 - same / pairs) > 1:
            estimates[names] = undefined("rater_error", "fewer answers agree than by any rate of such errors", **facts)
            continue
        least, most = Binomial(same, pairs).interval(0.95)  # epsilon falls as agreement rises
        low, value, high = ((1 - math.sqrt(max(0.0, 1 - whole * (1 - a)))) / whole for a in (most, same / pairs, least))
        estimates[names] = Estimate(metric="rater_error", value=value, low=low, high=high, level=0.95, **facts)
    return Estimates(ratings.within(), estimates)


@measure(
    "ratings_needed", "ratings per text that settle a decision", unit="ratings", rank=347, counts=True,
    reading=f"How many people per text it takes to decide as everybody would on {WANTED:.0%} of the texts.",
)  # fmt: skip
@per_subject("threshold", judges_rated)
def ratings_needed(rated: RatedOptions, taus: Sequence[float] = TAUS, wanted: float = WANTED) -> Iterator[Named]:
    """From a beta-binomial fit to people's answers (`ItemSpread`), by threshold and factor level. Detail: `have`, the
    median of ratings per text; `now`, what these are expected to reach; `one`, what one rating does. No interval.
    Undefined where no text has two ratings, and where 1000 ratings do not do.

    >>> ratings_needed(rated(judge="ppff", ann="pppf", bob="ppff")).of(threshold="0.5").detail["have"]
    2
    """
    metric, (positive, raters), times = "ratings_needed", rated.people_positive, rated.times
    there, spread = raters > 0, item_spread(positive, raters, times)
    facts: dict[str, Any] = {"n": int(times[there].sum()), "unit": "ratings", "method": "beta-binomial by moments"}
    for tau in taus:
        count, why = None, "no text has two ratings by people that could differ, or all their answers are alike"
        if spread is not None:
            have, why = max(1, int(median_of(raters[there], times[there]))), "1000 ratings per text do not do"
            now, one = (number(spread.expected_consistency(each, tau)) for each in (have, 1))
            facts["detail"] = {"tau": tau, "wanted": wanted, "have": have, "now": now, "one": one}
            count = spread.needed(tau, wanted)
        needed = None if count is None else Estimate(metric=metric, value=float(count), **facts)
        yield f"{tau:g}", undefined(metric, why, **facts) if needed is None else needed


def _by_rater(rated: RatedOptions) -> list[tuple[str, Floats]]:
    return [(rater, rated.joint[rater]) for rater in (PEOPLE, *rated.judges) if rater in rated.joint]


def _share(metric: str, hits: float, n: float, rater: str, detail: dict[str, Any]) -> Estimate:
    method = "share of pairs of rater and text, Clopper-Pearson interval"
    facts: dict[str, Any] = {"n": round(n), "over": "calls", "unit": "share", "method": method, "detail": detail}
    if n <= 0:
        return undefined(metric, f"{rater} gave no text both a choice and a response set", **facts)
    return estimated(metric, hits / n, Binomial(hits, n), **facts)


# --------------------------------------------------------------------------- agreement by definition
# Which judge is better depends on the definition where more than one answer may be right, so they are shown together
# and none is gated. Guerdan et al. (2025), Validating LLM-as-a-judge systems in the absence of gold labels, sec. 4.

DRAWS = 499
METHOD = f"percentile bootstrap, {DRAWS} draws (fewer of very many texts)"
SHOWN = tuple(definition(name) for name in (
    "hit_rate(h/h)", "krippendorff_alpha(h/h)", "fleiss_kappa(h/h)", "cohen_kappa(h/h)", "scott_pi(h/h)",
    "kl_people_judge(s/s)", "kl_judge_people(s/s)", "cross_entropy_people_judge(s/s)",
    "cross_entropy_judge_people(s/s)", "js_divergence(s/s)", "js_distance(s/s)", "coverage(h/hrs)", "coverage(hrs/hrs)",
    "set_size(hrs/hrs)", "recall(hrs/hrs)", "precision(hrs/hrs)", "binary_cross_entropy(srs/hrs)",
    "binary_cross_entropy(srs/srs)", "mse(h/h)", "mse(s/s)", "mse(hrs/hrs)", "mse(srs/srs)",
))  # fmt: skip


@measure(
    "performance", "agreement by definition", rank=340, counts=True,
    reading="How well a judge agrees with people depends on what of their answers is kept: the commonest one (h), "
    "shares of choices (s), options that half of them endorse (hrs), shares of endorsement (srs). Of divergences and "
    "errors less is better.",
)  # fmt: skip
@per_subject(("judge", "definition"), judges_rated)
def performance(rated: RatedOptions, tau: float = 0.5, beta: float = 0.0) -> Iterator[Named]:
    """Every definition of `SHOWN`, by judge, definition and factor level; of response sets alone, those that need no
    forced choices. Without response sets, people's endorsement is taken from their choices at `beta`, a judge's from
    its own choices. Ties of a mode are split evenly; zero probabilities are smoothed (`definitions.SMOOTHING`).
    Interval: bootstrap over texts or clusters. Detail: `title`, `higher` (whether more is better), `tau`, `beta`.
    Undefined where either side has no valid answer, and where a coefficient is 0 / 0.

    >>> performance(rated(judge="ppff", ann="pppf")).of(judge="judge", definition="hit_rate(h/h)").value
    0.75
    """
    judges, people = rated.vectors(tau, beta)
    kind = np.uint8 if rated.stands_for is None else np.float64
    weights = [portion.astype(kind) for portion in rated.resampled(DRAWS)]
    for each in (each for each in SHOWN if rated.offers(each.judge, each.people)):
        values, known = each.value(judges, people, rated.times), np.isfinite(each.items(judges, people))
        draws = each.resampled(judges, people, (portion.astype(float) for portion in weights))
        for place, judge in enumerate(rated.judges):
            facts: dict[str, Any] = {
                **rated.facts, "unit": "", "n": int(rated.times[known[place]].sum()), "method": METHOD, "seed": SEED,
                "n_excluded": int(rated.lost[place]),
                "detail": {"title": each.title, "higher": each.higher, "tau": tau, "beta": beta},
            }  # fmt: skip
            value = float(values[place])
            if math.isfinite(value):
                yield (judge, each.name), estimated("performance", value, percentile(value, draws[:, place]), **facts)
            else:
                why = "it is 0 / 0 on these answers" if facts["n"] else "no text has valid answers of both"
                yield (judge, each.name), undefined("performance", why, **facts)
