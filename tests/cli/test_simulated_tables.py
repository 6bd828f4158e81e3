"""Judges of six kinds that must never be cleared, with the reason named, and one that is as good as one more person:
cleared as often as promised. Every table goes through `recuse check` as a file.

`RECUSE_TABLES=200 pytest tests/cli/test_simulated_tables.py -s` prints the counts over 200 tables each (half an hour).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow
TABLES = int(os.environ.get("RECUSE_TABLES", "4"))
ITEMS, PASSES, RIGHT = 400, 0.6, 0.9
"""Replies, share of good ones, and how often a person is right."""

Answers = np.ndarray
Judge = Callable[["World"], Answers]


class World:
    """The truth on every reply, its system, which are hard, and two people who are right nine times in ten."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.truth = self.rng.random(ITEMS) < PASSES
        self.system = np.where(np.arange(ITEMS) % 2, "atlas", "birch")
        self.people = [self.person(), self.person()]
        self.hard = self.people[0] != self.people[1]

    def person(self) -> Answers:
        return np.where(self.rng.random(ITEMS) < RIGHT, self.truth, ~self.truth)

    def lines(self, judge: Answers) -> str:
        word = {True: "pass", False: "fail", None: ""}
        rows = zip(self.system, judge, *self.people, strict=True)
        body = (f"t{k},{s}," + ",".join(word[v if v is None else bool(v)] for v in said)
                for k, (s, *said) in enumerate(rows))  # fmt: skip
        return "item,system,judge,anna,ben\n" + "\n".join(body) + "\n"


def always_passes(world: World) -> Answers:
    return np.ones(ITEMS, dtype=bool)


def inverted(world: World) -> Answers:
    return ~world.person()


def at_random(world: World) -> Answers:
    return world.rng.random(ITEMS) < PASSES


def likes_one_system(world: World) -> Answers:
    """As good as a person, but what atlas says passes six times in ten whatever it is worth."""
    favoured = (world.system == "atlas") & (world.rng.random(ITEMS) < 0.6)
    return world.person() | favoured


def refuses_the_hard(world: World) -> Answers:
    """Better than people on what it answers; two in three of the replies that people disagree on are left out."""
    good = np.where(world.rng.random(ITEMS) < 0.97, world.truth, ~world.truth).astype(object)
    good[world.hard & (world.rng.random(ITEMS) < 0.66)] = None
    return good


REASONS: dict[Judge, str] = {
    always_passes: r"it always says pass",
    inverted: r"it says the opposite of what your people say",
    at_random: r"it agrees with your people no more than chance would",
    likes_one_system: r"it favours system atlas against your people",
    refuses_the_hard: r"it leaves .* unanswered|it leaves",
}


@pytest.mark.parametrize("judge", REASONS, ids=lambda judge: judge.__name__)
def test_a_judge_with_a_fault_is_never_cleared_and_its_fault_is_named_first(recuse, tmp_path: Path, judge):
    firsts = []
    for seed in range(TABLES):
        world = World(seed)
        (tmp_path / "t.csv").write_text(world.lines(judge(world)))
        firsts.append(recuse("check", tmp_path / "t.csv"))
    show(judge.__name__, firsts, REASONS[judge])
    assert 0 not in {found.code for found in firsts}
    assert named(firsts, REASONS[judge]) >= 0.95 * TABLES


def test_a_judge_swapped_for_another_is_told_by_its_answers(recuse, tmp_path: Path):
    """Both agree with people as well as one more person; three answers in ten are others."""
    firsts = []
    for seed in range(TABLES):
        world = World(seed)
        old, new = tmp_path / "march.csv", tmp_path / "april.csv"
        old.write_text(world.lines(world.person()))
        other = np.where(world.rng.random(ITEMS) < 0.75, world.truth, ~world.truth)
        new.write_text(world.lines(other))
        firsts.append(recuse("check", old, new))
    reason = r"it is not the judge it was: \d+% of its answers changed from march to april"
    show("swapped for another", firsts, reason)
    assert {found.code for found in firsts} == {1}
    assert named(firsts, reason) >= 0.95 * TABLES


def test_a_judge_that_likes_what_stands_first_is_told_by_that(recuse, tmp_path: Path):
    """Pairs in both orders; the judge takes what stands first four times in ten, and else chooses as a person does."""
    firsts = []
    for seed in range(TABLES):
        (tmp_path / "pairs.csv").write_text(pairs(np.random.default_rng(seed), liking=0.4))
        firsts.append(recuse("check", tmp_path / "pairs.csv"))
    show("likes the first", firsts, r"it favours what stands first")
    assert 0 not in {found.code for found in firsts}
    assert named(firsts, r"it favours what stands first") >= 0.95 * TABLES


def test_a_judge_that_is_one_more_person_is_cleared_as_often_as_promised(recuse, tmp_path: Path):
    """The promise is `power` of human_ceiling, computed from the table; the gate is not loosened for it."""
    import json

    cleared, promised = [], []
    for seed in range(TABLES):
        world = World(seed)
        (tmp_path / "t.csv").write_text(world.lines(world.person()))
        found = recuse("check", tmp_path / "t.csv", "--json", tmp_path / "o.json")
        cleared.append(found.code == 0)
        verdicts = json.loads((tmp_path / "o.json").read_text())["verdicts"]
        promised += [v["estimate"]["detail"]["power"] for v in verdicts if v["gate"] == "human_ceiling"]
        assert found.code in (0, 2)
    share, power = float(np.mean(cleared)), float(np.mean(promised))
    print(f"\none more person: cleared {sum(cleared)} of {TABLES}, promised {power:.2f}")
    assert share >= power - 2.6 * np.sqrt(power * (1 - power) / TABLES)


def pairs(rng: np.random.Generator, liking: float, items: int = 200) -> str:
    better = rng.random(items) < 0.5  # whether atlas wrote the better text
    lines = ["item,first,second,rater,winner"]
    for k in range(items):
        people = {name: better[k] if rng.random() < RIGHT else not better[k] for name in ("anna", "ben")}
        for first, second in (("atlas", "birch"), ("birch", "atlas")):
            own = better[k] if rng.random() < RIGHT else not better[k]
            atlas = first == "atlas" if rng.random() < liking else own
            for rater, takes_atlas in {**people, "judge": atlas}.items():
                lines.append(f"q{k},{first},{second},{rater},{'atlas' if takes_atlas else 'birch'}")
    return "\n".join(lines) + "\n"


def named(firsts: list, reason: str) -> int:
    """A favour that is surely there, but not surely beyond its limit, is told first of an undecided judge as well."""
    return sum(bool(re.match(f"judge (is not cleared|stays undecided): ({reason})", found.first)) for found in firsts)


def show(kind: str, firsts: list, reason: str) -> None:
    codes = [found.code for found in firsts]
    counts = f"cleared {codes.count(0)}, undecided {codes.count(2)}, its fault named first {named(firsts, reason)}"
    print(f"\n{kind}: {counts} of {TABLES}: {firsts[0].first}")
