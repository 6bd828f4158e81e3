"""Tables that other tools export, made by hand after their documentation: item, people, judge and criteria."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pandas import DataFrame

from recuse.check.check_command import check
from recuse.readers import read_file
from recuse.schema import RecuseError


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


def annotated(score):
    """A row per annotation of 40 texts: two people and a judge on one criterion, the judge on another as well."""
    rows = [score(k, "helpful", who, mark(k, n)) for k in range(40) for n, who in enumerate(("u1", "u2"))]
    return rows + [score(k, name, "", mark(k, 1)) for k in range(40) for name in ("helpful", "safe")]


def phoenix(k, name, who, score):
    return {
        "span_id": f"sp{k}", "annotation_name": name, "annotator_kind": "HUMAN" if who else "LLM", "user_id": who,
        "result.score": score, "result.label": None, "result.explanation": "fine", "id": f"{k}{name}{who}",
        "source": "APP" if who else "API", "identifier": "", "created_at": "2026-01-01T00:00:00Z", "metadata": {},
    }  # fmt: skip


def langsmith(k, name, who, score):
    source = {"type": "app", "user_id": who} if who else {"type": "model", "user_id": None}
    return {"id": f"f{k}{name}{who}", "run_id": f"r{k}", "key": name, "score": score, "value": None, "comment": "fine",
            "feedback_source": source}  # fmt: skip


def mlflow():
    """Traces with their assessments, and the spans that search_traces puts beside them."""
    spans = [{"name": "llm"}]
    traces = [{"trace_id": f"tr{k}", "response": f"Reply {k}.", "assessments": [], "spans": spans} for k in range(40)]

    def assess(k, name, who, score):
        traces[k]["assessments"].append({
            "assessment_name": name, "trace_id": f"tr{k}", "feedback": {"value": score}, "rationale": "fine",
            "source": {"source_type": "HUMAN" if who else "LLM_JUDGE", "source_id": who or "gpt"},
        })  # fmt: skip

    annotated(assess)
    return [{**trace, "assessments": [*trace["assessments"], {"assessment_name": "x", "expectation": {"value": "y"}}]}
            for trace in traces]  # fmt: skip


def experiment():
    lines = [f"Question number {k} of them all,Reply {k},{k % 2},{(k + k % 3) % 2},1.{k:02},e{k}" for k in range(40)]
    header = "inputs.question,outputs.answer,feedback.helpful,feedback.safe,execution_time,example_id"
    return "\n".join([header, *lines])


def ragas():
    return json.dumps([
        {"user_input": f"Question number {k} of them all?", "retrieved_contexts": ["one", "two"], "reference": "x",
         "response": f"Reply number {k} of them all.", "faithfulness": k % 4 / 4, "answer_relevancy": k % 7 / 7}
        for k in range(40)
    ])  # fmt: skip


PEOPLE = {"u1": "person", "u2": "person"}
BOTH = ("helpful", "safe")
EXPORTS = {
    "phoenix.json": (json.dumps(annotated(phoenix)), {**PEOPLE, "LLM": "judge"}, BOTH),
    "phoenix.csv": (DataFrame(annotated(phoenix)).to_csv(index=False), {**PEOPLE, "LLM": "judge"}, BOTH),
    "langsmith.jsonl": ("\n".join(map(json.dumps, annotated(langsmith))), {**PEOPLE, "model": "judge"}, BOTH),
    "langsmith.csv": (experiment(), {"judge": "judge"}, BOTH),
    "mlflow.json": (json.dumps(mlflow()), {**PEOPLE, "gpt": "judge"}, BOTH),
    "mlflow.csv": (DataFrame(mlflow()).to_csv(index=False), {**PEOPLE, "gpt": "judge"}, BOTH),
    "mlflow_traces.json": (
        json.dumps([{"info": {n: t[n] for n in ("trace_id", "assessments")}, "data": {}} for t in mlflow()]),
        {**PEOPLE, "gpt": "judge"},
        BOTH,
    ),
    "ragas.json": (ragas(), {"judge": "judge"}, ("faithfulness", "answer_relevancy")),
    "langfuse.csv": (langfuse(), {"usr_a": "person", "usr_b": "person", "EVAL": "judge"}, ("helpful", "safe")),
    "langfuse.jsonl": (  # traces, with their scores in a list
        "\n".join(
            json.dumps(
                {
                    "id": f"tr-{k}",
                    "scores": [
                        {
                            "id": f"s{k}{n}",
                            "name": "helpful",
                            "value": mark(k, n),
                            "source": source,
                            "author_user_id": who,
                        }
                        for n, (source, who) in enumerate(
                            (("ANNOTATION", "usr_a"), ("ANNOTATION", "usr_b"), ("EVAL", None))
                        )
                    ],
                }
            )
            for k in range(40)
        ),
        {"usr_a": "person", "usr_b": "person", "EVAL": "judge"},
        ("helpful",),
    ),
    "label_studio.csv": (
        label_studio(),
        {"annotator 1": "person", "annotator 2": "person", "gpt": "judge"},
        ("rating",),
    ),
    "braintrust.jsonl": (braintrust(), {"scores.Human review": "person", "scores.Factuality": "judge"}, ("rating",)),
    "argilla.json": (argilla(flat=False), {"u1": "person", "u2": "person", "gpt": "judge"}, ("quality",)),
    "argilla_flat.json": (argilla(flat=True), {"u1": "person", "u2": "person", "gpt": "judge"}, ("quality",)),
}


@pytest.mark.slow("further cases", but_first=True)
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


def test_feedback_of_langsmith_from_its_interface_may_be_anybodys(file):
    rows = [{**one, "feedback_source": {"type": "api"}} if k % 3 else one for k, one in enumerate(annotated(langsmith))]
    with pytest.raises(RecuseError, match="'api' may be people's or a program's"):
        read_file(file("a.json", json.dumps(rows)))


def test_an_evaluator_of_mlflow_that_failed_gave_no_usable_answer(file):
    traces = mlflow()
    traces[3]["assessments"][2]["feedback"] = {"value": None, "error": {"error_code": "TIMEOUT"}}
    table = read_file(file("a.json", json.dumps(traces))).ratings.table
    assert table.loc[table["status"].ne("ok"), ["rater", "item"]].to_numpy().tolist() == [["gpt", "tr3"]]


def test_a_criterion_that_nobody_rated_is_not_measured_and_ends_no_other():
    """Langfuse's scores of two names, of which people gave one: undecided by that, and every question was asked."""
    record = check(Path(__file__).parent / "team_files" / "12_langfuse_scores.csv.gz").record()
    assert (record["word"], "unfinished" in record["cause"]) == ("decide", False)
    assert {one["word"] for one in record["judges"] if one["stated"]} == {"undecided"}


