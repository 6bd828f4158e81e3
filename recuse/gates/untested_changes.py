"""What differs from a baseline and cannot be tested: counts, values without a distribution, sources, what is gone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from recuse.schema.factors import FACTORS
from recuse.schema.verdict_rows import BaselineEntry, EntryRow, Examined, Figures, MovedRow, SourceRow
from recuse.statistics.distributions import Student, welch_satterthwaite

EXACT = ("n", "n_clusters", "n_excluded")
MEASURED_BY = {"people": "ratings by people", "truth": "true values", "provenance": "the label of provenance"}
"""Sources that a baseline of an earlier version does not have."""


def moved(was: BaselineEntry, now: BaselineEntry, tested: bool) -> list[MovedRow]:
    """Counts that differ, and values that differ and have no sampling distribution to test them by."""
    before, after = _compared(was["figures"], tested), _compared(now["figures"], tested)
    return [
        {**row_of(now), "field": field, "before": a, "after": b, "delta": _delta(a, b)}
        for field, a, b in _differences(before, after)
        if not _same(a, b)
    ]


def _compared(figures: Figures, tested: bool) -> dict[str, object]:
    """Counts, and what no test speaks for: the value, and the cells of a matrix."""
    counts: dict[str, object] = {name: figures.get(name) for name in EXACT}
    return counts if tested else counts | {"value": figures.get("value")} | dict(figures.get("cells") or {})


def _differences(
    before: Mapping[str, object], after: Mapping[str, object]
) -> list[tuple[str, object, object]]:  # fmt: skip
    """(field, before, after) of every difference, None where a side has none, in the order of the fields."""
    if before == after:  # nearly always, and far cheaper to see
        return []
    from deepdiff import DeepDiff
    from deepdiff.helper import notpresent

    diff = DeepDiff(before, after, view="tree", ignore_numeric_type_changes=True, threshold_to_diff_deeper=0)
    differences: dict[str, tuple[object, object]] = {}
    for leaf in (leaf for leaves in diff.values() for leaf in leaves):
        was, now = (None if side is notpresent else side for side in (leaf.t1, leaf.t2))
        differences[str(leaf.path(output_format="list")[0])] = was, now
    return [(field, *differences[field]) for field in dict.fromkeys([*before, *after]) if field in differences]


def _same(a: object, b: object) -> bool:
    """Equal, or numbers that agree but for rounding."""
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return bool(a == b)


def _delta(before: object, after: object) -> float | None:
    numbers = [x for x in (before, after) if isinstance(x, int | float) and not isinstance(x, bool)]
    return as_kept(numbers[1] - numbers[0]) if len(numbers) == 2 else None


def removed(before: Examined, after: Examined) -> list[str]:
    """Tests that concluded nothing any more, judges that are gone, and panels that are used for something else."""
    new = [_function(test) for test in after["tests"] if test not in before["tests"]]
    tests = []
    for test in before["tests"]:
        if test in after["tests"]:
            continue
        if (name := _function(test)) in new:
            new.remove(name)
        else:
            tests.append(f"the test {test} is gone")
    judges = [
        f"{judge} is no longer in the panel {panel}"
        for panel, names in before["judges"].items()
        for judge in names
        if judge not in after["judges"].get(panel, ())
    ]
    uses = [
        f"the panel {panel} is used {_for(after['uses'][panel])}, no longer {_for(names)}"
        for panel, names in before["uses"].items()
        if panel in after["uses"] and after["uses"][panel] != names
    ]
    return tests + judges + uses


def _function(test: str) -> str:
    """Without its file, which may be called something else now; other code is a change of its own."""
    return test.rpartition("::")[2]


def _for(uses: Sequence[str]) -> str:
    return f"for {', '.join(uses)}" if uses else "as a study"


def changed_sources(before: Mapping[str, SourceRow], after: Mapping[str, SourceRow]) -> list[str]:
    """What the judges were asked, who they are and what they are measured by, where it is not what it was."""
    phrases = []
    for place in sorted(before.keys() & after.keys()):
        was, now = before[place], after[place]
        phrases += [f"{place}: the {name} changed" for name in ("items", "prompt", "rubric", "scale")
                 if was.get(name) != now.get(name)]  # fmt: skip
        phrases += [f"{place}: {words} changed" for name, words in MEASURED_BY.items()
                    if name in was and was.get(name) != now.get(name)]  # fmt: skip
        judges = was.get("judges") or {}, now.get("judges") or {}
        phrases += [f"{place}: {j} changed" for j in sorted(judges[0].keys() & judges[1].keys())
                 if judges[0][j] != judges[1][j]]  # fmt: skip
    return phrases


def row_of(entry: EntryRow) -> EntryRow:
    """What an entry of the baseline is about: kind, what, subject."""
    return {"kind": entry["kind"], "what": entry["what"], "subject": entry["subject"]}


def value_of(entry: BaselineEntry) -> float:
    """The value of an entry that has one, as every tested one does."""
    value = entry["figures"]["value"]
    assert value is not None
    return value


def as_kept(value: float) -> float:
    """With ten digits, as results.json writes numbers."""
    return float(f"{value:.10g}")


# --------------------------------------------------------------------------- joined levels
# Whether names are shown or hidden, the scale upright or turned, each level has replies of its own. What a judge gives
# more on both is known better than on either: two levels with standard errors s each give their mean change
# one of s / sqrt(2). Each level is tested as well, since a change may be one of a level alone.

Tested = tuple[BaselineEntry, BaselineEntry, tuple[Student, str]]
"""An entry then and now, the distribution of the difference, and which test it is."""


def joined_levels(tested: Sequence[Tested]) -> list[Tested]:
    """The mean change over the levels of what else is the same verdict, for every two or more of which only the replies
    are new ("same texts"): their errors are independent, since no reply belongs to two levels."""
    groups: dict[tuple[object, ...], list[Tested]] = {}
    for one in tested:
        now, subject = one[1], one[1]["subject"]
        if now["kind"] == "verdict" and one[2][1] == "same texts" and without_levels(subject) != subject:
            groups.setdefault((now["what"], *sorted(without_levels(subject).items())), []).append(one)
    return [_joined(group) for group in groups.values() if len(group) > 1]


def without_levels(subject: Mapping[str, str]) -> dict[str, str]:
    """The subject at whatever level of the known factors."""
    return {name: value for name, value in subject.items() if name not in FACTORS}


def _joined(group: Sequence[Tested]) -> Tested:
    changes = [change for *_, (change, _) in group]
    se, df = welch_satterthwaite([change.se**2 / len(group) ** 2 for change in changes],
                                 [change.df for change in changes])  # fmt: skip
    was, now = _mean_of([before for before, *_ in group]), _mean_of([after for _, after, _ in group])
    change = value_of(now) - value_of(was)
    return was, now, (Student(change, se, df), "same texts, all levels together")


def _mean_of(entries: Sequence[BaselineEntry]) -> BaselineEntry:
    value = sum(value_of(entry) for entry in entries) / len(entries)
    return {**entries[0], "subject": without_levels(entries[0]["subject"]), "figures": {"value": value}}
