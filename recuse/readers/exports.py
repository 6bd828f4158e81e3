"""Tables that other tools export, known by their columns: which column says what was judged, by whom, and what of it;
those of crowd platforms are in `recuse.readers.crowd_exports`. Sources: the tools' public documentation, for Phoenix
what its client builds (docs/files.md). Whatever the user says of a column comes first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from recuse.readers import column_names
from recuse.readers.column_names import CRITERIA, is_attribute, is_judge, is_person, is_rater, listed, plain
from recuse.readers.columns import FEWEST_TEXTS, Column
from recuse.readers.crowd_exports import PLATFORMS, appen, as_list, ground_truth, may_rate, of_annotations
from recuse.readers.evaluation_logs import ANSWERS
from recuse.readers.json_cells import literal
from recuse.readers.json_records import from_records
from recuse.readers.rater_columns import by_rater, whose_of
from recuse.readers.raw_table import RawTable, cell_text, shown
from recuse.schema import RecuseError

MQM = {"major": 5.0, "minor": 1.0, "neutral": 0.0, "no-error": 0.0, "no error": 0.0}
"""What an error of this severity takes off by Freitag et al. (2021), Experts, Errors, and Context, where
Non-translation takes 25 off, and punctuation 0.1 where it is minor."""
NAMED_SCORES = re.compile(r"(?:.*\.)?(scores|feedback_scores|feedback)\.(.+)")
ASKED = ("inputs", "input", "output", "outputs", "metrics", "metadata")
"""What such exports hold beside the scores, by itself or with further words behind a point."""


def as_exported(raw: RawTable) -> RawTable:
    """The table with roles of its columns where a tool is known by them; else the table as it is."""
    if raw.made_by:  # of a tool's log text and question are told, whatever they look like
        return replace(raw, roles={"text": "text", "slices": ()}) if {"text", "question"} <= set(raw.frame) else raw
    table = _as_mlflow(raw)
    readers = (read for columns, read in TOOLS if columns <= {*table.frame})
    return next((exported for read in readers if (exported := read(table)) is not None), raw)


class Scores(NamedTuple):
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
    sources: tuple[str, ...] = ()  # all that there are, where many a table has columns of these names
    note: str = "annotations are by people, other sources by judges"

    def read(self, raw: RawTable) -> RawTable | None:
        """The rows with columns rater, kind and value; None for another table."""
        frame = raw.frame
        values = [name for name in self.values if name in frame]
        if not values:
            return None
        source, value = frame[self.source], frame[values[0]]
        if self.sources and not source.isin(self.sources).all():
            return None
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
        if self.unsure and source.eq(self.unsure).any():
            raise RecuseError(
                f"scores with {self.source} {self.unsure!r} may be people's or a program's; write a column "
                "kind with person or judge for each row, or leave them out"
            )
        item = tuple(name for name in self.item if name in frame and frame[name].ne("").any())
        kind = person.map({True: "person", False: "judge"})
        known = {*values, self.source, self.author, self.judge} & {*frame} - _stated(raw)
        table = frame.drop(columns=[*known]).assign(rater=rater, value=value, kind=kind, **{self.criterion: about})
        roles = {"item": item, "criterion": self.criterion, "rater": "rater", "kind": "kind", "value": ("value",)}
        return raw.of_rows(table, table.index, f"{self.called}: {note}", roles=roles)


OPIK = "what somebody entered in its pages (ui) is a person's, what comes by its client (sdk) a judge's"
SCORES = (
    Scores("scores of Langfuse", ("traceId", "observationId"), "name", "source", ("stringValue", "value"),
           "authorUserId", "ANNOTATION"),
    *(Scores("scores of Langfuse", (item,), "name", "source", ("string_value", "value"), "author_user_id", "ANNOTATION",
             sources=("ANNOTATION", "EVAL", "API")) for item in ("trace_id", "id")),
    *(Scores("annotations of Phoenix", (item,), name, "annotator_kind",
             ("result.score", "result.label", "score", "label"), "user_id", "HUMAN")
      for item in ("span_id", "context.span_id", "trace_id", "context.trace_id")
      for name in ("annotation_name", "name")),
    Scores("assessments of MLflow", ("trace_id",), "assessment_name", "source.source_type", ("feedback.value",),
           "source.source_id", "HUMAN", "source.source_id"),
    *(Scores("scores of Opik", ("id",), name, "source", ("value",), "created_by", "ui", note=OPIK,
             sources=("ui", "sdk", "online_scoring"))
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
    """Assessments of MLflow by their usual names, a row for each that a cell of a trace holds; others as they are."""
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


def _named_scores(raw: RawTable) -> RawTable | None:
    """A column per scorer (LangSmith, Opik, Braintrust, Weave): raters where one is called so, else criteria of one."""
    columns = raw.heeded
    named = {c: m[2] for c in columns if (m := NAMED_SCORES.fullmatch(c)) and may_rate(raw.frame, c)}
    beside = [c for c in columns if c.split(".")[0] in ASKED and c not in named]
    if not named or not beside or any(c in columns for c in ("scores", "feedback_scores", "feedback")):
        return None
    known = [Column(c, raw.frame[c]) for c in named]
    others = [Column(c, raw.frame[c]) for c in columns if c not in named and is_person(c) and not is_attribute(c)]
    named |= {c.name: c.name for c in others if any(map(c.only_answers_of, known))}  # annotation.human_quality
    if whose := {} if _stated(raw) & {*named} else _crossed(raw.frame, named):
        roles: dict[str, Any] = {"raters": by_rater({c: rater for c, (rater, _) in whose.items()})}
        roles["criteria"] = {c: about for c, (_, about) in whose.items()}
    elif any(map(is_rater, named.values())):
        roles = {"raters": {name: (name,) for name in named}}
    else:
        roles = {"raters": {"judge": (*named,)}, "criteria": named}
    return raw.noted(f"{', '.join(named)} are ratings, nothing else is", roles=roles)


def _crossed(frame: pd.DataFrame, named: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Column -> rater and criterion, where all are called after both or people's after one judge's criteria (correct,
    concise, human_correct); empty where they are not. `RecuseError` for a rater of no criterion beside several."""
    endings = {plain(name.rpartition(".")[2]) for name in named.values() if is_person(name)}
    about = {n: next((p for p in n.split(".") if plain(p) in endings), n) for n in named.values() if not is_rater(n)}
    by_name = {about.get(name, name): column for column, name in named.items()}  # Tone, of the scorer's Tone.passed
    if len(by_name) < len(named):
        return {}
    whose = column_names.crossed_names([*by_name]) or {}
    columns = [Column(name, frame[column]) for name, column in by_name.items()]
    bare = [c for c in columns if not c.is_rater]
    own = whose_of((c for c in columns if c.is_rater), bare)
    if not whose and len(bare) > 1 and any(c.is_person for c in own):
        if other := [by_name[c.name] for c in columns if c not in (*bare, *own)]:
            ignored = column_names.as_option(other)
            raise RecuseError(
                f"{', '.join(other)} may be about each of {', '.join(map(str, bare))}: say --ignore {ignored}, or call "
                f"it after one of them, as {next(iter(own))} is"
            )
        whose = {c.name: ("judge", c.name) for c in bare}
        whose |= {c.name: (rater, criterion.name) for c, (rater, criterion) in own.items()}
    return {by_name[name]: both for name, both in whose.items()}


