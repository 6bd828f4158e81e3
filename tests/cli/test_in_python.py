"""What the commands decide, decided from Python: the same words, causes and gates; what a judge wrote stays text."""

from __future__ import annotations

import argparse
import inspect
import json
import pickle
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pandas as pd
import pytest

import recuse as face
from recuse.cli import COMMANDS, OVERRIDES, Command, main
from recuse.ext import Ordinal
from recuse.readers.file_panel import ReadOptions
from recuse.suite.question_runner import shipped_evals

ROOT = Path(__file__).parents[2]
TWO_BY_TWO = ROOT / "tests" / "cli" / "two_judges_two_people.csv"
PAIRS = TWO_BY_TWO.with_name("pairs.csv")


def long_table(folder: Path) -> Path:
    """Scores of three systems by two judges and three people, one row per rating; one judge is lenient."""
    rng = np.random.default_rng(4)
    rows = ["item,system,rater,kind,score"]
    for k in range(90):
        quality = rng.normal(5 + k % 3)
        for who in ("good", "lenient", "anna", "ben", "cora"):
            given = round(float(np.clip(quality + 0.7 * rng.normal() + 2 * (who == "lenient"), 0, 10)))
            rows.append(f"t{k // 3},s{k % 3},{who},{'judge' if who in ('good', 'lenient') else 'person'},{given}")
    path = folder / "scores.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def hostile_table(folder: Path) -> Path:
    """A judge whose name is markup and moves the cursor."""
    rng = np.random.default_rng(5)
    word = {True: "pass", False: "fail"}
    rows = ["item,judge <script>alert(1)</script>\x1b[2J,anna,ben"]
    rows += [f"t{k},{word[rng.random() < 0.5]},{word[k % 2 == 0]},{word[k % 2 == 0]}" for k in range(60)]
    path = folder / "hostile.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


# --------------------------------------------------------------------------- measures


def test_a_measure_that_is_given_no_ratings_says_what_it_needs():
    with pytest.raises(face.RecuseError, match=r"leniency measures ratings, as recuse\.read .* got a DataFrame"):
        face.measures.leniency(pd.DataFrame())


@pytest.mark.parametrize("name", sorted(dir(face.measures)))
def test_a_measure_of_what_was_not_varied_gives_no_traceback(name, plain_and_varied):
    measured = getattr(face.measures, name)
    needed = [p.name for p in inspect.signature(measured).parameters.values() if p.default is p.empty]
    for ratings in plain_and_varied if needed == ["ratings"] else ():
        with suppress(face.RecuseError):
            measured(ratings)


@pytest.fixture(scope="module")
def plain_and_varied():
    """Scores by two judges and two people; and the same with judges asked in two ways, and people in none."""
    rows = [
        {"item": f"t{k}", "rater": who, "kind": kind, "prompt": prompt, "score": 1 + (k * step) % 5}
        for k in range(12)
        for who, kind, step in (("x", "judge", 2), ("y", "judge", 3), ("a", "person", 2), ("b", "person", 1))
        for prompt in (("v1", "v2") if kind == "judge" else ("",))
    ]  # fmt: skip
    varied = pd.DataFrame(rows)
    return face.read(varied[varied["prompt"] != "v2"].drop(columns="prompt")), face.read(varied, factors=["prompt"])


def test_ratings_are_pickled_whatever_was_computed_of_them(plain_and_varied):
    for ratings in plain_and_varied:
        face.check(ratings)
        again = pickle.loads(pickle.dumps(ratings))
        assert face.check(again) == face.check(ratings)


def test_rows_are_chosen_by_what_was_varied_alone(plain_and_varied):
    with pytest.raises(face.RecuseError, match="rater was not varied; varied was prompt"):
        plain_and_varied[1].where(rater="x")


# --------------------------------------------------------------------------- check


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    ("given", "options"),
    [(TWO_BY_TWO, {}), (PAIRS, {}), (long_table, {}), (long_table, {"use": "rank"}),
     (long_table, {"judges": "lenient,good", "people": ["anna", "ben"]})],
    ids=["pass or fail", "pairs", "scores", "use", "raters"],
)  # fmt: skip
def test_one_file_has_one_decision_by_the_command_and_in_python(recuse, tmp_path, given, options):
    path = given(tmp_path) if callable(given) else given
    typed = {name: value if isinstance(value, str) else ",".join(value) for name, value in options.items()}
    printed = recuse("check", path, "--json", tmp_path / "r.json", *(f"--{k}={v}" for k, v in typed.items()))
    by_command = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["decision"]
    decision = face.check(face.read(path, **options))
    assert json.loads(json.dumps(decision.record())) == by_command
    assert decision.exit_code == printed.code
    assert all(line in printed.out.splitlines() for line in repr(decision).splitlines()[:8])
    rows = decision.to_frame()
    assert list(rows.columns) == ["judge", "use", "word", "cause"]
    assert rows["cause"].tolist() == [judge["cause"] for judge in by_command["judges"]]


