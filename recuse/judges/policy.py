"""How providers say, in an HTTP error, that their policy forbids an answer. That is an answer: this judge's refusal."""

from __future__ import annotations

from typing import Any

POLICY_CODES = frozenset({"content_filter", "content_policy_violation", "invalid_prompt", "safety", "refusal"})


def is_policy_refusal(status: int, payload: Any) -> bool:
    """Whether a 4xx with this JSON body refuses on policy: asked again, the provider would say so again."""
    error = payload.get("error") if isinstance(payload, dict) else None
    if not 400 <= status < 500 or not isinstance(error, dict):
        return False
    return bool(POLICY_CODES & {str(error.get("code")), str(error.get("type"))})
