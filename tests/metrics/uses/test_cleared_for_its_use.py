"""The words on judges held against one expert, or used to rank, through `recuse check`: the shipped uses and gates."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from recuse.cli import main

pytestmark = pytest.mark.usefixtures("no_drawn_judges")


@pytest.fixture
def words(tmp_path, capsys):
    """`words(frame)`: (judge, use) -> the word on it."""

    def check(frame, *arguments):
        path, saved = tmp_path / "a.csv", tmp_path / "a.json"
        frame.to_csv(path, index=False)
        main(["check", str(path), "--json", str(saved), *arguments])
        capsys.readouterr()
        judges = json.loads(saved.read_text(encoding="utf-8"))["decision"]["judges"]
        return {(one["judge"], one["use"]): one["word"] for one in judges}

    return check


def labelled_by_one(rng, n, **right):
    expert = np.where(rng.random(n) < 0.4, "fail", "pass")
    wrong = np.where(expert == "fail", "pass", "fail")
    said = {name: np.where(rng.random(n) < rate, expert, wrong) for name, rate in right.items()}
    return pd.DataFrame({"item": np.arange(n), **said, "anna": expert})


def test_one_experts_labels_clear_a_judge_that_decides(words):
    frame = labelled_by_one(np.random.default_rng(1), 120, gpt_good=0.97, gpt_poor=0.75)
    found = words(frame)
    assert found["gpt_good", "decide"] == "cleared"
    assert found["gpt_poor", "decide"] != "cleared"


def test_a_column_of_right_answers_clears_as_people_do(words):
    frame = labelled_by_one(np.random.default_rng(1), 120, gpt_good=0.97, gpt_poor=0.75)
    found = words(frame.rename(columns={"anna": "gold"}))
    assert found["gpt_good", "decide"] == "cleared"
    assert found["gpt_poor", "decide"] != "cleared"


def test_no_label_taken_away_improves_a_word(words):
    """L1: with every label of one side gone, no rate of that side is known."""
    frame = labelled_by_one(np.random.default_rng(1), 120, gpt_good=0.97)
    assert words(frame)["gpt_good", "decide"] == "cleared"
    kept = frame.assign(anna=frame["anna"].where(frame["anna"] == "pass", ""))
    assert words(kept, "--people", "anna")["gpt_good", "decide"] != "cleared"


def test_a_lenient_judge_is_cleared_to_rank_and_not_to_grade(words):
    """300 texts, one good judge and one that is 1.8 points too generous."""
    rng = np.random.default_rng(3)
    rows = []
    for item in range(75):
        quality = 4.0 + rng.normal() + np.arange(4) * 0.9 + rng.normal(size=4)
        for system, q in enumerate(quality):
            seen = [q + rng.normal() * 0.7 for _ in range(5)]
            good, lenient, *people = [float(np.clip(round(x), 0, 10)) for x in (seen[0], seen[1] + 1.8, *seen[2:])]
            rows.append((item, f"system {system}", good, lenient, *people))
    frame = pd.DataFrame(rows, columns=["item", "system", "gpt_good", "gpt_lenient", "anna", "ben", "carla"])
    found = words(frame)
    assert (found["gpt_good", "rank"], found["gpt_lenient", "rank"]) == ("cleared", "cleared")
    assert found["gpt_lenient", "grade"] == "not cleared"
