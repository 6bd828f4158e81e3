"""Everything that was measured is decided at once, and corrected together as the gates file says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates import Gate, GatesError
from recuse.gates.gate_set import decide_together, members_of
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.statistics.distributions import Student

WITHIN = '[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
TWO = WITHIN + '[other]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
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
    verdicts = load(WITHIN).decide("bias", family_of(estimate, [0.0, 0.9]), WHERE)
    assert [dict(v.subject) for v in verdicts] == [WHERE | {"judge": "j0"}, WHERE | {"judge": "j1"}]
    assert [v.outcome for v in verdicts] == ["pass", "fail"]
    assert not verdicts
    assert verdicts[:1]


def test_a_pass_is_decided_at_the_gates_level_a_fail_at_one_that_counts_the_judges(load, estimate):
    """Ten runs: t(.975, 9) = 2.262; of four judges the first to fail needs 1 - 2 (.05 / 4): t(.9875, 9) = 2.685."""
    verdicts = load(WITHIN).decide("bias", family_of(estimate, [0.0, 0.38, 0.62, 0.64]), WHERE)
    assert [v.outcome for v in verdicts] == ["pass", "pass", "undecided", "fail"]
    # the next needs 1 - 2 (.05 / 3): t(1 - .05 / 3, 9) = 2.510, and 0.62 - 2.510 * 0.05 < 0.5 < 0.63 - 2.510 * 0.05
    assert load(WITHIN).decide("bias", family_of(estimate, [0.0, 0.38, 0.63, 0.64]), WHERE)[2].outcome == "fail"
    assert [v.estimate.level for v in verdicts] == pytest.approx([0.95, 0.95, 0.9667, 0.975], abs=1e-4)


def test_more_judges_never_cost_a_pass(load, estimate):
    """A judge is cleared only if all its gates pass, so passes need no correction."""
    for others in (0, 3, 30):
        verdict = load(WITHIN).decide("bias", family_of(estimate, [0.38, *[0.0] * others]), WHERE)[0]
        assert (verdict.outcome, verdict.estimate.level) == ("pass", 0.95)


def test_more_judges_make_it_harder_to_fail(load, estimate):
    alone, among = (load(WITHIN).decide("bias", family_of(estimate, [0.63, *[0.0] * n]), WHERE)[0] for n in (0, 30))
    assert (alone.outcome, among.outcome) == ("fail", "undecided")
    assert among.estimate.low < 0.5 < among.estimate.high


USES = """
[use.grade]
yardstick = ["bias"]
decides = ["other", "shared"]

