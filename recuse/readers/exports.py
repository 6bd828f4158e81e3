"""Tables that other tools export, known by their columns: which column says what was judged, by whom, and what of it.

| tool | known by | item | rater |
|---|---|---|---|
| Langfuse, scores | traceId, name, value, source | traceId, observationId | authorUserId, else the source |
| Label Studio, CSV and JSON-MIN | annotation_id, annotator, lead_time | id | annotator |
| Mechanical Turk, batch results | HITId, WorkerId, Answer.* | HITId | WorkerId |
| Braintrust, experiment rows | scores.*, metrics.* or metadata.* | id | a column of `scores` each |
| Argilla, records and flat rows | X.responses.users, or responses.X | id | user ids; the suggestion's agent |

Sources: the tools' public documentation of these exports. Whatever the user says of a column comes first.

The JSON export of Label Studio: a list of tasks, each with people's annotations and models' predictions.

    [{"id": 7, "data": {...}, "predictions": [{"model_version": "gpt", "result": [...]}],
      "annotations": [{"completed_by": {"email": ...}, "result": [
          {"from_name": "helpful", "type": "rating", "value": {"rating": 4}}]}]}]

An item is a task, a criterion the control (`from_name`) that was answered by a number or by choices. Who annotated is a
person, the version of a model a judge. Cancelled annotations are no answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recuse.readers.opening import SHOWN, Fault, parsed
from recuse.readers.raw_table import RawTable, ToolLog, cell_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LABEL_STUDIO", "as_exported"]

Export = tuple[RawTable, dict[str, Any], tuple[str, ...]]


def as_exported(raw: RawTable) -> Export:
    """The table, roles of its columns and a note where a tool is known by them; else the table as it is."""
    if not raw.made_by:
        for read in TOOLS:
            if (exported := read(raw)) is not None:
                return exported
    return raw, {}, ()


def _langfuse(raw: RawTable) -> Export | None:
    """A score per row. Who annotated is a person, evaluators are one judge; a score of words has a stringValue."""
    frame = raw.frame
    if not {"traceId", "name", "value", "source"} <= set(frame.columns):
        return None
    value = frame["value"]
    if "stringValue" in frame:
        value = frame["stringValue"].where(frame["stringValue"].ne("") & frame["dataType"].ne("BOOLEAN"), value)
    person = frame["source"].eq("ANNOTATION")
    author = frame["authorUserId"] if "authorUserId" in frame else frame["source"]
    rater = frame["source"].where(~(person & author.ne("")), author)
    table = frame.assign(rater=rater, value=value)
    roles: dict[str, Any] = {
        "item": ("traceId",),
        "criterion": "name",
        "rater": "rater",
        "kind": "source",
        "value": ("value",),
    }
    if "observationId" in frame and frame["observationId"].ne("").any():
        roles["item"] = ("traceId", "observationId")
    return _kept(raw, table), roles, ("scores of Langfuse: annotations are by people, other sources by judges",)


def _label_studio(raw: RawTable) -> Export | None:
    """An annotation per row: what differs between annotations of a task are answers, the rest is the task's data."""
    frame = raw.frame
    if not {"annotation_id", "annotator", "id", "lead_time"} <= set(frame.columns):
        return None
    own = ("annotation_id", "annotator", "created_at", "updated_at", "lead_time", "id", "agreement", "sentiment_id")
    tasks = frame.groupby("id", sort=False)
    answers = tuple(c for c in map(str, frame.columns) if c not in own and (tasks[c].nunique() > 1).any())
    if not answers:
        return None
    annotator = frame["annotator"].str.replace(r"^(\d+)$", r"annotator \1", regex=True)
    roles = {"item": ("id",), "rater": "annotator", "value": answers}
    return _kept(raw, frame.assign(annotator=annotator)), roles, ("annotations of Label Studio, one a row",)


def _mturk(raw: RawTable) -> Export | None:
    """An assignment per row: Answer.* are a worker's, Input.* what the task was given."""
    frame = raw.frame
    answers = tuple(c for c in map(str, frame.columns) if c.startswith("Answer."))
    if not ({"HITId", "WorkerId"} <= set(frame.columns) and answers):
        return None
    taken = frame["Reject"].eq("") if "Reject" in frame else frame["HITId"].ne("")
    table = frame.loc[taken].assign(WorkerId="worker " + frame["WorkerId"])
    left_out = f"; {int((~taken).sum())} rejected assignments are left out" if not taken.all() else ""
    roles = {"item": ("HITId",), "rater": "WorkerId", "value": answers}
    return _kept(raw, table), roles, (f"results of Mechanical Turk: workers are people{left_out}",)


def _braintrust(raw: RawTable) -> Export | None:
    """A row per example: every score is a rater's, and nothing else is."""
    columns = list(map(str, raw.frame.columns))
    scores = tuple(c for c in columns if c.startswith("scores."))
    if not scores or not any(c.startswith(("metrics.", "metadata.")) for c in columns):
        return None
    roles = {"raters": {name: (name,) for name in scores}}
    return raw, roles, (f"scores of Braintrust: {', '.join(scores)} are raters, nothing else is",)


