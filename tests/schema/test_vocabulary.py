"""An outcome's identifier stands in code and JSON, its word in one module: renamed there, every output follows."""

from __future__ import annotations

import ast
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import samples
from page_reader import page

from recuse.report.canonical_form import canonical, normalised
from recuse.report.page import summary
from recuse.report.terminal_text import terminal
from recuse.schema import vocabulary

ROOT = Path(__file__).parents[2]

NEW = {"pass": "gut", "fail": "schlecht", "undecided": "offen", "not measured": "ungemessen", "accepted": "geduldet",
       "accepted failure": "Fehler geduldet", "accepted doubt": "Zweifel geduldet", "cleared": "frei",
       "not cleared": "gesperrt"}  # fmt: skip
OURS = ("undecided", "not enough data", "known failure", "not cleared", "cleared")
"""Words that only an outcome, or the word on a judge, is called in the samples."""


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs(samples.published())  # templates are compiled once: with the words that were there before
    for identifier, word in NEW.items():
        monkeypatch.setitem(vocabulary.PRINTED, identifier, word)


def test_of_several_outcomes_the_worst_is_named_and_all_are_counted():
    assert [vocabulary.worst(("pass", "undecided", "fail")), vocabulary.worst(())] == ["fail", ""]
    outcomes = ["accepted failure", "fail", "pass", "accepted failure"]
    assert vocabulary.tally(outcomes) == "1 pass, 2 known failures, 1 fail"


def visible_text(html: str) -> str:
    body = re.sub(r"<style>.*?</style>", " ", html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", body))


def outputs(results: dict[str, Any]) -> dict[str, str]:
    """What a reader sees; the meanings of the words, and what files say in their own, are put aside."""
    plain = normalised(results)
    texts = {"page": visible_text(page(plain, str(plain.get("headline")))), "summary": summary(plain)}
    texts |= {f"terminal {v}": terminal(plain, 160, verbosity=v) for v in (-1, 0, 1, 2)}
    return texts


def test_every_word_has_a_name_of_its_own() -> None:
    assert set(vocabulary.PRINTED) < set(NEW)
    assert len(set(map(vocabulary.printed, NEW))) == len(NEW)


@pytest.mark.parametrize("sample", ["published", "failing", "several_tasks"])
def test_every_output_follows_a_renamed_word(sample: str, renamed: None) -> None:
    results = getattr(samples, sample).__wrapped__()  # made anew: what was kept has the words that were there before
    outcomes = {v["outcome"] for v in results["verdicts"]}
    assert outcomes <= set(vocabulary.OUTCOMES), "JSON keeps its identifiers"
    texts = outputs(results)
    for name, text in texts.items():
        left = [word for word in OURS if re.search(rf"\b{word}\b", text, re.IGNORECASE)]
        assert left == [], (name, [text[m.start() - 80 : m.end() + 40] for w in left for m in re.finditer(w, text)][:3])
    whole = "\n".join(texts.values()).lower()
    shown = {"fail": "schlecht", "pass": "gut", "undecided": "offen", "not measured": "ungemessen"}
    assert [outcome for outcome in outcomes & shown.keys() if shown[outcome] not in whole] == []


def test_json_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def identifiers() -> list[tuple[str, str]]:
        held = json.loads(canonical(samples.failing()))
        return [*((v["gate"], v["outcome"]) for v in held["verdicts"]),
                *((one["judge"], one["word"]) for one in held["decision"]["judges"])]  # fmt: skip

    before = identifiers()
    for identifier, word in NEW.items():
        monkeypatch.setitem(vocabulary.PRINTED, identifier, word)
    assert identifiers() == before


def test_an_identifier_is_spelled_in_one_module() -> None:
    """But as a name of something else: a key of gates.toml, a kind of remedy, a type of words on an upgrade."""
    elsewhere = {"verdict_rows.py", "upgrade_verdict.py", "baseline_file.py"}
    words = ("undecided", "not measured")
    places = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "recuse").rglob("*.py"))
        if path.name not in elsewhere | {"vocabulary.py"}
        if any(word in (text := path.read_text(encoding="utf-8")) for word in words)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in words
    ]
    assert places == []
