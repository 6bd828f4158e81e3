"""Columns that are nobody's: what is made of others, what has nothing to do with any rater, and what is asked about."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.readers import column_names
from recuse.readers.column_names import NAMES, PROMPTS, TITLED, as_option, base_of, is_judge, may_be_a_person, plain
from recuse.readers.columns import FEW_LABELS, MOST_SLICES, Column, Roles
from recuse.readers.mapping import columns_in
from recuse.readers.raw_table import shown
from recuse.readers.values import as_numbers, is_empty, is_verdict, labels_of
from recuse.schema import RecuseError

FEWEST = 10  # so many rows tell whether a column is made of others
SEVERAL = 5  # judges outvoted so often make a column that is never against most of them one to ask about
MENDED = 0.95  # what three people or more mostly say, in so many rows at least, is their vote that somebody went over
RELATED = 30  # over so many rows two columns' numbers have something to do with each other, or not
SURELY = 4  # so many standard errors tell a weak relation from a close one
MOST_MARKS = 11  # different numbers of the longest usual scale that has each of them given, 0 to 10
MATCHES = re.compile(r"(?:^|_)(?:correct|right|match|agree|disagree|differ|same|equal)")  # whether a judge was right
AGREES = re.compile(r"(?:^|_)(?:dis)?agrees?(?:_|$)")
CONFUSION = {"tp", "fp", "tn", "fn", "true_positive", "false_positive", "true_negative", "false_negative"}


def leave_out_derived(roles: Roles, named: Collection[str]) -> None:
    """Columns called after what was made of several people's answers are nobody's, where two people have columns."""
    crossed = column_names.crossed_names([c.name for c in roles.free if c.is_rater and c.rating]) or {}
    judged = {criterion for rater, criterion in crossed.values() if is_judge(rater)}  # overall, of each
    derived = [c for c in roles.free if c.is_derived and c.name not in named]
    derived = [c for c in derived if not (c.name in crossed and crossed[c.name][1] in judged)]
    computed = _computed(roles, named)
    derived += [c for c in computed if c not in derived]
    voted = _voted(roles, {*named, *map(str, derived)})
    roles.leave_out(voted, "made of other columns, it says what most of them do; if not, say --people")
    judges = {*derived, *(c for c in roles.free if c.name in roles.taken.get("judges", ()))}
    others = (c for c in roles.free if c not in judges and (c.name in named or c.may_be_a_person))
    people = [c.name for c in others if c.rating and len(c.distinct) > 1]
    gold = roles.taken.get("gold", "")
    if gold and len(people) > 1 and gold not in roles.given.values():
        cells, own = roles.frame[people].to_numpy(dtype=object), roles.frame[gold].to_numpy(dtype=object)
        alike = (cells == own[:, None]).sum(axis=1)
        times = np.max([(cells == cells[:, [k]]).sum(axis=1) for k in range(len(people))], axis=0)
        two = len(people) == 2  # of more, as many as say anything else, and two at least
        rated = (own != "") & (cells != "").all(axis=1) & ((times > 1) | two)
        most = (alike == times) & (times > 1)
        if rated.sum() > FEWEST and most[rated].mean() >= (1.0 if two else MENDED):
            roles.ignored[gold] = "made of other columns, it says what most of the people do; if not, say --gold"
            del roles.taken["gold"]
    spreads = [c for c in derived if column_names.is_derived(c.name, column_names.SPREADS)]
    made = derived if len(people) > 1 else [*spreads, *(c for c in computed if computed[c])]
    roles.leave_out(made, "made of other columns: nobody's own ratings")


def leave_out_matches(roles: Roles) -> None:
    """What says in every row whether two others are alike, or TP, FP, ... of a judge, is nobody's rating, nor true."""
    free = [c for c in roles.free if c.name not in roles.stated]
    rated = [c for c in roles.columns.values() if c.rating and 1 < len(c.distinct) <= FEW_LABELS][:MOST_SLICES]
    two = [c for c in free if len(c.distinct) == 2 and is_verdict(c.words)]
    whose = [c for c in two if c.may_be_a_person or c.is_judge or any(c.words & o.words for o in rated if o is not c)]
    called = [c for c in two if MATCHES.search(c.plain) or c not in whose]  # or in words of its own, as needs_review
    words = {c: labels_of(c.cells).where(~is_empty(c.cells)) for c in (rated if called else ())}
    for column in called:
        right = column.ordered.eq(1)
        for one, other in combinations((c for c in words if c is not column), 2):
            there = column.ordered.notna() & words[one].notna() & words[other].notna()
            alike = words[one].eq(words[other])[there]
            as_told = (alike == right[there]).mean() in (0, 1)
            if as_told and min(alike.sum(), (~alike).sum()) > 1 and there.sum() >= FEWEST:
                roles.leave_out([column], f"whether {one} and {other} are alike")
                break
    few = (c for c in free if 1 < len(c.distinct) <= len(CONFUSION))
    confused = [c for c in few if {plain(str(value)) for value in c.distinct} <= CONFUSION]
    roles.leave_out(confused, "in which way a judge was right or wrong")


