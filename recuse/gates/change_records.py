"""What a run says of a change, as records that `decide` weighs: upgrades, differences to the baseline, its own faults.

An upgrade that is refused asks not to merge. A limit that is another one, a value that moved beyond its tolerance, and
a verdict or test that is gone ask a person, even where every judge passes: that is what widening a limit does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from recuse.gates.enumeration import counted, listed
from recuse.gates.records import Change
from recuse.schema.baseline_rows import Comparison, LimitChangeRow
from recuse.schema.results import ChangedRow, EndRow, InPlaceRow, Results, UpgradeVerdictRow
from recuse.schema.vocabulary import NOT_MEASURED, UNDECIDED, printed


def changes_of(results: Results) -> list[Change]:
    """Every change in assembled results, as results.json holds them before its decision."""
    labels = {v["gate"]: v.get("label") or v["gate"].replace("_", " ") for v in results["verdicts"]}
    baseline = results.get("baseline")
    compared = list(baseline.get("objections") or ()) if baseline else []
    return [
        *map(_upgrade, results["upgrades"]),
        *map(_in_place, results.get("in_place") or ()),
        *(_changed(row, baseline, labels) for row in results.get("changed") or ()),
        *_expired(results.get("ends") or ()),
        *_of_run([fault for fault in results["objections"] if fault not in compared]),
        *(_against_baseline(baseline, labels) if baseline else ()),
    ]


def _upgrade(upgrade: UpgradeVerdictRow) -> Change:
    old, new, outcome = upgrade["incumbent"], upgrade["candidate"], upgrade["outcome"]
    what = f"{old} -> {new}"
    if outcome == "fail":
        return Change("upgrade", what, "do not merge", f"{new} {upgrade['clause']}", _instead(upgrade))
    if outcome == NOT_MEASURED:
        return Change("upgrade", what, "do not merge", f"{new} cannot be compared with {old}", f"keep {old}", 1)
    if upgrade["verdict"] == "different":
        cause = f"{new} decides differently from {old}: it {upgrade['clause']}, and nobody knows who is right"
        return Change("upgrade", what, "decide", cause, _instead(upgrade), 1)
    if outcome == UNDECIDED:
        more = f"collect about {upgrade['more']} {upgrade['units']} more" if upgrade["more"] else ""
        return Change("upgrade", what, "decide", f"whether {new} may replace {old} is {printed(UNDECIDED)}", more, 1)
    why = f"it {upgrade['clause']}" if upgrade["verdict"] == "better" else "no difference larger than you allow"
    return Change("upgrade", what, "merge", f"{new} may replace {old}: {why}", f"remove {old} and write a new baseline")


def _in_place(change: InPlaceRow) -> Change:
    """A judge that is not what it was, under the same name."""
    words: Mapping[str, Literal["merge", "decide", "do not merge"]] = {
        "better": "merge", "equivalent": "merge", "decide": "decide", "worse": "do not merge",
    }  # fmt: skip
    step = next(iter(change["steps"]), "") or "declare it (replaces = ...) and record both"
    return Change("in place", f"{change['was']} -> {change['is']}", words[change["word"]], change["cause"], step)


def _changed(row: ChangedRow, baseline: Comparison | None, labels: Mapping[str, str]) -> Change:
    """ "people.csv is changed; with it gemini passes human offset": what a change brings, and who profits."""
    better = [
        one for one in (baseline["outcomes"] if baseline else ())
        if one["after"] == "pass" and row["place"].items() <= one["subject"].items()
    ]  # fmt: skip
    names = list(dict.fromkeys(one["subject"].get("judge", "the panel") for one in better))
    profit = ""
    word = row["word"]
    if names and row["kind"] == "yardstick" and (word == "decide" or row["place"]):
        word = "decide"
        profit = f"; with it {listed(names, 2)} {'pass' if names[1:] else 'passes'} {_label(better[0]['what'], labels)}"
    step = row.get("next") or ("" if word == "merge" else "read it, and merge it if it is meant")
    order = {"base": 9, "recording": 0}.get(row["kind"], 0 if profit else 2)
    return Change(row["kind"], row["what"], word, row["cause"] + profit, step, order, row.get("red", False))


def _instead(upgrade: UpgradeVerdictRow) -> str:
    """What to do about a candidate that is not accepted: all steps but the last, which is to accept it."""
    steps = [step for step in upgrade.get("steps") or () if not step.startswith("or accept")]
    return ", or ".join(steps) or f"keep {upgrade['incumbent']}"


def _expired(ends: Sequence[EndRow]) -> Iterator[Change]:
    """What was accepted until a day that has passed: nothing in the change caused it."""
    if over := [end for end in ends if end["days"] < 0]:
        what = f"{counted(len(over), 'accepted failure')} expired on {over[0]['until']}"
        again = "record what settles it, or accept it again with a later date and a reason that still holds"
        yield Change("expired", what, "decide", f"{what}; nothing in this change caused it", again)


def _of_run(faults: Sequence[str]) -> Iterator[Change]:
    for k, fault in enumerate(sorted(faults)):
        more = f" ({counted(len(faults) - 1, 'more fault')} of the run)" if faults[1:] and not k else ""
        yield Change("run", fault, "decide", fault.rstrip(".") + more, order=3)


def _against_baseline(baseline: Comparison, labels: Mapping[str, str]) -> Iterator[Change]:
    for row in baseline["limits"]:
        yield _limit(row, labels)
    for named in baseline["named"]:
        if named["beyond"]:
            about = f"{_label(named['what'], labels)} of {named['subject'].get('judge', 'the panel')}"
            yield Change("value", about, "decide", f"{about} changed beyond its limit or tolerance", order=2)
    lost = [entry["what"] for entry in baseline["vanished"] if entry["kind"] == "verdict"]
    gone = [*baseline["removed"], *(f"{_label(gate, labels)} is not decided any more" for gate in lost)]
    if gone:
        more = f", and {counted(len(gone) - 1, 'more thing')} of the baseline gone" if gone[1:] else ""
        yield Change("gone", str(gone[0]), "decide", f"{gone[0]}{more}", order=2)


def _limit(row: LimitChangeRow, labels: Mapping[str, str]) -> Change:
    """ "limit of own work widened; without that gemini-2.5-pro fails"."""
    what, label = row["key"], _label(row["gate"], labels) or "the run"
    about = f"{what} of {label}" if what != "gate" else f"gate {label}"
    worse = [one for one in row["otherwise"] if one["outcome"] != "pass"]
    fails = [one for one in worse if one["outcome"] == "fail"] or worse
    names = list(dict.fromkeys(str(one["subject"].get("judge", "the panel")) for one in fails))
    word: Literal["merge", "decide"] = "merge" if row["change"] == "narrowed" else "decide"
    would = f"; without that {listed(names, 2)} {_verb(fails[0]['outcome'], names)}" if names else ""
    return Change(
        "limit", about, word, f"{about} {row['change']}{would}",
        'restore it, or accept it: pytest evals/ --update-baseline --because "..."' if word == "decide" else "",
        int(not names or (row["key"], row["change"]) == ("accepted fault", "removed")),  # that loosens nothing
    )  # fmt: skip


def _verb(outcome: str, names: Sequence[str]) -> str:
    if outcome == "fail":
        return "fail" if names[1:] else "fails"
    if outcome == "accepted":
        return f"{'need' if names[1:] else 'needs'} an accepted fault"
    return f"{'are' if names[1:] else 'is'} {outcome}"


def _label(gate: str | None, labels: Mapping[str, str]) -> str:
    return labels.get(gate or "") or str(gate or "").replace("_", " ")
