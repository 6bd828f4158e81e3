"""What "Beyond the illusion of consensus" (paper 002) prints, beside what our measures make of its own tables:

    python tests/known_answers/illusion.py

Only Table 9 holds enough to compute with: one mean score and one agreement for each of 32 models. A row says where the
figure is printed, what is printed, what follows, and whether the two agree to the digits that are printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from recuse.papers.illusion.judge_panels import Convention, cohen_d, correlation_with_quality, order_of_tiers
from recuse.papers.rank_tests import spearman_t
from recuse.schema import Estimate

TABLE_9 = Path(__file__).parents[2] / "fixtures" / "published" / "illusion_rankings.csv"
TIERS = ("Base", "Instruct", "Thinking")
RARELY = 0.1  # of the models
Row = tuple[str, str, str, str, bool | None]
"""Requirement, what, printed, computed, whether they agree; None where nothing is printed."""


def table_9() -> pd.DataFrame:
    return pd.read_csv(TABLE_9)


def by_tier(column: str) -> dict[str, np.ndarray]:
    frame = table_9()
    return {tier: frame.loc[frame["tier"] == tier, column].to_numpy(dtype=float) for tier in TIERS}


def quality(without: tuple[str, ...] = (), tier: str = "") -> Estimate:
    """The correlation of score and agreement over models, of some of them."""
    frame = table_9()
    frame = frame[~frame["model"].isin(without)]
    frame = frame[frame["tier"] == tier] if tier else frame
    scores, agreement = (frame[name].to_numpy(dtype=float) for name in ("score", "agreement"))
    return correlation_with_quality(scores, agreement, tuple(frame["model"]))


def no_base() -> Estimate:
    frame = table_9()
    return quality(without=tuple(frame.loc[frame["tier"] == "Base", "model"]))


def agree(printed: float, computed: float, digits: int, rounding: float = 0.0) -> bool:
    """Whether a figure is what was printed. `rounding`: how far the rounding of its inputs can have moved it."""
    return bool(abs(printed - computed) <= 0.5 * 10**-digits + rounding + 1e-9)


def rounding_of_d(low: np.ndarray, high: np.ndarray, convention: Convention, half: float = 0.005) -> float:
    """How far Cohen's d can move while every score stays within `half` of what is printed: to the first order, half
    times the sum of the derivatives' sizes."""
    values = np.concatenate([low, high])
    ways = values + 1e-6 * np.eye(len(values))
    moved = [cohen_d(way[: len(low)], way[len(low) :], convention) for way in ways]
    return float(half * np.abs((np.array(moved) - cohen_d(low, high, convention)) / 1e-6).sum())


def rows() -> Iterator[Row]:
    """Every recomputed figure of sec. 3 that Table 9 carries."""
    tiers, agreement = order_of_tiers(by_tier("score")), by_tier("agreement")
    means, d = tiers.detail["means"], tiers.detail["cohen_d"]
    yield from _tier_means(means)
    ends = by_tier("score")["Base"], by_tier("score")["Thinking"]
    conventions: dict[Convention, str] = {
        "sample": "divisor n - 1", "population": "divisor n", "averaged": "mean of variances",
    }  # fmt: skip
    for name, words in conventions.items():
        same = agree(2.58, d[name], 2, rounding_of_d(*ends, name))
        yield "18", f"Cohen's d, Thinking over Base, {words}", "2.58", f"{d[name]:.2f}", same
    share = f"{100 * tiers.value:.1f} %: {tiers.detail['right']:.0f} of {tiers.detail['pairs']} pairs"
    yield "19", "pairs of models of two tiers in order", "83.9 %", share, agree(83.9, 100 * tiers.value, 1)
    for low, high, right, total in tiers.detail["between"]:
        yield "19", f"of these, {low} and {high}", "", f"{right:g} of {total}", None
    found = quality()
    yield "23", "score and agreement, Spearman", "-0.513", f"{found.value:.3f}", agree(-0.513, found.value, 3)
    p = found.detail["p_t"]
    yield "23", "its p, by t", "0.003", f"{p:.4f}", agree(0.003, p, 3)
    yield "23", "its 95 % interval, over models", "", f"{found.low:.2f} to {found.high:.2f}", None
    yield "23", "the same, Pearson", "", f"{found.detail['pearson']:.3f}", None
    yield "23", "the same, Kendall", "", f"{found.detail['kendall']:.3f}", None
    lowest = next(name for name in found.detail["targets"] if name.startswith("Llama-3.1") and "Base" in name)
    yield "24", f"Spearman without {lowest}", "", f"{quality((lowest,)).value:.3f}", None
    yield "24", "Spearman without Base", "", f"{no_base().value:.3f}", None
    for tier in TIERS:
        yield "24", f"Spearman within {tier}", "", f"{quality(tier=tier).value:.2f}", None
    printed = {"Base": 0.81, "Instruct": 0.77, "Thinking": 0.76}
    for tier, values in agreement.items():
        mean = float(values.mean())
        yield "25", f"mean agreement, {tier}", f"{printed[tier]:.2f}", f"{mean:.3f}", agree(printed[tier], mean, 2)
    p = spearman_t(0.984, len(table_9()))
    yield "12", "p of rho = 0.984 over 32 models", "< 1e-23", f"{p:.1e}", p < 1e-23
    high = int((table_9()["agreement"] > 0.8).sum())
    yield "72", "models with agreement above 0.80", "rarely", f"{high} of 32", high / 32 <= RARELY


def _tier_means(means: dict[str, float]) -> Iterator[Row]:
    for tier, printed in zip(TIERS, (3.05, 5.38, 5.96), strict=True):
        yield "17", f"mean score, {tier}", f"{printed:.2f}", f"{means[tier]:.3f}", agree(printed, means[tier], 2)


def markdown(found: Iterable[Row]) -> str:
    told = {True: "yes", False: "**no**", None: ""}
    lines = ["| | figure | printed | follows | agrees |", "|---|---|---|---|---|"]
    for place, what, printed, computed, same in found:
        lines.append(f"| {place} | {what} | {printed} | {computed} | {told[same]} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown(rows()))
