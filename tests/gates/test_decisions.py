"""Every outcome of a gate, and what must hold whatever the numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates import Gate, GatesError, explain
from recuse.gates.decisions import decide, factor_to_decide
from recuse.gates.limits import Limit
from recuse.schema import Estimates, RecuseError
from recuse.statistics.distributions import Student

WITHIN = '[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
FAMILY = WITHIN + 'family = "task.bias"\n'
POINT = '[bias]\nwithin = [-0.5, 0.5]\ndecide = "point"\nreason = "r"\n'

# half-width of a 95 % interval of ten runs is 2.262 standard errors
CASES = [
    (0.1, 0.1, "pass"),
    (0.9, 0.1, "fail"),
    (-0.9, 0.1, "fail"),
    (0.4, 0.1, "undecided"),
    (0.6, 0.1, "undecided"),
]


@pytest.mark.parametrize(("value", "se", "outcome"), CASES)
def test_the_whole_interval_decides(load, estimate, value, se, outcome):
    verdict = load(WITHIN).decide("bias", estimate(value, se), {"judge": "a"})
    assert verdict.outcome == outcome
    assert bool(verdict) == (outcome == "pass")
    assert verdict.limit == {"within": [-0.5, 0.5]}
    assert verdict.rule == "within [-0.5, +0.5]; the whole 95 % interval must lie inside"


@pytest.mark.parametrize(
    ("limit", "value", "outcome"),
    [("at_least = 0.5", 0.8, "pass"), ("at_least = 0.5", 0.2, "fail"), ("at_least = 0.5", 0.55, "undecided"),
     ("at_most = 0.5", 0.8, "fail"), ("at_most = 0.5", 0.2, "pass"), ("at_most = 0.5", 0.55, "undecided")],
)  # fmt: skip
def test_one_sided_limits(load, estimate, limit, value, outcome):
    verdict = load(f'[g]\n{limit}\nreason = "r"\n').decide("g", estimate(value, 0.1), {})
    assert verdict.outcome == outcome


def test_a_point_gate_decides_on_the_value_and_shows_the_interval(load, estimate):
    verdict = load(POINT + "level = 0.9\n").decide("bias", estimate(0.45, 0.1), {})
    assert verdict.outcome == "pass"
    assert verdict.estimate.level == 0.9
    assert verdict.estimate.high > 0.5
    assert verdict.rule == "within [-0.5, +0.5]; the value itself decides"
    assert load(POINT).decide("bias", estimate(0.55, 0.1), {}).outcome == "fail"
    assert load(POINT).decide("bias", estimate(0.5, 0.0), {}).outcome == "pass"


@pytest.mark.parametrize("text", [WITHIN, POINT])
def test_undefined_is_an_error_and_says_why(load, undefined, text):
    verdict = load(text).decide("bias", undefined(), {"judge": "a"})
    assert verdict.outcome == "error"
    assert not verdict
    assert "all 10 replies were refusals" in explain(verdict)


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_an_infinite_value_is_not_a_measurement(load, estimate, value):
    assert load(POINT).decide("bias", estimate(value, 0.0), {}).outcome == "error"


def test_no_interval_never_passes_even_where_undecided_is_allowed(load, estimate):
    lone = estimate(0.0, 0.0, n=10, note="no run differs from another")
    verdict = load(WITHIN + 'undecided = "allow"\n').decide("bias", lone, {})
    assert verdict.outcome == "undecided"
    assert not verdict.allowed
    assert not verdict
    assert "no interval to decide on (no run differs from another)" in verdict.remedy


def test_allowed_undecided_keeps_the_run_green_and_is_still_called_so(load, estimate):
    verdict = load(WITHIN + 'undecided = "allow"\n').decide("bias", estimate(0.4, 0.1), {})
    assert (verdict.outcome, verdict.allowed, bool(verdict)) == ("undecided", True, True)
    assert not load(WITHIN + 'undecided = "allow"\n').decide("bias", estimate(0.9, 0.1), {})


def test_an_interval_without_its_sampling_is_used_where_it_is_wide_enough(load, estimate):
    fixed = estimate(0.1, 0.1, distribution=None)
    assert load(WITHIN).decide("bias", fixed, {}).outcome == "pass"
    assert load(WITHIN + "level = 0.9\n").decide("bias", fixed, {}).outcome == "pass"
    assert "the whole 95 % interval" in load(WITHIN + "level = 0.9\n").decide("bias", fixed, {}).rule
    narrow = load(WITHIN + "level = 0.99\n").decide("bias", fixed, {})
    assert narrow.outcome == "undecided"
    assert "known only at 95 %, and 99 % is asked for" in narrow.remedy


@dataclass(frozen=True)
class FewDraws:
    """A bootstrap with too few resamples for high levels."""

    def interval(self, level):
        return (-0.1, 0.1) if level <= 0.95 else (math.nan, math.nan)

    def p_value(self, limit, side):
        return 0.5

    def half_width_at(self, factor):
        return 0.1 / math.sqrt(factor)


def test_too_few_resamples_for_the_level_are_undecided_and_show_what_is_known(load, estimate):
    verdict = load(WITHIN + "level = 0.999\n").decide("bias", estimate(0.0, 0.05, distribution=FewDraws()), {})
    assert verdict.outcome == "undecided"
    assert verdict.estimate.level == 0.95
    assert "known only at 95 %, and 99.9 % is asked for" in verdict.remedy


# --------------------------------------------------------------------------- families


def family_of(estimate, values, se=0.05):
    return Estimates(("judge",), {(f"j{i}",): estimate(value, se) for i, value in enumerate(values)})


def test_a_family_is_decided_together_and_printed(load, estimate):
    gates, family = load(FAMILY), family_of(estimate, [0.0, 0.1, 0.9, 0.36])
    verdicts = [gates.decide("bias", family, {"judge": f"j{i}", "panel": "p"}) for i in range(4)]
    # t(.99375, 9) = 3.111: three are settled at 1 - .05 / 4; .36 + 2.262 * .05 = .473 settles the last one alone
    assert [v.outcome for v in verdicts] == ["pass", "pass", "fail", "pass"]
    assert [v.estimate.level for v in verdicts] == [0.9875, 0.9875, 0.9875, 0.95]
    assert verdicts[0].rule == (
        "within [-0.5, +0.5]; the whole 98.75 % interval must lie inside (Holm over 4: task.bias)"
    )
    assert verdicts[0].subject == {"judge": "j0", "panel": "p"}


def test_a_family_can_cost_a_pass(load, estimate):
    values = [0.37] * 4
    assert load(WITHIN).decide("bias", family_of(estimate, values), {"judge": "j0"}).outcome == "pass"
    together = load(FAMILY).decide("bias", family_of(estimate, values), {"judge": "j0"})
    assert together.outcome == "undecided"
    assert together.estimate.level == 0.9875


def test_bonferroni_and_none(load, estimate):
    family = family_of(estimate, [0.0, 0.1])
    bonferroni = load(FAMILY + 'correction = "bonferroni"\n').decide("bias", family, {"judge": "j0"})
    assert bonferroni.estimate.level == 0.975
    assert "(Bonferroni over 2: task.bias)" in bonferroni.rule
    assert load(FAMILY + 'correction = "none"\n').decide("bias", family, {"judge": "j0"}).estimate.level == 0.95


def test_undefined_members_are_left_out_of_the_correction_and_named(load, estimate, undefined):
    family = Estimates(("judge",), {("a",): estimate(0.0, 0.05), ("b",): undefined(), ("c",): estimate(0.3, 0.2)})
    gates = load(FAMILY)
    first = gates.decide("bias", family, {"judge": "a"})
    assert first.estimate.level == 0.975
    assert first.rule.endswith("(Holm over 2: task.bias, 1 undefined left out)")
    assert gates.decide("bias", family, {"judge": "b"}).outcome == "error"


def test_a_lone_estimate_is_refused_where_a_family_is_corrected(load, estimate):
    with pytest.raises(GatesError, match=r"corrects over the family task\.bias, and one lone estimate arrived"):
        load(FAMILY).decide("bias", estimate(0.0, 0.1), {"judge": "a"})


def test_the_subject_must_name_what_was_measured(load, estimate):
    gates = load(WITHIN)
    with pytest.raises(GatesError, match=r"by \(judge\), and the subject lacks judge"):
        gates.decide("bias", family_of(estimate, [0.0]), {"panel": "p"})
    with pytest.raises(RecuseError, match="no estimate for judge=x"):
        gates.decide("bias", family_of(estimate, [0.0]), {"judge": "x"})
    with pytest.raises(GatesError, match=r"decides an Estimate or Estimates; it was given float"):
        gates.decide("bias", 0.3, {"judge": "x"})


def test_an_unknown_gate_names_its_neighbour(load):
    with pytest.raises(GatesError, match=r"no gate bais in .*gates\.toml\. Did you mean bias\?"):
        load(WITHIN).decide("bais", None, {})


# --------------------------------------------------------------------------- whatever the numbers

LIMITS = [{"within": (-0.5, 0.5)}, {"at_least": 0.2}, {"at_most": 0.2}]
values, errors = st.floats(-2, 2), st.floats(1e-3, 1)
rules = st.sampled_from(LIMITS)


def gate_of(limit, **keys):
    return Gate.model_validate({**limit, "reason": "r", **keys})


@given(rules, values, errors, st.floats(0.1, 1))
def test_a_sharper_interval_never_turns_a_decision_around(estimate, limit, value, se, factor):
    before = decide(gate_of(limit), estimate(value, se)).outcome
    after = decide(gate_of(limit), estimate(value, se * factor)).outcome
    assert before in (after, "undecided")


@given(rules, values, errors, st.floats(0.5, 0.999), st.floats(0.5, 0.999))
def test_a_higher_level_never_decides_more(estimate, limit, value, se, one, other):
    low, high = sorted((one, other))
    sure = decide(gate_of(limit, level=high), estimate(value, se)).outcome
    assert sure in (decide(gate_of(limit, level=low), estimate(value, se)).outcome, "undecided")


@given(rules, values, errors)
def test_a_decided_interval_agrees_with_the_point(estimate, limit, value, se):
    whole = decide(gate_of(limit), estimate(value, se)).outcome
    assert whole in (decide(gate_of(limit, decide="point"), estimate(value, se)).outcome, "undecided")


@given(values, errors)
def test_mirrored_numbers_get_mirrored_decisions(estimate, value, se):
    up, down = gate_of({"at_least": 0.2}), gate_of({"at_most": -0.2})
    assert decide(up, estimate(value, se)).outcome == decide(down, estimate(-value, se)).outcome


@given(rules, st.lists(st.tuples(values, errors), min_size=1, max_size=8))
def test_the_interval_shown_agrees_with_the_decision(estimate, limit, members):
    family = Estimates(("judge",), {(str(i),): estimate(v, se) for i, (v, se) in enumerate(members)})
    gate = gate_of(limit, family="f")
    for member in family.values():
        decision = decide(gate, member, family)
        shown = decision.estimate
        assert decision.outcome == (
            "pass" if gate.bound.encloses(shown.low, shown.high)
            else "fail" if gate.bound.excludes(shown.low, shown.high)
            else "undecided"
        )  # fmt: skip
        alone = decide(gate_of(limit), member).outcome
        assert decision.outcome in (alone, "undecided")


# --------------------------------------------------------------------------- how many would decide


@given(rules, values, errors, st.integers(3, 60))
def test_the_forecast_number_decides_and_far_fewer_do_not(estimate, limit, value, se, n):
    gate, now = gate_of(limit), estimate(value, se, n)
    if decide(gate, now).outcome != "undecided":
        return
    factor = factor_to_decide(gate.bound, now)
    if factor == math.inf:
        assert abs(gate.bound.excess(value)) <= now.distribution.half_width_at(100.0)
        return

    def at(times):
        law = Student(value, se / math.sqrt(times), (n - 1) * times)
        return gate.bound.settled_by(*law.interval(0.95))

    assert at(factor)
    assert not at(factor * 0.99)


def test_a_value_on_the_bound_has_no_number_that_decides(estimate):
    assert factor_to_decide(Limit.of({"at_most": 0.5}), estimate(0.5, 0.1)) == math.inf


def test_a_method_that_cannot_tell_says_so(load, estimate):
    class Silent(FewDraws):
        def half_width_at(self, factor):
            return None

    unsure = estimate(0.4, 0.1, distribution=Silent())
    assert factor_to_decide(Limit.of({"at_most": 0.5}), unsure) is None
    assert "how many is not known" in load(WITHIN).decide("bias", unsure, {}).remedy
    assert factor_to_decide(Limit.of({"at_most": 0.5}), estimate(0.4, 0.1, distribution=None)) is None
