"""Who writes best by the others' scores, and which judge is fairest to itself: the two rankings that the thesis on bias
in LLM self-evaluation reads off its table (sec. 4.1). A judge is the fairer, the nearer S - R and S - G are to 0
together; leniency counts as unfair by S - R and good work by S - G, which is why this ranks and decides nothing (see
`recuse.metrics.self_preference`)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from recuse.metrics.estimates import undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.self_preference import missing_text
from recuse.papers.self_preference import published_tests
from recuse.papers.self_preference.over_texts import OwnTexts, known_of_texts, own_texts, share_estimate
from recuse.papers.self_preference.published_tests import ALPHA, paired_change, self_minus_given, self_minus_received
from recuse.ratings import Ratings, mean_of
from recuse.ratings.array import judges_array
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats


@measure(
    "author_score", "score by the others", rank=355, reading="Mean score of an author's texts by all judges but itself."
)
@per_subject("target", itself)
def author_score(part: Ratings) -> Iterator[Named]:
    """Mean over items of the other judges' mean score of an author's text, by target and factor level. Detail: `rank`
    among the targets, 1 for the best, ties sharing the better rank. Undefined for a target that nobody else scored.

    >>> scores = example("judge target score", "x a 5; y a 3; x b 4; y b 1", authors={"x": "a", "y": "b"})
    >>> [(estimate.value, estimate.detail["rank"]) for estimate in author_score(scores).values()]
    [(3.0, 2), (4.0, 1)]
    """
    array = judges_array(part)
    own = np.array(array.columns(part.authors), dtype=object)
    values = {
        target: mean_of(array.means[own != column, :, column], axis=0) for column, target in enumerate(array.targets)
    }
    for target, per_item in values.items():
        detail = {"rank": _rank(target, values)}
        yield target, paired_change("author_score", part, array, per_item, "nobody else scored it", detail)


@measure(
    "leaderboard_inflation", "points gained by judging itself", signed=True, rank=357,
    reading="Mean score of an author's texts with its own verdict among them, less without it. Above 0: it stands "
    "higher on a leaderboard that its own judgements are part of.",
)  # fmt: skip
@per_subject("target", itself)
def leaderboard_inflation(part: Ratings) -> Iterator[Named]:
    """mean over items of [mean score of its text by all judges - mean by all but itself], by target that a judge wrote
    and factor level; paired t over items. Of J judges that all scored a text this is (S - R) / J. Thesis, abstract:
    self-preference inflates benchmarks. Detail: `rank` and `rank_without` its own verdicts, 1 for the best mean, ties
    sharing the better rank, and `gained`, the places between. Other judges' own verdicts stay in throughout. Undefined
    without an item that the author and another judge scored.

    >>> scores = example("judge target score", "x a 5; y a 3; x b 4; y b 4", authors={"x": "a"})
    >>> leaderboard_inflation(scores).of(target="a").value
    1.0
    """
    array = judges_array(part)
    own = array.columns(part.authors)
    board = {target: mean_of(array.means[:, :, column], axis=0) for column, target in enumerate(array.targets)}
    for row, column in enumerate(own):
        if column is None:
            continue
        target = array.targets[column]
        without = mean_of(np.delete(array.means[:, :, column], row, axis=0), axis=0)
        both = np.where(np.isfinite(array.means[row, :, column]), board[target] - without, np.nan)
        ranks = [_rank(target, {**board, target: values}) for values in (board[target], without)]
        gained = None if None in ranks else ranks[1] - ranks[0]  # type: ignore[operator]
        detail = {"rank": ranks[0], "rank_without": ranks[1], "gained": gained}
        why = "no item of it was scored by its author and by another judge"
        yield target, paired_change("leaderboard_inflation", part, array, both, why, detail)


def _rank(target: str, board: Mapping[str, Floats]) -> int | None:
    means = {name: float(np.nanmean(values)) for name, values in board.items() if np.isfinite(values).any()}
    if target not in means:
        return None
    return 1 + sum(mean > means[target] + 1e-12 for mean in means.values())


@measure(
    "distance_from_fair", "distance from a fair judge", rank=356,
    reading="How far S - R and S - G lie from 0 together; the smallest is the fairest judge of its own texts.",
)  # fmt: skip
@per_subject("judge", own_texts)
def distance_from_fair(seen: OwnTexts) -> Iterator[Named]:
    """sqrt(mean(S - R)^2 + mean(S - G)^2), by judge and factor level, on items that have all three. Detail: both means,
    and `rank`, 1 for the fairest. No interval: a distance is above 0 for a fair judge as well. Undefined for a judge
    none of whose texts was judged, or that has no peer.

    >>> scores = example("judge target score", "x a 5; x b 3; y a 5; y b 3", authors={"x": "a"})
    >>> distance_from_fair(scores).of(judge="x").detail["given"]
    2.0
    """
    metric, (part, array, places) = "distance_from_fair", seen
    about: dict[str, Any] = {"unit": part.scale.unit, "span": part.scale.span, "method": "distance of two means from 0"}
    known: dict[str, tuple[float, float, float, int]] = {}
    for judge, place in places.items():
        if place is not None:
            s, r, g = published_tests.self_received_given(array, *place)
            there = np.isfinite(s - r) & np.isfinite(s - g)
            if there.any():
                received, given = (float((s - other)[there].mean()) for other in (r, g))
                known[judge] = float(np.hypot(received, given)), received, given, int(there.sum())
    for judge, place in places.items():
        if judge not in known:
            why = "no item has its own score, a peer's and its score of another text"
            yield judge, undefined(metric, why if place else missing_text(array, judge), **about)
            continue
        distance, received, given, n = known[judge]
        rank = 1 + sum(other < distance - 1e-12 for other, *_ in known.values())
        detail = {"received": received, "given": given, "rank": rank}
        yield judge, Estimate(metric=metric, value=distance, n=n, over="items", detail=detail, **about)


METHOD = "paired t-tests, Holm over the family"


@measure(
    "significant_tests", "significant comparisons", unit="tests", rank=330,
    reading="How many of the comparisons of own texts are significant by themselves, and after Holm's correction.",
)  # fmt: skip
def significant_tests(ratings: Ratings, alpha: float = ALPHA) -> Estimate:
    """Number of S - R and S - G tests of these ratings with p below `alpha`, over all judges, factor levels and
    criteria; n is the number of tests that could be made, the others are excluded. A count, without an interval, never
    undefined. Detail: `significant`, `survive` (p_holm below alpha), `tests`, and `summary`, the sentence.

    >>> scores = example("judge target score", "a a 5; a b 3; b a 4; b b 4", authors={"a": "a"})
    >>> significant_tests(scores).detail["summary"]
    '0 of 0 significant, 2 could not be made'
    """
    every = [one.detail for family in (self_minus_received, self_minus_given) for one in family(ratings).values()]
    made = [test for test in every if test.get("p") is not None]
    significant, survive = (sum(test[p] < alpha for test in made) for p in ("p", "p_holm"))
    kept = f", {'all ' * (survive == significant)}{survive} survive Holm" if significant else ""
    lacking = len(every) - len(made)
    unmade = f", {lacking} could not be made" if lacking else ""
    return Estimate(
        metric="significant_tests", value=float(significant), unit="tests", n=len(made), n_excluded=lacking,
        method=METHOD, note="a count, no interval",
        detail={
            "significant": significant, "survive": survive, "tests": len(made), "alpha": alpha,
            "summary": f"{significant} of {len(made)} significant{kept}{unmade}",
        },
    )  # fmt: skip


# --------------------------------------------------------------------------- language drift
# A model now and then slips into another language in the middle of a text (the thesis on bias in LLM self-evaluation,
# sec. 3.3, note 9, saw a word of Chinese in an English lead). What a text may hold follows from the others: a letter
# of a script that no other text on the same item has. A slip into a language of the same script is not found.


@measure(
    "language_drift", "words of another script", unit="share", rank=1030,
    reading="Share of an author's texts that hold a letter of a script that no other text on the item has.",
)  # fmt: skip
def language_drift(ratings: Ratings) -> Estimates:
    """By target, over its texts on items with another author's text. Clopper-Pearson interval. Detail: `items` where it
    drifted, with the scripts. Undefined without texts, and where no other author wrote on its items.

    >>> texts = table("item target text", "i a bridge,\u043c\u043e\u0441\u0442; i b bridge")
    >>> scores = example("target score", "a 3; b 3", texts=texts)
    >>> [language_drift(scores).of(target=name).value for name in "ab"]
    [1.0, 0.0]
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    known: dict[str, dict[str, frozenset[str]]] = {}
    for (item, target), text in known_of_texts(ratings, "text").items():
        known.setdefault(item, {})[target] = scripts(str(text))
    for target in ratings.targets:
        extra = {
            item: letters[target].difference(*(letters[name] for name in letters if name != target))
            for item, letters in known.items()
            if target in letters and len(letters) > 1
        }
        estimates[(target,)] = share_estimate(
            "language_drift", list(map(bool, extra.values())), np.arange(len(extra)),
            "no item has the words of this author's text and of another's", n_clusters=None,
            detail={"items": {item: sorted(scripts) for item, scripts in extra.items() if scripts}},
        )  # fmt: skip
    return Estimates(("target",), estimates)


@lru_cache(maxsize=4096)
def scripts(text: str) -> frozenset[str]:
    """The scripts of a text's letters, by the first word of their Unicode names: LATIN, CYRILLIC, CJK, ..."""
    letters = {char for char in text if char.isalpha()}
    return frozenset(unicodedata.name(char, "UNKNOWN").split()[0].split("-")[0] for char in letters)
