"""Coverage: which share of a judge's calls gave an answer that can be used. Nothing unusable is ever imputed, so every
other number rests on what is counted here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.agreement_estimates import both_rated
from recuse.metrics.estimates import SHARES, estimated, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings import COLUMNS, Ratings
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.array import first_of, grouped
from recuse.ratings.chosen_labels import groups_on, label_weights
from recuse.schema import STATUSES, Estimate, Estimates
from recuse.schema.arrays import taken
from recuse.schema.factors import VERSION
from recuse.statistics.clusters import SHARE, clustered_share
from recuse.statistics.distributions import Binomial

ENFORCED = "a grammar of the server lets no other form through"
METHOD = "share of calls, Clopper-Pearson interval"


@measure(
    "parse_rate", "usable answers", unit="share", rank=0, counts=True, below="often gives no usable answer",
    reading="Share of calls whose reply could be used as it stands.",
)  # fmt: skip
def parse_rate(ratings: Ratings, criteria: tuple[str, ...] | None = None) -> Estimates:
    """Share of calls in which every wanted criterion has a usable answer, by judge and version.

    `criteria` defaults to all that the table holds. A call is one request and one repeat, however many criteria or
    items its reply answers; one row that is not ok makes it unusable. Detail: `calls`, `usable`, and `by_status`, where
    an unusable call counts under its first failure, "unparsed" if a wanted criterion has no row at all. People are left
    out. Where a server enforces the form by a grammar (`Ratings.enforced`) a note says so: the share then says nothing
    of the judge. Clopper and Pearson's interval: exact for calls that fail independently at one rate, else wide.

    >>> parse_rate(example("item score", "i 3; j")).of(judge="j").value
    0.5
    """
    table, judged = ratings.table, ratings.having("kind", "judge")
    row = slice(None) if judged.all() else np.flatnonzero(judged)
    (items, item), (known, criterion), (statuses, status) = map(ratings.coded, ("item", "criterion", "status"))
    times = None if ratings.times is None else np.array([ratings.times[name] for name in items])[item][row]
    of_judges = np.flatnonzero(np.bincount(criterion[row] + 1)[1:])
    wanted = {known[code] for code in of_judges.tolist()} if criteria is None else {*criteria}
    is_wanted = np.array([*(name in wanted for name in known), False])[criterion]
    requests, request = ratings.coded("request")
    unnamed = np.array([*(not name for name in requests), True])[request]
    due = np.full(len(table), len(wanted))
    if unnamed.any():
        text = grouped(item, ratings.coded("target")[1])
        due[unnamed] = _criteria_in(text, criterion, is_wanted)[text[unnamed]]
    keys = ["rater", "task", "protocol", "target", *(name for name in table.columns if name not in COLUMNS)]
    same = [ratings.coded(name)[1][row] for name in keys]
    call = grouped(*same, np.where(unnamed, -2 - item, request)[row], table["repeat"].to_numpy()[row])
    first = first_of(call)
    words = [*dict.fromkeys([*statuses, "ok", "unparsed"])]
    complete = _criteria_in(call, criterion[row], is_wanted[row]) == due[row][first]
    outcome = np.where(complete, words.index("ok"), words.index("unparsed"))
    failed = np.flatnonzero(is_wanted[row] & (status[row] != words.index("ok")))[::-1]
    outcome[call[failed]] = status[row][failed]  # the first of several is written last
    by = ["rater", *(name for name in ratings.factors if name == VERSION)]  # all others are pooled
    levels, places = zip(*((names, code[row][first]) for names, code in map(ratings.coded, by)), strict=True)
    group = grouped(*places)
    each = None if times is None else times[first]
    counts = np.bincount(group * len(words) + outcome, each, minlength=(group.max(initial=-1) + 1) * len(words))
    estimates = {}
    for counted, at in zip(counts.reshape(-1, len(words)).tolist(), first_of(group), strict=True):
        key = tuple(names[place[at]] for names, place in zip(levels, places, strict=True))
        by_status = {name: int(count) for name, count in zip(words, counted, strict=True) if count}
        calls, usable = sum(by_status.values()), by_status.get("ok", 0)
        staged = sorted(set(by_status) - set(STATUSES))  # an earlier call of a chain failed: "rubric: unparsed"
        of = {name: by_status[name] for name in (*STATUSES, *staged) if name in by_status}
        estimates[key] = estimated(
            "parse_rate", usable / calls, Binomial(usable, calls), n=calls, over="calls", unit="share", span=1.0,
            method=METHOD, detail={"calls": calls, "usable": usable, "by_status": of},
            note=ENFORCED if key[0] in ratings.enforced else "",
        )  # fmt: skip
    return Estimates(("judge", *by[1:]), estimates)


def _criteria_in(group: NDArray[np.intp], criterion: NDArray[np.intp], which: NDArray[np.bool_]) -> NDArray[np.intp]:
    """How many different criteria the rows (n,) of each group have, of those marked in `which`, (groups,)."""
    those, groups = group[which], group.max(initial=-1) + 1
    if criterion.max(initial=0) == 0:  # there is one
        return np.minimum(np.bincount(those, minlength=groups), 1)
    return np.bincount(those[first_of(grouped(those, criterion[which]))], minlength=groups)


@measure(
    "unanswered", "texts left without an answer", unit="share", rank=291, counts=True, above="leaves texts unanswered",
    reading="Share of the texts that people rated for which the judge has no usable answer; agreement on the rest says "
    "nothing about them.",
)  # fmt: skip
@per_judge(answers_of, *COMPARED)
def unanswered(answers: Answers, judge: int) -> Estimate:
    """Share of texts that the judge was asked about, and a person rated, without any usable answer of the judge, by
    judge and factor level. Labels that were chosen by group count by their weight (`recuse.ratings.chosen_labels`).
    Undefined where people rated none of what the judge was asked.

    >>> unanswered(rated(judge="p-pf", ann="ppff")).of(judge="judge").value
    0.25
    """
    requested = answers.requested[judge] & (answers.raters > 0)
    lost = requested & ~both_rated(answers, judge)
    facts = answers.facts(requested, method=SHARE, **SHARES)
    if not requested.any():
        return undefined("unanswered", "people rated no text that the judge was asked about", **facts)
    distribution = clustered_share(lost[requested], answers.clusters[requested], taken(answers.times, requested))
    share = answers.mean(lost, requested)
    groups = groups_on(answers.part, answers.items, answers.targets)
    if groups is not None:
        weights = label_weights(groups, answers.requested[judge], requested)
        share, size = float(np.average(lost[requested], weights=weights)), weights.sum() ** 2 / float(weights @ weights)
        distribution = Binomial(share * size, size)
    return estimated("unanswered", share, distribution, detail=answers.held, **facts)
