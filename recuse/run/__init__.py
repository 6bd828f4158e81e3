"""One run: what its tests concluded, gathered, decided and written to reports/; and shown again later."""

from __future__ import annotations

from recuse.run.run import Run

__all__ = ["Run"]
