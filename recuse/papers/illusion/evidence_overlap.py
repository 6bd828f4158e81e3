"""Shared evidence: do judges that agree on a text cite the same places in it?

    overlap(text) = mean over pairs of judges of J(a cites of the text, b cites of it)
                    - mean of J(a cites of the text, b cites of another text)

J is Jaccard's index of the sets of words. What judges say of every text is in both means, so it adds nothing. "Beyond
the Illusion of Consensus" (2026, app. E) reads shared evidence off three cases, in two of which one judge's excerpt
lacks it; here it is counted over all texts.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings, mean_of
from recuse.ratings.array import moments_of
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.agreement.correlation import spearman
from recuse.statistics.paired import Paired

if TYPE_CHECKING:
    import pandas as pd

Name = TypeVar("Name", bound=Hashable)
METHOD = "shared words on one text less on two texts, mean over pairs of judges; t over items"
WORD = re.compile(r"[\u3400-\u9fff]|\d+|[^\W\d_\u3400-\u9fff]{4,}")
"""Words of four letters or more, numbers, and single characters of a script without spaces."""


@measure(
    "evidence_overlap", "shared evidence", signed=True, rank=421,
    reading="How many of the words that two judges cite of a text they share (0 to 1), less those shared between two "
    "texts. 0: they point at different places, or say the same of every text.",
)  # fmt: skip
def evidence_overlap(ratings: Ratings) -> Estimates:
    """Mean over items of `overlap`, by the levels of all factors. Detail: `same` and `other`, the two means; `texts`;
    `with_difference`, Spearman's rho of overlap and the difference of the two scores over texts and pairs (below 0:
    who agrees cites the same), and `pairs` of citations that it is of.

    Texts in two languages share no words, so where languages are mixed, what is said of every text of one counts as
    evidence in part. Empty where no citations stand beside the scores (`ratings.beside("quotes")`); undefined where no
    two judges cite the same text and another one, on two items or more.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": list("aabb"), "item": list("ijij"), "score": [1.0, 2.0, 1.0, 2.0]})
    >>> said = frame.drop(columns="score").assign(response=["first line", "last verse", "first line", "last verse"])
    >>> beside = {"quotes": Ratings.of(said)}.get
    >>> evidence_overlap(Ratings.of(frame, beside=beside)).of().value
    1.0
    """
    cited, factors = ratings.beside("quotes"), list(ratings.factors)
    estimates: dict[tuple[str, ...], Estimate] = {}
    if cited is not None and not factors:
        estimates[()] = _overlap(_citations(cited.table, ratings))
    elif cited is not None:
        for levels, rows in cited.table.groupby(factors, sort=False, observed=True):
            names = tuple(map(str, levels))
            here = ratings.where(**dict(zip(factors, names, strict=True)))
            estimates[names] = _overlap(_citations(rows, here))
    return Estimates(tuple(factors), estimates)


def words_of(text: str) -> frozenset[str]:
    """The words by which citations are compared.

    >>> sorted(words_of("The takings were 31,500, 收入"))
    ['31', '500', 'takings', 'were', '入', '收']
    """
    return frozenset(WORD.findall(text.lower()))


def jaccard(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Floats:
    """|A and B| / |A or B| of every row of `first` (T, words) with every row of `second` (U, words): (T, U). NaN where
    both are empty."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    shared = a @ b.T
    either = a.sum(axis=1)[:, None] + b.sum(axis=1)[None, :] - shared
    return ratio(shared, either)


# --------------------------------------------------------------------------- one level of the factors


@dataclass(frozen=True, eq=False)
class Citations:
    """`items` (texts T,); `words` (judges J, T, vocabulary), whether a judge cites the word of the text; `scores`
    (J, T), NaN where there is none."""

    items: tuple[str, ...]
    words: NDArray[np.bool_]
    scores: Floats


def _citations(rows: pd.DataFrame, ratings: Ratings) -> Citations:
    words_cited: dict[tuple[str, str, str], frozenset[str]] = {}
    for judge, item, target, words in rows[["rater", "item", "target", "response"]].astype(str).itertuples(index=False):
        words_cited[judge, item, target] = words_cited.get((judge, item, target), frozenset()) | words_of(words)
    judges = _places(judge for judge, *_ in words_cited)
    texts = _places((item, target) for _, item, target in words_cited)
    known = _places(sorted(frozenset().union(*words_cited.values())))
    cited = np.zeros((len(judges), len(texts), len(known)), dtype=bool)
    for (judge, item, target), words in words_cited.items():
        cited[judges[judge], texts[item, target], [known[word] for word in words]] = True
    # (rater, item, target) -> mean score by the first criterion
    scored = ratings.table[(ratings.table["criterion"] == ratings.criteria[0]) & (ratings.table["status"] == "ok")]
    given = scored.groupby([scored[name].astype(str) for name in ("rater", "item", "target")], observed=True)["score"]
    means = given.mean().astype(float).to_dict()
    scores = np.array([[means.get((judge, *text), np.nan) for text in texts] for judge in judges])
    return Citations(tuple(item for item, _ in texts), cited, scores)


def _places(names: Iterable[Name]) -> dict[Name, int]:
    """Each name once, with its place in the order in which they come."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _overlap(cited: Citations) -> Estimate:
    pairs = list(combinations(range(len(cited.words)), 2))
    if not pairs:
        return undefined("evidence_overlap", "one judge has nobody to share with", n=0, method=METHOD)
    both = [_same_and_other(cited.words[a], cited.words[b]) for a, b in pairs]
    same, other = (np.array(part) for part in zip(*both, strict=True))  # each (pairs, T)
    apart = np.array([np.abs(cited.scores[a] - cited.scores[b]) for a, b in pairs])
    items = _places(cited.items)
    at = np.broadcast_to([items[item] for item in cited.items], same.shape)
    there = np.isfinite(same - other)
    test = Paired.of(moments_of(at.ravel(), (same - other).ravel(), len(items)).mean)
    facts: dict[str, Any] = {"n": test.n, "n_excluded": len(items) - test.n, "method": METHOD}
    if test.n < 2:
        why = "no two judges cite the same text, and another one, on two items"
        return undefined("evidence_overlap", why, **facts)
    known = there & np.isfinite(apart)
    rho = float(spearman(same[known], apart[known])) if known.sum() > 2 else float("nan")
    detail = {
        "same": number(float(same[there].mean())), "other": number(float(other[there].mean())),
        "texts": int(there.any(axis=0).sum()), "with_difference": number(rho), "pairs": int(known.sum()),
    }  # fmt: skip
    return estimated("evidence_overlap", test.mean, test.distribution, detail=detail, **facts)


def _same_and_other(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """What two judges share on each text, and what the first shares on it with the second on other texts, (T,) each.
    NaN where one of the two cites nothing."""
    shared = jaccard(first, second)
    silent = ~second.any(axis=1)
    shared[:, silent] = np.nan
    shared[~first.any(axis=1)] = np.nan
    here = np.diag(shared).copy()
    np.fill_diagonal(shared, np.nan)
    return here, mean_of(shared, axis=1)
