"""`recuse show RESULTS [OTHER]`: an earlier results.json as text or page, or two of them side by side; and what is
written for programs beside what a command prints."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from recuse.schema import RecuseError
from recuse.schema.results import Results
from recuse.security import files
from recuse.security.sanitize import visible

Row = Mapping[str, Any]


def load_results(path: Path) -> dict[str, Any]:
    """The results in a file, or in the folder of a report. Raises `RecuseError` naming the file and what it is not."""
    file = path / "results.json" if path.is_dir() else path
    try:
        results = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecuseError(f"{file} cannot be read: {error.strerror}; name a results.json") from None
    except ValueError:
        raise RecuseError(f"{file} is not JSON; name a results.json") from None
    if not isinstance(results, dict) or results.get("schema") != 1 or "verdicts" not in results:
        raise RecuseError(f"{file} is no results.json of this version of Recuse; run the evals again to get one")
    return results


def show(results: Path, other: Path | None = None, html: Path | None = None) -> int:
    """`recuse show`; 0. Raises `RecuseError` for what is no results.json of this version."""
    from recuse.report import page, side_by_side
    from recuse.report.canonical_form import normalised
    from recuse.report.first_line import headline
    from recuse.report.terminal_text import terminal

    files.check_output(html, files.is_page)
    paths = [results] if other is None else [results, other]
    names, given = [str(path) for path in paths], [load_results(path) for path in paths]
    try:
        plain = [normalised(one) for one in given]
        headlines = [headline(one) for one in plain]
        if len(plain) == 1:
            plain[0]["headline"] = headlines[0]
            text = terminal(plain[0], shutil.get_terminal_size().columns, sys.stdout.isatty(), html)
            drawn = page.pages(plain[0], studies=())["index.html"] if html else ""
        else:
            rows = side_by_side.side_by_side(*plain)
            text = visible(side_by_side.text(rows, names))
            drawn = side_by_side.page(rows, names, headlines) if html else ""
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise RecuseError(
            f"{' or '.join(names)} is not as this version of Recuse writes it ({error!r}): it may have been "
            "changed by hand; run the evals again to get one"
        ) from error
    if html:
        files.write_output(html, drawn, files.is_page)
    print(text)
    return 0


def check_outputs(to_json: Path | None, to_html: Path | None) -> None:
    """Before any work: raises `RecuseError` where `write_results` would."""
    files.check_output(to_json, files.is_results)
    files.check_output(to_html, files.is_page)


def write_results(results: Results, to_json: Path | None, to_html: Path | None) -> None:
    """As JSON, and as a page of its own, where a path is given. Raises `RecuseError` where it cannot be written."""
    from recuse.report.canonical_form import canonical, normalised

    data = canonical(results) if to_json else ""
    if to_html:
        from recuse.report.page import pages

        page = pages(normalised(results), studies=())["index.html"]
        files.write_output(to_html, page, files.is_page)
    if to_json:
        files.write_output(to_json, data, files.is_results)


def check_tables(columns: Sequence[str], to_json: Path | None, to_csv: Path | None) -> None:
    """Before any work: raises `RecuseError` where `show_tables` would."""
    files.check_output(to_json, files.is_json_with("command", "rows"))
    files.check_output(to_csv, files.begins_with(",".join(columns)))


def show_tables(
    command: str, lines: Iterable[str], columns: Sequence[str], rows: Iterable[Row], facts: Row, to_json: Path | None,
    to_csv: Path | None,
) -> None:  # fmt: skip
    """Print the lines; write rows, and facts on all, where a path is given: ten digits, null or no text for unknown."""
    from recuse.report.canonical_form import canonical, normalised

    print("\n".join(map(visible, lines)))
    whole = normalised({"command": command, **facts, "rows": [{name: row[name] for name in columns} for row in rows]})
    if to_json:
        files.write_output(to_json, canonical(whole), files.is_json_with("command", "rows"))
    if to_csv:
        plain = ([row[name] for name in columns] for row in cast("dict[str, Any]", whole)["rows"])
        cells = (["" if cell is None else cell for cell in row] for row in plain)
        files.write_table(to_csv, columns, cells, files.begins_with(",".join(columns)))
