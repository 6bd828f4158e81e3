"""Examines planted judges as `pytest evals/` would: the evals' own functions, the real metrics, the real gates."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from recuse.gates import Gates
from recuse.ratings import Ratings
from recuse.ratings.needs import offers_of
from recuse.schema import Estimate, Estimates, Verdict, members
from recuse.suite import Elicitation, Suite
from recuse.suite.questions import missing

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
        """Of every gate that evals/ ask for and that the panel can be asked, whatever its judges are used for."""
        found: list[Verdict] = []

        def gate(name: str, measured: Estimate | Estimates, **subject: str) -> bool:
            asked = {"task": ELICITATION.task, "panel": ELICITATION.panel, "protocol": ELICITATION.protocol, **subject}
            found.extend(self.gates.decide(name, measured, asked))
            return True

        for test in self._tests("gate"):
            test(gate=gate, measure=lambda *_, **__: None)
        return found

    def measured(self, metric: str, judge: str) -> list[Estimate]:
        """What evals/ measure of a judge and gate nowhere."""
        found: list[Estimate] = []

        def measure(measured: Estimate | Estimates, **subject: str) -> None:
            found.extend(e for names, e in members(measured) if e.metric == metric and names.get("judge") == judge)

        for test in self._tests("measure", named=f"test_{metric}"):
            test(measure=measure)
        return found

    @property
    def offers(self) -> frozenset[str]:
        return offers_of(self.ratings)

    def _tests(self, asking: str, named: str = "test_") -> Iterator[Callable[..., None]]:
        """Those that take `asking` and that the panel offers enough for; each takes what it may want, by name."""
        for path in sorted((ROOT / "evals").glob("test_*.py")):
            module = _module(path)
            for name, test in [*vars(module).items()]:
                wanted = list(inspect.signature(test).parameters) if name.startswith(named) else []
                if asking in wanted and not missing(_needs(module, test), self.offers):
                    yield partial(_call, test, wanted, self.ratings)


def _call(test: Callable[..., None], wanted: list[str], ratings: Ratings, **given: Callable[..., Any]) -> None:
    test(**{name: {"ratings": ratings, **given}[name] for name in wanted})


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
