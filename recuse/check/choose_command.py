"""`recuse choose FILE`: which of several judges, or prompts, to use, and is a cheaper one good enough?

Judges are compared on the texts that all of them were asked about and a person rated. What each does badly is one
number, lower is better, by what it is used for:

    decide                  mean over texts of |y_judge - y_people|: y is 1 where a share of at least tau finds the
                            property (or passes the threshold), 0 where fewer do, 1/2 where tau is 1/2 and half do
                            (Guerdan et al. 2025, sec. 2.2.2); of options without a stated property as below
    grade, choose           mean over texts of how far it is from one person: another option counts 1, a score its
                            distance as a share of the scale's range, a response set the share of options that one of
                            the two alone names; to decide, a set has the property if it names it
    estimate                distance of its mean from people's, in the same unit
    rank                    share of pairs of systems that it orders otherwise than people do (a tie counts one half, a
                            pair of which it scored one system nowhere counts 1)

A text without an answer counts 1 (estimate: it is left out). Texts (clusters) are drawn again with replacement 2,000
times, all judges on the same: the share of draws in which a judge is best is its chance to be the best one. Intervals
of means over texts allow for errors that were not seen (`bounded_mean`); those to estimate and rank are of the draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations
from math import nan
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.check.label_budget import FEWEST, check_budget, spending, spending_lines
from recuse.check.written_tables import Row, check_tables, write_tables
from recuse.gates import Gates
from recuse.gates.uses import uses_for
from recuse.ratings import Ratings
from recuse.ratings.answers import Answers, against_truth, answers_of_one_way
from recuse.ratings.array import mean_of
from recuse.ratings.offers import offers_of
from recuse.ratings.scale import ResponseSets
from recuse.readers.file_panel import FilePanel, load_file_panel
from recuse.readers.judgement_rows import COST, numbers_beside
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, taken
from recuse.schema.number_text import rate
from recuse.security.sanitize import visible
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.distributions import SEED, by_content, cluster_counts, generator
from recuse.suite.question_runner import shipped_evals

DRAWS = 2000
SURE, WORSE = 0.95, 0.1
USES = ("decide", "grade", "choose", "estimate", "rank")
BETAS = (0.1, 0.2, 0.3, 0.4)
"""Shares of those who chose another option that might have accepted the property too."""


@dataclass(frozen=True, eq=False)
class Contest:
    """Judges to choose from, what they are used for, and what a text costs by each, where that is known; decided
    by the option `positive` or from the score `threshold` on, by a share of at least `tau`."""

    place: str
    ratings: Ratings
    uses: tuple[str, ...] | None
    costs: Mapping[str, float]
    tau: float = 0.5


@dataclass(frozen=True)
class Choice:
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
        """Judges that cost less than the first, not shown to be worse and shown to be worse by `WORSE` at most, the
        cheapest first: little evidence names none, nor do means that are the same in every draw."""
        near = (self.behind[:, 1] <= 0) & (self.behind[:, 2] <= WORSE) & (self.costs < self.costs[0])
        if self.use == "estimate":
            near &= self.behind[:, 1] < self.behind[:, 2]
        less = np.flatnonzero(near).tolist()
        return sorted(less, key=lambda k: float(self.costs[k]))

    def lines(self) -> Iterator[str]:
        """The recommendation, then a row per judge."""
        first, chance = self.judges[0], self.chances[0]
        sure = "" if chance >= SURE else f", which is not sure ({100 * SURE:.0f} % would be)"
        yield (
            f"{first} is the best of {len(self.judges)} judges to {self.use}{self.decided}: its chance to be the best "
            f"is {_chance(chance)}, by {self.texts:,} texts{sure}."
        )
        for k in self.cheaper[:1]:
            factor = self.costs[0] / self.costs[k] if self.costs[k] > 0 else float("inf")
            difference, low, high = self.behind[k]
            yield (
                f"{self.judges[k]} costs {_money(self.costs[k])} instead of {_money(self.costs[0])} ({factor:.2g} times"
                f" less); its error is at most {max(high, 0):.3f} higher: {difference:+.3f} ({low:+.3f} to {high:+.3f})"
            )
        yield from self._over_beta()
        width = max(8, *(len(name) for name in self.judges[:SHOWN])) + 2
        cost = "        cost per text" if np.isfinite(self.costs).any() else ""
        error_of = "decides unlike people" if self.decided else "error against a person"
        error_of = "error by right answers" if self.right else error_of
        if self.use in ("estimate", "rank"):
            error_of = {"estimate": "mean off by", "rank": "orders otherwise"}[self.use]
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

    def _over_beta(self) -> Iterator[str]:
        if not self.best_by_beta:
            return
        other = next(((beta, name) for beta, (name, _) in self.best_by_beta.items() if name != self.judges[0]), None)
        if other is None:
            least = min(chance for _, chance in self.best_by_beta.values())
            yield (
                f"It stays the best if up to {100 * max(BETAS):.0f} % of the people who chose otherwise had accepted "
                f"this too: its chance is then at least {int(100 * min(least, 0.99))} %."
            )
        else:
            yield (
                f"If {other[0]:.0%} of the people who chose otherwise had accepted this too, {other[1]} would "
                "be the best: ask people for all answers that they accept."
            ).replace("%", " %")


SHOWN = 12
"""So many judges are printed."""
COLUMNS = ("judge", "error", "error_low", "error_high", "less_the_best", "less_low", "less_high", "chance_to_be_best",
           "cost")  # fmt: skip


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
    contest = _recorded(file, use, task) if recorded else contest_of(load_file_panel(file, **given, use=use))
    contest = replace(contest, tau=tau)
    check_budget(budget, _use_of(contest), tau, right=bool(contest.ratings.truth))
    choice = _chosen(contest)
    lines, spent = [*choice.lines()], spending(_differences(contest, choice), budget) if budget else []
    if budget:
        lines += spending_lines(spent, choice.judges, budget)
    if not recorded:
        typed = "".join(f" --{name} {quote(value)}" if value is not True else f" --{name}"
                        for name, value in given.items() if value)  # fmt: skip
        lines.append(f"Whether it may be used at all: recuse check {quote(str(file))}{typed}")
    print("\n".join(map(visible, lines)))
    cheaper = [choice.judges[k] for k in choice.cheaper]
    by_beta = {beta: name for beta, (name, _) in choice.best_by_beta.items()}
    facts = {"use": choice.use, "texts": choice.texts, "cheaper": cheaper, "best_by_beta": by_beta, "budget": spent}
    write_tables("choose", COLUMNS, list(choice.rows()), facts, to_json, to_csv)
    return 0


def choose_judge(panel: FilePanel, tau: float = 0.5) -> Choice:
    """The judges of a file, the best first."""
    return _chosen(replace(contest_of(panel), tau=tau))


def contest_of(panel: FilePanel) -> Contest:
    """The judges of a file, with what its column `cost` says."""
    read = panel.read
    beside = numbers_beside(read.rows, read.raw.frame, read.mapping, panel.judges, COST) if "row" in read.rows else None
    known = {}
    if beside is not None:  # a row of the file is a call, and the error that of all calls about a text
        calls = read.rows.assign(cost=beside).drop_duplicates(["rater", "row"])
        about = [column for column in ("item", "target", *panel.ratings.factors) if column in calls]
        for name, own in calls.groupby("rater"):
            known[str(name)] = float(own["cost"].mean()) * len(own) / len(own[about].drop_duplicates())
    return Contest(str(panel.path), panel.ratings.folded(), panel.uses, known)


def _recorded(path: Path, use: str, task: str) -> Contest:
    """The judges and candidates of a panel, with what their recorded calls cost by their tokens and prices."""
    from recuse.upgrade.sources import open_source

    source = open_source(path, Gates.load(shipped_evals() / "gates.toml", today=date.today()), {})
    parts = [part for part in source.parts if task in ("", part.task, f"{part.task}/{part.protocol}")]
    if len(parts) != 1:
        names = ", ".join(f"{part.task}/{part.protocol}" for part in source.parts)
        raise RecuseError(f"{path}: judges are chosen at one place; name it: --task TASK/PROTOCOL. There is {names}")
    part, panel = parts[0], next(iter(source.selection.panels.values()))
    tables, costs, ratings = [], {}, part.ratings(source.judges[0])
    for judge in source.judges:
        each = part.ratings(judge)
        if judge in each.judges:
            tables.append(each.table[each.table["rater"].eq(judge)])
            call = part.calls(judge).get("dollars")
            costs[judge] = call and call * tables[-1]["repeat"].nunique()
    people = ratings.table[ratings.table["kind"].eq("person")]
    ratings = replace(ratings, table=pd.concat([*tables, people], ignore_index=True), _memory={})
    uses = tuple(use.split(",")) if use else panel.uses
    return Contest(str(path), ratings, uses, {name: nan if cost is None else cost for name, cost in costs.items()})


def _use_of(contest: Contest) -> str:
    if not contest.ratings.judges:
        raise RecuseError(f"{contest.place}: no judge was found in it; say who is one: --judges A,B")
    gates = Gates.load(shipped_evals() / "gates.toml", today=date.today())
    uses = uses_for(contest.uses, [offers_of(contest.ratings)], gates.uses, contest.place).stated
    if not uses or uses[0] not in USES:
        raise RecuseError(f"{contest.place}: say what the judge is for: --use {', '.join(USES)}")
    return uses[0]


def _answers(contest: Contest) -> tuple[Answers, NDArray[np.bool_]]:
    """And which texts all judges were asked about and a person rated, or the right answers, where these are known."""
    answers = answers_of_one_way(against_truth(contest.ratings), f"{contest.place}: judges are chosen")
    return answers, answers.requested.all(axis=0) & (answers.raters > 0)


def _chosen(contest: Contest) -> Choice:
    place, use = contest.place, _use_of(contest)
    answers, common = _answers(contest)
    names = list(answers.judges)
    texts = answers.number(common)
    if len(names) < 2 or texts < FEWEST:
        raise RecuseError(
            f"{place}: choosing takes two judges and {FEWEST} texts that all of them and a person judged; there "
            f"are {len(names)} and {texts}"
        )
    if use in ("estimate", "rank") and answers.options and not answers.ordered:
        options = ", ".join(answers.options)
        raise RecuseError(f"{place}: {options} have no order, so no mean; give --scale 'fail<pass'")
    shares, decided = _property(answers, contest) if use == "decide" else (None, "")
    clusters, times = _in_order(answers, common), taken(answers.times, common)
    counts = cluster_counts(clusters, generator(SEED, "choose"), DRAWS, times)
    by_beta: dict[float, tuple[str, float]] = {}
    if shares is not None:
        each = _decided_otherwise(shares, common, contest.tau, 0.0)
        forced = answers.options and not isinstance(answers.scale, ResponseSets) and not answers.right
        for beta in BETAS if forced else ():
            if not np.allclose(then := _decided_otherwise(shares, common, contest.tau, beta), each):
                drawn = then @ counts.T / counts.sum(axis=1)
                best = int(np.argmin(drawn[:, 0]))
                by_beta[beta] = (names[best], float(_chances(drawn)[best]))
    else:  # to estimate and rank there is no mean over texts
        judges = range(0 if use in ("estimate", "rank") else len(names))
        each = np.array([mean_of(_losses(answers, k, common), 0) for k in judges])
    # (J, 1 + DRAWS): as it is, then each draw
    errors = each @ counts.T / counts.sum(axis=1) if each.size else _errors(answers, common, use, counts)
    chances = _chances(errors)
    costs = np.array([float(contest.costs.get(name, nan)) for name in names])
    order = sorted(range(len(names)), key=lambda k: (-chances[k], errors[k, 0], names[k]))
    less = errors - errors[order[0]]
    ends, apart = (np.quantile(drawn[:, 1:], [0.025, 0.975], axis=1).T for drawn in (errors, less))
    for k, own in enumerate(each):
        ends[k] = bounded_mean(own, clusters, (0.0, 1.0), times=times).interval(0.95)
        if k != order[0]:
            apart[k] = bounded_mean(own - each[order[0]], clusters, (-1.0, 1.0), times=times).interval(0.95)
    behind = np.column_stack([less[:, 0], apart])
    return Choice(
        use, texts, tuple(names[k] for k in order), errors[order, 0], ends[order], chances[order],
        costs[order], behind[order], decided, by_beta, answers.right,
    )  # fmt: skip


def _chances(errors: Floats) -> Floats:
    """Share of draws in which each judge is best, ties shared; of `errors` (J, 1 + draws), the first as they are.

    Of many judges the one that seems best was lucky as well, so distances from their mean shrink by 1 - (J - 3) / (J
    - 1) s^2 / v, v their variance and s^2 that of the draws (James and Stein 1961; Efron and Morris 1973, Journal of
    the American Statistical Association 68, 117-130), and no judge is taken for less noisy than the mean: few errors
    make few differences between draws, not few to come."""
    apart = errors - errors.mean(axis=0)
    seen, noise = apart[:, :1], apart[:, 1:] - apart[:, :1]
    each, between = noise.var(axis=1), float(seen.var()) * len(errors) / (len(errors) - 1)
    left = max(0.0, 1 - max(len(errors) - 3, 0) / (len(errors) - 1) * each.mean() / between) if between > 0 else 1.0
    more, drawn = np.sqrt(np.maximum(0.0, each.mean() - each)), generator(SEED, "chances")
    for k in np.lexsort((each, seen[:, 0])):  # whatever the judges are called
        noise[k] += more[k] * drawn.standard_normal(noise.shape[1])
    draws = left * seen + left**0.5 * noise
    best = draws <= draws.min(axis=0) + 1e-12
    chances: Floats = (best / best.sum(axis=0)).mean(axis=1)
    return chances


def _in_order(answers: Answers, common: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The clusters of the common texts, numbered by what their texts hold: people, judges by their errors, and what
    people say of the text's system."""
    if answers.options:
        columns = [*answers.judge_shares[:, common].transpose(0, 2, 1), answers.people_shares[common].T]
    else:
        columns = [*answers.judge_means[:, common][:, None], answers.people_mean[common][None]]
    columns = sorted(columns[:-1], key=lambda one: tuple(np.sort(np.abs(one - columns[-1]).sum(axis=0)))) + columns[-1:]
    system = pd.Series(columns[-1].mean(axis=0)).groupby(np.array(answers.targets)[common]).transform("mean")
    return by_content(answers.clusters[common], np.concatenate([system.to_numpy()[None], *columns]))


