"""What turned the run red, or stays undecided: by how much, how sure, what to do, and what the judges said."""

from __future__ import annotations

from dataclasses import dataclass

from recuse.report.addresses import matter_anchor, question_anchor, verdict_anchor
from recuse.report.gated_number import Measure, Number, grouped, plain_name
from recuse.report.results_model import ResultsModel
from recuse.report.upgrade_table import deciding_numbers, is_of_upgrade
from recuse.schema.number_text import count
from recuse.schema.results import ExcerptRow
from recuse.schema.vocabulary import SHOWN, worst
from recuse.security.sanitize import shortened, visible

MOST_CHARACTERS, MOST_PROMPT_CHARACTERS = 600, 1600


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A reply in a judge's own words, and what was asked."""

    about: str  # "Grok 4 on GPT-5.1"
    circumstances: str
    status: str
    why: str
    text: str
    row: ExcerptRow  # as in results.json
    cut: str  # how many characters were left out, in words
    prompt: str  # what it was asked; "" where the results do not hold it


def replies_of(view: ResultsModel, number: Number) -> list[Excerpt]:
    """A judge's own replies to what the number was measured on: one that was read and one that could not be; at the
    number's own factor levels where there are such."""
    subject = number.subject
    about = {name: subject.get(name) for name in ("panel", "task", "protocol", "judge")}
    replies = [e for e in view.results.get("excerpts") or () if all(e.get(name) == of for name, of in about.items())]
    replies.sort(
        key=lambda entry: sum(subject.get(f, level) != level for f, level in (entry.get("factors") or {}).items())
    )
    read = [entry for entry in replies if entry.get("status") == "ok"][:1]
    return [_excerpt(view, entry) for entry in [*read, *[e for e in replies if e.get("status") != "ok"][:1]]]


def _excerpt(view: ResultsModel, entry: ExcerptRow) -> Excerpt:
    panel = view.panel(entry["panel"])
    text, cut = shortened(str(entry.get("text") or ""), MOST_CHARACTERS)
    factors = [view.lexicon.level(name, str(level)) for name, level in (entry.get("factors") or {}).items()]
    repeat, target = entry.get("repeat"), view.label(str(entry.get("target") or ""), panel)
    asked_again = [f"repeat {repeat + 1}"] if isinstance(repeat, int) else []
    circumstances = [plain_name(str(entry.get("protocol") or "")), *factors, *asked_again]
    return Excerpt(
        about=" on ".join(part for part in (view.label(str(entry.get("judge") or ""), panel), target) if part),
        circumstances=", ".join(part for part in circumstances if part),
        status=plain_name(str(entry.get("status") or "")),
        why=visible(shortened(str(entry.get("why") or ""), 300)[0]),
        text=visible(text),
        row=entry,
        cut=f"{count(cut)} more characters in results.json" if cut else "",
        prompt=visible(shortened(str(entry.get("prompt") or ""), MOST_PROMPT_CHARACTERS)[0]),
    )


MOST_PASTED = 4
MOST_REPLIES = 4


@dataclass(frozen=True, slots=True)
class Case:
    """One verdict of a gate."""

    outcome: str
    who: str  # "grok-4, names shown (published, merchant_risk)"
    value: str  # "+0.71 (0.52 to 0.90)"
    finding: str  # what is wrong, in whole sentences
    anchor: str  # its cell in the matrix
    test: str


@dataclass(frozen=True, slots=True)
class Way:
    """One way out for all cases of a kind: what to do, and what to paste into `file` where it is to be accepted."""

    advice: str
    paste: str
    file: str
    more: int  # further entries like those to paste


@dataclass(frozen=True, slots=True)
class Matter:
    """One gate that is red or undecided: what it asks, of whom, by how much it is missed, and what the judges said."""

    gate: str
    title: str
    measure: Measure
    question: str
    limit: str
    reason: str
    anchor: str
    group: str  # where the question's answer about the first case is drawn
    cases: list[Case]
    ways: list[Way]
    replies: list[Excerpt]  # the failing judges' own

    @property
    def outcome(self) -> str:
        """The worst of its cases."""
        return worst(case.outcome for case in self.cases)


