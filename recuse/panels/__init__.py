"""Panels (fixtures/panels/*.toml), read and checked: which judges are examined, how they are reached, on what tasks. No
credential stands in such a file: its tables name the environment variables that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from recuse.configuration import checked_distinct, checked_name
from recuse.configuration.toml_files import ConfigurationError, Table, parse, read_toml
from recuse.judges import wire
from recuse.judges.description import check_description, check_headers
from recuse.protocols import protocol
from recuse.schema import Judge, Provenance, RecuseError, SourceFixes
from recuse.schema.results import JudgeRow, PanelRow
from recuse.security.redaction import SECRET_NAMES, looks_like_a_key

LEVELS: tuple[SourceFixes, ...] = get_args(SourceFixes)
"""What the source of a panel fixes (`source_fixes` of its file), the least first; each includes those before it.
Replies that were drawn to carry a study's printed statistics carry nothing else of it, so a question that rests on more
(`pytest.mark.asks(..., rests_on="cells")`, "pairs" unless it says otherwise) is not asked of that panel.

    margins   totals of a judge over texts (what it gave its own, received for it, gave to others) and statistics as
              printed; nothing of a single author or text
    cells     mean and spread over repeats of what each judge gave each text, and what follows from these: deviations
              from peers and people, over texts or over repeats; nothing of a single reply
    pairs     the single replies: everything, what goes together within one, over texts, between judges and conditions
