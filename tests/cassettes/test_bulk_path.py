"""Reading cassettes without the HTTP client gives the same ratings as replaying them through it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import workloads  # noqa: E402
from measuring import Row, interleaved, table  # noqa: E402

from recuse.cassettes.library import Library  # noqa: E402
from recuse.cassettes.matching import call_headers  # noqa: E402
from recuse.elicitation.plan import Plan  # noqa: E402
from recuse.elicitation.replies import read_replies  # noqa: E402
from recuse.judges import openai_chat  # noqa: E402
from recuse.judges.client import Client  # noqa: E402
from recuse.schema import Call, RawResponse  # noqa: E402


def reply(text: str, refusal: bool = False) -> bytes:
    made = openai_chat.payload(text, model="m", refusal=refusal, input_tokens=1, output_tokens=1)
    return json.dumps(made, indent=1, ensure_ascii=False).encode()


ODD = {
    1: reply("I cannot rate this.", refusal=True),
    2: reply("no JSON at all, only words: naïve ✓"),
    3: reply('{"accuracy": {"score": 70, "why": "off the scale"}}'),
    4: reply("```json\n{}\n```"),
    5: b'{"choices": []}',
    6: b'{"choices":[{"message":{"content":"' + rb"\u00e9" * 10 + b'"}}]}',
}


@pytest.fixture
def judged(root: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """200 calls of the real rubric protocol, some of them answered oddly."""
    usual: Callable[[Call], bytes] = workloads.answer
    monkeypatch.setattr(workloads, "answer", lambda call: ODD.get(call.repeat) or usual(call))
    plan = workloads.judged_plan(200)
    workloads.write_cassettes(root, plan)
    return plan


def test_both_paths_give_the_same_ratings(judged: Plan, root: Path) -> None:
    library = Library(root, workloads.PANEL)
    assert library.expect(judged.calls, workloads.headers(judged)).complete
    bulk = read_replies(judged, library.replay(judged.calls)).table

    async def replay() -> list[tuple[Call, RawResponse]]:
        async with Client(judged.judges, keys={}, identify=call_headers, attempts=1) as client:
            return [(call, await client.send(call)) for call in judged.calls]

    with library.use():
        over_http = read_replies(judged, asyncio.run(replay())).table
    pd.testing.assert_frame_equal(bulk, over_http)
    assert set(bulk["status"]) == {"ok", "refused", "unparsed", "out_of_scale", "error"}


@pytest.mark.slow("whole runs")
def test_the_paper_scale_program_reads_every_reply(judged: Plan, root: Path) -> None:
    """The benchmark of 105,600 calls on 200 of them: it checks itself that the table is complete."""
    for what in ("bulk", "json", "http"):
        command = [sys.executable, str(BENCHMARKS / "paper_scale.py"), what, str(root), "200"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["seconds"] > 0


def test_sides_take_turns_and_medians_are_compared() -> None:
    seen: list[str] = []
    figures = {"a": iter([1.0, 9.0, 2.0]), "b": iter([4.0, 3.0, 5.0])}

    def side(name: str) -> Callable[[], float]:
        def measure() -> float:
            seen.append(name)
            return next(figures[name])

        return measure

    assert interleaved(3, side("a"), side("b")) == [2.0, 4.0]
    assert seen == ["a", "b", "b", "a", "a", "b"]


@pytest.mark.parametrize(
    ("row", "ratio", "reached"),
    [
        (Row("w", "a", 2.0, 10.0, 5, True), 5.0, True),
        (Row("w", "a", 2.1, 10.0, 5, True), 4.76, False),
        (Row("w", "a", 3.0, 2.0, 1.5, False), 1.5, True),
        (Row("w", "a", 3.1, 2.0, 1.5, False), 1.55, False),
    ],
)
def test_a_row_says_whether_its_ratio_is_reached(row: Row, ratio: float, reached: bool) -> None:
    assert row.ratio == pytest.approx(ratio, abs=0.01)
    assert row.reached is reached
    assert ("| yes |" if reached else "| NO |") in table([row])
