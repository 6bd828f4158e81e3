"""How often a run like this would be wrong, and what it could not have found."""

from __future__ import annotations

from dataclasses import dataclass

from recuse.report.estimate_format import in_unit
from recuse.report.numbers import MINUS, is_number, short
from recuse.report.results_model import ResultsModel

__all__ = ["ErrorRates", "error_rates"]


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """How often the gates err: on judges without a fault, and on faults of a size."""

    sentence: str
    judges: list[tuple[str, str, str, str]]  # panel, judge, fair and not cleared, again and not cleared
    faults: list[tuple[str, str, str, str]]  # gate, limit, typical, worst


def error_rates(view: ResultsModel) -> ErrorRates | None:
    """None where no gate decided by intervals."""
    rates = view.results.get("error_rates")
    if not rates or not rates.get("sentence"):
        return None
    titles = {n.gate: n.gate_title for n in view.numbers if n.verdict}
    return ErrorRates(
        sentence=str(rates["sentence"]),
        judges=[
            (r["panel"], view.label(r["judge"]), _percent(r["fair_not_cleared"]), _percent(r["again_not_cleared"]))
            for r in rates["judges"]
        ],
        faults=[
            (titles.get(r["gate"], r["gate"]), r["limit"].replace("-", MINUS), _with_unit(r["typical"], r["unit"]),
             _with_unit(r["worst"], r["unit"]))
            for r in rates["smallest_faults"]
        ],
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if is_number(share) else ""


def _with_unit(value: float, unit: str) -> str:
    if unit == "share":
        return in_unit(value, unit)
    return " ".join(part for part in (short(float(f"{value:.3g}")), unit) if part)
