"""What ratings have, known before or after they are made, and so which needs they meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recuse.ratings.binary_decisions import has_several_options, is_binary
from recuse.ratings.criteria import PLACE, counted_criteria
from recuse.ratings.factors import DIRECTION, LEVELS, TEMPERATURE, VERSION, WORDING
from recuse.ratings.known import PLACE, counted_criteria
from recuse.ratings.needs import CANDIDATE, KINDS
from recuse.ratings.scale import Nominal, Ordinal

FEWEST = 20
"""Items that two people rated below which nothing is said of their agreement (`recuse.metrics.agreement_estimates`)."""

if TYPE_CHECKING:
    import pandas as pd

    from recuse.ratings import Ratings

__all__ = [
    "Design", "design_of", "has_lengths", "has_neutral_texts", "has_one_person_each", "has_twins",
    "have_items_in_common", "offered",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is known of ratings before or after they are made."""

    kind: str
    judges: int
    texts_per_target: int  # of the target with the most
    repeats: int
    levels: Mapping[str, Sequence[str]]  # factor, as the ratings table calls it -> its levels
    authors: bool = False
    lengths: bool = False
    parts: bool = False
    people: bool = False
    people_items: bool = False  # whether people are known one by one
    two_people: bool = False  # whether two of them rated one item
    expert: bool = False  # whether right answers are known, or items were rated by one person each
    positive: bool = False  # whether a criterion is a yes or no
    several_options: bool = False  # whether a criterion has three options or more, of which none is looked for
    twins: bool = False  # whether some item has a text with a known flaw and one without
    slices: bool = False  # whether texts can be grouped, with enough of each group
    ranking: bool = False  # whether texts were ranked beside being scored
    right_scores: bool = False  # whether a criterion's right score is known of some text
    right_answer: bool = False  # whether it is known which of an item's texts is right
    held_out_payloads: bool = False
    reference: bool = False
    candidate: bool = False  # whether a judge is asked in the place of the one that it would replace
    numbers: bool = True
    common_items: bool = False  # whether some item has texts by several targets
    targets: int = 0
    tiers: bool = False
    shared_texts: bool = True  # whether two judges judged one text
    neutral_texts: bool = False  # whether an author and a peer meet on a text that neither wrote (`has_neutral_texts`)
    beside: frozenset[str] = field(default_factory=frozenset)  # kinds that other protocols of the task offer


def design_of(ratings: Ratings, kind: str = "") -> Design:
    """The design that ratings turned out to have: what can be asked of a table, wherever it comes from.

    `kind` is what its rows are; unless given, choices where the texts say which two meet, and scores otherwise. Scores
    that are options are forced choices as well, and response sets answer whatever these do. Whether scores can be
    averaged is asked of all headline criteria.
    """
    from recuse.ratings.text_slices import have_slices

    table = ratings.table[ratings.table["kind"] == "judge"]
    source_texts = {} if ratings.texts is None else {str(name): ratings.texts[name] for name in ratings.texts}
    kind = kind or ("choices" if {"a", "b"} <= set(source_texts) else "scores")
    written = {*ratings.targets, *source_texts.get("a", ()), *source_texts.get("b", ())}
    texts = table[["item", "target"]].drop_duplicates()
    decided = [
        (ratings.scales[name], ratings.positive.get(name, ""), ratings.thresholds.get(name, ()))
        for name in ratings.headline
    ]
    judgement = ["rater", "item", "target", "criterion", *ratings.factors]
    return Design(
        kind=kind,
        judges=len(ratings.judges),
        texts_per_target=int(texts["target"].value_counts().max()) if len(texts) else 0,
        repeats=int(table.groupby(judgement, sort=False, observed=True).size().max()) if len(table) else 0,
        levels={factor: ratings.levels(factor) for factor in ratings.factors},
        authors=any(target in written for target in ratings.own().values()),
        common_items=bool(texts["item"].duplicated().any()),
        targets=len(ratings.targets),
        tiers=len(ratings.tiers) > 1,
        shared_texts=have_texts_in_common(table),
        neutral_texts=has_neutral_texts(ratings.judges, ratings.targets, ratings.own()),
        lengths=has_lengths(source_texts),
        parts=bool(ratings.parts),
        people=bool(ratings.persons) or ratings.people is not None,
        people_items=bool(ratings.persons),
        two_people=have_items_in_common(ratings.table[ratings.table["kind"] == "person"]),
        expert=bool(ratings.truth) or has_one_person_each(ratings.table[ratings.table["kind"] == "person"]),
        positive=any(is_binary(*scale) for scale in decided),
        several_options=any(has_several_options(*scale[:2]) for scale in decided),
        twins="flawed" in source_texts and has_twins(zip(source_texts["item"], source_texts["flawed"], strict=True)),
        slices=have_slices(ratings),
        ranking=PLACE in ratings.criteria,
        right_scores=bool(counted_criteria(ratings)),
        right_answer=ratings.texts is not None and "gold" in ratings.texts,
        held_out_payloads=ratings.payloads is not None and bool(ratings.payloads["held_out"].any()),
        reference=ratings.reference is not None,
        numbers=all(ratings.scales[name].counts for name in ratings.headline),
        beside=frozenset(_further_kinds(ratings, kind)),
    )


