"""Levels in a file against rates in another: `recuse check FILE --rates RATES`, simulated files with a known truth."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.cli import main
from recuse.readers.file_panel import load_file_panel
from recuse.run.run import ask_file
from recuse.schema import RecuseError
from recuse.suite.question_runner import read_evals, shipped_evals

CODES = [f"{code:04d}" for code in range(100, 140)]


def files(folder: Path, far: int, rates: str = "rates.csv") -> Path:
    """40 categories on five levels by two models; of the second so many pairs change places, two levels apart."""
    level = np.repeat(np.arange(1, 6), 8)
    other = level.copy()
    for k in range(far // 2):
        other[k], other[16 + k] = other[16 + k], other[k]
    models = {"steady": level, "careless": other}
    rows = [(name, code, value) for name, levels in models.items() for code, value in zip(CODES, levels, strict=True)]
    pd.DataFrame(rows, columns=["model", "item", "level"]).to_csv(folder / "levels.csv", index=False)
    share = np.linspace(0.001, 0.04, 40)
    if rates.endswith(".csv"):
        pd.DataFrame({"item": CODES, "value": share}).to_csv(folder / rates, index=False)
    else:
        pd.DataFrame({"mcc": CODES, "fraud": share}).to_csv(folder / "fraud.csv", index=False)
        text = 'table = "fraud.csv"\ncategory = "mcc"\n[weights]\nfraud = 1.0\n'
        (folder / rates).write_text(text, encoding="utf-8")
    return folder / "levels.csv"


@cache
def asked():
    """The shipped gates, and of the shipped questions those that ask of levels."""
    gates, questions = read_evals(shipped_evals(), date(2026, 1, 1))
    return gates, [one for one in questions if "ground_truth" in one.name]


def words(path: Path, **given: str) -> dict[str, str]:
    panel = load_file_panel(path, rater="model", item="item", value="level", scale="1-5", **given)
    verdicts = ask_file(panel, *asked()).results["verdicts"]
    return {v["subject"]["judge"]: v["outcome"] for v in verdicts if v["gate"] == "misplaced_levels"}


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("rates", ["rates.csv", "rates.toml"])
@pytest.mark.parametrize(("far", "word"), [(0, "pass"), (4, "pass"), (6, "fail"), (16, "fail")])
def test_levels_two_off_fail_beyond_one_in_ten(tmp_path, rates, far, word):
    found = words(files(tmp_path, far, rates), rates=rates)
    assert found == {"steady": "pass", "careless": word}


def test_rates_are_found_where_either_file_writes_12_as_12_0(tmp_path):
    path = files(tmp_path, 16)
    for points in ((int, float), (float, int)):
        for name, kind in zip(("levels.csv", "rates.csv"), points, strict=True):
            table = pd.read_csv(tmp_path / name)
            table.assign(item=table["item"].astype(kind)).to_csv(tmp_path / name, index=False)
        assert words(path, rates="rates.csv") == {"steady": "pass", "careless": "fail"}


def test_without_rates_nothing_is_asked_of_levels(tmp_path):
    assert words(files(tmp_path, 16)) == {}


def test_the_command_refuses_who_misplaces_a_third(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = ["--rates", "rates.csv", "--scale", "1-5", "--rater", "model", "--item", "item", "--value", "level"]
    assert main(["check", str(files(tmp_path, 16)), *given, "--all"]) == 1
    out = capsys.readouterr().out
    assert "careless" in out
    assert "severe misplacements" in out or "misplaces items" in out


@pytest.mark.parametrize(("name", "text", "why"), [
    ("absent.csv", "", "no such file"), ("rates.csv", "item,rate\n0100,0.1\n", "lacks value"),
])  # fmt: skip
def test_rates_that_are_none(tmp_path, name, text, why):
    path = files(tmp_path, 0)
    if text:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(RecuseError, match=why):
        load_file_panel(path, value="level", rates=name)
