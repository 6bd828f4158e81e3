"""`recuse trend`: a gate's values over the committed baselines, by a repository made for the test."""

from __future__ import annotations

import csv
import json
import os
import subprocess

import pytest

from recuse.git.trend import history, line_of


def entry(judge, value, outcome="pass", what="leniency"):
    subject = {"judge": judge, "panel": "ours"}
    kind = "verdict" if outcome else "measurement"
    return {"kind": kind, "what": what, "subject": subject, "figures": {"value": value}, "outcome": outcome}


@pytest.fixture
def committed(tmp_path, monkeypatch):
    """`committed(entries, ...)`: a repository with one baseline per argument, a day after the other."""

    def make(*baselines):
        (tmp_path / "reports").mkdir(exist_ok=True)
        environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        who = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, env=environ, check=True)
        for day, entries in enumerate(baselines, 1):
            text = entries if isinstance(entries, str) else json.dumps({"schema": 2, "entries": entries})
            (tmp_path / "reports" / "baseline.json").write_text(text)
            when = f"2026-03-{day:02d}T12:00:00Z"
            dated = {**environ, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
            for words in (["add", "."], [*who, "commit", "-qm", str(day)]):
                subprocess.run(["git", *words], cwd=tmp_path, env=dated, check=True)
        monkeypatch.chdir(tmp_path)
        return tmp_path / "reports" / "baseline.json"

    return make


def test_a_row_per_judge_with_its_values_and_outcomes(recuse, committed):
    committed(
        [entry("ann", 0.1), entry("bob", 0.3)], [entry("ann", 0.2, "fail")], [entry("ann", 0.5), entry("bob", 0.3)]
    )
    lines = recuse("trend", "leniency").out.splitlines()
    assert lines == [
        "leniency over 3 baselines, 2026-03-01 to 2026-03-03",
        "  ▁▃█  0.1 -> 0.5  judge ann, panel ours (pass, then fail)",
        "  ▄·▄  0.3 -> 0.3  judge bob, panel ours (pass)",
    ]


def test_one_judge_and_the_last_baselines_only(recuse, committed):
    committed(*([entry("ann", v), entry("anna", 0.3)] for v in (0.1, 0.2, 0.4)))
    lines = recuse("trend", "leniency", "--judge", "ann", "--last", 2).out.splitlines()
    assert lines[1:] == ["  ▁█  0.2 -> 0.4  judge ann, panel ours (pass)"]


def test_a_baseline_that_cannot_be_read_is_passed_over(committed):
    path = committed([entry("ann", 0.1)], "<<<<<<< conflict", '{"schema": 2}', [entry("ann", None)])
    assert [day for _, day, _ in history(path, 20)] == ["2026-03-01", "2026-03-04"]


def test_of_verdicts_alone_measurements_are_not_read(committed):
    def written(*entries, last=""):  # a line for each, as a baseline has them
        lines = ",\n".join(f"  {json.dumps({k: v for k, v in one.items() if v is not None})}" for one in entries)
        head = json.dumps({"schema": 2, "gates": {"uses": {"of": {}}, "of": 0}}, indent=1)  # with a line "  },"
        return f'{head[:-2]},\n "entries": [\n{lines}{last}\n ]\n}}\n'

    sd, verdict = entry("ann", 2, None, "run_sd"), entry("ann", 0.1)
    path = committed(written(sd, verdict, sd), written(sd, sd, last="\n<<<<<<< conflict"), [sd, verdict])
    about = ("leniency", (("judge", "ann"), ("panel", "ours")))
    of_verdicts = [(day, values) for _, day, values in history(path, 20, measured=False)]
    assert of_verdicts == [(f"2026-03-0{day}", {about: (0.1, "pass")}) for day in (1, 3)]
    assert [len(values) for *_, values in history(path, 20)] == [2, 2]


def test_all_values_as_csv(recuse, committed, tmp_path):
    committed([entry("=ann", 0.1)], [entry("=ann", 0.25, "")])
    recuse("trend", "leniency", "--csv", tmp_path / "t.csv")
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert [(row["day"], row["value"], row["outcome"]) for row in rows] == [
        ("2026-03-01", "0.1", "pass"), ("2026-03-02", "0.25", ""),
    ]  # fmt: skip


def test_without_a_name_it_lists_what_there_is(recuse, committed):
    committed([entry("ann", 0.1), entry("ann", 2, what="run_sd")])
    assert recuse("trend").out == "leniency\nrun_sd\n"
    assert "there are leniency, run_sd" in recuse("trend", "lenience").err


@pytest.mark.parametrize("last", ["0", "-2"])
def test_no_baselines_cannot_be_asked_for(recuse, committed, last):
    found = recuse("trend", "leniency", f"--last={last}")
    assert (found.code, found.err) == (3, f"recuse: --last is how many baselines are read, 1 or more; got {last}\n")


def test_no_history_is_said_with_the_remedy(recuse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    found = recuse("trend", "leniency")
    assert found.code == 3
    assert "git" in found.err


@pytest.mark.parametrize(
    ("values", "line"), [([1, 2, 3], "▁▅█"), ([None, 1.0], "·▄"), ([None], "·"), ([-1.0, -1.0], "▄▄"), ([], "")]
)
def test_bars_reach_from_the_least_to_the_greatest(values, line):
    assert line_of(values) == line
