"""Judges drawn as one more person agree with people as these do with each other; they are cleared as often as told."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.experiments import drawn_judges
from recuse.experiments.drawn_judges import chance_of_clearance, chances_of, people_of, with_drawn_judges
from recuse.experiments.simulated_files import Setting
from recuse.metrics.human_ceiling import human_ceiling
from recuse.metrics.presentation import order_consistency, slot_preference
from recuse.ratings import Nominal, Numeric, Ratings
from recuse.readers.file_panel import panel_of
from recuse.run.run import ask_file
from recuse.suite.question_runner import read_evals

SHIPPED, TODAY = Path(__file__).parents[2] / "evals", date(2026, 3, 1)
GATES, QUESTIONS = read_evals(SHIPPED, TODAY)


def drawn(setting, texts, judge="one more person", seed=1):
    return setting.draw(texts, judge, np.random.default_rng(seed), GATES)


def judges_like_people(ratings, count=20, error=1.0, seed=2):
    people = {name: people_of(ratings, name) for name in ratings.headline}
    return with_drawn_judges(ratings, people, count, np.random.default_rng(seed), error)


SETTINGS = [Setting("0-10", 0.45), Setting("1-5", 0.7, people=2), Setting("pass/fail", 0.3), Setting("labels", 0.6),
            Setting("pass/fail", 0.6, positive=0.9, people=5), Setting("pairs", 0.6)]  # fmt: skip


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: f"{s.scale} {s.agreement}")
def test_a_drawn_judge_agrees_with_each_person_as_people_do(setting):
    """human_ceiling is 0 on average over 20 judges; of numbers the step between them costs a little."""
    estimates = human_ceiling(judges_like_people(drawn(setting, 1500).ratings))
    values = [one.value for one in estimates.values()]
    assert np.mean(values) == pytest.approx(0.0, abs=0.02)
    assert len(values) == 20


def test_where_the_lowest_is_best_drawn_judges_answer_as_people_do():
    """The same file with every score turned round has judges of the same agreement, none that says the opposite."""
    ratings = drawn(Setting("1-5", 0.7, people=2), 300).ratings
    table = ratings.table.assign(score=6 - ratings.table["score"])
    turned = replace(ratings, table=table, scales={name: Numeric(1, 5, 1, reversed=True) for name in ratings.scales},
                     _memory={})  # fmt: skip
    one, other = (human_ceiling(judges_like_people(each)) for each in (ratings, turned))
    values = [[estimate.value for estimate in found.values()] for found in (one, other)]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


@pytest.mark.parametrize("setting", [Setting("0-10", 0.5, systems=1), Setting("pass/fail", 0.6, systems=1),
                                     Setting("labels", 0.6, systems=1)],
                         ids=lambda s: s.scale)  # fmt: skip
def test_with_half_the_error_it_agrees_more(setting):
    """Of options, with truth a = sqrt(kappa), a (1 + a) / 2 less kappa; of numbers, with a quarter of the error's
    variance left, kappa / sqrt(kappa + (1 - kappa) / 4) less kappa."""
    kappa = setting.agreement
    more = kappa / sqrt(kappa + (1 - kappa) / 4) if setting.numbers else sqrt(kappa) * (1 + sqrt(kappa)) / 2
    estimates = human_ceiling(judges_like_people(drawn(setting, 1500).ratings, error=0.5))
    assert np.mean([one.value for one in estimates.values()]) == pytest.approx(more - kappa, abs=0.03)


def test_a_drawn_judge_chooses_the_same_text_in_both_orders():
    ratings = judges_like_people(drawn(Setting("pairs", 0.6), 300).ratings)
    assert {one.value for one in order_consistency(ratings).values()} == {1.0}
    assert {one.value for one in slot_preference(ratings).values()} == {0.0}


def test_the_chance_is_that_of_the_texts_and_people_whatever_the_judge_of_the_file():
    panel = drawn(Setting("0-10", 0.7), 80, seed=4)
    chances = chance_of_clearance(panel, GATES, QUESTIONS, draws=5)
    table = panel.ratings.table.copy()
    judged = table["kind"] == "judge"
    table.loc[judged, "score"] = 10 - table.loc[judged, "score"]
    mirrored = panel_of(replace(panel.ratings, table=table, _memory={}))
    assert chance_of_clearance(mirrored, GATES, QUESTIONS, draws=5) == chances
    assert set(chances) >= {"grade", "estimate"}


def test_judges_are_drawn_where_a_word_is_open(monkeypatch):
    """Not where all are decided, unless everything is wanted; and not of items that are counted by their answers."""
    monkeypatch.setattr(drawn_judges, "chance_of_clearance", lambda *given: {"grade": 0.5})
    few, many = (ask_file(drawn(Setting("0-10", 0.7), n), GATES, QUESTIONS, deciding=True) for n in (30, 400))
    asked = [chances_of(one, GATES, QUESTIONS, always=always) for one in (few, many) for always in (False, True)]
    assert asked == [{"grade": 0.5}, {"grade": 0.5}, {}, {"grade": 0.5}]
    few.panel = replace(few.panel, ratings=replace(few.panel.ratings, times={"t1": 3}, _memory={}))
    assert chances_of(few, GATES, QUESTIONS, always=True) == {}


def test_more_texts_give_a_better_chance():
    few, many = (chance_of_clearance(drawn(Setting("0-10", 0.7), n), GATES, QUESTIONS, draws=draws)["grade"]
                 for n, draws in ((30, 10), (400, 5)))  # fmt: skip
    assert few < 0.5
    assert many == 1.0


def test_drawn_judges_favour_no_system():
    """A text is drawn towards its own system's mean; towards that of all, judges would mark the better systems down:
    by half of what people see between them at ICC .25."""
    ratings = drawn(Setting("0-10", 0.25), 2000).ratings
    table = judges_like_people(ratings, count=20).table
    means = table.groupby(["kind", "target"])["score"].mean().unstack("kind")
    assert (means["judge"] - means["person"]).to_numpy() == pytest.approx(0.0, abs=0.04)
    assert means["person"].max() - means["person"].min() > 0.8


def test_people_who_differ_in_severity_draw_judges_who_do():
    rng = np.random.default_rng(5)
    quality = rng.normal(5, 1.5, 400)
    rows = [(name, kind, f"t{k}", float(np.clip(round(q + add + rng.normal(0, 0.7)), 0, 10)))
            for name, kind, add in (("ann", "person", -1.0), ("ben", "person", 0.0), ("cy", "person", 1.0),
                                    ("judge", "judge", 0.0))
            for k, q in enumerate(quality)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "score"])
    ratings = Ratings.of(frame, scales=Numeric(0, 10))
    people = people_of(ratings, "rating")
    assert people.severity == pytest.approx(1.0, abs=0.15)
    table = judges_like_people(ratings, count=60).table
    means = table[table["kind"] == "judge"].groupby("rater")["score"].mean()
    assert means.std() == pytest.approx(sqrt(1 + 1 / 3), rel=0.3)


def test_one_expert_says_nothing_of_one_more():
    assert chance_of_clearance(drawn(Setting("pass/fail", people=1), 60), GATES, QUESTIONS) == {}
    assumed = people_of(drawn(Setting("pass/fail", people=1), 60).ratings, "rating", 0.5)
    assert assumed.agreement == 0.5
    assert assumed.weights == pytest.approx(np.full(60, 0.5))


@pytest.mark.parametrize("people", [1, 3])
@pytest.mark.parametrize(("scale", "texts"), [(Numeric(0, 10), 1500), (Nominal(("bug", "other", "refund")), 1500)])
def test_beside_right_answers_a_drawn_judge_is_as_often_right_as_people_are(scale, texts, people):
    """human_ceiling, which then holds both against the right answers, is 0 on average; and people are lenient by 1."""
    rng = np.random.default_rng(6)
    numbers = isinstance(scale, Numeric)
    right = rng.normal(5, 2, texts).round().clip(0, 10) if numbers else rng.choice(scale.options, texts)
    hard = rng.normal(0, 1, texts)  # what all people share beside the truth

    def answers():
        if numbers:
            return (right + 1 + 0.7 * hard + rng.normal(0, 0.7, texts)).round().clip(0, 10)
        return np.where(hard + rng.normal(0, 1, texts) > -0.7, right, rng.choice(scale.options, texts))

    raters = {"key": right, **{f"p{k}": answers() for k in range(people)}, "judge": answers()}
    value = "score" if numbers else "response"
    rows = [{"rater": who, "kind": "judge" if who == "judge" else "person", "item": f"t{k}", value: one}
            for who, own in raters.items() for k, one in enumerate(own)]  # fmt: skip
    ratings = Ratings.of(pd.DataFrame(rows), scales=scale, truth="key")
    assert people_of(ratings, ratings.criterion).answers.people == tuple(f"p{k}" for k in range(people))
    estimates = human_ceiling(judges_like_people(ratings, count=20)).values()
    assert np.mean([one.value for one in estimates]) == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("people", [1, 3])
def test_of_choices_among_several_systems_too_a_drawn_judge_is_as_often_right_as_people_are(people):
    """Whichever of two is called the first: the same file with every pair written the other way round."""
    rng, n = np.random.default_rng(6), 1500
    right = rng.choice(["a", "b", "tie"], n, p=[0.5, 0.3, 0.2])
    hard = rng.normal(0, 1, n)
    swap = {"a": "b", "b": "a", "tie": "tie"}

    def answers():
        return np.where(hard + rng.normal(0, 1, n) > -0.7, right, [swap[one] for one in right])

    raters = {"key": right, **{f"p{k}": answers() for k in range(people)}, "judge": answers()}
    pairs = [rng.choice(["x", "y", "z"], 2, replace=False) for _ in range(n)]
    values = []
    for other_way in (False, True):
        place = {"a": "second", "b": "first"} if other_way else {"a": "first", "b": "second"}
        rows = [{"rater": who, "kind": "judge" if who == "judge" else "person", "item": f"t{k}",
                 "response": place.get(one, one)}
                for who, own in raters.items() for k, one in enumerate(own)]  # fmt: skip
        texts = pd.DataFrame({"item": [f"t{k}" for k in range(n)], "b" if other_way else "a": [a for a, _ in pairs],
                              "a" if other_way else "b": [b for _, b in pairs]})  # fmt: skip
        options = Nominal(("first", "second", "tie"))
        ratings = Ratings.of(pd.DataFrame(rows), scales=options, texts=texts, truth="key")
        known = people_of(ratings, ratings.criterion)
        assert known.answers.people == tuple(f"p{k}" for k in range(people))
        found = human_ceiling(judges_like_people(ratings, count=20)).values()
        values.append([one.value for one in found])
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    assert np.mean(values[0]) == pytest.approx(0.0, abs=0.02)


def test_a_newer_version_is_asked_alone_and_only_once():
    ratings = drawn(Setting("pass/fail", repeats=3), 50, "drift").ratings
    table = judges_like_people(ratings, count=2).table
    assert table.groupby("kind", observed=True).size().to_dict() == {"judge": 2 * 50, "person": 3 * 50}


def test_the_chance_beside_an_older_version_is_that_of_the_newest_alone():
    """It was 0: nobody asked how far the drawn judges, of one version, had drifted."""
    both = drawn(Setting("0-10", 0.7), 200, "drift")
    table = both.ratings.table
    table = table[table["version"] == "now"].drop(columns="version")
    alone = replace(both.ratings, table=table, factors=(), _memory={})
    one, two = (chance_of_clearance(each, GATES, QUESTIONS, draws=5) for each in (both, panel_of(alone)))
    assert one == two
    assert one["grade"] > 0.5


# --------------------------------------------------------------------------- the chance printed is the chance (L5)

RUNS, DRAWS = 30, 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "texts"),
    [
        (Setting("0-10", 0.25), 600), (Setting("0-10", 0.45), 250), (Setting("0-10", 0.7), 90),
        (Setting("1-5", 0.7), 150), (Setting("pass/fail", 0.3, systems=1), 400),
        (Setting("pass/fail", 0.6, systems=1), 150), (Setting("pass/fail", 0.6, positive=0.8, systems=1), 250),
        (Setting("pass/fail", 0.6), 400), (Setting("pairs", 0.6), 150),
    ],
    ids=lambda value: f"{value.scale}-{value.agreement}" if isinstance(value, Setting) else str(value),
)  # fmt: skip
def test_one_more_person_is_cleared_as_often_as_printed(setting, texts):
    """Files of other people each; the judge is drawn by the model, the chance from what the file's people said."""
    cleared: dict[str, list[float]] = {}
    printed: dict[str, list[float]] = {}
    for run in range(RUNS):
        panel = drawn(setting, texts, seed=1000 + run)
        for one in ask_file(panel, GATES, QUESTIONS, deciding=True).decision.judges:
            cleared.setdefault(one.use, []).append(one.word == "cleared")
        for use, chance in chance_of_clearance(panel, GATES, QUESTIONS, DRAWS).items():
            printed.setdefault(use, []).append(chance)
    assert cleared.keys() == printed.keys()
    for use, words in cleared.items():
        truth, said = float(np.mean(words)), float(np.mean(printed[use]))
        error = sqrt(max(said * (1 - said), 1 / RUNS) * (1 / RUNS + 1 / (RUNS * DRAWS)))
        assert truth == pytest.approx(said, abs=3 * error), use
