"""Every planted behaviour does what it says and nothing else: all calls of panel `planted`, read by the protocol."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fixtures.standins.behaviours import rubric
from fixtures.standins.behaviours.planted import behaviours
from recuse.elicitation.plan import Plan
from recuse.elicitation.replies import read_replies
from recuse.judges import wire
from recuse.judges.description import canonical
from recuse.panels import Panel
from recuse.schema import Call, RawResponse, RecuseError, Request
from recuse.standins import ScriptedReply, ScriptedSource, StandInError, generator, open_source

SETTINGS = "fixtures/standins/scripted"
PLANTED = "fixtures.standins.behaviours.planted"
CRITERIA = ["accuracy", "quality", "consistency", "completeness", "practicality"]
OWN = "perplexity-sonar"  # the author in the planted seat


@pytest.fixture(scope="module")
def replies(
    panel: Callable[[str], Panel], planned: Callable[[str], Plan], root: Path
) -> list[tuple[Call, ScriptedReply]]:
    source = open_source(panel("planted"), root)
    return [(call, source.reply(call, {})) for call in planned("planted").calls]


@pytest.fixture(scope="module")
def table(replies: list[tuple[Call, ScriptedReply]], planned: Callable[[str], Plan]) -> pd.DataFrame:
    plan = planned("planted")
    return read_replies(plan, [(call, as_response(plan, call, reply)) for call, reply in replies]).table


@pytest.fixture(scope="module")
def quality(root: Path) -> pd.Series:
    return pd.read_csv(root / "fixtures" / "published" / "human_finals.csv").set_index("target")["mean"]


def as_response(plan: Plan, call: Call, reply: ScriptedReply) -> RawResponse:
    judge = plan.judges[call.judge]
    payload = wire(judge.wire).payload(
        reply.text, model=judge.model, refusal=reply.refusal, input_tokens=1, output_tokens=1
    )
    return RawResponse(200, {}, canonical(payload))


def totals(table: pd.DataFrame, judge: str) -> pd.DataFrame:
    """(target x names, repeat) of a judge's own totals."""
    chosen = table[(table["rater"] == judge) & (table["criterion"] == "total")]
    return chosen.pivot(index=["target", "names"], columns="repeat", values="score")


def planted(table: pd.DataFrame, judge: str, quality: pd.Series) -> pd.Series:
    """Mean total minus true quality, by target and names."""
    means = totals(table, judge).mean(axis=1)
    return means - quality.loc[means.index.get_level_values("target")].to_numpy()


def test_everyone_answers_every_call_in_the_asked_form(table: pd.DataFrame) -> None:
    answered = table[table["rater"] != "refuses"]
    assert (answered["status"] == "ok").all()
    assert answered.groupby("rater").size().eq(5 * 2 * 10 * 6).all()
    scores = answered.loc[answered["criterion"] != "total", "score"]
    assert scores.between(0, 10).all()
    np.testing.assert_allclose(scores * 10, (scores * 10).round(), atol=1e-9)  # in tenths


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("judge", ["fair-1", "fair-2", "fair-3", "fair-4", "fair"])
def test_fair_judges_are_right_on_average_and_vary_a_quarter_point(
    table: pd.DataFrame, quality: pd.Series, judge: str
) -> None:
    off = planted(table, judge, quality)
    assert off.abs().max() < 0.30  # four standard errors of ten runs
    assert abs(off.mean()) < 0.10
    assert totals(table, judge).std(axis=1).pow(2).mean() ** 0.5 == pytest.approx(0.24, abs=0.05)


def test_fair_totals_are_the_exact_mean_of_the_five(table: pd.DataFrame) -> None:
    fair = table[table["rater"] == "fair"].pivot(
        index=["target", "names", "repeat"], columns="criterion", values="score"
    )
    assert (fair["total"] - fair[CRITERIA].mean(axis=1)).abs().max() < 1e-9


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize(
    ("judge", "own_named", "own_hidden", "others"),
    [
        ("inflates-itself", 0.8, 0.8, 0.0),
        ("inflates-itself-when-named", 0.8, 0.0, 0.0),
        ("lenient", 0.5, 0.5, 0.5),
        ("harsh", -0.5, -0.5, -0.5),
        ("wrong-totals", 0.0, 0.0, 0.0),
        ("noisy", 0.0, 0.0, 0.0),
    ],
)
def test_shifts_are_where_they_were_planted(
    table: pd.DataFrame, quality: pd.Series, judge: str, own_named: float, own_hidden: float, others: float
) -> None:
    off = planted(table, judge, quality)
    assert off[OWN, "shown"] == pytest.approx(own_named, abs=0.25)
    assert off[OWN, "hidden"] == pytest.approx(own_hidden, abs=0.25)
    rest = off[off.index.get_level_values("target") != OWN]
    assert rest.mean() == pytest.approx(others, abs=0.10)
    assert (rest - others).abs().max() < 0.30