"""
UNLOCK: Mapping[str, str] = {
    "cells": "give each judge's score of each text: totals over texts or authors do not contain them",
    "pairs": "give each judge's single replies: published statistics do not say which scores belong to one reply",
}
EXACT_REQUIREMENT = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?==[A-Za-z0-9][A-Za-z0-9.+!_-]*$"
"""A requirement that names one version of one package of the index: a folder or an address would be built, and run."""
FILE_NAME = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"  # a name without a path
SECRET_WORDS = frozenset({"key", "apikey", "token", "auth", "authorization", "secret", "password", "cookie"})
"""How the names of headers end that carry credentials."""


@dataclass(frozen=True)
class Panel:
    """A panel file, checked. `judges` keeps the order of the file."""

    name: str
    path: Path
    description: str
    provenance: Provenance
    source: str
    budget_usd: float
    free: bool
    source_fixes: SourceFixes
    judges: Mapping[str, Judge]
    tasks: Mapping[str, TaskTable]
    servers: Mapping[str, LocalServer]
    stand_in: StandIn | None
    behaviours: Mapping[str, str]
    replaces: Mapping[str, str]  # candidate -> the judge in use
    changes: Mapping[str, tuple[str, ...]]  # candidate -> what it changes
    words: Mapping[str, tuple[str | None, str | None]]  # candidate -> its prompts, its rubric; None: the task's
    families: Mapping[str, str]  # judge -> the family of its model
    uses: tuple[str, ...] | None  # as it states; None where its ratings say

    def judges_of(self, task: str) -> dict[str, Judge]:
        """The judges in use that are asked about a task, in the order of the file; a candidate is none of them."""
        named = self.task(task).judges
        wanted = self.judges if named is None else named
        return {name: judge for name, judge in self.judges.items() if name not in self.replaces and name in wanted}

    def candidates_of(self, task: str) -> dict[str, Judge]:
        """Candidates that are asked about a task for which the judge that they would replace is asked too."""
        named, in_use = self.task(task).judges, self.judges_of(task)
        in_question = [name for name, incumbent in self.replaces.items() if incumbent in in_use]
        return {name: self.judges[name] for name in in_question if named is None or name in named}

    def own(self, targets: Sequence[str]) -> dict[str, str]:
        """Judge -> the target that is its own work, for the judges that have one among `targets`."""
        return {name: j.author for name, j in self.judges.items() if j.author in targets and j.author is not None}

    def record(self) -> PanelRow:
        """As builtins, for results.json: its judges, candidates among them, without their addresses."""
        judges: list[JudgeRow] = [
            {"name": j.name, "label": j.label, "wire": j.wire, "model": j.model, "author": j.author}
            for j in self.judges.values()
        ]
        return {
            "name": self.name, "provenance": self.provenance, "description": self.description, "source": self.source,
            "judges": judges, "tasks": list(self.tasks),
        }  # fmt: skip

    def task(self, name: str) -> TaskTable:
        """What the panel is asked about a task. `RecuseError` where the panel does not have it."""
        if name not in self.tasks:
            raise RecuseError(f"{self.path}: panel {self.name} has no task {name!r}; it has {', '.join(self.tasks)}")
        return self.tasks[name]


def load_panel(path: Path) -> Panel:
    """Read and check one panel file. `ConfigurationError` with all faults of form at once, each with its line; then
    `RecuseError` for the first name that cannot be, or that names nothing."""
    table = parse(PanelTable, read_toml(path), path)
    where, judges = str(path), [judge.name for judge in table.judge]
    checked_name(table.name, "panel", where)
    for name in judges:
        checked_name(name, "judge", where)
    checked_distinct(judges, "judge", where)
    checked_distinct([t.name for t in table.task], "task", where)
    for task in table.task:
        place = f"{path}: task {checked_name(task.name, 'task', where)}"
        checked_distinct(task.protocols, "protocol", where)
        for name in task.protocols:
            try:
                protocol(checked_name(name, "protocol", where))
            except RecuseError as error:
                raise ConfigurationError(f"{place}: {error}") from error
        for key in ("repeats", "items", "first", "factors"):
            if unknown := [p for p in getattr(task, key) if p not in task.protocols]:
                raise ConfigurationError(f"{place}: {key} for {', '.join(unknown)}, which is not in protocols")
        if unknown := [name for name in task.judges or () if name not in judges]:
            raise ConfigurationError(f"{place}: unknown judge {', '.join(unknown)}; the panel has {', '.join(judges)}")
    kept = ("name", "description", "provenance", "source", "budget_usd", "free", "source_fixes", "stand_in")
    candidates = [j for j in table.judge if j.replaces is not None]
    return Panel(
        path=path, **{name: getattr(table, name) for name in kept},
        judges={j.name: j.judge() for j in table.judge}, tasks={t.name: t for t in table.task},
        servers={j.name: j.server for j in table.judge if j.server},
        behaviours={j.name: j.behaviour for j in table.judge if j.behaviour},
        replaces={j.name: str(j.replaces) for j in candidates},
        changes={j.name: _changes(j, table.judge) for j in candidates},
        words={j.name: (j.prompts, j.rubric) for j in table.judge if j.prompts or j.rubric},
        families={j.name: j.family for j in table.judge if j.family},
        uses=None if table.use is None else (table.use,) if isinstance(table.use, str) else tuple(table.use),
    )  # fmt: skip


def _changes(judge: JudgeTable, panel: Sequence[JudgeTable]) -> tuple[str, ...]:
    """What a candidate changes: what it says, or the model where that is another; and words of its own."""
    words = [kind for kind, own in (("prompt", judge.prompts), ("rubric", judge.rubric)) if own]
    incumbent = next(one for one in panel if one.name == judge.replaces)
    same = (judge.wire, judge.base_url, judge.model) == (incumbent.wire, incumbent.base_url, incumbent.model)
    kinds = [] if words and same and "change" not in judge.model_fields_set else judge.change
    return tuple(dict.fromkeys([*kinds, *words]))


class Price(Table):
    """Dollars per million tokens."""

    input_usd_per_mtok: float = Field(ge=0)
    output_usd_per_mtok: float = Field(ge=0)


class LocalServer(Table):
    """A model served on loopback while recording, its weights taken from a package index. `serve` names a function of
    (judge's name, base_url, this table, folder for weights, what prints) to a context in which the model answers."""

    serve: str | None = None  # recording needs it, replay does not
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
    family: str | None = None  # of models; siblings are no neutral peers
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
            remedy = "name the key's variable in api_key_env"
            others = 'put other parameters into query = { api-version = "..." }'
            raise ValueError(f"base_url may not carry credentials or a query; {remedy}, and {others}")
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
        others = {"price", "server", "behaviour", "label", "omit", "family", "replaces", "change", "prompts", "rubric"}
        values = self.model_dump(exclude=others) | (self.price.model_dump() if self.price else {})
        return Judge(label=self.label or self.name, omit=tuple(self.omit), **values)


class TaskTable(Table):
    """[[task]] of a panel file: what its judges are asked, and how much of it."""

    name: str
    protocols: list[str] = Field(min_length=1)
    repeats: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    targets: list[str] | None = None
    judges: list[str] | None = None  # which of the panel's judges; all unless given
    factors: dict[str, dict[str, list[str]]] = Field(default_factory=dict)  # protocol -> factor -> levels asked
    items: dict[str, str] = Field(default_factory=dict)  # protocol -> file of the task folder, instead of items.jsonl
    first: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)  # protocol -> so many items, not all


