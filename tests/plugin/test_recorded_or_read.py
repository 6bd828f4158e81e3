"""One judge, one word: the same ratings recorded by a panel and read from a file are asked the same, for every use."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.cli import main

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("no_drawn_judges")

EVALS = Path(__file__).parents[2] / "evals"
SYSTEMS, RATERS = ("alpha", "beta", "gamma"), ("ann", "bea", "mira")
PANEL = """
    name = "desk"
    description = "A judge of a help desk."
    provenance = "scripted"
    source = "made for this test"
    use = "{use}"

    [stand_in]
    kind = "table"
    folder = "fixtures/standins"

    [[task]]
    name = "tickets"
    protocols = ["rubric"]
    repeats = {{ rubric = 1 }}
    factors = {{ rubric = {{ names = ["hidden"] }} }}

    [[judge]]
    name = "mira"
    wire = "openai_chat"
    base_url = "http://mira.scripted.invalid/v1"
    model = "mira (scripted)"
"""
TASK = """
    name = "tickets"
    scale = { minimum = 1, maximum = 5, step = 1 }
    thresholds = [4]
    people = { file = "people.csv" }
    target = [{ id = "alpha" }, { id = "beta" }, { id = "gamma" }]

    [[criterion]]
    id = "helpful"
"""


def grades() -> pd.DataFrame:
    """90 answers of three systems on two topics; the judge lifts a system and one of the topics."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame([(f"t{n:02d}", s, "refunds" if n % 3 else "travel") for n in range(30) for s in SYSTEMS],
                         columns=["item", "system", "topic"])  # fmt: skip
    quality = rng.normal(3, 1, len(table)) + table["system"].map(dict(zip(SYSTEMS, (-0.4, 0, 0.4), strict=True)))
    for rater in RATERS:
        lifted = 0.6 * (table["system"] == "gamma") + 0.4 * (table["topic"] == "travel") if rater == "mira" else 0.0
        table[rater] = (quality + lifted + rng.normal(0, 0.5, len(table))).round().clip(1, 5).astype(int)
    return table


def figures(verdict) -> tuple[str, list[float | None]]:
    estimate = verdict["estimate"]
    return verdict["outcome"], [pytest.approx(estimate[name]) for name in ("value", "low", "high")]


DECIDING = {
    "grade": {"human_ceiling", "human_offset", "worst_slice"},
    "decide": {"human_ceiling", "share_bias"},
    "rank": {"system_order", "slice_favour"},
    "estimate": {"human_offset"},
}


@pytest.fixture
def desk(repo):
    for folder in ("cassettes", "fixtures", "evals"):
        shutil.rmtree(repo / folder)
    shutil.copytree(EVALS, repo / "evals", ignore=shutil.ignore_patterns("__pycache__"))
    gates = (repo / "evals" / "gates.toml").read_text(encoding="utf-8")
    repo.write("evals/gates.toml", gates.split("[[accepted]]")[0])
    repo.write("fixtures/tasks/tickets/task.toml", TASK)
    repo.write("fixtures/tasks/tickets/prompts/rubric.user.j2", "Judge this answer: {{ answer }}")
    table = grades()
    people = table.melt(["item", "system"], ["ann", "bea"], "rater", "score").rename(columns={"system": "target"})
    repo.write("fixtures/tasks/tickets/people.csv", people.to_csv(index=False))
    items, replies = [], []
    for row in table.to_dict("records"):
        fields = {"answer": f"Answer to {row['item']}.", "topic": row["topic"]}
        items.append(json.dumps({"id": row["item"], "target": row["system"], "fields": fields}))
        text = json.dumps({"helpful": {"score": row["mira"], "why": "So."}})
        replies.append(json.dumps({"judge": "mira", "item": row["item"], "target": row["system"], "text": text}))
    repo.write("fixtures/tasks/tickets/items.jsonl", "\n".join(items))
    repo.write("fixtures/standins/tickets/rubric.jsonl", "\n".join(replies))
    return repo


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("use", DECIDING)
def test_recorded_and_in_a_file_the_same_gates_say_the_same(desk, use: str) -> None:
    desk.write("fixtures/panels/mini.toml", PANEL.format(use=use))
    desk.run("--record=missing", "-k", "parse_rate")
    recorded = {verdict["gate"]: figures(verdict) for verdict in desk.run().results["verdicts"]}
    grades().to_csv(desk / "grades.csv", index=False)
    out = desk / "check.json"
    command = ["check", str(desk / "grades.csv"), "--people", "ann,bea", "--judges", "mira", "--scale", "1-5"]
    main([*command, "--json", str(out), "--use", use, *(["--threshold", "4"] if use == "decide" else [])])
    in_file = {verdict["gate"]: figures(verdict) for verdict in json.loads(out.read_text())["verdicts"]}
    assert {gate: recorded[gate] for gate in in_file} == in_file
    assert DECIDING[use] <= in_file.keys()
