"""Tables and JSON that people's annotation tools export, known by their columns.

| tool | known by | item | rater |
|---|---|---|---|
| WMT, MQM | category, severity, seg_id, system | doc, seg_id | rater |
| Label Studio, CSV and JSON-MIN | annotation_id, annotator, lead_time | id | annotator |
| Mechanical Turk, batch results | HITId, WorkerId, Answer.* | HITId | WorkerId |
| Qualtrics, responses with three header lines | questions in columns | a question | ResponseId |
| SurveyMonkey, two header lines | Respondent ID, Collector ID | a question | email, else Respondent ID |
| Argilla, records and flat rows | X.responses.users, or responses.X | id | user ids; the suggestion's agent |

Of Label Studio's JSON an item is a task, a criterion the control (`from_name`) that was answered by a number or by
choices. Who annotated is a person, the version of a model a judge. Cancelled annotations are no answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from recuse.readers.column_names import is_judge, is_reason
from recuse.readers.columns import FEWEST_TEXTS, Column
from recuse.readers.json_cells import literal
from recuse.readers.json_records import ToolLog, first_record
from recuse.readers.raw_table import Fault, RawTable, cell_text, shown
from recuse.schema import RecuseError

MQM = {"major": 5.0, "minor": 1.0, "neutral": 0.0, "no-error": 0.0, "no error": 0.0}
"""What an error of this severity takes off by Freitag et al. (2021), Experts, Errors, and Context, where
Non-translation takes 25 off, and punctuation 0.1 where it is minor."""


def _mqm(raw: RawTable) -> RawTable | None:
    """An error per row that a rater marked in a translation: the score of each is what its errors take off."""
    frame = raw.frame
    if not {"system", "seg_id", "rater", "category", "severity"} <= {*frame}:
        return None
    category, severity = (frame[name].astype(str).str.strip().str.lower() for name in ("category", "severity"))
    taken = severity.map(MQM)
    if taken.isna().any():
        return None
    taken = taken.mask(category.str.startswith("non-translation"), 25.0)
    taken = taken.mask(category.str.startswith("fluency/punctuation") & severity.eq("minor"), 0.1)
    keys = [name for name in ("system", "doc", "seg_id", "rater") if name in frame]
    first = frame[~frame.duplicated(keys)]
    sums = (-taken).groupby([frame[key] for key in keys], sort=False).sum().to_numpy()
    kept = [name for name in (*keys, "doc_id", "source") if name in frame]
    kinds = ["judge" if is_judge(name) else "person" for name in first["rater"]]
    table = first[kept].assign(score=[f"{one:g}" for one in sums], kind=kinds)
    roles = {"item": tuple(k for k in ("doc", "seg_id") if k in frame), "target": "system", "rater": "rater",
             "kind": "kind", "value": ("score",)}  # fmt: skip
    note = "errors by MQM, added up for each text: major 5, minor 1, minor punctuation 0.1, no translation 25"
    return raw.of_rows(table, first.index, note, roles=roles)


def _label_studio(raw: RawTable) -> RawTable | None:
    """An annotation per row: what differs between annotations of a task are answers, the rest is the task's data."""
    frame = raw.frame
    if not {"annotation_id", "annotator", "id", "lead_time"} <= set(frame.columns):
        return None
    own = ("annotation_id", "annotator", "created_at", "updated_at", "lead_time", "id", "agreement", "sentiment_id")
    tasks = frame.groupby("id", sort=False)
    answers = tuple(
        c for c in map(str, frame.columns) if c not in own and may_rate(frame, c) and (tasks[c].nunique() > 1).any()
    )
    if not answers:
        return None
    annotator = frame["annotator"].str.replace(r"^(\d+)$", r"annotator \1", regex=True)
    roles = {"item": ("id",), "rater": "annotator", "value": answers}
    return raw.noted("annotations of Label Studio, one a row", frame=frame.assign(annotator=annotator), roles=roles)


def _mturk(raw: RawTable) -> RawTable | None:
    """An assignment per row: Answer.* are a worker's, Input.* what the task was given."""
    frame = raw.frame
    given = tuple(c for c in map(str, frame.columns) if c.startswith("Answer."))
    answers = tuple(c for c in given if may_rate(frame, c)) or given
    if not ({"HITId", "WorkerId"} <= set(frame.columns) and answers):
        return None
    taken = frame["Reject"].eq("") if "Reject" in frame else frame["HITId"].ne("")
    own = [c for c in frame if str(c).startswith(("Answer.", "Input.")) or c in ("HITId", "WorkerId")]
    table = frame.loc[taken, own].assign(WorkerId="worker " + frame["WorkerId"])
    left_out = f"; {int((~taken).sum())} rejected assignments are left out" if not taken.all() else ""
    roles = {"item": ("HITId",), "rater": "WorkerId", "value": answers}
    return raw.of_rows(table, table.index, f"results of Mechanical Turk: workers are people{left_out}", roles=roles)


