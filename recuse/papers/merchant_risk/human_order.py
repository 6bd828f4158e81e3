"""Do judges order the texts as people do, and which judge lies closest to people? Targets by the mean of their texts
where people rated targets as a whole, texts otherwise. Merchant-risk paper, secs. 3.5 and 4.4."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from recuse.metrics.estimates import THESE_TEXTS, estimated, number, undefined
from recuse.metrics.human_alignment import Compared, compared
from recuse.metrics.measure import Named, measure, per_judge, per_subject
from recuse.papers import rank_tests
from recuse.papers.merchant_risk.judge_profiles import ZERO
from recuse.papers.rank_tests import kendall, ranks, spearman
from recuse.ratings import PLACE, Ratings, mean_of
from recuse.ratings.array import grouped
from recuse.schema import Distribution, Estimate, Estimates
from recuse.schema.arrays import Floats, distinct, taken
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.clusters import clustered_mean
from recuse.statistics.distributions import SEED, generator, percentile

GIVEN = "human means taken as given"
REDRAWN = {"repeats": "percentile bootstrap over repeats within cells", "items": "percentile bootstrap over items"}
DRAWS = 1999
EVERY, FEW, MANY = 8, 12, 1000
"""Texts up to which all orders are tried for Kendall's p, up to which permutations give Spearman's, and up to which
pairs are counted one by one for Kendall's tau."""

BLOCKS = 5_000  # beyond so many clusters blocks are drawn: draws times clusters take time and memory


@dataclass(frozen=True, eq=False)
class Sides:
    """Judges and people on what people rated: texts, or targets as a whole."""

    against: Compared

    @property
    def judges(self) -> tuple[str, ...]:
        """Who judged."""
        return self.against.judges

    @property
    def per_text(self) -> bool:
        """Whether people rated single texts."""
        return self.against.people.per_text

    @property
    def what(self) -> str:
        """What is ordered, in the plural: "texts" or "targets"."""
        cells = self.against.cells
        return "targets" if not self.per_text or len(cells.items) == len(cells.target_names) else "texts"

    @cached_property
    def people(self) -> Floats:
        """(R,)"""
        mean = self.against.people.mean
        return mean if self.per_text else self.against.cells.by_target(mean[None])[0]

    @cached_property
    def scores(self) -> Floats:
        """(J, R), where people rated too."""
        cells = self.against.cells
        mean = cells.mean if self.per_text else cells.by_target(cells.mean)
        return np.where(np.isfinite(self.people), mean, np.nan).round(12)

    def target_means(self, weights: Floats) -> Floats:
        """Means of every judge and target where clusters weigh `weights`, shape (draws, clusters): (draws, J, T)."""
        cells, shape, clusters = self.against.cells, self.scores.shape, weights.shape[1]
        usable = np.isfinite(cells.mean)
        codes = ((np.arange(shape[0])[:, None] * shape[1] + cells.targets) * clusters + cells.clusters)[usable]
        sums, counts = (
            np.bincount(codes, weights=given, minlength=shape[0] * shape[1] * clusters).reshape(-1, clusters)
            for given in (cells.mean[usable], np.ones(len(codes)))
        )
        return ratio(weights @ sums.T, weights @ counts.T).reshape(-1, *shape)

    @cached_property
    def redrawn_targets(self) -> Floats:
        """Means of every judge and target on the same resampled items, (draws, J, T): drawn once for all judges."""
        return self.target_means(self.cluster_weights(generator(SEED, "human_order", "items")))

    def cluster_weights(self, rng: np.random.Generator, most: int = sys.maxsize) -> Floats:
        """How often each cluster is drawn, with replacement, shape (draws, clusters); of more clusters than `most`, how
        often each of so many blocks of them is."""
        groups = min(len(self.against.cells.cluster_names), most)
        picked = rng.integers(groups, size=(DRAWS, groups)) + np.arange(DRAWS)[:, None] * groups
        return np.bincount(picked.ravel(), minlength=DRAWS * groups).reshape(-1, groups).astype(float)


