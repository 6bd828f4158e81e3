"""Pages that answer one question say what commands print and what the data hold."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from recuse.cli import main

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


LABELS = re.findall(r"^```sh\n(recuse plan .*?)\n```\n\n```text\n(.*?)^```", page("how-many-labels.md"), re.M | re.S)


def test_the_short_table_of_labels_is_that_of_the_commands():
    (_, options), (_, scores) = LABELS
    rows = re.compile(r"^  to (\w+) .* ([\d,]+)$", re.M)
    scored, chosen = (dict(rows.findall(block.partition("cleared at half")[0])) for block in (scores, options))
    for row, texts in (
        ("| scores, two people who agree by ICC 0.7, to report a mean |", scored["estimate"]),
        ("| the same, to grade single texts |", scored["grade"]),
        ("| the same, to rank systems |", scored["rank"]),
        ("| pass or fail, two people who agree by kappa 0.6, to act on them |", chosen["decide"]),
    ):
        assert f"{row} {texts} |\n" in page("how-many-labels.md")


@pytest.mark.slow("simulation")
@pytest.mark.parametrize(("command", "shown"), LABELS)
def test_the_tables_of_labels_are_what_plan_prints(command, shown, capsys):
    assert main(command.split()[1:]) == 0
    assert capsys.readouterr().out == shown


BLOCK = re.compile(r"^```sh\n(recuse (?:[a-z]+ tests/cli/|init ).*?)\n```\n\n```text\n(.*?)^```", re.M | re.S)
CHECKED = [found for path in sorted((ROOT / "docs").glob("*.md")) for found in BLOCK.findall(page(path.name))]


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize(("command", "shown"), CHECKED, ids=[command for command, _ in CHECKED])
def test_what_a_page_says_that_a_command_prints_is_what_it_prints(command, shown, tmp_path, monkeypatch, capsys):
    """Every line of the block, in this order; files that are written go elsewhere."""
    outputs = {"next.csv", "people.csv", "grouped.csv", "judged-again"}
    words = [str(tmp_path / word) if word in outputs else word for word in shlex.split(command)[1:]]
    monkeypatch.chdir(ROOT)
    main(words)
    printed = iter(capsys.readouterr().out.replace(f"{tmp_path}/", "").splitlines())
    lines = [line for line in shown.splitlines() if line]
    assert [line for line in lines if line not in printed] == []


def test_the_table_of_uses_names_every_use_of_the_gates_file():
    uses = tomllib.loads((ROOT / "evals" / "gates.toml").read_text(encoding="utf-8"))["use"]
    rows = re.findall(r"^\| `(\w+)` \| .* \| .* \|$", page("cleared.md"), re.M)
    assert set(rows) == set(uses) - {"merchant_risk"}  # a paper's own


@pytest.mark.parametrize("word", ["merge", "do not merge", "decide", "no decision"])
def test_the_tree_begins_with_every_word_of_a_run(word):
    assert re.search(rf"^\*\*{word}\*\* ", page("run-is-red.md"), re.M)


def test_the_beginnings_of_lines_in_the_tree_are_those_that_runs_print():
    """What is bold and is no name stands so in the module that writes it."""
    folders = ("gates", "metrics", "upgrade")
    modules = [path for folder in folders for path in (ROOT / "recuse" / folder).rglob("*.py")]
    source = "".join(path.read_text(encoding="utf-8") for path in modules)
    for phrase in (
        "often gives no usable answer", "decides differently from", "nobody knows who is right",
        "changed beyond its limit or tolerance", "is not decided any more", "of the baseline gone",
        "only part of the questions was asked", "tests unfinished", "nothing was to be decided",
        "is too close to call", "code that the run executes", "settings of pytest",
    ):  # fmt: skip
        assert phrase in page("run-is-red.md"), phrase
        assert phrase in source, phrase


ASKED = [
    ("We change a prompt. How do we gate that?", "gate-an-upgrade.md", "## A changed prompt"),
    ("How many labels do we need?", "how-many-labels.md", "texts that settle it for a judge as good as your people"),
    ("Our provider is Azure.", "providers.md", "Azure OpenAI by deployment"),
    ("The run is red, what now?", "run-is-red.md", "## By the first words"),
    ("What does cleared mean?", "cleared.md", "every gate that decides about the use passes"),
    ("How do we add it to GitLab?", "pull-request.md", "$CI_MERGE_REQUEST_DIFF_BASE_SHA"),
    ("How do we keep our prompts out of the report?", "hide-texts.md", "recuse_texts = false"),
    ("How do I use it from a notebook?", "notebook.md", "recuse.read("),
    ("Our labels are German.", "files.md", "German (ja, nein, richtig)"),
    ("What may a recording cost, and what stops it?", "recording.md", "budget_usd"),
    ("Our people disagree with each other.", "run-is-red.md", "the labels are the problem"),
    ("Nobody has rated anything. Is it of any use?", "cleared.md", "Nobody's ratings and no true answers?"),
    ("What leaves our machine?", "recording.md", "## What goes out"),
    ("One judge is used for two things.", "cleared.md", 'use = ["grade", "rank"]'),
    ("May it be a required check, with a merge queue?", "pull-request.md", "it may be a required check"),
    ("How long does a run take, and how much memory?", "performance.md", "peak memory"),
]
"""What users asked, the page that answers, and words of the answer."""


@pytest.mark.parametrize(("question", "name", "answer"), ASKED)
def test_what_users_ask_is_answered_by_a_page_that_the_readme_leads_to(question, name, answer):
    assert answer in page(name), question
    assert f"](docs/{name})" in (ROOT / "README.md").read_text(encoding="utf-8")
