"""Which columns say what was rated: the item, its parts, the system it came from, factors, slices, right answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recuse.ratings.array import grouped
from recuse.ratings.scale import RIGHT
from recuse.readers import column_names
from recuse.readers.column_names import FACTORS, NAMES, PARTS, PROMPTS, TALKS, is_person, plain, rater_name
from recuse.readers.columns import MOST_SLICES, Column, Roles
from recuse.readers.judgement_rows import Judgements
from recuse.readers.mapping import ColumnMapping
from recuse.readers.raw_table import RawTable
from recuse.readers.values import find_sets, is_empty, is_verdict
from recuse.schema import RecuseError
from recuse.schema.factors import LEVELS

FEWEST_CLUSTERS = 20  # with fewer levels a topic is a slice: an interval over a handful of clusters says nothing
MERGED = 0.5  # of so many rows without a name of their own, cells are merged; a few are names that were forgotten
SHARED = 0.5  # texts have so many raters more than one, on average, where they are what was judged
QUERIES, DOCUMENTS = (
    ("query_id", "question_id", "qid"),
    ("doc_id", "document_id", "passage_id", "doc", "passage"),
)  # judged by relevance
SELDOM = 0.2  # a group in which more items than these come back says something of a row, not which item it is
ORDERS = re.compile(r"(?:^|_)(?:position|order|swapped)(?:_|$)")  # which of two texts was shown first
SURELY = 5  # so many rows that a column of letters tells apart are not told apart by chance


def take_item(roles: Roles, rows: int = 0) -> None:
    """A column that is called an item, or one of many ids or numbers. `rows`: how many the table stands for."""
    roles.take_named("item", lambda c: len(c.distinct) > 1 or len(roles.frame) == 1)
    fewest = max(2, max(rows, len(roles.frame)) // 50)
    many = [c for c in roles.free if len(c.distinct) > fewest and "item" not in roles.taken]
    for column in [c for c in many if re.search(r"(?:id|_no|_nr|number|name)$|^id_", c.plain)][:1]:
        if column.plain in NAMES["rater"] or column.ending == "username":
            raise RecuseError(
                f"{column} names who rated, by its name, and nothing names what was rated: if every row is one "
                f"rater's and every column what it rated, write a row per rating, with columns item, rater and "
                f"rating; if every row is a text, say --ignore {column}, or --item {column}"
            )
        roles.take("item", column)


def take_what_raters_share(roles: Roles) -> None:
    """Where no column is called an item, the one that every rater, or every criterion, has once and others have as
    well, else the texts; of a row per text, the first column if every cell is another short word: a case's number;
    beside a pair the one whose levels come again for other pairs, or the same two the other way round.
    `RecuseError` where nothing names what several raters below one another judged: no two would share a text."""
    rater = roles.taken.get("rater")
    first = next(iter(roles.columns.values()))
    other = rater or roles.taken.get("item") or first.is_judge or first.is_date or first.name in roles.ignored
    if not other and first.is_a_key:
        roles.take_all("item", [first])
    pair = "first" in roles.taken and roles.columns[roles.taken["first"]].wordy  # whose texts say what was judged
    names = [c for c in roles.free if not (c.wordy or c.is_date or c.has_fraction)]
    if rater and not pair:
        systems = [c.name for c in roles.free if c.plain in NAMES["target"]]
        _take_shared(roles, [c for c in roles.free if c.plain in PROMPTS and systems], systems[:1])
        names += [c for c in roles.free if c.wordy and not c.is_reason]
    elif not rater:  # a column for each, of which ranks come once with every criterion as well
        names = [c for c in names if not (c.numeric or c.holds_labels)]
    _take_shared(roles, names if roles.filled("rater", "criterion") and not pair else [])
    several = rater and len(roles.columns[rater].distinct) > 1 and len(roles.frame) > SURELY
    if several and not (pair or roles.taken.get("item")):
        alike = [c for c in roles.free if c.plain in NAMES["item"] and len(c.distinct) == 1]
        why = f" ({alike[0]} is the same in every row)" if alike else ""
        raise RecuseError(
            f"no column says what was judged{why}, so no two raters' rows could be about one text; name it: --item "
            f"COLUMN. There are: {', '.join(roles.columns)}"
        )
    if "first" in roles.taken:
        free = [c for c in roles.free if not (c.plain in NAMES["value"] or c.is_reason or c.is_date)]
        _take_shared(roles, [c for c in free if not (c.holds_labels or c.has_fraction)])


def _take_shared(roles: Roles, columns: Sequence[Column], systems: Sequence[str] = ()) -> None:
    """The first of these columns whose levels come again, none twice from a rater on one question (of one system)."""
    keys = [*roles.filled("rater", "criterion", "first", "second"), *systems]
    again = (c for c in columns if not roles.taken.get("item") and SURELY < len(c.distinct) <= c.number / 2)
    if shared := next((c for c in again if not roles.frame.duplicated([*keys, c.name]).any()), None):
        roles.take("item", shared)


def take_parts(roles: Roles) -> None:
    """A column that numbers the parts of an item, where several rows are about one: another turn is no repeat. Or one
    that names the document which a query's rows are about, where nothing else tells them apart."""
    item = roles.taken.get("item", ())
    if len(item) != 1 or "item" in roles.given:
        return
    keys = roles.filled("item", "rater", "criterion", "target")
    several = [
        c for c in roles.free if len(c.distinct) > 1 and not c.wordy and c.plain in (*PARTS, *QUERIES, *DOCUMENTS)
    ]
    parts = [c for c in several if c.plain in PARTS or not roles.frame.duplicated([*keys, c.name]).any()][:1]
    if parts and (roles.frame.duplicated(keys).any() or _varies(roles, parts[0], [*item, *roles.filled("target")])):
        first = parts[0].plain in QUERIES  # whose documents share its errors
        roles.taken["item"] = (parts[0].name, *item) if first else (*item, parts[0].name)
        roles.use(parts)


