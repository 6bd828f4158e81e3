"""The shipped questions, to be asked of ratings that come from no panel."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recuse.ratings import Ratings
from recuse.ratings.needs import offers_of
from recuse.schema import Estimate, Estimates
from recuse.suite.questions import missing

EVALS = Path(__file__).parents[2] / "evals"


def questions() -> Iterator[tuple[str, Any, list[Any]]]:
    """(name, test function, its marks `asks`) of every shipped question that says what it needs of ratings, the
    function's own marks first."""
    for path in sorted(EVALS.glob("test_*.py")):
        if ".asks(" not in path.read_text(encoding="utf-8"):
            continue
        spec = importlib.util.spec_from_file_location(f"asked_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        general = getattr(module, "pytestmark", [])
        for name, test in inspect.getmembers(module, inspect.isfunction):
            marks = [*getattr(test, "pytestmark", []), *(general if isinstance(general, list) else [general])]
            asks = [mark for mark in (getattr(mark, "mark", mark) for mark in marks) if mark.name == "asks"]
            if name.startswith("test_") and test.__module__ == module.__name__ and asks:
                yield f"{path.stem}.{name}", test, asks


ALL = list(questions())
MARKS = {name: marks for name, _, marks in ALL}
QUESTIONS = {name: (test, [need for mark in marks for need in mark.args]) for name, test, marks in ALL}


def answers(ratings: Ratings, question: str) -> dict[str, Estimate | Estimates]:
    """What a question's own code measures on these ratings, by gate, or by metric where no gate decides."""
    test, needs = QUESTIONS[question]
    assert not missing(needs, offers_of(ratings))
    found: dict[str, Estimate | Estimates] = {}

    def gate(name: str, measured: Estimate | Estimates, **subject: str) -> bool:
        found[name] = measured
        return True

    def measure(measured: Estimate | Estimates, **subject: str) -> None:
        members = [measured] if isinstance(measured, Estimate) else list(measured.values())
        found.update(dict.fromkeys((member.metric for member in members), measured))

    given = {"ratings": ratings, "gate": gate, "measure": measure}
    test(**{name: given[name] for name in inspect.signature(test).parameters})
    return found


def answer(ratings: Ratings, question: str, metric: str, **subject: str) -> Estimate:
    found = answers(ratings, question)[metric]
    assert isinstance(found, Estimates)
    return found.of(**subject)
