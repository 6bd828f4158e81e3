"""From an HTTP request to its key, and from a key to its cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recuse.cassettes.key import CELL_HEADER, RUN_HEADER, canonical_body, key_of, public_url
from recuse.cassettes.redaction import Secrets
from recuse.schema import Call, RecuseError


@dataclass(frozen=True, slots=True)
class Asked:
    """What an HTTP request asks: which key, for the how-manieth time, of which cell (None: no cell is known for it)."""

    key: str
    run: int
    cell: str | None


class Lookup:
    """Knows the requests of the plans by their bytes, so that replay seldom has to canonicalise one."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._keys: dict[tuple[str, str, bytes], str] = {}
        self._cells: dict[str, str | None] = {}  # key -> its only cell; None: more than one cell asks it

    def remember(self, cell: str, calls: Iterable[Call]) -> None:
        for key, request in {call.key: call.request for call in calls}.items():
            self._keys[request.method, public_url(request.url), request.body] = key
            if self._cells.setdefault(key, cell) != cell:
                self._cells[key] = None

    def asked(self, method: str, url: str, body: bytes, headers: Mapping[str, str | bytes]) -> Asked | None:
        """None if the request carries no run header, hence is no judge call."""
        run = headers.get(RUN_HEADER)
        if run is None:
            return None
        key = self._key(method, url, body)
        cell = _text(headers.get(CELL_HEADER)) or self._cells.get(key)
        if cell is None and key in self._cells:
            place = f"{method} {public_url(url)}"
            raise RecuseError(f"several cells ask request {key} ({place}); send its cell in {CELL_HEADER}")
        return Asked(key, _whole(_text(run) or ""), cell)

    def _key(self, method: str, url: str, body: bytes) -> str:
        place = public_url(url)
        known = self._keys.get((method, place, body))
        if known is not None:
            return known
        return key_of(method, self._secrets.clean_text(place), self._secrets.clean(canonical_body(body)))


def _text(value: str | bytes | None) -> str | None:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise RecuseError(f"the header {RUN_HEADER} must be a whole number from 0, got {text!r}")
    return int(text)
