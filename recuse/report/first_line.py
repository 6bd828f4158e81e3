"""The sentence that answers first: which judges are cleared, and what is known or new against the others.

Who is cleared is decided by the gates (`recommendations` in results.json), with the verdicts that it rests on; here it
is only put into words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report import estimate_format, numbers
from recuse.report.canonical_form import normalised
from recuse.report.gated_number import Number
from recuse.report.lexicon import plain_name
from recuse.report.results_model import Panel, View
from recuse.report.sections.attention import left_undecided, needs_attention, run_faults, tolerated
from recuse.report.upgrade_table import is_of_upgrade, upgrade_tables

MOST_FINDINGS = 2
_BADNESS = ("fail", "not measured", "undecided", "accepted")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the sentence; a judge's name comes with the outcome that is told of it."""

    text: str
    outcome: str = ""


Text = list[Piece]


@dataclass(frozen=True, slots=True)
class Finding:
    """What several judges have in common: "gemini-2.5-pro and grok-4 promote themselves"."""

    numbers: list[Number]
    known: bool

    @property
    def names(self) -> Text:
        outcomes: dict[str, str] = {}
        for n in self.numbers:
            outcomes.setdefault(n.who, n.outcome)
        return _listed([Piece(name, outcome) if name else Piece("the panel") for name, outcome in outcomes.items()])

    @property
    def sentence(self) -> Text:
        plural = len({n.who for n in self.numbers}) > 1
        return [*self.names, Piece(f" {_says(self.numbers[0], plural=plural)}")]


def headline(results: Mapping[str, Any]) -> str:
    """First line of every report, in plain English, with judges by their names in the panel files."""
    return "".join(piece.text for piece in pieces(View(normalised(results))))


def pieces(view: View) -> Text:
    """The headline in pieces, so that a page can mark the judges that are not cleared."""
    if not any(n.verdict for n in view.numbers):
        upgrades = [[Piece(sentence)] for sentence in _upgrades(view)]
        return _joined([*upgrades, *_objections(view, []), [Piece(_nothing_gated(view))]], " ")
    findings = _findings(view)
    upgrades = [[Piece(sentence)] for sentence in _upgrades(view)]
    new, known = [f for f in findings if not f.known], [f for f in findings if f.known]
    cleared = _joined([[Piece(_cleared(view))], *(f.sentence for f in known[:MOST_FINDINGS])], "; ")
    end = Piece(", as known." if known else ".")
    return _joined([*upgrades, *_objections(view, new), [*cleared, end]], " ")


def lede(view: View) -> list[str]:
    """A few sentences below the headline: the numbers behind it, the baseline, what stays undecided."""
    return [
        *(_in_numbers(f) for f in _findings(view)[:MOST_FINDINGS]),
        *_against_baseline(view),
        *_still_undecided(view),
    ]


# --------------------------------------------------------------------------- parts of the sentence


def _upgrades(view: View) -> list[str]:
    """The verdict on each candidate, refused ones first: its own sentence, the worst where it was held against the
    judge in use at several places."""
    told: dict[tuple[str, str], str] = {}
    for table in upgrade_tables(view):
        told.setdefault((table.panel, table.head[2]), table.sentence)
    return [*told.values()][:MOST_FINDINGS]


def _objections(view: View, new: list[Finding]) -> list[Text]:
    """What turns the run red: first what judges did, then what is wrong with the run itself."""
    told: list[Text] = []
    if matters := sum(len(matter.cases) for matter in needs_attention(view)):
        verdicts = "one verdict turns" if matters == 1 else f"{numbers.in_words(matters)} verdicts turn"
        said = _capital(_joined([f.sentence for f in new[:MOST_FINDINGS]], "; "))
        red = f"{verdicts} this run red."
        told.append([*said, Piece(f": {red}")] if said else [Piece(f"{red[:1].upper()}{red[1:]}")])
    if faults := len(run_faults(view)):
        one = "fault" if faults == 1 else "faults"
        told.append([Piece(f"{numbers.in_words(faults, capital=True)} {one} in the run itself.")])
    return told


def _cleared(view: View) -> str:
    """ "Three of five published judges and none of three local judges are cleared"."""
    clauses = [clause for panel in view.panels if (clause := _of_panel(view, panel))]
    if not clauses:
        return "No single judge was examined"
    told = view.recommendations
    alone = len(clauses) == 1 and 1 in (len(told), sum(r.recommended == "cleared" for r in told))
    text = f"{numbers.listed(clauses, most=4)} {'is' if alone else 'are'} cleared"
    undecided = sum(r.recommended == "undecided" for r in view.recommendations)
    if undecided:
        text += f"; {numbers.in_words(undecided)} {'is' if undecided == 1 else 'are'} undecided"
    return text[:1].upper() + text[1:]


def _of_panel(view: View, panel: Panel) -> str:
    told = [r.recommended == "cleared" for r in view.recommendations if r.panel == panel.name]
    name, many, cleared = plain_name(panel.name), len(told), sum(told)
    if not many:
        return ""
    if many == 1:
        return f"{'the only' if cleared else 'no'} {name} judge"
    if cleared == many:
        return f"{'both' if many == 2 else f'all {numbers.in_words(many)}'} {name} judges"
    return f"{numbers.in_words(cleared) if cleared else 'none'} of {numbers.in_words(many)} {name} judges"


