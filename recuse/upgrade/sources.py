"""What is compared: files of ratings and panels, each as parts that have ratings, and judges to choose from."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from recuse.gates import Gates
from recuse.metrics.upgrade import Upgrade
from recuse.panels import UNLOCK, Panel, unfixed
from recuse.protocols import protocol as known_protocol
from recuse.ratings import Ratings
from recuse.ratings.answers import people_beside_truth
from recuse.ratings.needs import check_for_judges
from recuse.ratings.ratings import ONE_DECISION
from recuse.ratings.ratings_table import PERSON
from recuse.readers.file_panel import load_file_panel, on_the_same_items, panel_of
from recuse.readers.file_ratings import FilePanel
from recuse.readers.formats import RatingsSource
from recuse.schema import RecuseError
from recuse.schema.vocabulary import FILE
from recuse.suite import Elicitation, Selection, Suite

KINDS = ("scores", "choices")


@dataclass(frozen=True, eq=False)
class Part:
    """Ratings of one task by one protocol; `settings` and `calls` of a judge where these were recorded."""

    panel: str
    task: str
    protocol: str
    ratings: Callable[[str], Ratings]  # of the line-up that this judge belongs to
    settings: Callable[[str], Mapping[str, Any]] = lambda judge: {}
    calls: Callable[[str], Mapping[str, float | None]] = lambda judge: {}

    @property
    def place(self) -> dict[str, str]:
        """What every conclusion drawn from it is about."""
        return {"panel": self.panel, "task": self.task, "protocol": self.protocol}


@dataclass(frozen=True, eq=False)
class Source:
    """One file or panel. `replaces`: candidate -> judge in use, where the panel says so; `changes` what is declared;
    `remarks`: who its people are, and what could not be read, in sentences."""

    path: Path
    judges: tuple[str, ...]
    parts: tuple[Part, ...]
    selection: Selection
    replaces: Mapping[str, str]
    changes: Mapping[str, tuple[str, ...]]
    remarks: tuple[str, ...] = ()


def split_arguments(given: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The one or two files or panels that come first, and the names of judges after them."""
    paths = [Path(given[0])]
    if len(given) > 1 and Path(given[1]).is_file():
        paths.append(Path(given[1]))
    names = list(given[len(paths) :])
    if len(names) not in (0, 2):
        raise RecuseError(
            f"name two judges, the one in use and its candidate, or none; got {', '.join(names)}"
            + ("" if Path(names[0]).exists() or len(names) != 1 else f" (there is no file {names[0]})")
        )
    return paths, names


def open_sources(
    paths: Sequence[Ratings | RatingsSource], gates: Gates, given: Mapping[str, Any], reader: str = "",
    names: Sequence[str] = (),
) -> list[Source]:  # fmt: skip
    """Each of the paths opened, beside ratings that were read already; `names`: of the judges that are compared. Where
    one file needs more columns than the other to name its items, both are named by these: a part of a file may look as
    if fewer would do."""
    given = {"compared": tuple(part for name in names for part in (name, name.split(",")[0])), **given}
    sources = [open_source(path, gates, given, reader) for path in paths]
    panels = [panel for source in sources for panel in source.selection.files.values()]
    item = max((panel.mapping.item for panel in panels), key=len, default=())
    if len(panels) < len(sources) or given.get("item") or not all(
        set(item) <= set(panel.raw.frame.columns) for panel in panels
    ):  # fmt: skip
        return sources
    opened = (
        source
        if panel.mapping.item == item or isinstance(path, Ratings)
        else open_source(path, gates, {**given, "item": item}, reader)
        for path, source, panel in zip(paths, sources, panels, strict=True)
    )
    panels = [panel for source in opened for panel in source.selection.files.values()]
    panels = on_the_same_items(panels)
    return [*map(_file, panels)]


def open_source(path: Ratings | RatingsSource, gates: Gates, given: Mapping[str, Any], reader: str = "") -> Source:
    """A panel file (.toml), a file, frame or table of ratings, or ratings. `RecuseError` for what cannot be read."""
    if isinstance(path, Ratings):
        return _file(panel_of(path))
    if isinstance(path, Path) and path.suffix == ".toml":
        recorded = RecordedPanel.opened(root_of([path]), path.resolve(), gates)
        panel = recorded.panel
        if unfixed(panel.source_fixes, "pairs"):
            raise RecuseError(
                f"{path}: not measured: the source gives no pairs, and judges are compared text by text; "
                f"{UNLOCK['pairs']}"
            )
        parts = tuple(recorded.part(place) for place in recorded.places
                      if known_protocol(place.protocol).OFFERS in KINDS)  # fmt: skip
        selection = recorded.suite.selection
        return Source(path, tuple(panel.judges), parts, selection, panel.replaces, panel.changes)
    if isinstance(path, Path) and not path.exists():
        raise RecuseError(f"there is no file {path}; recuse compare FILE JUDGE_IN_USE CANDIDATE, or two files")
    return _file(load_file_panel(path, reader=reader, **{"compared": (), **given}))


def _file(panel: FilePanel) -> Source:
    check_for_judges(panel.ratings, panel.path)
    part = Part(panel.name, panel.task, FILE, lambda judge: panel.ratings)
    selection = Selection(panel.path.parent, files={panel.name: panel})
    truth = panel.ratings.truth
    people = ", ".join(people_beside_truth(panel.ratings)) or "none"
    people += f"; right answers: {truth}" if truth else ""
    faults = (f"fault: {fault.sentence()}" for fault in panel.faults)
    decided = (note for note in panel.notes if note.startswith(ONE_DECISION))
    remarks = tuple(f"{panel.path.name}: {remark}" for remark in (f"people: {people}", *decided, *faults))
    return Source(panel.path, panel.judges, (part,), selection, {}, {}, remarks)


