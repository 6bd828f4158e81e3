"""What each of several judges does badly, on the texts that all of them were asked about and a person rated.

One number, lower is better, by what a judge is used for:

    decide                  mean over texts of |y_judge - y_people|: y is 1 where a share of at least tau finds the
                            property (or passes the threshold), 0 where fewer do, 1/2 where tau is 1/2 and half do
                            (Guerdan et al. 2025, sec. 2.2.2); of options without a stated property as below
    grade, choose           mean over texts of how far it is from one person: another option counts 1, a score its
                            distance as a share of the scale's range, a response set the share of options that one of
                            the two alone names; to decide, a set has the property if it names it
    estimate                distance of its mean from people's, in the same unit
    rank                    share of pairs of systems that it orders otherwise than people do (a tie counts one half, a
                            pair of which it scored one system nowhere counts 1)

A text without an answer counts 1 (estimate: it is left out).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import combinations
from math import nan, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.gates import Gates
from recuse.gates.gate_tables import uses_for
from recuse.ratings import Ratings
from recuse.ratings.answers import Answers, against_truth, answers_of_one_way
from recuse.ratings.array import mean_of
from recuse.ratings.needs import check_for_judges, offers_of
from recuse.ratings.scale import ResponseSets
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, Mask
from recuse.statistics.distributions import by_content
from recuse.suite.question_runner import shipped_evals

USES = ("decide", "grade", "choose", "estimate", "rank")
OF_ALL_TEXTS = ("estimate", "rank")  # uses whose error is no mean over texts
FEWEST = 20  # ratings that are worth planning, and texts of two people by which their variance is known


@dataclass(frozen=True, eq=False)
class Contest:
    """Judges to choose from, their uses, what a text costs by each where known; `tau`: share that decides."""

    place: str
    ratings: Ratings
    uses: tuple[str, ...] | None
    costs: Mapping[str, float]
    tau: float = 0.5

    @cached_property
    def use(self) -> str:
        """As stated, or what the ratings offer first; `RecuseError` where that is none of `USES`."""
        check_for_judges(self.ratings, self.place)
        gates = Gates.load(shipped_evals() / "gates.toml", today=date.today())
        uses = uses_for(self.uses, [offers_of(self.ratings)], gates.uses, self.place).stated
        if not uses or uses[0] not in USES:
            raise RecuseError(f"{self.place}: say what the judge is for: --use {', '.join(USES)}")
        return uses[0]

    @cached_property
    def answers(self) -> Answers:
        """Of judges, and of people, or the right answers, where these are known."""
        return answers_of_one_way(against_truth(self.ratings), f"{self.place}: judges are chosen")

    @cached_property
    def common(self) -> Mask:
        """Which texts all judges were asked about and a person rated, (U,)."""
        return self.answers.requested.all(axis=0) & (self.answers.raters > 0)

    @cached_property
    def has_sets(self) -> bool:
        """Whether an answer names any number of options."""
        return isinstance(self.answers.scale, ResponseSets)

    @cached_property
    def clusters(self) -> NDArray[np.intp]:
        """The clusters of the common texts, numbered by what their texts hold, whatever judges and texts are called."""
        answers, common = self.answers, self.common
        if answers.options:
            columns = [*answers.judge_shares[:, common].transpose(0, 2, 1), answers.people_shares[common].T]
        else:
            columns = [*answers.judge_means[:, common][:, None], answers.people_mean[common][None]]
        people = columns.pop()
        columns = [*sorted(columns, key=lambda one: tuple(np.sort(np.abs(one - people).sum(axis=0)))), people]
        system = pd.Series(people.mean(axis=0)).groupby(np.array(answers.targets)[common]).transform("mean")
        return by_content(answers.clusters[common], np.concatenate([system.to_numpy()[None], *columns]))

    @cached_property
    def property(self) -> tuple[tuple[Floats, Floats] | None, str]:
        """Which share of each judge's answers (J, U) and of each person's (P, U) on the common texts has what is
        decided by, and that in words; None for options of which none is the property, and for other uses."""
        answers, criterion = self.answers, self.ratings.criterion
        options: tuple[str, ...] = getattr(answers.scale, "options", ()) if self.has_sets else answers.options
        stated = self.ratings.positive.get(criterion, "")
        if len(options) == 2 and not self.has_sets:
            stated = stated or options[-1 if answers.ordered else 0]
        if self.use != "decide" or (options and not stated):
            return None, ""
        if options:
            k, shares = options.index(stated), (answers.judge_shares, answers.person_shares)
            judges, people = ((self._named(one) if self.has_sets else one)[..., k] for one in shares)
        elif thresholds := self.ratings.thresholds.get(criterion, ()):
            passes = (np.where(np.isfinite(one), one >= thresholds[0], nan) for one in (answers.judged, answers.rated))
            judges, people = (mean_of(one, 2) for one in passes)
            stated = f"{thresholds[0]:g} or more"
        else:
            why = "scores decide from a threshold on: --threshold 4; or --use grade compares scores"
            raise RecuseError(f"{self.place}: {why}")
        verb = "name it" if self.has_sets else "say so"
        whose = "" if answers.right else f", where {self.tau:.0%} of people or more {verb}"
        return (judges[:, self.common], people[:, self.common]), f" ({stated}{whose})".replace("%", " %")

    def per_text(self, beta: float = 0.0) -> Floats:
        """Each judge's error on each common text, (J, U): |y_judge - y_people| where it is decided, and otherwise how
        far it is from one person on average. No rows where the use has no mean over texts. `beta`: share of those who
        chose another option that might have accepted the property too."""
        if self.property[0] is None:
            judges = range(0 if self.use in OF_ALL_TEXTS else len(self.answers.judges))
            return np.array([mean_of(self._losses(k), 0) for k in judges])
        judged, people = self.property[0][0], mean_of(self.property[0][1], 0)
        apart = np.abs(_decisions(judged, self.tau) - _decisions(people + beta * (1 - people), self.tau))
        return np.where(np.isfinite(apart), apart, 1.0)

    def over_texts(self, counts: Floats) -> Floats:
        """To estimate and to rank: each judge's error as texts are and in each draw of `counts` (1 + draws, U)."""
        answers, common = self.answers, self.common
        span = 1.0 if answers.options or not np.isfinite(answers.scale.span) else answers.scale.span
        judged, people = answers.judge_means[:, common] / span, answers.people_mean[common] / span
        if self.use == "estimate":
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

    def against_persons(self, first: str, second: str) -> Floats:
        """The one judge's error less the other's against each person, (P, U), of the common texts."""
        places = [self.answers.judges.index(name) for name in (first, second)]
        if self.property[0] is None:
            less = np.subtract(*(self._losses(k) for k in places))
        else:
            judged, people = self.property[0]
            apart = np.nan_to_num(np.abs(_decisions(judged[places], self.tau)[:, None] - people[None]), nan=1.0)
            less = np.where(np.isfinite(people), apart[0] - apart[1], nan)
        times = self.answers.times
        return less if times is None else np.repeat(less, times[self.common].astype(int), axis=1)

    def _losses(self, judge: int) -> Floats:
        """How far a judge is from each person on each common text, 0 to 1, (P, U); 1 unanswered, NaN unrated."""
        answers, common = self.answers, self.common
        if answers.options:
            judged, people = answers.judge_shares[judge, common], answers.person_shares[:, common]
            there, apart = np.isfinite(people[..., 0]), 1 - (judged * people).sum(axis=-1)
            if self.has_sets:  # the share of options that one of the two alone names
                judges, theirs = self._named(judged), self._named(people)
                apart = (judges + theirs - 2 * judges * theirs).mean(axis=-1)
        else:
            span = answers.scale.span
            span = span if np.isfinite(span) else float(np.nanmax(np.abs(answers.rated)) or 1)
            people = answers.person_means[:, common]
            there, apart = np.isfinite(people), np.abs(answers.judge_means[judge, common] - people) / span
        return np.where(there, np.nan_to_num(apart, nan=1.0), nan)

    def _named(self, shares: Floats) -> Floats:
        """Of shares of response sets (..., K) how often each option is named, (..., O)."""
        options = getattr(self.answers.scale, "options", ())
        sets = [[option in written.split("|") for option in options] for written in self.answers.options]
        return np.asarray(shares @ np.array(sets, dtype=float))


