"""From a table of any shape to one row per judgement: who, a judge or a person, said what of which item, and where."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import union_categoricals

from recuse.ratings import Ratings, Scale
from recuse.ratings.array import first_of, grouped
from recuse.readers import column_names
from recuse.readers.column_names import as_option, in_quotes, is_judge, is_person, plain, rater_name
from recuse.readers.mapping import ColumnMapping
from recuse.readers.raw_table import Fault, RawTable, shown
from recuse.readers.values import as_numbers, as_whole_numbers, is_empty
from recuse.schema import RecuseError
from recuse.security.sanitize import visible

LONGEST = 40  # names of what met in a pair are shorter than this on average; longer ones are the texts themselves
MOST_JUDGES = 200  # every judge is compared with every other
CODED = 120  # items whose names are longer are texts, and are called by a number that stands for what they say
ANYBODY = ("human", "humans", "people", "person", "persons", "annotator", "annotators", "crowd", "expert", "experts",
           "reviewer", "reviewers", "rater", "raters")  # fmt: skip
"""Names that stand for whoever it was: their repeats are different people."""
NUMBERED_AUTHOR = re.compile(r"^authors?_?\d+$")  # of a study; a column called author says who wrote the text
MEAN = {"mean", "average", "avg"}
ROUNDED = 0.06  # how far a mean of small numbers may lie from one that was written with a digit behind the point
CONFIDENCE = ("confidence", "certainty", "probability", "conf")
COST = ("cost", "cost_usd", "usd", "price")


@dataclass(frozen=True, eq=False)
class Judgements:
    """On the way from the table `raw` to ratings: `rows`, one a judgement, each with the `row` of the table that it is
    from; the scale of each criterion; what clusters of items are called. The table has the faults and notes. Raters who
    are said to be judges or people may be `elsewhere`: in another of several files."""

    raw: RawTable
    mapping: ColumnMapping = field(default_factory=ColumnMapping)
    compared: Collection[str] | None = None
    elsewhere: Collection[str] = ()
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    scales: Mapping[str, Scale] = field(default_factory=dict)
    clusters: str = ""

    @property
    def factors(self) -> list[str]:
        """The columns of `rows` that say what was varied."""
        order = ["order"] if self.mapping.order and not self.mapping.pairs else []
        return [*(plain(name) for name in self.mapping.factors), *order]

    def noted(self, *notes: str, faults: Iterable[Fault] = (), **changes: Any) -> Judgements:
        """The same with further notes and faults of the table, and changed otherwise."""
        return replace(self, raw=self.raw.noted(*notes, faults=(*self.raw.faults, *faults)), **changes)


def lengthened(judged: Judgements) -> Judgements:
    """One row per cell with a rating: `row`, `column`, rater, item, target, criterion, cluster, `repeat` (-1 where not
    known), first, second, `kind` as told ("" where nothing is), `cell`, and the factors by their own plain names."""
    mapping, facts, blocks = judged.mapping, _facts(judged.raw, judged.mapping), []
    anybody = mapping.value[0] if mapping.pairs and mapping.value else "judge"  # a choice by nobody is asked about
    if mapping.repeats:  # repeat -1 where a column holds one of each
        rated = [(anybody, "rating", k, column) for k, column in enumerate(mapping.repeats)]
    else:
        rated = [(anybody, name if mapping.value[1:] else "rating", -1, name) for name in mapping.value]
    for rater, columns in mapping.raters.items():
        criteria = [mapping.criteria.get(column, "rating") for column in columns]
        for k, (column, criterion) in enumerate(zip(columns, criteria, strict=True)):
            repeat = criteria[:k].count(criterion) if criteria.count(criterion) > 1 else -1
            rated.append((rater_name(rater), criterion, repeat, column))
    for rater, criterion, repeat, column in rated:
        at, cells = judged.raw.coded(column)
        beside = bool(mapping.value or mapping.repeats) and column not in (*mapping.value, *mapping.repeats)
        alike = {"column": column} | ({"rater": rater} if beside or not mapping.rater else {})
        alike |= {"kind": ""} if beside and mapping.kind else {}  # its kind is that of the rater whom the row names
        alike |= {} if mapping.criterion else {"criterion": criterion}
        same: dict[str, Any] = {role: _categorical(0 * at, [name]) for role, name in alike.items()}
        same |= {"repeat": repeat} if repeat >= 0 else {}
        block = facts.assign(column=same.pop("column"), cell=_categorical(at, [*cells, ""]), **same)
        if beside:  # a rating that stands in every row about a text, once for each rater of the file, is one rating
            about = [name for name in ("item", "target", "criterion", "first", "second", "cell") if name in block]
            block = block.drop_duplicates(about)
            block = block[~(is_empty(block["cell"]) & block.duplicated(about[:-1], keep=False))]  # written but once
        blocks.append(block)
    rows, names = pd.concat([block[["row", "repeat"]] for block in blocks], ignore_index=True), [*map(str, blocks[0])]
    parts = {n: [block[n] for block in blocks] for n in names if n not in rows}
    texts = {n: union_categoricals(each, sort_categories=n == "rater") for n, each in parts.items()}  # as in groups
    return replace(judged, rows=rows.assign(**texts)[names])


def named(codes: NDArray[Any], values: pd.Index[Any], usual: str = "") -> pd.Categorical[str]:
    """Cells as names that are safe to look at, an accent and its letter one character; `usual` for an empty cell."""
    names = [normalize("NFC", visible(str(v)).strip()) or usual for v in values.tolist()]
    return _categorical(codes, [*names, usual] if (codes < 0).any() else names)


def _categorical(codes: NDArray[Any], names: list[str]) -> pd.Categorical[str]:
    """The name that each code is a place of, as categories: what is made of a column is then made of its few names."""
    place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    codes = np.array([*map(place.__getitem__, names)], dtype=np.intp)[codes]
    return pd.Categorical.from_codes(codes, pd.Index([*place], dtype=object))


def written_out(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with texts in place of categories."""
    known = {str(name): rows[name].cat for name, kind in rows.dtypes.items() if isinstance(kind, pd.CategoricalDtype)}
    return rows.assign(**{n: pd.Series([*c.categories]).array.take(c.codes.to_numpy()) for n, c in known.items()})