def root_of(paths: Iterable[object]) -> Path:
    """The repository of the first panel among them, which holds its tasks, cassettes and limits; else the folder that
    Recuse was called in."""
    panels = (path.resolve() for path in paths if isinstance(path, Path) and path.suffix == ".toml")
    return next((path.parents[2] for path in panels if path.parts[-3:-1] == ("fixtures", "panels")), Path.cwd())


@dataclass(frozen=True, slots=True)
class RecordedPanel:
    """A panel whose recordings are replayed, as it is now or as it was at another commit."""

    panel: Panel
    suite: Suite

    @classmethod
    def opened(cls, root: Path, path: Path, gates: Gates) -> RecordedPanel:
        """The panel file at `path`, its tasks and cassettes below `root`."""
        from recuse.suite.recordings import Recordings

        selection = Selection.load(root, [str(path)])
        return cls(next(iter(selection.panels.values())), Suite(selection, gates, Recordings(selection)))

    @property
    def places(self) -> list[Elicitation]:
        """Every task and protocol that its judges in use are asked by."""
        return self.suite.selection.elicitations(self.panel.name)

    def part(self, place: Elicitation) -> Part:
        """What was recorded there, of a candidate in its own line-up."""
        suite, replaces = self.suite, self.panel.replaces

        def of(judge: str) -> Elicitation:
            return replace(place, candidate=judge if judge in replaces else "")

        return Part(
            place.panel, place.task, place.protocol, lambda judge: suite.ratings(of(judge)),
            lambda judge: suite.settings(of(judge), judge), lambda judge: suite.calls(of(judge), judge),
        )  # fmt: skip


def pair_up(sources: Sequence[Source], names: Sequence[str], change: Sequence[str]) -> Iterator[tuple[Part, Upgrade]]:
    """Every part of the sources on which both judges were asked, with the upgrade to decide there. A judge may be named
    with the levels it was asked under: "gpt,prompt=short,temp=0"."""
    old, new = sources[0], sources[-1]
    given = names or _only(old, new)
    (incumbent, held), (candidate, wanted) = _judge_and_levels(old, given[0]), _judge_and_levels(new, given[1])
    declared = tuple(change) or (new.changes.get(candidate, ("model",)) if new is old else ("model",))
    there = {(part.task, part.protocol): part for part in old.parts}
    pairs = [(there[key], part) for part in new.parts if (key := (part.task, part.protocol)) in there]
    if len(old.parts) == len(new.parts) == 1:  # whatever they are called
        pairs = [(old.parts[0], new.parts[0])]
    if not pairs:
        raise RecuseError(f"{old.path.name} and {new.path.name} have no task and protocol in common")
    for before, after in pairs:
        one, other = before.ratings(incumbent), after.ratings(candidate)
        if incumbent not in one.judges or candidate not in other.judges:
            continue
        if one is other and incumbent == candidate and held == wanted:
            raise RecuseError(f"an upgrade is between two judges; {candidate} was named as both")
        if one is other and incumbent != candidate:
            one, other = one.without(candidate), other.without(incumbent)
        yield after, Upgrade(
            _under(one, held), incumbent, _under(other, wanted), candidate, change=declared,
            settings=(before.settings(incumbent), after.settings(candidate)),
            calls=(before.calls(incumbent), after.calls(candidate)),
        )  # fmt: skip


def _judge_and_levels(source: Source, given: str) -> tuple[str, dict[str, str]]:
    """ "gpt,prompt=short" as the judge's name and its levels by factor; a name of the source as it is."""
    if given in source.judges:
        return given, {}
    judge, *levels = given.split(",")
    if judge not in source.judges or not all("=" in level for level in levels):
        raise RecuseError(f"{source.path.name} has no judge {given}; it has {', '.join(source.judges)}")
    return judge, {name: level for name, _, level in (one.partition("=") for one in levels)}


def _only(old: Source, new: Source) -> tuple[str, str]:
    if old is new:
        if len(new.replaces) == 1:
            candidate, incumbent = next(iter(new.replaces.items()))
            return incumbent, candidate
        like = shlex.join([str(old.path), *old.judges[:2]])
        raise RecuseError(
            f"say which judge is in use and which would replace it: recuse compare {like}; the judges are "
            f"{', '.join(old.judges)}"
        )
    if len(old.judges) == len(new.judges) == 1:
        return old.judges[0], new.judges[0]
    # asked also where one judge is in both: more often another one beside it is the candidate
    candidate = next((judge for judge in new.judges if judge not in old.judges), new.judges[0])
    like = shlex.join([str(old.path), str(new.path), old.judges[0], candidate])
    raise RecuseError(
        f"say which judge of {old.path.name} ({', '.join(old.judges)}) and which of {new.path.name} "
        f"({', '.join(new.judges)}) are meant: recuse compare {like}"
    )


def _under(ratings: Ratings, levels: Mapping[str, str]) -> Ratings:
    for factor, level in levels.items():
        if level not in ratings.levels(factor):
            known = "; ".join(f"{name}: {', '.join(ratings.levels(name))}" for name in ratings.factors) or "nothing"
            named = "" if factor in ratings.factors else f" (of a column {factor}, say so: --factors {factor})"
            raise RecuseError(f"{factor}={level}: nobody was asked so; what was varied is {known}{named}")
    there = ratings.where(**levels)
    if there.persons or not ratings.persons:
        return there
    people = ratings.table[ratings.table["kind"].eq(PERSON)].drop(columns=[*levels])  # a person is seldom asked twice
    return replace(there, table=pd.concat([there.table, people], ignore_index=True), _memory={})
