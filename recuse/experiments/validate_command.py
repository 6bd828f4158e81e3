"""`recuse validate`: how often a good judge is cleared for each use, and each planted fault, by asking drawn files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from datetime import date
from functools import cache
from itertools import islice, product, starmap
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from recuse.experiments.simulated_files import FAULTS, PERSON_LIKE, Setting
from recuse.gates import Gates, JudgeDecision
from recuse.readers.file_ratings import FilePanel
from recuse.recording.progress import watched
from recuse.run.run import ask_file
from recuse.schema import RecuseError
from recuse.security.files import check_output, is_json_with, write_output
from recuse.suite.question_runner import read_evals, shipped_evals

SIZES = (30, 60, 200, 1000)
NAMED_AT = 200  # texts at which the first cause is compared with what was planted
MOST = 0.05  # how often a judge at twice any margin may be cleared
GOOD: Mapping[str, tuple[Setting, tuple[str, ...]]] = {  # where good judges are simulated, and the uses that are shown
    "0-10, ICC .70, 3 people": (Setting("0-10", 0.7), ("grade", "rank", "estimate")),
    "1-5, ICC .70, 3 people": (Setting("1-5", 0.7), ("grade",)),
    "pass or fail, kappa .60, 50 % pass, 3 people": (Setting("pass/fail", 0.6, systems=1), ("decide",)),
    "pass or fail, kappa .60, 80 % pass, 3 people": (Setting("pass/fail", 0.6, positive=0.8, systems=1), ("decide",)),
    "pass or fail, kappa .80, 50 % pass, one expert": (Setting("pass/fail", 0.8, people=1, systems=1), ("decide",)),
    "pairs in both orders, kappa .60, 3 people": (Setting("pairs", 0.6), ("choose",)),
}
is_shares = is_json_with("runs", "seed", "good", "faults")
_door = cache(read_evals)  # the same gates and questions for all files that a process draws
CHUNK = 10  # files that a process draws in a row
JUDGES = ("judge", "one more person")  # judges under examination, by their names in drawn files; a peer is not counted


def run_validate(
    *, evals: Path | None = None, runs: int = 100, seed: int = 1, processes: int = 2, to_json: Path | None = None,
    sizes: Sequence[int] = SIZES, today: date | None = None,
) -> int:  # fmt: skip
    """The command; 1 where a judge at twice a margin is cleared more often than `MOST` and Monte-Carlo error."""
    if runs < 2 or processes < 1:
        raise RecuseError(f"--runs is a whole number from 2 and --processes one from 1; got {runs} and {processes}")
    check_output(to_json, is_shares)
    sources = {(name, judge): setting for name, (setting, _) in GOOD.items() for judge in PERSON_LIKE}
    sources |= {("", fault.name): fault.setting for fault in FAULTS}
    cases = [Case(setting, n, judge, runs) for (_, judge), setting in sources.items() for n in sizes]
    folder, today = evals_folder(evals), today or date.today()
    each = iter(words_for(cases, folder, seed=seed, processes=processes, today=today))
    words = {source: [next(each) for _ in sizes] for source in sources}
    good, faults = list[dict[str, Any]](), list[dict[str, Any]]()
    for (name, (_, shown)), judge in product(GOOD.items(), PERSON_LIKE):
        drawn = words[name, judge]
        for use in (use for use in shown if use in uses_in(drawn[-1])):
            kept = [Counter(gate for one in part if one.use == use and one.word != "cleared" for gate in one.gates)
                    for part in drawn]  # fmt: skip
            held = [gates.most_common(1)[0][0] if gates else "" for gates in kept]  # what keeps most from being cleared
            good.append({"setting": name, "judge": judge, "use": use, "held by": held, "cleared": _shares(drawn, use)})
    for fault in FAULTS:
        drawn, use = words["", fault.name], fault.use
        looked = next((part for n, part in zip(sizes, drawn, strict=True) if n == NAMED_AT), ())
        refused = (one for one in looked if one.use == use and one.word == "not cleared")
        causes = [one.cause.partition("; ")[0] for one in refused]
        others = [cause for cause in causes if not re.search(fault.cause, cause)]
        faults.append({
            "fault": fault.name, "use": use, "cleared": _shares(drawn, use), "refused": len(causes),
            "named": len(causes) - len(others), "instead": Counter(others).most_common(1)[0][0] if others else "",
        })  # fmt: skip
    record = {"runs": runs, "seed": seed, "good": good, "faults": faults}
    print("\n".join(_table(record, sizes)))
    if to_json is not None:
        write_output(to_json, json.dumps(record, indent=1, sort_keys=True) + "\n", is_shares)
    return int(bool(too_often(record)))


def evals_folder(given: Path | None) -> Path:
    """The folder with the evals and gates to try: the one named, that of the repository one stands in, the shipped."""
    if given is not None:
        folder = given if given.is_dir() else given.parent
        if not (folder / "gates.toml").is_file():
            raise RecuseError(f"--evals {given}: there is no gates.toml in {folder}")
        return folder
    return Path("evals").resolve() if Path("evals", "gates.toml").is_file() else shipped_evals()


def too_often(record: Mapping[str, Any]) -> list[str]:
    """Faults that are cleared more often than `MOST` and three Monte-Carlo errors."""
    most = MOST + 3 * error_of(MOST, record["runs"])
    return [row["fault"] for row in record["faults"] if any((share or 0.0) > most for share in row["cleared"])]


def _shares(drawn: Iterable[Sequence[JudgeDecision]], use: str) -> list[float | None]:
    shares = (share_cleared(words, use) for words in drawn)
    return [None if share is None else round(share, 4) for share in shares]


def _table(record: Mapping[str, Any], sizes: Sequence[int]) -> Iterator[str]:
    runs = record["runs"]
    heads = "".join(f"{n:>8,}" for n in sizes)
    errors = f"{100 * error_of(0.5, runs):.1f} points, of 5 % {100 * error_of(0.05, runs):.1f}"
    yield f"{runs} drawn files per number, seed {record['seed']}; Monte-Carlo error of a share at most {errors}."
    yield ""
    yield f"A good judge is cleared (%){'':<26}texts{heads}   most often held by"
    for name in GOOD:
        yield name
        for row in (row for row in record["good"] if row["setting"] == name):
            held = next((gate for gate in reversed(row["held by"]) if gate), "")
            yield f"  {row['judge']:<30}to {row['use']:<24}{_cells(row['cleared'])}   {held}".rstrip()
    yield ""
    yield f"A judge at twice a margin is cleared (%){'':<13}texts{heads}   named first at {NAMED_AT}"
    for row in record["faults"]:
        named = f"{row['named']} of {row['refused']} refused" if row["refused"] else "none refused"
        instead = f"; else: {row['instead']}" if row["instead"] else ""
        yield f"  {row['fault']:<30}to {row['use']:<24}{_cells(row['cleared'])}   {named}{instead}"
    if wrong := too_often(record):
        yield ""
        yield f"Cleared in more than {100 * MOST:.0f} % beyond the error: {', '.join(wrong)}."


def _cells(shares: Sequence[float | None]) -> str:
    return "".join(f"{'':>8}" if share is None else f"{100 * share:>8.0f}" for share in shares)


class Source(Protocol):
    """Where files come from; picklable."""

    def draw(self, texts: int, judge: str, rng: np.random.Generator, gates: Gates) -> FilePanel:
        """A file of so many texts with this kind of judge."""
        ...


class Case(NamedTuple):
    """`runs` files of so many texts with one kind of judge."""

    source: Source
    texts: int
    judge: str
    runs: int


def words_for(
    cases: Sequence[Case], folder: Path, *, seed: int, processes: int, today: date
) -> list[list[JudgeDecision]]:
    """The words of each case; a seed for every file, so that they do not depend on the number of processes."""
    jobs = [(case, folder, today, seed, run) for case in cases for run in range(case.runs)]
    with ProcessPoolExecutor(processes) if processes > 1 and len(jobs) > 1 else nullcontext() as pool:
        drawn = pool.map(_words, *zip(*jobs, strict=True), chunksize=CHUNK) if pool else starmap(_words, jobs)
        parts = iter(list(watched(drawn, len(jobs), "simulated")))
        return [[word for part in islice(parts, case.runs) for word in part] for case in cases]


def _words(case: Case, folder: Path, today: date, seed: int, run: int) -> list[JudgeDecision]:
    gates, questions = _door(folder, today)
    rng = np.random.default_rng((seed, case.texts, run, *case.judge.encode()))
    answers = ask_file(case.source.draw(case.texts, case.judge, rng, gates), gates, questions, deciding=True)
    return [one for one in answers.decision.judges if one.judge.startswith(JUDGES)]


def error_of(share: float, runs: int) -> float:
    """The Monte-Carlo standard error of a share of so many runs."""
    return sqrt(share * (1 - share) / runs) if runs else 0.0


def share_cleared(words: Sequence[JudgeDecision], use: str) -> float | None:
    """Of the judges that the files were asked about for this use; None where no file offers it."""
    cleared = [one.word == "cleared" for one in words if one.use == use]
    return sum(cleared) / len(cleared) if cleared else None


def uses_in(words: Sequence[JudgeDecision]) -> tuple[str, ...]:
    """In the order in which files offer them."""
    return tuple(dict.fromkeys(one.use for one in words))
