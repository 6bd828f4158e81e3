"""What `recuse check` prints: the decision, what was read as what, every number, and what is missing."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil
from typing import cast

import pandas as pd

from recuse.gates.causes import rounded
from recuse.gates.decision import for_use
from recuse.gates.limits import Limit
from recuse.ratings.answers import people_beside_truth, without_truth
from recuse.ratings.needs import NOT_OF_A_FILE, unlock_by_column
from recuse.ratings.pass_rate_ranges import pass_rate_sentence
from recuse.readers.column_names import as_option
from recuse.readers.file_ratings import FilePanel
from recuse.readers.mapping import ColumnMapping
from recuse.run.run import FileRun
from recuse.schema import number_text
from recuse.schema.factors import level_words
from recuse.schema.number_text import counted, fitting, fixed, more, percent, value_text, why_missing, with_interval
from recuse.schema.plain_values import grouped
from recuse.schema.results import PassRateRow, Results
from recuse.schema.verdict_rows import EstimateRow, MeasurementRow, VerdictRow
from recuse.schema.vocabulary import NOT_MEASURED, PASS, in_place_of_people, printed
from recuse.security.sanitize import shortened, visible

WIDTH = 14
SHOWN_ROWS, SHOWN_RANGES, MOST_WORDS = 24, 4, 8
PLAIN = frozenset(["judge", "target", "person", "peer", "criterion", "pair", "by"])  # whose values need no further word
FIRST = ("human_ceiling", "sensitivity", "system_order", "right_choices", "human_offset", "share_bias")
"""What most wants to be seen of a judge that passes everything."""
ROLES = ("item", "target", "first", "second", "criterion", "cluster", "text", "rater", "kind", "repeat", "gold",
         "author", "reason", "order", "count", "value", "criteria", "repeats", "factors", "slices")  # fmt: skip
CALLED = {"target": "system", "gold": "right answer", "cluster": "topic", "value": "rating", "factors": "varied",
          "slices": "slice"}  # fmt: skip
AGREEMENT = "agreement_with_people"
PEOPLE = ("people", "among people")
HALF_WIDTH = 0.05  # of the interval for which labels are counted
BEYOND_CHANCE = ("cohen_kappa", "concordance", "krippendorff_alpha")


def short_text(answers: FileRun, chances: Mapping[str, float], *, file: str, disagreements: str, listed: bool) -> str:
    """At most 25 lines: words, causes and next steps, numbers that decide, what was read, and where the rest is; above
    a list (`listed`) words and what was read. `file` as it was typed, quoted, so that hints can be pasted."""
    if listed:
        words = [one.sentence for one in answers.decision.judges if one.stated]
        kept = [*fitting(words, 4, "more lines; --all prints them"), *islice(_read_briefly(answers, file), 3)]
        return "\n".join(map(visible, kept))
    stated = dict.fromkeys(one.use for one in sorted(answers.decision.judges, key=lambda one: not one.stated))
    uses = answers.results.get("uses") or {}
    questions = ((use, uses[use].get("question")) for use in stated if use in uses)
    meanings = "; ".join(f"{for_use(use).lstrip()}: {question}" for use, question in questions if question)
    words = answers.decision.sentences
    if len(words) > MOST_WORDS:  # each with its next step, and of more who is cleared
        held = MOST_WORDS - (2 if words[MOST_WORDS - 1].startswith("  next: ") else 1)
        words = [*words[:held], f"  {answers.decision.lines[1]} (--all prints every word)"]
    decided = [*words, *([f"  ({meanings})"] if meanings else []), *_chances(answers, chances)]
    numbers = fitting(list(_deciding(answers)), 7, "more numbers that decide; --all prints them")
    rest = [f"Every number: recuse check {file} --all     as a page: --html report.html"]
    if disagreements:
        rest.append(f"{disagreements}: recuse check {file} --disagreements review.csv")
    lines = [*decided, *numbers, *_read_briefly(answers, file), *rest]
    return "\n".join(visible(line) for line in lines)


def _chances(answers: FileRun, chances: Mapping[str, float]) -> Iterator[str]:
    """What these texts can show at all: how often a judge that is one more person would be cleared."""
    for use in dict.fromkeys(one.use for one in answers.decision.judges if one.stated and one.use in chances):
        often = f"{for_use(use)} {100 * chances[use]:.0f} times in 100"
        yield f"  with these texts, a judge that is one more person would be cleared{often}"


def _deciding(answers: FileRun) -> Iterator[str]:
    """Of each judge, what the gates of its own use rest on: those that do not pass first."""
    for one in answers.decision.worst_first:
        verdicts = [v for v in answers.results["verdicts"] if v["subject"].get("judge") == one.judge]
        verdicts = [v for v in verdicts if v["gate"] in one.gates and not v["allowed"]]
        shown = sorted(verdicts, key=lambda v: (v["outcome"] == PASS, v["gate"] not in FIRST, v["gate"]))[:3]
        for verdict in shown:
            estimate, label = verdict["estimate"], verdict["label"] or verdict["gate"]
            if option := estimate["detail"].get("positive"):
                label = label.replace("the share", f'the share of "{option}"')
            limit = Limit.of(verdict["limit"]).of_unit(estimate["unit"])
            value, low, high = estimate["value"], estimate["low"], estimate["high"]
            text = f"undefined ({why_missing(estimate['note'])})" if value is None else limit.show(value)
            if value is not None and low is not None and high is not None:
                text += f" ({limit.show_interval(low, high)}{number_text.level_text(estimate)})"
            about = f"{printed(verdict['outcome']):<9} {_where(verdict['subject'])}"
            yield f"  {about}: {label} {text}, limit {limit}"


def _read_briefly(answers: FileRun, file: str) -> Iterator[str]:
    read = answers.panel
    mapping, ratings = read.mapping, read.ratings
    roles = ", ".join(f"{role}: {column}" for role, column in _roles(mapping) if role not in ("criteria", "slice"))
    yield f"Read: {_size(read)}{'; ' if roles else ''}{roles}"
    persons = people_beside_truth(ratings)
    people = f"{', '.join(persons[:8]) or 'nobody'}{more(persons, 8)}"
    people += f"; right answers: {ratings.truth}" if ratings.truth else ""
    yield f"  people: {people}; judges: {', '.join(ratings.judges[:8])}{more(ratings.judges, 8)}"
    alike, rest = read.unused
    if alike:
        why = "; ".join(f"{name} ({why})" for name, why in [*alike.items()][:4])
        yield f"  look like ratings and are not used: {why}{more(tuple(alike), 4)}"
    unused = [f"not used: {', '.join(rest[:6])}{more(rest, 6)} (why: --all)"] if rest else []
    groups = [f"groups of texts: {', '.join(mapping.slices[:4])}{more(mapping.slices, 4)}"] if mapping.slices else []
    if unused or groups:
        yield f"  {'; '.join([*unused, *groups])}"
    notes = [*(fault.sentence() for fault in read.faults), *read.notes]
    shown = fitting(notes, 2 if alike else 3, "more notes; --all prints them")
    yield from (f"  {line}" for line in shown)
    yield _not_right(file, {"people": "A,B", "judges": "C"})


def _not_right(file: str, who: Mapping[str, str]) -> str:
    """The command to change, with each option once: what was typed with `file`, and who was read as what."""
    typed = shlex.split(file)
    added = [f" --{name} {names}" for name, names in who.items() if not any(t.startswith(f"--{name}") for t in typed)]
    return f"  Not right? recuse check {file}{''.join(added)}   (--save keeps it)"


def full_text(
    answers: FileRun, chances: Mapping[str, float], ranges: Sequence[PassRateRow], readings: Iterable[str], *,
    file: str, disagreements: str,
) -> str:  # fmt: skip
    """The whole text; lines are not wrapped. `file` as it was typed, quoted, so that hints can be pasted."""
    results = answers.results
    records = [*results["verdicts"], *results["measurements"]]
    agreement = [r for r in records if r["question"] == AGREEMENT]
    agreement.sort(key=lambda r: [level for name, level in sorted(r["subject"].items()) if name != "judge"])
    tests = ((row["test"].rpartition("::")[2].removeprefix("test_"), row["why"]) for row in results["unmeasured"])
    unmeasured = [f"  {printed(NOT_MEASURED):<13}{test:<24} {why}" for test, why in tests]
    shown = (("" if one["criterion"] == "rating" else f"{one['criterion']}: ", one) for one in ranges[:SHOWN_RANGES])
    unspecified = [f"  {about}{pass_rate_sentence(one)}." for about, one in shown]
    if ranges:
        how = "Ask for every reasonable answer (a column response_set), or add an option for what may be either."
        unspecified.append(f"  {how}")
    review = f"  recuse check {file} --disagreements review.csv     (fill in your_verdict, check review.csv)"
    lines = [
        *answers.decision.sentences, *_chances(answers, chances), *_titled("", _read(answers, file)),
        *_titled("Agreement with people", (*_in_sentences(agreement), *_numbers(results, agreement))),
        *_titled(f"Labels for ± {HALF_WIDTH:g}", _labels_more(results, agreement)),
        *_titled("Is one answer always right?", unspecified),
        *_titled("Also asked", (*_numbers(results, [r for r in records if r["question"] != AGREEMENT]),
                                *(f"  {'in words':<13}{one}" for one in readings), *unmeasured)),
        *_titled("Not asked", _not_asked(results)),
        *_titled(f"Worth reading: {disagreements}, the widest first", [review] if disagreements else []),
    ]  # fmt: skip
    return "\n".join(map(visible, lines))


def _titled(title: str, lines: Iterable[str]) -> list[str]:
    part = list(dict.fromkeys(lines))
    return ["", *([title] if title else []), *part] if part else []


def _read(answers: FileRun, file: str) -> Iterator[str]:
    read = answers.panel
    mapping, frame, ratings = read.mapping, read.raw.frame, read.ratings
    yield f"What was read: {_size(read)}"
    rows = [(role, f"{column:<20} {_holds(frame, column)}") for role, column in _roles(mapping)]
    persons, right = people_beside_truth(ratings), (ratings.truth,) if ratings.truth else ()
    table, keys = without_truth(ratings).table, ["item", "target", "criterion"]
    for kind, names in (("people", persons), ("right answers", right), ("judges", ratings.judges)):
        if names:
            rows.append((kind, f"{', '.join(names[:12])}{more(names, 12)}"))
        for name in names[:12]:  # where some judgements cannot be used: how many can, and what people said of these
            given = table[table["rater"] == name]
            lost = given[given["status"] != "ok"]
            if lost.empty:
                continue
            by = ", ".join(f"{n} {status}" for status, n in lost["status"].value_counts().items())
            people = table[(table["kind"] == "person") & (table["status"] == "ok")]
            on = people.merge(lost[keys].drop_duplicates(), on=keys)["response"].value_counts()
            where = f"; there people say {', '.join(f'{o} ({n})' for o, n in on.items())}" if 0 < len(on) <= 4 else ""
            rows += [("", f"{name}: {len(given) - len(lost)} of {len(given)} usable ({by}{where})")]
    rows += [("ignored", f"{name:<20} {why}") for name, why in mapping.ignored.items()]
    rows += [("note", note) for note in read.notes] + [("fault", fault.sentence()) for fault in read.faults]
    yield from (f"  {role:<{WIDTH}}{text}" for role, text in rows)
    who = {"people": persons or ("A", "B"), "gold": right, "judge": ratings.judges}
    yield _not_right(file, {name: as_option(names) for name, names in who.items() if names})


def _size(read: FilePanel) -> str:
    return f"{counted(len(read.raw.frame), 'row')}, {counted(read.ratings.judgements, 'judgement')}"


def _roles(mapping: ColumnMapping) -> Iterator[tuple[str, str]]:
    """What each role is called, with its column; one line for all criteria, and one for all repeats."""
    for role in ROLES:
        names = [*dict.fromkeys(mapping.criteria.values())] if role == "criteria" else mapping.filled(role)
        together = [", ".join(names)] if names and role in ("criteria", "repeats") else names
        yield from ((CALLED.get(role, role), column) for column in together)


def _holds(frame: pd.DataFrame, column: str) -> str:
    if column not in frame:
        return ""
    counts = frame[column].value_counts()
    if len(counts) <= 4:
        return ", ".join(f"{shortened(str(name), 24)[0] or '(empty)'} ({n})" for name, n in counts.items())
    return f"{len(counts)} different"


def _numbers(results: Results, records: Sequence[MeasurementRow]) -> Iterator[str]:
    decided = cast("list[VerdictRow]", [record for record in records if "gate" in record])
    for verdict in decided:
        where, shown = _where(verdict["subject"]), with_interval(verdict["estimate"], minus="-") + _slice(verdict)
        title, limit = _title(results, verdict["estimate"]), verdict["rule"]["limit_text"]
        yield f"  {printed(verdict['outcome']):<13}{where:<24} {title}: {shown}, limit {limit}"
    known = [record for record in records if "gate" not in record and record["estimate"]["value"] is not None]
    by_metric = grouped(known, lambda record: record["estimate"]["metric"])
    ranks = {name: about["rank"] for name, about in results["measures"].items()}
    rest = by_metric.keys() - {v["estimate"]["metric"] for v in decided}
    for metric in sorted(rest, key=lambda name: (ranks.get(name, 1000), name)):
        measured = by_metric[metric]
        title = _title(results, measured[0]["estimate"])
        for record in measured[:SHOWN_ROWS]:
            shown = with_interval(record["estimate"], minus="-") + _slice(record)
            yield f"  {'measured':<13}{_where(record['subject']) or 'all judges':<24} {title}: {shown}"
        if len(measured) > SHOWN_ROWS:
            yield f"  {'':<13}and {len(measured) - SHOWN_ROWS} more of {title}; --json writes all"


def _title(results: Results, estimate: EstimateRow) -> str:
    metric, known = estimate["metric"], results["measures"]
    return in_place_of_people(known[metric]["title"] if metric in known else metric, estimate["detail"])


def _slice(record: MeasurementRow) -> str:
    at = record["estimate"]["detail"].get("slice")
    if not at or record["estimate"]["value"] is None:
        return ""
    return f", {'system' if at['column'] == 'target' else at['column']} {shortened(at['level'], 20)[0]}"


def _in_sentences(records: Sequence[MeasurementRow]) -> Iterator[str]:
    for record in records:
        estimate, where = record["estimate"], _where(record["subject"])
        detail = estimate["detail"]
        right = detail.get("held_against")
        if estimate["value"] is None:
            continue
        if estimate["metric"] == "human_ceiling":
            margin, lost = detail.get("margin"), estimate["n_excluded"]
            whom, among = (right, f"of people with {right}") if right else PEOPLE
            judged, among_people = (fixed(detail.get(name), minus="-") for name in ("judge_human", "human_human"))
            yield (
                f"  {where}: agreement beyond chance with {whom} {judged}, {among} {among_people}; difference "
                f"{with_interval(estimate, signed=True, minus='-')}"
                + (f", margin -{fixed(margin)}" if margin is not None else "")
                + (f"; guesses stand for answers that are not there: {lost:,}" if lost else "")
            )
        elif estimate["metric"] == "winning_rate":
            people = detail["people"]
            won = tuple(entry["person"] for entry in people if entry["won"])
            named = f" ({', '.join(won[:6])}{more(won, 6)})" if won else ""
            stands = f"it may stand in for {len(won)} of {len(people)} people{named}"
            yield f"  {where}: {stands}, by the alternative annotator test"
        elif estimate["metric"] == "prediction_powered_mean" and (alone := detail.get("judge_alone")) is not None:
            shown = f"{right or 'people'} would give all texts {with_interval(estimate, minus='-')}"
            yield f"  {where}: its own mean is {fixed(alone, minus='-')}; {shown}"
        elif estimate["metric"] == "delegable_share":
            share = f"{value_text(estimate)} of the texts need no person" if estimate["value"] else estimate["note"]
            yield f"  {where}: on its own, at {percent(detail['bound'] or 0)} errors: {share}"
        elif estimate["metric"] == "percent_agreement" and (constant := detail.get("constant")):
            agrees = f"would agree with people {fixed(constant['agrees'])} of the time"
            yield f'  {where}: always "{constant["answer"]}" {agrees}'


def _labels_more(results: Results, records: Sequence[MeasurementRow]) -> Iterator[str]:
    """How many labels by people an interval of +- `HALF_WIDTH` takes, and how many of them are still to be given."""
    counted: set[str] = set()
    for metric in ("prediction_powered_mean", *BEYOND_CHANCE):
        for estimate, where in ((r["estimate"], _where(r["subject"])) for r in records):
            low, high, have = estimate["low"], estimate["high"], estimate["n"]
            if estimate["metric"] != metric or low is None or high is None or where in counted:
                continue
            if metric in BEYOND_CHANCE:  # the first that was measured
                needed = ceil(have * ((high - low) / 2 / HALF_WIDTH) ** 2)
                counted.add(where)
            else:
                labels = estimate["detail"]
                have, needed = labels["labels"], labels["labels_needed"] or 0
            title = _title(results, estimate)
            enough = f"enough, {needed:,} of {have:,}"
            lacking = f"about {rounded(needed):,}; there are {have:,}, so {rounded(needed - have):,} more"
            if needed:
                yield f"  {where[:40]:<26}{title}: {enough if needed <= have else lacking}"


def _where(subject: Mapping[str, str]) -> str:
    names = sorted((name for name in subject if name not in ("panel", "task", "protocol")), key=lambda n: n != "judge")
    return ", ".join(subject[name] if name in PLAIN else level_words(name, subject[name]) for name in names)


def _not_asked(results: Results) -> Iterator[str]:
    rows: dict[str, list[str]] = {}
    answered = {record["title"] for record in (*results["verdicts"], *results["measurements"])}
    far = 0
    for row in results["not_asked"]:
        if set(row["missing"]) & NOT_OF_A_FILE:
            far += 1
        elif row["title"] in answered and {"scores", "choices"} & set(row["missing"]):
            continue  # the other half of a question that was asked
        elif row["title"] not in rows or len(row["missing"]) < len(rows[row["title"]]):
            rows[row["title"]] = row["missing"]
    for title, missing in rows.items():
        yield f"  {title} Needs: {'; and '.join(dict.fromkeys(unlock_by_column(need) for need in missing))}"
    if far:
        yield f"  {far} more ask judges in a way of their own (injected text, padded twins, ...): recuse init shows how"
