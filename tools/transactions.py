"""Builds the SYNTHETIC payments table of the task merchant_risk: `python -m tools.transactions`.

1. Search an order of the categories by risk under which each model's published levels have the published Spearman
   correlation with risk, as close as possible to a plausible order (seeded annealing).
2. Give the order a geometric ladder of unified risk scores and every category a size and a mix of events.
3. Write payments. Events are allotted, not drawn: each category gets its planned number of them, spread evenly over
   its payments by amount, so the table's scores keep the searched order.

The stored file is reproduced exactly, arrays and bytes, by the seed in ground_truth.toml (the bytes also depend on
the zlib that compresses them).
"""

from __future__ import annotations

import io
import json
import math
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from recuse.metrics.empirical_risk import risk_score
from recuse.transactions import read_transactions

ROOT = Path(__file__).resolve().parents[1]
TASK = ROOT / "fixtures" / "tasks" / "merchant_risk"
PUBLISHED = ROOT / "fixtures" / "published"

PLAUSIBLE = (
    "5411 9311 4900 8211 5541 5912 5814 7523 5251 5211 5943 5812 5942 5992 5310 5735 5661 7298 5651 5945 "
    "7011 5734 5732 5944 7800 5960 6011 5933 4511 5964 4722 5816 6531 7801 6051 5968 7995 7273 5967"
)
"""The categories from safest to riskiest as general knowledge would have it: where the search starts."""

LEAST_RISE = 0.05
"""Wanted log-ratio of mean risk between one level and the next: risk should rise with every level of every model."""

SAFEST_SCORE, RISKIEST_SCORE = 0.0020, 0.0700
ROWS = 320_000
FLAGS = ("is_fraud", "chargeback", "returned", "refunded", "reversed")
TILT = {"fraud": 0.35, "chargeback": 0.25, "operational": 0.10}
"""How much likelier an event is on a large payment: chance in proportion to amount ** tilt."""


@dataclass(frozen=True)
class Picks:
    """One model's categories with their levels, and the correlation its levels are to have with risk."""

    model: str
    categories: np.ndarray  # (15,) category indices
    levels: np.ndarray  # (15,) levels 1-5
    rho: float

    def correlation(self, rank: np.ndarray) -> float:
        """Spearman correlation of levels and risk, average ranks for ties."""
        return float(spearmanr(self.levels, rank[self.categories]).statistic)


def main() -> None:
    truth = tomllib.loads((TASK / "ground_truth.toml").read_text(encoding="utf-8"))
    levels = pd.read_csv(PUBLISHED / "mcc_levels.csv")
    codes = np.array(sorted(levels["mcc"].unique()))
    picks = read_picks(levels, pd.read_csv(PUBLISHED / "spearman.csv"), codes)
    order = search_order(plausible_rank(codes), picks, np.random.default_rng([truth["seed"], 0]))
    path = TASK / truth["table"]
    path.write_bytes(packed(payments(codes, order, truth, np.random.default_rng([truth["seed"], 1]))))
    report(path, truth, codes, picks, order)


# --------------------------------------------------------------------------- 1. the order


def read_picks(levels: pd.DataFrame, spearman: pd.DataFrame, codes: np.ndarray) -> list[Picks]:
    wanted = dict(zip(spearman["model"], spearman["rho"], strict=True))
    return [
        Picks(str(model), np.searchsorted(codes, group["mcc"]), group["level"].to_numpy(), wanted[model])
        for model, group in levels.groupby("model", sort=False)
    ]


def plausible_rank(codes: np.ndarray) -> np.ndarray:
    """(n,) rank from 0 (safest) of every category in the plausible order."""
    place = {int(code): rank for rank, code in enumerate(PLAUSIBLE.split())}
    return np.array([place[int(code)] for code in codes])


