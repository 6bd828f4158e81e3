"""Pass or fail on the last line: one of the options of the task's criterion; and a task of which the truth is known."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from fixtures.makers.build_checks import LANGUAGES
from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import make_plan
from recuse.elicitation.replies import enforced_judges
from recuse.metrics.coverage import ENFORCED, parse_rate
from recuse.panels import load_panel
from recuse.protocols import protocol
from recuse.protocols.last_line import VERDICT, bare_line, verdict
from recuse.ratings import Ratings
from recuse.references import people_of
from recuse.schema import Item, RecuseError, Reply
from recuse.tasks import Task, load_task

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
CHECKS = load_task(FIXTURES / "tasks" / "checks")
ITEM = CHECKS.items[0]


def test_the_options_of_the_task_are_asked_for() -> None:
    prompt = protocol("verdict").prompt(CHECKS, ITEM, {})
    assert prompt.grammar == 'root ::= "Answer: " ("yes" | "no")'
    assert prompt.messages[-1].content.endswith("Answer: yes\nAnswer: no")


@pytest.mark.parametrize(
    ("said", "response", "status"),
    [("Answer: yes", "yes", "ok"), ("It does.\n**Answer: no**", "no", "ok"), ("Answer: maybe", None, "unparsed"),
     ("yes", None, "unparsed")],
)  # fmt: skip
def test_only_an_option_behind_the_label_is_a_verdict(said: str, response: str | None, status: str) -> None:
    (row,) = VERDICT.read(CHECKS, ITEM, {}, Reply(said, "stop"))
    assert (row.criterion, row.response, row.status) == ("kept", response, status)


def test_brackets_that_are_never_closed_take_no_time_to_read() -> None:
    """Not timed, but it would be felt: two minutes."""
    reply = Reply("Rating: [[" + " " * 10_000 + "x", "stop")
    assert verdict(reply, "Rating").startswith("[[")
    assert bare_line(Reply(reply.text.removeprefix("Rating: "), "stop"), "Rating") == verdict(reply, "Rating")
    assert [verdict(Reply(f"Rating: {said}", "stop"), "Rating") for said in ("[[4]]", "[[ 4 ]].")] == ["4", "4"]


def test_a_criterion_without_options_is_refused() -> None:
    task = Task("t", Path("t"), {"criterion": [{"id": "overall"}], "scale": {"minimum": 1, "maximum": 5}})
    with pytest.raises(RecuseError, match="criterion overall has no options"):
        VERDICT.criterion_of(task)


@pytest.mark.parametrize(("panel", "name", "enforced"), [("checks", "verdict", 4), ("thesis", "grading", 0)])
def test_a_judge_whose_server_enforces_the_form_is_known(panel: str, name: str, enforced: int) -> None:
    judges = load_panel(FIXTURES / "panels" / f"{panel}.toml").judges
    task = CHECKS if panel == "checks" else load_task(FIXTURES / "tasks" / "headlines").with_items("items-thesis.jsonl")
    plan = make_plan(panel, task, name, judges, identify=request_key, first=1)
    assert len(enforced_judges(plan)) == enforced
    frame = pd.DataFrame({"judge": list(judges), "item": "i", "score": 1.0})
    notes = [rate.note for rate in parse_rate(Ratings.of(frame, enforced=enforced_judges(plan))).values()]
    assert sum(ENFORCED in note for note in notes) == enforced


def right_answers() -> dict[str, str]:
    people = people_of(CHECKS, "verdict")
    assert people is not None
    return dict(zip(people["item"], people["response"], strict=True))


def test_every_reply_has_a_right_answer_and_each_side_half() -> None:
    right = right_answers()
    assert set(right) == {item.id for item in CHECKS.items}
    assert len(right) >= 200
    for kind in ("figure", "language", "form"):
        sides = [answer for name, answer in right.items() if name.startswith(kind)]
        assert sides.count("yes") == sides.count("no") == 40
    assert load_panel(FIXTURES / "panels" / "checks.toml").uses == ("decide",)
    assert CHECKS.truth == "construction"


def test_what_is_right_follows_from_the_reply_alone() -> None:
    """Worked out again from question and reply, by other means than the maker's."""
    right = right_answers()
    for item in CHECKS.items:
        assert right[item.id] == ("yes" if _keeps(item) else "no"), item.id


def _keeps(item: Item) -> bool:
    question, reply = item.fields["question"], item.fields["reply"]
    if item.id.startswith("figure"):
        (figure,) = (word for word in question.rstrip("?").split() if word.isdigit())
        return figure in reply.rstrip(".").replace(".", "").split()
    if item.id.startswith("language"):
        wanted = next(name for name in LANGUAGES if name in question)
        return any(reply.startswith(sentence) for sentence in LANGUAGES[wanted])
    return bool(reply.startswith("{" if "JSON" in question else "|"))


def test_no_two_replies_ask_the_same() -> None:
    asked = [json.dumps([item.fields["question"], item.fields["reply"]]) for item in CHECKS.items]
    assert len(set(asked)) == len(asked)
