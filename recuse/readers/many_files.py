"""Files that a pattern names (`scores/*.parquet`, `scores/**/*.csv`) are one table: rows below one another.

Large ones are folded by DuckDB where it is installed (`recuse[duckdb]`) and nothing that belongs to single texts has to
be kept: every different row of answers once, with how often it is there. They reach Python as these patterns.

    item, rater, label                 gpt,  anna, count
    t1,   gpt,   pass                  pass, pass, 812,044
    t1,   anna,  pass     ->           pass, fail, 61,207
"""

from __future__ import annotations

import glob
import hashlib
import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recuse.readers.column_names import COUNTS, NAMES, as_option, is_person, listed, plain
from recuse.readers.counts import of_counted
from recuse.readers.formats import FOLDED, read_path
from recuse.readers.raw_table import RawTable, check_bounds, from_frame, shown
from recuse.schema import RecuseError

FOLDED_FROM = 32 << 20
"""Fewer bytes are read as they are: texts and names of items are kept."""
MOST_LEVELS, MOST_PATTERNS, MOST_RATERS, CHUNK = 1_000, 200_000, 200, 1 << 20
"""A column with more different values holds texts or names, not answers."""
MOST_ROWS, MEMORY = 5_000_000, "600MB"
"""Rows that may be read one by one where they cannot be folded; and what DuckDB may take before it goes to disk."""
STEPS = (100, 50, 20, 10)
"""Of more rows, scores with more different values than that are rounded to so many steps of their range: as many as
give few enough patterns."""
KINDS = {".parquet": "parquet", ".csv": "csv"}


def read_together(pattern: Path, reader: str, given: Mapping[str, Any]) -> RawTable:
    """The table of all files that match, in the order of their names. `given`: what is said of its columns.

    `RecuseError` where none matches, and where one lacks a column that another has."""
    paths = [Path(name) for name in sorted(glob.glob(str(pattern), recursive=True)) if Path(name).is_file()]
    if not paths:
        raise RecuseError(f"no file matches {pattern}; quote the pattern and check its folder")
    encoding = str(given.get("encoding", ""))
    large = not (reader or encoding) and sum(path.stat().st_size for path in paths) > FOLDED_FROM
    if large and (folded := _folded(pattern, paths, given)) is not None:
        return replace(folded, sha256=_digest(paths))
    tables = [read_path(path, reader, encoding=encoding) for path in paths]
    return replace(check_bounds(_joined(pattern, tables)), sha256=_digest(paths))


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while part := stream.read(CHUNK):
                digest.update(part)
    return digest.hexdigest()


def _joined(pattern: Path, tables: Sequence[RawTable]) -> RawTable:
    first = tables[0]
    for table in tables[1:]:
        if lacks := {*map(str, first.frame)} ^ {*map(str, table.frame)}:
            raise RecuseError(
                f"{pattern}: {table.path.name} and {first.path.name} do not have the same columns ({shown(min(lacks))} "
                "is in one of them); files of one table do"
            )
    places = tuple(f"{table.at(row)} of {table.path.name}" for table in tables for row in range(len(table.frame)))
    frame = pd.concat([table.frame[list(first.frame)] for table in tables], ignore_index=True)
    notes = (*first.notes, f"{len(tables)} files are read as one table: {pattern}")
    faults = tuple(fault for table in tables for fault in table.faults)
    return replace(first, path=pattern, frame=frame, notes=notes, faults=faults, numbers=places, text="")


