"""Protocols of one question whose verdict stands on the last line of a reply: "Rating: 4", "Winner: A", "Answer: yes".

One protocol is one object: which template asks, what of an item it shows, which verdicts there are. The reader guesses
nothing. Markdown around a line (bold, a heading, a list mark, a code fence) is taken for decoration. All else is named:
no such line, two lines that disagree, a verdict that is not on the last line or that the token limit may have cut."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from recuse.protocols import Earlier, Levels, Stage, Use, wording
from recuse.protocols.reading import Unreadable, all_failed, answered, is_refusal, option, score
from recuse.protocols.wording import facts as usual_facts
from recuse.ratings.scale import Numeric, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply
from recuse.tasks import Task

Shown = Callable[[Task, Item, Levels, Earlier], Mapping[str, Any]]  # what a template gets beside task and levels
_FENCE = re.compile(r"\s*(?:```+|~~~+)[\w-]*\s*")
_DECORATION = "*_`# \t"
_BRACKETS = re.compile(r"\A\[\[([^\[\]]+)\]\]\.?\Z")  # [[5]], as many prompts for judges ask (the thesis's figure 2)
OUT_OF = re.compile(r"([0-9.]+)\s*(?:/|out of)\s*([0-9]{1,9})\.?")  # a grade and the top of its scale


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A protocol (`recuse.protocols.ElicitationProtocol`) by what distinguishes it from others of its kind. The verdict
    is one of the options of the task's first criterion, as the task writes them, unless a subclass says otherwise.

    `tokens`: a row "<criterion>.tokens" stands beside the judgement where the server counts tokens, "of the call" or
    "of the chain", with earlier calls for this text. `lead`: grammar of what comes before the verdict."""

    OFFERS: str
    WORDING: str
    label: str
    FACTORS: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    FACTOR_NAMES: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)
    REPEATS: int = 1
    STAGES: tuple[Stage, ...] = ()
    uses: Callable[[Levels], Sequence[Use]] = lambda levels: ()
    shown: Shown = lambda task, item, levels, earlier: item.fields
    facts: Callable[[Task, Item], dict[str, Any]] = usual_facts
    lead: Callable[[Task, Levels], str] = lambda task, levels: ""
    temperature: float = 0.0
    max_tokens: int = 200
    top_logprobs: int | None = None
    tokens: str = ""

    def criterion_of(self, task: Task) -> str:
        """The criterion of the judgement; `RecuseError` where it has no options."""
        if "options" not in task.data["criterion"][0]:
            remedy = 'give it options = ["no", "yes"], or ask by a protocol that scores'
            raise RecuseError(f"{task.folder / 'task.toml'}: criterion {task.criteria[0]} has no options; {remedy}")
        return task.criteria[0]

    def headline(self, task: Task) -> tuple[str, ...]:
        """That criterion; tokens stand beside it."""
        return (self.criterion_of(task),)

    def alternatives(self, task: Task, item: Item, levels: Levels) -> str:
        """Grammar of the verdicts that there are, the best first."""
        options = reversed(task.data["criterion"][0]["options"])
        return " | ".join(json.dumps(name, ensure_ascii=False) for name in options)

    def judgement(self, task: Task, item: Item, levels: Levels, given: str) -> Judgement:
        """The verdict that a judge has `given`, or why it is none. May raise `Unreadable`."""
        return option(given, self.criterion_of(task), task.data["criterion"][0]["options"])

    def label_of(self, levels: Levels) -> str:
        """What stands before the verdict; nothing where it stands alone."""
        return self.label

    def given(self, task: Task, item: Item, levels: Levels, reply: Reply) -> str:
        """The verdict as the judge wrote it; `Unreadable` where there is none."""
        return verdict(reply, self.label_of(levels))

    def items(self, task: Task, judge: Judge) -> Sequence[Item]:
        """All items of the task, whoever judges. `RecuseError` where the task lacks the criterion that is asked for."""
        self.criterion_of(task)
        return task.items

    def scales(self, task: Task) -> dict[str, Scale]:
        """Of the rows whose scale is not the task's."""
        return {f"{self.criterion_of(task)}.tokens": Numeric(0.0, 1e6, unit="tokens")} if self.tokens else {}

    def prompt(self, task: Task, item: Item, factors: Levels, earlier: Earlier | None = None) -> Prompt:
        """The template with what is shown of the item, at these factor levels, and the grammar of a reply that is the
        labelled verdict and what leads to it."""
        shown = {**factors, **self.shown(task, item, factors, earlier or {})}
        label = self.label_of(factors)
        labelled = f'"{label}: " ' if label else ""
        return Prompt(
            wording.messages(task, self.WORDING, task=task.data, **shown), temperature=self.temperature,
            max_tokens=self.max_tokens, top_logprobs=self.top_logprobs,
            grammar=f"root ::= {self.lead(task, factors)}{labelled}({self.alternatives(task, item, factors)})",
        )  # fmt: skip

    def read(
        self, task: Task, item: Item, factors: Levels, reply: Reply, earlier: Earlier | None = None
    ) -> list[Judgement]:
        """The verdict or why there is none, and the tokens that it took."""
        try:
            judgement = self.judgement(task, item, factors, self.given(task, item, factors, reply))
        except Unreadable as failure:
            return all_failed([self.criterion_of(task)], failure)
        counts = [spent(reply)]
        if self.tokens == "of the chain":
            counts += [reading["tokens"] for reading in (earlier or {}).values()]
        if not self.tokens or None in counts:
            return [judgement]
        total = float(sum(count for count in counts if count is not None))
        return [judgement, Judgement(f"{judgement.criterion}.tokens", score=total)]


