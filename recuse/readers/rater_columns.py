"""Which columns say who rated: a column of names, a column of sources, or a column for every rater."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from recuse.readers.column import Column
from recuse.readers.column_names import (
    BATCHES,
    FACTORS,
    NAMES,
    PARTS,
    TALKS,
    base_of,
    is_criterion,
    is_date,
    is_derived,
    is_judge,
    is_person,
    plain,
    rater_name,
)
from recuse.readers.crossed_names import crossed_names
from recuse.readers.faults import shown
from recuse.readers.roles import MOST_SLICES, Roles
from recuse.readers.values import CHOICE_WORDS
from recuse.schema import RecuseError

__all__ = [
    "check_left_out",
    "choosers_between",
    "names_raters",
    "names_systems",
    "take_raters",
    "take_raters_beside",
    "take_sources",
]

FEWEST = 10
"""So many rows tell whether a column is made of others."""
SAME_COLUMN = 0.98
"""Two columns that say the same in so many rows name the same things."""
MOST_MARKS = 11
"""Different numbers of the longest usual scale that has each of them given, 0 to 10."""
NOBODY = (
    "difficulty", "priority", "severity", "level", "importance", "confidence", "certainty", "turns", "words",
    "position", "age", "year", "month", "week", "day", "hour", "upvotes", "likes", "urgency", "risk", "tier", "views",
    "errors", "retries", "length", "size", "number", "no", "nr", "n", "weight", "hardness", "complexity",
)  # fmt: skip
"""Columns of numbers that say something of a text and are nobody's name."""
BY_NUMBER = ("id", "rater", "annotator", "reviewer", "worker", "user", "labeler", "labeller")
"""Columns of raters that may hold numbers."""


