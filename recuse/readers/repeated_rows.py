"""What stands in a file more than once: repeats of a judge are numbered, copies count once, contradictions not at all.

Rows that are there twice, cell by cell, come from an export that was appended to itself; texts under several ids are no
new evidence, however many rows they have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.readers.column_names import NAMES, PROMPTS, plain
from recuse.readers.columns import Column
from recuse.readers.mapping import ColumnMapping
from recuse.readers.opening import Fault, Place, fault_in
from recuse.readers.raw_table import RawTable
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

SURELY = 5
"""Fewer rows may be alike by chance."""


def without_copies(long: pd.DataFrame, raw: RawTable, mapping: ColumnMapping) -> tuple[pd.DataFrame, tuple[Fault, ...]]:
    """The rows without copies of earlier ones, which are no repeats: they would make a judge look steady.

    Copies are told from repeats by people, whom nobody asks twice: theirs are among the copied rows, every row that
    comes again is a copy, and there are `SURELY` of them. Where a column numbers the repeats, or no column names the
    items, nothing is taken away."""
    if mapping.repeat or not mapping.item:
        return long, ()
    copied = raw.frame.duplicated().to_numpy()[long["row"].to_numpy()]
    if copied.sum() < SURELY or not (copied & long["kind"].eq("person")).any():
        return long, ()
    told = [*mapping.factors, *filter(None, (mapping.target, mapping.criterion, mapping.rater, mapping.order))]
    pair = [*filter(None, (mapping.first, mapping.second))]
    if (raw.frame.duplicated([*mapping.item, *told, *pair]) & ~raw.frame.duplicated()).any():
        return long, ()
    rows = long.loc[copied, "row"].drop_duplicates()
    fault = Fault.of(
        "row(s) are copies of earlier ones, cell by cell", (raw.place(int(row)) for row in rows[:5]),
        "each counts once; a column `repeat` would make them repeats", len(rows),
    )  # fmt: skip
    return long[~copied].reset_index(drop=True), (fault,)


def without_duplicates(
    rows: pd.DataFrame, factors: list[str], place: Place, mapping: ColumnMapping
) -> tuple[pd.DataFrame, list[Fault], list[str]]:
    """Rows with repeats numbered from 0. Where a column says which repeat a row is, a judgement that is there twice
    with one answer counts once, and one with two answers counts as unusable; otherwise several rows of a judge are its
    repeats. `RecuseError` where they are the errors that somebody marked in a text."""
    keys = ["rater", "item", "target", "criterion", *factors, *[c for c in ("first", "second") if c in rows]]
    notes: list[str] = []
    if not mapping.repeat and (rows["repeat"] < 0).any():
        marked = [name for name in mapping.value if plain(name).endswith("severity")]
        if marked and rows.duplicated(keys).any():
            raise RecuseError(
                f"{marked[0]}: some raters have several rows on one text, each an error that they marked; add them up "
                "to a score of each text (minor 1, major 5, for example), a row each, or say --ignore " + marked[0]
            )
        rows, notes = _numbered(rows, keys)
    keys = [*keys, "repeat"]
    if not rows.duplicated(keys).any():
        return rows, [], notes
    rows, faults = _settled(rows, keys, place)
    return rows, faults, notes


def _numbered(rows: pd.DataFrame, keys: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """A judge's rows on one text are its repeats, in the order of the file."""
    count = rows.groupby(keys, sort=False, dropna=False, observed=True).cumcount()
    rows = rows.assign(repeat=np.where(rows["repeat"] < 0, count, rows["repeat"]))
    judges = count[rows["kind"].eq("judge")]
    if not len(judges) or judges.max() == 0:
        return rows, []
    return rows, ["no column says which repeat a row is: a judge's further rows on one text are read as its repeats"]


def _settled(rows: pd.DataFrame, keys: list[str], place: Place) -> tuple[pd.DataFrame, list[Fault]]:
    """One row for each judgement that is there twice: its answer, or none where the two differ."""
    faults: list[Fault] = []
    again = rows[rows.duplicated(keys, keep=False)]
    answer = again["response"].where(again["response"].notna(), again["score"]).astype(str)
    differ = answer.groupby([again[key] for key in keys], sort=False).transform("nunique") > 1
    split = differ.reindex(rows.index, fill_value=False)
    extra = rows.duplicated(keys, keep="first")
    same = extra & ~split
    if same.any():
        what = "judgement(s) are there twice with the same answer"
        faults.append(fault_in(what, rows[same], place, "each counts once"))
    if differ.any():
        faults.append(fault_in(
            "judgement(s) are there twice with different answers", again[differ], place,
            "they count as unusable; a column `repeat` would make them repeats",
        ))  # fmt: skip
        rows = rows.assign(
            score=rows["score"].mask(split), response=rows["response"].mask(split, None),
            status=rows["status"].mask(split, "error"),
        )  # fmt: skip
    return rows[~extra], faults


