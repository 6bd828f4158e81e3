"""The recordings of `headlines` hold what the panels ask, and come back as what was said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fixtures.makers import word_thesis_replies
from fixtures.makers.recorded import stored_files
from recuse.cassettes.cell_file import contents
from recuse.cassettes.library import Library
from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import headers
from recuse.elicitation.replies import read_replies
from recuse.protocols import called, protocol
from recuse.suite.questions import Elicitation, Selection
from recuse.tasks import load_task

ROOT = Path(__file__).resolve().parents[3]
TASK = load_task(ROOT / "fixtures" / "tasks" / "headlines")
SELECTION = Selection.load(ROOT, ["local", "thesis"])
PANELS = SELECTION.panels
LOCAL = PANELS["local"].task("headlines").protocols

Replay = Callable[[str, str], pd.DataFrame]
FRAMING = {"ascending": "positive", "reversed": "negative"}  # as the study calls the directions


@pytest.fixture(scope="module")
def replay() -> Replay:
    """Ratings of a panel by a protocol, straight from the cassettes."""
    done: dict[tuple[str, str], pd.DataFrame] = {}

    def read(panel: str, name: str) -> pd.DataFrame:
        if (panel, name) not in done:
            plan, library = SELECTION.plan(Elicitation(panel, "headlines", name)), Library(ROOT / "cassettes", panel)
            chain = Chain(plan)
            coverage = library.expect(chain.unfold(library.answer), headers(PANELS[panel], plan, chain.calls))
            assert coverage.complete, coverage.text()
            done[panel, name] = read_replies(plan, library.replay(chain.final_calls), chain).table
        return done[panel, name]

    return read


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("name", LOCAL)
def test_every_local_judge_answered_everything(replay: Replay, name: str) -> None:
    table = replay("local", name)
    assert sorted(table["rater"].unique()) == sorted(PANELS["local"].judges_of("headlines"))
    asked = Counter(judge for judge, _, _ in SELECTION.plan(Elicitation("local", "headlines", name)).items)
    levels = 1
    for values in protocol(name).FACTORS.values():
        levels *= len(values)
    for judge, rows in table.groupby("rater"):
        calls = rows.drop_duplicates(["item", "target", *(called(protocol(name), f) for f in protocol(name).FACTORS)])
        assert len(calls) == asked[judge] * levels, judge


UNENDED = {"pairwise_evidence": 36, "grading_prompts": 52, "grading_calibrated": 60, "pairwise_discussion": 29}
"""Protocol -> verdicts that are not read, since what must be written before them runs into the token limit or holds
another verdict: a grammar does not make a model stop."""


def test_no_local_verdict_is_unread_but_for_what_stands_before_it(replay: Replay) -> None:
    for name in LOCAL:
        table = replay("local", name)
        main = table[~table["criterion"].str.contains(".", regex=False)]
        failed = main[main["status"] != "ok"]
        if name == "headline_generation":  # a text that the grammar or the token limit ended is not its author's
            lost = failed.groupby("rater")["item"].nunique().to_dict()
            assert lost == {"smollm2-135m": 64, "gemma-3-270m": 54, "qwen2.5-coder-0.5b": 31, "qwen2.5-coder-1.5b": 64}
        else:
            assert len(failed) == UNENDED.get(name, 0), name
        if name == "grading_prompts":
            assert set(failed["prompt"]) == {"observations", "solved"}
        assert failed["status"].str.endswith("unparsed").all()


def test_local_judges_graded_all_texts_of_ninety_stories_in_both_framings(replay: Replay) -> None:
    table = replay("local", "grading")
    grades = table[table["criterion"] == "overall"]
    assert grades["item"].nunique() == 90
    texts = TASK.with_items("items-local.jsonl").items
    assert (grades.groupby(["rater", "direction"]).size() == len(texts)).all()
    assert grades.groupby(["rater", "target", "direction"]).size().min() >= 36
    assert grades["score"].isin([1, 2, 3, 4, 5]).all()


def test_weighted_scores_agree_with_the_digit_where_one_grade_has_nearly_all_mass(replay: Replay) -> None:
    """At temperature 0 the digit is the likeliest one, so with little mass elsewhere the expectation is near it."""
    table = replay("local", "grading")
    wide = table.pivot(index=["rater", "item", "target", "direction"], columns="criterion", values="score")
    assert wide["overall.mass"].between(0, 1.001).all()
    assert wide["overall.expected"].between(1, 5).all()
    # the likeliest of five grades has at least a fifth of their mass: |expected - digit| <= 4/5 of the scale's width
    assert (wide["overall.expected"] - wide["overall"]).abs().max() <= 3.2 + 1e-9


def test_evidence_is_drawn_anew_each_time(replay: Replay) -> None:
    """Three draws at temperature 1 are three replies, not one reply three times."""
    table = replay("local", "pairwise_evidence")
    assert (table.groupby(["rater", "item", "order"]).size() == 3).all()
    answers = set()
    for path in stored_files(ROOT / "cassettes" / "local" / "headlines" / "pairwise_evidence").values():
        lines = [json.loads(line) for line in contents(path)[0].splitlines()]
        answers |= {line["json"]["choices"][0]["message"]["content"] for line in lines if line["kind"] == "answer"}
    assert len(answers) > 0.95 * len(table)


def test_perplexities_are_those_of_the_texts(replay: Replay) -> None:
    """The model that wrote a text, at temperature 1, is on average less surprised by it than a model that did not."""
    table = replay("local", "text_perplexity")
    bits = table[table["criterion"] == "bits_per_character"]
    own = bits["rater"] == bits["target"]
    assert (bits["score"] > 0).all()
    assert bits[own]["score"].mean() < bits[~own]["score"].mean()


def test_the_thesis_grades_come_back_from_the_cassettes(replay: Replay) -> None:
    table = replay("thesis", "grading")
    stored, unusable = word_thesis_replies.read(word_thesis_replies.STANDINS)
    expected = {(r["judge"], r["story"], r["target"], r["framing"]): r["digit"] for r in stored}
    found = {
        (r.rater, r.item, r.target, FRAMING[r.direction]): "" if pd.isna(r.score) else f"{r.score:g}"
        for r in table.itertuples()
    }
    assert found == expected
    failed = table[table["status"] != "ok"]
    assert len(failed) == len(unusable) == 40
    assert set(failed["status"]) == {"unparsed"}
    own = failed[(failed["rater"] == "sonar-reasoning-pro") & (failed["target"] == "sonar-reasoning-pro")]
    assert own.groupby("direction").size().to_dict() == {"ascending": 12, "reversed": 14}


def test_no_answer_names_a_place_on_the_recording_machine() -> None:
    for path in stored_files(ROOT / "cassettes" / "local" / "headlines").values():
        for line in contents(path)[0].splitlines():
            answer = json.loads(line)
            if answer["kind"] == "answer":
                assert answer["json"]["model"] == path.name.split("~")[0]


def _judge() -> Any:
    return next(iter(PANELS["local"].judges_of("headlines").values()))
