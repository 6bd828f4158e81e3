"""From cells to scores and responses with a status each: what cannot be read is named, counted and kept as unusable."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.array import first_of, grouped
from recuse.ratings.pair_array import CHOICES
from recuse.ratings.scale import Numeric, Scale
from recuse.readers.column_names import as_option, plain
from recuse.readers.criterion_answers import read_criterion, verdicts_beside_scores
from recuse.readers.judgement_rows import Judgements
from recuse.readers.raw_table import Fault, faults_in, shown
from recuse.readers.values import EMPTY, STATUSES, chosen, find_sets, is_empty, labels_of, scale_from_text
from recuse.schema import RecuseError
from recuse.schema.number_text import more, rate

HALF, FEWEST, BY_CHANCE = 0.5, 5, 0.01
DEFAULTS = 3  # so many rows with one score are no chance
NO_ANSWER = {*EMPTY} - {"", "nan", "null", "missing"}  # may be answers as well: "none" of several topics
OFTEN = 0.1  # where people and judges both say it so often, it may be
BROKEN = re.compile(r"(?!no ).*?(?:error|exception|timeout|timed out|invalid|unparsed|not parsed).*", re.DOTALL)
"""How a column called status or error says that there was no answer."""
REFUSED = re.compile(r"rejected|returned|discarded|cancell?ed|skipped|expired|abandoned|draft|spam|timed[ -_]?out")
"""How a column called status says that what somebody answered was refused, taken back or only tried."""
TESTED = re.compile(r"practice|warm[ _-]?up|catch|honeypot|golden|attention[ _-]?check")  # a text to test raters
TESTS, LEFT = {"practice", "warmup", "catch", "honeypot", "attention"}, {"skipped", "cancelled", "canceled", "tainted"}
"""What a column of true and false is called that says so of a text, or that somebody left it out."""
OF_ANSWERS, OF_TEXTS = {"assignment", "submission", "annotation", "response"}, {"type", "kind", "phase"}


def read_answers(judged: Judgements) -> Judgements:
    """The rows with score, response and status, and the scale of each criterion. A person's empty cell is no judgement;
    a judge's is an unusable one, but for a criterion that nobody answered on the text (`_applies_to_nobody`)."""
    if judged.mapping.pairs:
        return _read_winners(judged)
    long = judged.rows
    _check_defaults(judged)
    _check_refused(judged)
    declared = scale_from_text(judged.mapping.scale) if judged.mapping.scale else None
    empty = is_empty(long["cell"], getattr(declared, "options", ()))
    if declared is None:
        _check_words_for_nothing(long, empty.to_numpy())
    silent, notes = _applies_to_nobody(long, empty)
    if (silent := silent | (empty & long["kind"].eq("person"))).any():
        long, empty = long[~silent], empty[~silent]
    score = np.full(len(long), np.nan)
    response = np.full(len(long), None, dtype=object)
    known = ["ok", "unparsed", "refused", "out_of_scale", "error"]
    status = np.where(empty, known.index("unparsed"), known.index("ok")).astype(np.int8)
    scales: dict[str, Scale] = {}
    faults: list[Fault] = []
    for criterion in long["criterion"].drop_duplicates():
        there = (long["criterion"].eq(criterion) & ~empty).to_numpy()
        part, places = long[there], np.flatnonzero(there)
        if part.empty:
            scales[str(criterion)] = Numeric(0, 1)
            continue
        codes, values = pd.factorize(part["cell"])  # some name a status in place of an answer: timeout, refused
        place = np.array([known.index(STATUSES.get(str(cell).strip().lower(), "ok")) for cell in values], dtype=np.int8)
        place[np.bincount(codes[part["kind"].eq("person")], minlength=len(place)) > 1] = 0  # people's answers, twice
        if (lost := place[codes] > 0).any():
            status[places[lost]] = place[codes][lost]
            part, places = part[~lost], places[~lost]
        scale = judged.mapping.scale or _order_of(part, judged.raw.orders)
        decided = judged.mapping.threshold if "decide" in judged.mapping.use else ""
        try:
            part, further = verdicts_beside_scores(part, scale, decided)
            answers = read_criterion(part, str(criterion), scale, judged.raw.place)
        except RecuseError as error:
            raise RecuseError(f"{criterion}: {error}") from error
        notes += further
        scales[str(criterion)] = answers.scale
        notes += answers.notes
        faults += answers.faults
        (score if isinstance(answers.scale, Numeric) else response)[places] = answers.values
        status[places[answers.bad]] = [*map(known.index, np.atleast_1d(answers.status))]
    rows = long.assign(
        score=score, response=response, status=pd.Categorical.from_codes(status, pd.Index(known, dtype=object))
    )
    if rows["kind"].eq("person").any():
        _check_corrections(rows, judged.mapping.people)
    return judged.noted(*notes, faults=faults, rows=rows, scales=scales)


