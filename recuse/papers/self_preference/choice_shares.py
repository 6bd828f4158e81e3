"""How often a judge picks the text shown first, and how often neither (thesis on bias in LLM self-evaluation,
sec. 2.1); `recuse.metrics.position` has what is gated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recuse.metrics.estimates import add_losses, estimated, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.position import NO_PAIR, SHARE_ENDS, Pairs, pairs_by_judge
from recuse.ratings import Ratings
from recuse.ratings.pair_array import PAIRED, repeated_over, verdicts_of
from recuse.schema import Estimate
from recuse.statistics.clusters import SHARE, clustered_share

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
    verdicts. Where no pair was asked in both orders, over all decided verdicts, and the note says what that assumes.
    Undefined where all are ties, and where all stood in one order. The two verdicts of a pair hang together, which the
    interval over clusters allows for.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "x", "item": "1", "order": ["ab", "ba"], "response": ["first", "first"]})
    >>> first_pick_share(Ratings.of(frame, texts=pd.DataFrame({"item": ["1"], "a": "s", "b": "t"}))).of(judge="x").value
    1.0
    """
    over = repeated_over(part)
    for judge, of_judge in pairs_by_judge(part).items():
        both = of_judge.complete
        by_lot = not both.any() and bool(np.isfinite(of_judge.ab).any() and np.isfinite(of_judge.ba).any())
        kept = of_judge[np.isfinite(of_judge.won) if by_lot else both]
        lost = len(of_judge) - len(kept)
        estimate = _first_picks(kept, lost, over)
        yield judge, estimate if by_lot else add_losses(estimate, of_judge.lost_by_order(), SHARE_ENDS, lost)


def _first_picks(pairs: Pairs, lost: int, over: dict[str, Any]) -> Estimate:
    if not len(pairs):
        return undefined("first_pick_share", NO_PAIR, n_excluded=lost, method=SHARE, **over)
    picks = np.concatenate([pairs.ab, pairs.ba])
    groups = np.concatenate([pairs.group, pairs.group])
    note = ONE_ORDER if np.isnan(picks).any() else ""
    picks, groups = picks[np.isfinite(picks)], groups[np.isfinite(picks)]
    decided = picks != 0.5
    detail = {"first": int((picks == 1).sum()), "second": int((picks == 0).sum()), "ties": int((~decided).sum())}
    if not decided.any():
        why = "every verdict is a tie"
        return undefined("first_pick_share", why, n_excluded=lost, method=SHARE, detail=detail, **over)
    distribution = clustered_share(picks[decided], groups[decided])
    return estimated(
        "first_pick_share", float(picks[decided].mean()), distribution, n=int(decided.sum()), span=1.0, note=note,
        n_clusters=len(np.unique(groups[decided])), n_excluded=lost, unit="share", method=SHARE, detail=detail, **over,
    )  # fmt: skip


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
        lost, ties = len(of_judge) - len(usable), (usable["slot"] == 0.5).to_numpy()
        groups = usable["group"].to_numpy()
        if not len(usable):
            yield judge, undefined("tie_share", "no verdict was usable", n_excluded=lost, method=SHARE, **over)
            continue
        yield judge, estimated(
            "tie_share", float(ties.mean()), clustered_share(ties, groups), n=len(groups), n_excluded=lost,
            n_clusters=len(np.unique(groups)), unit="share", span=1.0, method=SHARE, **over,
        )  # fmt: skip
