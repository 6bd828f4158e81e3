"""Large tables that are folded where they lie, and reach Python as every different row of answers with its `count`:
files by DuckDB (`recuse[duckdb]`), tables by their engine, through Ibis (`recuse[ibis]`); and the query that folds a
table in a warehouse (`recuse sql`). docs/files.md has the conditions."""

from __future__ import annotations

import hashlib
import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from recuse.readers.column_names import COUNTS, NAMES, as_option, is_person, listed, plain
from recuse.readers.counts import of_counted
from recuse.readers.formats import FOLDED
from recuse.readers.raw_table import RawTable, from_frame
from recuse.schema import RecuseError

FOLDED_FROM = 200_000  # fewer rows of an engine's table are fetched as they are: texts and names of items are kept
MOST_LEVELS, MOST_PATTERNS, MOST_RATERS = 1_000, 200_000, 200  # more levels are texts or names, not answers
MOST_ROWS, MEMORY = 5_000_000, "600MB"
"""Rows that may be read one by one where they cannot be folded; and what DuckDB may take before it goes to disk."""
STEPS = (100, 50, 20, 10)
"""Of more rows, scores with more different values than that are rounded to so many steps of their range: as many as
give few enough patterns."""
TABLE = Path("table")  # what a table of an engine is called where a file has its name
Ends = Mapping[str, tuple[int, float | None, float | None]]
"""Column -> how many different values it has, its least and its largest number."""
OfRaters = tuple[pd.DataFrame, Sequence[str]]
"""The patterns of a row a rating, a column for each rater, and those raters who have no row on some items."""
FEW = 8  # answers that are told apart faster one after the other than by their place among all
BITS = 60  # of a whole number in which answers of an item are gathered, some bits for each rater
DIALECTS = {"duckdb": ('"', "''", "\\"), "snowflake": ('"', "''", "\\\\"), "bigquery": ("`", "\\'", "\\\\"),
            "spark": ("`", "\\'", "\\\\")}  # fmt: skip
"""How a name, a quote within a text and a backslash within a text are written."""
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_Engine: TypeAlias = "_IbisTable | _DuckTable"


def read_engine_table(table: Any, given: Mapping[str, Any]) -> RawTable | pd.DataFrame:
    """The rows that the table's patterns stand for, or the rows themselves where they are few or hold more than
    answers: texts, several rows of a rater on an item, an item that a judge has no row for. `given`: what is known of
    its columns. `RecuseError` for more than `MOST_ROWS` of the latter."""
    rows = int(table.count().execute())
    note = f"{rows:,} rows of a table, folded by {table.get_backend().name}"
    if rows >= FOLDED_FROM and (raw := _folded(_IbisTable(table), TABLE, rows, note, given)) is not None:
        return raw
    if rows > MOST_ROWS:
        raise RecuseError(
            f"{rows:,} rows are too many to be fetched one by one, and hold more than item, rater and answer, each "
            "rater once on an item: give these columns alone, table.select(...)"
        )
    return pd.DataFrame(table.execute())


def read_by_duckdb(path: Path, files: Sequence[Path], ending: str, given: Mapping[str, Any]) -> RawTable | None:
    """The rows that patterns stand for; None where DuckDB cannot read the files, or they hold more than answers."""
    try:
        import duckdb
    except ImportError:
        return None
    names = [*map(str, files)]
    with tempfile.TemporaryDirectory() as spill:
        base = duckdb.connect(config={"memory_limit": MEMORY, "temp_directory": spill})
        try:
            base.execute("SET preserve_insertion_order = false")
            every = (
                base.read_parquet(names, union_by_name=True) if ending == ".parquet"
                else base.read_csv(names, all_varchar=True, header=True, union_by_name=True)
            )  # fmt: skip
            table = _DuckTable(base, every)
            rows = int(table.query("SELECT count(*) FROM ratings")[0][0])
            return _folded(table, path, rows, f"{rows:,} rows of {len(files)} file(s), folded by DuckDB", given)
        except duckdb.Error:
            return None
        finally:
            base.close()


