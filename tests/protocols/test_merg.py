"""Four stages: what each judge is shown, what is accepted of its answer, and the scores that come out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recuse.papers.illusion import merg
from recuse.papers.illusion.merg import (
    read_rubric,
    rubric_schema,
    universal_rubric,
)
from recuse.protocols.reading import Unreadable
from recuse.schema import Item, RecuseError, Reply
from recuse.tasks import load_task

TASK = load_task(Path(__file__).parents[2] / "fixtures" / "tasks" / "writing")
ITEM = next(item for item in TASK.items if item.target == "polished-flawed")
UNSEEN = Item(TASK.name, ITEM.id, "", {k: v for k, v in ITEM.fields.items() if k not in ("response", "flawed")})
KNOWLEDGE = {
    "task_type": "scene", "standards": ["a", "b"], "knowledge": ["c", "d"], "challenges": ["e", "f"],
    "excellent": "g", "good": "h", "poor": "i",
}  # fmt: skip
REFLECTION = {name: f"look twice at {name}" for name in merg.REFLECTIONS} | {"blind_spot": "the outline"}
RUBRIC = {
    "dimensions": [{"name": f"d{n}", "anchors": [f"{n}-{a}" for a in (2, 5, 8, 10)]} for n in range(5)],
    "weights": [0.4, 0.3, 0.1, 0.1, 0.1],
}
EARLIER = {"knowledge": KNOWLEDGE, "reflection": REFLECTION, "rubric": RUBRIC}
KNOWING, REFLECTING, WRITING = merg.STAGES
SCORES = {"evidence": ["a word"] * 5, "scores": [10, 8, 5, 2, 1], "habit": "format"}


def under(source: str) -> dict[str, str]:
    return {"rubric_source": source}


def said(value: Any) -> Reply:
    return Reply(json.dumps(value))


def words(prompt: Any) -> str:
    return str(prompt.messages[-1].content)


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value is one that the schema allows, as far as our schemas go."""
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "object":
        parts = schema["properties"]
        return set(value) == set(schema["required"]) == set(parts) and all(fits(value[k], parts[k]) for k in parts)
    if schema["type"] == "array":
        return schema["minItems"] <= len(value) <= schema["maxItems"] and all(fits(v, schema["items"]) for v in value)
    if schema["type"] == "number":
        return isinstance(value, int | float)
    return isinstance(value, str) and schema["minLength"] <= len(value) <= schema.get("maxLength", len(value))


# --------------------------------------------------------------------------- before any text is shown


def test_the_stages_before_the_score_show_the_request_and_what_was_written_before() -> None:
    knowledge = KNOWING.prompt(TASK, UNSEEN, {}, {})
    reflection = REFLECTING.prompt(TASK, UNSEEN, {}, EARLIER)
    rubric = merg.rubric_prompt(TASK, UNSEEN, under("independent"), EARLIER)
    for prompt in (knowledge, reflection, rubric):
        assert ITEM.fields["query"] in words(prompt)
        assert ITEM.fields["response"][:40] not in words(prompt)
        assert ITEM.fields["checklist"][0] not in words(prompt), "the baseline's points are not for those who write"
    assert "c; d" in words(reflection)
    assert "the outline" in words(rubric)
    assert "a; b" in words(rubric)


def test_given_names_are_given() -> None:
    named = merg.rubric_prompt(TASK, UNSEEN, under("dimensions"), EARLIER)
    assert "Content, Style, Structure, Language, Creativity" in words(named)
    assert "Content" not in words(merg.rubric_prompt(TASK, UNSEEN, under("independent"), EARLIER))
    made = WRITING.read(TASK, UNSEEN, under("dimensions"), said({**RUBRIC}), EARLIER)
    assert [d["name"] for d in made["dimensions"]] == TASK.data["rubric"]["names"]


