"""`--json` and `--csv` of `recuse choose`, `weeks` and `rank`: what is printed, for a program."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMMANDS = {
    "choose": (HERE / "three_judges.csv", "--budget", "200"), "weeks": (HERE / "weeks.csv", "--week", "week"),
    "rank": (HERE / "pairs.csv",),
}  # fmt: skip
NUMBER = {"choose": "error", "weeks": "value", "rank": "points"}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("command", COMMANDS)
def test_the_rows_of_json_and_csv_are_those_that_are_printed(recuse, tmp_path, command):
    plain = recuse(command, *COMMANDS[command])
    outputs = ("--json", tmp_path / "t.json", "--csv", tmp_path / "t.csv")
    found = recuse(command, *COMMANDS[command], *outputs)
    assert (found.code, found.out) == (plain.code, plain.out)
    whole = json.loads((tmp_path / "t.json").read_text())
    rows = [*csv.DictReader((tmp_path / "t.csv").open(encoding="utf-8-sig", newline=""))]
    assert whole["command"] == command
    assert [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in whole["rows"]] == [
        {name: row[name] for name in sorted(row)} for row in rows
    ]
    form = "{:+.0f}" if command == "rank" else "{:.3f}"
    shown = [form.format(row[NUMBER[command]]) in found.out for row in whole["rows"]]
    assert sum(shown) >= len(shown) / 2  # of weeks the last four are printed
    recuse(command, *COMMANDS[command], *outputs)
    assert json.loads((tmp_path / "t.json").read_text()) == whole


def test_what_holds_of_all_rows_stands_beside_them(recuse, tmp_path):
    facts = {}
    for command, arguments in COMMANDS.items():
        code = recuse(command, *arguments, "--json", tmp_path / f"{command}.json").code
        facts[command] = json.loads((tmp_path / f"{command}.json").read_text())
        assert facts[command].get("exit_code", 0) == code
    assert (facts["choose"]["use"], facts["choose"]["cheaper"]) == ("decide", ["judge_small"])
    assert [each["texts"] for each in facts["choose"]["budget"]] == [200, 100, 66]
    total, judge, system = (facts["weeks"]["anchors"]["judge"][name] for name in ("total", "judge", "system"))
    assert judge[0] + system[0] == pytest.approx(total)
    assert judge[1] < judge[0] < judge[2]
    assert (facts["rank"]["pairs"], facts["rank"]["unanswered"]) == (360, {})


@pytest.mark.parametrize("option", ["--json", "--csv"])
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_of_somebody_elses_is_written_over(recuse, tmp_path, command, option):
    path = tmp_path / "june"
    path.write_text("item,judge\nt1,pass\n")
    found = recuse(command, *COMMANDS[command], option, path)
    assert (found.code, found.out, "was not written by this option" in found.err) == (3, "", True)
    assert path.read_text() == "item,judge\nt1,pass\n"


def test_names_begin_no_formula_in_the_csv(recuse, tmp_path):
    text = (HERE / "pairs.csv").read_text().replace("atlas", "=1+1")
    (tmp_path / "p.csv").write_text(text)
    recuse("rank", tmp_path / "p.csv", "--csv", tmp_path / "t.csv")
    rows = [*csv.DictReader((tmp_path / "t.csv").open(encoding="utf-8-sig", newline=""))]
    assert rows[0]["system"] == "'=1+1"
