"""The columns of a table, the roles that some of them have taken, and those that are free."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from recuse.readers.column import Column
from recuse.readers.column_names import NAMES, plain
from recuse.readers.mapping import SETTINGS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MOST_SLICES", "Roles"]

MOST_SLICES = 30
"""What has more levels is no slice, and no list of raters that a column of sources would hold."""


class Roles:
    """`taken`: role -> column or columns, or what else is known of the table (`given` stays as it is); `free`: columns
    without a role, in the order of the table; `ignored`: column -> why it has none."""

    def __init__(self, frame: pd.DataFrame, given: Mapping[str, Any]) -> None:
        self.frame, self.given = frame, given
        self.columns = {str(name): Column(str(name), frame[name]) for name in frame.columns}
        self.ignored = dict.fromkeys(given.get("ignore", ()), "as you said")
        named = [v for k, v in given.items() if k not in ("judges", "people", "raters", "ignore", *SETTINGS)]
        said = {c for v in named for c in ((v,) if isinstance(v, str) else v)}
        said |= {c for cs in dict(given.get("raters", {})).values() for c in cs}
        self.free = [name for name in self.columns if name not in said and name not in self.ignored]
        self.taken: dict[str, Any] = {
            k: v for k, v in given.items() if k not in ("ignore",) and (v or k in ("target", "cluster"))
        }

    def take(self, role: str, name: str) -> None:
        """Give a free column the role."""
        self.taken[role] = name
        self.free.remove(name)

    def take_named(
        self, role: str, fits: Callable[[Column], bool] = lambda column: True, names: Iterable[str] | None = None
    ) -> None:
        """Give the role to the first free column that is called so and fits; `names` in place of the role's own."""
        if role in self.taken:
            return
        for wanted in names or NAMES[role]:
            for name in self.free:
                if plain(name) == wanted and len(self.columns[name].distinct) and fits(self.columns[name]):
                    self.take(role, name)
                    return

    def use(self, names: Collection[str]) -> None:
        """These columns are free no longer."""
        self.free = [name for name in self.free if name not in names]

    def filled(self, *names: str) -> list[str]:
        """The columns of those of these roles that are taken, in this order; of several columns each."""
        found = [self.taken.get(name) or () for name in names]
        return [column for one in found for column in ((one,) if isinstance(one, str) else one)]
