"""The mark `asks`: what a test asks of ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from recuse.schema.results import QuestionWords

__all__ = ["asks_judges", "needs_of", "pytest_configure", "question_of"]

MARKER = (
    'asks(*needs, task=None, protocol=None, rests_on="pairs"): what this test asks of ratings, as asks("scores", '
    '"authors"); it runs for every panel, task and protocol that offers all of it, and whose source fixes what its '
    'numbers rest on: "margins", "cells" or "pairs"'
)


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known to pytest."""
    config.addinivalue_line("markers", MARKER)


def asks_judges(item: Any) -> bool:
    """Whether a test is about judges at all."""
    return next(item.iter_markers("asks"), None) is not None


def needs_of(node: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """What the `asks` marks of a test, its class and its module name together, the nearest first; of `task`, `protocol`
    and `rests_on` the nearest counts."""
    from recuse.panels.source_fixes import check_level
    from recuse.protocols import offered_kinds
    from recuse.ratings.needs import check_needs
    from recuse.schema import RecuseError

    needs: dict[str, None] = {}
    narrowed: dict[str, Any] = {}
    for mark in node.iter_markers("asks"):
        needs |= dict.fromkeys(mark.args)
        narrowed = {**mark.kwargs, **narrowed}
    wrong = [name for name in needs if not isinstance(name, str)]
    if wrong or not set(narrowed) <= {"task", "protocol", "rests_on"}:
        got = ", ".join([*map(repr, needs), *(f"{name}={value!r}" for name, value in narrowed.items())])
        raise RecuseError(
            f'{node.nodeid}: mark it @pytest.mark.asks("scores", "authors", ...), and task="..." or protocol="..." to '
            f"narrow it down; got ({got})"
        )
    check_needs(needs, node.nodeid, offered_kinds())
    check_level(narrowed.get("rests_on", "pairs"), node.nodeid)
    return tuple(needs), narrowed


def question_of(node: Any) -> QuestionWords:
    """The question a test belongs to, as records carry it: id, title and note, from the name and the docstring of its
    file."""
    title, _, note = (node.module.__doc__ or "").strip().partition("\n")  # the eval file's own words head its section
    return {"question": node.path.stem.removeprefix("test_"), "title": title, "note": " ".join(note.split())}
