"""What judges and people chose, and what they held admissible, text by text: shares of options on both sides. Forced
choices are the rows of one criterion with options; response sets those of the same criterion beside them
(`Ratings.beside("response_sets")`). Either may be missing: then it is NaN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.answers import without_truth
from recuse.ratings.array import among, clusters_of, first_of, grouped, numbers_at, recoded, times_of
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
    either = option_counts(part)
    choices, sets = (None, either) if isinstance(part.scale, ResponseSets) else (either, _response_sets(part, ratings))
    if not either.people.any():
        raise RecuseError(
            "there are no ratings by people to compare judges with: add rows of kind person, one per person and item"
        )
    chosen, chosen_by, _, lost = _placed(choices, either.texts, part)
    endorsed, endorsed_by, set_raters, sets_lost = _placed(sets, either.texts, part)
    ordered, stated = isinstance(part.scale, Ordinal), part.positive.get(part.criterion, "")
    positive = len(either.options) - 1 if ordered else 0
    if stated in either.options:
        positive = either.options.index(stated)
    clusters = np.unique(either.clusters, return_inverse=True)[1].astype(np.intp)
    times = times_of(part, either.items)
    return RatedOptions(
        either.options, positive, part.judges, chosen, endorsed, chosen_by, endorsed_by, set_raters, clusters,
        lost + sets_lost, sets.answers if sets else (), _joint(choices, sets), part.clusters,
        np.ones(len(clusters)) if times is None else times, ordered,
    )  # fmt: skip


def _response_sets(part: Ratings, ratings: Ratings) -> OptionCounts | None:
    sets = ratings.beside("response_sets")
    if sets is None:
        return None
    here = sets.with_criterion(part.criterion if part.criterion in sets.headline else sets.headline[0])
    here = here.where(**{factor: here.levels(factor)[0] for factor in here.factors})
    same = isinstance(here.scale, ResponseSets) and {*here.scale.options} == {*getattr(part.scale, "options", ())}
    return option_counts(here) if same else None


def _placed(
    placed: OptionCounts | None, texts: Sequence[tuple[str, str]], part: Ratings
) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
    """Of these texts, whatever the answers were: judges' shares per option (J, U, K), how many people's answers hold
    each (U, K), of how many (U,), and how many answers of each judge were lost (J,)."""
    options, judges = getattr(part.scale, "options", ()), part.judges
    shape = (len(judges), len(texts), len(options))
    if placed is None:
        return np.full(shape, np.nan), np.zeros(shape[1:]), np.zeros(shape[1]), np.zeros(shape[0], dtype=np.int64)
    member = np.array([[float(option in answer) for option in options] for answer in placed.answers])
    counts, times = placed.on_texts(texts).astype(float), times_of(part, placed.items)
    each = placed.lost if times is None else placed.lost * times
    # A judge that is not among the raters gave none, and lost none
    rows = among(judges, np.arange(len(judges)), placed.raters)
    judged = np.where(rows[:, None, None] >= 0, counts[rows], 0.0)
    people = counts[placed.people].sum(axis=0)
    lost = np.where(rows >= 0, each[rows].sum(axis=1), 0).astype(np.int64)
    return _shares(judged @ member, judged.sum(axis=-1)), people @ member, people.sum(axis=-1), lost


def _joint(choices: OptionCounts | None, sets: OptionCounts | None) -> dict[str, Floats]:
    """Pairs of a rater's choice and set for one text, each text once, by judge and for people together; (V, K)."""
    if choices is None or sets is None or not set(choices.texts) & set(sets.texts):
        return {}
    sets_of = dict(zip(sets.raters, sets.on_texts(choices.texts), strict=True))
    joint: dict[str, Floats] = {}
    for name, person, chosen in zip(choices.raters, choices.people, choices.counts, strict=True):
        if name in sets_of:
            both = (chosen.sum(axis=1) > 0) & (sets_of[name].sum(axis=1) > 0)
            chose, held = (_shares(side[both], side[both].sum(axis=1)) for side in (chosen, sets_of[name]))
            key = "people" if person else name
            joint[key] = joint.get(key, 0.0) + held.T @ chose
    return joint


def _shares(counts: Floats | NDArray[np.int64], answers: Floats | NDArray[np.int64]) -> Floats:
    """Counts (..., K) by the number of answers (...), NaN where there is none."""
    return ratio(np.asarray(counts, dtype=float), np.asarray(answers, dtype=float)[..., None])


Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OptionCounts:
    """`counts` has shape (raters, texts, answers): over repeats; `lost` (raters, texts): repeats that were not usable.
    A text is an item of a target. `answers` are the options in order, or, of response sets, all admissible sets, the
    smallest first; each a tuple of options. `people` (raters,) marks people; `clusters` (texts,) says what each text
    belongs to."""

    options: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]
    raters: tuple[str, ...]
    people: NDArray[np.bool_]
    items: tuple[str, ...]
    targets: tuple[str, ...]
    clusters: tuple[str, ...]
    counts: Counts
    lost: Counts

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """The item and target of each."""
        return list(zip(self.items, self.targets, strict=True))

    def on_texts(self, texts: Sequence[tuple[str, str]]) -> Counts:
        """The counts on these texts, (raters, texts, answers), 0 where nobody answered."""
        here = {text: place for place, text in enumerate(self.texts)}
        columns = np.array([here.get(text, -1) for text in texts], dtype=np.intp)
        return np.where(columns[None, :, None] >= 0, self.counts[:, columns], 0)

    @property
    def judged(self) -> dict[str, Counts]:
        """Of each judge, a rater that is no person, (texts, answers)."""
        rows = zip(self.raters, self.people, self.counts, strict=True)
        return {name: counts for name, person, counts in rows if not person}


@remembered
def option_counts(ratings: Ratings) -> OptionCounts:
    """The counts of the one criterion of `ratings` within one combination of factor levels. Raises `RecuseError` where
    a factor still varies, where answers are numbers, and for a response outside the options, naming its row."""
    scale = ratings.scale
    if ratings.factors:
        raise RecuseError(f"counts hold one combination of factor levels; {', '.join(ratings.factors)} still vary")
    if isinstance(scale, Numeric):
        raise RecuseError(f"criterion {ratings.criterion} has numbers, no options to count; give its options as scale")
    answers = scale.sets if isinstance(scale, ResponseSets) else tuple((option,) for option in scale.options)
    rows = np.flatnonzero(ratings.having("criterion", ratings.criterion))
    known, raters_at = ratings.coded("rater")
    names, rater = recoded(known, raters_at[rows])
    axes = [(axis, places[rows]) for axis, places in map(ratings.coded, ("item", "target"))]
    text = grouped(*(places for _, places in axes))
    items, targets = (tuple([axis[k] for k in places[first_of(text)].tolist()]) for axis, places in axes)
    codes = numbers_at(ratings, rows)
    usable = np.isfinite(codes)
    shape, size, width = (len(names), len(items)), len(names) * len(items), len(answers)
    cell = rater * shape[1] + text
    code_of = [scale.code(answer) for answer in answers] if isinstance(scale, ResponseSets) else range(width)
    place = pd.Index(code_of).get_indexer(pd.Index(codes[usable]))
    counts = np.bincount(cell[usable] * width + place, minlength=size * width).reshape(*shape, width)
    return OptionCounts(
        scale.options, answers, names, np.array([ratings.raters.get(name) == PERSON for name in names], dtype=bool),
        items, targets, clusters_of(ratings, items), counts, np.bincount(cell[~usable], minlength=size).reshape(shape),
    )  # fmt: skip
