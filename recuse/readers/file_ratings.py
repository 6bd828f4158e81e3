"""One file as ratings: read, recognised, checked, with what is known of it in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.configuration import named as by_name
from recuse.ratings import Numeric, Ratings, ResponseSets, Scale
from recuse.ratings.people_faults import PeopleFault, people_faults
from recuse.readers.absent_rows import with_absent_rows
from recuse.readers.column_names import NAMES, TALKS, plain, rater_name
from recuse.readers.counts import as_seen, with_counted_items, without_counts
from recuse.readers.exports import as_exported
from recuse.readers.formats import FOLDED, read_source
from recuse.readers.item_columns import FEWEST_CLUSTERS
from recuse.readers.json_cells import with_fields_of_json, with_last_words, with_lists_apart
from recuse.readers.judge_columns import with_confidence
from recuse.readers.judgement_rows import lengthened, named, with_kinds
from recuse.readers.judgements import Judgements, read_cells, read_winners
from recuse.readers.long_texts import word_count
from recuse.readers.mapping import ColumnMapping, given_mapping, saved_mapping, saved_path
from recuse.readers.opening import Fault, folder_of, stem_of
from recuse.readers.raw_table import RawTable
from recuse.readers.recognise import recognise
from recuse.readers.repeated_rows import with_copies_in_clusters, without_copies, without_duplicates
from recuse.readers.reshaping import (
    as_rows,
    below_one_another,
    in_the_same_words,
    with_marked_answers,
    with_places,
    with_systems_apart,
    without_unrated_roles,
)  # fmt: skip
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

FEW_RATED = 5
FOLDED_AWAY = ("item", "rater", "value", "ignore")
SELDOM = 0.2
"""A group in which more items than these come back says something of a row, not which item it is."""


@dataclass(frozen=True, eq=False)
class FileRatings:
    """`ratings` of one file and how it came to them. `kind` is what its rows are: "scores", "choices" or
    "response_sets"; where it holds options and sets of them, `ratings` are about the options, and the sets are beside
    them. `rows` has one row per judgement with its `row` in `raw.frame` (of one that is absent, that of another
    rater on the same text); `sha256` is that of the file as it lies
    there."""

    path: Path
    sha256: str
    ratings: Ratings
    kind: str
    mapping: ColumnMapping
    raw: RawTable
    rows: pd.DataFrame
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    people_faults: tuple[PeopleFault, ...] = ()  # who among the people answers in reverse, at random or in a camp
    older: tuple[FileRatings, ...] = ()  # files with earlier versions of the judges, the oldest first

    @property
    def name(self) -> str:
        """The file's name without its endings."""
        return stem_of(self.path)


