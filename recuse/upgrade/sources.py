"""What is compared: files of ratings and panels, each as parts that have ratings, and judges to choose from."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from recuse.gates import Gates
from recuse.metrics.upgrade import Upgrade
from recuse.panels import UNLOCK, Panel
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
from recuse.suite import Elicitation, Recordings, Selection, Suite
from recuse.suite.questions import UPGRADED


@dataclass(frozen=True, eq=False)
class Source:
    """One file or panel, now or at another commit. `remarks`: who its people are, and what was unread."""

    path: Path
    suite: Suite
    remarks: tuple[str, ...] = ()

    @classmethod
    def of_panel(cls, root: Path, path: Path, gates: Gates) -> Source:
        """The panel file at `path`, its tasks and cassettes below `root`."""
        selection = Selection.load(root, [str(path)])
        return cls(path, Suite(selection, gates, Recordings(selection)))

    @property
    def panel(self) -> Panel:
        """Where it is no file of ratings."""
        return next(iter(self.suite.selection.panels.values()))

    @property
    def judges(self) -> tuple[str, ...]:
        """Those in use and their candidates."""
        files = files_of([self])
        return files[0].judges if files else tuple(self.panel.judges)

    @property
    def replaces(self) -> Mapping[str, str]:
        """Candidate -> judge in use, where a panel says so."""
        return self.panel.replaces if self.suite.selection.panels else {}

    @property
    def places(self) -> list[Elicitation]:
        """Every task and protocol that its judges in use were asked by."""
        (name,) = (*self.suite.selection.panels, *self.suite.selection.files)
        return self.suite.selection.elicitations(name)

    @property
    def compared(self) -> list[Elicitation]:
        """Those whose ratings judges are compared by."""
        return [one for one in self.places if one.protocol == FILE or known_protocol(one.protocol).OFFERS in UPGRADED]

    def line_up(self, place: Elicitation, judge: str) -> Elicitation:
        """Where this judge was asked: a candidate in a line-up of its own."""
        return replace(place, candidate=judge if judge in self.replaces else "")


def subject_of(place: Elicitation) -> dict[str, str]:
    """What the verdict on an upgrade there is about; tables to paste name it in this order."""
    return {"panel": place.panel, "task": place.task, "protocol": place.protocol}


def split_arguments(given: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The one or two files or panels that come first, and the names of judges after them."""
    paths = [Path(one) for k, one in enumerate(given[:2]) if k == 0 or Path(one).is_file()]
    names = list(given[len(paths) :])
    if len(names) not in (0, 2):
        no_file = "" if Path(names[0]).exists() or len(names) != 1 else f" (there is no file {names[0]})"
        got = f"{', '.join(names)}{no_file}"
        raise RecuseError(f"name two judges, the one in use and its candidate, or none; got {got}")
    return paths, names


def open_sources(
    paths: Sequence[Ratings | RatingsSource], gates: Gates, given: Mapping[str, Any], reader: str = "",
    names: Sequence[str] = (),
) -> list[Source]:  # fmt: skip
    """Each opened; `names`: of the judges that are compared. Where one file needs more columns than the other to name
    its items, both are named by these: a part of a file may look as if fewer would do."""
    given = {"compared": tuple(part for name in names for part in (name, name.split(",")[0])), **given}
    sources = [open_source(path, gates, given, reader) for path in paths]
    panels = files_of(sources)
    item = max((panel.mapping.item for panel in panels), key=len, default=())
    shared = all(set(item) <= set(panel.raw.frame.columns) for panel in panels)
    if len(panels) < len(sources) or given.get("item") or not shared:
        return sources
    for k, (path, panel) in enumerate(zip(paths, panels, strict=True)):
        if panel.mapping.item != item and not isinstance(path, Ratings):
            sources[k] = open_source(path, gates, {**given, "item": item}, reader)
    return [_file(panel, gates) for panel in on_the_same_items(files_of(sources))]


def files_of(sources: Iterable[Source]) -> list[FilePanel]:
    """Those of them that are files of ratings."""
    return [panel for source in sources for panel in source.suite.selection.files.values()]


def open_source(path: Ratings | RatingsSource, gates: Gates, given: Mapping[str, Any], reader: str = "") -> Source:
    """A panel file (.toml), a file, frame or table of ratings, or ratings. `RecuseError` for what cannot be read."""
    if isinstance(path, Ratings):
        return _file(panel_of(path), gates)
    if isinstance(path, Path) and path.suffix == ".toml":
        if columns := [name for name, value in given.items() if value and name not in ("compared", "threshold")]:
            raise RecuseError(f"{path}: a panel has no columns to name by --{columns[0]}")
        source = Source.of_panel(root_of([path]), path.resolve(), gates)
        if source.panel.source_fixes != "pairs":
            why = "the source gives no pairs, and judges are compared text by text"
            raise RecuseError(f"{path}: not measured: {why}; {UNLOCK['pairs']}")
        return source
    if isinstance(path, Path) and not path.exists():
        raise RecuseError(f"there is no file {path}; recuse compare FILE JUDGE_IN_USE CANDIDATE, or two files")
    return _file(load_file_panel(path, reader=reader, **{"compared": (), **given}), gates)


