"""A file is a panel: its judges were asked elsewhere, so there is nothing to record and no task folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recuse.ratings.offers import offers_of
from recuse.schema import Provenance
from recuse.schema.results import PanelRow

if TYPE_CHECKING:
    from recuse.ratings import Ratings
    from recuse.readers import FileRatings

__all__ = ["FILE", "FilePanel", "is_ratings_file", "load_file_panel", "load_file_panels", "load_versions"]

ENDINGS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".eval", ".gz", ".bz2", ".xz", ".zip")
"""What names a file of ratings among `recuse_panels`; `--ratings` takes any file."""


FILE, SETS = "file", "response_set"
"""What stands in the place of a protocol for a file's ratings, and for sets of options beside them."""


@dataclass(frozen=True, eq=False)
class FilePanel:
    """`name` is the file's, without its endings, and so is its task's."""

    name: str
    path: Path
    read: FileRatings
    provenance: Provenance = "imported"

    @property
    def uses(self) -> tuple[str, ...] | None:
        """What its judges are used for, as stated by --use or beside the file; None where the ratings say."""
        return self.read.mapping.use or None

    @property
    def task(self) -> str:
        """The file's name, for want of a task."""
        return self.name

    @property
    def ratings(self) -> Ratings:
        """What was read of the file."""
        return self.read.ratings

    def protocol(self, kind: str) -> str:
        """What stands in the place of a protocol for rows of a kind: sets beside options have a name of their own."""
        return SETS if kind == "response_sets" and self.ratings.beside(kind) is not None else FILE

    def by(self, protocol: str) -> Ratings:
        """The ratings by what stands in the place of a protocol."""
        return (self.ratings.beside("response_sets") if protocol == SETS else None) or self.ratings

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges in the file, in order of first appearance."""
        return self.ratings.judges

    @cached_property
    def offers(self) -> frozenset[str]:
        """The needs that the ratings meet."""
        return offers_of(self.ratings, self.read.kind)

    def record(self) -> PanelRow:
        """The panel as results.json tells it."""
        authors, files = self.ratings.own(), (*self.read.older, self.read)
        names = ", ".join(read.path.name for read in files)
        return {
            "name": self.name,
            "provenance": self.provenance,
            "description": f"Ratings from {names}: {len(self.ratings.table)} judgements.",
            "source": "; ".join(f"{r.path.name}, sha256 {r.sha256}" for r in files),
            "judges": [
                {"name": judge, "label": judge, "wire": "", "model": judge, "author": authors.get(judge)}
                for judge in self.judges
            ],
            "tasks": [self.task],
            "read_as": self.read.mapping.record(),
            "notes": list(self.read.notes),
            "faults": [fault.record() for fault in self.read.faults],
            "people_faults": [fault.sentence() for fault in self.read.people_faults],
        }


def is_ratings_file(given: str) -> bool:
    """Whether what stands in `recuse_panels` names a file of ratings, not a panel file or a panel's short name."""
    return given.lower().endswith(ENDINGS)


def load_file_panel(path: Path, **given: Any) -> FilePanel:
    """Read one file of ratings as a panel. `RecuseError` for what cannot be read."""
    from recuse.readers import read_file

    read = read_file(path, **given)
    return FilePanel(_safe(read.name), path, read)


def load_versions(paths: Sequence[Path], **given: Any) -> FilePanel:
    """Files with versions of the same judges, the oldest first, as one panel, which bears the last file's name.
    `RecuseError` for what cannot be read, and for files that are no versions of the same judges."""
    from recuse.readers import as_versions, read_file

    if len(paths) == 1:
        return load_file_panel(paths[0], **given)
    read = as_versions([read_file(path, **given) for path in paths])
    return FilePanel(_safe(read.name), paths[-1], read)


def load_file_panels(paths: Sequence[Path]) -> list[FilePanel]:
    """The files as panels: those with the same judges on the same items are versions of them, and one panel."""
    from recuse.readers import are_versions, as_versions, read_file

    groups: list[list[FileRatings]] = []
    for read in map(read_file, paths):
        group = next((group for group in groups if not are_versions([*group, read])), None)
        if group is None:
            groups.append([read])
        else:
            group.append(read)
    return [
        FilePanel(_safe(read.name), read.path, read)
        for read in (as_versions(group) if len(group) > 1 else group[0] for group in groups)
    ]


def _safe(name: str) -> str:
    """A name that may be part of a report's anchors."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:64] or "ratings"
