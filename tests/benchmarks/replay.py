"""Benchmarks of replay and recording, printed as one table: `python tests/benchmarks/replay.py [ROW ...] [--rounds N]`.

Every ratio compares two things measured in turns in this run; none gates CI. Without names all rows are measured, which
takes about ten minutes, most of it stock vcrpy searching. `profile` says where the time of our whole pytest run goes.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree, rmtree

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE), str(HERE.parent / "cassettes")]

import httpx2  # noqa: E402
import vcr  # noqa: E402
import workloads  # noqa: E402
from judge_limits import Limits  # noqa: E402
from measuring import Row, children, cpu, interleaved, table, wall  # noqa: E402
from whole_run import whole_run  # noqa: E402
from workloads import PANEL, headers, judged_plan, one_cell, sent, write_cassettes, write_stock  # noqa: E402

from fixtures.makers.recorded import stored_files  # noqa: E402
from recuse.cassettes.__main__ import pack_panel  # noqa: E402
from recuse.cassettes.cell_file import make_packed  # noqa: E402
from recuse.cassettes.library import Library  # noqa: E402
from recuse.cassettes.pack_file import Pack, packs_of  # noqa: E402
from recuse.elicitation.plan import Plan  # noqa: E402
from recuse.recording.asking import Recording  # noqa: E402
from recuse.recording.budget import Spending  # noqa: E402
from recuse.schema import Call, RawResponse  # noqa: E402

PAPER = 105_600
STOCK = {"record_mode": "none", "match_on": ["method", "uri", "body"]}


def suite_one(work: Path, rounds: int) -> list[Row]:
    """Whole runs, and the replay alone: pytest, vcrpy and the client take most of our whole run."""
    suites = _suites(work, tests=1)
    mine, nothing, theirs = interleaved(min(rounds, 3), *(suites[name] for name in ("ours", "nothing", "stock")))
    calls = pickle.loads((work / "suites-1" / "ours.pickle").read_bytes())
    stock = work / "suites-1" / "stock" / "cassettes" / "test_calls" / "test_calls[0].yaml"
    with httpx2.Client(trust_env=False) as client:
        ours = cpu(lambda: _replay(client, work / "suites-1" / "cassettes", calls))
        alone, searched = interleaved(1, ours, cpu(lambda: _replay_stock(client, [stock], [calls])))
    name, other = "500 calls, one cassette", "pytest-recording + stock YAML"
    fixed = f"pytest, vcrpy and the client alone take {nothing:.2f} s on either side"
    return [
        Row(f"{name}, whole pytest run", other, mine, theirs, 100, True, note=fixed),
        Row(f"{name}, in process", "stock YAML", alone, searched, 100, True),
    ]


def profile(work: Path, rounds: int) -> list[Row]:
    """Where the time of our whole pytest run goes; everything but the last line stock vcrpy needs as well."""
    suites = _suites(work, tests=50)
    python = [sys.executable, "-c"]
    steps = {
        "the interpreter": children(lambda: subprocess.run([*python, "pass"], check=True)),
        "pytest, 50 empty tests": children(lambda: _pytest(work / "suites-50" / "empty", 50)),
        "importing httpx2 and vcrpy": children(lambda: subprocess.run([*python, "import httpx2, vcr"], check=True)),
        "all of it, but no calls": suites["nothing"],
        "with 500 calls": suites["ours"],
    }
    for name, seconds in zip(steps, interleaved(rounds, *steps.values()), strict=True):
        print(f"{name}: {seconds:.3f} s CPU")
    return []


def suite_cells(work: Path, rounds: int) -> list[Row]:
    """With what no replay can save: a suite that imports the same, makes the client, and asks nothing."""
    suites = _suites(work, tests=50)
    mine, bulk, nothing, theirs = interleaved(rounds, *(suites[name] for name in ("ours", "bulk", "nothing", "stock")))
    name = "500 calls as 50 cells x 10, whole pytest run"
    most = f"pytest, vcrpy and the client alone take {nothing:.2f} s on either side"
    return [
        Row(name, "the same, 50 tests", mine, theirs, 2.5, True, note=most),
        Row(f"{name}, bulk path", "the same, 50 tests", bulk, theirs, 2.5, True),
    ]


def cells(work: Path, rounds: int) -> list[Row]:
    return [_in_process(work, rounds, 500, 5)]


def large(work: Path, rounds: int) -> list[Row]:
    return [_in_process(work, rounds, 3300, 6)]


def scale(work: Path, rounds: int) -> list[Row]:
    """Index and replay through the HTTP client, per call."""
    big, small = work / "big", work / "small"
    _prepared(big, PAPER)
    _prepared(small, 500)
    per_call = lambda root, n: lambda: _process("http", root, n)["seconds"] / n * 1e6  # noqa: E731
    mine, theirs = interleaved(min(rounds, 3), per_call(big, PAPER), per_call(small, 500))
    return [Row("per-call cost at 105,600", "per-call cost at 500", mine, theirs, 1.5, False, "us")]


def client(work: Path, rounds: int) -> list[Row]:
    root, calls = work / "cells", judged_plan(3300).calls
    _prepared(root, 3300)
    body = workloads.answer(calls[0])

    class Constant(httpx2.BaseTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            request.read()
            stream = httpx2.ByteStream(body)
            return httpx2.Response(200, headers=[("content-type", "application/json")], stream=stream)

    with httpx2.Client(trust_env=False) as live, httpx2.Client(transport=Constant()) as constant:
        library = _opened(root, calls)
        with library.use():
            ours = cpu(lambda: _ask(live, calls))
            mine, theirs = interleaved(rounds, ours, cpu(lambda: _ask(constant, calls)))
    one = 1e6 / len(calls)
    text = "the same client on a constant in-memory transport"
    return [Row("replay through the HTTP client, per call", text, mine * one, theirs * one, 2, False, "us")]


def ratings_table(work: Path, rounds: int) -> list[Row]:
    root = work / "big"
    _prepared(root, PAPER)
    peaks: list[float] = []

    def bulk() -> float:
        done = _process("bulk", root, PAPER)
        peaks.append(done["peak_mb"])
        return done["seconds"]

    mine, theirs = interleaved(min(rounds, 3), bulk, lambda: _process("json", root, PAPER)["seconds"])
    text = "decoding the same bytes with json"
    work_done = "105,600 calls, cassettes to finished ratings table"
    return [
        Row(work_done, text, mine, theirs, 3, False),
        Row("the same, peak memory", "400 MB", max(peaks), 400, 1, False, "MB"),
    ]


def recording(work: Path, rounds: int) -> list[Row]:
    rows = []
    with _slow_server(0.2) as url:
        for concurrency, wanted in ((16, 1.1), (64, 1.1)):
            calls = [_at(url, call) for call in judged_plan(500).calls]
            ours = wall(lambda: _record(work / "recorded", calls, concurrency))  # noqa: B023
            other = wall(lambda: asyncio.run(_without_vcrpy(calls, concurrency)))  # noqa: B023
            mine, theirs = interleaved(min(rounds, 3), ours, other)
            text = f"recording 500 calls, 200 ms server, concurrency {concurrency}"
            rows.append(Row(text, "the same client without vcrpy", mine, theirs, wanted, False))
    return rows


def compressed(work: Path, rounds: int) -> list[Row]:
    """Indexing and replaying cassettes straight from the files, compressed against plain."""
    plain, packed, plan = work / "plain", work / "compressed", judged_plan(3300)
    for root in (plain, packed):
        _prepared(root, 3300)
    for path in stored_files(packed).values():
        make_packed(path)
    mine, theirs = interleaved(rounds, cpu(lambda: _read(packed, plan)), cpu(lambda: _read(plain, plan)))
    size = sum(path.stat().st_size for path in stored_files(packed).values()) / 1e6
    return [Row(f"3,300 calls read, compressed ({size:.1f} MB)", "plain", mine, theirs, 2, False)]


def packed(work: Path, rounds: int) -> list[Row]:
    """A pack read against plain files, and what a call of the shipped panels takes in one, of each and of all."""
    plain, root, plan = work / "plain", work / "packed", judged_plan(3300)
    for folder in (plain, root):
        _prepared(folder, 3300)
    _packed(root / PANEL)
    mine, theirs = interleaved(rounds, cpu(lambda: _read(root, plan)), cpu(lambda: _read(plain, plan)))
    total, each = [0, 0], []
    for panel in sorted(path for path in (HERE.parents[1] / "cassettes").iterdir() if path.is_dir()):
        copytree(panel, copy := work / "shipped" / panel.name)
        pack = _packed(copy)
        each.append(f"{panel.name} {pack.bytes / pack.answers:.0f}")
        total = [total[0] + pack.bytes, total[1] + pack.answers]
    text = f"all panels, {total[1]:,} calls: a call in a pack"
    return [
        Row("3,300 calls read from a pack", "plain files", mine, theirs, 2, False),
        Row(text, "350 bytes", total[0] / total[1], 350, 1, False, "bytes", ", ".join(each)),
    ]


def million(work: Path, rounds: int) -> list[Row]:
    """A million calls in ten packed panels to their ratings, one panel after the other."""
    root, calls, panels = work / "million", 100_000, 10
    _prepared(root / "0", calls)
    _packed(root / "0" / PANEL)
    for n in range(1, panels):
        copytree(root / "0", root / str(n))
    bulk, decoded, one = (_process(*what) for what in (
        ("bulk", root, calls, panels), ("json", root, calls, panels), ("bulk", root, calls, 1)))  # fmt: skip
    text = "a million calls in packs, to finished ratings tables"
    return [
        Row(text, "decoding the same bytes with json", bulk["seconds"], decoded["seconds"], 3, False),
        Row("the same, peak memory", "one of the ten panels alone", bulk["peak_mb"], one["peak_mb"], 1.1, False, "MB"),
    ]


def measures(work: Path, rounds: int) -> list[Row]:
    """Every measure that applies to 20 judges x 500 items x 20 targets, and how that grows from 10 judges."""

    def run(judges: int) -> dict[str, float]:
        command = [sys.executable, str(HERE / "many_judges.py"), str(judges)]
        return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))

    peaks: list[float] = []

    def twenty() -> float:
        done = run(20)
        peaks.append(done["peak_mb"])
        return done["seconds"]

    mine, half = interleaved(min(rounds, 3), twenty, lambda: run(10)["seconds"])
    return [
        Row("20 judges x 500 items x 20 targets, all measures", "10 judges", mine, half, 4.5, False),
        Row("the same, peak memory", "1,000 MB", max(peaks), 1000, 1, False, "MB"),
    ]


ROWS: dict[str, Callable[[Path, int], list[Row]]] = {
    "suite-one": suite_one,
    "suite-cells": suite_cells,
    "profile": profile,
    "cells": cells,
    "large": large,
    "scale": scale,
    "client": client,
    "table": ratings_table,
    "recording": recording,
    "compressed": compressed,
    "packed": packed,
    "million": million,
    "whole-run": whole_run,
    "measures": measures,
}


# --------------------------------------------------------------------------- the work that is measured


def _in_process(work: Path, rounds: int, count: int, wanted: float) -> Row:
    calls = judged_plan(3300).calls[:count]
    root, folder = work / "cells", work / "stock"
    _prepared(root, 3300)
    by_cell = [calls[n : n + 10] for n in range(0, count, 10)]
    for n, cell in enumerate(by_cell):
        if not (folder / f"{n}.yaml").exists():
            write_stock(folder / f"{n}.yaml", cell)
    paths = [folder / f"{n}.yaml" for n in range(len(by_cell))]
    with httpx2.Client(trust_env=False) as client:
        ours, stock = cpu(lambda: _replay(client, root, calls)), cpu(lambda: _replay_stock(client, paths, by_cell))
        mine, theirs = interleaved(rounds, ours, stock)
    name = "500 calls as 50 cells x 10, in process" if count == 500 else f"{count:,} calls"
    return Row(name, "stock YAML cells" + ("" if count == 500 else ", in process"), mine, theirs, wanted, True)


def _suites(work: Path, tests: int) -> dict[str, Callable[[], float]]:
    folder = work / f"suites-{tests}"
    plan = judged_plan(500)
    calls = plan.calls
    rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "empty").mkdir()
    (folder / "empty" / "test_empty.py").write_text(workloads.EMPTY_SUITE)
    (folder / "calls.pickle").write_bytes(pickle.dumps(calls))
    workloads.write_stock_suite(folder / "stock", calls, tests)
    ours = one_cell(calls) if tests == 1 else calls
    (folder / "ours.pickle").write_bytes(pickle.dumps(ours))
    write_cassettes(folder / "cassettes", with_calls(plan, ours))
    for name in ("ours", "bulk", "nothing"):
        workloads.write_our_suite(folder / name, folder / "cassettes", 500, tests, name)
    return {n: children(lambda n=n: _pytest(folder / n, tests)) for n in ("ours", "bulk", "nothing", "stock")}  # type: ignore[misc]


def _pytest(folder: Path, tests: int) -> None:
    """Each side with the plugins it needs and no others: what else is installed would cost both the same."""
    plugins = ["-p", "pytest_recording.plugin"] if folder.name == "stock" else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugins, "--rootdir", str(folder)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    if f"{tests} passed" not in done.stdout:
        raise SystemExit(f"the suite in {folder} failed:\n{done.stdout}{done.stderr}")


def _process(what: str, root: Path, calls: int, panels: int | str = "") -> dict[str, float]:
    command = [sys.executable, str(HERE / "paper_scale.py"), what, str(root), str(calls), str(panels)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _packed(panel: Path) -> Pack:
    pack_panel(panel)
    (pack,) = packs_of(panel)
    return pack


def _prepared(root: Path, calls: int) -> None:
    if not root.exists():
        write_cassettes(root, judged_plan(calls))


def _opened(root: Path, calls: Sequence[Call]) -> Library:
    library = Library(root, PANEL)
    if not library.expect(calls).complete:
        raise SystemExit(f"the cassettes in {root} are not complete")
    return library


def _read(root: Path, plan: Plan) -> None:
    for _ in _opened(root, plan.calls).replay(plan.calls):
        pass


def _replay(client: httpx2.Client, root: Path, calls: Sequence[Call]) -> None:
    with _opened(root, calls).use():
        _ask(client, calls)


def _replay_stock(client: httpx2.Client, paths: Sequence[Path], cells: Sequence[Sequence[Call]]) -> None:
    for path, calls in zip(paths, cells, strict=True):
        with vcr.VCR().use_cassette(str(path), **STOCK):
            _ask(client, calls)


def _ask(client: httpx2.Client, calls: Sequence[Call]) -> None:
    for call in calls:
        client.post(call.request.url, content=call.request.body, headers=sent(call)).json()


def _at(url: str, call: Call) -> Call:
    from recuse.cassettes.matching import request_key
    from recuse.schema import Request

    request = Request(url, call.request.body)
    return dataclasses.replace(call, request=request, key=request_key(request))


def _record(root: Path, calls: Sequence[Call], concurrency: int) -> None:
    rmtree(root, ignore_errors=True)
    library = Library(root, PANEL, mode="missing")
    library.expect(calls, {cell: {**h, "provenance": "recorded"} for cell, h in headers_of(calls).items()})

    async def run() -> None:
        async with _client() as client:

            async def send(call: Call) -> RawResponse:
                answered = await client.post(call.request.url, content=call.request.body, headers=sent(call))
                return RawResponse(answered.status_code, {}, answered.content)

            limits = {call.judge: Limits(concurrency) for call in calls}
            recording = Recording(_one_judge(calls), library, spending=Spending())
            await recording.ask(recording.missing, send, limits)
            report = recording.outcome()
            report.check()

    with library.use():
        asyncio.run(run())


def with_calls(plan: Plan, calls: Sequence[Call]) -> Plan:
    """The same plan with these calls instead of its own."""
    changed = dataclasses.replace(plan)
    changed.__dict__["calls"] = list(calls)  # where the cached property would put them
    return changed


def headers_of(calls: Sequence[Call]) -> dict[str, dict[str, object]]:
    return headers(with_calls(judged_plan(500), calls))


def _one_judge(calls: Sequence[Call]) -> list[Call]:
    """All calls under one judge's limit, so that the concurrency is the one asked for."""
    return [dataclasses.replace(call, judge=calls[0].judge) for call in calls]


async def _without_vcrpy(calls: Sequence[Call], concurrency: int) -> None:
    gate = asyncio.Semaphore(concurrency)
    async with _client() as client:

        async def one(call: Call) -> None:
            async with gate:
                await client.post(call.request.url, content=call.request.body, headers=sent(call))

        await asyncio.gather(*map(one, calls))


def _client() -> httpx2.AsyncClient:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=256)
    return httpx2.AsyncClient(trust_env=False, limits=limits, timeout=30)


@contextmanager
def _slow_server(seconds: float) -> Iterator[str]:
    command = [sys.executable, str(HERE / "slow_server.py"), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1/chat/completions"
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="which rows to measure (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="turns per comparison (default %(default)s)")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else every process compiles pandas again, which nobody's run does
    with tempfile.TemporaryDirectory(prefix="recuse-benchmark-") as folder:
        found: list[Row] = []
        for name in options.rows or [row for row in ROWS if row != "profile"]:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            made = ROWS[name](Path(folder), options.rounds)
            for row in made:
                print("  " + " | ".join(row.cells()), file=sys.stderr, flush=True)
            found += made
    if found:
        print(table(found))


if __name__ == "__main__":
    main()
