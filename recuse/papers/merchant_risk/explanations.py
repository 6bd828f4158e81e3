"""Explanation auditing: do a judge's reasons fit its score, the criterion and the text, or are they copied?
(Merchant-risk paper, sec. 7.3.) What is found in single explanations, by their words alone:

    empty            no words
    contradiction    only praise at a score in the lowest third of the scale, or only blame in the highest third
    wrong criterion  names another criterion of the task, and not its own
    copied           the same words as for another criterion in the same reply
    boilerplate      the same words as about another text
    rubric           `RUN` words in a row that stand in the rubric
    ungrounded       no word of the judged text that is not in the rubric too

Words of praise and blame are a short list, turned round by "not", "no" and the like up to `REACH` words before. It
misses irony and most of what small models write: compare judges by it, convict no reply."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import compress
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number
from recuse.metrics.measure import measure
from recuse.papers.self_preference.over_texts import known_of_texts
from recuse.ratings import Numeric, Ratings
from recuse.ratings.array import first_of, grouped
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Mask
from recuse.schema.pandas_when_used import pd
from recuse.statistics.clusters import clustered_share

EXAMPLES = 3
RUN, REACH = 6, 3
WORD = re.compile(r"[a-z']+")
CONJUNCTIONS = ("and", "but")  # beyond these a negator does not reach
NEGATORS = {
    "no", "not", "never", "without", "nothing", "none", "hardly", "neither", "nor", "isn't", "doesn't", "don't",
    "cannot",
}  # fmt: skip
PRAISE = (
    "accura", "clear", "complete", "consisten", "correct", "covers", "detailed", "excellent", "good", "great",
    "helpful", "logical", "organi", "practical", "precise", "professional", "sound", "strong", "thorough", "useful",
    "well",
)  # fmt: skip
BLAME = (
    "absen", "bad", "confus", "contradict", "fail", "generic", "illogical", "inaccura", "incomplete", "inconsisten",
    "incorrect", "irrelevan", "lack", "mislead", "missing", "omit", "poor", "shallow", "unclear", "unhelpful", "vague",
    "weak", "wrong",
)  # fmt: skip
NOUNS = ("cy", "ness", "ity")  # "Accuracy" names a criterion and praises nothing; "inaccuracy" blames
LONG = 5  # letters from which on a word of the text says something of it


@measure(
    "explanation_finding", "finding in the explanations", unit="share", rank=310, bad="none",
    reading="Share of a judge's explanations that contradict their score, name another criterion, or are copied. Found "
    "by words: compare judges by it.",
)  # fmt: skip
def explanation_finding(ratings: Ratings) -> Estimates:
    """Share of the explanations beside the scores that show it, by judge and finding, over all criteria and factor
    levels; interval over texts. Detail: `examples`, up to three as [item, criterion, score, words]; `texts`,
    how many texts they are about. An explanation without a usable score counts everywhere but under "contradiction".
    Empty without explanations (`ratings.beside("explanations")`).

    >>> beside = {"explanations": example("item response", "i clear; k clear")}.get
    >>> estimates = explanation_finding(example("item score", "i 1; k 9", scales=Numeric(0, 10), beside=beside))
    >>> estimates.of(judge="j", finding="contradiction").value, estimates.of(judge="j", finding="boilerplate").value
    (0.5, 1.0)
    """
    beside = ratings.beside("explanations")
    if beside is None:
        return Estimates(("judge", "finding"), {})
    estimates: dict[tuple[str, ...], Estimate] = {}
    for judge, reasons in _joined(ratings, beside).groupby("rater", sort=False, observed=True):
        columns = [reasons[name].tolist() for name in ("item", "criterion", "score", "response")]
        texts = reasons["of"].to_numpy()
        for name, flags in _findings(reasons, beside.criteria).items():
            shown: dict[str, list[Any]] = {}
            for item, of, score, words in compress(zip(*columns, strict=True), flags):
                if len(shown) < EXAMPLES:
                    shown.setdefault(words, [str(item), str(of), number(score), str(words)[:160]])
            estimates[str(judge), name] = estimated(
                "explanation_finding", float(flags.mean()), clustered_share(flags, texts), n=len(flags), unit="share",
                method="share of explanations, clustered by text",
                detail={"examples": [*shown.values()], "texts": len(set(texts))},
            )  # fmt: skip
    return Estimates(("judge", "finding"), estimates)


def polarity(words: Sequence[str]) -> int:
    """Words of praise less words of blame, each turned round by a negator shortly before it in its part of a list."""
    total = 0
    for place, word in enumerate(words):
        sign = -1 if word.startswith(BLAME) else 1 if word.startswith(PRAISE) and not word.endswith(NOUNS) else 0
        if sign:
            near = list(words[max(0, place - REACH) : place])
            start = max((at + 1 for at, before in enumerate(near) if before in CONJUNCTIONS), default=0)
            total += -sign if NEGATORS.intersection(near[start:]) else sign
    return total


def _joined(ratings: Ratings, beside: Ratings) -> pd.DataFrame:
    """Explanations with the scores that they explain, and what they could have been copied from: columns item, target,
    criterion, reply, response, `plain` (its words in lower case, one blank between them), `of` (which text it is about,
    "item/target"), height (of the score on its scale, 0 to 1), text, rubric (of the task)."""
    keys = ["rater", "item", "target", "criterion", "repeat", *ratings.factors]
    reasons = beside.table[beside.table["response"].notna()].drop(columns=["score", "status"])
    rows = reasons.merge(ratings.table[[*keys, "score", "status"]], on=keys, how="left")
    heights = [
        (score - scale.ends[0]) / scale.span if isinstance(scale, Numeric) and np.isfinite(scale.span) else np.nan
        for score, scale in zip(rows["score"], map(ratings.scales.get, rows["criterion"]), strict=True)
    ]
    named = (rows[name].astype(str) for name in ("item", "target", "repeat", *ratings.factors))
    rows = rows.assign(
        height=np.array(heights, dtype=float), reply=list(map("/".join, zip(*named, strict=True))),
        plain=rows["response"].astype(str).str.lower().map(lambda text: " ".join(WORD.findall(text))),
        of=rows["item"].astype(str) + "/" + rows["target"].astype(str),
    )  # fmt: skip
    known, of = known_of_texts(beside, "text"), zip(rows["item"].astype(str), rows["target"].astype(str), strict=True)
    return rows.assign(text=[known.get(text, "") for text in of], rubric=rows.get("rubric", ""))


def _findings(rows: pd.DataFrame, names: Sequence[str]) -> dict[str, Mask]:
    """Which of the explanations of one judge show what, by the task's criteria."""

    @cache
    def runs(text: str) -> set[tuple[str, ...]]:
        words = WORD.findall(text.lower())
        return {tuple(words[k : k + RUN]) for k in range(len(words) - RUN + 1)}

    @cache
    def content(text: str) -> frozenset[str]:
        return frozenset(word for word in WORD.findall(text.lower()) if len(word) >= LONG)

    def repeated(words: list[str], beside: str) -> Mask:
        alike = grouped(*(rows[name] for name in words))
        together = first_of(grouped(alike, rows[beside]))  # each of what stands beside them once
        return np.asarray(np.bincount(alike[together])[alike] > 1) & ~empty

    empty, height = (rows["plain"].str.len() < 2).to_numpy(), rows["height"].to_numpy()
    lean = rows["plain"].map(lambda text: polarity(text.split())).to_numpy()
    each = [*zip(rows["plain"], rows["criterion"], rows["text"], rows["rubric"], strict=True)]
    flags = {
        "empty": empty, "contradiction": ((lean > 0) & (height <= 1 / 3)) | ((lean < 0) & (height >= 2 / 3)),
        "wrong criterion": [own not in w and any(name in w for name in names if name != own) for w, own, *_ in each],
        "copied": repeated(["reply", "plain"], "criterion"), "boilerplate": repeated(["plain"], "of"),
        "rubric": [not runs(words).isdisjoint(runs(rubric)) for words, _, _, rubric in each],
        "ungrounded": [not content(words) & (content(text) - content(rubric)) for words, _, text, rubric in each],
    }  # fmt: skip
    return {name: np.array(flag, dtype=bool) for name, flag in flags.items()}
