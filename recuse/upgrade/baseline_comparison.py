"""Two judges by what baselines keep of them: estimates with their sampling distributions, not what they said.

Components of an upgrade (agreement text by text, decisions flipped, order, losses) need the ratings, so no baseline can
show that a judge may replace another. It can show that it may not: where a measure that a gate decides changed beyond
chance, corrected over all that both baselines hold, and lies outside the limit now that the judge in use keeps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from recuse.gates import Gates
from recuse.gates import baseline_file as baselines
from recuse.gates.baseline_changes import beyond_chance
from recuse.gates.limits import Limit
from recuse.gates.upgrade_verdict import EXIT, Word
from recuse.schema import RecuseError
from recuse.schema.baseline_rows import Baseline, BaselineEntry, EntryRow, NamedRow
from recuse.schema.number_text import figure
from recuse.schema.results import Results
from recuse.schema.vocabulary import UNDECIDED

FIXED = ("items", "scale")
"""What two judges must share; prompt and rubric may be declared to change."""
ROWS = 12


@dataclass(frozen=True, slots=True)
class BaselineVerdict:
    """`changes`: as of `recuse.gates.baseline_changes.beyond_chance`, the deciding one first."""

    word: Word
    sentence: str
    changes: tuple[NamedRow, ...] = ()
    shared: int = 0
    tested: int = 0
    reasons: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Of `recuse compare`, by the word."""
        return EXIT[self.word]

    def record(self) -> dict[str, object]:
        """As builtins."""
        return {"verdict": self.word, "sentence": self.sentence, "changes": list(self.changes), "shared": self.shared,
                "tested": self.tested, "reasons": list(self.reasons)}  # fmt: skip

    def lines(self) -> Iterator[str]:
        """What the terminal prints: the sentence, why it is so, and the changes, the deciding one first."""
        yield self.sentence
        yield from (f"  {reason}" for reason in self.reasons)
        if self.shared:
            yield (
                f"{self.shared} results of both, {self.tested} differ and can be tested, {len(self.changes)} of them "
                "beyond chance (5 % over all, Holm)"
            )
        for row in self.changes[:ROWS]:
            about = ", ".join(f"{k} {v}" for k, v in sorted(row["subject"].items()) if k not in ("judge", "panel"))
            yield (
                f"  {row['what']:<24} {figure(row['before'])} -> {figure(row['after'])}   "
                f"{figure(row['change'], signed=True)} ({figure(row['low'], signed=True)} to "
                f"{figure(row['high'], signed=True)}), {row['test']}   {about}"
                + (f"   {row['beyond']}" if row["beyond"] else "")
            )
        if len(self.changes) > ROWS:
            yield f"  and {len(self.changes) - ROWS} more"


def read_estimates(path: Path, gates: Gates) -> Baseline | None:
    """A baseline, or results.json reduced to one; None where the file is neither."""
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError):
        return None
    if not isinstance(held, dict):
        return None
    if "entries" in held:
        return baselines.load(path)
    known = all(isinstance(held.get(name), list) for name in ("verdicts", "measurements"))
    return baselines.reduce(cast("Results", held), gates) if known else None


def compare_baselines(
    old: Baseline, new: Baseline, names: Sequence[str], gates: Gates, change: Sequence[str] = ()
) -> BaselineVerdict:
    """`names`: the judge in use and its candidate; none where both baselines hold one and the same judge alone. In one
    recording judges are each other's company, and their estimates not independent, so that only what is kept item by
    item is tested."""
    incumbent, candidate = _judges(old, new, names)
    before, after = _entries((old, incumbent), (new, candidate))
    shared = sorted(before.keys() & after.keys())
    called = (incumbent, candidate) if incumbent != candidate else (f"{incumbent} before", f"{candidate} after")
    if not shared:
        return _not_comparable(called, ["the two judges share no result"])
    why = {key: [*_differently_asked(old, new, before[key], after[key], change)] for key in shared}
    reasons = sorted({reason for reasons_of_one in why.values() for reason in reasons_of_one})
    pairs = [(before[key], after[key]) for key in shared if not why[key]]
    if not pairs:
        return _not_comparable(called, reasons)
    together = _recorded_together(old, after)
    named, tested = beyond_chance(pairs, {_place(now) for _, now in pairs}, gates, only_paired=together)
    worse = [row for row in named if _got_worse(row, after)]
    named = [*worse, *(row for row in named if row not in worse)]
    if worse:
        sentence = (
            f"Do not replace {called[0]} by {called[1]}: {worse[0]['what']} goes from "
            f"{figure(worse[0]['before'])} to {figure(worse[0]['after'])}, {worse[0]['beyond']}."
        )
        return BaselineVerdict("worse", sentence, tuple(named), len(pairs), tested, tuple(reasons))
    sentence = (
        f"Whether {called[1]} may replace {called[0]} cannot be told from baselines: nothing that they hold speaks "
        "against it, but they hold no ratings text by text; compare the panels or files that they were made from."
    )
    return BaselineVerdict(UNDECIDED, sentence, tuple(named), len(pairs), tested, tuple(reasons))


