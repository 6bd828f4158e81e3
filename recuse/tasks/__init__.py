"""Tasks: what is judged, on which scale and against which references (fixtures/tasks/<task>/)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PositiveInt, field_validator, model_validator

from recuse.configuration import checked_distinct, checked_name, entry_points_of
from recuse.configuration.toml_files import Table, parse, read_toml
from recuse.ratings.scale import Nominal, Numeric, Ordinal, Scale, check_thresholds
from recuse.schema import Item, RecuseError

RESERVED = frozenset({"task", "author_label"})  # names that protocols give to templates, beside an item's fields


class _Open(BaseModel):
    """A table of task.toml: the keys that Recuse itself uses. All others belong to the task's prompts."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class _Scale(_Open):
    minimum: FiniteFloat
    maximum: FiniteFloat
    step: FiniteFloat | None = Field(default=None, gt=0)


class _Identified(_Open):
    id: str


class _Criterion(_Identified):
    scale: _Scale | None = None  # where it is not the task's
    options: list[str] | None = Field(default=None, min_length=2)  # instead of a scale
    ordered: bool = True  # whether the options run from worst to best


class _SinglePeople(Table):
    """People's single ratings per criterion, beside their means; see `recuse.references`."""

    file: str
    scale: _Scale
    simulated: bool = False
    blind: dict[str, str] = Field(default_factory=dict)


class _People(Table):
    """Ratings by people: one row per rating, or means per target; see `recuse.references`."""

    file: str
    simulated: bool = False  # drawn from a model; nobody was asked
    truth: str = ""  # the rater of the file whose answers are known to be right, if any
    scale: _Scale | None = None  # where it is not the judges'
    single: _SinglePeople | None = None


class _Reference(_Open):
    """The true value of each item: a table, or the file of a kind of computed values; see `recuse.references`."""

    file: str | None = None
    names: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        installed = entry_points_of("recuse.references")
        for kind, file in (self.model_extra or {}).items():
            if "." not in kind and kind not in installed:
                raise ValueError(f"unknown key {kind!r}; known: {', '.join(('file', 'names', *sorted(installed)))}")
            if not isinstance(file, str):
                raise ValueError(f"{kind} names a file, got {file!r}")
        return self


class _Payloads(Table):
    """Instructions that attackers add to texts, one JSON object a line; see `recuse.references.payloads_of`."""

    known: str  # defences may have been made from these
    held_out: str  # written after and apart from the defences


class _Tier(_Open):
    name: str
    targets: list[str] = Field(min_length=1)


class _TaskFile(_Open):
    name: str
    scale: _Scale | None = None  # of the criteria that have no options and no scale of their own
    criterion: list[_Criterion] = Field(min_length=1)
    target: list[_Identified] = Field(min_length=1)
    tier: list[_Tier] = Field(default_factory=list)
    text: list[str] = Field(default_factory=list)
    clusters: str = "items"
    thresholds: list[FiniteFloat] = Field(default_factory=list)  # scores from which on something else is decided
    people: _People | None = None
    reference: _Reference | None = None
    payloads: _Payloads | None = None
    longest: dict[str, PositiveInt] = Field(default_factory=dict)  # part of a reply -> its most characters
    sentences: dict[str, Annotated[list[PositiveInt], Field(min_length=2, max_length=2)]] = Field(default_factory=dict)

    @field_validator("sentences")
    @classmethod
    def _rising(cls, given: dict[str, list[int]]) -> dict[str, list[int]]:
        if wrong := [part for part, (least, most) in given.items() if least > most]:
            raise ValueError(f"{wrong[0]}: [least, most] sentences, e.g. [1, 3]")
        return given


