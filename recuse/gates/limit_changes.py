"""What a gates file now says otherwise than the baseline's: limits and accepted failures loosened, tightened, added,
removed.

A judge can be made to pass by changing what is asked of it, and no number moves. So the baseline keeps the gates too,
without their words: reasons, labels, comments and layout may change freely. Every other change is a result of its own,
with what today's estimates would come to under the gates of the baseline.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, cast

from recuse.gates.gate_set import Gates
from recuse.gates.gate_tables import AcceptedFault, Gate, RunTable
from recuse.gates.limits import Limit
from recuse.gates.uses import UseTable
from recuse.git import BaseCommit
from recuse.schema import RecuseError
from recuse.schema.verdict_rows import (
    AcceptedRow,
    LimitChangeRow,
    StatedAcceptance,
    StatedGate,
    StatedGates,
    VerdictRow,
    WhereLimit,
)
from recuse.schema.vocabulary import printed

WORDS = {"reason", "label", "because", "question"}
LIMIT = ("within", "at_least", "at_most", "of_range")
StatedTable = StatedGate | WhereLimit
THE_RUN = "the run's"
UNTOLD = "as when the baseline was written"


def stated(gates: Gates) -> StatedGates:
    """What a gates file decides with, as builtins: {"run", "uses", "gates": {name: ...}, "accepted": [...]}."""
    return {
        "run": _stated(gates.run),
        "uses": {name: _stated(use) for name, use in gates.uses.items()},
        "gates": {name: cast("StatedGate", _stated(gate)) for name, gate in gates.gates.items()},
        "accepted": sorted((cast("StatedAcceptance", _stated(one)) for one in gates.accepted_faults), key=_described),
    }


def as_stated(stated: StatedGates, now: Gates) -> Gates:
    """The gates of a baseline, on the day and under the path of those of `now`."""
    return replace(
        now,
        run=RunTable.model_validate(stated.get("run") or {}),
        uses={name: UseTable.model_validate(table) for name, table in stated["uses"].items()},
        gates={name: Gate.model_validate(_with_words(table)) for name, table in stated["gates"].items()},
        accepted_faults=tuple(AcceptedFault.model_validate({**one, "reason": UNTOLD}) for one in stated["accepted"]),
    )


def with_former(now: Gates, before: StatedGates) -> Gates:
    """The gates with those of before beside them, if they decide anything otherwise."""
    return now if stated(now) == before else replace(now, former=as_stated(before, now))


def gates_at(commit: BaseCommit, path: str, today: date) -> Gates | None:
    """The gates file of a commit; None where there was none, or today's Recuse cannot read it."""
    if (text := commit.text(path)) is None:
        return None
    with tempfile.TemporaryDirectory(prefix="recuse-base-") as folder:
        file = Path(folder) / Path(path).name
        file.write_text(text, encoding="utf-8")
        try:
            return Gates.load(file, today)
        except RecuseError:
            return None


def limit_changes(before: StatedGates, now: Gates, verdicts: Iterable[VerdictRow] = ()) -> list[LimitChangeRow]:
    """A row per change: {"gate", "where", "key", "before", "after", "change", "otherwise", "about", "consequence",
    "sentence"}, the last three in words.

    `change` is "widened", "narrowed", "added", "removed" or "changed"; `otherwise` lists what verdicts would be without
    any of the changes, [{"subject", "outcome", "now"}], as far as `verdicts` (records with `formerly`) say so.
    """
    old, new = before, stated(now)
    run_before, run_after = old.get("run") or {}, new["run"]
    rows = [_row("", key, run_before.get(key), run_after.get(key)) for key in _differing(run_before, run_after)]
    rows += [
        _row("", f"use {name}", old["uses"].get(name), new["uses"].get(name))
        for name in _differing(old["uses"], new["uses"])
    ]
    for name in dict.fromkeys([*old["gates"], *new["gates"]]):
        rows += _gate_rows(name, old["gates"].get(name), new["gates"].get(name))
    rows += _accepted_rows(old["accepted"], new["accepted"])
    known = [(v, former) for v in verdicts if (former := v.get("formerly")) and former != v["outcome"]]
    for row in rows:
        named = row.get("subject") or {}
        row["otherwise"] = [
            {"subject": dict(v["subject"]), "outcome": former, "now": v["outcome"]}
            for v, former in known
            if v["gate"] == row["gate"] and row["where"].items() <= v["subject"].items()
            and all(v["subject"].get(k) in ((one,) if isinstance(one, str) else one) for k, one in named.items())
        ]  # fmt: skip
        outcomes = dict.fromkeys(one["outcome"] for one in row["otherwise"])
        row["about"], row["consequence"] = _about(row), "; ".join(_consequence(outcome, row) for outcome in outcomes)
        ends = [str(end) for end in (row["before"], row["after"]) if end is not None]
        without = f"; without that {row['consequence']}" if row["consequence"] else ""
        row["sentence"] = f"{row['gate'] or THE_RUN} {row['about']}: {' -> '.join(ends)}{without}"
    return rows


# --------------------------------------------------------------------------- gates


