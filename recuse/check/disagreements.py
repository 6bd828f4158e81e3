"""The cases worth reading, where judges and people differ (the right answers, where these are known), with an empty
column for your verdict, of which kinds they are, and on which slices they are more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import multimode
from typing import Any

import numpy as np
import pandas as pd

from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED, answers_against_truth
from recuse.ratings.array import grouped
from recuse.ratings.scale import Numeric, Ordinal
from recuse.ratings.text_slices import FEWEST, slices_of
from recuse.readers.file_ratings import FilePanel
from recuse.readers.filled_lists import RIGHT, YOURS, beginning_of, is_review
from recuse.readers.formats import read_path, whole_texts
from recuse.schema.arrays import Mask
from recuse.schema.number_text import counted, fixed
from recuse.schema.vocabulary import RIGHT_ANSWERS
from recuse.security.files import write_table
from recuse.security.sanitize import safe_cell

NO_KEYS = ("people", RIGHT, "answer", "kind", "difference", "text", "reason", YOURS)
SHOWN, EXAMPLES = 4, 3  # kinds of disagreement, and items of each
SURE = 0.05  # chance that a slice is named in a file in which none matters


def disagreements(read: FilePanel) -> pd.DataFrame:
    """One row per judge and text on which it and people, or the right answer where known, differ, the widest first:
    both answers, of which kind and by how much, and text and reason where the file has them."""
    ratings = read.ratings
    keys = ["item", "target", "criterion", *ratings.factors]
    rows, people, answers = _differing(ratings, keys)
    named = ratings.table[["rater", *keys]].iloc[rows["place"]].reset_index(drop=True)
    rows = pd.concat([named, rows.drop(columns=["place", "call", "rater", "number"]).reset_index(drop=True)], axis=1)
    rows = rows.sort_values(["difference", "rater", "item"], ascending=[False, True, True], kind="stable")
    given: dict[tuple[int, bool], list[str]] = {}  # by text and whether it is right, in alphabetical order
    ordered = people.sort_values("answer", kind="stable")[["text_", "right", "answer"]]
    for place, right, code in ordered.itertuples(index=False):
        given.setdefault((place, right), []).append(str(answers[code]))
    for name, right in (("people", False), (RIGHT, True)):
        rows[name] = [", ".join(given.get((place, right), ())) for place in rows["text_"]]
    rows = rows.assign(answer=answers[rows["answer"]])
    each = zip(rows["scored"], rows["above"], rows["answer"], rows["text_"], rows["right"], strict=True)
    rows["kind"] = [
        f"{'above' if above else 'below'} {'the right answer' if right else 'people'}" if numbers else
        f"{own} where {'the right answer is' if right else 'people say'} {' or '.join(multimode(given[place, right]))}"
        for numbers, above, own, place, right in each
    ]  # fmt: skip
    known = [RIGHT] if people["right"].any() else []
    out = rows[["rater", *keys, *known, "people", "answer", "kind", "difference"]].rename(columns={"rater": "judge"})
    for role in ("text", "reason"):
        if column := getattr(read.mapping, role):
            cells = read.cells_of(column, pd.MultiIndex.from_frame(out[["item", "target"]]))
            out[role] = whole_texts(read.path, cells)
    out[YOURS] = ""
    return out.reset_index(drop=True)


def count_disagreements(ratings: Ratings) -> tuple[int, int]:
    """How many there are, and in how many of them scores lie half of the scale's range apart or more."""
    few = ratings.folded()
    rows = _differing(few, ["item", "target", "criterion", *few.factors])[0]
    texts = few.table[["item", "criterion"]].iloc[rows["place"]].astype(str)
    times = np.ones(len(rows), dtype=int) if few.times is None else texts["item"].map(few.times).to_numpy()
    halves = texts["criterion"].map({name: scale.span / 2 for name, scale in few.scales.items() if scale.counts})
    far = rows["scored"].to_numpy() & (rows["difference"].to_numpy() >= halves.to_numpy(dtype=float))
    return int(times.sum()), int(times[far].sum())


