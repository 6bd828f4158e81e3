"""Reads a gates file: every gate, every accepted fault, and whether they fit each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from recuse.configuration.toml_files import ConfigurationError, TomlFile, did_you_mean
from recuse.gates.gate_tables import STANDARD, AcceptedFault, Gate, RunTable
from recuse.gates.uses import UseTable
from recuse.schema.vocabulary import UNDECIDED

ACCEPTED, RUN, USE = "accepted", "run", "use"


def read(path: Path) -> tuple[dict[str, Gate], tuple[AcceptedFault, ...], RunTable, dict[str, UseTable]]:
    """The gates by name, the accepted faults and the uses, in file order, and what holds for the run as a whole. Raises
    `ConfigurationError` with all faults at once."""
    if not path.exists():
        raise ConfigurationError(
            f"{path}: no such file; a gates file holds every limit: start one with a table such as\n"
            '  [self_bias]\n  within = [-0.5, 0.5]\n  reason = "why half a point, and from where"'
        )
    file = TomlFile(path)
    names = [name for name in file.data if name not in (ACCEPTED, RUN, USE)]
    gates = {name: gate for name in names if (gate := file.parse(Gate, name)) is not None}
    accepted_faults = _accepted_faults(file)
    run = file.parse(RunTable, RUN) if RUN in file.data else STANDARD
    _check_accepted_faults(accepted_faults, gates, names, file)
    uses = _uses(file, names)
    file.check()
    assert run is not None
    return gates, tuple(accepted_faults.values()), run, uses


def _uses(file: TomlFile, names: list[str]) -> dict[str, UseTable]:
    tables = file.data.get(USE, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        file.fault((USE,), "write a use as a table with its name, such as [use.grade]")
        return {}
    uses = {name: use for name in tables if (use := file.parse(UseTable, USE, name)) is not None}
    for name, use in uses.items():
        for gate in use.gates:
            if gate not in names:
                known = ", ".join(sorted(names)) or "none"
                close = did_you_mean(gate, names)
                file.fault((USE, name), f"there is no gate {gate} in this file.{close} It has: {known}")
    return uses


def _accepted_faults(file: TomlFile) -> dict[int, AcceptedFault]:
    tables = file.data.get(ACCEPTED, [])
    if not isinstance(tables, list):
        file.fault((ACCEPTED,), "write accepted faults as [[accepted]], with double brackets; there may be several")
        return {}
    parsed = {i: file.parse(AcceptedFault, ACCEPTED, i) for i in range(len(tables))}
    return {i: accepted_fault for i, accepted_fault in parsed.items() if accepted_fault is not None}


def _check_accepted_faults(
    accepted_faults: Mapping[int, AcceptedFault], gates: Mapping[str, Gate], names: list[str], file: TomlFile
) -> None:
    for i, one in accepted_faults.items():
        if one.gate not in names:
            known = ", ".join(sorted(names)) or "none"
            there_is = f"there is no gate {one.gate} in this file.{did_you_mean(one.gate, names)} Gates here: {known}"
            file.fault((ACCEPTED, i, "gate"), there_is)
        elif one.gate in gates:
            for text in _misfits(one, gates[one.gate]):
                file.fault((ACCEPTED, i, "accept"), text)
        for j, other in accepted_faults.items():
            if j < i and one.overlaps(other):
                file.fault(
                    (ACCEPTED, i),
                    f"overlaps {ACCEPTED}[{j}]: both could cover the same {one.gate} verdict ({one.described}; "
                    f"{other.described}). Give both the same name with different values, for example panel, or merge "
                    "them",
                )


def _misfits(accepted_fault: AcceptedFault, gate: Gate) -> Iterable[str]:
    """Why it could never accept anything. A limit of the scale's range is compared once the scale is known."""
    limit, name = accepted_fault.accept.limit, accepted_fault.gate
    stated = [gate, *gate.on]
    kinds = list(dict.fromkeys(one.bound.kind for one in stated))
    if limit is not None and limit.kind not in kinds:
        kind = " or ".join(kinds)
        yield f"the gate {name} has {kind}, so the accepted fault takes a wider {kind}; it has {limit.kind}"
    elif limit is not None and not any(one.of_range or limit.reaches_beyond(one.bound) for one in stated):
        yield f"{limit} does not reach beyond the gate's own limit, {gate.bound}, so it accepts nothing: delete it"
    if UNDECIDED in accepted_fault.accept.outcome and gate.decide == "point":
        yield (
            f'the gate {name} decides on the value alone and is never undecided; accept "fail", "not measured" or '
            "a limit"
        )
