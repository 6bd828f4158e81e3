"""What a gate is asked, and what had to be asked: the same through every door."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from recuse.gates import Gates, Verdicts
from recuse.gates.uses import Uses
from recuse.schema import Estimate, Estimates
from recuse.schema.results import AskedRow

__all__ = ["asked_record", "gates_named", "verdicts_of"]


def verdicts_of(
    gates: Gates, name: str, measured: Estimate | Estimates, place: Mapping[str, str], uses: Uses,
    offers: Collection[str],
) -> Verdicts | None:  # fmt: skip
    """The verdicts of a gate at a place (panel, task, protocol) whose judges are used so and whose ratings offer these
    needs; None where the gate is not in force there, and what was measured is only shown."""
    if not gates.in_force(name, uses, offers):
        return None
    return gates.decide(
        name, measured, place, asserted=gates.is_asserted(name, uses)
    )


def gates_named(function: Callable[..., Any], gates: Gates) -> list[str]:
    """The gates that a test names in its own body: what it has to ask, whether or not it comes to it."""
    return [name for name in function.__code__.co_consts if isinstance(name, str) and name in gates]


def asked_record(
    gates: Gates, test: str, names: Iterable[str], place: Mapping[str, str], judges: Iterable[str], uses: Uses,
    offers: Collection[str],
) -> list[AskedRow]:  # fmt: skip
    """As results.json holds it, once for each of the gates that the test names and that is in force at the place."""
    return [
        {"gate": name, "test": test, "panel": place["panel"], "task": place["task"], "protocol": place["protocol"],
         "judges": list(judges)}
        for name in names
        if gates.in_force(name, uses, offers)
    ]
