"""Tables with a column for every rater, or for every rater and criterion: gpt4_tone, gpt4_accuracy, anna_tone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations

from recuse.readers import column_names
from recuse.readers.column_names import NAMES, as_option, base_of, is_judge, is_person, is_rater, plain, rater_name
from recuse.readers.columns import MOST_SLICES, Column, Roles
from recuse.readers.nobodys_columns import check_related, leave_out_derived
from recuse.readers.values import STATUSES, chosen
from recuse.schema import RecuseError

ROUNDS = (("before", "after"), ("pre", "post"), ("initial", "final"), ("initial", "revised"), ("original", "revised"))
IN_ORDER = re.compile(
    r"(.*?)_?(?:(?:order|position|pos)_?[12]|swap(?:ped)?|flip(?:ped)?|reversed?|inverted)|"
    rf"((?:.*_)?(?:{'|'.join(NAMES['value'])}))_?[12]"
)  # how columns are called that hold a judge's choices in one of two orders: gpt4_order1, gpt4_swapped, verdict_1
FLAGS = ("is", "has", "need", "needs", "was", "can", "should")
FLAG = re.compile(rf"(?:{'|'.join(FLAGS)})_")  # of a text beside the raters' columns: is_test, needs_review


def take_raters_beside(roles: Roles) -> None:
    """Beside a column of ratings, columns of people's or judges' names with such answers, and a text's own label."""
    if "raters" in roles.taken or "value" not in roles.taken:
        return
    values = [roles.columns[name] for name in roles.taken["value"]]
    if len(values) > 1:
        if "rater" in roles.taken:
            _take_others(roles, roles.rated, values)
        return
    item = roles.filled("item") if "rater" in roles.taken else []
    labels = [c for c in roles.free if item and c.plain == "label"]
    labels = [c for c in labels if (roles.frame.groupby(item, sort=False)[c.name].nunique() == 1).all()]
    called = [c for c in roles.free if c in labels or (c.is_rater and not c.is_attribute)]
    alike = [c for c in called if c.only_answers_of(values[0])]
    named = map(str, roles.columns[roles.taken["rater"]].distinct) if labels else ()
    if unsaid := [c for c in labels if c in alike and c.name not in roles.stated and not all(map(is_judge, named))]:
        raise _of_nobody(unsaid[0])
    if own := [c for c in roles.free if c.name in roles.stated or c in alike]:
        _take_of(roles, {c: (c.name, "") for c in own})


def take_raters(roles: Roles) -> None:
    """In a wide table, every column that may hold ratings is a rater; beside a column of raters, a criterion."""
    if "raters" in roles.taken or "value" in roles.taken:
        return
    in_rows = "rater" in roles.taken
    if "repeats" in roles.taken:
        if in_rows:
            _take_others(roles, roles.rated, [roles.columns[name] for name in roles.taken["repeats"]])
    elif "first" in roles.taken:
        leave_out_derived(roles, roles.stated)
        choosers = choosers_between(roles, *(roles.columns[roles.taken[side]] for side in ("first", "second")))
        others = _take_others(roles, choosers, one=True) if in_rows else []
        games = [c for c in choosers if c not in others]
        if others:
            roles.take_all("repeats" if games[1:] else "value", games)
        else:
            if not column_names.crossed_names([*map(str, games)], roles.stated):
                _check_choices(roles, games)
            _take_wide(roles, games)  # several questions about a pair: which, is asked
    elif in_rows:
        leave_out_derived(roles, roles.stated)
        other = (*column_names.BATCHES, *column_names.SURE)
        named = [c for c in roles.free if c.name in roles.stated]
        may = [c for c in _may_rate(roles) if c in named or (c.plain not in other and c.varied and len(c.distinct) > 1)]
        others = _take_others(roles, may)
        kept = [c for c in may if c not in others]
        facts = [c for c in kept if c not in named and _is_a_fact(roles, c, kept)]
        if not (others and facts == kept):  # on what stands beside others' answers all may be at one
            why = "by its name a system, or one rater's alone, or the same in all rows of a rater or of a text"
            roles.leave_out(facts, why)
        roles.take_all("value", [c for c in kept if c in roles.free])
    elif roles.stated or not _take_beside_bare(roles):
        leave_out_derived(roles, roles.stated)
        _take_columns(roles)


