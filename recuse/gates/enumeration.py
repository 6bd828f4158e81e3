"""Words that several sentences share."""

from __future__ import annotations

from collections.abc import Sequence


def counted(n: int, noun: str) -> str:
    """ "1 judge", "3 judges"."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def listed(names: Sequence[str], most: int) -> str:
    """ "a", "a and b", "a, b and 3 more"."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
