"""How often a judge picks the text shown first, and how often neither (thesis on bias in LLM self-evaluation,
sec. 2.1); `recuse.metrics.position` has what is gated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recuse.metrics.estimates import add_losses, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.position import NO_PAIR, SHARE_ENDS, Pairs, pairs_by_judge
from recuse.papers.self_preference.over_texts import share_estimate
from recuse.ratings import Ratings
from recuse.ratings.pair_array import PAIRED, repeated_over, verdicts_of
from recuse.schema import Estimate
from recuse.statistics.clusters import SHARE

ONE_ORDER = "every pair was shown in one order only: this counts on the order having been drawn by lot"


@measure(
    "first_pick_share", "first picks", unit="share",
    above="favours what stands first|favour what stands first",
    below="favours what stands second|favour what stands second",
    reading="Share of decided choices that fall on the text shown first; 0.5 without a preference.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def first_pick_share(part: Ratings) -> Iterator[Named]:
    """Share of verdicts for the first slot among those that name a winner, by judge; 0.5 without a preference.

    Over pairs with both verdicts usable, so that each text stood first as often as second; n counts the decided
    verdicts. Where no pair was asked in both orders, but the same two systems met in either, over all decided verdicts,
    and the note says what that assumes. Undefined where all are ties, and where no two systems met in both orders. The
    two verdicts of a pair hang together, which the interval over clusters allows for.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "x", "item": "1", "order": ["ab", "ba"], "response": ["first", "first"]})
    >>> first_pick_share(Ratings.of(frame, texts=pd.DataFrame({"item": ["1"], "a": "s", "b": "t"}))).of(judge="x").value
    1.0
    """
    over, verdicts = repeated_over(part), verdicts_of(part)
    in_either_order = (verdicts.groupby(["rater", "a", "b"])["order"].nunique() > 1).groupby("rater").any()
    for judge, of_judge in pairs_by_judge(part).items():
        both = of_judge.complete
        by_lot = not both.any() and bool(in_either_order.get(judge))
        kept = of_judge[np.isfinite(of_judge.won) if by_lot else both]
        lost = len(of_judge) - len(kept)
        estimate = _first_picks(kept, lost, over)
        yield judge, estimate if by_lot else add_losses(estimate, of_judge.lost_by_order(), SHARE_ENDS, lost)


def _first_picks(pairs: Pairs, lost: int, over: dict[str, Any]) -> Estimate:
    facts: dict[str, Any] = {"n_excluded": lost, "method": SHARE, **over}
    if not len(pairs):
        return undefined("first_pick_share", NO_PAIR, **facts)
    picks, groups = np.concatenate([pairs.ab, pairs.ba]), np.concatenate([pairs.group, pairs.group])
    there = np.isfinite(picks)
    note = "" if there.all() else ONE_ORDER
    picks, groups = picks[there], groups[there]
    decided = picks != 0.5
    facts["detail"] = {
        "first": int((picks == 1).sum()), "second": int((picks == 0).sum()), "ties": int((~decided).sum())
    }  # fmt: skip
    if not decided.any():
        return undefined("first_pick_share", "every verdict is a tie", **facts)
    return share_estimate("first_pick_share", picks[decided], groups[decided], "", note=note, **facts)


@measure("tie_share", "ties", unit="share", reading="Share of choices that name neither text.")
@per_subject("judge", itself, *PAIRED)
def tie_share(part: Ratings) -> Iterator[Named]:
    """Share of usable verdicts that are ties, by judge, over all orders and labels.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "x", "item": ["1", "2"], "response": ["first", "tie"]})
    >>> tie_share(Ratings.of(frame, texts=pd.DataFrame({"item": ["1", "2"], "a": "s", "b": "t"}))).of(judge="x").value
    0.5
    """
    verdicts, over = verdicts_of(part), repeated_over(part)
    verdicts = verdicts.assign(group=verdicts["cluster"].factorize()[0])
    for judge in part.judges:
        of_judge = verdicts[verdicts["rater"] == judge]
        usable = of_judge[of_judge["slot"].notna()]
        facts: dict[str, Any] = {"n_excluded": len(of_judge) - len(usable), **over}
        if usable.empty:
            yield judge, undefined("tie_share", "no verdict was usable", method=SHARE, **facts)
        else:
            yield judge, share_estimate("tie_share", usable["slot"] == 0.5, usable["group"], "", **facts)
