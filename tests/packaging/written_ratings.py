"""Ratings written out in a line, as the examples in docstrings have them at hand: `example`, `table`,
`rated` and `accepted`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.ratings.scale import ResponseSets


def table(columns: str, rows: str) -> pd.DataFrame:
    """A table: a row after another, parted by semicolons, cells parted by blanks, the last left out where empty. A
    last cell such as 1/2/3 makes three rows, on the items t0, t1 and t2.

    >>> table("judge score", "x 5; y 4").to_dict("list")
    {'judge': ['x', 'y'], 'score': [5, 4]}
    """
    names = columns.split()
    frame = pd.DataFrame([dict(zip(names, row.split(), strict=False)) for row in rows.split(";")])
    if frame[last := names[-1]].str.contains("/", na=False).any():
        frame = frame.assign(**{last: frame[last].str.split("/")}).explode(last)
        frame = frame.assign(item="t" + frame.groupby(level=0).cumcount().astype(str)).reset_index(drop=True)
    for name in names:
        if not frame[name].str.contains("[^-.0-9]", na=False).any():
            frame[name] = pd.to_numeric(frame[name])
    return frame


def example(columns: str, rows: str, **more: Any) -> Ratings:
    """Ratings written out as in `table`, of judge j and item i unless they say otherwise; `more` as for `Ratings.of`.

    >>> example("judge score", "x 5; y 4").judges
    ('x', 'y')
    """
    frame = table(columns, rows)
    judged = {} if {"judge", "rater"} & set(frame) else {"judge": "j"}
    return Ratings.of(frame.assign(**judged, **({} if "item" in frame else {"item": "i"})), **more)


def rated(**answers: str) -> Ratings:
    """Ratings by `judge` and by people of any name: p is pass, f is fail, a digit is a score from 0 to 9, - is nothing.

    >>> rated(judge="pf-", ann="pff").people is None
    True
    """
    words = {"p": "pass", "f": "fail"}
    scored = any(letter.isdigit() for text in answers.values() for letter in text)
    column = "score" if scored else "response"
    rows = [
        (who, "judge" if who == "judge" else "person", f"text {k}", float(x) if x.isdigit() else words.get(x))
        for who, text in answers.items()
        for k, x in enumerate(text)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", column])
    return Ratings.of(frame, scales=Numeric(0, 9) if scored else Ordinal(("fail", "pass")))


def accepted(**answers: str) -> Ratings:
    """Choices with response sets beside them: p and f as in `rated`, b accepts both and chose pass.

    >>> accepted(judge="pb", ann="fb").beside("response_sets").table["response"].tolist()
    ['pass', 'fail|pass', 'fail', 'fail|pass']
    """
    chosen = rated(**{who: text.replace("b", "p") for who, text in answers.items()})
    words = {"p": "pass", "f": "fail", "b": "fail|pass"}
    named = [words[letter] for text in answers.values() for letter in text]
    sets = Ratings.of(chosen.table.assign(response=named), scales=ResponseSets(("fail", "pass")))
    return replace(chosen, beside=lambda kind: sets if kind == "response_sets" else None, _memory={})
