"""Whatever columns stand side by side, a file is read, or refused in words: never by a traceback. Others are drawn with
RECUSE_TABLES=1 and so on; continuous integration has the same ones in every run, so that it fails for what it tests."""

import csv
import os
import random
from contextlib import suppress
from pathlib import Path

import pytest

from recuse.readers.file_panel import load_file_panel
from recuse.schema import RecuseError

NAMES = (
    "item", "id", "text", "judge", "human", "anna", "ben", "gpt-4o", "claude", "gold", "label", "criterion", "system",
    "model", "score", "rating", "rater", "annotator", "week", "date", "order", "first", "second", "question", "a",
    "b", "count", "author", "repeat", "confidence", "explanation", "reply", "winner", "preferred", "domain", "lang",
    "scale", "role", "weight", "worker_id", "human_1", "human_2", "llm_judge", "expert_score", "gpt4_rating",
    "judge_score", "text_length", "prompt_version", "cost", "n_votes",
)  # fmt: skip
CELLS = (
    lambda r, k: str(r.randint(1, 5)),
    lambda r, k: r.choice(["yes", "no"]),
    lambda r, k: r.choice(["A", "B", "tie"]),
    lambda r, k: f"{r.random():.3f}",
    lambda r, k: f"t{k}",
    lambda r, k: f"t{k // 3}",
    lambda r, k: r.choice(["", "NA", "3", "4"]),
    lambda r, k: f"some words {k} of a text",
    lambda r, k: r.choice(["1", "2", "3", "4", "n/a", "x"]),
    lambda r, k: f"2026-0{1 + k % 9}-1{k % 9}",
    lambda r, k: r.choice(["s1", "s2", "s3"]),
    lambda r, k: str([r.randint(1, 5)] * r.randint(0, 3)),
    lambda r, k: "",
)


LOGS = Path(__file__).with_name("logs")
SEED = int(os.environ.get("RECUSE_TABLES", "0"))


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("seed", range(6 * SEED, 6 * SEED + 6))
def test_any_columns_are_read_or_refused_in_words(tmp_path, seed):
    r, path, read = random.Random(seed), tmp_path / "any.csv", 0
    for _ in range(20):
        names = r.sample(NAMES, r.randint(2, 7))
        columns, rows = [r.choice(CELLS) for _ in names], r.choice([1, 2, 5, 30])
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([names, *([cell(r, k) for cell in columns] for k in range(rows))])
        with suppress(RecuseError):
            read += load_file_panel(path).ratings.judgements > 0
    assert read


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("seed", range(6 * SEED, 6 * SEED + 6))
def test_bytes_that_are_not_as_they_were_are_read_or_refused_in_words(tmp_path, seed):
    r = random.Random(seed)
    for _ in range(8):
        path = r.choice([*LOGS.iterdir()])
        data = bytearray(path.read_bytes()[:30_000])
        for _ in range(r.choice([1, 3, 10])):
            data[r.randrange(len(data))] = r.randrange(256)
        (tmp_path / path.name).write_bytes(data)
        with suppress(RecuseError):
            load_file_panel(tmp_path / path.name)


@pytest.mark.parametrize("entry", ["null", '"passed"', '{"cached_metrics_data": [3]}'])
def test_a_cache_whose_entries_are_something_else_names_its_tool(file, entry):
    with pytest.raises(RecuseError, match="it is not as results of DeepEval is written"):
        load_file_panel(file("a.json", f'{{"test_cases_lookup_map": {{"one": {entry}}}}}'))


@pytest.mark.parametrize(
    "text",
    [
        "first\tcriterion\tb\trating\tben\tlabel\texpert_score\n0.071\tt0\t2026-01-10\tt0\t0.708\tyes\tt0\n",
        "rating,annotator\n" + "B,A\ntie,A\nA,B\ntie,tie\n" * 5,
    ],
    ids=["one row whose only sure person is the column asked about", "letters in both of two columns"],
)
def test_tables_that_once_ended_in_a_traceback(file, text):
    assert load_file_panel(file("a.csv", text)).judges
