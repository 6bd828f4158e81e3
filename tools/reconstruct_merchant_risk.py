"""Builds the replies of the RECONSTRUCTED panel `published`: `python -m tools.reconstruct_merchant_risk`.

No model said any of this. For every condition, judge and target of the merchant-risk paper's Tables 1-10 ten runs are
searched (tools.ten_runs, fixed seed) that carry the printed numbers, and are written as the replies a judge would give:

    rubric.jsonl.gz                ten runs per cell, five scores with a sentence each and the judge's own total
    rubric_self_reported.jsonl.gz  one reply per cell with the printed means and SDs as printed
    generation.jsonl.gz            the rationale set of items.jsonl, in the form the generation prompt asks for
    unreachable.csv                printed SDs that no ten scores have, by the grid the scores are on

A judge's reported total is the mean of its five scores, except where the paper's Final Score is not: in the cells where
the two differ by more than rounding, every run's total is off by that difference; where the final is printed with one
decimal, or differs by rounding only, totals are given with one decimal.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from recuse.standins.sentences import Sentences, read_sentences
from tools.ten_runs import RUNS, Cell, Runs, Search, attainable, sd_of, window

ROOT = Path(__file__).resolve().parents[1]
SCORES = ROOT / "fixtures" / "published" / "scores.csv"
ITEMS = ROOT / "fixtures" / "tasks" / "merchant_risk" / "items.jsonl"
SENTENCES = ROOT / "fixtures" / "standins" / "scripted" / "merchant_risk" / "sentences.toml"
OUT = ROOT / "fixtures" / "standins" / "published" / "merchant_risk"

CRITERIA = ("accuracy", "quality", "consistency", "completeness", "practicality")
FINAL = "final"
ROUNDING = Fraction(1, 20)
"""Final Score and mean of the criteria agree within rounding up to half a unit of the criteria's one decimal."""

ATTEMPTS = 60

Key = tuple[str, str, str]  # condition, judge, target
Printed = Mapping[str, tuple[str, str]]  # criterion -> mean, SD, as printed


def main() -> None:
    table, words = read_scores(SCORES), read_sentences(SENTENCES)
    runs = {key: solve(key, cell_of(printed)) for key, printed in table.items()}
    write_lines(OUT / "rubric.jsonl.gz", (line for key in table for line in rubric_lines(key, runs[key], words)))
    write_lines(OUT / "rubric_self_reported.jsonl.gz", (self_reported_line(key, table[key], words) for key in table))
    write_lines(OUT / "generation.jsonl.gz", generation_lines(ITEMS))
    misses = list(unreachable(table, runs))
    write_csv(OUT / "unreachable.csv", misses)
    report(table, runs, misses)


