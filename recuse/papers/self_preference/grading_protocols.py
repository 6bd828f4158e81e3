"""Grading a text, and holding an answer for right, in ways of asking that differ by one thing each (thesis
"Investigating Bias in LLM Self-Evaluation", sec. 1.2, 2.3, 2.4, 3.2 and appendix A). A task provides the words once,
`prompts/grading_family.*.j2` for most: `question` says what they are given."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recuse.papers.self_preference import writing_protocols as writing
from recuse.protocols import Earlier, Levels, Stage, Use, last_line, reading
from recuse.protocols.grading import DIRECTION, GRADING, Grading
from recuse.protocols.last_line import Verdict, spent
from recuse.protocols.wording import facts
from recuse.ratings import Numeric, Scale
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
    shown=lambda task, item, levels, earlier: {
        "story": item.fields["story"], "text": item.fields[levels["segment"]],
    },
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


LIKELY_TEXT = {"text": "x" * (writing.LIKELY["headline"] + writing.LIKELY["lead"])}
PROMPTS = Grading(
    OFFERS="prompted_scores", WORDING=FAMILY, shown=question, lead=_observations, tokens="of the chain",
    FACTORS={"prompt": ("plain", OBSERVED, "examples", "reference", "guidelines", "solved")},
    STAGES=(_first(f"{FAMILY}.solution", writing.HEADLINES, _written, LIKELY_TEXT),), uses=_own_first,
)  # fmt: skip

# --------------------------------------------------------------------------- right or wrong
# Is this answer right? Items have `problem`, `answer`, `solution` and `working` (what is right). EXPLAINING: solve,
# explain in a line what is right and wrong, decide (sec. 2.4.1).

LIKELY_ANSWER = {"answer": "x" * (writing.LIKELY["working"] + 16)}
CORRECTNESS = Verdict(
    OFFERS="prompted_verdicts", WORDING="correctness", label="Answer", lead=_observations,
    FACTORS={"prompt": ("plain", OBSERVED, "examples", "reference", "solved")}, tokens="of the chain",
    shown=lambda task, item, levels, earlier: {
        **item.fields, "own": earlier.get("solution", {}).get("answer"),
        **({"prompt": OBSERVED} if levels["prompt"] == EXPLAINED else {}),  # with its own solution in view
    },
    STAGES=(_first("correctness.solution", writing.SOLVING, lambda task, item, levels, reply, earlier: {
        "answer": " Answer: ".join(writing.working_and_answer(task, reply)), "tokens": spent(reply),
    }, LIKELY_ANSWER),), uses=_own_first,
)  # fmt: skip
EXPLAINING = replace(CORRECTNESS, FACTORS={"prompt": ("plain", "solved", EXPLAINED)})
