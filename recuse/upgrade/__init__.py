"""From two judges to one verdict: what an upgrade changes, measured, and decided by the gates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from recuse.gates import Gates, upgrade_verdict
from recuse.gates.decision import MEND_PEOPLE
from recuse.gates.limits import Limit
from recuse.gates.upgrade_verdict import UpgradeVerdict
from recuse.metrics.human_ceiling import human_ceiling
from recuse.metrics.measure import described
from recuse.metrics.upgrade import Upgrade, measure_upgrade
from recuse.ratings.answers import COMPARED
from recuse.ratings.people_faults import people_faults, sentences
from recuse.ratings.ratings_table import JUDGE, PERSON
from recuse.ratings.scale import Numeric
from recuse.schema import Verdict
from recuse.schema.number_text import brief, fixed, in_unit, listed
from recuse.schema.vocabulary import RIGHT_ANSWERS, UNDECIDED, in_place_of_people

SEVERITY = ("equivalent", "better", UNDECIDED, "different", "not comparable", "worse")  # the last of several counts


def judge_upgrade(gates: Gates, upgrade: Upgrade, subject: Mapping[str, str], *, share: float = 1.0) -> UpgradeVerdict:
    """The verdict on one upgrade; `subject` is what it is about (panel, task, protocol), `share` one over the number of
    places at which the candidate is asked.

    Where the judges do not have all texts in common: the candidate may replace the incumbent only if it may with every
    text of the incumbent that it lacks counted as unanswered; it is worse only if it is on the texts of both. What the
    candidate alone was asked under (a further temperature) has nothing to be compared with and is left out; what the
    incumbent alone was asked under must be named away, or a candidate could be asked only where it does well."""
    factors, also = _factors(upgrade), []
    rows = (ratings.table[ratings.table["rater"] == judge] for ratings, judge in upgrade.sides)
    old, new = (set(part[factors].drop_duplicates().itertuples(index=False, name=None)) for part in rows)
    missing, added = (sorted(old - new), sorted(new - old)) if old & new else ([], [])
    if missing:
        why = f"{upgrade.candidate} was not asked under {_named(factors, missing[0])}, as {upgrade.incumbent} was"
        step = f"name it after each judge, as in {upgrade.incumbent},{factors[0]}=LEVEL"
        reason = f"{why}; if what both were asked under is enough, {step}"
        return upgrade_verdict.not_comparable(upgrade.shown, (reason,), upgrade.change)
    if added:  # what judges of the candidate's line-up answered under these conditions is left out
        table, under = upgrade.after.table, "; ".join(_named(factors, levels) for levels in added)
        there = pd.MultiIndex.from_frame(table[factors]).isin(added) & table["kind"].eq(JUDGE)
        also = [f"{upgrade.candidate} was also asked under {under}: left out, since {upgrade.incumbent} was not"]
        upgrade = replace(upgrade, after=replace(upgrade.after, table=table[~there], _memory={}))
    if reasons := upgrade.not_comparable:
        return upgrade_verdict.not_comparable(upgrade.shown, reasons, upgrade.change)
    verdict = _decided_in_common(gates, upgrade, subject, share)
    also += filter(None, [upgrade.corrected])
    reasons = (*also, *_left_out(upgrade, verdict), *_level(verdict), *_below_people(upgrade))
    steps = tuple(_steps(verdict, gates.file, _repaired(gates, upgrade, subject, share, verdict)))
    decided = replace(verdict, reasons=reasons, steps=steps)
    faults = sentences(people_faults(upgrade.both))
    if verdict.word == "equivalent" and len(upgrade.both.persons) > 1:
        agree = [e.detail["people_agree"] for e in human_ceiling(upgrade.both).values() if "people_agree" in e.detail]
        if not all(agree):
            faults.append("your people hardly agree with each other, so they do not tell one judge from another")
    return upgrade_verdict.by_people_at_fault(decided, faults[0], MEND_PEOPLE) if faults else decided


def _factors(upgrade: Upgrade) -> list[str]:
    """What was varied for both judges, beside what measures compare themselves (the order of a pair)."""
    return [name for name in upgrade.before.factors if name in upgrade.after.factors and name not in COMPARED]


def _named(factors: Sequence[str], levels: Sequence[str]) -> str:
    return ", ".join(f"{name} {level}" for name, level in zip(factors, levels, strict=True))


def _decided_in_common(gates: Gates, upgrade: Upgrade, subject: Mapping[str, str], share: float) -> UpgradeVerdict:
    _, missing, added = upgrade.overlap
    whole = upgrade.missing_as_unanswered() if missing or added else upgrade
    verdict = _decided(gates, whole, subject, share)
    if missing and verdict.outcome != "pass":
        return upgrade_verdict.without_answers(_decided(gates, upgrade.on_common_texts(), subject, share), len(missing))
    return verdict


def _left_out(upgrade: Upgrade, verdict: UpgradeVerdict) -> Iterator[str]:
    (common, missing, added), old, new = upgrade.overlap, verdict.incumbent, verdict.candidate
    if missing:
        counted = "counted as unanswered, which is no more than you allow"
        became = {
            "worse": f"left out; {new} is worse on the {len(common)} texts of both",
            "different": f"left out; {new} decides differently on the {len(common)} texts of both",
            "better": counted, "equivalent": counted,
        }.get(verdict.word, f"more than you allow if they count as unanswered. Ask {new} of them; if it was never "
              f"meant to answer them, take them out of the rows of {old}")  # fmt: skip
        texts, first = len(common | missing), min(missing)[0]
        yield f"{new} has no answer to {len(missing)} of {texts} texts of {old}, first {first}: {became}"
    if added:
        of = f"{len(added)} of {len(common | added)} texts of {new}"
        yield f"{of} are left out: {old} has no answers to compare them with"


def _level(verdict: UpgradeVerdict) -> Iterator[str]:
    """Where the candidate's level moves, though that is no fault: thresholds move with it; a pass or fail has none."""
    for row in verdict.rows:
        moved, limit = row.estimate.detail.get("shift"), Limit.of(row.limit)
        if row.gate != "upgrade_human_offset" or row.outcome == "fail" or moved is None or abs(moved) <= limit.high:
            continue
        before, after = row.estimate.detail["incumbent"], row.estimate.detail["candidate"]
        share, where, whom = row.estimate.unit == "share", "", in_place_of_people("your people", row.estimate.detail)
        by, was, is_ = (in_unit(abs(x), "share") if share else brief(abs(x)) for x in (moved, before, after))
        if before * after < 0:
            side, other = ("below", "above") if after > 0 else ("above", "below")
            where = f", from {was} {side} {whom} to {is_} {other} {'these' if whom == RIGHT_ANSWERS else 'them'}"
        elif row.estimate.high < 0 or row.estimate.low > 0:  # surely nearer, or further
            where = f", {'towards' if row.estimate.high < 0 else 'away from'} {whom}"
        where += "" if share else f"; move thresholds by {brief(moved, signed=True)}"
        yield f"{verdict.candidate} scores {by} {'higher' if moved > 0 else 'lower'} than {verdict.incumbent}{where}"


