"""`recuse plan`: from a first try, a panel or options alone, and its number holds."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from recuse.experiments import plan_command
from recuse.experiments.plan_command import planned_size
from recuse.experiments.simulated_files import Setting
from recuse.experiments.validate_command import Case, error_of, share_cleared, words_for
from recuse.gates import JudgeDecision
from recuse.readers.file_panel import read
from recuse.schema import RecuseError

ROOT = Path(__file__).resolve().parents[2]
EVALS = ROOT / "evals"


def rising(cases, folder, *, seed=1, **_):
    """In place of drawn files: of n texts n / 300 of the judges are cleared to grade, all from 300 on."""
    return [
        [
            JudgeDecision("p", "judge", "grade", "cleared" if k < case.runs * case.texts / 300 else "undecided", "")
            for k in range(case.runs)
        ]
        for case in cases
    ]


@pytest.fixture
def planned(recuse, monkeypatch):
    """`planned(*arguments)`: what `recuse plan` prints where clearance rises as `rising` says."""
    monkeypatch.setattr(plan_command, "words_for", rising)

    def run(*arguments):
        outcome = recuse("plan", *arguments, "--evals", EVALS, "--processes", 1)
        assert (outcome.err, outcome.code) == ("", 0)
        return outcome.out

    return run


def size_in(out: str) -> int:
    """The number of texts for 80 %, in the first row."""
    return int(re.search(r"^  to grade .* (\d+)$", out, re.MULTILINE)[1])


def table(folder: Path, people: int = 3, word: str = "") -> Path:
    """Forty texts, a judge and people who agree; scores, or pass and fail."""
    rng = np.random.default_rng(3)
    quality = rng.normal(size=40)
    columns = {name: quality + 0.5 * rng.normal(size=40) for name in ("judge", "anna", "ben", "cora")[: people + 1]}
    cell = (lambda z: "pass" if z > 0 else "fail") if word else (lambda z: int(np.clip(round(5 + 2 * z), 0, 10)))
    rows = (f"t{k}," + ",".join(str(cell(values[k])) for values in columns.values()) for k in range(40))
    path = folder / "first-try.csv"
    path.write_text(f"item,{','.join(columns)}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow("whole runs")
def test_a_first_try_is_planned_in_several_processes(recuse, tmp_path):
    """Nothing in place of the simulation: what is read from the file goes to the other processes."""
    command = ("plan", table(tmp_path), "--evals", EVALS, "--runs", 2)
    alone, together = recuse(*command, "--processes", 1), recuse(*command, "--processes", 2)
    assert (alone.code, alone.err, together.code, together.err) == (0, "", 0, "")
    assert together.out == alone.out


def test_options_alone_state_what_is_assumed(planned):
    out = planned("--scale", "1-5", "--agreement", 0.7)
    assert out.startswith(
        "planned: scale 1-5, 3 people who agree by ICC 0.70, 4 systems, a judge asked once, 0 % lost\n"
    )
    assert "\nassumed, not measured: people, systems, repeats, losses; say what you know with --people, " in out
    assert re.search(
        r"^cleared if it is one more person \(%\) +texts +30 +60 +100 .* 1,600 +texts for 80 %$", out, re.MULTILINE
    )
    assert re.search(r"^  to grade +10 +20 +33 +67 +100 +100 +100 +\d+$", out, re.MULTILINE)
    assert 240 <= size_in(out) <= 280
    assert "cleared at half their error" in out


@pytest.mark.parametrize("word", ["", "pass"], ids=["scores", "pass or fail"])
def test_a_first_try_is_measured(planned, tmp_path, word):
    out = planned(table(tmp_path, word=word))
    first = out.splitlines()[0]
    known = re.fullmatch(r"planned from first-try\.csv: 40 texts, 3 people, who agree by (0\.\d\d) beyond chance on 40 "
                         r"texts, as measured", first)  # fmt: skip
    assert known
    rows = [line.split(",")[2:] for line in (tmp_path / "first-try.csv").read_text("utf-8").splitlines()[1:]]
    said = np.array([[float(cell == "pass") if word else float(cell) for cell in row] for row in rows])
    apart = np.mean([(said[:, a] - said[:, b]) ** 2 for a, b in ((0, 1), (0, 2), (1, 2))])
    assert float(known[1]) == pytest.approx(1 - apart / (2 * said.var()), abs=0.006 if word else 0.03)
    assert ("% fail, " in out) == bool(word)
    assert 240 <= size_in(out) <= 280
    assert "assumed" not in out


def test_people_who_rated_a_part_each_are_counted_by_text(planned, tmp_path):
    rows = [(k, who, ("fail", "pass")[(k + (who * k) % 5 // 4) % 2]) for k in range(40) for who in range(9)]
    path = tmp_path / "parts.csv"
    people = [f"{k},annotator_{who},{word}" for k, who, word in rows if (k + who) % 3]
    judge = [f"{k},judge,pass" for k in range(40)]
    path.write_text("\n".join(["item,rater,verdict", *people, *judge]), encoding="utf-8")
    assert "40 texts, 9 people, 6 of them on a text, who agree by " in planned(path)


def test_one_person_agrees_as_assumed(planned, tmp_path):
    out = planned(table(tmp_path, people=1), "--agreement", 0.55)
    assert "are assumed to agree by 0.55 (--agreement), for no text was rated by two" in out


def test_right_answers_are_no_person(planned, tmp_path):
    path = table(tmp_path, people=1)
    path.write_text(path.read_text(encoding="utf-8").replace("anna", "gold", 1), encoding="utf-8")
    out = planned(path, "--agreement", 0.9)
    assert "planned from first-try.csv: 40 texts, right answers (gold), with which judges agree by 0.90" in out
    assert "cleared if it agrees so well (%)" in out
    assert "person" not in out


def test_the_plan_is_the_same_in_python(planned, tmp_path):
    out, ratings, lines = planned(table(tmp_path)), read(tmp_path / "first-try.csv"), []
    plan = plan_command.plan(ratings, evals=EVALS, show=lines.append)
    assert (repr(plan), "\n".join(lines)) == (out.strip("\n"), out.strip("\n"))
    frame = plan.to_frame()
    assert list(frame.columns) == ["judge", "use", *plan.sizes, "needed"]
    assert frame["needed"][0] == size_in(out)
    assert "<td>one more person</td><td>grade</td>" in plan._repr_html_()
    with pytest.raises(RecuseError, match="--people is measured from these ratings"):
        plan_command.plan(ratings, people=3)


def test_what_a_file_tells_is_not_given_as_well(recuse, tmp_path):
    outcome = recuse("plan", table(tmp_path), "--people", 3)
    assert outcome.code == 3
    assert "--people is measured from" in outcome.err


def test_nobody_to_plan_with(recuse, tmp_path):
    path = tmp_path / "judges.csv"
    path.write_text("item,judge_a,judge_b\n" + "".join(f"t{k},{k % 5},{(k + 1) % 5}\n" for k in range(30)))
    outcome = recuse("plan", path, "--evals", EVALS)
    assert outcome.code == 3
    assert "nobody's ratings are in this file" in outcome.err


def test_a_panel_has_its_scale_its_systems_and_its_costs(planned):
    out = planned(ROOT / "fixtures" / "panels" / "published.toml")
    assert out.startswith("planned: scale 0-10, 3 people who agree by ICC 0.60, 5 systems, a judge asked 10 times,")
    assert "\nassumed, not measured: agreement, people, losses; " in out
    assert "\nas it stands: 500 calls that score texts, at most $" in out
    size = size_in(out)
    assert f"\nwith {size} texts: {100 * size:,} calls, at most $" in out


@pytest.mark.slow
def test_drawn_files_are_asked(recuse, tmp_path, monkeypatch):
    """The whole way once, of a first try by its own people."""
    monkeypatch.setitem(plan_command.plan.__kwdefaults__, "sizes", (30, 300))
    outcome = recuse("plan", table(tmp_path), "--evals", EVALS, "--processes", 1, "--runs", 5)
    assert (outcome.err, outcome.code) == ("", 0)
    few, many = re.search(r"^  to grade +(\d+) +(\d+) ", outcome.out, re.MULTILINE).groups()
    assert int(few) <= 40
    assert int(many) >= 60


# --------------------------------------------------------------------------- the search


def searched(monkeypatch, chance, sizes=(50, 100, 200, 400)):
    """The planned size where a judge is cleared with `chance(texts)`, of twice 400 judges."""

    def ask(cases, folder, *, seed, **_):
        rng = np.random.default_rng((seed, cases[0].texts))
        words = rng.random(cases[0].runs) < chance(cases[0].texts)
        return [[JudgeDecision("p", "judge", "grade", "cleared" if one else "undecided", "") for one in words]]

    monkeypatch.setattr(plan_command, "words_for", ask)
    shares = [chance(n) for n in sizes]
    return planned_size(Setting(), "one more person", "grade", EVALS, sizes, shares, seed=1, processes=1,
                        runs=400)  # fmt: skip


def test_the_size_is_where_four_of_five_are_cleared(monkeypatch):
    """n / 300 is 0.8 at 240; a tenth more where the files drawn anew have a share below it by chance."""
    assert searched(monkeypatch, lambda n: min(1.0, n / 300)) in (240, 270)
    assert searched(monkeypatch, lambda n: float(n >= 90)) == pytest.approx(95, rel=0.06)


def test_it_is_seen_in_files_drawn_anew_before_it_is_printed(monkeypatch):
    """Where the curve promises too much, a tenth more is tried until it holds."""
    jump = searched(monkeypatch, lambda n: 1.0 if n >= 180 else 0.6 + 0.1 * (n > 150))
    assert jump >= 180


def test_beyond_the_last_size_nothing_is_promised(monkeypatch):
    assert searched(monkeypatch, lambda n: 0.7) is None


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "use"), [(Setting("0-10", 0.7, systems=1), "grade"),
                                              (Setting("pass/fail", 0.6, systems=1), "decide")],
                         ids=["scores", "pass or fail"])  # fmt: skip
def test_at_the_size_that_is_printed_a_fair_judge_is_cleared(setting, use):
    """Files drawn with another seed, at that size: 80 % less three Monte-Carlo errors."""
    files, sizes, runs = setting, (100, 250, 600), 24
    known = {"seed": 1, "processes": 1}
    drawn = words_for([Case(files, n, "one more person", runs) for n in sizes], EVALS, today=date.today(), **known)
    shares = [share_cleared(words, use) for words in drawn]
    size = planned_size(files, "one more person", use, EVALS, sizes, shares, runs=runs, **known)
    assert size is not None
    [words] = words_for([Case(files, size, "one more person", 60)], EVALS, seed=77, processes=1, today=date.today())
    assert share_cleared(words, use) >= 0.8 - 3 * error_of(0.8, 60)