def _may_rate(roles: Roles) -> list[Column]:
    """Free columns that somebody is said to be, or that may hold ratings by what they hold and are called."""
    return [c for c in roles.free if c.name in roles.stated or (c.rating and not (c.is_attribute or c.is_reason))]


def _take_columns(roles: Roles) -> None:
    """Every column that may hold ratings is a rater's: what is said or called so, and what answers alike."""
    stated = roles.stated
    sets = [c for c in roles.free if c.plain in column_names.SETS and c.name not in stated]
    roles.leave_out(sets, "sets of options by nobody who is named; call it NAME_response_set")
    rated = _may_rate(roles)
    if roles.taken.get("people") and roles.taken.get("judges"):  # nobody else rates
        own = [c for c in rated if {c.name, rater_name(c.name)} & stated]
        if len(own) < len(stated):  # by itself or with a criterion, a repeat or a word such as score
            bare = [f"_{plain(name)}_" for name in stated]
            own = [c for c in rated if c.name in stated or any(name in f"_{c.plain}_" for name in bare)]
        _take_wide(roles, own)
        return
    called = [c for c in rated if c.is_rater]
    # annotations.honesty.Rating beside annotations.helpfulness.Rating: whether people or a model annotated is nowhere
    # said, as in UltraFeedback, where it was GPT-4
    about = {c.name: c.name.split(".", 1)[1] for c in called if c.plain.startswith("annotations_") and "." in c.name}
    if len(about) > 1 and any(map(column_names.is_criterion, about.values())) and not {*stated} & about.keys():
        raise RecuseError(
            f"{', '.join(about)}: nothing says who annotated; if people did, say --people {as_option(about)}; if a "
            f"model did, nobody's ratings are there to compare it with: add people's, a column each"
        )
    judged = [c for c in rated if called and not (c.name in stated or c in called)]
    judged = [c for c in judged if c.plain in (*NAMES["text"], *column_names.PROMPTS)]
    roles.leave_out(judged, "by its name what was judged; --people or --judges if somebody's rating")
    rated = [c for c in rated if c not in judged]
    named = [c for c in rated if (not names_somebody(c) if c in called else c.plain in NAMES["value"])]
    sure = [c for c in rated if c in named or c.name in stated]
    kept = _alike(roles, sure) if sure else [
        c for c in rated if c.like_ratings and not c.is_nobodys
        and (c.numeric or c.holds_labels or any(c.words & other.words for other in roles.free if other is not c))
    ]  # fmt: skip
    people = any(c.is_person for c in sure)  # what else is the same in every row is nobody's, or somebody's by a name
    kept = [c for c in kept if c in sure or len(c.distinct) > 1 or not (people or (sure and not c.may_be_a_person))]
    if called:
        check_related(roles, [c for c in kept if c not in sure], kept)
    unsaid = [c for c in kept if c.plain in NAMES["value"] and c.name not in stated]
    if unsaid and any(c.is_judge for c in kept) and any(c.may_be_a_person for c in kept if c not in unsaid):
        raise _of_nobody(unsaid[0])
    words = ({*sum(NAMES.values(), ())} - {*NAMES["value"], *NAMES["rater"]}) | {*column_names.PROMPTS, *STATUSES}
    judges = [c for c in roles.free if c.is_judge and not c.is_attribute and c.ending not in words]
    silent = [c.name for c in judges if c.words <= {*STATUSES} and c not in kept]
    if silent and kept:  # who never answers is not cleared by being left out
        raise RecuseError(
            f"{', '.join(silent)}: called as judges are, without one answer; if nobody asked them, say --ignore "
            f"{as_option(silent)}; if somebody did, say who the judges are: --judges {as_option(silent)},..."
        )
    _take_wide(roles, kept)


def names_somebody(column: Column) -> bool:
    """Names and no answers: the same in every row, no number and no label that rates, or several models'."""
    models = sum(is_judge(str(value)) for value in column.distinct[:MOST_SLICES])
    return not (column.numeric or column.holds_labels) and (len(column.distinct) == 1 or models > 1)


