"""A run writes every reply and prompt beside its report: the same pages however many processes read the cassettes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


def pages(root: Path) -> dict[str, str]:
    folder = root / "reports" / "replies"
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.html"))}


@pytest.mark.parametrize(
    "options", [["-n", "2"], pytest.param(["-n", "2", "--dist", "loadscope"], marks=pytest.mark.slow("whole runs"))]
)
def test_every_reply_is_there_whoever_reads_the_cassettes(repo, options) -> None:
    repo.run()
    alone = pages(repo.root)
    said = {name: text for name, text in alone.items() if "/rubric/" in name and "~prompts" not in name}
    assert {name.rpartition("/")[2] for name in said} == {"ann.html", "bob.html", "eve.html"}
    assert [text.count('<li id="r') for text in said.values()] == [16, 16, 16]
    assert alone["mini/essays/rubric/~prompts.html"].count("Score this essay by") == 4  # two texts, names shown, hidden
    (repo / "reports" / "replies" / "mini" / "essays" / "rubric" / "bob.html").unlink()
    repo.run(*options)
    assert pages(repo.root) == alone


def test_a_quoted_reply_has_an_address(repo) -> None:
    run = repo.run()
    quoted = next(row for row in run.results["excerpts"] if row["judge"] == "bob")
    assert f'id="{quoted["reply"]}"' in pages(repo.root)["mini/essays/rubric/bob.html"]
    index = (repo / "reports" / "index.html").read_text(encoding="utf-8")
    assert f"replies/mini/essays/rubric/bob.html#{quoted['reply']}" in index


def test_a_judge_that_was_not_read_leaves_no_page(repo) -> None:
    repo.run()
    kept = pages(repo.root)
    assert "mini/~judges/bob.html" in kept
    repo.run("-o", "recuse_replies=false")
    assert pages(repo.root) == {}


def test_results_do_not_depend_on_them(repo) -> None:
    first = repo.run().results
    assert json.dumps(repo.run("-o", "recuse_replies=false").results) == json.dumps(first)
