"""Ratings from plain rows, and the words of the shipped gates."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recuse.gates import Gates
from recuse.ratings import Ratings
from recuse.schema import Estimates

GATES = Path(__file__).resolve().parents[3] / "evals" / "gates.toml"


def labelled(answers: Mapping[str, Any], clusters: Any = None, **known: Any) -> Ratings:
    """One answer per item of `judge...` and of people: labels, or numbers; None where there is none."""
    numeric = any(isinstance(x, int | float) for said in answers.values() for x in said)
    rows = [
        (who, "judge" if who.startswith("judge") else "person", f"t{k}", x)
        for who, said in answers.items()
        for k, x in enumerate(said)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "score" if numeric else "response"])
    frame["criterion"] = "rating"
    if clusters is not None:
        known["texts"] = pd.DataFrame({"item": [f"t{k}" for k in range(len(clusters))], "cluster": clusters})
    return Ratings.of(frame, **known)


@pytest.fixture(scope="session")
def label() -> Callable[..., Ratings]:
    return labelled


@pytest.fixture(scope="session")
def grid() -> Callable[..., Ratings]:
    """Scores by rater, arrays of shape (items, systems), NaN where there is none."""

    def make(scores: Mapping[str, np.ndarray], **known: Any) -> Ratings:
        rows = [
            (who, "judge" if who.startswith("judge") else "person", f"i{i}", f"s{s}", value)
            for who, table in scores.items()
            for (i, s), value in np.ndenumerate(table)
        ]
        return Ratings.of(pd.DataFrame(rows, columns=["rater", "kind", "item", "target", "score"]), **known)

    return make


@pytest.fixture(scope="session")
def word() -> Callable[[str, Estimates], list[str]]:
    """What the shipped gate says of each estimate."""
    gates = dataclasses.replace(Gates.load(GATES, date(2026, 3, 1)), accepted_faults=())
    return lambda name, estimates: [verdict.outcome for verdict in gates.decide(name, estimates, {})]
