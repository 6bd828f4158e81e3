"""The questions where more than one answer may be right, on a file of one's own: forced choices as rows or as counts,
response sets, or both."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
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


@pytest.fixture(scope="module")
def measured(recuse, tmp_path_factory) -> Callable[[str], dict[str, dict[str, float]]]:
    """measured(kind of file): metric -> value by judge."""

    @cache
    def of(kind: str) -> dict[str, dict[str, float]]:
        path = tmp_path_factory.mktemp(kind) / f"{kind}.csv"
        FILES[kind]().to_csv(path, index=False)
        assert recuse("check", path, "--json", path.with_suffix(".json")).err == ""
        results = json.loads(path.with_suffix(".json").read_text("utf-8"))
        found: dict[str, dict[str, float]] = {}
        for record in (*results["verdicts"], *results["measurements"]):
            values = found.setdefault(record["estimate"]["metric"], {})
            values[record["subject"].get("judge")] = record["estimate"]["value"]
        return found

    return of


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("kind", FILES)
def test_what_is_asked_of_each_kind_of_file(measured, kind):
    found = measured(kind)
    assert found.keys() >= EVERY
    assert ("accepted_both" in found) == (kind == "both")
    assert all(value is not None for name in EVERY for value in found[name].values())


def test_counts_and_rows_give_the_same_shares(measured):
    """Who gave which answer is lost in counts, and no measure of decisions asks for it."""
    choices, counts = (measured(kind)["decision_consistency"] for kind in ("choices", "counts"))
    assert choices == counts
    assert set(choices) == {"gpt-4o", "claude"}
