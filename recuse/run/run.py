"""Gathers what the tests of a run concluded, and writes the report once, in the process that reports; and asks
questions of one file of ratings, without pytest's start."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, cast

from recuse.gates import Decision, Gates, baseline_file, decide
from recuse.gates.baseline_changes import compare, limit_changes, objections
from recuse.gates.explanation import subject_text
from recuse.gates.gate_tables import Uses, uses_for
from recuse.gates.records import decoded, yardstick
from recuse.gates.verdict_power import error_rates
from recuse.git import BaseCommit, Unreadable, identity_of
from recuse.git.trend import history
from recuse.readers.file_ratings import FilePanel
from recuse.recording.progress import watched
from recuse.report.canonical_form import normalised
from recuse.schema import RecuseError
from recuse.schema import results as row_types
from recuse.schema.factors import LEVELS, level_words
from recuse.schema.plain_values import grouped
from recuse.schema.results import ChangedRow, InPlaceRow, NotAskedRow, PanelRow, Results
from recuse.schema.verdict_rows import Because, Comparison
from recuse.schema.vocabulary import ACCEPTED, FAIL, NOT_MEASURED, PASS, UNDECIDED, printed
from recuse.security.files import text_of
from recuse.suite import Selection
from recuse.suite.question_runner import Question, Records, ask, gates_named, read_evals, shipped_evals

UNUSED_SHOWN = 10
PAST_BASELINES = 12  # committed baselines over which the page shows how its numbers moved


@dataclass
class Run(Records):
    """Records arrive in any order and from any process; what is written depends on their content only."""

    of_file: ClassVar[bool] = False
    objections: list[str] = field(default_factory=list)  # what is wrong with the run as a whole
    results: Results = field(default_factory=lambda: cast(Results, {}))
    decision: Decision = field(init=False)  # once there are results
    complete: bool = False
    uses: dict[str, Uses] = field(default_factory=dict)  # panel -> what its judges are used for
    whole: bool = True  # whether every question was asked of the panels examined
    part: str = ""  # what of the suite ran, where not all of it did
    outside: Sequence[str] = ()  # panels that ran and that `recuse_panels` does not name
    drawings: Sequence[str] = ()  # a team's own drawings of questions, by dotted module name
    nobody_asked: bool = False  # some eval found no panel that offers what it needs

    def finish(
        self, selection: Selection, gates: Gates, *, whole: bool, part: str, baseline: Path, strict: bool, update: bool,
        because: str = "", base: BaseCommit | Unreadable | None = None, in_place: Sequence[InPlaceRow] = (),
        changed: Sequence[ChangedRow] = (),
    ) -> None:  # fmt: skip
        """Assemble the results, compare them with the baseline, write reports/. `strict`, or a `base` that was given:
        what asks for a decision turns the run red. `part`: which evals, judges or panels ran, where not all did: a part
        misses nothing, becomes no baseline, and is reported beside the whole. `whole`: at least all evals ran.
        `because`: why a baseline may stand although red. `base`: the commit that all is compared with; `in_place`:
        judges that are not what they were there; `changed`: what else is not."""
        self.whole, self.part = whole, part
        self.complete = not part and not self.unmeasured
        if self.complete:  # an eval that no panel answers may well own a gate
            panels = [*selection.panels, *selection.files]
            self.objections += gates.misfits(self.verdicts, panels, answered=not self.nobody_asked)
        self.results = self._assemble(selection, gates)
        shown = baseline.relative_to(selection.root).as_posix() if baseline.is_relative_to(selection.root) else ""
        before = base.text(shown) if isinstance(base, BaseCommit) and shown else None
        if update:
            asking = [row["cause"] for row in changed if row["word"] == "decide"]
            self._become_baseline(baseline, before, gates, because.strip(), asking)
        elif because:
            self.objections.append("--because says why a baseline is written anew; give it with --update-baseline")
        self.results |= {"in_place": list(in_place), "changed": list(changed)}
        if isinstance(base, Unreadable):
            row = yardstick("the base commit", f"what this change is compared with cannot be read: {base.why}")
            self.results["changed"].append({**row, "kind": "base", "next": base.remedy})
        brought = isinstance(base, BaseCommit) and shown and before != text_of(baseline)
        if brought:
            self.results["changed"].append(self._rewritten(baseline, before, shown, gates))
        accepted: list[str] = []
        with suppress(baseline_file.BaselineError):  # what a baseline was written in spite of, with a reason
            accepted = (baseline_file.load(baseline)["because"] or {"covers": []})["covers"] if brought else []
        if strict and before is None and not baseline.is_file():
            self.objections.append(f"there is no baseline {shown or baseline.name}; write one with --update-baseline")
        given = isinstance(base, BaseCommit) and base.given
        compared = self._compare(baseline, before, shown or baseline.name, gates, strict or given, accepted)
        self.results["baseline"] = compared
        for row in self.results["changed"]:
            row["red"] = given and row["word"] == "decide" and row["cause"] not in accepted
        self._decide()
        identity = identity_of(selection.root, selection.panels, gates.path, os.environ)
        with suppress(RecuseError):  # no repository, or no baseline in it: there is no trend to show
            identity["history"] = [
                (day, values) for _, day, values in history(baseline, PAST_BASELINES, measured=False)
            ]
        self._write(selection.root / self.folder, selection.root / "reports" / "templates", identity)

    @property
    def folder(self) -> Path:
        """Where the report is written: that of a part of the suite overwrites none of the whole."""
        return Path("reports") / "partial" if self.part else Path("reports")

    def _become_baseline(self, path: Path, before: str | None, gates: Gates, because: str, asking: list[str]) -> None:
        if not self.complete:
            self.objections.append(
                "--update-baseline: the baseline stays as it was, because this run was not complete; run all of evals/ "
                "with the configured panels and every judge, until each test comes to a verdict"
            )
            return
        red = [v for v in self.verdicts if v["outcome"] not in (PASS, ACCEPTED) and not v["allowed"]]
        failed = [f"{v['gate']}: {printed(v['outcome'])} for {subject_text(v['subject'])}" for v in red]
        covers = [*failed, *self.objections, *asking]
        if path.is_file() or before is not None:
            with suppress(baseline_file.BaselineError):  # one that is of no use is replaced without asking
                known = baseline_file.load(path, before)
                covers += objections(compare(known, self.results, gates, former=gates.former or gates))
        if covers and not because:
            more = f", and {len(covers) - 1} more" if covers[1:] else ""
            self.objections.append(
                f"--update-baseline: the baseline stays as it was, because a reason is needed: {covers[0]}{more}. "
                'Say why it may stand: --because "..."'
            )
            return
        stated_reason: Because | None = {"reason": because, "covers": sorted(covers)} if because else None
        baseline_file.write(path, self.results, gates, stated_reason)

    def conclude(self, selection: Selection, gates: Gates) -> Results:
        """What was added so far, as results.json holds it, with its decision; nothing is compared or written."""
        self.results = self._assemble(selection, gates)
        self._decide()
        return self.results

    def _decide(self) -> None:
        """Outcome, faults and what they come to for whoever may merge the change: the headline of every output."""
        objecting = {r["outcome"] for r in self.verdicts if not (r["outcome"] in (PASS, ACCEPTED) or r["allowed"])}
        objecting |= {NOT_MEASURED} if self.unmeasured or self.objections else set()
        outcome = next((name for name in (NOT_MEASURED, FAIL, UNDECIDED) if name in objecting), PASS)
        self.results |= {"outcome": outcome, "objections": sorted(self.objections)}
        self.results = normalised(self.results)  # once for all that is drawn from them
        self.decision = replace(decide(decoded(self.results)), of_file=self.of_file)
        lines = self.decision.lines[: 1 if self.of_file else 2]
        self.results |= {"decision": self.decision.record(), "headline": " ".join(lines)}

    def _write(self, folder: Path, templates: Path, identity: row_types.Known) -> None:
        """A team's template that does not render is a fault of the run, told in a report without it."""
        from recuse import report

        replies = {place: part["replies"] for place, part in sorted(self.replayed.items()) if "replies" in part}
        identity = {**identity, "replies": replies}
        try:
            report.write(self.results, folder, identity=identity, template_folders=[templates], drawings=self.drawings)
        except RecuseError as error:
            self.objections.append(str(error))
            self._decide()
            report.write(self.results, folder, identity=identity)

    def terminal(self, width: int, color: bool, verbosity: int = 0) -> str:
        """What the terminal prints at the end; of a run that broke off before there were results, its faults."""
        from recuse.report.terminal_text import terminal

        if not self.results:
            return "\n".join(f"recuse: {line}" for line in self.objections)
        parts = [terminal(self.results, width, color, self.folder / "index.html", self.drawings, verbosity)]
        unused = self.results["cassettes"]["unused_lines"] if verbosity > 0 else []
        parts += [f"recuse: recorded but not used: {line}" for line in unused[:UNUSED_SHOWN]]
        if len(unused) > UNUSED_SHOWN:
            parts.append(f"recuse: ... and {len(unused) - UNUSED_SHOWN} more such lines in results.json")
        return "\n".join(parts)

    def _compare(
        self, path: Path, before: str | None, shown: str, gates: Gates, strict: bool, accepted: Sequence[str]
    ) -> Comparison | None:  # fmt: skip
        """What differs from the baseline of the base commit (`before`), else the one there; `accepted`: not red."""
        if before is None and not path.is_file():
            limits = limit_changes(gates.former, gates, self.verdicts) if gates.former else []
            self.results["changed"] += [yardstick(row["sentence"], row["sentence"]) for row in limits]
            return None
        try:
            known = baseline_file.load(path, before)
        except baseline_file.BaselineError as error:  # the report is written all the same
            self.objections.append(str(error).replace(str(path), shown))
            return None
        former = gates.former or gates
        compared = compare(known, self.results, gates, former=former, path=shown, complete=self.complete)
        compared["objections"] = [f"{shown}: {one}" for one in objections(compared) if one not in accepted]
        if strict:
            self.objections += compared["objections"]
        return compared

    def _rewritten(self, path: Path, before: str | None, shown: str, gates: Gates) -> ChangedRow:
        """A baseline that the change brings: what the next change is compared with, and no yardstick of this one."""
        if not path.is_file():
            return yardstick(shown, f"the baseline {shown} is gone")
        try:
            written = baseline_file.load(path)
        except RecuseError as error:
            return yardstick(shown, f"the baseline {shown} cannot be read: {str(error).replace(str(path), shown)}")
        if other := baseline_file.difference(written, self.results, gates, complete=self.complete):
            return yardstick(shown, f"the baseline {shown} is rewritten, and is not what this run gives", "", other)
        reason = f", because: {written['because']['reason']}" if written["because"] else ""
        cause = f"the baseline {shown} is {'new' if before is None else 'written anew'}{reason}"
        return yardstick(shown, cause, word="merge")

    def _assemble(self, selection: Selection, gates: Gates) -> Results:
        # in an order of their own, each once, whatever the order of the tests
        rows = {(a["panel"], a["task"], a["protocol"], a["gate"], a["test"], str(a["judges"])): a for a in self.due}
        deciding = gates.conditions.union(*(use.gates for use in gates.uses.values()))
        outcomes = [record["outcome"] for record in self.verdicts]
        counts = {name: outcomes.count(name) for name in (PASS, FAIL, UNDECIDED, NOT_MEASURED, ACCEPTED)}
        return {
            "schema": 1, "outcome": "", "counts": counts, "headline": "", "decision": None,
            "panels": [self._with_uses(panel.record()) for panels in (selection.panels, selection.files)
                       for panel in panels.values()],
            "uses": {name: use.model_dump() for name, use in gates.uses.items()},
            "asked": {
                "whole": self.whole, "part": self.part, "outside": list(self.outside),
                "conditions": sorted(gates.conditions),
                "unasked": sorted(deciding.difference(self.named, (record["gate"] for record in self.verdicts))),
                "peers": sorted(name for name, gate in gates.items() if gate.against == "peers"),
                "shown": sorted(selection.shown),
                "gates": [rows[key] for key in sorted(rows)],
                "labels": {name: gates[name].label or "" for *_, name, _, _ in sorted(rows) if name in gates},
            },
            "questions": self._questions(), "measures": dict(sorted(self.measures.items())),
            "tasks": selection.task_rows(), "not_asked": self._not_asked(), "cassettes": self._cassettes(),
            "factors": [
                {"name": factor, "levels": [{"name": level, "words": level_words(factor, level)} for level in levels]}
                for factor, levels in LEVELS.items()
            ],
            "verdicts": self.verdicts, "error_rates": error_rates(self.verdicts, gates.run.false_fail),
            "sources": {place: part["source"] for place, part in sorted(self.replayed.items()) if "source" in part},
            "measurements": self.measurements, "upgrades": self.upgrades, "objections": sorted(self.objections),
            "unmeasured": [{"test": test, "why": why} for test, why in sorted(self.unmeasured.items())],
            "usage": [row for _, part in sorted(self.replayed.items()) for row in part["usage"]],
            "excerpts": [row for _, part in sorted(self.replayed.items()) for row in part["excerpts"]],
            "baseline": None, "ends": gates.ends(),
        }  # fmt: skip

    def _with_uses(self, panel: PanelRow) -> PanelRow:
        uses = self.uses.get(panel["name"])
        if not uses:
            return {**panel, "uses": []}
        rated = sorted({"people_items", "two_people"} & uses.offers)
        return {**panel, "uses": list(uses.stated), "further_uses": list(uses.further), "rated": rated}

    def _questions(self) -> list[dict[str, Any]]:
        records = grouped((*self.verdicts, *self.measurements), lambda row: (row["question"], row["subject"]["task"]))
        return [
            {"id": question, "title": rows[0]["title"], "note": rows[0]["note"], "task": task,
             "protocols": sorted({row["subject"]["protocol"] for row in rows})}
            for (question, task), rows in sorted(records.items(), key=itemgetter(0))
        ]  # fmt: skip

    def _not_asked(self) -> list[NotAskedRow]:
        """Once per question, panel, task and protocol: what was missing, and what would unlock it."""
        not_asked: dict[tuple[str, ...], NotAskedRow] = {}
        for test, rows in sorted(self.not_asked.items()):
            for row in rows:
                key = (row["question"], row["panel"], row["task"], row["protocol"], *row["missing"])
                not_asked.setdefault(key, {**row, "tests": []})["tests"].append(test)
        return [not_asked[key] for key in sorted(not_asked)]

    def _cassettes(self) -> row_types.CassetteCounts:
        def counts(places: Iterable[str]) -> row_types.CassetteCounts:
            parts = [self.replayed[place] for place in places]
            files, used, unused = (sum(part[of] for part in parts) for of in ("files", "used", "unused"))
            return {"files": files, "interactions": used + unused, "used": used, "unused": unused}

        by_panel = grouped(sorted(self.replayed), lambda place: place.split("/")[0])
        return {
            **counts(self.replayed), "by_panel": {panel: counts(places) for panel, places in by_panel.items()},
            "unused_lines": [line for _, part in sorted(self.replayed.items()) for line in part["unused_lines"]],
        }  # fmt: skip


