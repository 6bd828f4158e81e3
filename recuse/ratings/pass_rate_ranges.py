"""Does the task let two answers be right?

Who must choose one of two options shows nothing of having held both to be reasonable. Raters that disagree about
many texts are the sign of it that forced choices leave. How much it moves is a matter of beta, the share of those who
chose one option that would have named the other one as well (Guerdan et al., "Validating LLM-as-a-Judge Systems in
the Absence of Gold Labels", sec. 7): a text then passes by the share that endorse passing, O + beta (1 - O), or, the
other way round, by those who endorse nothing else, (1 - beta) O. Beta is not in the data; it runs from 0 to .4."""

from __future__ import annotations

from collections.abc import Iterator

from recuse.ratings import Ratings
from recuse.ratings.answers import without_truth
from recuse.ratings.array import times_of
from recuse.ratings.scale import Nominal, Ordinal
from recuse.schema.arrays import average, number_of
from recuse.schema.number_text import fixed
from recuse.schema.results import PassRateRow

BETA, TAU = 0.4, 0.5  # of those who chose one option, how many would accept the other at most; from where on it passes
DISPUTED = 0.1  # from this share of texts on that raters answer in two ways, the task is to be looked at
FEWEST_TEXTS = 10  # texts with two answers or more, without which nothing is said
SLACK = 1e-9


def pass_rate_sentence(row: PassRateRow) -> str:
    """Who disagrees on how many texts, and how far the pass rate could lie from the one that is told."""
    who = "people disagree" if row["who"] == "people" else f"{row['who']} answers in two ways"
    return (
        f"{who} on {row['disputed']} of {row['texts']} texts, and an answer is {row['other']} or {row['option']}, "
        f"never both. If up to {10 * row['beta']:.0f} in 10 of those who gave one had found the other reasonable too, "
        f"the share of texts that are {row['option']} would lie between {fixed(row['low'])} and {fixed(row['high'])}, "
        f"not at {fixed(row['rate'])}"
    )


def pass_rate_ranges(ratings: Ratings) -> Iterator[PassRateRow]:
    """One for every criterion of two options that looks underspecified: where people, or else a judge's repeats, answer
    a tenth of at least ten texts in two ways. The option is the better of two ordered ones, the first of others. None
    for ratings that have response sets beside them: these say what here is only feared."""
    if ratings.beside("response_sets") is not None:
        return
    ratings = without_truth(ratings)
    for part in map(ratings.with_criterion, ratings.headline):
        scale, keys = part.scale, ["item", "target", *part.factors]
        if not isinstance(scale, Nominal | Ordinal) or len(scale.options) != 2:
            continue
        rows = part.table[(part.table["criterion"] == part.criterion) & (part.table["status"] == "ok")]
        people = rows["kind"] == "person"
        groups = {"people": rows[people]} | {judge: rows[~people & (rows["rater"] == judge)] for judge in part.judges}
        other, option = scale.options if isinstance(scale, Ordinal) else reversed(scale.options)
        for who, given in groups.items():
            endorsed = given["response"].eq(option).groupby([given[key].astype(str) for key in keys])
            several = endorsed.agg(["mean", "size"]).query("size > 1")
            shares = several["mean"].to_numpy(dtype=float)
            times = times_of(part, several.index.get_level_values("item").tolist())
            texts, disputed = (number_of(which, times) for which in (shares >= 0, (shares > 0) & (shares < 1)))
            if texts >= FEWEST_TEXTS and disputed >= DISPUTED * texts:
                rate, low, high = (
                    average((endorsing >= TAU - SLACK).astype(float), times)
                    for endorsing in (shares, (1 - BETA) * shares, shares + BETA * (1 - shares))
                )
                yield {
                    "criterion": part.criterion, "option": option, "other": other, "who": who, "texts": texts,
                    "disputed": disputed, "rate": rate, "low": low, "high": high, "beta": BETA,
                }  # fmt: skip
                break
