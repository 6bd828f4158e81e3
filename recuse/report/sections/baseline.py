"""What changed against the committed baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report.lexicon import Lexicon, plain_name
from recuse.report.numbers import MISSING, fixed, is_number
from recuse.report.results_model import ResultsModel
from recuse.schema.results import MovedRow, NamedRow, OutcomeRow

MOST_ROWS = 60


@dataclass(frozen=True, slots=True)
class Moved:
    """A figure that is not what it was in the baseline, as text."""

    what: str
    who: str
    field: str
    before: str
    after: str
    delta: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is named as one, with its test, as text."""

    what: str
    who: str
    change: str
    test: str
    beyond: str


@dataclass(frozen=True, slots=True)
class Movement:
    """Everything that differs from the baseline."""

    path: str
    summary: str
    because: str
    limits: list[str]
    named: list[Change]
    outcomes: list[str]
    told: list[str]  # tests and judges that are gone, items, prompts and judges that changed
    moved: list[Moved]
    appeared: list[str]
    vanished: list[str]
    more_moved: int


def movement(view: ResultsModel) -> Movement | None:
    """None if there was no baseline to compare with."""
    baseline = view.results.get("baseline")
    if not baseline:
        return None
    because = baseline.get("because")
    moved = baseline.get("moved") or []
    return Movement(
        path=str(baseline.get("path") or ""),
        summary=str(baseline.get("summary") or ""),
        because=because["reason"] if because else "",
        limits=[str(row["sentence"]) for row in baseline.get("limits") or []],
        named=[_change(row, view.lexicon) for row in baseline.get("named") or []],
        outcomes=[_outcome(row, view.lexicon) for row in baseline.get("outcomes") or []],
        told=[*map(str, baseline.get("removed") or []), *map(str, baseline.get("sources") or [])],
        moved=[_moved(entry, view.lexicon) for entry in moved[:MOST_ROWS]],
        appeared=[named(entry, view.lexicon) for entry in baseline.get("appeared") or []],
        vanished=[named(entry, view.lexicon) for entry in baseline.get("vanished") or []],
        more_moved=max(0, len(moved) - MOST_ROWS),
    )


def _outcome(row: OutcomeRow, lexicon: Lexicon) -> str:
    phrase = f"{named(row, lexicon)}: {row['before']}, now {row['after']}"
    return phrase if row["named"] else f"{phrase}, within chance"


def _change(row: NamedRow, lexicon: Lexicon) -> Change:
    low, high = (fixed(row[end], 3, signed=True) for end in ("low", "high"))
    return Change(
        what=plain_name(str(row["what"])),
        who=subject_words(row["subject"], lexicon),
        change=f"{fixed(row['change'], 3, signed=True)} [{low}, {high}], {_number(row['before'])} to "
        f"{_number(row['after'])}",
        test=str(row["test"]),
        beyond=str(row["beyond"]),
    )


def _moved(entry: MovedRow, lexicon: Lexicon) -> Moved:
    return Moved(
        what=plain_name(str(entry.get("what") or "")),
        who=subject_words(entry.get("subject"), lexicon),
        field=plain_name(str(entry.get("field") or "")),
        before=_value(entry.get("before")),
        after=_value(entry.get("after")),
        delta=_number(entry.get("delta"), signed=True) if is_number(entry.get("delta")) else "",
    )


def named(entry: Any, lexicon: Lexicon) -> str:
    """An appeared or vanished entry, text or mapping, in words."""
    if not isinstance(entry, Mapping):
        return str(entry)
    what, who = plain_name(str(entry.get("what") or "")), subject_words(entry.get("subject"), lexicon)
    return f"{what}: {who}" if what and who else what or who or str(dict(entry))


def subject_words(subject: Any, lexicon: Lexicon) -> str:
    """ "published, merchant_risk, grok-4, names shown"."""
    if isinstance(subject, Mapping):
        order = ("panel", "task", "protocol", "judge", "target")
        keys = sorted(subject, key=lambda k: (order.index(k) if k in order else len(order), k))
        return ", ".join(lexicon.level(k, str(subject[k])) if k not in order else str(subject[k]) for k in keys)
    return str(subject or "")


def whom_and_where(subject: Mapping[str, str], lexicon: Lexicon) -> str:
    """ "grok-4, names shown (published, merchant_risk, rubric)"."""
    place = {name: subject[name] for name in ("panel", "task", "protocol") if name in subject}
    who = subject_words({name: of for name, of in subject.items() if name not in place}, lexicon) or "the panel"
    return f"{who} ({', '.join(place.values())})" if place else who


def _value(value: Any) -> str:
    if is_number(value):
        return _number(value)
    return MISSING if value is None else str(value)


def _number(value: Any, *, signed: bool = False) -> str:
    """Three decimals, none for a count."""
    return fixed(value, 0 if isinstance(value, int) else 3, signed=signed)
