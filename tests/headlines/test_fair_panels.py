"""Fair judges of authors of unequal quality trip no gate more often than the stated rate, over 500 simulated panels.

Stated rate: a gate decides a family at 95 %, so at most one fair panel in twenty may have a judge fail it. Judges
differ in leniency, authors in quality, texts in worth; grades are whole numbers, and comparisons turn when two texts
seem alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.gates import Gates
from recuse.metrics import injection, presentation, self_preference
from recuse.papers.self_preference import published_tests, scale_framing
from recuse.ratings import Numeric, Ratings
from recuse.schema import Estimates

pytestmark = pytest.mark.slow

GATES = Gates.load(Path(__file__).parents[2] / "evals" / "gates.toml", today=date(2026, 3, 1))
PANELS, BATCH, STATED = 500, 50, 0.05
STORIES, SEATS, AUTHORS = 40, 3, ("a1", "a2", "a3")
PAIRED_STORIES, PAYLOADS = 20, 24
ATTACKED_PAIRS, PAIR_PAYLOADS = 11, 22
MET = [(s, a, b) for s in range(PAIRED_STORIES) for a, b in ((0, 1), (1 + s % 2, 2 - 2 * (s % 2)))]
GRADES = Numeric(1, 5, step=1)

Floats = np.ndarray


class Worlds:
    """Texts and judges of `BATCH` panels at once; `seen` has shape (stories, judges, authors): what each judge thinks
    of each text, the judges of one panel after those of another. No text is judged in two panels."""

    def __init__(self, rng: np.random.Generator) -> None:
        panels = (BATCH, 1)
        quality = rng.normal(3.0, 0.5, (1, *panels, len(AUTHORS)))
        leniency = rng.normal(0.0, 0.2, (1, BATCH, SEATS, 1))
        worth = quality + rng.normal(0.0, 0.5, (STORIES, *panels, len(AUTHORS)))
        view = rng.normal(0.0, 0.4, (STORIES, BATCH, SEATS, len(AUTHORS)))
        self.rng = rng
        self.seen = (worth + leniency + view).reshape(STORIES, BATCH * SEATS, len(AUTHORS))
        self.judges = np.array([f"p{p:02}.j{j + 1}" for p in range(BATCH) for j in range(SEATS)], dtype=object)

    def grades(self) -> pd.DataFrame:
        """Both directions, digits as written."""
        return pd.concat([self._graded("ascending"), self._graded("reversed")], ignore_index=True)

    def _graded(self, direction: str) -> pd.DataFrame:
        grade = whole(self.seen + self.rng.normal(0.0, 0.2, self.seen.shape))
        digit = grade if direction == "ascending" else 6 - grade
        i, j, t = (index.ravel() for index in np.indices(digit.shape))
        return pd.DataFrame({
            "direction": direction, "rater": self.judges[j], "score": digit.ravel(), "item": named("s", i),
            "target": np.array(AUTHORS, dtype=object)[t],
        })  # fmt: skip

    def comparisons(self) -> Ratings:
        """Choices in both orders under both labels: two pairs a story."""
        rows = [(f"d{k}", f"s{s}", AUTHORS[a], AUTHORS[b]) for k, (s, a, b) in enumerate(MET)]
        return self._chosen(
            self._gaps(), pd.DataFrame(rows, columns=["item", "cluster", "a", "b"]), ("plain", "swapped")
        )

    def _gaps(self) -> Floats:
        return np.array([self.seen[s, :, a] - self.seen[s, :, b] for s, a, b in MET])

    def twins(self) -> Ratings:
        """The same text twice, the second one padded."""
        items = pd.DataFrame({"item": [f"s{s}" for s in range(STORIES)]})
        items = items.assign(cluster=items["item"], a="plain", b="padded", words_a=30, words_b=60)
        return self._chosen(np.zeros((STORIES, len(self.judges))), items, ("plain",))

    def _chosen(self, gap: Floats, items: pd.DataFrame, labels: tuple[str, ...], **more) -> Ratings:
        shape = (2, len(labels), *gap.shape)
        first = np.stack([gap, -gap])[:, None] + self.rng.normal(0.0, 0.3, shape)
        response = np.select([first > 0.1, first < -0.1], ["first", "second"], "tie")
        order, label, i, j = (index.ravel() for index in np.indices(shape))
        frame = pd.DataFrame({
            "rater": self.judges[j], "item": items["item"].to_numpy(dtype=object)[i],
            "order": np.array(["ab", "ba"])[order], "labels": np.array(labels)[label], "response": response.ravel(),
        })  # fmt: skip
        return Ratings.of(frame, texts=items.assign(target=""), clusters="stories", **more)

    def attacks(self, clean: Ratings) -> Ratings:
        """Attacks that do nothing: only the judge's unsteadiness moves the grade."""
        number = np.arange(2 * PAYLOADS)
        story, author, payload = number % STORIES, number % len(AUTHORS), number % PAYLOADS
        grade = whole(self.seen[story, :, author] + self.rng.normal(0.0, 0.2, (len(number), len(self.judges))))
        texts = pd.DataFrame({
            "item": named("x", number), "clean": named("s", story), "target": np.array(AUTHORS, dtype=object)[author],
            "payload": payload.astype(str),
        })  # fmt: skip
        k, j = (index.ravel() for index in np.indices(grade.shape))
        frame = texts[["item", "target"]].iloc[k].assign(rater=self.judges[j], score=grade.ravel())
        return graded(frame.reset_index(drop=True), texts=texts, beside={"scores": clean}.get)

    def attacked_comparisons(self, clean: Ratings) -> Ratings:
        """The same in comparisons, on the first pair of every other story, on either side and in both orders."""
        number = np.arange(PAIR_PAYLOADS)
        pair = 2 * (number % ATTACKED_PAIRS)
        texts = clean.texts.iloc[pair].reset_index(drop=True)
        texts = texts.assign(
            clean=texts["item"], item=named("y", number), payload=number.astype(str),
            attacked=np.array(["a", "b"])[number % 2],
        )  # fmt: skip
        return self._chosen(self._gaps()[pair], texts, ("plain",), beside={"choices": clean}.get)


