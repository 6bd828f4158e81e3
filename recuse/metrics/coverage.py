"""Coverage: which share of a judge's calls gave an answer that can be used. Nothing unusable is ever imputed, so every
other number rests on what is counted here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from recuse.metrics.estimates import estimated
from recuse.metrics.measure import measure
from recuse.ratings import COLUMNS, Ratings
from recuse.schema import STATUSES, Estimate, Estimates
from recuse.statistics.distributions import Binomial

if TYPE_CHECKING:
    import pandas as pd

ENFORCED = "a grammar of the server lets no other form through"
METHOD = "share of calls, Clopper-Pearson interval"


@measure(
    "parse_rate", "usable replies", unit="share", rank=0,
    below="often gives no usable answer|often give no usable answer",
    reading="Share of calls whose reply could be used as it stands.",
)  # fmt: skip
def parse_rate(ratings: Ratings, criteria: tuple[str, ...] | None = None) -> Estimates:
    """Share of calls in which every wanted criterion has a usable answer, by judge.

    `criteria` defaults to all that the table holds. A call is one request and one repeat, however many criteria or
    items its reply answers (a generation's picks share a call); one row that is not ok makes it unusable. Detail:
    `calls`, `usable`, and `by_status`, where an unusable call counts under its first failure, "unparsed" if a wanted
    criterion has no row at all. People are left out. Where a server enforces the
    form by a grammar (`Ratings.enforced`) a note says so: the share then says nothing of the judge.

    Clopper and Pearson's interval is exact for calls that fail independently at one rate, and wide where rates differ
    between targets.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "a", "item": ["i", "j"], "score": [3.0, None]})
    >>> parse_rate(Ratings.of(frame)).of(judge="a").value
    0.5
    """

    table = ratings.table
    rows = table[table["kind"] == "judge"]
    wanted = list(rows["criterion"].unique()) if criteria is None else list(criteria)
    counted = rows["criterion"].isin(wanted)
    named = rows["request"].fillna("").astype(str)
    rows = rows.assign(
        call=named.where(named != "", rows["item"]),
        failure=rows["status"].where(counted & (rows["status"] != "ok")),
        answered=rows["criterion"].where(counted),
    )
    factors = [column for column in table.columns if column not in COLUMNS]
    keys = ["rater", "task", "protocol", "target", "call", "repeat", *factors]
    calls = rows.groupby(keys, sort=False, dropna=False)
    calls_read = calls.agg(failure=("failure", "first"), answered=("answered", "nunique")).reset_index()
    return Estimates(("judge",), {
        (judge,): replace(rate, note=ENFORCED if judge in ratings.enforced else "")
        for (judge,), rate in _rates(calls_read, wanted).items()
    })  # fmt: skip


def _rates(calls: pd.DataFrame, wanted: Iterable[str]) -> dict[tuple[str, ...], Estimate]:
    import pandas as pd

    complete = pd.Series("ok", index=calls.index).where(calls["answered"] == len(set(wanted)), "unparsed")
    status = calls["failure"].where(calls["failure"].notna(), complete)
    return {(str(judge),): _rate(group) for judge, group in status.groupby(calls["rater"], sort=False)}


def _rate(status: pd.Series[str]) -> Estimate:
    calls, usable = len(status), int((status == "ok").sum())
    staged = sorted(set(status.unique()) - set(STATUSES))  # an earlier call of a chain failed: "rubric: unparsed"
    counts = {name: int((status == name).sum()) for name in (*STATUSES, *staged) if (status == name).any()}
    detail = {"calls": calls, "usable": usable, "by_status": counts}
    return estimated(
        "parse_rate", usable / calls, Binomial(usable, calls), n=calls, over="calls", unit="share", span=1.0,
        method=METHOD, detail=detail,
    )  # fmt: skip
