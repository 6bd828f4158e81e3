"""Tables that other tools export, known by their columns: which column says what was judged, by whom, and what of it.

| tool | known by | item | rater |
|---|---|---|---|
| Langfuse, scores | traceId, name, value, source | traceId, observationId | authorUserId, else the source |
| Phoenix, annotations | span_id or trace_id, annotator_kind | it | user_id of HUMAN, else name or kind |
| MLflow, assessments | assessments, or source_type and value | trace_id | source.source_id, else the type |
| LangSmith, feedback | run_id, key, feedback_source.type | run_id | feedback_source.user_id of app, else the type |
| Opik, scores of traces | feedback_scores, name, value, source | id | created_by of ui, else the source |
| LangSmith, Opik, Braintrust, Weave | scores.*, feedback.* beside what was asked | id | below |
| promptfoo, CSV | [PASS], [FAIL] or [ERROR] before an output | the row | one judge, a system for each such column |

What people annotate with is in `recuse.readers.annotation_exports`. Sources: the tools' public documentation of these
exports, and for Phoenix what its client builds. Whatever the user says of a column comes first. Named scores: where one
bears a person's name, or a judge's, each is a rater's; else they are criteria of one judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from recuse.readers.annotation_exports import ANNOTATIONS, as_list, may_rate
from recuse.readers.column_names import CRITERIA, is_attribute, is_judge, is_person, is_rater, listed, plain
from recuse.readers.columns import Column
from recuse.readers.json_records import from_records
from recuse.readers.raw_table import RawTable
from recuse.schema import RecuseError


def as_exported(raw: RawTable) -> RawTable:
    """The table with roles of its columns where a tool is known by them; else the table as it is."""
    if raw.made_by:  # of a tool's log text and question are told, whatever they look like
        return replace(raw, roles={"text": "text", "slices": ()}) if {"text", "question"} <= set(raw.frame) else raw
    listed = _as_mlflow(raw)
    return next((exported for read in TOOLS if (exported := read(listed)) is not None), raw)


@dataclass(frozen=True, slots=True)
class Scores:
    """A tool's export with a score per row: what it is `called`, and which of its columns says what. `source` says by
    its `people` that a person scored, whom `author` names; the rest are judges, named by `judge` where it is filled.
    Of the columns `values` the first that is filled counts."""

    called: str
    item: tuple[str, ...]
    criterion: str
    source: str
    values: tuple[str, ...]
    author: str
    people: str
    judge: str = ""
    unsure: str = ""  # a source that may be a person's or a program's
    note: str = "annotations are by people, other sources by judges"

    def read(self, raw: RawTable) -> RawTable | None:
        """The rows with columns rater, kind and value; None for another table."""
        frame = raw.frame
        wanted = {self.item[0], self.criterion, self.source}
        values = [name for name in self.values if name in frame]
        if not (wanted <= set(frame.columns) and values):
            return None
        source, value = frame[self.source], frame[values[0]]
        for other in values[1:]:
            value = value.where(value.ne(""), frame[other])
        person = source.eq(self.people)
        rater = source
        for column, whose in ((self.author, person), (self.judge, ~person)):
            if column in frame:
                rater = rater.where(~whose | frame[column].eq(""), frame[column])
        about, note = frame[self.criterion], self.note
        of_people, others = about[person].unique(), about[~person].unique()
        criteria = {word for name in others for word in plain(name).split("_")} & {*CRITERIA}
        one = len(of_people) == 1 and len(others) and of_people[0] not in others and all(map(is_judge, others))
        if one and criteria <= {*plain(of_people[0]).split("_")}:
            rater, about = rater.mask(~person & rater.eq(source), about), about.mask(~person, of_people[0])
            note += f"; of a judge's rows {self.criterion} is who scored"
        known = {*values, self.source, self.author, self.judge} & {*frame} - _stated(raw)
        table = frame.drop(columns=[*known]).assign(
            rater=rater, value=value, kind=person.map({True: "person", False: "judge"})
        )
        if self.unsure and source.eq(self.unsure).any():
            raise RecuseError(
                f"scores with {self.source} {self.unsure!r} may be people's or a program's; write a column "
                "kind with person or judge for each row, or leave them out"
            )
        item = tuple(name for name in self.item if name in frame and frame[name].ne("").any())
        table = table.assign(**{self.criterion: about})
        roles = {"item": item, "criterion": self.criterion, "rater": "rater", "kind": "kind", "value": ("value",)}
        return raw.of_rows(table, table.index, f"{self.called}: {note}", roles=roles)


OPIK = "what somebody entered in its pages (ui) is a person's, what comes by its client (sdk) a judge's"
SCORES = (
    Scores("scores of Langfuse", ("traceId", "observationId"), "name", "source", ("stringValue", "value"),
           "authorUserId", "ANNOTATION"),
    *(Scores("annotations of Phoenix", (item,), name, "annotator_kind",
             ("result.score", "result.label", "score", "label"), "user_id", "HUMAN")
      for item in ("span_id", "context.span_id", "trace_id", "context.trace_id")
      for name in ("annotation_name", "name")),
    Scores("assessments of MLflow", ("trace_id",), "assessment_name", "source.source_type", ("feedback.value",),
           "source.source_id", "HUMAN", "source.source_id"),
    *(Scores("scores of Opik", ("id",), name, "source", ("value",), "created_by", "ui", note=OPIK)
      for name in ("feedback_scores.name", "name")),
    Scores("feedback of LangSmith", ("run_id",), "key", "feedback_source.type", ("score", "value"),
           "feedback_source.user_id", "app", unsure="api"),
)  # fmt: skip


MLFLOW = {
    "trace_id": ("info.trace_id", "request_id", "info.request_id", "item"), "assessment_name": ("name",),
    "source.source_type": ("source_type",), "source.source_id": ("source_id",),
    "feedback.value": ("feedback_value", "value"),
}  # fmt: skip
"""What columns of its assessments are called, and what else they are called in tables that were made of them."""


def _as_mlflow(raw: RawTable) -> RawTable:
    """Assessments of MLflow by the usual names of their columns, of traces a row for each, which a cell holds as JSON
    or as Python writes it; any other table as it is."""
    for column in [name for name in ("assessments", "info.assessments") if name in raw.frame][:1]:
        name = "info.trace_id" if column.startswith("info.") else "trace_id"
        traces = enumerate(zip(raw.frame.get(name, raw.frame[column]), raw.frame[column], strict=True))
        rows = [
            (k, {"trace_id": trace, **one}) for k, (trace, cell) in traces for one in as_list(cell)
            if isinstance(one, Mapping) and "feedback" in one
        ]  # fmt: skip
        if rows:
            raw = raw.of_rows(from_records(raw.path, [one for _, one in rows]).frame, [k for k, _ in rows])
    other = {o: name for name, others in MLFLOW.items() if name not in raw.frame
             for o in [o for o in others if o in raw.frame][:1]}  # fmt: skip
    frame = raw.frame.rename(columns=other)
    if not {"trace_id", "source.source_type", "feedback.value"} <= {*frame} or {*other} & _stated(raw):
        return raw
    if not {*frame["source.source_type"]} <= {"HUMAN", "LLM_JUDGE", "AI_JUDGE", "CODE"}:
        return raw
    return replace(raw, frame=frame if "assessment_name" in frame else frame.assign(assessment_name="rating"))


def _stated(raw: RawTable) -> set[str]:
    """Columns that somebody speaks of, and whatever else was said."""
    return {name for value in raw.given.values() if isinstance(value, str | list | tuple) for name in listed(value)}


NAMED_SCORES = re.compile(r"(?:.*\.)?(scores|feedback_scores|feedback)\.(.+)")
ASKED = ("inputs", "input", "output", "outputs", "metrics", "metadata")
"""What such exports hold beside the scores, by itself or with further words behind a point."""


def _named_scores(raw: RawTable) -> RawTable | None:
    """A row per example with what every scorer says of it in a column of its own."""
    columns = raw.names
    named = {c: m[2] for c in columns if (m := NAMED_SCORES.fullmatch(c)) and may_rate(raw.frame, c)}
    beside = [c for c in columns if c.split(".")[0] in ASKED and c not in named]
    if not named or not beside or any(c in columns for c in ("scores", "feedback_scores", "feedback")):
        return None
    known = [Column(c, raw.frame[c]) for c in named]
    others = [Column(c, raw.frame[c]) for c in columns if c not in named and is_person(c) and not is_attribute(c)]
    named |= {c.name: c.name for c in others if any(map(c.only_answers_of, known))}  # annotation.human_quality
    if any(map(is_rater, named.values())):
        roles: dict[str, Any] = {"raters": {name: (name,) for name in named}}
    else:
        roles = {"raters": {"judge": (*named,)}, "criteria": named}
    return raw.noted(f"{', '.join(named)} are ratings, nothing else is", roles=roles)


VERDICT = re.compile(r"\[(PASS|FAIL|ERROR)\]")


def _promptfoo(raw: RawTable) -> RawTable | None:
    """A test per row with the output of each system, which begins with what its assertions came to."""
    outputs = [name for name in raw.names if all(map(VERDICT.match, map(str, raw.frame[name])))]
    if not outputs:
        return None
    kept = raw.frame.columns.drop([*outputs, "Status", "Score", "Named Scores", "Grader Reason", "Comment"], "ignore")
    note = f"results of promptfoo: its assertions, one judge, graded {', '.join(outputs)}"
    table = raw.a_row_each(outputs, "system", {"output": outputs}, kept, note)
    judges = [str(text)[1:].partition("]")[0].lower() for text in table.frame["output"]]
    return replace(table, frame=table.frame.assign(judge=judges))


def _phoenix_evals(raw: RawTable) -> RawTable | None:
    """What Phoenix's `evaluate_dataframe` returns: each evaluator's label or score, in objects of their own."""
    columns = raw.names
    names = [m[1] for c in columns if (m := re.fullmatch(r"(.+)_execution_details(?:\.status)?", c))]
    given = {
        n: c for n in names for c in (f"{n}_score.score", f"{n}_score.label") if c in columns
    }  # a label comes first
    if not given:
        return None
    beginnings = tuple(f"{n}_{part}" for n in names for part in ("score", "execution_details"))
    own = [c for c in columns if c.startswith(beginnings)]
    frame = raw.frame.drop(columns=own).assign(**{f"judge_{n}": raw.frame[c] for n, c in given.items()})
    return raw.noted(f"evaluators of Phoenix, read as judges: {', '.join(given)}", frame=frame)


TOOLS: tuple[Callable[[RawTable], RawTable | None], ...] = (
    *(scores.read for scores in SCORES), *ANNOTATIONS, _phoenix_evals, _promptfoo, _named_scores,
)  # fmt: skip
