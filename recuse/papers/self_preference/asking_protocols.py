"""Judgements asked for in ways that differ by one thing each (thesis "Investigating Bias in LLM Self-Evaluation", sec.
1.2, 2.1 to 2.4, 3.2, appendix A): grades, right or wrong, grades by criteria of the judge's own, choices. What an item
has, and what is varied, stands with each protocol. A task provides the words of grading once,
`prompts/grading_family.*.j2` for most: `question` says what they are given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from recuse.papers.self_preference import writing_protocols as writing
from recuse.papers.self_preference.writing_protocols import LIKELY, line
from recuse.protocols import Earlier, Levels, Stage, Use, last_line, reading, wording
from recuse.protocols.grading import DIRECTION, GRADING, Grading, grades
from recuse.protocols.last_line import Choice, Verdict, spent, verdict
from recuse.protocols.pairwise import CRITERION, ORDERS, PAIRWISE, names, pair_shown, place_of_name
from recuse.protocols.wording import facts
from recuse.ratings import Nominal, Numeric, Ordinal, Scale
from recuse.schema import Item, Judgement, Message, Prompt, Reply
from recuse.tasks import Task

OBSERVED, EXPLAINED = "observations", "explained"
FAMILY = "grading_family"


def question(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Mapping[str, Any]:
    """The words of the family at their plainest, which factor levels change: `prompt`, `wording` ("quality" or
    "badness"), `framing` ("positive": the highest number is best), `top` (the highest number), `criteria` (the judge's
    own, where it has drafted some) and `solution` (its own text, where it wrote one first)."""
    own, top = earlier.get("solution", {}).get("text"), task.data.get("scale", {}).get("maximum")
    return {
        "prompt": "plain", "wording": "quality", "framing": "positive", "top": top, "criteria": "", "solution": own,
        **item.fields, **levels,
    }  # fmt: skip


# Its positive framing is quality ascending, its negative framing badness reversed (sec. 3.2).
WORDED = Grading(
    OFFERS="worded_scores", WORDING=FAMILY, shown=question, FACTOR_NAMES=DIRECTION,
    FACTORS={"wording": ("quality", "badness"), "framing": ("positive", "negative")},
)  # fmt: skip

# Each without the other (sec. 1.2.2; GEMBA, arXiv:2302.14520).
SEGMENTS = replace(
    GRADING, OFFERS="segment_scores", WORDING="grading_segments", FACTORS={"segment": ("headline", "lead")},
    FACTOR_NAMES={}, top_logprobs=None,
    shown=lambda task, item, levels, earlier: {"story": item.fields["story"], "text": item.fields[levels["segment"]]},
)  # fmt: skip

TOP = 100


@dataclass(frozen=True, kw_only=True)
class _Hundred(Grading):
    """Whole numbers from 0 to 100 without a legend, on a criterion of their own (sec. 1.2.2)."""

    def criterion_of(self, task: Task) -> str:
        return f"{super().criterion_of(task)}.hundred"

    def scales(self, task: Task) -> dict[str, Scale]:
        return {self.criterion_of(task): Numeric(0, TOP, 1), **super().scales(task)}

    def alternatives(self, task: Task, item: Item, levels: Levels) -> str:
        return '"100" | [1-9] [0-9] | [0-9]'

    def judgement(self, task: Task, item: Item, levels: Levels, given: str) -> Judgement:
        return last_line.whole_number(given, self.criterion_of(task), (0, TOP), self.label)


HUNDRED = _Hundred(
    OFFERS="hundred_scores", WORDING=FAMILY, tokens="of the call",
    shown=lambda task, item, levels, earlier: {**question(task, item, levels, earlier), "top": TOP},
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Channelled(Grading):
    """The text inside the instructions, or as JSON in a message after them, so that nothing in it can end the quotation
    (sec. 2.3.1, footnote 5). An attacked item names its clean twin in `clean`."""

    def prompt(self, task: Task, item: Item, factors: Levels, earlier: Earlier | None = None) -> Prompt:
        prompt = super().prompt(task, item, factors, earlier)
        if factors["channel"] != "separate":
            return prompt
        data = json.dumps({name: item.fields[name] for name in task.text}, ensure_ascii=False)
        return replace(prompt, messages=(*prompt.messages, Message("user", f"DATA\n{data}")))


CHANNELS = _Channelled(
    OFFERS="channelled_scores", WORDING="grading_channels", FACTORS={"channel": ("inline", "separate")},
    tokens="of the call", facts=lambda task, item: {"cluster": item.fields.get("clean", item.id), **facts(task, item)},
)  # fmt: skip

# --------------------------------------------------------------------------- in several ways
# Plainly, with observations first, with graded examples, with a reference text (`reference_headline`, `reference_lead`
# of the item), with guidelines, and after a text of one's own (sec. 1.2.1, 2.4.1).


def _observations(task: Task, levels: Levels) -> str:
    # No cap: a sentence that a grammar ends in its middle is no reason. What the token limit cuts has no verdict.
    return '[^\\n]{10,} "\\n" ' if levels["prompt"] in (OBSERVED, EXPLAINED) else ""


def _own_first(levels: Levels) -> Sequence[Use]:
    return [Use("solution")] if levels["prompt"] in ("solved", EXPLAINED) else []


def _first(words: str, written: writing.Writing, read: Callable[..., Any], likely: Mapping[str, Any]) -> Stage:
    """The stage in which the judge is asked as a writer, at temperature 0; `likely` stands for what it may write."""
    own = replace(written, WORDING=words, temperature=0.0, top_logprobs=None)
    return Stage(
        "solution", lambda task, item, levels, earlier: own.prompt(task, item, levels), read,
        lambda task, item, levels: {**likely, "tokens": 0},
    )  # fmt: skip


def _written(task: Task, item: Item, levels: Levels, reply: Reply, earlier: Earlier) -> Any:
    text = reading.answered(reply)
    if why := next((row.why for row in writing.HEADLINES.rows(task, item, reply) if row.why), ""):
        raise reading.Unreadable("unparsed", why)
    return {"text": text.strip(), "tokens": spent(reply)}


LIKELY_TEXT = {"text": "x" * (LIKELY["headline"] + LIKELY["lead"])}
GRADING_PROMPTS = Grading(
    OFFERS="prompted_scores", WORDING=FAMILY, shown=question, lead=_observations, tokens="of the chain",
    FACTORS={"prompt": ("plain", OBSERVED, "examples", "reference", "guidelines", "solved")},
    STAGES=(_first(f"{FAMILY}.solution", writing.HEADLINES, _written, LIKELY_TEXT),), uses=_own_first,
)  # fmt: skip

# --------------------------------------------------------------------------- right or wrong
# Is this answer right? Items have `problem`, `answer`, `solution` and `working` (what is right). EXPLAINING: solve,
# explain in a line what is right and wrong, decide (sec. 2.4.1).

CORRECTNESS = Verdict(
    OFFERS="prompted_verdicts", WORDING="correctness", label="Answer", lead=_observations,
    FACTORS={"prompt": ("plain", OBSERVED, "examples", "reference", "solved")}, tokens="of the chain",
    shown=lambda task, item, levels, earlier: {
        **item.fields, "own": earlier.get("solution", {}).get("answer"),
        **({"prompt": OBSERVED} if levels["prompt"] == EXPLAINED else {}),  # with its own solution in view
    },
    STAGES=(_first("correctness.solution", writing.SOLVING, lambda task, item, levels, reply, earlier: {
        "answer": " Answer: ".join(writing.working_and_answer(task, reply)), "tokens": spent(reply),
    }, {"answer": "x" * (LIKELY["working"] + 16)}),), uses=_own_first,
)  # fmt: skip
EXPLAINING = replace(CORRECTNESS, FACTORS={"prompt": ("plain", "solved", EXPLAINED)})

# --------------------------------------------------------------------------- by criteria of the judge's own
# AutoCalibrate: the judge infers criteria from labelled examples (draft), grades these by them (trial), is shown where
# it was furthest off and amends them (refine); texts are graded by the given criteria, every draft and every refined
# one (Liu et al. 2023, arXiv:2309.13308; sec. 1.2.3). Items say in `fold` whether they may choose the criteria
# ("calibration") or test them ("held_out"); labelled examples stand in `labelled.jsonl` of the task folder: the task's
# text fields, `facts` (what the text should say) and `grade`.

CRITERIA = 3  # how many a draft has
SHOWN = 4  # labelled examples that a draft is made from
FURTHEST = 2  # misjudged examples that a refinement is shown
PER = ("criteria",)


@lru_cache
def labelled(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """The labelled examples of a task."""
    return writing.json_lines(
        folder / "labelled.jsonl", "labelled examples, one JSON object with grade, facts and the text a line",
        lambda rows: tuple({**row, "grade": int(row["grade"])} for row in rows),
    )  # fmt: skip


def _asking(task: Task, stage: str, **shown: Any) -> Prompt:
    words = wording.messages(task, f"{FAMILY}.{stage}", task=task.data, count=CRITERIA, **shown)
    lines = " ".join([f'"- " {line(task, "criterion", 8)} "\\n"'] * CRITERIA)
    return Prompt(words, temperature=0.0, max_tokens=320, grammar=f"root ::= {lines}")


def _drafting(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Prompt:
    every, number = labelled(task.folder), int(levels["criteria"].rpartition("-")[2])
    start = SHOWN * (number - 1)
    return _asking(task, "draft", examples=[every[(start + k) % len(every)] for k in range(min(SHOWN, len(every)))])


def _criteria(task: Task, item: Item, levels: Levels, reply: Reply, earlier: Earlier) -> Any:
    lines = [line.strip() for line in reading.answered(reply).splitlines() if line.strip().startswith("-")]
    if not lines:
        raise reading.Unreadable("unparsed", 'no line "- criterion" in the reply')
    if reply.finish == "length":
        raise reading.Unreadable("unparsed", writing.CUT)
    return {"text": "\n".join(lines[:CRITERIA]), "tokens": spent(reply)}


def _trying(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Prompt:
    every = labelled(task.folder)
    choices = " | ".join(f'"{grade}"' for grade in grades(task))
    lines = ' "\\n" '.join(f'"{k}: " ({choices})' for k in range(1, len(every) + 1))
    words = wording.messages(task, f"{FAMILY}.trial", task=task.data, examples=every, criteria=earlier["draft"]["text"])
    return Prompt(words, temperature=0.0, max_tokens=16 * len(every), grammar=f"root ::= {lines}")


def _tried(task: Task, item: Item, levels: Levels, reply: Reply, earlier: Earlier) -> Any:
    every = labelled(task.folder)
    lines = {*re.findall(r"(?m)^[ \t]*([0-9]+)[ \t]*:[ \t]*([0-9]+)[ \t]*$", reading.answered(reply))}
    by_number = dict(lines)
    given = [by_number.get(str(k), "") for k in range(1, len(every) + 1)]
    if len(by_number) < len(lines) or not {*given} <= {*grades(task)}:
        raise reading.Unreadable("unparsed", f"not a grade for each of {len(every)} examples")
    return {"grades": [*map(int, given)], "tokens": spent(reply)}


def _refining(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Prompt:
    every, grades = labelled(task.folder), earlier["trial"]["grades"]
    by_error = sorted(range(len(every)), key=lambda k: (-abs(grades[k] - every[k]["grade"]), k))
    shown = [{**every[k], "given": grades[k]} for k in by_error[:FURTHEST]]
    return _asking(task, "refine", examples=shown, criteria=earlier["draft"]["text"])


def _draft(levels: Levels, *stages: str) -> list[Use]:
    draft = {"criteria": f"draft-{levels['criteria'].rpartition('-')[2]}"}
    return [Use(stage, factors=draft) for stage in stages]


def _specimen(task: Task, item: Item, levels: Levels) -> dict[str, Any]:
    return {"text": "x" * (CRITERIA * (LIKELY["criterion"] + 3)), "tokens": 0}


_OWN = {"given": [], "draft": [Use("draft")], "refined": [Use("refine")]}

# What drafting cost is no part of a grade's tokens: it is paid once for all texts. A text is graded by the given
# criteria, or by those that the judge drafted or refined, the one entry of `earlier`.
CALIBRATED = Grading(
    OFFERS="calibrated_scores", WORDING=FAMILY, tokens="of the call",
    FACTORS={"criteria": ("given", "draft-1", "draft-2", "refined-1", "refined-2")},
    STAGES=(
        Stage("draft", _drafting, _criteria, _specimen, PER),
        Stage(
            "trial", _trying, _tried, per=PER, uses=lambda levels: _draft(levels, "draft"),
            specimen=lambda task, item, levels: {"grades": [0] * len(labelled(task.folder)), "tokens": 0},
        ),
        Stage("refine", _refining, _criteria, _specimen, PER, uses=lambda levels: _draft(levels, "draft", "trial")),
    ),
    uses=lambda levels: _OWN[levels["criteria"].partition("-")[0]],
    shown=lambda task, item, levels, earlier: {
        **question(task, item, levels, {}), "criteria": next(iter(earlier.values()), {"text": ""})["text"]
    },
)  # fmt: skip


# --------------------------------------------------------------------------- choices


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
PAIRWISE_PROMPTS = _BetterOrWorse(
    OFFERS="prompted_choices", WORDING="pairwise_prompts", label="Winner", criterion=CRITERION, tokens="of the call",
    FACTORS={"prompt": ("plain", "uninstructed", "worse"), **ORDERS}, verdicts=place_of_name, shown=pair_shown,
    responses=PAIRWISE.responses, facts=PAIRWISE.facts,
)  # fmt: skip
LENGTH_PROMPTS = replace(
    PAIRWISE_PROMPTS, OFFERS="prompted_length_twins", FACTORS={"prompt": ("plain", "uninstructed"), **ORDERS}
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
    STAGES=(_stage("review"), _stage("answer", uses=lambda levels: [Use("review"), Use("review", next_judge=True)])),
)  # fmt: skip
