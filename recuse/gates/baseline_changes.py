"""Results now against a baseline: changes larger than chance, limits that moved, what appeared and what vanished.

    comparison = compare(baseline_file.load(path), results, gates, path="reports/baseline.json")
    failures = objections(comparison)     # pytest --baseline: any of these fails the run

A change is *named* when the interval of the difference excludes 0, corrected by Holm over all that are tested (what was
replayed as it was is not), so that recording the same judges anew names nothing in at least 95 % of runs (`SHARES`).
The sharpest test that the baseline allows is used:

- *same texts*: one fixed text per target, the same ones, so that only the replies are new and the intervals over
  repeats decide. Where that holds at several levels of a factor, their mean is tested as well (`joined_levels`).
- *paired*: the same items, whose values both sides keep: Student's t of the differences per item.
- *independent*: the two standard errors added up, with Welch and Satterthwaite's degrees of freedom: exact over
  repeats, since the replies are new, and cautious over items where they are the same.
- *not tested*: an estimate without a sampling distribution (a matrix, a count), listed where its value differs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from scipy import special

from recuse.gates import baseline_file as kept
from recuse.gates.baseline_file import as_kept, identity
from recuse.gates.gate_set import Gates
from recuse.gates.gate_tables import Accept, AcceptedFault, Gate, LimitElsewhere
from recuse.gates.limits import LIMIT_KINDS, Limit
from recuse.schema import verdict_rows
from recuse.schema.factors import FACTORS
from recuse.schema.number_text import counted, figure, is_number
from recuse.schema.plain_values import grouped
from recuse.schema.results import Results
from recuse.schema.verdict_rows import Baseline, BaselineEntry, EntryRow, LimitChangeRow, NamedRow, VerdictRow
from recuse.schema.vocabulary import printed
from recuse.statistics.distributions import Student, welch_satterthwaite
from recuse.statistics.multiplicity import decision_levels
from recuse.statistics.paired import Paired

SHARES = {"verdict": 0.04, "measurement": 0.01}  # the chance that recording the same judges anew names any change
Tested = tuple[BaselineEntry, BaselineEntry, tuple[Student, str]]  # then, now, the difference, which test it is
NORMAL_DF = 1e6  # where a distribution has no degrees of freedom, it is normal, or taken for it
EXACT = ("n", "n_clusters", "n_excluded")  # counts, of which every difference is told
VERBS = {"fail": "fails", "pass": "passes", "accepted": "needs an accepted failure"}


def compare(
    baseline: Baseline, results: Results, gates: Gates, *, former: Gates | None = None,
    path: str = "reports/baseline.json", complete: bool = True,
) -> verdict_rows.Comparison:  # fmt: skip
    """What changed between a baseline and results, in the order of the subjects. `former`: the gates that these are
    compared with, if not the baseline's own; `complete=False`: nothing vanished; `path` is for the sentence."""
    before, after = kept.keyed(baseline["entries"]), kept.keyed(kept.reduce(results, gates)["entries"])
    shared = sorted(before.keys() & after.keys())
    pairs = [(before[key], after[key]) for key in shared]
    then, sources = baseline.get("sources") or {}, results.get("sources") or {}
    same = {place for place in then.keys() & sources.keys() if then[place].get("items") == sources[place].get("items")}
    named, tested = beyond_chance(pairs, same, gates)
    testable, changed = {identity(now) for _, now, _ in tested}, {identity(row) for row in named}

    def named_so(entry: EntryRow) -> bool:
        """By itself, or by all levels of its factors together."""
        together: EntryRow = {**row_of(entry), "subject": without_levels(entry["subject"])}
        return not changed.isdisjoint((identity(entry), identity(together)))

    comparison: verdict_rows.Comparison = {
        "path": path, "because": baseline.get("because"), "named": named, "tested": len(tested),
        "outcomes": [
            {**row_of(now), "before": was["outcome"], "after": now["outcome"], "named": named_so(now)}
            for was, now in pairs if was.get("outcome") != now.get("outcome")
        ],
        "limits": limit_changes(former or kept.as_stated(baseline["gates"], gates), gates, results["verdicts"]),
        "removed": kept.removed(baseline["asked"], kept.examined(results)) if complete else [],
        "sources": kept.changed_sources(then, sources),
        "moved": [row for key, pair in zip(shared, pairs, strict=True) for row in moved(*pair, key[:3] in testable)],
        "appeared": [_brief(after[key]) for key in sorted(after.keys() - before.keys())],
        "vanished": [_brief(before[key]) for key in sorted(before.keys() - after.keys())] if complete else [],
    }  # fmt: skip
    return {**comparison, "summary": _summary(comparison, len(shared), complete)}


