"""Two judges brought onto the same texts: the one in use and the one that would replace it.

    upgrade = Upgrade.within(ratings, incumbent="today", candidate="next")
    upgrade = Upgrade(before, "judge", after, "judge")            # two files, two panels

Each judge is known in its own company: `before` is the line-up with the incumbent, `after` the same with the
candidate in its place. Nothing that is measured of one line-up knows the other's judge, so admitting a candidate
changes no number on the judges in use. What is compared text by text is on `both`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.upgrade.change import Pair
from recuse.ratings import PERSON, Nominal, Numeric, Ratings, Scale
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.array import clusters_of
from recuse.ratings.scale import PLACES
from recuse.schema import RecuseError
from recuse.schema.factors import ORDER

CHANGES = ("model", "prompt", "rubric", "sampling")
"""What an upgrade may declare that it changes. Texts and scale are the ground both stand on and never change."""
SETTINGS: Mapping[str, str] = {
    "prompt": "prompt", "rubric": "rubric", "scale": "scale", "temperature": "sampling", "max_tokens": "sampling",
    "repeats": "sampling",
}  # fmt: skip
"""Fields of a cassette's fingerprint that say how a judge was asked -> what an upgrade must declare to change them."""
DECLARE: Mapping[str, str] = {
    "prompt": "; if that is the upgrade, declare it: --change prompt",
    "rubric": "; if that is the upgrade, declare it: --change rubric",
    "sampling": '; declare it: change = ["model", "sampling"], or --change model,sampling',
}
"""Where it is said. A candidate of a panel has words of its own only where it names them, so only panels differ."""
ONE_SCALE = " (if both mean one scale, say which: --scale LOW-HIGH; otherwise bring the scores to one first)"
ONE_DECIDES = (
    " (where scores are read as a decision in one, as FILE.recuse.toml beside it says, read the other so too: recuse "
    "check FILE --use decide --threshold SCORE --save)"
)
ONE_WORDING = " (if they say the same in other words: recuse check FILE --same WORD=WORD,... --save, and compare again)"
SAME_IDS = " (a text has to have the same name on both sides; --item COLUMN says where it stands)"
TEXT = ["item", "target"]
SAME_ANSWER = ("rater", *TEXT, "criterion", "repeat")  # what two files say alike of a person's answer if it is one
Text = tuple[str, str]
COUNTED = ("words",)  # what may be counted in another way, and says less than the text itself
MOST = 0.5  # share of the texts on which what is told may differ: labels and topics get corrected, texts shortened
FEWEST_LABELS = 10


