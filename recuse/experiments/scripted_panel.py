"""Scripted judges whose faults are known: scores of texts, and choices between two, drawn from a stated model.

A score of judge j for the text of author t on item i, asked for the r-th time, is

    middle + item_i + text_it + leniency_j + favour_j [t is j's own] + view_jit + noise_jitr

rounded to the scale's step and cut off at its ends. Judge 0 has the faults, the others have none. People score the
same texts without leniency. Choices compare texts of such worth; a judge that follows the place takes the first text,
whatever it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.experiments.sizes import Sizes

if TYPE_CHECKING:
    import pandas as pd

    from recuse.ratings import Ratings

__all__ = ["APART", "EFFECTS", "simulated_choices", "simulated_scores"]

Floats = NDArray[np.float64]

EFFECTS = {
    "lenient": "points added to every text",
    "own": "points added to its own texts",
    "own if named": "points added to its own texts where names are shown",
    "apart": "points that two of its answers to one text lie apart on average, as recorded",
    "chance": "share of its answers given by lot",
    "first place": "share of pairs in which it takes what stands first",
    "letter A": "share of pairs in which it takes what is called A",
    "refuses": "share of its replies that cannot be used",
}
"""What judge 0 can be made to do, and in which unit."""

APART = 2 / math.sqrt(math.pi)
"""How far two answers with normal noise of SD 1 lie apart on average. Rounding changes nothing of it: as many steps of
the scale lie between two scores, on average, as the scores are steps apart."""

ITEM_SHARE, TEXT_SHARE = 0.10, 0.08
"""SDs of how good items and texts are, as shares of the range: enough that texts differ, far from the scale's ends."""


def simulated_scores(
    sizes: Sizes,
    effect: Mapping[str, float],
    rng: np.random.Generator,
    expected: Literal["", "texts", "items"] = "",
    replies: np.random.Generator | None = None,
) -> Ratings:
    """Ratings of one panel. What a measure of `expected` ratings gives is the truth that it estimates: "texts" are the
    scores that infinitely many repeats of these texts would average to; with "items", the judges' views of single
    texts are left out as well, which infinitely many items would average to. Both leave rounding aside.

    `replies`: what the judges' noise and losses are drawn from instead of `rng`: with the same `rng`, the same judges
    are asked about the same texts once more, beside the same people."""
    import pandas as pd

    from recuse.ratings import Numeric, Ratings

    levels = ("shown", "hidden") if sizes.names else ("shown",)
    names = [f"judge-{j}" for j in range(sizes.judges)]
    frames = []
    worth = _worths(sizes, rng)
    views = _views(sizes, rng) if expected != "items" else np.zeros((sizes.judges, *worth.shape))
    for level in levels:
        scores = _scores(sizes, effect, worth + views, level, replies or rng, bool(expected))
        fixed = {"names": level} if sizes.names else {}
        frames.append(_frame(scores, names, kind="judge", **fixed))
        if sizes.people:
            theirs = np.repeat(worth[None], sizes.people, axis=0)
            if not expected:
                theirs = theirs + rng.normal(0, 1.5 * sizes.spread * sizes.span, theirs.shape)
            theirs = _on_scale(theirs, sizes, rounded=not expected)[..., None]
            frames.append(_frame(theirs, _people(sizes), kind="person", **fixed))
    frame = pd.concat(frames, ignore_index=True)
    known: dict[str, Any] = {} if not sizes.clusters else {"texts": _topics(sizes), "clusters": "topics"}
    authors = {name: f"text-{j}" for j, name in enumerate(names) if 1 < sizes.texts > j}
    return Ratings.of(frame, scales=Numeric(sizes.low, sizes.high), authors=authors, **known)


