"""Columns that are nobody's: what is made of others, what has nothing to do with any rater, and what is asked about."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from recuse.readers.column_names import (
    ATTRIBUTES,
    BATCHES,
    FACTORS,
    NAMES,
    PARTS,
    PROMPTS,
    PROPERTIES,
    TALKS,
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
)
from recuse.readers.columns import FEW_LABELS, MOST_SLICES, Column, Roles
from recuse.readers.raw_table import shown
from recuse.readers.values import as_numbers, is_empty, labels_of
from recuse.schema import RecuseError

FEWEST = 10
"""So many rows tell whether a column is made of others."""
MENDED = 0.95
"""What three people or more mostly say, in so many rows at least, is their vote that somebody went over."""
RELATED = 30
"""Over so many rows two columns' numbers have something to do with each other, or not."""
SURELY = 4
"""So many standard errors tell a weak relation from a close one."""
MOST_MARKS = 11
"""Different numbers of the longest usual scale that has each of them given, 0 to 10."""


def leave_out_derived(roles: Roles, named: Collection[str]) -> None:
    """Columns called after what was made of several people's answers are nobody's, where two people have columns."""
    derived = [name for name in roles.free if is_derived(name) and name not in named]
    derived += [name for name in _computed(roles) if name not in (*derived, *named)]
    voted = _voted(roles, {*named, *derived})
    roles.leave_out(voted, "made of other columns, it says what most of them do; if not, say --people")
    others = (n for n in roles.free if n not in derived and (n in named or may_be_a_person(n)))
    people = [name for name in others if roles.columns[name].rating]
    gold = roles.taken.get("gold", "")
    if gold and len(people) > 1 and gold not in roles.given.values() and _said_by_most(roles, gold, people):
        roles.ignored[gold] = "made of other columns, it says what most of the people do; if not, say --gold"
        del roles.taken["gold"]
    if len(people) > 1:
        roles.leave_out(derived, "made of other columns: nobody's own ratings")


def leave_out_who_gave(roles: Roles) -> None:
    """Who gave a rating, beside it in one object, answers nothing: human.rating, human.annotator."""
    for name in [*roles.free]:
        whose, dot, word = name.rpartition(".")
        beside = {plain(other.removeprefix(f"{whose}.")) for other in roles.free if other.startswith(f"{whose}.")}
        if dot and plain(word) in NAMES["rater"] and beside & {*NAMES["value"]}:
            roles.leave_out([name], f"who gave {whose}")


def _computed(roles: Roles) -> list[str]:
    """Columns of numbers, called as nobody in particular, that are the mean, the least, the greatest or the sum of the
    others' in every row, rounded or not, where these differ in several rows."""
    numeric = [n for n in roles.free if (c := roles.columns[n]).numeric and c.like_ratings and not is_nobodys(n)]
    table = pd.DataFrame({name: as_numbers(roles.frame[name]) for name in numeric})
    computed: list[str] = []
    for name in (name for name in numeric if not is_rater(name)):
        others = [n for n in numeric if n != name and n not in computed]
        people = [n for n in others if not is_judge(n)]
        for those in (those for those in ([people] if people == others else [people, others]) if len(those) > 1):
            rows = table[[name, *those]].dropna()
            own, rest = rows[name], rows[those]
            least, greatest, mean = rest.min(axis=1), rest.max(axis=1), rest.mean(axis=1)
            if len(rows) < 2 * FEWEST or (greatest > least).sum() < FEWEST:
                continue
            exact = any((own - one).abs().max() < 1e-9 for one in (least, greatest, rest.sum(axis=1)))
            if exact or ((own - mean).abs().max() <= 0.5 and _is_mean(own, mean)):
                computed.append(name)
                break
    return computed


def _voted(roles: Roles, known: Collection[str]) -> list[str]:
    """Columns called as nobody that say in every row what most of three others or more do, where each of these says
    something else in several rows."""
    may = [n for n in roles.free if not (is_judge(n) or is_nobodys(n)) and roles.columns[n].rating]
    may = [n for n in may if 1 < len(roles.columns[n].distinct) <= FEW_LABELS]
    voted: list[str] = []
    for name in reversed(may if 3 < len(may) <= MOST_SLICES else []):  # what is made of others stands behind them
        own = roles.columns[name]
        voters = [n for n in may if n not in (name, *voted) and roles.columns[n].only_answers_of(own)]
        if len(voters) < 3 or name in known or is_person(name):
            continue
        words = [labels_of(c.cells).where(~is_empty(c.cells)) for c in map(roles.columns.__getitem__, (name, *voters))]
        given = np.stack([np.column_stack([column == word for column in words]) for word in own.words], axis=-1)
        votes = given.sum(axis=1, keepdims=True) - given  # of the others, for each rater and word
        most = votes == votes.max(axis=-1, keepdims=True)
        against = (given.any(axis=-1) & (most.sum(axis=-1) == 1) & ~(given & most).any(axis=-1)).sum(axis=0)
        if against[0] == 0 and against[1:].min() >= FEWEST:
            voted.append(name)
    return voted


