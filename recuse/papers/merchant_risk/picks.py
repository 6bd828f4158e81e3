"""Do models pick the same items, put them on the same level, and write alike? Merchant-risk paper, secs. 5.3 and 7.1,
Fig. 10."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, matrix, number, undefined
from recuse.metrics.measure import itself, measure, per_subject
from recuse.papers.illusion.cited_evidence import jaccard, word_table, words_of
from recuse.papers.merchant_risk.empirical_risk import YEARLY
from recuse.papers.merchant_risk.ground_truth import BONETT_WRIGHT, rank_correlation
from recuse.papers.self_preference.over_texts import share_estimate
from recuse.ratings import Ratings
from recuse.ratings.array import numbers
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import clustered_mean


@measure(
    "pick_overlap", "overlap of picks", unit="share", rank=298, bad="none",
    reading="Of the items that either of two models picked, the share that both did; the mean over pairs of models.",
)  # fmt: skip
@per_subject((), itself)
def pick_overlap(part: Ratings) -> Estimate:
    """Mean Jaccard index of two models' picks, by factor level. Detail: the `values` per pair of models; `items`, how
    many were picked at all; `by_all`, those that every model picked, as [item, name, levels]; `same_level`, of these,
    those that all put on one level; `shared`, all that two or more picked, the most picked first; `adjacent` and
    `apart`, how many of the shared lie at most one level apart, and further. No interval: one set of picks per model.
    Undefined with fewer than two models with picks.

    >>> pick_overlap(example("judge item score", "a i 1; a k 2; b i 1; b l 2")).of().detail["by_all"]
    [['i', '', {'a': 1.0, 'b': 1.0}]]
    """
    rows = part.table[(part.table["criterion"] == part.criterion) & (part.table["kind"] == "judge")]
    rows = rows.assign(level=numbers(part, rows)).dropna(subset="level").astype({"rater": str, "item": str})
    levels = rows.pivot_table("level", "item", "rater", sort=False)  # the mean where an item was picked repeatedly
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
    listed = [
        [item, names.get(item, ""), {m: number(v) for m, v in of.dropna().items()}] for item, of in shared.iterrows()
    ]
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
    """mean over items and pairs of authors of |A and B| / |A or B|, A and B the words of four letters or more in two
    authors' texts on one item (of targets, or rationales beside picks); cluster-robust t over items. Merchant-risk
    paper, sec. 7.1, which fears that models trained alike write alike. Detail: the same of texts on two items, `own` by
    one author, `other` by two. Undefined below two items on which two authors wrote; empty where no texts are known.

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
    truth = ratings.reference
    years = [] if truth is None else [str(name) for name in truth if str(name).startswith(YEARLY)]
    estimates: dict[tuple[str, ...], Estimate] = {}
    for column in years:
        assert truth is not None
        of_year = replace(ratings, reference=truth.assign(value=truth[column]), _memory={})
        for key, estimate in rank_correlation(of_year).items():
            estimates[(*key, column.removeprefix(YEARLY))] = replace(estimate, metric="yearly_rank_correlation")
    if not years:
        nothing = undefined("yearly_rank_correlation", "the true values tell no years apart", method=BONETT_WRIGHT)
        estimates = {(*key, ""): nothing for key in rank_correlation(ratings)}
    return Estimates(("judge", *ratings.within(), "year"), estimates)


# --------------------------------------------------------------------------- rules of the task that a text keeps
# Ratings of a generating protocol carry one row per text and rule: criterion "rule: <name>", response "kept" or what
# breaks it. Merchant-risk paper, sec. 2.1: five dimensions, three codes per level, no figures, no jargon.


RULE, KEPT, RATIONALE = "rule: ", "kept", "rationale"
LONGEST = 400
SHOWN = 5


@measure(
    "rules_kept", "rules kept", unit="share", bad="below", rank=295, below="writes what the task forbids",
    reading="Share of a model's texts that keep a rule of the task. Rules are checked by words: they find a mention, "
    "not its sense.",
)  # fmt: skip
def rules_kept(ratings: Ratings) -> Estimates:
    """Share of texts that keep a rule, by judge (who wrote them) and rule, "all" being every one; interval over texts
    as if they were independent. Detail: `breaches`, the commonest as [what, times], at most five; of `all`, `texts`,
    the first few as [item, words, what they break]. Empty where no rules were checked.

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