@measure(
    "human_order", "order against people", ends=(-1, 1), signed=True, rank=235, bad="below", counts=True,
    below="ranks the texts unlike people",
    reading="Spearman's rank correlation of a judge's scores with people's mean over the same texts.",
)  # fmt: skip
@per_judge(lambda part, ratings: Sides(compared(part, ratings)))
def human_order(sides: Sides, i: int) -> Estimate:
    """Spearman's rho of a judge's means with people's, by judge and factor level; ties take mean ranks. The interval is
    over texts (clusters), from eight on (`spearman_distribution`). Where people rated targets as a whole, and items
    vary, it is a bootstrap over items. Detail: `p_permutation`, how often an unrelated order would agree as well, by
    permutation up to 12 texts (of 5 it cannot fall below 2/120), by Student's t beyond; Kendall's tau-b. Undefined for
    a judge, or people, with one mean on every text, and below three texts.

    >>> rows = "a judge i 1; a judge k 2; a judge l 4; p person i 2; p person k 1; p person l 3"
    >>> human_order(example("rater kind item score", rows)).of(judge="a").value
    0.5
    """
    against, cells = sides.against, sides.against.cells
    over_texts, wanted = sides.per_text or cells.fixed, against.only(i)
    used = np.isfinite(sides.scores[i])
    times = taken(cells.times, used)
    judge, people = sides.scores[i][used], sides.people[used]
    counted = wanted & np.isfinite(against.differences)
    about: dict[str, Any] = {
        "n": cells.number(counted[i]), "n_excluded": against.excluded(wanted, counted),
        "over": "items" if cells.fixed else cells.over, "clusters": cells.clusters_called,
        "method": "Spearman over texts, Bonett-Wright interval on Fisher's scale, wider with ties and clusters"
        if over_texts else f"Spearman of {sides.what}' means, {REDRAWN['items']}",
    }  # fmt: skip
    if (n := len(judge) if times is None else int(times.sum())) < 3:
        return undefined("human_order", f"an order needs three {sides.what}; there are {n}", **about)
    for who, means in ((cells.judges[i], judge), ("people", people)):
        if means.max() - means.min() < ZERO:
            why = f"{who} gave every {sides.what.removesuffix('s')} {means[0]:g}, so there is no order"
            return undefined("human_order", why, **about)
    rho = float(spearman(judge, people, times))
    if over_texts:
        clusters = np.arange(len(judge)) if cells.fixed else cells.clusters[used]
        distribution: Distribution = rank_tests.spearman_distribution(judge, people, clusters, times)
    else:
        means = sides.redrawn_targets[:, i][:, used].round(12)
        distribution, about["seed"] = percentile(rho, spearman(means, people), discrete=True), SEED
    by_rho = rank_tests.spearman_test(judge, people) if n <= FEW else None
    by_tau = rank_tests.permutation_test(judge, people, kendall, generator(SEED, "kendall")) if n <= EVERY else None
    tests = {
        "p_permutation": number(by_rho.p if by_rho else rank_tests.spearman_t(rho, n)),
        "p_method": by_rho.method if by_rho else "Student's t",
        "kendall": number(float(kendall(judge, people))) if n <= MANY and n == len(judge) else None,
        "kendall_p_permutation": number(by_tau.p) if by_tau else None,
        sides.what: n,
    }
    return estimated("human_order", rho, distribution, detail=tests, **about)


FIRST_NAMES = {"shown": "attributed", "hidden": "anonymized"}  # as in the first edition, whose draws stand


@measure(
    "closest_judge", "distance of the closest judge", rank=260, bad="none",
    reading="Mean distance from people of the judge that lies closest to them.",
)  # fmt: skip
def closest_judge(ratings: Ratings) -> Estimates:
    """Smallest mean over texts of |judge - people|, by factor level, every judge on the texts that it and people rated.
    No interval: the smallest of several distances is too small for where it was found, and a bootstrap of it covers far
    too seldom. Detail: `judge`, whose it is; `ranking` from closest to farthest with `distance` and `first`, the share
    of resampled panels (repeats redrawn within cells, or items) in which that judge is closest; ties go to the first.
    Undefined where no judge shares a text with people.

    >>> closest_judge(example("rater kind score", "a judge 4; b judge 2; p person 2.5")).of().detail["judge"]
    'b'
    """
    estimates = {}
    for names, part in ratings.each():
        rng = generator(SEED, "closest_judge", *(FIRST_NAMES.get(name, name) for name in names))
        sides = Sides(compared(part, ratings))
        cells, repeats = sides.against.cells, sides.against.cells.fixed
        known = np.flatnonzero(np.isfinite(sides.scores).any(axis=1)).tolist()
        method = f"mean |judge - people| over {sides.what}, {REDRAWN['repeats' if repeats else 'items']}"
        about = {**cells.about(cells.fixed), "method": method}
        if not known:
            why = "no judge has a usable score of a text that people rated"
            estimates[names] = undefined("closest_judge", why, **about)
            continue
        distances = np.nanmean(np.abs(sides.scores[known] - sides.people), axis=1)
        redrawn = _redrawn_distances(sides, known, rng)
        nearest = np.where(np.isfinite(redrawn), redrawn, np.inf).argmin(axis=1)
        first = np.bincount(nearest, minlength=len(known)) / DRAWS
        order = np.argsort(distances.round(12), kind="stable")
        row = known[order[0]]
        ranking = [
            {"judge": cells.judges[known[k]], "distance": number(distances[k]), "first": number(first[k])}
            for k in order
        ]
        estimates[names] = Estimate(
            metric="closest_judge", value=float(distances[order[0]]),
            n=int(cells.count[row].sum()) if repeats else distinct(cells.items[np.isfinite(cells.mean[row])]),
            n_excluded=int(cells.lost[row].sum()), seed=SEED,
            note=f"{f'{THESE_TEXTS}; ' if repeats else ''}{GIVEN}; the smallest of several has no interval",
            detail={"judge": cells.judges[row], "ranking": ranking}, **about,
        )  # fmt: skip
    return Estimates(ratings.within(), estimates)


