"""What the page says of agreement at three resolutions: the numbers of its measures, and a judge that slips."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from page_reader import page

from recuse.cli import main
from recuse.readers.file_panel import load_file_panel
from recuse.report.canonical_form import normalised
from recuse.run.run import ask_file
from recuse.suite.question_runner import read_evals

EVALS = Path(__file__).parents[3] / "evals"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Three judges on 20 texts of four systems; low takes the scale 1 to 10 for 1 to 5."""
    folder = tmp_path_factory.mktemp("file")
    for name in ("gates.toml", "test_agreement_resolution.py"):
        (folder / name).write_bytes((EVALS / name).read_bytes())
    rng, rows = np.random.default_rng(3), []
    for system in range(4):
        for item, seen in enumerate(rng.normal(4.5 + system, 1.2, 20)):
            noise = rng.normal(0, (1.0, 0.6, 0.5))
            scores = {"ann": seen + noise[0], "bob": seen + noise[1], "low": seen / 2 + noise[2]}
            rows += [(judge, f"i{item}", f"s{system}", round(float(np.clip(score, 1, 5 if judge == "low" else 10)), 1))
                     for judge, score in scores.items()]  # fmt: skip
    pd.DataFrame(rows, columns=["judge", "item", "system", "score"]).to_csv(folder / "ratings.csv", index=False)
    panel = load_file_panel(folder / "ratings.csv", scale="1-10")
    found: dict[str, Any] = ask_file(panel, *read_evals(folder, date(2026, 1, 1))).results
    return found | {"not_asked": [], "excerpts": [], "baseline": None}


@pytest.fixture(scope="module")
def text(results: dict[str, Any]) -> str:
    html = page(normalised(results), "headline")
    assert "could not be drawn" not in html
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_the_three_resolutions_stand_side_by_side_with_what_is_behind_them(results, text):
    gap = next(e["estimate"]["detail"] for e in results["measurements"] if e["estimate"]["metric"] == "resolution_gap")
    assert (
        f"The judges agree to {gap['model']:.2f} on which target is better, to {gap['sample']:.2f} on which text is "
        f"better, and to {gap['absolute']:.2f} on the score itself" in text
    )
    pairs, averaged = gap["pairs_differ"], dict(gap["averaged"])
    assert f"F({pairs['df']}, {pairs['df_rest']}) = {pairs['f']:.2f} p = {pairs['p']:.3f}" in text
    behind = text.partition("Behind the three")[2]
    assert f"{gap['panel_icc']:.2f}" in behind
    assert f"{averaged[10]:.2f} {averaged[100]:.2f}" in behind


def test_a_judge_that_never_leaves_the_lower_half_is_asked_about_and_no_other(text):
    table = text.partition("judges use the scale")[2]
    assert "low never leaves the lower half of the scale: does it use another one?" in table
    assert table.count("never leaves the lower half") == 1


def test_the_terminal_says_the_same_in_one_sentence(tmp_path, capsys):
    """And prints what is measured of the panel, not of one judge."""
    rows = [(judge, item, system, 3 + system + (item * (2 + (judge == "y"))) % 5)
            for judge in "xyz" for item in range(12) for system in range(3)]  # fmt: skip
    file = tmp_path / "ratings.csv"
    pd.DataFrame(rows, columns=["judge", "item", "system", "score"]).to_csv(file, index=False)
    main(["check", str(file), "--all"])
    out = capsys.readouterr().out
    assert re.search(r"The judges agree to 1.00 on which target is better, to -?0.\d\d on which text is better", out)
    assert "all judges               agreement lost between systems and single texts:" in out
