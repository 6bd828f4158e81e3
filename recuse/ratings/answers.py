"""Answers: what every judge and every person said of every text of one criterion, as codes of options or numbers, for
measures of agreement, which need no levels. Choices between two texts are read as "a won", "b won" or "tie"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.array import among, cluster_places_of, mean_of, names_at, numbers_at, times_of
from recuse.ratings.ratings import Ratings, remembered
from recuse.ratings.ratings_table import PERSON
from recuse.ratings.scale import PLACES, Nominal, Numeric, Ordinal, ResponseSets, Scale, is_binary
from recuse.schema import RecuseError, arrays
from recuse.schema.arrays import Floats, Mask, total
from recuse.schema.factors import LABELS, ORDER
from recuse.schema.vocabulary import RIGHT_ANSWERS

COMPARED = (ORDER, LABELS)  # factors pooled over: a choice is the same whoever stood first, whatever it was called
WON = ("a", "b", "tie")
TIE = WON.index("tie")
TURNED = [1, 0, 2]  # places of `WON` where the two are called the other way round


@dataclass(frozen=True, eq=False)
class Answers:
    """`judged` (J, U, R) and `rated` (P, U, S): repeated answers of judges and of people to U texts, NaN where none;
    `requested` (J, U): whether a judge has any row. `options` are the names of the codes, empty for numbers; `clusters`
    (U,) number what each text belongs to."""

    judges: tuple[str, ...]
    people: tuple[str, ...]
    items: tuple[str, ...]
    targets: tuple[str, ...]
    clusters: NDArray[np.intp]
    judged: Floats
    rated: Floats
    requested: NDArray[np.bool_]
    options: tuple[str, ...]
    ordered: bool
    scale: Scale
    clusters_called: str
    over: Literal["items", "clusters"]  # what a repetition would draw: clusters, where several items share one
    part: Ratings | None = None  # where they come from
    lost: NDArray[np.int64] | None = None  # (J, U): replies without a usable answer
    times: Floats | None = None  # (U,): how many texts with these answers each stands for, 1 unless they were counted
    either_way: bool = False  # of choices, whether several pairs of systems meet: see `evened`

    def number(self, texts: Mask) -> int:
        """How many texts are marked in (U,)."""
        return arrays.number_of(texts, self.times)

    def mean(self, values: Floats, texts: Mask) -> float:
        """Mean of values (U,) over the texts that are marked."""
        return arrays.average(values[texts], arrays.taken(self.times, texts))

    @property
    def about(self) -> dict[str, Any]:
        """What a repetition would draw, as an estimate says it."""
        return {"over": self.over, "clusters": self.clusters_called}

    def facts(self, used: Mask, **more: Any) -> dict[str, Any]:
        """The same with the number of texts in use."""
        return {"n": self.number(used), **self.about, **more}

    @property
    def counts(self) -> bool:
        """Whether answers can be averaged: numbers, and two options in order."""
        return not self.options or (self.ordered and len(self.options) == 2)

    def cluster_count(self, texts: Mask) -> int:
        """How many clusters these texts (U,) belong to."""
        return arrays.number_of_clusters(self.clusters[texts], arrays.cluster_times(self.clusters, self.times))

    judge_shares = cached_property(lambda self: shares_of(self.judged, len(self.options)))
    """Share of each option among a judge's answers to a text, (J, U, K); NaN where it gave none."""
    person_shares = cached_property(lambda self: shares_of(self.rated, len(self.options)))
    """The same of every person, (P, U, K)."""
    people_shares = cached_property(lambda self: mean_of(self.person_shares, axis=0))
    """Mean over the people who rated a text, (U, K): the answer of one of them drawn at random."""
    judge_means = cached_property(lambda self: mean_of(self.judged, axis=2))
    """Mean of a judge's numbers for a text, (J, U)."""
    person_means = cached_property(lambda self: mean_of(self.rated, axis=2))
    """The same of every person, (P, U)."""
    people_mean = cached_property(lambda self: mean_of(self.person_means, axis=0))
    """Mean over the people who rated a text, (U,)."""

    @cached_property
    def raters(self) -> NDArray[np.int64]:
        """How many people rated each text, (U,)."""
        return np.asarray(np.isfinite(self.rated).any(axis=2).sum(axis=0), dtype=np.int64)

    @cached_property
    def right(self) -> bool:
        """Whether the right answers alone stand in the place of people."""
        rated = np.isfinite(self.rated).any(axis=(1, 2))
        return bool(rated.any() and (rated == self._truth).all())

    @property
    def _truth(self) -> Mask:
        """Which of the people are the right answers, if these are known of any text, (P,)."""
        named = [self.part is not None and name == self.part.truth for name in self.people]
        return np.isfinite(self.rated).any(axis=(1, 2)) & np.array(named, dtype=bool)

    @property
    def held(self) -> dict[str, Any]:
        """For the detail, where it is not people that judges are compared with."""
        return {"held_against": RIGHT_ANSWERS} if self.right else {}

    @cached_property
    def people_and_truth(self) -> tuple[Answers, Answers | None]:
        """The same with people alone, and with the right answers alone where these are known beside people."""
        right, names = self._truth, np.array(self.people, dtype=object)
        if self.right or not right.any():
            return self, None
        people, truth = (replace(self, people=(*names[s],), rated=self.rated[s]) for s in (~right, right))
        return people, truth

    def tables(self, judge: int) -> Floats:
        """Per text how often the judge gives option i and a person j, (U, K, K): one answer of the judge against one of
        a person, both drawn at random; 0 where either is missing."""
        own, people = np.nan_to_num(self.judge_shares[judge]), np.nan_to_num(self.people_shares)
        tables: Floats = own[:, :, None] * people[:, None, :]
        return (tables + tables[:, TURNED][:, :, TURNED]) / 2 if self.either_way else tables

    def evened(self, shares: Floats) -> Floats:
        """Shares of the options (..., K) of which chance agreement is made. Where choices are among three systems or
        more, which of two is called a follows from their names alone, so chance must not: both ways round count half.
        Of two systems a is always the same one, which a judge may name whatever it reads."""
        return (shares + shares[..., TURNED]) / 2 if self.either_way else shares

    def name_of(self, option: int) -> str:
        """What an answer that is given to everything is called."""
        return "the same place" if self.either_way and option != TIE else self.options[option]

    def products(self, judge: int) -> Floats:
        """Per text 1, x, y, x^2, y^2, xy of one number of the judge and one of a person, both drawn at random, about
        the middle of the scale; 0 where either is missing. Shape (U, 6)."""
        low, high = self.scale.ends
        middle = (low + high) / 2 if np.isfinite(low + high) else 0.0
        x, y = self.judged[judge] - middle, self.rated - middle
        own, other = mean_of(x, axis=1), mean_of(mean_of(y, axis=2), axis=0)
        squares, others = mean_of(x**2, axis=1), mean_of(mean_of(y**2, axis=2), axis=0)
        there = np.isfinite(own) & np.isfinite(other)
        return np.where(there[:, None], np.column_stack([there, own, other, squares, others, own * other]), 0.0)