def leave_out_who_gave(roles: Roles) -> None:
    """Who gave a rating, beside it in one object, answers nothing: human.rating, human.annotator."""
    for column in [*roles.free]:
        whose, dot, word = column.name.rpartition(".")
        beside = {plain(c.name.removeprefix(f"{whose}.")) for c in roles.free if c.name.startswith(f"{whose}.")}
        if dot and plain(word) in NAMES["rater"] and beside & {*NAMES["value"]}:
            roles.leave_out([column], f"who gave {whose}")


def _computed(roles: Roles, named: Collection[str]) -> dict[Column, bool]:
    """Nobody's columns that are mean, least, greatest or weighed sum of others in every row -> whether of judges."""
    numeric = [c for c in roles.free if c.numeric and c.like_ratings and not c.is_nobodys]
    table = {c.name: as_numbers(c.cells).to_numpy() for c in numeric}
    computed: dict[Column, bool] = {}
    for column in (c for c in numeric if not c.is_judge and c.name not in named):
        others = [c for c in numeric if not (c is column or c in computed)]
        others = [c for c in others if not (column.is_person and (c.is_rater or c.name in named))]
        people, judges = ([c for c in others if c.is_judge == judge] for judge in (False, True))
        for those in (those for those in ([people, judges, others] if judges else [people]) if len(those) > 1):
            rows = np.column_stack([table[c.name] for c in (column, *those)])
            rows = rows[~np.isnan(rows).any(axis=1)]
            own, rest = rows[:, 0], rows[:, 1:]
            differ = (rest != own[:, None]).sum(axis=0)
            near = those == judges and differ.min() < FEWEST  # a person near one, and they near all
            if near or len(rows) < 2 * FEWEST or (np.ptp(rest, axis=1) > 0).sum() < FEWEST:
                continue
            made = [those[k].name for k in _summed(own, rest)]
            whose = [c for c in those if c.name in made and (c.may_be_a_person or c.is_judge)]
            unclear = column.is_person and not column.is_derived  # human_avg says what it is
            if made and (unclear or (column.plain in NAMES["value"] and not whose)):
                raise RecuseError(
                    f"{column} is worked out from {', '.join(made)}: if these are its parts, say --ignore "
                    f"{as_option(made)}; if it is made of several people's ratings, --ignore {column}"
                )
            off = np.abs(own - rest.mean(axis=1)).max()  # of a mean rounded in any usual way to 0, 1 or 2 places
            rounded = (off <= 0.5 * 10.0**-k + 1e-9 and (own * 10**k % 1).max() < 1e-9 for k in (0, 1, 2))
            exact = made or any(np.abs(own - one).max() < 1e-9 for one in (rest.min(axis=1), rest.max(axis=1)))
            if not column.is_person and (exact or (off <= 0.5 and any(rounded))):
                computed[column] = those == judges
                break
    return computed


def _summed(own: NDArray[Any], others: NDArray[Any]) -> list[int]:
    """Of which columns (rows, columns), two at least that differ in several rows, `own` (rows,) is the sum in all rows,
    each times a weight above 0; not if one of two goes below 0 and `own` does not: that is what `own` and the other
    differ by."""
    if len(own) < 2 * max(FEWEST, others.shape[1]):
        return []
    weights = np.linalg.lstsq(others[:1_000], own[:1_000])[0]
    made = np.flatnonzero(weights > 1e-6)
    parts = others[:, made]
    exact = len(made) > 1 and weights.min() > -1e-6 and np.abs(own - others @ weights).max() < 1e-6  # in all rows
    exact = exact and not (len(made) == 2 and parts.min() < 0 <= own.min())
    return [*map(int, made)] if exact and (np.ptp(parts, axis=1) > 0).sum() >= FEWEST else []


