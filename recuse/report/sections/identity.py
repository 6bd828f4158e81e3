"""Of what the report is: commit, recording days, who answered, and digests of what was asked and of the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recuse.report.numbers import listed
from recuse.report.results_model import ResultsModel
from recuse.schema.results import Known, SourceRow

SHOWN = 12
"""Digits of a commit and of a sha256."""


@dataclass(frozen=True, slots=True)
class SourceDigests:
    """One task by one protocol: digests of its items, prompt and rubric, and the scale."""

    where: str
    items: str
    prompt: str
    rubric: str
    scale: str


@dataclass(frozen=True, slots=True)
class Answerer:
    """`version`: the model as the provider names it. `asked_as`: digests of its settings, one per way of asking."""

    panel: str
    judge: str
    version: str
    asked_as: str


@dataclass(frozen=True, slots=True)
class Identity:
    """What these results are of: versions, judges, and digests of what was asked."""

    facts: list[tuple[str, str]]
    judges: list[Answerer]
    asked: list[SourceDigests]
    tables: list[str]  # names of the CSV files beside the page

    @property
    def in_one_line(self) -> str:
        return " · ".join(f"{name} {value}" for name, value in self.facts)


def identity(view: ResultsModel, known: Known) -> Identity:
    """From the results, and from what is `known` beside them (see `recuse.git.commits`; "results" is the
    sha256 of results.json)."""
    sources = view.results.get("sources") or {}
    return Identity(
        _facts(view, known), _judges(view, sources), _source_digests(sources), list(known.get("tables") or [])
    )


def _facts(view: ResultsModel, known: Known) -> list[tuple[str, str]]:
    facts = [("commit", str(known.get("commit") or "")[:SHOWN])]
    for panel, (first, last) in sorted((known.get("recorded") or {}).items()):
        facts.append((f"{panel} recorded", first if first == last else f"{first} to {last}"))
    for row in view.results.get("panels") or []:
        if row.get("provenance") == "imported":
            facts.append((row["name"], row.get("source") or ""))
    facts.append(("gates.toml sha256", str(known.get("gates") or "")[:SHOWN]))
    facts.append(("results.json sha256", str(known.get("results") or "")[:SHOWN]))
    return [(name, value) for name, value in facts if value]


def _judges(view: ResultsModel, sources: Mapping[str, SourceRow]) -> list[Answerer]:
    described = []
    for panel in view.panels:
        for judge in panel.judges:
            name = str(judge["name"])
            asked = [of["judges"] for place, of in sources.items() if place.split("/")[0] == panel.name]
            digests = list(dict.fromkeys(str(judges[name]) for judges in asked if name in judges))
            described.append(Answerer(panel.name, name, str(judge.get("model") or ""), listed(digests)))
    return described


def _source_digests(sources: Mapping[str, SourceRow]) -> list[SourceDigests]:
    names = ("items", "prompt", "rubric", "scale")
    return [SourceDigests(place, *(str(of.get(name) or "") for name in names)) for place, of in sorted(sources.items())]
