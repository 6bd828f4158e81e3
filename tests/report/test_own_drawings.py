"""A team draws its questions from its own repository: a drawing by its dotted name, a template where it wants one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import samples
from page_reader import page

from recuse.papers.merchant_risk.true_order import ground_truth
from recuse.report.canonical_form import normalised
from recuse.report.page import environment
from recuse.report.questions import Drawings
from recuse.report.questions.generic import generic

DRAWING = """
from recuse.report.drawing import Drawing, words

ground_truth = Drawing(
    order=1,
    reading=lambda group: "Drawn at home.",
    figures=(words(lambda group: f"{len(group.numbers)} of our own"),),
)
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


def test_a_named_drawing_draws_the_question_of_its_name(tmp_path: Path, house: str) -> None:
    name = write(tmp_path, house, "drawings", DRAWING) + ".ground_truth"
    html = page(normalised(samples.published()), "h", drawings=[name])
    assert "Drawn at home." in html
    assert " of our own</p>" in html
    assert html.index("Drawn at home.") < html.index("id=q-consensus_deviation"), "its order comes first"


def test_a_template_of_the_questions_name_places_its_figures(tmp_path: Path) -> None:
    (tmp_path / "questions").mkdir()
    template = "<p>{{ it.figures | length }} figures about {{ group.panel.name }}</p>{{ draw(it.figures[0]) }}"
    (tmp_path / "questions" / "ground_truth.html.j2").write_text(template)
    html = page(normalised(samples.published()), "h", [tmp_path])
    assert "figures about published</p>" in html
    assert "Rank correlation of assigned level" in html
    assert "Mean true value of each level" not in html


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_module_here", "cannot be imported"), ("", "has no"), (None, "cannot be imported"),
        ("ground_truth = print", "is no recuse.report.drawing.Drawing"),
    ],
)  # fmt: skip
def test_a_drawing_that_cannot_be_used_is_told_and_the_numbers_are_shown(
    tmp_path: Path, house: str, text: str | None, told: str
) -> None:
    name = f"{house}.drawings" if text is None else write(tmp_path, house, "drawings", text)
    name += ".ground_truth"
    drawings = Drawings([name])
    assert drawings.of("ground_truth") is generic
    assert told in drawings.faults["ground_truth"]
    html = page(normalised(samples.published()), "h", drawings=[name])
    assert "This question could not be drawn" in html
    assert told in html


def test_others_are_drawn_as_shipped() -> None:
    drawings = Drawings(["house.another"])
    assert drawings.of("ground_truth") is ground_truth
    assert not drawings.faults


@pytest.mark.parametrize(
    ("kind", "holds_others"),
    [("figures", False), ("figures", True), ("parts", False)],
    ids=["figures", "block", "parts"],
)
def test_a_local_template_replaces_any_part_of_the_page(tmp_path: Path, kind: str, holds_others: bool) -> None:
    """Every figure and part: its own words appear wherever the shipped ones did."""
    every = [name for name in environment().list_templates() if name.startswith(f"{kind}/")]
    assert len(every) > 5
    names = [name for name in every if (name == "figures/block.html.j2") == holds_others]
    (tmp_path / kind).mkdir()
    for name in names:
        (tmp_path / name).write_text(f"<p>{name} at home</p>")
    results = everything()
    gated = results["verdicts"][0]
    key = (gated["gate"], tuple(sorted(gated["subject"].items())))
    html = page(results, "h", [tmp_path], known={"history": [("2026-03-01", {key: (0.5, "pass")})]})
    local = environment(str(tmp_path))
    assert [name for name in names if local.get_template(name).render() != f"<p>{name} at home</p>"] == []
    assert [name for name in names if f"<p>{name} at home</p>" not in html] == []


def everything() -> dict[str, Any]:
    """Results that fill every part of the page."""
    results = normalised(samples.several_tasks())
    more = normalised(samples.failing())
    return {**more, "questions": [*more["questions"], *results["questions"]],
            "verdicts": [*more["verdicts"], *results["verdicts"]],
            "measurements": [*more["measurements"], *results["measurements"], AGAINST_PEOPLE],
            "panels": more["panels"] + [p for p in results["panels"] if p not in more["panels"]],
            "not_asked": NOT_ASKED}  # fmt: skip


AGAINST_PEOPLE = {
    "question": "agreement_with_people", "test": "evals/t.py::t",
    "subject": {"panel": "published", "task": "merchant_risk", "protocol": "rubric", "judge": "gpt-5.1"},
    "estimate": {"metric": "mean_error", "value": 0.5, "detail": {"pairs": [[3, 4, 1], [5, 5, 1]], "ends": [0, 10]}},
}  # fmt: skip
NOT_ASKED = [
    {"question": "length_bias", "title": "Length?", "panel": "published", "task": "merchant_risk", "protocol": "rubric",
     "missing": ["lengths"], "unlock": ["give texts"], "unfixed": [], "tests": []}
]  # fmt: skip
