"""The page of the panels that are shipped, in a real browser: drawn anew from the results of the last run of evals/.

Without such a run there is nothing to look at, and the tests are skipped; continuous integration runs evals/ first.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import browser
import pytest
from page_reader import Element, read

from recuse.report.canonical_form import normalised
from recuse.report.page import pages
from recuse.report.terminal_text import terminal

REPORTS = Path(__file__).parents[2] / "reports"
RESULTS, REPLIES = REPORTS / "results.json", REPORTS / "replies"
if not RESULTS.is_file() and os.environ.get("CI"):
    raise FileNotFoundError("no reports/results.json: run pytest evals/ before these tests")
pytestmark = [
    pytest.mark.skipif(not RESULTS.is_file(), reason="no reports/results.json: run pytest evals/ first"),
    pytest.mark.slow("browser tests"),
]
in_browser = pytest.mark.skipif(browser.CHROMIUM is None, reason="no chromium on this machine")
with_axe = pytest.mark.skipif(not browser.AXE.is_file(), reason="no axe-core: npm pack axe-core, then set AXE_CORE")
DARK = "--blink-settings=preferredColorScheme=0"
MARKUP = re.compile(r"(?<![\w*])\*\w[^*\n]*\w\*(?![\w*])|`\w+`|\*\*\w")


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    results = normalised(json.loads(RESULTS.read_text(encoding="utf-8")))
    return pages(results)


@pytest.fixture(scope="module")
def shipped(drawn: dict[str, str]) -> str:
    return drawn["index.html"]


@pytest.fixture(scope="module")
def tree(drawn: dict[str, str]) -> Element:
    """The page and its studies, one behind the other."""
    return Element("pages", {}, [read(text) for text in drawn.values()])


def pages_beside() -> list[Path]:
    """Of every kind of page below reports/replies/ the largest, and the index."""
    kinds: dict[str, list[Path]] = {"index": [], "~judges": [], "~prompts": [], "said": []}
    for path in REPLIES.rglob("*.html"):
        kind = next((k for k in ("~judges", "~prompts") if k in path.as_posix()), "said")
        kinds["index" if path.parent == REPLIES else kind].append(path)
    return [max(paths, key=lambda path: path.stat().st_size) for paths in kinds.values() if paths]


def shown_text(element: Element) -> str:
    """Text without code, which may say what it likes."""
    parts = (c if isinstance(c, str) else shown_text(c) for c in element.children)
    return "" if element.tag in ("code", "pre", "style", "svg") else "".join(parts)


# --------------------------------------------------------------------------- what is written


def test_every_judge_of_every_panel_has_a_page_asked_here_or_imported() -> None:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    judges = {(panel["name"], judge["name"]) for panel in results["panels"] for judge in panel["judges"]}
    written = {(path.parents[1].name, path.stem) for path in REPLIES.glob("*/~judges/*.html")}
    assert {panel["provenance"] for panel in results["panels"]} >= {"recorded", "imported"}
    assert judges <= written


def test_it_is_whole_and_under_a_megabyte(shipped: str, tree: Element) -> None:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    figures = sum(len(list(section.all("figure"))) for section in tree.all("section"))
    assert figures > len({question["id"] for question in results["questions"]})
    assert len(shipped.encode()) < 400_000


def test_studies_have_pages_of_their_own_and_the_page_shows_nothing_of_them(drawn: dict[str, str]) -> None:
    """A use is what separates them: of a panel that states none, the page has a link and a sentence."""
    studies = {f"studies/{panel}.html": panel for panel in ("published", "local", "thesis", "writing")}
    assert set(drawn) == {"index.html", *studies}
    first = read(drawn["index.html"])
    assert {a.attributes["href"] for a in first.one("section", id="studies").all("a")} == set(studies)
    shown = {div.one("h3").text.split(",")[0] for div in first.all("div", class_="group")}
    assert shown == {"Panel checks", "Panel rewardbench", "Panel vicuna80"}
    for path, panel in studies.items():
        headings = [h.text for h in read(drawn[path]).all("h3")]
        assert headings
        assert all(text.startswith(f"Panel {panel}, ") for text in headings)


@pytest.mark.parametrize("width", [80, 200])
def test_the_terminal_keeps_its_budgets_of_lines(width: int) -> None:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    levels = (-1, 0, 1, 2)
    texts = [terminal(results, width, report="reports/index.html", verbosity=level) for level in levels]
    lines = [text.splitlines() for text in texts]
    word, brief, tables, methods = map(len, lines)
    assert word == 2 < brief <= 25 < tables <= 120
    assert tables < methods <= 190
    assert all(len(line) <= width for text in lines for line in text)
    assert [line for line in lines[1] if line.endswith("..")] == [], "every line ends with its sentence"


def test_no_markup_of_docstrings_is_left(tree: Element) -> None:
    assert MARKUP.findall(shown_text(tree)) == []


def test_no_interval_has_one_end(tree: Element) -> None:
    told = re.findall(r"(?<![\d.+−])([+−]?\d+(?:\.\d+)?(?: %)?) to \1(?![\d.])", shown_text(tree))
    assert told == []


def test_the_numbers_of_a_cell_have_as_many_decimals(tree: Element) -> None:
    cells = [[b.text for b in td.all("b") if re.fullmatch(r"[+−]?\d+\.\d+", b.text)] for td in tree.all("td")]
    several = [numbers for numbers in cells if len(numbers) > 1]
    assert len(several) > 20
    assert [numbers for numbers in several if len({len(n.partition(".")[2]) for n in numbers}) > 1] == []


def test_no_number_claims_four_digits_behind_its_point(tree: Element) -> None:
    """0.0198 says as much as 1.98; +0.4636 says more than anybody knows."""
    drawn = [e for e in tree.all("section") if e.attributes.get("id", "").startswith("q-")]
    ladders = {id(t) for e in drawn for f in e.all("figure", class_="ladders") for t in f.all("td")}
    tds = [td for e in drawn for td in e.all("td") if id(td) not in ladders]
    cells = [" ".join(c if isinstance(c, str) else c.text for c in td.children) for td in tds]
    assert len(cells) > 500
    claims = re.compile(r"(?<![\w.−-])[+−]?(?:[1-9]\.\d{4,}|0\.[1-9]\d{3,})(?![\d%])")
    assert [text for text in cells if claims.search(text)] == []


def test_a_share_or_a_correlation_has_no_axis_beyond_one(tree: Element) -> None:
    checked = 0
    for figure in tree.all("figure", class_="forest"):
        caption = figure.one("figcaption").text
        axis = figure.one("tfoot").all("text")
        told = [t.text.replace("−", "-").replace("+", "").replace("\u00a0", " ") for t in axis]
        ends = [float(text.removesuffix(" %")) / (100 if text.endswith(" %") else 1) for text in told]
        values = {b.text for b in figure.one("tbody").all("b")} - {"–"}
        assert all(v.endswith(" %") for v in values) == all(text.endswith(" %") for text in told), caption
        if re.search(r"orrelation|Reliability|[Aa]greement|[Ss]hare of|Pairs with|Wins of|Texts decided", caption):
            checked += 1
            assert -1 <= min(ends) <= max(ends) <= 1, caption
    assert checked > 5


# --------------------------------------------------------------------------- in a browser


WINDOWS = (360, 390, 1160)


@pytest.fixture(scope="module")
def widths(drawn: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], browser.Widths]:
    windows = [(name, width) for name in drawn for width in WINDOWS]
    found = browser.all_widths([(drawn[name], width) for name, width in windows], tmp_path_factory.mktemp("widths"))
    return dict(zip(windows, found, strict=True))


@in_browser
@pytest.mark.parametrize("width", WINDOWS)
def test_no_sideways_scrolling_with_everything_unfolded(
    widths: dict[tuple[str, int], browser.Widths], width: int
) -> None:
    for (name, at), (wide, window, beyond, within) in widths.items():
        if at == width:
            assert (window, beyond, wide <= window) == (width, [], True), name
            if width < 700:
                assert within == [], f"{name}: tables that scroll by themselves where they should stack"


@in_browser
def test_the_console_is_silent(shipped: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(shipped, encoding="utf-8")
    assert browser.complaints(tmp_path / "index.html", tmp_path / "profile") == []


@in_browser
@pytest.mark.parametrize("width", [360, 1160])
@pytest.mark.parametrize("name", ["index.html", "studies/local.html", "studies/published.html"])
def test_ticks_do_not_touch(drawn: dict[str, str], tmp_path: Path, name: str, width: int) -> None:
    assert browser.touching_ticks(drawn[name], tmp_path, width) == []


@in_browser
def test_whatever_takes_the_keyboard_shows_it(shipped: str, tmp_path: Path) -> None:
    reached, unseen = browser.focus_everything(shipped, tmp_path)
    stops = [e for e in read(shipped).all() if e.tag == "summary" or {"href", "tabindex"} & e.attributes.keys()]
    assert reached == len([e for e in stops if e.tag not in ("link", "use")])
    assert unseen == []


@in_browser
def test_the_filter_hides_what_it_says_and_nothing_is_lost_without_it(shipped: str, tmp_path: Path) -> None:
    found = browser.asked(
        shipped,
        tmp_path,
        """const state = () => [
          [...document.querySelectorAll('section[class^=of-]')].filter(e => e.offsetParent !== null),
          [...document.querySelectorAll('.matrix td')].filter(e => getComputedStyle(e).visibility === 'visible')
        ].map(found => found.map(e => e.className));
        const found = {};
        for (const id of ['show-all', 'show-open', 'show-red']) {
          document.getElementById(id).checked = true; found[id] = state(); }
        answer(found);""",
    )
    sections, cells = found["show-all"]
    assert {"of-", "of-accepted-failure"} <= set(sections)
    assert {"pass", "accepted-failure"} <= set(cells)
    no_pass, red = found["show-open"], found["show-red"]
    assert no_pass == [[s for s in sections if s not in ("of-pass", "of-")], [c for c in cells if c != "pass"]]
    quiet = ("pass", "accepted-failure", "accepted-doubt")
    assert red[0] == [s for s in sections if s != "of-" and s.removeprefix("of-") not in quiet]
    assert red[1] == [c for c in cells if c not in quiet]


@in_browser
def test_what_is_shown_before_anything_is_opened_stays_short(shipped: str, tmp_path: Path) -> None:
    """At most 8,000 pixels and 3,000 words on a desk, and few stops on the way through it by keyboard."""
    height, words, stops = browser.asked(
        shipped,
        tmp_path,
        """const stops = [...document.querySelectorAll('a[href], summary, [tabindex], input')].filter(
          e => e.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true}));
        answer([document.documentElement.scrollHeight, document.body.innerText.split(/\\s+/).length,
          [stops.length, stops[0].className]]);""",
    )
    assert height <= 8_000
    assert words <= 3_000
    assert stops[0] <= 120
    assert stops[1] == "skip"


@in_browser
def test_it_prints_what_is_open(shipped: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(shipped, encoding="utf-8")
    assert 2 < browser.pages_printed(tmp_path / "index.html", tmp_path) <= 12


@in_browser
@with_axe
@pytest.mark.parametrize("how", [["--window-size=1160,900"], ["--window-size=500,900"], [DARK]])
@pytest.mark.parametrize("name", ["index.html", "studies/local.html", "studies/published.html"])
def test_axe_finds_nothing(drawn: dict[str, str], tmp_path: Path, name: str, how: list[str]) -> None:
    assert browser.violations(drawn[name], tmp_path, *how) == []


# --------------------------------------------------------------------------- beside it


@in_browser
def test_pages_beside_it_fit_a_phone_and_are_silent(tmp_path: Path) -> None:
    beside = pages_beside()
    assert len(beside) == 4
    found = browser.all_widths([(path.read_text(encoding="utf-8"), 360) for path in beside], tmp_path)
    for path, (wide, window, beyond, _) in zip(beside, found, strict=True):
        assert (wide <= window, beyond) == (True, []), path
        assert browser.complaints(path, tmp_path / "profile") == [], path
        assert path.stat().st_size < 1_000_000, path


@in_browser
@with_axe
@pytest.mark.parametrize("how", [[], [DARK]])
def test_axe_finds_nothing_beside_it(tmp_path: Path, how: list[str]) -> None:
    for number, path in enumerate(pages_beside()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert browser.violations(path.read_text(encoding="utf-8"), folder, *how) == [], path


def test_all_pages_beside_it_stay_under_the_stated_size() -> None:
    sizes = [path.stat().st_size for path in REPLIES.rglob("*.html")]
    assert len(sizes) > 50
    assert sum(sizes) < 20_000_000
    [told] = re.findall(r"on (\d+) pages, ([\d.]+) MB", (REPLIES / "index.html").read_text(encoding="utf-8"))
    assert int(told[0]) == len(sizes) - 1  # but for the index itself
    assert float(told[1]) == pytest.approx(sum(sizes) / 1e6, abs=0.2)


EXPLAINED_NOWHERE = (
    "parse rate", "repeat difference", "no gate objects", "families of gates", "elicitation", "beta", "Monte-Carlo",
    "the same:", "Holm", "alpha",
)  # fmt: skip
"""Words that somebody who knows pytest only had to look up, and that other words took the place of."""


def test_the_first_words_are_read_without_a_glossary(shipped: str) -> None:
    """Of the terminal without -v, of the first screen, and of what a check prints."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    file = REPORTS.parent / "tests" / "cli" / "two_judges_two_people.csv"
    command = [sys.executable, "-m", "recuse.cli", "check", str(file)]
    texts = [
        *(terminal(results, 100, verbosity=level) for level in (-1, 0)),
        read(shipped).one("header").text,
        subprocess.run(command, capture_output=True, text=True, check=False).stdout,
    ]
    assert all(len(text) > 20 for text in texts)
    assert [(word, text) for word in EXPLAINED_NOWHERE for text in texts if word in text] == []
