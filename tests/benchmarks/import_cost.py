"""What an environment pays for having Recuse installed: `python tests/benchmarks/import_cost.py`.

Imports the plugin in interpreters of their own, after pytest, which every pytest start imports anyway, and the public
face alone. Prints medians; nothing here gates a build, because a timer says as much about the machine as about the
code.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys

RUNS = 15
BUDGET_MS = 20.0


def cumulative_ms(module: str) -> float:
    """Milliseconds `python -X importtime` gives for a module with all it imports that pytest has not; of the public
    face, which a notebook imports, with everything."""
    before = "" if module == "recuse" else "import pytest, _pytest.config, _pytest.fixtures; "
    code = f"{before}import {module}"
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    lines = re.findall(r"import time:\s+\d+ \|\s+(\d+) \|\s+(\S+)", done.stderr)
    times = {name: int(microseconds) / 1000 for microseconds, name in lines}
    top = module.split(".")[0]
    return times[module] + (times.get(top, 0.0) if top != module else 0.0)


def main() -> None:
    for module, budget in (("recuse", BUDGET_MS), ("recuse.plugin", BUDGET_MS), ("recuse.suite", None)):
        found = sorted(cumulative_ms(module) for _ in range(RUNS))
        note = f" (wanted: under {budget:g} ms)" if budget else " (only where a test asks a judge)"
        median, low, high = statistics.median(found), found[0], found[-1]
        print(f"import {module}: median {median:.1f} ms, {low:.1f} to {high:.1f} over {RUNS} runs{note}")


if __name__ == "__main__":
    main()
