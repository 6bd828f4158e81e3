"""The one suite of a pytest session: opened when the first test that asks about judges is collected."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recuse.plugin.command_line import BASELINE, REPORTS, given, named_files

if TYPE_CHECKING:
    from recuse.schema import Transcript
    from recuse.schema.results import RepliesRow
    from recuse.suite import Suite

__all__ = ["baseline_path", "is_opened", "is_worker", "open_suite"]

_suite = pytest.StashKey["Suite"]()


def open_suite(config: pytest.Config) -> Suite:
    """The suite that the options ask for; `RecuseError` for a mistake in them or in a file they name."""
    if _suite not in config.stash:
        from recuse.suite import Suite

        files = named_files(config)
        config.stash[_suite] = Suite.from_options(
            root=config.rootpath,
            panels=given(config, "panel") or (config.getini("recuse_panels") if not files else ()),
            ratings=[str(Path(config.invocation_params.dir, file)) for file in files],
            judges=[name.strip() for name in given(config, "judges").split(",") if name.strip()],
            record=given(config, "record"),
            yes=given(config, "yes"),
            models=config.rootpath / given(config, "models"),
            gates=config.rootpath / config.getini("recuse_gates"),
            distributed=is_worker(config) or bool(getattr(config.option, "numprocesses", None)),
            shared=_shared_folder(config),
            baseline=baseline_path(config),
            keep=partial(_write_replies, config.rootpath / REPORTS) if config.getini("recuse_replies") else None,
        )
    return config.stash[_suite]


def _write_replies(reports: Path, transcript: Transcript) -> RepliesRow:
    from recuse.report.replies import FOLDER, write_transcript

    return write_transcript(transcript, reports / FOLDER)


def baseline_path(config: pytest.Config) -> Path:
    """What the run is compared with."""
    return config.rootpath / (given(config, "baseline") or BASELINE)


def is_opened(config: pytest.Config) -> bool:
    """Whether any test of this session asked about judges."""
    return _suite in config.stash


def is_worker(config: pytest.Config) -> bool:
    """Whether this is one of the processes that xdist started."""
    return hasattr(config, "workerinput")


def _shared_folder(config: pytest.Config) -> Path | None:
    """The folder in which the workers of this run share what they read; None in a process of its own."""
    folder = getattr(config, "workerinput", {}).get("recuse_shared")
    return Path(folder) if folder else None
