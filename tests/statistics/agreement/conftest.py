"""Makes the tables of raters beside this file importable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from rater_tables import TABLES


@pytest.fixture(params=TABLES)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param
