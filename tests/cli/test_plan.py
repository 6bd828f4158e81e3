"""`recuse plan` from a file of ratings or from sizes alone: a team with one judge has a plan as well."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recuse.experiments import plan_command
from recuse.metrics.upgrade import COMPONENTS

SHIPPED = Path(__file__).resolve().parents[2] / "evals" / "gates.toml"


@pytest.fixture
def planned(recuse, three_gates, tmp_path, monkeypatch):
    """`planned(*arguments)`: what `recuse plan` or another subcommand prints by three gates, of one pilot each."""
    monkeypatch.setattr(plan_command, "PILOTS", 1)
    monkeypatch.setattr(plan_command, "REPEATS", (2,))
    three_gates(tmp_path)

    def run(*arguments, command="plan"):
        outcome = recuse(command, *arguments, "--evals", tmp_path)
        assert outcome.err == ""
        assert outcome.code == 0
        return outcome.out

    return run


def test_one_judge_is_planned(planned):
    out = planned("--judges", 1, "--items", 15, "--people", 0, "--pairs", 0)
    assert out.startswith("planned: 1 judge, 15 items, 3 repeats,")
    assert [line.split()[0] for line in out.split("\n\n")[1].splitlines()[2:3]] == ["repeat_difference"]
    assert "\nnot planned, needs a second judge: self_preference, leniency\n" in out
    assert "\nrepeat_difference limits an average: wild answers in fewer than 1 of 39 stay within it\n" in out


def test_two_judges_are_planned_as_before(planned):
    out = planned("--judges", 2, "--items", 15, "--people", 0, "--pairs", 0)
    assert "leniency" in out
    assert "not planned" not in out
    assert "candidate" not in out


def test_a_file_with_one_judge_is_planned_by_what_was_measured(planned, tmp_path):
    rows = (f"t{k},{3 + k % 5},{3 + k % 5},{3 + (k + k % 2) % 5}" for k in range(40))
    path = tmp_path / "tickets.csv"
    path.write_text("item,anna,judge.1,judge.2\n" + "\n".join(rows) + "\n", encoding="utf-8")
    out = planned(path, "--scale", "1-10")
    assert out.startswith("planned: 1 judge, 40 items, 2 repeats, 1 person, ")
    assert "spread 4 % of its range" in out
    assert "\nnot planned, needs a second judge: leniency\n" in out


def test_one_judge_is_simulated(planned):
    out = planned("--judges", 1, "--items", 8, "--people", 0, "--pairs", 0, "--runs", 4, "--processes", 1,
                  command="validate")  # fmt: skip
    assert "simulated: 1 judge, 8 items" in out
    assert "repeat_difference" in out


def test_an_upgrade_is_planned_by_its_components(planned, tmp_path):
    with (tmp_path / "gates.toml").open("a", encoding="utf-8") as gates:
        gates.writelines(re.findall(r"^\[upgrade_.*?(?=^\[|\Z)", SHIPPED.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    out = planned("--judges", 1, "--items", 40, "--people", 0, "--pairs", 0)
    lines = out.partition("a candidate for the judge in use")[2].splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith("upgrade_")}
    assert list(rows) == [name for name in COMPONENTS if name in rows]
    assert rows["upgrade_shift"][:5] == ["40", "items", "100", "%", "40"]
    passes, needed = int(rows["upgrade_injection"][2]), int(rows["upgrade_injection"][4])
    assert passes < 80  # forty attacks decide nothing that small
    assert needed > 40


def test_options_are_no_scores_to_take_sizes_from(recuse, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item,anna,judge\n" + "".join(f"t{k},pass,{('pass', 'fail')[k % 2]}\n" for k in range(20)))
    outcome = recuse("plan", path)
    assert outcome.code == 3
    assert "these ratings are options; give the sizes instead" in outcome.err


def test_more_repeats_never_take_more_items():
    """Eight simulated panels a row say so only roughly: 30 and 120 become their geometric mean, 60, for both."""
    assert plan_command.not_more([30.0, 120.0, 20.0, 20.0]) == [60, 60, 20, 20]
    assert plan_command.not_more([50.0, 40.0, 30.5]) == [50, 40, 31]


def test_an_upgrade_of_choices_asked_once_is_told_to_ask_twice():
    never = plan_command.Need("upgrade_flips", "pairs", 20, 0.1, 0.9, float("inf"))
    assert plan_command._asked_once([never])[0].endswith("; ask it twice")
    assert plan_command._asked_once([plan_command.Need("upgrade_flips", "pairs", 20, 0.1, 0.9, 60.0)]) == []
