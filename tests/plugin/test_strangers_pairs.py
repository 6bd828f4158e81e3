"""Pairs of texts that nobody here prepared, through a panel, cassettes and the shipped questions, without touching the
engine: recorded over loopback from a stand-in, then replayed.

Thirty pairs of answers of different lengths, in both orders and under both names. Mira always takes what stands first;
Noor always takes the longer text; one reply of Mira's cannot be read.
"""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

EVALS = Path(__file__).parents[2] / "evals"
PAIRS = 30
UNREADABLE = ("mira", 4, "ab", "plain")

PANEL = """
    name = "desk"
    description = "Two judges of a help desk, asked which of two answers is better."
    provenance = "scripted"
    source = "made for this test"

    [stand_in]
    kind = "table"
    folder = "fixtures/standins"

    [[task]]
    name = "answers"
    protocols = ["pairwise"]

    [[judge]]
    name = "mira"
    wire = "openai_chat"
    base_url = "http://mira.scripted.invalid/v1"
    model = "mira (scripted)"

    [[judge]]
    name = "noor"
    wire = "anthropic_messages"
    base_url = "http://noor.scripted.invalid/v1"
    model = "noor (scripted)"
"""
TASK = """
    name = "answers"
    scale = { minimum = 1, maximum = 5 }
    target = [{ id = "alpha" }, { id = "beta" }]

    [[criterion]]
    id = "helpful"
"""
PROMPT = "{{ first_label }}: {{ first.answer }}\n{{ second_label }}: {{ second.answer }}"


def words(pair: int, side: str) -> int:
    """Either side is the longer one in some pairs."""
    return 10 + (pair * 7) % 20 if side == "a" else 20 + (pair * 3) % 5


def place(judge: str, pair: int, order: str) -> str:
    """Where the text stands that the judge takes."""
    if judge == "mira":
        return "first"
    longer = "a" if words(pair, "a") > words(pair, "b") else "b"
    return "first" if order[0] == longer else "second"


def reply(judge: str, pair: int, order: str, labels: str) -> str:
    if (judge, pair, order, labels) == UNREADABLE:
        return "I lost count."
    names = ("A", "B") if labels == "plain" else ("B", "A")
    return f"Winner: {names[place(judge, pair, order) == 'second']}"


@pytest.fixture
def desk(repo):
    """The repository of that team, with the shipped questions and gates."""
    for folder in ("cassettes", "fixtures", "evals"):
        shutil.rmtree(repo / folder)
    shutil.copytree(EVALS, repo / "evals", ignore=shutil.ignore_patterns("__pycache__"))
    gates = (repo / "evals" / "gates.toml").read_text(encoding="utf-8")
    (repo / "evals" / "gates.toml").write_text(gates.split("[[accepted]]")[0], encoding="utf-8")
    items = []
    for n in range(PAIRS):
        texts = {side: {"answer": " ".join([f"{side}{n}", *["word"] * (words(n, side) - 1)])} for side in ("a", "b")}
        fields = {"a": "alpha", "b": "beta", "text": "", "texts": texts}
        items.append(json.dumps({"id": f"pair-{n:02d}", "target": "alpha", "fields": fields}))
    replies = [
        json.dumps({"judge": judge, "item": f"pair-{n:02d}", "target": "alpha",
                    "factors": {"order": order, "labels": labels}, "text": reply(judge, n, order, labels)})
        for judge, n, order, labels in itertools.product(("mira", "noor"), range(PAIRS), ("ab", "ba"),
                                                         ("plain", "swapped"))
    ]  # fmt: skip
    repo.write("fixtures/panels/mini.toml", PANEL)
    repo.write("fixtures/tasks/answers/task.toml", TASK)
    repo.write("fixtures/tasks/answers/items.jsonl", "\n".join(items))
    repo.write("fixtures/tasks/answers/prompts/pairwise.user.j2", PROMPT)
    repo.write("fixtures/standins/answers/pairwise.jsonl", "\n".join(replies))
    return repo


@pytest.mark.slow("whole runs")
def test_the_shipped_questions_answer_for_position_and_length(desk) -> None:
    desk.run("--record=missing", "-k", "usable_replies")
    assert list((desk / "cassettes" / "desk" / "answers" / "pairwise").glob("*.jsonl"))
    run = desk.run()
    found = {(r["estimate"]["metric"], r["subject"].get("judge")): r["estimate"]
             for r in (*run.results["verdicts"], *run.results["measurements"])}  # fmt: skip
    rates = {judge: found["parse_rate", judge]["value"] for judge in ("mira", "noor")}
    assert rates == {"mira": pytest.approx(119 / 120), "noor": 1.0}
    assert found["order_consistency", "mira"]["value"] == 0.0
    assert found["order_consistency", "noor"]["value"] == 1.0
    assert found["slot_preference", "mira"]["value"] == pytest.approx(0.5)
    assert found["slot_preference", "noor"]["value"] == pytest.approx(0.0, abs=1e-12)
    assert found["letter_preference", "noor"]["value"] == pytest.approx(0.0, abs=1e-12)
    per_doubling = {judge: found["choice_length_coefficient", judge]["value"] for judge in ("mira", "noor")}
    assert per_doubling["noor"] > 0 > per_doubling["mira"], "each beyond what the other gives to length"
    missing = {need for row in run.results["not_asked"] for need in row["missing"]}
    assert {"scores", "length_twins"} <= missing