def test_the_use_is_stated_while_reading_or_while_checking(tmp_path):
    path = long_table(tmp_path)
    ratings, read = face.read(path), face.check(face.read(path, use="rank"))
    before, asked = repr(face.check(ratings)), face.check(ratings, use=["rank"])
    assert repr(read) == repr(asked)
    assert {judge.use for judge in read.judges if judge.stated} == {"rank"}
    assert repr(face.check(ratings)) == before, "asking for one use leaves the ratings as they were"


def test_the_stated_use_is_that_of_some_criteria_rows_and_judges(tmp_path):
    path = tmp_path / "two.csv"
    cells = pd.read_csv(long_table(tmp_path)).assign(criterion="tone")
    pd.concat([cells, cells.assign(criterion="style")]).assign(temperature="0").to_csv(path, index=False)
    ratings = face.read(path, use="none", factors="temperature")
    whole = face.check(ratings).word
    for part in (ratings, ratings.with_criterion("tone"), ratings.where(temperature="0"), ratings.without("lenient")):
        decision = face.check(part)
        assert not [judge for judge in decision.judges if judge.stated]
        assert decision.word == whole


def test_a_data_frame_is_read_as_the_file_that_it_came_from(tmp_path):
    path = long_table(tmp_path)
    frame = pd.read_csv(path)
    said = ["item", "target", "rater", "kind", "score", "status"]
    expected = face.read(path).table[said].astype(str)
    alike = (frame.set_index("item", drop=False), frame.assign(topic=pd.Categorical(["one"] * len(frame))))
    for given in (frame, frame.set_index("item"), *alike, frame.astype({"score": float, "rater": "category"})):
        assert face.read(given).table[said].astype(str).equals(expected)
    assert face.read(frame, value="score").table[said].astype(str).equals(expected)
    one, other = ([(j.word, j.cause) for j in face.check(source).judges] for source in (frame, path))
    assert one == other


def test_ratings_made_in_python_are_decided_as_the_same_rows_of_a_file(tmp_path):
    path = long_table(tmp_path)
    read = face.read(path)
    made = face.Ratings.of(read.table, scales=read.scales)
    assert [(j.judge, j.use, j.word, j.cause) for j in face.check(made).judges] == [
        (j.judge, j.use, j.word, j.cause) for j in face.check(read).judges
    ]


def test_several_files_are_read_as_the_command_reads_them(recuse, tickets, tmp_path):
    old = tickets(lambda truth, rng: truth, name="march.csv")
    new = tickets(lambda truth, rng: np.where(rng.random(len(truth)) < 0.6, truth, ~truth), name="april.csv")
    printed = recuse("check", old, new)
    ratings = face.read(old, new)
    assert repr(face.check(ratings)).splitlines()[0] == printed.first
    assert face.read([str(old), new]).table.equals(ratings.table)


def test_files_of_one_rater_each_are_one_table(recuse, tmp_path):
    frame = pd.read_csv(long_table(tmp_path))
    paths = []
    for rater, rows in frame.groupby("rater", sort=False):
        paths.append(tmp_path / f"{rater}.csv")
        rows[["item", "system", "score"]].to_csv(paths[-1], index=False)
    printed = recuse("check", "--raters", "--people=anna,ben,cora", *paths)
    ratings = face.read(paths, raters=True, people=["anna", "ben", "cora"])
    assert (ratings.judges, ratings.persons) == (("good", "lenient"), ("anna", "ben", "cora"))
    assert printed.out.startswith(repr(face.check(ratings)).splitlines()[0])


def test_limits_of_ones_own_decide(tmp_path):
    limits = (shipped_evals() / "gates.toml").read_text(encoding="utf-8")
    before, _, after = limits.partition("[share_bias]")
    own = tmp_path / "gates.toml"
    own.write_text(f"{before}[share_bias]{after.replace('within = [-0.1, 0.1]', 'within = [-0.01, 0.01]', 1)}")
    assert own.read_text(encoding="utf-8") != limits
    shipped, strict = face.check(TWO_BY_TWO), face.check(TWO_BY_TWO, gates=own)
    assert (shipped.judges[0].word, strict.judges[0].word) == ("cleared", "undecided")
    with pytest.raises(face.RecuseError, match=r"none\.toml"):
        face.check(TWO_BY_TWO, gates=tmp_path / "none.toml")


# --------------------------------------------------------------------------- compare