class StandIn(Table):
    """What answers in place of the judges while recording: stored replies, or behaviours planted in code."""

    kind: Literal["table", "scripted"]
    folder: str | None = None


class PanelTable(Table):
    """A panel file."""

    name: str
    description: str
    provenance: Literal["recorded", "reconstructed", "scripted"]
    source: str
    budget_usd: float = Field(default=0.0, ge=0)
    free: bool = False  # nobody is paid for these judges: recording asks no price
    source_fixes: SourceFixes = "pairs"
    use: str | list[str] | None = None  # what its judges are used for, as the gates file names it; "none": a study
    stand_in: StandIn | None = None
    task: list[TaskTable] = Field(min_length=1)
    judge: list[JudgeTable] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.stand_in is None) == (self.provenance != "recorded"):
            raise ValueError('a "recorded" panel has no [stand_in]; a "reconstructed" or "scripted" one needs it')
        if self.source_fixes != "pairs" and self.provenance != "reconstructed":
            got = f'so source_fixes is "pairs"; got "{self.source_fixes}"'
            raise ValueError(f'the replies of a "{self.provenance}" panel are the judges\' own, {got}')
        called: dict[str, str] = {}
        for judge in self.judge:
            for name in (judge.name, judge.label or judge.name):
                other = called.setdefault(name.casefold(), judge.name)
                if other.casefold() != judge.name.casefold():
                    remedy = "give each a label of its own"
                    raise ValueError(f"judges {judge.name} and {other} are both called {name!r} in reports; {remedy}")
            if judge.host.endswith(".invalid") == (self.provenance == "recorded"):
                rule = "a stand-in is reached at a host that ends in .invalid, a real judge never is"
                raise ValueError(f"judge {judge.name}: {rule} (got {judge.host}, provenance {self.provenance})")
        in_use = [judge.name for judge in self.judge if judge.replaces is None]
        for judge in self.judge:
            if judge.replaces is not None and judge.replaces not in in_use:
                known = ", ".join(in_use) or "none"
                rule = "replaces names a judge of this panel that is in use"
                raise ValueError(f"judge {judge.name}: {rule}; got {judge.replaces!r}, in use: {known}")
            for kind, key, example in (("prompt", "prompts", "prompts-v2"), ("rubric", "rubric", "rubric-v2.toml")):
                own = getattr(judge, key)
                if own is not None and judge.replaces is None:
                    rule = f"judges in use are asked with the task's {kind}, so that they can be compared"
                    remedy = "needs replaces, the judge that this one would replace"
                    raise ValueError(f'judge {judge.name}: {rule}; {key} = "{own}" {remedy}')
                if own is None and judge.replaces is not None and kind in judge.change:
                    rule = f"change names the {kind}, and it is asked with the task's"
                    remedy = f"name its own by {key}, beside the task's, e.g. {key}"
                    raise ValueError(f'judge {judge.name}: {rule}; {remedy} = "{example}"')
        return self


def check_no_keys(judge: JudgeTable) -> None:
    """`RecuseError` where a judge's table holds what should be in the environment. The message never shows it."""
    for place, name in [("api_key_env", judge.api_key_env), *(("headers_env", v) for v in judge.headers_env.values())]:
        if name is not None and (looks_like_a_key(name) or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name)):
            what = 'the name of an environment variable, such as "MY_JUDGE_KEY"'
            raise RecuseError(f"{place} holds {what} (value not shown)")
    for place in ("base_url", "model", "parameters", "headers", "query"):
        for name, text in _texts(getattr(judge, place), place):
            own = name.rpartition(".")[2].lower()
            secret = own in SECRET_NAMES and place in ("parameters", "headers", "query")
            # Gateways call their headers as they like: x-functions-key, cf-aig-authorization, helicone-auth.
            secret = secret or (place == "headers" and re.split("[-_]", own)[-1] in SECRET_WORDS)
            if secret or looks_like_a_key(text):
                remedy = 'name its variable in api_key_env, or in headers_env = { header = "VARIABLE" }'
                raise RecuseError(f"{name} looks like a key, which may not stand in a file (value not shown): {remedy}")


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every text within a value, with its dotted place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{place}.{'[key]' if looks_like_a_key(name) else name}")
            yield from ((f"{place}.[key]", name) for _ in [0] if looks_like_a_key(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, place)
