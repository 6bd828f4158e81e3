"""One file as ratings: read, recognised, checked, with what is known of it in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recuse.configuration import named as by_name
from recuse.ratings import Numeric, Ratings, ResponseSets, Scale
from recuse.ratings.array import coded, first_of, grouped
from recuse.ratings.folding import unfolded
from recuse.ratings.needs import offers_of
from recuse.ratings.pair_array import choices_of
from recuse.ratings.people_faults import PeopleFault, people_faults, sentences
from recuse.ratings.ratings_table import PERSON
from recuse.ratings.scale import check_thresholds
from recuse.readers import judgement_rows, reshaping
from recuse.readers.column_names import plain
from recuse.readers.columns import like_ratings
from recuse.readers.counts import with_counted_items, without_counts
from recuse.readers.exports import as_exported
from recuse.readers.filled_lists import check_no_list
from recuse.readers.formats import FOLDED, RatingsSource, read_source
from recuse.readers.item_columns import groups_of, with_gold, with_merged_cells, with_whole_items
from recuse.readers.json_cells import with_fields_of_json, with_last_words, with_lists_apart
from recuse.readers.judgement_rows import Judgements, lengthened, named, numbers_beside, with_confidence, with_kinds
from recuse.readers.judgements import read_answers
from recuse.readers.mapping import ColumnMapping, folder_of, given_mapping, saved_mapping, saved_path, stem_of
from recuse.readers.raw_table import Fault, RawTable, errors_in, shown, word_count
from recuse.readers.recognise import with_roles
from recuse.readers.repeated_rows import with_absent_rows, with_copies_in_clusters, without_copies, without_duplicates
from recuse.readers.values import as_numbers, as_whole_numbers, spelled, written_otherwise
from recuse.schema import Provenance, RecuseError
from recuse.schema.factors import VERSION, in_time, levels_in
from recuse.schema.number_text import more
from recuse.schema.results import PanelRow
from recuse.schema.vocabulary import FILE

SHAPING: tuple[Callable[[RawTable], RawTable], ...] = (
    reshaping.in_the_same_words, reshaping.with_marked_answers, without_counts, with_fields_of_json, as_exported,
    with_lists_apart, with_last_words, reshaping.with_shares_of_scales, reshaping.as_rows, reshaping.with_places,
    reshaping.with_both_of_a_pair, reshaping.with_systems_apart,
)  # fmt: skip
"""What makes a table with one answer a cell of whatever a tool or a form wrote, in this order."""
SETTLING: tuple[Callable[[Judgements], Judgements], ...] = (
    with_counted_items, with_roles, with_merged_cells, with_whole_items, with_gold, lengthened, with_kinds,
    without_copies, read_answers, without_duplicates, with_copies_in_clusters,
)  # fmt: skip
"""What makes rows that count of that: what its columns are, who says what, what is there twice, in this order."""
FEW_RATED, FEW_NAMED = 5, 8
SETS = "response_set"  # what stands in the place of a protocol for sets of options beside a file's ratings


@dataclass(frozen=True, eq=False)
class FilePanel:
    """A file is a panel, whose judges were asked elsewhere: `ratings` and how it came to them. `kind` is what its rows
    are: "scores", "choices" or "response_sets"; where it holds options and sets of them, `ratings` are about the
    options, and the sets are beside them. `rows` has one row per judgement with its `row` in `raw.frame` (of one that
    is absent, that of another rater on the same text); `sha256` is that of the file as it lies there."""

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
    older: tuple[FilePanel, ...] = ()  # files with earlier versions of the judges, the oldest first
    provenance: Provenance = "imported"

    @property
    def name(self) -> str:
        """The file's name without its endings, as it may be part of a report's anchors; its task's as well."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", stem_of(self.path)).strip("-._")[:64] or "ratings"

    task = name

    @property
    def uses(self) -> tuple[str, ...] | None:
        """What its judges are used for, as stated by --use or beside the file; None where the ratings say."""
        return self.mapping.use or None

    def protocol(self, kind: str) -> str:
        """What stands in the place of a protocol for rows of a kind: sets beside options have a name of their own."""
        return SETS if kind == "response_sets" and self.ratings.beside(kind) is not None else FILE

    def by(self, protocol: str) -> Ratings:
        """The ratings by what stands in the place of a protocol."""
        return (self.ratings.beside("response_sets") if protocol == SETS else None) or self.ratings

    def calls(self) -> pd.DataFrame:
        """A row per call with its `cost`, in the file's unit; none where no column says what calls cost."""
        judges = self.judges if "row" in self.rows else ()
        cost = numbers_beside(self.rows, self.raw.frame, self.mapping, judges, judgement_rows.COST)
        return self.rows[:0] if cost is None else self.rows.assign(cost=cost).drop_duplicates(["rater", "row"])

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges in the file, in order of first appearance."""
        return self.ratings.judges

    @cached_property
    def newest(self) -> str:
        """The newest of several versions of the judges, in files or in a column: it alone is cleared or refused."""
        table = self.ratings.table
        several = self.older or VERSION in map(plain, self.mapping.factors)
        there = levels_in(table[table["kind"] == "judge"], VERSION) if several and VERSION in table else ()
        return there[-1] if there else ""

    @cached_property
    def offers(self) -> frozenset[str]:
        """The needs that the ratings meet."""
        return offers_of(self.ratings, self.kind) | ({"picks", "levels"} if self.mapping.rates else set())

    @property
    def is_counted(self) -> bool:
        """Whether items are counted by their answers, and so have no names."""
        return self.ratings.times is not None or self.raw.made_by == FOLDED

    @cached_property
    def unused(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Columns that look like ratings and are not used, each with why; and the others without a role."""
        frame, mapping = self.raw.frame, self.mapping
        alike = {name: why for name, why in mapping.ignored.items() if like_ratings(frame, name)}
        known = "confidence" in self.ratings.table
        sure = judgement_rows.columns_beside(frame, mapping, self.judges, judgement_rows.CONFIDENCE) if known else {}
        return alike, tuple(name for name in mapping.ignored if name not in alike and name not in sure.values())

    def record(self) -> PanelRow:
        """The panel as results.json tells it."""
        authors, files = self.ratings.own(), (*self.older, self)
        names = ", ".join(read.path.name for read in files)
        return {
            "name": self.name, "provenance": self.provenance,
            "description": f"Ratings from {names}: {self.ratings.judgements} judgements.",
            "source": "; ".join(f"{r.path.name}, sha256 {r.sha256}" for r in files), "judges": [
                {"name": judge, "label": judge, "wire": "", "model": judge, "author": authors.get(judge)}
                for judge in self.judges
            ],
            "tasks": [self.task], "read_as": self.mapping.record(), "notes": list(self.notes),
            "faults": [{**asdict(fault), "places": [*fault.places]} for fault in self.faults],
            "people_faults": sentences(self.people_faults),
        }  # fmt: skip

    def cells_of(self, column: str, texts: pd.MultiIndex) -> list[str]:
        """What a column holds of these texts (item, target): the first row of each."""
        first = self.rows.drop_duplicates(["item", "target"]).set_index(["item", "target"])["row"]
        return [*self.raw.frame[column].to_numpy(dtype=object)[first.reindex(texts).to_numpy(dtype=int)]]


