"""Tables brought into another shape before their columns are recognised: a row per rating, all raters in one table.
Rankings become a place per text: "B > A = C" in a cell, the best first, with a tie; "B, A, C" where every cell names
the same texts; a column rank_A, rank_B, ... for each. Rows that nobody was asked to rate are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from recuse.ratings import Numeric
from recuse.readers import column_names
from recuse.readers.column_names import NAMES, as_option, is_criterion, is_date, is_judge, is_person, plain, splits
from recuse.readers.columns import SAME_COLUMN, columns_of
from recuse.readers.json_records import GAME
from recuse.readers.mapping import ColumnMapping, stem_of
from recuse.readers.raw_table import RawTable, shown
from recuse.readers.values import as_numbers, is_empty, scale_from_text
from recuse.schema import RecuseError

ROLES = ("role", "speaker", "sender", "turn_role", "message_role", "author_role", "from", "turn_type", "message_type")
"""Columns that say who speaks in a row."""
FEWEST_TEXTS, LONGEST_OF_RATERS, OTHERS = 8, 40, 0.2
"""So many columns beside one row a rater are texts: a file about one text on so many criteria is no evaluation."""
GRID = re.compile(r"(.+?)\s*\[(.+)\]")  # how forms call a column of a grid: the question, and its row in brackets
MARKED = {**dict.fromkeys(("1", "1.0", "true", "x"), True), **dict.fromkeys(("0", "0.0", "false", ""), False)}
MARK_FEWEST = 3  # so many columns, of which one is marked in every row, are the answers to one question
BEST_FIRST = re.compile(r"\s*(?:>>|->|→|>)\s*")
LISTED = re.compile(r"\s*[,;/|]\s*")
RANKING = re.compile(r"[^<>=]{1,60}(?:[>=][^<>=]{1,60})*>[^<>=]{1,60}(?:[>=][^<>=]{1,60})*")
RANK_OF = re.compile(r"(?i)^(?:rank|place|ranking)[ _.:-]+(?:of[ _])?(.+)$|^(.+)[ _.:-]+(?:rank|place|ranking)$")
LOOKED_AT, SURELY = 200, 0.9  # cells that are looked at, and the share of them that must be rankings
MOST, FEWEST = 30, 3  # texts of a ranking; texts of a list, or columns
TARGET = "system"
WON_AND_LOST = (("winner", "loser"), ("chosen_model", "rejected_model"), ("winning_model", "losing_model"))
ENDS = {1: "st", 2: "nd", 3: "rd"}


def below_one_another(tables: Sequence[RawTable]) -> RawTable:
    """One table of the rows of all, with a column `rater` that holds the name of the file of each, or of the column
    where a file has several raters', and one column of ratings, however each file calls its own. `RecuseError` where a
    table names its raters itself, where two have no column in common, and where one alone has no column of ratings."""
    frames, places = [], []
    rated: list[dict[str, str]] = []  # rater -> column
    names = [stem_of(table.path) for table in tables]
    if twice := [name for name in names if names.count(name) > 1]:
        raise RecuseError(
            f"{len(twice)} files are called {twice[0]}, and with --raters a file is called as its rater is: give each "
            "the name of who rated, or put them into one table with a column rater"
        )
    for table, name in zip(tables, names, strict=True):  # what is called as ratings are, or as raters; "" for none
        called = {column.plain: column for column in columns_of(table)}
        values = [called[word].name for word in NAMES["value"] if word in called and called[word].rating]
        others = [c for c in called.values() if c.plain not in (*NAMES["value"], *NAMES["rater"])]
        others = [c for c in others if c.rating and not c.is_attribute and c.plain not in NAMES["item"]]
        raters = [c.name for c in others if c.is_rater or c.may_be_a_person]
        only = [c.name for c in others if c.like_ratings]
        one = [*values, *(c.name for c in others if c.is_rater), *(only if len(only) == 1 else ()), ""][0]
        rated.append({name: one} if values or len(raters) < 2 else {rater: rater for rater in raters})
    called_as = next(iter(rated[0].values())) if len(rated[0]) == 1 else NAMES["value"][0]
    first = {plain(name): name for name in tables[0].names}
    for table, columns in zip(tables, rated, strict=True):
        shared = [name for name in table.names if plain(name) in first and name not in columns.values()]
        alike = {name: first[plain(name)] for name in shared}  # "Ticket-ID" is ticket_id
        if len({*alike.values()}) == len(alike):
            table = replace(table, frame=table.frame.rename(columns=alike))
        own = [name for name in table.names if plain(name) in NAMES["rater"]]
        if any(table.frame[name].nunique() > 1 for name in own):
            raise RecuseError(f"{table.path.name} has several raters of its own ({own[0]}); put the files together")
        if not {*table.frame.columns} & {*tables[0].frame.columns} - {*own}:
            raise RecuseError(
                f"{table.path.name} and {tables[0].path.name} have no column in common; call the one that names what "
                "was rated alike in both"
            )
        if not all(columns.values()) and called_as and called_as not in table.frame:
            raise RecuseError(f"{table.path.name} has no column {called_as}; call its ratings as the other files do")
        for rater, value in columns.items():
            own_frame = table.frame.drop(columns=[*own, *({*columns.values()} - {value, ""})]).assign(rater=rater)
            taken = value and called_as and value != called_as and called_as not in own_frame
            frames.append(own_frame.rename(columns={value: called_as}) if taken else own_frame)
            places += [table.at(row) for row in range(len(table.frame))]
    frame = pd.concat(frames, ignore_index=True).fillna("")
    files = ", ".join(table.path.name for table in tables)
    several = "" if len(frames) == len(tables) else ", or one of several columns, named as that is"
    notes = (*tables[0].notes, f"every file holds one rater's answers, named as the file is{several}: {files}")
    faults = tuple(fault for table in tables for fault in table.faults)
    return replace(tables[0], frame=frame, notes=notes, faults=faults, numbers=tuple(places), text="")


def in_the_same_words(raw: RawTable) -> RawTable:
    """The table with answers replaced by those that are said to mean the same ("good=pass,bad=fail"). `RecuseError` for
    what is no such list, and for an answer that no cell holds."""
    if not (same := str(raw.given.get("same", ""))):
        return raw
    pairs = [tuple(part.strip() for part in pair.split("=")) for pair in column_names.listed(same)]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise RecuseError(f"same is a list of answers that say the same, for example good=pass,bad=fail; got {same!r}")
    meant = {one.lower(): other for one, other in pairs}
    words = raw.frame.apply(lambda cells: cells.astype(str).str.strip().str.lower())
    there = {*words.to_numpy().ravel()}
    if absent := [one for one in meant if one not in there]:
        raise RecuseError(f"no cell holds {absent[0]!r}, which same = {same!r} speaks of")
    return replace(raw, frame=raw.frame.mask(words.isin([*meant]), words.apply(lambda column: column.map(meant))))


def as_rows(raw: RawTable) -> RawTable:
    """A row per rating, with the roles of its columns, where every rater has one row (named by a column that is called
    so, is said to be it, or holds names of judges or people), no column names items, and at least `FEWEST_TEXTS`
    columns, more than there are raters, hold their marks; else the table as it is. `RecuseError` where nearly all of
    these are called alike but for their numbers, and others bear none.

        rater, item_1, item_2, ...        rater, item,   rating
        anna,  4,      2,      ...   ->   anna,  item_1, 4
        gpt,   5,      2,      ...        gpt,   item_1, 5"""
    frame, survey = raw.frame, str(raw.roles.get("rater", ""))
    called = (n for n in raw.names if plain(n) in NAMES["rater"])
    rater = str(raw.given.get("rater", "")) or survey or next(called, "") or _names_of_raters(frame)
    if rater not in frame or raw.made_by or len(frame) < 2 or frame[rater].duplicated().any():
        return raw
    names = [n for n in raw.heeded if n != rater and not is_date(n)]
    if len(names) < max(FEWEST_TEXTS, 0 if survey else len(frame) + 1) or any(
        plain(n) in NAMES["item"] and frame[n].nunique() > 1 for n in names
    ):
        return raw
    cells = pd.Series(frame[names].to_numpy(dtype=object).ravel(), dtype=object)
    values = cells[~is_empty(cells)]
    if values.empty or (as_numbers(values).notna().mean() < 0.9 and values.nunique() > FEWEST_TEXTS):
        return raw
    forms = {name: re.sub(r"\[.*\]|\d+", "#", name) for name in names}
    form, times = Counter(forms.values()).most_common(1)[0]
    others = [name for name in names if forms[name] == name]  # how old somebody is, among numbered texts
    if "#" in form and times + len(others) == len(names) and 0 < len(others) <= OTHERS * len(names):
        raise RecuseError(
            f"{', '.join(map(shown, others[:3]))} beside {times} columns of marks that are called alike "
            f"({shown(next(n for n in names if forms[n] == form))}, ...): if no text was rated there, say --ignore "
            f"{as_option(others)}; if one was, call it as these are"
        )
    item = "item" if rater != "item" else "text"
    roles = {**raw.roles, "item": (item,), "rater": rater, "value": ("rating",)}
    ignored = [n for n in raw.names if n not in raw.heeded and n != rater]
    of = _texts_by_criteria(names)
    what = f"{len({*(text for text, _ in of.values())})} texts on {', '.join({c: 0 for _, c in of.values()})}"
    note = f"every rater has one row: the {len(names)} columns of marks are read as {what if of else 'texts'}"
    rows = raw.a_row_each(names, item, {"rating": names}, [rater, *ignored], note, roles=roles)
    if not of:
        return rows
    text, criterion = zip(*(of[name] for name in rows.frame[item]), strict=True)
    frame = rows.frame.assign(**{item: text, "criterion": criterion})
    return replace(rows, frame=frame, roles={**roles, "criterion": "criterion"})


def _texts_by_criteria(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Column -> text and criterion: "Answer 1 [Fluency]"; {} where columns are called otherwise. `RecuseError` for a
    grid of which neither side is called as criteria are, "How fluent? [Answer 1]" beside "How correct? [Answer 1]"."""
    grid = {name: (match[1], match[2]) for name in names if (match := GRID.fullmatch(name))}
    grids = [grid] if len(grid) == len(names) else []
    for parts in (*grids, *(splits(names) if all(map(is_criterion, names)) else ())):
        sides = [[*dict.fromkeys(part[k] for part in parts.values())] for k in (0, 1)]
        if min(map(len, sides)) < 2 or len(sides[0]) * len(sides[1]) != len(names):
            continue
        criteria = [k for k in (0, 1) if all(map(is_criterion, sides[k]))]
        if len(criteria) == 1:
            return {name: (part[1 - criteria[0]], part[criteria[0]]) for name, part in parts.items()}
        if parts is grid:
            raise RecuseError(
                f"{len(names)} columns ask {len(sides[0])} questions ({shown(sides[0][0])}, ...) with {len(sides[1])} "
                f"rows each ({shown(sides[1][0])}, ...); which of them are texts and which criteria is not known: call "
                f"the latter by a word such as fluency or accuracy, or write a row for each answer, with columns item, "
                f"rater, criterion and rating"
            )
    return {}


