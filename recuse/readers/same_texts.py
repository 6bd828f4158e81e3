"""Texts that stand in a file several times under other ids: no new evidence, however many rows they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.readers.column import Column
from recuse.readers.column_names import NAMES, PROMPTS, plain
from recuse.readers.mapping import ColumnMapping

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["with_copies_in_clusters"]

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
