"""Rows that stand for several items: a column `count`. The folded table is the unfolded one, whatever is measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse import check, read
from recuse.cli import main
from recuse.metrics.human_ceiling import human_ceiling
from recuse.readers import counts, read_file
from recuse.schema import RecuseError

sys.path.insert(0, str(Path(__file__).parent))
from folded_tables import ANSWERS, differences, folded, numbers, results_of, unfolded


def test_a_folded_table_is_the_unfolded_one(tmp_path, capsys):
    """Every number of results.json and the exit code, in each way in: `recuse check`, `recuse.read`, a data frame."""
    table = unfolded(120)
    paths = {name: tmp_path / name / "ratings.csv" for name in ("whole", "counted", "weighted")}
    for path in paths.values():
        path.parent.mkdir()
    table.to_csv(paths["whole"], index=False)
    folded(table).to_csv(paths["counted"], index=False)
    folded(table, "times").to_csv(paths["weighted"], index=False)
    whole = results_of(paths["whole"], tmp_path / "whole.json")
    counted = results_of(paths["counted"], tmp_path / "counted.json")
    weighted = results_of(paths["weighted"], tmp_path / "weighted.json", "--count", "times")
    assert whole[0] == counted[0] == weighted[0]
    assert len(numbers(whole[1])) > 500
    assert differences(whole[1], counted[1]) == []
    assert differences(whole[1], weighted[1]) == []
    assert check(folded(table)).exit_code == whole[0]
    pd.testing.assert_frame_equal(read(folded(table)).table, read(table).table)
    assert f"{len(folded(table))} rows are 120 items" in capsys.readouterr().out


@pytest.mark.slow("whole runs")
def test_init_starts_with_the_same_word(tmp_path, capsys):
    table = unfolded()
    words = []
    for name, each in (("whole", table), ("counted", folded(table))):
        source = tmp_path / name / "ratings.csv"
        source.parent.mkdir()
        each.to_csv(source, index=False)
        assert main(["init", str(tmp_path / name / "here"), "--ratings", str(source)]) == 0
        words.append(capsys.readouterr().out.replace(name, ""))
    assert words[0] == words[1]


def test_numbers_and_clusters_are_kept(file):
    """Scores, and a topic that items share: the topic stays what a repetition draws."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"topic": np.repeat([f"t{k}" for k in range(30)], 10)})
    for name in ("gpt", "anna", "ben"):
        table[name] = rng.integers(1, 4, 300).astype(str)
    table = table.sort_values([*table], ignore_index=True)
    whole, counted = read_file(file("a.csv", table.to_csv(index=False))), read_file(folded(table))
    pd.testing.assert_frame_equal(whole.ratings.table, counted.ratings.table)
    pd.testing.assert_frame_equal(whole.ratings.texts, counted.ratings.texts)
    assert counted.ratings.clusters == "topics"


def test_many_counted_items_of_clusters_are_drawn_by_cluster(file, monkeypatch):
    """Patterns count clusters of one item each: 1,200 items of 30 topics are no 1,200 draws, however they are read."""
    rng = np.random.default_rng(1)
    right = np.repeat(rng.integers(0, 2, 30), 40)
    table = pd.DataFrame({"topic": np.repeat([f"t{k}" for k in range(30)], 40)})
    for name in ("gpt", "anna", "ben"):
        table[name] = np.array(ANSWERS)[np.where(rng.random(1200) < 0.8, right, 1 - right)]
    few = read_file(folded(table), cluster="topic").ratings
    monkeypatch.setattr(counts, "FOLDED_FROM", 1)
    many = read_file(folded(table), cluster="topic").ratings
    one, other = (human_ceiling(ratings).of(judge="gpt") for ratings in (few, many))
    assert (one.value, one.low, one.high, one.over) == (other.value, other.low, other.high, "clusters")
    path = file("many.csv", folded(table).assign(count=lambda t: t["count"] * 10_000).to_csv(index=False))
    with pytest.raises(RecuseError, match="counted by their answers, and an interval over topics asks for single ones"):
        read_file(path, cluster="topic")


def test_items_that_are_named_get_names_of_their_own(file):
    """Patterns with an id, one answer a row: only where it is asked for."""
    text = "pattern,rater,label,count\np1,gpt,pass,3\np1,anna,pass,3\np2,gpt,fail,2\np2,anna,pass,2\n"
    ratings = read_file(file("a.csv", text), item="pattern", count="count").ratings
    assert ratings.table["item"].drop_duplicates().tolist() == ["p1", "p1 (1)", "p1 (2)", "p2", "p2 (1)"]
    assert len(ratings.table) == 10
    assert not ratings.table.duplicated(["item", "rater"]).any()
    assert set(ratings.table["repeat"]) == {0}


