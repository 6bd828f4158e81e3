"""Columns whose cells hold JSON: a judge's whole answer, bare or in a fenced block, or a list of several answers."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recuse.readers.column_names import NAMES, is_judge, is_person, is_reason, plain, told_apart
from recuse.readers.columns import LONG, Column
from recuse.readers.json_records import graded, parsed
from recuse.readers.raw_table import RawTable, cell_text, shown
from recuse.readers.values import as_numbers
from recuse.schema import RecuseError

HELD, LOOKED_AT = 0.8, 200
"""A column is taken apart where so many of its filled cells hold one object each; so many are looked at first."""
FENCE = re.compile(r"```[a-zA-Z]*\s*(\{.*?\})\s*```", re.DOTALL)
FEWEST_TOLD = 0.5  # a field that fewer of the objects have is left out
BARE = re.compile(r"\s*-?\d+(?:\.\d+)?(?:(?:, | *[;|] *)-?\d+(?:\.\d+)?)*\s*")
"""Numbers side by side without brackets; a comma without a blank may be a decimal one."""
MOST_LISTED = 30  # longer lists hold something else than what several people said
MARKED = re.compile(r"(?s).*(?:\[\[\s*([^\[\]]{1,20}?)\s*\]\]|\[RESULT\]\W*?(-?\d+(?:\.\d+)?|[A-Za-z]+))\W*")
LAST = re.compile(
    r"(?is).*\b(?:score|rating|grade|verdict|decision|bewertung|result)\W*?(?:\bis\b|[:=])\W*?"
    r"(-?\d+(?:[.,]\d+)?(?:\s*(?:/|out of)\s*\d+)?|[a-z]{1,12})\W*"
)
FIRST = re.compile(r"(?is)\W{0,4}(yes|no|pass|fail|true|false|correct|incorrect|\d{1,3})\**\s*[,.:;\n–—-].*")
"""How a judge ends what it says: "[[8]]", "[RESULT] 4", in a judge's column "Rating: 4/5"; or begins: "Yes, since"."""
PROSE, FEWEST, MOST_ANSWERS = 30, 3, 25
"""Prose is at least so long; so many cells of it, with at most so many different answers in them."""


def with_fields_of_json(raw: RawTable) -> RawTable:
    """The table with columns "judge_output.verdict", ... in place of judge_output, empty for a cell without exactly one
    object: no answer. Beside a field that is called as ratings are, others with numbers are left out."""
    notes: list[str] = []
    parts: list[pd.DataFrame | pd.Series[Any]] = []
    for name in raw.names if not raw.made_by else ():
        cells = raw.frame[name]
        parts.append(cells)
        braces = any("{" in str(cell) for cell in raw.coded(name)[1])
        filled = cells[cells.str.strip() != ""] if braces else cells.iloc[:0]
        looked = [str(cell) for cell in filled.iloc[:LOOKED_AT]]
        if not looked or sum("{" in cell and _object(cell) is not None for cell in looked) < HELD * len(looked):
            continue
        objects = [_object(str(cell)) or {} for cell in cells]
        often = Counter(key for one in objects for key in one)
        names = [key for key, times in often.items() if times >= FEWEST_TOLD * len(filled)]
        if names == ["choices"] and not all(objects):  # as Label Studio writes several, beside a single one by its word
            continue
        rating = next((key for wanted in NAMES["value"] for key in names if plain(key) == wanted), None)
        beside = [key for key in names if rating is not None and key != rating]  # with numbers, such as a confidence
        left_out = [key for key in beside if any(isinstance(one.get(key), int | float) for one in objects)]
        fields = {f"{name}.{k}": [cell_text(one.get(k)) for one in objects] for k in names if k not in left_out}
        if fields:
            parts[-1] = pd.DataFrame(fields, index=cells.index, dtype=object)
            what = f"; not read: {', '.join(left_out)}" if left_out else ""
            notes.append(f"{name} holds JSON: read as {', '.join(fields)}{what}")
    if not notes:
        return raw
    frame = pd.concat(parts, axis=1)
    return raw.noted(*notes, frame=frame.loc[:, ~frame.columns.duplicated()])


