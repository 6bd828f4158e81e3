"""All components of an upgrade, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from recuse.metrics.upgrade.biases import biases
from recuse.metrics.upgrade.costs import costs
from recuse.metrics.upgrade.decisions import decisions_flipped, losses
from recuse.metrics.upgrade.pairing import Pair, Upgrade
from recuse.metrics.upgrade.people import agreement_with_people, ceiling
from recuse.metrics.upgrade.scores import noise, order, shift
from recuse.metrics.upgrade.slices import worst_slice_agreement, worst_slice_shift
from recuse.schema import Estimate, Estimates

__all__ = ["COMPONENTS", "measure_pair", "measure_upgrade"]

Levels = tuple[tuple[str, str], ...]
"""Names of factors, each with its level."""

HEADLINE: tuple[Callable[[Pair], Estimate | None], ...] = (
    agreement_with_people, worst_slice_agreement, shift, order, decisions_flipped, noise, losses, worst_slice_shift,
)  # fmt: skip

COMPONENTS = (
    "upgrade_agreement", "upgrade_ceiling", "upgrade_slice_agreement", "upgrade_shift", "upgrade_order",
    "upgrade_order_once", "upgrade_flips", "upgrade_noise", "upgrade_losses", "upgrade_slice_shift",
    "upgrade_self_preference", "upgrade_position", "upgrade_length", "upgrade_injection", "upgrade_cost",
    "upgrade_latency",
)  # fmt: skip
"""Every component; each is a gate of the same name."""


def measure_pair(pair: Pair) -> list[Estimate]:
    """The components of one criterion under one combination of factor levels: all of them for what stands for the
    judgement as a whole, the shift alone for a part of it."""
    wanted = HEADLINE if pair.headline else (shift,)
    return [estimate for component in wanted if (estimate := component(pair)) is not None]


def measure_upgrade(upgrade: Upgrade) -> list[tuple[str, Estimates]]:
    """(component, its estimates by judge, the candidate, factor levels and criterion), only what the ratings offer. A
    component comes twice where it is measured by other names of levels, as on another protocol's ratings.

    Nothing is measured of judges that are not comparable (`upgrade.not_comparable`): see there first."""
    measured: dict[str, dict[Levels, Estimate]] = {}
    for pair in upgrade.pairs():
        levels = tuple(zip(upgrade.by(), pair.names, strict=True))
        for estimate in measure_pair(pair):
            measured.setdefault(estimate.metric, {})[levels] = estimate
    for names, estimate in ceiling(upgrade).items():
        measured.setdefault("upgrade_ceiling", {})[tuple(zip(upgrade.by(), names, strict=True))] = estimate
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