def read_file(
    source: RatingsSource, *further: RatingsSource, reader: str = "", compared: Collection[str] | None = None,
    elsewhere: Collection[str] = (), **given: Any,
) -> FilePanel:  # fmt: skip
    """The ratings of one file or data frame; of several, each holds the ratings of somebody else, who is called as the
    file is. `given` says of columns what they are (see `ColumnMapping`) and comes before what `FILE.recuse.toml` beside
    it says, which comes before what is recognised. `reader`: the name of a reader, or the dotted name of your own
    (`recuse.readers.formats`). `compared`: the two that are judges though their names may not tell, () where these are
    not named: then all are where nothing tells judges from people. `elsewhere`: raters who may be in another file.
    `RecuseError` with place and remedy for a file that cannot be read."""
    plain_given = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in given.items()}  # names in a Series
    given = {k: v for k, v in plain_given.items() if v}
    kept = saved_mapping(Path(source)) if isinstance(source, Path | str) else {}
    raw = read_source(source, reader, {**kept, **given})
    with errors_in(raw.path):
        check_no_list(raw.names, raw.path)
        if raw.made_by == FOLDED:
            away = ("item", "rater", "value", "ignore")
            kept, given = ({k: v for k, v in one.items() if k not in away} for one in (kept, given))
        if further:
            raw = reshaping.below_one_another([raw, *(read_source(one, reader, {**kept, **given}) for one in further)])
        raw = replace(raw, given={**kept, **given})
        for shaped in SHAPING:
            raw = shaped(raw)
        saved = given_mapping(kept, raw.names, saved_path(raw.path).name)
        own = given_mapping(given, raw.names, raw.path.name)
        judged = Judgements(replace(raw, roles={**raw.roles, **saved, **own}), compared=compared, elsewhere=elsewhere)
        for settled in SETTLING:
            judged = settled(judged)
        if further:
            _check_items_shared(judgement_rows.written_out(judged.rows))
        return _rated(with_absent_rows(judged))


