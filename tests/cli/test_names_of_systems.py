"""What systems are called is no evidence: of choices among several, other names change no number and no word."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recuse as engine
from recuse.experiments.drawn_judges import people_of, with_drawn_judges
from recuse.metrics.agreement import coefficient
from recuse.metrics.agreement_estimates import commonest_answer, people_alpha
from recuse.metrics.human_ceiling import human_ceiling
from recuse.metrics.upgrade import Upgrade, measure_upgrade
from recuse.ratings import Ratings
from recuse.ratings.answers import answers_of
from recuse.ratings.people_faults import people_faults
from recuse.ratings.text_slices import slices_of
from recuse.schema import Estimate
from tests.ratings.choices import read_choices

BEST_FIRST = ("auk", "emu", "jay", "kea", "owl")
ORDERS = [("kea", "auk", "owl", "emu", "jay"), ("owl", "kea", "jay", "emu", "auk")]
PEOPLE = ("anna", "ben", "cleo")


def pairs(names: tuple[str, ...], *, both_orders: bool = False, shuffled: bool = True, n: int = 100) -> pd.DataFrame:
    """Choices of three people and two judges among systems, the best named first; the same ones whatever the names."""
    rng = np.random.default_rng(3)
    meetings = list(combinations(range(len(names)), 2))
    rows = []
    for item in range(n):
        left, right = meetings[item % len(meetings)]
        if shuffled and rng.random() < 0.5:
            left, right = right, left
        for rater, noise in (*((name, 1.0) for name in PEOPLE), ("gpt", 1.2), ("llama", 1.5)):
            for first, second in ((left, right), (right, left))[: 1 + (both_orders and rater not in PEOPLE)]:
                better = 0.8 * (second - first) + rng.normal(0.1, noise)
                winner = "model_a" if better > 0.2 else "model_b" if better < -0.2 else "tie"
                rows.append((f"q{item}", names[first], names[second], rater, winner))
    return pd.DataFrame(rows, columns=["question", "model_a", "model_b", "rater", "winner"])


def renamed(results: dict[str, Any], names: tuple[str, ...]) -> Any:
    """What was measured and decided, under the names of `BEST_FIRST` and in an order that does not follow from any."""
    meant = dict(zip(names, BEST_FIRST, strict=True))
    text = re.sub("|".join(names), lambda name: meant[name[0]], json.dumps(results))
    kept = ("value", "low", "high", "n", "note")
    rows = [
        (of["metric"], sorted(row["subject"].items()), row.get("outcome"), [of[name] for name in kept])
        for part in ("measurements", "verdicts") for row in json.loads(text)[part] if (of := row["estimate"])
    ]  # fmt: skip
    return sorted(rows, key=str)


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("table", [{}, {"both_orders": True}, {"shuffled": False}], ids=["mixed", "both", "as named"])
@pytest.mark.parametrize("command", ["check", "compare"])
def test_other_names_change_no_number_and_no_word(recuse, tmp_path, command, table):
    known = []
    for given in (BEST_FIRST, *ORDERS):
        pairs(given, **table).to_csv(tmp_path / "f.csv", index=False)
        more = ["gpt", "llama"] if command == "compare" else ["--all"]
        run = recuse(command, tmp_path / "f.csv", *more, "--people", ",".join(PEOPLE), "--json", tmp_path / "r.json")
        known.append((run.code, run.first, renamed(json.loads((tmp_path / "r.json").read_text()), given)))
    assert len(known[0][2]) >= (5 if command == "compare" else 10)
    for others in known[1:]:
        for one, other in zip(known[0], others, strict=True):
            assert one == pytest.approx(other) if isinstance(one, float) else one == other


def test_kappa_among_several_systems_is_that_of_every_choice_both_ways_round():
    """By statsmodels, of a table into which each choice goes twice, the second time with the two exchanged."""
    from statsmodels.stats.inter_rater import cohens_kappa

    frame = pairs(BEST_FIRST)
    ratings = engine.read(frame[frame["rater"].isin(["anna", "gpt"])], people=["anna"], judges="gpt")
    table, turned = np.zeros((3, 3)), [1, 0, 2]
    codes = {"first": 0, "second": 1, "tie": 2}
    wide = ratings.table.pivot(index="item", columns="rater", values="response")
    for own, theirs in zip(wide["gpt"].map(codes), wide["anna"].map(codes), strict=True):
        table[own, theirs] += 1
        table[turned[own], turned[theirs]] += 1
    assert coefficient(ratings, "cohen_kappa").of(judge="gpt").value == pytest.approx(cohens_kappa(table).kappa)


def test_of_two_systems_chance_follows_from_how_often_each_wins():
    """There a judge may name the same one whatever it reads: it agrees by chance."""
    frame = pairs(("auk", "emu"))
    frame.loc[frame["rater"] == "gpt", "winner"] = np.where(
        frame.loc[frame["rater"] == "gpt", "model_a"] == "auk", "model_a", "model_b"
    )
    ratings = engine.read(frame, people=list(PEOPLE), judges="gpt")
    assert coefficient(ratings, "percent_agreement").of(judge="gpt").value > 0.6
    assert coefficient(ratings, "cohen_kappa").of(judge="gpt").value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("people", [PEOPLE, ()])
@pytest.mark.parametrize("names", ORDERS)
def test_where_no_order_is_known_an_upgrade_follows_no_names_either(names, people):
    """Values and intervals, of so few texts that the names alone would leave too few labels of another option."""

    def measured(named: tuple[str, ...]) -> dict[str, float]:
        frame = pairs(named, shuffled=False, n=60).rename(columns={"question": "item", "model_a": "a", "model_b": "b"})
        frame["response"] = frame["winner"].replace({"model_a": "a", "model_b": "b"})
        table = frame.loc[frame["rater"].isin([*people, "gpt", "llama"]), ["rater", "item", "a", "b", "response"]]
        upgrade = Upgrade.within(read_choices(table, people=people), "gpt", "llama")
        found = [(name, one) for name, every in measure_upgrade(upgrade) for one in every.values()]
        return {f"{name}, {end}": getattr(one, end) for name, one in found for end in ("value", "low", "high")}

    assert measured(names) == pytest.approx(measured(BEST_FIRST), nan_ok=True)


@cache
def ratings_of(names: tuple[str, ...], *, reversed_by_cleo: bool) -> Ratings:
    frame = pairs(names)
    if reversed_by_cleo:
        turned = {"model_a": "model_b", "model_b": "model_a"}
        frame["winner"] = frame["winner"].where(frame["rater"] != "cleo", frame["winner"].replace(turned))
    return engine.read(frame, people=list(PEOPLE), judges="gpt,llama")


FIGURES: dict[str, Callable[[Ratings], Any]] = {
    "people among themselves": lambda r: people_alpha(r).of(rater="people"),
    "commonest answer": lambda r: commonest_answer(r).of(judge="gpt"),
    "base rate": lambda r: coefficient(r, "percent_agreement").of(judge="gpt"),
    "against people's own": lambda r: human_ceiling(r).of(judge="gpt"),
    "one more person": lambda r: people_of(r, "winner").agreement,
    "people at fault": lambda r: [(fault.people, fault.agreement, fault.low, fault.high) for fault in people_faults(r)],
}


@pytest.mark.parametrize("figure", FIGURES)
def test_no_figure_follows_from_names(figure):
    def measured(names: tuple[str, ...]) -> list[float]:
        value = FIGURES[figure](ratings_of(names, reversed_by_cleo=figure == "people at fault"))
        known = (value.value, value.low, value.high, value.detail) if isinstance(value, Estimate) else value
        return [float(number) for number in re.findall(r"-?\d+\.\d+", str(known))]

    first = measured(BEST_FIRST)
    assert first
    for names in ORDERS:
        assert measured(names) == pytest.approx(first)


def test_where_the_order_is_known_a_candidate_that_follows_it_agrees_by_chance():
    frame = pairs(BEST_FIRST)
    frame.loc[frame["rater"] == "llama", "winner"] = "model_a"
    upgrade = Upgrade.within(engine.read(frame, people=list(PEOPLE)), "gpt", "llama")
    [agreement] = dict(measure_upgrade(upgrade))["upgrade_agreement"].values()
    assert agreement.detail["candidate"] == pytest.approx(0, abs=1e-9)
    assert agreement.detail["incumbent"] > 0.3


def test_judges_drawn_as_one_more_person_follow_no_names():
    """How often they say what anna says, of 300 judges on 100 texts each, most of which nobody else rated."""
    shares = []
    for names in (BEST_FIRST, ORDERS[0]):
        frame = pairs(names)
        few = frame["question"].isin([f"q{k}" for k in range(40)]) | ~frame["rater"].isin(["ben", "cleo"])
        ratings = engine.read(frame[few], people=list(PEOPLE), judges="gpt,llama")
        anna = ratings.table[ratings.table["rater"] == "anna"].set_index("item")["response"].astype(str)
        people = {"winner": people_of(ratings, "winner")}
        drawn = with_drawn_judges(ratings, people, 300, np.random.default_rng(2)).table.query("kind == 'judge'")
        shares.append((drawn["response"].astype(str) == anna.reindex(drawn["item"]).to_numpy()).mean())
    assert shares[0] == pytest.approx(shares[1], abs=0.01)


def test_the_second_orders_taken_away_clear_nobody(recuse, tmp_path):
    """A judge that favours the first place fails; without the turned pairs it is undecided, whatever the names."""
    for names in (BEST_FIRST, ORDERS[1]):
        frame = pairs(names, both_orders=True, shuffled=False)
        frame = frame[frame["rater"] != "llama"]
        shown = frame.groupby(["question", "rater"]).cumcount()
        frame.loc[(frame["rater"] == "gpt") & (shown == 1), "winner"] = "model_a"
        codes = []
        for some in (frame, frame[shown == 0]):
            some.to_csv(tmp_path / "f.csv", index=False)
            codes.append(recuse("check", tmp_path / "f.csv", "--people", ",".join(PEOPLE)).code)
        assert codes == [1, 2]


def test_a_constant_answer_is_a_place_where_names_say_nothing():
    frame = pairs(BEST_FIRST)
    ratings = engine.read(frame, people=list(PEOPLE), judges="gpt")
    assert coefficient(ratings, "percent_agreement").of(judge="gpt").detail["constant"]["answer"] == "the same place"
    ties = engine.read(frame.assign(winner="tie"), people=list(PEOPLE), judges="gpt")
    assert commonest_answer(ties).of(judge="gpt").detail["answer"] == "tie"


def test_a_pair_is_on_the_slices_of_both_systems():
    ratings = engine.read(pairs(BEST_FIRST), people=list(PEOPLE), judges="gpt")
    slices, looked = slices_of(answers_of(ratings, ratings))
    assert looked == 1
    assert {level: int(there.sum()) for (_, level), there in slices.items()} == dict.fromkeys(BEST_FIRST, 40)
