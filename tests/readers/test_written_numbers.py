"""Numbers as people and judges write them are the numbers: the same scale and scores as written plainly."""

from __future__ import annotations

import pytest

from recuse.ratings import Numeric
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
