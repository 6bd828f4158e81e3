"""Grading of texts that carry a prompt injection: the words and the reader of `grading`, on attacked items, with 5 as
the best grade. The clean twin of an item is the row of `grading` on the item that its field `clean` names, for the same
target."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols.grading import REPEATS, WORDING, items, prompt, read

__all__ = ["FACTORS", "REPEATS", "WORDING", "items", "prompt", "read"]

FACTORS: Mapping[str, tuple[str, ...]] = {"framing": ("positive",)}
