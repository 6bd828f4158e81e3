"""Gemini on Vertex AI."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from loopback import Answer, ReceivedRequest

from documented import KEY, Refused
from documented.gemini_generate import DOCUMENTED as GEMINI
from documented.gemini_generate import GEMINI_FIELDS, check_contents, google_answer

VERTEX_FIELDS = GEMINI_FIELDS | {"labels", "modelArmorConfig"}


def provider(asked: ReceivedRequest) -> Answer:
    bad_token = Refused(401, "Request had invalid authentication credentials.", status="UNAUTHENTICATED")
    right = asked.headers.get("authorization") == f"Bearer {KEY}"
    path = "/v1/projects/p-1/locations/europe-west4/publishers/google/models/ann-1:generateContent"
    return google_answer(asked, right, bad_token, path, VERTEX_FIELDS)


DOCUMENTED = replace(
    GEMINI,
    provider=provider,
    check=partial(check_contents, fields=VERTEX_FIELDS),
    base="/v1/projects/p-1/locations/europe-west4",
    url="http://api.example/v1/publishers/google/models/ann-1:generateContent",
    headers={"authorization": "Bearer k-123"},
)
