"""What the source of a panel fixes, and what a question's numbers rest on.

Replies that were drawn to carry a study's printed statistics carry nothing else of it: which scores go together is the
invention of whoever drew them, unless the study says so. A panel file declares what its source fixes (`source_fixes`), a
question what its numbers rest on (`pytest.mark.asks(..., rests_on="cells")`, "pairs" unless it says otherwise), and a
question that rests on more than the source fixes is not asked of that panel.

| fixed | what is known | what may be concluded |
|---|---|---|
| margins | totals of a judge over texts: what it gave its own, received for it, gave to others; a statistic as printed | these totals and what was printed of them (mean, SD, n, t); nothing of a single author or text |
| cells | mean and spread over repeats of what each judge gave each text | whatever follows from these: deviations from peers and people, over texts or over repeats; nothing of a single reply |
| pairs | the single replies | everything: what goes together within a reply, over texts, between judges and conditions |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from recuse.schema import RecuseError, SourceFixes

__all__ = ["LEVELS", "UNLOCK", "check_level", "unfixed"]

LEVELS: tuple[SourceFixes, ...] = get_args(SourceFixes)
"""The least first; each includes those before it."""

UNLOCK: Mapping[str, str] = {
    "cells": "give each judge's score of each text: totals over texts or authors do not contain them",
    "pairs": "give each judge's single replies: published statistics do not say which scores belong to one reply",
}


def unfixed(fixes: SourceFixes, rests_on: SourceFixes) -> tuple[SourceFixes, ...]:
    """What a question rests on where the source does not fix it; empty where it does.

    >>> unfixed("cells", "margins"), unfixed("cells", "pairs")
    ((), ('pairs',))
    """
    return () if LEVELS.index(rests_on) <= LEVELS.index(fixes) else (rests_on,)


def check_level(rests_on: object, place: str) -> SourceFixes:
    """`RecuseError` for a word that is no level, naming the place and the levels."""
    for level in LEVELS:
        if rests_on == level:
            return level
    raise RecuseError(f"{place}: rests_on is one of {', '.join(LEVELS)}; got {rests_on!r}")
