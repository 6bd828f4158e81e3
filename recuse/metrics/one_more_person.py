"""How far the agreement of one more person would fall from people's own by chance, told from people's answers alone.

So the chance to be cleared is one number for a set of labels, whoever is judged on it. What one more person would say
of a text follows from what people said of it and from how far they agree (`OneMorePerson`); what that changes in
kappa_jh - kappa_hh is, text by text and to first order,

    change = -(T - lambda (f(x) - mean over people of f(x_b))) / E,    lambda = D / E

    T = mean over people of d(x, x_b) - mean over pairs of people of d(x_a, x_b)

d the distance, D and E its mean over pairs of people and by chance, f(x) the mean distance of x from everybody's
answers. T averages 0 for one more person; the second part is what other answers than people's own change in E.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import SLIGHT
from recuse.statistics.contrasts import Contrast

PLACES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
NORMAL: tuple[Floats, Floats] = PLACES, WEIGHTS / WEIGHTS.sum()
"""Places and weights that average a polynomial of a normal number, up to the 29th power."""
HIDDEN = 20
"""So many texts show half of the skewness of what they come from: the rare large disagreements are not among them."""


@dataclass(frozen=True, slots=True)
class OneMorePerson:
    """Moments of what one more person's answer to one of `texts` changes in the difference of coefficients, times the
    number of texts: its variance, and skewness and kurtosis (3 of a normal distribution)."""

    variance: float
    skew: float
    kurtosis: float
    texts: float

    def of_fewer(self, factor: float) -> OneMorePerson:
        """The same of a `factor`-th of the texts."""
        return replace(self, texts=self.texts / factor)

    @classmethod
    def of_options(cls, people: Floats, raters: Floats, among: Floats, distances: Floats) -> OneMorePerson:
        """From people's shares (U, K) of K options, how many rated (U,), and their mean distance among themselves (U,).

        One more person says k with probability (a p_k + m share_k) / (a + m), p the shares over all texts and
        a = (1 - kappa) / kappa: the Dirichlet-multinomial distribution with people's shares and their agreement."""
        p = people.mean(axis=0)
        by_chance = distances @ p
        expected = float(p @ by_chance)
        kappa = 1 - float(among.mean()) / expected
        prior, m = (1 - kappa) / max(kappa, 1e-9), raters[:, None]
        chances = (prior * p + m * people) / (prior + m)
        apart = people @ distances - among[:, None]
        leaning = by_chance[None] - (people @ by_chance)[:, None]
        return cls._of(chances, (apart - (1 - kappa) * leaning) / -expected)

    @classmethod
    def of_numbers(cls, mean: Floats, squares: Floats, raters: Floats, among: Floats) -> OneMorePerson:
        """From people's mean and mean square of each text (U,), how many rated, and their mean squared distance among
        themselves.

        One more person's number is normal about people's mean of the text, drawn towards that of all texts as far as
        people's errors ask for: the posterior of the text, and a person's error beside it."""
        centre = float(mean.mean())
        squares, mean = squares - 2 * centre * mean + centre**2, mean - centre
        total = float(squares.mean())
        kappa = min(max(1 - float(among.mean()) / (2 * total), 0.0), 1.0)
        weight = raters * kappa / (1 + (raters - 1) * kappa)
        sd = np.sqrt(total * (1 - kappa * weight))
        given = (weight * mean)[:, None] + sd[:, None] * NORMAL[0]
        apart = given**2 - 2 * mean[:, None] * given + (squares - among)[:, None]
        leaning = given**2 - squares[:, None]
        return cls._of(np.broadcast_to(NORMAL[1], given.shape), (apart - (1 - kappa) * leaning) / (-2 * total))

    @classmethod
    def _of(cls, chances: Floats, change: Floats) -> OneMorePerson:
        moved = change - float((chances * change).sum(axis=1).mean())
        variance, third, fourth = (float((chances * moved**power).sum(axis=1).mean()) for power in (2, 3, 4))
        if not variance > 1e-9:
            return cls(0.0, 0.0, 3.0, len(change))
        return cls(variance, third / variance**1.5, fourth / variance**2, len(change))


def chance_to_pass(person: OneMorePerson, df: float, slip: float, lean: float, margin: float) -> float:
    """Chance that the 95 % interval of one more person lies above -`margin`: the interval of `Coefficient.jackknife` of
    a "difference" on `df` degrees of freedom, with `slip` (`Coefficient.worst`) and `lean`.

    The difference falls normally about 0; the standard error that is estimated with it is log-normal, (kurtosis - 1) /
    4n the variance of its logarithm, and correlated with it as mean and variance of a skewed sample are,
    skewness / sqrt(kurtosis - 1)."""
    if df < 1:
        return 0.0
    if person.variance == 0.0:  # nobody ever differs: the interval of as many slips as cannot be ruled out
        return float(-slip * math.expm1(math.log(0.025) / (df + 1)) <= margin)
    se, slip, n = math.sqrt(person.variance / person.texts), slip / (df + 1), person.texts
    skew = lean * person.skew * n / (n + HIDDEN) / math.sqrt(n)
    low = -Contrast(0.0, 1.0, df, skew, symmetric=SLIGHT).interval(0.95)[0]
    z = np.linspace(-6.0, 6.0, 241)
    density = np.exp(-(z**2) / 2)
    wide = (se * z + margin) / low  # the widest standard error that still passes
    own = np.sqrt(np.maximum(wide**2 - slip**2, 0.0)) / se
    alike = person.skew / math.sqrt(person.kurtosis - 1)
    spread = math.sqrt((person.kurtosis - 1) / n) / 2
    rest = spread * math.sqrt(max(1 - alike**2, 1e-9))
    reached = np.log(np.maximum(own, 1e-300)) - alike * spread * z
    passes = np.where((wide > 0) & (own > 0), special.ndtr(reached / rest), 0.0)
    return float((density * passes).sum() / density.sum())
