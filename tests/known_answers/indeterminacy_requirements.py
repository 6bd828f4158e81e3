"""What Guerdan et al. (2025), Validating LLM-as-a-Judge Systems in the Absence of Gold Labels, asks of an
implementation, point by point in its own order: which test holds it, or why none does.

`(where, what, tests, open)`: tests as "folder/file::function", parameters left out; `open` is empty where they close
it.
"""

from __future__ import annotations

S = "papers/indeterminacy"
TASK, DECOMPOSED, MATRICES = (f"{S}/test_{name}.py::" for name in ("rating_task", "decomposition", "transitions"))
AGGREGATED, DEFINED, DOWN = (f"{S}/test_{name}.py::" for name in ("aggregation", "definitions", "downstream"))
RANKED, CHOSEN = (f"{S}/test_{name}.py::" for name in ("ranking", "selection"))
DRAWN, STUDY, FOUND = (f"{S}/test_{name}.py::" for name in ("simulated_ratings", "selection_study", "findings"))
PAGE, DECIDED, SETS = (
    f"{S}/test_selection_report.py::",
    f"{S}/test_decision_consistency.py::",
    f"{S}/test_response_sets.py::",
)
PICKED, PLANTED = f"{S}/test_judge_selection.py::", f"{S}/test_planted_judges.py::"
DELTAS = CHOSEN + "test_tables_3_and_4_every_delta_is_value_minus_oracle"
LINES = PAGE + "test_every_number_stands_in_its_place_with_its_sign"
FEW = PAGE + "test_few_raters_and_forced_choice_by_threshold"

