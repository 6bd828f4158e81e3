"""Pairwise comparison with the evidence first: the judge says what speaks for and against each text before it chooses.
Asked in both orders, three times at temperature 1, for whoever averages the verdicts (multiple evidence calibration:
P. Wang et al. 2023, arXiv:2305.17926). Pairs and verdicts are those of `pairwise`."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols import pairwise
from recuse.protocols.pairwise import facts, headline, items, read, scales
from recuse.schema import Item, Prompt
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "facts", "headline", "items", "prompt", "read", "scales"]

OFFERS = "choices_after_evidence"
FACTORS: Mapping[str, tuple[str, ...]] = {"order": ("ab", "ba")}
REPEATS = 3
LONGEST = 160  # characters of evidence per text that the grammar allows


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """Both texts in the order of the factors, for a line of evidence on each before the choice, at temperature 1."""
    words = pairwise.question("pairwise_evidence", task, item, factors)
    evidence = " ".join(f'"Text {name}: " [^\\n]{{10,{LONGEST}}} "\\n"' for name in pairwise.names(factors))
    grammar = f'root ::= {evidence} "{pairwise.LABEL}: " ({pairwise.choices(factors)})'
    return Prompt(words, temperature=1.0, max_tokens=400, grammar=grammar)
