"""What a question may ask for and ratings may offer: one vocabulary, with what would unlock each need, and which needs
ratings meet: worked out by one function, from ratings that are there or from the plan of them."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from recuse.ratings import Nominal, Ordinal, Ratings, Scale
from recuse.ratings.array import first_of, grouped
from recuse.ratings.scale import PLACE, TRUE, has_property, has_several_options, is_binary
from recuse.ratings.text_slices import have_slices
from recuse.schema import RecuseError
from recuse.schema.factors import DIRECTION, LEVELS, ORDER, TEMPERATURE, VERSION, WORDING, levels_in
from recuse.schema.number_text import more


class Need(NamedTuple):
    """`means`: what is there when it is offered; `unlock`: what to add when it is not; `column`: the same of a file of
    ratings, "" where no column unlocks it."""

    means: str
    unlock: str
    column: str = ""


CANDIDATE = "candidate"
FEWEST = 20  # items two people rated below which nothing is said of their agreement (`metrics.agreement_estimates`)
_WORDS = tomllib.loads(Path(__file__).with_name("needs.toml").read_text(encoding="utf-8"))
KINDS: Mapping[str, Need] = {name: Need(**words) for name, words in _WORDS["kinds"].items()}
"""What a protocol's rows are (`OFFERS` of its module). A team's protocol may offer a kind of its own."""
NEEDS: Mapping[str, Need] = {**KINDS, **{name: Need(**words) for name, words in _WORDS["others"].items()}}
"""Everything that a question may ask for: a kind of rows, or something that they have."""
KINDS_OF_A_FILE = {"scores", "choices", "forced_choices", "response_sets"}
NOT_OF_A_FILE = frozenset({*KINDS, "parts", "direction", "names", "labels", "families"} - KINDS_OF_A_FILE)
"""Needs that a table of ratings seldom has: judges must be asked in another way."""


def check_needs(needs: Iterable[str], place: str, known: Iterable[str] = ()) -> None:
    """`RecuseError` for a need that nothing can offer, naming the place and the known ones."""
    there = {*NEEDS, *known}
    if unknown := [name for name in needs if name not in there]:
        raise RecuseError(f"{place}: nothing offers {', '.join(map(repr, unknown))}; known: {', '.join(sorted(there))}")


def check_for_judges(ratings: Ratings, place: object) -> None:
    """`RecuseError` naming the place, where nobody among the raters is a judge."""
    if not ratings.judges:
        people, rest = ", ".join(ratings.persons[:8]), more(ratings.persons, 8)
        people = f"only people ({people}{rest})" if people else "and no person"
        raise RecuseError(f"{place}: no judge was found in it, {people}; say who is one: --judge A,B")


def kind_of(needs: Sequence[str]) -> str:
    """Which ratings a question is about: the first kind that it names, or plain scores."""
    return next((name for name in needs if name in KINDS or name not in NEEDS), "scores")


def unlock(need: str) -> str:
    """What to add, in words."""
    return NEEDS[need].unlock if need in NEEDS else f"ask by a protocol that offers {need}"


def unlock_by_column(need: str) -> str:
    """What column of a file would unlock a need; where none does, what would unlock it in a panel."""
    return (NEEDS[need].column if need in NEEDS else "") or unlock(need)


def offers_of(ratings: Ratings, kind: str = "") -> frozenset[str]:
    """The needs that a table meets, wherever it comes from.

    `kind` is what its rows are; unless given, choices where the texts say which two meet, and scores otherwise. Scores
    that are options are forced choices as well, and response sets answer whatever these do. Whether scores can be
    averaged is asked of all headline criteria."""
    known = {} if ratings.texts is None else {str(name): ratings.texts[name] for name in ratings.texts}
    kind = kind or ("choices" if {"a", "b"} <= set(known) else "scores")
    judgement, few = ["rater", "item", "target", "criterion", *ratings.factors], ratings.folded()
    judging, by_people = (np.flatnonzero(few.having("kind", kind)) for kind in ("judge", "person"))
    codes = [few.coded(name)[1] for name in judgement]
    rater, item, target, *_ = (of[judging] for of in codes)
    text = grouped(item, target)
    first = first_of(text)
    persons = pd.DataFrame({name: of[by_people] for name, of in zip(judgement, codes, strict=True)})
    if few.times is not None:
        persons["times"] = few.table["item"].iloc[by_people].astype(str).map(dict(few.times)).to_numpy()
    varied = ratings.table[list(ratings.factors)][ratings.having("kind", "judge")] if ratings.persons else None
    return offered(
        kind=kind,
        judges=ratings.judges,
        about=ratings.judges,
        wrote=ratings.own(),
        families=ratings.families,
        texts=pd.DataFrame({"item": item[first], "target": target[first]}),
        targets=ratings.targets,
        written={*ratings.targets, *known.get("a", ()), *known.get("b", ())},
        levels={name: ratings.levels(name) if varied is None else levels_in(varied, name) for name in ratings.factors},
        scales=[
            (ratings.scales[name], ratings.positive.get(name, ""), ratings.thresholds.get(name, ()))
            for name in ratings.headline
        ],
        facts=known,
        flawed=zip(known["item"], known["flawed"], strict=True) if "flawed" in known else (),
        persons=persons if ratings.persons else None,
        truth=bool(ratings.truth),
        counted=few.times is not None,
        needs={
            "repeats": bool(np.bincount(grouped(*(of[judging] for of in codes))).max(initial=0) > 1),
            "shared_texts": bool(grouped(text, rater).max(initial=-1) > text.max(initial=-1)),
            "people": bool(ratings.persons) or ratings.people is not None,
            "parts": bool(ratings.parts),
            "tiers": len(ratings.tiers) > 1,
            "slices": have_slices(ratings),
            "ranking": PLACE in ratings.criteria,
            "right_scores": bool(counted_criteria(ratings)),
            "held_out_payloads": ratings.payloads is not None and bool(ratings.payloads["held_out"].any()),
            "reference": ratings.reference is not None,
        },
        beside=frozenset(name for name in KINDS if name != kind and ratings.beside(name) is not None),
    )


def offered(
    *,
    kind: str,
    judges: Collection[str],
    about: Collection[str],  # the judges that conclusions are wanted on
    wrote: Mapping[str, str],  # judge -> the target that is its own
    families: Mapping[str, str],  # judge -> the family of its model
    texts: pd.DataFrame,  # columns item, target: each text once
    targets: Collection[str],
    written: Collection[str],  # targets, and those that meet in pairs
    levels: Mapping[str, Sequence[str]],  # factor, as the ratings table calls it -> its levels
    scales: Sequence[tuple[Scale, str, Sequence[float]]],  # of headline criteria, with positive option and thresholds
    facts: Collection[str],  # names of what is known of texts, such as "words"
    flawed: Iterable[tuple[str, object]],  # (item, whether it is known to be flawed) of each text
    persons: pd.DataFrame | None,  # single ratings by people: rater, item, and target if there are several
    truth: bool,  # whether right answers are known
    counted: bool = False,  # whether an item stands for several
    needs: Mapping[str, bool],  # needs of which it is known at once
    beside: frozenset[str],  # kinds of rows that are there as well
) -> frozenset[str]:
    """Everything in `NEEDS` that ratings have of which this is known, before or after they are made."""
    flawed = {*flawed}
    scored = kind == "scores"
    has_options = bool(scales) and all(isinstance(scale, Nominal | Ordinal) for scale, _, _ in scales)
    sets = kind == "response_sets"  # two raters may name one set; and a set says more than a choice
    offers = {
        "scores": sets,
        "forced_choices": sets or (scored and has_options),
        "worded_scores": scored and all(len(levels.get(factor, ())) > 1 for factor in (WORDING, DIRECTION)),
        kind: True,
        "versions": len(levels.get(VERSION, ())) > 1,
        "peers": len(judges) > 1,
        "three_judges": len(judges) > 2,
        "authors": any(wrote.get(judge) in written for judge in about),
        "families": any(
            wrote.get(other) in written
            for judge in about
            for other in judges
            if judge != other and families.get(judge, judge) == families.get(other, other)
        ),
        "items": counted or (len(texts) > 0 and int(texts["target"].value_counts().max()) > 1),
        "common_items": bool(texts["item"].duplicated().any()),
        "several_targets": len(targets) > 2,
        "neutral_texts": has_neutral_texts(judges, targets, wrote),
        "lengths": "words" in facts or {"words_a", "words_b"} <= set(facts),
        "people_items": persons is not None,
        "two_people": persons is not None
        and bool(persons[["item", "rater"]].drop_duplicates()["item"].duplicated().any()),
        "expert": truth or (persons is not None and _has_one_person_each(persons)),
        "positive": any(is_binary(*scale) for scale in scales),
        "property": any(has_property(scale, positive) for scale, positive, _ in scales),
        "several_options": any(has_several_options(scale, positive) for scale, positive, _ in scales),
        "twins": any((item, "no") in flawed for item, known in flawed if known == "yes"),
        "groups": needs["slices"] or len(targets) > 2,
        "right_answer": "gold" in facts,
        "numbers": all(scale.counts for scale, _, _ in scales),
        **{factor: len(levels.get(factor, ())) > 1 for factor in (*LEVELS, TEMPERATURE)},
        **needs,
        ORDER: ORDER in levels,  # known, if only of one: which one follows from the names of the two
    }
    return frozenset(name for name, there in offers.items() if there) | beside


def counted_criteria(ratings: Ratings) -> tuple[str, ...]:
    """The criteria of which some text's right score is known, in their order."""
    texts = pd.DataFrame() if ratings.texts is None else ratings.texts
    return tuple(name for name in ratings.criteria if TRUE + name in texts and texts[TRUE + name].notna().any())


def has_neutral_texts(judges: Iterable[str], targets: Iterable[str], authors: Mapping[str, str]) -> bool:
    """Whether some judge that wrote a target shares with a peer a target that neither of the two wrote."""
    judges, targets = list(judges), set(targets)
    pairs = ((judge, peer) for judge in judges if authors.get(judge) in targets for peer in judges if peer != judge)
    return any(targets - {authors[judge], authors.get(peer)} for judge, peer in pairs)


def _has_one_person_each(persons: pd.DataFrame) -> bool:
    """Whether people rated texts, and too few of them twice (`FEWEST`, and less than half) for their agreement to be
    known: rows with the columns rater, item and target, if there are several, and `times` where items are counted."""
    text = ["item", "target"] if "target" in persons else ["item"]
    raters = persons.drop_duplicates([*text, "rater"])
    once, again = raters.drop_duplicates(text), raters[raters.duplicated(text)].drop_duplicates(text)
    texts, twice = (part["times"].sum() if "times" in part else len(part) for part in (once, again))
    return bool(texts) and twice < FEWEST and 2 * twice < texts
