"""Tables that crowdsourcing platforms export, a worker's answers to a task per row, known by their columns. Workers are
people. What was refused does not count, nor do answers to test questions, by which workers were chosen."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recuse.readers.column_names import as_option, is_criterion, is_rater, is_reason
from recuse.readers.columns import FEW_LABELS, Column
from recuse.readers.json_cells import literal
from recuse.readers.raw_table import RawTable, cell_text, shown
from recuse.schema import RecuseError


class Platform(NamedTuple):
    """What a platform is called, its columns of tasks and workers, how the columns of tasks' data, of answers and of
    test questions begin, and column -> the words by which it says that an answer was refused."""

    called: str
    item: str
    worker: str
    given: str
    answers: str
    tests: str
    refused: Mapping[str, tuple[str, ...]]

    def read(self, raw: RawTable) -> RawTable | None:
        """The rows that count, with who answered what; None for another table. `RecuseError` where tasks were given the
        same: they may be one text, which counts once."""
        frame = raw.frame
        if (written := f"{self.answers}taskAnswers") in frame:
            # [{"quality": {"4": true, "5": false}, "why": "so"}], as forms of Mechanical Turk's own elements write
            forms = [next((one for one in as_list(cell) if isinstance(one, Mapping)), {}) for cell in frame[written]]
            names = dict.fromkeys(name for form in forms for name in form)
            apart = {f"{self.answers}{name}": [_answer(form.get(name)) for form in forms] for name in names}
            frame = frame.drop(columns=written).assign(**apart)
        answers = [c for c in map(str, frame.columns) if c.startswith(self.answers)]
        answers = [c for c in answers if may_rate(frame, c)] or answers
        if not answers:
            return None
        none = pd.Series("", frame.index)
        refused = frame.get("Reject", none).ne("")
        for column, words in self.refused.items():
            refused |= frame.get(column, none).isin([*words])
        tests = (frame[[c for c in frame if str(c).startswith(self.tests)]] != "").any(axis=1)
        tests &= not tests.all()
        table = frame.assign(**{self.worker: "worker " + frame[self.worker]})[~(refused | tests)]
        own = [c for c in map(str, frame) if c.startswith((self.given, self.answers)) or c in (self.item, self.worker)]
        data = [c for c in own if c.startswith(self.given)]
        tasks = table.drop_duplicates(self.item)
        first = tasks.drop_duplicates(data) if data else tasks
        many = len(first) > FEW_LABELS or any(Column(c, tasks[c]).wordy for c in data)
        if len(first) < len(tasks) and many and not raw.given.get("item"):  # a few scores may be those of several texts
            name = next((c for c in data if first[c].nunique() == len(first)), data[0])
            raise RecuseError(
                f"{len(tasks)} tasks ({self.item}) were given {len(first)} different texts: if those that were given "
                f"the same, such as {shown(first[name].iat[0])}, are about one text, say --item {as_option([name])}; "
                f"if not, --item {self.item}"
            )
        note = f"results of {self.called}: workers are people"
        for what, rows in (("rejected assignments", refused), ("answers to test questions", tests & ~refused)):
            note += f"; {int(rows.sum())} {what} are left out" if rows.any() else ""
        roles = {"item": (self.item,), "rater": self.worker, "value": tuple(answers)}
        return raw.of_rows(table[own], table.index, note, roles=roles)


PLATFORMS = (
    Platform("Mechanical Turk", "HITId", "WorkerId", "Input.", "Answer.", "\n", {"AssignmentStatus": ("Rejected",)}),
    Platform("Toloka", "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", "INPUT:", "OUTPUT:", "GOLDEN:",
             {"ASSIGNMENT:status": ("REJECTED", "SKIPPED", "EXPIRED")}),
)  # fmt: skip


def _answer(value: Any) -> str:
    """Of what is marked or not, what is marked; anything else as a cell."""
    if not isinstance(value, Mapping):
        return cell_text(value)
    if value and all(isinstance(marked, bool) for marked in value.values()):
        return "|".join(str(option) for option, marked in value.items() if marked)
    alone = [*value.values()]  # {"label": "spam"}
    return _answer(alone[0]) if len(alone) == 1 else cell_text(value)


def appen(raw: RawTable) -> RawTable | None:
    """A judgement per row of Appen's full report (CrowdFlower, Figure Eight), beside the data of its unit."""
    frame = raw.frame
    marked = {name: frame[name].str.lower().eq("true") for name in ("_golden", "_tainted") if name in frame}
    marked["_golden"] &= not marked["_golden"].all()
    kept = ~np.logical_or.reduce([*marked.values()])
    own = [c for c in frame if str(c).startswith("_") or str(c).endswith(("_gold", ":confidence"))]
    table = frame[kept].drop(columns=[c for c in own if c not in ("_unit_id", "_worker_id")])
    left_out = "" if kept.all() else f"; {int((~kept).sum())} answers, to test questions or tainted, are left out"
    note = f"judgements of Appen: workers are people{left_out}"
    table = table.assign(_worker_id="worker " + table["_worker_id"])
    return of_annotations(raw.of_rows(table, table.index, note), "_unit_id", "_worker_id")


def ground_truth(raw: RawTable) -> RawTable | None:
    """A text per line of SageMaker Ground Truth's manifest, with its workers' label; a model's is left out."""
    frame, of_people = raw.frame, "-metadata.human-annotated"
    labels = [c.removesuffix(of_people) for c in raw.names if c.endswith(of_people)]
    labels = [c for c in labels if c in frame]
    if not labels:
        return None
    by_model = {c: frame[c + of_people].eq("no") for c in labels}
    words = {c: frame.get(f"{c}-metadata.class-name", frame[c]).mask(by_model[c], "") for c in labels}
    about = tuple(f"{c}-metadata." for c in labels)
    table = frame.drop(columns=[c for c in frame if str(c).startswith(about)]).assign(**words)
    left_out = sum(int(rows.sum()) for rows in by_model.values())
    note = f"labels of SageMaker Ground Truth are people's: {', '.join(labels)}"
    note += f"; {left_out} that a model gave are left out" if left_out else ""
    return raw.noted(note, frame=table, roles={"people": tuple(labels)})


def of_annotations(
    raw: RawTable, item: str, rater: str, own: Collection[str] = (), known: Collection[str] = ()
) -> RawTable | None:
    """An annotation per row: what differs between annotations of a task, is called as criteria are, or is `known` are
    answers, the rest is data; of single ones the only column that may rate, no rater's. `RecuseError` for several."""
    frame, tasks = raw.frame, raw.frame.groupby(item, sort=False)
    may = [c for c in raw.heeded if c not in (*own, item, rater) and may_rate(frame, c)]
    if len(tasks) < len(frame):
        answers = [c for c in may if c in known or is_criterion(c) or (tasks[c].nunique() > 1).any()]
    else:
        answers = [c for c in may if not (is_rater(c) or Column(c, frame[c]).wordy)]
        if len(answers) > 1 and not ({*answers} <= {*known} or raw.given.get("value")):
            raise RecuseError(
                f"every {item} has one annotation, and {', '.join(answers)} may be answers of {rater}: say which are, "
                f"--value {as_option(answers)}"
            )
    return replace(raw, roles={"item": (item,), "rater": rater, "value": tuple(answers)}) if answers else None


def may_rate(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column holds several answers, and is not called as remarks are."""
    return Column(name, frame[name]).rating and frame[name].nunique() > 1 and not is_reason(name)


def as_list(cell: str) -> list[Any]:
    """The list that a cell holds as JSON or as Python writes it; [] for anything else."""
    value = literal(cell) if cell else []
    return value if isinstance(value, list) else []
