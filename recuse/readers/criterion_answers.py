"""The answers to one criterion: sets of options, numbers or labels, on the scale that is said or that they suggest."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recuse.ratings.array import first_of, grouped
from recuse.ratings.scale import Nominal, Numeric, Ordinal, ResponseSets, Scale
from recuse.readers import values as cell_values
from recuse.readers.column_names import as_option, plain
from recuse.readers.raw_table import SHOWN, Fault, Place, faults_in, shown
from recuse.readers.values import as_numbers, chosen, labels_of, scale_of_numbers, spelled
from recuse.schema import RecuseError

PLACE, RANKS, HALF = r"(?i)\d+\s*(?:st|nd|rd|th)", ("rank", "place", "ranking", "placement"), 0.5
TEXTS_RANKED, RANKINGS = 3, 20
GREATEST = 1e15  # numbers of this size are ids or slips, and nobody's ratings
FREE_TEXT = 60  # a column with more different labels than this holds sentences, not ratings
STRICT = 2  # a rater whose best mark is so far below the others' best may be strict, on the same scale
FEWEST_LABELS = 10  # fewer answers of people or of judges may have no label in common by chance
ENOUGH_OF_PEOPLE, OFTEN = 40, 0.15  # so many ratings by people tell the end of their scale, if this share lies on it
FAR = 2  # what lies further off than the range of all other numbers, so many times, may stand for something else
FROM_1 = 7  # scales up to here mostly begin with 1, longer ones as often with 0
SHIFTED, SELDOM = 3, 0.04  # so many different marks on a scale have ends of its own; one given less may be missing
DECIDED = "--use decide --threshold NUMBER; --save of recuse check keeps it"
ENDS = re.compile(r"[(\[]\s*(\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.)\s*(\d+(?:\.\d+)?)\s*(?:points|stars|scale)?\s*[)\]]")
NAMED_ENDS = re.compile(r"(?<![\w.-])(\d+)\s*[=:–-]\s*([^\W\d][^\d,;/()\[\]]*)")
"""How a column's name says on which scale its ratings are: accuracy (0-7), tone (1 = poor, 5 = excellent)."""
MANY = 0.1  # where so many cells name an option twice, they are no sets


class CriterionAnswers(NamedTuple):
    """The answers of one criterion: scores or responses, which of them are unusable (`bad`) and as what (`status`)."""

    scale: Scale
    values: Any
    bad: Any
    status: Any
    faults: list[Fault]
    notes: list[str]


def read_criterion(part: pd.DataFrame, criterion: str, declared: str, place: Place) -> CriterionAnswers:
    """What the cells of `part`, none of them empty, say: sets of options, else numbers, else labels. `declared`: the
    scale as its user wrote it. `RecuseError` where numbers and labels or two scales are mixed, and for free text."""
    given, each = cell_values.scale_from_text(declared) if declared else None, part["cell"].drop_duplicates()
    answers = None if isinstance(given, Numeric | Ordinal | Nominal) else _sets(part, each, criterion, given, place)
    if given is None and {*as_numbers(each)} <= {0.0, 1.0}:  # labels, though pandas wrote 1.0
        part = part.assign(cell=as_numbers(part["cell"]).map("{:.0f}".format))
    elif answers is None and not isinstance(given, ResponseSets | Ordinal | Nominal):
        answers = _numbers(part, each, criterion, given, place)
    if answers is None:
        assert not isinstance(given, ResponseSets | Numeric)  # all answers count or do not on one of these
        answers = _labels(part, criterion, given, place)
    if declared and answers.bad.all():
        seen = ", ".join(map(shown, part["cell"].drop_duplicates()[:SHOWN]))
        raise RecuseError(
            f"none of the answers ({seen}) is on the scale {shown(declared)}; give the one that they are "
            "on, --scale worst<...<best or --scale LOW-HIGH, or none"
        )
    return answers


