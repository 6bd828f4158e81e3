"""`recuse check FILE --to-people PEOPLE.csv`: confidence is read, and what a judge may not decide alone is listed."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.metrics.delegation import brier_score, delegable_share, safe_from
from recuse.ratings import Ordinal, Ratings
from recuse.ratings.answers import COMPARED, answers_of
from recuse.readers.file_panel import read

FILE = Path(__file__).parent / "three_judges.csv"


def test_confidence_is_read_from_wide_and_long_tables():
    wide = read(FILE)
    assert wide.table.loc[wide.table["rater"] == "judge_large", "confidence"].iloc[:2].tolist() == [0.95, 0.99]
    assert wide.table.loc[wide.table["kind"] == "person", "confidence"].isna().all()
    each = (("gpt", "pass", "85 %"), ("anna", "pass", ""))
    rows = [(k, *one) for k in range(30) for one in each]
    rows += [(30, "gpt", "fail", "60 %"), (30, "anna", "fail", "")]
    long = read(pd.DataFrame(rows, columns=["item", "rater", "verdict", "confidence"]), people="anna", judges="gpt")
    assert set(long.table.loc[long.table["kind"] == "judge", "confidence"]) == {0.85, 0.6}


def test_a_column_called_after_the_beginning_of_a_judges_name_is_that_judges(tmp_path):
    """gpt_confidence beside gpt_urteil; where two judges begin so, nobody knows whose it is."""
    frame = pd.DataFrame({"item": range(40), "gpt urteil": ["ja", "nein"] * 20, "gpt confidence": ["90 %"] * 40,
                          "anna": ["ja", "nein"] * 20})  # fmt: skip
    given = {"people": "anna", "judges": "gpt urteil"}
    assert read(frame, **given).table["confidence"].dropna().eq(0.9).all()
    two = frame.assign(**{"gpt zwei": frame["gpt urteil"]})
    assert "confidence" not in read(two, people="anna", judges="gpt urteil,gpt zwei").table


@pytest.mark.parametrize(("name", "sure"), [
    ("rating_{}", "confidence_gpt4"), ("{}_score", "gpt4_confidence"), ("Score ({})", "gpt4_conf"),
])  # fmt: skip
def test_a_column_called_after_a_judge_alone_is_that_judges(name, sure):
    """confidence_gpt4 beside rating_gpt4, in whatever words both are called."""
    columns = {name.format(who): [k % 5 + 1 for k in range(40)] for who in ("anna", "gpt4", "claude")}
    table = read(pd.DataFrame({"item": range(40), **columns, sure: [0.9, 0.8] * 20})).table
    known = table[table["confidence"].notna()]
    assert [name for name in known["rater"].unique() if "gpt4" not in name] == []
    assert known["confidence"].tolist() == [0.9, 0.8] * 20


def test_the_list_holds_what_is_not_sure_and_nobody_rated(recuse, tmp_path):
    found = recuse("check", FILE, "--to-people", tmp_path / "people.csv")
    assert "judge_large may decide alone from 0.72 on" in found.out
    head, *rows = csv.reader((tmp_path / "people.csv").open(encoding="utf-8-sig"))
    assert head == ["judge", "criterion", "item", "system", "confidence", "why"]
    sent = {row[2]: float(row[4]) for row in rows if row[0] == "judge_large"}
    frame = pd.read_csv(FILE, dtype={"ticket_id": str})
    wanted = frame[frame["anna"].isna() & (frame["judge_large_confidence"] < 0.72)]
    assert sent == dict(zip(wanted["ticket_id"], wanted["judge_large_confidence"], strict=True))
    assert list(sent.values()) == sorted(sent.values())


def test_labels_in_chosen_order_bound_nothing(recuse, tmp_path):
    found = recuse("check", FILE, FILE.with_name("three_judges_next.csv"), "--to-people", tmp_path / "people.csv")
    assert (found.code, "labels in random order" in found.err) == (3, True)


def rated(sure: np.ndarray, right: np.ndarray, labelled: int) -> Ratings:
    texts = np.arange(len(sure))
    judge = pd.DataFrame({"rater": "j", "kind": "judge", "item": texts, "response": "pass", "confidence": sure})
    said = np.where(right, "pass", "fail")[:labelled]
    person = pd.DataFrame({"rater": "p", "kind": "person", "item": texts[:labelled], "response": said})
    return Ratings.of(pd.concat([judge, person], ignore_index=True), scales=Ordinal(("fail", "pass")))


def test_brier_and_calibration_by_hand():
    """Ten at .9 of which 8 are right, ten at .6 of which 6 are: Brier (8 .01 + 2 .81 + 6 .16 + 4 .36) / 20, ECE
    .1 / 2."""
    sure, right = np.repeat([90, 60], 10), np.tile([1, 1, 1, 1, 1, 1, 0, 0, 0, 0], 2)
    right[6:8] = 1
    found = brier_score(rated(sure, right, 20)).of(judge="j")
    assert found.value == pytest.approx(0.205)
    assert (found.detail["ece"], found.detail["says"], found.detail["right"]) == pytest.approx((0.05, 0.75, 0.7))
    expected = np.sqrt(2 / np.pi) / 2 * (np.sqrt(0.09 / 10) + np.sqrt(0.24 / 10))
    assert found.detail["ece_of_chance"] == pytest.approx(expected)


def test_what_is_no_share_is_undefined_and_no_column_gives_nothing():
    scale_of_five = brier_score(rated(np.tile([1, 5], 10), np.ones(20), 20)).of(judge="j")
    assert scale_of_five.note == "undefined: confidence runs from 1 to 5, which is neither a share nor a percentage"
    plain = rated(np.ones(20), np.ones(20), 20)
    assert dict(brier_score(Ratings.of(plain.table.drop(columns="confidence"), scales=plain.scale))) == {}


def test_a_confidence_that_is_right_shows_the_calibration_error_of_chance():
    rng = np.random.default_rng(1)
    shown = []
    for _ in range(40):
        sure = rng.uniform(0.5, 1, 300)
        detail = brier_score(rated(sure, rng.random(300) < sure, 300)).of(judge="j").detail
        shown.append((detail["ece"], detail["ece_of_chance"]))
    ece, chance = np.mean(shown, axis=0)
    assert ece == pytest.approx(chance, rel=0.15)


@pytest.mark.slow("simulation")
def test_a_threshold_seldom_lets_more_errors_through_than_stated():
    """Errors 0.2 (1 - confidence); the true rate above a threshold t is 0.1 (1 - t): more than 5 % in at most one file
    of 20, and many files have a threshold."""
    rng = np.random.default_rng(3)
    wrong, some, runs = 0, 0, 150
    for _ in range(runs):
        sure = rng.random(1200)
        ratings = rated(sure, rng.random(1200) >= 0.2 * (1 - sure), 400)
        part = next(part for _, part in ratings.each(*COMPARED))
        threshold = safe_from(answers_of(part, ratings), 0, delegable_share(ratings).of(judge="j"))
        some += threshold < 1
        wrong += 0.1 * (1 - threshold) > 0.05
    assert some > 0.4 * runs
    assert wrong <= 0.05 * runs + 2.5 * (0.05 * 0.95 * runs) ** 0.5


@pytest.mark.parametrize("column", ["judge_large_confidence", "judge_large"])
def test_what_is_left_out_is_never_decided_alone(recuse, tmp_path, column):
    """Without a confidence, or without an answer however sure, a text goes to people."""
    frame = pd.read_csv(FILE, dtype={"ticket_id": str})
    some = frame.index[frame["anna"].isna()][::3]
    frame.assign(**{column: frame[column].mask(frame.index.isin(some))}).to_csv(tmp_path / "f.csv", index=False)
    recuse("check", tmp_path / "f.csv", "--to-people", tmp_path / "p.csv")
    rows = csv.DictReader((tmp_path / "p.csv").open(encoding="utf-8-sig", newline=""))
    assert {*frame.loc[some, "ticket_id"]} <= {row["item"] for row in rows if row["judge"] == "judge_large"}


@pytest.mark.parametrize("every", [50, 70, 100])
def test_fewer_labels_leave_less_to_the_judge(every):
    """The same share of errors, spread alike: the bound on it widens until nothing is left to the judge."""
    shares = []
    for labels in (1600, 800, 400, 200, 100, 50):
        place = np.arange(labels)
        ratings = rated(1 - place / labels, place % every != every // 2, labels)
        shares.append(delegable_share(ratings).of(judge="j").value)
    assert shares[0] == 1.0
    assert shares[-1] == 0.0
    assert shares == sorted(shares, reverse=True)


def test_of_several_criteria_each_is_named(recuse, tmp_path):
    rng = np.random.default_rng(3)
    rows = [(f"d{k}", criterion, who, int(rng.integers(1, 6)))
            for k in range(40) for criterion in ("tone", "facts") for who in ("anna", "ben", "gpt")
            if who == "gpt" or k < 30]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["document", "criterion", "rater", "score"])
    frame.to_csv(tmp_path / "f.csv", index=False)
    found = recuse("check", tmp_path / "f.csv", "--to-people", tmp_path / "p.csv")
    lines = found.out.splitlines()
    first = next(k for k, line in enumerate(lines) if "people have to look at" in line)
    assert [line.partition(" may decide")[0] for line in lines[first + 1 :]] == ["gpt, tone", "gpt, facts"]
    sent = pd.read_csv(tmp_path / "p.csv")
    assert {name: {*some["item"]} for name, some in sent.groupby("criterion")} == {
        name: {f"d{k}" for k in range(30, 40)} for name in ("tone", "facts")
    }


def test_errors_are_by_the_right_answers_where_these_are_known(recuse, tmp_path):
    """Both people are wrong on every third text, and one judge with them. What was rated needs nobody, nor does a text
    whose right answer is known."""
    frame = pd.DataFrame({"item": [f"t{k}" for k in range(200)], "right": ["pass", "fail"] * 100})
    wrong = frame["right"].map({"pass": "fail", "fail": "pass"})
    people = frame["right"].where(frame.index % 3 > 0, wrong)
    frame = frame.assign(anna=people, ben=people, gpt_a=frame["right"], gpt_b=people)
    frame.loc[150:, ["anna", "ben"]] = None
    frame.loc[170:, "right"] = None
    frame.to_csv(tmp_path / "f.csv", index=False)
    asked = ("--gold", "right", "--judges", "gpt_a,gpt_b", "--people", "anna,ben")
    found = recuse("check", tmp_path / "f.csv", *asked, "--to-people", tmp_path / "p.csv").out
    assert "gpt_a may decide alone from 0 on" in found
    assert "% errors by the right answers" in found
    assert "gpt_b may decide nothing alone at 5 % errors by the right answers: errors in the surest" in found
    sent = pd.read_csv(tmp_path / "p.csv")
    assert {*sent["judge"]} == {"gpt_b"}
    assert {*sent["item"]} == {f"t{k}" for k in range(170, 200)}
