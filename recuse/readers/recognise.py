"""Columns recognised by their names and by what they hold."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice, product

from recuse.readers import column_names, item_columns
from recuse.readers.column_names import NAMES, PROMPTS, SETS, WINNERS, as_option, is_judge, is_person, told_apart
from recuse.readers.columns import Column, Roles
from recuse.readers.judgement_rows import Judgements
from recuse.readers.mapping import ColumnMapping
from recuse.readers.named_raters import names_raters, names_systems, take_sources, users_rated
from recuse.readers.nobodys_columns import check_left_out, leave_out_who_gave
from recuse.readers.rater_columns import choosers_between, take_raters, take_raters_beside
from recuse.readers.raw_table import RawTable, shown
from recuse.readers.reshaping import without_unrated_roles
from recuse.schema import RecuseError

PLACES = tuple(zip(NAMES["first"], NAMES["second"], strict=True))
REPEATS = re.compile(r"^(?:r|rep|repeat|run|trial|score|rating|sample|s)_?(\d{1,3})$")


def with_roles(judged: Judgements) -> Judgements:
    """Which of the columns says what, and the table of what somebody was asked to rate."""
    mapping = _recognised(judged.raw)
    rated = without_unrated_roles(judged.raw, mapping)
    return replace(judged, raw=rated, mapping=mapping if rated is judged.raw else _recognised(rated))


def _recognised(raw: RawTable) -> ColumnMapping:
    """Roles of the columns of a table of strings; what is given stays as it is. `RecuseError` where nothing in it can
    be a rating, saying how to name the column."""
    roles = Roles(raw.seen, raw.roles)
    _check_width(roles)
    # one role after the other, the surest first
    _check_sides(roles)
    _take_repeats(roles)
    _take_pair(roles)
    roles.take_named("rater", lambda c: names_raters(roles, c))
    roles.take_named("rater", lambda c: users_rated(roles, c), ("user_id",))
    take_sources(roles)
    _take_kind(roles)
    item_columns.take_item(roles)
    roles.take_named("criterion", lambda c: len(c.distinct) <= 100 and not c.numeric)
    _take_value(roles)
    take_raters_beside(roles)
    item_columns.take_what_raters_share(roles)
    item_columns.take_item_of_pairs(roles)
    item_columns.take_parts(roles)
    roles.take_named("repeat", lambda c: len(c.distinct) <= 1000 and c.numeric)
    sets = sum(c.holds_sets for c in roles.free)  # a right answer answers as others do
    roles.take_named("gold", lambda c: c.rating and len(c.distinct) > 1 and (not c.holds_sets or sets > 1))
    roles.take_named("author", lambda c: not c.wordy)
    roles.take_named("reason", lambda c: not c.numeric)
    if not roles.taken.get("first"):
        roles.take_named("target", lambda c: names_systems(roles, c))
    roles.take_named("order", lambda c: set(c.distinct) <= {"ab", "ba"})
    item_columns.take_cluster(roles)
    roles.take_named("text", lambda c: c.wordy or c.told_once)
    item_columns.take_factors(roles)
    item_columns.take_what_tells_apart(roles)
    leave_out_who_gave(roles)
    take_raters(roles)
    check_left_out(roles)
    _check_target(roles)
    item_columns.take_slices(roles)
    if not any(roles.taken.get(role) for role in ("value", "repeats", "raters")):
        lists = [c.name for c in roles.columns.values() if c.filled.astype(str).str.startswith("[{").any()]
        nested = f". Of {', '.join(lists)}, which hold lists, write a row for each entry first" if lists else ""
        raise RecuseError(
            "no column holds ratings that could be recognised; name it: --value COLUMN beside --rater COLUMN, or "
            f"--judge COLUMN and --people COLUMN in a wide table. There are: {', '.join(roles.columns)}{nested}"
        )
    roles.ignored |= {column.name: _why_ignored(roles, column) for column in roles.free}
    return ColumnMapping(**roles.taken, ignored=roles.ignored)


MOST_RATED = 400
"""So many columns of ratings are no list of raters and their criteria."""


def _check_width(roles: Roles) -> None:
    """`RecuseError` for a table of very many columns that hold ratings, of which nobody said whose they are."""
    if len(roles.free) <= MOST_RATED or roles.filled("raters", "people", "judges"):
        return
    rated = [*islice((column.name for column in roles.free if column.rating), MOST_RATED + 1)]
    if len(rated) > MOST_RATED:
        raise RecuseError(
            f"more than {MOST_RATED} columns hold ratings ({', '.join(map(shown, rated[:3]))}, ...). If every row is a "
            "rater's and every column a text, say --rater COLUMN; otherwise say --people A,B --judges C, or write a "
            "row per answer, with columns item, rater and rating"
        )


TWO_NUMBERS = re.compile(r"\[\s*-?\d+(?:\.\d+)?,\s*-?\d+(?:\.\d+)?\s*\]")
ORDERS_SHOWN = (("_ab", "_ba"), ("_original", "_swapped"), ("_normal", "_swapped"), ("_forward", "_reverse"))


def _check_sides(roles: Roles) -> None:
    """`RecuseError` for two columns of ratings beside two of texts that are told apart in the same way, score_0 and
    score_1 beside answer_0 and answer_1: each is about one text, and none is another rater's or a repeat."""
    if roles.filled("raters", "people", "judges", "value", "repeats", "rater"):
        return
    called = {column.plain: column for column in roles.free}
    pairs = [(called[a], called[b]) for a, b in told_apart(called)]
    texts = [pair for pair in pairs if all(c.wordy or c.told_once for c in pair)]
    others = [pair for pair in pairs if not pair[0].is_person] if texts else []
    rated = [c for p in others if all((c.numeric or c.holds_labels) and c.rating for c in p) for c in p]
    free = called.values() if texts else ()
    lists = [c for c in free if len(c.distinct) and all(TWO_NUMBERS.fullmatch(str(v)) for v in c.distinct)]
    if about := [c.name for c in lists or rated]:
        raise RecuseError(
            f"{' and '.join(about[:2])} say something of {texts[0][0]} and {texts[0][1]}, each of its own text; write "
            "a row per text, with columns item, system and score, or a column winner; if they are no ratings, say "
            f"--ignore {','.join(about)}"
        )
    for (name, one), (end, turned) in product(called.items(), ORDERS_SHOWN):
        other = called.get(name.removesuffix(end) + turned)
        if name.endswith(end) and other and one.rating:
            raise RecuseError(
                f"{one} and {other} look like a judge's answers to the two texts of a pair in both orders; write a row "
                f"for each, with a column order that holds ab or ba, or leave one out with --ignore {other}"
            )