def test_one_pair_of_judges_has_one_verdict_by_the_command_and_in_python(recuse, tmp_path):
    path = long_table(tmp_path)
    printed = recuse("compare", path, "good", "lenient", "--json", tmp_path / "r.json")
    [row] = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["upgrades"]
    ratings = face.read(path)
    for verdict in (
        face.compare(ratings, incumbent="good", candidate="lenient"),
        face.compare(str(path), path, incumbent="good", candidate="lenient"),
        face.compare(ratings, pd.read_csv(path), incumbent="good", candidate="lenient"),
    ):
        assert printed.out.startswith(repr(verdict))
        assert (verdict.exit_code, verdict.word) == (printed.code, row["verdict"])
        assert verdict.to_frame()["gate"].tolist() == [one["gate"] for one in row["rows"]]
    with pytest.raises(face.RecuseError, match="name two judges"):
        face.compare(ratings, incumbent="good")
    with pytest.raises(face.RecuseError, match=r"scale: give it to recuse\.read"):
        face.compare(ratings, incumbent="good", candidate="lenient", scale="0-10")


# --------------------------------------------------------------------------- what is wrong, and what is hostile


@pytest.mark.parametrize(
    ("options", "typed"),
    [({"item": "nowhere"}, ["--item", "nowhere"]), ({"threshold": "high"}, ["--threshold", "high"]),
     ({"use": "decoration"}, ["--use", "decoration"]), ({"reader": "nobody"}, ["--reader", "nobody"])],
    ids=["item", "threshold", "use", "reader"],
)  # fmt: skip
def test_what_is_wrong_is_said_in_the_words_of_the_command(recuse, tmp_path, options, typed):
    path = long_table(tmp_path)
    printed = recuse("check", path, *typed)
    with pytest.raises(face.RecuseError) as error:
        face.check(path, **options)
    assert printed.err == f"recuse: {error.value}\n"


def test_what_is_no_table_of_ratings_is_said():
    with pytest.raises(face.RecuseError, match=r"^nowhere\.csv is not there$"):
        face.read("nowhere.csv")
    with pytest.raises(face.RecuseError, match="needs a file"):
        face.read()
    frame = pd.DataFrame([[1, 2, 3]], columns=["item", "judge", "judge"])
    with pytest.raises(face.RecuseError, match="DataFrame: two columns are called 'judge'"):
        face.read(frame)
    with pytest.raises(face.RecuseError, match="DataFrame: it holds no row"):
        face.read(pd.DataFrame(columns=["item", "judge"]))
    for wrong in (frame["item"], [{"item": "a", "judge": 1}], None):
        with pytest.raises(face.RecuseError, match="make a data frame of it first"):
            face.read(wrong)
    with pytest.raises(face.RecuseError, match=r"people: give it to recuse\.read"):
        face.check(face.read(TWO_BY_TWO), people="anna")


@pytest.mark.parametrize(
    ("long", "words", "ordered"),
    [(False, ("bad", "okay", "superb"), True), (True, ("bad", "okay", "superb"), True),
     (True, ("bad", "okay", "superb"), False), (False, ("1", "2", "3"), False)],
)  # fmt: skip
def test_the_order_that_a_column_has_by_its_type_is_its_scale(long, words, ordered):
    """Of words; numbers that somebody made categories of stay numbers."""
    low, middle, high = words
    frame = pd.DataFrame({"item": range(6), "anna": [low, middle] * 3, "gpt": [middle, high] * 3})
    frame = frame.melt("item", var_name="rater", value_name="grade") if long else frame
    kind = pd.CategoricalDtype(words, ordered=ordered or low == "1")
    typed = frame.astype({"grade": kind} if long else {"anna": kind, "gpt": kind})
    plain, scales = (face.read(each, people="anna", judges="gpt").scales for each in (frame, typed))
    assert scales == (dict.fromkeys(scales, Ordinal(words)) if ordered else plain)


def test_names_and_scores_are_given_in_any_usual_form(tmp_path):
    people = ["anna", "ben", "cora"]
    ratings = face.read(long_table(tmp_path), people=people, judges="good,lenient")
    assert ratings.raters == face.read(long_table(tmp_path), people=pd.Series(people), judges="good,lenient").raters
    forms = {repr(face.compare(ratings, change=change, incumbent="good", candidate="lenient", thresholds=scores))
             for scores, change in (("5", "model"), (5, ["model"]), (["5"], "model"), ((5.0,), "model"))}  # fmt: skip
    assert len(forms) == 1
    with pytest.raises(face.RecuseError, match="threshold is a score"):
        face.compare(ratings, incumbent="good", candidate="lenient", thresholds="high")


def test_sizes_are_numbers_of_texts():
    ratings = face.read(TWO_BY_TWO)
    for sizes in ((), (0, 60), (20.5,), 0, "many", None, (60, float("inf"))):
        with pytest.raises(face.RecuseError, match="sizes are numbers of texts"):
            face.plan(ratings, sizes=sizes)


