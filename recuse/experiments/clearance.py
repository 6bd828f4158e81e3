"""How often judges are cleared, by asking drawn files: what `recuse validate` prints and `recuse plan` searches."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Protocol

import numpy as np

from recuse.check.file_answers import file_answers
from recuse.experiments.simulated_files import Setting, simulated_file
from recuse.gates import Gates
from recuse.readers.file_panel import FilePanel
from recuse.recording.progress import Progress, ProgressLine
from recuse.suite.question_runner import Question, read_evals

CHUNK = 10
JUDGES = ("judge", "one more person")
"""How judges under examination are called in drawn files; a peer beside them is not counted."""


class Source(Protocol):
    """Where files come from; picklable."""

    def draw(self, texts: int, judge: str, rng: np.random.Generator, gates: Gates) -> FilePanel:
        """A file of so many texts with this kind of judge."""
        ...


@dataclass(frozen=True, slots=True)
class Simulated:
    """Files of a setting, with one judge each."""

    setting: Setting

    def draw(self, texts: int, judge: str, rng: np.random.Generator, gates: Gates) -> FilePanel:
        """One file of the setting."""
        return simulated_file(self.setting, texts, judge, rng, gates)


@dataclass(frozen=True, slots=True)
class Case:
    """`runs` files of so many texts with one kind of judge."""

    source: Source
    texts: int
    judge: str
    runs: int


@dataclass(frozen=True, slots=True)
class Word:
    """The word on one judge of one file for one use, with its first cause."""

    use: str
    word: str
    cause: str
    gates: tuple[str, ...]


def words_for(cases: Sequence[Case], folder: Path, *, seed: int, processes: int, today: date) -> list[list[Word]]:
    """The words of each case; a seed for every file, so that they do not depend on the number of processes."""
    jobs = [
        (case, folder, today, seed, start, min(start + CHUNK, case.runs), number)
        for number, case in enumerate(cases)
        for start in range(0, case.runs, CHUNK)
    ]
    if processes > 1 and len(jobs) > 1:
        with ProcessPoolExecutor(processes) as pool:
            parts = list(_shown(pool.map(_words, *zip(*(job[:-1] for job in jobs), strict=True)), len(jobs)))
    else:
        parts = list(_shown((_words(*job[:-1]) for job in jobs), len(jobs)))
    words: list[list[Word]] = [[] for _ in cases]
    for job, part in zip(jobs, parts, strict=True):
        words[job[-1]] += part
    return words


def _shown(parts: Iterable[list[Word]], total: int) -> Iterator[list[Word]]:
    """The parts as they come; who waits at a terminal is told how many there are."""
    line, start = ProgressLine(sys.stderr), time.monotonic()
    for done, part in enumerate(parts, 1):
        if sys.stderr.isatty():
            line(Progress(total, done, 0, time.monotonic() - start, verb="simulated"))
        yield part


def _words(case: Case, folder: Path, today: date, seed: int, start: int, stop: int) -> list[Word]:
    gates, questions = _door(folder, today)
    words = []
    for run in range(start, stop):
        rng = np.random.default_rng((seed, case.texts, run, *case.judge.encode()))
        answers = file_answers(case.source.draw(case.texts, case.judge, rng, gates), gates, questions, deciding=True)
        words += [
            Word(one.use, one.word, one.cause.partition("; ")[0], one.gates)
            for one in answers.decision.judges
            if one.judge.startswith(JUDGES)
        ]
    return words


@cache
def _door(folder: Path, today: date) -> tuple[Gates, tuple[Question, ...]]:
    return read_evals(folder, today)


def error_of(share: float, runs: int) -> float:
    """The Monte-Carlo standard error of a share of so many runs."""
    return sqrt(share * (1 - share) / runs) if runs else 0.0


def share_cleared(words: Sequence[Word], use: str) -> float | None:
    """Of the judges that the files were asked about for this use; None where no file offers it."""
    mine = [one.word == "cleared" for one in words if one.use == use]
    return sum(mine) / len(mine) if mine else None


def uses_in(words: Sequence[Word]) -> tuple[str, ...]:
    """In the order in which files offer them."""
    return tuple(dict.fromkeys(one.use for one in words))
