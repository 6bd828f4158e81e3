"""What is wrong with how a gate was used."""

from __future__ import annotations

from recuse.schema import RecuseError

__all__ = ["GatesError"]


class GatesError(RecuseError):
    """A gate was asked for something it cannot decide; the message says what to change, and where."""
