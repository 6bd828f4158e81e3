"""Slices: what texts can be grouped by, such as system, topic or language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.label_groups import GROUP
from recuse.schema import RecuseError

if TYPE_CHECKING:
    from recuse.ratings.ratings import Ratings

Slices = dict[tuple[str, str], NDArray[np.bool_]]
FEWEST = 20
"""Texts within a slice, and outside it, below which it is not looked at: t cannot be trusted far out in its tails."""
MOST = 30
FACTS = frozenset(
    ["item", "cluster", "text", "words", "a", "b", "words_a", "words_b", "payload", "clean", "attacked", "gold", GROUP]
)


def slices_of(answers: Answers, columns: tuple[str, ...] | None = None) -> tuple[Slices, int]:
    """(column, level) -> which texts, (U,), and how many columns were looked at."""
    import pandas as pd

    targets = np.asarray(answers.targets, object)
    facts: dict[str, Any] = {"target": targets}
    known = None if answers.part is None else answers.part.texts
    if known is not None:
        texts = known.assign(item=known["item"].astype(str))
        keys = ["item", "target"] if "target" in texts else ["item"]
        texts = texts.drop_duplicates(keys).assign(**{name: texts[name].astype(str) for name in keys}).set_index(keys)
        items = np.asarray(answers.items, object)
        wanted = pd.MultiIndex.from_arrays([items, targets]) if len(keys) == 2 else pd.Index(items)
        for name in texts.columns:
            if name not in FACTS or name in (columns or ()):
                facts[str(name)] = pd.Series(texts[name].reindex(wanted).to_numpy())
    if unknown := [name for name in columns or () if name not in facts]:
        raise RecuseError(
            f"the texts have no column {', '.join(unknown)} to slice by; they have {', '.join(map(str, facts))}"
        )
    slices: Slices = {}
    looked = 0
    for name in columns or facts:
        level_of, levels = pd.factorize(facts[name])
        if 1 < len(levels) <= MOST:
            looked += 1
            slices |= {(name, str(level)): level_of == k for k, level in enumerate(levels)}
    return slices, looked


def have_slices(ratings: Ratings) -> bool:
    """Whether judges and people both rated enough texts of some slice, and enough outside it."""
    if not ratings.persons:
        return False
    for _, part in ratings.each(*COMPARED):
        answers = answers_of(part, ratings)
        there = (answers.raters > 0) & answers.requested.any(axis=0)
        if any(min((s & there).sum(), (~s & there).sum()) >= FEWEST for s in slices_of(answers)[0].values()):
            return True
    return False
