"""From a coefficient of agreement between a judge and people to an `Estimate`, with what it is read beside: the base
rate of people's answers, and what a judge reaches that says the same of everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.ratings import Numeric, Ordinal, Ratings, ResponseSets
from recuse.ratings.answers import Answers
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.agreement import Coefficient

JACKKNIFE = "jackknife, t"
FEWEST = 20
"""Labels outside the commonest option (of numbers: texts) below which no interval of a chance-corrected coefficient can
be believed: where fails are few, intervals hold the truth far less often than they say."""
NO_OPTIONS = "answers are numbers here, not options; read the correlations, the concordance or alpha"
NO_NUMBERS = "answers are options here, not numbers; read kappa or alpha"


def estimate_of(
    metric: str, answers: Answers, judge: int, coefficient: Callable[[NDArray[np.bool_]], Coefficient], *,
    method: str, detail: dict[str, Any] | None = None, distribution: Callable[[Coefficient, Any], Any] | None = None,
    **more: Any,
) -> Estimate:  # fmt: skip
    """The estimate of a coefficient that is built from the texts which both the judge and a person rated, (U,) marks.

    `distribution(coefficient, clusters)` gives its distribution where it is not the jackknife's."""
    used, known = both_rated(answers, judge), tally(answers, judge)
    built = coefficient(used)
    facts = {"n": int(used.sum()), "n_excluded": known["unanswered"], "over": answers.over, "method": method,
             "clusters": answers.clusters_called, **more}  # fmt: skip
    known |= describe_people(answers, judge) | (detail or {})
    if built.undefined:
        return undefined(metric, built.undefined, detail=known, **facts)
    clusters = answers.clusters[used]
    over_clusters = built.jackknife(clusters) if distribution is None else distribution(built, clusters)
    return estimated(metric, built.value, over_clusters, detail=known, **facts)


def both_rated(answers: Answers, judge: int) -> NDArray[np.bool_]:
    """Texts that the judge and at least one person answered, (U,)."""
    both: NDArray[np.bool_] = np.isfinite(answers.judged[judge]).any(axis=1) & (answers.raters > 0)
    return both


def tally(answers: Answers, judge: int) -> dict[str, Any]:
    """How many texts people rated that the judge was asked about, and how many of these it left without an answer."""
    requested = answers.requested[judge] & (answers.raters > 0)
    return {
        "people": int(np.isfinite(answers.rated).any(axis=(1, 2)).sum()),
        "requested": int(requested.sum()),
        "unanswered": int((requested & ~both_rated(answers, judge)).sum()),
    }


def describe_people(answers: Answers, judge: int) -> dict[str, Any]:
    """People's answers to the texts that both rated: `base_rate`, the share of every option, with `constant`, the
    option that is right most often; of numbers, the median and its mean absolute error."""
    used = both_rated(answers, judge)
    if answers.options:
        shares = answers.people_shares[used]
        if not len(shares):
            return {}
        rates = shares.mean(axis=0)
        best = int(rates.argmax())
        return {
            "base_rate": {name: number(rate) for name, rate in zip(answers.options, rates, strict=True)},
            "labels": {name: number(total) for name, total in zip(answers.options, shares.sum(axis=0), strict=True)},
            "constant": {"answer": answers.options[best], "agrees": number(rates[best])},
        }
    labels = answers.people_mean[used]
    middle = float(np.median(labels)) if len(labels) else np.nan
    error = float(np.abs(labels - middle).mean()) if len(labels) else np.nan
    return {"constant": {"answer": number(middle), "absolute_error": number(error)}}


def too_few(options: tuple[str, ...], counts: Floats) -> str:
    """Why labels are too few for an interval, empty where they suffice. `counts` (K,): labels per option, or of numbers
    the one number of texts."""
    if not options:
        return "" if counts.sum() >= FEWEST else f"{int(counts.sum())} texts; an interval needs {FEWEST}"
    rare = float(counts.sum() - counts.max())
    if rare >= FEWEST - 1e-9:
        return ""
    return (
        f"people's labels other than {options[int(counts.argmax())]} make {rare:.4g} texts; an interval needs {FEWEST}."
        " Label more texts, or choose texts of which more are expected to be otherwise"
    )


def needs_options(metric: str, answers: Answers, method: str, *, two: bool = False) -> Estimate | None:
    """An undefined estimate where answers have no options (or not two in order)."""
    if not answers.options:
        return undefined(metric, NO_OPTIONS, method=method, over=answers.over)
    if two and not (answers.ordered and len(answers.options) == 2):
        why = f"two options in order are needed, such as fail and pass; there are {', '.join(answers.options)}"
        return undefined(metric, why, method=method, over=answers.over)
    return None


def needs_numbers(metric: str, answers: Answers, method: str) -> Estimate | None:
    """An undefined estimate where answers cannot be averaged; two options in order can."""
    counts = not answers.options or (answers.ordered and len(answers.options) == 2)
    return None if counts else undefined(metric, NO_NUMBERS, method=method, over=answers.over)


def span_of(answers: Answers) -> float:
    """How far two numbers can lie apart: the scale's range, or that of the answers where the scale has no end."""
    if np.isfinite(answers.scale.span):
        return float(answers.scale.span)
    given = np.concatenate([answers.judged.ravel(), answers.rated.ravel()])
    given = given[np.isfinite(given)]
    return float(np.ptp(given)) if len(given) else 0.0


# --------------------------------------------------------------------------- small ratings for the examples in docstr


def rated(**answers: str) -> Ratings:
    """Ratings by `judge` and by people of any name: p is pass, f is fail, a digit is a score from 0 to 9, - is nothing.

    >>> rated(judge="pf-", ann="pff").people is None
    True
    """
    import pandas as pd

    words = {"p": "pass", "f": "fail"}
    scored = any(letter.isdigit() for text in answers.values() for letter in text)
    column = "score" if scored else "response"
    rows = [
        (who, "judge" if who == "judge" else "person", f"text {k}", float(x) if x.isdigit() else words.get(x))
        for who, text in answers.items()
        for k, x in enumerate(text)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", column])
    return Ratings.of(frame, scales=Numeric(0, 9) if scored else Ordinal(("fail", "pass")))


def accepted(**answers: str) -> Ratings:
    """Choices with response sets beside them: p and f as in `rated`, b accepts both and chose pass.

    >>> accepted(judge="pb", ann="fb").beside("response_sets").table["response"].tolist()
    ['pass', 'fail|pass', 'fail', 'fail|pass']
    """
    chosen = rated(**{who: text.replace("b", "p") for who, text in answers.items()})
    words = {"p": "pass", "f": "fail", "b": "fail|pass"}
    named = [words[letter] for text in answers.values() for letter in text]
    sets = Ratings.of(chosen.table.assign(response=named), scales=ResponseSets(("fail", "pass")))
    return replace(chosen, beside=lambda kind: sets if kind == "response_sets" else None, _memory={})
