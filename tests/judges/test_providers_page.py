"""docs/providers.md: every format has its row, and every judge it shows can be asked as shown."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from strict_providers import CHECKS

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


def test_every_format_has_a_row() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)[: len(WIRES)] == [
        "openai_chat",
        "openai_responses",
        "azure_openai",
        "anthropic_messages",
        "gemini_generate",
        "vertex_generate",
        "bedrock_converse",
    ]
    assert set(CHECKS) == set(WIRES)


def test_the_judges_of_the_page_are_taken_by_their_providers(judges: dict[str, Judge]) -> None:
    assert len(judges) == 8
    for judge in judges.values():
        CHECKS[judge.wire](json.loads(wire(judge.wire).request(judge, PROMPT, None).body))


def test_every_format_is_shown(judges: dict[str, Judge]) -> None:
    assert {judge.wire for judge in judges.values()} == set(WIRES)


def test_what_the_page_says_of_seeds_and_batches_is_so() -> None:
    lines = [[cell.strip(" `") for cell in line.split("|")] for line in PAGE.split("\n")]
    rows = {cells[1]: cells for cells in lines if len(cells) == 12}
    for name in WIRES:
        assert (rows[name][5] == "yes") == (name not in ("openai_responses", "anthropic_messages", "bedrock_converse"))
        assert (rows[name][10] == "yes") == hasattr(wire(name), "BATCH")
