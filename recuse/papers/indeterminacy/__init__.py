"""Rating tasks without gold labels: response sets behind forced choices, definitions of performance, judge selection.

Guerdan et al. (2025), Validating LLM-as-a-judge systems in the absence of gold labels. One concept per file:
`rating_task` (options and sets), `decomposition` (Theorems 3.3, 3.4), `transitions` (matrices with parameters),
`estimation` (matrices from counts), `aggregation`, `divergences`, `sets`, `definitions` (Table 1), `downstream`
(consistency, bias), `selection` (regret), `ratings_needed`, `dawid_skene`.
"""

from __future__ import annotations

from recuse.papers.indeterminacy.aggregation import RatingVectors, hard, hard_response_set
from recuse.papers.indeterminacy.decomposition import (
    Identifiability,
    check_stochastic,
    endorsements,
    forced_choices,
    identifiability,
    recovered,
    reverse,
    reversed_shares,
)
from recuse.papers.indeterminacy.definitions import Definition, definition, definitions
from recuse.papers.indeterminacy.downstream import TAUS, consistency, decisions, estimation_bias, prevalence
from recuse.papers.indeterminacy.estimation import TransitionEstimate, transition_estimate
from recuse.papers.indeterminacy.rating_task import RatingTask
from recuse.papers.indeterminacy.transitions import (
    choice_matrix,
    decay_for,
    error_matrix,
    reverse_choice_matrix,
    selection_strength,
)

__all__ = [
    "TAUS", "Definition", "Identifiability", "RatingTask", "RatingVectors", "TransitionEstimate",
    "check_stochastic", "choice_matrix", "consistency", "decay_for", "decisions",
    "definition", "definitions", "endorsements", "error_matrix", "estimation_bias", "forced_choices", "hard",
    "hard_response_set", "identifiability", "prevalence", "recovered", "reverse", "reverse_choice_matrix",
    "reversed_shares",
    "selection_strength", "transition_estimate",
]  # fmt: skip
