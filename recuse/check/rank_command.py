"""`recuse rank FILE`: systems ranked by pairs, as people, as each judge ranks them, and how far a judge moves one.

Bradley and Terry (1952, Biometrika 39, 324-345): of systems i and j, i wins with probability

    1 / (1 + 10^((E_j - E_i) / 400))

E is given in points as for Elo, with mean 0 over systems. The likelihood is maximised by Newton's steps; a tie is half
a win for either. Every system has one tie more than was seen, shared evenly among those that it met, so that one that
always wins has a finite strength, and few pairs push none outwards (Firth 1993, Biometrika 80, 27-38). Intervals:
Student's t on as many degrees of freedom as items (clusters) in which the system met another, less 1; the variance is
the jackknife's, people and judges without the same item, and beside it the square of what twice the ties unseen move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from recuse.ratings import Ratings
from recuse.ratings.answers import answers_of_one_way
from recuse.readers.file_panel import load_file_panel
from recuse.run.show import Row, check_tables, show_tables
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, cluster_times, taken, total
from recuse.schema.vocabulary import RIGHT_ANSWERS

UNSEEN = 1.0
POINTS = 400 / np.log(10)
STEPS, FARTHEST, CLOSE = 200, 1.5, 1e-10
AT_ONCE = 1_000_000  # cells of the tables that are solved together
SHOWN = 20
COLUMNS = ("system", "rater", "points", "low", "high", "moved", "moved_low", "moved_high")


def bradley_terry(wins: Floats, ties: float = UNSEEN, start: Floats | float = 0.0) -> Floats:
    """Strengths in points (..., S) from wins (..., S, S), [i, j]: how often i won against j, ties as halves. Mean 0.
    `ties`: how many every system has more, shared among those that it met in any of several tables: one that lacks a
    pair parts nobody. Chains of pairs join all systems. `start`: strengths to begin at.

    >>> wins = np.array([[0.0, 30.0], [10.0, 0.0]])
    >>> [round(float(points)) for points in bradley_terry(wins)]
    [93, -93]
    """
    paired = (wins + np.swapaxes(wins, -1, -2) > 0).any(axis=tuple(range(wins.ndim - 2)))
    each = ties / np.maximum(paired.sum(axis=1), 1)
    wins = wins + paired * (each[:, None] + each) / 4
    games, won = wins + np.swapaxes(wins, -1, -2), wins.sum(axis=-1)
    strengths: Floats = np.zeros(won.shape) + start / POINTS
    for _ in range(STEPS):
        p = special.expit(strengths[..., :, None] - strengths[..., None, :])
        spread = games * p * (1 - p)
        curve = np.eye(len(each)) * spread.sum(axis=-1)[..., None] - spread + 1 / len(each)
        step = np.linalg.solve(curve, (won - (games * p).sum(axis=-1))[..., None])[..., 0]
        far = np.abs(step).max(axis=-1, keepdims=True)
        strengths = strengths + step / np.maximum(1.0, far / FARTHEST)
        if far.max() < CLOSE:
            break
    points: Floats = POINTS * (strengths - strengths.mean(axis=-1, keepdims=True))
    return points


class Ranking(NamedTuple):
    """Strengths of `systems`, strongest first by `by[0]`: per rater of `by` (people or right answers first) the
    value and the ends of its 95 % interval, (B, S, 3); `moved` (B - 1, S, 3): less the first, its interval at
    1 - .05 / S, so that of judges who move nothing one in twenty seems to. `pairs` were judged by all of them;
    `unanswered`: of further ones, how many a judge gave no answer to."""

    systems: tuple[str, ...]
    by: tuple[str, ...]
    strengths: Floats
    moved: Floats
    pairs: int
    unanswered: Mapping[str, int]

    def lines(self) -> Iterator[str]:
        """A row per system, and what each judge moves."""
        yield f"{len(self.systems)} systems, {self.pairs:,} pairs; points as for Elo, mean 0, with 95 % intervals"
        width = max(6, *(len(name) for name in self.systems)) + 2
        yield f"  {'system':<{width}}" + "".join(f"{name[:26]:<28}" for name in self.by).rstrip()
        rows = []
        for name, by in zip(self.systems, self.strengths.swapaxes(0, 1), strict=True):
            cells = (f"{v:+z.0f} ({low:+z.0f} to {high:+z.0f})" for v, low, high in by)
            rows.append(f"  {name:<{width}}" + "".join(f"{cell:<28}" for cell in cells).rstrip())
        if len(rows) > SHOWN:
            rows[SHOWN // 2 : -SHOWN // 2] = [f"  and {len(rows) - SHOWN} systems between them"]
        yield from rows
        for judge, moved in zip(self.by[1:], self.moved, strict=False):
            sure = [s for s in range(len(self.systems)) if not moved[s, 1] <= 0 <= moved[s, 2]]
            ends = (f"{value:+z.0f} ({low:+z.0f} to {high:+z.0f})" for value, low, high in moved[sure])
            phrases = [f"{self.systems[s]} {text}" for s, text in zip(sure, ends, strict=True)]
            yield f"{judge} less {self.by[0]}: {'; '.join(phrases) or 'no system is moved beyond chance'}"
        for judge, count in self.unanswered.items():
            yield f"{judge} gave no answer to {count:,} pairs that others judged: they count for nobody"

    def rows(self) -> Iterator[Row]:
        """A row per system and rater; what a judge moves is unknown where there are no people."""
        moved = np.full_like(self.strengths, np.nan)
        moved[len(self.by) - len(self.moved) :] = self.moved
        for rater, own, less in zip(self.by, self.strengths, moved, strict=True):
            for system, ends, difference in zip(self.systems, own, less, strict=True):
                yield dict(zip(COLUMNS, (system, rater, *ends, *difference), strict=True))


def rank_systems(ratings: Ratings) -> Ranking:
    """The ranking by people and by each judge, on the pairs that all of them judged. `RecuseError` where rows are no
    pairs of systems, and where some systems never meet the others."""
    texts = ratings.texts
    if texts is None or not {"a", "b"} <= set(texts):
        step = "say which two systems met with --first model_a --second model_b"
        other = "whether scores put systems in people's order, recuse check FILE --use rank says"
        raise RecuseError(f"ranking takes pairs: {step}; {other}")
    people, truth = answers_of_one_way(ratings, "systems are ranked", people=False).people_and_truth
    answers = truth or people
    known = texts.drop_duplicates("item").set_index("item")
    pairs = [(str(known["a"].get(item, "")), str(known["b"].get(item, ""))) for item in answers.items]
    by, shares = answers.judges, answers.judge_shares  # of "a won", "b won" and "tie", (B, U, 3)
    if answers.people:
        first = {RIGHT_ANSWERS if answers.right else "people": answers.people_shares}
        if truth and np.isfinite(people.people_shares[truth.raters > 0]).all():
            first["people"] = people.people_shares
        by, shares = (*first, *by), np.concatenate([*(one[None] for one in first.values()), shares])
    given = np.isfinite(shares[..., 0])
    there = given.all(axis=0) & np.array([a != b for a, b in pairs])
    if not there.any():
        raise RecuseError(f"no pair was judged by all of {', '.join(by)}; leave some out: --judges A,B --people C")
    systems = sorted({name for pair, one in zip(pairs, there, strict=True) if one for name in pair})
    place = {name: k for k, name in enumerate(systems)}
    ends = np.array([[place[a], place[b]] for (a, b), one in zip(pairs, there, strict=True) if one])
    graph = csr_array((np.ones(len(ends)), ends.T), shape=(len(systems), len(systems)))
    count, group = connected_components(graph, directed=False)  # systems that chains of pairs join
    if count > 1:
        named = ("{" + ", ".join(systems[k] for k in np.flatnonzero(group == one)[:4]) + "}" for one in (0, 1))
        groups = " and ".join(named)
        raise RecuseError(f"systems of {groups} never met, so nothing ranks them together; add pairs between them")
    codes = np.unique(answers.clusters[there], return_inverse=True)[1]
    alike = cluster_times(codes, taken(answers.times, there))
    each = [_wins(one[there], ends, codes, len(systems)) for one in shares]
    strengths = np.stack([_left_out(one, alike) for one in each])  # (B, 2 + G, S)
    paired = (each[0] + np.swapaxes(each[0], 1, 2)).any(axis=2)
    order = np.argsort(-strengths[0, 0], kind="stable")
    strengths, free = strengths[:, :, order], total(paired.astype(float), alike)[order] - 1
    moved = strengths[1:] - strengths[:1] if answers.people else strengths[:0]
    return Ranking(
        tuple(systems[k] for k in order), by, _with_ends(strengths, alike, free, 0.05),
        _with_ends(moved, alike, free, 0.05 / len(systems)),
        answers.number(there), {name: lost for name, own in zip(by, given, strict=True)
                                if name in answers.judges and (lost := answers.number(~own & given.any(axis=0)))},
    )  # fmt: skip


def _wins(shares: Floats, ends: NDArray[np.intp], codes: NDArray[np.intp], systems: int) -> Floats:
    """Wins in each cluster (G, S, S), of pairs (U,) that each stand once in their cluster."""
    (a, b), wins = ends.T, np.zeros((int(codes.max()) + 1, systems, systems))
    np.add.at(wins, (codes, a, b), shares[:, 0] + shares[:, 2] / 2)
    np.add.at(wins, (codes, b, a), shares[:, 1] + shares[:, 2] / 2)
    return wins


def _left_out(wins: Floats, alike: Floats | None) -> Floats:
    """Strengths (2 + G, S): of all clusters, of all with twice as many ties unseen, and without each cluster."""
    whole = total(wins, alike)
    value, twice = bradley_terry(whole), bradley_terry(whole, 2 * UNSEEN)
    parts = np.array_split(wins, 1 + wins.size // AT_ONCE)
    left = [bradley_terry(np.concatenate([whole[None], whole - part]), start=value)[1:] for part in parts]
    return np.concatenate([value[None], twice[None], *left])


def _with_ends(strengths: Floats, alike: Floats | None, free: Floats, alpha: float) -> Floats:
    """Value and interval, (B, S, 3), of (B, 2 + G, S). `free` (S,): degrees of freedom; of none no end is known."""
    value, twice, left = strengths[:, 0], strengths[:, 1], strengths[:, 2:]
    count = left.shape[1] if alike is None else float(alike.sum())
    squares = total(np.swapaxes((left - value[:, None]) ** 2, 0, 1), alike)
    errors = np.sqrt((count - 1) / count * squares + (twice - value) ** 2)
    half = np.where(free > 0, special.stdtrit(np.maximum(free, 1), 1 - alpha / 2) * errors, np.inf)
    return np.stack([value, value - half, value + half], axis=-1)


def run_rank(file: Path, given: Mapping[str, Any], *, to_json: Path | None = None, to_csv: Path | None = None) -> int:
    """The command; exit code 0: a ranking clears nobody. Raises `RecuseError` for what cannot be read."""
    check_tables(COLUMNS, to_json, to_csv)
    ranking = rank_systems(load_file_panel(file, **given).ratings.folded())
    facts = {"pairs": ranking.pairs, "unanswered": ranking.unanswered}
    show_tables("rank", ranking.lines(), COLUMNS, ranking.rows(), facts, to_json, to_csv)
    return 0