@dataclass(frozen=True, eq=False)
class Task:
    """A task folder. `data` is task.toml as written; its keys beyond the few used here belong to the task's prompts.
    `prompts`: a folder of templates that come before those of prompts/, where a candidate is asked with its own."""

    name: str
    folder: Path
    data: Mapping[str, Any]
    items_file: str = "items.jsonl"
    prompts: str = ""

    @cached_property
    def criteria(self) -> tuple[str, ...]:
        """Ids of the criteria, in the order of the file."""
        return tuple(c["id"] for c in self.data["criterion"])

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The ends of the task's scale; `RecuseError` where all its criteria have their own, or options."""
        if "scale" not in self.data:
            raise RecuseError(
                f"{self.folder / 'task.toml'}: this protocol asks for numbers, and the task has no scale; give it "
                "scale = { minimum = ..., maximum = ... }, or ask for options by the protocol forced_choice"
            )
        return float(self.data["scale"]["minimum"]), float(self.data["scale"]["maximum"])

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """Criterion -> its scale: its own, its options, or the task's."""
        scales: dict[str, Scale] = {}
        for criterion in self.data["criterion"]:
            if "options" in criterion:
                kind = Ordinal if criterion.get("ordered", True) else Nominal
                scales[criterion["id"]] = kind(tuple(criterion["options"]))
            else:
                scale = criterion.get("scale", self.data.get("scale", {}))
                step = None if scale.get("step") is None else float(scale["step"])
                scales[criterion["id"]] = Numeric(float(scale["minimum"]), float(scale["maximum"]), step)
        return scales

    @cached_property
    def prompt_folders(self) -> tuple[Path, ...]:
        """Where templates are looked for, in this order."""
        return tuple(self.folder / name for name in (self.prompts, "prompts") if name)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The scores from which on something else is decided, where such decisions are taken."""
        scores = tuple(map(float, self.data.get("thresholds", ())))
        check_thresholds(scores, self.scales.values(), f"{self.folder}: ")
        return scores

    @property
    def text(self) -> tuple[str, ...]:
        """The fields of an item that are the judged text, in order; empty where the task does not say."""
        return tuple(self.data.get("text", ()))

    @property
    def clusters(self) -> str:
        """What items are clustered by, in the plural."""
        return str(self.data.get("clusters", "items"))

    @property
    def people_simulated(self) -> bool:
        """Whether the ratings by people come out of a model."""
        return bool(self.data.get("people", {}).get("simulated"))

    @property
    def truth(self) -> str:
        """The rater among people whose answers are known to be right, "" where there is none."""
        return str(self.data.get("people", {}).get("truth", ""))

    @property
    def tiers(self) -> dict[str, tuple[str, ...]]:
        """Tier -> its targets, from the lowest tier known to the highest; empty where nothing is known."""
        return {tier["name"]: tuple(tier["targets"]) for tier in self.data.get("tier", ())}

    @property
    def targets(self) -> dict[str, Mapping[str, Any]]:
        """Target -> its table in task.toml."""
        return {t["id"]: t for t in self.data["target"]}

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The lines of the items file: {"id", "target", "fields"}; `RecuseError` with the line of whatever is wrong."""
        path, targets = self.folder / self.items_file, self.targets
        if not path.is_file():
            raise RecuseError(f"{path}: no such file; a task lists what is judged there, one JSON object a line")
        try:
            content = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            place = path.read_bytes().count(b"\n", 0, error.start) + 1
            raise RecuseError(f"{path}:{place}: not UTF-8 (byte {error.start} of the file); save it as UTF-8") from None
        items: list[Item] = []
        seen: dict[tuple[str, str], int] = {}
        lines = enumerate(content.split("\n"), start=1)  # not splitlines: JSON may hold U+2028 as it is
        for number, line in (each for each in lines if each[1].strip()):
            where = f"{path}:{number}"
            try:
                data = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise RecuseError(f"{where}: not JSON: {error}") from None
            for key, kind in (("id", str), ("target", str), ("fields", dict)):
                if not isinstance(data, dict) or key not in data:
                    raise RecuseError(f"{where}: lacks {key!r}; an item is an object with id, target and fields")
                if not isinstance(data[key], kind):
                    wanted = "an object" if kind is dict else "a text"
                    raise RecuseError(f"{where}: {key} must be {wanted}, got {data[key]!r}")
            if taken := ", ".join(sorted(RESERVED & data["fields"].keys())):
                raise RecuseError(f"{where}: fields may not be called {taken}: prompts have those names already")
            item = Item(self.name, checked_name(data["id"], "item", where), data["target"], data["fields"])
            if item.target not in targets:
                raise RecuseError(f"{where}: target {item.target!r} is not in task.toml; known: {', '.join(targets)}")
            if (first := seen.setdefault((item.id, item.target), number)) != number:
                raise RecuseError(f"{where}: item {item.id!r} of {item.target!r} was already given on line {first}")
            items.append(item)
        if not items:
            raise RecuseError(f"{path}: holds no item; a task lists what is judged there, one JSON object a line")
        return tuple(items)

    def with_items(self, file: str | None) -> Task:
        """The same task with another file of its folder as items; itself where none is named."""
        if file is not None and (Path(file).name != file or file.startswith(".")):
            raise RecuseError(f"{self.folder}: items {file!r} must name a file of this folder, without a path")
        return self if file in (None, self.items_file) else replace(self, items_file=file)

    def in_other_words(self, prompts: str | None, rubric: str | None) -> Task:
        """The same task asked with the templates of another folder and with what another file says instead of
        task.toml, where there are such. `RecuseError` for a file that changes more than what judges are told."""
        reworded, path = replace(self, prompts=prompts or ""), self.folder / (rubric or "")
        if not path.is_file():
            return reworded
        words = read_toml(path)
        reworded = replace(reworded, data={**self.data, **words})
        parse(_TaskFile, reworded.data, path)
        ground = sorted(words.keys() & (_TaskFile.model_fields.keys() - {"criterion"}))
        if ground or reworded.scales != self.scales:
            raise RecuseError(
                f"{path}: a candidate's rubric may say other things of the criteria, and this changes "
                f"{', '.join(ground) or 'their ids or scales'}; both judges need the same texts, criteria and scales, "
                "so leave these to task.toml"
            )
        return reworded


