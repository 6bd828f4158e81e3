"""Which rules of its task does what a model wrote keep?

Ratings of a generating protocol carry one row per text and rule: criterion "rule: <name>", response "kept" or what
breaks it. Merchant-risk paper, sec. 2.1: five dimensions, three codes per level, no figures, no jargon.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.metrics.estimates import estimated
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import clustered_share

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rules_kept"]

RULE, KEPT, RATIONALE = "rule: ", "kept", "rationale"
LONGEST = 400
METHOD = "share of texts, Clopper-Pearson interval"
SHOWN = 5


@measure(
    "rules_kept", "rules kept", unit="share", bad="below", rank=295,
    below="writes what the task forbids|write what the task forbids",
    reading="Share of a model's texts that keep a rule of the task. Rules are checked by words: they find a mention, "
    "not its sense.",
)  # fmt: skip
def rules_kept(ratings: Ratings) -> Estimates:
    """Share of texts that keep a rule, by judge (who wrote them) and rule; `all` is the share that keeps every one.

    Detail: `breaches`, the commonest ways to break it as [what, times], most frequent first, at most five; of `all`,
    `texts`, the first few as [item, words, what they break]. Interval over texts as if they were independent. Empty
    where no rules were checked.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "a", "item": ["i", "j"], "criterion": "rule: length",
    ...                       "response": ["kept", "has 90 words"]})
    >>> rules_kept(Ratings.of(frame)).of(judge="a", rule="length").value
    0.5
    """
    table = ratings.table
    rows = table[table["criterion"].str.startswith(RULE) & table["response"].notna()]
    estimates: dict[tuple[str, ...], Estimate] = {}
    for judge, mine in rows.groupby("rater", sort=False, observed=True):
        for rule, of in mine.groupby("criterion", sort=False, observed=True):
            kept = (of["response"] == KEPT).to_numpy()
            broken = Counter(of.loc[~kept, "response"].astype(str)).most_common(SHOWN)
            estimates[str(judge), str(rule).removeprefix(RULE)] = _share(kept, {"breaches": [list(b) for b in broken]})
        text = mine.assign(kept=mine["response"] == KEPT).groupby(["item", "target", "repeat"], observed=True)["kept"]
        estimates[str(judge), "all"] = _share(text.all().to_numpy(), {"texts": _first(table, str(judge), mine)})
    return Estimates(("judge", "rule"), estimates)


def _first(table: pd.DataFrame, judge: str, rules: pd.DataFrame) -> list[list[Any]]:
    """The first texts that a model wrote, with what each breaks."""
    texts = table[(table["rater"] == judge) & (table["criterion"] == RATIONALE) & table["response"].notna()]
    broken = rules[rules["response"] != KEPT]
    return [
        [str(item), str(words)[:LONGEST], [str(why) for why in broken.loc[broken["item"] == item, "response"]]]
        for item, words in zip(texts["item"].head(SHOWN), texts["response"].head(SHOWN), strict=True)
    ]


def _share(kept: Any, detail: dict[str, Any]) -> Estimate:
    distribution = clustered_share(kept, np.arange(len(kept)))
    return estimated(
        "rules_kept", float(kept.mean()), distribution, n=len(kept), unit="share", method=METHOD, detail=detail
    )
