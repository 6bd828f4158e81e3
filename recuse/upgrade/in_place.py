"""Judges changed in place: the same name, and another model, prompt, rubric, sampling, wire or reader than before.

Such a change is an upgrade, declared or not: both recordings are replayed, one from the base commit with its panel and
task files, and held against each other under its limits: what a change is measured by is not part of the change. What
is not shown to be equivalent or better is for a person to decide."""

from __future__ import annotations

import difflib
import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from recuse.configuration.toml_files import read_toml
from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import headers
from recuse.gates import Gates
from recuse.gates.upgrade_verdict import UpgradeVerdict
from recuse.git import BaseCommit
from recuse.metrics.upgrade import CHANGES, Upgrade
from recuse.panels import Panel
from recuse.protocols import module_of, protocol
from recuse.schema import RecuseError
from recuse.schema.results import InPlaceRow
from recuse.schema.vocabulary import record_command
from recuse.security.files import text_of
from recuse.suite import Elicitation, Selection
from recuse.suite.question_runner import shipped_evals
from recuse.suite.questions import UPGRADED
from recuse.upgrade import judge_upgrade, worst_of
from recuse.upgrade.request_recordings import base_copy
from recuse.upgrade.sources import Source, subject_of
from recuse.upgrade.yardsticks import keys_of

Word = Literal["better", "equivalent", "decide", "worse"]
KINDS: Mapping[str, str] = {"model": "model", "host": "model", "served": "model", "wire": "wire", "prompt": "prompt",
                            "rubric": "rubric", "scale": "scale"}  # fmt: skip
"""Field of a judge's fingerprint -> what an upgrade that changes it is called; all others are sampling."""
ORDER = ("model", "prompt", "rubric", "scale", "wire", "sampling", "reader", "recording")
SAMPLING = ("parameters", "structured", "seeded", "headers", "query", "rename", "omit")
NEEDED = ("upgrade_agreement", "upgrade_human_offset", "upgrade_shift", "upgrade_losses")  # to decide an upgrade
MOST_LINES, LONGEST_LINE = 3, 160
Fingerprints = Mapping[str, Mapping[str, object]]


def changed_in_place(root: Path, selection: Selection, commit: BaseCommit, gates: Gates) -> list[InPlaceRow]:
    """Every judge in use of the selected panels that is not what it was at the base commit, compared with the
    recordings of that commit; in the order of panels and judges. Candidates that a panel declares (`replaces`) are not
    among them. `gates`: the run's, which know those of the base commit; the limits of now, or the shipped ones, count
    where that knew no upgrades as they are decided today."""
    known = (one for one in (gates.former, gates) if one is not None and all(name in one for name in NEEDED))
    limits = next(known, None) or Gates.load(shipped_evals() / "gates.toml", today=gates.today)
    panels = [panel for panel in selection.panels.values() if panel.path.is_relative_to(root)]
    tasks = dict.fromkeys(f"fixtures/tasks/{name}" for panel in panels for name in panel.tasks)
    paths = [*(panel.path.relative_to(root).as_posix() for panel in panels), *commit.files(*tasks)]
    held = dict(commit.contents(paths))
    return [change for panel in panels for change in _of_panel(root, panel, commit, held, limits)]


