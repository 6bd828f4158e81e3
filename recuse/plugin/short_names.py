"""Short names of fixtures and of the mark, where pytest's settings name panels (`recuse_panels`), the rootdir has a
file of gates, or its conftest.py says pytest_plugins = ["recuse.plugin.short_names"]: a repository that merely has
Recuse installed may call its own fixtures `ratings` and `gate`."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

import pytest

from recuse.plugin import fixtures
from recuse.plugin.fixtures import WORDS


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known to pytest."""
    config.addinivalue_line("markers", f"asks{WORDS}")


def _short(name: str) -> Any:
    """The fixture `recuse_NAME` under its short name; pytest reads from a signature which fixtures are needed."""

    def same(**given: Any) -> Any:
        return given[f"recuse_{name}"]

    same.__signature__ = Signature([Parameter(f"recuse_{name}", Parameter.KEYWORD_ONLY)])  # type: ignore[attr-defined]
    same.__doc__ = getattr(fixtures, f"recuse_{name}").__doc__
    return pytest.fixture(name=name)(same)


elicitation, task, ratings, gate, measure, upgrade, may_replace = map(
    _short, ("elicitation", "task", "ratings", "gate", "measure", "upgrade", "may_replace")
)
