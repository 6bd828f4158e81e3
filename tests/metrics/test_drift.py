"""Drift: hand arithmetic, a judge that wavers but has not changed, and what cannot be compared."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from recuse.metrics.upgrade.scores import drift
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.ratings.needs import offers_of

PASS_FAIL = Ordinal(("fail", "pass"))


def said(column: str = "response", **versions: list) -> Ratings:
    """`versions`: name -> one list of answers, or several for repeats."""
    rows = [
        {"judge": "j", "item": f"t{k}", "version": version, "repeat": r, column: answer}
        for version, answers in versions.items()
        for r, repeat in enumerate(answers if isinstance(answers[0], list) else [answers])
        for k, answer in enumerate(repeat)
    ]
    scale = PASS_FAIL if column == "response" else Numeric(1, 5)
    return Ratings.of(pd.DataFrame(rows), scales=scale, factors=["version"])


def words(text: str) -> list[str]:
    return [{"p": "pass", "f": "fail"}[c] for c in text]


def test_share_of_changed_answers_and_which_way():
    """Of ten answers two changed, both from fail to pass: 0.2, and +0.2 of the mean."""
    found = drift(said(old=words("ppppffffff"), new=words("ppppppffff"))).of(judge="j")
    assert found.value == pytest.approx(0.2)
    assert found.detail["mean_change"] == pytest.approx(0.2)
    assert found.detail["versions"] == ["old", "new"]
    assert found.low == pytest.approx(0.0252, abs=1e-4)  # Clopper-Pearson for 2 of 10


def test_changes_that_cancel_are_changes_all_the_same():
    found = drift(said(old=words("pf" * 10), new=words("fp" * 10))).of(judge="j")
    assert (found.value, found.detail["mean_change"]) == (1.0, 0.0)


def test_numbers_move_by_a_share_of_the_range():
    """From 2 to 3 on 1 to 5 is a quarter of the range; half of the texts did."""
    found = drift(said("score", old=[2.0] * 10, new=[3.0, 2.0] * 5)).of(judge="j")
    assert found.value == pytest.approx(0.125)


def test_a_scale_without_ends_ranges_as_far_as_both_versions_answers():
    """Ten apart at most, five on every text; the newer version alone ranges over nothing."""
    rows = said("score", old=[0.0, 10.0] * 5, new=[5.0] * 10)
    table = rows.table.drop(columns="rater").assign(judge="j")
    endless = Ratings.of(table, scales=Numeric(-math.inf, math.inf), factors=["version"])
    assert drift(endless).of(judge="j").value == pytest.approx(0.5)


def test_of_three_versions_the_first_is_compared_with_the_last():
    found = drift(said(a=words("pppp"), b=words("ffff"), c=words("pppf"))).of(judge="j")
    assert found.value == pytest.approx(0.25)
    assert found.detail["versions"] == ["a", "c"]


def test_a_judge_that_wavers_as_before_has_not_drifted():
    """It passes every text seven times in ten, in both versions: two answers differ in 42 % of all pairs."""
    rng = np.random.default_rng(3)

    def asked() -> list[list[str]]:
        return [["pass" if rng.random() < 0.7 else "fail" for _ in range(300)] for _ in range(4)]

    found = [drift(said(old=asked(), new=asked())).of(judge="j") for _ in range(10)]
    assert np.mean([f.detail["own_noise"] for f in found]) == pytest.approx(0.42, abs=0.01)
    assert np.mean([f.value for f in found]) == pytest.approx(0.0, abs=0.01)
    assert sum(f.low > 0 for f in found) <= 2


def test_versions_that_share_no_text_cannot_be_compared():
    ratings = said(old=words("pf"), new=words("pf"))
    table = ratings.table.assign(item=ratings.table["item"] + ratings.table["version"])
    found = drift(Ratings.of(table, scales=PASS_FAIL, factors=["version"])).of(judge="j")
    assert math.isnan(found.value)
    assert "no text was answered by both versions" in found.note


@pytest.mark.parametrize("theirs", ["", "by hand", "old"])
def test_people_are_of_no_version(theirs):
    """Their own level of `version` comes last in the table and is no version of the judge."""
    judged = said(old=words("ppppffffff"), new=words("ppppppffff"))
    people = judged.table[judged.table["version"] == "old"].assign(rater="anna", kind="person", version=theirs)
    beside = Ratings.of(pd.concat([judged.table, people], ignore_index=True), scales=PASS_FAIL, factors=["version"])
    assert drift(beside).of(judge="j").value == pytest.approx(0.2)


def test_a_judge_of_one_version_beside_people_of_another_has_not_drifted():
    judged = said(old=words("ppppffffff"))
    people = judged.table.assign(rater="anna", kind="person", version="")
    beside = Ratings.of(pd.concat([judged.table, people], ignore_index=True), scales=PASS_FAIL, factors=["version"])
    assert not dict(drift(beside).items())
    assert "versions" not in offers_of(beside)