def _facts(raw: RawTable, mapping: ColumnMapping) -> pd.DataFrame:
    row = np.arange(len(raw.frame))
    if mapping.item:  # of several columns joined; of long texts a number that is the same in every file
        parts = [as_whole_numbers(pd.Series(named(*raw.coded(name), "(empty)"))) for name in mapping.item]
        codes = grouped(*parts)
        each = zip(*(part.iloc[first_of(codes)].tolist() for part in parts), strict=True)
        items: NDArray[Any] = np.array([*map(" / ".join, each)], dtype=object)
        if long := [k for k, name in enumerate(items) if len(name) > CODED]:
            items[long] = called("item", digests_of(items[long]))
    else:
        codes, items = row, np.array([f"row {k + 1}" for k in row.tolist()], dtype=object)
    facts: dict[str, Any] = {"row": row, "item": _categorical(codes, items.tolist())}
    for role in ("rater", "target", "criterion", "kind", "first", "second", "cluster", "order", "author"):
        if column := getattr(mapping, role):
            facts[role] = named(*raw.coded(column), "rating" if role == "criterion" else "")
    if mapping.pairs:  # of texts too long for a name, what they say is it
        codes, values = pd.factorize(pd.concat([pd.Series(facts["first"]), pd.Series(facts["second"])]))
        if sum(map(len, values)) > LONGEST * max(len(values), 1):
            one, other = digests_of(values)[codes].reshape(2, -1)
            facts |= {"text_a": facts["first"], "text_b": facts["second"]}
            facts |= {"first": pd.Categorical(called("text", one)), "second": pd.Categorical(called("text", other))}
            facts |= {} if mapping.item else {"item": pd.Categorical(called("pair", one + other))}
    facts["repeat"] = -1
    if mapping.repeat:  # as numbers from 0, in the order of what the column says
        codes, values = raw.coded(mapping.repeat)
        numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
        order = numbers.argsort(kind="stable") if numbers.notna().all() else np.arange(len(values))
        facts["repeat"] = np.argsort(np.asarray(order))[codes]
    facts |= {plain(factor): named(*raw.coded(factor), "none") for factor in mapping.factors}
    facts.setdefault("target", _categorical(0 * row, [""]))
    return pd.DataFrame(facts)


def digests_of(texts: Any) -> NDArray[np.uint64]:
    """A number for each text: of one text the same in every file and every order."""
    return pd.util.hash_array(np.asarray(texts, dtype=object))