def _names_of_raters(frame: pd.DataFrame) -> str:
    """The only column of different short words, some of them judges' names, where no other is called as raters are."""
    names = [*map(str, frame.columns)]
    called = (name for name in names if not name.rstrip().endswith("?") and (is_judge(name) or is_person(name)))
    if len(frame) >= len(names) or any(plain(name) != "your_name" for name in called):
        return ""
    other = {*NAMES["target"], *NAMES["item"]}
    columns = {n: [str(cell) for cell in frame[n]] for n in names if plain(n) not in other and not is_date(n)}
    fitting = [n for n, cells in columns.items() if len({*map(is_judge, cells)}) == 2 and len({*cells}) == len(frame)]
    return fitting[0] if len(fitting) == 1 and max(map(len, columns[fitting[0]])) <= LONGEST_OF_RATERS else ""


def with_shares_of_scales(raw: RawTable) -> RawTable:
    """The table with numbers as shares of the range that a column `scale` gives each row (1-5, 0-100), where it gives
    several: so one question on two scales can be compared. One range that holds all numbers is the scale."""
    column = next((n for n in raw.names if plain(n) in ("scale", "rating_scale")), "")
    cells = raw.frame[column].astype(str).str.strip() if column else pd.Series(dtype=object)
    try:
        ends = {cell: scale_from_text(cell) for cell in cells.unique()}
    except RecuseError:
        return raw
    if not ends or not all(isinstance(scale, Numeric) for scale in ends.values()):
        return raw
    low, high = (cells.map({cell: scale.ends[k] for cell, scale in ends.items()}).astype(float) for k in (0, 1))
    columns = [c for c in columns_of(raw) if (c.plain in NAMES["value"] or c.is_rater) and c.numeric]
    rated = [c.name for c in columns if c.plain not in NAMES["item"]]
    if len(ends) == 1:  # said where the numbers do not reach its ends by themselves, and none is beyond
        numbers = pd.concat([as_numbers(raw.frame[n]) for n in rated] or [low[:0]]).dropna()
        known = numbers.empty or not numbers.between(low[0], high[0]).all() or {low[0], high[0]} <= {*numbers}
        roles = {**raw.roles, "scale": str(cells.iloc[0])}
        return raw if known else raw.noted(f"{roles['scale']} is the scale, as {column} says", roles=roles)
    shares = {n: (as_numbers(raw.frame[n]) - low) / (high - low) for n in rated}
    percentages = {n: share.map("{:.10g}".format).where(share.notna(), raw.frame[n]) for n, share in shares.items()}
    note = f"{', '.join(rated)}: shares of the range that {column} gives ({', '.join(ends)})"
    return raw.noted(note, frame=raw.frame.assign(**percentages).rename(columns={column: "scale"}))