def take_prompts(roles: Roles) -> None:
    """Where nothing is called an item, texts or prompts that come again, once by every system or in every condition."""
    if roles.taken.get("item") or roles.taken.get("first"):
        return
    keys = roles.filled("target", "rater", "criterion")
    varied = [c.name for c in roles.free if c.plain in FACTORS and 1 < len(c.distinct) <= MOST_SLICES]
    for column in (c for c in roles.free if c.plain in (*NAMES["text"], *PROMPTS)):
        apart = [[*keys, name] for name in varied if name != column.name] + ([keys] if "target" in roles.taken else [])
        once = (not roles.frame.duplicated([*one, column.name]).any() for one in apart)
        if SURELY < len(column.distinct) <= column.number / 2 and any(once):
            roles.take("item", column)
            return


def take_cluster(roles: Roles) -> None:
    """A talk that several items are from, however few there are of them, else a topic of many; what numbers its items
    anew (`take_parts`) is one as well, and so is a prompt of many texts that have no names."""
    item = roles.taken.get("item", ())
    many = len(item) == 2 and len(roles.columns[item[0]].distinct) >= FEWEST_CLUSTERS
    if "cluster" not in roles.taken and len(item) == 2 and (plain(item[0]) in TALKS or many):
        roles.taken["cluster"] = item[0]

    def holds_clusters(column: Column) -> bool:
        """Whether every item lies in one level of it, and a level holds several items."""
        fewest = 2 if column.plain in TALKS else FEWEST_CLUSTERS
        long = column.wordy and column.plain not in PROMPTS
        if long or not fewest <= len(column.distinct) < len(roles.frame):
            return False
        pairs = roles.frame[[*item, column.name]].drop_duplicates()
        return not item or len(column.distinct) < len(pairs) > 2 * int(pairs.duplicated([*item]).sum())

    roles.take_named("cluster", holds_clusters, (*TALKS, *NAMES["cluster"], *(() if item else PROMPTS)))


