"""Several files as versions of the same judges: one table with the factor `version`, the oldest first as given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recuse.ratings import Ratings
from recuse.ratings.factors import VERSION
from recuse.readers.file_ratings import FileRatings
from recuse.schema import RecuseError

__all__ = ["are_versions", "as_versions"]

SHARED = 0.5
"""Of the smaller file's texts, so many must be in the other, or the files are about different things."""


def are_versions(reads: Sequence[FileRatings]) -> str:
    """Why the files are not versions of the same judges; "" if they are."""
    first = reads[0]
    for other in reads[1:]:
        if not set(first.ratings.judges) & set(other.ratings.judges):
            return (
                f"{first.path.name} has the judge(s) {', '.join(first.ratings.judges)}, {other.path.name} "
                f"{', '.join(other.ratings.judges)}: versions of one judge bear one name"
            )
        if other.kind != first.kind or other.ratings.scales != first.ratings.scales:
            return f"{first.path.name} and {other.path.name} are not on one scale; say which it is with --scale"
        texts = [set(zip(r.table["item"], r.table["target"], strict=True)) for r in (first.ratings, other.ratings)]
        if len(texts[0] & texts[1]) < SHARED * min(map(len, texts)):
            return f"{first.path.name} and {other.path.name} have few items in common"
    return ""


def as_versions(reads: Sequence[FileRatings]) -> FileRatings:
    """The last file with the ratings of all, each row with the version (the file's name) that it is of. People judged
    texts, not versions: who is known from one file only stands beside every version.

    Raises `RecuseError` for files that are not versions of the same judges."""
    import pandas as pd

    if why := are_versions(reads):
        raise RecuseError(f"several files are read as versions of one judge, the oldest first. {why}")
    names = _names(reads)
    tables = [r.ratings.table for r in reads]
    people = pd.concat([table[table["kind"] == "person"] for table in tables])
    people = people.drop_duplicates(["rater", "item", "target", "criterion", "repeat", *reads[-1].ratings.factors])
    rows = [
        part.assign(**{VERSION: name})
        for name, table in zip(names, tables, strict=True)
        for part in (table[table["kind"] == "judge"], people)
    ]
    newest = reads[-1]
    last = newest.ratings
    ratings = Ratings.of(
        pd.concat(rows, ignore_index=True), scales=last.scales, factors=(*last.factors, VERSION), authors=last.authors,
        headline=last.headline, texts=_texts(reads), clusters=last.clusters,
    )  # fmt: skip
    phrase = f"versions of one judge, the oldest first: {', '.join(names)}; the verdict is on {names[-1]}"
    return replace(newest, ratings=ratings, notes=(phrase, *newest.notes), older=tuple(reads[:-1]))


def _texts(reads: Sequence[FileRatings]) -> object:
    import pandas as pd

    known = [read.ratings.texts for read in reads if read.ratings.texts is not None]
    if not known:
        return None
    keys = [name for name in ("item", "target") if name in known[-1]]
    return pd.concat(known[::-1], ignore_index=True).drop_duplicates(keys, ignore_index=True)


def _names(reads: Sequence[FileRatings]) -> list[str]:
    names = [read.name for read in reads]
    return names if len(set(names)) == len(names) else [f"{name} ({k + 1})" for k, name in enumerate(names)]
