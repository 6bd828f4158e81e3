"""What an attack on the first edition found, each of it closed."""

from __future__ import annotations

import asyncio
import errno
import gzip
import html
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from misbehaving import Server
from small_plans import KEY, answer_for, bomb, files, headers, opened, plan, recorded, recording

from recuse.cassettes.__main__ import check_cassettes
from recuse.cassettes.library import Library
from recuse.cassettes.matching import call_headers
from recuse.cassettes.plain_file import CassetteError, StorageError, Writer, replace_file
from recuse.cassettes.storage import Storage
from recuse.judges.provider_responses import LARGEST_BODY, decompressed
from recuse.schema import Call, RawResponse, RecuseError, Request
from recuse.security.redaction import Secrets, clean_logging

JSON = {"content-type": "application/json"}


def stored(root: Path, calls: list[Call], response: RawResponse) -> Library:
    """Store one response for the first call; the library says in `dropped` why it did not."""
    library = opened(root, calls, mode="missing", secrets=[KEY])
    with library.use():
        request = calls[0].request
        library.store(request, call_headers(calls[0]), response)
    return library


# --------------------------------------------------------------------------- what is kept of a response


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_a_body_in_an_unknown_encoding_is_never_stored(status: int, root: Path) -> None:
    calls = plan(items=("a",), repeats=1)
    library = stored(root, calls, RawResponse(status, {**JSON, "content-encoding": "foo"}, b'{"x":1}'))
    assert not library.has(calls[0])
    (why,) = library.dropped.values()
    assert "compressed as 'foo', which is not known; known: gzip" in why


def test_an_answer_with_an_encoding_that_was_stored_before_is_a_fault(root: Path) -> None:
    from recuse.cassettes import record_format

    (call,) = plan(items=("a",), repeats=1)
    recorded(root, [call])
    path = root / f"{call.cell}.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)[:2]
    answer = record_format.answer_line(call.key, 0, 500, {"content-encoding": "foo"}, b"\xff\xfe")
    path.write_bytes(b"".join([*kept, answer]))
    assert any("is not an answer: HTTP status 500" in fault for fault in check_cassettes(root).faults)


def bombs() -> Iterator[tuple[str, bytes]]:
    import zlib

    zeros = b"0" * (LARGEST_BODY + 1)
    yield "gzip", gzip.compress(zeros)
    yield "deflate", zlib.compress(zeros)
    yield "gzip, gzip", gzip.compress(gzip.compress(zeros))


@pytest.mark.slow("large files", but_first=True)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, gzip"])
def test_a_body_that_grows_when_decompressed_is_let_go(encoding: str) -> None:
    body = dict(bombs())[encoding]
    assert len(body) < 100_000
    with pytest.raises(ValueError, match="more than 16 MB; no judge's reply is that long"):
        decompressed(body, encoding)


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_so_is_one_in_an_encoding_of_an_optional_library(encoding: str) -> None:
    from misbehaving import _ENCODINGS

    try:
        body = _ENCODINGS[encoding](b"0" * (LARGEST_BODY + 1))
    except ImportError:
        pytest.skip(f"no library for {encoding}")
    with pytest.raises(ValueError, match="more than 16 MB"):
        decompressed(body, encoding)