def search_order(start: np.ndarray, picks: list[Picks], rng: np.random.Generator, steps: int = 60_000) -> np.ndarray:
    """The rank of every category: correlations as wanted, mean risk rising over the levels, near `start` otherwise."""
    costs = Costs(start, picks)
    rank, cost = start.copy(), costs.of(start)
    best, best_cost = rank.copy(), cost
    for step in range(steps):
        heat = 12.0 * (1 - step / steps) ** 2 + 1e-3
        a, b = rng.choice(len(rank), size=2, replace=False)
        rank[a], rank[b] = rank[b], rank[a]
        moved = costs.of(rank)
        if moved <= cost or rng.random() < math.exp((cost - moved) / heat):
            cost = moved
            if cost < best_cost:
                best, best_cost = rank.copy(), cost
        else:
            rank[a], rank[b] = rank[b], rank[a]
    return best


class Costs:
    """What is wrong with an order. Correlations come in steps of about 0.011 here, so each has one nearest value, which
    is met exactly: `product`, the sum of centred level x rank among the picks, is compared instead of rho itself."""

    def __init__(self, start: np.ndarray, picks: list[Picks]) -> None:
        self.start = start
        self.picks = picks
        self.centred = [p.levels - p.levels.mean() for p in picks]
        self.product = [self._nearest_product(p) for p in picks]
        self.ladder = ladder(len(start))

    def of(self, rank: np.ndarray) -> float:
        cost = 0.05 * float(((rank - self.start) ** 2).sum()) + 100.0 * float(rank[self.start == 0][0])
        for p, centred, product in zip(self.picks, self.centred, self.product, strict=True):
            places = np.argsort(np.argsort(rank[p.categories])) + 1
            cost += 20.0 * abs(float(centred @ places) - product)
            means = np.bincount(p.levels, weights=self.ladder[rank[p.categories]])[1:] / np.bincount(p.levels)[1:]
            cost += 400.0 * float(np.clip(LEAST_RISE - np.diff(np.log(means)), 0, None).sum())
        return cost

    @staticmethod
    def _nearest_product(p: Picks) -> float:
        # rho = 3 product / sqrt(SS_level_ranks SS_ranks) for three picks a level; the factor is measured, not assumed.
        n = len(p.levels)
        straight = spearmanr(p.levels, np.argsort(np.argsort(p.levels, kind="stable"))).statistic
        centred = np.sort(p.levels) - p.levels.mean()
        return float(round(p.rho * float(centred @ np.arange(1, n + 1)) / straight))


# --------------------------------------------------------------------------- 2. scores, sizes and mixes


def ladder(n: int) -> np.ndarray:
    """(n,) unified risk scores, lowest first, equal ratios between neighbours."""
    return np.geomspace(SAFEST_SCORE, RISKIEST_SCORE, n)