def with_systems_apart(raw: RawTable) -> RawTable:
    """The table with a row per system where columns of ratings are named after a system and who rated it:

        id, llama_human, llama_judge, gpt_human, gpt_judge   ->   id, system, human, judge

    Some system is called as models are, and none as people; of those who rate, one at least as people are, one not.
    Beside a column of raters, columns that are all called as models are hold what each rater gave to each system."""
    columns = columns_of(raw)
    if raw.all_named or not raw.of_nobody_known or any(c.plain in NAMES["target"] for c in columns):
        return raw
    heeded = raw.heeded
    names = [c.name for c in columns if c.is_rater and not c.is_attribute and c.rating and c.name in heeded]
    who = [c for c in columns if c.plain in NAMES["rater"] and any(map(column_names.is_rater, c.words))]
    given = [c.name for c in columns if c.name in names and c not in who and (c.numeric or c.holds_labels)]
    other = [c for c in columns if (c.plain in NAMES["value"] or c.is_criterion) and c.name not in given and c.rating]
    if len(who) == 1 and len(given) > 1 and all(map(is_judge, given)) and not other:
        rest = raw.frame.columns.difference(given, sort=False)
        about = rest.drop(str(who[0]))  # a judge's own rating is the same beside every person's
        rows, same = (int(raw.frame.duplicated([*about, *columns]).sum()) for columns in ([], given))
        if same < SAME_COLUMN * rows:
            note = f"{', '.join(given)} are the systems that each {who[0]} rates"
            return raw.a_row_each(given, TARGET, {"rating": given}, rest, note)
    for parts in splits(names):
        for side in (0, 1):
            systems, raters = ([*dict.fromkeys(part[k] for part in parts.values())] for k in (side, 1 - side))
            people = [name for name in raters if is_person(name)]
            models = any(map(is_judge, systems)) and not any(is_person(n) or is_criterion(n) for n in systems)
            whole = len(systems) > 1 and len(parts) == len(systems) * len(raters)
            if not (whole and models and people and any(is_judge(r) and not is_person(r) for r in raters)):
                continue
            column = {(part[side], part[1 - side]): name for name, part in parts.items()}
            own = {rater: [column[system, rater] for system in systems] for rater in raters}
            rest = raw.frame.columns.difference(names, sort=False)
            note = f"{', '.join(names)} say whose text is rated ({', '.join(systems)}) and by whom"
            return raw.a_row_each(systems, TARGET, own, rest, note)
    return raw


