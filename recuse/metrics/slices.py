"""Slices: is there a system, a topic or a language on which the judge agrees with people less than elsewhere?

Whoever looks at many slices finds a worst one. So the worst is told with what looking at all of them costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.agreement_estimates import by_judge, span_of
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.answers import Answers
from recuse.schema import Distribution, Estimate, Estimates, RecuseError
from recuse.statistics.clusters import difference_of_means
from recuse.statistics.distributions import Side

__all__ = ["Simultaneous", "slices_of", "worst_slice"]

Floats = NDArray[np.float64]
Slices = dict[tuple[str, str], NDArray[np.bool_]]
FEWEST = 20
"""Texts within a slice, and outside it, below which it is not looked at: t cannot be trusted far out in its tails."""
MOST = 30
FACTS = frozenset(
    ["item", "cluster", "text", "words", "a", "b", "words_a", "words_b", "payload", "clean", "attacked", "gold"]
)
METHOD = "agreement within the slice less elsewhere, t over clusters, Bonferroni over all slices"


@dataclass(frozen=True, slots=True)
class Simultaneous:
    """The distribution of one of `looks` differences, chosen after looking at all of them: Bonferroni's correction."""

    one: Distribution
    looks: int

    @property
    def undefined(self) -> str:
        return str(getattr(self.one, "undefined", ""))

    def interval(self, level: float) -> tuple[float, float]:
        return self.one.interval(1 - (1 - level) / self.looks)

    def p_value(self, limit: float, side: Side) -> float:
        return min(1.0, self.looks * self.one.p_value(limit, side))

    def half_width_at(self, factor: float) -> float | None:
        return self.one.half_width_at(factor)


@measure(
    "worst_slice", "agreement on its worst slice", signed=True, rank=380, bad="below",
    below="agrees with people less on one slice than elsewhere|agree with people less on one slice than elsewhere",
    reading="Agreement with people on the slice where it is lowest, less agreement elsewhere; the interval allows for "
    "having looked at every slice.",
)  # fmt: skip
def worst_slice(ratings: Ratings, columns: tuple[str, ...] | None = None) -> Estimates:
    """Smallest difference, over slices, between agreement within and outside the slice, by judge and factor level.

    Agreement of a text is the share of people that give the judge's answer; of numbers, 1 less the mean absolute
    difference as a share of the scale's range. Slices are the levels of `columns` of `ratings.texts` (and `target`),
    by default of all columns with up to 30 levels; one with fewer than 20 texts within or outside is not looked at. The
    slice shown is the one with the smallest corrected p-value, and the interval is Bonferroni's over all of them: on
    random slices, 95 % of tables show one that holds 0 or more. Detail: `slice`, and `slices` with agreement, n and
    corrected p. Undefined where there is nothing to look at.

    Raises `RecuseError` for a column that the texts do not have.

    >>> from recuse.metrics.agreement_example import said
    >>> worst_slice(said(judge="pf" * 50, ann="pf" * 50)).of(judge="judge").note
    'undefined: the texts have no column to slice by, such as system, topic or language'
    """

    def compute(answers: Answers, judge: int) -> Estimate:
        part = answers.part
        assert part is not None
        return _worst(answers, judge, *part.remember(("slices", columns), lambda: slices_of(answers, columns)))

    return by_judge(ratings, compute)


def slices_of(answers: Answers, columns: tuple[str, ...] | None = None) -> tuple[Slices, int]:
    """(column, level) -> which texts, (U,), and how many columns were looked at."""
    import pandas as pd

    index = pd.MultiIndex.from_arrays([np.asarray(answers.items, object), np.asarray(answers.targets, object)])
    facts = pd.DataFrame({"target": answers.targets}, index=index)
    known = None if answers.part is None else answers.part.texts
    if known is not None:
        texts = known.assign(item=known["item"].astype(str))
        keys = ["item", "target"] if "target" in texts else ["item"]
        texts = texts.drop_duplicates(keys).assign(**{name: texts[name].astype(str) for name in keys}).set_index(keys)
        wanted = index if len(keys) == 2 else index.get_level_values(0)
        for name in texts.columns:
            if name not in FACTS or name in (columns or ()):
                facts[str(name)] = texts[name].reindex(wanted).to_numpy()
    if unknown := [name for name in columns or () if name not in facts]:
        raise RecuseError(
            f"the texts have no column {', '.join(unknown)} to slice by; they have {', '.join(map(str, facts))}"
        )
    found: Slices = {}
    looked = [name for name in (columns or facts.columns) if 1 < facts[name].nunique() <= MOST]
    for name in looked:
        for level in facts[name].dropna().unique():
            found[(str(name), str(level))] = (facts[name] == level).to_numpy()
    return found, len(looked)


def _worst(answers: Answers, judge: int, slices: Slices, columns: int) -> Estimate:
    agreement = _agreement(answers, judge)
    there = np.isfinite(agreement)
    facts: dict[str, Any] = {"n": int(there.sum()), "method": METHOD, "over": answers.over,
                             "clusters": answers.clusters_called}  # fmt: skip
    looked = {}
    for name, members in slices.items():
        within, outside = members & there, ~members & there
        if min(within.sum(), outside.sum()) >= FEWEST:
            looked[name] = (within, difference_of_means(np.nan_to_num(agreement), within, outside, answers.clusters))
    if not looked:
        why = (
            f"no slice has {FEWEST} texts rated by both, within and outside"
            if columns else "the texts have no column to slice by, such as system, topic or language"
        )  # fmt: skip
        return undefined("worst_slice", why, **facts)
    laws = {name: Simultaneous(law, len(looked)) for name, (_, law) in looked.items()}
    p = {name: 1.0 if law.undefined else law.p_value(0.0, "below") for name, law in laws.items()}
    worst = min(looked, key=lambda name: (p[name], looked[name][1].value))
    listed = [
        {"column": name[0], "level": name[1], "n": int(within.sum()),
         "agreement": number(float(agreement[within].mean())), "difference": number(law.value),
         "p": float(f"{p[name]:.6g}")}
        for name, (within, law) in sorted(looked.items(), key=lambda entry: p[entry[0]])
    ]  # fmt: skip
    detail = {"slice": {"column": worst[0], "level": worst[1]}, "looks": len(looked), "slices": listed}
    note = "" if p[worst] < 0.05 else f"none of {len(looked)} slices stands out"
    return estimated("worst_slice", looked[worst][1].value, laws[worst], detail=detail, note=note, **facts)


def _agreement(answers: Answers, judge: int) -> Floats:
    """Per text how far the judge agrees with people, from 0 to 1; NaN where either is missing."""
    if answers.options:
        mine, people = answers.judge_shares[judge], answers.people_shares
        found: Floats = (mine * people).sum(axis=1)
    else:
        apart = np.abs(answers.judge_means[judge] - answers.people_mean)
        found = 1 - apart / max(span_of(answers), 1e-12)
    return found
