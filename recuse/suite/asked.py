"""Whom a question is asked of, and of whom it cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recuse import offers

__all__ = ["Asked", "NotAsked"]


@dataclass(frozen=True, slots=True, order=True)
class Asked:
    """Whom a question is asked of: the ratings of one panel, task and protocol."""

    panel: str
    task: str
    protocol: str

    def __str__(self) -> str:
        return f"{self.panel}/{self.task}/{self.protocol}"


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A panel and task that a question could not be asked of, and what is missing for it."""

    panel: str
    task: str
    protocol: str
    missing: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """As builtins, with what would unlock the question: one sentence per missing need."""
        return {
            "panel": self.panel, "task": self.task, "protocol": self.protocol, "missing": list(self.missing),
            "unlock": [offers.unlock(need) for need in self.missing],
        }  # fmt: skip
