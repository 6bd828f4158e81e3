"""Do models pick the same items, put them on the same level, and write alike? Merchant-risk paper, secs. 5.3 and 7.1,
Fig. 10."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, matrix, number, undefined
from recuse.metrics.measure import itself, measure, per_part
from recuse.papers.illusion.cited_evidence import jaccard, words_of
from recuse.papers.merchant_risk.empirical_risk import YEARLY
from recuse.papers.merchant_risk.ground_truth import BONETT_WRIGHT, rank_correlation
from recuse.ratings import Ratings
from recuse.ratings.array import numbers
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import clustered_mean, clustered_share

if TYPE_CHECKING:
    import pandas as pd


METHOD = "mean over pairs of models of |both| / |either|"


@measure(
    "pick_overlap", "overlap of picks", unit="share", rank=298, bad="none",
    reading="Of the items that either of two models picked, the share that both did; the mean over pairs of models.",
)  # fmt: skip
@per_part(itself)
def pick_overlap(part: Ratings) -> Estimate:
    """Mean Jaccard index of two models' picks, by factor level. Detail: the `values` per pair of models; `items`, how
    many were picked at all; `by_all`, those that every model picked, as [item, name, levels]; `same_level`, of these,
    those that all put on one level; `shared`, all that two or more picked, the most picked first; `adjacent` and
    `apart`, how many of the shared lie at most one level apart, and further. No interval: one set of picks per model.
    Undefined with fewer than two models with picks.

    >>> from recuse.ratings.ratings import example
    >>> pick_overlap(example("judge item score", "a i 1; a k 2; b i 1; b l 2")).of().detail["by_all"]
    [['i', '', {'a': 1.0, 'b': 1.0}]]
    """
    levels = _levels(part)
    models, every = list(levels), list(dict.fromkeys(item for picks in levels.values() for item in picks))
    about: dict[str, Any] = {"n": len(every), "over": "items", "unit": "share", "method": METHOD}
    if len(models) < 2:
        return undefined("pick_overlap", f"an overlap needs two models with picks; there are {len(models)}", **about)
    values = np.array([[len(a.keys() & b) / len(a.keys() | b) for b in levels.values()] for a in levels.values()])
    by = {item: {model: picks[item] for model, picks in levels.items() if item in picks} for item in every}
    shared = sorted((item for item in every if len(by[item]) > 1), key=lambda item: (-len(by[item]), item))
    truth, step, names = part.reference, float(getattr(part.scale, "step", None) or 1.0), {}
    if truth is not None and "name" in truth:
        names = dict(zip(truth["item"].astype(str), truth["name"].fillna("").astype(str), strict=True))
    gaps = [(max(by[item].values()) - min(by[item].values())) / step for item in shared]
    rows = {item: [item, names.get(item, ""), {m: number(v) for m, v in by[item].items()}] for item in shared}
    by_all = [item for item in shared if len(by[item]) == len(models)]
    detail = matrix(
        models, models, values, {}, items=len(every), by_all=[rows[item] for item in by_all],
        same_level=[item for item in by_all if len(set(by[item].values())) == 1], shared=list(rows.values()),
        adjacent=sum(gap <= 1 for gap in gaps), apart=sum(gap > 1 for gap in gaps),
    )  # fmt: skip
    value = float(values[np.triu_indices(len(models), 1)].mean())
    return Estimate(metric="pick_overlap", value=value, note="no interval: one set of picks per model", detail=detail,
                    **about)  # fmt: skip


def _levels(part: Ratings) -> dict[str, dict[str, float]]:
    """Model -> item -> the level it was put on, the mean where it was picked repeatedly."""
    rows = part.table[(part.table["criterion"] == part.criterion) & (part.table["kind"] == "judge")]
    rows = rows.assign(level=numbers(part, rows)).dropna(subset="level")
    levels: dict[str, dict[str, float]] = {}
    mean = rows.groupby(["rater", "item"], sort=False, observed=True)["level"].mean().reset_index()
    for model, item, level in zip(mean["rater"], mean["item"], mean["level"], strict=True):
        levels.setdefault(str(model), {})[str(item)] = float(level)
    return levels


# --------------------------------------------------------------------------- texts that are alike


@measure(
    "text_homogeneity", "words that two authors share", unit="share", rank=299, bad="none",
    reading="Mean share of the words of two authors' texts on one item that both have. What a language and a form "
    "share in any case stands beside it, of two authors on two items.",
)  # fmt: skip
def text_homogeneity(ratings: Ratings) -> Estimates:
    """mean over items and pairs of authors of |A and B| / |A or B|, A and B the words of four letters or more in two
    authors' texts on one item; 1: all write the same. Cluster-robust t over items. Merchant-risk paper, sec. 7.1, which
    fears that models trained alike write alike, and compares their picks. Texts are those of the targets, or the
    rationales beside picks. Detail: `own`, the same of one author's texts on two items; `other`, of two authors' on two
    items. Undefined with fewer than two items on which two authors wrote; empty where no texts are known.

    >>> from recuse.ratings.ratings import example, table
    >>> texts = table("item target text", "i a bridge,opens; i b bridge,opens; k a river,rises; k b river,falls")
    >>> scores = example("item target score", "i a 1; i b 1; k a 1; k b 1", texts=texts)
    >>> round(text_homogeneity(scores).of().value, 3)  # 1 and 1/3
    0.667
    """
    items, authors, words = _words_by_text(ratings)
    if not items:
        return Estimates((), {})
    alike = jaccard(words, words)
    same_item, same_author = (np.equal.outer(names, names) for names in (np.array(items), np.array(authors)))
    upper = np.triu(np.isfinite(alike), 1)
    one, other = np.nonzero(upper & same_item)
    about: dict[str, Any] = {"over": "items", "unit": "share", "method": ALIKE}
    written, codes = np.unique(np.array(items)[one], return_inverse=True)
    if len(written) < 2:
        return Estimates((), {(): undefined("text_homogeneity", "two authors wrote on fewer than two items", **about)})
    values = np.bincount(codes, weights=alike[one, other]) / np.bincount(codes)
    apart = {"own": upper & ~same_item & same_author, "other": upper & ~same_item & ~same_author}
    detail = {whose: number(float(alike[these].mean())) if these.any() else None for whose, these in apart.items()}
    distribution = clustered_mean(values, np.arange(len(values)))
    value = float(values.mean())
    estimate = estimated("text_homogeneity", value, distribution, n=len(values), detail=detail, span=1.0, **about)
    return Estimates((), {(): estimate})


ALIKE = "mean over items of |both| / |either| of two authors' words, t over items"


def _words_by_text(ratings: Ratings) -> tuple[list[str], list[str], NDArray[np.bool_]]:
    """Item and author of every text, and its words (texts, vocabulary)."""
    texts = ratings.texts
    if texts is not None and {"target", "text"} <= set(texts):
        rows = texts[["item", "target", "text"]].dropna().drop_duplicates(["item", "target"])
    else:
        table = ratings.table
        rows = table[(table["criterion"] == RATIONALE) & table["response"].notna()][["item", "rater", "response"]]
        rows = rows.drop_duplicates(["item", "rater"])
    words_of_rows = [words_of(str(text)) for text in rows.iloc[:, 2]]
    place = {word: k for k, word in enumerate(sorted(frozenset().union(*words_of_rows)))}
    words = np.zeros((len(words_of_rows), len(place)), dtype=bool)
    for row, used in enumerate(words_of_rows):
        words[row, [place[word] for word in used]] = True
    return list(map(str, rows.iloc[:, 0])), list(map(str, rows.iloc[:, 1])), words


# --------------------------------------------------------------------------- levels against the data of a year


@measure(
    "yearly_rank_correlation", "rank correlation with one year's data", signed=True, rank=272, bad="none",
    reading="Spearman's rank correlation of the levels a model put items on with the items' values of one year.",
)  # fmt: skip
def yearly_rank_correlation(ratings: Ratings) -> Estimates:
    """`ground_truth.rank_correlation` with the values of each year, by judge, factor level and year; years are the
    columns `value_<year>` of the reference. Years share their categories, so they are no independent tests. Undefined
    where the reference has no years.

    >>> from recuse.ratings.ratings import example, table
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
METHOD_RULES_KEPT = "share of texts, Clopper-Pearson interval"
SHOWN = 5


