"""Under -n one worker runs all tests about one panel and task."""

from __future__ import annotations

import pytest

from recuse.plugin.gathering import scope_of


@pytest.mark.parametrize(
    ("test", "group"),
    [
        ("evals/test_a.py::test_x[thesis/headlines/rubric]", "thesis/headlines"),
        ("evals/test_b.py::test_y[thesis/headlines/pairwise-0.5]", "thesis/headlines"),
        ("tests/test_c.py::test_z[1]", "tests/test_c.py::test_z[1]"),
        ("tests/test_c.py::test_plain", "tests/test_c.py::test_plain"),
    ],
)
def test_tests_about_a_panel_and_task_belong_together(test: str, group: str) -> None:
    assert scope_of(test) == group