def test_sizes_may_be_one_number_and_stand_in_any_order():
    ratings = face.read(TWO_BY_TWO)
    for sizes, tried in ((np.int64(12), (12,)), (np.array([16, 12]), (12, 16))):
        planned = face.plan(ratings, sizes=sizes, runs=2)
        assert planned.sizes == tried
        assert len(planned.rows[0][2]) == len(tried)


def test_the_options_of_the_command_are_the_arguments():
    further = {"use", "threshold", "reader", "raters"}
    assert set(ReadOptions.__annotations__) == {name for name, _, _ in OVERRIDES} | further


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_of_a_command_is_an_argument_of_its_function(command: Command):
    parser = argparse.ArgumentParser()
    options = {parser.add_argument(*flags, **how).dest for flags, how in command.options}
    options |= {"given"} if command.given else set()
    arguments = inspect.signature(resolve_name(f"recuse.{command.calls}")).parameters
    assert options <= arguments.keys()
    assert {name for name, one in arguments.items() if one.default is one.empty} <= options


def test_what_a_judge_is_called_is_text(tmp_path):
    ratings = face.read(hostile_table(tmp_path))
    [judge] = ratings.judges
    assert "<script>" in judge
    twice = pd.concat([ratings.table, ratings.table[ratings.table["rater"] == judge].assign(rater="<b>next</b>")])
    both = face.Ratings.of(twice, scales=ratings.scales)
    verdict = face.compare(both, incumbent=judge, candidate="<b>next</b>")
    decision, estimates = face.check(both), face.measures.human_ceiling(both)
    for one in (decision, verdict, estimates, both):
        page = one._repr_html_()
        assert "<script" not in page
        assert "<b>" not in page
        assert "\x1b" not in page + (repr(one) if one in (decision, verdict) else "")
    assert "&lt;script&gt;" in decision._repr_html_()


# --------------------------------------------------------------------------- what is true, then people


def lenient_people():
    """Scores of 200 texts: three people and a judge 2 points above the right answers, and a judge that is right."""
    rng = np.random.default_rng(9)
    gold = rng.integers(0, 9, 200)
    given = {who: np.minimum(gold + 2 + (rng.random(200) < 0.3), 10) for who in ("anna", "ben", "cora")}
    table = pd.DataFrame({"item": [f"t{k}" for k in range(200)], **given, "exact": gold, "lenient": gold + 2})
    return table.assign(gold=gold)


@pytest.mark.parametrize("people", ["anna,ben,cora", "anna", ""])
def test_people_who_are_wrong_change_no_word_where_the_right_answers_are_known(people):
    table = lenient_people()[["item", *filter(None, people.split(",")), "exact", "lenient", "gold"]]
    read = face.read(table, people=people, judges="exact,lenient", gold="gold")
    found = {(one.use, one.judge): one for one in face.check(read, use="grade").judges}
    assert {key: one.word for key, one in found.items()} == {
        ("grade", "exact"): "cleared" if people else "undecided",  # nobody knows how near a person would come
        ("estimate", "exact"): "cleared", ("grade", "lenient"): "not cleared", ("estimate", "lenient"): "not cleared",
    }  # fmt: skip
    assert "above the right answers" in found["grade", "lenient"].cause
    assert "your people" not in found["grade", "lenient"].cause


def test_what_is_held_against_right_answers_does_not_name_people(tmp_path):
    """Of an upgrade and of a judge: no sentence, label or phrase, whoever prints it."""
    table = lenient_people().assign(system=[f"s{k % 4}" for k in range(200)])
    read = face.read(table, people="anna,ben,cora", judges="exact,lenient", gold="gold")
    worse = face.compare(read, incumbent="exact", candidate="lenient")
    assert "it scores further from the right answers, by more" in worse.sentence
    better = face.compare(read, incumbent="lenient", candidate="exact")
    assert better.word == "better"
    assert "it agrees with the right answers better" in better.sentence
    assert any("lower than lenient, towards the right answers; move" in reason for reason in better.reasons)
    against = [row for verdict in (worse, better) for row in verdict.rows if "people" in (row.label or "")]
    assert against == []
    assert "distance from the right answers" in {row.label for row in worse.rows}
    results = tmp_path / "results.json"
    path = tmp_path / "both.csv"
    table.to_csv(path, index=False)
    options = ["--people", "anna,ben,cora", "--judge", "exact,lenient", "--gold", "gold", "--use", "grade"]
    main(["check", str(path), *options, "--json", str(results)])
    labels = {row["gate"]: row["label"] for row in json.loads(results.read_text())["verdicts"]}
    assert labels["human_offset"] == "offset from the right answers"
    assert labels["human_ceiling"] == "agreement with the right answers, less people's own"