@measure(
    "rules_kept", "rules kept", unit="share", bad="below", rank=295,
    below="writes what the task forbids|write what the task forbids",
    reading="Share of a model's texts that keep a rule of the task. Rules are checked by words: they find a mention, "
    "not its sense.",
)  # fmt: skip
def rules_kept(ratings: Ratings) -> Estimates:
    """Share of texts that keep a rule, by judge (who wrote them) and rule; `all` is the share that keeps every one.
    Interval over texts as if they were independent. Detail: `breaches`, the commonest ways to break it as [what,
    times], at most five; of `all`, `texts`, the first few as [item, words, what they break]. Empty where no rules were
    checked.

    >>> import pandas as pd
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
            broken = Counter(of.loc[~of["kept"], "response"].astype(str)).most_common(SHOWN)
            detail = {"breaches": [list(b) for b in broken]}
            estimates[str(judge), str(rule).removeprefix(RULE)] = _share(of["kept"].to_numpy(), detail)
        whole = ruled.groupby(["item", "target", "repeat"], observed=True)["kept"].all().to_numpy()
        estimates[str(judge), "all"] = _share(whole, {"texts": _first(table, str(judge), ruled)})
    return Estimates(("judge", "rule"), estimates)


def _first(table: pd.DataFrame, judge: str, rules: pd.DataFrame) -> list[list[Any]]:
    """The first texts that a model wrote, with what each breaks."""
    texts = table[(table["rater"] == judge) & (table["criterion"] == RATIONALE) & table["response"].notna()]
    broken, first = rules[~rules["kept"]], texts.head(SHOWN)
    return [
        [str(item), str(words)[:LONGEST], [str(why) for why in broken.loc[broken["item"] == item, "response"]]]
        for item, words in zip(first["item"], first["response"], strict=True)
    ]


def _share(kept: Any, detail: dict[str, Any]) -> Estimate:
    n, distribution = len(kept), clustered_share(kept, np.arange(len(kept)))
    value, method = float(kept.mean()), METHOD_RULES_KEPT
    return estimated("rules_kept", value, distribution, n=n, unit="share", method=method, detail=detail)
