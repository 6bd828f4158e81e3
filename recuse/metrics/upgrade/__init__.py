"""A judge against the one that it would replace, on the same texts: what the upgrade changes, component by component.

    upgrade = Upgrade.within(ratings, incumbent="today", candidate="next")
    changes = measure_upgrade(upgrade)          # component -> Estimates, the candidate's less the incumbent's

Texts differ more from each other than judges do, so the two are compared text by text and the texts' own differences
cancel. Means do not suffice: a judge that turns the order of texts around, one that answers at random around the mean
and one that leaves out what it finds hard all keep the mean. `recuse.gates.upgrade_verdict` decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from recuse.metrics import consensus, presentation, self_preference
from recuse.metrics.estimates import estimated, undefined
from recuse.metrics.injection import injection_success
from recuse.metrics.measure import describe
from recuse.metrics.upgrade import against_people, scores
from recuse.metrics.upgrade.change import Pair
from recuse.metrics.upgrade.pairing import CHANGES, SETTINGS, Upgrade
from recuse.ratings import Ratings
from recuse.ratings.pair_array import CHOICES
from recuse.schema import Distribution, Estimate, Estimates, RecuseError, members, number
from recuse.schema.factors import ORDER
from recuse.schema.number_text import why_missing
from recuse.statistics.agreement.coefficient import Difference, Known
from recuse.statistics.distributions import Folded, Student

__all__ = ["CHANGES", "COMPONENTS", "SETTINGS", "Pair", "Upgrade", "measure_pair", "measure_upgrade"]

AtLevels = tuple[dict[str, str], Estimate]  # an estimate of the candidate, and at which level of each factor
Component = Callable[[Pair], Estimate | None]
WITH_PEOPLE: tuple[Component, ...] = (
    against_people.agreement_with_people, against_people.worst_slice_agreement, against_people.offset,
    against_people.order_of_people, against_people.errors, scores.noise, scores.losses,
    against_people.worst_slice_offset,
)  # fmt: skip
AGAINST_INCUMBENT: tuple[Component, ...] = (  # nobody rated the texts: what differs can be seen, not who is right
    scores.shift, scores.order, scores.decisions_flipped, scores.noise, scores.losses, against_people.worst_slice_shift,
)  # fmt: skip
WITH_RIGHT_ANSWERS: tuple[Component, ...] = (
    scores.shift, scores.noise, scores.losses, against_people.worst_slice_shift,
)  # fmt: skip
"""Where it is known which response is right, that decides instead of the incumbent's order and decisions."""
COMPONENTS = (  # every component; each is a gate of the same name
    "upgrade_agreement", "upgrade_slice_agreement", "upgrade_right_answers", "upgrade_human_offset",
    "upgrade_human_order", "upgrade_human_decisions", "upgrade_shift", "upgrade_order", "upgrade_order_once",
    "upgrade_flips", "upgrade_noise", "upgrade_losses", "upgrade_slice_offset", "upgrade_slice_shift",
    "upgrade_self_preference", "upgrade_position", "upgrade_length", "upgrade_injection", "upgrade_cost",
    "upgrade_latency",
)  # fmt: skip
METHOD = "ratio of means per call as recorded, less 1"
ASKED = {
    "upgrade_cost": (
        ("dollars", "tokens", "the file's unit"),
        "neither tokens nor dollars of both judges were recorded",
    ),
    "upgrade_latency": (("seconds",), "no recording says how long a call took"),
}
METHOD_BIASES = "difference of two estimates, each in its own line-up (Zou and Donner)"
SMALLEST = (1.645 + 0.842) / 1.96  # what 80 % power at 5 % one-sided finds, in half-widths of the 95 % interval

