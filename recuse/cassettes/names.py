"""From the name of a cell to its file below cassettes/, in a way that no name can lead elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recuse.naming import checked_name
from recuse.schema import RecuseError

JOIN = "~"  # joins the parts of a cell name, hence not allowed inside one
SUFFIX = ".jsonl"
LONGEST_FILE = 200  # leaves room for suffixes of side files below the 255 bytes most file systems allow


def cell_name(panel: str, task: str, protocol: str, judge: str, target: str, factors: Mapping[str, str]) -> str:
    """ "<panel>/<task>/<protocol>/<judge>~<target>~<factor values>", checked."""
    named = {"panel": panel, "task": task, "protocol": protocol, "judge": judge, "target": target}
    for what, name in (*named.items(), *((f"factor {factor}", level) for factor, level in factors.items())):
        checked_name(name, what, "cassette")
    return checked_cell("/".join((panel, task, protocol, JOIN.join((judge, target, *factors.values())))))


def checked_cell(cell: str) -> str:
    """The cell's name without file suffix if every part of it is a safe file name; `RecuseError` otherwise."""
    cell = cell.removesuffix(SUFFIX)
    parts = cell.split("/")
    if len(parts) != 4:
        raise RecuseError(f"cassette {cell!r} is not of the form <panel>/<task>/<protocol>/<cell>")
    for part, what in zip(parts, ("panel", "task", "protocol"), strict=False):
        checked_name(part, what, f"cassette {cell!r}")
    for part in parts[3].split(JOIN):
        checked_name(part, "part of a cell", f"cassette {cell!r}")
    if len(parts[3]) > LONGEST_FILE:
        raise RecuseError(
            f"the cell name {parts[3]!r} has {len(parts[3])} characters; at most {LONGEST_FILE} fit. Shorten the ids"
        )
    return cell


def check_distinct(cells: Iterable[str]) -> None:
    """`RecuseError` if two cells differ only in case: some file systems would make them one file."""
    seen: dict[str, str] = {}
    for cell in cells:
        other = seen.setdefault(cell.casefold(), cell)
        if other != cell:
            raise RecuseError(f"cells {other!r} and {cell!r} differ only in case: one file on some systems. Rename one")
