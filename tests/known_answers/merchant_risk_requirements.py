"""What Wang et al., "Understanding LLM Evaluator Behavior" (merchant-risk paper), asks of an implementation beyond its
printed biases, section by section: which eval asks it, which test holds it, or why none does.

`(where, what, evals, tests, open)`: evals as "file::function" of evals/, tests as "folder/file::function" of tests/;
`open` is empty where they close it. The biases of Tables 1 to 10 and of secs. 4.3 to 5.2 themselves
are in test_merchant_risk_results.py.
"""

from __future__ import annotations

ACROSS, GROUND, PEOPLE = (f"test_{name}.py::" for name in ("judges_compared", "ground_truth", "people"))
ALIGNED, REASONS, JOINT = (f"test_{name}.py::" for name in ("human_alignment", "explanations", "joint_scoring"))
COUNTED, KEPT, BIAS = (f"test_{name}.py::" for name in ("known_scores", "rules_kept", "consensus_deviation"))
M, P = "papers/merchant_risk", "protocols"
COMPARED, ORDER, SINGLE = (f"{M}/test_{name}.py::" for name in ("judges_compared", "people_order", "people_ratings"))
TOGETHER, AUDIT, PICKS = (f"{M}/test_{name}.py::" for name in ("score_ensembles", "explanations", "picks"))
RULES, ALL_SETS = (f"{P}/test_{name}.py::" for name in ("rationale_rules", "rubric_joint"))
NOT_HERE = "the authors' own texts, scores and raters are not public"