def _prodigy(raw: RawTable) -> RawTable | None:
    """A task and annotator per row: what was accepted of several options, else whether the label was; "ignore" is no
    answer."""
    frame = raw.frame
    session = next((c for c in ("_annotator_id", "_session_id") if c in frame), "")
    if not (session and {"_task_hash", "answer"} <= set(frame.columns)):
        return None
    answer = frame["answer"].where(frame["answer"].ne("ignore"), "")
    if "accept" in frame:
        chosen = frame["accept"].map(lambda cell: "|".join(map(str, as_list(cell))))
        answer = chosen.where(frame["answer"].eq("accept"), "")
    item = "_input_hash" if "accept" in frame else "_task_hash"
    table = frame.drop(columns=[c for c in ("accept", "options") if c in frame]).assign(answer=answer)
    who = frame[session]
    while who.nunique() > 1 and (parts := who.str.partition("-"))[0].nunique() == 1 and parts[1].ne("").all():
        who = parts[2]  # behind the data set's name, whatever that speaks of
    table = table.drop(columns=session).assign(annotator=who)
    roles = {"item": (item,), "rater": "annotator", "value": ("answer",)}
    about = {"criterion": "label"} if "accept" not in frame and "label" in frame else {}
    return raw.noted("annotations of Prodigy, one a row", frame=table, roles={**roles, **about})


def _qualtrics(raw: RawTable) -> RawTable | None:
    """A response per row, below two lines with the questions' words and ids, of which the latter may be gone."""
    frame, names = raw.frame, raw.names
    if "ResponseId" not in frame or len(frame) < 3:
        return None
    words, ids = map(str, frame["ResponseId"].iloc[:2])
    three = ids.startswith('{"ImportId"')
    if not three and (words != "Response ID" or "UserLanguage" not in names):
        return None
    last = 0 if three else names.index("UserLanguage") + 1  # of what every export begins with
    questions = {c: c for c in names[last:] if not three or '"QID' in str(frame[c].iloc[1])}
    return _of_respondents(raw, 1 + three, "ResponseId", questions, "Qualtrics")


def _surveymonkey(raw: RawTable) -> RawTable | None:
    """A response per row, below a line that says which part of its question, which stands above the first, each is."""
    frame, whose = raw.frame, ("Email Address", "Respondent ID")
    if not {"Respondent ID", "Collector ID"} <= {*frame} or len(frame) < 2 or frame["Respondent ID"].iloc[0]:
        return None
    questions, question = {}, ""
    for name, part in zip(raw.names, map(str, frame.iloc[0]), strict=True):
        question = question if re.fullmatch(r"column \d+", name) else name
        if part:
            questions[name] = question if part.endswith("Response") else f"{question} {part}"
    named = next((c for c in whose if c in frame and not frame[c].iloc[1:].isin([""]).any()), whose[1])
    return _of_respondents(raw, 1, named, questions, "SurveyMonkey")


def _of_respondents(raw: RawTable, lines: int, whose: str, questions: Mapping[str, str], tool: str) -> RawTable:
    """A survey's responses below so many further `lines` of its header, with a column for each text that was rated.
    `RecuseError` where these are too few to be texts."""
    table = raw.frame.iloc[lines:]
    columns = [Column(c, table[c]) for c in questions]
    rated = {
        c.name: questions[c.name] for c in columns
        if c.rating and (c.numeric or c.holds_labels or any(c.words & other.words for other in columns if other != c))
    }  # fmt: skip
    if len(rated) < FEWEST_TEXTS and not raw.given.get("rater"):
        raise RecuseError(
            f"responses of {tool} with {len(rated)} questions ({', '.join(map(shown, [*rated.values()][:3]))}): "
            "whether each is about a text or on a criterion is not known; write a row for each answer, with columns "
            "item, rater, criterion and rating, and a judge's answers likewise"
        )
    table = table[[whose, *rated]].rename(columns={**rated, whose: "respondent"})
    note = f"responses of {tool}: a respondent per row, the questions in columns"
    return raw.of_rows(table, table.index, note, roles={"rater": "respondent"})


