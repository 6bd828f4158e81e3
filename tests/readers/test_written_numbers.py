"""Numbers as people and judges write them are the numbers: the same scale and scores as written plainly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recuse.ratings import Numeric, ResponseSets
from recuse.readers import read_file
from recuse.schema import RecuseError

FORMS = [
    "{}/5", "{} / 5", "Rating: {}/5", "Rating: {}", "Score: {}", "score = {}", "**Score:** {}", "Final rating: {}/5.",
    "[[{}]]", "[[{}/5]]", "**{}**", "{} stars", "{} Stars", "{} out of 5", "The rating is {}", "{}.0", "{} points",
    "<score>{}</score>", "Rating: [[{}]]", "({})", "{} of 5", "{}/5 stars", "{} ⭐", "{}/5 points", "Overall: {}",
]  # fmt: skip


def table(form, number=60):
    rows = [(f"t{k}", k % 5 + 1, (k + k % 2) % 5 + 1, form((k + k % 3 // 2) % 5 + 1)) for k in range(number)]
    return "\n".join(["ticket,anna,ben,gpt-4o", *(",".join(map(str, row)) for row in rows)])


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "plain.csv"
    path.write_text(table(str))
    return read_file(path)


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("form", [*FORMS, "stars"])
def test_a_judges_way_to_write_a_number(file, plain, form):
    write = (lambda n: "★" * n + "☆" * (5 - n)) if form == "stars" else form.format
    read = read_file(file("a.csv", table(write)))
    assert read.ratings.raters == plain.ratings.raters
    assert read.ratings.scales == {"rating": Numeric(1, 5, 1)}
    assert list(read.ratings.table["score"]) == list(plain.ratings.table["score"])


def test_several_ways_in_one_file(file):
    ways = ["{}", "{}/5", "{} Stars", "Rating: {}"]
    rows = [
        f"{k},{who},{ways[(k + s) % 4].format((k + s) % 5 + 1)}"
        for k in range(60)
        for s, who in enumerate(("anna", "gpt"))
    ]
    read = read_file(file("a.csv", "\n".join(["id,rater,score", *rows])))
    assert read.ratings.scales == {"rating": Numeric(1, 5, 1)}
    assert set(read.ratings.table["status"]) == {"ok"}


def test_out_of_ten_and_out_of_five_are_not_one_scale(file):
    with pytest.raises(RecuseError, match=r"scale|numbers"):
        read_file(file("a.csv", table(lambda n: f"{2 * n}/10")), people="anna,ben")


def test_per_cent_beside_marks_is_not_one_scale(file):
    with pytest.raises(RecuseError, match="scale"):
        read_file(file("a.csv", table(lambda n: f"{20 * n} %")))


def test_a_slash_between_options_still_makes_a_set(file):
    rows = [f"{k},{('toxic', 'fine', 'toxic/fine')[k % 3]},{('toxic', 'fine')[k % 2]}" for k in range(30)]
    assert read_file(file("a.csv", "\n".join(["id,human,gpt", *rows]))).kind == "response_sets"


SCALES = [(1, 5, 0.5), (0, 5, 0.5), (1, 5, 0.1), (1, 10, 0.5), (0, 10, 0.1), (1, 4, 0.25)]


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize(("low", "high", "step"), SCALES)
@pytest.mark.parametrize("whole", [True, False])  # do people give whole numbers?
@given(seed=st.integers(0, 999))
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_decimal_comma_is_a_point(tmp_path, low, high, step, whole, seed):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(low, high, 80)
    steps = {"anna": 1 if whole else step, "ben": 1 if whole else step, "gpt-4o": step}
    rated = {name: np.clip(np.round((truth + rng.normal(0, 0.1 * high, 80)) / each) * each, low, high)
             for name, each in steps.items()}  # fmt: skip
    read = []
    for sign in ".,":
        columns = [[f"t{k}" for k in range(80)], *([f"{x:g}".replace(".", sign) for x in v] for v in rated.values())]
        path = tmp_path / f"{ord(sign)}.csv"
        path.write_text("\n".join(map(";".join, [["text", *rated], *zip(*columns, strict=True)])), encoding="utf-8")
        read.append(read_file(path).ratings)
    assert read[0].scales == read[1].scales
    assert list(read[0].table["score"]) == list(read[1].table["score"])


@pytest.mark.parametrize("pairs", ["4,5", "3,5 4,5", "3,1 2,3"])
def test_two_numbers_that_may_be_one_are_asked_about(file, pairs):
    told = [*"12345", *pairs.split()]
    rows = "\n".join(f"{k};{told[k % len(told)]};{told[-1 - k % len(told)]}" for k in range(40))
    path = file("a.csv", f"item;anna;gpt-4o\n{rows}\n")
    with pytest.raises(RecuseError, match=f'{told[5]} may be the number .*--scale 1-5, or --scale "1.2.3.4.5"'):
        read_file(path)
    for scale, kind in (("1-5", Numeric), ("1|2|3|4|5", ResponseSets)):
        assert isinstance(read_file(path, scale=scale).ratings.scales["rating"], kind)


def test_a_minus_sign_is_a_minus(file):
    read = read_file(file("a.csv", "id,anna,gpt\n1,\u22122,\u22121.5\n2,1,2\n3,2,\u22122\n"))
    assert [*read.ratings.table["score"]] == [-2, 1, 2, -1.5, 2, -2]


def thousands(form, number=60):
    rows = [[f"t{k}", *(form(((k + s // 2) % 5 + 1) * 431.5) for s in range(3))] for k in range(number)]
    return "\n".join(["ticket;claude;gemini;gpt-4o", *map(";".join, rows)])


@pytest.mark.parametrize("sign", [" ", "\u202f", "'"])
def test_separators_of_thousands_that_are_nothing_else(file, sign):
    plain = read_file(file("a.csv", thousands("{:.0f}".format)), judges="claude,gemini,gpt-4o").ratings
    split = file("b.csv", thousands(lambda n: f"{n:,.0f}".replace(",", sign)))
    assert read_file(split, judges="claude,gemini,gpt-4o").ratings.table.equals(plain.table)


@pytest.mark.parametrize(("many", "few"), [(",", "."), (".", ",")])
def test_both_signs_say_which_is_which(file, many, few):
    signs = str.maketrans(",.", many + few)
    text = thousands(lambda n: f"{n:,.1f}".translate(signs))
    read = read_file(file("a.csv", text), judges="claude,gemini,gpt-4o")
    scores = read.ratings.table.loc[read.ratings.table["rater"] == "gpt-4o", "score"]
    assert {*scores} == {431.5, 863.0, 1294.5, 1726.0, 2157.5}


def test_many_numbers_with_both_signs_are_no_sets(file):
    rows = [[f"t{k}", *(f"{1000 + 100 * ((7 * k + s) % 90):,.1f}" for s in range(3))] for k in range(180)]
    text = "\n".join(["ticket;claude;gemini;gpt-4o", *map(";".join, rows)])
    scale = read_file(file("a.csv", text), judges="claude,gemini,gpt-4o").ratings.scales["rating"]
    assert (scale.minimum, scale.maximum) == (1000, 9900)


@pytest.mark.parametrize("sign", [",", "."])
def test_one_sign_may_be_either(file, sign):
    text = thousands(lambda n: f"{n:,.0f}".replace(",", sign))
    with pytest.raises(RecuseError, match=r"stands beside \d+, and may be \d{4} or \d\.\d{3}; write numbers without"):
        read_file(file("a.csv", text), judges="claude,gemini,gpt-4o")


def test_means_of_three_are_no_thousands(file):
    means = thousands(lambda n: str({1: 33.333, 2: 66.667, 3: 70, 4: 80.333, 5: 100}[int(n // 431)]))
    read = read_file(file("a.csv", means), judges="claude,gemini,gpt-4o")
    assert read.ratings.table["score"].min() == 33.333


def test_digits_of_a_japanese_keyboard(file, plain):
    wide = read_file(file("a.csv", table(lambda n: "０１２３４５"[n] + "／５")))
    assert wide.ratings.scales == {"rating": Numeric(1, 5, 1)}
    assert list(wide.ratings.table["score"]) == list(plain.ratings.table["score"])


def test_halves_may_be_written_as_one_character(file):
    halves = read_file(file("a.csv", table(lambda n: f"{n - 1}½" if n > 1 else "½")))
    assert {*halves.ratings.table.query("rater == 'gpt-4o'")["score"]} == {0.5, 1.5, 2.5, 3.5, 4.5}


@pytest.mark.parametrize("code", ["-99", "99", "999"])
def test_a_number_far_from_all_others_may_stand_for_none(file, code):
    lines = table(str).splitlines()
    coded = [f"t{k},{code},{code},{code}" if k % 20 == 0 else line for k, line in enumerate(lines[1:])]
    path = file("a.csv", "\n".join([lines[0], *coded]))
    with pytest.raises(RecuseError, match=rf"somebody gives {code}, all others 1 to 5; .* --scale=1-5; .* --scale="):
        read_file(path)
    assert read_file(path, scale="1-5").ratings.table["score"].max() == 5


def test_what_people_and_judges_often_say_is_no_slip(file):
    path = file("a.csv", table(str).replace(",5", ",>4"))
    with pytest.raises(RecuseError, match=r"people and judges often give '>4', which is no number; .*--same"):
        read_file(path)
    assert read_file(path, same=">4=5").ratings.scales == {"rating": Numeric(1, 5, 1)}