def _below_people(upgrade: Upgrade) -> Iterator[str]:
    """That the candidate agrees with people less than they do with each other is nothing that an upgrade changes."""
    ratings, (old, new) = upgrade.both, upgrade.shown
    persons = ratings.table[ratings.table["kind"] == PERSON]
    if not len(persons) or not (persons.groupby(["item", "target"], observed=True)["rater"].nunique() > 1).any():
        return
    measured = human_ceiling(ratings)
    below = [(key[1:], e) for key, e in measured.items() if key[0] == new and e.high < 0]
    if below:
        where, worst = min(below, key=lambda one: one[1].value)
        today = dict(measured.items()).get((old, *where))
        also = f", {old} by {fixed(-today.value)}" if today is not None and today.value < 0 else ""
        yield f"{new} agrees with your people by {fixed(-worst.value)} less than they agree with each other{also}"


def _steps(verdict: UpgradeVerdict, file: str, repaired: str) -> Iterator[str]:
    """From what costs least to what costs most: keep, repair, collect, accept."""
    if verdict.outcome == "pass":
        return
    yield f"keep {verdict.incumbent}"
    if repaired:
        yield repaired
    if verdict.word == "different":
        yield "let two people rate these texts, which says who is right"
    elif verdict.more:
        yield f"collect about {verdict.more:,} {verdict.units} more"
    if any(row.gate == "upgrade_position" and not row.estimate.defined for row in verdict.rows if not row):
        yield "ask both of every pair in both orders, a row each: with one, bias for a place is not told from a choice"
    refusing = [*dict.fromkeys(row.gate for row in verdict.rows if row.outcome == "fail" and not row)]
    if refusing and verdict.word != UNDECIDED:
        yield f"or accept it, with a reason and a date: [[accepted]] of {listed(refusing)} in {file}"


