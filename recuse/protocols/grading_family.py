"""One family of prompts for grading a text: what is asked for varies, all else stays word for word the same.

A task provides the words once, `prompts/grading_family.*.j2`; every protocol of the family fills in

    wording    "quality" or "badness": what the judge is asked to rate, and the words of the aspects
    framing    "positive" (the highest number is best) or "negative"
    prompt     `PROMPTS`: what stands beside the bare question, or comes before the grade
    top        the highest number of the scale
    criteria   the judge's own criteria, where it has drafted some
    solution   its own solution, where it was asked for one first

(thesis "Investigating Bias in LLM Self-Evaluation", sec. 1.2.1, 3.2 and appendix A).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from recuse.protocols import last_line, reading, wording
from recuse.ratings.scale import Numeric, Scale
from recuse.schema import Item, Judgement, Message, Reply
from recuse.tasks import Task

WORDING = "grading_family"
LABEL = "Rating"
TOKENS = "tokens"

PROMPTS: Mapping[str, str] = {
    "plain": "the bare question",
    "observations": "observations first, the verdict on the last line",
    "examples": "with judged examples",
    "reference": "with a reference text",
    "guidelines": "with guidelines",
    "solved": "after a solution of its own",
}
OBSERVED = "observations"
LONGEST = 160  # characters of observations that the grammar allows


def question(
    task: Task, item: Item, *, prompt: str = "plain", asked: str = "quality", framing: str = "positive",
    top: float | None = None, criteria: str = "", solution: Any = None,
) -> tuple[Message, ...]:  # fmt: skip
    """The messages of the family at one choice of what varies."""
    return wording.messages(
        task, WORDING, task=task.data, prompt=prompt, wording=asked, framing=framing,
        top=task.data["scale"]["maximum"] if top is None else top, criteria=criteria, solution=solution, **item.fields,
    )  # fmt: skip


def grammar(choices: str, *, prompt: str = "plain", label: str = LABEL) -> str:
    """Of a reply that is a labelled verdict, or observations and the verdict alone on the last line."""
    if prompt == OBSERVED:
        return f'root ::= [^\\n]{{10,{LONGEST}}} "\\n" ({choices})'
    return f'root ::= "{label}: " ({choices})'


def verdict(reply: Reply, label: str = LABEL, *, bare: bool = False) -> str:
    """What stands on the last line: after "<label>:", or alone where `bare`. Raises `Unreadable`."""
    text = reading.answered(reply)
    if not bare or last_line.labelled(text, label):
        return last_line.verdict(reply, label)
    lines = last_line.lines(text)
    if not lines:
        raise reading.Unreadable("unparsed", "the reply is empty")
    if reply.finish == "length":
        raise reading.Unreadable("unparsed", "the token limit cut the reply")
    if len(lines[-1].split()) != 1:
        refused = reading.is_refusal(text)
        why = f'"{last_line.short(lines[-1])}" is no verdict alone on the last line'
        raise reading.Unreadable("refused" if refused else "unparsed", why)
    return lines[-1]


def whole_number(given: str, criterion: str, scale: tuple[float, float], label: str = "") -> Judgement:
    """A whole number on the scale, or the reason why not, which shows what was `given` behind the label, if any."""
    if not re.fullmatch(r"[-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?\.?", given):
        shown = f"{label}: {last_line.short(given)}" if label else last_line.short(given)
        return Judgement(criterion, status="unparsed", why=f'"{shown}" is not a whole number')
    number = float(given)
    if number != round(number):
        return Judgement(criterion, status="out_of_scale", why=f"{criterion} is {number:g}, not a whole number")
    return reading.score(number, criterion, scale)


def with_tokens(judgement: Judgement, reply: Reply, before: int | None = 0) -> list[Judgement]:
    """The judgement, and beside it what it took: a row "<criterion>.tokens" where the server counts, tokens in and out
    of this call and of the earlier calls that were made for this text's item (`before`)."""
    counts = (reply.usage.input_tokens, reply.usage.output_tokens, before)
    if None in counts or judgement.status == "error":
        return [judgement]
    spent = float(sum(count for count in counts if count is not None))
    return [judgement, Judgement(f"{judgement.criterion}.{TOKENS}", score=spent)]


def token_scale(criterion: str) -> dict[str, Scale]:
    """Of the row that `with_tokens` puts beside a judgement: its criterion -> its scale."""
    return {f"{criterion}.{TOKENS}": Numeric(0.0, 1e6, unit="tokens")}


def spent(reply: Reply) -> int | None:
    """Tokens in and out of one call; None where the server does not count."""
    counts = (reply.usage.input_tokens, reply.usage.output_tokens)
    return None if None in counts else sum(count for count in counts if count is not None)