@pytest.mark.parametrize("without", [*merg.KNOWLEDGE_PHRASES, *merg.KNOWLEDGE_LISTS])
def test_knowledge_must_be_whole(without: str) -> None:
    def read(answer: Any) -> Any:
        return KNOWING.read(TASK, UNSEEN, {}, said(answer), {})

    assert read(KNOWLEDGE) == KNOWLEDGE
    for broken in (
        {k: v for k, v in KNOWLEDGE.items() if k != without},
        {**KNOWLEDGE, without: "  "},
        {**KNOWLEDGE, without: ["one"]},
    ):
        with pytest.raises(Unreadable, match=without):
            read(broken)


HABITS = ("length", "format", "familiarity", "anchoring", "halo")


def test_the_prompts_ask_for_what_the_paper_names() -> None:
    """Five habits, a blind spot and a focus; dimensions of this request alone with anchors at 2, 5, 8 and 10; quotes
    from the text."""
    reflection = REFLECTING.prompt(TASK, UNSEEN, {}, EARLIER)
    assert f"habits mislead judges: {', '.join(HABITS)}." in words(reflection)
    assert list(reflection.schema["properties"]) == [*HABITS, "blind_spot", "focus"]
    for source in ("independent", "dimensions"):
        rubric = words(merg.rubric_prompt(TASK, UNSEEN, under(source), EARLIER))
        assert "poor (2), adequate (5), strong (8), exceptional (10)" in rubric
        assert ("five dimensions that fit this request and no other" in rubric) is (source == "independent")
    judged = words(merg.prompt(TASK, ITEM, under("independent"), EARLIER))
    assert "words quoted from the text as evidence" in judged
    assert "length, format, familiarity, anchoring, halo, or none" in judged


def test_every_habit_needs_its_answer() -> None:
    for habit in (*HABITS, "blind_spot", "focus"):
        with pytest.raises(Unreadable, match=habit):
            REFLECTING.read(TASK, UNSEEN, {}, said({**REFLECTION, habit: ""}), {})


