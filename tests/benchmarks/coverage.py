"""What the intervals cover: `python tests/benchmarks/coverage.py [FAMILY ...] [--sims 4000]`.

Prints, per scenario of tests/statistics/scenarios.py, how many of the nominal 95 % intervals hold the truth, with the
Monte-Carlo error, and their mean width. docs/statistics.md carries this table.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "statistics"))

from scenarios import FAMILIES, coverage


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", choices=[[], *FAMILIES], help="all of them unless named")
    parser.add_argument("--sims", type=int, default=4000)
    given = parser.parse_args()
    print("| method | scenario | coverage, % | mean width |\n|---|---|---|---|")
    for family in given.families or FAMILIES:
        for scenario in FAMILIES[family]:
            share, width = coverage(scenario, given.sims)
            error = 100 * math.sqrt(share * (1 - share) / given.sims)
            print(f"| {family} | {scenario.name} | {100 * share:.1f} ± {error:.1f} | {width:.3g} |", flush=True)


if __name__ == "__main__":
    main()
