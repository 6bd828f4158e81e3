"""A small repository with three recorded judges of support replies, its baseline committed on main, and a branch on
which somebody changes something. `vendor` scores a point and a half above people, which is accepted for a year."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from recuse.cassettes import record_format
from recuse.elicitation.plan import headers
from recuse.gates import Gates, baseline_file
from recuse.schema import Call
from recuse.suite import Elicitation, Selection

ROOT = Path(__file__).resolve().parents[2]
TASK, PANEL = "fixtures/tasks/replies", "fixtures/panels/desk.toml"
TEXTS, REPEATS = 24, 2
SCREEN = 25
"""Lines of ours that a terminal shows before anybody scrolls."""

PYPROJECT = """
[tool.pytest.ini_options]
addopts = "--import-mode=importlib -p no:cacheprovider -p no:hypothesispytest"
pythonpath = ["."]
recuse_panels = ["fixtures/panels/desk.toml"]
"""
TASK_TOML = """
name = "replies"
scale = { minimum = 0, maximum = 10, step = 0.1 }
criterion = [{ id = "helpful" }]
target = [{ id = "assistant", anonymous = "Assistant A" }]

[people]
file = "people.csv"
simulated = true
"""
PANEL_TOML = """
name = "desk"
description = "Judges of a support desk."
provenance = "recorded"
source = "made for these tests"

[[task]]
name = "replies"
protocols = ["rubric"]
repeats = { rubric = 2 }
factors = { rubric = { names = ["hidden"] } }
"""
JUDGE = """
[[judge]]
name = "{name}"
wire = "openai_chat"
base_url = "https://{name}.example/v1"
model = "{name}-1"
"""
FILES = {
    "evals/test_steady.py": '''
        """Does a judge answer, and say the same twice?"""

        import pytest

        from recuse import measures

        pytestmark = pytest.mark.asks("scores")


        def test_parse_rate(ratings, gate):
            assert gate("parse_rate", measures.parse_rate(ratings))


        @pytest.mark.asks("repeats")
        def test_repeat_difference(ratings, gate):
            assert gate("repeat_difference", measures.repeat_difference(ratings))
        ''',
    "evals/test_people.py": '''
        """Does a judge score as people do?"""

        import pytest

        from desk.offsets import offset
        from recuse import measures


        @pytest.mark.asks("scores", "people")
        def test_human_offset(ratings, gate):
            assert gate("human_offset", offset(ratings))
        ''',
    "desk/__init__.py": "",
    "desk/offsets.py": """
        import json
        from pathlib import Path

        from recuse import measures

        WEIGHTS = json.loads((Path(__file__).parent / "weights.json").read_text())

        def offset(ratings):
            return measures.human_offset(ratings)
        """,
    "desk/weights.json": "[1]",
    "Makefile": "judges:\n\tpytest evals/ --baseline",
    "requirements.txt": "numpy\nrecuse @ git+https://git.example/recuse.git@0123456",
    "uv.lock": """
        version = 1

        [[package]]
        name = "numpy"
        version = "2.3.1"
        source = { registry = "https://pypi.example/simple" }

        [[package]]
        name = "recuse"
        version = "1.0"
        source = { git = "https://git.example/recuse.git?rev=0123456" }
        """,
    ".github/workflows/evals.yml": """
        jobs: { evals: { steps: [{ run: pytest evals/ --baseline }] } }
        """,
}
GATES = """
[parse_rate]
at_least = 0.95
decide = "point"
reason = "one lost reply in twenty can be checked by hand"

[repeat_difference]
at_most = 1.0
reason = "a point on a scale of ten"

[human_offset]
within = [-1.0, 1.0]
reason = "a point on a scale of ten"
"""
ACCEPTED = f"""
[[accepted]]
gate = "human_offset"
subject = {{ judge = "vendor" }}
accept = {{ within = [-1.0, 2.0] }}
until = {date.today().year + 1}-12-31
reason = "known"
"""

Says = Callable[[Call], str]
"""What a provider's answer to a call is: its body."""


def quality(item: str) -> float:
    """What a text is worth."""
    return random.Random(item).uniform(3, 7)


