"""Two files of one judge: their rows are put side by side by what they are about, never by where they stand alone."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from recuse import compare, read
from recuse.cli import main
from recuse.readers.file_panel import load_file_panels
from recuse.schema import RecuseError

TEXTS = 60


def ratings(**columns) -> pd.DataFrame:
    """Two people and a judge before and after, who answer nearly as people do."""
    rng = np.random.default_rng(5)
    right = rng.integers(1, 6, TEXTS)
    people = {n: np.clip(right + rng.integers(-1, 2, TEXTS) * (rng.random(TEXTS) < 0.4), 1, 5) for n in ("ann", "ben")}
    judged = {n: np.where(rng.random(TEXTS) < 0.8, right, people["ann"]) for n in ("before", "after")}
    return pd.DataFrame({**columns, **people, **judged})


def both(tmp_path, table: pd.DataFrame, *, shuffled: bool) -> list[str]:
    """The table as two files, the second one in another order."""
    paths = []
    for name in ("before", "after"):
        part = table.drop(columns={"before", "after"} - {name}).rename(columns={name: "judge"})
        paths.append(str(tmp_path / f"{name}.csv"))
        (part.sample(frac=1, random_state=1) if shuffled and name == "after" else part).to_csv(paths[-1], index=False)
    return paths


PROMPTS = [f"Explain in your own words what {k} apples weigh, and how you came to know it." for k in range(TEXTS)]
LONG = [f"{prompt} {'Think of every apple by itself before you add them up. ' * 4}" for prompt in PROMPTS]
SHORT_AND_LONG = [*PROMPTS[:30], *LONG[30:]]
NAMED = {
    "prompts": {"prompt": PROMPTS},
    "long prompts": {"prompt": LONG},
    "texts": {"text": LONG},
    "prompt and reply": {"prompt": PROMPTS[:20] * 3, "response": LONG},
    "items that are texts": {"item": SHORT_AND_LONG},
}
BY_DEFAULT = ("prompt and reply", "items that are texts")


@pytest.mark.parametrize(
    "columns",
    [pytest.param(columns, id=name, marks=[pytest.mark.slow("further cases")] * (name not in BY_DEFAULT))
     for name, columns in NAMED.items()],
)  # fmt: skip
def test_rows_in_another_order_are_the_same_rows(columns, tmp_path, capsys):
    """`recuse compare` and `recuse check`: every number is that of the files in one order."""
    results = []
    for shuffled in (False, True):
        paths = both(tmp_path, ratings(**columns), shuffled=shuffled)
        out = tmp_path / "out.json"
        codes = main(["compare", *paths, "--json", str(out)]), main(["check", *paths])
        verdicts = {v["gate"]: v["estimate"]["value"] for v in json.loads(out.read_text())["verdicts"]}
        results.append((codes, {gate: value for gate, value in verdicts.items() if value is not None}))
    (codes, values), (same, others) = results
    assert codes == same
    assert others == pytest.approx(values, abs=1e-12)
    assert "upgrade_agreement" in values


@pytest.mark.parametrize("columns", [{}, {"prompt": PROMPTS[:20] * 3}], ids=["no names", "prompts that come again"])
def test_where_nothing_tells_which_row_is_which_it_is_asked(columns, tmp_path, capsys):
    paths = both(tmp_path, ratings(**columns), shuffled=True)
    for command in ("compare", "check"):
        assert main([command, *paths]) == 3
        assert (
            "before.csv and after.csv have no column that says what was judged, so which row of one is about the "
            "same as which of the other is not known; add a column of names, or say which it is: --item COLUMN"
            in capsys.readouterr().err
        )
    for function in (compare, read):
        with pytest.raises(RecuseError, match="have no column that says what was judged"):
            function(*paths)
    assert len(load_file_panels([tmp_path / "before.csv", tmp_path / "after.csv"])) == 2


@pytest.mark.parametrize("times", [1, 1000])
def test_counted_items_of_two_files_are_never_put_side_by_side(times, tmp_path):
    """Sorted by people's answers both hold the same people row by row, though nobody knows which item is which."""
    for name in ("before", "after"):
        part = ratings()[["ann", "ben", name]].rename(columns={name: "judge"})
        part = part.groupby([*part]).size().rename("count").reset_index()
        part.assign(count=part["count"] * times).to_csv(tmp_path / f"{name}.csv", index=False)
    for command in (compare, read):
        with pytest.raises(RecuseError, match="count items by their answers, so which of them are the same"):
            command(str(tmp_path / "before.csv"), str(tmp_path / "after.csv"))
