"""The pictures of docs/ show what these reports begin with."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import scenes

DOCS = scenes.ROOT / "docs"


pytest_plugins = ["pytester"]


@pytest.mark.slow
@pytest.mark.parametrize("name", scenes.SCENES)
def test_a_scene_is_decided_as_its_picture_says(name, run_pytest, tmp_path):
    make, said = scenes.SCENES[name]
    make(tmp_path, lambda folder, *options: run_pytest(folder, "evals", *options))
    assert scenes.decision(tmp_path) == said
    assert len(said.split()) <= 17 + 2 * (name == "prompt-not-recorded")  # which names a place
    for file, begin in (("summary.md", "### "), ("index.html", "")):
        if file == "summary.md" and not (tmp_path / "reports" / file).exists():
            continue  # recuse compare and recuse check write a page only
        text = (tmp_path / "reports" / file).read_text(encoding="utf-8").replace("\\", "")
        shown = re.sub(r"<[^>]+>", "", text[text.find("<h1>") :]) if file == "index.html" else text
        assert shown.startswith(begin + said)
    if name == "thirty-tickets":
        assert "What was changed" not in text
    if name == "refused-upgrade":  # what README says of it
        assert "−7.9 %" in text
        assert "record again" not in text


@pytest.mark.parametrize("name", scenes.SCENES)
def test_a_picture_is_small_and_stands_in_the_docs_with_its_decision(name):
    assert (DOCS / f"{name}.png").stat().st_size < 120_000
    text = " ".join((DOCS / "pull-request.md").read_text(encoding="utf-8").split())
    assert f"]({name}.png)" in text
    assert scenes.SCENES[name][1] in text


def test_the_readme_shows_the_refused_upgrade_with_its_command():
    text = (scenes.ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/refused-upgrade.png)" in text
    assert f"recuse compare {scenes.RATINGS.relative_to(scenes.ROOT)} {' '.join(scenes.REFUSED)} " in text
