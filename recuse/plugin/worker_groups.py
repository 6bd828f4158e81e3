"""Which tests one xdist worker runs: those about one panel and task, whose measures are then made only once."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

__all__ = ["PanelTaskScheduling"]


class PanelTaskScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Tests about judges are handed out by panel and task, all others one by one."""

    def _split_scope(self, nodeid: str) -> str:
        """ "evals/test_x.py::test_y[panel/task/protocol]" -> "panel/task"."""
        _, _, parameters = nodeid.partition("[")
        parts = parameters.split("/")
        return "/".join(parts[:2]) if len(parts) >= 3 else nodeid
