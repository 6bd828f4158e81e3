"""How time and memory of `recuse check` grow with the rows of a file: `python tests/benchmarks/scale.py [ROWS ...]`.

Two judges and two people answer pass or fail, a row per rating ("long"), a row per text ("wide") or a row per pattern
with a column `count` ("counted"): one table of ratings in three forms. Every check is a process of its own; CPU seconds
and peak memory are its own. The exponent is that of growth from the size before: 1 is linear. Below, the same of every
question on the wide table, and Krippendorff's alpha beside other packages (extra `test`).
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SIZES = (30_000, 100_000, 300_000, 1_000_000)
RATERS = {"anna": 0.1, "ben": 0.12, "gpt": 0.1, "claude": 0.12}
FORMS = ("long", "wide", "counted")
NOTABLE, STEEP = 0.5, 1.1
"""Seconds below which a question's growth is noise, and the exponent above which it is not linear."""
WANTED_SECONDS, WANTED_MEMORY = 15.0, 600


def write(folder: Path, ratings: int) -> None:
    """The three files of so many ratings, rows sorted by pattern so that they are the same items in one order."""
    rng = np.random.default_rng(1)
    items = ratings // len(RATERS)
    right = rng.random(items) < 0.6
    wide = pd.DataFrame({n: np.where(right ^ (rng.random(items) < e), "pass", "fail") for n, e in RATERS.items()})
    wide = wide.sort_values([*RATERS], ignore_index=True)
    named = wide.assign(item=np.arange(items))
    named.to_csv(folder / "wide.csv", index=False)
    named.melt("item", var_name="rater", value_name="label").to_csv(folder / "long.csv", index=False)
    wide.groupby([*RATERS]).size().rename("count").reset_index().to_csv(folder / "counted.csv", index=False)


def measured(*command: str) -> dict[str, Any]:
    """What a process of this file prints: its CPU seconds, memory, and more."""
    done = subprocess.run([sys.executable, __file__, *command], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def used() -> tuple[float, int]:
    """CPU seconds and peak memory in MB of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def check(file: str) -> dict[str, Any]:
    from recuse.cli import main

    out = StringIO()
    with redirect_stdout(out):
        code = main(["check", file])
    seconds, memory = used()
    return {"seconds": seconds, "memory": memory, "code": code}


def questions(file: str) -> dict[str, Any]:
    """CPU seconds of reading and of every question, asked one after the other."""
    import warnings

    from recuse.gates.uses import uses_for
    from recuse.readers.file_panel import load_file_panel
    from recuse.suite.question_runner import ask, read_evals, shipped_evals

    warnings.simplefilter("ignore", RuntimeWarning)
    seconds = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = work()
        seconds[name] = time.process_time() - start
        return result

    gates, every = read_evals(shipped_evals(), date.today())
    panel = timed("reading the file", lambda: load_file_panel(Path(file)))
    uses = uses_for(panel.uses, [panel.offers], gates.uses, file)
    for question in every:
        timed(question.name.partition("::")[2], lambda question=question: ask(panel, gates, [question], uses))
    return seconds


def exponents(sizes: list[int], values: list[float]) -> list[float]:
    pairs = zip(zip(sizes, values, strict=True), zip(sizes[1:], values[1:], strict=True), strict=False)
    return [math.log(max(b, 1e-9) / max(a, 1e-9)) / math.log(m / n) for (n, a), (m, b) in pairs]


def table(head: list[str], rows: list[list[str]]) -> None:
    for cells in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(cells) + " |", flush=True)
    print()


def files(folders: dict[int, Path]) -> None:
    """`recuse check` of each form and size."""
    sizes, rows = [*folders], []
    for form in FORMS:
        results = [measured("check", str(folders[n] / f"{form}.csv")) for n in sizes]
        grown = [math.nan, *exponents(sizes, [r["seconds"] for r in results])]
        for n, result, exponent in zip(sizes, results, grown, strict=True):
            reached = result["seconds"] <= WANTED_SECONDS and result["memory"] <= WANTED_MEMORY
            rows.append([form, f"{n:,}", f"{result['seconds']:.1f}", f"{result['memory']:,}",
                         "" if math.isnan(exponent) else f"{exponent:.2f}", "yes" if reached else "NO"])  # fmt: skip
    wanted = f"at most {WANTED_SECONDS:g} s and {WANTED_MEMORY} MB"
    table(["file", "ratings", "CPU seconds", "peak MB", "exponent", wanted], rows)


def by_question(folders: dict[int, Path]) -> None:
    sizes = [*folders]
    results = [measured("questions", str(folder / "wide.csv")) for folder in folders.values()]
    rows = []
    for name in sorted(results[-1], key=lambda name: -results[-1][name]):
        seconds = [result[name] for result in results]
        if seconds[-1] < NOTABLE:
            continue
        last = exponents(sizes, seconds)[-1] if len(sizes) > 1 else math.nan
        rows.append([name, *(f"{value:.2f}" for value in seconds), f"{last:.2f}", "NO" if last > STEEP else "yes"])
    table(["question", *(f"{n:,} ratings" for n in sizes), "last exponent", f"at most {STEEP}"], rows)


def peers(folders: dict[int, Path]) -> None:
    """Nominal alpha of the four raters with an interval: jackknife, none, resamples."""
    import evalica
    import krippendorff

    from recuse.statistics import agreement

    rows = []
    for n, folder in folders.items():
        data = pd.read_csv(folder / "wide.csv", usecols=[*RATERS]).eq("pass").to_numpy(dtype=float).T
        sides: tuple[Callable[[], Any], ...] = (
            lambda data=data: agreement.krippendorff_alpha(data, "nominal").jackknife().interval(0.95),
            lambda data=data: krippendorff.alpha(data, level_of_measurement="nominal"),
            lambda data=data: evalica.alpha_bootstrap(pd.DataFrame(data), "nominal", n_resamples=100, random_state=1),
        )
        cells = []
        for side in sides:
            start = time.process_time()
            side()
            cells.append(f"{time.process_time() - start:.2f}")
        rows.append([f"{n:,}", *cells])
    table(["ratings", "recuse, with jackknife", "krippendorff, no interval", "evalica, 100 resamples"], rows)


def main() -> None:
    if sys.argv[1:2] in (["check"], ["questions"]):
        print(json.dumps({"check": check, "questions": questions}[sys.argv[1]](sys.argv[2])))
        return
    sizes = [int(size) for size in sys.argv[1:]] or [*SIZES]
    with tempfile.TemporaryDirectory() as folder:
        folders = {n: Path(folder) / str(n) for n in sizes}
        for n, each in folders.items():
            each.mkdir()
            write(each, n)
        files(folders)
        by_question(folders)
        peers(folders)


if __name__ == "__main__":
    main()
