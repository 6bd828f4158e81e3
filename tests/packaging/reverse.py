"""A pytest plugin for .ci/run (`-p reverse`): runs the tests last to first. Results may not depend on order."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.reverse()
