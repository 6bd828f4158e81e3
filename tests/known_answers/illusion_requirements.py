"""What "Beyond the illusion of consensus" (paper 002) asks of an implementation, point by point in its own order: which
test holds it, or why none does.

`(where, what, tests, open)`: tests as "folder/file::function", parameters left out; `open` is empty where they close
it. The numbers are those of docs/illusion.md and docs/rubrics.md.
"""

from __future__ import annotations

FIGURES, TABLES = "known_answers/test_illusion.py::", "known_answers/test_merg.py::"
TABLE_9 = (FIGURES + "test_print_and_table",)
TEXT = (FIGURES + "test_print_and_the_papers_own_numbers",)
PRINTED = (TABLES + "test_print_and_tables",)
MERG, CHAIN = "protocols/test_merg.py::", "recording/test_chains.py::"
CALLS, KNOWLEDGE = "protocols/test_chains.py::", "papers/illusion/test_knowledge_grounding.py::"
AGREED, USED = "papers/illusion/test_resolution.py::", "papers/illusion/test_panel_use.py::"
HEURISTIC, HACKED = "planted/test_shared_heuristics.py::", "experiments/test_reward_hacking.py::"
PAGE, HEADER = "report/test_rubric_questions.py::", "elicitation/test_fingerprints.py::"
TOLD_APART = HEURISTIC + "test_judges_of_surface_and_of_substance_agree_alike_and_the_planted_flaw_tells_them_apart"
KNOWN = FIGURES + "test_known_answers"
DRAWN = TABLES + "test_the_page_shows_what_is_computed"
VERDICTS = FIGURES + "test_a_verdict_turns_with_what_it_rests_on"
PATTERN = AGREED + "test_the_papers_pattern_comes_out_at_its_size"
TWINS = MERG + "test_every_twin_stands_beside_its_other_and_the_flaw_is_told"
GROUPS = KNOWLEDGE + "test_each_group_is_measured_on_its_own_texts"

