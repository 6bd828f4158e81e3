"""Asks the evals of a folder of simulated ratings: which gate each of them feeds, and with what."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from recuse import offers
from recuse.check.answers import Question, questions
from recuse.experiments.scripted_panel import simulated_choices, simulated_scores
from recuse.experiments.scripted_tests import simulated_attacks, simulated_turned, simulated_twins
from recuse.experiments.sizes import Sizes
from recuse.gates import Gates
from recuse.schema import Estimate, Estimates, RecuseError

__all__ = ["SIMULATED", "gates_of", "measured_by", "questions_by_gate"]

SIMULATED: Mapping[str, Callable[..., Any]] = {
    "scores": simulated_scores, "choices": simulated_choices, "scores turned": simulated_turned,
    "length_twins": simulated_twins, "attacked_scores": simulated_attacks,
}  # fmt: skip
OF_PAIRS = ("choices", "length_twins")


@cache
def gates_of(folder: Path, today: date) -> Gates:
    """The gates of a folder of evals on this day."""
    return Gates.load(folder / "gates.toml", today)


@cache
def questions_by_gate(folder: Path, sizes: Sizes) -> dict[str, tuple[str, Question]]:
    """Gate -> the kind of ratings it is asked of, and the question that asks it; tried out on one draw of each kind."""
    by_name: dict[str, tuple[str, Question]] = {}
    every = [q for path in sorted(folder.glob("test_*.py")) for q in questions(path)
             if "gate" in inspect.signature(q.function).parameters]  # fmt: skip
    for kind, simulate in SIMULATED.items():
        if kind in OF_PAIRS and not sizes.pairs:
            continue
        ratings = simulate(sizes, {}, np.random.default_rng(0))
        there = offers.offered(offers.design_of(ratings, kind.partition(" ")[0]))
        for question in (q for q in every if not offers.missing(q.needs, there)):
            for name in measured_by([question], ratings):
                by_name.setdefault(name, (kind, question))
    return by_name


def measured_by(wanted: Sequence[Question], ratings: Any) -> dict[str, Estimates | Estimate]:
    """What each question hands to its gate; nothing where it cannot be measured."""
    by_question: dict[str, Estimates | Estimate] = {}

    def keep(name: str, measured: Estimates | Estimate, **_: str) -> bool:
        by_question[name] = measured
        return True

    for question in wanted:
        try:
            question.ask(ratings=ratings, gate=keep, measure=lambda *_, **__: None)
        except RecuseError:
            continue
    return by_question
