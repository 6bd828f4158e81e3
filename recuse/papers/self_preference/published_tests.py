"""The two published tests of self-preference. Per item, on the ascending scale (thesis on bias in LLM
self-evaluation, sec. 3.3 and Table 1):

    S  the judge's score of its own text
    R  mean of the other judges' scores of that same text
    G  mean of the judge's scores of the other authors' texts

S - R above 0: it sees more in its text than its peers do. S - G above 0: it prefers its text, which may be right. S - G
moves with the quality of the author's texts, S - R with the judge's general leniency: fair judges fail both tests most
of the time. `recuse.metrics.self_preference` removes both, and is the measure to gate."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from recuse.metrics.estimates import PAIRED_MARGIN, paired_estimate, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.self_preference import NESTED, missing_text, own_place, self_preference_controlled
from recuse.papers.self_preference.over_texts import OwnTexts, Place, known_of_texts, own_texts, share_estimate
from recuse.ratings import RatingArray, Ratings, judges_array, mean_of, remembered
from recuse.schema import Estimate, Estimates, number
from recuse.schema.arrays import Floats
from recuse.statistics.multiplicity import holm
from recuse.statistics.paired import Paired, moments, significant

ALPHA = 0.05


@measure(
    "self_minus_received", "own text against its peers' view of it", signed=True, rank=310,
    above="scores its own text above its peers", below="scores its own text below its peers",
    reading="S - R: a judge's score of its own text less its peers' mean for the same text; its leniency included.",
)  # fmt: skip
def self_minus_received(ratings: Ratings) -> Estimates:
    """Mean of S - R, by judge that wrote a target and factor level; paired t over items, or over what they share.
    Detail: n, means and SDs of S, R and G, t, p, `p_holm` over the family of all S - R and S - G tests of these
    ratings, Cohen's dz with interval, power at `PAIRED_MARGIN` and smallest detectable effect (`Paired.detail`),
    `excluded` items by what they lack, the `reading` of both tests together, and `thesis_reading`, of S - R alone, p
    uncorrected (sec. 3.3: above 0 "harmful", below 0 "modest", else "none"). An item without a usable S, R or G is
    excluded and counted. Undefined with one judge or target, without such items, and where every target has its own.

    >>> scores = example("judge target score", "x a 5; x b 3; y a 4; y b 4", authors={"x": "a"})
    >>> self_minus_received(scores).of(judge="x").value
    1.0
    """
    return _family(ratings)["self_minus_received"]


@measure(
    "self_minus_given", "own text against the others' texts", signed=True, rank=320,
    above="scores its own text above others'", below="scores its own text below others'",
    reading="S - G: a judge's score of its own text less its mean for the others' texts; their quality included.",
)  # fmt: skip
def self_minus_given(ratings: Ratings) -> Estimates:
    """Mean of S - G, by judge and factor level: the other half of the same family; see `self_minus_received`.

    >>> scores = example("judge target score", "x a 5; x b 3; y a 4; y b 4", authors={"x": "a"})
    >>> self_minus_given(scores).of(judge="x").value
    2.0
    """
    return _family(ratings)["self_minus_given"]


@measure(
    "sibling_preference", "preference for a sibling's text", signed=True, rank=41,
    above="prefers texts of its own family", below="disfavours texts of its own family",
    reading="The same for the text of another model of the judge's family, held against judges and texts of others.",
)  # fmt: skip
def sibling_preference(ratings: Ratings) -> Estimates:
    """`self_preference_controlled` with a sibling's text in the place of a judge's own, by judge, sibling's target and
    factor level (`Ratings.families`; thesis, sec. 2.4: "the same model or model family"). Neither the family's other
    judges nor its other texts count: they are no neutral peers. Empty where no two judges of a family wrote texts.

    >>> more = {"authors": {"a": "s", "c": "t"}, "families": {"a": "one", "c": "one"}}
    >>> scores = example("judge target score", "a s 4; a t 5; a n 3; b s 3; b t 3; b n 3", **more)
    >>> sibling_preference(scores).of(judge="a", target="t").value
    2.0
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for judge, sibling in product(ratings.judges, ratings.authors):
        family = ratings.families.get(judge)
        target = ratings.authors[sibling]
        if judge == sibling or family is None or ratings.families.get(sibling) != family:
            continue
        kin = {name for name, of in ratings.families.items() if of == family}
        theirs = {ratings.authors[name] for name in kin if name in ratings.authors} - {target}
        table = ratings.table
        kept = table[~table["target"].isin(theirs) & ~table["rater"].isin(kin - {judge})]
        authors = {name: of for name, of in ratings.authors.items() if name not in kin}
        alone = replace(ratings, table=kept, authors={judge: target, **authors}, _memory={})
        for (name, *names), estimate in self_preference_controlled(alone).items():
            if name == judge:
                estimates[judge, target, *names] = replace(estimate, metric="sibling_preference")
    return Estimates(("judge", "target", *ratings.within()), estimates)


