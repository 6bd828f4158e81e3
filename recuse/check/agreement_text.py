"""How a judge agrees with people, as `recuse check` prints it, and how many labels would tell it more exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from recuse.check.file_answers import FileAnswers
from recuse.gates.causes import rounded
from recuse.schema.details import PeopleDetail, SliceDetail, detail_as
from recuse.schema.factors import level_words
from recuse.schema.number_text import fixed, more, value_text, with_interval
from recuse.schema.verdict_rows import EstimateRow
from recuse.security.sanitize import shortened

AGREEMENT = "agreement_with_people"
SHOWN_JUDGES = 6
HALF_WIDTH = 0.05
IN_SENTENCES = frozenset(
    ["winning_rate", "advantage_over_person", "prediction_powered_mean", "delegable_share", "confusion"]
)
BEYOND_CHANCE = ("cohen_kappa", "concordance", "krippendorff_alpha")


def agreement(answers: FileAnswers) -> Iterator[str]:
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
            cells = (with_interval(e, minus="-") + _slice(e) if e else "" for e in found)
            yield f"  {answers.title(metric)[:44]:<46}" + "".join(f"{text:<24}  " for text in cells)
    for judge in judges:
        agreement = answers.measured("percent_agreement", judge)
        constant = detail_as(PeopleDetail, agreement["detail"]).get("constant") if agreement else None
        if constant and constant.get("agrees") is not None and answers.panel.read.kind == "scores":
            yield f'  always "{constant["answer"]}" would agree with people {fixed(constant["agrees"])} of the time'
            break
    for judge in judges:
        yield from (f"  {judge}: {sentence}" for sentence in _in_sentences(answers, judge))


def _in_sentences(answers: FileAnswers, judge: str) -> Iterator[str]:
    """Whom it may stand in for, what people would say of all texts, and what needs no person."""
    winning = answers.measured("winning_rate", judge)
    if winning and winning["value"] is not None:
        people = detail_as(PeopleDetail, winning["detail"])["people"]
        won = [entry["person"] for entry in people if entry["won"]]
        named = f" ({', '.join(won[:6])}{more(tuple(won), 6)})" if won else ""
        yield f"it may stand in for {len(won)} of {len(people)} people{named}, by the alternative annotator test"
    corrected = answers.measured("prediction_powered_mean", judge)
    alone = detail_as(PeopleDetail, corrected["detail"]).get("judge_alone") if corrected else None
    if corrected and corrected["value"] is not None and alone is not None:
        yield (
            f"its own mean is {fixed(alone, minus='-')}; people would give all texts "
            f"{with_interval(corrected, minus='-')}"
        )
    delegable = answers.measured("delegable_share", judge)
    if delegable and delegable["value"] is not None:
        bound = detail_as(PeopleDetail, delegable["detail"])["bound"]
        share = f"{value_text(delegable)} of the texts need no person" if delegable["value"] else delegable["note"]
        yield f"on its own, at {fixed(100 * (bound or 0), 0)} % errors: {share}"


def _slice(estimate: EstimateRow | None) -> str:
    """Which slice an estimate is about."""
    if estimate is None or estimate["value"] is None:
        return ""
    at = detail_as(SliceDetail, estimate["detail"]).get("slice")
    if not at:
        return ""
    return f", {'system' if at['column'] == 'target' else at['column']} {shortened(at['level'], 20)[0]}"


def labels_more(each: Sequence[FileAnswers]) -> Iterator[str]:
    """How many labels by people an interval of +- 0.05 takes, and how many of them are still to be given."""
    rows = [row for answers in each for judge in answers.panel.judges[:SHOWN_JUDGES] for row in _needed(answers, judge)]
    if rows:
        yield ""
        yield f"Labels for ± {HALF_WIDTH:g}"
        yield from rows


def _needed(answers: FileAnswers, judge: str) -> Iterator[str]:
    parts: list[tuple[str, int, int | None]] = []
    if (corrected := answers.measured("prediction_powered_mean", judge)) and corrected["value"] is not None:
        labels = detail_as(PeopleDetail, corrected["detail"])
        parts.append(("mean as people would rate", labels["labels"], labels["labels_needed"]))
    for coefficient in filter(None, (answers.measured(metric, judge) for metric in BEYOND_CHANCE)):
        low, high = coefficient["low"], coefficient["high"]
        if low is not None and high is not None:
            enough = ceil(coefficient["n"] * ((high - low) / 2 / HALF_WIDTH) ** 2)
            parts.append((answers.title(coefficient["metric"]), coefficient["n"], enough))
            break
    for title, have, needed in parts:
        if needed:
            yield f"  {(judge + of_criterion(answers))[:40]:<26}{title}: {_more_labels(have, needed)}"


def _more_labels(have: int, needed: int) -> str:
    if needed <= have:
        return f"enough, {needed:,} of {have:,}"
    return f"about {rounded(needed):,}; there are {have:,}, so {rounded(needed - have):,} more"


def metrics(answers: FileAnswers, question: str | None) -> list[str]:
    """Metrics with an estimate on a judge, in the order of their rank; of one question, or, on whatever it is, of all
    others."""
    records = [*answers.results["verdicts"], *answers.results["measurements"]]
    of = [r for r in records if (r["question"] == AGREEMENT) == (question == AGREEMENT)]
    names = {r["estimate"]["metric"]: None for r in of if question is None or "judge" in r["subject"]}
    measures = answers.results["measures"]
    return sorted(names, key=lambda name: (measures[name]["rank"] if name in measures else 1000, name))


def of_criterion(answers: FileAnswers) -> str:
    """What follows a judge's name where a file has several criteria, or a judge was asked in several ways."""
    return (f", {answers.criterion}" if answers.criterion else "") + _at(answers)


def _at(answers: FileAnswers) -> str:
    return "".join(f", {level_words(name, level)}" for name, level in answers.at.items())
