"""The fixtures that evals use. In a suite of ours each has a short name too: `ratings` for `recuse_ratings`."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

import pytest

from recuse.plugin.command_line import open_suite
from recuse.plugin.outcomes import ASKING, RECORDS

if TYPE_CHECKING:
    from recuse.gates import Verdicts
    from recuse.metrics.upgrade import Upgrade
    from recuse.ratings import Ratings
    from recuse.suite import Elicitation, Suite
    from recuse.suite.question_runner import Asking
    from recuse.tasks import Task


@pytest.fixture(scope="session")
def recuse_suite(pytestconfig: pytest.Config) -> Generator[Suite, None, None]:
    """The selected panels with their tasks, cassettes and gates."""
    with open_suite(pytestconfig) as opened:
        yield opened


@pytest.fixture
def recuse_elicitation(request: pytest.FixtureRequest) -> Elicitation:
    """What the test is about: one panel, asked one task by one protocol."""
    wanted = 'what asks about judges must be marked, as @pytest.mark.asks("scores")'
    pytest.fail(f"{request.node.nodeid}: {wanted}", pytrace=False)


@pytest.fixture
def recuse_task(recuse_suite: Suite, recuse_elicitation: Elicitation) -> Task:
    """The task the test is about, with the items that the panel was asked about."""
    return recuse_suite.selection.task_of(recuse_elicitation)


@pytest.fixture
def recuse_ratings(recuse_suite: Suite, recuse_elicitation: Elicitation) -> Ratings:
    """The ratings that the test asks for. `ratings.beside("choices")` are the same judges' by another protocol."""
    return recuse_suite.ratings(recuse_elicitation)


@pytest.fixture
def recuse_asking(request: pytest.FixtureRequest, recuse_suite: Suite, recuse_elicitation: Elicitation) -> Asking:
    """The test as `recuse.suite.question_runner` asks it; its records travel with the test's report."""
    from recuse.suite.question_runner import Asking, words_of

    node, shown, about = request.node, recuse_suite.selection.is_shown, recuse_elicitation.is_about
    asking = Asking(
        node.nodeid, words_of(node.path, node.module), recuse_suite.respondents(recuse_elicitation),
        recuse_suite.gates, wanted=lambda subject: shown(subject) and about(subject),
    )  # fmt: skip
    node.stash[ASKING] = asking
    node.user_properties.append((RECORDS, vars(asking.records)))
    return asking


@pytest.fixture
def recuse_gate(recuse_asking: Asking) -> Callable[..., Verdicts]:
    """`assert gate(name, estimates)`: a verdict on every judge that was measured, kept for the report."""
    return recuse_asking.gate


@pytest.fixture
def recuse_measure(recuse_asking: Asking) -> Callable[..., None]:
    """`measure(estimates)`: shown in the report, gated by nothing."""
    return recuse_asking.measure


@pytest.fixture
def recuse_upgrade(recuse_suite: Suite, recuse_elicitation: Elicitation) -> Upgrade:
    """The candidate that the test is about against the judge that it would replace: see `recuse.metrics.upgrade`."""
    return recuse_suite.upgrade(recuse_elicitation)


@pytest.fixture
def recuse_may_replace(
    recuse_asking: Asking, recuse_suite: Suite, recuse_elicitation: Elicitation
) -> Callable[[Upgrade], Verdicts]:
    """`assert may_replace(upgrade)`: one verdict on the candidate from all components, each kept for the report."""

    def decide(upgrade: Upgrade) -> Verdicts:
        from recuse.schema import RecuseError
        from recuse.upgrade.judge_upgrade import judge_upgrade

        share = recuse_suite.questions.share_of(recuse_elicitation)
        verdict = judge_upgrade(recuse_suite.gates, upgrade, recuse_elicitation.place, share=share)
        rows = recuse_asking.upgrade(verdict)
        if not len(rows) or (verdict.missing and rows.stays_green):  # what passes does not suffice
            raise RecuseError(verdict.sentence)
        return rows

    return decide
