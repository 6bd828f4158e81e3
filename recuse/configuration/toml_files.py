"""Reads the TOML files of a Recuse repo and says, for every fault in one, its line and key, and what would be right.
What is expected of a key stands beside it in the model, as its description: Field(description="a date, e.g. ...")."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from recuse.schema import RecuseError
from recuse.security.redaction import looks_like_a_key

Place = tuple[int | str, ...]  # where something stands in a file: ("judge", 0, "model")
T = TypeVar("T", bound=BaseModel)


class Table(BaseModel):
    """A TOML table: unknown keys are mistakes, values keep their type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ConfigurationError(RecuseError):
    """A configuration file cannot be used; the message names file, place and remedy."""


def read_toml(path: Path) -> dict[str, Any]:
    """The file's tables. Raises `ConfigurationError` for a file that is missing, not UTF-8 or not TOML."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        there = ", ".join(sorted(p.name for p in path.parent.glob("*.toml")))
        raise ConfigurationError(f"{path}: no such file{f'; {path.parent} has {there}' if there else ''}") from None
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8 (byte {error.start}); save the file as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from None


def parse(model: type[T], data: Any, path: Path) -> T:
    """`data`, read from `path`, as a `model`. Raises `ConfigurationError` with every fault on a line of its own."""
    file = TomlFile(path, data)
    parsed = file.parse(model)
    file.check()
    assert parsed is not None
    return parsed


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The sentence " Did you mean x?" where a known name is close, else nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]}?" if close else ""


class TomlFile:
    """One file: hands out its tables as models, gathers every fault in them, and tells them all at once."""

    def __init__(self, path: Path, data: Any = None) -> None:
        self.path = path
        self.data = read_toml(path) if data is None else data
        self._faults: list[tuple[Place, str]] = []

    def parse(self, model: type[T], *place: int | str) -> T | None:
        """The table at `place` (without one, the whole file) as a `model`; None where it has faults, which are kept."""
        try:
            return model.model_validate(reduce(getitem, place, self.data))
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                self.fault(*_explained(model, fault, self.data, place))
            return None

    def fault(self, place: Place, text: str) -> None:
        """Keep a fault; the same one is kept once."""
        if (place, text) not in self._faults:
            self._faults.append((place, text))

    def check(self) -> None:
        """Raises `ConfigurationError` if any fault was kept."""
        if self._faults:
            lines, faults = line_numbers(self.path), []
            for place, text in self._faults:
                parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
                where = "".join(parts).removeprefix(".")  # judge[0].model
                line = next((lines[place[:i]] for i in range(len(place), 0, -1) if place[:i] in lines), None)
                faults.append(f"  {f'line {line}, {where}' if line else where or '(top level)'}: {text}")
            raise ConfigurationError(f"{self.path}: {len(faults)} fault(s)\n" + "\n".join(faults))


def _explained(model: type[BaseModel], fault: Any, data: Any, start: Place) -> tuple[Place, str]:
    """Place and text of one of pydantic's errors, which reports a key once per type it could have had."""
    inner: Place = tuple(fault["loc"])
    owner, field, depth = model, None, 0  # the innermost model and the field of it that is meant, and how deep it lies
    inside: type[BaseModel] | None = model
    for i, part in enumerate(inner, start=1):
        if inside is not None and isinstance(part, str):
            owner, depth = inside, i
            field = next((f for name, f in inside.model_fields.items() if part in (name, f.alias)), None)
            inside = _model_in(field.annotation) if field is not None else None
    missing = fault["type"] == "missing" and isinstance(inner[-1], str)  # else an entry of a list, which is too short
    place = (*start, *_written(reduce(getitem, start, data), inner, keep_last=missing))
    if fault["type"] == "extra_forbidden":
        known = sorted(f.alias or n for n, f in owner.model_fields.items())
        return place, f"unknown key; known here: {', '.join(known)}.{did_you_mean(str(inner[-1]), known)}"
    if fault["type"] == "value_error":  # our own sentence, which says what arrived; the input would be the whole table
        return place, str(fault["ctx"]["error"])
    if fault["type"] == "model_type":
        return place, f"must be a table of its own, [{place[-1] if place else ''}]; it is {_shown(fault['input'])}"
    expected = field.description if field is not None else None
    if missing:
        return place, f"required, but missing{f': give {expected}' if expected else ''}"
    if expected:
        whole = place[: len(start) + depth]
        return whole, f"must be {expected}; it is {_shown(reduce(getitem, whole, data))}"
    return place, f"{fault['msg']} (got {_shown(fault['input'])})"


def _shown(value: object) -> str:
    """What stands in the file, unless that seems to be a key: messages end up in logs."""
    return "(value not shown: it looks like a key)" if looks_like_a_key(repr(value)) else repr(value)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model within list[Model], Model | None and the like."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((inner_model for inner in get_args(annotation) if (inner_model := _model_in(inner))), None)


def _written(data: Any, place: Place, *, keep_last: bool) -> Place:
    """The part of `place` that stands in the file: pydantic appends the types it tried."""
    for i, part in enumerate(place):
        try:
            data = data[part]
        except (LookupError, TypeError):
            return place[: i + keep_last]
    return place


def line_numbers(path: Path) -> dict[Place, int]:
    """Line of each table and key, found by its spelling; tomllib keeps none."""
    lines: dict[Place, int] = {}
    counts: Counter[Place] = Counter()  # of the tables of each [[name]]
    here: Place = ()
    text = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*(\[{1,2})([^\[\]]+)\]", line):
            here, parts = (), [part.strip(" \t\"'") for part in header[2].split(".")]
            for i, part in enumerate(parts, start=1):
                here = (*here, part)
                if header[1] == "[[" and i == len(parts):
                    counts[here] += 1
                if here in counts:
                    here = (*here, counts[here] - 1)
            lines.setdefault(here, number)
        elif key := re.match(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[=.]", line):
            lines.setdefault((*here, key[1]), number)
    return lines
