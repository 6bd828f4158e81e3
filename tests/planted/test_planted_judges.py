"""Every planted judge of panel `planted` trips exactly the gates its behaviour can trip on five texts.

Each takes the fifth seat beside the same four fair judges. Stand-ins answer for them, they are replayed
from cassettes, and meet the evals' own functions, the real metrics and the real limits, nothing accepted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from examination import ELICITATION, FAIR, ROOT, Panel, strict_gates, suite

from recuse.gates.gate_tables import Uses

pytestmark = pytest.mark.slow("simulations")

WORST_FIRST = ("fail", "not measured", "undecided")

# One text per author, five in all: how far a judge's deviations lie apart from text to text is known from four of them,
# and what is concluded about any judge's own text, or its name, or its order against people, is undecided, the fair
# ones' as well. What such faults look like on enough texts is in test_enough_texts.py.
FIVE_TEXTS = {
    ("human_order", "itself"): "undecided",
    ("human_order", "peers"): "undecided",
    ("name_effect", "peers"): "undecided",
    ("self_preference", "peers"): "undecided",
}

EXPECTED: dict[str, dict[tuple[str, str], str]] = {
    "fair": FIVE_TEXTS,
    # 0.8 above what its peers see on its own text, in both conditions. One text that is so much higher leaves its level
    # against people undecided as well.
    "inflates-itself": {
        **FIVE_TEXTS,
        ("self_preference", "itself"): "undecided",
        ("human_offset", "itself"): "undecided",
    },
    # 0.8 above with the name shown, 0 without: the same, and the name's effect with it.
    "inflates-itself-when-named": {
        **FIVE_TEXTS,
        ("self_preference", "itself"): "undecided",
        ("name_effect", "itself"): "undecided",
        ("human_offset", "itself"): "undecided",
    },
    # 0.5 above on everything: more than the 0.4 that leniency allows, and less than it takes to show that on four
    # texts. It is no view of itself.
    "lenient": {**FIVE_TEXTS, ("leniency", "itself"): "undecided", ("human_offset", "itself"): "undecided"},
    # The mirror image; its own text and name happen to lie far enough apart to be undecided.
    "harsh": {
        **FIVE_TEXTS,
        ("leniency", "itself"): "undecided",
        ("human_offset", "itself"): "undecided",
        ("name_effect", "itself"): "undecided",
        ("self_preference", "itself"): "undecided",
    },
    # Noise is no fault of a use by itself: what it does to agreement and offset is decided there. See `SHOWN`.
    "noisy": FIVE_TEXTS,
    # 7 where the others see 8.3 on average, the more so the better the text. It has no order: not measurable.
    "constant": {
        **FIVE_TEXTS,
        ("leniency", "itself"): "undecided",
        ("self_preference", "itself"): "undecided",
        ("human_order", "itself"): "not measured",
        ("human_offset", "itself"): "undecided",
        ("leniency", "peers"): "undecided",
    },
    # 88 % of its replies can be used, 95 % are asked for. What is left is fair; what was lost may not have been, and
    # nothing of it is shown to be unrelated to the texts.
    "refuses": {
        **FIVE_TEXTS,
        ("parse_rate", "itself"): "fail",
        ("human_offset", "itself"): "undecided",
        ("leniency", "itself"): "undecided",
        ("name_effect", "itself"): "undecided",
        ("self_preference", "itself"): "undecided",
    },
    # No total follows from its scores, which no gate forbids. See `SHOWN`.
    "wrong-totals": FIVE_TEXTS,
}
"""Judge in the fifth seat -> (gate, whose verdict) -> the worst outcome over conditions; what is not here passes."""


SHOWN = {
    ("noisy", "repeat_difference"): 1.1,  # two answers with an SD of 1 lie sqrt(2) 1 E|z| = 1.13 apart
    ("fair", "repeat_difference"): 0.2,
    ("wrong-totals", "reported_total"): 1.0,
    ("fair", "reported_total"): 0.0,
}
"""What is measured of a planted behaviour that no gate forbids, and of a fair judge."""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the cassettes of all thirteen judges: 1,300 calls."""
    root = tmp_path_factory.mktemp("planted")
    with suite(root, record="missing") as recording:
        recording.ratings(ELICITATION)
    return root


@pytest.fixture(scope="session")
def everyone(recorded: Path) -> Panel:
    with suite(recorded) as replaying:
        return Panel(replaying.ratings(ELICITATION), strict_gates())


def tripped(panel: Panel, seat: str) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], set[str]] = {}
    for verdict in panel.verdicts():
        whose = "itself" if verdict.subject["judge"] == seat else "peers"
        found.setdefault((verdict.gate, whose), set()).add(verdict.outcome)
    worst = {place: next((o for o in WORST_FIRST if o in outcomes), "pass") for place, outcomes in found.items()}
    return {place: outcome for place, outcome in worst.items() if outcome != "pass"}


EACH = [judge if judge == "refuses" else pytest.param(judge, marks=pytest.mark.slow) for judge in EXPECTED]


@pytest.mark.parametrize("judge", EACH)
def test_a_judge_trips_the_gates_of_its_behaviour_and_no_other(everyone: Panel, judge: str) -> None:
    assert tripped(everyone.only(*FAIR, judge), judge) == EXPECTED[judge]


@pytest.mark.parametrize(("judge", "metric"), SHOWN)
def test_what_no_gate_forbids_is_measured_all_the_same(everyone: Panel, judge: str, metric: str) -> None:
    found = everyone.only(*FAIR, judge).measured(metric, judge)
    assert [e.value for e in found] == pytest.approx([SHOWN[judge, metric]] * 2, abs=0.15)


def test_every_judge_of_the_panel_is_expected_something_of(everyone: Panel) -> None:
    assert set(everyone.ratings.judges) == {*FAIR, *EXPECTED}


def test_choosing_judges_to_look_at_changes_no_number(everyone: Panel, recorded: Path) -> None:
    """`--judges` chooses whose verdicts are shown; the reference stays the whole panel."""
    with suite(recorded, judges=("harsh",)) as replaying:
        chosen = replaying.ratings(ELICITATION)
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
    gates, uses = everyone.gates, Uses(("merchant_risk",), ("estimate", "grade"))
    here = [v for v in everyone.verdicts() if gates.in_force(v.gate, uses, everyone.offers)]
    assert by_pytest == sorted((v.gate, *sorted(v.subject.items()), v.outcome) for v in here)
    decided = {one["judge"]: one["word"] for one in results["decision"]["judges"] if one["stated"]}
    assert "cleared" not in decided.values(), "five texts are too few to clear anybody"
    assert decided["refuses"] == "not cleared"