def answers(day: str, *, model: str = "", copied: str = "", ids: str = "", **above: float) -> Says:
    """Judges asked on a day: quality, what they add (vendor 1.5 unless `above` says otherwise), and noise; another day
    has other noise and other ids, and monday is the recording of main. The same whatever the request was. `model`: what
    answers name; `copied`: whose replies they are; `ids`: makes ids differ, and "few" are some of a hundred."""

    def says(call: Call) -> str:
        judge = copied or call.judge
        about = f"{day} {judge} {call.item} {call.repeat}"
        score = quality(call.item) + {"vendor": 1.5, **above}.get(judge, 0.0) + random.Random(about).gauss(0, 0.2)
        content = {"helpful": {"score": round(min(score, 10.0), 1), "why": f"As {call.item} of {day} shows."}}
        message = {"role": "assistant", "content": json.dumps(content)}
        name = hashlib.sha256((about + ids).encode()).hexdigest()[:16]
        return json.dumps({
            "id": f"chatcmpl-{int(name, 16) % 100 if ids == 'few' else name}", "object": "chat.completion",
            "created": 1_790_000_000, "model": model or json.loads(call.request.body)["model"],
            "usage": {"prompt_tokens": 40, "completion_tokens": 12},
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        })  # fmt: skip

    return says


def sign(folder: Path, says: Says, judges: tuple[str, ...] = ()) -> None:
    """Write the cassettes of all judges, or of some, for what the panel asks today: right names, keys and checksums."""
    selection = Selection.load(folder, [PANEL])
    panel = selection.panels["desk"]
    for candidate in ("", *panel.replaces):
        plan = selection.plan(Elicitation("desk", "replies", "rubric", candidate))
        lines: dict[str, list[bytes]] = {}
        opening, keys = headers(panel, plan), set()
        for call in plan.calls:
            if judges and call.judge not in judges:
                continue
            lines.setdefault(call.cell, [record_format.header_line(opening[call.cell])])
            if call.key not in keys:
                asked = call.request
                lines[call.cell].append(record_format.request_line(call.key, (asked.method, asked.url, asked.body)))
            keys.add(call.key)
            kind = {"content-type": "application/json"}
            lines[call.cell].append(record_format.answer_line(call.key, call.repeat, 200, kind, says(call).encode()))
        for cell, each in lines.items():
            path = folder / "cassettes" / f"{cell}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(each))


