"""`recuse rank FILE`: systems by Bradley and Terry, as people and judges rank them, and what a judge moves."""

from __future__ import annotations

from pathlib import Path

import evalica
import numpy as np
import pandas as pd
import pytest
from scipy import optimize

from recuse.check.rank_command import POINTS, UNSEEN, bradley_terry, rank_systems
from recuse.readers.file_panel import read

FILE = Path(__file__).parent / "pairs.csv"
SYSTEMS = np.array(["s0", "s1", "s2", "s3"])


def test_two_systems_by_hand():
    """30 wins to 10, a half more for each, one tie: log odds log(30.5 / 10.5), half of it either way."""
    strengths = bradley_terry(np.array([[0.0, 30], [10, 0]]))
    assert strengths == pytest.approx(POINTS * np.log(30.5 / 10.5) / 2 * np.array([1, -1]))


def test_intervals_of_two_systems_by_hand():
    """6 wins to 2 in 8 items: log(6.5 / 2.5), without a win log(5.5 / 2.5), without a loss log(6.5 / 1.5), with a tie
    more log(7 / 3); t on 7 degrees of freedom."""
    rows = [(k, "s0", "s1", "A" if k < 6 else "B") for k in range(8)]
    found = rank_systems(read(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "judge"]), judges="judge"))
    one, win, loss, twice = np.log([6.5 / 2.5, 5.5 / 2.5, 6.5 / 1.5, 7 / 3]) * POINTS / 2
    error = np.sqrt(7 / 8 * (6 * (win - one) ** 2 + 2 * (loss - one) ** 2) + (twice - one) ** 2)
    assert found.strengths[0, 0] == pytest.approx([one, one - 2.364624 * error, one + 2.364624 * error], abs=1e-4)


def test_the_ties_that_nobody_saw_do_not_grow_with_the_systems_that_are_met():
    """One in all for each system, however many it met: of six that met all others 1 / 5 a pair, of a chain more at its
    ends. With one a pair, fifteen systems of seven pairs each lay 60 points too near to each other."""
    wins = np.array([[0.0, 2, 2, 2], [1, 0, 2, 2], [1, 1, 0, 2], [1, 1, 1, 0]])
    for met, ties in ((np.ones((4, 4)), [1 / 3] * 6), (np.abs(np.subtract.outer(range(4), range(4))) == 1,
                                                         [0.75, 0, 0, 0.5, 0, 0.75])):  # fmt: skip
        seen = wins * met
        added = np.zeros((4, 4))
        added[np.triu_indices(4, 1)] = np.array(ties) / 2
        assert bradley_terry(seen) == pytest.approx(bradley_terry(seen + added + added.T, 0.0))


def test_a_system_that_met_others_in_one_item_has_no_bounds():
    frame = pd.concat([pairs(3, 0.0), pairs(5, 0.0, 1).assign(item="n", model_b="new", judge="B")])
    found = rank_systems(read(frame, people="anna,ben", judges="judge"))
    place = found.systems.index("new")
    assert found.strengths[1, place, 1:].tolist() == [-np.inf, np.inf]
    assert np.isfinite(np.delete(found.strengths, place, axis=1)).all()


def test_right_answers_rank_in_the_place_of_people(tmp_path):
    """People always say the other text; the judge that says what is right moves no system."""
    rng, rows = np.random.default_rng(3), []
    for k in range(120):
        first, second = rng.permutation(SYSTEMS)[:2].tolist()
        right, other = (first, second) if rng.random() < 0.7 else (second, first)
        rows.append((k, first, second, other, other, right, right))
    names = ["item", "first", "second", "anna", "ben", "gpt", "gold"]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "a.csv", index=False)
    ranking = rank_systems(read(tmp_path / "a.csv", people="anna,ben", judges="gpt", gold="gold"))
    assert ranking.by == ("the right answers", "people", "gpt")
    assert "gpt less the right answers: no system is moved beyond chance" in [*ranking.lines()]
    assert ranking.strengths[1, :, 0] == pytest.approx(-ranking.strengths[0, :, 0])  # of people, no right answer
    few = pd.read_csv(tmp_path / "a.csv")
    few.loc[60:, ["anna", "ben"]] = None
    few.to_csv(tmp_path / "few.csv", index=False)
    ranking = rank_systems(read(tmp_path / "few.csv", people="anna,ben", judges="gpt", gold="gold"))
    assert (ranking.by, ranking.pairs) == (("the right answers", "gpt"), 120)


