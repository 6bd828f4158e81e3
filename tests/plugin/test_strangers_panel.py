"""A task that nobody here prepared, through a panel, cassettes and the shipped questions, without touching the engine.

Thirty tickets answered by two systems, a grade from 1 to 5 and a pass or fail, two judges (one of them wrote one of the
systems' answers) and two people, each asked once, some replies unreadable, some tickets not seen by people.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

EVALS = Path(__file__).parents[2] / "evals"
JUDGES = {"mira": ("alpha", 0.0), "noor": (None, 0.5)}
SYSTEMS = ("alpha", "beta")
TICKETS = 30
UNREADABLE = {("mira", "ticket-04", "alpha"), ("noor", "ticket-11", "beta")}

PANEL = """
    name = "desk"
    description = "Two judges of a help desk."
    provenance = "scripted"
    source = "made for this test"

    [stand_in]
    kind = "table"
    folder = "fixtures/standins"

    [[task]]
    name = "tickets"
    protocols = ["rubric"]
    repeats = { rubric = 1 }
    factors = { rubric = { names = ["hidden"] } }

    [[judge]]
    name = "mira"
    wire = "openai_chat"
    base_url = "http://mira.scripted.invalid/v1"
    model = "mira (scripted)"
    author = "alpha"

    [[judge]]
    name = "noor"
    wire = "anthropic_messages"
    base_url = "http://noor.scripted.invalid/v1"
    model = "noor (scripted)"
"""
TASK = """
    name = "tickets"
    scale = { minimum = 1, maximum = 5, step = 1 }
    people = { file = "people.csv" }
    target = [{ id = "alpha" }, { id = "beta" }]

    [[criterion]]
    id = "helpful"

    [[criterion]]
    id = "safe"
    options = ["fail", "pass"]
"""


def grade(rater: str, ticket: int, system: str) -> int:
    """Beta is a grade better; Mira lifts her own system by one, Noor gives every other ticket one more."""
    base = 2 + (ticket % 2) + (system == "beta")
    return min(5, base + (rater == "mira" and system == "alpha") + (rater == "noor" and ticket % 2))


def passes(rater: str, ticket: int, system: str) -> str:
    return "fail" if ticket % 3 == 0 or (rater == "noor" and ticket == 1) else "pass"


def replies() -> str:
    lines = []
    for judge in JUDGES:
        for ticket in range(TICKETS):
            for system in SYSTEMS:
                name = f"ticket-{ticket:02d}"
                said = {"helpful": {"score": grade(judge, ticket, system), "why": "So."},
                        "safe": {"score": passes(judge, ticket, system), "why": "So."}}  # fmt: skip
                text = "I lost count." if (judge, name, system) in UNREADABLE else json.dumps(said)
                lines.append(json.dumps({"judge": judge, "item": name, "target": system, "text": text}))
    return "\n".join(lines)


def people() -> str:
    file = io.StringIO()
    rows = csv.writer(file)
    rows.writerow(["rater", "item", "target", "criterion", "score", "response"])
    for person, seen in (("ann", 20), ("bea", 30)):
        for ticket in range(seen):
            for system in SYSTEMS:
                place = [person, f"ticket-{ticket:02d}", system]
                rows.writerow([*place, "helpful", grade(person, ticket, system), ""])
                rows.writerow([*place, "safe", "", passes(person, ticket, system)])
    return file.getvalue()


@pytest.fixture
def desk(repo):
    """The repository of that team, with the shipped questions and gates."""
    for folder in ("cassettes", "fixtures", "evals"):
        shutil.rmtree(repo / folder)
    shutil.copytree(EVALS, repo / "evals", ignore=shutil.ignore_patterns("__pycache__"))
    gates = (repo / "evals" / "gates.toml").read_text(encoding="utf-8")
    (repo / "evals" / "gates.toml").write_text(gates.split("[[accepted]]")[0], encoding="utf-8")
    repo.write("fixtures/panels/mini.toml", PANEL)
    repo.write("fixtures/tasks/tickets/task.toml", TASK)
    items = [
        json.dumps({"id": f"ticket-{n:02d}", "target": system, "fields": {"answer": f"Answer {n} of {system}."}})
        for n in range(TICKETS)
        for system in SYSTEMS
    ]
    repo.write("fixtures/tasks/tickets/items.jsonl", "\n".join(items))
    repo.write("fixtures/tasks/tickets/prompts/rubric.user.j2", "Judge this answer: {{ answer }}")
    repo.write("fixtures/tasks/tickets/people.csv", people())
    repo.write("fixtures/standins/tickets/rubric.jsonl", replies())
    return repo


def test_the_shipped_questions_answer_what_the_table_can_answer_and_say_what_it_cannot(desk) -> None:
    desk.run("--record=missing", "-k", "parse_rate")
    run = desk.run()
    found = {(v["estimate"]["metric"], v["subject"].get("judge"), v["subject"].get("criterion")): v["estimate"]
             for v in [*run.results["verdicts"], *run.results["measurements"]]}  # fmt: skip
    shares = {judge: found["parse_rate", judge, None]["value"] for judge in JUDGES}
    assert shares == pytest.approx(dict.fromkeys(JUDGES, 59 / 60))
    lenient = found["leniency", "noor", "helpful"]
    # where both gave a grade Noor is above Mira by one on odd tickets of beta, and on alpha by 0 and below by 1
    assert lenient["value"] == pytest.approx(expected_leniency(), abs=1e-9)
    assert (lenient["over"], lenient["span"], lenient["unit"]) == ("items", 4.0, "points")
    assert found["leniency", "noor", "safe"]["unit"] == "share"
    own = found["self_bias", "mira", "helpful"]
    assert own["value"] == pytest.approx(expected_self_bias(), abs=1e-9)
    assert own["n"] == 29, "one ticket of hers could not be read"
    assert ("human_offset", "mira", "helpful") in found
    missing = {need for row in run.results["not_asked"] for need in row["missing"]}
    assert {"repeats", "names", "choices", "picks"} <= missing
    unlock = {text for row in run.results["not_asked"] for text in row["unlock"]}
    assert "record more repeats of the same question" in unlock


def pairs(system: str) -> list[tuple[int, int]]:
    return [
        (grade("mira", n, system), grade("noor", n, system))
        for n in range(TICKETS)
        if not {("mira", f"ticket-{n:02d}", system), ("noor", f"ticket-{n:02d}", system)} & UNREADABLE
    ]


def expected_leniency() -> float:
    gaps = [noor - mira for system in SYSTEMS for mira, noor in pairs(system)]
    return sum(gaps) / len(gaps)


def expected_self_bias() -> float:
    gaps = [mira - noor for mira, noor in pairs("alpha")]
    return sum(gaps) / len(gaps)
