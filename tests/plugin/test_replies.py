"""A run writes every reply and prompt beside its report: the same pages however many processes read the cassettes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]


def pages(root: Path) -> dict[str, str]:
    folder = root / "reports" / "replies"
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.html"))}


@pytest.mark.slow("whole runs")
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
    quoted = {row["reply"] for row in run.results["excerpts"] if row["judge"] == "bob"}
    said = pages(repo.root)["mini/essays/rubric/bob.html"]
    assert quoted
    assert all(f'id="{reply}"' in said for reply in quoted)
    index = (repo / "reports" / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r"replies/mini/essays/rubric/bob\.html#(\w+)", index))
    assert linked, "bob's self-bias fails, and his own words stand beside it"
    assert linked <= quoted


TEXTS = ("Score this essay by", "Grade this essay by", "Short and plain", "Long and winding", "So it is.")
"""What prompts, judged texts and replies of the repository say."""
NOBODY = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
HIDDEN = ("-o", "recuse_texts=false")
QUOTING = """
    import pandas as pd
    import pytest

    from recuse import measures
    from recuse.papers.merchant_risk.generation import RATIONALE, RULE
    from recuse.ratings import Ratings

    pytestmark = pytest.mark.asks("scores")

    def test_reasons(ratings, measure):
        measure(measures.explanation_finding(ratings))

    def test_rules(ratings, measure):
        words = {RATIONALE: "So it is.", f"{RULE}length": "kept"}
        rows = [{"judge": "ann", "item": "a", "criterion": name, "response": said} for name, said in words.items()]
        measure(measures.rules_kept(Ratings.of(pd.DataFrame(rows))))
"""
"""Measures whose detail lists what judges wrote, as words or beside a number."""


def texts_in(run: Any, folder: Path) -> set[str]:
    """Which of these stand in anything that the run printed, or that stands in the folder of reports."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"results.json", "summary.md", "index.html", "replies.csv"} <= {path.name for path in files}
    written = "".join(path.read_text(encoding="utf-8") for path in files)
    return {text for text in TEXTS if text in written + run.text}


@pytest.mark.parametrize("options", [[], pytest.param(["-n", "2"], marks=pytest.mark.slow("whole runs"))])
def test_one_switch_keeps_prompts_and_replies_out_of_everything(repo, options) -> None:
    """Out of results, page, tables, summary and terminal, and what an earlier run wrote of them goes."""
    repo.write("evals/test_quoting.py", QUOTING)
    assert texts_in(repo.run("--update-baseline", *options), repo / "reports") == {TEXTS[0], *TEXTS[2:]}
    assert texts_in(repo.run(*HIDDEN, *options), repo / "reports") == set()
    assert pages(repo.root) == {}


def test_a_changed_prompt_is_not_quoted_where_texts_stay_hidden(repo, monkeypatch) -> None:
    """The message of a recording that a changed prompt made stale, and a judge that changed in place."""
    lines = ("- Score this essay by", "+ Grade this essay by")
    changed = {"judge": "bob", "panel": "mini", "kind": "prompt", "was": lines[0], "is": lines[1], "word": "decide",
               "cause": "changed", "paste": "", "kinds": [], "steps": []}  # fmt: skip
    monkeypatch.setattr("recuse.upgrade.in_place.changed_in_place", lambda *_: [changed])
    for command in (["init", "-q"], ["add", "."], [*NOBODY, "commit", "-qm", "as it was"]):
        subprocess.run(["git", *command], cwd=repo.root, check=True)
    prompt = repo / "fixtures" / "tasks" / "essays" / "prompts" / "rubric.user.j2"
    prompt.write_text(prompt.read_text().replace("Score", "Grade"))
    assert {"Score this essay by", "Grade this essay by"} <= texts_in(repo.run(), repo / "reports")
    run = repo.run(*HIDDEN)
    assert texts_in(run, repo / "reports") == set()
    assert "the prompt changed" in run.words
    assert [row["is"] for row in run.results["in_place"]] == ["not shown: recuse_texts = false"]


def test_numbers_do_not_depend_on_them(repo) -> None:
    first, hidden = repo.run().results, repo.run(*HIDDEN).results
    assert first["excerpts"]
    assert json.dumps(hidden) == json.dumps({**first, "excerpts": []})
