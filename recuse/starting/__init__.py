"""`recuse init`: a repository of the fixed shape, green at once."""

from __future__ import annotations

from recuse.starting.init_command import init

__all__ = ["init"]