def _check_items_shared(rows: pd.DataFrame) -> None:
    """`RecuseError` where the file of one rater names no item as any other does, or some of them with more zeros."""
    of = {str(rater): dict.fromkeys(map(str, own.unique())) for rater, own in rows.groupby("rater", sort=False)["item"]}
    for rater, own in of.items():
        others = {item: other for other, items in of.items() if other != rater for item in items}
        pair = written_otherwise(own, others)
        if pair is None and others and own.keys().isdisjoint(others):
            pair = next(iter(own)), next(iter(others))
        if pair is not None:
            raise RecuseError(
                f"{rater} does not name items as the other files do: {shown(pair[0])} is there, {shown(pair[1])} in "
                f"that of {others[pair[1]]}. Write the names in one form, or say which column holds them: --item COLUMN"
            )


def _rated(judged: Judgements) -> FilePanel:
    raw, mapping, rows = replace(judged.raw, _coded={}), judged.mapping, judgement_rows.written_out(judged.rows)
    kind, ratings = ("choices", _chosen(judged, rows)) if mapping.pairs else _without_sets(_scored(judged, rows))
    truth: tuple[str, ...] = ()
    if ratings.truth and "truth" not in raw.given:
        people = ratings.table[ratings.table["kind"].eq(PERSON) & ratings.table["status"].eq("ok")]
        right = people["rater"].astype(str).eq(ratings.truth)
        filled, rated = (len(people.loc[rows, ["item", "target"]].drop_duplicates()) for rows in (right, ~right))
        truth = (f"{ratings.truth} holds right answers on the same scale: judges are held against them",)
        if 2 * filled < rated:  # what all people say of all texts tells more of a judge than what is right of a few
            what = f"holds right answers of {filled} texts, people rated {rated}: read as one more person"
            truth, ratings = (f"{ratings.truth} {what}",), replace(ratings, truth="", _memory={})
    mapping = replace(mapping, truth=ratings.truth)
    ratings, decided = ratings.as_decisions(mapping.use)
    ratings, sure = with_confidence(ratings, judged)
    ratings = replace(ratings, reference=_rates(mapping.rates, raw.path)) if mapping.rates else ratings
    if raw.times is not None:
        of_row = raw.times[judged.rows["row"].to_numpy()]
        known = dict(zip(judged.rows["item"].astype(str), of_row.tolist(), strict=True))
        items = ratings.coded("item")[0]
        if unnamed := [name for name in items if name not in known]:
            raise RecuseError(
                f"{len(unnamed)} items, first {unnamed[0]}, have several rows that are counted; give each its own item"
            )
        ratings = replace(ratings, times={name: known[name] for name in items}, _memory={})
        texts = ratings.texts
        if texts is not None and "cluster" in texts and (texts["cluster"] != texts["item"]).any():
            ratings = unfolded(ratings, f"an interval over {ratings.clusters} asks")
    of_people = people_faults(ratings)
    ratings, versions = _with_versions(ratings)
    few = _few_rated(ratings.folded()) if ratings.persons else []
    notes = (*raw.notes, *versions, *truth, *decided, *sure, *few, *sentences(of_people))
    return FilePanel(raw.path, raw.sha256, ratings, kind, mapping, raw, rows, raw.faults, notes, of_people)


