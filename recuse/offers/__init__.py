"""What ratings offer, and what a question asks for: one vocabulary, matched before anything is asked or computed.

    pytestmark = pytest.mark.asks("scores", "authors")

A question is asked of every panel, task and protocol that offers all it asks for; for the others it is listed with what
is missing and what would bring it.
"""

from __future__ import annotations

from recuse.offers.design import (
    Design,
    design_of,
    has_lengths,
    has_neutral_texts,
    has_one_person_each,
    has_twins,
    have_items_in_common,
    offered,
)
from recuse.offers.needs import CANDIDATE, KINDS, NEEDS, Need, check_needs, kind_of, missing, unlock

__all__ = [
    "CANDIDATE", "KINDS", "NEEDS", "Design", "Need", "check_needs", "design_of", "has_lengths", "has_neutral_texts",
    "has_one_person_each", "has_twins", "have_items_in_common", "kind_of", "missing", "offered", "unlock",
]  # fmt: skip
