"""Files of the report: whole or not at all, and left alone where they say the same already."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recuse.readers.filled_lists import beginning_of, columns_in
from recuse.schema import RecuseError
from recuse.security.files import write_files, write_table
from recuse.security.sanitize import safe_cell


def test_what_says_the_same_already_is_left_alone(tmp_path: Path) -> None:
    (page,) = write_files(tmp_path, {"a/page.html": "é\r\n"})
    os.utime(page, (1, 1))
    assert write_files(tmp_path, {"a/page.html": "é\r\n"}) == [page]
    assert page.stat().st_mtime == 1
    write_files(tmp_path, {"a/page.html": "e\r\n\n"})  # as many bytes
    assert page.read_bytes() == b"e\r\n\n"
    assert os.listdir(page.parent) == ["page.html"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (tmp_path / "page.html").symlink_to(elsewhere)
    write_files(tmp_path, {"page.html": "mine"})
    assert not (tmp_path / "page.html").is_symlink()


@pytest.mark.parametrize("place", ["replies", "replies/local"])
def test_no_folder_below_the_report_is_written_through_a_link(tmp_path: Path, place: str) -> None:
    theirs, reports = tmp_path / "theirs", tmp_path / "reports"
    theirs.mkdir()
    (reports / place).parent.mkdir(parents=True)
    (reports / place).symlink_to(theirs)
    with pytest.raises(RecuseError, match="is a link"):
        write_files(reports, {"replies/local/page.html": "ours"})
    assert not os.listdir(theirs)


def test_a_report_in_a_folder_that_is_a_link_is_the_users_own_choice(tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    (tmp_path / "reports").symlink_to(tmp_path / "volume")
    write_files(tmp_path / "reports", {"replies/page.html": "ours"})
    assert (tmp_path / "volume" / "replies" / "page.html").read_text() == "ours"


def test_where_nothing_can_be_written_the_error_says_so(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file of theirs")
    with pytest.raises(RecuseError, match="cannot be written"):
        write_files(tmp_path / "reports", {"page.html": "ours"})


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("a;=1+1", "a;'=1+1"),
        ("=1;b", "'=1;b"),
        ("a;-2;@b", "a;-2;'@b"),
        ("plain; text", "plain; text"),
        ("-1.5", "-1.5"),
    ],
)
def test_a_formula_behind_a_semicolon_is_none(cell: str, written: str) -> None:
    assert safe_cell(cell) == written


def test_a_table_reads_back_its_columns_and_holds_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    for _ in range(2):  # the second time it knows its own
        write_table(path, ("judge", "=item"), [("a", "=1+1"), ("é", 0.5)], lambda text: text.startswith("judge,"))
    assert columns_in(beginning_of(path)) == ("judge", "'=item")
    assert path.read_text(encoding="utf-8-sig").split() == ["judge,'=item", "a,'=1+1", "é,0.5"]


def test_columns_are_read_with_semicolons_and_in_quotes_too() -> None:
    assert columns_in('\ufeff"judge"; item \r\n1;2') == ("judge", "item")
