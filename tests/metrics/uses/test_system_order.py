"""Order of systems: by hand, against a plain loop and a bootstrap, invariances, planted judges, who is cleared."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from recuse.metrics.system_order import system_order
from recuse.ratings import Numeric, Ratings

TEN = Numeric(0, 10, 1)
WAVE = np.tile([-1.0, 0.0, 1.0], 10)[:, None]


def tables(rng, n=60, systems=4, step=0.5, people=3):
    """What each rater gives, (items, systems): systems lie `step` of a text's spread apart, a person errs by 0.6."""
    effect = step * np.arange(systems)
    quality = rng.normal(size=(n, 1)) * 0.7 + effect + rng.normal(size=(n, systems)) * 0.7

    def give(seen=quality, error=0.6):
        noisy = seen - effect.mean() + rng.normal(size=seen.shape) * error
        return np.clip(np.round(5 + 1.5 * noisy), 0, 10)

    def other(effects):
        return give(quality - effect + effects)

    judges = {
        "person": give(),
        "lenient": np.clip(give() + 1, 0, 10),
        "narrow": 5 + (give() - 5) / 2,
        "blind": other(effect.mean()),
        "mirrored": 10 - give(),
        "noise": give(rng.normal(size=quality.shape) + effect.mean()),
        "constant": np.full(quality.shape, 5.0),
        "far swapped": other(effect[[2, 1, 0, *range(3, systems)]]),
    }
    return judges, {f"person {k}": give() for k in range(people)}


def test_by_hand(grid):
    """People: 4, 2, 1 (differences 2, 3, 1). The judge has the last two the other way round: (2 + 3 - 1) / 6."""
    people, judge = WAVE + np.array([[4.0, 2.0, 1.0]]), WAVE + np.array([[7.0, 3.0, 5.0]])
    found = system_order(grid({"judge": judge, "ann": people}, scales=Numeric(-1, 10))).of(judge="judge")
    assert found.value == pytest.approx(4 / 6)
    assert (found.low, found.high) == pytest.approx((4 / 6, 4 / 6))  # every item shows the same differences
    assert found.detail["systems"] == [
        {"system": "s0", "people": 4.0, "judge": 7.0}, {"system": "s1", "people": 2.0, "judge": 3.0},
        {"system": "s2", "people": 1.0, "judge": 5.0},
    ]  # fmt: skip
    assert found.detail["told_apart"] == 3


def test_against_a_plain_loop_and_a_bootstrap_over_items(grid):
    rng = np.random.default_rng(11)
    judges, people = tables(rng, n=150, step=0.3)
    judge, persons = judges["far swapped"], np.mean([*people.values()], axis=0)

    def plain(rows):
        j, p = judge[rows].mean(axis=0), persons[rows].mean(axis=0)
        pairs = [*combinations(range(4), 2)]
        return sum(np.sign(j[s] - j[t]) * (p[s] - p[t]) for s, t in pairs) / sum(abs(p[s] - p[t]) for s, t in pairs)

    found = system_order(grid({"judge": judge, **people}, scales=TEN)).of(judge="judge")
    assert found.value == pytest.approx(plain(np.arange(150)), abs=1e-12)
    drawn = [plain(rng.integers(150, size=150)) for _ in range(4000)]
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.05)


def test_pairs_told_apart_are_those_of_the_paired_t(grid):
    rng = np.random.default_rng(12)
    judges, people = tables(rng, n=40, step=0.25)
    persons = np.mean([*people.values()], axis=0)
    p = sorted(stats.ttest_rel(persons[:, s], persons[:, t]).pvalue for s, t in combinations(range(4), 2))
    rejected = 0
    while rejected < 6 and p[rejected] < 0.05 / (6 - rejected):
        rejected += 1
    found = system_order(grid({"judge": judges["person"], **people}, scales=TEN)).of(judge="judge")
    assert found.detail["told_apart"] == rejected
    assert 0 < rejected < 6


def test_a_shift_or_a_narrower_scale_changes_nothing(grid):
    rng = np.random.default_rng(13)
    judges, people = tables(rng, n=30, step=0.2)
    judge = judges["person"]
    ends = [
        (found.value, found.low, found.high)
        for given in (judge, judge + 3, judge / 3)
        for found in [system_order(grid({"judge": given, **people}, scales=Numeric(0, 20))).of(judge="judge")]
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
    assert ends[0] == pytest.approx(ends[2], abs=1e-9)


def test_names_order_of_rows_and_unit_change_nothing(grid):
    rng = np.random.default_rng(14)
    judges, people = tables(rng, n=30, step=0.3)
    scores = {"judge": judges["person"], "judge 2": judges["noise"], **people}
    plain = grid(scores, scales=TEN)
    shuffled = plain.table.sample(frac=1, random_state=1)
    renamed = shuffled.assign(
        target=shuffled["target"].map({"s0": "z", "s1": "b", "s2": "y", "s3": "a"}),
        item="item " + shuffled["item"].astype(str).str[::-1],
        rater=shuffled["rater"].replace({"judge": "judge 9", "person 0": "zoe"}),
    )
    percent = renamed.assign(score=renamed["score"] * 10)
    one = system_order(plain).of(judge="judge")
    for table, scale in ((shuffled, TEN), (renamed, TEN), (percent, Numeric(0, 100, 10))):
        other = system_order(Ratings.of(table, scales=scale)).of(judge="judge 9" if table is not shuffled else "judge")
        assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), abs=1e-9)


