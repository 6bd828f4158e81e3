"""Predictability: is a judge's own text easy for it to predict, and does it pay for what is easy to predict?

One suspected cause of self-preference is that a judge likes text of low perplexity, and its own is that (thesis on bias
in LLM self-evaluation, sec. 2.4, after Wataoka et al. 2024, arXiv:2410.21819). Both halves can be seen where the
judges' log-probabilities of the graded texts were recorded. With

    q_jit = log2 p_j(text of story i by author t) / its characters

`own_predictability` asks whether q is higher on the judge's own text, `grade_on_predictability` whether its grades
follow q. Per character, not per token: tokenizers differ, and with them what a token's surprise means.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.grids import POSITIVE, SCALE, Floats, Grid, Own, Scale, grids_of, mean_of
from recuse.metrics.self_preference import contrast
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.statistics.clusters import slope
from recuse.statistics.paired import METHOD, Paired, significant

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["grade_on_predictability", "own_predictability"]

SLOPE = "least squares with a level per story, jackknife over clusters, Student's t"


def own_predictability(likelihoods: pd.DataFrame, own: Own) -> Estimates:
    """How much easier its own text is for a judge than for its peers, beyond texts that neither wrote, by (judge,), in
    bits per character: the controlled contrast of `recuse.metrics.self_preference` on q, mean over clusters, paired t.

    `likelihoods` are ratings of protocol `text_perplexity`. Above 0: its own text is the easier for it. Detail: the
    judge's bits per character on its `own` texts and on `others`', on the same stories, and p.
    """
    grid = _predictabilities(likelihoods)
    found = {judge: _own(grid, row, column, own) for judge, row, column in grid.authors(own)}
    return Estimates(("judge",), {(judge,): estimate for judge, estimate in found.items()})


def grade_on_predictability(
    ratings: pd.DataFrame, likelihoods: pd.DataFrame, *, framing: str = POSITIVE, scale: Scale = SCALE
) -> Estimates:
    """Points a judge adds per bit per character that a text is easier for it than for its peers, by (judge,):

        s_jit - peers' mean of s_it = story_i + beta (q_jit - peers' mean of q_it) + error

    on the positive scale, over texts with all four terms. Quality that the peers see cancels on the left, what makes a
    text easy for everyone on the right. Detail `raw`: the judge's own grades on its own q. Undefined without peers, and
    where q differs from theirs by the same on every text.
    """
    grades = grids_of(ratings, scale).get(framing)
    if grades is None:
        raise RecuseError(f"no ratings under framing {framing}")
    texts = _predictabilities(likelihoods)
    scores = grades.scores_on(texts.axes)
    return Estimates(("judge",), {(judge,): _slope(texts, scores, row) for row, judge in enumerate(texts.judges)})


def _predictabilities(likelihoods: pd.DataFrame) -> Grid:
    grid = grids_of(likelihoods, (0.0, math.inf), criterion="bits_per_character")[POSITIVE]
    return replace(grid, scores=-grid.scores)


def _own(grid: Grid, row: int, column: int, own: Own) -> Estimate:
    metric, unit = "own_predictability", "bits per character"
    half, elsewhere = contrast(grid, row, column, own)
    differences = half - elsewhere
    usable = np.isfinite(differences)
    test, lost = Paired.of(differences[usable]), int((~usable).sum())
    if not test.n:
        why = "no story has its likelihood and a peer's on its own text and on a text that neither wrote"
        return undefined(metric, why, n_excluded=lost, over="items", unit=unit, method=METHOD)
    mine = grid.scores[usable, row, :]
    others = mean_of(np.delete(mine, column, axis=1), axis=1)
    own_bits, others_bits = (number(-mean_of(part, axis=0).item()) for part in (mine[:, column], others))
    return estimated(
        metric, test.mean, test.law, n=test.n, n_excluded=lost, over="items", unit=unit, method=METHOD,
        detail={"own": own_bits, "others": others_bits, "p": significant(test.p)},
    )  # fmt: skip


def _slope(texts: Grid, scores: Floats, row: int) -> Estimate:
    metric, unit = "grade_on_predictability", "points per bit"
    terms = [part[:, row, :] for part in (scores, texts.scores)]
    peers = [mean_of(np.delete(part, row, axis=1), axis=1) for part in (scores, texts.scores)]
    usable = np.isfinite(terms + peers).all(axis=0)
    story = np.nonzero(usable)[0]
    beyond, raw = (
        slope((terms[0] - less[0])[usable], (terms[1] - less[1])[usable], story) for less in (peers, (0.0, 0.0))
    )
    n, lost, detail = int(usable.sum()), int((texts.asked[:, row, :] & ~usable).sum()), {"raw": number(raw.value)}
    if math.isnan(beyond.value):
        why = "no peer has grade and likelihood of the same texts" if not n else "no text is easier for it than others"
        return undefined(metric, why, n=n, n_excluded=lost, over="clusters", unit=unit, method=SLOPE, detail=detail)
    return estimated(
        metric, beyond.value, beyond, n=n, n_clusters=len(np.unique(story)), n_excluded=lost, over="clusters",
        unit=unit, method=SLOPE, detail=detail,
    )  # fmt: skip
