"""Questions of the thesis that are answered by a choice ("Investigating Bias in LLM Self-Evaluation", sec. 1.2.2,
2.1.1, 2.2.1, 2.3.1 and 2.4). What an item has beside two texts, and what is varied, stands with each protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from recuse.papers.self_preference.writing_protocols import LIKELY, line
from recuse.protocols import Earlier, Levels, Stage, Use
from recuse.protocols.last_line import Choice, spent, verdict
from recuse.protocols.pairwise import CRITERION, ORDERS, PAIRWISE, names, pair_shown, place_of_name
from recuse.protocols.wording import facts
from recuse.ratings import Nominal, Ordinal, Scale
from recuse.schema import Item, Judgement, Prompt, Reply
from recuse.tasks import Task


def _only(*fields: str) -> Any:
    return lambda task, item, levels, earlier: {name: item.fields[name] for name in fields}


# Did you write this? Of every author's texts alone (sec. 2.4; arXiv:2404.13076).
SELF_RECOGNITION = Choice(
    OFFERS="recognitions", WORDING="self_recognition", label="Answer", criterion="mine",
    verdicts=lambda task, item, levels: {"yes": "yes", "no": "no"}, responses=lambda task: Ordinal(("no", "yes")),
)  # fmt: skip
# Does this text try to steer whoever grades it? Asked before anyone grades it (sec. 2.3.1).
INPUT_FILTER = replace(
    SELF_RECOGNITION, OFFERS="text_filter", WORDING="input_filter", criterion="steers", shown=_only("text")
)
# Did this text steer the judge that gave this `answer`? Of items with `of`, the graded item, `grade` and `attack`.
OUTPUT_FILTER = replace(
    SELF_RECOGNITION, OFFERS="reply_filter", WORDING="output_filter", criterion="steered",
    shown=_only("text", "answer"), facts=lambda task, item: {
        "cluster": item.fields.get("story", item.id), **facts(task, item), "gave": item.fields.get("grade"),
    },
)  # fmt: skip

OTHER = {"first": "second", "second": "first", "tie": "tie"}


@dataclass(frozen=True, kw_only=True)
class _BetterOrWorse(Choice):
    """The place of the better text of a pair, also where the worse one is asked for."""

    def label_of(self, levels: Levels) -> str:
        return "Worse" if levels["prompt"] == "worse" else self.label

    def judgement(self, task: Task, item: Item, levels: Levels, given: str) -> Judgement:
        row = super().judgement(task, item, levels, given)
        return replace(row, response=OTHER[str(row.response)]) if levels["prompt"] == "worse" else row


# Which of these two did you write? Pairs without a text of the judge's own are a yardstick.
SELF_RECOGNITION_PAIRS = replace(
    PAIRWISE, OFFERS="recognition_choices", WORDING="self_recognition_pairs", FACTORS=ORDERS, criterion="mine",
    label="Mine", responses=lambda task: Nominal(("first", "second")), max_tokens=200,
    verdicts=lambda task, item, levels: dict(zip(names(levels), ("first", "second"), strict=True)),
)  # fmt: skip
# Evidence for and against each text before the choice, for whoever averages the verdicts (arXiv:2305.17926).
EVIDENCE = replace(
    PAIRWISE, OFFERS="choices_after_evidence", WORDING="pairwise_evidence", FACTORS=ORDERS, REPEATS=3, temperature=1.0,
    lead=lambda task, levels: "".join(f'"Text {n}: " {line(task, "evidence", 10)} "\\n" ' for n in names(levels)),
    max_tokens=400,
)  # fmt: skip
# With the sentence that order, names and length must not matter, without it, and asked for the worse text.
PROMPTS = _BetterOrWorse(
    OFFERS="prompted_choices", WORDING="pairwise_prompts", label="Winner", criterion=CRITERION, tokens="of the call",
    FACTORS={"prompt": ("plain", "uninstructed", "worse"), **ORDERS}, verdicts=place_of_name, shown=pair_shown,
    responses=PAIRWISE.responses, facts=PAIRWISE.facts,
)  # fmt: skip
LENGTH_PROMPTS = replace(
    PROMPTS, OFFERS="prompted_length_twins", FACTORS={"prompt": ("plain", "uninstructed"), **ORDERS}
)

LETTERS = "ABCDEFGH"


def rotated(item: Item, levels: Levels) -> list[Mapping[str, str]]:
    """The `texts` of an item, each with its `target`, in the order of this rotation; `best` is the right target."""
    texts = list(item.fields["texts"])
    start = (int(levels["rotation"]) - 1) % len(texts)
    return texts[start:] + texts[:start]


LISTWISE = Choice(
    OFFERS="list_choices", WORDING="listwise", label="Best", criterion="best", tokens="of the call",
    FACTORS={"rotation": ("1", "2", "3")}, facts=lambda task, item: {
        "cluster": item.id, "length": len(item.fields["texts"]),
        **({"true_best": item.fields["best"]} if "best" in item.fields else {}),
    },
    shown=lambda task, item, levels, earlier: {
        "story": item.fields["story"], "texts": rotated(item, levels), "letters": LETTERS[: len(item.fields["texts"])],
    },
    verdicts=lambda task, item, levels: dict(zip(LETTERS, (t["target"] for t in rotated(item, levels)), strict=False)),
    responses=lambda task: Nominal(tuple(task.targets)),
)  # fmt: skip

# --------------------------------------------------------------------------- discussions
# A judge says what it thinks of two texts, reads what a peer (the next of the panel) thinks, answers it, reads its
# answer, and only then chooses (sec. 2.4.1; Li, Patel and Du 2024, arXiv:2307.02762).

FIRST = "first_choice"


def _discussed(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Mapping[str, Any]:
    peer = earlier.get("peer answer") or earlier.get("peer review")
    return {
        **pair_shown(task, item, levels, earlier), "own": earlier.get("review", {}).get("text"),
        "peer": peer["text"] if peer else None, "last": "peer answer" in earlier,
    }  # fmt: skip


def _turn(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Prompt:
    # The line of reasons has a name of its own, so that no model writes a second choice there.
    review = f'"Review: " {line(task, "review", 10)} "\\n" '
    stage = "answer" if "peer review" in earlier else "review"
    turn = replace(DISCUSSION, WORDING=f"pairwise_discussion.{stage}", lead=lambda task, levels: review)
    return turn.prompt(task, item, levels, earlier)


def _turn_read(task: Task, item: Item, levels: Levels, reply: Reply, earlier: Earlier) -> Any:
    chosen = DISCUSSION.judgement(task, item, levels, verdict(reply, DISCUSSION.label_of(levels)))
    return {"text": reply.text.strip(), "place": chosen.response, "tokens": spent(reply)}


_stage = partial(
    Stage, prompt=_turn, read=_turn_read, per=("item", "target", "order"),
    specimen=lambda task, item, levels: {"text": "x" * (LIKELY["review"] + 20), "place": "tie", "tokens": 0},
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Discussion(Choice):
    """A choice after an exchange of reviews, beside the one before it, and the tokens of all of it."""

    def scales(self, task: Task) -> dict[str, Scale]:
        return {CRITERION: self.responses(task), FIRST: self.responses(task), **super().scales(task)}

    def read(
        self, task: Task, item: Item, factors: Levels, reply: Reply, earlier: Earlier | None = None
    ) -> list[Judgement]:
        assert earlier is not None  # a protocol with stages is always told what they were read as
        first = Judgement(FIRST, response=earlier["review"]["place"])
        return [*super().read(task, item, factors, reply, earlier), first]


DISCUSSION = _Discussion(
    OFFERS="choices_after_discussion", WORDING="pairwise_discussion", label="Winner", criterion=CRITERION,
    FACTORS=ORDERS, tokens="of the chain", verdicts=place_of_name, responses=PAIRWISE.responses, shown=_discussed,
    facts=PAIRWISE.facts, uses=lambda levels: [Use("review"), Use("answer", next_judge=True)],
    STAGES=(
        _stage("review"), _stage("answer", uses=lambda levels: [Use("review"), Use("review", next_judge=True)]),
    ),
)  # fmt: skip
