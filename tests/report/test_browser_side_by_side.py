"""Two results side by side, and what a report is about, in a real browser: silent, and no wider than a phone."""

from __future__ import annotations

import copy
from pathlib import Path

import browser
import pytest
import samples

from recuse import report
from recuse.report.canonical_form import normalised
from recuse.report.side_by_side import page, side_by_side

pytestmark = [
    pytest.mark.skipif(browser.CHROMIUM is None, reason="no chromium on this machine"),
    pytest.mark.slow("browser tests"),
]


def two() -> str:
    before = normalised(samples.invented(24, long_names=True))
    after = copy.deepcopy(before)
    for verdict in after["verdicts"][:40]:
        verdict["outcome"] = "fail"
    rows = side_by_side(before, after)
    return page(rows, ("kept/in/a/folder/with/a/long/name/results.json", "reports"), ("Before.", "After."))


def with_identity(folder: Path) -> str:
    place = "published/merchant_risk/rubric"
    sources = {place: {"items": "1" * 16, "prompt": "2" * 16, "rubric": "3" * 16, "scale": "0..10", "judges": {}}}
    known = {"commit": "0" * 40, "gates": "a" * 64, "recorded": {"published": ("2026-03-01", "2026-03-04")}}
    return report.write(samples.published() | {"sources": sources}, folder, identity=known)[2].read_text()


@pytest.mark.parametrize("which", ["two", "identity"])
def test_no_sideways_scrolling_and_no_complaint(tmp_path: Path, which: str) -> None:
    text = two() if which == "two" else with_identity(tmp_path / "reports").replace("<details>", "<details open>")
    (tmp_path / "page.html").write_text(text)
    assert browser.complaints(tmp_path / "page.html", tmp_path / "profile") == []
    wide, window, beyond, _ = browser.widths(text, tmp_path, 360)
    assert (wide <= window, beyond) == (True, [])
