"""A protocol of several calls: a prompt is made from what was read before; a failure costs what depends on it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recuse import protocols as known
from recuse.cassettes.matching import request_key
from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import Plan, make_plan
from recuse.elicitation.replies import Elicited, read_replies
from recuse.judges import wire
from recuse.protocols import Stage, Use, reading
from recuse.schema import Call, Judge, Judgement, Message, Prompt, RawResponse, RecuseError
from recuse.tasks import Task, load_task

TASK = """\
name = "essays"
text = ["essay"]

[scale]
minimum = 0
maximum = 10

[[criterion]]
id = "overall"

[[target]]
id = "alpha"

[[target]]
id = "beta"
"""
ITEMS = [
    {"id": topic, "target": target, "fields": {"topic": topic, "essay": f"{target} on {topic}"}}
    for topic in ("tides", "clocks")
    for target in ("alpha", "beta")
]


def ask(*parts: str) -> Prompt:
    return Prompt((Message("user", " | ".join(parts)),), temperature=0.0, max_tokens=50)


def word(task: Any, item: Any, factors: Any, reply: Any, earlier: Any) -> str:
    text = reading.answered(reply)
    if "?" in text:
        raise reading.Unreadable("unparsed", "not a statement")
    return text


def uses(factors: Mapping[str, str]) -> list[Use]:
    if factors["rubric"] == "none":
        return []
    return [Use("rubric", first_judge=factors["rubric"] == "shared", factors={"rubric": "own"})]


STAGES = (
    Stage("knowledge", lambda t, i, f, e: ask("know", *map(str, i.fields.values())), word, lambda *_: "k" * 40),
    Stage(
        "rubric",
        lambda t, i, f, e: ask("rubric", i.id, e["knowledge"]),
        word,
        lambda *_: "r" * 40,
        per=("item", "rubric"),
        uses=lambda factors: [Use("knowledge")],
    ),
)
HOW = SimpleNamespace(
    OFFERS="scores",
    FACTORS={"rubric": ("none", "own", "shared")},
    REPEATS=1,
    STAGES=STAGES,
    uses=uses,
    items=lambda task, judge: task.items,
    prompt=lambda t, i, f, e: ask("score", i.fields["essay"], e.get("rubric", "by feeling"), f["rubric"]),
    read=lambda t, i, f, r, e: [Judgement("overall", float(len(e.get("rubric", ""))))],
)


@pytest.fixture
def how(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make the protocol `chained`, with changes."""

    def make(**changes: Any) -> None:
        monkeypatch.setitem(known._named, "chained", SimpleNamespace(**{**vars(HOW), **changes}))

    make()
    return make


@pytest.fixture
def task(tmp_path: Path) -> Task:
    folder = tmp_path / "essays"
    folder.mkdir()
    (folder / "task.toml").write_text(TASK, encoding="utf-8")
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, ITEMS)), encoding="utf-8")
    return load_task(folder)


JUDGES = {name: Judge(name, name, "openai_chat", f"http://{name}.invalid/v1", "m") for name in ("ann", "bob")}


def planned(task: Task, *, seeded: bool = False, **changes: Any) -> Plan:
    judges = {name: replace(judge, seeded=seeded) for name, judge in JUDGES.items()}
    return make_plan("mini", task, "chained", judges, identify=request_key, **changes)


def asked(call: Call) -> str:
    return str(json.loads(call.request.body)["messages"][-1]["content"])


def said(call: Call, text: str) -> RawResponse:
    given = {"model": "m", "refusal": False, "input_tokens": 10, "output_tokens": 5}
    return RawResponse(200, {}, json.dumps(wire("openai_chat").payload(text, **given)).encode())


def answers(**texts: str) -> Callable[[Call], RawResponse]:
    """Every call is answered: by the text for its "judge_stage_item" or its stage, else by who was asked what."""

    def answer(call: Call) -> RawResponse:
        told = texts.get(f"{call.judge}_{call.stage}_{call.item}", texts.get(call.stage))
        return said(call, told if told is not None else f"{call.judge} on {call.stage or 'score'} of {call.item}")

    return answer