Row = tuple[str, str, tuple[str, ...], str]
ROWS: tuple[Row, ...] = (
    # ------------------------------------------------------------ design and metrics
    ("1", "agreement anchored on the surface, shared by judges: an operational test", (TOLD_APART,), ""),
    (
        "2",
        "prompts over six domains, half in each language",
        (MERG + "test_the_prompts_cover_six_domains_in_two_languages",),
        "",
    ),
    ("2b", "map of the source benchmark's prompt ids", (), "its prompts are not used; ours have names of their own"),
    ("3", "32 models in three tiers", (FIGURES + "test_table_9_is_whole", KNOWN), ""),
    (
        "4",
        "different vendors do not make judges independent: count how many they are worth",
        (USED + "test_unrelated_errors_count_in_full_and_shared_ones_once",),
        "",
    ),
    ("4b", "templates of our own, hashed into every recording", (HEADER + "test_the_prompts_words_are_in_it",), ""),
    ("5", "32 x 100 x 3 x 11 judgements", (PATTERN,), ""),
    (
        "5b",
        "what is fixed while temperature varies is logged; what cannot be read is counted",
        (
            HEADER + "test_temperature_and_length_are_those_sent_in_any_format",
            MERG + "test_an_evaluation_must_be_whole",
        ),
        "",
    ),
    (
        "6",
        "baseline: the prompt's checklist of five, whole numbers from 1 to 10",
        (
            MERG + "test_a_checklist_is_scored_in_one_call_without_knowledge",
            MERG + "test_one_score_beyond_the_scale_leaves_no_mean_and_keeps_the_others",
        ),
        "",
    ),
    (
        "7",
        "r of prompt means and r of criteria, never mixed",
        (AGREED + "test_two_forms_of_several_criteria_are_told_apart",),
        "",
    ),
    (
        "8",
        "ICC(2,1)",
        (
            "statistics/agreement/test_coefficients.py::test_shrout_and_fleiss_own_example",
            AGREED + "test_absolute_agreement_is_pingouins_icc",
        ),
        "",
    ),
    ("9", "Spearman over model means", (AGREED + "test_model_agreement_is_scipys_rho",), ""),
    (
        "10",
        "paired t, Bonferroni, Cohen's d, with t, df and k",
        (KNOWLEDGE + "test_bonferroni_counts_the_sources_that_were_compared", *PRINTED),
        "",
    ),
    (
        "11",
        "delta-K, arithmetic and by Fisher's z",
        (KNOWLEDGE + "test_hand_arithmetic", KNOWLEDGE + "test_fishers_mean_is_offered_beside"),
        "",
    ),
    # ------------------------------------------------------------ resolutions and validity
    ("12", "rho per pair at temperature 0", (*TABLE_9, *TEXT), ""),
    (
        "13",
        "grand rho over eleven temperatures",
        (),
        "the 33 correlations are not printed; ours are, of any panel with temperatures",
    ),
    ("14", "gap of rho and r, of like units", (*TEXT, AGREED + "test_the_gap_is_the_difference_of_its_parts"), ""),
    ("15", "r by pair", TEXT, ""),
    (
        "16",
        "analysis of variance over pairs, as repeated measures",
        (*TEXT, AGREED + "test_whether_pairs_differ_is_an_analysis_with_repeated_measures"),
        "",
    ),
    ("17", "tier means", TABLE_9, ""),
    ("18", "d of Base and Thinking, its SD named", (*TABLE_9, FIGURES + "test_known_answers"), ""),
    ("19", "pairwise ordering accuracy", (*TABLE_9, KNOWN, USED + "test_tiers_are_counted_pair_by_pair"), ""),
    ("20", "does Base less Thinking widen at temperature 0", TEXT, ""),
    ("21", "ICC of the tiers and over all cells", (*TEXT, PATTERN), ""),
    ("22", "two-stage loss, of like units", (*TEXT, AGREED + "test_leniency_costs_absolute_agreement_alone"), ""),
    ("23", "score and agreement", (*TABLE_9, USED + "test_quality_and_agreement_is_scipys_rho"), ""),
    ("24", "the same without some models, and within tiers", (*TABLE_9, KNOWN), ""),
    ("25", "agreement by tier, tested", (*TABLE_9, FIGURES + "test_known_answers_of_the_text"), ""),
    # ------------------------------------------------------------ tables 3 to 5 and 9
    ("26", "Table 3 at temperature 0", PRINTED, ""),
    ("27", "Table 3 at temperature 0.3", PRINTED, ""),
    ("28", "Table 3 at temperature 1", PRINTED, ""),
    ("29", "DeepSeek-R1", (*PRINTED, DRAWN), ""),
    ("30", "Qwen3-235B", PRINTED, ""),
    ("31", "relative drop", PRINTED, ""),
    ("32", "sign test, one- and two-sided", (*PRINTED, VERDICTS), ""),
    ("33", "where the gap is widest, and what the baseline does there", (*TEXT, VERDICTS), ""),
    ("34", "Table 4 is in Table 9", TEXT, ""),
    ("35", "Table 5 is in Table 9", TEXT, ""),
    ("36", "Table 9 as data", (FIGURES + "test_table_9_is_whole", KNOWN), ""),
    ("37", "ranks of the Base models", TEXT, ""),
    ("38", "agreement on the best models", TEXT, ""),
    # ------------------------------------------------------------ domain and language
    ("39", "delta-K by domain", (GROUPS,), ""),
    ("40", "domains against the whole: within and pooled are two things", (*PRINTED, GROUPS), ""),
    (
        "41",
        "is it more in one domain than in another: with a statistic",
        (KNOWLEDGE + "test_domains_are_told_apart_and_alike", *PRINTED),
        "",
    ),
    (
        "42",
        "noise and difficulty as other accounts: a placebo preamble",
        (),
        "repeat runs are there (score stability); a placebo needs a sixth variant of every judgement to be recorded",
    ),
    ("43", "DeepSeek-R1 by language", PRINTED, ""),
    ("44", "Qwen3-235B by language", PRINTED, ""),
    ("45", "interaction, with its test named", (*PRINTED, TABLES + "test_known_answers"), ""),
    # ------------------------------------------------------------ MERG and its variants
    (
        "46",
        "paradigms by rubric, knowledge, grounding",
        (),
        "a table of words; G-Eval and Prometheus were not run there either",
    ),
    (
        "47",
        "stage 1 sees no response and has five parts",
        (CALLS + "test_who_prepares_a_judgement_sees_no_output", MERG + "test_knowledge_must_be_whole"),
        "",
    ),
    ("48", "stage 2: five habits, blind spot, focus", (MERG + "test_every_habit_needs_its_answer",), ""),
    ("49", "stage 3: five dimensions, anchors at 2, 5, 8, 10, weights", (MERG + "test_a_rubric_that_is_none",), ""),
    (
        "50",
        "stage 4: scores, quotes, habit; weighted and plain mean",
        (
            MERG + "test_own_rubrics_weigh_and_the_plain_mean_stands_beside",
            "papers/illusion/test_copied_replies.py::test_a_quote_is_in_the_text_word_for_word",
            *PRINTED,
        ),
        "",
    ),
    (
        "51",
        "how specific a rubric's dimensions are",
        (),
        "the paper defines no measure of it; the rubrics are in the cassettes, to be read",
    ),
    ("52", "variant: each judge's own", (MERG + "test_the_rubric_and_the_reflection_are_fed_on",), ""),
    ("53", "variant: five given names", (MERG + "test_given_names_are_given",), ""),
    ("54", "variant: one judge writes for all", (MERG + "test_shared_stages_are_those_of_the_first_judge",), ""),
    (
        "55",
        "variant: universal, where it comes from stated",
        (MERG + "test_the_universal_rubric_is_checked_like_any_other",),
        "",
    ),
    ("56", "Table 6, DeepSeek-R1", PRINTED, ""),
    ("57", "Table 6, Qwen3-235B", PRINTED, ""),
    (
        "58",
        "structural share, its denominator named",
        (
            *PRINTED,
            KNOWLEDGE + "test_like_is_compared_with_like",
            KNOWLEDGE + "test_without_agreement_there_is_no_share_of_it",
        ),
        "",
    ),
    ("59", "is r = 0.22 near random", (*PRINTED, VERDICTS), ""),
    ("60", "which variant is compared with the shared checklist", PRINTED, ""),
    ("61", "universal below shared", PRINTED, ""),
    (
        "62",
        "variants side by side, with the pairs that are lacking",
        (PAGE + "test_a_pair_that_could_not_be_measured_is_shown_as_lacking_and_not_as_zero",),
        "",
    ),
    # ------------------------------------------------------------ cases
    (
        "63",
        "cases of the widest spread, by a rule",
        (*PRINTED, USED + "test_spread_is_half_the_sum_of_three_pairs"),
        "",
    ),
    ("64", "cases of the narrowest", PRINTED, ""),
    (
        "65",
        "three patterns: sums, concepts, outlines; which of them a judge misses",
        (TWINS, KNOWLEDGE + "test_a_judge_that_misses_one_kind_of_flaw_is_told_by_it"),
        "",
    ),
    (
        "65b",
        "does an anchor that caps an outline act",
        (),
        "needs judges that write such an anchor; the small ones do not",
    ),
    (
        "66",
        "shares of texts spread by more than 2, 3, 4 points",
        (USED + "test_spread_shares_are_counted", *PRINTED),
        "",
    ),
    ("67", "baseline means of the cases", (*TEXT, VERDICTS), ""),
    ("68", "baseline of the pitch", PRINTED, ""),
    (
        "69",
        "a judge that uses another scale, noticed and asked about on the page",
        (
            USED + "test_a_judge_on_another_scale_is_noticed",
            "papers/illusion/test_agreement_drawing.py::test_a_judge_that_never_leaves_the_lower_half_is_asked_"
            "about_and_no_other",
            *TEXT,
        ),
        "",
    ),
    (
        "70",
        "do judges that agree cite the same evidence",
        (
            "papers/illusion/test_evidence_overlap.py::test_by_hand",
            "papers/illusion/test_evidence_overlap.py::test_who_agrees_and_cites_the_same_lies_below_zero",
        ),
        "",
    ),
    (
        "71",
        "language of the critiques",
        (),
        "that of what is judged is a group of delta-K; of what judges write, a quote in another language is no quote",
    ),
    # ------------------------------------------------------------ appendices D and F
    ("72", "agreement above 0.80", (*TABLE_9, VERDICTS), ""),
    ("73", "temperature invariance", (*TEXT, USED + "test_agreement_that_falls_with_temperature_is_found"), ""),
    ("74", "order of the pairs", TEXT, ""),
    ("75", "agreement on the two best models", TEXT, ""),
    ("76", "tier order per judge", (USED + "test_tiers_are_counted_pair_by_pair",), ""),
    ("77", "bands of the tiers", (*TEXT, VERDICTS), ""),
    ("78", "range of the tiers", TEXT, ""),
    ("79", "shift of a judge, per pair", (*TEXT, HEURISTIC + "test_the_pattern_of_the_paper_comes_back_over_http"), ""),
    ("80", "spread and shape of each judge's scores", (USED + "test_scale_use_and_shape_are_scipys",), ""),
    ("81", "slope of the score on size", TEXT, ""),
    # ------------------------------------------------------------ discussion and limits
    ("81b", "a small bias turns ranks round within a sample", (HACKED + "test_a_small_bias_turns_pairs_round",), ""),
    (
        "82",
        "reward models from either kind of preference",
        (),
        "no data, seeds or definition of quality; experiments/reward_hacking.py has what is simulated",
    ),
    (
        "83",
        "flag where |delta-K| > 0.15",
        (HEURISTIC + "test_a_planted_knowledge_effect_is_shown_and_none_is_where_none_was_planted", *PRINTED),
        "",
    ),
    (
        "84",
        "validate at the resolution that is used",
        (AGREED + "test_the_papers_pattern_comes_out_at_its_size", TOLD_APART),
        "",
    ),
    (
        "85",
        "cost of the stages, asked once",
        (CALLS + "test_every_stage_is_paid_for", CALLS + "test_a_stage_is_asked_once_for_all_that_use_it"),
        "",
    ),
    (
        "86",
        "agreement is necessary, not sufficient",
        (AGREED + "test_agreement_cannot_tell_surface_from_substance", TOLD_APART),
        "",
    ),
    (
        "87",
        "six limits stand with the result",
        (),
        "one does, that agreement is no evidence of being right; the others are the paper's own: its judges, targets, "
        "prompts and training run",
    ),
    (
        "88",
        "room for other tasks and judges",
        ("packaging/test_recipes.py::test_the_slice_records_replays_and_gates",),
        "",
    ),
    (
        "89",
        "no ground to dismiss judging by models; the pitch of Fig. 1 is synthetic",
        (),
        "words of the paper on itself; that our own flawed texts were written for the test stands beside them",
    ),
    (
        "90",
        "known biases as covariates of agreement: length, position, self-preference",
        (),
        "each is a measure of its own, beside people and peers; none is partialled out of agreement",
    ),
    (
        "91",
        "controls: repeats, people, clusters",
        (
            "papers/merchant_risk/test_stability.py::test_shrout_and_fleiss",
            "metrics/agreement/test_human_ceiling.py::test_by_hand",
            AGREED + "test_intervals_over_items_hold_the_truth",
        ),
        "",
    ),
    ("92", "cases told twice", TEXT, ""),
)