def take_factors(roles: Roles) -> None:
    """Known names that vary while rater, item and target stay the same."""
    keys = roles.filled("item", "rater", "target") if roles.taken.get("item") else []  # else every row is its own text
    several = [c for c in roles.free if c.plain in FACTORS and len(c.distinct) > 1]
    known = [c for c in several if {*c.distinct} <= {*LEVELS.get(c.plain, c.distinct)}]
    roles.take_all("factors", [c for c in known if _varies(roles, c, keys)])


def take_what_tells_apart(roles: Roles) -> None:
    """Where nothing is called a system and items have several rows, the short column that tells these apart, each
    level at most once an item: rows on different things are no repeats of one. It names systems, or criteria."""
    if "target" in roles.taken or not roles.taken.get("item") or roles.taken.get("first") or "repeat" in roles.taken:
        return
    keys = roles.filled("item", "rater", "criterion", "factors")
    again = int(roles.frame.duplicated(keys).sum())
    for column in roles.free if again else ():
        other = column.is_rater or column.is_date or column.plain in (*NAMES["repeat"], *TALKS)
        chance = column.holds_labels and again < SURELY  # a few ratings may differ by chance
        some = 1 < len(column.distinct) <= len(roles.frame) // 2 and not (column.numeric or column.wordy)
        if some and not (other or chance) and not roles.frame.duplicated([*keys, column.name]).any():
            about = sum(column_names.is_criterion(str(v)) for v in column.distinct) >= len(column.distinct) / 2
            many = len(column.distinct) > max(len(roles.columns[name].distinct) for name in roles.taken["item"])
            called = column.plain in NAMES["item"] or column.ending == "id"
            if many and called and not about and "item" not in roles.given:
                _take_finer(roles, column)
                return
            if ORDERS.search(column.plain) and len(column.distinct) == 2:
                roles.taken["factors"] = (*roles.filled("factors"), column.name)  # the same two texts in both orders
                roles.use([column])
                return
            roles.take("criterion" if about and "criterion" not in roles.taken else "target", column)
            return


def _take_finer(roles: Roles, column: Column) -> None:
    """Of two columns that are called items the one whose every level lies within one of the other: a ticket, and what
    kind of case it is. `RecuseError` where each comes with several of the other."""
    other = roles.columns[roles.taken["item"][0]]
    if _varies(roles, other, [column.name]):
        raise RecuseError(
            f"{other} and {column} may both name what was rated: if {other} is what was asked about each {column}, say "
            f"--item {column} --criterion {other}; if it is a version of each, --item {column} --system {other}; if "
            f"{column} says whose answer to {other} it is, --item {other} --system {column}"
        )
    roles.taken["item"] = (column.name,)
    roles.use([column])
    roles.free = [c for c in roles.columns.values() if c in roles.free or c is other]


def take_slices(roles: Roles) -> None:
    """What groups texts: a few short names, the same in every row about one text."""
    keys = roles.filled("item", "target") if roles.taken.get("item") else []  # else every row is a text of its own
    few = [c for c in roles.free if 1 < len(c.distinct) <= MOST_SLICES and 2 * len(c.distinct) <= c.number]
    names = [c for c in few if not (c.numeric or c.wordy or c.dated or c.is_date or c.is_reason)]
    roles.take_all("slices", [c for c in names if not _varies(roles, c, keys)])


def _varies(roles: Roles, column: Column, keys: list[str]) -> bool:
    """Whether it says several things in rows that are alike in `keys`."""
    few, codes = bool(keys) and len(column.distinct) <= 50, [roles.raw.coded(n)[0] for n in (*keys, column.name)]
    return few and bool(grouped(*codes).max(initial=0) > grouped(*codes[:-1]).max(initial=0))


