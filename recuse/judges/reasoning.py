"""Reasoning that a judge writes in front of its answer, in the answer's own text."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"\s*<(think|thinking|reasoning)>(.*?)(?:</\1>|\Z)", re.DOTALL)


def split_reasoning(text: str) -> tuple[str, str]:
    """(reasoning, answer): the blocks with which a text begins, and what follows them.

    A block that is never closed was cut by the token limit: no answer follows. A tag anywhere but at the beginning is
    part of the answer; so a text that is judged cannot make itself disappear by being quoted.

    >>> split_reasoning("<think>7 or 8?</think>Rating: 7")
    ('7 or 8?', 'Rating: 7')
    >>> split_reasoning("Rating: 7 </think>")
    ('', 'Rating: 7 </think>')
    """
    thoughts: list[str] = []
    while block := _BLOCK.match(text):
        thoughts.append(block.group(2).strip())
        text = text[block.end() :].lstrip()
    return "\n".join(filter(None, thoughts)), text