def read_file(
    source: Path | str | pd.DataFrame, *further: Path | str | pd.DataFrame, reader: str = "", all_judges: bool = False,
    **given: Any,
) -> FileRatings:  # fmt: skip
    """The ratings of one file or data frame; of several, each holds the ratings of somebody else, who is called as the
    file is. `given` says of columns what they are (see `ColumnMapping`) and comes before what `FILE.recuse.toml` beside
    it says, which comes before what is recognised. `reader`: the name of a reader, or the dotted name of your own
    (`recuse.readers.formats`). `all_judges`: what raters are where nothing tells judges from people.

    Raises `RecuseError` with place and remedy for a file that cannot be read."""
    given = {k: v for k, v in given.items() if v}
    kept = saved_mapping(Path(source)) if isinstance(source, Path | str) else {}
    opened, raw = read_source(source, reader, {**kept, **given})
    path = opened.path
    if raw.made_by == FOLDED:  # these columns are folded away
        kept, given = ({k: v for k, v in one.items() if k not in FOLDED_AWAY} for one in (kept, given))
    if further:
        raw = below_one_another([raw, *(read_source(other, reader)[1] for other in further)])
    raw = in_the_same_words(raw, str(given.get("same") or kept.get("same", "")))
    everybody_named = all(given.get(kind) or kept.get(kind) for kind in ("people", "judges"))
    raw, known, shaped = _in_shape(raw, str(given.get("rater") or kept.get("rater", "")), named=everybody_named)
    columns = [str(name) for name in raw.frame.columns]
    saved = given_mapping(kept, columns, saved_path(path).name)
    known |= {"raters": {name: (name,) for name in raw.raters}} if raw.raters else {}
    roles = {**known, **saved, **given_mapping(given, columns, path.name)}
    raw, counted, items = with_counted_items(raw, roles, roles.get("ignore", ()))
    roles |= counted
    mapping = recognise(as_seen(raw), roles)
    raw, unrated = without_unrated_roles(raw, mapping)
    mapping = recognise(as_seen(raw), roles) if unrated else mapping
    mapping, notes = _with_gold(raw, *_with_whole_items(raw, mapping))
    long = lengthened(raw.frame, mapping)
    long, said = with_kinds(long, mapping, all_judges=all_judges)
    long, copied = without_copies(long, raw, mapping)
    judged = (
        read_winners(long, raw.place, mapping.first) if mapping.pairs
        else read_cells(long, raw.place, mapping.scale)
    )  # fmt: skip
    factors = _factors(mapping)
    rows, twice, numbered = without_duplicates(judged.rows, factors, raw.place, mapping)
    rows, clusters, copies = with_copies_in_clusters(rows, raw.frame, mapping)
    rows, absent = with_absent_rows(rows, raw, mapping, factors)
    if mapping.pairs:
        kind, ratings = "choices", _chosen(rows, mapping, factors, clusters)
    else:
        kind, ratings = _without_sets(_scored(rows, judged, raw, mapping, factors, clusters))
    ratings, sure = with_confidence(ratings, rows, raw.frame, mapping)
    ratings = replace(ratings, reference=_rates(mapping.rates, path)) if mapping.rates else ratings
    if raw.times is not None:
        ratings = replace(ratings, times=_times(ratings, rows, raw.times), _memory={})
    faults_of_people = people_faults(ratings)
    return FileRatings(
        path, opened.sha256, ratings, kind, mapping, raw, rows,
        (*raw.faults, *copied, *judged.faults, *twice),
        (*opened.notes, *raw.notes, *shaped, *items, *unrated, *notes, *said, *judged.notes, *numbered, *copies,
         *absent, *sure, *_few_rated(ratings.folded()), *(fault.sentence() for fault in faults_of_people)),
        faults_of_people,
    )  # fmt: skip


def _in_shape(raw: RawTable, rater: str, *, named: bool) -> tuple[RawTable, dict[str, Any], list[str]]:
    """The table with one answer a cell, whatever its tool or form made of it; roles of columns that are known by that,
    and notes."""
    raw, marked = with_marked_answers(raw)
    raw, counted = without_counts(raw, named=named)
    raw, fields = with_fields_of_json(raw)
    raw, known, export = as_exported(raw)
    if raw.made_by and {"text", "question"} <= set(raw.frame):  # of a tool's log, whatever they look like
        known = {"text": "text", "slices": ()}
    raw, apart = with_lists_apart(raw) if not (raw.made_by or known) else (raw, ())
    raw, ends = with_last_words(raw) if not (raw.made_by or known) else (raw, ())
    raw, turned, by_rater = as_rows(raw, rater)
    raw, ranked = with_places(raw)
    raw, systems = with_systems_apart(raw) if not (raw.made_by or known or named) else (raw, ())
    return raw, {**known, **turned}, [*marked, *counted, *fields, *export, *apart, *ends, *by_rater, *ranked, *systems]


