"""What a question is asked of: an elicitation, which is one panel, asked one task by one protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recuse.panels.source_fixes import UNLOCK
from recuse.ratings.needs import unlock
from recuse.schema.results import Wanting

__all__ = ["Elicitation", "NotAsked"]


@dataclass(frozen=True, slots=True, order=True)
class Elicitation:
    """One panel, asked one task by one protocol: what a table of ratings comes from, and what a question is asked of.

    With a `candidate`, it is about this one judge alone, in the line-up in which it takes the place of the judge that
    it would replace; without one, about the judges in use, whose numbers no candidate changes."""

    panel: str
    task: str
    protocol: str
    candidate: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.panel, self.task, self.protocol, self.candidate) if part)

    @property
    def place(self) -> dict[str, str]:
        """What every conclusion drawn from it is about."""
        return {"task": self.task, "panel": self.panel, "protocol": self.protocol}

    def is_about(self, subject: Mapping[str, str]) -> bool:
        """Whether a conclusion on this subject is one on the candidate; any is, where there is none."""
        return not self.candidate or self.candidate in (subject.get(name) for name in ("judge", "author", "model"))


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A panel and task that a question could not be asked of, and what is missing for it."""

    panel: str
    task: str
    protocol: str
    missing: tuple[str, ...]

    def record(self) -> Wanting:
        """As builtins, with what would unlock the question: one sentence per missing need; `unfixed` are those that the
        source of the panel does not fix."""
        missing = list(self.missing)
        return {
            "panel": self.panel, "task": self.task, "protocol": self.protocol, "missing": missing,
            "unlock": [UNLOCK.get(need) or unlock(need) for need in missing],
            "unfixed": [need for need in missing if need in UNLOCK],
        }  # fmt: skip