@remembered
def answers_of(part: Ratings, ratings: Ratings, *, people: bool = True) -> Answers:
    """Answers within one combination of factor levels (`part`, one of `ratings.each(*COMPARED)`). People who answered
    in another combination, and none in this, count here too: a person is seldom asked twice.

    Raises `RecuseError` where no person rated anything, naming the remedy, unless `people` are not needed."""
    if people and not ratings.persons:
        raise RecuseError(
            "there are no single ratings by people to compare judges with: add rows of kind person, one per person and "
            "item; means of people cannot tell who agrees on what"
        )
    judged, rated, source = _rows(part, person=False), _rows(part, person=True), part
    if not len(rated):
        others = [other for _, other in ratings.with_criterion(part.criterion).each(*COMPARED)]
        source = next((other for other in others if len(_rows(other, person=True))), part)
        rated = _rows(source, person=True)
    places = []
    for name in ("item", "target"):
        (known, own), (further, theirs) = part.coded(name), source.coded(name)
        both = known if source is part else tuple(dict.fromkeys((*known, *further)))
        places.append((both, np.concatenate([own[judged], among(further, theirs, both)[rated]])))
    (all_items, item), (all_targets, target) = places
    text, pairs = pd.factorize(item * len(all_targets) + target)
    item_of, target_of = np.divmod(pairs, max(len(all_targets), 1))
    clusters = pd.factorize(cluster_places_of(part, all_items)[1][item_of])[0].astype(np.intp)
    judges, persons = part.judges, ratings.persons
    text_of, count = text[: len(judged)], len(pairs)
    requested = np.zeros((len(judges), count), dtype=bool)
    judge = among(*part.coded("rater"), judges)[judged]
    requested[judge, text_of] = True
    values = _values(part, np.concatenate([judged, rated]) if source is part else judged)
    values, labels = values[: len(judged)], values[len(judged) :] if source is part else _values(source, rated)
    lost = np.bincount((judge * count + text_of)[np.isnan(values)], minlength=requested.size).reshape(requested.shape)
    person = among(*source.coded("rater"), persons)[rated]
    options, ordered, [values, labels] = _options(part, values, labels)
    items, known_items = names_at(all_items, item_of), arrays.distinct(item_of)
    systems = systems_of_pairs(part, items) if options == WON else None
    single = arrays.distinct(clusters) == known_items
    several = single and known_items < count  # what is counted then is not items
    called = ("pairs" if options == WON else "texts") if several else part.clusters
    return Answers(
        judges, persons, items, names_at(all_targets, target_of), clusters,
        _placed(values, judge, text_of, requested.shape),
        _placed(labels, person, text[len(judged) :], (len(persons), count)), requested, options, ordered, part.scale,
        called, "items" if single else "clusters", part, lost, times_of(part, items),
        systems is not None and len(systems.drop_duplicates().dropna()) > 1,
    )  # fmt: skip


