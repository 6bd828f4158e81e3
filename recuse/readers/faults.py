"""What was wrong in a file: named by line and column, counted, never dropped in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recuse.security.sanitize import shortened, visible

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Fault", "Place", "fault_in", "shown"]

SHOWN = 5
Place = Callable[[int], str]
"""Number of a row -> where it stands in the file."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault: `what` is wrong, what was done about it (`done`), and where it is met, the first few."""

    what: str
    count: int
    places: tuple[str, ...]
    done: str

    def sentence(self) -> str:
        """ "3 answers are not numbers (line 4, column judge: 'n/a'; ...); they count as unusable." """
        more = self.count - len(self.places)
        where = "; ".join(self.places) + (f"; and {more} more" if more > 0 else "")
        return f"{self.count} {self.what}" + (f" ({where})" if where else "") + f"; {self.done}"

    def record(self) -> dict[str, object]:
        """As builtins."""
        return {"what": self.what, "count": self.count, "places": list(self.places), "done": self.done}

    @classmethod
    def of(cls, what: str, places: Iterable[str], done: str, count: int | None = None) -> Fault:
        """From every place where it is met, of which the first few are kept; `count` where it is not their number."""
        every = list(places)
        return cls(what, len(every) if count is None else count, tuple(every[:SHOWN]), done)


def shown(text: object, limit: int = 40) -> str:
    """A cell's content as it may stand in a message: nothing hidden in it, and not much of it."""
    short, cut = shortened(visible(str(text)).replace("\n", " "), limit)
    return repr(short) + ("..." if cut else "")


def fault_in(what: str, rows: pd.DataFrame, place: Place, done: str) -> Fault:
    """A fault of these rows of a long table, with the first few of their cells."""
    places = [
        f"{place(int(r))}, column {c}: {shown(cell)}"
        for r, c, cell in zip(rows["row"][:SHOWN], rows["column"][:SHOWN], rows["cell"][:SHOWN], strict=True)
    ]
    return Fault.of(what, places, done, len(rows))
