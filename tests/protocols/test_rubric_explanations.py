"""The reasons beside a rubric's scores: read where they are text, left out where they are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from recuse.protocols import rubric
from recuse.schema import Reply
from recuse.tasks import Task

Scores = Callable[..., dict[str, Any]]


def reasons(task: Task, answer: Any) -> dict[str, str | None]:
    found = rubric.explanations(task, task.items[0], {"condition": "attributed"}, Reply(json.dumps(answer)))
    return {row.criterion: row.response for row in found}


def test_every_reason_is_a_row_of_its_criterion(task: Task, scores: Scores) -> None:
    assert reasons(task, scores()) == dict.fromkeys(task.criteria, "Clear.")


@pytest.mark.parametrize("part", [None, 7, {"score": 3}, {"score": 3, "why": 4}])
def test_a_part_without_words_has_no_reason(task: Task, scores: Scores, part: Any) -> None:
    assert set(reasons(task, scores(quality=part))) == set(task.criteria) - {"quality"}


def test_a_reply_that_cannot_be_read_gives_none(task: Task) -> None:
    assert rubric.explanations(task, task.items[0], {"condition": "attributed"}, Reply("I cannot say.")) == []
