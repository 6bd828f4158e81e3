"""The sentence that answers first: which judges may sit, and what is known or new against the others.

A judge may sit if no gate objects to it (fail, error, or an undecided verdict that its gate does not allow) and none of
its flaws had to be accepted, slips in its own arithmetic excepted: a total that does not follow from the scores beside it
is listed, and the page shows what it changes, but it favours no one (`MetricName.seat`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report import estimate_format, numbers
from recuse.report.canonical_form import normalised
from recuse.report.results_model import Number, Panel, View
from recuse.report.sections.attention import left_open, needs_attention, run_faults, tolerated
from recuse.report.vocabulary import headline_order, level_order, metric_name, plain_name, worst

MOST_FINDINGS = 2
_BADNESS = ("fail", "not measured", "undecided", "accepted")


@dataclass(frozen=True, slots=True)
class Finding:
    """What several judges have in common: "gemini-2.5-pro and grok-4 promote themselves"."""

    numbers: list[Number]
    known: bool

    @property
    def judges(self) -> list[str]:
        return list(dict.fromkeys(n.who for n in self.numbers))

    def sentence(self) -> str:
        who = self.judges
        names = numbers.listed([name or "the panel" for name in who])
        return f"{names} {_says(self.numbers[0], plural=len(who) > 1)}"


def headline(results: Mapping[str, Any]) -> str:
    """First line of every report, in plain English, with judges by their names in the panel files."""
    view = View(normalised(results))
    gated = [n for n in view.numbers if n.verdict]
    if not gated:
        return " ".join([*_objections(view, []), _nothing_gated(view)])
    findings = _findings(view, gated)
    new, known = [f for f in findings if not f.known], [f for f in findings if f.known]
    as_known = ", as known" if known else ""
    seats = "; ".join([_seats(view, gated), *(f.sentence() for f in known[:MOST_FINDINGS])])
    return " ".join([*_objections(view, new), f"{seats}{as_known}."])


def lede(view: View) -> list[str]:
    """A few sentences below the headline: the numbers behind it, the baseline, what stays open."""
    gated = [n for n in view.numbers if n.verdict]
    return [
        *(_in_numbers(f) for f in _findings(view, gated)[:MOST_FINDINGS]),
        *_against_baseline(view),
        *_still_open(view),
    ]


def unseated(view: View) -> dict[str, str]:
    """Judges that may not sit -> the worst outcome that costs them the seat."""
    costly = [n for n in view.numbers if n.verdict and n.who and _costs_the_seat(n)]
    return {name: worst([n.outcome for n in costly if n.who == name]) for name in sorted({n.who for n in costly})}


# --------------------------------------------------------------------------- parts of the sentence


def _objections(view: View, new: list[Finding]) -> list[str]:
    """What turns the run red: first what judges did, then what is wrong with the run itself."""
    told = []
    if matters := sum(len(matter.cases) for matter in needs_attention(view)):
        said = "; ".join(f.sentence() for f in new[:MOST_FINDINGS])
        verdicts = "one verdict turns" if matters == 1 else f"{numbers.in_words(matters)} verdicts turn"
        told.append(f"{_start(said)}: {verdicts} this run red.")
    if faults := len(run_faults(view)):
        told.append(
            f"{numbers.in_words(faults, capital=True)} {'fault' if faults == 1 else 'faults'} in the run itself."
        )
    return told


def _start(said: str) -> str:
    """Judges keep their names' spelling at the start of a sentence."""
    return f"T{said[1:]}" if said.startswith("the panel") else said


def _seats(view: View, gated: list[Number]) -> str:
    clauses = []
    for panel in view.panels:
        judges = _seated(panel, gated)
        if not judges:
            continue
        many, sitting = len(judges), sum(judges.values())
        name = plain_name(panel.name)
        if many == 1:
            clauses.append(f"{'the only' if sitting else 'not even the only'} {name} judge")
        elif sitting == many:
            clauses.append(f"{'both' if many == 2 else f'all {numbers.in_words(many)}'} {name} judges")
        else:
            clauses.append(
                f"{numbers.in_words(sitting) if sitting else 'none'} of {numbers.in_words(many)} {name} judges"
            )
    text = numbers.listed(clauses, most=4) + " may sit" if clauses else "no single judge was examined"
    return text[:1].upper() + text[1:]


def _nothing_gated(view: View) -> str:
    if view.results.get("outcome") == "not measured":
        return "The run could not be finished: nothing was concluded."
    if view.numbers:
        return f"Nothing was gated: {numbers.in_words(len(view.numbers))} measurements, no verdict."
    return "Nothing was measured: no question was asked."


