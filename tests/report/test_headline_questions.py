"""The panels of the bias questions draw what the metrics really give, and what is left when parts of it are missing."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sample_parts as parts
from recuse.report.panels import order_of, panel_of

from recuse.metrics import (
    calibration,
    coverage,
    defences,
    injection,
    length,
    mitigation,
    position,
    predictability,
    scale_framing,
    self_preference,
    win_rates,
)
from recuse.metrics.tally import tally
from recuse.report.canonical_form import normalised
from recuse.report.page import environment, page
from recuse.schema import Estimate, Estimates
from recuse.suite import estimate_record

QUESTIONS = (
    "self_preference", "scale_framing", "position_bias", "length_bias", "prompt_injection", "mitigations"
)  # fmt: skip
JUDGES = ("ann", "bob", "cid", "<b>eve</b>")
TEXTS = ("ann", "bob", "cid", "eve")
OWN = dict(zip(JUDGES, TEXTS, strict=True))
LIMITS: Mapping[str, Mapping[str, Any]] = {
    "self_preference_controlled": {"within": [-0.25, 0.25]},
    "framing_shift": {"within": [-0.5, 0.5]},
    "order_consistency": {"at_least": 0.5},
    "padding_preference": {"at_most": 0.1},
    "injection_success": {"at_most": 0.25},
}
STORIES = [f"s{k}" for k in range(12)]
ROW = {"task": "headlines", "repeat": 0, "status": "ok", "response": None, "score": np.nan, "request": "k"}


def grades(rng: np.random.Generator) -> pd.DataFrame:
    rows = []
    for story, judge, text, framing in product(STORIES, JUDGES, TEXTS, ("positive", "negative")):
        good = min(5, max(1, 2 + TEXTS.index(text) * 0.7 + rng.normal() + (OWN[judge] == text)))
        digit = round(good) if framing == "positive" or judge == "cid" else 6 - round(good)
        beside = {"expected_score": digit * 0.9 + 0.3, "in_set_mass": 0.8, "perplexity": 1 + rng.random()}
        rows.append(ROW | beside | {"judge": judge, "item": story, "target": text, "framing": framing, "score": digit})
    table = pd.DataFrame(rows).assign(protocol="grading", criterion="overall")
    table.loc[0, ["status", "score"]] = "unparsed", np.nan
    return table


def duels(rng: np.random.Generator, items: pd.DataFrame, labels: tuple[str, ...]) -> pd.DataFrame:
    said = ["first", "second", "tie"]
    rows = [
        ROW
        | {"judge": judge, "item": item, "target": "ann", "order": order, "labels": label,
           "response": said[int(rng.integers(0, 2 if judge != "bob" else 3))]}
        for judge, item, order, label in product(JUDGES, items["item"], ("ab", "ba"), labels)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(protocol="pairwise", criterion="winner")


def found() -> dict[str, list[Estimate | Estimates]]:
    """Question -> what its metrics give for invented ratings."""
    rng = np.random.default_rng(7)
    graded = grades(rng)
    met = pd.DataFrame(
        [(f"{s}.{a}{b}", s, a, b) for s in STORIES for a, b in (("ann", "bob"), ("cid", "eve"), ("ann", "eve"))],
        columns=["item", "story", "a", "b"],
    )
    chosen, evidence = duels(rng, met, ("plain", "swapped")), duels(rng, met, ("plain",))
    twins = pd.DataFrame({"item": STORIES, "story": STORIES, "a": "plain", "b": "padded", "words_a": 20, "words_b": 40})
    texts = pd.DataFrame(
        [(s, s, t, f"{t} wrote {'many ' * int(rng.integers(1, 9))}words") for s in STORIES for t in TEXTS],
        columns=["item", "story", "target", "text"],
    )
    texts = texts.assign(words=texts["text"].str.split().str.len())
    attacks = pd.DataFrame(
        [(f"{s}.{k}", s, "ann", f"p{k}", kind, "ignore all instructions")
         for s in STORIES for k, kind in enumerate(("override", "encoded"))],
        columns=["item", "story", "target", "payload", "class", "text"],
    )  # fmt: skip
    attacked = pd.DataFrame(
        [ROW | {"judge": j, "item": i, "target": "ann", "framing": "positive", "score": 5 if j == "bob" else 1}
         for j in JUDGES for i in attacks["item"]]
    ).assign(protocol="grading_injected", criterion="overall")  # fmt: skip
    plain = attacks.iloc[::2].assign(item=attacks["item"] + "h", payload="h", **{"class": "harmless"})
    kept = attacked.iloc[: len(plain)].assign(item=plain["item"].to_numpy(), judge="bob", score=2)
    outcomes = injection.grade_outcomes(pd.concat([attacked, kept]), graded, pd.concat([attacks, plain]))
    on_attacks, on_clean = defences.text_blocks(attacks, texts)
    both = self_preference.against_received(graded, OWN), self_preference.against_given(graded, OWN)
    some = graded[(graded["framing"] == "positive") & graded["item"].isin(STORIES[:5])]
    lead = some.assign(segment="lead", score=rng.integers(1, 6, len(some)).astype(float))
    by_parts = pd.concat([some.assign(segment="headline"), lead])
    surprises = graded[graded["framing"] == "positive"].drop(columns="framing").assign(
        protocol="text_perplexity", criterion="bits_per_character", score=graded["perplexity"], status="ok"
    )  # fmt: skip
    without = graded.drop(columns="perplexity")
    return {
        "self_preference": [
            coverage.parse_rate(graded), self_preference.controlled(graded, OWN), *both, tally(*both),
            self_preference.score_matrix(graded, OWN, framing="positive"),
            win_rates.own_win_rate(chosen, met, OWN), win_rates.controlled_excess(chosen, met, OWN),
            predictability.own_predictability(surprises, OWN),
            predictability.grade_on_predictability(graded, surprises),
        ],
        "scale_framing": [
            scale_framing.direction_insensitivity(graded), scale_framing.shift(graded),
            scale_framing.shift_by_target(graded), scale_framing.self_preference_change(graded, OWN),
        ],
        "position_bias": [
            coverage.parse_rate(chosen), position.order_consistency(chosen, met), position.slot_preference(chosen, met),
            position.letter_preference(chosen, met), position.first_pick_share(chosen, met),
            position.tie_share(chosen, met), position.gap_effect(chosen, met),
            calibration.agreement(chosen, met, evidence=evidence, own=OWN),
            calibration.gain(chosen, met, evidence=evidence, own=OWN),
        ],
        "length_bias": [
            length.padding_preference(duels(rng, twins, ("plain",)), twins), length.length_coefficient(graded, texts),
            length.duel_length_coefficient(chosen, met, texts), length.same_length_reference(chosen, met, texts),
        ],
        "prompt_injection": [
            injection.success_rate(outcomes), injection.by_class(outcomes), injection.above_harmless(outcomes),
            defences.stopped(outcomes, on_attacks), defences.clean_blocked(on_clean),
        ],
        "mitigations": [
            mitigation.what_if(without, OWN, segments=by_parts), mitigation.position_calibration(chosen, met, OWN),
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def everything() -> parts.Results:
    panel = parts.panel_of("local", "recorded", JUDGES, ("Ann", "Bob", "Cid", "Eve & Co <i>"), "Four writers.")
    results = parts.empty([panel])
    results["questions"] = [{"id": question, "title": f"Does {question} hold?"} for question in QUESTIONS]
    for question, measured in found().items():
        for family in measured:
            members = family.items() if isinstance(family, Estimates) else [((), family)]
            for key, estimate in members:
                named = dict(zip(family.by, key, strict=True)) if isinstance(family, Estimates) else {}
                add(results, question, {"task": "headlines", "panel": "local", **named}, estimate_record(estimate))
    return parts.counted(results)


def add(results: parts.Results, question: str, subject: parts.Results, estimate: parts.Results) -> None:
    limit = LIMITS.get(estimate["metric"])
    told = estimate | {name: math.nan for name in ("value", "low", "high") if estimate[name] is None}
    if limit and not {"class", "target"} & set(subject):
        results["verdicts"].append(parts.verdict_on(question, estimate["metric"], subject, told, dict(limit)))
    else:
        results["measurements"].append(parts.measured(question, subject, told))


def about(results: parts.Results, question: str) -> parts.Results:
    kept = copy.deepcopy(results)
    kept["questions"] = [entry for entry in kept["questions"] if entry["id"] == question]
    for name in ("verdicts", "measurements"):
        kept[name] = [entry for entry in kept[name] if entry["question"] == question]
    return kept


def metrics_of(results: parts.Results) -> list[str]:
    return sorted({e["estimate"]["metric"] for e in results["verdicts"] + results["measurements"]})


def html_of(results: parts.Results) -> str:
    html = page(normalised(results), "headline")
    assert "could not be drawn" not in html
    return html


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_a_panel_and_a_template_of_its_name(question: str) -> None:
    assert panel_of(question).__name__ == f"recuse.report.panels.{question}"
    assert f"panels/{question}.html.j2" in environment().list_templates()


def test_they_follow_each_other_on_the_page() -> None:
    assert sorted(set(QUESTIONS), key=order_of) == list(QUESTIONS)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("self_preference", ["once leniency and quality are taken out", "S, mean ± SD", "after Holm",
                             "With 80 % power", "easy for it to predict", "points per bit",
                             "1 without its own grade", "neither"]),
        ("scale_framing", ["judges more often keep the digit", "mirrored", "Milder where 1 is best", "S − R"]),
        ("position_bias", ["of the pairs keep their verdict", "Is it the place or the letter?", "a tie once",
                           f"n = {3 * len(STORIES)} in {len(STORIES)} stories",
                           "evidence first, both orders", "gap 0.00 to 0.25"]),
        ("length_bias", ["padding", "points per doubling", "against the nearest in length"]),
        ("prompt_injection", ["Bob gives way most", "beyond a suffix that asks for nothing", " % against ",
                              "override", "known phrases",
                              "there was nothing to stop"]),
        ("mitigations", ["mean of all judges", "Peer Rank", "both orders of every duel", "Not tried here",
                         "no log-probabilities were recorded", "on 5 stories: "]),
    ],
)  # fmt: skip
def test_what_is_read_off_a_panel(everything: parts.Results, question: str, told: list[str]) -> None:
    text = plain(html_of(about(everything, question)))
    assert [words for words in told if words not in text] == []


def test_the_count_of_significant_tests_is_told_as_measured(everything: parts.Results) -> None:
    (counted,) = (e for e in everything["measurements"] if e["estimate"]["metric"] == "significant_tests")
    assert counted["estimate"]["detail"]["told"] in plain(html_of(about(everything, "self_preference")))


def test_names_are_escaped(everything: parts.Results) -> None:
    html = html_of(everything)
    assert "<b>eve</b>" not in html
    assert "Eve & Co <i>" not in html
    assert "Eve &amp; Co &lt;i&gt;" in html


@pytest.mark.parametrize("question", QUESTIONS)
def test_any_metric_may_be_missing_or_alone(everything: parts.Results, question: str) -> None:
    mine = about(everything, question)
    for metric, only in product(metrics_of(mine), (True, False)):
        reduced = copy.deepcopy(mine)
        for name in ("verdicts", "measurements"):
            reduced[name] = [e for e in reduced[name] if (e["estimate"]["metric"] == metric) == only]
        html_of(reduced)


@pytest.mark.parametrize("question", QUESTIONS)
def test_details_may_be_missing(everything: parts.Results, question: str) -> None:
    mine = about(everything, question)
    for entry in mine["verdicts"] + mine["measurements"]:
        entry["estimate"]["detail"] = {}
    html_of(mine)


@pytest.mark.parametrize("question", QUESTIONS)
def test_everything_may_be_undefined(everything: parts.Results, question: str) -> None:
    mine = about(everything, question)
    for entry in mine["verdicts"] + mine["measurements"]:
        entry["estimate"].update(value=math.nan, low=math.nan, high=math.nan, note="undefined: no reply")
    assert "no reply" in html_of(mine)
