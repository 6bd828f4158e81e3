"""Logs of Inspect, packed (`.eval`) or as JSON: every scorer is a rater, the evaluated model the target.

    {"eval": {"model": ...}, "samples": [{"id": 1, "epoch": 1, "scores": {"model_graded_qa": {"value": "C", ...}}}]}

Epochs are repeats. The letters C, P, I mean correct, partially correct, incorrect; N, no answer, is a refusal. A scorer
that gives several values rates by several criteria.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.readers.faults import SHOWN, Fault, shown

CALLED = "log of Inspect"
LETTERS = {"C": "correct", "P": "partially correct", "I": "incorrect", "N": "refused"}


def recognises(value: Any) -> bool:
    """Whether the value is an evaluation log of Inspect."""
    return isinstance(value, Mapping) and "eval" in value and isinstance(value.get("samples"), list)


def records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per sample, epoch, scorer and criterion: item, target, rater, criterion, repeat, value, reason, ..."""
    model = str((value.get("eval") or {}).get("model") or "")
    rows: list[dict[str, Any]] = []
    unscored: list[str] = []
    ungraded: list[str] = []
    for number, sample in enumerate(value["samples"], start=1):
        base = {
            "item": str(sample.get("id", number)), "target": model, "repeat": sample.get("epoch", 1),
            "text": _output(sample), "kind": "judge",
        }  # fmt: skip
        scores = sample.get("scores") or {}
        if not scores:
            unscored.append(f"sample {number}{_why(sample)}")
        for scorer, score in scores.items():
            if not _is_scored(score):
                ungraded.append(f"sample {number}, {scorer}: {shown(str(score.get('explanation') or 'no value'))}")
            for criterion, one in _values(score.get("value")):
                rows.append({
                    **base, "rater": str(scorer), "criterion": criterion, "value": one,
                    "reason": score.get("explanation") or "",
                })  # fmt: skip
    faults = []
    if unscored:
        faults.append(Fault.of("samples have no score", unscored[:SHOWN], "they are left out", len(unscored)))
    if ungraded:
        faults.append(
            Fault.of("scores that no grader could give", ungraded[:SHOWN], "they count as unusable", len(ungraded))
        )
    return rows, faults


def _is_scored(score: Mapping[str, Any]) -> bool:
    """Inspect writes NaN where a grader's reply held no grade."""
    value = score.get("value")
    return value is not None and value == value


def _why(sample: Mapping[str, Any]) -> str:
    message = (sample.get("error") or {}).get("message")
    return f": {shown(str(message))}" if message else ""


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for criterion, one in value.items():
            yield str(criterion), LETTERS.get(one, one) if isinstance(one, str) else one
    elif isinstance(value, list):
        for number, one in enumerate(value, start=1):
            yield f"value {number}", one
    elif value is None or value != value:
        yield "rating", "unparsed"
    else:
        yield "rating", LETTERS.get(value, value) if isinstance(value, str) else value


def _output(sample: Mapping[str, Any]) -> str:
    choices = (sample.get("output") or {}).get("choices") or [{}]
    content = (choices[0].get("message") or {}).get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return str(content or "")