def _take_beside_bare(roles: Roles) -> bool:
    """Take bare criteria beside a rater's (tone, gpt4_tone): people's beside a judge's, the judge's beside people's."""
    columns = [c for c in roles.rated if not c.is_derived and (c.numeric or c.holds_labels)]
    bare = {c.plain: c for c in columns if not (c.is_rater or c.plain in NAMES["value"])}
    own = whose_of((c for c in columns if c not in bare.values()), bare.values())
    rest = [c for c in bare.values() if c.is_criterion or any(c is criterion for _, criterion in own.values())]
    kinds = {is_person(whose) for whose, _ in own.values()}
    others = [c for c in columns if c not in own and c not in rest and not c.is_nobodys]
    if len(rest) < 2 or len(kinds) != 1 or any(c.is_rater or c.plain in NAMES["value"] for c in others):
        return False
    roles.leave_out(others, "on a criterion that the others did not rate")
    _take_of(roles, {**{c: ("judge" if kinds == {True} else "people", c) for c in rest}, **own})
    return True


def whose_of(columns: Iterable[Column], criteria: Collection[Column]) -> dict[Column, tuple[str, Column]]:
    """Column -> the rater and the criterion whose names its own is made of."""
    return {
        c: (whose, about) for c in columns for about in criteria
        for whose in (c.plain.removesuffix(f"_{about.plain}"), c.plain.removeprefix(f"{about.plain}_"))
        if whose != c.plain and is_rater(whose)
    }  # fmt: skip


def _take_of(roles: Roles, whose: Mapping[Column, tuple[str, str | Column]]) -> None:
    """Column -> the rater whose it is, and the criterion that it is about, "" where a rater's are repeats."""
    roles.taken["raters"] = by_rater({column.name: rater for column, (rater, _) in whose.items()})
    if criteria := {column.name: str(about) for column, (_, about) in whose.items() if about}:
        roles.taken["criteria"] = criteria
    roles.use(whose)


