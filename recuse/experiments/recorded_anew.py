"""The same judges recorded anew against their own baseline: how often is a change named, and is a real one?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from recuse.experiments.asking import asked_of, gates_of, measured_by
from recuse.experiments.scripted_panel import simulated_scores
from recuse.experiments.sizes import Sizes
from recuse.gates import Gates
from recuse.gates.baseline import reduce
from recuse.gates.changes import compare, smallest_named
from recuse.schema import Estimates

__all__ = ["recorded_anew"]

FAULTY = "judge-0"
SHIFT = 0.05
"""Of the scale's range: half a point on 0-10."""
SUBJECT = {"panel": "simulated", "task": "scores", "protocol": "scripted"}


def recorded_anew(folder: Path, sizes: Sizes, runs: int, seed: int, today: date) -> dict[str, Any]:
    """Shares of runs in which, the same texts judged again, a change is named: {"runs", "same" (of the same judges),
    "shift" (points that judge 0 gives its own text more), "found" (runs in which that is named of judge 0), "smallest"
    (gate -> the change that is named with 80 %, the median over runs; `smallest_named`)}."""
    again = [_again(folder, sizes, {}, (seed, run), today) for run in range(runs)]
    same = [_named(one) for one in again]
    shift = SHIFT * sizes.span
    shifted = [_named(_again(folder, sizes, {"own": shift}, (seed, run), today)) for run in range(runs)]
    sizes_told = [smallest_named(*one) for one in again]
    return {
        "runs": runs,
        "same": round(sum(map(bool, same)) / runs, 4),
        "shift": shift,
        "found": round(sum(any(s.get("judge") == FAULTY for s in rows) for rows in shifted) / runs, 4),
        "smallest": {gate: float(f"{median(smallest[gate] for smallest in sizes_told if gate in smallest):.3g}")
                     for gate in sorted({gate for smallest in sizes_told for gate in smallest})},
    }  # fmt: skip


def _again(
    folder: Path, sizes: Sizes, effect: Mapping[str, float], seed: tuple[int, int], today: date
) -> tuple[dict[str, Any], dict[str, Any], Gates]:
    """The baseline of a first recording, and the results of one under `effect`."""
    gates = gates_of(folder, today)
    first, again = (
        _results(folder, sizes, given, seed, replies, today) for replies, given in enumerate(({}, dict(effect)))
    )
    return reduce(first, gates), again, gates


def _named(again: tuple[dict[str, Any], dict[str, Any], Gates]) -> list[Mapping[str, str]]:
    """Subjects of the changes that are named."""
    return [row["subject"] for row in compare(*again)["named"]]


def _results(
    folder: Path, sizes: Sizes, effect: Mapping[str, float], seed: tuple[int, int], replies: int, today: date
) -> dict[str, Any]:
    gates, asked = gates_of(folder, today), asked_of(folder, sizes)
    ratings = simulated_scores(
        sizes, effect, np.random.default_rng(seed), replies=np.random.default_rng((*seed, replies))
    )
    measured = measured_by([question for kind, question in asked.values() if kind == "scores"], ratings)
    verdicts = [
        verdict.record()
        for name, estimates in measured.items()
        if isinstance(estimates, Estimates)
        for verdict in gates.decide(name, estimates, SUBJECT)
    ]
    return {"verdicts": verdicts, "measurements": [], "sources": {"/".join(SUBJECT.values()): {"items": "the same"}}}
