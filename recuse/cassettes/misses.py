"""A request that no recording answers: which one it is, what the nearest recording asks instead, what to do."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

from recuse.cassettes.coverage import describe
from recuse.cassettes.stored_requests import Recorded
from recuse.schema import Call, RecuseError, Request


class MissingInteractionError(RecuseError):
    """Replay was asked for something that is not in the cassettes. Nothing went out."""


def miss(
    call: Call | None, asked: Request, run: int | None, where: str, recorded: Iterable[Recorded], remedy: str
) -> str:
    """The message of a miss. `recorded`: the requests stored in the cell, among which the nearest is looked for."""
    who = describe(call) if call else f"{asked.method} {asked.url}, repeat {'unknown' if run is None else run}"
    parts = [f"no recorded answer for {who}", f"  looked in {where}"]
    found = nearest(recorded, asked)
    if found:
        differences = request_differences(found, asked)
        parts += (
            ["  the nearest recorded request differs in:", *(f"    {line}" for line in differences)]
            if differences
            else ["  the same request is recorded, but not this repeat of it"]
        )
    else:
        parts.append("  nothing is recorded there")
    return "\n".join([*parts, f"  {remedy}"])


def nearest(recorded: Iterable[Recorded], asked: Request) -> Recorded | None:
    """The stored request with the fewest differing members, and among those the smallest difference in text."""
    return min(recorded, key=lambda found: _distance(found, asked), default=None)


def request_differences(recorded: Recorded, asked: Request, limit: int = 8) -> list[str]:
    """What differs between a stored and an asked request, member by member, long texts line by line."""
    found: list[str] = []
    if recorded[0] != asked.method:
        found.append(f"method: recorded {recorded[0]}, asked {asked.method}")
    if recorded[1] != asked.url:
        found.append(f"url: recorded {recorded[1]}, asked {asked.url}")
    old, new = _leaves(recorded[2]), _leaves(asked.body)
    for path in [*old, *(p for p in new if p not in old)]:
        if old.get(path) != new.get(path):
            found += _difference(path, old.get(path), new.get(path))
    return found if len(found) <= limit else [*found[:limit], f"... and {len(found) - limit} more"]


def _difference(path: str, old: Any, new: Any) -> list[str]:
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > 60:
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
        changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        return [f"{path}: (- recorded, + asked)", *(f"  {_cut(line)}" for line in changed[:6])]
    return [f"{path}: recorded {_shown(old)}, asked {_shown(new)}"]


def _distance(recorded: Recorded, asked: Request) -> tuple[int, int]:
    """Number of members that differ, then the size of what differs; cheap enough for a few thousand candidates."""
    old, new = _leaves(recorded[2]), _leaves(asked.body)
    paths = [path for path in {*old, *new} if old.get(path) != new.get(path)]
    size = sum(_unshared(str(old.get(path, "")), str(new.get(path, ""))) for path in paths)
    return len(paths) + (recorded[1] != asked.url), size


def _unshared(one: str, other: str) -> int:
    """Length of what is left after the common beginning and end are taken away."""
    shortest = min(len(one), len(other))
    start = next((i for i in range(shortest) if one[i] != other[i]), shortest)
    end = next((i for i in range(shortest - start) if one[-1 - i] != other[-1 - i]), shortest - start)
    return max(len(one), len(other)) - start - end


def _leaves(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {"body": body.decode("utf-8", "replace")}
    found: dict[str, Any] = {}
    _walk(value, "", found)
    return found


def _walk(value: Any, path: str, found: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for name, member in value.items():
            _walk(member, f"{path}.{name}" if path else name, found)
    elif isinstance(value, list):
        for position, member in enumerate(value):
            _walk(member, f"{path}[{position}]", found)
    else:
        found[path or "body"] = value


def _shown(value: Any) -> str:
    return "nothing" if value is None else _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str, width: int = 120) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
