"""Upgrades of the panel `rewardbench`, each decided for a reason that can be counted in the file.

Counted with pandas alone: an item is right where the response with the highest mean of eight scores is the right one,
alone; of 1,763 items, so many were gained and lost by the change.

    gpt-5.4-nano -> gpt-5.4-mini       286 gained, 147 lost    two scores of one text differ by 1.06, by 0.49
    gpt-5.4-mini -> gpt-5.4            145 gained, 105 lost
    gpt-5.4, prompt base -> criteria    87 gained,  42 lost
    gpt-5.4, temperature 1 -> 0         36 gained, 112 lost    at 0 all eight say the same: 192 ties, 77 before
    claude-haiku-4.5 -> sonnet-4.6     103 gained, 154 lost    by the base prompt
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from recuse import compare, read
from recuse.cli import main
from recuse.gates.upgrade_verdict import UpgradeVerdict
from recuse.ratings import Ratings

pytestmark = pytest.mark.slow("whole runs")

FILE = Path(__file__).parents[2] / "fixtures" / "ratings" / "rewardbench.csv.gz"
ITEMS = 1763
BASE, COLD = ",prompt=base,temp=1.0", ",prompt=base,temp=0.0"


@cache
def compared(incumbent: str, candidate: str) -> UpgradeVerdict:
    return compare(ratings(), incumbent=incumbent, candidate=candidate)


@cache
def ratings() -> Ratings:
    return read(FILE)


def of(verdict: UpgradeVerdict, gate: str, **levels: str) -> float:
    [found] = [row for row in verdict.rows if row.gate == gate and levels.items() <= row.subject.items()]
    return found.estimate.value


@pytest.mark.parametrize(
    ("incumbent", "candidate", "word", "gained", "lost"),
    [
        ("gpt-5.4-nano", "gpt-5.4-mini", "better", 286, 147),
        ("gpt-5.4-mini", "gpt-5.4", "better", 145, 105),
        ("gpt-5.4" + BASE, "gpt-5.4,prompt=criteria,temp=1.0", "better", 87, 42),
        ("gpt-5.4" + BASE, "gpt-5.4" + COLD, "undecided", 36, 112),
        ("gpt-5.4-mini,prompt=base", "gpt-5.4-nano,prompt=base", "worse", 147, 286),
        ("claude-haiku-4.5,prompt=base", "claude-sonnet-4.6,prompt=base", "equivalent", 103, 154),
        ("claude-haiku-4.5", "claude-sonnet-4.6", "undecided", 103, 154),
    ],
)
def test_the_word_and_what_it_rests_on(incumbent, candidate, word, gained, lost):
    verdict = compared(incumbent, candidate)
    levels = {"prompt": "base"} if "prompt" not in incumbent and word != "worse" else {}
    assert verdict.word == word, verdict.sentence
    assert of(verdict, "upgrade_right_answers", **levels) == pytest.approx((gained - lost) / ITEMS, abs=1e-9)


def test_nano_is_refused_in_the_place_of_mini_by_its_noise_and_its_answers():
    verdict = compared("gpt-5.4-mini,prompt=base", "gpt-5.4-nano,prompt=base")
    assert {row.gate for row in verdict.rows if row.outcome == "fail"} == {"upgrade_noise", "upgrade_right_answers"}
    assert of(verdict, "upgrade_noise") == pytest.approx(1.056 - 0.491, abs=0.003)


def test_without_the_levels_named_nano_could_have_been_asked_only_where_it_does_well():
    verdict = compared("gpt-5.4-mini", "gpt-5.4-nano")
    assert verdict.word == "not comparable"
    assert "gpt-5.4-nano was not asked under prompt criteria, temp 1.0" in verdict.sentence


def test_the_page_of_a_better_judge_names_what_is_better(tmp_path):
    """There are no people in the file, so nobody agrees with them."""
    rows = pd.read_csv(FILE, dtype=str)
    rows[rows["judge"].isin(["gpt-5.4-nano", "gpt-5.4-mini"])].to_csv(tmp_path / "two.csv", index=False)
    file, record = str(tmp_path / "two.csv"), tmp_path / "r.json"
    assert main(["compare", file, "gpt-5.4-nano", "gpt-5.4-mini", "--json", str(record)]) == 0
    first = json.loads(record.read_text(encoding="utf-8"))["decision"]["lines"][0]
    assert first == (
        "This change: merge: gpt-5.4-mini may replace gpt-5.4-nano: it puts the right response first more often."
    )