def _promptfoo(raw: RawTable) -> RawTable | None:
    """A test per row with the output of each system, which begins with what its assertions came to."""
    verdict = re.compile(r"\[(PASS|FAIL|ERROR)\]")
    outputs = [name for name in raw.names if all(map(verdict.match, map(str, raw.frame[name])))]
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
    given = {n: c for n in names for c in (f"{n}_score.score", f"{n}_score.label") if c in columns}  # rather a label
    if not given:
        return None
    beginnings = tuple(f"{n}_{part}" for n in names for part in ("score", "execution_details"))
    own = [c for c in columns if c.startswith(beginnings)]
    frame = raw.frame.drop(columns=own).assign(**{f"judge_{n}": raw.frame[c] for n, c in given.items()})
    return raw.noted(f"evaluators of Phoenix, read as judges: {', '.join(given)}", frame=frame)


def _mqm(raw: RawTable) -> RawTable | None:
    """An error per row that a rater marked in a translation: the score of each is what its errors take off."""
    frame = raw.frame
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
    """An annotation per row (CSV and JSON-MIN); numbers, and several choices, stand in their cells as JSON."""
    frame = raw.frame
    annotator = frame["annotator"].str.replace(r"^(\d+)$", r"annotator \1", regex=True)
    bare = frame.map(_bare_answer)
    answers = [c for c in raw.names if not is_rater(c) and (bare[c] != frame[c]).any()]
    own = ("annotation_id", "created_at", "updated_at", "lead_time", "agreement", "sentiment_id")
    raw = raw.noted("annotations of Label Studio, one a row", frame=bare.assign(annotator=annotator))
    return of_annotations(raw, "id", "annotator", own, answers)


