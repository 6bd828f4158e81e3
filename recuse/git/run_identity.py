"""Which state of the repository a run is about: what no result depends on, and what a reader wants to know of it.

None of it is written into results.json: two runs that found the same give the same bytes.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recuse.schema.results import Known

__all__ = ["commit_of", "identity_of"]

COMMITS = ("RECUSE_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA", "BITBUCKET_COMMIT", "BUILDKITE_COMMIT", "GIT_COMMIT")
"""Where systems of continuous integration say it. On a pull request GITHUB_SHA is a merge nobody made, so our action
sets the first."""

SHA = re.compile(r"[0-9a-f]{7,64}")
PATIENCE_S = 10


def identity_of(root: Path, panels: Iterable[str], gates: Path, environ: Mapping[str, str]) -> Known:
    """{"commit", "recorded": {panel: (first day, last day)}, "gates": sha256}; each as far as it is known."""
    recorded = {name: days for name in panels if (days := recording_days(root, name))}
    digest = hashlib.sha256(gates.read_bytes()).hexdigest() if gates.is_file() else ""
    return {"commit": commit_of(environ), "recorded": recorded, "gates": digest}


def commit_of(environ: Mapping[str, str]) -> str:
    """The commit that continuous integration says it is about; "" where none does, as on a desk."""
    commits = (environ.get(name, "").lower() for name in COMMITS)
    return next((sha for sha in commits if SHA.fullmatch(sha)), "")


def recording_days(root: Path, panel: str) -> tuple[str, str] | None:
    """First and last day on which cassettes of a panel were committed, as ISO dates; None where version control does
    not know: cassettes keep no clock, and a shallow clone has no history."""
    folder = root / "cassettes" / panel
    if not folder.is_dir() or _git(root, "rev-parse", "--is-shallow-repository").strip() != "false":
        return None
    days = _git(root, "log", "--format=%cs", "--", f"cassettes/{panel}").split()
    return (min(days), max(days)) if days else None


def _git(root: Path, *words: str) -> str:
    """What git says in `root`; "" where there is no git, or no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
