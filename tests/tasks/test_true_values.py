"""True values computed from a table of payments, which tasks may share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from recuse.references import reference_of
from recuse.schema import RecuseError
from recuse.tasks import load_task

TASKS = Path(__file__).resolve().parents[2] / "fixtures" / "tasks"


def test_a_task_notices_a_change_in_the_file_of_another_task(tmp_path: Path) -> None:
    for name in ("merchant_risk", "merchant_rationales"):
        shutil.copytree(TASKS / name, tmp_path / name)
    borrows, owns = (load_task(tmp_path / name) for name in ("merchant_rationales", "merchant_risk"))
    before = reference_of(borrows)
    weights = tmp_path / "merchant_risk" / "ground_truth.toml"
    weights.write_text(weights.read_text().replace("count = 0.25\n", "count = 0.75\n"))
    after, theirs = reference_of(borrows), reference_of(owns)
    assert before is not None
    assert after is not None
    assert theirs is not None
    assert list(after["item"]) == list(before["item"])
    assert (after["value"] != before["value"]).any()
    assert list(after["value"]) == list(theirs["value"])


def test_an_item_that_a_file_of_names_has_twice_is_an_error(tmp_path: Path) -> None:
    """Which of the two it is called would depend on the order of the rows."""
    shutil.copytree(TASKS / "merchant_risk", tmp_path / "merchant_risk")
    task = load_task(tmp_path / "merchant_risk")
    names = task.folder / task.data["reference"]["names"]
    names.write_text(names.read_text() + names.read_text().splitlines()[1] + "\n")
    with pytest.raises(RecuseError, match=r"is named twice; keep one row"):
        reference_of(task)
