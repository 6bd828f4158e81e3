"""What the pictures of docs/ show: an upgrade of a judge that may be merged and one that may not, both of the panel
`rewardbench`, and a limit that was widened in a repository made up for it, whose judges are scripted: quality of a text
plus noise of a fixed seed; so are a run in which nothing changed, a prompt that nobody recorded, and an acceptance that
expired. The last is a file of thirty tickets."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
RATINGS = ROOT / "fixtures" / "ratings" / "rewardbench.csv.gz"
TEXTS = 60
REFUSED = ("gpt-5.4-mini,prompt=base", "gpt-5.4-nano,prompt=base")
REPEATS = 2
STEP = 0.1

PYPROJECT = """
[tool.pytest.ini_options]
addopts = "--import-mode=importlib -p no:cacheprovider -p no:hypothesispytest"
recuse_panels = ["fixtures/panels/desk.toml"]
"""
TASK = """
name = "support_replies"
criteria_total = "total"
scale = { minimum = 0, maximum = 10, step = 0.1 }
criterion = [{ id = "helpful" }, { id = "correct" }]

[[target]]
id = "assistant"
label = "The assistant"
anonymous = "Assistant A"

[people]
file = "people.csv"
"""
PROMPT_FILE = "fixtures/tasks/support_replies/prompts/rubric.user.j2"
PROMPT = "A customer got this reply from {{ author_label }}: {{ reply }} Score it.\n"
PANEL = """
name = "desk"
description = "Judges of a support desk, scripted for this picture."
provenance = "scripted"
source = "tests/pictures/scenes.py"

[stand_in]
kind = "table"
folder = "fixtures/standins"

[[task]]
name = "support_replies"
protocols = ["rubric"]
repeats = {{ rubric = {repeats} }}
"""
JUDGE = """
[[judge]]
name = "{name}"
wire = "openai_chat"
base_url = "http://{name}.desk.invalid/v1"
model = "{name} (scripted)"
"""
EVAL = '''"""Does a judge answer, and does it say the same thing twice?"""

import pytest

from recuse.papers.merchant_risk import score_repeats
from recuse.metrics import coverage

pytestmark = pytest.mark.asks("scores")


def test_parse_rate(ratings, gate):
    assert gate("parse_rate", coverage.parse_rate(ratings))


@pytest.mark.asks("repeats")
def test_repeat_difference(ratings, gate):
    assert gate("repeat_difference", score_repeats.repeat_difference(ratings))
'''
GATES = """
[parse_rate]
at_least = 0.95
decide = "point"
label = "readable"
reason = "one lost reply in twenty is what the desk can still check by hand"

[repeat_difference]
at_most = 0.5
label = "spread over repeats"
reason = "half a point on a scale of ten: below it, two replies tell texts apart that people tell apart"

"""
ACCEPTED = """
[[accepted]]
gate = "repeat_difference"
subject = { judge = "vendor" }
accept = { at_most = 3.0 }
reason = "its next version is steadier, the vendor says"
until = 2026-01-31
"""


Run = Callable[..., object]
"""Runs pytest over the evals of a folder: run(folder, *options)."""


def run_pytest(folder: Path, *options: str) -> None:
    """In a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    command = [sys.executable, "-m", "pytest", "evals", *options]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)


def decision(folder: Path) -> str:
    """The line that its last report begins with."""
    results = json.loads((folder / "reports" / "results.json").read_text(encoding="utf-8"))
    return str(results["decision"]["lines"][0])


# --------------------------------------------------------------------------- the changes


def green_upgrade(folder: Path, run: Run) -> None:
    """A judge in the place of a smaller one."""
    _compare(folder, "gpt-5.4-nano", "gpt-5.4-mini")


def refused_upgrade(folder: Path, run: Run) -> None:
    """The smaller one in its place again, by the prompt that both were asked by."""
    _compare(folder, *REFUSED)


def _compare(folder: Path, incumbent: str, candidate: str) -> None:
    _recuse(folder, "compare", str(RATINGS), incumbent, candidate)


def _recuse(folder: Path, *arguments: str) -> None:
    """A command that writes its page and results where pytest would."""
    reports = folder / "reports"
    reports.mkdir(parents=True)
    written = ["--html", str(reports / "index.html"), "--json", str(reports / "results.json")]
    command = [sys.executable, "-m", "recuse.cli", *arguments, *written]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=False)


def unchanged(folder: Path, run: Run) -> None:
    """The same judges, the same answers, the same limits."""
    _main(folder, run)
    _commit(folder)
    run(folder, "--baseline")


def prompt_not_recorded(folder: Path, run: Run) -> None:
    """A line more in the prompt, and nobody recorded what the judges answer to it."""
    _main(folder, run)
    _commit(folder)
    prompt = folder / PROMPT_FILE
    prompt.write_text(f"{prompt.read_text(encoding='utf-8')}Be strict.\n", encoding="utf-8")
    run(folder, "--baseline")


def model_swapped(folder: Path, run: Run) -> None:
    """Another model under the name of the judge in use, recorded again: one and a half points stricter."""
    _main(folder, run)
    _commit(folder)
    _texts(folder, {"judge_1": lambda quality, noise: quality - 1.5 + noise, "neutral": _plain})
    _write(folder, "fixtures/panels/desk.toml", _panel().replace("judge_1 (scripted)", "judge_1-v2 (scripted)"))
    run(folder, "--record=all", "--yes", "--baseline")


def acceptance_expired(folder: Path, run: Run) -> None:
    """A judge that never says the same thing twice, accepted until a day that has passed."""
    _with_vendor(folder, run)
    gates = folder / "evals" / "gates.toml"
    gates.write_text(gates.read_text(encoding="utf-8") + ACCEPTED, encoding="utf-8")
    run(folder, "--update-baseline", "--because", "vendor is known to fail, until its new version is out")
    _commit(folder)
    run(folder, "--baseline")


