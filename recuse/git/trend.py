"""`recuse trend GATE`: the values of a gate, or of a measure, over the baselines in the history of the repository."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic_core import from_json  # three times as fast as the standard library

from recuse.git import contents_of, run_git
from recuse.schema import RecuseError
from recuse.schema.number_text import figure
from recuse.schema.results import Past
from recuse.security.files import begins_with, check_output, write_table
from recuse.security.sanitize import visible

BARS = "▁▂▃▄▅▆▇█"
HOLE = "·"
SEPARATOR = "\x1f"
HEAD = "gate,subject,commit,day,value,outcome"


def history(baseline: Path, last: int, *, measured: bool = True) -> list[tuple[str, str, Past]]:
    """(commit, day, values) of the committed versions of a baseline, oldest first, at most the `last` ones that can be
    read, with what was `measured` or of verdicts alone. `RecuseError` where there is no repository or no version."""
    folder = baseline.parent if baseline.parent.is_dir() else Path()
    log = run_git(folder, "log", f"--format=%h{SEPARATOR}%cs", f"-{last}", "--", baseline.name) or b""
    points = list[tuple[str, str, Past]]()
    commits = [line.partition(SEPARATOR)[::2] for line in reversed(log.decode().splitlines())]
    names = [f"{commit}:./{baseline.name}" for commit, _ in commits]
    every = (one for k in range(0, len(names), 12) for one in contents_of(folder, names[k : k + 12]))  # megabytes
    for (commit, day), content in zip(commits, every, strict=True):
        with suppress(ValueError, KeyError, TypeError):  # deleted in that commit, or written by another version
            lines = (content or b"").splitlines()
            if not measured:  # an entry has a line: the thousands of measurements are not parsed
                lines = [at for at in lines if b'"outcome"' in at or not (at[:3] == b"  {" and at.endswith(b"},"))]
            kept, values = from_json(b"\n".join(lines))["entries"], {}
            for entry in (one for one in kept if measured or one.get("outcome")):
                value, outcome = entry.get("figures", {}).get("value"), str(entry.get("outcome") or "")
                number = float(value) if isinstance(value, int | float) else None
                values[str(entry["what"]), tuple(sorted(entry["subject"].items()))] = number, outcome
            points.append((commit, day, values))
    if not points:
        raise RecuseError(f"git has no version of {baseline} that can be read; write one: --update-baseline")
    return points


def line_of(values: Sequence[float | None]) -> str:
    """The values as bars between their least and greatest; "·" where there is none."""
    known = [v for v in values if v is not None and math.isfinite(v)]
    if not known:
        return HOLE * len(values)
    low, width, top = min(known), max(known) - min(known), len(BARS) - 1
    heights = (None if v is None else round((v - low) / width * top) if width else top // 2 for v in values)
    return "".join(HOLE if height is None else BARS[height] for height in heights)


def _words(subject: Iterable[tuple[str, str]]) -> str:
    first = {name: k for k, name in enumerate(("judge", "panel", "task", "protocol"))}
    return ", ".join(f"{name} {value}" for name, value in sorted(subject, key=lambda of: (first.get(of[0], 4), of)))


def trend(gate: str, *, judge: str, last: int, baseline: Path, csv: Path | None) -> int:
    """`recuse trend`; 0. Raises `RecuseError` where there is nothing to show."""
    check_output(csv, begins_with(HEAD))
    if last < 1:
        raise RecuseError(f"--last is how many baselines are read, 1 or more; got {last}")
    points = history(baseline, last)
    known = sorted({name for _, _, values in points for name, _ in values})
    if gate not in known:
        if gate:
            raise RecuseError(f"no baseline has {gate!r}; there are {', '.join(known)}")
        print("\n".join(known))
        return 0
    subjects = {subject for _, _, values in points for name, subject in values if name == gate}
    about = [s for s in subjects if not judge or ("judge", judge) in s]
    rows = {_words(s): [values.get((gate, s)) for _, _, values in points] for s in sorted(about, key=_words)}
    if not rows:
        raise RecuseError(f"no baseline says {gate} of a judge {judge!r}")
    days = [day for _, day, _ in points]
    print(f"{gate} over {len(points)} baselines, {days[0]} to {days[-1]}")
    for subject, cells in rows.items():
        values = [one[0] if one else None for one in cells]
        defined = [v for v in values if v is not None]
        ends = f"{figure(defined[0])} -> {figure(defined[-1])}" if defined else "undefined"
        outcomes = dict.fromkeys(one[1] for one in cells if one and one[1])
        words = f" ({', then '.join(outcomes)})" if outcomes else ""
        print(f"  {line_of(values)}  {ends}  {visible(subject)}{words}")
    if csv:
        table = [(gate, subject, commit, day, "" if value is None else f"{value:.10g}", outcome)
                 for subject, of in rows.items() for (commit, day, _), cell in zip(points, of, strict=True)
                 for value, outcome in [cell or (None, "")]]  # fmt: skip
        write_table(csv, HEAD.split(","), table, begins_with(HEAD))
    return 0
