"""Two judges that do not have all their texts in common: what is compared, and what must not be left out.

Texts of the candidate alone have nothing to be compared with, and leaving them out hides no worsening against the
judge in use. Texts of the incumbent alone are another matter: whether the candidate was never asked of them, or was and
gave no answer that anybody kept, a table does not tell. A candidate that answers only what it finds easy looks the same
as one that was asked less. So these texts count as asked and unanswered (`missing_as_unanswered`) wherever the
candidate could pass, and are left out (`on_common_texts`) only to see whether it is worse on the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from recuse.metrics.upgrade.pairing import TEXT, Text, Upgrade, texts_of
from recuse.ratings import Ratings


@dataclass(frozen=True, slots=True)
class Overlap:
    """Texts, as (item, target), that both judges have rows on, the incumbent alone, the candidate alone."""

    common: frozenset[Text]
    missing: frozenset[Text]
    added: frozenset[Text]


def overlap(upgrade: Upgrade) -> Overlap:
    """Of the two judges of an upgrade, whatever became of their answers."""
    old, new = texts_of(upgrade.before, upgrade.incumbent), texts_of(upgrade.after, upgrade.candidate)
    return Overlap(old & new, old - new, new - old)


def on_common_texts(upgrade: Upgrade) -> Upgrade:
    """The same on the texts that both have."""
    common = overlap(upgrade).common
    return replace(upgrade, before=_only(upgrade.before, common), after=_only(upgrade.after, common), _memory={})


def missing_as_unanswered(upgrade: Upgrade) -> Upgrade:
    """The same on all texts of the incumbent: where the candidate has none of them, it has an answer that cannot be
    used, asked as the incumbent was."""
    import pandas as pd

    shared = overlap(upgrade)
    after = _only(upgrade.after, shared.common | shared.missing)
    if shared.missing:
        asked = _only(upgrade.before, shared.missing).table
        asked = asked[asked["rater"] == upgrade.incumbent]
        asked = asked.drop_duplicates([*TEXT, "criterion", *upgrade.before.factors])
        lost = asked.assign(rater=upgrade.candidate, repeat=0, score=float("nan"), response=None, status="unparsed")
        table = pd.concat([after.table, lost.reindex(columns=after.table.columns)], ignore_index=True)
        after = replace(after, table=table, _memory={})
    return replace(upgrade, after=after, _memory={})


def _only(ratings: Ratings, texts: frozenset[Text]) -> Ratings:
    import pandas as pd

    there = pd.MultiIndex.from_frame(ratings.table[TEXT].astype(str)).isin(list(texts))
    return ratings if there.all() else replace(ratings, table=ratings.table[there], _memory={})