@dataclass(frozen=True, eq=False)
class Upgrade:
    """`change`: what the upgrade declares to change (`CHANGES`). `settings`: how each judge was asked, by the names of
    `SETTINGS`, where that was recorded. `calls`: cost and latency of each judge, where known: mean dollars, tokens and
    seconds per call."""

    before: Ratings
    incumbent: str
    after: Ratings
    candidate: str
    change: tuple[str, ...] = ("model",)
    settings: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
    calls: tuple[Mapping[str, float | None], Mapping[str, float | None]] = ({}, {})

    def __post_init__(self) -> None:
        for ratings, judge in self.sides:
            _known(ratings, judge)
        if unknown := [name for name in self.change if name not in CHANGES]:
            raise RecuseError(f"an upgrade changes {', '.join(CHANGES)}; got {', '.join(unknown)}")

    @classmethod
    def within(cls, ratings: Ratings, incumbent: str, candidate: str, **more: Any) -> Upgrade:
        """Of two judges of the same ratings; the others are company to both."""
        if incumbent == candidate:
            raise RecuseError(f"an upgrade is between two judges; {candidate} was named as both")
        _known(ratings, incumbent, candidate)
        return cls(ratings.without(candidate), incumbent, ratings.without(incumbent), candidate, **more)

    def with_thresholds(self, thresholds: Sequence[float]) -> Upgrade:
        """The same with decisions taken at these scores, for every criterion with numbers."""
        if not np.isfinite(thresholds).all():
            raise RecuseError(f"thresholds are scores, for example 4; got {', '.join(map(str, thresholds))}")
        known = {name: tuple(thresholds) for name, scale in self.before.scales.items() if isinstance(scale, Numeric)}
        return replace(self, before=replace(self.before, thresholds=known, _memory={}))

    @property
    def sides(self) -> tuple[tuple[Ratings, str], tuple[Ratings, str]]:
        """Each line-up with its judge."""
        return (self.before, self.incumbent), (self.after, self.candidate)

    # ------------------------------------------------------------------ are they comparable?

    @cached_property
    def not_comparable(self) -> tuple[str, ...]:
        """Why the two cannot be compared, a clause each; empty where they can."""
        before, after, (was, is_) = self.before, self.after, self.settings
        differ = (name for name in SETTINGS if name in was and name in is_ and was[name] != is_[name])
        undeclared = [
            f"{name} was {'unset' if was[name] is None else was[name]} and is "
            f"{'unset' if is_[name] is None else is_[name]}{DECLARE.get(SETTINGS[name], '')}"
            for name in differ if SETTINGS[name] not in self.change
        ]  # fmt: skip
        for one, other, words in ((before.headline, after.headline, "one was asked for {}, the other for {}"),
                                (before.factors, after.factors, "in one {} was varied, in the other {}")):  # fmt: skip
            if {*one} != {*other}:
                return (*undeclared, words.format(*(", ".join(names) or "nothing" for names in (one, other))))
        scales = ((name, before.scales[name], after.scales[name]) for name in before.headline)
        remedies = ("", "", "") if any(self.settings) else (ONE_WORDING, ONE_DECIDES, ONE_SCALE)
        others = [
            f"the scale of {name} was {_scale(one)} and is {_scale(other)}"
            f"{remedies[isinstance(one, Numeric) + isinstance(other, Numeric)]}"
            for name, one, other in scales if _ends(one) != _ends(other)
        ]  # fmt: skip
        if others:
            return (*undeclared, *others)
        keys = [*TEXT, "criterion", *self.before.factors]
        each = (r.table.loc[r.table["rater"] == judge, keys].itertuples(index=False) for r, judge in self.sides)
        old, new = ({tuple(map(str, row)) for row in rows} for rows in each)
        if not (common := self.overlap[0]):
            here, there = (min(rows)[0] for rows in (old, new))
            return (*undeclared, f"they have no text in common: {here} stands in one, {there} in the other{SAME_IDS}")
        if any(row[:2] in common for row in old ^ new):
            return (*undeclared, "not the same texts under the same conditions")
        labels = "" if self._recorded else other_labels(self._labels)
        if contrary := labels or contradiction(self.before, self.after, common):
            return (*undeclared, f"the same names stand for other texts, {contrary}{SAME_IDS}")
        return (*undeclared,)

    # ------------------------------------------------------------------ both on the same texts

    @cached_property
    def shown(self) -> tuple[str, str]:
        """What incumbent and candidate are called beside each other."""
        same = self.incumbent == self.candidate
        return (f"{self.incumbent} before", f"{self.candidate} after") if same else (self.incumbent, self.candidate)

    @cached_property
    def both(self) -> Ratings:
        """Ratings of the two judges alone, the incumbent first, and of people."""
        named = zip(self.sides, self.shown, strict=True)
        old, new = (r.table[r.table["rater"] == judge].assign(rater=name) for (r, judge), name in named)
        truth = self.before.truth or self.after.truth
        people = pd.concat([r.table[r.table["kind"] == PERSON] for r in self._last_counts], ignore_index=True)
        keys = [name for name in (*SAME_ANSWER, *self.before.factors) if name in people]
        people = people.sort_values("status", key=lambda status: status.eq("ok"), kind="stable")
        people = people.drop_duplicates(keys, keep="last").sort_index()
        if len(true := people[people["rater"] == truth]):
            people = true  # what is true comes before what people say
        columns = [name for name in old.columns if name in new.columns]
        parts = [part[columns] for part in (old, new, people.reindex(columns=columns)) if len(part)]
        table = pd.concat(parts, ignore_index=True)
        tell = [(r.texts, r.clusters) for r in self._last_counts if r.texts is not None and {*TEXT} <= {*r.texts}]
        texts = tell[-1][0] if tell else self.before.texts
        if len(tell) > 1 and not tell[0][0].equals(tell[1][0]):  # what either tells of a text is known
            every = pd.concat([known for known, _ in tell])
            texts = every.groupby(TEXT, sort=False, observed=True, as_index=False).last()
        clusters = next((name for known, name in tell[::-1] if "cluster" in known), self.before.clusters)
        return replace(self.before, table=table, texts=texts, clusters=clusters, authors={}, truth=truth, _memory={})

    @property
    def _recorded(self) -> bool:
        """Of one task, whose labels a change may move."""
        return any((*self.settings, *self.calls))

    @property
    def _last_counts(self) -> tuple[Ratings, Ratings]:
        """The two, last whose labels and texts count where they differ: of files the newer one, which was mended; of
        recordings the older one, since what a change is measured by is no part of the change."""
        return (self.after, self.before) if self._recorded else (self.before, self.after)

    @cached_property
    def _labels(self) -> pd.DataFrame:
        """What people, or who is right, say of a text in both: `answer_x` in the older one, `answer_y` in the newer."""
        keys = [*SAME_ANSWER, *(name for name in self.before.factors if name in self.after.factors)]
        every = (r.table[r.table["kind"].eq(PERSON) & r.table["status"].eq("ok")] for r in (self.before, self.after))
        old, new = (
            rows[keys].assign(answer=rows["response"].where(rows["response"].notna(), rows["score"]).astype(str))
            for rows in (labels.drop_duplicates(keys) for labels in every)
        )
        return old.merge(new, on=keys)

    @property
    def corrected(self) -> str:
        """ "98 of 1000 labels differ: those beside gpt-5 count", "" where none does."""
        labels, truth = self._labels, self.before.truth or self.after.truth
        right = labels["rater"].eq(truth)
        labels = labels[right] if right.any() else labels
        differ = int(labels["answer_x"].ne(labels["answer_y"]).sum())
        beside = self.shown[self._last_counts[1] is self.after]
        return f"{differ} of {len(labels)} labels differ: those beside {beside} count" if differ else ""

    # ------------------------------------------------------------------ judges without all texts in common
    # Texts of the candidate alone have nothing to be compared with, and leaving them out hides no worsening against the
    # judge in use. Texts of the incumbent alone are another matter: whether the candidate was never asked of them, or
    # was and gave no answer that anybody kept, a table does not tell. A candidate that answers only what it finds easy
    # looks the same as one that was asked less. So these texts count as asked and unanswered (`missing_as_unanswered`)
    # wherever the candidate could pass, and are left out (`on_common_texts`) only to see whether it is worse on the
    # rest.

    @cached_property
    def overlap(self) -> tuple[frozenset[Text], frozenset[Text], frozenset[Text]]:
        """Texts, as (item, target), that both judges have rows on, whatever became of their answers, the incumbent
        alone, the candidate alone."""
        each = (r.table.loc[r.table["rater"] == judge, TEXT].drop_duplicates() for r, judge in self.sides)
        old, new = (frozenset(rows.astype(str).itertuples(index=False, name=None)) for rows in each)
        return old & new, old - new, new - old

    def on_common_texts(self) -> Upgrade:
        """The same on the texts that both have."""
        before, after = (_only(ratings, self.overlap[0]) for ratings in (self.before, self.after))
        return replace(self, before=before, after=after)

    def missing_as_unanswered(self) -> Upgrade:
        """The same on all texts of the incumbent: where the candidate has none of them, it has an answer that cannot be
        used, asked as the incumbent was."""
        common, missing, _ = self.overlap
        after = _only(self.after, common | missing)
        if missing:
            rows = _only(self.before, missing).table
            rows = rows[rows["rater"] == self.incumbent]
            rows = rows.drop_duplicates([*TEXT, "criterion", *self.before.factors])
            lost = rows.assign(rater=self.candidate, repeat=0, score=float("nan"), response=None, status="unparsed")
            table = pd.concat([after.table, lost.reindex(columns=after.table.columns)], ignore_index=True)
            after = replace(after, table=table, _memory={})
        return replace(self, after=after)

    # ------------------------------------------------------------------ what is measured

    def pairs(self) -> Iterator[Pair]:
        """The two judges' answers by criterion and combination of factor levels: of the criteria that stand for the
        judgement as a whole, and of the parts that they are made of."""
        ratings = self.both
        others = [name for name in ratings.parts if name in ratings.criteria and name not in ratings.headline]
        for wanted in (ratings.headline, *((name,) for name in others)):
            part = ratings.with_criterion(*wanted) if wanted != ratings.headline else ratings
            for names, here in levels_of_judges(part, *COMPARED):
                level = names[: len(names) - (len(wanted) > 1)]
                here = _with_people_in_every_order(here)
                answers = _stacked([answers_of(one, part, people=False) for _, one in levels_of_judges(here)], here)
                thresholds = ratings.thresholds.get(here.criterion, ())
                named = (*level, here.criterion) if self._several else level
                yield Pair(named, answers, here.criterion in ratings.headline, thresholds)

    def by(self) -> tuple[str, ...]:
        """Names of what `Pair.names` are the levels of."""
        factors = tuple(name for name in self.both.factors if name not in COMPARED)
        return (*factors, "criterion") if self._several else factors

    @property
    def _several(self) -> bool:
        return len({*self.both.headline, *self.both.parts}) > 1


