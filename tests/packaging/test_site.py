"""The site's pages that are made of README and code: complete, and linked to nothing that is not on the site."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from site_links import faults

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / ".ci" / "site_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(made: ModuleType) -> dict[str, str]:
    return dict(made.pages())


def test_the_menu_names_every_page_and_no_other(made, pages):
    config = made.on_config(yaml.safe_load((ROOT / ".ci" / "mkdocs.yml").read_text(encoding="utf-8")))
    menu = list(made.names_in(config["nav"]))
    assert sorted(menu) == sorted({*pages, *(path.name for path in (ROOT / "docs").glob("*.md"))})
    (depth,) = (entry["In depth"] for entry in config["nav"] if "In depth" in entry)
    assert {"Agreement with people": "agreement.md"} in depth


def test_every_question_and_every_test_of_it_is_told(pages):
    for path in (ROOT / "evals").glob("test_*.py"):
        assert f"`evals/{path.name}`" in pages["questions.md"]
        for test in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert f"| `{test}` |" in pages["questions.md"]


def test_most_questions_name_their_measures_and_each_is_there(pages):
    linked = set(re.findall(r"measures\.md#([\w-]+)", pages["questions.md"]))
    anchors = set(re.findall(r"\{ #([\w-]+) \}", pages["measures.md"]))
    assert len(linked) > 40
    assert linked <= anchors


def test_a_measure_is_told_with_its_formula_and_source(pages):
    part = pages["measures.md"].partition("`recuse.metrics.agreement.cohen_kappa`")[2].partition("\n## ")[0]
    assert "Cohen" in part
    assert "low values" in part


def test_links_to_files_that_are_not_on_the_site_are_their_text(made):
    kept = "[a](https://example.invalid/) [b](#c)"
    text = f"[limits](evals/gates.toml) [providers](docs/providers.md#x) {kept} ![p](docs/report.png)"
    assert made.site_links(text, ROOT) == f"limits [providers](providers.md#x) {kept} ![p](report.png)"


def test_a_broken_link_or_anchor_or_a_foreign_file_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y">1</a><a href="#x">2</a><a href="c.html">3</a>')
    (tmp_path / "b.html").write_text('<a href="a.html#x">1</a><script src="https://cdn.invalid/x.js"></script>')
    assert faults(tmp_path) == [
        "a.html: b.html#y leads to no place on b.html",
        "a.html: c.html leads to no file",
        "b.html: fetches https://cdn.invalid/x.js",
    ]


def test_a_question_leads_to_where_the_last_report_draws_it(made, monkeypatch, tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<section id="q-score_stability"></section>')
    monkeypatch.setattr(made, "REPORT", page)
    assert re.findall(r"report/index\.html#([\w-]+)", made.questions()) == ["q-score_stability"]
    monkeypatch.setattr(made, "REPORT", tmp_path / "none.html")
    assert "report/index.html" not in made.questions()
