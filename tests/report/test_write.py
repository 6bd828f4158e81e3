"""Writing the report: whole files or none, and the page can be drawn again from results.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import samples

from recuse import report
from recuse.report.canonical_form import canonical
from recuse.report.first_line import headline
from recuse.run.run import Run
from recuse.schema import RecuseError


def test_writes_results_summary_page_and_tables(tmp_path: Path) -> None:
    paths = report.write(samples.published(), tmp_path / "reports")
    assert [path.name for path in paths[:3]] == ["results.json", "summary.md", "index.html"]
    assert sorted(path.name for path in (tmp_path / "reports").iterdir()) == [
        "index.html",
        "results.json",
        "summary.md",
        "tables",
    ]
    assert paths[0].read_text() == canonical(json.loads(paths[0].read_text()))
    assert json.loads(paths[0].read_text())["headline"] == headline(samples.published())


def test_results_json_draws_the_same_report_again(tmp_path: Path) -> None:
    first = report.write(samples.both(), tmp_path / "a")
    again = report.write(json.loads(first[0].read_text()), tmp_path / "b")
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in again]


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    runs = [report.write(samples.failing(), tmp_path / name) for name in "ab"]
    assert [p.read_bytes() for p in runs[0]] == [p.read_bytes() for p in runs[1]]


def test_a_broken_template_costs_the_page_only(tmp_path: Path) -> None:
    """The numbers are written before anything of a team's is asked to render."""
    folder, templates = tmp_path / "reports", tmp_path / "templates"
    templates.mkdir()
    (templates / "index.html.j2").write_text("{% endif %}")
    with pytest.raises(RecuseError, match=r"index\.html\.j2, line 1"):
        report.write(samples.failing(), folder, template_folders=[templates])
    assert sorted(p.name for p in folder.iterdir()) == ["results.json", "summary.md"]
    assert json.loads((folder / "results.json").read_text())["outcome"] == "not measured"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = report.write(samples.published(), tmp_path)
    before = paths[0].read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(RecuseError, match="No space left"):
        report.write(samples.failing(), tmp_path)
    assert paths[0].read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["index.html", "results.json", "summary.md", "tables"]


@pytest.mark.parametrize("schema", [None, 2, "1"])
def test_results_of_another_schema_are_refused(tmp_path: Path, schema: object) -> None:
    with pytest.raises(RecuseError, match="schema 1"):
        report.write({**samples.published(), "schema": schema}, tmp_path)
    assert not list(tmp_path.iterdir())


def test_lone_surrogates_can_be_written(tmp_path: Path) -> None:
    paths = report.write(samples.hostile(), tmp_path)
    for path in paths:
        path.read_text(encoding="utf-8")


def test_a_run_objects_to_a_broken_template_and_draws_the_report_without_it(tmp_path: Path) -> None:
    (tmp_path / "templates" / "parts").mkdir(parents=True)
    (tmp_path / "templates" / "parts" / "run.html.j2").write_text("{{ 1 + 'a' }}")
    run = Run(results=samples.published())
    run._write(tmp_path, tmp_path / "templates", {})
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["outcome"] == "not measured"
    assert len(results["objections"]) == 1
    assert "template does not render" in results["objections"][0]
    assert results["headline"].startswith("This change: decide: the report's template does not render: ")
    assert "Which limits, and why these?" in (tmp_path / "index.html").read_text()
