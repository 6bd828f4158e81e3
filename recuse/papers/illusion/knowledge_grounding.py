"""Does agreement between judges survive their having to say first what they know? ("Beyond the Illusion of Consensus",
2026, eq. 1; correlations as in `rubric_commensurability`.)

    delta-K(source) = mean over pairs of r(scores by rubrics of that source) - r(scores by the given checklist)

What agreement loses when a rubric is written from knowledge was owed to what all judges see on the surface. The paper's
paired t over cells stands in the detail: cells share judges and items, so its p-value is too small."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.illusion import rubric_commensurability as rubrics
from recuse.papers.self_preference.over_texts import facts_of_texts, known_of_texts
from recuse.ratings import Ratings, mean_of
from recuse.ratings.array import grouped, judges_array
from recuse.ratings.scale import Numeric
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.schema.factors import RUBRIC
from recuse.statistics.distributions import SEED, generator
from recuse.statistics.paired import METHOD, Paired

COMPARED = {source: (rubrics.BASELINE, source) for source in rubrics.GROUNDED}
GROUPS = ("domain", "language")  # what is known of a text by which delta-K is told apart
CELL_ITEMS = 10  # items that a target needs for cells of its own
DRAWS = 1999


@measure(
    "delta_k", "agreement after knowledge", ends=(-2, 2), signed=True, bad="both", rank=410,
    above="agree more once each says what it knows", below="agree less once each says what it knows",
    reading="Correlation between judges by rubrics written from knowledge, less that by the given checklist. Below 0: "
    "agreement rested on what all see on the surface. Above 0: knowledge gave the judges a common standard.",
)  # fmt: skip
def delta_k(ratings: Ratings) -> Estimates:
    """delta-K by source of the rubric, and by the levels of all other factors. Detail: `base` and `grounded` r, `cells`
    (pair, target, n, base, grounded, delta), the paired t over cells with `p` and `p_bonferroni` over the sources that
    were compared, Cohen's `dz`, and `fisher`, delta-K averaged by Fisher's z. A pair in which a judge says the same of
    all texts under one of the two is left out; undefined where no pair is left.

    >>> rows = "a checklist 1/2/3/4; b checklist 1/2/3/4; a shared 1/2/3/4; b shared 2/1/4/3"
    >>> round(delta_k(example("judge rubric_source score", rows)).of(rubric_source="shared").value, 6)
    -0.4
    """
    looks = sum(source in ratings.levels(RUBRIC) for source in rubrics.GROUNDED)

    def delta(cells: rubrics.RubricCells) -> Estimate:
        rows: list[dict[str, Any]] = []
        # Each target with its own cells, where all have items enough; else all texts together
        parts = [(target, cells.only(cells.targets == target)) for target in dict.fromkeys(cells.targets)]
        usable = [np.isfinite(part.scores).all(axis=(0, 1)).sum() for _, part in parts]
        for target, part in parts if len(parts) > 1 and min(usable) >= CELL_ITEMS else [("", cells)]:
            for name, n, base, grounded in zip(cells.pairs, part.texts, *part.r(), strict=True):
                values = {"base": number(base), "grounded": number(grounded), "delta": number(grounded - base)}
                rows.append({"pair": name, "target": target, "n": int(n), **values})
        test = Paired.of([math.nan if row["delta"] is None else row["delta"] for row in rows])
        dz = zip(("dz", "dz_low", "dz_high"), map(number, test.dz), strict=True)
        return _delta("delta_k", cells, {
            "cells": rows, "t": number(test.t), "df": test.n - 1, "p": number(test.p),
            "p_bonferroni": number(min(1.0, looks * test.p)), "looks": looks, **dict(dz),
        })  # fmt: skip

    return rubrics.by_source(ratings, COMPARED, delta)


@measure(
    "delta_k_by_group", "agreement after knowledge, by domain and language", ends=(-2, 2), signed=True, rank=411,
    reading="The same difference within one domain or language.",
)  # fmt: skip
def delta_k_by_group(ratings: Ratings) -> Estimates:
    """delta-K within every value of the texts' columns `domain` and `language`, by source of the rubric; delta-K over
    all may lie below each of them. Empty where nothing is known of the texts.

    >>> rows = "a checklist 1/2/3/4; b checklist 1/2/3/4; a shared 1/2/3/4; b shared 2/1/4/3"
    >>> scores = example("judge rubric_source score", rows, texts=table("domain", "law/law/law/law").assign(target=""))
    >>> round(delta_k_by_group(scores).of(group="domain law", rubric_source="shared").value, 6)
    -0.4
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for source, both in COMPARED.items():
        for names, cells in rubrics.rubric_cells(ratings, *both):
            for column in GROUPS:
                groups = _groups(ratings, cells, column)
                for name in dict.fromkeys(groups[groups != ""]):
                    of = _delta("delta_k_by_group", cells.only(groups == name), {})
                    estimates[f"{column} {name}", source, *names] = of
    return Estimates(("group", RUBRIC, *ratings.within(RUBRIC)), estimates)