def read_scores(path: Path) -> dict[Key, dict[str, tuple[str, str]]]:
    """Printed strings per cell, in the order of the file."""
    table: dict[Key, dict[str, tuple[str, str]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cell = table.setdefault((row["condition"], row["judge"], row["target"]), {})
            cell[row["criterion"]] = (row["mean"], row["sd"])
    return table


def cell_of(printed: Printed) -> Cell:
    means, sds = zip(*(printed[criterion] for criterion in CRITERIA), strict=True)
    final, final_sd = printed[FINAL]
    difference = Fraction(final) - sum(map(Fraction, means)) / len(means)
    one_decimal = len(final.partition(".")[2]) == 1 or 0 < abs(difference) <= ROUNDING
    offset = difference if abs(difference) > ROUNDING else Fraction(0)
    return Cell(means, sds, final, final_sd, offset, decimals=1 if one_decimal else 2)


def solve(key: Key, cell: Cell) -> Runs:
    """Ten runs that carry the cell, or the best of all attempts. Where each run must round the same way, as in parts of
    Table 10, one annealing often ends a tenth short."""
    found: list[Runs] = []
    for attempt in range(ATTEMPTS):
        found.append(Search(cell, random.Random(" ".join((*key, str(attempt))))).run())
        if found[-1].miss == 0:
            break
    return min(found, key=lambda runs: runs.miss)


# --------------------------------------------------------------------------- replies


def rubric_lines(key: Key, runs: Runs, words: Sentences) -> Iterator[dict[str, Any]]:
    condition, judge, target = key
    decimals = cell_decimals(runs)
    for run in range(RUNS):
        parts = []
        for criterion, scores in zip(CRITERIA, runs.scores, strict=True):
            score = scores[run] / 10
            why = words.why(criterion, score, *key, run)
            parts.append(f'"{criterion}": {{"score": {score:.1f}, "why": {json.dumps(why)}}}')
        parts.append(f'"total": {float(runs.totals[run]):.{decimals}f}')
        yield line(judge, target, condition, "{" + ", ".join(parts) + "}", repeat=run)


def cell_decimals(runs: Runs) -> int:
    """Decimals a judge gives its totals with: as many as any of the ten needs."""
    return 1 if all((total * 10).denominator == 1 for total in runs.totals) else 2


def self_reported_line(key: Key, printed: Printed, words: Sentences) -> dict[str, Any]:
    condition, judge, target = key
    parts = [f'"runs": {RUNS}']
    for criterion in CRITERIA:
        mean, sd = printed[criterion]
        why = words.why(criterion, float(mean), *key)
        parts.append(f'"{criterion}": {{"mean": {mean}, "sd": {sd}, "why": {json.dumps(why)}}}')
    parts.append('"final": {{"mean": {}, "sd": {}}}'.format(*printed[FINAL]))
    best_first = sorted(CRITERIA, key=lambda criterion: -float(printed[criterion][0]))
    for kind, criteria in (("strengths", best_first[:2]), ("weaknesses", best_first[:-3:-1])):
        parts.append(f'"{kind}": {json.dumps([words.remark(kind, criterion, *key) for criterion in criteria])}')
    return line(judge, target, condition, "{" + ", ".join(parts) + "}")


def generation_lines(items: Path) -> Iterator[dict[str, Any]]:
    """Each model's own set; the levels in order, categories as bare codes."""
    for text in items.read_text(encoding="utf-8").splitlines():
        item = json.loads(text)
        levels = [
            {"level": r["level"], "rationale": r["rationale"], "mccs": [int(m["mcc"]) for m in r["mccs"]]}
            for r in item["fields"]["rationales"]
        ]
        yield {"judge": item["target"], "text": json.dumps(levels, ensure_ascii=False)}


def line(judge: str, item: str, condition: str, text: str, **more: Any) -> dict[str, Any]:
    return {"judge": judge, "item": item, "factors": {"condition": condition}, **more, "text": text}


def write_lines(path: Path, lines: Iterator[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in lines)
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0, compresslevel=9) as archive:  # no clock, no name
        archive.write(text.encode())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(out.getvalue())


# --------------------------------------------------------------------------- what ten runs cannot carry

TENTHS = "tenths, n-1"
GRIDS = (("whole numbers, n-1", RUNS - 1), ("whole numbers, n", RUNS))


def unreachable(table: Mapping[Key, Printed], runs: Mapping[Key, Runs]) -> Iterator[dict[str, str]]:
    """Printed SDs out of reach: in tenths, as the runs are; and if every score had to be a whole number."""
    for key, printed in table.items():
        where = dict(zip(("condition", "judge", "target"), key, strict=True))
        for criterion in missed_in_tenths(cell_of(printed), runs[key]):
            mean, sd = printed[criterion]
            missed = {"criterion": criterion, "mean": mean, "sd": sd, "grid": TENTHS, "nearest": "none found"}
            yield where | missed
        for criterion, (grid, divisor) in product(CRITERIA, GRIDS):
            mean, sd = printed[criterion]
            if nearest := nearest_whole(mean, sd, divisor):
                yield where | {"criterion": criterion, "mean": mean, "sd": sd, "grid": grid, "nearest": nearest}


def missed_in_tenths(cell: Cell, runs: Runs) -> list[str]:
    """Criteria (and `final`) whose SD over the ten runs does not round to the printed one."""
    columns = [*([Fraction(score, 10) for score in row] for row in runs.scores), list(runs.totals)]
    return [
        criterion
        for criterion, column, sd in zip((*CRITERIA, FINAL), columns, (*cell.sds, cell.final_sd), strict=True)
        if sum((x - Fraction(sum(column), RUNS)) ** 2 for x in column) not in window(sd, Fraction(1))
    ]


def nearest_whole(mean: str, sd: str, divisor: int) -> str:
    """Empty if ten whole numbers have this mean and SD; otherwise the SDs next to it among all that ten can have."""
    allowed, below, above = window(sd, Fraction(1, 10), divisor), None, None
    for ss in attainable(mean):
        if ss in allowed:
            return ""
        if ss > allowed.low:
            above = ss
            break
        below = ss
    return " and ".join(f"{sd_of(ss, divisor):.3f}" for ss in (below, above) if ss is not None)


def write_csv(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        fields = ("condition", "judge", "target", "criterion", "mean", "sd", "grid", "nearest")
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def report(table: Mapping[Key, Printed], runs: Mapping[Key, Runs], misses: list[dict[str, str]]) -> None:
    missed = [row for row in misses if row["grid"] == TENTHS]
    short = [" ".join(key) for key, found in runs.items() if found.miss]
    print(f"{len(table)} cells x {RUNS} runs; printed SDs not carried: {len(missed)} of {len(table) * 6}")
    for row in missed:
        print("  " + ", ".join(row.values()))
    print(f"cells that miss a printed mean or SD: {', '.join(short) or 'none'}")
    for grid, _ in GRIDS:
        print(f"reachable with {grid}:")
        for condition, judge in dict.fromkeys(key[:2] for key in table):
            lost = sum(row["grid"] == grid and (row["condition"], row["judge"]) == (condition, judge) for row in misses)
            print(f"  {condition:<10} {judge:<18} {25 - lost:>2} of 25")


if __name__ == "__main__":
    main()
