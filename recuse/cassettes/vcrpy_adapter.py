"""vcrpy's side of a library: intercepts HTTP at the client's transport, finds answers by key instead of by scanning.
Everything vcrpy-specific is here; a contract test pins the names of vcrpy that are relied on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from http.client import responses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vcr.cassette import Cassette
from vcr.persisters.filesystem import CassetteNotFoundError
from vcr.record_mode import RecordMode
from vcr.request import Request as VcrRequest
from vcr.serialize import deserialize as vcr_deserialize

from recuse.cassettes import record_format
from recuse.cassettes.cell_file import contents, plain_path, stored_path
from recuse.cassettes.matching import REPEAT_HEADER
from recuse.cassettes.plain_file import CassetteError
from recuse.cassettes.record_format import index_of, read_requests
from recuse.schema import RawResponse, RecuseError, Request

if TYPE_CHECKING:
    from recuse.cassettes.library import Library


class LibraryCassette(Cassette):  # type: ignore[misc]
    """A vcrpy cassette without interactions of its own: it asks the library, and hands it what is recorded."""

    def __init__(self, library: Library, **settings: Any) -> None:
        super().__init__(**settings)
        self.library = library

    def can_play_response_for(self, request: VcrRequest) -> bool:
        """Whether a recording answers; raises `MissingInteractionError` where none does and none may be made."""
        request.recuse_request = Request(request.uri, request.body_bytes or b"", request.method)
        request.recuse_answer = answer = self.library.find(request.recuse_request, request.headers)
        request.recuse_looked_up = time.monotonic()
        return answer is not None

    def play_response(self, request: VcrRequest) -> dict[str, Any]:
        """The answer that `can_play_response_for` found, as vcrpy spells it."""
        return vcr_response(self.library.serve(*request.recuse_answer))

    def append(self, request: VcrRequest, response: dict[str, Any]) -> None:
        """Hand a real answer to the library, with the seconds since its request was looked up."""
        headers = {name: ", ".join(values) for name, values in response["headers"].items()}
        seconds = time.monotonic() - request.recuse_looked_up
        answer = RawResponse(response["status"]["code"], headers, response["body"]["string"], seconds)
        self.library.store(request.recuse_request, request.headers, answer)

    @property
    def write_protected(self) -> bool:
        """Never: vcrpy asks this before it lets a request out."""
        # A miss has already been raised by `can_play_response_for`; what it lets through may go out.
        return False

    def _load(self) -> None:
        self.rewound = True

    def _save(self, force: bool = False) -> None:
        """Nothing to do: every interaction was written when it was made."""


def vcr_response(response: RawResponse) -> dict[str, Any]:
    """A response as vcrpy spells it."""
    return {
        "status": {"code": response.status, "message": responses.get(response.status, "")},
        "headers": {name: [value] for name, value in response.headers.items()}, "body": {"string": response.body},
    }  # fmt: skip


def patched(library: Library) -> AbstractContextManager[LibraryCassette]:
    """A context: all HTTP of this process goes through the library while it is open."""
    return LibraryCassette.use(path=str(library.root), library=library, record_mode=RecordMode.NONE)  # type: ignore[no-any-return]


class Persister:
    """vcrpy's reader of files, for cassettes in either form (`register_persister`); its own reads plain ones only."""

    @staticmethod
    def load_cassette(cassette_path: str, serializer: Any) -> Any:
        """The cassette as vcrpy's requests and responses; vcrpy's `CassetteNotFoundError` where there is none."""
        try:
            data, _ = contents(stored_path(plain_path(Path(cassette_path))))
        except FileNotFoundError:
            raise CassetteNotFoundError from None
        return vcr_deserialize(data.decode("utf-8", "surrogateescape"), serializer)

    @staticmethod
    def save_cassette(cassette_path: str, cassette_dict: Mapping[str, Any], serializer: Any) -> None:
        """Always raises `RecuseError`, as `serialize` does."""
        serialize(cassette_dict)


def deserialize(text: str) -> dict[str, Any]:
    """The cassette as vcrpy's mapping {"version": 1, "interactions": [{"request", "response"}, ...]}, in file order."""
    data = text.encode("utf-8", "surrogateescape")
    index = index_of(Path("<cassette>"), data)
    if index.faults:
        raise CassetteError("\n  ".join(("the cassette is damaged", *index.faults[:5])))
    requests = read_requests(index, data)
    interactions = []
    for (key, repeat), place in index.answers.items():
        method, url, body = requests[key]
        request = {"method": method, "uri": url, "body": body, "headers": {REPEAT_HEADER: [str(repeat)]}}
        response = vcr_response(record_format.read_answer(data, *place))
        interactions.append({"request": request, "response": response})
    return {"version": 1, "interactions": interactions}


def serialize(cassette: Mapping[str, Any]) -> str:
    """vcrpy's writing side, which always raises `RecuseError`: our cassettes are written by the library alone."""
    remedy = 'record with `pytest evals/ --record=missing` and open them with record_mode="none"'
    raise RecuseError(f"stock vcrpy may read Recuse cassettes, not write them; {remedy}")


def same_repeat(one: VcrRequest, other: VcrRequest) -> None:
    """A vcrpy matcher: both requests are the same repeat."""
    assert one.headers.get(REPEAT_HEADER) == other.headers.get(REPEAT_HEADER), f"different {REPEAT_HEADER}"
