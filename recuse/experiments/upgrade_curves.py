"""How often the verdict on an upgrade is wrong: a judge against itself asked anew, and against itself with a fault.

The same texts and the same people; only the replies are new. The candidate that differs in nothing else should be
"equivalent" as often as the gates promised, and never "worse" more often than `false_fail` allows; one with a fault
beyond a limit should never be accepted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from recuse.experiments.asking import gates_of
from recuse.experiments.scripted_upgrade import TESTS, calls_of, line_up
from recuse.experiments.sizes import Sizes
from recuse.gates import Gates
from recuse.gates.upgrade import UpgradeVerdict
from recuse.metrics.upgrade import COMPONENTS, Upgrade
from recuse.upgrade import judge_upgrade

__all__ = ["ACCEPTED", "UPGRADE_FAULTS", "UpgradeFault", "kinds_of", "upgrade_curves", "verdict_on_repeat"]

JUDGE = "judge-0"
CHUNK = 10
ACCEPTED = ("equivalent", "better")
UNCHANGED = (
    "upgrade_agreement", "upgrade_human_offset", "upgrade_human_order", "upgrade_human_decisions", "upgrade_shift",
    "upgrade_noise", "upgrade_losses", "upgrade_self_preference",
)  # fmt: skip
"""Components of which a judge asked anew is truly 0: their coverage is known."""


@dataclass(frozen=True, slots=True)
class UpgradeFault:
    """What a candidate may do that the judge in use does not. `sizes` are multiples of the limit of `gate`, or of the
    effect itself where `gate` is ""."""

    kind: str
    effect: str
    gate: str
    sizes: tuple[float, ...]


UPGRADE_FAULTS = (
    UpgradeFault("scores", "lenient", "upgrade_human_offset", (0.5, 1.0, 2.0, 3.0)),
    UpgradeFault("scores", "own", "upgrade_self_preference", (1.0, 2.0, 4.0)),
    UpgradeFault("scores", "chance", "", (0.25, 0.5)),
    UpgradeFault("scores", "refuses", "", (0.05, 0.2)),
    UpgradeFault("choices", "first place", "", (0.1, 0.3)),
    UpgradeFault(TESTS, "longer", "", (0.2, 0.6)),
    UpgradeFault(TESTS, "obeys", "", (0.1, 0.4)),
    UpgradeFault(TESTS, "costs", "", (1.5, 3.0)),
    UpgradeFault(TESTS, "takes", "", (1.5, 3.0)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One component of one draw."""

    gate: str
    outcome: str
    covered: bool | None
    fair_passes: float | None


Draw = tuple[str, tuple[Row, ...]]
"""The verdict's word, and its rows where the candidate has no fault."""