def _of_panel(
    root: Path, panel: Panel, commit: BaseCommit, held: Mapping[str, bytes], gates: Gates
) -> Iterator[InPlaceRow]:  # fmt: skip
    """`held`: what the files of panels and their tasks held at the base commit."""
    path = panel.path.relative_to(root).as_posix()
    renamed = (  # under another file name beside the one that it has now; git is asked only then
        other for folder in Path(path).parents[:1] for other in commit.files(f"{folder.as_posix()}/")
        if other.endswith(".toml") and keys_of(commit.text(other)).get(("name",)) == panel.name
    )  # fmt: skip
    if (before := path if path in held else next(renamed, None)) is None:
        return  # a new panel
    held = held if before in held else {**held, **dict(commit.contents([before]))}
    tasks = tuple(f"fixtures/tasks/{name}/" for name in panel.tasks)
    paths = [before, *(old for old in held if old.startswith(tasks))]
    protocols = dict.fromkeys(name for table in panel.tasks.values() for name in table.protocols)
    readers = {name: file for name in protocols if (file := _reader_changed(root, name, commit))}
    there = {old: root / (path if old == before else old) for old in paths}
    same = (now.is_file() and held.get(old) == now.read_bytes() for old, now in there.items())
    if not readers and all(same):
        return
    with base_copy(root, commit, before, *tasks, f"cassettes/{panel.name}") as folder:
        try:
            old = Source.of_panel(folder, folder / before, gates)
            known = {place: _fingerprints(old, place) for place in old.places}
        except RecuseError as error:
            reason = next(iter(str(error).splitlines()), "").replace(f"{folder}/", "")
            for judge in (judge for judge in panel.judges if judge not in panel.replaces):
                why = f"{judge} cannot be compared: its panel at the base commit cannot be read ({reason})"
                yield {"judge": judge, "panel": panel.name, "kind": "recording", "was": "", "is": "", "word": "decide",
                       "cause": why, "paste": "", "kinds": [], "steps": []}  # fmt: skip
            return
        yield from _of_judges(old, known, Source.of_panel(root, panel.path, gates), readers)


def _reader_changed(root: Path, name: str, commit: BaseCommit) -> str | None:
    """The file of a team's own protocol that reads replies otherwise than before: below `root`, with other text."""
    module = module_of(name)
    spec = None if module.startswith("recuse.") else importlib.util.find_spec(module)
    file = Path(spec.origin).resolve() if spec is not None and spec.origin else None
    if file is None or not file.is_relative_to(root.resolve()):
        return None
    inside = file.relative_to(root.resolve()).as_posix()
    return inside if commit.text(inside) not in (None, text_of(file)) else None


def _of_judges(
    old: Source, known: Mapping[Elicitation, Fingerprints], new: Source, readers: Mapping[str, str]
) -> Iterator[InPlaceRow]:
    """`known`: the fingerprints of `old`, place by place."""
    at_places = {place: (known[place], _fingerprints(new, place)) for place in new.places if place in known}
    for judge in new.panel.judges:
        if judge in new.panel.replaces or judge in old.panel.replaces:
            continue
        fields: dict[Elicitation, list[str]] = {}
        for place, (before, after) in at_places.items():
            if judge in before and judge in after:
                one, other = before[judge], after[judge]
                fields[place] = [name for name in {**one, **other} if one.get(name) != other.get(name)]
        kinds = {KINDS.get(name, "sampling") for names in fields.values() for name in names}
        kinds |= {"reader" for place in fields if place.protocol in readers}
        if kinds:
            places = [place for place in fields if fields[place] or place.protocol in readers]
            ordered = sorted(kinds, key=ORDER.index)
            was, now = _was_and_is(judge, ordered[0], old, new, places)
            word, cause, steps = _word(judge, old, new, places, readers)
            yield {
                "judge": judge, "panel": new.panel.name, "kind": ordered[0], "was": was, "is": now, "word": word,
                "cause": f"{judge} has another {' and '.join(ordered)}: {cause}",
                "paste": _declared(judge, new.panel, ordered), "kinds": ordered, "steps": list(steps),
            }  # fmt: skip


def _fingerprints(side: Source, place: Elicitation) -> Fingerprints:
    """Judge -> how it is asked, field by field, with what cells differ by under one name each."""
    plan = side.suite.selection.plan(place)
    fingerprints: dict[str, dict[str, object]] = {}
    for header in headers(side.panel, plan, Chain(plan).expected()).values():
        fingerprints.setdefault(header["judge"], dict(header["fingerprint"]))
    return fingerprints


