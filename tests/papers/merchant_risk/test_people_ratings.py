"""People's own ratings: the shipped simulation carries the printed means, reliability agrees with analysis of variance,
and scales of two lengths are matched by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fixtures.makers import simulate_merchant_people
from recuse.papers.merchant_risk.people_ratings import (
    blinded_groups,
    blinded_pairs,
    people_reliability,
    scale_matched_offset,
)
from recuse.ratings import Numeric, Ratings
from recuse.references import blinded_people
from recuse.schema import RecuseError
from recuse.tasks import Task, load_task

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
TASK = load_task(FIXTURES / "tasks" / "merchant_risk")


def shipped() -> Ratings:
    people = blinded_people(TASK)
    assert people is not None
    return replace(people, beside={"blinded_people": people}.get)


def test_the_shipped_ratings_are_those_that_the_maker_draws_and_say_that_they_are_drawn():
    file = FIXTURES / "tasks" / "merchant_risk" / "people_simulated.csv"
    assert file.read_text("utf-8") == simulate_merchant_people.build()
    for found in (people_reliability(shipped()), blinded_pairs(shipped()), blinded_groups(shipped())):
        assert {e.detail["simulated"] for e in found.values()} == {True}
        assert all("nobody was asked" in e.note for e in found.values())


def test_the_drawn_experts_have_the_printed_means_and_nearly_the_printed_sds():
    table = shipped().table
    finals = table.groupby(["target", "rater"])["score"].mean().groupby("target").agg(["mean", "std", "size"])
    printed = pd.read_csv(FIXTURES / "published" / "human_finals.csv").set_index("target")
    assert finals["mean"].round(2).to_dict() == pytest.approx(printed["mean"].to_dict(), abs=0.0051)
    assert (finals["std"] - printed["sd"]).abs().max() < 0.02
    assert set(finals["size"]) == {26}
    assert table["score"].between(1, 10).all()
    assert (table["score"] % 1 == 0).all()


def test_reliability_is_that_of_the_two_way_analysis_of_variance():
    """Shrout and Fleiss (1979), Table 2: ICC(2,1) .29 and ICC(2,4) .62."""
    judges = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]
    rows = [(f"p{k}", "person", f"t{i}", float(x)) for i, row in enumerate(judges) for k, x in enumerate(row)]
    people = Ratings.of(pd.DataFrame(rows, columns=["rater", "kind", "item", "score"]), scales=Numeric(1, 10))
    found = people_reliability(replace(people, beside={"blinded_people": people}.get)).of(criterion="rating")
    assert (round(found.value, 2), round(found.detail["together"], 2)) == (0.29, 0.62)
    assert (found.detail["people"], found.detail["texts"]) == (4, 6)


def test_people_who_agree_are_reliable_and_people_who_do_not_are_not():
    rng = np.random.default_rng(1)
    text = np.arange(8.0)

    def of(noise: float) -> float:
        rows = [(f"p{k}", "person", f"t{i}", t + rng.normal(0, noise)) for k in range(12) for i, t in enumerate(text)]
        people = Ratings.of(pd.DataFrame(rows, columns=["rater", "kind", "item", "score"]), scales=Numeric(-500, 600))
        return people_reliability(replace(people, beside={"blinded_people": people}.get)).of(criterion="rating").value

    assert of(0.3) > 0.95
    assert of(30.0) < 0.2


def test_a_scale_from_one_is_stretched_to_one_from_nought(published):
    """x' = (x - 1) 10 / 9, so people's mean of means 8.334 becomes 8.1489 and +0.4636 becomes +0.6487."""
    people = published.people.assign(minimum=1.0, maximum=10.0)
    on_ten = replace(published, people=people, scales=dict.fromkeys(published.scales, Numeric(0, 10)), _memory={})
    on_ten = replace(on_ten, table=on_ten.table.assign(score=on_ten.table["score"].clip(0, 10)))
    found = scale_matched_offset(on_ten).of(names="shown")
    assert found.value - found.detail["as_given"] == pytest.approx(8.334 - (8.334 - 1) * 10 / 9)
    assert (found.detail["people_scale"], found.detail["judges_scale"]) == ([1.0, 10.0], [0.0, 10.0])


def test_scales_of_one_length_and_untold_ones_need_no_matching(published):
    assert not scale_matched_offset(published).of(names="shown").defined
    same = published.people.assign(minimum=-1.0, maximum=11.0)
    found = scale_matched_offset(replace(published, people=same, _memory={})).of(names="shown")
    assert found.note == "undefined: people and judges rate on one scale"


def task_with(tmp_path: Path, table: str, **single: object) -> Task:
    (tmp_path / "p.csv").write_text(table, encoding="utf-8")
    told = {"file": "p.csv", "scale": {"minimum": 1, "maximum": 10}, **single}
    return Task(TASK.name, tmp_path, {**TASK.data, "people": {"file": "x.csv", "single": told}})


def test_labels_are_resolved_and_real_people_are_not_called_simulated(tmp_path):
    task = task_with(tmp_path, "rater,label,criterion,score\np,A,accuracy,3\n", blind={"A": "grok-4"})
    people = blinded_people(task)
    assert people is not None
    assert list(people.table["target"]) == ["grok-4"]
    found = people_reliability(replace(people, beside={"blinded_people": people}.get))
    assert found.of(criterion="accuracy").detail == {"people": 1, "texts": 1}


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("rater,label,criterion,score\np,B,accuracy,3\n", "label 'B' stands for nobody"),
        ("rater,label,score\np,A,3\n", "lacks criterion"),
        ("rater,label,criterion,score\np,A,charm,3\n", "'charm' is no criterion of merchant_risk"),
    ],
)
def test_every_fault_of_the_file_is_named(tmp_path, table, told):
    with pytest.raises(RecuseError, match=told):
        blinded_people(task_with(tmp_path, table, blind={"A": "grok-4"}))


def test_without_single_ratings_there_are_none(published):
    assert len(people_reliability(published)) == 0
    assert blinded_people(Task("t", Path(), {"people": {"file": "x.csv"}})) is None
