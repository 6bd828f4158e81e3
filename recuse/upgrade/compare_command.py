"""`recuse compare` from arguments to exit code: reads, compares, prints, and writes what was asked for. The same
verdict in Python: `compare`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from recuse.gates import Gates
from recuse.gates.upgrade_verdict import UpgradeVerdict
from recuse.gates.uses import Uses
from recuse.ratings import Ratings
from recuse.readers.file_panel import ReadOptions, read
from recuse.report.canonical_form import normalised
from recuse.report.results_model import ResultsModel
from recuse.report.terminal_text import ascii_of
from recuse.report.upgrade_table import UpgradeTable, upgrade_tables
from recuse.run.run import Run
from recuse.run.show import check_outputs, write_results
from recuse.schema import RecuseError
from recuse.schema.baseline_rows import Baseline
from recuse.schema.results import Results
from recuse.schema.verdict_rows import QuestionWords
from recuse.security.files import is_results, write_output
from recuse.security.sanitize import shortened, visible
from recuse.suite.question_runner import Asking, Respondents
from recuse.suite.shipped import shipped_evals
from recuse.upgrade.baseline_comparison import compare_baselines, read_estimates
from recuse.upgrade.judge_upgrade import judge_upgrade, worst_of
from recuse.upgrade.sources import Part, Source, open_sources, pair_up, split_arguments

if TYPE_CHECKING:
    import pandas as pd

OWN_GATES = Path("evals") / "gates.toml"
WORDS: QuestionWords = {"question": "upgrade", "title": "May a judge be replaced by its candidate?", "note": ""}
NAME = 22


def compare(
    before: Ratings | Path | str | pd.DataFrame, after: Ratings | Path | str | pd.DataFrame | None = None, *,
    incumbent: str = "", candidate: str = "", gates: Path | str | None = None, change: Sequence[str] = (),
    thresholds: Sequence[float] = (), **options: Unpack[ReadOptions],
) -> UpgradeVerdict:  # fmt: skip
    """Whether a candidate may replace the judge in use: what `recuse compare` decides of the same files or panels.

    `after` is left out where `before` holds both judges. `incumbent`, the judge in use, and `candidate` are named where
    they are not clear. `options` as of `recuse.read`, for what was not read yet. Of judges that were asked at several
    places, the worst verdict. Raises `RecuseError` for what cannot be read or compared."""
    if bool(incumbent) != bool(candidate):
        raise RecuseError(f"name two judges, the one in use and its candidate, or none; got {incumbent or candidate}")
    if options and isinstance(before, Ratings) and (after is None or isinstance(after, Ratings)):
        raise RecuseError(f"{', '.join(options)}: give it to recuse.read, which made these ratings")
    limits = Gates.load(_gates(Path(gates) if gates is not None else None), today=date.today())
    given = [
        Path(one) if isinstance(one, str) else one if isinstance(one, Path | Ratings) else read(one, **options)
        for one in (before, after)
        if one is not None
    ]
    mapping = {name: value for name, value in options.items() if name != "reader"}
    sources = open_sources(given, limits, mapping, options.get("reader", ""))
    names = (incumbent, candidate) if candidate else ()
    return worst_of(verdict for _, verdict in _decide(sources, names, limits, change, thresholds))


def run_compare(
    given: Sequence[str], mapping: Mapping[str, Any], *, gates: Path | None = None, change: Sequence[str] = (),
    thresholds: Sequence[float] = (), reader: str = "", html: Path | None = None, json: Path | None = None,
) -> int:  # fmt: skip
    """The exit code: 0 may replace, 1 may not, 2 undecided, 3 not comparable; of two baselines 1, 2 or 3. Raises
    `RecuseError` for what cannot be read."""
    paths, names = split_arguments(given)
    check_outputs(json, html)
    limits = Gates.load(_gates(gates), today=date.today())
    held = [read_estimates(path, limits) for path in paths]
    if any(one is not None for one in held):
        return _by_baselines(paths, held, names, limits, change, html, json)
    sources = open_sources(paths, limits, mapping, reader)
    verdicts = _decide(sources, names, limits, change, thresholds)
    worst = worst_of(verdict for _, verdict in verdicts)
    results = _results(sources[-1], limits, verdicts) | {"headline": worst.sentence}
    remarks = [visible(remark) for source in dict.fromkeys(sources) for remark in source.remarks]
    print("\n".join([verdict_text(results, worst), *remarks]))
    write_results(results, json, html)
    return worst.exit_code


def _decide(
    sources: Sequence[Source], names: Sequence[str], limits: Gates, change: Sequence[str], thresholds: Sequence[float]
) -> list[tuple[Part, UpgradeVerdict]]:
    """The verdict at every place where both judges were asked."""
    pairs = list(pair_up(sources, names, change))
    if not pairs:
        raise RecuseError("the two judges were never asked the same: no task and protocol has both")
    verdicts = []
    for part, upgrade in pairs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a degenerate table is told in words, not by numpy
            wanted = upgrade.with_thresholds(thresholds) if thresholds else upgrade
            verdicts.append((part, judge_upgrade(limits, wanted, part.place, share=1 / len(pairs))))
    return verdicts


def _by_baselines(
    paths: Sequence[Path], held: Sequence[Baseline | None], names: Sequence[str], gates: Gates,
    change: Sequence[str], html: Path | None, json: Path | None,
) -> int:  # fmt: skip
    """Where ratings are not there: what baselines keep of the judges."""
    from recuse import report

    if any(one is None for one in held):
        raise RecuseError(
            f"{', '.join(map(str, paths))}: a baseline is compared with a baseline; to hold a panel against a baseline "
            "run pytest evals/ --baseline"
        )
    if html:
        raise RecuseError("--html: baselines hold no ratings to draw; compare the panels or files they were made from")
    known = [one for one in held if one is not None]
    compared = compare_baselines(known[0], known[-1], names, gates, change)
    print("\n".join(visible(line) for line in compared.lines()))
    if json:
        record = report.canonical({"headline": compared.sentence, "upgrade": compared.record()})
        write_output(json, record, is_results)
    return compared.exit_code


def _gates(given: Path | None) -> Path:
    """The file named, a repository's own where it knows upgrades, or the shipped one."""
    if given is not None:
        return given
    own = OWN_GATES.is_file() and "[upgrade_" in OWN_GATES.read_text(encoding="utf-8")
    return OWN_GATES if own else shipped_evals() / "gates.toml"


