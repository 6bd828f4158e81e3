"""How large a simulated panel is and how much its judges vary: from flags, a panel file, or ratings that are there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.schema import RecuseError

if TYPE_CHECKING:
    import numpy.typing as npt

    from recuse.ratings import Ratings

__all__ = ["Sizes", "sizes_of_panel", "sizes_of_ratings"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """A panel whose items have a text by each of `targets` systems, 0 standing for as many as there are judges; of
    several, each judge wrote one. `noise`: SD of a judge's repeats; `spread`: SD over items of
    how much more or less than the other judges one thinks of a text; both are shares of the scale's range. `losses`:
    share of replies that cannot be read. `clusters`: how many topics the items share; 0 where they share nothing.
    `pairs` and `people` are 0 where none are asked."""

    judges: int = 5
    items: int = 30
    repeats: int = 3
    people: int = 3
    low: float = 0.0
    high: float = 10.0
    step: float = 1.0
    noise: float = 0.03
    spread: float = 0.04
    losses: float = 0.01
    clusters: int = 0
    names: bool = False
    pairs: int = 80
    targets: int = 0

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if getattr(self, name) < least:
                raise RecuseError(f"--{name} is a whole number from {least}; got {getattr(self, name)}")
        if not self.high > self.low:
            raise RecuseError(f"--scale has its lower end first, as 0-10; got {self.low:g}-{self.high:g}")
        for name in ("noise", "spread", "losses"):
            if not 0 <= getattr(self, name) < 1:
                raise RecuseError(f"--{name} is a share from 0 to below 1; got {getattr(self, name):g}")

    @property
    def texts(self) -> int:
        """Texts per item."""
        return self.targets or self.judges

    @property
    def span(self) -> float:
        """Range of the scale, in points."""
        return self.high - self.low

    def with_given(self, given: Mapping[str, Any]) -> Sizes:
        """The same with what the command line says."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def record(self) -> dict[str, Any]:
        """As builtins."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __str__(self) -> str:
        """ "5 judges x 30 items x 3 repeats on 0-10, ..."."""
        topics = f" in {self.clusters} topics" if self.clusters else ""
        each = f" with {_several(self.texts, 'text')} each" if self.texts != self.judges else ""
        people = "1 person" if self.people == 1 else f"{self.people} people"
        return (
            f"{_several(self.judges, 'judge')}, {_several(self.items, 'item')}{topics}{each}, "
            f"{_several(self.repeats, 'repeat')}, {people}, {_several(self.pairs, 'pair')}, "
            f"scale {self.low:g}-{self.high:g}, noise {100 * self.noise:.3g} % and spread {100 * self.spread:.3g} % "
            f"of its range, {100 * self.losses:.3g} % of replies lost"
        )


LEAST = {"judges": 1, "items": 1, "repeats": 1, "people": 0, "clusters": 0, "pairs": 0, "targets": 0}


def _several(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def sizes_of_panel(path: Path, root: Path, usual: Sizes) -> Sizes:
    """Of the task and protocol of a panel that scores texts most often: judges, items per target, repeats, scale,
    topics, names shown and hidden. Noise and spread stay as assumed in `usual`: nothing has been recorded."""
    from recuse.suite import Selection
    from recuse.suite.questions import Questions

    selection = Selection.load(root, [str(path.resolve())])
    offering, _ = Questions(selection).offering(["scores", "numbers"], rests_on="margins")
    if not offering:
        raise RecuseError(f"{path}: no task of this panel has texts scored by numbers, so there is nothing to simulate")
    plans = {one: selection.plan(one) for one in offering}
    largest = max(offering, key=lambda one: len(plans[one].items) * plans[one].repeats)
    plan, task = plans[largest], selection.task_of(largest)
    per_target: dict[str, set[str]] = {}
    for _, item, target in plan.items:
        per_target.setdefault(target, set()).add(item)
    pairs, _ = Questions(selection).offering(["choices", "order"], rests_on="margins")
    return replace(
        usual,
        judges=len(plan.judges),
        items=max(map(len, per_target.values())),
        repeats=plan.repeats,
        low=float(task.scale[0]),
        high=float(task.scale[1]),
        names="names" in plan.factors and len(plan.factors["names"]) > 1,
        pairs=len({item for _, item, _ in selection.plan(pairs[0]).items}) if pairs else 0,
        targets=len(per_target),
    )


def _residual_variance(means: npt.NDArray[np.float64]) -> float:
    """Of judges' mean scores (judges x items x targets, NaN where there is none), once judges and texts are taken out,
    on the scale squared, corrected for the judges' own mean."""
    of_texts = means.reshape(len(means), -1)
    known = of_texts[:, ~np.isnan(of_texts).all(axis=0)]  # an item need not have a text of every target
    left = known - np.nanmean(known, axis=0) - np.nanmean(known, axis=1, keepdims=True) + np.nanmean(known)
    return float(np.nanvar(left)) * len(means) / (len(means) - 1)


def sizes_of_ratings(ratings: Ratings, usual: Sizes, ends: tuple[float, float] | None = None) -> Sizes:
    """What ratings turned out to be: sizes, losses, and the noise and spread that were measured.

    noise: pooled SD over repeats; spread: SD of what is left of a judge's mean scores once judges and texts are taken
    out, less what repeats explain of it; of one judge it stays as assumed. Where there is one repeat, noise stays as
    assumed and spread has it in it. `ends`: of the scale, where the ratings do not say. `RecuseError` for options, and
    for a scale without ends."""
    from recuse.ratings import Numeric

    part = next((one for _, one in ratings.each() if isinstance(one.scale, Numeric)), None)
    if part is None or not isinstance(scale := part.scale, Numeric):
        raise RecuseError(
            "sizes are taken from scores, and these ratings are options; give the sizes instead, for one judge of 100 "
            "items and two people: recuse plan --judges 1 --items 100 --people 2 --scale 0-1"
        )
    low, high = (scale.minimum, scale.maximum) if ends is None else ends
    if not math.isfinite(span := high - low):
        raise RecuseError("sizes are taken from scores on a scale with two ends; name it with --scale 0-10")
    array, table = part.array(), part.table[part.table["kind"] == "judge"]
    means, counts = array.means[~array.people], array.counts[~array.people]
    several = counts > 1
    variances = array.moments.variance[~array.people][several]
    noise = math.sqrt(float(variances.mean())) if several.any() else usual.noise * span
    repeats = int(counts.max())
    within = noise**2 / repeats if several.any() else 0.0
    spread = usual.spread * span
    if len(means) > 1:
        spread = math.sqrt(max(0.0, _residual_variance(means) - within))
    clusters = len(set(array.clusters))
    return replace(
        usual,
        judges=len(means),
        items=len(array.items),
        repeats=repeats,
        people=int(array.people.sum()),
        low=low,
        high=high,
        noise=round(noise / span, 4),
        spread=round(spread / span, 4),
        losses=round(float((table["status"] != "ok").mean()), 4),
        clusters=clusters if clusters < len(array.items) else 0,
        names=len(ratings.levels("names")) > 1,
        pairs=0,
        targets=round(len(table[["item", "target"]].drop_duplicates()) / len(array.items)),
    )
