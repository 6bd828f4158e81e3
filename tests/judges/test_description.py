"""A request as the panel file describes it: fields set, renamed and left out at every depth; addresses and queries."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.judges import split_reasoning, wire
from recuse.judges.description import address, canonical, described, merged
from recuse.schema import Judge, Prompt

MakeJudge = Callable[..., Judge]
BODY = {"temperature": 0.7, "max_tokens": 200, "config": {"topK": 4, "deep": {"on": True}}}

JSON = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
TABLES = st.dictionaries(st.text(max_size=3), JSON, max_size=4)


def body(judge: Judge) -> Any:
    return json.loads(described(judge, BODY))


def test_nothing_described_is_nothing_changed(judge: MakeJudge) -> None:
    assert described(judge(), BODY) == canonical(BODY)


def test_parameters_are_merged_at_every_depth(judge: MakeJudge) -> None:
    found = body(judge(parameters={"config": {"deep": {"budget": 5}, "topP": 0.5}, "new": [1]}))
    assert found == BODY | {"config": {"topK": 4, "topP": 0.5, "deep": {"on": True, "budget": 5}}, "new": [1]}


def test_a_field_may_be_left_out_at_every_depth(judge: MakeJudge) -> None:
    found = body(judge(omit=("temperature", "config.deep.on", "config.nothing", "max_tokens.inner", "nothing.at.all")))
    assert found == {"max_tokens": 200, "config": {"topK": 4, "deep": {}}}


def test_a_field_may_be_renamed_where_it_stands(judge: MakeJudge) -> None:
    found = body(judge(rename={"max_tokens": "max_completion_tokens", "config.topK": "top_k", "nothing": "something"}))
    assert found == {
        "temperature": 0.7,
        "max_completion_tokens": 200,
        "config": {"top_k": 4, "deep": {"on": True}},
    }


def test_parameters_are_named_as_they_are_sent_and_win(judge: MakeJudge) -> None:
    described_ = judge(
        rename={"max_tokens": "max_completion_tokens"},
        omit=("temperature",),
        parameters={"max_completion_tokens": 9, "temperature": 1},
    )
    assert body(described_) == {"max_completion_tokens": 9, "temperature": 1, "config": BODY["config"]}


def test_the_body_of_the_format_is_not_changed_for_others(judge: MakeJudge) -> None:
    before = canonical(BODY)
    described(judge(omit=("config.topK",), parameters={"config": {"deep": {"on": False}}}), BODY)
    assert canonical(BODY) == before


@given(TABLES, TABLES)
def test_what_is_merged_in_is_there_and_the_rest_stays(one: dict[str, Any], other: dict[str, Any]) -> None:
    found = merged(one, other)
    assert merged(found, other) == found
    assert all(found[name] == value for name, value in one.items() if name not in other)
    assert set(found) == {*one, *other}


# --------------------------------------------------------------------------- today's models, as a panel describes them


def test_a_model_that_takes_no_temperature(judge: MakeJudge, prompt: Prompt) -> None:
    ann = judge(
        omit=("temperature",), rename={"max_tokens": "max_completion_tokens"}, parameters={"reasoning_effort": "low"}
    )
    found = json.loads(wire("openai_chat").request(ann, prompt, None).body)
    assert {**found, "messages": 0} == {
        "model": "ann-1",
        "max_completion_tokens": 200,
        "reasoning_effort": "low",
        "messages": 0,
    }


def test_generation_settings_are_not_doubled(judge: MakeJudge, prompt: Prompt) -> None:
    ann = judge("gemini_generate", parameters={"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}})
    found = json.loads(wire("gemini_generate").request(ann, prompt, None).body)
    assert found["generationConfig"] == {
        "temperature": 0.7,
        "maxOutputTokens": 200,
        "thinkingConfig": {"thinkingBudget": 0},
    }


@pytest.mark.parametrize("thinking", [{"type": "adaptive"}, {"type": "disabled"}])
def test_thinking_is_switched_on_and_off_beside_a_schema(
    judge: MakeJudge, prompt: Prompt, thinking: dict[str, str]
) -> None:
    parameters = {"thinking": thinking, "output_config": {"effort": "low"}}
    ann = judge("anthropic_messages", structured=True, omit=("temperature",), parameters=parameters)
    found = json.loads(wire("anthropic_messages").request(ann, prompt, None).body)
    assert found["thinking"] == thinking
    assert found["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}}
    assert "temperature" not in found


def test_a_parameter_wins_over_the_protocols_log_probabilities(judge: MakeJudge, prompt: Prompt) -> None:
    ann = judge(parameters={"top_logprobs": 3})
    found = json.loads(wire("openai_chat").request(ann, dataclasses.replace(prompt, top_logprobs=10), None).body)
    assert found["top_logprobs"] == 3


# --------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://a.example/v1", "http://a.example/v1/chat/completions"),
        ("http://a.example/v1/", "http://a.example/v1/chat/completions"),
        ("http://a.example/v1/chat/completions", "http://a.example/v1/chat/completions"),
        ("http://a.example/v1/chat/completions/", "http://a.example/v1/chat/completions"),
        ("http://a.example", "http://a.example/chat/completions"),
    ],
)
def test_an_address_is_completed_once(judge: MakeJudge, base_url: str, url: str) -> None:
    assert address(judge(base_url=base_url), "/chat/completions") == url


def test_query_parameters_are_sorted_and_escaped(judge: MakeJudge) -> None:
    ann = judge(query={"zone": "a b&c", "api-version": "2024-10-21"})
    assert address(ann, "/x") == "http://api.example/v1/x?api-version=2024-10-21&zone=a%20b%26c"


# --------------------------------------------------------------------------- reasoning in front of an answer


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>Hm.</think>\n\n7", "Hm.", "7"),
        ("\n<think>\nHm.\n</think>7", "Hm.", "7"),
        ("<thinking>a</thinking><think>b</think> 7", "a\nb", "7"),
        ("<think></think>7", "", "7"),
        ("<think>cut off by the limit", "cut off by the limit", ""),
        ("<think>it says </think>{8}</think>7", "it says", "{8}</think>7"),
        ("Rating: 8? No.\n</think>\n\nRating: 7", "Rating: 8? No.", "Rating: 7"),
        ("Perhaps {8}.</think>\n{7}", "Perhaps {8}.", "{7}"),
        ("Perhaps {8}.\n</think>{7}", "Perhaps {8}.", "{7}"),
        ("Perhaps {8}.\n</think>", "Perhaps {8}.", ""),
        ("<thought>a</thought><seed:think>b</seed:think>7", "a\nb", "7"),
        ("[THINK]Hm.[/THINK]7", "Hm.", "7"),
        ("[THINK]Hm, 7", "Hm, 7", ""),
        ("◁think▷Hm.◁/think▷7", "Hm.", "7"),
        ("<|START_THINKING|>Hm.<|END_THINKING|>7", "Hm.", "7"),
        ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>7", "Hm.", "7"),
        ("<|channel|>analysis<|message|>Hm, 7", "Hm, 7", ""),
        ("It says </think> within a line.\n7", "", "It says </think> within a line.\n7"),
        ("8\n</think>\n7\n</think>\n", "", "8\n</think>\n7\n</think>\n"),
        ("It says <think>8\n</think>\n7", "", "It says <think>8\n</think>\n7"),
        ("7 <think>Hm.</think>", "", "7 <think>Hm.</think>"),
        ('{"why": "</think>{}"}', "", '{"why": "</think>{}"}'),
        ("<thinker>7</thinker>", "", "<thinker>7</thinker>"),
        ("", "", ""),
    ],
)
def test_reasoning_is_what_stands_in_front_and_nothing_else(text: str, reasoning: str, answer: str) -> None:
    assert split_reasoning(text) == (reasoning, answer)


def test_many_blocks_of_reasoning_are_read_in_one_pass() -> None:
    """Not timed, but it would be felt: a minute and a half."""
    assert split_reasoning("<think></think>\n" * 300_000 + "7") == ("", "7")
