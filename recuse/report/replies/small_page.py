"""The pages beside the report: the shell they share, a style sheet of a few lines, no script, nothing fetched."""

from __future__ import annotations

from functools import cache
from typing import Any

from markupsafe import Markup

from recuse.report.page import environment
from recuse.report.style import style_hash

__all__ = ["small_page"]


def small_page(template: str, *, depth: int, **shown: Any) -> str:
    """The page; `depth`: folders between it and the report, whose address `up` is."""
    style = _style()
    about = {**shown, "up": "../" * depth, "style": Markup(style), "style_hash": style_hash(style)}
    return environment().get_template(template).render(about).strip() + "\n"


@cache
def _style() -> str:
    return environment().get_template("replies/style.css.j2").render().strip()