def test_several_counts_of_one_item_are_refused(file):
    text = "pattern,rater,label,count\np1,gpt,pass,3\np1,anna,pass,4\np2,gpt,fail,2\np2,anna,pass,2\n"
    with pytest.raises(RecuseError, match="rows of one pattern have several counts in count; if it counts answers"):
        read_file(file("a.csv", text), item="pattern", count="count")


WORDS = "id,gpt,anna,count\n" + "".join(f"{k},{ANSWERS[k % 2]},{ANSWERS[k % 3 == 0]},{20 + k}\n" for k in range(30))


def test_words_per_text_are_no_items(file, capsys):
    path = file("a.csv", WORDS)
    read_as = read_file(path)
    assert read_as.mapping.count == ""
    assert len(read_as.ratings.table) == 60
    assert "if it says how many of them each row stands for, say --count count" in read_as.mapping.ignored["count"]
    main(["check", str(path)])
    assert "not used: count" in capsys.readouterr().out


def test_texts_of_their_own_are_no_counted_items(file):
    texts = "".join(f"this is text number {k} about something long,{ANSWERS[k % 2]},pass,{k + 3}\n" for k in range(30))
    assert len(read_file(file("a.csv", f"text,gpt,anna,count\n{texts}")).raw.frame) == 30


def test_one_question_where_either_may_be_meant(file):
    """Beside ids no answers come again: as many rows as a counted table has."""
    text = "id,gpt,anna,count\n1,pass,pass,50\n2,pass,fail,7\n3,fail,pass,5\n4,fail,fail,40\n"
    asked = r"does count say how many items each row stands for, beside id\? If so, say --count count; if not, --ignore"
    with pytest.raises(RecuseError, match=asked):
        read_file(file("a.csv", text))
    assert len(read_file(file("a.csv", text), count="count").ratings.table) == 204
    assert len(read_file(file("a.csv", text), ignore="count").ratings.table) == 8


@pytest.mark.parametrize("answers", ["first second", "spam ham"])
def test_it_is_asked_of_pairs_systems_and_labels_as_well(file, answers):
    """The same answers come again of other systems alone."""
    one, other = answers.split()
    patterns = [f"{a},{b},{gpt},{anna}" for a, b in ("xy", "yx", "xz") for gpt in (one, other) for anna in (one, other)]
    text = "id,first,second,gpt,anna,count\n" + "\n".join(f"p{k},{row},{k + 2}" for k, row in enumerate(patterns))
    with pytest.raises(RecuseError, match=r"does count say how many items each row stands for, beside id\?"):
        read_file(file("a.csv", text if one == "first" else text.replace("first,second", "system,topic")))


@pytest.mark.parametrize("name", ["weight", "freq", "counts"])
def test_other_names_are_asked_about(file, name):
    text = f"gpt,anna,{name}\npass,pass,50\npass,fail,7\nfail,pass,5\nfail,fail,40\n"
    with pytest.raises(RecuseError, match=rf"does {name} say how many .* --count {name}; if not, --ignore {name}"):
        read_file(file("a.csv", text))


def test_n_is_taken(file):
    """Also where the rows are sorted by it."""
    rows = ["fail,pass,5", "pass,fail,7", "fail,fail,40", "pass,pass,50"]
    for each in (rows, rows[::-1]):
        read_as = read_file(file("a.csv", "\n".join(["gpt,anna,n", *each])))
        assert (read_as.mapping.count, len(read_as.ratings.table)) == ("n", 204)


@pytest.mark.parametrize("cell", ["0", "2.5", "-1", "many", ""])
def test_a_count_that_is_no_whole_positive_number_is_refused(file, cell):
    text = f"gpt,anna,count\npass,pass,50\npass,fail,{cell}\nfail,pass,5\nfail,fail,40\n"
    with pytest.raises(RecuseError, match=rf"line 3, column count: '{cell}' is no number of items; each row"):
        read_file(file("a.csv", text))


