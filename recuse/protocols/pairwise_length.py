"""Pairwise comparison of a text with itself made longer: the words and the reader of `pairwise`, on pairs whose `b`
says the same as `a` at greater length (padding.toml), in both orders."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols.pairwise import REPEATS, WORDING, items, prompt, read

__all__ = ["FACTORS", "REPEATS", "WORDING", "items", "prompt", "read"]

FACTORS: Mapping[str, tuple[str, ...]] = {"order": ("ab", "ba")}
