"""Answers that were counted before: a column `count_<answer>` per option, or a share of people and their number, beside
judges who answer in the same words; and items in a column `count`, which were answered alike (docs/files.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.folding import FOLDED_FROM
from recuse.readers.column_names import COUNTS, NAMES, as_option, is_attribute, is_judge, is_person, plain
from recuse.readers.columns import FEW_LABELS, Column, Roles
from recuse.readers.item_columns import take_item
from recuse.readers.judgement_rows import Judgements
from recuse.readers.raw_table import RawTable, shown
from recuse.readers.values import EMPTY, ORDERS, STATUSES, as_numbers, unwrapped
from recuse.schema import RecuseError

COUNTED = re.compile(r"^(?:counts?|votes?)[ _:]+(?:for[ _])?(.*\S)\s*$|^(.*\S)[ _:]+votes?\s*$", re.IGNORECASE)
"""count_toxic, votes_for_toxic and toxic_votes."""
HOW_MANY = re.compile(r"^(?:n|num|number_of|total)_(?:annotators?|raters?|votes?|labelers?|annotations|ratings)$|"
                      r"^(?:annotator|rater|vote)s?_count$")  # fmt: skip
TOTAL = ("total", "count_total", "counts_total", "count", "sum")
MOST = 10_000_000  # answers that are counted
SEED = 0
FEWEST_ROWS, MOST_OPTIONS = 8, 12  # fewer rows may add up by chance; answers to one question are no more than these


def without_counts(raw: RawTable) -> RawTable:
    """The table with one answer per row; as it is where nothing is counted, some column holds ratings that are not, or
    people and judges are named. `RecuseError` with its line for a count that is no whole number from 0, for counts that
    do not add up to the total, for a rater without any valid answer, and for a judge who answers in other words."""
    raw = raw if raw.all_named else _shares_as_counts(_named_as_counts(raw))
    columns = {name: m[1] or m[2] for name in raw.names if (m := COUNTED.match(name))}
    totals = {name for name in raw.names if plain(name) in TOTAL or HOW_MANY.match(plain(name))}
    answers = {n: answer for n, answer in columns.items() if n not in totals and Column(n, raw.frame[n]).numeric}
    rest = [name for name in raw.names if name not in columns and name not in totals]
    if len(answers) < 2:
        return raw
    options = [*answers.values()]
    judges = [name for name in rest if _holds_ratings(name) or _answers_with(raw, name, options)]
    for name in (name for name in judges if raw.all_named or not _answers_with(raw, name, options)):
        words = _words(raw, name)
        labels = any(map(_how_many, raw.names)) or not as_numbers(raw.frame[name]).notna().any()
        if is_judge(name) and not (raw.all_named or is_person(name)) and len(words) <= FEW_LABELS and labels:
            raise RecuseError(
                f"answers of {', '.join(options)} are counted, and {name} says "
                f"{', '.join(map(shown, sorted(words)[:4]))}; say which of its answers is which (--same "
                f"{min(words)}={options[0]},...), or --ignore {name}"
            )
        return raw
    counts = np.column_stack([_counts(raw, name) for name in answers])
    for total in [name for name in raw.names if plain(name) in TOTAL][:1]:
        wrong = np.flatnonzero(_counts(raw, total) != counts.sum(axis=1))
        for row in wrong[:1]:
            added = f"{' + '.join(map(str, counts[row]))} = {counts[row].sum()}"
            more = f" (and {len(wrong) - 1} more rows)" if len(wrong) > 1 else ""
            raise RecuseError(
                f"{raw.place(row)}: {', '.join(answers)} add up to {added}, and {total} says "
                f"{shown(raw.frame[total].iloc[row])}{more}; mend the row, or add a column such as count_unparsed for "
                "answers that are none of these"
            )
    rater = next((name for name in rest if plain(name) in NAMES["rater"] and name not in judges), "rater")
    frame = raw.frame[rest] if rater in rest else raw.frame[rest].assign(rater="people")
    valid = counts[:, [answer.strip().lower() not in STATUSES for answer in options]].sum(axis=1)
    silent = [str(name) for name, rows in frame.groupby(rater, sort=False).indices.items() if not valid[rows].any()]
    if silent:
        raise RecuseError(f"{shown(silent[0])} gave no valid answer to any item: all its counts are 0; leave it out")
    note = f"counts of {', '.join(options)}: every answer that is counted is read as a row, in no order"
    # Which of several people gave which answer is not known: answers are dealt out in an order drawn by a fixed seed,
    # since one in the order of the options would make person 1 of every item choose the first.
    size = counts.sum(axis=1)
    row = np.repeat(np.arange(len(frame)), size)
    label = np.repeat(np.tile(np.array(options, dtype=object), len(frame)), counts.ravel())
    label = label[np.lexsort((np.random.default_rng(SEED).random(len(row)), row))]
    repeat = (np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)).astype(str).astype(object)
    spread = raw.of_rows(frame.iloc[row].reset_index(drop=True).assign(label=label, repeat=repeat), row, note)
    if not judges:
        return spread
    # the people's answers, a row each, and below them a row for every judge of a column of its own
    kept = [name for name in spread.names if name not in judges]
    facts = raw.frame[[name for name in kept if name in raw.frame]]
    rows = [spread.frame[kept], *(facts.assign(rater=n, label=raw.frame[n], repeat="0") for n in judges)]
    places = [*(spread.numbers or ()), *(raw.at(k) for _ in judges for k in range(len(raw.frame)))]
    return replace(spread, frame=pd.concat(rows, ignore_index=True)[kept].fillna(""), numbers=tuple(places))


def _named_as_counts(raw: RawTable) -> RawTable:
    """Columns side by side that always add up to one of how many there are count answers: toxic becomes count_toxic."""
    total = next(filter(_how_many, raw.names), "")
    free = [n for n in raw.names if n != total and not (is_judge(n) or is_person(n) or COUNTED.match(n))]
    if not total or len(raw.frame) < FEWEST_ROWS:
        return raw
    values = {n: as_numbers(raw.frame[n]).to_numpy() for n in free if Column(n, raw.frame[n]).numeric}
    sums = as_numbers(raw.frame[total]).to_numpy()
    for start in range(len(free)):
        for end in range(start + 2, min(start + MOST_OPTIONS, len(free)) + 1):
            own = free[start:end]
            if all(n in values for n in own) and np.array_equal(np.sum([values[n] for n in own], axis=0), sums):
                return replace(raw, frame=raw.frame.rename(columns={n: f"count_{n}" for n in own}))
    return raw


def _how_many(name: str) -> bool:
    """Whether a column is called `count` or `n`, or as numbers of raters are."""
    return plain(name) in COUNTS[:2] or HOW_MANY.match(plain(name)) is not None


def _answers_with(raw: RawTable, name: str, options: Sequence[str]) -> bool:
    """Whether a column that is called as judges are says nothing but these words."""
    known, words = {option.strip().lower() for option in options}, _words(raw, name)
    return (is_judge(name) or _holds_ratings(name)) and bool(words & known) and words <= known | {*STATUSES}


def _words(raw: RawTable, name: str) -> set[str]:
    return {unwrapped(str(word).strip().lower()) for word in raw.frame[name].unique()} - {*EMPTY}


def _shares_as_counts(raw: RawTable) -> RawTable:
    """Counts in place of a share of people and their number. `RecuseError` where nothing tells what the others said."""
    judges = [name for name in raw.names if is_judge(name) and not is_attribute(name)]
    known = {plain(name): name for name in raw.names}
    of = {name: known.get(f"{plain(name)}_annotator_count", "") for name in raw.names}
    shares = [name for name, counted in of.items() if counted and as_numbers(raw.frame[name]).between(0, 1).all()]
    votes = [name for name in raw.names if COUNTED.match(name) and not HOW_MANY.match(plain(name))]
    totals = [name for name in raw.names if HOW_MANY.match(plain(name)) or plain(name) in TOTAL]
    voted = len(votes) == len(totals) == 1 and bool(judges) and not shares
    if voted:  # the only column that counts votes for something, never more than the one that says how many there were
        some, every = as_numbers(raw.frame[votes[0]]), as_numbers(raw.frame[totals[0]])
        voted = bool(((some >= 0) & (some <= every) & (some % 1 == 0) & (every % 1 == 0)).all())
    if shares and not judges:  # whoever the others are, these are people
        return replace(raw, frame=raw.frame.rename(columns={name: f"people_{name}" for name in shares}))
    if not (shares or voted):
        return raw
    share, counted = (votes[0], totals[0]) if voted else (shares[0], of[shares[0]])
    answer = plain(share)
    if voted and (named := COUNTED.match(share)):
        answer = str(named[1] or named[2]).strip().lower()
    words = {word for name in judges for word in _words(raw, name)} - {*STATUSES}
    others = (f"not {answer}", f"non-{answer}", f"not_{answer}", f"un{answer}")
    orders = [*(order for order in ORDERS if len(order) == 2 and words <= {*order}),
              *((no, answer) for no in others if words == {no, answer})]  # fmt: skip
    if not orders:
        raise RecuseError(
            f"{share} counts people, or is a share of them, {counted} how many they were, and {', '.join(judges)} does "
            f"not say yes or no (it says {', '.join(map(shown, sorted(words)[:3]))}). Say which word is yes and which "
            f"is no (--same WORD=yes,WORD=no); to read the share as one rating, say --people {share} "
            f"--judges {as_option(judges)}"
        )
    total = as_numbers(raw.frame[counted])
    yes = as_numbers(raw.frame[share]) if voted else (as_numbers(raw.frame[share]) * total).round()
    frame = raw.frame.drop(columns=[share, counted])
    for word, number in zip(orders[0][::-1], (yes, total - yes), strict=True):
        frame[f"count_{word}"] = number.astype(int).astype(str).astype(object)
    return raw.noted(f"{share} says how many of {counted} people said {orders[0][1]}", frame=frame)


def _holds_ratings(name: str) -> bool:
    other = plain(name) in (*NAMES["rater"], *NAMES["item"], *NAMES["target"])
    return not other and (plain(name) in NAMES["value"] or is_judge(name) or is_person(name))


def _counts(raw: RawTable, name: str) -> NDArray[np.int64]:
    cells = raw.frame[name]
    values = as_numbers(cells.where(cells.astype(str).str.strip() != "", "0"))
    bad = values.isna() | (values < 0) | (values % 1 != 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise RecuseError(
            f"{raw.place(row)}, column {name}: {shown(cells.iloc[row])} is no count; a count is a whole number from 0"
        )
    if float(values.sum()) > MOST:
        raise RecuseError(f"column {name} counts {values.sum():.0f} answers; at most {MOST:,} can be read")
    return np.asarray(values, dtype=np.int64)


def with_counted_items(judged: Judgements) -> Judgements:
    """The table with its items counted (`of_counted`), and the role of the column that counts them; as it is where none
    does. Where its `roles` name none, one called `count` or `n` does if no other column says which item a row is; one
    with another usual name, or whose numbers always rise, is asked about, as is any beside names of items where no two
    rows hold the same answers and systems. A running number counts nothing. `RecuseError` with these questions, for a
    count that is no whole number from 1, and for several."""
    raw, frame, roles = judged.raw, judged.raw.frame, judged.raw.roles
    known = {plain(name): name for name in raw.names if name not in roles.get("ignore", ())}
    given = str(roles.get("count", ""))
    column = given or next((known[word] for word in COUNTS if word in known), "")
    guess = Roles(replace(raw, times=None), {**roles, "count": column}) if column else None
    if guess is None or not (given or guess.columns[column].numeric):
        return judged
    counts = as_numbers(frame[column])
    whole = (counts >= 1) & (counts % 1 == 0)
    different, times = np.unique(counts, return_counts=True)
    numbers = len(different) >= FEWEST_ROWS and (times == times[0]).all()  # each once, or once by each rater
    take_item(guess, int(counts[whole].sum()))
    item = guess.filled("item") or [c.name for c in guess.free if c.wordy]
    answers = [c.name for c in guess.free if c.rating]
    if not given and item and not (answers and whole.all() and not frame[answers].duplicated().any()):
        return judged
    if not (given or item) and numbers and np.ptp(different) == len(different) - 1:
        return judged  # a running number
    if not given and (item or (numbers and counts.is_monotonic_increasing) or plain(column) not in COUNTS[:2]):
        beside = f", beside {item[0]}" if item else ""
        raise RecuseError(
            f"does {column} say how many items each row stands for{beside}? If so, say --count {column}; "
            f"if not, --ignore {column}"
        )
    if not whole.all():
        row = int(np.flatnonzero(~whole)[0])
        raise RecuseError(
            f"{raw.place(row)}, column {column}: {shown(frame[column].iloc[row])} is no number of items; "
            f"each row stands for a whole number of them, 1 or more. Mend the row or leave it out; if {column} is "
            f"something else, say --ignore {column}"
        )
    if item and (frame.assign(**{column: counts}).groupby(item, sort=False)[column].nunique() > 1).any():
        raise RecuseError(
            f"rows of one {item[0]} have several counts in {column}; if it counts answers, write a column "
            "count_ANSWER for each answer, else one count for each item"
        )
    note = f"{column} says how many items each row stands for: {len(frame):,} rows are {counts.sum():,.0f} items"
    raw = raw.noted(note, roles={**roles, "count": column})
    return replace(judged, raw=of_counted(raw, np.asarray(counts, dtype=np.int64), (guess.filled("item") or [""])[0]))


def of_counted(raw: RawTable, counts: NDArray[np.int64], item: str = "") -> RawTable:
    """Each row as often as it counts, copies of a named item with names of their own; many stay counted (`times`)."""
    total = int(counts.sum())
    if total >= FOLDED_FROM:
        return replace(raw, times=counts)
    row = np.repeat(np.arange(len(raw.frame)), counts)
    frame = raw.frame.iloc[row].reset_index(drop=True)
    if item:
        copy = (np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)).tolist()
        frame[item] = [f"{name} ({k})" if k else name for name, k in zip(frame[item], copy, strict=True)]
    return raw.of_rows(frame, row)
