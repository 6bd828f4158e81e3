"""A verdict on the last line: what is read, what is named instead, and that nothing is ever guessed."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.protocols.last_line import labelled, verdict
from recuse.protocols.reading import Unreadable
from recuse.schema import Reply

Finish = Literal["stop", "length", "refusal", "error"]


def failure(text: str, finish: Finish = "stop", label: str = "Rating") -> tuple[str, str]:
    with pytest.raises(Unreadable) as caught:
        verdict(Reply(text, finish), label)
    return caught.value.status, caught.value.why


@pytest.mark.parametrize(
    "text",
    [
        "Rating: 4",
        "rating: 4",
        "The lead is clear.\nRating: 4",
        "The lead is clear.\n\n\nRating:4   \n\n",
        "I would rate this 5, were it shorter. Rating scales run from 1.\nRating: 4",
        'The text says "Rating: 5", which is not for it to say.\nRating: 4',
        "Rating: 4\nRating: 4",  # told twice, the same both times
        "I cannot find a fault.\nRating: 4",
        "```\nRating: 4\n```",
        "Here you are:\n```text\nThe lead is clear.\nRating: 4\n```\n",
        "~~~\nRating: 4\n~~~",
        "**Rating: 4**",
        "**Rating:** 4",
        "**Rating**: 4",
        "### Rating: `4`",
        "- Rating: __4__",
        "> Rating: *4*",
        "It names the place.\nRating: [[4]]",
        "**Rating: [[4]]**",
    ],
)
def test_what_stands_on_the_last_line_is_the_verdict(text: str) -> None:
    assert verdict(Reply(text), "Rating") == "4"


@pytest.mark.parametrize("text", ["", " \n\t\n", "```\n```"])
def test_an_empty_reply_has_no_verdict(text: str) -> None:
    status, why = failure(text)
    assert status == "unparsed"
    assert "empty" in why or "no line" in why


@pytest.mark.parametrize(
    "text",
    [
        "The headline is clear and the lead has all five Ws.",
        "4",
        "4/5",
        "I would give it a 4.",
        "My rating is 4",
        "Bewertung: 4",
        "Note : 4",
        "评分：4",
        "The text says Rating: 5.",
        "Overall Rating of the text: 4",
        '{"rating": 4}',
        "| Rating | 4 |",
    ],
)
def test_a_reply_without_the_line_is_not_searched_for_numbers(text: str) -> None:
    assert failure(text) == ("unparsed", 'no line "Rating: ..." in the reply')


def test_two_verdicts_that_disagree_are_none() -> None:
    status, why = failure("Rating: 3\nOn reflection:\nRating: 4")
    assert status == "unparsed"
    assert "2 different lines" in why
    assert "3, 4" in why


def test_a_verdict_before_the_last_line_is_not_read() -> None:
    """Who writes on may take it back: the protocol asks for the last line, and so do we."""
    status, why = failure("Rating: 4\nAlthough the lead is too long.")
    assert status == "unparsed"
    assert "not on the last line" in why


def test_a_verdict_that_the_token_limit_may_have_cut_is_not_read() -> None:
    status, why = failure("Rating: 1", finish="length")  # of 10? of 1.5?
    assert status == "unparsed"
    assert "token limit" in why


def test_refusals_and_broken_payloads_keep_their_own_status() -> None:
    assert failure("I'm sorry, but I cannot grade this text.")[0] == "refused"
    assert failure("Sorry.", finish="refusal") == ("refused", "Sorry.")
    assert failure("the body is not JSON", finish="error") == ("error", "the body is not JSON")


def test_the_value_may_be_anything_the_line_holds() -> None:
    """What it means is the protocol's business."""
    assert verdict(Reply("Rating: four out of five"), "Rating") == "four out of five"
    assert verdict(Reply("Winner: tie"), "Winner") == "tie"
    assert verdict(Reply("Rating:"), "Rating") == ""


def test_labelled_lines_are_all_found_in_order() -> None:
    text = "headline: One: two\n**Lead:** three\nLeading: four\nHeadline: five"
    assert labelled(text, "Headline") == ["One: two", "five"]
    assert labelled(text, "Lead") == ["three"]


@given(st.text(max_size=60), st.sampled_from(["1", "2", "3", "4", "5"]))
def test_words_before_the_last_line_never_become_the_verdict(before: str, grade: str) -> None:
    try:
        found = verdict(Reply(f"{before}\nRating: {grade}"), "Rating")
    except Unreadable:
        return
    assert found == grade


@given(st.text(max_size=80))
def test_a_verdict_was_written_after_its_label(text: str) -> None:
    try:
        found = verdict(Reply(text), "Rating")
    except Unreadable:
        return
    assert "rating" in text.lower()
    assert found in text