def with_merged_cells(judged: Judgements) -> Judgements:
    """The table with the name of an item, and of a system, in every row of it, where a spreadsheet has it in the first
    alone: no rater comes twice before the next name. `RecuseError` for several rows of a rater that name no item."""
    mapping = judged.mapping
    keys = mapping.filled("item", "target", "rater" if mapping.rater else "text", "criterion", "repeat", "order")
    for name in filter(None, (*(mapping.item if len(mapping.item) == 1 else ()), mapping.target)):
        raw = judged.raw
        if Column(name, raw.frame[name], raw.coded).number == len(raw.frame):
            continue
        empty = is_empty(raw.frame[name])
        frame = raw.frame.assign(**{name: raw.frame[name].mask(empty).ffill()})
        once = name == mapping.target and raw.frame[name][~empty].is_unique
        if empty.mean() >= MERGED and not empty.iloc[0] and (once or not frame.duplicated(keys).any()):
            what = "an item" if name in mapping.item else "a system"
            note = f"{name} names {what} in its first row alone: rows below are of the same"
            judged = replace(judged, raw=raw.noted(note, frame=frame))
        elif name in mapping.item and raw.frame[raw.frame[name].eq("")].duplicated(keys).any():
            rows = np.flatnonzero(raw.frame[name].eq(""))
            raise RecuseError(
                f"{len(rows)} rows name no {name} (first {raw.place(int(rows[0]))}), and nothing says whether they are "
                f"of one item; write its name in each, or say --ignore {name} where each row is an item of its own"
            )
    return judged


def with_whole_items(judged: Judgements) -> Judgements:
    """Where some items' names come back under another cluster or slice, both together are an item's name; where many
    do, only if rows could not be told apart without it although repeats have columns of their own."""
    raw, mapping = judged.raw, judged.mapping
    others = (mapping.cluster, *mapping.slices, *groups_of(mapping)) if len(mapping.item) == 1 else ()
    for other in filter(None, others):
        both = raw.frame[[mapping.item[0], other]].drop_duplicates()
        share = float(both[mapping.item[0]].duplicated(keep=False).mean())
        if 0 < share <= SELDOM or (share > SELDOM and _tells_rows_apart(raw, mapping, other)):
            note = f"{mapping.item[0]} means something else under each {other}: an item is named by both"
            known = {name: why for name, why in mapping.ignored.items() if name != other}
            if not mapping.cluster and (plain(other) in TALKS or raw.frame[other].nunique() >= FEWEST_CLUSTERS):
                slices = tuple(name for name in mapping.slices if name != other)
                mapping = replace(mapping, cluster=other, slices=slices)
            slices = mapping.slices if other in (mapping.cluster, *mapping.slices) else (*mapping.slices, other)
            item = (mapping.item[0], other)
            return judged.noted(note, mapping=replace(mapping, item=item, slices=slices, ignored=known))
    return _with_texts_of_items(judged)


def _with_texts_of_items(judged: Judgements) -> Judgements:
    """Where texts alone tell an item's rows apart, neither raters' own nor a judge's repeats, both name an item."""
    raw, mapping = judged.raw, judged.mapping
    separate = mapping.target or mapping.pairs or mapping.repeat or mapping.repeats
    if separate or not mapping.text or len(mapping.item) != 1 or "item" in raw.roles:
        return judged
    keys = mapping.filled("item", "rater", "criterion", "factors")
    again = int(raw.frame.duplicated(keys).sum())
    again -= again and int(raw.frame.duplicated([*keys, mapping.text]).sum())
    both = [*mapping.item, mapping.text]
    own = mapping.rater and raw.frame.groupby(both, sort=False)[mapping.rater].nunique().mean() < 1 + SHARED
    people = [column for rater, columns in mapping.raters.items() if is_person(rater) for column in columns]
    alike = people and (raw.frame.groupby([*mapping.item], sort=False)[people].nunique() < 2).all(axis=None)
    if not again or own or alike:
        return judged
    many = raw.frame[mapping.item[0]].nunique() >= FEWEST_CLUSTERS
    note = f"rows about one {mapping.item[0]} hold several texts, which are no repeats: an item is named by both"
    cluster = mapping.cluster or (mapping.item[0] if many else "")
    return judged.noted(note, mapping=replace(mapping, item=(*mapping.item, mapping.text), cluster=cluster))


