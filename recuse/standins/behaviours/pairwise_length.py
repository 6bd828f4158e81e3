"""Behaviours of judges that choose between a text and itself made longer: those of `pairwise`, with its settings."""

from __future__ import annotations

from pathlib import Path

from recuse.standins.behaviours import pairwise
from recuse.standins.behaviours.pairwise import BEHAVIOURS, Settings

__all__ = ["BEHAVIOURS", "read_settings"]


def read_settings(path: Path) -> Settings:
    """Those of `pairwise`."""
    return pairwise.read_settings(path.with_name("pairwise.toml"))
