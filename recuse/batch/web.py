"""HTTP to a judge's provider outside the calls themselves: files, batches, results. Errors in the provider's words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2
import stamina

from recuse.judges import wire
from recuse.judges.canonical import canonical
from recuse.judges.credentials import Credentials
from recuse.judges.provider_errors import words
from recuse.judges.transport import tls
from recuse.schema import Judge, RecuseError

PASSING = frozenset({408, 429, 500, 502, 503, 504, 529})
TIMEOUT_S = 600.0  # a file of 200 MB takes its time


class BatchError(RecuseError):
    """A provider did not take, find or give back a batch. `unsure`: it may have taken it all the same."""

    def __init__(self, message: str, unsure: bool = False) -> None:
        super().__init__(message)
        self.unsure = unsure


class _Passing(Exception):
    """An answer that asks to be tried again."""


class Web:
    """A provider as one judge reaches it: its base address and credentials. Use as a context manager."""

    def __init__(self, judge: Judge, credentials: Credentials, attempts: int = 6) -> None:
        self.judge = judge
        self._attempts = attempts
        self._secrets = [credentials.key or "", *credentials.headers.values()]
        self._headers = {**wire(judge.wire).headers(credentials.key), **judge.headers, **credentials.headers}
        self._http = httpx2.Client(verify=tls(), trust_env=False, follow_redirects=False, timeout=TIMEOUT_S)

    def __enter__(self) -> Web:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def address(self, path: str, *, without: tuple[str, ...] = (), inside: str = "") -> str:
        """`path` below the judge's `base_url`, which may end in the path of a call (`without`). `inside` is put in
        front of the path of `base_url`: Google's uploads are at /upload/v1beta/..., not at /v1beta/..."""
        base = self.judge.base_url.rstrip("/")
        for ending in without:
            base = base.removesuffix(ending)
        parts = urlsplit(base)
        return urlunsplit((parts.scheme, parts.netloc, f"{inside}{parts.path}{path}", "", ""))

    def get(self, url: str, parameters: Mapping[str, str] | None = None) -> Any:
        """A JSON object, tried again while the trouble may pass."""
        return self.object_of(self._again("GET", url, params=dict(parameters or {})))

    def lines(self, url: str) -> Iterator[dict[str, Any]]:
        """The objects of a file of JSON lines."""
        body = self._again("GET", url).content
        for number, line in enumerate(body.split(b"\n"), start=1):
            if line.strip():
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    value = None
                if not isinstance(value, dict):
                    raise BatchError(f"{self._place('GET', url)}: line {number} of the results is no JSON object")
                yield value

    def upload(self, url: str, **content: Any) -> httpx2.Response:
        """A POST that may be made twice without harm: an unused file is all that is left of the first."""
        return self._again("POST", url, **content)

    def create(self, url: str, body: Mapping[str, Any]) -> Any:
        """A POST that must not be made twice: tried again only where the provider says that it has not taken it."""
        as_json = {"content-type": "application/json"}
        made = self._again("POST", url, retried=frozenset({429}), content=canonical(body), headers=as_json)
        return self.object_of(made)

    def _again(
        self, method: str, url: str, *, retried: frozenset[int] = PASSING, bare: bool = False, **content: Any
    ) -> httpx2.Response:
        lasting = retried != PASSING
        headers = {**({} if bare else self._headers), **content.pop("headers", {})}
        try:
            for attempt in stamina.retry_context(
                on=_Passing if lasting else (_Passing, httpx2.TransportError), attempts=self._attempts, timeout=None
            ):
                with attempt:
                    response = self._http.request(method, url, headers=headers, **content)
                    if response.status_code in retried:
                        raise _Passing(self._answer_text(method, url, response))
                    if not response.is_success:
                        unsure = lasting and response.status_code >= 500
                        raise BatchError(self._answer_text(method, url, response), unsure)
                    return response
        except _Passing as error:
            raise BatchError(str(error)) from None
        except httpx2.RequestError as error:
            raise BatchError(
                f"{self._place(method, url)}: {type(error).__name__}; what was submitted is kept, so run the same "
                "command again",
                unsure=True,
            ) from None
        raise AssertionError("stamina ends by returning or raising")

    def object_of(self, response: httpx2.Response) -> dict[str, Any]:
        """The JSON object that an answer is."""
        try:
            value = response.json()
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            place = self._place(response.request.method, str(response.url))
            raise BatchError(f"{place}: the answer is no JSON object", unsure=True)
        return value

    def _answer_text(self, method: str, url: str, response: httpx2.Response) -> str:
        said = words(response.content, self._secrets)
        return f"{self._place(method, url)}: HTTP {response.status_code}{f': “{said}”' if said else ''}"

    def _place(self, method: str, url: str) -> str:
        return f"judge {self.judge.name}: {method} {url.partition('?')[0]}"
