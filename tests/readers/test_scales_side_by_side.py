"""People and judges on two scales are refused, with what to do; never read as if nobody had rated the texts."""

from __future__ import annotations

import pytest

from recuse.ratings import Numeric
from recuse.readers import read_file
from recuse.readers.file_panel import load_versions
from recuse.schema import RecuseError


def table(people, judge, header="ticket,anna,ben,judge", number=60):
    rows = [f"t{k},{people(k)},{people(k + k % 2)},{judge(k)}" for k in range(number)]
    return "\n".join([header, *rows])


CASES = {
    "people 1-5, judge 0-1": (lambda k: k % 5 + 1, lambda k: f"{k % 7 / 7:.2f}"),
    "people 1-10, judge 1-5": (lambda k: k % 10 + 1, lambda k: k % 5 + 1),
    "people 0-1, judge 1-5": (lambda k: f"{k % 7 / 7:.2f}", lambda k: k % 5 + 1),
    "people 1-5, judge 0-100": (lambda k: k % 5 + 1, lambda k: k * 7 % 101),
    "people 1-5, judge pass or fail": (lambda k: k % 5 + 1, lambda k: ("pass", "fail")[k % 2]),
    "people pass or fail, judge 1-5": (lambda k: ("pass", "fail")[k % 2], lambda k: k % 5 + 1),
    "people 1-5, judge 0 or 1": (lambda k: k % 5 + 1, lambda k: k % 2),
}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("people", ["", "anna,ben"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", ["wide", "long"])
def test_two_scales_are_refused(file, case, people, form):
    text = table(*CASES[case])
    if form == "long":
        cells = [line.split(",") for line in text.splitlines()]
        rows = [f"{row[0]},{who},{mark}" for row in cells[1:] for who, mark in zip(cells[0][1:], row[1:], strict=True)]
        text = "\n".join(["ticket,rater,score", *rows])
    with pytest.raises(RecuseError, match=r"scale|labels"):
        read_file(file("a.csv", text), people=people)


@pytest.mark.parametrize("column", ["difficulty", "turns", "age"])
def test_numbers_that_are_nobodys_do_not_stop_a_file(file, column):
    rows = [f"t{k},{k % 9 + 1},{k % 2}" for k in range(60)]
    read = read_file(file("a.csv", "\n".join([f"ticket,{column},judge", *rows])))
    assert column in read.mapping.ignored


def test_labels_without_a_word_in_common_are_refused(file):
    rows = [f"m{k},{'thumbs_up' if k % 3 == 0 else ''},{('good', 'bad')[k % 2]}" for k in range(60)]
    with pytest.raises(RecuseError, match=r"user_feedback|no label in common"):
        read_file(file("a.csv", "\n".join(["message_id,user_feedback,judge_verdict", *rows])))
    with pytest.raises(RecuseError, match="no label in common"):
        read_file(file("a.csv", "\n".join(["message_id,user_feedback,judge_verdict", *rows])), people="user_feedback")


def test_a_column_scale_makes_shares_of_its_ranges_and_is_what_was_varied(file):
    each = [("anna", "1-5", lambda k: k % 5 + 1), ("gpt-4o", "1-5", lambda k: 5)]
    each.append(("gpt-4o", "0-100", lambda k: k % 5 * 25))
    rows = [f"t{k},{who},{scale},{mark(k)}" for k in range(40) for who, scale, mark in each]
    read = read_file(file("a.csv", "\n".join(["item,rater,scale,score", *rows])))
    assert (read.ratings.factors, read.ratings.scales) == (("scale",), {"rating": Numeric(0, 1)})
    shares = read.ratings.table.set_index(["rater", "scale"])["score"]
    assert list(shares["anna", "1-5"]) == [k % 5 / 4 for k in range(40)]
    assert list(shares["gpt-4o", "0-100"]) == [k % 5 / 4 for k in range(40)]


def test_files_of_raters_on_scales_of_their_own_are_one_table(file):
    said = {"anna": ("1-5", lambda k: k % 5 + 1), "ben": ("0-10", lambda k: 2.5 * (k % 5)), "gpt": ("1-5", lambda k: 5)}
    paths = [
        file(f"{who}.csv", "\n".join(["item,scale,rating", *(f"t{k},{scale},{mark(k)}" for k in range(40))]))
        for who, (scale, mark) in said.items()
    ]
    read = load_versions(paths, raters=True, people="anna,ben")
    shares = read.ratings.table.set_index("rater")["score"]
    assert list(shares["anna"]) == list(shares["ben"]) == [k % 5 / 4 for k in range(40)]
    assert set(shares["gpt"]) == {1.0}


@pytest.mark.parametrize("written", ["{}/{}", "{} of {}", "{} out of {}"])
def test_answers_out_of_several_are_read_as_the_option_says_that_is_printed(file, written):
    rows = [f"t{k},{written.format(n, 5)},{written.format(n, 5)},{written.format(2 * n, 10)}"
            for k in range(60) for n in (k % 5 + 1,)]  # fmt: skip
    text = "\n".join(["ticket,anna,ben,judge", *rows])
    path = file("of5_of10.csv", text)
    with pytest.raises(RecuseError, match="out of 5 and out of 10") as error:
        read_file(path)
    rows = read_file(path, same=str(error.value).split('"')[1]).ratings.table
    marks = {who: own["score"].tolist() for who, own in rows.groupby("rater", observed=True)}
    assert marks["judge"][:5] == marks["anna"][:5] == [0.2, 0.4, 0.6, 0.8, 1.0]


def test_the_scale_that_every_row_names_is_the_scale(file):
    def rated(scale, score=lambda k: k % 3 + 2, header="item,rater,score,scale"):
        rows = [f"{k},{who},{score(k)},{scale}" for k in range(30) for who in ("anna", "ben", "gpt-4")]
        return read_file(file("a.csv", "\n".join([header, *rows]))).ratings.scale

    assert rated("1-5").ends == (1, 5)
    assert rated("1-3").ends == (1, 4)  # which does not hold all numbers
    assert rated("1-5", lambda k: k % 5 + 1) == rated("", lambda k: k % 5 + 1)  # in whole steps


@pytest.mark.parametrize(
    ("one", "other", "ends"),
    [
        ("anna (0-7)", "gpt4 (0-7)", (0, 7)), ("anna [1 to 7]", "gpt4", (1, 7)),
        ("anna (0–20 points)", "gpt4", (0, 20)), ("anna (0-9)", "gpt4", (0, 9)), ("anna (1-7)", "gpt4 (1-7)", (1, 7)),
        ("anna (0-7)", "gpt4 (1-7)", (0, 10)),
        ("anna (1-3)", "gpt4", (0, 10)), ("anna (7-0)", "gpt4", (0, 10)), ("anna", "gpt4", (0, 10)),
    ],
)  # fmt: skip
def test_a_scale_that_a_columns_name_says_is_the_scale(file, one, other, ends):
    """A scale of 0 to 10 would let an offset pass that is a tenth of 0 to 7; one that does not fit is not taken."""
    rows = "".join(f"t{k},{k % 7 + 1},{(k + (k % 5 == 0)) % 7 + 1},{k % 7 + 1}\n" for k in range(70))
    rows += "" if ends in [(1, 7), (0, 9)] else "t70,0,1,0\n"
    read = read_file(file("a.csv", f"item,{one},ben,{other}\n{rows}"), people=f"{one},ben", judges=other)
    assert read.ratings.scale.ends == ends


@pytest.mark.parametrize(("told", "ends", "turned"), [
    ("1 = excellent, 5 = poor", (1, 5), True), ("1=sehr gut, 6=ungenügend", (1, 6), True),
    ("0: bad / 7: good", (0, 7), False), ("1-best, 5-worst", (1, 5), True), ("1 = not at all, 7 = very", (1, 7), False),
])  # fmt: skip
def test_what_a_columns_name_calls_the_ends_says_which_is_best(file, told, ends, turned):
    """The best mark was the worst. One column may say it for all, beside one that names the same ends."""
    rows = "".join(f"t{k},{k % 5 + 1},{k % 5 + 1}\n" for k in range(40))
    for other in (told, f"{ends[0]}-{ends[1]}"):
        scale = read_file(file("a.csv", f'item,"anna ({told})","gpt ({other})"\n{rows}')).ratings.scale
        assert (scale.ends, scale.reversed) == (ends, turned)


def test_names_that_call_opposite_ends_best_are_asked_about(file):
    """The judge was refused, as one that says the opposite."""
    rows = "".join(f"t{k},{k % 5 + 1},{5 - k % 5}\n" for k in range(40))
    path = file("a.csv", f'item,"anna (1 = poor, 5 = excellent)","gpt (1 = best, 5 = worst)"\n{rows}')
    with pytest.raises(RecuseError, match=r"the lowest is best in gpt \(.* and the highest in anna \(.*; turn the"):
        read_file(path)
    assert not read_file(path, scale="1-5").ratings.scale.reversed
