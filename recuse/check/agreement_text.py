"""How a judge agrees with people, as `recuse check` prints it, and how many labels would tell it more exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from recuse.check.answers import Answers
from recuse.check.figures import cell, interval, more, number
from recuse.gates.causes import rounded
from recuse.ratings.factors import level_words
from recuse.security.sanitize import shortened

__all__ = ["AGREEMENT", "SHOWN_JUDGES", "agreement", "labels_more", "metrics", "of_criterion"]

AGREEMENT = "agreement_with_people"
SHOWN_JUDGES = 6
HALF_WIDTH = 0.05
IN_SENTENCES = frozenset(
    ["winning_rate", "advantage_over_person", "prediction_powered_mean", "delegable_share", "confusion"]
)
BEYOND_CHANCE = ("cohen_kappa", "concordance", "krippendorff_alpha")


def agreement(answers: Answers) -> Iterator[str]:
    """A row per measure of agreement, a column per judge."""
    judges = answers.panel.judges[:SHOWN_JUDGES]
    chosen = [metric for metric in metrics(answers, AGREEMENT) if metric not in IN_SENTENCES]
    if not chosen:
        return
    yield ""
    title = f"Agreement with people{f' on {answers.criterion}' if answers.criterion else ''}{_at(answers)}"
    yield f"{title[:46]:<48}" + "".join(f"{j[:24]:<26}" for j in judges)
    for metric in chosen:
        found = [answers.measured(metric, judge) for judge in judges]
        if any(estimate and estimate["value"] is not None for estimate in found):
            title = answers.results["measures"].get(metric, {}).get("title", metric)
            yield f"  {title[:44]:<46}" + "".join(f"{cell(estimate) + _slice(estimate):<26}" for estimate in found)
    for judge in judges:
        agreement = answers.measured("percent_agreement", judge)
        constant = (agreement or {}).get("detail", {}).get("constant")
        if constant and constant.get("agrees") is not None and answers.panel.read.kind == "scores":
            yield f'  always "{constant["answer"]}" would agree with people {constant["agrees"]:.2f} of the time'
            break
    for judge in judges:
        yield from (f"  {judge}: {sentence}" for sentence in _in_sentences(answers, judge))


def _in_sentences(answers: Answers, judge: str) -> Iterator[str]:
    """Whom it may stand in for, what people would say of all texts, and what needs no person."""
    winning = answers.measured("winning_rate", judge)
    if winning and winning["value"] is not None:
        people = winning["detail"]["people"]
        won = [entry["person"] for entry in people if entry["won"]]
        named = f" ({', '.join(won[:6])}{more(tuple(won), 6)})" if won else ""
        yield f"it may stand in for {len(won)} of {len(people)} people{named}, by the alternative annotator test"
    winning = answers.measured("prediction_powered_mean", judge)
    if winning and winning["value"] is not None and winning["detail"].get("judge_alone") is not None:
        yield (
            f"its own mean is {number(winning['detail']['judge_alone'])}; people would give all texts "
            f"{number(winning['value'])} ({interval(winning)})"
        )
    winning = answers.measured("delegable_share", judge)
    if winning and winning["value"] is not None:
        bound = winning["detail"]["bound"]
        share = f"{winning['value']:.0%} of the texts need no person" if winning["value"] else winning["note"]
        yield f"on its own, at {bound:.0%} errors: {share}"


def _slice(estimate: Mapping[str, Any] | None) -> str:
    """Which slice an estimate is about."""
    at = ((estimate or {}).get("detail") or {}).get("slice")
    if not at or estimate is None or estimate["value"] is None:
        return ""
    return f", {'system' if at['column'] == 'target' else at['column']} {shortened(at['level'], 20)[0]}"


def labels_more(each: Sequence[Answers]) -> Iterator[str]:
    """How many labels by people an interval of +- 0.05 takes, and how many of them are still to be given."""
    rows = [row for answers in each for judge in answers.panel.judges[:SHOWN_JUDGES] for row in _needed(answers, judge)]
    if rows:
        yield ""
        yield f"Labels for ± {HALF_WIDTH:g}"
        yield from rows


def _needed(answers: Answers, judge: str) -> Iterator[str]:
    parts = []
    if (corrected := answers.measured("prediction_powered_mean", judge)) and corrected["value"] is not None:
        parts.append(("mean as people would rate", corrected["detail"]["labels"], corrected["detail"]["labels_needed"]))
    if coefficient := next(filter(_has_interval, (answers.measured(m, judge) for m in BEYOND_CHANCE)), None):
        half = (coefficient["high"] - coefficient["low"]) / 2
        needed = ceil(coefficient["n"] * (half / HALF_WIDTH) ** 2)
        title = answers.results["measures"].get(coefficient["metric"], {}).get("title", coefficient["metric"])
        parts.append((title, coefficient["n"], needed))
    for title, have, needed in parts:
        if needed:
            yield f"  {(judge + of_criterion(answers))[:40]:<26}{title}: {_more_labels(have, needed)}"


def _has_interval(estimate: Mapping[str, Any] | None) -> bool:
    return estimate is not None and estimate["low"] is not None and estimate["high"] is not None


def _more_labels(have: int, needed: int) -> str:
    if needed <= have:
        return f"enough, {needed:,} of {have:,}"
    return f"about {rounded(needed):,}; there are {have:,}, so {rounded(needed - have):,} more"


def metrics(answers: Answers, question: str | None) -> list[str]:
    """Metrics with an estimate on a judge, in the order of their rank; of one question, or of all others."""
    records = [*answers.results["verdicts"], *answers.results["measurements"]]
    names = {r["estimate"]["metric"]: None for r in records
             if (r["question"] == AGREEMENT) == (question == AGREEMENT) and "judge" in r["subject"]}  # fmt: skip
    rank = {name: answers.results["measures"].get(name, {}).get("rank", 1000) for name in names}
    return sorted(names, key=lambda name: (rank[name], name))


def of_criterion(answers: Answers) -> str:
    """What follows a judge's name where a file has several criteria, or a judge was asked in several ways."""
    return (f", {answers.criterion}" if answers.criterion else "") + _at(answers)


def _at(answers: Answers) -> str:
    return "".join(f", {level_words(name, level)}" for name, level in answers.at.items())
