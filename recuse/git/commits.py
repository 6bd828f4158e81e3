"""Which commit a run is about and on which days its cassettes were recorded, and the commit it is compared with: its
files as they were, so that nothing that is compared comes from the change itself.

Nothing of this is written into results.json: two runs that found the same give the same bytes.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from recuse.schema import RecuseError

if TYPE_CHECKING:
    from recuse.schema.results import Known

__all__ = ["BaseCommit", "base_commit", "commit_of", "identity_of"]

PATIENCE_S = 60
DEFAULT_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
"""Where the default branch may be, in this order."""


@dataclass(frozen=True, slots=True)
class BaseCommit:
    """`name`: the commit; `root`: a folder of the working tree, to which paths are relative."""

    root: Path
    name: str

    def files(self, *folders: str) -> list[str]:
        """Paths of the regular files below these folders and files, as they were."""
        if not folders:
            return []
        listed = _git(self.root, "ls-tree", "-r", "-z", self.name, "--", *folders)
        rows = (row.split(b"\t", 1) for row in (listed or b"").split(b"\0") if row)
        return [path.decode("utf-8", "surrogateescape") for about, path in rows if about.startswith(b"100")]

    def text(self, path: str) -> str | None:
        """What a file held; None where it was not there, or is no text."""
        content = next((content for _, content in self._contents([path])), None)
        try:
            return None if content is None else content.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def copy(self, paths: Iterable[str], folder: Path) -> None:
        """Write these files below `folder`, under the same paths."""
        for path, content in self._contents(list(paths)):
            if ".." in PurePosixPath(path).parts:
                continue
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def _contents(self, paths: list[str]) -> Iterator[tuple[str, bytes]]:
        """(path, content) of each that was there, of one call of git for all."""
        if not paths:
            return
        named = "".join(f"{self.name}:./{path}\n" for path in paths if "\n" not in path)
        content = _git(self.root, "cat-file", "--batch", given=named.encode("utf-8", "surrogateescape")) or b""
        at = 0
        for path in (path for path in paths if "\n" not in path):
            end = content.find(b"\n", at)
            about = content[at:end].split()
            at = end + 1
            if len(about) != 3 or not about[2].isdigit():  # "... missing"
                continue
            size = int(about[2])
            if about[1] == b"blob":
                yield path, content[at : at + size]
            at += size + 1


def base_commit(root: Path, wanted: str | None = None) -> BaseCommit | None:
    """`wanted`, else where this branch left the default branch: on that branch itself the commit that is checked out.
    None where there is no git or no commit; `RecuseError` for a `wanted` that is no commit."""
    if wanted:
        known = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
        if not known:
            raise RecuseError(
                f"--base {wanted}: git knows no such commit in {root}; give a branch, tag or commit, and fetch it "
                "first (a checkout of depth 1 has no history)"
            )
        return BaseCommit(root, known.decode().strip())
    if not (head := _git(root, "rev-parse", "--verify", "--quiet", "HEAD")):
        return None
    for branch in DEFAULT_BRANCHES:
        if shared := _git(root, "merge-base", "HEAD", branch):
            return BaseCommit(root, shared.decode().strip())
    return BaseCommit(root, head.decode().strip())


def _git(root: Path, *words: str, given: bytes | None = None) -> bytes | None:
    """What git says in `root`; None where there is no git, no repository, or git refuses."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], input=given, capture_output=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


COMMITS = ("RECUSE_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA", "BITBUCKET_COMMIT", "BUILDKITE_COMMIT", "GIT_COMMIT")
"""Where systems of continuous integration say it. On a pull request GITHUB_SHA is a merge nobody made, so our action
sets the first."""

SHA = re.compile(r"[0-9a-f]{7,64}")


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
    if not folder.is_dir() or (_git(root, "rev-parse", "--is-shallow-repository") or b"").strip() != b"false":
        return None
    days = (_git(root, "log", "--format=%cs", "--", f"cassettes/{panel}") or b"").decode().split()
    return (min(days), max(days)) if days else None