def needs_attention(view: ResultsModel) -> list[Matter]:
    """Failed, unmeasured, and undecided verdicts that their gate does not allow; the worst gate first. Of an upgrade
    the rows that keep it from passing; its table shows the others."""
    deciding, badness = {id(n) for n in deciding_numbers(view)}, list(SHOWN)
    chosen = [n for n in view.numbers if not n.is_tolerated and (not is_of_upgrade(n) or id(n) in deciding)]
    chosen.sort(key=lambda n: (badness.index(n.state), n.measure.rank, n.metric, view.rank(n)))
    return [_matter(view, alike) for alike in grouped(chosen, lambda n: (n.question, n.gate)).values()]


def run_faults(view: ResultsModel) -> list[str]:
    """What is wrong with the run as a whole, each fault once: limits that no longer fit, tests without a verdict. What
    changed against the baseline is told where the changes are."""
    baseline = view.results.get("baseline")
    changes = (baseline.get("objections") if baseline else None) or ()
    unmeasured = [
        f"{alike[0].get('test')}{f' and {len(alike) - 1} more tests' if alike[1:] else ''}: {why}"
        for why, alike in grouped(view.results.get("unmeasured") or (), lambda entry: entry.get("why")).items()
    ]
    return [*(str(o) for o in view.results.get("objections") or () if o not in changes), *unmeasured]


def whom(view: ResultsModel, n: Number) -> str:
    """Whom a number is about and where: "judge x, names shown (published, merchant_risk)"."""
    place = view.place(n)
    who = ", ".join(part for part in (n.who or "the panel", n.circumstances) if part)
    return f"{who} ({place})" if place else who


def _matter(view: ResultsModel, alike: list[Number]) -> Matter:
    first = alike[0]
    limits = {n.limit_text for n in alike}
    return Matter(
        gate=first.gate,
        title=first.gate_title,
        measure=first.measure,
        question=first.question,
        limit=limits.pop() if len(limits) == 1 else "",
        reason=(first.verdict.get("reason") if first.verdict else "") or "",
        anchor=matter_anchor(first.question, first.gate),
        group=question_anchor(first.question),
        cases=[_case(view, n) for n in alike],
        ways=_ways(alike),
        replies=_replies(view, alike),
    )


def _ways(alike: list[Number]) -> list[Way]:
    """What to do, once for all cases of which the same is said."""
    remedies: dict[tuple[str, str], list[str]] = {}
    for n in alike:
        remedy = n.remedy
        key = (remedy.get("advice") or "", remedy.get("file") or "") if remedy else ("", "")
        remedies.setdefault(key, []).append((remedy.get("paste") if remedy else "") or "")
    ways = []
    for (advice, file), pastes in remedies.items():
        wanted = [paste for paste in dict.fromkeys(pastes) if paste]
        if advice or wanted:
            ways.append(Way(advice, "\n\n".join(wanted[:MOST_PASTED]), file, max(0, len(wanted) - MOST_PASTED)))
    return ways


def _replies(view: ResultsModel, alike: list[Number]) -> list[Excerpt]:
    """Of each judge that it is about, in order, a reply of its own to what was asked here."""
    about = {(n.subject.get("panel"), n.who): n for n in reversed(alike) if "judge" in n.subject}
    quoted = [replies_of(view, n) for n in reversed(about.values())]
    return [reply for replies in quoted for reply in replies][:MOST_REPLIES]


def _case(view: ResultsModel, n: Number) -> Case:
    return Case(
        outcome=n.state,
        who=whom(view, n),
        value=n.with_interval(),
        finding=(n.remedy.get("finding") if n.remedy else "") or n.why_undefined,
        anchor=verdict_anchor(n.gate, n.subject),
        test=(n.verdict.get("test") if n.verdict else "") or "",
    )
