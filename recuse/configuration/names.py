"""Names: those that may become file names and report anchors, and those that name a module, Recuse's own or a team's.

A team names its own by dotted path ("our_judges.one_word"), or gives it a short name by an entry point of its package:

    [project.entry-points."recuse.protocols"]        # recuse.judges, recuse.protocols, recuse.standins.behaviours, ...
    one_word = "our_judges.one_word"
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from recuse.schema import RecuseError

__all__ = ["checked_distinct", "checked_name", "installed", "named_module", "named_object"]

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_RESERVED = {"con", "prn", "aux", "nul", *(f"com{i}" for i in range(1, 10)), *(f"lpt{i}" for i in range(1, 10))}


def checked_name(name: str, what: str, where: str) -> str:
    """`name` unchanged if it can safely be part of a path on every system; `RecuseError` otherwise."""
    if not _is_safe(name):
        raise RecuseError(
            f"{where}: {what} {name!r} cannot be used as a name; use 1-64 letters, digits, '.', '_' or '-', starting "
            "and ending with a letter or digit, without '..' and not a reserved file name"
        )
    return name


@lru_cache(maxsize=4096)
def _is_safe(name: str) -> bool:
    return bool(NAME.fullmatch(name)) and ".." not in name and name.split(".")[0].lower() not in _RESERVED


def checked_distinct(names: list[str], what: str, where: str) -> None:
    """`RecuseError` if two names are the same, or differ only in case (one file on some systems)."""
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(name.lower(), name)) is not name or names.count(name) > 1:
            raise RecuseError(
                f"{where}: {what} {name!r} appears twice (as {other!r}); names must differ by more than case"
            )


def named_module(name: str, *, what: str, package: str, known: Sequence[str], needs: Sequence[str]) -> ModuleType:
    """Module `package.name` for a known name, the module of an entry point of group `package`, or the module itself for
    a dotted name.

    `RecuseError` for a name that is none of these, a module that cannot be imported, and one that lacks a name in
    `needs`.
    """
    if name in known:
        return import_module(f"{package}.{name}")
    module = _imported(_dotted(name, what, package, known), what)
    if lacking := [need for need in needs if not hasattr(module, need)]:
        raise RecuseError(f"{what} {name!r} lacks {', '.join(lacking)}; {package}/__init__.py says what it must have")
    return module


def named_object(name: str, *, what: str, package: str, known: Sequence[str] = ()) -> Any:
    """The attribute that a dotted name or an entry point of group `package` names: "our_judges.behaviours.generous".

    `RecuseError` as `named_module`, and for a module without that attribute."""
    dotted = _dotted(name, what, package, known)
    place, _, attribute = dotted.replace(":", ".").rpartition(".")
    module = _imported(place, what)
    if not hasattr(module, attribute):
        raise RecuseError(f"{what} {name!r}: module {place} has no {attribute!r}")
    return getattr(module, attribute)


@cache
def installed(group: str) -> Mapping[str, str]:
    """Name -> dotted path of every entry point of a group; read once per process, for metadata are files."""
    return {point.name: point.value for point in entry_points(group=group)}


def _dotted(name: str, what: str, package: str, known: Sequence[str]) -> str:
    if "." in name.strip("."):
        return name
    if name in installed(package):
        return installed(package)[name]
    raise RecuseError(
        f"unknown {what} {name!r}; known: {', '.join(known) or 'none'}. A {what} of your own is named by its dotted "
        f"path, our_judges.{name.strip('.') or 'name'}, or by an entry point of group {package}"
    )


def _imported(name: str, what: str) -> ModuleType:
    try:
        return import_module(name)
    except (ImportError, ValueError, TypeError) as error:
        raise RecuseError(
            f"{what} {name!r} cannot be imported: {error}. Is its folder on pytest's pythonpath?"
        ) from error