def test_any_number_of_items_comes_to_a_word(tmp_path, capsys):
    """A thousand million items: as the same table of a million, with intervals a thousandth as wide squared."""
    patterns = folded(unfolded().drop(columns="language"))
    words, halves = [], []
    for times in (2_500, 2_500_000):
        path = tmp_path / f"{times}.csv"
        patterns.assign(count=patterns["count"] * times).to_csv(path, index=False)
        words.append(main(["check", str(path), "--json", str(tmp_path / "r.json")]))
        found = json.loads((tmp_path / "r.json").read_text())["verdicts"]
        estimate = next(v["estimate"] for v in found if v["gate"] == "human_ceiling" and v["subject"]["judge"] == "gpt")
        assert estimate["n"] == 400 * times
        halves.append(estimate["high"] - estimate["value"])
    assert words[0] == words[1]
    assert halves[0] / halves[1] == pytest.approx(1000**0.5, rel=0.02)
    out = capsys.readouterr().out
    assert "16 rows, 4,000,000,000 judgements" in out
    assert main(["check", str(path), "--disagreements", str(tmp_path / "d.csv")]) == 3
    assert "are counted by their answers and have no names" in capsys.readouterr().err


def test_what_is_said_of_people_counts_items(file, monkeypatch):
    """The same table, counted and unfolded: faults of people with every number, and how many judgements there are."""
    table = unfolded(900)
    table["ben"] = np.where(table["ben"] == "pass", "fail", "pass")
    single = read_file(file("whole.csv", table.to_csv(index=False)))
    monkeypatch.setattr(counts, "FOLDED_FROM", 1)
    together = read_file(file("counted.csv", folded(table).to_csv(index=False)))
    assert together.ratings.times is not None
    assert together.ratings.judgements == single.ratings.judgements == 3600
    (one,), (other,) = single.people_faults, together.people_faults
    assert (one.kind, one.n) == (other.kind, other.n) == ("opposed", 900)
    assert (other.agreement, other.low, other.high) == pytest.approx((one.agreement, one.low, one.high), abs=1e-12)


def test_a_fault_names_the_row_that_was_counted(file):
    text = "gpt,anna,count\n3,3,5\n4,5,7\n2,unclear,2\n5,5,9\n1,2,3\n4,4,4\n"
    (fault,) = read_file(file("a.csv", text)).faults
    assert "line 4, column anna: 'unclear'" in fault.sentence()


def test_the_mapping_that_is_saved_keeps_it(tmp_path, capsys):
    path = tmp_path / "a.csv"
    folded(unfolded(), "weight").to_csv(path, index=False)
    main(["check", str(path), "--count", "weight", "--save"])
    assert len(read_file(path).raw.frame) == 400


RUNNING = [f"{ANSWERS[k % 2]},{ANSWERS[k % 3 == 0]}" for k in range(40)]


@pytest.mark.parametrize(("name", "first"), [("n", 0), ("count", 1), ("N°", 301)])
def test_a_running_number_counts_nothing(file, name, first):
    rows = [f"{k + first},{cells}" for k, cells in enumerate(RUNNING)]
    for each in (rows, rows[::-1], rows[1::2] + rows[::2]):
        read_as = read_file(file("a.csv", "\n".join([f"{name},gpt,anna", *each])))
        assert (read_as.mapping.count, len(read_as.ratings.table)) == ("", 80)


def test_a_running_number_of_which_each_rater_has_a_row_counts_nothing(file):
    cells = (row.split(",") for row in RUNNING)
    rows = [f"{k},{who},{cell}" for k, row in enumerate(cells) for who, cell in zip(("gpt", "anna"), row, strict=True)]
    read_as = read_file(file("a.csv", "\n".join(["n,rater,verdict", *rows])))
    assert (read_as.mapping.count, read_as.mapping.item) == ("", ("n",))


def test_numbers_that_rise_with_gaps_are_asked_about(file):
    text = "\n".join(["n,gpt,anna", *(f"{k},{cells}" for k, cells in enumerate(RUNNING, start=1) if k % 7)])
    with pytest.raises(RecuseError, match=r"does n say how many items each row stands for\? If so, .* --ignore n"):
        read_file(file("a.csv", text))
    assert len(read_file(file("a.csv", text), count="n").ratings.table) > 500
    read_as = read_file(file("a.csv", text), ignore="n")
    assert (len(read_as.ratings.table), read_as.mapping.item) == (70, ())


def test_a_column_called_n_degrees_names_rows_whose_numbers_do_not_run_on(file):
    rows = [f"{4000 + 37 * k % 991},{cells}" for k, cells in enumerate(RUNNING)]
    assert read_file(file("a.csv", "\n".join(["N°,gpt,anna", *rows]))).mapping.count == ""
