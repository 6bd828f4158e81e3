"""Names that become file names: safe on every system, and distinct on every system."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.configuration import checked_distinct, checked_name
from recuse.schema import RecuseError


@pytest.mark.parametrize("name", ["a", "A9", "gpt-5.1", "claude-4.5-sonnet", "a_b", "x" * 64, "console"])
def test_ordinary_names_pass(name: str) -> None:
    assert checked_name(name, "judge", "here") == name


@pytest.mark.parametrize("name", ["a..b", "aux", "NUL.txt", "com1", "-a", "a-", "a b", "a\n", "a\x00", "x" * 65])
def test_unsafe_names_do_not(name: str) -> None:
    with pytest.raises(RecuseError, match=re.escape(f"here: judge {name!r} cannot be used as a name")):
        checked_name(name, "judge", "here")


@given(st.text(max_size=20))
def test_what_passes_is_one_step_of_a_path(name: str) -> None:
    try:
        checked_name(name, "judge", "here")
    except RecuseError:
        return
    for path in (PurePosixPath(name), PureWindowsPath(name)):
        assert path.parts == (name,)
        assert not path.is_absolute()
    assert name.isascii()


@pytest.mark.parametrize("names", [["a", "a"], ["a", "b", "A"], ["gpt-5.1", "GPT-5.1"]])
def test_names_that_one_file_system_takes_for_one_are_refused(names: list[str]) -> None:
    with pytest.raises(RecuseError, match="appears twice"):
        checked_distinct(names, "judge", "here")


def test_distinct_names_pass() -> None:
    checked_distinct(["a", "b", "ab"], "judge", "here")
