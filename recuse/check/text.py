"""What `recuse check` prints: the verdict, what was read as what, agreement with people, the rest, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from shlex import quote
from typing import TYPE_CHECKING, Any

from recuse.check.answers import Answers
from recuse.check.conclusion import Conclusion, rounded
from recuse.check.underspecified import PassRateRange
from recuse.check.unlocks import NOT_OF_A_FILE, unlock_by_column
from recuse.ratings.factors import level_words
from recuse.sanitize import shortened, visible

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["told"]

WIDTH = 14
AGREEMENT = "agreement_with_people"
SHOWN_JUDGES, SHOWN_ROWS, SHOWN_RANGES = 6, 24, 4
HALF_WIDTH = 0.05
PLAIN = frozenset(["judge", "target", "person", "peer", "criterion", "pair", "by"])
"""Names of a subject whose value needs no further word; of others, factors, the level is told with its factor."""
IN_SENTENCES = frozenset(
    ["winning_rate", "advantage_over_person", "prediction_powered_mean", "delegable_share", "confusion"]
)
BEYOND_CHANCE = ("cohen_kappa", "concordance", "krippendorff_alpha")


def told(
    answers: Answers, conclusion: Conclusion, ranges: Sequence[PassRateRange], *, file: str, disagreements: int | None
) -> str:
    """The whole text; lines are not wrapped. `file` as it was typed, quoted, so that hints can be pasted."""
    parts = [
        conclusion.sentences(), list(_why(answers)), ["", *_read(answers, file)], list(_agreement(answers)),
        list(_labels_more(answers)), list(_underspecified(ranges)), list(_others(answers)), list(_not_asked(answers)),
        list(_worth_reading(disagreements, file)),
    ]  # fmt: skip
    return "\n".join(visible(line) for part in parts for line in part)


def _why(answers: Answers) -> Iterator[str]:
    """The numbers behind the first sentence, where there are any."""
    for judge in answers.panel.judges[:SHOWN_JUDGES]:
        ceiling = answers.measured("human_ceiling", judge)
        if ceiling and ceiling["value"] is not None:
            detail = ceiling["detail"]
            margin = detail.get("margin")
            yield (
                f"  {judge}: agreement beyond chance with people {_number(detail.get('judge_human'))}, among people "
                f"{_number(detail.get('human_human'))}; difference {_signed(ceiling['value'])} ({_interval(ceiling)})"
                + (f", margin -{margin:.2f}" if margin is not None else "")
            )
            if detail.get("power") is not None:
                yield (
                    f"  with these {ceiling['n']} texts, a judge that is one more person would be cleared "
                    f"{100 * detail['power']:.0f} times in 100"
                )


# --------------------------------------------------------------------------- what was read


def _read(answers: Answers, file: str) -> Iterator[str]:
    read = answers.panel.read
    mapping, frame = read.mapping, read.raw.frame
    yield f"What was read: {len(frame)} rows, {len(read.ratings.table)} judgements"
    for role, column in _roles(mapping):
        yield f"  {role:<{WIDTH}}{column:<20} {_holds(frame, column)}"
    for kind, names in (("people", read.ratings.persons), ("judges", read.ratings.judges)):
        if names:
            yield f"  {kind:<{WIDTH}}{', '.join(names[:12])}{_more(names, 12)}"
            yield from (f"  {'':<{WIDTH}}{line}" for line in _usable(read.ratings.table, names))
    for name, why in mapping.ignored.items():
        yield f"  {'ignored':<{WIDTH}}{name:<20} {why}"
    for note in read.notes:
        yield f"  {'note':<{WIDTH}}{note}"
    for fault in read.faults:
        yield f"  {'fault':<{WIDTH}}{fault.sentence()}"
    people = quote(",".join(read.ratings.persons[:4])) if read.ratings.persons else "A,B"
    judges = quote(",".join(read.ratings.judges[:4]))
    yield f"  Not right? recuse check {file} --people {people} --judge {judges}   (--save keeps it)"


def _roles(mapping: Any) -> Iterator[tuple[str, str]]:
    called = {"target": "system", "gold": "right answer", "cluster": "topic"}
    for column in mapping.item:
        yield "item", column
    for role in ("target", "first", "second", "criterion", "cluster", "text", "rater", "kind", "repeat", "gold",
                 "author",                  "reason", "order"):  # fmt: skip
        if column := getattr(mapping, role):
            yield called.get(role, role), column
    for column in mapping.value:
        yield "rating", column
    if mapping.repeats:
        yield "repeats", ", ".join(mapping.repeats)
    for column in mapping.factors:
        yield "varied", column
    for column in mapping.slices:
        yield "slice", column


def _holds(frame: pd.DataFrame, column: str) -> str:
    if column not in frame:
        return ""
    counts = frame[column].value_counts()
    if len(counts) <= 4:
        return ", ".join(f"{shortened(str(name), 24)[0] or '(empty)'} ({n})" for name, n in counts.items())
    return f"{len(counts)} different"


def _usable(table: pd.DataFrame, names: tuple[str, ...]) -> Iterator[str]:
    """How many judgements each rater gave where some cannot be used, and on what people said of these."""
    for name in names[:12]:
        mine = table[table["rater"] == name]
        lost = mine[mine["status"] != "ok"]
        if lost.empty:
            continue
        by = ", ".join(f"{n} {status}" for status, n in lost["status"].value_counts().items())
        people = table[(table["kind"] == "person") & (table["status"] == "ok")]
        keys = ["item", "target", "criterion"]
        on = people.merge(lost[keys].drop_duplicates(), on=keys)["response"].value_counts()
        where = f"; there people say {', '.join(f'{o} ({n})' for o, n in on.items())}" if 0 < len(on) <= 4 else ""
        yield f"{name}: {len(mine) - len(lost)} of {len(mine)} usable ({by}{where})"


# --------------------------------------------------------------------------- answers


def _agreement(answers: Answers) -> Iterator[str]:
    """A row per measure of agreement, a column per judge."""
    judges = answers.panel.judges[:SHOWN_JUDGES]
    metrics = [metric for metric in _metrics(answers, AGREEMENT) if metric not in IN_SENTENCES]
    if not metrics:
        return
    yield ""
    yield f"{'Agreement with people':<48}" + "".join(f"{j[:24]:<26}" for j in judges)
    for metric in metrics:
        cells = [answers.measured(metric, judge) for judge in judges]
        if any(cell and cell["value"] is not None for cell in cells):
            title = answers.results["measures"].get(metric, {}).get("title", metric)
            yield f"  {title[:44]:<46}" + "".join(f"{_cell(cell) + _slice(cell):<26}" for cell in cells)
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
        named = f" ({', '.join(won[:6])}{_more(tuple(won), 6)})" if won else ""
        yield f"it may stand in for {len(won)} of {len(people)} people{named}, by the alternative annotator test"
    winning = answers.measured("prediction_powered_mean", judge)
    if winning and winning["value"] is not None and winning["detail"].get("judge_alone") is not None:
        yield (
            f"its own mean is {_number(winning['detail']['judge_alone'])}; people would give all texts "
            f"{_number(winning['value'])} ({_interval(winning)})"
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


def _labels_more(answers: Answers) -> Iterator[str]:
    """How many labels by people an interval of +- 0.05 takes, and how many of them are still to be given."""
    rows = []
    for judge in answers.panel.judges[:SHOWN_JUDGES]:
        parts = []
        if (corrected := answers.measured("prediction_powered_mean", judge)) and corrected["value"] is not None:
            parts.append(
                ("mean as people would rate", corrected["detail"]["labels"], corrected["detail"]["labels_needed"])
            )
        if coefficient := next(filter(_has_interval, (answers.measured(m, judge) for m in BEYOND_CHANCE)), None):
            half = (coefficient["high"] - coefficient["low"]) / 2
            needed = ceil(coefficient["n"] * (half / HALF_WIDTH) ** 2)
            title = answers.results["measures"].get(coefficient["metric"], {}).get("title", coefficient["metric"])
            parts.append((title, coefficient["n"], needed))
        rows += [f"  {judge[:24]:<26}{title}: {_more_labels(have, needed)}" for title, have, needed in parts if needed]
    if rows:
        yield ""
        yield f"Labels for ± {HALF_WIDTH:g}"
        yield from rows


def _has_interval(estimate: Mapping[str, Any] | None) -> bool:
    return estimate is not None and estimate["low"] is not None and estimate["high"] is not None


def _more_labels(have: int, needed: int) -> str:
    if needed <= have:
        return f"enough, {needed:,} of {have:,}"
    return f"about {rounded(needed):,}; there are {have:,}, so {rounded(needed - have):,} more"


def _underspecified(ranges: Sequence[PassRateRange]) -> Iterator[str]:
    """How far the pass rate could move where two answers may be right at once."""
    if ranges:
        yield ""
        yield "Is one answer always right?"
    for pass_rates in ranges[:SHOWN_RANGES]:
        yield f"  {'' if pass_rates.criterion == 'rating' else f'{pass_rates.criterion}: '}{pass_rates.sentence()}."
    if ranges:
        yield "  Ask for every reasonable answer (a column response_set), or add an option for what may be either."


def _metrics(answers: Answers, question: str | None) -> list[str]:
    """Metrics with an estimate on a judge, in the order of their rank; of one question, or of all others."""
    records = [*answers.results["verdicts"], *answers.results["measurements"]]
    names = {r["estimate"]["metric"]: None for r in records
             if (r["question"] == AGREEMENT) == (question == AGREEMENT) and "judge" in r["subject"]}  # fmt: skip
    rank = {name: answers.results["measures"].get(name, {}).get("rank", 1000) for name in names}
    return sorted(names, key=lambda name: (rank[name], name))


def _others(answers: Answers) -> Iterator[str]:
    """Verdicts of the other questions, one line each; what is only measured is counted."""
    rows = [v for v in answers.results["verdicts"] if v["question"] != AGREEMENT]
    if rows:
        yield ""
        yield "Also asked"
    for verdict in rows:
        about = answers.results["measures"].get(verdict["estimate"]["metric"], {})
        where = _where(verdict["subject"])
        yield (
            f"  {verdict['outcome']:<13}{where:<24} {about.get('title', verdict['gate'])}: {_cell(verdict['estimate'])}"
            f", limit {verdict['rule']['limit_text']}"
        )
    decided = {v["estimate"]["metric"] for v in rows}
    for metric in _metrics(answers, None):
        if metric not in decided:
            yield from _measured(answers, metric)
    for row in answers.results["unmeasured"]:
        yield f"  {'not measured':<13}{row['test'].rpartition('::')[2].removeprefix('test_'):<24} {row['why']}"


def _measured(answers: Answers, metric: str) -> Iterator[str]:
    """What no gate decides, under every condition that it was measured under."""
    title = answers.results["measures"].get(metric, {}).get("title", metric)
    records = [
        record
        for record in answers.results["measurements"]
        if record["estimate"]["metric"] == metric and record["estimate"]["value"] is not None
        and "judge" in record["subject"]
    ]  # fmt: skip
    for record in records[:SHOWN_ROWS]:
        yield f"  {'measured':<13}{_where(record['subject']):<24} {title}: {_cell(record['estimate'])}"
    if len(records) > SHOWN_ROWS:
        yield f"  {'':<13}and {len(records) - SHOWN_ROWS} more of {title}; --json writes all"


def _where(subject: Mapping[str, str]) -> str:
    return ", ".join(
        value if name in PLAIN else level_words(name, value)
        for name, value in subject.items()
        if name not in ("panel", "task", "protocol")
    )


def _not_asked(answers: Answers) -> Iterator[str]:
    """What the file cannot answer, and the column that would unlock it; once per question, the nearest unlock first."""
    rows: dict[str, list[str]] = {}
    asked = {record["title"] for record in (*answers.results["verdicts"], *answers.results["measurements"])}
    far = 0
    for row in answers.results["not_asked"]:
        if set(row["missing"]) & NOT_OF_A_FILE:
            far += 1
        elif row["title"] in asked and {"scores", "choices"} & set(row["missing"]):
            continue  # the other half of a question that was asked
        elif row["title"] not in rows or len(row["missing"]) < len(rows[row["title"]]):
            rows[row["title"]] = row["missing"]
    if rows or far:
        yield ""
        yield "Not asked"
    for title, missing in rows.items():
        yield f"  {title}"
        yield f"      needs {'; and '.join(dict.fromkeys(unlock_by_column(need) for need in missing))}"
    if far:
        yield f"  {far} more ask judges in a way of their own (injected text, padded twins, ...): recuse init shows how"


def _worth_reading(count: int | None, file: str) -> Iterator[str]:
    if count:
        yield ""
        yield f"Worth reading: {count} disagreements with people, the widest first"
        yield f"  recuse check {file} --disagreements review.csv     (fill in your_verdict, check review.csv)"


# --------------------------------------------------------------------------- numbers


def _cell(estimate: Mapping[str, Any] | None) -> str:
    if estimate is None:
        return ""
    if estimate["value"] is None:
        return "undefined"
    interval = _interval(estimate)
    return _number(estimate["value"]) + (f" ({interval})" if interval else "")


def _interval(estimate: Mapping[str, Any]) -> str:
    low, high = estimate["low"], estimate["high"]
    return "" if low is None or high is None else f"{_number(low)} to {_number(high)}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _signed(value: float) -> str:
    return f"{value:+.2f}"


def _more(names: tuple[str, ...], shown: int) -> str:
    return f" and {len(names) - shown} more" if len(names) > shown else ""
