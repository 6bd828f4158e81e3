"""Disagreements by kind, as the start of mending a judge: which criterion, which way, on which slice of texts.

A slice (system, topic, language) is named where a judge disagrees in this way more often on it than elsewhere, by
Fisher's exact test on the texts that judge and people both answered, one-sided, Bonferroni over all slices and kinds of
a judge: where no slice matters, one is named in at most one file of 20.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from recuse.check.disagreements import disagreements
from recuse.ratings.answers import COMPARED, answers_of
from recuse.ratings.text_slices import FEWEST, slices_of
from recuse.schema.arrays import Mask
from recuse.schema.number_text import fixed

if TYPE_CHECKING:
    from recuse.readers import FileRatings

SHOWN, EXAMPLES = 4, 3
SURE = 0.05


def kinds_of_disagreement(read: FileRatings) -> Iterator[str]:
    """Per judge a line, then one per kind, the commonest first: how many, on which slice, and the first items."""
    ratings, rows = read.ratings, disagreements(read)
    for judge in ratings.judges:
        for names, part in ratings.each(*COMPARED):
            answers = answers_of(part, ratings)
            if judge not in answers.judges:
                continue
            k = answers.judges.index(judge)
            both = np.isfinite(answers.judged[k]).any(axis=1) & (answers.raters > 0)
            mine = rows[rows["judge"].eq(judge) & rows["criterion"].eq(part.criterion)]
            for name in ratings.factors:
                mine = mine[mine[name].isin(part.levels(name))]
            kinds = mine["kind"].value_counts()
            if kinds.empty:
                continue
            where = ", ".join((judge, *names))
            yield f"{where} disagrees on {len(mine)} of {int(both.sum())} texts that people rated:"
            texts = {text: u for u, text in enumerate(zip(answers.items, answers.targets, strict=True))}
            slices = slices_of(answers)[0]
            slices = {
                name: there
                for name, there in slices.items()
                if min((there & both).sum(), (~there & both).sum()) >= FEWEST
            }
            for kind, count in zip(map(str, kinds.index[:SHOWN]), kinds, strict=False):
                of_kind = mine[mine["kind"].eq(kind)]
                hit = np.zeros(len(both), dtype=bool)
                places = zip(of_kind["item"].astype(str), of_kind["target"].astype(str), strict=True)
                hit[[texts[text] for text in places if text in texts]] = True
                p, (column, level) = min(
                    ((_p_value(hit, there, both), name) for name, there in slices.items()), default=(1.0, ("", ""))
                )
                shown = ", ".join(of_kind["item"].astype(str).head(EXAMPLES))
                line = f"  {count} {kind} (such as {shown})"
                if slices and p * len(slices) * len(kinds) < SURE:
                    there = slices[column, level]
                    inside, outside = (float(hit[side & both].mean()) for side in (there, ~there))
                    called = "system" if column == "target" else column
                    line += f"; on {called} {level} {fixed(inside)} of the texts, elsewhere {fixed(outside)}"
                yield line
            if len(kinds) > SHOWN:
                yield f"  and {len(kinds) - SHOWN} kinds more, in the column kind"


def _p_value(hit: Mask, there: Mask, both: Mask) -> float:
    table = [[(hit & side & both).sum(), (~hit & side & both).sum()] for side in (there, ~there)]
    return float(stats.fisher_exact(np.array(table), alternative="greater").pvalue)
