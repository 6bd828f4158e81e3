"""`recuse show RESULTS [OTHER]`: an earlier results.json as text or page, or two of them side by side."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from recuse.schema import RecuseError
from recuse.schema.results import Results
from recuse.security.files import check_output, is_page, is_results, write_output
from recuse.security.sanitize import visible


def add_show(commands: Any) -> None:
    """Add `recuse show` to the subparsers of `recuse`."""
    show = commands.add_parser(
        "show", help="an earlier results.json as text or page, or two side by side",
        description="Draws a results.json that was kept: its text here, its page with --html. Of two, what differs.",
    )  # fmt: skip
    show.add_argument("results", type=Path, metavar="RESULTS", help="a results.json, or the folder that holds one")
    show.add_argument("other", type=Path, nargs="?", metavar="OTHER", help="a later one, to compare")
    show.add_argument("--html", type=Path, metavar="FILE", help="write it as a page of its own")
    show.set_defaults(run=_show)


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


def _show(arguments: argparse.Namespace) -> int:
    check_output(arguments.html, is_page)
    results = load_results(arguments.results)
    if arguments.other is not None:
        return _show_two(arguments, results, load_results(arguments.other))
    from recuse import report
    from recuse.report.canonical_form import normalised
    from recuse.report.page import page

    plain = normalised(results)
    plain["headline"] = plain.get("headline") or report.headline(plain)
    if arguments.html:
        write_output(arguments.html, page(plain, plain["headline"]), is_page)
    color = sys.stdout.isatty()
    print(report.terminal(plain, shutil.get_terminal_size().columns, color, arguments.html))
    return 0


def _show_two(arguments: argparse.Namespace, before: dict[str, Any], after: dict[str, Any]) -> int:
    from recuse import report
    from recuse.report.canonical_form import normalised
    from recuse.report.side_by_side import page, side_by_side, text

    plain = [normalised(results) for results in (before, after)]
    rows = side_by_side(*plain)
    names = (str(arguments.results), str(arguments.other))
    if arguments.html:
        first, second = (one.get("headline") or report.headline(one) for one in plain)
        write_output(arguments.html, page(rows, names, (first, second)), is_page)
    print(visible(text(rows, names)))
    return 0


def check_outputs(to_json: Path | None, to_html: Path | None) -> None:
    """Before any work: raises `RecuseError` where `write_results` would."""
    check_output(to_json, is_results)
    check_output(to_html, is_page)


def write_results(results: Results, to_json: Path | None, to_html: Path | None) -> None:
    """As JSON, and as a page of its own, where a path is given. Raises `RecuseError` where it cannot be written."""
    from recuse import report
    from recuse.report.canonical_form import normalised
    from recuse.report.page import page

    if to_json:
        write_output(to_json, report.canonical(results), is_results)
    if to_html:
        plain = normalised(results)
        write_output(to_html, page(plain, plain["headline"], (), ()), is_page)
