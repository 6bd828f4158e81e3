"""Panel `planted-headlines`, answered by its scripts and read by the protocols: no cassette, no network."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import pytest

from recuse.elicitation.replies import panel_ratings
from recuse.panels import Panel
from recuse.protocols import protocol as known_protocol
from recuse.ratings import Ratings
from recuse.tasks import Task
from tests.papers.self_preference.conftest import planted_panel, shown, table_of

PANEL = "planted-headlines"


@lru_cache
def rated(kind: str, judges: tuple[str, ...]) -> Ratings | None:
    """What these judges said by the protocol that offers `kind`, with what they said by the others beside it; None for
    a kind that the panel was not asked for."""
    panel = planted_panel(PANEL)
    kinds = {known_protocol(name).OFFERS: name for name in panel.task("headlines").protocols}
    if kind not in kinds:
        return None
    plan, table = table_of("headlines", kinds[kind], tuple(panel.judges), None, PANEL)
    own = panel.own(list(shown("headlines", "grading", None, PANEL).targets))
    authors = {judge: target for judge, target in own.items() if judge in judges}
    table = table[table["rater"].isin(judges)]
    return panel_ratings(plan, table, authors=authors, beside=lambda other: rated(other, judges))


@pytest.fixture(scope="session")
def panel() -> Panel:
    return planted_panel(PANEL)


@pytest.fixture(scope="session")
def task_of() -> Callable[[str], Task]:
    return partial(shown, "headlines", count=None, panel=PANEL)


@pytest.fixture(scope="session")
def ratings_of() -> Callable[[str, tuple[str, ...]], Ratings | None]:
    return rated
