"""Prints the lowest versions that pyproject.toml allows, as constraints for pip: `python tests/packaging/floors.py`."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def floors() -> list[str]:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    lines = map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["test"]])
    return [_floor(line) for line in lines if line.marker is None or line.marker.evaluate()]


def _floor(line: Requirement) -> str:
    lowest = [clause.version for clause in line.specifier if clause.operator == ">="]
    if len(lowest) != 1:
        raise SystemExit(f"{PROJECT.name}: {line} needs one lower bound (>=), so that it can be tested")
    return f"{line.name}=={lowest[0]}"


if __name__ == "__main__":
    print(*floors(), sep="\n")