def _voted(roles: Roles, known: Collection[str]) -> list[Column]:
    """Nobody's columns by name that always say what most of three or more do. `RecuseError` where these are judges."""
    may = [c for c in roles.free if not c.is_nobodys and c.rating and 1 < len(c.distinct) <= FEW_LABELS]
    voted: list[Column] = []
    made = reversed(may if 3 < len(may) <= MOST_SLICES else [])  # what is made of others stands behind them
    for own, judges in product((c for c in made if not c.is_rater and c.name not in known), (False, True)):
        voters = [c for c in may if c is not own and c.is_judge == judges and c not in voted and c.only_answers_of(own)]
        if len(voters) < 3 or own in voted:
            continue
        words = [labels_of(c.cells).where(~is_empty(c.cells)) for c in (own, *voters)]
        given = np.stack([np.column_stack([column == word for column in words]) for word in own.words], axis=-1)
        votes = given.sum(axis=1, keepdims=True) - given  # of the others, for each rater and word
        most = votes == votes.max(axis=-1, keepdims=True)
        against = (given.any(axis=-1) & (most.sum(axis=-1) == 1) & ~(given & most).any(axis=-1)).sum(axis=0)
        if judges and against[0] == 0 and against[1:].min() > 0 and against.sum() >= SEVERAL:
            raise RecuseError(
                f"{own} says in every row what most of {', '.join(map(str, voters))} do: if it is made of these, say "
                f"--ignore {as_option([own.name])}; if it is a person's own, --people {as_option([own.name])}"
            )
        if against[0] == 0 and against[1:].min() >= FEWEST:
            voted.append(own)
    return voted


def _greatest(numbers: NDArray[Any]) -> float:
    """The greatest that is a number, NaN where none is."""
    return float(np.fmax.reduce(numbers, axis=None, initial=np.nan))


def check_related(roles: Roles, unknown: Sequence[Column], raters: Sequence[Column]) -> None:
    """`RecuseError` for a column that nothing calls a rater's, whose answers have nothing to do with any rater's,
    where these have to do with each other, or far less than those of sure people (else of all) with others."""
    if not raters:
        return
    people = [c for c in raters if c.is_person] or [c for c in unknown if re.search(r"_\d+$", c.plain)]
    stems = {re.sub(r"[_ ]*(\d+|[a-z])$", "", c.plain) for c in people if not c.is_judge}
    numbered = len(stems) == 1 and not stems & {c.plain for c in raters}
    alike = len(people) > 1 and (numbered or all(TITLED.match(c.name) for c in people))
    others = [c for c in unknown if not (c.is_person or c in people or (c.numeric and not is_verdict(c.words)))]
    if alike and others:
        raise RecuseError(
            f"{others[0]} holds answers in the words of {people[0]} and {people[1]} and is not called so; if it is "
            f"one more person, say --people {others[0]},...; if it holds right answers, --gold {others[0]}; if "
            f"neither, --ignore {others[0]}"
        )
    few = not people and sum(c.may_be_a_person for c in raters) < 3
    sides = [[c.plain.split("_")[k] for c in raters] for k in (0, -1)]  # anna_tone beside gpt_tone
    shared = {c for side in sides for c, word in zip(raters, side, strict=True) if side.count(word) > 1}
    names = [*map(str, raters)]
    table = pd.DataFrame({c.name: c.ordered for c in raters})
    related = table.corr(min_periods=RELATED).mask(np.eye(len(raters), dtype=bool)).to_numpy()
    judges, bases = np.array([c.is_judge for c in raters]), np.array([base_of(name, names) for name in names])
    between = np.where((judges[:, None] & judges) | (bases[:, None] == bases), np.nan, related)
    sure = np.array([c.name in roles.taken.get("people", ()) or (c.is_person and not c.is_judge) for c in raters])
    given = table.notna().sum()
    for column in unknown:
        name, rest = column.name, np.array([n != column.name for n in names])
        least = 3 / max(given[name], 1) ** 0.5
        own, among = related[names.index(name)], _greatest(related[rest][:, rest])
        held = (sure & rest) if (sure & rest).any() else rest
        near, most, close = _greatest(own[held]), _greatest(own), _greatest(between[held][:, rest])
        apart = np.arctanh(min(close, 0.99)) - np.arctanh(np.clip([near, _greatest(np.abs(own))], -0.99, 0.99))
        far, weak = apart * (given.min() / 2) ** 0.5 > SURELY
        against = _greatest(-own) > max(most, least)
        if against and not weak:
            continue  # somebody who answers in reverse, who is named as such
        nothing = most < least < among and not (few and (column.may_be_a_person or column in shared))
        if nothing or (far and near < close / 2 and column not in shared):
            how = f"agree far less with theirs than these with each other (correlation {near:.2f} beside {close:.2f})"
            how = "have nothing to do with any of them" if most < least else how
            raise RecuseError(
                f"{name} holds answers like the raters' that {'go against theirs' if against else how}; if it is a "
                f"rater, say who the people are (--people {as_option([name])},... or --judges {as_option([name])}); if "
                f"not, say --ignore {as_option([name])}"
            )


