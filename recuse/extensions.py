"""Modules that Recuse finds by name: its own ones, and those of the repository it is installed into."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from recuse.schema import RecuseError


def named_module(name: str, *, what: str, package: str, known: Sequence[str], needs: Sequence[str]) -> ModuleType:
    """Module `package.name` for a known name; the module itself for a dotted name, as in "our_judges.one_word".

    `RecuseError` for a name that is neither, a module that cannot be imported, and one that lacks a name in `needs`.
    """
    if name in known:
        return import_module(f"{package}.{name}")
    if "." not in name:
        raise RecuseError(
            f"unknown {what} {name!r}; known: {', '.join(known)}. A {what} of your own is named as a module in a "
            f"package: our_judges.{name}"
        )
    try:
        module = import_module(name)
    except ImportError as error:
        raise RecuseError(
            f"{what} {name!r} cannot be imported: {error}. Is its folder on pytest's pythonpath?"
        ) from error
    if lacking := [need for need in needs if not hasattr(module, need)]:
        raise RecuseError(f"{what} {name!r} lacks {', '.join(lacking)}; {package}/__init__.py says what it must have")
    return module
