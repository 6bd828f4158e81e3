"""Measures of what another way of asking changes: hand arithmetic, what leaves them where they are, what is
undefined."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from recuse.papers.self_preference import (
    choice_changes,
    defences,
    labelled_texts,
    published_tests,
    scale_framing,
    self_knowledge,
)
from recuse.ratings import Numeric, Ordinal, Ratings

SCALE = Numeric(1, 5, 1)
ITEMS = [f"i{number}" for number in range(12)]


# --------------------------------------------------------------------------- wording and direction


def worded(scores: dict[tuple[str, str], list[float]]) -> Ratings:
    rows = [
        ("j", item, word, way, score)
        for (word, way), given in scores.items()
        for item, score in zip(ITEMS, given, strict=False)
    ]
    frame = pd.DataFrame(rows, columns=["judge", "item", "wording", "direction", "score"])
    return Ratings.of(frame, scales=SCALE)


def test_wording_by_hand() -> None:
    """On the ascending scale: quality 4 4 / 4 4, badness 3 3 / 4 4. Wording (-1 + 0) / 2, direction (0 + 1) / 2,
    interaction 1 - 0."""
    ratings = worded({
        ("quality", "ascending"): [4, 4], ("quality", "reversed"): [2, 2],
        ("badness", "ascending"): [3, 3], ("badness", "reversed"): [2, 2],
    })  # fmt: skip
    found = scale_framing.wording_effect(ratings)
    values = {effect: found.of(judge="j", effect=effect).value for effect in ("wording", "direction", "interaction")}
    assert values == {"wording": -0.5, "direction": 0.5, "interaction": 1.0}
    flips = scale_framing.wording_flip(ratings).of(judge="j")
    assert flips.value == -0.5  # same number in one direction (-1), neither same nor mirrored in the other (0)


def test_a_word_that_turns_the_scale_shows_in_numbers_and_not_in_means() -> None:
    """Grades 1 to 5 evenly, mirrored where badness is asked for: every mean stays at 3."""
    up = [1.0, 2, 4, 5]
    down = [6 - score for score in up]
    ratings = worded({
        ("quality", "ascending"): up, ("quality", "reversed"): down,
        ("badness", "ascending"): down, ("badness", "reversed"): up,
    })  # fmt: skip
    assert scale_framing.wording_effect(ratings).of(judge="j", effect="wording").value == 0.0
    assert scale_framing.wording_flip(ratings).of(judge="j").value == 1.0


def test_the_middle_is_its_own_mirror_image_and_says_nothing() -> None:
    """Of 3 4 on 1 to 5 only the 4 can be mirrored: it is, under badness, and the 3 that stays 3 dilutes nothing."""
    up, down = [3.0, 4], [3.0, 2]
    ratings = worded({
        ("quality", "ascending"): up, ("quality", "reversed"): down,
        ("badness", "ascending"): down, ("badness", "reversed"): up,
    })  # fmt: skip
    assert scale_framing.wording_flip(ratings).of(judge="j").value == 1.0


def test_one_word_is_no_comparison() -> None:
    ratings = worded({("quality", "ascending"): [4, 4], ("quality", "reversed"): [2, 2]})
    assert not scale_framing.wording_effect(ratings).of(judge="j", effect="wording").defined
    assert not scale_framing.wording_flip(ratings).of(judge="j").defined


# --------------------------------------------------------------------------- before and after, against what is true


def asked(before: list[float], after: list[float], true: list[float], tokens: tuple[float, float]) -> Ratings:
    rows = [
        ("j", item, prompt, criterion, score)
        for prompt, given, count in (("plain", before, tokens[0]), ("solved", after, tokens[1]))
        for item, value in zip(ITEMS, given, strict=False)
        for criterion, score in (("rating", value), ("rating.tokens", count))
    ]
    frame = pd.DataFrame(rows, columns=["judge", "item", "prompt", "criterion", "score"])
    texts = pd.DataFrame({"item": ITEMS[: len(true)], "target": "", "true_rating": true})
    scales = {"rating": SCALE, "rating.tokens": Numeric(0, 1e6)}
    return Ratings.of(frame, scales=scales, factors=["prompt"], headline=["rating"], texts=texts)


def test_error_change_by_hand() -> None:
    """Errors 2 0 1 before, 0 1 0 after: means 1 and 1/3; twice the tokens."""
    ratings = asked([3, 2, 5], [5, 3, 4], [5, 2, 4], (100, 200))
    found = labelled_texts.error_change(ratings).of(judge="j", prompt="solved")
    assert found.value == pytest.approx(-2 / 3)
    assert (found.detail["before"], found.detail["after"]) == (1.0, pytest.approx(1 / 3))
    assert (found.detail["tokens_before"], found.detail["tokens_after"], found.detail["times"]) == (100, 200, 2.0)
    errors = labelled_texts.error_by_prompt(ratings)
    assert [errors.of(judge="j", prompt=p).value for p in ("plain", "solved")] == [1.0, pytest.approx(1 / 3)]


def test_agreeing_with_peers_is_no_error_change() -> None:
    """Without true scores there is no yardstick: what peers say does not become one."""
    ratings = asked([3, 2], [3, 3], [], (1, 1))
    assert not labelled_texts.error_change(ratings).of(judge="j", prompt="solved").defined
    assert labelled_texts.score_change(ratings).of(judge="j", prompt="solved").value == 0.5


# --------------------------------------------------------------------------- overconfidence


def verdicts(skill: float, generous: float, slip: float, boast: float, seed: int, items: int = 400) -> Ratings:
    """A judge of own answers (right with `skill`) and of two others' (right half the time): it slips, says yes for no
    reason, and boasts of its own."""
    rng = np.random.default_rng(seed)
    rows, texts = [], []
    for number in range(items):
        for target, chance in (("own", skill), ("b", 0.5), ("c", 0.5)):
            right = rng.random() < chance
            said = right != (rng.random() < slip)
            said = said or rng.random() < generous or (target == "own" and rng.random() < boast)
            rows.append(("j", f"i{number}", target, "yes" if said else "no"))
            texts.append((f"i{number}", target, int(right)))
    frame = pd.DataFrame(rows, columns=["judge", "item", "target", "response"])
    known = pd.DataFrame(texts, columns=["item", "target", "true_rating"])
    return Ratings.of(frame, scales=Ordinal(("no", "yes")), authors={"j": "own"}, texts=known)


@pytest.mark.parametrize(("skill", "generous", "slip"), [(0.9, 0.0, 0.02), (0.1, 0.4, 0.2), (0.9, 0.0, 0.3)])
def test_overconfidence_knows_skill_leniency_and_noise(skill: float, generous: float, slip: float) -> None:
    """A judge that treats its own answers as others' is not overconfident, whatever else it is; one that boasts is."""
    fair = self_knowledge.overconfidence(verdicts(skill, generous, slip, 0.0, 1)).of(judge="j")
    assert fair.low <= 0 <= fair.high
    assert abs(fair.value) < 0.08
    boasts = self_knowledge.overconfidence(verdicts(skill, generous, slip, 0.8, 2)).of(judge="j")
    assert boasts.low > 0
    assert boasts.detail["accepts_own"] > boasts.detail["accepts_others"] + 0.2
    assert fair.detail["capability"] == pytest.approx(skill, abs=0.05)


