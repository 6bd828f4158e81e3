"""results.json: one form whatever the order, the machine or the type of a number."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
import samples

from recuse.report.canonical_form import canonical, normalised
from recuse.schema import RecuseError


def shuffled(results: samples.Results, seed: int) -> samples.Results:
    """The same results, gathered in another order."""
    rng = random.Random(seed)
    mixed = dict(results)
    for name in ("verdicts", "measurements", "questions", "usage", "excerpts"):
        mixed[name] = [dict(sorted(entry.items(), key=lambda _: rng.random())) for entry in mixed[name]]
        rng.shuffle(mixed[name])
    return mixed


@pytest.mark.parametrize("seed", range(5))
def test_order_of_gathering_leaves_no_trace(seed: int) -> None:
    results = samples.both()
    assert canonical(shuffled(results, seed)) == canonical(results)


def test_panels_and_judges_keep_the_order_of_their_files() -> None:
    kept = json.loads(canonical(samples.both()))
    assert [panel["name"] for panel in kept["panels"]] == ["published", "local"]
    assert [judge["name"] for judge in kept["panels"][0]["judges"]] == list(samples.JUDGES)


def test_numbers() -> None:
    text = canonical({"a": 0.1 + 0.2, "b": 1 / 3, "c": math.nan, "d": -0.0, "e": math.inf, "f": 7, "g": True})
    assert json.loads(text) == {"a": 0.3, "b": 0.3333333333, "c": None, "d": 0.0, "e": None, "f": 7, "g": True}
    assert '"d": 0.0' in text
    assert text.endswith("}\n")


def test_numpy_scalars_become_builtins() -> None:
    text = canonical({"a": np.float64(0.25), "b": np.int64(3), "c": [np.float32(0.5)], "d": (1, 2)})
    assert json.loads(text) == {"a": 0.25, "b": 3, "c": [0.5], "d": [1, 2]}


def test_what_is_no_builtin_is_named_with_its_place() -> None:
    with pytest.raises(RecuseError, match=r"verdicts\[0\]\.estimate is a object"):
        canonical({"verdicts": [{"estimate": object()}]})


def test_reading_back_changes_nothing() -> None:
    text = canonical(samples.hostile())
    assert canonical(json.loads(text)) == text
    assert json.loads(text) == normalised(samples.hostile())


def test_judges_words_cannot_steer_a_terminal_or_a_diff() -> None:
    text = canonical(samples.hostile())
    assert text.isascii()
    assert all(c.isprintable() or c == "\n" for c in text)


def test_it_is_spelled_as_the_standard_library_does() -> None:
    odd = {"b": [], "a": {}, "é": 'ü\n"\\\u202e', "n": [1, -0.5, 1e-7, 1e22, True, None, "", [[], {"k": [0]}]]}
    assert canonical(odd) == json.dumps(normalised(odd), sort_keys=True, indent=1) + "\n"
    everything = samples.hostile()
    assert canonical(everything) == json.dumps(normalised(everything), sort_keys=True, indent=1) + "\n"