def _folded(pattern: Path, paths: Sequence[Path], given: Mapping[str, Any]) -> RawTable | None:
    """The rows that the patterns of the files stand for; None where DuckDB is not installed or cannot read them, and
    where they hold more than answers: texts, several rows of a rater on a text, or a text that a judge has no row for.
    """
    kinds = {KINDS.get(path.suffix.lower()) for path in paths}
    if len(kinds) != 1 or None in kinds:
        return None
    try:
        import duckdb
    except ImportError:
        return None
    names = [str(path) for path in paths]
    with tempfile.TemporaryDirectory() as spill:
        base: Any = duckdb.connect(config={"memory_limit": MEMORY, "temp_directory": spill})
        try:
            base.execute("SET preserve_insertion_order = false")
            every = (
                base.read_parquet(names, union_by_name=True) if kinds == {"parquet"}
                else base.read_csv(names, all_varchar=True, header=True, union_by_name=True)
            )  # fmt: skip
            every.create_view("ratings")
            patterns, rows, raters = _patterns(base, list(every.columns), given)
            finer = _roundings(base, every, given) if rows > MOST_ROWS else iter(())
            rounded = ""
            while patterns is None and (rounding := next(finer, None)):
                columns, rounded = rounding
                every.project(columns).create_view("ratings", replace=True)
                patterns, rows, raters = _patterns(base, list(every.columns), given)
        except duckdb.Error:
            return None
        finally:
            base.close()
    return None if patterns is None else of_patterns(
        pattern, patterns, raters, f"{rows:,} rows of {len(paths)} file(s), folded by DuckDB", rounded)  # fmt: skip