def upgrade_curves(folder: Path, sizes: Sizes, runs: int, seed: int, processes: int, today: date) -> dict[str, Any]:
    """{"runs", "false_fail", "same": [of scores, of these with tests beside them, of choices: {"kind", "promised",
    word: share}], "gates": as of `validate`, "curve": [{"kind", "effect", "size", "runs", word: share}]}; empty where
    the folder's gates know no upgrade. `promised`: how likely the judge asked anew is equivalent, by its components'
    own sampling distributions. Half as many runs per size of a fault."""
    gates = gates_of(folder, today)
    if not any(component in gates for component in COMPONENTS):
        return {}
    kinds = kinds_of(sizes)
    cases: list[tuple[str, Mapping[str, float], int]] = [(kind, {}, runs) for kind in kinds]
    cases += [(f.kind, {f.effect: size}, max(2, runs // 2)) for f in UPGRADE_FAULTS if f.kind in kinds
              for size in _sizes(gates, f, sizes)]  # fmt: skip
    drawn = _drawn(folder, sizes, cases, seed, processes, today)
    same = drawn[: len(kinds)]
    return {
        "runs": runs, "false_fail": gates.run.false_fail,
        "same": [{"kind": kind, "promised": _promised(draws), **_words(draws)}
                 for kind, draws in zip(kinds, same, strict=True)],
        "gates": [_of_gate(name, gates, [draw for draws in same for draw in draws]) for name in COMPONENTS
                  if any(row.gate == name for draws in same for _, rows in draws for row in rows)],
        "curve": [{"kind": kind, "effect": name, "size": size, "runs": len(draws), **_words(draws)}
                  for (kind, effect, _), draws in zip(cases[len(kinds):], drawn[len(kinds):], strict=True)
                  for name, size in effect.items()],
    }  # fmt: skip


def kinds_of(sizes: Sizes) -> tuple[str, ...]:
    """The kinds of ratings on which a candidate is simulated."""
    return ("scores", TESTS, *(("choices",) if sizes.pairs else ()))


def _sizes(gates: Gates, fault: UpgradeFault, sizes: Sizes) -> Iterable[float]:
    if not fault.gate:
        return fault.sizes
    if fault.gate not in gates:
        return ()
    gate = gates[fault.gate]
    limit = gate.bound.times(sizes.span) if gate.of_range else gate.bound
    return [float(f"{size * limit.high:.4g}") for size in fault.sizes if math.isfinite(limit.high)]


def _drawn(
    folder: Path, sizes: Sizes, cases: Sequence[tuple[str, Mapping[str, float], int]], seed: int, processes: int,
    today: date,
) -> list[list[Draw]]:  # fmt: skip
    """Per case, per run; a seed for every draw, so that results do not depend on the number of processes."""
    jobs = [
        (folder, sizes, kind, dict(effect), (seed, number), start, min(start + CHUNK, runs), today)
        for number, (kind, effect, runs) in enumerate(cases)
        for start in range(0, runs, CHUNK)
    ]
    if processes > 1 and len(jobs) > 1:
        with ProcessPoolExecutor(processes) as pool:
            parts = list(pool.map(_draws, *zip(*jobs, strict=True)))
    else:
        parts = [_draws(*job) for job in jobs]
    drawn: list[list[Draw]] = [[] for _ in cases]
    for job, part in zip(jobs, parts, strict=True):
        drawn[job[4][1]] += part
    return drawn


def _draws(
    folder: Path, sizes: Sizes, kind: str, effect: Mapping[str, float], seed: tuple[int, int], start: int, stop: int,
    today: date,
) -> list[Draw]:  # fmt: skip
    return [_draw(folder, sizes, kind, effect, (*seed, run), today) for run in range(start, stop)]


def _draw(
    folder: Path, sizes: Sizes, kind: str, effect: Mapping[str, float], seed: tuple[int, ...], today: date
) -> Draw:
    verdict = verdict_on_repeat(folder, sizes, kind, effect, seed, today)
    return verdict.word, () if effect else tuple(_rows(verdict))


def verdict_on_repeat(
    folder: Path, sizes: Sizes, kind: str, effect: Mapping[str, float], seed: tuple[int, ...], today: date
) -> UpgradeVerdict:
    """The verdict on a judge that is asked the same once more and, the second time, does what `effect` says."""
    both: tuple[Mapping[str, float], ...] = ({}, effect)
    before, after = (line_up(sizes, kind, given, seed, again) for again, given in enumerate(both))
    old, new = (calls_of(sizes, given, seed, again) for again, given in enumerate(both))
    upgrade = Upgrade(before, JUDGE, after, JUDGE, calls=(old, new) if kind == TESTS else ({}, {}))
    subject = {"panel": "simulated", "task": kind, "protocol": "scripted"}
    return judge_upgrade(gates_of(folder, today), upgrade, subject)


def _rows(verdict: UpgradeVerdict) -> Iterable[Row]:
    for row in verdict.rows:
        shown, covered = row.estimate.at(0.95), None
        if row.gate in UNCHANGED and math.isfinite(shown.low) and math.isfinite(shown.high):
            covered = shown.low - 1e-9 <= 0 <= shown.high + 1e-9
        yield Row(row.gate, row.outcome, covered, row.power.fair_passes if row.power else None)


# --------------------------------------------------------------------------- what came of it


def _words(drawn: Sequence[Draw]) -> dict[str, float]:
    """Shares of draws by what they mean for the candidate."""
    words = [word for word, _ in drawn]
    share = {word: words.count(word) / len(words) for word in set(words)}
    accepted = sum(share.get(word, 0.0) for word in ACCEPTED)
    return {"accepted": round(accepted, 4), "worse": round(share.get("worse", 0.0), 4),
            "undecided": round(1 - accepted - share.get("worse", 0.0), 4)}  # fmt: skip


def _promised(drawn: Sequence[Draw]) -> float | None:
    """The mean chance that all components pass, as if they were independent of each other: a cautious figure."""
    chances = [math.prod(row.fair_passes for row in rows if row.fair_passes is not None) for _, rows in drawn]
    return round(sum(chances) / len(chances), 4) if chances else None


def _of_gate(name: str, gates: Gates, drawn: Sequence[Draw]) -> dict[str, Any]:
    runs = [[row for row in rows if row.gate == name] for _, rows in drawn]
    runs = [run for run in runs if run]
    every = [row for run in runs for row in run]
    known = [row.covered for row in every if row.covered is not None]
    return {
        "gate": name, "alpha": gates.run.false_fail, "verdicts": len(runs[0]),
        "false_fail": round(sum(any(row.outcome == "fail" for row in run) for run in runs) / len(runs), 4),
        "not_passed": round(sum(row.outcome != "pass" for row in every) / len(every), 4),
        "coverage": round(sum(known) / len(known), 4) if known else None,
        "at_limit": None, "curve": [], "promised": None,
    }  # fmt: skip
