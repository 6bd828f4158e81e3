"""The subcommands that simulate, `recuse validate` and `recuse plan`: their options, and nothing heavy to import."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

__all__ = ["add_simulations"]

SIZES = (
    ("judges", int, "N", "judges; one is enough for the questions that need no other"),
    ("targets", int, "N", "systems with a text on every item; 0: one per judge, written by it"),
    ("items", int, "N", "items per judge"),
    ("repeats", int, "N", "times each judge scores a text"),
    ("people", int, "N", "people who score the same texts; 0: none"),
    ("clusters", int, "N", "topics that the items share; 0: they share nothing"),
    ("pairs", int, "N", "pairs of texts to choose between; 0: none"),
    ("noise", float, "SHARE", "SD of a judge's repeats, as a share of the scale's range"),
    ("spread", float, "SHARE", "SD over items of how judges differ in a text, as a share of the range"),
    ("losses", float, "SHARE", "share of replies that cannot be read"),
    ("step", float, "POINTS", "step of the scale; 0: none"),
)


def add_simulations(commands: Any) -> None:
    """Add both to the subparsers of `recuse`."""
    validate = commands.add_parser(
        "validate", help="how often are the gates wrong at your own sizes? By simulation",
        description="Simulates panels of scripted judges, asks the evals' own questions and gates, and prints how "
        "often fair judges fail or are not cleared, and which faults are found. Exit code: 0 as promised, 1 not.",
    )  # fmt: skip
    validate.add_argument("source", type=Path, nargs="?", metavar="PANEL|FILE", help="sizes of this panel, or ratings")
    validate.add_argument("--runs", type=int, default=100, metavar="N", help="simulated panels (default 100)")
    validate.add_argument("--processes", type=int, default=2, metavar="N", help="processes (default 2)")
    validate.add_argument("--html", type=Path, metavar="FILE", help="write the operating curves as a page")
    validate.add_argument("--json", type=Path, metavar="FILE", help="write the rates as JSON")
    validate.set_defaults(run=_validate)
    plan = commands.add_parser(
        "plan", help="how many items and repeats do the gates need? Before anything is recorded",
        description="From a panel's sizes and scale, an assumed or measured noise and the limits in gates.toml: how "
        "likely a fair judge passes, which faults would be found, how many items it takes, and what the calls cost.",
    )  # fmt: skip
    plan.add_argument("source", type=Path, nargs="?", metavar="PANEL|FILE", help="a panel, or ratings of a first try")
    plan.set_defaults(run=_plan)
    for command in (validate, plan):
        command.add_argument("--evals", type=Path, metavar="FOLDER", help="evals and gates.toml (default: evals/)")
        command.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the simulation (default 1)")
        command.add_argument("--scale", metavar="LOW-HIGH", help="ends of the scale, as 0-10")
        command.add_argument("--names", action="store_true", default=None, help="texts with names shown and hidden")
        for name, kind, metavar, words in SIZES:
            command.add_argument(f"--{name}", type=kind, metavar=metavar, help=words)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    from recuse.schema import RecuseError

    given = {name: getattr(arguments, name) for name, *_ in SIZES} | {"names": arguments.names}
    if arguments.scale:
        low, _, high = arguments.scale.partition("-")
        try:
            given |= {"low": float(low), "high": float(high)}
        except ValueError:
            raise RecuseError(f"--scale has its two ends, as 0-10; got {arguments.scale!r}") from None
    return given


def _validate(arguments: argparse.Namespace) -> int:
    from recuse.experiments.validate_command import run_validate

    return run_validate(
        arguments.source, _given(arguments), evals=arguments.evals, runs=arguments.runs, seed=arguments.seed,
        processes=arguments.processes, html=arguments.html, to_json=arguments.json,
    )  # fmt: skip


def _plan(arguments: argparse.Namespace) -> int:
    from recuse.experiments.plan_command import run_plan

    return run_plan(arguments.source, _given(arguments), evals=arguments.evals, seed=arguments.seed)
