"""Credentials: which variables are read, which values can be sent, and that nothing shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from recuse.judges.client import (
    Credentials,
    MissingKeyError,
    keys_from_environment,
    secrets_of,
    short_keys,
    variables_of,
)
from recuse.schema import Judge

MakeJudge = Callable[..., Judge]


def test_keys_come_from_the_variables_that_the_panel_names(judge: MakeJudge) -> None:
    judges = {"ann": judge(api_key_env="ANN_KEY"), "bob": judge(name="bob"), "eve": judge(api_key_env="EVE_KEY")}
    assert keys_from_environment(judges, {"ANN_KEY": "a-12", "EVE_KEY": "e-12", "OTHER": "x"}) == {
        "ann": Credentials("a-12"),
        "bob": Credentials(),
        "eve": Credentials("e-12"),
    }


def test_every_missing_variable_is_named_with_its_judges(judge: MakeJudge) -> None:
    judges = {"ann": judge(api_key_env="A_KEY"), "bob": judge(api_key_env="B_KEY"), "eve": judge(api_key_env="A_KEY")}
    with pytest.raises(MissingKeyError) as caught:
        keys_from_environment(judges, {"B_KEY": ""})
    assert str(caught.value) == (
        "recording ann, bob, eve needs the environment variable(s) A_KEY, B_KEY; "
        "set them, or leave these judges out with --judges"
    )


@pytest.mark.parametrize("value", ["canary-9d2f6c81e4\n", "canary 9d2f6c81e4", "“canary-9d2f6c81e4”", "canary\x00"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(judge: MakeJudge, value: str) -> None:
    """The HTTP client would raise an error that quotes the header, key and all."""
    with pytest.raises(MissingKeyError, match="environment variable\\(s\\) ANN_KEY cannot be an API key") as caught:
        keys_from_environment({"ann": judge(api_key_env="ANN_KEY")}, {"ANN_KEY": value})
    assert "canary" not in str(caught.value)


def test_further_headers_take_their_values_from_variables_of_their_own(judge: MakeJudge) -> None:
    ann = judge(api_key_env="ANN_KEY", headers_env={"x-proxy-key": "PROXY_KEY"})
    found = keys_from_environment({"ann": ann}, {"ANN_KEY": "a-12", "PROXY_KEY": "p-12"})
    assert found == {"ann": Credentials("a-12", {"x-proxy-key": "p-12"})}
    assert variables_of(ann) == ("ANN_KEY", "PROXY_KEY")
    with pytest.raises(MissingKeyError, match=r"recording ann needs the environment variable\(s\) PROXY_KEY"):
        keys_from_environment({"ann": ann}, {"ANN_KEY": "a-12"})


@pytest.mark.parametrize("value", ["a-1", "none", "EMPTY", "content", "1234567"])
def test_a_key_that_is_a_word_or_a_number_is_refused_by_the_name_of_its_variable(judge: MakeJudge, value: str) -> None:
    with pytest.raises(MissingKeyError, match=r"variable ANN_KEY cannot hold an API key: .* name none") as caught:
        keys_from_environment({"ann": judge(api_key_env="ANN_KEY")}, {"ANN_KEY": value})
    assert value not in str(caught.value).replace("name none", "")


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "http://localhost:8000/v1", "http://10.0.0.7:8000/v1"])
def test_a_server_of_one_s_own_may_want_any_word_which_is_no_secret(judge: MakeJudge, url: str) -> None:
    judges, environment = {"ann": judge(api_key_env="ANN_KEY", base_url=url)}, {"ANN_KEY": "EMPTY"}
    assert keys_from_environment(judges, environment)["ann"] == Credentials("EMPTY")
    assert (secrets_of(judges, environment), short_keys(judges, environment)) == ({}, "")
    with pytest.raises(MissingKeyError, match="cannot hold an API key"):  # another judge sends it out
        keys_from_environment({**judges, "bob": judge(name="bob", api_key_env="ANN_KEY")}, environment)


def test_a_short_key_that_is_neither_is_taken_with_a_warning(judge: MakeJudge) -> None:
    judges = {"ann": judge(api_key_env="ANN_KEY"), "bob": judge(api_key_env="BOB_KEY")}
    environment = {"ANN_KEY": "k3y!", "BOB_KEY": "canary-9d2f6c81e4"}
    assert keys_from_environment(judges, environment)["ann"] == Credentials("k3y!")
    assert short_keys(judges, environment).startswith("the key in ANN_KEY has fewer than 8 characters: wherever")
    assert short_keys({"bob": judges["bob"]}, environment) == ""


def test_credentials_do_not_show_themselves() -> None:
    assert "canary" not in repr(Credentials("canary-1", {"x": "canary-2"}))


def test_a_stand_in_is_never_signed_for(judge: MakeJudge) -> None:
    ann = judge("bedrock_converse", base_url="http://ann.scripted.invalid")
    assert keys_from_environment({"ann": ann}, {}) == {"ann": Credentials()}


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": {"extra": {"deep": ["it is plain-looking1"]}}},
        {"headers": {"x-proxy": "plain-looking1"}},
        {"query": {"user": "plain-looking1"}},
        {"base_url": "http://api.example/plain-looking1/v1"},
    ],
)
def test_the_value_of_a_variable_may_not_stand_in_the_file(judge: MakeJudge, changes: dict[str, Any]) -> None:
    """Whatever a key looks like: it would go into the header of every cassette."""
    ann = judge(api_key_env="ANN_KEY", **changes)
    with pytest.raises(MissingKeyError, match=r"panel file holds the value of ANN_KEY \(not shown\)") as caught:
        keys_from_environment({"ann": ann}, {"ANN_KEY": "plain-looking1"})
    assert "plain-looking1" not in str(caught.value)
