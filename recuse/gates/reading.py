"""Reads a gates file and says, for every fault in it, where it is and how to mend it."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from recuse.gates.rules import EXPECTED, Accept, Gate, AcceptedFault
from recuse.schema import RecuseError

__all__ = ["GatesError", "meant", "read"]


Model = TypeVar("Model", bound=BaseModel)


class GatesError(RecuseError):
    """The gates file, or how a gate was used, is at fault; the message lists every fault with its place."""


def read(path: Path) -> tuple[dict[str, Gate], tuple[AcceptedFault, ...]]:
    """The gates by name and the accepted faults in file order. Raises `GatesError` with all faults of the file at once."""
    text = _text(path)
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise GatesError(f"{path} is not valid TOML: {error}. Mend it there.") from None
    places = _Places(path, text)
    faults: list[str] = []
    raw_accepted_faults = tables.pop("accepted", [])
    gates = {
        name: gate
        for name, table in tables.items()
        if (gate := _parsed(Gate, table, places.gate(name), faults)) is not None
    }
    if not isinstance(raw_accepted_faults, list):
        faults.append(f"{path}: write accepted faults as [[accepted]], with double brackets; there may be several")
        raw_accepted_faults = []
    accepted_faults = {
        i: accepted_fault
        for i, table in enumerate(raw_accepted_faults)
        if (accepted_fault := _parsed(AcceptedFault, table, places.accepted_fault(i), faults)) is not None
    }
    faults += _family_faults(gates, places)
    faults += _accepted_fault_faults(accepted_faults, gates, tables.keys(), places)
    if faults:
        raise GatesError("\n".join(faults))
    return gates, tuple(accepted_faults.values())


def meant(name: str, known: Iterable[str]) -> str:
    """The sentence " Did you mean x?" where a known name is close, else nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise GatesError(
            f"{path} is missing: a gates file holds every limit; start one with a table such as\n"
            '  [self_bias]\n  within = [-0.5, 0.5]\n  reason = "why half a point, and from where"'
        ) from None
    except UnicodeDecodeError as error:
        raise GatesError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None


# --------------------------------------------------------------------------- one table


def _parsed(model: type[Model], table: object, place: _Place, faults: list[str]) -> Model | None:
    if not isinstance(table, Mapping):
        faults.append(f"{place}: a gate is a table, [{place.table}] with a limit and a reason; it is {table!r}")
        return None
    try:
        return model.model_validate(table)
    except ValidationError as error:
        faults += _told(model, error, place)
        return None


def _told(model: type[BaseModel], error: ValidationError, place: _Place) -> list[str]:
    """Each fault in our own words; pydantic may report one key several times, once per type it could have had."""
    told: list[str] = []
    for item in error.errors(include_url=False):
        keys = [str(part) for part in item["loc"] if isinstance(part, str) and part in EXPECTED]
        text = f"{place.at(keys[-1] if keys else None)}: {_fault(model, item, keys)}"
        if text not in told:
            told.append(text)
    return told


def _fault(model: type[BaseModel], item: Mapping[str, Any], keys: Sequence[str]) -> str:
    if item["type"] == "recuse":
        return str(item["ctx"]["text"])
    if item["type"] == "extra_forbidden":
        known = (Accept if keys and keys[0] == "accept" else model).model_fields
        unknown = str(item["loc"][-1])
        return f"unknown key {unknown}.{meant(unknown, known)} Known keys: {', '.join(known)}"
    key = keys[-1] if keys else str(item["loc"][0])
    if item["type"] == "missing" and item["loc"][-1] == key:
        return f"{key} is missing: give {EXPECTED[key]}"
    return f"{key} must be {EXPECTED[key]}; it is {_value(item)}"


def _value(item: Mapping[str, Any]) -> str:
    given = item["input"]
    return "blank" if item["type"] == "blank" else repr(list(given) if isinstance(given, tuple) else given)


# --------------------------------------------------------------------------- tables against each other


