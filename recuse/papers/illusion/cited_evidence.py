"""Is there judgement in a reply? Whether judges that agree on a text cite the same places in it, replies that copy, and
flaws that knowledge finds ("Beyond the Illusion of Consensus", 2026, sec. 3.4, app. C and E)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.illusion.merg import PARTS
from recuse.papers.rank_tests import spearman
from recuse.papers.self_preference.over_texts import facts_of_texts, known_of_texts, share_estimate
from recuse.ratings import Numeric, Ratings, judges_array, mean_of, moments_of
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.schema.pandas_when_used import pd
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.paired import METHOD, Paired

WORD = re.compile(r"[\u3400-\u9fff]|\d+|[^\W\d_\u3400-\u9fff]{4,}")
"""Words of four letters or more, numbers, and single characters of a script without spaces."""


@measure(
    "evidence_overlap", "shared evidence", signed=True, rank=421,
    reading="How many of the words that two judges cite of a text they share (0 to 1), less those shared between two "
    "texts. 0: they point at different places, or say the same of every text.",
)  # fmt: skip
def evidence_overlap(ratings: Ratings) -> Estimates:
    """Mean over items of the overlap, by the levels of all factors; t over items:

        mean over pairs of judges of J(a cites of the text, b cites of it) - mean of J(a cites of it, b of another text)

    J is Jaccard's index of the sets of words. What judges say of every text is in both means, so it adds nothing; where
    languages are mixed, what is said of every text of one counts in part. Detail: `same` and `other`, the two means;
    `texts`; `with_difference`, Spearman's rho of overlap and difference of scores over texts and `pairs` of citations
    (below 0: who agrees cites the same). Empty without citations (`ratings.beside("quotes")`); undefined unless two
    judges cite the same text and another one, on two items or more.

    >>> cited = example("judge item response", "a i lines; a j verses; b i lines; b j verses")
    >>> scores = example("judge item score", "a i 1; a j 2; b i 1; b j 2", beside={"quotes": cited}.get)
    >>> evidence_overlap(scores).of().value
    1.0
    """
    cited, factors = ratings.beside("quotes"), list(ratings.factors)
    parts = [] if cited is None else [((), cited.table)]
    if cited is not None and factors:
        parts = [*cited.table.groupby(factors, sort=False, observed=True)]
    estimates: dict[tuple[str, ...], Estimate] = {}
    for levels, rows in parts:
        names = tuple(map(str, levels))
        estimates[names] = _overlap(*_citations(rows, ratings.where(**dict(zip(factors, names, strict=True)))))
    return Estimates(tuple(factors), estimates)


def words_of(text: str) -> frozenset[str]:
    """The words by which citations are compared."""
    return frozenset(WORD.findall(text.lower()))


def word_table(cited: Sequence[frozenset[str]]) -> NDArray[np.bool_]:
    """Whether each set holds each word that any of them holds, (sets, words)."""
    place = {word: k for k, word in enumerate(sorted(frozenset().union(*cited)))}
    held = np.zeros((len(cited), len(place)), dtype=bool)
    for row, words in zip(held, cited, strict=True):
        row[[place[word] for word in words]] = True
    return held


def jaccard(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Floats:
    """|A and B| / |A or B| of every row of `first` (T, words) with every row of `second` (U, words): (T, U). NaN where
    both are empty."""
    a, b = first.astype(np.float32), second.astype(np.float32)  # counts up to 16 million words are exact
    shared = (a @ b.T).astype(np.float64)
    either = first.sum(axis=1)[:, None] + second.sum(axis=1)[None, :] - shared
    return ratio(shared, either)


def _citations(rows: pd.DataFrame, ratings: Ratings) -> tuple[list[str], NDArray[np.bool_], Floats]:
    """The item of each text (T,); whether a judge cites the word of the text (judges J, T, vocabulary); the judges'
    scores (J, T), NaN where there is none."""
    words: dict[tuple[str, str, str], frozenset[str]] = {}
    for judge, item, target, quote in rows[["rater", "item", "target", "response"]].astype(str).itertuples(index=False):
        words[judge, item, target] = words.get((judge, item, target), frozenset()) | words_of(quote)
    judges, texts = _places(judge for judge, *_ in words), _places((item, target) for _, item, target in words)
    held = word_table(list(words.values()))
    cited = np.zeros((len(judges), len(texts), held.shape[1]), dtype=bool)
    cited[[judges[judge] for judge, *_ in words], [texts[item, target] for _, item, target in words]] = held
    # (rater, item, target) -> mean score by the first criterion
    scored = ratings.table[(ratings.table["criterion"] == ratings.criteria[0]) & (ratings.table["status"] == "ok")]
    given = scored.groupby([scored[name].astype(str) for name in ("rater", "item", "target")], observed=True)["score"]
    means = given.mean().astype(float).to_dict()
    scores = np.array([[means.get((judge, *text), np.nan) for text in texts] for judge in judges])
    return [item for item, _ in texts], cited, scores


def _places(names: Iterable[Any]) -> dict[Any, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _overlap(of_texts: list[str], words: NDArray[np.bool_], scores: Floats) -> Estimate:
    pairs, items = list(combinations(range(len(words)), 2)), _places(of_texts)
    method = "shared words on one text less on two texts, mean over pairs of judges; t over items"
    if not pairs:
        return undefined("evidence_overlap", "one judge has nobody to share with", n=0, method=method)
    same, other = np.empty((2, len(pairs), len(of_texts)))  # NaN where one of the two cites nothing
    for k, (first, second) in enumerate((words[a], words[b]) for a, b in pairs):
        shared = jaccard(first, second)
        shared[:, ~second.any(axis=1)] = np.nan
        shared[~first.any(axis=1)] = np.nan
        same[k] = np.diag(shared)
        np.fill_diagonal(shared, np.nan)
        other[k] = mean_of(shared, axis=1)
    apart = np.array([np.abs(scores[a] - scores[b]) for a, b in pairs])
    at = np.broadcast_to([items[item] for item in of_texts], same.shape)
    there = np.isfinite(same - other)
    test = Paired.of(moments_of(at.ravel(), (same - other).ravel(), len(items)).mean)
    facts: dict[str, Any] = {"n": test.n, "n_excluded": len(items) - test.n, "method": method}
    if test.n < 2:
        return undefined("evidence_overlap", "no two judges cite the same text, and another one, on two items", **facts)
    known = there & np.isfinite(apart)
    rho = float(spearman(same[known], apart[known])) if known.sum() > 2 else float("nan")
    detail = {
        "same": number(float(same[there].mean())), "other": number(float(other[there].mean())),
        "texts": int(there.any(axis=0).sum()), "with_difference": number(rho), "pairs": int(known.sum()),
    }  # fmt: skip
    return estimated("evidence_overlap", test.mean, test.distribution, detail=detail, **facts)


# --------------------------------------------------------------------------- copied replies
# A reply can have the form that was asked for and hold no judgement: scores that count 1, 2, 3, 4, 5 or repeat the
# anchors. They agree with each other beautifully, so whoever measures agreement needs to know how many there are.

ANCHORS = (2.0, 5.0, 8.0, 10.0)  # the scores that a MERG prompt names


@measure(
    "repeated_numbers", "scores that repeat the prompt's numbers", unit="share", rank=423, bad="above",
    above="repeats the prompt's numbering or anchors",
    reading="Share of replies whose scores, in the order in which they are asked for, count 1, 2, 3, ... or begin 2, "
    "5, 8, 10 as the prompt names the anchors. Such a reply is readable and judges nothing.",
)  # fmt: skip
def repeated_numbers(ratings: Ratings) -> Estimates:
    """Share of complete replies of three scores or more that are 1, 2, 3, ..., or begin with the anchors, by judge and
    factor level; parts are `Ratings.parts`, or MERG's five. Clopper-Pearson interval, over clusters at the effective
    sample size. Detail: `counting`, `anchors`; `commonest`, the share of the commonest list of scores; `lists`, how
    many different ones there are. A judge that means 1, 2, 3, 4, 5 once is counted too. Empty below three parts.

    >>> rows = "i dimension_1 1; i dimension_2 2; i dimension_3 3; k dimension_1 4; k dimension_2 2; k dimension_3 3"
    >>> repeated_numbers(example("item criterion score", rows, parts=PARTS[:3])).of(judge="j").value
    0.5
    """
    parts = ratings.parts or tuple(name for name in ratings.criteria if name in PARTS)
    estimates: dict[tuple[str, ...], Estimate] = {}
    if len(parts) < 3:
        return Estimates(("judge", *ratings.factors), estimates)
    rows = ratings.table[ratings.table["kind"].eq("judge") & ratings.table["criterion"].isin(parts)]
    keys, first = ["rater", *ratings.factors], ANCHORS[: len(parts)]
    wide = rows.pivot_table("score", [*keys, "item", "target", "repeat"], "criterion", observed=True)
    complete = wide.reindex(columns=list(parts)).dropna()
    for (judge, *levels), replies in complete.groupby(keys, sort=False, observed=True):
        scores = replies.to_numpy()
        counting = (scores == np.arange(1, len(parts) + 1)).all(axis=1)
        anchors = (scores[:, : len(first)] == first).all(axis=1)
        lists = Counter(map(tuple, scores.tolist()))
        detail = {
            "counting": number(float(counting.mean())), "anchors": number(float(anchors.mean())),
            "commonest": number(max(lists.values()) / len(scores)), "lists": len(lists),
        }  # fmt: skip
        items = replies.index.get_level_values("item").astype(str)
        estimates[str(judge), *map(str, levels)] = share_estimate(
            "repeated_numbers", counting | anchors, items, "", n_clusters=None, detail=detail
        )
    return Estimates(("judge", *ratings.factors), estimates)


@measure(
    "quotes_in_text", "quotes that are in the text", unit="share", rank=424, below="cites what is not in the text",
    reading="Share of the places cited as evidence that stand in the judged text, word for word.",
)  # fmt: skip
def quotes_in_text(ratings: Ratings) -> Estimates:
    """Share of quotes found in the judged text (case, punctuation and blanks ignored), by judge and factor level. One
    without a word to look for (`words_of`) is not found; detail `empty` counts them. Empty without citations
    (`ratings.beside("quotes")`) or texts.

    >>> cited = example("item target response", "i t boats; k t clear")
    >>> texts = table("item target text", "i t The-boats-wait.; k t The-boats-wait.")
    >>> scores = example("item target score", "i t 3; k t 3", texts=texts, beside={"quotes": cited}.get)
    >>> quotes_in_text(scores).of(judge="j").value
    0.5
    """
    cited, texts = ratings.beside("quotes"), ratings.texts
    estimates: dict[tuple[str, ...], Estimate] = {}
    if cited is None or texts is None or "text" not in texts:
        return Estimates(("judge", *ratings.factors), estimates)
    rows = cited.table.merge(texts[["item", "target", "text"]], on=["item", "target"])
    for (judge, *levels), quotes in rows.groupby(["rater", *ratings.factors], sort=False, observed=True):
        pairs = zip(quotes["response"].astype(str), quotes["text"].astype(str), strict=True)
        there = [bool(words_of(q)) and f" {_plain(q)} " in f" {_plain(text)} " for q, text in pairs]
        empty = sum(not words_of(str(quote)) for quote in quotes["response"])
        estimates[str(judge), *map(str, levels)] = share_estimate(
            "quotes_in_text", there, quotes["item"].astype(str), "", n_clusters=None, detail={"empty": empty}
        )
    return Estimates(("judge", *ratings.factors), estimates)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+", text.casefold()))


# --------------------------------------------------------------------------- planted flaws
# Twins are two texts on one item: one polished, with a flaw that knowledge of the matter finds (sums that do not add
# up, an outline in place of the story, a misused concept), and one plain and sound ("Beyond the Illusion of Consensus",
# 2026, section 3.4 and appendix C). Columns of the texts: `flawed`, yes, no, or nothing for a text without a twin;
# `flaw`, the kind of a flawed one's.


@measure(
    "flaw_penalty", "sound above polished", signed=True, bad="below", rank=420,
    below="scores a polished text with a deep flaw above its sound twin",
    reading="Score of the plain, sound text less that of its polished twin with a planted flaw. Below 0: polish wins.",
)  # fmt: skip
@per_subject("judge", itself)
def flaw_penalty(part: Ratings) -> Iterator[Named]:
    """Mean over items of score(sound) - score(flawed), by judge and factor level, in units of the scale; t over items.
    Scores are means over repeats, and over several flawed or sound texts on an item; an item without a usable score on
    one side is left out. Detail: how often the `sound` won, the `flawed`, or `neither`; `by_flaw`, kind of flaw, mean
    and items, where texts say it. Undefined below two items with both.

    >>> texts = table("item target flawed", "i p yes; i q no; k p yes; k q no")
    >>> flaw_penalty(example("item target score", "i p 7; i q 4; k p 6; k q 5", texts=texts)).of(judge="j").value
    -2.0
    """
    flaws = {item: str(kind) for (item, _), kind in known_of_texts(part, "flaw").items()}
    array = judges_array(part)
    marks = facts_of_texts(part, "flawed", array)
    twinned = (marks == "yes").any(axis=1) & (marks == "no").any(axis=1)
    kinds = np.array([flaws.get(item, "") for item in array.items], dtype=object)[twinned]
    for judge, means in zip(array.raters, array.means, strict=True):
        sound, flawed = (mean_of(np.where(marks == kind, means, np.nan)[twinned], axis=1) for kind in ("no", "yes"))
        there, scale = np.isfinite(sound - flawed), part.scale
        known, of = (sound - flawed)[there], kinds[there]
        facts: dict[str, Any] = {
            "n": len(known), "n_excluded": len(there) - len(known), "method": METHOD, "unit": "points",
            "span": scale.maximum - scale.minimum if isinstance(scale, Numeric) else None,
        }  # fmt: skip
        if len(known) < 2:
            yield judge, undefined("flaw_penalty", "fewer than two items have a usable score of both twins", **facts)
            continue
        test = Paired.of(known)
        won = {"sound": int((known > 0).sum()), "flawed": int((known < 0).sum()), "neither": int((known == 0).sum())}
        by_flaw = [[kind, number(float(known[of == kind].mean())), int((of == kind).sum())]
                   for kind in sorted(set(of) - {""})]  # fmt: skip
        detail = {**won, "dz": number(test.dz[0]), **({"by_flaw": by_flaw} if by_flaw else {})}
        yield judge, estimated("flaw_penalty", test.mean, test.distribution, detail=detail, **facts)