def _nothing_gated(view: View) -> str:
    if view.results.get("outcome") == "not measured":
        return "The run could not be finished: nothing was concluded."
    if view.numbers:
        return f"Nothing was gated: {numbers.in_words(len(view.numbers))} measurements, no verdict."
    return "Nothing was measured: no question was asked."


def _says(n: Number, *, plural: bool) -> str:
    fault = (n.verdict or {}).get("accepted_fault") or {}
    if n.outcome == "fail" and fault.get("state") == "no longer needed":
        return "have outgrown an accepted fault" if plural else "has outgrown an accepted fault"
    outcome = _without_accepted_fault(n)
    if outcome == "not measured":
        return "could not be measured"
    if outcome == "undecided":
        return "stay undecided" if plural else "stays undecided"
    phrase = n.measure.phrase(above=_above(n), plural=plural)
    return phrase or f"{'miss' if plural else 'misses'} the limit of {plain_name(n.gate)}"


def _without_accepted_fault(n: Number) -> str:
    return str(((n.verdict or {}).get("accepted_fault") or {}).get("otherwise") or n.outcome)


def _above(n: Number) -> bool:
    """Which side of its limit the value is on, as a measure has a phrase for each."""
    if "within" in n.limit:
        low, high = n.limit["within"]
        return not numbers.is_number(n.value) or n.value >= (low + high) / 2
    return "at_most" in n.limit


# --------------------------------------------------------------------------- who and what


def _findings(view: View) -> list[Finding]:
    """Each judge's first finding, judges with the same one together; new before known, then in panel order."""
    new = [n for n in view.numbers if n.verdict and not tolerated(n) and not is_of_upgrade(n)]
    known = [n for r in view.recommendations for n in r.because if n.outcome == "accepted"]
    first: dict[tuple[str, str], Number] = {}
    for n in sorted([*new, *known], key=_telling_order):
        first.setdefault((n.subject.get("panel", ""), n.who), n)
    groups: dict[tuple[bool, str], list[Number]] = {}
    for n in sorted(first.values(), key=lambda n: (_BADNESS.index(n.outcome), view.rank(n))):
        groups.setdefault((n.outcome == "accepted", _says(n, plural=True)), []).append(n)
    return [Finding(mine, known) for (known, _), mine in groups.items()]


def _telling_order(n: Number) -> tuple[Any, ...]:
    doubt = _without_accepted_fault(n) == "undecided"
    return (_BADNESS.index(n.outcome), doubt, n.measure.rank, n.metric, n.level_places)


# --------------------------------------------------------------------------- sentences below it


def _in_numbers(f: Finding) -> str:
    name = f.numbers[0].measure.title
    each = numbers.listed([f"{estimate_format.value(n)} for {n.who or 'the panel'}" for n in f.numbers])
    limit = {estimate_format.limit(n) for n in f.numbers}
    until = sorted({str(((n.verdict or {}).get("accepted_fault") or {}).get("until") or "") for n in f.numbers} - {""})
    known = [f"accepted until {until[0]}"] if until else []
    aside = "; ".join([*(f"limit {text}" for text in sorted(limit) if text), *known])
    return f"{name[:1].upper()}{name[1:]}: {each}{f' ({aside})' if aside else ''}."


def _against_baseline(view: View) -> list[str]:
    baseline = view.results.get("baseline")
    if not baseline:
        return []
    kinds = {"limits": ("limit changed", "limits changed"), "named": ("change beyond chance", "changes beyond chance"),
             "moved": ("moved without a test",) * 2, "appeared": ("appeared",) * 2,
             "vanished": ("vanished",) * 2}  # fmt: skip
    counts = [(len(baseline.get(kind) or []), words) for kind, words in kinds.items()]
    told = [f"{numbers.in_words(n)} {one if n == 1 else several}" for n, (one, several) in counts if n]
    if not told:
        return ["Nothing changed against the baseline."]
    return [f"Against the baseline: {numbers.listed(told, most=len(kinds))}."]


def _still_undecided(view: View) -> list[str]:
    """How many verdicts stay undecided with their gate's leave, one of them told."""
    cases = [(matter, case) for matter in left_undecided(view) for case in matter.cases]
    if not cases:
        return []
    matter, case = cases[0]
    n = len(cases)
    start = "One verdict stays" if n == 1 else f"{numbers.in_words(n, capital=True)} verdicts stay"
    example = f"{'' if n == 1 else 'for one, '}{matter.measure.title} of {case.who}, {case.value}"
    limit = f", limit {matter.limit}" if matter.limit else ""
    return [f"{start} undecided, which the gate allows: {example}{limit}."]


# --------------------------------------------------------------------------- pieces


def _joined(parts: Iterable[Text], between: str) -> Text:
    joined: Text = []
    for part in parts:
        joined += [Piece(between), *part] if joined else part
    return joined


def _listed(names: Text) -> Text:
    """As `numbers.listed`: "a", "a and b", "a, b and c", "a, b, c and 4 more"."""
    most = numbers.MOST_LISTED
    shown = names if len(names) <= most + 1 else [*names[:most], Piece(f"{len(names) - most} more")]
    if len(shown) == 1:
        return shown
    return [*_joined([[name] for name in shown[:-1]], ", "), Piece(" and "), shown[-1]]


def _capital(text: Text) -> Text:
    """A sentence begins with a capital; a judge keeps its name's spelling."""
    if not text or text[0].outcome:
        return text
    first = text[0].text
    return [Piece(first[:1].upper() + first[1:]), *text[1:]]
