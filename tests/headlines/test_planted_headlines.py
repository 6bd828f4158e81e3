"""Every gate on headlines fails the judge that has its bias planted, and nobody else.

Each planted judge takes the fifth seat beside the same four fair ones; authors differ by up to 2.4 points of 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pytest

from recuse.gates import Gates
from recuse.metrics import coverage, injection, length, position, scale_framing, self_preference
from recuse.panels import Panel
from recuse.schema import Verdict
from recuse.tasks import Task

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

Verdicts = Mapping[tuple[str, str], list[Verdict]]
"""(judge, gate) -> its verdicts."""


@pytest.fixture(scope="session")
def verdicts_in(panel: Panel, task_of: Callable[[str], Task], all_said: Callable[[str], pd.DataFrame]):
    """Verdicts of the four fair judges and the one in the fifth seat."""
    gates = Gates.load(GATES, today=date(2026, 3, 1))

    @lru_cache
    def of(seat: str) -> Verdicts:
        judges = (*FAIR, seat)
        own = {name: author for name, author in panel.own(list(task_of("grading").targets)).items() if name in judges}

        def said(protocol: str) -> pd.DataFrame:
            table = all_said(protocol)
            return table[table["judge"].isin(judges)]

        found: dict[tuple[str, str], list[Verdict]] = {}
        for gate, family in measured(said, task_of, own):
            for key in family:
                subject = dict(zip(family.by, key, strict=True))
                found.setdefault((subject["judge"], gate), []).append(gates.decide(gate, family, subject))
        return found

    return of


def measured(said: Callable[[str], pd.DataFrame], task_of: Callable[[str], Task], own: Mapping[str, str]):
    """Every gate on headlines with the family it decides, as the evals hand it in."""
    grades, duels, twins = said("grading"), said("pairwise"), said("pairwise_length")
    met, padded = pairs(task_of("pairwise")), pairs(task_of("pairwise_length"))
    outcomes = injection.grade_outcomes(said("grading_injected"), grades, attacks(task_of("grading_injected")))
    yield "parse_rate", coverage.parse_rate(grades)
    yield "own_text", self_preference.controlled(grades, own)
    yield "direction", scale_framing.direction_insensitivity(grades)
    yield "framing_shift", scale_framing.shift(grades)
    yield "order_consistency", position.order_consistency(duels, met)
    yield "slot_preference", position.slot_preference(duels, met)
    yield "letter_preference", position.letter_preference(duels, met)
    yield "padding", length.padding_preference(twins, padded)
    yield "injection", injection.success_rate(outcomes)


def attacks(task: Task) -> pd.DataFrame:
    return task.items_table().assign(story=lambda table: table["clean"])


def pairs(task: Task) -> pd.DataFrame:
    return task.items_table().rename(columns={"words.a": "words_a", "words.b": "words_b"})


@pytest.mark.parametrize("seat", TRIPPED)
def test_the_planted_judge_trips_its_gate_and_no_other(verdicts_in: Callable[[str], Verdicts], seat: str) -> None:
    failed = {gate for (judge, gate), found in verdicts_in(seat).items() if judge == seat for v in found if not v}
    told = {
        gate: [(v.outcome, v.estimate.value, v.estimate.low, v.estimate.high) for v in verdicts_in(seat)[seat, gate]]
        for gate in failed
    }
    assert failed == TRIPPED[seat], told
    assert all(v.outcome == "fail" for gate in TRIPPED[seat] for v in verdicts_in(seat)[seat, gate])


@pytest.mark.parametrize("seat", [seat for seat in TRIPPED if seat != "ignores-the-direction"])
def test_fair_judges_beside_it_pass_everything(verdicts_in: Callable[[str], Verdicts], seat: str) -> None:
    assert not_passed(verdicts_in(seat)) == {}


def test_a_peer_that_ignores_the_direction_is_no_reference_for_the_others(
    verdicts_in: Callable[[str], Verdicts],
) -> None:
    """Its digits are upside down in the negative framing, so whoever is compared with it there looks biased: the reason
    why `direction` is a gate of its own. Everything else is untouched."""
    found = not_passed(verdicts_in("ignores-the-direction"))
    assert {gate for _, gate, _ in found} == {"own_text"}
    assert {framing for _, _, framing in found} == {"negative"}


def not_passed(verdicts: Verdicts) -> dict[tuple[str, str, str], tuple[str, float]]:
    """What the fair judges did not pass."""
    return {
        (judge, gate, v.subject.get("framing", "")): (v.outcome, round(v.estimate.value, 3))
        for (judge, gate), found in verdicts.items()
        if judge in FAIR
        for v in found
        if v.outcome != "pass"
    }


def test_every_seat_is_shown_and_every_gate_on_headlines_is_tripped(panel: Panel) -> None:
    assert set(panel.judges) == {*FAIR, *TRIPPED}
    gates = Gates.load(GATES, today=date(2026, 3, 1))
    families = {name for name in gates if (gates[name].family or "").startswith("headlines.")}
    assert set().union(*TRIPPED.values()) == families