def _word(
    judge: str, old: Source, new: Source, places: Sequence[Elicitation], readers: Mapping[str, str]
) -> tuple[Word, str, tuple[str, ...]]:  # fmt: skip
    """The verdict over all places at which it was asked in both states; "decide" where one cannot be compared."""
    verdicts: list[UpgradeVerdict] = []
    for place in places:
        if protocol(place.protocol).OFFERS not in UPGRADED:
            return "decide", f"replies by {place.protocol} give no scores or choices to compare; read what changed", ()
        if place.protocol in readers:
            file = readers[place.protocol]
            return "decide", f"{file} reads replies otherwise; compare what it makes of them by hand", ()
        try:
            before = old.suite.ratings(place)
        except RecuseError:
            return "decide", f"{place} was not recorded at the base commit, so there is nothing to compare with", ()
        try:
            after = new.suite.ratings(place)
        except RecuseError:
            return "decide", f"{place} was not recorded again", (record_command(place.panel),)
        if judge not in before.judges or judge not in after.judges:
            return "decide", f"{place} has no recording of it in both states", (record_command(place.panel),)
        calls = old.suite.calls(place, judge), new.suite.calls(place, judge)
        upgrade = Upgrade(before, judge, after, judge, change=CHANGES, calls=calls)
        verdicts.append(judge_upgrade(new.suite.gates, upgrade, subject_of(place), share=1 / len(places)))
    worst = worst_of(verdicts)
    word: Word = worst.word if worst.word in ("better", "equivalent", "worse") else "decide"
    word = "decide" if worst.accepted else word  # the acceptance may be of another judge of this name
    # about one judge, so without the names of two
    cause = f"it {worst.clause}" if word in ("better", "worse") else worst.sentence.rstrip(".")
    return word, cause, tuple(step.replace(f"{judge} before", f"{judge} as it was") for step in worst.steps)


def _was_and_is(judge: str, kind: str, old: Source, new: Source, places: Sequence[Elicitation]) -> tuple[str, str]:
    before, after = old.panel.judges[judge], new.panel.judges[judge]
    if kind in ("prompt", "rubric", "scale"):
        return _lines(old, new, places[0].task, "prompts/**/*" if kind == "prompt" else "*.toml")
    if kind == "wire":
        return before.wire, after.wire
    if kind == "sampling":
        changed = [name for name in SAMPLING if getattr(before, name) != getattr(after, name)]
        was, now = (", ".join(f"{name} {json.dumps(getattr(side, name), default=str)}" for name in changed)
                    for side in (before, after))  # fmt: skip
        return was, now
    return (before.base_url, after.base_url) if before.model == after.model else (before.model, after.model)


def _lines(old: Source, new: Source, task: str, pattern: str) -> tuple[str, str]:
    folders = [side.suite.selection.root / "fixtures" / "tasks" / task for side in (old, new)]
    names = sorted({p.relative_to(f).as_posix() for f in folders for p in f.glob(pattern) if p.is_file()})
    lines: list[str] = []
    for name in names:
        was, now = ((text_of(folder / name) or "").splitlines() for folder in folders)
        lines += islice(difflib.unified_diff(was, now, n=0, lineterm=""), 2, None)  # without the names of the files
    gone, come = ([line[1:].strip()[:LONGEST_LINE] for line in lines if line[0] == sign] for sign in "-+")
    return "\n".join(gone[:MOST_LINES]), "\n".join(come[:MOST_LINES])


def _declared(judge: str, panel: Panel, kinds: Sequence[str]) -> str:
    """The table that would declare the upgrade, to add to the panel file: asked with all that the judge is now."""
    rows = next(table for table in read_toml(panel.path)["judge"] if table["name"] == judge)
    change = [kind for kind in kinds if kind in CHANGES]
    rows |= {"prompts": "prompts-v2"} if "prompt" in change else {}
    rows |= {"rubric": "rubric-v2.toml"} if "rubric" in change else {}
    rows |= {"name": f"{judge}-next", "replaces": judge, "change": change or ["model"]}
    return "\n".join(["[[judge]]", *(f"{name} = {_toml(value)}" for name, value in rows.items() if name != "label")])


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_toml(one)}' for name, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
