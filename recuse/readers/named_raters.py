"""Columns of names: of who rated, or of the systems that were rated, and not somebody's ratings."""

from __future__ import annotations

import re

from recuse.readers.column_names import NAMES, PARTS, is_judge, is_person
from recuse.readers.columns import MOST_SLICES, Column, Roles
from recuse.readers.values import OUT_OF, chosen, is_verdict
from recuse.schema import RecuseError

SAME_COLUMN = 0.98  # two columns that say the same in so many rows name the same things
SOURCES = ("source", "name", "by", "from", "origin")  # columns that may say who a score came from
BY_NUMBER = ("id", "rater", "annotator", "reviewer", "worker", "user", "labeler", "labeller")
"""Columns of raters that may hold numbers."""
SURELY = 5  # fewer rows about one thing may be there by mistake
TOLD = ("target", "criterion", "text", "first", "second", "repeat", "order")
"""What may tell rows about one item apart, whoever rated."""


def names_raters(roles: Roles, column: Column) -> bool:
    """A column called judge may hold the names of judges, or the ratings of the only one."""
    others = [c for c in roles.free if c is not column and c.rating]
    scores = any(c.plain in NAMES["value"] for c in others)
    if len(column.distinct) == 1 and not scores and any(c.is_judge and not c.is_attribute for c in others):
        return False  # other columns are called as judges are and hold ratings
    called = column.plain.endswith(BY_NUMBER)
    least = 2 if called else 3  # a judge's 0 and 1 may tell good texts from bad ones
    few = least <= len(column.distinct) <= MOST_SLICES and not column.has_fraction
    letters = called and all(len(word) == 1 for word in column.words) and not answers_as_others(roles, column)
    if letters and not (column.numeric or is_verdict(column.words)):
        return True  # annotators A, B and C, whatever they are as grades: nobody beside them gives any
    if column.numeric and few and column.name not in roles.stated and _tells_apart(roles, column):
        return True
    if column.wordy or column.holds_labels or (column.numeric and not called):
        return False
    won = False  # model_a, model_b, tie: who won, unless they tell apart rows about one pair
    about = [name for name, other in roles.columns.items() if not all(map(chosen, other.words))]
    if about and all(map(chosen, column.words)):
        twice, left = (int(roles.frame.duplicated(keys).sum()) for keys in (about, [*about, column.name]))
        won = twice == 0 or left > (1 - SAME_COLUMN) * twice
    if all(re.match(OUT_OF, str(value)) for value in column.distinct) or answers_as_others(roles, column, won=won):
        return False
    return len(column.distinct) <= max(2, len(roles.frame) // 2) or len(roles.frame) < 10


def _tells_apart(roles: Roles, column: Column) -> bool:
    """Whether a column tells apart the rows about one thing, of which another column holds several ratings: it says who
    rated, though 1, 2 and 3 may be ratings as well. `RecuseError` where such rows are not told apart by numbers that
    are called as raters are, and nothing says which of the two they are."""
    free = {c.plain: c for c in roles.free if c is not column and len(c.distinct) > 1}
    naming = (word for role in TOLD for word in NAMES[role] if word not in NAMES["value"])
    about = [free[word].name for word in (*naming, *PARTS) if word in free]
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
        if item and column.plain.endswith(BY_NUMBER) and answers_as_others(roles, column):
            raise RecuseError(
                f"the numbers in {column} may say who rated or be somebody's ratings: say --rater {column}, or "
                f"--people {column} and --judges for the others"
            )
    return False


def users_rated(roles: Roles, column: Column) -> bool:
    """`RecuseError` where users may have rated texts that others wrote, or written the texts that others rated; who did
    is known where columns bear the names of people and of judges."""
    people = any(c.is_person for c in roles.free if c is not column and c.plain not in NAMES["value"])
    known = (people and any(c.is_judge for c in roles.free)) or column.name in roles.filled("target", "cluster")
    if not known and _tells_apart(roles, column):
        raise RecuseError(
            f"{column} may say who rated or whose texts were rated: say --rater {column}, or --target {column}"
        )
    return False


def names_systems(roles: Roles, column: Column) -> bool:
    """A column called model or system may hold the names of what was rated, each several times, or answers."""
    several = 1 <= len(column.distinct) <= min(200, len(roles.frame) / 2)
    text = column.wordy and column.plain not in NAMES["target"][:5]  # names of models and prompts may be long
    return several and not text and not answers_as_others(roles, column)


def take_sources(roles: Roles) -> None:
    """Where no column names raters, one whose every value is called as judges or as people are, both among them:
    a log's column that says who a score came from; one that is called source or name may hold other names as well."""
    scored = any(column.plain in NAMES["value"] for column in roles.free)
    for column in roles.free if "rater" not in roles.taken else ():
        values = [str(value) for value in column.distinct[: MOST_SLICES + 1] if not column.is_gold]
        called = {(is_judge(value), is_person(value)) for value in values}
        if len(values) > MOST_SLICES or len(called) < 2 or says_who_won(roles, column):
            continue
        known = all(value.replace(" ", "").isalpha() or is_judge(value) for value in values)
        mixed = scored and column.plain in SOURCES and known and called == {(True, False), (False, False)}
        mixed |= column.is_person and any(judge for judge, _ in called)  # Bewerter, evaluador
        if (mixed or called == {(True, False), (False, True)}) and not column.wordy:
            roles.take("rater", column)
            return


def says_who_won(roles: Roles, column: Column) -> bool:
    """Whether it holds choices between two alone: model_a, model_b, tie, or in every row one of the two names there."""
    won = column.cells.map({value: bool(chosen(str(value).lower())) for value in column.distinct}).eq(True)
    for side in roles.filled("first", "second"):
        won |= column.cells.eq(roles.columns[side].cells)
    return bool(won[column.filled.index].all())


def answers_as_others(roles: Roles, column: Column, *, won: bool = False) -> bool:
    """A column called judge or model that holds what people's columns hold is a rater's answers; names of models
    are names, whoever else bears them, unless they say who `won`."""
    names = not won and any(is_judge(str(value)) for value in column.distinct)
    if names or not 1 < len(column.distinct) <= MOST_SLICES:
        return False
    called = {name for role in ("target", "author", "first", "second", "rater") for name in NAMES[role]}
    others = (c for c in roles.free if c is not column and (c.plain not in called or (c.numeric and c.is_person)))
    alike = (c for c in others if c.rating and len(column.words & c.words) >= max(1, len(column.words) / 2))
    return any(float((column.cells == c.cells).mean()) < SAME_COLUMN for c in alike)