@pytest.mark.parametrize(
    ("item", "names", "judge"),
    [("span_id", ("review", "review"), "LLM"), ("trace_id", ("review", "gpt-4o"), "gpt-4o"),
     ("context.span_id", ("review", "gpt-4o"), "gpt-4o"), ("trace_id", ("review", "safe"), "LLM"),
     ("span_id", ("human helpfulness", "gpt-4o helpfulness"), "gpt-4o helpfulness"),
     ("context.span_id", ("review", "llm_toxicity"), "LLM")],
)  # fmt: skip
def test_a_judge_without_an_id_among_phoenix_annotations_is_called_as_its_rows_are(file, item, names, judge):
    rows = [(k, n, who, mark(k, n)) for k in range(40) for n, who in enumerate(("anna", "ben", ""))]
    table = DataFrame({
        item: [f"sp{k}" for k, *_ in rows], "name": [names[not who] for *_, who, _ in rows],
        "score": [score for *_, score in rows], "label": "", "explanation": "fine",
        "annotator_kind": ["HUMAN" if who else "LLM" for *_, who, _ in rows], "user_id": [who for *_, who, _ in rows],
    })  # fmt: skip
    read = read_file(file("a.csv", table.to_csv(index=False)))
    assert dict(read.ratings.raters) == {"anna": "person", "ben": "person", judge: "judge"}
    assert len(read.ratings.headline) == (2 if judge == "LLM" and names[0] != names[1] else 1)


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("names", [
    ("trace_id", "assessment_name", "source.source_type", "source.source_id", "feedback.value"),
    ("trace_id", "name", "source.source_type", "source.source_id", "feedback.value"),
    ("request_id", "assessment_name", "source_type", "source_id", "feedback_value"),
    ("item", None, "source_type", "source_id", "value"),
])  # fmt: skip
def test_assessments_of_mlflow_in_a_row_each(file, names):
    rows = [(k, n, who) for k in range(40) for n, who in enumerate(("anna", "ben", "gpt-4o"))]
    columns = [
        [f"tr{k}" for k, *_ in rows], ["right"] * len(rows), ["LLM_JUDGE" if n == 2 else "HUMAN" for _, n, _ in rows],
        [who for *_, who in rows], [("no", "yes")[mark(k, n) > 2] for k, n, _ in rows],
    ]  # fmt: skip
    table = DataFrame({name: cells for name, cells in zip(names, columns, strict=True) if name})
    path = file("a.csv", table.to_csv(index=False))
    read = read_file(path)
    assert dict(read.ratings.raters) == {"anna": "person", "ben": "person", "gpt-4o": "judge"}
    assert tuple(read.ratings.headline) == ("right" if names[1] else "rating",)
    assert len(read.ratings.table) == 120
    assert read.ratings.table["target"].eq("").all()
    assert names[-1] not in read.mapping.ignored  # the answers are used
    assert read_file(path, item=names[0], value=names[-1], rater=names[3]).ratings.judges == ("gpt-4o",)


