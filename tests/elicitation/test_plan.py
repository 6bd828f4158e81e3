"""The plan of calls: complete, in a fixed order, with requests and seeds that depend on nothing but what is asked."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import Plan, make_plan, seed_for
from recuse.schema import Item, Judge, RecuseError
from recuse.tasks import Task

Judges = Callable[..., dict[str, Judge]]


def plan_of(task: Task, judges: dict[str, Judge], **more: object) -> Plan:
    return make_plan("mini", task, "rubric", judges, identify=request_key, **more)  # type: ignore[arg-type]


def test_every_judge_meets_every_text_under_every_condition(task: Task, judges: Judges) -> None:
    calls = plan_of(task, judges(), repeats=3).calls
    asked = [(c.judge, c.target, dict(c.factors)["condition"], c.repeat) for c in calls]
    assert asked == list(itertools.product(["ann", "bob"], ["alpha", "beta"], ["attributed", "anonymized"], range(3)))


def test_cells_are_named_after_what_they_hold(task: Task, judges: Judges) -> None:
    cells = dict.fromkeys(call.cell for call in plan_of(task, judges(), repeats=1).calls)
    assert list(cells)[:3] == [
        "mini/essays/rubric/ann~alpha~attributed",
        "mini/essays/rubric/ann~alpha~anonymized",
        "mini/essays/rubric/ann~beta~attributed",
    ]
    assert len(cells) == 8


def test_without_a_number_of_its_own_the_panel_takes_the_protocols(task: Task, judges: Judges) -> None:
    assert len(plan_of(task, judges()).calls) == 2 * 2 * 2 * 10


def test_only_the_targets_that_the_panel_names(task: Task, judges: Judges) -> None:
    assert {call.target for call in plan_of(task, judges(), targets=["beta"]).calls} == {"beta"}


def test_only_the_first_items_with_all_their_texts(task: Task, judges: Judges) -> None:
    lines = [{"id": name, "target": of, "fields": {"essay": "E"}} for name in "xyz" for of in ("alpha", "beta")]
    (task.folder / "items.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    calls = plan_of(Task(task.name, task.folder, task.data), judges(), first=2).calls
    assert {(call.item, call.target) for call in calls} == set(itertools.product("xy", ("alpha", "beta")))


def test_an_unknown_target_is_told_with_the_known_ones(task: Task, judges: Judges) -> None:
    with pytest.raises(RecuseError, match="panel mini, task essays: unknown target gamma; known: alpha, beta"):
        plan_of(task, judges(), targets=["beta", "gamma"])


def test_repeats_ask_the_same_where_no_seed_is_sent(task: Task, judges: Judges) -> None:
    calls = plan_of(task, judges()).calls
    requests = {(call.cell, call.request, call.key) for call in calls}
    assert len(requests) == 8
    assert all(call.key == request_key(call.request) for call in calls)


def test_the_prompt_carries_the_item_and_the_label(task: Task, judges: Judges) -> None:
    call = plan_of(task, judges(), repeats=1).calls[1]
    assert json.loads(call.request.body)["messages"] == [{"role": "user", "content": "Writer 1: By alpha."}]


def test_every_repeat_has_a_seed_of_its_own_where_seeds_are_sent(task: Task, judges: Judges) -> None:
    calls = [call for call in plan_of(task, judges(seeded=True)).calls if call.judge == "ann"]
    seeds = [json.loads(call.request.body)["seed"] for call in calls]
    assert len(set(seeds)) == len(seeds) == 40
    assert len({call.key for call in calls}) == 40


def test_judges_share_their_seeds(task: Task, judges: Judges) -> None:
    """Two judges asked the same may draw alike; one judge asked two things may not."""
    calls = plan_of(task, judges(seeded=True)).calls
    ann, bob = ([json.loads(call.request.body) for call in calls if call.judge == name] for name in ("ann", "bob"))
    assert [body["seed"] for body in ann] == [body["generationConfig"]["seed"] for body in bob]


def test_a_seed_depends_on_each_of_what_it_is_for() -> None:
    def seed(
        task: str = "essays", protocol: str = "rubric", item: str = "one", target: str = "alpha",
        condition: str = "attributed", repeat: int = 0,
    ) -> int:  # fmt: skip
        return seed_for(task, protocol, Item(task, item, target, {}), (("condition", condition),), repeat)

    variants = [
        seed(), seed(task="poems"), seed(protocol="other"), seed(item="two"), seed(target="beta"),
        seed(condition="anonymized"), seed(repeat=1),
    ]  # fmt: skip
    assert len(set(variants)) == 7
    assert all(0 <= value < 2**31 for value in variants), "servers take seeds of 31 bits"


def test_seeds_and_keys_are_the_same_in_another_process(task: Task, judges: Judges) -> None:
    """No salted hash is part of them."""
    code = """
import sys
from pathlib import Path
from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import make_plan
from recuse.schema import Judge
from recuse.tasks import load_task

ann = Judge("ann", "Ann", "openai_chat", "http://ann.scripted.invalid/v1", "ann-1", seeded=True)
for call in make_plan("mini", load_task(Path(sys.argv[1])), "rubric", {"ann": ann}, identify=request_key).calls:
    print(call.key)
"""
    other = subprocess.run(
        [sys.executable, "-c", code, str(task.folder)], capture_output=True, text=True, check=True,
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    ).stdout.split()  # fmt: skip
    ann = {"ann": judges(seeded=True)["ann"]}
    assert other == [call.key for call in plan_of(task, ann).calls]


def test_two_items_of_one_target_share_its_cell(task: Task, judges: Judges) -> None:
    lines = (task.folder / "items.jsonl").read_text(encoding="utf-8")
    more = json.dumps({"id": "second", "target": "alpha", "fields": {"essay": "More by alpha."}})
    (task.folder / "items.jsonl").write_text(f"{lines}\n{more}", encoding="utf-8")
    made = plan_of(Task(task.name, task.folder, task.data), judges(), repeats=1)
    of_alpha = [call.item for call in made.calls if call.cell == "mini/essays/rubric/ann~alpha~attributed"]
    assert of_alpha == ["alpha", "second"]
    assert made.items["ann", "second", "alpha"].fields == {"essay": "More by alpha."}
