"""Logs of other tools: small ones of our own making, with the fields that their documentation and source name."""

from __future__ import annotations

import json
import sys

import pytest

from recuse.readers import read_file
from recuse.readers.formats import read_path
from recuse.schema import RecuseError

CHAT = {"object": "chat.completion", "model": "gpt-5.4-mini"}


def batch_line(name: str, content: str | None, *, refusal: str | None = None, status: int = 200) -> dict:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    body = {**CHAT, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return {"id": f"batch_req_{name}", "custom_id": name, "error": None,
            "response": {"status_code": status, "request_id": "r", "body": body}}  # fmt: skip


BATCH = [
    batch_line("t1", '{"score": 4, "reason": "clear"}'), batch_line("t2", "5"),
    batch_line("t3", "It is thorough.\nScore: 2"), batch_line("t4", None, refusal="I cannot."),
    batch_line("t5", "Well, it depends on what you expect of such a reply."),
    {"id": "x", "custom_id": "t6", "response": None, "error": {"code": "batch_expired", "message": "late"}},
]  # fmt: skip
INSPECT = {
    "version": 2, "status": "success", "eval": {"task": "theory", "model": "openai/gpt-5.4"},
    "samples": [
        {"id": k, "epoch": e, "input": "q", "target": "a", "output": {"choices": [{"message": {"content": "text"}}]},
         "scores": {"model_graded_qa": {"value": v, "answer": "a", "explanation": "since"}}}
        for k, e, v in [(1, 1, "C"), (1, 2, "I"), (2, 1, "P"), (2, 2, "C"), (3, 1, "C"), (3, 2, "N")]
    ],
}  # fmt: skip
PROMPTFOO = {
    "evalId": "eval-1",
    "results": {"version": 3, "prompts": [], "stats": {}, "results": [
        {"testIdx": k, "promptIdx": 0, "provider": {"id": provider, "label": ""}, "prompt": {"raw": "q", "label": "q"},
         "testCase": {"vars": {"topic": "x"}}, "response": {"output": "text"}, "success": ok, "score": float(ok),
         "gradingResult": {"pass": ok, "score": float(ok), "reason": "", "componentResults": [
             {"pass": ok, "score": float(ok), "reason": "fine", "assertion": {"type": "llm-rubric", "value": "kind"}},
             {"pass": True, "score": 1, "reason": "", "assertion": {"type": "contains", "value": "t"}}]}}
        for k, provider, ok in [(0, "openai:a", True), (0, "openai:b", False), (1, "openai:a", False),
                                (1, "openai:b", True)]
    ]},
}  # fmt: skip
ALPACA = [
    {"instruction": i, "output_1": "x", "generator_1": "ref", "output_2": "y", "generator_2": "mine", "dataset": "d",
     "annotator": "weighted_gpt4", "preference": p}
    for i, p in [("a", 1.0), ("b", 2.0), ("c", 1.5), ("d", 1.93), ("e", None)]
]  # fmt: skip
DEEPEVAL = {
    "testCases": [
        {"name": f"test_{k}", "input": "q", "actualOutput": "a", "success": s > 0.5, "metricsData": [
            {"name": "Correctness [GEval]", "threshold": 0.5, "success": s > 0.5, "score": s, "reason": "r",
             "evaluationModel": "gpt-4.1", "error": None},
            {"name": "Bias", "threshold": 0.5, "success": False, "score": None, "evaluationModel": "gpt-4.1",
             "error": "no JSON"}]}
        for k, s in enumerate((0.2, 0.9, 0.6))
    ],
    "conversationalTestCases": [],
}  # fmt: skip


def test_openai_batch(file):
    read = read_file(file("batch_output.jsonl", "\n".join(map(json.dumps, BATCH))))
    table = read.ratings.table.set_index("item")
    assert read.raw.made_by == "openai_batch"
    assert read.ratings.judges == ("gpt-5.4-mini",)
    assert table["score"].dropna().to_dict() == {"t1": 4, "t2": 5, "t3": 2}
    assert table["status"].to_dict() == {
        "t1": "ok", "t2": "ok", "t3": "ok", "t4": "refused", "t5": "unparsed", "t6": "error",
    }  # fmt: skip
    assert "line 5" in read.faults[0].sentence()


def ended(name: str, content: object, reason: str = "stop") -> dict:
    message = {"role": "assistant", "content": content}
    body = {**CHAT, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    return {"custom_id": name, "error": None, "response": {"status_code": 200, "body": body}}


def test_a_batch_is_read_as_recorded_replies_are(file):
    """Reasoning is no answer, and neither is what may have been cut."""
    lines = [
        ended("t1", "<think>I would say\nscore: 3"), ended("t2", "Score: 1", "length"),
        ended("t3", "Score: 3? No.\n</think>\n\nScore: 5"), ended("t4", [{"type": "text", "text": "4"}]),
        ended("t5", "", "content_filter"), ended("t6", "Score: 2", "a new word"),
        ended("t7", '```json\n{"score": 2}\n```', "length"),
    ]  # fmt: skip
    read = read_file(file("batch_output.jsonl", "\n".join(map(json.dumps, lines))))
    table = read.ratings.table.set_index("item")
    assert table["status"].to_dict() == {
        "t1": "unparsed", "t2": "unparsed", "t3": "ok", "t4": "ok", "t5": "refused", "t6": "error", "t7": "ok",
    }  # fmt: skip
    assert table["score"].dropna().to_dict() == {"t3": 5, "t4": 4, "t7": 2}
    assert "a new word" in read.faults[0].sentence()


def test_a_batch_of_one_request_is_one(file):
    raw = read_path(file("batch_output.jsonl", json.dumps(BATCH[0])))
    assert (raw.made_by, raw.frame["value"].tolist()) == ("openai_batch", ["4"])


def test_inspect(file):
    read = read_file(file("log.json", json.dumps(INSPECT)))
    table = read.ratings.table
    assert (read.ratings.judges, read.ratings.targets) == (("model_graded_qa",), ("openai/gpt-5.4",))
    assert list(table["response"][:5]) == ["correct", "incorrect", "partially correct", "correct", "correct"]
    assert list(table["repeat"]) == [0, 1] * 3
    assert list(table["status"])[-1] == "refused"


def test_promptfoo(file):
    read = read_file(file("results.json", json.dumps(PROMPTFOO)))
    table = read.ratings.table
    assert set(read.ratings.judges) == {"llm-rubric", "contains"}
    assert read.ratings.targets == ("openai:a", "openai:b")
    mine = table[table["rater"] == "llm-rubric"]
    assert list(mine["response"]) == ["pass", "fail", "fail", "pass"]


def test_faults_of_a_log_are_told_by_what_was_done_about_them(file):
    """Each with its own places; what is left out comes first, wherever it stands."""
    scores = [
        {"grader": {"value": value, "explanation": why}} for value, why in (("C", ""), (None, "no grade"), ("I", ""))
    ]
    samples = [{"id": k, "epoch": 1, "scores": score} for k, score in enumerate([*scores, {}], start=1)]
    log = {"eval": {"model": "m"}, "samples": samples}
    raw = read_path(file("log.json", json.dumps(log)))
    assert [(fault.what, fault.places, fault.done) for fault in raw.faults] == [
        ("samples have no score", ("sample 4",), "they are left out"),
        ("scores that no grader could give", ("sample 2, grader: 'no grade'",), "they count as unusable"),
    ]


def test_alpaca_eval(file):
    read = read_file(file("annotations.json", json.dumps(ALPACA)))
    table = read.ratings.table.set_index("item")
    assert read.kind == "choices"
    assert read.ratings.factors == ()  # where each output stood is not in the file
    assert table["status"].value_counts().to_dict() == {"ok": 4, "unparsed": 1}
    assert [table.loc[i, "response"] for i in "abcd"] == ["second", "first", "tie", "first"]  # a is "mine", b "ref"
    assert "record 4: 1.93" in read.faults[0].sentence()


def test_deepeval(file):
    read = read_file(file(".latest_test_run.json", json.dumps(DEEPEVAL)))
    assert read.ratings.judges == ("gpt-4.1",)
    assert read.ratings.criteria == ("Correctness [GEval]", "Bias")
    assert list(read.ratings.table["score"].dropna()) == [0.2, 0.9, 0.6]
    assert read.faults[0].count == 3


def answer(name, kind, given):
    return {"id": "x", "from_name": name, "to_name": "reply", "type": kind, "value": {kind: given}}


LABEL_STUDIO = [
    {"id": k, "data": {"question": f"Where is parcel {k}?", "topic": "parcels", "tags": ["a"]},
     "annotations": [
         {"completed_by": {"id": 1, "email": "anna@team.example"}, "was_cancelled": False,
          "result": [answer("helpful", "rating", k), answer("polite", "choices", ["yes"])]},
         {"completed_by": 2, "result": [answer("helpful", "rating", 6 - k), answer("words", "labels", ["rude"])]},
         {"completed_by": 3, "was_cancelled": True, "result": [answer("helpful", "rating", 1)]},
     ],
     "predictions": [{"model_version": "gpt-5.4", "result": [answer("helpful", "number", k)]}]}
    for k in range(1, 6)
]  # fmt: skip


def test_label_studio(file):
    """Annotations by people, predictions by judges; what was cancelled is no answer."""
    read = read_file(file("export.json", json.dumps(LABEL_STUDIO)))
    assert read.ratings.raters == {"anna@team.example": "person", "annotator 2": "person", "gpt-5.4": "judge"}
    table = read.ratings.table.groupby(["rater", "criterion"])["score"].apply(list)
    assert table["annotator 2", "helpful"] == [5, 4, 3, 2, 1]
    assert table["gpt-5.4", "helpful"] == [1, 2, 3, 4, 5]
    assert set(read.ratings.criteria) == {"helpful", "polite"}
    assert [(fault.count, fault.places[0]) for fault in read.faults] == [(5, "task 1, words")]


def test_a_reader_of_your_own_by_dotted_name(file, tmp_path, monkeypatch):
    (tmp_path / "house_logs.py").write_text(
        "from recuse.ext import from_records\n"
        "def lines(opened):\n"
        "    rows = [dict(zip(('item', 'judge', 'score'), l.split())) for l in opened.text()[0].splitlines()]\n"
        "    return from_records(opened.path, rows)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "house_logs", raising=False)
    read = read_file(file("a.log", "t1 gpt 3\nt2 gpt 5\n"), reader="house_logs.lines")
    assert list(read.ratings.table["score"]) == [3, 5]


def test_a_reader_that_gives_no_table_is_told_what_to_give(file, tmp_path, monkeypatch):
    (tmp_path / "no_table.py").write_text("import pandas\ndef lines(opened):\n    return pandas.DataFrame()\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RecuseError, match=r"reader no_table.lines gave a DataFrame; .* from_frame and from_records"):
        read_file(file("a.log", "x"), reader="no_table.lines")


def test_an_unknown_reader_is_told_with_the_known_ones(file):
    with pytest.raises(RecuseError, match=r"unknown reader 'langsmith'; known: csv, json, parquet, openai_batch"):
        read_file(file("a.log", "x"), reader="langsmith")
