"""The page in a real browser, where one is installed: no complaint on its console, no sideways scrolling on a phone."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import samples

from recuse import report

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
]

# A window cannot be narrower than 500 pixels, a frame can; the page in it measures itself and tells its parent.
FRAME = '<!doctype html><title></title><iframe width="390" height="900" style="border:0" srcdoc="{page}"></iframe>'
MEASURE = """<script>
const wide = [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
  && !e.parentElement.closest('.scroll, .sr, svg, thead'));
parent.document.title = JSON.stringify([document.documentElement.scrollWidth, innerWidth,
  wide.slice(0, 5).map(e => e.outerHTML.slice(0, 90))]);
</script>"""


def browse(path: Path, profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *arguments, path.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)


def test_console_is_silent(tmp_path: Path) -> None:
    """A style or script refused by the policy, a fetch, a malformed picture: each would be a line on the console."""
    index = report.write(samples.hostile(), tmp_path)[2]
    seen = browse(index, tmp_path / "profile", "--dump-dom")
    assert "<h1>" in seen.stdout
    assert [line for line in seen.stderr.splitlines() if "CONSOLE" in line] == []


def with_long_asides() -> samples.Results:
    """Beside every interval a sentence on why, as real measures have it."""
    results = samples.both()
    for entry in results["verdicts"]:
        entry["estimate"] |= {"value": float("nan"), "note": "undefined: " + "no text was usable in both orders, " * 4}
    return results


@pytest.mark.parametrize("sample", ["both", "failing", "many", "asides"])
def test_no_sideways_scrolling_at_390_pixels(tmp_path: Path, sample: str) -> None:
    made = {"many": lambda: samples.invented(24, long_names=True, holes=0.1), "asides": with_long_asides}
    results = made[sample]() if sample in made else getattr(samples, sample)()
    index = report.write(results, tmp_path)[2]
    page = re.sub(r"<meta http-equiv=[^>]*>", "", index.read_text(encoding="utf-8")).replace(
        "</body>", f"{MEASURE}</body>"
    )
    probe = tmp_path / "probe.html"
    probe.write_text(FRAME.format(page=html.escape(page)), encoding="utf-8")
    seen = browse(probe, tmp_path / "profile", "--dump-dom", "--virtual-time-budget=2000")
    title = re.search(r"<title>(.*?)</title>", seen.stdout)
    assert title
    width, window = (int(n) for n in re.findall(r"\d+", title[1])[:2])
    assert window == 390
    assert width <= window, title[1]
