"""An upgrade on items that were counted by their answers: every number is the one of single items."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.cli import main
from recuse.ratings import folding
from recuse.readers import counts

sys.path.insert(0, str(Path(__file__).parents[1] / "readers"))
from folded_tables import differences, folded

ITEMS = 900


def scores(rng: np.random.Generator) -> pd.DataFrame:
    """Two judges and two people from 1 to 5; every tenth answer of one judge, and some of a person, is missing."""
    right = rng.integers(1, 6, ITEMS)
    spread = {"judge_a": 0.3, "judge_b": 0.5, "ann": 0.3, "ben": 0.4}
    table = pd.DataFrame(
        {n: np.clip(right + rng.integers(-1, 2, ITEMS) * (rng.random(ITEMS) < p), 1, 5) for n, p in spread.items()},
        dtype=object,
    )
    table.loc[rng.random(ITEMS) < 0.1, "judge_b"] = "N/A"
    table.loc[rng.random(ITEMS) < 0.3, "ben"] = ""
    return table.assign(topic=rng.choice(["law", "tax"], ITEMS))


def drawn(options: list[str]):
    def table(rng: np.random.Generator) -> pd.DataFrame:
        right = rng.integers(0, len(options), ITEMS)
        wrong = {"judge_a": 0.2, "judge_b": 0.3, "ann": 0.1, "ben": 0.1}
        others = {n: (right + (rng.random(ITEMS) < p) * rng.integers(1, len(options), ITEMS)) for n, p in wrong.items()}
        return pd.DataFrame({n: np.array(options)[k % len(options)] for n, k in others.items()})

    return table


def asked_twice(rng: np.random.Generator) -> pd.DataFrame:
    """A run of either judge more, which differs in one answer of ten."""
    table = drawn(["fail", "pass"])(rng)
    for name in ("judge_a", "judge_b"):
        again = np.where(rng.random(ITEMS) < 0.1, table["ann"], table[name])
        table = table.assign(**{f"{name}_run2": again}).rename(columns={name: f"{name}_run1"})
    return table


FILES = {
    "scores": (scores, ()),
    "scores with a threshold": (scores, ("--threshold", "4")),
    "scores without people": (lambda rng: scores(rng).drop(columns=["ann", "ben"]), ("--threshold", "3")),
    "pass or fail": (drawn(["fail", "pass"]), ()),
    "asked twice": (asked_twice, ()),
    "labels in order": (drawn(["bad", "fair", "good"]), ("--scale", "bad<fair<good")),
    "labels": (drawn(["red", "green", "blue"]), ()),
    "labels without people": (lambda rng: drawn(["red", "green", "blue"])(rng).drop(columns=["ann", "ben"]), ()),
    "choices": (lambda rng: drawn(["A", "B", "tie"])(rng).assign(first="x", second="y"), ()),
}


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("kind", FILES)
def test_every_number_is_that_of_single_items(kind, tmp_path, monkeypatch, capsys):
    made, options = FILES[kind]
    table = made(np.random.default_rng(2))
    results = []
    for name in ("single", "counted"):
        monkeypatch.setattr(counts, "FOLDED_FROM", 1 if name == "counted" else 10**9)
        monkeypatch.setattr(folding, "MOST_UNFOLDED", 0 if name == "counted" and kind != "choices" else 10**9)
        path, out = tmp_path / name / "ratings.csv", tmp_path / f"{name}.json"
        path.parent.mkdir()
        folded(table).to_csv(path, index=False)
        code = main(["compare", str(path), "judge_a", "judge_b", "--json", str(out), *options])
        assert code in (0, 1, 2)
        results.append(({"code": code} | json.loads(out.read_text()), capsys.readouterr().out))
    (single, text), (counted, same) = results
    assert text == same
    assert single["headline"] == counted["headline"]
    measured = [{k: one[k] for k in ("code", "decision", "verdicts")} for one in (single, counted)]
    assert sum(v["estimate"]["value"] is not None for v in single["verdicts"]) >= 3
    assert differences(*measured) == []


def test_what_takes_single_items_is_not_concluded_from(tmp_path, capsys):
    """The place of a text, of a million choices: said in its row, and no word without it."""
    path, (made, _) = tmp_path / "ratings.csv", FILES["choices"]
    table = folded(made(np.random.default_rng(2)))
    table.assign(count=table["count"] * 1000).to_csv(path, index=False)
    assert main(["compare", str(path), "judge_b", "judge_a"]) == 2
    text = " ".join(capsys.readouterr().out.split())
    assert "is undecided: position bias could not be measured" in text
    assert "position bias it takes single items, and these were counted at most 10 % not measured" in text
    assert "Same 900,000 texts" in text
