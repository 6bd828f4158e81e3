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
NAMED = re.compile(r'^(?:@measure|describe|_row)\(\s*"(\w+)"', re.MULTILINE)
"""The name that its estimates carry, also of one that takes more than one `Ratings` or is a row of a table."""


@cache
def homes(pattern: re.Pattern[str] = MEASURE) -> dict[str, str]:
    """What the pattern finds -> the module that has it."""
    root = Path(__file__).parent
    sources = [path for folder in ("metrics", "papers") for path in sorted((root / folder).rglob("*.py"))]
    return {
        name: ".".join(("recuse", *path.relative_to(root).with_suffix("").parts))
        for path in sources
        for name in pattern.findall(path.read_text(encoding="utf-8"))
    }


def __getattr__(name: str) -> Callable[..., Estimates]:
    if name.startswith("_") or name not in homes():
        raise AttributeError(f"there is no measure {name!r}; dir(recuse.measures) lists them")
    measure: Callable[..., Estimates] = getattr(import_module(homes()[name]), name)
    return measure


def __dir__() -> list[str]:
    return sorted(homes())
