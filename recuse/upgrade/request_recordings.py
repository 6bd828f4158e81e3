"""Recordings that a change makes or replaces: a row per judge, and what in them contradicts itself.

    for row in changed_recordings(root, commit, panels):
        row["cause"]        # "judge_1: 120 replies of the base commit stand under other requests; ..."

Three things can be told offline, and each is red: replies of the base commit under another request (signed again, not
asked again), replies that are another judge's, and replies whose own `model` is not the one that the panel names. A
reply with an id of its provider is told by its bytes. One without an id may repeat by chance, so that nearly all of a
judge's replies must, in words that vary. That a reply was made up cannot be told offline at all.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal

from recuse.cassettes import record_format
from recuse.cassettes.cell_file import CassetteError, plain_path
from recuse.cassettes.index import read_index, read_indexed
from recuse.git.commits import BaseCommit
from recuse.judges import other_models, read_response, wire
from recuse.panels import Panel
from recuse.schema import RawResponse, Reply
from recuse.schema.results import ChangedRow

__all__ = ["changed_recordings"]

FEWEST, SHARE, VARIED = 10, 0.9, 0.25
"""Replies without an id are another's where at least so many are alike, this share of all, in so many different
words."""


@dataclass(frozen=True, slots=True)
class _Answer:
    place: tuple[str, int, int]  # what of the task: the cell without its judge, which request of it, which repeat
    key: str
    body: bytes


@dataclass(slots=True)
class _Recorded:
    """The answers of one judge by one protocol, by request and repeat."""

    answers: dict[tuple[str, str, int], _Answer] = field(default_factory=dict)
    base: dict[tuple[str, str, int], _Answer] = field(default_factory=dict)


def changed_recordings(root: Path, commit: BaseCommit, panels: Mapping[str, Panel]) -> Iterator[ChangedRow]:
    """A row per judge of these panels whose cassettes are not what they were at the base commit."""
    paths = [PurePosixPath(path).parts for path in commit.differing()]
    places = {parts[1:4] for parts in paths if parts[0] == "cassettes" and len(parts) == 5 and parts[1] in panels}
    by_judge: dict[tuple[str, str], list[_Recorded]] = defaultdict(list)
    others: dict[tuple[str, str], list[tuple[str, _Recorded]]] = defaultdict(list)
    for panel, task, protocol in sorted(places):
        recorded = _read(root, commit, f"cassettes/{panel}/{task}/{protocol}")
        for judge, one in recorded.items():
            if one.base.keys() != one.answers.keys() or any(one.base[k].body != a.body for k, a in one.answers.items()):
                by_judge[panel, judge].append(one)
                others[panel, judge] += [(name, other) for name, other in recorded.items() if name != judge]
    for (panel, judge), recorded_of in sorted(by_judge.items()):
        yield _row(panels[panel], judge, recorded_of, others[panel, judge])


def _read(root: Path, commit: BaseCommit, folder: str) -> dict[str, _Recorded]:
    """Judge -> all of its answers below `folder`, now and at the base commit."""
    recorded: dict[str, _Recorded] = defaultdict(_Recorded)
    with tempfile.TemporaryDirectory(prefix="recuse-base-") as before:
        commit.copy(commit.files(folder), Path(before))
        for side in (Path(before), root):
            for cell in sorted({plain_path(path) for path in (side / folder).glob("*.jsonl*")}):
                judge, _, rest = cell.name.removesuffix(".jsonl").partition("~")
                answers = {(rest, a.key, a.place[2]): a for a in _answers(cell, rest)}
                (recorded[judge].answers if side == root else recorded[judge].base).update(answers)
    return recorded


def _answers(cell: Path, about: str) -> Iterator[_Answer]:
    """The answers of a cell; none of one that is damaged, which replay refuses."""
    index = read_index(cell)
    try:
        data = read_indexed(index) if index.exists and not index.faults else b""
    except CassetteError:
        return
    order = {key: n for n, key in enumerate(index.requests)}
    for (key, repeat), (at, length) in index.answers.items():
        if data:
            yield _Answer((about, order[key], repeat), key, record_format.read_answer(data, at, length)[2])


def _row(
    panel: Panel, judge: str, recorded: Sequence[_Recorded], others: Sequence[tuple[str, _Recorded]]
) -> ChangedRow:  # fmt: skip
    now = [answer for one in recorded for key, answer in one.answers.items()
           if key not in one.base or one.base[key].body != answer.body]  # fmt: skip
    again = sum(key in one.base for one in recorded for key, answer in one.answers.items()
                if key in one.base and one.base[key].body != answer.body)  # fmt: skip
    gone = sum(len(one.base.keys() - one.answers.keys()) for one in recorded)
    known = panel.judges.get(judge)
    replies = [read_response(wire(known.wire), RawResponse(200, {}, a.body)) for a in now] if known else []
    models = sorted({reply.model for reply in replies if reply.model})
    faults = list(_faults(panel, judge, now, replies, recorded, others))
    kept = "" if gone == 0 else f", {gone} of the base commit are gone"
    counts = f"{len(now) - again} replies are new, {again} stand where the base commit has others{kept}"
    about = f"{counts}; {_account(now, replies, known.model if known else '', models)}"
    word: Literal["merge", "decide", "do not merge"]
    if faults:
        word, cause = "do not merge", f"{judge}: {faults[0]}"
    else:
        word = "decide" if again else "merge"
        cause = f"{again} replies of {judge} to unchanged requests are not those of the base commit" if again else \
            f"{judge} is recorded: {len(now)} new replies"  # fmt: skip
    return {
        "kind": "recording", "what": f"recordings of {judge} ({panel.name})", "before": None,
        "after": "; ".join([about, *faults[1:]]), "word": word, "cause": cause,
        "place": {"panel": panel.name, "judge": judge},
        "next": "ask the judge itself: pytest evals/ --record=all" if word != "merge" else "",
    }  # fmt: skip


def _account(answers: Iterable[_Answer], replies: Sequence[Reply], asked: str, models: Sequence[str]) -> str:
    """ "answered by gpt-5-2026-08-07 (asked: gpt-5), 2026-10-01 to 2026-10-02, 12000 tokens in, 3400 out"."""
    days = sorted(day for answer in answers if (day := _day(answer.body)))
    when = [days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"] if days else ["no date given"]
    tokens = [sum(count for count in counts if count) for counts in
              ([r.usage.input_tokens for r in replies], [r.usage.output_tokens for r in replies])]  # fmt: skip
    used = [f"{tokens[0]} tokens in, {tokens[1]} out"] if any(tokens) else []
    who = f"answered by {' and '.join(models) or 'a model that it does not name'} (asked: {asked})"
    return ", ".join([who, *when, *used])


def _faults(
    panel: Panel, judge: str, answers: Sequence[_Answer], replies: Sequence[Reply], recorded: Sequence[_Recorded],
    others: Sequence[tuple[str, _Recorded]],
) -> Iterator[str]:  # fmt: skip
    keys = {answer.key for answer in answers}
    before = {a.place: a for one in recorded for a in one.base.values() if a.key not in keys}
    if n := _alike(answers, before, panel, judge, judge):
        yield f"{n} of {len(answers)} replies are those of the base commit under other requests: nobody asked it again"
    for name in dict.fromkeys(name for name, _ in others):
        theirs = {a.place: a for other, one in others if other == name for a in one.answers.values()}
        if n := _alike(answers, theirs, panel, judge, name):
            yield f"{n} of {len(answers)} replies are those of {name}"
    known = panel.judges.get(judge)
    if known and (wrong := other_models(known.wire, known.model, (reply.model for reply in replies))):
        count = f"{sum(reply.model in wrong for reply in replies)} of {len(answers)}"
        yield f"{count} replies say that {wrong[0]} answered, and the panel names {known.model}"


def _alike(
    answers: Sequence[_Answer], others: Mapping[tuple[str, int, int], _Answer], panel: Panel, judge: str, other: str
) -> int:
    """How many replies are another's: by their bytes where a provider gave them an id, else by their words at the same
    place, where nearly all are and they vary."""
    bodies = {answer.body for answer in others.values()}
    if same := sum(answer.body in bodies and _id(answer.body) for answer in answers):
        return same
    pairs = [(a, others[a.place]) for a in answers if a.place in others and not _id(a.body)]
    if len(pairs) < max(FEWEST, SHARE * len(answers)) or not {judge, other} <= panel.judges.keys():
        return 0
    formats = wire(panel.judges[judge].wire), wire(panel.judges[other].wire)
    words = [[read_response(how, RawResponse(200, {}, a.body)).text for how, a in zip(formats, pair, strict=True)]
             for pair in pairs]  # fmt: skip
    equal = [mine for mine, theirs in words if mine == theirs]
    return len(equal) if len(equal) >= SHARE * len(answers) and len(set(equal)) >= VARIED * len(equal) else 0


def _members(body: bytes) -> Mapping[str, object]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _id(body: bytes) -> bool:
    """Whether the provider gave this reply a name of its own."""
    return any(isinstance(name, str) and len(name) >= 8 for name in map(_members(body).get, ("id", "responseId")))


def _day(body: bytes) -> str:
    seconds = next((at for at in map(_members(body).get, ("created", "created_at")) if isinstance(at, int | float)), 0)
    return datetime.fromtimestamp(seconds, UTC).date().isoformat() if 0 < seconds < 4e9 else ""
