"""Providers on loopback that reject what the real ones reject: unknown, missing and misplaced fields, fields a model no
longer takes, a wrong version, a wrong key. Written from public documentation; docs/providers.md says which, and when.

Every provider is a function from a request to an answer, the good one made by the wire format's own `payload`. The sets
of fields are facts of the published API definitions; the error texts are worded after the real ones' patterns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from loopback import Answer, ReceivedRequest

from recuse.judges import wire

KEY = "canary-9d2f6c81e4"
GOOD = "Good."
REASONING_MODELS = ("gpt-5", "o4")  # take no max_tokens and no temperature but 1
SAMPLING_FREE = ("claude-opus-5", "claude-sonnet-5")  # take no sampling parameters, and think adaptively or not at all


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Refused(Exception):
    """The provider does not take this request."""

    def __init__(self, code: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.more = code, message, more


def good(wire_name: str) -> Any:
    return wire(wire_name).payload(GOOD, model="ann-1", refusal=False, input_tokens=11, output_tokens=7)


# --------------------------------------------------------------------------- OpenAI (and Azure)

CHAT_FIELDS = _names(
    "audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens "
    "messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty "
    "prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format "
    "safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools "
    "top_logprobs top_p user verbosity web_search_options"
)
RESPONSES_FIELDS = _names(
    "background context_management conversation include input instructions max_output_tokens max_tool_calls "
    "metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key "
    "prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream "
    "stream_options temperature text tool_choice tools top_logprobs top_p truncation user"
)


def openai_chat(asked: ReceivedRequest) -> Answer:
    return _openai(asked, "/v1/chat/completions", check_chat, "openai_chat", "authorization", f"Bearer {KEY}")


def openai_responses(asked: ReceivedRequest) -> Answer:
    return _openai(asked, "/v1/responses", check_responses, "openai_responses", "authorization", f"Bearer {KEY}")


def azure_openai(asked: ReceivedRequest) -> Answer:
    if parse_qs(urlsplit(asked.target).query).get("api-version") != ["2024-10-21"]:
        return Answer(404, {"error": {"code": "404", "message": "Resource not found"}})
    path = "/openai/deployments/ann-1/chat/completions"
    return _openai(asked, path, check_chat_without_model, "azure_openai", "api-key", KEY)


def _openai(
    asked: ReceivedRequest, path: str, check: Callable[[Any], None], wire_name: str, header: str, value: str
) -> Answer:
    try:
        if asked.headers.get(header) != value:
            raise Refused(401, f"Incorrect API key provided: {asked.headers.get(header)}.", type="invalid_api_key")
        if (asked.method, urlsplit(asked.target).path) != ("POST", path):
            raise Refused(404, f"Invalid URL ({asked.method} {asked.target})")
        check(json.loads(asked.body))
    except Refused as no:
        error = {"message": no.message, "type": "invalid_request_error", "param": None, "code": None, **no.more}
        return Answer(no.code, {"error": error})
    return Answer(200, good(wire_name))


def check_chat(body: Any) -> None:
    _fields(body, CHAT_FIELDS, {"model", "messages"}, "Unknown parameter: '{}'.", "Missing required parameter: '{}'.")
    check_chat_settings(body)


def check_chat_without_model(body: Any) -> None:
    _fields(body, CHAT_FIELDS, {"messages"}, "Unknown parameter: '{}'.", "Missing required parameter: '{}'.")
    check_chat_settings({"model": "", **body})


def check_chat_settings(body: Any) -> None:
    if {turn["role"] for turn in body["messages"]} - {"developer", "system", "user", "assistant"}:
        raise Refused(400, "Invalid value: 'role'", param="messages")
    if body["model"].startswith(REASONING_MODELS):
        if "max_tokens" in body:
            raise Refused(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.",
                param="max_tokens",
                type="unsupported_parameter",
            )
        _no_temperature(body)
    if "top_logprobs" in body and not body.get("logprobs"):
        raise Refused(400, "'top_logprobs' is only allowed when 'logprobs' is enabled.", param="top_logprobs")
    if form := body.get("response_format"):
        check_strict_schema(form["json_schema"]["schema"])


def check_responses(body: Any) -> None:
    _fields(body, RESPONSES_FIELDS, {"model", "input"}, "Unknown parameter: '{}'.", "Missing required parameter: '{}'.")
    if {turn["role"] for turn in body["input"]} - {"developer", "system", "user", "assistant"}:
        raise Refused(400, "Invalid value: 'role'", param="input")
    if body["model"].startswith(REASONING_MODELS):
        _no_temperature(body)
    if form := body.get("text", {}).get("format"):
        if set(form) - {"type", "name", "strict", "schema", "description"}:
            raise Refused(400, "Unknown parameter in 'text.format'.", param="text.format")
        check_strict_schema(form["schema"])


def _no_temperature(body: Any) -> None:
    if body.get("temperature", 1) != 1:
        raise Refused(
            400,
            "Unsupported value: 'temperature' does not support this value with this model. Only the default (1) is "
            "supported.",
            param="temperature",
            type="unsupported_value",
        )


def check_strict_schema(schema: Any) -> None:
    if schema.get("type") != "object":
        raise Refused(400, "Invalid schema for response_format: schema must be of 'type: \"object\"'.")
    for place, inner in _schemas(schema, ()):
        if bad := set(inner) & {"minLength", "maxLength", "allOf", "not", "if"}:
            raise Refused(400, f"Invalid schema for response_format: in {place}, {bad} is not permitted.")
        if "type" not in inner and "anyOf" not in inner and "$ref" not in inner:
            raise Refused(400, f"Invalid schema for response_format: in {place}, schema must have a 'type' key.")
        _closed(place, inner, "Invalid schema for response_format: in {}, all fields are required and no others.")


# --------------------------------------------------------------------------- Anthropic

MESSAGES_FIELDS = _names(
    "cache_control container diagnostics inference_geo max_tokens messages metadata model output_config "
    "service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p"
)


def anthropic_messages(asked: ReceivedRequest) -> Answer:
    try:
        if "anthropic-version" not in asked.headers:
            raise Refused(400, "anthropic-version: header is required")
        if asked.headers["anthropic-version"] != "2023-06-01":
            raise Refused(400, f"anthropic-version: {asked.headers['anthropic-version']!r} is not a valid version")
        if asked.headers.get("x-api-key") != KEY:
            raise Refused(401, "invalid x-api-key", type="authentication_error")
        if (asked.method, asked.target) != ("POST", "/v1/messages"):
            raise Refused(404, "Not found", type="not_found_error")
        check_messages(json.loads(asked.body))
    except Refused as no:
        error = {"type": "invalid_request_error", "message": no.message, **no.more}
        return Answer(no.code, {"type": "error", "error": error, "request_id": "req_1"})
    return Answer(200, good("anthropic_messages"))


def check_messages(body: Any) -> None:
    needed = {"model", "messages", "max_tokens"}
    _fields(body, MESSAGES_FIELDS, needed, "{}: Extra inputs are not permitted", "{}: Field required")
    for turn in body["messages"]:
        if turn["role"] not in ("user", "assistant"):
            raise Refused(400, "messages: Unexpected role “system”. Use the top-level `system` parameter instead.")
    thinking = body.get("thinking", {})
    if body["model"].startswith(SAMPLING_FREE):
        for name in ("temperature", "top_p", "top_k"):
            if name in body:
                raise Refused(400, f"`{name}` is deprecated for this model.")
        if thinking.get("type") == "enabled":
            raise Refused(400, "thinking.type: “enabled” is not supported for this model. Use “adaptive”.")
    elif thinking.get("type") == "enabled" and body.get("temperature", 1) != 1:
        raise Refused(400, "`temperature` may only be set to 1 when thinking is enabled.")
    config = body.get("output_config", {})
    _fields(config, {"effort", "format"}, set(), "output_config.{}: Extra inputs are not permitted", "")
    if form := config.get("format"):
        check_bounded_schema(form["schema"])


def check_bounded_schema(schema: Any) -> None:
    for place, inner in _schemas(schema, ()):
        bad = set(inner) & {"minimum", "maximum", "multipleOf", "minLength", "maxLength", "maxItems"}
        if bad or inner.get("minItems", 0) > 1:
            raise Refused(400, f"output_config.format.schema: in {place}, unsupported: {sorted(bad)}")
        _closed(place, inner, "output_config.format.schema: in {}, additionalProperties must be false")


# --------------------------------------------------------------------------- Google

GEMINI_FIELDS = _names(
    "cachedContent contents generationConfig safetySettings serviceTier store systemInstruction toolConfig tools"
)
VERTEX_FIELDS = GEMINI_FIELDS | {"labels", "modelArmorConfig"}
CONFIG_FIELDS = _names(
    "audioTimestamp candidateCount enableAffectiveDialog enableEnhancedCivicAnswers frequencyPenalty logprobs "
    "maxOutputTokens mediaResolution presencePenalty responseFormat responseJsonSchema responseLogprobs "
    "responseMimeType responseModalities responseSchema routingConfig seed speechConfig stopSequences "
    "temperature thinkingConfig topK topP"
)


def gemini_generate(asked: ReceivedRequest) -> Answer:
    bad_key = Refused(400, "API key not valid. Please pass a valid API key.", details=[{"reason": "API_KEY_INVALID"}])
    right = asked.headers.get("x-goog-api-key") == KEY and "key=" not in asked.target
    return _google(asked, right, bad_key, "/v1beta/models/ann-1:generateContent", GEMINI_FIELDS)


def vertex_generate(asked: ReceivedRequest) -> Answer:
    bad_token = Refused(401, "Request had invalid authentication credentials.", status="UNAUTHENTICATED")
    right = asked.headers.get("authorization") == f"Bearer {KEY}"
    path = "/v1/projects/p-1/locations/europe-west4/publishers/google/models/ann-1:generateContent"
    return _google(asked, right, bad_token, path, VERTEX_FIELDS)


def _google(asked: ReceivedRequest, right_key: bool, bad_key: Refused, path: str, fields: frozenset[str]) -> Answer:
    try:
        if not right_key:
            raise bad_key
        if (asked.method, asked.target) != ("POST", path):
            raise Refused(404, f"models/{asked.target} is not found for API version v1beta", status="NOT_FOUND")
        check_contents(json.loads(asked.body), fields)
    except Refused as no:
        return Answer(
            no.code, {"error": {"code": no.code, "message": no.message, "status": "INVALID_ARGUMENT", **no.more}}
        )
    return Answer(200, good("gemini_generate"))


def check_contents(body: Any, fields: frozenset[str]) -> None:
    unknown = 'Invalid JSON payload received. Unknown name "{}": Cannot find field.'
    _fields(body, fields, {"contents"}, unknown, "contents is not specified")
    for turn in body["contents"]:
        if turn.get("role") not in ("user", "model"):
            raise Refused(400, "Please use a valid role: user, model.")
    config = body.get("generationConfig", {})
    _fields(config, CONFIG_FIELDS, set(), unknown, "")
    if "responseJsonSchema" in config and config.get("responseMimeType") != "application/json":
        raise Refused(400, "Function calling with a response mime type other than JSON is unsupported")
    _fields(
        config.get("thinkingConfig", {}), {"includeThoughts", "thinkingBudget", "thinkingLevel"}, set(), unknown, ""
    )


# --------------------------------------------------------------------------- Amazon Bedrock

CONVERSE_FIELDS = _names(
    "additionalModelRequestFields additionalModelResponseFieldPaths guardrailConfig inferenceConfig messages "
    "outputConfig performanceConfig promptVariables requestMetadata serviceTier system toolConfig"
)


def bedrock_converse(asked: ReceivedRequest) -> Answer:
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return Answer(403, {"message": "The security token included in the request is invalid."})
    return converse(asked)


def converse(asked: ReceivedRequest) -> Answer:
    """The answer to a request whose authorisation has been checked."""
    try:
        if (asked.method, unquote(asked.target)) != ("POST", "/model/ann-1:0/converse"):
            raise Refused(404, "The model identifier is unknown.")
        check_converse(json.loads(asked.body))
    except Refused as no:
        return Answer(no.code, {"message": no.message}, {"x-amzn-errortype": "ValidationException"})
    return Answer(200, good("bedrock_converse"))


def check_converse(body: Any) -> None:
    unknown = "Malformed input request: extraneous key [{}] is not permitted"
    _fields(body, CONVERSE_FIELDS, {"messages"}, unknown, "Malformed input request: required key [{}] not found")
    for turn in body["messages"]:
        if turn["role"] not in ("user", "assistant") or not all(set(block) == {"text"} for block in turn["content"]):
            raise Refused(400, "Malformed input request: messages")
    settings = {"maxTokens", "temperature", "topP", "stopSequences"}
    _fields(body.get("inferenceConfig", {}), settings, set(), unknown, "")
    config = body.get("outputConfig", {})
    _fields(config, {"textFormat", "effort"}, set(), unknown, "")
    if form := config.get("textFormat"):
        _fields(form, {"type", "structure"}, {"type", "structure"}, unknown, "required key [{}] not found")
        schema = form["structure"]["jsonSchema"]["schema"]
        if not isinstance(schema, str):
            raise Refused(400, "Malformed input request: schema must be a string")
        check_bounded_schema(json.loads(schema))


CHECKS: dict[str, Callable[[Any], None]] = {
    "openai_chat": check_chat,
    "openai_responses": check_responses,
    "azure_openai": check_chat_without_model,
    "anthropic_messages": check_messages,
    "gemini_generate": partial(check_contents, fields=GEMINI_FIELDS),
    "vertex_generate": partial(check_contents, fields=VERTEX_FIELDS),
    "bedrock_converse": check_converse,
}
"""Wire format -> what its provider checks of a body; raises `Refused`."""


# --------------------------------------------------------------------------- what they share


def _fields(body: Any, known: frozenset[str] | set[str], needed: set[str], unknown: str, missing: str) -> None:
    for name in sorted(needed - set(body)):
        raise Refused(400, missing.format(name))
    for name in sorted(set(body) - known):
        raise Refused(400, unknown.format(name))


def _schemas(schema: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    yield place, schema
    for name, inner in schema.get("properties", {}).items():
        yield from _schemas(inner, (*place, name))
    if "items" in schema:
        yield from _schemas(schema["items"], (*place, "items"))


def _closed(place: tuple[str, ...], schema: Mapping[str, Any], message: str) -> None:
    if schema.get("type") != "object":
        return
    if schema.get("additionalProperties") is not False or set(schema["required"]) != set(schema["properties"]):
        raise Refused(400, message.format(place))
