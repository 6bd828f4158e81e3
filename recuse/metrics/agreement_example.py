"""Small ratings for the examples in docstrings: one letter or digit per text."""

from __future__ import annotations

from recuse.ratings import Numeric, Ordinal, Ratings

__all__ = ["said"]


def said(**answers: str) -> Ratings:
    """Ratings by `judge` and by people of any name: p is pass, f is fail, a digit is a score from 0 to 9, - is nothing.

    >>> said(judge="pf-", ann="pff").people is None
    True
    """
    import pandas as pd

    words = {"p": "pass", "f": "fail"}
    scored = any(letter.isdigit() for text in answers.values() for letter in text)
    column = "score" if scored else "response"
    rows = [
        (who, "judge" if who == "judge" else "person", f"text {k}", float(x) if x.isdigit() else words.get(x))
        for who, text in answers.items()
        for k, x in enumerate(text)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", column])
    return Ratings.of(frame, scales=Numeric(0, 9) if scored else Ordinal(("fail", "pass")))