def _known(ratings: Ratings, *judges: str) -> None:
    for judge in judges:
        if judge not in ratings.judges:
            raise RecuseError(f"there is no judge {judge} in the ratings; they hold {', '.join(ratings.judges)}")


def levels_of_judges(ratings: Ratings, *compared: str) -> Iterator[tuple[tuple[str, ...], Ratings]]:
    """`Ratings.each` without levels that people alone bear: nobody was asked so."""
    return ((names, part) for names, part in ratings.each(*compared) if part.judges)


def _with_people_in_every_order(ratings: Ratings) -> Ratings:
    """With what people chose under each order and labels a judge was asked under: the same, whoever stood first."""
    table, factors = ratings.table, [name for name in COMPARED if name in ratings.factors]
    persons = table["kind"].eq(PERSON)
    if ORDER not in factors or not isinstance(ratings.scale, Nominal) or not set(ratings.scale.options) <= PLACES:
        return ratings
    people, judges = table[persons].sort_values(factors, kind="stable"), table[~persons]
    text = pd.MultiIndex.from_frame(people[TEXT])
    turned = people["response"].replace({"first": "second", "second": "first"})
    parts = [judges, people[~text.isin(pd.MultiIndex.from_frame(judges[TEXT]))]]
    for names, rows in judges.groupby(factors, sort=False, observed=True):
        level = dict(zip(factors, map(str, names), strict=True))
        own = (people[factors] == pd.Series(level)).all(axis=1)
        chosen = people.assign(response=people["response"].where(people[ORDER] == level[ORDER], turned), **level)
        there = text.isin(pd.MultiIndex.from_frame(rows[TEXT]))
        parts.append(pd.concat([chosen[there & own], chosen[there & ~own]]).drop_duplicates([*SAME_ANSWER]))
    return replace(ratings, table=pd.concat(parts, ignore_index=True), _memory={})


