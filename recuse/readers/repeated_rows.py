"""What stands in a file more than once: repeats of a judge are numbered, copies count once, contradictions not at all.
Rows that are there twice, cell by cell, are an export that was appended to itself; copies of texts no new evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.array import first_of, grouped
from recuse.ratings.ratings_table import repeated
from recuse.readers.column_names import BATCHES, PROMPTS, as_option, is_reason, plain
from recuse.readers.columns import Column
from recuse.readers.judgement_rows import Judgements, written_out
from recuse.readers.raw_table import Fault, faults_in, shown, single_blanks
from recuse.readers.values import is_empty
from recuse.schema import RecuseError

SURELY = 5  # fewer rows may be alike by chance
SHORT = 20  # texts of fewer letters ("Yes.", "No idea") may be the same without being copies
LOGS = ("openai_batch", "inspect", "promptfoo", "alpaca_eval", "deepeval")
Texts = NDArray[np.bool_]
MANY = 0.1  # of a person's texts, so many are not asked about twice by mistake


def without_copies(judged: Judgements) -> Judgements:
    """The rows without copies of earlier ones, which are no repeats: they would make a judge look steady. They are told
    from repeats by people, whom nobody asks twice: theirs are among the copied rows, every row that comes again is a
    copy, and there are `SURELY` of them. Where a column numbers repeats, or none names items, nothing is taken away."""
    long, raw, mapping = judged.rows, judged.raw, judged.mapping
    if mapping.repeat or not mapping.item or not long["kind"].eq("person").any():
        return judged
    again = np.flatnonzero(raw.frame.duplicated([*mapping.item], keep=False))
    frame = raw.frame.iloc[again]
    copied = long["row"].isin(again[frame.duplicated()])
    if copied.sum() < SURELY or not (copied & long["kind"].eq("person")).any():
        return judged
    keys = mapping.filled("item", "factors", "target", "criterion", "rater", "order", "first", "second")
    if (frame.duplicated(keys) & ~frame.duplicated()).any():
        return judged
    rows = long.loc[copied, "row"].drop_duplicates()
    places, done = [*map(raw.place, rows[:5])], "each counts once; a column `repeat` would make them repeats"
    faults = Fault.where("row(s) are copies of earlier ones, cell by cell", places, done, len(rows))
    return judged.noted(faults=faults, rows=long[~copied].reset_index(drop=True))


def without_duplicates(judged: Judgements) -> Judgements:
    """Rows with repeats numbered from 0: a judge's several rows, where no column says which repeat each is; else one
    that is there twice counts once, with two answers as unusable. `RecuseError` for errors marked in a text."""
    rows, mapping = judged.rows, judged.mapping
    keys = ["rater", "item", "target", "criterion", *judged.factors, *[c for c in ("first", "second") if c in rows]]
    notes: list[str] = []
    if not mapping.repeat and (rows["repeat"] < 0).any():
        if not repeated(map(rows.get, keys), len(rows)).any():
            return judged.noted(rows=rows.assign(repeat=rows["repeat"].clip(lower=0)))
        marked = [name for name in mapping.value if plain(name).endswith("severity")]
        if marked:
            raise RecuseError(
                f"{marked[0]}: some raters have several rows on one text, each an error that they marked; add them up "
                "to a score of each text (minor 1, major 5, for example), a row each, or say --ignore " + marked[0]
            )
        _check_asked_once(judged, rows[rows["repeat"] < 0], keys)
        count = rows.groupby(keys, sort=False, dropna=False, observed=True).cumcount()
        rows = rows.assign(repeat=np.where(rows["repeat"] < 0, count, rows["repeat"]))
        if (count[rows["kind"].eq("judge")] > 0).any():
            notes = ["no column says which repeat a row is: a judge's further rows on one text are read as its repeats"]
    keys = [*keys, "repeat"]
    again = rows[repeated(map(rows.get, keys), len(rows))]
    if again.empty:
        return judged.noted(*notes, rows=rows)
    answer = again["response"].where(again["response"].notna(), again["score"]).astype(str)
    differ = answer.groupby(grouped(*map(again.get, keys)), sort=False).transform("nunique") > 1
    extra, split = rows.duplicated(keys), differ.reindex(rows.index, fill_value=False)
    done = "they count as unusable; a column `repeat` would make them repeats"
    same, twice, place = rows[extra & ~split], "judgement(s) are there twice", judged.raw.place
    faults = faults_in(f"{twice} with the same answer", same, place, "each counts once")
    faults += faults_in(f"{twice} with different answers", again[differ], place, done)
    if differ.any():
        unusable = {"score": np.nan, "response": None, "status": "error"}
        rows = rows.assign(**{name: rows[name].mask(split, usual) for name, usual in unusable.items()})
    return judged.noted(*notes, faults=faults, rows=rows[~extra])


def _check_asked_once(judged: Judgements, rows: pd.DataFrame, keys: list[str]) -> None:
    """`RecuseError` where people answer many texts differently in several rows, though nobody is asked twice."""
    people = rows[rows["kind"].eq("person")]
    again = people[repeated(map(people.get, keys), len(people))]
    if again.empty:
        return
    fewest = max(SURELY, MANY * (len(people) - people.duplicated(keys).sum()))
    each = again.groupby(keys, observed=True)["cell"].agg(["nunique", "size"])
    if (each["size"] - 1)[each["nunique"] > 1].sum() < fewest:  # of two texts, every row may be a further one
        return
    own, who = "--item COLUMN" if judged.mapping.rater else f"--ignore {as_option(judged.mapping.item)}", ""
    given = judged.raw.given.get("ignore", ())
    for name in (n for n in judged.mapping.ignored if plain(n).endswith("id") and n not in given):
        ids = judged.raw.frame[name].to_numpy()[again["row"]]
        if is_empty(judged.raw.frame[name]).any() or again.assign(id=ids).duplicated([*keys, "id"]).any():
            continue
        if len({*ids}) > again["row"].nunique() / 2:
            own = f"--item {as_option([name])}"
        elif not judged.mapping.rater:
            who = f"if {name} says who gave them, --rater {name} in place of --people; "
    raise RecuseError(
        f"{again['rater'].iat[0]} has several rows on one text ({shown(again['item'].iat[0])}) that differ: if each is "
        f"about a text of its own, say {own}; {who}if they are repeats, number them in a column repeat"
    )


def with_copies_in_clusters(judged: Judgements) -> Judgements:
    """The rows with a column `cluster`, and what clusters are called; rows without one where items are neither in
    clusters nor copies of each other. Items are copies where all their texts, by target, are the same in every column
    of texts (the text that was judged and the prompt it answers), whatever the case and blanks, and in every row. They
    are one cluster, joined with that which the file gives any of them: errors of five copies are the error of one text,
    and an interval must not shrink by them."""
    rows, frame, mapping = judged.rows, judged.raw.frame, judged.mapping
    names, read = judged.raw.names, mapping.columns() - {*mapping.item}
    # the text that was judged and the prompt, by their names; without the former, every free text
    free = [n for n in names if n not in read and not is_reason(n) and (plain(n) in PROMPTS or not mapping.text)]
    columns = [n for n in names if n == mapping.text or (n in free and Column(n, frame[n], judged.raw.coded).wordy)]
    judged = replace(judged, clusters=mapping.cluster or "text")
    if not columns:
        return judged
    rows = written_out(rows)
    once = rows.drop_duplicates(["item", "target"])
    texts = _words(once, frame, columns)
    if len({*texts}) == len(texts):
        return judged
    # item -> all its texts with their targets, "" where they are too short to tell copies
    own_texts = [f"{target}\x1f{text}" for target, text in zip(once["target"], texts, strict=True)]
    facts = once[["item"]].assign(key=pd.Series(own_texts, index=once.index, dtype=object), size=[*map(len, texts)])
    whole = facts.set_index("item")
    if facts["item"].duplicated().any():
        groups = facts.sort_values("key", kind="stable").groupby("item", sort=False)
        whole = groups.agg(key=("key", "\x1e".join), size=("size", "max"))
    whole = whole.reindex(once["item"].drop_duplicates())
    keys = whole["key"].where(whole["size"] >= SHORT, "")
    copies = keys[keys.duplicated(keep=False) & (keys != "")]
    every = rows[rows["item"].isin(copies.index)].drop_duplicates(["item", "target", "row"])
    differ = every[["item", "target"]].assign(text=_words(every, frame, columns)).drop_duplicates()
    copies = copies.drop(differ.loc[differ.duplicated(["item", "target"]), "item"].unique())  # raters' own words
    copies = copies[copies.duplicated(keep=False)]
    if copies.empty or (len(copies) == len(keys) and copies.nunique() == 1):  # all items share it: no text of theirs
        return judged
    known = rows.drop_duplicates("item").set_index("item")
    first = copies.drop_duplicates().reset_index().set_index(copies.drop_duplicates().to_numpy())["item"]
    own = known["cluster"].astype(str) if "cluster" in known else known.index.to_series()
    cluster = _joined(own, own[first[copies].to_numpy()].to_numpy(), own[copies.index].to_numpy())
    note = (
        f"{len(copies)} of {len(keys)} items have the same text as another ({', '.join(columns)}): {copies.nunique()} "
        "texts under several ids. Copies are one cluster, not further evidence"
    )
    return judged.noted(note, rows=rows.assign(cluster=rows["item"].map(cluster)))


def _words(rows: pd.DataFrame, frame: pd.DataFrame, columns: list[str]) -> list[str]:
    cells = frame[columns].to_numpy()[rows["row"].to_numpy()]
    texts = cells[:, 0] if len(columns) == 1 else map(" ".join, cells)
    return [single_blanks(text).lower() for text in texts]


def _joined(cluster: pd.Series[Any], one: Any, other: Any) -> pd.Series[Any]:
    """Item -> cluster after the clusters in `one` are joined with those in `other`, each called as its first."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    names = pd.Index(cluster.unique())
    links = coo_array((np.ones(len(one)), (names.get_indexer(one), names.get_indexer(other))), shape=(len(names),) * 2)
    part = connected_components(links, directed=False)[1]
    first = pd.Series(names).groupby(part).first()
    return pd.Series(first.to_numpy()[part[names.get_indexer(cluster)]], index=cluster.index)