def counts_in_words(ratings: Ratings) -> str:
    """ "141 disagreements with people, 5 of them by half the scale or more"; empty where there are none."""
    every, far = count_disagreements(ratings)
    whom = RIGHT_ANSWERS if ratings.truth else "people"
    by = f", {far} of them by half the scale or more" if 0 < far < every else ""
    return f"{counted(every, 'disagreement')} with {whom}{by}" if every else ""


def _differing(ratings: Ratings, keys: list[str]) -> tuple[pd.DataFrame, pd.DataFrame, pd.Index[Any]]:
    """The judges' answers that differ from people's, or from the `right` ones, where these are known of a criterion:
    `place` in the table, `text_`, `answer`, `difference`, whether it is a score (`scored`) and lies `above` their mean;
    people's with `text_`, `answer` and whether it is the `right` one; and the answers that the codes stand for. Rows of
    one text and criterion share `text_`. A score differs by more than half a step; an option, where it is not people's
    commonest, and where several are, none that one of them gave."""
    place = np.flatnonzero(ratings.table["status"] == "ok")
    usable = ratings.table[["kind", "criterion", "score", "response"]].iloc[place]
    number, scored = np.full(len(usable), np.nan), np.zeros(len(usable), dtype=bool)
    for name, scale in ratings.scales.items():
        of_criterion = (usable["criterion"] == name).to_numpy()
        if isinstance(scale, Numeric | Ordinal):
            number[of_criterion] = scale.numbers(usable["score"][of_criterion], usable["response"][of_criterion])
            scored |= of_criterion & isinstance(scale, Numeric)
    score, scores = pd.factorize(usable["score"])
    shown = np.array([*(f"{value:g}" for value in scores), ""], dtype=object)[score]  # the last one for NaN
    responses = usable["response"].astype(object)
    answer, answers = pd.factorize(responses.where(responses.notna(), shown), sort=True)
    kind, rater = usable["kind"].to_numpy(), ratings.coded("rater")[1][place]
    codes = {key: ratings.coded(key)[1][place] for key in keys}
    call = grouped(rater, *codes.values())
    varied = {key for key in ratings.factors if not {*codes[key][kind == "person"]} & {*codes[key][kind == "judge"]}}
    text = grouped(*(codes[key] for key in keys if key not in varied))  # people were never asked so
    right = np.array([name == ratings.truth for name in ratings.coded("rater")[0]])[rater] & (kind == "person")
    criterion = usable["criterion"].to_numpy()
    columns = {"place": place, "text_": text, "call": call, "rater": rater, "answer": answer, "number": number}
    rows, known = pd.DataFrame(columns | {"scored": scored, "right": right}), np.isin(criterion, criterion[right])
    people, judges = rows[kind == "person"], rows.assign(right=known)[kind == "judge"]
    against = rows[(kind == "person") & (right | ~known)]
    counts = against.groupby(["text_", "answer"]).size().rename("times").reset_index()
    common = counts["times"].eq(counts.groupby("text_")["times"].transform("max"))
    several = counts["text_"].isin(counts["text_"][common][counts["text_"][common].duplicated()])
    mean = against.groupby("text_")["number"].mean()
    pairs = judges[judges["text_"].isin(mean.index)].drop_duplicates("call")
    own, theirs = (some["text_"] * len(answers) + some["answer"] for some in (pairs, counts[common | several]))
    by = (pairs["number"] - pairs["text_"].map(mean)).abs()
    above = pairs["number"] > pairs["text_"].map(mean)
    pairs = pairs.assign(difference=by.where(by.notna(), 1.0).round(6), above=above)
    steps = [scale.step for scale in ratings.scales.values() if isinstance(scale, Numeric) and scale.step]
    differing = np.where(pairs["scored"], pairs["difference"] > 0.5 * min(steps, default=0.0), ~own.isin(theirs))
    return pairs[differing], people, pd.Index(answers)


