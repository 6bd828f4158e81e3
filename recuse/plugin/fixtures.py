"""The fixtures that evals use: `ratings`, `gate`, `measure`, `task`, `elicitation`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from recuse.plugin.marks import question_of
from recuse.plugin.opened_suite import open_suite
from recuse.plugin.outcomes import decided_by
from recuse.run.record_kinds import MEASURE, MEASUREMENT, UPGRADE, VERDICT

if TYPE_CHECKING:
    from recuse.gates import Verdicts
    from recuse.metrics.upgrade import Upgrade
    from recuse.ratings import Ratings
    from recuse.schema import Estimate, Estimates
    from recuse.suite import Elicitation, Suite
    from recuse.tasks import Task

__all__ = ["elicitation", "gate", "may_replace", "measure", "ratings", "recuse_suite", "task", "upgrade"]


@pytest.fixture(scope="session")
def recuse_suite(pytestconfig: pytest.Config) -> Generator[Suite, None, None]:
    """The selected panels with their tasks, cassettes and gates."""
    with open_suite(pytestconfig) as opened:
        yield opened


@pytest.fixture
def elicitation(request: pytest.FixtureRequest) -> Elicitation:
    """What the test is about: one panel, asked one task by one protocol."""
    wanted = 'what asks about judges must be marked, as @pytest.mark.asks("scores")'
    pytest.fail(f"{request.node.nodeid}: {wanted}", pytrace=False)


@pytest.fixture
def task(recuse_suite: Suite, elicitation: Elicitation) -> Task:
    """The task the test is about, with the items that the panel was asked about."""
    return recuse_suite.selection.task_of(elicitation)


@pytest.fixture
def ratings(recuse_suite: Suite, elicitation: Elicitation) -> Ratings:
    """The ratings that the test asks for. `ratings.beside("choices")` are the same judges' by another protocol."""
    return recuse_suite.ratings(elicitation)


@pytest.fixture
def gate(request: pytest.FixtureRequest, recuse_suite: Suite, elicitation: Elicitation) -> Callable[..., Verdicts]:
    """`assert gate(name, estimates)`: a verdict on every judge that was measured, kept for the report."""

    def decide(name: str, measured: Estimate | Estimates, **subject: str) -> Verdicts:
        from recuse.gates import Verdicts
        from recuse.suite.gating import verdicts_of

        place, uses = {**elicitation.place, **subject}, recuse_suite.uses(elicitation.panel)
        decided = verdicts_of(recuse_suite.gates, name, measured, place, uses, recuse_suite.offers(elicitation))
        if decided is None:
            _measure(request, recuse_suite, elicitation, measured, subject)
            return Verdicts(())
        verdicts = decided.only(lambda about: recuse_suite.selection.is_shown(about) and elicitation.is_about(about))
        decided_by(request.node).append(verdicts)
        for verdict in verdicts:
            _keep(request, VERDICT, {**verdict.record(), "of": len(verdicts)})
            _describe(request, verdict.estimate.metric)
        return verdicts

    return decide


@pytest.fixture
def measure(request: pytest.FixtureRequest, recuse_suite: Suite, elicitation: Elicitation) -> Callable[..., None]:
    """`measure(estimates)`: shown in the report, gated by nothing."""

    def keep(measured: Estimate | Estimates, **subject: str) -> None:
        _measure(request, recuse_suite, elicitation, measured, subject)

    return keep


@pytest.fixture
def upgrade(recuse_suite: Suite, elicitation: Elicitation) -> Upgrade:
    """The candidate that the test is about against the judge that it would replace: see `recuse.metrics.upgrade`."""
    return recuse_suite.upgrade(elicitation)


@pytest.fixture
def may_replace(
    request: pytest.FixtureRequest, recuse_suite: Suite, elicitation: Elicitation
) -> Callable[[Upgrade], Verdicts]:
    """`assert may_replace(upgrade)`: one verdict on the candidate from all components, each kept for the report."""

    def decide(upgrade: Upgrade) -> Verdicts:
        from recuse.schema import RecuseError
        from recuse.upgrade.judge_upgrade import judge_upgrade

        place = elicitation.place
        upgrade_verdict = judge_upgrade(
            recuse_suite.gates, upgrade, place, share=recuse_suite.questions.share_of(elicitation)
        )
        if recuse_suite.selection.is_shown({"judge": elicitation.candidate}):
            _keep(request, UPGRADE, {**place, **upgrade_verdict.record()})
        if not len(upgrade_verdict.rows):  # nothing that could pass: not comparable, or nothing measured
            raise RecuseError(upgrade_verdict.sentence)
        decided_by(request.node).append(upgrade_verdict.rows)
        for metric in upgrade_verdict.unmeasured:
            _describe(request, metric)
        for verdict in upgrade_verdict.rows:
            _keep(request, VERDICT, verdict.record())
            _describe(request, verdict.estimate.metric)
        if upgrade_verdict.missing and upgrade_verdict.rows.stays_green:  # what passes does not suffice
            raise RecuseError(upgrade_verdict.sentence)
        return upgrade_verdict.rows

    return decide


def _measure(
    request: pytest.FixtureRequest, suite: Suite, elicitation: Elicitation, measured: Estimate | Estimates,
    subject: Mapping[str, str],
) -> None:  # fmt: skip
    from recuse.schema import members

    for names, estimate in members(measured):
        about = {**elicitation.place, **subject, **names}
        if suite.selection.is_shown(about) and elicitation.is_about(about):
            _keep(request, MEASUREMENT, {"subject": about, "estimate": estimate.record()})
            _describe(request, estimate.metric)


def _keep(request: pytest.FixtureRequest, kind: str, record: dict[str, Any]) -> None:
    node = request.node
    node.user_properties.append((kind, {**record, **question_of(node), "test": node.nodeid}))


def _describe(request: pytest.FixtureRequest, metric: str) -> None:
    """The measure's own description travels with its first number."""
    from recuse.metrics.measure import described

    described_measure = (MEASURE, dict(described(metric).record()))
    if described_measure not in request.node.user_properties:
        request.node.user_properties.append(described_measure)