def verdicts_beside_scores(part: pd.DataFrame, declared: str, decided: str) -> tuple[pd.DataFrame, list[str]]:
    """Verdicts of raters who pass or fail every text as the best and worst score of those who give scores, and notes.
    `RecuseError` where no threshold decides, and verdicts are words, or the scores lie between 0 and 1."""
    different = part[["rater", "cell"]].iloc[first_of(grouped(part["rater"], part["cell"]))]
    words, numbers = labels_of(different["cell"]), as_numbers(different["cell"])
    by_rater = words.groupby(different["rater"].astype(str), sort=False).agg(set)
    verdicts = [*map(str, by_rater.index[[cell_values.is_verdict(own) and len(own) == 2 for own in by_rater]])]
    theirs, known = different["rater"].isin(verdicts), numbers.notna()
    scores, given = numbers[~theirs & known], cell_values.scale_from_text(declared) if declared else None
    if not verdicts or scores.nunique() < SHIFTED or known[~theirs].mean() < HALF:
        return part, []
    scale = scale_of_numbers(scores) if given is None else given
    if decided and isinstance(scale, Numeric):
        worst, best = sorted((scale.minimum, scale.maximum), reverse=scale.reversed)
        ends = {cell: f"{best if word in cell_values.VERDICTS[1] else worst:g}" for cell, word in
                zip(different.loc[theirs, "cell"], words[theirs], strict=True)}  # fmt: skip
        cells = part["cell"].astype(str).mask(part["rater"].isin(verdicts), part["cell"].astype(str).map(ends))
        note = f"{', '.join(verdicts)}: a pass is on the side of {best:g}, a fail of {worst:g}"
        return part.assign(cell=cells), [note]
    whole = bool(known[theirs].all())
    if given or (whole and scores.between(0, 1, inclusive="neither").mean() < HALF):
        return part, []
    answers, other = dict.fromkeys(different.loc[theirs, "cell"]), different.loc[scores.index[0], "rater"]
    otherwise = "that all are scores (--scale 0-1)" if whole else "which number each is (--same WORD=NUMBER,...)"
    raise RecuseError(
        f"{verdicts[0]} gives {' and '.join(map(shown, answers))}, {other} numbers such as "
        f"{max(scores, key=lambda score: score % 1):g}; say from which number on a text passes ({DECIDED}), or "
        f"{otherwise}, or leave one out with --ignore"
    )


def _sets(
    part: pd.DataFrame, different: pd.Series[Any], criterion: str, given: ResponseSets | None, place: Place
) -> CriterionAnswers | None:
    words = tuple(labels_of(different).drop_duplicates())
    numbers = given is None and cell_values.decimal_commas(words)
    if numbers or (sets := cell_values.find_sets(words, criterion, given)) is None:
        return None
    if len(sets.written) > len({*sets.written.values()}) == 1 and given is None:  # no set of them leaves one out
        raise RecuseError(
            f"column {part['column'].iloc[0]} names all of the same in every row, in several orders: if "
            "these are rankings, write them with a sign between, the best first (B>A>C), or a row for each text, with "
            "columns item, system and rank; if not, say --ignore with the columns that hold them"
        )
    labels = labels_of(part["cell"])
    bad = labels.isin(sets.strange)
    digits = as_numbers(labels.str.extract(r"(\d+)")[0]).notna()
    if given is None and bad.mean() > MANY and digits.mean() > cell_values.KNOWN_SHARE:
        raise RecuseError(
            f"column {part.loc[bad, 'column'].iloc[0]} holds several numbers a cell "
            f"({shown(part.loc[bad, 'cell'].iloc[0])}), which are no options that are all right; if they are several "
            "people's ratings, give every person a column"
        )
    why = "; ".join(list(sets.strange.values())[:SHOWN])
    faults = faults_in(f"answer(s) are no set of options: {why}", part[bad], place, "they count as unusable")
    values = labels.map(sets.written).where(~bad, None)
    notes = [f"{criterion}: {sets.words}{', as you said' if given else ''}"]
    several = values.astype(str).str.contains("[|]").groupby(part["rater"].astype(str), sort=False).any().astype(bool)
    if several.any() and not several.all():  # perhaps nobody let the others
        notes.append(
            f"always one option: {', '.join(map(str, several.index[~several][:6]))}. If more than one could not be "
            "named, these are forced choices: give them another criterion, such as forced_choice"
        )
    return CriterionAnswers(sets.scale, values.to_numpy(dtype=object), bad.to_numpy(), "out_of_scale", faults, notes)


