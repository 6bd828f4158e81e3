"""What judges and people chose, and what they held admissible, text by text: shares of options on both sides. Forced
choices are the rows of one criterion with options; response sets those of the same criterion beside them
(`Ratings.beside("response_sets")`). Either may be missing: then it is NaN."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.ratings.answers import Answers, answers_of, without_truth
from recuse.ratings.array import clusters_of
from recuse.ratings.ratings import Ratings, remembered
from recuse.ratings.ratings_table import PERSON
from recuse.ratings.scale import Numeric, Ordinal, ResponseSets
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, distinct
from recuse.statistics.agreement.coefficient import ratio


@dataclass(frozen=True, eq=False)
class RatedOptions:
    """K `options`, of which `positive` is the property that texts are judged for: the one stated to be, else the best
    of ordered options, the first of others. Over J judges and U texts, shares are NaN where nothing valid was said:

    - `judge_choices` (J, U, K), `judge_endorsed` (J, U, K): chosen, and endorsed in response sets;
    - `people_choices` (U, K), `people_endorsed` (U, K): the same of all people's answers to a text together;
    - `people_counts` (U, K), `people_sets` (U, K), `set_raters` (U,): how many people's answers these are;
    - `times` (U,): how many texts with these answers each stands for, 1 unless they were counted (`Ratings.times`);
    - `lost` (J,): answers of a judge that could not be used; `joint` name -> (K sets of `sets`, K): how often a rater
      named a set of a text of which it chose an option, people together under "people".
    """

    options: tuple[str, ...]
    positive: int
    judges: tuple[str, ...]
    judge_choices: Floats
    judge_endorsed: Floats
    people_counts: Floats
    people_sets: Floats
    set_raters: Floats
    clusters: NDArray[np.intp]
    lost: NDArray[np.int64]
    sets: tuple[tuple[str, ...], ...]
    joint: dict[str, Floats]
    clusters_called: str
    times: Floats
    ordered: bool = False

    @property
    def beyond(self) -> list[int]:
        """Options above the positive one, where they are ordered: who chose one of these is past the property, so what
        it would have accepted besides stays out of it (Table 2: Very Toxic beside Toxic)."""
        return list(range(self.positive + 1, len(self.options))) if self.ordered else []

    @cached_property
    def people_choices(self) -> Floats:
        """Share of people's choices, (U, K); NaN where nobody chose."""
        return _shares(self.people_counts, self.people_counts.sum(axis=-1))

    @cached_property
    def people_endorsed(self) -> Floats:
        """Share of people's response sets that hold the option, (U, K); NaN where nobody gave any."""
        return _shares(self.people_sets, self.set_raters)

    def offers(self, *aggregations: str) -> bool:
        """Whether the answers that these aggregations keep are there: h and s keep forced choices, hrs and srs sets, or
        choices in their place."""
        return not {"h", "s"} & set(aggregations) or bool(self.people_counts.any())

    @property
    def has_people_sets(self) -> bool:
        """Whether any person gave a response set."""
        return bool(self.set_raters.any())

    @cached_property
    def stands_for(self) -> Floats | None:
        """`times` where some text stands for others, else None."""
        return self.times if (self.times > 1).any() else None

    @property
    def facts(self) -> dict[str, Any]:
        """What estimates of shares of these texts have in common."""
        return {"over": self.over, "unit": "share", "clusters": self.clusters_called}

    @property
    def over(self) -> Literal["items", "clusters"]:
        """What a repetition would draw: clusters, where several texts share one."""
        return "items" if distinct(self.clusters) == len(self.clusters) else "clusters"

    @property
    def people_positive(self) -> tuple[Floats, Floats]:
        """How many people hold the property, of how many, (U,): by their response sets, else by their choices."""
        if self.has_people_sets:
            return self.people_sets[:, self.positive], self.set_raters
        return self.people_counts[:, self.positive], self.people_counts.sum(axis=1)

    @cached_property
    def judges_act_by(self) -> Floats:
        """What judges act by, (J, U, K): their response sets where they gave any, else their choices."""
        sets = np.isfinite(self.judge_endorsed).any(axis=(1, 2), keepdims=True)
        return np.where(sets, self.judge_endorsed, self.judge_choices)


def each_rated(ratings: Ratings) -> Iterator[tuple[tuple[str, ...], RatedOptions]]:
    """(levels, `RatedOptions`) for every headline criterion with options and every combination of factor levels at
    which a judge was asked: people's rows may leave a factor empty."""
    for names, part in ratings.each():
        if part.judges and not isinstance(part.scale, Numeric):
            yield names, rated_options(part, ratings)