def _rates(given: str, ratings: Path) -> pd.DataFrame:
    """What is true of the items, columns item and value: a CSV file, or rates as a task's [reference] names them
    (.toml). Relative to the ratings' folder, or to the current one."""
    import pandas as pd

    path = next((one for one in (folder_of(ratings) / given, Path(given)) if one.is_file()), None)
    if path is None:
        raise RecuseError(f"{given}: no such file, beside {ratings.name} or here; --rates names true values of items")
    if path.suffix == ".toml":
        read: Callable[[Path], pd.DataFrame] = by_name("rates", what="kind of true values", package="recuse.references")
        return read(path)
    table = pd.read_csv(path, dtype={"item": str})
    if missing := [name for name in ("item", "value") if name not in table]:
        raise RecuseError(f"{path}: lacks {', '.join(missing)}; it has {', '.join(map(str, table.columns))}, and true "
                          "values are a table of item and value, or a .toml of rates")  # fmt: skip
    return table


def _times(ratings: Ratings, rows: pd.DataFrame, times: NDArray[np.int64]) -> dict[str, int]:
    """How many items each item of the ratings stands for, from how many each row of the file does."""
    known = dict(zip(rows["item"].astype(str), times[rows["row"].to_numpy()].tolist(), strict=True))
    items = ratings.coded("item")[0]
    if unnamed := [name for name in items if name not in known]:
        raise RecuseError(
            f"{len(unnamed)} items, first {unnamed[0]}, have several rows that are counted; give each its own item"
        )
    return {name: known[name] for name in items}


def _factors(mapping: ColumnMapping) -> list[str]:
    order = ["order"] if mapping.order and not mapping.pairs else []
    return [*(plain(name) for name in mapping.factors), *order]


def _with_whole_items(raw: RawTable, mapping: ColumnMapping) -> tuple[ColumnMapping, list[str]]:
    """Where some items' names come back under another cluster or slice, both together are an item's name; where many
    do, only if rows could not be told apart without it although repeats have columns of their own."""
    if len(mapping.item) != 1:
        return mapping, []
    for other in filter(None, (mapping.cluster, *mapping.slices, *_groups(mapping))):
        both = raw.frame[[mapping.item[0], other]].drop_duplicates()
        share = float(both[mapping.item[0]].duplicated(keep=False).mean())
        if 0 < share <= SELDOM or (share > SELDOM and _tells_rows_apart(raw, mapping, other)):
            note = f"{mapping.item[0]} means something else under each {other}: an item is named by both"
            known = {name: why for name, why in mapping.ignored.items() if name != other}
            if not mapping.cluster and (plain(other) in TALKS or raw.frame[other].nunique() >= FEWEST_CLUSTERS):
                slices = tuple(name for name in mapping.slices if name != other)
                mapping = replace(mapping, cluster=other, slices=slices)
            slices = mapping.slices if other in (mapping.cluster, *mapping.slices) else (*mapping.slices, other)
            return replace(mapping, item=(mapping.item[0], other), slices=slices, ignored=known), [note]
    return mapping, []


def _tells_rows_apart(raw: RawTable, mapping: ColumnMapping, other: str) -> bool:
    named = (mapping.rater, mapping.criterion, mapping.target, mapping.repeat, mapping.first, mapping.second)
    keys = [*mapping.item, *filter(None, named), *mapping.factors]
    if mapping.text:
        texts = [*keys, mapping.text]
        return bool(_several(raw, keys, texts) and not _several(raw, [*keys, other], [*texts, other]))
    if not (mapping.repeat or mapping.repeats):
        return False
    return bool(raw.frame.duplicated(keys).any() and not raw.frame.duplicated([*keys, other]).any())


def _several(raw: RawTable, keys: list[str], more: list[str]) -> bool:
    """Whether rows that are alike in `keys` differ in `more`."""
    return len(raw.frame[more].drop_duplicates()) > len(raw.frame[keys].drop_duplicates())


def _groups(mapping: ColumnMapping) -> list[str]:
    """Columns called as groups are that vary within a few items, and were not recognised for that."""
    return [name for name in mapping.ignored if plain(name) in (*NAMES["cluster"], *TALKS)]