# --------------------------------------------------------------------------- the rubric


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"dimensions": RUBRIC["dimensions"][:4]}, "has 4 dimensions; exactly 5"),
        ({"dimensions": [*RUBRIC["dimensions"], RUBRIC["dimensions"][0]]}, "has 6 dimensions"),
        ({"dimensions": "five"}, "has no dimensions"),
        ({"dimensions": [{**d, "name": ""} for d in RUBRIC["dimensions"]]}, "name is ''"),
        ({"dimensions": [{**d, "anchors": d["anchors"][:3]} for d in RUBRIC["dimensions"]]}, "no list of 4 texts"),
        ({"weights": [0.2] * 4}, "not a list of 5 numbers"),
        ({"weights": [0.2, 0.2, 0.2, 0.2, "0.2"]}, "not a list of 5 numbers"),
        ({"weights": [0.4] * 5}, "that sum to 1"),
        ({"weights": [0.6, 0.4, 0.2, 0.0, -0.2]}, "not positive"),
    ],
)
def test_a_rubric_that_is_none(change: dict[str, Any], why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_rubric({**RUBRIC, **change}, ())


def test_weights_may_be_rounded() -> None:
    assert read_rubric({**RUBRIC, "weights": [0.333, 0.333, 0.111, 0.111, 0.111]}, ())["weights"][0] == 0.333


def test_the_weights_a_grammar_may_give_all_sum_to_one() -> None:
    lists = rubric_schema(TASK, named=False, tenths=True)["properties"]["weights"]["enum"]
    assert len(lists) == 101
    for weights in lists:
        read_rubric({**RUBRIC, "weights": weights}, ())


def test_a_server_that_enforces_the_schema_can_only_give_weights_that_sum_to_one() -> None:
    made = merg.rubric_prompt(TASK, UNSEEN, under("independent"), EARLIER)
    assert made.schema is not None
    assert made.grammar_schema is not None
    uneven = {**RUBRIC, "weights": [0.35, 0.35, 0.1, 0.1, 0.1]}
    assert fits(uneven, made.schema)
    assert not fits(uneven, made.grammar_schema)
    assert fits(RUBRIC, made.grammar_schema)


def test_schemas_accept_what_the_readers_read() -> None:
    assert fits(RUBRIC, rubric_schema(TASK, named=False))
    assert fits(merg.STAGES[2].specimen(TASK, UNSEEN, {}), rubric_schema(TASK, named=False))
    bare = {**RUBRIC, "dimensions": [{"anchors": d["anchors"]} for d in RUBRIC["dimensions"]]}
    assert fits(bare, rubric_schema(TASK, named=True))
    for stage in merg.STAGES:
        made = stage.prompt(TASK, UNSEEN, under("independent"), EARLIER)
        assert made.schema is not None
        assert fits(stage.specimen(TASK, UNSEEN, under("independent")), made.schema)


def test_the_universal_rubric_is_checked_like_any_other() -> None:
    rubric = universal_rubric(TASK)
    assert (len(rubric["dimensions"]), sum(rubric["weights"])) == (5, pytest.approx(1.0))
    four = replace(TASK, data={**TASK.data, "universal": TASK.data["universal"][:4]})
    with pytest.raises(RecuseError, match=r"task.toml: \[\[universal\]\]: the rubric has 4 dimensions"):
        universal_rubric(four)


# --------------------------------------------------------------------------- the scores


def test_a_checklist_is_scored_in_one_call_without_knowledge() -> None:
    assert merg.uses(under("checklist")) == []
    asked = merg.prompt(TASK, ITEM, under("checklist"), {})
    assert all(point in words(asked) for point in ITEM.fields["checklist"])
    assert ITEM.fields["response"] in words(asked)
    rows = merg.read(TASK, ITEM, under("checklist"), said({"reason": "so", "scores": [10, 8, 5, 2, 1]}), {})
    assert [row.score for row in rows] == [5.2, 5.2, 10, 8, 5, 2, 1]


def test_own_rubrics_weigh_and_the_plain_mean_stands_beside() -> None:
    rows = merg.read(TASK, ITEM, under("independent"), said(SCORES), EARLIER)
    weighted = 0.4 * 10 + 0.3 * 8 + 0.1 * (5 + 2 + 1)
    assert {row.criterion: row.score for row in rows[:2]} == {"overall": pytest.approx(weighted), "plain_mean": 5.2}
    assert [row.criterion for row in rows] == list(merg.CRITERIA)


def test_the_rubric_and_the_reflection_are_fed_on() -> None:
    asked = words(merg.prompt(TASK, ITEM, under("shared"), EARLIER))
    assert "d3: 2 3-2; 5 3-5; 8 3-8; 10 3-10" in asked
    assert len(set(REFLECTION.values())) == 7
    for source in ("independent", "dimensions", "shared"):
        judged = words(merg.prompt(TASK, ITEM, under(source), EARLIER))
        assert [name for name, phrase in REFLECTION.items() if f": {phrase}." not in judged] == []
    assert ITEM.fields["checklist"][0] not in asked
    universal = words(merg.prompt(TASK, ITEM, under("universal"), {}))
    assert "Correctness: 2 a central statement is wrong" in universal
    assert "Easily overlooked" not in universal


def test_no_form_of_ours_ends_a_reason_or_a_quote() -> None:
    """Only the token limit does, and a reply that it cuts is none."""
    quote = "the lamp on the stairs, which nobody had lit " * 5
    for source, answer in (("checklist", {"reason": quote, "scores": [5] * 5}),
                           ("universal", {**SCORES, "evidence": [quote] * 5})):  # fmt: skip
        asked = merg.prompt(TASK, ITEM, under(source), {})
        assert asked.schema is not None
        assert fits(answer, asked.schema)
        whole = json.dumps(answer)
        assert merg.read(TASK, ITEM, under(source), Reply(whole), {})[0].score is not None
        cut = merg.read(TASK, ITEM, under(source), Reply(whole[:-40], finish="length"), {})[0]
        assert (cut.status, "cut off by the token limit" in (cut.why or "")) == ("unparsed", True)


def test_shared_stages_are_those_of_the_first_judge() -> None:
    shared = {use.stage: use for use in merg.uses(under("shared"))}
    assert all(use.first_judge for use in shared.values())
    assert shared["rubric"].factors == under("independent")
    assert not any(use.first_judge for use in merg.uses(under("independent")))


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({**SCORES, "scores": [1, 2, 3, 4]}, "unparsed"),
        ({**SCORES, "evidence": ["a"] * 4}, "unparsed"),
        ({**SCORES, "evidence": ["", "a", "a", "a", "a"]}, "unparsed"),
        ({**SCORES, "habit": "beauty"}, "unparsed"),
        ({k: v for k, v in SCORES.items() if k != "habit"}, "unparsed"),
    ],
)
def test_an_evaluation_must_be_whole(answer: Any, status: str) -> None:
    rows = merg.read(TASK, ITEM, under("universal"), said(answer), {})
    assert [row.criterion for row in rows] == list(merg.CRITERIA)
    assert {row.status for row in rows} == {status}


