"""`python -m recuse.cassettes check` passes what recording writes and names every fault; `compact` repairs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_plans import files, opened, plan, recorded

from recuse.cassettes.__main__ import check_cassettes, main
from recuse.cassettes.matching import call_headers
from recuse.schema import RawResponse, RecuseError

REPOSITORY = Path(__file__).parents[2]
CALLS = plan("https://api.example/v1", items=("a", "b"), repeats=3)
CELL = CALLS[0].cell


@pytest.fixture
def path(root: Path) -> Path:
    recorded(root, CALLS)
    return root / f"{CELL}.jsonl"


def faults(root: Path) -> list[str]:
    return check_cassettes(root).faults


def test_what_recording_writes_has_no_faults(path: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(root)]) == 0
    out = capsys.readouterr().out
    assert "small: 2 cassettes, 6 answers, 0.00 MB" in out
    assert out.endswith("no faults\n")


@pytest.mark.slow("whole runs")
def test_every_committed_cassette_is_sound() -> None:
    folder = REPOSITORY / "cassettes"
    if not folder.is_dir():
        pytest.skip("this checkout has no cassettes")
    found = [fault for fault in faults(folder) if "left over from an interrupted" not in fault]
    assert found == []


def reheaded(path: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Rewrite the header line with a valid checksum."""
    from recuse.cassettes import record_format

    first, rest = path.read_bytes().split(b"\n", 1)
    header = record_format.read_header(first)
    del header["schema"]
    change(header)
    path.write_bytes(record_format.header_line(header) + rest)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "damaged line": (
        lambda p: p.write_bytes(p.read_bytes().replace(b'"run": 1', b'"run": 7')),
        "does not match its checksum",
    ),
    "torn line": (lambda p: p.write_bytes(p.read_bytes()[:-9]), "the last line is unfinished"),
    "empty file": (lambda p: p.write_bytes(b""), "the file is empty"),
    "copied file": (lambda p: shutil.copy(p, p.with_name("judge-a~target~attributed~c.jsonl")), "moved or copied"),
    "bad name": (lambda p: shutil.copy(p, p.with_name("a b.jsonl")), "cannot be used as a name"),
    "too shallow": (lambda p: shutil.copy(p, p.parent.parent / "x.jsonl"), "not of the form"),
    "only case differs": (
        lambda p: shutil.copy(p, p.with_name(p.name.upper().replace("JSONL", "jsonl"))),
        "differ only in case",
    ),
    "no provenance": (lambda p: reheaded(p, lambda h: h.pop("provenance")), "provenance is None"),
    "no fingerprint": (lambda p: reheaded(p, lambda h: h.pop("fingerprint")), "does not say which model answered"),
    "no model": (lambda p: reheaded(p, lambda h: h["fingerprint"].pop("model")), "does not say which model"),  # type: ignore[attr-defined]
    "no engine": (lambda p: reheaded(p, lambda h: h.pop("engine")), "which engine recorded it"),
    "posing as real": (
        lambda p: reheaded(p, lambda h: h.update(provenance="scripted")),
        "only stand-ins end in .invalid",
    ),
    "left over": (lambda p: p.with_name(p.name + ".new").write_bytes(b"x"), "left over from an interrupted"),
    "foreign file": (lambda p: (p.parent / "notes.txt").write_text("x"), "only cassettes belong here"),
    "link": (lambda p: p.with_name("z.jsonl").symlink_to(p), "a symbolic link"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_file(name: str, path: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil, message = FAULTS[name]
    spoil(path)
    assert main(["check", str(root)]) == 1
    out = capsys.readouterr().out
    assert message in out
    assert str(root) in out or "/" in out


def test_neither_what_keeps_a_folder_in_git_nor_a_batch_under_way_is_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`recuse init` writes it."""
    (tmp_path / ".gitkeep").touch()
    (tmp_path / ".batches").mkdir()
    (tmp_path / ".batches" / "p.json").touch()
    assert main(["check", str(tmp_path)]) == 0
    assert "no faults" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"text": "my key is sk-proj-" + "A1b2" * 8}, "looks like an OpenAI or Anthropic style key"),
        ({"text": "AIza" + "x" * 35}, "looks like a Google API key"),
    ],
)
def test_a_key_that_nobody_declared_is_found(body: dict[str, str], message: str, root: Path) -> None:
    recorded(root, CALLS[:1], {("a", 0): json.dumps(body).encode()})
    assert any(message in fault for fault in faults(root))


def test_an_answer_that_should_not_have_been_stored_is_found(root: Path) -> None:
    from recuse.cassettes import record_format

    recorded(root, CALLS[:1])
    path = root / f"{CELL}.jsonl"
    path.write_bytes(path.read_bytes() + record_format.answer_line(CALLS[0].key, 1, 429, {}, b'{"error":{}}'))
    assert any("repeat 1 is not an answer: HTTP status 429" in fault for fault in faults(root))


def test_a_request_stored_under_a_wrong_key_is_found(root: Path) -> None:
    from recuse.cassettes import record_format

    recorded(root, CALLS[:1])
    path = root / f"{CELL}.jsonl"
    wrong = "0" * 32
    path.write_bytes(
        path.read_bytes() + record_format.request_line(wrong, ("POST", "https://api.example/v1", b'{"q":1}'))
    )
    found = faults(root)
    assert any("has a key that its content does not hash to" in fault for fault in found)
    assert any("has no answer" in fault for fault in found)


def test_cassettes_may_not_grow_without_bound(path: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(root), "--max-mb", "0.0001"]) == 1
    assert "at most 0.0001 MB are allowed" in capsys.readouterr().out


def test_what_was_superseded_is_not_checked(path: Path, root: Path) -> None:
    (root / ".superseded" / "small").mkdir(parents=True)
    (root / ".superseded" / "small" / "old.jsonl").write_text("anything")
    assert faults(root) == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RecuseError, match="no such folder"):
        check_cassettes(tmp_path / "nowhere")
    assert main(["check", str(tmp_path / "nowhere")]) == 1
    assert "no such folder" in capsys.readouterr().err


def test_the_command_runs_as_a_module(path: Path, root: Path) -> None:
    command = [sys.executable, "-m", "recuse.cassettes", "check", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "no faults")


# --------------------------------------------------------------------------- compaction


def unordered(root: Path) -> Path:
    """A recording interrupted before it was settled: answers in the order in which they came."""
    library = opened(root, CALLS[:3], mode="missing")
    with library.use():
        for call in (CALLS[2], CALLS[0]):
            answer = RawResponse(200, {}, json.dumps({"run": call.repeat}).encode())
            library.store(call.request, call_headers(call), answer)
        data = (root / f"{CELL}.jsonl").read_bytes()
    (root / f"{CELL}.jsonl").write_bytes(data)
    return root / f"{CELL}.jsonl"


def test_compacting_puts_runs_in_order_and_changes_no_answer(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unordered(root)
    before = sorted(path.read_bytes().splitlines())
    assert main(["compact", str(path)]) == 0
    assert "2 answers" in capsys.readouterr().out
    runs = [json.loads(line)["run"] for line in path.read_bytes().splitlines()[2:]]
    assert runs == [0, 2]
    assert sorted(path.read_bytes().splitlines()) == before
    assert main(["compact", str(path)]) == 0
    assert "already in order" in capsys.readouterr().out


def test_compacting_cuts_off_an_unfinished_line_and_undoes_windows_line_endings(path: Path, root: Path) -> None:
    sound = path.read_bytes()
    path.write_bytes(sound.replace(b"\n", b"\r\n") + b'{"sum":"unfini')
    assert main(["compact", str(path)]) == 0
    assert path.read_bytes() == sound


def test_compacting_leaves_damage_alone_unless_told(path: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = path.read_bytes()
    damaged = sound.replace(b'"run": 1', b'"run": 7')
    path.write_bytes(damaged)
    assert main(["compact", str(path)]) == 1
    assert "was left alone" in capsys.readouterr().err
    assert path.read_bytes() == damaged
    assert main(["compact", str(path), "--drop-damaged"]) == 0
    assert path.with_name(path.name + ".damaged").read_bytes() == damaged
    assert [c.repeat for c in opened(root, CALLS).coverage().missing] == [1]


def test_a_file_without_a_header_cannot_be_compacted(path: Path) -> None:
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    before = path.read_bytes()
    assert main(["compact", str(path), "--drop-damaged"]) == 1
    assert path.read_bytes() == before


def test_a_rewrite_that_fails_leaves_the_old_file(path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recuse.cassettes.plain_file import StorageError, replace_file

    before = files(root)

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", no_space)
    with pytest.raises(StorageError, match="the file is unchanged"):
        replace_file(path, b"new")
    assert files(root) == before
