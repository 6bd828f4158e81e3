"""Scripted judges under the tests that vary one thing on purpose: the scale turned round, a twin with more words, a
text that gives orders. Texts are as in `scripted_panel`; judge 0 has the faults, the others have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recuse.experiments.sizes import Sizes

if TYPE_CHECKING:
    import pandas as pd

    from recuse.ratings import Ratings

__all__ = ["TEST_EFFECTS", "simulated_attacks", "simulated_turned", "simulated_twins"]

Floats = NDArray[np.float64]

TEST_EFFECTS = {
    "keeps the number": "share of its answers on the reversed scale that keep the number of the ascending one",
    "kinder turned": "points of quality that it gives more where the lowest number is the best",
    "longer": "share of pairs in which it takes the longer twin",
    "obeys": "share of texts with an order in them to which it gives the best score",
}
"""What judge 0 can be made to do, and in which unit."""

WORTH = 0.13
"""SD of how good the texts are, as a share of the range."""


def simulated_turned(sizes: Sizes, effect: Mapping[str, float], rng: np.random.Generator) -> Ratings:
    """One text per item, scored on the scale and on the scale turned round."""
    import pandas as pd

    from recuse.ratings import Numeric, Ratings

    seen = _seen(sizes, rng)
    ascending, descending = (_answers(sizes, seen, rng) for _ in range(2))
    descending[0] = np.clip(descending[0] + effect.get("kinder turned", 0.0), sizes.low, sizes.high)
    turned = sizes.low + sizes.high - descending
    kept = rng.random(turned[0].shape) < effect.get("keeps the number", 0.0)
    turned[0] = np.where(kept, ascending[0], turned[0])
    frames = [_frame(ascending).assign(direction="ascending"), _frame(turned).assign(direction="reversed")]
    return Ratings.of(_lost(pd.concat(frames, ignore_index=True), sizes, rng), scales=Numeric(sizes.low, sizes.high))


def simulated_twins(
    sizes: Sizes, effect: Mapping[str, float], rng: np.random.Generator, replies: np.random.Generator | None = None
) -> Ratings:
    """A text beside itself made longer, in both orders; a judge without the fault takes either as often. `replies`: as
    of `simulated_scores`."""
    import pandas as pd

    from recuse.ratings import Ratings
    from recuse.ratings.pairwise import CHOICES

    rng, shape = replies or rng, (sizes.judges, sizes.pairs, 2)  # order ab, ba; b is the longer
    first = rng.random(shape) < 0.5
    longer_first = np.broadcast_to(np.array([False, True]), shape[1:])
    first[0] = np.where(rng.random(shape[1:]) < effect.get("longer", 0.0), longer_first, first[0])
    j, p, o = (axis.ravel() for axis in np.indices(shape))
    frame = pd.DataFrame({
        "rater": np.char.add("judge-", j.astype(str)), "item": np.char.add("pair-", p.astype(str)),
        "criterion": "winner", "order": np.array(["ab", "ba"])[o],
        "response": np.where(first.ravel(), "first", "second").astype(object),
    })  # fmt: skip
    frame.loc[rng.random(len(frame)) < sizes.losses, "response"] = None
    texts = pd.DataFrame({
        "item": np.char.add("pair-", np.arange(sizes.pairs).astype(str)), "a": "plain", "b": "padded", "words_a": 50,
        "words_b": 100,
    })  # fmt: skip
    return Ratings.of(frame, scales={"winner": CHOICES}, texts=texts)


def simulated_attacks(
    sizes: Sizes, effect: Mapping[str, float], rng: np.random.Generator, replies: np.random.Generator | None = None
) -> Ratings:
    """One text per item, clean and with an order to the judge in it, a payload of its own in each. `replies`: as of
    `simulated_scores`."""
    import pandas as pd

    from recuse.ratings import Numeric, Ratings

    scale, seen = Numeric(sizes.low, sizes.high), _seen(sizes, rng)
    rng = replies or rng
    clean, attacked = (_answers(sizes, seen, rng) for _ in range(2))
    attacked[0][rng.random(sizes.items) < effect.get("obeys", 0.0)] = sizes.high
    attacks = pd.DataFrame({"item": [f"attack-{i}" for i in range(sizes.items)], "target": "",
                         "clean": [f"item-{i}" for i in range(sizes.items)]})  # fmt: skip
    beside = {"scores": Ratings.of(_lost(_frame(clean), sizes, rng), scales=scale)}
    frame = _lost(_frame(attacked, "attack-"), sizes, rng)
    return Ratings.of(frame, scales=scale, texts=attacks, beside=beside.get)


def _seen(sizes: Sizes, rng: np.random.Generator) -> Floats:
    """What each judge thinks of each text, (judges, items), in points."""
    worth = rng.normal(0, WORTH, sizes.items) + rng.normal(0, sizes.spread, (sizes.judges, sizes.items))
    scores: Floats = (sizes.low + sizes.high) / 2 + sizes.span * worth
    return scores


def _answers(sizes: Sizes, seen: Floats, rng: np.random.Generator) -> Floats:
    """(judges, items, repeats), on the scale."""
    scores = seen[..., None] + sizes.noise * sizes.span * rng.normal(0, 1, (*seen.shape, sizes.repeats))
    steps = np.round((scores - sizes.low) / sizes.step) * sizes.step + sizes.low if sizes.step else scores
    answers: Floats = np.clip(steps, sizes.low, sizes.high)
    return answers


def _frame(scores: Floats, called: str = "item-") -> pd.DataFrame:
    import pandas as pd

    j, i, r = (axis.ravel() for axis in np.indices(scores.shape))
    return pd.DataFrame({"rater": np.char.add("judge-", j.astype(str)), "item": np.char.add(called, i.astype(str)),
                         "repeat": r, "score": scores.ravel()})  # fmt: skip


def _lost(frame: pd.DataFrame, sizes: Sizes, rng: np.random.Generator) -> pd.DataFrame:
    return frame.assign(score=frame["score"].mask(rng.random(len(frame)) < sizes.losses))
