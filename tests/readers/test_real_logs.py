"""Logs that the tools themselves wrote, from four to six texts of our own and a scripted model; see `logs/`.

Inspect 0.3.285 (`mockllm`; from the JSON log its events were taken out), promptfoo 0.121.20 (provider `echo`; absolute
paths and stack traces taken out), DeepEval 4.3.1 (a model of our own class), AlpacaEval 0.6.6 (its `test_completions`).

One person and one scripted judge on the same 24 replies, written by MLflow 3.17.2 (`log_feedback`, `search_traces`),
the converter of Label Studio 0.0.59 (CSV, JSON-MIN, of a JSON export), Phoenix evals 3.9.4 (`evaluate_dataframe`) and
Argilla 2.8.0 (`Record.to_dict`). Label Studio and Argilla have a second person, who differs on every fifth reply.
Ragas 0.4.3 wrote twelve samples with scores of our own (`EvaluationResult.to_pandas`, as CSV).
"""

from __future__ import annotations

import builtins
from pathlib import Path

import pytest

from recuse.readers import FilePanel, read_file
from recuse.schema import RecuseError

LOGS = Path(__file__).parent / "logs"


def statuses(read: FilePanel) -> dict[str, int]:
    return {str(name): int(n) for name, n in read.ratings.table["status"].value_counts().items()}


def said(read: FilePanel, rater: str, criterion: str = "rating") -> list[str]:
    table = read.ratings.table
    mine = table[table["rater"].eq(rater) & table["criterion"].eq(criterion) & table["status"].eq("ok")]
    return list(mine["response"])


def test_inspect_as_json():
    """Its grader gave C, C, I, P, then C, I, nothing readable, C; Inspect writes NaN for what could not be graded."""
    read = read_file(LOGS / "inspect.json")
    assert (read.raw.made_by, read.ratings.targets) == ("inspect", ("mockllm/model",))
    assert read.ratings.judges == ("model_graded_qa", "match", "two")
    assert said(read, "model_graded_qa") == [
        "correct", "correct", "incorrect", "partially correct", "correct", "incorrect", "correct",
    ]  # fmt: skip
    assert statuses(read) == {"ok": 31, "unparsed": 1}
    assert "sample 7, model_graded_qa: 'Grade not found in model output" in read.faults[0].sentence()
    assert set(read.ratings.table["repeat"]) == {0, 1}


def test_inspect_as_it_packs_its_logs():
    """A zip archive whose members are compressed with Zstandard, which zipfile cannot undo before Python 3.14."""
    read = read_file(LOGS / "inspect.eval")
    assert read.raw.made_by == "inspect"
    assert said(read, "model_graded_qa") == ["correct", "correct", "incorrect", "partially correct"]
    assert len(read.ratings.table) == 4 * 4  # two scorers with one value each, and one with two


