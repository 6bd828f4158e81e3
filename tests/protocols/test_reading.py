"""Finding the one JSON value in a reply: what is tolerated, what is not, and that nothing is ever guessed."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.protocols.reading import Unreadable, json_value, score
from recuse.schema import Reply

Finish = Literal["stop", "length", "refusal", "error"]
ANSWER = {"a": {"score": 7, "why": "Because {so} it is."}, "total": 7.5}
TEXT = json.dumps(ANSWER)


def failure(text: str, kind: Any = dict, finish: Finish = "stop") -> tuple[str, str]:
    with pytest.raises(Unreadable) as caught:
        json_value(Reply(text, finish), kind)
    return caught.value.status, caught.value.why


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"\n\n  {TEXT}  \n",
        f"Here you are: {TEXT} I hope this helps {{really}}!",
        f"```json\n{TEXT}\n```",
        f"My marks:\n\n```\n{TEXT}\n```\nThat is all.",
        f"{TEXT}\n\nOnce more: {TEXT}",
        f"Sets such as {{is}} and {{ a, b }} are words. {TEXT}",
        f"I cannot praise it enough. {TEXT}",
        f"[{TEXT}]",
        f"{{sure}} {TEXT}",
        f"\ufeff{TEXT}\u202e",
    ],
)
def test_words_around_are_tolerated(text: str) -> None:
    assert json_value(Reply(text), dict) == ANSWER


def test_an_answer_that_fits_is_read_even_if_the_limit_was_reached_just_then() -> None:
    assert json_value(Reply(TEXT, "length"), dict) == ANSWER


@pytest.mark.parametrize("after", ["\n", "\n   \n", "\n```\n"])
def test_nor_does_it_matter_that_blanks_and_a_fence_were_cut(after: str) -> None:
    assert json_value(Reply(f"Here you are:\n```json\n{TEXT}{after}", "length"), dict) == ANSWER
    assert json_value(Reply(f'{{"answer": [1, 2]}}{after}', "length"), list) == [1, 2]


def test_a_draft_before_words_that_are_cut_off_is_no_answer() -> None:
    """As a model thinks aloud: without the limit its amendment would have followed, and two values are none."""
    draft = f"Let me see. {TEXT}\nWait, the source says otherwise, so accur"
    assert failure(draft, finish="length") == (
        "unparsed", "words follow the JSON object, and may take it back (cut off by the token limit)",
    )  # fmt: skip
    assert json_value(Reply(draft), dict) == ANSWER


def test_an_array_is_found_where_one_is_wanted() -> None:
    assert json_value(Reply('Here: [{"level": 1}] (see above)'), list) == [{"level": 1}]
    assert json_value(Reply('{"levels": [{"level": 1}]}'), list) == [{"level": 1}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the reply is empty"),
        (" \n\t", "the reply is empty"),
        ("Accuracy 7, quality 8.", "no JSON object in the reply"),
        ("{'a': 7}", "no JSON object in the reply"),
        ("[7, 8]", "no JSON object in the reply"),
        (
            '{"a": 7} or rather {"a": 8}',
            "2 different JSON values in the reply; which one counts is not for us to guess",
        ),
        ('{"a": 7, "a": 8}', "the JSON object has the key 'a' twice"),
        ('{"b": 1, "a": 7, "a": 8}', "the JSON object has the key 'a' twice"),
        ('{"a": {"score": 7, "score": 7}}', "the JSON object has the key 'score' twice"),
        ('{"a": 7, "a" : 8}', "the JSON object has the key 'a' twice"),
        ('{"a": NaN}', "the JSON object holds NaN, which is not a JSON number"),
        ('{"a": -Infinity}', "the JSON object holds -Infinity, which is not a JSON number"),
        ('{"a": 7,}', "the JSON object is broken at character 8: "),
        ('{"a": 7.}', "the JSON object is broken at character "),
        ('{"a": 07}', "the JSON object is broken at character "),
        ('{"a": {"score": 7}, "b": {"sc', "the JSON object is broken at character "),
        ('{"a": ' + "9" * 5000 + "}", "the JSON object cannot be read: "),
        ('{"a": ' * 60 + "7" + "}" * 60, "the JSON object is nested too deeply"),
        ('{"a": ' * 100_000, "the JSON object is nested too deeply"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, why: str) -> None:
    status, said = failure(text)
    assert status == "unparsed"
    assert said.startswith(why)


def test_a_part_of_a_broken_answer_is_not_taken_for_the_answer() -> None:
    """A draft inside a reply that is cut off, in the very shape that is wanted."""
    assert failure(f'{{"draft": {TEXT}, "final": {{"a": {{"score": 3')[0] == "unparsed"
    assert failure(f'{{"draft": {TEXT}, "draft": 1}}')[0] == "unparsed"
    assert failure(f'{{"draft": {TEXT}, "final": NaN}}')[0] == "unparsed"


def test_a_cut_reply_says_so() -> None:
    assert failure(TEXT[:-9], finish="length")[1].endswith("(cut off by the token limit)")
    assert failure("My view is", finish="length")[1] == "no JSON object in the reply (cut off by the token limit)"


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "Sorry, I cannot score this text.",
        "I cannot and will not rate this.",
        "  \n**I cannot provide scores for this.**",
        "I can not do this.",
        "I won't judge a colleague.",
        "I will not do that.",
        "I am unable to evaluate this content.",
        "I'm unable to comply.",
        "I’m not able to help with this.",
        "We are not able to process this request.",
        "I'm not comfortable scoring this.",
        "I must decline.",
        "I have to respectfully decline to answer.",
        "I refuse to do so.",
        "Unfortunately, I cannot score the text you gave me.",
        "I apologize, but I cannot fulfil this request.",
        "My apologies, but I am unable to do so.",
        "As an AI language model, I cannot form opinions.",
        "I'm really sorry, but as an AI model, I can't do that.",
        "```\nI cannot score this.\n```",
        '"I cannot score this."',
    ],
)
def test_a_refusal_in_words_is_told_from_nonsense(text: str) -> None:
    assert failure(text) == ("refused", " ".join(text.split()))


@pytest.mark.parametrize(
    "text",
    [
        "The text says what I cannot: risk rises.",
        "Accuracy: 7. I cannot give more, because level 3 is thin.",
        "I cannot find any fault: accuracy 9, quality 9.",
        "I can't help but notice how clear this is. 8/10.",
        "I scored it 8. I will not change that.",
        "It is unfortunate. I would say 6.",
        "Sorry for the delay: 7.",
    ],
)
def test_not_every_cannot_is_a_refusal(text: str) -> None:
    assert failure(text) == ("unparsed", "no JSON object in the reply")


def test_a_long_refusal_is_shown_in_part() -> None:
    status, why = failure("I cannot score this, because " + "x" * 1000)
    assert (status, len(why), why[-1]) == ("refused", 160, "…")


@pytest.mark.parametrize(("text", "why"), [("Not  that.", "Not that."), ("", "refused by the provider")])
def test_the_providers_own_refusal_needs_no_words(text: str, why: str) -> None:
    assert failure(text, finish="refusal") == ("refused", why)


def test_the_providers_refusal_wins_over_an_answer() -> None:
    assert failure(TEXT, finish="refusal")[0] == "refused"


def test_a_payload_in_error_stays_an_error() -> None:
    assert failure("the body is not JSON", finish="error") == ("error", "the body is not JSON")


HOSTILE = {
    "blanks": " " * 300_000 + "x",
    "fence": "```\n" + " " * 300_000 + "x",
    "braces": "{" * 300_000,
    "brackets": "[" * 300_000,
    "objects": '{"a":' * 100_000,
    "pairs": "{}" * 100_000 + '{"a": 1}',
    "quotes": '{"' * 100_000,
    "keys": json.dumps(dict.fromkeys(range(100_000), 1))[:-1] + ', "99999": 1}',
    "sorry": "sorry, " * 50_000,
}


@pytest.mark.parametrize("kind", [dict, list])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_reply_has_its_reason_too(text: str, kind: Any) -> None:
    """Not timed, but it would be felt: where time grows with the square of the length, each takes minutes."""
    assert failure(text, kind)[0] == "unparsed"


@pytest.mark.parametrize(
    ("value", "status", "why"),
    [
        ("7", "unparsed", "a is '7', not a number"),
        (True, "unparsed", "a is True, not a number"),
        (None, "unparsed", "a is None, not a number"),
        ([7], "unparsed", "a is [7], not a number"),
        ({"score": 7}, "unparsed", "a is {'score': 7}, not a number"),
        (10.01, "out_of_scale", "a is 10.01, outside 0..10"),
        (-1, "out_of_scale", "a is -1, outside 0..10"),
        (float("inf"), "out_of_scale", "a is inf, outside 0..10"),
        (float("nan"), "out_of_scale", "a is nan, outside 0..10"),
        (10**400, "out_of_scale", "a is inf, outside 0..10"),
    ],
)
def test_what_is_no_score_has_none(value: object, status: str, why: str) -> None:
    found = score(value, "a", (0.0, 10.0))
    assert (found.score, found.status, found.why) == (None, status, why)


@pytest.mark.parametrize(("value", "step"), [(3.5, 1.0), (0.5, 1.0), (2.25, 0.5), (9.95, 0.1)])
def test_a_score_between_the_steps_is_none(value: float, step: float) -> None:
    found = score(value, "a", (0.0, 10.0), step)
    why = f"a is {value:g}, between the steps of {step:g} from 0 to 10"
    assert (found.score, found.status, found.why) == (None, "out_of_scale", why)
    assert score(value, "a", (value % step, 10.0), step).status == "ok", "steps begin at the lower end"


@pytest.mark.parametrize("step", [0.1, 0.05, 0.25, 1 / 3])
def test_every_step_is_a_score_whatever_arithmetic_makes_of_it(step: float) -> None:
    assert all(score(k * step, "a", (0.0, 40.0), step).status == "ok" for k in range(1, 120))


@pytest.mark.parametrize("value", [0, 10, 7.25, -0.0, 0.1 + 0.2])
def test_a_score_is_taken_as_it_is(value: float) -> None:
    found = score(value, "a", (0.0, 10.0))
    assert (found.score, found.status) == (float(value), "ok")


@given(st.text(), st.sampled_from(["stop", "length"]), st.sampled_from([dict, list]))
def test_any_text_gives_a_value_or_a_reason(text: str, finish: Finish, kind: Any) -> None:
    value, failed = None, None
    try:
        value = json_value(Reply(text, finish), kind)
    except Unreadable as error:
        failed = error
    if failed is None:
        assert isinstance(value, kind)
    else:
        assert failed.status in ("unparsed", "refused")
        assert failed.why


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.text("ab c.,:`\n"), st.text("ab c.,:`\n"))
def test_one_object_is_read_as_any_json_reader_would(value: object, before: str, after: str) -> None:
    assert json_value(Reply(f"{before}{json.dumps(value)}{after}"), dict) == value


def test_zero_has_no_sign_in_whatever_order_zeros_come() -> None:
    scores = [score(value, "warmth", (-2, 2)).score for value in (-0.0, 0, 0.0)]
    assert list(map(str, scores)) == ["0.0"] * 3