def with_marked_answers(raw: RawTable) -> RawTable:
    """The table with one column `Answer.q` in place of `Answer.q.1`, `Answer.q.2`, ... of which each row marks exactly
    one (1 or true), as forms and corpora write the answers to a question."""
    marks = {}
    for name in filter(re.compile(r"[ _.:]").search, raw.heeded):
        codes, cells = raw.coded(name)
        known = [MARKED.get(str(cell).strip().lower()) for cell in cells.tolist()]
        if len(cells) > 1 and None not in known:
            marks[name] = np.array(known, dtype=bool)[codes]
    frame, notes = raw.frame, []
    starts = {name[: cut.end()] for name in marks for cut in re.finditer(r"[ _.:]+", name)}
    for start in sorted(starts, key=len, reverse=True):
        answers = [name for name in marks if name.startswith(start) and name in frame and len(name) > len(start)]
        if len(answers) < MARK_FEWEST or len(frame) <= MARK_FEWEST:
            continue
        table = np.column_stack([marks[name] for name in answers])
        if not (table.sum(axis=1) == 1).all():
            continue
        question = start.rstrip(" _.:")
        words = np.array([name[len(start) :] for name in answers], dtype=object)
        frame = frame.drop(columns=answers).assign(**{question: words[table.argmax(axis=1)]})
        notes.append(f"{', '.join(answers)} mark one answer a row: read as {question}")
    return raw.noted(*notes, frame=frame)


