"""Verdicts in the form of the PRD data are read as ratings and answer the position and self-preference questions.

Three questions, authors x, y and z, who judge each other in both orders, and two people. Counted by hand below.
"""

from __future__ import annotations

from pathlib import Path

import examine_prd
import pytest

from recuse.metrics import presentation
from recuse.papers.self_preference import choice_changes, pairwise_bias

QUESTIONS = (1, 2, 3)
FIRST, SECOND, TIE = 1, 2, 3


def lines(reviewer: str, first: str, second: str, scores: tuple[int, ...], rep: int = 1, file: str = "f") -> list[str]:
    return [f"{reviewer},{first},{second},{q},{rep},{score},{file}" for q, score in zip(QUESTIONS, scores, strict=True)]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """x sees itself win every comparison with y, wherever it stands; y picks what stands first; z ties throughout."""
    rows = [
        *lines("x", "x", "y", (FIRST, FIRST, FIRST)), *lines("x", "y", "x", (SECOND, SECOND, SECOND)),
        *lines("y", "x", "y", (FIRST, FIRST, FIRST)), *lines("y", "y", "x", (FIRST, FIRST, FIRST)),
        *lines("z", "x", "y", (TIE, TIE, TIE)), *lines("z", "y", "x", (TIE, TIE, TIE)),
        *lines("human", "y", "x", (FIRST, SECOND, FIRST), rep=1), *lines("human", "y", "x", (FIRST, FIRST, TIE), rep=2),
        *lines("x", "x", "y", (SECOND, SECOND, SECOND), file="answer-gpt4-again"),
    ]  # fmt: skip
    path = tmp_path / "prd.csv"
    path.write_text("reviewer,first,second,question,rep,score,file\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_one_row_per_verdict_people_by_number_and_no_file_twice(table: Path) -> None:
    ratings = examine_prd.read(table)
    assert len(ratings.table) == 3 * 2 * 3 + 2 * 3
    assert (ratings.judges, ratings.persons) == (("x", "y", "z"), ("human:1", "human:2"))
    assert ratings.texts[["item", "a", "b"]].to_numpy().tolist() == [[str(q), "x", "y"] for q in QUESTIONS]
    assert ratings.own() == {"x": "x", "y": "y"}


def test_position_is_read_from_both_orders(table: Path) -> None:
    ratings = examine_prd.read(table)
    consistent = presentation.order_consistency(ratings)
    assert consistent.of(judge="x").value == 1.0
    assert consistent.of(judge="y").value == 0.0
    assert not consistent.of(judge="z").defined  # ties alone have no winner to turn
    assert pairwise_bias.first_pick_share(ratings).of(judge="x").value == 0.5
    assert pairwise_bias.first_pick_share(ratings).of(judge="y").value == 1.0


def test_own_wins_by_self_peers_and_people(table: Path) -> None:
    """x by itself 1; by y 1/2 (first either way) and z 1/2; by people, who saw y first: per question the mean of both
    people is 0, (1 + 0) / 2 and (0 + 1/2) / 2, on average 1/4."""
    ratings = examine_prd.read(table)
    rates = pairwise_bias.own_win_rate(ratings)
    found = {view: rates.of(judge="x", seen_by=view).value for view in ("self", "peers", "neutral_peers", "people")}
    assert found == pytest.approx({"self": 1.0, "peers": 0.5, "neutral_peers": 0.5, "people": 0.25})
    assert rates.of(judge="y", seen_by="people").value == pytest.approx(0.75)


def test_it_prints_what_it_found(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["examine_prd", str(table)])
    examine_prd.main()
    told = capsys.readouterr().out
    assert "24 verdicts, 3 pairs" in told
    for metric in ("order_consistency", "first_pick_share", "own_win_rate", "own_win_excess", "verdict_agreement"):
        assert metric in told


def test_agreement_with_people(table: Path) -> None:
    """People on average: y wins the first and the third question, the second is a tie. x always has x: wrong twice,
    half right once. y turns with the order: a tie, half right twice and right once."""
    found = choice_changes.verdict_agreement(examine_prd.read(table))
    balanced = {judge: found.of(judge=judge, scoring="balanced") for judge in "xy"}
    assert {judge: e.value for judge, e in balanced.items()} == pytest.approx({"x": 1 / 6, "y": 2 / 3})
    assert balanced["x"].detail["pairs_by_people"] == 3
