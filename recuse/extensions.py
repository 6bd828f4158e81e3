"""What Recuse finds by name: its own modules, and those of the repository or package that extends it.

A team names its own by dotted path ("our_judges.one_word"), or gives it a short name by an entry point of its package:

    [project.entry-points."recuse.protocols"]        # recuse.judges, recuse.protocols, recuse.standins.behaviours, ...
    one_word = "our_judges.one_word"
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from recuse.schema import RecuseError

__all__ = ["named_module", "named_object"]


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


def _dotted(name: str, what: str, package: str, known: Sequence[str]) -> str:
    if "." in name.strip("."):
        return name
    for point in entry_points(group=package, name=name):
        return point.value
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
