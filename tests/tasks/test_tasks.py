"""Task folders: what a sound one gives, and how every mistake in task.toml is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recuse.ratings.scale import Nominal, Ordinal
from recuse.schema import RecuseError
from recuse.tasks import load_task

TaskFolder = Callable[..., Path]
ROOT = Path(__file__).resolve().parents[2]


def fault_of(folder: Path) -> str:
    with pytest.raises(RecuseError) as caught:
        load_task(folder)
    return str(caught.value)


@pytest.mark.parametrize("folder", sorted((ROOT / "fixtures" / "tasks").iterdir()), ids=lambda folder: folder.name)
def test_the_shipped_tasks_load(folder: Path) -> None:
    assert load_task(folder).name == folder.name


def test_a_sound_folder(task_folder: TaskFolder) -> None:
    task = load_task(task_folder())
    assert (task.name, task.scale) == ("essays", (0.0, 10.0))
    assert task.criteria == ("clarity", "depth")
    assert list(task.targets) == ["alpha", "beta"]


def test_a_tasks_own_keys_are_left_to_its_prompts(task_folder: TaskFolder) -> None:
    task = load_task(task_folder('id = "depth"', 'id = "depth"\nquestion = "How deep?"'))
    assert task.data["criterion"][1]["question"] == "How deep?"


def test_options_with_and_without_an_order_need_no_scale_of_the_task(task_folder: TaskFolder) -> None:
    named = 'options = ["low", "high"]'
    folder = task_folder('id = "depth"', f'id = "depth"\n{named}\nordered = false')
    text = (folder / "task.toml").read_text("utf-8")
    text = text.replace('id = "clarity"', f'id = "clarity"\n{named}').replace(
        "[scale]\nminimum = 0\nmaximum = 10\nstep = 1\n", ""
    )
    (folder / "task.toml").write_text(text, "utf-8")
    task = load_task(folder)
    assert "scale" not in task.data
    assert task.scales == {"clarity": Ordinal(("low", "high")), "depth": Nominal(("low", "high"))}


def test_a_criterion_without_options_or_scale_is_told(task_folder: TaskFolder) -> None:
    folder = task_folder("[scale]\nminimum = 0\nmaximum = 10\nstep = 1\n", "")
    assert "criterion clarity has neither options nor a scale, and the task has no scale" in fault_of(folder)


def test_a_threshold_beyond_the_scale_is_told(task_folder: TaskFolder) -> None:
    task = load_task(task_folder('name = "essays"', 'name = "essays"\nthresholds = [11]'))
    with pytest.raises(RecuseError, match="essays: threshold = 11 decides nothing: scores are from 0 to 10"):
        _ = task.thresholds


def test_an_unknown_task_is_told_with_the_known_ones(task_folder: TaskFolder) -> None:
    folder = task_folder().parent
    assert fault_of(folder / "poems") == (f"unknown task 'poems': there is no folder {folder / 'poems'}; known: essays")
    assert fault_of(folder / "no" / "poems").endswith("known: none")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("minimum = 0\n", "", "scale.minimum: required, but missing"),
        ("maximum = 10", 'maximum = "10"', "scale.maximum: Input should be a valid number (got '10')"),
        ("maximum = 10", "maximum = nan", "scale.maximum: Input should be a finite number"),
        ("step = 1", "step = 0", "scale.step: Input should be greater than 0 (got 0)"),
        ('[[criterion]]\nid = "depth"', '[[criterion]]\nname = "depth"', "criterion[1].id: required, but missing"),
        ("[[target]]", "[target]", "not valid TOML"),
        ("maximum = 10", "maximum = 0", "scale.minimum must be less than scale.maximum, got 0 and 0"),
        ('id = "beta"', 'id = "Alpha"', "target 'Alpha' appears twice (as 'alpha')"),
        ('id = "depth"', 'id = "clarity"', "criterion 'clarity' appears twice"),
        ("\n[scale]", "longest = { why = 0 }\n[scale]", "longest.why: Input should be greater than 0"),
        ("\n[scale]", "sentences = { why = 1 }\n[scale]", "sentences.why: Input should be a valid list (got 1)"),
        ("\n[scale]", "sentences = { why = [3] }\n[scale]", "sentences.why: List should have at least 2 items"),
        ("\n[scale]", "sentences = { why = [3, 1] }\n[scale]", "why: [least, most] sentences, e.g. [1, 3]"),
        ('id = "beta"', 'id = "../beta"', "target '../beta' cannot be used as a name"),
    ],
)
def test_a_mistake_is_told_with_its_place(task_folder: TaskFolder, old: str, new: str, said: str) -> None:
    folder = task_folder(old, new)
    assert fault_of(folder).startswith(f"{folder / 'task.toml'}: ")
    assert said in fault_of(folder)


def test_folder_and_name_must_agree(task_folder: TaskFolder) -> None:
    assert "name is 'essays', but the folder is called 'poems'; make them equal" in fault_of(
        task_folder(folder="poems")
    )


@pytest.mark.parametrize("file", ["../../secrets.jsonl", "/etc/passwd", ".hidden", "sub/items.jsonl", ".."])
def test_items_are_a_file_of_the_folder_and_of_no_other(file: str, task_folder: TaskFolder) -> None:
    with pytest.raises(RecuseError, match="must name a file of this folder, without a path"):
        load_task(task_folder()).with_items(file)