def test_memory_stays_small_whatever_a_body_grows_to(tmp_path: Path) -> None:
    """A megabyte of gzip that would become a gigabyte, in a process that may not have one."""
    body = tmp_path / "body"
    body.write_bytes(bomb(b"0"))
    program = """
import resource, sys
from pathlib import Path
from recuse.judges.provider_responses import decompressed
body = Path(sys.argv[1]).read_bytes()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    decompressed(body, "gzip")
except ValueError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    out = subprocess.run([sys.executable, "-c", program, str(body)], capture_output=True, text=True, check=True).stdout
    said, grown = out.splitlines()
    assert "more than 16 MB" in said
    assert int(grown) < 200  # megabytes


def test_several_gzip_members_are_one_body() -> None:
    assert decompressed(gzip.compress(b'{"a":') + gzip.compress(b"1}"), "gzip") == b'{"a":1}'


def test_many_gzip_members_are_read_in_one_pass() -> None:
    """Not timed, but it would be felt: eight seconds."""
    assert decompressed(gzip.compress(b"") * 50_000, "gzip") == b""


@pytest.mark.parametrize("cut", [9, 1])
def test_a_gzip_body_that_ends_too_early_is_not_an_answer(cut: int) -> None:
    with pytest.raises(ValueError, match="not valid gzip"):
        decompressed(gzip.compress(b'{"a":1}')[:-cut], "gzip")


# --------------------------------------------------------------------------- keys


def echoes() -> dict[str, bytes]:
    key = KEY
    nested = json.dumps({"a": json.dumps({"b": json.dumps(key)})})
    return {
        "plain": key.encode(),
        "json in json in json": nested.encode(),
        "escaped letters": "".join(f"\\u{ord(c):04x}" for c in key).encode(),
        "escaped letters in capitals, twice": "".join(f"\\\\u{ord(c):04X}" for c in key).encode(),
        "percent": "".join(f"%{ord(c):02x}" for c in key).encode(),
        "percent twice": quote("".join(f"%{ord(c):02X}" for c in key)).encode(),
        "entities": "".join(f"&#{ord(c)};" for c in key).encode(),
        "entities in hexadecimal": "".join(f"&#x{ord(c):X};" for c in key).encode(),
        "hexadecimal": key.encode().hex().encode(),
        "hexadecimal in capitals": key.encode().hex().upper().encode(),
        "utf-16": key.encode("utf-16-le"),
        "utf-16 the other way": key.encode("utf-16-be"),
        "half escaped": key.encode().replace(b"c", b"\\u0063").replace(b"5", b"%35"),
    }


@pytest.mark.parametrize("spelling", list(echoes()))
def test_a_key_is_found_and_taken_out_in_every_spelling(spelling: str) -> None:
    secrets, data = Secrets([KEY]), b'{"text": "before ' + echoes()[spelling] + b' after"}'
    assert secrets.found_in(data)
    clean = secrets.clean(data)
    assert b"[secret]" in clean
    assert not secrets.found_in(clean)
    assert clean.startswith(b'{"text": "before ')
    assert clean.rstrip(b"\0").endswith(b' after"}')


def test_backslashes_after_a_key_are_read_in_one_pass() -> None:
    """Not timed, but it would be felt: ten minutes."""
    behind = b"\\" * 300_000 + b"x"
    assert Secrets([KEY]).clean(KEY.encode() + behind + b"\\" * 3 + KEY.encode()) == b"[secret]" + behind + b"[secret]"


KEYS = ['with"quotes"and\\back\\slash', "with/slashes/in/it", "with%41percent+plus", "a b c d e f g h i"]


@pytest.mark.parametrize("key", KEYS)
def test_keys_with_characters_that_are_escaped_are_taken_out_too(key: str) -> None:
    secrets = Secrets([key])
    for data in (
        json.dumps({"a": key}),
        json.dumps({"a": json.dumps({"b": key})}),
        json.dumps({"a": key}).replace("/", "\\/"),
        json.dumps({"a": quote(key, safe="").lower()}),
        html.escape(key),
    ):
        assert secrets.found_in(data.encode()), data
        assert not secrets.found_in(secrets.clean(data.encode())), data


def test_text_without_the_key_is_not_touched() -> None:
    text = json.dumps({"a": '100 % \\ & \u00e9 &amp; %20 \\u0041 "quoted"'}).encode()
    assert Secrets([KEY]).clean(text) is text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_an_answer_in_another_unicode_encoding_is_stored_in_utf_8_without_the_key(encoding: str, root: Path) -> None:
    calls = plan(items=("a",), repeats=1)
    body = json.dumps({"text": f"é {KEY}"}, ensure_ascii=False)
    library = stored(root, calls, RawResponse(200, JSON, body.encode(encoding)))
    assert json.loads(library.response(calls[0]).body) == {"text": "é [secret]"}


def test_log_records_of_a_client_that_debugs_carry_no_key(caplog: pytest.LogCaptureFixture) -> None:
    with clean_logging(Secrets([KEY])), caplog.at_level(logging.DEBUG):
        logging.getLogger("httpcore2.http11").debug("received %r", [(b"x-echo", KEY.encode())])
        logging.getLogger("other").debug("nothing %s", "special")
    assert [record.getMessage() for record in caplog.records] == [
        "received [(b'x-echo', b'[secret]')]",
        "nothing special",
    ]


@pytest.mark.parametrize("value", [KEY, "sk-proj-0123456789abcdefghijklmnop"])
def test_a_key_among_the_parameters_is_refused_before_anything_is_asked(value: str, root: Path) -> None:
    calls = plan(items=("a",))
    library = Library(root, "small", mode="missing", secrets=[KEY])
    with pytest.raises(RecuseError, match="holds what looks like an API key") as told:
        library.expect(calls, headers(calls, parameters={"api": value}))
    assert value not in str(told.value)


def test_a_key_in_a_prompt_is_refused_before_anything_is_asked(root: Path) -> None:
    calls = plan(items=("a",), prompt="My key is sk-proj-0123456789abcdefghijklmnop, judge this: ")
    library = Library(root, "small", mode="missing")
    with pytest.raises(RecuseError, match="the prompt for item a holds what looks like an API key") as told:
        library.expect(calls, headers(calls))
    assert "sk-proj" not in str(told.value)


# --------------------------------------------------------------------------- files that are something else


def test_a_cassette_that_is_a_link_is_neither_read_nor_written(root: Path, tmp_path: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=1)
    path, elsewhere = root / f"{calls[0].cell}.jsonl", tmp_path / "elsewhere.jsonl"
    path.parent.mkdir(parents=True)
    path.symlink_to(elsewhere)  # dangling: writing would make a file outside
    library = opened(root, calls)
    assert any("a symbolic link" in fault for fault in library.coverage().damaged)
    with pytest.raises(CassetteError, match="a symbolic link"):
        library.replay(calls)
    with pytest.raises((StorageError, CassetteError)):
        recording(opened(root, calls, mode="missing"), calls)
    assert not elsewhere.exists()
    assert server.requests == 0


def test_a_pipe_in_place_of_a_cassette_does_not_hang_replay(root: Path) -> None:
    calls = plan(items=("a",))
    path = root / f"{calls[0].cell}.jsonl"
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    with pytest.raises(CassetteError, match="not a plain file"):
        opened(root, calls).replay(calls)


def test_panels_that_differ_only_in_case_are_refused(root: Path) -> None:
    recorded(root, plan(items=("a",)))
    with pytest.raises(RecuseError, match="the panels 'Small' and 'small' differ only in case"):
        Library(root, "Small")


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.EROFS, "The file system is read-only"),
        (errno.EACCES, "Give yourself permission"),
        (errno.ENOSPC, "Free some space"),
        (errno.EMFILE, "Raise `ulimit -n`, or lower `concurrency` in the panel file"),
        (errno.ENFILE, "Raise `ulimit -n`, or lower `concurrency` in the panel file"),
        (errno.EFBIG, "Raise `ulimit -f`"),
    ],
)
def test_a_folder_that_cannot_be_written_is_told_with_the_right_remedy(
    code: int, remedy: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(StorageError, match=f"nothing was asked. {remedy}"):
        Writer(root)


# --------------------------------------------------------------------------- answers find a place


def test_no_answer_needs_a_file_that_is_not_there_yet(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inodes run out while answers are on their way: every cell has its file already, so all of them are stored."""
    calls = plan(items=("a", "b", "c"), repeats=1)
    library = opened(root, calls, mode="missing")
    real = os.open

    def no_new_file(path: object, flags: int, *mode: int, **more: object) -> int:
        if flags & os.O_CREAT and not os.path.exists(path):  # type: ignore[arg-type]
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, flags, *mode, **more)  # type: ignore[arg-type]

    with library.use():
        monkeypatch.setattr(os, "open", no_new_file)
        for call in calls:
            answer = RawResponse(200, JSON, answer_for(call))
            library.store(call.request, call_headers(call), answer)
        monkeypatch.undo()
    assert opened(root, calls).coverage().complete


