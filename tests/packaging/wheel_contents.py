"""Checks what a built wheel carries: `python tests/packaging/wheel_contents.py dist/recuse-*.whl`, used by .ci/run."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).parents[2]


def main(wheel: Path) -> int:
    with zipfile.ZipFile(wheel) as archive:
        carried = {name for name in archive.namelist() if ".dist-info/" not in name}
        [metadata] = [archive.read(name) for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        about = {name.split(".dist-info/")[1] for name in archive.namelist() if ".dist-info/" in name}
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "recuse").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    shipped = [path.name for path in (ROOT / "evals").iterdir() if path.suffix in (".py", ".toml")]
    evals = {f"recuse/shipped/evals/{name}" for name in shipped}
    sources |= evals  # the questions travel with the package
    sources |= {f"recuse/shipped/skill/{path.name}" for path in (ROOT / "docs" / "skill").iterdir()}
    prompts = ROOT / "fixtures" / "tasks" / "writing" / "prompts"
    sources |= {f"recuse/shipped/merg/{path.name}" for path in prompts.iterdir()}
    faults = [f"missing: {name}" for name in sorted(sources - carried)]
    faults += [f"does not belong there: {name}" for name in sorted(carried - sources)]
    faults += [f"missing: {name}" for name in ("entry_points.txt", "licenses/LICENSE") if name not in about]
    Metadata.from_email(metadata, validate=True)  # what an index would refuse is an exception that lists it
    print(f"{wheel.name}: {len(carried)} files", *faults, sep="\n  ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
