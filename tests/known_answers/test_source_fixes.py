"""Of the two studies that are known from their tables alone, the shipped questions ask what the tables fix, no more."""

from __future__ import annotations

from functools import cache

import pytest
from shipped_questions import EVALS, MARKS

from recuse.suite import Selection

ROOT = EVALS.parent

FROM_THE_THESIS = {
    "test_consensus_deviation.test_self_bias",
    "test_self_preference.test_family",
    "test_self_preference.test_published_comparisons",
    "test_self_preference.test_rankings",
}
"""What needs means, SDs and n of S, R and G, and nothing else."""

FROM_THE_MERCHANT_RISK_STUDY = {
    "test_consensus_deviation.test_bias_gone_without_names",
    "test_consensus_deviation.test_leniency",
    "test_consensus_deviation.test_matrices",
    "test_consensus_deviation.test_name_effect",
    "test_consensus_deviation.test_self_bias",
    "test_consensus_deviation.test_self_preference",
    "test_ground_truth.test_overlap",
    "test_ground_truth.test_rank_correlation",
    "test_ground_truth.test_three_sources",
    "test_human_alignment.test_calibration",
    "test_human_alignment.test_ensembles",
    "test_human_alignment.test_human_offset",
    "test_human_alignment.test_human_order",
    "test_human_alignment.test_matrices",
    "test_human_alignment.test_self_offset",
    "test_judges_compared.test_across_judges",
    "test_judges_compared.test_common_order",
    "test_judges_compared.test_names_on_everybodys_work",
    "test_judges_compared.test_self_bias_by_criterion",
    "test_people.test_order_of_people",
    "test_people.test_scale_of_people",
    "test_reported_statistics.test_self_reported_final",
    "test_reported_statistics.test_self_reported_sd",
    "test_score_stability.test_cells",
    "test_score_stability.test_repeat_reliability",
    "test_score_stability.test_repeat_difference",
    "test_score_stability.test_run_sd",
    "test_score_stability.test_runs_needed",
}
"""What needs each judge's mean and SD of each text, and each model's printed correlation with the data."""

INVENTED = {
    "thesis": {
        "test_length_bias.test_length_in_scores",
        "test_mitigations.test_part_inverted_jury",
        "test_mitigations.test_what_if",
        "test_scale_framing.test_direction",
        "test_scale_framing.test_self_preference_change",
        "test_scale_framing.test_shift",
        "test_scale_framing.test_shift_by_author",
        "test_score_stability.test_parse_rate",
        "test_self_preference.test_language_drift",
        "test_self_preference.test_self_preference",
    },
    "published": {
        "test_explanations.test_explanations",
        "test_ground_truth.test_misassignments",
        "test_ground_truth.test_years",
        "test_known_scores.test_known_scores",
        "test_people.test_single_ratings",
        "test_reported_statistics.test_reported_total",
        "test_score_stability.test_parse_rate",
    },
}
"""What would be had from the reconstruction, and from it alone: listed for want of pairs and for nothing else."""


@cache
def asked_of(panel: str) -> tuple[set[str], set[str]]:
    """The questions that are asked of a panel, and those that only its source stands in the way of."""
    ask = Selection.load(ROOT, [f"fixtures/panels/{panel}.toml"]).offering
    asked, unfixed = set(), set()
    for name, marks in MARKS.items():
        needs = list(dict.fromkeys(need for mark in marks for need in mark.args))
        narrowed = {key: value for mark in reversed(marks) for key, value in mark.kwargs.items()}
        offering, lacking = ask(needs, **narrowed)
        asked |= {name} if offering else set()
        unfixed |= {name for row in lacking if [*row["missing"]] == ["pairs"]}
    return asked, unfixed


@pytest.mark.parametrize(("panel", "fixed"), [("thesis", FROM_THE_THESIS), ("published", FROM_THE_MERCHANT_RISK_STUDY)])
def test_asked_is_what_the_source_fixes(panel: str, fixed: set[str]) -> None:
    assert asked_of(panel)[0] == fixed


@pytest.mark.parametrize("panel", INVENTED)
def test_what_the_reconstruction_filled_in_is_listed_for_want_of_pairs(panel: str) -> None:
    asked, unfixed = asked_of(panel)
    assert unfixed >= INVENTED[panel]
    assert not unfixed & asked


def test_judges_that_were_asked_answer_everything_they_offer() -> None:
    assert not asked_of("local")[1]
