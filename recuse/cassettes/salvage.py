"""What can be saved of a damaged cassette: its intact lines, in an order that can be read."""

from __future__ import annotations

from recuse.cassettes import record_format
from recuse.cassettes.index import Interaction

DAMAGED = ".damaged"  # beside a cassette: the file as it was before its damaged lines were cut out


def salvaged(data: bytes, name: str) -> tuple[bytes, list[str]]:
    """The whole lines of a damaged cassette, put back in order, and what had to be left out (with line numbers).

    Line endings changed by version control are put back, a header that slipped down goes to the top, and two cassettes
    of the same cell that were joined become one. What another cell's header precedes is left out."""
    kept = _Salvage(name)
    pieces = data.split(b"\n")
    for number, raw in enumerate(pieces, 1):
        line = raw.removesuffix(b"\r")
        if record_format.is_intact(line):
            kept.take(number, line)
        elif number < len(pieces):  # the last piece is what follows the last line feed: nothing, or an unfinished line
            kept.dropped.append((number, "damaged"))
    return kept.data()


class _Salvage:
    """The intact lines of a file by what they are: requests before their answers, wherever they stood."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.dropped: list[tuple[int, str]] = []
        self._header = b""
        self._foreign = False  # the last header was that of another recording
        self._requests: dict[str, tuple[int, bytes]] = {}
        self._answers: dict[Interaction, tuple[int, bytes]] = {}

    def take(self, number: int, line: bytes) -> None:
        kind = record_format.kind_of(line)
        if kind == record_format.HEADER:
            self._foreign = bool(self._header) and not _same_recording(self._header, line)
            self._header = self._header or line
            if self._foreign:
                self.dropped.append((number, "from here on another cassette was appended"))
        elif self._foreign:
            return
        elif kind == record_format.REQUEST:
            self._requests.setdefault(record_format.request_key_of(line), (number, line))
        elif kind == record_format.ANSWER:
            found = record_format.answer_key_of(line)
            if found in self._answers and self._answers[found][1] != line:
                self.dropped.append((number, "a second answer to the same repeat"))
            self._answers.setdefault(found, (number, line))

    def data(self) -> tuple[bytes, list[str]]:
        lines = [self._header] if self._header else []
        like = record_format.like_of
        whole = {key for key, (_, line) in self._requests.items() if not like(line)}
        usable = sorted(
            (key for key, (_, line) in self._requests.items() if not like(line) or like(line) in whole),
            key=lambda key: (key not in whole, self._requests[key][0]),
        )
        lines += [self._requests[key][1] for key in usable]
        self.dropped += [(n, "its base is missing") for key, (n, _) in self._requests.items() if key not in usable]
        for (key, _), (number, line) in self._answers.items():
            if key in usable:
                lines.append(line)
            else:
                self.dropped.append((number, "without its request"))
        said = [f"{self._name}:{number}: {what}" for number, what in sorted(self.dropped)]
        return b"".join(line + b"\n" for line in lines), said


def _same_recording(one: bytes, other: bytes) -> bool:
    a, b = record_format.read_header(one), record_format.read_header(other)
    return all(a.get(name) == b.get(name) for name in ("cell", "provenance", "fingerprint"))