def read(plan: Plan, answer: Callable[[Call], RawResponse]) -> tuple[Chain, Elicited]:
    chain = Chain(plan)
    chain.unfold(answer)
    return chain, read_replies(plan, [(call, answer(call)) for call in chain.final_calls], chain)


# --------------------------------------------------------------------------- which calls are made


@pytest.mark.usefixtures("how")
def test_a_stage_is_asked_once_for_all_that_use_it(task: Task) -> None:
    chain, _ = read(planned(task), answers())
    found = Counter((call.judge, call.stage) for call in chain.calls)
    assert found == {
        ("ann", "knowledge"): 2, ("bob", "knowledge"): 2, ("ann", "rubric"): 2, ("bob", "rubric"): 2,
        ("ann", ""): 12, ("bob", ""): 12,
    }  # fmt: skip
    assert chain.complete
    assert not chain.lost


@pytest.mark.usefixtures("how")
def test_what_nothing_uses_is_not_asked(task: Task) -> None:
    only_none, _ = read(planned(task, factors={"rubric": ["none"]}), answers())
    assert {call.stage for call in only_none.calls} == {""}
    only_shared, _ = read(planned(task, factors={"rubric": ["shared"]}), answers())
    assert {call.judge for call in only_shared.calls if call.stage} == {"ann"}, "the first judge writes for all"


@pytest.mark.usefixtures("how")
def test_a_prompt_is_made_from_the_replies_before_it(task: Task) -> None:
    chain, _ = read(planned(task), answers())
    bobs = {(c.item, c.target, c.factors[0][1]): asked(c) for c in chain.final_calls if c.judge == "bob"}
    assert bobs["tides", "beta", "own"] == "score | beta on tides | bob on rubric of tides | own"
    assert bobs["tides", "beta", "shared"] == "score | beta on tides | ann on rubric of tides | shared"
    assert bobs["clocks", "alpha", "none"] == "score | alpha on clocks | by feeling | none"


@pytest.mark.usefixtures("how")
def test_who_prepares_a_judgement_sees_no_output(task: Task) -> None:
    chain, _ = read(planned(task), answers())
    assert {asked(c) for c in chain.calls if c.stage == "knowledge"} == {"know | tides", "know | clocks"}
    alone, _ = read(planned(task, targets=["alpha"]), answers())
    assert {asked(c) for c in alone.calls if c.stage == "knowledge"} == {"know | tides", "know | clocks"}, (
        "with one target its text is what all have in common, and still not shown"
    )


@pytest.mark.usefixtures("how")
def test_cells_and_seeds_tell_the_stages_apart(task: Task) -> None:
    chain, _ = read(planned(task, seeded=True), answers())
    cells = {call.cell for call in chain.calls if call.judge == "bob"}
    assert {"mini/essays/chained/bob~knowledge", "mini/essays/chained/bob~rubric~own"} < cells
    assert "mini/essays/chained/bob~alpha~own" in cells
    bobs = [c for c in chain.calls if c.judge == "bob"]
    assert len({json.loads(c.request.body)["seed"] for c in bobs}) == len(bobs)


# --------------------------------------------------------------------------- what cannot be read


@pytest.mark.usefixtures("how")
def test_an_unreadable_reply_costs_only_what_depends_on_it(task: Task) -> None:
    chain, found = read(planned(task), answers(bob_rubric_tides="which one?"))
    lost = found.table[found.table["status"] != "ok"]
    assert set(lost["status"]) == {"rubric: unparsed"}
    assert set(map(tuple, lost[["rater", "item", "target", "rubric"]].values)) == {
        ("bob", "tides", "alpha", "own"), ("bob", "tides", "beta", "own"),
    }  # fmt: skip
    assert lost["score"].isna().all()
    failed = next(c for c in chain.calls if (c.judge, c.stage, c.item) == ("bob", "rubric", "tides"))
    assert set(lost["request"]) == {failed.key}, "a lost row leads back to the words that lost it"
    assert len(found.table) == 24
    assert [row["why"] for row in found.excerpts if row["status"] != "ok"] == ["stage rubric: not a statement"]


