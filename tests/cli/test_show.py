"""`recuse show`: an earlier results.json again as text and page; two of them, and what differs."""

from __future__ import annotations

import copy
import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
import samples

from recuse import report
from recuse.report.canonical_form import canonical
from recuse.report.first_line import headline


@pytest.fixture
def kept(tmp_path):
    """Writes results as a results.json of this name."""

    def write(name, results):
        path = tmp_path / name
        path.write_text(canonical(results))
        return path

    return write


def changed_results():
    """The published sample and the same with one outcome, one limit and one value changed, one verdict gone."""
    before = samples.published()
    after = copy.deepcopy(before)
    passing = [v for v in after["verdicts"] if v["outcome"] == "pass"]
    passing[0]["outcome"] = "fail"
    passing[1]["limit"] = {"within": [-9, 9]}
    passing[2]["estimate"]["value"] += 0.25
    after["verdicts"].remove(passing[3])
    return before, after


def test_an_earlier_report_is_told_as_on_its_day(recuse, kept, tmp_path):
    results = samples.failing()
    path = kept("results.json", {**results, "headline": headline(results)})
    found = recuse("show", path, "--html", tmp_path / "page.html")
    assert found.code == 0
    assert " ".join(found.out.split()).startswith(headline(results)[:60])
    report.write(results, tmp_path / "reports")
    pages = [(tmp_path / name).read_text() for name in ("page.html", "reports/index.html")]
    verdicts = [re.search(r"<section id=verdicts .*?</section>", page, re.DOTALL)[0] for page in pages]
    assert verdicts[0] == verdicts[1]


def test_a_folder_of_reports_is_taken_for_its_results(recuse, tmp_path):
    report.write(samples.published(), tmp_path)
    assert recuse("show", tmp_path).code == 0


def test_of_two_what_differs_is_told_first_and_in_words(recuse, kept):
    before, after = changed_results()
    found = recuse("show", kept("june.json", before), kept("july.json", after))
    lines = found.out.splitlines()
    assert lines[0].endswith(f"4 of {len(before['verdicts'])} verdicts differ.")
    kinds = [line.strip().partition(":")[0] for line in lines[1:]]
    assert kinds == ["another outcome", "another limit", "another value", "gone"]
    assert "pass" in lines[1].partition("->")[0]
    assert "fail" in lines[1].partition("->")[2]


def test_what_is_shown_alike_does_not_differ(recuse, kept):
    """Another machine's last digits are no change."""
    before = samples.published()
    after = copy.deepcopy(before)
    for verdict in after["verdicts"]:
        value = verdict["estimate"]["value"]
        if value is not None and abs(round(value, 3) - value) > 1e-6:  # what ends there is written with all its digits
            verdict["estimate"]["value"] = value + 1e-9
    assert before != after
    found = recuse("show", kept("june.json", before), kept("july.json", after))
    assert re.search(r": 0 of \d{3} verdicts differ\.\n$", found.out)


def test_the_same_twice_differs_in_nothing(recuse, kept):
    path = kept("june.json", samples.published())
    assert re.search(r": 0 of \d{3} verdicts differ\.\n$", recuse("show", path, path).out)


def test_the_page_of_two_shows_both_sides_and_escapes_what_they_say(recuse, kept, tmp_path):
    before, after = changed_results()
    text = json.dumps(after).replace("grok-4", "<script>alert(1)</script>")
    recuse("show", kept("june.json", before), kept("july.json", json.loads(text)), "--html", tmp_path / "two.html")
    page = (tmp_path / "two.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert page.count("<tr>") > len(before["verdicts"])


@pytest.mark.parametrize(("content", "words"), [("{", "is not JSON"), ('{"schema": 7}', "no results.json of this"),
                                                 ('{"schema": 1, "verdicts": [3]}', "may have been changed by hand"),
                                                 (None, "cannot be read")])  # fmt: skip
def test_what_is_no_results_json_is_named(recuse, tmp_path, content, words):
    path = tmp_path / "r.json"
    if content is not None:
        path.write_text(content)
    found = recuse("show", path)
    assert found.code == 3
    assert found.err.startswith("recuse: ")
    assert words in found.err
    assert "r.json" in found.err
