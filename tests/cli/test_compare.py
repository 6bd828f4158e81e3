"""`recuse compare`: two judges of a file, two files, exit codes, and what cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

ITEMS = 500


@pytest.fixture
def files(tmp_path):
    """`files(name, **columns)`: a CSV of tickets; columns are arrays of 0 and 1, NaN for an empty cell."""

    def write(name, **columns):
        words = {k: ["" if np.isnan(v) else "pass" if v else "fail" for v in column] for k, column in columns.items()}
        lines = [",".join(["ticket", "bot", *words])]
        lines += [",".join([f"t{k}", "AB"[k % 2], *(w[k] for w in words.values())]) for k in range(ITEMS)]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def rater():
    rng = np.random.default_rng(11)
    truth = (rng.random(ITEMS) < 0.6).astype(float)
    return lambda right: np.where(rng.random(ITEMS) < right, truth, 1 - truth)


def test_a_judge_that_is_worse_may_not_replace(recuse, files, rater):
    path = files("t.csv", anna=rater(0.95), judge_v1=rater(0.95), judge_v2=rater(0.7))
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert found.code == 1, found.err
    assert found.first.startswith("Do not replace judge_v1 by judge_v2: it ")
    assert "Same 500 texts, paired" in found.out


def test_a_byte_identical_judge_may_replace(recuse, files, rater):
    same = rater(0.95)
    path = files("t.csv", anna=rater(0.95), judge_v1=same, judge_v2=same)
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert (found.code, found.first) == (
        0, "judge_v2 may replace judge_v1: no difference larger than you allow, in 6 comparisons.",
    )  # fmt: skip


def test_one_that_leaves_texts_out_is_told_by_its_losses(recuse, files, rater):
    same = rater(0.95)
    gone = same.copy()
    gone[:100] = np.nan
    path = files("t.csv", anna=rater(0.95), judge_v1=same, judge_v2=gone)
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert found.code == 1
    assert "leaves more replies without a usable answer, by more than you allow" in found.first


def test_two_files_of_one_judge(recuse, files, rater):
    same = rater(0.95)
    old, new = files("old.csv", judge=same), files("new.csv", judge=same)
    found = recuse("compare", old, new)
    assert (found.code, found.first.split(":")[0]) == (0, "judge after may replace judge before")


def test_other_items_cannot_be_compared(recuse, files, rater, tmp_path):
    old = files("old.csv", judge=rater(0.9))
    new = tmp_path / "new.csv"
    new.write_text("\n".join(old.read_text(encoding="utf-8").splitlines()[:-7]) + "\n", encoding="utf-8")
    found = recuse("compare", old, new)
    assert found.code == 3
    assert "7 of 500 texts were asked of judge alone" in found.first


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["judge_v1"], "name two judges, the one in use and its candidate, or none; got judge_v1"),
        ([], "say which judge is in use and which would replace it: recuse compare t.csv judge_v1 judge_v2"),
        (["judge_v1", "judge_v9"], "t.csv has no judge judge_v9; it has judge_v1, judge_v2"),
        (["judge_v1", "judge_v1"], "an upgrade is between two judges; judge_v1 was named as both"),
    ],
)
def test_mistakes_are_told_in_a_line(recuse, files, rater, arguments, says):
    path = files("t.csv", judge_v1=rater(0.9), judge_v2=rater(0.9))
    found = recuse("compare", path, *arguments)
    assert found.code == 3
    assert says in found.err


def test_estimates_alone_cannot_be_compared(recuse, tmp_path):
    path = tmp_path / "results.json"
    path.write_text("{}", encoding="utf-8")
    assert "holds estimates, not the ratings text by text" in recuse("compare", path, "a", "b").err


def test_json_and_page_begin_with_the_same_sentence(recuse, files, rater, tmp_path):
    path = files("t.csv", anna=rater(0.95), judge_v1=rater(0.95), judge_v2=rater(0.7))
    page, results = tmp_path / "page.html", tmp_path / "results.json"
    found = recuse("compare", path, "judge_v1", "judge_v2", "--html", page, "--json", results)
    [upgrade] = json.loads(results.read_text(encoding="utf-8"))["upgrades"]
    assert (upgrade["sentence"], upgrade["verdict"]) == (found.first, "worse")
    assert found.first in page.read_text(encoding="utf-8")


def test_a_threshold_makes_decisions_of_scores(recuse, tmp_path):
    path = tmp_path / "s.csv"
    lines = ["ticket,judge_v1,judge_v2", *(f"t{k},{k % 10},{(k + 1) % 10}" for k in range(200))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "decisions flipped" not in recuse("compare", path, "judge_v1", "judge_v2", "--scale", "0-10").out
    told = recuse("compare", path, "judge_v1", "judge_v2", "--scale", "0-10", "--threshold", "7").out
    assert "decisions flipped" in told
    assert "--threshold takes numbers" in recuse("compare", path, "judge_v1", "judge_v2", "--threshold", "x").err


def test_a_panel_known_from_printed_statistics_is_not_compared(recuse):
    panel = Path(__file__).parents[2] / "fixtures" / "panels" / "thesis.toml"
    found = recuse("compare", panel, "deepseek-chat", "sonar-reasoning-pro")
    assert found.code != 0
    assert "not measured: the source gives no pairs" in found.err
