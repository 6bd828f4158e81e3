"""Recording by batch: the missing calls go to the provider as files, for half the price, and come back within a day.
Here is what a batch interface must have, and how it reaches its provider."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple, Protocol, cast
from urllib.parse import urlsplit, urlunsplit

import httpx2
import stamina

from recuse.configuration import named
from recuse.judges import wire
from recuse.judges.client import Credentials, tls
from recuse.judges.description import canonical, segment
from recuse.judges.provider_responses import LARGEST_BODY, decompressed, parsed, words
from recuse.schema import Call, Judge, RawResponse, RecuseError

BATCHES = {name: f"{__name__}.providers.{name.upper()}" for name in ("openai", "anthropic", "gemini")}
LARGEST_RESULTS = 2 * 2**30  # bytes of a file of results, decompressed: 100,000 answers have a tenth of that
CALLS = ("/chat/completions", "/responses", "/messages")  # in which a `base_url` may end, beside Gemini's
PASSING = frozenset({408, 429, 500, 502, 503, 504, 529})
ATTEMPTS = 6  # while a trouble may pass
TIMEOUT_S = 600.0  # a file of 200 MB takes its time
_IN_MEMORY = 2**24  # bytes of a file of results; what is more lies on disk while it is read
UPLOAD_URL = "x-goog-upload-url"  # the one header of an answer that a batch interface reads


class Progress(NamedTuple):
    """How far a batch is. `results`: the addresses of the files that say what became of the requests, once it is done;
    `fault`: why a whole batch came to nothing."""

    done: bool
    state: str  # the provider's word
    results: Sequence[str]
    fault: str = ""


class Lost(NamedTuple):
    """A request of a batch that got no answer. `again`: only time ran out, so it is worth submitting again."""

    why: str
    again: bool = False


Result = tuple[str, RawResponse | Lost]  # the number that a request was submitted under, and what became of it


class BatchInterface(Protocol):
    """What the rest needs to know of a provider's batches. A module or an object with these names is one."""

    MOST_REQUESTS: int  # of one batch
    MOST_BYTES: int  # of the file of one batch

    def entry(self, number: str, call: Call) -> Mapping[str, Any]:
        """The request of a call under its number, which is a line of the file."""

    def submit(self, web: Web, lines: Sequence[bytes], tag: str) -> str:
        """Hand in a file; the provider's name of the batch. `tag` is what `find` looks for."""

    def progress(self, web: Web, batch: str) -> Progress:
        """How far the batch is."""

    def result(self, entry: Mapping[str, Any]) -> Result:
        """What one line of the results says. An entry of another shape may raise anything that a wrong shape raises."""

    def cancel(self, web: Web, batch: str) -> None:
        """End the batch; what it has answered is still there."""

    def find(self, web: Web, tag: str, size: int, known: frozenset[str]) -> str | None:
        """A batch that was handed in under `tag` with `size` requests and is not among those `known`: the process died
        before it could note the name. None where there is none, or the provider cannot tell."""


def batch_interface(judge: Judge) -> BatchInterface:
    """The batch interface of a judge's provider; `RecuseError` where its wire format names none."""
    name = getattr(wire(judge.wire), "BATCH", None)
    if name is None:
        remedy = "record this judge with --record=missing, and leave it out here with --judges"
        raise RecuseError(f"judge {judge.name}: the wire format {judge.wire} has no batch interface; {remedy}")
    needs = ("MOST_REQUESTS", "MOST_BYTES", "entry", "submit", "progress", "result", "cancel", "find")
    where, known = BATCHES.get(name, name), tuple(BATCHES)
    return cast(BatchInterface, named(where, what="batch interface", package=__name__, known=known, needs=needs))


class BatchError(RecuseError):
    """A provider did not take, find or give back a batch. `unsure`: it may have taken it. `status`: of HTTP, else 0."""

    def __init__(self, message: str, unsure: bool = False, status: int = 0) -> None:
        super().__init__(message)
        self.unsure, self.status = unsure, status


class _Passing(BatchError):
    """An answer that asks to be tried again."""


