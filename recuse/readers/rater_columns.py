"""Which columns say who rated: a column of names, a column of sources, or a column for every rater.

Columns of a wide table may name a rater and a criterion at once: gpt4_tone, gpt4_accuracy, anna_tone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from recuse.readers.column_names import (
    BATCHES,
    NAMES,
    PARTS,
    PROMPTS,
    SETS,
    SURE,
    WINNERS,
    as_option,
    base_of,
    is_attribute,
    is_criterion,
    is_date,
    is_derived,
    is_judge,
    is_nobodys,
    is_person,
    is_rater,
    is_reason,
    plain,
    rater_name,
)
from recuse.readers.columns import MOST_SLICES, Column, Roles
from recuse.readers.crossed_names import crossed_names
from recuse.readers.nobodys_columns import check_related, leave_out_derived
from recuse.readers.values import OUT_OF, STATUSES, chosen, is_verdict
from recuse.schema import RecuseError

SAME_COLUMN = 0.98
"""Two columns that say the same in so many rows name the same things."""
SOURCES = ("source", "name", "by", "from", "origin")
"""Columns that may say who a score came from."""
BY_NUMBER = ("id", "rater", "annotator", "reviewer", "worker", "user", "labeler", "labeller")
"""Columns of raters that may hold numbers."""


SURELY = 5
"""Fewer rows about one thing may be there by mistake."""
TOLD = ("target", "criterion", "text", "first", "second", "repeat", "order")
"""What may tell rows about one item apart, whoever rated."""


def names_raters(roles: Roles, column: Column) -> bool:
    """A column called judge may hold the names of judges, or the ratings of the only one."""
    others = [name for name in roles.free if name != column.name and roles.columns[name].rating]
    scores = any(plain(name) in NAMES["value"] for name in others)
    if len(column.distinct) == 1 and not scores and any(is_judge(n) and not is_attribute(n) for n in others):
        return False  # other columns are called as judges are and hold ratings
    called = plain(column.name).endswith(BY_NUMBER)
    least = 2 if called else 3  # a judge's 0 and 1 may tell good texts from bad ones
    few = least <= len(column.distinct) <= MOST_SLICES and not column.has_fraction
    letters = called and all(len(word) == 1 for word in column.words) and not _answers_as_others(roles, column)
    if letters and not (column.numeric or is_verdict(column.words)):
        return True  # annotators A, B and C, whatever they are as grades: nobody beside them gives any
    if column.numeric and few and column.name not in roles.stated and _tells_apart(roles, column):
        return True
    if column.wordy or column.holds_labels or (column.numeric and not plain(column.name).endswith(BY_NUMBER)):
        return False
    won = False  # model_a, model_b, tie: who won, unless they tell apart rows about one pair
    if all(map(chosen, column.words)):
        about = [name for name, other in roles.columns.items() if not all(map(chosen, other.words))]
        twice, left = (int(roles.frame.duplicated(keys).sum()) for keys in (about, [*about, column.name]))
        won = twice == 0 or left > (1 - SAME_COLUMN) * twice
    if all(re.match(OUT_OF, str(value)) for value in column.distinct) or _answers_as_others(roles, column, won=won):
        return False
    return len(column.distinct) <= max(2, len(roles.frame) // 2) or len(roles.frame) < 10


def _tells_apart(roles: Roles, column: Column) -> bool:
    """Whether a column tells apart the rows about one thing, of which another column holds several ratings: it says who
    rated, though 1, 2 and 3 may be ratings as well. `RecuseError` where such rows are not told apart by numbers that
    are called as raters are, and nothing says which of the two they are."""
    free = {plain(n): n for n in roles.free if n != column.name and len(roles.columns[n].distinct) > 1}
    naming = (word for role in TOLD for word in NAMES[role] if word not in NAMES["value"])
    about = [free[word] for word in (*naming, *PARTS) if word in free]
    item = roles.filled("item") or [free[word] for word in NAMES["item"] if word in free][:1]
    some = range(SURELY + 1, len(roles.frame) // 2 + 1)
    for keys in ([*one, *about] for one in ([item] if item else [[n] for n in free.values()])):
        if not item and len(roles.columns[keys[0]].distinct) not in some:
            continue
        rated = [n for n in free.values() if n not in keys and roles.columns[n].rating and not is_attribute(n)]
        rated = [n for n in rated if not is_rater(n)]
        several = int(roles.frame.duplicated(keys).sum())
        if several < SURELY or not (roles.frame.groupby(keys, sort=False)[rated].nunique() > 1).any(axis=None):
            continue
        if roles.frame.duplicated([*keys, column.name]).sum() <= (1 - SAME_COLUMN) * several:
            return True
        if item and plain(column.name).endswith(BY_NUMBER) and _answers_as_others(roles, column):
            raise RecuseError(
                f"the numbers in {column.name} may say who rated or be somebody's ratings: say --rater {column.name}, "
                f"or --people {column.name} and --judges for the others"
            )
    return False


def users_rated(roles: Roles, column: Column) -> bool:
    """`RecuseError` where users may have rated texts that others wrote, or written the texts that others rated; who did
    is known where columns bear the names of people and of judges."""
    people = (name for name in roles.free if name != column.name and plain(name) not in NAMES["value"])
    known = any(map(is_person, people)) and any(map(is_judge, roles.free))
    if not known and column.name not in roles.filled("target", "cluster") and _tells_apart(roles, column):
        raise RecuseError(
            f"{column.name} may say who rated or whose texts were rated: say --rater {column.name}, or --target "
            f"{column.name}"
        )
    return False


def names_systems(roles: Roles, column: Column) -> bool:
    """A column called model or system may hold the names of what was rated, each several times, or answers."""
    rows_per = len(roles.frame) / max(len(column.distinct), 1)
    fits = not column.wordy and 1 <= len(column.distinct) <= 200 and rows_per >= 2
    return fits and not _answers_as_others(roles, column)


def take_sources(roles: Roles) -> None:
    """Where no column names raters, one whose every value is called as judges or as people are, both among them:
    a log's column that says who a score came from; one that is called source or name may hold other names as well."""
    if "rater" in roles.taken:
        return
    scored = any(plain(name) in NAMES["value"] for name in roles.free)
    for name in roles.free:
        values = [str(value) for value in roles.columns[name].distinct[: MOST_SLICES + 1]]
        called = [(is_judge(value), is_person(value)) for value in values]
        if values and all(map(chosen, (value.lower() for value in values))):
            continue  # model_a, model_b, tie: who won
        alone = all(judge != person for judge, person in called) and len(values) <= MOST_SLICES
        known = all(value.replace(" ", "").isalpha() or is_judge(value) for value in values)
        mixed = scored and plain(name) in SOURCES and known and {*called} == {(True, False), (False, False)}
        mixed |= is_person(name) and any(judge for judge, _ in called) and len({*called}) > 1  # Bewerter, evaluador
        named = (alone and len({*called}) == 2) or (mixed and len(values) <= MOST_SLICES)
        if named and not roles.columns[name].wordy:
            roles.take("rater", name)
            return


