"""A choice among options, at temperature 1, asked ten times (Guerdan et al., "Validating LLM-as-a-Judge Systems in the
Absence of Gold Labels", sec. 2), of any task with one criterion that has options: shown in the task's order, each with
the `meaning` that its table [[option]] gives.

forced_choice   The one option that fits best: how often each is chosen is the judge's forced-choice distribution of an
                item. A reply that is anything else has a status: whether "both" would have meant one or the other is
                not ours to say.
response_set    All options that are reasonable, joined by bars in the task's order, "toxic|not toxic": how often each
                set is chosen is the judge's response-set distribution. An empty set is not admissible."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from recuse.protocols import Levels, last_line, reading, wording
from recuse.ratings import Nominal, Ordinal, ResponseSets, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply
from recuse.tasks import Task

SEPARATORS = (",", "|", "\n")
quoted = partial(json.dumps, ensure_ascii=False)  # a literal of a grammar: GBNF escapes as JSON does


@dataclass(frozen=True, kw_only=True)
class OptionQuestion:
    """A protocol that asks for one option, or for a set of them."""

    OFFERS: str
    WORDING: str
    several: bool
    FACTORS: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    REPEATS: int = 10
    SEEDED: bool = False  # the repeats of an item are draws of the judge's own, and share one request

    def items(self, task: Task, judge: Judge) -> Sequence[Item]:
        """All items of the task, whoever judges. `RecuseError` where the task has no one criterion with options."""
        criterion_and_options(task)
        return task.items

    def scales(self, task: Task) -> dict[str, Scale]:
        """Sets over the options of the task's criterion, where sets are asked for."""
        criterion, options = criterion_and_options(task)
        return {criterion: ResponseSets(options)} if self.several else {}

    def prompt(self, task: Task, item: Item, factors: Levels) -> Prompt:
        """Item and options; the same for every repeat. The template is given the criterion's table, the options with
        what the task says of each, and the item's fields."""
        _, names = criterion_and_options(task)
        by_id = {option["id"]: option for option in task.data.get("option", ())}
        words = wording.messages(
            task, self.WORDING, task=task.data, criterion=task.data["criterion"][0],
            options=[by_id.get(name, {"id": name}) for name in names], **item.fields,
        )  # fmt: skip
        one = f"root ::= {' | '.join(map(quoted, names))}"
        return Prompt(words, temperature=1.0, max_tokens=40, grammar=grammar_of_sets(names) if self.several else one)

    def read(self, task: Task, item: Item, factors: Levels, reply: Reply) -> list[Judgement]:
        """One row: the option, or the set as "a|b" in the task's order. Unparsed where several options are named and
        one is asked for."""
        criterion, options = criterion_and_options(task)
        try:
            chosen = chosen_options(reply, options)
        except reading.Unreadable as failure:
            return reading.all_failed([criterion], failure)
        if len(chosen) > 1 and not self.several:
            why = f"names {len(chosen)} options ({', '.join(chosen)}) where one is asked for"
            return [Judgement(criterion, status="unparsed", why=why)]
        return [Judgement(criterion, response=ResponseSets(options).written(chosen) if self.several else chosen[0])]


FORCED_CHOICE = OptionQuestion(OFFERS="forced_choices", WORDING="forced_choice", several=False)
RESPONSE_SET = OptionQuestion(OFFERS="response_sets", WORDING="response_set", several=True)


def criterion_and_options(task: Task) -> tuple[str, tuple[str, ...]]:
    """The one criterion and its options, in order; `RecuseError` where there are several, or no options to be named."""
    file, criteria = task.folder / "task.toml", task.criteria
    if len(criteria) != 1:
        raise RecuseError(
            f"{file}: a choice among options is asked on one criterion, and the task has {', '.join(criteria)}; "
            "leave one"
        )
    scale = task.scales[criteria[0]]
    if not isinstance(scale, Nominal | Ordinal):
        raise RecuseError(f'{file}: criterion {criteria[0]} has no options; give it options = ["...", "..."]')
    if bad := [option for option in scale.options if any(mark in option for mark in SEPARATORS)]:
        raise RecuseError(f"{file}: option {bad[0]!r} holds a comma, a bar or a line end, which stand between options")
    return criteria[0], scale.options


def chosen_options(reply: Reply, options: Sequence[str]) -> list[str]:
    """The options that a reply consists of, separated by commas, in the order of `options`. Case, a last full stop and
    Markdown around them do not matter. `Unreadable`: out of scale for a reply that names something else in no more
    words than all options have ("both", "none", "very toxic"), unparsed for one that names an option twice, says more
    than options or is cut."""
    lines = last_line.lines(reading.answered(reply))
    if not lines:
        raise reading.Unreadable("unparsed", "the reply is empty")
    text = " ".join(lines[0].split()).removesuffix(".")
    if len(lines) > 1:
        raise reading.Unreadable(
            "refused" if reading.is_refusal(text) else "unparsed", f"{len(lines)} lines where one is asked for"
        )
    known = {name.casefold(): name for name in options}
    named = [part.strip().casefold() for part in text.split(",")]
    if strange := [part for part in named if part not in known]:
        if reading.is_refusal(text):
            raise reading.Unreadable("refused", last_line.short(text))
        brief = len(text.split()) <= len(" ".join(options).split())
        why = f"{last_line.short(text)!r}: {last_line.short(strange[0])!r} is none of {', '.join(options)}"
        raise reading.Unreadable("out_of_scale" if brief else "unparsed", why)
    if reply.finish == "length":
        raise reading.Unreadable("unparsed", f"the token limit ended the reply at {last_line.short(text)!r}")
    if len(set(named)) < len(named):
        twice = next(part for part in named if named.count(part) > 1)
        raise reading.Unreadable("unparsed", f"{last_line.short(text)!r} names {known[twice]!r} twice")
    return [name for name in options if name.casefold() in named]


def grammar_of_sets(options: Sequence[str]) -> str:
    """Of a reply that names one or more options, each at most once and in the order of `options`: from the k-th on, the
    k-th and perhaps later ones, or later ones alone."""
    rules = ["root ::= from0"]
    for k, option in enumerate(map(quoted, options)):
        rules.append(f"from{k} ::= {option}" + (f' (", " from{k + 1})? | from{k + 1}' if k < len(options) - 1 else ""))
    return "\n".join(rules)
