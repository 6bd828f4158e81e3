"""May the pull request be merged? One word for everything a run concluded, a sentence of at most 15 words, and who is
cleared.

| what the run found | word |
|---|---|
| a verdict fails or could not be measured, an upgrade is refused, a fault of the run itself | do not merge |
| undecided without its gate's leave; against the baseline other limits, other accepted faults, a change beyond its | |
| gate's tolerance, a verdict or test that is gone; an accepted fault that is no longer needed | decide |
| none of these | merge |

The word is about the change, not about the judges: where nothing changed, a panel of which no judge is cleared, for
faults that are known and accepted, may be merged. A changed limit asks a person to decide even where every judge
passes: that is what widening a limit does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from recuse.gates.limits import Limit
from recuse.gates.standings import standings

__all__ = ["MOST_WORDS", "decide_merge"]

Word = Literal["merge", "do not merge", "decide"]
Record = Mapping[str, Any]
MOST_WORDS = 15
NAMED = 3
UNRANKED = 1000
PLACE = ("panel", "task", "protocol", "candidate", "incumbent")


def decide_merge(results: Record) -> dict[str, Any]:
    """`word`, `clause`, `sentence` (the word, a colon and the clause) and `panels` of assembled `results` (results.json
    before its headline); `panels` says who is cleared (`recuse.gates.standings`)."""
    results = _in_order(results)
    word, sentence = next(_said(results))
    clause = sentence.removeprefix(f"{word.capitalize()}: ")
    return {"word": word, "clause": clause, "sentence": sentence, "panels": standings(results)}


def _in_order(results: Record) -> Record:
    """Verdicts and upgrades arrive in the order in which tests ran; judges are told in that of the panel files."""
    places = {
        (p["name"], j["name"]): (k, i) for k, p in enumerate(results["panels"]) for i, j in enumerate(p["judges"])
    }

    def place(verdict: Record) -> tuple[Any, ...]:
        subject = verdict["subject"]
        where = (subject.get("panel", ""), subject.get("judge", ""))
        return (places.get(where, (len(places), 0)), where, verdict["gate"], sorted(subject.items()))

    return {
        **results,
        "verdicts": sorted(results["verdicts"], key=place),
        "upgrades": sorted(results["upgrades"], key=lambda u: [str(u.get(name)) for name in PLACE]),
        "recommendations": sorted(
            results["recommendations"],
            key=lambda r: (places.get((r["panel"], r["judge"]), (len(places), 0)), r["judge"]),
        ),
    }


def _said(results: Record) -> Iterator[tuple[Word, str]]:
    """The word with its sentence; the first counts."""
    red = [v for v in results["verdicts"] if v["outcome"] not in ("pass", "accepted") and not v["allowed"]]
    refused = [u for u in results["upgrades"] if u["outcome"] in ("fail", "not measured")]
    failed = [v for v in red if v["outcome"] in ("fail", "not measured") and not _unneeded(v)]
    changed = (results.get("baseline") or {}).get("objections") or []
    faults = [fault for fault in results["objections"] if fault not in changed]
    if refused and (refusal := _refused(refused)):
        yield "do not merge", refusal
    if failed:
        yield "do not merge", _failed(failed, len(red), results)
    if results["unmeasured"]:
        yield "do not merge", f"Do not merge: {_tests(len(results['unmeasured']))} could not be finished."
    if faults:
        yield "do not merge", f"Do not merge: {_counted(len(faults), 'fault')} of the run itself."
    if changed:
        yield "decide", _changed(results["baseline"], _labels(results))
    if refusal := _open_upgrade(results["upgrades"]):
        yield "decide", refusal
    if red:
        yield "decide", _open(red)
    if not results["verdicts"]:
        yield "decide", _nothing_gated(results)
    yield "merge", _merge(results)


# --------------------------------------------------------------------------- do not merge


def _refused(upgrades: Sequence[Record]) -> str:
    first = min(upgrades, key=lambda u: u["verdict"] != "worse")
    old, new = first["incumbent"], first["candidate"]
    if first["verdict"] != "worse":
        return f"Do not merge: {new} cannot be compared with {old}."
    more = len({u["candidate"] for u in upgrades}) - 1
    also = f"; {_counted(more, 'more upgrade')} refused" if more else ""
    return _fitting(
        f"Do not merge: {new} {first['clause']}; keep {old}{also}.",
        f"Do not merge: {new} {first['clause']}; keep {old}.",
        f"Do not merge: {new} changes too much; keep {old}.",
    )


def _failed(failed: Sequence[Record], red: int, results: Record) -> str:
    """The most telling failure in words, "grok-4 promotes itself; 3 more verdicts are red"; `red` counts them all."""
    measures = results["measures"]
    first = min(failed, key=lambda v: (v["outcome"] != "fail", _rank(v, measures)))
    same = [v for v in failed if (v["gate"], v["outcome"]) == (first["gate"], first["outcome"])]
    same = [v for v in same if _does(v, measures, many=False) == _does(first, measures, many=False)]
    names = _who(same)
    does = _does(first, measures, many=len(names) > 1)
    more = red - len(same)
    also = f"; {_counted(more, 'more verdict')} {'is' if more == 1 else 'are'} red" if more else ""
    misses = "miss" if len(names) > 1 else "misses"
    return _fitting(
        f"Do not merge: {_listed(names, 2)} {does}{also}.",
        f"Do not merge: {_listed(names, 1)} {does}{also}.",
        f"Do not merge: {_listed(names, 1)} {does}.",
        f"Do not merge: {_listed(names, 1)} {misses} a limit{also}.",
    )


def _does(verdict: Record, measures: Record, *, many: bool) -> str:
    """ "promotes itself": what a judge does whose value lies on this side of its limit."""
    if verdict["outcome"] == "not measured":
        return "could not be measured"
    about, value = measures.get(verdict["estimate"]["metric"]) or {}, verdict["estimate"]["value"]
    above, below = str(about.get("above") or ""), str(about.get("below") or "")
    forms = (above if value > Limit.of(verdict["limit"]).high else below) or above or below
    one, _, several = forms.partition("|")
    return (several if many else one) or f"{'miss' if many else 'misses'} the limit of {_label(verdict)}"


# --------------------------------------------------------------------------- decide


def _changed(baseline: Record, labels: Mapping[str, str]) -> str:
    """The first change that asks for a person: a loosened limit first."""
    limits = sorted(baseline["limits"], key=lambda row: (not row["otherwise"], row["change"] != "widened"))
    if limits:
        return _limit_changed(limits[0], len(baseline["objections"]) - 1, labels)
    if beyond := [row for row in baseline["named"] if row["beyond"]]:
        about = f"{_label_of(beyond[0], labels)} of {beyond[0]['subject'].get('judge', 'the panel')}"
        more = f"; {_counted(len(beyond) - 1, 'more')} did" if beyond[1:] else ""
        return _fitting(f"Decide: {about} changed beyond its limit or tolerance{more}.", "Decide: values changed.")
    return f"Decide: {_counted(len(baseline['objections']), 'test, judge or verdict')} of the baseline gone."


def _limit_changed(row: Record, others: int, labels: Mapping[str, str]) -> str:
    """ "Decide: limit of own work widened; without that gemini-2.5-pro fails."."""
    what, label = row["key"], _label_of({"what": row["gate"]}, labels) or "the run"
    about = f"{what} of {label}" if what != "gate" else f"gate {label}"
    worse = [o for o in row["otherwise"] if o["outcome"] != "pass"]
    fails = [o for o in worse if o["outcome"] == "fail"] or worse
    names = list(dict.fromkeys(str(o["subject"].get("judge", "the panel")) for o in fails))
    would = f"; without that {_listed(names, 2)} {_verb(fails[0]['outcome'], names)}" if names else ""
    also = f", {_counted(others, 'more change')}" if others else ""
    return _fitting(
        f"Decide: {about} {row['change']}{also}{would}.",
        f"Decide: {about} {row['change']}{would}.",
        f"Decide: {about} {row['change']}.",
        "Decide: limits changed.",
    )


def _verb(outcome: str, names: Sequence[str]) -> str:
    if outcome == "fail":
        return "fail" if names[1:] else "fails"
    if outcome == "accepted":
        return f"{'need' if names[1:] else 'needs'} an accepted fault"
    return f"{'are' if names[1:] else 'is'} {outcome}"


def _open_upgrade(upgrades: Sequence[Record]) -> str:
    """ "Decide: whether cat may replace eve is undecided; about 40 items more would decide."."""
    undecided = [u for u in upgrades if u["outcome"] == "undecided"]
    if not undecided:
        return ""
    first = undecided[0]
    start = f"Decide: whether {first['candidate']} may replace {first['incumbent']} is undecided"
    more = f"; about {first['more']} {first['units']} more would decide" if first["more"] else ""
    return _fitting(f"{start}{more}.", f"{start}.")


def _open(red: Sequence[Record]) -> str:
    unneeded = [v for v in red if _unneeded(v)]
    if unneeded:
        names = _who(unneeded)
        return f"Decide: an accepted fault of {_listed(names, 1)} is no longer needed; delete it."
    names = _who(red)
    of = f" ({_label(red[0])})" if len({v["gate"] for v in red}) == 1 else ""
    return _fitting(
        f"Decide: {_listed(names, 2)} {'stays' if len(names) == 1 else 'stay'} undecided{of}; too little data.",
        f"Decide: {_counted(len(red), 'verdict')} undecided; too little data.",
    )


def _nothing_gated(results: Record) -> str:
    measured = len(results["measurements"])
    if measured:
        return f"Decide: nothing was gated; {_counted(measured, 'number')} measured, no verdict."
    return "Decide: nothing was measured; no question was asked."


# --------------------------------------------------------------------------- merge


def _merge(results: Record) -> str:
    """An upgrade's own word, else who is cleared."""
    if upgrades := results["upgrades"]:
        first = upgrades[0]
        why = "it agrees with people better" if first["verdict"] == "better" else "no difference larger than you allow"
        start = f"Merge: {first['candidate']} may replace {first['incumbent']}"
        return _fitting(f"{start}; {why}.", f"{start}.")
    baseline = results.get("baseline")
    start = "Merge: nothing changed" if baseline and _unchanged(baseline) else "Merge: no gate objects"
    recommendations = results["recommendations"]
    cleared = [r["judge"] for r in recommendations if r["recommended"] == "cleared"]
    if not recommendations:
        return f"{start}."
    if not cleared:
        none = (
            "The judge is not cleared"
            if len(recommendations) == 1
            else f"None of {len(recommendations)} judges is cleared"
        )
        return f"{start}. {none}, and that is accepted."
    if len(cleared) == len(recommendations):
        every = "The judge is" if len(recommendations) == 1 else f"All {len(recommendations)} judges are"
        return f"{start}. {every} cleared."
    return _fitting(
        f"{start}. Cleared: {_listed(cleared, NAMED)}, of {len(recommendations)} judges.",
        f"{start}. Cleared: {len(cleared)}.",
    )