def _stacked(parts: list[Answers], ratings: Ratings) -> Answers:
    """One text per pair, order and labels that it was asked under: a judge that follows the place gives two answers to
    a pair whenever it is asked, which is no repeat that differs. All of a pair's share its cluster. Where the order is
    known, what won is a place, and chance follows from how often each place wins."""
    first = replace(parts[0], either_way=parts[0].either_way and ORDER not in ratings.factors)
    if len(parts) == 1:
        return first
    names = [name for one in parts for name in clusters_of(ratings, one.items)]
    return replace(
        first,
        items=tuple(name for one in parts for name in one.items),
        targets=tuple(name for one in parts for name in one.targets),
        clusters=np.unique(np.asarray(names, dtype=object).astype(str), return_inverse=True)[1].astype(np.intp),
        judged=_joined([one.judged for one in parts]),
        rated=_joined([one.rated for one in parts]),
        requested=np.concatenate([one.requested for one in parts], axis=1),
        lost=np.concatenate([one.lost for one in parts if one.lost is not None], axis=1),
        times=None if first.times is None else np.concatenate([one.times for one in parts if one.times is not None]),
        part=ratings,
    )


def _joined(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """(J, U, R) of every part side by side, as deep as the deepest."""
    depth = max(array.shape[2] for array in arrays)
    deep = [np.pad(a, ((0, 0), (0, 0), (0, depth - a.shape[2])), constant_values=np.nan) for a in arrays]
    return np.concatenate(deep, axis=1)


def _ends(scale: Scale) -> object:
    return (scale.minimum, scale.maximum, scale.reversed) if isinstance(scale, Numeric) else scale


def _scale(scale: Scale) -> str:
    return f"{scale.minimum:g} to {scale.maximum:g}" if isinstance(scale, Numeric) else ", ".join(scale.options)


def contradiction(before: Ratings, after: Ratings, common: Collection[Text]) -> str:
    """ "item t17 has subset law in one, tax in the other", where something that both tell of the texts (`texts`: a
    topic, the text, the right answer) differs for most of the `common` ones, (item, target); "" where nothing does."""
    known = [r.texts for r in (before, after) if r.texts is not None and "target" in r.texts]
    if len(known) < 2:
        return ""
    wanted = pd.MultiIndex.from_tuples(sorted(common), names=TEXT)
    named = (texts.assign(**{name: texts[name].astype(str) for name in TEXT}) for texts in known)
    old, new = (texts.drop_duplicates(TEXT).set_index(TEXT) for texts in named)
    for name in (column for column in old.columns if column in new.columns and column not in COUNTED):
        one, other = old[name].reindex(wanted), new[name].reindex(wanted)
        there = one.notna() & other.notna()
        differ = there & (one.astype(str) != other.astype(str))
        if differ.sum() > MOST * there.sum():
            at = int(differ.to_numpy().argmax())
            words = [str(side.iloc[at]) for side in (one, other)]
            was, is_ = (word if len(word) <= 30 else f"{word[:29]}…" for word in words)
            return f"item {wanted[at][0]} has {name} {was} in one, {is_} in the other"
    return ""


def other_labels(labels: pd.DataFrame) -> str:
    """The same of somebody's labels, where those in the one differ from those in the other by more than half of what
    chance would make of them (kappa below 1/2), which no mended labels do; "" where nobody's do."""
    for person, rows in labels.groupby("rater", observed=True):
        one, other = rows["answer_x"], rows["answer_y"]
        differ = (one != other).to_numpy()
        shares = (part.value_counts(normalize=True) for part in (one, other))
        by_chance = 1 - next(shares).mul(next(shares), fill_value=0.0).sum()
        if len(rows) >= FEWEST_LABELS and differ.mean() > MOST * by_chance:
            row = rows.iloc[int(differ.argmax())]
            return f"item {row['item']} has {row['answer_x']} of {person} in one, {row['answer_y']} in the other"
    return ""


def _only(ratings: Ratings, texts: frozenset[Text]) -> Ratings:
    there = pd.MultiIndex.from_frame(ratings.table[TEXT].astype(str)).isin(list(texts))
    return ratings if there.all() else replace(ratings, table=ratings.table[there], _memory={})