def _is_mean(own: Any, mean: Any) -> bool:
    """Whether numbers are these means, as they are or rounded in any usual way to 0, 1 or 2 places."""
    return any(bool((own - mean).abs().max() <= 0.5 * 10.0**-k + 1e-9 and (own * 10**k % 1).abs().max() < 1e-9)
               for k in (0, 1, 2)) or bool((own - mean).abs().max() < 1e-6)  # fmt: skip


def check_related(roles: Roles, unknown: Sequence[str], raters: Sequence[str]) -> None:
    """`RecuseError` for a column that nothing calls a rater's, with answers like the raters' that have nothing to do
    with any of them, where raters have to do with each other, or far less than surely people (all, where nobody surely
    is) with others: it may say anything of a text."""
    if not raters:
        return
    people = [name for name in raters if may_be_a_person(name)]
    stems = {re.sub(r"[_ ]*(\d+|[a-z])$", "", plain(n)) for n in raters if is_person(n) and not is_judge(n)}
    numbered = len(stems) == 1 and sum(is_person(n) for n in raters) > 1 and not stems & {plain(n) for n in raters}
    if numbered and (others := [n for n in unknown if not (is_person(n) or roles.columns[n].numeric)]):
        raise RecuseError(
            f"{others[0]} holds answers in the words of {stems.pop()} 1, 2, ... and is not called so; if it is one "
            f"more person, say --people {others[0]},...; if it holds right answers, --gold {others[0]}; if neither, "
            f"--ignore {others[0]}"
        )
    few = len(people) < 3 and not any(map(is_person, people))
    sides = [[plain(name).split("_")[k] for name in raters] for k in (0, -1)]  # anna_tone beside gpt_tone
    shared = {name for side in sides for name, word in zip(raters, side, strict=True) if side.count(word) > 1}
    table = pd.DataFrame({name: roles.columns[name].ordered for name in raters})
    related = table.corr(min_periods=RELATED).mask(np.eye(len(raters), dtype=bool))
    judges, bases = np.array([*map(is_judge, raters)]), np.array([base_of(name, raters) for name in raters])
    between = related.mask((judges[:, None] & judges) | (bases[:, None] == bases))
    sure = [n for n in raters if n in roles.taken.get("people", ()) or (is_person(n) and not is_judge(n))]
    for name in unknown:
        others = [n for n in raters if n != name]
        least = 3 / max(table[name].notna().sum(), 1) ** 0.5
        own, rest = related.loc[name, others], related.loc[others, others].max().max()
        near, close = own[sure or others].max(), between.loc[sure or others, others].max().max()
        apart = np.arctanh(min(close, 0.99)) - np.arctanh(np.clip([near, own.abs().max()], -0.99, 0.99))
        far, weak = apart * (table.notna().sum().min() / 2) ** 0.5 > SURELY
        against = -own.min() > max(own.max(), least)
        if against and not weak:
            continue  # somebody who answers in reverse, who is named as such
        nothing = own.max() < least < rest and not (few and (may_be_a_person(name) or name in shared))
        if nothing or (far and near < close / 2 and name not in shared):
            how = f"agree far less with theirs than these with each other (correlation {near:.2f} beside {close:.2f})"
            how = "have nothing to do with any of them" if own.max() < least else how
            raise RecuseError(
                f"{name} holds answers like the raters' that {'go against theirs' if against else how}; if it "
                f"is a rater, say who the people are (--people {name},... or --judges {name}); if not, say "
                f"--ignore {name}"
            )


def _said_by_most(roles: Roles, name: str, people: Sequence[str]) -> bool:
    cells, own = roles.frame[list(people)].to_numpy(dtype=object), roles.frame[name].to_numpy(dtype=object)
    alike = (cells == own[:, None]).sum(axis=1)
    rated = (own != "") & (cells != "").all(axis=1)
    if len(people) == 2:
        most = alike == len(people)
    else:  # as many as say anything else, and two at least
        others = np.column_stack([(cells == cells[:, [k]]).sum(axis=1) for k in range(len(people))]).max(axis=1)
        rated, most = rated & (others > 1), alike == others
    return bool(rated.sum() > FEWEST and most[rated].mean() >= (MENDED if len(people) > 2 else 1.0))


