"""`recuse plan PANEL`: how many items and repeats the gates' limits ask for, before anything is recorded.

A few panels of fair judges are simulated at the panel's own sizes, measured and gated; each estimate's sampling
distribution then says how likely a fair judge passes, which fault would be found with 80 % chance, and how many items
(or repeats, where a gate speaks of these texts only) it takes for a fair judge to pass with 80 %. The same is asked
with fewer and more repeats, since items and repeats both cost calls; and of an upgrade, by a judge that is held against
itself asked anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from recuse.experiments.asking import gates_of
from recuse.experiments.forecasts import Forecast, brought_by_judges, forecasts, upgrade_forecasts
from recuse.experiments.sizes import Sizes
from recuse.experiments.validate_command import evals_folder, root_of, sizes_from

__all__ = ["not_more", "rarest_slips", "run_plan"]

PILOTS = 8
REPEATS = (1, 2, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class Need:
    """Of one gate: medians over its simulated estimates. `needed` is inf where no feasible number is enough, None where
    nobody knows."""

    gate: str
    units: str
    now: int
    fair_passes: float | None
    smallest_fault: float | None
    needed: float | None


def run_plan(source: Path | None, given: Mapping[str, Any], *, evals: Path | None = None, seed: int = 1) -> int:
    """The command; always exit code 0: a plan is no verdict."""
    sizes, folder = sizes_from(source, given), evals_folder(evals)
    needs = _needs(folder, sizes, seed)
    notes = [*_more_judges(folder, sizes), *_rare_slips(folder, sizes, needs)]
    print("\n".join([f"planned: {sizes}", "", *_gate_lines(needs), *notes, ""]))
    print("\n".join(_repeat_lines(folder, sizes, seed)))
    if components := _by_gate(upgrade_forecasts(folder, sizes, PILOTS, seed, date.today())):
        table = _gate_lines(components, "component", "same judge", "change found")
        print("\n".join(["", UPGRADE, "", *table, *_asked_once(components)]))
    if source is not None and source.suffix == ".toml":
        print("\n".join(["", *_cost_lines(source, sizes, needs)]))
    return 0


def _needs(folder: Path, sizes: Sizes, seed: int) -> list[Need]:
    return _by_gate(forecasts(folder, sizes, PILOTS, seed, date.today()))


def _by_gate(every: Iterable[Forecast]) -> list[Need]:
    """One for each gate and for each of the units that it counts."""
    needs: dict[tuple[str, str], list[Forecast]] = {}
    for one in every:
        needs.setdefault((one.gate, one.units), []).append(one)
    return [_need(gate, mine) for (gate, _), mine in needs.items()]


def _need(gate: str, mine: Sequence[Forecast]) -> Need:
    factors = [one.factor for one in mine if one.factor is not None]
    now = round(median(one.n for one in mine))
    factor = median(factors) if factors else None
    needed = None if factor is None else factor * now if math.isinf(factor) else math.ceil(factor * now)
    return Need(
        gate, mine[0].units, now, _median(one.fair_passes for one in mine),
        _median(one.smallest_fault for one in mine), needed,
    )  # fmt: skip


def _median(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


# --------------------------------------------------------------------------- text


UPGRADE = """a candidate for the judge in use: if it is the same judge asked anew, how likely each component passes
(it may replace the judge in use if all do), and which change is found"""


def _gate_lines(
    needs: Sequence[Need], of: str = "gate", who: str = "fair judge", what: str = "fault found"
) -> list[str]:
    wide = max([20, *(len(need.gate) + 1 for need in needs)])
    lines = [
        f"{of:<{wide}}{'there are':>16}{who:>12}{'80 % need':>12}{what:>14}",
        f"{'':<{wide}}{'':>16}{'passes':>12}{'about':>12}{'with 80 %':>14}",
    ]
    for need in needs:
        passes = "" if need.fair_passes is None else f"{100 * need.fair_passes:.0f} %"
        unknown = "" if need.fair_passes is None else "none"
        fault = unknown if need.smallest_fault is None else f"{need.smallest_fault:.3g}"
        there = f"{need.now} {need.units}"
        lines.append(f"{need.gate:<{wide}}{there:>16}{passes:>12}{_number(need.needed):>12}{fault:>14}".rstrip())
    return lines


def _more_judges(folder: Path, sizes: Sizes) -> list[str]:
    """What a panel of one judge or two cannot be asked."""
    return [
        f"not planned, needs a {ORDINAL[number]} judge: {', '.join(names)}"
        for number in ORDINAL
        if number > sizes.judges and (names := brought_by_judges(folder, sizes, number, date.today()))
    ]


ORDINAL = {2: "second", 3: "third"}


def _rare_slips(folder: Path, sizes: Sizes, needs: Sequence[Need]) -> list[str]:
    """What a gate on an average leaves unseen, which no number of items changes."""
    if not any(need.gate == "repeat_difference" for need in needs):
        return []
    gate = gates_of(folder, date.today())["repeat_difference"]
    share = rarest_slips(gate.bound.high if gate.of_range else gate.bound.high / sizes.span)
    return [f"repeat_difference limits an average: wild answers in fewer than 1 of {1 / share:.0f} stay within it"]


def _asked_once(components: Sequence[Need]) -> list[str]:
    """What no number of items makes up for."""
    never = {need.gate for need in components if need.needed is not None and math.isinf(need.needed)}
    why = "one answer per text does not show how often a judge decides otherwise by itself; ask it twice"
    return [f"upgrade_flips: {why}"] if "upgrade_flips" in never else []


def rarest_slips(limit: float) -> float:
    """The share p of answers that may jump across the whole scale while two answers to a text lie at most `limit` of
    the range apart on average, 2 p (1 - p) = limit; half of them where the limit is wider than any p reaches."""
    return 0.5 if limit >= 0.5 else (1 - math.sqrt(1 - 2 * limit)) / 2


def _number(needed: float | None) -> str:
    if needed is None:
        return "not known"
    return "unfeasible" if math.isinf(needed) else f"{needed:,.0f}"


def _repeat_lines(folder: Path, sizes: Sizes, seed: int) -> list[str]:
    """How many items it takes with so many repeats, for all gates that more items help."""
    rows: list[tuple[int, float, str]] = []
    for repeats in REPEATS:
        needs = _needs(folder, replace(sizes, repeats=repeats), seed)
        bound = [n for n in needs if n.units != "repeats" and n.needed is not None and n.gate not in OF_PAIRS]
        feasible = [n for n in bound if not math.isinf(n.needed or 0)]
        if not feasible:
            continue
        most = max(feasible, key=lambda n: (n.needed or 0) / n.now)
        never = [n.gate for n in bound if n not in feasible]
        phrase = f"{most.gate}{f'; never: {chr(44).join(never)}' if never else ''}"
        rows.append((repeats, sizes.items * (most.needed or 0) / most.now, phrase))
    lines = [f"{'repeats':<10}{'items for 80 %':>16}{'calls per judge':>18}   the gate that asks for most"]
    per_item = sizes.texts * (2 if sizes.names else 1)
    for (repeats, _, phrase), items in zip(rows, not_more([needed for _, needed, _ in rows]), strict=True):
        lines.append(f"{repeats:<10}{items:>16,}{items * per_item * repeats:>18,}   {phrase}")
    return lines


def not_more(needed: Sequence[float]) -> list[int]:
    """Items needed with ever more repeats, none of which takes more items than fewer repeats do: where a few simulated
    panels say otherwise, neighbours share their geometric mean (isotonic regression of the logarithms).

    >>> not_more([100, 200, 50])
    [142, 142, 50]
    """
    if not needed:
        return []
    from scipy.optimize import isotonic_regression

    fitted = isotonic_regression([math.log(items) for items in needed], increasing=False).x
    return [math.ceil(math.exp(logarithm) - 1e-9) for logarithm in fitted]


OF_PAIRS = ("slot_preference", "order_consistency", "letter_preference")


def _cost_lines(source: Path, sizes: Sizes, needs: Sequence[Need]) -> list[str]:
    """What the panel's calls cost as it stands, and with the items that all gates ask for."""
    from recuse.elicitation.chains import Chain
    from recuse.recording.budget import expected_costs, expected_dollars
    from recuse.suite import Selection
    from recuse.suite.questions import Questions

    selection = Selection.load(root_of(source), [str(source.resolve())])
    offering, _ = Questions(selection).offering(["scores", "numbers"], rests_on="margins")
    chains = [Chain(selection.plan(one)) for one in offering]
    costs = [cost for chain in chains for cost in expected_costs(chain.expected(), chain.judges)]
    calls, dollars = sum(cost.calls for cost in costs), expected_dollars(costs)
    helped = [n for n in needs if n.units != "repeats" and n.gate not in OF_PAIRS]
    known = [n.needed / n.now for n in helped if n.needed is not None and not math.isinf(n.needed)]
    factor = max(known, default=1.0)
    lines = [f"as it stands: {calls:,} calls that score texts, {_money(dollars)}"]
    if factor > 1:
        more = None if dollars is None else dollars * factor
        items, calls = math.ceil(sizes.items * factor), math.ceil(calls * factor)
        lines.append(f"with {items:,} items: {calls:,} calls, {_money(more)}")
    return lines


def _money(dollars: float | None) -> str:
    return "price unknown (give judges a price in the panel file)" if dollars is None else f"at most ${dollars:,.2f}"
