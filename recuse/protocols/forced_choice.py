"""Forced choice: the one option that fits best, at temperature 1, asked ten times: how often each option is chosen is
the judge's forced-choice distribution of an item (Guerdan et al., "Validating LLM-as-a-Judge Systems in the Absence of
Gold Labels", sec. 2).

For any task with one criterion that has options; they are shown in the task's order, each with the `meaning` that the
task's table [[option]] of the same id gives. The response is an option. A reply that is anything else has a status:
whether "both" would have meant one or the other is not ours to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import last_line, reading, wording
from recuse.ratings.scale import Nominal, Ordinal
from recuse.schema import Item, Judge, Judgement, Message, Prompt, RecuseError, Reply
from recuse.tasks import Task

OFFERS = "forced_choices"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 10
SEEDED = False
"""The repeats of an item are draws of the judge's own, and share one request."""
TEMPERATURE = 1.0
SEPARATORS = (",", "|", "\n")


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges. `RecuseError` where the task has no one criterion with options."""
    criterion_of(task)
    return task.items


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """Item and options, for exactly one of these; the same for every repeat."""
    one = " | ".join(map(quoted, options_of(task)))
    words = question("forced_choice", task, item)
    return Prompt(words, temperature=TEMPERATURE, max_tokens=40, grammar=f"root ::= {one}")


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row: the option. Unparsed where the reply names several."""
    criterion = criterion_of(task)
    try:
        chosen = chosen_options(reply, options_of(task))
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
    if len(chosen) > 1:
        why = f"names {len(chosen)} options ({', '.join(chosen)}) where one is asked for"
        return [Judgement(criterion, status="unparsed", why=why)]
    return [Judgement(criterion, response=chosen[0])]


# ------------------------------------------------------------------ shared with response_set


def criterion_of(task: Task) -> str:
    """The one criterion; `RecuseError` where the task has several or it has no options that a reply can name."""
    if len(task.criteria) != 1:
        raise RecuseError(
            f"{task.folder / 'task.toml'}: a choice among options is asked on one criterion, and the task has "
            f"{', '.join(task.criteria)}; leave one"
        )
    scale = task.scales[task.criteria[0]]
    if not isinstance(scale, Nominal | Ordinal):
        raise RecuseError(
            f"{task.folder / 'task.toml'}: criterion {task.criteria[0]} has no options; "
            'give it options = ["...", "..."]'
        )
    if bad := [option for option in scale.options if any(mark in option for mark in SEPARATORS)]:
        raise RecuseError(
            f"{task.folder / 'task.toml'}: option {bad[0]!r} holds a comma, a bar or a line end, which stand between "
            "options"
        )
    return task.criteria[0]


def options_of(task: Task) -> tuple[str, ...]:
    """The options of the task's criterion, in their order."""
    scale = task.scales[criterion_of(task)]
    assert isinstance(scale, Nominal | Ordinal)
    return scale.options


def question(words: str, task: Task, item: Item) -> tuple[Message, ...]:
    """The messages of template `words`: it is given the criterion's table, the options with what the task says of each,
    and the item's fields."""
    by_id = {option["id"]: option for option in task.data.get("option", ())}
    options: list[Mapping[str, Any]] = [by_id.get(name, {"id": name}) for name in options_of(task)]
    criterion = task.data["criterion"][0]
    return wording.messages(task, words, task=task.data, criterion=criterion, options=options, **item.fields)


def chosen_options(reply: Reply, options: Sequence[str]) -> list[str]:
    """The options that a reply consists of, separated by commas, in the order of `options`. Case, a last full stop and
    Markdown around them do not matter.

    Raises `Unreadable`: out of scale for a reply that names something else in no more words than all options have
    ("both", "none", "very toxic"), unparsed for one that names an option twice, says more than options or is cut."""
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
        raise _no_option(text, strange[0], options)
    if reply.finish == "length":
        raise reading.Unreadable("unparsed", f"the token limit ended the reply at {last_line.short(text)!r}")
    if len(set(named)) < len(named):
        twice = next(part for part in named if named.count(part) > 1)
        raise reading.Unreadable("unparsed", f"{last_line.short(text)!r} names {known[twice]!r} twice")
    return [name for name in options if name.casefold() in named]


def _no_option(text: str, strange: str, options: Sequence[str]) -> reading.Unreadable:
    if reading.is_refusal(text):
        return reading.Unreadable("refused", last_line.short(text))
    brief = len(text.split()) <= len(" ".join(options).split())
    why = f"{last_line.short(text)!r}: {last_line.short(strange)!r} is none of {', '.join(options)}"
    return reading.Unreadable("out_of_scale" if brief else "unparsed", why)


def quoted(text: str) -> str:
    """A literal of a grammar."""
    return json.dumps(text, ensure_ascii=False)
