"""Azure OpenAI by deployment: chat completions without a model, at an address with a version."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from loopback import Answer, ReceivedRequest

from documented import KEY, Documented, check_fields
from documented.openai_chat import CHAT_FIELDS, check_chat_settings, openai_answer
from documented.openai_chat import DOCUMENTED as CHAT


def provider(asked: ReceivedRequest) -> Answer:
    if parse_qs(urlsplit(asked.target).query).get("api-version") != ["2024-10-21"]:
        return Answer(404, {"error": {"code": "404", "message": "Resource not found"}})
    path = "/openai/deployments/ann-1/chat/completions"
    return openai_answer(asked, path, check_chat_without_model, "azure_openai", "api-key", KEY)


def check_chat_without_model(body: Any) -> None:
    check_fields(body, CHAT_FIELDS, {"messages"}, "Unknown parameter: '{}'.", "Missing required parameter: '{}'.")
    check_chat_settings({"model": "", **body})


DOCUMENTED = Documented(
    provider=provider,
    check=check_chat_without_model,
    base="",
    url="http://api.example/v1/openai/deployments/ann-1/chat/completions?api-version=2024-10-21",
    body={name: value for name, value in CHAT.body.items() if name != "model"},
    headers={"api-key": "k-123"},
    reply=CHAT.reply,
    schema_at=CHAT.schema_at,
    seed_at=CHAT.seed_at,
)
