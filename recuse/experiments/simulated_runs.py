"""Simulated runs: panels drawn many times, each through the real measures and the real gates, and the verdicts kept.

Every draw has a seed of its own, so results do not depend on how many processes share the work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from recuse.experiments.asking import SIMULATED, gates_of, measured_by, questions_by_gate
from recuse.experiments.scripted_panel import APART
from recuse.experiments.sizes import Sizes
from recuse.schema import Estimate, Estimates, members

__all__ = ["FAULTY", "Scenario", "Seen", "drawn_runs"]

FAULTY = "judge-0"
CHUNK = 25


@dataclass(frozen=True, slots=True)
class Seen:
    """One verdict of one draw."""

    gate: str
    judge: str
    outcome: str
    covered: bool | None  # whether the 95 % interval holds the truth; None where the model does not tell it
    smallest_fault: float | None  # of judge 0, in draws without a fault; else None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Simulated runs of one kind of panel, in which judge 0 may have a planted effect."""

    kind: str
    effect: Mapping[str, float | tuple[float, ...]]  # one size for all runs, or one for each
    gates: tuple[str, ...] = ()  # only these, all where empty
    runs: int = 0
    number: int = 0

    def of(self, run: int) -> dict[str, float]:
        """What judge 0 does in this run."""
        return {name: size[run] if isinstance(size, tuple) else size for name, size in self.effect.items()}


def drawn_runs(
    folder: Path, sizes: Sizes, scenarios: Sequence[Scenario], seed: int, processes: int, today: date
) -> list[list[list[Seen]]]:
    """Per scenario, per draw, the verdicts of the gates of `folder` on panels of these sizes."""
    jobs = [
        (folder, sizes, scenario, seed, start, min(start + CHUNK, scenario.runs), today)
        for scenario in scenarios
        for start in range(0, scenario.runs, CHUNK)
    ]
    if processes > 1 and len(jobs) > 1:
        with ProcessPoolExecutor(processes) as pool:
            parts = list(pool.map(_draws, *zip(*jobs, strict=True)))
    else:
        parts = [_draws(*job) for job in jobs]
    drawn: dict[int, list[list[Seen]]] = {scenario.number: [] for scenario in scenarios}
    for job, part in zip(jobs, parts, strict=True):
        drawn[job[2].number] += part
    return [drawn[scenario.number] for scenario in scenarios]


def _draws(
    folder: Path, sizes: Sizes, scenario: Scenario, seed: int, start: int, stop: int, today: date
) -> list[list[Seen]]:
    truths: dict[str, Estimates | Estimate] = {}
    return [_draw(folder, sizes, scenario, seed, run, today, truths) for run in range(start, stop)]


def _draw(
    folder: Path,
    sizes: Sizes,
    scenario: Scenario,
    first_seed: int,
    run: int,
    today: date,
    truths: dict[str, Estimates | Estimate],
) -> list[Seen]:
    gates, simulate, effect = gates_of(folder, today), SIMULATED[scenario.kind], scenario.of(run)
    seed = (first_seed, scenario.number, run)
    questions = questions_by_gate(folder, sizes)
    wanted = [q for name, (kind, q) in questions.items()
              if kind == scenario.kind and (not scenario.gates or name in scenario.gates)]  # fmt: skip
    measured = measured_by(wanted, simulate(sizes, effect, np.random.default_rng(seed)))
    if scenario.kind == "scores" and not truths:
        exact = simulate(sizes, effect, np.random.default_rng(seed), "items")
        truths.update(measured_by(wanted, exact))
    of_texts = {questions[name][1] for name, family in measured.items() for _, one in members(family)
                if one.over == "repeats" and one.unit == "points" and name != "repeat_difference"}  # fmt: skip
    if scenario.kind == "scores" and of_texts:
        here = measured_by(list(of_texts), simulate(sizes, effect, np.random.default_rng(seed), "texts"))
    else:
        here = {}
    seen = []
    for name, estimates in measured.items():
        subject = {"panel": "simulated", "task": scenario.kind, "protocol": "scripted"}
        for verdict, (names, estimate) in zip(gates.decide(name, estimates, subject), members(estimates), strict=True):
            truth = _truth(here if estimate.over == "repeats" else truths, name, names, estimate, sizes, effect)
            power = None if effect or names.get("judge") != FAULTY else verdict.power
            seen.append(Seen(
                name, names.get("judge", ""), verdict.outcome, _covered(estimate, truth),
                power.smallest_fault if power else None,
            ))  # fmt: skip
    return seen


def _truth(
    truths: Mapping[str, Estimates | Estimate],
    gate: str,
    names: Mapping[str, str],
    estimate: Estimate,
    sizes: Sizes,
    effect: Mapping[str, float],
) -> float | None:
    """Of measures in points that follow from the model: differences of means, and how far repeats lie apart."""
    if estimate.unit != "points":
        return None
    if gate == "repeat_difference":
        usual = APART * sizes.noise * sizes.span
        return effect.get("apart", usual) if names.get("judge") == FAULTY else usual
    truth = truths.get(gate)
    if not isinstance(truth, Estimates):
        return None
    value = truth.of(**names).value
    return value if math.isfinite(value) else None


def _covered(estimate: Estimate, truth: float | None) -> bool | None:
    shown = estimate.at(0.95)
    if truth is None or math.isnan(shown.low) or math.isnan(shown.high):
        return None
    return shown.low - 1e-9 <= truth <= shown.high + 1e-9
