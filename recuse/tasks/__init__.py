"""Tasks: what is judged, on which scale and against which references (fixtures/tasks/<task>/)."""

from __future__ import annotations

from recuse.tasks.task import Task, load_task

__all__ = ["Task", "load_task"]
