"""Columns recognised by their names and by what they hold."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from recuse.readers.column_names import (
    COUNTS,
    NAMES,
    PROMPTS,
    SETS,
    SURE,
    THIRD,
    WINNERS,
    as_option,
    is_attribute,
    is_judge,
    is_person,
    plain,
    told_apart,
)
from recuse.readers.columns import Roles
from recuse.readers.item_columns import (
    SURELY,
    take_cluster,
    take_factors,
    take_item,
    take_item_of_pairs,
    take_parts,
    take_slices,
    take_what_raters_share,
    take_what_tells_apart,
)
from recuse.readers.judgement_rows import Judgements
from recuse.readers.mapping import ColumnMapping
from recuse.readers.nobodys_columns import check_left_out, leave_out_who_gave
from recuse.readers.rater_columns import (
    choosers_between,
    names_raters,
    names_systems,
    take_raters,
    take_raters_beside,
    take_sources,
    users_rated,
)
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
    take_item(roles)
    roles.take_named("criterion", lambda c: len(c.distinct) <= 100 and not c.numeric)
    _take_value(roles)
    take_raters_beside(roles)
    take_what_raters_share(roles)
    take_item_of_pairs(roles)
    take_parts(roles)
    roles.take_named("repeat", lambda c: len(c.distinct) <= 1000 and c.numeric)
    sets = [name for name in roles.free if roles.columns[name].holds_sets]  # a right answer answers as others do
    roles.take_named("gold", lambda c: c.rating and len(c.distinct) > 1 and (not c.holds_sets or len(sets) > 1))
    roles.take_named("author", lambda c: not c.wordy)
    roles.take_named("reason", lambda c: not c.numeric)
    if not roles.taken.get("first"):
        roles.take_named("target", lambda c: names_systems(roles, c))
    roles.take_named("order", lambda c: set(c.distinct) <= {"ab", "ba"})
    take_cluster(roles)
    roles.take_named("text", lambda c: c.wordy or c.told_once)
    take_factors(roles)
    take_what_tells_apart(roles)
    leave_out_who_gave(roles)
    take_raters(roles)
    check_left_out(roles)
    _check_target(roles)
    take_slices(roles)
    _check_something_rated(roles)
    roles.ignored |= {name: _why(roles, name) for name in roles.free}
    return ColumnMapping(**roles.taken, ignored=roles.ignored)


MOST_RATED = 400
"""So many columns of ratings are no list of raters and their criteria."""


def _check_width(roles: Roles) -> None:
    """`RecuseError` for a table of very many columns that hold ratings, of which nobody said whose they are."""
    if len(roles.free) <= MOST_RATED or roles.filled("raters", "people", "judges"):
        return
    rated = [*islice((name for name in roles.free if roles.columns[name].rating), MOST_RATED + 1)]
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
    called = {plain(name): roles.columns[name] for name in roles.free}
    pairs = [(called[a], called[b]) for a, b in told_apart(called)]
    texts = [pair for pair in pairs if all(c.wordy or c.told_once for c in pair)]
    others = [pair for pair in pairs if not is_person(pair[0].name)] if texts else []
    rated = [c for p in others if all((c.numeric or c.holds_labels) and c.rating for c in p) for c in p]
    free = called.values() if texts else ()
    lists = [c for c in free if len(c.distinct) and all(TWO_NUMBERS.fullmatch(str(v)) for v in c.distinct)]
    if about := [c.name for c in lists or rated]:
        raise RecuseError(
            f"{' and '.join(about[:2])} say something of {texts[0][0].name} and {texts[0][1].name}, each of its own "
            f"text; write a row per text, with columns item, system and score, or a column winner; if they are no "
            f"ratings, say --ignore {','.join(about)}"
        )
    orders = [(a, b) for a in called for end, other in ORDERS_SHOWN if a.endswith(end)
              for b in (a.removesuffix(end) + other,) if b in called and called[a].rating]  # fmt: skip
    if orders:
        one, other = (called[name].name for name in orders[0])
        raise RecuseError(
            f"{one} and {other} look like a judge's answers to the two texts of a pair in both orders; write a row for "
            f"each, with a column order that holds ab or ba, or leave one out with --ignore {other}"
        )


def _check_target(roles: Roles) -> None:
    """`RecuseError` where a column is read as what was rated, and somebody's rating of an item is the same for all that
    it names, though others' differ; of names of models, where all people's is: they may be those who rated."""
    target, item = roles.taken.get("target", ""), roles.filled("item")
    raters = {column: who for who, columns in roles.taken.get("raters", {}).items() for column in columns}
    if not (target and item and raters) or "target" in roles.given:
        return
    groups = roles.frame.groupby(item, sort=False)
    if len(groups) < SURELY or (groups[target].nunique() < 2).any():
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
    if "repeats" in roles.taken:
        return
    several = [n for n in roles.free if REPEATS.match(plain(n)) and roles.columns[n].rating]
    rest = [c for n in roles.free if n not in several and (c := roles.columns[n]).rating and not is_attribute(n)]
    beside = [c.name for c in rest if is_judge(c.name) or is_person(c.name)] if len(several) > 1 else []
    alike = [n for n in beside if roles.columns[n].answers_like(roles.columns[several[0]])]
    named = [n for n in roles.free if plain(n) in NAMES["rater"] and n not in alike]  # those asked are in its rows
    if (
        alike
        and not roles.filled("raters", "people", "judges", "rater")
        and not any(names_raters(roles, roles.columns[n]) for n in named)
    ):
        if not any(is_judge(name) for name in alike):  # a judge asked several times, people beside it
            roles.taken["raters"] = {"judge": tuple(several), **{name: (name,) for name in alike}}
            roles.use([*several, *alike])
        elif not all(plain(name)[0] == "r" and plain(name)[1:].isdigit() for name in several):
            raise RecuseError(
                f"{', '.join(several)} stand beside {', '.join(alike)}: if they are other raters, say --people "
                f"{as_option(several)} --judges {as_option(alike)}; if they are repeats, name their columns after "
                f"their judge ({alike[0]}_1, {alike[0]}_2)"
            )
        return
    if len(several) > 1:
        roles.taken["repeats"] = tuple(several)
        roles.use(several)


def _take_pair(roles: Roles) -> None:
    """Two columns with the names of what met, else with the two texts themselves."""
    if "first" in roles.taken or "second" in roles.taken:
        return
    named = {plain(n): n for n in roles.free if not roles.columns[n].wordy and not roles.columns[n].numeric}
    texts = {plain(n): n for n in roles.free if roles.columns[n].wordy or roles.columns[n].told_once}
    ends = [(a, b) for a, b in told_apart(named) if {*a.split("_")} & {*NAMES["target"]} and not a[-1].isdigit()]
    pairs = []
    for a, b in ((a, b) for a, b in (*PLACES, *ends) if {a, b} <= named.keys()):
        one, other = named[a], named[b]
        shared = {*roles.columns[one].distinct} & {*roles.columns[other].distinct}
        if shared or a not in ("a", "left"):  # columns a and b must share a name, since raters may be called so
            pairs.append((one, other))
    pairs += [(texts[a], texts[b]) for a, b in (*PLACES, *told_apart(texts)) if {a, b} <= texts.keys()]
    for one, other in pairs:
        won = one in named.values() and any(plain(n) in WINNERS for n in roles.free)
        if won or "value" in roles.taken or choosers_between(roles, one, other):
            _check_no_third(roles, one, other)
            roles.take("first", one)
            roles.take("second", other)
            return


def _check_no_third(roles: Roles, one: str, other: str) -> None:
    """`RecuseError` where a third column is called as these two are: the best of three is no choice between two."""
    called = {plain(name): name for name in roles.free if len(roles.columns[name].distinct)}
    for third in (called[b] for a, b in told_apart(called, THIRD) if a == plain(other)):
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
    for name in roles.free if rater and "kind" not in roles.taken else ():
        kinds = roles.columns[name].distinct
        if not 2 <= len(kinds) <= MOST_KINDS or any(is_judge(str(k)) == is_person(str(k)) for k in kinds):
            continue
        each = roles.frame[[rater, name]].drop_duplicates()
        if len({is_judge(str(k)) for k in kinds}) == 2 and each[rater].is_unique and (each[name] != "").all():
            roles.take("kind", name)
            return


def _take_value(roles: Roles) -> None:
    if "value" in roles.taken or "repeats" in roles.taken:
        return
    if "first" in roles.taken:
        choosers = choosers_between(roles, roles.taken["first"], roles.taken.get("second", ""))
        if "rater" not in roles.taken and len(choosers) > 1:
            return  # a column each: what is called label is somebody's beside the others'
        roles.take_named("value", lambda c: len(c.distinct) <= 40, WINNERS)
    elif "rater" in roles.taken:
        roles.take_named("value", lambda c: c.rating and len(c.distinct) > 1)
        roles.take_named("value", lambda c: c.rating)
        roles.take_named("value", lambda c: c.numeric and c.like_ratings, ("note",))  # a remark, in French a mark
    if "value" in roles.taken:
        sets = [name for name in roles.free if plain(name) in SETS and len(roles.columns[name].distinct)]
        roles.use(sets)
        roles.taken["value"] = (*roles.taken["value"], *sets)


def _check_something_rated(roles: Roles) -> None:
    if any(roles.taken.get(role) for role in ("value", "repeats", "raters")):
        return
    lists = [c.name for c in roles.columns.values() if c.filled.astype(str).str.startswith("[{").any()]
    nested = f". Of {', '.join(lists)}, which hold lists, write a row for each entry first" if lists else ""
    raise RecuseError(
        "no column holds ratings that could be recognised; name it: --value COLUMN beside --rater COLUMN, or "
        f"--judge COLUMN and --people COLUMN in a wide table. There are: {', '.join(roles.columns)}{nested}"
    )


def _why(roles: Roles, name: str) -> str:
    column = roles.columns[name]
    if not len(column.distinct):
        return "empty"
    if plain(name) in COUNTS and column.numeric:
        return f"items have names of their own; if it says how many of them each row stands for, say --count {name}"
    if len(column.distinct) == 1:
        own = not roles.taken.get("item") and plain(name) in NAMES["item"]
        return "the same in every row" + ("; each row is read as a text of its own, else say --item" if own else "")
    if column.numeric and not {*SURE}.isdisjoint(plain(name).split("_")):
        return "how sure somebody was, by its name; if texts were rated so, call it otherwise (assurance)"
    if plain(name) in PROMPTS:
        return "what the texts answer"
    if column.wordy:
        return "free text"
    return f"not recognised ({len(column.distinct)} different values)"
