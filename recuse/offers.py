"""What ratings offer, and what a question asks for: one vocabulary, matched before anything is asked or computed.

    pytestmark = pytest.mark.asks("scores", "authors")

A question is asked of every panel, task and protocol that offers all it asks for; for the others it is listed with what
is missing and what would bring it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recuse.ratings.factors import DIRECTION, LEVELS, TEMPERATURE, VERSION, WORDING
from recuse.ratings.known import PLACE, counted_criteria
from recuse.ratings.scale import Nominal, Ordinal
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

    from recuse.ratings import Ratings

__all__ = [
    "KINDS", "NEEDS", "Design", "Need", "check_needs", "design_of", "has_lengths", "has_neutral_texts",
    "has_twins", "kind_of", "missing", "offered", "unlock",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Need:
    """`means`: what is there when it is offered; `unlock`: what to add when it is not."""

    means: str
    unlock: str


KINDS: dict[str, Need] = {
    "scores": Need("scores of texts", "ask by a protocol that scores texts, or add a column score"),
    "choices": Need("choices between two texts", "ask by the protocol pairwise"),
    "choices_after_evidence": Need("choices after written evidence", "ask by the protocol pairwise_evidence"),
    "length_twins": Need("choices between a text and itself made longer", "ask by the protocol pairwise_length"),
    "attacked_scores": Need("scores of texts with an injected instruction", "ask by the protocol grading_injected"),
    "attacked_choices": Need("choices where one text was tampered with", "ask by the protocol pairwise_injected"),
    "segment_scores": Need("scores of a text's parts one by one", "ask by the protocol grading_segments"),
    "likelihoods": Need("how likely each judge finds each text", "ask by the protocol text_perplexity"),
    "text_filter": Need("judges asked whether a text steers", "ask by the protocol input_filter"),
    "reply_filter": Need("judges asked whether a reply was steered", "ask by the protocol output_filter"),
    "picks": Need("items that models put on levels", "ask by the protocol generation"),
    "claimed_statistics": Need("means and SDs that judges claim", "ask by the protocol rubric_self_reported"),
    "forced_choices": Need(
        "choices of one option per item",
        "ask by the protocol forced_choice, or give a file with the one option that each rater chose",
    ),
    "response_sets": Need(
        "sets of all options that a rater holds reasonable",
        'ask by the protocol response_set, or give a file whose ratings are sets of options, as "yes|no"',
    ),
    "explanations": Need(
        "a reason in words for every score", "ask by the protocol rubric, whose replies explain their scores"
    ),
    "quotes": Need(
        "the places of a text that judges cite", "ask by the protocol merg, whose judges quote for each score"
    ),
    "blinded_people": Need(
        "single ratings by people, criterion by criterion",
        "add people's single ratings per criterion (task.toml, [people.single])",
    ),
    "texts": Need("texts that models wrote", "ask by a generating protocol"),
    "worded_scores": Need(
        "scores asked for as quality and as badness",
        "ask by the protocol grading_wording, or add columns wording (quality, badness) and direction",
    ),
    "prompted_scores": Need("scores asked for in several ways", "ask by the protocol grading_prompts"),
    "prompted_verdicts": Need("right or wrong, asked for in several ways", "ask by the protocol correctness"),
    "prompted_choices": Need("choices asked for in several ways", "ask by the protocol pairwise_prompts"),
    "channelled_scores": Need(
        "scores with the text inside the instructions and apart from them", "ask by the protocol grading_channels"
    ),
    "hundred_scores": Need("scores from 0 to 100", "ask by the protocol grading_hundred"),
    "calibrated_scores": Need("scores by criteria inferred from labels", "ask by the protocol grading_calibrated"),
    "choices_after_discussion": Need("choices after a peer's review", "ask by the protocol pairwise_discussion"),
    "list_choices": Need("the best of three texts or more", "ask by the protocol listwise"),
    "recognitions": Need("judges asked whether they wrote a text", "ask by the protocol self_recognition"),
    "recognition_choices": Need(
        "judges asked which of two texts they wrote", "ask by the protocol self_recognition_pairs"
    ),
}
"""What a protocol's rows are (`OFFERS` of its module). A team's protocol may offer a kind of its own."""

NEEDS: dict[str, Need] = {
    **KINDS,
    "names": Need("names shown and hidden", "ask with names shown and hidden"),
    "direction": Need("both directions of the scale", "ask with the scale ascending and reversed"),
    "order": Need("both orders of a pair", "ask every pair in both orders"),
    "labels": Need("labels swapped", "ask with labels plain and swapped"),
    "wording": Need("two opposite words for what is rated", "ask for quality and for badness (a column wording)"),
    "channel": Need("texts among the instructions and apart from them", "ask by the protocol grading_channels"),
    "rubric_source": Need(
        "scores by rubrics of several sources",
        "ask by the protocol merg, or give a column rubric_source: checklist, shared, ...",
    ),
    "twins": Need(
        "polished texts with a planted flaw beside plain sound ones",
        "write twins of some texts and say which is flawed (texts: flawed = yes or no)",
    ),
    "temperature": Need("several temperatures", "ask at several temperatures (a factor, or a column temperature)"),
    "versions": Need("two versions of a judge", "give a second file, or a column version"),
    "repeats": Need("texts judged more than once", "record more repeats of the same question"),
    "peers": Need("two judges or more", "add a second judge"),
    "three_judges": Need("three judges or more", "add a third judge"),
    "authors": Need("a judge that wrote one of the texts", "name the target a judge wrote (author = ...)"),
    "tiers": Need("targets of known tiers", "say which targets are known to be better (task.toml, [[tier]])"),
    "shared_texts": Need("texts judged by several judges", "let several judges judge the same texts"),
    "several_targets": Need("three targets or more", "judge texts by three systems or more"),
    "items": Need("several items per target", "add items: one text per target says nothing about the next text"),
    "common_items": Need(
        "items with texts by several targets",
        "give items a text by each target: only texts on the same item can be compared",
    ),
    "neutral_texts": Need(
        "texts that neither of two judges wrote", "add a judge or a target: what neither of two judges wrote is needed"
    ),
    "lengths": Need("texts with their number of words", "give the texts, or how many words each has"),
    "parts": Need("scores of parts beside a total", "score the parts of the total one by one"),
    "people": Need("ratings by people", "add ratings by people (task.toml, [people])"),
    "people_items": Need(
        "single ratings by people",
        "add people's own ratings, one row per person and item: their means cannot tell who agrees on what",
    ),
    "two_people": Need("two people's ratings of the same items", "add a second person's ratings of the same items"),
    "slices": Need(
        "texts of several systems, topics or languages, twenty of each",
        "say what texts can be grouped by: several targets, or a column such as topic, with twenty texts of each",
    ),
    "ranking": Need("a ranking of the texts beside their scores", "ask by the protocol rubric_joint"),
    "right_scores": Need(
        "a criterion that can be counted, with its right score",
        "give the right score of a text (texts: true_<criterion>)",
    ),
    "right_answer": Need(
        "responses of which one is known to be right", "say which response of an item is the right one (texts: gold)"
    ),
    "held_out_payloads": Need(
        "injected instructions that no defence was made from",
        "write payloads after and apart from the defences (task.toml, [payloads])",
    ),
    "reference": Need("true values", "add the true value of each item (task.toml, [reference])"),
    "candidate": Need(
        "a candidate that would replace a judge",
        'name the judge that another would replace (replaces = "..." in the panel file), or run recuse compare',
    ),
    "numbers": Need("scores that can be averaged", "give the scale as numbers, or as two ordered options"),
}


CANDIDATE = "candidate"


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
    from recuse.ratings.slices import have_slices

    table = ratings.table[ratings.table["kind"] == "judge"]
    source_texts = {} if ratings.texts is None else {str(name): ratings.texts[name] for name in ratings.texts}
    kind = kind or ("choices" if {"a", "b"} <= set(source_texts) else "scores")
    written = {*ratings.targets, *source_texts.get("a", ()), *source_texts.get("b", ())}
    texts = table[["item", "target"]].drop_duplicates()
    judgement = ["rater", "item", "target", "criterion", *ratings.factors]
    scales = [ratings.scales[name] for name in ratings.headline]
    also = {name for name in KINDS if name != kind and ratings.beside(name) is not None}
    if kind == "scores" and all(isinstance(scale, Nominal | Ordinal) for scale in scales):
        also.add("forced_choices")
    if kind == "scores" and all(len(ratings.levels(factor)) > 1 for factor in (WORDING, DIRECTION)):
        also.add("worded_scores")
    if kind == "response_sets":
        also |= {"scores", "forced_choices"}  # two raters may name one set; and a set says more than a choice
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
        twins="flawed" in source_texts and has_twins(zip(source_texts["item"], source_texts["flawed"], strict=True)),
        slices=have_slices(ratings),
        ranking=PLACE in ratings.criteria,
        right_scores=bool(counted_criteria(ratings)),
        right_answer=ratings.texts is not None and "gold" in ratings.texts,
        held_out_payloads=ratings.payloads is not None and bool(ratings.payloads["held_out"].any()),
        reference=ratings.reference is not None,
        numbers=all(scale.counts for scale in scales),
        beside=frozenset(also),
    )


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


def check_needs(needs: Iterable[str], place: str, known: Iterable[str] = ()) -> None:
    """`RecuseError` for a need that nothing can offer, naming the place and the known ones."""
    there = {*NEEDS, *known}
    if unknown := [name for name in needs if name not in there]:
        raise RecuseError(f"{place}: nothing offers {', '.join(map(repr, unknown))}; known: {', '.join(sorted(there))}")


def kind_of(needs: Sequence[str]) -> str:
    """Which ratings a question is about: the first kind that it names, or plain scores."""
    return next((name for name in needs if name in KINDS or name not in NEEDS), "scores")


def missing(needs: Iterable[str], offers: Iterable[str]) -> list[str]:
    """The needs that are not offered, in their order."""
    there = set(offers)
    return [name for name in needs if name not in there]


def unlock(need: str) -> str:
    """What to add, in words."""
    return NEEDS[need].unlock if need in NEEDS else f"ask by a protocol that offers {need}"
