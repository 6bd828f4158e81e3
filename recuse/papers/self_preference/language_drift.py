"""Language drift: words of another script in a text, for no reason that others saw.

A model now and then slips into another language in the middle of a text (the thesis on bias in LLM self-evaluation,
sec. 3.3, note 9, saw a word of Chinese in an English lead). What a text may hold follows from the others: a letter of a
script that no other text on the same item has. A slip into a language of the same script is not found.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import SHARE, clustered_share

__all__ = ["language_drift", "scripts"]


@measure(
    "language_drift", "words of another script", unit="share", rank=1030,
    reading="Share of an author's texts that hold a letter of a script that no other text on the item has.",
)  # fmt: skip
def language_drift(ratings: Ratings) -> Estimates:
    """By target, over its texts on items with another author's text. Detail: `items` where it drifted, with the
    scripts. Clopper-Pearson interval. Undefined without texts, and where no other author wrote on its items.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "j", "item": "i", "target": ["a", "b"], "score": 3.0})
    >>> said = ["The \u043c\u043e\u0441\u0442 opened.", "A bridge."]
    >>> texts = pd.DataFrame({"item": "i", "target": ["a", "b"], "text": said})
    >>> [language_drift(Ratings.of(frame, texts=texts)).of(target=name).value for name in "ab"]
    [1.0, 0.0]
    """
    texts = ratings.texts
    estimates: dict[tuple[str, ...], Estimate] = {}
    known: dict[str, dict[str, frozenset[str]]] = {}
    if texts is not None and "text" in texts:
        for item, target, text in texts[["item", "target", "text"]].dropna().itertuples(index=False):
            known.setdefault(str(item), {})[str(target)] = scripts(str(text))
    for target in ratings.targets:
        drifted: dict[str, list[str]] = {}
        compared = []
        for item, by_target in known.items():
            others = [estimates for name, estimates in by_target.items() if name != target]
            if target in by_target and others:
                compared.append(item)
                if extra := by_target[target] - frozenset().union(*others):
                    drifted[item] = sorted(extra)
        estimates[(target,)] = _share(compared, drifted)
    return Estimates(("target",), estimates)


@lru_cache(maxsize=4096)
def scripts(text: str) -> frozenset[str]:
    """The scripts of a text's letters, by the first word of their Unicode names: LATIN, CYRILLIC, CJK, ..."""
    letters = {char for char in text if char.isalpha()}
    return frozenset(unicodedata.name(char, "UNKNOWN").split()[0].split("-")[0] for char in letters)


def _share(compared: list[str], drifted: dict[str, list[str]]) -> Estimate:
    about: dict[str, Any] = {
        "over": "items", "unit": "share", "span": 1.0, "method": SHARE, "detail": {"items": drifted},
    }  # fmt: skip
    if not compared:
        why = "no item has the words of this author's text and of another's"
        return undefined("language_drift", why, **about)
    hits = np.array([item in drifted for item in compared])
    share = clustered_share(hits, np.arange(len(hits)))
    return estimated("language_drift", float(hits.mean()), share, n=len(hits), **about)
