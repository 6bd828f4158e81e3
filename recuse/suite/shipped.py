"""Where the shipped questions, gates and prompts are: in the package where it is installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from recuse.schema import RecuseError


def shipped_evals() -> Path:
    """The folder with the shipped `test_*.py` and `gates.toml`. `RecuseError` where a wheel was built without them."""
    return _shipped("evals", Path("evals"), "gates.toml", "questions")


def shipped_prompts(protocol: str) -> dict[str, bytes]:
    """File name -> template, of a protocol whose templates travel with the wheel: merg. `RecuseError` for another."""
    if protocol != "merg":
        raise RecuseError(f"recuse init has prompts for the protocol merg; got {protocol!r}: write its templates")
    folder = _shipped("merg", Path("fixtures", "tasks", "writing", "prompts"), "merg.rubric.user.j2", "prompts")
    return {path.name: path.read_bytes() for path in sorted(folder.glob("merg.*.j2"))}


def _shipped(name: str, source: Path, holds: str, what: str) -> Path:
    package = Path(__file__).parents[1]
    for folder in (package / "shipped" / name, package.parent / source):
        if (folder / holds).is_file():
            return folder
    raise RecuseError(f"this installation holds no shipped {what}; install the wheel of recuse again")