def _numbers(
    part: pd.DataFrame, different: pd.Series[Any], criterion: str, given: Numeric | None, place: Place
) -> CriterionAnswers | None:
    values = as_numbers(part["cell"])
    values = values.where(values.abs() < GREATEST)
    bad = values.isna()
    if given is None and (not len(values) or bad.mean() > 0.5):
        return None
    top = cell_values.told_top(different)
    if top is not None and (values > top).mean() > cell_values.STRAYS:
        top = None  # others answer on a longer scale
    _check_thousands(different)
    scale = given or scale_of_numbers(values, top)
    names = [] if given else map(str, part["column"].unique())
    ends = {name: named for name in names if (named := _named_ends(name))}
    best = {lowest: name for name, (*_, lowest) in ends.items() if lowest is not None}
    if len(best) > 1:
        raise RecuseError(
            f"by their names, the lowest is best in {best[True]} and the highest in {best[False]}; turn the numbers of "
            "one round, and its name, or say that all are on one scale (--scale LOW-HIGH)"
        )
    if len(both := {(low, high) for low, high, _ in ends.values()}) == 1:
        low, high = both.pop()
        if (values.notna() & ~values.between(low, high)).mean() <= cell_values.STRAYS:
            scale = replace(scale, minimum=low, maximum=high, reversed=any(best))
    if given is None:
        seen = values.where(values.between(scale.minimum, scale.maximum))
        _check_no_far_code(seen, part["kind"].eq("person"))
        _check_one_scale(part, seen)
    if bad.any():
        _check_one_kind(part, bad)
        if given is None:
            _check_shared_words(part, bad)
    if given is None and _are_places(part, values):
        scale = replace(scale, minimum=1.0, maximum=float(values.max()), step=1.0, reversed=True)
    outside = values.notna() & ~values.between(scale.minimum, scale.maximum)
    done, ends_of_scale = "they count as unusable", f"{scale.minimum:g} to {scale.maximum:g}"
    wider = "" if given else f"; --scale={min(values.min(), 1):g}-{values.max():g} counts them"
    faults = faults_in("answer(s) are not numbers", part[bad], place, done)
    faults += faults_in(f"number(s) outside {ends_of_scale}", part[outside], place, done + wider)
    status = np.where(outside[bad | outside], "out_of_scale", "unparsed")
    seen = values[~(bad | outside)]
    note = f"{criterion}: {_scale_words(scale, given is not None)}"
    if len(seen) and given is None:
        note += f" (seen: {seen.min():g} to {seen.max():g})"
    numbers = values.mask(outside).to_numpy(dtype=float)
    return CriterionAnswers(scale, numbers, (bad | outside).to_numpy(), status, faults, [note])


def _named_ends(name: str) -> tuple[float, float, bool | None] | None:
    """The ends of the scale that a column's name tells, and whether the lower is best; None if untold."""
    if match := ENDS.search(name):
        return float(match[1]), float(match[2]), None
    named = sorted({float(number): spelled(word) for number, word in NAMED_ENDS.findall(name)}.items())
    if len(named) < 2:
        return None
    (low, least), (high, most) = named[0], named[-1]
    orders = [order for order in cell_values.ORDERS if {least, most} <= {*order}]
    return low, high, orders[0].index(least) > orders[0].index(most) if orders else None


def _are_places(part: pd.DataFrame, values: pd.Series[float]) -> bool:
    """Whether numbers are places in a ranking: "1st", or 1, 2, ... in a column called rank; `RecuseError` in others."""
    cell, cells = pd.factorize(part["cell"])
    written = pd.Series(cells, dtype=object).astype(str).str.strip().str.fullmatch(PLACE).to_numpy(dtype=bool)[cell]
    if bool(written.mean() > HALF):
        return True
    called = {plain(str(name)).rsplit("_", 1)[-1] for name in part["column"].unique()} & {*RANKS}
    if not called and (values == 1).sum() != (values == 2).sum():
        return False  # of the texts of every item one would be first and one second
    groups = values.groupby([pd.factorize(part[name])[0] for name in ("rater", "item", "repeat")])
    size = groups.transform("size")
    whole = (size > 1) & groups.transform("min").eq(1)
    if whole.any():  # nunique is slow
        whole &= groups.transform("max").eq(size) & groups.transform("nunique").eq(size)
    top = float(values.max())
    if not called and bool(whole.all()) and top >= TEXTS_RANKED and groups.ngroups >= RANKINGS:
        raise RecuseError(
            f"everybody gives the texts of an item 1 to {top:g}, each once, so these are places in a "
            f'ranking; say which is best: --scale "1-{top:g} lowest best" if 1 is, --scale 1-{top:g} if {top:g} is'
        )
    return bool(called and whole.mean() > cell_values.KNOWN_SHARE)


def _size(label: str) -> float:
    """Of a label that is a number, how large it is, else 0; older pandas takes 1e400 for no number."""
    with suppress(ValueError):
        return abs(float(label))
    return 0.0


