"""Batch interfaces on loopback, one per provider, each with a judge, some calls and a folder of cassettes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import stamina

sys.path.insert(0, str(Path(__file__).parent))

from batch_providers import PROVIDERS
from loopback import loopback
from setting import Setting

FURTHER = pytest.mark.slow("further cases")
"""OpenAI's second endpoint has the batches of the first: by default it is tried where all goes well."""


@pytest.fixture(params=[
    pytest.param(name, marks=[FURTHER] if name == "openai_responses" else []) for name in sorted(PROVIDERS)
])  # fmt: skip
def provider_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def setting_of(tmp_path: Path) -> Iterator[Callable[[str], Setting]]:
    with ExitStack() as running:

        def make(name: str) -> Setting:
            provider = PROVIDERS[name]()
            return Setting(provider, running.enter_context(loopback(provider)), tmp_path / "cassettes")

        yield make


@pytest.fixture
def setting(setting_of: Callable[[str], Setting], provider_name: str) -> Setting:
    return setting_of(provider_name)


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """Tries as often as it should, without waiting."""
    with stamina.set_testing(True, attempts=2):
        yield
