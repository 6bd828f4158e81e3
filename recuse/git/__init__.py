"""Which commit a run is about and on which days its cassettes were recorded, and the commit it is compared with: its
files as they were, so that nothing that is compared comes from the change itself. Nothing of this is written into
results.json: two runs that found the same give the same bytes."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from recuse.schema import RecuseError

if TYPE_CHECKING:
    from recuse.schema.results import Known

PATIENCE_S = 60
DEFAULT_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
"""Where the default branch may be, in this order."""
COMMITS = ("RECUSE_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA", "BITBUCKET_COMMIT", "BUILDKITE_COMMIT", "GIT_COMMIT")
"""Where continuous integration says it. Our action sets the first: a pull request's GITHUB_SHA is nobody's merge."""
SHA = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True)
class BaseCommit:
    """`name`: the commit; `root`: a folder of the working tree, to which paths are relative; `given`: whether whoever
    runs named it, as continuous integration does; `tip`: the commit that was named, from which this one may differ."""

    root: Path
    name: str
    given: bool = False
    tip: str = ""

    def files(self, *folders: str) -> list[str]:
        """Paths of the regular files below these folders and files, as they were."""
        listed = self._listed("ls-tree", "-r", "-z", self.name, "--", *folders) if folders else ()
        return [path for about, path in (row.split("\t", 1) for row in listed) if about.startswith("100")]

    def text(self, path: str) -> str | None:
        """What a file held; None where it was not there, or is no text."""
        return self.texts([path]).get(path)

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """What each of these files held that was there and is text, of one call of git for all."""
        held = {}
        for path, content in self.contents(list(paths)):
            with suppress(UnicodeDecodeError):
                held[path] = content.decode("utf-8")
        return held

    @cached_property
    def differing(self) -> dict[str, str]:
        """Path -> "A", "M" or "D" of every file below `root` that is not what it was, those that git does not know yet
        among them, but for installed environments: thousands of files, and no part of the change."""
        words = self._listed("diff", "--name-status", "--no-renames", "--relative", "-z", self.name, "--", ".")
        kinds = zip(words[::2], words[1::2], strict=True)
        there = {path: kind if kind in ("A", "D") else "M" for kind, path in kinds}
        new = self._listed("ls-files", "--others", "--exclude-standard", "-z")
        environments = tuple(path.removesuffix("pyvenv.cfg") for path in new if path.endswith("/pyvenv.cfg"))
        return there | {path: "A" for path in new if "__pycache__" not in path and not path.startswith(environments)}

    def moved(self, *folders: str) -> list[str]:
        """Files below these folders that are not at the tip what they are here: the base has gone on since."""
        if self.tip in ("", self.name):
            return []
        return self._listed("diff", "--name-only", "--relative", "-z", self.name, self.tip, "--", *folders)

    def copy(self, paths: Iterable[str], folder: Path) -> None:
        """Write these files below `folder`, under the same paths."""
        for path, content in self.contents(list(paths)):
            if ".." in PurePosixPath(path).parts:
                continue
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def _listed(self, *words: str) -> list[str]:
        """What git lists, each ended by a zero byte, for which it has -z."""
        return (run_git(self.root, *words) or b"").decode("utf-8", "surrogateescape").split("\0")[:-1]

    def contents(self, paths: list[str]) -> Iterator[tuple[str, bytes]]:
        """(path, content) of each that was there, of one call of git for all."""
        known = [path for path in paths if "\n" not in path]
        every = contents_of(self.root, [f"{self.name}:./{path}" for path in known])
        yield from ((path, content) for path, content in zip(known, every, strict=True) if content is not None)


class Unreadable(NamedTuple):
    """There is no commit to compare with: `why`, and what to do about it."""

    why: str
    remedy: str


def base_commit(root: Path, wanted: str | None = None) -> BaseCommit | Unreadable:
    """Where this branch left `wanted`, else the default branch: on that branch itself the commit that is checked out.
    A `wanted` without shared history (a checkout of depth 1) is the base itself; `RecuseError` for no commit."""
    if wanted:
        known = run_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
        if not known:
            raise RecuseError(
                f"--base {wanted}: git knows no such commit in {root}; give a branch, tag or commit, and fetch it "
                "first (a checkout of depth 1 has no history)"
            )
        tip = known.decode().strip()
        began = run_git(root, "merge-base", "HEAD", tip) or known
        return BaseCommit(root, began.decode().strip(), given=True, tip=tip)
    if not (head := run_git(root, "rev-parse", "--verify", "--quiet", "HEAD")):
        return Unreadable("there is no git commit here", "commit this folder with git, and change it on a branch")
    for branch in DEFAULT_BRANCHES:
        if shared := run_git(root, "merge-base", "HEAD", branch):
            return BaseCommit(root, shared.decode().strip())
    branches = (run_git(root, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes") or b"").split()
    if (run_git(root, "symbolic-ref", "--quiet", "HEAD") or b"").split() == branches:  # the only branch is the default
        return BaseCommit(root, head.decode().strip())
    remedy = "fetch all of the history (fetch-depth: 0), or name the commit: --base REV"
    return Unreadable("the commit where this branch began is not in this checkout", remedy)


def run_git(root: Path, *words: str, given: bytes | None = None) -> bytes | None:
    """What git says in `root`; None where there is no git, no repository, or git refuses."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], input=given, capture_output=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def contents_of(root: Path, names: Sequence[str]) -> Iterator[bytes | None]:
    """What each file held, "commit:./path", None where there was none; of one call of git for all."""
    given = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
    content, at = (run_git(root, "cat-file", "--batch", given=given) if names else None) or b"", 0
    for _ in names:
        end = content.find(b"\n", at)
        about = content[at:end].split()
        at = end + 1
        size = int(about[2]) if len(about) == 3 and about[2].isdigit() else -1  # "... missing"
        yield content[at : at + size] if size >= 0 and about[1] == b"blob" else None
        at += size + 1


def identity_of(root: Path, panels: Iterable[str], gates: Path, environ: Mapping[str, str]) -> Known:
    """{"commit", "recorded": {panel: (first day, last day)}, "gates": sha256}; each as far as it is known."""
    digest = hashlib.sha256(gates.read_bytes()).hexdigest() if gates.is_file() else ""
    commits = (environ.get(name, "").lower() for name in COMMITS)
    commit = next((sha for sha in commits if SHA.fullmatch(sha)), "")  # "" where nobody says it, as on a desk
    return {"commit": commit, "recorded": recording_days(root, panels), "gates": digest}


def recording_days(root: Path, panels: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Panel -> first and last day on which cassettes of it were committed, as ISO dates, of one call of git for all;
    without those of which version control does not know: cassettes keep no clock, a shallow clone has no history."""
    folders = {f"cassettes/{name}": name for name in panels if (root / "cassettes" / name).is_dir()}
    if not folders or (run_git(root, "rev-parse", "--is-shallow-repository") or b"").strip() != b"false":
        return {}
    words = ("-c", "core.quotePath=false", "log", "--format=%x00%cs", "--name-only", "--no-renames", "--relative", "--")
    commits = (run_git(root, *words, *folders) or b"").decode("utf-8", "surrogateescape").split("\0")[1:]
    days: dict[str, list[str]] = {}
    for day, *paths in (commit.split("\n") for commit in commits):
        for folder in {"/".join(path.strip('"').split("/")[:2]) for path in paths} & folders.keys():
            days.setdefault(folders[folder], []).append(day)
    return {name: (min(days[name]), max(days[name])) for name in folders.values() if name in days}
