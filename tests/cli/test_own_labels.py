"""The questions where more than one answer may be right, on a file of one's own: forced choices as rows or as counts,
response sets, or both."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

PEOPLE = Path(__file__).resolve().parents[2] / "fixtures" / "tasks" / "toxicity" / "simulated_people.csv"
NAMES = {"simulated-01": "gpt-4o", "simulated-02": "claude", "simulated-03": "ann", "simulated-04": "bob"}
EVERY = {"decision_consistency", "prevalence_bias", "performance", "ratings_needed", "prevalence_shift", "best_judge"}


def labels() -> pd.DataFrame:
    table = pd.read_csv(PEOPLE)
    table = table[table["rater"].isin(NAMES)]
    return table.assign(rater=table["rater"].map(NAMES))[["protocol", "rater", "item", "response"]]


def rows(protocol: str) -> pd.DataFrame:
    table = labels()
    return table[table["protocol"] == protocol].drop(columns="protocol")


def counted() -> pd.DataFrame:
    table = rows("forced_choice")
    table["rater"] = table["rater"].replace({"ann": "people", "bob": "people"})
    found = pd.crosstab([table["item"], table["rater"]], table["response"]).add_prefix("count_").reset_index()
    return found.assign(total=found["count_toxic"] + found["count_not toxic"])


FILES = {
    "choices": lambda: rows("forced_choice"),
    "counts": counted,
    "sets": lambda: rows("response_set"),
    "both": lambda: labels().rename(columns={"protocol": "elicitation"}),
}


@pytest.fixture(params=FILES)
def measured(request, recuse, tmp_path) -> tuple[str, dict[str, list[dict]]]:
    """Metric -> its estimates, of one kind of file."""
    path, told = tmp_path / f"{request.param}.csv", tmp_path / "told.json"
    FILES[request.param]().to_csv(path, index=False)
    assert recuse("check", path, "--json", told).err == ""
    results = json.loads(told.read_text("utf-8"))
    found: dict[str, list[dict]] = {}
    for record in (*results["verdicts"], *results["measurements"]):
        found.setdefault(record["estimate"]["metric"], []).append(record["estimate"])
    return request.param, found


def test_what_is_asked_of_each_kind_of_file(measured):
    kind, found = measured
    assert found.keys() >= EVERY
    assert ("accepted_both" in found) == (kind == "both")
    assert all(estimate["value"] is not None for name in EVERY for estimate in found[name])


def test_counts_and_rows_give_the_same_shares(recuse, tmp_path):
    """Who gave which answer is lost in counts, and no measure of decisions asks for it."""
    values = []
    for kind in ("choices", "counts"):
        path, told = tmp_path / f"{kind}.csv", tmp_path / f"{kind}.json"
        FILES[kind]().to_csv(path, index=False)
        recuse("check", path, "--json", told)
        measured = json.loads(told.read_text("utf-8"))["measurements"]
        found = [r for r in measured if r["estimate"]["metric"] == "decision_consistency"]
        values.append({r["subject"]["judge"]: r["estimate"]["value"] for r in found})
    assert values[0] == values[1]
    assert set(values[0]) == {"gpt-4o", "claude"}