def _argilla(raw: RawTable) -> RawTable | None:
    """A record per row, with lists of users' responses and a suggestion by an agent, question by question."""
    columns = raw.names
    flat = [c.removesuffix(".responses") for c in columns if f"{c}.users" in columns and c.endswith(".responses")]
    nested = [m[1] for c in columns if (m := re.fullmatch(r"responses\.([^.]+)", c))]
    nested = [question for question in nested if f"suggestions.{question}.value" in columns]
    if not (flat or nested):
        return None
    rows: list[dict[str, str]] = []
    places: list[int] = []
    for k, cells in enumerate(raw.frame[columns].to_numpy(dtype=object)):
        record = dict(zip(columns, map(str, cells), strict=True))
        item = str(record.get("id") or k + 1)
        texts = {c.rsplit(".", 1)[-1]: v for c, v in record.items() if c.startswith("fields.") or c == "text"}
        for question in flat or nested:
            for who, kind, value in _responses(record, question, in_lists=bool(flat)):
                rows.append({"item": item, "rater": who, "kind": kind, "criterion": question, "value": value, **texts})
                places.append(k)
    if not rows:
        return None
    roles = {"item": ("item",), "rater": "rater", "kind": "kind", "criterion": "criterion", "value": ("value",)}
    note = "records of Argilla: responses are by people, suggestions by a judge"
    return raw.of_rows(pd.DataFrame(rows, dtype=object).fillna(""), places, note, roles=roles)


def _responses(record: Mapping[str, str], question: str, *, in_lists: bool) -> Iterator[tuple[str, str, str]]:
    """Who answered a question, a person or a judge, and what. `in_lists`: values and users have a list each."""
    responses = [one for one in as_list(record.get(f"responses.{question}", "")) if isinstance(one, Mapping)]
    given = [[one.get("value"), one.get("user_id"), one.get("status", "submitted")] for one in responses]
    suggestion, suggested = f"suggestions.{question}", f"suggestions.{question}.value"
    if in_lists:
        values, users, states = (
            as_list(record.get(f"{question}.responses{of}", "")) for of in ("", ".users", ".status")
        )
        given = [*map(list, zip(values, users, states or ["submitted"] * len(values), strict=False))]
        suggestion = suggested = f"{question}.suggestion"
    yield from ((str(user), "person", cell_text(value)) for value, user, state in given if state == "submitted")
    if suggested in record:
        yield record.get(f"{suggestion}.agent") or "suggestion", "judge", record[suggested]


def may_rate(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column holds several answers, and is not called as remarks are."""
    return Column(name, frame[name]).rating and frame[name].nunique() > 1 and not is_reason(name)


def as_list(cell: str) -> list[Any]:
    """The list that a cell holds as JSON or as Python writes it; [] for anything else."""
    value = literal(cell) if cell else []
    return value if isinstance(value, list) else []


ANNOTATIONS = (_label_studio, _mturk, _prodigy, _qualtrics, _surveymonkey, _argilla, _mqm)


ANSWERS = ("rating", "number", "choices")


def label_studio_records(value: Any) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per annotation and control: item, rater, kind, criterion, value, and what is known of the task."""
    rows: list[dict[str, Any]] = []
    other: list[str] = []
    own = {"item", "rater", "kind", "criterion", "value"}
    for task in value:
        data = task.get("data")
        facts = data.items() if isinstance(data, Mapping) else ()
        words = {str(k): str(v) for k, v in facts if isinstance(v, str | int | float) and str(k) not in own}
        base = {"item": str(task.get("id")), **words}
        for who, kind, results in _answered(task):
            for result in results:
                criterion = str(result.get("from_name") or "rating")
                if (answer := _answer(result.get("value"))) is None:
                    other.append(f"task {base['item']}, {criterion}")
                else:
                    rows.append({**base, "rater": who, "kind": kind, "criterion": criterion, "value": answer})
    what = "answers are neither a number nor choices, such as marked words"
    return rows, Fault.where(what, other, "they are left out")


def _answered(task: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    for annotation in task.get("annotations") or ():
        if not annotation.get("was_cancelled"):
            who = annotation.get("completed_by")
            who = who.get("email") or who.get("id") if isinstance(who, Mapping) else who
            yield f"annotator {who}" if isinstance(who, int) else str(who), "person", annotation.get("result") or []
    for prediction in task.get("predictions") or ():
        if isinstance(prediction, Mapping):
            yield str(prediction.get("model_version") or "prediction"), "judge", prediction.get("result") or []


def _answer(value: Any) -> str | None:
    """A number as it stands, one choice, or several joined; None for what is no answer."""
    given = next((value[name] for name in ANSWERS if name in value), None) if isinstance(value, Mapping) else None
    if isinstance(given, list):
        return "|".join(map(str, given)) or None
    return None if given is None else str(given)


LABEL_STUDIO = ToolLog(
    "an export of Label Studio",
    lambda value: isinstance((first := first_record(value)).get("annotations"), list) and "data" in first,
    label_studio_records,
)
