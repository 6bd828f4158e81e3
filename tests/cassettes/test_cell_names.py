"""Names cannot lead out of cassettes/, nor make two cells one file."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_plans import plan

from recuse.cassettes.cell_cassette import check_distinct, checked_cell
from recuse.cassettes.library import Library
from recuse.schema import RecuseError

UNSAFE = {
    "parent": "..",
    "traversal": "../../etc/passwd",
    "separator": "a/b",
    "backslash": "a\\b",
    "absolute": "/etc",
    "drive": "C:",
    "dot first": ".hidden",
    "dash first": "-rf",
    "dots inside": "a..b",
    "trailing dot": "a.",
    "trailing blank": "a ",
    "blank": "a b",
    "empty": "",
    "control": "a\x00b",
    "line feed": "a\n",
    "device": "nul",
    "device with suffix": "COM1.txt",
    "not ascii": "jüdge",
    "homoglyph": "сlaude",
    "star": "*",
    "long": "x" * 65,
}
PLACES = ("panel", "task", "protocol", "judge", "target", "factor")


@pytest.mark.parametrize("name", UNSAFE)
def test_no_part_of_a_cell_may_be_unsafe(name):
    for place in PLACES:
        parts = dict.fromkeys(PLACES, "fine") | {place: UNSAFE[name]}
        *folders, judge, target, factor = parts.values()
        with pytest.raises(RecuseError, match=r"cannot be used as a name|not of the form"):
            checked_cell(f"{'/'.join(folders)}/{judge}~{target}~{factor}")


@pytest.mark.parametrize(
    "cell", ["p/t/r", "p/t/r/c/d", "/p/t/r/c", "p//r/c", "../t/r/c", "p/t/r/", "p/t/r/~", "p/t/r/a~"]
)
def test_a_cell_has_four_parts_and_no_way_out(cell: str, root: Path) -> None:
    with pytest.raises(RecuseError):
        checked_cell(cell)
    with pytest.raises(RecuseError):
        Library(root, "p")._cassette(cell)


def test_a_cell_of_another_panel_is_refused(root: Path) -> None:
    with pytest.raises(RecuseError, match="does not belong to panel p"):
        Library(root, "p")._cassette("q/t/r/c")


def test_a_panel_name_is_checked(root: Path) -> None:
    with pytest.raises(RecuseError, match="cannot be used as a name"):
        Library(root, "../p")


def test_many_long_parts_do_not_fit_one_file_name() -> None:
    with pytest.raises(RecuseError, match="at most 200 fit"):
        checked_cell(f"p/t/r/{'~'.join(letter * 60 for letter in 'jtxy')}")


def test_cells_that_differ_in_case_only_collide() -> None:
    with pytest.raises(RecuseError, match="differ only in case"):
        check_distinct(["p/t/r/Judge~a", "p/t/r/judge~a"])


def test_a_plan_of_cells_that_differ_in_case_only_is_refused(root: Path) -> None:
    a, b = (plan("https://api.example/v1", items=(item,), repeats=1)[0] for item in "aA")
    assert (a.cell != b.cell, a.cell.casefold() == b.cell.casefold()) == (True, True)
    Library(root, "small").expect([a])
    with pytest.raises(RecuseError, match="differ only in case"):
        Library(root, "small").expect([a, b])


def test_ordinary_names_pass() -> None:
    name = "published/merchant_risk/rubric/gemini-2.5-pro~gpt-5.1~attributed"
    assert checked_cell(name) == name
    assert checked_cell(f"{name}.jsonl") == name
