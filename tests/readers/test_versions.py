"""Several files as versions of one judge, and files that are none."""

from __future__ import annotations

import pytest

from recuse.readers.file_panel import load_file_panels, load_versions
from recuse.schema import RecuseError


def word(passes: int) -> str:
    return "pass" if passes else "fail"


MARCH = "item,judge,anna\n" + "".join(f"t{k},{word(k % 2)},{word(k % 3)}\n" for k in range(30))
APRIL = "item,judge\n" + "".join(f"t{k},{word(k % 4)}\n" for k in range(30))


@pytest.fixture
def files(file):
    return [file("march.csv", MARCH), file("april.csv", APRIL)]


def test_versions_become_a_factor_and_people_stand_beside_each(files):
    ratings = load_versions(files).ratings
    assert ratings.levels("version") == ("march", "april")
    counts = ratings.table.groupby(["version", "rater"]).size().to_dict()
    assert counts == {(v, r): 30 for v in ("march", "april") for r in ("judge", "anna")}


@pytest.mark.parametrize("known", ["march", "april"])
def test_what_is_right_and_what_passes_is_so_of_every_version(file, known):
    """A gold column in either file, and what was stated of both."""
    gold = {name: text.replace("\n", ",gold\n", 1).replace("pass\n", "pass,pass\n").replace("fail\n", "fail,fail\n")
            if name == known else text for name, text in (("march", MARCH), ("april", APRIL))}  # fmt: skip
    paths = [file(f"{name}.csv", text) for name, text in gold.items()]
    ratings = load_versions(paths, judges="judge", positive="fail").ratings
    assert (ratings.truth, ratings.persons) == ("gold", ("anna", "gold"))
    assert ratings.positive == {ratings.criterion: "fail"}
    scores = [file(f"{k}.csv", "item,judge,anna\n" + "".join(f"t{n},{(n + k) % 5},{n % 5}\n" for n in range(30)))
              for k in (0, 1)]  # fmt: skip
    assert [*load_versions(scores, threshold="3").ratings.thresholds.values()] == [(3.0,)]


def test_both_files_are_named_with_their_checksums(files):
    record = load_versions(files).record()
    assert record["name"] == "april"
    assert record["source"].count("sha256") == 2
    assert record["notes"][0] == "versions of one judge, the oldest first: march, april; the verdict is on april"


def test_files_of_one_name_are_told_apart(file, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "t.csv").write_text(APRIL)
    assert load_versions([file("t.csv", MARCH), tmp_path / "new" / "t.csv"]).ratings.levels("version") == (
        "t (1)", "t (2)",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (APRIL.replace("judge", "gpt_judge"), "versions of one judge bear one name"),
        ("item,judge\n" + "".join(f"t{k},{k % 7}\n" for k in range(30)), "not on one scale"),
        (APRIL.replace("t", "u").replace("iuem", "item"), "few items in common"),
    ],
)
def test_files_that_are_no_versions_are_told_why(file, other, why):
    with pytest.raises(RecuseError, match=f"read as versions of one judge, the oldest first.*{why}"):
        load_versions([file("march.csv", MARCH), file("other.csv", other)])


def test_in_a_run_of_pytest_files_of_other_judges_stay_panels_of_their_own(files, file):
    panels = load_file_panels([*files, file("gpt.csv", APRIL.replace("judge", "gpt_judge"))])
    assert [panel.name for panel in panels] == ["april", "gpt"]
    assert [panel.ratings.levels("version") for panel in panels] == [("march", "april"), ()]


def test_files_of_other_raters_are_no_versions(tmp_path):
    columns = {"labels": "id,human_1,human_2", "human": "id,human_1", "gpt": "id,gpt-4o"}
    for name, header in columns.items():
        rows = [",".join([f"t{k}", *(str((k + n) % 4 + 1) for n in range(header.count(",")))]) for k in range(20)]
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    labels, human, gpt = (tmp_path / f"{name}.csv" for name in columns)
    with pytest.raises(RecuseError, match=r"labels.csv are nobody, of gpt.csv gpt-4o: .* say --raters"):
        load_versions([labels, gpt])
    for files in ([labels, gpt], [gpt, labels]):
        read = load_versions(files, raters=True)
        assert read.ratings.raters == {"human_1": "person", "human_2": "person", "gpt": "judge"}
        assert len(read.ratings.table) == 60
    assert load_versions([human, gpt], raters=True).ratings.raters == {"human": "person", "gpt": "judge"}


