"""docs/providers.md: every format has its row, and every judge it shows can be asked as shown."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from documented import documented

from recuse.judges import WIRES, wire
from recuse.panels import load_panel
from recuse.schema import Judge, Message, Prompt

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
HEAD = """
name = "page"
description = "The judges of the page."
provenance = "recorded"
source = "made for this test"

[[task]]
name = "essays"
protocols = ["rubric"]

"""
PROMPT = Prompt((Message("system", "Be fair."), Message("user", "Score this.")), 0.7, 200)


@pytest.fixture
def judges(tmp_path: Path) -> dict[str, Judge]:
    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "page.toml"
    path.write_text(HEAD + shown, encoding="utf-8")
    return dict(load_panel(path).judges)


def rows() -> dict[str, list[str]]:
    """Format -> its cells in the table of formats."""
    lines = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in PAGE.split("\n")]
    return {cells[0]: cells for cells in lines if len(cells) == 10 and cells[0] not in ("wire", "---")}


def test_every_format_has_a_row() -> None:
    assert sorted(rows()) == sorted(WIRES)


def test_the_judges_of_the_page_are_taken_by_their_providers(judges: dict[str, Judge]) -> None:
    for judge in judges.values():
        documented(judge.wire).check(json.loads(wire(judge.wire).request(judge, PROMPT, None).body))


def test_every_format_is_shown(judges: dict[str, Judge]) -> None:
    assert {judge.wire for judge in judges.values()} == set(WIRES)


def test_what_the_page_says_of_seeds_and_batches_is_so() -> None:
    for name, cells in rows().items():
        assert (cells[4] == "yes") == bool(documented(name).seed_at)
        assert (cells[9] == "yes") == hasattr(wire(name), "BATCH")