def with_absent_rows(judged: Judgements) -> Judgements:
    """The rows of a long table with an unusable answer ("unparsed") of a judge for each text that it has no row for.

    A text is an item of a target on a criterion, or a pair of an item, whichever way round. A judge was asked about
    every text that people rated or another judge answered, at each combination of factor levels that it has rows at; an
    absent text has as many repeats as its texts mostly have. Nothing is absent where the design says so:

    - it has no row on that criterion at all;
    - none of its texts is among people's: what people rated is no list of what it was asked;
    - the text is another judge's, and the two judges share no text: they were given halves;
    - the text is its own work, and it has no row on any of its own;
    - a pair has a system of which none of several judges has any row: a note says so;
    - the text lies in a batch (`BATCHES`) in which it has no row;
    - at this level nobody has the text, and at another level the judge itself has it;
    - the file is the log of a tool that keeps a record of every request, failed ones too (`LOGS`);
    - `mapping.sampled`: judges were asked about samples, as the user says. Then nothing is counted."""
    rows, raw, mapping = judged.rows, judged.raw, judged.mapping
    if not mapping.rater or raw.made_by in LOGS or not rows["kind"].eq("judge").any():
        return judged
    judges, about, sides = rows["kind"].eq("judge"), ["item", "target", "criterion"], ["first", "second"]
    keys, not_put = [rows[name] for name in about], []
    if "first" in rows:
        about += sides
        one, other = (rows[side].astype(str) for side in sides)
        keys += [one.where(one <= other, other), other.where(one <= other, one)]
        if rows.loc[judges, "rater"].nunique() > 1:  # systems that people alone compared
            by_people, by_judges = ({*one[who].unique(), *other[who].unique()} for who in (~judges, judges))
            not_put = sorted(by_people - by_judges)
    text = grouped(*keys)  # the number of each row's text, from 0 in order of first appearance
    added, categories = [], {name: kind for name, kind in rows.dtypes.items() if isinstance(kind, pd.CategoricalDtype)}
    notes = [f"pairs with {', '.join(not_put)} were put to no judge, and do not count"] if not_put else []
    for judge, absent, given in _absent(rows, raw.frame, judged.factors, text, not_put):
        lost = {t for _, texts in absent for t in np.flatnonzero(texts)}
        if not lost:
            continue
        where = f"{judge} has no row for {len(lost)} of {int(given.sum()) + len(lost)} texts that others rated"
        if mapping.sampled:
            notes.append(f"{where}: it was asked about a sample, as you said, and they do not count")
            continue
        notes.append(f"{where}: they count as unanswered; if it was asked about a sample only, say --sampled")
        of_judge = rows["rater"].eq(judge).to_numpy()
        texts_at = pd.Series(text[of_judge]).groupby(rows.loc[of_judge, "repeat"].to_numpy()).nunique()
        usual = texts_at.index[(2 * texts_at > len({*text[of_judge].tolist()})).to_numpy()]
        repeats = usual.tolist() or [0]  # those that more than half of its texts have; at least the first
        for levels, texts in absent:  # of a pair for each way round that the table has
            lacking = rows[texts[text]].drop_duplicates(about).assign(
                rater=judge, kind="judge", cell="", score=np.nan, response=None, status="unparsed", **levels
            ).astype(categories)  # fmt: skip
            added += [lacking.assign(repeat=repeat) for repeat in repeats]
    return judged.noted(*notes, rows=pd.concat([rows, *added], ignore_index=True) if added else rows)


