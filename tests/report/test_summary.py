"""summary.md: short, safe as a pull-request comment, failures first, none of a judge's words."""

from __future__ import annotations

import re

import samples

from recuse.report.canonical_form import normalised
from recuse.report.first_line import headline
from recuse.report.page import SIZE_LIMIT, summary


def of(results: samples.Results, **more: int) -> str:
    plain = normalised(results)
    plain["headline"] = headline(plain)
    return summary(plain, **more)


def test_opens_with_the_headline_and_the_provenance() -> None:
    text = of(samples.both())
    assert text.startswith("### This change: merge: nothing changed.\n\nThese judges: 4 of 8 cleared for merchant")
    assert "- `published` merchant\\_risk: **not cleared**: gemini-2.5-pro and grok-4; of gemini-2.5-pro: with" in text
    assert "; **cleared**: gpt-5.1, claude-4.5-sonnet and perplexity-sonar" in text
    assert "`published` reconstructed · `local` recorded" in text
    assert "No model was asked" in text


def test_a_table_per_question_with_the_failing_judges_first() -> None:
    text = of(samples.failing())
    table = text[text.index("Does a judge score its own work") :]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert rows[0].startswith("| `grok-4` | ❌ +0.71 / ❌ +0.605 |")
    assert rows[1].startswith("| `gemini-2.5-pro` | 🔶 +0.77 / 🔶 +0.56 |")
    assert text.index("What turns this run red") < text.index("Does a judge score its own work")


def test_tables_are_whole() -> None:
    for line_group in re.findall(r"(?:^\|.*\n)+", of(samples.several_tasks()), flags=re.MULTILINE):
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in line_group.splitlines()}
        assert len(columns) == 1


def test_changed_limits_and_changes_beyond_chance_are_told() -> None:
    text = of(samples.failing()).replace("\\", "")
    widened = (
        "| own work (self_bias) limit widened | within [-0.5, +0.5] | within [-1, +1] | without that grok-4 fails |"
    )
    assert widened in text
    assert "| the test evals/test_x.py::test_y is gone |" in text
    assert "| published/merchant_risk/rubric: the prompt changed |" in text
    assert "| pass | undecided | the number itself did not change beyond chance |" in text
    assert text.index("#### What was changed") < text.index("What turns this run red")
    assert "The baseline was written because: the rubric was reworded" in text


def test_what_changed_is_told_once() -> None:
    """The page has every difference from the baseline; the comment a row per change."""
    text = of(samples.failing())
    assert "Against the baseline" not in text
    assert text.count("limit widened") == 1


def test_no_words_of_a_judge() -> None:
    results = samples.hostile()
    for entry in results["excerpts"]:
        entry["text"] = entry["why"] = "the judge's own words"
    assert "the judge's own words" not in of(results)


def test_hostile_names_and_reasons_are_inert() -> None:
    text = of(samples.hostile())
    assert "<b>" not in text
    assert not re.search(r"(?<!\\)`evil", text.replace("<summary>", "")) or "\\`evil" in text
    assert "@octocat" not in text
    assert "\u202e" not in text
    assert "&lt;b&gt;" in text


def test_size_is_limited() -> None:
    long = samples.invented(40, long_names=True)
    assert len(of(long)) < 20_000 < SIZE_LIMIT
    short = of(long, size_limit=3_000)
    assert len(short) <= 3_000
    assert short.endswith("_Shortened: the rest is in the report (index.html)._\n")


def test_hundreds_of_long_faults_are_counted_and_the_first_of_them_told() -> None:
    """GitHub takes 65,536 characters; with every fault listed, the whole section used to be lost."""
    results = samples.both()
    results["objections"] = [f"fault {n}: {'a_long_name*' * 80}" for n in range(367)]
    text = of(results)
    assert "fault 0:" in text
    assert "fault 14:" in text
    assert "fault 15:" not in text
    assert "- and 352 more faults of the run, in the report" in text
    assert "_Shortened" not in text
    assert len(text) < SIZE_LIMIT


def test_many_judges_are_reduced_to_those_that_matter() -> None:
    assert "more judges in the report." in of(samples.invented(40))


def test_nothing_asked() -> None:
    assert of(samples.nothing()).startswith("### This change: no decision: nothing was to be decided.")
