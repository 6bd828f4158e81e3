"""What turned the run red, or stays undecided: by how much, how sure, what to do, and what the judges said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recuse.report.gated_number import Number, plain_name
from recuse.report.results_model import ResultsModel
from recuse.report.verdict_tables import UPGRADE, deciding_numbers
from recuse.schema.number_text import count
from recuse.schema.plain_values import grouped
from recuse.schema.vocabulary import SHOWN
from recuse.security.sanitize import shortened, visible

MOST_CHARACTERS, MOST_PROMPT_CHARACTERS = 600, 1600
MOST_PASTED = MOST_REPLIES = 4


@dataclass(frozen=True, slots=True)
class Matter:
    """One gate that is red or undecided: its verdicts, the limit that all of them have, and what the judges said. A way
    out for all cases of a kind: its `advice`, what to `paste` into its `file`, and how many `more` such entries."""

    cases: list[Number]  # the worst first
    limit: str
    ways: list[dict[str, str]]
    replies: list[dict[str, object]]  # the failing judges' own

    @property
    def first(self) -> Number:
        """The worst verdict, which names the gate."""
        return self.cases[0]


def needs_attention(view: ResultsModel) -> list[Matter]:
    """Failed, unmeasured, and undecided verdicts that their gate does not allow; the worst gate first. Of an upgrade
    the rows that keep it from passing; its table shows the others."""
    deciding, badness = {id(n) for n in deciding_numbers(view)}, list(SHOWN)
    chosen = [n for n in view.numbers if not n.is_tolerated and (n.question != UPGRADE or id(n) in deciding)]
    chosen.sort(key=lambda n: (badness.index(n.state), n.measure["rank"], n.metric, view.rank(n)))
    matters = []
    for alike in grouped(chosen, lambda n: (n.question, n.gate)).values():
        limits = {n.limit_text for n in alike}
        limit = limits.pop() if len(limits) == 1 else ""
        remedies = [n.remedy for n in alike if n.remedy]
        ways = []  # what to do, once for all cases of which the same is said
        for (advice, file), same in grouped(remedies, lambda r: (r.get("advice") or "", r.get("file") or "")).items():
            wanted = list(dict.fromkeys(filter(None, (remedy.get("paste") for remedy in same))))
            if advice or wanted:
                paste, more = "\n\n".join(wanted[:MOST_PASTED]), str(len(wanted[MOST_PASTED:]) or "")
                ways.append({"advice": advice, "paste": paste, "file": file, "more": more})
        matters.append(Matter(alike, limit, ways, [*_replies(view, alike)]))
    return matters


def _replies(view: ResultsModel, alike: list[Number]) -> Iterator[dict[str, object]]:
    """Of each judge that it is about, in order, its own replies to what was measured, as attention.html.j2 shows them:
    one that was read and one that could not be, at the number's own factor levels where there are such."""
    about = {(n.subject.get("panel"), n.who): n.subject for n in reversed(alike) if "judge" in n.subject}
    quoted = []
    for subject in reversed(about.values()):
        place = {name: subject.get(name) for name in ("panel", "task", "protocol", "judge")}
        replies = [
            e for e in view.results.get("excerpts") or () if all(e.get(name) == of for name, of in place.items())
        ]
        replies.sort(key=lambda e: sum(subject.get(f, level) != level for f, level in (e.get("factors") or {}).items()))
        for was_read in (True, False):
            quoted += [e for e in replies if (e.get("status") == "ok") == was_read][:1]
    for entry in quoted[:MOST_REPLIES]:
        text, cut = shortened(str(entry.get("text") or ""), MOST_CHARACTERS)
        factors = [view.lexicon.level(name, str(level)) for name, level in (entry.get("factors") or {}).items()]
        asked_again = [f"repeat {repeat + 1}"] if isinstance(repeat := entry.get("repeat"), int) else []
        names = (view.label(str(entry.get(name) or ""), view.panel(entry["panel"])) for name in ("judge", "target"))
        circumstances = [plain_name(str(entry.get("protocol") or "")), *factors, *asked_again]
        yield {
            "about": " on ".join(filter(None, names)),  # "Grok 4 on GPT-5.1"
            "circumstances": ", ".join(filter(None, circumstances)),
            "status": plain_name(str(entry.get("status") or "")),
            "why": visible(shortened(str(entry.get("why") or ""), 300)[0]),
            "text": visible(text),
            "row": entry,
            "cut": f"{count(cut)} more characters in results.json" if cut else "",
            "prompt": visible(shortened(str(entry.get("prompt") or ""), MOST_PROMPT_CHARACTERS)[0]),
        }


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
