"""`recuse check FILE --disagreements` groups them by kind, and names a slice where one matters."""

from __future__ import annotations

import csv
from statistics import multimode

import numpy as np
import pandas as pd
import pytest

from recuse.check.disagreements import (
    _differing,
    count_disagreements,
    counts_in_words,
    disagreements,
    kinds_of_disagreement,
)
from recuse.ratings import Nominal, Ordinal, Ratings
from recuse.readers.file_panel import panel_of, read
from recuse.readers.filled_lists import read_review


def tickets(seed: int, on_refunds: float, elsewhere: float = 0.1) -> pd.DataFrame:
    """300 tickets in three topics; the judge passes a fail with these chances, and seldom errs the other way."""
    rng = np.random.default_rng(seed)
    topic = rng.choice(["refunds", "login", "billing"], 300)
    truth = rng.random(300) < 0.5
    lenient = rng.random(300) < np.where(topic == "refunds", on_refunds, elsewhere)
    said = np.where(truth, rng.random(300) > 0.03, lenient)
    words = np.array(["fail", "pass"])
    return pd.DataFrame({
        "item": [f"t{k}" for k in range(300)], "topic": topic, "gpt": words[said.astype(int)],
        "anna": words[truth.astype(int)],
    })  # fmt: skip


def lines(frame: pd.DataFrame) -> list[str]:
    return list(kinds_of_disagreement(panel_of(read(frame, people="anna", judges="gpt"))))


def test_the_planted_kind_comes_first_with_its_slice(recuse, tmp_path):
    frame = tickets(1, 0.6)
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("--people", "anna", "--judges", "gpt", "--disagreements", tmp_path / "d.csv")
    found = recuse("check", tmp_path / "t.csv", *asked)
    wrong = frame[frame["gpt"] != frame["anna"]]
    lenient = (wrong["gpt"] == "pass").sum()
    head = f"gpt disagrees on {len(wrong)} of 300 texts that people rated:\n"
    assert f"{head}  {lenient} pass where people say fail (such as " in found.out
    assert "; on topic refunds 0." in found.out
    head, *rows = csv.reader((tmp_path / "d.csv").open(encoding="utf-8-sig"))
    assert sum(row[head.index("kind")] == "pass where people say fail" for row in rows) == lenient


def test_scores_say_which_way():
    rng = np.random.default_rng(2)
    people = rng.integers(1, 6, 100)
    said = np.clip(people + rng.choice([-1, 0, 1], 100, p=[0.1, 0.6, 0.3]), 1, 5)
    frame = pd.DataFrame({"item": np.arange(100), "gpt": said, "anna": people})
    above, below = (said > people).sum(), (said < people).sum()
    assert lines(frame)[1].startswith(f"  {above} above people (such as ")
    assert lines(frame)[2].startswith(f"  {below} below people (such as ")


def test_where_right_answers_are_known_disagreements_are_with_these(recuse, tmp_path):
    """Both people are wrong on the first ten texts, one judge with them; the other judge is wrong on the last two."""
    frame = pd.DataFrame({"item": [f"t{k}" for k in range(40)], "right": ["pass", "fail"] * 20})
    wrong = frame["right"].map({"pass": "fail", "fail": "pass"})
    for name, texts in {"anna": range(10), "ben": range(10), "gpt_a": range(38, 40), "gpt_b": range(10)}.items():
        frame[name] = frame["right"].where(~frame.index.isin(texts), wrong)
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("--gold", "right", "--judges", "gpt_a,gpt_b", "--disagreements", tmp_path / "d.csv")
    found = recuse("check", tmp_path / "t.csv", *asked)
    assert "gpt_a disagrees on 2 of 40 texts with a right answer:\n  1 fail where the right answer is pass" in found.out
    assert "gpt_b disagrees on 10 of 40 texts with a right answer:\n" in found.out
    assert "people say" not in found.out
    rows = pd.read_csv(tmp_path / "d.csv", encoding="utf-8-sig").set_index("judge")
    assert {*rows.loc["gpt_b", "people"]} == {"fail, fail", "pass, pass"}
    assert (rows.loc["gpt_b", "answer"] != rows.loc["gpt_b", "right_answer"]).all()
    rows["your_verdict"] = rows["right_answer"]
    rows.loc["gpt_a", "your_verdict"] = ["right answer", "judge"]
    rows.reset_index().to_csv(tmp_path / "filled.csv", index=False)
    [a, b] = sorted(read_review(tmp_path / "filled.csv"))
    assert a.startswith(
        "gpt_a: you decided 2 of 2 disagreements; you side with the judge in 1, with the right answers in 1"
    )
    assert "you side with the judge in 0, with the right answers in 10," in b
    assert b in recuse("check", tmp_path / "filled.csv").out