def answers_of_people(part: Ratings, ratings: Ratings) -> Answers:
    """As `answers_of`; right answers beside people are none of them."""
    return answers_of(part, ratings).people_and_truth[0]


def answers_against_truth(part: Ratings, ratings: Ratings) -> Answers:
    """As `answers_of`; where right answers are known they stand in the place of people."""
    return answers_of(against_truth(ratings, part), against_truth(ratings))


def answers_of_one_way(ratings: Ratings, what: str, *, people: bool = True) -> Answers:
    """The answers to the one criterion, of judges that were asked in one way. `RecuseError` where there are several of
    either, though `what` ("judges are chosen") is done of one."""
    if len(ratings.headline) > 1:
        raise RecuseError(
            f"{what} by one criterion at a time; these ratings have {', '.join(ratings.headline)}: leave the others "
            "out with --ignore"
        )
    ways = {levels: part for levels, part in ratings.each(*COMPARED) if part.judges or not ratings.judges}
    *_, last = ways
    if len(ways) != 1:
        raise RecuseError(
            f"{what} where all were asked in one way; these were asked in {len(ways)} ({', '.join(ratings.factors)}): "
            f"give each way a rater's name of its own, as {' '.join((*ratings.judges[:1], *last))}, or keep one's rows"
        )
    return answers_of(ways[last], ratings, people=people)


def _rows(part: Ratings, *, person: bool) -> NDArray[np.intp]:
    return np.flatnonzero((part.having("kind", PERSON) == person) & part.having("criterion", part.criterion))


def _values(part: Ratings, rows: NDArray[np.intp]) -> Floats:
    values = numbers_at(part, rows)
    if not _is_choice(part):
        return values
    assert isinstance(part.scale, Nominal)
    # from places to texts: codes of `WON`; without a factor `order`, a stood first
    turned = part.table[ORDER].eq("ba").to_numpy()[rows] if ORDER in part.table else np.zeros(len(rows), dtype=bool)
    won = {"first": (0.0, 1.0), "second": (1.0, 0.0), "tie": (2.0, 2.0)}
    codes = np.array([*(won[name] for name in part.scale.options), (np.nan, np.nan)])
    place = np.where(np.isnan(values), len(part.scale.options), values).astype(np.intp)
    return np.asarray(codes[place, turned.astype(np.intp)], dtype=float)