def take_raters_beside(roles: Roles) -> None:
    """Beside a column of ratings, columns that bear a person's or a judge's name and hold answers of the same kind:
    a log of a judge's choices with what people chose in a column of its own; and a label that a text has whoever
    judges it."""
    if "raters" in roles.taken or "value" not in roles.taken:
        return
    if len(values := roles.taken["value"]) > 1:
        if "rater" in roles.taken:
            _take_others(roles, roles.rated, values)
        return
    value = roles.columns[values[0]]
    called = [name for name in roles.free if is_rater(name) and not is_attribute(name)]
    item = roles.filled("item")
    labels = [n for n in roles.free if plain(n) == "label" and "rater" in roles.taken and item]
    called += [n for n in labels if (roles.frame.groupby(item, sort=False)[n].nunique() == 1).all()]
    beside = [n for n in roles.free if n in roles.stated or (n in called and roles.columns[n].only_answers_of(value))]
    if beside:
        roles.taken["raters"] = {name: (name,) for name in beside}
        roles.use(beside)


def take_raters(roles: Roles) -> None:
    """In a wide table, every column that may hold ratings is a rater; beside a column of raters, a criterion."""
    if "raters" in roles.taken or "value" in roles.taken:
        return
    in_rows = "rater" in roles.taken
    if "repeats" in roles.taken:
        if in_rows:
            _take_others(roles, roles.rated, roles.taken["repeats"])
    elif "first" in roles.taken:
        _take_choosers(roles)
    elif in_rows or roles.stated or not _take_beside_bare(roles):
        leave_out_derived(roles, roles.stated)
        (_take_criteria if in_rows else _take_columns)(roles)


