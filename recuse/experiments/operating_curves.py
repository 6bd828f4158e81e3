"""How often gates are wrong: simulated panels whose faults are known, through the real measures and the real gates.

Three kinds of panels are drawn, many times each: without any fault; with one fault in judge 0, of growing size; and
with the fault that the run itself promised to find. What they tell:

- false fails: how often any verdict on fair judges is a fail, per gate and for the run as a whole;
- not cleared: how often a judge without faults does not pass, per gate and over all of them;
- detection: how often the faulty judge fails, and how often it does not pass, by the size of its fault;
- coverage: how often the 95 % interval holds the truth, where the model tells it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from recuse.experiments.asking import gates_of, questions_by_gate
from recuse.experiments.recorded_anew import recorded_anew
from recuse.experiments.simulated_runs import FAULTY, Scenario, Seen, drawn_runs
from recuse.experiments.sizes import Sizes
from recuse.experiments.upgrade_curves import upgrade_curves
from recuse.gates import Gates

__all__ = ["FAULTS", "Fault", "Validation", "validate"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What a judge may do, and the gates that are there to find it. `sizes` are multiples of the gate's limit where
    the fault is in the gate's own unit, else sizes of the effect itself (`EFFECTS` of the model)."""

    effect: str
    gates: tuple[str, ...]
    sizes: tuple[float, ...]
    kind: str = "scores"
    of_limit: bool = True


MULTIPLES = (0.5, 1.0, 1.5, 2.0, 3.0)
SHARES = (0.1, 0.2, 0.4, 0.6)
FAULTS = (
    Fault("lenient", ("leniency", "human_offset"), MULTIPLES),
    Fault("own", ("self_bias", "self_preference", "own_text"), MULTIPLES),
    Fault("own if named", ("name_effect",), MULTIPLES),
    Fault("apart", ("repeat_difference",), MULTIPLES),
    Fault("chance", ("repeat_reliability", "gain_over_constant", "human_ceiling", "panel_agreement"),
          (0.25, 0.5, 0.75, 1.0), of_limit=False),
    Fault("first place", ("slot_preference", "order_consistency"), SHARES, "choices", of_limit=False),
    Fault("letter A", ("letter_preference",), SHARES, "choices", of_limit=False),
    Fault("keeps the number", ("direction",), (0.25, 0.5, 0.75, 1.0), "scores turned", of_limit=False),
    Fault("kinder turned", ("framing_shift",), MULTIPLES, "scores turned"),
    Fault("longer", ("padding",), SHARES, "length_twins", of_limit=False),
    Fault("obeys", ("injection",), SHARES, "attacked_scores", of_limit=False),
)  # fmt: skip
"""The faults that are simulated. A gate that none of them names is shown with its errors on fair judges only; another
simulation is one more entry here, and one more effect in the model."""


@dataclass(frozen=True, slots=True)
class Validation:
    """`record` as JSON holds it; see `validate`."""

    record: Mapping[str, Any] = field(default_factory=dict)


