"""`recuse choose FILE`: the best of several judges, its chance to be that, and what it costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.check.choose_command import choose_judge
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.readers.file_panel import FilePanel, panel_of, read

FILE = Path(__file__).parent / "three_judges.csv"
WORDS = np.array(["fail", "pass"], dtype=object)


def panel(answers: dict[str, np.ndarray], scale: object, use: str = "", **more: object) -> FilePanel:
    frames = [
        pd.DataFrame({"rater": who, "kind": "person" if who[0] == "p" else "judge", "item": np.arange(len(said)),
                      "score" if isinstance(scale, Numeric) else "response": said} | more)
        for who, said in answers.items()
    ]  # fmt: skip
    return panel_of(Ratings.of(pd.concat(frames, ignore_index=True), scales=scale), use)


def test_errors_by_hand():
    """Of 20 texts j0 differs on 4, and from one of two people on 2 more: (4 + 2 / 2) / 20; j1 leaves 10 unanswered."""
    truth = np.tile(["pass", "fail"], 10)
    j0, other, silent = truth.copy(), truth.copy(), truth.astype(object)
    j0[:4] = np.where(j0[:4] == "pass", "fail", "pass")
    other[18:] = np.where(other[18:] == "pass", "fail", "pass")
    silent[:10] = None
    choice = choose_judge(panel({"j0": j0, "j1": silent, "p0": truth, "p1": other}, Ordinal(("fail", "pass"))))
    assert choice.judges == ("j0", "j1")
    assert choice.errors == pytest.approx([0.25, 0.55])
    assert choice.behind[1, 0] == pytest.approx(0.3)


def test_scores_by_use():
    """j0 is one point off everywhere, j1 two off up and down by turns: closer text by text, and further in the mean."""
    people = np.tile([3.0, 5.0], 20)
    answers = {"j0": people + 1, "j1": people + np.repeat([2.0, -2.0], 20), "p0": people}
    grade, estimate = (choose_judge(panel(answers, Numeric(0, 10), use)) for use in ("grade", "estimate"))
    assert (grade.judges[0], grade.errors.tolist()) == ("j0", pytest.approx([0.1, 0.2]))
    assert (estimate.judges[0], estimate.errors.tolist()) == ("j1", pytest.approx([0.0, 0.1]))


def test_a_ranking_counts_pairs_of_systems():
    system = np.tile(["a", "b", "c"], 20)
    level = np.tile([1.0, 2.0, 3.0], 20)
    turned = np.tile([1.0, 3.0, 2.0], 20)
    choice = choose_judge(panel({"j0": turned, "j1": level, "p0": level}, Numeric(0, 10), "rank", target=system))
    assert (choice.judges[0], choice.errors.tolist()) == ("j1", pytest.approx([0.0, 1 / 3]))


def test_pairs_and_costs_in_words(recuse, tmp_path):
    rng = np.random.default_rng(2)
    better = rng.choice(["first", "second"], 80)
    frame = pd.DataFrame({"item": np.arange(80), "first": "x", "second": "y", "anna": better})
    for name, error, cost in (("gpt_large", 0.05, 0.02), ("gpt_small", 0.06, 0.001)):
        wrong = rng.random(80) < error
        frame[name] = np.where(wrong, np.where(better == "first", "second", "first"), better)
        frame[f"{name}_cost"] = cost
    frame.to_csv(tmp_path / "pairs.csv", index=False)
    found = recuse("choose", tmp_path / "pairs.csv", "--people", "anna", "--judges", "gpt_large,gpt_small")
    assert (found.code, found.err) == (0, "")
    assert "of 2 judges to choose: its chance to be the best is" in found.first
    assert "0.001" in found.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--judges", "judge_large", "--people", "anna,ben", "--ignore", "judge_small,judge_old"), "takes two judges"),
        (("--use", "rank"), "texts of three systems"),
        (("--budget", "3"), "from 20 on; got 3"),
        (("--use", "none"), "say what the judge is for"),
    ],
)
def test_what_cannot_be_chosen_is_said(recuse, arguments, words):
    found = recuse("choose", FILE, *arguments)
    assert found.code == 3
    assert words in found.err


def test_repeated_runs_say_the_same():
    one, two = (choose_judge(panel_of(read(FILE))) for _ in range(2))
    assert one.chances.tolist() == two.chances.tolist()


def test_the_chance_to_be_best_is_as_large_as_it_says():
    """Two judges whose errors are drawn alike, 80 texts: of recommendations at 90 % or more nine in ten are right, and
    all together as many as their mean chance."""
    rng = np.random.default_rng(5)
    chances, right = [], []
    for _ in range(150):
        errors = rng.uniform(0.05, 0.35, 2)
        truth = rng.random(80) < 0.6
        wrong = rng.random((2, 80)) < errors[:, None]
        said = {f"j{k}": WORDS[(truth ^ wrong[k]).astype(int)] for k in range(2)}
        choice = choose_judge(panel({**said, "p": WORDS[truth.astype(int)]}, Ordinal(("fail", "pass"))))
        chances.append(choice.chances[0])
        right.append(choice.judges[0] == f"j{int(errors.argmin())}")
    sure = np.array(chances) >= 0.9
    assert np.mean(np.array(right)[sure]) >= 0.9
    assert np.mean(right) == pytest.approx(np.mean(chances), abs=0.08)