def test_a_behaviour_changes_only_what_was_planted(
    planned: Callable[[str], Plan], root: Path, panel: Callable[[str], Panel]
) -> None:
    """The same judge under another behaviour has the same noise, so the difference is the planted one to the digit."""
    judges = panel("planted").judges
    calls = [call for call in planned("planted").calls if call.judge == "fair"]

    def scores(name: str) -> dict[Call, dict[str, float]]:
        source = ScriptedSource(root / SETTINGS, judges, {"fair": f"{PLANTED}.{name}"})
        said = {call: json.loads(source.reply(call, {}).text) for call in calls}
        return {call: {c: said[call][c]["score"] for c in CRITERIA} for call in calls}

    fair, inflated, named = scores("fair"), scores("inflates_itself"), scores("inflates_itself_when_named")
    for call in calls:
        for criterion in CRITERIA:
            own = call.target == OWN
            assert inflated[call][criterion] - fair[call][criterion] == pytest.approx(0.8 if own else 0.0)
            lifted = own and dict(call.factors)["condition"] == "attributed"
            assert named[call][criterion] - fair[call][criterion] == pytest.approx(0.8 if lifted else 0.0)


def test_noisy_varies_by_a_point(table: pd.DataFrame) -> None:
    spread = totals(table, "noisy").std(axis=1)
    assert spread.between(0.8, 1.25).all()
    assert spread.mean() == pytest.approx(1.0, abs=0.1)


def test_constant_is_seven_throughout(table: pd.DataFrame) -> None:
    assert set(table.loc[table["rater"] == "constant", "score"]) == {7.0}


def test_twelve_of_a_hundred_calls_are_refused_half_of_them_by_flag(
    table: pd.DataFrame, replies: list[tuple[Call, ScriptedReply]]
) -> None:
    ours = [(call, reply) for call, reply in replies if call.judge == "refuses"]
    refused = [(call, reply) for call, reply in ours if "cannot score" in reply.text]
    assert (len(ours), len(refused), sum(reply.refusal for _, reply in refused)) == (100, 12, 6)
    per_cell = pd.Series([call.cell for call, _ in refused]).value_counts()
    assert len(per_cell) == 10  # spread over all cells
    assert per_cell.max() == 2
    rows = table[table["rater"] == "refuses"]
    assert rows.groupby("status").size().to_dict() == {"ok": 88 * 6, "refused": 12 * 6}
    assert rows.loc[rows["status"] == "refused", "score"].isna().all()


def test_wrong_totals_miss_the_mean_by_three_tenths_and_average_out(table: pd.DataFrame) -> None:
    wrong = table[table["rater"] == "wrong-totals"].pivot(
        index=["target", "names", "repeat"], columns="criterion", values="score"
    )
    off = wrong["total"] - wrong[CRITERIA].mean(axis=1)
    np.testing.assert_allclose(off.abs(), 0.3, atol=1e-9)
    np.testing.assert_allclose(off.groupby(["target", "names"]).mean(), 0.0, atol=1e-9)


def test_an_answer_depends_on_its_call_alone(
    replies: list[tuple[Call, ScriptedReply]], panel: Callable[[str], Panel], root: Path
) -> None:
    again = open_source(panel("planted"), root)
    for call, reply in reversed(replies[::7]):
        assert again.reply(call, {}) == reply
    texts = [reply.text for call, reply in replies if call.judge.startswith("fair")]
    assert len(set(texts)) == len(texts) == 500  # judges, targets, conditions and runs have noise of their own


def test_noise_differs_between_calls() -> None:
    call = Call("t", "rubric", "j", "i", "x", (("condition", "attributed"),), 0, Request("u", b""), "k", "c")
    others = [dataclasses.replace(call, **{name: "other"}) for name in ("task", "protocol", "judge", "item", "target")]
    others += [dataclasses.replace(call, repeat=1), dataclasses.replace(call, factors=(("condition", "anonymized"),))]
    draws = {generator(each).normal() for each in (call, *others)}
    assert len(draws) == 8
    assert generator(dataclasses.replace(call, key="other", cell="other")).normal() in draws


def test_an_unknown_behaviour_lists_the_known_ones(
    planned: Callable[[str], Plan], panel: Callable[[str], Panel], root: Path
) -> None:
    call = planned("planted").calls[0]
    known = r"the unknown behaviour 'kind' for protocol rubric; known: fair, inflates_itself"
    for given, message in (({call.judge: f"{PLANTED}.kind"}, known), ({}, "has no behaviour; set `behaviour` in the")):
        with pytest.raises(StandInError, match=message):
            ScriptedSource(root / SETTINGS, panel("planted").judges, given).reply(call, {})
    with pytest.raises(StandInError, match="no behaviours for protocol 'generation'"):
        behaviours("generation", root)


def test_offsets_that_would_shift_everyone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rubric.toml").write_text("[offsets]\naccuracy = 0.1\nquality = 0.1\n", encoding="utf-8")
    with pytest.raises(RecuseError, match=r"rubric.toml: the offsets must add up to 0.*they give 0.2"):
        rubric.read_settings(tmp_path / "rubric.toml")


def test_scores_stay_on_the_scale(root: Path) -> None:
    settings = rubric.read_settings(root / SETTINGS / "merchant_risk" / "rubric.toml")
    assert [rubric.on_grid(x, settings) for x in (11.2, -3.0, 9.949, 0.04)] == [10.0, 0.0, 9.9, 0.0]