def test_no_file_can_be_opened_and_yet_every_answer_is_stored(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many descriptors as allowed are in use, most of them by connections: the writer gives up its own."""
    calls = plan(items=("a", "b", "c", "d"), repeats=2)
    library, real = opened(root, calls, mode="missing"), os.open
    with library.use():
        held = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else pytest.skip("needs /proc")

        def limited(path: object, flags: int, *mode: int, **more: object) -> int:
            if len(os.listdir("/proc/self/fd")) >= held:  # listing takes one
                raise OSError(errno.EMFILE, "Too many open files")
            return real(path, flags, *mode, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", limited)
        for call in calls:
            answer = RawResponse(200, JSON, answer_for(call))
            library.store(call.request, call_headers(call), answer)
        monkeypatch.undo()
        assert "no more files could be opened (raise `ulimit -n`" in library.trouble  # and the recorder stops asking
    assert opened(root, calls).coverage().complete


def test_no_cassette_is_opened_for_reading_while_answers_are_on_their_way(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeds make every repeat a request of its own, stored in relation to the cell's first: known from memory, also
    where that first one was recorded before."""
    before = plan(items=("a",), repeats=1, distinct=True)
    recorded(root, before)
    calls = plan(items=("a", "b", "c"), repeats=3, distinct=True)
    library, real = opened(root, calls, mode="missing"), os.open

    def no_reading(path: object, flags: int, *mode: int, **more: object) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) == 0:
            raise OSError(errno.EMFILE, "Too many open files")
        return real(path, flags, *mode, **more)  # type: ignore[arg-type]

    with library.use():
        monkeypatch.setattr(os, "open", no_reading)
        for call in calls[1:]:
            answer = RawResponse(200, JSON, answer_for(call))
            library.store(call.request, call_headers(call), answer)
        monkeypatch.undo()
    assert opened(root, calls).coverage().complete
    assert b'"like":"' in (root / f"{calls[-1].cell}.jsonl").read_bytes()