def called(what: str, digests: NDArray[np.uint64]) -> NDArray[Any]:
    """ "item 9ae16a3b2f90": twelve digits tell a million texts apart, but for once in 500."""
    return np.array([f"{what} {digest:016x}"[: len(what) + 13] for digest in digests.tolist()], dtype=object)


def with_kinds(judged: Judgements) -> Judgements:
    """The rows with `kind` "judge" or "person". What is said counts first (judges, people), then a column `kind`, then
    names (`_guessed`). `RecuseError` for a name that is said and not there, for one rater's name in two spellings, and
    where nothing tells judges from people."""
    long, mapping = judged.rows, judged.mapping
    nobodys = long["rater"].eq("") if mapping.rater else long["rater"].isna()
    if (rated := nobodys & ~is_empty(long["cell"])).any():
        raise RecuseError(
            f"{mapping.rater} names nobody in {int(rated.sum())} row(s) with a rating, the first at "
            f"{judged.raw.place(int(long['row'][rated].iloc[0]))}; write who rated, or leave such rows out"
        )
    long = long[~nobodys].reset_index(drop=True) if nobodys.any() else long
    raters = [str(name) for name in long["rater"].drop_duplicates()]
    both = {"judge": mapping.judges, "person": mapping.people}
    there = {name for name in judged.elsewhere if not _rater_of(name, raters)}
    here = {kind: tuple(name for name in names if name not in there) for kind, names in both.items()}
    also = "" if judged.compared is None else "; of each of two files by itself: recuse check FILE --people A,B --save"
    stated: dict[str, str] = {}
    for kind, name in ((kind, name) for kind, names in both.items() for name in names):
        if not (rater := name if name in there else _rater_of(name, raters)):
            known, commas = ", ".join(map(in_quotes, raters[:20])), [rater for rater in raters if "," in rater][:1]
            quotes = f"; a name with a comma is typed in quotes: {as_option(commas)}" if commas else ""
            raise RecuseError(f"there is no rater {name!r} to be a {kind}; the file has {known}{quotes}{also}")
        stated[rater] = kind
    in_column = long[["rater", "kind"]].drop_duplicates("rater").to_numpy() if mapping.kind else ()
    own_kinds = {str(r): "person" if is_person(k) else "judge" for r, k in in_column if k}
    kinds = _guessed(judged, raters, {**own_kinds, **stated})
    spelt: dict[str, str] = {}
    for rater in (r for r in raters if mapping.rater and r not in stated):
        if (other := spelt.setdefault(" ".join(rater.casefold().split()), rater)) != rater:
            raise RecuseError(
                f"{mapping.rater} names {shown(other)} and {shown(rater)}: write one name for one rater; if they are "
                f"two, say what both are, --people or --judges {as_option([other, rater])}"
            )
    if (judges := sum(kind == "judge" for kind in kinds.values())) > MOST_JUDGES:
        raise RecuseError(
            f"{judges:,} judges ({', '.join(map(shown, raters[:3]))}, ...); up to {MOST_JUDGES} are read. If they "
            "are people, say so (a column kind, or --people); if another column names the judge, say --rater COLUMN"
        )
    notes = []
    people = {rater for rater, kind in kinds.items() if kind == "person"}
    derived = [r for r in raters if column_names.is_derived(r) and r in people and r not in stated]
    others = people - {*derived}
    if derived and others:
        if not any(is_person(name) or name in {**stated, **own_kinds} for name in others):
            _check_made_of(long, derived, others)
        long = long[~long["rater"].isin(derived)].reset_index(drop=True)
        what = f"other raters' answers by the name, so nobody's own: left out; --people {derived[0]} holds the judges "
        notes.append(f"{', '.join(derived)}: made of {what}against it alone")
    elif derived:
        what = "several people's answers by the name, and read as one person's; how well people agree is not known"
        notes.append(f"{', '.join(derived)}: made of {what}")
    codes, names = pd.factorize(long["rater"])
    rows = long.assign(kind=_categorical(codes, [kinds[str(name)] for name in names]))
    for name in (r for r in raters if r in people and plain(r) in ANYBODY):
        of_rater = rows["rater"].eq(name)
        if rows.loc[of_rater, "repeat"].nunique() > 1:
            rows = rows.assign(rater=written_out(rows[["rater"]])["rater"])
            rows.loc[of_rater, "rater"] = name + " " + (rows.loc[of_rater, "repeat"] + 1).astype(str)
            rows.loc[of_rater, "repeat"] = 0
            notes.append(f"{name} is no one in particular: every repeat is read as another person")
    right = [r for r in raters if r in people and mapping.rater and column_names.is_gold(r) and r not in stated]
    truth = mapping.truth or (right[0] if len(right) == 1 else "")
    mapping = replace(mapping, judges=here["judge"], people=here["person"], truth=truth)
    return judged.noted(*notes, rows=rows, mapping=mapping)


