"""Tasks: what is judged, on which scale and against which references (fixtures/tasks/<task>/)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recuse.configuration import read_toml
from recuse.naming import checked_name
from recuse.schema import Item, RecuseError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Task:
    """A task folder. `data` is task.toml as written; its keys beyond the few used here belong to the task's prompts."""

    name: str
    folder: Path
    data: Mapping[str, Any]

    @property
    def title(self) -> str:
        return str(self.data.get("title", self.name))

    @property
    def criteria(self) -> tuple[str, ...]:
        return tuple(c["id"] for c in self.data["criterion"])

    @property
    def scale(self) -> tuple[float, float]:
        return float(self.data["scale"]["minimum"]), float(self.data["scale"]["maximum"])

    @property
    def targets(self) -> dict[str, Mapping[str, Any]]:
        return {t["id"]: t for t in self.data["target"]}

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The lines of items.jsonl: {"id", "target", "fields"}."""
        return tuple(_read_items(self.name, self.folder / "items.jsonl", self.targets))

    def table(self, name: str) -> pd.DataFrame:
        """A CSV file of the task folder; codes and names stay text only where the column says so in its name."""
        import pandas as pd

        path = self.folder / name
        if not path.is_file():
            raise RecuseError(f"{path}: no such table; the folder has {', '.join(sorted(p.name for p in self.folder.iterdir()))}")
        return pd.read_csv(path)


def load_task(folder: Path) -> Task:
    if not folder.is_dir():
        known = sorted(p.name for p in folder.parent.iterdir() if p.is_dir()) if folder.parent.is_dir() else []
        raise RecuseError(f"unknown task {folder.name!r}: there is no folder {folder}; known: {', '.join(known) or 'none'}")
    data = read_toml(folder / "task.toml")
    path = folder / "task.toml"
    for key in ("name", "scale", "criterion", "target"):
        if key not in data:
            raise RecuseError(f"{path}: {key!r} is required, but missing")
    if data["name"] != folder.name:
        raise RecuseError(f"{path}: name is {data['name']!r}, but the folder is called {folder.name!r}; make them equal")
    for target in data["target"]:
        checked_name(target["id"], "target", str(path))
    return Task(data["name"], folder, data)


def _read_items(task: str, path: Path, targets: Mapping[str, Any]) -> list[Item]:
    if not path.is_file():
        raise RecuseError(f"{path}: no such file; a task lists what is judged there, one JSON object a line")
    items: list[Item] = []
    seen: dict[tuple[str, str], int] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            item = Item(task, checked_name(data["id"], "item", f"{path}:{number}"), data["target"], data["fields"])
        except json.JSONDecodeError as error:
            raise RecuseError(f"{path}:{number}: not JSON: {error}") from None
        except KeyError as error:
            raise RecuseError(f"{path}:{number}: lacks {error}; an item has id, target and fields") from None
        if item.target not in targets:
            raise RecuseError(f"{path}:{number}: target {item.target!r} is not in task.toml; known: {', '.join(targets)}")
        if (first := seen.setdefault((item.id, item.target), number)) != number:
            raise RecuseError(f"{path}:{number}: item {item.id!r} of {item.target!r} was already given on line {first}")
        items.append(item)
    return items
