"""The suite behind the fixtures: one table per panel, task and protocol, the same whichever way it is replayed."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from recuse import elicit
from recuse.cassettes.network import NetworkBlockedError
from recuse.schema import Estimate, Estimates, RecuseError, Verdict
from recuse.suite import Suite, builtins

MakeSuite = Callable[..., Suite]
ASKED = ("mini", "essays", "rubric")


def test_replay_through_the_http_client_and_straight_from_the_cassettes_agree(suite_of: MakeSuite) -> None:
    with suite_of() as suite:
        through_http = suite.ratings(*ASKED)
        plan = suite.plan(*ASKED)
        library = suite._library("mini")
        straight = elicit.ratings(plan, [(call, library.response(call)) for call in plan.calls])
    pd.testing.assert_frame_equal(through_http, straight)
    assert len(straight) == 3 * 2 * 2 * 4 * 3
    assert set(straight["status"]) == {"ok"}


def test_a_table_is_elicited_once_and_each_test_has_its_own(
    suite_of: MakeSuite, monkeypatch: pytest.MonkeyPatch
) -> None:
    with suite_of() as suite:
        first = suite.ratings(*ASKED)
        monkeypatch.setattr(Suite, "_elicit", lambda *_: pytest.fail("elicited twice"))
        first["spoiled"] = 1
        first.loc[:, "score"] = 0.0
        second = suite.ratings(*ASKED)
    assert "spoiled" not in second
    assert second["score"].max() > 8


def test_a_failure_is_kept_and_told_again(suite_of: MakeSuite, recorded, tmp_path) -> None:
    import shutil

    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "cassettes")
    with suite_of(tmp_path) as suite:
        with pytest.raises(RecuseError) as first:
            suite.ratings(*ASKED)
        with pytest.raises(RecuseError) as second:
            suite.ratings(*ASKED)
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
        suite.ratings(*ASKED)
        [(name, part)] = suite.replayed().items()
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
        suite.ratings(*asked)


def test_recording_in_several_processes_is_refused(suite_of: MakeSuite) -> None:
    with pytest.raises(RecuseError, match="recording runs in one process"):
        suite_of(record="missing", distributed=True)


# --------------------------------------------------------------------------- records: what travels between processes


def estimate(value: float = 0.5, **more: object) -> Estimate:
    return Estimate(metric="m", value=value, n=4, method="by hand", **more)  # type: ignore[arg-type]


def test_a_verdict_travels_in_builtins_with_nothing_for_nan(suite_of: MakeSuite) -> None:
    measured = estimate(np.float64(0.5), detail={"matrix": [np.float64("nan"), np.int64(3)]})
    verdict = Verdict(
        gate="self_bias", subject={"judge": "ann"}, outcome="fail", estimate=measured, rule="r",
        limit={"within": (np.float64(-1), math.inf)}, reason="because",
    )  # fmt: skip
    with suite_of() as suite:
        record = suite.verdict_record(verdict)
    assert record["estimate"]["value"] == 0.5
    assert type(record["estimate"]["value"]) is float
    assert record["estimate"]["low"] is None
    assert record["estimate"]["detail"] == {"matrix": [None, 3]}
    assert record["limit"] == {"within": [-1.0, None]}
    assert "distribution" not in record["estimate"]


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


def test_a_family_is_measured_member_by_member_for_the_subject_at_hand(suite_of: MakeSuite) -> None:
    family = Estimates(
        ("judge", "condition"),
        {(judge, condition): estimate() for judge in ("ann", "bob") for condition in ("attributed", "anonymized")},
    )
    with suite_of() as suite:
        records = list(suite.measurement_records(family, {"task": "essays", "condition": "attributed"}))
    assert [record["subject"] for record in records] == [
        {"task": "essays", "condition": "attributed", "judge": "ann"},
        {"task": "essays", "condition": "attributed", "judge": "bob"},
    ]