def thirty_tickets(folder: Path, run: Run) -> None:
    """A file of thirty tickets that two people and a judge passed or failed."""
    chance = random.Random(3)
    rows = []
    for n in range(30):
        right = n % 3 > 0
        people = [right if chance.random() < 0.95 else not right for _ in range(3)]
        rows.append([f"ticket-{n:02d}", *("pass" if passed else "fail" for passed in people)])
    _write(folder, "tickets.csv", "\n".join(",".join(row) for row in [["ticket_id", "gpt", "anna", "ben"], *rows]))
    _recuse(folder, "check", str(folder / "tickets.csv"))


def widened_limit(folder: Path, run: Run) -> None:
    """A judge that never says the same thing twice, and a limit that was moved until it passes."""
    _with_vendor(folder, run)
    gates = folder / "evals" / "gates.toml"
    gates.write_text(gates.read_text(encoding="utf-8").replace("at_most = 0.5", "at_most = 3.0"), encoding="utf-8")
    run(folder, "--baseline")


SCENES: dict[str, tuple[Callable[[Path, Run], None], str]] = {
    "unchanged": (unchanged, "This change: merge: nothing changed."),
    "green-upgrade": (
        green_upgrade,
        "This change: merge: gpt-5.4-mini may replace gpt-5.4-nano: it puts the right response first more often.",
    ),
    "refused-upgrade": (refused_upgrade, "This change: do not merge: gpt-5.4-nano repeats itself less well."),
    "widened-limit": (
        widened_limit,
        "This change: decide: limit of spread over repeats widened; without that vendor fails.",
    ),
    "prompt-not-recorded": (
        prompt_not_recorded,
        "This change: no decision: desk/support_replies/rubric cannot be replayed: the prompt changed; 480 answers are "
        "not recorded (2 tests unfinished).",
    ),
    "model-swapped": (
        model_swapped,
        "This change: do not merge: judge_1 has another model: it scores further from your people.",
    ),
    "acceptance-expired": (
        acceptance_expired,
        "This change: decide: 1 accepted failure expired on 2026-01-31; nothing in this change caused it.",
    ),
    "thirty-tickets": (thirty_tickets, "gpt is undecided to decide: it needs about 80 more items."),
}
"""Picture -> what makes the report, and what it begins with."""


# --------------------------------------------------------------------------- the repository before


def _main(folder: Path, run: Run, **candidate: Callable[[float, float], float]) -> None:
    """The repository with two judges in use, recorded, and its baseline."""
    _write(folder, "pyproject.toml", PYPROJECT)
    _write(folder, "evals/test_steady.py", EVAL)
    _write(folder, "evals/gates.toml", GATES)
    _texts(folder, {"judge_1": _plain, "neutral": _plain, **candidate})
    _write(folder, "fixtures/panels/desk.toml", _panel())
    run(folder, "--record=missing", "--update-baseline")


def _with_vendor(folder: Path, run: Run) -> None:
    """The same with a third judge, which never says the same thing twice."""
    _main(folder, run, vendor=lambda quality, noise: quality + 5 * noise)
    _write(folder, "fixtures/panels/desk.toml", _panel() + JUDGE.format(name="vendor"))
    run(folder, "--record=missing", "--update-baseline", "--because", "the first run: vendor is known to fail")


def _commit(folder: Path) -> None:
    """What a change is compared with is the commit that is checked out."""
    git = ["git", "-c", "user.name=desk", "-c", "user.email=desk@desk.invalid", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "the judges in use"]):
        subprocess.run([*git, *command], cwd=folder, check=True, capture_output=True)


def _panel() -> str:
    return PANEL.format(repeats=REPEATS) + JUDGE.format(name="judge_1") + JUDGE.format(name="neutral")


def _plain(quality: float, noise: float) -> float:
    return quality + noise


def _texts(folder: Path, judges: dict[str, Callable[[float, float], float]]) -> None:
    """Texts of every quality, what two people say of them, and what each judge replies."""
    chance = random.Random(5)
    quality = {f"reply-{n:02d}": chance.uniform(3, 8.5) for n in range(TEXTS)}
    items = [{"id": name, "target": "assistant", "fields": {"reply": f"Text {name}."}} for name in quality]
    people = [
        f"{person},{name},assistant,{_score(q + chance.gauss(0, 0.4))}"
        for name, q in quality.items()
        for person in ("ann", "ben")
    ]
    replies = [
        {"judge": judge, "item": name, "repeat": repeat, "text": _reply(score(q, chance.gauss(0, 0.2)))}
        for judge, score in judges.items()
        for name, q in quality.items()
        for repeat in range(REPEATS)
    ]
    task = "fixtures/tasks/support_replies"
    _write(folder, f"{task}/task.toml", TASK)
    _write(folder, f"{task}/items.jsonl", "\n".join(map(json.dumps, items)))
    _write(folder, f"{task}/people.csv", "\n".join(["rater,item,target,score", *people]))
    _write(folder, PROMPT_FILE, PROMPT)
    _write(folder, "fixtures/standins/support_replies/rubric.jsonl", "\n".join(map(json.dumps, replies)))


def _score(value: float) -> float:
    return round(min(10.0, max(0.0, value)) / STEP) * STEP


def _reply(value: float) -> str:
    score = round(_score(value), 1)
    about = {"score": score, "why": "As the rubric says."}
    return json.dumps({"helpful": about, "correct": about, "total": score})


def _write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text.strip() + "\n", encoding="utf-8")