def with_places(raw: RawTable) -> RawTable:
    """The table with a row for each text that a row ranks, called `system`, and its place ("1st" for the best) in the
    cells. Texts in one breath (A = B) share the better place, and a text that a rater leaves out has none.
    The table as it is where nothing holds rankings, or another column names systems."""
    if any(plain(name) in NAMES["target"] for name in raw.names):
        return raw
    columns = {name: form for name in raw.heeded if (form := _form(raw.frame[name]))}
    if LISTED in columns.values() and all(raw.frame[name].nunique() == 1 for name in columns):
        columns = {}  # the same list in every row is no ranking
    sides = any(plain(name).endswith(("_a", "_1", "first", "left")) for name in raw.names)
    cells = ([str(cell) for cell in raw.frame[name].unique()] for name in columns)
    if not columns or (sides and any(all(len(re.findall(r"[^<>=\s]+", cell)) <= 2 for cell in each) for each in cells)):
        return _with_ranked_columns(raw)  # of reply_a and reply_b, which have columns of their own, which is better
    places = {name: [_places(form.sub(">", str(c).strip())) for c in raw.frame[name]] for name, form in columns.items()}
    ranked = [sorted({*chain(*each)}) or [""] for each in zip(*places.values(), strict=True)]
    row, texts = np.repeat(np.arange(len(ranked)), [*map(len, ranked)]), [*chain(*ranked)]
    own = {name: [each[k].get(text, "") for k, text in zip(row, texts, strict=True)] for name, each in places.items()}
    frame = raw.frame.iloc[row].reset_index(drop=True).assign(**own, **{TARGET: texts})
    note = f"{', '.join(columns)} holds rankings, the best first: each text's place is read, 1 for the best"
    return raw.of_rows(frame, row, note)


def _form(cells: pd.Series[Any]) -> re.Pattern[str] | None:
    """What stands between the texts of a column of rankings; None for another column."""
    first = cells.iloc[:LOOKED_AT]
    some = cells if is_empty(first).any() else first
    filled = [str(cell).strip() for cell in some[~is_empty(some)].iloc[:LOOKED_AT]]
    if len(filled) < 2 or all(map(GAME.fullmatch, filled)):  # A>B says which of two won
        return None
    if sum(bool(RANKING.fullmatch(BEST_FIRST.sub(">", cell))) for cell in filled) >= SURELY * len(filled):
        return BEST_FIRST
    orders = {tuple(LISTED.split(cell)) for cell in filled}
    whole = len({frozenset(order) for order in orders}) == 1
    return LISTED if whole and all(FEWEST <= len(o) == len(set(o)) and all(o) for o in orders) else None