def names_raters(roles: Roles, column: Column) -> bool:
    """A column called judge may hold the names of judges, or the ratings of the only one."""
    if column.wordy or column.holds_labels or (column.numeric and not plain(column.name).endswith(BY_NUMBER)):
        return False
    if _answers_as_others(roles, column):
        return False
    return len(column.distinct) <= max(2, len(roles.frame) // 2) or len(roles.frame) < 10


def names_systems(roles: Roles, column: Column) -> bool:
    """A column called model or system may hold the names of what was rated, each several times, or answers."""
    rows_per = len(roles.frame) / max(len(column.distinct), 1)
    fits = not column.wordy and 1 <= len(column.distinct) <= 200 and rows_per >= 2
    return fits and not _answers_as_others(roles, column)


def take_sources(roles: Roles) -> None:
    """Where no column names raters, one whose every value is called as judges or as people are, both among them:
    a log's column that says who a score came from."""
    if "rater" in roles.taken:
        return
    for name in roles.free:
        values = [str(value) for value in roles.columns[name].distinct[: MOST_SLICES + 1]]
        called = [(is_judge(value), is_person(value)) for value in values]
        alone = all(judge != person for judge, person in called) and len(values) <= MOST_SLICES
        if alone and len({*called}) == 2 and not roles.columns[name].wordy:
            roles.take("rater", name)
            return


def take_raters_beside(roles: Roles) -> None:
    """Beside a column of ratings, columns that bear a person's or a judge's name and hold answers of the same kind:
    a log of a judge's choices with what people chose in a column of its own."""
    if "raters" in roles.taken or len(roles.taken.get("value", ())) != 1:
        return
    named = {*roles.taken.get("people", ()), *roles.taken.get("judges", ())}
    value = roles.columns[roles.taken["value"][0]]
    called = [name for name in roles.free if (is_person(name) or is_judge(name)) and not is_date(name)]
    beside = [n for n in roles.free if n in named or (n in called and roles.columns[n].only_answers_of(value))]
    if beside:
        roles.taken["raters"] = {name: (name,) for name in beside}
        roles.use(beside)


def take_raters(roles: Roles) -> None:
    """In a wide table, every column that may hold ratings is a rater; beside a column of raters, a criterion."""
    if "raters" in roles.taken or "value" in roles.taken or "repeats" in roles.taken:
        return
    if "first" in roles.taken:
        choosers = choosers_between(roles, roles.taken["first"], roles.taken["second"])
        roles.taken["raters"] = {name: (name,) for name in choosers}
        roles.use(choosers)
        return
    named = {*roles.taken.get("people", ()), *roles.taken.get("judges", ())}
    reasons = [n for n in roles.free if plain(n).rsplit("_", 1)[-1] in NAMES["reason"]]
    _leave_out_derived(roles, named)
    rated = [n for n in roles.free if n in named or (roles.columns[n].rating and not is_date(n) and n not in reasons)]
    if roles.taken.get("people") and roles.taken.get("judges") and "rater" not in roles.taken:  # nobody else rates
        exact = {name for name in rated if {name, rater_name(name)} & named}
        whole = len(exact) >= len(named)
        own = [name for name in rated if (name in exact if whole else _is_of(name, named))]
        _take_wide(roles, own)
        roles.use(own)
        return
    if "rater" in roles.taken:
        kept = [n for n in rated if n in named or (roles.columns[n].varied and len(roles.columns[n].distinct) > 1)]
        roles.taken["value"] = tuple(kept)
    else:
        declared = [n for n in rated if n in named or is_judge(n) or is_person(n) or plain(n) in NAMES["value"]]
        kept = _alike(roles, declared) or [n for n in rated if _looks_rated(roles, n)]
        _take_wide(roles, kept)
        if not declared and "gold" in roles.taken and not kept:
            return
    roles.use(kept)


def _leave_out_derived(roles: Roles, named: Collection[str]) -> None:
    """Columns called after what was made of several people's answers are nobody's, where two people have columns."""
    derived = [name for name in roles.free if is_derived(name) and name not in named]
    people = [name for name in roles.free if name not in derived and (name in named or _may_be_a_person(name))]
    people = [name for name in people if roles.columns[name].rating]
    gold = roles.taken.get("gold", "")
    if gold and len(people) > 1 and gold not in roles.given.values() and _said_by_most(roles, gold, people):
        roles.ignored[gold] = "made of other columns: what most of the people say"
        del roles.taken["gold"]
    if len(people) > 1:
        roles.ignored |= dict.fromkeys(derived, "made of other columns by its name: nobody's own ratings")
        roles.use(derived)


def _said_by_most(roles: Roles, name: str, people: Sequence[str]) -> bool:
    cells, own = roles.frame[list(people)].to_numpy(dtype=object), roles.frame[name].to_numpy(dtype=object)
    rated = (own != "") & (cells != "").all(axis=1)
    most = 2 * (cells == own[:, None]).sum(axis=1) > len(people)
    return bool(rated.sum() > FEWEST and most[rated].all())


def _is_of(column: str, named: Collection[str]) -> bool:
    """Whether a column bears one of these names, by itself or with a criterion, a repeat or a word such as score."""
    words = f"_{plain(column)}_"
    return column in named or any(f"_{plain(name)}_" in words for name in named)


def check_left_out(roles: Roles) -> None:
    """`RecuseError` where no rater of a wide table is a person and a column that is called as people are holds answers
    of another kind than the judges', on another scale or in words beside numbers: to leave it out in silence would say
    that nobody rated the texts."""
    raters = {c: name for name, columns in roles.taken.get("raters", {}).items() for c in columns}
    said = roles.taken.get("people", ()) or roles.taken.get("judges", ())
    if not raters or said or roles.taken.get("first") or any(_may_be_a_person(name) for name in raters.values()):
        return
    judge = roles.columns[next(iter(raters))]
    others = [c for name in roles.free if _may_be_a_person(name) and _marks(c := roles.columns[name])]
    if not others or not (judge.rating or judge.holds_labels):
        return
    names = ", ".join(c.name for c in others)
    raise RecuseError(
        f"{names} and {judge.name} do not answer on one scale: {others[0].name} gives {_answers(others[0])}, "
        f"{judge.name} {_answers(judge)}. If {others[0].name} is a rater, write both on one scale, in the same words; "
        f"if not, say --ignore {names.replace(', ', ',')}"
    )


def _may_be_a_person(name: str) -> bool:
    """Whether a column is called as people are, or by one word of letters that names nothing else."""
    if is_judge(name) or is_criterion(name) or is_date(name):
        return False
    known = {word for names in NAMES.values() for word in names} | {*PARTS, *FACTORS, *BATCHES, *TALKS, *NOBODY}
    return is_person(name) or (name.isalpha() and plain(name) not in known)


def _marks(column: Column) -> bool:
    """Whether it holds marks: a few whole numbers from 0 or 1, or labels that rate."""
    if column.numeric:
        few = len(column.distinct) <= MOST_MARKS and not column.has_fraction and column.ends[0] in (0, 1)
        return few and column.like_ratings
    return column.holds_labels


def _answers(column: Column) -> str:
    if not column.numeric:
        return "words such as " + ", ".join(shown(str(value)) for value in column.distinct[:2])
    low, high = column.ends
    return f"numbers from {low:g} to {high:g}"


def choosers_between(roles: Roles, first: str, second: str) -> list[str]:
    """Columns that hold nothing but choices between the two: each rater's, side by side. Numbers (1, 2 and 3 for a tie)
    are choices beside two texts only: beside names they may be anything."""
    words = set(CHOICE_WORDS) | roles.columns[first].words | roles.columns[second].words
    texts = roles.columns[first].wordy
    others = (roles.columns[name] for name in roles.free if name not in (first, second))
    return [
        c.name for c in others
        if len(c.distinct) > 1 and c.words <= words and (not c.numeric or (texts and {"1", "2"} <= c.words - {"0"}))
    ]  # fmt: skip


def _take_wide(roles: Roles, names: list[str]) -> None:
    """Columns of a rater are its ratings by criterion where the names say so, otherwise its repeats; columns that
    are all called after what is rated are the criteria of one judge."""
    said = {*roles.taken.get("people", ()), *roles.taken.get("judges", ())}
    if crossed := crossed_names(names, said):
        roles.taken |= {"raters": crossed.raters, "criteria": crossed.criteria}
        return
    if len(names) > 1 and all(is_criterion(name) for name in names):
        roles.taken |= {"raters": {"judge": tuple(names)}, "criteria": {name: name for name in names}}
        return
    raters: dict[str, tuple[str, ...]] = {}
    for name in names:
        base = base_of(name, names)
        raters[base] = (*raters.get(base, ()), name)
    roles.taken["raters"] = raters


def _answers_as_others(roles: Roles, column: Column) -> bool:
    """A column called judge or model that holds what people's columns hold is a rater's answers; names of models
    are names, whoever else bears them."""
    if not 1 < len(column.distinct) <= MOST_SLICES or any(is_judge(str(value)) for value in column.distinct):
        return False
    called = {name for role in ("target", "author", "first", "second", "rater") for name in NAMES[role]}
    others = (roles.columns[name] for name in roles.free if name != column.name and plain(name) not in called)
    alike = (c for c in others if c.rating and len(column.words & c.words) >= max(1, len(column.words) / 2))
    return any(float((column.cells == c.cells).mean()) < SAME_COLUMN for c in alike)


def _is_nobodys(name: str) -> bool:
    """Whether a column is called after what is known of a text or of its making."""
    return is_date(name) or plain(name).rsplit("_", 1)[-1] in NOBODY


def _looks_rated(roles: Roles, name: str) -> bool:
    """Whether a column looks like ratings though nothing calls it a rater's, and is not called as other things are."""
    return roles.columns[name].like_ratings and not _is_nobodys(name) and _said_again(roles, name)


def _said_again(roles: Roles, name: str) -> bool:
    """A column of labels that nothing calls a rater's is one only where another column holds the same labels."""
    column = roles.columns[name]
    return (
        column.numeric
        or column.holds_labels
        or any(column.words & roles.columns[other].words for other in roles.free if other != name)
    )


def _alike(roles: Roles, names: list[str]) -> list[str]:
    """Columns whose values look like those of the surest ones: persons and judges answer on one scale."""
    if not names:
        return []
    others = [n for n in roles.free if n not in names and not _is_nobodys(n)]
    sure = [n for n in others if roles.columns[n].rating and roles.columns[n].varied]
    like = [n for n in sure if any(roles.columns[n].answers_like(roles.columns[other]) for other in names)]
    return [n for n in roles.free if n in names or n in like]