def with_lists_apart(raw: RawTable) -> RawTable:
    """The table with a column for each place of the lists in a column's cells: several people's answers, or several of
    one judge. A list says a number twice somewhere, or it is a set of options and stays as it is; one of
    objects with numbers only, in a column called after raters, becomes a column per place and name. Lists of one
    answer each are that answer. `RecuseError` for lists of answers beside lists of as many texts.

        {"tone": [4, 4, 5]}                        annotator1.tone 4, annotator2.tone 4, ...
        {"experts": [{"tone": 4}, {"tone": 5}]}    experts1.tone 4, experts2.tone 5"""
    names = raw.heeded if raw.of_nobody_known else ()
    lists = {name: rows for name in names if (rows := _lists(raw.frame[name]))}
    grades = {name: [[graded(one) for one in row] for row in rows] for name, rows in lists.items()}
    grades = {name: rows for name, rows in grades.items() if all(one is not None for row in rows for one in row)}
    several = [name for name, rows in lists.items() if _says_twice(rows, is_person(name) or is_judge(name))]
    several = [*several, *(name for name in grades if name not in several)]
    lists |= grades
    names = raw.names if several else ()
    if told_apart({plain(name) for name in names if Column(name, raw.frame[name]).told_once}):
        # a number for each of two texts, which is asked about
        several = [name for name in several if is_person(name) or not {*map(len, lists[name])} <= {0, 2}]
    for name, rows in lists.items():  # as many texts in every row: an answer for each, whoever gave it
        texts = [one for row in rows for one in row if isinstance(one, str)]
        long = len(texts) == sum(map(len, rows)) and sum(map(len, texts)) > LONG * len(texts)
        answers = [other for other in several if [*map(len, lists[other])] == [*map(len, rows)]]
        if long and answers and not is_reason(name):
            raise RecuseError(
                f"{', '.join(answers)} hold as many answers a cell as {name} holds texts; write a row for each text, "
                f"with columns item, text and what was said of it; if {name} has nothing to do with them, say "
                f"--ignore {name}"
            )
    every = [row for rows in lists.values() for row in rows]
    if every and all(len(row) < 2 and not isinstance(one, dict | list) for row in every for one in row or [0]):
        alone = {name: [cell_text(row[0]) if row else "" for row in rows] for name, rows in lists.items()}
        return replace(raw, frame=raw.frame.assign(**alone))
    notes, frame = [], raw.frame
    for name in several:
        rows = lists[name]
        columns: dict[str, list[str]] = {}
        whose = name if is_judge(name) or (len(several) == 1 and is_person(name)) else "annotator"
        about = f".{name}" if len(several) > 1 and whose != name else ""
        whose += "_run" if is_judge(name) else ""
        for place in range(max(map(len, rows))):
            cells = [row[place] if place < len(row) else None for row in rows]
            if any(isinstance(cell, dict) for cell in cells):
                keys = dict.fromkeys(key for cell in cells if cell for key in cell)
                columns |= {f"{name}{place + 1}.{key}": [cell_text((c or {}).get(key)) for c in cells] for key in keys}
            else:
                columns[f"{whose}{place + 1}{about}"] = [cell_text(cell) for cell in cells]
        if not columns or {*columns} & {*frame.columns}:
            continue
        frame = pd.concat([frame.drop(columns=name), pd.DataFrame(columns, index=frame.index, dtype=object)], axis=1)
        notes.append(f"{name} holds several answers a cell, which are read by their place in it: {', '.join(columns)}")
    return raw.noted(*notes, frame=frame)


