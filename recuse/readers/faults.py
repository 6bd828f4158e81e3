"""What was wrong in a file, by line and column; and the name of the file before whatever is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from recuse.schema import RecuseError
from recuse.security.sanitize import shortened, visible

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
    def where(cls, what: str, places: Sequence[str], done: str, count: int = 0) -> list[Fault]:
        """The fault from every place where it is met, of which the first few are kept, or from these and their `count`;
        none where it is met nowhere."""
        return [cls(what, count or len(places), tuple(places[:SHOWN]), done)] if places else []


def shown(text: object, limit: int = 40) -> str:
    """A cell's content as it may stand in a message: nothing hidden in it, and not much of it."""
    short, cut = shortened(visible(str(text)).replace("\n", " "), limit)
    return repr(short) + ("..." if cut else "")


def faults_in(what: str, rows: pd.DataFrame, place: Place, done: str) -> list[Fault]:
    """The fault of these rows of a long table, with the first few of their cells; none of no rows."""
    first = rows.iloc[:SHOWN][["row", "column", "cell"]].to_numpy(dtype=object)
    places = [f"{place(int(row))}, column {column}: {shown(cell)}" for row, column, cell in first]
    return Fault.where(what, places, done, len(rows))


@contextmanager
def errors_in(path: Path) -> Iterator[None]:
    """Whatever is wrong is said with the file's name before it, so that nobody who looks at a table has to know it."""
    try:
        yield
    except RecuseError as error:
        if str(path) in str(error):
            raise
        raise type(error)(f"{path}: {error}") from error
