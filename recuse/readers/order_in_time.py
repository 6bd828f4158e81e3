"""In which order weeks, or versions, followed each other, by what they are called."""

from __future__ import annotations

import re
from collections.abc import Sequence

MONTHS = {
    name: k for k, names in enumerate(
        ("jan january januar", "feb february februar", "mar march mär märz", "apr april", "may mai", "jun june juni",
         "jul july juli", "aug august", "sep sept september", "oct october okt oktober", "nov november",
         "dec december dez dezember"), start=1,
    ) for name in names.split()
}  # fmt: skip
TOKEN = re.compile(r"\d+|[^\W\d_]+")
PART = r"(?:0?[1-9]|[12]\d|3[01])"
SHORT_DAY = re.compile(rf"{PART}([-./ ]){PART}(\1\d\d)?\.?")
YEARS = range(1900, 2200)


def in_time(names: Sequence[str]) -> list[str] | None:
    """The names by time: days and months by the calendar, week2 before week10. None where they do not tell, as 3/4/2026
    and W52 beside W1 without a year.

    >>> in_time(["W2/2026", "W51/2025", "W1/2026"])
    ['W51/2025', 'W1/2026', 'W2/2026']
    """
    if len(names) < 2:
        return [*names]
    keys = _keys(names)
    if keys is None or len({*keys}) < len({*names}):
        return None
    return [name for _, name in sorted(zip(keys, names, strict=True))]


def _keys(names: Sequence[str]) -> list[tuple[int, ...]] | None:
    """What sorts each name; None where names do not tell."""
    tokens = [[token.lower() for token in TOKEN.findall(name)] for name in names]
    months = [[MONTHS[token] for token in each if token in MONTHS] for each in tokens]
    words = {tuple(token for token in each if not token.isdecimal() and token not in MONTHS) for each in tokens}
    numbers = [[int(token) for token in each if token.isdecimal()] for each in tokens]
    lengths, named = {*map(len, numbers)}, {*map(len, months)}
    if len(words) > 1 or len(lengths) > 1 or len(named) > 1 or max(named) > 1 or {*lengths, *named} == {0}:
        return None
    years = [place for place in range(*lengths) if all(each[place] in YEARS for each in numbers)]
    if not years:
        keys = [(*month, *each) for month, each in zip(months, numbers, strict=True)]
        there, late = {key[0] for key in keys}, 11 if months[0] else 47
        turned = late <= max(there) <= 53 and len(there) <= max(there) - min(there)  # December, January
        return None if turned or any(map(SHORT_DAY.fullmatch, names)) else keys
    rest = [[*each[: years[0]], *each[years[0] + 1 :]] for each in numbers]
    if years[0] == 2 and not months[0]:  # day and month, or month and day
        first, second = (max(each[place] for each in rest) for place in (0, 1))
        day_first = first > 12 or (second <= 12 and all("." in name for name in names))
        if min(first, second) > 12 or not (day_first or second > 12):
            return None
        if day_first:
            rest = [[each[1], each[0], *each[2:]] for each in rest]
    return [(each[years[0]], *month, *left) for each, month, left in zip(numbers, months, rest, strict=True)]
