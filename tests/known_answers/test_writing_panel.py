"""What docs/rubrics.md says of the recorded panel is what its cassettes give."""

from __future__ import annotations

import pytest
import writing_panel

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


def test_the_page_says_how_far_one_judge_lies_above_the_others(ratings):
    least, *_, most = writing_panel.above_others(ratings)
    assert f"Qwen scores {least:.1f} to {most:.1f} points above either of the others" in PAGE


def test_the_page_says_how_often_a_judge_gives_all_texts_one_score(ratings):
    place = ["rater", "item", "target"]
    by_list = ratings.table.query("rubric_source == 'checklist'")
    scores = by_list.pivot_table(index=place, columns="criterion", values="score", observed=True)
    three = scores[scores["overall"] == 3]
    count = three.groupby("rater", observed=True).size()
    small, gemma, qwen = (int(count[name]) for name in ("smollm2-135m", "gemma-3-270m", "qwen2.5-coder-0.5b"))
    assert f"the mean is 3 for all {small} texts by SmolLM2, and for {gemma} and {qwen} by Gemma and Qwen" in PAGE
    counted = (three[[f"dimension_{k}" for k in range(1, 6)]] == [1, 2, 3, 4, 5]).all(axis=1)
    assert f"{int(counted.sum())} of these {len(three)} are the scores 1, 2, 3, 4, 5 in this order" in PAGE
