"""What a gates file says otherwise than the baseline's, with what today's estimates would come to under those: a judge
can be made to pass by changing what is asked of it, and no number moves. Reasons and labels may change freely."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from recuse.gates.gate_set import Gates
from recuse.gates.gate_tables import Accept, AcceptedFault, Gate, LimitElsewhere, RunTable, UseTable
from recuse.gates.limits import LIMIT_KINDS
from recuse.git import BaseCommit
from recuse.schema import RecuseError
from recuse.schema.verdict_rows import LimitChangeRow, StatedGates, VerdictRow
from recuse.schema.vocabulary import printed

WORDS: Any = {"reason": True, "label": True, "because": True, "question": True, "on": {"__all__": {"reason"}}}
LIMIT = (*LIMIT_KINDS, "of_range")
Place = tuple[tuple[str, str], ...]
THE_RUN = "the run's"
UNTOLD = "as when the baseline was written"


def stated(gates: Gates) -> StatedGates:
    """What a gates file decides with, as builtins: {"run", "uses", "gates": {name: ...}, "accepted": [...]}."""
    return {
        "run": _stated(gates.run),
        "uses": {name: _stated(use) for name, use in gates.uses.items()},
        "gates": {name: _stated(gate) for name, gate in gates.gates.items()},
        "accepted": [_stated(one) for one in sorted(gates.accepted_faults, key=_described)],
    }


def as_stated(stated: StatedGates, now: Gates) -> Gates:
    """The gates of a baseline, on the day and under the path of `now`; `RecuseError` for impossible ones."""
    accepted = [{**one, "reason": UNTOLD} for one in stated["accepted"]]

    def with_words(table: Mapping[str, Any]) -> dict[str, object]:
        because = {"because": UNTOLD} if table.get("undecided") == "allow" else {}
        on = {"on": [{**one, "reason": UNTOLD} for one in table["on"]]} if isinstance(table.get("on"), list) else {}
        return {**table, "reason": UNTOLD, **because, **on}

    try:
        return replace(
            now,
            run=RunTable.model_validate(stated.get("run") or {}),
            uses={name: UseTable.model_validate(table) for name, table in stated["uses"].items()},
            gates={name: Gate.model_validate(with_words(table)) for name, table in stated["gates"].items()},
            accepted_faults=tuple(map(AcceptedFault.model_validate, accepted)),
        )
    except ValueError as error:
        raise RecuseError(f"the baseline holds gates that no gates file could have: {error}") from None


def with_former(now: Gates, before: StatedGates) -> Gates:
    """The gates with those of before beside them, if they decide anything otherwise."""
    return now if stated(now) == before else replace(now, former=as_stated(before, now))


def gates_at(commit: BaseCommit, path: str, today: date) -> Gates | None:
    """The gates file of a commit; None where there was none, or today's Recuse cannot read it."""
    with tempfile.TemporaryDirectory(prefix="recuse-base-") as folder, suppress(RecuseError):
        commit.copy([path], Path(folder))
        return Gates.load(Path(folder) / path, today)
    return None


def limit_changes(before: Gates, now: Gates, verdicts: Iterable[VerdictRow] = ()) -> list[LimitChangeRow]:
    """A row per change: "widened", "narrowed", "added", "removed" or "changed"; with what verdicts would be without any
    of them (`otherwise`), as far as `verdicts` (records with `formerly`) say so, and in words."""
    old, new = stated(before), stated(now)
    rows = [_row("", key, *ends) for key, *ends in _differing(old["run"], new["run"])]
    rows += [_row("", f"use {name}", *ends) for name, *ends in _differing(old["uses"], new["uses"])]
    for name in dict.fromkeys([*before.gates, *now.gates]):
        rows += _gate_rows(name, before.gates.get(name), now.gates.get(name))
    rows += _accepted_rows(before, now)
    known = [(v, former) for v in verdicts if (former := v.get("formerly")) and former != v["outcome"]]
    for row in rows:
        named = row.get("subject") or {}
        affected = [
            (v, former) for v, former in known
            if v["gate"] == row["gate"] and row["where"].items() <= v["subject"].items()
            and all(v["subject"].get(k) in ((one,) if isinstance(one, str) else one) for k, one in named.items())
        ]  # fmt: skip
        row["otherwise"] = [{"subject": dict(v["subject"]), "outcome": was, "now": v["outcome"]} for v, was in affected]
        would = []  # "grok-4 fails", "a, b: fail"
        for outcome in dict.fromkeys(former for _, former in affected):
            who = dict.fromkeys(v["subject"].get("judge", "the panel") for v, former in affected if former == outcome)
            names = list(who) if len(who) <= 4 else [*list(who)[:3], f"{len(who) - 3} more"]
            verb = VERBS.get(outcome) or f"is {printed(outcome)}"
            would.append(f"{names[0]} {verb}" if len(who) == 1 else f"{', '.join(names)}: {printed(outcome)}")
        about = row["where"] or named
        where = ", ".join(f"{k} = {v if isinstance(v, str) else ' | '.join(v)}" for k, v in sorted(about.items()))
        what = row["key"] if row["key"] != "gate" else ""
        row["about"] = " ".join(filter(None, (what, f"({where})" if where else "", row["change"])))
        row["consequence"] = "; ".join(would)
        ends = [str(end) for end in (row["before"], row["after"]) if end is not None]
        without = f"; without that {row['consequence']}" if row["consequence"] else ""
        row["sentence"] = f"{row['gate'] or THE_RUN} {row['about']}: {' -> '.join(ends)}{without}"
    return rows


