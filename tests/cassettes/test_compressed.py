"""A compressed cassette is read as its plain form is, is unpacked before it is recorded into, and can be put back."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from small_plans import answer_for, bomb, files, opened, plan, recorded

from recuse.cassettes import cell_file
from recuse.cassettes.__main__ import check_cassettes, main
from recuse.cassettes.cell_cassette import MissingInteractionError
from recuse.cassettes.cell_file import contents, make_packed, make_plain, packed, stored_path, unpacked
from recuse.cassettes.matching import call_headers
from recuse.cassettes.plain_file import CassetteError, StorageError, locked
from recuse.schema import Call, RawResponse

CALLS = plan("https://api.example/v1", items=("a", "b"), repeats=3)
CELL = CALLS[0].cell


@pytest.fixture
def plain(root: Path) -> Path:
    """The plain form of cell a, with two of its three answers; cell b is complete."""
    recorded(root, [CALLS[0], CALLS[2], *CALLS[3:]])
    return root / f"{CELL}.jsonl"


def answers(root: Path, calls: list[Call]) -> list[RawResponse]:
    library = opened(root, calls)
    assert library.coverage().complete
    streamed = [response for _, response in library.replay(calls)]
    assert [library.response(call) for call in calls] == streamed  # line by line, and in one go
    return streamed


def record_the_rest(root: Path, more: list[Call] = CALLS) -> None:
    library = opened(root, more, mode="missing")
    with library.use():
        for call in library.coverage().missing:
            request, response = call.request, RawResponse(200, {"content-type": "application/json"}, answer_for(call))
            library.store(request, call_headers(call), response)


# --------------------------------------------------------------------------- the form


def test_unpacking_gives_the_same_bytes(tmp_path: Path) -> None:
    data = os.urandom(100_000) + b"\n" * 100_000
    assert unpacked(packed(data), tmp_path / "x.jsonl.gz") == gzip.decompress(packed(data)) == data


def test_the_form_says_neither_name_nor_time_nor_system() -> None:
    assert packed(b"x")[:10] == bytes.fromhex("1f8b08000000000002ff")
    assert packed(b"x") == packed(b"x")


def test_replay_gives_the_same_answers_from_either_form(plain: Path, root: Path) -> None:
    calls = [CALLS[0], CALLS[2], *CALLS[3:]]
    before = answers(root, calls)
    make_packed(plain)
    assert sorted(p.name for p in plain.parent.iterdir())[0] == f"{plain.name}.gz"
    assert not plain.exists()
    assert answers(root, calls) == before
    assert len(before) == 5


def test_what_a_miss_says_names_the_compressed_file(plain: Path, root: Path) -> None:
    make_packed(plain)
    with pytest.raises(MissingInteractionError, match=r"a\.jsonl\.gz \(2 answers\)\n.*the same request is recorded"):
        opened(root, CALLS).response(CALLS[1])


def test_what_was_unpacked_last_is_not_unpacked_again(plain: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once to be indexed, replayed and read line by line; what is held is bounded."""
    a, b = (make_packed(root / f"{CALLS[n].cell}.jsonl") for n in (0, 3))
    read, real = [], cell_file.unpacked
    monkeypatch.setattr(cell_file, "unpacked", lambda raw, path: (read.append(path), real(raw, path))[1])
    assert len(answers(root, [CALLS[0], CALLS[2], *CALLS[3:]])) == 5
    assert read == [a, b]
    monkeypatch.setattr(cell_file, "HELD", len(contents(a)[0]) + len(contents(b)[0]) - 1)  # room for one of them
    monkeypatch.setattr(cell_file, "_held", {})
    monkeypatch.setattr(cell_file, "_held_bytes", 0)
    for path in (a, b, b, a, a, b):
        contents(path)
    assert read[2:] == [a, b, a, b]


# --------------------------------------------------------------------------- recording


def test_recording_unpacks_and_appends(plain: Path, root: Path) -> None:
    before = plain.read_bytes()
    make_packed(plain)
    other = make_packed(root / f"{CALLS[3].cell}.jsonl")
    untouched = other.read_bytes()
    library = opened(root, CALLS, mode="missing")
    with library.use():
        assert plain.read_bytes() == before
        assert not Path(f"{plain}.gz").exists()
        request, response = CALLS[1].request, RawResponse(200, {}, answer_for(CALLS[1]))
        library.store(request, call_headers(CALLS[1]), response)
        assert plain.read_bytes().startswith(before)
        assert len(plain.read_bytes()) > len(before)
    assert other.read_bytes() == untouched  # nothing was missing there
    assert [a.body for a in answers(root, CALLS)] == [answer_for(call) for call in CALLS]
    assert check_cassettes(root).faults == []