@pytest.mark.slow("large files")
def test_four_judges_of_64_seeded_calls_under_256_descriptors_lose_no_paid_answer(server: Server, root: Path) -> None:
    """macOS allows 256. What the server handed over is stored, and nothing of it is asked for again."""
    pytest.importorskip("resource")
    server.delay = 0.05
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from small_plans import opened, plan, recording\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))\n"
        "root, url = Path(sys.argv[1]), sys.argv[2]\n"
        "items = [f'i{n}' for n in range(16)]\n"
        "calls = [c for j in 'abcd' for c in plan(url, judge=f'judge-{j}', items=items, repeats=4, distinct=True)]\n"
        "report = recording(opened(root, calls, mode='missing'), calls, concurrency=64)\n"
        "print(report.stored, report.text())\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(root), server.url], capture_output=True, text=True)
    assert done.stderr == ""
    stored = int(done.stdout.split()[0])
    assert 0 < stored == server.requests, done.stdout


def test_a_real_limit_on_open_files_is_told_with_the_command_that_raises_it(root: Path) -> None:
    """A process of its own under `ulimit -n`: every descriptor is in use before the recording begins."""
    resource = pytest.importorskip("resource")
    script = (
        "import os, resource, sys\n"
        "from pathlib import Path\n"
        "from recuse.cassettes.plain_file import StorageError, Writer\n"
        "held = []\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "try:\n"
        "    while True: held.append(os.open(os.devnull, os.O_RDONLY))\n"
        "except OSError: pass\n"
        "try: Writer(Path(sys.argv[1]))\n"
        "except StorageError as error: print(error)\n"
    )
    assert resource.RLIMIT_NOFILE is not None
    done = subprocess.run([sys.executable, "-c", script, str(root)], capture_output=True, text=True, check=False)
    assert "nothing was asked. Raise `ulimit -n`, or lower `concurrency` in the panel file, then retry" in done.stdout
    assert done.stderr == ""


