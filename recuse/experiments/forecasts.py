"""What gates can show of panels of some size, before anything is recorded: by simulated estimates' sampling
distributions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from recuse.experiments.asking import SIMULATED, gates_of, measured_by, questions_by_gate
from recuse.experiments.sizes import Sizes
from recuse.experiments.upgrade_curves import kinds_of, verdict_on_repeat
from recuse.gates import Gates, Limit
from recuse.gates.explanation import count_of
from recuse.gates.power import factor_to_decide
from recuse.metrics.upgrade import COMPONENTS
from recuse.schema import Verdict

__all__ = ["Forecast", "brought_by_judges", "forecasts", "upgrade_forecasts"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Of one simulated estimate on a fair judge: what the gate can show with `n` of `units`, and `factor` times as many
    for a fair judge to pass with 80 % chance."""

    gate: str
    units: str
    n: int
    fair_passes: float | None
    smallest_fault: float | None
    factor: float | None


def forecasts(folder: Path, sizes: Sizes, draws: int, seed: int, today: date) -> list[Forecast]:
    """What the gates that decide by intervals can show of panels of this size, by each estimate's own sampling
    distribution."""
    gates, questions = gates_of(folder, today), questions_by_gate(folder, sizes)
    rows = []
    for kind, simulate in SIMULATED.items():
        wanted = [q for name, (of, q) in questions.items() if of == kind and gates[name].decide == "interval"]
        for draw in range(draws if wanted else 0):
            measured = measured_by(wanted, simulate(sizes, {}, np.random.default_rng((seed, draw))))
            rows += [
                _forecast(gates, verdict)
                for name, estimates in measured.items()
                for verdict in gates.decide(name, estimates, {"panel": "planned"})
            ]
    return rows


def brought_by_judges(folder: Path, sizes: Sizes, judges: int, today: date) -> list[str]:
    """The gates with intervals that are asked with so many judges and not with one fewer, in the file's order. Both
    judge the same texts, one by each of three systems unless `sizes` says how many."""
    gates, targets = gates_of(folder, today), sizes.targets or 3
    fewer, more = (
        questions_by_gate(folder, replace(sizes, judges=number, targets=targets)) for number in (judges - 1, judges)
    )
    return [name for name in gates if name in more and name not in fewer and gates[name].decide == "interval"]


def upgrade_forecasts(folder: Path, sizes: Sizes, draws: int, seed: int, today: date) -> list[Forecast]:
    """The same for a judge that is held against itself, asked anew: one for each component of an upgrade that decides
    by an interval, in their order. Empty where the folder's gates know no upgrade."""
    gates = gates_of(folder, today)
    if not any(component in gates for component in COMPONENTS):
        return []
    every: list[Forecast] = []
    for kind in kinds_of(sizes):
        if kind != "scores":  # which are among those with tests beside them
            verdicts = [verdict_on_repeat(folder, sizes, kind, {}, (seed, draw), today) for draw in range(draws)]
            every += [_forecast(gates, row) for verdict in verdicts for row in verdict.rows]
    return sorted(every, key=lambda one: COMPONENTS.index(one.gate))


def _forecast(gates: Gates, verdict: Verdict) -> Forecast:
    estimate, power, factor = verdict.estimate, verdict.power, None
    if power is not None and power.fair is not None:
        levels = gates[verdict.gate].level, verdict.rule.fail_level
        factor = factor_to_decide(Limit.of(verdict.limit), estimate, *levels, power.fair)
    return Forecast(
        verdict.gate, estimate.units, count_of(estimate), power.fair_passes if power else None,
        power.smallest_fault if power else None, factor,
    )  # fmt: skip
