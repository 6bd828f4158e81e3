"""Benchmarks are run by hand, so a name that moves away from them is found here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "tests" / "benchmarks"
LOADED = "import runpy, sys; [runpy.run_path(one, run_name='loaded') for one in sys.argv[1:]]"


def test_every_benchmark_finds_what_it_measures() -> None:
    scripts = sorted(map(str, BENCHMARKS.glob("*.py")))
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (BENCHMARKS, ROOT)))}
    done = subprocess.run([sys.executable, "-c", LOADED, *scripts], env=paths, capture_output=True, text=True)
    assert len(scripts) > 9
    assert done.returncode == 0, done.stderr[-800:]
