"""Coverage: which share of a judge's calls gave an answer that can be used. Nothing unusable is ever imputed, so every
other number rests on what is counted here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recuse.metrics.estimates import estimated, require_columns
from recuse.schema import RATING_COLUMNS, STATUSES, Estimate, Estimates
from recuse.statistics.distributions import Binomial

if TYPE_CHECKING:
    import pandas as pd

METHOD = "share of calls, Clopper-Pearson interval"


def parse_rate(ratings: pd.DataFrame, criteria: Iterable[str] | None = None) -> Estimates:
    """Share of calls in which every wanted criterion has a usable answer, by (judge,).

    `criteria` defaults to all that the table holds. A call is one request and one repeat, however many criteria or
    items its reply answers (a generation's picks share a call); one row that is not ok makes it unusable. Detail:
    `calls`, `usable`, and `by_status`, where an unusable call counts under its first failure, "unparsed" if a wanted
    criterion has no row at all. People are left out.

    Clopper and Pearson's interval is exact for calls that fail independently at one rate, and wide where rates differ
    between targets.
    """
    import pandas as pd

    require_columns(ratings, *RATING_COLUMNS)
    rows = ratings[~ratings["judge"].astype(str).str.startswith("human:")]
    wanted = list(dict.fromkeys(rows["criterion"])) if criteria is None else list(criteria)
    asked = rows["criterion"].isin(wanted)
    rows = rows.assign(
        call=rows["request"].where(rows["request"].notna(), rows["item"]),
        failure=rows["status"].where(asked & (rows["status"] != "ok")),
        answered=rows["criterion"].where(asked),
    )
    factors = [column for column in ratings.columns if column not in RATING_COLUMNS]
    calls = rows.groupby(["judge", "task", "protocol", "target", "call", "repeat", *factors], sort=False, dropna=False)
    found = calls.agg(failure=("failure", "first"), answered=("answered", "nunique")).reset_index()
    complete = pd.Series("ok", index=found.index).where(found["answered"] == len(set(wanted)), "unparsed")
    status = found["failure"].where(found["failure"].notna(), complete)
    return Estimates(
        ("judge",), {(judge,): _rate(group) for judge, group in status.groupby(found["judge"], sort=False)}
    )


def _rate(status: pd.Series[str]) -> Estimate:
    calls, usable = len(status), int((status == "ok").sum())
    counts = {name: int((status == name).sum()) for name in STATUSES if (status == name).any()}
    detail = {"calls": calls, "usable": usable, "by_status": counts}
    law = Binomial(usable, calls)
    return estimated(
        "parse_rate", usable / calls, law, n=calls, over="calls", unit="share", method=METHOD, detail=detail
    )
