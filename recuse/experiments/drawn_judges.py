"""The chance that a judge which is one more person would be cleared, with the texts and the people of one file.

Judges are drawn as one more of these people, given what these people said of every text; they take the place of the
file's judges, and the questions that decide are asked of them. So every gate counts, jointly, with the slices, clusters
and losses of people that the file has. With m people on a text who agree by kappa (the ICC of numbers):

    options   one of the text's people with chance w = m kappa / (1 + (m - 1) kappa), else a draw from all answers:
              Polya's urn, the predictive distribution of the Dirichlet-multinomial (Johnson, Kotz and Balakrishnan
              1997, Discrete Multivariate Distributions, 40.1), which agrees with each of them by kappa again
    numbers   mean + w (people's mean - mean) + N(0, variance (1 - w kappa)), the predictive normal distribution, after
              each person's own severity is taken off; then a severity of its own, with the variance of people's

on the steps of the scale that people use. All answers, mean, variance and kappa are those within a system (of 20 texts
or more): what is said of a text is drawn towards its own system, or every drawn judge would favour the weak ones.
Where right answers are known, they are those of texts with one right answer instead (numbers: `FEWEST` texts or more
with the nearest), for then judges are held against these: a drawn judge is as often right as people are."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from recuse.gates import Gates
from recuse.ratings import Ratings
from recuse.ratings.answers import TIE, WON, Answers, answers_of
from recuse.ratings.ratings_table import PERSON
from recuse.ratings.scale import Numeric
from recuse.readers.file_ratings import FilePanel
from recuse.run.run import FileRun, ask_file
from recuse.schema.arrays import Floats, Mask
from recuse.schema.factors import ORDER, VERSION
from recuse.schema.vocabulary import UNDECIDED
from recuse.statistics.agreement.options import distances
from recuse.suite.question_runner import Question

FEWEST = 20
B = WON.index("b")
MOST_TEXTS = 2_000  # beyond which no judges are drawn: that many are seldom too few, and it would take seconds
DRAWS = 40  # judges drawn for one file: the chance is known to 8 points, one standard error at most


def chances_of(answers: FileRun, gates: Gates, questions: Iterable[Question], *, always: bool) -> dict[str, float]:
    """`chance_of_clearance` where too few texts may be why a judge is undecided, or `always`; {}: unknown."""
    undecided = any(one.stated and one.word == UNDECIDED for one in answers.decision.judges)
    ratings = answers.panel.ratings
    if not (undecided or always) or ratings.times or ratings.table["item"].nunique() > MOST_TEXTS:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return chance_of_clearance(answers.panel, gates, questions)


def chance_of_clearance(
    panel: FilePanel, gates: Gates, questions: Iterable[Question], draws: int = DRAWS, seed: int = 1
) -> dict[str, float]:
    """Use -> the share of `draws` judges, drawn as one more person of this file, that are cleared for it. Empty where
    no text was rated by two people, or they always agree by chance: nobody knows what one more person would say."""
    people = people_by_criterion(panel.ratings)
    if not panel.judges or not people or len(people) < len(panel.ratings.headline):
        return {}
    ratings = with_drawn_judges(panel.ratings, people, draws, np.random.default_rng(seed))
    judges = ask_file(replace(panel, ratings=ratings, older=()), gates, questions, deciding=True).decision.judges
    return {use: fmean(one.word == "cleared" for one in judges if one.use == use)
            for use in dict.fromkeys(one.use for one in judges)}  # fmt: skip


class People(NamedTuple):
    """What people said of the texts of one criterion: `values` (people, texts), codes of options or numbers less each
    person's severity, NaN where none; `agreement` beyond chance, `severity` the variance of what people add to every
    text where that is more than chance makes it (chi-squared, 5 %), else 0; `step` between neighbouring numbers, 0
    where there is one."""

    answers: Answers
    values: Floats
    systems: NDArray[np.intp]  # (texts,): codes
    agreement: float
    severity: float = 0.0
    step: float = 0.0
    other: Mask | None = None  # (texts,): pairs in which b is called a here

    @property
    def raters(self) -> NDArray[np.intp]:
        """How many people rated each text, (texts,)."""
        return cast(NDArray[np.intp], np.isfinite(self.values).sum(axis=0))

    @property
    def weights(self) -> Floats:
        """w of the module's formula, (texts,): how far a text's people say what one more would."""
        m = self.raters
        return m * self.agreement / (1 + (np.maximum(m, 1) - 1) * self.agreement)


def people_by_criterion(ratings: Ratings, assumed: float | None = None) -> dict[str, People]:
    """As `people_of`, of the criteria of which it is known."""
    return {name: one for name in ratings.headline if (one := people_of(ratings, name, assumed)) is not None}


def people_of(ratings: Ratings, criterion: str, assumed: float | None = None) -> People | None:
    """What people said of one criterion. Where no text has two of them, or all of them gave one answer, they are
    `assumed` to agree so well; None where nobody says how well, or nobody rated."""
    part = ratings.with_criterion(criterion)
    if not part.persons:
        return None
    answers, truth = answers_of(part, part).people_and_truth
    values, other = answers.rated[:, :, 0], None
    if truth is not None and answers.either_way:  # of each pair a is the right one, whichever is called the first
        other = truth.rated[0, :, 0] == B
        values, answers = _turned(values, other), replace(answers, either_way=False)
        truth = replace(truth, rated=_turned(truth.rated, other[:, None]))
    if truth is not None:
        systems = _alike(truth)
        assumed = 0.0 if assumed is None else assumed  # one person is enough: others are right as often
    else:  # the system of each text, one of those with 20 texts or more or 0; 0 for all where two of several meet
        codes = np.unique(np.array(answers.targets), return_inverse=True)[1].reshape(-1)
        several = not answers.either_way and np.bincount(codes)[codes] >= FEWEST
        systems = np.where(several, codes + 1, 0)
    if not answers.options:
        return _of_numbers(answers, values, systems, assumed)
    apart = distances(len(answers.options), "quadratic" if answers.ordered else "plain")
    turned = [values, _turned(values, np.ones(values.shape[1], dtype=bool))] if answers.either_way else [values]
    agreement = _agreement(
        np.concatenate(turned, axis=1), np.tile(systems, len(turned)), assumed,
        lambda a, b: apart[a.astype(np.intp), b.astype(np.intp)],
    )  # fmt: skip
    return None if agreement is None else People(answers, values, systems, agreement, other=other)


def _turned(choices: Floats, where: Mask) -> Floats:
    return np.where(where & (choices != TIE), 1 - choices, choices)


def _alike(truth: Answers) -> NDArray[np.intp]:
    """Texts of one right answer, numbered; of numbers, of the nearest until there are `FEWEST`; last those of none."""
    known, place, counts = np.unique(truth.rated[0, :, 0], return_inverse=True, return_counts=True)
    if truth.options:
        return place.reshape(-1)
    group, size, left = np.zeros(len(known), dtype=np.intp), 0, int(counts.sum())
    for k, count in enumerate(counts.tolist()[:-1]):
        size, left = size + count, left - count
        full = min(size, left) >= FEWEST
        group[k + 1], size = group[k] + full, 0 if full else size
    return group[place.reshape(-1)]


def _of_numbers(answers: Answers, values: Floats, systems: NDArray[np.intp], assumed: float | None) -> People | None:
    severities, there = np.zeros(len(values)), np.isfinite(values)  # what each person adds to a text, by least squares
    for _ in range(50):  # rounds of averaging over persons and texts
        means = np.nansum(values - severities[:, None], axis=0) / np.maximum(there.sum(axis=0), 1)
        severities = np.nansum(np.where(there, values - means, 0.0), axis=1) / np.maximum(there.sum(axis=1), 1)
        severities -= severities.mean()
    centred = values - severities[:, None]
    agreement = _agreement(centred, systems, assumed, lambda a, b: (a - b) ** 2)
    if agreement is None:
        return None
    own = float(np.nanvar(centred - _within(centred, systems))) * (1 - agreement)
    own *= float(np.mean(1 / np.maximum(there.sum(axis=1), 1)))
    between, free = float(np.var(severities, ddof=1)) if len(values) > 1 else 0.0, len(values) - 1
    severity = between - own if free and special.chdtrc(free, free * between / max(own, 1e-300)) < 0.05 else 0.0
    apart = np.diff(np.unique(values[np.isfinite(values)]))
    return People(answers, centred, systems, agreement, severity, float(apart.min()) if len(apart) else 0.0)


def _within(values: Floats, systems: NDArray[np.intp]) -> Floats:
    """The mean of all people on the system of each text, (texts,)."""
    means = np.zeros(len(systems))
    for system in np.unique(systems):
        of_system = values[:, systems == system]
        means[systems == system] = np.nanmean(of_system) if np.isfinite(of_system).any() else np.nanmean(values)
    return means


def _agreement(values: Floats, systems: NDArray[np.intp], assumed: float | None, distance: Any) -> float | None:
    """1 - D / E over texts with two people or more: the mean distance of two people on a text over that of two answers
    to any texts of the system. At least 0: people who agree less than by chance say nothing of one more. As `assumed`
    where there are no two."""
    seen, expected = 0.0, 0.0
    for system in np.unique(systems):
        of_system = values[:, (systems == system) & (np.isfinite(values).sum(axis=0) > 1)]
        pairs = [
            distance(of_system[a, both], of_system[b, both])
            for a in range(len(of_system)) for b in range(a + 1, len(of_system))
            if (both := np.isfinite(of_system[a]) & np.isfinite(of_system[b])).any()
        ]  # fmt: skip
        if pairs:
            known, counts = np.unique(of_system[np.isfinite(of_system)], return_counts=True)
            apart = distance(np.repeat(known, len(known)), np.tile(known, len(known))).reshape(len(known), -1)
            together = np.concatenate(pairs)
            seen += float(together.sum())
            expected += len(together) * float(counts @ apart @ counts) / counts.sum() ** 2
    return max(0.0, 1 - seen / expected) if expected > 1e-12 else assumed


def with_drawn_judges(
    ratings: Ratings, people: Mapping[str, People], count: int, rng: np.random.Generator, error: float = 1.0
) -> Ratings:
    """The ratings with `count` drawn judges in place of theirs, asked what the judge with most rows was asked, its
    newest version and first repeat. `error`: how many times a person's error they make; below 1 they agree with each
    person as somebody nearer to the truth would, of options by saying more often what most of a text's people say."""
    factors = tuple(name for name in ratings.factors if name != VERSION)  # who has one version has none to drift from
    by_people = ratings.table["kind"] == PERSON
    persons, judged = ratings.table[by_people], ratings.table[~by_people]
    persons = persons.drop_duplicates(["rater", "item", "target", "criterion", "repeat", *factors])
    to_answer = judged[judged["rater"] == judged["rater"].mode()[0]]
    if VERSION in ratings.factors:
        to_answer = to_answer[to_answer[VERSION] == ratings.levels(VERSION)[-1]]
    to_answer = to_answer[to_answer["repeat"] == to_answer["repeat"].min()]
    frames = []
    for criterion, known in people.items():
        rows = to_answer[to_answer["criterion"] == criterion]
        text = pd.MultiIndex.from_arrays([known.answers.items, known.answers.targets])
        at = text.get_indexer(pd.MultiIndex.from_frame(rows[["item", "target"]].astype(str)))
        values = (_urn if known.answers.options else _normal)(known, count, rng, error)
        drawn = enumerate((values if known.other is None else _turned(values, known.other))[:, at], 1)
        frames += [_rows_of_drawn(rows, known.answers, values, f"one more person {k}") for k, values in drawn]
    together = pd.concat([persons, *frames], ignore_index=True).drop(columns=VERSION, errors="ignore")
    return replace(ratings, table=together, factors=factors, authors={}, beside=lambda kind: None, _memory={})