def _gate_rows(name: str, before: Gate | None, after: Gate | None) -> list[LimitChangeRow]:
    """Limits, where a place without one of its own has the gate's, then all else that a gate says."""
    if before is None or after is None:
        return [_row(name, "gate", before and _limit(before), after and _limit(after))]
    old, new = ({(): side} | {tuple(one.where.items()): one for one in side.on} for side in (before, after))
    rows = []
    for where in dict.fromkeys([*old, *new]):
        was, now = old.get(where, before), new.get(where, after)
        if (where in old) != (where in new) or (was.bound, was.of_range) != (now.bound, now.of_range):
            gates = (before, after)
            ends = [_limit(one) + (", the gate's own" if where and one in gates else "") for one in (was, now)]
            widened, narrowed = now.bound.reaches_beyond(was.bound), was.bound.reaches_beyond(now.bound)
            change = "widened" if widened else "narrowed" if narrowed else "changed"
            change = change if was.of_range == now.of_range else "changed"
            rows.append(_row(name, "limit", *ends, where=dict(where), change=change))
    other = _differing(_stated(before), _stated(after))
    return rows + [_row(name, key, *ends) for key, *ends in other if key not in (*LIMIT, "on")]


def _limit(table: Gate | LimitElsewhere | Accept) -> str:
    return f"{table.bound} of the scale's range" if table.of_range else str(table.bound)


def _accepted_rows(before: Gates, after: Gates) -> list[LimitChangeRow]:
    def accepting(one: AcceptedFault) -> str:
        limit = _limit(one.accept) if one.accept.limits else ""
        outcomes = f"outcome {' or '.join(one.accept.outcome)}" if one.accept.outcome else ""
        return ", ".join(filter(None, (limit, outcomes, f"until {one.until}")))

    old, new = ({_described(one): (_stated(one), accepting(one)) for one in side.accepted_faults}
                for side in (before, after))  # fmt: skip
    rows = []
    for name in [*sorted(old), *sorted(new.keys() - old.keys())]:
        (was, accepted), (now, accepts) = (side.get(name, (None, None)) for side in (old, new))
        if was != now and (one := now or was):
            rows.append(_row(one["gate"], "accepted failure", accepted, accepts) | {"subject": one["subject"]})
    return rows


def _described(one: AcceptedFault) -> str:
    parts = (f"{name} = {' | '.join(one.values(name))}" for name in sorted(one.subject))
    return f"{one.gate} ({', '.join(parts)})"


def _row(
    gate: str, key: str, before: object, after: object, *, where: Mapping[str, str] | None = None, change: str = ""
) -> LimitChangeRow:
    if not change:
        change = "added" if before is None else "removed" if after is None else "changed"
    return {"gate": gate, "where": dict(where or {}), "key": key, "before": before, "after": after, "change": change}


VERBS = {"fail": "fails", "pass": "passes", "accepted": "needs an accepted failure"}


def _stated(table: Gate | AcceptedFault | RunTable | UseTable) -> dict[str, Any]:
    return table.model_dump(mode="json", exclude_defaults=True, exclude=WORDS)


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> list[tuple[str, object, object]]:
    every = [(key, before.get(key), after.get(key)) for key in dict.fromkeys([*before, *after])]
    return [(key, was, now) for key, was, now in every if was != now]
