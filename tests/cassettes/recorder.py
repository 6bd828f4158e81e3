"""Records a small plan in a process, to be interrupted: `python recorder.py ROOT URL REPEATS CONCURRENCY [GRACE]`.

Prints "ready" before it starts and "item run" after each finished call; exits 0 only if everything is recorded."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import httpx2
from judge_limits import Limits
from small_plans import opened, plan, post, record

from recuse.cassettes.plain_file import StorageError
from recuse.recording.progress import IncompleteRecordingError, RecordingInterrupted, RecordingReport
from recuse.schema import Call, RawResponse


def main(root: str, url: str, repeats: str, concurrency: str, grace: str = "5") -> int:
    if limit := os.environ.get("LARGEST_FILE"):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    calls = plan(url, repeats=int(repeats))
    library = opened(Path(root), calls, mode="missing")

    async def run() -> RecordingReport:
        async with httpx2.AsyncClient(trust_env=False, verify=False, timeout=10) as client:

            async def send(call: Call) -> RawResponse:
                response = await post(client, call)
                print(call.item, call.repeat, flush=True)
                return RawResponse(response.status_code, {}, response.content)

            limits = {calls[0].judge: Limits(int(concurrency))}
            return await record(calls, send, library, limits=limits, grace=float(grace))

    try:
        with library.use():
            print("ready", flush=True)
            report = asyncio.run(run())
        report.check()
    except RecordingInterrupted as error:
        print(error, file=sys.stderr)
        return 2
    except (IncompleteRecordingError, StorageError) as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
