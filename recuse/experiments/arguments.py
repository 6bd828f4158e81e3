"""The subcommands that simulate, `recuse validate` and `recuse plan`: their options, and nothing heavy to import."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

OPTIONS = (
    ("scale", str, "SCALE", "LOW-HIGH as 0-10, pass/fail, labels or pairs"),
    ("agreement", float, "SHARE", "how well people agree: ICC of scores, kappa of options"),
    ("people", int, "N", "people who rate every text"), ("positive", float, "SHARE", "share of passes, of pass/fail"),
    ("systems", int, "N", "systems whose texts are rated"),
    ("repeats", int, "N", "times a judge is asked about a text"),
    ("losses", float, "SHARE", "share of replies that cannot be read"),
)  # fmt: skip


def add_simulations(commands: Any) -> None:
    """Add both to the subparsers of `recuse`."""
    validate = commands.add_parser(
        "validate", help="how often are good judges cleared, and faults? By simulation",
        description="Draws files of ratings with good judges and with planted faults at twice their margin, asks what "
        "recuse check asks, and prints how often each is cleared. Exit code: 1 where a fault is cleared in more than 5 "
        "percent, beyond the simulation's error.",
    )  # fmt: skip
    validate.add_argument("--runs", type=int, default=60, metavar="N", help="files per number (default 60)")
    validate.add_argument("--json", type=Path, metavar="FILE", help="write the shares as JSON")
    validate.set_defaults(run=_validate)
    plan = commands.add_parser(
        "plan", help="how many texts until a fair judge is cleared? Before they are rated",
        description="From a file of ratings of a first try, a panel, or options alone: the chance that a judge which "
        "is one more person is cleared for each use at growing sizes, the size for 80 percent, and a panel's costs.",
    )  # fmt: skip
    plan.add_argument("source", type=Path, nargs="?", metavar="FILE|PANEL", help="ratings of a first try, or a panel")
    plan.add_argument("--runs", type=int, default=60, metavar="N", help="judges per number (default 60)")
    plan.set_defaults(run=_plan)
    for name, kind, metavar, words in OPTIONS:
        plan.add_argument(f"--{name}", type=kind, metavar=metavar, help=words)
    for command in (validate, plan):
        command.add_argument("--evals", type=Path, metavar="FOLDER", help="evals and gates.toml (default: evals/)")
        command.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the simulation (default 1)")
        command.add_argument("--processes", type=int, default=2, metavar="N", help="processes (default 2)")


def _validate(arguments: argparse.Namespace) -> int:
    from recuse.experiments.validate_command import run_validate

    return run_validate(
        evals=arguments.evals, runs=arguments.runs, seed=arguments.seed, processes=arguments.processes,
        to_json=arguments.json,
    )  # fmt: skip


def _plan(arguments: argparse.Namespace) -> int:
    from recuse.experiments.plan_command import run_plan

    return run_plan(
        arguments.source, {name: getattr(arguments, name) for name, *_ in OPTIONS}, evals=arguments.evals,
        runs=arguments.runs, seed=arguments.seed, processes=arguments.processes,
    )  # fmt: skip
