"""Annotations of a workflow of GitHub: the decision, and at its line in gates.toml what turns the run red and what
changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recuse.schema.vocabulary import ACCEPTED, FAIL, NOT_MEASURED, PASS, UNDECIDED

MOST = 10
"""Errors that GitHub shows of one step."""

LONGEST = 400


def annotation_lines(results: Mapping[str, Any], gates: Path, workspace: Path) -> list[str]:
    """At most ten lines for a report's `results`: the decision where it is not to merge, then at their line of the file
    `gates` one per gate that is not kept and one per limit that changed, then what is wrong with the run as a whole.
    Paths are told from `workspace`, as GitHub wants them. A changed limit is a warning, and an error where it turns the
    run red."""
    by_gate: dict[str, list[Mapping[str, Any]]] = {}
    for verdict in results.get("verdicts") or ():
        if verdict["outcome"] not in (PASS, ACCEPTED) and not verdict["allowed"]:
            by_gate.setdefault(str(verdict["gate"]), []).append(verdict)
    text = gates.read_text(encoding="utf-8") if gates.is_file() else ""
    path, folder = gates.resolve(), workspace.resolve()
    file = path.relative_to(folder) if path.is_relative_to(folder) else Path(gates.name)

    def place(gate: str) -> str:
        return f"file={_property(file.as_posix())},line={_line(gate, text)}"

    lines = _decision(results.get("decision") or {})
    lines += [
        f"::error {place(gate)},title={_property(_title(red))}::{_data(_words(red))}" for gate, red in by_gate.items()
    ]
    changes, objections = results.get("baseline") or {}, list(results["objections"])
    for row in changes.get("limits") or ():
        objection = f"{changes['path']}: {row['sentence']}"
        level = "error" if objection in objections else "warning"
        objections = [other for other in objections if other != objection]
        title = f"{row['gate']} {row['key']}: {row['change']}"
        lines.append(f"::{level} {place(row['gate'])},title={_property(title)}::{_data(row['sentence'])}")
    lines += [f"::error::{_data(objection)}" for objection in objections]
    return lines[:MOST]


def _decision(decision: Mapping[str, Any]) -> list[str]:
    word = str(decision.get("word") or "merge")
    if word == "merge":
        return []
    level = "error" if word == "do not merge" else "warning"
    return [f"::{level} title={_property(word.capitalize())}::{_data(str(decision['cause']) + '.')}"]


def _title(red: Sequence[Mapping[str, Any]]) -> str:
    """ "own work: fail"."""
    worst = next(o for o in (FAIL, NOT_MEASURED, UNDECIDED) if any(v["outcome"] == o for v in red))
    return f"{red[0].get('label') or red[0]['gate']}: {worst}"


def _words(red: Sequence[Mapping[str, Any]]) -> str:
    phrases = [f"{_who(v)}: {(v.get('remedy') or {}).get('finding') or v['outcome']}" for v in red[:2]]
    return " ".join([*phrases, *([f"And {len(red) - 2} more."] if red[2:] else [])])


def _who(verdict: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(verdict["subject"].items()))


def _line(gate: str, text: str) -> int:
    """Where the gate's table begins; the first line where it is not in the file."""
    heading = re.search(rf"^[ \t]*\[\s*[\"']?{re.escape(gate)}[\"']?\s*\]", text, re.MULTILINE)
    return text.count("\n", 0, heading.start()) + 1 if heading else 1


def _data(text: str) -> str:
    """A command ends at its line's end, so a line break in a name must not begin another command."""
    from recuse.security.sanitize import shortened, visible

    short = shortened(visible(text), LONGEST)[0]
    return short.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