def check_left_out(roles: Roles) -> None:
    """`RecuseError` where a spreadsheet has made days of grades, and where no rater of a wide table is a
    person, or a judge by its name, and a column that is called as one holds answers of another kind, on another scale
    or in other words: to leave it out in silence would say that nobody rated the texts, or clear whoever is left."""
    raters = {c: name for name, columns in roles.taken.get("raters", {}).items() for c in columns}
    answers = [*filter(may_be_a_person, roles.free), *raters, *roles.filled("value")]
    days = [c for name in answers if (c := roles.columns[name]).made_days]
    if days:
        raise RecuseError(
            f"{days[0].name} holds days such as {shown(str(days[0].distinct[0]))}, which a spreadsheet makes of 4/5; "
            f"write its cells as text and export it again, or say --ignore {as_option(c.name for c in days)}"
        )
    if not raters or roles.stated:
        return
    free = [c for name in roles.free if not is_attribute(name) and (c := roles.columns[name]).name]
    free = [c for c in free if c.holds_labels or not is_reason(c.name)]
    others: list[Column] = []
    rater = roles.columns[next(iter(raters))]
    people = [c for c in free if may_be_a_person(c.name)]
    if not any(may_be_a_person(name) for name in raters.values()):
        words = [c.words for c in people if _comes_again(c)]  # of which another column's may be the same few
        others = [
            c for c in people if _marks(c) or (_comes_again(c) and words.count(c.words) > 1)
            or (c.numeric and rater.numeric and _related(c, rater))
        ]  # fmt: skip
    elif not any(map(is_judge, raters.values())):
        others = [c for c in free if is_judge(c.name) and (_comes_again(c) or _may_hold_answers(c))]
    if not others and rater.holds_labels:  # one of several people in words of his own
        others = [c for c in people if c.holds_labels and _related(c, rater)]
    if not others or not (rater.rating or rater.holds_labels):
        return
    names = ", ".join(c.name for c in others)
    (low, high), (least, most) = others[0].ends, rater.ends
    alike = max(abs(low - least), abs(high - most)) <= 0.05 * max(high - low, most - least)  # they reach about as far
    if rater.numeric and others[0].numeric and alike:
        listed = as_option(c.name for c in others)
        raise RecuseError(
            f"{names}: {_answers(others[0])}, so many different ones that a program may have worked them out; if they "
            f"are somebody's ratings, say --people {listed}; if not, say --ignore {listed}"
        )
    raise RecuseError(
        f"{names} and {rater.name} do not answer on one scale: {others[0].name} gives {_answers(others[0])}, "
        f"{rater.name} {_answers(rater)}. If {others[0].name} is a rater, say which answer of one is which of the "
        f"other (--same WORD=WORD,...), or write both on one scale; if not, say --ignore "
        f"{as_option(c.name for c in others)}"
    )


def _related(column: Column, rater: Column) -> bool:
    """Whether two columns' answers have to do with each other."""
    both = pd.DataFrame({"own": column.ordered, "other": rater.ordered}).dropna()
    if len(both) < RELATED or both.nunique().min() < 2:
        return False
    return bool(abs(both["own"].corr(both["other"])) > 4 / len(both) ** 0.5)


def _may_hold_answers(column: Column) -> bool:
    """Whether texts in a column that is called as judges are hold a number each, and are not called as what is judged:
    "8/10 - polite and short"."""
    judged = plain(column.name).rsplit("_", 1)[-1] in (*NAMES["text"], *NAMES["target"], *PROMPTS)
    return column.told_once and not judged and bool(column.filled.astype(str).str.contains(r"\d").all())


def _comes_again(column: Column) -> bool:
    return 1 < len(column.distinct) <= min(FEW_LABELS, len(column.filled) / 2)


def may_be_a_person(name: str) -> bool:
    """Whether a column is called as people are, or by one word of letters that names nothing else."""
    if is_judge(name) or is_criterion(name) or is_date(name):
        return False
    known = {word for names in NAMES.values() for word in names} | {*PARTS, *FACTORS, *BATCHES, *TALKS}
    known |= {*ATTRIBUTES, *PROPERTIES}
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