def _file(panel: FilePanel, gates: Gates) -> Source:
    check_for_judges(panel.ratings, panel.path)
    selection = Selection(panel.path.parent, files={panel.name: panel})
    truth = panel.ratings.truth
    people = f"people: {', '.join(people_beside_truth(panel.ratings)) or 'none'}"
    people += f"; right answers: {truth}" if truth else ""
    faults = (f"fault: {fault.sentence()}" for fault in panel.faults)
    decided = (note for note in panel.notes if note.startswith(ONE_DECISION))
    remarks = tuple(f"{panel.path.name}: {remark}" for remark in (people, *decided, *faults))
    return Source(panel.path, Suite(selection, gates, Recordings(selection)), remarks)


def root_of(paths: Iterable[object]) -> Path:
    """The repository of the first panel among them, with its tasks, cassettes and limits; else the current folder."""
    panels = (path.resolve() for path in paths if isinstance(path, Path) and path.suffix == ".toml")
    return next((path.parents[2] for path in panels if path.parts[-3:-1] == ("fixtures", "panels")), Path.cwd())


def pair_up(
    sources: Sequence[Source], names: Sequence[str], change: Sequence[str]
) -> Iterator[tuple[Elicitation, Upgrade]]:
    """Every place at which both judges were asked, with the upgrade to decide there. A judge may be named with the
    levels it was asked under: "gpt,prompt=short,temp=0"."""
    old, new = sources[0], sources[-1]
    given = names or _only(old, new)
    (incumbent, held), (candidate, wanted) = _judge_and_levels(old, given[0]), _judge_and_levels(new, given[1])
    declared = tuple(change) or ("model",)
    if not change and new is old and candidate in new.replaces:
        declared = new.panel.changes[candidate]
    there = {(place.task, place.protocol): place for place in old.compared}
    pairs = [(there[key], place) for place in new.compared if (key := (place.task, place.protocol)) in there]
    if len(old.compared) == len(new.compared) == 1:  # whatever they are called
        pairs = [(old.compared[0], new.compared[0])]
    if not pairs:
        raise RecuseError(f"{old.path.name} and {new.path.name} have no task and protocol in common")
    for before, after in pairs:
        sides = ((old, before, incumbent, held), (new, after, candidate, wanted))
        answered = (one.suite.answered(one.line_up(place, judge), judge, **at) for one, place, judge, at in sides)
        (one, other), settings, calls = zip(*answered, strict=True)
        if incumbent not in one.judges or candidate not in other.judges:
            continue
        if one is other and incumbent == candidate and held == wanted:
            raise RecuseError(f"an upgrade is between two judges; {candidate} was named as both")
        if one is other and incumbent != candidate:
            one, other = one.without(candidate), other.without(incumbent)
        yield after, Upgrade(_under(one, held), incumbent, _under(other, wanted), candidate, declared, settings, calls)


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
            [(candidate, incumbent)] = new.replaces.items()
            return incumbent, candidate
        judges = [*old.judges[:2]]
        if len(old.judges) == 1 and (varied := _ways(old)):
            judges = [",".join([judges[0], *(f"{name}={ways[at]}" for name, ways in varied.items())]) for at in (0, -1)]
        like = f"recuse compare {shlex.join([str(old.path), *judges])}; the judges are {', '.join(old.judges)}"
        raise RecuseError(f"say which judge is in use and which would replace it: {like}")
    if len(old.judges) == len(new.judges) == 1:
        return old.judges[0], new.judges[0]
    # asked also where one judge is in both: more often another one beside it is the candidate
    candidate = next((judge for judge in new.judges if judge not in old.judges), new.judges[0])
    like = shlex.join([str(old.path), str(new.path), old.judges[0], candidate])
    one, other = (f"{source.path.name} ({', '.join(source.judges)})" for source in (old, new))
    raise RecuseError(f"say which judge of {one} and which of {other} are meant: recuse compare {like}")


def _ways(source: Source) -> dict[str, tuple[str, ...]]:
    """Factor -> its levels, of what was varied between two calls of the only judge."""
    for place in source.compared:
        own = source.suite.ratings(source.line_up(place, source.judges[0]))
        own = replace(own, table=own.table[own.table["kind"].ne(PERSON)], _memory={})
        return {name: own.levels(name) for name in own.factors if len(own.levels(name)) > 1}
    return {}


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
