"""Ground truth: do the levels that a model puts items on follow the items' true values, and do models pick the same
items and write alike? (Merchant-risk paper, secs. 5.1-5.3 and 7.1, Fig. 10.) Ratings of kind "picks": the rater is the
model, the item what it picked, the score (or ordered option) its level; `ratings.reference` has the true values. An
item picked in several repeats counts once, with its mean level (`rank_correlation`) or the lower median (where levels
are named). Picks that the reference lacks are left out and listed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, matrix, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers import rank_tests
from recuse.papers.illusion.cited_evidence import jaccard, word_table, words_of
from recuse.papers.merchant_risk.empirical_risk import YEARLY
from recuse.papers.merchant_risk.generation import KEPT, RATIONALE, RULE
from recuse.papers.rank_tests import spearman
from recuse.papers.self_preference.over_texts import share_estimate
from recuse.ratings import Nominal, Ordinal, Ratings, ResponseSets, Scale, remembered
from recuse.ratings.array import names_at, numbers_at
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.schema.arrays import Floats
from recuse.schema.pandas_when_used import pd
from recuse.statistics.clusters import clustered_mean
from recuse.statistics.distributions import FisherZ

BONETT_WRIGHT = "Spearman's rho, Bonett-Wright interval on Fisher's scale"
ALPHA = 0.05
FEW = 50  # picks up to which the p-value comes from permutations


@dataclass(frozen=True, eq=False)
class Picks:
    """One model's picks that the reference covers, by ascending item: mean and median level, and value, shape (n,)."""

    model: str
    items: tuple[str, ...]
    mean_level: Floats
    level: Floats
    value: Floats
    unknown: tuple[str, ...]  # items the reference does not cover
    names: tuple[str, ...]  # of the items; "" where the reference has none
    lost: int  # what takes no part: rows without a level, items that the reference does not cover
    scale: Scale

    def called(self, level: float) -> str | int | float:
        """A level as it was given: an option, a whole number, or a number."""
        if isinstance(self.scale, Ordinal):
            return self.scale.options[round(level)]
        return int(level) if level == int(level) else float(level)

    def facts(self, method: str, **more: Any) -> dict[str, Any]:
        """What every estimate of these picks says of them."""
        return {"n": len(self.items), "n_excluded": self.lost, "over": "items", "method": method, **more}