def _labels(part: pd.DataFrame, criterion: str, given: Ordinal | Nominal | None, place: Place) -> CriterionAnswers:
    labels = labels_of(part["cell"])
    different = labels.drop_duplicates()
    same = {} if given else cell_values.same_verdicts(different)
    labels = labels.replace(same) if same else labels
    counts = labels.value_counts()
    if huge := [label for label in counts.index if _size(label) >= GREATEST]:  # infinite ones as well
        cell, column = part.loc[labels.isin(huge), ["cell", "column"]].iloc[0]
        raise RecuseError(f"column {column} holds {shown(cell)}, which is no rating; empty such cells")
    scale, strange = given, {*map(str, counts.index)} - {*(given.options if given else ())}
    if given and as_numbers(pd.Series(given.options)).isna().all():
        _check_one_kind(part, as_numbers(labels).isna())
    if scale is None:
        parts = different.str.extract(cell_values.OUT_OF)
        if len(bests := [*dict.fromkeys(parts[1])]) > 1 and parts[1].notna().all():  # 4/5 beside 9/10
            shares = parts[0].str.replace(",", ".").astype(float) / parts[1].astype(float)
            pairs = ",".join(f"{label}={share:.4g}" for label, share in zip(different, shares, strict=True))
            raise RecuseError(
                f'answers are out of {" and out of ".join(bests)}; if they are shares of these, say --same "{pairs}"'
            )
        # labels that a person and one more rater give, each more than once, are part of the scale that people were
        # given, while what judges alone say may be no answer at all ("unclear", "refused")
        by_rater = part.assign(label=labels).groupby(["label", "rater", "kind"], observed=True)
        times = by_rater.size().reset_index(name="n")
        often = times[times["n"] > 1]
        meant = {*often["label"][often["label"].duplicated()]} & {*often["label"][often["kind"].eq("person")]}
        scale, strange = cell_values.scale_of_labels(counts, sorted(meant))
        if isinstance(scale, Nominal):
            if len(counts) == 1:  # a tick, say, and an empty cell where there is none
                raise RecuseError(
                    f"every answer is {shown(counts.index[0])}, and nothing says what else could be answered: if empty "
                    f'cells are an answer, write it into them ("no"); if not, name all answers, --scale '
                    f'"OTHER<{counts.index[0]}"'
                )
            _check_one_kind(part, as_numbers(labels).isna())
            if len(counts) > FREE_TEXT or counts.index.str.len().max() > 200:
                raise RecuseError(
                    f"the column of ratings holds free text ({len(counts)} different answers, first "
                    f"{shown(part['cell'].iloc[0])}); name another column with --value"
                )
        _check_labels_of_people(times[times["label"].isin(scale.options)], isinstance(scale, Nominal))
    bad = labels.isin(strange)
    what = f"answer(s) are none of {', '.join(scale.options)}: {', '.join(shown(s) for s in sorted(strange)[:5])}"
    faults = faults_in(what, part[bad], place, "they count as unusable")
    note = f"{criterion}: {_scale_words(scale, given is not None)}"
    if read_as := ", ".join(f"{word} as {option}" for word, option in same.items() if word != option):
        note += f"; words that say the same count as one ({read_as})"
    kept = labels.where(~bad, None).to_numpy(dtype=object)
    return CriterionAnswers(scale, kept, bad.to_numpy(), "out_of_scale", faults, [note])


def _check_labels_of_people(times: pd.DataFrame, without_order: bool) -> None:
    """`RecuseError` for a judge who gives no label of people's, and for people's words beside an order of judges."""
    by_people = times["kind"].eq("person")
    known = {*times["label"][by_people]}
    for judge, own in times[~by_people].groupby("rater", observed=True, sort=False):
        if min(times["n"][by_people].sum(), own["n"].sum()) >= FEWEST_LABELS and known.isdisjoint(own["label"]):
            people, labels = (", ".join(map(shown, sorted(each)[:4])) for each in (known, own["label"]))
            raise RecuseError(
                f"people and {judge} give no label in common (people {people}; {judge} {labels}), and "
                f'nothing says which label of one is which of the other; say it (--same "{own["label"].min()}=WORD OF '
                'PEOPLE,..."), or leave a column out with --ignore'
            )
    judged = {*times["label"][~by_people]} if without_order else set()
    orders = sorted(cell_values.ORDERS, key=len) if not judged <= {*"abcd"} else []  # of a question, and no grades
    order = next((order for order in orders if judged <= {*order}), ())
    other = [*times["label"][by_people & ~times["label"].isin(order)].drop_duplicates()]
    if judged and order and other:
        raise RecuseError(
            f"people alone say {', '.join(map(shown, other))}; if that stands for no answer, say --scale "
            f'"{"<".join(order)}"; if it is one, --scale "{",".join((*order, *other))}" or, where these have an order, '
            '--scale "worst<...<best"'
        )


