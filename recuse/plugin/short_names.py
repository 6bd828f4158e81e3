"""Short names of fixtures and of the mark, in suites of ours only: a repository that merely has Recuse installed may
call its own fixtures `ratings` and `gate`.

It is active where the settings of pytest name panels (`recuse_panels`) or the rootdir has a file of gates
(evals/gates.toml). Elsewhere a conftest.py in the rootdir may name it: pytest_plugins = ["recuse.plugin.short_names"].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from recuse.plugin.collection import WORDS

if TYPE_CHECKING:
    from recuse.gates import Verdicts
    from recuse.metrics.upgrade import Upgrade
    from recuse.ratings import Ratings
    from recuse.suite import Elicitation
    from recuse.tasks import Task


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known to pytest."""
    config.addinivalue_line("markers", f"asks{WORDS}")


@pytest.fixture
def elicitation(recuse_elicitation: Elicitation) -> Elicitation:
    """What the test is about: one panel, asked one task by one protocol."""
    return recuse_elicitation


@pytest.fixture
def task(recuse_task: Task) -> Task:
    """The task the test is about, with the items that the panel was asked about."""
    return recuse_task


@pytest.fixture
def ratings(recuse_ratings: Ratings) -> Ratings:
    """The ratings that the test asks for. `ratings.beside("choices")` are the same judges' by another protocol."""
    return recuse_ratings


@pytest.fixture
def gate(recuse_gate: Callable[..., Verdicts]) -> Callable[..., Verdicts]:
    """`assert gate(name, estimates)`: a verdict on every judge that was measured, kept for the report."""
    return recuse_gate


@pytest.fixture
def measure(recuse_measure: Callable[..., None]) -> Callable[..., None]:
    """`measure(estimates)`: shown in the report, gated by nothing."""
    return recuse_measure


@pytest.fixture
def upgrade(recuse_upgrade: Upgrade) -> Upgrade:
    """The candidate that the test is about against the judge that it would replace: see `recuse.metrics.upgrade`."""
    return recuse_upgrade


@pytest.fixture
def may_replace(recuse_may_replace: Callable[[Upgrade], Verdicts]) -> Callable[[Upgrade], Verdicts]:
    """`assert may_replace(upgrade)`: one verdict on the candidate from all components, each kept for the report."""
    return recuse_may_replace
