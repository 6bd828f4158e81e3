"""One provider on loopback, one judge, some calls and one folder of cassettes: what a test of batches begins with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from batch_providers import KEY, BatchProvider

from recuse.batch.recording import Batches
from recuse.cassettes.library import Library
from recuse.cassettes.matching import request_key
from recuse.judges import wire
from recuse.judges.client import Credentials
from recuse.schema import Call, Judge, Message, Prompt

CELL = "p/essays/rubric/ann~alpha"
HEADER = {"provenance": "recorded", "fingerprint": {"model": "ann-1"}}


class Setting:
    """One provider, one judge, some calls, one folder of cassettes. Every `batches()` is a process of its own."""

    def __init__(self, provider: BatchProvider, url: str, folder: Path) -> None:
        self.provider, self.folder = provider, folder
        self.judge = Judge("ann", "Ann", provider.WIRE, f"{url}{provider.BASE}", "ann-1")
        self.calls = [self._call(item, repeat) for item in range(3) for repeat in range(2)]
        self.said: list[str] = []
        self.must_stop = lambda: ""

    @property
    def state(self) -> Path:
        return self.folder / ".batches" / "p.json"

    def _call(self, item: int, repeat: int) -> Call:
        prompt = Prompt((Message("user", f"Score text {item}, “half \ud83d” included."),), 0.7, 200)
        request = wire(self.judge.wire).request(self.judge, prompt, None)
        return Call("essays", "rubric", "ann", str(item), "alpha", (), repeat, request, request_key(request), CELL)

    def library(self, mode: str = "missing") -> Library:
        library = Library(self.folder, "p", mode=mode, secrets=[KEY] if mode != "replay" else ())
        library.expect(self.calls, {CELL: HEADER})
        return library

    @contextmanager
    def batches(self, texts: bool = True) -> Iterator[Batches]:
        library = self.library()
        library.texts = texts
        with library.use():
            yield Batches(
                library,
                {"ann": self.judge},
                {"ann": Credentials(KEY)},
                say=self.said.append,
                must_stop=lambda: self.must_stop(),
            )

    def replayed(self) -> list[str]:
        """The words that a replay reads, call by call."""
        library = self.library("replay")
        return [wire(self.judge.wire).read(_json(library.response(call).body)).text for call in self.calls]


def _json(body: bytes) -> dict[str, object]:
    value = json.loads(body)
    assert isinstance(value, dict)
    return value