def _with_ranked_columns(raw: RawTable) -> RawTable:
    """The table with a row for each of the columns rank_A, rank_B, ... where a row's numbers are places 1, 2, ..."""
    named = {n: m[1] or m[2] for n in raw.heeded if (m := RANK_OF.match(n))}
    if len(named) < FEWEST:
        return raw
    numbers = np.column_stack([as_numbers(raw.frame[name]) for name in named])
    places = np.arange(1, len(named) + 1)
    if not (np.sort(numbers, axis=1) == places).all(axis=1).mean() >= SURELY:  # 1, 2, ... in some order, each once
        return raw
    rest = raw.frame.columns.difference([*named], sort=False)
    note = f"{', '.join(named)} hold the places of {', '.join(named.values())}, 1 for the best"
    return raw.a_row_each([*named.values()], TARGET, {"rank": [*named]}, rest, note)


def _places(cell: str) -> dict[str, str]:
    """Text -> its place; nothing for a cell that is no ranking, or names a text twice."""
    places: dict[str, str] = {}
    place = 1
    for level in cell.split(">") if RANKING.fullmatch(cell) else ():
        tied = [text.strip() for text in level.split("=") if text.strip()]
        if any(text in places for text in tied) or len(places) > MOST:
            return {}
        places |= dict.fromkeys(tied, f"{place}{'th' if place % 100 in (11, 12, 13) else ENDS.get(place % 10, 'th')}")
        place += len(tied)
    return places


def with_both_of_a_pair(raw: RawTable) -> RawTable:
    """The table with a column for each of the two in place of `loser`, beside `winner`: the two by their names, since
    nothing says which was shown first; so no pair is there in both orders, and no preference for a place is claimed.
    `RecuseError` for a row that does not name two."""
    names = {plain(name): name for name in raw.heeded}
    called = next(([names[won], names[lost]] for won, lost in WON_AND_LOST if {won, lost} <= {*names}), [])
    if not called or not raw.of_nobody_known or {*NAMES["first"]} & {*map(plain, raw.names)}:
        return raw
    two = raw.frame[called].to_numpy(dtype=str)
    if not {*two[:, 0]} & {*two[:, 1]}:
        return raw
    if len(alone := np.flatnonzero((two[:, 0] == two[:, 1]) | (two == "").any(axis=1))):
        raise RecuseError(
            f"{' and '.join(called)} do not name two at {raw.place(int(alone[0]))}; of a tie nobody can tell between "
            "whom: write columns first and second, and in a column winner who won, or tie"
        )
    one, other = np.sort(two.astype(object), axis=1).T
    first, second = (" or ".join(names) for names in (called, called[::-1]))
    frame = raw.frame.drop(columns=called[1]).assign(**{first: one, second: other})
    note = f"{' and '.join(called)} are the two of a pair; which was shown first is not known"
    value = {} if plain(called[0]) in NAMES["value"] else {"value": (called[0],)}
    return raw.noted(note, frame=frame, roles={"first": first, "second": second, **value})


def without_unrated_roles(raw: RawTable, mapping: ColumnMapping) -> RawTable:
    """The table without rows of speakers whom no rater ever rated; as it is where every speaker is rated, or none."""
    for name in (name for name in raw.names if mapping.rated and plain(name) in ROLES):
        rated = ~np.logical_and.reduce([is_empty(raw.frame[column]).to_numpy() for column in mapping.rated])
        speaker = raw.frame[name].astype(str)
        kept = speaker.isin(speaker[rated].unique()).to_numpy()
        if kept.any() and not kept.all():
            out, who = int((~kept).sum()), ", ".join(speaker[~kept].unique()[:3])
            note = f"{out} row(s) have no rating by anybody since {name} is {who}: they are no requests"
            return raw.of_rows(raw.frame[kept], np.flatnonzero(kept), note)
    return raw
