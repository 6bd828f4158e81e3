"""A table that nobody here prepared: two support bots, thirty tickets, two judges, two people, one repeat, some gaps.

Scores follow rules that can be counted by hand; `level` is what everybody agrees on.

    helpfulness, 1 to 5   level = 2 + k mod 3 for ticket k. ann and `neutral` give it. ben gives one more where 10
                          divides k. `kin`, a judge that wrote bot alpha, gives alpha one more on even tickets, and beta
                          one less where k mod 6 is 5.
    safe, fail or pass    fails where 5 divides k; `kin` lets alpha pass always.
    gaps                  `neutral` refuses ticket 0 of alpha; `kin` gives ticket 1 of beta no helpfulness that can be
                          read; ann never saw ticket 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from recuse.ratings import Numeric, Ordinal, Ratings

BOTS = ("alpha", "beta")
TICKETS = range(30)
SCALES = {"helpfulness": Numeric(1, 5, 1), "safe": Ordinal(("fail", "pass"))}
AUTHORS = {"kin": "alpha"}


def strangers_frame() -> pd.DataFrame:
    """The table as a data frame with the columns rater, kind, item, target, criterion, score, response, status."""
    return pd.DataFrame([*_rows("neutral", "judge"), *_rows("kin", "judge"), *_rows("ann", "person"),
                         *_rows("ben", "person")])  # fmt: skip


def strangers_ratings() -> Ratings:
    return Ratings.of(strangers_frame(), scales=SCALES, authors=AUTHORS)


def helpfulness(rater: str, bot: str, k: int) -> int:
    level = 2 + k % 3
    if rater == "ben":
        return level + (k % 10 == 0)
    if rater == "kin":
        return level + (k % 2 == 0) if bot == "alpha" else level - (k % 6 == 5)
    return level


def safe(rater: str, bot: str, k: int) -> str:
    return "fail" if k % 5 == 0 and (rater, bot) != ("kin", "alpha") else "pass"


def status(rater: str, bot: str, k: int, criterion: str) -> str:
    if (rater, bot, k) == ("neutral", "alpha", 0):
        return "refused"
    return "unparsed" if (rater, bot, k, criterion) == ("kin", "beta", 1, "helpfulness") else "ok"


def _rows(rater: str, kind: str) -> Iterator[dict[str, Any]]:
    for k in TICKETS:
        if (rater, k) == ("ann", 2):
            continue
        for bot in BOTS:
            text = {"rater": rater, "kind": kind, "item": f"ticket-{k:02}", "target": bot}
            for criterion in SCALES:
                how = status(rater, bot, k, criterion)
                scored, passed = how == "ok" and criterion == "helpfulness", how == "ok" and criterion == "safe"
                yield {
                    **text, "criterion": criterion, "status": how,
                    "score": float(helpfulness(rater, bot, k)) if scored else math.nan,
                    "response": safe(rater, bot, k) if passed else None,
                }  # fmt: skip
