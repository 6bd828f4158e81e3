"""Invented pages in a real browser, where one is installed: no complaint on the console, no sideways scrolling on a
phone, nothing that axe-core objects to. The page of the shipped panels: test_shipped_page.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import browser
import pytest
import samples
from test_reply_pages import exchange, transcript

from recuse import report
from recuse.cli import main
from recuse.report.reply_pages import write_transcript
from recuse.schema import Judgement

pytestmark = [
    pytest.mark.skipif(browser.CHROMIUM is None, reason="no chromium on this machine"),
    pytest.mark.slow("browser tests"),
]
with_axe = pytest.mark.skipif(not browser.AXE.is_file(), reason="no axe-core: npm pack axe-core, then set AXE_CORE")


def with_long_asides() -> samples.Results:
    """Beside every interval a sentence on why, as real measures have it."""
    results = samples.both()
    for entry in results["verdicts"]:
        entry["estimate"] |= {"value": float("nan"), "note": "undefined: " + "no text was usable in both orders, " * 4}
    return results


SAMPLES: dict[str, Callable[[], samples.Results]] = {
    "both": samples.both,
    "failing": samples.failing,
    "many": lambda: samples.invented(24, long_names=True, holes=0.1),
    "asides": with_long_asides,
    "hostile": samples.hostile,
}


def drawn(sample: str, folder: Path) -> str:
    return report.write(SAMPLES[sample](), folder)[2].read_text(encoding="utf-8")


def test_console_is_silent(tmp_path: Path) -> None:
    """A style or script refused by the policy, a fetch, a malformed picture: each would be a line on the console."""
    index = report.write(samples.hostile(), tmp_path)[2]
    assert browser.complaints(index, tmp_path / "profile") == []


@pytest.fixture(scope="module")
def widths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, browser.Widths]:
    folder = tmp_path_factory.mktemp("widths")
    found = browser.all_widths([(drawn(sample, folder), 360) for sample in SAMPLES], folder)
    return dict(zip(SAMPLES, found, strict=True))


@pytest.mark.parametrize("sample", SAMPLES)
def test_no_sideways_scrolling_at_360_pixels(widths: dict[str, browser.Widths], sample: str) -> None:
    wide, window, beyond, _ = widths[sample]
    assert (window, beyond) == (360, [])
    assert wide <= window


@pytest.mark.parametrize("width", [1280, 390])
def test_a_judges_name_of_five_thousand_letters_makes_no_page_wider(tmp_path: Path, width: int) -> None:
    """Columns are called by judges: of a file with two, no table is wide enough to scroll by itself."""
    name = "judge_" + "x" * 5000
    rows = [
        f"t{k},{'ok' if k % 3 else 'bad'},ok,{'ok' if k % 4 else 'bad'},{'ok' if k % 5 else 'bad'}" for k in range(60)
    ]
    (tmp_path / "a.csv").write_text("\n".join([f"item,{name},judge_b,anna,ben", *rows]))
    main(["check", str(tmp_path / "a.csv"), "--scale", "bad<ok", "--html", str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    wide, window, beyond, _ = browser.widths(page, tmp_path, width)
    assert page.count(name) > 5
    assert (window, beyond) == (width, [])
    assert wide <= window


@with_axe
@pytest.mark.parametrize("sample", ["failing", "hostile"])
def test_axe_finds_nothing(tmp_path: Path, sample: str) -> None:
    assert browser.violations(drawn(sample, tmp_path), tmp_path) == []


@pytest.mark.parametrize("judges", [3, 40])
def test_a_page_of_few_judges_or_many_stays_usable(tmp_path: Path, judges: int) -> None:
    """The page stays under a megabyte and no wider than a phone; on a desk what is wide scrolls by itself. Before
    anything is opened it is short, and has a row for every judge."""
    page = report.write(samples.invented(judges, holes=0.05), tmp_path)[2].read_text(encoding="utf-8")
    assert len(page.encode()) < 1_000_000
    rows = "document.querySelectorAll('.matrix tbody tr').length"
    height, named = browser.asked(page, tmp_path, f"answer([document.documentElement.scrollHeight, {rows}]);")
    assert height < 8_000
    assert named >= judges
    for wide, window, beyond, _ in browser.all_widths([(page, 360), (page, 1160)], tmp_path):
        assert (wide <= window, beyond) == (True, []), window


HOSTILE = ["<img src=x onerror=alert(1)>", "\u202e" * 50, "x" * 20_000, "\n" * 50, json.dumps({"a": "ü" * 3000})]


def test_hostile_replies_are_silent_and_fit_a_phone(tmp_path: Path) -> None:
    said = [exchange(text, repeat=n, judgements=[Judgement("total", status="unparsed", why=text)])
            for n, text in enumerate(HOSTILE)]  # fmt: skip
    write_transcript(transcript(*said), tmp_path)
    for path in tmp_path.rglob("*.html"):
        assert browser.complaints(path, tmp_path / "profile") == []
        wide, window, beyond, _ = browser.widths(path.read_text(encoding="utf-8"), tmp_path, 360)
        assert (wide <= window, beyond) == (True, [])
        if browser.AXE.is_file():
            assert browser.violations(path.read_text(encoding="utf-8"), tmp_path) == []
