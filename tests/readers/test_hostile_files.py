"""Files that would take all memory or end in a traceback: bounded, and answered with one sentence."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zipfile

import pytest

from recuse.readers import opening, read_file
from recuse.schema import RecuseError

TABLE = "item,gpt,anna\n" + "".join(f"t{k},{k % 5 + 1},{k * 7 % 5 + 1}\n" for k in range(30))
HEADER = {"eval": {"model": "m"}}
SAMPLE = {"id": 1, "epoch": 1, "scores": {"grader": {"value": "C"}}}


def log(*members):
    """A packed log of Inspect with these members, values of JSON or text."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members:
            archive.writestr(name, value if isinstance(value, str) else json.dumps(value))
    return stream.getvalue()


def refused(path, **given):
    """The sentence with which a file is refused."""
    with pytest.raises(RecuseError) as told:
        read_file(path, **given)
    assert "\n" not in str(told.value)
    return str(told.value)


@pytest.mark.parametrize("swollen", ["header.json", "samples/1.json"])
def test_a_packed_log_that_swells(file, monkeypatch, swollen):
    monkeypatch.setattr(opening, "FREE", 1 << 20)
    members = {"header.json": HEADER, "samples/1.json": SAMPLE}
    members[swollen] = {**members[swollen], "more": "a" * (opening.FREE + 1)}
    assert "unpacks to more than" in refused(file("a.eval", log(*members.items())))


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ([("header.json", HEADER), ("samples/1.json", "[" * 100_000 + "]" * 100_000)], "nested too deeply"),
        ([("header.json", HEADER), ("samples/1.json", '{"id": ' + "9" * 5000 + "}")], "thousands of digits"),
        ([("header.json", HEADER), ("samples/1.json", '{"id": "\\ud800"}')], "half of a character"),
        ([("header.json", [1, 2]), ("samples/1.json", [1])], "is not as log of Inspect is written"),
        ([("header.json", {"eval": [1]}), ("samples/1.json", SAMPLE)], "is not as log of Inspect is written"),
        ([("header.json", HEADER), ("samples/1.json", {"scores": {"g": 7}})], "is not as log of Inspect is written"),
        ([("header.json", HEADER), ("samples/1.json", {**SAMPLE, "error": "x"})] * 1, None),
    ],
    ids=["depth", "digits", "surrogate", "lists", "list of eval", "score of another type", "sound"],
)
def test_a_packed_log_of_other_things(file, members, told):
    path = file("a.eval", log(*members))
    if told is None:
        assert len(read_file(path).ratings.table) == 1
    else:
        assert told in refused(path)


LOGS = {
    "deepeval": {"testCases": [{"metricsData": [3]}]},
    "promptfoo": {"results": {"results": [{"provider": "p", "testIdx": 0, "gradingResult": [1]}]}},
    "alpaca_eval": [{"instruction": 1, "generator_1": 1, "generator_2": 1, "preference": 1.0}, 7],
    "label_studio": [{"annotations": [3], "data": {}}],
    "openai_batch": [{"custom_id": "1", "response": [2]}],
    "openai_log": [{"request": {"messages": 1}, "response": {"choices": 5}}],
}


@pytest.mark.parametrize("tool", LOGS)
def test_a_log_that_begins_as_a_tools_and_goes_on_otherwise(file, tool):
    assert "export it again" in refused(file("a.json", json.dumps(LOGS[tool])))


