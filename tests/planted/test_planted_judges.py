"""Every planted judge of panel `planted` trips exactly the gates its behaviour should trip, and the fair one none.

Each takes the fifth seat beside the same four fair judges. They answer through the real stand-in server, are replayed
from cassettes, and meet the evals' own functions, the real metrics and the real limits, nothing accepted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from examination import ASKED, FAIR, ROOT, Panel, strict_gates, suite

WORST_FIRST = ("fail", "not measured", "undecided")

EXPECTED: dict[str, dict[tuple[str, str], str]] = {
    "fair": {},
    # 0.8 above what its peers see, in both conditions: beyond the limit of 0.5. Leniency leaves the own text out, and
    # hiding the name changes nothing.
    "inflates-itself": {("self_bias", "itself"): "fail"},
    # 0.8 above with the name shown, 0 without: too much once, and the difference is the name's.
    "inflates-itself-when-named": {("self_bias", "itself"): "fail", ("name_effect", "itself"): "fail"},
    # 0.5 above on everything is more than the 0.4 that leniency allows; of the two conditions one is clear, the other
    # undecided with ten runs at this noise. On the own text the same 0.5 sits exactly on self_bias's limit, which no
    # number of runs would settle: undecided, and not a pass. Half a point is inside human_offset's 0.6.
    # A peer's consensus is 0.125 higher with the lenient judge in it, which leaves fair-3 undecided once.
    "lenient": {
        ("leniency", "itself"): "fail",
        ("self_bias", "itself"): "undecided",
        ("self_bias", "peers"): "undecided",
    },
    # The mirror image; no peer happens to be undecided.
    "harsh": {("leniency", "itself"): "fail", ("self_bias", "itself"): "undecided"},
    # An SD of 1 is twice the limit of run_sd. With it ten runs of one text are too few to place its own work, or the
    # effect of its name, within half a point, and five texts too few to tell signal from noise; through the consensus
    # its noise reaches the peers' name effects. Over forty runs on four texts the mean is known well enough for
    # leniency and for human_offset: its readings are right on average.
    "noisy": {
        ("run_sd", "itself"): "fail",
        ("self_bias", "itself"): "undecided",
        ("name_effect", "itself"): "undecided",
        ("name_effect", "peers"): "undecided",
        ("repeat_reliability", "itself"): "undecided",
    },
    # 7 where the others see 8.3 on average: too strict (leniency), on its own text too (self_bias). It has no order
    # and no reliability: not measurable. Nothing varies, so no interval can vouch for its SD of 0 or for how far it is
    # from people; neither may pass. Its peers' consensus is a third of a point too low, which is as far as leniency
    # reaches and most of self_bias: some of them are undecided.
    "constant": {
        ("leniency", "itself"): "fail",
        ("self_bias", "itself"): "fail",
        ("human_order", "itself"): "not measured",
        ("repeat_reliability", "itself"): "not measured",
        ("run_sd", "itself"): "undecided",
        ("human_offset", "itself"): "undecided",
        ("leniency", "peers"): "undecided",
        ("self_bias", "peers"): "undecided",
    },
    # 88 % of its replies can be used, 95 % are asked for. What is left is fair.
    "refuses": {("parse_rate", "itself"): "fail"},
    # No total follows from its scores. They are 0.3 off in turn, so on average right; but with them the totals have an
    # SD of 0.4, near run_sd's limit of 0.5, and too wide for ten runs to place its own work and name effect.
    "wrong-totals": {
        ("reported_total", "itself"): "fail",
        ("run_sd", "itself"): "undecided",
        ("self_bias", "itself"): "undecided",
        ("name_effect", "itself"): "undecided",
    },
}
"""Judge in the fifth seat -> (gate, whose verdict) -> the worst outcome over conditions; what is not here passes."""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the cassettes of all thirteen judges: 1,300 calls."""
    root = tmp_path_factory.mktemp("planted")
    with suite(root, record="missing") as recording:
        recording.ratings(ASKED)
    return root


@pytest.fixture(scope="session")
def everyone(recorded: Path) -> Panel:
    with suite(recorded) as replaying:
        return Panel(replaying.ratings(ASKED), strict_gates())


def tripped(panel: Panel, seat: str) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], set[str]] = {}
    for verdict in panel.verdicts():
        whose = "itself" if verdict.subject["judge"] == seat else "peers"
        found.setdefault((verdict.gate, whose), set()).add(verdict.outcome)
    worst = {place: next((o for o in WORST_FIRST if o in outcomes), "pass") for place, outcomes in found.items()}
    return {place: outcome for place, outcome in worst.items() if outcome != "pass"}


@pytest.mark.parametrize("judge", EXPECTED)
def test_a_judge_trips_the_gates_of_its_behaviour_and_no_other(everyone: Panel, judge: str) -> None:
    assert tripped(everyone.only(*FAIR, judge), judge) == EXPECTED[judge]


def test_every_judge_of_the_panel_is_expected_something_of(everyone: Panel) -> None:
    assert set(everyone.ratings.judges) == {*FAIR, *EXPECTED}


def test_a_panel_that_is_wrong_as_a_whole_fails_people_and_not_each_other(everyone: Panel) -> None:
    """No planted judge is that far from people: here all five are, by the same 0.9, and agree. Some of their scores
    would leave the scale, which is made that much longer."""
    fair = everyone.only(*FAIR, "fair")
    longer = {name: replace(scale, maximum=11.0) for name, scale in fair.ratings.scales.items()}
    ratings = replace(fair.ratings, scales=longer)
    higher = replace(fair, ratings=ratings).with_table(ratings.table.assign(score=ratings.table["score"] + 0.9))
    assert tripped(higher, "fair") == {
        ("human_offset", "itself"): "fail",
        ("human_offset", "peers"): "fail",
    }


def test_a_judge_that_turns_the_order_round_fails_human_order(everyone: Panel) -> None:
    """As far below the mean as it was above: its level stays, its order is upside down."""
    fair = everyone.only(*FAIR, "fair")
    table = fair.ratings.table
    score, its_own = table["score"], table["rater"] == "fair"
    turned = table.assign(score=score.where(~its_own, (2 * score[its_own].mean() - score).clip(0.0, 10.0)))
    found = tripped(fair.with_table(turned), "fair")
    assert found["human_order", "itself"] == "fail"
    assert ("human_order", "peers") not in found


def test_choosing_judges_to_look_at_changes_no_number(everyone: Panel, recorded: Path) -> None:
    """`--judges` chooses whose verdicts are shown; the reference stays the whole panel."""
    with suite(recorded, judges=("harsh",)) as replaying:
        chosen = replaying.ratings(ASKED)
    pd.testing.assert_frame_equal(chosen.table, everyone.ratings.table)


def test_pytest_itself_comes_to_the_same_verdicts(everyone: Panel, recorded: Path) -> None:
    shutil.copytree(ROOT / "evals", recorded / "evals", dirs_exist_ok=True)
    shutil.copy(ROOT / "conftest.py", recorded)
    (recorded / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\n')
    command = [sys.executable, "-m", "pytest", "evals", "-q", "-p", "no:cacheprovider", "--panel", "planted"]
    done = subprocess.run(command, cwd=recorded, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    results = json.loads((recorded / "reports" / "results.json").read_text(encoding="utf-8"))
    by_pytest = sorted((v["gate"], *sorted(v["subject"].items()), v["outcome"]) for v in results["verdicts"])
    here = everyone.verdicts()
    assert by_pytest == sorted((v.gate, *sorted(v.subject.items()), v.outcome) for v in here)
