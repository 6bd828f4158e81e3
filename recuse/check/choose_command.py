"""`recuse choose FILE`: which of several judges, or prompts, to use, and is a cheaper one good enough?

Judges are compared on the texts that all of them were asked about and a person rated. What each does badly is one
number, lower is better, by what it is used for:

    decide, grade, choose   mean over texts of how far it is from one person: another option counts 1, a score its
                            distance as a share of the scale's range
    estimate                distance of its mean from people's, in the same unit
    rank                    share of pairs of systems that it orders otherwise than people do (a tie counts one half)

A text without an answer counts 1 (estimate: it is left out). Texts (clusters) are drawn again with replacement 2,000
times, all judges on the same: the share of draws in which a judge is best is its chance to be the best one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from recuse.gates import Gates
from recuse.gates.uses import uses_for
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.readers.file_panel import FilePanel, load_file_panel
from recuse.readers.judge_columns import COST, numbers_beside
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.security.sanitize import visible
from recuse.statistics.distributions import SEED, cluster_counts, generator
from recuse.suite.shipped import shipped_evals

DRAWS = 2000
FEWEST = 20
SURE = 0.95
USES = ("decide", "grade", "choose", "estimate", "rank")


@dataclass(frozen=True)
class Choice:
    """Of `texts` that all judges and a person judged: per judge, best first, its `error`, the interval of it, its
    chance to be best, what a judgement costs (NaN: unknown), and its error less that of the first with the interval."""

    use: str
    texts: int
    judges: tuple[str, ...]
    errors: Floats
    intervals: Floats  # (J, 2)
    chances: Floats
    costs: Floats
    behind: Floats  # (J, 3): difference from the first, low, high

    @property
    def cheaper(self) -> list[int]:
        """Judges that cost less than the first and are not shown to be worse, the cheapest first."""
        less = [k for k in range(1, len(self.judges)) if self.costs[k] < self.costs[0] and self.behind[k, 1] <= 0]
        return sorted(less, key=lambda k: float(self.costs[k]))

    def lines(self) -> Iterator[str]:
        """The recommendation, then a row per judge."""
        first, chance = self.judges[0], self.chances[0]
        sure = "" if chance >= SURE else f", which is not sure ({100 * SURE:.0f} % would be)"
        yield (
            f"{first} is the best of {len(self.judges)} judges to {self.use}: its chance to be the best is "
            f"{100 * chance:.0f} %, by {self.texts:,} texts{sure}."
        )
        for k in self.cheaper[:1]:
            factor = self.costs[0] / self.costs[k] if self.costs[k] > 0 else float("inf")
            difference, low, high = self.behind[k]
            yield (
                f"{self.judges[k]} costs {_money(self.costs[k])} instead of {_money(self.costs[0])} ({factor:.2g} times"
                f" less) and is not shown to be worse: error {difference:+.3f} ({low:+.3f} to {high:+.3f})."
            )
        width = max(8, *(len(name) for name in self.judges)) + 2
        cost = "   cost per judgement" if np.isfinite(self.costs).any() else ""
        yield f"  {'judge':<{width}}{'error against a person':<26}{'less the best':<28}chance to be best{cost}"
        for k, name in enumerate(self.judges):
            error = f"{self.errors[k]:.3f} ({self.intervals[k, 0]:.3f} to {self.intervals[k, 1]:.3f})"
            difference, low, high = self.behind[k]
            behind = f"{difference:+.3f} ({low:+.3f} to {high:+.3f})" if k else ""
            price = f"{_money(self.costs[k]):>{21}}" if cost else ""
            best = f"{100 * self.chances[k]:.0f} %"
            yield f"  {name:<{width}}{error:<26}{behind:<28}{best:>17}{price}"


def _money(cost: float) -> str:
    return "unknown" if np.isnan(cost) else f"{cost:.2g}"


def run_choose(file: Path, given: Mapping[str, Any], *, use: str = "", budget: int | None = None) -> int:
    """The command; exit code 0: a recommendation is no clearance. Raises `RecuseError` for what cannot be read."""
    panel = load_file_panel(file, **given, use=use)
    if not panel.judges:
        raise RecuseError(f"{file}: no judge was found in it; say who is one: --judges A,B")
    choice, answers = _chosen(panel)
    lines = [*choice.lines(), *_spending(choice, answers, budget)]
    lines.append(f"Whether it may be used at all: recuse check {file}")
    print("\n".join(map(visible, lines)))
    return 0


def choose_judge(panel: FilePanel) -> Choice:
    """The judges of a panel, the best first."""
    return _chosen(panel)[0]


def _chosen(panel: FilePanel) -> tuple[Choice, Answers]:
    gates = Gates.load(shipped_evals() / "gates.toml", today=date.today())
    use = next(iter(uses_for(panel.uses, [panel.offers], gates.uses, str(panel.path)).stated), "")
    if use not in USES:
        raise RecuseError(f"{panel.path}: say what the judge is for: --use {', '.join(USES)}")
    answers, names = _everybody(panel)
    common = answers.requested.all(axis=0) & (answers.raters > 0)
    if len(names) < 2 or common.sum() < FEWEST:
        raise RecuseError(
            f"{panel.path}: choosing takes two judges and {FEWEST} texts that all of them and a person judged; there "
            f"are {len(names)} and {int(common.sum())}"
        )
    if use in ("estimate", "rank") and answers.options and not answers.ordered:
        options = ", ".join(answers.options)
        raise RecuseError(f"{panel.path}: {options} have no order, so no mean; give --scale 'fail<pass'")
    counts = cluster_counts(answers.clusters[common], generator(SEED, "choose"), DRAWS)
    errors = _errors(answers, common, use, counts)  # (J, 1 + DRAWS): as it is, then each draw
    best = errors == errors.min(axis=0)
    chances = (best / best.sum(axis=0))[:, 1:].mean(axis=1)
    costs = _costs(panel, names)
    order = sorted(range(len(names)), key=lambda k: (-chances[k], errors[k, 0], names[k]))
    less = errors - errors[order[0]]
    ends = np.quantile(errors[:, 1:], [0.025, 0.975], axis=1).T
    behind = np.column_stack([less[:, 0], np.quantile(less[:, 1:], [0.025, 0.975], axis=1).T])
    choice = Choice(
        use, int(common.sum()), tuple(names[k] for k in order), errors[order, 0], ends[order], chances[order],
        costs[order], behind[order],
    )  # fmt: skip
    return choice, answers


def _everybody(panel: FilePanel) -> tuple[Answers, list[str]]:
    ratings = panel.ratings
    if len(ratings.headline) > 1:
        raise RecuseError(
            f"{panel.path}: judges are chosen by one criterion; these ratings have {', '.join(ratings.headline)}: "
            "leave the columns of the others out with --ignore"
        )
    parts = [part for _, part in ratings.each(*COMPARED)]
    if len(parts) > 1:
        raise RecuseError(
            f"{panel.path}: judges were asked in {len(parts)} ways ({', '.join(ratings.factors)}); give each way a "
            "rater's name of its own, as gpt at 0.7, or keep the rows of one"
        )
    answers = answers_of(parts[0], ratings)
    return answers, list(answers.judges)


def _distances(answers: Answers, common: Any) -> Floats:
    """How far each judge is from one person on each text, 0 to 1, (J, U); 1 where it gave no answer."""
    if answers.options:
        apart = 1 - (answers.judge_shares[:, common] * answers.people_shares[common]).sum(axis=2)
    else:
        span = answers.scale.span if np.isfinite(answers.scale.span) else float(np.nanmax(np.abs(answers.rated)) or 1)
        people = answers.person_means[:, common]
        each = np.abs(answers.judge_means[:, None, common] - people[None]) / span
        there = np.isfinite(people).sum(axis=0)
        apart = np.nansum(each, axis=1) / there
        apart = np.where(np.isfinite(answers.judge_means[:, common]), apart, np.nan)
    return np.where(np.isfinite(apart), apart, 1.0)


def _errors(answers: Answers, common: Any, use: str, counts: Floats) -> Floats:
    if use not in ("estimate", "rank"):
        errors: Floats = _distances(answers, common) @ counts.T / counts.sum(axis=1)
        return errors
    span = 1.0 if answers.options or not np.isfinite(answers.scale.span) else answers.scale.span
    judged, people = answers.judge_means[:, common] / span, answers.people_mean[common] / span
    if use == "estimate":
        there = np.isfinite(judged)
        differences = np.where(there, judged - people, 0.0)
        return np.asarray(np.abs(differences @ counts.T / np.maximum(there @ counts.T, 1)))
    systems = np.array(answers.targets)[common]
    names = sorted(set(systems.tolist()))
    if len(names) < 3:
        raise RecuseError(f"to rank takes texts of three systems; there are {', '.join(names) or 'none'}")
    members = np.array([systems == name for name in names], dtype=float)  # (S, U)

    def means(values: Floats) -> Floats:
        there = np.isfinite(values)
        sums = (members * np.where(there, values, 0.0)) @ counts.T
        return np.asarray(sums / np.maximum((members * there) @ counts.T, 1e-9))

    def signs(values: Floats) -> Floats:
        level = means(values)
        return np.array([np.sign(np.round(level[a] - level[b], 12)) for a, b in combinations(range(len(names)), 2)])

    truth = signs(people)
    return np.array([(np.abs(signs(mine) - truth) / 2).mean(axis=0) for mine in judged])


def _costs(panel: FilePanel, names: list[str]) -> Floats:
    """Mean cost of one judgement by each judge; NaN where the file does not say."""
    read = panel.read
    found = numbers_beside(read.rows, read.raw.frame, read.mapping, names, COST) if "row" in read.rows else None
    if found is None:
        return np.full(len(names), np.nan)
    means = found.groupby(read.rows["rater"]).mean()
    return np.array([float(means.get(name, np.nan)) for name in names])


def _spending(choice: Choice, answers: Answers, budget: int | None) -> Iterator[str]:
    """How well a number of ratings by people would tell the first two judges apart, by people per text.

        se^2 = (V + P / r) / n,   n r = budget

    P: variance between people of the difference of the judges' errors on one text; V: what is left between texts."""
    if budget is None:
        return
    if budget < FEWEST:
        raise RecuseError(f"--budget is how many ratings people can give, from {FEWEST} on; got {budget}")
    if choice.use in ("estimate", "rank"):
        raise RecuseError("--budget is worked out for --use decide, grade and choose")
    places = [answers.judges.index(name) for name in choice.judges[:2]]
    common = answers.requested.all(axis=0) & (answers.raters > 0)
    each = np.array([_of_person(answers, k, places, common) for k in range(len(answers.people))])  # (P, U)
    raters = np.isfinite(each).sum(axis=0)
    twice = raters > 1
    if twice.sum() < FEWEST:
        yield f"How many people per text is best for {budget} ratings is unknown: fewer than {FEWEST} texts have two."
        return
    person = float(np.nanvar(each[:, twice], axis=0, ddof=1).mean())
    whole = float(np.nanvar(np.nanmean(each, axis=0), ddof=1))
    between = max(0.0, whole - person * float((1 / raters).mean()))
    gap = abs(float(choice.behind[1, 0]))
    pair = f"{choice.judges[0]} from {choice.judges[1]} ({gap:.3f} apart)"
    yield f"{budget:,} ratings by people tell {pair} with an error, at 95 %, of"
    for people in (1, 2, 3):
        texts = budget // people
        error = 1.96 * sqrt((between + person / people) / texts)
        yield f"  {error:.3f}   {texts:,} texts, {people} {'person' if people == 1 else 'people'} each"


def _of_person(answers: Answers, person: int, judges: list[int], common: Any) -> Floats:
    """Error of the first judge less that of the second against one person, text by text; NaN where he rated none."""
    if answers.options:
        theirs = answers.person_shares[person, common]
        apart = [1 - (np.nan_to_num(answers.judge_shares[k, common]) * theirs).sum(axis=1) for k in judges]
        return np.asarray(np.where(np.isfinite(theirs[:, 0]), apart[0] - apart[1], np.nan))
    span = answers.scale.span if np.isfinite(answers.scale.span) else 1.0
    theirs = answers.person_means[person, common]
    apart = [np.nan_to_num(np.abs(answers.judge_means[k, common] - theirs) / span, nan=1.0) for k in judges]
    return np.asarray(np.where(np.isfinite(theirs), apart[0] - apart[1], np.nan))
