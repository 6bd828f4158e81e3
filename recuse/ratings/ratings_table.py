"""The ratings table: one row per judgement and criterion, judges and people alike, and its one check."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.schema import STATUSES, RatingsError
from recuse.schema.pandas_when_used import pd

JUDGE, PERSON = KINDS = ("judge", "person")
COLUMNS = (  # core columns; factors (names, direction, order, ...) are further ones, declared by the protocol
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
USUAL = {  # what a table without the column means
    "task": "ratings", "protocol": "file", "kind": JUDGE, "target": "", "criterion": "rating", "repeat": 0,
    "score": None, "response": None, "status": "ok", "request": "",
}  # fmt: skip


def completed(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with only what varies, brought to all core columns: at least rater, item, and score or response.

    A row without a value counts as unparsed unless its status says more. A column `judge` is taken for raters."""
    if not isinstance(frame, pd.DataFrame):
        raise RatingsError(f"ratings are made of a pandas data frame, not of a {type(frame).__name__}")
    if "judge" in frame and "rater" not in frame:
        frame = frame.rename(columns={"judge": "rater"})
    given = {name: frame[name] for name in frame.columns}
    if not {"rater", "item"} <= given.keys() or not {"score", "response"} & given.keys():
        raise RatingsError(
            "ratings need the columns rater, item, and score or response; there is "
            + ", ".join(map(str, frame.columns))
        )
    table: dict[str, Any] = USUAL | given
    if "status" not in given:
        table["status"] = np.where(pd.notna(given.get("score")) | pd.notna(given.get("response")), "ok", "unparsed")
    table["score"] = pd.to_numeric(given.get("score", np.full(len(frame), np.nan)), errors="coerce").astype(float)
    names = [*COLUMNS, *(name for name in given if name not in COLUMNS)]
    complete = pd.DataFrame({name: table[name] for name in names}, frame.index, copy=False)  # what is given is shared
    # names as Python's own texts: kept in Arrow's, each choice of rows or columns takes longer
    complete.columns = pd.Index(names, dtype=object)
    return complete


def check_table(table: pd.DataFrame, factors: tuple[str, ...] = (), of: Any = None, coded: Any = None) -> pd.DataFrame:
    """Return the table unchanged if it keeps the rules; raise `RatingsError` listing all faults otherwise.

    `of`: a number per row, where it is known that rows with different numbers differ in more than their criterion.
    `coded`: as `Ratings.coded`, where that remembers the columns.

    Rules: every core and factor column is there; `status` is one of STATUSES, or a stage and one of them; `kind` is one
    of KINDS; rater and item are named; exactly one of `score` and `response` is present when status is "ok" and neither
    otherwise; scores are finite; `repeat` is a whole number from 0; no two rows share (task, protocol, rater,
    item, target, criterion, repeat, *factors)."""

    from recuse.ratings import array

    missing = [c for c in (*COLUMNS, *factors) if c not in table.columns]
    if missing:
        has = ", ".join(map(str, table.columns))
        raise RatingsError(f"ratings table lacks the column(s) {', '.join(missing)}; it has {has}")
    faults: list[str] = []

    def fault(mask: Any, text: str) -> None:
        if mask.any():
            rows = list(table.index[mask])
            shown = ", ".join(str(r) for r in rows[:5]) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
            faults.append(f"{text}: row {shown}" if len(rows) == 1 else f"{text}: rows {shown}")

    coded = coded or (lambda name: array.coded(table.loc[:, name]))

    def strange(name: str, known: Collection[str], stage: str = "") -> Any:
        """Which rows have none of the known words in a column, not even after a stage."""
        words, places = coded(name)
        others = [k for k, word in enumerate(words) if (word.rpartition(stage)[2] if stage else word) not in known]
        return np.isin(places, [-1, *others])

    statuses, status = coded("status")
    ok = status == (statuses.index("ok") if "ok" in statuses else len(statuses))
    numeric = (pd.to_numeric(table[name], errors="coerce") for name in ("score", "repeat"))
    score, repeat = (column.to_numpy(dtype=float, na_value=np.nan) for column in numeric)
    has_score, has_response = (table[name].notna().to_numpy() for name in ("score", "response"))
    fault(strange("status", STATUSES, ": "), f"status is not one of {', '.join(STATUSES)}")
    fault(strange("kind", KINDS), f"kind is not one of {', '.join(KINDS)}")
    fault(ok & ~(has_score ^ has_response), "an ok row needs either a score or a response, not both and not neither")
    fault(~ok & (has_score | has_response), "a row that is not ok carries a value; nothing is imputed")
    fault(has_score & ~np.isfinite(score), "score is not a finite number")
    fault(~((repeat >= 0) & (repeat == np.floor(repeat)) & (repeat < np.inf)), "repeat is not a whole number from 0")
    for name in ("rater", "item"):
        fault(table[name].isna().to_numpy(), f"{name} is missing")
    identity = ["task", "protocol", "rater", "item", "target", "criterion", "repeat", *factors]
    same = f"same {', '.join(identity)}"
    telling = identity if of is None else ["criterion"]
    columns: list[Any] = [table[name].to_numpy() if name == "repeat" else coded(name)[1] for name in telling]
    fault(repeated(columns, len(table), 0 if of is None else of), f"the same judgement appears more than once ({same})")
    if faults:
        raise RatingsError("ratings table is not usable:\n  " + "\n  ".join(faults))
    return table


