"""Small ratings for the examples in docstrings: one letter or digit per text."""

from __future__ import annotations

from dataclasses import replace

from recuse.ratings import Numeric, Ordinal, Ratings, ResponseSets


def rated(**answers: str) -> Ratings:
    """Ratings by `judge` and by people of any name: p is pass, f is fail, a digit is a score from 0 to 9, - is nothing.

    >>> rated(judge="pf-", ann="pff").people is None
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


def accepted(**answers: str) -> Ratings:
    """Choices with response sets beside them: p and f as in `rated`, b accepts both and chose pass.

    >>> accepted(judge="pb", ann="fb").beside("response_sets").table["response"].tolist()
    ['pass', 'fail|pass', 'fail', 'fail|pass']
    """
    chosen = rated(**{who: text.replace("b", "p") for who, text in answers.items()})
    words = {"p": "pass", "f": "fail", "b": "fail|pass"}
    named = [words[letter] for text in answers.values() for letter in text]
    sets = Ratings.of(chosen.table.assign(response=named), scales=ResponseSets(("fail", "pass")))
    return replace(chosen, beside=lambda kind: sets if kind == "response_sets" else None, _memory={})
