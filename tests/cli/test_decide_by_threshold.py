"""What is decided by scores from a threshold on, or by one of several labels, is compared as that decision."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from recuse import check, read
from recuse.cli import main
from recuse.schema import RecuseError

TEXTS = 400


def scores(lowest_best: bool = False) -> pd.DataFrame:
    """Scores from 0 to 100: the judge follows people closely, but for the narrow band in which the decision falls."""
    rng = np.random.default_rng(6)
    quality = np.where(rng.random(TEXTS) < 0.7, rng.integers(46, 55, TEXTS), rng.integers(0, 101, TEXTS))
    table = pd.DataFrame({"id": [f"t{k}" for k in range(TEXTS)]})
    for name, error in (("ann", 1), ("ben", 1), ("gpt-4o", 6)):
        table[name] = np.clip(quality + rng.integers(-error, error + 1, TEXTS), 0, 100)
    table.iloc[:2, 1:] = [[0] * 3, [100] * 3]
    return table.assign(**{n: 100 - table[n] for n in ("ann", "ben", "gpt-4o")}) if lowest_best else table


def labels() -> pd.DataFrame:
    """Four labels: the judge knows three of them from each other, and seldom sees the fourth."""
    rng = np.random.default_rng(8)
    kinds = np.array(["fine", "odd", "rude", "spam"], dtype=object)
    truth = rng.choice(kinds, TEXTS, p=[0.4, 0.3, 0.2, 0.1])
    table = pd.DataFrame({"id": [f"t{k}" for k in range(TEXTS)]})
    for name, error in (("ann", 0.05), ("ben", 0.05), ("gpt-4o", 0.0)):
        table[name] = np.where(rng.random(TEXTS) < error, rng.choice(kinds, TEXTS), truth)
    missed = (table["gpt-4o"] == "spam") & (rng.random(TEXTS) < 0.75)
    table.loc[missed, "gpt-4o"] = "odd"
    return table


def decided(table: pd.DataFrame, decide, yes="yes", no="no") -> pd.DataFrame:
    return table.assign(**{name: np.where(decide(table[name]), yes, no) for name in table.columns[1:]})


def figures_of(table: pd.DataFrame, options: dict[str, str], folder):
    """The exit code of a check that decides, and value and interval by gate."""
    path, out = folder / "table.csv", folder / "table.json"
    table.to_csv(path, index=False)
    typed = [f"--{name}={value}" for name, value in options.items()]
    code = main(["check", str(path), "--use", "decide", "--json", str(out), *typed])
    verdicts = {v["gate"]: v["estimate"] for v in json.loads(out.read_text())["verdicts"]}
    return code, {gate: (e["value"], e["low"], e["high"]) for gate, e in verdicts.items()}


@pytest.mark.parametrize(("table", "decide", "options"), [
    (scores(), lambda s: s >= 50, {"threshold": "50", "scale": "0-100"}),
    pytest.param(scores(lowest_best=True), lambda s: s <= 50, {"threshold": "50", "scale": "0-100 lowest best"},
                 marks=pytest.mark.slow("further cases")),
    (labels(), lambda s: s == "spam", {"positive": "spam"}),
], ids=["scores", "lowest best", "labels"])  # fmt: skip
def test_every_number_is_that_of_the_decisions(table, decide, options, tmp_path, capsys):
    """As if the file held yes and no; the judge that agrees on the whole scale is not cleared."""
    code, one = figures_of(table, options, tmp_path)
    same, other = figures_of(decided(table, decide), {"positive": "yes"}, tmp_path)
    assert code == same == 1
    assert other.keys() >= one.keys() >= {"human_ceiling", "share_bias", "unanswered"}  # of yes and no the mean as well
    for gate, figures in one.items():
        assert figures == pytest.approx(other[gate], abs=1e-9), gate
    assert one["human_ceiling"][2] < -0.1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("gpt-4o is not cleared to decide: it agrees with your people less")
    words = check(read(table, **options | {"threshold": ""}), use="grade") if "threshold" in options else None
    assert words is None or words.exit_code == 0, "on the whole scale it agrees"


@pytest.mark.parametrize(("people", "words", "lowest_best"), [
    (["ann", "ben"], "yes no", False), (["label"], "1 0", True), (["ann", "ben"], "1 0", False),
    pytest.param(["label"], "yes no", True, marks=pytest.mark.slow("further cases")),
], ids=str)  # fmt: skip
def test_verdicts_beside_scores_are_read_as_if_the_scores_were_verdicts(people, words, lowest_best, tmp_path):
    """A pass of people, or a right answer, says on which side of the threshold a text is, and no more."""
    table = scores(lowest_best).rename(columns={"ann": people[0]})[["id", *people, "gpt-4o"]]
    verdicts = decided(table, lambda s: s <= 50 if lowest_best else s >= 50, *words.split())
    mixed = verdicts.assign(**{"gpt-4o": table["gpt-4o"]})
    given = {"threshold": "50", "scale": "0-100 lowest best" if lowest_best else "0-100"}
    if words == "yes no" and people == ["ann", "ben"]:
        with pytest.raises(RecuseError, match="from which number on a text passes: --people ann,ben --use decide"):
            read(mixed)
        given["people"] = "ann,ben"
    code, figures = figures_of(mixed, given, tmp_path)
    assert (code, len(figures) >= 3) == (1, True)
    as_verdicts = figures_of(verdicts, {"positive": words.split()[0]}, tmp_path)[1]
    assert figures == {gate: pytest.approx(as_verdicts[gate], abs=1e-9) for gate in figures}
    if people == ["ann", "ben"]:
        with pytest.raises(RecuseError, match=r"from which (number )?on a text passes \(--use decide --threshold"):
            read(mixed, people="ann,ben")


def test_verdicts_beside_shares_are_asked_about_unless_both_are_scores():
    table = scores()[["id", "ann", "gpt-4o"]]
    table = table.assign(ann=(table["ann"] >= 50).astype(int), **{"gpt-4o": table["gpt-4o"] / 100})
    with pytest.raises(RecuseError, match=r"ann gives '.' and '.', gpt-4o numbers such as 0\.\d+; say from which"):
        read(table)
    assert read(table, scale="0-1").raters == {"ann": "person", "gpt-4o": "judge"}


def test_the_command_that_a_choice_ends_with_reads_the_file_as_the_choice_did(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    table = scores()
    table["ann"], table["claude-4"] = np.where(table["ann"] >= 50, "pass", "fail"), table["ben"]
    table.to_csv(path, index=False)
    main(["choose", str(path), "--people=ann", "--ignore=ben", "--use=decide", "--threshold=50"])
    command = capsys.readouterr().out.splitlines()[-1].partition(": recuse ")[2]
    assert main(shlex.split(command)) in (0, 1, 2)
    assert "to decide" in capsys.readouterr().out


def test_a_threshold_alone_clears_nobody_to_decide(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    scores().to_csv(path, index=False)
    main(["check", str(path), "--threshold", "50"])
    assert "to decide" not in capsys.readouterr().out
    main(["check", str(path), "--use", "decide", "--threshold", "50"])
    assert "every word is about one decision on rating: less than 50, or 50 or more" in capsys.readouterr().out


def test_scores_decide_nothing_without_a_threshold_and_no_other_use_stands_beside():
    with pytest.raises(RecuseError, match="scores decide from a threshold on: --threshold 4"):
        read(scores(), use="decide")
    with pytest.raises(RecuseError, match="what is decided by 50 or more is asked by itself: --use decide"):
        read(scores(), use="decide,grade", threshold="50")
    ratings = read(scores(), threshold="50")
    assert check(ratings, use="decide").exit_code == check(read(scores(), use="decide", threshold="50")).exit_code == 1
