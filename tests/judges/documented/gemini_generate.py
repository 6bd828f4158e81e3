"""Gemini API, and what Vertex AI has in common with it."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from loopback import Answer, ReceivedRequest

from documented import GOOD, KEY, SYSTEM, USER, Documented, Refused, check_fields, good, names

GEMINI_FIELDS = names(
    "cachedContent contents generationConfig safetySettings serviceTier store systemInstruction toolConfig tools"
)
CONFIG_FIELDS = names(
    "audioTimestamp candidateCount enableAffectiveDialog enableEnhancedCivicAnswers frequencyPenalty logprobs "
    "maxOutputTokens mediaResolution presencePenalty responseFormat responseJsonSchema responseLogprobs "
    "responseMimeType responseModalities responseSchema routingConfig seed speechConfig stopSequences "
    "temperature thinkingConfig topK topP"
)


def provider(asked: ReceivedRequest) -> Answer:
    bad_key = Refused(400, "API key not valid. Please pass a valid API key.", details=[{"reason": "API_KEY_INVALID"}])
    right = asked.headers.get("x-goog-api-key") == KEY and "key=" not in asked.target
    return google_answer(asked, right, bad_key, "/v1beta/models/ann-1:generateContent", GEMINI_FIELDS)


def google_answer(
    asked: ReceivedRequest, right_key: bool, bad_key: Refused, path: str, fields: frozenset[str]
) -> Answer:
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
    check_fields(body, fields, {"contents"}, unknown, "contents is not specified")
    for turn in body["contents"]:
        if turn.get("role") not in ("user", "model"):
            raise Refused(400, "Please use a valid role: user, model.")
    config = body.get("generationConfig", {})
    check_fields(config, CONFIG_FIELDS, set(), unknown, "")
    if "responseJsonSchema" in config and config.get("responseMimeType") != "application/json":
        raise Refused(400, "Function calling with a response mime type other than JSON is unsupported")
    check_fields(
        config.get("thinkingConfig", {}), {"includeThoughts", "thinkingBudget", "thinkingLevel"}, set(), unknown, ""
    )


DOCUMENTED = Documented(
    provider=provider,
    check=partial(check_contents, fields=GEMINI_FIELDS),
    base="/v1beta",
    url="http://api.example/v1/models/ann-1:generateContent",
    body={
        "systemInstruction": {"parts": [{"text": SYSTEM}]},
        "contents": [{"role": "user", "parts": [{"text": USER}]}],
        "generationConfig": {"temperature": 0.7, "maxOutputTokens": 200},
    },
    headers={"x-goog-api-key": "k-123"},
    reply={
        "candidates": [{"content": {"parts": [{"text": GOOD}]}, "finishReason": "STOP"}],
        "modelVersion": "ann-1",
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7},
    },
    counted=("modelVersion", "usageMetadata"),
    schema_at=("generationConfig", "responseJsonSchema"),
    seed_at=("generationConfig", "seed"),
    assistant="model",
)