def _family_faults(gates: Mapping[str, Gate], places: _Places) -> list[str]:
    owner: dict[str, str] = {}
    faults = []
    for name, gate in gates.items():
        if gate.family is not None and owner.setdefault(gate.family, name) != name:
            faults.append(
                f"{places.gate(name).at('family')}: the family {gate.family} is already that of "
                f"[{owner[gate.family]}]; each gate is corrected over its own measurements: name this one anew"
            )
    return faults


def _accepted_fault_faults(
    accepted_faults: Mapping[int, AcceptedFault], gates: Mapping[str, Gate], names: Iterable[str], places: _Places
) -> list[str]:
    faults = []
    for i, accepted_fault in accepted_faults.items():
        place = places.accepted_fault(i)
        if accepted_fault.gate not in names:
            known = ", ".join(sorted(names)) or "none"
            here = f"there is no gate {accepted_fault.gate} in this file.{meant(accepted_fault.gate, names)} Gates here: {known}"
            faults.append(f"{place.at('gate')}: {here}")
        elif accepted_fault.gate in gates:
            faults += [f"{place.at('accept')}: {text}" for text in _accept_faults(accepted_fault, gates[accepted_fault.gate])]
        for j in range(i):
            if j in accepted_faults and accepted_fault.overlaps(accepted_faults[j]):
                faults.append(
                    f"{place}: overlaps {places.accepted_fault(j).short}: both could cover the same {accepted_fault.gate} "
                    f"verdict ({accepted_fault.described}; {accepted_faults[j].described}). Give both the same name with different "
                    f"values, for example panel, or merge them"
                )
    return faults


def _accept_faults(accepted_fault: AcceptedFault, gate: Gate) -> Iterable[str]:
    limit, bound = accepted_fault.accept.limit, gate.bound
    if limit is not None and limit.kind != bound.kind:
        yield f"the gate {accepted_fault.gate} has {bound.kind}, so the accepted fault takes a wider {bound.kind}; it has {limit.kind}"
    elif limit is not None and not limit.reaches_beyond(bound):
        yield f"{limit} does not reach beyond the gate's own limit, {bound}, so it accepts nothing; widen it"
    if "undecided" in accepted_fault.accept.outcome and gate.decide == "point":
        yield f'the gate {accepted_fault.gate} decides on the value alone and is never undecided; accept "not measured" or a limit'


# --------------------------------------------------------------------------- where it stands in the file


class _Place:
    """One table of the file: where its header is, and where each of its keys."""

    def __init__(self, path: Path, table: str, short: str, header: int | None, keys: Mapping[str, int]) -> None:
        self.path, self.table, self.short, self.header, self.keys = path, table, short, header, keys

    def at(self, key: str | None) -> str:
        line = self.keys.get(key, self.header) if key else self.header
        return f"{self.path}, line {line}, {self.short}" if line else f"{self.path}, {self.short}"

    def __str__(self) -> str:
        return self.at(None)


class _Places:
    """Line numbers of tables and keys, found by their spelling; tomllib keeps none."""

    _HEADER = re.compile(r"^\s*(\[{1,2})\s*[\"']?([^\]\"']+?)[\"']?\s*\]")
    _KEY = re.compile(r"^\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[=.]")

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.tables: list[tuple[str, int, dict[str, int]]] = []
        loose: dict[str, int] = {}
        keys = loose
        for number, line in enumerate(text.splitlines(), start=1):
            if header := self._HEADER.match(line):
                keys = {}
                self.tables.append((header[2], number, keys))
            elif key := self._KEY.match(line):
                keys.setdefault(key[1], number)
        self.loose = loose

    def gate(self, name: str) -> _Place:
        for table, line, keys in self.tables:
            if table == name:
                return _Place(self.path, name, f"[{name}]", line, keys)
        return _Place(self.path, name, f"[{name}]", self.loose.get(name), {})

    def accepted_fault(self, index: int) -> _Place:
        found = [(line, keys) for table, line, keys in self.tables if table == "accepted_fault"]
        line, keys = found[index] if index < len(found) else (None, {})
        return _Place(self.path, "accepted_fault", f"[[accepted]] number {index + 1}", line, keys)
