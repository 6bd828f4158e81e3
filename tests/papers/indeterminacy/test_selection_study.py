"""Which judge each measure chooses: the numbers do not depend on how the work is shared, and the best is chosen."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.papers.indeterminacy import selection_study as studies
from recuse.papers.indeterminacy.definitions import TAUS, RatingVectors
from recuse.papers.indeterminacy.rating_task import Design, draw_population
from recuse.papers.indeterminacy.selection_study import (
    BUDGETS,
    SETTINGS,
    SIZES,
    downstream,
    populations,
    selection_study,
)

SMALL = {"budgets": (1, 3), "sizes": ((2, 3), (3, 7))}


@pytest.mark.slow("simulations")
def test_the_same_seed_gives_the_same_numbers_however_work_is_shared():
    one, two = (selection_study(6, workers=workers, seed=3, **SMALL) for workers in (1, 2))
    np.testing.assert_array_equal(one.consistency, two.consistency)
    np.testing.assert_array_equal(one.correlation, two.correlation)
    alone = selection_study(6, settings={"x": SETTINGS["symmetric selection"]}, seed=3, **SMALL)
    np.testing.assert_array_equal(alone.consistency[0], one.consistency[one.settings.index("symmetric selection")])
    other = selection_study(6, settings={"x": SETTINGS["symmetric selection"]}, seed=4, **SMALL)
    assert not np.array_equal(other.consistency, alone.consistency)


def test_progress_is_told():
    told = []
    selection_study(6, settings={"x": Design()}, progress=lambda *each: told.append(each), **SMALL)
    assert told == [("x", 5, 6), ("x", 6, 6)]


def all_judges(design: Design, trials: int, sizes):
    """Consistency and |bias|, (taus, J), of every judge of the populations that a study draws."""
    return [downstream(population) for population, _ in populations(design, range(trials), sizes, 1, "selection")]


@pytest.mark.slow("simulations")
def test_no_chosen_judge_is_better_than_the_best_and_all_lie_below_1():
    found = selection_study(4, **SMALL)
    for s, design in enumerate(SETTINGS.values()):
        for t, (c, b) in enumerate(all_judges(design, 4, SMALL["sizes"])):
            assert (found.consistency[s, t] <= c.max(axis=1).mean() + 1e-12).all()
            assert (found.abs_bias[s, t] >= b.min(axis=1).mean() - 1e-12).all()
    assert (found.consistency + found.abs_bias <= 1 + 1e-12).all()


def test_a_judge_with_peoples_response_sets_is_the_best_one():
    population = draw_population(Design(judges=5), np.random.default_rng(0))
    population.judged[2] = population.stable
    consistency, bias = downstream(population)
    np.testing.assert_array_equal(consistency[:, 2], 1.0)
    np.testing.assert_array_equal(bias[:, 2], 0.0)


def test_judges_are_scored_against_what_people_endorse_without_their_errors():
    """Omega*: people who err in four of ten ratings, always towards the option, are no yardstick. The judge that errs
    as they do is the worse one."""
    population = draw_population(Design(judges=2, error=0.4, skew=3.0), np.random.default_rng(0))
    population.judged[0] = population.stable
    population.judged[1] = population.observed
    consistency, bias = downstream(population)
    np.testing.assert_array_equal(consistency[:, 0], 1.0)
    np.testing.assert_array_equal(bias[:, 0], 0.0)
    assert (consistency[:, 1] < 1).all()


def test_a_measure_that_sees_everything_chooses_the_best_judge_and_none_chooses_the_worst():
    """Error-free response sets of a hundred raters against sets: the chosen judge is next to the best one of 50, and by
    every measure far nearer to it than to a judge drawn at random."""
    found = selection_study(4, settings={"x": SETTINGS["symmetric selection"]}, budgets=(100,), sizes=((3, 7),))
    every = [c for c, _ in all_judges(SETTINGS["symmetric selection"], 4, ((3, 7),))]
    best, average = np.max(every, axis=2).mean(), np.mean(every)
    assert best - found.chosen("x", "mse(srs/srs)", 100) < 0.03
    for name in ("hit_rate(h/h)", "js_divergence(s/s)", "kl_people_judge(s/s)", "mse(srs/srs)"):
        assert best - found.chosen("x", name, 100) < (best - average) / 2, name
        assert found.rho("x", name) > 0.5, name


def test_each_threshold_has_the_response_sets_cut_there():
    """A definition with a hard response set is taken at every tau; the others are the same at all of them."""
    rng = np.random.default_rng(4)
    population = draw_population(Design(judges=7, items=30, error=0.2, people_strength=1.5), rng)
    people, judges = population.sampled_people((1, 10), rng), population.sampled_judges(4, rng)
    gains = studies.gains_of(judges, people)
    assert gains.shape == (3, len(studies.CHOOSING), 2, 7)
    for each, by_tau in zip(studies.CHOOSING, np.moveaxis(gains, 1, 0), strict=True):
        for k, tau in enumerate(TAUS):
            for b in range(2):
                one = RatingVectors(people.choices[b], people.endorsed[b], tau)
                value = each.gain(each.value(RatingVectors(judges.choices, judges.endorsed, tau), one))
                np.testing.assert_allclose(by_tau[k, b], value, atol=1e-12, err_msg=each.name)


def test_the_settings_are_the_papers():
    """Footnote 5: additive error is Gamma = 2 with eta = 1; random error has eta = 0; both epsilon = .3; tau .3, .5,
    .7."""
    assert [(d.people_strength, d.error, d.skew) for d in SETTINGS.values()] == [
        (1.0, 0.0, 0.0), (2.0, 0.0, 0.0), (2.0, 0.0, 0.0), (2.0, 0.3, 0.0), (2.0, 0.3, 1.0),
    ]  # fmt: skip
    prefer = [(np.sign(d.people_strength - 1), np.sign(d.judge_strength - 1)) for d in SETTINGS.values()]
    assert [people == judges for people, judges in prefer] == [True, True, False, False, False]  # symmetric selection
    assert {(d.judges, d.items, d.spread) for d in SETTINGS.values()} == {(50, 100, (0.02, 0.4))}
    assert TAUS == (0.3, 0.5, 0.7)
    assert BUDGETS == (1, 3, 10, 100)  # of the eight on the axis of figures 4, 6, 13 and 15
    assert all(2 <= options <= 10 and options <= sets <= 30 for options, sets in SIZES)


def test_judges_are_asked_about_each_text_a_few_times(monkeypatch):
    """Appendix D.1: judges are known from `REPEATS` answers; only they tell one forced choice from another."""
    seen = []
    whole = studies.gains_of
    monkeypatch.setattr(studies, "gains_of", lambda judges, *more: seen.append(judges) or whole(judges, *more))
    studies.selection_study(1, settings={"one": Design(judges=4, items=20)}, budgets=(1,), sizes=((2, 3),))
    sampled = studies.REPEATS * seen[0].choices
    np.testing.assert_allclose(sampled, sampled.round(), atol=1e-9)
