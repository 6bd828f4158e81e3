"""Human alignment: how far judges score above or below people, and whether they order the texts as people do.

    offset(i, u) = s_iu - mean over people of what they gave text u,    s_iu = mean over repeats of judge i

Merchant-risk paper, secs. 3.5 and 4.4. People are raters of the same texts, or a summary (target, mean, sd, n) where
only that is known (`People`). Texts that people did not rate, or the judge has no usable score of, are
left out for that judge alone. `own_favour`: what a judge adds to its own texts and not to others' is favour, whatever
its leniency, and there is no need for peers.

Intervals are over texts, since each is compared with people's view of the same text, and against these people: what
others would say, two or three hardly tell, and more texts do not help. Where only means and SDs of people are known,
their own error is in the interval (variances add, Welch-Satterthwaite). Cells of a matrix, which are one text each, and
the offset of a judge's own single text have an interval over repeats alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.consensus import WELCH
from recuse.metrics.estimates import THESE_TEXTS, estimated, losses_of_judge, number, these_texts, undefined
from recuse.metrics.measure import Named, measure, per_judge, per_subject
from recuse.ratings import PERSON, Cells, Ratings, remembered
from recuse.ratings.answers import against_truth
from recuse.ratings.array import among, mean_of, moments_of, numbers_at, recoded
from recuse.ratings.chosen_labels import groups_on, label_weights
from recuse.schema import Estimate, RecuseError
from recuse.schema.arrays import Floats, Mask, distinct, taken
from recuse.schema.vocabulary import RIGHT_ANSWERS
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.clusters import contrast, difference_of_means, stratified_mean
from recuse.statistics.distributions import Student

ALONE = "one person: how far others would differ is unknown, and the interval takes this one as given"
EXACT = "held against right answers, which nobody would give otherwise"
OVER_ITEMS = "mean of judge minus people over texts, cluster-robust t over items"
SUMMARISED = f"{OVER_ITEMS}, with people's own sampling error"
FEW_PEOPLE = 3
FAVOUR = "judge less people on own texts, less the same on others', cluster-robust t over items"
SUMMARY = ("target", "mean", "sd", "n")


@dataclass(frozen=True, eq=False)
class Compared:
    """Judges' cells and people's means of the same texts; judge -> the target that is its `own`."""

    cells: Cells
    people: People
    own: Mapping[str, str]
    groups: NDArray[np.intp] | None = None  # (U,), of labels that were chosen by group
    right: bool = False  # whether what people would say is known to be right

    @property
    def judges(self) -> tuple[str, ...]:
        """Those of the cells."""
        return self.cells.judges

    @property
    def held(self) -> dict[str, Any]:
        """For the detail, where it is not people that judges are compared with."""
        return {"held_against": RIGHT_ANSWERS} if self.right else {}

    @property
    def differences(self) -> Floats:
        """Judge minus people, shape (J, U)."""
        return self.cells.mean - self.people.mean

    def only(self, judge: int) -> Mask:
        """All texts of one judge, as a mask of shape (J, U)."""
        mask = np.zeros(self.cells.mean.shape, dtype=bool)
        mask[judge] = True
        return mask

    def over_repeats(self, used: Mask) -> Student:
        """Of the mean difference over the cells in `used`, shape (J, U): these texts, new replies."""
        cells = self.cells
        weights = used / used.sum()
        distribution = contrast(weights, cells.mean, cells.variance, cells.count, thirds=cells.cubes, step=cells.step)
        return replace(distribution, value=distribution.value - float(self.people.mean[np.nonzero(used)[1]].mean()))

    def over_texts(self, used: Mask, by_group: bool = False) -> Student:
        """The same, new texts; `by_group`: of one judge, labels that were chosen by group stand for their group."""
        judges, texts = np.nonzero(used)
        values = self.differences[judges, texts]
        cells = self.cells
        if by_group and self.groups is not None and len(texts):
            judge = int(judges[0])
            weights = label_weights(self.groups, np.isfinite(cells.mean[judge]), used[judge])
            return stratified_mean(values, self.groups[texts], weights, cells.clusters[texts], step=cells.step)
        every = np.ones(len(values), dtype=bool)
        clusters, times = cells.clusters[texts], taken(cells.times, texts)
        return difference_of_means(values, every, None, clusters, step=cells.step, times=times)

    def offset(self, metric: str, wanted: Mask, **more: Any) -> Estimate:
        """The mean of judge minus people over the cells in `wanted` that have both."""
        cells = self.cells
        used = wanted & np.isfinite(self.differences)
        texts = np.asarray(used.any(axis=0))
        repeats = cells.fixed and int(texts.sum()) == 1
        method = WELCH if repeats else OVER_ITEMS if self.people.known else SUMMARISED
        about = {**cells.about(repeats), "method": method}
        rated = wanted & np.isfinite(self.people.mean)
        if not used.any():
            why = (
                "no text that people rated has a usable score of the judge" if rated.any()
                else "people rated none of the texts" if wanted.any() else "there is no such text"
            )  # fmt: skip
            return undefined(metric, why, n_excluded=cells.replies(cells.lost * wanted), **about)
        these = self.over_repeats(used) if cells.fixed else None
        distribution: Any = these if repeats and these else self.over_texts(used, by_group=metric == "human_offset")
        se, df = self.people.error(texts)
        in_general: Any = distribution if math.isnan(se) else Student.minus(distribution, Student(0.0, se, df))
        if cells.scale.unit == "share" and self.people.known and self.groups is None and not repeats:
            text = np.nonzero(used)[1]
            values, times = self.differences[used], taken(cells.times, text)
            distribution = bounded_mean(values, cells.clusters[text], (-1.0, 1.0), times=times)
        n, count = int(cells.count[used].sum()) if repeats else cells.number(texts), self.people.count(texts)
        detail = {
            **more.pop("detail", {}), "people": count, "people_se": number(se),
            "people_in_general": None if math.isnan(se) else [number(end) for end in in_general.interval(0.95)],
        }  # fmt: skip
        if len(judges := np.flatnonzero(wanted.any(axis=1))) == 1:  # a mean over several has no losses of one
            detail |= losses_of_judge(cells, int(judges[0]), lambda: self.people.mean, rated[judges[0]])
        detail |= self.held
        phrase = THESE_TEXTS if repeats else ""
        if these and not repeats:
            beside, phrase = these_texts(these)
            detail |= beside
        unrated = cells.replies(wanted.any(axis=0) & ~np.isfinite(self.people.mean))
        parts = [phrase, (EXACT if self.right else ALONE) if count == 1 else ""]
        if self.people.known and 1 < count <= FEW_PEOPLE:
            parts.append(f"against these {count} people; what people in general would give is less sure")
        parts.append(f"{unrated} texts that no person rated are left out" if unrated else "")
        if about["over"] == "clusters":
            about["n_clusters"] = distinct(cells.clusters[texts])
        return estimated(
            metric, distribution.value, distribution if self.people.known else in_general, n=n,
            n_excluded=self.excluded(wanted, used), note="; ".join(filter(None, parts)), detail=detail, **about, **more,
        )  # fmt: skip

    def excluded(self, wanted: Mask, used: Mask) -> int:
        """Repeats that were lost where texts are fixed; otherwise texts that were rated by people and lost."""
        if self.cells.fixed:
            return int(self.cells.lost[wanted].sum())
        return self.cells.replies(wanted & ~used & np.isfinite(self.people.mean))


@remembered
def compared(part: Ratings, ratings: Ratings) -> Compared:
    """`part`, one combination of factor levels of `ratings`, beside its people, or right answers where known."""
    cells = part.cells()
    items, targets = ([names[k] for k in places] for names, places in
                      ((cells.item_names, cells.items), (cells.target_names, cells.targets)))  # fmt: skip
    held = against_truth(ratings)
    people = people_on(against_truth(ratings, part), cells, held)
    rows = held.table["kind"].eq(PERSON) & held.table["criterion"].eq(part.criterion)
    right = {*held.table["rater"][rows].unique()} == {ratings.truth}
    return Compared(cells, people, part.own(), groups_on(part, items, targets), right)


@measure(
    "human_offset", "offset from people", signed=True, rank=230, counts=True, above="scores too high",
    below="scores too low",
    reading="A judge's mean score less people's mean for the same texts.",
)  # fmt: skip
@per_judge(compared)
def human_offset(against: Compared, judge: int) -> Estimate:
    """Mean over texts of judge minus people, by judge and factor level, in units of the scale.

    Detail: `people`, how many there are; `people_in_general`, the interval about people like them, wider by `people_se`
    (both None where one person says nothing about the next); `these_texts`, over repeats, where every target has one
    text; `losses`. Undefined for a judge that shares no text with people.

    >>> rows = "a judge i 4; a judge j 3; p person i 3; p person j 2.5"
    >>> human_offset(example("rater kind item score", rows)).of(judge="a").value
    0.75
    """
    return against.offset("human_offset", against.only(judge))


@measure(
    "own_favour", "favour to its own texts against people", signed=True, rank=42, above="favours its own texts",
    below="marks its own texts down",
    reading="The judge's score less people's on its own texts, less the same on the others'.",
)  # fmt: skip
@per_subject("judge", compared)
def own_favour(against: Compared) -> Iterator[Named]:
    """mean over own texts of (judge - people) - mean over others' texts of (judge - people), by judge that wrote a
    target and factor level, in units of the scale. Free of the judge's leniency, and of how good its texts are as far
    as people see it. The right answers stand in people's place where they are known.

    Over items, in pairs where an item has texts of both sides; these people are held. Detail: both means (`own`,
    `others`), and `losses`. Undefined where people rated no own text or none of another, and where every target has one
    text: one text says nothing about the next.

    >>> rows = [("a", "judge", i, t, 3.0 + (t == "a") + i % 2) for i in range(4) for t in "ab"]
    >>> rows += [("p", "person", i, t, 2.0 + i % 2) for i in range(4) for t in "ab"]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "target", "score"])
    >>> own_favour(Ratings.of(frame, authors={"a": "a"})).of(judge="a").value
    1.0
    """
    return ((judge, _favour(against, judge, target)) for judge, target in against.own.items())


def _favour(against: Compared, judge: str, target: str) -> Estimate:
    cells, row = against.cells, against.cells.row(judge)
    own = cells.texts_of(target)
    requested = (cells.count[row] + cells.lost[row] > 0) & np.isfinite(against.people.mean)
    differences = against.differences[row]
    used = requested & np.isfinite(differences)
    n, lost = distinct(cells.items[used & own]), int((requested & ~used).sum())
    facts = {**cells.about(repeats=False), "n": n, "n_excluded": lost, "method": FAVOUR}
    if not (used & own).any() or not (used & ~own).any():
        which = "its own" if not (used & own).any() else "another system's"
        return undefined("own_favour", f"no text of {which} was rated by both the judge and people", **facts)
    if cells.fixed:
        return undefined("own_favour", "every system has one text, and one text says nothing about the next", **facts)
    values = np.where(used, differences, 0.0)
    distribution = difference_of_means(values, used & own, used & ~own, cells.clusters, step=cells.step)
    detail = {
        "own": number(float(values[used & own].mean())), "others": number(float(values[used & ~own].mean())),
        **losses_of_judge(cells, row, lambda: against.people.mean, requested & own, requested & ~own), **against.held,
    }  # fmt: skip
    return estimated("own_favour", distribution.value, distribution, detail=detail, **facts)


# --------------------------------------------------------------------------- what people say of the texts


@dataclass(frozen=True, eq=False)
class People:
    """`mean` (U,): people's mean of each text of the cells, NaN where nobody rated it. `persons` (P, U): each person's,
    where known. `errors` (U,) and `fewest`: standard error and smallest number of people of a summary. `per_text`:
    whether it is the text that was rated, not its target as a whole."""

    mean: Floats
    persons: Floats | None = None
    errors: Floats | None = None
    fewest: int = 0
    per_text: bool = True
    times: Floats | None = None  # (U,): how many texts each stands for

    @property
    def known(self) -> bool:
        """Whether each person's own ratings are known, not their means alone."""
        return self.persons is not None

    def count(self, texts: NDArray[np.bool_]) -> int:
        """How many people rated any of these texts; of a summary, the fewest that a mean is made of."""
        return self.fewest if self.persons is None else int(np.isfinite(self.persons[:, texts]).any(axis=1).sum())

    def error(self, texts: NDArray[np.bool_]) -> tuple[float, float]:
        """Standard error of their mean over these texts, and its degrees of freedom, number of people - 1.

        What all people share on a text stays in it; what one person adds everywhere is what other people would change:
        the SD over people of their mean deviation, by the root of their number. Of a summary only each text's error is
        known; as if everybody leant the same way on all texts, the worst case, errors average. NaN where unknown."""
        used = texts & np.isfinite(self.mean)
        if not used.any():
            return math.nan, 0.0
        if self.persons is None:
            assert self.errors is not None
            if self.fewest < 2:
                return math.nan, 0.0
            return float(self.errors[used].mean()), float(self.fewest - 1)
        leaning = mean_of(self.persons[:, used] - self.mean[used], axis=1, times=taken(self.times, used))
        leaning = leaning[np.isfinite(leaning)]
        if len(leaning) < 2:
            return math.nan, 0.0
        return float(leaning.std(ddof=1) / math.sqrt(len(leaning))), len(leaning) - 1.0