def test_annotators_of_prodigy_are_called_as_they_are_behind_the_data_set(file):
    """_session_id is the data set's name, whatever that speaks of, and the session's."""
    who = ["llm-eval-anna", "llm-eval-ben", "llm-eval-gpt-4o"]
    rows = [
        {"text": f"text {k}", "label": "GOOD", "_input_hash": k, "_task_hash": -k, "answer": "accept" if k % m else
         "reject", "_annotator_id": name, "_session_id": name} for m, name in enumerate(who, start=2) for k in range(40)
    ]  # fmt: skip
    read = read_file(file("a.jsonl", "\n".join(map(json.dumps, rows))))
    assert (read.ratings.judges, read.ratings.persons) == (("gpt-4o",), ("anna", "ben"))


def test_of_langsmiths_statistics_of_feedback_only_the_averages_are_answers(file):
    rows = [f"r{k},text {k},{k % 2},1,{k % 3 % 2},1" for k in range(40)]
    keys = ("correctness", "user_score")
    header = ",".join(f"feedback_stats.{key}.{what}" for key in keys for what in ("avg", "n"))
    read = read_file(file("a.csv", "\n".join([f"id,outputs,{header}", *rows])))
    assert read.ratings.raters == {
        "feedback_stats.correctness.avg": "judge", "feedback_stats.user_score.avg": "person"
    }  # fmt: skip


def test_what_people_annotated_beside_weaves_scores_is_theirs(file):
    rows = [f"c{k},question {k},{k % 5 + 1},{k * 2 % 5 + 1}" for k in range(40)]
    columns = "id,inputs.question,output.scores.llm_judge.score,annotation.human_quality"
    read = read_file(file("a.csv", "\n".join([columns, *rows])))
    assert read.ratings.raters == {"output.scores.llm_judge": "judge", "annotation.human_quality": "person"}


@pytest.mark.parametrize(("people", "judge"), [("HUMAN", "LLM"), ("human", "gpt-4o"), ("anna", "claude")])
def test_a_score_per_row_of_no_known_tool_is_by_whom_its_source_names(file, people, judge):
    """Opik's columns are called as many others' are: id, name, source and value; `HUMAN` is no source of Opik's."""
    rows = [
        (f"t{k}", criterion, 1 + (k + n + (who == judge) * (k % 4 == 0)) % 5, who)
        for k in range(40) for n, criterion in enumerate(("helpfulness", "accuracy")) for who in (people, judge)
    ]  # fmt: skip
    read = read_file(file("a.csv", csv("id,name,value,source", rows)))
    assert dict(read.ratings.raters) == {people: "person", judge: "judge"}
    assert (read.mapping.criterion, set(read.ratings.headline)) == ("name", {"helpfulness", "accuracy"})


CROSSED = [
    ("feedback.correct,feedback.concise,feedback.human_correct,feedback.human_concise", "human", "judge"),
    ("scores.Correct,scores.Concise,scores.Human correct,scores.Human concise", "human", "judge"),
    ("feedback.gpt_correct,feedback.gpt_concise,feedback.human_correct,feedback.human_concise", "human", "gpt"),
    ("scores.correct,scores.concise,annotation.human_correct,annotation.human_concise", "annotation_human", "judge"),
    ("output.scores.One.correct,output.scores.Two.concise,annotations.human.correct,annotations.human.concise",
     "annotations_human", "judge"),
    ("output.scores.Correct.passed,output.scores.Concise.passed,annotations.human.Correct,annotations.human.Concise",
     "annotations_human", "judge"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "person", "judge"), CROSSED)
def test_peoples_scores_that_are_called_after_a_judges_are_on_its_criteria(file, columns, person, judge):
    """What people said of one is held against the judge's score of that one, and against no other."""
    rows = [f"c{k},question {k},{k % 2},{k % 3 % 2},{k % 2 ^ (k < 9)},{k % 3 % 2}" for k in range(50)]
    read = read_file(file("a.csv", "\n".join([f"id,inputs.question,{columns}", *rows])))
    assert read.ratings.raters == {judge: "judge", person: "person"}
    assert len(read.ratings.headline) == 2
    alike = {
        criterion: sum(len({*rows}) == 1 for _, rows in part.groupby("item")["response"])
        for criterion, part in read.ratings.table.groupby("criterion", observed=True)
    }  # fmt: skip
    assert sorted(alike.values()) == [41, 50]


def test_a_criterion_that_no_person_was_asked_about_is_not_held_against_another(file):
    rows = [f"c{k},question {k},{k % 2},{k % 5 + 1},{k % 2 ^ (k < 9)},{k % 3 % 2}" for k in range(50)]
    names = "feedback.right,feedback.brief,feedback.human_right,feedback.user_score"
    text = "\n".join([f"id,inputs.question,{names}", *rows])
    asked = r"user_score may be about each of right, brief: say --ignore feedback.user_score, .* human_right is"
    with pytest.raises(RecuseError, match=asked):
        read_file(file("a.csv", text))
    read = read_file(file("a.csv", text), ignore="feedback.user_score")
    assert read.ratings.raters == {"judge": "judge", "human": "person"}
    table = read.ratings.table
    assert {*table["criterion"][table["rater"].eq("human")]} == {"right"}
    alone = read_file(file("a.csv", text), ignore="feedback.user_score,feedback.brief")
    assert alone.ratings.raters == {"feedback.right": "judge", "feedback.human_right": "person"}