def _bare_answer(cell: str) -> str:
    """The number of [{"rating": 4}], the choices of {"choices": ["spam", "rude"]}; any other cell as it is."""
    if not cell.startswith(("[{", '{"choices"')):
        return cell
    value = literal(cell)
    results = value if isinstance(value, list) else [value]
    answers = [one[name] for one in results if isinstance(one, Mapping) for name in ANSWERS if name in one]
    several = (each for answer in answers for each in (answer if isinstance(answer, list) else [answer]))
    return "|".join(map(str, several)) if len(answers) == len(results) else cell


def _prodigy(raw: RawTable) -> RawTable | None:
    """A task and annotator per row: what was accepted of several options, else whether the label was."""
    frame = raw.frame
    session = next((c for c in ("_annotator_id", "_session_id") if c in frame), "")
    if not session:
        return None
    roles: dict[str, Any] = {"item": ("_task_hash",), "rater": "annotator", "value": ("answer",)}
    if "accept" in frame:
        roles["item"] = ("_input_hash",)
        chosen = frame["accept"].map(lambda cell: "|".join(map(str, as_list(cell))))
        answer = chosen.where(frame["answer"].eq("accept"), "")
    else:
        roles |= {"criterion": "label"} if "label" in frame else {}
        answer = frame["answer"].where(frame["answer"].ne("ignore"), "")
    who = frame[session]
    while who.nunique() > 1 and (parts := who.str.partition("-"))[0].nunique() == 1 and parts[1].ne("").all():
        who = parts[2]  # behind the data set's name, whatever that speaks of
    table = frame.drop(columns=[c for c in ("accept", "options", session) if c in frame])
    table = table.assign(answer=answer, annotator=who)
    return raw.noted("annotations of Prodigy, one a row", frame=table, roles=roles)


def _qualtrics(raw: RawTable) -> RawTable | None:
    """A response per row, below two lines with the questions' words and ids, of which the latter may be gone."""
    frame, names = raw.frame, raw.names
    if len(frame) < 3:
        return None
    words, ids = map(str, frame["ResponseId"].iloc[:2])
    three = ids.startswith('{"ImportId"')
    if not three and (words != "Response ID" or "UserLanguage" not in names):
        return None
    last = 0 if three else names.index("UserLanguage") + 1  # of what every export begins with
    lines = 1 + three
    status = frame.get("Status", frame["ResponseId"]).iloc[lines:].str.strip()
    numbers = [str(k) for k in range(32) if k & 0b1011]  # which say the same: a preview (1), a test (2) or spam (8)
    tried = status.str.contains("Preview|Test|Spam") | status.isin(numbers)
    questions = {c: c for c in names[last:] if not three or '"QID' in str(frame[c].iloc[1])}
    rows = {c: str(frame[c].iloc[0]).rpartition(" - ")[2] for c in questions}  # of a grid, behind its question
    times = Counter(rows.values())
    if len(times) > 1 and len({*times.values()}) == 1 < max(times.values()):
        questions = {c: f"{c.rpartition('_')[0] or c} [{row}]" for c, row in rows.items()}
    return _of_respondents(raw, lines, "ResponseId", questions, "Qualtrics", tried)