def _check_corrections(rows: pd.DataFrame, stated: Collection[str]) -> None:
    """`RecuseError` for a person who answers a part of a judge's texts, never as it does: perhaps what was wrong."""
    ok, keys = rows["status"].eq("ok"), ["item", "target", "criterion"]
    codes, names = pd.factorize(rows["rater"][ok])
    times, kinds = dict(zip(names, np.bincount(codes), strict=True)), rows["kind"][ok].iloc[first_of(codes)]
    people, judges = ([*names[kinds.eq(kind)]] for kind in ("person", "judge"))
    partly = [(person, judge) for person in people if person not in stated for judge in judges
              if times[person] <= times[judge] - FEWEST]  # fmt: skip
    if partly:  # a million rows are copied for nobody else
        given = rows.loc[ok & rows["rater"].isin({name for pair in partly for name in pair}), ["rater", *keys]]
        answer = rows["response"].where(rows["response"].notna(), rows["score"])
        answers = dict(iter(given.assign(answer=answer).groupby("rater", sort=False, observed=True)))
    for person, judge in partly:
        theirs, own = answers[person], answers[judge]
        both = theirs.merge(own, on=keys)
        if FEWEST <= len(both) <= len(own) - FEWEST and not (both["answer_x"] == both["answer_y"]).any():
            shares = (each.value_counts(normalize=True) for each in (theirs["answer"], own["answer"]))
            alike = pd.concat(shares, axis=1).prod(axis=1, skipna=False).sum()  # by chance, of one text
            if (1 - alike) ** len(both) < BY_CHANCE:
                raise RecuseError(
                    f"{person} answers {len(both)} of {len(own)} texts, never as {judge} does: if an empty cell says "
                    f"that {judge} was right, fill it with that answer; if it says nothing, --people "
                    f"{as_option([str(person)])}"
                )


def _check_defaults(judged: Judgements) -> None:
    """`RecuseError` for a judge's answer that is always the same where a column (status, error) says it gave none."""
    frame, rows = judged.raw.frame, judged.rows[judged.rows["kind"].eq("judge")]
    for name in judged.raw.names:
        called, ignored = {*plain(name).split("_")}, judged.raw.roles.get("ignore", ())
        good, bad = called & {"parsed", "valid"}, called & {"status", "error", "exception"}
        if name in ignored or not (good or bad) or {name} & {*rows["column"]}:
            continue
        words = labels_of(frame[name]).fillna("")
        lost = words.isin(["false", "no", "0"]) if good else words.eq("true") | words.str.fullmatch(BROKEN)
        for judge, own in rows.groupby("rater", sort=False, observed=True):
            without = lost.to_numpy()[own["row"].to_numpy()]
            given = own["cell"][without & ~is_empty(own["cell"]).to_numpy()]
            if len(given) >= DEFAULTS and given.nunique() == 1 and own["cell"][~without].nunique() > 1:
                raise RecuseError(
                    f"{name} says in {len(given)} rows that {judge} gave no answer that could be read, and "
                    f"{shown(given.iloc[0])} stands in all of them: empty these cells if nobody said so; if it did, "
                    f"say --ignore {as_option([name])}"
                )


def _check_refused(judged: Judgements) -> None:
    """`RecuseError` for people's answers of which a column says that some were refused, or some texts were tests."""
    read = (*judged.raw.roles.get("ignore", ()), *judged.mapping.value)
    for name in (n for n in judged.raw.names if judged.mapping.rater and n not in read):
        called = {*plain(name).split("_")}
        flag, state = called & {*TESTS, *LEFT}, called & {"status", "state", *LEFT}
        form = re.compile("true|1|yes") if flag else REFUSED if state else TESTED
        if not (flag or state or called & OF_TEXTS):
            continue
        codes, values = judged.raw.coded(name)
        marks = [form.fullmatch(str(value).strip().lower()) is not None for value in values]
        if not any(marks):
            continue
        rows = judged.rows[judged.rows["kind"].eq("person") & ~is_empty(judged.rows["cell"])]
        marked = pd.Series(np.array(marks)[codes][rows["row"].to_numpy()], index=rows.index)
        within = marked.groupby(rows["item"], observed=True).nunique().max() > 1
        sure = within or called & {*OF_ANSWERS, *LEFT} if state else not within and marked.mean() < HALF
        if marked.any() and not marked.all() and sure:
            word = judged.raw.frame[name].iat[int(rows["row"][marked].iloc[0])]
            raise RecuseError(
                f"{name} says {shown(word)} of {int(marked.sum())} answers by people: if those do not count, take "
                f"their rows out of the file; if they do, say --ignore {as_option([name])}"
            )


def _applies_to_nobody(rows: pd.DataFrame, empty: pd.Series[bool]) -> tuple[pd.Series[bool], list[str]]:
    """Which empty cells are of a criterion that nobody answered on a text, and notes; not where judges mostly did."""
    nobody, person = pd.Series(False, index=rows.index), rows["kind"].eq("person")
    if rows["criterion"].nunique() < 2 or not (empty & ~person).any() or not person.any():
        return nobody, []
    text, criterion = pd.Series(grouped(rows["item"], rows["target"]), rows.index), rows["criterion"].astype(str)
    keys = [text, criterion]
    by_people, by_judges = ((~empty & who).groupby(keys, sort=False).transform("any") for who in (person, ~person))
    left_out = ~by_people & (~empty & person).groupby(text).transform("any")
    share = (~by_judges)[left_out & ~person].groupby(criterion, sort=False).mean()
    nobody = left_out & ~by_judges & criterion.isin(share.index[share >= HALF])
    named = rows.loc[nobody & ~person, "criterion"].unique()
    return nobody, [f"{name}: on texts where neither people nor judges answered it, it was not asked" for name in named]