def people_on(part: Ratings, cells: Cells, ratings: Ratings) -> People:
    """People on the texts of `cells`, the cells of `part`, one combination of factor levels of `ratings`.

    People of the table come before a summary. Those who rated within another combination (a person is seldom asked
    twice) count where nobody did within this one. NaN where they rated other criteria only. `RecuseError` where there
    are no people at all, naming the remedy."""
    everywhere = ratings.with_criterion(part.criterion)
    for source in ([part], [other for _, other in everywhere.each()]):
        means = [_means(some, cells) for some in source]
        if names := sorted({name for one in means for name in one}):
            nobody = np.full(len(cells.items), np.nan)
            persons = np.stack([mean_of(np.stack([one.get(name, nobody) for one in means]), axis=0) for name in names])
            return People(mean_of(persons, axis=0), persons, times=cells.times)
    if part.people is None and ratings.persons:  # who rated other criteria
        nobody = np.full(len(cells.items), np.nan)
        return People(nobody, nobody[None], times=cells.times)
    if part.people is None:
        raise RecuseError(
            "there are no people to compare judges with: add rows of kind person, or a summary people=... with the "
            f"columns {', '.join(SUMMARY)}"
        )
    if "criterion" not in part.people and len({ratings.scales[name].ends for name in ratings.headline}) > 1:
        raise RecuseError("the summary of people's ratings must say of which criterion: add a column criterion")
    return _summary(part, cells, part.people)


