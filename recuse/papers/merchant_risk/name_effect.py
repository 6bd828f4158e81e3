"""What a judge's own name changes: self-bias with names shown against self-bias with names hidden.

Merchant-risk paper, sec. 4.3.2: A and B are the self-bias with names shown and hidden, A - B is what the name adds, and
100 (1 - |B| / |A|) how much of the self-bias goes with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.consensus import OVER_ITEMS, WELCH, ZERO, deviations, self_bias
from recuse.metrics.estimates import estimated, losses, number, these_texts, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Ratings
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.clusters import difference_of_means
from recuse.statistics.contrasts import Contrast, OverTexts, own_against_others
from recuse.statistics.distributions import Student

SHOWN, HIDDEN = "shown", "hidden"
SINGLE = "change on its own text with the spread of the changes on others' texts, t with their number less 1"


@measure(
    "name_effect", "effect of the name", signed=True, rank=90,
    above="is swayed by names|are swayed by names", below="is swayed by names|are swayed by names",
    reading="Self-bias with names shown less self-bias with names hidden.",
)  # fmt: skip
@per_subject("judge", itself, "names")
def name_effect(part: Ratings) -> Iterator[Named]:
    """A - B by judge, A and B the self-bias with names shown and hidden (paper, sec. 4.3.2).

    Detail: `shown` A and `hidden` B; `gone_pct` = 100 (1 - |B| / |A|), unrounded, None where A is 0;
    `direction_kept`, whether A and B have the same sign, None where either is 0. Over texts, paired text by text; of a
    judge with one text, that one's change has the spread of the changes on texts it did not write, and `these_texts` is
    the interval over repeats for the one text alone. Undefined where either was not asked.

    >>> import pandas as pd
    >>> rows = [("a", "shown", 5), ("a", "hidden", 4.5), ("b", "shown", 4), ("b", "hidden", 4)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "names", "score"]).assign(item="i", target="x")
    >>> name_effect(Ratings.of(frame, authors={"a": "x"})).of(judge="a").value
    0.5
    """
    for judge, (a, b) in self_bias_pairs(part).items():
        yield judge, _name_effect(part, judge, a, b)


def self_bias_pairs(part: Ratings) -> dict[str, tuple[Estimate, Estimate]]:
    """Self-bias with names shown and hidden of every judge that wrote a target."""
    if missing := [level for level in (SHOWN, HIDDEN) if level not in part.levels("names")]:
        why = f"nothing was asked with names {' and '.join(missing)}"
        nothing = undefined("self_bias", why, method=WELCH, over="repeats")
        return dict.fromkeys(part.own(), (nothing, nothing))
    of = self_bias(part).of
    return {judge: (of(judge=judge, names=SHOWN), of(judge=judge, names=HIDDEN)) for judge in part.own()}


def _name_effect(part: Ratings, judge: str, a: Estimate, b: Estimate) -> Estimate:
    if worse := next((one for one in (a, b) if not one.defined), None):
        why = worse.note.removeprefix("undefined: ")
        return undefined("name_effect", why, n=a.n + b.n, method=worse.method, over=worse.over)
    directed = abs(a.value) > ZERO and abs(b.value) > ZERO
    detail = {
        "shown": number(a.value), "hidden": number(b.value),
        "gone_pct": number(percent_gone(a.value, b.value)) if abs(a.value) > ZERO else None,
        "direction_kept": (a.value > 0) == (b.value > 0) if directed else None, **_losses(part, judge, a, b),
    }  # fmt: skip
    own, others, clusters, step = _changes(part, judge)
    note = ""
    if a.over == "repeats":
        assert isinstance(a.distribution, Contrast)
        assert isinstance(b.distribution, Contrast)
        beside, note = these_texts(a.distribution.minus(b.distribution))
        detail |= beside
    n_clusters, method, n = len(np.unique(clusters)), OVER_ITEMS, len(own)
    if n_clusters == 1:
        spread = own_against_others([0.0], others, step=step)
        error = spread.se / math.sqrt(1 + 1 / max(len(others), 1))
        distribution: Student = OverTexts(a.value - b.value, error, spread.df)
        method, n = SINGLE, n + len(others)
    else:
        distribution = difference_of_means(own, np.ones(n, dtype=bool), None, clusters, step=step)
    more = {"n_clusters": n_clusters} if a.over == "clusters" else {}
    return estimated(
        "name_effect", a.value - b.value, distribution, n=n,
        n_excluded=a.n_excluded + b.n_excluded, unit=a.unit, span=a.span,
        over="items" if a.over == "repeats" else a.over, clusters=a.clusters, method=method, note=note, detail=detail,
        **more,
    )  # fmt: skip


def _changes(part: Ratings, judge: str) -> tuple[Floats, Floats, NDArray[np.intp], float]:
    """The judge's deviations with names shown less those with names hidden, on its own texts and on others' that were
    judged either way; clusters of the own, and the scale's step."""
    per_level = []
    for level in (SHOWN, HIDDEN):
        cells = part.where(names=level).cells()
        texts = zip(cells.items, cells.targets, cells.clusters, cells.texts_of(part.authors[judge]), strict=True)
        named = [(cells.item_names[i], cells.target_names[t], cells.cluster_names[c], bool(o)) for i, t, c, o in texts]
        per_level.append(dict(zip(named, deviations(cells)[cells.row(judge)].tolist(), strict=True)))
    shown, hidden = per_level
    changes = {key: shown[key] - hidden[key] for key in shown if key in hidden}
    usable = {key: change for key, change in changes.items() if math.isfinite(change)}
    own, theirs = ([change for key, change in usable.items() if key[3] is is_own] for is_own in (True, False))
    clusters = np.unique([key[2] for key in usable if key[3]], return_inverse=True)[1].astype(np.intp)
    return np.array(own), np.array(theirs), clusters, cells.step


def _losses(part: Ratings, judge: str, a: Estimate, b: Estimate) -> dict[str, Any]:
    """Losses on its own texts with names shown against those with names hidden."""
    sides = {}
    for level in (SHOWN, HIDDEN):
        cells = part.where(names=level).cells()
        row, own = cells.row(judge), cells.texts_of(part.authors[judge])
        lost = int(cells.lost[row, own].sum())
        sides[f"names {level}"] = lost, lost + int(cells.count[row, own].sum())
    (low_a, high_a), (low_b, high_b) = (_bounds(estimate) for estimate in (a, b))
    return losses(sides, (low_a - high_b, high_a - low_b))


def _bounds(estimate: Estimate) -> tuple[float, float]:
    """What the losses leave possible; infinite on a scale without ends."""
    low, high = estimate.detail.get("losses", {}).get("bounds", (estimate.value, estimate.value))
    return -math.inf if low is None else low, math.inf if high is None else high


def percent_gone(a: float, b: float) -> float:
    """100 (1 - |B| / |A|)."""
    return 100 * (1 - abs(b) / abs(a))
