"""What paper 002 prints on knowledge and rubrics, and what its tables say; where they disagree, we say so."""

from __future__ import annotations

import merg
import pytest

DISAGREE = {
    "10 of 10 below 0, sign test, two-sided",
    "sixth domain, if six average to the mean of Table 3",
    "mean over both models, as in Table 3, t=0",
    "DeepSeek-R1, Shared Stages, step on the same pairs",
    "DeepSeek-R1, Universal ($t=0.0$), step on the same pairs",
    "Qwen3-235B, Shared Stages, step on the same pairs",
    "Qwen3-235B, Universal ($t=0.0$), step on the same pairs",
    "DeepSeek-R1, own rubrics: p of r = 0.224 at n = 100",
    "Qwen3-235B, own rubrics: p of r = 0.254 at n = 100",
    "DeepSeek-R1: is the universal rubric below the shared one?",
    "DeepSeek-R1, MERG as a variant of Table 6",
    "Qwen3-235B, MERG as a variant of Table 6",
    "overall is the plain mean of five half-point scores",
    "baseline scores of the pitch",
}


@pytest.fixture(scope="module")
def rows():
    return list(merg.rows())


def test_print_and_tables(rows):
    wanted = {what: what not in DISAGREE if printed else None for _, what, printed, _, _ in rows}
    assert {what: same for _, what, _, _, same in rows} == wanted


KNOWN = {
    "DeepSeek-R1, Shared Stages, step on the same pairs": "+0.018",
    "Qwen3-235B, Shared Stages, step on the same pairs": "-0.031",
    "DeepSeek-R1, Universal ($t=0.0$), step on the same pairs": "-0.186",
    "Qwen3-235B, Universal ($t=0.0$), step on the same pairs": "-0.341",
    "structural share, of agreement with given names": "61.5 %",
    "DeepSeek-R1, of agreement with given names": "58.7 %",
    "Qwen3-235B, of agreement with given names": "63.7 %",
    "model x language x knowledge, Fisher z, n = 50": "z = 2.25, p = 0.024",
    "sixth domain, if six average to the mean of Table 3": "-1.38",
    "SE of a difference of two Fisher z, 16 prompts": "0.39",
    "larger share of agreement lost, of the two models": "33.7 %",
    "largest share of agreement lost in a row of Table 3": "40.6 %",
    "rows of Table 3 with |delta-K| > 0.15": "7 of 9",
    "mean spread: half the sum of the three mean differences": "2.88",
    "DeepSeek-R1, delta-K with a shared rubric": "-0.037",
    "Qwen3-235B, delta-K with a shared rubric": "-0.018",
}


def test_known_answers(rows):
    assert {row[1]: row[3] for row in rows if row[1] in KNOWN} == KNOWN


def test_the_page_shows_what_is_computed():
    page = (merg.PUBLISHED.parents[1] / "docs" / "rubrics.md").read_text(encoding="utf-8")
    assert merg.markdown() in page


def test_table_6_of_the_paper_on_the_same_pairs() -> None:
    r1 = {"own": [0.155, 0.237, 0.281], "names": [0.526, 0.514, 0.588], "shared": [None, None, 0.606],
          "universal": [0.678, 0.668, 0.420]}  # fmt: skip
    q = {"own": [0.308, 0.267, 0.189], "names": [0.745, 0.682, 0.680], "shared": [None, None, 0.649],
         "universal": [0.747, 0.719, 0.308]}  # fmt: skip
    steps = merg.same_pair_steps(r1)
    assert steps == pytest.approx({"names": 0.318333, "shared": 0.018, "universal": -0.186}, abs=1e-6)
    steps = merg.same_pair_steps(q)
    assert steps == pytest.approx({"names": 0.447667, "shared": -0.031, "universal": -0.341}, abs=1e-6)