def _decisions(shares: Floats, tau: float) -> Floats:
    half = np.isclose(shares, tau) & (abs(tau - 0.5) < 1e-9)
    y: Floats = np.where(np.isfinite(shares), np.where(half, 0.5, shares >= tau - 1e-9), nan)
    return y


# --------------------------------------------------------------------------- labels that tell two judges apart
# How ratings by people are best spent: more texts, or more people on each.
#
#     se^2 = (V + P / r) / n,   n r = budget
#
# P: variance between people of the difference of the judges' errors on one text; V: what is left between texts; r
# people rate each of n texts.


def check_budget(budget: int | None, use: str, tau: float, *, right: bool = False) -> None:
    """`RecuseError` for too few ratings, errors by right answers or of no single texts, and a share `tau` of people
    that distances from single persons do not tell: at .5 the nearer judge decides as most do."""
    if budget is not None and right:
        raise RecuseError("--budget is how many ratings people can give, and errors are by right answers: leave it out")
    if budget is not None and budget < FEWEST:
        raise RecuseError(f"--budget is how many ratings people can give, from {FEWEST} on; got {budget}")
    if budget is not None and use in OF_ALL_TEXTS:
        raise RecuseError("--budget is worked out for --use decide, grade and choose")
    if budget is not None and use == "decide" and abs(tau - 0.5) > 1e-9:
        why = f"whether {100 * tau:.0f} % of people say so, one person's answer does not tell"
        step = "leave --budget out and have several people rate each text"
        raise RecuseError(f"--budget is worked out for --tau 0.5: {why}; {step}")


