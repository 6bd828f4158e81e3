"""What models write before anything is judged, and how well a judge predicts a text (thesis on LLM self-evaluation,
sec. 2.4 and 3). Texts become rows: a criterion for each part, response = its words. Where the server gives
log-probabilities, a row "perplexity" of `headline_generation` is that of the model's own words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from recuse.protocols import Levels, last_line, reading, wording
from recuse.ratings import Numeric, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply
from recuse.tasks import Task

Made = TypeVar("Made")


def stories(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """Story id -> its text as `story`, from stories.jsonl of the task folder."""
    return {name: {"story": row["text"]} for name, row in _rows(folder / "stories.jsonl", ("text",)).items()}


def prompts(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """Prompt id -> its other fields, from prompts.jsonl of the task folder."""
    return _rows(folder / "prompts.jsonl", ())


@lru_cache
def _rows(path: Path, needs: tuple[str, ...]) -> Mapping[str, Mapping[str, Any]]:
    def by_id(rows: list[Any]) -> Mapping[str, Mapping[str, Any]]:
        if lacking := [name for row in rows for name in needs if name not in row]:
            raise KeyError(lacking[0])
        return {row["id"]: {name: value for name, value in row.items() if name != "id"} for row in rows}

    return json_lines(path, f"{path.stem}, one JSON object with {' and '.join(('an id', *needs))} a line", by_id)


def json_lines(path: Path, what: str, made: Callable[[list[Any]], Made]) -> Made:
    """What is made of the JSON objects of a file, one a line; `RecuseError` where it is not a list of `what`."""
    try:
        return made([json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecuseError(f"{path}: not a list of {what} ({type(error).__name__}: {error})") from None


@dataclass(frozen=True, kw_only=True)
class Writing:
    """A protocol by which a model writes its own texts. `rows`: of a readable reply, its judgements."""

    WORDING: str
    criteria: tuple[str, ...]
    rows: Callable[[Task, Item, Reply], list[Judgement]]
    asked_of: Callable[[Path], Mapping[str, Mapping[str, Any]]] = stories
    temperature: float = 1.0
    max_tokens: int
    top_logprobs: int | None = None
    grammar: Callable[[Task, Item], str | None] = lambda task, item: None
    OFFERS: str = "texts"
    FACTORS: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    REPEATS: int = 1

    def items(self, task: Task, judge: Judge) -> Sequence[Item]:
        """One item for everything that is to be written about, with the judge as the target: it writes its own."""
        target = judge.author or judge.name
        return tuple(Item(task.name, name, target, fields) for name, fields in self.asked_of(task.folder).items())

    def headline(self, task: Task) -> tuple[str, ...]:
        """The parts of the text."""
        return self.criteria

    def prompt(self, task: Task, item: Item, factors: Levels) -> Prompt:
        """All fields of the item."""
        words = wording.messages(task, self.WORDING, task=task.data, **item.fields)
        return Prompt(words, self.temperature, self.max_tokens, top_logprobs=self.top_logprobs,
                      grammar=self.grammar(task, item))  # fmt: skip

    def read(self, task: Task, item: Item, factors: Levels, reply: Reply) -> list[Judgement]:
        """The parts; all fail where nothing can be read."""
        try:
            reading.answered(reply)
            return self.rows(task, item, reply)
        except reading.Unreadable as failure:
            return reading.all_failed(self.criteria, failure)


# --------------------------------------------------------------------------- where a text ends

LIKELY = {"headline": 100, "lead": 320, "working": 120, "review": 120, "criterion": 80}
"""Characters of what is not written yet, by which costs are reckoned."""

CUT = "the token limit cut the reply"
NEAR = 4  # characters before a cap at which it may have ended a text: the next token had more of them than were left


def line(task: Task, part: str, least: int = 1) -> str:
    """Grammar of one line of text. Only the token limit ends it, or a cap that the task was recorded under:
    `longest = { lead = 320 }` in task.toml, in characters. What either of them cuts is not read."""
    return f"[^\\n]{{{least},{task.data.get('longest', {}).get(part, '')}}}"


def capped(task: Task, part: str, text: str) -> str:
    """Why a part of a reply is not whole: the cap of the task's `longest` that ended it, if one did."""
    longest = task.data.get("longest", {}).get(part, math.inf)
    return f"the {part} was cut at the {longest} characters that the task allows" if len(text) > longest - NEAR else ""


def _headline_and_lead(task: Task, item: Item, reply: Reply) -> list[Judgement]:
    """A part that its cap or the token limit cut is unparsed."""
    rows = [_part(task, reply.text, part, part == "lead" and reply.finish == "length") for part in HEADLINES.criteria]
    return [*rows, perplexity("perplexity", reply.tokens)] if reply.tokens else rows


def _part(task: Task, text: str, part: str, cut: bool) -> Judgement:
    lines = last_line.labelled(text, part)
    if len(lines) != 1 or not lines[0]:
        what = "an empty line" if len(lines) == 1 else f"{len(lines)} lines"
        return Judgement(part, status="unparsed", why=f'{what} "{part.capitalize()}: ...", one with words is wanted')
    if why := CUT if cut else capped(task, part, lines[0]):
        return Judgement(part, status="unparsed", why=why)
    return Judgement(part, response=lines[0])