def _placed(values: Floats, rater: NDArray[np.intp], text: NDArray[np.intp], shape: tuple[int, int]) -> Floats:
    """Values by rater, text and number of the answer; the array is as deep as the most answers to one text."""
    there = np.isfinite(values)
    rater, text = rater[there], text[there]
    cell = rater * shape[1] + text
    single = len(cell) == arrays.distinct(cell)  # one answer each, as most files have: nothing to number
    turn = np.zeros(len(cell), dtype=np.intp) if single else pd.Series(cell).groupby(cell).cumcount().to_numpy()
    placed = np.full((*shape, int(turn.max(initial=0)) + 1), np.nan)
    placed[rater, text, turn] = values[there]
    return placed


def _is_choice(part: Ratings) -> bool:
    scale = part.scale
    return isinstance(scale, Nominal) and len(scale.options) > 1 and set(scale.options) <= PLACES


def systems_of_pairs(part: Ratings, items: Sequence[str]) -> pd.DataFrame | None:
    """The two systems, a and b, that meet in each of these items; None where nothing says so."""
    texts = part.texts
    return facts_at(texts, items)[["a", "b"]] if texts is not None and {"item", "a", "b"} <= {*texts} else None


def facts_at(texts: pd.DataFrame, items: Sequence[str], targets: Sequence[str] | None = None) -> pd.DataFrame:
    """What is known of each of these texts, a row each, nothing where it is none of `texts`; of items where these, or
    the `targets`, say no more."""
    keys, wanted = ["item"], pd.Index([*items])
    if targets is not None and "target" in texts and len({*targets}) == 1:  # an index of pairs takes longer
        texts = texts[texts["target"].astype(str) == targets[0]].drop(columns="target")
    elif targets is not None and "target" in texts:
        keys, wanted = ["item", "target"], pd.MultiIndex.from_arrays([[*items], [*targets]])
    known = texts.assign(**{name: texts[name].astype(str) for name in keys}).drop_duplicates(keys)
    return known.set_index(keys).reindex(wanted)


def _options(part: Ratings, *values: Floats) -> tuple[tuple[str, ...], bool, Sequence[Floats]]:
    """The options (of sets those given, and each option alone), whether in order, and the values as places in them."""
    scale = part.scale
    if _is_choice(part):
        return WON, False, values
    if isinstance(scale, Numeric):
        return (), True, values
    if isinstance(scale, ResponseSets):
        given = np.concatenate(values)
        codes = np.union1d(given[np.isfinite(given)], [scale.code({option}) for option in scale.options])
        sets = (int(code) for code in codes)
        names = tuple("|".join(o for k, o in enumerate(scale.options) if code >> k & 1) for code in sets)
        return names, False, [np.where(np.isnan(v), np.nan, np.searchsorted(codes, v)) for v in values]
    return scale.options, isinstance(scale, Ordinal), values


def shares_of(answers: Floats, options: int) -> Floats:
    """Share of each code along the last axis; NaN where there is no answer."""
    there = np.isfinite(answers).sum(axis=-1)[..., None]
    hits = np.stack([(answers == code).sum(axis=-1) for code in range(options)], axis=-1).astype(float)
    return np.asarray(np.divide(hits, there, out=np.full(hits.shape, np.nan), where=there > 0))


def without_truth(ratings: Ratings, part: Ratings | None = None) -> Ratings:
    """The same ratings, or one `part` of them, without the right answers, which are nobody's opinion: of the criteria
    that people rated beside them."""
    return against_truth(ratings, part, right=False)


def people_beside_truth(ratings: Ratings) -> tuple[str, ...]:
    """Who of the persons is not the right answers."""
    return tuple(name for name in ratings.persons if name != ratings.truth)


def against_truth(ratings: Ratings, part: Ratings | None = None, *, right: bool = True) -> Ratings:
    """The same without the other people where right answers are known: of the criteria that these are about."""
    part = ratings if part is None else part
    if not ratings.truth or ratings.persons == (ratings.truth,):
        return part

    def made() -> Ratings:
        def kept(table: pd.DataFrame) -> pd.Series[bool]:
            return table["kind"].eq(PERSON) & table["rater"].astype(str).eq(ratings.truth).eq(right)

        known = ratings.table["criterion"][kept(ratings.table)].unique()
        others = part.table["kind"].eq(PERSON) & ~kept(part.table) & part.table["criterion"].isin(known)
        return replace(part, table=part.table[~others], _memory={})

    return part.remember(("of persons", right), made)


