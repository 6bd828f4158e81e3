"""All components of an upgrade, in the order in which they are shown; what its calls cost and how long they take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from recuse.metrics.estimates import undefined
from recuse.metrics.measure import describe
from recuse.metrics.upgrade.against_people import errors, offset, order_of_people, worst_slice_offset
from recuse.metrics.upgrade.biases import biases
from recuse.metrics.upgrade.decisions import decisions_flipped, knows_right_answers, losses, right_answers
from recuse.metrics.upgrade.pairing import Pair, Upgrade
from recuse.metrics.upgrade.people import agreement_with_people, worst_slice_agreement, worst_slice_shift
from recuse.metrics.upgrade.scores import noise, order, shift
from recuse.schema import Estimate, Estimates, number

Levels = tuple[tuple[str, str], ...]
"""Names of factors, each with its level."""

Component = Callable[[Pair], Estimate | None]
WITH_PEOPLE: tuple[Component, ...] = (
    agreement_with_people, worst_slice_agreement, offset, order_of_people, errors, noise, losses, worst_slice_offset,
)  # fmt: skip
AGAINST_INCUMBENT: tuple[Component, ...] = (shift, order, decisions_flipped, noise, losses, worst_slice_shift)
"""Where nobody rated the texts: that the candidate differs can be seen, not who is right."""
WITH_RIGHT_ANSWERS: tuple[Component, ...] = (shift, noise, losses, worst_slice_shift)
"""Where it is known which response is right, that decides instead of the incumbent's order and decisions."""

COMPONENTS = (
    "upgrade_agreement", "upgrade_slice_agreement", "upgrade_right_answers", "upgrade_human_offset",
    "upgrade_human_order", "upgrade_human_decisions", "upgrade_shift", "upgrade_order", "upgrade_order_once",
    "upgrade_flips", "upgrade_noise", "upgrade_losses", "upgrade_slice_offset", "upgrade_slice_shift",
    "upgrade_self_preference", "upgrade_position", "upgrade_length", "upgrade_injection", "upgrade_cost",
    "upgrade_latency",
)  # fmt: skip
"""Every component; each is a gate of the same name."""


def measure_pair(pair: Pair, *, truth: bool = False) -> list[Estimate]:
    """The components of one criterion under one combination of factor levels: all of them for what stands for the
    judgement as a whole, the level alone for a part of it. People, where any rated the texts, are the measure;
    otherwise the judge in use is. `truth`: right answers are known, and measured of the upgrade as a whole."""
    rated = bool(np.isfinite(pair.answers.rated).any())
    wanted = WITH_PEOPLE if rated else WITH_RIGHT_ANSWERS if truth else AGAINST_INCUMBENT
    if not pair.headline:
        wanted = (offset,) if rated else (shift,)
    return [estimate for component in wanted if (estimate := component(pair)) is not None]


def measure_upgrade(upgrade: Upgrade) -> list[tuple[str, Estimates]]:
    """(component, its estimates by judge, the candidate, factor levels and criterion), only what the ratings offer. A
    component comes twice where it is measured by other names of levels, as on another protocol's ratings.

    Nothing is measured of judges that are not comparable (`upgrade.not_comparable`): see there first."""
    measured: dict[str, dict[Levels, Estimate]] = {}
    truth = knows_right_answers(upgrade)
    for pair in upgrade.pairs():
        levels = tuple(zip(upgrade.by(), pair.names, strict=True))
        for estimate in measure_pair(pair, truth=truth):
            measured.setdefault(estimate.metric, {})[levels] = estimate
    for names, estimate in right_answers(upgrade).items() if truth else ():
        measured.setdefault("upgrade_right_answers", {})[tuple(zip(upgrade.by(), names, strict=True))] = estimate
    for component, estimates in biases(upgrade):
        measured.setdefault(component, {}).update(estimates)
    for component, estimate in costs(upgrade):
        measured[component] = {(): estimate}
    return [(name, part) for name in COMPONENTS if name in measured for part in _by_names(measured[name], upgrade)]


def _by_names(estimates: Mapping[Levels, Estimate], upgrade: Upgrade) -> Iterator[Estimates]:
    for names in dict.fromkeys(tuple(name for name, _ in levels) for levels in estimates):
        mine = {levels: e for levels, e in estimates.items() if tuple(name for name, _ in levels) == names}
        keys = {levels: (upgrade.candidate, *(level for _, level in levels)) for levels in mine}
        yield Estimates(("judge", *names), {keys[levels]: estimate for levels, estimate in mine.items()})


METHOD = "ratio of means per call as recorded, less 1"

describe(
    "upgrade_cost", "cost per call", unit="share", signed=True, rank=50, bad="above", ends=(-1, math.inf),
    above="costs more|cost more",
    reading="Dollars per call by the panel's prices, or tokens per call where no price is known, the candidate's "
    "over the incumbent's, less 1.",
)  # fmt: skip
describe(
    "upgrade_latency", "time per call", unit="share", signed=True, rank=52, bad="above", ends=(-1, math.inf),
    above="takes longer|take longer",
    reading="Seconds per call as recorded, the candidate's over the incumbent's, less 1.",
)  # fmt: skip

ASKED = {"upgrade_cost": ("dollars", "tokens"), "upgrade_latency": ("seconds",)}
UNKNOWN = {
    "upgrade_cost": "neither tokens nor dollars of both judges were recorded",
    "upgrade_latency": "no recording says how long a call took",
}


def costs(upgrade: Upgrade) -> Iterator[tuple[str, Estimate]]:
    """Cost and time per call: ratio - 1, a plain value of what was recorded, without an interval: nothing is
    sampled."""
    for component, units in ASKED.items():
        yield (
            component,
            next((e for unit in units if (e := _ratio(component, upgrade, unit))), None)
            or undefined(component, UNKNOWN[component], method=METHOD, over="calls"),
        )


def _ratio(component: str, upgrade: Upgrade, unit: str) -> Estimate | None:
    old, new = (calls.get(unit) for calls in upgrade.calls)
    if not old or new is None or not math.isfinite(old + new):
        return None
    detail = {"incumbent": number(old), "candidate": number(new), "unit": f"{unit} per call"}
    counts = [calls.get("calls") or 0 for calls in upgrade.calls]
    return Estimate(
        metric=component,
        value=new / old - 1,
        unit="share",
        over="calls",
        n=int(min(counts)),
        method=METHOD,
        detail=detail,
    )
