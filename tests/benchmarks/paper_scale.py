"""105,600 calls, the size of a published study: `python paper_scale.py bulk|http|json ROOT CALLS [PANELS]`.

Prints one JSON line with seconds of CPU time and peak memory. `bulk` goes from cassettes to the finished ratings table,
`http` through the HTTP client, `json` only decodes what is in the files. With PANELS, the folders 0, 1, ... below ROOT
are done one after the other, as a run does its panels."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]

import measuring  # noqa: E402


def bulk(root: Path, calls: int) -> dict[str, float]:
    """Plan the calls, index the cassettes, read every reply, build and check the ratings table."""
    import pandas  # noqa: F401  (its import is not part of a call)
    from workloads import PANEL, headers, judged_plan

    from recuse.cassettes.library import Library
    from recuse.elicitation.replies import read_replies

    steps: dict[str, float] = {}
    start = time.process_time()

    def step(name: str) -> None:
        nonlocal start
        steps[name], start = time.process_time() - start, time.process_time()

    plan = judged_plan(calls)
    step("plan")
    library = Library(root, PANEL)
    opening = headers(plan)
    step("headers")
    coverage = library.expect(plan.calls, opening)
    assert coverage.complete
    step("index")

    table = read_replies(plan, library.replay(plan.calls)).table
    step("ratings")
    assert len(table) == calls * 6
    assert not library.unused()
    step("accounts")
    return steps


def http(root: Path, calls: int) -> dict[str, float]:
    """Every call through the HTTP client."""
    import httpx2
    from workloads import PANEL, judged_plan, sent

    import recuse.cassettes.vcrpy_adapter  # noqa: F401  (its import is not part of a call)
    from recuse.cassettes.library import Library

    plan = judged_plan(calls)
    start = time.process_time()
    library = Library(root, PANEL)
    assert library.expect(plan.calls).complete
    with library.use(), httpx2.Client(trust_env=False) as client:
        for call in plan.calls:
            client.post(call.request.url, content=call.request.body, headers=sent(call)).json()
    return {"replay": time.process_time() - start}


def decode(root: Path, calls: int) -> dict[str, float]:
    """The floor: read the same files and decode every line of them."""
    from fixtures.makers.recorded import stored_files
    from recuse.cassettes.cell_file import contents

    start, found = time.process_time(), 0
    for path in stored_files(root).values():
        for line in contents(path)[0].splitlines():
            found += json.loads(line)["kind"] == "answer"
    assert found == calls
    return {"decode": time.process_time() - start}


def main(what: str, root: str, calls: str, panels: str = "") -> None:
    run, steps = {"bulk": bulk, "http": http, "json": decode}[what], dict[str, float]()
    for folder in [Path(root, str(n)) for n in range(int(panels))] if panels else [Path(root)]:
        for name, seconds in run(folder, int(calls)).items():
            steps[name] = steps.get(name, 0.0) + seconds
    peak = measuring.peak_mb()
    print(json.dumps({"seconds": sum(steps.values()), "peak_mb": peak, "steps": steps}))


if __name__ == "__main__":
    main(*sys.argv[1:])
