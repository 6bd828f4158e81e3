"""`recuse choose FILE`: which of several judges, or prompts, to use, and is a cheaper one good enough?

Judges are compared by their errors on the same texts (`recuse.check.judge_errors`). Texts (clusters) are drawn again
with replacement 2,000 times, all judges on the same: the share of draws in which a judge is best is its chance to be
the best one. Intervals of means over texts allow for errors that were not seen (`bounded_mean`); those to estimate and
rank are of the draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from math import nan
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recuse.check.judge_errors import FEWEST, OF_ALL_TEXTS, Contest, check_budget, spending, spending_lines
from recuse.gates import Gates
from recuse.ratings import Ratings
from recuse.readers.column_names import as_typed
from recuse.readers.file_panel import load_file_panel
from recuse.readers.file_ratings import FilePanel, thresholds_of
from recuse.run.show import Row, check_tables, show_tables
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, taken
from recuse.schema.number_text import rate
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.distributions import SEED, cluster_counts, generator
from recuse.suite.question_runner import shipped_evals

DRAWS = 2000
SURE, WORSE = 0.95, 0.1
BETAS = (0.1, 0.2, 0.3, 0.4)  # shares of those who chose another option that might have accepted the property too
SHOWN = 12  # so many judges are printed
COLUMNS = ("judge", "error", "error_low", "error_high", "less_the_best", "less_low", "less_high", "chance_to_be_best",
           "cost")  # fmt: skip


class Choice(NamedTuple):
    """Of `texts` that all judges and a person judged: per judge, best first, its `error`, the interval of it, its
    chance to be best, what all calls about a text cost (NaN: unknown), and its error less that of the first with its
    interval. `decided`: by which property, in words; `best_by_beta`: beta -> who is best then, and its chance."""

    use: str
    texts: int
    judges: tuple[str, ...]
    errors: Floats
    intervals: Floats  # (J, 2)
    chances: Floats
    costs: Floats
    behind: Floats  # (J, 3): difference from the first, low, high
    decided: str
    best_by_beta: Mapping[float, tuple[str, float]]
    right: bool = False  # whether errors are by right answers

    @property
    def cheaper(self) -> list[int]:
        """Judges that cost less than the first, not shown to be worse and worse by `WORSE` at most, the cheapest first:
        little evidence names none, nor do means that are the same in every draw."""
        near = (self.behind[:, 1] <= 0) & (self.behind[:, 2] <= WORSE) & (self.costs < self.costs[0])
        if self.use == "estimate":
            near &= self.behind[:, 1] < self.behind[:, 2]
        return sorted(np.flatnonzero(near).tolist(), key=lambda k: float(self.costs[k]))

    def lines(self) -> Iterator[str]:
        """The recommendation, then a row per judge."""
        first, chance = self.judges[0], self.chances[0]
        best = f"{first} is the best" if chance >= SURE else "None is surely the best"
        sure = "" if chance >= SURE else f" ({100 * SURE:.0f} % would be sure)"
        shown = f"{first}'s chance to be the best is {_chance(chance)}, by {self.texts:,} texts{sure}"
        yield f"{best} of {len(self.judges)} judges to {self.use}{self.decided}: {shown}."
        for k in self.cheaper[:1]:
            factor = self.costs[0] / self.costs[k] if self.costs[k] > 0 else float("inf")
            difference, low, high = self.behind[k]
            costs = f"{_money(self.costs[k])} instead of {_money(self.costs[0])} ({factor:.2g} times less)"
            higher = f"at most {max(high, 0):.3f} higher: {difference:+.3f} ({low:+.3f} to {high:+.3f})"
            yield f"{self.judges[k]} costs {costs}; its error is {higher}"
        otherwise = [(beta, name) for beta, (name, _) in self.best_by_beta.items() if name != first]
        if otherwise:
            accepted = f"{100 * otherwise[0][0]:.0f} % of the people who chose otherwise had accepted this too"
            step = "ask people for all answers that they accept"
            yield f"If {accepted}, {otherwise[0][1]} would be the best: {step}."
        elif self.best_by_beta:
            least = min(chance for _, chance in self.best_by_beta.values())
            accepted = f"up to {100 * max(BETAS):.0f} % of the people who chose otherwise had accepted this too"
            yield f"It stays the best if {accepted}: its chance is then at least {int(100 * min(least, 0.99))} %."
        width = max(8, *(len(name) for name in self.judges[:SHOWN])) + 2
        cost = "        cost per text" if np.isfinite(self.costs).any() else ""
        by_people = "decides unlike people" if self.decided else "error against a person"
        of_texts = "error by right answers" if self.right else by_people
        error_of = {"estimate": "mean off by", "rank": "orders otherwise"}.get(self.use, of_texts)
        yield f"  {'judge':<{width}}{error_of:<26}{'worse than the best by':<28}chance to be best{cost}"
        for k, name in enumerate(self.judges[:SHOWN]):
            error = f"{self.errors[k]:.3f} ({self.intervals[k, 0]:.3f} to {self.intervals[k, 1]:.3f})"
            difference, low, high = self.behind[k]
            behind = f"{difference:+.3f} ({low:+.3f} to {high:+.3f})" if k else ""
            price = f"{_money(self.costs[k]):>{21}}" if cost else ""
            yield f"  {name:<{width}}{error:<26}{behind:<28}{_chance(self.chances[k]):>17}{price}"
        if len(self.judges) > SHOWN:
            yield f"  and {len(self.judges) - SHOWN} judges more, none with a larger chance to be best"

    def rows(self) -> Iterator[Row]:
        """A row per judge, the best first."""
        for k, judge in enumerate(self.judges):
            figures = (self.errors[k], *self.intervals[k], *self.behind[k], self.chances[k], self.costs[k])
            yield dict(zip(COLUMNS, (judge, *figures), strict=True))


def _chance(share: float) -> str:
    """Drawn, so never sure: "over 99 %"."""
    return rate(min(max(share, 0.001), 0.999))


def _money(cost: float) -> str:
    return "unknown" if np.isnan(cost) else f"{cost:.2g}"


def run_choose(
    file: Path, given: Mapping[str, Any], *, use: str = "", budget: int | None = None, tau: float = 0.5, task: str = "",
    to_json: Path | None = None, to_csv: Path | None = None,
) -> int:  # fmt: skip
    """The command; exit code 0: a recommendation is no clearance. Raises `RecuseError` for what cannot be read."""
    if not 0 < tau < 1:
        raise RecuseError(f"--tau is the share of people from which on a text counts, between 0 and 1; got {tau:g}")
    check_tables(COLUMNS, to_json, to_csv)
    recorded = file.suffix == ".toml"
    contest = _recorded(file, use, task, given) if recorded else contest_of(load_file_panel(file, **given, use=use))
    contest = replace(contest, tau=tau)
    check_budget(budget, contest.use, tau, right=bool(contest.ratings.truth))
    choice = choose_judge(contest)
    lines, spent = [*choice.lines()], []
    if budget:
        spent = spending(contest.against_persons(*choice.judges[:2]), budget)
        lines += spending_lines(spent, choice.judges, budget)
    if not recorded:
        lines.append(f"Whether it may be used at all: recuse check {quote(str(file))}{as_typed({**given, 'use': use})}")
    cheaper = [choice.judges[k] for k in choice.cheaper]
    by_beta = {beta: name for beta, (name, _) in choice.best_by_beta.items()}
    facts = {"use": choice.use, "texts": choice.texts, "cheaper": cheaper, "best_by_beta": by_beta, "budget": spent}
    show_tables("choose", lines, COLUMNS, choice.rows(), facts, to_json, to_csv)
    return 0


def contest_of(panel: FilePanel) -> Contest:
    """The judges of a file, with what its column `cost` says."""
    calls, known = panel.calls(), {}
    about = [column for column in ("item", "target", *panel.ratings.factors) if column in calls]
    for name, own in calls.groupby("rater"):  # the error is that of all calls about a text
        known[str(name)] = float(own["cost"].mean()) * len(own) / len(own[about].drop_duplicates())
    return Contest(str(panel.path), panel.ratings.folded(), panel.uses, known)


def _recorded(path: Path, use: str, task: str, given: Mapping[str, Any]) -> Contest:
    """Of what is `given`, criteria to leave out and a threshold are no columns of a file."""
    from recuse.upgrade.sources import open_source

    if columns := [name for name, value in given.items() if value and name not in ("ignore", "threshold")]:
        raise RecuseError(f"{path}: a panel has no columns to name by --{columns[0]}; --ignore leaves criteria out")
    source = open_source(path, Gates.load(shipped_evals() / "gates.toml", today=date.today()), {})
    places = [place for place in source.compared if task in ("", place.task, f"{place.task}/{place.protocol}")]
    if len(places) != 1:
        names = ", ".join(f"{place.task}/{place.protocol}" for place in source.compared)
        raise RecuseError(f"{path}: judges are chosen at one place; name it: --task TASK/PROTOCOL. There is {names}")
    tables, costs, ratings = [], {}, source.suite.ratings(source.line_up(places[0], source.judges[0]))
    for judge in source.judges:
        line_up = source.line_up(places[0], judge)
        each = source.suite.ratings(line_up)
        if judge in each.judges:
            tables.append(each.table[each.table["rater"].eq(judge)])
            call = source.suite.calls(line_up, judge).get("dollars")
            costs[judge] = call and call * tables[-1]["repeat"].nunique()
    people = ratings.table[ratings.table["kind"].eq("person")]
    ratings = replace(ratings, table=pd.concat([*tables, people], ignore_index=True), _memory={})
    ratings = _as_asked(ratings, str(path), given.get("ignore") or "", given.get("threshold") or "")
    uses = tuple(use.split(",")) if use else source.panel.uses
    return Contest(str(path), ratings, uses, {name: nan if cost is None else cost for name, cost in costs.items()})


def _as_asked(ratings: Ratings, place: str, ignore: str, threshold: str) -> Ratings:
    ignored = [name.strip() for name in ignore.split(",") if name.strip()]
    left = [name for name in ratings.headline if name not in ignored]
    if not left or not {*ignored} <= {*ratings.headline}:
        raise RecuseError(f"{place}: --ignore leaves out some of {', '.join(ratings.headline)}; got {ignore}")
    if decided := thresholds_of(threshold, {name: ratings.scales[name] for name in left}, f"{place}: "):
        ratings = replace(ratings, thresholds=decided, _memory={})
    return ratings.with_criterion(*left) if ignored else ratings


def choose_judge(contest: Contest) -> Choice:
    """The judges of a contest, the best first. `RecuseError` where there is too little to choose by."""
    place, use, answers, common = contest.place, contest.use, contest.answers, contest.common
    names, texts = list(answers.judges), answers.number(common)
    if len(names) < 2 or texts < FEWEST:
        alone = f" by {names[0]} alone, and recuse check says whether that may be used" if len(names) == 1 else ""
        needed = f"two judges and {FEWEST} texts that all of them and a person judged"
        raise RecuseError(f"{place}: choosing takes {needed}; there are {texts}{alone}")
    if use in OF_ALL_TEXTS and answers.options and not answers.ordered:
        options = ", ".join(answers.options)
        raise RecuseError(f"{place}: {options} have no order, so no mean; give --scale 'fail<pass'")
    shares, decided = contest.property
    clusters, times = contest.clusters, taken(answers.times, common)
    counts = cluster_counts(clusters, generator(SEED, "choose"), DRAWS, times)
    each = contest.per_text()
    # (J, 1 + DRAWS): as it is, then each draw
    errors = each @ counts.T / counts.sum(axis=1) if each.size else contest.over_texts(counts)
    by_beta: dict[float, tuple[str, float]] = {}
    forced = shares is not None and answers.options and not contest.has_sets and not answers.right
    for beta in BETAS if forced else ():
        if not np.allclose(then := contest.per_text(beta), each):
            drawn = then @ counts.T / counts.sum(axis=1)
            best = int(np.argmin(drawn[:, 0]))
            by_beta[beta] = (names[best], float(_chances(drawn)[best]))
    chances = _chances(errors)
    costs = np.array([float(contest.costs.get(name, nan)) for name in names])
    order = sorted(range(len(names)), key=lambda k: (-chances[k], errors[k, 0], names[k]))
    less = errors - errors[order[0]]
    ends, apart = (np.quantile(drawn[:, 1:], [0.025, 0.975], axis=1).T for drawn in (errors, less))
    for k, own in enumerate(each):
        ends[k] = bounded_mean(own, clusters, (0.0, 1.0), times=times).interval(0.95)
        if k != order[0]:
            apart[k] = bounded_mean(own - each[order[0]], clusters, (-1.0, 1.0), times=times).interval(0.95)
    return Choice(
        use, texts, tuple(names[k] for k in order), errors[order, 0], ends[order], chances[order], costs[order],
        np.column_stack([less[:, 0], apart])[order], decided, by_beta, answers.right,
    )  # fmt: skip


def _chances(errors: Floats) -> Floats:
    """Share of draws in which each judge is best, ties shared; of `errors` (J, 1 + draws), the first as they are.

    The one that seems best was lucky as well, so distances from the judges' mean shrink by 1 - s^2 / v: v is the sum of
    their squares over J - 1, s^2 what the draws alone give it (empirical Bayes: Efron and Morris 1973, Journal of the
    American Statistical Association 68, 117-130). No judge is taken for less noisy than the mean: few errors make few
    differences between draws, not few to come."""
    apart = errors - errors.mean(axis=0)
    seen, noise = apart[:, :1], apart[:, 1:] - apart[:, :1]
    each, between = noise.var(axis=1), float((seen**2).sum())
    left = max(0.0, 1 - float(each.sum()) / between) if between > 0 else 1.0
    more, drawn = np.sqrt(np.maximum(0.0, each.mean() - each)), generator(SEED, "chances")
    for k in np.lexsort((each, seen[:, 0])):  # whatever the judges are called
        noise[k] += more[k] * drawn.standard_normal(noise.shape[1])
    draws = left * seen + left**0.5 * noise
    best = draws <= draws.min(axis=0) + 1e-12
    chances: Floats = (best / best.sum(axis=0)).mean(axis=1)
    return chances
