"""Stored replies: which line answers a call, and what is wrong with a file that cannot."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from recuse.schema import Call, Request
from recuse.standins import StandInError, TableSource


def call(item: str = "a", repeat: int = 0, condition: str = "attributed", judge: str = "j") -> Call:
    factors = (("condition", condition),)
    return Call(
        "t", "rubric", judge, item, "x", factors, repeat, Request("http://j.invalid/v1", b'{"n":1}'), "key", "cell"
    )


def stored(tmp_path: Path, *rows: dict[str, Any], packed: bool = False) -> TableSource:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    folder = tmp_path / "t"
    folder.mkdir()
    if packed:
        (folder / "rubric.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (folder / "rubric.jsonl").write_text(text, encoding="utf-8")
    return TableSource(tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_the_line_that_says_most_wins(tmp_path: Path, packed: bool) -> None:
    source = stored(
        tmp_path,
        {"judge": "j", "text": "anything"},
        {"judge": "j", "item": "a", "text": "any run of a"},
        {
            "judge": "j",
            "item": "a",
            "factors": {"condition": "attributed"},
            "repeat": 2,
            "text": "run 2 of a, attributed",
        },
        packed=packed,
    )
    assert source.reply(call("b"), {}).text == "anything"
    assert source.reply(call("a", 2, "anonymized"), {}).text == "any run of a"
    assert source.reply(call("a", 1), {}).text == "any run of a"
    assert source.reply(call("a", 2), {}).text == "run 2 of a, attributed"


def test_refusals(tmp_path: Path) -> None:
    source = stored(tmp_path, {"judge": "j", "text": "x" * 41, "refusal": True})
    reply = source.reply(call(), {})
    assert reply.refusal is True


def test_no_line_for_the_call(tmp_path: Path) -> None:
    source = stored(tmp_path, {"judge": "j", "item": "a", "repeat": 0, "text": "x"})
    with pytest.raises(StandInError, match=r"no reply of j on item a, target x, condition attributed, repeat 7"):
        source.reply(call("a", 7), {})
    with pytest.raises(StandInError, match="no reply of someone"):
        source.reply(call(judge="someone"), {})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"judge": "j", "text": "x"}\nnot json\n', r"rubric.jsonl:2: not a reply"),
        ('{"judge": "j"}\n', r"rubric.jsonl:1: not a reply \(KeyError 'text'\)"),
        ('["judge"]\n', r"rubric.jsonl:1: not a reply"),
        ('{"judge": "j", "text": "x", "run": 1}\n', r"rubric.jsonl:1: unknown member\(s\) run; known: factors, item"),
        (
            '{"judge": "j", "text": "x"}\n{"judge": "j", "text": "y"}\n',
            r"rubric.jsonl:2: this call was already answered",
        ),
    ],
)
def test_a_damaged_file_names_its_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "rubric.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(StandInError, match=message):
        TableSource(tmp_path).reply(call(), {})


def test_a_file_that_is_not_there_is_called_as_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(StandInError, match=r"rubric.jsonl is not there \(nor a .gz\): it holds a line per reply"):
        TableSource(tmp_path).reply(call(), {})


TORN = bytearray(gzip.compress(b'{"judge":"a","text":"b"}\n' * 1000))
TORN[15] ^= 0xFF
TORN[18] ^= 0xFF


@pytest.mark.parametrize("content", [b"\x1f\x8b torn", b"plain", bytes(TORN)])
def test_an_unreadable_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "rubric.jsonl.gz").write_bytes(content)
    with pytest.raises(StandInError, match=r"rubric.jsonl.gz: stored replies cannot be read"):
        TableSource(tmp_path).reply(call(), {})
