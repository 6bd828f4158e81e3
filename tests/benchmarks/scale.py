"""Time and memory, from an import to fifty million ratings and a million calls: `python tests/benchmarks/scale.py`.

`import recuse`, `recuse check` beside its imports, and `pytest evals/`. Then how `recuse check` grows with the rows of
a file (numbers on the command line are rows). Two judges and two people answer pass or fail, a row per rating ("long"),
a row per text ("wide") or a row per pattern with a column `count` ("counted"): one table of ratings in three forms.
Every check is a process of its own; CPU seconds and peak memory are its own. The exponent is that of growth from the
size before: 1 is linear. Then the same of every question on the wide table; 50 million rows in Parquet, which DuckDB
makes in a folder of its own, as `recuse check` folds them and as a query with a column for each rater does, and as many
rows of scores that have to be rounded; texts of 2 KB beside the same table without; Krippendorff's alpha and PPI++
beside other packages; calls in packs, and recorded by batch (extras `test`, `duckdb`, `packs`, `benchmark`). Name parts
to run them alone: start, files, questions, folded, texts, peers, calls.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from datetime import date
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import measuring
import numpy as np
import pandas as pd
from import_cost import cumulative_ms
from measuring import Row, children, interleaved

SIZES, SMALL = (30_000, 100_000, 300_000, 1_000_000), 4_000
FOLDED = 50_000_000
BATCHED = 100_000
SOME = {"judge_a": 15, "judge_b": 20, "judge_c": 10, "judge_d": 25, "anna": 10, "ben": 12, "cleo": 15}
"""Raters of the folded rows and their errors in a hundred; people rate one item in ten."""
RATERS = {"anna": 0.1, "ben": 0.12, "gpt": 0.1, "claude": 0.12}
FORMS = ("long", "wide", "counted")
PARTS = ("start", "files", "questions", "folded", "texts", "peers", "calls")
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
    return time.process_time(), measuring.peak_mb()


def check(file: str, *options: str) -> dict[str, Any]:
    from recuse.cli import main

    out = StringIO()
    with redirect_stdout(out):
        code = main(["check", file, *options])
    seconds, memory = used()
    return {"seconds": seconds, "memory": memory, "code": code, "modules": [*sys.modules]}


def imports(names: str, ending: str) -> dict[str, Any]:
    """What the modules that another process had cost one that does nothing else."""
    for name in names.split(ending):
        with suppress(Exception):
            import_module(name)
    seconds, memory = used()
    return {"seconds": seconds, "memory": memory}


def questions(file: str) -> dict[str, Any]:
    """CPU seconds of reading and of every question, asked one after the other."""
    import warnings

    from recuse.gates.gate_tables import uses_for
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
    results = [measured("each_question", str(folder / "wide.csv")) for folder in folders.values()]
    rows = []
    for name in sorted(results[-1], key=lambda name: -results[-1][name]):
        seconds = [result[name] for result in results]
        if seconds[-1] < NOTABLE:
            continue
        last = exponents(sizes, seconds)[-1] if len(sizes) > 1 else math.nan
        rows.append([name, *(f"{value:.2f}" for value in seconds), f"{last:.2f}", "NO" if last > STEEP else "yes"])
    table(["question", *(f"{n:,} ratings" for n in sizes), "last exponent", f"at most {STEEP}"], rows)


def make_rows(folder: str, rows: str) -> dict[str, Any]:
    """So many rows of item, rater and label in eight files: four judges on every item, three people on a tenth."""
    import duckdb

    base, items = duckdb.connect(config={"memory_limit": "1GB", "threads": "2"}), int(int(rows) / 4.3)
    base.execute("SET preserve_insertion_order = false")
    who = ", ".join(f"('{name}', {error}, {name.startswith('judge')})" for name, error in SOME.items())
    for part in range(8):
        base.execute(
            f"COPY (SELECT item, rater, CASE WHEN (hash(item * 31) % 100 < 60) <> (hash(item || rater) % 100 < error) "
            f"THEN 'pass' ELSE 'fail' END AS label FROM range({items * part // 8}, {items * (part + 1) // 8}) "
            f"AS t(item), (VALUES {who}) AS r(rater, error, judge) WHERE judge OR hash(item * 17) % 10 = 0) "
            f"TO '{folder}/{part}.parquet' (FORMAT parquet)"
        )
    return {}


def make_scores(folder: str, rows: str) -> dict[str, Any]:
    """So many rows of item, rater and score, from 0 to 1 with four places: a judge and two people on every item."""
    import duckdb

    base = duckdb.connect(config={"memory_limit": "1GB", "threads": "2"})
    base.execute("SET preserve_insertion_order = false")
    base.execute(
        "COPY (SELECT item, rater, round(greatest(0, least(1, hash(item * 31) % 10000 / 10000 "
        "+ (hash(item || rater) % 1000 / 1000 - 0.5) * width)), 4) AS score "
        f"FROM range({int(rows) // 3}) AS t(item), (VALUES ('anna', 0.2), ('ben', 0.2), ('judge_a', 0.3)) "
        f"AS r(rater, width)) TO '{folder}/scores.parquet' (FORMAT parquet)"
    )
    return {}


def query(pattern: str) -> dict[str, Any]:
    """The patterns by a query with a column for each rater, as one writes it for any engine."""
    import duckdb

    base = duckdb.connect(config={"memory_limit": "1GB", "threads": "2"})
    base.execute("SET preserve_insertion_order = false")
    each = ", ".join(f"max(CASE WHEN rater = '{name}' THEN label END) AS {name}" for name in SOME)
    inner = f"(SELECT {each} FROM read_parquet('{pattern}') GROUP BY item)"
    found = base.execute(f"SELECT {', '.join(SOME)}, count(*) FROM {inner} GROUP BY ALL").fetchall()
    seconds, memory = used()
    return {"seconds": seconds, "memory": memory, "patterns": len(found)}


def folded(folder: Path) -> None:
    """Rows that lie beyond memory."""
    measured("make_rows", str(folder), str(FOLDED))
    pattern, fine = f"{folder}/*.parquet", folder / "fine"
    fine.mkdir()
    measured("make_scores", str(fine), str(FOLDED))
    people = ",".join(name for name in SOME if not name.startswith("judge"))
    rows = [
        [what, f"{result['seconds']:.1f}", f"{result['memory']:,}"]
        for what, result in (
            ("recuse check, to a word on each judge", measured("check", pattern, "--people", people)),
            ("DuckDB, to patterns by a column for each rater", measured("query", pattern)),
            ("recuse check, scores with four places, rounded",
             measured("check", f"{fine}/*.parquet", "--people", "anna,ben")),
        )
    ]  # fmt: skip
    table([f"{FOLDED:,} rows", "CPU seconds", "peak MB"], rows)


def texts(folder: Path) -> None:
    """100,000 texts of 2 KB each, and the same answers without them."""
    rng, n = np.random.default_rng(2), 100_000
    right = rng.random(n) < 0.6
    wide = pd.DataFrame({name: np.where(right ^ (rng.random(n) < e), "pass", "fail") for name, e in RATERS.items()})
    words = np.array(["a reply of some words that tells of case", "another reply that goes on about the matter of"])
    plain = wide.assign(item=range(n))
    long = plain.assign(text=[f"{words[k % 2]} {k}. " * 42 for k in range(n)])
    rows = []
    forms: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
        "csv": partial(pd.DataFrame.to_csv, index=False), "parquet": pd.DataFrame.to_parquet,
        "jsonl": partial(pd.DataFrame.to_json, orient="records", lines=True),
    }  # fmt: skip
    for ending, to_file in forms.items():
        paths = [folder / f"{name}.{ending}" for name in ("plain", "texts")]
        for frame, path in zip((plain, long), paths, strict=True):
            to_file(frame, path)
        without, held = (measured("check", str(path)) for path in paths)
        for name, key in (("CPU seconds", "seconds"), ("peak MB", "memory")):
            one, other = without[key], held[key]
            rows.append([ending, name, f"{one:.1f}", f"{other:.1f}", f"{other / one:.1f}x", "at most 2x"])
    table(["100,000 texts", "", "without texts", "with 2 KB each", "ratio", "wanted"], rows)


def start(folder: Path) -> None:
    """What is paid before and beside the work: imports, a small file, a middling one, and the shipped run."""
    rows = [Row("import recuse", "20 ms", cumulative_ms("recuse"), 20.0, 1, False, "ms")]
    for ratings, wanted in ((SMALL, 1.3), (100_000, 3.0)):
        (part := folder / str(ratings)).mkdir()
        write(part, ratings)
        file = str(part / "long.csv")
        names = ",".join(measured("check", file)["modules"])
        sides = (("check", file), ("imports", names, ","))
        ours, other = interleaved(3, *(lambda side=side: measured(*side)["seconds"] for side in sides))
        rows.append(Row(f"recuse check, {ratings:,} ratings", "importing the same modules", ours, other, wanted, False))
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "pytest", "evals", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    run = children(lambda: subprocess.run(command, cwd=root, capture_output=True, check=True))
    print(measuring.table([*rows, Row("pytest evals/", "10 CPU seconds", min(run(), run()), 10, 1, False)]) + "\n")


def peers(folders: dict[int, Path]) -> None:
    """Nominal and ordinal alpha of the four raters, ours with a jackknife interval; and PPI++ of one judge, from arrays
    and from a table of ratings that is new to both. CPU milliseconds, the best of five."""
    import evalica
    import krippendorff

    sys.modules["coverage"] = None  # type: ignore[assignment]  # numba, which ppi_py imports, wants an older one
    import ppi_py

    from recuse.metrics.corrected_rate import powered_mean, prediction_powered_mean
    from recuse.ratings import Ordinal, Ratings
    from recuse.statistics.agreement.options import krippendorff_alpha

    def best(work: Callable[[], Any]) -> float:
        return 1000 * min(measuring.cpu(work)() for _ in range(5))

    rows = []
    for n, folder in folders.items():
        frame = pd.read_csv(folder / "wide.csv", usecols=[*RATERS])
        data = frame[[*RATERS]].eq("pass").to_numpy(dtype=float).T + 1
        for level in ("nominal", "ordinal"):
            ours, theirs, other = map(best, (
                lambda data=data, level=level: krippendorff_alpha(data, level).jackknife().interval(0.95),
                lambda data=data, level=level: evalica.alpha(pd.DataFrame(data), level),
                lambda data=data, level=level: krippendorff.alpha(data, level_of_measurement=level),
            ))  # fmt: skip
            what = f"alpha, {level}, with its interval, {n:,} ratings"
            rows += [Row(what, "evalica, no interval", ours, theirs, 1, False, "ms"),
                     Row(what, "krippendorff, no interval", ours, other, 1, False, "ms")]  # fmt: skip
        answers = frame.iloc[np.random.default_rng(3).permutation(len(frame))].assign(item=range(len(frame)))
        tenth = len(answers) // 10
        long = answers.melt("item", ["gpt", "anna"], var_name="rater", value_name="response")
        long = long[(long["rater"] == "gpt") | (long["item"] < tenth)]
        long = long.assign(kind=long["rater"].map({"gpt": "judge", "anna": "person"}))
        made = [Ratings.of(long, scales=Ordinal(("fail", "pass"))) for _ in range(5)]
        y, f = (answers[name].eq("pass").to_numpy(dtype=float) for name in ("anna", "gpt"))

        def from_table(long: pd.DataFrame = long) -> None:
            wide = long.assign(value=long["response"].eq("pass").astype(float)).pivot(
                index="item", columns="rater", values="value"
            )
            people, judge, there = wide["anna"].to_numpy(), wide["gpt"].to_numpy(), wide["anna"].notna().to_numpy()
            ppi_py.ppi_mean_ci(people[there], judge[there], judge[~there])

        def from_arrays(y: Any = y, f: Any = f, m: int = tenth) -> None:
            powered_mean(y[:m], f[:m], f[m:], ends=(0.0, 1.0)).distribution.interval(0.9)

        what, m = f"PPI++ mean with its interval, {len(answers):,} texts", tenth
        for source, (ours, theirs) in {
            "arrays": (best(from_arrays), best(lambda y=y, f=f, m=m: ppi_py.ppi_mean_ci(y[:m], f[:m], f[m:]))),
            "the same table": (best(lambda made=made: prediction_powered_mean(made.pop())), best(from_table)),
        }.items():
            rows.append(Row(what, f"ppi_py, from {source}", ours, theirs, 1, False, "ms"))
    print(measuring.table(rows) + "\n")


def calls(folder: Path) -> None:
    """Recorded calls in packs: what one takes, and a million of them read to ratings; and 100,000 requests recorded by
    batch over restarts."""
    import replay

    print(measuring.table([*replay.packed(folder, 3), *replay.million(folder, 1)]) + "\n", flush=True)
    interruptions = Path(__file__).with_name("interruptions.py")
    subprocess.run([sys.executable, str(interruptions), "0", "0", "0", str(BATCHED)], check=True)


def main() -> None:
    works = {"check": check, "imports": imports, "each_question": questions, "make_rows": make_rows,
             "make_scores": make_scores, "query": query}  # fmt: skip
    if sys.argv[1:2] and sys.argv[1] in works and len(sys.argv) > 2 and not sys.argv[2].isdigit():
        print(json.dumps(works[sys.argv[1]](*sys.argv[2:])))
        return
    parts = {name for name in sys.argv[1:] if not name.isdigit()} or {*PARTS}
    sizes = [int(size) for size in sys.argv[1:] if size.isdigit()] or [*SIZES]
    with tempfile.TemporaryDirectory() as folder:
        folders = {n: Path(folder) / str(n) for n in sizes}
        for n, each in folders.items():
            each.mkdir()
            write(each, n)
        if "files" in parts:
            files(folders)
        if "questions" in parts:
            by_question(folders)
        for name, work in (("start", start), ("folded", folded), ("texts", texts), ("calls", calls)):
            if name in parts:
                (Path(folder) / name).mkdir()
                work(Path(folder) / name)
        if "peers" in parts:
            peers(folders)


if __name__ == "__main__":
    main()
