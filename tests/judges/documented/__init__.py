"""What the providers' public documentation says of each wire format: one module per format, of the same name. Every
test of this folder that goes over the formats takes its facts from here. docs/providers.md says what was read and when.

A module holds `DOCUMENTED`. Its provider is a function from a request to an answer that rejects what the real one
rejects: unknown, missing and misplaced fields, fields a model no longer takes, a wrong version, a wrong key. The good
answer is made by the wire format's own `payload`. The sets of fields are facts of the published API definitions; the
error texts are worded after the real ones' patterns.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopback import Answer, ReceivedRequest

from recuse.judges import wire

KEY = "canary-9d2f6c81e4"
GOOD = "Good."
SYSTEM, USER = "Be fair.", "Score “this”."


@dataclass(frozen=True)
class Documented:
    """One wire format, for the judge `ann` at http://api.example/v1 with the model ann-1."""

    provider: Callable[[ReceivedRequest], Answer]
    check: Callable[[Any], None]  # what the provider checks of a body; raises `Refused`
    base: str  # path of the base address at the provider
    url: str
    body: Mapping[str, Any]  # what SYSTEM and USER become at temperature 0.7 with at most 200 tokens
    headers: Mapping[str, str]  # for the key "k-123"
    reply: Mapping[str, Any]  # "Good." in full: by ann-1, 11 tokens in and 7 out
    counted: tuple[str, ...] = ("model", "usage")  # members of `reply` that tell model and tokens
    schema_at: tuple[str, ...] = ()  # where the schema stands in a body; empty: the format sends none
    seed_at: tuple[str, ...] = ()  # likewise the seed
    assistant: str = "assistant"  # the role of what the judge answered before
    names_model: bool = True  # whether the answer says which model gave it
    flags_refusal: bool = True  # whether the answer says that it is a refusal

    @property
    def plain(self) -> dict[str, Any]:
        """The reply without model and tokens."""
        return {name: value for name, value in self.reply.items() if name not in self.counted}


def documented(wire_name: str) -> Documented:
    """The facts of a format. A format without its module here is told where to put it."""
    where = Path(__file__).with_name(f"{wire_name}.py")
    assert where.is_file(), f"write tests/judges/documented/{where.name} for the wire format {wire_name}"
    found: Documented = importlib.import_module(f"documented.{wire_name}").DOCUMENTED
    return found


class Refused(Exception):
    """The provider does not take this request."""

    def __init__(self, code: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.more = code, message, more


def good(wire_name: str) -> Any:
    return wire(wire_name).payload(GOOD, model="ann-1", refusal=False, input_tokens=11, output_tokens=7)


def at(body: Any, place: tuple[str, ...]) -> Any:
    """What stands in a body at `place`."""
    for step in place:
        body = body[step]
    return body


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def check_fields(body: Any, known: frozenset[str] | set[str], needed: set[str], unknown: str, missing: str) -> None:
    for name in sorted(needed - set(body)):
        raise Refused(400, missing.format(name))
    for name in sorted(set(body) - known):
        raise Refused(400, unknown.format(name))


def schemas(schema: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    yield place, schema
    for name, inner in schema.get("properties", {}).items():
        yield from schemas(inner, (*place, name))
    if "items" in schema:
        yield from schemas(schema["items"], (*place, "items"))


def check_closed(place: tuple[str, ...], schema: Mapping[str, Any], message: str) -> None:
    if schema.get("type") != "object":
        return
    if schema.get("additionalProperties") is not False or set(schema["required"]) != set(schema["properties"]):
        raise Refused(400, message.format(place))
