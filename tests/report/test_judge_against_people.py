"""The picture of a judge against people: a table of answers where these are options, a dot per text where numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_reader import Element, read

from recuse.cli import main
from recuse.metrics.agreement import coefficient
from recuse.metrics.agreement_estimates import rated


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


def test_the_picture_is_held_to_a_sixtieth_of_the_scale() -> None:
    detail = coefficient(rated(judge="0369", ann="0333"), "mean_error").of(judge="judge").detail
    assert detail["ends"] == [0, 9]
    assert detail["pairs"] == [[pytest.approx(x), pytest.approx(y), n] for x, y, n in
                               [(0, 0, 1), (3, 3, 1), (3, 6, 1), (3, 9, 1)]]  # fmt: skip
