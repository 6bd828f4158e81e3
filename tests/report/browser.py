"""A real browser for the tests: what a page says on its console, how wide it is on a phone, and what axe-core finds.

axe-core is no dependency: where the file named by the environment variable AXE_CORE is there (as after `npm pack
axe-core`), its rules run too.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
AXE = Path(os.environ.get("AXE_CORE") or "no such file")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
]  # fmt: skip
POLICY = re.compile(r"<meta http-equiv=[^>]*>")

# A window cannot be narrower than 500 pixels, a frame can; the page in it measures itself and tells its parent.
FRAME = (
    "<!doctype html><meta charset=utf-8><title></title>"
    '<iframe width="{width}" height="900" style="border:0" srcdoc="{page}"></iframe>'
)
MEASURE = """<script>
for (const d of document.querySelectorAll('details')) d.open = true;
const wide = [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
  && !e.parentElement.closest('.scroll, .sr, svg, thead'));
const scrolling = [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1);
const found = JSON.parse(parent.document.title || '{}');
found[%d] = [document.documentElement.scrollWidth, innerWidth,
  wide.slice(0, 5).map(e => e.outerHTML.slice(0, 90)), scrolling.map(e => e.ariaLabel)];
parent.document.title = JSON.stringify(found);
</script>"""
RUN_AXE = """<script>
for (const d of document.querySelectorAll('details')) d.open = true;
axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(found => {
  document.title = 'axe ' + JSON.stringify(found.violations.map(v =>
    [v.id, v.nodes.length, v.nodes.slice(0, 2).map(n => n.html.slice(0, 120))]));
});
</script>"""


def browse(path: Path, profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *arguments, path.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def complaints(path: Path, profile: Path) -> list[str]:
    """What the browser says on its console."""
    seen = browse(path, profile, "--dump-dom")
    assert "<h1" in seen.stdout
    return [line for line in seen.stderr.splitlines() if "CONSOLE" in line]


Widths = tuple[int, int, list[str], list[str]]
"""Width of a page, of its window, elements beyond it, what scrolls sideways within the page."""


def widths(page: str, folder: Path, width: int) -> Widths:
    """Of one page with everything that folds unfolded, in a window of this width."""
    return all_widths([(page, width)], folder)[0]


def all_widths(windows: Sequence[tuple[str, int]], folder: Path) -> list[Widths]:
    """The same of several pages, each in a window of its own, by one browser: starting it costs more than a page."""
    frames = []
    for number, (page, width) in enumerate(windows):
        measured = POLICY.sub("", page).replace("</body>", f"{MEASURE % number}</body>")
        frames.append(FRAME.format(width=width, page=html.escape(measured)))
    probe = folder / "probe.html"
    probe.write_text("".join(frames), encoding="utf-8")
    seen = browse(probe, folder / "profile", "--dump-dom", "--virtual-time-budget=4000")
    title = re.search(r"<title>(.*?)</title>", seen.stdout)
    assert title
    found = json.loads(html.unescape(title[1]))
    return [tuple(found[str(number)]) for number in range(len(windows))]


def violations(page: str, folder: Path, *arguments: str) -> list[Any]:
    """Rules of axe-core (WCAG A and AA, best practice) that the page breaks: (rule, how often, examples)."""
    scripts = f"<script>{AXE.read_text(encoding='utf-8')}</script>{RUN_AXE}"
    probe = folder / "axe.html"
    probe.write_text(POLICY.sub("", page).replace("</body>", f"{scripts}</body>"), encoding="utf-8")
    seen = browse(probe, folder / "profile", "--dump-dom", "--virtual-time-budget=60000", *arguments)
    title = re.search(r"<title>axe (.*?)</title>", seen.stdout)
    assert title, "axe-core did not finish"
    found: list[Any] = json.loads(html.unescape(title[1]))
    return found


def asked(page: str, folder: Path, script: str, width: int = 1160) -> Any:
    """What a script finds on the page, as it passes it to `answer(...)`, in a frame of this width."""
    told = f"<script>const answer = found => {{ parent.document.title = JSON.stringify(found); }};{script}</script>"
    probe = folder / "asked.html"
    inside = POLICY.sub("", page).replace("</body>", f"{told}</body>")
    probe.write_text(FRAME.format(width=width, page=html.escape(inside)), encoding="utf-8")
    seen = browse(probe, folder / "profile", "--dump-dom", "--virtual-time-budget=4000")
    title = re.search(r"<title>(.+?)</title>", seen.stdout)
    assert title, "the script did not answer"
    return json.loads(html.unescape(title[1]))


def touching_ticks(page: str, folder: Path, width: int) -> list[Any]:
    """Labels of an axis that touch their neighbours: (caption, label, next one)."""
    found: list[Any] = asked(
        page,
        folder,
        """for (const d of document.querySelectorAll('details')) d.open = true;
        const bad = []; let seen = 0;
        for (const axis of document.querySelectorAll('svg.axis')) {
          const texts = [...axis.querySelectorAll('text')].map(t => [t.getBoundingClientRect(), t.textContent]);
          seen += texts.length;
          for (let i = 1; i < texts.length; i++) if (texts[i][0].left < texts[i - 1][0].right + 2)
            bad.push([axis.closest('figure').querySelector('figcaption').textContent, texts[i - 1][1], texts[i][1]]);
        }
        answer(seen > 20 ? bad : ['only ' + seen + ' labels']);""",
        width,
    )
    return found


def focus_everything(page: str, folder: Path) -> tuple[int, list[str]]:
    """How many elements the keyboard reaches, and those that take it without an outline, or not in the page's order."""
    reached, unseen = asked(
        page,
        folder,
        """for (const d of document.querySelectorAll('details')) d.open = true;
        const stops = [...document.querySelectorAll('a[href], summary, [tabindex]')];
        const unseen = stops.filter(e => { e.focus({focusVisible: true}); const s = getComputedStyle(e);
          return document.activeElement !== e || s.outlineStyle === 'none' || e.tabIndex > 0; });
        answer([stops.length, unseen.slice(0, 5).map(e => e.outerHTML.slice(0, 120))]);""",
    )
    return reached, unseen


def pages_printed(path: Path, folder: Path) -> int:
    """How many sheets it takes on paper, as a PDF."""
    pdf = folder / "printed.pdf"
    browse(path, folder / "profile", f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf.read_bytes()))
