"""Forced choice and response set: what judges are asked; nothing but options of the task becomes a response."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import make_plan
from recuse.papers.indeterminacy.option_questions import FORCED_CHOICE, RESPONSE_SET, grammar_of_sets
from recuse.ratings.scale import ResponseSets
from recuse.schema import Item, Judge, Judgement, RecuseError, Reply
from recuse.tasks import Task, load_task

TOXICITY = load_task(Path(__file__).resolve().parents[2] / "fixtures" / "tasks" / "toxicity")
ITEM = Item("moods", "m1", "a", {"text": "So there."})
OPTIONS = ("calm", "Cross", "no mood at all")
CRITERION = f'[[criterion]]\nid = "mood"\noptions = {list(OPTIONS)}\nordered = false\n'


def task_of(tmp_path: Path, criteria: str = CRITERION) -> Task:
    folder = tmp_path / "moods"
    (folder / "prompts").mkdir(parents=True)
    (folder / "task.toml").write_text(f'name = "moods"\ntarget = [{{ id = "a" }}]\n{criteria}', "utf-8")
    (folder / "items.jsonl").write_text('{"id": "m1", "target": "a", "fields": {"text": "So there."}}', "utf-8")
    for name in ("forced_choice", "response_set", "grading"):
        words = "{% for o in options %}[{{ o.id }}]{% endfor %}{{ text }}"
        (folder / "prompts" / f"{name}.user.j2").write_text(words, "utf-8")
    return load_task(folder)


def chosen(task: Task, text: str, finish: str = "stop") -> Judgement:
    return FORCED_CHOICE.read(task, ITEM, {}, Reply(text, finish=finish))[0]  # type: ignore[arg-type]


def endorsed(task: Task, text: str, finish: str = "stop") -> Judgement:
    return RESPONSE_SET.read(task, ITEM, {}, Reply(text, finish=finish))[0]  # type: ignore[arg-type]


# ------------------------------------------------------------------ what is asked


def test_both_protocols_show_the_options_in_the_order_of_the_task(tmp_path: Path):
    task = task_of(tmp_path)
    for how in (FORCED_CHOICE, RESPONSE_SET):
        assert how.prompt(task, ITEM, {}).messages[-1].content == "[calm][Cross][no mood at all]So there."


def test_the_shipped_wordings_differ_in_what_is_asked_for_alone():
    item = TOXICITY.items[0]
    one, every = ([m.content for m in how.prompt(TOXICITY, item, {}).messages] for how in (FORCED_CHOICE, RESPONSE_SET))
    assert one[0] == every[0]
    differing = [a for a, b in zip(one[1].splitlines(), every[1].splitlines(), strict=True) if a != b]
    assert len(differing) == 2
    assert all(option["meaning"] in one[1] for option in TOXICITY.data["option"])
    assert item.fields["comment"] in one[1]
    assert item.fields["kind"] not in one[1]


def test_repeats_of_an_item_share_a_request_even_where_judges_are_seeded():
    judge = Judge("j", "J", "openai_chat", "http://j.invalid/v1", "j", seeded=True, grammar=True)
    plan = make_plan("p", TOXICITY, "forced_choice", {"j": judge}, identify=request_key)
    assert len(plan.calls) == 10 * len(TOXICITY.items)
    assert len({call.key for call in plan.calls}) == len(TOXICITY.items)
    assert b'"seed"' not in plan.calls[0].request.body


def test_the_grammar_of_one_option():
    assert FORCED_CHOICE.prompt(TOXICITY, TOXICITY.items[0], {}).grammar == 'root ::= "toxic" | "not toxic"'


def test_the_grammar_of_sets_derives_each_set_once_and_nothing_else():
    """Every derivation of the rules, written out: all sets that are not empty, each in order, none twice."""
    rules = dict(line.split(" ::= ") for line in grammar_of_sets(("a", 'b"', "c")).splitlines())
    assert rules["root"] == "from0"

    def derived(rule: str) -> list[str]:
        first, _, later = rules[rule].partition(" | ")
        option, _, more = first.partition(" (")
        name = json.loads(option)
        rest = [f"{name}, {end}" for end in derived(more.split()[-1].rstrip(")?"))] if more else []
        return [name, *rest, *(derived(later) if later else [])]

    wanted = [", ".join(s) for size in (1, 2, 3) for s in combinations(("a", 'b"', "c"), size)]
    assert sorted(derived("from0")) == sorted(wanted)


# ------------------------------------------------------------------ what is read


@pytest.mark.parametrize("text", ["cross", "CROSS.", " **Cross** ", "```\nCross\n```"])
def test_an_option_however_it_is_dressed(tmp_path: Path, text: str):
    assert chosen(task_of(tmp_path), text).response == "Cross"


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ("calm", "calm"),
        ("Cross, calm", "calm|Cross"),
        ("no mood at all,calm,  cross.", "calm|Cross|no mood at all"),
        ("*no  mood at all*", "no mood at all"),
    ],
)
def test_a_set_is_written_in_the_order_of_the_task(tmp_path: Path, text: str, response: str):
    assert endorsed(task_of(tmp_path), text).response == response


@pytest.mark.parametrize(
    ("text", "finish", "status", "why"),
    [
        ("", "stop", "unparsed", "the reply is empty"),
        (" \n``` \n", "stop", "unparsed", "the reply is empty"),
        ("both", "stop", "out_of_scale", "'both' is none of calm, Cross, no mood at all"),
        ("none", "stop", "out_of_scale", "'none' is none of"),
        ("very cross", "stop", "out_of_scale", "'very cross' is none of"),
        ("calm | Cross", "stop", "out_of_scale", "none of"),
        ("calm and Cross", "stop", "out_of_scale", "none of"),
        ("calm,, Cross", "stop", "out_of_scale", "'' is none of"),
        (",", "stop", "out_of_scale", "'' is none of"),
        ("ca\u200blm", "stop", "out_of_scale", "none of"),
        ("{'calm': true}", "stop", "out_of_scale", "none of"),
        ("calm, calm", "stop", "unparsed", "names 'calm' twice"),
        ("calm\nCross", "stop", "unparsed", "2 lines where one is asked for"),
        ("no mood\nat all", "stop", "unparsed", "2 lines where one is asked for"),
        ("The comment reads cross to me, I would say", "stop", "unparsed", "none of"),
        ("calm", "length", "unparsed", "the token limit ended the reply at 'calm'"),
        ("I cannot rate this comment.", "stop", "refused", "I cannot rate"),
        ("I'm sorry, but I can't help.\nIt is rude.", "stop", "refused", "2 lines"),
        ("no thanks", "refusal", "refused", "no thanks"),
        ("the payload is no JSON", "error", "error", "the payload"),
    ],
)
def test_what_is_no_answer_has_a_status_and_a_reason(tmp_path: Path, text: str, finish: str, status: str, why: str):
    task = task_of(tmp_path)
    for found in (chosen(task, text, finish), endorsed(task, text, finish)):
        assert (found.status, found.response) == (status, None)
        assert why in found.why


def test_a_set_is_no_forced_choice(tmp_path: Path):
    found = chosen(task_of(tmp_path), "calm, Cross")
    assert (found.status, found.why) == ("unparsed", "names 2 options (calm, Cross) where one is asked for")


def test_a_long_reply_is_told_short(tmp_path: Path):
    assert len(chosen(task_of(tmp_path), "calm " * 10_000).why) < 200


# ------------------------------------------------------------------ tasks that do not fit


def test_sets_have_a_scale_of_their_own(tmp_path: Path):
    assert RESPONSE_SET.scales(task_of(tmp_path)) == {"mood": ResponseSets(OPTIONS)}


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        (CRITERION + CRITERION.replace("mood", "tone"), "one criterion, and the task has mood, tone; leave one"),
        ('[[criterion]]\nid = "mood"\nscale = { minimum = 0, maximum = 1 }\n', "criterion mood has no options; give"),
        (CRITERION.replace("calm", "calm, kind"), "option 'calm, kind' holds a comma"),
        (CRITERION.replace("calm", "calm|kind"), "option 'calm|kind' holds a comma, a bar or a line end"),
    ],
)
@pytest.mark.parametrize("name", ["forced_choice", "response_set"])
def test_a_task_that_cannot_be_asked_is_told_so_before_anything_is_asked(
    tmp_path: Path, name: str, criteria: str, said: str
):
    judge = Judge("j", "J", "openai_chat", "http://j.invalid/v1", "j")
    with pytest.raises(RecuseError, match=r"task\.toml: ") as caught:
        make_plan("p", task_of(tmp_path, criteria), name, {"j": judge}, identify=request_key)
    assert said in str(caught.value)


def test_a_protocol_of_numbers_tells_a_task_of_options_what_to_do(tmp_path: Path):
    with pytest.raises(RecuseError, match=r"task has no scale; give it .*, or ask for options by .* forced_choice"):
        _ = task_of(tmp_path).scale