def spending(differences: Floats, budget: int) -> list[dict[str, float]]:
    """How far the judges are `apart`, and with which `error` at 95 % the budget tells it, by `people` per text and the
    `texts` that they then rate. `differences` (P, U): error of the one judge less that of the other against each
    person, NaN where that person rated none. Empty where too few texts have two people's ratings to tell."""
    raters = np.isfinite(differences).sum(axis=0)
    twice = raters > 1
    if twice.sum() < FEWEST:
        return []
    person = float(np.nanvar(differences[:, twice], axis=0, ddof=1).mean())
    whole = float(np.nanvar(np.nanmean(differences, axis=0), ddof=1))
    between = max(0.0, whole - person * float((1 / raters).mean()))
    gap = abs(float(np.nanmean(np.nanmean(differences, axis=0))))
    return [
        {"people": people, "texts": budget // people, "apart": gap,
         "error": 1.96 * sqrt((between + person / people) / (budget // people))} for people in (1, 2, 3)
    ]  # fmt: skip


def spending_lines(rows: Sequence[dict[str, float]], judges: Sequence[str], budget: int) -> Iterator[str]:
    """What `spending` found of the first two judges, in words."""
    if not rows:
        yield f"How many people per text is best for {budget} ratings is unknown: fewer than {FEWEST} texts have two."
    for each in rows:
        if each["people"] == 1:
            pair = f"{judges[0]} from {judges[1]} ({each['apart']:.3f} apart)"
            yield f"{budget:,} ratings by people tell {pair} with an error, at 95 %, of"
        people = f"{each['people']} {'person' if each['people'] == 1 else 'people'}"
        yield f"  {each['error']:.3f}   {each['texts']:,} texts, {people} each"
