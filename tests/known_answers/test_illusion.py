"""Every figure of paper 002 that Table 9 carries comes out of our measures; where they disagree, we say so."""

from __future__ import annotations

import ast
import inspect

import illusion
import illusion_in_text
import merg
import numpy as np
import pytest

DISAGREE = {
    "Cohen's d, Thinking over Base, divisor n - 1", "Cohen's d, Thinking over Base, divisor n",
    "models with agreement above 0.80",
}  # fmt: skip


def test_table_9_is_whole():
    table = illusion.table_9()
    assert table["tier"].value_counts().to_dict() == {"Base": 8, "Instruct": 13, "Thinking": 11}


@pytest.fixture(scope="module")
def of_the_table():
    return list(illusion.rows())


@pytest.fixture(scope="module")
def of_the_text():
    return list(illusion_in_text.rows())


def test_print_and_table(of_the_table):
    wanted = {what: what not in DISAGREE if printed else None for _, what, printed, _, _ in of_the_table}
    assert {what: same for _, what, _, _, same in of_the_table} == wanted


KNOWN = {
    "score and agreement, Spearman": "-0.513", "its p, by t": "0.0027", "the same, Pearson": "-0.327",
    "the same, Kendall": "-0.415", "pairs of models of two tiers in order": "83.9 %: 281 of 335 pairs",
    "of these, Instruct and Thinking": "99 of 143", "Cohen's d, Thinking over Base, divisor n - 1": "2.42",
    "Cohen's d, Thinking over Base, divisor n": "2.56", "Cohen's d, Thinking over Base, mean of variances": "2.57",
    "Spearman without Base": "-0.631", "Spearman without Llama-3.1-8B-Base": "-0.665",
    "Spearman within Base": "0.26", "Spearman within Instruct": "-0.58", "Spearman within Thinking": "-0.66",
}  # fmt: skip


def test_known_answers(of_the_table):
    assert {row[1]: row[3] for row in of_the_table if row[1] in KNOWN} == KNOWN


AGREE_IN_TEXT = {
    "mean rho of the three pairs", "rho less r, as printed", "mean r of the three pairs", "p of F(2, 93) = 14.7",
    "mean ICC of the tiers, by their models", "r less ICC, as printed", "Base among ranks 20 to 32",
    "Table 4, top and bottom five as in Table 9", "Table 5, top and bottom five as in Table 9",
    "temperature of the widest gap", "baseline means of the cases that three whole scores can have",
    "scores of two cases in app. C and E",
}  # fmt: skip


def test_print_and_the_papers_own_numbers(of_the_text):
    wanted = {what: what in AGREE_IN_TEXT if printed else None for _, what, printed, _, _ in of_the_text}
    assert {what: same for _, what, _, _, same in of_the_text} == wanted


KNOWN_OF_THE_TEXT = {
    "rho less r, both at temperature 0": "0.21", "r less ICC, both of prompt means at temperature 0": "0.11",
    "p of the three tiers' agreement, analysis of variance": "0.40", "p of Base and Thinking, Welch": "0.31",
    "mean r of the five best models": "0.73", "others with less than the second of them": "3",
    "points per tenfold size, Qwen3 Base": "0.65", "points per tenfold size, Qwen3 Thinking": "0.51",
    "best less worst model, Thinking": "4.1", "pair that agrees most at temperature 0": "Gemini/GPT",
}  # fmt: skip


def test_known_answers_of_the_text(of_the_text):
    assert {row[1]: row[3] for row in of_the_text if row[1] in KNOWN_OF_THE_TEXT} == KNOWN_OF_THE_TEXT


@pytest.mark.parametrize("module", [illusion, illusion_in_text, merg], ids=lambda module: module.__name__)
def test_no_verdict_is_written_down(module):
    """Whether a claim holds is computed from the numbers beside it."""
    rows = [node.value.elts for node in ast.walk(ast.parse(inspect.getsource(module)))
            if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple)]  # fmt: skip
    assert len(rows) > 5
    assert not [row for row in rows if isinstance(row[-1], ast.Constant) and row[-1].value is not None]


TABLE_9, TABLE_7 = illusion.table_9(), merg.language_table()
TIERS_IN_BAND = {tier: np.linspace(3.1, 5.4, 8) * k for k, tier in enumerate(illusion.TIERS, 1)}


def delta_k(pair, temperature, base):
    """Table 3 with another agreement by the checklist in one row."""
    table = merg.delta_k_table()
    table.loc[(table["pair"] == pair) & (table["temperature"] == temperature), "base_r"] = base
    return lambda: table


@pytest.mark.parametrize(
    ("where", "name", "value", "what"),
    [
        (illusion, "table_9", lambda: TABLE_9.assign(agreement=np.linspace(0.5, 0.8, 32)),
         "models with agreement above 0.80"),
        (illusion_in_text, "F_OF_PAIRS", 2.0, "p of F(2, 93) = 14.7"),
        (illusion_in_text, "OVER_TEMPERATURES", {"Base": 0.76, "Thinking": 0.74},
         "Base less Thinking: does it widen at temperature 0?"),
        (illusion_in_text, "delta_k_table", delta_k("Mean", 0, 0.6),
         "is baseline agreement lower at temperature 0 than at 0.3?"),
        (illusion_in_text, "FLAT", 0.2, "baseline agreement at temperatures 0, 0.3, 1"),
        (illusion_in_text, "delta_k_table", delta_k("Claude/GPT", 0, 0.9), "pair that agrees most at temperature 0"),
        (illusion_in_text, "by_tier", lambda column: TIERS_IN_BAND, "mean scores, Base"),
        (illusion_in_text, "THE_OTHERS", (8.5, 8.0), "Gemini above the others (app. C)"),
        (illusion_in_text, "BASELINE_MEANS", (9.2, 4.7, 5.0, 8.0, 7.7, 8.7, 7.3),
         "baseline means of the cases that three whole scores can have"),
        (illusion_in_text, "CASES", (("63", "patent", (6.43, 10.0, 5.8), 6.8), *merg.CASES[1:]),
         "where 3.2 lies on 1-10, and on 1-5"),
        (illusion_in_text, "IN_APPENDIX_C", (6.4, 6.6), "scores of two cases in app. C and E"),
        (merg, "BELOW_ZERO", (12, 12), "10 of 10 below 0, sign test, two-sided"),
        (merg, "BELOW_ZERO", (5, 10), "10 of 10 below 0, sign test, one-sided"),
        (merg, "OWN_RUBRICS", (0.1, 0.254), "DeepSeek-R1, own rubrics: p of r = 0.1 at n = 100"),
        (merg, "language_table", lambda: TABLE_7.assign(merg_r=TABLE_7["base_r"]),
         "model x language x knowledge, Fisher z, n = 50"),
    ],
)  # fmt: skip
def test_a_verdict_turns_with_what_it_rests_on(monkeypatch, where, name, value, what):
    def verdict():
        row = next(row for row in where.rows() if row[1].split("r = 0")[0] == what.split("r = 0")[0])
        return row[4]

    before = verdict()
    monkeypatch.setattr(where, name, value)
    assert isinstance(before, bool)
    assert verdict() is (not before)


def test_the_page_shows_what_is_computed(of_the_table):
    page = (illusion.TABLE_9.parents[2] / "docs" / "illusion.md").read_text(encoding="utf-8")
    assert illusion.markdown(of_the_table) in page
    assert illusion_in_text.markdown() in page