def test_scores_lie_above_the_right_answer():
    frame = pd.DataFrame({"item": np.arange(60), "gold": [1, 2, 3, 4, 5, 3] * 10})
    frame = frame.assign(anna=frame["gold"] + 1, gpt=frame["gold"] + (frame.index < 4))
    found = disagreements(panel_of(read(frame, people="anna", judges="gpt", gold="gold")))
    assert found["kind"].tolist() == ["above the right answer"] * 4
    assert found["difference"].eq(1).all()


def kinds(people: dict[str, list[str]], judge: list[str], scales: object) -> dict[str, str]:
    """Item -> kind of the disagreements of one judge."""
    said = [*((who, "person", given) for who, given in people.items()), ("gpt", "judge", judge)]
    rows = [(who, kind, f"t{k}", option) for who, kind, given in said for k, option in enumerate(given)]
    ratings = Ratings.of(pd.DataFrame(rows, columns=["rater", "kind", "item", "response"]), scales=scales)
    places, asked, answers = _differing(ratings, ["item", "target", "criterion"])
    assert count_disagreements(ratings)[0] == len(places)
    given = asked.groupby("text_")["answer"].agg(lambda codes: sorted(answers[codes]))
    text = ratings.table["item"].iloc[places["place"]]
    each = zip(text, answers[places["answer"]], places["text_"], strict=True)
    return {item: f"{own} where people say {' or '.join(multimode(given[place]))}" for item, own, place in each}


@pytest.mark.parametrize("scales", [Nominal(("a", "b", "c")), Ordinal(("a", "b", "c"))])
def test_where_people_are_split_no_answer_of_theirs_is_a_disagreement(scales):
    """A tie was called the first of the alphabet, and an ordered answer held against the mean of three."""
    two = {"anna": list("aaab"), "ben": list("abbb")}
    assert kinds(two, list("bbac"), scales) == {"t0": "b where people say a", "t3": "c where people say b"}
    assert kinds(two, list("acca"), scales) == {
        "t1": "c where people say a or b", "t2": "c where people say a or b", "t3": "a where people say b",
    }  # fmt: skip
    assert kinds({"anna": ["a"], "ben": ["c"]}, ["b"], scales) == {"t0": "b where people say a or c"}
    three = {"anna": list("aa"), "ben": list("aa"), "cleo": list("cb")}
    assert kinds(three, list("ac"), scales) == {"t1": "c where people say a"}


def test_a_tie_of_some_is_no_disagreement_with_another_one_of_them():
    four = {"anna": ["a"], "ben": ["a"], "cleo": ["b"], "dora": ["b"], "eve": ["c"]}
    assert kinds(four, ["c"], Nominal(("a", "b", "c", "d"))) == {}
    assert kinds(four, ["d"], Nominal(("a", "b", "c", "d"))) == {"t0": "d where people say a or b"}


def test_both_answers_of_people_who_are_split_are_in_the_list(tmp_path):
    frame = pd.DataFrame({"item": [f"t{k}" for k in range(30)], "anna": ["bug", "fee", "ad"] * 10})
    frame = frame.assign(ben=frame["anna"], gpt=frame["anna"])
    frame.loc[0, ["ben", "gpt"]] = ["fee", "ad"]
    found = disagreements(panel_of(read(frame, people=["anna", "ben"], judges="gpt")))
    assert found["kind"].tolist() == ["ad where people say bug or fee"]
    assert found["people"].tolist() == ["bug, fee"]