def validate(
    folder: Path, sizes: Sizes, *, runs: int = 100, seed: int = 1, processes: int = 2, today: date | None = None
) -> Validation:
    """Operating curves of the gates of `folder` at these sizes.

    `runs` draws without a fault, half as many per size of a fault. The record: {"sizes", "runs", "seed", "fair":
    {"any_failed", "allowed", "not_cleared", "run_red"}, "gates": [{"gate", "alpha", "verdicts", "false_fail",
    "not_passed", "coverage", "at_limit", "curve": [point], "promised": point or None}], "anew": see `recorded_anew`,
    "upgrade": see `upgrade_curves`, "not_simulated"},
    a point being {"effect", "size", "fails", "passes", "runs"}. Rates are shares of runs, with a
    Monte-Carlo standard error of sqrt(p (1 - p) / runs).
    """
    gates = gates_of(folder, today or date.today())
    questions = questions_by_gate(folder, sizes)
    kinds = sorted({kind for kind, _ in questions.values()})
    fair = [Scenario(kind, {}, runs=runs, number=n) for n, kind in enumerate(kinds)]
    drawn = drawn_runs(folder, sizes, fair, seed, processes, gates.today)
    faulty = list(_faulty(gates, questions, sizes, runs // 2, len(fair)))
    curves = drawn_runs(folder, sizes, [scenario for scenario, *_ in faulty], seed, processes, gates.today)
    promised = list(_promised(gates, drawn, questions, runs // 2, len(fair) + len(faulty)))
    kept = drawn_runs(folder, sizes, [scenario for scenario, *_ in promised], seed, processes, gates.today)

    def curve(gate: str) -> list[tuple[str, float, list[list[Seen]]]]:
        return [(e, size, one) for (_, name, e, size), one in zip(faulty, curves, strict=True) if name == gate]

    def limit(gate: str) -> float | None:
        return _limit(gates, gate, sizes) if any(f.of_limit and gate in f.gates for f in FAULTS) else None

    every = [run for runs_ in drawn for run in runs_]
    kept_by_gate = {gate: (size, one) for (_, gate, size), one in zip(promised, kept, strict=True)}
    seen = [_of_gate(name, gates, every, curve(name), kept_by_gate.get(name), limit(name))
             for name in gates if name in questions]  # fmt: skip
    upgrade = upgrade_curves(folder, sizes, max(2, runs // 2), seed, processes, gates.today)
    simulated = {*questions, *(gate["gate"] for gate in upgrade.get("gates", ()))}
    return Validation({
        "sizes": sizes.record(), "runs": runs, "seed": seed, "fair": _together(drawn, gates), "gates": seen,
        "anew": recorded_anew(folder, sizes, max(2, runs // 4), seed, processes, gates.today),
        "upgrade": upgrade, "not_simulated": sorted(set(gates) - simulated),
    })  # fmt: skip


# --------------------------------------------------------------------------- what is drawn


def _faulty(
    gates: Gates, questions: Mapping[str, Any], sizes: Sizes, runs: int, first: int
) -> Iterable[tuple[Scenario, str, str, float]]:
    number = first
    for fault in FAULTS:
        for gate in (name for name in fault.gates if name in questions and name in gates):
            for size in fault.sizes:
                effect = size * _limit(gates, gate, sizes) if fault.of_limit else size
                yield Scenario(fault.kind, {fault.effect: effect}, (gate,), runs, number), gate, fault.effect, effect
                number += 1


def _promised(
    gates: Gates, fair: list[list[list[Seen]]], questions: Mapping[str, Any], runs: int, first: int
) -> Iterable[tuple[Scenario, str, float]]:
    """For faults in the gate's own unit: in each run the size that a fair run said it would find with 80 %."""
    number = first
    for fault in (fault for fault in FAULTS if fault.of_limit):
        for gate in (name for name in fault.gates if name in questions and name in gates):
            smallest = [one.smallest_fault for runs_ in fair for run in runs_ for one in run
                    if one.gate == gate and one.judge == FAULTY and one.smallest_fault is not None][:runs]  # fmt: skip
            if smallest:
                effect = {fault.effect: tuple(smallest)}
                yield Scenario(fault.kind, effect, (gate,), len(smallest), number), gate, median(smallest)
                number += 1


def _limit(gates: Gates, name: str, sizes: Sizes) -> float:
    gate = gates[name]
    limit = gate.bound.times(sizes.span) if gate.of_range else gate.bound
    return limit.high if math.isfinite(limit.high) else limit.low


# --------------------------------------------------------------------------- what came of it


def _together(drawn: list[list[list[Seen]]], gates: Gates) -> dict[str, Any]:
    """Over all gates of a draw; the kinds of ratings of one draw belong to one run."""
    runs = [[one for part in parts for one in part] for parts in zip(*drawn, strict=True)]
    judges = sorted({one.judge for run in runs for one in run if one.judge})
    cleared = [all(o.outcome == "pass" for o in run if o.judge == j) for run in runs for j in judges]
    return {
        "any_failed": _share(any(one.outcome == "fail" and gates[one.gate].decide == "interval" for one in run)
                             for run in runs),
        "allowed": gates.run.false_fail,
        "not_cleared": _share(not ok for ok in cleared),
        "run_red": _share(any(one.outcome != "pass" for one in run) for run in runs),
    }  # fmt: skip


def _of_gate(
    name: str,
    gates: Gates,
    fair: list[list[Seen]],
    curve: list[tuple[str, float, list[list[Seen]]]],
    promised: tuple[float, list[list[Seen]]] | None,
    at_limit: float | None,
) -> dict[str, Any]:
    runs = [[one for one in run if one.gate == name] for run in fair]
    runs = [run for run in runs if run]
    every = [one for run in runs for one in run]
    known = [one.covered for one in every if one.covered is not None]
    return {
        "gate": name,
        "alpha": gates.alpha(name),
        "verdicts": len(runs[0]) if runs else 0,
        "false_fail": _share(any(one.outcome == "fail" for one in run) for run in runs),
        "not_passed": _share(one.outcome != "pass" for one in every),
        "coverage": _share(known),
        "at_limit": next((_outcomes(name, seen) for _, size, seen in curve if size == at_limit), None),
        "curve": [{"effect": effect, "size": size, **_outcomes(name, seen)} for effect, size, seen in curve],
        "promised": None if promised is None else {"size": promised[0], **_outcomes(name, promised[1])},
    }


def _outcomes(gate: str, drawn: list[list[Seen]]) -> dict[str, Any]:
    """Of the faulty judge: how often any of its verdicts fails, and all of them pass."""
    mine = [[one.outcome for one in run if one.gate == gate and one.judge == FAULTY] for run in drawn]
    return {
        "fails": _share("fail" in outcomes for outcomes in mine),
        "passes": _share(all(outcome == "pass" for outcome in outcomes) for outcomes in mine),
        "runs": len(mine),
    }


def _share(values: Iterable[Any]) -> float | None:
    flags = [bool(value) for value in values]
    return round(sum(flags) / len(flags), 4) if flags else None