def check_left_out(roles: Roles) -> None:
    """`RecuseError` where a spreadsheet has made days of grades, for ratings that are called as what somebody says of
    another's (`AGREES`), and where no rater of a wide table is a person, or a judge by its name, and a column that is
    called as one holds answers of another kind, on another scale or in other words: it is not left out in silence."""
    raters = {roles.columns[c]: name for name, columns in roles.taken.get("raters", {}).items() for c in columns}
    columns = [*raters, *(roles.columns[name] for name in roles.filled("value"))]
    if days := [c for c in (*(c for c in roles.free if c.may_be_a_person), *columns) if c.made_days]:
        raise RecuseError(
            f"{days[0]} holds days such as {shown(str(days[0].distinct[0]))}, which a spreadsheet makes of 4/5; "
            f"write its cells as text and export it again, or say --ignore {as_option(map(str, days))}"
        )
    called = [c for c in columns if AGREES.search(c.plain) and is_verdict(c.words)]
    known = {*roles.stated, *columns_in([roles.given.get("value")])}
    if columns[1:] and (unclear := [c.name for c in called if c.name not in known]):
        role = "value" if unclear[0] in roles.filled("value") else "people"
        raise RecuseError(
            f"{', '.join(unclear)}: by the name, whether somebody agrees with another's answer, not what they say of "
            f"the text; write what they say (that answer, where they agree), or say --ignore {as_option(unclear)}; if "
            f"texts were rated so, --{role} {as_option(unclear)}"
        )
    if not raters or roles.stated:
        return
    free = [c for c in roles.free if not c.is_attribute and (c.holds_labels or not c.is_reason)]
    repeated = [c for c in free if 1 < len(c.distinct) <= min(FEW_LABELS, c.number / 2)]
    others: list[Column] = []
    rater = next(iter(raters))
    people = [c for c in free if c.may_be_a_person]
    if not any(map(may_be_a_person, raters.values())):
        words = [c.words for c in people if c in repeated]  # of which another column's may be the same few
        few = [c for c in people if c.numeric and len(c.distinct) <= MOST_MARKS and not c.has_fraction]
        marks = [c for c in few if c.ends[0] in (0, 1) and c.like_ratings]
        marks += [c for c in people if c.holds_labels and not c.numeric]
        sure = [c for c in people if c in marks or (c in repeated and words.count(c.words) > 1)]
        others = [c for c in people if c in sure or (c.numeric and rater.numeric and _related(c, rater))]
    elif not any(map(is_judge, raters.values())):
        judged = (*NAMES["text"], *NAMES["target"], *PROMPTS)
        judges = [c for c in free if c.is_judge]  # also those of texts with a number each, "8/10 - polite and short"
        texts = [c for c in judges if c.told_once and c.ending not in judged]
        others = [c for c in judges if c in repeated or (c in texts and c.filled.astype(str).str.contains(r"\d").all())]
    if not others and rater.holds_labels:  # one of several people in words of his own
        others = [c for c in people if c.holds_labels and _related(c, rater)]
    if not others or not (rater.rating or rater.holds_labels):
        return
    listed = as_option(map(str, others))
    (low, high), (least, most) = others[0].ends, rater.ends
    alike = max(abs(low - least), abs(high - most)) <= 0.05 * max(high - low, most - least)  # they reach about as far
    if rater.numeric and others[0].numeric and alike:
        raise RecuseError(
            f"{', '.join(map(str, others))}: {_answers(others[0])}, so many different ones that a program may have "
            f"worked them out; if they are somebody's ratings, say --people {listed}; if not, say --ignore {listed}"
        )
    say = "which answer of one is which of the other (--same WORD=WORD,...), or write both on one scale"
    if rater.numeric and is_verdict(others[0].words):
        say = f"so, and from which number on a text passes: --people {listed} --use decide --threshold NUMBER"
    raise RecuseError(
        f"{', '.join(map(str, others))} and {rater} do not answer on one scale: {others[0]} gives "
        f"{_answers(others[0])}, {rater} {_answers(rater)}. If {others[0]} is a rater, say {say}; if not, say --ignore "
        f"{listed}"
    )


def _related(column: Column, rater: Column) -> bool:
    """Whether two columns' answers have to do with each other."""
    both = pd.DataFrame({"own": column.ordered, "other": rater.ordered}).dropna()
    enough = len(both) >= RELATED and both.nunique().min() > 1
    return bool(enough and abs(both["own"].corr(both["other"])) > SURELY / len(both) ** 0.5)


def _answers(column: Column) -> str:
    low, high = column.ends
    words = "words such as " + ", ".join(shown(str(value)) for value in column.distinct[:2])
    return f"numbers from {low:g} to {high:g}" if column.numeric else words