def test_intervals_of_overconfidence_end_where_a_difference_of_grades_ends() -> None:
    """Of three items the jackknife's reached beyond 1 in six of ten; it covers as often without that."""
    found = [
        self_knowledge.overconfidence(verdicts(0.7, 0.1, 0.15, 0.5, seed, items=3)).of(judge="j") for seed in range(20)
    ]
    known = [one for one in found if np.isfinite(one.low)]
    assert len(known) > 10
    assert all(-1 <= one.low <= one.value <= one.high <= 1 for one in known)
    assert any(one.high == 1 and one.value < 1 for one in known)


@pytest.mark.slow
def test_intervals_of_overconfidence_cover() -> None:
    """Forty fair judges: an interval of 95 % misses 0 in at most six of them but once in 1,500 such series."""
    missed = 0
    for seed in range(40):
        found = self_knowledge.overconfidence(verdicts(0.7, 0.1, 0.15, 0.0, 100 + seed)).of(judge="j")
        missed += not found.low <= 0 <= found.high
    assert missed <= 6


# --------------------------------------------------------------------------- recognition


def test_who_knows_its_texts_and_favours_them() -> None:
    """Four judges that know 0, 1/3, 2/3 and all of their texts, and favour them by 0, 1, 2 and 3 points."""
    names = "wxyz"
    met, told, scored = [], [], []
    for rank, judge in enumerate(names):
        for number in range(3):
            pair = f"{judge}{number}"
            for name in names:
                mine = name == judge and number < rank
                met.append((name, pair, "first" if mine else "second"))
            told.append((pair, judge, f"other-{judge}", f"i{number}"))
    for number in range(3):
        for rank, judge in enumerate(names):
            scored += [(judge, f"i{number}", target, 1.0 + rank * (target == judge)) for target in names]
    scores = Ratings.of(pd.DataFrame(scored, columns=["judge", "item", "target", "score"]), scales=SCALE,
                        authors={name: name for name in names})  # fmt: skip
    frame = pd.DataFrame(met, columns=["judge", "item", "response"])
    texts = pd.DataFrame(told, columns=["item", "a", "b", "cluster"])
    pairs = Ratings.of(frame, texts=texts, authors={name: name for name in names}, beside={"scores": scores}.get)
    known = self_knowledge.recognised_in_pairs(pairs)
    shares = [known.of(judge=name, against="chance").detail["share"] for name in names]
    assert shares == pytest.approx([0, 1 / 3, 2 / 3, 1])
    always = known.of(judge=names[-1], against="chance")
    assert (always.value, always.high) == (0.5, 0.5), "a share is at most one half beyond chance"
    together = self_knowledge.recognition_and_preference(pairs).of()
    assert together.value == pytest.approx(1.0)
    assert together.detail["p"] == pytest.approx(2 / 24)  # all orders of four: this one and its mirror image


