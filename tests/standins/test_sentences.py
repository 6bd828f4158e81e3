"""Sentences beside scores: the right band, always the same choice, and no score without words."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.standins.behaviours.sentences import read_sentences
from recuse.schema import RecuseError

GOOD = """
[[accuracy]]
at_least = 7.0
say = ["high"]
[[accuracy]]
at_least = 0.0
say = ["low a", "low b", "low c"]
[strengths]
accuracy = ["one", "two"]
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sentences.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_bands_and_choice(tmp_path: Path) -> None:
    words = read_sentences(written(tmp_path, GOOD))
    assert [words.why("accuracy", score, "call") for score in (10.0, 7.0)] == ["high", "high"]
    lows = [words.why("accuracy", 6.9, "call", run) for run in range(50)]
    assert lows == [words.why("accuracy", 0.0, "call", run) for run in range(50)]
    assert set(lows) == {"low a", "low b", "low c"}
    assert {words.remark("strengths", "accuracy", run) for run in range(20)} == {"one", "two"}


@pytest.mark.parametrize(
    "bands",
    [
        "[[x]]\nat_least = 1.0\nsay = ['a']",  # nothing for scores below 1
        "[[x]]\nat_least = 0.0\nsay = []",
        "[[x]]\nat_least = 0.0\nsay = ['a']\n[[x]]\nat_least = 5.0\nsay = ['b']",
        "[[x]]\nat_least = 0.0\nsay = ['a']\n[[x]]\nat_least = 0.0\nsay = ['b']",
    ],
)
def test_bands_that_leave_gaps(tmp_path: Path, bands: str) -> None:
    with pytest.raises(
        RecuseError, match=r"sentences.toml: \[\[x\]\] needs bands from the highest down to at_least = 0"
    ):
        read_sentences(written(tmp_path, bands))


def test_the_bank_covers_every_criterion_in_short_sentences(root: Path) -> None:
    words = read_sentences(root / "fixtures" / "standins" / "scripted" / "merchant_risk" / "sentences.toml")
    assert list(words.bands) == ["accuracy", "quality", "consistency", "completeness", "practicality"]
    assert {kind: set(table) for kind, table in words.remarks.items()} == {
        "strengths": set(words.bands),
        "weaknesses": set(words.bands),
    }
    said = [sentence for bands in words.bands.values() for _, say in bands for sentence in say]
    assert len(set(said)) == len(said)
    assert all(len(sentence.split()) <= 15 and sentence.endswith(".") for sentence in said)