def simulated_choices(
    sizes: Sizes, effect: Mapping[str, float], rng: np.random.Generator, replies: np.random.Generator | None = None
) -> Ratings:
    """Every judge's choices in both orders, with labels plain and swapped, on pairs of which four share a topic.
    `replies`: as of `simulated_scores`."""
    import pandas as pd

    from recuse.ratings import Ratings
    from recuse.ratings.pairwise import CHOICES

    judges, pairs = sizes.judges, sizes.pairs
    gap = rng.normal(0, TEXT_SHARE * 1.4, pairs)
    view = rng.normal(0, sizes.spread, (judges, pairs))
    shape = (judges, pairs, 2, 2)  # order ab, ba; labels plain, swapped
    sign, rng = np.array([1.0, -1.0])[None, None, :, None], replies or rng
    first = (gap[None] + view)[:, :, None, None] * sign + rng.normal(0, sizes.noise, shape) > 0
    lot = rng.random((4, *shape[1:]))
    first[0] = np.where(lot[0] < effect.get("chance", 0.0), lot[1] < 0.5, first[0])
    first[0] |= lot[2] < effect.get("first place", 0.0)
    letter_a_first = np.array([True, False])[None, None, :]
    first[0] = np.where(lot[3] < effect.get("letter A", 0.0), np.broadcast_to(letter_a_first, shape[1:]), first[0])
    j, p, o, s = (axis.ravel() for axis in np.indices(shape))
    items = _numbered("pair", pairs)[p]
    lost = rng.random(first.size) < sizes.losses
    frame = pd.DataFrame({
        "rater": _numbered("judge", judges)[j], "item": items, "criterion": "winner",
        "order": np.array(["ab", "ba"])[o], "labels": np.array(["plain", "swapped"])[s],
        "response": np.where(lost, "", np.where(first.ravel(), "first", "second")),
    })  # fmt: skip
    frame["response"] = frame["response"].where(~lost, None)
    every = np.arange(pairs)
    texts = pd.DataFrame({
        "item": _numbered("pair", pairs), "a": "text-0", "b": "text-1",
        "cluster": np.char.add("story-", (every // 4).astype(str)),
    })  # fmt: skip
    return Ratings.of(frame, scales={"winner": CHOICES}, texts=texts, clusters="stories")


# --------------------------------------------------------------------------- parts of the model


def _worths(sizes: Sizes, rng: np.random.Generator) -> Floats:
    """How good the texts are, (items, targets), in points around the scale's middle. Items of a topic share most of
    what makes them easy."""
    easy = rng.normal(0, ITEM_SHARE, sizes.items)
    if sizes.clusters:
        easy = 0.5 * easy + 0.87 * rng.normal(0, ITEM_SHARE, sizes.clusters)[_topic_of(sizes)]
    texts = rng.normal(0, TEXT_SHARE, (sizes.items, sizes.texts))
    worth: Floats = (sizes.low + sizes.high) / 2 + sizes.span * (easy[:, None] + texts)
    return worth


def _views(sizes: Sizes, rng: np.random.Generator) -> Floats:
    """What each judge thinks of each text beyond what all think, (judges, items, targets); shared in part by the items
    of a topic."""
    own = rng.normal(0, sizes.spread, (sizes.judges, sizes.items, sizes.texts))
    if sizes.clusters:
        shared = rng.normal(0, sizes.spread, (sizes.judges, sizes.clusters, sizes.texts))
        own = 0.8 * own + 0.6 * shared[:, _topic_of(sizes)]
    views: Floats = sizes.span * own
    return views


def _scores(
    sizes: Sizes, effect: Mapping[str, float], seen: Floats, level: str, rng: np.random.Generator, expected: bool
) -> Floats:
    """Scores of shape (judges, items, targets, repeats); NaN where a reply is lost."""
    means = np.array(seen)
    means[0] += effect.get("lenient", 0.0)
    means[0, :, 0] += effect.get("own", 0.0) + (effect.get("own if named", 0.0) if level == "shown" else 0.0)
    if expected:
        return np.repeat(means[..., None], 2, axis=-1)
    noise = np.full((sizes.judges, 1, 1, 1), sizes.noise * sizes.span)
    if "apart" in effect:
        noise[0] = effect["apart"] / APART
    scores = means[..., None] + noise * rng.normal(0, 1, (*means.shape, sizes.repeats))
    by_lot = rng.random(scores.shape[1:]) < effect.get("chance", 0.0)
    scores[0] = np.where(by_lot, rng.uniform(sizes.low, sizes.high, scores.shape[1:]), scores[0])
    scores = _on_scale(scores, sizes)
    losses = np.full((sizes.judges, 1, 1, 1), sizes.losses)
    losses[0] = effect.get("refuses", sizes.losses)
    scores[rng.random(scores.shape) < losses] = np.nan
    return scores


def _on_scale(scores: Floats, sizes: Sizes, rounded: bool = True) -> Floats:
    if not rounded:
        return scores
    steps = np.round((scores - sizes.low) / sizes.step) * sizes.step + sizes.low if sizes.step else scores
    return np.clip(steps, sizes.low, sizes.high)


def _frame(scores: Floats, raters: list[str], **fixed: str) -> pd.DataFrame:
    import pandas as pd

    j, i, t, r = (axis.ravel() for axis in np.indices(scores.shape))
    return pd.DataFrame({
        "rater": np.array(raters)[j], "item": _numbered("item", scores.shape[1])[i],
        "target": _numbered("text", scores.shape[2])[t], "repeat": r, "score": scores.ravel(), **fixed,
    })  # fmt: skip


def _numbered(word: str, count: int) -> NDArray[np.str_]:
    return np.array([f"{word}-{number}" for number in range(count)])


def _people(sizes: Sizes) -> list[str]:
    return [f"person-{p}" for p in range(sizes.people)]


def _topic_of(sizes: Sizes) -> NDArray[np.intp]:
    return np.arange(sizes.items) % sizes.clusters


def _topics(sizes: Sizes) -> pd.DataFrame:
    import pandas as pd

    topics = _topic_of(sizes)
    return pd.DataFrame([
        {"item": f"item-{i}", "target": f"text-{t}", "cluster": f"topic-{topics[i]}"}
        for i in range(sizes.items)
        for t in range(sizes.texts)
    ])  # fmt: skip
