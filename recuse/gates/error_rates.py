"""What a run says about its own errors: how often it would be wrong, and what it could not have found.

Three questions, answered by the verdicts' own sampling distributions, as if verdicts were independent:

- How likely is any fair judge failed? At most the sum of what its families may spend (`recuse.gates.families`).
- How likely is a judge that has none of the faults not cleared all the same? Per judge, one less the product of the
  chances with which it passes each gate.
- How likely does the same run, recorded anew from the same judges, turn red? A pass may be lost, and an accepted fault
  may come to be no longer needed.

`recuse validate` asks drawn files, without these approximations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

from recuse.schema.results import ErrorRates, JudgeErrors, SmallestFault
from recuse.schema.verdict_rows import PowerRow, VerdictRow


def error_rates(verdicts: Iterable[VerdictRow], false_fail: float) -> ErrorRates:
    """Of verdicts as results.json holds them; `false_fail` is what the gates file allows the run.

    {"false_fail": {"allowed", "at_most", "families", "by_value"}, "judges": [{"panel", "judge", "fair_not_cleared",
    "again_not_cleared"}], "red_again", "smallest_faults": [{"gate", "unit", "limit", "typical", "worst"}], "sentence"}.
    `by_value` counts verdicts that the value alone decides: nobody knows their error rates, and they are left out.
    """
    known = sorted(verdicts, key=_place)
    families = {(f["name"], *sorted(f["within"].items())): f["alpha"] for v in known if (f := v["rule"]["family"])}
    rates: ErrorRates = {
        "false_fail": {
            "allowed": false_fail,
            "at_most": _rounded(math.fsum(families.values())),
            "families": len(families),
            "by_value": sum(v["rule"]["family"] is None for v in known),
        },
        "judges": _judges(known),
        "red_again": _rounded(1 - math.prod(_stays_green(v) for v in known)) if known else None,
        "smallest_faults": _smallest_faults(known),
    }
    return rates | {"sentence": _sentence(rates)}


def _judges(verdicts: list[VerdictRow]) -> list[JudgeErrors]:
    """By what each may lose; a gate that allows undecided is left out."""
    judged: dict[tuple[str, str], list[PowerRow]] = {}
    for verdict in verdicts:
        if "judge" in verdict["subject"] and (power := verdict.get("power")):
            mine = judged.setdefault((verdict["subject"].get("panel", ""), verdict["subject"]["judge"]), [])
            mine += [] if verdict["allowed"] else [power]
    return [
        {
            "panel": panel,
            "judge": judge,
            "fair_not_cleared": _none_passes(power["fair_passes"] for power in powers),
            "again_not_cleared": _none_passes(power["same_again"] for power in powers),
        }
        for (panel, judge), powers in sorted(judged.items())
    ]


def _none_passes(chances: Iterable[float | None]) -> float:
    """One less the chance that all pass. A gate that cannot tell what fair is is left out."""
    return _rounded(1 - math.prod(chance for chance in chances if chance is not None))


def _stays_green(verdict: VerdictRow) -> float:
    """Whether the run would still be green on its account. One that is red by now, or decided by its value, is left
    out."""
    power, outcome = verdict.get("power"), verdict["outcome"]
    if power is None or outcome not in ("pass", "accepted"):
        return 1.0
    again: float = power["same_again"]
    if outcome == "pass":
        return again
    accepted = verdict["accepted_fault"]
    outcomes = accepted["accept"].get("outcome") if accepted else None
    return 1.0 if outcomes and "fail" not in outcomes else 1 - again


def _smallest_faults(verdicts: list[VerdictRow]) -> list[SmallestFault]:
    """Per gate and limit: the true value nearest the limit that fails with 80 % chance, for the typical and the worst
    of its verdicts."""
    gates: dict[tuple[str, str, str], list[tuple[VerdictRow, float]]] = {}
    for verdict in verdicts:
        power = verdict.get("power")
        if power and power["smallest_fault"] is not None:
            key = (verdict["gate"], verdict["rule"]["limit_text"], verdict["estimate"]["unit"])
            gates.setdefault(key, []).append((verdict, power["smallest_fault"]))
    return [
        {
            "gate": gate,
            "limit": limit,
            "unit": unit,
            "typical": float(f"{median(value for _, value in mine):.4g}"),
            "worst": max((value for _, value in mine), key=lambda value: _excess(mine[0][0], value)),
        }
        for (gate, limit, unit), mine in sorted(gates.items())
    ]


def _excess(verdict: VerdictRow, value: float) -> float:
    return -value if "at_least" in verdict["limit"] else value


def _sentence(rates: ErrorRates) -> str:
    """One line for the terminal."""
    fails, red = rates["false_fail"], rates["red_again"]
    if not fails["families"] or red is None:
        return ""
    often, families = _percent(fails["at_most"]), _counted(fails["families"])
    phrase = f"a judge without a fault fails in at most {often} of such runs ({families})"
    phrase += f"; recorded again, the same judges turn it red in about {_percent(red)}"
    if fails["by_value"]:
        phrase += f"; {fails['by_value']} verdicts that the value alone decides are not counted"
    return phrase


def _counted(families: int) -> str:
    return "one family of gates" if families == 1 else f"{families} families of gates"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _rounded(chance: float) -> float:
    return round(chance, 4)


def _place(verdict: VerdictRow) -> tuple[object, ...]:
    return (verdict["gate"], sorted(verdict["subject"].items()))