@dataclass(frozen=True, kw_only=True)
class Choice(Verdict):
    """One of a few words on a criterion of the protocol's own. `verdicts`: word, in any case -> what it stands for."""

    criterion: str
    verdicts: Callable[[Task, Item, Levels], Mapping[str, str]]
    responses: Callable[[Task], Scale]

    def criterion_of(self, task: Task) -> str:
        """The protocol's own criterion."""
        return self.criterion

    def scales(self, task: Task) -> dict[str, Scale]:
        """The responses that there are, and tokens."""
        return {self.criterion: self.responses(task), **super().scales(task)}

    def alternatives(self, task: Task, item: Item, levels: Levels) -> str:
        """Every verdict as a literal."""
        return " | ".join(f'"{name}"' for name in self.verdicts(task, item, levels))

    def judgement(self, task: Task, item: Item, levels: Levels, given: str) -> Judgement:
        """The response that the verdict stands for; `Unreadable` for anything else."""
        verdicts = self.verdicts(task, item, levels)
        known = {name.lower(): response for name, response in verdicts.items()}
        response = known.get(given.rstrip(".").lower())
        if response is None:
            neither = f"neither {' nor '.join(verdicts)}" if len(verdicts) == 2 else f"none of {', '.join(verdicts)}"
            raise Unreadable("unparsed", f'"{self.label_of(levels)}: {short(given)}" is {neither}')
        return Judgement(self.criterion, response=response)


def spent(reply: Reply) -> int | None:
    """Tokens in and out of one call; None where the server does not count."""
    counts = (reply.usage.input_tokens, reply.usage.output_tokens)
    return None if None in counts else sum(count for count in counts if count is not None)


VERDICT = Verdict(OFFERS="scores", WORDING="verdict", label="Answer", max_tokens=40, top_logprobs=10)


def verdict(reply: Reply, label: str) -> str:
    """What follows "<label>:" on the last line; raises `Unreadable`."""
    text = answered(reply)
    values = [_value(line, label) for line in lines(text)]
    given = [value for value in values if value is not None]
    if not given:
        if is_refusal(text):
            raise Unreadable("refused", short(text))
        raise Unreadable("unparsed", f'no line "{label}: ..." in the reply' if text.strip() else "the reply is empty")
    if len(set(given)) > 1:
        shown = ", ".join(map(short, given))[:80]
        raise Unreadable("unparsed", f'{len(set(given))} different lines "{label}: ..." ({shown})')
    if values[-1] is None:
        raise Unreadable("unparsed", f'"{label}: {short(given[0])}" is not on the last line')
    if reply.finish == "length":
        raise Unreadable("unparsed", f'the token limit ended the reply at "{label}: {short(given[0])}"')
    return given[0]


@lru_cache(maxsize=4096)  # of thousands of replies many say the same in few words
def whole_number(given: str, criterion: str, scale: tuple[float, float], label: str = "") -> Judgement:
    """A whole number on the scale, or the reason why not, which shows what was `given` behind the label, if any. "4/5"
    and "4 out of 5" are 4 where 5 is the top of the scale."""
    share = OUT_OF.fullmatch(given)
    if share and float(share[2]) == scale[1]:
        return whole_number(share[1], criterion, scale, label)
    if not re.fullmatch(r"[-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?\.?", given):
        shown = f"{label}: {short(given)}" if label else short(given)
        return Judgement(criterion, status="unparsed", why=f'"{shown}" is not a whole number')
    number = float(given)
    if number != round(number):
        return Judgement(criterion, status="out_of_scale", why=f"{criterion} is {number:g}, not a whole number")
    return score(number, criterion, scale)


def bare_line(reply: Reply, label: str) -> str | None:
    """The last line of a reply without the label, where no earlier one holds a digit and no limit cut it; else None."""
    *before, last = lines(answered(reply)) or [""]
    if reply.finish == "length" or labelled(reply.text, label) or any(map(str.isdigit, "".join(before))):
        return None
    return _BRACKETS.sub(r"\1", last).strip()


def labelled(text: str, label: str) -> list[str]:
    """What follows "<label>:" on each line that begins with it, in order."""
    return [value for line in lines(text) if (value := _value(line, label)) is not None]


@lru_cache(maxsize=256)  # a reply is asked for one label after another; long ones are not kept for long
def lines(text: str) -> tuple[str, ...]:
    """The lines that say something, without Markdown around them."""
    return tuple(filter(None, (line.strip(_DECORATION) for line in text.splitlines() if not _FENCE.fullmatch(line))))


def short(text: str) -> str:
    """A text cut to 40 characters."""
    return text if len(text) <= 40 else text[:39] + "…"


@lru_cache(maxsize=1024)
def _value(line: str, label: str) -> str | None:
    match = re.fullmatch(rf"(?:[-+>•]\s+)?[*_`]{{0,3}}{label}[*_`]{{0,3}}\s?:[*_`\s]*(.*)", line, re.IGNORECASE)
    return _BRACKETS.sub(r"\1", match[1].strip(_DECORATION)).strip() if match else None