def _with_versions(ratings: Ratings) -> tuple[Ratings, list[str]]:
    """Judges by version, people beside each, and a note which is the newest; `RecuseError` where names differ."""
    if VERSION not in ratings.factors:
        return ratings, []
    person = ratings.table["kind"].eq(PERSON)
    judges, people = ratings.table[~person], ratings.table[person]
    levels = [*levels_in(judges, VERSION)]
    if len(levels) < 2:
        return ratings, []
    numbers = [[int(number) for number in re.findall(r"\d+", level)] for level in levels]
    known, alike = in_time(levels), len({re.sub(r"\d+", "", level) for level in levels}) == 1
    if (known or levels) != levels or (known is None and alike and numbers != sorted(numbers)):
        raise RecuseError(
            f"versions of the judges come as {', '.join(levels)}, and the verdict is on the last, which is not the "
            "newest by its name; put the rows of older ones first, or give each version a file, the oldest first"
        )
    if not people[VERSION].isin(levels).any():  # people judged texts, not versions
        table = pd.concat([judges, *(people.assign(**{VERSION: level}) for level in levels)], ignore_index=True)
        ratings = replace(ratings, table=table.astype({VERSION: str}), _memory={})
    return ratings, [f"versions of one judge, the oldest first: {', '.join(levels)}; the verdict is on {levels[-1]}"]


def _rates(given: str, ratings: Path) -> pd.DataFrame:
    """True values, columns item and value: a CSV file or a .toml of rates, beside the ratings or in this folder."""
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
    return table.assign(item=as_whole_numbers(pd.Series(named(*pd.factorize(table["item"])))).astype(str))


def _scored(judged: Judgements, written: pd.DataFrame) -> Ratings:
    """`RecuseError` for a positive option or a threshold that fits no criterion. `written`: the rows with all texts."""
    rows, mapping, factors, scales = judged.rows, judged.mapping, judged.factors, judged.scales
    options = {name: scale.options for name, scale in scales.items() if not isinstance(scale, Numeric)}
    wanted = spelled(mapping.positive)
    positive = {name: option for name, own in options.items() for option in own if spelled(option) == wanted}
    if mapping.positive and not positive:
        known = ", ".join(dict.fromkeys(option for own in options.values() for option in own)) or "numbers only"
        raise RecuseError(f"positive = {mapping.positive!r} is none of the options; there are {known}")
    columns = ["rater", "kind", "item", "target", "criterion", "repeat", "score", "response", "status", *factors]
    table = written[columns].reset_index(drop=True)
    names = {("coded", n): coded(rows[n]) for n in columns if isinstance(rows[n].dtype, pd.CategoricalDtype)}
    # a judge wrote what bears its name, or the targets that a column `author` gives it
    wrote = rows[["target", *(["author"] if mapping.author else [])]].drop_duplicates().astype(str).to_numpy()
    judges = {*map(str, rows["rater"][rows["kind"].eq("judge")].unique())}
    return Ratings.of(
        table, scales=scales, factors=factors, authors={own[-1]: own[0] for own in wrote if own[-1] in judges},
        texts=_texts(rows, judged.raw, mapping), clusters=_plural(judged.clusters) if "cluster" in rows else "items",
        truth=mapping.truth, positive=positive, thresholds=thresholds_of(mapping.threshold, scales), _memory=names,
    )  # fmt: skip


