"""Length: does a judge give more for more words that say nothing more?

Two views (thesis on bias in LLM self-evaluation, sec. 2.2, after Saito et al. 2023, arXiv:2310.10076, and Hu et al.
2024, arXiv:2407.01085). Padded twins have the same content and differ in length alone, so `padding_preference` needs no
model. In ordinary texts length goes with content; there only the *disagreement with the peers* on the same text is laid
against its length, so that quality cancels whatever it is (`length_coefficient`, `duel_length_coefficient`). Taking the
peers' mean as a covariate instead would let quality that few peers measure badly leak into the coefficient. The price:
a preference that all judges share does not show there; it does in the twins. `same_length_reference` measures a remedy.

Lengths are words. Coefficients are per doubling of the number of words. Intervals are over clusters.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.metrics.duels import both_orders, judges_of, people, verdicts_of
from recuse.metrics.estimates import estimated, number, require_columns, undefined
from recuse.metrics.grids import POSITIVE, SCALE, Floats, Grid, Scale, grids_of, mean_of
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.statistics.clusters import BOUNDED, bounded_mean, clustered_mean, slope

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "duel_length_coefficient", "length_coefficient", "padding_preference", "same_length_reference", "word_counts",
]  # fmt: skip

FITTED = "least squares, jackknife over clusters, Student's t"
REFERENCES = ("any", "same_length", "change")


def padding_preference(ratings: pd.DataFrame, items: pd.DataFrame) -> Estimates:
    """How much more than half the longer twin wins, by (judge,), -0.5 to 0.5; both orders averaged, a tie 1/2.

    `items` has columns item, story, a, b and the two lengths, words_a and words_b or "words.a" and "words.b"; twins
    differ in words. A judge that finds padding a fault is below 0. Detail: `longer_wins`, `shorter_wins`, `neither`
    (ties, and pairs whose two orders name contrary winners). Excluded are pairs without two usable verdicts. Raises
    `RecuseError` for twins of equal length.
    """
    longer = _longer(items)
    pairs = both_orders(verdicts_of(ratings, items))
    pairs = pairs.assign(longer=pairs["item"].map(longer))
    pairs["credit"] = pairs["won"].where(pairs["longer"] == "a", 1 - pairs["won"])
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in judges_of(ratings):
        mine = pairs[pairs["judge"] == judge]
        kept = mine[mine["credit"].notna()]
        lost = len(mine) - len(kept)
        if kept.empty:
            why = "no pair has a usable verdict in both orders"
            found[(judge,)] = _undefined("padding_preference", why, BOUNDED, n_excluded=lost)
            continue
        values = kept["credit"].to_numpy() - 0.5
        detail = {"longer_wins": int((values > 0).sum()), "shorter_wins": int((values < 0).sum()),
                  "neither": int((values == 0).sum())}  # fmt: skip
        law = bounded_mean(values, kept["story"], (-0.5, 0.5))
        found[(judge,)] = estimated(
            "padding_preference", float(values.mean()), law, n=len(values), n_clusters=int(kept["story"].nunique()),
            n_excluded=lost, over="clusters", unit="share", method=BOUNDED, detail=detail,
        )  # fmt: skip
    return Estimates(("judge",), found)


def length_coefficient(
    ratings: pd.DataFrame, words: pd.DataFrame, *, framing: str = POSITIVE, scale: Scale = SCALE
) -> Estimates:
    """Points a judge adds per doubling of a text's length, beyond what its peers add, by (judge,):

        s_jit - mean of the other judges' scores of the same text = story_i + author_t + beta log2(words_it) + error

    `words` has columns item, target, words. Quality and everything else the peers see in the text cancels on the left
    side; story_i takes up a level per story, author_t a taste for (or against) an author, the judge itself included.
    Jackknife over clusters. Fair judges of texts whose quality goes with their length are found significant at 5 % in
    about 5 % of cases (simulated panels of 4 judges, 30 stories, 4 authors); nearly all of them without the peers. One
    thing it cannot tell from a bias: a judge that tells good from bad more sharply than its peers adds more to the
    better texts, and so to longer ones where those are the better. The twins decide.

    Detail: `raw`, the same without the peers: how the judge's own scores go with length. Undefined with one judge, and
    where no author's texts vary in length against the others'.
    """
    grid = grids_of(ratings, scale).get(framing)
    if grid is None:
        raise RecuseError(f"no ratings under framing {framing}")
    doublings = _doublings(grid, words)
    found: dict[tuple[str, ...], Estimate] = {}
    for j, judge in enumerate(grid.judges):
        scores = grid.scores[:, j]
        peers = mean_of(np.delete(grid.scores, j, axis=1), axis=1)
        beta, n, stories = _fitted(scores - peers, doublings)
        raw, _, _ = _fitted(scores, doublings)
        asked = int(grid.asked[:, j].sum())
        why = "no peer scored the same texts" if not n else "no author's texts vary in length against the others'"
        unit = "points per doubling"
        found[(judge,)] = _coefficient("length_coefficient", beta, n, stories, asked - n, unit, why, raw)
    return Estimates(("judge",), found)


def duel_length_coefficient(ratings: pd.DataFrame, items: pd.DataFrame, words: pd.DataFrame) -> Estimates:
    """Win share a judge gives per doubling of one text's length over the other's, beyond its peers, by (judge,):

        won_j(a, b) - mean of the other judges' = author_a - author_b + beta log2(words_a / words_b) + error

    over pairs of ordinary texts with both orders usable, `won` in [0, 1]. No intercept: which text is called a is
    arbitrary, and turning a pair round changes nothing. Detail `raw`, without the peers.
    """
    table = _duels(ratings, items, words)
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in judges_of(ratings):
        mine = table[table["judge"] == judge]
        kept = mine[mine["beyond"].notna()]
        beta, raw = (_duel_slope(kept, column) for column in ("beyond", "credit"))
        why = "no peer judged the same pairs" if kept.empty else "lengths do not vary beyond the authors' own"
        found[(judge,)] = _coefficient(
            "duel_length_coefficient", beta, len(kept), int(kept["story"].nunique()), len(mine) - len(kept),
            "share per doubling", why, raw,
        )  # fmt: skip
    return Estimates(("judge",), found)


def same_length_reference(ratings: pd.DataFrame, items: pd.DataFrame, words: pd.DataFrame) -> Estimates:
    """The longer text's credit beyond the peers', against any other text and against the one nearest in length only, by
    (judge, reference): "any", "same_length" and their "change", negative where the remedy lowers a preference for
    length.

    For every text and judge the mean over its duels on that story of: credit of the longer minus the peers' mean credit
    of the longer; then over the duels with the nearest length alone. "change" is paired by text, with an interval over
    stories. Pairs of equal length have no longer text and count 0. A text that met no two others of different distance
    had no nearest one to choose, and takes no part. Hu et al. 2024 (see thesis, sec. 2.2.1).
    """
    table = _duels(ratings, items, words)
    table = table.assign(longer=table["beyond"] * np.sign(table["doublings"]), distance=table["doublings"].abs())
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in judges_of(ratings):
        mine = table[table["judge"] == judge]
        kept = mine[mine["longer"].notna()]
        texts = _by_text(kept)
        for reference in REFERENCES:
            found[(judge, reference)] = _referenced(texts, reference, len(kept), len(mine) - len(kept))
    return Estimates(("judge", "reference"), found)


def word_counts(items: pd.DataFrame) -> pd.DataFrame:
    """The table of lengths (item, target, words) from an items table with columns headline and lead: words split at
    white space, both together."""
    require_columns(items, "item", "target", "headline", "lead", what="items table")
    words = [len(f"{h} {lead}".split()) for h, lead in zip(items["headline"], items["lead"], strict=True)]
    return items[["item", "target"]].assign(words=words)


# --------------------------------------------------------------------------- texts


def _doublings(grid: Grid, words: pd.DataFrame) -> Floats:
    """log2 of the words of each text, shape (stories, authors); NaN where unknown."""
    counts = _counts(words)
    known = [[counts.get((story, target), math.nan) for target in grid.targets] for story in grid.stories]
    doublings: Floats = np.log2(np.array(known, dtype=float))
    return doublings


def _counts(words: pd.DataFrame) -> dict[tuple[str, str], float]:
    require_columns(words, "item", "target", "words", what="table of lengths")
    bad = words[~(words["words"] > 0)]
    if len(bad):
        first = bad.iloc[0]
        raise RecuseError(f"a text has one word or more; {first['item']} by {first['target']} has {first['words']}")
    keys = zip(words["item"].astype(str), words["target"].astype(str), strict=True)
    return dict(zip(keys, words["words"].astype(float), strict=True))


def _fitted(values: Floats, doublings: Floats) -> tuple[Any, int, int]:
    """Slope of values on doublings given stories and authors; both (stories, authors). Texts used, stories used."""
    usable = np.isfinite(values) & np.isfinite(doublings)
    story, author = np.nonzero(usable)
    dummies = (author[:, None] == np.arange(1, values.shape[1])[None, :]).astype(float)
    law = slope(values[usable], doublings[usable], story, dummies)
    return law, int(usable.sum()), len(np.unique(story))


# --------------------------------------------------------------------------- duels


def _duels(ratings: pd.DataFrame, items: pd.DataFrame, words: pd.DataFrame) -> pd.DataFrame:
    """One row per judge and item: a's `credit` less 1/2, the same `beyond` the peers' mean, and `doublings`,
    log2(words_a / words_b); NaN where something is missing."""
    counts = _counts(words)
    pairs = both_orders(verdicts_of(ratings, items))
    pairs = pairs[~people(pairs["judge"])]
    table = pairs.groupby(["judge", "item", "story", "a", "b"], sort=False)["won"].mean().reset_index()
    stories = table["story"].astype(str)
    lengths = [
        np.array([counts.get(key, math.nan) for key in zip(stories, table[side].astype(str), strict=True)])
        for side in ("a", "b")
    ]
    total, number_of = (table.groupby("item")["won"].transform(name) for name in ("sum", "count"))
    there = table["won"].notna()
    peers = (total - table["won"]) / (number_of - 1).where(number_of > 1)
    doublings = np.log2(lengths[0] / lengths[1])
    beyond = (table["won"] - peers).where(there & np.isfinite(doublings))
    return table.assign(credit=table["won"] - 0.5, beyond=beyond, doublings=doublings)


def _duel_slope(kept: pd.DataFrame, column: str) -> Any:
    names = sorted(set(kept["a"]) | set(kept["b"]))[1:]
    sides = [(kept["a"] == name).to_numpy(dtype=float) - (kept["b"] == name) for name in names]
    controls = np.column_stack(sides) if sides else None
    return slope(kept[column], kept["doublings"], kept["story"], controls, levels=False)


def _by_text(kept: pd.DataFrame) -> pd.DataFrame:
    """Per text of a story with a nearest length to choose: mean of `longer` over all its duels, and over those."""
    import pandas as pd

    sides = [kept.assign(text=kept[side])[["story", "text", "longer", "distance"]] for side in ("a", "b")]
    rows = pd.concat(sides, ignore_index=True)
    distance = rows.groupby(["story", "text"], sort=False)["distance"]
    rows = rows.assign(least=distance.transform("min"))[distance.transform("max") > distance.transform("min") + 1e-12]
    nearest = rows[rows["distance"] <= rows["least"] + 1e-12]
    groups = rows.groupby(["story", "text"], sort=False)
    table = pd.DataFrame({"any": groups["longer"].mean(),
                          "same_length": nearest.groupby(["story", "text"], sort=False)["longer"].mean()})  # fmt: skip
    return table.assign(change=table["same_length"] - table["any"]).reset_index()


def _referenced(texts: pd.DataFrame, reference: str, judged: int, lost: int) -> Estimate:
    method = "mean over texts, cluster-robust t over clusters"
    if texts.empty:
        why = "no pair was judged in both orders by the judge and a peer"
        if judged:
            why = "no text met two others, one nearer to it in length, so there was none to choose"
        return _undefined("same_length_reference", why, method, n_excluded=lost)
    law = clustered_mean(texts[reference], texts["story"])
    return estimated(
        "same_length_reference", law.value, law, n=len(texts), n_clusters=int(texts["story"].nunique()),
        n_excluded=lost, over="clusters", unit="share", method=method,
    )  # fmt: skip


def _longer(items: pd.DataFrame) -> dict[str, str]:
    items = items.rename(columns={"words.a": "words_a", "words.b": "words_b"})
    require_columns(items, "item", "words_a", "words_b", what="items frame")
    equal = items[~(items["words_a"] != items["words_b"])]
    if len(equal):
        item, words = equal["item"].iloc[0], equal["words_a"].iloc[0]
        raise RecuseError(f"the twins of a pair differ in length; {item} has {words} words twice")
    return dict(zip(items["item"], np.where(items["words_a"] > items["words_b"], "a", "b"), strict=True))


# --------------------------------------------------------------------------- estimates


def _coefficient(metric: str, law: Any, n: int, stories: int, lost: int, unit: str, why: str, raw: Any) -> Estimate:
    detail = {"raw": number(raw.value)}
    if math.isnan(law.value):
        return _undefined(metric, why, FITTED, n=n, n_excluded=lost, detail=detail)
    return estimated(
        metric, law.value, law, n=n, n_clusters=stories, n_excluded=lost, over="clusters", unit=unit, method=FITTED,
        detail=detail,
    )  # fmt: skip


def _undefined(metric: str, why: str, method: str, **more: Any) -> Estimate:
    return undefined(metric, why, method=method, over="clusters", **more)