Row = tuple[str, str, tuple[str, ...], str]
ROWS: tuple[Row, ...] = (
    (
        "2",
        "items, instructions, options; the prevalence of winning is the win rate",
        (DOWN + "test_of_pairs_the_prevalence_of_winning_is_the_win_rate",),
        "",
    ),
    (
        "2",
        "forced choice picks an option, response set an admissible set",
        (TASK + "test_membership_marks_the_options_of_every_set", TASK + "test_a_set_is_not_empty_and_holds_options"),
        "",
    ),
    (
        "Def 2.1",
        "underspecified, read strictly",
        (
            TASK + "test_definition_2_1_is_strict",
            TASK + "test_yes_or_no_is_underspecified_and_a_third_option_makes_it_specified",
        ),
        "",
    ),
    (
        "2",
        "fully specified: both ways of asking say the same",
        (
            DECOMPOSED + "test_fully_specified_both_ways_of_asking_say_the_same",
            TASK + "test_as_many_sets_as_options_does_not_suffice",
        ),
        "",
    ),
    (
        "2.1",
        "joint distribution of texts, choices, sets and raters",
        (DECOMPOSED + "test_the_model_is_the_process_it_stands_for",),
        "",
    ),
    (
        "Eq 1",
        "means over items, coefficients over the corpus",
        (
            DEFINED + "test_weights_count_items_as_often_as_they_say",
            DEFINED + "test_chance_corrected_coefficients_are_other_libraries",
        ),
        "",
    ),
    (
        "Eq 2",
        "estimated from choices alone, judges asked repeatedly",
        (STUDY + "test_each_threshold_has_the_response_sets_cut_there",),
        "",
    ),
    (
        "2.2.2",
        "threshold, equality included",
        (
            DOWN + "test_a_share_equal_to_the_cut_off_is_positive",
            AGGREGATED + "test_the_threshold_is_reached_by_equality_even_after_rounding",
        ),
        "",
    ),
    ("2.2.2", "decision consistency", (DOWN + "test_consistency_and_bias_by_hand", DECIDED + "test_by_hand"), ""),
    (
        "2.2.2",
        "signed estimation bias; |B| <= 1 - C",
        (DOWN + "test_below_0_the_judge_underestimates", DOWN + "test_consistency_and_bias_never_exceed_1_together"),
        "",
    ),
    (
        "2.2.2",
        "the same concern for Bradley-Terry and prediction-powered inference",
        (),
        "a claim without a number in the paper; prediction_powered_mean is not corrected for beta",
    ),
    ("Fig 3", "three sources of variation", (DECOMPOSED + "test_the_model_is_the_process_it_stands_for",), ""),
    ("A 3.1", "error does not depend on the rater", (DECOMPOSED + "test_the_model_is_the_process_it_stands_for",), ""),
    (
        "A 3.2",
        "choice depends on the set alone; columns of F sum to 1, 0 outside the set",
        (DECOMPOSED + "test_the_model_is_the_process_it_stands_for",),
        "",
    ),
    (
        "3",
        "reverse matrices depend on the item; what never occurs has a convention",
        (
            DECOMPOSED + "test_the_reverse_matrix_depends_on_the_item",
            DECOMPOSED + "test_what_never_occurs_does_no_harm",
        ),
        "",
    ),
    ("Thm 3.3", "forward and back", (DECOMPOSED + "test_theorem_3_3_forward_and_back",), ""),
    (
        "Thm 3.4",
        "identifiable if and only if fully specified",
        (
            DECOMPOSED + "test_theorem_3_4_specified_tasks_are_identifiable_and_others_are_not",
            DECOMPOSED + "test_theorem_3_4_two_populations_give_the_same_choices",
        ),
        "",
    ),
    (
        "fn 6",
        "selection leaves no trace in choices",
        (DECOMPOSED + "test_theorem_3_4_two_populations_give_the_same_choices",),
        "",
    ),
    ("4", "hard aggregation, ties explicit", (AGGREGATED + "test_the_mode_and_its_ties",), ""),
    (
        "4",
        "soft aggregation",
        (AGGREGATED + "test_the_four_aggregations_of_one_item",),
        "",
    ),
    (
        "4",
        "Lambda, Omega, Omega*",
        (
            TASK + "test_membership_marks_the_options_of_every_set",
            DRAWN + "test_estimates_come_to_the_population_as_ratings_grow",
        ),
        "",
    ),
    (
        "4",
        "hard response set, empty ones included",
        (AGGREGATED + "test_a_hard_response_set_may_be_empty_or_hold_everything",),
        "",
    ),
    (
        "4",
        "soft response set; no option is chosen more often than endorsed",
        (DECOMPOSED + "test_without_error_no_option_is_chosen_more_often_than_endorsed",),
        "",
    ),
    ("4", "valid definitions of performance, others refused", (DEFINED + "test_triples_of_table_1_and_no_other",), ""),
    (
        "4",
        "hard and categorical presumes a gold label",
        (FOUND + "test_finding_2_categorical_measures_fail_under_asymmetric_selection",),
        "",
    ),
    (
        "T1",
        "hit rate",
        (DEFINED + "test_squared_error_is_a_sum_over_options", RANKED + "test_appendix_c_example_1_repaired"),
        "",
    ),
    (
        "T1",
        "Krippendorff's alpha",
        (
            DEFINED + "test_chance_corrected_coefficients_are_other_libraries",
            DEFINED + "test_one_option_everywhere_is_undefined_not_1",
        ),
        "",
    ),
    (
        "T1",
        "Fleiss' kappa is Scott's pi for two raters",
        (DEFINED + "test_chance_corrected_coefficients_are_other_libraries",),
        "",
    ),
    (
        "T1",
        "Cohen's kappa",
        (
            DEFINED + "test_chance_corrected_coefficients_are_other_libraries",
            DEFINED + "test_one_option_everywhere_is_undefined_not_1",
        ),
        "",
    ),
    ("T1", "Scott's pi", (DEFINED + "test_chance_corrected_coefficients_are_other_libraries",), ""),
    (
        "T1",
        "Kullback-Leibler both ways, nats, smoothing",
        (DEFINED + "test_divergences_are_scipys", DEFINED + "test_zeros_are_smoothed_as_stated_or_refused"),
        "",
    ),
    (
        "T1",
        "cross-entropy both ways",
        (DEFINED + "test_cross_entropy_of_peoples_answers_ranks_as_the_divergence_does",),
        "",
    ),
    (
        "T1",
        "Jensen-Shannon divergence, not its root",
        (DEFINED + "test_jensen_shannon_is_symmetric_and_at_most_ln_2",),
        "",
    ),
    (
        "T1",
        "coverage",
        (
            DEFINED + "test_sets_against_sets",
            DEFINED + "test_coverage_of_a_single_choice_is_precision_and_against_modes_the_hit_rate",
        ),
        "",
    ),
    ("T1", "predictive efficiency", (DEFINED + "test_fewer_options_named_are_more_efficient",), ""),
    ("T1", "recall and precision, empty sets", (DEFINED + "test_sets_against_sets",), ""),
    ("T1", "binary cross-entropy, sum over options", (DEFINED + "test_binary_cross_entropy_is_scikit_learns",), ""),
    (
        "T1",
        "squared error is a sum; of modes 2 (1 - hit rate)",
        (DEFINED + "test_squared_error_is_a_sum_over_options",),
        "",
    ),
    ("T1", "every direction", (DEFINED + "test_a_perfect_judge_is_best_under_every_definition_that_compares",), ""),
    (
        "Eq 3",
        "difference of two judges, sign turned where less is better",
        (RANKED + "test_appendix_c_example_1_repaired",),
        "",
    ),
    ("Def 5.1", "rank consistency", (RANKED + "test_rank_consistency_counts_strict_reversals_alone",), ""),
    (
        "Def 5.2",
        "monotone transformation, strictly increasing",
        (RANKED + "test_a_monotone_transformation_never_reverses_an_item_and_may_reverse_a_mean",),
        "",
    ),
    ("Thm 5.3", "necessary only", (RANKED + "test_theorem_5_3_is_necessary_only",), ""),
    (
        "C ex 1",
        "hit rate and KL, as printed and repaired",
        (RANKED + "test_appendix_c_example_1_fails_as_printed", RANKED + "test_appendix_c_example_1_repaired"),
        "",
    ),
    ("C ex 2", "KL and squared error", (RANKED + "test_appendix_c_example_2_holds_with_another_number",), ""),
    (
        "C ex 2 z",
        "Omega is (.4, 1), the error .17",
        (RANKED + "test_appendix_c_example_2_holds_with_another_number",),
        "",
    ),
    ("C ex 2 w", "KL .0201, error 0", (RANKED + "test_appendix_c_example_2_holds_with_another_number",), ""),
    (
        "5",
        "fixed choices, other sets: a violation",
        (RANKED + "test_section_5_fixed_choices_and_other_sets_reverse_an_order",),
        "",
    ),
    (
        "Lemma B.1",
        "corrected: delta = delta* - 2 shift; counterexample to the printed one",
        (
            RANKED + "test_the_difference_under_error_is_that_without_less_twice_the_shift",
            RANKED + "test_the_opposite_sign_suffices",
            RANKED + "test_the_printed_condition_does_not_suffice",
            RANKED + "test_the_printed_condition_is_not_needed_either",
        ),
        "",
    ),
    (
        "B.2",
        "how often (8) and the order hold",
        (RANKED + "test_how_often_the_claim_of_b_2_holds_in_the_papers_design",),
        "",
    ),
    ("D.1", "50 judges, 100 items, sizes", (STUDY + "test_the_settings_are_the_papers",), ""),
    (
        "6",
        "theta* from a flat Dirichlet",
        (DRAWN + "test_what_people_hold_reasonable_is_spread_evenly_over_the_simplex",),
        "",
    ),
    (
        "6",
        "error matrix whose columns sum to 1, skew",
        (MATRICES + "test_errors_sum_to_the_rate_and_skew_favours_sets_with_the_option",),
        "",
    ),
    (
        "6",
        "choices that decay with rank",
        (MATRICES + "test_choices_fall_by_one_and_the_same_factor_from_rank_to_rank",),
        "",
    ),
    (
        "6",
        "selection strength, weight |S|",
        (
            MATRICES + "test_chance_has_strength_1_and_the_printed_weight_has_not",
            MATRICES + "test_with_two_options_strength_2_is_reached_at_the_limit_alone",
        ),
        "",
    ),
    ("6", "O = F (E theta*)", (DRAWN + "test_a_population_is_what_its_design_says",), ""),
    (
        "6",
        "judges: perturbed, projected onto the simplex",
        (
            DRAWN + "test_projection_is_the_nearest_point_of_the_simplex",
            DRAWN + "test_judges_lie_at_different_distances",
        ),
        "",
    ),
    ("6", "symmetric selection", (STUDY + "test_the_settings_are_the_papers",), ""),
    ("fn 5", "additive error", (STUDY + "test_the_settings_are_the_papers",), ""),
    (
        "D.1",
        "estimates by the true reverse matrices",
        (DRAWN + "test_response_sets_from_choices_use_the_true_reverse_matrices",),
        "",
    ),
    ("D.1", "estimates converge", (DRAWN + "test_estimates_come_to_the_population_as_ratings_grow",), ""),
    ("6", "mean over tau .3, .5, .7", (STUDY + "test_the_settings_are_the_papers",), ""),
    ("6", "budgets", (STUDY + "test_the_settings_are_the_papers", DRAWN + "test_budgets_rise"), ""),
    (
        "6",
        "chosen on a sample, scored on the population",
        (
            STUDY + "test_a_measure_that_sees_everything_chooses_the_best_judge_and_none_chooses_the_worst",
            STUDY + "test_judges_are_scored_against_what_people_endorse_without_their_errors",
            STUDY + "test_judges_are_asked_about_each_text_a_few_times",
        ),
        "",
    ),
    (
        "F1",
        "three ratings help more than the choice of measure: for some measures, and not for the ones to choose",
        (
            FOUND + "test_finding_1_holds_for_some_measures_and_not_for_the_ones_to_choose",
            FOUND + "test_finding_1_does_not_reach_measures_that_know_the_reverse_matrices",
        ),
        "",
    ),
    (
        "F1",
        "one rating fully specified is worth three",
        (FOUND + "test_finding_1_one_rating_of_a_specified_task_is_worth_three_of_another",),
        "",
    ),
    (
        "F2",
        "categorical measures fail under asymmetric selection",
        (
            FOUND + "test_finding_2_categorical_measures_fail_under_asymmetric_selection",
            FOUND + "test_finding_2_distributional_measures_do_not",
        ),
        "",
    ),
    (
        "F3",
        "error matters less for rankings; prevalence is hurt",
        (
            FOUND + "test_finding_3_errors_matter_less_than_selection",
            FOUND + "test_figure_12_direct_prevalence_is_hurt_by_errors_with_skew",
        ),
        "",
    ),
    (
        "F4",
        "one rating decides otherwise for some 30 %",
        (FOUND + "test_finding_4_one_rating_decides_two_to_three_in_four_items_as_everybody_would",),
        "",
    ),
    (
        "F4",
        "forced choice underestimates prevalence",
        (FOUND + "test_finding_4_forced_choice_underestimates_whatever_the_selection",),
        "",
    ),
    ("Fig 1", "the framework", (), "a drawing; its four parts are the modules of recuse/papers/indeterminacy"),
    (
        "Fig 4",
        "consistency and bias by ratings per item",
        (LINES, FOUND + "test_finding_1_one_rating_of_a_specified_task_is_worth_three_of_another"),
        "",
    ),
    ("Fig 5", "rankings by measure and downstream", (LINES,), ""),
    (
        "Fig 6",
        "a few ratings; choices against sets",
        (FEW, FOUND + "test_finding_4_forced_choice_underestimates_whatever_the_selection"),
        "",
    ),
    (
        "Fig 9",
        "six kinds of items with indeterminacy",
        (),
        "one task of this kind is recorded, toxicity; the other five have no items here",
    ),
    (
        "Fig 10",
        "hit rate's judge over error, skew and selection",
        (FOUND + "test_figure_10_without_skew_the_hit_rates_judge_hardly_changes_with_symmetric_selection",),
        "",
    ),
    (
        "Fig 11",
        "rankings with and without error",
        (FOUND + "test_figure_11_distributions_keep_their_ranking_under_error_and_hit_rate_does_not",),
        "",
    ),
    ("Fig 12", "prevalence under error", (FOUND + "test_figure_12_direct_prevalence_is_hurt_by_errors_with_skew",), ""),
    ("Fig 13", "distributional and categorical", (LINES,), ""),
    ("Fig 14", "every measure, no sampling error", (LINES,), ""),
    (
        "Fig 15",
        "a few ratings by threshold",
        (FEW, FOUND + "test_figure_15_which_way_the_bias_goes_depends_on_tau"),
        "",
    ),
    (
        "E",
        "200 comments in strata of disagreement",
        (),
        "the comments of that data set are real people's; ours are written for the task toxicity",
    ),
    ("7", "three options, seven sets", (MATRICES + "test_table_2",), ""),
    ("7", "five commercial judges", (), "not recorded here; four small local judges are asked the task toxicity"),
    ("Fig 16", "two prompts and their replies", ("protocols/test_option_protocols.py::",), ""),
    (
        "T2",
        "reverse matrix with beta, and less cautious ones",
        (
            MATRICES + "test_table_2",
            MATRICES + "test_under_table_2_toxic_is_endorsed_by_who_chose_it_and_by_beta_of_the_rest",
            MATRICES + "test_the_nested_variant_flips_a_decision_at_a_smaller_beta",
        ),
        "",
    ),
    ("Fig 8", "prevalence over beta and tau", (DECIDED + "test_prevalence_rises_with_beta_and_falls_with_tau",), ""),
    ("7", "beta of raters that were asked both ways", (SETS + "test_shares_of_sets_and_beta_come_back",), ""),
    (
        "F5",
        "the choice depends on the measure: .55 of .61 lost",
        (CHOSEN + "test_the_largest_loss_is_more_than_the_34_percent_of_the_abstract",),
        "",
    ),
    (
        "F5",
        "which direction of KL",
        (CHOSEN + "test_which_direction_of_kl_is_better_turns_round_at_beta_3_itself",),
        "",
    ),
    (
        "F6",
        "hit rate keeps its judge while the best one changes",
        (
            CHOSEN + "test_the_largest_loss_is_more_than_the_34_percent_of_the_abstract",
            PICKED + "test_a_choice_that_rests_on_beta_is_said_not_to_survive",
        ),
        "",
    ),
    ("F7", "a small beta moves prevalence", (DECIDED + "test_beta_moves_people_and_nobody_else",), ""),
    ("T3", "Sonnet's rows", (DELTAS,), ""),
    ("T3", "Mistral Small's rows", (DELTAS,), ""),
    ("T3", "Mistral Large's row", (DELTAS,), ""),
    ("T3", "coverage and squared error of sets", (DELTAS,), ""),
    ("T3", "best consistency", (DELTAS,), ""),
    ("T4", "Sonnet's rows", (DELTAS,), ""),
    ("T4", "Mistral's rows", (DELTAS,), ""),
    (
        "T4",
        "the others and the best row",
        (DELTAS, CHOSEN + "test_the_two_tables_choose_the_same_judges_and_disagree_on_the_best_at_beta_3"),
        "",
    ),
    (
        "T3, T4",
        "deltas, repeats and picks agree",
        (
            DELTAS,
            CHOSEN + "test_a_judge_has_one_value_per_beta_whatever_chose_it",
            CHOSEN + "test_consistency_and_bias_of_the_tables_exceed_1_by_rounding_alone",
        ),
        "",
    ),
    (
        "T4",
        "steps of bias that the strata cannot give",
        (CHOSEN + "test_the_described_strata_cannot_give_the_printed_steps_of_bias",),
        "",
    ),
    (
        "fn 9, 10",
        "which argument of KLD leads",
        (
            DEFINED + "test_which_argument_leads",
            DEFINED + "test_cross_entropy_of_peoples_answers_ranks_as_the_divergence_does",
        ),
        "",
    ),
    (
        "6, 7",
        "recommendations",
        (
            "report/test_indeterminate_questions.py::test_advice_follows_from_what_was_measured",
            "report/test_indeterminate_questions.py::"
            "test_a_task_whose_answers_are_never_several_is_not_called_underspecified",
        ),
        "",
    ),
    (
        "F5",
        "Jensen-Shannon as a safe choice: not in its own table",
        (CHOSEN + "test_jensen_shannon_loses_here_too",),
        "",
    ),
    (
        "3, 6",
        "limits: rater-free E and F, judges without error",
        (),
        "one error rate is estimated, of people who answered twice (rater_error); its skew, raters who err each in a "
        "way of their own, and judges that err are not",
    ),
)
