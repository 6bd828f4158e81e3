"""What a decision is made from, typed: what had to be asked, what gates said of it, what else was measured, and what a
change touches. `decoded` reads all of it from results as results.json holds them, the only place where that is done."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recuse.gates.gate_tables import EVERY_GATE, UseTable
from recuse.gates.limits import Limit
from recuse.schema import Outcome
from recuse.schema.number_text import counted, listed
from recuse.schema.results import AskedRow, ChangedRow, InPlaceRow, MeasureRow, Results, UpgradeVerdictRow
from recuse.schema.verdict_rows import Comparison, Detail, MeasurementRow, VerdictRow
from recuse.schema.vocabulary import ACCEPTED, FILE, GREEN, NOT_MEASURED, UNDECIDED, printed, record_command

Asks = Literal["merge", "decide", "do not merge"]
FETCH = re.compile(r"python -m recuse\.cassettes fetch[^`]*")
COMPARED = ("named", "outcomes", "limits", "removed", "sources", "moved", "appeared", "vanished")  # against a baseline
READ_IT = "read it, and merge it if it is meant"
RESTORE_IT = 'restore it, or accept it: pytest evals/ --update-baseline --because "..."'
SAY_WHY = 'read it; where it is meant, say why: pytest evals/ --update-baseline --because "..."'
OF_THE_PAST = "nothing in this change caused it"
AGAIN = "record what settles it, or accept it again with a later date and a reason that still holds"


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number: what it is about, its interval, and whatever its measure says of it in `detail`."""

    metric: str
    subject: Mapping[str, str]
    value: float  # NaN where undefined
    low: float
    high: float
    unit: str = ""
    n: int = 0
    note: str = ""
    detail: Detail = field(default_factory=lambda: Detail())
    above: str = ""  # what a judge does whose value lies above its limit: "scores above people"
    below: str = ""

    @property
    def judge(self) -> str:
        """The judge that it is about; "" where it is about none."""
        return self.subject.get("judge", "")

    @property
    def panel(self) -> str:
        """The panel that it is about."""
        return self.subject.get("panel", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord(Figure):
    """A figure and what a gate says of it. `outcome` is what the numbers say, whether or not it was accepted."""

    gate: str
    label: str
    limit: Limit
    outcome: Outcome
    accepted: bool = False
    green: bool = True  # whether the run may stay green on its account
    expired: bool = False  # accepted until a day that has passed
    of: int = 1  # how many verdicts the gate gave at once: one that is gone is missed
    test: str = ""
    more: int | None = None  # about how many observations more decide with 80 % chance
    units: str = "items"
    times: float = 1.0  # how many times as many as there are those are, with them
    feasible: bool = True  # whether any number of them decides
    lost: bool = False  # whether answers that were lost could take it beyond its limit

    @property
    def excess(self) -> float:
        """How far the value lies outside the limit, in the limit's half-widths (of a one-sided limit: in the value's
        distance of the interval); below 0 inside, minus infinity without a value."""
        if math.isnan(self.value):
            return -math.inf
        wide = self.limit.high - self.limit.low if self.limit.kind == "within" else 0.0
        half = wide / 2 or (self.high - self.low) / 2
        return self.limit.excess(self.value) / half if half > 0 and math.isfinite(half) else 0.0


@dataclass(frozen=True, slots=True)
class PanelPlan:
    """A panel or file: its judges, the uses that decide whether a run is green (none for a study), and further ones."""

    name: str
    judges: tuple[str, ...]
    uses: tuple[str, ...]
    further: tuple[str, ...] = ()
    people_faults: tuple[str, ...] = ()  # whom of the people a judge cannot be held against as they are
    rated: tuple[str, ...] = ()  # which needs their ratings meet: people_items, two_people


@dataclass(frozen=True, slots=True)
class Change:
    """What a pull request changes: an upgrade, a judge changed in place, a limit or result against the baseline, a
    fault of the run. `word`: what it asks for by itself; `order`: the lowest comes first; `about`: panel and judge."""

    kind: Literal["upgrade", "in place", "limit", "yardstick", "recording", "base", "value", "gone", "expired", "run"]
    what: str
    word: Asks
    cause: str
    next: str = ""
    order: int = 0
    red: bool = False  # whether a run with a baseline must not be green
    about: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that a decision is made from: what had to be asked, what gates said of it, what else was measured, and
    what a change touches. `whole`: every question was asked of all judges of the panels examined; `part`: what of the
    suite ran, where not all of it did; `unfinished`: tests that ended without a verdict, and why."""

    panels: tuple[PanelPlan, ...]
    due: tuple[AskedRow, ...]
    uses: Mapping[str, UseTable]
    conditions: frozenset[str]
    peers: frozenset[str]  # gates that compare a judge with other judges
    unasked: frozenset[str] = frozenset()  # gates that no test names
    verdicts: tuple[VerdictRecord, ...]
    figures: tuple[Figure, ...] = ()
    changes: tuple[Change, ...] = ()
    compared: bool = False  # whether there is a baseline that nothing differs from
    whole: bool = True
    part: str = ""
    outside: tuple[str, ...] = ()  # panels that `recuse_panels` does not name
    unfinished: tuple[tuple[str, str], ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def finishing(self) -> str:
        """What brings unfinished tests to a verdict: fetching recordings that are kept elsewhere, or recording what is
        missing of the panel with most of these tests, by their names ("[panel/task/protocol]"); a file never is."""
        if fetch := next(filter(None, (FETCH.search(why) for _, why in self.unfinished)), None):
            return f"fetch the recordings: {fetch[0]}"
        places = [test.partition("[")[2].removesuffix("]").split("/") for test, _ in self.unfinished]
        panels = [place[0] for place in places if len(place) == 3 and place[2] != FILE]
        command = record_command(max(dict.fromkeys(panels), key=panels.count, default=""))
        return f"mend what fails, or record what is missing: {command}"


def decoded(results: Results) -> Evidence:
    """The records in assembled results."""
    measures = results.get("measures") or {}
    verdicts = tuple(_verdict(record, measures) for record in results["verdicts"])
    scope = results.get("asked") or {}
    baseline: Mapping[str, object] = results.get("baseline") or {}
    uses = {name: UseTable.model_validate(use) for name, use in (results.get("uses") or {}).items()}
    panels = tuple(
        PanelPlan(
            p["name"], tuple(j["name"] for j in p["judges"] if j["name"] in (scope.get("shown") or (j["name"],))),
            tuple(p.get("uses", (EVERY_GATE,))), tuple(p.get("further_uses") or ()),
            tuple(p.get("people_faults") or ()), tuple(p.get("rated") or ()),
        )
        for p in results["panels"]
    )  # fmt: skip
    unnamed = {v.gate for v in verdicts} - {gate for use in uses.values() for gate in use.gates}
    return Evidence(
        panels=panels, due=tuple(scope.get("gates") or ()), uses=uses, verdicts=verdicts,
        conditions=frozenset(scope.get("conditions") or unnamed), peers=frozenset(scope.get("peers") or ()),
        unasked=frozenset(scope.get("unasked") or ()),
        figures=tuple(Figure(**_figure(row, measures)) for row in results["measurements"]),
        changes=tuple(changes_of(results)), compared=bool(baseline) and not any(map(baseline.get, COMPARED)),
        whole=bool(scope.get("whole", True)), part=scope.get("part") or "", outside=tuple(scope.get("outside") or ()),
        unfinished=tuple((one["test"], one["why"]) for one in results.get("unmeasured") or ()),
        labels=scope.get("labels") or {},
    )  # fmt: skip


def _figure(row: MeasurementRow, measures: Mapping[str, MeasureRow]) -> dict[str, Any]:
    estimate, about = row["estimate"], measures.get(row["estimate"]["metric"])
    figures = {"value": estimate.get("value"), "low": estimate.get("low"), "high": estimate.get("high")}
    return {
        **{name: math.nan if figure is None else float(figure) for name, figure in figures.items()},
        "metric": estimate["metric"], "subject": dict(row["subject"]), "unit": estimate.get("unit") or "",
        "n": estimate.get("n") or 0, "note": estimate.get("note") or "", "detail": estimate.get("detail") or {},
        "above": (about.get("above") if about else "") or "", "below": (about.get("below") if about else "") or "",
    }  # fmt: skip


def _verdict(record: VerdictRow, measures: Mapping[str, MeasureRow]) -> VerdictRecord:
    accepted, remedy = record.get("accepted_fault"), record.get("remedy")
    needed, observed = (remedy.get("needed"), remedy.get("observed")) if remedy else (None, None)
    kind, units = (remedy.get("kind"), remedy.get("units")) if remedy else ("", "")
    return VerdictRecord(
        **_figure(record, measures), gate=record["gate"], label=record.get("label") or record["gate"].replace("_", " "),
        limit=Limit.of(record["limit"]), outcome=accepted["otherwise"] if accepted else record["outcome"],
        accepted=record["outcome"] == ACCEPTED, green=record["outcome"] in GREEN or bool(record.get("allowed")),
        expired=accepted is not None and accepted.get("state") == "expired", of=record.get("of") or 1,
        test=record.get("test") or "",
        more=needed - observed if needed and observed and needed > observed else None, units=units or "items",
        times=needed / observed if needed and observed else 1.0, feasible=kind != "on the bound",
        lost=kind == "lost answers",
    )  # fmt: skip


# --------------------------------------------------------------------------- what a run says of a change
# An upgrade that is refused asks not to merge. A limit that is another one, a value that moved beyond its tolerance,
# and a verdict or test that is gone ask a person, even where every judge passes: that is what widening a limit does.


def changes_of(results: Results) -> list[Change]:
    """Every change in assembled results, as results.json holds them before its decision."""
    labels = {v["gate"]: v.get("label") or v["gate"].replace("_", " ") for v in results["verdicts"]}
    baseline = results.get("baseline")
    compared = list(baseline.get("objections") or ()) if baseline else []
    over = [end for end in results.get("ends") or () if end["days"] < 0]
    expired = f"{counted(len(over), 'accepted failure')} expired on {over[0]['until']}" if over else ""
    faults = sorted(fault for fault in results["objections"] if fault not in compared)
    more = f" ({counted(len(faults) - 1, 'more fault')} of the run)" if faults[1:] else ""
    rows = results.get("changed") or ()
    red = any(row.get("red") for row in rows) or any(one in results["objections"] for one in compared)
    return [
        *map(_upgrade, results["upgrades"]),
        *map(_in_place, results.get("in_place") or ()),
        *(_changed(row, baseline, labels, SAY_WHY if red else READ_IT) for row in rows),
        *([Change("expired", expired, "decide", f"{expired}; {OF_THE_PAST}", AGAIN)] if over else ()),
        *(Change("run", fault, "decide", fault.rstrip(".") + (more if k == 0 else ""), order=3)
          for k, fault in enumerate(faults)),
        *(_against_baseline(baseline, labels) if baseline else ()),
    ]  # fmt: skip


def _upgrade(upgrade: UpgradeVerdictRow) -> Change:
    old, new, outcome = upgrade["incumbent"], upgrade["candidate"], upgrade["outcome"]
    what = f"{old} -> {new}"
    if outcome == NOT_MEASURED:
        return Change("upgrade", what, "do not merge", f"{new} cannot be compared with {old}", f"keep {old}", 1)
    if outcome == "pass":
        why = f"it {upgrade['clause']}" if upgrade["verdict"] == "better" else "no difference larger than you allow"
        step = f"remove {old} and the line replaces of {new}, and write a new baseline"
        return Change("upgrade", what, "merge", f"{new} may replace {old}: {why}", step)
    word: Asks = "do not merge" if outcome == "fail" else "decide"
    # all steps but the last, which is to accept it
    step = ", or ".join(one for one in upgrade.get("steps") or () if not one.startswith("or accept")) or f"keep {old}"
    cause, order = f"{new} {upgrade['clause']}", int(word == "decide")
    if upgrade["verdict"] == "different":
        cause = f"{new} decides differently from {old}: it {upgrade['clause']}, and nobody knows who is right"
    elif outcome == UNDECIDED:
        step = f"collect about {upgrade['more']} {upgrade['units']} more" if upgrade["more"] else ""
        cause = f"whether {new} may replace {old} is {printed(UNDECIDED)}"
    if until := upgrade.get("accepted"):
        beside = upgrade.get("open")
        word, cause = "decide" if beside else "merge", f"{cause} (accepted until {until})"
        cause, step = (f"{cause}; {beside}", step) if beside else (cause, "")
    if over := upgrade.get("expired"):
        word, cause, step = "decide", f"accepted failure expired on {over}: {cause}; {OF_THE_PAST}", AGAIN
    return Change("upgrade", what, word, cause, step, order)


def _in_place(change: InPlaceRow) -> Change:
    words: Mapping[str, Asks] = {"better": "merge", "equivalent": "merge", "decide": "decide", "worse": "do not merge"}
    word, what = words[change["word"]], f"{change['was']} -> {change['is']}"
    declare = "" if word == "merge" else "declare it (replaces = ...) and record both"
    return Change("in place", what, word, change["cause"], next(iter(change["steps"]), declare))


def _changed(row: ChangedRow, baseline: Comparison | None, labels: Mapping[str, str], advice: str) -> Change:
    """ "people.csv is changed; with it gemini passes human offset": what a change brings, and who profits."""
    better = [
        one for one in (baseline["outcomes"] if baseline else ())
        if one["after"] == "pass" and row["place"].items() <= one["subject"].items()
    ]  # fmt: skip
    names = list(dict.fromkeys(one["subject"].get("judge", "the panel") for one in better))
    profit, word = "", row["word"]
    if names and row["kind"] == "yardstick" and (word == "decide" or row["place"]):
        passes = f"{'pass' if names[1:] else 'passes'} {label_of(better[0]['what'], labels)}"
        profit, word = f"; with it {listed(names, 2)} {passes}", "decide"
    step = row.get("next") or ("" if word == "merge" else advice)
    profits = (0 if row["place"] else 1) if profit else 2  # data of a task first: many files of code would hide it
    recorded = 3 if word == "merge" else 0  # an upgrade that may be merged was recorded too, and is what to say
    order = {"base": 9, "recording": recorded}.get(row["kind"], profits)
    about = row["place"].get("panel", ""), row["place"].get("judge", "")
    return Change(row["kind"], row["what"], word, row["cause"] + profit, step, order, row.get("red", False), about)


def yardstick(
    what: str, cause: str, before: str | None = None, after: str | None = None, *,
    word: Literal["merge", "decide"] = "decide", **place: str,
) -> ChangedRow:  # fmt: skip
    """The row of something that judges are measured by and that a change brings; `place`: panel or task."""
    return {"kind": "yardstick", "what": what, "before": before, "after": after, "word": word, "cause": cause,
            "place": place}  # fmt: skip


def _against_baseline(baseline: Comparison, labels: Mapping[str, str]) -> Iterator[Change]:
    for row in baseline["limits"]:  # "limit of own work widened; without that gemini-2.5-pro fails"
        label = label_of(row["gate"], labels) or "the run"
        about = f"{row['key']} of {label}" if row["key"] != "gate" else f"gate {label}"
        lost = any(one["outcome"] != "pass" for one in row["otherwise"])
        would = f"; without that {row['consequence']}" if lost else ""
        loosens = lost and (row["key"], row["change"]) != ("accepted failure", "removed")
        word: Literal["merge", "decide"] = "merge" if row["change"] == "narrowed" else "decide"
        unsaid = any(one.endswith(row["sentence"]) for one in baseline.get("objections") or ())
        step = RESTORE_IT if unsaid else "" if word == "merge" else READ_IT
        yield Change("limit", about, word, f"{about} {row['change']}{would}", step, int(not loosens))
    for named in baseline["named"]:
        if named["beyond"]:
            about = f"{label_of(named['what'], labels)} of {named['subject'].get('judge', 'the panel')}"
            yield Change("value", about, "decide", f"{about} changed beyond its limit or tolerance", order=2)
    undecided = [label_of(one["what"], labels) for one in baseline["vanished"] if one["kind"] == "verdict"]
    gone = [*baseline["removed"], *(f"{label} is not decided any more" for label in undecided)]
    if gone:
        more = f", and {counted(len(gone) - 1, 'more thing')} of the baseline gone" if gone[1:] else ""
        yield Change("gone", str(gone[0]), "decide", f"{gone[0]}{more}", order=2)


def label_of(gate: str | None, labels: Mapping[str, str]) -> str:
    """What people call a gate, also one that was not measured."""
    return labels.get(gate or "") or str(gate or "").replace("_", " ")