describe(
    "upgrade_cost", "cost per call", unit="share", signed=True, rank=50, ends=(-1, math.inf), above="costs more",
    reading="Dollars per call by the panel's prices, or tokens per call where no price is known, or a file's column "
    "`cost`; the candidate's over the incumbent's, less 1.",
)  # fmt: skip
describe(
    "upgrade_latency", "time per call", unit="share", signed=True, rank=52, ends=(-1, math.inf), above="takes longer",
    reading="Seconds per call as recorded, the candidate's over the incumbent's, less 1.",
)  # fmt: skip
describe(
    "upgrade_self_preference", "preference for its own text", signed=True, rank=30, above="promotes its own text more",
    reading="Self-preference of the candidate less that of the incumbent; an incumbent that wrote none of the texts "
    "has none.",
)  # fmt: skip
describe(
    "upgrade_position", "preference for a place", unit="share", signed=True, rank=32,
    above="follows the place of a text more",
    reading="How far from one half the first place wins, whichever way, the candidate's less the incumbent's.",
)  # fmt: skip
describe(
    "upgrade_length", "preference for a length", signed=True, rank=34, above="goes by length more",
    reading="Size of the effect of length, whichever way, the candidate's less the incumbent's.",
)  # fmt: skip
describe(
    "upgrade_injection", "obeys injected instructions", unit="share", signed=True, rank=36,
    above="obeys the texts it judges more",
    reading="Share of attacks that succeed, the candidate's less the incumbent's.",
)  # fmt: skip


def measure_pair(pair: Pair, *, truth: bool = False) -> list[Estimate]:
    """The components of one criterion under one combination of factor levels: all of them for what stands for the
    judgement as a whole, the level alone for a part of it. People, where any rated the texts, are the measure;
    otherwise the judge in use is. `truth`: right answers are known, and measured of the upgrade as a whole."""
    rated = bool(np.isfinite(pair.answers.rated).any())
    wanted = WITH_PEOPLE if rated else WITH_RIGHT_ANSWERS if truth else AGAINST_INCUMBENT
    if not pair.headline:
        wanted = (against_people.offset,) if rated else (scores.shift,)
    measured = [estimate for component in wanted if (estimate := component(pair)) is not None]
    return [replace(estimate, detail={**estimate.detail, **pair.answers.held}) for estimate in measured]


def measure_upgrade(upgrade: Upgrade) -> list[tuple[str, Estimates]]:
    """(component, its estimates by judge, the candidate, factor levels and criterion), only what the ratings offer. A
    component comes twice where it is measured by other names of levels, as on another protocol's ratings.

    Nothing is measured of judges that are not comparable (`upgrade.not_comparable`): see there first."""
    right, by = scores.right_answers(upgrade), upgrade.by()
    measured = ((pair, one) for pair in upgrade.pairs() for one in measure_pair(pair, truth=bool(right)))
    of_pairs = ((dict(zip(by, pair.names, strict=True)), estimate) for pair, estimate in measured)
    parts: dict[tuple[str, tuple[str, ...]], dict[tuple[str, ...], Estimate]] = {}
    for levels, estimate in chain(of_pairs, right, biases(upgrade), costs(upgrade)):
        parts.setdefault((estimate.metric, (*levels,)), {})[upgrade.candidate, *levels.values()] = estimate
    ordered = sorted(parts.items(), key=lambda part: COMPONENTS.index(part[0][0]))
    return [(component, Estimates(("judge", *names), estimates)) for (component, names), estimates in ordered]


def costs(upgrade: Upgrade) -> Iterator[AtLevels]:
    """Cost and time per call: ratio - 1, a plain value of what was recorded, without an interval: nothing is
    sampled. The first unit that is known of both counts."""
    n = int(min(calls.get("calls") or 0 for calls in upgrade.calls))
    for component, (units, unknown) in ASKED.items():
        estimate = undefined(component, unknown, method=METHOD, over="calls")
        for unit in units[::-1]:
            old, new = (calls.get(unit) for calls in upgrade.calls)
            if old and new is not None and math.isfinite(old + new):
                detail = {"incumbent": number(old), "candidate": number(new), "unit": f"{unit} per call"}
                estimate = Estimate(metric=component, value=new / old - 1, unit="share", over="calls", n=n,
                                    method=METHOD, detail=detail)  # fmt: skip
        yield {}, estimate


# --------------------------------------------------------------------------- biases that an upgrade must not bring
# Each judge's bias is measured in its own line-up by the measure that the shipped questions gate; here the two are told
# from each other. The interval of their difference is that of two independent estimates (Zou and Donner 2008): where
# both judges err on the same texts, as they do, the true one is narrower, so the error is on the careful side.


def _counts(ratings: Ratings) -> bool:
    return all(ratings.scales[name].counts for name in ratings.headline)


def _are_choices(ratings: Ratings) -> bool:
    return all(ratings.scales[name] == CHOICES for name in ratings.headline)


