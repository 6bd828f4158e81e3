"""What `recuse check` prints: the verdict, what was read as what, agreement with people, the rest, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

import pandas as pd

from recuse.check.agreement_text import AGREEMENT, SHOWN_JUDGES, agreement, labels_more, metrics, of_criterion
from recuse.check.file_answers import FileAnswers
from recuse.check.underspecified import PassRateRange
from recuse.gates.limits import Limit
from recuse.ratings.needs import NOT_OF_A_FILE, unlock_by_column
from recuse.readers.columns import like_ratings
from recuse.schema.details import PeopleDetail, detail_as
from recuse.schema.factors import level_words
from recuse.schema.number_text import fixed, more, percent, with_interval
from recuse.schema.verdict_rows import VerdictRow
from recuse.schema.vocabulary import NOT_MEASURED, PASS, printed
from recuse.security.sanitize import shortened, visible

WIDTH = 14
SHOWN_ROWS, SHOWN_RANGES = 24, 4
PLAIN = frozenset(["judge", "target", "person", "peer", "criterion", "pair", "by"])
"""Names of a subject whose value needs no further word; of others, factors, the level is told with its factor."""


def short_text(answers: FileAnswers, chances: Mapping[str, float], *, file: str, disagreements: int | None) -> str:
    """At most 25 lines: the word on each judge with its cause and the next step, the numbers that decide, what was
    read, and where the rest is. `file` as it was typed, quoted, so that hints can be pasted."""
    decided = _fitting(answers.decision.sentences, 9, "more words; --all prints them")
    decided += _chances(answers, chances)
    numbers = _fitting(list(_deciding(answers)), 7, "more numbers that decide; --all prints them")
    rest = [f"Every number: recuse check {file} --all     as a page: --html report.html"]
    if disagreements:
        rest.append(f"{disagreements} disagreements with people: recuse check {file} --disagreements review.csv")
    lines = [*decided, *numbers, *_read_briefly(answers, file), *rest]
    return "\n".join(visible(line) for line in lines)


def _fitting(lines: list[str], most: int, more: str) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], f"  and {len(lines) - most + 1} {more}"]


def _chances(answers: FileAnswers, chances: Mapping[str, float]) -> Iterator[str]:
    """What these texts can show at all: how often a judge that is one more person would be cleared."""
    for use in dict.fromkeys(one.use for one in answers.decision.judges if one.stated and one.use in chances):
        yield (
            f"  with these texts, a judge that is one more person would be cleared to {use} "
            f"{100 * chances[use]:.0f} times in 100"
        )


def _deciding(answers: FileAnswers) -> Iterator[str]:
    """Of each judge, what the gates of its own use rest on: those that do not pass first."""
    uses = {one.judge: one.gates for one in answers.decision.judges if one.stated}
    for judge in answers.panel.judges:
        mine = [v for v in answers.results["verdicts"] if v["subject"].get("judge") == judge and not v["allowed"]]
        mine = [v for v in mine if v["gate"] in uses.get(judge, ())]
        shown = sorted(mine, key=lambda v: (v["outcome"] == PASS, v["gate"] not in FIRST, v["gate"]))[:3]
        for verdict in shown:
            limit = Limit.of(verdict["limit"]).of_unit(verdict["estimate"]["unit"])
            yield (
                f"  {printed(verdict['outcome']):<9} {judge}: {verdict['label'] or verdict['gate']} "
                f"{_shown(verdict, limit)}, limit {limit}"
            )


FIRST = ("human_ceiling", "sensitivity", "system_order", "right_choices", "human_offset", "share_bias")
"""What most wants to be seen of a judge that passes everything."""


def _shown(verdict: VerdictRow, limit: Limit) -> str:
    """ "-0.19 (-0.27 to -0.11)", with the level of the interval where it is not 95 %."""
    estimate = verdict["estimate"]
    if estimate["value"] is None:
        return f"undefined ({estimate['note']})"
    if estimate["low"] is None or estimate["high"] is None:
        return limit.show(estimate["value"])
    level = "" if abs(estimate["level"] - 0.95) < 1e-9 else f", {percent(estimate['level'])} interval"
    return f"{limit.show(estimate['value'])} ({limit.show_interval(estimate['low'], estimate['high'])}{level})"


def _read_briefly(answers: FileAnswers, file: str) -> Iterator[str]:
    read = answers.panel.read
    mapping, ratings = read.mapping, read.ratings
    roles = ", ".join(f"{role} {column}" for role, column in _roles(mapping) if role not in ("criteria", "slice"))
    yield f"Read: {len(read.raw.frame)} rows, {ratings.judgements} judgements{'; ' if roles else ''}{roles}"
    people = f"{', '.join(ratings.persons[:8]) or 'nobody'}{more(ratings.persons, 8)}"
    yield f"  people: {people}; judges: {', '.join(ratings.judges[:8])}{more(ratings.judges, 8)}"
    alike = {name: why for name, why in mapping.ignored.items() if like_ratings(read.raw.frame, name)}
    if alike:
        why = "; ".join(f"{name} ({why})" for name, why in [*alike.items()][:4])
        yield f"  look like ratings and are not used: {why}{more(tuple(alike), 4)}"
    rest = tuple(name for name in mapping.ignored if name not in alike)
    unused = [f"not used: {', '.join(rest[:6])}{more(rest, 6)} (why: --all)"] if rest else []
    groups = [f"groups of texts: {', '.join(mapping.slices[:4])}{more(mapping.slices, 4)}"] if mapping.slices else []
    if unused or groups:
        yield f"  {'; '.join([*unused, *groups])}"
    notes = [*(fault.sentence() for fault in read.faults), *read.notes]
    shown = _fitting(notes, 2 if alike else 3, "more notes; --all prints them")
    yield from (f"  {line}" for line in shown)
    yield f"  Not right? recuse check {file} --people A,B --judges C   (--save keeps it)"


def full_text(
    answers: FileAnswers, chances: Mapping[str, float], ranges: Sequence[PassRateRange], *, file: str,
    disagreements: int | None,
) -> str:  # fmt: skip
    """The whole text; lines are not wrapped. `file` as it was typed, quoted, so that hints can be pasted."""
    each = answers.parts()
    parts = [
        [*answers.decision.sentences, *_chances(answers, chances)],
        [line for part in each for line in _why(part)],
        ["", *_read(answers, file)],
        [line for part in each for line in agreement(part)],
        list(labels_more(each)),
        list(_underspecified(ranges)),
        list(_others(answers)),
        list(_not_asked(answers)),
        list(_worth_reading(disagreements, file)),
    ]
    return "\n".join(visible(line) for part in parts for line in part)


def _why(answers: FileAnswers) -> Iterator[str]:
    """The numbers behind the first sentence, where there are any."""
    for judge in answers.panel.judges[:SHOWN_JUDGES]:
        ceiling = answers.measured("human_ceiling", judge)
        if ceiling and ceiling["value"] is not None:
            detail, lost = detail_as(PeopleDetail, ceiling["detail"]), ceiling["n_excluded"]
            margin = detail.get("margin")
            yield (
                f"  {judge}{of_criterion(answers)}: agreement beyond chance with people "
                f"{fixed(detail.get('judge_human'), minus='-')}, among people "
                f"{fixed(detail.get('human_human'), minus='-')}; difference "
                f"{with_interval(ceiling, signed=True, minus='-')}"
                + (f", margin -{fixed(margin)}" if margin is not None else "")
                + (f"; guesses stand for answers that are not there: {lost:,}" if lost else "")
            )


# --------------------------------------------------------------------------- what was read


def _read(answers: FileAnswers, file: str) -> Iterator[str]:
    read = answers.panel.read
    mapping, frame = read.mapping, read.raw.frame
    yield f"What was read: {len(frame)} rows, {read.ratings.judgements} judgements"
    for role, column in _roles(mapping):
        yield f"  {role:<{WIDTH}}{column:<20} {_holds(frame, column)}"
    for kind, names in (("people", read.ratings.persons), ("judges", read.ratings.judges)):
        if names:
            yield f"  {kind:<{WIDTH}}{', '.join(names[:12])}{more(names, 12)}"
            yield from (f"  {'':<{WIDTH}}{line}" for line in _usable(read.ratings.table, names))
    for name, why in mapping.ignored.items():
        yield f"  {'ignored':<{WIDTH}}{name:<20} {why}"
    for note in read.notes:
        yield f"  {'note':<{WIDTH}}{note}"
    for fault in read.faults:
        yield f"  {'fault':<{WIDTH}}{fault.sentence()}"
    people = quote(",".join(read.ratings.persons)) if read.ratings.persons else "A,B"
    judges = quote(",".join(read.ratings.judges))
    yield f"  Not right? recuse check {file} --people {people} --judge {judges}   (--save keeps it)"


def _roles(mapping: Any) -> Iterator[tuple[str, str]]:
    called = {"target": "system", "gold": "right answer", "cluster": "topic"}
    for column in mapping.item:
        yield "item", column
    for role in ("target", "first", "second", "criterion", "cluster", "text", "rater", "kind", "repeat", "gold",
                 "author", "reason", "order", "count"):  # fmt: skip
        if column := getattr(mapping, role):
            yield called.get(role, role), column
    for column in mapping.value:
        yield "rating", column
    if mapping.criteria:
        yield "criteria", ", ".join(dict.fromkeys(mapping.criteria.values()))
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


def _underspecified(ranges: Sequence[PassRateRange]) -> Iterator[str]:
    """How far the pass rate could move where two answers may be right at once."""
    if ranges:
        yield ""
        yield "Is one answer always right?"
    for pass_rates in ranges[:SHOWN_RANGES]:
        yield f"  {'' if pass_rates.criterion == 'rating' else f'{pass_rates.criterion}: '}{pass_rates.sentence()}."
    if ranges:
        yield "  Ask for every reasonable answer (a column response_set), or add an option for what may be either."


def _others(answers: FileAnswers) -> Iterator[str]:
    """Verdicts of the other questions, one line each; what is only measured is counted."""
    rows = [v for v in answers.results["verdicts"] if v["question"] != AGREEMENT]
    if rows:
        yield ""
        yield "Also asked"
    for verdict in rows:
        where, title = _where(verdict["subject"]), answers.title(verdict["estimate"]["metric"])
        yield (
            f"  {printed(verdict['outcome']):<13}{where:<24} {title}: {with_interval(verdict['estimate'], minus='-')}"
            f", limit {verdict['rule']['limit_text']}"
        )
    decided = {v["estimate"]["metric"] for v in rows}
    for metric in metrics(answers, None):
        if metric not in decided:
            yield from _measured(answers, metric)
    yield from _readings(answers)
    for row in answers.results["unmeasured"]:
        yield f"  {printed(NOT_MEASURED):<13}{row['test'].rpartition('::')[2].removeprefix('test_'):<24} {row['why']}"


def _readings(answers: FileAnswers) -> Iterator[str]:
    """The sentence that the page has above each question's figures."""
    from recuse.report.canonical_form import normalised
    from recuse.report.questions import Drawings
    from recuse.report.results_model import ResultsModel

    view, drawings = ResultsModel(normalised(answers.results)), Drawings()
    for question in view.questions:
        for group in view.groups(question):
            if question.id != AGREEMENT and (text := drawings.of(question.id).reading(group)):
                yield f"  {'in words':<13}{question.title} {text}"


def _measured(answers: FileAnswers, metric: str) -> Iterator[str]:
    """What no gate decides, under every condition that it was measured under."""
    title = answers.title(metric)
    records = [
        record
        for record in answers.results["measurements"]
        if record["estimate"]["metric"] == metric and record["estimate"]["value"] is not None
    ]
    for record in records[:SHOWN_ROWS]:
        shown = with_interval(record["estimate"], minus="-")
        yield f"  {'measured':<13}{_where(record['subject']) or 'all judges':<24} {title}: {shown}"
    if len(records) > SHOWN_ROWS:
        yield f"  {'':<13}and {len(records) - SHOWN_ROWS} more of {title}; --json writes all"


def _where(subject: Mapping[str, str]) -> str:
    return ", ".join(
        value if name in PLAIN else level_words(name, value)
        for name, value in subject.items()
        if name not in ("panel", "task", "protocol")
    )


def _not_asked(answers: FileAnswers) -> Iterator[str]:
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