def _tells_rows_apart(raw: RawTable, mapping: ColumnMapping, other: str) -> bool:
    keys = mapping.filled("item", "rater", "criterion", "target", "repeat", "first", "second", "factors")
    if mapping.text:  # whether rows that are alike in these differ in the text, and only without the other column
        names = (keys, [*keys, mapping.text], [*keys, other], [*keys, mapping.text, other])
        one, several, with_other, still = (len(raw.frame[each].drop_duplicates()) for each in names)
        return several > one and still <= with_other
    repeats = mapping.repeat or mapping.repeats
    return bool(repeats and raw.frame.duplicated(keys).any() and not raw.frame.duplicated([*keys, other]).any())


def groups_of(mapping: ColumnMapping) -> list[str]:
    """Columns called as groups are that vary within a few items, and were not recognised for that."""
    return [name for name in mapping.ignored if plain(name) in (*NAMES["cluster"], *TALKS)]


def with_gold(judged: Judgements) -> Judgements:
    """Right answers on the raters' own scale are read as a rater whose answers are right. Beside scores of several
    systems, two values mark which is right. Others answer the items' questions, which is no standard for ratings."""
    raw, mapping = judged.raw, judged.mapping
    if not mapping.gold:
        return judged
    known = {word for column in mapping.rated for word in _words_of(raw.coded(column)[1])}
    right, gold = _words_of(raw.coded(mapping.gold)[1]), Column(mapping.gold, raw.frame[mapping.gold])
    if gold.holds_sets:
        right, known = ({*sets.scale.options} if (sets := find_sets(tuple(w))) else w for w in (right, known))
    marks = mapping.target and not mapping.pairs and len(right) <= 2 < len(known)
    alike = right <= known or ("decide" in mapping.use and mapping.threshold and is_verdict(right))
    if marks or not (alike or (not mapping.pairs and _are_scores(right, known, mapping.gold))):
        if mapping.target and not mapping.pairs and len(right) <= 2 and right & RIGHT:
            return judged
        words = gold.holds_labels and len(right - {"true", "false"}) > 1  # booleans say whether a judge was right
        words = words and not (right & known or mapping.pairs or any(map(str.isdigit, known)))
        if known and (words or "gold" in raw.given):
            raise RecuseError(
                f"{gold} holds right answers in words ({', '.join(sorted(right)[:2])}) of which no rater gives any "
                f"({', '.join(sorted(known)[:2])}): write both in the same words, or say --ignore {gold}"
            )
        why = "right answers in words that no rater gives"
        if is_verdict(right) and not mapping.pairs:
            why += "; scores are held against them with --use decide --threshold NUMBER"
        return replace(judged, mapping=replace(mapping, gold="", ignored={**mapping.ignored, mapping.gold: why}))
    raters = {**mapping.raters, mapping.gold: (mapping.gold,)}
    people, truth = (*mapping.people, mapping.gold), rater_name(mapping.gold)
    return replace(judged, mapping=replace(mapping, raters=raters, people=people, gold="", truth=truth))


def _are_scores(right: set[str], known: set[str], gold: str) -> bool:
    """Whether more than two numbers are on the raters' scale, or one whole step off. `RecuseError` if further out."""
    scores, others = (pd.to_numeric(pd.Series([*words], dtype=object), errors="coerce") for words in (right, known))
    if len(scores) < 3 or not (scores.notna().all() and others.notna().all()):
        return False
    steps = 1 if all(map(str.isdigit, right | known)) else 0
    if not scores.between(others.min() - steps, others.max() + steps).all():
        raise RecuseError(
            f"{gold} holds numbers from {scores.min():g} to {scores.max():g}, the raters give {others.min():g} to "
            f"{others.max():g}: bring right answers to their scale, or say --ignore {gold}"
        )
    return True


def _words_of(different: pd.Index[Any]) -> set[str]:
    """What is written there; 4.0, which becomes of 4 in a column that is not full, as 4."""
    numbers = pd.to_numeric(different.to_numpy(), errors="coerce")
    words = (f"{n + 0.0:g}" if n == n else str(v).strip().lower() for v, n in zip(different, numbers, strict=True))
    return {*words} - {""}