@pytest.mark.parametrize(("yours", "judge", "people", "side"), [
    ("judge", "pass", "fail, fail", "judge"), ("People", "pass", "fail, fail", "people"),
    ("x", "pass", "fail", "neither"),
    ("Yes, fully", "No", "Yes, fully, Yes", "people"), ("Yes", "No", "Yes, fully", "neither"),
    ("Yes, fully", "Yes, fully", "No", "judge"), ("fully", "Yes", "Yes, fully", "neither"),
    ("3.0", "3", "4, 5", "judge"), ("4.0", "3", "4, 5", "people"), ("4", "3.5", "4.0", "people"),
    ("1.10", "1.1", "1.10, 1.10", "people"), ("5", "2", "1,5", "neither"), ("1,5", "2", "1,5, 2,5", "people"),
    ("", "pass", "fail", ""), ("people", "judge", "people, judge", "people"),
])  # fmt: skip
def test_whose_answer_a_verdict_is(yours, judge, people, side, tmp_path):
    rows = [["judge", "item", "people", "answer", "your_verdict"], ["gpt", "1", people, judge, yours]]
    rows.append(["gpt", "2", "No", "Yes, fully", ""])
    with (tmp_path / "review.csv").open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows(rows)
    [sentence] = read_review(tmp_path / "review.csv")
    sides = {"judge": "with the judge in 1", "people": "with people in 1", "neither": "with neither in 1"}
    assert [name for name, words in sides.items() if words in sentence] == ([side] if side else [])
    assert side or sentence == "gpt: none of 2 disagreements has a your_verdict yet."


def test_a_slice_is_named_by_fishers_test_over_all_slices_and_kinds():
    """Five of 20 refunds and none of 20 logins: C(20, 5) / C(40, 5) = .0236; for two slices .047, of two kinds .094."""
    frame = pd.DataFrame({"item": [f"t{k}" for k in range(40)], "topic": ["refunds"] * 20 + ["login"] * 20})
    frame = frame.assign(gpt=["pass"] * 5 + ["fail"] * 35, anna="fail")
    five = "  5 pass where people say fail (such as t0, t1, t2)"
    assert lines(frame)[1:] == [f"{five}; on topic refunds 0.25 of the texts, elsewhere 0.00"]
    frame.loc[39, "anna"] = "pass"
    assert lines(frame)[1:] == [five, "  1 fail where people say pass (such as t39)"]


@pytest.mark.slow("simulation")
def test_a_slice_that_does_not_matter_is_seldom_named():
    named = sum("; on topic" in line for seed in range(100) for line in lines(tickets(seed, 0.3, 0.3)))
    assert named <= 5 + 2.5 * (100 * 0.05 * 0.95) ** 0.5


@pytest.mark.parametrize("theirs", ["", "march"])
def test_people_of_no_version_are_held_against_every_version(theirs):
    """Their cell is empty, or names one of two: as many disagreements of each version, each of its kind."""
    rows = [
        {"id": f"t{k}", "rater": rater, "version": version, "rating": "pass" if right != (k in wrong) else "fail"}
        for rater, version, wrong in (
            ("gpt", "march", {1, 2}), ("gpt", "april", {3}), ("anna", theirs, ()), ("ben", theirs, ())
        )
        for k, right in enumerate([True, False] * 20)
    ]  # fmt: skip
    panel = panel_of(read(pd.DataFrame(rows), factors="version"))
    kinds = {line.split(" disagrees")[0]: line for line in kinds_of_disagreement(panel) if "disagrees" in line}
    assert len(disagreements(panel)) == count_disagreements(panel.ratings)[0] == (2 if theirs else 3)
    assert "on 2 of 40" in kinds["gpt, march"]
    assert theirs or "on 1 of 40" in kinds["gpt, april"]


def test_rare_and_large_errors_are_counted_beside_the_small_ones():
    """Of 200 texts 60 a point off, and 4 by half of the scale or more; how often it is right says nothing of these."""
    people = np.arange(200) % 5 + 3.0
    judge = people + np.where(np.arange(200) % 10 < 3, 1.0, 0.0)
    judge[[7, 27, 47, 67]] = [0.0, 10.0, 0.0, 10.0]  # where people say 5: just half the scale
    table = pd.DataFrame({"item": np.arange(200), "ann": people, "bea": people, "judge": judge})
    ratings = read(table, people=["ann", "bea"], judges=["judge"], scale="0-10")
    assert counts_in_words(ratings) == "64 disagreements with people, 4 of them by half the scale or more"
    table["judge"] = np.where(abs(judge - people) > 1, people, judge)
    assert counts_in_words(read(table, people=["ann", "bea"], judges=["judge"], scale="0-10")) == (
        "60 disagreements with people"
    )
    table["judge"] = people
    assert counts_in_words(read(table, people=["ann", "bea"], judges=["judge"], scale="0-10")) == ""