def _folded(engine: _Engine, path: Path, rows: int, note: str, given: Mapping[str, Any]) -> RawTable | None:
    """The patterns, scores rounded where only so they are few; None for too many, and where rows hold more."""
    patterns, rounded = _patterns(engine, rows, given), ""
    if patterns is None and rows > MOST_ROWS:
        others = {column_of(engine.columns, given, role) for role in ("item", "rater")}
        others |= {*listed(given.get("ignore", ()))}
        ends = engine.ends([name for name in engine.columns if name not in others])
        for steps in (steps_of(ends, parts) for parts in STEPS):
            if patterns is None and steps:
                patterns, rounded = _patterns(engine.rounded(steps), rows, given), rounded_words(steps)
    if patterns is None:
        return None
    frame, raters = patterns
    # In one order, whatever the engine's; patterns that differ in how many people had a row are one.
    answers = [name for name in frame if name != "count"]
    frame = frame.round(9) if rounded else frame  # 0.30000000000000004 is 3 steps of 0.1
    frame = frame.groupby(answers, dropna=False, sort=True)[["count"]].sum().reset_index()
    digest = hashlib.sha256(frame.to_csv(index=False).encode("utf-8", "surrogatepass")).hexdigest()
    count = frame.pop("count").to_numpy(dtype=np.int64)
    raw = from_frame(path, frame, "")
    roles = {"raters": {name: (name,) for name in raters}} if raters else {}
    left_out = "what asks for single texts is not asked, and items have no names"
    note = f"{note} into {len(raw.frame):,} patterns of answers: {left_out}"
    notes = (note, f"so many rows are read with scores rounded: {rounded}") if rounded else (note,)
    return replace(of_counted(raw, count), notes=notes, unit="pattern", made_by=FOLDED, roles=roles, sha256=digest)


def _patterns(engine: _Engine, rows: int, given: Mapping[str, Any]) -> tuple[pd.DataFrame, list[str]] | None:
    """Every different row of answers with its `count`, and the raters where a column named them, who have a column each
    now. `RecuseError` where one who may be a judge lacks items, and rows are too many to be looked at one by one."""
    columns = [name for name in engine.columns if name not in listed(given.get("ignore", ()))]
    item, rater, value = (column_of(columns, given, role) for role in ("item", "rater", "value"))
    answers = [name for name in columns if name != item]
    if any(plain(name) in COUNTS for name in answers) or len(listed(given.get("item", ()))) > 1 or not answers:
        return None
    if engine.most_levels(answers) > MOST_LEVELS:
        return None
    if not rater and not (item and engine.comes_again(item)):
        counted = engine.counted(answers)
        return None if len(counted) > MOST_PATTERNS else (counted, [])
    if not rater or {*columns} != {item, rater, value}:
        return None
    entries = engine.raters(rater)
    raters = [name for name in entries if name is not None]
    if len(raters) < len(entries) or len(raters) > MOST_RATERS or "count" in map(str.lower, raters):
        return None
    if (patterns := engine.of_raters(item, rater, value, raters)) is None:
        return None
    people = listed(given.get("people", ()))
    lacking = [name for name in patterns[1] if not is_person(name) and name not in people]
    if lacking and rows > MOST_ROWS:
        raise RecuseError(
            f"{', '.join(lacking)} rated some of the items only, and {rows:,} rows are too many to look at one by one: "
            f"say who of them is a person (--people {as_option([*people, *lacking])}), or leave a judge out"
        )
    return None if lacking else (patterns[0], raters)


def column_of(columns: Sequence[str], given: Mapping[str, Any], role: str) -> str:
    """The column with this role: the given one, or the first that is named as such columns are; "" for none."""
    named = (name for wanted in NAMES[role] for name in columns if plain(name) == wanted)
    return next(iter(listed(given.get(role, ()))), "") or next(named, "")


