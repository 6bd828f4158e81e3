"""What the benchmarks replay: judge calls of about 8 KB, ten identical requests each, as plans, cassettes and suites.

The calls are the real thing: the rubric protocol of the task merchant_risk, asked of as many judges as the wanted
number of calls takes (each judge has 5 targets x 2 conditions x 10 runs), answered in the OpenAI wire format.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import yaml

from recuse.cassettes import record_format
from recuse.cassettes.matching import call_headers, request_key
from recuse.elicitation.plan import Plan, make_plan
from recuse.judges import openai_chat
from recuse.schema import Call, Judge
from recuse.tasks import Task, load_task

REPOSITORY = Path(__file__).resolve().parents[2]
PANEL = "benchmark"
CALLS_PER_JUDGE = 100
ANSWER_BYTES = 3000
JSON_TYPE = {"content-type": "application/json"}
CRITERIA = ("accuracy", "quality", "consistency", "completeness", "practicality")


@cache
def task() -> Task:
    return load_task(REPOSITORY / "fixtures" / "tasks" / "merchant_risk")


def judged_plan(calls: int) -> Plan:
    """A plan of so many calls (a multiple of 100), made by the same code that plans a real panel."""
    names = [f"judge-{n:04d}" for n in range(calls // CALLS_PER_JUDGE)]
    url = "http://benchmark.invalid/v1"
    judges = {name: Judge(name, name, "openai_chat", url, name) for name in names}
    return make_plan(PANEL, task(), "rubric", judges, identify=request_key)


def headers(plan_: Plan) -> dict[str, dict[str, object]]:
    fingerprint = {"model": "benchmark", "temperature": 0.7}
    return {c.cell: {"provenance": "scripted", "judge": c.judge, "fingerprint": fingerprint} for c in plan_.calls}


def answer(call: Call) -> bytes:
    """A readable reply of about 3 KB, its scores drawn from the call's name."""
    draw = random.Random(f"{call.cell} {call.repeat}")
    scores = {name: round(draw.gauss(8, 0.5), 1) for name in CRITERIA}
    sentence = "The order of the levels holds, though remote sales could be told apart more finely. "
    why = (sentence * (ANSWER_BYTES // len(sentence) + 1))[: ANSWER_BYTES // len(CRITERIA) - 60]
    reply = {name: {"score": score, "why": why} for name, score in scores.items()}
    reply["total"] = round(sum(scores.values()) / len(scores), 2)  # type: ignore[assignment]
    made = openai_chat.payload(json.dumps(reply), model=call.judge, refusal=False, input_tokens=1195, output_tokens=600)
    return json.dumps(made, separators=(",", ":")).encode()


def write_cassettes(root: Path, plan_: Plan) -> None:
    """The plan's cassettes as a recording leaves them, without recording them."""
    cells: dict[str, list[Call]] = {}
    for call in plan_.calls:
        cells.setdefault(call.cell, []).append(call)
    opening = headers(plan_)
    for cell, calls in cells.items():
        path = root / f"{cell}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [record_format.header_line({"cell": cell, "engine": "recuse benchmark", **opening[cell]})]
        known: set[str] = set()
        for call in calls:
            if call.key not in known:
                known.add(call.key)
                parts.append(record_format.request_line(call.key, ("POST", call.request.url, call.request.body)))
            parts.append(record_format.answer_line(call.key, call.repeat, 200, JSON_TYPE, answer(call)))
        path.write_bytes(b"".join(parts))


def one_cell(calls: Sequence[Call]) -> list[Call]:
    """The same calls, all in one cassette."""
    import dataclasses

    cell = calls[0].cell
    return [dataclasses.replace(call, cell=cell) for call in calls]


def write_stock(path: Path, calls: Sequence[Call]) -> None:
    """A cassette as vcrpy's YAML serializer writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"version": 1, "interactions": [_stock(call) for call in calls]}
    dumper = getattr(yaml, "CDumper", yaml.Dumper)
    path.write_text(yaml.dump(data, Dumper=dumper))


def _stock(call: Call) -> dict[str, object]:
    sent = {"content-type": ["application/json"]}
    return {
        "request": {"method": "POST", "uri": call.request.url, "body": call.request.body.decode(), "headers": sent},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": ["application/json"]},
            "body": {"string": answer(call).decode()},
        },
    }


# --------------------------------------------------------------------------- whole pytest runs


def write_stock_suite(folder: Path, calls: Sequence[Call], tests: int) -> None:
    """A suite on pytest-recording: one stock cassette per test, matched on the body."""
    size = len(calls) // tests
    for n in range(tests):
        write_stock(folder / "cassettes" / "test_calls" / f"test_calls[{n}].yaml", calls[n * size : (n + 1) * size])
    (folder / "conftest.py").write_text(_STOCK_CONFTEST)
    (folder / "test_calls.py").write_text(
        _SUITE.format(plan=len(calls), tests=tests, mark="@pytest.mark.vcr\n", used="")
    )


def write_our_suite(folder: Path, root: Path, calls: int, tests: int, kind: str) -> None:
    """The same suite on a library of our cassettes: "ours" asks through the client, "bulk" without it, "nothing" not
    at all."""
    folder.mkdir(parents=True)
    (folder / "conftest.py").write_text(_OUR_CONFTEST.format(root=str(root)))
    suite = _BULK_SUITE if kind == "bulk" else _SUITE
    used = "" if kind == "bulk" else "library, "
    text = suite.format(plan=calls, tests=tests, mark="", used=used)
    (folder / "test_calls.py").write_text(text.replace("in calls[", "in calls[:0][") if kind == "nothing" else text)


_PATHS = f"import sys\nsys.path[:0] = [{str(REPOSITORY)!r}, {str(Path(__file__).parent)!r}]\n"

_SUITE = (
    _PATHS
    + """
import pytest
from recuse.cassettes.matching import call_headers

JSON = {{"content-type": "application/json"}}  # what makes stock vcrpy compare bodies as JSON, as any real client does

@pytest.fixture(scope="session")
def client():
    import httpx2
    with httpx2.Client(trust_env=False) as client:
        yield client

{mark}@pytest.mark.parametrize("n", range({tests}))
def test_calls({used}client, calls, n):
    size = {plan} // {tests}
    for call in calls[n * size : (n + 1) * size]:
        sent = {{**JSON, **call_headers(call)}}
        assert client.post(call.request.url, content=call.request.body, headers=sent).json()["choices"]
"""
)
EMPTY_SUITE = """
import pytest

@pytest.mark.parametrize("n", range(50))
def test_nothing(n):
    pass
"""
_BULK_SUITE = (
    _PATHS
    + """
import json
import pytest

@pytest.mark.parametrize("n", range({tests}))
def test_calls({used}indexed, calls, n):
    size = {plan} // {tests}
    for call in calls[n * size : (n + 1) * size]:
        assert json.loads(indexed.response(call).body)["choices"]
"""
)
_STOCK_CONFTEST = (
    _PATHS
    + """
import pickle
from pathlib import Path
import pytest

@pytest.fixture(scope="module")
def vcr_config():
    return {"match_on": ["method", "uri", "body"], "record_mode": "none"}

@pytest.fixture(scope="session")
def calls():
    return pickle.loads((Path(__file__).parent.parent / "calls.pickle").read_bytes())
"""
)
_OUR_CONFTEST = (
    _PATHS
    + """
import pickle
from pathlib import Path
import pytest

@pytest.fixture(scope="session")
def calls():
    return pickle.loads((Path(__file__).parent.parent / "ours.pickle").read_bytes())

@pytest.fixture(scope="session")
def indexed(calls):
    from recuse.cassettes.library import Library
    library = Library(Path({root!r}), "benchmark")
    assert library.expect(calls).complete
    return library

@pytest.fixture(scope="session")
def library(indexed):
    with indexed.use():
        yield indexed
"""
)


def sent(call: Call) -> dict[str, str]:
    return {"content-type": "application/json", **call_headers(call)}