def write_disagreements(panel: FilePanel, path: Path) -> list[str]:
    """Write them as CSV and say how many there are, and of which kinds. No cell begins a formula, whoever opens it.
    What a file of that name says under your_verdict is kept: cases that are none any more stand at the end."""
    rows = disagreements(panel)
    table = rows.map(lambda cell: safe_cell(cell)).rename(columns=lambda name: safe_cell(str(name)))
    if is_review(beginning_of(path)):
        before = read_path(path).frame
        key = [name for name in table.columns if name not in NO_KEYS and name in before.columns]
        decided = before[before[YOURS].astype(str).str.strip() != ""].drop_duplicates(key)
        places, known = (list(some[key].itertuples(index=False, name=None)) for some in (table, decided))
        verdicts = dict(zip(known, decided[YOURS], strict=True))
        table[YOURS] = [verdicts.get(place, "") for place in places]
        gone = decided[[place not in set(places) for place in known]]
        table = pd.concat([table, gone.reindex(columns=table.columns, fill_value="")]) if len(gone) else table
    write_table(path, table.columns, table.itertuples(index=False, name=None), is_review)
    return [f"{counted(len(rows), 'disagreement')}: {path}; fill in your_verdict", *kinds_of_disagreement(panel)]


# --------------------------------------------------------------------------- disagreements by kind
# A slice (system, topic, language) is named where a judge disagrees in this way more often on it than elsewhere, by
# Fisher's exact test on the texts that judge and people both answered, one-sided, Bonferroni over all slices and kinds
# of a judge: where no slice matters, one is named in at most one file of 20.


def kinds_of_disagreement(read: FilePanel) -> Iterator[str]:
    """Per judge a line, then one per kind, the commonest first: how many, on which slice, and the first items."""
    ratings, rows = read.ratings, disagreements(read)
    for judge in ratings.judges:
        for names, part in ratings.each(*COMPARED):
            answers = answers_against_truth(part, ratings)
            if judge not in answers.judges:
                continue
            k = answers.judges.index(judge)
            both = np.isfinite(answers.judged[k]).any(axis=1) & (answers.raters > 0)
            differing = rows[rows["judge"].eq(judge) & rows["criterion"].eq(part.criterion)]
            for name, level in zip(ratings.within(*COMPARED), names, strict=True):
                differing = differing[differing[name].eq(level)]
            kinds = differing["kind"].value_counts()
            if kinds.empty:
                continue
            where = ", ".join((judge, *names))
            of = "with a right answer" if answers.right else "that people rated"
            yield f"{where} disagrees on {len(differing)} of {counted(int(both.sum()), 'text')} {of}:"
            texts = {text: u for u, text in enumerate(zip(answers.items, answers.targets, strict=True))}
            slices = {name: there for name, there in slices_of(answers)[0].items()
                      if min((there & both).sum(), (~there & both).sum()) >= FEWEST}  # fmt: skip
            for kind, count in zip(map(str, kinds.index[:SHOWN]), kinds, strict=False):
                of_kind = differing[differing["kind"].eq(kind)]
                hit = np.zeros(len(both), dtype=bool)
                places = zip(of_kind["item"].astype(str), of_kind["target"].astype(str), strict=True)
                hit[[texts[text] for text in places if text in texts]] = True
                each = ((_p_value(hit, there, both), name) for name, there in slices.items())
                p, (column, level) = min(each, default=(1.0, ("", "")))
                line = f"  {count} {kind} (such as {', '.join(of_kind['item'].astype(str).head(EXAMPLES))})"
                if slices and p * len(slices) * len(kinds) < SURE:
                    there = slices[column, level]
                    inside, outside = (float(hit[side & both].mean()) for side in (there, ~there))
                    called = "system" if column == "target" else column
                    line += f"; on {called} {level} {fixed(inside)} of the texts, elsewhere {fixed(outside)}"
                yield line
            if len(kinds) > SHOWN:
                yield f"  and {len(kinds) - SHOWN} kinds more, in the column kind"


def _p_value(hit: Mask, there: Mask, both: Mask) -> float:
    from scipy.stats import fisher_exact  # heavier than all else of a check, and used here alone

    table = [[(hit & side & both).sum(), (~hit & side & both).sum()] for side in (there, ~there)]
    return float(fisher_exact(np.array(table), alternative="greater").pvalue)