def beyond_chance(
    pairs: Sequence[tuple[BaselineEntry, BaselineEntry]], same: set[str], gates: Gates, *, only_paired: bool = False
) -> tuple[list[NamedRow], list[Tested]]:
    """Changes between entries then and now that are named, and all that were tested; `same`: of equal items."""
    alone: list[Tested] = [(was, now, by) for was, now in pairs if (by := _change(was, now, same)) is not None]
    tested = [one for one in (*alone, *joined_levels(alone)) if not only_paired or one[2][1] == "paired"]
    rows: list[NamedRow] = []
    for kind, alpha in SHARES.items():
        alike = [one for one in tested if one[1]["kind"] == kind]
        levels = decision_levels([partial(_excludes_zero, change) for _, _, (change, _) in alike], 1 - alpha)
        for (was, now, (change, test)), level in zip(alike, levels, strict=True):
            if _excludes_zero(change, level):
                low, high = change.interval(level)
                rows.append({
                    **row_of(now),
                    "before": value_of(was), "after": value_of(now), "change": as_kept(change.value),
                    "low": as_kept(low), "high": as_kept(high), "level": level, "test": test,
                    "beyond": _beyond(was, now, change.value, gates),
                })  # fmt: skip
    return rows, tested


def objections(comparison: verdict_rows.Comparison) -> list[str]:
    """A sentence for everything that `--baseline` fails the run for."""
    changed = [f"{_name(row)}: {_moved_by(row)}, {row['beyond']}" for row in comparison["named"] if row["beyond"]]
    lost = [f"{_name(v)}: {printed(v['outcome'] or '')} in the baseline, not decided any more"
            for v in comparison["vanished"] if v["kind"] == "verdict"]  # fmt: skip
    limits = [str(row["sentence"]) for row in comparison["limits"] if row["change"] != "narrowed"]
    return [*changed, *limits, *comparison["removed"], *lost]


def _change(was: BaselineEntry, now: BaselineEntry, same: set[str]) -> tuple[Student, str] | None:
    """The distribution of now less then, and which test it is; None where baseline or estimate do not tell enough."""
    before, after = was["figures"], now["figures"]
    unknown = any(side.get("value") is None for side in (before, after))
    # of another thing: a slice that was looked for may be another one now
    if unknown or any(before.get(name) != after.get(name) for name in ("unit", "over", "slice")):
        return None
    change = value_of(now) - value_of(was)
    if change == 0:  # replayed as it was: no accident could have changed it, and it takes no part in the correction
        return None
    alone = []  # variances and degrees of freedom of the intervals for these texts alone
    for side in (before, after):
        (low, high), df = side.get("these_texts") or (None, None), side.get("these_texts_df")
        if low is not None and high is not None and df and high > low:
            alone.append((((high - low) / 2 / float(special.stdtrit(df, 0.975))) ** 2, df))
    if place_of(now) in same and len(alone) == 2:
        return Student(change, *welch_satterthwaite(*zip(*alone, strict=True))), "same texts"
    by_item = before.get("per_item") or {}, after.get("per_item") or {}
    items = sorted(by_item[0].keys() & by_item[1].keys())
    if len(items) > 1:
        differences = np.array([by_item[1][i] - by_item[0][i] for i in items])
        paired = Paired.of(differences)
        if not paired.distribution.undefined:
            return Student(paired.mean, paired.distribution.se, paired.distribution.df), "paired"
        if not differences.any():
            return None
    variances = [se**2 for side in (before, after) if (se := side.get("se")) is not None]
    if len(variances) < 2:
        return None
    se, df = welch_satterthwaite(variances, [side.get("df") or NORMAL_DF for side in (before, after)])
    return Student(change, se, df), "independent"


def _excludes_zero(distribution: Student, level: float) -> bool:
    low, high = distribution.interval(level)
    return low > 0 or high < 0


def _beyond(was: BaselineEntry, now: BaselineEntry, change: float, gates: Gates) -> str:
    """Why a named change is red: "more than the gate's tolerance of 0.2", "across the limit at most 0.5"; else ""."""
    if now["kind"] != "verdict":
        return ""
    tolerance = gates[now["what"]].tolerance if now["what"] in gates else None
    if tolerance is not None and abs(change) > tolerance:
        return f"more than the gate's tolerance of {tolerance:g}"
    limit = Limit.of(now["limit"])
    return f"across the limit, {limit}" if limit.holds(value_of(was)) != limit.holds(value_of(now)) else ""


