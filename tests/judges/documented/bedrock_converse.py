"""Amazon Bedrock, Converse."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

from loopback import Answer, ReceivedRequest

from documented import GOOD, KEY, SYSTEM, USER, Documented, Refused, check_fields, good, names
from documented.anthropic_messages import check_bounded_schema

CONVERSE_FIELDS = names(
    "additionalModelRequestFields additionalModelResponseFieldPaths guardrailConfig inferenceConfig messages "
    "outputConfig performanceConfig promptVariables requestMetadata serviceTier system toolConfig"
)


def provider(asked: ReceivedRequest) -> Answer:
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
    check_fields(body, CONVERSE_FIELDS, {"messages"}, unknown, "Malformed input request: required key [{}] not found")
    for turn in body["messages"]:
        if turn["role"] not in ("user", "assistant") or not all(set(block) == {"text"} for block in turn["content"]):
            raise Refused(400, "Malformed input request: messages")
    settings = {"maxTokens", "temperature", "topP", "stopSequences"}
    check_fields(body.get("inferenceConfig", {}), settings, set(), unknown, "")
    config = body.get("outputConfig", {})
    check_fields(config, {"textFormat", "effort"}, set(), unknown, "")
    if form := config.get("textFormat"):
        check_fields(form, {"type", "structure"}, {"type", "structure"}, unknown, "required key [{}] not found")
        schema = form["structure"]["jsonSchema"]["schema"]
        if not isinstance(schema, str):
            raise Refused(400, "Malformed input request: schema must be a string")
        check_bounded_schema(json.loads(schema))


DOCUMENTED = Documented(
    provider=provider,
    check=check_converse,
    base="",
    url="http://api.example/v1/model/ann-1/converse",
    body={
        "system": [{"text": SYSTEM}],
        "messages": [{"role": "user", "content": [{"text": USER}]}],
        "inferenceConfig": {"temperature": 0.7, "maxTokens": 200},
    },
    headers={"authorization": "Bearer k-123"},
    reply={
        "output": {"message": {"role": "assistant", "content": [{"text": GOOD}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 11, "outputTokens": 7},
    },
    schema_at=("outputConfig", "textFormat", "structure", "jsonSchema", "schema"),
    names_model=False,
)
