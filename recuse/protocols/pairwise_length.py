"""Pairwise comparison of a text with itself made longer: the words and the reader of `pairwise`, on pairs whose `b`
says the same as `a` at greater length (padding.toml), in both orders."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols.pairwise import REPEATS, WORDING, facts, headline, items, prompt, read, scales

__all__ = ["FACTORS", "OFFERS", "REPEATS", "WORDING", "facts", "headline", "items", "prompt", "read", "scales"]

OFFERS = "length_twins"
FACTORS: Mapping[str, tuple[str, ...]] = {"order": ("ab", "ba")}
