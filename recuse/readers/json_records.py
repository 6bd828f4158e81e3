"""Tables made of JSON: an object a line, a list of objects, a list or an object for each column, another tool's log."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from recuse.readers import raw_table
from recuse.readers.column_names import NAMES, WINNERS, is_person, plain
from recuse.readers.opening import Opened
from recuse.readers.raw_table import Fault, RawTable, cell_text, check_first_differ, shown
from recuse.schema import RecuseError
from recuse.security.sanitize import visible

DEPTH = 3  # objects within objects become columns "outer.inner" to this depth; what lies deeper stays text
Records = Iterator[dict[str, Any] | tuple[str, str, str]]
"""What the log of a tool holds, and what is wrong in it: what, what was done about it, where."""
GAME = re.compile(r"[AB]\s*(?:[<>]{1,2}|=)\s*[AB]")  # how the games of one pair end: A>B, B>>A
SPEAKERS, SAID = {"role", "from", "speaker", "sender"}, {*NAMES["text"], "value"}


class ToolLog(NamedTuple):
    """The log of another tool: what it is called, what a value of JSON holds that is one, and whether it is."""

    called: str
    records: Callable[[Any], Records]
    recognises: Callable[[Any], bool]


def first_record(value: Any) -> Mapping[str, Any]:
    """The first object of a list of them, by which its tool is known; {} for anything else."""
    first = value[0] if isinstance(value, list) and value else None
    return first if isinstance(first, Mapping) else {}


def read_json(opened: Opened, logs: Mapping[str, ToolLog], reader: str = "") -> RawTable:
    """A table of JSON; of the log of another tool as its reader makes it: the one that is named, or recognises it."""
    value, lines, notes = _parse_json(opened, None if reader else logs)
    for name, log in logs.items():
        if name == reader or (not reader and log.recognises(value)):
            return of_log(opened.path, value, name, log, notes)
    if isinstance(value, dict):
        value, rows = _rows_within(value)
        notes = (*notes, rows)
    return from_records(opened.path, value, notes=notes, unit="line" if lines else "record", numbers=lines)


def of_log(path: Path, value: Any, name: str, log: ToolLog, notes: Sequence[str] = ()) -> RawTable:
    """The table of another tool's log. `RecuseError` where it is not written as that tool does."""
    try:
        held = [*log.records(value)]
    except (AttributeError, TypeError, KeyError, IndexError) as error:
        raise RecuseError(f"it is not as {log.called} is written: {error}; export it again") from error
    records = [one for one in held if isinstance(one, dict)]
    troubles = [one for one in held if not isinstance(one, dict)]
    kinds = sorted({(done, what) for what, done, _ in troubles})  # what is left out comes first
    faults = [f for done, what in kinds for f in Fault.where(what, [at for w, _, at in troubles if w == what], done)]
    return from_records(path, records, notes=(*notes, log.called), made_by=name, faults=faults)


def _parse_json(opened: Opened, logs: Mapping[str, ToolLog] | None) -> tuple[Any, list[int] | None, tuple[str, ...]]:
    """One value and None, or a list of values and the line of each. `RecuseError` with the line of what is no JSON.
    Long texts are shortened line by line, unless one of `logs` reads them, or another that was named (None)."""
    text, notes = opened.text()
    check_first_differ(text, "}")
    try:
        return parsed(text), None, notes
    except ValueError as error:
        whole = error
    values: list[Any] = []
    lines: list[int] = []
    long: list[Hashable] = []
    for number, line in ((k, line) for k, line in enumerate(_lines(text), start=1) if line.strip()):
        if len(values) == raw_table.LOOKED_AT and len(opened.data) > raw_table.LARGE and logs is not None:
            nested = (isinstance(cell, list | dict) for one in values if isinstance(one, dict) for cell in one.values())
            flat = not any(nested) and all(isinstance(one, dict) for one in values)
            if flat and any(values) and not any(log.recognises(values) for log in logs.values()):
                long = raw_table.long_columns(from_records(opened.path, values).frame)
        try:
            values.append(parsed(line))
        except ValueError as error:
            if not isinstance(error, json.JSONDecodeError):
                raise RecuseError(f"line {number}: {error}; write it again without") from error
            if not isinstance(whole, json.JSONDecodeError):
                raise RecuseError(f"{whole}; write it again without") from error
            at = whole if not values and whole.lineno > 1 else None
            where = f"line {at.lineno}: {at.msg}" if at else f"line {number}: {error}"
            raise RecuseError(f"{where}; a file of JSON lines has one object per line") from error
        lines.append(number)
        for name in long if isinstance(values[-1], dict) else ():
            if isinstance(cell := values[-1].get(name), str):
                values[-1][name] = raw_table.short_form(opened.wanted, cell)
    return values, lines, (*notes, "JSON lines")


