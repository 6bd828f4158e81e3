"""Binary decisions: of what a judge decides, which answers are positive, and what people or the right answers say.
What is positive is named, or chosen by one rule:

1. the option given as `positive`, in the call or as `Ratings.positive` of the criterion; or all scores from the
   threshold on, given in the call or as the one threshold of the criterion in `Ratings.thresholds`;
2. of two options for which nothing is given: the one that people give to fewer texts, since what a judge is asked to
   find is seldom the rule; the worse or the first one where both are equally common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recuse.ratings.answers import COMPARED, PLACES, Answers, against_truth, answers_of
from recuse.ratings.array import mean_of
from recuse.ratings.ratings import Ratings
from recuse.ratings.scale import Numeric, Ordinal, ResponseSets, Scale
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, total
from recuse.schema.vocabulary import RIGHT_ANSWERS


@dataclass(frozen=True, eq=False)
class BinaryDecisions:
    """`judged` (J, U): share of a judge's answers to a text that are positive; `expected` (U,): the same of the right
    answer, or of one person drawn from those who rated the text. NaN where there is no answer. `positive` names the
    positive side ("toxic", "4 or more"), `stated` says whether somebody named it."""

    answers: Answers
    positive: str
    stated: bool
    judged: Floats
    expected: Floats

    @cached_property
    def reference(self) -> Floats:
        """1 where the right answer, or most people's, is positive, 0 where it is not, (U,); NaN where people are split
        evenly or nobody answered."""
        split = ~np.isfinite(self.expected) | (self.expected == 0.5)
        return np.where(split, np.nan, (self.expected > 0.5).astype(float))

    @property
    def held_against(self) -> str:
        """Whose answers the judge's are compared with, in words."""
        if self.answers.right:
            return RIGHT_ANSWERS
        rated = self.answers.raters.max(initial=0) > 1
        return "most people" if rated else "one person for each text" if len(self.answers.people) > 1 else "one person"


def each_decided(
    ratings: Ratings, positive: str = "", threshold: float | None = None
) -> Iterator[tuple[tuple[str, ...], BinaryDecisions]]:
    """(levels, decisions) for every criterion of which it is known what is positive, and every combination of factor
    levels; choices in both orders, and with labels swapped, together. The right answers (`Ratings.truth`) stand in the
    place of people where they are known.

    Raises `RecuseError` where no criterion has the option `positive`, and where no person rated anything."""
    if positive and not any(positive in _option_names(ratings, name) for name in ratings.headline):
        known = ", ".join(dict.fromkeys(option for name in ratings.headline for option in _option_names(ratings, name)))
        raise RecuseError(f"positive = {positive!r} is none of the options; there are {known or 'numbers only'}")
    held = against_truth(ratings)
    for names, part in held.each(*COMPARED):
        name = part.criterion
        option = positive if positive in _option_names(part, name) else part.positive.get(name, "")
        thresholds = part.thresholds.get(name, ()) if threshold is None else (threshold,)
        if is_binary(part.scale, option, thresholds):
            yield names, _decided(part, held, option, thresholds)


def is_binary(scale: Scale, positive: str = "", thresholds: Sequence[float] = ()) -> bool:
    """Whether answers on a scale are a yes or no: two options, or a stated option, or one threshold. A choice between
    two texts is none: neither text is the property."""
    if isinstance(scale, Numeric):
        return len(thresholds) == 1
    single = not isinstance(scale, ResponseSets) and not set(scale.options) <= PLACES
    return single and (len(scale.options) == 2 or positive in scale.options)


def has_property(scale: Scale, positive: str = "") -> bool:
    """Whether one of the options is what texts are judged for: a stated one, one of two, or the best of several."""
    options: Sequence[str] = getattr(scale, "options", ())
    return positive in options or isinstance(scale, Ordinal) or (len(options) == 2 and not set(options) <= PLACES)


def has_several_options(scale: Scale, positive: str = "") -> bool:
    """Whether answers are three options or more, of which none is stated to be positive."""
    options = () if isinstance(scale, Numeric | ResponseSets) else scale.options
    return len(options) > 2 and not set(options) <= PLACES and not is_binary(scale, positive)


def _decided(part: Ratings, ratings: Ratings, positive: str, thresholds: Sequence[float]) -> BinaryDecisions:
    answers = answers_of(part, ratings)
    scale = part.scale
    if isinstance(scale, Numeric):
        (start,) = thresholds
        limit = float(scale.turned(start)) if scale.reversed else start
        judged, persons = (
            np.where(np.isfinite(given), given >= limit, np.nan) for given in (answers.judged, answers.rated)
        )
        name = f"{start:g} or {'less' if scale.reversed else 'more'}"
        return BinaryDecisions(answers, name, True, mean_of(judged, 2), mean_of(mean_of(persons, 2), 0))
    stated, given = positive in answers.options, total(np.nan_to_num(answers.people_shares), answers.times)
    # else the one that people give less often, or the first where they are equally common
    place = answers.options.index(positive) if stated else int(given[1] < given[0] - 1e-9)
    return BinaryDecisions(
        answers, answers.options[place], stated, answers.judge_shares[..., place], answers.people_shares[..., place]
    )


def _option_names(ratings: Ratings, criterion: str) -> tuple[str, ...]:
    return getattr(ratings.scales[criterion], "options", ())
