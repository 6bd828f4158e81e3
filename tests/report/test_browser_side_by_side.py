"""Two results side by side, and what a report is about, in a real browser: silent, and no wider than a phone."""

from __future__ import annotations

import copy
import html
import re
from pathlib import Path

import pytest
import samples
from test_browser import CHROMIUM, FRAME, MEASURE, browse

from recuse import report
from recuse.report.canonical_form import normalised
from recuse.report.side_by_side import page, side_by_side

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


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
    silent = browse(tmp_path / "page.html", tmp_path / "profile", "--dump-dom")
    assert [line for line in silent.stderr.splitlines() if "CONSOLE" in line] == []
    measured = re.sub(r"<meta http-equiv=[^>]*>", "", text).replace("</body>", f"{MEASURE}</body>")
    (tmp_path / "probe.html").write_text(FRAME.format(page=html.escape(measured)))
    seen = browse(tmp_path / "probe.html", tmp_path / "profile", "--dump-dom", "--virtual-time-budget=2000")
    (title,) = re.findall(r"<title>(.*?)</title>", seen.stdout)[:1]
    width, window = (int(n) for n in re.findall(r"\d+", title)[:2])
    assert (window, width <= window) == (390, True), title