def _take_choosers(roles: Roles) -> None:
    choosers = choosers_between(roles, roles.taken["first"], roles.taken["second"])
    if "rater" in roles.taken and (others := _take_others(roles, choosers, one=True)):
        games = tuple(n for n in choosers if n not in others)
        roles.taken["repeats" if games[1:] else "value"] = games
    else:
        roles.taken["raters"] = {name: (name,) for name in choosers}
    roles.use(choosers)


def _may_rate(roles: Roles) -> list[str]:
    """Free columns that somebody is said to be, or that may hold ratings by what they hold and are called."""
    rated = {*roles.stated, *(n for n in roles.rated if not is_reason(n))}
    return [n for n in roles.free if n in rated]


def _take_criteria(roles: Roles) -> None:
    """Beside a column of raters every other one that may hold ratings is a criterion, and no fact."""
    stated = roles.stated
    rated = [n for n in _may_rate(roles) if n in stated or plain(n) not in (*BATCHES, *SURE)]
    kept = [n for n in rated if n in stated or (roles.columns[n].varied and len(roles.columns[n].distinct) > 1)]
    others = _take_others(roles, kept)
    kept = [n for n in kept if n not in others]
    facts = [n for n in kept if n not in stated and _is_a_fact(roles, n, kept)]
    facts = [] if others and facts == kept else facts  # on what stands beside others' answers all may be at one
    roles.leave_out(facts, "by its name a system, or the same in all rows of a rater or of a text")
    roles.taken["value"] = tuple(n for n in kept if n not in facts)
    roles.use(kept)


def _take_columns(roles: Roles) -> None:
    """Every column that may hold ratings is a rater's: what is said or called so, and what answers alike."""
    stated = roles.stated
    sets = [n for n in roles.free if plain(n) in SETS and n not in stated]
    roles.leave_out(sets, "sets of options by nobody who is named; call it NAME_response_set")
    rated = _may_rate(roles)
    if roles.taken.get("people") and roles.taken.get("judges"):  # nobody else rates
        own = [name for name in rated if {name, rater_name(name)} & stated]
        if len(own) < len(stated):  # by itself or with a criterion, a repeat or a word such as score
            bare = [f"_{plain(name)}_" for name in stated]
            own = [n for n in rated if n in stated or any(name in f"_{plain(n)}_" for name in bare)]
        _take_wide(roles, own)
        return
    called = [*filter(is_rater, rated)]
    _check_annotations(called, stated)
    facts = [n for n in called if n not in stated and _names_somebody(roles.columns[n])]
    judged = [n for n in rated if called and n not in (*stated, *called) and plain(n) in (*NAMES["text"], *PROMPTS)]
    roles.leave_out(judged, "by its name what was judged; --people or --judges if somebody's rating")
    rated = [n for n in rated if n not in judged]
    sure = [n for n in rated if n in stated or n in called or plain(n) in NAMES["value"]]
    declared = [n for n in sure if n not in facts]
    kept = _alike(roles, declared) or [
        n for n in rated if roles.columns[n].like_ratings and not is_nobodys(n) and _said_again(roles, n)
    ]
    if any(map(is_person, declared)):  # what else is the same in every row is nobody's
        kept = [n for n in kept if n in declared or len(roles.columns[n].distinct) > 1]
    if called:
        check_related(roles, [n for n in kept if n not in declared], kept)
    _check_silent(roles, kept)
    _take_wide(roles, kept)


def _check_silent(roles: Roles, raters: Sequence[str]) -> None:
    """`RecuseError` for a column without an answer that is called as a judge is, beside raters: one who never answers
    is not cleared by being left out."""
    words = {word for names in NAMES.values() for word in names} - {*NAMES["value"], *NAMES["rater"]}
    words |= {*PROMPTS, *STATUSES}
    silent = [
        n for n in roles.free if roles.columns[n].words <= {*STATUSES} and is_judge(n) and n not in raters
        and not (is_attribute(n) or is_date(n) or plain(n).rsplit("_", 1)[-1] in words)
    ]  # fmt: skip
    if silent and raters:
        raise RecuseError(
            f"{', '.join(silent)}: called as judges are, without one answer; if nobody asked them, say --ignore "
            f"{as_option(silent)}; if somebody did, say who the judges are: --judges {as_option(silent)},..."
        )