def _check_made_of(rows: pd.DataFrame, derived: list[str], people: Collection[str]) -> None:
    """`RecuseError` where a mean of people is not that of those who are taken for people: one may be a model."""
    answers = rows.assign(number=as_numbers(rows["cell"])).set_index(["item", "target", "criterion"])
    mean = answers["number"][answers["rater"].isin(people)].groupby(level=[0, 1, 2], observed=True).mean()
    for name in derived if mean.notna().any() else ():
        stated = answers["number"][answers["rater"].eq(name)].groupby(level=[0, 1, 2], observed=True).first().dropna()
        alike = (mean.reindex(stated.index) - stated).abs() <= (0.5 if (stated % 1 == 0).all() else ROUNDED)
        if MEAN & {*plain(name).split("_")} and len(stated) and alike.mean() < 0.5:
            raise RecuseError(
                f"{name} is not the mean of {', '.join(map(shown, sorted(people)))}: say who rated as a person and who "
                f"is a judge, --people A,B or --judges {as_option(sorted(people)[:2])}"
            )


def _guessed(judged: Judgements, raters: list[str], known: dict[str, str]) -> dict[str, str]:
    """Raters called as models are judges, called as people are people; the others are people where some are called as
    judges, and judges otherwise. In a column called annotator, who is not called as judges are is a person; in one
    called judge it is the other way round. `RecuseError` for who may be either: no first name beside first names, a
    program's name, several words beside people. All are judges where it is not said which two are `compared`."""
    column, compared = judged.mapping.rater, judged.compared
    own = {rater_name(name): name for name in judged.mapping.raters}
    rest = [name for name in raters if name not in known]
    judges = [name for name in rest if is_judge(name)]
    people = [name for name in rest if (is_person(name) or NUMBERED_AUTHOR.match(plain(name))) and name not in judges]
    if is_person(column) and not is_judge(column):
        people = [name for name in rest if name not in judges]
    elif is_judge(column) and not judges:
        judges = [name for name in rest if name not in people]
    unknown = [name for name in rest if name not in {*judges, *people, *(compared or ())}]
    some_judge = bool(judges) or "judge" in known.values()
    some_person = bool(people) or "person" in known.values()
    otherwise = "person" if some_judge and not some_person else "judge"
    criteria = [n for n in unknown if column_names.is_criterion(n)]  # of which one may be what a person rated
    other = {*(criteria if criteria[1:] else ()), *filter(column_names.is_software, unknown)}
    first_names = [n for n in unknown if some_judge and n.isalpha() and n not in other]
    alike = [n for n in first_names if all(own.get(name, name) != name for name in (n, *judges))]  # as gpt_label is
    people, unknown = [*people, *first_names], [n for n in unknown if n not in first_names]
    open_ = [] if some_judge or some_person or compared == () else unknown
    if some_person and not (some_judge or known or is_judge(column)):
        names = [n for n in unknown if n.isalpha() and n not in other]  # Maria beside expert and classifier
        persons = [n for n in names if len(n) > 1 and column_names.may_be_a_person(n)]  # or beside Jonas
        made = [n for n in unknown if plain(n) in column_names.DERIVED]
        open_ = names if persons[1:] or any(map(column_names.is_software, unknown)) else made
    program = any(n in other or (is_judge(column) and not n.isdigit()) for n in unknown)
    if judges and not (known or some_person) and (first_names or program):
        unclear = [name for name in first_names if is_judge(column) and name not in own] + unknown  # or a program
        open_ = [name for name in unclear if not column_names.is_derived(name)]
    open_ = [*open_, *(alike if not known and any(own.get(name, name) == name for name in people) else ())]
    if judges and people and not (known or is_judge(column)):  # "Priya S.", "team lead" beside expert: or a program
        several = [n for n in unknown if "_" in plain(n) and not any(map(str.isdigit, n))]
        open_ = [*open_, *(n for n in several if n not in {*open_, *other} and not column_names.is_derived(n))]
    if open_:
        raise RecuseError(
            f"no name tells judges from people: {', '.join(map(shown, open_[:6]))}{', ...' if open_[6:] else ''}; say "
            "--judges A,B (the others are people) or --people A,B (the others are judges); --save of recuse check "
            "keeps it"
        )
    kinds = {**dict.fromkeys(judges, "judge"), **dict.fromkeys(people, "person"), **dict.fromkeys(unknown, otherwise)}
    return {**dict.fromkeys(rest, "judge"), **kinds, **known}


