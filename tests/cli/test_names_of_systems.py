"""What systems are called is no evidence: of choices among several, other names change no number and no word."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

import recuse as engine
from recuse.metrics.agreement import coefficient
from recuse.ratings.answers import answers_of
from recuse.ratings.text_slices import slices_of

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
        for rater, noise in ((*((name, 1.0) for name in PEOPLE), ("gpt", 1.2), ("llama", 1.5))):
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


@pytest.mark.parametrize("names", ORDERS)
@pytest.mark.parametrize("table", [{}, {"both_orders": True}, {"shuffled": False}], ids=["mixed", "both", "as named"])
@pytest.mark.parametrize("command", ["check", "compare"])
def test_other_names_change_no_number_and_no_word(recuse, tmp_path, command, table, names):
    known = []
    for given in (BEST_FIRST, names):
        pairs(given, **table).to_csv(tmp_path / "f.csv", index=False)
        more = ["gpt", "llama"] if command == "compare" else ["--all"]
        run = recuse(command, tmp_path / "f.csv", *more, "--people", ",".join(PEOPLE), "--json", tmp_path / "r.json")
        known.append((run.code, run.first, renamed(json.loads((tmp_path / "r.json").read_text()), given)))
    assert len(known[0][2]) >= (5 if command == "compare" else 10)
    for one, other in zip(*known, strict=True):
        assert one == pytest.approx(other) if isinstance(one, float) else one == other


def test_kappa_among_several_systems_is_that_of_every_choice_both_ways_round():
    """By statsmodels, of a table into which each choice goes twice, the second time with the two exchanged."""
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


def test_a_pair_is_on_the_slices_of_both_systems():
    ratings = engine.read(pairs(BEST_FIRST), people=list(PEOPLE), judges="gpt")
    slices, looked = slices_of(answers_of(ratings, ratings))
    assert looked == 1
    assert {level: int(there.sum()) for (_, level), there in slices.items()} == dict.fromkeys(BEST_FIRST, 40)