@dataclass
class FileRun(Run):
    """What the questions found, and what is decided of it."""

    panel: FilePanel = field(kw_only=True)
    of_file = True


def ask_file(panel: FilePanel, gates: Gates, questions: Iterable[Question], *, deciding: bool = False) -> FileRun:
    """Every question that the file can answer, asked and decided. `deciding`: only those that the decision rests on."""
    uses = uses_for(panel.uses, [panel.offers], gates.uses, str(panel.path))
    run = FileRun(panel=panel, uses={panel.name: uses})
    questions = tuple(questions)
    run.named = [name for question in questions for name in gates_named(question.function, gates)]
    run.add(ask(panel, gates, questions, uses, deciding=deciding))
    run.conclude(Selection(panel.path.parent, files={panel.name: panel}), gates)
    return run


def ask_shipped(
    panel: FilePanel, limits: Path | str | None = None, *, patience: float = inf, deciding: bool = True
) -> tuple[FileRun, Gates, tuple[Question, ...]]:
    """The shipped questions, asked of the panel and held against the limits of a gates file; `deciding`: only those
    that the decision rests on. Who waits at a terminal for longer than `patience` seconds sees how many are asked."""
    gates, questions = read_evals(shipped_evals(), date.today())
    if limits is not None:
        gates = Gates.load(Path(limits), today=date.today())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a degenerate table is told in words, not by numpy
        shown = watched(questions, len(questions), "questions asked:", patience)
        return ask_file(panel, gates, shown, deciding=deciding), gates, questions