def _lines(text: str) -> Iterator[str]:
    """One after the other: a list of them takes the room of the file once more."""
    at = 0
    while (end := text.find("\n", at)) >= 0:
        yield text[at:end]
        at = end + 1
    yield text[at:]


def _rows_within(value: dict[str, Any]) -> tuple[list[Any], str]:
    """The longest list of objects that it holds, or the rows of a table that pandas or MLflow writes by its columns."""
    columns, data = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, columns), row, strict=False)) for row in data], "a table by its columns and data"
    inner = [*value.values()]
    if inner and all(isinstance(one, dict) and one.keys() == inner[0].keys() for one in inner) and len(inner[0]) > 1:
        if len(inner) > len(inner[0]) and not all(name.isdigit() for name in inner[0]):
            return [{"item": name, **one} for name, one in value.items()], "a record per item"
        return [{name: one[row] for name, one in value.items()} for row in inner[0]], "a table by its columns"
    lists = [one for one in inner if isinstance(one, list) and len(one) > 1]
    if len(inner) == len(lists) > 1 and len({*map(len, lists)}) == 1 and not isinstance(lists[0][0], dict):
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)], "a list for each column"
    tables = {k: v for k, v in value.items() if isinstance(v, list) and v and isinstance(v[0], dict)}
    if not tables:
        if all(not isinstance(v, list | dict) for v in value.values()):
            return [value], "one record"
        raise RecuseError("it is one JSON object without a list of records; give a list, or JSON lines")
    name = max(tables, key=lambda k: len(tables[k]))
    if len(alike := [k for k, own in tables.items() if own[0].keys() == tables[name][0].keys()]) > 1:
        raise RecuseError(
            f"it holds {len(alike)} lists of records with the same names, such as {shown(alike[0])} and "
            f"{shown(alike[1])}; write them as one list, with what each was called as a value of its records"
        )
    return tables[name], f"the records are those of {name!r}"


def from_records(
    path: Path, records: Iterable[Any], *, notes: Sequence[str] = (), unit: str = "record", made_by: str = "",
    numbers: Sequence[int | str] | None = None, faults: Sequence[Fault] = (),
) -> RawTable:  # fmt: skip
    """A table of objects, objects within them as columns "outer.inner", a list of objects as a row for each of them
    beside the rest. `RecuseError` where one is no object."""
    flat: list[dict[str, str]] = []
    places: list[int | str] = []
    records = [*records]
    first = records[0] if len(records) > 1 and isinstance(records[0], dict) else {}
    alike = [name for name, value in first.items() if _is_table(value)]  # the options that everybody had, no answers
    if len(alike) != 1 or not all(isinstance(r, dict) and r.get(alike[0]) == first[alike[0]] for r in records):
        alike = []
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise RecuseError(f"{unit} {number} is {shown(record)}; each must be an object with named values")
        record = {name: value for name, value in record.items() if name not in alike} if alike else record
        rows = [dict(_flattened(row)) for row in _unlisted(record)]
        flat += rows
        places += [number if numbers is None else numbers[number - 1]] * len(rows)
    if not any(flat):
        raise RecuseError("; ".join(["it holds no record", *(fault.sentence() for fault in faults)]))
    frame = pd.DataFrame(flat, dtype=object).fillna("")
    frame.columns = pd.Index([visible(str(name)).strip() for name in frame.columns])
    return RawTable(
        path, frame, tuple(notes), unit, made_by, tuple(faults),
        numbers=None if numbers is None and len(flat) == places[-1] else tuple(places),
    )  # fmt: skip


