"""How long the first verdict on a file takes: `python tests/benchmarks/check.py`.

`recuse check` on 1,000 rows (two judges, two people, pass or fail, one column each) against importing pandas and
scipy.stats alone, in processes of their own, in turns: medians of CPU seconds and their ratio.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measuring import Row, children, interleaved, table

ROWS, ROUNDS, AT_MOST = 1_000, 7, 2.0
CHECK = "import sys; from recuse.cli import main; sys.exit(main(['check', sys.argv[1]]))"


def ratings(path: Path) -> None:
    """Each person and judge departs from what is right in one answer of ten."""
    rng = np.random.default_rng(1)
    right = rng.random(ROWS) < 0.6
    said = {name: right ^ (rng.random(ROWS) < 0.1) for name in ("person_1", "person_2", "judge_1", "judge_2")}
    lines = [",".join(["item", *said])]
    lines += [",".join([str(i), *("pass" if says[i] else "fail" for says in said.values())]) for i in range(ROWS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ratings.csv"
        ratings(file)

        def check() -> None:
            done = subprocess.run([sys.executable, "-c", CHECK, str(file)], capture_output=True, check=False)
            assert done.returncode in (0, 1, 2), done.stderr.decode()

        def imports() -> None:
            subprocess.run([sys.executable, "-c", "import pandas, scipy.stats"], check=True)

        ours, other = interleaved(ROUNDS, children(check), children(imports))
    print(
        table(
            [
                Row(
                    f"recuse check, {ROWS:,} rows, CPU",
                    "importing pandas and scipy.stats",
                    ours,
                    other,
                    AT_MOST,
                    faster=False,
                )
            ]
        )
    )


if __name__ == "__main__":
    main()