def _with_gold(raw: RawTable, mapping: ColumnMapping, notes: list[str]) -> tuple[ColumnMapping, list[str]]:
    """A column of right answers on the raters' own scale is read as one more person, whose answers are right. Beside
    scores of several systems, two values mark which of them is right and are no scores."""
    if not mapping.gold:
        return mapping, notes
    columns = [*mapping.value, *mapping.repeats, *(c for cs in mapping.raters.values() for c in cs)]
    known = {str(v).strip().lower() for c in columns for v in raw.frame[c].unique()} - {""}
    right = {str(v).strip().lower() for v in raw.frame[mapping.gold].unique()} - {""}
    if not right <= known or (mapping.target and not mapping.pairs and len(right) <= 2 < len(known)):
        return mapping, notes
    raters = {**mapping.raters, mapping.gold: (mapping.gold,)}
    people, truth = (*mapping.people, mapping.gold), rater_name(mapping.gold)
    notes = [*notes, f"{mapping.gold} holds right answers on the same scale: read as one more person"]
    return replace(mapping, raters=raters, people=people, gold="", truth=truth), notes


def _scored(
    rows: pd.DataFrame, judged: Judgements, raw: RawTable, mapping: ColumnMapping, factors: list[str], clusters: str
) -> Ratings:
    columns = ["rater", "kind", "item", "target", "criterion", "repeat", "score", "response", "status", *factors]
    table = rows[columns].reset_index(drop=True)
    return Ratings.of(
        table, scales=judged.scales, factors=factors, authors=_authors(rows, mapping),
        texts=_texts(rows, raw, mapping), clusters=_plural(clusters) if "cluster" in rows else "items",
        truth=mapping.truth, **_decided_by(judged.scales, mapping),
    )  # fmt: skip


def _decided_by(scales: Mapping[str, Scale], mapping: ColumnMapping) -> dict[str, Any]:
    """`positive` and `thresholds` of the criteria that they fit. `RecuseError` where they fit none."""
    numeric = [name for name, scale in scales.items() if isinstance(scale, Numeric)]
    having = [name for name, scale in scales.items() if mapping.positive in getattr(scale, "options", ())]
    if mapping.positive and not having:
        options = dict.fromkeys(option for scale in scales.values() for option in getattr(scale, "options", ()))
        known = ", ".join(options) or "numbers only"
        raise RecuseError(f"positive = {mapping.positive!r} is none of the options; there are {known}")
    if mapping.threshold and not numeric:
        raise RecuseError(f"threshold = {mapping.threshold!r} needs scores; there are options only: name positive")
    thresholds = dict.fromkeys(numeric, (score_of(mapping.threshold),)) if mapping.threshold else {}
    return {"positive": dict.fromkeys(having, mapping.positive), "thresholds": thresholds}


def score_of(threshold: str) -> float:
    """A threshold as a user writes it. `RecuseError` where it is no finite number."""
    with suppress(ValueError):
        if isfinite(score := float(threshold)):
            return score
    raise RecuseError(f"threshold is a score, for example 4; got {threshold!r}")


def _without_sets(ratings: Ratings) -> tuple[str, Ratings]:
    """What the rows are, and the ratings about the criteria that are no sets, with the sets beside them."""
    sets = tuple(name for name in ratings.headline if isinstance(ratings.scales[name], ResponseSets))
    rest = tuple(name for name in ratings.headline if name not in sets)
    if not (sets and rest):
        return "response_sets" if sets else "scores", ratings
    table = ratings.table
    endorsed = replace(ratings, table=table[table["criterion"].isin(sets)], headline=sets, _memory={})
    chosen = ratings.with_criterion(*rest)
    return "scores", replace(chosen, beside=lambda kind: endorsed if kind == "response_sets" else None, _memory={})