@remembered
def rated_options(part: Ratings, ratings: Ratings | None = None) -> RatedOptions:
    """The ratings of one criterion within one combination of factor levels, with what stands `beside` them.
    `RecuseError` where there are no options, and where no person rated anything."""
    ratings = ratings or part
    part = without_truth(ratings, part)
    either = answers_among_options(part)
    if not (part.having("kind", PERSON) & part.having("criterion", part.criterion)).any():
        raise RecuseError(
            "there are no ratings by people to compare judges with: add rows of kind person, one per person and item"
        )
    beside = either if isinstance(part.scale, ResponseSets) else _response_sets(part, ratings)
    choices, judges, options = None if beside is either else either, part.judges, either.options
    admissible: tuple[tuple[str, ...], ...] = ()
    if beside and isinstance(beside.scale, ResponseSets):
        admissible, options = beside.scale.sets, beside.scale.options if choices is None else options
    sides, texts = (choices, beside), list(zip(either.items, either.targets, strict=True))
    raters = (*judges, *dict.fromkeys(name for side in sides if side for name in side.people))
    counts, members, lost = zip(*(_given(side, raters, texts, options) for side in sides), strict=True)
    answered, held = [side.sum(axis=2) for side in counts], list(map(np.matmul, counts, members))
    own, theirs = slice(None, len(judges)), slice(len(judges), None)
    chosen, endorsed = (_shares(of[own], n[own]) for of, n in zip(held, answered, strict=True))
    joint: dict[str, Floats] = {}
    if choices and beside:  # pairs of a rater's choice and set for one text, each text once
        both = ((answered[0] > 0) & (answered[1] > 0))[..., None]
        chose, meant = (np.where(both, _shares(*side), 0.0) for side in zip(counts, answered, strict=True))
        pairs = np.zeros((len(raters), len(admissible), len(options)))
        pairs[:, [admissible.index(tuple(name.split("|"))) for name in beside.options]] = meant.swapaxes(1, 2) @ chose
        one, other = (
            {*side.people, *(name for name, rows in zip(side.judges, side.requested, strict=True) if rows.any())}
            for side in (choices, beside)
        )
        joint = {name: pairs[k] for k, name in enumerate(judges) if name in one & other}
        if one & other & {*raters[theirs]}:
            joint["people"] = pairs[theirs].sum(axis=0)
    ordered, stated = isinstance(part.scale, Ordinal), part.positive.get(part.criterion, "")
    positive = options.index(stated) if stated in options else len(options) - 1 if ordered else 0
    clusters = np.unique(clusters_of(part, either.items), return_inverse=True)[1].astype(np.intp)
    times = np.ones(len(texts)) if either.times is None else either.times
    chosen_by, endorsed_by, set_raters = (of[theirs].sum(axis=0) for of in (*held, answered[1]))
    return RatedOptions(
        options, positive, judges, chosen, endorsed, chosen_by, endorsed_by, set_raters, clusters,
        sum(lost)[own], admissible, joint, part.clusters, times, ordered,
    )  # fmt: skip


def _response_sets(part: Ratings, ratings: Ratings) -> Answers | None:
    sets = ratings.beside("response_sets")
    if sets is None:
        return None
    here = sets.with_criterion(part.criterion if part.criterion in sets.headline else sets.headline[0])
    here = here.where(**{factor: here.levels(factor)[0] for factor in here.factors})
    same = isinstance(here.scale, ResponseSets) and {*here.scale.options} == {*getattr(part.scale, "options", ())}
    return answers_among_options(here) if same else None


def answers_among_options(part: Ratings) -> Answers:
    """Everybody's answers within one combination of factor levels. `RecuseError` where a factor still varies, and where
    answers are numbers."""
    if part.factors:
        raise RecuseError(f"counts hold one combination of factor levels; {', '.join(part.factors)} still vary")
    if isinstance(part.scale, Numeric):
        raise RecuseError(f"criterion {part.criterion} has numbers, no options to count; give its options as scale")
    return answers_of(part, part, people=False)


def _given(
    answers: Answers | None, raters: Sequence[str], texts: Sequence[tuple[str, str]], options: Sequence[str]
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """How often each of these raters gave each answer to each of these texts, (raters, U, A), 0 where it was not asked;
    which options each answer holds, (A, K); and how many answers of each rater were lost, on whatever text."""
    if answers is None:
        return (
            np.zeros((len(raters), len(texts), 0)),
            np.zeros((0, len(options))),
            np.zeros(len(raters), dtype=np.int64),
        )
    counts = np.concatenate([
        np.stack([(given == code).sum(axis=2) for code in range(len(answers.options))], axis=2)
        for given in (answers.judged, answers.rated)
    ])  # fmt: skip
    rows = _places((*answers.judges, *answers.people), raters)
    columns = _places(zip(answers.items, answers.targets, strict=True), texts)
    counts = np.pad(counts, ((0, 1), (0, 1), (0, 0)))[np.ix_(rows, columns)].astype(float)  # the last are of nobody
    names = [name.split("|") if isinstance(answers.scale, ResponseSets) else [name] for name in answers.options]
    assert answers.lost is not None
    lost = (answers.lost if answers.times is None else answers.lost * answers.times).sum(axis=1)
    every = np.append(lost, np.zeros(len(answers.people) + 1)).astype(np.int64)
    return counts, np.array([[float(option in each) for option in options] for each in names]), every[rows]


def _places(known: Iterable[Hashable], wanted: Iterable[Hashable]) -> list[int]:
    """Where each of the wanted is among the known; -1 where it is not."""
    places = {name: place for place, name in enumerate(known)}
    return [places.get(name, -1) for name in wanted]


def _shares(counts: Floats, answers: Floats) -> Floats:
    """Counts (..., K) by the number of answers (...), NaN where there is none."""
    return ratio(counts, answers[..., None])