def _property(answers: Answers, contest: Contest) -> tuple[tuple[Floats, Floats] | None, str]:
    """Which share of each judge's answers (J, U) and of each person's (P, U) has what is decided by, and that in words;
    None for options of which none is the property."""
    criterion, sets = contest.ratings.criterion, isinstance(answers.scale, ResponseSets)
    options: tuple[str, ...] = getattr(answers.scale, "options", ()) if sets else answers.options
    stated = contest.ratings.positive.get(criterion, "")
    if len(options) == 2 and not sets:
        stated = stated or options[-1 if answers.ordered else 0]
    if options and not stated:
        return None, ""
    if options:
        k, shares = options.index(stated), (answers.judge_shares, answers.person_shares)
        judges, people = (_named(one, answers) if sets else one for one in shares)
        having = judges[..., k], people[..., k]
    elif thresholds := contest.ratings.thresholds.get(criterion, ()):
        passes = (np.where(np.isfinite(one), one >= thresholds[0], nan) for one in (answers.judged, answers.rated))
        judges, people = (mean_of(one, 2) for one in passes)
        having, stated = (judges, people), f"{thresholds[0]:g} or more"
    else:
        why = "scores decide from a threshold on: --threshold 4; or --use grade compares scores"
        raise RecuseError(f"{contest.place}: {why}")
    whose = "" if answers.right else f", where {contest.tau:.0%} of people or more {'name it' if sets else 'say so'}"
    return having, f" ({stated}{whose})".replace("%", " %")