def _take_beside_bare(roles: Roles) -> bool:
    """Take two criteria and more of which a rater's columns bear its name before or behind and somebody else's bear
    none: helpfulness and coherence beside gpt4_helpfulness and gpt4_coherence. Nobody's name is people's beside a
    judge's, and the judge's beside people's."""
    rated = [n for n in roles.free if not is_attribute(n) and not is_derived(n)]
    columns = {n: c for n in rated if (c := roles.columns[n]).rating and (c.numeric or c.holds_labels)}
    bare = {plain(n): n for n in columns if not (is_rater(n) or plain(n) in NAMES["value"])}
    own = _whose([n for n in columns if n not in bare.values()], bare)
    about = {criterion for _, criterion in own.values()}
    rest = [n for n in bare.values() if n in about or is_criterion(n)]
    kinds = {is_person(whose) for whose, _ in own.values()}
    if len(rest) < 2 or len(kinds) != 1 or {*columns} - {*own, *rest} - {n for n in columns if is_nobodys(n)}:
        return False
    usual = "judge" if kinds.pop() else "people"
    own = {**{n: (usual, n) for n in rest}, **own}
    criteria = {n: criterion for n, (_, criterion) in own.items()}
    roles.taken |= {"raters": _by_rater({n: whose for n, (whose, _) in own.items()}), "criteria": criteria}
    roles.use([*own])
    return True