def graded(frame: pd.DataFrame, **more) -> Ratings:
    return Ratings.of(frame, scales=GRADES, clusters="stories", **more)


def named(letter: str, numbers: np.ndarray) -> np.ndarray:
    return np.array([f"{letter}{number}" for number in numbers], dtype=object)


def whole(values: Floats) -> Floats:
    return np.clip(np.rint(values), 1, 5)


def families(worlds: Worlds) -> Iterator[tuple[str, Estimates]]:
    """Every gate on headlines with the estimates of one panel, panel by panel. What is measured of each judge alone is
    measured of all at once; self-preference needs a panel's judges together and no others."""
    table, comparisons, twins = worlds.grades(), worlds.comparisons(), worlds.twins()
    grades = graded(table)
    alone = {
        "direction": scale_framing.direction_insensitivity(grades),
        "framing_shift": scale_framing.framing_shift(grades),
        "order_consistency": presentation.order_consistency(comparisons),
        "slot_preference": presentation.slot_preference(comparisons),
        "letter_preference": presentation.letter_preference(comparisons),
        "padding": presentation.padding_preference(twins),
        "injection": injection.injection_success(worlds.attacks(grades)),
        "injection, in comparisons": injection.injection_success(worlds.attacked_comparisons(comparisons)),
    }
    by_panel = dict(iter(table.groupby(table["rater"].str[:3])))
    for panel, judges in enumerate(worlds.judges.reshape(BATCH, SEATS)):
        own = dict(zip(judges, AUTHORS, strict=True))
        yield "own_text", self_preference.self_preference_controlled(graded(by_panel[f"p{panel:02}"], authors=own))
        for gate, all_of_them in alone.items():
            yield gate, Estimates(all_of_them.by, {key: e for key, e in all_of_them.items() if key[0] in own})


@dataclass
class Found:
    failed: Counter[str] = field(default_factory=Counter)  # gate -> panels in which a fair judge fails it
    significant: list[bool] = field(default_factory=list)  # self-preference at 5 %, by judge and direction
    naive: list[bool] = field(default_factory=list)  # the same of S - G, on the first panels


@pytest.fixture(scope="module")
def found() -> Found:
    told = Found()
    for seed in range(PANELS // BATCH):
        for gate, family in families(Worlds(np.random.default_rng([20261121, seed]))):
            name = gate.partition(",")[0]
            told.failed[gate] += any(v.outcome == "fail" for v in GATES.decide(name, family, {"panel": "fair"}))
            if gate == "own_text":
                told.significant += [estimate.detail["p"] < 0.05 for estimate in family.values()]
    grades = Worlds(np.random.default_rng(20261121)).grades()
    for _, table in grades.groupby(grades["rater"].str[:3]):
        own = dict(zip(table["rater"].drop_duplicates(), AUTHORS, strict=True))
        told.naive += [
            e.detail["p"] < 0.05 for e in published_tests.self_minus_given(graded(table, authors=own)).values()
        ]
    return told


def test_no_gate_fails_fair_panels_beyond_its_rate(found: Found) -> None:
    assert len(found.failed) == 9
    assert {gate: count for gate, count in found.failed.items() if count > STATED * PANELS} == {}


def test_self_preference_is_silent_at_its_nominal_rate_though_quality_is_unequal(found: Found) -> None:
    """3,000 tests at 5 %, to which the scale's ends may add a little; S - G, which knows no quality, finds most
    guilty."""
    assert len(found.significant) == PANELS * SEATS * 2
    assert 0.03 < np.mean(found.significant) < 0.075
    assert np.mean(found.naive) > 0.5
