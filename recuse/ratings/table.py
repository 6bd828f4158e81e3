"""The ratings table: one row per judgement and criterion, judges and people alike, and its one check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recuse.schema import STATUSES, RatingsError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "JUDGE", "KINDS", "PERSON", "check_table", "completed"]

JUDGE, PERSON = KINDS = ("judge", "person")

COLUMNS = (
    "task",  # fixtures/tasks/<task>
    "protocol",  # how the judgement was elicited
    "rater",  # who judged
    "kind",  # "judge" or "person"
    "item",  # what was judged
    "target",  # whose output it was
    "criterion",  # on which criterion
    "repeat",  # which of the times the rater was asked, from 0
    "score",  # a number on the criterion's scale; missing unless status is "ok"
    "response",  # an option ("first", "pass", ...); missing where a score applies
    "status",  # one of STATUSES; "<stage>: <status>" where an earlier call of a chain failed
    "request",  # cassette key: leads back to the words behind the number
)
"""Core columns. Factors (names, direction, order, ...) are further columns, declared by the protocol."""

USUAL = {
    "task": "ratings", "protocol": "file", "kind": JUDGE, "target": "", "criterion": "rating", "repeat": 0,
    "score": None, "response": None, "status": "ok", "request": "",
}  # fmt: skip
"""What a table without the column means."""


def completed(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with only what varies, brought to all core columns: at least rater, item, and score or response.

    A row without a value counts as unparsed unless its status says more. A column `judge` is taken for raters."""
    import numpy as np
    import pandas as pd

    table = frame.rename(columns={"judge": "rater"}) if "rater" not in frame else frame.copy(deep=False)
    # names as Python's own texts: kept in Arrow's, each choice of rows or columns takes longer
    table.columns = pd.Index(list(table.columns), dtype=object)
    lacking = [name for name in ("rater", "item") if name not in table]
    if lacking or not {"score", "response"} & set(table.columns):
        raise RatingsError(
            "ratings need the columns rater, item, and score or response; there is "
            + ", ".join(map(str, frame.columns))
        )
    added: dict[str, Any] = {name: usual for name, usual in USUAL.items() if name not in table}
    table = table.assign(**added)
    if "status" in added:
        there = table["score"].notna() | table["response"].notna()
        table["status"] = np.where(there, "ok", "unparsed")
    table["score"] = pd.to_numeric(table["score"], errors="coerce").astype(float)
    rest = [name for name in table.columns if name not in COLUMNS]
    return table[pd.Index([*COLUMNS, *rest], dtype=object)]


def check_table(table: pd.DataFrame, factors: tuple[str, ...] = (), of: Any = None) -> pd.DataFrame:
    """Return the table unchanged if it keeps the rules; raise `RatingsError` listing all faults otherwise.

    `of`: a number per row, where it is known that rows with different numbers differ in more than their criterion.

    Rules: every core and factor column is there; `status` is one of STATUSES, or a stage and one of them; `kind` is one
    of KINDS; exactly one of `score` and `response` is present when status is "ok" and neither otherwise; scores are
    finite; `repeat` is a whole number from 0; no two rows share (task, protocol, rater, item, target, criterion,
    repeat, *factors).
    """
    import numpy as np
    import pandas as pd

    missing = [c for c in (*COLUMNS, *factors) if c not in table.columns]
    if missing:
        has = ", ".join(map(str, table.columns))
        raise RatingsError(f"ratings table lacks the column(s) {', '.join(missing)}; it has {has}")
    faults: list[str] = []

    def fault(mask: Any, text: str) -> None:
        rows = list(table.index[np.asarray(mask, dtype=bool)])
        if rows:
            shown = ", ".join(str(r) for r in rows[:5]) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
            faults.append(f"{text}: row {shown}" if len(rows) == 1 else f"{text}: rows {shown}")

    ok = table["status"].eq("ok")
    score = pd.to_numeric(table["score"], errors="coerce")
    has_score, has_response = table["score"].notna(), table["response"].notna()
    known = [name for name in table["status"].unique() if str(name).rpartition(": ")[2] in STATUSES]
    fault(~table["status"].isin(known), f"status is not one of {', '.join(STATUSES)}")
    fault(~table["kind"].isin(KINDS), f"kind is not one of {', '.join(KINDS)}")
    fault(ok & ~(has_score ^ has_response), "an ok row needs either a score or a response, not both and not neither")
    fault(~ok & (has_score | has_response), "a row that is not ok carries a value; nothing is imputed")
    fault(has_score & ~np.isfinite(score.to_numpy(dtype=float, na_value=np.nan)), "score is not a finite number")
    repeat = pd.to_numeric(table["repeat"], errors="coerce")
    fault(repeat.isna() | (repeat < 0) | (repeat % 1 != 0), "repeat is not a whole number from 0")
    identity = ["task", "protocol", "rater", "item", "target", "criterion", "repeat", *factors]
    same = f"same {', '.join(identity)}"
    repeated = _repeated(table, identity) if of is None else _repeated(table, ["criterion"], of)
    fault(repeated, f"the same judgement appears more than once ({same})")
    if faults:
        raise RatingsError("ratings table is not usable:\n  " + "\n  ".join(faults))
    return table


def _repeated(table: pd.DataFrame, identity: list[str], of: Any = 0) -> Any:
    """Whether a row shares its number in `of` and all of `identity` with another, (rows,). One column after the other
    is folded into one number per row: pandas' own `duplicated` holds the codes of all columns at once."""
    import numpy as np
    import pandas as pd

    codes = np.broadcast_to(np.asarray(of, dtype=np.int64), len(table))
    count = int(codes.max(initial=0)) + 1
    for name in identity:
        codes, count = _folded(codes, count, table[name])
    if count <= 4 * len(table):  # counted in place: a table of what was seen before takes ten times the memory
        return np.bincount(codes, minlength=count)[codes] > 1
    return pd.Series(codes).duplicated(keep=False)


def _folded(codes: Any, count: int, column: pd.Series[Any]) -> tuple[Any, int]:
    """Numbers below `count` together with what stands in a column, as numbers below the second result."""
    import pandas as pd

    own, known = pd.factorize(column, use_na_sentinel=False)
    if count * len(known) >= 2**62:  # too many combinations for one number: count those that occur
        codes, occurring = pd.factorize(codes)
        count = len(occurring)
    folded = codes * len(known)
    folded += own
    return folded, count * len(known)