class Web(AbstractContextManager["Web", None]):
    """A provider as one judge reaches it: its base address and credentials. Use as a context manager. Answers are
    bounded, in memory too: a compressed one is let go where it grows beyond what any answer has."""

    def __init__(self, judge: Judge, credentials: Credentials, texts: bool = True) -> None:
        self.judge, self._texts = judge, texts
        self._secrets = [credentials.key or "", *credentials.headers.values()]
        self._headers = {**wire(judge.wire).headers(credentials.key), **judge.headers, **credentials.headers}
        self._headers["accept-encoding"] = "identity"
        self._http = httpx2.Client(verify=tls(), trust_env=False, follow_redirects=False, timeout=TIMEOUT_S)

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def address(self, path: str, inside: str = "") -> str:
        """`path` below the judge's `base_url`, which may end in the path of a call. `inside` is put in front of the
        path of `base_url`: Google's uploads are at /upload/v1beta/..., not at /v1beta/..."""
        base = self.judge.base_url.rstrip("/")
        for call in (*CALLS, f"/models/{segment(self.judge.model)}:generateContent"):
            base = base.removesuffix(call)
        parts = urlsplit(base)
        return urlunsplit((parts.scheme, parts.netloc, f"{inside}{parts.path}{path}", "", ""))

    def shown(self, text: str) -> str:
        """The provider's words as they may be shown, without the judge's secrets."""
        return words(text.encode("utf-8", "replace"), self._secrets, self._texts)

    def get(self, path: str, parameters: Mapping[str, str] | None = None) -> Any:
        """The JSON object below `base_url`, tried again while the trouble may pass."""
        return self.object_of(self.send("GET", self.address(path), params=dict(parameters or {})))

    def lines(self, url: str) -> Iterator[dict[str, Any] | None]:
        """The objects of a file of JSON lines; None for a line that is none. `BatchError` for no file, or too large."""
        with SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
            encoding = self.send("GET", url, into=file).headers.get("content-encoding", "identity").lower()
            file.seek(0)
            if encoding not in ("identity", "gzip", "x-gzip"):
                raise BatchError(f"{self._place('GET', url)}: the results are compressed as {encoding!r}")
            source = file if encoding == "identity" else gzip.GzipFile(fileobj=file, mode="rb")
            left = LARGEST_RESULTS
            try:
                while line := source.readline(LARGEST_BODY + 1):
                    if (left := left - len(line)) < 0:
                        raise BatchError(f"{self._place('GET', url)}: more than 2 GB of results")
                    if line.strip():
                        value = parsed(line)
                        yield value if isinstance(value, dict) else None
            except (OSError, EOFError, zlib.error) as error:
                raise BatchError(f"{self._place('GET', url)}: the results are not valid gzip: {error}") from None

    def create(self, path: str, body: Mapping[str, Any]) -> Any:
        """A POST that must not be made twice."""
        sent: dict[str, Any] = {"content": canonical(body), "headers": {"content-type": "application/json"}}
        return self.object_of(self.send("POST", self.address(path), lasting=True, **sent))

    def send(
        self, method: str, url: str, *, lasting: bool = False, bare: bool = False, into: IO[bytes] | None = None,
        **content: Any,
    ) -> httpx2.Response:  # fmt: skip
        """An answer, tried again while the trouble may pass; what makes something `lasting` only where the provider
        says that it has not taken it. `bare`: without key and query. `into`: the file that a good answer goes to."""
        headers = {**({} if bare else self._headers), **content.pop("headers", {})}
        if query := {**({} if bare else self.judge.query), **content.pop("params", {})}:
            url = str(httpx2.URL(url).copy_merge_params(query))
        try:
            passing = _Passing if lasting else (_Passing, httpx2.TransportError)
            for attempt in stamina.retry_context(on=passing, attempts=ATTEMPTS, timeout=None):
                with attempt:
                    response = self._exchange(method, url, into, headers=headers, **content)
                    if response.is_success:
                        return response
                    message = words(response.content, self._secrets, self._texts)
                    status = f"HTTP {response.status_code}{f': “{message}”' if message else ''}"
                    fault = f"{self._place(method, url)}: {status}"
                    if response.status_code in ({429} if lasting else PASSING):
                        raise _Passing(fault)
                    raise BatchError(fault, lasting and response.status_code >= 500, response.status_code)
        except httpx2.RequestError as error:
            unsure = lasting and not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
            why = f"{type(error).__name__}; what was submitted is kept, so run the same command again"
            raise BatchError(f"{self._place(method, url)}: {why}", unsure) from None
        raise AssertionError("stamina ends by returning or raising")

    def _exchange(self, method: str, url: str, into: IO[bytes] | None, **content: Any) -> httpx2.Response:
        """One answer, decompressed within bounds; a good one goes `into` a file as it comes, where one is given."""
        with self._http.stream(method, url, **content) as got:
            filed = into if got.is_success else None
            body, left = filed or io.BytesIO(), LARGEST_RESULTS if filed else LARGEST_BODY
            body.seek(0)
            body.truncate()
            for part in got.iter_raw():
                if (left := left - len(part)) < 0:
                    raise BatchError(f"{self._place(method, url)}: the answer has no end; nothing of it was kept", True)
                body.write(part)
            kept = {name: value for name, value in got.headers.items() if name in ("content-encoding", UPLOAD_URL)}
            if filed:
                return httpx2.Response(got.status_code, headers=kept, request=got.request)
            body.seek(0)
            try:
                data = decompressed(body.read(), kept.pop("content-encoding", ""))
            except ValueError as error:
                raise BatchError(f"{self._place(method, url)}: {error}", True) from None
            return httpx2.Response(got.status_code, headers=kept, content=data, request=got.request)

    def object_of(self, response: httpx2.Response) -> dict[str, Any]:
        """The JSON object that an answer is."""
        value = parsed(response.content)
        if not isinstance(value, dict):
            place = self._place(response.request.method, str(response.url))
            raise BatchError(f"{place}: the answer is no JSON object", unsure=True)
        return value

    def _place(self, method: str, url: str) -> str:
        return f"judge {self.judge.name}: {method} {url.partition('?')[0]}"