def _further_kinds(ratings: Ratings, kind: str) -> set[str]:
    """What is known beside rows of this kind, and what else these rows are."""
    further = {name for name in KINDS if name != kind and ratings.beside(name) is not None}
    scales = [ratings.scales[name] for name in ratings.headline]
    if kind == "scores" and all(isinstance(scale, Nominal | Ordinal) for scale in scales):
        further.add("forced_choices")
    if kind == "scores" and all(len(ratings.levels(factor)) > 1 for factor in (WORDING, DIRECTION)):
        further.add("worded_scores")
    if kind == "response_sets":
        further |= {"scores", "forced_choices"}  # two raters may name one set; and a set says more than a choice
    return further


def offered(design: Design) -> frozenset[str]:
    """Everything in `NEEDS` that ratings of this design have."""
    facts = {
        design.kind: True,
        "versions": len(design.levels.get(VERSION, ())) > 1,
        "repeats": design.repeats > 1,
        "peers": design.judges > 1,
        "three_judges": design.judges > 2,
        "authors": design.authors,
        "items": design.texts_per_target > 1,
        "common_items": design.common_items,
        "several_targets": design.targets > 2,
        "tiers": design.tiers,
        "shared_texts": design.shared_texts and design.judges > 1,
        "neutral_texts": design.neutral_texts,
        "lengths": design.lengths,
        "parts": design.parts,
        "people": design.people,
        "people_items": design.people_items,
        "two_people": design.two_people,
        "expert": design.expert,
        "positive": design.positive,
        "several_options": design.several_options,
        "twins": design.twins,
        "slices": design.slices,
        "ranking": design.ranking,
        "right_scores": design.right_scores,
        "right_answer": design.right_answer,
        "held_out_payloads": design.held_out_payloads,
        "reference": design.reference,
        CANDIDATE: design.candidate,
        "numbers": design.numbers,
        **{factor: len(design.levels.get(factor, ())) > 1 for factor in (*LEVELS, TEMPERATURE)},
    }
    return frozenset(name for name, there in facts.items() if there) | design.beside


def has_neutral_texts(judges: Iterable[str], targets: Iterable[str], authors: Mapping[str, str]) -> bool:
    """Whether some judge that wrote a target shares with a peer a target that neither of the two wrote."""
    judges, targets = list(judges), set(targets)
    pairs = ((judge, peer) for judge in judges if authors.get(judge) in targets for peer in judges if peer != judge)
    return any(targets - {authors[judge], authors.get(peer)} for judge, peer in pairs)


def have_items_in_common(persons: pd.DataFrame) -> bool:
    """Whether two people rated one item: rows with the columns rater and item."""
    return bool((persons.groupby("item", observed=True)["rater"].nunique() > 1).any())


def has_one_person_each(persons: pd.DataFrame) -> bool:
    """Whether people rated texts, and too few of them twice (`FEWEST`, and less than half) for their agreement to be
    known: rows with the columns rater, item and target, if there are several."""
    text = ["item", "target"] if "target" in persons else ["item"]
    raters = persons.groupby(text, observed=True)["rater"].nunique()
    twice = int((raters > 1).sum())
    return bool(len(raters)) and twice < FEWEST and 2 * twice < len(raters)


def has_twins(texts: Iterable[tuple[str, object]]) -> bool:
    """Whether some item has a text that is known to be flawed and one that is known not to be: (item, flawed) of each
    text."""
    kinds: dict[str, set[object]] = {}
    for item, flawed in texts:
        kinds.setdefault(item, set()).add(flawed)
    return any({"yes", "no"} <= kind for kind in kinds.values())


def have_texts_in_common(judges: pd.DataFrame) -> bool:
    """Whether two judges rated one text: rows with the columns rater, item and target."""
    raters = judges[["rater", "item", "target"]].drop_duplicates()
    return bool(raters.duplicated(["item", "target"]).any())


def has_lengths(facts: Iterable[str]) -> bool:
    """Whether what is told of an item says how long its text is, or both its texts."""
    return "words" in facts or {"words_a", "words_b"} <= set(facts)
