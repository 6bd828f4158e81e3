"""Where a limit of our own ended what a recorded model wrote: it is refused, or every page that shows such texts says
how many; no other is recorded unnoticed, and a task that does not ask for it gets none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from recuse.papers.merchant_risk import generation, rubric_joint
from recuse.papers.self_preference import asking_protocols as asking
from recuse.papers.self_preference import writing_protocols as writing
from recuse.protocols import rubric
from recuse.protocols.reading import Unreadable
from recuse.protocols.wording import text_schema
from recuse.schema import Item, Reply
from recuse.tasks import Task, load_task

ROOT = Path(__file__).parents[2]
TASKS, CASSETTES = ROOT / "fixtures" / "tasks", ROOT / "cassettes"
ANY = Item("headlines", "i", "x", {})


@cache
def replies(folder: str, cells: str = "*.jsonl") -> tuple[tuple[str, str], ...]:
    """What the models wrote, and why each reply ended."""
    lines = [json.loads(line) for path in sorted((CASSETTES / folder).glob(cells))
             for line in path.read_text("utf-8").splitlines()]  # fmt: skip
    choices = [line["json"]["choices"][0] for line in lines if line["kind"] == "answer"]
    return tuple((choice["message"]["content"], choice["finish_reason"]) for choice in choices)


def items(file: str) -> list[dict[str, object]]:
    return [json.loads(line)["fields"] for line in (TASKS / file).read_text("utf-8").splitlines()]


def ended(texts: Iterator[str], most: int) -> str:
    """ "235 of 768": those as long as they may be."""
    lengths = [len(text) for text in texts]
    return f"{sum(length >= most for length in lengths)} of {len(lengths)}"


def refused(task: str, protocol: str) -> str:
    """ "212 of 400": replies of which a part was cut where the task ends it."""
    loaded, how = load_task(TASKS / task), {"headlines": writing.HEADLINES, "word_problems": writing.SOLVING}[task]
    rows = [how.read(loaded, ANY, {}, Reply(text, finish=end)) for text, end in replies(f"local/{task}/{protocol}")]
    cut = sum(any(row.why and "was cut at" in row.why for row in of_one) for of_one in rows)
    return f"{cut} of {len(rows)}"


def unended(cells: str) -> str:
    """ "2 of 6": replies that the token limit ended."""
    every = [end for _, end in replies(f"local/{cells}")]
    return f"{every.count('length')} of {len(every)}"


def phrases(stage: str, *kept: str) -> Iterator[str]:
    """What a judge of panel `writing` wrote at a stage, its names or all but those."""
    for text, _ in replies("writing/writing/merg", f"*~{stage}.jsonl"):
        try:
            yield from _texts(json.loads(text), kept)
        except json.JSONDecodeError:  # broken off: read as nothing, and counted as lost
            continue


def _texts(value: object, kept: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, kept)
    elif isinstance(value, dict):
        for name, part in value.items():
            if not kept or name in (*kept, "dimensions"):
                yield from _texts(part, kept)


COUNTS = {
    "headlines": lambda: refused("headlines", "headline_generation"),
    "workings": lambda: refused("word_problems", "solving"),
    "sets": lambda: unended("merchant_rationales/generation"),
    "scorings": lambda: unended("merchant_rationales/rubric"), "judged": lambda: unended("merchant_risk/rubric"),
    "knowledge": lambda: ended(phrases("knowledge"), 24), "reflections": lambda: ended(phrases("reflection"), 24),
    "anchors": lambda: ended(phrases("rubric~*", "anchors"), 24),
    "names": lambda: ended(phrases("rubric~*", "name"), 20),
}  # fmt: skip
MERG = (
    "{knowledge} phrases of knowledge, {reflections} of reflection and {anchors} anchors end at our cap of 24 "
    "characters, {names} names at 20"
)
SAID = {
    "docs/self-preference.md": [
        "A cap of our grammar (100 characters a headline, 320 a lead) ended {headlines} texts that the models wrote",
        "{workings} workings of the sums (120 characters)",
    ],
    "docs/merchant-risk.md": [
        "{sets} sets and {scorings} scorings are lost, since", "{judged} replies are lost, since",
    ],
    "docs/rubrics.md": [MERG],
    "fixtures/tasks/headlines/README.md": ["{headlines} of the recorded texts are refused"],
    "fixtures/tasks/merchant_rationales/README.md": ["{sets} replies came to no end"],
    "fixtures/tasks/word_problems/README.md": ["{workings} of the recorded workings are refused"],
    "fixtures/tasks/writing/README.md": [MERG],
    "fixtures/panels/local.toml": ["{headlines} headlines with leads", "{sets} sets of rationales"],
    "fixtures/panels/writing.toml": [MERG],
}  # fmt: skip


@pytest.mark.parametrize("path", SAID)
def test_whoever_shows_cut_texts_says_how_many(path):
    page = " ".join((ROOT / path).read_text(encoding="utf-8").split())
    counts = {name: count() for name, count in COUNTS.items()}
    assert [words for words in SAID[path] if words.format_map(counts) not in page] == []


# --------------------------------------------------------------------------- new recordings

BOUNDED = re.compile(r"\[\^\\n\]\{\d+,\d+\}|maxLength")
PAIR = {"order": "ab", "labels": "ab", "prompt": "plain"}


def uncapped(name: str) -> Task:
    """A shipped task as a team writes one: without a word on where texts end."""
    task = load_task(TASKS / name)
    data = {key: value for key, value in task.data.items() if key != "longest"}
    return replace(task, data=data)


def of_pairs(task: Task) -> str:
    item = task.with_items("pairs-few-local.jsonl").items[0]
    asked = [asking.EVIDENCE.prompt(task, item, PAIR)]
    asked += [stage.prompt(task, item, PAIR, {"review": {"text": ""}, "peer review": {"text": ""}})
              for stage in asking.DISCUSSION.STAGES]  # fmt: skip
    return " ".join(str(prompt.grammar) for prompt in asked)


def of_criteria(task: Task) -> str:
    draft, _, refine = asking.CALIBRATED.STAGES
    earlier = {"draft": {"text": ""}, "trial": {"grades": [1] * 40}}
    return " ".join(str(stage.prompt(task, ANY, {"criteria": "draft-1"}, earlier).grammar)
                    for stage in (draft, refine))  # fmt: skip


def of_rationales(task: Task) -> str:
    table = [{"mcc": 5411, "name": "Grocery stores"}]
    return json.dumps(generation.prompt(task, Item(task.name, "i", "x", {"mccs": table}), {}).schema)


def of_reasons(task: Task) -> str:
    return json.dumps(rubric.prompt(task, task.items[0], {"condition": "attributed"}).schema)


def of_syntheses(task: Task) -> str:
    [item] = rubric_joint.items(task, None)
    return json.dumps(rubric_joint.prompt(task, item, {"condition": "attributed"}).schema)


@pytest.mark.parametrize(("name", "form"), [
    ("headlines", writing.HEADLINES.grammar), ("word_problems", writing.SOLVING.grammar),
])  # fmt: skip
def test_no_form_of_ours_ends_a_text_unless_the_task_says_so(name, form):
    assert BOUNDED.search(str(form(load_task(TASKS / name), None)))
    assert not BOUNDED.search(str(form(uncapped(name), None)))


@pytest.mark.parametrize("form", [of_rationales, of_reasons, of_syntheses])
def test_rationales_reasons_and_syntheses_end_by_themselves(form):
    assert not BOUNDED.search(str(form(load_task(TASKS / "merchant_risk"))))


@pytest.mark.parametrize(("part", "fitting"), [("rationale", [3, 4, 5]), ("why", [1]), ("synthesis", [1, 2, 3, 4])])
def test_a_task_asks_for_sentences_of_any_length(part, fitting):
    schema = text_schema(load_task(TASKS / "merchant_rationales"), part)
    of = {n: " ".join(["Losses are rare, and " + "very " * 400 + "small."] * n) for n in range(8)}
    assert [n for n, text in of.items() if re.fullmatch(schema["pattern"], text)] == fitting
    least = of[fitting[0]]  # what would end the string of JSON, or its line, is no part of a sentence
    broken = [least + " And", *(least.replace("rare", sign) for sign in ('"', "\\", "\n"))]
    assert not any(re.fullmatch(schema["pattern"], text) for text in broken)
    assert text_schema(load_task(TASKS / "headlines"), part) == {"type": "string"}


@pytest.mark.parametrize("form", [of_pairs, of_criteria])
def test_evidence_reviews_and_criteria_end_by_themselves(form):
    assert not BOUNDED.search(str(form(load_task(TASKS / "headlines"))))


def headed(headline: int, lead: int) -> Reply:
    return Reply(f"Headline: {'h' * headline}\nLead: {'l' * lead}")


@pytest.mark.parametrize(("headline", "lead", "whole"), [
    (96, 316, [True, True]), (97, 316, [False, True]), (96, 317, [True, False]), (100, 320, [False, False]),
])  # fmt: skip
def test_a_text_that_ends_where_the_task_ends_it_is_none(headline, lead, whole):
    rows = writing.HEADLINES.read(load_task(TASKS / "headlines"), ANY, {}, headed(headline, lead))
    assert [row.status == "ok" for row in rows] == whole
    assert all("was cut at the " in row.why for row in rows if row.status != "ok")


def test_an_own_text_or_solution_that_a_cap_ended_is_shown_to_no_judge():
    [solution] = asking.GRADING_PROMPTS.STAGES
    assert solution.read(load_task(TASKS / "headlines"), ANY, {}, headed(20, 40), {})["text"].startswith("Headline: h")
    with pytest.raises(Unreadable, match="the headline was cut at the 100 characters"):
        solution.read(load_task(TASKS / "headlines"), ANY, {}, headed(100, 40), {})
    [solved] = asking.CORRECTNESS.STAGES
    with pytest.raises(Unreadable, match="the working was cut at the 120 characters"):
        solved.read(load_task(TASKS / "word_problems"), ANY, {}, Reply(f"{'9' * 118}\nAnswer: 4"), {})


@pytest.mark.parametrize(("how", "words"), [
    (writing.TEXTS, "A bridge was"), (writing.HEADLINES, "Headline: A bridge\nLead: It was opened by"),
    (writing.SOLVING, "6 x 7 = 4"),
])  # fmt: skip
def test_a_text_that_the_token_limit_cuts_is_none(how, words):
    task = uncapped("writing")
    rows = how.read(task, None, {}, Reply(words, finish="length"))
    assert rows[-1].status == "unparsed"


def test_criteria_that_the_token_limit_cuts_are_none():
    draft = asking.CALIBRATED.STAGES[0]
    with pytest.raises(Unreadable, match="the token limit cut the reply"):
        draft.read(uncapped("headlines"), ANY, {}, Reply("- It is clear\n- It names the pla", finish="length"), {})