def _check_target(roles: Roles) -> None:
    """`RecuseError` where a column is read as what was rated, and somebody's rating of an item is the same for all that
    it names, though others' differ; of names of models, where all people's is: they may be those who rated."""
    target, item = roles.taken.get("target", ""), roles.filled("item")
    raters = {column: who for who, columns in roles.taken.get("raters", {}).items() for column in columns}
    if not (target and item and raters) or "target" in roles.given:
        return
    groups = roles.frame.groupby(item, sort=False)
    if len(groups) < item_columns.SURELY or (groups[target].nunique() < 2).any():
        return
    same = [c for c in raters if len(roles.columns[c].distinct) > 1 and (groups[c].nunique() == 1).all()]
    if all(map(is_judge, roles.columns[target].words)):
        people = [c for c, who in raters.items() if is_person(who)]
        same = people if {*people} <= {*same} else []
    elif len(same) == len(raters):
        return
    if same:
        raise RecuseError(
            f"{', '.join(same)} is the same for every {target} of an item; if {target} names who rated, say --rater "
            f"{target}; if it names what was rated, say --target {target}"
        )


def _take_repeats(roles: Roles) -> None:
    several = [c for c in roles.free if REPEATS.match(c.plain) and c.rating]
    if "repeats" in roles.taken or len(several) < 2:
        return
    alike = [c for c in roles.rated if c not in several and c.is_rater and c.answers_like(several[0])]
    named = [c for c in roles.free if c.plain in NAMES["rater"] and c not in alike]  # those asked are in its rows
    names = tuple(map(str, several))
    if not alike or roles.filled("raters", "people", "judges", "rater") or any(names_raters(roles, c) for c in named):
        roles.taken["repeats"] = names
        roles.use(several)
    elif not any(c.is_judge for c in alike):  # a judge asked several times, people beside it
        roles.taken["raters"] = {"judge": names, **{c.name: (c.name,) for c in alike}}
        roles.use([*several, *alike])
    elif not all(c.plain[0] == "r" and c.plain[1:].isdigit() for c in several):
        others = [*map(str, alike)]
        raise RecuseError(
            f"{', '.join(names)} stand beside {', '.join(others)}: if they are other raters, say --people "
            f"{as_option(names)} --judges {as_option(others)}; if they are repeats, name their columns after their "
            f"judge ({others[0]}_1, {others[0]}_2)"
        )