@measure(
    "domain_selectivity", "does knowledge work by domain?", rank=412,
    reading="How far delta-K differs between domains (SD), with the chance that as much comes about when domains mean "
    "nothing.",
)  # fmt: skip
def domain_selectivity(ratings: Ratings) -> Estimates:
    """SD over domains of delta-K, by source of the rubric; no interval. Detail: `p`, the share of arrangements, domains
    dealt to items at random, whose SD is at least as large, the observed one among them; `by_domain`. Undefined below
    two domains, or where delta-K is undefined in one.

    >>> rows = "a checklist 1/2/3/4; b checklist 1/2/3/4; a shared 1/2/3/4; b shared 2/1/4/3"
    >>> texts = table("domain", "law/law/law/law").assign(target="")
    >>> domain_selectivity(example("judge rubric_source score", rows, texts=texts)).of(rubric_source="shared").note
    'undefined: the texts are of fewer than two domains'
    """
    return rubrics.by_source(ratings, COMPARED, lambda cells: _selectivity(cells, _groups(ratings, cells, "domain")))


def _delta(metric: str, cells: rubrics.RubricCells, detail: dict[str, Any]) -> Estimate:
    r = cells.r() if len(cells.items) else np.full((2, 1), np.nan)
    base, grounded = map(number, rubrics.mean_correlation(r))
    fisher = number(float(rubrics.change(r, "fisher")))
    detail = {"base": base, "grounded": grounded, "fisher": fisher, "pairs": r.shape[1], **detail}
    return rubrics.jackknifed(metric, cells, rubrics.change, reach=2.0, unit="", detail=detail)


def _groups(ratings: Ratings, cells: rubrics.RubricCells, column: str) -> NDArray[Any]:
    """The value of a column of the texts for each text of the cells; empty where it is not known."""
    known = known_of_texts(ratings, column)
    values = (known.get(text) for text in zip(cells.items, cells.targets, strict=True))
    return np.array([value if isinstance(value, str) else "" for value in values], dtype=object)


def _selectivity(cells: rubrics.RubricCells, groups: NDArray[Any]) -> Estimate:
    method = f"correlations of the same pairs on the same texts; domains dealt to {cells.clusters or 'items'} at random"
    facts: dict[str, Any] = {**cells.facts(), "seed": SEED, "method": method}
    domains = list(dict.fromkeys(groups[groups != ""]))
    if len(domains) < 2:
        return undefined("domain_selectivity", "the texts are of fewer than two domains", **facts)
    known = groups != ""  # a target need not have a text on every item
    codes = np.full(len(set(cells.units)), -1)
    codes[grouped(cells.units)[known]] = [domains.index(group) for group in groups[known]]

    def per_domain(dealt: NDArray[Any]) -> Floats:
        """delta-K of each domain under each arrangement of the units, (B, units) to (B, domains)."""
        return np.stack([rubrics.change(cells.r(dealt == domain)) for domain in range(len(domains))], axis=1)

    deltas = per_domain(codes[None, :])[0]
    spread = float(np.std(deltas, ddof=1))
    if not math.isfinite(spread):
        return undefined("domain_selectivity", "delta-K is undefined in one of the domains", **facts)
    rng = generator(SEED, "domain_selectivity", *cells.sources)
    dealt = rng.permuted(np.broadcast_to(codes, (DRAWS, len(codes))), axis=1)
    spreads = np.std(per_domain(dealt), axis=1, ddof=1)
    made = spreads[np.isfinite(spreads)]
    p = (1 + int(np.sum(made >= spread - 1e-12))) / (1 + len(made))
    by_domain = {name: number(value) for name, value in zip(domains, deltas, strict=True)}
    detail, note = {"p": number(p), "arrangements": len(made), "by_domain": by_domain}, "no interval: read the p-value"
    return Estimate(metric="domain_selectivity", value=spread, detail=detail, note=note, **facts)


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
            why = "fewer than two items have a usable score of both twins"
            yield judge, undefined("flaw_penalty", why, **facts)
            continue
        test = Paired.of(known)
        won = {"sound": int((known > 0).sum()), "flawed": int((known < 0).sum()), "neither": int((known == 0).sum())}
        by_flaw = [[kind, number(float(known[of == kind].mean())), int((of == kind).sum())]
                   for kind in sorted(set(of) - {""})]  # fmt: skip
        detail = {**won, "dz": number(test.dz[0]), **({"by_flaw": by_flaw} if by_flaw else {})}
        yield judge, estimated("flaw_penalty", test.mean, test.distribution, detail=detail, **facts)
