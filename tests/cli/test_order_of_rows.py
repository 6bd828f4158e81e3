"""No number depends on the order of a file's rows and columns."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from recuse.cli import main

RATERS = {"anna": 0.6, "ben": 0.8, "gpt-4o": 0.7, "llama-3": 1.4}


def scores(draw: np.random.Generator) -> Iterator[tuple[str, str, str, float]]:
    for k in range(30):
        true = draw.normal(3, 1)
        for shift, system in enumerate(("alpha", "beta", "gamma")):
            for rater, noise in RATERS.items():
                yield f"t{k}", system, rater, float(np.clip(round(true + 0.3 * shift + draw.normal(0, noise)), 1, 5))


def ranks(draw: np.random.Generator) -> Iterator[tuple[str, str, str, float]]:
    """Means of ranks add up to a constant: their covariance has no inverse."""
    for k in range(30):
        true = draw.normal(0, 1, 4) + np.arange(4)
        for rater, noise in RATERS.items():
            for system, rank in zip("wxyz", np.argsort(np.argsort(-true - draw.normal(0, noise, 4))), strict=True):
                yield f"t{k}", system, rater, float(rank + 1)


def rewritten(draw: np.random.Generator) -> Iterator[tuple[str, str, str, float, str]]:
    """Raters' own words, which a column called `text` holds: nothing says which of them an item is called by."""
    for k, (item, system, rater, score) in enumerate(scores(draw)):
        yield item, system, rater, score, f"the text as {rater} has it, version {k % 9}"


@pytest.mark.parametrize("table", [ranks, rewritten, pytest.param(scores, marks=pytest.mark.slow("further cases"))])
def test_every_number_is_the_same_in_any_order_of_rows_and_columns(tmp_path, table):
    rows = pd.DataFrame(table(np.random.default_rng(1)))
    rows.columns = ["item", "system", "rater", "rank" if table is ranks else "score", "text"][: len(rows.columns)]
    tables = rows, rows.sample(frac=1, random_state=2)[[*rows.columns[::-1]]]
    one, other = (estimates_of(tmp_path / name, each) for name, each in zip("ab", tables, strict=True))
    assert len(one) > 100
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] != pytest.approx(other[name], abs=1e-9, nan_ok=True)} == set()


def estimates_of(folder, table):
    folder.mkdir()
    table.to_csv(folder / "ratings.csv", index=False)
    main(["check", str(folder / "ratings.csv"), "--all", "--json", str(folder / "out.json")])
    each = json.loads((folder / "out.json").read_text())
    return {
        (entry.get("gate") or entry["estimate"]["metric"], *sorted(entry["subject"].items()), end): value
        for entry in (*each["measurements"], *each["verdicts"])
        for end in ("value", "low", "high", "se")
        if (value := entry["estimate"].get(end)) is not None
    }
