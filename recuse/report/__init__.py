"""The report: verdicts in, results.json, summary.md, index.html, tables/*.csv and the terminal's summary out. It
decides nothing and computes no statistics: what it shows stands in results.json (docs/results-json.md). The same
results give the same bytes: no clock, no path, no random id goes in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recuse.schema.results import Known, Results

__all__ = ["readings", "write"]

SCHEMA = 1


def write(
    results: Results, folder: Path | str, *, template_folders: Sequence[Path | str] = (), drawings: Sequence[str] = (),
    identity: Known | None = None,
) -> list[Path]:  # fmt: skip
    """Write results.json, summary.md, index.html, tables/*.csv and the index of the replies into `folder`, each at once
    or not at all; return their paths in this order. Templates in `template_folders` replace shipped ones of their name;
    `drawings` are a team's own, by dotted module name; `identity` is shown beside the results, no part of them.

    Raises `RecuseError` for results of another schema, before anything is written, and for a template that does not
    render: then results.json and summary.md are written and the page is not."""
    from recuse.report.addresses import STUDIES
    from recuse.report.canonical_form import canonical, csv_tables, normalised
    from recuse.report.first_line import headline
    from recuse.report.page import pages, summary
    from recuse.report.reply_pages import write_overview
    from recuse.report.results_model import ResultsModel
    from recuse.schema import RecuseError
    from recuse.security.files import delete_pages, write_files

    if results.get("schema") != SCHEMA:
        raise RecuseError(
            f"the report draws results of schema {SCHEMA}; these say {results.get('schema')!r}: run the evals again"
        )
    plain = normalised(results)
    plain["headline"] = headline(plain)
    facts, tables = canonical(plain), csv_tables(plain)
    known: Known = {**(identity or {}), "results": sha256(facts.encode()).hexdigest(), "tables": list(tables)}
    folder = Path(folder)
    paths = write_files(folder, {"results.json": facts, "summary.md": summary(plain, drawings=drawings, known=known)})
    drawn = write_files(folder, pages(plain, template_folders, drawings, known))
    delete_pages(folder, (folder / STUDIES).glob("*.html"), drawn)  # of studies that this run did not have
    paths += [*drawn, *write_files(folder, {f"tables/{name}": table for name, table in tables.items()})]
    return [*paths, *write_overview(ResultsModel(plain), known.get("replies") or {}, folder)]


def readings(results: Results, besides: str) -> Iterator[str]:
    """What the drawings say in words, a sentence for each group of numbers, but of the question `besides`."""
    from recuse.report.canonical_form import normalised
    from recuse.report.questions import Drawings
    from recuse.report.results_model import ResultsModel

    view, drawings = ResultsModel(normalised(results)), Drawings()
    for question in view.questions:
        for group in view.groups(question):
            if question.id != besides and (text := drawings.of(question.id).reading(group)):
                yield f"{question.title} {text}"
