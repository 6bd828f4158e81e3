"""The grid of figure 4 against a loop over judges and items: `python tests/benchmarks/judge_selection.py [trials]`.

Prints the seconds of the whole grid (five settings, eight budgets, 50 judges, 100 items, every definition at three
thresholds), those of the same arithmetic item by item for a part of it, and the ratio per trial. Both run here, one
after the other, in one process.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from recuse.papers.indeterminacy.aggregation import TAUS, RatingVectors
from recuse.papers.indeterminacy.definitions import CHANCE_CORRECTED, PER_ITEM, chance_corrected, definitions
from recuse.papers.indeterminacy.every_definition import at_threshold, without_threshold
from recuse.papers.indeterminacy.selection_study import BUDGETS, REPEATS, selection_study
from recuse.papers.indeterminacy.simulated_ratings import Design, draw_population

JUDGES = 1


def item_by_item(judges: RatingVectors, people: RatingVectors, budgets: int, tau: float, names: set[str]) -> dict:
    """Every definition by a loop over judges and items; vectors of either side are made beforehand, as for the grid."""
    found = {}
    for each in definitions():
        if each.name not in names:
            continue
        a, b, of = judges.by(each.judge), people.by(each.people), PER_ITEM[each.measure]
        values = np.empty((budgets, len(a)))
        for budget in range(budgets):
            for judge in range(len(a)):
                kept = [float(of(a[judge, item], b[budget, item])) for item in range(a.shape[1])]
                if each.measure in CHANCE_CORRECTED:
                    given = a[judge].sum(axis=0), b[budget].sum(axis=0)
                    values[budget, judge] = chance_corrected(
                        each.measure, np.array(float(len(kept))), np.array(sum(kept)), *given
                    )
                else:
                    there = [value for value in kept if value == value]
                    values[budget, judge] = sum(there) / len(there) if there else np.nan
        found[each.name] = values
    return found


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    start = time.perf_counter()
    selection_study(trials, workers=2)
    print(f"whole grid, {trials} trials, two processes: {time.perf_counter() - start:.1f} s")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"of two cores {(used.ru_utime + used.ru_stime) / 2:.1f} s each: what it takes where nothing else runs")
    print(f"most memory of a process: {used.ru_maxrss / 1024:.0f} MB")

    rng = np.random.default_rng(0)
    population = draw_population(Design(people_strength=2.0, judge_strength=0.5), rng)
    people, judges = population.sampled_people(BUDGETS, rng), population.sampled_judges(REPEATS, rng)
    start = time.process_time()
    for _ in range(5):
        fast = without_threshold(judges, people)
        free = set(fast)
        for tau in TAUS:
            fast |= at_threshold(
                RatingVectors(judges.choices, judges.endorsed, tau), RatingVectors(people.choices, people.endorsed, tau)
            )
    vectorised = (time.process_time() - start) / 5

    few = RatingVectors(judges.choices[:JUDGES], judges.endorsed[:JUDGES])
    start = time.process_time()
    slow = item_by_item(few, people, len(BUDGETS), 0.5, free)
    for tau in TAUS:
        some = RatingVectors(few.choices, few.endorsed, tau), RatingVectors(people.choices, people.endorsed, tau)
        slow |= item_by_item(*some, len(BUDGETS), tau, {each.name for each in definitions()} - free)
    looped = (time.process_time() - start) * len(judges.choices) / JUDGES
    worst = max(float(np.nanmax(np.abs(slow[name] - fast[name][:, :JUDGES]))) for name in slow)
    print(f"one trial, vectorised {vectorised:.3f} s; by a loop {looped:.1f} s (timed for {JUDGES} of 50 judges)")
    print(f"largest difference between the two: {worst:.1e}")
    print(f"ratio: {looped / vectorised:.0f}")


if __name__ == "__main__":
    main()