def _unlisted(record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """A record as it is, or one for each object of its only list of objects, the judgements of one text, say. What the
    record has as well bears the list's name too. Two texts of which it chooses one, 0 or 1, are text_0 and text_1."""
    lists = [name for name, value in record.items() if _is_table(value) and not all(map(_is_said, value))]
    judged = [
        name for name in lists
        if all({*map(plain, one)} & {*NAMES[role]} for one in record[name] for role in ("rater", "value"))
    ]  # fmt: skip
    if len(judged) > 1:
        raise RecuseError(
            f"{judged[0]} and {judged[1]} both list who gave which rating; write a row for each entry of either, with "
            "columns item, rater and rating"
        )
    if len(lists) != 1:
        return [record]
    rest = {name: value for name, value in record.items() if name != lists[0]}
    if len(record[lists[0]]) == 2:
        one, other = record[lists[0]]
        called = {plain(name) for name in (*one, *other)}
        chosen = any(plain(name) in WINNERS and value in (0, 1) for name, value in rest.items())
        if chosen and called & {*NAMES["text"]} and not called & {*NAMES["rater"], *NAMES["value"]} - {*NAMES["text"]}:
            sides = {f"{name}_{k}": value for k, each in enumerate((one, other)) for name, value in each.items()}
            return [{**rest, **sides}]
        verdicts = [name for name in one if all(GAME.fullmatch(str(each.get(name))) for each in (one, other))]
        if verdicts and all(one[n] == other.get(n) for n in one if plain(n) in NAMES["rater"]):
            raise RecuseError(
                f"{lists[0]} holds two verdicts of one judge on a pair, {shown(one[verdicts[0]])} and "
                f"{shown(other[verdicts[0]])}; nothing says whether the texts were shown the other way round for the "
                "second. Write a row for each, with columns item, judge, first and second (as shown) and winner"
            )
    bare = is_person(lists[0]) and all(isinstance(v, int | float) for one in record[lists[0]] for v in one.values())
    if bare or all(graded(one) is not None for one in record[lists[0]]):
        return [record]  # several people's marks by place: experts1, experts2
    return [
        deeper for row in record[lists[0]]
        for deeper in _unlisted({**rest, **{f"{lists[0]}.{k}" if k in rest else k: value for k, value in row.items()}})
    ]  # fmt: skip


def graded(one: Any) -> float | str | None:
    """What an object says that holds a grade and nothing else but its reasons; None for another."""
    if not isinstance(one, dict):
        return None
    grades = [value for name, value in one.items() if plain(str(name)) in NAMES["value"]]
    rest = [name for name in one if plain(str(name)) not in NAMES["value"]]
    reasons = all(plain(str(name)).rstrip("0123456789_") in NAMES["reason"] for name in rest)
    return grades[0] if len(grades) == 1 and reasons and isinstance(grades[0], int | float | str) else None


def _is_said(one: Mapping[str, Any]) -> bool:
    """Whether an object says who said what, of a talk, and nothing else: {"role": "user", "content": "Hello there"}."""
    names = {plain(name) for name in one}
    words = [value for name, value in one.items() if plain(name) in SAID]
    rated = "value" in names and not any(" " in str(value).strip() for value in words)  # {"from": "gpt", "value": "4"}
    return bool(names & SPEAKERS) and bool(words) and names <= SPEAKERS | SAID and not rated


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _flattened(record: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterable[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, dict) and value and depth < DEPTH:
            yield from _flattened(value, f"{before}{name}.", depth + 1)
        else:
            yield f"{before}{name}", cell_text(value)


def parsed(text: str | bytes) -> Any:
    """The value that JSON text holds. `ValueError` for what is none, nests without end, names a value twice, has a
    number of thousands of digits, or half of a character (a lone surrogate such as \\ud800), which no file can hold."""

    def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(value := dict(pairs)) < len(pairs):
            name = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
            beside = next((f" beside {key} {shown(one)}" for key, one in pairs if key != name), "")
            raise ValueError(f"{shown(name)} stands twice in one object{beside}")
        return value

    try:
        value = json.loads(text, object_pairs_hook=once_each)
        if re.search(r"\\[uU][dD][89a-fA-F]", text) if isinstance(text, str) else b"\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("lists or objects are nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ValueError(f"half of a character ({error.object[error.start]!a}) stands in it") from error
    except ValueError as error:
        if str(error).startswith("Exceeds the limit"):  # of int(), which advises to lift it
            raise ValueError("a number of thousands of digits stands in it") from error
        raise
    return value
