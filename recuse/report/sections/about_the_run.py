"""What the page says of the run itself, each a folded part of words and tables: what was not asked, who judged, every
limit with its reason, how often such a run would be wrong, what it cost, and of what it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from recuse.report.addresses import fault_anchor
from recuse.report.drawing import Block, Words
from recuse.report.figures import Cell, Table, table, trends
from recuse.report.gated_number import Number, place_in, plain_name
from recuse.report.results_model import Panel, Question, ResultsModel
from recuse.schema.number_text import MINUS, count, counted, in_unit, is_number, limit, listed, short
from recuse.schema.plain_values import grouped
from recuse.schema.results import Known, NotAskedRow, UsageRow
from recuse.schema.vocabulary import NOT_MEASURED, PROVENANCE_MEANINGS, printed, tally, worst

MOST_UNLOCKS = 40
"""Ways to unlock what was not asked that the page lists, those that unlock most; the table beside it has all."""
MOST_NEEDS = 5
DIGITS = 12
"""Digits of a commit and of a sha256."""


class Part(NamedTuple):
    """A part of the page that is one line until somebody opens it: its heading, what it comes to, its figures."""

    id: str
    title: str
    total: str
    figures: list[object]
    is_open: bool = False


def not_asked(view: ResultsModel) -> Table:
    """What would let questions be asked, what is lacking, how many, and which where; by what would unlock most."""

    def remedy(row: NotAskedRow) -> tuple[str, str]:
        """What to do, and the needs with, in a sentence of its own, what the source of the panel does not fix."""
        unfixed = row.get("unfixed") or ()
        needs = ", ".join(plain_name(need) for need in row.get("missing") or () if need not in unfixed)
        unknown = (f"{printed(NOT_MEASURED)}: the source gives no {name}" for name in unfixed)
        return "; ".join(row.get("unlock") or ()), "; ".join(filter(None, (needs, *unknown)))

    remedies = grouped(view.results.get("not_asked") or (), remedy)
    ordered = sorted(remedies.items(), key=lambda one: (-len(one[1]), one[0]))
    rows = [[how, missing, len(rows_alike), _wanting(rows_alike)] for (how, missing), rows_alike in ordered]
    return table("", "what would unlock it|for lack of|questions|which, and where", rows, most=MOST_UNLOCKS)


def _wanting(entries: Iterable[NotAskedRow]) -> str:
    """Questions in the order of their titles, a line each; those with the same places together, then the places."""
    places: dict[str, set[str]] = defaultdict(set)
    for row in entries:
        where = ", ".join(plain_name(str(of)) for name in ("task", "protocol") if (of := row.get(name)))
        places[row.get("title") or plain_name(row["question"])].add(f"{row.get('panel')}: {where}")
    together = grouped(sorted(places), lambda title: tuple(sorted(places[title])))
    return "\n".join("\n".join([*titles, f"({'; '.join(where)})"]) for where, titles in together.items())


def in_one_line(view: ResultsModel) -> str:
    """ "14 questions for lack of people (3), repeats (2)", each counted once per panel, task and protocol that it could
    not be asked of; "" where everything was asked."""
    entries = view.results.get("not_asked") or ()
    wanted = Counter(need for row in entries for need in row.get("missing") or ())
    needs = sorted(wanted, key=lambda need: (-wanted[need], need))
    phrases = listed([f"{plain_name(need)} ({wanted[need]})" for need in needs], MOST_NEEDS)
    return f"{counted(len(entries), 'question')} (counted per task) for lack of {phrases}" if entries else ""


def _panel(view: ResultsModel, panel: Panel) -> Block:
    meaning = PROVENANCE_MEANINGS.get(panel.provenance, "Where these replies come from was not stated.")
    rows = [
        [Cell(judge["label"] or judge["name"], judge["name"] if judge["label"] != judge["name"] else ""),
         judge["model"] or "–", judge["wire"] or "–", view.label(judge["author"], panel) if judge["author"] else "none"]
        for judge in panel.judges
    ]  # fmt: skip
    words = Words("read", [" ".join(filter(None, (meaning, panel.description)))])
    judges = [table("", "judge|model|wire format|own work judged", rows)] if rows else []
    return Block("section", [words, *judges], f"Judges of {panel.name}: {panel.provenance or 'provenance unknown'}")


def _rules(gated: Iterable[Number]) -> Iterator[str]:
    """How these verdicts were reached; those that differ only in the level a correction asked for, told together."""
    levels: dict[tuple[str, str, Any], set[float]] = {}
    for n in gated:
        rule: Mapping[str, Any] = (n.verdict.get("rule") if n.verdict else None) or {}
        key = (str(rule.get("limit_text") or limit(n.limit)), str(rule.get("decide") or ""), rule.get("pass_level"))
        levels.setdefault(key, set()).update({rule["fail_level"]} if is_number(rule.get("fail_level")) else ())
    for (text, decide, pass_level), known in levels.items():
        if decide != "point" and known:
            ends = " to ".join(dict.fromkeys(f"{100 * level:.5g}" for level in (min(known), max(known))))
            inside = f"passes if the {100 * pass_level:.4g} % interval lies inside"
            text = f"{text}; {inside}, fails if the {ends} % interval lies outside"
        yield f"{text}; the value itself decides" if decide == "point" else text


def _accepted(view: ResultsModel, gated: list[Number]) -> Iterator[list[object]]:
    def terms(n: Number) -> tuple[str, str, str]:
        fault = n.accepted_fault
        assert fault
        bounds = (limit(fault["accept"]), " or ".join(map(printed, fault["accept"].get("outcome") or ())))
        return ", ".join(filter(None, bounds)), fault["until"], fault["reason"]

    for (accept, until, reason), some in sorted(grouped((n for n in gated if n.accepted_fault), terms).items()):
        who = ", ".join(dict.fromkeys(f"{view.label(n.who)} ({n.subject.get('panel', '')})" for n in some))
        first = Cell(who, outcome=worst(n.state for n in some), anchor=fault_anchor(some[0]))
        values = ", ".join(dict.fromkeys(n.text() for n in some))
        words = " ".join(filter(None, ("accepted", accept, f"until {until}" if until else "")))
        yield [first, some[0].gate_title, values, words, reason]


def error_rates(view: ResultsModel) -> list[object]:
    """How often the gates err: on faultless judges, and on faults of a size; empty where none decided by intervals."""
    rates = view.results.get("error_rates")
    if not rates or not rates.get("sentence"):
        return []

    def size(value: float, unit: str) -> str:
        return in_unit(value, unit) if unit == "share" else f"{short(float(f'{value:.3g}'))} {unit}".rstrip()

    titles = {n.gate: n.gate_title for n in view.numbers if n.verdict}
    sentence = str(rates["sentence"])
    how = "Forecasts by each estimate's own sampling distribution, as if verdicts were independent"
    faults = ([titles.get(r["gate"], r["gate"]), r["limit"].replace("-", MINUS),
               *(size(r[known], r["unit"]) for known in ("typical", "worst"))]
              for r in rates["smallest_faults"])  # fmt: skip
    words = f"{sentence[:1].upper()}{sentence[1:]}. {how}; `recuse validate` simulates."
    columns = "gate|limit|fault that fails with 80 % chance|for the judge known least"
    return [Words("read", [words]), table("", columns, faults, (2, 3))]


def costs(view: ResultsModel) -> Table:
    """Calls, tokens and dollars per panel, protocol and judge, and of all; without rows where nothing was replayed."""
    usage = view.results.get("usage") or []
    panels = {panel.name: panel.judge_names for panel in view.panels}

    def place(row: UsageRow) -> tuple[object, ...]:
        panel, judge = place_in(list(panels), row["panel"]), place_in(panels.get(row["panel"], []), row["judge"])
        return (panel[0], row["task"], row["protocol"], judge[0])

    rows = [[view.label(row["judge"]), f"{row['panel']}, {plain_name(row['task'])}, {plain_name(row['protocol'])}",
             *_spent([row])] for row in sorted(usage, key=place)]  # fmt: skip
    whole = [["all", "", *_spent(usage)]] if usage else []
    return table("", "judge|panel, task, protocol|calls|input tokens|output tokens|dollars", rows + whole, range(2, 6))


def _spent(usage: Iterable[UsageRow]) -> list[str]:
    names = ("calls", "input_tokens", "output_tokens", "dollars")
    each = ([n for row in usage if is_number(n := row.get(name))] for name in names)
    *counts, dollars = (sum(known) if known else None for known in each)
    return [*map(count, counts), f"{dollars:,.2f}" if is_number(dollars) else "no price"]


def facts(view: ResultsModel, known: Known) -> list[tuple[str, str]]:
    """Commit, recording days and digests, from the results and from what is `known` beside them."""
    panels, recorded = view.results.get("panels") or (), sorted((known.get("recorded") or {}).items())
    rows = [
        ("commit", (known.get("commit") or "")[:DIGITS]),
        *((f"{panel} recorded", first if first == last else f"{first} to {last}") for panel, (first, last) in recorded),
        *((row["name"], row.get("source") or "") for row in panels if row.get("provenance") == "imported"),
        ("gates.toml sha256", (known.get("gates") or "")[:DIGITS]),
        ("results.json sha256", (known.get("results") or "")[:DIGITS]),
    ]
    return [(name, value) for name, value in rows if value]


def digests(view: ResultsModel) -> list[Table]:
    """Who answered, by which model, with a digest of its settings for each way of asking; and what was asked."""
    sources, judges = view.results.get("sources") or {}, []
    for panel, judge in ((p, judge) for p in view.panels for judge in p.judges):
        name, model = judge["name"], judge.get("model") or ""
        usage = [row for row in view.results.get("usage") or () if (row["panel"], row["judge"]) == (panel.name, name)]
        if others := sorted({one for row in usage for one in row.get("other_models") or ()}):
            model = f"{model} was asked, ANOTHER answered: {', '.join(others)}"
        of_panel = [of["judges"] for place, of in sources.items() if place.split("/")[0] == panel.name]
        settings = dict.fromkeys(str(of[name]) for of in of_panel if name in of)
        judges.append([name, panel.name, model, listed(list(settings))])
    names = ("items", "prompt", "rubric", "scale")
    rows = [[place, *(str(of.get(name) or "") for name in names)] for place, of in sorted(sources.items())]
    return [table("Judges and their versions", "judge|panel|model|digest of its settings", judges),
            table("Digests of what was asked", "panel, task, protocol|items|prompt|rubric|scale", rows)]  # fmt: skip


def parts_before(view: ResultsModel, questions: Iterable[Question]) -> list[Part]:
    """What was not asked, who judged, the limits, a row per gate in the order of the page, with what is accepted of it,
    and how sure all of it is."""
    rows, accepted = list[list[object]](), list[list[object]]()
    for question in questions:
        gated = [n for group in view.groups(question) for some in group.gates.values() for n in some]
        for gate, some in grouped(gated, lambda n: n.gate).items():
            reasons = dict.fromkeys(n.reason for n in some if n.reason)
            title = Cell(some[0].gate_title, gate if some[0].gate_title != plain_name(gate) else "")
            rows.append([title, "\n".join(_rules(some)), "\n".join(reasons), tally(n.state for n in some)])
            accepted += _accepted(view, some)
    limits: list[object] = [table("", "gate|limit|reason|outcome", rows),
                            table("What is accepted", "judge|gate|measured|accepted|reason", accepted)]  # fmt: skip
    who, reasoned = [_panel(view, panel) for panel in view.panels], f"{counted(len(rows), 'limit')} with reasons"
    return [
        Part("not-asked", "What was not asked, and what would unlock it?", in_one_line(view), [not_asked(view)]),
        Part("panels", "Who judged, and were they really asked?", counted(len(who), "panel"), [*who]),
        Part("gates", "Which limits, and why these?", reasoned, limits if rows else []),
        Part("errors", "How often would a run like this be wrong?", "", error_rates(view)),
    ]


def parts_after(view: ResultsModel, known: Known) -> list[Part]:
    """The price, and of what it is."""
    spent, identity, history = costs(view), facts(view, known), known.get("history") or ()
    gated = [n for n in view.numbers if n.verdict and n.subject.get("panel") not in view.studies]
    moved = trends(gated, history, lambda n: ", ".join(filter(None, (view.label(n.who), n.circumstances))))
    unpriced = any(not is_number(row.get("dollars")) for row in view.results.get("usage") or ())
    without = " A judge without a price in its panel file counts tokens only." if unpriced else ""
    why = f"From the usage blocks of the replies; replaying them costs nothing.{without}"
    about = [table("", "fact|value", identity), *digests(view)]
    total = ""
    if spent:
        calls, given, written, dollars = (cell.text for cell in spent.rows[-1][2:])
        total = f"{calls} calls, {given} input tokens, {written} output tokens, {dollars} dollars"
    committed, of_run = counted(len(history), "committed baseline"), counted(len(identity), "fact")
    return [
        Part("trends", "How have the numbers moved?", committed, [moved] if moved else []),
        Part("costs", "What did the judging cost?", total, [Words("read", [why]), spent] if spent else []),
        Part("identity", "What was run?", f"{of_run}: commit, recording days, digests", [*about]),
    ]  # fmt: skip