def with_last_words(raw: RawTable) -> RawTable:
    """The table with the answer alone in a column of a judge's prose that ends in it or begins with it; where the
    column's name is no judge's and no rating's, one more column, judge_NAME. Prose without is unparsed."""
    frame, notes = raw.frame, []
    given = raw.given_names("people") + raw.given_names("judges")
    for name in raw.heeded if raw.of_nobody_known else ():
        called = plain(name) in NAMES["value"] and plain(name) not in NAMES["text"]
        rated = name in given or called  # beside people's short answers
        codes, values = raw.coded(name)
        cells = [*map(str, values)]
        if max(map(len, cells), default=0) < PROSE:
            continue
        forms = (MARKED, LAST, FIRST) if is_judge(name) or rated else (MARKED,)
        if len(forms) == 1 and not any("[[" in cell or "[RESULT]" in cell for cell in cells):
            continue
        long = [len(cell) >= PROSE and not cell.lstrip().startswith("[{") for cell in cells]  # records say no more
        prose, filled = np.array([long, [*map(bool, map(str.strip, cells))]])[:, codes]
        if prose.sum() < (FEWEST if rated else max(FEWEST, filled.sum() / 2)):
            continue
        for form in forms:
            matches = [form.fullmatch(cell if form is FIRST else cell[-200:]) for cell in cells]
            ends = [next(filter(None, match.groups()), "") if match else "" for match in matches]
            last = pd.Series(np.array([*ends], dtype=object)[codes], index=frame.index)
            last_of_prose = last[prose]
            if last_of_prose.ne("").mean() >= HELD and last_of_prose.nunique() <= MOST_ANSWERS:
                break
        else:
            continue
        if not (is_judge(name) or rated):  # a column score beside "... [RESULT] 4" that says the same is that answer
            ends_of_prose = last[prose & last.ne("")]
            short = [frame.loc[ends_of_prose.index, other] for other in raw.names if plain(other) in NAMES["value"]]
            if any((as_numbers(ends_of_prose).eq(as_numbers(own)) | ends_of_prose.eq(own)).all() for own in short):
                continue
        answer = last.where(last.ne(""), "unparsed").where(prose, frame[name])
        frame = frame.assign(**{name if is_judge(name) or rated else f"judge_{name}": answer})
        notes.append(f"{name} is prose around an answer, such as {shown(last_of_prose.iloc[0])}: that is read")
    return raw.noted(*notes, frame=frame)


def _lists(cells: pd.Series[Any]) -> list[list[Any]]:
    """The lists in a column that holds nothing else, [] for an empty cell; [] for another column."""
    lists: list[list[Any]] = []
    bare = any(re.search(r"\d(?:, | *[;|] *)\d", str(cell)) for cell in cells[:LOOKED_AT])
    for cell in map(str, cells):
        if bare and BARE.fullmatch(cell):
            cell = f"[{re.sub(r' *[,;|] *', ',', cell)}]"
        if cell.strip() and not cell.lstrip().startswith("["):
            return []
        try:
            value = parsed(cell) if cell.strip() else []
        except ValueError:
            return []
        if not isinstance(value, list) or len(value) > MOST_LISTED:
            return []
        lists.append(value)
    return lists if any(lists) else []


def _says_twice(rows: list[list[Any]], named: bool) -> bool:
    """Whether a list says a number, or of lists of one length a word, twice; or numbers by name, where `named`."""
    if len({len(row) for row in rows}) == 1 and all(isinstance(one, str) for row in rows for one in row):
        return any(len({*row}) < len(row) for row in rows)
    bare = [[v for one in row for v in (one.values() if isinstance(one, dict) else [one])] for row in rows]
    numbers = all(isinstance(value, int | float) for row in bare for value in row)
    objects = any(isinstance(one, dict) for row in rows for one in row)
    return numbers and (named if objects else any(len({*row}) < len(row) for row in bare))


def _object(cell: str) -> dict[str, Any] | None:
    """The only object in a cell: in its only fenced block, or anywhere in it; none of a list of them."""
    if cell.lstrip().startswith("["):
        return None
    fenced = [cell] if cell.startswith("{'") else FENCE.findall(cell)
    objects = [*map(literal, fenced)]
    decoder, at = json.JSONDecoder(), -1 if fenced else cell.find("{")
    try:
        while at >= 0 and len(objects) < 2:  # from left to right, those within another not among them
            value, end = decoder.raw_decode(cell, at)
            objects.append(value)
            at = cell.find("{", end)
    except (ValueError, RecursionError):
        return None
    one = objects[0] if len(objects) == 1 else None
    return one if isinstance(one, dict) and one else None


def literal(text: str) -> Any:
    """The value of JSON, or of what pandas writes into CSV as Python does; None for neither."""
    with suppress(ValueError):
        return parsed(text)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.literal_eval(text[:1_000_000])
    return None
