"""The picture of a judge against people: a table of answers where these are options, a dot per text where numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_reader import Element, read
from written_ratings import rated

from recuse.cli import main
from recuse.metrics.agreement import coefficient

pytestmark = pytest.mark.usefixtures("no_drawn_judges")


def checked(rows: list[str], folder: Path, *options: str) -> Element:
    (folder / "a.csv").write_text("\n".join(rows))
    main(["check", str(folder / "a.csv"), *options, "--html", str(folder / "page.html")])
    return read((folder / "page.html").read_text(encoding="utf-8"))


def test_answers_that_are_options_are_counted_with_the_same_answer_outlined(tmp_path: Path) -> None:
    """Of 40 texts the judge fails 10, all of which people pass, and passes 30, of which people fail 8."""
    rows = [
        f"t{k},{'bad' if k < 10 else 'ok'},{'bad' if k >= 32 else 'ok'},{'bad' if k >= 32 else 'ok'}" for k in range(40)
    ]
    page = checked(["item,judge_a,anna,ben", *rows], tmp_path, "--scale", "bad<ok")
    (figure,) = [one for one in page.all("figure", class_="heat") if "people say" in one.text]
    cells = [[td.text for td in tr.all("td")] for tr in figure.one("tbody").all("tr")]
    assert cells == [["0 (the same answer)", "10"], ["8", "22 (the same answer)"]]
    assert [("own" in td.classes) for td in figure.all("td")] == [True, False, False, True]


def test_numbers_are_a_dot_per_text_on_the_ends_of_the_scale(tmp_path: Path) -> None:
    """The judge gives one point more than people, who are at one; at 5 it cannot."""
    rows = [f"t{k},{min(5, 2 + k % 5)},{1 + k % 5},{1 + k % 5}" for k in range(60)]
    page = checked(["item,judge_a,anna,ben", *rows], tmp_path)
    (figure,) = page.all("figure", class_="scatters")
    picture = next(svg for svg in figure.all("svg") if svg.attributes.get("role") == "img")
    words = picture.attributes["aria-label"]
    assert "60 texts: above people 48, below 0, the same 12." in words
    assert words.endswith("On average it gives 2 where people give 1, 3 where people give 2, 4 where people give 3, "
                          "5 where people give 4, 5 where people give 5")  # fmt: skip
    dots = [(c.attributes["cx"], c.attributes["cy"], c.attributes["r"]) for c in picture.all("circle")]
    assert [(x, y) for x, y, _ in dots] == [
        ("0%", "75%"),
        ("25%", "50%"),
        ("50%", "25%"),
        ("75%", "0%"),
        ("100%", "0%"),
    ]
    assert len({r for *_, r in dots}) == 1
    ends = [(line.attributes["x2"], line.attributes["y2"]) for line in picture.all("line", class_="s1")]
    assert ends == [("25%", "50%"), ("50%", "25%"), ("75%", "0%"), ("100%", "0%")], "the means"
    shares = figure.one("svg", class_="shares")
    assert shares.attributes["aria-label"].endswith(
        "from 1: 0 % and 20 %, from 1.8: 20 % and 20 %, from 3: 20 % and 20 %, from 3.8: 20 % and 20 %, "
        "from 4.6: 40 % and 20 %"
    )
    heights = [float(bar.attributes["height"]) for bar in shares.all("rect", class_="bar")]
    assert heights == [0, 0, 9, 0, 0, 9, 0, 9, 0, 18]
    assert [text.text for text in figure.one("svg", class_="axis").all("text")] == ["1", "2", "3", "4", "5"]


def test_texts_that_people_share_out_add_up(tmp_path: Path) -> None:
    """Two people who differ on each of 21 texts: half a text each, and no half is lost."""
    rows = [f"t{k},{('bad', 'ok')[k % 2]},ok,bad" for k in range(21)]
    page = checked(["item,judge_a,anna,ben", *rows], tmp_path, "--scale", "bad<ok")
    (figure,) = [one for one in page.all("figure", class_="heat") if "people say" in one.text]
    cells = [td.text.removesuffix(" (the same answer)") for td in figure.one("tbody").all("td")]
    assert cells == ["5.5", "5.5", "5.0", "5.0"]


def test_the_page_says_of_each_number_what_it_is(tmp_path: Path) -> None:
    """Its gain is less people's own and stands there once, what it may not be left is no failed gate, and what one more
    person would pass is one gate, not the use."""
    rows = [f"t{k},{1 + k % 5},{1 + k % 5},{min(5, 1 + k % 5 + (k % 4 == 0))}" for k in range(80)]
    page = checked(["item,judge_a,anna,ben", *rows], tmp_path)
    gains = [one for one in page.all("figure") if "Gain over a constant answer, less people's own" in one.text]
    assert len(gains) == 1
    assert gains[0].text.count(" to +") == 1
    (left,) = [one for one in page.all("table") if "may be left to it" in one.text]
    assert "no" in [td.text for td in left.one("tbody").all("td")]
    assert "fail" not in left.text
    assert "With these texts, a judge that is one more person would pass this gate" in page.text


@pytest.mark.parametrize(
    ("gives", "says"),
    [({"ok": "ok", "bad": "bad"}, "Overall, judge_a gives on average what people give; 0 of 40 scores lie above"),
     ({"ok": "ok", "bad": "ok"}, "Overall, judge_a is 25 % of the scale more lenient than people; 10 of 40 scores")],
)  # fmt: skip
def test_how_far_one_judge_is_from_people_is_said_in_the_unit_of_the_scale(
    gives: dict[str, str], says: str, tmp_path: Path
) -> None:
    peoples = ["bad" if k < 10 else "ok" for k in range(40)]
    rows = [f"t{k},{gives[label]},{label},{label}" for k, label in enumerate(peoples)]
    text = checked(["item,judge_a,anna,ben", *rows], tmp_path, "--scale", "bad<ok").text
    assert says in text
    assert "Closest to people is" not in text


def test_two_answers_of_one_judge_lie_apart_on_average(tmp_path: Path) -> None:
    """Of 40 texts it moves by two points on ten: half a point on average."""
    moved = [(k, repeat, 2 + 2 * repeat * (k < 10)) for k in range(40) for repeat in (0, 1)]
    rows = [f"t{k},{repeat},{score},{1 + k % 5},{1 + k % 5}" for k, repeat, score in moved]
    page = checked(["item,repeat,judge_a,anna,ben", *rows], tmp_path)
    assert "Two answers of judge_a to one text lie 0.50 points apart on average." in page.text


def test_the_picture_is_held_to_a_sixtieth_of_the_scale() -> None:
    detail = coefficient(rated(judge="0369", ann="0333"), "mean_error").of(judge="judge").detail
    assert detail["ends"] == [0, 9]
    assert detail["pairs"] == [[pytest.approx(x), pytest.approx(y), n] for x, y, n in
                               [(0, 0, 1), (3, 3, 1), (3, 6, 1), (3, 9, 1)]]  # fmt: skip
