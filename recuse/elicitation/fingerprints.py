"""The header that opens a cassette: who answered, under which settings, to which wording on which scale."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from recuse.elicitation.plan import Plan
from recuse.panels import Panel
from recuse.protocols import template
from recuse.protocols.wording import wording_hash
from recuse.ratings.scale import Numeric
from recuse.schema import Call, Judge
from recuse.tasks import Task


def headers(panel: Panel, plan: Plan, calls: Sequence[Call] | None = None) -> dict[str, dict[str, Any]]:
    """Cell -> header, for every cell of the plan, or of those of its calls that are known. A changed field makes the
    cell stale, and is named."""
    first_calls: dict[str, Call] = {}
    for call in plan.calls if calls is None else calls:
        first_calls.setdefault(call.cell, call)
    prompt, rubric = wording_hash(plan.task, template(plan.protocol)), rubric_hash(plan.task)
    return {
        cell: {
            "provenance": panel.provenance,
            "panel": panel.name,
            "task": plan.task.name,
            "protocol": plan.protocol,
            "judge": call.judge,
            "target": call.target,
            **({"stage": call.stage} if call.stage else {}),
            "factors": dict(call.factors),
            "source": panel.source,
            "fingerprint": {
                **_asked_how(plan.panel_judges.get(call.judge) or plan.judges[call.judge], call),
                "prompt": prompt,
                "rubric": rubric,
                "scale": scale_words(plan.task),
                **_served(panel, call.judge),
            },
        }
        for cell, call in first_calls.items()
    }


def digests(plan: Plan, headers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What a plan's judges were asked and who they are, short enough to keep beside their results: {"items", "prompt",
    "rubric", "scale", "judges": {name: digest}}, of the plan's `headers`."""
    asked = sorted({(item.id, item.target, _canonical(item.fields)) for item in plan.items.values()})
    digests: dict[str, Any] = {"items": _digest(asked)}
    judges: dict[str, dict[str, None]] = {}
    for header in headers.values():
        fingerprint = dict(header["fingerprint"])
        for name in ("prompt", "rubric", "scale"):
            digests[name] = fingerprint.pop(name)
        judges.setdefault(header["judge"], {})[_canonical(fingerprint)] = None
    return digests | {"judges": {name: _digest(sorted(prompts)) for name, prompts in sorted(judges.items())}}


_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str).encode


def _digest(value: Any) -> str:
    return hashlib.blake2b(_canonical(value).encode(), digest_size=8).hexdigest()


UNTOLD = (
    "title", "description", "target", "tier", "text", "cluster", "clusters", "people", "reference", "thresholds",
    "payloads", "rules",
)  # fmt: skip
"""Tables of task.toml that say nothing to a judge: prose for readers, and what answers are compared with."""


def rubric_hash(task: Task) -> str:
    """Identifies criteria, anchors and levels: 16 hex digits over task.toml without what no judge is told."""
    kept = {key: value for key, value in task.data.items() if key not in UNTOLD}
    return _digest(kept)


def scale_words(task: Task) -> str:
    """The ends of the task's scale, "1..5", or the options of its criteria where it has none, "toxic|not toxic"."""
    if "scale" in task.data:
        return f"{task.scale[0]:g}..{task.scale[1]:g}"
    return "; ".join(
        f"{scale.minimum:g}..{scale.maximum:g}" if isinstance(scale, Numeric) else "|".join(scale.options)
        for scale in task.scales.values()
    )


def _asked_how(judge: Judge, call: Call) -> dict[str, Any]:
    body = json.loads(call.request.body)
    tables = ("generationConfig", "inferenceConfig", "options")
    nested: dict[str, Any] = next((body[name] for name in tables if name in body), {})
    config = {**body, **nested}  # some formats keep their sampling parameters a level deeper
    return {
        "wire": judge.wire,
        "host": urlsplit(judge.base_url).netloc,
        "model": judge.model,
        "temperature": config.get("temperature"),
        "max_tokens": next((config[name] for name in _LIMITS if name in config), None),
        "parameters": dict(judge.parameters),
        "structured": judge.structured,
        "seeded": judge.seeded,
        # Only where there are any: what a cassette recorded without them says is still true.
        **{name: dict(more) for name in ("headers", "query", "rename") if (more := getattr(judge, name))},
        **({"omit": list(judge.omit)} if judge.omit else {}),
    }


_LIMITS = ("max_tokens", "maxOutputTokens", "max_completion_tokens", "max_output_tokens", "maxTokens")


def _served(panel: Panel, judge: str) -> Mapping[str, Any]:
    """What stands behind a local model's address and shows in no request."""
    if judge not in panel.servers:
        return {}
    server = panel.servers[judge]
    return {
        "served": {
            "weights_sha256": server.sha256,
            "packages": list(server.packages),
            "licence": server.licence,
            "context": server.context,
            "threads": server.threads,
            "chat_template": server.chat_template or "from the weights",
        }
    }
