"""The first screen in a real browser: decision, panels and changes stand on it; on a phone nothing scrolls sideways."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
import samples
from browser import CHROMIUM, POLICY, browse, widths

from recuse import report

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine"),
    pytest.mark.slow("browser tests"),
]

OUTCOMES = {"pass", "known failure", "not enough data", "fail", "undecided", "not measured"}
PLACES = """<script>
const top_ = id => Math.round(document.querySelector(id).getBoundingClientRect().top);
const shape = e => getComputedStyle(e, '::before').content;
document.title = JSON.stringify({
  decision: top_('h1'), panels: top_('.standing'), changed: top_('#changed'), red: top_('#attention'),
  matrix: top_('#verdicts'), shown: document.querySelector('h1').innerText,
  folded: [...document.querySelectorAll('details.question')].map(e => e.open),
  marks: [...document.querySelectorAll('.matrix i')].map(e => [e.textContent, shape(e)])});
</script>"""


def measured(results: samples.Results, folder: Path) -> dict[str, Any]:
    index = report.write(results, folder)[2]
    probe = folder / "probe.html"
    probe.write_text(
        POLICY.sub("", index.read_text(encoding="utf-8")).replace("</body>", f"{PLACES}</body>"), encoding="utf-8"
    )
    seen = browse(probe, folder / "profile", "--dump-dom", "--window-size=1000,760")
    title = re.search(r"<title>(.*?)</title>", seen.stdout, re.DOTALL)
    assert title
    found: dict[str, Any] = json.loads(html.unescape(title[1]))
    return found


def test_decision_panels_changes_and_what_is_red_in_this_order(tmp_path: Path) -> None:
    found = measured(samples.failing(), tmp_path)
    assert found["shown"].startswith("This change: do not merge: grok-4 promotes itself")
    order = [found[name] for name in ("decision", "panels", "changed", "red", "matrix")]
    assert order == sorted(order)
    assert found["red"] < 760, "on the first screen"
    assert set(found["folded"]) == {True, False}


def test_a_known_fault_and_too_little_data_look_different_without_colour(tmp_path: Path) -> None:
    results = samples.failing()
    doubt = next(v for v in results["verdicts"] if v["outcome"] == "accepted")
    doubt["accepted_fault"] = {**doubt["accepted_fault"], "otherwise": "undecided"}
    shapes = {name: shape for name, shape in measured(samples.counted(results), tmp_path)["marks"] if name in OUTCOMES}
    assert shapes.keys() == OUTCOMES
    assert len(set(shapes.values())) == len(OUTCOMES)


def test_a_phone_shows_the_changes_without_scrolling_sideways(tmp_path: Path) -> None:
    page = report.write(samples.failing(), tmp_path)[2].read_text(encoding="utf-8")
    width, window, beyond, scrolling = widths(page, tmp_path, 360)
    assert (window, width <= window, beyond) == (360, True, [])
    assert "What was changed" not in scrolling
