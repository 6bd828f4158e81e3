"""The same judges recorded anew against their own baseline: how often is a change named, and is a real one?"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np

from recuse.experiments.asking import gates_of, measured_by, questions_by_gate
from recuse.experiments.scripted_panel import simulated_scores
from recuse.experiments.sizes import Sizes
from recuse.gates.baseline import reduce
from recuse.gates.changes import compare, smallest_named
from recuse.schema import Estimates
from recuse.schema.results import Results, SourceRow, VerdictRow

__all__ = ["recorded_anew"]

FAULTY = "judge-0"
SHIFT = 0.05
"""Of the scale's range: half a point on 0-10."""
SUBJECT = {"panel": "simulated", "task": "scores", "protocol": "scripted"}


def recorded_anew(folder: Path, sizes: Sizes, runs: int, seed: int, processes: int, today: date) -> dict[str, Any]:
    """Shares of runs in which, the same texts judged again, a change is named: {"runs", "same" (of the same judges),
    "shift" (points that judge 0 gives its own text more), "found" (runs in which that is named of judge 0), "smallest"
    (gate -> the change that is named with 80 %, the median over runs; `smallest_named`)}."""
    one = partial(_run, folder, sizes, seed, today)
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            seen = list(pool.map(one, range(runs), chunksize=max(1, runs // (4 * processes))))
    else:
        seen = [one(run) for run in range(runs)]
    sizes_told = [smallest for *_, smallest in seen]
    return {
        "runs": runs,
        "same": round(sum(same for same, *_ in seen) / runs, 4),
        "shift": SHIFT * sizes.span,
        "found": round(sum(found for _, found, _ in seen) / runs, 4),
        "smallest": {gate: float(f"{median(smallest[gate] for smallest in sizes_told if gate in smallest):.3g}")
                     for gate in sorted({gate for smallest in sizes_told for gate in smallest})},
    }  # fmt: skip


def _run(folder: Path, sizes: Sizes, seed: int, today: date, run: int) -> tuple[bool, bool, dict[str, float]]:
    """Whether anything is named of the same judges, whether the shift is named of judge 0, and `smallest_named`."""
    gates = gates_of(folder, today)
    shifts: tuple[Mapping[str, float], ...] = ({}, {}, {"own": SHIFT * sizes.span})
    first, same, shifted = (
        _results(folder, sizes, given, (seed, run), min(replies, 1), today) for replies, given in enumerate(shifts)
    )
    before = reduce(first, gates)
    named = compare(before, shifted, gates)["named"]
    return (
        bool(compare(before, same, gates)["named"]),
        any(row["subject"].get("judge") == FAULTY for row in named),
        smallest_named(before, same, gates),
    )


def _results(
    folder: Path, sizes: Sizes, effect: Mapping[str, float], seed: tuple[int, int], replies: int, today: date
) -> Results:
    gates, questions = gates_of(folder, today), questions_by_gate(folder, sizes)
    ratings = simulated_scores(
        sizes, effect, np.random.default_rng(seed), replies=np.random.default_rng((*seed, replies))
    )
    measured = measured_by([question for kind, question in questions.values() if kind == "scores"], ratings)
    verdicts = [
        cast("VerdictRow", replace(verdict, remedy=None, power=None).record())  # of which a baseline keeps nothing
        for name, estimates in measured.items()
        if isinstance(estimates, Estimates)
        for verdict in gates.decide(name, estimates, SUBJECT)
    ]
    sources: dict[str, SourceRow] = {"/".join(SUBJECT.values()): {"items": "the same"}}
    return {"verdicts": verdicts, "measurements": [], "panels": [], "sources": sources}