def _absent(
    rows: pd.DataFrame, frame: pd.DataFrame, factors: list[str], text: NDArray[np.intp], not_put: list[str]
) -> Iterator[tuple[str, list[tuple[dict[str, Any], Texts]], Texts]]:  # fmt: skip
    """(judge, [(factor -> level, its absent texts at these)], the texts that it has) of every judge."""
    first = first_of(text)  # a row of each text, which tells what it is about
    criterion, target = (rows[name].iloc[first].to_numpy() for name in ("criterion", "target"))
    author = rows["author"].iloc[first].to_numpy() if "author" in rows else target
    batches = [frame[name].to_numpy()[rows["row"].to_numpy()[first]] for name in frame if plain(str(name)) in BATCHES]
    level = grouped(*map(rows.get, factors)) if factors else np.zeros(len(rows))
    levels = [(dict(rows[factors].iloc[here.argmax()]), here) for n in pd.unique(level) for here in (level == n,)]

    def among(which: Any) -> Texts:
        return np.bincount(text[which], minlength=len(first)) > 0

    judges, (rater, raters) = rows["kind"].eq("judge").to_numpy(), pd.factorize(rows["rater"])
    by = {raters[code]: judges & (rater == code) for code in pd.unique(rater[judges]).tolist()}
    having = {name: among(its) for name, its in by.items()}
    people = among(~judges)
    none = np.zeros(len(first), dtype=bool)
    sides = [rows[side].iloc[first].astype(str).isin(not_put).to_numpy() for side in ("first", "second") if not_put]
    known: Texts = ~np.any([none, *sides], axis=0)
    for judge, own in having.items():
        others = [texts for name, texts in having.items() if name != judge]
        meeting = np.any([none, *(texts for texts in others if (texts & own).any())], axis=0)
        elsewhere = np.any([none, *others], axis=0) & ~meeting
        due = meeting | (people & ~elsewhere if (people & own).any() else False)
        due &= np.isin(criterion, list(set(criterion[own]))) & known
        if not (own & (author == judge)).any():
            due &= author != judge
        for batch in batches:
            due &= np.isin(batch, list(set(batch[own])))
        its = by[judge]
        absent = [(each, due & ~among(its & at) & (among(at) | ~own)) for each, at in levels if (its & at).any()]
        yield str(judge), absent, own