def _results(source: Source, gates: Gates, verdicts: Sequence[tuple[Part, UpgradeVerdict]]) -> Results:
    run = Run()
    for part, verdict in verdicts:
        of = Respondents(part.place, (verdict.candidate,), Uses(()), ())
        asking = Asking("compare", WORDS, of, gates)
        asking.upgrade(verdict)
        run.add(asking.records)
    return run.conclude(source.selection, gates)


# --------------------------------------------------------------------------- what is printed


def verdict_text(results: Results, worst: UpgradeVerdict) -> str:
    """The whole text; lines are not wrapped. A table per task and protocol, each under its own sentence."""
    tables = upgrade_tables(ResultsModel(normalised(results)), minus="-")
    lines = worst.sentences
    for table in tables:
        if len(tables) > 1:
            lines += ["", f"{table.task}, {table.protocol}: {table.sentence}"]
        if table.rows:
            lines += ["", *_columns(table), *table.foot]
    return "\n".join(ascii_of(line) for line in lines)


def _columns(table: UpgradeTable) -> Iterator[str]:
    """The table in columns of text."""
    head = tuple(shortened(cell, NAME)[0] for cell in table.head)
    rows = [tuple(map(ascii_of, cells)) for cells in (head, *(row.cells for row in table.rows))]
    widths = [max(len(cells[k]) for cells in rows) for k in range(len(head))]
    for cells in rows:
        yield ("  " + "   ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))).rstrip()
