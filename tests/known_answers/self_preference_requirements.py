"""What the thesis "Investigating Bias in LLM Self-Evaluation" asks of an implementation beyond its Table 1, row by row
in its own order: which eval asks it, which test holds it, or why none does.

`(where, what, evals, tests, open)`: evals as "file::function" below evals/, tests as "folder/file::function" below
tests/, parameters left out; `open` says what is not recorded or not done, and is empty where nothing is.
"""

from __future__ import annotations

PLANTED = "papers/self_preference/test_planted_asking.py::test_the_planted_judge_is_told_apart_and_trips_nothing_else"
PROMPTS = "papers/self_preference/test_asking_protocols.py::"
HAND = "papers/self_preference/test_asking_measures.py::"
RECORD = "papers/self_preference/test_record_headlines.py::"
BIAS, OURS = "metrics/bias/", "papers/self_preference/"
BUILT = "protocols/headlines/test_built_items.py::"

Row = tuple[str, str, tuple[str, ...], tuple[str, ...], str]
ROWS: tuple[Row, ...] = (
    (
        "abstract",
        "inflation of a leaderboard that an author's own judgements are part of",
        ("test_self_preference.py::test_rankings",),
        (
            BIAS + "test_self_preference.py::test_a_leaderboard_of_the_thesis_with_and_without_own_grades",
            BIAS + "test_self_preference.py::test_planted_inflation_comes_back",
        ),
        "",
    ),
    (
        "3.2",
        "wording (quality, badness) x direction of the scale, as two factors",
        ("test_wording.py::test_effects", "test_wording.py::test_flip", "test_wording.py::test_self_preference"),
        (PLANTED, PROMPTS + "test_the_legend_stays_true_whatever_the_word", HAND + "test_wording_by_hand"),
        "",
    ),
    (
        "1.1, App. A",
        "observations first, then the number on the last line, labelled as everywhere; faults; no outside information",
        ("test_ways_of_asking.py::test_grades", "test_ways_of_asking.py::test_verdicts"),
        (PROMPTS + "test_observations_differ_in_what_comes_first_and_in_nothing_else",),
        "",
    ),
    (
        "1.2.1, Fig 2",
        "a grade as [[5]], 4/5, 4 out of 5, or alone on the last line of a reply without another number",
        (),
        (
            "protocols/headlines/test_last_line.py::test_what_stands_on_the_last_line_is_the_verdict",
            "protocols/headlines/test_headline_protocols.py::test_a_grade_may_name_its_top_or_stand_alone",
            "protocols/headlines/test_headline_protocols.py::test_what_is_no_grade_of_the_scale_becomes_a_named_failure",
        ),
        "",
    ),
    (
        "1.2.2",
        "Likert ratings: one scale for the parts, another for the whole",
        (),
        ("protocols/test_rubric.py::test_parts_and_whole_may_have_a_scale_each",),
        "",
    ),
    (
        "1.2.1",
        "few-shot, reference answer, guidelines",
        ("test_ways_of_asking.py::test_grades", "test_ways_of_asking.py::test_verdicts"),
        (PROMPTS + "test_every_way_of_asking_adds_to_the_same_words", HAND + "test_error_change_by_hand"),
        "",
    ),
    (
        "1.2.2",
        "listwise: the best of three or more",
        ("test_ways_of_asking.py::test_lists",),
        (PROMPTS + "test_a_list_is_turned_and_the_letter_read_back",),
        "",
    ),
    (
        "1.2.2",
        "a score from 0 to 100",
        ("test_ways_of_asking.py::test_hundred_steps",),
        (PROMPTS + "test_a_hundred_steps",),
        "",
    ),
    (
        "1.2.3",
        "AutoCalibrate: draft, evaluate, refine on labels; chosen on one fold, tested on the other",
        ("test_ways_of_asking.py::test_inferred_criteria",),
        (PLANTED, PROMPTS + "test_criteria_are_refined_on_what_was_misjudged"),
        "",
    ),
    (
        "2.1.1, 2.2.1",
        "told that order and length must not matter, and not told",
        ("test_ways_of_asking.py::test_choices",),
        (PROMPTS + "test_not_told_is_the_same_but_for_one_sentence",),
        "",
    ),
    (
        "2.2.1",
        "told that length must not matter, on twins that differ in length alone",
        ("test_ways_of_asking.py::test_length_that_must_not_matter",),
        (PLANTED, HAND + "test_padding_won_where_nothing_is_said_of_length_lies_above_zero"),
        "",
    ),
    (
        "2.1.1",
        "evidence calibration held against people or scores, not against peers' plain verdicts",
        ("test_position_bias.py::test_calibration",),
        (OURS + "test_calibration.py::test_people_come_before_peers_and_authors_are_no_reference",),
        "",
    ),
    (
        "2.2.1",
        "same-length reference against people",
        ("test_length_bias.py::test_like_length_in_choices",),
        (
            BIAS + "test_length.py::test_same_length_reference_by_hand",
            BIAS + "test_length.py::test_a_reference_of_the_same_length_takes_a_taste_for_length_down",
        ),
        "people have chosen between no headlines here; a file with people's choices is held against them",
    ),
    (
        "2.3.1",
        "a separate data channel as a defence",
        ("test_separate_channel.py::test_change",),
        (PLANTED, PROMPTS + "test_a_text_apart_is_data_in_a_message_of_its_own"),
        "",
    ),
    (
        "2.3",
        "payloads by another hand, on judges",
        ("test_separate_channel.py::test_success", "test_prompt_injection.py::test_success_in_pairs"),
        (
            HAND + "test_channels_by_hand",
            "protocols/headlines/test_built_items.py::"
            "test_an_attacked_pair_is_its_clean_twin_and_the_payload_on_one_side",
        ),
        "",
    ),
    (
        "2.4",
        "self-recognition, of pairs and of single texts, and its correlation with self-preference",
        (
            "test_self_recognition.py::test_pairs",
            "test_self_recognition.py::test_single_texts",
            "test_self_recognition.py::test_preference_from_pairs",
        ),
        (PLANTED, HAND + "test_who_knows_its_texts_and_favours_them"),
        "",
    ),
    (
        "2.4",
        "capability against overconfidence, where answers can be checked",
        ("test_ways_of_asking.py::test_overconfidence",),
        (PLANTED, HAND + "test_overconfidence_knows_skill_leniency_and_noise"),
        "",
    ),
    (
        "2.4.1",
        "solve first, then judge",
        ("test_ways_of_asking.py::test_verdicts",),
        (PLANTED, PROMPTS + "test_a_solution_of_its_own_is_shown"),
        "",
    ),
    (
        "2.4.1",
        "solve, explain, decide",
        ("test_ways_of_asking.py::test_verdicts",),
        (PLANTED, PROMPTS + "test_who_explains_has_solved_and_is_asked_for_observations"),
        "",
    ),
    (
        "2.4.1",
        "Peer Discussion of two judges",
        ("test_ways_of_asking.py::test_discussion",),
        (PLANTED, PROMPTS + "test_a_discussion_reads_the_peer_twice"),
        "two rounds are asked, agreed or not: a chain cannot end early",
    ),
    (
        "2.4.1",
        "Peer Rank from battles",
        ("test_mitigations.py::test_what_if",),
        (OURS + "test_mitigation.py::test_peer_rank_from_choices",),
        "",
    ),
    (
        "3",
        "100 stories",
        ("test_scale_framing.py::test_direction", "test_self_preference.py::test_self_preference"),
        (BUILT + "test_unusable_texts_are_left_out_and_enough_remain",),
        "",
    ),
    (
        "3",
        "any panel rebuilds the items; five providers by one command, cost first",
        (),
        (
            RECORD + "test_the_cost_is_told_without_keys_and_nothing_is_asked",
            RECORD + "test_a_panel_writes_builds_and_grades_by_one_command",
        ),
        "",
    ),
    (
        "3.3",
        "S - R above 0 alone is harmful: the thesis's reading beside ours",
        ("test_self_preference.py::test_published_comparisons",),
        (BIAS + "test_self_preference.py::test_readings_of_the_thesis",),
        "",
    ),
    (
        "3.3, note 9",
        "a word of another language in a text",
        ("test_self_preference.py::test_language_drift",),
        (HAND + "test_another_script_is_found_where_no_other_text_has_it",),
        "a slip into a language of the same script is not found",
    ),
    (
        "4.1",
        "author ranking, fairest judge",
        ("test_self_preference.py::test_rankings",),
        (BIAS + "test_self_preference.py::test_rankings_of_the_thesis",),
        "",
    ),
    (
        "5",
        "nothing rests on pairs that a reconstruction invented",
        (),
        ("known_answers/test_source_fixes.py::",),
        "",
    ),
    (
        "5.1",
        "a jury with some judges inverted, and its reliability",
        ("test_mitigations.py::test_part_inverted_jury",),
        (HAND + "test_inverting_half_a_jury_cancels_a_leaning_to_high_numbers",),
        "",
    ),
    (
        "5.1",
        "pairs: pick the worse",
        ("test_ways_of_asking.py::test_choices",),
        (PLANTED, PROMPTS + "test_the_worse_text_named_is_the_other_one_chosen"),
        "",
    ),
    (
        "issue",
        "expert thresholds for escalation to people",
        ("test_mitigations.py::test_escalation",),
        (HAND + "test_the_threshold_of_escalation_is_set_on_one_half_and_tried_on_the_other",),
        "",
    ),
)