def _repaired(gates: Gates, upgrade: Upgrade, subject: Mapping[str, str], share: float, verdict: UpgradeVerdict) -> str:
    """ "move thresholds by -1.5: ..." where the same gates pass the candidate once its scores are moved back."""
    levels = {"upgrade_shift", "upgrade_human_offset"}
    if not any(row.gate in levels and row.outcome == "fail" for row in verdict.rows):
        return ""
    scales = [upgrade.after.scales[name] for name in upgrade.after.headline]
    numeric = all(isinstance(scale, Numeric) and not scale.reversed for scale in scales)
    if not numeric or "direction" in upgrade.after.factors:
        return ""
    both = upgrade.both  # by how much the candidate's mean differs on the texts of both, by criterion, with two digits
    keys = ["criterion", "item", "target", *_factors(upgrade)]
    means = both.table.groupby([*keys, "rater"], observed=True)["score"].mean().unstack()
    apart = (means[upgrade.shown[1]] - means[upgrade.shown[0]]).dropna().rename("by").reset_index()
    times = apart["item"].astype(str).map(both.times) if both.times else 1
    sums = apart.assign(by=apart["by"] * times, times=times).groupby("criterion", observed=True)[["by", "times"]].sum()
    sums = sums.reindex(both.table["criterion"].unique())  # NaN where no text has an answer of both
    moved = {str(name): float(f"{by / n:.2g}") if n > 0 else 0.0 for name, by, n in sums.itertuples()}
    table = upgrade.after.table.copy()
    for name, by in moved.items():
        its_rows = (table["rater"] == upgrade.candidate) & (table["criterion"] == name)
        table.loc[its_rows, "score"] = (table.loc[its_rows, "score"] - by).clip(*upgrade.after.scales[name].ends)
    again = replace(upgrade, after=replace(upgrade.after, table=table, _memory={}))
    if _decided_in_common(gates, again, subject, share).outcome != "pass":
        return ""
    several = len(upgrade.after.headline) > 1
    steps = [f"{moved[name]:+g}{f' ({name})' if several else ''}" for name in upgrade.after.headline]
    new = upgrade.shown[1]
    return f"move thresholds by {', '.join(steps)}: with its scores moved back by as much, {new} keeps every limit"


def _decided(gates: Gates, upgrade: Upgrade, subject: Mapping[str, str], share: float) -> UpgradeVerdict:
    def phrase(verdict: Verdict) -> str:
        about, limit = described(verdict.estimate.metric), Limit.of(verdict.limit)
        words = about["above"] if verdict.estimate.value > limit.high else about["below"]
        return in_place_of_people((words or about["below"] or about["above"]).split("|")[0], verdict.estimate.detail)

    return upgrade_verdict.decide_upgrade(
        gates, measure_upgrade(upgrade), subject, names=upgrade.shown, phrase=phrase, change=upgrade.change, share=share
    )


def worst_of(verdicts: Iterable[UpgradeVerdict]) -> UpgradeVerdict:
    """The verdict that counts where a candidate was held against the judge in use at several places."""
    return max(verdicts, key=lambda verdict: (SEVERITY.index(verdict.word), not verdict.accepted))
