"""Peer Discussion: a judge says what it thinks of two texts, reads what a peer thinks of them, answers the peer, reads
the peer's answer, and only then chooses (Li, Patel and Du 2024, PRD, arXiv:2307.02762; thesis "Investigating Bias in
LLM Self-Evaluation", sec. 2.4.1). The peer is the next judge of the panel, the last one's the first.

The first review ends in a choice as well: row "first_choice". So what the discussion changed shows beside it, and
whether the two of a pair agree at the end is found by whoever compares them. In both orders, at temperature 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import grading_family, pairwise, reading, wording
from recuse.protocols.pairwise import facts, headline, items
from recuse.protocols.stages import Earlier, Stage, Use
from recuse.ratings.scale import Scale
from recuse.schema import Item, Judgement, Message, Prompt, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "STAGES", "facts", "headline", "items", "prompt", "read", "scales", "uses"]

OFFERS = "choices_after_discussion"
FACTORS: Mapping[str, tuple[str, ...]] = {"order": ("ab", "ba")}
REPEATS = 1
CRITERION = pairwise.CRITERION
FIRST = "first_choice"
LONGEST = 120  # characters of a review that the grammar allows
PER = ("item", "target", "order")


def scales(task: Task) -> dict[str, Scale]:
    """The places for both choices, and the tokens that the last one took."""
    places = pairwise.scales(task)
    return {**places, FIRST: places[CRITERION], **grading_family.token_scale(CRITERION)}


def _turn(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    # The line of reasons has a name of its own, so that no model writes a second choice there.
    grammar = f'root ::= "Review: " [^\\n]{{10,{LONGEST}}} "\\n" "{pairwise.LABEL}: " ({pairwise.choices(factors)})'
    name = "pairwise_discussion.answer" if "peer review" in earlier else "pairwise_discussion.review"
    return Prompt(_words(name, task, item, factors, earlier), temperature=0.0, max_tokens=200, grammar=grammar)


def _spoken(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> Any:
    place = pairwise.chosen_place(reply, pairwise.LABEL, factors)
    return {"text": reading.answered(reply).strip(), "place": place, "tokens": grading_family.spent(reply)}


def _specimen(task: Task, item: Item, factors: Mapping[str, str]) -> Any:
    return {"text": "x" * (LONGEST + 20), "place": "tie", "tokens": 0}


STAGES = (
    Stage("review", _turn, _spoken, _specimen, per=PER),
    Stage(
        "answer", _turn, _spoken, _specimen, per=PER,
        uses=lambda factors: [Use("review"), Use("review", next_judge=True)],
    ),
)


def uses(factors: Mapping[str, str]) -> Sequence[Use]:
    """Its own first review, and what its peer answered to that."""
    return [Use("review"), Use("answer", next_judge=True)]


def prompt(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    """Both texts, the judge's own review and its peer's answer (`earlier`), for a choice and nothing else, at
    temperature 0."""
    grammar = f'root ::= "{pairwise.LABEL}: " ({pairwise.choices(factors)})'
    words = _words("pairwise_discussion", task, item, factors, earlier)
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grammar)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> list[Judgement]:
    """The choice after the discussion with the tokens of the review, of the peer's answer and of this call; and
    "first_choice", the one before."""
    first = Judgement(FIRST, response=earlier["review"]["place"])
    try:
        place = pairwise.chosen_place(reply, pairwise.LABEL, factors)
    except reading.Unreadable as failure:
        return [*reading.all_failed([CRITERION], failure), first]
    tokens = [earlier["review"]["tokens"], earlier["peer answer"]["tokens"]]
    before = None if None in tokens else sum(tokens)
    return [*grading_family.with_tokens(Judgement(CRITERION, response=place), reply, before), first]


def _words(name: str, task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> tuple[Message, ...]:
    first, second = pairwise.names(factors)
    texts = [item.fields["texts"][side] for side in factors["order"]]
    peer = earlier.get("peer answer") or earlier.get("peer review")
    return wording.messages(
        task, name, task=task.data, story=item.fields["text"], first=texts[0],
        second=texts[1], first_label=first, second_label=second, own=earlier.get("review", {}).get("text"),
        peer=peer["text"] if peer else None, last="peer answer" in earlier,
    )  # fmt: skip