def _urn(people: People, count: int, rng: np.random.Generator, error: float) -> Floats:
    values, m = people.values, people.raters
    by_option = [values == code for code in range(len(people.answers.options))]
    counts = np.sum(by_option, axis=1).astype(float)  # options, texts
    within = [_within(one + 0 * values, people.systems) for one in by_option]
    shares = people.answers.evened(np.stack(within, axis=1)).T
    own = np.cumsum(counts / np.maximum(m, 1), axis=0)
    shape = (count, values.shape[1])
    one = (rng.random(shape)[:, None] > own[None, :-1]).sum(axis=1)
    lot = (rng.random(shape)[:, None] > np.cumsum(shares, axis=0)[None, :-1]).sum(axis=1)
    drawn = np.where(rng.random(shape) < people.weights, one, lot)
    if error < 1:  # what most say, so often that agreement with each is sqrt(kappa) (1 - error (1 - sqrt(kappa)))
        most = np.argmax(counts + 1e-6 * rng.random(counts.shape), axis=0)
        truth, there = float(np.sqrt(people.agreement)), np.isfinite(values)
        wanted = truth * (1 - error * (1 - truth))
        distance = distances(len(counts), "quadratic" if people.answers.ordered else "plain")
        apart = distance[np.nan_to_num(values).astype(np.intp), most[None]][there].mean()
        of_people, of_most = (
            people.answers.evened(np.bincount(codes.astype(np.intp), minlength=len(counts)) / codes.size)
            for codes in (values[there], most)
        )
        chance = float(of_people @ distance @ of_most)
        reached = 1 - apart / chance if chance > 1e-12 else wanted
        often = np.clip((wanted - people.agreement) / max(reached - people.agreement, 1e-9), 0.0, 1.0)
        drawn = np.where((rng.random(shape) < often) & (m > 0), most, drawn)
    return cast(Floats, drawn.astype(float))


