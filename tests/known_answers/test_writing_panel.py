"""What docs/rubrics.md says of the recorded panel is what its cassettes give."""

from __future__ import annotations

import pytest
import writing_panel

from recuse.papers.illusion.cited_evidence import flaw_penalty

PAGE = " ".join((writing_panel.ROOT / "docs" / "rubrics.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def ratings():
    return writing_panel.recorded()


def test_the_page_shows_what_was_recorded(ratings):
    page = (writing_panel.ROOT / "docs" / "rubrics.md").read_text(encoding="utf-8")
    assert writing_panel.markdown(ratings) in page


def test_the_page_counts_judgements_losses_and_calls(ratings):
    overall = ratings.table[ratings.table["criterion"] == "overall"]
    lost = int((overall["status"] != "ok").sum())
    made, a_prompt = writing_panel.calls(ratings)
    assert f"that is {len(overall)} judgements, of which {lost} are lost, from {made} calls" in PAGE
    assert f"`--record=missing`: {a_prompt} calls a prompt" in PAGE


def test_the_page_counts_what_is_copied(ratings):
    replies, repeated, quotes, there = writing_panel.copied(ratings)
    assert f"{repeated} of their {replies} replies hold no judgement" in PAGE
    assert f"of the {quotes} pieces of text that they cite as evidence {there} stand there" in PAGE


def test_every_interval_of_the_twins_holds_no_difference(ratings):
    """The page says so of all that have one."""
    found = [e for e in flaw_penalty(ratings).values() if e.low == e.low]
    assert found
    assert all(e.low <= 0 <= e.high for e in found)
