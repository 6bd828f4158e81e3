"""A team draws its questions from its own repository: a module by its dotted name, a template in reports/templates/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import samples

from recuse.report.canonical_form import normalised
from recuse.report.page import environment, page
from recuse.report.questions import Drawings, generic

DRAWING = """
ORDER = 1

def draw(group):
    return {"reading": "Drawn at home.", "who": [n.who for n in group.numbers]}
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A package of its own name, with one module; the name of the package."""
    name = "house_" + "".join(c for c in request.node.name if c.isalnum())
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def write(tmp_path: Path, house: str, module: str, text: str) -> str:
    (tmp_path / house / f"{module}.py").write_text(text, encoding="utf-8")
    return f"{house}.{module}"


def test_a_named_module_draws_the_question_of_its_name(tmp_path: Path, house: str) -> None:
    name = write(tmp_path, house, "ground_truth", DRAWING)
    templates = tmp_path / "templates" / "questions"
    templates.mkdir(parents=True)
    (templates / "ground_truth.html.j2").write_text("<p>{{ it.who | length }} of our own</p>")
    html = page(normalised(samples.published()), "h", [tmp_path / "templates"], [name])
    assert "Drawn at home." in html
    assert " of our own</p>" in html
    assert html.index("Drawn at home.") < html.index("id=q-consensus_deviation"), "its ORDER comes first"


@pytest.mark.parametrize(
    ("text", "told"),
    [("import no_such_module_here", "cannot be imported"), ("", "lacks draw"), (None, "cannot be imported")],
)
def test_a_module_that_cannot_be_used_is_told_and_the_numbers_are_shown(
    tmp_path: Path, house: str, text: str | None, told: str
) -> None:
    name = f"{house}.ground_truth" if text is None else write(tmp_path, house, "ground_truth", text)
    drawings = Drawings([name])
    assert drawings.of("ground_truth") is generic
    assert told in drawings.fault("ground_truth")
    html = page(normalised(samples.published()), "h", drawings=[name])
    assert "This question could not be drawn" in html
    assert told in html


def test_others_are_drawn_as_shipped() -> None:
    assert Drawings(["house.another"]).of("ground_truth").__name__ == "recuse.report.questions.ground_truth"
    assert Drawings(["house.another"]).fault("ground_truth") == ""


@pytest.mark.parametrize("kind", ["questions", "figures", "parts"])
def test_a_local_template_replaces_any_part_of_the_page(tmp_path: Path, kind: str) -> None:
    """Every question, figure and part: its own words appear wherever the shipped ones did."""
    names = [name for name in environment().list_templates() if name.startswith(f"{kind}/")]
    assert len(names) > 5
    (tmp_path / kind).mkdir()
    for name in names:
        (tmp_path / name).write_text(f"<p>{name} at home</p>")
    html = page(everything(), "h", [tmp_path])
    local = environment([tmp_path])
    assert [name for name in names if local.get_template(name).render() != f"<p>{name} at home</p>"] == []
    unseen = {name.partition("/")[2].removesuffix(".html.j2") for name in names if f"<p>{name} at home</p>" not in html}
    asked = {question["id"] for question in everything()["questions"]} | {"generic"}
    assert not unseen & asked if kind == "questions" else not unseen


def everything() -> dict[str, Any]:
    """Results that fill every part of the page."""
    results = normalised(samples.several_tasks())
    more = normalised(samples.failing())
    return {**more, "questions": [*more["questions"], *results["questions"]],
            "verdicts": [*more["verdicts"], *results["verdicts"]],
            "measurements": [*more["measurements"], *results["measurements"]],
            "panels": more["panels"] + [p for p in results["panels"] if p not in more["panels"]],
            "not_asked": NOT_ASKED}  # fmt: skip


NOT_ASKED = [
    {"question": "length_bias", "title": "Length?", "panel": "published", "task": "merchant_risk", "protocol": "rubric",
     "missing": ["lengths"], "unlock": ["give texts"], "unfixed": [], "tests": []}
]  # fmt: skip
