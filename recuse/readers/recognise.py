"""Columns recognised by their names and by what they hold."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from itertools import combinations, islice, product

import pandas as pd

from recuse.readers import column_names, item_columns
from recuse.readers.column_names import NAMES, PROMPTS, SETS, WINNERS, as_option, is_judge, is_person, plain, told_apart
from recuse.readers.columns import FEWEST_TEXTS, MOST_SLICES, SAME_COLUMN, Column, Roles
from recuse.readers.judgement_rows import Judgements
from recuse.readers.mapping import ColumnMapping
from recuse.readers.nobodys_columns import check_left_out, leave_out_matches, leave_out_who_gave
from recuse.readers.rater_columns import choosers_between, names_somebody, take_raters, take_raters_beside
from recuse.readers.raw_table import RawTable, shown
from recuse.readers.reshaping import without_unrated_roles
from recuse.readers.values import OUT_OF, chosen, is_verdict
from recuse.schema import RecuseError

MOST_RATED = 400  # so many columns of ratings are no list of raters and their criteria
MOST_KINDS = 4
OFTEN_THE_SAME = 0.2  # what is the same in so many rows is no pair of which one is chosen
SOURCES = ("source", "name", "by", "from", "origin")  # columns that may say who a score came from
BY_NUMBER = ("id", "rater", "annotator", "reviewer", "worker", "user", "labeler", "labeller")  # may hold numbers
SURELY = 5  # fewer rows about one thing may be there by mistake
TOLD = ("target", "criterion", "text", "first", "second", "repeat", "order")  # what may tell rows about one item apart
PLACES = tuple(zip(NAMES["first"], NAMES["second"], strict=True))
TWO_NUMBERS = re.compile(r"\[\s*-?\d+(?:\.\d+)?,\s*-?\d+(?:\.\d+)?\s*\]")
ORDERS_SHOWN = (("ab", "ba"), ("original", "swapped"), ("normal", "swapped"), ("forward", "reverse"),
                ("fwd", "rev"))  # fmt: skip
REPEATS = re.compile(r"^(r|rep|repeat|run|trial|score|rating|sample|s)_?(\d{1,3})$")
ORDERED = re.compile(r"(?:^|_)(?:order|position|swap|flip|revers|shown|b_?a(?:_|$))")
"""How columns that tell two orders apart are called, or one of the two values in them."""
SHOWN = re.compile(r"^(?:left|right|first|top)$|(?:^|_)(?:shown|presented|displayed|position_of)(?:_|$)")
"""How columns are called that hold which of the two stood where, in the words of choices."""
SWAPPED, PLACED = re.compile(r"(?:^|_)(?:swap|flip|reversed$|b_?a(?:_|$))"), {"first", "second"}


def with_roles(judged: Judgements) -> Judgements:
    """Which of the columns says what, and the table of what somebody was asked to rate."""
    mapping = _recognised(judged.raw)
    rated = without_unrated_roles(judged.raw, mapping)
    return replace(judged, raw=rated, mapping=mapping if rated is judged.raw else _recognised(rated))


def _recognised(raw: RawTable) -> ColumnMapping:
    """Roles of the columns; what is given stays as it is. `RecuseError` where none of them can be a rating."""
    roles = Roles(raw, raw.roles)
    many = len(roles.free) > MOST_RATED and not roles.filled("raters", "people", "judges")
    rated = [*islice((column.name for column in roles.free if column.rating), MOST_RATED + 1)] if many else []
    if len(rated) > MOST_RATED:
        raise RecuseError(
            f"more than {MOST_RATED} columns hold ratings ({', '.join(map(shown, rated[:3]))}, ...). If every row is a "
            "rater's and every column a text, say --rater COLUMN; otherwise say --people A,B --judges C, or write a "
            "row per answer, with columns item, rater and rating"
        )
    # one role after the other, the surest first
    _check_sides(roles)
    _take_repeats(roles)
    _take_pair(roles)
    roles.take_named("rater", lambda c: _names_raters(roles, c))
    bearing = [c for c in roles.free if {*c.plain.split("_")} & {*NAMES["rater"]} and c.plain not in NAMES["rater"]]
    bearing = [c for c in bearing if not c.wordy and c.ending not in NAMES["value"]]  # llm_judge, no judge_choice
    several = [c.plain for c in bearing if sum(map(is_judge, c.words)) > 1]
    roles.take_named("rater", lambda c: not roles.says_who_won(c), several)
    _check_users(roles)
    _take_sources(roles)
    _take_kind(roles)
    item_columns.take_item(roles)
    roles.take_named("criterion", lambda c: len(c.distinct) <= 100 and not c.numeric)
    _take_value(roles)
    take_raters_beside(roles)
    item_columns.take_what_raters_share(roles)
    item_columns.take_parts(roles)
    roles.take_named("repeat", lambda c: c.numeric and ("_" in c.plain) < len(c.distinct) <= 1000)  # run_index, all 0
    leave_out_matches(roles)
    sets = sum(c.holds_sets for c in roles.free)  # a right answer answers as others do
    right = [c.plain for c in roles.free if c.plain.startswith("correct_")]  # of several, "Correct? (Anna)", each says
    true = [c.plain for c in roles.free if c.is_gold and not (c.is_nobodys or c.plain in right[1:] + right[:-1])]
    holds = [c for c in roles.free if c.rating and len(c.distinct) > 1 and (not c.holds_sets or sets > 1)]
    roles.take_named("gold", holds.__contains__, (*NAMES["gold"], *true))
    roles.take_named("author", lambda c: not c.wordy)
    roles.take_named("reason", lambda c: not c.numeric)
    if not roles.taken.get("first"):
        short = [c for c in roles.free if not c.wordy or c.plain in NAMES["target"][:5]]  # of long prompts
        systems = [c for c in short if 1 <= len(c.distinct) <= min(200, len(roles.frame) / 2)]
        roles.take_named("target", lambda c: c in systems and not roles.answers_as_others(c))
    _check_order(roles)
    roles.take_named("order", lambda c: set(c.distinct) <= {"ab", "ba"})
    item_columns.take_prompts(roles)
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


def _check_sides(roles: Roles) -> None:
    """`RecuseError` for two columns of ratings told apart as two of texts are: score_0 and 1 beside answer_0 and 1."""
    if roles.filled("raters", "people", "judges", "value", "repeats", "rater"):
        return
    called = {column.plain: column for column in roles.free}
    texts = {c.plain: c for c in roles.free if c.wordy or c.told_once}
    two = [texts[name] for name in next(iter(told_apart(texts)), ())]
    lists = [c for c in roles.free if len(c.distinct) and all(TWO_NUMBERS.fullmatch(str(v)) for v in c.distinct)]
    own = {} if lists and two else _of_own_texts(roles, texts.values())
    if about := [*map(str, own or lists)] if own or two else []:
        one, text = ([*own.values()] or two)[:2]
        raise RecuseError(
            f"{' and '.join(about[:2])} say something of {one} and {text}, each of its own text; write "
            "a row per text, with columns item, system and score, or a column winner; if they are no ratings, say "
            f"--ignore {as_option(about)}; if judges gave each to all, --judges {as_option(about)}"
        )
    for one, other in ((called[a], called[b]) for a, b in told_apart(called, ORDERS_SHOWN) if called[a].rating):
        raise RecuseError(
            f"{one} and {other} look like a judge's answers to the two texts of a pair in both orders; write a row "
            f"for each, with columns first and second that hold what was shown there, or leave one out with --ignore "
            f"{other}"
        )


def _of_own_texts(roles: Roles, texts: Collection[Column]) -> dict[Column, Column]:
    """Column -> the text that it rates: judge_alpha, answer_alpha, ...; none where people or a truth rate both."""
    whole = [c for c in roles.rated if c.is_person or c.is_gold]
    rated = [c for c in roles.rated if (c.numeric or c.holds_labels or c.is_judge) and not (c.is_nobodys or c in texts)]
    rated = [c for c in rated if not (c in whole or names_somebody(c))]
    shapes: tuple[dict[tuple[str, str], dict[str, Column]], ...] = ({}, {})
    for column in (*rated, *(c for c in texts if not c.is_reason)):
        words = re.split(r"_|(?<=[a-z])(?=\d)", column.plain)
        for start, end in combinations(range(len(words) + 1), 2):
            front, word, back = ("".join(part) for part in (words[:start], words[start:end], words[end:]))
            shapes[column in texts].setdefault((front, back), {})[word] = column
    for own, of in product(*([shape for shape in side.values() if len(shape) > 1] for side in shapes)):
        about = {own[word]: of[word] for word in own if word in of and not column_names.is_criterion(word)}
        if len(about) > 1 and not any(map(next(iter(about)).answers_like, whole)):
            return about
    return {}


def _check_target(roles: Roles) -> None:
    """`RecuseError` where a rating of an item is the same for all targets, and others differ: they may have rated."""
    target, item = roles.taken.get("target", ""), roles.filled("item")
    raters = {column: who for who, columns in roles.taken.get("raters", {}).items() for column in columns}
    if not (target and item and raters) or "target" in roles.given:
        return
    raters |= dict.fromkeys(roles.filled("gold"), "people")
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


def _check_order(roles: Roles) -> None:
    """`RecuseError` for answers A or B in both orders of two texts that no column names or that keep their columns."""
    two = [c for c in roles.free if len(c.distinct) == 2]
    orders = [c for c in two if any(ORDERED.search(plain(str(word))) for word in (c.name, *c.distinct))]
    orders = [c for c in orders if len(c.words) == 2 and {*map(chosen, c.words)} != PLACED]
    orders += [c for c in two if SHOWN.search(c.plain) and {*map(chosen, c.words)} == PLACED]
    pair = roles.filled("first", "second")
    if not pair:  # texts may be classes A and B, and an order new
        orders = [c for c in orders if any(SWAPPED.search(plain(str(word))) for word in (c.name, *c.distinct))]
    sides = {word for name in pair for word in roles.columns[name].words}
    others = [c for c in roles.columns.values() if orders and c.name not in (*pair, *map(str, orders))]
    letters = [c for c in others if {*map(chosen, c.words)} >= PLACED and all(map(chosen, c.words))]
    letters = [c for c in letters if not c.words & sides and (pair or not c.numeric)]
    if not letters:
        return
    item = roles.filled("item")
    one = roles.frame[[*item, *pair]].drop_duplicates()
    other = one.rename(columns=dict(zip(pair, pair[::-1], strict=True)))[[*item, *pair]]
    if pair and pd.concat([one, other]).duplicated().any():
        return  # they hold what was shown where: an item's two stand in them both ways round
    words = letters[0].distinct
    letter = next((word for word in words if chosen(str(word).lower()) in PLACED), words[0])
    texts = f"{' and '.join(pair)} are the same in both" if pair else "no column names them"
    raise RecuseError(
        f"{orders[0]} says in which order two texts were shown, and {texts}, so {letter} in {letters[0]} may be a text "
        f"or a place: write columns first and second with what was shown there in each row, and who won by its name; "
        f"if {letter} says the same in both orders, say --ignore {orders[0]}"
    )


def _names_raters(roles: Roles, column: Column) -> bool:
    """A column called judge may hold the names of judges, or the ratings of the only one."""
    others = [c for c in roles.free if c is not column and c.rating]
    scores = any(c.plain in NAMES["value"] for c in others)
    if len(column.distinct) == 1 and not scores and any(c.is_judge and not c.is_attribute for c in others):
        return False  # other columns are called as judges are and hold ratings
    called = column.plain.endswith(BY_NUMBER)
    least = 2 if called else 3  # a judge's 0 and 1 may tell good texts from bad ones
    few = least <= len(column.distinct) <= MOST_SLICES and not column.has_fraction
    letters = called and all(len(word) == 1 for word in column.words) and not roles.answers_as_others(column)
    letters = letters and not (column.numeric or is_verdict(column.words))  # A, B and C, which are grades of nobody
    if letters or (column.numeric and few and column.name not in roles.stated and _tells_apart(roles, column)):
        return True
    if column.wordy or column.holds_labels or (column.numeric and not called):
        return False
    won = False  # model_a, model_b, tie: who won, unless they tell apart rows about one pair
    about = [name for name, other in roles.columns.items() if not all(map(chosen, other.words))]
    if about and all(map(chosen, column.words)):
        twice, left = (int(roles.frame.duplicated(keys).sum()) for keys in (about, [*about, column.name]))
        won = twice == 0 or left > (1 - SAME_COLUMN) * twice
    answers = all(re.match(OUT_OF, str(v)) for v in column.distinct) or roles.answers_as_others(column, won=won)
    return not answers and (len(column.distinct) <= max(2, len(roles.frame) // 2) or len(roles.frame) < 10)


def _tells_apart(roles: Roles, column: Column) -> bool:
    """Whether it tells apart rows about one thing, so says who rated; `RecuseError` for numbers that may be ratings."""
    free = {c.plain: c for c in roles.free if c is not column and len(c.distinct) > 1}
    naming = (word for role in TOLD for word in NAMES[role] if word not in NAMES["value"])
    about = [free[word].name for word in (*naming, *column_names.PARTS) if word in free]
    item = roles.filled("item") or [free[word].name for word in NAMES["item"] if word in free][:1]
    some = range(SURELY + 1, len(roles.frame) // 2 + 1)
    for one in [item] if item else [[c.name] for c in free.values() if len(c.distinct) in some]:
        keys = [*one, *about]
        rated = [c for c in free.values() if c.name not in keys and c.rating and not (c.is_attribute or c.is_rater)]
        several = int(roles.frame.duplicated(keys).sum())
        groups = roles.frame.groupby(keys, sort=False)[[c.name for c in rated]]
        if several < SURELY or not (groups.nunique() > 1).any(axis=None):
            continue
        if roles.frame.duplicated([*keys, column.name]).sum() <= (1 - SAME_COLUMN) * several:
            return True
        if item and column.plain.endswith(BY_NUMBER) and roles.answers_as_others(column):
            raise RecuseError(
                f"the numbers in {column} may say who rated or be somebody's ratings: say --rater {column}, or "
                f"--people {column} and --judges for the others"
            )
    return False


def _check_users(roles: Roles) -> None:
    """`RecuseError` where users may have rated or written texts, and no columns bear people's and judges' names."""
    column = next((c for c in roles.free if c.plain == "user_id" and len(c.distinct)), None)
    if column is None or "rater" in roles.taken or column.name in roles.filled("target", "cluster"):
        return
    people = any(c.is_person for c in roles.free if c is not column and c.plain not in NAMES["value"])
    if not (people and any(c.is_judge for c in roles.free)) and _tells_apart(roles, column):
        raise RecuseError(
            f"{column} may say who rated or whose texts were rated: say --rater {column}, or --target {column}"
        )


def _take_sources(roles: Roles) -> None:
    """Where no column names raters, one of judges' and people's names; in one called source, others too."""
    scored = any(column.plain in NAMES["value"] for column in roles.free)
    named = [c for c in roles.free if c.ending not in NAMES["value"]]  # human_choice may name models that were judged
    for column in named if "rater" not in roles.taken else ():
        values = [str(value) for value in column.distinct[: MOST_SLICES + 1] if not column.is_gold]
        called = {(is_judge(value), is_person(value)) for value in values}
        several = len(called) > 1 and len(values) <= MOST_SLICES and not (column.wordy or roles.says_who_won(column))
        known = all(value.replace(" ", "").isalpha() or is_judge(value) for value in values)
        mixed = scored and column.plain in SOURCES and known and called == {(True, False), (False, False)}
        mixed |= column.is_person and any(judge for judge, _ in called)  # Bewerter, evaluador
        if several and (mixed or called == {(True, False), (False, True)}):
            roles.take("rater", column)
            return


def _take_repeats(roles: Roles) -> None:
    several = [c for c in roles.free if REPEATS.match(c.plain) and c.rating]
    if "repeats" in roles.taken or len(several) < 2 or roles.stated & {*map(str, several)}:
        return
    alike = [c for c in roles.rated if c not in several and c.is_rater and c.answers_like(several[0])]
    named = [c for c in roles.free if c.plain in NAMES["rater"] and c not in alike]  # those asked are in its rows
    names = tuple(map(str, several))
    known = roles.filled("raters", "people", "judges", "rater") or any(_names_raters(roles, c) for c in named)
    if not (alike or known) and any(re.match(r"(?:r|s|score|rating)_?\d", c.plain) for c in several):
        raise RecuseError(
            f"{', '.join(names)}: nothing says whose they are: if each is a person's, say --people {as_option(names)}; "
            "if they are a judge's repeats, call them after it (gpt_run1, gpt_run2); if each is of another text, write "
            "a row per text"
        )
    if not alike or known:
        roles.take_all("repeats", several)
    elif not any(c.is_judge for c in alike):  # a judge asked several times, people beside it
        roles.taken["raters"] = {"judge": names, **{c.name: (c.name,) for c in alike}}
        roles.use([*several, *alike])
    elif not all(c.plain[0] == "r" and c.plain[1:].isdigit() for c in several):
        others = [*map(str, alike)]
        raise RecuseError(
            f"{', '.join(names)} stand beside {', '.join(others)}: if they are other raters, say --people "
            f"{as_option(names)} --judges {as_option(others)}; if they are repeats, name their columns after their "
            f"judge ({others[0]}_run1, {others[0]}_run2)"
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
    ends = [(a, b) for a, b in told_apart(named) if not a[-1].isdigit()]
    ends = [(a, b) for a, b in ends if {*a.split("_")} & {*NAMES["target"]} or names_somebody(named[a])]
    pairs = [(named[a], named[b]) for a, b in (*PLACES, *ends) if {a, b} <= named.keys()]
    pairs = [(a, b) for a, b in pairs if a.plain not in ("a", "left") or {*a.distinct} & {*b.distinct}]  # or raters
    pairs += [(texts[a], texts[b]) for a, b in (*PLACES, *told_apart(texts)) if {a, b} <= texts.keys()]
    pairs += [(named[a], named[b]) for a, b in told_apart(named) if _are_a_pair(roles, named[a], named[b])]
    winners = any(column.plain in WINNERS for column in roles.free)
    for one, other in pairs:
        if (one.plain, other.plain) not in PLACES and one.filled.eq(other.filled).mean() > OFTEN_THE_SAME:
            continue  # answers of two: "reviewer 1 response" beside "reviewer 2 response"
        won = winners and one in named.values()
        if not (won or "value" in roles.taken or choosers_between(roles, one, other)):
            continue
        called = {column.plain: column for column in roles.free if len(column.distinct)}
        for third in (called[b] for a, b in told_apart(called, column_names.THIRD) if a == other.plain):
            raise RecuseError(
                f"{one}, {other} and {third} are three to choose from, and choices between two are read; write a row "
                f"for each two of them, with columns first, second and winner, or a row for each text, with columns "
                f"item, system and score; if {third} was not to choose from, say --ignore {third}"
            )
        roles.take("first", one)
        roles.take("second", other)
        return


def _are_a_pair(roles: Roles, one: Column, other: Column) -> bool:
    """Whether two columns never hold the same in a row, and a third always one of them, or a tie."""
    if not FEWEST_TEXTS <= one.number == other.number == len(roles.frame) or one.cells.eq(other.cells).any():
        return False
    if len({*one.distinct, *other.distinct}) < 3:
        return False  # of two words any is one of them: judges of which one always says the opposite
    choosers = [c for c in choosers_between(roles, one, other) if c.cells.eq(one.cells).any()]
    return any(roles.says_who_won(c, (one, other)) for c in choosers)


def _take_kind(roles: Roles) -> None:
    """What is called so; else what says of every rater once and for all that it is a judge or a person, both there."""
    roles.take_named("kind", lambda c: len(c.distinct) <= MOST_KINDS and any(map(column_names.is_rater, c.words)))
    rater = roles.taken.get("rater")
    few = [c for c in roles.free if len(c.distinct) <= MOST_KINDS] if rater and "kind" not in roles.taken else []
    both = {(True, False), (False, True)}
    for column in (c for c in few if {(is_judge(str(kind)), is_person(str(kind))) for kind in c.distinct} == both):
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
