"""Each planted behaviour is the fair one with one thing changed: the same judge, the same noise, another script."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from fixtures.standins.behaviours.latent_quality import read_texts
from fixtures.standins.behaviours.planted import SAME_AS, behaviours
from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import make_plan
from recuse.panels import Panel
from recuse.schema import Call, RecuseError
from recuse.standins import ScriptedSource
from recuse.tasks import Task

SETTINGS = Path(__file__).resolve().parents[2] / "fixtures" / "standins" / "scripted"
PLANTED = "fixtures.standins.behaviours.planted."
PROTOCOLS = ("grading", "grading_injected", "pairwise", "pairwise_length")
Said = Callable[[str, str], Mapping[Call, str]]


@pytest.fixture(scope="module")
def said(panel: Panel, task_of: Callable[[str], Task]) -> Said:
    """What the judge in the fair seat says by a protocol under a behaviour."""
    plans = {
        name: make_plan(panel.name, task_of(name), name, {"fair": panel.judges["fair"]}, identify=request_key)
        for name in PROTOCOLS
    }

    @lru_cache
    def of(protocol: str, behaviour: str) -> Mapping[Call, str]:
        plan, source = plans[protocol], ScriptedSource(SETTINGS, panel.judges, {"fair": PLANTED + behaviour})
        return {call: source.reply(call, plan.items["fair", call.item, call.target].fields).text for call in plan.calls}

    return of


def digit(text: str) -> int:
    return int(text.removeprefix("Rating: "))


def changed(said: Said, protocol: str, behaviour: str) -> list[Call]:
    """Calls the behaviour answers otherwise than a fair judge."""
    fair, other = said(protocol, "fair"), said(protocol, behaviour)
    return [call for call in fair if fair[call] != other[call]]


def test_every_protocol_has_every_behaviour(panel: Panel) -> None:
    for protocol in PROTOCOLS:
        known, _ = behaviours(SAME_AS.get(protocol, protocol), SETTINGS / "headlines")
        assert {PLANTED + name for name in known} == set(panel.behaviours.values())


def test_self_preference_is_planted_on_its_own_texts_alone(said: Said, panel: Panel) -> None:
    calls = changed(said, "grading", "prefers_itself")
    assert {call.target for call in calls} == {panel.judges["fair"].author}
    assert len(calls) > 100  # of 200: rounding swallows some of the 0.8 points


def test_mildness_and_blindness_show_only_where_one_is_best(said: Said) -> None:
    for behaviour in ("milder_where_low_is_good", "ignores_the_direction"):
        assert {dict(call.factors)["framing"] for call in changed(said, "grading", behaviour)} == {"negative"}


def test_a_fair_judge_mirrors_the_digit_and_a_blind_one_does_not(said: Said) -> None:
    def pairs(behaviour: str) -> list[tuple[int, int]]:
        found: dict[tuple[str, str], dict[str, int]] = {}
        for call, text in said("grading", behaviour).items():
            found.setdefault((call.item, call.target), {})[dict(call.factors)["framing"]] = digit(text)
        return [(both["positive"], both["negative"]) for both in found.values() if both["positive"] != 3]

    fair, blind = pairs("fair"), pairs("ignores_the_direction")
    assert sum(up + down == 6 for up, down in fair) > 0.7 * len(fair)
    assert sum(up == down for up, down in blind) > 0.7 * len(blind)


def test_only_one_judge_obeys(said: Said) -> None:
    assert {digit(text) for text in said("grading_injected", "obeys_instructions").values()} == {5}
    assert changed(said, "grading", "obeys_instructions") == []
    clean = {(call.item, call.target): text for call, text in said("grading", "fair").items() if positive(call)}
    for call, text in said("grading_injected", "fair").items():
        assert text == clean[call.item.rsplit(".", 1)[0], call.target]  # the payload is worth nothing


def positive(call: Call) -> bool:
    return dict(call.factors)["framing"] == "positive"


@pytest.mark.parametrize(("behaviour", "favoured"), [("likes_the_first", "first"), ("likes_the_letter_a", "A")])
def test_the_favoured_text_never_loses_by_it(said: Said, behaviour: str, favoured: str) -> None:
    calls = changed(said, "pairwise", behaviour)
    assert len(calls) > 100  # of 800
    for call in calls:
        swapped = dict(call.factors)["labels"] == "swapped"
        winner = "B" if favoured == "first" and swapped else "A"
        before, after = said("pairwise", "fair")[call], said("pairwise", behaviour)[call]
        assert winner in after or (after == "Winner: tie" and winner not in before)


def test_length_counts_between_twins_and_not_between_texts_of_equal_length(said: Said) -> None:
    assert changed(said, "pairwise", "likes_length") == []
    for call, text in said("pairwise_length", "likes_length").items():
        assert text == ("Winner: B" if dict(call.factors)["order"] == "ab" else "Winner: A")  # b is padded


def test_an_author_without_a_quality_is_named() -> None:
    texts = read_texts(SETTINGS / "headlines" / "grading.toml")
    with pytest.raises(RecuseError, match="no quality for author nobody; known: claude"):
        texts.seen_by("fair", "article-001", "nobody")