def test_files_of_raters_with_one_name_are_refused(tmp_path):
    paths = []
    for who, name in (("gpt", "gpt-4o"), ("anna", "scores"), ("ben", "scores")):
        (tmp_path / who).mkdir()
        paths.append(tmp_path / who / f"{name}.csv")
        paths[-1].write_text("item,score\n" + "".join(f"t{k},{k % 3}\n" for k in range(30)))
    with pytest.raises(RecuseError, match="2 files are called scores, and with --raters a file is called"):
        load_versions(paths, raters=True)


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("write", ["{}", "{}.0", "Q{}"])
def test_files_of_raters_who_write_an_item_otherwise_are_refused(file, write):
    def scores(name, form):
        return file(name, "item,score\n" + "".join(f"{form.format(k)},{k % 3}\n" for k in range(30)))

    people = [scores("human_1.csv", "{:05d}"), scores("human_2.csv", "{:05d}")]
    shown = write.format(0).removesuffix(".0")
    with pytest.raises(RecuseError, match=f"gpt does not name items as .* do: '{shown}' is .*'00000' in"):
        load_versions([*people, scores("gpt.csv", write)], raters=True)
    two = [scores("human_1.csv", "{:02d}"), scores("human_2.csv", "{:02d}")]  # of 10 and more the names agree
    gpt = scores("gpt.csv", write)
    with pytest.raises(RecuseError, match=f"gpt does not name items as .* do: '{shown}' is .*'00' in"):
        load_versions([*two, gpt], raters=True)
    people = [scores("human_1.csv", "{:05d}"), scores("human_2.csv", "{:05d}")]
    assert len(load_versions([*people, scores("gpt.csv", "{:05d}")], raters=True).ratings.table) == 90


@pytest.mark.parametrize("raters", [True, False])
def test_an_item_that_pandas_writes_with_a_point_is_the_same(file, raters):
    """12 is 12.0 in a column that has a hole: in a file of one rater, and in a newer version."""
    one = "".join(f"{k},{k % 3},{k % 4 % 3}\n" for k in range(30))
    two = "".join(f"{k}.0,{k % 3},{k % 4 % 3}\n" for k in range(30)) + ",1,1\n"
    cut = (lambda text: "".join(line.rpartition(",")[0] + "\n" for line in text.splitlines())) if raters else str
    head = "item,score\n" if raters else "item,human_1,gpt4\n"
    paths = [file("human.csv", head + cut(one)), file("gpt4.csv", head + cut(two))]
    table = load_versions(paths, raters=raters).ratings.table
    assert {*table["item"]} == {*map(str, range(30)), "(empty)"}
    assert table[table["item"] == "7"]["rater"].nunique() == 2
    sections = file("sections.csv", "item,human_1,gpt4\n" + "".join(f"{k}.{k % 2},1,{k % 2}\n" for k in range(30)))
    assert "2.0" in {*load_versions([sections]).ratings.table["item"]}  # 1.1 stands beside it: no number of a row


def test_versions_that_write_items_with_more_zeros_are_refused(file):
    """Of 10 and more the names agree, which is enough for versions: the nine others would be lost."""
    old, new = ("".join(f"{k:{form}},{k % 3},{k % 4 % 3}\n" for k in range(1, 60)) for form in ("d", "02d"))
    paths = [file(name, f"item,human_1,gpt4\n{rows}") for name, rows in (("old.csv", old), ("new.csv", new))]
    with pytest.raises(RecuseError, match=r"old\.csv has an item '1', new\.csv '01': write the names in one form"):
        load_versions(paths)
    rows = "".join(f"{k},{k % 3},{k % 4 % 3}\n" for k in range(9))
    paths = [file("old.csv", f"item,human_1,gpt4\n{rows}07,2,2\n"), file("new.csv", f"item,human_1,gpt4\n{rows}")]
    assert {"7", "07"} <= {*load_versions(paths).ratings.table["item"]}  # two items, as one file says


def test_files_of_raters_may_each_call_their_ratings_by_the_raters_name(file):
    files = [file(f"{n}_file.csv", f"item,{n}\n" + "".join(f"t{k},{k % m}\n" for k in range(30)))
             for n, m in (("anna", 3), ("ben", 4), ("gpt", 3))]  # fmt: skip
    ratings = load_versions(files, raters=True, people="anna_file,ben_file").ratings
    assert ratings.raters == {"anna_file": "person", "ben_file": "person", "gpt_file": "judge"}
    assert ratings.table["status"].eq("ok").all()
    assert len(ratings.table) == 90


