"""Two results.json value by value: `python tests/known_answers/compare_results.py BEFORE AFTER [--metric NAME]`.

Every number of the older file (value, interval, n, excluded, and the values of a matrix) is looked for in the newer one
under the same metric and subject, and both under the names of today. Prints what differs and what is gone; exit code 1
where anything does. What is new in the newer file is counted, not compared.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

LEVELS = {
    "condition": ("names", {"attributed": "shown", "anonymized": "hidden"}),
    "framing": ("direction", {"positive": "ascending", "negative": "reversed"}),
    "score": ("criterion", {}),
}
OUTCOMES = {"inconclusive": "undecided", "error": "not measured", "waived": "accepted"}
RENAMED = {
    "duel_length_coefficient": "choice_length_coefficient",
    "attenuation": "bias_gone_without_names",
}
DECIDED = {"low", "high", "level", "outcome"}
"""What follows from the gates, not from the ratings."""
LEFT_OUT = {"protocol", "asked"}
Key = tuple[str, ...]


def numbers(results: Mapping[str, Any]) -> dict[Key, dict[str, Any]]:
    """(metric, gate or "", subject) -> the figures of each estimate, under the names of today."""
    found: dict[Key, dict[str, Any]] = {}
    for record in (*results["verdicts"], *results["measurements"]):
        estimate, subject = record["estimate"], {}
        for name, value in record["subject"].items():
            name, levels = LEVELS.get(name, (name, {}))
            if name not in LEFT_OUT:
                subject[name] = levels.get(value, value)
        detail = estimate["detail"] or {}
        figures = {name: estimate[name] for name in ("value", "low", "high", "level", "n", "n_excluded")}
        figures |= {f"cell {place}": value for place, value in cells(detail)}
        if "outcome" in record:
            figures["outcome"] = OUTCOMES.get(record["outcome"], record["outcome"])
        protocol = record["subject"].get("protocol") or record["protocol"]
        key = (estimate["metric"], record.get("gate", ""), *(f"{k}={v}" for k, v in sorted(subject.items())))
        found[(*key, f"protocol={protocol}")] = figures
    return found


def counterpart(key: Key, among: Mapping[Key, Any]) -> Key:
    """The same key under today's name; of what a gate decided then and is only measured now, that; or the one that says
    more of the same subject: another protocol, the ordinary direction of the scale."""
    key = (RENAMED.get(key[0], key[0]), *key[1:])
    if key in among:
        return key
    if (measured := (key[0], "", *key[2:])) in among:  # no gate decides about it any more
        return measured
    subject = set(key[2:-1])
    alike = [other for other in among if other[:2] == key[:2] and subject <= set(other[2:-1])]
    ordinary = [other for other in alike if set(other[2:-1]) - subject <= {"direction=ascending"}]
    return ordinary[0] if len(ordinary) == 1 else key


def cells(detail: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if detail.get("kind") != "matrix":
        return
    for row, values in zip(detail["rows"], detail["values"], strict=True):
        yield from ((f"{row} on {column}", value) for column, value in zip(detail["columns"], values, strict=True))


def _at_another_level(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the interval shown is another one of the same distribution: gates correct for other numbers now, or none
    decides. Outcomes are decided by it."""
    return before["level"] != after["level"] or ("outcome" in before) != ("outcome" in after)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-8, abs_tol=1e-9)
    return bool(a == b)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--metric", action="append", default=[])
    options = parser.parse_args()
    before, after = (
        numbers(json.loads(Path(path).read_text(encoding="utf-8"))) for path in (options.before, options.after)
    )
    wanted = {key: value for key, value in before.items() if not options.metric or key[0] in options.metric}
    wanted = {counterpart(key, after): value for key, value in wanted.items()}
    gone = [key for key in wanted if key not in after]
    changed = [
        (key, name, old, after[key].get(name))
        for key, figures in wanted.items()
        if key in after
        for name, old in figures.items()
        if not same(old, after[key].get(name)) and not (name in DECIDED and _at_another_level(figures, after[key]))
    ]
    for key in gone:
        print("gone   ", *key)
    for key, name, old, new in changed:
        print("changed", *key, f"{name}: {old} -> {new}")
    print(f"{len(wanted) - len(gone)} of {len(wanted)} estimates found again, {len(changed)} figures differ; "
          f"{len(after.keys() - before.keys())} estimates are new")  # fmt: skip
    return 1 if gone or changed else 0


if __name__ == "__main__":
    sys.exit(main())