def by_rater(whose: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Rater -> the names that are its."""
    return {rater: tuple(name for name, of in whose.items() if of == rater) for rater in whose.values()}


def _take_others(
    roles: Roles, columns: Sequence[Column], about: Sequence[Column] = (), *, one: bool = False
) -> list[Column]:
    """Beside a column that names raters, take those of `columns` that hold others' ratings (people's beside judges'),
    each about the one of the rest, or of `about`, whose name it bears; `RecuseError` where it may be several."""
    column = roles.columns[roles.taken["rater"]]
    stated = {name: role for role in ("people", "judges") for name in roles.taken.get(role, ())}
    called = {str(v): stated.get(str(v)) == "judges" or (is_judge(str(v)) and str(v) not in stated)
              for v in column.distinct}  # fmt: skip
    people = [c for c in columns if c.is_person and not c.is_judge]
    if all(called.values()) or (column.is_judge and not any(map(is_person, (column.name, *called)))):
        bearing = people
    else:  # whoever is named gave human_score alone
        bearing = [c for c in columns if c.is_judge and not c.is_person and (people or not any(called.values()))]
    bearing = [c for c in columns if c.name in stated or c in bearing]
    own = whose_of(bearing, about or [c for c in columns if c not in bearing])
    sure = [c for c in bearing if c.name in stated or c.ending in NAMES["value"] or is_rater(c.ending)]
    # human_score, expert_2, gpt-4o-mini: a rater's name that speaks of no criterion
    alone = [c for c in bearing if c not in own and (c in sure or any(map(str.isdigit, c.name)))]
    rest = about or [c for c in columns if not (c in own or c in alone)]
    if not rest or not (own or alone):
        return []
    several = len(rest) > 1 and not (one or [*map(str, rest)] == [*roles.taken.get("repeats", ())])
    if alone and several:
        raise RecuseError(
            f"{', '.join(map(str, alone))} may be about each of {', '.join(map(str, rest))}: say which is meant, for "
            f"example --value {rest[0]}, or call it {rater_name(alone[0].name)}_{rest[0]}; if nobody's rating, "
            f"--ignore {alone[0]}"
        )
    raters = {c: (base_of(c.name, [*map(str, alone)]), "") for c in alone}
    _take_of(roles, raters | {c: (whose, about.name if several else "") for c, (whose, about) in own.items()})
    return [*alone, *own]


def _is_a_fact(roles: Roles, column: Column, columns: Iterable[Column]) -> bool:
    """Whether it says something of raters (gender) or texts (who wrote): systems, one rater's, or never differing."""

    def same_within(one: Column, keys: list[str]) -> bool:
        """Whether it says one thing in all rows of each of several raters or texts, which have several rows each."""
        groups = roles.frame.groupby(keys, sort=False)[one.name].nunique()
        return bool((groups == 1).all()) and 1 < len(groups) <= len(roles.frame) / 2

    item = roles.filled("item", "target")
    if column.numeric or column.holds_labels:
        return bool(item) and same_within(column, item) and not all(same_within(other, item) for other in columns)
    named = plain(column.name.rsplit(".", 1)[-1]) in NAMES["target"] and not roles.answers_as_others(column)
    raters, text = roles.frame[roles.taken["rater"]], roles.filled("item")
    alone = raters[column.filled.index].nunique() == 1 < max(raters[other.filled.index].nunique() for other in columns)
    of_text = bool(text) and not all(same_within(other, text) for other in columns)
    keys = [[roles.taken["rater"]], *([item] if item else []), *([text] if of_text else [])]
    return named or alone or any(same_within(column, key) for key in keys)


def choosers_between(roles: Roles, first: Column, second: Column) -> list[Column]:
    """Columns that hold nothing but choices between the two, numbers (1, 2 and 3 for a tie) beside two texts only. One
    choice in every row is a rater's who is named, or called as judges are beside others."""
    pair, sides, texts = (first, second), first.words | second.words, first.wordy or first.told_once
    again = [c for c in roles.free if c in pair or (texts and any(c.cells.equals(side.cells) for side in pair))]
    groups = {*NAMES["cluster"], *column_names.BATCHES, *column_names.FACTORS, *column_names.SURE} - {
        *map(plain, roles.stated)
    }
    won = partial(chosen, from_0=first.name.endswith("_0"))
    free = [c for c in roles.free if len(c.distinct) and c not in again and c.plain not in groups]
    choosing = [c for c in free if all(word in sides or won(word) for word in c.words)]
    choosing = [c for c in choosing if not c.numeric or (texts and {"first", "second"} <= {*map(won, c.words)})]
    sure = [c for c in choosing if c.name in roles.stated or len(c.distinct) > 1]
    alone = [c for c in choosing if (sure or roles.stated) and not c.is_attribute]
    ends = column_names.WINNERS if "rater" in roles.taken else ()  # of who chose the first in every row: g1_winner
    alone = [c for c in alone if c.ending in ends or (c.is_judge and roles.says_who_won(c))]
    return [c for c in choosing if c in sure or c in alone]


def _check_choices(roles: Roles, columns: Sequence[Column]) -> None:
    """`RecuseError` for a judge's choices in both orders of texts, and for several questions, better and safer."""
    unknown = [c for c in columns if c.name not in roles.stated]
    stems = {c: next(filter(None, m.groups()), "") if (m := IN_ORDER.fullmatch(c.plain)) else c.plain for c in unknown}
    for one, other in combinations((c for c in unknown if not c.is_person), 2):
        if stems[one] == stems[other] and one.plain != other.plain:
            raise RecuseError(
                f"{one} and {other} look like one judge's choices in both orders of a pair: write a row for each, with "
                f"columns first and second that hold what was shown there; if they are its repeats, call them "
                f"{stems[one]}_run1 and {stems[one]}_run2; if two judges', say --judges "
                f"{as_option((one.name, other.name))}"
            )
    bare = [c for c in unknown if not c.is_rater]
    questions = {
        c: about.plain for c, (_, about) in whose_of(unknown, bare).items() if about.plain not in NAMES["value"]
    }
    questions |= {c: c.plain for c in bare if questions and (c.plain in questions.values() or not c.may_be_a_person)}
    criteria = {c: {*c.plain.split("_")} & {*column_names.CRITERIA} for c in unknown}
    questions |= {c: "_".join(sorted(words)) for c, words in criteria.items() if words}
    if others := [c.name for c, question in questions.items() if question != next(iter(questions.values()))]:
        raise RecuseError(
            f"{', '.join(map(str, questions))} choose between two texts, and not all by one question; read one at a "
            f"time: --ignore {as_option(others)}"
        )


def _take_wide(roles: Roles, columns: Sequence[Column]) -> None:
    """A rater's columns are its criteria, where names say so, or its repeats; those of criteria alone are a judge's."""
    stated, names = roles.stated, [*map(str, columns)]
    of = {c: c.name if c.name in stated else base_of(c.name, names) for c in columns}
    crossed = column_names.crossed_names([*dict.fromkeys(of.values())], stated)
    if crossed and "gold" not in roles.taken:  # which is true of one question
        _take_of(roles, {c: whose for base, whose in crossed.items() for c in columns if of[c] == base})
    elif len(columns) > 1 and all(c.is_criterion for c in columns):
        _take_of(roles, {c: ("judge", c) for c in columns})
    else:
        _take_of(roles, {c: (base, "") for c, base in of.items()})
        _check_one_form(roles, roles.taken["raters"])


def _check_one_form(roles: Roles, raters: dict[str, tuple[str, ...]]) -> None:
    """Of judge_label and judge_score, the one that answers as others do is read; `RecuseError` for none, or rounds."""
    people = {plain(base): base for base in raters if not (is_judge(base) or base in roles.stated)}
    for one, other in column_names.told_apart(people, ROUNDS):
        stem = "_".join(word for word in one.split("_") if word in other.split("_"))
        raise _two_columns(stem or "one person", (people[one], people[other]))
    bases = by_rater({base: rater_name(base) for base in raters})
    first = {base: roles.columns[own[0]] for base, own in raters.items()}
    for own in (own for own in bases.values() if len(own) > 1 and not {*own} & roles.stated):
        others = [column for base, column in first.items() if base not in own and base in raters]
        alike = [base for base in own if any(map(first[base].only_answers_of, others))]
        words = [base for base in own if not first[base].numeric]
        most = max(len(first[base].distinct) for base in own)
        twins = len(roles.frame[[first[base].name for base in own]].drop_duplicates()) == most
        kept = alike if len(alike) == 1 else words if len(words) == 1 and (twins or not others) else []
        if not kept:
            raise _two_columns(rater_name(own[0]), own)
        for base in (base for base in own if base not in kept):
            roles.ignored |= dict.fromkeys(raters.pop(base), f"{kept[0]} answers as the other raters do")
    whole = [column for base, column in first.items() if base in raters and not (is_judge(base) or column.has_fraction)]
    for base in [*raters] if whole else ():  # llama_c beside llama_p, which alone answers as others do: how sure it was
        stem, _, last = plain(base).rpartition("_")
        if is_judge(stem) and last.isalpha() and any(map(first[base].only_answers_of, whole)):
            sure = [b for b in raters if plain(b).startswith(f"{stem}_") and b not in (base, *roles.stated)]
            if sure := [b for b in sure if first[b].has_fraction]:
                raise _two_columns(stem, (base, *sure))


def _two_columns(whose: str, own: Sequence[str]) -> RecuseError:
    return RecuseError(
        f"{' and '.join(own)} are columns of {whose}: if one is its rating, leave the others out with --ignore "
        f"{as_option(own[1:])}; if each is about something else, or a repeat, call them {whose}_QUESTION or "
        f"{whose}_run1, {whose}_run2"
    )


def _of_nobody(column: Column) -> RecuseError:
    return RecuseError(
        f"{column} does not say whose it is, beside people and judges who are named: if it is one more person's, say "
        f"--people {column},...; if it holds right answers, --gold {column}; if it is made of others' answers, or "
        f"something else, --ignore {column}"
    )


def _alike(roles: Roles, sure: Collection[Column]) -> list[Column]:
    """Columns whose values look like those of the surest ones: persons and judges answer on one scale."""
    ends = tuple(f"_{c.ending}" for c in sure if c.is_judge and "_" in c.plain)  # gpt_complexity beside complexity
    other = (*column_names.BATCHES, *column_names.PARTS)
    begun = {c.plain.rsplit("_", k)[0] for c in sure for k in (1, 2, 3)}  # is_safe_anna beside is_safe_gpt_4o
    flags = {c for c in roles.free if FLAG.match(c.plain) and c.plain.rpartition("_")[0] not in begun - {*FLAGS}}
    may = [c for c in roles.free if c.rating and c.varied and not (c.plain in other or c.is_attribute or c in flags)]
    may = [c for c in may if (not c.is_nobodys or c.plain.endswith(ends)) and any(map(c.answers_like, sure))]
    return [c for c in roles.free if c in sure or c in may]
