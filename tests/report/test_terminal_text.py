"""The terminal's summary: narrow or wide, with colour or without, it says the same."""

from __future__ import annotations

import re

import pytest
import samples

from recuse.report import terminal_text
from recuse.report.terminal_text import terminal

SAMPLES = [
    samples.both,
    samples.failing,
    samples.hostile,
    samples.nothing,
    lambda: samples.invented(40, long_names=True),
]


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(sample: object, width: int) -> None:
    text = terminal(sample(), width, False, "reports/index.html")  # type: ignore[operator]
    assert max(map(len, text.splitlines())) <= width
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_first_line_is_the_headline() -> None:
    lines = terminal(samples.published(), 120).splitlines()
    assert lines[0] == "This change: merge: nothing changed."
    assert lines[1].startswith("These judges: 3 of 5 cleared for merchant_risk (gpt-5.1, claude-4.5-sonnet and perpl")


def test_a_table_per_question() -> None:
    text = terminal(samples.published(), 120)
    for title in ("Does a judge score its own work as its peers do?", "Does a judge say the same thing twice?"):
        assert title in text.splitlines()
    row = next(line for line in text.splitlines() if line.strip().startswith("grok-4"))
    assert row.split()[1:7] == ["known", "failure", "+0.71", "known", "failure", "+0.605"]
    assert "  published (reconstructed), merchant_risk" in text


def test_columns_stand_under_their_heads() -> None:
    lines = terminal(samples.published(), 120).splitlines()
    at = next(i for i, line in enumerate(lines) if "own work" in line and "leniency" in line)
    gates, levels, row = lines[at : at + 3]
    assert row[gates.index("leniency") :].startswith("pass -0.22")
    assert row[levels.index("names hidden") :].startswith("pass -0.30")


def test_what_failed_and_what_to_do() -> None:
    text = terminal(samples.failing(), 120)
    assert "FAIL grok-4, names shown (published, merchant_risk): +0.71 (+0.58 to +0.84)" in text
    assert "half a point lifts a text halfway" in text
    assert "Record again, or accept it" in text
    assert "What turns this run red" not in terminal(samples.published(), 120)


def test_where_the_report_is_and_what_was_replayed() -> None:
    text = terminal(samples.published(), 100, report="reports/index.html")
    assert text.endswith("report: reports/index.html")
    assert "cassettes: 50 files, 500 interactions, 500 used, 0 unused" in text


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("sample", SAMPLES)
def test_colour_only_repeats_the_words(sample: object) -> None:
    plain, coloured = (terminal(sample(), 100, color) for color in (False, True))  # type: ignore[operator]
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert "\x1b" not in plain


def test_nothing_hostile_reaches_the_terminal() -> None:
    text = terminal(samples.hostile(), 100)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert "\u202e" not in text


@pytest.mark.parametrize("width", range(40, 53))
def test_a_line_that_is_too_long_ends_after_a_whole_word(width: int) -> None:
    line = terminal(samples.failing(), width, verbosity=-1)
    assert line in {"This change: do not merge: grok-4..", "This change: do not merge: grok-4 promotes.."} or (
        line == "This change: do not merge: grok-4 promotes itself." and len(line) <= width
    )


def test_a_line_is_cut_before_its_punctuation() -> None:
    cut = {terminal_text._cut("gpt has another rubric: rubric, prompt", width) for width in range(20, 36)}
    assert cut == {"gpt has another..", "gpt has another rubric..", "gpt has another rubric: rubric.."}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("sample", [samples.published, samples.failing, samples.both, samples.hostile])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_without_v_at_most_25_lines_that_begin_with_the_decision(sample: object, width: int) -> None:
    lines = terminal(sample(), width, report="reports/index.html", verbosity=0).splitlines()  # type: ignore[operator]
    assert len(lines) <= 25
    assert lines[0].startswith("This change: ")
    assert max(map(len, lines)) <= width
    quiet = terminal(sample(), width, report="reports/index.html", verbosity=-1).splitlines()  # type: ignore[operator]
    assert len(quiet) == 2


def test_with_vv_each_gate_says_once_what_it_measures_and_why_its_limit_stands_there() -> None:
    tables, methods = (terminal(samples.published(), 100, verbosity=level) for level in (1, 2))
    why = "half a point lifts a text halfway"
    assert why not in tables
    assert methods.count(why) == 1
    two_panels = " ".join(terminal(samples.both(), 100, verbosity=2).split())
    assert two_panels.count("what is left is no longer the sample that was asked for") == 1
    assert re.search(r"own work: .*\n? *.*Limit \+-0.5, held by its whole\s+interval: half a point", methods)
    kept = iter(methods.splitlines())
    assert all(line in kept for line in tables.splitlines()), "what -v says stands there too, in its order"