def test_a_recording_that_begins_and_gets_no_answer_leaves_no_file(root: Path) -> None:
    with opened(root, plan(items=("a", "b")), mode="missing").use():
        assert len(files(root)) == 3  # two cells and the ballast
    assert files(root) == {}


# --------------------------------------------------------------------------- recording anew


def test_recording_anew_that_is_stopped_asks_nothing_twice(root: Path, server: Server) -> None:
    """Cells that were complete when it stopped are not asked again either."""
    calls = plan(server.url, items=("a", "b", "c"), repeats=2)
    recording(opened(root, calls, mode="missing"), calls)
    server.hits.clear()
    first = [call for call in calls if call.item != "c"]
    recording(opened(root, calls, mode="all"), first)
    recording(opened(root, calls, mode="all"), calls)
    assert set(server.hits.values()) == {1}
    assert not [name for name in files(root) if name.endswith(".new")]


def test_what_was_recorded_anew_for_another_prompt_is_not_completed(root: Path, server: Server) -> None:
    old = plan(server.url, items=("a",), repeats=4)
    library = Library(root, "small", mode="all")
    library.expect(old, headers(old, prompt="one"))
    run(library, old[:2])
    assert [name for name in files(root) if name.endswith(".new")]
    new = plan(server.url, items=("a",), repeats=4, prompt="Another prompt: ")
    library = Library(root, "small", mode="all")
    library.expect(new, headers(new, prompt="two"))
    run(library, new)
    (data,) = (data for name, data in files(root).items() if name.endswith(".jsonl"))
    assert data.count(b'"kind":"answer"') == 4
    assert b"Another prompt" in data
    assert b"Judge this text" not in data


def test_what_was_recorded_anew_for_another_item_stays_out(root: Path, server: Server) -> None:
    """The prompt's template is the same, the item's text is another: the cell's fingerprint does not tell."""
    old, new = (plan(server.url, items=("a",), repeats=3, prompt=text) for text in ("Old item: ", "New item: "))
    library = opened(root, old, mode="all")
    run(library, old[:2])
    library = opened(root, new, mode="all")
    run(library, new)
    (data,) = (data for name, data in files(root).items() if name.endswith(".jsonl"))
    assert (data.count(b'"kind":"answer"'), data.count(b"Old item"), data.count(b"New item")) == (3, 0, 1)


def run(library: Library, calls: list[Call]) -> None:
    import httpx2
    from small_plans import post, record

    async def send(call: Call) -> RawResponse:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
            response = await post(client, call)
            return RawResponse(response.status_code, {}, response.content)

    with library.use():
        asyncio.run(record(calls, send, library))


# --------------------------------------------------------------------------- the same file whatever happened