def _says(n: Number, *, plural: bool) -> str:
    if n.outcome == "fail" and ((n.verdict or {}).get("accepted_fault") or {}).get("state") == "no longer needed":
        return "have outgrown an accepted fault" if plural else "has outgrown an accepted fault"
    outcome = _without_accepted_fault(n)
    if outcome == "not measured":
        return "could not be measured"
    if outcome == "undecided":
        return "stay undecided" if plural else "stays undecided"
    phrase = metric_name(n.metric).phrase(above=_above(n), plural=plural)
    return phrase or f"{'miss' if plural else 'misses'} the limit of {plain_name(n.gate)}"


def _without_accepted_fault(n: Number) -> str:
    return str(((n.verdict or {}).get("accepted_fault") or {}).get("otherwise") or n.outcome)


def _above(n: Number) -> bool:
    if "within" in n.limit:
        low, high = n.limit["within"]
        return not numbers.is_number(n.value) or n.value >= (low + high) / 2
    return "at_most" in n.limit


# --------------------------------------------------------------------------- who and what


def _seated(panel: Panel, gated: Iterable[Number]) -> dict[str, bool]:
    mine = [n for n in gated if n.subject.get("panel") == panel.name]
    return {
        name: not any(_costs_the_seat(n) for n in mine if n.who == name)
        for name in panel.judge_names
        if any(n.who == name for n in mine)
    }


def _costs_the_seat(n: Number) -> bool:
    if n.outcome == "accepted":
        return not metric_name(n.metric).seat
    return not tolerated(n)


def _findings(view: View, gated: list[Number]) -> list[Finding]:
    """Each judge's first finding, judges with the same one together; new before known, then in panel order."""
    first: dict[tuple[str, str], Number] = {}
    telling = [n for n in gated if not tolerated(n) or (n.outcome == "accepted" and _costs_the_seat(n))]
    for n in sorted(telling, key=_telling_order):
        first.setdefault((n.subject.get("panel", ""), n.who), n)
    panels = [p.name for p in view.panels]

    def place(n: Number) -> tuple[Any, ...]:
        panel = n.subject.get("panel", "")
        judges = view.panel(panel).judge_names
        at = judges.index(n.who) if n.who in judges else len(judges)
        return (_BADNESS.index(n.outcome), panels.index(panel), at, n.who)

    groups: dict[tuple[bool, str], list[Number]] = {}
    for n in sorted(first.values(), key=place):
        groups.setdefault((n.outcome == "accepted", _says(n, plural=True)), []).append(n)
    return [Finding(mine, known) for (known, _), mine in groups.items()]


def _telling_order(n: Number) -> tuple[Any, ...]:
    factors = [level_order(v) for v in n.factors.values()]
    doubt = _without_accepted_fault(n) == "undecided"
    return (_BADNESS.index(n.outcome), doubt, headline_order(n.metric), factors)


# --------------------------------------------------------------------------- sentences below it


def _in_numbers(f: Finding) -> str:
    name = metric_name(f.numbers[0].metric).name
    each = numbers.listed([f"{estimate_format.value(n)} for {n.who or 'the panel'}" for n in f.numbers])
    limit = {numbers.limit(n.limit) for n in f.numbers}
    until = sorted({str(((n.verdict or {}).get("accepted_fault") or {}).get("until") or "") for n in f.numbers} - {""})
    known = [f"accepted until {until[0]}"] if until else []
    aside = "; ".join([*(f"limit {text}" for text in sorted(limit) if text), *known])
    return f"{name[:1].upper()}{name[1:]}: {each}{f' ({aside})' if aside else ''}."


def _against_baseline(view: View) -> list[str]:
    baseline = view.results.get("baseline")
    if not baseline:
        return []
    counts = [(len(baseline.get(kind) or []), kind) for kind in ("moved", "appeared", "vanished")]
    told = [f"{numbers.in_words(n)} {kind}" for n, kind in counts if n]
    if not told:
        return ["Nothing moved against the baseline."]
    text = numbers.listed(told)
    return [f"Against the baseline: {text}."]


def _still_open(view: View) -> list[str]:
    """How many verdicts stay undecided with their gate's leave, one of them told."""
    cases = [(matter, case) for matter in left_open(view) for case in matter.cases]
    if not cases:
        return []
    matter, case = cases[0]
    n = len(cases)
    start = "One verdict stays" if n == 1 else f"{numbers.in_words(n, capital=True)} verdicts stay"
    example = f"{'' if n == 1 else 'for one, '}{metric_name(matter.metric).name} of {case.who}, {case.found}"
    limit = f", limit {matter.limit}" if matter.limit else ""
    return [f"{start} open: {example}{limit}."]
