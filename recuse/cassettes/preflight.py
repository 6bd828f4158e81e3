"""What would be recorded is looked at before it is asked for: keys would be sent, stored and committed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from recuse.cassettes.redaction import Secrets
from recuse.key_shapes import key_shapes_in
from recuse.schema import Call, RecuseError


def check_no_keys(cell: str, header: Mapping[str, Any], missing: Iterable[Call], secrets: Secrets) -> None:
    """`RecuseError` if the header or a prompt of a cell holds a known secret, or what looks like a key."""
    if _holds_key(json.dumps(header, ensure_ascii=False, default=str), secrets):
        raise RecuseError(
            f"cell {cell}: what describes this judge (its parameters, model or address) holds what looks like an API "
            "key (value not shown); name the key's environment variable in api_key_env instead"
        )
    for call in {call.key: call for call in missing}.values():
        if _holds_key(call.request.body.decode("utf-8", "surrogateescape"), secrets):
            raise RecuseError(
                f"cell {cell}: the prompt for item {call.item} holds what looks like an API key (value not shown); it "
                "would be sent to the judge and stored in the cassette. Take it out of the item or the prompt, then "
                "record"
            )


def check_no_twin(root: Path, panel: str) -> None:
    """`RecuseError` if another panel's folder differs from this one only in case."""
    names = [found.name for found in root.iterdir()] if root.is_dir() else []
    if twin := next((name for name in names if name != panel and name.casefold() == panel.casefold()), None):
        raise RecuseError(
            f"{root}: the panels {panel!r} and {twin!r} differ only in case: one folder on some systems. Rename one"
        )


def _holds_key(text: str, secrets: Secrets) -> bool:
    data = text.encode("utf-8", "surrogateescape")
    return secrets.found_in(data) or bool(key_shapes_in(data))
