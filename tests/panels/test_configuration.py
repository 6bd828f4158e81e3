"""TOML files that cannot be read at all: the file, the line, what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field

from recuse.configuration.toml_files import ConfigurationError, Table, parse, read_toml
from recuse.upgrade.yardsticks import keys_of


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


def test_toml_without_an_end_to_its_brackets_is_a_fault_as_well(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    path.write_text(f"name = {'[' * 3000}{']' * 3000}\n", encoding="utf-8")
    assert fault_of(path).startswith(f"{path}: not valid TOML: ")
    assert keys_of(path.read_text(encoding="utf-8")) == {}


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


# --------------------------------------------------------------------------- a file that can be read, and is wrong


class Seat(Table):
    name: str
    weight: float = Field(1.0, description="a number, e.g. weight = 1.5")
    ends: tuple[int, int] | None = Field(None, description="two whole numbers", strict=False)


class Room(Table):
    seat: list[Seat]


def faults_of(path: Path, text: str) -> list[str]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        parse(Room, read_toml(path), path)
    head, *faults = str(caught.value).splitlines()
    assert head == f"{path}: {len(faults)} fault(s)"
    return [fault.strip() for fault in faults]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("nmae = 'b'", "line 5, seat[1].nmae: unknown key; known here: ends, name, weight. Did you mean name?"),
        ("name = 3", "line 5, seat[1].name: Input should be a valid string (got 3)"),
        ("weight = 'heavy'", "line 5, seat[1].weight: must be a number, e.g. weight = 1.5; it is 'heavy'"),
        ("ends = [1]", "line 5, seat[1].ends: must be two whole numbers; it is [1]"),
        ("ends = [1, 'x']", "line 5, seat[1].ends: must be two whole numbers; it is [1, 'x']"),
        ("weight = 2", "line 4, seat[1].name: required, but missing"),
    ],
)
def test_a_fault_is_told_with_its_line_and_what_is_expected(tmp_path: Path, table: str, said: str) -> None:
    faults = faults_of(tmp_path / "room.toml", f"[[seat]]\nname = 'a'\n\n[[seat]]\n{table}\n")
    unnamed = [] if table.startswith("name") else ["line 4, seat[1].name: required, but missing"]
    assert sorted(faults) == sorted({*unnamed, said})


def test_a_value_where_a_table_belongs(tmp_path: Path) -> None:
    assert "line 1, seat: Input should be a valid list (got 3)" in faults_of(tmp_path / "room.toml", "seat = 3\n")


def test_data_without_a_file_have_places_and_no_lines(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\n  seat\[0\]\.name: required, but missing$"):
        parse(Room, {"seat": [{}]}, tmp_path / "none.toml")
