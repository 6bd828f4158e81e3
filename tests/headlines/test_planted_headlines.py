"""Every gate on headlines fails the judge that has its bias planted, and nobody else.

Each planted judge takes the fifth seat beside the same four fair ones; authors differ by up to 2.4 points of 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path

import pytest

from recuse.gates import Gates
from recuse.metrics import coverage, injection, presentation, self_preference
from recuse.panels import Panel
from recuse.papers.self_preference import scale_framing
from recuse.ratings import Ratings
from recuse.schema import Verdict

pytestmark = pytest.mark.slow("simulations")

GATES = Path(__file__).parents[2] / "evals" / "gates.toml"
FAIR = ("fair-1", "fair-2", "fair-3", "fair-4")
TRIPPED = {
    "fair": set(),
    "prefers-itself": {"own_text"},
    "milder-where-low-is-good": {"framing_shift"},
    "ignores-the-direction": {"direction"},
    "likes-the-first": {"slot_preference"},
    "likes-the-letter-a": {"letter_preference"},
    "decides-by-lot": {"order_consistency"},
    "likes-length": {"padding"},
    "obeys-instructions": {"injection"},
}
"""Seat -> the gates it must fail."""

TOUCHED = {"likes-the-first": {"order_consistency"}, "likes-the-letter-a": {"order_consistency"}}
"""Seat -> the gates it may leave undecided: who leans to a place turns some verdicts when places change."""

Verdicts = Mapping[tuple[str, str], list[Verdict]]
"""(judge, gate) -> its verdicts."""


@pytest.fixture(scope="session")
def verdicts_in(ratings_of: Callable[[str, tuple[str, ...]], Ratings]):
    """Verdicts of the four fair judges and the one in the fifth seat."""
    gates = Gates.load(GATES, today=date(2026, 3, 1))

    @lru_cache
    def of(seat: str) -> Verdicts:
        found: dict[tuple[str, str], list[Verdict]] = {}
        for gate, family in measured(lambda kind: ratings_of(kind, (*FAIR, seat))):
            for verdict in gates.decide(gate, family, {"panel": "planted-headlines"}):
                found.setdefault((verdict.subject["judge"], gate), []).append(verdict)
        return found

    return of


def measured(ratings: Callable[[str], Ratings]):
    """Every gate on headlines with the family it decides, as the evals hand it in."""
    scores, choices = ratings("scores"), ratings("choices")
    yield "parse_rate", coverage.parse_rate(scores)
    yield "own_text", self_preference.self_preference_controlled(scores)
    yield "direction", scale_framing.direction_insensitivity(scores)
    yield "framing_shift", scale_framing.framing_shift(scores)
    yield "order_consistency", presentation.order_consistency(choices)
    yield "slot_preference", presentation.slot_preference(choices)
    yield "letter_preference", presentation.letter_preference(choices)
    yield "padding", presentation.padding_preference(ratings("length_twins"))
    yield "injection", injection.injection_success(ratings("attacked_scores"))


@pytest.mark.parametrize("seat", TRIPPED)
def test_the_planted_judge_trips_its_gate_and_no_other(verdicts_in: Callable[[str], Verdicts], seat: str) -> None:
    failed = {gate for (judge, gate), found in verdicts_in(seat).items() if judge == seat for v in found if not v}
    told = {
        gate: [(v.outcome, v.estimate.value, v.estimate.low, v.estimate.high) for v in verdicts_in(seat)[seat, gate]]
        for gate in failed
    }
    assert TRIPPED[seat] <= failed <= TRIPPED[seat] | TOUCHED.get(seat, set()), told
    assert all(v.outcome == "fail" for gate in TRIPPED[seat] for v in verdicts_in(seat)[seat, gate]), told
    assert all(v.outcome != "fail" for gate in failed - TRIPPED[seat] for v in verdicts_in(seat)[seat, gate]), told


@pytest.mark.parametrize("seat", [seat for seat in TRIPPED if seat != "ignores-the-direction"])
def test_fair_judges_beside_it_pass_everything(verdicts_in: Callable[[str], Verdicts], seat: str) -> None:
    assert not_passed(verdicts_in(seat)) == {}


def test_a_peer_that_ignores_the_direction_is_no_reference_for_the_others(
    verdicts_in: Callable[[str], Verdicts],
) -> None:
    """Its digits are upside down where the scale is reversed, so whoever is compared with it there looks biased: the
    reason why `direction` is a gate of its own. Everything else is untouched."""
    found = not_passed(verdicts_in("ignores-the-direction"))
    assert {gate for _, gate, _ in found} == {"own_text"}
    assert {direction for _, _, direction in found} == {"reversed"}


def not_passed(verdicts: Verdicts) -> dict[tuple[str, str, str], tuple[str, float]]:
    """What the fair judges did not pass."""
    return {
        (judge, gate, v.subject.get("direction", "")): (v.outcome, round(v.estimate.value, 3))
        for (judge, gate), found in verdicts.items()
        if judge in FAIR
        for v in found
        if v.outcome != "pass"
    }


def test_every_seat_is_shown_and_every_gate_on_headlines_is_tripped(
    panel: Panel, verdicts_in: Callable[[str], Verdicts]
) -> None:
    assert set(panel.judges) == {*FAIR, *TRIPPED}
    decided = {gate for _, gate in verdicts_in("fair")}
    assert set().union(*TRIPPED.values()) == decided - {"parse_rate"}
