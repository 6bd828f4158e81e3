"""Options and settings of the command line, their short names, and what was given for them."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from typing import Any

import pytest

__all__ = ["BASELINE", "REPORTS", "SHORT", "given", "named_files", "pytest_addoption", "pytest_load_initial_conftests"]

REPORTS = "reports"
"""Where the report is written."""

BASELINE = f"{REPORTS}/baseline.json"
"""Where the baseline is, unless `--baseline FILE` says otherwise."""

SHORT = ("--panel", "--ratings", "--judges", "--record", "--yes", "--models", "--baseline", "--update-baseline",
         "--because", "--base")  # fmt: skip
"""Short names of our options, `--panel` for `--recuse-panel`: each is ours unless another plugin has it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds our options, each under its long name, and our settings."""
    group = parser.getgroup("recuse", "judging judges (recuse); every --recuse-NAME may be written --NAME")
    group.addoption(
        "--recuse-panel", action="append", default=[], metavar="FILE", help="panel to examine; repeat for several"
    )
    group.addoption(
        "--recuse-ratings", action="append", default=[], metavar="FILE",
        help="ratings you already have, as a panel: CSV, JSON lines, Parquet, another tool's log; repeat for several",
    )  # fmt: skip
    group.addoption(
        "--recuse-judges", default="", metavar="A,B", help="verdicts on these judges only; the reference stays whole"
    )
    group.addoption(
        "--recuse-record",
        choices=("none", "missing", "all", "batch"),
        default="none",
        help="none: replay only, no network (default); missing: ask for what no cassette answers; all: ask anew; "
        "batch: hand in what is missing as files, where the provider takes them at half the price",
    )
    group.addoption("--recuse-yes", action="store_true", help="record even above the panel's budget")
    group.addoption("--recuse-models", default="models", metavar="DIR", help="where weights of local models are kept")
    group.addoption(
        "--recuse-baseline",
        nargs="?",
        const="",
        default=None,
        type=_baseline_file,
        metavar="FILE",
        help="fail on what changed against it beyond chance and tolerance, and on changed limits "
        "(reports/baseline.json)",
    )
    group.addoption(
        "--recuse-base", default=None, metavar="REV",
        help="commit that judges changed in place are compared with (where this branch left the default branch)",
    )  # fmt: skip
    group.addoption("--recuse-update-baseline", action="store_true", help="write reports/baseline.json from this run")
    group.addoption(
        "--recuse-because", default="", metavar="TEXT",
        help="why the new baseline stands although the run is red or limits changed; kept in it",
    )  # fmt: skip
    parser.addini("recuse_panels", "panels examined when --panel is not given", type="args", default=[])
    parser.addini("recuse_drawings", "modules of your own that draw questions, by dotted name", type="args", default=[])
    parser.addini(
        "recuse_replies", "write every reply and prompt as pages beside the report", type="bool", default=True
    )
    parser.addini("recuse_gates", "file with limits and accepted faults", default="evals/gates.toml")


def _baseline_file(text: str) -> str:
    if text and not text.endswith(".json"):  # `--baseline evals/` would take the tests for the file
        raise argparse.ArgumentTypeError(f"{text!r} is no .json file; paths of tests go before --baseline")
    return text


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, None, None]:
    """Once every plugin and conftest has named its options, our short names that nobody else has become ours."""
    yield
    taken = {
        name for group in (*parser._groups, parser._anonymous) for option in group.options for name in option.names()
    }
    for place, argument in enumerate(args):
        if argument == "--":
            break
        name, sign, value = argument.partition("=")
        if name in SHORT and name not in taken:
            args[place] = f"--recuse-{name[2:]}{sign}{value}"


def given(config: pytest.Config, name: str) -> Any:
    """The value of our option `name`, without its prefix."""
    return config.getoption(f"--recuse-{name}")


def named_files(config: pytest.Config) -> list[str]:
    """Files of ratings named on the command line: they are examined in place of the configured panels."""
    files: list[str] = given(config, "ratings")
    return files