def sizes(rank: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n,) payments per category, summing to about ROWS: safe categories are the busy ones."""
    share = np.exp(-rank / len(rank) * 1.4) * rng.uniform(0.75, 1.25, len(rank))
    return np.round(ROWS * share / share.sum()).astype(int)


def event_rates(score: float, truth: Mapping[str, Any], rng: np.random.Generator) -> dict[str, float]:
    """Rate of each indicator such that the weighted mean is `score`; categories differ in what goes wrong there."""
    shares = {"fraud": 0.3, "chargeback": 0.3, "operational": 0.4}
    mix = {name: share * math.exp(rng.normal(0, 0.25)) for name, share in shares.items()}
    weight = {name: entry["count"] + entry["amount"] for name, entry in truth["indicators"].items()}
    return {name: score * mix[name] / sum(mix.values()) / weight[name] * sum(weight.values()) for name in mix}


# --------------------------------------------------------------------------- 3. payments


def payments(codes: np.ndarray, rank: np.ndarray, truth: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    scores, rows = ladder(len(codes))[rank], sizes(rank, rng)
    rates = [event_rates(float(score), truth, rng) for score in scores]
    blocks = [one_category(int(n), of, truth["years"], rng) for n, of in zip(rows, rates, strict=True)]
    year, cents, flags = (np.concatenate([block[i] for block in blocks]) for i in range(3))
    about = {"provenance": "synthetic", "made_by": truth["made_by"], "seed": truth["seed"], "flags": list(FLAGS)}
    return {
        "mcc": np.repeat(codes, rows).astype(np.uint16),
        "year": year.astype(np.uint16),
        "amount_cents": cents.astype(np.uint32),
        "flags": flags.astype(np.uint8),
        "about": np.array(json.dumps(about)),
    }


def one_category(
    n: int, rates: Mapping[str, float], years: list[int], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Years, amounts in cents and packed flags of one category's payments, in order of year."""
    cents = np.sort(np.clip(rng.lognormal(rng.uniform(math.log(1500), math.log(12000)), 0.7, n), 50, 2e6).round())
    flag = {name: np.zeros(n, dtype=bool) for name in FLAGS}
    everyone = np.ones(n, dtype=bool)
    flag["is_fraud"] = allot(everyone, cents, rates["fraud"] * n, TILT["fraud"], rng)
    # Six in ten frauds are charged back as far as there are that many chargebacks; the rest contest honest payments.
    count = 0.6 * min(flag["is_fraud"].sum(), rates["chargeback"] * n)
    contested = allot(flag["is_fraud"], cents, count, 0.0, rng)
    left = rates["chargeback"] * n - contested.sum()
    flag["chargeback"] = contested | allot(~flag["is_fraud"], cents, left, TILT["chargeback"], rng)
    undone = allot(~flag["is_fraud"], cents, rates["operational"] * n, TILT["operational"], rng)
    kind = np.where(undone, rng.choice(3, size=n, p=[0.5, 0.3, 0.2]), -1)
    flag["returned"] = kind == 0
    flag["refunded"] = (kind == 1) | ((kind == 0) & (rng.random(n) < 0.7))  # most returns end in a refund
    flag["reversed"] = kind == 2
    packed_flags = sum((flag[name].astype(np.uint8) << bit for bit, name in enumerate(FLAGS)), np.zeros(n, np.uint8))
    year = rng.integers(years[0], years[1] + 1, n)
    rows = np.lexsort((rng.random(n), year))
    return year[rows], cents[rows], packed_flags[rows]


def allot(among: np.ndarray, cents: np.ndarray, count: float, tilt: float, rng: np.random.Generator) -> np.ndarray:
    """Mark about `count` of the payments `among`, at equal steps of accumulated chance (systematic sampling)."""
    reach = np.cumsum(np.where(among, cents**tilt, 0.0))
    marks = np.zeros(len(cents), dtype=bool)
    if (whole := round(count)) > 0:
        marks[np.searchsorted(reach, (np.arange(whole) + rng.random()) / whole * reach[-1])] = True
    return marks


def packed(arrays: Mapping[str, Any]) -> bytes:
    """The bytes of an .npz file whose entries carry no clock: equal arrays, equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(info, entry.getvalue(), zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()


def report(path: Path, truth: Mapping[str, Any], codes: np.ndarray, picks: list[Picks], rank: np.ndarray) -> None:
    table = read_transactions(path, "mcc", FLAGS)
    scores = risk_score(table, truth["indicators"], category="mcc")
    risk = scores["risk"].to_numpy()
    kept, steps = int((np.argsort(np.argsort(risk)) == rank).sum()), np.sort(risk)[1:] / np.sort(risk)[:-1]
    print(f"{path.name}: {len(table):,} synthetic payments, {path.stat().st_size:,} bytes")
    print(f"{kept} of {len(codes)} categories where planned, smallest step between neighbours x{steps.min():.3f}")
    for p in picks:
        means = [risk[p.categories[p.levels == level]].mean() for level in sorted(set(p.levels))]
        rising = " ".join(f"{100 * mean:.2f}%" for mean in means)
        print(f"  {p.model:<18} rho {p.correlation(risk):.4f} (published {p.rho}), mean risk by level {rising}")


if __name__ == "__main__":
    main()
