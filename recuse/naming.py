"""Names that become file names and report anchors: what is allowed, checked in one place."""

from __future__ import annotations

import re
from functools import lru_cache

from recuse.schema import RecuseError

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
