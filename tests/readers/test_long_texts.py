"""Long texts of a large file are shortened at reading: nothing that is measured changes, and what is shown is whole."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.check.disagreements import disagreements
from recuse.readers import delimited, raw_table
from recuse.readers.evaluation_logs import LOGS
from recuse.readers.file_ratings import read_file
from recuse.readers.formats import BY_NAME
from recuse.readers.json_records import _parse_json
from recuse.readers.opening import open_file

ITEMS = 60


@pytest.fixture
def table(tmp_path):
    draws = np.random.default_rng(5)
    words = [" ".join(f"word{k}" for k in draws.integers(0, 99, size)) for size in draws.integers(150, 300, ITEMS)]
    rows = ["item,reply,anna,ben,judge_a,judge_b"]
    for k, text in enumerate(words):
        scores = ",".join(map(str, np.clip(k % 5 + 1 + draws.integers(-1, 2, 4), 1, 5)))
        rows.append(f'{k},"{text}, number {k} ends so\nin two lines",{scores}')
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def large(monkeypatch):
    """Every file counts as large."""
    for module in (delimited, raw_table):
        monkeypatch.setattr(module, "LARGE", 10)


def packed(path: Path) -> Path:
    other = path.with_suffix(".csv.gz")
    other.write_bytes(gzip.compress(path.read_bytes()))
    return other


def as_json_lines(path: Path) -> Path:
    frame = read_file(path).raw.frame
    other = path.with_suffix(".jsonl")
    other.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")), encoding="utf-8")
    return other


def as_parquet(path: Path) -> Path:
    other = path.with_suffix(".parquet")
    read_file(path).raw.frame.to_parquet(other)
    return other


@pytest.mark.slow("large files", but_first=True)
@pytest.mark.parametrize("form", [Path, packed, as_json_lines, as_parquet])
def test_nothing_that_is_measured_changes_and_what_is_shown_is_whole(table, form, monkeypatch, request):
    path = form(table)
    held = read_file(path, text="reply")
    request.getfixturevalue("large")
    short = read_file(path, text="reply")
    assert short.raw.frame["reply"].str.len().max() < 300 < held.raw.frame["reply"].str.len().min()
    assert short.ratings.table.equals(held.ratings.table)
    assert short.ratings.texts["words"].equals(held.ratings.texts["words"])
    assert short.raw.place(ITEMS - 1) == held.raw.place(ITEMS - 1)
    assert disagreements(short).equals(disagreements(held))
    assert recuse.check(short.ratings).record() == recuse.check(held.ratings).record()


@pytest.mark.parametrize("form", [Path, packed])
def test_the_text_of_a_middling_file_is_read_again_for_a_place(table, form, monkeypatch):
    held = read_file(form(table)).raw
    monkeypatch.setattr(delimited, "HEAD", 10)
    raw = read_file(form(table)).raw
    assert isinstance(held.text, str)
    assert not isinstance(raw.text, str)
    assert [raw.place(row) for row in range(ITEMS)] == [f"line {2 + 2 * row}" for row in range(ITEMS)]
    assert raw.frame.equals(held.frame)


def test_equal_cells_of_all_portions_are_one_object(file, large, monkeypatch):
    monkeypatch.setattr(delimited, "PORTION", 7)
    rows = [f"{k},{'pass' if k % 3 else 'fail'},pass" for k in range(ITEMS)]
    frame = read_file(file("a.csv", "\n".join(["item,anna,judge", *rows]))).raw.frame
    assert [len({*map(id, frame[name])}) for name in ("anna", "judge")] == [2, 1]


def test_texts_are_shortened_portion_by_portion(table, monkeypatch):
    monkeypatch.setattr(delimited, "PORTION", 7)
    raw = delimited._in_portions(open_file(table))
    assert raw is not None
    assert raw.frame["reply"].str.len().max() < 300
    assert raw.frame["reply"].nunique() == ITEMS


def test_texts_are_shortened_line_by_line_unless_a_tools_reader_reads_them(table, monkeypatch, request):
    path = as_json_lines(table)
    request.getfixturevalue("large")
    monkeypatch.setattr(raw_table, "LOOKED_AT", 5)
    lengths = [len(row["reply"]) for row in _parse_json(open_file(path), LOGS)[0]]
    assert max(lengths[5:]) < 300 < min(lengths[:5])
    of_tools = {"instruction": "i", "generator_1": "one", "generator_2": "other", "preference": 1}
    for more, logs in ((of_tools, LOGS), ({"beside": ["a list"]}, LOGS), ({}, None)):
        lines = (json.dumps({**json.loads(line), **more}) for line in path.read_text(encoding="utf-8").splitlines())
        other = path.with_name("other.jsonl")
        other.write_text("\n".join(lines), encoding="utf-8")
        assert min(len(row["reply"]) for row in _parse_json(open_file(other), logs)[0]) > 300


def test_texts_in_parquet_are_shortened_batch_by_batch(table, request):
    path = table.with_suffix(".parquet")
    pd.concat([read_file(table).raw.frame] * 9, ignore_index=True).to_parquet(path)
    request.getfixturevalue("large")
    frame = BY_NAME["parquet"](open_file(path)).frame
    assert (len(frame), frame["reply"].nunique(), frame["reply"].str.len().max() < 300) == (540, ITEMS, True)


def test_a_header_that_comes_again_moves_no_place(file, large):
    rows = ["item,anna,judge", *(f"{k},pass,{'pass' if k % 3 else 'fail'}" for k in range(ITEMS))]
    raw = read_file(file("a.csv", "\n".join([*rows[:6], rows[0], *rows[6:]]))).raw
    assert [raw.place(row) for row in (4, 5)] == ["line 6", "line 8"]
    assert [*raw.frame.index] == [*range(ITEMS)]


def test_copies_stay_copies_and_other_texts_other_texts(large):
    one, other = "A long text. " * 90, "a  long text. " * 90
    frame = pd.DataFrame({"text": [one, other, one + "!"]})
    short = raw_table.shorten(frame, ["text"], {})["text"]
    assert short[0].lower() == short[1].lower() != short[2].lower()
    assert [*map(raw_table.word_count, short)] == [len(text.split()) for text in frame["text"]]


@pytest.mark.parametrize("blank", [chr(k) for k in range(0x2100) if chr(k).isspace()], ids=ascii)
def test_any_blank_separates_words(blank):
    text = "one more word " * 40
    texts = [text, text.replace(" ", blank), f"{blank}{text}{blank}".replace("e m", f"e{blank} m"), text[:-1]]
    short = raw_table.shorten(pd.DataFrame({"text": texts}), ["text"], {})["text"]
    assert len({*map(raw_table.single_blanks, short)}) == 1
    assert "[559 characters, 120 words, " in short[0]


def test_objects_that_answers_are_read_from_are_held(large, tmp_path):
    filler = "because it is so " * 60
    replies = ({"verdict": "pass" if k % 3 else "fail", "reason": filler + str(k)} for k in range(40))
    path = tmp_path / "objects.jsonl"
    rows = [
        {"item": str(k), "judge_output": json.dumps(reply), "anna": "pass" if k % 2 else "fail"}
        for k, reply in enumerate(replies)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ratings = recuse.read(path)
    judged = ratings.table[ratings.table["kind"] == "judge"]
    assert [*judged["response"]] == ["pass" if k % 3 else "fail" for k in range(40)]


@pytest.mark.parametrize("reply", ["{} [[{}]]", "{}\n\n**Rating: {}/5**", "{1}\n\n{0}", "{1}. {0}"])
def test_answers_at_either_end_of_long_prose_are_read(file, reply, large):
    lines = "It goes on about the matter.\nThen it goes on. " * 12
    rows = pd.DataFrame({"item": range(ITEMS), "anna": [1 + k % 5 for k in range(ITEMS)]})
    rows["judge"] = [reply.format(f"{lines}Case {k}.", 1 + k // 5 % 5) for k in range(ITEMS)]
    table = read_file(file("prose.csv", rows.to_csv(index=False))).ratings.table
    assert [*table.loc[table["kind"] == "judge", "score"]] == [1 + k // 5 % 5 for k in range(ITEMS)]


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("change", [
    lambda text: "Ratings of May,,,,,\n" + text,  # a title
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "\ufeff" + text,
    lambda text: text + "60,short\n",  # a row with cells missing
])  # fmt: skip
def test_what_is_not_plain_is_read_as_a_small_file_is(table, change, monkeypatch, request):
    table.write_text(change(table.read_text(encoding="utf-8")), encoding="utf-8")
    held = read_file(table, text="reply")
    request.getfixturevalue("large")
    short = read_file(table, text="reply")
    assert short.ratings.table.equals(held.ratings.table)
    assert [fault.sentence() for fault in short.faults] == [fault.sentence() for fault in held.faults]
    assert short.notes == held.notes
