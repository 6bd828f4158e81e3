"""Judges with a known share of surface and of substance, asked over loopback HTTP, recorded, replayed, gated: the small
size of what `fixtures.standins.shared_heuristics` simulates as arrays at the size of paper 002."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from examination import ROOT, strict_gates

from fixtures.standins.behaviours.merg import read_settings
from fixtures.standins.shared_heuristics import Study, as_ratings, simulate
from recuse.papers.illusion.cited_evidence import flaw_penalty
from recuse.papers.illusion.judge_panels import wide_spread
from recuse.papers.illusion.resolution import panel_agreement, resolution_gap
from recuse.papers.illusion.rubric_commensurability import delta_k
from recuse.ratings import Ratings
from recuse.schema import Estimates
from recuse.suite import Elicitation, Suite

ELICITATION = Elicitation("heuristic", "writing", "merg")
SETTINGS = "fixtures/standins/scripted/writing/merg.toml"
TARGETS = ("gemma-3-270m", "smollm2-135m", "qwen2.5-coder-0.5b", "polished-flawed", "plain-sound")
FLAWED = {"polished-flawed": "yes", "plain-sound": "no"}
PROMPTS = 24
JUDGES = ("ann", "bob", "cleo")  # with the habits that the settings give them
PANEL = """
name = "heuristic"
description = "Judges that look at a known mixture of surface and substance."
provenance = "scripted"
source = "fixtures.standins.behaviours.merg"

[stand_in]
kind = "scripted"
folder = "fixtures/standins/scripted"

[[task]]
name = "writing"
protocols = ["merg"]
targets = {targets}

[task.items]
merg = "all.jsonl"

[task.factors.merg]
rubric_source = {sources}
"""
JUDGE = """
[[judge]]
name = "{name}"
wire = "openai_chat"
base_url = "http://{name}.heuristic.invalid/v1"
model = "{name}"
behaviour = "fixtures.standins.behaviours.planted.{behaviour}"
"""

Replayed = Callable[..., Ratings]


@pytest.fixture
def replayed(tmp_path: Path) -> Replayed:
    """Record three judges of one behaviour, then read them from the cassettes alone."""

    def make(behaviour: str, sources: tuple[str, ...], targets: tuple[str, ...] = TARGETS) -> Ratings:
        root = tmp_path / behaviour
        _repository(root, behaviour, sources, targets)
        with _suite(root, "missing") as recording:
            recording.ratings(ELICITATION)
        with _suite(root, "none") as replaying:
            ratings = replaying.ratings(ELICITATION)
            assert set(ratings.table["status"]) == {"ok"}
            return ratings

    return make


def _repository(root: Path, behaviour: str, sources: tuple[str, ...], targets: tuple[str, ...]) -> None:
    task, panel, settings = root / "fixtures/tasks/writing", root / "fixtures/panels/heuristic.toml", root / SETTINGS
    for folder in (task, panel.parent, settings.parent):
        folder.mkdir(parents=True)
    settings.write_bytes((ROOT / SETTINGS).read_bytes())
    source = ROOT / "fixtures" / "tasks" / "writing"
    for name in ("task.toml", "prompts"):
        (task / name).symlink_to(source / name)
    lines = map(json.loads, (source / "prompts.jsonl").read_text("utf-8").splitlines())
    texts = [_text(line, target) for line in list(lines)[:PROMPTS] for target in targets]
    (task / "all.jsonl").write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")
    judges = "".join(JUDGE.format(name=name, behaviour=behaviour) for name in JUDGES)
    told = {"targets": json.dumps(targets), "sources": json.dumps(sources)}
    panel.write_text(PANEL.format(**told) + judges, encoding="utf-8")


def _text(prompt: dict[str, object], target: str) -> dict[str, object]:
    fields = {**prompt, "response": f"what {target} wrote"}
    del fields["id"]
    if target in FLAWED:
        fields["flawed"] = FLAWED[target]
    return {"id": prompt["id"], "target": target, "fields": fields}


def _suite(root: Path, record: str) -> Suite:
    return Suite.from_options(
        root=root, panels=["heuristic"], judges=[], record=record, yes=False, models=root,
        gates=ROOT / "evals" / "gates.toml", distributed=False,
    )  # fmt: skip


def outcomes(gate: str, measured: Estimates) -> list[str]:
    asked = {"panel": ELICITATION.panel, "task": ELICITATION.task, "protocol": ELICITATION.protocol}
    return [str(verdict.outcome) for verdict in strict_gates().decide(gate, measured, asked)]


# --------------------------------------------------------------------------- agreement is no evidence of being right


@pytest.mark.slow("simulations")
def test_the_pattern_of_the_paper_comes_back_over_http(replayed: Replayed) -> None:
    """Judges of surface alone: nearly one order of targets, less agreement on texts, least on the score; and as much of
    each as the same judges have when they are drawn as arrays."""
    ratings = replayed("surface", ("checklist",))
    (gap,) = (found for found in resolution_gap(ratings).values() if found.defined)
    model, sample, absolute = (gap.detail[name] for name in ("model", "sample", "absolute"))
    assert model > 0.95 > 0.8 > sample > absolute > 0.55
    found = panel_agreement(ratings).of(rubric_source="checklist")
    drawn = _as_arrays()
    assert found.low < panel_agreement(drawn).of(temperature="0").value < found.high
    means = {(a, b): mean for a, b, mean, _ in next(iter(wide_spread(ratings).values())).detail["pairs"]}
    assert means["ann", "bob"] == pytest.approx(-0.95, abs=0.2), "the leniency that was planted"


def _as_arrays() -> Ratings:
    settings = read_settings(ROOT / SETTINGS)
    known = [settings.targets.get(target, settings.targets["other"]) for target in TARGETS]
    levels = tuple(target["level"] + target["surface"] for target in known)
    study = Study(judges=tuple(settings.judges.values()), tiers={"all": levels}, items=2000, step=0.2)
    return as_ratings(study, simulate(study, np.random.default_rng(5)))


@pytest.mark.slow
def test_judges_of_surface_and_of_substance_agree_alike_and_the_planted_flaw_tells_them_apart(
    replayed: Replayed,
) -> None:
    looks, knows = (replayed(behaviour, ("checklist",)) for behaviour in ("surface", "substance"))
    agreement = [panel_agreement(ratings).of(rubric_source="checklist").value for ratings in (looks, knows)]
    assert agreement[0] == pytest.approx(agreement[1], abs=0.1)
    assert min(agreement) > 0.55
    assert outcomes("flaw_penalty", flaw_penalty(looks)) == ["fail"] * 3
    assert outcomes("flaw_penalty", flaw_penalty(knows)) == ["pass"] * 3


# --------------------------------------------------------------------------- a planted effect of knowledge


@pytest.mark.slow
def test_a_planted_knowledge_effect_is_shown_and_none_is_where_none_was_planted(replayed: Replayed) -> None:
    """The paper audits a panel whose agreement changes by more than 0.15 (sec. 4): the whole interval lies beyond it,
    or inside."""
    sources = ("checklist", "independent", "dimensions", "shared")
    planted, none = (
        [*delta_k(replayed(behaviour, sources, TARGETS[1:3])).values()]  # of like level
        for behaviour in ("shared_illusion", "surface")
    )
    assert len(planted) == len(none) == 3
    assert all(e.high < -0.15 or e.low > 0.15 for e in planted)
    assert all(-0.15 < e.low < e.high < 0.15 for e in none)