def _unchanged(baseline: Record) -> bool:
    kinds = ("named", "outcomes", "limits", "removed", "sources", "moved", "appeared", "vanished")
    return not any(baseline[name] for name in kinds)


# --------------------------------------------------------------------------- words


def _fitting(*sentences: str) -> str:
    """The first that keeps to the number of words; the last where none does."""
    return next((s for s in sentences if len(s.split()) <= MOST_WORDS), sentences[-1])


def _listed(names: Sequence[str], most: int) -> str:
    """ "a", "a and b", "a and 3 more"."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _who(verdicts: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(str(v["subject"].get("judge", "the panel")) for v in verdicts))


def _label(verdict: Record) -> str:
    return str(verdict.get("label") or verdict["gate"].replace("_", " "))


def _labels(results: Record) -> dict[str, str]:
    return {v["gate"]: _label(v) for v in results["verdicts"]}


def _label_of(row: Record, labels: Mapping[str, str]) -> str:
    return labels.get(row["what"]) or str(row["what"]).replace("_", " ")


def _rank(verdict: Record, measures: Record) -> int:
    return int((measures.get(verdict["estimate"]["metric"]) or {}).get("rank", UNRANKED))


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 or noun.endswith("more") else "s")


def _tests(n: int) -> str:
    return _counted(n, "test")


def _unneeded(verdict: Record) -> bool:
    return (verdict.get("accepted_fault") or {}).get("state") == "no longer needed"
