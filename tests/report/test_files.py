"""Files of the report: whole or not at all, and left alone where they say the same already."""

from __future__ import annotations

import os
from pathlib import Path

from recuse.report.files import write_files


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
