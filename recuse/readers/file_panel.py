"""Files as panels; several are versions of the same judges: one table with the factor `version`, the oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import pandas as pd

from recuse.ratings import Ratings, ResponseSets
from recuse.ratings.people_faults import people_faults, sentences
from recuse.ratings.ratings import ORIGIN
from recuse.readers.column_names import PROMPTS, in_quotes, listed, plain
from recuse.readers.file_ratings import FilePanel, read_file
from recuse.readers.filled_lists import label_lists, with_labels
from recuse.readers.formats import RatingsSource
from recuse.readers.judgement_rows import called, digests_of
from recuse.readers.mapping import ENDINGS, ColumnMapping, given_mapping, stem_of
from recuse.readers.raw_table import RawTable, shown
from recuse.readers.values import written_otherwise
from recuse.schema import RecuseError
from recuse.schema.factors import VERSION

Names = str | Sequence[str]  # several columns or raters: a list, or with commas
ReadOptions = TypedDict("ReadOptions", {  # noqa: UP013  a table as that of the columns' roles
    "raters": bool, "sampled": bool, "reader": str, "encoding": str, "rates": str, "scale": str, "same": str,
    "positive": str, "threshold": str | float, "use": Names, "people": Names, "judges": Names, "ignore": Names,
    "item": Names, "value": Names, "factors": Names, "rater": str, "target": str, "criterion": str, "cluster": str,
    "count": str, "text": str, "repeat": str, "gold": str, "author": str, "reason": str, "first": str, "second": str,
}, total=False)  # fmt: skip
"""What `recuse check` takes as options, by the same names."""


def read(*sources: RatingsSource | Sequence[RatingsSource], **options: Unpack[ReadOptions]) -> Ratings:
    """The ratings of a file (CSV, TSV, JSON lines, JSON, Parquet, the log of another tool; packed or not), of several
    files as `recuse check` takes them (versions of the judges, or with `raters=True` one file per rater), of a pandas
    data frame, or of an Ibis table, which is folded where it lies. `options` say what was not recognised.

    Raises `RecuseError` with place and remedy for what cannot be read."""
    several: list[Any] = [one for given in sources for one in (given if isinstance(given, list | tuple) else [given])]
    if not several:
        raise RecuseError("recuse.read needs a file, several files or a data frame")
    panel = load_versions([Path(one) if isinstance(one, str) else one for one in several], **options)
    return panel.ratings.remember(ORIGIN, lambda: panel).ratings


def panel_of(ratings: Ratings, use: str | Sequence[str] = ()) -> FilePanel:
    """The panel that `read` made of a file, or one around ratings that were made in Python, or around some rows or
    criteria of others, whose uses stand. With `use`, where given."""
    panel = ratings.remember_of_rows(ORIGIN, lambda: _around(ratings, ColumnMapping()))
    if panel.ratings is not ratings:
        stated = ColumnMapping(use=panel.mapping.use, rates=panel.mapping.rates)
        panel = ratings.remember("panel of a part", lambda: _around(ratings, stated))
    if not use:
        return panel
    mapping = replace(panel.mapping, **given_mapping({"use": use}, (), str(panel.path)))
    ratings, notes = panel.ratings.as_decisions(mapping.use)
    return replace(panel, mapping=mapping, ratings=ratings, notes=(*panel.notes, *notes))


def _around(ratings: Ratings, stated: ColumnMapping) -> FilePanel:
    sets = all(isinstance(ratings.scales[name], ResponseSets) for name in ratings.headline)
    pairs = ratings.texts is not None and {"a", "b"} <= set(ratings.texts)
    kind = "response_sets" if sets else "choices" if pairs else "scores"
    faults, raw = people_faults(ratings), RawTable(Path("ratings"), ratings.table)
    return FilePanel(raw.path, "", ratings, kind, stated, raw, raw.frame, (), tuple(sentences(faults)), faults)


def is_ratings_file(given: str) -> bool:
    """Whether what stands in `recuse_panels` names a file of ratings, not a panel file or a panel's short name."""
    return given.lower().endswith(ENDINGS)


def load_file_panel(path: RatingsSource, **given: Any) -> FilePanel:
    """Read one file of ratings, or data frame, as a panel. `RecuseError` for what cannot be read."""
    return load_versions([path], **given)


def load_versions(paths: Sequence[RatingsSource], *, raters: bool = False, **given: Any) -> FilePanel:
    """Files with versions of the same judges, the oldest first, as one panel, which bears the last file's name; or
    each with the answers of one of the `raters`, as one that bears the first's. Lists of next labels among them are
    read into it. `RecuseError` for other files."""
    labels = label_lists(paths)
    paths = [path for path in paths if not any(path is one for one in labels)]
    files = [[*paths]] if raters else [[path] for path in paths]
    try:
        stated = [given[role] for role in ("people", "judges") if len(files) > 1 and given.get(role) is not None]
        named = [str(name) for names in stated for name in listed(names) if name]
        reads = [read_file(*each, **given, elsewhere=named) for each in files]
        if absent := [n for n in named if not any(n in (*r.mapping.people, *r.mapping.judges) for r in reads)]:
            known = dict.fromkeys(rater for read in reads for rater in read.ratings.raters)
            raise RecuseError(f"no file has a rater {absent[0]!r}; they have {', '.join(map(in_quotes, known))}")
    except RecuseError as error:
        why = ""
        with suppress(RecuseError):  # one may not be read for want of judges in it, as of other judges than the others
            others = {name: value for name, value in given.items() if name not in ("people", "judges")}
            again = [read_file(*each, **{**others, "compared": ()}) for each in files if len(files) > 1]
            why = are_versions(again) if again else ""
        if why:
            raise RecuseError(why) from error
        raise
    return with_labels(as_versions(reads), labels)