def _roundings(base: Any, every: Any, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Columns of SQL that round scores, finely at first, and which to what, in words; what is no number stays."""
    item, rater = (column_of(every.columns, given, role) for role in ("item", "rater"))
    names = [name for name in every.columns if name not in (item, rater, *listed(given.get("ignore", ())))]
    number = "CASE WHEN isfinite(TRY_CAST({0} AS DOUBLE)) THEN TRY_CAST({0} AS DOUBLE) END"
    facts = ", ".join(
        f"approx_count_distinct({{0}}), min({number}), max({number})".format(_name(name)) for name in names
    )
    row = iter(base.execute(f"SELECT {facts} FROM ratings").fetchall()[0])
    about = dict(zip(names, zip(row, row, row, strict=True), strict=True))
    for parts in STEPS:
        steps = steps_of(about, parts)
        columns = []
        for name in every.columns:
            to = f"CAST(round({number} / {{2!r}}) * {{2!r}} AS DECIMAL(18, {{1}}))"
            cell = f"COALESCE(CAST({to} AS VARCHAR), CAST({{0}} AS VARCHAR)) AS {{0}}" if name in steps else "{0}"
            columns.append(cell.format(_name(name), *steps.get(name, ())))
        if steps:
            yield ", ".join(columns), rounded_words(steps)


def steps_of(columns: Mapping[str, tuple[int, float | None, float | None]], parts: int) -> dict[str, tuple[int, float]]:
    """Digits and step of each column that has more than `parts` different values, from how many it has, its least and
    its largest number: the least of 1, 2 and 5 times a power of ten that makes at most `parts` steps."""
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


def of_patterns(
    path: Path, patterns: pd.DataFrame, raters: Sequence[str], note: str, rounded: str = ""
) -> RawTable:  # fmt: skip
    """Every different row of answers with its `count`, as the rows that it stands for. `raters`: those that have a
    column each, where a column named them; `rounded`: what was rounded to what, so that there are few."""
    count = patterns.pop("count").to_numpy(dtype=np.int64)
    raw = from_frame(path, patterns, "")
    left_out = "what asks for single texts is not asked, and items have no names"
    roles = {"raters": {name: (name,) for name in raters}} if raters else {}
    note = f"{note} into {len(raw.frame):,} patterns of answers: {left_out}"
    notes = (note, f"so many rows are read with scores rounded: {rounded}") if rounded else (note,)
    return replace(of_counted(raw, count), notes=notes, unit="pattern", made_by=FOLDED, roles=roles)


def check_lacking(lacking: Sequence[str], people: Sequence[str], rows: int) -> None:
    """`RecuseError` where raters who are not known to be people lack some of the items, and rows are too many for that
    to be looked up one by one."""
    if lacking and rows > MOST_ROWS:
        raise RecuseError(
            f"{', '.join(lacking)} rated some of the items only, and {rows:,} rows are too many to look at one by one: "
            f"say who of them is a person (--people {as_option([*people, *lacking])}), or leave a judge out"
        )


def _patterns(base: Any, columns: list[str], given: Mapping[str, Any]) -> tuple[pd.DataFrame | None, int, list[str]]:
    """Every different row of answers with its `count`, in one order; how many rows there are; and the raters where a
    column named them, who have a column each now."""
    ignored = listed(given.get("ignore", ()))
    columns = [name for name in columns if name not in ignored]
    item, rater, value = (column_of(columns, given, role) for role in ("item", "rater", "value"))
    rows = int(base.execute("SELECT count(*) FROM ratings").fetchall()[0][0])
    answers = [name for name in columns if name != item]
    if any(plain(name) in COUNTS for name in answers) or len(listed(given.get("item", ()))) > 1 or not answers:
        return None, rows, []
    levels = ", ".join(f"approx_count_distinct({_name(name)})" for name in answers)
    if max(base.execute(f"SELECT {levels} FROM ratings").fetchall()[0]) > MOST_LEVELS:
        return None, rows, []
    if rater and {*columns} == {item, rater, value} and not given.get("sampled"):
        return _of_raters(base, (item, rater, value), rows, listed(given.get("people", ())))
    if rater or (item and base.execute(AGAIN.format(_name(item))).fetchall()):
        return None, rows, []
    chosen = ", ".join(map(_name, answers))
    query = f"SELECT {chosen}, count(*) AS count FROM ratings GROUP BY {chosen} ORDER BY ALL LIMIT {MOST_PATTERNS + 1}"
    patterns: pd.DataFrame = base.execute(query).df()
    return (None if len(patterns) > MOST_PATTERNS else patterns), rows, []


AGAIN = "SELECT 1 FROM ratings GROUP BY {} HAVING count(*) > 1 LIMIT 1"
FEW = 8
"""Answers that are told apart faster one after the other than by their place among all."""
BITS = 60
"""Of a whole number in which answers of an item are gathered, some bits for each rater."""


def _of_raters(
    base: Any, columns: tuple[str, str, str], rows: int, people: Sequence[str]
) -> tuple[pd.DataFrame | None, int, list[str]]:
    """The patterns of a row a rating, a column for each rater; None where a rater has several rows on an item, or
    somebody who is not known to be a person has none. `RecuseError` for the latter where rows are too many to be read.

    What a rater says is a number from 1 in bits of its own, so that an item takes one number, whoever rated it."""
    item, rater, value = map(_name, columns)
    every = "SELECT DISTINCT CAST({} AS VARCHAR) FROM ratings ORDER BY 1 NULLS LAST"
    raters, values = ([known for (known,) in base.execute(every.format(name)).fetchall()] for name in (rater, value))
    if None in raters or len(raters) > MOST_RATERS or "count" in map(str.lower, raters):
        return None, rows, []
    width = len(values).bit_length()
    parts = [raters[k : k + BITS // width] for k in range(0, len(raters), BITS // width)]
    known = [name for name in values if name is not None]  # NULL comes last
    if len(known) < FEW:
        code = _case(f"CAST({value} AS VARCHAR)", {name: k + 1 for k, name in enumerate(known)}, len(known) + 1)
    else:
        base.execute(f"DROP TYPE IF EXISTS answers; CREATE TYPE answers AS ENUM ({', '.join(map(_text, known))})")
        code = f"CAST(COALESCE(enum_code(CAST(CAST({value} AS VARCHAR) AS answers)), {len(known)}) AS BIGINT) + 1"
    whose = [
        _case(f"CAST({rater} AS VARCHAR)", {name: 1 << width * k for k, name in enumerate(part)}, 0) for part in parts
    ]
    codes = ", ".join(f"bit_or(CAST(({code}) * {who} AS BIGINT)) AS code{n}" for n, who in enumerate(whose))
    keys = ", ".join(f"code{number}" for number in range(len(parts)))
    query = f"SELECT {keys}, n, count(*) AS count FROM (SELECT {codes}, count(*) AS n FROM ratings GROUP BY {item}) " \
            f"GROUP BY {keys}, n LIMIT {MOST_PATTERNS + 1}"  # fmt: skip
    sums = base.execute(query).df()
    digits = np.column_stack([
        (sums[f"code{number}"].to_numpy(dtype=np.int64) >> width * k) & ((1 << width) - 1)
        for number, part in enumerate(parts) for k in range(len(part))
    ])  # fmt: skip
    if len(sums) > MOST_PATTERNS or ((digits > 0).sum(axis=1) != sums["n"]).any():
        return None, rows, []
    lacking = [name for name, own in zip(raters, digits.T, strict=True)
               if not own.all() and not is_person(name) and name not in people]  # fmt: skip
    check_lacking(lacking, people, rows)
    words = np.array(["", *("" if name is None else name for name in values)], dtype=object)
    patterns = pd.DataFrame({name: words[own] for name, own in zip(raters, digits.T, strict=True)})
    patterns = patterns.assign(count=sums["count"]).groupby(raters, sort=True)[["count"]].sum().reset_index()
    return (None if lacking else patterns), rows, raters


def _case(column: str, numbers: Mapping[str, int], other: int) -> str:
    """SQL of the number of what stands in a column."""
    each = " ".join(f"WHEN {column} = {_text(name)} THEN {n}" for name, n in numbers.items())
    return f"(CASE {each} ELSE {other} END)"


def _text(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"


def column_of(columns: Sequence[str], given: Mapping[str, Any], role: str) -> str:
    """The column with this role: the given one, or the first that is named as such columns are; "" for none."""
    stated = listed(given.get(role, ()))
    if stated:
        return stated[0]
    return next((name for wanted in NAMES[role] for name in columns if plain(name) == wanted), "")


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


DIALECTS = {"duckdb": ('"', "''", "\\"), "snowflake": ('"', "''", "\\\\"), "bigquery": ("`", "\\'", "\\\\"),
            "spark": ("`", "\\'", "\\\\")}  # fmt: skip
"""How a name, a quote within a text and a backslash within a text are written."""
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


def sql(raters: str, *, dialect: str, table: str, item: str, rater: str, value: str) -> int:
    """Print the query; 0."""
    print(folding_query(_raters(raters), dialect=dialect, table=table, item=item, rater=rater, value=value))
    return 0


def folding_query(raters: list[str], *, dialect: str, table: str, item: str, rater: str, value: str) -> str:
    """The query for a table with a row for each rating. `RecuseError` for another dialect, fewer than two raters, or
    two of one name."""
    if dialect not in DIALECTS:
        raise RecuseError(f"--dialect is one of {', '.join(DIALECTS)}; got {dialect!r}")
    if len(raters) < 2 or len({name.lower() for name in raters}) < len(raters):
        raise RecuseError(f"give two raters or more, each once, whatever the case; got {', '.join(raters) or 'none'}")
    mark, quote, backslash = DIALECTS[dialect]

    def named(name: str) -> str:
        return mark + name.replace(mark, mark * 2) + mark

    def column(name: str) -> str:
        return name if PLAIN.fullmatch(name) else named(name)

    def text(name: str) -> str:
        return "'" + name.replace("\\", backslash).replace("'", quote) + "'"

    here = {name: f"CASE WHEN {column(rater)} = {text(name)} THEN" for name in raters}
    answers = ",\n    ".join(f"MAX({case} {column(value)} END) AS {named(name)}" for name, case in here.items())
    once = "\n    AND ".join(f"COUNT({case} 1 END) <= 1" for case in here.values())
    keys = ", ".join(map(named, raters))
    return (
        f"SELECT {keys}, COUNT(*) AS {named('count')}\nFROM (\n  SELECT\n    {answers}\n  FROM {column(table)}\n"
        f"  GROUP BY {column(item)}\n  HAVING {once}\n) AS items\nGROUP BY {keys}"
    )


def _raters(given: str) -> list[str]:
    """Names with commas, or those in a file of ratings."""
    if not Path(given).is_file():
        return [name for name in listed(given) if name]
    from recuse.readers.file_panel import read

    return [*read(Path(given)).raters]
