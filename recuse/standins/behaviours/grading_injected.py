"""Behaviours of judges that grade a text with an injection: those of `grading`, with its settings."""

from __future__ import annotations

from pathlib import Path

from recuse.standins.behaviours import grading
from recuse.standins.behaviours.grading import BEHAVIOURS, Settings

__all__ = ["BEHAVIOURS", "read_settings"]


def read_settings(path: Path) -> Settings:
    """Those of `grading`."""
    return grading.read_settings(path.with_name("grading.toml"))