def _take_pair(roles: Roles) -> None:
    """Two columns with the names of what met, else with the two texts themselves."""
    missing = [side for side in ("first", "second") if side not in roles.taken]
    if len(missing) == 1:
        raise RecuseError(f"two columns hold what met: name the other as well, --{missing[0]} COLUMN")
    if not missing:
        return
    named = {c.plain: c for c in roles.free if not (c.wordy or c.numeric)}
    texts = {c.plain: c for c in roles.free if c.wordy or c.told_once}
    ends = [(a, b) for a, b in told_apart(named) if {*a.split("_")} & {*NAMES["target"]} and not a[-1].isdigit()]
    pairs = []
    for a, b in ((a, b) for a, b in (*PLACES, *ends) if {a, b} <= named.keys()):
        # columns a and b must share a name, since raters may be called so
        if a not in ("a", "left") or {*named[a].distinct} & {*named[b].distinct}:
            pairs.append((named[a], named[b]))
    pairs += [(texts[a], texts[b]) for a, b in (*PLACES, *told_apart(texts)) if {a, b} <= texts.keys()]
    winners = any(column.plain in WINNERS for column in roles.free)
    for one, other in pairs:
        won = winners and one in named.values()
        if won or "value" in roles.taken or choosers_between(roles, one, other):
            _check_no_third(roles, one, other)
            roles.take("first", one)
            roles.take("second", other)
            return


def _check_no_third(roles: Roles, one: Column, other: Column) -> None:
    """`RecuseError` where a third column is called as these two are: the best of three is no choice between two."""
    called = {column.plain: column for column in roles.free if len(column.distinct)}
    for third in (called[b] for a, b in told_apart(called, column_names.THIRD) if a == other.plain):
        raise RecuseError(
            f"{one}, {other} and {third} are three to choose from, and choices between two are read; write a row for "
            f"each two of them, with columns first, second and winner, or a row for each text, with columns item, "
            f"system and score; if {third} was not to choose from, say --ignore {third}"
        )


MOST_KINDS = 4


def _take_kind(roles: Roles) -> None:
    """What is called so; else, whatever it is called, what says of every rater once and for all that it is a judge or a
    person, of some the one and of some the other."""
    roles.take_named("kind", lambda c: len(c.distinct) <= MOST_KINDS and not c.numeric)
    rater = roles.taken.get("rater")
    for column in roles.free if rater and "kind" not in roles.taken else ():
        kinds = [*map(str, column.distinct[: MOST_KINDS + 1])]
        known = all(is_judge(kind) != is_person(kind) for kind in kinds) and len({*map(is_judge, kinds)}) == 2
        if len(kinds) > MOST_KINDS or not known:
            continue
        each = roles.frame[[rater, column.name]].drop_duplicates()
        if each[rater].is_unique and (each[column.name] != "").all():
            roles.take("kind", column)
            return


def _take_value(roles: Roles) -> None:
    if "value" in roles.taken or "repeats" in roles.taken:
        return
    if "first" in roles.taken:
        first, second = (roles.columns[roles.taken[side]] for side in ("first", "second"))
        if "rater" not in roles.taken and len(choosers_between(roles, first, second)) > 1:
            return  # a column each: what is called label is somebody's beside the others'
        roles.take_named("value", lambda c: len(c.distinct) <= 40, WINNERS)
    elif "rater" in roles.taken:
        roles.take_named("value", lambda c: c.rating and len(c.distinct) > 1)
        roles.take_named("value", lambda c: c.rating)
        roles.take_named("value", lambda c: c.numeric and c.like_ratings, ("note",))  # a remark, in French a mark
    if "value" in roles.taken:
        sets = [column for column in roles.free if column.plain in SETS and len(column.distinct)]
        roles.use(sets)
        roles.taken["value"] = (*roles.taken["value"], *map(str, sets))


def _why_ignored(roles: Roles, column: Column) -> str:
    if not len(column.distinct):
        return "empty"
    if column.plain in column_names.COUNTS and column.numeric:
        return f"items have names of their own; if it says how many of them each row stands for, say --count {column}"
    if len(column.distinct) == 1:
        own = not roles.taken.get("item") and column.plain in NAMES["item"]
        return "the same in every row" + ("; each row is read as a text of its own, else say --item" if own else "")
    if column.numeric and not {*column_names.SURE}.isdisjoint(column.plain.split("_")):
        return "how sure somebody was, by its name; if texts were rated so, call it otherwise (assurance)"
    if column.plain in PROMPTS:
        return "what the texts answer"
    return "free text" if column.wordy else f"not recognised ({len(column.distinct)} different values)"