def _check_one_kind(part: pd.DataFrame, words: pd.Series[bool]) -> None:
    """A rater who gives labels beside one who gives numbers answers another question."""
    share = words.groupby(part["rater"], observed=True).mean()
    if (share > 0.9).any() and (share < 0.1).any():
        one, other = str(share.idxmin()), str(share.idxmax())
        label = shown(part.loc[part["rater"].eq(other) & words, "cell"].iloc[0])
        raise RecuseError(
            f"{one} gives numbers and {other} labels ({label}); say which number each is "
            "(--same WORD=NUMBER,...), or which passes (--same WORD=pass,WORD=fail) and from which number on "
            f"a text does ({DECIDED}), or leave one out with --ignore"
        )


def _check_one_scale(part: pd.DataFrame, values: pd.Series[float]) -> None:
    """Raters whose numbers reach to quite different ends answer on two scales, but for strict and constant ones."""
    codes, raters = pd.factorize(part["rater"])
    rated = values.groupby(codes)
    ends = rated.max()[(rated.count() >= 20) & (rated.max() > rated.min())].rename(dict(enumerate(raters)))
    if len(ends) < 2:
        return
    by_people = part["kind"].eq("person")
    people, judges = values[by_people], values[~by_people]
    if (people.notna()).sum() >= ENOUGH_OF_PEOPLE and people.nunique() >= SHIFTED:
        _check_ends(people.dropna(), judges.dropna())
    ends = ends.sort_values(kind="stable")
    (low, high), (b, a) = ends.index[[0, -1]], ends.iloc[[0, -1]]
    # people who often go up to b, and never beyond as judges often do, were given a scale that ends there; strict ones
    # reach the end of a scale too rarely to look like it
    enough = len(people) >= ENOUGH_OF_PEOPLE and len(judges) and people.max() <= b
    stop = enough and (people == b).mean() >= OFTEN and (judges > b).mean() >= OFTEN
    if a > 1.6 * b and (a - b > STRICT or stop) and scale_of_numbers(values[part["rater"] == high]).maximum > b:
        raise RecuseError(
            f"{high} gives numbers up to {a:g}, {low} only up to {b:g}; if that is one scale, say so "
            f"(--scale={scale_of_numbers(values).minimum:g}-{a:g}), otherwise bring them to one"
            f"{f', or say from which on a text passes ({DECIDED}),' if b == 1 else ''} or leave one out with --ignore"
        )


def _check_shared_words(part: pd.DataFrame, bad: pd.Series[bool]) -> None:
    """`RecuseError` for a word that people and judges often give, and for ties beside 1 and 2, which choose a text."""
    words = part["cell"][bad]
    ties = words[[len(word) > 2 and chosen(word) == "tie" for word in labels_of(words)]]
    if ties.duplicated().any() and as_numbers(part.loc[~bad, "cell"]).isin([0, 1, 2, 3]).all():
        options = ",".join([*dict.fromkeys(part.loc[~bad, "cell"]), ties.iloc[0]])
        raise RecuseError(
            f"{shown(ties.iloc[0])} stands beside numbers, which may be choices between two texts; if "
            f'they are, name what met, --first COLUMN --second COLUMN, or the options, --scale "{options}"; if not, '
            f"say which number it is (--same {as_option([ties.iloc[0]])}=NUMBER)"
        )
    often = bad.groupby(part["kind"].eq("person")).mean()
    if len(often) > 1 and often.min() >= MANY:
        word = shown(words.astype(str).mode()[0])
        raise RecuseError(
            f"people and judges often give {word}, which is no number; say which number it is (--same "
            "WORD=NUMBER,...), or, where it is no answer, the scale of the others (--scale LOW-HIGH)"
        )


