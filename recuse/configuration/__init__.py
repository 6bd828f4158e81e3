"""Names: those that may become file names and report anchors, and those of modules, Recuse's own or a team's: by dotted
path ("our_judges.one_word"), or by a short name that an entry point of the team's package gives it, as Recuse's own
does for the parts of `recuse.papers` (pyproject.toml)."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from recuse.schema import RecuseError

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_RESERVED = {"con", "prn", "aux", "nul", *(f"com{i}" for i in range(1, 10)), *(f"lpt{i}" for i in range(1, 10))}


def checked_name(name: str, what: str, where: str) -> str:
    """`name` unchanged if it can safely be part of a path on every system; `RecuseError` otherwise."""
    if not NAME.fullmatch(name) or ".." in name or name.split(".")[0].lower() in _RESERVED:
        allowed = "use 1-64 letters, digits, '.', '_' or '-', starting and ending with a letter or digit, without '..'"
        fault = f"{where}: {what} {name!r} cannot be used as a name"
        raise RecuseError(f"{fault}; {allowed} and not a reserved file name")
    return name


def checked_distinct(names: list[str], what: str, where: str) -> None:
    """`RecuseError` if two names are the same, or differ only in case (one file on some systems)."""
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(name.lower(), name)) is not name or names.count(name) > 1:
            twice = f"{what} {name!r} appears twice (as {other!r})"
            raise RecuseError(f"{where}: {twice}; names must differ by more than case")


def named(name: str, *, what: str, package: str, known: Sequence[str] = (), needs: Sequence[str] = ()) -> Any:
    """What a name stands for: module `package.name` for a known name, else what an entry point of group `package` or a
    dotted name leads to, a module or an object in one ("our_judges.behaviours.generous"). `RecuseError` for any other,
    for what cannot be imported, and for what lacks a name in `needs`."""
    if name in known:
        return import_module(f"{package}.{name}")
    installed = entry_points_of(package)
    dotted = name if "." in name.strip(".") else installed.get(name)
    if dotted is None:
        there, like = ", ".join((*known, *sorted(installed))) or "none", f"our_judges.{name.strip('.') or 'name'}"
        step = f"A {what} of your own is named by its dotted path, {like}, or by an entry point of group {package}"
        raise RecuseError(f"unknown {what} {name!r}; known: {there}. {step}")
    path = dotted.replace(":", ".")
    try:
        thing: Any = import_module(path)
    except (ImportError, ValueError, TypeError) as error:
        place, _, attribute = path.rpartition(".")
        within = getattr(error, "name", None) == path and place in sys.modules
        if not (within and hasattr(sys.modules[place], attribute)):
            why = f"{place} has no {attribute!r}" if within else error
            where = "Is its folder on pytest's pythonpath, or for the command recuse in PYTHONPATH?"
            raise RecuseError(f"{what} {path!r} cannot be imported: {why}. {where}") from error
        thing = getattr(sys.modules[place], attribute)
    if lacking := [need for need in needs if not hasattr(thing, need)]:
        raise RecuseError(f"{what} {name!r} lacks {', '.join(lacking)}; {package}/__init__.py says what it must have")
    return thing


@cache
def entry_points_of(group: str) -> Mapping[str, str]:
    """Name -> dotted path of every installed entry point of a group; read once, as it opens a file per package."""
    return {point.name: point.value for point in entry_points(group=group)}
