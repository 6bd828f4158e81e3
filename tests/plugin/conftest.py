"""A repo of the same shape as this one, as small as can be: one task, two texts, three judges, recorded once.

Ann (who wrote alpha) and Eve (who wrote nothing) are fair; Bob gives his own text, beta, two points more when he sees
his name. All three answer through the stand-in of the HTTP client, each in another wire format.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import recuse.suite

FILES = {
    "pyproject.toml": """
        [tool.pytest.ini_options]
        addopts = "--import-mode=importlib -p no:cacheprovider -p no:hypothesispytest"
        recuse_panels = ["fixtures/panels/mini.toml"]
        """,
    "fixtures/tasks/essays/task.toml": """
        name = "essays"
        scale = { minimum = 0, maximum = 10, step = 0.1 }
        criteria_total = "total"
        criterion = [{ id = "clarity" }, { id = "depth" }]

        [[target]]
        id = "alpha"
        label = "Alpha"
        anonymous = "Writer 1"

        [[target]]
        id = "beta"
        label = "Beta"
        anonymous = "Writer 2"
        """,
    "fixtures/tasks/essays/items.jsonl": """
        {"id": "alpha", "target": "alpha", "fields": {"essay": "Short and plain."}}
        {"id": "beta", "target": "beta", "fields": {"essay": "Long and winding."}}
        """,
    "fixtures/tasks/essays/prompts/rubric.user.j2": """
        Score this essay by {{ author_label }}: {{ essay }}
        """,
    "fixtures/panels/mini.toml": """
        name = "mini"
        description = "Three judges of essays."
        provenance = "reconstructed"
        source = "made for these tests"

        [stand_in]
        kind = "table"
        folder = "fixtures/standins"

        [[task]]
        name = "essays"
        protocols = ["rubric"]
        repeats = { rubric = 4 }

        [[judge]]
        name = "ann"
        wire = "openai_chat"
        base_url = "http://ann.reconstructed.invalid/v1"
        model = "ann-1"
        author = "alpha"

        [[judge]]
        name = "bob"
        wire = "gemini_generate"
        base_url = "http://bob.reconstructed.invalid/v1"
        model = "bob-1"
        author = "beta"

        [[judge]]
        name = "eve"
        wire = "anthropic_messages"
        base_url = "http://eve.reconstructed.invalid/v1"
        model = "eve-1"
        """,
    "evals/gates.toml": """
        [self_bias]
        within = [-0.5, 0.5]
        reason = "half a point, for the test"

        [parse_rate]
        at_least = 0.9
        decide = "point"
        reason = "nine in ten, for the test"
        """,
    "evals/test_fairness.py": '''
        """Is a judge fair to its own essays?

        More words.
        """

        import pytest

        from recuse.papers.merchant_risk import score_repeats
        from recuse.metrics import consensus, coverage

        pytestmark = pytest.mark.asks("scores")


        @pytest.mark.asks("authors", "peers")
        def test_self_bias(ratings, gate):
            assert gate("self_bias", consensus.self_bias(ratings))


        def test_parse_rate(ratings, gate):
            assert gate("parse_rate", coverage.parse_rate(ratings))


        def test_scores(ratings, measure):
            measure(score_repeats.score_matrix(ratings))
        ''',
}
ACCEPTED = """
[[accepted]]
gate = "self_bias"
subject = {{ judge = "{judge}", names = "shown" }}
accept = {{ within = [-0.5, {high}] }}
until = {until}
reason = "{judge} is known to like this text"
"""
NEXT_YEAR = date.today().year + 1


class Repo:
    """The repo on disk, and pytest run in it."""

    def __init__(self, root: Path, pytester: pytest.Pytester, run_pytest: Callable[..., pytest.RunResult]) -> None:
        self.root, self._pytester, self._run_pytest = root, pytester, run_pytest

    def __truediv__(self, path: str) -> Path:
        return self.root / path

    def write(self, path: str, text: str) -> Path:
        return write(self.root, path, text)

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) >= 1, f"{path} has no {old!r}"
        (self.root / path).write_text(text.replace(old, new, 1), encoding="utf-8")

    def accept(self, judge: str = "bob", high: float = 2.5, until: str = f"{NEXT_YEAR}-12-31") -> None:
        gates = self.root / "evals" / "gates.toml"
        table = ACCEPTED.format(judge=judge, high=high, until=until)
        gates.write_text(gates.read_text(encoding="utf-8") + table, encoding="utf-8")

    def run(self, *options: str) -> Run:
        """In this process; `evals` unless the options name paths."""
        paths = [] if any(option.startswith("evals") for option in options) else ["evals"]
        return Run(self._run_pytest(self.root, *paths, *options), self.root)

    def run_apart(self, *options: str) -> Run:
        """In a process of its own."""
        return Run(self._pytester.runpytest_subprocess("evals", *options), self.root)

    @property
    def cassettes(self) -> dict[str, bytes]:
        folder = self.root / "cassettes"
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.jsonl"))}

    def cassette(self, cell: str) -> Path:
        return self.root / "cassettes" / "mini" / "essays" / "rubric" / f"{cell}.jsonl"


class Run:
    """What a run of pytest did. `reports`: where it wrote; that of a part of the suite is beside the whole one's."""

    def __init__(self, result: pytest.RunResult, root: Path) -> None:
        self._result = result
        self.code = int(result.ret)
        ended_early = self.code == pytest.ExitCode.USAGE_ERROR or "no tests ran" in str(result.stdout)
        self.outcomes = {} if ended_early else result.parseoutcomes()
        self.text = f"{result.stdout}\n{result.stderr}"
        self.reports = root / "reports" / ("partial" if "report: reports/partial/" in self.text else "")
        assert "INTERNALERROR" not in self.text, self.text

    @property
    def words(self) -> str:
        """The text as if no line were folded."""
        return " ".join(self.text.split())

    @property
    def results(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.reports / "results.json").read_text(encoding="utf-8"))
        return found

    def verdict(self, gate: str, **subject: str) -> dict[str, Any]:
        [found] = [v for v in self.results["verdicts"] if v["gate"] == gate and subject.items() <= v["subject"].items()]
        return dict(found)