def _rater_of(name: str, raters: list[str]) -> str:
    last = [rater for rater in raters if name and rater.rsplit(".", 1)[-1] == name.rsplit(".", 1)[-1]]
    candidates = (name, rater_name(name), *(last if len(last) == 1 else ()))
    return next((candidate for candidate in candidates if candidate in raters), "")


def numbers_beside(
    rows: pd.DataFrame, frame: pd.DataFrame, mapping: ColumnMapping, judges: Collection[str], names: Collection[str]
) -> pd.Series[float] | None:
    """A number for each of `rows` (rater, row), NaN where there is none, from columns of `frame` that are called
    `names`; None where there is no such column. "85 %" is 0.85."""
    if not (of_judge := columns_beside(frame, mapping, judges, names)):
        return None
    values = pd.Series(np.nan, index=rows.index)
    for judge, column in of_judge.items():
        its_rows = rows["rater"].eq(judge)
        text = frame[column].astype(str).str.strip()
        number = pd.to_numeric(text.str.rstrip("% ").str.lstrip("$ "), errors="coerce")
        number = number.where(~text.str.endswith("%"), number / 100)
        values[its_rows] = number.to_numpy(dtype=float)[rows.loc[its_rows, "row"].to_numpy(dtype=int)]
    return values if values.notna().any() else None


def columns_beside(
    frame: pd.DataFrame, mapping: ColumnMapping, judges: Collection[str], names: Collection[str]
) -> dict[str, str]:
    """Judge -> the column of `frame` that is called one of `names` and is about its answers, where there is one."""
    called = {plain(str(column)): str(column) for column in frame.columns}
    shared = next((called[name] for name in names if name in called), "") if mapping.rater else ""
    answers = re.compile(rf"^(?:{'|'.join(end[1:] for end in column_names.SUFFIX)})_")
    own = {  # rating_gpt4 and gpt4_score are gpt4's
        judge: called[key] for judge in judges for name in names for bare in (plain(rater_name(judge)),)
        for part in (plain(judge), bare, answers.sub("", bare))
        for key in (f"{part}_{name}", f"{name}_{part}") if key in called
    }  # fmt: skip
    for key, column in called.items():  # gpt_confidence beside gpt_urteil, where no other judge begins so
        stem, _, last = key.rpartition("_")
        begins = [judge for judge in judges if last in names and f"{plain(judge)}_".startswith(f"{stem}_")]
        if stem and len(begins) == 1:
            own.setdefault(begins[0], column)
    return {judge: own.get(judge, shared) for judge in judges if own.get(judge, shared)}


def with_confidence(ratings: Ratings, judged: Judgements) -> tuple[Ratings, list[str]]:
    """The ratings with a column `confidence` beside the judges' answers, and a note; the same where the file has none,
    and where rows of the ratings are not those of the file (repeats in columns of their own)."""
    rows = judged.rows
    sure = numbers_beside(rows, judged.raw.frame, judged.mapping, ratings.judges, CONFIDENCE)
    if sure is None or "confidence" in ratings.table:
        return ratings, []
    keys = ["rater", "item", "target"]
    each = rows.assign(confidence=sure)[[*keys, "confidence"]].astype(dict.fromkeys(keys, str))
    known = each.dropna().groupby(keys, sort=False)["confidence"].mean()
    confidence = known.reindex(pd.MultiIndex.from_frame(ratings.table[keys].astype(str))).to_numpy(dtype=float)
    judges = [judge for judge in ratings.judges if judge in known.index.get_level_values("rater")]
    note = f"how sure it was is known of {', '.join(judges)}"
    return replace(ratings, table=ratings.table.assign(confidence=confidence), _memory={}), [note]