def test_who_is_a_person_may_stand_in_one_of_the_files(file):
    rows = range(30)
    old = file("old.csv", "item,anna,ben,scorer\n" + "".join(f"t{k},{k % 3},{k % 4 % 3},{k % 3}\n" for k in rows))
    new = file("new.csv", "item,scorer\n" + "".join(f"t{k},{k % 3}\n" for k in rows))
    for paths in ([old, new], [new, old]):
        ratings = load_versions(paths, people="anna,ben").ratings
        assert ratings.raters == {"anna": "person", "ben": "person", "scorer": "judge"}
    with pytest.raises(RecuseError, match="no file has a rater 'bem'; they have anna, ben, scorer"):
        load_versions([old, new], people=["anna", "bem"])
    with pytest.raises(RecuseError, match=r"new.csv: there is no rater 'anna' to be a person; the file has scorer"):
        load_versions([new], people="anna")


@pytest.mark.parametrize("options", [{}, {"people": "anna,ben"}])
def test_a_file_of_people_beside_a_judges_file_is_one_of_raters(file, options):
    people = file("people.csv", "item,anna,ben\n" + "".join(f"t{k},{k % 3},{k % 4 % 3}\n" for k in range(30)))
    judge = file("judge.csv", "item,gpt4\n" + "".join(f"t{k},{k % 3}\n" for k in range(30)))
    with pytest.raises(RecuseError, match="holds other raters' answers to the same items, say --raters"):
        load_versions([people, judge], **options)
    read = load_versions([people, judge], raters=True, **options)
    assert read.ratings.raters == {"anna": "person", "ben": "person", "judge": "judge"}
    with pytest.raises(RecuseError, match="no name tells judges from people: 'anna', 'ben'"):
        load_versions([people, people])
    for name in ("Item", "ticket"):  # the same name, and another one
        judge.write_text(f"{name},gpt4\n" + judge.read_text().partition("\n")[2])
        if name == "Item":
            assert len(load_versions([people, judge], raters=True, **options).ratings.table) == 90
            continue
        with pytest.raises(RecuseError, match=r"judge.csv and people.csv have no column in common; call the one that"):
            load_versions([people, judge], raters=True, **options)


@pytest.mark.parametrize("people_first", [True, False])
def test_versions_in_a_column_are_as_those_in_several_files(tmp_path, people_first):
    people = [("", f"t{k}", who, (k + (who == "ben" and k % 4 == 0)) % 5 + 1)
              for k in range(60) for who in ("anna", "ben")]  # fmt: skip
    judges = [(version, f"t{k}", "gpt-4", k % 5 + 1 if version == "v2" else k % 3 + 1)
              for version in ("v1", "v2") for k in range(60)]  # fmt: skip
    rows = [*people, *judges] if people_first else [*judges, *people]

    def written(name, rows):
        path = tmp_path / name
        path.write_text("\n".join(["version,item,rater,score", *(",".join(map(str, row)) for row in rows)]))
        return path

    both = [written(f"{v}.csv", [("", *row[1:]) for row in rows if row[0] in ("", v)]) for v in ("v1", "v2")]
    several = load_versions(both, ignore="version")
    one = load_versions([written("a.csv", rows)], factors="version")
    assert one.newest == several.newest == "v2"
    keys = ["rater", "item", "version", "score"]
    tables = [panel.ratings.table[keys].astype(str).sort_values(keys).to_numpy().tolist() for panel in (one, several)]
    assert tables[0] == tables[1]
    turned = sorted(rows, key=lambda row: row[0], reverse=True)
    with pytest.raises(RecuseError, match=r"come as v2, v1, .* or give each version a file, the oldest first"):
        load_versions([written("b.csv", turned)], factors="version")
    days = [(day.replace("v2", "29.12.2025").replace("v1", "19.1.2026"), *row) for day, *row in turned]
    assert load_versions([written("c.csv", days)], factors="version").newest == "19.1.2026"


@pytest.mark.parametrize("name", ["target", "Item", "cell", "score", "repeat"])
def test_a_factor_called_as_what_every_table_of_ratings_has_is_refused(tmp_path, name):
    path = tmp_path / "a.csv"
    rows = (f"t{k // 2},{'xy'[k % 2]},{k % 5},{k % 4}" for k in range(40))
    path.write_text("\n".join([f"id,{name},anna,gpt", *rows]))
    with pytest.raises(RecuseError, match=f"'{name}' is what every table of ratings has a column for; call the column"):
        load_versions([path], factors=name)
