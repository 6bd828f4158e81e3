"""What an SD's interval must cost to hold under heavy tails: `python tests/benchmarks/heavy_tails.py [--sims 800]`.

Five texts, ten repeats, scores either normal or Student's t with 3 degrees of freedom about each text's mean. Of all
intervals that do not depend on where scores lie and how they are scaled, those that minimise

    expected width at normal scores - a P(covered | normal) - b P(covered | t3)

for some a and b are the best there are: no other covers as much of both and is narrower at normal scores (Neyman and
Pearson's lemma, with the right Haar measure over means and scale). They know that it is one of these two, which no
method does. Printed per pair of weights: both coverages, and the width over that of the chi-square interval.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy import stats

TEXTS, REPEATS = 5, 10
DF = TEXTS * (REPEATS - 1)
SDS = np.exp(np.linspace(math.log(0.45), math.log(8), 90))
"""Candidate true SDs, over the sample's."""
MEANS = np.linspace(-2.5, 2.5, 61)
WEIGHTS = ((1.0, 2.5), (1.0, 3.0), (1.5, 2.5), (2.0, 0.0), (2.0, 3.0))


def likelihoods(x):
    """Of each candidate SD, the means integrated out, if scores are normal and if they are t3; and the sample's SD."""
    deviations = x - x.mean(axis=1, keepdims=True)
    sd = math.sqrt((deviations**2).sum() / DF)
    normal = -DF * np.log(SDS) - DF / (2 * SDS**2)
    normal -= TEXTS * (0.5 * math.log(2 * math.pi) * (REPEATS - 1) + 0.5 * math.log(REPEATS))
    scale = SDS / math.sqrt(3)
    u = (deviations / sd)[:, None, None, :] - MEANS[None, None, :, None]
    density = -2 * np.log1p((u / scale[None, :, None, None]) ** 2 / 3).sum(axis=-1)
    density += REPEATS * (math.log(2 / (math.pi * math.sqrt(3))) - np.log(scale)[None, :, None])
    top = density.max(axis=-1, keepdims=True)
    t3 = (np.log(np.exp(density - top).sum(axis=-1) * (MEANS[1] - MEANS[0])) + top[..., 0]).sum(axis=0)
    most = max(normal.max(), t3.max())
    return np.exp(normal - most), np.exp(t3 - most), sd


def best(normal, t3, sd, a, b):
    """The interval that is best for this sample."""
    gain = a * np.cumsum(normal) + b * np.cumsum(t3)
    cost = (normal / SDS).sum() * SDS
    loss = (cost - gain)[None, :] - (cost - gain)[:, None]
    low, high = np.unravel_index(np.argmin(np.where(SDS[None, :] > SDS[:, None], loss, np.inf)), loss.shape)
    return SDS[low] * sd, SDS[high] * sd


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sims", type=int, default=800)
    sims, rng = parser.parse_args().sims, np.random.default_rng(1)
    size = (sims, TEXTS, REPEATS)
    samples = [[likelihoods(x) for x in draw] for draw in (rng.normal(0, 1, size), rng.standard_t(3, size) / 3**0.5)]
    usual = math.sqrt(DF / stats.chi2(DF).ppf(0.025)) - math.sqrt(DF / stats.chi2(DF).ppf(0.975))
    print("| weights | covers normal, % | covers t3, % | width over chi-square |\n|---|---|---|---|")
    for a, b in WEIGHTS:
        ends = [np.array([best(*sample, a, b) for sample in one]) for one in samples]
        held = [100 * float(((one[:, 0] <= 1) & (one[:, 1] >= 1)).mean()) for one in ends]
        width = float((ends[0][:, 1] - ends[0][:, 0]).mean()) / usual
        print(f"| {a:g}, {b:g} | {held[0]:.1f} | {held[1]:.1f} | {width:.2f} |")


if __name__ == "__main__":
    main()
