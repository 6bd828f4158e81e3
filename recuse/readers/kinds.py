"""Which raters are judges and which are people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.readers.column_names import is_derived, is_judge, is_person, plain, rater_name
from recuse.readers.mapping import ColumnMapping
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["with_kinds"]

ANYBODY = ("human", "humans", "people", "person", "persons", "annotator", "annotators", "crowd", "expert", "experts",
           "reviewer", "reviewers")  # fmt: skip
"""Names that stand for whoever it was: their repeats are different people."""


NUMBERED_AUTHOR = re.compile(r"^authors?_?\d+$")
"""A rater called so is one of a study's authors; a column called author says who wrote the text."""


def with_kinds(long: pd.DataFrame, mapping: ColumnMapping) -> tuple[pd.DataFrame, list[str]]:
    """The rows with `kind` "judge" or "person", and what was concluded, in words.

    What is said counts first (judges, people), then a column `kind`, then names: raters called as models are judges,
    called as people are people; the others are people where some are called as judges, and judges otherwise. Where both
    are there, what is one word of letters is somebody's name.
    `RecuseError` for a name that is said and not there."""
    raters = [str(name) for name in long["rater"].drop_duplicates()]
    said = {_rater_named(name, raters, "judge"): "judge" for name in mapping.judges}
    said |= {_rater_named(name, raters, "person"): "person" for name in mapping.people}
    own_kinds = _kind_by_rater(long) if mapping.kind else {}
    kinds, notes = _guessed(raters, {**own_kinds, **said})
    derived = [r for r in raters if is_derived(r) and kinds[r] == "person" and r not in said]
    if derived and sum(kind == "person" for kind in kinds.values()) - len(derived) > 1:
        long = long[~long["rater"].isin(derived)].reset_index(drop=True)
        notes.append(f"{', '.join(derived)}: made of other raters' answers by the name, so nobody's own: left out")
    kind = long["rater"].map(kinds).astype(object)
    rows = long.assign(kind=kind)
    anybody = [r for r in raters if kinds[r] == "person" and plain(r) in ANYBODY]
    for name in anybody:
        mine = rows["rater"].eq(name)
        if rows.loc[mine, "repeat"].nunique() > 1:
            rows.loc[mine, "rater"] = name + " " + (rows.loc[mine, "repeat"] + 1).astype(str)
            rows.loc[mine, "repeat"] = 0
            notes.append(f"{name} is no one in particular: every repeat is read as another person")
    return rows, notes


def _guessed(raters: list[str], known: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    rest = [name for name in raters if name not in known]
    judges = [name for name in rest if is_judge(name)]
    people = [name for name in rest if (is_person(name) or NUMBERED_AUTHOR.match(plain(name))) and name not in judges]
    unknown = [name for name in rest if name not in judges and name not in people]
    some_judge = bool(judges) or "judge" in known.values()
    some_person = bool(people) or "person" in known.values()
    otherwise = "person" if some_judge and not some_person else "judge"
    first_names = [n for n in unknown if some_judge and some_person and n.isalpha()]
    people, unknown = [*people, *first_names], [n for n in unknown if n not in first_names]
    notes = []
    if unknown and not some_judge and not some_person:
        notes.append(
            f"no name tells judges from people, so all are read as judges: {', '.join(unknown[:6])}. Say --people A,B"
        )
    kinds = {**dict.fromkeys(judges, "judge"), **dict.fromkeys(people, "person"), **dict.fromkeys(unknown, otherwise)}
    return {**kinds, **known}, notes


def _kind_by_rater(long: pd.DataFrame) -> dict[str, str]:
    first = long[["rater", "kind"]].drop_duplicates("rater")
    words = first["kind"].map(lambda word: "person" if is_person(word) else "judge" if word else "")
    return {str(r): k for r, k in zip(first["rater"], np.asarray(words), strict=True) if k}


def _rater_named(name: str, raters: list[str], what: str) -> Any:
    last = [rater for rater in raters if name and rater.rsplit(".", 1)[-1] == name.rsplit(".", 1)[-1]]
    for candidate in (name, rater_name(name), *(last if len(last) == 1 else ())):
        if candidate in raters:
            return candidate
    raise RecuseError(f"there is no rater {name!r} to be a {what}; the file has {', '.join(raters[:20])}")