@remembered
def _models(part: Ratings, ratings: Ratings) -> list[Picks]:
    if isinstance(part.scale, Nominal | ResponseSets):
        raise RecuseError(
            f"the levels of criterion {part.criterion} have no order; give its scale as numbers, or as options from "
            "the lowest to the highest"
        )
    truth = part.reference
    if truth is None:
        raise RecuseError("no true values: give reference=..., a table with the columns item and value")
    if missing := [name for name in ("item", "value") if name not in truth]:
        raise RecuseError(
            f"the reference lacks the column(s) {', '.join(missing)}; it has {', '.join(map(str, truth.columns))}"
        )
    values = dict(zip(truth["item"].astype(str), truth["value"].astype(float), strict=True))
    if len(values) < len(truth):
        twice = truth["item"].astype(str)[truth["item"].astype(str).duplicated()].iloc[0]
        raise RecuseError(f"the reference needs one row per item; {twice} has several")
    called = truth["name"].fillna("").astype(str) if "name" in truth else [""] * len(truth)
    names = dict(zip(values, called, strict=True))
    rows = np.flatnonzero(part.having("criterion", part.criterion) & part.having("kind", "judge"))
    levels, (items, item), (raters, rater) = numbers_at(part, rows), part.coded("item"), part.coded("rater")
    given: dict[str, dict[str, list[float]]] = {}
    for who, what, level in zip(
        names_at(raters, rater[rows]), names_at(items, item[rows]), levels.tolist(), strict=True
    ):
        given.setdefault(who, {}).setdefault(what, []).append(level)
    picks = []
    for model, of_model in given.items():
        usable = {what: sorted(x for x in each if not math.isnan(x)) for what, each in sorted(of_model.items())}
        picked = {what: each for what, each in usable.items() if each}
        known = {what: each for what, each in picked.items() if not math.isnan(values.get(what, math.nan))}
        mean = np.array([math.fsum(each) / len(each) for each in known.values()])
        median = np.array([each[(len(each) - 1) // 2] for each in known.values()])
        value, unknown = np.array([values[what] for what in known]), tuple(what for what in picked if what not in known)
        lost = len(unknown) + sum(len(of_model[what]) - len(each) for what, each in usable.items())
        of = tuple(known), mean, median, value, unknown, tuple(names[what] for what in known), lost, part.scale
        picks.append(Picks(model, *of))
    return picks


def _per_model(function: Callable[[Picks], Estimate]) -> Callable[[Ratings], Estimates]:
    @per_subject("judge", _models)
    @wraps(function)
    def each(models: list[Picks]) -> Iterator[Named]:
        return ((picks.model, function(picks)) for picks in models)

    return each


@measure(
    "rank_correlation", "rank correlation with the data", ends=(-1, 1), signed=True, rank=270, bad="below",
    below="does not follow the data",
    reading="Spearman's rank correlation of the levels a model put items on with the items' true values.",
)  # fmt: skip
@_per_model
def rank_correlation(p: Picks) -> Estimate:
    """Spearman's rho of assigned level and true value, by judge and factor level; tied levels take mean ranks. The
    interval (`FisherZ`) is over items: how far would another choice of items by the same model move rho? Detail:
    `p_permutation`, exact over all arrangements of the tied levels, by Student's t beyond 50 picks, and `p_method`;
    `p_t`, the bolder t approximation that the paper's p-values follow; `beyond_chance`, whether p is below .05, each
    judge by itself; `unknown`, the picks that the reference lacks. Undefined below four picks, and where all levels or
    all values are equal. `RecuseError` without a reference, or with two values of one item.

    >>> truth = table("item value", "i .1; k .1; l .4; m .9")
    >>> rank_correlation(example("item score", "i 1; k 1; l 2; m 3", reference=truth)).of(judge="j").value
    1.0
    """
    detail: dict[str, Any] = {"unknown": list(p.unknown)}
    more = p.facts(BONETT_WRIGHT, detail=detail)
    if len(p.items) < 4:
        why = f"a rank correlation needs four picks that the data cover; there are {len(p.items)}"
        return undefined("rank_correlation", why, **more)
    for what, values in (("level", p.mean_level), ("value", p.value)):
        if values.max() == values.min():
            return undefined("rank_correlation", f"all picks have the same {what}, {values[0]:g}", **more)
    rho = float(spearman(p.mean_level, p.value))
    by_t = rank_tests.PermutationTest(rank_tests.spearman_t(rho, len(p.items)), "Student's t")
    test = rank_tests.spearman_test(p.mean_level, p.value) if len(p.items) <= FEW else by_t
    detail |= {"p_permutation": number(test.p), "p_method": test.method, "p_t": number(by_t.p)}
    detail["beyond_chance"] = None if math.isnan(test.p) else test.p < ALPHA
    return estimated("rank_correlation", rho, FisherZ(rho, len(p.items)), **more)


@measure(
    "misassignments", "misassignments", rank=280, above="misplaces items", unit="share",
    reading="Share of picks two or more levels away from where the true values put them.",
)  # fmt: skip
@_per_model
def misassignments(p: Picks) -> Estimate:
    """Share of picks two or more levels from where the data put them (paper, sec. 5.3), by judge and factor level. A
    pick's empirical level: the model's picks, sorted by true value, receive its own levels in ascending order, so three
    per level stay three. Equal values are ordered by assigned level, which is kindest to the model, then by item.
    Detail: `nonadjacent`, `adjacent` (one level away) and `in_place`, each a list of item, name (where known),
    assigned, empirical and value, farthest first. No interval: ranks among one model's picks depend on each other.

    >>> truth = table("item value", "i .1; k .4; l .9")
    >>> round(misassignments(example("item score", "i 3; k 2; l 1", reference=truth)).of(judge="j").value, 3)
    0.667
    """
    more = p.facts("levels against the rank of the true value among the model's own picks", unit="share")
    if not p.items:
        return undefined("misassignments", "no pick is covered by the data", **more)
    empirical = np.empty(len(p.items))
    empirical[np.lexsort((p.level, p.value))] = np.sort(p.level)  # items ascend already, and lexsort is stable
    distance = (np.abs(p.level - empirical) / float(getattr(p.scale, "step", None) or 1.0)).round(9)

    def listed(wanted: NDArray[np.bool_]) -> list[dict[str, Any]]:
        return [
            {"item": p.items[i], "name": p.names[i], "assigned": p.called(p.level[i]),
             "empirical": p.called(empirical[i]), "value": number(p.value[i])}
            for i in np.argsort(-distance, kind="stable") if wanted[i]
        ]  # fmt: skip

    far, near = distance > 1, (distance > 0) & (distance <= 1)
    return Estimate(
        metric="misassignments", value=float(far.mean()),
        note="no interval: ranks among one model's picks are not independent",
        detail={"nonadjacent": listed(far), "adjacent": listed(near), "in_place": listed(distance == 0)}, **more,
    )  # fmt: skip


@measure(
    "progression", "steps that rise", rank=290, unit="share", below="does not rise with the data",
    reading="Share of steps from one level to the next in which the mean true value rises; 1 is smooth.",
)  # fmt: skip
@_per_model
def progression(p: Picks) -> Estimate:
    """Share of steps from one assigned level in use to the next at which the mean value rises, by judge and factor
    level. Detail: `levels` with picks, mean value and `isotonic`, the closest never-falling sequence (least squares,
    weighted by picks); `falls`, the steps down and by how much; `violation`, the share of the between-level variance
    that sequence cannot follow. No interval, as for `misassignments`. Undefined below two levels in use.

    >>> truth = table("item value", "i .1; k .9; l .4")
    >>> progression(example("item score", "i 1; k 2; l 3", reference=truth)).of(judge="j").value
    0.5
    """
    levels = sorted(set(p.level.tolist()))
    more = p.facts("share of level-to-level steps in which the mean true value rises", unit="share")
    if len(levels) < 2:
        return undefined("progression", f"steps need two levels in use; there are {len(levels)}", **more)
    counts = np.array([np.sum(p.level == level) for level in levels], dtype=float)
    means = np.array([math.fsum(p.value[p.level == level].tolist()) for level in levels]) / counts
    smooth = never_falling(means, counts)
    steps = np.diff(means).round(12)
    sides = zip(levels, levels[1:], steps, strict=False)
    falls = [{"from": p.called(a), "to": p.called(b), "by": number(-step)} for a, b, step in sides if step < 0]
    centre = np.average(means, weights=counts)
    left, spread = (float((counts * (means - fit) ** 2).sum()) for fit in (smooth, centre))
    table = [
        {"level": p.called(level), "picks": int(count), "mean_value": number(mean), "isotonic": number(fit)}
        for level, count, mean, fit in zip(levels, counts, means, smooth, strict=True)
    ]
    return Estimate(
        metric="progression", value=float(np.mean(steps > 0)), note="no interval: one set of picks per model",
        detail={"levels": table, "falls": falls, "violation": number(left / spread) if spread > 0 else None}, **more,
    )  # fmt: skip


def never_falling(values: Floats, weights: Floats) -> Floats:
    """The closest never-falling sequence to values (n,), least squares with these weights: neighbours that fall are
    pooled to their mean until none do. To import scipy's costs more than all that it is asked for here."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight and length
    for mean, weight in zip(values.tolist(), weights.tolist(), strict=True):
        length = 1
        while blocks and blocks[-1][0] >= mean:
            before, own, more = blocks.pop()
            mean, weight, length = (before * own + mean * weight) / (own + weight), own + weight, length + more
        blocks.append((mean, weight, length))
    means, _, lengths = zip(*blocks, strict=True)
    return np.repeat(means, lengths)


# --------------------------------------------------------------------------- models beside each other


@measure(
    "pick_overlap", "overlap of picks", unit="share", rank=298, bad="none",
    reading="Of the items that either of two models picked, the share that both did; the mean over pairs of models.",
)  # fmt: skip
@per_subject((), itself)
def pick_overlap(part: Ratings) -> Estimate:
    """Mean Jaccard index of two models' picks, by factor level. Detail: the `values` per pair of models; `items`, how
    many were picked at all; `by_all`, those that every model picked, as [item, name, levels]; `same_level`, of these,
    those that all put on one level; `shared`, all that two or more picked, the most picked first; `adjacent` and
    `apart`, how many of the shared lie at most one level apart, and further. Undefined below two models with picks.

    >>> pick_overlap(example("judge item score", "a i 1; a k 2; b i 1; b l 2")).of().detail["by_all"]
    [['i', '', {'a': 1.0, 'b': 1.0}]]
    """
    rows = np.flatnonzero(part.having("criterion", part.criterion) & part.having("kind", "judge"))
    picks = part.table[["rater", "item"]].iloc[rows].astype(str).assign(level=numbers_at(part, rows))
    levels = picks.dropna(subset="level").pivot_table(
        "level", "item", "rater", sort=False
    )  # the mean where an item was picked repeatedly
    models, picked = list(map(str, levels)), levels.notna().to_numpy()
    about: dict[str, Any] = {
        "n": len(levels), "over": "items", "unit": "share", "method": "mean over pairs of models of |both| / |either|"
    }  # fmt: skip
    if len(models) < 2:
        return undefined("pick_overlap", f"an overlap needs two models with picks; there are {len(models)}", **about)
    values = jaccard(picked.T, picked.T)
    shared = levels[picked.sum(axis=1) > 1].sort_index()
    shared = shared.loc[(-shared.notna().sum(axis=1)).sort_values(kind="stable").index]
    truth, step, names = part.reference, float(getattr(part.scale, "step", None) or 1.0), {}
    if truth is not None and "name" in truth:
        names = dict(zip(truth["item"].astype(str), truth["name"].fillna("").astype(str), strict=True))
    listed = [[item, names.get(item, ""), of.dropna().map(number).to_dict()] for item, of in shared.iterrows()]
    gaps = (shared.max(axis=1) - shared.min(axis=1)) / step
    by_all = [row for row in listed if len(row[2]) == len(models)]
    detail = matrix(
        models, models, values, {}, items=len(levels), by_all=by_all,
        same_level=[item for item, _, of in by_all if len(set(of.values())) == 1], shared=listed,
        adjacent=int((gaps <= 1).sum()), apart=int((gaps > 1).sum()),
    )  # fmt: skip
    value, note = float(values[np.triu_indices(len(models), 1)].mean()), "no interval: one set of picks per model"
    return Estimate(metric="pick_overlap", value=value, note=note, detail=detail, **about)


@measure(
    "text_homogeneity", "words that two authors share", unit="share", rank=299, bad="none",
    reading="Mean share of the words of two authors' texts on one item that both have. What a language and a form "
    "share in any case stands beside it, of two authors on two items.",
)  # fmt: skip
def text_homogeneity(ratings: Ratings) -> Estimates:
    """Mean over items and pairs of authors of |A and B| / |A or B|, A and B the words of four letters or more in two
    authors' texts on one item (of targets, or rationales beside picks); cluster-robust t over items. Merchant-risk
    paper, sec. 7.1. Detail: the same of texts on two items, `own` by one author, `other` by two. Undefined below two
    items on which two authors wrote; empty where no texts are known.

    >>> texts = table("item target text", "i a bridge,opens; i b bridge,opens; k a river,rises; k b river,falls")
    >>> scores = example("item target score", "i a 1; i b 1; k a 1; k b 1", texts=texts)
    >>> round(text_homogeneity(scores).of().value, 3)  # 1 and 1/3
    0.667
    """
    texts = ratings.texts
    if texts is not None and {"target", "text"} <= set(texts):
        rows = texts[["item", "target", "text"]].dropna().drop_duplicates(["item", "target"])
    else:
        reasons = ratings.table[(ratings.table["criterion"] == RATIONALE) & ratings.table["response"].notna()]
        rows = reasons[["item", "rater", "response"]].drop_duplicates(["item", "rater"])
    if rows.empty:
        return Estimates((), {})
    items, authors, written = (list(map(str, rows.iloc[:, k])) for k in range(3))
    words = word_table([words_of(text) for text in written])
    alike = jaccard(words, words)
    same_item, same_author = (np.equal.outer(names, names) for names in (np.array(items), np.array(authors)))
    upper = np.triu(np.isfinite(alike), 1)
    one, other = np.nonzero(upper & same_item)
    about: dict[str, Any] = {
        "over": "items", "unit": "share", "span": 1.0,
        "method": "mean over items of |both| / |either| of two authors' words, t over items",
    }  # fmt: skip
    compared, codes = np.unique(np.array(items)[one], return_inverse=True)
    if len(compared) < 2:
        return Estimates((), {(): undefined("text_homogeneity", "two authors wrote on fewer than two items", **about)})
    values = np.bincount(codes, weights=alike[one, other]) / np.bincount(codes)
    apart = {"own": upper & ~same_item & same_author, "other": upper & ~same_item & ~same_author}
    detail = {whose: number(float(alike[these].mean())) if these.any() else None for whose, these in apart.items()}
    distribution = clustered_mean(values, np.arange(len(values)))
    value, n = float(values.mean()), len(values)
    return Estimates((), {(): estimated("text_homogeneity", value, distribution, n=n, detail=detail, **about)})


@measure(
    "yearly_rank_correlation", "rank correlation with one year's data", signed=True, rank=272, bad="none",
    reading="Spearman's rank correlation of the levels a model put items on with the items' values of one year.",
)  # fmt: skip
def yearly_rank_correlation(ratings: Ratings) -> Estimates:
    """`ground_truth.rank_correlation` with the values of each year, by judge, factor level and year; years are the
    columns `value_<year>` of the reference. Years share their categories, so they are no independent tests. Undefined
    where the reference has no years.

    >>> truth = table("item value value_2021", "i .1 .1; k .1 .1; l .1 .4; m .1 .9")
    >>> picks = example("item score", "i 1; k 1; l 2; m 3", reference=truth)
    >>> yearly_rank_correlation(picks).of(judge="j", year="2021").value
    1.0
    """
    truth = pd.DataFrame() if ratings.reference is None else ratings.reference
    estimates: dict[tuple[str, ...], Estimate] = {}
    for column in (name for name in map(str, truth) if name.startswith(YEARLY)):
        of_year = replace(ratings, reference=truth.assign(value=truth[column]), _memory={})
        for key, estimate in rank_correlation(of_year).items():
            estimates[(*key, column.removeprefix(YEARLY))] = replace(estimate, metric="yearly_rank_correlation")
    if not estimates:
        nothing = undefined("yearly_rank_correlation", "the true values tell no years apart", method=BONETT_WRIGHT)
        estimates = {(*key, ""): nothing for key in rank_correlation(ratings)}
    return Estimates(("judge", *ratings.within(), "year"), estimates)


# --------------------------------------------------------------------------- rules of the task that a text keeps
# Ratings of a generating protocol carry one row per text and rule: criterion "rule: <name>", response "kept" or what
# breaks it (merchant-risk paper, sec. 2.1).

LONGEST = 400
SHOWN = 5


@measure(
    "rules_kept", "rules kept", unit="share", bad="below", rank=295, below="writes what the task forbids",
    reading="Share of a model's texts that keep a rule of the task. Rules are checked by words: they find a mention, "
    "not its sense.",
)  # fmt: skip
def rules_kept(ratings: Ratings) -> Estimates:
    """Share of texts that keep a rule, by judge (who wrote them) and rule, "all" being every one; interval over texts
    as if they were independent. Detail: `breaches`, the five commonest as [what, times]; of `all`, `texts`, the first
    few as [item, words, what they break]. Empty where no rules were checked.

    >>> frame = pd.DataFrame({"judge": "a", "item": ["i", "j"], "criterion": "rule: length",
    ...                       "response": ["kept", "has 90 words"]})
    >>> rules_kept(Ratings.of(frame)).of(judge="a", rule="length").value
    0.5
    """
    table = ratings.table
    rows = table[table["criterion"].str.startswith(RULE) & table["response"].notna()]
    rows = rows.assign(kept=rows["response"] == KEPT)
    estimates: dict[tuple[str, ...], Estimate] = {}
    for judge, ruled in rows.groupby("rater", sort=False, observed=True):
        for rule, of in ruled.groupby("criterion", sort=False, observed=True):
            breaches = Counter(of.loc[~of["kept"], "response"].astype(str)).most_common(SHOWN)
            detail = {"breaches": [list(breach) for breach in breaches]}
            estimates[str(judge), str(rule).removeprefix(RULE)] = _share(of["kept"].to_numpy(), detail)
        texts = table[(table["rater"] == judge) & (table["criterion"] == RATIONALE) & table["response"].notna()]
        first, broken = texts.head(SHOWN), ruled[~ruled["kept"]].groupby("item", observed=True)["response"].agg(list)
        shown = [
            [str(item), str(words)[:LONGEST], list(map(str, broken.get(item, [])))]
            for item, words in zip(first["item"], first["response"], strict=True)
        ]
        whole = ruled.groupby(["item", "target", "repeat"], observed=True)["kept"].all().to_numpy()
        estimates[str(judge), "all"] = _share(whole, {"texts": shown})
    return Estimates(("judge", "rule"), estimates)


def _share(kept: Any, detail: dict[str, Any]) -> Estimate:
    about: dict[str, Any] = {"method": "share of texts, Clopper-Pearson interval", "n_clusters": None, "span": None}
    return share_estimate("rules_kept", kept, np.arange(len(kept)), "", detail=detail, **about)
