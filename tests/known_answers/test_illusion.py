"""Every figure of paper 002 that Table 9 carries comes out of our measures; where they disagree, we say so."""

from __future__ import annotations

import illusion
import pytest

DISAGREE = {
    "Cohen's d, Thinking over Base, divisor n - 1", "Cohen's d, Thinking over Base, divisor n",
    "Cohen's d, Thinking over Base, mean of variances", "models with agreement above 0.80",
}  # fmt: skip


def test_table_9_is_whole():
    table = illusion.table_9()
    assert table["tier"].value_counts().to_dict() == {"Base": 8, "Instruct": 13, "Thinking": 11}


@pytest.mark.parametrize("row", list(illusion.rows()), ids=lambda row: row[1])
def test_print_and_table(row):
    _, what, printed, _, same = row
    assert same is (None if not printed else what not in DISAGREE)


@pytest.mark.parametrize(
    ("what", "computed"),
    [
        ("score and agreement, Spearman", "-0.513"), ("its p, by t", "0.0027"), ("the same, Pearson", "-0.327"),
        ("the same, Kendall", "-0.415"), ("pairs of models of two tiers in order", "83.9 %: 281 of 335 pairs"),
        ("of these, Instruct and Thinking", "99 of 143"), ("Cohen's d, Thinking over Base, divisor n - 1", "2.42"),
        ("Cohen's d, Thinking over Base, divisor n", "2.56"),
        ("Cohen's d, Thinking over Base, mean of variances", "2.57"), ("Spearman without Base", "-0.631"),
        ("Spearman without Llama-3.1-8B-Base", "-0.665"), ("Spearman within Base", "0.26"),
        ("Spearman within Instruct", "-0.58"), ("Spearman within Thinking", "-0.66"),
    ],
)  # fmt: skip
def test_known_answers(what, computed):
    assert {row[1]: row[3] for row in illusion.rows()}[what] == computed


def test_the_page_shows_what_is_computed():
    page = (illusion.TABLE_9.parents[2] / "docs" / "illusion.md").read_text(encoding="utf-8")
    assert illusion.markdown() in page