def _not_comparable(called: tuple[str, str], reasons: Sequence[str]) -> BaselineVerdict:
    sentence = f"{called[0]} and {called[1]} cannot be compared: {reasons[0]}."
    return BaselineVerdict("not comparable", sentence, reasons=tuple(reasons[1:]))


def _judges(old: Baseline, new: Baseline, names: Sequence[str]) -> tuple[str, str]:
    there = [sorted({j for judges in held["asked"]["judges"].values() for j in judges}) for held in (old, new)]
    if not names:
        if old is new or len(there[0]) != 1 or there[0] != there[1]:
            raise RecuseError(
                "say which judge is in use and which would replace it, after the baselines; they hold "
                f"{', '.join(there[0])}" + ("" if there[0] == there[1] else f", and {', '.join(there[1])}")
            )
        return there[0][0], there[1][0]
    for name, judges in zip(names, there, strict=True):
        if name not in judges:
            raise RecuseError(f"the baseline has no judge {name}; it has {', '.join(judges)}")
    if old is new and names[0] == names[1]:
        raise RecuseError(f"an upgrade is between two judges; {names[0]} was named as both")
    return names[0], names[1]


def _entries(*sides: tuple[Baseline, str]) -> list[dict[str, BaselineEntry]]:
    """Of each side, by what they are about besides the judge; besides the panel as well, where each judge is in one
    panel alone."""
    mine = [[entry for entry in held["entries"] if entry["subject"].get("judge") == judge] for held, judge in sides]
    alone = all(len({entry["subject"].get("panel") for entry in entries}) == 1 for entries in mine)
    left_out = {"judge", "panel"} if alone else {"judge"}

    def about(entry: BaselineEntry) -> str:
        subject = {name: value for name, value in entry["subject"].items() if name not in left_out}
        return json.dumps([entry["kind"], entry["what"], subject], sort_keys=True)

    return [{about(entry): entry for entry in entries} for entries in mine]


def _recorded_together(old: Baseline, after: Mapping[str, BaselineEntry]) -> bool:
    """Both judges are of one recording: what is kept of the candidate stands in the incumbent's baseline as well."""
    there = [entry["figures"] for entry in old["entries"] if entry["subject"] in [e["subject"] for e in after.values()]]
    return any(entry["figures"] in there for entry in after.values())


def _differently_asked(
    old: Baseline, new: Baseline, was: BaselineEntry, now: BaselineEntry,
    change: Sequence[str],
) -> Iterator[str]:  # fmt: skip
    """Why an entry of both is not about the same question."""
    before, after = (held.get("sources", {}).get(_place(entry), {}) for held, entry in ((old, was), (new, now)))
    about = f"{now['subject'].get('task', '')}, {now['subject'].get('protocol', '')}"
    for name in (*FIXED, "prompt", "rubric"):
        if before.get(name) != after.get(name) and name not in change:
            declare = "" if name in FIXED else f"; if that is the upgrade, say --change {name}"
            yield f"{about}: the {name} differ{'' if name == 'items' else 's'}{declare}"


def _place(entry: EntryRow) -> str:
    return "/".join(str(entry["subject"].get(name, "")) for name in ("panel", "task", "protocol"))


def _got_worse(row: NamedRow, after: Mapping[str, BaselineEntry]) -> bool:
    """Beyond chance, and outside a limit that the judge in use keeps."""
    if row["kind"] != "verdict" or not row["beyond"]:
        return False
    now = next(e for e in after.values() if (e["what"], e["subject"]) == (row["what"], row["subject"]))
    limit = Limit.of(now["limit"])
    return limit.holds(row["before"]) and not limit.holds(row["after"])