class PullRequest:
    """The repository on a branch, what is changed in it, and what a run then says."""

    answers, quality = staticmethod(answers), staticmethod(quality)

    def __init__(self, root: Path, run_pytest: Callable[..., pytest.RunResult]) -> None:
        self.root, self._run_pytest = root, run_pytest

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        write(self.root, path, text)

    def add(self, path: str, text: str) -> None:
        (self.root / path).write_text(self.read(path) + text, encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text, f"{path} has no {old!r}"
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    def delete(self, path: str) -> None:
        (self.root / path).unlink()

    def on_main(self, change: Callable[[], None]) -> None:
        """Change the base commit, and begin the branch there with the baseline of what it has now."""
        self.git("checkout", "-q", "main")
        change()
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "main")
        os.environ["RECUSE_BASE"] = self.git("rev-parse", "main")
        self.run_only("--update-baseline", "--because", "known")
        self.git("commit", "-q", "--allow-empty", "-am", "main")
        os.environ["RECUSE_BASE"] = self.git("rev-parse", "main")
        self.git("checkout", "-q", "-B", "change")

    def sign(self, says: Says, *judges: str) -> None:
        sign(self.root, says, judges)

    def calls(self, judge: str) -> list[Call]:
        """What the panel asks a judge today."""
        plan = Selection.load(self.root, [PANEL]).plan(Elicitation("desk", "replies", "rubric"))
        return [call for call in plan.calls if call.judge == judge]

    def git(self, *words: str) -> str:
        return git(self.root, *words)

    def rewrite_baseline(self, run: Run) -> None:
        """As this very branch gives it, and without a reason."""
        gates = Gates.load(self.root / "evals" / "gates.toml", date.today())
        baseline_file.write(self.root / "reports" / "baseline.json", run.results, gates, None)

    def run(self, *options: str) -> Run:
        """What continuous integration does with the branch."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a change")
        return self.run_only(*options)

    def run_only(self, *options: str) -> Run:
        """The run alone, of what is there."""
        shutil.rmtree(self.root / "reports" / "partial", ignore_errors=True)
        with pytest.MonkeyPatch.context() as environment:  # what a branch sets there ends with its run
            environment.setattr(os, "environ", os.environ.copy())
            return Run(self._run_pytest(self.root, "evals", "--baseline", *options), self.root)


class Run:
    """`word`: on the change; `screen`: what the terminal shows of ours first."""

    def __init__(self, result: pytest.RunResult, root: Path) -> None:
        self.code, self.text = int(result.ret), f"{result.stdout}\n{result.stderr}"
        written = [*(root / "reports").glob("**/results.json")]
        self.results: dict[str, Any] = json.loads(written[-1].read_text(encoding="utf-8")) if written else {}
        lines = str(result.stdout).splitlines()
        first = next((n for n, line in enumerate(lines) if line.startswith("This change: ")), len(lines))
        self.screen = " ".join(" ".join(lines[first : first + SCREEN]).split())
        self.word = self.screen.removeprefix("This change: ").partition(":")[0]  # "" where nothing was run


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(textwrap.dedent(text).strip() + "\n", encoding="utf-8")


def git(root: Path, *words: str) -> str:
    about = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *about, *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def upgrade_gates() -> str:
    """The shipped limits of an upgrade."""
    tables = re.split(r"\n(?=\[)", (ROOT / "evals" / "gates.toml").read_text(encoding="utf-8"))
    kept = "\n".join(table for table in tables if table.startswith("[upgrade_"))
    return kept.replace("[upgrade_losses]\nat_most = 0.05", "[upgrade_losses]\nat_most = 0.2")  # for so few texts


@pytest.fixture(scope="session")
def main_branch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("main")
    write(root, "pyproject.toml", PYPROJECT)
    write(root, f"{TASK}/task.toml", TASK_TOML)
    write(root, f"{TASK}/prompts/rubric.user.j2", "Score this reply: {{ reply }}\n")
    write(root, PANEL, PANEL_TOML + "".join(JUDGE.format(name=name) for name in ("steady", "neutral", "vendor")))
    items = [f"reply-{n:02d}" for n in range(TEXTS)]
    texts = [{"id": name, "target": "assistant", "fields": {"reply": f"Text {name}."}} for name in items]
    write(root, f"{TASK}/items.jsonl", "\n".join(map(json.dumps, texts)))
    chance = random.Random(3)
    people = [f"{who},{name},assistant,{round(quality(name) + chance.gauss(0, 0.3), 1)}"
              for name in items for who in ("ann", "ben")]  # fmt: skip
    write(root, f"{TASK}/people.csv", "\n".join(["rater,item,target,score", *people]))
    true = [f"{name},{quality(name):.2f}" for name in items]
    write(root, f"{TASK}/true_values.csv", "\n".join(["item,value", *true]))
    for path, text in FILES.items():
        write(root, path, text)
    shutil.copy(ROOT / "evals" / "test_upgrade.py", root / "evals")
    write(root, "evals/gates.toml", GATES + upgrade_gates() + ACCEPTED)
    write(root, ".gitignore", "__pycache__/\n/reports/*\n!/reports/baseline.json\n!/reports/templates/")
    write(root, "README.md", "Judges of a support desk.")
    sign(root, answers("monday"))
    git(root, "init", "-q", "-b", "main")
    return root


@pytest.fixture(scope="session")
def with_baseline(main_branch: Path) -> Path:
    """Made by a run of its own, once."""
    command = [sys.executable, "-m", "pytest", "evals", "-q", "--update-baseline", "--because", "known"]
    done = subprocess.run(command, cwd=main_branch, capture_output=True, text=True, check=False)
    assert (main_branch / "reports" / "baseline.json").is_file(), done.stdout
    git(main_branch, "add", "-A")
    git(main_branch, "commit", "-q", "-m", "main")
    return main_branch


@pytest.fixture
def pr(
    with_baseline: Path, run_pytest: Callable[..., pytest.RunResult], pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> PullRequest:  # fmt: skip
    root = pytester.path
    shutil.copytree(with_baseline, root, dirs_exist_ok=True)
    git(root, "checkout", "-q", "-b", "change")
    monkeypatch.setenv("RECUSE_BASE", git(root, "rev-parse", "main"))
    return PullRequest(root, run_pytest)
