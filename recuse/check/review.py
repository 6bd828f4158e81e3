"""A review of disagreements, read back: with whom do you side where judge and people differ?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Review", "is_review", "read_review"]

COLUMNS = ("judge", "item", "people", "answer", "your_verdict")
HEAD = 4096


@dataclass(frozen=True, slots=True)
class Review:
    """Of one judge: how many cases there are, how many you decided, and with whom you sided; `neither` with no one."""

    judge: str
    cases: int
    with_judge: int
    with_people: int
    neither: int

    @property
    def decided(self) -> int:
        """How many cases have your verdict."""
        return self.with_judge + self.with_people + self.neither

    def sentence(self) -> str:
        """With whom you side, in numbers."""
        if not self.decided:
            return f"{self.judge}: none of {self.cases} disagreements has a your_verdict yet."
        return (
            f"{self.judge}: you decided {self.decided} of {self.cases} disagreements; you side with the judge in "
            f"{self.with_judge}, with people in {self.with_people}, with neither in {self.neither}."
        )


def is_review(path: Path) -> bool:
    """Whether a file is what `--disagreements` wrote: its first line names all of `COLUMNS`."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        first = stream.read(HEAD).split(b"\n")[0].decode("utf-8", "replace")
    names = {name.strip().strip('"\ufeff') for name in first.replace(";", ",").split(",")}
    return set(COLUMNS) <= names


def read_review(path: Path) -> list[Review]:
    """One summary per judge. People's side is the answer that most of them gave; where they are split, any of theirs.

    Raises `RecuseError` for a file that cannot be read."""
    from recuse.readers.formats import read_raw
    from recuse.readers.opening import open_file

    frame = read_raw(open_file(path)).frame
    reviewed = []
    for judge, rows in frame.groupby("judge", sort=False):
        sides = [_side(*cells) for cells in zip(rows["your_verdict"], rows["answer"], rows["people"], strict=True)]
        counts = (sides.count(side) for side in ("judge", "people", "neither"))
        reviewed.append(Review(str(judge), len(rows), *counts))
    return reviewed


def _side(yours: object, judge: object, people: object) -> str:
    verdict, answer = (str(cell).strip().lstrip("'").lower() for cell in (yours, judge))
    theirs = [part.strip().lower() for part in str(people).split(",")]
    if not verdict:
        return ""
    if verdict == answer:
        return "judge"
    return "people" if verdict in theirs else "neither"
