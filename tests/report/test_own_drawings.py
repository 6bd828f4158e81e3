"""A team draws its questions from its own repository: a module by its dotted name, a template in reports/templates/."""

from __future__ import annotations

from pathlib import Path

import pytest
import samples

from recuse.report.canonical_form import normalised
from recuse.report.page import page
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
    assert html.index("Drawn at home.") < html.index('id="q-consensus_deviation"'), "its ORDER comes first"


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