def steps_of(columns: Ends, parts: int) -> dict[str, tuple[int, float]]:
    """Digits and step of each column that has more than `parts` different values: the least of 1, 2 and 5 times a power
    of ten that makes at most `parts` steps."""
    steps = {}
    for name, (different, low, high) in columns.items():
        if different > parts and low is not None and high is not None and high > low:
            least = (high - low) / parts
            power = math.floor(math.log10(least))
            step = next(k * 10.0**power for k in (1, 2, 5, 10) if k * 10.0**power >= least * (1 - 1e-9))
            digits = max(0, -math.floor(math.log10(step) + 1e-9))
            steps[name] = digits, float(f"{step:.{digits}f}")
    return steps


def rounded_words(steps: Mapping[str, tuple[int, float]]) -> str:
    """What a note says about it."""
    by_step = {step: [n for n, (_, own) in steps.items() if own == step] for step in {s for _, s in steps.values()}}
    return ", ".join(f"{', '.join(names)} to steps of {step:g}" for step, names in sorted(by_step.items()))


class _IbisTable(NamedTuple):
    """A table of any engine. Of one with too many patterns one more than `MOST_PATTERNS` is given; those of raters are
    None then, and where one has several rows on an item."""

    table: Any

    @property
    def columns(self) -> Sequence[str]:
        return [*self.table.columns]

    def most_levels(self, names: Sequence[str]) -> int:
        levels = self.table.aggregate(**{f"n{k}": self.table[name].nunique() for k, name in enumerate(names)})
        return int(levels.execute().to_numpy().max())

    def ends(self, names: Sequence[str]) -> Ends:
        names = [name for name in names if self.table[name].type().is_numeric()]
        facts = [getattr(self._number(name), what)() for name in names for what in ("nunique", "min", "max")]
        aggregates = {f"f{k}": fact for k, fact in enumerate(facts)}
        row = iter(self.table.aggregate(**aggregates).execute().iloc[0].tolist() if aggregates else ())
        return {name: (int(next(row)), next(row), next(row)) for name in names}

    def rounded(self, steps: Mapping[str, tuple[int, float]]) -> _IbisTable:
        numbers = {name: (self._number(name) / step).round() * step for name, (_, step) in steps.items()}
        return _IbisTable(self.table.mutate(**numbers))

    def _number(self, name: str) -> Any:
        return self.table[name].cast("float64")

    def comes_again(self, item: str) -> bool:
        return bool(self.table[item].nunique().execute() < self.table.count().execute())

    def raters(self, rater: str) -> list[str | None]:
        names = self.table.select(name=self.table[rater].cast("string")).distinct().execute()["name"]
        return [*sorted(names.dropna()), *([None] if names.isna().any() else [])]

    def of_raters(self, item: str, rater: str, value: str, raters: Sequence[str]) -> OfRaters | None:
        own = [self.table[rater].cast("string") == name for name in raters]
        answers, given = [f"answer{k}" for k in range(len(own))], [f"rows{k}" for k in range(len(own))]
        per_item = self.table.group_by(item=self.table[item]).aggregate(
            **{name: self.table[value].max(where=who) for name, who in zip(answers, own, strict=True)},
            **{name: who.cast("int64").sum() for name, who in zip(given, own, strict=True)},
        )
        patterns = _IbisTable(per_item).counted([*answers, *given])
        if len(patterns) > MOST_PATTERNS or (patterns[given] > 1).any(axis=None):
            return None
        short = [name for name, lacks in zip(raters, (patterns[given] == 0).any(), strict=True) if lacks]
        return patterns.drop(columns=given).rename(columns=dict(zip(answers, raters, strict=True))), short

    def counted(self, names: Sequence[str]) -> pd.DataFrame:
        query = self.table.group_by([*names]).aggregate(count=lambda each: each.count()).limit(MOST_PATTERNS + 1)
        return pd.DataFrame(query.execute())


