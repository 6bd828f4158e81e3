"""The recordings of `toxicity` hold what panel local asks: ten draws for every comment, all of them answers."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from fixtures.makers.recorded import stored_files
from recuse.cassettes.cell_file import contents
from recuse.cassettes.library import Library
from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import headers, make_plan
from recuse.elicitation.replies import panel_ratings, read_replies
from recuse.panels import load_panel
from recuse.papers.indeterminacy.rated_options import answers_among_options, rated_options
from recuse.papers.indeterminacy.response_sets import indeterminate_share
from recuse.ratings import Ratings
from recuse.tasks import load_task

ROOT = Path(__file__).resolve().parents[2]
TASK = load_task(ROOT / "fixtures" / "tasks" / "toxicity")
PANEL = load_panel(ROOT / "fixtures" / "panels" / "local.toml")
PROTOCOLS = ("forced_choice", "response_set")
BUDGET = 5_000_000  # bytes: ten answers a comment would be twice that if each had a request of its own

Replay = Callable[[str], Ratings]


@pytest.fixture(scope="module")
def replay() -> Replay:
    """Ratings by a protocol, straight from the cassettes, with the people beside the judges."""
    done: dict[str, Ratings] = {}

    def ratings(name: str) -> Ratings:
        if name not in done:
            plan = make_plan("local", TASK, name, PANEL.judges_of("toxicity"), identify=request_key)
            library = Library(ROOT / "cassettes", "local")
            coverage = library.expect(plan.calls, headers(PANEL, plan))
            assert coverage.complete, coverage.text()
            done[name] = panel_ratings(plan, read_replies(plan, library.replay(plan.calls)).table, authors={})
        return done[name]

    return ratings


@pytest.mark.parametrize("name", PROTOCOLS)
def test_four_judges_answered_every_comment_ten_times(replay: Replay, name: str):
    answers = answers_among_options(replay(name))
    assert answers.judges == tuple(PANEL.judges)
    assert len(answers.items) == len(TASK.items)
    assert (np.isfinite(answers.judged).sum(axis=2) + answers.lost == 10).all()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_twelve_simulated_people_answered_beside_them(replay: Replay, name: str):
    assert all(person.startswith("simulated-") for person in replay(name).persons)
    assert (np.isfinite(answers_among_options(replay(name)).rated).sum(axis=(0, 2)) == 12).all()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_grammar_leaves_no_answer_unread(replay: Replay, name: str):
    table = replay(name).table
    assert set(table["status"]) == {"ok"}


def test_ten_draws_differ(replay: Replay):
    """At temperature 1 and without a seed: some judge answers one comment in two ways."""
    assert (answers_among_options(replay("forced_choice")).judge_shares > 0).all(axis=2).any()


def test_the_parameters_of_the_people_are_found_again(replay: Replay):
    """As rating_model.toml says: who holds both options reasonable names "toxic" in a quarter of the cases; and theta*
    of every comment, here as the share of raters that endorse "toxic", errors included."""
    model = tomllib.loads((TASK.folder / "rating_model.toml").read_text("utf-8"))
    sets = replay("response_set")
    both = replace(replay("forced_choice"), beside=lambda kind: sets if kind == "response_sets" else None, _memory={})
    detail = indeterminate_share(both).of(rater="people").detail
    assert detail["choice_low"][0][2] < model["toxic_when_both"] < detail["choice_high"][0][2]
    theta = pd.read_csv(TASK.folder / "rating_model.csv")
    error = model["error"]
    endorsed = (1 - error) * (1 - theta["not toxic"]) + error * (1 + theta["not toxic"]) / 2
    rated = rated_options(both)
    assert rated.options[rated.positive] == "toxic"
    named = 12 * rated.people_endorsed[:, rated.positive]
    unlikely = [binomtest(round(k), 12, p).pvalue for k, p in zip(named, endorsed, strict=True)]
    assert min(unlikely) > 0.05 / len(unlikely) / 10
    assert abs(named.sum() - 12 * endorsed.sum()) < 3 * np.sqrt(12 * (endorsed * (1 - endorsed)).sum())


def test_choices_show_less_toxicity_than_sets_do(replay: Replay):
    sets = replay("response_set")
    both = replace(replay("forced_choice"), beside=lambda kind: sets if kind == "response_sets" else None, _memory={})
    by_choice, by_set = (side[:, 0] for side in (rated_options(both).people_counts, rated_options(both).people_sets))
    assert (by_choice >= 6).mean() < 0.6 * (by_set >= 6).mean()


def test_a_request_is_stored_once_and_all_of_it_is_small():
    files = stored_files(ROOT / "cassettes" / "local" / "toxicity").values()
    assert len(files) == len(PROTOCOLS) * len(PANEL.judges)
    assert sum(path.stat().st_size for path in files) < BUDGET
    for path in files:
        assert contents(path)[0].count(b'"kind":"request"') == len(TASK.items), path.name
