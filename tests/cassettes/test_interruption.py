"""Real signals and full disks during recording: finished calls survive, nothing is harmed, the next run goes on."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from misbehaving import Server
from small_plans import files, opened, plan, recording

from recuse.cassettes.plain_file import BALLAST_BYTES, StorageError, Writer

PROGRAM = Path(__file__).with_name("recorder.py")
REPEATS = 40  # of three items
INTERRUPTED = pytest.mark.slow("interrupted recordings")


def start(root: Path, url: str, *, concurrency: int = 6, grace: float = 5, **environment: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, str(PROGRAM), str(root), url, str(REPEATS), str(concurrency), str(grace)]
    return subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )


def finished_calls(process: subprocess.Popen[str], count: int) -> set[tuple[str, int]]:
    """Read what the recorder says until so many calls are finished."""
    assert process.stdout is not None
    found: set[tuple[str, int]] = set()
    for line in process.stdout:
        if line.strip() != "ready":
            item, run = line.split()
            found.add((item, int(run)))
        if len(found) >= count:
            break
    return found


def rest(process: subprocess.Popen[str]) -> tuple[set[tuple[str, int]], str]:
    out, err = process.communicate(timeout=30)
    return {(item, int(run)) for item, run in (line.split() for line in out.splitlines() if " " in line)}, err


def on_disk(root: Path, url: str) -> set[tuple[str, int]]:
    calls = plan(url, repeats=REPEATS)
    library = opened(root, calls)
    missing = {(c.item, c.repeat) for c in library.coverage().missing}
    return {(c.item, c.repeat) for c in calls} - missing


@pytest.fixture
def slow() -> Iterator[Server]:
    with Server(delay=0.03) as running:
        yield running


@pytest.fixture
def older(root: Path, slow: Server) -> dict[str, bytes]:
    """A recording of another judge that was there before."""
    calls = plan(slow.url, judge="judge-b", repeats=2)
    assert recording(opened(root, calls, mode="missing"), calls).complete
    slow.hits.clear()
    return files(root)


@pytest.mark.slow("interrupted recordings")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=INTERRUPTED)])
def test_a_signal_ends_the_recording_in_order(
    number: signal.Signals, root: Path, slow: Server, older: dict[str, bytes]
) -> None:
    process = start(root, slow.url)
    done = finished_calls(process, 12)
    slow.hold(6)
    process.send_signal(number)
    slow.flowing.set()
    more, err = rest(process)
    assert process.returncode == 2
    assert f"stopped early: {number.name} received" in err
    assert "not asked: " in err
    assert "judge judge-a, protocol rubric, item" in err
    assert "the same command goes on" in err
    assert on_disk(root, slow.url) == done | more  # answers on their way were waited for
    assert slow.requests == len(done | more) < 3 * REPEATS
    _resumes(root, slow, older)


@INTERRUPTED
def test_a_second_signal_does_not_wait_for_answers(root: Path, older: dict[str, bytes]) -> None:
    with Server(delay=60) as stuck:
        process = start(root, stuck.url, grace=60)
        while stuck.now < 6:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = rest(process)
    assert process.returncode == 2
    assert "SIGINT" in err
    assert {name: files(root)[name] for name in older} == older


@INTERRUPTED
def test_after_the_grace_time_answers_are_not_waited_for(root: Path) -> None:
    with Server(delay=60) as stuck:
        process = start(root, stuck.url, grace=0.2)
        while stuck.now < 6:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, err = rest(process)
    assert process.returncode == 2
    assert "not asked: 120" in err


@pytest.mark.slow("interrupted recordings")
@pytest.mark.parametrize("after", [7, *(pytest.param(k, marks=INTERRUPTED) for k in (1, 30))])
def test_sigkill_leaves_every_finished_call_on_disk(
    after: int, root: Path, slow: Server, older: dict[str, bytes]
) -> None:
    process = start(root, slow.url)
    done = finished_calls(process, after)
    process.kill()
    more, _ = rest(process)
    assert process.returncode == -signal.SIGKILL
    assert done | more <= on_disk(root, slow.url)
    _resumes(root, slow, older, tolerance=6)  # of the six on their way, the answers may have been lost


def _resumes(root: Path, server: Server, older: dict[str, bytes], tolerance: int = 0) -> None:
    """The next run asks only for what is not there, and ends with a complete, sound, ordered recording."""
    assert {name: files(root)[name] for name in older} == older
    process = start(root, server.url)
    _, err = rest(process)
    assert process.returncode == 0, err
    assert len(on_disk(root, server.url)) == 3 * REPEATS
    assert 3 * REPEATS <= server.requests <= 3 * REPEATS + tolerance
    assert {name: files(root)[name] for name in older} == older
    assert not [name for name in files(root) if not name.endswith(".jsonl")]


# --------------------------------------------------------------------------- full disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with little more room than the ballast takes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not _mount(folder, BALLAST_BYTES + 600_000):
        pytest.skip("mounting a small tmpfs is not permitted here; the RLIMIT_FSIZE test covers the error path")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def _mount(folder: Path, size: int, *options: str) -> bool:
    arguments = ["mount", "-t", "tmpfs", "-o", ",".join((f"size={size}", *options)), "tmpfs", str(folder)]
    try:
        return subprocess.run(arguments, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.slow("interrupted recordings")
def test_a_full_disk_loses_no_answer_that_was_paid_for(small_disk: Path) -> None:
    root = small_disk / "cassettes"
    with Server(delay=0.01) as server:
        older = plan(server.url, judge="judge-b", repeats=2)
        assert recording(opened(root, older, mode="missing"), older).complete
        before = files(root)
        server.hits.clear()
        server.padding = "padding " * 2000  # 16 KB in every answer: 120 of them do not fit
        process = start(root, server.url)
        done, err = rest(process)
        assert process.returncode == 3
        assert "the disk is full" in err
        paid = server.requests
        assert paid < 3 * REPEATS
        assert {name: files(root)[name] for name in before} == before
        assert len(on_disk(root, server.url)) == paid == len(done)
        assert _mount(small_disk, 16_000_000, "remount")
        process = start(root, server.url)
        rest(process)
        assert process.returncode == 0
        assert server.requests == 3 * REPEATS  # nothing was asked twice
        assert len(on_disk(root, server.url)) == 3 * REPEATS


def test_a_disk_that_was_full_from_the_start_is_said_before_anything_is_asked(small_disk: Path, server: Server) -> None:
    (small_disk / "other").write_bytes(b"\0" * 1_000_000)
    process = start(small_disk / "cassettes", server.url)
    _, err = rest(process)
    assert process.returncode == 3
    assert "No space left on device" in err
    assert "nothing was asked" in err
    assert server.requests == 0


@INTERRUPTED
def test_a_largest_file_size_is_reported_and_the_file_stays_whole(root: Path) -> None:
    with Server() as server:
        server.padding = "padding " * 8000
        process = start(root, server.url, LARGEST_FILE=str(BALLAST_BYTES + 100_000))
        done, err = rest(process)
        assert process.returncode == 3
        assert "writing failed (File too large)" in err
        kept = on_disk(root, server.url)
        assert len(kept) >= len(done) - 6
        assert all(data.endswith(b"\n") for name, data in files(root).items() if name.endswith(".jsonl"))
        process = start(root, server.url)
        rest(process)
        assert process.returncode == 0


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_write_that_fails_halfway_is_cut_off_again(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a" / "x.jsonl"
    real = os.write
    with closing(Writer(tmp_path)) as writer:
        writer.append(path, b"first line\n", 0)

        def half(descriptor: int, data: bytes) -> int:
            if len(data) <= 4:
                raise OSError(code, os.strerror(code))
            return real(descriptor, data[: len(data) // 2])

        monkeypatch.setattr(os, "write", half)
        with pytest.raises(StorageError, match="cut back to its last whole line"):
            writer.append(path, b"a second line that is longer\n", 11)
        monkeypatch.undo()
        assert path.read_bytes() == b"first line\n"
        writer.append(path, b"second line\n", 11)
    assert path.read_bytes() == b"first line\nsecond line\n"


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = tmp_path / "x.jsonl", os.write
    with closing(Writer(tmp_path)) as writer:
        monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:3]))
        writer.append(path, b"a line\n", 0)
    assert path.read_bytes() == b"a line\n"


def test_many_files_are_written_and_none_stays_open(tmp_path: Path) -> None:
    def now_open() -> int:
        return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0

    before = now_open()  # whatever else this process holds is not the writer's
    with closing(Writer(tmp_path)) as writer:
        for round_ in range(2):
            for n in range(200):
                writer.append(tmp_path / f"{n}.jsonl", b"line\n", 5 * round_)
        assert now_open() - before <= 2  # the lock and the spare one
    assert {(tmp_path / f"{n}.jsonl").read_bytes() for n in range(200)} == {b"line\nline\n"}


@INTERRUPTED
def test_what_a_killed_recording_left_is_cleared_by_the_next(root: Path, slow: Server) -> None:
    process = start(root, slow.url)
    finished_calls(process, 3)
    process.kill()
    rest(process)
    assert "small/.ballast" in files(root)
    process = start(root, slow.url)
    rest(process)
    assert not [name for name in files(root) if not name.endswith(".jsonl")]


def test_what_was_written_is_handed_to_the_disk_about_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against power loss; against the death of the process the write alone is enough."""
    synced: list[str] = []
    real = os.fdatasync

    def noting(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to tell which file a descriptor belongs to")
    monkeypatch.setattr(os, "fdatasync", noting)
    with closing(Writer(tmp_path)) as writer:
        writer.append(tmp_path / "a.jsonl", b"line\n", 0)
        writer.append(tmp_path / "b.jsonl", b"line\n", 0)
        writer.sync()
        assert sorted(synced) == [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
        writer.sync()
        assert len(synced) == 2
        writer.append(tmp_path / "b.jsonl", b"line\n", 5)
    assert synced[2:] == [str(tmp_path / "b.jsonl")]  # closing leaves nothing behind


def test_a_recording_syncs_while_it_runs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recuse.cassettes.library import Library
    from recuse.recording import asking as module

    counted = []
    real = Library.sync
    monkeypatch.setattr(module, "SYNC_EVERY_S", 0.02)
    monkeypatch.setattr(Library, "sync", lambda self: (counted.append(1), real(self))[1])
    with Server(delay=0.05) as server:
        calls = plan(server.url, items=("a",), repeats=6)
        recording(opened(root, calls, mode="missing"), calls, concurrency=1)
    assert len(counted) > 3
