"""Options and settings of the command line, and the one suite of a session that they ask for."""

from __future__ import annotations

import argparse
import os
from collections.abc import Generator
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from recuse.schema import Transcript
    from recuse.schema.results import RepliesRow
    from recuse.suite import Suite

SHORT_NAMES = "recuse.plugin.short_names"  # active in suites of ours only; a conftest.py may name it too
BASELINE = "reports/baseline.json"  # where the baseline is, unless `--baseline FILE` says otherwise
SUITE = pytest.StashKey["Suite"]()  # there is one as soon as a test of the session asks about judges
_ci_base = pytest.StashKey[str]()


def _baseline_file(text: str) -> str:
    if text and not text.endswith(".json"):  # `--baseline evals/` would take the tests for the file
        raise argparse.ArgumentTypeError(f"{text!r} is no .json file; paths of tests go before --baseline")
    return text


OPTIONS: dict[str, dict[str, Any]] = {
    "panel": {"action": "append", "default": [], "metavar": "FILE", "help": "panel to examine; repeat for several"},
    "ratings": {
        "action": "append", "default": [], "metavar": "FILE", "help": "ratings you already have, as a panel: CSV, JSON "
        "lines, Parquet, another tool's log; repeat for several"},
    "judges": {"default": "", "metavar": "A,B", "help": "verdicts on these judges only; the reference stays whole"},
    "record": {
        "choices": ("none", "missing", "all", "batch", "sample"), "default": "none",
        "help": "none: replay only, no network (default); missing: ask for what no cassette answers; all: ask anew; "
        "batch: hand in what is missing as files, where the provider takes them at half the price; "
        "sample: ask a random twentieth again, and compare it with what is recorded, which stays as it is"},
    "yes": {"action": "store_true", "help": "record even above the panel's budget"},
    "models": {"default": "models", "metavar": "DIR", "help": "where weights of local models are kept"},
    "baseline": {
        "nargs": "?", "const": "", "default": None, "type": _baseline_file, "metavar": "FILE", "help": "fail on what "
        "changed against it beyond chance and tolerance, and on changed limits (reports/baseline.json)"},
    "base": {
        "default": None, "metavar": "REV", "help": "commit that judges changed in place are compared with (where this "
        "branch left the default branch)"},
    "update-baseline": {"action": "store_true", "help": "write reports/baseline.json from this run"},
    "because": {
        "default": "", "metavar": "TEXT",
        "help": "why the new baseline stands although the run is red or limits changed; kept in it"},
}  # fmt: skip
"""Each is --recuse-NAME, and --NAME in a suite unless another plugin has that: --panel for --recuse-panel."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds our options, each under its long name, and our settings."""
    group = parser.getgroup("recuse", "judging judges (recuse); in a suite every --recuse-NAME may be written --NAME")
    for name, how in OPTIONS.items():
        group.addoption(f"--recuse-{name}", **how)
    parser.addini("recuse_panels", "panels examined when --panel is not given", type="args", default=[])
    parser.addini("recuse_drawings", "modules of your own that draw questions, by dotted name", type="args", default=[])
    texts = "whether prompts and replies stand in the report and beside it"
    parser.addini("recuse_texts", texts, type="bool", default=True)
    parser.addini("recuse_gates", "file with limits and accepted failures", default="evals/gates.toml")


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, None, None]:
    """In a suite of ours the short names exist too: those of fixtures and of the mark, and, once every plugin and
    conftest has named its options, those of our options that nobody else has. What continuous integration compares with
    is read before any code of the repository can say otherwise."""
    early_config.stash[_ci_base] = os.environ.get("RECUSE_BASE", "")
    yield
    gates = early_config.rootpath / early_config.getini("recuse_gates")
    named = early_config.pluginmanager.hasplugin(SHORT_NAMES)
    if named or early_config.getini("recuse_panels") or gates.is_file():  # a suite of ours
        early_config.pluginmanager.import_plugin(SHORT_NAMES)
        _, unknown = parser.parse_known_and_unknown_args(args, copy(early_config.option))
        unknown = [argument.partition("=")[0] for argument in unknown]
        options = args.index("--") if "--" in args else len(args)
        for place, argument in enumerate(args[:options]):
            name = argument.partition("=")[0]
            if name.startswith("--") and name[2:] in OPTIONS and name in unknown:
                args[place] = f"--recuse-{argument[2:]}"


def given(config: pytest.Config, name: str) -> Any:
    """The value of our option `name`, without its prefix."""
    return config.getoption(f"--recuse-{name}")


def open_suite(config: pytest.Config) -> Suite:
    """The suite that the options ask for; `RecuseError` for a mistake in them or in a file they name."""
    if SUITE not in config.stash:
        from recuse.schema.plain_values import multiply_in_one_thread, spare_the_cycle_collector

        spare_the_cycle_collector()
        multiply_in_one_thread()
        from recuse.suite import Suite

        files: list[str] = given(config, "ratings")
        root, texts = config.rootpath, config.getini("recuse_texts")
        config.stash[SUITE] = Suite.from_options(
            root=root, panels=given(config, "panel") or (config.getini("recuse_panels") if not files else ()),
            ratings=[str(Path(config.invocation_params.dir, file)) for file in files],
            judges=[name.strip() for name in given(config, "judges").split(",") if name.strip()],
            record=given(config, "record"), yes=given(config, "yes"), models=root / given(config, "models"),
            gates=root / config.getini("recuse_gates"), baseline=baseline_path(config), base=_base(config),
            distributed=is_worker(config) or bool(getattr(config.option, "numprocesses", None)),
            keep=partial(_write_replies, root / "reports") if texts else None, texts=texts,
        )  # fmt: skip
    return config.stash[SUITE]


def _write_replies(reports: Path, transcript: Transcript) -> RepliesRow:
    from recuse.report.addresses import FOLDER
    from recuse.report.reply_pages import write_transcript

    return write_transcript(transcript, reports / FOLDER)


def _base(config: pytest.Config) -> str | None:
    """The commit that whoever runs compares with: what runs in continuous integration has the last word."""
    from recuse.schema import RecuseError

    if any(word.partition("=")[0] in ("--base", "--recuse-base") for word in config.getini("addopts")):
        raise RecuseError(
            "--base stands in addopts: the commit that a change is compared with is no part of the change; give it on "
            "the command line, or as RECUSE_BASE"
        )
    named = config.stash.get(_ci_base, os.environ.get("RECUSE_BASE", ""))
    return named if named.strip("0") else given(config, "base")  # GitHub: zeros where a branch is new


def baseline_path(config: pytest.Config) -> Path:
    """What the run is compared with."""
    return config.rootpath / (given(config, "baseline") or BASELINE)


def is_worker(config: pytest.Config) -> bool:
    """Whether this is one of the processes that xdist started."""
    return hasattr(config, "workerinput")