def _redrawn_distances(sides: Sides, known: list[int], rng: np.random.Generator) -> Floats:
    """Mean distances of these judges from people on resampled repeats or items; shape (draws, judges)."""
    cells = sides.against.cells
    if sides.per_text and not cells.fixed:
        weights = sides.cluster_weights(rng, BLOCKS)
        groups = weights.shape[1]
        blocks, sums = cells.clusters % groups, np.zeros((2, len(known), groups))
        for k, row in enumerate(np.abs(sides.scores[known] - sides.people)):
            there = np.isfinite(row)
            sums[0, k] = np.bincount(blocks[there], weights=row[there], minlength=groups)
            sums[1, k] = np.bincount(blocks[there], minlength=groups)
        return ratio(weights @ sums[0].T, weights @ sums[1].T)
    if cells.fixed:
        rows, texts = np.nonzero(cells.count[known])
        every = (np.split(values, np.cumsum(sizes)[:-1]) for values, sizes in map(cells.repeats, known))
        each = [scores for of_judge in every for scores in of_judge if len(scores)]
        drawn = np.full((DRAWS, len(known), len(sides.people)), np.nan)
        drawn[:, rows, texts] = resampled_means(each, rng, DRAWS)
    else:
        drawn = sides.target_means(sides.cluster_weights(rng))[:, known]
    return mean_of(np.abs(drawn - sides.people), axis=-1)


def resampled_means(cells: Sequence[Floats], rng: np.random.Generator, draws: int = 9999) -> Floats:
    """Means of each cell over repeats drawn with replacement from that cell, (draws, cells)."""
    return np.column_stack([cell[rng.integers(len(cell), size=(draws, len(cell)))].mean(axis=1) for cell in cells])


# --------------------------------------------------------------------------- all judges on one order
#     W = (12 S) / (m^2 (k^3 - k) - m T),   S = sum over texts of (rank sum - m (k + 1) / 2)^2,
#     T = sum over judges and ties of (t^3 - t)
#
# m judges, k texts, mean ranks for ties.

FRIEDMAN = 50  # texts beyond which the p-value is Friedman's chi-square, which a permutation then no longer betters


@measure(
    "kendalls_w", "agreement of the judges on the order", ends=(0, 1), bad="none", rank=125,
    reading="Kendall's W: 1 where all judges rank the texts alike, 0 where their ranks have nothing in common. Judges "
    "can rank alike and all be wrong.",
)  # fmt: skip
def kendalls_w(ratings: Ratings, draws: int = 9999) -> Estimates:
    """W by factor level, over the texts that every judge scored; targets where each has one text. Detail: `judges`,
    `texts`, `mean_rho`, the mean Spearman correlation of two judges, (m W - 1) / (m - 1) without ties; `p` that
    unrelated rankings agree as well, by random orders within each judge up to 50 texts and by Friedman's chi-square
    beyond; `p_method`; `without_order`, who scores all texts alike, has no ranking and is left out. No interval: these
    judges on these texts. Undefined below two judges with an order, and below three texts. Merchant-risk paper, sec.
    3.4 (3). Kendall and Babington Smith (1939), Annals of Mathematical Statistics 10, 275-287.

    >>> kendalls_w(example("judge item score", "a i 1; a k 2; a l 3; b i 5; b k 6; b l 9")).of().value
    1.0
    """
    estimates = {}
    for names, part in ratings.each():
        cells = part.cells()
        scored = cells.mean.round(9)
        ordered = [j for j, row in enumerate(scored) if len(np.unique(row[np.isfinite(row)])) > 1]
        common = np.isfinite(scored[ordered]).all(axis=0) & bool(ordered)
        judges, texts, used = len(ordered), int(common.sum()), scored[ordered][:, common]
        without = [name for j, name in enumerate(cells.judges) if j not in ordered]
        detail: dict[str, Any] = {"judges": judges, "texts": texts, "without_order": without}
        about: dict[str, Any] = {
            "n": texts, "n_excluded": int((~common).sum()), "over": "items", "detail": detail,
            "method": "Kendall's W over the texts that all judges scored, ties with mean ranks",
        }  # fmt: skip
        value = concordance(used) if judges > 1 and texts > 2 else np.nan
        if np.isnan(value):
            few = f"an order in common needs two judges and three texts; {judges} judges have an order on {texts}"
            why = few if judges < 2 or texts < 3 else "no judge tells these texts apart"
            estimates[names] = undefined("kendalls_w", why, **about)
            continue
        # How often unrelated rankings agree as well
        if texts > FRIEDMAN:
            p, how = float(special.chdtrc(texts - 1, judges * (texts - 1) * value)), "Friedman's chi-square"
        else:
            each = ranks(used)
            orders = np.broadcast_to(each, (draws, judges, texts))
            drawn = generator(SEED, "kendalls_w", *names).permuted(orders, axis=2)
            observed, spread = (((one.sum(-2) - judges * (texts + 1) / 2) ** 2).sum(-1) for one in (each, drawn))
            p, how = (int((spread >= observed - 1e-9).sum()) + 1) / (draws + 1), f"{draws} random orders"
        detail |= {"mean_rho": number((judges * value - 1) / (judges - 1)), "p": number(p), "p_method": how}
        note = "no interval: these judges on these texts"
        estimates[names] = Estimate(metric="kendalls_w", value=value, seed=SEED, note=note, **about)
    return Estimates(ratings.within(), estimates)


