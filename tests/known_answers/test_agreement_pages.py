"""Every figure on the pages of papers 002 and 004 is one that a command prints, or a place in a paper.

`PRINTED`: page by page, the sentences with figures as their numbers come out today. What is left of a page without
these, its computed tables, its code and references to places has no digit.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace

import illusion
import illusion_in_text
import illusion_requirements
import indeterminacy_requirements
import merg
import pytest
import test_cut_texts
import writing_panel

from fixtures.standins import shared_heuristics
from recuse.papers.indeterminacy.definitions import SMOOTHING, TAUS
from recuse.papers.indeterminacy.rated_options import BETAS
from recuse.schema.number_text import fixed, in_words

DOCS = writing_panel.ROOT / "docs"
PLACES = re.compile(
    r"paper 00\d|[Tt]ables? \d+(, \d+ and \d+)?|[Ss]ec(tion)?s?\.? [\d.]+|[Ff]igures? \d+((,| to| and)+ \d+)*"
    r"|Theorem [\d.]+|Definition [\d.]+|Lemma B\.1|Finding 1a|\(20\d\d\)|SmolLM2( 135M)?|Qwen2\.5 Coder 0\.5B"
    r"|Gemma 3 270M|ICC\(2,1\)|`[^`]*`"
)
Printed = tuple[Callable[[], Mapping[str, object]], tuple[str, ...], Callable[[], tuple[str, ...]]]
"""The numbers, the sentences that hold them, and the tables that are computed whole."""


def page(name: str) -> str:
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


@cache
def panel() -> SimpleNamespace:
    ratings = writing_panel.recorded()
    table = ratings.table[ratings.table["criterion"] == "overall"]
    lost = table[table["status"] != "ok"]
    of_rubric = lost[lost["status"].str.startswith("rubric")]
    rubrics = of_rubric.drop_duplicates(["rater", "rubric_source", "item"])
    return SimpleNamespace(
        ratings=ratings, lost=lost, by_rubric=of_rubric, rubrics=rubrics,
        tokens=writing_panel.tokens(writing_panel.ROOT), prompts=table["item"].nunique(),
    )  # fmt: skip


def of_illusion() -> dict[str, object]:
    rows = {row[1]: row[3] for row in illusion_in_text.rows()}
    found = re.search(r"16: score \+(.*?), .*substance [+-](.*?)\n(?s:.*)turns (\d+)%", shared_heuristics.findings())
    assert found is not None
    score, substance, flips = found.groups()
    size = shared_heuristics.PAPER
    rated = len(size.levels) * size.items * len(size.judges) * len(size.temperatures)
    why = [reason for *_, reason in illusion_requirements.ROWS if reason]
    return {
        "rho": fixed(float(rows["mean rho of the three pairs"])), "r": rows["mean r of the three pairs"],
        "icc": rows["mean ICC of the tiers, by their models"], "rated": f"{rated:,}", "score": score,
        "substance": fixed(float(substance), 0), "flips": flips, "points": len(illusion_requirements.ROWS),
        "open": in_words(len(why)), "cells": 3 * len(size.temperatures),
    }  # fmt: skip


def of_rubrics() -> dict[str, object]:
    it = panel()
    stages = ("knowledge", "reflection", "rubric")
    ratios = [[(share * sum(one[stage] for stage in stages) + one["independent"]) / one["checklist"]
               for one in it.tokens.values()] for share in (1.0, 0.5, 0.0)]  # fmt: skip
    counted = {name: test_cut_texts.COUNTS[name]() for name in ("knowledge", "reflections", "anchors", "names")}
    return {
        **counted, "rubrics_lost": in_words(len(it.rubrics)), "rubrics": in_words(2 * it.prompts),
        "lost_by_rubric": len(it.by_rubric),
        "more": in_words(len(it.lost) - len(it.by_rubric)),
        "one": fixed(sum(ratios[0]) / 3, 0), "two": fixed(sum(ratios[1]) / 3, 1), "least": fixed(min(ratios[2]), 1),
        "most": fixed(max(ratios[2]), 1), "flag": fixed(merg.FLAG),
    }  # fmt: skip


def of_indeterminacy() -> dict[str, object]:
    published = writing_panel.ROOT / "fixtures" / "published" / "indeterminacy_consistency.csv"
    with published.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["selection_metric"].startswith("JS")]
    loses = {row["beta"]: -float(row["delta_vs_best"]) for row in rows}
    why = [reason for *_, reason in indeterminacy_requirements.ROWS if reason]
    return {
        "taus": [f"{tau:g}".removeprefix("0") for tau in TAUS], "beta": fixed(10 * max(BETAS), 0),
        "uniform": fixed(100 * SMOOTHING, 0), "js": [fixed(loses[b]).removeprefix("0") for b in ("0.3", "0.4")],
        "open": in_words(len(why)),
    }  # fmt: skip


PRINTED: Mapping[str, Printed] = {
    "illusion.md": (of_illusion, (
        "agreement of {rho} over models, {r} over single texts and {icc} in absolute terms, over {rated} judgements",
        "best of 16 texts by such a judge: its score rises by {score} points, all of it surface and the judge's own "
        "reading, and substance by {substance}", "turns {flips} % of the pairs of single texts round",
        "Of the paper's {points} points", "or with the reason why it is open: {open} are", "the {cells} correlations",
    ), lambda: (illusion.markdown(illusion.rows()), illusion_in_text.markdown())),
    "rubrics.md": (of_rubrics, (
        test_cut_texts.MERG,
        'breaks off {rubrics_lost} of its {rubrics} rubrics ("rubric: unparsed"): {lost_by_rubric} judgements are '
        "lost, {more} more",
        "costs {one} times the tokens of the checklist where one text is judged by it, {two} times with two, and "
        "{least} to {most} times with many", "A value outside {flag} either way is flagged",
    ), lambda: (writing_panel.markdown(panel().ratings), merg.markdown())),
    "indeterminacy.md": (of_indeterminacy, (
        "What {taus[0]} and {taus[2]} would say", "if {beta} in 10 of those who chose otherwise",
        "are mixed with {uniform} % of the uniform", "Jensen-Shannon loses {js[0]} and {js[1]} at beta .3 and .4",
        "why it is open: {open} are",
    ), tuple),
}  # fmt: skip
HELD_ELSEWHERE = {
    "illusion.md": (),
    # test_writing_panel holds these; the stages are the paper's, and what merg reads is tested beside it
    "rubrics.md": (
        r"that is \d+ judgements, of which \d+ are lost, from \d+ calls", r"\d+ calls a prompt",
        r"anchors at 2, 5, 8 and 10", r"weights that sum to 1", r"\d+ of their \d+ replies hold no judgement",
        r"of the \d+ pieces of text that they cite as evidence \d+ stand there", r"score from 1 to 10",
        r"count 1, 2, 3, 4, 5", r"the scores are 1, 2, 3, 4, 5,",
        r"begin 2, 5, 8, 10,",
        r"every interval holds 0", r"the paper says 3 to 4, and 1\.3",
    ),
    # tests/papers/indeterminacy/test_findings.py holds the table of the study
    "indeterminacy.md": (
        r"\| [\w ',-]+ \| 0\.\d+ \| 0\.\d+ \| 0\.\d+ \|", r"1 rating \| 3 ratings \| 100 ratings",
        r"probabilities of 0 ", r"with one parameter|# \[0\.6 0\.5\]: 60 %",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_every_figure_is_one_that_a_command_prints(name):
    figures, sentences, tables = PRINTED[name]
    whole, values = page(name), figures()
    held = [" ".join(part.split()) for part in (*tables(), *(sentence.format_map(values) for sentence in sentences))]
    assert [part for part in held if part not in whole] == []
    for part in held:
        whole = whole.replace(part, "")
    for pattern in HELD_ELSEWHERE[name]:
        assert re.search(pattern, whole), pattern
        whole = re.sub(pattern, "", whole)
    whole = re.sub(r"```.*?```", "", whole)
    left = PLACES.sub("", whole)
    assert "\n".join(left[max(0, m.start() - 60) : m.end() + 20] for m in re.finditer(r"\d[\d.,]*", left)) == ""