def _decisions(shares: Floats, tau: float) -> Floats:
    half = np.isclose(shares, tau) & (abs(tau - 0.5) < 1e-9)
    y: Floats = np.where(np.isfinite(shares), np.where(half, 0.5, shares >= tau - 1e-9), nan)
    return y


def _decided_otherwise(shares: tuple[Floats, Floats], common: NDArray[np.bool_], tau: float, beta: float) -> Floats:
    """|y_judge - y_people| per text, (J, U); 1 where the judge gave no answer."""
    people = mean_of(shares[1][:, common], 0)
    apart = np.abs(_decisions(shares[0][:, common], tau) - _decisions(people + beta * (1 - people), tau))
    return np.where(np.isfinite(apart), apart, 1.0)


def _named(shares: Floats, answers: Answers) -> Floats:
    """Of shares of response sets (..., K) how often each option is named, (..., O)."""
    options = getattr(answers.scale, "options", ())
    sets = [[option in written.split("|") for option in options] for written in answers.options]
    return np.asarray(shares @ np.array(sets, dtype=float))


def _distance(judged: Floats, people: Floats, answers: Answers) -> Floats:
    """How often an answer of the one (..., K) is another than one of the other; of sets the share of options that one
    of the two alone names."""
    if isinstance(answers.scale, ResponseSets):
        judges, theirs = _named(judged, answers), _named(people, answers)
        return np.asarray((judges + theirs - 2 * judges * theirs).mean(axis=-1))
    return np.asarray(1 - (judged * people).sum(axis=-1))