def test_a_recording_from_the_compressed_form_ends_as_one_from_the_plain_form(plain: Path, root: Path) -> None:
    before = plain.read_bytes()
    record_the_rest(root)
    after = plain.read_bytes()
    plain.write_bytes(before)
    make_packed(plain)
    record_the_rest(root)
    assert plain.read_bytes() == after != before


def test_recording_anew_keeps_the_form_and_the_old_file(plain: Path, root: Path) -> None:
    old = make_packed(plain).read_bytes()
    library = opened(root, CALLS, mode="all")
    with library.use():
        for call in CALLS:
            request, response = call.request, RawResponse(200, {}, b'{"new": true}')
            library.store(request, call_headers(call), response)
    assert {p.name for p in plain.parent.iterdir()} == {f"{plain.name}.gz", plain.name.replace("~a.", "~b.")}
    assert (root / ".superseded" / f"{CELL}.jsonl.gz").read_bytes() == old
    assert {a.body for a in answers(root, CALLS)} == {b'{"new": true}'}


def test_a_disk_that_is_full_while_unpacking_loses_nothing(
    plain: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_packed(plain)
    before = files(root)

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    library = opened(root, CALLS, mode="missing")
    with monkeypatch.context() as full:
        full.setattr("os.replace", no_space)
        with pytest.raises(StorageError, match=r"a\.jsonl: could not be rewritten"), library.use():
            pass
    assert files(root) == before
    record_the_rest(root)
    assert opened(root, CALLS).coverage().complete


def by_recording(plain: Path, root: Path) -> Path:
    with opened(root, CALLS, mode="missing").use():
        return plain


def by_compacting(plain: Path, root: Path) -> Path:
    assert main(["compact", "--gzip", str(plain)]) == 0
    return Path(f"{plain}.gz")


@pytest.mark.parametrize("goes_on", [by_recording, by_compacting])
@pytest.mark.parametrize("killed_at", ["replace_file", "remove_file"])
@pytest.mark.parametrize("change", [make_plain, make_packed])
def test_a_change_of_form_that_is_killed_loses_nothing_and_goes_on_by_itself(
    change: Callable[[Path], Path],
    killed_at: str,
    goes_on: Callable[[Path, Path], Path],
    plain: Path,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed before the new form is there, and before the old one is gone."""
    data, calls = plain.read_bytes(), [CALLS[0], CALLS[2], *CALLS[3:]]
    old, new = plain, Path(f"{plain}.gz")
    if change is make_plain:
        old, new = make_packed(plain), plain

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as at:
        at.setattr(cell_file, killed_at, killed)
        with pytest.raises(KeyboardInterrupt):
            change(plain)
    assert old.exists()
    assert new.exists() is (killed_at == "remove_file")
    assert stored_path(plain) == (plain if plain.exists() else old)
    assert [a.body for a in answers(root, calls)] == [answer_for(call) for call in calls]
    left = goes_on(plain, root)
    assert [path for path in (plain, Path(f"{plain}.gz")) if path.exists()] == [left]
    assert contents(left)[0] == data


def test_what_an_interrupted_unpacking_left_is_taken_away_though_nothing_is_missing(plain: Path, root: Path) -> None:
    Path(f"{plain}.gz").write_bytes(packed(plain.read_bytes()))
    record_the_rest(root, [CALLS[2], CALLS[0]])  # in another order: the plain file will be rewritten
    assert not Path(f"{plain}.gz").exists()
    assert answers(root, [CALLS[0], CALLS[2]])


# --------------------------------------------------------------------------- both, and damage


@pytest.mark.parametrize("mode", ["replay", "missing", "all"])
def test_two_forms_that_differ_are_an_error_that_names_both(plain: Path, root: Path, mode: str) -> None:
    Path(f"{plain}.gz").write_bytes(packed(plain.read_bytes()[:-9] + b"x"))
    before = files(root)
    with pytest.raises(CassetteError, match=r"~a\.jsonl and .*~a\.jsonl\.gz are both there.*Compare them.*delete one"):
        opened(root, CALLS, mode=mode)
    assert files(root) == before


def test_a_form_that_appears_while_a_recording_begins_is_seen(plain: Path, root: Path) -> None:
    sound = plain.read_bytes()
    plain.unlink()
    library = opened(root, CALLS, mode="missing")
    Path(f"{plain}.gz").write_bytes(packed(sound))
    with library.use():
        assert plain.read_bytes() == sound


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


DAMAGE = {
    "cut": (cut, "it is cut off"),
    "empty": (lambda data: b"", "damaged"),
    "plain text": (lambda data: gzip.decompress(data), "incorrect header check"),
    "flipped": (lambda data: data[:200] + bytes([data[200] ^ 255]) + data[201:], "damaged"),
    "checksum": (lambda data: data[:-8] + b"abcd" + data[-4:], "incorrect data check"),
    "length": (lambda data: data[:-4] + b"\1\0\0\0", "damaged"),
    "joined": (lambda data: data + data, "more follows its end"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_named_and_not_served(name: str, plain: Path, root: Path) -> None:
    damage, why = DAMAGE[name]
    path = make_packed(plain)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CassetteError, match=why):
        contents(path)
    library = opened(root, CALLS)
    assert any("a.jsonl.gz" in fault and why in fault for fault in library.coverage().damaged)
    with pytest.raises(
        CassetteError, match=r"a\.jsonl\.gz: the compressed cassette is damaged .*\n.*restore .*a\.jsonl\.gz"
    ):
        library.replay(CALLS[3:] + CALLS[:1])
    assert any(why in fault for fault in check_cassettes(root).faults)


@pytest.mark.parametrize("name", DAMAGE)
def test_recording_keeps_what_can_be_read_of_a_damaged_file(name: str, plain: Path, root: Path) -> None:
    path = make_packed(plain)
    damaged = DAMAGE[name][0](path.read_bytes())
    path.write_bytes(damaged)
    record_the_rest(root)
    assert Path(f"{path}.damaged").read_bytes() == damaged
    assert not path.exists()
    assert [a.body for a in answers(root, CALLS)] == [answer_for(call) for call in CALLS]


def test_no_part_of_a_damaged_file_is_asked_for_again_that_can_be_read(root: Path) -> None:
    calls = plan("https://api.example/v1", items=("a",), repeats=300)
    recorded(root, calls)
    path = make_packed(root / f"{calls[0].cell}.jsonl")
    path.write_bytes(path.read_bytes()[:-1000])
    library = opened(root, calls, mode="missing")
    with library.use():
        assert 0 < len(library.coverage().missing) < 150


@pytest.mark.slow("large files")
def test_a_file_that_unpacks_to_gigabytes_is_refused_within_bounds(plain: Path, root: Path) -> None:
    packed = bomb(b"\0")
    path = plain.with_name(f"{plain.name}.gz")
    path.write_bytes(packed)
    plain.unlink()
    tracemalloc.start()
    try:
        with pytest.raises(CassetteError, match="unpacks to more than 64 MB"):
            contents(path)
        for mode in ("replay", "missing"):
            assert any("64 MB" in fault for fault in opened(root, CALLS, mode=mode).coverage().damaged)
        assert any("64 MB" in fault for fault in check_cassettes(root).faults)
        assert tracemalloc.get_traced_memory()[1] < 3 * cell_file.LARGEST
    finally:
        tracemalloc.stop()
    with pytest.raises(CassetteError, match="64 MB"), opened(root, CALLS, mode="missing").use():
        pass
    assert path.read_bytes() == packed


def test_a_length_that_is_a_lie_makes_no_room(tmp_path: Path) -> None:
    lie = packed(bytes(50_000_000))[:-4] + (1000).to_bytes(4, "little")
    tracemalloc.start()
    try:
        with pytest.raises(CassetteError, match="damaged"):
            unpacked(lie, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_link_to_a_compressed_file_is_not_followed(plain: Path, root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.gz"
    elsewhere.write_bytes(packed(plain.read_bytes()))
    plain.unlink()
    Path(f"{plain}.gz").symlink_to(elsewhere)
    with pytest.raises(CassetteError, match="a symbolic link"):
        opened(root, CALLS).replay(CALLS)
    with pytest.raises(CassetteError, match="a symbolic link"), opened(root, CALLS, mode="missing").use():
        pass
    assert any("a symbolic link" in fault for fault in check_cassettes(root).faults)


def test_a_file_whose_form_is_changed_while_it_is_replayed_is_not_mistaken(plain: Path, root: Path) -> None:
    make_packed(plain)
    library = opened(root, CALLS)
    make_plain(plain)
    with pytest.raises(CassetteError, match="changed by another program"):
        list(library.replay([CALLS[0]]))
    with pytest.raises(CassetteError, match="changed by another program"):
        library.response(CALLS[0])


# --------------------------------------------------------------------------- compact and check


def test_compacting_twice_gives_the_same_file(plain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = plain.read_bytes()
    assert main(["compact", "--gzip", str(plain)]) == 0
    assert "a.jsonl.gz: 2 answers, " in capsys.readouterr().out
    once = Path(f"{plain}.gz").read_bytes()
    assert not plain.exists()
    assert main(["compact", "--gzip", str(plain)]) == 0  # by either name
    assert main(["compact", "--gzip", f"{plain}.gz"]) == 0
    assert main(["compact", f"{plain}.gz"]) == 0  # without --gzip it keeps its form
    assert capsys.readouterr().out.count("already in order, 2 answers") == 3
    assert Path(f"{plain}.gz").read_bytes() == once
    assert make_plain(plain).read_bytes() == data
    assert main(["compact", str(plain)]) == 0
    assert plain.exists()
    assert not Path(f"{plain}.gz").exists()


def test_compacting_puts_a_compressed_file_in_order(plain: Path) -> None:
    header, request, *rest = plain.read_bytes().splitlines(keepends=True)
    sound = plain.read_bytes()
    plain.write_bytes(b"".join([header, request, *reversed(rest)]))
    make_packed(plain)
    assert main(["compact", f"{plain}.gz"]) == 0
    assert contents(Path(f"{plain}.gz"))[0] == sound
    assert not plain.exists()


def test_compacting_a_damaged_file_leaves_it_alone_unless_told(plain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = plain.read_bytes()
    path = make_packed(plain)
    path.write_bytes(damaged := path.read_bytes()[:-8])  # all of it, but not what it is verified with
    assert main(["compact", str(path)]) == 1
    assert "a.jsonl.gz: the compressed cassette is damaged" in capsys.readouterr().err
    assert path.read_bytes() == damaged
    assert main(["compact", "--drop-damaged", str(path)]) == 0
    assert Path(f"{path}.damaged").read_bytes() == damaged
    assert contents(path)[0] == data


def test_nothing_is_compacted_while_a_recording_is_under_way(
    plain: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(root)
    with locked(root / "small"):
        assert main(["compact", "--gzip", str(plain)]) == 1
    assert "another process is recording" in capsys.readouterr().err
    assert files(root) == before


@pytest.mark.parametrize(
    ("name", "message"), [("notes.txt", "only cassettes are compressed"), ("none.jsonl", "there is no such cassette")]
)
def test_what_cannot_be_compressed_is_said(
    name: str, message: str, plain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compact", "--gzip", str(plain.with_name(name))]) == 1
    assert message in capsys.readouterr().err


def test_check_reads_compressed_ones_in_full_and_counts_what_is_stored(
    plain: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_packed(plain)
    assert main(["check", str(root)]) == 0
    assert "small: 2 cassettes (1 compressed), 5 answers, 0.00 MB" in capsys.readouterr().out
    stored = sum(map(len, files(root).values()))
    assert check_cassettes(root).panels["small"]["bytes"] == stored < len(contents(Path(f"{plain}.gz"))[0]) * 2


FAULTS = {
    "key": (lambda data: packed(gzip.decompress(data) + b"sk-proj-" + b"A1b2" * 8), "looks like an OpenAI"),
    "line": (
        lambda data: packed(gzip.decompress(data).replace(b'"run": 2', b'"run": 7')),
        "does not match its checksum",
    ),
    "torn": (lambda data: packed(gzip.decompress(data)[:-9]), "the last line is unfinished"),
    "name": (lambda data: data[:3] + b"\x08" + data[4:10] + b"me.jsonl\0" + data[10:], "packed by another program"),
    "time": (lambda data: data[:4] + b"\1" + data[5:], "packed by another program"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_check_finds_faults_inside(name: str, plain: Path, root: Path) -> None:
    spoil, message = FAULTS[name]
    path = make_packed(plain)
    path.write_bytes(spoil(path.read_bytes()))
    assert any(message in fault and "a.jsonl.gz" in fault for fault in check_cassettes(root).faults)


def test_a_name_in_the_header_goes_when_compacted(plain: Path, root: Path) -> None:
    path = make_packed(plain)
    sound = path.read_bytes()
    path.write_bytes(FAULTS["name"][0](sound))
    assert main(["compact", str(path)]) == 0
    assert path.read_bytes() == sound


def test_check_names_two_forms_of_one_cell(plain: Path, root: Path) -> None:
    packed_form = Path(f"{plain}.gz")
    packed_form.write_bytes(packed(plain.read_bytes()))
    [fault] = check_cassettes(root).faults
    assert "left over from an interrupted change of form" in fault
    packed_form.write_bytes(packed(b"other"))
    assert any("both there" in fault and "delete one" in fault for fault in check_cassettes(root).faults)


def test_another_program_unpacks_it(plain: Path) -> None:
    data = plain.read_bytes()
    path = make_packed(plain)
    done = subprocess.run([sys.executable, "-m", "gzip", "-d", str(path)], check=False)
    assert (done.returncode, plain.read_bytes()) == (0, data)
