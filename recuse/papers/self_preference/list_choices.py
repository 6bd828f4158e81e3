"""The best of a list: is it the one known to be best, and does it stay when the list is turned?

Listwise comparison, the choice of one among three texts or more (thesis on bias in LLM self-evaluation, sec. 1.2.2,
note 3), with the positional bias of sec. 2.1: every list is shown in several rotations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.criteria import TRUE
from recuse.schema import Estimate, Estimates
from recuse.statistics.bounded import BOUNDED, bounded_mean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["list_accuracy", "list_consistency"]


@measure(
    "list_accuracy", "finds the best of a list", unit="share", rank=402,
    below="seldom finds the best of a list|seldom find the best of a list",
    reading="Share of lists, over all rotations, of which a judge names the text that is known to be best.",
)  # fmt: skip
def list_accuracy(ratings: Ratings) -> Estimates:
    """Mean over lists of the share of its rotations in which the known best is named, by judge; interval over lists.
    Detail: `by_chance`, one over the length of the lists. Undefined where no list has a known best (texts:
    true_<criterion>, a target).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "j", "item": "i", "criterion": "best", "rotation": list("12"),
    ...                       "response": list("ab")})
    >>> texts = pd.DataFrame({"item": ["i"], "target": "a", "true_best": "a", "length": 3})
    >>> list_accuracy(Ratings.of(frame, factors=["rotation"], texts=texts)).of(judge="j").value
    0.5
    """
    texts, column = ratings.texts, f"{TRUE}{ratings.criterion}"
    known: dict[str, str] = {}
    if texts is not None and column in texts:
        known = {str(i): str(b) for i, b in texts[["item", column]].dropna().itertuples(index=False)}
    lengths = [] if texts is None or "length" not in texts else texts["length"].dropna().tolist()
    detail = {"by_chance": number(float(np.mean([1 / length for length in lengths]))) if lengths else None}
    return _by_judge("list_accuracy", ratings, lambda rows, item: (
        float((rows["response"] == known[item]).mean()) if item in known else np.nan
    ), "no list has a known best", detail)  # fmt: skip


@measure(
    "list_consistency", "same best however the list is turned", unit="share", rank=403,
    below="names another best when a list is turned|name another best when a list is turned",
    reading="Share of lists of which a judge names one and the same text in all rotations.",
)  # fmt: skip
def list_consistency(ratings: Ratings) -> Estimates:
    """By judge, over lists with two usable rotations or more; interval over lists.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "j", "item": list("iikk"), "rotation": list("1212"), "response": list("abaa")})
    >>> list_consistency(Ratings.of(frame, factors=["rotation"])).of(judge="j").value
    0.5
    """
    return _by_judge("list_consistency", ratings, lambda rows, item: (
        float(rows["response"].nunique() == 1) if len(rows) > 1 else np.nan
    ), "no list was shown in two rotations", {})  # fmt: skip


def _by_judge(metric: str, ratings: Ratings, value: Any, why: str, detail: dict[str, Any]) -> Estimates:
    table = ratings.table
    rows = table[(table["criterion"] == ratings.criterion) & (table["kind"] == "judge")]
    return Estimates(("judge",), {
        (judge,): _estimate(metric, rows[rows["rater"] == judge], value, why, detail) for judge in ratings.judges
    })  # fmt: skip


def _estimate(metric: str, rows: pd.DataFrame, value: Any, why: str, detail: dict[str, Any]) -> Estimate:
    usable = rows[rows["status"] == "ok"]
    values = np.array([value(part, str(item)) for item, part in usable.groupby("item", sort=False)], dtype=float)
    there = np.isfinite(values)
    about: dict[str, Any] = {
        "n_excluded": len(rows) - len(usable), "over": "items", "unit": "share", "span": 1.0, "method": BOUNDED,
        "detail": detail,
    }  # fmt: skip
    if not there.any():
        return undefined(metric, why, **about)
    kept = values[there]
    distribution = bounded_mean(kept, np.arange(len(kept)), (0.0, 1.0))
    return estimated(metric, float(kept.mean()), distribution, n=len(kept), **about)