def place_of(entry: EntryRow) -> str:
    """ "panel/task/protocol"."""
    return "/".join(str(entry["subject"].get(name, "")) for name in ("panel", "task", "protocol"))


def moved(was: BaselineEntry, now: BaselineEntry, tested: bool) -> list[verdict_rows.MovedRow]:
    """Counts that differ, and what no test speaks for: value and cells of a matrix; None where a side has none."""
    before, after = (
        {name: figures.get(name) for name in EXACT}
        | ({} if tested else {"value": figures.get("value")} | dict(figures.get("cells") or {}))
        for figures in (was["figures"], now["figures"])
    )
    if before == after:  # nearly always, and far cheaper to see
        return []
    from deepdiff import DeepDiff

    diff = DeepDiff(before, after, ignore_numeric_type_changes=True, threshold_to_diff_deeper=0).affected_root_keys
    each = [(field, before.get(field), after.get(field)) for field in dict.fromkeys([*before, *after]) if field in diff]
    return [
        {**row_of(now), "field": field, "before": a, "after": b,
         "delta": as_kept(b - a) if is_number(a) and is_number(b) else None}
        for field, a, b in each
        if not (is_number(a) and is_number(b) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12))  # but for rounding
    ]  # fmt: skip


def row_of(entry: EntryRow) -> EntryRow:
    """What an entry of the baseline is about: kind, what, subject."""
    return {"kind": entry["kind"], "what": entry["what"], "subject": entry["subject"]}


def value_of(entry: BaselineEntry) -> float:
    """The value of an entry that has one, as every tested one does."""
    value = entry["figures"]["value"]
    assert value is not None
    return value


# --------------------------------------------------------------------------- joined levels
# Whether names are shown or hidden, the scale upright or turned, each level has replies of its own. What a judge gives
# more on both is known better than on either: two levels with standard errors s each give their mean change
# one of s / sqrt(2). Each level is tested as well, since a change may be one of a level alone.


def joined_levels(tested: Sequence[Tested]) -> list[Tested]:
    """The mean change over the levels of what else is the same verdict, for every two or more of which only the replies
    are new ("same texts"): their errors are independent, since no reply belongs to two levels."""
    alike = (one for one in tested if one[1]["kind"] == "verdict" and one[2][1] == "same texts")
    at_levels = (one for one in alike if without_levels(one[1]["subject"]) != one[1]["subject"])
    groups = grouped(at_levels, lambda one: (one[1]["what"], *sorted(without_levels(one[1]["subject"]).items())))
    joined = []
    for group in (group for group in groups.values() if len(group) > 1):
        changes = [change for *_, (change, _) in group]
        variances = [change.se**2 / len(group) ** 2 for change in changes]
        se, df = welch_satterthwaite(variances, [change.df for change in changes])
        was, now = _mean_of([before for before, *_ in group]), _mean_of([after for _, after, _ in group])
        change = Student(value_of(now) - value_of(was), se, df)
        joined.append((was, now, (change, "same texts, all levels together")))
    return joined


def without_levels(subject: Mapping[str, str]) -> dict[str, str]:
    """The subject at whatever level of the known factors."""
    return {name: value for name, value in subject.items() if name not in FACTORS}


def _mean_of(entries: Sequence[BaselineEntry]) -> BaselineEntry:
    value = sum(value_of(entry) for entry in entries) / len(entries)
    return {**entries[0], "subject": without_levels(entries[0]["subject"]), "figures": {"value": value}}


def _brief(entry: BaselineEntry) -> verdict_rows.BriefRow:
    return {**row_of(entry), "outcome": entry.get("outcome"), "value": entry["figures"].get("value")}


def _moved_by(row: NamedRow) -> str:
    """ "+0.48 (+0.31 to +0.65) since the baseline, 0.12 -> 0.6"."""
    by, low, high = (figure(value, signed=True) for value in (row["change"], row["low"], row["high"]))
    return f"{by} ({low} to {high}) since the baseline, {figure(row['before'])} -> {figure(row['after'])}"


def _name(row: EntryRow) -> str:
    subject = ", ".join(f"{name} = {row['subject'][name]}" for name in sorted(row["subject"]))
    return f"{row['what']} ({subject})" if subject else str(row["what"])


