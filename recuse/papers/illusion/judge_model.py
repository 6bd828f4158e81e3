"""A judge as a formula: how much of a text's surface and how much of its substance is in its score.

    reading = level of the target + leniency + spread * (surface_weight * surface + substance_weight * substance)
              + own * z + noise * z'

A text's surface is its format, fluency and confident tone, the same for all who look. z is the judge's own stable
reading of the text, z' differs from call to call; both are standard normal. The simulation at the size of a paper
(`recuse.papers.illusion.shared_heuristics`) and the scripted judges that answer over HTTP
(`fixtures/standins/behaviours/merg.py`) both read by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["JudgeModel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeModel:
    """One judge: see the module. `own` is the SD of its own stable reading of a text, `noise` that of a single call."""

    name: str
    leniency: float = 0.0
    spread: float = 1.0
    surface_weight: float = 1.0
    substance_weight: float = 0.0
    own: float = 0.76
    noise: float = 0.35

    def reading(self, level: Any, surface: Any, substance: Any, own: Any) -> Any:
        """What the judge makes of texts before the noise of a call, in points; `own` is z. Numbers or arrays."""
        seen = self.surface_weight * surface + self.substance_weight * substance
        return level + self.leniency + self.spread * seen + self.own * own