class _DuckTable:
    """The view `ratings` of a database of DuckDB, which shows a relation of its own."""

    def __init__(self, base: Any, every: Any) -> None:
        self.base, self.every, self.columns = base, every, [*every.columns]
        every.create_view("ratings", replace=True)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows that a query finds."""
        return [*self.base.execute(sql).fetchall()]

    def most_levels(self, names: Sequence[str]) -> int:
        levels = ", ".join(f"approx_count_distinct({_name(name)})" for name in names)
        return int(max(self.query(f"SELECT {levels} FROM ratings")[0]))

    def ends(self, names: Sequence[str]) -> Ends:
        facts = (f"approx_count_distinct({_name(n)}), min({_number(n)}), max({_number(n)})" for n in names)
        row = iter(self.query(f"SELECT {', '.join(facts)} FROM ratings")[0])
        return dict(zip(names, zip(row, row, row, strict=True), strict=True))

    def rounded(self, steps: Mapping[str, tuple[int, float]]) -> _DuckTable:
        cells = {name: _name(name) for name in self.columns}
        for name, (digits, step) in steps.items():
            to = f"CAST(round({_number(name)} / {step!r}) * {step!r} AS DECIMAL(18, {digits}))"
            cells[name] = f"COALESCE(CAST({to} AS VARCHAR), CAST({_name(name)} AS VARCHAR)) AS {_name(name)}"
        return _DuckTable(self.base, self.every.project(", ".join(cells.values())))

    def comes_again(self, item: str) -> bool:
        return bool(self.query(f"SELECT 1 FROM ratings GROUP BY {_name(item)} HAVING count(*) > 1 LIMIT 1"))

    def raters(self, rater: str) -> list[str | None]:
        every = f"SELECT DISTINCT CAST({_name(rater)} AS VARCHAR) FROM ratings ORDER BY 1 NULLS LAST"
        return [known for (known,) in self.query(every)]

    def of_raters(self, item: str, rater: str, value: str, raters: Sequence[str]) -> OfRaters | None:
        """Each rater's answer is a number from 1 in bits of its own: three times as fast as a column for each rater."""
        who, answer = (f"CAST({_name(name)} AS VARCHAR)" for name in (rater, value))
        values = self.raters(value)
        width = len(values).bit_length()
        parts = [raters[k : k + BITS // width] for k in range(0, len(raters), BITS // width)]
        known = [name for name in values if name is not None]  # NULL comes last
        if len(known) < FEW:
            code = _case(answer, {name: k + 1 for k, name in enumerate(known)}, len(known) + 1)
        else:
            self.query(f"DROP TYPE IF EXISTS answers; CREATE TYPE answers AS ENUM ({', '.join(map(_text, known))})")
            code = f"CAST(COALESCE(enum_code(CAST({answer} AS answers)), {len(known)}) AS BIGINT) + 1"
        whose = [_case(who, {name: 1 << width * k for k, name in enumerate(part)}, 0) for part in parts]
        codes = ", ".join(f"bit_or(CAST(({code}) * {own} AS BIGINT)) AS code{n}" for n, own in enumerate(whose))
        keys = ", ".join(f"code{number}" for number in range(len(parts)))
        sums = self.base.execute(
            f"SELECT {keys}, n, count(*) AS count FROM (SELECT {codes}, count(*) AS n FROM ratings "
            f"GROUP BY {_name(item)}) GROUP BY {keys}, n LIMIT {MOST_PATTERNS + 1}"
        ).df()
        digits = np.column_stack([
            (sums[f"code{number}"].to_numpy(dtype=np.int64) >> width * k) & ((1 << width) - 1)
            for number, part in enumerate(parts) for k in range(len(part))
        ])  # fmt: skip
        if len(sums) > MOST_PATTERNS or ((digits > 0).sum(axis=1) != sums["n"]).any():
            return None
        words = np.array(["", *("" if name is None else name for name in values)], dtype=object)
        patterns = pd.DataFrame({name: words[own] for name, own in zip(raters, digits.T, strict=True)})
        short = [name for name, own in zip(raters, digits.T, strict=True) if not own.all()]
        return patterns.assign(count=sums["count"]), short

    def counted(self, names: Sequence[str]) -> pd.DataFrame:
        chosen = ", ".join(map(_name, names))
        query = f"SELECT {chosen}, count(*) AS count FROM ratings GROUP BY {chosen} LIMIT {MOST_PATTERNS + 1}"
        return pd.DataFrame(self.base.execute(query).df())


def _number(name: str) -> str:
    return "CASE WHEN isfinite(TRY_CAST({0} AS DOUBLE)) THEN TRY_CAST({0} AS DOUBLE) END".format(_name(name))


def _case(column: str, numbers: Mapping[str, int], other: int) -> str:
    """SQL of the number of what stands in a column."""
    each = " ".join(f"WHEN {column} = {_text(name)} THEN {n}" for name, n in numbers.items())
    return f"(CASE {each} ELSE {other} END)"


def _text(words: str, quote: str = "''", backslash: str = "\\") -> str:
    return "'" + words.replace("\\", backslash).replace("'", quote) + "'"


def _name(column: str, mark: str = '"') -> str:
    return mark + column.replace(mark, mark * 2) + mark


def sql(raters: str, *, dialect: str, table: str, item: str, rater: str, value: str) -> int:
    """Print the query; 0. Columns are as named, of a file else its own; systems and criteria of a file stay apart."""
    names, items, apart = [name for name in listed(raters) if name], ["item"], list[str]()
    if Path(raters).is_file():
        from recuse.readers.file_ratings import read_file

        read = read_file(Path(raters))
        names, mapping = [*read.ratings.raters], read.mapping
        items, apart = [*mapping.item] or items, [name for name in (mapping.target, mapping.criterion) if name]
        rater, value = rater or mapping.rater, value or "".join(mapping.value[:1])
    items, rater, value = [item] if item else items, rater or "rater", value or "label"
    print(folding_query(names, dialect=dialect, table=table, items=items, rater=rater, value=value, apart=apart))
    return 0


def folding_query(
    raters: list[str], *, dialect: str, table: str, items: Sequence[str], rater: str, value: str,
    apart: Sequence[str] = (),
) -> str:  # fmt: skip
    """The query for a table with a row for each rating of what `items` and `apart` name; `apart` stay columns.
    `RecuseError` for another dialect, fewer than two raters, or two of one name."""
    if dialect not in DIALECTS:
        raise RecuseError(f"--dialect is one of {', '.join(DIALECTS)}; got {dialect!r}")
    if len(raters) < 2 or len({name.lower() for name in raters}) < len(raters):
        raise RecuseError(f"give two raters or more, each once, whatever the case; got {', '.join(raters) or 'none'}")
    mark, quote, backslash = DIALECTS[dialect]
    named = partial(_name, mark=mark)

    def column(name: str) -> str:
        return name if PLAIN.fullmatch(name) else named(name)

    here = {name: f"CASE WHEN {column(rater)} = {_text(name, quote, backslash)} THEN" for name in raters}
    answers = ",\n    ".join(f"MAX({case} {column(value)} END) AS {named(name)}" for name, case in here.items())
    once = "\n    AND ".join(f"COUNT({case} 1 END) <= 1" for case in here.values())
    own = [column(name) for name in apart]
    keys, kept = ", ".join([*own, *map(named, raters)]), "".join(f"{name},\n    " for name in own)
    return (
        f"SELECT {keys}, COUNT(*) AS {named('count')}\nFROM (\n  SELECT\n    {kept}{answers}\n  FROM {column(table)}\n"
        f"  GROUP BY {', '.join([*map(column, items), *own])}\n  HAVING {once}\n) AS items\nGROUP BY {keys}"
    )