def reading(received: Paired, given: Paired, p_received: float, p_given: float) -> str:
    """What both tests say together, at adjusted p-values:

    | | S - G above 0 | S - G not above 0 |
    |---|---|---|
    | S - R above 0 | harmful | generous |
    | S - R not told from 0 | justified | none |
    | S - R below 0 | justified, and modest | modest |

    Harmful: it prefers its own text, and peers do not see why. Justified: it does, and so would they. Generous: above
    its peers' view of its text, yet no higher than it scores others; its level, not itself. By S - R alone, as the
    thesis reads it, a judge that is generous to everyone is harmful too."""
    prefers, above = (test.mean > 0 and p < ALPHA for test, p in ((given, p_given), (received, p_received)))
    below = received.mean < 0 and p_received < ALPHA
    if above:
        return "harmful" if prefers else "generous"
    if prefers:
        return "justified, and modest" if below else "justified"
    return "modest" if below else "none"


@remembered
def _family(ratings: Ratings) -> Mapping[str, Estimates]:
    """Both comparisons of every judge and combination of factor levels, on the items that have S, R and G: one family,
    by the measure's name."""
    made: dict[tuple[str, ...], tuple[Ratings, tuple[Paired, Paired], dict[str, Any], int, str]] = {}
    for names, part in ratings.each():
        array = judges_array(part)
        for judge in ratings.own():
            place = own_place(array, part.authors, judge)
            parts = self_received_given(array, place)
            usable, detail = np.isfinite(parts).all(axis=0), dict[str, Any](excluded={})
            s, r, g = (np.where(usable, values, np.nan) for values in parts)
            why = missing_text(array, judge)
            if place is not None:
                for name, values in (("s", s), ("r", r), ("g", g)):
                    mean, sd = moments(values[usable])
                    detail |= {f"{name}_mean": number(mean), f"{name}_sd": number(sd)}
                lacking = {name: int(np.isnan(values).sum()) for name, values in zip(LACKING, parts, strict=True)}
                detail["excluded"] = {name: count for name, count in lacking.items() if count}
                never = [LACKING[name] for name, count in lacking.items() if count == len(array.items)]
                why = f"no item has {' or '.join(never)}" if never else "no item has scores of all three kinds"
                why = NESTED if array.nested else why
            tests = paired_test(s - r, array), paired_test(s - g, array)
            made[judge, *names] = part, tests, detail, int((~usable).sum()), why
    adjusted = holm(np.array([test.p for _, tests, *_ in made.values() for test in tests], dtype=float))
    family, measures = int(np.isfinite(adjusted).sum()), ("self_minus_received", "self_minus_given")
    estimates: dict[str, dict[tuple[str, ...], Estimate]] = {name: {} for name in measures}
    for subject, p in zip(made, adjusted.reshape(-1, 2).tolist(), strict=True):
        part, tests, detail, excluded, why = made[subject]
        alone = ("harmful" if tests[0].mean > 0 else "modest") if tests[0].p < ALPHA else "none"
        together = {"reading": reading(*tests, *p), "thesis_reading": alone}
        for name, test, p_holm, more in zip(measures, tests, p, (together, {}), strict=True):
            estimates[name][subject] = paired_estimate(name, test, part, excluded=excluded, why=why, detail={
                **test.detail(PAIRED_MARGIN * part.scale.span), **detail, "p_holm": significant(p_holm),
                "family": family, **more,
            })  # fmt: skip
    return {name: Estimates(("judge", *ratings.within()), of) for name, of in estimates.items()}


LACKING = {"self": "its own score", "received": "a peer's score of its text", "given": "its score of another's text"}