def concordance(scores: Floats) -> float:
    """W of scores of shape (m, k); NaN where every judge ties all texts, m < 2 or k < 2."""
    judges, texts = scores.shape
    if judges < 2 or texts < 2:
        return np.nan
    each = ranks(scores)
    spread = float(((each.sum(axis=0) - judges * (texts + 1) / 2) ** 2).sum())
    ties = sum(float((counts**3 - counts).sum()) for counts in (np.unique(row, return_counts=True)[1] for row in each))
    most = judges**2 * (texts**3 - texts) - judges * ties
    return 12 * spread / most if most > 0 else np.nan


# --------------------------------------------------------------------------- an order stated beside scores


@measure(
    "ranking_follows_scores", "ranking against own scores", signed=True, rank=315, below="ranks against its own scores",
    reading="Kendall's tau-b between the order a judge states and the order of the scores it gives in the same reply; "
    "1 where they agree.",
)  # fmt: skip
@per_subject("judge", lambda part, ratings: part if PLACE in ratings.criteria and len(ratings.headline) == 1 else None)
def ranking_follows_scores(part: Ratings) -> Iterator[Named]:
    """Mean over replies of tau-b between stated places (the best first) and headline scores, by judge and factor level;
    interval over replies (merchant-risk paper, Appendix A). Detail: `contradicting`, the share of replies with tau-b
    below 0; `replies`. Replies whose scores are all alike are left out and counted. Empty without places.

    >>> rows = "s rating 5; t rating 3; s place 2; t place 1"
    >>> ranking_follows_scores(example("target criterion score", rows, headline=["rating"])).of(judge="j").value
    -1.0
    """
    metric, (judges, rater) = "ranking_follows_scores", part.coded("rater")
    item, target = (part.coded(name)[1] for name in ("item", "target"))
    repeat, values = part.table["repeat"].to_numpy(), part.table["score"].to_numpy(dtype=float)
    kinds = np.where(part.having("criterion", part.criterion), 0, np.where(part.having("criterion", PLACE), 1, -1))
    for judge in part.judges:
        rows = np.flatnonzero((kinds >= 0) & np.isfinite(values) & (rater == judges.index(judge)))
        reply = grouped(item[rows], repeat[rows])
        given = np.full((2, int(reply.max(initial=-1)) + 1, len(part.targets)), np.nan)
        given[kinds[rows], reply, target[rows]] = values[rows]
        about: dict[str, Any] = {"method": "mean tau-b over replies, t", "over": "calls"}
        there = np.isfinite(given).any(axis=1)
        if not there.any(axis=1).all():
            yield judge, undefined(metric, "no reply has scores and a ranking", **about)
            continue
        scores, places = given[:, :, there.all(axis=0)]
        whole = np.isfinite(scores).all(axis=1) & np.isfinite(places).all(axis=1)
        tau = kendall(scores[whole], -places[whole])
        known = tau[np.isfinite(tau)]
        about["n_excluded"] = len(scores) - len(known)
        if not len(known):
            yield judge, undefined(metric, "every reply scores all texts alike", **about)
            continue
        d = clustered_mean(known, np.arange(len(known)))
        detail = {"contradicting": number(float((known < 0).mean())), "replies": len(known)}
        yield judge, estimated(metric, d.value, d, n=len(known), detail=detail, **about)