def _argilla(raw: RawTable) -> Export | None:
    """A record per row, with lists of users' responses and a suggestion by an agent, question by question."""
    columns = list(map(str, raw.frame.columns))
    flat = [c.removesuffix(".responses") for c in columns if f"{c}.users" in columns and c.endswith(".responses")]
    nested = [
        m[1]
        for c in columns
        if (m := re.fullmatch(r"responses\.([^.]+)", c)) and f"suggestions.{m[1]}.value" in columns
    ]
    questions = flat or nested
    if not questions:
        return None
    rows: list[dict[str, str]] = []
    places: list[int] = []
    for k, cells in enumerate(raw.frame[columns].to_numpy(dtype=object)):
        record = dict(zip(columns, map(str, cells), strict=True))
        item = str(record.get("id") or k + 1)
        texts = {c.rsplit(".", 1)[-1]: v for c, v in record.items() if c.startswith("fields.") or c == "text"}
        for question in questions:
            for who, kind, value in _flat(record, question) if flat else _nested(record, question):
                rows.append({"item": item, "rater": who, "kind": kind, "criterion": question, "value": value, **texts})
                places.append(raw.at(k))
    import pandas as pd

    if not rows:
        return None
    table = replace(raw, frame=pd.DataFrame(rows, dtype=object).fillna(""), numbers=tuple(places), text="", made_by="")
    roles = {"item": ("item",), "rater": "rater", "kind": "kind", "criterion": "criterion", "value": ("value",)}
    return table, roles, ("records of Argilla: responses are by people, suggestions by a judge",)


def _flat(record: Mapping[str, str], question: str) -> Iterator[tuple[str, str, str]]:
    values, users = (_list(record.get(f"{question}.responses{part}", "")) for part in ("", ".users"))
    states = _list(record.get(f"{question}.responses.status", "")) or ["submitted"] * len(values)
    for value, user, state in zip(values, users, states, strict=False):
        if state == "submitted":
            yield str(user), "person", cell_text(value)
    if f"{question}.suggestion" in record:
        agent = record.get(f"{question}.suggestion.agent") or "suggestion"
        yield agent, "judge", record[f"{question}.suggestion"]


def _nested(record: Mapping[str, str], question: str) -> Iterator[tuple[str, str, str]]:
    for response in _list(record.get(f"responses.{question}", "")):
        if isinstance(response, Mapping) and response.get("status", "submitted") == "submitted":
            yield str(response.get("user_id")), "person", cell_text(response.get("value"))
    agent = record.get(f"suggestions.{question}.agent") or "suggestion"
    yield agent, "judge", record.get(f"suggestions.{question}.value", "")


def _list(cell: str) -> list[Any]:
    try:
        value = parsed(cell) if cell else []
    except ValueError:
        return []
    return value if isinstance(value, list) else []


def _kept(raw: RawTable, frame: pd.DataFrame) -> RawTable:
    """The table with these rows and columns of it, each row at its old place."""
    places = tuple(raw.at(int(k)) for k in frame.index)
    return replace(raw, frame=frame.reset_index(drop=True), numbers=places, text="")


TOOLS: tuple[Callable[[RawTable], Export | None], ...] = (_langfuse, _label_studio, _mturk, _braintrust, _argilla)


ANSWERS = ("rating", "number", "choices")


def is_label_studio(value: Any) -> bool:
    """Whether the value is a list of tasks with annotations."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, Mapping) and isinstance(first.get("annotations"), list) and "data" in first


def label_studio_records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per annotation and control: item, rater, kind, criterion, value, and what is known of the task."""
    rows: list[dict[str, Any]] = []
    other: list[str] = []
    for task in value:
        base = {"item": str(task.get("id")), **_data_columns(task.get("data"))}
        for who, kind, results in _answered(task):
            for result in results:
                criterion = str(result.get("from_name") or "rating")
                if (answer := _answer(result.get("value"))) is None:
                    other.append(f"task {base['item']}, {criterion}")
                else:
                    rows.append({**base, "rater": who, "kind": kind, "criterion": criterion, "value": answer})
    what = "answers are neither a number nor choices, such as marked words"
    return rows, [Fault.of(what, other[:SHOWN], "they are left out", len(other))] if other else []


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


def _data_columns(data: Any) -> dict[str, str]:
    """What the task's data say in one word or text, under names that no record has."""
    taken = {"item", "rater", "kind", "criterion", "value"}
    told = data.items() if isinstance(data, Mapping) else ()
    return {str(k): str(v) for k, v in told if isinstance(v, str | int | float) and str(k) not in taken}


LABEL_STUDIO = ToolLog("an export of Label Studio", is_label_studio, label_studio_records)