def _gate_rows(name: str, before: StatedGate | None, after: StatedGate | None) -> list[LimitChangeRow]:
    """Its own limit and those for one task, panel or protocol, where the gate's own applies if there is none; then all
    else that it says."""
    if before is None or after is None:
        return [_row(name, "gate", before and _limit(before), after and _limit(after))]
    old, new = _limits_by_place(before), _limits_by_place(after)
    rows = []
    for where in dict.fromkeys([*old, *new]):
        was, now = old.get(where, before), new.get(where, after)
        if (where in old) != (where in new) or _limit_keys(was) != _limit_keys(now):
            ends = [
                _limit(one) + (", the gate's own" if where and one in (before, after) else "") for one in (was, now)
            ]
            rows.append(_row(name, "limit", *ends, where=dict(where), change=_direction(was, now)))
    other = [key for key in _differing(before, after) if key not in (*LIMIT, "on")]
    return rows + [_row(name, key, before.get(key), after.get(key)) for key in other]


def _limits_by_place(gate: StatedGate) -> dict[tuple[tuple[str, str], ...], StatedTable]:
    return {(): gate} | {_where(one): one for one in gate.get("on") or ()}


def _direction(before: StatedTable, after: StatedTable) -> str:
    """Whether everything that kept the old limit keeps the new one, or the other way round."""
    old, new = Limit.of(before), Limit.of(after)
    if bool(before.get("of_range")) != bool(after.get("of_range")):
        return "changed"
    if new.reaches_beyond(old):
        return "widened"
    return "narrowed" if old.reaches_beyond(new) else "changed"


# --------------------------------------------------------------------------- accepted failures


def _accepted_rows(before: Sequence[StatedAcceptance], after: Sequence[StatedAcceptance]) -> list[LimitChangeRow]:
    old, new = ({_described(one): one for one in side} for side in (before, after))
    rows = []
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        if was != now and (one := now or was):
            row = _row(one["gate"], "accepted failure", was and _accepting(was), now and _accepting(now))
            rows.append(row | {"subject": one["subject"]})
    return rows


def _accepting(one: StatedAcceptance) -> str:
    outcomes = one["accept"].get("outcome")
    limit = _limit(one["accept"]) if any(one["accept"].get(kind) is not None for kind in LIMIT[:3]) else ""
    phrases = [limit, f"outcome {' or '.join(outcomes)}" if outcomes else ""]
    return f"{', '.join(part for part in phrases if part)}, until {one['until']}"


def _described(one: StatedAcceptance) -> str:
    parts = (f"{k} = {v if isinstance(v, str) else ' | '.join(v)}" for k, v in sorted(one["subject"].items()))
    return f"{one['gate']} ({', '.join(parts)})"


# --------------------------------------------------------------------------- rows


def _row(
    gate: str, key: str, before: object, after: object, *, where: Mapping[str, str] | None = None, change: str = ""
) -> LimitChangeRow:
    if not change:
        change = "added" if before is None else "removed" if after is None else "changed"
    return {"gate": gate, "where": dict(where or {}), "key": key, "before": before, "after": after, "change": change}


def _about(row: LimitChangeRow) -> str:
    """ "limit (task = merchant_risk) widened"."""
    about = row["where"] or row.get("subject") or {}
    where = ", ".join(f"{k} = {v if isinstance(v, str) else ' | '.join(v)}" for k, v in sorted(about.items()))
    what = row["key"] if row["key"] != "gate" else ""
    return " ".join(part for part in (what, f"({where})" if where else "", row["change"]) if part)


VERBS = {"fail": "fails", "pass": "passes", "accepted": "needs an accepted failure"}


def _consequence(outcome: str, row: LimitChangeRow) -> str:
    """ "grok-4 fails", "a, b: fail"."""
    who = [o["subject"].get("judge", "the panel") for o in row["otherwise"] if o["outcome"] == outcome]
    names = list(dict.fromkeys(who))
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    verb = VERBS.get(outcome) or f"is {printed(outcome)}"
    return f"{', '.join(shown)} {verb}" if len(names) == 1 else f"{', '.join(shown)}: {printed(outcome)}"


# --------------------------------------------------------------------------- as builtins


def _stated(table: Gate | AcceptedFault | RunTable | UseTable) -> dict[str, Any]:
    kept: dict[str, Any] = table.model_dump(mode="json", exclude_defaults=True)
    stated = {key: value for key, value in kept.items() if key not in WORDS}
    if "on" in stated:
        stated["on"] = [{key: value for key, value in one.items() if key not in WORDS} for one in stated["on"]]
    return stated


def _with_words(table: StatedGate) -> StatedGate:
    words: StatedGate = {"reason": UNTOLD}
    if table.get("undecided") == "allow":
        words["because"] = UNTOLD
    if "on" in table:
        words["on"] = [{**one, "reason": UNTOLD} for one in table["on"]]
    return {**table, **words}


def _limit(table: StatedTable | AcceptedRow) -> str:
    return f"{Limit.of(table)} of the scale's range" if table.get("of_range") else str(Limit.of(table))


def _limit_keys(table: StatedTable) -> dict[str, object]:
    return {key: value for key in LIMIT if (value := table.get(key)) is not None}


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    return [key for key in dict.fromkeys([*before, *after]) if before.get(key) != after.get(key)]


def _where(one: WhereLimit) -> tuple[tuple[str, str], ...]:
    return tuple((name, one[name]) for name in ("task", "panel", "protocol") if one.get(name))