def _chosen(rows: pd.DataFrame, mapping: ColumnMapping, factors: list[str], clusters: str) -> Ratings:
    from recuse.ratings.pair_array import read_choices

    kept = ["rater", "kind", "item", "first", "second", "repeat", "response", *factors]
    kept += [name for name in ("text_a", "text_b") if name in rows]
    table = rows[[*kept, *(["cluster"] if "cluster" in rows else [])]].reset_index(drop=True)
    if "text_a" in table:
        table = table.assign(**{f"words_{side}": table[f"text_{side}"].map(word_count) for side in ("a", "b")})
    if plain(mapping.first).startswith("generator"):  # AlpacaEval shows them in an order that it does not keep
        table = table.rename(columns={"first": "a", "second": "b"})
        table["response"] = table["response"].replace({"first": "a", "second": "b"})
    called = _plural(clusters if "cluster" in rows else (mapping.item or ("item",))[0])
    return replace(read_choices(table, factors=factors, clusters=called), truth=mapping.truth)


def _authors(rows: pd.DataFrame, mapping: ColumnMapping) -> dict[str, str]:
    """A judge wrote what bears its name, or the targets that a column `author` gives it."""
    judges = {str(r) for r in rows.loc[rows["kind"] == "judge", "rater"].unique()}
    if mapping.author:
        wrote = rows[["target", "author"]].drop_duplicates()
        return {str(a): str(t) for t, a in zip(wrote["target"], wrote["author"], strict=True) if a in judges}
    return {str(t): str(t) for t in rows["target"].unique() if t in judges}


def _texts(rows: pd.DataFrame, raw: RawTable, mapping: ColumnMapping) -> pd.DataFrame | None:
    """What the file tells of each text: its cluster, the text with its number of words, the right answer."""
    alike = [name for name in _groups(mapping) if raw.frame[name].nunique(dropna=False) == 1]  # a file of one topic
    per_text = [*alike, *(name for name in ("text", "gold", "slices") if getattr(mapping, name))]
    counted = next((c for c in raw.frame.columns if plain(str(c)) in ("words", "n_words", "word_count")), None)
    if not per_text and counted is None and "cluster" not in rows:
        return None
    first = rows.drop_duplicates(["item", "target"])
    texts = first[["item", "target"]].reset_index(drop=True)
    at = first["row"].to_numpy()
    if "cluster" in rows:
        texts["cluster"] = first["cluster"].to_numpy()
    for name in (*mapping.slices, *alike):
        texts[plain(name)] = named(raw.frame[name], "(empty)").to_numpy()[at]
    if mapping.text:
        texts["text"] = raw.frame[mapping.text].to_numpy(dtype=object)[at]
        texts["words"] = np.array([word_count(text) or np.nan for text in texts["text"]], dtype=float)
    if counted is not None:
        from recuse.readers.values import as_numbers

        texts["words"] = as_numbers(raw.frame[counted]).to_numpy()[at]
    if mapping.gold:
        texts["gold"] = named(raw.frame[mapping.gold]).to_numpy()[at]
    return texts


def _plural(name: str) -> str:
    word = plain(name).replace("_id", "").replace("_", " ")
    return word if word.endswith("s") else f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def _few_rated(ratings: Ratings) -> list[str]:
    """People who rated a handful of the items only."""
    table = ratings.table[ratings.table["kind"] == "person"].drop_duplicates(["rater", "item"])
    each, times = table["item"].astype(str), ratings.times
    counts = each.map(times).groupby(table["rater"], sort=False, observed=True).sum() if times else (
        each.groupby(table["rater"], sort=False, observed=True).size())  # fmt: skip
    items = sum(times.values()) if times else ratings.table["item"].nunique()
    few = counts[(counts < FEW_RATED) | (counts < 0.05 * items)]
    if few.empty or items < FEW_RATED:
        return []
    phrases = ", ".join(f"{name} {n}" for name, n in few.items())
    return [f"some people rated few of the {items} items: {phrases}. What rests on them alone says little"]