def test_parquet_of_millions_of_equal_rows(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    ones = pyarrow.array([1] * 100_000)
    table = pyarrow.table({"item": ones, "gpt": ones, "anna": ones})
    with parquet.ParquetWriter(tmp_path / "a.parquet", table.schema) as out:
        for _ in range(140):
            out.write_table(table)
    assert "14,000,000 rows of 3 columns; tables of up to 40,000,000 cells" in refused(tmp_path / "a.parquet")


@pytest.mark.slow("large files")
@pytest.mark.parametrize("nested", [False, True], ids=["texts", "lists"])
def test_parquet_whose_texts_stand_there_once(tmp_path, nested):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    text = "a" * 1_000_000
    ones = pyarrow.array([1] * 200)
    table = pyarrow.table({"item": ones, "gpt": ones, "text": pyarrow.array([[text] if nested else text] * 200)})
    parquet.write_table(table, tmp_path / "a.parquet")
    assert "unpacks to more than" in refused(tmp_path / "a.parquet")


def test_parquet_of_texts_that_stand_in_a_dictionary(tmp_path):
    """Arrow keeps each of them once; a table holds as many as there are rows."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    text = arrow.DictionaryArray.from_arrays([0] * 20_000, ["y" * 5000])
    parquet.write_table(arrow.table({"rater": text, "item": text, "score": [1] * 20_000}), tmp_path / "a.parquet")
    assert "unpacks to more than" in refused(tmp_path / "a.parquet")


ROW, END = "<row>", "</row>"


@pytest.mark.slow("large files", but_first=True)
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ('<row r="1048576"/><row/>', "row 1048577"),
        ('<row r="9"/>' * 3 + '<row r="2000000"/>', "row 2000000"),
        (ROW * 5000 + END * 5000, "elements in 65 others"),
        ('<row><c t="s"><v>-1</v></c></row>', "shared text -1 of 0"),
        ('<row><c r="ZZZZZ1"/></row>', "cell ZZZZZ1"),
        ('<row><c r="XFD1"/></row><row r="900000"/>', "16,384 columns"),
        ('<row><c r="CZZ1"/></row><row r="900000"/>', "900,000 rows"),
    ],
    ids=["rows", "rows passed over", "depth", "no such text", "columns", "a wide row", "a wide and a late row"],
)
def test_spreadsheets_of_few_bytes_and_many_cells(file, rows, told):
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    content = log(("xl/worksheets/sheet1.xml", f"<worksheet {space}><sheetData>{rows}</sheetData></worksheet>"))
    assert told in refused(file("a.xlsx", content))


def test_many_equal_rows_ask_for_an_item_or_for_counts(file):
    told = refused(file("a.csv.gz", gzip.compress(b"item,gpt,anna\n" + b"t1,4,4\n" * 200_000)))
    assert "nearly all of its 200,000 rows say the same" in told
    assert "names the item" in told


RECORD = b'{"item": "t1", "gpt": 4, "anna": 4}'


@pytest.mark.slow("large files", but_first=True)
@pytest.mark.parametrize(
    ("name", "first", "row", "last"),
    [
        ("a.csv.gz", b"item,gpt,anna\n", b"t1,4,4\n", b""),
        ("a.csv.gz", b"item,gpt,anna\r\n", b"t1,4,4\r\n", b""),
        ("a.jsonl.gz", b"", RECORD + b"\n", b""),
        ("a.json.gz", b"[", RECORD + b",", RECORD + b"]"),
    ],
    ids=["csv", "line ends of another system", "json lines", "json"],
)
def test_many_megabytes_of_equal_rows_are_refused_before_they_are_held(file, name, first, row, last):
    """63 MB of rows in a third of a megabyte take a few times their size and no more."""
    rows = first + row * (63_000_000 // len(row)) + last
    path = file(name, gzip.compress(rows, 1))
    tracemalloc.start()
    told = refused(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "nearly all of its first 500,000 rows say the same" in told
    assert most < 5 * len(rows)


def test_a_packed_log_of_many_samples_is_no_spreadsheet_by_chance(file):
    """Compressed bytes hold every combination of three letters, here as they stand."""
    sample = json.dumps({**SAMPLE, "input": "as xl/ does"})
    path = file("a.eval", b"")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        archive.writestr("samples/1.json", sample)
    assert b"xl/" in path.read_bytes()
    assert len(read_file(path).ratings.table) == 1
    path.write_bytes(path.read_bytes().replace(b"xl/", b"xm/"))
    assert "'samples/1.json' is not what was packed" in refused(path)


def test_samples_of_a_packed_log_are_taken_from_the_bytes_at_hand(file, monkeypatch):
    """Hundreds of thousands of them, each opened as a file of its own, take a multiple of the time."""
    path = file("a.eval", log(("header.json", HEADER), *((f"samples/{k}.json", {**SAMPLE, "id": k}) for k in range(3))))
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    assert len(read_file(path).ratings.table) == 3


def test_a_hundred_thousand_columns(file):
    header = ",".join(f"c{k}" for k in range(100_000))
    rows = "\n".join(",".join(["3"] * 100_000) for _ in range(2))
    assert "has 100,000 columns; tables of up to 4,000 are read" in refused(file("a.csv", f"{header}\n{rows}\n"))


def test_five_thousand_judges(file):
    rows = "".join(f"t{k},gpt-{n},{(k + n) % 5}\n" for n in range(5000) for k in range(3))
    assert "5,000 judges" in refused(file("a.csv", f"item,rater,score\n{rows}"))


@pytest.mark.slow("large files", but_first=True)
@pytest.mark.parametrize(
    ("name", "before", "repeated", "megabytes", "after", "where"),
    [
        ("a.csv", "", "a", 9, "", "line 1 is longer"),
        ("a.csv", TABLE + "t31,", "4", 9, ",3\n", "line 32 is longer"),
        ("a.csv", TABLE + 't31,"', "4\n", 10, '",3\n', "line 32, column gpt holds 10 MB"),
        ("a.jsonl", '{"item": 1, "gpt": 3, "text": "', "a", 9, '"}', "record 1, column text holds 9 MB"),
        ("a.jsonl", '{"item": 1, "gpt": 3, "text": "', "a", 33, '"}', "record 1, column text holds 33 MB"),
        ("a.csv", TABLE + "t31,", "4", 33, ",3\n", "line 32 is longer"),
    ],
    ids=["header", "cell", "lines", "json", "large json", "large cell"],
)
def test_a_line_or_cell_of_many_megabytes(file, name, before, repeated, megabytes, after, where):
    assert where in refused(file(name, before + repeated * ((megabytes << 20) // len(repeated)) + after))


@pytest.mark.slow("large files")
@pytest.mark.parametrize("column", ["name", pytest.param("item", marks=pytest.mark.slow("thousands of columns"))])
def test_thousands_of_columns_with_a_row_per_rater_are_turned_where_it_is_said_or_names_say_so(file, column):
    marks = [",".join(str((k + n) % 5 + 1) for k in range(1200)) for n in range(3)]
    rows = [f"{who},{line}" for who, line in zip(("anna", "ben", "gpt"), marks, strict=True)]
    path = file("a.csv", "\n".join([column + "," + ",".join(f"i{k}" for k in range(1200)), *rows]))
    if column == "item":
        assert "say --rater COLUMN" in refused(path)
    ratings = read_file(path, **({"rater": column} if column == "item" else {})).ratings
    assert ratings.raters == {"anna": "person", "ben": "person", "gpt": "judge"}
    assert ratings.table["item"].nunique() == 1200


@pytest.mark.parametrize("ending", ["\r", "\r\n", "\n"])
def test_line_ends_of_every_system(file, ending):
    read = read_file(file("a.csv", TABLE.replace("\n", ending)))
    assert len(read.ratings.table) == 60
    assert read.faults == ()


def test_a_lone_carriage_return_ends_a_line(file):
    read = read_file(file("a.csv", TABLE.replace("t3,4,2\n", "t3,4\r,2\n")))
    assert "fewer cells than the header (line 5" in read.faults[0].sentence()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('[{"item": "a\\ud800", "gpt": 3}]', "half of a character"),
        ('[{"item\\uDC00": "a", "gpt": 3}]', "half of a character"),
        ('[{"item": 1, "gpt": ' + "9" * 5000 + "}]", "thousands of digits"),
        ('{"item": 1, "gpt": 1}\n{"item": 2, "gpt": ' + "9" * 5000 + "}", "line 2: a number of thousands of digits"),
        ('{"item": "a\\ud800", "gpt": 1}\n' * 3, "line 1: half of a character"),
    ],
    ids=["surrogate", "surrogate of a name", "digits", "digits in a line", "surrogate in a line"],
)
def test_json_that_no_file_can_hold(file, content, told):
    assert told in refused(file("a.json", content))


def test_a_pair_of_surrogates_is_a_character(file):
    rows = '[{"item": "\\ud83d\\ude00", "gpt": 3, "anna": 3}, {"item": 2, "gpt": 1, "anna": 2}]'
    read = read_file(file("a.json", rows))
    assert "\U0001f600" in set(read.ratings.table["item"])


@pytest.mark.parametrize("scale", ["5-1", "3-3", "a<a", "a,b,a", "x|x", "1-1e309"])
def test_what_is_no_scale(file, scale):
    assert "a scale" in refused(file("a.csv", TABLE), scale=scale)


def test_the_lowest_may_be_best(file):
    scale = read_file(file("a.csv", TABLE), scale="1-5 lowest best").ratings.scale
    assert (scale.minimum, scale.maximum, scale.reversed) == (1, 5, True)


def test_numbers_that_nobody_gives_are_no_ratings(file):
    read = read_file(file("a.csv", TABLE.replace("t3,4,2\n", "t3,1e308,nan\n")))
    assert (read.ratings.scale.minimum, read.ratings.scale.maximum) == (1, 5)
    assert "line 5, column gpt: '1e308'" in read.faults[0].sentence()
    rows = "".join(f"{k},{('-1e308', '1e308', '3')[k % 3]},{(1, '1e308', '-1e308')[k % 3]}\n" for k in range(30))
    assert "'-1e308', which is no rating" in refused(file("b.csv", f"item,gpt,anna\n{rows}"))
    same = "".join(f"{k},1e308,{1 + k % 3}\n" for k in range(30))  # their sum is no number
    assert "1e308" in refused(file("c.csv", f"item,judge,anna\n{same}"))


MAPPINGS = {
    "raters = 3": "a table", "raters = {gpt = 3}": "a table", "item = 7": "a name or a list",
    "criteria = [1]": "a table",
    "people = [['anna']]": "a name or a list", "slices = 3": "a name or a list", "ignore = true": "a name or a list",
    "use = 3": "a name or a list", "item = 2020-01-01": "a name or a list", "gold = ['a']": "a text",
    "sampled = 'yes'": "true or false", "scale = ['1', '5']": "a text", "criteria = {gpt = ['x']}": "a table",
    "x = " + "[" * 9000 + "]" * 9000: "recursion", "a." * 9000 + "b = 1": "without end",
    '"a"."b"' + '."c"' * 9000 + " = 1": "without end", "# " + "x" * (1 << 20): "more than a megabyte",
}  # fmt: skip


@pytest.mark.parametrize("text", MAPPINGS, ids=lambda text: text[:20])
def test_a_mapping_of_other_types_or_without_end(file, text):
    path = file("a.csv", TABLE)
    file("a.recuse.toml", text)
    assert MAPPINGS[text] in refused(path)


@pytest.mark.parametrize(
    "text", ["threshold = 4", "ignore = []", "item = 'item'", "raters = {gpt = 'gpt', anna = ['anna']}"]
)
def test_a_mapping_as_people_write_it(file, text):
    path = file("a.csv", TABLE)
    file("a.recuse.toml", text)
    assert read_file(path).ratings.raters == {"gpt": "judge", "anna": "person"}