def write(root: Path, path: str, text: str) -> Path:
    import textwrap

    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return target


def reply(judge: str, target: str, condition: str, repeat: int) -> str:
    """What a judge says: quality, a ripple over the runs, and Bob's two points."""
    quality = {"alpha": 7.0, "beta": 6.0}[target] + (-0.2, 0.0, 0.2, 0.0)[(repeat + len(judge + target)) % 4]
    quality += 2.0 * (judge == "bob" and target == "beta" and condition == "attributed")
    score = round(quality, 2)
    return json.dumps({name: {"score": score, "why": "So it is."} for name in ("clarity", "depth")} | {"total": score})


def replies() -> list[dict[str, Any]]:
    return [
        {
            "judge": judge,
            "target": target,
            "factors": {"condition": condition},
            "repeat": repeat,
            "text": reply(judge, target, condition, repeat),
        }
        for judge in ("ann", "bob", "eve")
        for target in ("alpha", "beta")
        for condition in ("attributed", "anonymized")
        for repeat in range(4)
    ]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repo with its cassettes, recorded once from the stand-ins."""
    root = tmp_path_factory.mktemp("recorded")
    for path, text in FILES.items():
        write(root, path, text)
    lines = map(json.dumps, replies())
    write(root, "fixtures/standins/essays/rubric.jsonl", "\n".join(lines))
    with opened(root, record="missing") as suite:
        suite.ratings(recuse.suite.Elicitation("mini", "essays", "rubric"))
    return root


def opened(root: Path, record: str = "none", **more: Any) -> recuse.suite.Suite:
    options: dict[str, Any] = {
        "panels": ["fixtures/panels/mini.toml"],
        "judges": [],
        "yes": False,
        "models": root / "models",
        "gates": root / "evals" / "gates.toml",
        "distributed": False,
        **more,
    }
    return recuse.suite.Suite.from_options(root=root, record=record, **options)


@pytest.fixture
def suite_of(recorded: Path) -> Callable[..., recuse.suite.Suite]:
    return lambda root=recorded, **more: opened(root, **more)


@pytest.fixture
def repo(recorded: Path, run_pytest: Callable[..., pytest.RunResult], pytester: pytest.Pytester) -> Repo:
    """A copy of the recorded repo, to be run and broken."""
    shutil.copytree(recorded, pytester.path, dirs_exist_ok=True)
    return Repo(pytester.path, pytester, run_pytest)
