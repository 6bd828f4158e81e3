"""Tables that other tools export, made by hand after their documentation: item, people, judge and criteria."""

from __future__ import annotations

import json

import pytest

from recuse.readers import read_file


def mark(k, shift=0):
    return (k + shift * (k % 3 == 0)) % 5 + 1


def csv(header, rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)])


def langfuse():
    rows = []
    for k in range(40):
        rows += [(f"s{k}{who}", f"tr-{k}", "", "helpful", mark(k, n), "", "ANNOTATION", "", who, "NUMERIC")
                 for n, who in enumerate(("usr_a", "usr_b"))]  # fmt: skip
        rows += [
            (f"s{k}{name}", f"tr-{k}", "", name, mark(k, 1), "", "EVAL", "fine", "", "NUMERIC")
            for name in ("helpful", "safe")
        ]
    return csv("id,traceId,observationId,name,value,stringValue,source,comment,authorUserId,dataType", rows)


def label_studio():
    rows = [(2 * k + n, n + 1, "2026-01-01", k, 9.1, mark(k, n), f"Reply number {k} of all.", mark(k, 1), "2026-01-02")
            for k in range(40) for n in (0, 1)]  # fmt: skip
    return csv("annotation_id,annotator,created_at,id,lead_time,quality,text,gpt_score,updated_at", rows)


def mturk():
    state = {5: ("", "x")}
    rows = [(f"H{k}", "T", f"A{k}{n}", f"W{(k + n) % 7}", 30, k, mark(k, 1), mark(k, n), *state.get(k, ("x", "")))
            for k in range(40) for n in (0, 1)]  # fmt: skip
    return csv(
        "HITId,Title,AssignmentId,WorkerId,WorkTimeInSeconds,Input.id,Input.judge_score,Answer.quality,Approve,Reject",
        rows,
    )


def braintrust():
    return "\n".join(json.dumps({
        "id": f"r{k}", "input": {"q": f"A question of some length, the one with number {k}"}, "expected": "x",
        "scores": {"Factuality": k % 2, "Human review": (k + (k % 7 == 0)) % 2}, "metrics": {"duration": 1.5},
        "metadata": {"model": "mini"},
    }) for k in range(40))  # fmt: skip


def argilla(flat):
    lines = []
    for k in range(40):
        text = f"Reply number {k} of all."
        if flat:
            parts = {"": [mark(k), mark(k, 1)], ".users": ["u1", "u2"], ".status": ["submitted", "submitted"]}
            answered = {f"quality.responses{part}": value for part, value in parts.items()}
            suggested = {"quality.suggestion": mark(k, 1), "quality.suggestion.agent": "gpt"}
            lines.append({"id": f"r{k}", "text": text, **answered, **suggested})
        else:
            suggested = {"quality": {"value": mark(k, 1), "agent": "gpt"}}
            answered = {"quality": [{"value": mark(k, n), "user_id": f"u{n + 1}"} for n in (0, 1)]}
            lines.append({"id": f"r{k}", "fields": {"text": text}, "suggestions": suggested, "responses": answered})
    return json.dumps(lines)


EXPORTS = {
    "langfuse.csv": (langfuse(), {"usr_a": "person", "usr_b": "person", "EVAL": "judge"}, ("helpful", "safe")),
    "label_studio.csv": (
        label_studio(),
        {"annotator 1": "person", "annotator 2": "person", "gpt": "judge"},
        ("rating",),
    ),
    "braintrust.jsonl": (braintrust(), {"scores.Human review": "person", "scores.Factuality": "judge"}, ("rating",)),
    "argilla.json": (argilla(flat=False), {"u1": "person", "u2": "person", "gpt": "judge"}, ("quality",)),
    "argilla_flat.json": (argilla(flat=True), {"u1": "person", "u2": "person", "gpt": "judge"}, ("quality",)),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_read_without_options(file, name):
    text, raters, criteria = EXPORTS[name]
    read = read_file(file(name, text))
    assert read.ratings.raters == raters
    assert tuple(read.ratings.headline) == criteria
    assert read.ratings.table["item"].nunique() == 40
    assert set(read.ratings.table["repeat"]) == {0}
    assert set(read.ratings.table["status"]) == {"ok"}


def test_workers_of_mechanical_turk_are_people_and_rejected_work_is_none(file):
    read = read_file(file("batch.csv", mturk()))
    assert read.ratings.judges == ("Input.judge",)
    assert len(read.ratings.persons) == 7
    assert read.ratings.table["item"].nunique() == 39
    assert any("2 rejected assignments" in note for note in read.notes)


def test_what_is_said_of_an_exports_columns_counts(file):
    read = read_file(file("batch.csv", mturk()), item="Input.id", rater="WorkerId", value="Answer.quality")
    assert read.mapping.item == ("Input.id",)


@pytest.mark.parametrize("names", [("Human review", "Factuality"), ("scores.Human review", "scores.Factuality")])
def test_scores_are_named_with_or_without_what_stands_before_them(file, names):
    read = read_file(file("b.jsonl", braintrust()), people=names[0], judges=names[1])
    assert read.ratings.raters == {"scores.Human review": "person", "scores.Factuality": "judge"}


def test_a_log_of_chat_requests_with_peoples_scores_in_its_metadata(file):
    lines = []
    for k in range(40):
        reply = json.dumps({"score": mark(k, 1)}) if k != 7 else "I would rather not."
        lines.append(json.dumps({
            "id": f"chatcmpl-{k}", "created": 1767225600 + k,
            "request": {"model": "gpt-4o", "messages": [{"role": "system", "content": "Grade from 1 to 5."},
                                                       {"role": "user", "content": f"Reply number {k} of all."}]},
            "response": {"model": "gpt-4o", "choices": [{"message": {"role": "assistant", "content": reply}}]},
            "metadata": {"ticket": f"T{k}", "human_score": mark(k), "human_score_2": mark(k, 1)},
        }))  # fmt: skip
    read = read_file(file("log.jsonl", "\n".join(lines)))
    assert read.raw.made_by == "openai_log"
    assert read.ratings.raters == {"human": "person", "human_score_2": "person", "gpt-4o": "judge"}
    judge = read.ratings.table[read.ratings.table["rater"] == "gpt-4o"]
    assert dict(judge["status"].value_counts()) == {"ok": 39, "unparsed": 1}
    assert read.mapping.item == ("ticket",)
