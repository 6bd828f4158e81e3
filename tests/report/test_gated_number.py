"""Words travel with the numbers; what has none is called by its name."""

from __future__ import annotations

import json

import samples
from page_reader import page

from recuse.report.canonical_form import canonical, normalised
from recuse.report.gated_number import Lexicon, place_in
from recuse.report.terminal_text import terminal
from recuse.schema.results import UNDESCRIBED

HELD = {
    "measures": {
        "repeat_difference": {"title": "spread", "signed": True, "above": "is unsteady|are unsteady", "rank": 7}
    },
    "factors": [{"name": "names", "levels": [{"name": "shown", "words": "names shown"}, {"name": "a", "words": "A"}]}],
    "tasks": [{"name": "t", "criteria": ["total", "accuracy"]}],
}


def test_a_measure_is_spoken_of_as_it_describes_itself() -> None:
    measure = Lexicon(HELD).measure("repeat_difference")
    assert measure == {**UNDESCRIBED, "title": "spread", "signed": True, "above": "is unsteady|are unsteady", "rank": 7}


def test_what_is_not_described_is_called_by_its_name() -> None:
    words = Lexicon(HELD)
    assert words.measure("wobble_rate")["title"] == "wobble rate"
    assert words.level("divisor", "n_1") == "divisor n 1"
    assert words.level("names", "shown") == "names shown"


def test_order_is_that_of_the_descriptions() -> None:
    words = Lexicon(HELD)
    assert sorted(["a", "zebra", "shown"], key=lambda v: words.level_order("names", v)) == ["shown", "a", "zebra"]
    assert sorted(["x", "names"], key=words.factor_order) == ["names", "x"]
    assert min("m", "accuracy", "total", key=lambda c: place_in(words.criteria["t"], c)) == "total"


def test_a_stored_file_is_drawn_in_its_own_words() -> None:
    """Another title in results.json is another title in the report: no table of the engine is asked."""
    held = json.loads(canonical(samples.published()))
    held["measures"]["self_bias"]["title"] = "house bias"
    plain = normalised(held)
    assert "house bias" in page(plain, "x").lower()
    assert "self-bias (" not in page(plain, "x").lower()


def test_results_without_descriptions_are_drawn() -> None:
    bare = {k: v for k, v in samples.published().items() if k not in ("measures", "factors", "tasks", "not_asked")}
    assert "not cleared: gemini-2.5-pro and grok-4; of gemini-2.5-pro: " in terminal(bare, 300)
