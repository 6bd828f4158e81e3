"""`recuse validate`: how often the gates are wrong at your own sizes, by simulation; a table, a page and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recuse.experiments.operating_curves import validate
from recuse.experiments.scripted_upgrade import TESTS
from recuse.experiments.sizes import Sizes, sizes_of_panel, sizes_of_ratings
from recuse.schema import RecuseError

__all__ = ["evals_folder", "root_of", "run_validate", "sizes_from", "table"]


def run_validate(
    source: Path | None,
    given: Mapping[str, Any],
    *,
    evals: Path | None = None,
    runs: int = 100,
    seed: int = 1,
    processes: int = 2,
    html: Path | None = None,
    to_json: Path | None = None,
) -> int:
    """The command. Exit code 0: as promised; 1: fair judges fail more often than the gates file allows, beyond what
    the simulation's own error explains."""
    if runs < 2 or processes < 1:
        raise RecuseError(f"--runs is a whole number from 2 and --processes one from 1; got {runs} and {processes}")
    sizes = sizes_from(source, given)
    record = validate(evals_folder(evals), sizes, runs=runs, seed=seed, processes=processes).record
    print(table(record))
    if html is not None:
        from recuse.experiments.curves_page import page

        html.write_text(page(record, table(record)), encoding="utf-8", newline="\n")
        print(f"\npage: {html}")
    if to_json is not None:
        to_json.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
    fair = record["fair"]
    return int(fair["any_failed"] > fair["allowed"] + 3 * _error(fair["allowed"], runs))


def sizes_from(source: Path | None, given: Mapping[str, Any]) -> Sizes:
    """From a panel file, a file of ratings, or neither; what the command line says comes first."""
    if source is None:
        return Sizes().with_given(given)
    if not source.is_file():
        raise RecuseError(f"{source}: no such file; give a panel (.toml), a file of ratings, or only sizes as options")
    usual = Sizes().with_given(given)
    if source.suffix == ".toml":
        return sizes_of_panel(source, root_of(source), usual).with_given(given)
    from recuse.readers.file_panel import load_file_panel

    ends = (given["low"], given["high"]) if given.get("low") is not None else None
    return sizes_of_ratings(load_file_panel(source).ratings, usual, ends).with_given(given)


def evals_folder(given: Path | None) -> Path:
    """The folder with the evals and gates to try: the one named, that of the repository one stands in, the shipped."""
    if given is not None:
        folder = given if given.is_dir() else given.parent
        if not (folder / "gates.toml").is_file():
            raise RecuseError(f"--evals {given}: there is no gates.toml in {folder}")
        return folder
    if (Path("evals") / "gates.toml").is_file():
        return Path("evals").resolve()
    from recuse.shipped import shipped_evals

    return shipped_evals()


def table(record: Mapping[str, Any]) -> str:
    """The record for a terminal: sizes, the run as a whole, one line per gate."""
    sizes, fair, runs, anew = Sizes(**record["sizes"]), record["fair"], record["runs"], record["anew"]
    allowed = _percent(fair["allowed"])
    lines = [
        f"simulated: {sizes}",
        f"{runs} panels of fair judges; {runs // 2} per size of a fault; seed {record['seed']}",
        "",
        f"any fair judge fails             {_rate(fair['any_failed'], runs)}   promised: at most {allowed}",
        f"a fair judge not cleared         {_rate(fair['not_cleared'], runs)}",
        f"run red, nothing wrong           {_rate(fair['run_red'], runs)}",
        f"recorded anew, a change named    {_rate(anew['same'], anew['runs'])}   promised: at most 5 %",
        f"{anew['shift']:g} more on its own text, named  {_rate(anew['found'], anew['runs'])}",
        f"a change is named with 80 % from {_sizes(anew['smallest'])}",
        "",
        _row(("gate", "false fail", "at most", "not passed", "coverage", "at the limit", "", "promised find", "")),
        _row(("", "per run", "", "fair judge", "of 95 %", "fails", "passes", "of size", "fails")),
    ]
    upgrade = record["upgrade"]
    lines += [_row(_cells(gate)) for gate in (*record["gates"], *upgrade.get("gates", ()))]
    return "\n".join([*lines, *(_upgrade(upgrade) if upgrade else ()), *_foot(record)])


def _sizes(smallest: Mapping[str, float]) -> str:
    return ", ".join(f"{gate} {size:.2g}" for gate, size in smallest.items()) or "no size: nothing can be tested"


def _upgrade(curves: Mapping[str, Any]) -> list[str]:
    """What becomes of candidates: the judge in use asked anew, then the same with a fault."""
    allowed, runs = _percent(curves["false_fail"]), curves["runs"]
    rows = [(f"{KINDS[one['kind']]}: the same judge, asked anew", one, runs, one["promised"]) for one in curves["same"]]
    rows += [(f"{KINDS[p['kind']]}: {p['effect']} {p['size']:.3g}", p, p["runs"], None) for p in curves["curve"]]
    return [
        "", f"A candidate for the judge in use, all components together (worse without a fault: at most {allowed})", "",
        f"{'candidate':<{CANDIDATE}}{'may replace':>18}{'promised':>10}{'undecided':>11}{'worse':>18}",
        *(f"{name:<{CANDIDATE}}{_rate(p['accepted'], n):>18}{_percent(promised):>10}{_percent(p['undecided']):>11}"
          f"{_rate(p['worse'], n):>18}" for name, p, n, promised in rows),
    ]  # fmt: skip


KINDS = {"scores": "scores", TESTS: "with tests", "choices": "pairs"}
CANDIDATE = 40


def _cells(gate: Mapping[str, Any]) -> tuple[str, ...]:
    at_limit = gate.get("at_limit") or {}
    promised = gate["promised"] or {}
    return (
        gate["gate"],
        _percent(gate["false_fail"]),
        _percent(gate["alpha"]) if gate["alpha"] else "unknown",
        _percent(gate["not_passed"]),
        _percent(gate["coverage"]),
        _percent(at_limit.get("fails")),
        _percent(at_limit.get("passes")),
        f"{promised['size']:.3g}" if promised else "",
        _percent(promised.get("fails")),
    )


def _foot(record: Mapping[str, Any]) -> list[str]:
    error = 100 * _error(0.5, max(1, record["runs"] // 2))
    lines = ["", f"Monte-Carlo standard error of a rate: up to {error:.1f} points."]
    if record["not_simulated"]:
        lines.append(f"Not simulated: {', '.join(record['not_simulated'])}.")
    return lines


WIDTHS = (24, 11, 9, 11, 9, 13, 8, 14, 8)


def _row(cells: tuple[str, ...]) -> str:
    name, *rest = zip(cells, WIDTHS, strict=True)
    return "".join([name[0].ljust(name[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip()


def _rate(share: float, runs: int) -> str:
    return f"{_percent(share)} +- {100 * _error(share, runs):.1f}".rjust(14)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _error(share: float, runs: int) -> float:
    return math.sqrt(share * (1 - share) / runs)


def root_of(panel: Path) -> Path:
    """The repository a panel file belongs to: where its fixtures/ is."""
    return next((folder.parent for folder in panel.resolve().parents if folder.name == "fixtures"), Path.cwd())