def test_a_mirrored_judge_has_the_opposite_value(grid):
    judges, people = tables(np.random.default_rng(15))
    one, other = (
        system_order(grid({"judge": given, **people}, scales=TEN)).of(judge="judge")
        for given in (judges["person"], 10 - judges["person"])
    )
    assert other.value == -one.value


def test_leaving_out_the_worst_texts_of_a_system_moves_it_up(grid):
    """People's mean stays over all texts that were asked about."""
    _, people = tables(np.random.default_rng(16))
    persons = np.mean([*people.values()], axis=0)
    judge = persons.copy()
    judge[persons[:, 0] < np.quantile(persons[:, 0], 0.9), 0] = np.nan
    found = system_order(grid({"judge": judge, **people}, scales=TEN)).of(judge="judge")
    assert found.value < 0.9
    means = {one["system"]: (one["people"], one["judge"]) for one in found.detail["systems"]}
    assert means["s0"][1] > means["s0"][0]
    assert found.n_excluded == np.isnan(judge).sum()


def test_two_systems_are_one_comparison_and_undefined(grid, word):
    judges, people = tables(np.random.default_rng(17))
    two = {who: of[:, :2] for who, of in {"judge": judges["person"], **people}.items()}
    estimates = system_order(grid(two, scales=TEN))
    assert "one pair of systems" in estimates.of(judge="judge").note
    assert word("system_order", estimates) != ["pass"]


def test_systems_that_people_do_not_tell_apart_are_undefined(grid, word):
    judges, people = tables(np.random.default_rng(18), step=0.0)
    estimates = system_order(grid({"judge": judges["person"], **people}, scales=TEN))
    assert math.isnan(estimates.of(judge="judge").value)
    assert "people do not tell any two of the systems apart on these texts" in estimates.of(judge="judge").note
    assert word("system_order", estimates) != ["pass"]


def test_few_items_have_no_interval_to_offer(grid):
    judges, people = tables(np.random.default_rng(19), n=9, step=2)
    found = system_order(grid({"judge": judges["person"], **people}, scales=TEN)).of(judge="judge")
    assert found.note == (
        "undefined: an order of means needs 10 items or more, to show how far others would move it; got 9"
    )


def test_systems_with_items_of_their_own_are_compared_as_independent(grid):
    rng = np.random.default_rng(20)
    judges, people = tables(rng, n=200, step=0.5)
    apart = {who: np.where(np.arange(200)[:, None] % 4 == np.arange(4), of, np.nan)
             for who, of in {"judge": judges["person"], **people}.items()}  # fmt: skip
    table = grid(apart, scales=TEN).table.dropna(subset="score")
    found = system_order(Ratings.of(table, scales=TEN)).of(judge="judge")
    assert found.value == 1.0
    assert found.low > 0.7


@pytest.mark.slow
def test_who_is_cleared_with_30_items_and_4_systems(grid, word):
    rng = np.random.default_rng(21)
    words: dict[str, list[str]] = {}
    for _ in range(40):
        judges, people = tables(rng, n=30)
        for kind, given in judges.items():
            estimates = system_order(grid({"judge": given, **people}, scales=TEN))
            words.setdefault(kind, []).extend(word("system_order", estimates))
    passed = {kind: of.count("pass") for kind, of in words.items()}
    assert {kind for kind, count in passed.items() if count >= 36} == {"person", "lenient", "narrow"}
    assert all(passed[kind] <= 2 for kind in ("blind", "mirrored", "noise", "constant", "far swapped"))
    assert words["mirrored"].count("fail") >= 38
    assert words["constant"] == ["fail"] * 40


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["person", "far swapped", "mirrored"])
def test_intervals_hold_the_order_of_all_items(grid, kind):
    """The value that no end of items would give: 1, .2 (of ten steps, four turned round) and -1."""
    rng = np.random.default_rng(22)
    truth = {"person": 1.0, "far swapped": 0.2, "mirrored": -1.0}[kind]
    held = 0
    for _ in range(150):
        judges, people = tables(rng, n=40, step=0.5)
        found = system_order(grid({"judge": judges[kind], **people}, scales=TEN)).of(judge="judge")
        held += found.low - 1e-9 <= truth <= found.high + 1e-9
    assert held >= 0.92 * 150
