"""Examines planted judges as `pytest evals/` would: the evals' own functions, the real metrics, the real gates."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from recuse.gates import Gates
from recuse.schema import Estimate, Estimates, Verdict
from recuse.suite import Suite

ROOT = Path(__file__).resolve().parents[2]
FAIR = ("fair-1", "fair-2", "fair-3", "fair-4")
ASKED = {"task": "merchant_risk", "protocol": "rubric"}


def suite(root: Path, record: str = "none", judges: tuple[str, ...] = ()) -> Suite:
    """Panel `planted` with its cassettes below `root`."""
    if not (root / "fixtures").exists():
        (root / "fixtures").symlink_to(ROOT / "fixtures", target_is_directory=True)
    return Suite.from_options(
        root=root,
        panels=["planted"],
        judges=list(judges),
        record=record,
        yes=False,
        models=root / "models",
        gates=ROOT / "evals" / "gates.toml",
        distributed=False,
    )


def strict_gates() -> Gates:
    """The gates of evals/gates.toml, nothing accepted."""
    return dataclasses.replace(Gates.load(ROOT / "evals" / "gates.toml", date(2026, 1, 1)), accepted_faults=())


@dataclasses.dataclass(frozen=True)
class Panel:
    """What the evals' fixtures would be for some judges of the panel."""

    ratings: pd.DataFrame
    own: Mapping[str, str]
    task: Any
    human_finals: pd.DataFrame
    gates: Gates

    def only(self, *judges: str) -> Panel:
        kept = self.ratings[self.ratings["judge"].isin(judges)]
        return dataclasses.replace(self, ratings=kept, own={j: t for j, t in self.own.items() if j in judges})

    def with_ratings(self, ratings: pd.DataFrame) -> Panel:
        return dataclasses.replace(self, ratings=ratings)

    def verdicts(self) -> list[Verdict]:
        """Of every gated test in evals/ that asks what the panel answers."""
        found: list[Verdict] = []

        def gate(name: str, measured: Estimate | Estimates, **subject: str) -> bool:
            found.append(self.gates.decide(name, measured, {"task": "merchant_risk", "panel": "planted", **subject}))
            return True

        for test, arguments in self._tests():
            test(**arguments, gate=gate)
        return found

    def _tests(self) -> Iterator[tuple[Callable[..., None], dict[str, Any]]]:
        for path in sorted((ROOT / "evals").glob("test_*.py")):
            module = _module(path)
            for name, test in [*vars(module).items()]:
                wanted = inspect.signature(test).parameters if name.startswith("test_") else {}
                if "gate" in wanted and _asked(module, test) == ASKED:
                    given = {
                        "ratings": self.ratings,
                        "own": self.own,
                        "task": self.task,
                        "measure": lambda *_, **__: None,
                    }
                    given["human_finals"] = self.human_finals
                    fixed = {key: value for key, value in given.items() if key in wanted}
                    yield from ((test, fixed | varied) for varied in self._varied(test, wanted))

    def _varied(self, test: Callable[..., None], wanted: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        levels = {mark.args[0]: mark.args[1] for mark in _marks(test) if mark.name == "parametrize"}
        levels |= {"judge": list(self.ratings["judge"].unique())} if "judge" in wanted else {}
        levels |= {"author": list(self.own)} if "author" in wanted else {}
        for values in itertools.product(*levels.values()):
            yield dict(zip(levels, values, strict=True))


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examined_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _asked(module: ModuleType, test: Callable[..., None]) -> dict[str, str]:
    general = getattr(module, "pytestmark", [])
    marks = [*(general if isinstance(general, list) else [general]), *_marks(test)]
    return {k: v for mark in marks if mark.name == "elicits" for k, v in mark.kwargs.items()}


def _marks(test: Callable[..., None]) -> list[Any]:
    return list(getattr(test, "pytestmark", []))