def load_task(folder: Path) -> Task:
    """The task in a folder with task.toml; `RecuseError` with line and key of whatever is wrong."""
    if not folder.is_dir():
        there = folder.parent.iterdir() if folder.parent.is_dir() else ()
        tasks = ", ".join(sorted(p.name for p in there if p.is_dir())) or "none"
        raise RecuseError(f"unknown task {folder.name!r}: there is no folder {folder}; known: {tasks}")
    path = folder / "task.toml"
    data = read_toml(path)
    table = parse(_TaskFile, data, path)
    if table.name != folder.name:
        raise RecuseError(f"{path}: name is {table.name!r}, but the folder is called {folder.name!r}; make them equal")
    if lacking := [c.id for c in table.criterion if table.scale is None and c.scale is None and c.options is None]:
        raise RecuseError(f"{path}: criterion {lacking[0]} has neither options nor a scale, and the task has no scale")
    if table.scale is not None and not table.scale.minimum < table.scale.maximum:
        raise RecuseError(
            f"{path}: scale.minimum must be less than scale.maximum, got {table.scale.minimum:g} and "
            f"{table.scale.maximum:g}"
        )
    known = [checked_name(target.id, "target", str(path)) for target in table.target]
    checked_distinct(known, "target", str(path))
    checked_distinct([criterion.id for criterion in table.criterion], "criterion", str(path))
    checked_distinct([tier.name for tier in table.tier], "tier", str(path))
    placed = [name for tier in table.tier for name in tier.targets]
    checked_distinct(placed, "target of a [[tier]]", str(path))
    if unknown := [target for target in placed if target not in known]:
        raise RecuseError(f"{path}: [[tier]] names unknown targets {', '.join(unknown)}; known: {', '.join(known)}")
    return Task(table.name, folder, data)