def test_cells_finished_before_a_kill_get_the_order_of_the_plan(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill leaves the order in which answers arrived; the next recording puts it right, although it asks nothing."""
    calls = plan(items=("a",), repeats=4)
    recorded(root, calls)
    wanted = files(root)
    other = root.parent / "other"
    with monkeypatch.context() as killed:
        killed.setattr(Storage, "settle", lambda *_, **__: None)
        recorded(other, calls[::-1])
    assert files(other) != wanted
    with opened(other, calls, mode="missing").use():
        pass
    assert files(other) == wanted


@pytest.mark.parametrize("damage", ["doubled header", "the file twice", "header in the middle"])
def test_a_header_out_of_place_costs_no_answer(damage: str, root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=3)
    recorded(root, calls)
    path = root / f"{calls[0].cell}.jsonl"
    wanted = path.read_bytes()
    header, rest = wanted.split(b"\n", 1)
    path.write_bytes(
        {
            "doubled header": header + b"\n" + header + b"\n" + rest,
            "the file twice": wanted + wanted,
            "header in the middle": rest + header + b"\n",
        }[damage]
    )
    report = recording(opened(root, calls, mode="missing"), calls)
    assert (report.planned, server.requests) == (0, 0)
    assert path.read_bytes() == wanted


def test_what_another_cell_s_header_precedes_is_not_taken_for_this_cell_s(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a", "b"), repeats=2)
    recorded(root, calls)
    a, b = (root / f"{calls[n].cell}.jsonl" for n in (0, 2))
    wanted = a.read_bytes()
    a.write_bytes(wanted + b.read_bytes())
    recording(opened(root, calls[:2], mode="missing"), calls[:2])
    assert a.read_bytes() == wanted
    assert server.requests == 0


# --------------------------------------------------------------------------- terminals


def test_a_message_about_a_miss_moves_no_cursor(root: Path) -> None:
    recorded(root, plan(items=("a",), prompt="Judge \x1b]0;title\x07 this, please, it is a long text:\n" * 3))
    library = opened(root, plan(items=("a",), prompt="Judge \u202ethis\x9b, please, it is another long text:\n" * 3))
    with pytest.raises(RecuseError) as told:
        library.replay(plan(items=("a",), prompt="Judge \u202ethis\x9b, please, it is another long text:\n" * 3))
    for text in (str(told.value), library.coverage().text()):
        assert not [c for c in text if c in "\x1b\x07\x9b\u202e"]
    assert "⟦U+202E⟧" in str(told.value)


def test_a_request_in_no_plan_is_told_without_control_characters(root: Path) -> None:
    library = opened(root, plan(items=("a",)))
    with pytest.raises(RecuseError) as told:
        library.find(Request("http://judges.invalid/v1/\x1b[2J", b"{}"), {"x-recuse-repeat": "0"})
    assert "\x1b" not in str(told.value)


# --------------------------------------------------------------------------- what is no file of its own


def test_a_pipe_in_the_place_of_a_cassette_blocks_nothing(root: Path) -> None:
    calls = plan(items=("a",), repeats=1)
    path = root / f"{calls[0].cell}.jsonl"
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    with pytest.raises(RecuseError, match=r"no plain file or folder is in the way: remove it|not a plain file"):
        recording(opened(root, calls, mode="missing"), calls)
    assert any("not a plain file" in fault for fault in check_cassettes(root).faults)


def test_a_link_in_the_place_of_a_temporary_file_is_not_written_through(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "somebody's.txt"
    elsewhere.write_text("mine")
    path = root / "a.jsonl"
    root.mkdir()
    (root / "a.jsonl.tmp").symlink_to(elsewhere)
    replace_file(path, b"new")
    assert (elsewhere.read_text(), path.read_bytes(), path.is_symlink()) == ("mine", b"new", False)


# --------------------------------------------------------------------------- who answered


@pytest.mark.parametrize(("answered", "faults"), [("m-1-2025-01-01", 0), ("expensive-9", 1)])
def test_another_model_than_the_one_that_was_asked_is_a_fault(root: Path, answered: str, faults: int) -> None:
    calls = plan(items=("a",), repeats=2)
    body = json.dumps({"model": answered, "choices": [{}]}).encode()
    recorded(root, calls, dict.fromkeys((("a", 0), ("a", 1)), body))
    found = [fault for fault in check_cassettes(root).faults if "answers are by" in fault]
    assert len(found) == faults
    assert all("2 answers are by expensive-9, and the model that was asked is m-1" in fault for fault in found)
