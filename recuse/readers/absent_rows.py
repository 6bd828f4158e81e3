"""Texts that a long table has no row for: whether a judge was asked about them, and left them unanswered.

    item, rater, score        the same ratings, wide:   item, gpt, anna
    t1,   gpt,   4                                      t1,   4,   5
    t1,   anna,  5                                      t2,   ,    2
    t2,   anna,  2            <- gpt has no row for t2, as its cell is empty in the wide table

Both say that gpt gave no usable answer on t2, and both count it as that: a judge that passes over what is hard must not
look better for the shape of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recuse.readers.column_names import BATCHES, plain
from recuse.readers.mapping import ColumnMapping
from recuse.readers.raw_table import RawTable

if TYPE_CHECKING:
    import pandas as pd

LOGS = ("openai_batch", "inspect", "promptfoo", "alpaca_eval", "deepeval")
Texts = NDArray[np.bool_]


def with_absent_rows(
    rows: pd.DataFrame, raw: RawTable, mapping: ColumnMapping, factors: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """The rows of a long table with an unusable answer (status "unparsed") of each judge for each text that it has no
    row for, and a note for each judge; a wide table as it is.

    A text is an item of a target on a criterion, or a pair of an item, whichever way round. A judge was asked about
    every text that people rated or another judge answered, at each combination of factor levels that it has rows at,
    unless the design says otherwise:

    - it has no row on that criterion at all;
    - none of its texts is among people's: what people rated is no list of what it was asked;
    - the text is another judge's, and the two judges share no text: they were given halves;
    - the text is its own work, and it has no row on any of its own;
    - a pair has a system of which none of several judges has any row: a note says so;
    - the text lies in a batch (`BATCHES`) in which it has no row;
    - at this level nobody has the text, and at another level the judge itself has it;
    - the file is the log of a tool that keeps a record of every request, failed ones too (`LOGS`);
    - `mapping.sampled`: judges were asked about samples, as the user says. Then nothing is counted.

    A text has as many unusable repeats as the judge's texts mostly have."""
    if not mapping.rater or raw.made_by in LOGS or not rows["kind"].eq("judge").any():
        return rows, []
    import pandas as pd

    text, count = _texts(rows)
    not_put = _systems_not_put(rows)
    added = []
    notes = [f"pairs with {', '.join(not_put)} were put to no judge, and do not count"] if not_put else []
    for judge, absent, given in _absent(rows, raw.frame, list(factors), text, count, not_put):
        lost = {t for _, texts in absent for t in np.flatnonzero(texts)}
        if not lost:
            continue
        where = f"{judge} has no row for {len(lost)} of {int(given.sum()) + len(lost)} texts that others rated"
        if mapping.sampled:
            notes.append(f"{where}: it was asked about a sample, as you said, and they do not count")
            continue
        notes.append(f"{where}: they count as unanswered; if it was asked about a sample only, say --sampled")
        mine = rows["rater"].eq(judge).to_numpy()
        repeats = _usual_repeats(rows.loc[mine, "repeat"].to_numpy(), text[mine])
        for levels, texts in absent:
            added += [_unanswered(rows, text, texts, judge, levels, repeat) for repeat in repeats]
    return (pd.concat([rows, *added], ignore_index=True) if added else rows), notes


def _texts(rows: pd.DataFrame) -> tuple[NDArray[np.intp], int]:
    """The number of each row's text, and how many there are."""
    import pandas as pd

    keys = [rows[name].astype(str) for name in ("item", "target", "criterion")]
    if "first" in rows:
        one, other = rows["first"].astype(str), rows["second"].astype(str)
        keys += [one.where(one <= other, other), other.where(one <= other, one)]
    codes, known = pd.factorize(pd.MultiIndex.from_arrays(keys))
    return np.asarray(codes, dtype=np.intp), len(known)


def _absent(
    rows: pd.DataFrame, frame: pd.DataFrame, factors: list[str], text: NDArray[np.intp], count: int, not_put: list[str]
) -> Iterator[tuple[str, list[tuple[dict[str, Any], Texts]], Texts]]:  # fmt: skip
    """(judge, [(factor -> level, its absent texts at these)], the texts that it has) of every judge."""
    first = np.full(count, -1, dtype=np.intp)
    first[text[::-1]] = np.arange(len(rows))[::-1]  # a row of each text, which tells what it is about
    criterion, target = (rows[name].to_numpy()[first] for name in ("criterion", "target"))
    author = rows["author"].to_numpy()[first] if "author" in rows else target
    batches = [frame[name].to_numpy()[rows["row"].to_numpy()[first]] for name in frame if plain(str(name)) in BATCHES]
    level = list(map(tuple, rows[factors].to_numpy())) if factors else [()] * len(rows)
    levels = {each: np.array([one == each for one in level], dtype=bool) for each in dict.fromkeys(level)}

    def among(which: Any) -> Texts:
        here = np.zeros(count, dtype=bool)
        here[text[which]] = True
        return here

    rater, judges = rows["rater"].to_numpy(), rows["kind"].eq("judge").to_numpy()
    having = {name: among(judges & (rater == name)) for name in dict.fromkeys(rater[judges])}
    people = among(~judges)
    known: Texts = np.ones(count, dtype=bool)
    for side in ("first", "second") if not_put else ():
        known &= ~np.isin(rows[side].astype(str).to_numpy()[first], not_put)
    for judge, own in having.items():
        others = [texts for name, texts in having.items() if name != judge]
        meeting = np.any([t for t in others if (t & own).any()] or [np.zeros(count, dtype=bool)], axis=0)
        elsewhere = np.any(others or [np.zeros(count, dtype=bool)], axis=0) & ~meeting
        asked = meeting | (people & ~elsewhere if (people & own).any() else False)
        asked &= np.isin(criterion, list(set(criterion[own]))) & known
        if not (own & (author == judge)).any():
            asked &= author != judge
        for batch in batches:
            asked &= np.isin(batch, list(set(batch[own])))
        mine, absent = judges & (rater == judge), []
        for each, at in levels.items():
            if (mine & at).any():
                absent.append((dict(zip(factors, each, strict=True)), asked & ~among(mine & at) & (among(at) | ~own)))
        yield str(judge), absent, own


def _systems_not_put(rows: pd.DataFrame) -> list[str]:
    """Systems of pairs that people compared and of which none of several judges has a row."""
    judges = rows["kind"].eq("judge")
    if "first" not in rows or rows.loc[judges, "rater"].nunique() < 2:
        return []
    people, put = (set(rows.loc[who, ["first", "second"]].astype(str).to_numpy().ravel()) for who in (~judges, judges))
    return sorted(people - put)


def _usual_repeats(repeat: NDArray[np.intp], text: NDArray[np.intp]) -> list[int]:
    """The repeats that more than half of a judge's texts have; at least the first."""
    size = len(set(text.tolist()))
    usual = [int(k) for k in np.unique(repeat) if 2 * len(set(text[repeat == k].tolist())) > size]
    return usual or [0]


def _unanswered(
    rows: pd.DataFrame, text: NDArray[np.intp], texts: Texts, judge: str, levels: dict[str, Any], repeat: int
) -> pd.DataFrame:
    """A row for each of these texts, of a pair for each way round that the table has, without an answer."""
    about = rows[texts[text]]
    sides = [name for name in ("first", "second") if name in rows]
    about = about.drop_duplicates(["item", "target", "criterion", *sides])
    return about.assign(
        rater=judge, kind="judge", repeat=repeat, cell="", score=np.nan, response=None, status="unparsed", **levels
    )
