"""The words behind the numbers: a few replies worth reading. A judge wrote them, so they are hostile until shown
otherwise: every invisible character is spelled out, and long texts are cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from recuse.report.gated_number import Number
from recuse.report.lexicon import plain_name
from recuse.report.numbers import count
from recuse.report.results_model import ResultsModel
from recuse.schema.results import ExcerptRow
from recuse.security.sanitize import shortened, visible

MOST_REPLIES = 8
MOST_CHARACTERS = 600
MOST_PROMPT_CHARACTERS = 1600


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A reply in a judge's own words, and what was asked."""

    judge: str
    target: str
    panel: str
    provenance: str
    circumstances: str
    status: str
    why: str
    text: str
    row: ExcerptRow  # as in results.json
    cut: str  # how many characters were left out, in words
    prompt: str  # what it was asked; "" where the results do not hold it


def excerpts(view: ResultsModel) -> tuple[list[Excerpt], int]:
    """The replies to show, and how many more there are in results.json. Every panel and judge gets its turn; what could
    not be used comes first."""
    entries = view.results.get("excerpts") or []
    chosen = _in_turn(entries)[:MOST_REPLIES]
    return [_excerpt(view, entry) for entry in chosen], len(entries) - len(chosen)


def replies_of(view: ResultsModel, number: Number) -> list[Excerpt]:
    """A judge's own replies to what the number was measured on: one that was read and one that could not be; at the
    number's own factor levels where there are such."""
    subject = number.subject
    about = {name: subject.get(name) for name in ("panel", "task", "protocol", "judge")}
    mine = [e for e in view.results.get("excerpts") or () if all(e.get(name) == of for name, of in about.items())]
    mine.sort(
        key=lambda entry: sum(subject.get(f, level) != level for f, level in (entry.get("factors") or {}).items())
    )
    read = [entry for entry in mine if entry.get("status") == "ok"][:1]
    return [_excerpt(view, entry) for entry in [*read, *[e for e in mine if e.get("status") != "ok"][:1]]]


def _in_turn(entries: list[ExcerptRow]) -> list[ExcerptRow]:
    """One reply of each judge, then a second of each, and so on; of the protocol with most replies first."""
    asked = Counter(str(entry.get("protocol")) for entry in entries)

    def telling(place: int) -> tuple[bool, int, int]:
        return (entries[place].get("status") == "ok", -asked[str(entries[place].get("protocol"))], place)

    taken: Counter[tuple[str, str]] = Counter()
    turns = []
    for place in sorted(range(len(entries)), key=telling):
        judge = (str(entries[place].get("panel")), str(entries[place].get("judge")))
        turns.append((taken[judge], *telling(place)))
        taken[judge] += 1
    return [entries[place] for *_, place in sorted(turns)]


def _excerpt(view: ResultsModel, entry: ExcerptRow) -> Excerpt:
    panel = next((p for p in view.panels if p.name == entry.get("panel")), None)
    text, cut = shortened(str(entry.get("text") or ""), MOST_CHARACTERS)
    factors = [view.lexicon.level(name, str(level)) for name, level in (entry.get("factors") or {}).items()]
    repeat = entry.get("repeat")
    asked_again = [f"repeat {repeat + 1}"] if isinstance(repeat, int) else []
    about = [plain_name(str(entry.get("protocol") or "")), *factors, *asked_again]
    return Excerpt(
        judge=view.label(str(entry.get("judge") or ""), panel),
        target=view.label(str(entry.get("target") or ""), panel),
        panel=str(entry.get("panel") or ""),
        provenance=panel.provenance if panel else "",
        circumstances=", ".join(part for part in about if part),
        status=plain_name(str(entry.get("status") or "")),
        why=visible(shortened(str(entry.get("why") or ""), 300)[0]),
        text=visible(text),
        row=entry,
        cut=f"{count(cut)} more characters in results.json" if cut else "",
        prompt=visible(shortened(str(entry.get("prompt") or ""), MOST_PROMPT_CHARACTERS)[0]),
    )
