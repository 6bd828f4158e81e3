"""No command writes over somebody's work, through a link, or half of what it was asked for."""

from __future__ import annotations

import csv
import json
import os

import pytest


@pytest.fixture
def table(tickets):
    """A judge that errs in one ticket of seven."""
    return tickets(lambda truth, rng: [bool(t) if k % 7 else not t for k, t in enumerate(truth)], items=70)


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def filled(path, verdicts):
    rows = rows_of(path)
    for row, verdict in zip(rows, verdicts, strict=False):
        row["your_verdict"] = verdict
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def test_verdicts_on_disagreements_are_kept_and_on_what_is_none_any_more_stand_at_the_end(recuse, table, tmp_path):
    review = tmp_path / "review.csv"
    recuse("check", table, "--disagreements", review)
    filled(review, ["pass", "fail"])
    before = rows_of(review)
    recuse("check", table, "--disagreements", review)
    assert rows_of(review) == before
    first, second = before[:2]
    lines = table.read_text().splitlines()
    mended = [line if line.split(",")[0] != first["item"] else f"{first['item']},pass,pass,pass" for line in lines]
    table.write_text("\n".join(mended) + "\n")
    recuse("check", table, "--disagreements", review)
    rows = rows_of(review)
    assert {row["item"]: row["your_verdict"] for row in rows if row["your_verdict"]} == {
        first["item"]: "pass",
        second["item"]: "fail",
    }
    assert rows[-1]["item"] == first["item"]


@pytest.mark.parametrize("option", ["--json", "--html", "--disagreements"])
@pytest.mark.parametrize("what", ["data", "link", "folder", "no folder"])
def test_nothing_that_is_not_ours_is_written_over(recuse, table, tmp_path, option, what):
    path = tmp_path / "june"
    theirs = "item,judge\nt1,pass\n"
    if what == "data":
        path.write_text(theirs)
    elif what == "link":
        (tmp_path / "elsewhere").write_text(theirs)
        path.symlink_to(tmp_path / "elsewhere")
    elif what == "folder":
        path.mkdir()
    else:
        path = tmp_path / "nowhere" / "june"
    found = recuse("check", table, option, path)
    assert (found.code, found.out) == (3, "")
    assert str(path) in found.err
    if what in ("data", "link"):
        assert path.read_text() == theirs


def test_what_an_option_wrote_before_is_written_again_and_no_string_of_it_reaches_the_terminal_raw(
    recuse, table, tmp_path
):
    outputs = ["--json", tmp_path / "r.json", "--html", tmp_path / "r.html", "--disagreements", tmp_path / "d.csv"]
    first = recuse("check", table, *outputs)
    again = recuse("check", table, *outputs)
    assert (first.code, again.code, again.err) == (again.code, first.code, "")
    text = (tmp_path / "r.json").read_text()
    assert "decision" in json.loads(text)
    hostile = "\\u001b]0;owned\\u0007\\u202e"
    (tmp_path / "after.json").write_text(text.replace('"judge": "judge"', f'"judge": "judge{hostile}"'))
    out = recuse("show", tmp_path / "r.json", tmp_path / "after.json").out
    assert "⟦U+001B⟧" in out
    assert not any(mark in out for mark in ("\x1b", "\x07", "\u202e"))


def test_a_mapping_changed_by_hand_is_not_replaced(recuse, table):
    saved = table.with_name("t.recuse.toml")
    recuse("check", table, "--save")
    written = saved.read_text()
    recuse("check", table, "--save")
    assert saved.read_text() == written
    saved.write_text(written + "# the second annotator left in May\n")
    found = recuse("check", table, "--save")
    assert (found.code, "the second annotator left in May" in found.err) == (3, True)
    assert "left in May" in saved.read_text()


def test_what_is_saved_of_several_raters_files_is_read_with_them(recuse, tmp_path):
    """Beside the first of them, which is where it is looked for."""
    files = [tmp_path / f"{name}.csv" for name in ("a", "b", "c")]
    for n, path in enumerate(files):
        rows = [f"{k},{(k + n * (k % 7 == 0)) % 5 + 1},{k % 3 + 1}" for k in range(30)]
        path.write_text("\n".join(["id,score,other", *rows]))
    told = ("check", *files, "--raters")
    asked, found = recuse(*told), recuse(*told, "--judges", "a", "--value", "score", "--save")
    again = recuse(*told)
    assert (asked.code, found.code, again.first) == (3, again.code, found.first)


@pytest.mark.parametrize("inside", ["evals", "fixtures/example.csv", ".github/workflows"])
def test_init_writes_through_no_link(recuse, tmp_path, inside):
    """Dangling ones too: what they lead to would appear elsewhere."""
    folder, elsewhere = tmp_path / "repository", tmp_path / "elsewhere"
    place = folder / inside
    place.parent.mkdir(parents=True)
    place.symlink_to(elsewhere)
    before = sorted(folder.rglob("*"))
    found = recuse("init", folder, "--adopt")
    assert (found.code, "is a link" in found.err) == (3, True)
    assert sorted(folder.rglob("*")) == before
    assert not elsewhere.exists()


@pytest.mark.parametrize("inside", ["evals", "fixtures", ".github", "reports"])
def test_init_leaves_no_half_where_something_is_in_the_way(recuse, tmp_path, inside):
    (tmp_path / inside).write_text("a file of theirs")
    found = recuse("init", tmp_path, "--adopt")
    assert (found.code, "Traceback" in found.err) == (3, False)
    assert os.listdir(tmp_path) == [inside]


def test_init_takes_back_what_it_wrote_when_the_disk_is_full(recuse, tmp_path, monkeypatch):
    from recuse.starting import init_command

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(init_command, "_decided", full)
    folder = tmp_path / "repository"
    found = recuse("init", folder)
    assert (found.code, "No space left on device; nothing was written" in found.err) == (3, True)
    assert not list(folder.rglob("*"))


def test_init_takes_back_no_file_that_somebody_else_made_meanwhile(recuse, tmp_path, monkeypatch):
    from recuse.starting import init_command

    monkeypatch.setattr(init_command, "_decided", lambda _: (tmp_path / "README.md").write_text("theirs") and [])
    found = recuse("init", tmp_path)
    assert (found.code, "README.md: File exists; nothing was written" in found.err) == (3, True)
    assert [(path.name, path.read_text()) for path in tmp_path.rglob("*")] == [("README.md", "theirs")]


def test_a_name_with_quotes_gives_settings_that_can_be_read(recuse, table, tmp_path):
    import tomllib

    odd = table.rename(table.with_name('a"b\\c.csv'))
    folder = tmp_path / "repository"
    assert recuse("init", folder, "--ratings", odd).code == 0
    settings = tomllib.loads((folder / "pyproject.toml").read_text())
    assert settings["tool"]["pytest"]["ini_options"]["recuse_panels"] == [f"fixtures/{odd.name}"]