def thresholds_of(threshold: str, scales: Mapping[str, Scale], place: str = "") -> dict[str, tuple[float, ...]]:
    """Criterion of scores -> from which on a text passes, where a threshold is given. `RecuseError` for none that is a
    score, where there are options only, and for one that decides nothing."""
    if not threshold:
        return {}
    numeric, scores = [name for name, scale in scales.items() if isinstance(scale, Numeric)], (score_of(threshold),)
    if not numeric:
        raise RecuseError(f"{place}threshold = {threshold!r} needs scores; there are options only: name positive")
    check_thresholds(scores, scales.values(), place)
    return dict.fromkeys(numeric, scores)


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


def _chosen(judged: Judgements, rows: pd.DataFrame) -> Ratings:
    mapping, factors = judged.mapping, judged.factors
    kept = ["rater", "kind", "item", "first", "second", "repeat", "response", *factors]
    table = rows[[*kept, *(name for name in ("text_a", "text_b", "cluster") if name in rows)]].reset_index(drop=True)
    if "text_a" in table:
        table = table.assign(**{f"words_{side}": table[f"text_{side}"].map(word_count) for side in ("a", "b")})
    ordered = not plain(mapping.first).startswith("generator")  # AlpacaEval shows them in an order that it loses
    called = _plural(judged.clusters if "cluster" in rows else (mapping.item or ("item",))[0])
    return replace(choices_of(table, ordered=ordered, factors=factors, clusters=called), truth=mapping.truth)


def _texts(rows: pd.DataFrame, raw: RawTable, mapping: ColumnMapping) -> pd.DataFrame | None:
    """What the file tells of each text: its cluster, the text with its number of words, the right answer."""
    alike = [name for name in groups_of(mapping) if raw.frame[name].nunique(dropna=False) == 1]  # a file of one topic
    per_text = [*alike, *(name for name in ("text", "gold", "slices") if getattr(mapping, name))]
    counted = next((c for c in raw.frame.columns if plain(str(c)) in ("words", "n_words", "word_count")), None)
    if not per_text and counted is None and "cluster" not in rows:
        return None
    first = rows.iloc[first_of(grouped(rows["item"], rows["target"]))]
    texts = judgement_rows.written_out(first[["item", "target"]]).reset_index(drop=True)
    at = first["row"].to_numpy()
    if "cluster" in rows:
        texts["cluster"] = first["cluster"].to_numpy()
    for name in (*mapping.slices, *alike):
        texts[plain(name)] = np.asarray(named(*raw.coded(name), "(empty)")[at])
    if mapping.text:
        cells = raw.frame[mapping.text].to_numpy(dtype=object)[at]
        texts["text"] = pd.Series(cells, dtype=object)
        texts["words"] = np.array([word_count(text) or np.nan for text in cells], dtype=float)
    if counted is not None:
        texts["words"] = as_numbers(raw.frame[counted]).to_numpy()[at]
    if mapping.gold:
        texts["gold"] = np.asarray(named(*raw.coded(mapping.gold))[at])
    return texts


def _plural(name: str) -> str:
    word = plain(name).replace("_id", "").replace("_", " ")
    return word if word.endswith("s") else f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def _few_rated(ratings: Ratings) -> list[str]:
    (raters, rater), (texts, item), times = ratings.coded("rater"), ratings.coded("item"), ratings.times
    each = np.array([times[text] if times else 1 for text in texts])
    rated = pd.unique(rater * len(texts) + item)
    counts = np.bincount(rated // len(texts), each[rated % len(texts)]).astype(int)
    numbers, items = {name: counts[raters.index(name)] for name in ratings.persons}, each.sum()
    phrases = [f"{name} {n}" for name, n in numbers.items() if n < max(FEW_RATED, 0.05 * items)]
    if not phrases or items < FEW_RATED:
        return []
    first = ", ".join(phrases[:FEW_NAMED]) + more(phrases, FEW_NAMED)
    return [f"some people rated few of the {items} items: {first}. What rests on them alone says little"]
