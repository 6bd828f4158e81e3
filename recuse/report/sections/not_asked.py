"""What was not asked, for want of which data, and what would unlock it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report.lexicon import plain_name
from recuse.report.results_model import View

MOST_NEEDS = 5


@dataclass(frozen=True, slots=True)
class Unasked:
    """One question, wanting the same data in one place or several."""

    title: str
    missing: str  # "people, repeats"; "not measured: the source gives no pairs"
    unlock: list[str]  # "add ratings by people (task.toml, [people])"
    places: list[str]  # "local: headlines, grading"


def not_asked(view: View) -> list[Unasked]:
    """In the order of the questions' titles."""
    reasons: dict[tuple[str, tuple[str, ...]], list[Mapping[str, Any]]] = {}
    for entry in _entries(view):
        reasons.setdefault((str(entry.get("question")), tuple(entry.get("missing") or ())), []).append(entry)
    unasked = [
        Unasked(
            title=str(mine[0].get("title") or plain_name(question)),
            missing=_in_words(missing, mine[0].get("unfixed") or ()),
            unlock=list(dict.fromkeys(text for entry in mine for text in entry.get("unlock") or ())),
            places=sorted(dict.fromkeys(map(_place, mine))),
        )
        for (question, missing), mine in reasons.items()
    ]
    return sorted(unasked, key=lambda u: (u.title, u.missing))


def in_one_line(view: View) -> str:
    """ "14 questions for want of people (3), repeats (2)"; "" where everything was asked.

    A question counts once per panel, task and protocol that it could not be asked of.
    """
    entries = _entries(view)
    if not entries:
        return ""
    wanted = Counter(need for entry in entries for need in entry.get("missing") or ())
    needs = sorted(wanted, key=lambda need: (-wanted[need], need))
    phrases = [f"{plain_name(need)} ({wanted[need]})" for need in needs[:MOST_NEEDS]]
    more = [f"{len(needs) - MOST_NEEDS} more"] if len(needs) > MOST_NEEDS else []
    return f"{len(entries)} question{'s' if len(entries) > 1 else ''} for want of {', '.join([*phrases, *more])}"


def _in_words(missing: Iterable[str], unfixed: Iterable[str]) -> str:
    """The needs, and in a sentence of its own what the source of the panel does not fix."""
    needs = ", ".join(plain_name(need) for need in missing if need not in unfixed)
    return "; ".join(filter(None, (needs, *(f"not measured: the source gives no {name}" for name in unfixed))))


def _entries(view: View) -> list[Mapping[str, Any]]:
    return list(view.results.get("not_asked") or ())


def _place(entry: Mapping[str, Any]) -> str:
    return f"{entry.get('panel')}: {_words(entry.get(name) for name in ('task', 'protocol'))}"


def _words(names: Iterable[Any]) -> str:
    return ", ".join(plain_name(str(name)) for name in names if name)