def _normal(people: People, count: int, rng: np.random.Generator, error: float) -> Floats:
    values, m, rho = people.values, people.raters, people.agreement
    mean = _within(values, people.systems)
    variance = float(np.nanvar(values - mean))
    texts = np.where(m > 0, np.nansum(values, axis=0) / np.maximum(m, 1), mean)
    nearer = rho / (rho + error**2 * (1 - rho)) if rho > 0 else 0.0
    weights = people.weights * np.sqrt(nearer / rho) if rho > 0 else people.weights
    left = variance * np.maximum(0.0, 1 - weights**2 * (1 + (np.maximum(m, 1) - 1) * rho) / np.maximum(m, 1))
    left = np.maximum(0.0, np.where(m > 0, left, variance) - people.step**2 / 12)
    shape = (count, values.shape[1])
    own = error * rng.normal(size=(count, 1)) * np.sqrt(people.severity * (1 + 1 / max(len(values), 1)))
    drawn = mean + weights * (texts - mean) + np.sqrt(left) * rng.normal(size=shape) + own
    low, high = people.answers.scale.ends
    if people.step > 0:
        start = low if np.isfinite(low) else 0.0
        drawn = start + np.round((drawn - start) / people.step) * people.step
    return cast(Floats, np.clip(drawn, low, high))


def _rows_of_drawn(rows: pd.DataFrame, answers: Answers, values: Floats, name: str) -> pd.DataFrame:
    judged = rows.assign(rater=name, status="ok", request="")
    if not answers.options:
        scale = answers.scale  # answers are on the ascending scale, ratings on the one that was written
        written = scale.turned(values) if isinstance(scale, Numeric) and scale.reversed else values
        return judged.assign(score=written, response=None)
    if answers.options != WON:
        return judged.assign(score=np.nan, response=np.array(answers.options, dtype=object)[values.astype(np.intp)])
    turned = rows[ORDER].eq("ba").to_numpy() if ORDER in rows else np.zeros(len(rows), dtype=bool)
    place = np.array([["first", "second", "tie"], ["second", "first", "tie"]], dtype=object)
    return judged.assign(score=np.nan, response=place[turned.astype(np.intp), values.astype(np.intp)])