def test_a_packed_log_without_zstandard_says_what_to_do(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith(("backports", "compression")):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr("zipfile.ZipFile.read", lambda *_: (_ for _ in ()).throw(NotImplementedError()))
    with pytest.raises(RecuseError, match=r"pip install backports\.zstd, or write it as JSON: inspect log convert"):
        read_file(LOGS / "inspect.eval")


@pytest.mark.parametrize("cut", [100, 3000, -40])
def test_a_damaged_packed_log_is_an_error_in_one_sentence(file, cut):
    with pytest.raises(RecuseError, match=r"inspect log|empty"):
        read_file(file("broken.eval", (LOGS / "inspect.eval").read_bytes()[:cut]))


@pytest.mark.parametrize("name", ["promptfoo.json", "promptfoo.jsonl"])
def test_promptfoo(name):
    """Three assertions of one kind in one test are three criteria, not repeats; a broken assertion is no verdict."""
    read = read_file(LOGS / name)
    table = read.ratings.table
    assert read.raw.made_by == "promptfoo"
    assert read.ratings.targets == ("echo, short", "echo, plain")
    assert read.ratings.criteria == ("rating", "about", "open", "close")
    assert said(read, "file://grader.js") == ["pass", "fail"]
    assert said(read, "contains", "close") == ["fail", "fail"]
    assert set(table["repeat"]) == {0}
    assert set(table.loc[table["rater"] == "javascript", "status"]) == {"error"}
    assert "result 7, javascript: 'Custom function threw error" in read.faults[0].sentence()


def test_deepeval_as_a_test_run():
    read = read_file(LOGS / "deepeval.json")
    assert read.ratings.judges == ("house-judge", "deepeval")
    table = read.ratings.table
    helpful = table[table["criterion"] == "Helpfulness [GEval]"]
    assert list(helpful["score"].dropna()) == [0.3, 1.0, 0.0]
    assert list(helpful["status"]) == ["ok", "ok", "ok", "error"]
    assert said(read, "deepeval", "Short") == ["1", "0", "1", "1"]


def test_deepeval_as_its_cache():
    read = read_file(LOGS / "deepeval_cache.json")
    table = read.ratings.table
    helpful = table[table["criterion"] == "Helpfulness [GEval]"].set_index("item")["score"].to_dict()
    assert helpful == {"Where is my parcel?": 0.3, "Can I return it?": 1.0, "Is it blue?": 0.0}


def test_alpaca_eval():
    """Its annotator always says "Output (a)" and is shown the outputs in an order that the file does not keep; the
    fourth pair is twice the same text, which AlpacaEval calls a draw without asking."""
    read = read_file(LOGS / "alpaca_eval.json")
    assert (read.kind, read.ratings.judges, read.ratings.persons) == ("choices", ("house",), ())
    won = read.ratings.table.set_index("item")["response"]
    pairs = read.ratings.table.set_index("item")["target"]
    assert won["When do you open?"] == "tie"
    assert set(won) == {"first", "second", "tie"}
    assert {pairs["Is it blue?"]} == {pairs["Who are you?"]}


@pytest.mark.parametrize(
    ("name", "people", "judges"),
    [
        ("mlflow_traces.csv", ["anna@example.org"], ["openai:/gpt-4o"]),
        ("label_studio.csv", ["annotator 1", "annotator 2"], ["gpt4"]),
        ("label_studio_min.json", ["annotator 1", "annotator 2"], ["gpt4"]),
        ("label_studio.json", ["annotator 1", "annotator 2"], ["gpt-4o", "gpt4"]),
        ("phoenix_evals.csv", ["human"], ["judge_quality"]),
        ("argilla.json", [f"00000000-0000-0000-0000-00000000000{k}" for k in (1, 2)], ["gpt-4o"]),
    ],
)
def test_one_study_in_the_exports_of_four_tools(name, people, judges):
    """The person says good of 14, the judge of 11, and they agree on 19, whatever the tool makes of it."""
    ratings = read_file(LOGS / name).ratings
    assert (sorted(ratings.persons), sorted(ratings.judges)) == (people, judges)
    better = ratings.table.assign(good=ratings.table["response"].isin(["good", "true"]))
    by_rater = better.pivot_table(index="item", columns="rater", values="good", observed=True, sort=False).astype(bool)
    assert (len(by_rater), by_rater[people[0]].sum()) == (24, 14)
    for judge in judges:
        assert (by_rater[judge].sum(), (by_rater[judge] == by_rater[people[0]]).sum()) == (11, 19)
    for second in people[1:]:
        assert (by_rater[second] != by_rater[people[0]]).sum() == 5


def test_ragas_scores_are_criteria_of_one_judge():
    read = read_file(LOGS / "ragas.csv")
    assert (dict(read.ratings.raters), read.ratings.headline) == (
        {"judge": "judge"}, ("faithfulness", "answer_relevancy"),
    )  # fmt: skip
    scores = read.ratings.table.set_index("criterion")["score"]
    assert list(scores["faithfulness"]) == [k % 5 / 4 for k in range(12)]
    assert list(scores["answer_relevancy"]) == pytest.approx([0.5 + k % 3 / 6 for k in range(12)])