def _losses(answers: Answers, judge: int, common: NDArray[np.bool_]) -> Floats:
    """How far a judge is from each person on each text, 0 to 1, (P, U); 1 where it gave no answer, NaN where the person
    gave none."""
    if answers.options:
        people = answers.person_shares[:, common]
        there, apart = np.isfinite(people[..., 0]), _distance(answers.judge_shares[judge, common], people, answers)
    else:
        span = answers.scale.span if np.isfinite(answers.scale.span) else float(np.nanmax(np.abs(answers.rated)) or 1)
        people = answers.person_means[:, common]
        there, apart = np.isfinite(people), np.abs(answers.judge_means[judge, common] - people) / span
    return np.where(there, np.nan_to_num(apart, nan=1.0), nan)


def _errors(answers: Answers, common: NDArray[np.bool_], use: str, counts: Floats) -> Floats:
    """To estimate and to rank: of each judge, as texts are and in each draw of `counts` (1 + draws, U)."""
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

    def signs(values: Floats) -> Floats:
        """Per pair of systems and draw; NaN where one of the two has no value."""
        there = np.isfinite(values)
        sums, scored = ((members * part) @ counts.T for part in (np.where(there, values, 0.0), there))
        level = np.divide(sums, scored, out=np.full(sums.shape, nan), where=scored > 0)
        return np.array([np.sign(np.round(level[a] - level[b], 12)) for a, b in combinations(range(len(names)), 2)])

    truth = signs(people)
    apart = (np.nan_to_num(np.abs(signs(choices) - truth) / 2, nan=1.0) for choices in judged)
    drawn = np.isfinite(truth)
    return np.array([(one * drawn).sum(axis=0) / np.maximum(drawn.sum(axis=0), 1) for one in apart])


def _differences(contest: Contest, choice: Choice) -> Floats:
    """Error of the first judge less that of the second against each person, (P, U) of the texts that all have."""
    answers, common = _answers(contest)
    places = [answers.judges.index(name) for name in choice.judges[:2]]
    shares = _property(answers, contest)[0] if choice.use == "decide" else None
    if shares is None:
        less = np.subtract(*(_losses(answers, k, common) for k in places))
    else:
        decided = _decisions(shares[0][places][:, common], contest.tau)[:, None]
        apart = np.nan_to_num(np.abs(decided - shares[1][None, :, common]), nan=1.0)
        less = np.where(np.isfinite(shares[1][:, common]), apart[0] - apart[1], nan)
    return less if answers.times is None else np.repeat(less, answers.times[common].astype(int), axis=1)
