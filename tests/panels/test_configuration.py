"""TOML files that cannot be read at all: the file, the line, what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from recuse.configuration import ConfigurationError, read_toml


def fault_of(path: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_toml(path)
    return str(caught.value)


def test_malformed_toml_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    path.write_text('name = "mini"\ndescription = "never closed\n', encoding="utf-8")
    said = fault_of(path)
    assert said.startswith(f"{path}: not valid TOML: ")
    assert "line 2" in said


def test_a_missing_file_is_told_with_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "published.toml").touch()
    (tmp_path / "local.toml").touch()
    path = tmp_path / "publisehd.toml"
    assert fault_of(path) == f"{path}: no such file; {tmp_path} has local.toml, published.toml"


def test_a_missing_folder_has_no_neighbours(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "mini.toml"
    assert fault_of(path) == f"{path}: no such file"


def test_other_encodings_are_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    path.write_bytes('name = "Müller"'.encode("latin-1"))
    assert fault_of(path) == f"{path}: not UTF-8 (byte 9); save the file as UTF-8"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert fault_of(tmp_path).startswith(f"{tmp_path}: cannot be read: ")


def test_a_byte_order_mark_is_not_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    path.write_bytes(b"\xef\xbb\xbfname = 'mini'\r\n")
    assert read_toml(path) == {"name": "mini"}