def _means(part: Ratings, cells: Cells) -> dict[str, Floats]:
    """Person -> mean of each text of the cells, on the ascending scale."""
    rows = np.flatnonzero(part.having("kind", PERSON) & part.having("criterion", part.criterion))
    if not len(rows):
        return {}
    both = ("item", cells.item_names), ("target", cells.target_names)
    item, target = (among(*part.coded(name), wanted)[rows] for name, wanted in both)
    targets, width = len(cells.target_names), len(cells.items)
    text = np.where((item >= 0) & (target >= 0), item * targets + target, -1)
    place = pd.Index(cells.items * targets + cells.targets).get_indexer(pd.Index(text))
    names, everybody = part.coded("rater")
    names, person = recoded(names, everybody[rows])
    inside = place >= 0
    values = numbers_at(part, rows)[inside]
    means = moments_of((person * width + place)[inside], values, len(names) * width).mean
    return dict(zip(names, means.reshape(len(names), width), strict=True))


def _summary(part: Ratings, cells: Cells, people: pd.DataFrame) -> People:
    if missing := [name for name in SUMMARY if name not in people]:
        raise RecuseError(
            f"the summary of people's ratings lacks the column(s) {', '.join(missing)}; it has "
            f"{', '.join(map(str, people.columns))}"
        )
    rows = people[people["criterion"] == part.criterion] if "criterion" in people else people
    per_text = "item" in rows
    keys = ["item", "target"] if per_text else ["target"]
    rows = rows.assign(**{name: rows[name].astype(str) for name in keys}).set_index(keys)
    if rows.index.has_duplicates:
        twice = rows.index[rows.index.duplicated()][0]
        raise RecuseError(f"the summary of people's ratings needs one row for {', '.join(keys)}; {twice} has several")
    targets = np.asarray(cells.target_names, dtype=object)[cells.targets]
    items = np.asarray(cells.item_names, dtype=object)[cells.items]
    wanted = pd.MultiIndex.from_arrays([items, targets]) if per_text else pd.Index(targets, dtype=object)
    there = rows.reindex(wanted)
    mean, sd, n = (there[name].to_numpy(dtype=float) for name in ("mean", "sd", "n"))
    single = len(cells.items) == len(cells.target_names)
    known = np.isfinite(mean)
    fewest = int(n[known].min()) if known.any() else 0
    return People(mean, errors=sd / np.sqrt(n), fewest=fewest, per_text=per_text or single)
