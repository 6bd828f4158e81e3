"""index.html as a whole: well-formed, self-contained, safe, readable without sight or colour, the same every time."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import samples
from page_reader import Element, page, read

from recuse.report.canonical_form import canonical, normalised
from recuse.report.first_line import headline
from recuse.schema import RecuseError

SAMPLES: dict[str, Callable[[], samples.Results]] = {
    "published": samples.published,
    "both": samples.both,
    "failing": samples.failing,
    "several tasks": samples.several_tasks,
    "two judges": lambda: samples.invented(2),
    "thirteen judges with holes": lambda: samples.invented(13, holes=0.05),
    "long names with holes": lambda: samples.invented(6, long_names=True, holes=0.15),
    "hostile": samples.hostile,
    "nothing": samples.nothing,
}


def html_of(results: samples.Results) -> str:
    plain = normalised(results)
    return page(plain, headline(plain))


@cache
def html_of_sample(name: str) -> str:
    return html_of(SAMPLES[name]())


@pytest.fixture(scope="module", params=SAMPLES)
def html(request: pytest.FixtureRequest) -> str:
    return html_of_sample(request.param)


@pytest.fixture(scope="module")
def tree(html: str) -> Element:
    return read(html)


# --------------------------------------------------------------------------- every sample


@pytest.mark.slow("further cases", but_first=True)
def test_nothing_is_fetched_and_nothing_runs(html: str, tree: Element) -> None:
    assert not list(tree.all("script"))
    assert not list(tree.all("iframe")) + list(tree.all("object")) + list(tree.all("embed")) + list(tree.all("form"))
    for element in tree.all():
        assert not [name for name in element.attributes if name.startswith("on")], element
        assert "style" not in element.attributes, "the policy allows the style sheet only"
        for name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
            target = element.attributes.get(name, "")
            assert target == "" or target.startswith("#") or target == "data:,", (element.tag, target)
    assert "url(" not in tree.one("style").text
    assert "@import" not in html


def test_policy_allows_this_style_sheet_and_nothing_else(tree: Element) -> None:
    policy = tree.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    style = tree.one("style").text
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"style-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_headings_go_down_one_step_at_a_time(tree: Element) -> None:
    levels = [int(e.tag[1]) for e in tree.all() if re.fullmatch(r"h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels)), levels


def test_anchors(tree: Element) -> None:
    ids = [e.attributes["id"] for e in tree.all() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    wanted = [e.attributes["href"][1:] for e in tree.all() if e.attributes.get("href", "").startswith("#")]
    labels = [e.attributes["aria-labelledby"] for e in tree.all() if "aria-labelledby" in e.attributes]
    assert set(wanted + labels) <= set(ids)


def test_every_picture_is_named_or_silent(tree: Element) -> None:
    def check(element: Element, hidden: bool) -> None:
        hidden = hidden or element.attributes.get("aria-hidden") == "true"
        if element.tag == "svg":
            named = element.attributes.get("role") == "img" and element.attributes.get("aria-label")
            assert hidden or named, "a picture without a name that is not hidden"
            hidden = True  # what is inside a named picture is part of it
        for child in element.children:
            if isinstance(child, Element):
                check(child, hidden)

    check(tree, False)


def test_marks_are_words(tree: Element) -> None:
    """Shape and colour come from the style sheet; the text is the word, which is what a screen reader reads."""
    outcomes = {
        "pass": "pass",
        "fail": "fail",
        "not-measured": "not measured",
        "accepted-failure": "known failure",
        "accepted-doubt": "not enough data",
        "undecided": "undecided",
    }
    for mark in tree.all("i"):
        for name in outcomes.keys() & set(mark.classes):
            assert mark.text == outcomes[name]


def test_tables_have_headings(tree: Element) -> None:
    for table in tree.all("table"):
        cells = [th for th in table.all("th") if th.attributes.get("scope") in ("row", "col")]
        assert cells, table.text[:80]
        assert all("scope" in th.attributes for th in table.all("th"))


def test_what_scrolls_can_be_reached_by_keyboard(tree: Element) -> None:
    for region in tree.all("div", class_="scroll"):
        assert region.attributes["tabindex"] == "0"
        assert region.attributes["role"] == "group"  # a landmark per table would be a hundred
        assert region.attributes["aria-label"]
    assert tree.one("a", class_="skip").attributes["href"] == "#verdicts"


def test_every_group_says_where_its_numbers_come_from(tree: Element) -> None:
    groups = list(tree.all("div", class_="group"))
    for group in groups:
        heading = next(group.all("h3"))
        badge = heading.one("span", class_="badge")
        assert badge.text in ("recorded", "reconstructed", "scripted")
        assert badge.text in badge.classes


def test_no_question_had_to_be_drawn_plainly(html: str) -> None:
    assert "could not be drawn" not in html


def test_nothing_is_left_of_python_or_jinja(html: str) -> None:
    text = re.sub(r"<details.*?</details>", "", html, flags=re.DOTALL)  # a judge may write anything
    assert not re.search(r"\bNone\b(?! of )|\bnan\b|Undefined|\{\{|\{%|object at 0x", text)


# --------------------------------------------------------------------------- particular samples


def test_the_same_results_give_the_same_bytes() -> None:
    from test_canonical_form import shuffled

    drawn = html_of_sample("both")
    assert html_of(shuffled(samples.both(), 1)) == drawn
    assert html_of(json.loads(canonical(samples.both()))) == drawn


def test_size() -> None:
    assert len(html_of_sample("both").encode()) < 215_000
    assert len(html_of_sample("nothing").encode()) < 25_000


def test_known_answers_are_on_the_page() -> None:
    tree = read(html_of_sample("published"))
    section = next(e for e in tree.all("section") if e.attributes["id"] == "q-consensus_deviation")
    forest = next(section.all("figure", class_="forest"))
    values = [b.text for b in forest.all("b") if re.fullmatch(r"[+−][\d.]+", b.text)]
    assert values == [
        "−0.335",
        "−0.300",
        "+0.770",
        "+0.560",
        "+0.710",
        "+0.605",
        "−0.315",
        "−0.160",
        "+0.210",
        "+0.145",
    ]
    for told in (
        "10.4 % smaller",
        "27.3 % smaller",
        "14.8 % smaller",
        "49.2 % smaller",
        "31.0 % smaller",
        "26.5 % on average",
    ):
        assert told in section.text
    people = next(e for e in tree.all("section") if e.attributes["id"] == "q-human_alignment")
    assert "+0.46" in people.text
    assert "+0.43" in people.text
    assert "+0.4636" not in people.text, "four decimals of a number that is known to a tenth; CSV and JSON have them"
    assert "23 of 25" in people.text


def test_colours_mean_what_the_paper_means() -> None:
    tree = read(html_of_sample("published"))
    section = next(e for e in tree.all("section") if e.attributes["id"] == "q-consensus_deviation")
    shown = next(section.all("figure", class_="heat"))
    rows = [list(tr.all("td")) for tr in shown.one("tbody").all("tr")]
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            red = any(name.startswith("o") and name[1:].isdigit() for name in cell.classes)
            assert red == cell.text.startswith("+")
            assert ("own" in cell.classes) == (i == j)
    strongest = max((td for row in rows for td in row), key=lambda td: int((td.classes or ["x0"])[0][1:]))
    assert strongest.text.startswith("+0.770")


def test_failures_are_told_with_what_to_do() -> None:
    tree = read(html_of_sample("failing"))
    section = next(e for e in tree.all("section") if e.attributes["id"] == "attention")
    assert "The accepted failure for self_bias (judge = grok-4) expired" in section.text
    assert "the cassette lacks repeat 4" in section.text
    first = list(section.all("article"))[1]
    assert "own work" in first.one("h3").text
    assert "+0.71 (+0.58 to +0.84)" in first.text
    assert 'gate = "self_bias"' in next(first.all("pre")).text
    assert not [e for e in read(html_of_sample("published")).all("section") if e.attributes["id"] == "attention"]


def test_baseline_movement() -> None:
    tree = read(html_of_sample("failing"))
    section = next(e for e in tree.all("section") if e.attributes["id"] == "baseline")
    rows = [[cell.text for cell in row.all() if cell.tag in ("th", "td")] for row in section.one("tbody").all("tr")]
    by_note = {note: (what, before, after) for what, before, after, note in rows}
    change = next(note for note in by_note if note.endswith(": +0.510 (+0.300 to +0.720)"))
    assert by_note[change] == ("own work of grok-4 (published)", "0.200", "0.710")
    assert "own work (self_bias) limit widened" in section.text
    who = "own work of grok-4, names shown (published, merchant_risk)"
    assert [row[:3] for row in rows if row[3] == "cannot be tested for chance"] == [
        [f"{who}, value", "0.610", "0.710"], [f"{who}, outcome", "accepted", "fail"],
    ]  # fmt: skip
    assert by_note["appeared"] == ("steady of gpt-5.1 (published)", "–", "0.200")


def test_hostile_words_stay_words() -> None:
    """Each of what hostile judges write, as the reply behind a verdict that turns the run red."""
    results, shown, pages = samples.hostile(), [], []
    judge = results["verdicts"][0]["subject"]["judge"]
    of_others = {"measurements": [], "verdicts": results["verdicts"][:1]}  # each page is drawn for its one reply
    for row in results["excerpts"]:
        pages.append(html_of({**results, **of_others, "excerpts": [{**row, "judge": judge}]}))
        quoted = read(pages[-1]).one("section", id="attention").all("details", class_="reply")
        shown += [pre.text for reply in quoted for pre in reply.all("pre")]
    assert len(shown) == len(pages) == 8
    assert "<script>alert(1)</script><img src=x onerror=alert(1)>" in shown
    assert any("⟦U+202E⟧" in text for text in shown)
    assert any("{{ 7 * 7 }}" in text for text in shown)
    assert all(len(text) < 1000 for text in shown)
    assert any("characters in results.json" in html for html in pages)
    for html in pages:
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\ufeff\x00-\x08\x0b-\x1f\x7f]", html)
        assert not [c for c in html if 0xD800 <= ord(c) <= 0xDFFF or 0xE0000 <= ord(c) <= 0xE0FFF]


def test_a_questions_note_stands_before_its_numbers() -> None:
    results = samples.published()
    results["questions"][0]["note"] = "The payments are synthetic."
    assert html_of(results).count("The payments are synthetic.") == 1


def test_no_markup_of_a_docstring_is_shown_raw_and_none_of_anybody_else_is_believed() -> None:
    results = samples.published()
    results["questions"][0]["note"] = "The *other* judges; `controlled` decides; 2 * 3 * 4; *<b>loud</b>* `<i>`."
    html = html_of(results)
    assert "The <em>other</em> judges; <code>controlled</code> decides; 2 * 3 * 4;" in html
    assert "<b>loud" not in html
    assert "<code>&lt;i&gt;</code>" in html


def test_several_panels_and_tasks() -> None:
    tree = read(html_of_sample("several tasks"))
    headings = [
        h.text for h in next(e for e in tree.all("section") if e.attributes["id"] == "q-scale_direction").all("h3")
    ]
    assert headings == ["Panel published, headlines reconstructed", "Panel local, headlines recorded"]


def test_missing_cells_are_marked_not_filled() -> None:
    tree = read(html_of(samples.invented(6, holes=0.2)))
    gone = [td for td in tree.all("td") if "gone" in td.classes]
    assert gone
    assert all(td.text.removesuffix(" (own)") == "–" for td in gone)
    assert "not measured" in tree.text


# --------------------------------------------------------------------------- templates of one's own


def test_a_local_template_replaces_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "ground_truth.html.j2").write_text("<p>our own {{ group.panel.name }}</p>")
    plain = normalised(samples.published())
    html = page(plain, "headline", [tmp_path])
    assert "<p>our own published</p>" in html
    assert "Mean true value of each level" not in html


def test_a_local_template_for_a_question_without_drawing(tmp_path: Path) -> None:
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "scale_direction.html.j2").write_text(
        "<p>{{ it.figures | selectattr('series', 'defined') | list | length }} forest</p>"
    )
    assert "<p>1 forest</p>" in page(normalised(samples.several_tasks()), "headline", [tmp_path])


def test_a_local_style_sheet_is_what_the_policy_allows(tmp_path: Path) -> None:
    (tmp_path / "style.css.j2").write_text("body { color: red }")
    tree = read(page(normalised(samples.nothing()), "headline", [tmp_path]))
    assert tree.one("style").text == "body { color: red }"
    test_policy_allows_this_style_sheet_and_nothing_else(tree)


@pytest.mark.parametrize("broken", ["{% if %}", "{{ nothing_of_that_name.at_all }}", "{{ "])
def test_a_broken_template_is_named(tmp_path: Path, broken: str) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "run.html.j2").write_text(broken)
    with pytest.raises(RecuseError, match=r"template does not render.*reports/templates"):
        page(normalised(samples.nothing()), "headline", [tmp_path])


def test_a_style_sheet_cannot_end_early(tmp_path: Path) -> None:
    (tmp_path / "style.css.j2").write_text("</style><script>alert(1)</script>")
    with pytest.raises(RecuseError, match="must not contain"):
        page(normalised(samples.nothing()), "headline", [tmp_path])
