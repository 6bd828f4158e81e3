"""Scores that repeat the numbers of the prompt, and quotes that are not in the text."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest

from recuse.papers.illusion.cited_evidence import quotes_in_text, repeated_numbers
from recuse.papers.illusion.merg import PARTS
from recuse.ratings import Ratings
from recuse.schema import Estimate


def of_scores(*lists: Sequence[float | None]) -> Estimate:
    rows = [
        {"judge": "a", "item": f"i{n}", "criterion": part, "score": score}
        for n, scores in enumerate(lists)
        for part, score in zip(PARTS, scores, strict=True)
    ]
    return repeated_numbers(Ratings.of(pd.DataFrame(rows))).of(judge="a")


def test_counting_and_anchors_are_counted_and_nothing_else() -> None:
    one = of_scores((1, 2, 3, 4, 5), (2, 5, 8, 10, 10), (2, 5, 8, 10, 4), (5, 4, 3, 2, 1), (2, 3, 4, 5, 6))
    assert one.value == pytest.approx(3 / 5)
    assert (one.detail["counting"], one.detail["anchors"], one.detail["lists"]) == (0.2, 0.4, 5)


def test_a_reply_that_lacks_a_score_is_no_list() -> None:
    one = of_scores((1, 2, 3, 4, 5), (1, 2, 3, 4, None))
    assert (one.value, one.n) == (1.0, 1)


def test_the_commonest_list_is_told_whatever_it_is() -> None:
    one = of_scores((7, 7, 7, 7, 7), (7, 7, 7, 7, 7), (6, 7, 8, 9, 9))
    assert (one.value, one.detail["commonest"]) == (0.0, pytest.approx(2 / 3))


def test_replies_of_two_parts_have_no_list() -> None:
    frame = pd.DataFrame({"judge": "a", "item": "i", "criterion": ["x", "y"], "score": [1.0, 2.0]})
    assert not repeated_numbers(Ratings.of(frame, parts=("x", "y")))


@pytest.mark.parametrize(
    ("quote", "share"),
    [("The LOCK is open", 1.0), ("lock is, open", 1.0), ("open lock", 0.0), ("o", 0.0), ("", 0.0), ("31,500", 1.0),
     ("1,500", 0.0)],
)  # fmt: skip
def test_a_quote_is_in_the_text_word_for_word(quote: str, share: float) -> None:
    frame = pd.DataFrame({"judge": "a", "item": ["i", "j"], "target": "t", "score": 3.0})
    texts = frame[["item", "target"]].assign(text="The lock is open; takings were 31,500.")
    cited = Ratings.of(frame.drop(columns="score").assign(response=quote))
    ratings = Ratings.of(frame, texts=texts, beside={"quotes": cited}.get)
    assert quotes_in_text(ratings).of(judge="a").value == share