@pytest.mark.usefixtures("how")
def test_the_first_judges_failure_costs_all_who_share_its_reply(task: Task) -> None:
    chain, found = read(planned(task), answers(ann_knowledge_tides="?"))
    lost = found.table[found.table["status"] != "ok"]
    assert set(lost["status"]) == {"knowledge: unparsed"}
    assert Counter(zip(lost["rater"], lost["rubric"], strict=True)) == {
        ("ann", "own"): 2, ("ann", "shared"): 2, ("bob", "shared"): 2,
    }  # fmt: skip
    assert not [c for c in chain.calls if (c.judge, c.stage, c.item) == ("ann", "rubric", "tides")], "never asked"


@pytest.mark.usefixtures("how")
def test_every_stage_is_paid_for(task: Task) -> None:
    chain, found = read(planned(task), answers())
    assert {row["judge"]: row["calls"] for row in found.usage} == {"ann": 16, "bob": 16}
    assert sum(row["input_tokens"] for row in found.usage) == 10 * len(chain.calls)


# --------------------------------------------------------------------------- known only bit by bit


@pytest.mark.usefixtures("how")
def test_the_calls_known_are_those_whose_replies_are_there(task: Task) -> None:
    chain, answer, recorded = Chain(planned(task)), answers(), {}
    rounds = []
    while any(call not in recorded for call in chain.unfold(recorded.get)):
        rounds.append(Counter(call.stage for call in chain.calls))
        recorded |= {call: answer(call) for call in chain.calls}
    assert rounds == [
        {"knowledge": 4, "": 8}, {"knowledge": 4, "rubric": 4, "": 8}, {"knowledge": 4, "rubric": 4, "": 24},
    ]  # fmt: skip
    at_once, _ = read(planned(task), answer)
    assert chain.calls == at_once.calls, "in the order of the plan, however they became known"


@pytest.mark.usefixtures("how")
def test_what_may_have_to_be_asked_is_estimated_before_there_is_any_reply(task: Task) -> None:
    chain = Chain(planned(task))
    expected = chain.expected(lambda call: None)
    assert len(expected) == 32
    assert "k" * 40 in asked(next(call for call in expected if call.stage == "rubric"))
    assert len(chain.unfold(lambda call: None)) == 12, "an estimate tells the chain nothing"


@pytest.mark.usefixtures("how")
def test_a_reply_is_decoded_once(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: Counter[bytes] = Counter()
    for module in ("recuse.elicitation.chains", "recuse.elicitation.replies"):
        from recuse.judges import read_response

        def count(judge: Any, response: RawResponse) -> Any:
            decoded[bytes(response.body)] += 1
            return read_response(judge, response)

        monkeypatch.setattr(f"{module}.read_response", count)
    answer = answers()
    chain = Chain(planned(task))
    chain.unfold(answer)
    chain.unfold(answer)
    read_replies(chain.plan, [(call, answer(call)) for call in chain.final_calls], chain)
    assert sum(decoded.values()) == len(chain.calls)


# --------------------------------------------------------------------------- faults of a protocol


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"STAGES": (STAGES[0], STAGES[0])}, "two stages are called 'knowledge'"),
        (
            {"STAGES": (replace(STAGES[0], per=("author",)),)},
            "per author; its calls can differ by item, target, repeat",
        ),
        ({"uses": lambda factors: [Use("wisdom")]}, "uses 'wisdom', which is no earlier stage"),
        (
            {"STAGES": (replace(STAGES[0], uses=lambda f: [Use("rubric")]), STAGES[1])},
            "no earlier stage; earlier: none",
        ),
        ({"STAGES": (replace(STAGES[0], name="alpha"),), "uses": lambda f: [Use("alpha")]}, "called like a target"),
    ],
)
def test_a_chain_that_cannot_be_planned_says_why(
    task: Task, how: Callable[..., None], changes: dict[str, Any], message: str
) -> None:
    how(**changes)
    with pytest.raises(RecuseError, match=message):
        Chain(planned(task))
