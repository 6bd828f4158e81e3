"""All components of an upgrade, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from recuse.metrics.upgrade.biases import biases
from recuse.metrics.upgrade.costs import costs
from recuse.metrics.upgrade.decisions import decisions_flipped, losses
from recuse.metrics.upgrade.pairing import Pair, Upgrade
from recuse.metrics.upgrade.people import agreement_with_people, ceiling
from recuse.metrics.upgrade.scores import noise, order, shift
from recuse.metrics.upgrade.slices import worst_slice_agreement, worst_slice_shift
from recuse.schema import Estimate, Estimates

__all__ = ["COMPONENTS", "measure_pair", "measure_upgrade"]

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


def measure_upgrade(upgrade: Upgrade) -> dict[str, Estimates]:
    """Component -> its estimates by judge (the candidate), factor levels and criterion; only what the ratings offer.

    Nothing is measured of judges that are not comparable (`upgrade.not_comparable`): see there first."""
    found: dict[str, dict[tuple[tuple[str, str], ...], Estimate]] = {}
    for pair in upgrade.pairs(every_criterion=True):
        levels = tuple(zip(upgrade.by(), pair.names, strict=True))
        for estimate in measure_pair(pair):
            found.setdefault(estimate.metric, {})[levels] = estimate
    for names, estimate in ceiling(upgrade).items():
        found.setdefault("upgrade_ceiling", {})[tuple(zip(upgrade.by(), names, strict=True))] = estimate
    for component, estimates in biases(upgrade):
        found.setdefault(component, {}).update(estimates)
    for component, estimate in costs(upgrade):
        found[component] = {(): estimate}
    return {name: _family(found[name], upgrade) for name in COMPONENTS if name in found}


def _family(found: Mapping[tuple[tuple[str, str], ...], Estimate], upgrade: Upgrade) -> Estimates:
    """By judge, then by every name that some estimate has a level of; "" where another has none."""
    names = list(dict.fromkeys(name for levels in found for name, _ in levels))
    keys = {levels: dict(levels) for levels in found}
    return Estimates(
        ("judge", *names),
        {
            (upgrade.candidate, *(keys[levels].get(name, "") for name in names)): estimate
            for levels, estimate in found.items()
        },
    )
