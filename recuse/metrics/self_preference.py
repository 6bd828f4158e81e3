"""Self-preference against peers: does a judge favour its own text beyond its leniency and how good the text is? Per
item, on the ascending scale,

    D = mean over peers k of [ (s_own - k_own) - mean over texts t that neither wrote of (s_t - k_t) ]

that is, the judge against one peer at a time, on its own text less on texts in which neither has a stake. Whatever adds
to a text (quality) or to a judge (leniency) cancels exactly, whichever cells are missing, and so does the peers' own
self-preference. What it cannot tell from self-preference is a taste for a style that is one's own, and a scale that
ends: a lenient judge that cannot score a good text above 5 looks harsh on it. It needs items with texts by several
targets; where every target has its own items, `recuse.metrics.consensus.self_preference` covers that design. The two
published tests, which leave quality and leniency in, are in `recuse.papers.self_preference.published_tests`. Where
people rated the texts, `recuse.metrics.human_alignment.own_favour` needs no peers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from recuse.metrics.estimates import PAIRED_MARGIN, add_losses, bounded_test, paired_estimate
from recuse.metrics.measure import measure
from recuse.ratings import RatingArray, Ratings, judges_array, mean_of
from recuse.schema import Estimate, Estimates, number
from recuse.schema.arrays import Floats
from recuse.statistics.multiplicity import holm
from recuse.statistics.paired import moments, significant

NESTED = (
    "every target has items of its own, so no item has texts to compare; consensus.self_preference compares over all "
    "texts"
)


@measure(
    "self_preference_controlled", "own text beyond leniency and quality", signed=True, rank=40,
    above="favours its own texts", below="marks its own texts down",
    reading="A judge against each peer on its own text, less the same on texts that neither of the two wrote.",
)  # fmt: skip
def self_preference_controlled(ratings: Ratings, margin: float = PAIRED_MARGIN) -> Estimates:
    """Mean of D, by judge and factor level: self-preference with quality and leniency taken out (see the module).

    Excluded are items on which no peer and no third text can be compared. Detail as `self_minus_received`, `p_holm` of
    these tests alone; `leniency` is the mean of D's second half, what the judge adds on texts in which it has no stake.
    Undefined where no text was written by neither of two judges, and where every target has items of its own. Fair
    judges are found significant more often than the level says where scores crowd at an end: gate it with a margin.

    >>> scores = example("judge target score", "x a 5; x b 3; y a 4; y b 4", authors={"x": "a"})
    >>> self_preference_controlled(scores).of(judge="x").value
    2.0
    """
    tested: dict[tuple[str, ...], tuple[float, Estimate]] = {}
    for names, part in ratings.each():
        array = judges_array(part)
        for judge in ratings.own():
            tested[judge, *names] = _controlled(part, array, judge, margin * part.scale.span)
    adjusted = holm(np.array([p for p, _ in tested.values()], dtype=float))
    family = int(np.isfinite(adjusted).sum())
    return Estimates(("judge", *ratings.within()), {
        subject: replace(estimate, detail={**estimate.detail, "p_holm": significant(p), "family": family})
        for (subject, (_, estimate)), p in zip(tested.items(), adjusted, strict=True)
    })  # fmt: skip


def _controlled(part: Ratings, array: RatingArray, judge: str, margin: float) -> tuple[float, Estimate]:
    """The p-value of one judge's test, and its estimate."""
    place = own_place(array, part.authors, judge)
    on_own, elsewhere = contrast(array, *place, part.authors) if place else np.full((2, len(array.items)), np.nan)
    usable, test = np.isfinite(on_own - elsewhere), bounded_test(on_own - elsewhere, array)
    third = (
        "no item has a peer's score of its own text and of one that neither wrote; that takes a third judge or target"
    )
    estimate = paired_estimate(
        "self_preference_controlled", test, part, excluded=int((~usable).sum()),
        why=missing_text(array, judge) if place is None else NESTED if array.nested else third,
        detail={**test.detail(margin), "leniency": number(moments(elsewhere[usable])[0])},
    )  # fmt: skip
    if place is None:
        return test.p, estimate
    requested, own = array.requested[place[0]], np.arange(len(array.targets)) == place[1]
    lost, far = requested & (array.counts[place[0]] == 0), 2 * part.scale.span
    sides = {
        name: (int(lost[:, side].sum()), int(requested[:, side].sum()))
        for name, side in (("own", own), ("others'", ~own))
    }
    return test.p, add_losses(estimate, sides, (-far, far), int((~usable & lost.any(axis=1)).sum()))


def own_place(array: RatingArray, authors: Mapping[str, str], judge: str) -> tuple[int, int] | None:
    """Row of the judge and column of its own target; None where either is not in the array."""
    if judge not in array.raters or authors.get(judge) not in array.targets:
        return None
    return array.row(judge), array.column(authors[judge])


def missing_text(array: RatingArray, judge: str) -> str:
    """Why `own_place` is None."""
    return "none of its own texts was judged" if judge in array.raters else "it was not asked here"


def contrast(array: RatingArray, row: int, column: int, authors: Mapping[str, str]) -> tuple[Floats, Floats]:
    """D's two halves per item, each of shape (I,): the judge less its peers on its own text (`column`), and on texts
    that neither the judge nor the peer wrote. Averaged over the peers that have both."""
    less = array.means[row][None] - array.means
    neither = np.ones((len(array.raters), len(array.targets)), dtype=bool)
    neither[:, column] = False
    for peer, own in enumerate(array.columns(authors)):
        if own is not None:
            neither[peer, own] = False
    third = mean_of(np.where(neither[:, None, :], less, np.nan), axis=2)
    on_own = less[:, :, column]
    both = np.isfinite(on_own) & np.isfinite(third)
    both[row] = False
    return mean_of(np.where(both, on_own, np.nan), axis=0), mean_of(np.where(both, third, np.nan), axis=0)