SHORT = 20
"""Texts of fewer letters ("Yes.", "No idea") may be the same without being copies."""


def with_copies_in_clusters(
    rows: pd.DataFrame, frame: pd.DataFrame, mapping: ColumnMapping
) -> tuple[pd.DataFrame, str, list[str]]:
    """The rows with a column `cluster`, what clusters are called, and a note; rows without one where items are neither
    in clusters nor copies of each other.

    Items are copies where all their texts, by target, are the same in every column of texts (the text that was judged
    and the prompt it answers), whatever the case and blanks. Copies are one cluster, joined with the cluster that the
    file gives any of them: errors of five copies are the error of one text, and an interval must not shrink by them."""
    columns = [name for name in map(str, frame.columns) if _holds_texts(frame, name, mapping)]
    called = mapping.cluster or "text"
    if not columns:
        return rows, called, []
    keys = _keys(rows, frame, columns)
    copies = keys[keys.duplicated(keep=False) & (keys != "")]
    if copies.empty or (len(copies) == len(keys) and copies.nunique() == 1):  # all items share it: no text of theirs
        return rows, called, []
    known = rows.drop_duplicates("item").set_index("item")
    first = copies.drop_duplicates().reset_index().set_index(copies.drop_duplicates().to_numpy())["item"]
    own = known["cluster"].astype(str) if "cluster" in known else known.index.to_series()
    cluster = _joined(own, own[first[copies].to_numpy()].to_numpy(), own[copies.index].to_numpy())
    note = (
        f"{len(copies)} of {len(keys)} items have the same text as another ({', '.join(columns)}): {copies.nunique()} "
        "texts under several ids. Copies are one cluster, not further evidence"
    )
    return rows.assign(cluster=rows["item"].map(cluster)), called, [note]


def _holds_texts(frame: pd.DataFrame, name: str, mapping: ColumnMapping) -> bool:
    """The text that was judged and the prompt, by their names; without a column for the text, every free text that is
    nobody's reason."""
    if name == mapping.text:
        return True
    word = plain(name)
    if name in mapping.columns() - set(mapping.item) or word.rsplit("_", 1)[-1] in NAMES["reason"]:
        return False
    return (word in PROMPTS or not mapping.text) and Column(name, frame[name]).wordy


def _keys(rows: pd.DataFrame, frame: pd.DataFrame, columns: list[str]) -> pd.Series[Any]:
    """Item -> all its texts with their targets, "" where they are too short to tell copies."""
    once = rows.drop_duplicates(["item", "target"])
    at = once["row"].to_numpy()
    texts = np.array([" ".join(" ".join(map(str, cells)).split()).lower() for cells in frame[columns].to_numpy()[at]])
    facts = once[["item"]].assign(key=once["target"].astype(str) + "\x1f" + texts, size=np.char.str_len(texts))
    whole = facts.set_index("item")
    if facts["item"].duplicated().any():
        whole = facts.sort_values("key", kind="stable").groupby("item", sort=False).agg(
            key=("key", "\x1e".join), size=("size", "max")
        )  # fmt: skip
    whole = whole.reindex(once["item"].drop_duplicates())
    return whole["key"].where(whole["size"] >= SHORT, "")


def _joined(cluster: pd.Series[Any], one: Any, other: Any) -> pd.Series[Any]:
    """Item -> cluster after the clusters in `one` are joined with those in `other`, each called as its first."""
    import pandas as pd
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    names = pd.Index(cluster.unique())
    links = coo_array((np.ones(len(one)), (names.get_indexer(one), names.get_indexer(other))), shape=(len(names),) * 2)
    part = connected_components(links, directed=False)[1]
    first = pd.Series(names).groupby(part).first()
    return pd.Series(first.to_numpy()[part[names.get_indexer(cluster)]], index=cluster.index)
