"""The decision: may the change be merged, and who may be used for what. One pure function over typed records.

pytest, `recuse check`, `show`, the comment, the page and Python print it; nobody else weighs verdicts. docs/cleared.md
says when a judge is cleared for a use, docs/pull-request.md which word a change gets.

The gates that decide are those of the use, and the conditions that a panel probes. A comparison with other judges
refuses nobody: what it finds leaves the judge undecided, for nobody says which of them is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Literal, cast

from recuse.gates.causes import as_well, causes_of_doubt, causes_of_failure, rests_on_people
from recuse.gates.gate_tables import EVERY_GATE, UseTable
from recuse.gates.records import Change, Evidence, PanelPlan, VerdictRecord, label_of
from recuse.schema.factors import VERSION
from recuse.schema.number_text import counted, html_table, listed
from recuse.schema.pandas_when_used import pd
from recuse.schema.plain_values import grouped
from recuse.schema.results import AskedRow, DecisionRow, JudgeDecisionRow
from recuse.schema.vocabulary import CLEARED, NOT_CLEARED, RIGHT_ANSWERS, UNDECIDED, JudgeWord, printed
from recuse.security.sanitize import visible

ChangeWord = Literal["merge", "do not merge", "decide", "no decision"]
WORST_FIRST: tuple[JudgeWord, ...] = (NOT_CLEARED, UNDECIDED, CLEARED)
EXIT: Mapping[JudgeWord, int] = {CLEARED: 0, NOT_CLEARED: 1, UNDECIDED: 2}  # of `recuse check`, by the worst word
MOST_CAUSES = 3
MEND_PEOPLE = "mend or leave out the ratings that this names, and check again"
STUDIES = "none is used for anything: studies are measured, and nobody is cleared or refused"
VERBS = frozenset(["grade", "decide", "choose", "rank", "estimate"])  # cleared to grade, and for anything else
OF_A_CHANGE = ("kind", "what", "word", "cause", "next")  # what results.json keeps of it
CHANGE_ORDER = ("do not merge", "decide", "merge")
EVERY = UseTable.model_validate({})
EVEN_OF_A_PART = ("upgrade", "in place", "yardstick", "recording", "limit")  # a part of the suite shows these too
Place = tuple[str, str, str]  # task, protocol and gate


@dataclass(frozen=True, slots=True)
class JudgeDecision:
    """The word on one judge for one use. `cause`: clauses, the first explains the others; `gates`: those behind the
    word. `stated`: the panel is used so, and the run is red on its account unless `accepted`; `doubt`: what is open
    beside failures that are accepted, and is not accepted with them."""

    panel: str
    judge: str
    use: str
    word: JudgeWord
    cause: str
    gates: tuple[str, ...] = ()
    next: str = ""
    stated: bool = True
    accepted: bool = False
    expired: bool = False  # until a day that has passed
    doubt: str = ""
    brief: str = ""  # the first cause without its figures
    excess: float = 0.0  # of the worst verdict behind the word, as `VerdictRecord.excess`

    @property
    def sentence(self) -> str:
        """ "gemini is not cleared to grade: it scores 0.83 above your people; it leaves texts unanswered."."""
        return f"{self.judge} is {printed(self.word)}{for_use(self.use)}: {self.cause}."

    @property
    def headline(self) -> str:
        """The same with the first cause alone."""
        return f"{self.judge} is {printed(self.word)}{for_use(self.use)}: {self.brief}."

    def record(self) -> JudgeDecisionRow:
        """As builtins, for results.json."""
        row = {name: getattr(self, name) for name in JudgeDecisionRow.__annotations__}
        return cast("JudgeDecisionRow", row | {"gates": list(self.gates)})


def for_use(use: str) -> str:
    """ " to grade", " for merchant_risk"; "" where every gate is asked."""
    return "" if use == EVERY_GATE else f" {'to' if use in VERBS else 'for'} {use}"


@dataclass(frozen=True, slots=True, repr=False)
class Decision:
    """The word on the change with its cause and the next step, and a word per judge and use."""

    word: ChangeWord
    cause: str
    next: str
    judges: tuple[JudgeDecision, ...]
    changes: tuple[Change, ...]
    red: bool  # whether the run must not be green
    of_file: bool = False  # no change that could be merged

    @property
    def exit_code(self) -> int:
        """Of `recuse check`: by the worst word on a judge for the use it was checked for; 2 where nobody was judged."""
        return EXIT[next((one.word for one in self.worst_first), UNDECIDED)]

    @property
    def lines(self) -> tuple[str, str]:
        """The two lines that every output begins with: this change, of a file its worst judge, and these judges."""
        compared = any(change.kind == "upgrade" for change in self.changes)
        first = f"This change: {self.word}: {self.cause}."
        if self.of_file:
            first = next((j.headline for j in self.worst_first), f"{self.cause[:1].upper()}{self.cause[1:]}.")
        return first, f"These judges: {_who_is_cleared(self.judges, compared)}."

    @property
    def worst_first(self) -> list[JudgeDecision]:
        """The words on judges for the uses that are stated."""
        return sorted((j for j in self.judges if j.stated), key=lambda j: (WORST_FIRST.index(j.word), -j.excess))

    @property
    def sentences(self) -> list[str]:
        """What `recuse check` prints first: per judge a sentence for its stated use and the next step; other uses."""
        if not self.judges:
            return [self.lines[1]]
        lines = [line for j in self.worst_first for line in (j.sentence, j.next and f"  next: {j.next}") if line]
        further = [j for j in self.judges if not j.stated]
        for use in dict.fromkeys(j.use for j in further):
            names = {w: [j.judge for j in further if (j.use, j.word) == (use, w)] for w in WORST_FIRST[::-1]}
            words = [f"{printed(word)}: {', '.join(those)}" for word, those in names.items() if those]
            lines.append(f"  to {use}: {'; '.join(words)}")
        return lines

    def __repr__(self) -> str:
        return visible("\n".join(self.sentences))

    def _repr_html_(self) -> str:
        head = ("judge", "use", "word", "cause", "next")
        rows = [(j.judge, j.use, printed(j.word), j.cause, j.next) for j in self.judges]
        return html_table(self.lines[1], head, rows)

    def to_frame(self) -> pd.DataFrame:
        """One row per judge and use: judge, use, word, cause."""
        rows = [(j.judge, j.use, j.word, j.cause) for j in self.judges]
        return pd.DataFrame(rows, columns=["judge", "use", "word", "cause"])

    def record(self) -> DecisionRow:
        """As builtins, for results.json."""
        return {
            "word": self.word, "cause": self.cause, "next": self.next, "lines": list(self.lines), "red": self.red,
            "judges": [one.record() for one in self.judges],
            "changes": [{name: str(getattr(c, name)) for name in OF_A_CHANGE} for c in self.changes],
        }  # fmt: skip


def decide(evidence: Evidence) -> Decision:
    """Nothing depends on the order of records: judges come in that of panels, changes by how much they ask for."""
    changes = tuple(sorted(evidence.changes, key=lambda c: (CHANGE_ORDER.index(c.word), c.order, c.kind, c.what)))
    evidence = replace(evidence, changes=changes)
    judges = tuple(_judges(evidence))
    word, cause, step = next(_words(evidence, judges))
    # Red: the change is refused, or a judge is undecided for its use or was changed in place, and nobody accepts that.
    open_ = any(c.red or (c.kind in ("expired", "in place") and c.word != "merge") for c in changes)
    red = word == "do not merge" or (word != "no decision" and (open_ or bool(_doubtful(judges))))
    return Decision(word, cause, step, judges, changes, red)


def _judges(evidence: Evidence) -> Iterator[JudgeDecision]:
    for panel in evidence.panels:
        own = (v for v in evidence.verdicts if v.panel == panel.name)
        by_place = grouped(own, lambda v: (v.subject.get("task", ""), v.subject.get("protocol", ""), v.gate))
        # without a yardstick nothing compares judges
        gates = {a["gate"] for a in evidence.due if a["panel"] == panel.name}
        uses = (*panel.uses, *(use for use in panel.further if gates & set(evidence.uses[use].yardstick)))
        for judge in panel.judges:
            for use in uses:
                yield _judge(panel, judge, use, evidence, by_place)


def _judge(
    panel: PanelPlan, judge: str, use: str, evidence: Evidence, by_place: Mapping[Place, Sequence[VerdictRecord]]
) -> JudgeDecision:
    named = evidence.uses.get(use, EVERY)  # of a file that names none: all gates that were asked decide
    gates = evidence.conditions.union(named.gates)
    rows = [a for a in evidence.due if a["panel"] == panel.name and a["gate"] in gates]
    every = [v for group in by_place.values() for v in group if v.judge == judge]
    every.sort(key=lambda v: (v.gate, sorted(v.subject.items()), v.test))  # whatever order the tests ran in
    verdicts = [v for v in every if v.gate in gates]
    peers = evidence.peers.difference(named.gates)  # a use that names such a gate decides by it
    unasked = sorted(gates & evidence.unasked)
    failed = [v for v in verdicts if v.outcome == "fail" and v.gate not in peers]
    apart = [v for v in verdicts if v.outcome == "fail" and v.gate in peers]
    open_ = [v for v in verdicts if v.outcome not in ("pass", "fail")]
    missing = sorted({a["gate"] for a in rows if _is_missing(a, judge, by_place)})
    missed = [label_of(gate, evidence.labels) for gate in missing]
    versions = {v.subject.get(VERSION) for v in every} | {None}  # verdicts are on the newest
    own = [f for f in evidence.figures if f.panel == panel.name and f.judge == judge]
    known = (f for f in own if f.subject.get(VERSION) in versions)
    figures = sorted(known, key=lambda f: (f.metric, sorted(f.subject.items())))
    stated = use in panel.uses

    def concluded(
        word: JudgeWord, causes: Sequence[str], behind: Sequence[VerdictRecord], *more: str, step: str = ""
    ) -> JudgeDecision:
        names = tuple(dict.fromkeys([*(v.gate for v in behind), *more]))
        return JudgeDecision(
            panel.name, judge, use, word, "; ".join(dict.fromkeys(causes)), names, step, stated,
            brief=getattr(causes[0], "brief", causes[0]),
            accepted=bool(behind) and not more and word != CLEARED
            and all(v.accepted or v.expired or (stated and v.green) for v in behind),
            expired=any(v.expired for v in behind),
            excess=max((v.excess for v in behind), default=0.0),
        )  # fmt: skip

    newest = {v.subject[VERSION] for group in by_place.values() for v in group if VERSION in v.subject}
    there = {f.subject[VERSION] for f in own if VERSION in f.subject}
    if newest and there and not newest & there and not any(VERSION in v.subject for v in every):
        new, old = listed(sorted(newest)), listed(sorted(there))
        step = f"add its answers to {new}, or check {old} alone"
        return concluded(UNDECIDED, [f"{new} has no answers of it: it is in {old} alone"], [], step=step)
    part = "" if evidence.whole else evidence.part or "only part of the questions was asked"
    by_people = [v for v in verdicts if panel.people_faults and rests_on_people(v)]
    if failed and all(v in by_people for v in failed):
        return concluded(UNDECIDED, panel.people_faults[:MOST_CAUSES], failed, "people", step=MEND_PEOPLE)
    if failed:
        causes, step = causes_of_failure(failed, every, figures)
        one = concluded(NOT_CLEARED, causes[:MOST_CAUSES], failed, step=step)
        open_, apart = ([v for v in those if not (v.green or v.expired)] for those in (open_, apart))
        if part or not one.accepted or not (missing or open_ or apart):
            return one
        doubts, step = causes_of_doubt(open_, apart, missed, figures, part="", lacking=False, verdicts=verdicts)
        causes = [*causes[: MOST_CAUSES - 1], doubts[0]]
        return replace(one, doubt=doubts[0], cause="; ".join(causes), next=step)
    about = ("recording", "do not merge", (panel.name, judge))
    if others := next((c for c in evidence.changes if (c.kind, c.word, c.about) == about), None):  # whose replies?
        clause = others.cause.removeprefix(judge).lstrip(":, ")
        return concluded(UNDECIDED, [clause], (), "recording", step=others.next)
    yardsticks = named.yardstick
    compared = [v for v in verdicts if v.outcome == "pass" and (v.gate in yardsticks or not yardsticks)]
    lacking = bool(yardsticks) and not compared and not {*missing, *(v.gate for v in open_)} & set(yardsticks)
    if missing or open_ or apart or lacking or part or unasked or not verdicts:
        causes, step = causes_of_doubt(
            open_, apart, missed, figures, part=part, lacking=lacking, verdicts=verdicts, every=every,
            question=named.question, rated=panel.rated, yardsticks=yardsticks,
            unasked=[label_of(gate, evidence.labels) for gate in unasked if not (lacking and gate in yardsticks)],
        )  # fmt: skip
        more = (*missing, *unasked, *(["people"] if lacking else []), *(["part"] if part else []))
        if by_people:
            causes, step = [*panel.people_faults, *causes], MEND_PEOPLE
        return concluded(UNDECIDED, causes[:MOST_CAUSES], [*open_, *apart], *more, step=step)
    if by_people:  # a person at fault makes people agree less, and any judge look as good as they are
        return concluded(UNDECIDED, panel.people_faults[:MOST_CAUSES], by_people, "people", step=MEND_PEOPLE)
    return concluded(CLEARED, [_as_good(verdicts)], verdicts)


def _is_missing(row: AskedRow, judge: str, by_place: Mapping[Place, Sequence[VerdictRecord]]) -> bool:
    """Whether a gate that had to decide has no verdict, or fewer than it gave. A gate may be about some judges only
    (those that wrote a text), so one verdict on those of whom the test was asked together shows that it was asked."""
    if judge not in row["judges"]:
        return False
    there = by_place.get((row["task"], row["protocol"], row["gate"]), ())
    given = Counter(v.test for v in there)
    group = [v for v in there if v.judge in ("", *row["judges"])]
    group = [v for v in group if not row["test"] or v.test.partition("[")[0] == row["test"]]
    return not group or any(given[v.test] < v.of for v in group)


def _as_good(verdicts: Sequence[VerdictRecord]) -> str:
    gates = {v.gate: v for v in verdicts}
    if "human_ceiling" in gates:
        better = "better than" if gates["human_ceiling"].low > 0 else "about as well as"
        whom, they = as_well(gates["human_ceiling"])
        return f"it agrees with {whom} {better} {they}"
    if any(v.detail.get("held_against") == RIGHT_ANSWERS for v in verdicts):
        return "it decides as the right answers say"
    if {*gates} & {"sensitivity", "expert_kappa"}:
        return "it decides as your one expert does; nobody knows how far experts agree"
    return "every gate that decides passes"


def _words(evidence: Evidence, judges: Sequence[JudgeDecision]) -> Iterator[tuple[ChangeWord, str, str]]:
    """The word with its cause and the next step; the first counts."""
    refused = [one for one in judges if one.stated and one.word == NOT_CLEARED and not one.accepted]

    def of_changes(word: ChangeWord, those: Callable[[Change], bool]) -> Iterator[tuple[ChangeWord, str, str]]:
        return ((word, change.cause, change.next) for change in evidence.changes if those(change))

    yield from of_changes("do not merge", lambda change: change.word == "do not merge")
    if refused:
        yield "do not merge", *_first(refused)
    red = sorted((v for v in evidence.verdicts if not v.green), key=lambda v: (-v.excess, v.label, v.outcome))
    if outside := [v for v in red if v.outcome == "fail" and not v.judge]:
        yield "do not merge", f"{outside[0].label} is outside its limit", ""
    if evidence.unfinished:
        whys = [why for _, why in evidence.unfinished]
        why = max(dict.fromkeys(whys), key=whys.count).rstrip(".")  # one cause once
        tests = "1 test unfinished" if len(whys) == 1 else f"{len(whys)} tests unfinished"
        yield "no decision", f"{why} ({tests})", evidence.finishing
    yield from of_changes("decide", lambda change: change.word == "decide" and change.kind in EVEN_OF_A_PART)
    if evidence.part or not evidence.whole:
        added = f"add {listed(evidence.outside)} to recuse_panels, then " if evidence.outside else ""
        yield "no decision", evidence.part or "only part of the questions was asked", f"{added}run all of evals/"
    yield from of_changes("decide", lambda change: change.word == "decide" and change.kind != "base")
    if doubtful := _doubtful(judges):
        yield "decide", *_first(doubtful)
    if red:
        yield "decide", f"{red[0].label} is {printed(red[0].outcome)}", ""
    yield from of_changes("no decision", lambda change: change.kind == "base")
    if not judges and not evidence.changes:
        yield "no decision", "nothing was to be decided", ""
    yield from of_changes("merge", lambda change: True)
    yield "merge", "nothing changed" if evidence.compared else "nothing stands against it", ""


def _doubtful(judges: Sequence[JudgeDecision]) -> list[JudgeDecision]:
    """Those that are open for their use, also beside a failure that is accepted."""
    open_ = [one for one in judges if one.stated and (one.doubt or (one.word == UNDECIDED and not one.accepted))]
    return [replace(one, word=UNDECIDED, brief=one.doubt or one.brief) for one in open_]


def _first(judges: Sequence[JudgeDecision]) -> tuple[str, str]:
    worst = _worst(judges)
    others = len({(one.panel, one.judge) for one in judges}) - 1
    more = f"; {counted(others, 'more judge')} {printed(worst.word)}" if others else ""
    return _briefly(worst) + more, worst.next


def _worst(judges: Sequence[JudgeDecision]) -> JudgeDecision:
    return max(judges, key=lambda one: (not one.accepted, one.excess))


def _briefly(one: JudgeDecision) -> str:
    """ "gemini scores 0.83 above your people"."""
    return f"{one.judge}{one.brief[2:]}" if one.brief.startswith("it ") else f"{one.judge}: {one.brief}"


def _who_is_cleared(judges: Sequence[JudgeDecision], compared: bool) -> str:
    """ "2 of 5 cleared to grade (a, b); 3 not cleared: c scores ..."; the use with most cleared first."""
    lines: list[tuple[int, str]] = []
    for use in dict.fromkeys(one.use for one in judges if one.stated):
        stated = [one for one in judges if one.stated and one.use == use]
        cleared = [one.judge for one in stated if one.word == CLEARED]
        line = f"{len(cleared)} of {len(stated)} {printed(CLEARED)}{for_use(use)}"
        line += f" ({listed(cleared, 4)})" if cleared else ""
        for word in (NOT_CLEARED, UNDECIDED):
            if those := [one for one in stated if one.word == word]:
                until_now = ", acceptance expired" if any(one.expired for one in those) else ", known and accepted"
                known = until_now if all(one.accepted for one in those) else ""
                line += f"; {len(those)} {printed(word)}{known}: {_briefly(_worst(those))}"
        lines.append((-len(cleared), line))
    nobody = "compared with each other, checked for no use" if compared else STUDIES
    return ". ".join(line for _, line in sorted(lines, key=itemgetter(0))) or nobody