def _check_words_for_nothing(rows: pd.DataFrame, empty: NDArray[np.bool_]) -> None:
    codes, values = pd.factorize(rows["cell"])
    words = np.array([str(value).strip().lower() for value in values], dtype=object)
    people = rows["kind"].eq("person").to_numpy()
    for word in sorted({*words} & NO_ANSWER) if people.any() and not people.all() else ():
        here = (words == word)[codes] & empty
        often = [float(here[people].mean()), float(here[~people].mean())]
        if min(often) >= OFTEN:
            others = [*dict.fromkeys(w for w in words.tolist() if w not in EMPTY)]
            sets = find_sets(others)
            scale = "|".join([*sets.scale.options, word]) if sets else ",".join([*others[:6], word])
            raise RecuseError(
                f"people and judges often answer {word} ({' and '.join(map(rate, often))}): if that is an answer, say "
                f'the scale with it (--scale "{scale}"); if it stands for none, without it (--scale worst<...<best or '
                "--scale LOW-HIGH)"
            )


def _order_of(rows: pd.DataFrame, orders: Mapping[str, tuple[str, ...]]) -> str:
    """The scale that the type of these rows' columns names, "poor<fair<good"; "" for none, other words, or numbers."""
    first, *others = {orders.get(str(column), ()) for column in rows["column"].unique()} or {()}
    numbers = pd.to_numeric(pd.Series(first, dtype=object), errors="coerce").notna().any()
    whole = len(first) > 1 and not (others or numbers or any({*"<,|"} & {*word} for word in first))
    return "<".join(first) if whole and rows["cell"].isin(first).all() else ""


def _read_winners(judged: Judgements) -> Judgements:
    """Which of two won, by side, letter, number or name; `RecuseError` for an unclear 0 and for several questions."""
    long, from_0 = judged.rows, judged.mapping.first.endswith("_0")
    questions = [str(criterion) for criterion in long["criterion"].unique()]
    one_pair = long.groupby(["rater", "item", "first", "second"], sort=False, observed=True) if questions[1:] else None
    if one_pair is not None and (one_pair["criterion"].nunique() > 1).any():
        mapping = judged.mapping
        others = [name for name, question in mapping.criteria.items() if question != questions[0]]
        value = "" if others else f"--value {as_option(questions[:1])} "
        remedy = f"read one at a time: {value}--ignore {as_option(others or questions[1:])}"
        if mapping.criterion and mapping.item:
            remedy = f"read each as an item of its own: --item {as_option([*mapping.item, mapping.criterion])}"
        names = f"{', '.join(map(shown, questions[:4]))}{more(questions, 4)}"
        raise RecuseError(f"{names} choose between two texts, each by another question; {remedy}")
    empty = is_empty(long["cell"])
    long = long[~(empty & long["kind"].eq("person"))]
    winner = labels_of(long["cell"]).str.replace(r"^(\d+)\.0$", r"\1", regex=True)
    first, second = (labels_of(long[side]) for side in ("first", "second"))
    codes, words = pd.factorize(winner)
    won = pd.Series(np.array([chosen(w, from_0=from_0) or None for w in words], dtype=object)[codes], winner.index)
    empty = empty[long.index]
    by_name = (winner == first) | (winner == second)
    if (by_name | won.eq("tie") | empty).all() or (won.isna() & ~empty).any():  # else "A" is a place beside a system a
        won = won.mask(winner == first, "first").mask(winner == second, "second").astype(object)
    strange = won.isna() & ~empty
    faults = faults_in("winner(s) that name neither text", long[strange], judged.raw.place, "they count as unusable")
    if strange.mean() > 0.5:
        raise RecuseError(
            "a winner is first, second or tie, A or B, 1, 2 or 3 (tie), or the name of one of the two; "
            + faults[0].sentence()
        )
    used = {str(word) for word in winner[~empty & ~strange].drop_duplicates()}
    if "0" in used and used & {"1", "2"} and not (from_0 and not used & {"2", "3"}):  # whatever the texts are called
        raise RecuseError(
            f"winners are {', '.join(sorted(used))}, and 0 may be a tie or the first of the two; say which: --same "
            "0=tie,1=first,2=second, or --same 0=first,1=second,2=tie"
        )
    counted = "0 is the first, 1 the second" if from_0 else "1 is the first, 2 the second, 3 a tie"
    notes = [f"winner: {counted}"] if used & {"0", "1", "2"} else []
    status = np.where(won.notna(), "ok", "unparsed")
    rows = long.assign(score=np.nan, response=won.where(won.notna(), None), status=status, criterion="winner")
    return judged.noted(*notes, faults=faults, rows=rows, scales={"winner": CHOICES})