@dataclass(frozen=True, eq=False)
class BinaryDecisions:
    """Of what a judge decides, which answers are positive, and what people or the right answers say of them.

    `judged` (J, U): share of a judge's answers to a text that are positive; `expected` (U,): the same of the right
    answer, or of one person drawn from those who rated the text. NaN where there is no answer. `positive` names the
    positive side ("toxic", "4 or more"), `stated` says whether somebody named it. What is positive follows one rule:

    1. the option given as `positive`, in the call or as `Ratings.positive` of the criterion; or all scores from the
       threshold on, given in the call or as the one threshold of the criterion in `Ratings.thresholds`;
    2. of two options for which nothing is given: the one that people give to fewer texts, since what a judge is asked
       to find is seldom the rule; the worse or the first one where both are equally common."""

    answers: Answers
    positive: str
    stated: bool
    judged: Floats
    expected: Floats

    @cached_property
    def reference(self) -> Floats:
        """1 where the right answer, or most people's, is positive, 0 where it is not, (U,); NaN where people are split
        evenly or nobody answered."""
        split = ~np.isfinite(self.expected) | (self.expected == 0.5)
        return np.where(split, np.nan, (self.expected > 0.5).astype(float))

    @property
    def held_against(self) -> str:
        """Whose answers the judge's are compared with, in words."""
        if self.answers.right:
            return RIGHT_ANSWERS
        rated = self.answers.raters.max(initial=0) > 1
        return "most people" if rated else "one person for each text" if len(self.answers.people) > 1 else "one person"


def each_decided(
    ratings: Ratings, positive: str = "", threshold: float | None = None
) -> Iterator[tuple[tuple[str, ...], BinaryDecisions]]:
    """(levels, decisions) for every criterion of which it is known what is positive, and every combination of factor
    levels; choices in both orders, and with labels swapped, together. The right answers (`Ratings.truth`) stand in the
    place of people where they are known.

    Raises `RecuseError` where no criterion has the option `positive`, and where no person rated anything."""
    if positive and not any(positive in _option_names(ratings, name) for name in ratings.headline):
        known = ", ".join(dict.fromkeys(option for name in ratings.headline for option in _option_names(ratings, name)))
        raise RecuseError(f"positive = {positive!r} is none of the options; there are {known or 'numbers only'}")
    held = against_truth(ratings)
    for names, part in held.each(*COMPARED):
        name = part.criterion
        option = positive if positive in _option_names(part, name) else part.positive.get(name, "")
        thresholds = part.thresholds.get(name, ()) if threshold is None else (threshold,)
        if is_binary(part.scale, option, thresholds):
            yield names, _decided(part, held, option, thresholds)


def _decided(part: Ratings, ratings: Ratings, positive: str, thresholds: Sequence[float]) -> BinaryDecisions:
    answers = answers_of(part, ratings)
    scale = part.scale
    if isinstance(scale, Numeric):
        (start,) = thresholds
        limit = float(scale.turned(start)) if scale.reversed else start
        every = answers.judged, answers.rated
        judged, persons = (np.where(np.isfinite(given), given >= limit, np.nan) for given in every)
        name = f"{start:g} or {'less' if scale.reversed else 'more'}"
        return BinaryDecisions(answers, name, True, mean_of(judged, 2), mean_of(mean_of(persons, 2), 0))
    stated, given = positive in answers.options, total(np.nan_to_num(answers.people_shares), answers.times)
    # else the one that people give less often, or the first where they are equally common
    place = answers.options.index(positive) if stated else int(given[1] < given[0] - 1e-9)
    judged, people = answers.judge_shares[..., place], answers.people_shares[..., place]
    return BinaryDecisions(answers, answers.options[place], stated, judged, people)


def _option_names(ratings: Ratings, criterion: str) -> tuple[str, ...]:
    return getattr(ratings.scales[criterion], "options", ())