def _has(ratings: Ratings, *columns: str, peers: bool = True) -> bool:
    there = ratings.texts is not None and set(columns) <= set(ratings.texts.columns)
    several = ratings.table["item"].nunique() > len(ratings.targets)
    return there and several and (len(ratings.judges) > 1 or not peers)


def _own_text(ratings: Ratings) -> Estimates:
    """Over items where targets share them, else over all texts."""
    items = ratings.table[["item", "target"]].drop_duplicates()["item"]
    shared = items.duplicated().any() and items.nunique() > 1
    return (self_preference.self_preference_controlled if shared else consensus.self_preference)(ratings)


BIASES: tuple[tuple[str, str, Callable[[Ratings], Estimates], Callable[[Ratings, str], bool], bool], ...] = (
    ("upgrade_self_preference", "", _own_text,
     lambda r, j: r.own().get(j) in r.targets and len(r.judges) > 1 and _counts(r), False),
    ("upgrade_position", "", presentation.slot_preference,
     lambda r, j: _are_choices(r) and ORDER in r.factors, True),
    ("upgrade_length", "", presentation.length_coefficient, lambda r, j: _counts(r) and _has(r, "words"), True),
    ("upgrade_length", "", presentation.choice_length_coefficient,
     lambda r, j: _are_choices(r) and _has(r, "words_a", "words_b"), True),
    ("upgrade_length", "length_twins", presentation.padding_preference,
     lambda r, j: _has(r, "words_a", "words_b", peers=False), True),
    ("upgrade_injection", "attacked_scores", injection_success, lambda r, j: _counts(r), False),
    ("upgrade_injection", "attacked_choices", injection_success, lambda r, j: True, False),
)  # fmt: skip
"""Component; which ratings it is measured on, "" for the upgrade's own; its measure; whether these ratings have what it
needs of this judge; whether either direction is bad."""


def biases(upgrade: Upgrade) -> Iterator[AtLevels]:
    """Every bias that both line-ups can show."""
    for component, kind, measure, offered, folded in BIASES:
        before, after = (r if not kind else r.beside(kind) for r in (upgrade.before, upgrade.after))
        if before is None or after is None or not offered(after, upgrade.candidate):
            continue
        if upgrade.candidate not in after.judges or upgrade.incumbent not in before.judges:
            continue
        where = {"by": kind} if kind else {}
        try:
            new = [one for one in members(measure(after)) if one[0].pop("judge") == upgrade.candidate]
            stake = measure(before) if offered(before, upgrade.incumbent) else Estimates(("judge",), {})
            old = [one for one in members(stake) if one[0].pop("judge") == upgrade.incumbent]
        except RecuseError:
            if after.times is None:
                raise
            why = "it takes single items, and these were counted"
            yield where, undefined(component, why, method=METHOD_BIASES, over="items")
            continue
        for levels, now in new:
            was = next((estimate for there, estimate in old if there == levels), None)
            yield {**levels, **where}, _less(component, folded, now, was)


def _less(component: str, folded: bool, new: Estimate, old: Estimate | None) -> Estimate:
    facts: dict[str, Any] = {
        "n": new.n, "over": new.over, "clusters": new.clusters, "n_clusters": new.n_clusters, "unit": new.unit,
        "span": new.span or 1.0, "method": METHOD_BIASES,
        "n_excluded": new.n_excluded + (old.n_excluded if old else 0),
    }  # fmt: skip
    if not new.defined or (old is not None and not old.defined):
        note = new.note if not new.defined else old.note if old is not None else ""
        return undefined(component, why_missing(note), **facts)
    fold = abs if folded else float
    values = fold(new.value), fold(old.value) if old is not None else 0.0
    unknown = Student(math.nan, math.nan, 0, why=("its standard error is not known", ""))
    own: list[Distribution] = [Known(0.0) if e is None else e.distribution or unknown for e in (new, old)]
    first, second = map(Folded, own) if folded else own
    distribution = Difference(values, first, second, 0.0, max(new.n - 1.0, 1.0))
    half = distribution.half_width_at(1.0)
    detail = {
        "incumbent": number(values[1]) if old is not None else None, "candidate": number(values[0]),
        "measure": new.metric, "smallest": number(half * SMALLEST) if half is not None else None,
    }  # fmt: skip
    return estimated(component, values[0] - values[1], distribution, level=0.9, detail=detail, **facts)
