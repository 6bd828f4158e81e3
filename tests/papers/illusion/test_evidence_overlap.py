"""Shared evidence: what two judges cite of one text, beyond what they cite of any."""

from __future__ import annotations

import pandas as pd
import pytest

from recuse.papers.illusion.cited_evidence import evidence_overlap, words_of
from recuse.ratings import Ratings
from recuse.schema import Estimate

ITEMS = ("rain", "snow", "wind")


def found(said: dict[str, tuple[str, ...]], scores: dict[str, tuple[float, ...]] | None = None) -> Estimate:
    """Of what each judge cites of each item."""
    given = scores or dict.fromkeys(said, (1.0, 2.0, 3.0))
    rows = [(judge, item, words) for judge, cited in said.items() for item, words in zip(ITEMS, cited, strict=True)]
    cited = pd.DataFrame(rows, columns=["judge", "item", "response"])
    scored = cited.drop(columns="response").assign(score=[score for judge in said for score in given[judge]])
    return evidence_overlap(Ratings.of(scored, beside={"quotes": Ratings.of(cited)}.get)).of()


def test_by_hand() -> None:
    """On rain and snow two words of two are shared, on wind one of three; between texts none: 1, 1 and 1/3."""
    one = found({"ann": ("cold rain", "deep snow", "wild wind"), "bob": ("cold rain", "deep snow", "wild gale")})
    assert one.value == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert (one.n, one.detail["other"], one.detail["texts"]) == (3, 0.0, 3)


def test_words_said_of_every_text_are_no_evidence() -> None:
    assert found({"ann": ("good text",) * 3, "bob": ("good text",) * 3}).value == 0.0


def test_who_agrees_and_cites_the_same_lies_below_zero() -> None:
    said = {"ann": ("cold rain", "deep snow", "wild wind"), "bob": ("cold rain", "deep frost", "calm seas")}
    one = found(said, {"ann": (5.0, 5.0, 5.0), "bob": (5.0, 6.0, 9.0)})
    assert one.detail["with_difference"] == pytest.approx(-1.0)
    assert one.detail["pairs"] == 3


def test_a_judge_that_cites_nothing_of_a_text_leaves_it_out() -> None:
    said = {"ann": ("cold rain", "deep snow", "wild wind"), "bob": ("cold rain", "deep snow", "--")}
    assert (found(said).n, found(said).n_excluded) == (2, 1)


@pytest.mark.parametrize(
    "said", [{"ann": ("cold rain",) * 3}, {"ann": ("cold rain", "--", "--"), "bob": ("rain",) * 3}]
)
def test_too_little_is_undefined(said: dict[str, tuple[str, ...]]) -> None:
    assert not found(said).defined


def test_scripts_without_spaces_are_compared_by_character() -> None:
    assert words_of("证人说谎") == set("证人说谎")
