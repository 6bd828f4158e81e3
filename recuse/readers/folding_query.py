"""`recuse sql`: the query that folds a table of ratings where it lies, into a row per pattern of answers with `count`.

    recuse sql gpt,claude,anna,ben --dialect snowflake --table evals.scores > fold.sql

Its result, a CSV of some thousand rows, is what `recuse check` reads: no rating leaves the warehouse, and a verdict on
a thousand million of them takes as long as one on a thousand. The query is plain SQL; dialects differ in how names and
texts are quoted. An item that a rater has several rows of is left out: repeats do not fold into one column.
"""

from __future__ import annotations

import re
from pathlib import Path

from recuse.schema import RecuseError

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
        return [name.strip() for name in given.split(",") if name.strip()]
    from recuse.readers.file_panel import read

    return [*read(Path(given)).raters]
