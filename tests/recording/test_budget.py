"""What a recording will cost at most, in every spelling of the limit, and when that needs a yes."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from small_plans import plan

from recuse.recording.budget import check_budget, cost_text, expected_costs, tokens_of
from recuse.schema import Judge, RecuseError, Request

JUDGES = {
    "judge-a": Judge(
        "judge-a", "A", "openai_chat", "https://api.example/v1", "m-1", input_usd_per_mtok=2.0, output_usd_per_mtok=10.0
    )
}


def test_costs_are_told_before_anything_is_asked() -> None:
    calls = plan(repeats=10)
    (cost,) = expected_costs(calls, JUDGES)
    by_item = [-(-len(c.request.body) // 4) for c in calls]
    assert (cost.calls, cost.input_tokens, cost.output_tokens) == (30, sum(by_item), 30 * 50)
    assert cost.dollars == pytest.approx((sum(by_item) * 2 + 1500 * 10) / 1e6)
    assert "judge-a: 30 calls, about" in cost_text([cost])
    assert "at most 1,500 out" in cost_text([cost])


def largest(body: Any) -> int | None:
    return tokens_of(Request("https://x.example", json.dumps(body).encode()))[1]


@pytest.mark.parametrize(
    "body",
    [
        {"max_tokens": 700},
        {"max_completion_tokens": 700, "reasoning_effort": "high"},
        {"max_output_tokens": 700},
        {"maxOutputTokens": 700},
        {"generationConfig": {"maxOutputTokens": 700}},
        {"generation_config": {"max_output_tokens": 700.0}},
        {"inferenceConfig": {"maxTokens": 700}},
        {"textGenerationConfig": {"maxTokenCount": 700}},
        {"options": {"num_predict": 700}},
        {"n_predict": 700},
        {"max_tokens": 50, "max_completion_tokens": 700},
    ],
)
def test_every_spelling_of_the_output_limit_is_known(body: Any) -> None:
    assert largest(body) == 700


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"max_tokens": 700, "thinking": {"type": "enabled", "budget_tokens": 4000}}, 4700),
        ({"generationConfig": {"maxOutputTokens": 700, "thinkingConfig": {"thinkingBudget": 4000}}}, 4700),
        ({"max_tokens": 700, "reasoning": {"max_tokens": 4000}}, 4700),
        (
            {
                "inferenceConfig": {"maxTokens": 700},
                "additionalModelRequestFields": {"thinking": {"budget_tokens": 4000}},
            },
            4700,
        ),
        ({"max_tokens": 700, "thinking_budget": 0}, 700),
        ({"max_tokens": 700, "n": 3}, 2100),
        ({"generationConfig": {"maxOutputTokens": 700, "candidateCount": 2}}, 1400),
    ],
)
def test_reasoning_and_several_answers_are_part_of_the_cost(body: Any, expected: int) -> None:
    """Some providers count reasoning inside the limit and some beside it: the sum is an upper bound for both."""
    assert largest(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        {},
        "no object",
        {"messages": [{"role": "user", "content": "max_tokens", "max_tokens": 5}]},
        {"response_format": {"json_schema": {"properties": {"max_tokens": 5}}}},
        {"reasoning": {"max_tokens": 4000}},
        {"max_tokens": -1},
        {"generationConfig": {"maxOutputTokens": 700, "thinkingConfig": {"thinkingBudget": -1}}},
    ],
)
def test_a_request_that_sets_no_limit_has_none(body: Any) -> None:
    assert largest(body) is None


def test_a_request_without_a_limit_needs_a_yes_although_its_price_is_known() -> None:
    request = Request("https://api.example/v1", b'{"model":"m-1"}')
    endless = [dataclasses.replace(call, request=request) for call in plan(repeats=1)]
    costs = expected_costs(endless, JUDGES)
    with pytest.raises(RecuseError, match=r"requests to judge-a set no limit on the length of an answer"):
        check_budget(costs, 1e6, allowed=False)
    check_budget(costs, 0.0, allowed=True)


def test_a_budget_holds_until_it_is_allowed() -> None:
    costs = expected_costs(plan(repeats=1000), JUDGES)
    with pytest.raises(RecuseError, match=r"not started: it may cost \$1\.\d\d, the budget is \$0\.50\. Add --yes"):
        check_budget(costs, 0.5, allowed=False)
    check_budget(costs, 0.5, allowed=True)
    check_budget(costs, 5.0, allowed=False)
    check_budget([], 0.0, allowed=False)


@pytest.mark.parametrize("url", ["https://api.example/v1", "http://127.0.0.1:8080/v1", "http://localhost:4000"])
def test_an_unknown_price_needs_a_yes_wherever_the_server_is(url: str) -> None:
    """A server on this machine may be a proxy to an API that is paid for."""
    unknown = {"judge-a": Judge("judge-a", "A", "openai_chat", url, "m-1")}
    with pytest.raises(RecuseError, match="no price is known for judge-a"):
        check_budget(expected_costs(plan(), unknown), 100.0, allowed=False)
    check_budget(expected_costs(plan(), unknown), 0.0, allowed=True)


def test_a_judge_that_is_said_to_be_free_costs_nothing() -> None:
    unknown = {"judge-a": Judge("judge-a", "A", "openai_chat", "http://127.0.0.1:8080/v1", "m-1")}
    check_budget(expected_costs(plan(), unknown, free={"judge-a"}), 0.0, allowed=False)
