"""Every figure of paper 002 that Table 9 carries comes out of our measures; where they disagree, we say so."""

from __future__ import annotations

import illusion
import illusion_in_text
import pytest

DISAGREE = {
    "Cohen's d, Thinking over Base, divisor n - 1", "Cohen's d, Thinking over Base, divisor n",
    "models with agreement above 0.80",
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


AGREE_IN_TEXT = {
    "mean rho of the three pairs", "rho less r, as printed", "mean r of the three pairs", "p of F(2, 93) = 14.7",
    "mean ICC of the tiers, by their models", "r less ICC, as printed", "Base among ranks 20 to 32",
    "Table 4, top and bottom five as in Table 9", "Table 5, top and bottom five as in Table 9",
    "temperature of the widest gap", "baseline means of the cases that three whole scores can have",
    "scores of two cases in app. C and E",
}  # fmt: skip


@pytest.mark.parametrize("row", list(illusion_in_text.rows()), ids=lambda row: row[1])
def test_print_and_the_papers_own_numbers(row):
    _, what, printed, _, same = row
    assert same is (None if not printed else what in AGREE_IN_TEXT)


@pytest.mark.parametrize(
    ("what", "computed"),
    [
        ("rho less r, both at temperature 0", "0.21"), ("r less ICC, both of prompt means at temperature 0", "0.11"),
        ("p of the three tiers' agreement, analysis of variance", "0.40"), ("p of Base and Thinking, Welch", "0.31"),
        ("mean r of the five best models", "0.73"), ("others with less than the second of them", "3"),
        ("points per tenfold size, Qwen3 Base", "0.65"), ("points per tenfold size, Qwen3 Thinking", "0.51"),
        ("best less worst model, Thinking", "4.1"), ("pair that agrees most at temperature 0", "Gemini/GPT"),
    ],
)  # fmt: skip
def test_known_answers_of_the_text(what, computed):
    assert {row[1]: row[3] for row in illusion_in_text.rows()}[what] == computed


def test_the_page_shows_what_is_computed():
    page = (illusion.TABLE_9.parents[2] / "docs" / "illusion.md").read_text(encoding="utf-8")
    assert illusion.markdown(illusion.rows()) in page
    assert illusion_in_text.markdown() in page
