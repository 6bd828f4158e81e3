"""Damaged cassettes: every kind is detected and named with its line, none is served."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from small_plans import files, headers, opened, plan, recorded, recording

from recuse.cassettes.cell_cassette import Coverage, MissingInteractionError
from recuse.cassettes.library import Library
from recuse.cassettes.plain_file import CassetteError, CassetteWarning
from recuse.cassettes.record_format import read_index

CALLS = plan(items=("one",), repeats=4)


@pytest.fixture
def path(root: Path) -> Path:
    """A sound cassette: header, one request, four answers."""
    recorded(root, CALLS)
    return root / f"{CALLS[0].cell}.jsonl"


def flip(data: bytes, position: int, bit: int) -> bytes:
    damaged = bytearray(data)
    damaged[position] ^= 1 << bit
    return bytes(damaged)


def line(data: bytes, number: int) -> bytes:
    return data.splitlines(keepends=True)[number - 1]


Damage = tuple[Callable[[bytes], bytes], str]

DAMAGES: dict[str, Damage] = {
    "a flipped bit in an answer": (lambda d: flip(d, len(d) - 30, 0), r":6: the line does not match its checksum"),
    "a flipped bit in the request": (lambda d: flip(d, len(line(d, 1)) + 200, 3), r":2: the line does not match"),
    "a flipped bit in the header": (lambda d: flip(d, 60, 1), r":1: the line does not match its checksum"),
    "an edited score": (lambda d: d.replace(b'"run": 2', b'"run": 9'), r":5: the line does not match its checksum"),
    "two files joined": (lambda d: d + d, r":7: a second header: two cassettes were joined"),
    "an empty file": (lambda d: b"", r"the file is empty"),
    "windows line endings": (lambda d: d.replace(b"\n", b"\r\n"), r":1: the line ends in CR LF.*\.gitattributes"),
    "bytes that are no utf-8": (lambda d: d.replace(b'"item"', b'"it\xffm"'), r":3: the line is not UTF-8"),
    "a line twice": (lambda d: d + line(d, 6), r":7: .* is answered a second time"),
    "a request twice": (lambda d: d + line(d, 2), r":7: .* is stored a second time"),
    "a lost request": (lambda d: d.replace(line(d, 2), b""), r":2: an answer to request .* not in the file"),
    "a lost header": (lambda d: d.replace(line(d, 1), b""), r":1: the file does not begin with a header"),
    "a blank line": (lambda d: d.replace(b"\n", b"\n\n", 1), r":2: an empty line"),
    "a foreign line": (lambda d: d + b'{"kind":"answer"}\n', r":7: the line bears no checksum"),
    "marks of a merge": (lambda d: d + b"<<<<<<< HEAD\n", r":7: a merge left its marks here: delete the lines of"),
    "another format": (
        lambda d: reseal(d, b'"schema":1', b'"schema":2'),
        r":1: cassette format 2; this .* reads format 1",
    ),
    "an unknown kind": (lambda d: reseal(d, b'"kind":"header"', b'"kind":"footer"'), r":1: a line of unknown kind"),
    "a file of another cell": (lambda d: reseal(d, b"/rubric/", b"/other/"), r":1: recorded as cell small/task/other/"),
}


def reseal(data: bytes, old: bytes, new: bytes) -> bytes:
    """Change the first line and give it a valid checksum again."""

    from recuse.cassettes import record_format

    first = line(data, 1)
    rest = first[26:-1].replace(old, new)
    return record_format._seal(rest) + data[len(first) :]


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named_and_nothing_of_the_file_is_served(name: str, path: Path, root: Path) -> None:
    damage, message = DAMAGES[name]
    path.write_bytes(damage(path.read_bytes()))
    library = Library(root, "small")
    coverage = library.expect(CALLS, headers(CALLS))
    assert not coverage.complete
    assert len(coverage.damaged) >= 1
    assert any(_matches(message, fault) for fault in coverage.damaged), coverage.damaged
    assert all(str(path) in fault for fault in coverage.damaged)
    for call in CALLS:
        with pytest.raises(CassetteError, match="is damaged"):
            library.response(call)


def _matches(pattern: str, text: str) -> bool:
    import re

    return re.search(pattern, text, re.DOTALL) is not None


def test_whichever_bit_flips_no_other_answer_is_ever_served(path: Path, root: Path) -> None:
    sound = path.read_bytes()
    truth = {(c.key, c.repeat): opened(root, CALLS).response(c).body for c in CALLS}
    draw = random.Random(3)
    served = 0
    for _ in range(300):
        path.write_bytes(flip(sound, draw.randrange(len(sound)), draw.randrange(8)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CassetteWarning)
            library = opened(root, CALLS)
        for call in CALLS:
            try:
                assert library.response(call).body == truth[call.key, call.repeat]
                served += 1
            except (CassetteError, MissingInteractionError):
                pass
    assert served < 300 * 4 * 0.2  # only a flip in the last line feed leaves anything to serve


def test_cut_anywhere_a_file_never_serves_a_wrong_answer(path: Path, root: Path) -> None:
    """Cut at every byte: whole lines survive, the torn one is dropped with a warning, the rest is reported missing."""
    sound = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(sound) if byte == 10]
    for length in range(1, len(sound)):
        path.write_bytes(sound[:length])
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            index = read_index(path)
        whole = sum(end <= length for end in ends) + (length + 1 in ends)  # without its line feed a line is still whole
        assert len(index.answers) == max(0, whole - 2)
        torn = length not in ends and length + 1 not in ends
        assert bool(index.torn) is torn
        assert [w.category for w in seen] == ([CassetteWarning] if torn else [])


def test_a_torn_line_is_healed_by_the_next_recording(path: Path, root: Path, server: object) -> None:
    sound = path.read_bytes()
    path.write_bytes(sound[:-25])
    with pytest.warns(CassetteWarning, match="unfinished"):
        library = opened(root, CALLS, mode="missing")
    with library.use():
        from small_plans import answer_for

        from recuse.cassettes.matching import call_headers
        from recuse.schema import RawResponse

        call = CALLS[3]
        answer = RawResponse(200, {"content-type": "application/json"}, answer_for(call))
        library.store(call.request, call_headers(call), answer)
    assert path.read_bytes() == sound


def test_a_missing_last_line_feed_is_put_back(path: Path, root: Path) -> None:
    sound = path.read_bytes()
    path.write_bytes(sound[:-1])
    more = plan(items=("one",), repeats=5)
    recorded(root, more)
    assert path.read_bytes().startswith(sound)
    assert opened(root, more).coverage().present == 5


def test_recording_cuts_damage_out_and_keeps_the_damaged_file(path: Path, root: Path) -> None:
    sound = path.read_bytes()
    damaged = sound.replace(b'"run": 2', b'"run": 9')
    path.write_bytes(damaged)
    recorded(root, CALLS)
    assert path.read_bytes() == sound
    assert path.with_name(path.name + ".damaged").read_bytes() == damaged


def test_recording_undoes_windows_line_endings_without_asking_again(path: Path, root: Path) -> None:
    sound = path.read_bytes()
    path.write_bytes(sound.replace(b"\n", b"\r\n"))
    library = opened(root, CALLS, mode="missing")
    with library.use():
        assert library.coverage().complete
    assert path.read_bytes() == sound


def test_recording_does_not_touch_a_file_that_belongs_to_another_cell(path: Path, root: Path) -> None:
    path.write_bytes(reseal(path.read_bytes(), b"/rubric/", b"/other/"))
    before = files(root)
    with pytest.raises(CassetteError, match="moved or copied"), opened(root, CALLS, mode="missing").use():
        pass
    assert files(root) == before


def test_a_file_changed_while_in_use_is_not_served(path: Path, root: Path) -> None:
    library = opened(root, CALLS)
    path.write_bytes(path.read_bytes().replace(b'"run": 2', b'"run": 9') + b"\n")
    with pytest.raises(CassetteError, match="changed by another program"):
        library.response(CALLS[2])


def test_an_empty_file_is_recorded_into(path: Path, root: Path, server: object) -> None:
    path.write_bytes(b"")
    recorded(root, CALLS)
    assert opened(root, CALLS).coverage().complete


def test_a_mode_all_recording_replaces_a_damaged_file_when_complete(root: Path, server) -> None:  # type: ignore[no-untyped-def]
    calls = plan(server.url, items=("one",), repeats=2)
    recorded(root, calls)
    path = root / f"{calls[0].cell}.jsonl"
    path.write_bytes(path.read_bytes()[:-30] + b"#" * 29 + b"\n")
    assert recording(opened(root, calls, mode="all"), calls).complete
    assert opened(root, calls).coverage().complete


def test_places_that_are_damaged_are_not_counted_as_cassettes():
    found = Coverage(planned=3, damaged=("a.jsonl:2: x", "a.jsonl:3: x"))
    assert found.cause == "cassettes are damaged in 2 places"
