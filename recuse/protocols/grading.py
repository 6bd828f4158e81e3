"""Grading: one whole number for one text, on a scale that runs up ("positive": the highest number is the best grade) or
down ("negative": the same grades in reverse order), at temperature 0 (thesis "Investigating Bias in LLM
Self-Evaluation", sec. 3.2). The score is the digit as written; whoever compares framings converts.

`grading_injected` asks in the same words about texts that carry a prompt injection, with 5 as the best grade. The clean
twin of an item is the row of `grading` on the item that its field `clean` names, for the same target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recuse.protocols import Earlier, Levels
from recuse.protocols.last_line import OUT_OF, Verdict, bare_line, lines, whole_number
from recuse.protocols.reading import Unreadable
from recuse.protocols.wording import facts
from recuse.ratings.scale import Numeric, Scale
from recuse.schema import Item, Judgement, RecuseError, Reply
from recuse.tasks import Task

DIRECTION = {"framing": ("direction", {"positive": "ascending", "negative": "reversed"})}


@dataclass(frozen=True, kw_only=True)
class Grading(Verdict):
    """A whole number for one text, on the task's scale. `probabilities`: what log-probabilities say are rows too."""

    label: str = "Rating"
    probabilities: bool = False

    def criterion_of(self, task: Task) -> str:
        """The one criterion; `RecuseError` where the task has several, before anything is asked."""
        if len(task.criteria) != 1:
            why = f"protocol grading asks for one grade, and the task has the criteria {', '.join(task.criteria)}"
            remedy = "ask by the protocol rubric, or leave one criterion"
            raise RecuseError(f"{task.folder / 'task.toml'}: {why}; {remedy}")
        return task.criteria[0]

    def scales(self, task: Task) -> dict[str, Scale]:
        """Of what log-probabilities say, expected grade and mass of all, and of tokens; the grade's is the task's."""
        criterion, scales = self.criterion_of(task), super().scales(task)
        if self.probabilities:
            scales[f"{criterion}.expected"] = Numeric(*task.scale)
            scales[f"{criterion}.mass"] = Numeric(0.0, 1.0, unit="share")
        return scales

    def alternatives(self, task: Task, item: Item, levels: Levels) -> str:
        """Every grade of the scale."""
        return " | ".join(f'"{grade}"' for grade in grades(task))

    def given(self, task: Task, item: Item, levels: Levels, reply: Reply) -> str:
        """What follows the label. A reply without the label holds a grade where its last line is one and nothing else
        ("4", "4/5", "4 out of 5"), and no line before it holds a digit."""
        try:
            return super().given(task, item, levels, reply)
        except Unreadable as failure:
            bare = bare_line(reply, self.label_of(levels)) if failure.status == "unparsed" else None
            if bare is None or self.judgement(task, item, levels, bare).score is None:
                raise
            return bare

    def judgement(self, task: Task, item: Item, levels: Levels, given: str) -> Judgement:
        """The grade as written, whatever the framing."""
        return whole_number(given, self.criterion_of(task), task.scale, self.label_of(levels))

    def read(
        self, task: Task, item: Item, factors: Levels, reply: Reply, earlier: Earlier | None = None
    ) -> list[Judgement]:
        """The grade. Where it is on the scale and the server gave log-probabilities, ".expected" and ".mass" follow;
        not where the top of the scale is written behind it, whose digits are no grade."""
        rows = super().read(task, item, factors, reply, earlier)
        if self.probabilities and rows[0].score is not None and not OUT_OF.search(lines(reply.text)[-1]):
            rows += weighted(rows[0].criterion, f"{rows[0].score:g}", grades(task), reply)
        return rows


def grades(task: Task) -> list[str]:
    """The whole numbers of the scale, as a judge writes them."""
    low, high = task.scale
    return [str(number) for number in range(math.ceil(low), math.floor(high) + 1)]


def weighted(criterion: str, answer: str, choices: Sequence[str], reply: Reply) -> list[Judgement]:
    """How the answer, one of `choices` (whole numbers as text), came about; no rows without log-probabilities.

    At the last token that is the answer, with p(c) the probability of choice c there, blanks around it ignored:

        <criterion>.mass        m = sum p(c), what all choices together had among the recorded likeliest tokens
        <criterion>.expected    sum c p(c) / m, undefined for m = 0 (G-Eval: Liu et al. 2023, arXiv:2303.16634)"""
    places = [at for at, (token, _) in enumerate(reply.tokens or ()) if token.strip() == answer]
    if not places or not reply.tokens or not reply.logprobs:
        return []
    there = reply.logprobs[places[-1]]
    likely = [(token.strip(), math.exp(logprob)) for token, logprob in there.items()]
    probabilities = {choice: math.fsum(p for token, p in likely if token == choice) for choice in choices}
    mass = math.fsum(probabilities.values())
    if mass > 0:
        total = math.fsum(int(choice) * share for choice, share in probabilities.items())
        expected = Judgement(f"{criterion}.expected", score=total / mass)
    else:
        why = "no choice is among the recorded likeliest tokens"
        expected = Judgement(f"{criterion}.expected", status="unparsed", why=why)
    return [expected, Judgement(f"{criterion}.mass", score=mass)]


GRADING = Grading(
    OFFERS="scores", WORDING="grading", FACTORS={"framing": ("positive", "negative")}, FACTOR_NAMES=DIRECTION,
    top_logprobs=10, probabilities=True,
)  # fmt: skip
INJECTED = replace(
    GRADING, OFFERS="attacked_scores", FACTORS={"framing": ("positive",)},
    facts=lambda task, item: {"cluster": item.fields.get("clean"), **facts(task, item)},  # unless it says otherwise
)  # fmt: skip
