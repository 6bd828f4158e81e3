"""Which column was read as what: in plain words, changed by arguments or by a small TOML file beside the data."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import takewhile
from pathlib import Path
from typing import Any

from recuse.configuration.toml_files import did_you_mean
from recuse.readers.column_names import NAMES, listed, plain
from recuse.readers.raw_table import shown
from recuse.schema import RecuseError
from recuse.security.files import write_output

ENDINGS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".eval", ".gz", ".bz2", ".xz", ".zip")
"""What names a file of ratings among `recuse_panels`; `--ratings` takes any file."""
LISTS = ("item", "value", "repeats", "judges", "people", "factors", "slices", "ignore", "use")
LONGEST = 1 << 20
DEEP = re.compile(r"""(?<![\w-])(?:[\w-]++|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[\w-]++|"[^"\n]*"|'[^'\n]*')){30}""")
"""A file of so many characters, and names within names so deep, are no mapping and take tomllib gigabytes."""
SETTINGS = ("scale", "same", "positive", "threshold", "truth", "sampled", "rates", "encoding")  # what is no column
OWN = ("row", "rater", "kind", "item", "target", "criterion", "repeat", "column", "cell", "score", "response", "status")
"""What rows of judgements have for themselves, and no factor is called."""


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Names of columns, "" or () where a file has none.

    - `item`: the column that names what was judged; several where only together they do.
    - `raters`: in a wide table, rater -> its column, or its columns, one per repeat; else `rater` is the column.
      Beside a column `rater`, those who have a column of their own. `criteria`: column of `raters` -> the criterion it
      is about, where a rater's columns are no repeats.
    - `value`: the column with the rating; several where each holds another criterion. `repeats`: columns that hold
      the repeats of one rating side by side. `count`: how many items a row stands for.
    - `judges`, `people`: names of raters. `factors`: what was varied. `slices`: what groups texts (a language).
      `ignored`: column -> why it is not read.
    - `scale`: as given, "1-5" or "fail<pass"; "" where the values decide. `same`: answers that say the same,
      "good=thumbs_up,bad=thumbs_down": the first of each is read as the second. `positive`: the option that is the
      property which texts are judged for; `threshold`: the score from which on a text passes. `truth`: the one of
      `raters` whose column holds right answers. `sampled`: whether judges were asked about samples of the texts, so
      that one without a row is not unanswered (`recuse.readers.repeated_rows`). `rates`: the file with what is true of
      the items, where ratings are levels that these were put on. `encoding`: of the file's letters. `use`: what the
      judges are used for, uses of the gates file or "none"; () where the ratings decide."""

    item: tuple[str, ...] = ()
    target: str = ""
    criterion: str = ""
    cluster: str = ""
    text: str = ""
    rater: str = ""
    kind: str = ""
    value: tuple[str, ...] = ()
    repeat: str = ""
    repeats: tuple[str, ...] = ()
    gold: str = ""
    author: str = ""
    reason: str = ""
    first: str = ""
    second: str = ""
    order: str = ""
    count: str = ""
    raters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    criteria: Mapping[str, str] = field(default_factory=dict)
    judges: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    scale: str = ""
    same: str = ""
    positive: str = ""
    threshold: str = ""
    truth: str = ""
    sampled: bool = False
    rates: str = ""
    encoding: str = ""
    use: tuple[str, ...] = ()

    @property
    def pairs(self) -> bool:
        """Whether a row compares two texts."""
        return bool(self.first)

    def filled(self, *roles: str) -> list[str]:
        """The columns with these roles, in this order."""
        return columns_in(getattr(self, role) for role in roles)

    @property
    def rated(self) -> list[str]:
        """The columns that hold ratings."""
        return [*self.filled("value", "repeats"), *(c for cs in self.raters.values() for c in cs)]

    def columns(self) -> set[str]:
        """Every column that is read."""
        return {*self.filled(*NAMES, "count", "factors", "slices"), *self.rated}

    def record(self) -> dict[str, Any]:
        """As builtins, without what is empty: what the TOML file holds and results.json tells."""
        known = {role.name: getattr(self, role.name) for role in fields(self)}
        known["ignore"] = [*known.pop("ignored")]
        lists: dict[str, Any] = json.loads(json.dumps({role: value for role, value in known.items() if value}))
        return lists

    def toml(self) -> str:
        """The mapping as the file that `--save` writes."""
        lines, tables = ["# Which column of the file beside this one is read as what; change it where it is wrong."], []
        for name, value in self.record().items():
            if isinstance(value, dict):
                tables += [f"\n[{name}]", *(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in value.items())]
            else:
                lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        return "\n".join([*lines, *tables]) + "\n"


def columns_in(named: Iterable[Any]) -> list[str]:
    """The columns of what names one, several or none."""
    return [column for one in named for column in ((one,) if isinstance(one, str) else one or ()) if column]


def given_mapping(given: Mapping[str, Any], columns: Sequence[str], place: str) -> dict[str, Any]:
    """What somebody said of the columns, checked: role -> column or columns. `RecuseError` for one that is unknown."""
    known = {f.name for f in fields(ColumnMapping)} - {"ignored"} | {"ignore"}
    if unknown := [name for name in given if name not in known]:
        raise RecuseError(
            f"{place}: {unknown[0]} is nothing that a column is read as.{did_you_mean(unknown[0], known)} Known: "
            f"{', '.join(sorted(known))}"
        )
    checked: dict[str, Any] = {}
    for role, value in given.items():
        if wrong := _not_as_wanted(role, value):
            raise RecuseError(f"{place}: {role} is {wrong}; got {shown(value)}")
        if role == "raters":
            value = {str(n): (c,) if isinstance(c, str) else tuple(c) for n, c in value.items()}
        elif role == "criteria":
            value = {str(column): criterion for column, criterion in value.items()}
        elif role in LISTS:
            value = tuple(listed(value))
        elif role in SETTINGS and role != "sampled":
            value = str(value)
        no_columns = role in ("judges", "people", "use", *SETTINGS)
        named = [] if no_columns else columns_in(value.values() if role == "raters" else [value])
        if role == "factors" and (own := next((name for name in value if plain(name) in OWN), "")):
            raise RecuseError(
                f"{place}: {shown(own)} is what every table of ratings has a column for; call the column otherwise to "
                "tell weeks or ways of asking apart by it"
            )
        if absent := [str(name) for name in named if name not in columns]:
            as_what = "that tells weeks or ways of asking apart" if role == "factors" else f"to read as {role}"
            raise RecuseError(
                f"{place}: there is no column {shown(absent[0])} {as_what}.{did_you_mean(absent[0], columns)} "
                f"There are: {', '.join(columns)}"
            )
        checked[role] = value
    return checked


def _not_as_wanted(role: str, value: Any) -> str:
    """What a role is given as, where `value` is not that; "" where it is."""

    def names(value: Any, several: bool = True) -> bool:
        many = several and isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        return many or isinstance(value, str)

    if role in ("raters", "criteria"):
        several = role == "raters"
        fits = isinstance(value, Mapping) and all(names(each, several) for each in value.values())
        return "" if fits else f"a table of names with {'columns' if several else 'criterion'}"
    if role in LISTS:
        return "" if names(value) else "a name or a list of names"
    if role == "sampled":
        return "" if isinstance(value, bool) else "true or false"
    number = role in ("scale", "threshold") and isinstance(value, int | float) and not isinstance(value, bool)
    return "" if number or isinstance(value, str) else "a text"


def is_pattern(path: Path) -> bool:
    """Whether a path is a pattern that files match (scores/*.csv) and no file itself."""
    return any(mark in str(path) for mark in "*?[") and not path.exists()


def folder_of(path: Path) -> Path:
    """The folder in which a file lies, or all that match a pattern: scores for scores/**/*.csv."""
    return Path(*takewhile(lambda part: not is_pattern(Path(part)), path.parts)) if is_pattern(path) else path.parent


def stem_of(path: Path) -> str:
    """The file's name without its endings: tickets for tickets.csv.gz; of a pattern its folder's."""
    if is_pattern(path):
        return folder_of(path).name or "ratings"
    name = path.name
    while Path(name).suffix.lower() in ENDINGS:
        name = Path(name).stem
    return name or path.name


def saved_path(path: Path) -> Path:
    """tickets.recuse.toml for tickets.csv or tickets.csv.gz; scores/scores.recuse.toml for scores/*.csv."""
    return folder_of(path) / f"{stem_of(path)}.recuse.toml"


def saved_mapping(path: Path) -> dict[str, Any]:
    """What the TOML file beside the data says; nothing where there is none. `RecuseError` for broken TOML."""
    saved = saved_path(path)
    if not saved.is_file():
        return {}
    try:
        text = saved.read_text(encoding="utf-8")
        if len(text) > LONGEST or DEEP.search(text):
            raise ValueError("names within names without end, or more than a megabyte")
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecuseError(f"{saved}: {error}; mend it, or delete it and check again with --save") from error


def save_mapping(mapping: ColumnMapping, path: Path) -> str:
    """Write the TOML file beside the data, and say so. `RecuseError` where a line changed by hand would be lost."""
    saved, text = saved_path(path), mapping.toml()
    for line in saved.read_text(encoding="utf-8").splitlines() if saved.is_file() else ():
        if line.strip() and line not in text.splitlines():
            gone = f"--save would take out of {saved}: {line}"
            raise RecuseError(f"{gone}\nChange that file by hand, or delete it first")
    write_output(saved, text, bool)
    return f"Saved what was read as what: {saved}"