Row = tuple[str, str, tuple[str, ...], tuple[str, ...], str]
ROWS: tuple[Row, ...] = (
    (
        "2.1",
        "five dimensions, three codes per level, no figures, no jargon; each breach named",
        (KEPT + "test_rules_kept",),
        (
            RULES + "test_the_words_find_what_reading_finds_in_all_25_texts",
            RULES + "test_a_planted_breach_is_named_and_no_other",
            RULES + "test_a_breach_stands_in_its_row",
            RULES + "test_a_level_without_a_rationale_is_a_failed_row",
        ),
        "",
    ),
    (
        "2.1.1",
        "more than 800 merchant categories",
        (),
        ("fixtures/test_merchant_risk.py::test_the_table_holds_every_published_code_among_a_real_choice",),
        "",
    ),
    (
        "2.2, B",
        "judges write what is judged: generations by line of trade, built into items with names shown and hidden",
        (KEPT + "test_rules_kept", BIAS + "test_self_preference"),
        (
            RULES + "test_each_line_of_trade_is_asked_about_by_itself",
            RULES + "test_texts_and_rules_are_rows_beside_the_picks",
            "papers/merchant_risk/test_generate.py::test_the_shipped_sets_are_what_the_recordings_give",
            "papers/merchant_risk/test_generate.py::"
            "test_merchants_are_placed_judged_and_held_against_rates_by_one_command",
        ),
        "",
    ),
    (
        "Algorithm 1",
        "the recomputed mean of the criteria beside the judge's own total: +0.87 against +0.77",
        (BIAS + "test_matrices", ACROSS + "test_self_bias_by_criterion"),
        (
            "known_answers/test_merchant_risk_results.py::test_every_score_and_both_biases_of_every_cell",
            COMPARED + "test_a_total_need_not_be_the_mean_of_its_parts",
        ),
        "",
    ),
    (
        "A, C",
        "all sets in one call, ranking and synthesis, beside one set per call",
        (JOINT + "test_joint_scoring",),
        (
            ALL_SETS + "test_every_score_is_that_of_its_own_author_and_item",
            ALL_SETS + "test_a_ranking_that_does_not_name_each_once_loses_the_places_and_no_score",
            f"{M}/test_joint_scoring.py::test_a_judge_that_ranks_against_its_scores_is_told_from_one_that_does_not",
            f"{M}/test_joint_scoring.py::test_a_planted_shift_and_a_planted_spread_are_found_and_not_mixed_up",
        ),
        "",
    ),
    (
        "A steps B, E",
        "the reasons for the scores are read and audited",
        (REASONS + "test_explanations",),
        (
            AUDIT + "test_a_planted_fault_is_found_in_the_judge_that_has_it_and_not_in_an_honest_one",
            AUDIT + "test_a_planted_fault_trips_nothing_else",
        ),
        "",
    ),
    (
        "A step E",
        "lists of strengths and weaknesses",
        (),
        (),
        "one reason of one sentence is asked per criterion; lists beside it would double a reply's cost",
    ),
    (
        "A",
        "completeness against the right answer, 25/25 and 20/25",
        (COUNTED + "test_known_scores",),
        (
            f"{M}/test_known_scores.py::test_a_judge_that_cannot_count_is_told_from_one_that_can",
            RULES + "test_the_items_carry_their_points_as_the_right_score",
        ),
        "",
    ),
    (
        "E",
        "Tables 1 to 10 in the report",
        ("test_score_stability.py::test_cells",),
        ("report/test_cell_tables.py::test_ten_tables_of_five_targets_and_six_criteria",),
        "",
    ),
    (
        "3.2, E",
        "self-bias by criterion: Sonar's completeness -1.40, its total +0.21",
        (ACROSS + "test_self_bias_by_criterion",),
        (COMPARED + "test_a_total_can_hide_what_a_part_says",),
        "",
    ),
    (
        "3.3, 3.4 (2), Fig 5",
        "names shown less hidden for every judge and author; rank stability, GPT-5.1 .30, Sonar .70",
        (ACROSS + "test_names_on_everybodys_work",),
        (
            COMPARED + "test_all_pairs_shift_of_the_published_tables",
            COMPARED + "test_hiding_names_does_not_preserve_the_ranking",
            COMPARED + "test_a_judge_swayed_by_one_name_is_told_from_one_that_is_not",
        ),
        "",
    ),
    (
        "3.4 (3)",
        "agreement of the judges: Kendall's W .81 and .80",
        (ACROSS + "test_common_order",),
        (
            COMPARED + "test_the_paper_s_judges_agree_by_point_eight",
            COMPARED + "test_unrelated_rankings_reject_five_times_in_a_hundred",
        ),
        "",
    ),
    (
        "3.5, Fig 7",
        "a hierarchy only where people tell apart: z .35, 3.28, .78, 1.44; single blinded ratings, reliability, pairs",
        (PEOPLE + "test_order_of_people", PEOPLE + "test_single_ratings"),
        (
            ORDER + "test_there_is_no_clear_hierarchy_in_figure_7",
            ORDER + "test_a_planted_order_is_found_and_none_where_none_is",
            SINGLE + "test_reliability_is_that_of_the_two_way_analysis_of_variance",
            SINGLE + "test_the_shipped_ratings_are_those_that_the_maker_draws_and_say_that_they_are_drawn",
        ),
        "",
    ),
    ("3.5", "the 26 experts' own ratings", (), (), f"{NOT_HERE}; the shipped single ratings are simulated and say so"),
    (
        "3.5, 4.4",
        "experts rate 1-10, judges 0-10: +0.46 is +0.65 with the scales matched",
        (PEOPLE + "test_scale_of_people",),
        (SINGLE + "test_a_scale_from_one_is_stretched_to_one_from_nought",),
        "",
    ),
    (
        "4.3.3",
        "leniency and self-bias",
        (ACROSS + "test_across_judges",),
        (COMPARED + "test_what_goes_together_across_the_paper_s_judges",),
        "",
    ),
    (
        "4.4",
        "self-critical is human-like: rho .90 and .70; with names hidden Claude is fourth of five",
        (ACROSS + "test_across_judges",),
        (
            COMPARED + "test_what_goes_together_across_the_paper_s_judges",
            COMPARED + "test_with_names_hidden_claude_is_fourth_of_five_in_distance_from_people",
        ),
        "",
    ),
    (
        "5.1",
        "real rates from a file; rho per year",
        (GROUND + "test_years",),
        (
            "panels/test_rate_tables.py::test_by_hand",
            "panels/test_rate_tables.py::test_every_fault_is_named",
            PICKS + "test_a_year_that_turns_the_order_round_is_told_from_one_that_does_not",
        ),
        "",
    ),
    (
        "5.1, 5.3",
        "levels given by file against rates, and a gate on severe misplacements",
        (GROUND + "test_severity",),
        (
            "papers/merchant_risk/test_levels_against_rates.py::test_levels_two_off_fail_beyond_one_in_ten",
            "papers/merchant_risk/test_levels_against_rates.py::test_the_command_refuses_who_misplaces_a_third",
        ),
        "",
    ),
    ("5.1", "the network's own payments", (), (), f"{NOT_HERE}; the shipped payments are synthetic and say so"),
    (
        "5.3, Fig 10",
        "overlap of the 39 categories, one perfect consensus; dots with names",
        (GROUND + "test_overlap",),
        (
            PICKS + "test_the_paper_s_39_categories_and_its_one_perfect_consensus",
            "report/test_figures.py::test_ladders_mark_a_fall_and_skip_an_empty_level",
        ),
        "",
    ),
    (
        "Figs 1, 3, 4",
        "prompt, rationale cards and schema in the report: on the pages of replies, which the numbers lead to",
        (KEPT + "test_rules_kept",),
        ("report/test_reply_pages.py::test_a_reply_stands_with_what_was_read_in_it_and_leads_to_its_prompt",),
        "",
    ),
    (
        "7.1",
        "bias span 1.105, and homogeneity of what is generated: overlap of picks, words in common",
        (ACROSS + "test_across_judges", GROUND + "test_overlap", KEPT + "test_homogeneity"),
        (
            COMPARED + "test_the_span_of_self_bias_is_1_105",
            PICKS + "test_overlap_by_hand",
            PICKS + "test_planted_homogeneity_comes_back",
        ),
        "",
    ),
    (
        "7.2",
        "quality of what a judge writes and its self-bias: rho -.50",
        (ACROSS + "test_across_judges",),
        (COMPARED + "test_what_goes_together_across_the_paper_s_judges",),
        "",
    ),
    (
        "7.3",
        "calibration on left-out texts (offset helps 9 of 10); ensembles, against people and payments",
        (ALIGNED + "test_calibration", ALIGNED + "test_ensembles"),
        (
            TOGETHER + "test_offset_calibration_helps_nine_of_ten_of_the_paper_s_judges",
            TOGETHER + "test_a_noisy_judge_weighs_less_and_spoils_a_plain_mean_more",
            TOGETHER + "test_what_an_ensemble_is_made_from_leaves_out_the_text_that_it_scores",
        ),
        "",
    ),
    (
        "7.4",
        "style transfer, another language",
        (),
        (),
        "the paper proposes them for later work; self-recognition is asked on the task of the thesis",
    ),
)
