"""Files of any number of texts like a pilot: its texts drawn again, with what its people said, and judges drawn as one
more of these people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recuse.check.drawn_judges import People, people_of, with_drawn_judges
from recuse.experiments.simulated_files import PERSON_LIKE
from recuse.gates import Gates
from recuse.ratings import Ratings
from recuse.readers.file_panel import FilePanel
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

TOGETHER = 5
"""Judges drawn for one file: they share its people, which costs little beside drawing more files."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """A file of ratings to draw larger ones from. `assumed`: how well people agree, where the file has one person."""

    panel: FilePanel
    assumed: float

    @property
    def people(self) -> dict[str, People]:
        """What people said, by criterion; `RecuseError` where nobody rated anything."""
        return _people(self.panel.ratings, self.assumed)

    @property
    def losses(self) -> float:
        """Share of the judges' replies that cannot be used."""
        table = self.panel.ratings.table
        judged = table[table["kind"] == "judge"]
        return float((judged["status"] != "ok").mean()) if len(judged) else 0.0

    def draw(self, texts: int, judge: str, rng: np.random.Generator, gates: Gates) -> FilePanel:
        """As `Source.draw`: whole clusters (items, where texts share none) are drawn with replacement."""
        ratings = _resampled(self.panel.ratings, texts, rng)
        ratings = with_drawn_judges(ratings, _people(ratings, self.assumed), TOGETHER, rng, PERSON_LIKE[judge])
        lost = (ratings.table["kind"] == "judge").to_numpy() & (rng.random(len(ratings.table)) < self.losses)
        table = ratings.table.copy()
        table.loc[lost, ["score", "response"]] = [np.nan, None]
        table.loc[lost, "status"] = "unparsed"
        ratings = replace(ratings, table=table, _memory={})
        return replace(self.panel, read=replace(self.panel.read, ratings=ratings, older=()))


def _people(ratings: Ratings, assumed: float) -> dict[str, People]:
    known = {name: people_of(ratings, name, assumed) for name in ratings.headline}
    people = {name: one for name, one in known.items() if one is not None}
    if not people:
        raise RecuseError(
            "nobody's ratings are in this file, so there is no agreement to plan with; add a person's ratings, or give "
            "sizes alone: recuse plan --scale 0-10 --people 3 --agreement 0.6"
        )
    return people


def _resampled(ratings: Ratings, texts: int, rng: np.random.Generator) -> Ratings:
    items = {str(item): str(item) for item in ratings.table["item"].unique()}
    if ratings.texts is not None and "cluster" in ratings.texts:
        clusters = ratings.texts.drop_duplicates("item")
        items |= dict(zip(clusters["item"].astype(str), clusters["cluster"].astype(str), strict=True))
    unit = items
    of_row = ratings.table["item"].astype(str).map(unit)
    counts = ratings.table.drop_duplicates(["item", "target"])["item"].astype(str).map(unit).value_counts()
    names = counts.index.to_numpy()
    drawn = rng.choice(len(names), size=max(2, round(texts / counts.mean())))
    known = ratings.texts
    if known is not None:
        known = _repeated(known, known["item"].astype(str).map(unit), names, drawn)
    return replace(ratings, table=_repeated(ratings.table, of_row, names, drawn), texts=known, _memory={})


def _repeated(
    frame: pd.DataFrame, of_row: pd.Series[str], names: NDArray[np.object_], drawn: NDArray[np.intp]
) -> pd.DataFrame:
    """The rows of each unit as often as it was drawn, under new names of items and clusters."""
    rows = of_row.groupby(of_row).indices
    parts = [rows.get(names[unit], np.array([], dtype=np.intp)) for unit in drawn]
    repeated = frame.iloc[np.concatenate(parts)].reset_index(drop=True)
    turn = np.repeat(np.arange(len(drawn)), [len(part) for part in parts]).astype(str)
    for name in ("item", "cluster"):
        if name in repeated:
            repeated[name] = repeated[name].astype(str) + np.char.add(" draw ", turn)
    return repeated