[use.rank]
yardstick = ["order"]
decides = ["shared"]
"""


def gates_of(*names):
    return "".join(WITHIN.replace("bias", name) for name in names)


def test_without_uses_the_runs_error_rate_is_split_over_all_gates_by_weight(load):
    assert load(WITHIN).alpha("bias") == 0.05
    assert load(TWO).alpha("bias") == 0.025
    assert load(TWO + "weight = 4\n").alpha("bias") == pytest.approx(0.01)
    assert load("[run]\nfalse_fail = 0.1\n" + TWO).alpha("other") == 0.05
    point = WITHIN + '[parts]\nat_most = 0\ndecide = "point"\nreason = "r"\n'
    assert (load(point).alpha("bias"), load(point).alpha("parts")) == (0.05, 0.0)


def test_of_a_use_four_fifths_are_split_over_its_gates_and_one_over_all_conditions(load):
    gates = load(USES + gates_of("bias", "other", "shared", "order", "injection", "drift"))
    assert {name: gates.alpha(name) for name in gates} == pytest.approx({
        "bias": 0.04 / 3, "other": 0.04 / 3, "order": 0.02, "injection": 0.005, "drift": 0.005,
        "shared": 0.04 / 3,  # of two uses, the smaller share: it keeps the promise of both
    })  # fmt: skip
    for use in gates.uses.values():
        deciding = {*use.gates, *gates.conditions}
        assert sum(gates.alpha(name) for name in deciding) <= gates.run.false_fail + 1e-9


def test_a_gate_more_in_one_use_or_among_conditions_moves_no_level_of_another_use(load):
    names = ("bias", "other", "shared", "order", "injection")
    before = load(USES + gates_of(*names))
    more = load(USES.replace('["order"]', '["order", "new"]') + gates_of(*names, "new"))
    condition = load(USES + gates_of(*names, "new"))
    for name in ("bias", "other", "shared"):
        assert more.alpha(name) == before.alpha(name)
        assert condition.alpha(name) == before.alpha(name)
    assert condition.alpha("order") == before.alpha("order") > more.alpha("order")
    assert condition.alpha("injection") < before.alpha("injection")


def test_no_verdict_depends_on_what_else_runs(load, estimate):
    gates = load(TWO)
    records = [gates.decide("bias", family_of(estimate, [0.0]), {"panel": p})[0].record() for p in "abc"]
    assert {record["rule"]["fail_level"] for record in records} == {0.95}


def test_no_two_families_print_the_same_name(load, estimate):
    gates = load(TWO)
    places = [{"panel": p, "task": "t", "protocol": q, "asked": a} for p in "ab" for q in "xy" for a in "12"]
    families = [gates.decide(g, family_of(estimate, [0.0]), place)[0].rule["family"] for g in gates for place in places]
    assert len({(one["name"], *sorted(one["within"].items())) for one in families}) == len(families) == 16


def test_levels_of_a_factor_are_one_family(load, estimate):
    """Names shown and hidden are judged together: there is one name, and one share of the error rate."""
    verdicts = load(WITHIN).decide("bias", both_names(estimate, [0.0, 0.1], [0.9, 0.0]), WHERE)
    assert [v.rule["family"] for v in verdicts] == [
        {"name": "bias", "within": WHERE, "alpha": 0.05, "correction": "holm", "members": 4, "undefined": 0}
    ] * 4


def test_the_rule_in_words(load, estimate):
    verdict = load("[run]\nfalse_fail = 0.005\n" + WITHIN).decide("bias", family_of(estimate, [0.0, 0.1]), WHERE)[0]
    assert verdict.rule["sentence"] == (
        "within [-0.5, +0.5]; passes if the 95 % interval lies inside, fails if the 99.5 % interval lies outside "
        "(Holm over 2: at most 0.5 % that a fair judge fails here)"
    )


def test_choosing_what_is_shown_changes_no_decision(load, estimate):
    family = family_of(estimate, [0.62] * 4)
    together = load(WITHIN).decide("bias", family, WHERE)
    (chosen,) = together.only(lambda subject: subject["judge"] == "j2")
    assert chosen is together[2]
    assert chosen.outcome == "undecided"


def test_undefined_members_are_left_out_of_the_correction_and_named(load, estimate, undefined):
    family = Estimates(("judge",), {("a",): estimate(0.0, 0.05), ("b",): undefined(), ("c",): estimate(0.3, 0.2)})
    first, second, _ = load(TWO).decide("bias", family, WHERE)
    assert first.rule["fail_level"] == 0.975
    assert "(Holm over 2, 1 undefined left out: at most 2.5 %" in first.rule["sentence"]
    assert second.outcome == "not measured"


def test_a_lone_estimate_has_one_verdict(load, estimate):
    verdicts = load(WITHIN).decide("bias", estimate(0.0, 0.1), WHERE)
    assert [(dict(v.subject), v.outcome) for v in verdicts] == [(WHERE, "pass")]


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


def test_whether_anybody_asked_for_the_truth_is_known(load, estimate):
    verdicts = load(WITHIN).decide("bias", estimate(0.9, 0.1), WHERE)
    assert (verdicts.stays_green, verdicts.asserted) == (False, False)
    assert not verdicts
    assert verdicts.asserted
    assert repr(verdicts) == "<gate bias: fail>"


LIMITS = [{"within": (-0.5, 0.5)}, {"at_least": 0.2}, {"at_most": 0.2}]
MEMBERS = st.lists(st.tuples(st.floats(-2, 2), st.floats(1e-3, 1)), min_size=1, max_size=8)


def decided(estimate, limit, members, alpha):
    family = Estimates(("judge",), {(str(i),): estimate(v, se) for i, (v, se) in enumerate(members)})
    gate = Gate.model_validate({**limit, "reason": "r"})
    return gate.bound, [one.decision for one in together(gate, family, alpha)]


def together(gate, measured, alpha):
    return decide_together(members_of("g", gate, measured, {}), "g", {}, alpha)


@given(st.sampled_from(LIMITS), MEMBERS, st.floats(1e-5, 0.05))
def test_the_interval_shown_agrees_with_the_decision(estimate, limit, members, alpha):
    bound, decisions = decided(estimate, limit, members, alpha)
    for decision in decisions:
        shown = decision.estimate
        assert decision.outcome == (
            "pass" if bound.encloses(shown.low, shown.high)
            else "fail" if bound.excludes(shown.low, shown.high)
            else "undecided"
        )  # fmt: skip


@given(st.sampled_from(LIMITS), MEMBERS, st.floats(1e-5, 0.05), st.floats(0.1, 1))
def test_a_smaller_share_fails_nobody_more_and_passes_the_same(estimate, limit, members, alpha, share):
    _, loose = decided(estimate, limit, members, alpha)
    _, strict = decided(estimate, limit, members, alpha * share)
    for before, after in zip(loose, strict, strict=True):
        assert after.outcome == before.outcome or (before.outcome, after.outcome) == ("fail", "undecided")


@pytest.mark.slow("simulations")
def test_fair_judges_at_the_limit_are_failed_as_often_as_promised_and_pass_as_seldom():
    """Eight judges whose true value lies on the limit: any fails in at most 5 % of 2,000 families, any one passes in
    2.5 % (Monte-Carlo SE 0.5 and 0.1 points)."""
    rng = np.random.default_rng(11)
    gate = Gate.model_validate({"within": (-0.5, 0.5), "reason": "r"})
    failed = passed = 0
    for _ in range(2000):
        draws = rng.normal(0.5, 1, (8, 12))
        distributions = [Student(float(d.mean()), float(d.std(ddof=1) / math.sqrt(12)), 11) for d in draws]
        family = Estimates(
            ("judge",), {(str(i),): of_law(distribution) for i, distribution in enumerate(distributions)}
        )
        outcomes = [d.decision.outcome for d in together(gate, family, 0.05)]
        failed += "fail" in outcomes
        passed += outcomes.count("pass")
    assert 0.03 < failed / 2000 < 0.05 + 3 * 0.005
    assert passed / 16000 < 0.025 + 3 * 0.0013


def of_law(distribution):
    low, high = distribution.interval(0.95)
    return Estimate(
        metric="m", value=distribution.value, low=low, high=high, n=12, method="t", distribution=distribution
    )