def _check_thousands(cells: pd.Series[Any]) -> None:
    """`RecuseError` where 1,234 or 1.234 beside 987 may be a thousand and more, or one and a bit."""
    words = [str(cell).strip() for cell in pd.unique(cells)]
    maybe = [word for word in words if re.fullmatch(r"-?[1-9]\d{0,2}[.,]\d{3}", word)]
    rest = [word for word in words if re.fullmatch(r"-?\d+", word)]
    three = any(re.fullmatch(r"-?[1-9]\d\d", word) and word != "100" for word in rest)
    if three and maybe and len(maybe) + len(rest) == len(words):
        word = maybe[0]
        raise RecuseError(
            f"{word} stands beside {max(rest)}, and may be {re.sub('[.,]', '', word)} or "
            f"{word.replace(',', '.')}; write numbers without a separator of thousands"
        )


def _check_no_far_code(values: pd.Series[float], person: pd.Series[bool]) -> None:
    """`RecuseError` for one or two whole numbers `FAR` from all others, or one below 0: perhaps no answer."""
    marks = np.sort(values.dropna().unique())
    by_people = values[person.to_numpy()].dropna()
    below, rest = marks[marks < 0], marks[marks >= 0]
    alone = len(by_people) >= ENOUGH_OF_PEOPLE and len(rest) > 1 and by_people.min() >= 0
    if len(below) == 1 and below[0] % 1 == 0 and (alone or len(rest) > SHIFTED) and values.eq(below[0]).sum() > 1:
        raise _no_answer("somebody gives", below, rest)
    for k in range(1, cell_values.CODES + 1):
        for rest, codes in ((marks[:-k], marks[-k:]), (marks[k:], marks[:k])):
            if len(values) < cell_values.FEWEST or len(rest) < SHIFTED:
                return
            low, high = float(rest[0]), float(rest[-1])
            far = max(codes[0] - high, low - codes[-1]) > FAR * (high - low)
            if far and bool((codes % 1 == 0).all()) and values.isin(codes).sum() > 1:
                raise _no_answer("somebody gives", codes, rest)


def _no_answer(gives: str, codes: Any, rest: Any) -> RecuseError:
    usual, marks = scale_of_numbers(pd.Series([*rest], dtype=float)), [*codes, *rest]
    scale = f"{usual.minimum:g}-{usual.maximum:g}" if len(rest) > 2 else f'"{min(rest):g}<{max(rest):g}"'
    return RecuseError(
        f"{gives} {' and '.join(f'{code:g}' for code in codes)}, all others {min(rest):g} to {max(rest):g}; if that "
        f"stands for no answer, say --scale={scale}; if it is one, --scale={min(marks):g}-{max(marks):g}"
    )


def _check_ends(people: pd.Series[float], judges: pd.Series[float]) -> None:
    """`RecuseError` for 1 to 5 beside 0 to 4, and for a number of judges alone off all people's marks."""
    marks, given = sorted(people.unique()), {*judges.unique()}
    low, high = marks[0], marks[-1]
    shift = judges.min() - low
    upper, lower = (judges, people) if shift > 0 else (people, judges)
    whole = bool((people % 1 == 0).all() and (judges % 1 == 0).all())
    often = min((upper == upper.max()).mean(), (lower == lower.min()).mean()) >= SELDOM
    shifted = abs(shift) == 1 and judges.max() - high == shift and lower.min() == 0
    if len(judges) >= ENOUGH_OF_PEOPLE and whole and shifted and often:
        raise RecuseError(
            f"people give {low:g} to {high:g}, judges {judges.min():g} to {judges.max():g}, each with "
            f"both ends; if that is one scale, say --scale {lower.min():g}-{upper.max():g}; if one counts from 0, add "
            "1 to its numbers, or leave one out with --ignore"
        )
    code = min(given - {*marks}, default=low)
    below = code < min(low, 1) and (code < 0 or high <= FROM_1)
    far = below or code <= low - 2 or code >= high + 2
    if marks == [*range(int(low), int(high) + 1)] and far and 1 == len(given - {*marks}) < len(given):
        raise _no_answer("judges give", [code], marks)


def _scale_words(scale: Numeric | Ordinal | Nominal, declared: bool) -> str:
    source = ", as you said" if declared else ""
    if isinstance(scale, Numeric):
        steps = "" if scale.step is None else " in whole steps" if scale.step == 1 else f" in steps of {scale.step:g}"
        turned = ", the lowest is best" if scale.reversed else ""
        return f"numbers from {scale.minimum:g} to {scale.maximum:g}{steps}{turned}{source}"
    if isinstance(scale, Ordinal):
        return " < ".join(scale.options) + source
    order = "; if they have one, say --scale 'worst<...<best'" if len(scale.options) > 2 and not declared else ""
    return f"{', '.join(scale.options)}, without an order{source}{order}"
