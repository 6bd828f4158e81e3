"""Examines planted judges as `pytest evals/` would: the evals' own functions, the real metrics, the real gates."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

from recuse.gates import Gates
from recuse.offers import design_of, missing, offered
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates, Verdict
from recuse.suite import Elicitation, Suite

ROOT = Path(__file__).resolve().parents[2]
FAIR = ("fair-1", "fair-2", "fair-3", "fair-4")
ELICITATION = Elicitation("planted", "merchant_risk", "rubric")


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
    """What the evals would be given for some judges of the panel."""

    ratings: Ratings
    gates: Gates

    def only(self, *judges: str) -> Panel:
        """The same panel with these judges, whose peers are one another."""
        table = self.ratings.table
        return self.with_table(table[table["rater"].isin(judges)])

    def with_table(self, table: Any) -> Panel:
        return dataclasses.replace(self, ratings=dataclasses.replace(self.ratings, table=table, _memory={}))

    def verdicts(self) -> list[Verdict]:
        """Of every gated test in evals/ that asks for no more than the panel offers."""
        found: list[Verdict] = []

        def gate(name: str, measured: Estimate | Estimates, **subject: str) -> bool:
            asked = {"task": ELICITATION.task, "panel": ELICITATION.panel, "protocol": ELICITATION.protocol, **subject}
            found.extend(self.gates.decide(name, measured, asked))
            return True

        given = {"ratings": self.ratings, "gate": gate, "measure": lambda *_, **__: None}
        for test, wanted in self._tests():
            test(**{name: given[name] for name in wanted})
        return found

    def _tests(self) -> Iterator[tuple[Callable[..., None], list[str]]]:
        offers = offered(design_of(self.ratings))
        for path in sorted((ROOT / "evals").glob("test_*.py")):
            module = _module(path)
            for name, test in [*vars(module).items()]:
                wanted = list(inspect.signature(test).parameters) if name.startswith("test_") else []
                if "gate" in wanted and not missing(_needs(module, test), offers):
                    yield test, wanted


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examined_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _needs(module: ModuleType, test: Callable[..., None]) -> list[str]:
    general = getattr(module, "pytestmark", [])
    marks = [*(general if isinstance(general, list) else [general]), *getattr(test, "pytestmark", [])]
    return [need for mark in marks if mark.name == "asks" for need in mark.args]
