"""Labels of one expert: does a judge that decides find what the expert finds, and leave alone what he leaves?

One person's labels are what most teams have. They do not say how well experts agree, so agreement beyond chance has
no ceiling to be read beside; the two error rates have: each is told by itself, against the right answer where it is
known, one person's where it is not, and most people's where there are several. `share_bias` says whether the judge
would report more positive texts than people do, `expert_kappa` how well it does where there are several labels, none
of which is the one that is looked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recuse.metrics.agreement_estimates import JACKKNIFE, describe_people, too_few
from recuse.metrics.estimates import SHARES, add_losses, estimated, number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED, Answers, BinaryDecisions, answers_against_truth, each_decided
from recuse.ratings.chosen_labels import groups_on, label_weights
from recuse.ratings.scale import has_several_options
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats, average, taken, total
from recuse.statistics.agreement.coefficient import Coefficient, Known, ratio
from recuse.statistics.agreement.options import cohen_kappa
from recuse.statistics.bounded import BOUNDED, bounded_mean
from recuse.statistics.clusters import SHARE, clustered_share, stratified_mean


@measure(
    "sensitivity", "sensitivity", unit="share", rank=286, counts=True,
    below="often does not say it where the expert does",
    reading="Of the texts that the expert (the right answer, or most people) calls positive, the share that the judge "
    "calls positive; a text without an answer counts as missed.",
)  # fmt: skip
def sensitivity(ratings: Ratings, positive: str = "", threshold: float | None = None) -> Estimates:
    """P(judge positive | reference positive), by judge and factor level: the share of the reference's positives that
    the judge calls positive (of several answers to one text: the share of them), unanswered ones being missed, so that
    no judge gains by leaving out the hard ones.

    What is positive: see `recuse.ratings.answers.BinaryDecisions`; the detail names it (`positive`, and `stated`,
    whether somebody did), with `held_against`, `unanswered`, `answered_only` (what it would be without the unanswered
    texts), `even` (texts on which people are split evenly, which do not count) and `of` (all texts). Clopper-Pearson
    interval, so that a judge below a limit passes at most as often as the level says at any size (Clopper and Pearson
    1934, Biometrika 26, 404-413); over clusters at the effective sample size. Undefined where the reference has no
    positive text.

    >>> found = sensitivity(rated(judge="ffpp-p", ann="fffppp"), positive="fail").of(judge="judge")
    >>> round(found.value, 4), found.detail["positive"]
    (0.6667, 'fail')
    """
    return _by_judge(ratings, positive, threshold, lambda decided, judge: _rate("sensitivity", decided, judge, 1.0))


@measure(
    "specificity", "specificity", unit="share", rank=287, counts=True, below="often says it where the expert does not",
    reading="Of the texts that the expert (the right answer, or most people) calls negative, the share that the judge "
    "calls negative; a text without an answer counts as wrong.",
)  # fmt: skip
def specificity(ratings: Ratings, positive: str = "", threshold: float | None = None) -> Estimates:
    """P(judge negative | reference negative), by judge and factor level; everything else as for `sensitivity`.

    >>> round(specificity(rated(judge="ffpp-p", ann="fffppp"), positive="fail").of(judge="judge").value, 4)
    0.6667
    """
    return _by_judge(ratings, positive, threshold, lambda decided, judge: _rate("specificity", decided, judge, 0.0))


def _by_judge(
    ratings: Ratings, positive: str, threshold: float | None, compute: Callable[[BinaryDecisions, int], Estimate]
) -> Estimates:
    """`compute` of every judge, criterion of which it is known what is positive, and combination of levels."""
    estimates = {
        (judge, *names): compute(decided, k)
        for names, decided in each_decided(ratings, positive, threshold)
        for k, judge in enumerate(decided.answers.judges)
    }
    return Estimates(("judge", *ratings.within(*COMPARED)), estimates)


def _rate(metric: str, decided: BinaryDecisions, judge: int, side: float) -> Estimate:
    answers = decided.answers
    requested, given = answers.requested[judge], decided.judged[judge]
    cases = requested & (decided.reference == side)
    answered = cases & np.isfinite(given)
    right = np.nan_to_num(given if side else 1 - given)
    detail = _about(decided) | {
        "unanswered": answers.number(cases & ~answered),
        "answered_only": number(answers.mean(right, answered)) if answered.any() else None,
        "even": answers.number(requested & (decided.expected == 0.5)),
        "of": answers.number(requested & np.isfinite(decided.expected)),
    }  # fmt: skip
    facts = answers.facts(cases, method=SHARE, detail=detail, **SHARES)
    if not cases.any():
        which = decided.positive if side else f"anything other than {decided.positive}"
        return undefined(metric, f"{decided.held_against} called no text {which}; label some that are", **facts)
    right = np.where(answered, right, 0.0)
    distribution = clustered_share(right[cases], answers.clusters[cases], taken(answers.times, cases))
    return estimated(metric, answers.mean(right, cases), distribution, **facts)


@measure(
    "share_bias", "bias of the share of positives", unit="share", signed=True, rank=288, counts=True,
    above="says it too often", below="says it too seldom",
    reading="The judge's share of positive texts less people's, on the same texts.",
)  # fmt: skip
def share_bias(ratings: Ratings, positive: str = "", threshold: float | None = None) -> Estimates:
    """Mean over texts of j_u - p_u, by judge and factor level: j_u the share of the judge's answers to text u that are
    positive, p_u that of the people who rated it, whose mean is what one of them drawn at random would find. So one
    more person has 0 however many there are, which a majority or a threshold over people does not give.

    What is positive, and the detail, as for `sensitivity`; `judge` and `people` are the two shares. Over texts in
    pairs, within -1 and 1 (`bounded_mean`): a judge that never differs from people has 0 with an interval. Texts that
    the judge left without an answer do not count and stand under `losses`. Labels that were chosen by group stand for
    their group (`stratified_mean`). Undefined without a common text.

    >>> share_bias(rated(judge="ffff", ann="fppp", bea="ffpp"), positive="fail").of(judge="judge").value
    0.625
    """
    return _by_judge(ratings, positive, threshold, _bias)


def _about(decided: BinaryDecisions) -> dict[str, Any]:
    """What is positive, and whose answers count, for the detail."""
    return {"positive": decided.positive, "stated": decided.stated, "held_against": decided.held_against}


def _bias(decided: BinaryDecisions, judge: int) -> Estimate:
    answers, given = decided.answers, decided.judged[judge]
    wanted = answers.requested[judge] & np.isfinite(decided.expected)
    used = wanted & np.isfinite(given)
    facts = answers.facts(used, n_excluded=answers.number(wanted & ~used), method=BOUNDED, **SHARES)
    detail = _about(decided)
    if not used.any():
        return undefined("share_bias", "no text was answered by both the judge and people", detail=detail, **facts)
    own, people = given[used], decided.expected[used]
    detail |= {"judge": number(answers.mean(given, used)), "people": number(answers.mean(decided.expected, used))}
    differences = own - people
    groups = groups_on(answers.part, answers.items, answers.targets)
    times = taken(answers.times, used)
    distribution: Any = bounded_mean(differences, answers.clusters[used], (-1.0, 1.0), times=times)
    if groups is not None:
        weights = label_weights(groups, answers.requested[judge] & np.isfinite(given), used)
        distribution = stratified_mean(differences, groups[used], weights, answers.clusters[used], step=1.0)
        for name, values in (("judge", own), ("people", people)):
            detail[name] = number(float(np.average(values, weights=weights)))
        facts["method"] = "mean over groups of texts, each at its share of all judged texts; t"
    value = average(differences, times) if groups is None else distribution.value
    estimate = estimated("share_bias", value, distribution, detail=detail, **facts)
    positive = decided.expected >= 0.5
    sides = {
        name: (answers.number(side & wanted & ~used), answers.number(side & wanted))
        for name, side in (("positive by people", positive), ("negative by people", ~positive))
    }
    # An unanswered text could have been called either way: at worst 1 - p, or -p.
    unseen = wanted & ~used
    mean = answers.mean(decided.expected, unseen)
    return add_losses(estimate, sides, (-mean, 1 - mean) if unseen.any() else (-1.0, 1.0))


@measure(
    "expert_kappa", "kappa with the expert", ends=(-1, 1), rank=289, counts=True,
    below="agrees with the expert less than you ask",
    reading="Agreement with the expert's labels (or the right answers) beyond what both reach by chance: 0 is chance, "
    "1 is complete. A text without an answer counts as a guess.",
)  # fmt: skip
@per_judge(answers_against_truth, *COMPARED)
def expert_kappa(answers: Answers, judge: int) -> Estimate | None:
    """Cohen's kappa of the judge's label and a person's, by judge and factor level, of every criterion with three
    options or more; weighted by squared distance where they are in order. Times the share of texts that the judge
    answered, as in `human_ceiling`: an unanswered text counts as a guess, and no judge gains by leaving out the hard
    ones. Jackknife over texts (clusters); one answer to everything has exactly 0, whatever the texts. Detail:
    `answered`, `answered_only`, and people's base rate.

    Undefined with fewer than 20 labels outside the expert's commonest one, and where both say the same of every text.

    >>> labels = (("j", "judge", "aabbcc" * 10), ("p", "person", "aabbca" * 10))
    >>> rows = [(who, kind, k, label) for who, kind, of in labels for k, label in enumerate(of)]
    >>> ratings = Ratings.of(pd.DataFrame(rows, columns=["rater", "kind", "item", "response"]))
    >>> expert_kappa(ratings).of(judge="j").value
    0.75
    """
    criterion = "" if answers.part is None else answers.part.criterion
    if answers.part is None or not has_several_options(answers.scale, answers.part.positive.get(criterion, "")):
        return None
    used = answers.requested[judge] & (answers.raters > 0)
    own, people = np.nan_to_num(answers.judge_shares[judge]), np.nan_to_num(answers.people_shares)
    answered = own.sum(axis=1)
    cohen = cohen_kappa(answers.tables(judge)[used], "quadratic" if answers.ordered else "plain")
    shares = np.column_stack([np.ones(len(cohen.shares)), cohen.shares])

    def why(s: Floats) -> str:
        if s[0] == 0 or s[1] == 0:
            return "no text was answered by both the judge and the expert"
        return "judge and expert gave every text one and the same answer" if cohen.why(s[1:]) else ""

    coefficient = Coefficient(
        shares, lambda s: ratio(s[:, 1], s[:, 0]) * cohen.of(s[:, 1:]), why, "chance", lambda s: 2.0,
        times=taken(answers.times, used),
    )  # fmt: skip
    facts = answers.facts(used, method=f"answered share of Cohen's kappa, {JACKKNIFE}")
    share = answers.mean(answered, used) if used.any() else 0.0
    detail: dict[str, Any] = {**describe_people(answers, judge), "answered": number(share), **answers.held}
    if coefficient.undefined:
        return undefined("expert_kappa", coefficient.undefined, detail=detail, **facts)
    detail["answered_only"] = number(coefficient.value / share)
    if few := too_few(answers.options, total(people[used], coefficient.times)):
        return undefined("expert_kappa", few, detail=detail, **facts)
    if np.count_nonzero(total(own[used], coefficient.times)) == 1:
        note = "one answer to everything has a kappa of 0 whatever the texts"
        return estimated("expert_kappa", 0.0, Known(0.0), detail=detail, note=note, **facts)
    distribution = coefficient.jackknife(answers.clusters[used])
    return estimated("expert_kappa", coefficient.value, distribution, detail=detail, **facts)