def self_received_given(array: RatingArray, place: Place | None) -> Floats:
    """S, R and G per item, shape (3, I), NaN where there is none; `place`: row and column of a judge's own texts."""
    if place is None:
        return np.full((3, len(array.items)), np.nan)
    row, column = place
    received = mean_of(np.delete(array.means[:, :, column], row, axis=0), axis=0)
    given = mean_of(np.delete(array.means[row], column, axis=1), axis=1)
    return np.stack([array.means[row, :, column], received, given])


def paired_test(differences: Floats, array: RatingArray) -> Paired:
    """Student's t of `differences` (items,), over clusters where several items share one; NaN is left out."""
    return Paired.of(differences, array.groups)


def paired_change(
    metric: str, part: Ratings, array: RatingArray, differences: Floats, why: str, detail: Mapping[str, Any],
    margin: float | None = None,
) -> Estimate:  # fmt: skip
    """`paired_test` of `differences` (items,) as an estimate, with `detail`. Undefined, with `why`, where no item has a
    difference. With a `margin`, a share of the scale's range, what the test tells of itself joins the detail: that is
    the difference whose chance of being found it tells."""
    test = paired_test(differences, array)
    tested = {} if margin is None else test.detail(margin * part.scale.span)
    return paired_estimate(metric, test, part, excluded=len(differences) - test.n, why=why, detail={**tested, **detail})


# --------------------------------------------------------------------------- rankings of authors and of judges


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
    values = {target: mean_of(array.means[own != k, :, k], axis=0) for k, target in enumerate(array.targets)}
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
    board = {target: mean_of(array.means[:, :, column], axis=0) for column, target in enumerate(array.targets)}
    for row, column in enumerate(array.columns(part.authors)):
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
    means: dict[str, tuple[float, float, int]] = {}
    for judge, place in places.items():
        s, r, g = self_received_given(array, place)
        there = np.isfinite(s + r + g)
        received, given = (float(mean_of((s - other)[there], axis=0)) for other in (r, g))
        means[judge] = received, given, int(there.sum())
    distances = {judge: float(np.hypot(received, given)) for judge, (received, given, _) in means.items()}
    for judge, (received, given, n) in means.items():
        if not n:
            why = "no item has its own score, a peer's and its score of another text"
            yield judge, undefined(metric, why if places[judge] else missing_text(array, judge), **about)
            continue
        rank = 1 + sum(other < distances[judge] - 1e-12 for other in distances.values())
        detail = {"received": received, "given": given, "rank": rank}
        yield judge, Estimate(metric=metric, value=distances[judge], n=n, over="items", detail=detail, **about)


@measure(
    "significant_tests", "significant comparisons", unit="tests", rank=330,
    reading="How many of the comparisons of own texts are significant by themselves, and after Holm's correction.",
)  # fmt: skip
def significant_tests(ratings: Ratings) -> Estimate:
    """Number of S - R and S - G tests of these ratings with p below .05 (`alpha`), over all judges, factor levels and
    criteria; n is the number of tests that could be made, the others are excluded. A count, without an interval, never
    undefined. Detail: `significant`, `survive` (p_holm below alpha), `tests`, and `summary`, the sentence.

    >>> scores = example("judge target score", "a a 5; a b 3; b a 4; b b 4", authors={"a": "a"})
    >>> significant_tests(scores).detail["summary"]
    '0 of 0 significant, 2 could not be made'
    """
    every = [one.detail for family in (self_minus_received, self_minus_given) for one in family(ratings).values()]
    made = [test for test in every if test.get("p") is not None]
    significant, survive = (sum(test[p] < ALPHA for test in made) for p in ("p", "p_holm"))
    kept = f", {'all ' * (survive == significant)}{survive} survive Holm" if significant else ""
    lacking = len(every) - len(made)
    unmade = f", {lacking} could not be made" if lacking else ""
    return Estimate(
        metric="significant_tests", value=float(significant), unit="tests", n=len(made), n_excluded=lacking,
        method="paired t-tests, Holm over the family", note="a count, no interval",
        detail={
            "significant": significant, "survive": survive, "tests": len(made), "alpha": ALPHA,
            "summary": f"{significant} of {len(made)} significant{kept}{unmade}",
        },
    )  # fmt: skip


# --------------------------------------------------------------------------- language drift
# A model now and then slips into another language in the middle of a text (thesis, sec. 3.3, note 9: a word of Chinese
# in an English lead). A slip into a language of the same script is not found.


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
