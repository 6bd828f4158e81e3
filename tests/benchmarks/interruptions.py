"""Recordings that are killed, interrupted or out of disk: `python interruptions.py [KILLS SIGNALS DISKS REQUESTS]`.

Each round records three protocols of a panel (180 calls) from a slow server on loopback and is stopped at a random
moment: SIGKILL (50 rounds unless told otherwise), SIGINT (20), a full disk (10; tmpfs where mounting is allowed, else a
limit on the size of files). Counted are calls that the client had finished and that are not on disk, answers that a
replay would serve although they are not what the server sent, calls asked after a SIGINT beyond those on their way, and
calls that the next recording asks again. Then so many requests (100,000) go out by batch, from processes that are
killed one after the other until all of it is on disk; `0 0 0 100000` does that alone. Prints one line per kind; exit
code 1 if anything was lost or is wrong.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "recording"), str(HERE.parent / "cassettes")]
sys.path[:0] = [str(HERE.parent / "batch"), str(HERE.parent / "judges")]

import hosted_panel  # noqa: E402
from batch_providers import OpenAI  # noqa: E402
from hosted_panel import load, opened, plans  # noqa: E402
from loopback import loopback  # noqa: E402
from measuring import peak_mb  # noqa: E402
from misbehaving import Server  # noqa: E402
from setting import Setting  # noqa: E402

from recuse.cassettes.plain_file import CassetteError  # noqa: E402
from recuse.recording.panel_recording import Recorder  # noqa: E402
from recuse.schema import RecuseError  # noqa: E402

REPEATS = 12
CONCURRENCY = 4
DELAY_S = 0.01
BAD = ("lost", "wrong", "incomplete", "failed", "asked again", "asked after the signal", "exit code is not 2")
DISK_BYTES = 2**20 + 400_000  # the ballast, and room for some of the answers


class Answers(Server):
    """Keeps the number of every answer by the words that asked for it, to compare with what a replay serves."""

    def numbers(self) -> dict[bytes, set[int]]:
        found: dict[bytes, set[int]] = {}
        for number, (_, _, body) in enumerate(self.seen, 1):
            found.setdefault(body, set()).add(number)
        return found


def start(root: Path, server: Server) -> BaseProcess:
    """A recorder of its own process; forked, because starting Python anew takes longer than the recording."""
    process = multiprocessing.get_context("fork").Process(target=_record, args=(str(root), server.url))
    process.start()
    return process


def _record(root: str, url: str) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os._exit(hosted_panel.main(root, url, str(REPEATS)))


def wait(server: Server, process: BaseProcess, answered: int) -> None:
    while len(server.seen) < answered and process.is_alive():
        time.sleep(0.001)


def served(root: Path, server: Answers) -> tuple[int, int]:
    """How many answers a replay finds, and how many of them are not what the server sent for those words."""
    panel = load(root.parent, server.url, settings="free = true")
    planned = plans(panel, REPEATS)
    library = opened(root, panel, planned, mode="replay")
    numbers, found, wrong, seen = server.numbers(), 0, 0, Counter[int]()
    for call in (call for each in planned for call in each.calls if library.has(call)):
        try:
            number = json.loads(library.response(call).body)["number"]
        except CassetteError:
            continue  # damaged, and refused: nothing is trusted wrongly
        seen[number] += 1
        found += 1
        wrong += number not in numbers.get(call.request.body, set())
    return found, wrong + sum(count - 1 for count in seen.values())


def finish(root: Path, server: Answers) -> int:
    """Record the rest; returns how many calls were asked."""
    before = len(server.seen)
    panel = load(root.parent, server.url, settings="free = true")
    planned = plans(panel, REPEATS)
    library = opened(root, panel, planned)
    with contextlib.redirect_stderr(io.StringIO()):
        recorder = Recorder(panel, library, root.parent, root.parent, say=lambda _: None)
        recorder.record(planned, readable=lambda call, response: None)
    return len(server.seen) - before


Round = Callable[[Path, Answers, random.Random], Counter[str]]


def killed(root: Path, server: Answers, draw: random.Random) -> Counter[str]:
    process = start(root, server)
    wait(server, process, draw.randrange(1, total(root, server)))
    process.kill()
    process.join()
    return _account(root, server, on_their_way=CONCURRENCY)


def interrupted(root: Path, server: Answers, draw: random.Random) -> Counter[str]:
    process = start(root, server)
    wait(server, process, draw.randrange(1, total(root, server) - 3 * CONCURRENCY))
    asked = len(server.seen)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    process.join(60)
    late = max(0, len(server.seen) - asked - CONCURRENCY)
    counts = Counter({"asked after the signal": late, "exit code is not 2": int(process.exitcode != 2)})
    return counts + _account(root, server, on_their_way=0)


def disk_full(root: Path, server: Answers, draw: random.Random) -> Counter[str]:
    server.padding = "padding " * draw.randrange(400, 2500)
    with _small_disk(root.parent) as is_small:
        if not is_small:
            return Counter({"not possible here": 1})
        start(root, server).join(60)
        counts = _account(root, server, on_their_way=0, again=False)
        subprocess.run(["mount", "-o", "remount,size=64m", str(root.parent)], check=True)
        counts["asked again"] += max(0, finish(root, server) + counts["answered"] - total(root, server))
        found, wrong = served(root, server)
        return counts + Counter({"wrong": wrong, "incomplete": int(found != total(root, server))})


def _account(root: Path, server: Answers, on_their_way: int, again: bool = True) -> Counter[str]:
    """`on_their_way`: so many answers may be lost by a kill, because the client had not received them."""
    answered = len(server.seen)
    found, wrong = served(root, server)
    counts = Counter({"answered": answered, "on disk": found, "lost": max(0, answered - found - on_their_way)})
    counts["wrong"] = wrong
    if again:
        counts["asked again"] = max(0, finish(root, server) - (total(root, server) - found))
        found, wrong = served(root, server)
        counts["wrong"] += wrong
        counts["incomplete"] = int(found != total(root, server))
    return counts


def total(root: Path, server: Server) -> int:
    return sum(len(each.calls) for each in plans(load(root.parent, server.url, settings="free = true"), REPEATS))


def batched(count: int) -> bool:
    """Requests by batch from process after process, each killed after a random time, until nothing is missing. What the
    provider was sent beyond one request a call would be billed twice."""
    draw, stored = random.Random("batches"), 0
    with tempfile.TemporaryDirectory() as folder, loopback(provider := OpenAI()) as url:
        setting = Setting(provider, url, Path(folder))
        setting.calls = [setting._call(item, repeat) for item in range(count // 2) for repeat in range(2)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = before.ru_utime + before.ru_stime
        for kills in range(100):  # each lives longer than the one before
            peak, own = multiprocessing.Pipe(duplex=False)
            process = multiprocessing.get_context("fork").Process(target=_collect, args=(setting, own))
            process.start()
            process.join(draw.uniform(0.02, 0.4) * count / 1000 * (1 + kills / 4))
            if process.exitcode is None:
                process.kill()
                process.join()
            elif (stored := sum(map(setting.library("replay").has, setting.calls))) == count:
                break  # else a batch was never taken: the next process submits it anew
    twice = len(provider.submitted) - len(set(provider.submitted))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    counts = f"on disk {stored:,}, lost {count - stored}, submitted twice {twice}"
    memory = f"{peak.recv():,} MB" if peak.poll() else "unknown"
    cost = f"{used.ru_utime + used.ru_stime - start:.0f} CPU s, {memory} in the last"
    print(f"{count:,} requests by batch, {kills} processes killed: {counts}; {cost}", flush=True)
    return stored == count and not twice


def _collect(setting: Setting, peak: Connection) -> None:
    with setting.batches() as batches:
        batches.submit(setting.calls)
        while batches.collect(setting.calls).under_way:
            pass
    peak.send(peak_mb())
    os._exit(0)


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[bool]:
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def rounds(name: str, count: int, one: Round) -> bool:
    counts: Counter[str] = Counter()
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder, Answers(delay=DELAY_S) as server:
            place = Path(folder) / "disk"
            place.mkdir()
            try:
                counts += one(place / "cassettes", server, random.Random(f"{name} {number}"))
            except RecuseError as error:
                counts["failed"] += 1
                print(f"  round {number}: {error}")
    shown = ", ".join(f"{what} {counts[what]}" for what in ("answered", "on disk", *BAD))
    skipped = counts["not possible here"]
    print(f"{count} x {name}: {shown}{f' ({skipped} rounds not possible here)' if skipped else ''}", flush=True)
    return not any(counts[what] for what in BAD)


def main(kills: int = 50, signals: int = 20, disks: int = 10, requests: int = 100_000) -> int:
    each = (("SIGKILL", kills, killed), ("SIGINT", signals, interrupted), ("full disk", disks, disk_full))
    sound = [rounds(name, count, one) for name, count, one in each if count]
    sound += [batched(requests)] if requests else []
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
