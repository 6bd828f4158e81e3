"""Everything that was measured is decided at once, and corrected together as the gates file says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates import Gate, GatesError
from recuse.gates.families import decide_together, members_of
from recuse.schema import Estimates, RecuseError

WITHIN = '[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
FAMILY = WITHIN + 'family = "bias"\n'
BY_NAMES = FAMILY + 'corrected_within = ["names"]\n'
WHERE = {"panel": "p", "task": "t"}


def family_of(estimate, values, se=0.05):
    return Estimates(("judge",), {(f"j{i}",): estimate(value, se) for i, value in enumerate(values)})


def both_names(estimate, shown, hidden, se=0.05):
    levels = {"shown": shown, "hidden": hidden}
    return Estimates(
        ("judge", "names"),
        {(f"j{i}", name): estimate(v, se) for name, values in levels.items() for i, v in enumerate(values)},
    )


def test_every_member_has_a_verdict_and_its_own_subject(load, estimate):
    verdicts = load(FAMILY).decide("bias", family_of(estimate, [0.0, 0.9]), WHERE)
    assert [dict(v.subject) for v in verdicts] == [WHERE | {"judge": "j0"}, WHERE | {"judge": "j1"}]
    assert [v.outcome for v in verdicts] == ["pass", "fail"]
    assert not verdicts
    assert verdicts[:1]


def test_a_family_is_decided_together_and_printed(load, estimate):
    verdicts = load(FAMILY).decide("bias", family_of(estimate, [0.0, 0.1, 0.9, 0.36]), WHERE)
    # t(.99375, 9) = 3.111: three are settled at 1 - .05 / 4; .36 + 2.262 * .05 = .473 settles the last one alone
    assert [v.outcome for v in verdicts] == ["pass", "pass", "fail", "pass"]
    assert [v.estimate.level for v in verdicts] == [0.9875, 0.9875, 0.9875, 0.95]
    assert verdicts[0].rule.sentence == (
        "within [-0.5, +0.5]; the whole 98.75 % interval must lie inside (Holm over 4: bias)"
    )


def test_a_family_can_cost_a_pass(load, estimate):
    family = family_of(estimate, [0.37] * 4)
    assert load(WITHIN).decide("bias", family, WHERE)[0].outcome == "pass"
    together = load(FAMILY).decide("bias", family, WHERE)[0]
    assert (together.outcome, together.estimate.level) == ("undecided", 0.9875)


def test_each_level_of_corrected_within_is_a_family_of_its_own(load, estimate):
    """Two judges within each level: 97.5 %; all four together would be asked for at 98.75 %."""
    measured = both_names(estimate, [0.0, 0.1], [0.9, 0.0])
    apart = load(BY_NAMES).decide("bias", measured, WHERE)
    assert {v.estimate.level for v in apart} == {0.975}
    together = load(FAMILY).decide("bias", measured, WHERE)
    assert {v.estimate.level for v in together} == {0.9875}


def test_families_of_one_gate_print_different_names(load, estimate):
    verdicts = load(BY_NAMES).decide("bias", both_names(estimate, [0.0, 0.1], [0.9, 0.0]), WHERE)
    assert {v.subject["names"]: str(v.rule.family) for v in verdicts} == {
        "shown": "bias, names shown",
        "hidden": "bias, names hidden",
    }
    assert "(Holm over 2: bias, names shown)" in verdicts.of(judge="j0", names="shown").rule.sentence


def test_a_factor_of_the_subject_tells_one_measurement_from_another(load, estimate):
    (verdict, *_) = load(FAMILY).decide("bias", family_of(estimate, [0.0, 0.1]), {"asked": "duels", **WHERE})
    assert str(verdict.rule.family) == "bias, asked duels"


def test_filtering_before_or_after_measuring_gives_the_same_decisions(load, estimate):
    shown, hidden = [0.0, 0.37, 0.9], [0.1, 0.2, 0.36]
    at_once = load(BY_NAMES).decide("bias", both_names(estimate, shown, hidden), WHERE)
    alone = load(BY_NAMES).decide("bias", family_of(estimate, shown), {"names": "shown", **WHERE})
    for verdict in alone:
        twin = at_once.of(judge=verdict.subject["judge"], names="shown")
        assert (twin.outcome, twin.estimate, twin.rule) == (verdict.outcome, verdict.estimate, verdict.rule)


def test_a_factor_that_the_ratings_lack_splits_nothing(load, estimate):
    verdicts = load(BY_NAMES).decide("bias", family_of(estimate, [0.0, 0.1]), WHERE)
    assert {str(v.rule.family) for v in verdicts} == {"bias"}


def test_choosing_what_is_shown_changes_no_decision(load, estimate):
    family = family_of(estimate, [0.37] * 4)
    together = load(FAMILY).decide("bias", family, WHERE)
    (chosen,) = together.only(lambda subject: subject["judge"] == "j2")
    assert chosen is together[2]
    assert chosen.outcome == "undecided"


def test_bonferroni_and_none(load, estimate):
    family = family_of(estimate, [0.0, 0.1])
    bonferroni = load(FAMILY + 'correction = "bonferroni"\n').decide("bias", family, WHERE)[0]
    assert bonferroni.estimate.level == 0.975
    assert "(Bonferroni over 2: bias)" in bonferroni.rule.sentence
    none = load(FAMILY + 'correction = "none"\n').decide("bias", family, WHERE)[0]
    assert (none.estimate.level, none.rule.family) == (0.95, None)


def test_undefined_members_are_left_out_of_the_correction_and_named(load, estimate, undefined):
    family = Estimates(("judge",), {("a",): estimate(0.0, 0.05), ("b",): undefined(), ("c",): estimate(0.3, 0.2)})
    first, second, _ = load(FAMILY).decide("bias", family, WHERE)
    assert first.estimate.level == 0.975
    assert first.rule.sentence.endswith("(Holm over 2: bias, 1 undefined left out)")
    assert second.outcome == "not measured"


def test_a_lone_estimate_has_one_verdict(load, estimate):
    verdicts = load(WITHIN).decide("bias", estimate(0.0, 0.1), WHERE)
    assert [(dict(v.subject), v.outcome) for v in verdicts] == [(WHERE, "pass")]


def test_a_lone_estimate_is_refused_where_a_family_is_corrected(load, estimate):
    with pytest.raises(GatesError, match=r"corrects over the family bias, and one lone estimate arrived"):
        load(FAMILY).decide("bias", estimate(0.0, 0.1), {"judge": "a"})


def test_the_subject_may_not_name_what_was_measured_by(load, estimate):
    with pytest.raises(GatesError, match=r"by \(judge\), and each member has a verdict of its own; leave judge out"):
        load(WITHIN).decide("bias", family_of(estimate, [0.0]), {"judge": "j0"})


def test_only_estimates_are_decided(load):
    with pytest.raises(GatesError, match=r"decides an Estimate or Estimates; it was given float"):
        load(WITHIN).decide("bias", 0.3, WHERE)


def test_nothing_measured_never_passes(load):
    with pytest.raises(GatesError, match=r"given nothing to decide: the measure found no \(judge\)"):
        load(WITHIN).decide("bias", Estimates(("judge",), {}), WHERE)


def test_an_unknown_gate_names_its_neighbour(load, estimate):
    with pytest.raises(GatesError, match=r"no gate bais in .*gates\.toml\. Did you mean bias\?"):
        load(WITHIN).decide("bais", estimate(0.0, 0.1), WHERE)


def test_the_verdict_on_one_subject(load, estimate):
    verdicts = load(WITHIN).decide("bias", both_names(estimate, [0.0], [0.9]), WHERE)
    assert verdicts.of(names="hidden").outcome == "fail"
    with pytest.raises(RecuseError, match="2 verdicts for judge=j0, and one is wanted"):
        verdicts.of(judge="j0")


def test_whether_a_known_fault_blocks_comes_with_the_measure(load, estimate):
    assert load(WITHIN).decide("bias", estimate(0.0, 0.1), WHERE)[0].blocks
    both = Estimates(("judge",), {("a",): estimate(0.0, 0.1), ("b",): estimate(0.0, 0.1, metric="reported_total")})
    decided = load(WITHIN).decide("bias", both, WHERE, blocks=lambda metric: metric != "reported_total")
    assert [verdict.blocks for verdict in decided] == [True, False]


def test_whether_anybody_asked_for_the_truth_is_known(load, estimate):
    verdicts = load(WITHIN).decide("bias", estimate(0.9, 0.1), WHERE)
    assert (verdicts.stays_green, verdicts.asserted) == (False, False)
    assert not verdicts
    assert verdicts.asserted
    assert repr(verdicts) == "<gate bias: fail>"


LIMITS = [{"within": (-0.5, 0.5)}, {"at_least": 0.2}, {"at_most": 0.2}]
MEMBERS = st.lists(st.tuples(st.floats(-2, 2), st.floats(1e-3, 1)), min_size=1, max_size=8)


@given(st.sampled_from(LIMITS), MEMBERS)
def test_the_interval_shown_agrees_with_the_decision(estimate, limit, members):
    family = Estimates(("judge",), {(str(i),): estimate(v, se) for i, (v, se) in enumerate(members)})
    gate = Gate.model_validate({**limit, "family": "f", "reason": "r"})
    uncorrected = Gate.model_validate({**limit, "reason": "r"})
    (together,) = members_of("g", gate, family, {}).values()
    (alone,) = members_of("g", uncorrected, family, {}).values()
    decisions = [decision for _, decision, _ in decide_together(gate, together, {})]
    for decision, (_, by_itself, _) in zip(decisions, decide_together(uncorrected, alone, {}), strict=True):
        shown = decision.estimate
        assert decision.outcome == (
            "pass" if gate.bound.encloses(shown.low, shown.high)
            else "fail" if gate.bound.excludes(shown.low, shown.high)
            else "undecided"
        )  # fmt: skip
        assert decision.outcome in (by_itself.outcome, "undecided")