def load_file_panels(paths: Sequence[Path]) -> list[FilePanel]:
    """The files as panels: those with the same judges on the same items are versions of them, and one panel."""
    groups: list[list[FilePanel]] = []
    for read in map(read_file, paths):
        group = next((group for group in groups if not are_versions([*group, read])), [])
        group.append(read)
        if len(group) == 1:
            groups.append(group)
    return [*map(as_versions, groups)]


def on_the_same_items(reads: Sequence[FilePanel]) -> list[FilePanel]:
    """The files with items that bear one name in all of them: rows that no column names are called by the prompts and
    texts that were judged. `RecuseError` where these do not tell rows apart, which might stand in another order."""
    named = any(read.mapping.item or not str(read.rows["item"].iat[0]).startswith("row ") for read in reads)
    if named or len(reads) < 2:
        return [*reads]
    names = f"{reads[0].path.name} and {reads[-1].path.name}"
    if any(read.mapping.count or read.ratings.times is not None for read in reads):
        raise RecuseError(
            f"{names} count items by their answers, so which of them are the same is not known; put the answers of all "
            "judges into one table, and count that"
        )
    return [_called_by_content(read, names) for read in reads]


def _called_by_content(read: FilePanel, names: str) -> FilePanel:
    columns = [name for name in read.raw.names if name == read.mapping.text or plain(name) in PROMPTS]
    contents = read.raw.frame[columns].astype(str).agg("\n".join, axis=1)
    if contents.duplicated().any():
        raise RecuseError(
            f"{names} have no column that says what was judged, so which row of one is about the same as which of the "
            "other is not known; add a column of names, or say which it is: --item COLUMN"
        )
    known = {f"row {k + 1}": name for k, name in enumerate(called("item", digests_of(contents)))}

    def renamed(table: pd.DataFrame) -> pd.DataFrame:
        own = [name for name in ("item", "cluster") if name in table and table[name].isin(known.keys()).all()]
        return table.assign(**{name: table[name].astype(str).map(known) for name in own})

    texts = None if read.ratings.texts is None else renamed(read.ratings.texts)
    ratings = replace(read.ratings, table=renamed(read.ratings.table), texts=texts, _memory={})
    return replace(read, ratings=ratings, rows=renamed(read.rows))


def are_versions(reads: Sequence[FilePanel]) -> str:
    """Why the files are not versions of the same judges; "" if they are."""
    try:
        first, *_ = reads = on_the_same_items(reads)
    except RecuseError as why:
        return str(why)
    for other in reads[1:]:
        one, two = first.path.name, other.path.name
        if not {*first.ratings.judges} & {*other.ratings.judges}:
            names, others = (", ".join(read.ratings.judges) or "nobody" for read in (first, other))
            return (
                f"the judges of {one} are {names}, of {two} {others}: versions of one judge bear one name. If each "
                "file holds other raters' answers to the same items, say --raters"
            )
        if other.kind != first.kind or other.ratings.scales != first.ratings.scales:
            return f"{one} and {two} are not on one scale; say which it is with --scale"
        if pair := written_otherwise(*(dict.fromkeys(r.ratings.coded("item")[0]) for r in (first, other))):
            return f"{one} has an item {shown(pair[0])}, {two} {shown(pair[1])}: write the names in one form"
        texts = [set(zip(r.table["item"], r.table["target"], strict=True)) for r in (first.ratings, other.ratings)]
        if len(texts[0] & texts[1]) < 0.5 * min(map(len, texts)):  # or they are about different things
            return (
                f"{one} and {two} have few items in common; where each file has other texts, such as those of a week, "
                "chart them: recuse weeks FILE FILE ..."
            )
    return ""


def as_versions(reads: Sequence[FilePanel]) -> FilePanel:
    """The last file with the ratings of all, each row with the version (the file's name) that it is of. People judged
    texts, not versions: who is known from one file only stands beside every version. `RecuseError` for others."""
    if len(reads) == 1:
        return reads[0]
    if why := are_versions(reads):
        raise RecuseError(f"several files are read as versions of one judge, the oldest first. {why}")
    reads = [replace(r, ratings=r.ratings.single()) for r in on_the_same_items(reads)]
    names = [stem_of(read.path) for read in reads]
    names = names if len({*names}) == len(names) else [f"{name} ({k + 1})" for k, name in enumerate(names)]
    tables = [r.ratings.table for r in reads]
    people = pd.concat([table[table["kind"] == "person"] for table in tables])
    people = people.drop_duplicates(["rater", "item", "target", "criterion", "repeat", *reads[-1].ratings.factors])
    rows = [
        part.assign(**{VERSION: name}) for name, table in zip(names, tables, strict=True)
        for part in (table[table["kind"] == "judge"], people)
    ]  # fmt: skip
    last = reads[-1].ratings
    texts = [read.ratings.texts for read in reads[::-1] if read.ratings.texts is not None]
    about = [name for name in ("item", "target") if texts and name in texts[0]]
    ratings = Ratings.of(
        pd.concat(rows, ignore_index=True), scales=last.scales, factors=(*last.factors, VERSION), authors=last.authors,
        headline=last.headline, clusters=last.clusters, thresholds=last.thresholds,
        texts=pd.concat(texts, ignore_index=True).drop_duplicates(about, ignore_index=True) if texts else None,
        positive=last.positive, truth=next((r.ratings.truth for r in reads[::-1] if r.ratings.truth), ""),
    )  # fmt: skip
    phrase = f"versions of one judge, the oldest first: {', '.join(names)}; the verdict is on {names[-1]}"
    return replace(reads[-1], ratings=ratings, notes=(phrase, *reads[-1].notes), older=tuple(reads[:-1]))
