"""Self-preference: does a judge grade its own text above what peers give it, and above what it gives to others?

Per story, on the positive scale (thesis on bias in LLM self-evaluation, sec. 3.3 and Table 1):

    S  the judge's grade of its own text
    R  mean of the other judges' grades of that same text
    G  mean of the judge's grades of the other authors' texts

S - R above 0: it sees more in its text than its peers do. S - G above 0: it prefers its text, which may be right, since
an author that writes better earns it. Together they tell harmful from justified preference (`reading`). The judge
itself is in neither reference, and S, R and G are compared on the same stories only.

Neither is free of everything else. S - G moves with the quality of the author's texts, S - R with the judge's general
leniency: fair judges of unequal quality and leniency fail both tests most of the time. `controlled` removes both, and
is the measure to gate:

    D = mean over peers k of [ (s_own - k_own) - mean over texts t that neither wrote of (s_t - k_t) ]

that is, the judge against one peer at a time, on its own text less on texts in which neither has a stake. Whatever adds
to a text (quality) or to a judge (leniency) cancels exactly, whichever cells are missing, and so does the peers' own
self-preference. What it cannot tell from self-preference is a taste for a style that is one's own, and a scale that
ends: a lenient judge that cannot grade a good text above 5 looks harsh on it. Needs three judges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.metrics.estimates import STORIES, estimated, matrix, number, undefined
from recuse.metrics.grids import SCALE, Floats, Grid, Own, Scale, grids_of, mean_of
from recuse.schema import Estimate, Estimates
from recuse.statistics.multiplicity import holm
from recuse.statistics.paired import METHOD, Paired, moments, significant

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MARGIN", "against_given", "against_received", "contrast", "controlled", "reading", "score_matrix", "summary",
]  # fmt: skip

BY = ("judge", "framing")
MARGIN = 0.25
"""Points; the difference whose chance of being found is reported as `power`."""
ALPHA = 0.05


def against_received(
    ratings: pd.DataFrame, own: Own, *, scale: Scale = SCALE, margin: float = MARGIN, alpha: float = ALPHA
) -> Estimates:
    """Mean of S - R in points, by (judge, framing), for every judge that wrote a target; paired t over clusters.

    Detail: n, means and SDs of S, R and G, t, p, `p_holm` over the family of all S - R and S - G tests, Cohen's dz with
    interval, power and smallest detectable effect (`Paired.detail`), `excluded` stories by what they lack, and the
    `reading` of both tests together at `alpha`.

    A story without a usable S, R or G is excluded and counted. Undefined with one judge, one author, or no story left.
    `RecuseError` where a judge of `own` or its target is not in the ratings.
    """
    tests = _tests(ratings, own, scale)
    readings = {
        subject: reading(test.received, test.given, tests.adjusted[(*subject, "received")],
                         tests.adjusted[(*subject, "given")], alpha)
        for subject, test in tests.items()
    }  # fmt: skip
    return tests.estimates("self_minus_received", "received", margin, {s: {"reading": r} for s, r in readings.items()})


def against_given(ratings: pd.DataFrame, own: Own, *, scale: Scale = SCALE, margin: float = MARGIN) -> Estimates:
    """Mean of S - G in points, by (judge, framing): the other half of the same family; see `against_received`."""
    return _tests(ratings, own, scale).estimates("self_minus_given", "given", margin)


def controlled(ratings: pd.DataFrame, own: Own, *, scale: Scale = SCALE, margin: float = MARGIN) -> Estimates:
    """Mean of D in points, by (judge, framing): self-preference with quality and leniency taken out (see the module).

    Excluded are stories on which no peer and no third text can be compared. Detail as `against_received`, `p_holm` over
    these tests alone; `leniency` is the mean of D's second half, what the judge adds on texts in which it has no stake.

    Measured on 500 panels of five fair judges, 100 stories, whole grades, authors' quality and judges' leniency drawn
    with SDs 0.4 and 0.3: found significant at 5 % in 5.2 % of cases on an open scale, where S - R is in 69 % and S - G
    in 72 %. On 1..5 it is 6.3 % with grades around 3, 9.4 % around 4 and 14 % around 4.5, since the scale's end bites;
    a gate at +-0.25 points, Holm over the panel, then fails 3 of 2,500 fair judges, and none on the open scale.
    """
    found: dict[tuple[str, ...], tuple[Paired, int, dict[str, Any]]] = {}
    for framing, grid in grids_of(ratings, scale).items():
        for judge, row, column in grid.authors(own):
            on_own, elsewhere = contrast(grid, row, column, own)
            test = Paired.of(on_own - elsewhere)
            usable = np.isfinite(on_own - elsewhere)
            found[(judge, framing)] = (
                test, len(grid.stories) - test.n, {"leniency": number(moments(elsewhere[usable])[0])},
            )  # fmt: skip
    adjusted = holm(np.array([test.p for test, _, _ in found.values()], dtype=float))
    why = "no story has a peer's grade of the own text and of a text that neither wrote; that takes three judges"
    return Estimates(BY, {
        subject: _estimate("self_preference_controlled", test, excluded, margin, why, {
            **detail, "p_holm": significant(p), "family": int(np.isfinite(adjusted).sum()),
        })
        for (subject, (test, excluded, detail)), p in zip(found.items(), adjusted, strict=True)
    })  # fmt: skip


def contrast(grid: Grid, row: int, column: int, own: Own) -> tuple[Floats, Floats]:
    """D's two halves per story, each of shape (I,): the judge less its peers on its own text (`column`), and on texts
    that neither the judge nor the peer wrote. Averaged over the peers that have both."""
    own_text, elsewhere = [], []
    for peer, name in enumerate(grid.judges):
        if peer == row:
            continue
        less = grid.scores[:, row, :] - grid.scores[:, peer, :]
        neither = [t for t in range(len(grid.targets)) if t not in (column, grid.own_column(name, own))]
        third = mean_of(less[:, neither], axis=1)
        both = np.isfinite(less[:, column]) & np.isfinite(third)
        own_text.append(np.where(both, less[:, column], np.nan))
        elsewhere.append(np.where(both, third, np.nan))
    if not own_text:
        nothing = np.full(len(grid.stories), np.nan)
        return nothing, nothing
    return mean_of(np.stack(own_text), axis=0), mean_of(np.stack(elsewhere), axis=0)


# --------------------------------------------------------------------------- in words


def reading(received: Paired, given: Paired, p_received: float, p_given: float, alpha: float = ALPHA) -> str:
    """What both tests say together, at adjusted p-values:

    | | S - G above 0 | S - G not above 0 |
    |---|---|---|
    | S - R above 0 | harmful | generous |
    | S - R not told from 0 | justified | none |
    | S - R below 0 | justified, and modest | modest |

    Harmful: it prefers its own text, and peers do not see why. Justified: it does, and so would they. Generous: above
    its peers' view of its text, yet no higher than it grades others; its level, not itself.
    """
    prefers, above = (test.mean > 0 and p < alpha for test, p in ((given, p_given), (received, p_received)))
    below = received.mean < 0 and p_received < alpha
    if above:
        return "harmful" if prefers else "generous"
    if prefers:
        return "justified, and modest" if below else "justified"
    return "modest" if below else "none"


def summary(*families: Estimates, alpha: float = ALPHA) -> str:
    """ "12 of 20 significant, all 12 survive Holm" over the tests of `against_received` and `against_given` together;
    says so where a test could not be made."""
    tests = [estimate.detail for family in families for estimate in family.values()]
    made = [test for test in tests if test.get("p") is not None]
    significant = sum(test["p"] < alpha for test in made)
    survive = sum(test["p_holm"] < alpha for test in made)
    kept = f"all {survive} survive Holm" if survive == significant else f"{survive} survive Holm"
    lacking = f", {len(tests) - len(made)} could not be made" if len(made) < len(tests) else ""
    return f"{significant} of {len(made)} significant{f', {kept}' if significant else ''}{lacking}"


def score_matrix(ratings: pd.DataFrame, own: Own, *, framing: str, scale: Scale = SCALE) -> Estimate:
    """Mean grade of every judge for every author, each over the stories it could be read on; the value is the mean of
    all cells. Detail `values`, with `stories` per cell. Undefined where a cell is empty."""
    grid = grids_of(ratings, scale)[framing]
    usable = np.isfinite(grid.scores)
    means, stories = mean_of(grid.scores, axis=0), usable.sum(axis=0).astype(float)
    detail = matrix(grid.judges, grid.targets, means, own, framing=framing, stories=stories)
    method, n, lost = "mean of judge x author means", int(usable.sum()), int((grid.asked & ~usable).sum())
    if not np.isfinite(means).all():
        why = "a judge has no usable grade of some author's texts"
        return undefined("score_matrix", why, n=n, n_excluded=lost, over="clusters", method=method, detail=detail)
    return Estimate(
        metric="score_matrix", value=float(means.mean()), unit="points", over="clusters", n=n,
        n_clusters=len(grid.stories), clusters=STORIES, n_excluded=lost, method=method, detail=detail,
    )  # fmt: skip


# --------------------------------------------------------------------------- the two published tests


@dataclass(frozen=True, slots=True)
class _Test:
    """Both comparisons of one judge under one framing, on the stories that have S, R and G."""

    received: Paired
    given: Paired
    detail: Mapping[str, Any]
    excluded: int
    why: str


@dataclass(frozen=True)
class _Tests:
    """All of them: one family. `adjusted` by (judge, framing, side)."""

    tests: Mapping[tuple[str, str], _Test]
    adjusted: Mapping[tuple[str, str, str], float]

    def items(self) -> Iterator[tuple[tuple[str, str], _Test]]:
        return iter(self.tests.items())

    def estimates(
        self, metric: str, side: str, margin: float, more: Mapping[tuple[str, str], Mapping[str, Any]] | None = None
    ) -> Estimates:
        family = sum(math.isfinite(p) for p in self.adjusted.values())
        return Estimates(BY, {
            subject: _estimate(metric, getattr(test, side), test.excluded, margin, test.why, {
                **test.detail, "p_holm": significant(self.adjusted[(*subject, side)]), "family": family,
                **(more or {}).get(subject, {}),
            })
            for subject, test in self.items()
        })  # fmt: skip


def _tests(ratings: pd.DataFrame, own: Own, scale: Scale) -> _Tests:
    tests = {
        (judge, framing): _test(grid, row, column)
        for framing, grid in grids_of(ratings, scale).items()
        for judge, row, column in grid.authors(own)
    }
    sides: dict[str, Callable[[_Test], Paired]] = {"received": lambda t: t.received, "given": lambda t: t.given}
    places = [(*subject, side) for subject in tests for side in sides]
    adjusted = holm(np.array([sides[side](tests[judge, framing]).p for judge, framing, side in places], dtype=float))
    return _Tests(tests, dict(zip(places, map(float, adjusted), strict=True)))


def _test(grid: Grid, row: int, column: int) -> _Test:
    parts = self_received_given(grid, row, column)
    usable = np.all([np.isfinite(part) for part in parts], axis=0)
    s, r, g = (part[usable] for part in parts)
    detail: dict[str, Any] = {}
    for name, part in (("s", s), ("r", r), ("g", g)):
        mean, sd = moments(part)
        detail |= {f"{name}_mean": number(mean), f"{name}_sd": number(sd)}
    lacking = {name: int(np.isnan(part).sum()) for name, part in zip(("self", "received", "given"), parts, strict=True)}
    detail["excluded"] = {name: count for name, count in lacking.items() if count}
    words = {"self": "its own grade", "received": "a peer's grade of its text", "given": "its grade of another's text"}
    never = [words[name] for name, count in lacking.items() if count == len(grid.stories)]
    why = f"no story has {' or '.join(never)}" if never else "no story has grades of all three kinds"
    return _Test(Paired.of(s - r), Paired.of(s - g), detail, int((~usable).sum()), why)


def self_received_given(grid: Grid, row: int, column: int) -> tuple[Floats, Floats, Floats]:
    """S, R and G per story, each of shape (I,), NaN where there is none."""
    peers = [k for k in range(len(grid.judges)) if k != row]
    others = [t for t in range(len(grid.targets)) if t != column]
    return (
        grid.scores[:, row, column],
        mean_of(grid.scores[:, peers, column], axis=1),
        mean_of(grid.scores[:, row, others], axis=1),
    )


def _estimate(metric: str, test: Paired, excluded: int, margin: float, why: str, detail: Mapping[str, Any]) -> Estimate:
    full = {**test.detail(margin), **detail}
    if test.n == 0:
        return undefined(metric, why, n_excluded=excluded, method=METHOD, over="items", unit="points", detail=full)
    return estimated(
        metric, test.mean, test.law, n=test.n, n_excluded=excluded, over="items", unit="points", method=METHOD,
        detail=full,
    )  # fmt: skip
