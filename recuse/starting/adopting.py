"""A folder that is somebody's repository already: what `recuse init --adopt` leaves alone, and what to add to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from recuse.starting import texts

__all__ = ["settings_file", "to_add"]

OWN_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
SECTIONS = {"tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}
"""Files that hold other settings too, and the section that makes pytest read them."""

TABLES = (texts.PYTEST_TABLE, "[tool.pytest]")
ALL_REPORTS = re.compile(r"/?reports(/|/\*\*?)?")


def settings_file(folder: Path) -> str:
    """The file that pytest takes its settings from in this folder: the first that there is, in pytest's own order.
    "pyproject.toml" where there is none."""
    for name in OWN_FILES:
        if (folder / name).is_file():
            return name
    if not any(table in _text(folder / "pyproject.toml") for table in TABLES):
        for name, section in SECTIONS.items():
            if section in _text(folder / name):
                return name
    return "pyproject.toml"


def to_add(folder: Path, there: list[str], panel: str) -> Iterator[str]:
    """What the files that were left as they were need, so that the next commands work: lines for the terminal."""
    settings = settings_file(folder)
    if settings in there and panel not in _text(folder / settings):
        yield from _panel_setting(_text(folder / settings), settings, panel)
    if ".gitignore" in there:
        yield from _ignored(_text(folder / ".gitignore").split())
    if "conftest.py" in there and ".github/workflows/evals.yml" not in there:
        yield (
            ".github/workflows/evals.yml installs recuse alone: add what conftest.py and evals/ import to its line "
            "`pip install recuse`."
        )


def _panel_setting(text: str, settings: str, panel: str) -> Iterator[str]:
    toml = settings.endswith(".toml")
    if "recuse_panels" in text:
        yield f"Add to recuse_panels in {settings}: {json.dumps(panel) if toml else panel}"
        return
    known = TABLES if settings == "pyproject.toml" else (SECTIONS.get(settings, "[pytest]"),)
    section = next((table for table in known if table in text), "")
    line = f"recuse_panels = {json.dumps([panel]) if toml else panel}"
    yield f"Add to {section or settings}{f' of {settings}' if section else ''}:"
    yield from (f"  {added}" for added in ([line] if section else [known[0], line]))


def _ignored(lines: list[str]) -> Iterator[str]:
    wholesale = [line for line in lines if ALL_REPORTS.fullmatch(line) and line != "/reports/*"]
    known = {line.strip("/") for line in lines}
    wanted = [line for line in texts.IGNORED.split() if line.strip("/") not in known]
    if wanted:
        yield "Add to .gitignore what runs and recordings leave behind:"
        yield from (f"  {line}" for line in wanted)
    if wholesale:
        yield f"  and take out {wholesale[0]}: it also hides reports/baseline.json, which is to be committed"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
