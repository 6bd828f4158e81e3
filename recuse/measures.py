"""Every measure by the name of its function, wherever it lives: `recuse.measures.human_ceiling(ratings).to_frame()`.

`dir(recuse.measures)` lists them. The list is read from the source, so that nothing is imported to see it. All return
`Estimates`, but for `tally`, which counts over all judges: an `Estimate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recuse.schema import Estimates

MEASURE = re.compile(r"^@measure\(.*?^def (\w+)\(", re.MULTILINE | re.DOTALL)
"""A function that `recuse.metrics.measure` describes; decorators and functions begin their line."""


@cache
def _homes() -> dict[str, str]:
    """Measure -> the module that has it."""
    root = Path(__file__).parent
    sources = [path for folder in ("metrics", "papers") for path in sorted((root / folder).rglob("*.py"))]
    return {
        name: ".".join(("recuse", *path.relative_to(root).with_suffix("").parts))
        for path in sources
        for name in MEASURE.findall(path.read_text(encoding="utf-8"))
    }


def __getattr__(name: str) -> Callable[..., Estimates]:
    if name.startswith("_") or name not in _homes():
        raise AttributeError(f"there is no measure {name!r}; dir(recuse.measures) lists them")
    measure: Callable[..., Estimates] = getattr(import_module(_homes()[name]), name)
    return measure


def __dir__() -> list[str]:
    return sorted(_homes())