# --------------------------------------------------------------------------- discussion


def test_giving_in_is_taking_what_the_peer_said_first() -> None:
    """Two pairs that x and y decide otherwise before they talk. On the first x comes round; on the second both change
    their minds, which is giving in although they still differ."""
    said = {"first_choice": {"x": "aa", "y": "bb"}, "winner": {"x": "bb", "y": "ba"}}
    places = {"a": "first", "b": "second"}
    rows = [(judge, f"i{k}", criterion, places[choice]) for criterion, by in said.items()
            for judge, choices in by.items() for k, choice in enumerate(choices)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["judge", "item", "criterion", "response"])
    texts = pd.DataFrame({"item": ["i0", "i1"], "a": "p", "b": "q"})
    found = choice_changes.discussion_change(Ratings.of(frame, headline=["winner"], texts=texts))
    by_judge = [found.of(judge=judge, of="agreement").detail for judge in "xy"]
    assert [one["gave_in"] for one in by_judge] == [1.0, 0.5]
    assert [(one["before"], one["after"]) for one in by_judge] == [(0.0, 0.5)] * 2


# --------------------------------------------------------------------------- defences, scripts, juries, escalation


def test_channels_by_hand() -> None:
    """Two payloads: one lifts inline alone, one in both; a third has no room above its twin."""
    rows = [("c", 2, 2), ("d", 5, 5), ("p", 5, 2), ("q", 4, 3), ("r", 5, 5)]
    ways = ("inline", "separate")
    given = [("j", item, way, score) for item, *scores in rows for way, score in zip(ways, scores, strict=True)]
    frame = pd.DataFrame(given, columns=["judge", "item", "channel", "score"])
    texts = pd.DataFrame({"item": list("cdpqr"), "target": "", "clean": [None, None, "c", "c", "d"],
                          "payload": [None, None, "p", "q", "r"]})  # fmt: skip
    ratings = Ratings.of(frame, scales=SCALE, texts=texts)
    by = defences.success_by_channel(ratings)
    assert [by.of(judge="j", channel=way).value for way in ("inline", "separate")] == [1.0, 0.5]
    assert by.of(judge="j", channel="inline").detail["ceiling"] == 1
    assert defences.channel_change(ratings).of(judge="j").value == -0.5


