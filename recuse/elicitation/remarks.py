"""The reasons that judges gave for their scores, and what they quoted, as ratings beside these, read only where asked
for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from recuse.elicitation.plan import Plan
from recuse.judges import read_response, wire
from recuse.protocols import called, protocol
from recuse.ratings import Nominal, Ratings
from recuse.schema import Call, RawResponse

__all__ = ["EXPLANATIONS", "REMARKS", "explanations_of"]

EXPLANATIONS, QUOTES = "explanations", "quotes"
REMARKS = (EXPLANATIONS, QUOTES)
"""What a protocol calls its readers of reasons and of quoted places, and what these are offered as."""
WORDS = Nominal(("words", "other words"))
"""Reasons are free text; no measure takes them for options."""


def explanations_of(
    plan: Plan,
    replies: Callable[[], Iterable[tuple[Call, RawResponse]]],
    authors: Mapping[str, str],
    kind: str = EXPLANATIONS,
) -> Ratings | None:
    """One row per reason, or per place cited: response = its words, `rubric` = what the task tells a judge of its
    criteria. Texts carry all that the prompt shows of an item. None where the protocol reads no such remarks, or no
    reply made any."""
    import pandas as pd

    how = protocol(plan.protocol)
    read = getattr(how, kind, None)
    if read is None:
        return None
    formats = {name: wire(judge.wire) for name, judge in plan.judges.items()}
    rubric = " ".join(_words(list(plan.task.data["criterion"])))
    rows = []
    for call, response in replies():
        item = plan.items[call.judge, call.item, call.target]
        levels = dict(call.factors)
        for reason in read(plan.task, item, levels, read_response(formats[call.judge], response)):
            rows.append(
                {"rater": call.judge, "item": call.item, "target": call.target, "criterion": reason.criterion,
                 "repeat": call.repeat, "response": reason.response, "rubric": rubric,
                 **{called(how, name): called(how, name, level) for name, level in levels.items()}}
            )  # fmt: skip
    if not rows:
        return None
    shown = {(item.id, item.target): " ".join(_words(item.fields)) for item in plan.items.values()}
    texts = pd.DataFrame([{"item": i, "target": t, "text": text} for (i, t), text in shown.items()])
    frame = pd.DataFrame(rows)
    return Ratings.of(
        frame, factors=[called(how, name) for name in plan.factors], authors=authors, texts=texts,
        scales=dict.fromkeys(frame["criterion"].unique(), WORDS),
    )  # fmt: skip


def _words(value: Any) -> Iterator[str]:
    """Every text within a value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)
