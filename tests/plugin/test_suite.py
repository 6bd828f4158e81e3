"""The suite behind the fixtures: one table per panel, task and protocol, the same whichever way it is replayed."""

from __future__ import annotations

import math
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from recuse.metrics import consensus
from recuse.schema import Estimate, RecuseError, builtins
from recuse.security.network import NetworkBlockedError
from recuse.statistics.distributions import Student
from recuse.suite import Elicitation, Recordings, Suite

MakeSuite = Callable[..., Suite]
ELICITATION = Elicitation("mini", "essays", "rubric")


def test_the_ratings_know_scale_authors_and_factors(suite_of: MakeSuite) -> None:
    with suite_of() as suite:
        ratings = suite.ratings(ELICITATION)
    assert len(ratings.table) == 3 * 2 * 2 * 4 * 3
    assert set(ratings.table["status"]) == {"ok"}
    assert ratings.own() == {"ann": "alpha", "bob": "beta"}
    assert (ratings.factors, ratings.levels("names")) == (("names",), ("shown", "hidden"))
    assert (ratings.criterion, ratings.parts, ratings.scale.ends) == ("total", ("clarity", "depth"), (0.0, 10.0))


def test_ratings_are_made_once(suite_of: MakeSuite, monkeypatch: pytest.MonkeyPatch) -> None:
    with suite_of() as suite:
        first = suite.ratings(ELICITATION)
        monkeypatch.setattr(Recordings, "read", lambda *_: pytest.fail("read twice"))
        assert suite.ratings(ELICITATION) is first


def test_choosing_judges_changes_whom_verdicts_are_on_and_no_number(suite_of: MakeSuite) -> None:
    with suite_of() as whole, suite_of(judges=["ann"]) as chosen:
        everyone, same = (consensus.self_bias(suite.ratings(ELICITATION)) for suite in (whole, chosen))
        assert {key: (e.value, e.low) for key, e in everyone.items()} == {k: (e.value, e.low) for k, e in same.items()}
        assert [chosen.selection.is_shown({"judge": name}) for name in ("ann", "bob")] == [True, False]


def test_a_failure_is_kept_and_told_again(suite_of: MakeSuite, recorded, tmp_path) -> None:
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "cassettes")
    with suite_of(tmp_path) as suite:
        with pytest.raises(RecuseError) as first:
            suite.ratings(ELICITATION)
        with pytest.raises(RecuseError) as second:
            suite.ratings(ELICITATION)
    assert first.value is second.value


def connect_outside() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unguarded:
        unguarded.settimeout(0.01)
        unguarded.connect_ex(("203.0.113.1", 9))  # a documentation address; UDP connects without sending


def test_while_replaying_nothing_outside_is_reached_and_afterwards_it_is_again(suite_of: MakeSuite) -> None:
    try:
        connect_outside()
    except NetworkBlockedError:
        pytest.skip("evals/ run in this very session and hold the block until its end")
    with suite_of(), pytest.raises(NetworkBlockedError, match="recorded runs never use the network"):
        socket.getaddrinfo("example.com", 443)
    connect_outside()


def test_what_is_replayed_is_accounted_for(suite_of: MakeSuite) -> None:
    with suite_of() as suite:
        suite.ratings(ELICITATION)
        [(name, part)] = suite.records.replayed.items()
    assert name == "mini/essays/rubric"
    assert (part["files"], part["used"], part["unused"]) == (12, 48, 0)
    assert [row["judge"] for row in part["usage"]] == ["ann", "bob", "eve"]
    assert part["usage"][0]["calls"] == 16


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            ("mini", "essays", "generation"),
            r"mini\.toml: panel mini does not elicit essays by generation; it has rubric",
        ),
        (("mini", "poems", "rubric"), r"mini\.toml: panel mini has no task 'poems'; it has essays"),
    ],
)
def test_asking_for_what_a_panel_does_not_have(suite_of: MakeSuite, asked: tuple[str, str, str], said: str) -> None:
    with suite_of() as suite, pytest.raises(RecuseError, match=said):
        suite.ratings(Elicitation(*asked))


def test_recording_in_several_processes_is_refused_where_something_is_missing(
    suite_of: MakeSuite, recorded: Path, tmp_path: Path
) -> None:
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    with suite_of(tmp_path, record="missing", distributed=True) as suite:
        assert len(suite.ratings(ELICITATION).table)
    shutil.rmtree(tmp_path / "cassettes")
    with (
        suite_of(tmp_path, record="missing", distributed=True) as suite,
        pytest.raises(RecuseError, match=r"recording runs in one process .* leave out -n for the 48 calls"),
    ):
        suite.ratings(ELICITATION)


def test_what_a_panel_offers_is_known_before_anything_is_asked(suite_of: MakeSuite) -> None:
    with suite_of() as suite:
        found, lacking = suite.selection.offering(("scores", "authors", "names", "repeats"))
        assert (found, lacking) == ([ELICITATION], [])
        found, lacking = suite.selection.offering(("scores", "people", "items"))
        assert (found, [row["missing"] for row in lacking]) == ([], [["people", "items"]])
        assert "task.toml" in lacking[0]["unlock"][0]
        found, lacking = suite.selection.offering(("choices",))
        assert (found, [(row["protocol"], row["missing"]) for row in lacking]) == ([], [("", ["choices"])])


# --------------------------------------------------------------------------- builtins: what travels between processes


def test_an_estimate_travels_in_builtins_with_nothing_for_nan() -> None:
    measured = Estimate(
        metric="m", value=np.float64(0.5), n=4, method="by hand",
        detail={"matrix": [np.float64("nan"), np.int64(3)]}, distribution=Student(0.5, 0.1, 3),
    )  # fmt: skip
    record = measured.record()
    assert (record["value"], type(record["value"]), record["low"]) == (0.5, float, None)
    assert record["detail"] == {"matrix": [None, 3]}
    assert "distribution" not in record


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(3), 3), (np.float32(0.5), 0.5), (np.bool_(True), True), (math.nan, None), (-math.inf, None),
        ((1, np.nan), [1, None]), ({1: {"a": np.float64(2)}}, {"1": {"a": 2.0}}), ("x", "x"), (None, None),
    ],
)  # fmt: skip
def test_builtins_only(value: object, plain: object) -> None:
    found = builtins(value)
    assert found == plain
    assert type(found) is type(plain)