def test_the_likelihood_is_at_its_largest():
    """Against a general optimiser, on wins of five systems of which one always wins."""
    wins = np.random.default_rng(3).integers(0, 9, (5, 5)).astype(float)
    wins[0], wins[:, 0] = 7, 0
    np.fill_diagonal(wins, 0)
    padded = wins + UNSEEN / 4 / 2 * (wins + wins.T > 0)  # each met four others

    def loss(strength):
        return float((padded * np.log1p(np.exp(strength[None, :] - strength[:, None]))).sum())

    best = optimize.minimize(loss, np.zeros(5), tol=1e-12).x
    assert bradley_terry(wins) == pytest.approx(POINTS * (best - best.mean()), abs=0.05)
    both = bradley_terry(np.stack([wins, wins.T]))
    assert both[0] == pytest.approx(bradley_terry(wins), abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_evalica_finds_the_same_strengths(seed):
    """Its Newman iteration against Newton's steps, with ties, and the one unseen tie of a system among 11 others."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 12, 900)
    b = (a + rng.integers(1, 12, 900)) % 12
    won = rng.choice([evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw], 900, p=[0.5, 0.3, 0.2])
    shares = {evalica.Winner.X: (1.0, 0.0), evalica.Winner.Y: (0.0, 1.0), evalica.Winner.Draw: (0.5, 0.5)}
    wins = np.zeros((12, 12))
    for i, j, winner in zip(a, b, won, strict=True):
        wins[i, j] += shares[winner][0]
        wins[j, i] += shares[winner][1]
    met = [(i, j) for i in range(12) for j in range(i) if wins[i, j] + wins[j, i] > 0]
    found = evalica.bradley_terry(
        [*a, *(i for i, _ in met)], [*b, *(j for _, j in met)], [*won, *[evalica.Winner.Draw] * len(met)],
        weights=[1.0] * 900 + [UNSEEN / 11] * len(met), tolerance=1e-12, limit=10_000,
    )  # fmt: skip
    scores = np.log(found.scores.sort_index().to_numpy())
    assert bradley_terry(wins) == pytest.approx(POINTS * (scores - scores.mean()), abs=0.01)


def test_nothing_depends_on_names_or_the_order_of_rows_and_sides():
    frame = pairs(4, 80.0)
    turned = frame.assign(model_a=frame["model_b"], model_b=frame["model_a"], item="x" + frame["item"].astype(str))
    for who in ("judge", "anna", "ben"):
        turned[who] = turned[who].map({"A": "B", "B": "A"})
    calls = {"s0": "z", "s1": "b", "s2": "y", "s3": "a"}
    turned = turned.replace({"model_a": calls, "model_b": calls}).sample(frac=1, random_state=5)
    turned = turned.rename(columns={"anna": "zoe", "judge": "gpt"})
    one = rank_systems(read(frame, people="anna,ben", judges="judge"))
    two = rank_systems(read(turned, people="zoe,ben", judges="gpt"))
    assert [calls[name] for name in one.systems] == list(two.systems)
    assert one.strengths == pytest.approx(two.strengths, abs=1e-3)
    assert one.moved == pytest.approx(two.moved, abs=1e-3)


def test_a_system_in_three_pairs_leaves_the_others_their_intervals():
    """But for a fifth of its own, by which it moves the mean that all are told from."""
    frame, new = pairs(3, 0.0), pairs(5, 0.0, 3)
    alone, both = (rank_systems(read(each, people="anna,ben", judges="judge")) for each in (
        frame, pd.concat([frame, new.assign(item=["n0", "n1", "n2"], model_b="new", anna="B", ben="B")])
    ))  # fmt: skip
    known = [both.systems.index(name) for name in alone.systems]
    width = both.strengths[0, known, 2] - both.strengths[0, known, 1]
    alone_width = alone.strengths[0, :, 2] - alone.strengths[0, :, 1]
    new = np.ptp(both.strengths[0, both.systems.index("new"), 1:])
    assert (width**2 < 1.2 * alone_width**2 + (new / 4) ** 2).all()


def test_fewer_pairs_never_make_a_favour_sure():
    """What all of the pairs do not show, half of them show no better: the intervals widen."""
    whole, half = (rank_systems(read(pairs(1, 150.0, n), people="anna,ben", judges="judge")) for n in (600, 150))
    widths = [(found.moved[0, :, 2] - found.moved[0, :, 1]).mean() for found in (whole, half)]
    assert widths[1] > 1.5 * widths[0]


@pytest.mark.slow("large files")
def test_many_systems_fit_on_a_screen():
    rng = np.random.default_rng(2)
    names = np.array([f"s{k:02}" for k in range(40)])
    a = rng.integers(0, 40, 800)
    b = (a + rng.integers(1, 40, 800)) % 40
    frame = pd.DataFrame({"item": np.arange(800), "model_a": names[a], "model_b": names[b],
                          "anna": rng.choice(["A", "B"], 800), "judge": rng.choice(["A", "B"], 800)})  # fmt: skip
    lines = list(rank_systems(read(frame, people="anna", judges="judge")).lines())
    assert len(lines) <= 25
    assert "  and 20 systems between them" in lines


def pairs(seed: int, moved: float, count: int = 300) -> pd.DataFrame:
    """Pairs of four systems, with two people; the judge adds `moved` points to s1."""
    rng = np.random.default_rng(seed)
    strength = np.array([120.0, 40, -40, -120])
    a = rng.integers(0, 4, count)
    b = (a + rng.integers(1, 4, count)) % 4

    def choices(points):
        wins = rng.random(count) < 1 / (1 + 10 ** ((points[b] - points[a]) / 400))
        return np.where(wins, "A", "B")

    columns = {"item": np.arange(count), "model_a": SYSTEMS[a], "model_b": SYSTEMS[b]}
    columns |= {"judge": choices(strength + np.array([0, moved, 0, 0]))}
    return pd.DataFrame(columns | {name: choices(strength) for name in ("anna", "ben")})


def ranking(seed: int, moved: float):
    return rank_systems(read(pairs(seed, moved), people="anna,ben", judges="judge"))


@pytest.mark.slow("simulation")
def test_intervals_hold_the_strengths_and_a_judge_that_moves_nothing_seems_to_in_one_of_twenty():
    truth = {"s0": 120.0, "s1": 40.0, "s2": -40.0, "s3": -120.0}
    held, seems, runs = [], 0, 60
    for seed in range(runs):
        found = ranking(seed, 0.0)
        for s, name in enumerate(found.systems):
            _, low, high = found.strengths[1, s]
            held.append(low <= truth[name] <= high)
        seems += any(low > 0 or high < 0 for _, low, high in found.moved[0])
    assert np.mean(held) >= 0.92
    assert seems <= 0.05 * runs + 2.5 * (0.05 * 0.95 * runs) ** 0.5


@pytest.mark.slow("simulation")
@pytest.mark.parametrize(("systems", "count", "few"), [(15, 105, None), (6, 60, None), (6, 300, 0), (6, 300, 3)])
def test_many_systems_in_few_pairs_are_held_too(systems, count, few):
    """Of the whole, and of the best, or a middling system that is in six pairs alone; a judge that moves nothing."""
    held, whose, seems, runs = [], [], 0, 80
    points = np.linspace(200.0, -200, systems)
    for seed in range(runs):
        rng = np.random.default_rng([seed, systems])
        a = rng.integers(0, systems, count)
        b = (a + rng.integers(1, systems, count)) % systems
        if few is not None:
            there = (a != few) & (b != few)
            there[np.flatnonzero(~there)[:6]] = True
            a, b = a[there], b[there]
        names = np.array([f"s{k:02}" for k in range(systems)])
        frame = pd.DataFrame({"item": np.arange(len(a)), "model_a": names[a], "model_b": names[b]})
        for who in ("anna", "judge"):
            frame[who] = np.where(rng.random(len(a)) < 1 / (1 + 10 ** ((points[b] - points[a]) / 400)), "A", "B")
        found = rank_systems(read(frame, people="anna", judges="judge"))
        truth = [points[int(name[1:])] for name in found.systems]
        inside = (found.strengths[:, :, 1] <= truth) & (truth <= found.strengths[:, :, 2])
        held.append(inside.mean())
        whose.append(inside[:, found.systems.index(names[few or 0])].mean())
        seems += any(low > 0 or high < 0 for _, low, high in found.moved[0])
    assert np.mean(held) >= 0.94
    assert np.mean(whose) >= 0.91
    assert seems <= 0.05 * runs + 2.5 * (0.05 * 0.95 * runs) ** 0.5


def test_a_system_that_the_judge_favours_is_named():
    """150 points for s1 are 112 above the mean, which moves with it, and 38 less for the others."""
    found = ranking(1, 150.0)
    _, low, high = found.moved[0, found.systems.index("s1")]
    assert 0 < low < 112 < high
    assert found.moved[..., 0] == pytest.approx(found.strengths[1:, :, 0] - found.strengths[:1, :, 0])
    assert any(line.startswith("judge less people: ") and "s1 +" in line for line in found.lines())


def test_what_cannot_be_ranked_is_said(recuse, tmp_path):
    found = recuse("rank", FILE.with_name("three_judges.csv"))
    assert (found.code, "ranking takes pairs" in found.err) == (3, True)
    assert "recuse check FILE --use rank" in found.err
    frame = pairs(2, 0.0)
    apart = frame[frame["model_a"].isin(["s0", "s1"]) == frame["model_b"].isin(["s0", "s1"])]
    apart.to_csv(tmp_path / "apart.csv", index=False)
    found = recuse("rank", tmp_path / "apart.csv", "--people", "anna,ben", "--judges", "judge")
    assert (found.code, "never met" in found.err) == (3, True)


def test_pairs_that_a_judge_leaves_out_count_for_nobody_and_are_told():
    """Whatever it would have said of them: the ranking is that of the pairs that all judged."""
    whole = pairs(3, 100.0)
    silent = whole.assign(judge=whole["judge"].where((whole["model_a"] != "s1") | (whole.index % 2 == 0), ""))
    found = rank_systems(read(silent, people="anna,ben", judges="judge"))
    kept = rank_systems(read(whole[silent["judge"] != ""], people="anna,ben", judges="judge"))
    left_out = int((silent["judge"] == "").sum())
    assert (found.pairs, found.unanswered) == (300 - left_out, {"judge": left_out})
    assert found.strengths[:, :, 0] == pytest.approx(kept.strengths[:, :, 0])
    assert any(f"judge gave no answer to {left_out} pairs" in line for line in found.lines())
