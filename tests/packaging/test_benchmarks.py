"""Benchmarks are run by hand, so a name that moves away from them is found here."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "tests" / "benchmarks"


def test_every_benchmark_finds_what_it_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    of_other_tests = str(ROOT / "tests")
    elsewhere = [path for path in sys.path if not path.startswith(of_other_tests)]
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), str(ROOT), *elsewhere])
    scripts = sorted(map(str, BENCHMARKS.glob("*.py")))
    assert len(scripts) > 9
    for script in scripts:
        runpy.run_path(script, run_name="loaded")