def _surveymonkey(raw: RawTable) -> RawTable | None:
    """A response per row, below a line that says which part of its question, which stands above the first, each is."""
    frame, whose = raw.frame, ("Email Address", "Respondent ID")
    if len(frame) < 2 or frame["Respondent ID"].iloc[0]:
        return None
    questions: dict[str, tuple[str, str]] = {}
    question = ""
    for name, part in zip(raw.names, map(str, frame.iloc[0]), strict=True):
        question = question if re.fullmatch(r"column \d+", name) else name
        if part:
            questions[name] = (question, "" if part.endswith("Response") else part)
    grids = len({question for question, part in questions.values() if part}) > 1
    called = {n: f"{q} [{part}]" if part and grids else f"{q} {part}".strip() for n, (q, part) in questions.items()}
    named = next((c for c in whose if c in frame and not frame[c].iloc[1:].isin([""]).any()), whose[1])
    return _of_respondents(raw, 1, named, called, "SurveyMonkey")


def _of_respondents(
    raw: RawTable, lines: int, whose: str, questions: Mapping[str, str], tool: str, tried: pd.Series[bool] | None = None
) -> RawTable:
    """Responses below `lines` of header, without those `tried` out, a column per text; `RecuseError` for too few."""
    table = raw.frame.iloc[lines:]
    table = table if tried is None else table[~tried]
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
    if left_out := len(raw.frame) - lines - len(table):
        note += f"; {left_out} that are previews, tests or spam are left out"
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
        texts = {c.rsplit(".", 1)[-1]: v for c, v in record.items() if c.startswith("fields.") or c == "text"}
        item = str(record.get("id") or k + 1)
        for question in flat or nested:
            if flat:  # values and users have a list each
                lists = (as_list(record.get(f"{question}.responses{part}", "")) for part in ("", ".users", ".status"))
                values, users, states = lists
                given = [*zip(values, users, states or ["submitted"] * len(values), strict=False)]
                suggestion, of = f"{question}.suggestion", ""
            else:
                answers = [one for one in as_list(record.get(f"responses.{question}", "")) if isinstance(one, Mapping)]
                given = [(one.get("value"), one.get("user_id"), one.get("status", "submitted")) for one in answers]
                suggestion, of = f"suggestions.{question}", ".value"
            given_by = [(str(user), "person", cell_text(value)) for value, user, state in given if state == "submitted"]
            if suggestion + of in record:
                given_by.append((record.get(f"{suggestion}.agent") or "suggestion", "judge", record[suggestion + of]))
            rows += [
                {"item": item, "rater": who, "kind": kind, "criterion": question, "value": value, **texts}
                for who, kind, value in given_by
            ]
            places += [k] * len(given_by)
    if not rows:
        return None
    roles = {"item": ("item",), "rater": "rater", "kind": "kind", "criterion": "criterion", "value": ("value",)}
    note = "records of Argilla: responses are by people, suggestions by a judge"
    return raw.of_rows(pd.DataFrame(rows, dtype=object).fillna(""), places, note, roles=roles)


TOOLS: tuple[tuple[set[str], Callable[[RawTable], RawTable | None]], ...] = (
    *(({scores.item[0], scores.criterion, scores.source}, scores.read) for scores in SCORES),
    ({"annotation_id", "annotator", "id", "lead_time"}, _label_studio), ({"_task_hash", "answer"}, _prodigy),
    ({"ResponseId"}, _qualtrics), ({"Respondent ID", "Collector ID"}, _surveymonkey), (set(), _argilla),
    ({"system", "seg_id", "rater", "category", "severity"}, _mqm),
    *(({one.item, one.worker}, one.read) for one in PLATFORMS), ({"_unit_id", "_worker_id", "_golden"}, appen),
    (set(), ground_truth), (set(), _phoenix_evals), (set(), _promptfoo), (set(), _named_scores),
)  # fmt: skip
"""The columns that a tool's table has, and what reads it, if it is one."""
