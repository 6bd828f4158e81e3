"""`recuse check FILE --disagreements` groups them by kind, and names a slice where one matters."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

from recuse.check.disagreements import kinds_of_disagreement
from recuse.readers.file_panel import panel_of, read


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
    return list(kinds_of_disagreement(panel_of(read(frame, people="anna", judges="gpt")).read))


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
