"""Makes the simulated raters beside this file importable; a stranger's table."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def table():
    """A stranger's table: two judges, two people, a grade from 1 to 5 and a pass or fail of two systems' answers to 60
    tickets, with holes."""
    import pandas as pd

    def make(*, names: bool = False, seed: int = 0) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        texts = [(f"t{k}", system) for k in range(60) for system in ("a", "b")]
        quality = rng.normal(size=len(texts))
        rows = []
        for rater, kind in (("mira", "judge"), ("noor", "judge"), ("ann", "person"), ("bea", "person")):
            for level in ("shown", "hidden") if names and kind == "judge" else ("hidden",):
                seen = quality + rng.normal(size=len(texts)) * 0.5
                for (item, target), q in zip(texts, seen, strict=True):
                    row = {"rater": rater, "kind": kind, "item": item, "target": target, "names": level}
                    usable = rng.random() > 0.05
                    grade = float(np.clip(round(3 + q), 1, 5)) if usable else None
                    rows.append({**row, "criterion": "grade", "score": grade, "response": None})
                    passed = ("pass" if q > -0.3 else "fail") if usable else None
                    rows.append({**row, "criterion": "safe", "score": None, "response": passed})
        frame = pd.DataFrame(rows)
        return frame if names else frame.drop(columns="names")

    return make
