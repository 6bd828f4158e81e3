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
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(menu) == sorted({*pages, *written})
    (depth,) = (entry["In depth"] for entry in config["nav"] if "In depth" in entry)
    assert {"Is the agreement real?": "illusion.md"} in depth


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
    text = f"[limits](evals/gates.toml) [providers](docs/providers.md#x) {kept} ![p](docs/green-upgrade.png)"
    assert made.site_links(text, ROOT) == f"limits [providers](providers.md#x) {kept} ![p](green-upgrade.png)"


def test_a_broken_link_or_anchor_or_a_foreign_file_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y">1</a><a href="#x">2</a><a href="c.html">3</a>')
    more = '<script src="https://cdn.invalid/x.js"></script><iframe src="gone.html">'
    (tmp_path / "b.html").write_text(f'<a href="a.html#x">1</a>{more}')
    assert faults(tmp_path) == [
        "a.html: b.html#y leads to no place on b.html",
        "a.html: c.html leads to no file",
        "b.html: fetches https://cdn.invalid/x.js",
        "b.html: shows gone.html, which is no file",
    ]


REPORT = """<html><head><style>p{}</style></head><body><svg class=defs><circle id=d0 /></svg>
<section id=verdicts></section><section id=q-score_stability class=of-pass><details class=question>
<summary>q</summary><a href=#v-1>1</a><a class=known href=#k-2>2</a><a class="a b" href=replies/a.html>3</a>
</details></section></body></html>"""


def test_a_question_shows_what_the_last_report_draws(made, monkeypatch, tmp_path):
    page = tmp_path / "index.html"
    page.write_text(REPORT)
    monkeypatch.setattr(made, "REPORT", page)
    questions = made.questions()
    assert re.findall(r"\(report/index\.html#([\w-]+)", questions) == ["q-score_stability"]
    assert re.findall(r'<iframe [^>]*src="([^"]+)"', questions) == ["report/pictures/q-score_stability.html"]
    monkeypatch.setattr(made, "REPORT", tmp_path / "none.html")
    assert "report/" not in made.questions()


def test_a_picture_is_the_question_alone_and_its_links_leave_it(made, tmp_path):
    (tmp_path / "index.html").write_text(REPORT)
    (picture,) = made.pictures(tmp_path / "index.html").values()
    assert picture.count("<section") == 1
    assert "<details class=question open>" in picture
    assert "<circle id=d0 />" in picture, "its dots are defined there"
    links = re.findall(r'<a target="_top" (?:class=(?:known|"a b") )?href=([^\s>]+)>', picture)
    assert links == ["../index.html#v-1", "../index.html#k-2", "../replies/a.html"]


def test_every_question_has_its_formulas_and_papers(pages):
    """From the docstrings alone. May one judge replace another is asked of the measures of all the others."""
    parts = pages["questions.md"].split("\n## ")[1:]
    lacking = [part.partition("\n")[0] for part in parts if "\n- [" not in part or "\nFrom: " not in part]
    assert lacking == ["May a judge be replaced by its candidate?"]
    [shift] = [part for part in parts if part.startswith("Does a judge score as its peers do, its own work")]
    assert "Merchant-risk paper, sec. 4.3.2" in shift


def test_a_definition_is_the_first_paragraph_as_it_stands(made):
    assert made.definition("mean_u (W_a - W_b),\nby judge.\n\nMore.") == "mean_u (W_a - W_b), by judge."
    assert made.in_line("a*b_c <x> `d_e`") == r"a\*b\_c \<x\> `d_e`"
    told = ["Liu et al. (2023), arXiv:2303.16634", "Liu et al. 2023", "merchant-risk paper, sec. 4"]
    assert made.papers_in(told) == ["Liu et al. 2023, arXiv:2303.16634", "Merchant-risk paper, sec. 4"]