def test_another_script_is_found_where_no_other_text_has_it() -> None:
    frame = pd.DataFrame({"judge": "j", "item": list("iikk"), "target": list("abab"), "score": 3.0})
    said = ["A \u6865 opened.", "A bridge.", "\u041c\u043e\u0441\u0442.", "\u041c\u043e\u0441\u0442 A."]
    texts = frame[["item", "target"]].assign(text=said)
    found = published_tests.language_drift(Ratings.of(frame, texts=texts))
    assert [found.of(target=name).value for name in "ab"] == [0.5, 0.5]
    assert found.of(target="a").detail["items"] == {"i": ["CJK"]}


def test_inverting_half_a_jury_cancels_a_leaning_to_high_numbers() -> None:
    """Four judges that see the same and lean to high numbers by a point where a text is hard to read: asked one way all
    make the same error, which half of them make the other way where the scale is turned."""
    rng = np.random.default_rng(7)
    worth = rng.uniform(2, 4, 40)
    lean = rng.uniform(0, 1, 40)
    rows = [
        (f"j{judge}", f"i{number:02}", way, written + lean[number] + 0.2 * rng.normal())
        for judge in range(4)
        for number in range(40)
        for way, written in (("ascending", worth[number]), ("reversed", 6 - worth[number]))
    ]
    frame = pd.DataFrame(rows, columns=["judge", "item", "direction", "score"])
    texts = pd.DataFrame({"item": [f"i{n:02}" for n in range(40)], "target": "", "true_rating": worth})
    ratings = Ratings.of(frame, scales=Numeric(0, 6), texts=texts)
    error = scale_framing.jury_error(ratings)
    assert error.of(jury="change").high < -0.2
    assert error.of(jury="part_inverted").value < error.of(jury="ascending").value / 3
    reliable = scale_framing.jury_reliability(ratings)
    assert reliable.of(jury="change").value < 0  # members that share an error agree: that is not nearness to truth


def test_alpha_is_the_textbook_one() -> None:
    scores = np.array([[1.0, 2, 3, 4], [2, 2, 4, 5], [1, 3, 3, 5]])
    members, total = scores.var(axis=1, ddof=1).sum(), scores.sum(axis=0).var(ddof=1)
    assert scale_framing.alpha(scores) == pytest.approx(1.5 * (1 - members / total))
    assert math.isnan(scale_framing.alpha(np.ones((3, 4))))


def test_criteria_are_chosen_on_one_fold_and_tested_on_the_other() -> None:
    """List "fits" follows the labels of the texts that choose and turns those of the others round; "holds" does the
    opposite. The first is chosen, and told to be 2 points worse than the given criteria where it is tested."""
    labels = [1.0, 3, 5, 1, 3, 5]
    scores = {"given": labels, "fits": [1.0, 3, 5, 4, 3, 2], "holds": [3.0, 3, 2, 1, 3, 5]}
    rows = [(c, i, s) for c, given in scores.items() for i, s in zip(ITEMS, given, strict=False)]
    frame = pd.DataFrame(rows, columns=["criteria", "item", "score"]).assign(judge="j")
    texts = pd.DataFrame({"item": ITEMS[:6], "target": "", "true_rating": labels,
                          "fold": ["calibration"] * 3 + ["held_out"] * 3})  # fmt: skip
    ratings = Ratings.of(frame, scales=SCALE, factors=["criteria"], texts=texts)
    found = labelled_texts.calibrated_criteria(ratings).of(judge="j")
    assert (found.detail["chosen"], found.detail["calibration"]["fits"]) == ("fits", 1.0)
    assert found.value == found.detail["after"] - found.detail["before"] == 2.0