def repeated(columns: Iterable[Any], rows: int, of: Any = 0) -> Any:
    """Whether a row shares its number in `of` and all of the columns with another, (rows,). One column after the other
    is folded into one number per row: pandas' own `duplicated` holds the codes of all columns at once."""
    codes = np.broadcast_to(np.asarray(of, dtype=np.int64), rows)
    count = int(codes.max(initial=0)) + 1
    for column in columns:
        codes, count = combined(codes, count, column)
    if count <= 32 * rows:  # marked in place: a table of what was seen takes more time and memory
        seen = np.zeros(count, dtype=bool)
        seen[codes] = True
        if np.count_nonzero(seen) == rows:
            return ~seen[codes]
    return pd.Series(codes).duplicated(keep=False).to_numpy()


def combined(codes: Any, count: int, column: Any) -> tuple[Any, int]:
    """Numbers below `count` together with what stands in a column, as numbers below the second result."""
    if isinstance(getattr(column, "dtype", None), pd.CategoricalDtype):
        column = column.cat.codes.to_numpy(dtype=np.int64)
    numbers = isinstance(column, np.ndarray) and column.dtype.kind == "i" and column.size
    low, high = (int(column.min()), int(column.max())) if numbers else (0, 0)
    if numbers and high - low <= column.size:  # numbers already
        own, known = column - low if low else column, range(high - low + 1)
    else:
        own, known = pd.factorize(column, use_na_sentinel=False)
    if len(known) <= 1:  # most columns of a table say one thing
        return codes, count
    if count * len(known) >= 2**62:  # too many combinations for one number: count those that occur
        codes, occurring = numbered(codes, count)
        count = len(occurring)
    folded = codes * len(known)
    folded += own
    return folded, count * len(known)


def numbered(codes: NDArray[np.intp], count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """As `pd.factorize` of whole numbers from -1 below `count`: the number of each in order of first appearance, and
    which there are. Looked up in place where few are possible, which takes a fraction of a table of hashes."""
    rows = len(codes)
    if count > 8 * rows:  # a place for each takes more memory than those there are
        return pd.factorize(codes)
    number = np.full(count + 1, rows)  # first the row where each is first; the last is that of -1
    number[codes[::-1]] = np.arange(rows - 1, -1, -1)
    is_first = np.zeros(rows + 1, dtype=bool)
    is_first[number] = True
    different = codes[np.flatnonzero(is_first[:-1])]
    number[different] = np.arange(len(different))
    return number[codes], different