def test_a_score_between_two_whole_numbers_is_read_as_the_paper_does() -> None:
    """Appendix E.1: 9.5 and 4.0 on dimensions of one rubric."""
    rows = merg.read(TASK, ITEM, under("universal"), said({**SCORES, "scores": [9.5, 8, 5, 4.0, 1]}), {})
    assert [row.score for row in rows[2:]] == [9.5, 8, 5, 4, 1]
    assert rows[1].score == 5.5


def test_one_score_beyond_the_scale_leaves_no_mean_and_keeps_the_others() -> None:
    rows = merg.read(TASK, ITEM, under("universal"), said({**SCORES, "scores": [11, 8, 5, 2, 1]}), {})
    assert [row.status for row in rows] == ["out_of_scale"] * 3 + ["ok"] * 4
    assert [row.score for row in rows] == [None, None, None, 8, 5, 2, 1]


# --------------------------------------------------------------------------- the task


def test_what_judges_cite_is_told_dimension_by_dimension_and_nothing_by_the_checklist() -> None:
    cited = merg.quotes(TASK, ITEM, under("shared"), said(SCORES | {"evidence": list("abcde")}))
    assert [(one.criterion, one.response) for one in cited] == list(zip(merg.PARTS, "abcde", strict=True))
    assert merg.quotes(TASK, ITEM, under("checklist"), said({"reason": "a", "scores": [1, 2, 3, 4, 5]})) == []


def test_the_prompts_cover_six_domains_in_two_languages() -> None:
    from recuse.papers.self_preference.writing_protocols import prompts

    found = prompts(TASK.folder)
    assert len(found) >= 24
    cells = {(p["domain"], p["language"]) for p in found.values()}
    assert len(cells) == 12
    assert Counter(p["language"] for p in found.values()) == {"en": 12, "zh": 12}
    assert {len(p["checklist"]) for p in found.values()} == {5}


def test_every_twin_stands_beside_its_other_and_the_flaw_is_told() -> None:
    lines = [json.loads(line) for line in (TASK.folder / "twins.jsonl").read_text("utf-8").splitlines()]
    assert {line["flaw"] for line in lines} == {
        "contradictory arithmetic", "banned business model", "outline instead of the story", "misused concept",
    }  # fmt: skip
    told = {(item.id, item.target): item.fields.get("flawed") for item in TASK.items}
    for line in lines:
        assert told[line["id"], "polished-flawed"] == "yes"
        assert line["flaw"] in {item.fields.get("flaw") for item in TASK.items if item.id == line["id"]}
        assert told[line["id"], "plain-sound"] == "no"


def test_no_judge_is_told_which_twin_is_flawed() -> None:
    for source in merg.FACTORS["rubric_source"]:
        asked = words(merg.prompt(TASK, ITEM, under(source), EARLIER))
        assert "polished" not in asked
        assert "flawed" not in asked
