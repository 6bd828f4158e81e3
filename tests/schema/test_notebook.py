"""What a notebook shows of estimates, verdicts and ratings: small tables in which no name is markup."""

from __future__ import annotations

import math
import re

import pandas as pd

from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates, Verdict
from recuse.schema.number_text import MOST_ROWS

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


def estimate(value: float = 0.3125, **more: object) -> Estimate:
    return Estimate(metric="leniency", value=value, low=0.1, high=0.5, n=10, method="by hand", **more)  # type: ignore[arg-type]


def rows(html: str) -> list[list[str]]:
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)][1:]


def test_an_estimate_shows_its_value_interval_and_n() -> None:
    assert rows(estimate()._repr_html_()) == [["0.3125", "0.1 to 0.5", "0.95", "", "10", "items", "by hand", ""]]


def test_what_is_undefined_is_said_in_words_with_its_note() -> None:
    (row,) = rows(estimate(math.nan, note="one item only")._repr_html_())
    assert (row[0], row[-1]) == ("undefined", "one item only")


def test_a_session_shows_a_line_per_subject() -> None:
    header, first = repr(Estimates(("judge",), {("gpt",): estimate()})).splitlines()
    assert header.split() == ["judge", "metric", "value", "low", "high", "n", "over"]
    assert first.split() == ["gpt", "leniency", "0.3125", "0.1", "0.5", "10", "items"]


def test_a_family_has_a_row_per_subject_and_says_what_it_leaves_out() -> None:
    family = Estimates(("judge",), {(f"judge {n}",): estimate() for n in range(MOST_ROWS + 5)})
    html = family._repr_html_()
    assert [row[0] for row in rows(html)] == [f"judge {n}" for n in range(MOST_ROWS)]
    assert f"the first {MOST_ROWS} of {MOST_ROWS + 5}" in html


def test_a_verdict_says_limit_and_what_is_wrong() -> None:
    rule, remedy = {"limit_text": "at most 0.2"}, {"finding": "0.31 is above 0.2 by 0.11."}
    found = Verdict(
        gate="leniency", subject={"judge": HOSTILE}, outcome="fail", estimate=estimate(), rule=rule,
        limit={"at_most": 0.2}, reason="", remedy=remedy,
    )  # fmt: skip
    (row,) = rows(found._repr_html_())
    assert row[2:] == ["fail", "0.3125", "0.1 to 0.5", "at most 0.2", "0.31 is above 0.2 by 0.11."]
    assert row[1] == "judge &lt;img src=x onerror=alert(1)&gt;⟦U+202E⟧"


def test_ratings_show_what_each_rater_gave_and_what_of_it_can_be_used() -> None:
    frame = pd.DataFrame(
        {"rater": [HOSTILE, HOSTILE, "ann"], "item": ["a", "b", "a"], "score": [1.0, None, 4.0],
         "status": ["ok", "unparsed", "ok"]}
    )  # fmt: skip
    html = Ratings.of(frame)._repr_html_()
    assert "<img" not in html
    first, second = rows(html)
    assert first[3:] == ["2", "1", "2", "1", "1.000"]
    assert (second[0], second[3:]) == ("ann", ["1", "1", "1", "1", "4.000"])