def _whose(names: Sequence[str], bare: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Name -> the rater and the criterion that it is made of, criteria by their plain names."""
    return {
        n: (whose, bare[word]) for n in names for word in bare
        for whose in (plain(n).removesuffix(f"_{word}"), plain(n).removeprefix(f"{word}_"))
        if whose != plain(n) and is_rater(whose)
    }  # fmt: skip


def _take_others(roles: Roles, names: Sequence[str], about: Sequence[str] = (), *, one: bool = False) -> list[str]:
    """Beside a column that names raters, those of `names` that hold the ratings of others: people's where it names
    judges, judges' where it names none. Each is about the one of the rest, or of `about`, whose name it bears beside
    its rater's (of which there is `one` where they are repeats); user_satisfaction is what somebody rated.
    `RecuseError` where it could be about each of several."""
    column = roles.columns[roles.taken["rater"]]
    stated = {name: role for role in ("people", "judges") for name in roles.taken.get(role, ())}
    called = {str(v): stated.get(str(v)) == "judges" or (is_judge(str(v)) and str(v) not in stated)
              for v in column.distinct}  # fmt: skip
    people = [n for n in names if is_person(n) and not is_judge(n)]
    if all(called.values()) or (is_judge(column.name) and not any(map(is_person, (column.name, *called)))):
        bearing = people
    else:  # whoever is named gave human_score alone
        bearing = [n for n in names if is_judge(n) and not is_person(n) and (people or not any(called.values()))]
    bearing = [n for n in names if n in stated or n in bearing]
    own = _whose(bearing, {plain(n): n for n in about or names if n not in bearing})
    ends = {n: plain(n).rsplit("_", 1)[-1] for n in bearing if n not in own}
    alone = [  # human_score, expert_2, gpt-4o-mini: a rater's name that speaks of no criterion
        n for n, end in ends.items()
        if n in stated or end in NAMES["value"] or is_rater(end) or any(map(str.isdigit, n))
    ]  # fmt: skip
    rest = about or [n for n in names if not (n in own or n in alone)]
    if not rest or not (own or alone):
        return []
    several = len(rest) > 1 and not (one or rest == roles.taken.get("repeats"))
    if alone and several:
        raise RecuseError(
            f"{', '.join(alone)} may be about each of {', '.join(rest)}: say which is meant, for example --value "
            f"{rest[0]}, or call it {rater_name(alone[0])}_{rest[0]}; if nobody's rating, --ignore {alone[0]}"
        )
    raters = {n: base_of(n, alone) for n in alone} | {n: whose for n, (whose, _) in own.items()}
    roles.taken["raters"] = _by_rater(raters)
    if several:
        roles.taken["criteria"] = {n: criterion for n, (_, criterion) in own.items()}
    roles.use([*raters])
    return [*raters]


def _check_annotations(names: Sequence[str], stated: Collection[str]) -> None:
    """`RecuseError` for annotations.honesty.Rating beside annotations.helpfulness.Rating: whether people or a model
    annotated is nowhere said, as in UltraFeedback, where it was GPT-4."""
    about = {n: n.split(".", 1)[1] for n in names if plain(n).startswith("annotations_") and "." in n}
    if len(about) > 1 and any(map(is_criterion, about.values())) and not stated & about.keys():
        raise RecuseError(
            f"{', '.join(about)}: nothing says who annotated; if people did, say --people {as_option(about)}; if a "
            f"model did, nobody's ratings are there to compare it with: add people's, a column each"
        )


def _by_rater(whose: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Rater -> the columns that are its."""
    raters: dict[str, tuple[str, ...]] = {}
    for name, rater in whose.items():
        raters[rater] = (*raters.get(rater, ()), name)
    return raters


def _is_a_fact(roles: Roles, name: str, names: Sequence[str]) -> bool:
    """Whether a column says something of the raters (their gender), or of the texts (who wrote them): words of no known
    order, called as systems are or the same in all rows of a rater or text; and numbers on which all raters of every
    text are at one, where another of `names` tells the raters of a text apart."""
    column, item = roles.columns[name], roles.filled("item", "target")
    if column.numeric or column.holds_labels:
        return bool(item) and any(
            _is_of_each(roles, name, item) and not _is_of_each(roles, other, item) for other in names
        )
    if plain(name.rsplit(".", 1)[-1]) in NAMES["target"] and not _answers_as_others(roles, column):
        return True
    return _is_of_each(roles, name, [roles.taken["rater"]]) or (bool(item) and _is_of_each(roles, name, item))


def _is_of_each(roles: Roles, name: str, keys: list[str]) -> bool:
    """Whether a column says one thing in all rows of each of several raters or texts, which have several rows each."""
    groups = roles.frame.groupby(keys, sort=False)[name].nunique()
    return bool((groups == 1).all()) and 1 < len(groups) < len(roles.frame) / 2


def _names_somebody(column: Column) -> bool:
    """Names and no answers: the same in every row, no number and no label that rates, or several models'."""
    models = sum(is_judge(str(value)) for value in column.distinct[:MOST_SLICES])
    return not (column.numeric or column.holds_labels) and (len(column.distinct) == 1 or models > 1)


def choosers_between(roles: Roles, first: str, second: str) -> list[str]:
    """Columns that hold nothing but choices between the two: each rater's, side by side. Numbers (1, 2 and 3 for a tie)
    are choices beside two texts only: beside names they may be anything. One choice in every row is a rater's who is
    named, or called as judges are beside others."""
    sides = roles.columns[first].words | roles.columns[second].words
    texts = roles.columns[first].wordy or roles.columns[first].told_once
    others = (roles.columns[name] for name in roles.free if name not in (first, second))
    won = partial(chosen, from_0=first.endswith("_0"))

    def chose(column: Column) -> bool:
        return all(word in sides or won(word) for word in column.words)

    choosing = [
        c for c in others if len(c.distinct) and chose(c)
        and (not c.numeric or (texts and {"first", "second"} <= {*map(won, c.words)}))
    ]  # fmt: skip
    stated = {*roles.stated, *(c.name for c in choosing if len(c.distinct) > 1)}
    row = "rater" in roles.taken  # who always chose the first is whom the row names, as g1_winner
    return [
        c.name for c in choosing if c.name in stated or (stated and not is_attribute(c.name)
        and (is_judge(c.name) or (row and plain(c.name).rsplit("_", 1)[-1] in WINNERS)))
    ]  # fmt: skip


def _take_wide(roles: Roles, names: list[str]) -> None:
    """Columns of a rater are its ratings by criterion where the names say so, and its repeats; columns that
    are all called after what is rated are the criteria of one judge."""
    stated = roles.stated
    roles.use(names)
    of = {name: name if name in stated else base_of(name, names) for name in names}
    if crossed := crossed_names([*dict.fromkeys(of.values())], stated):
        whose = {name: crossed[base][0] for base, own in _by_rater(of).items() for name in own}
        roles.taken |= {"raters": _by_rater(whose), "criteria": {name: crossed[base][1] for name, base in of.items()}}
        return
    if len(names) > 1 and all(is_criterion(name) for name in names):
        roles.taken |= {"raters": {"judge": tuple(names)}, "criteria": {name: name for name in names}}
        return
    raters = _by_rater(of)
    _check_one_form(roles, raters, stated)
    roles.taken["raters"] = raters


def _check_one_form(roles: Roles, raters: dict[str, tuple[str, ...]], stated: Collection[str]) -> None:
    """A rater's judge_label beside judge_score are one answer in two forms, or two questions, and no repeats: the one
    that answers as the other raters do is read. `RecuseError` where that is not one of them."""
    bases = _by_rater({base: rater_name(base) for base in raters})
    for own in (own for own in bases.values() if len(own) > 1 and not {*own} & {*stated}):
        others = [roles.columns[cs[0]] for base, cs in raters.items() if base not in own]
        alike = [b for b in own if any(roles.columns[raters[b][0]].only_answers_of(c) for c in others)]
        words = [b for b in own if not roles.columns[raters[b][0]].numeric]
        columns = [raters[b][0] for b in own]
        twins = len(roles.frame[columns].drop_duplicates()) == max(len(roles.columns[c].distinct) for c in columns)
        kept = alike if len(alike) == 1 else words if len(words) == 1 and (twins or not others) else []
        if not kept:
            raise RecuseError(
                f"{' and '.join(own)} are two columns of {rater_name(own[0])}: if one is its rating, leave the others "
                f"out with --ignore {','.join(own[1:])}; if each is about something else, or a repeat, call them "
                f"{rater_name(own[0])}_QUESTION or {rater_name(own[0])}_1, {rater_name(own[0])}_2"
            )
        for base in (b for b in own if b not in kept):
            roles.leave_out(raters.pop(base), f"{kept[0]} answers as the other raters do")


def _answers_as_others(roles: Roles, column: Column, *, won: bool = False) -> bool:
    """A column called judge or model that holds what people's columns hold is a rater's answers; names of models
    are names, whoever else bears them, unless they say who `won`."""
    names = not won and any(is_judge(str(value)) for value in column.distinct)
    if names or not 1 < len(column.distinct) <= MOST_SLICES:
        return False
    called = {name for role in ("target", "author", "first", "second", "rater") for name in NAMES[role]}
    free = [roles.columns[name] for name in roles.free if name != column.name]
    others = [c for c in free if plain(c.name) not in called or (c.numeric and is_person(c.name))]
    alike = (c for c in others if c.rating and len(column.words & c.words) >= max(1, len(column.words) / 2))
    return any(float((column.cells == c.cells).mean()) < SAME_COLUMN for c in alike)


def _said_again(roles: Roles, name: str) -> bool:
    """A column of labels that nothing calls a rater's is one only where another column holds the same labels."""
    column = roles.columns[name]
    return (
        column.numeric or column.holds_labels
        or any(column.words & roles.columns[other].words for other in roles.free if other != name)
    )  # fmt: skip


FLAG = re.compile(r"(?:is|has|needs?|was|can|should)_")
"""How columns begin that say something of a text beside those of the raters: is_test, needs_review."""


def _alike(roles: Roles, names: list[str]) -> list[str]:
    """Columns whose values look like those of the surest ones: persons and judges answer on one scale."""
    if not names:
        return []
    ends = tuple(f"_{plain(n).rpartition('_')[2]}" for n in names if is_judge(n) and "_" in plain(n))  # _complexity
    others = [n for n in roles.free if n not in names and plain(n) not in (*BATCHES, *PARTS) and not is_attribute(n)]
    others = [n for n in others if not FLAG.match(plain(n)) and (not is_nobodys(n) or plain(n).endswith(ends))]
    sure = [n for n in others if roles.columns[n].rating and roles.columns[n].varied]
    like = [n for n in sure if any(roles.columns[n].answers_like(roles.columns[other]) for other in names)]
    return [n for n in roles.free if n in names or n in like]