def _summary(comparison: verdict_rows.Comparison, compared: int, complete: bool) -> str:
    path, named = comparison["path"], comparison["named"]
    parts = _first(str(row["sentence"]) for row in comparison["limits"])
    if named:
        most = max(named, key=lambda row: abs(row["change"]) / (row["high"] - row["low"]))
        parts.append(f"{counted(len(named), 'change')} beyond chance, the clearest in {_name(most)}: {_moved_by(most)}")
    if within := sum(not row["named"] for row in comparison["outcomes"]):
        parts.append(f"{counted(within, 'outcome')} changed with estimates that did not, beyond chance")
    parts += _first(comparison["removed"]) + _first(comparison["sources"])
    if moved := {identity(row) for row in comparison["moved"]}:
        parts.append(f"{counted(len(moved), 'result')} moved that cannot be tested")
    parts += [f"{counted(len(comparison[key]), 'result')} {key}" for key in ("appeared", "vanished") if comparison[key]]
    known = "" if complete else " Only part of the evals ran, so what vanished is not known."
    if not parts:
        return f"Nothing changed against {path} ({counted(compared, 'result')} compared).{known}"
    return f"Against {path}: {'; '.join(parts)}.{known}"


def _first(sentences: Iterable[str]) -> list[str]:
    known = list(sentences)
    return [*known[:2], *([f"{len(known) - 2} more such"] if known[2:] else [])]


# --------------------------------------------------------------------------- limits that moved
# What a gates file says otherwise than the baseline's, with what today's estimates would come to under those: a judge
# can be made to pass by changing what is asked of it, and no number moves. Reasons and labels may change freely.


def limit_changes(before: Gates, now: Gates, verdicts: Iterable[VerdictRow] = ()) -> list[LimitChangeRow]:
    """A row per change: "widened", "narrowed", "added", "removed" or "changed"; with what verdicts would be without any
    of them (`otherwise`), as far as `verdicts` (records with `formerly`) say so, and in words."""
    old, new = kept.stated(before), kept.stated(now)
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
        whose, ends = row["gate"] or "the run's", [str(end) for end in (row["before"], row["after"]) if end is not None]
        without = f"; without that {row['consequence']}" if row["consequence"] else ""
        row["sentence"] = f"{whose} {row['about']}: {' -> '.join(ends)}{without}"
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
            own = ", the gate's own" if where else ""
            ends = [_limit(one) + (own if one in (before, after) else "") for one in (was, now)]
            widened, narrowed = now.bound.reaches_beyond(was.bound), was.bound.reaches_beyond(now.bound)
            change = "widened" if widened else "narrowed" if narrowed else "changed"
            change = change if was.of_range == now.of_range else "changed"
            rows.append(_row(name, "limit", *ends, where=dict(where), change=change))
    other = _differing(kept.stated_table(before), kept.stated_table(after))
    return rows + [_row(name, key, *ends) for key, *ends in other if key not in (*LIMIT_KINDS, "of_range", "on")]


def _limit(table: Gate | LimitElsewhere | Accept) -> str:
    return f"{table.bound} of the scale's range" if table.of_range else str(table.bound)


def _accepted_rows(before: Gates, after: Gates) -> list[LimitChangeRow]:
    def accepting(one: AcceptedFault) -> str:
        limit = _limit(one.accept) if one.accept.limits else ""
        outcomes = f"outcome {' or '.join(one.accept.outcome)}" if one.accept.outcome else ""
        return ", ".join(filter(None, (limit, outcomes, f"until {one.until}")))

    old, new = ({kept.described(one): (kept.stated_table(one), accepting(one)) for one in side.accepted_faults}
                for side in (before, after))  # fmt: skip
    rows = []
    for name in [*sorted(old), *sorted(new.keys() - old.keys())]:
        (was, accepted), (now, accepts) = (side.get(name, (None, None)) for side in (old, new))
        if was != now and (one := now or was):
            rows.append(_row(one["gate"], "accepted failure", accepted, accepts) | {"subject": one["subject"]})
    return rows


def _row(
    gate: str, key: str, before: object, after: object, *, where: Mapping[str, str] | None = None, change: str = ""
) -> LimitChangeRow:
    if not change:
        change = "added" if before is None else "removed" if after is None else "changed"
    return {"gate": gate, "where": dict(where or {}), "key": key, "before": before, "after": after, "change": change}


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> list[tuple[str, object, object]]:
    every = [(key, before.get(key), after.get(key)) for key in dict.fromkeys([*before, *after])]
    return [(key, was, now) for key, was, now in every if was != now]
