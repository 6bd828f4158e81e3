"""Replies: what providers send, and what must never raise whatever they send."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from documented import documented

from recuse.judges import WIRES, read_response, wire
from recuse.schema import RawResponse, Reply, Usage


def reply_to(wire_name: str, payload: object, status: int = 200) -> Reply:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return read_response(wire_name, RawResponse(status, {}, body))


def openai(message: object = None, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"message": message or {"content": "Good."}, "finish_reason": "stop", **choice}]}


def anthropic(*blocks: object, **more: Any) -> dict[str, Any]:
    return {"content": list(blocks) or [{"type": "text", "text": "Good."}], "stop_reason": "end_turn", **more}


def gemini(*parts: object, **candidate: Any) -> dict[str, Any]:
    content = {"parts": list(parts) or [{"text": "Good."}]}
    return {"candidates": [{"content": content, "finishReason": "STOP", **candidate}]}


def responses(*parts: object, **more: Any) -> dict[str, Any]:
    content = list(parts) or [{"type": "output_text", "text": "Good."}]
    return {"status": "completed", "output": [{"type": "message", "content": content}], **more}


def converse(*blocks: object, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(blocks) or [{"text": "Good."}]}
    return {"output": {"message": message}, "stopReason": "end_turn", **more}


TOKENS = Usage(11, 7)


def test_text_model_and_tokens(wire_name: str) -> None:
    model = "ann-1" if documented(wire_name).names_model else None
    assert reply_to(wire_name, {**documented(wire_name).reply}) == Reply("Good.", "stop", model, TOKENS)


def test_without_usage_tokens_are_unknown_not_zero(wire_name: str) -> None:
    assert reply_to(wire_name, documented(wire_name).plain) == Reply("Good.", "stop", None, Usage(None, None))


def test_a_token_count_that_is_none_is_unknown(wire_name):
    for odd in ("11", 11.5, True, -1, [11], 10**400):
        payload = json.loads(json.dumps(documented(wire_name).reply).replace("11", json.dumps(odd)))
        reply = reply_to(wire_name, payload)
        assert (reply.text, reply.usage) == ("Good.", Usage(None, 7)), odd


@pytest.mark.parametrize(
    ("wire_name", "payload", "finish"),
    [
        ("openai_chat", openai(finish_reason="length"), "length"),
        ("anthropic_messages", anthropic(stop_reason="max_tokens"), "length"),
        ("anthropic_messages", anthropic(stop_reason="model_context_window_exceeded"), "length"),
        ("gemini_generate", gemini(finishReason="MAX_TOKENS"), "length"),
        ("openai_chat", openai(finish_reason="content_filter"), "refusal"),
        ("openai_chat", openai({"content": None, "refusal": "Good."}), "refusal"),
        ("anthropic_messages", anthropic(stop_reason="refusal"), "refusal"),
        ("gemini_generate", gemini(finishReason="SAFETY"), "refusal"),
        ("gemini_generate", gemini(finishReason="PROHIBITED_CONTENT"), "refusal"),
        ("gemini_generate", gemini(finishReason="RECITATION"), "refusal"),
        *(
            ("openai_chat", openai(finish_reason=word), "stop")
            for word in ("STOP", "end_turn", "tool-calls", "eos", "", None)
        ),
        ("openai_chat", openai(finish_reason="MAX_TOKENS"), "length"),
        ("openai_chat", openai({"content": None, "refusal": "Good."}, finish_reason="a new one"), "refusal"),
        ("openai_chat", openai({"content": "Good.", "refusal": None}), "stop"),
        ("gemini_generate", {"candidates": [{"content": {"parts": [{"text": "Good."}]}}]}, "stop"),
        ("gemini_generate", gemini(finishReason="MODEL_ARMOR"), "refusal"),
        (
            "openai_responses",
            responses(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "length",
        ),
        (
            "openai_responses",
            responses(status="incomplete", incomplete_details={"reason": "content_filter"}),
            "refusal",
        ),
        ("openai_responses", responses(status="incomplete", incomplete_details={"reason": "a new one"}), "length"),
        ("openai_responses", responses({"type": "refusal", "refusal": "Good."}), "refusal"),
        ("bedrock_converse", converse(stopReason="max_tokens"), "length"),
        ("bedrock_converse", converse(stopReason="model_context_window_exceeded"), "length"),
        ("bedrock_converse", converse(stopReason="guardrail_intervened"), "refusal"),
        ("bedrock_converse", converse(stopReason="content_filtered"), "refusal"),
        ("bedrock_converse", converse(stopReason="stop_sequence"), "stop"),
        ("anthropic_messages", anthropic(stop_reason="tool_use"), "stop"),
        ("openai_chat", openai(finish_reason="model_length"), "length"),
        ("openai_chat", openai(finish_reason="sensitive"), "refusal"),
        ("openai_chat", openai(finish_reason=None), "stop"),
        ("gemini_generate", gemini(finishReason=None), "stop"),
        ("openai_responses", responses(status="incomplete"), "length"),
        ("openai_responses", responses(status="completed", incomplete_details={"reason": ""}), "stop"),
    ],
)
def test_how_a_reply_ended(wire_name: str, payload: object, finish: str) -> None:
    reply = reply_to(wire_name, payload)
    assert (reply.text, reply.finish) == ("Good.", finish)


@pytest.mark.parametrize(
    ("wire_name", "payload", "reason"),
    [
        *(
            ("openai_chat", openai(finish_reason=reason), reason)
            for reason in ("error", "abort", "insufficient_system_resource", "network_error", "a new one")
        ),
        ("anthropic_messages", anthropic(stop_reason="a new one"), "a new one"),
        ("bedrock_converse", converse(stopReason="a new one"), "a new one"),
        ("anthropic_messages", anthropic(stop_reason="pause_turn"), "pause_turn"),
        ("gemini_generate", gemini(finishReason="OTHER"), "OTHER"),
        ("gemini_generate", gemini(finishReason="a new one"), "a new one"),
        ("bedrock_converse", converse(stopReason="malformed_model_output"), "malformed_model_output"),
    ],
)
def test_what_is_not_known_to_have_ended_whole_is_no_answer(wire_name: str, payload: object, reason: str) -> None:
    reply = reply_to(wire_name, payload)
    said = f'the reply ended with "{reason}", which is not known to end a whole answer'
    assert (reply.finish, reply.text) == ("error", said)


@pytest.mark.parametrize(
    ("wire_name", "payload"),
    [
        ("openai_chat", openai({"content": [{"type": "text", "text": "Go"}, {"type": "text", "text": "od."}]})),
        ("anthropic_messages", anthropic({"type": "text", "text": "Go"}, {"type": "text", "text": "od."})),
        (
            "anthropic_messages",
            anthropic({"type": "thinking", "thinking": "Hm, 3?"}, {"type": "text", "text": "Good."}),
        ),
        ("gemini_generate", gemini({"text": "Hm, 3?", "thought": True}, {"text": "Go"}, {"text": "od."})),
        ("gemini_generate", gemini({"inlineData": {}}, {"text": "Good."})),
        ("openai_responses", responses({"type": "output_text", "text": "Go"}, {"type": "output_text", "text": "od."})),
        ("bedrock_converse", converse({"text": "Go"}, {"cachePoint": {}}, {"text": "od."})),
    ],
)
def test_parts_are_joined_and_thoughts_left_out(wire_name: str, payload: object) -> None:
    assert reply_to(wire_name, payload).text == "Good."


@pytest.mark.parametrize(
    ("wire_name", "payload"),
    [
        ("openai_chat", openai({"content": None})),
        ("openai_chat", openai({"content": ""})),
        ("anthropic_messages", anthropic({"type": "tool_use"})),
        ("gemini_generate", {"candidates": [{"finishReason": "MAX_TOKENS"}]}),
        ("gemini_generate", {"candidates": [{"finishReason": "STOP", "content": {}}]}),
    ],
)
def test_a_reply_may_be_empty(wire_name: str, payload: object) -> None:
    reply = reply_to(wire_name, payload)
    assert (reply.text, reply.finish in ("stop", "length")) == ("", True)


def test_a_blocked_prompt_is_a_refusal_that_says_why() -> None:
    reply = reply_to("gemini_generate", {"promptFeedback": {"blockReason": "SAFETY"}})
    assert (reply.text, reply.finish) == ("prompt blocked: SAFETY", "refusal")


def test_a_stopped_answer_without_words_says_why() -> None:
    reply = reply_to("gemini_generate", {"candidates": [{"finishReason": "SPII"}]})
    assert (reply.text, reply.finish) == ("stopped: SPII", "refusal")


THOUGHT = "Hm, 3?"


@pytest.mark.parametrize(
    ("wire_name", "payload"),
    [
        ("openai_chat", openai({"content": "Good.", "reasoning_content": THOUGHT})),
        ("openai_chat", openai({"content": "Good.", "reasoning": THOUGHT})),
        ("openai_chat", openai({"content": f"<think>{THOUGHT}</think>\n\nGood."})),
        ("openai_chat", {**openai({"content": f"{THOUGHT}\n</think>\n\nGood."}), "model": "ann-1", "usage": {}}),
        ("openai_chat", {**openai({"content": f"[THINK]{THOUGHT}[/THINK]Good."}), "model": "ann-1", "usage": {}}),
        ("azure_openai", openai({"content": "Good.", "reasoning_content": THOUGHT})),
        (
            "openai_chat",
            openai(
                {
                    "content": [
                        {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                        {"type": "text", "text": "Good."},
                    ]
                }
            ),
        ),
        ("anthropic_messages", anthropic({"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": "Good."})),
        ("gemini_generate", gemini({"text": THOUGHT, "thought": True}, {"text": "Good."})),
        ("vertex_generate", gemini({"text": THOUGHT, "thought": True}, {"text": "Good."})),
        ("bedrock_converse", converse({"reasoningContent": {"reasoningText": {"text": THOUGHT}}}, {"text": "Good."})),
        (
            "openai_responses",
            {
                "output": [
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}]},
                    {"type": "message", "content": [{"type": "output_text", "text": "Good."}]},
                ]
            },
        ),
    ],
)
def test_reasoning_is_kept_apart_from_the_answer(wire_name: str, payload: object) -> None:
    reply = reply_to(wire_name, payload)
    assert (reply.text, reply.reasoning) == ("Good.", THOUGHT)


@pytest.mark.parametrize(
    ("wire_name", "payload"),
    [
        (
            "anthropic_messages",
            anthropic({"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Good."}),
        ),
        ("bedrock_converse", converse({"reasoningContent": {"redactedContent": "x"}}, {"text": "Good."})),
        ("openai_responses", {"output": [{"type": "reasoning", "encrypted_content": "x"}, *responses()["output"]]}),
    ],
)
def test_reasoning_that_is_not_shown_is_left_out(wire_name: str, payload: object) -> None:
    reply = reply_to(wire_name, payload)
    assert (reply.text, reply.reasoning) == ("Good.", "")


@pytest.mark.parametrize(
    ("wire_name", "payload"),
    [
        (
            "openai_chat",
            openai()
            | {
                "usage": {
                    "prompt_tokens": 11,
                    "completion_tokens": 50,
                    "completion_tokens_details": {"reasoning_tokens": 43},
                }
            },
        ),
        (
            "openai_chat",  # as xAI counts: 11 + 7 + 43
            openai()
            | {
                "usage": {
                    "prompt_tokens": 11,
                    "completion_tokens": 7,
                    "total_tokens": 61,
                    "completion_tokens_details": {"reasoning_tokens": 43},
                }
            },
        ),
        (
            "openai_responses",
            responses(
                usage={"input_tokens": 11, "output_tokens": 50, "output_tokens_details": {"reasoning_tokens": 43}}
            ),
        ),
        (
            "anthropic_messages",
            anthropic(
                usage={"input_tokens": 11, "output_tokens": 50, "output_tokens_details": {"thinking_tokens": 43}}
            ),
        ),
        (
            "gemini_generate",
            gemini() | {"usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "thoughtsTokenCount": 43}},
        ),
    ],
)
def test_reasoning_is_counted_with_the_output_and_apart(wire_name: str, payload: object) -> None:
    assert reply_to(wire_name, payload).usage == Usage(11, 50, 43)


@pytest.mark.parametrize(
    ("wire_name", "payload"),
    [
        (
            "anthropic_messages",
            anthropic(
                usage={
                    "input_tokens": 1,
                    "cache_creation_input_tokens": 4,
                    "cache_read_input_tokens": 6,
                    "output_tokens": 7,
                }
            ),
        ),
        (
            "bedrock_converse",
            converse(
                usage={"inputTokens": 5, "cacheReadInputTokens": 6, "cacheWriteInputTokens": None, "outputTokens": 7}
            ),
        ),
    ],
)
def test_what_a_provider_had_in_its_cache_is_billed_too(wire_name: str, payload: object) -> None:
    assert reply_to(wire_name, payload).usage == TOKENS


def test_a_response_that_is_not_finished_is_an_error() -> None:
    reply = reply_to("openai_responses", {"status": "failed", "output": []})
    assert (reply.text, reply.finish) == ("the response is failed", "error")


def test_the_responses_format_gives_log_probabilities_too() -> None:
    position = {"token": "7", "logprob": -0.1, "top_logprobs": [{"token": "8", "logprob": -2.5}]}
    part = {"type": "output_text", "text": "7", "logprobs": [position]}
    reply = reply_to("openai_responses", responses(part))
    assert (reply.tokens, reply.logprobs) == ((("7", -0.1),), ({"8": -2.5},))


def test_log_probabilities_come_by_position() -> None:
    content = [
        {
            "token": "7",
            "logprob": -0.1,
            "top_logprobs": [{"token": "7", "logprob": -0.1}, {"token": "8", "logprob": -2.5}],
        },
        {"token": ".", "logprob": 0.0, "top_logprobs": [{"token": ".", "logprob": 0.0}]},
    ]
    reply = reply_to("openai_chat", openai(logprobs={"content": content}))
    assert reply.logprobs == ({"7": -0.1, "8": -2.5}, {".": 0.0})
    assert reply_to("openai_chat", openai(logprobs={"content": None})).logprobs is None


def test_a_whole_number_that_no_float_holds_is_no_log_probability() -> None:
    content = [{"token": "7", "logprob": -(10**400), "top_logprobs": []}]
    reply = reply_to("openai_chat", openai(logprobs={"content": content}))
    assert (reply.finish, "no token with its log-probability" in reply.text) == ("error", True)


@pytest.mark.parametrize("top", [{}, {"top_logprobs": None}, {"top_logprobs": []}])
def test_a_server_that_names_no_likeliest_tokens_gives_an_answer_all_the_same(top: dict[str, Any]) -> None:
    position = {"token": "7", "logprob": -0.1, **top}
    chat = reply_to("openai_chat", openai({"content": "7"}, logprobs={"content": [position]}))
    other = reply_to("openai_responses", responses({"type": "output_text", "text": "7", "logprobs": [position]}))
    for reply in (chat, other):
        assert (reply.text, reply.finish, reply.tokens, reply.logprobs) == ("7", "stop", (("7", -0.1),), None)


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation", "invalid_prompt"])
def test_a_policy_error_is_this_judges_refusal(wire_name: str, code: str) -> None:
    reply = reply_to(wire_name, {"error": {"message": "Not that.", "code": code}}, status=400)
    assert (reply.text, reply.finish) == ("Not that.", "refusal")


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        ({"message": "No such model.", "code": "model_not_found"}, 404, "No such model."),
        ({"message": "Not that.", "code": "content_filter"}, 500, "Not that."),
        ("boom", 400, "HTTP 400"),
        (None, 418, "HTTP 418"),
    ],
)
def test_any_other_http_error_is_an_error(wire_name: str, error: object, status: int, said: str) -> None:
    reply = reply_to(wire_name, {"error": error}, status)
    assert (reply.text, reply.finish) == (said, "error")


NO_ANSWERS = [
    b"",
    b"<html>502</html>",
    b"\xff\xfe\x00",
    b"[1]",
    b'"text"',
    b"null",
    b"{}",
    b'{"choices": []}',
    b'{"choices": {}}',
    b'{"choices": [{"message": null}]}',
    b'{"choices": [{"message": {"content": 7}}]}',
    b'{"choices": [{"message": {"content": [7]}}]}',
    b'{"choices": [{"message": {"content": [{"text": null}]}}]}',
    b'{"choices": [{"message": {"content": "x", "refusal": ["no"]}}]}',
    b'{"choices": [{"message": {"content": "x"}, "finish_reason": {}}]}',
    b'{"choices": [{"message": {"content": "x"}, "logprobs": {"content": [1]}}]}',
    b'{"content": "text"}',
    b'{"content": [{"type": "text"}]}',
    b'{"content": [{"type": "text", "text": 7}]}',
    b'{"candidates": []}',
    b'{"candidates": [{"content": {"parts": [{"text": 7}]}}]}',
    b'{"candidates": [{"content": {"parts": "text"}}]}',
    b'{"promptFeedback": 7}',
    b'{"output": 7}',
    b'{"output": {"message": {"content": [7]}}}',
    b'{"output": [{"type": "message", "content": [{"type": "output_text"}]}]}',
    b'{"a":' * 100_000,
    b"9" * 10_000,
]


def test_a_body_of_another_shape_is_an_error_with_a_reason(wire_name):
    for body in NO_ANSWERS:
        reply = reply_to(wire_name, body)
        assert (reply.finish, reply.text[:9]) == ("error", "the body "), body[:99]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(
    ["choices", "message", "content", "refusal", "text", "type", "usage", "model", "error", "candidates", "parts",
     "finish_reason", "finishReason", "stop_reason", "stopReason", "logprobs", "promptFeedback", "usageMetadata",
     "output", "reasoningContent", "reasoningText", "reasoning", "summary", "status", "thought",
     "output_tokens_details"]
)  # fmt: skip
SHAPED = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(MEMBERS, inner, max_size=5), max_leaves=12
)


@given(st.sampled_from(WIRES), SHAPED | st.dictionaries(MEMBERS, SHAPED, max_size=6), st.sampled_from([200, 400, 503]))
def test_whatever_comes_a_reply_comes_of_it(wire_name: str, payload: object, status: int) -> None:
    reply = reply_to(wire_name, payload, status)
    assert isinstance(reply.text, str)
    assert all(count is None or type(count) is int for count in (reply.usage.input_tokens, reply.usage.output_tokens))


@given(
    st.sampled_from(WIRES), st.text(), st.text(min_size=1), st.booleans(), st.integers(0, 10**9), st.integers(0, 10**9)
)
def test_what_a_stand_in_says_is_what_is_read(
    wire_name: str, text: str, model: str, refusal: bool, given_tokens: int, written: int
) -> None:
    """`payload` is the inverse of `read`. Only an empty refusal is none: one format flags a refusal by its text."""
    assume(text or not refusal)
    assume(not text.lstrip().startswith("<"))  # reasoning in front of an answer is taken out of it
    payload = wire(wire_name).payload(
        text, model=model, refusal=refusal, input_tokens=given_tokens, output_tokens=written
    )
    facts = documented(wire_name)
    named = model if facts.names_model else None
    expected = Reply(
        text, "refusal" if refusal and facts.flags_refusal else "stop", named, Usage(given_tokens, written)
    )
    assert reply_to(wire_name, payload) == expected


def test_a_reply_cut_in_the_middle_of_an_emoji_can_be_written_and_sent_to_another_process() -> None:
    """The bytes are as they came; what protocols read and reports show holds no lone surrogate."""
    body = b'{"choices":[{"message":{"content":"fine \\ud83d"},"finish_reason":"length"}]}'
    reply = read_response("openai_chat", RawResponse(200, {}, body))
    assert reply.text == "fine ⟦U+D83D⟧"
    assert reply.text.encode()