HEADLINES = Writing(
    WORDING="headline_generation", criteria=("headline", "lead"), rows=_headline_and_lead, max_tokens=240,
    top_logprobs=1,
    grammar=lambda task, item: f'root ::= "Headline: " {line(task, "headline")} "\\n" "Lead: " {line(task, "lead")}',
)  # fmt: skip


def _whole(task: Task, item: Item, reply: Reply) -> list[Judgement]:
    """The text as it stands. One that the token limit cut is none."""
    if reply.finish == "length":
        raise reading.Unreadable("unparsed", CUT)
    text = reply.text.strip()
    if not text:
        raise reading.Unreadable("unparsed", "the reply is empty")
    return [Judgement("response", response=text)]


TEXTS = Writing(WORDING="text_generation", criteria=("response",), rows=_whole, asked_of=prompts, max_tokens=400)


def working_and_answer(task: Task, reply: Reply) -> tuple[str, str]:
    """The working without the line of the answer, and the number as its digits. Raises `Unreadable` without a
    number, and for a working that a cap ended."""
    answer = number(last_line.verdict(reply, "Answer"))
    working = " ".join(line for line in last_line.lines(reply.text) if not last_line.labelled(line, "Answer"))
    if why := capped(task, "working", working):
        raise reading.Unreadable("unparsed", why)
    return working, answer


def number(given: str) -> str:
    """A whole number as its digits, "1,200" and "1200." read as 1200; `Unreadable` for anything else."""
    digits = re.sub(r"(?<=\d),(?=\d{3}\b)", "", given.strip().rstrip("."))
    if not re.fullmatch(r"-?[0-9]{1,9}", digits):
        raise reading.Unreadable("unparsed", f'"Answer: {last_line.short(given)}" is not a whole number')
    return str(int(digits))


SOLVING = Writing(
    WORDING="solving", criteria=("working", "answer"), rows=lambda task, item, reply: [
        Judgement(of, response=part)
        for of, part in zip(("working", "answer"), working_and_answer(task, reply), strict=True)
    ], asked_of=prompts, temperature=0.7, max_tokens=120,
    grammar=lambda task, item: f'root ::= {line(task, "working", 5)} "\\n" "Answer: " [0-9]{{1,6}}',
)  # fmt: skip


def perplexity(criterion: str, tokens: Sequence[tuple[str, float]]) -> Judgement:
    """exp(-mean log-probability) of the tokens written, at least 1: how much the words surprised the model."""
    mean = math.fsum(logprob for _, logprob in tokens) / len(tokens)
    if mean < -700:  # exp would overflow: some token was as good as impossible
        return Judgement(criterion, status="unparsed", why="a written token has no probability to speak of")
    return Judgement(criterion, score=math.exp(-mean))


def _predicted(task: Task, item: Item, reply: Reply) -> list[Judgement]:
    """Perplexity and bits per character, the end of the reply left out of both."""
    if reply.text != _text(item):
        raise reading.Unreadable("unparsed", "the reply is not the text whose perplexity is asked")
    written = [one for one in reply.tokens or () if one[0]]  # the token that ends a reply is empty
    if not written:
        raise reading.Unreadable("unparsed", "the reply has no log-probabilities")
    per_token = perplexity("perplexity", written)
    if per_token.score is None:
        return [per_token, replace(per_token, criterion="bits_per_character")]
    bits = math.log2(per_token.score) * len(written)
    return [per_token, Judgement("bits_per_character", score=bits / len(reply.text))]


def _text(item: Item) -> str:
    return f"Headline: {item.fields['headline']}\nLead: {item.fields['lead']}"


@dataclass(frozen=True, kw_only=True)
class _Likelihood(Writing):
    """The grammar leaves the judge nothing to write but the text, and the log-probabilities, which are those before the
    grammar is applied, say how likely every token was:

        perplexity            exp(-mean log-probability) of the tokens, at least 1
        bits_per_character    -sum of log2 p over the tokens / characters of the text

    Perplexity, per token of the judge's own tokenizer, compares texts within a judge; bits per character judges, too. A
    reply that is not the text, or has no log-probabilities, has neither."""

    def items(self, task: Task, judge: Judge) -> Sequence[Item]:
        return task.items

    def headline(self, task: Task) -> tuple[str, ...]:
        return ("bits_per_character",)

    def scales(self, task: Task) -> dict[str, Scale]:
        return {
            "perplexity": Numeric(1.0, math.inf, reversed=True),
            "bits_per_character": Numeric(0.0, math.inf, reversed=True, unit="bits per character"),
        }


PERPLEXITY = _Likelihood(
    WORDING=HEADLINES.WORDING, criteria=("perplexity", "bits_per_character"), rows=_predicted, OFFERS="likelihoods",
    temperature=0.0, max_tokens=600, top_logprobs=1,
    # GBNF escapes quotes, backslashes and line ends as JSON does.
    grammar=lambda task, item: f"root ::= {json.dumps(_text(item), ensure_ascii=False)}",
)  # fmt: skip
