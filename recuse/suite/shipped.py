"""Where the shipped questions and gates are: in the package where it is installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from recuse.schema import RecuseError

__all__ = ["shipped_evals"]


def shipped_evals() -> Path:
    """The folder with the shipped `test_*.py` and `gates.toml`. `RecuseError` where a wheel was built without them."""
    package = Path(__file__).parents[1]
    for folder in (package / "shipped" / "evals", package.parent / "evals"):
        if (folder / "gates.toml").is_file():
            return folder
    raise RecuseError("this installation holds no shipped questions; install the wheel of recuse again")
