"""Reads the TOML files of a Recuse repo and says which file, table and key is wrong, and what would be right."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from recuse.key_shapes import looks_like_a_key
from recuse.schema import RecuseError


class Table(BaseModel):
    """A TOML table: unknown keys are mistakes, values keep their type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


T = TypeVar("T", bound=BaseModel)


class ConfigurationError(RecuseError):
    """A configuration file cannot be used; the message names file, place and remedy."""


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: no such file{_neighbours(path)}") from None
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8 (byte {error.start}); save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from None


def parse(model: type[T], data: Any, path: Path, place: str = "") -> T:
    """`data` as a `model`; every fault on a line of its own, with its dotted place in the file."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        lines = [f"  {_dotted(place, fault['loc'])}: {_plain(model, fault)}" for fault in error.errors()]
        raise ConfigurationError(f"{path}: {len(lines)} fault(s)\n" + "\n".join(lines)) from None


def _dotted(place: str, location: tuple[int | str, ...]) -> str:
    text = place
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "(top level)"


def _plain(model: type[BaseModel], fault: Any) -> str:
    if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1:
        return f"unknown key; known here: {', '.join(sorted(f.alias or n for n, f in model.model_fields.items()))}"
    if fault["type"] == "extra_forbidden":
        return "unknown key"
    if fault["type"] == "missing":
        return "required, but missing"
    if fault["type"] == "value_error":  # our own sentence, which says what arrived; the input would be the whole table
        return str(fault["ctx"]["error"])
    arrived = repr(fault["input"])
    return f"{fault['msg']} ({'value not shown' if looks_like_a_key(arrived) else f'got {arrived}'})"


def _neighbours(path: Path) -> str:
    there = sorted(p.name for p in path.parent.glob("*.toml")) if path.parent.is_dir() else []
    return f"; {path.parent} has {', '.join(there)}" if there else ""