def test_the_threshold_of_escalation_is_set_on_one_half_and_tried_on_the_other() -> None:
    """Of eight texts the answer is that of one of the seventy ways to halve them, worked out anew, and the same one
    whatever the texts are called."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        ranges, errors = rng.choice([0.0, 1, 2], 8), rng.choice([0, 0.25, 0.5, 1, 2], 8)
        said = {"x": 3 + ranges / 2, "y": 3 - ranges / 2}
        given = []
        for names in ("abcdefgh", "hfbdagce"):
            frame = pd.DataFrame([(j, i, s) for j, scores in said.items() for i, s in zip(names, scores, strict=True)],
                                 columns=["judge", "item", "score"])  # fmt: skip
            texts = pd.DataFrame({"item": list(names), "target": "", "true_rating": 3 + errors})
            ratings = Ratings.of(frame.sort_values("item"), scales=SCALE, texts=texts)
            detail = labelled_texts.escalation(ratings).of().detail
            figures = ("threshold", "escalated", "before", "after")
            given.append([round(detail.get(name, math.nan), 9) for name in figures])
        ways = [halved(ranges, errors, half) for half in itertools.combinations(range(8), 4)]
        assert given[0] == pytest.approx(given[1], nan_ok=True)
        assert any(given[0] == pytest.approx(way, nan_ok=True) for way in ways)


def halved(ranges, errors, half):
    """Threshold, share handed on, error of all and of what is kept, where `half` sets the threshold."""
    good = [r for r in {ranges[k] for k in half}
            if np.mean([errors[k] for k in half if ranges[k] <= r]) <= 0.4]  # fmt: skip
    threshold = max(good, default=min(ranges[k] for k in half))
    rest = [k for k in range(len(ranges)) if k not in half]
    kept = [errors[k] for k in rest if ranges[k] <= threshold]
    before = float(np.mean([errors[k] for k in rest]))
    after = float(np.mean(kept)) if kept else math.nan
    return tuple(round(n, 9) for n in (threshold, 1 - len(kept) / len(rest), before, after))


def test_padding_won_where_nothing_is_said_of_length_lies_above_zero() -> None:
    """b is longer in the first pair, a in the second; the judge takes the longer one unless it is told not to."""
    bare = [("uninstructed", "p", "second"), ("uninstructed", "q", "first")]
    rows = [("plain", "p", "tie"), ("plain", "q", "tie"), *bare]
    frame = pd.DataFrame(rows, columns=["prompt", "item", "response"]).assign(judge="j")
    texts = pd.DataFrame({"item": ["p", "q"], "a": "s", "b": "t", "words_a": [10, 30], "words_b": [20, 15]})
    ratings = Ratings.of(frame, factors=["prompt"], texts=texts)
    assert choice_changes.padding_change(ratings).of(judge="j", prompt="uninstructed").value == 0.5


def test_a_text_of_which_nothing_is_known_is_none_that_was_lost() -> None:
    rows = [("j", item, prompt, 3.0) for item in ITEMS[:2] for prompt in ("plain", "solved")]
    frame = pd.DataFrame(rows, columns=["judge", "item", "prompt", "score"])
    texts = pd.DataFrame({"item": ITEMS[:2], "target": "", "true_rating": [2.0, None]})
    found = labelled_texts.error_by_prompt(Ratings.of(frame, scales=SCALE, texts=texts, factors=["prompt"]))
    plain = found.of(judge="j", prompt="plain")
    assert (plain.value, plain.n, plain.n_excluded) == (1.0, 1, 0)
