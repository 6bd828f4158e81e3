"""Tables with a row for each item and the same folded, and whether results of two are alike to 1e-9."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd

from recuse.cli import main

ANSWERS = ("pass", "fail")


def unfolded(rows: int = 400, seed: int = 3) -> pd.DataFrame:
    """Two judges, one of them careless, and two people, sorted by what they say, as a table that was counted is."""
    rng = np.random.default_rng(seed)
    right = rng.random(rows) < 0.6
    errors = {"gpt": 0.1, "claude": 0.3, "anna": 0.1, "ben": 0.12}
    table = pd.DataFrame({n: np.where(right ^ (rng.random(rows) < e), *ANSWERS) for n, e in errors.items()})
    table["language"] = np.where(rng.random(rows) < 0.3, "de", "en")
    return table.sort_values([*table], ignore_index=True)


def folded(table: pd.DataFrame, count: str = "count") -> pd.DataFrame:
    return table.groupby([*table], sort=True).size().rename(count).reset_index()


def numbers(value: object, at: str = "") -> dict[str, object]:
    """Every leaf of results by its place."""
    if isinstance(value, dict):
        return {k: v for name, part in value.items() for k, v in numbers(part, f"{at}/{name}").items()}
    if isinstance(value, list):
        return {k: v for n, part in enumerate(value) for k, v in numbers(part, f"{at}[{n}]").items()}
    return {at: value}


def differences(one: dict[str, object], other: dict[str, object]) -> list[str]:
    a, b = numbers(one), numbers(other)
    assert a.keys() == b.keys()
    return [
        f"{at}: {a[at]} {b[at]}" for at in a
        if (not math.isclose(a[at], b[at], rel_tol=1e-9, abs_tol=1e-9) if isinstance(a[at], float) else a[at] != b[at])
    ]  # fmt: skip


def results_of(path, out, *options: str) -> tuple[int, dict[str, object]]:
    code = main(["check", str(path), "--json", str(out), *options])
    results = json.loads(out.read_text())
    return code, {k: results[k] for k in ("verdicts", "measurements", "underspecified")}
