"""Recordings that a change makes or replaces: a row per judge, and what in them contradicts itself.

Two things can be told offline, and are red: a reply with the id of one of the base commit under another request
(signed again, not asked again) or of another judge's, and replies whose own `model` is not the one that the panel
names. Nearly all of a judge's replies in the words of others, if they vary, are for a person to decide: a judge without
chance may say the same again. That a reply was made up cannot be told offline at all."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from recuse.cassettes import record_format
from recuse.cassettes.cell_cassette import SIDE
from recuse.cassettes.cell_file import plain_path
from recuse.cassettes.pack_file import INDEX, STORE, packed_cells, share_store
from recuse.cassettes.plain_file import CassetteError
from recuse.cassettes.record_format import read_index, read_indexed
from recuse.git import BaseCommit
from recuse.judges import other_models, read_response
from recuse.judges.provider_responses import parsed
from recuse.panels import Panel
from recuse.schema import RawResponse, Reply
from recuse.schema.results import ChangedRow
from recuse.schema.vocabulary import record_command

FEWEST, SHARE, VARIED = 10, 0.9, 0.25  # replies read as another's: so many, of all, in different words
LONG = 20  # characters of an id that no other reply has by chance
Word = Literal["merge", "decide", "do not merge"]


@dataclass(frozen=True, slots=True)
class _Answer:
    """Answers are the same if their bodies are."""

    # what of the task: the cell without its judge, which request of it, which repeat
    place: tuple[str, int, int] = field(compare=False)
    key: str = field(compare=False)
    body: bytes


class _Recorded(NamedTuple):
    """The answers of one judge by one protocol, by request and repeat, now and at the base commit."""

    answers: dict[tuple[str, str, int], _Answer]
    base: dict[tuple[str, str, int], _Answer]


def changed_recordings(root: Path, commit: BaseCommit, panels: Mapping[str, Panel]) -> Iterator[ChangedRow]:
    """A row per judge of these panels whose cassettes are not what they were at the base commit."""
    paths = [PurePosixPath(path).parts for path in commit.differing]
    ours = [parts for parts in paths if parts[0] == "cassettes" and len(parts) > 2 and parts[1] in panels]
    places = {parts[1:4] for parts in ours if len(parts) == 5}
    by_judge: dict[tuple[str, str], list[_Recorded]] = defaultdict(list)
    others: dict[tuple[str, str], list[tuple[str, _Recorded]]] = defaultdict(list)
    for panel in sorted(parts[1] for parts in ours if parts[2:] == (INDEX,)):
        try:
            with base_copy(root, commit, f"cassettes/{panel}/{INDEX}") as before:
                packed = [cell.relative_to(side / "cassettes").parts for side in (before, root)
                          for cell in packed_cells(side / "cassettes")]  # fmt: skip
            places |= {(panel, parts[1], parts[2]) for parts in packed if parts[0] == panel}
        except CassetteError as error:
            yield {"kind": "recording", "what": f"recordings of {panel}", "before": None, "after": None,
                   "word": "decide", "cause": f"packed recordings of {panel} cannot be compared: {error}",
                   "place": {"panel": panel}, "next": "python -m recuse.cassettes fetch"}  # fmt: skip
    for panel, task, protocol in sorted(places):
        recorded = _read(root, commit, f"cassettes/{panel}/{task}/{protocol}")
        for judge, one in recorded.items():
            if one.base != one.answers:
                by_judge[panel, judge].append(one)
                others[panel, judge] += [(name, other) for name, other in recorded.items() if name != judge]
    for (panel, judge), recorded_of in sorted(by_judge.items()):
        yield _row(panels[panel], judge, recorded_of, others[panel, judge])


@contextmanager
def base_copy(root: Path, commit: BaseCommit, *paths: str) -> Iterator[Path]:
    """A copy of these cassettes of the base commit, with its packs, from git or from here."""
    with tempfile.TemporaryDirectory(prefix="recuse-base-") as before:
        commit.copy([*commit.files(*paths), *commit.files(f"cassettes/{STORE}")], Path(before))
        share_store(root / "cassettes", Path(before) / "cassettes")
        yield Path(before)


def _read(root: Path, commit: BaseCommit, folder: str) -> dict[str, _Recorded]:
    recorded: dict[str, _Recorded] = defaultdict(lambda: _Recorded({}, {}))
    panel = PurePosixPath(folder).parents[1]
    with base_copy(root, commit, folder, f"{panel}/{INDEX}") as before:
        for side in (before, root):
            paths = {plain_path(path) for path in (side / folder).glob("*.jsonl*") if path.suffix != SIDE}
            with suppress(CassetteError):  # a pack that is not here has a row of its own
                paths |= {path for path in packed_cells(side / "cassettes") if path.parent == side / folder}
            for cell in sorted(paths):
                judge, _, rest = cell.name.removesuffix(".jsonl").partition("~")
                answers = recorded[judge].answers if side == root else recorded[judge].base
                index, data = read_index(cell), b""
                with suppress(CassetteError):  # a damaged cell has no answers: replay refuses it
                    data = read_indexed(index) if index.exists and not index.faults else b""
                order = {key: n for n, key in enumerate(index.requests)}
                for (key, repeat), (at, length) in index.answers.items() if data else ():
                    body = record_format.read_answer(data, at, length).body
                    answers[rest, key, repeat] = _Answer((rest, order[key], repeat), key, body)
    return recorded


def _row(panel: Panel, judge: str, own: Sequence[_Recorded], others: Sequence[tuple[str, _Recorded]]) -> ChangedRow:
    now = [answer for one in own for key, answer in one.answers.items() if one.base.get(key) != answer]
    again = sum(one.base.get(key, answer) != answer for one in own for key, answer in one.answers.items())
    gone = sum(len(one.base.keys() - one.answers.keys()) for one in own)
    known = panel.judges.get(judge)
    replies = [read_response(known.wire, RawResponse(200, {}, a.body)) for a in now] if known else []
    models = sorted({reply.model for reply in replies if reply.model})
    faults = list(_faults(panel, judge, now, replies, own, others))
    kept = f", {gone} of the base commit are gone" if gone else ""
    counts = f"{len(now) - again} replies are new, {again} stand where the base commit has others{kept}"
    ids = [name for answer in now if (name := _id(answer.body))]
    account = f"; {_account(now, replies, known.model if known else '', models, ids)}" if now else ""
    word, cause = next(iter(faults), ("merge", ""))
    lost = f"{gone} replies of {judge} are gone"
    steps: Mapping[Word, str] = {
        "merge": "", "do not merge": f"ask the judge itself: {record_command(panel.name, judge, 'all')}",
        "decide": f"compare them with the judge: {record_command(panel.name, judge, 'sample')}, or accept them: "
        'pytest evals/ --update-baseline --because "..."',
    }  # fmt: skip
    if word != "do not merge" and again:
        word, cause = "decide", f"{again} replies of {judge} to unchanged requests are not those of the base commit"
    return {
        "kind": "recording", "what": f"recordings of {judge} ({panel.name})", "before": None,
        "after": "; ".join([counts + account, *(fault for _, fault in faults if fault != cause)]), "word": word,
        "cause": cause or (f"{judge} is recorded: {len(now)} new replies" if now else lost),
        "place": {"panel": panel.name, "judge": judge}, "ids": ids,
        "next": steps[word],
    }  # fmt: skip


def _account(
    answers: Iterable[_Answer], replies: Sequence[Reply], requested: str, models: Sequence[str], ids: Sequence[str]
) -> str:
    """ "answered by gpt-5-2026-08-07 (asked: gpt-5), 2026-10-01 to 2026-10-02, 12000 tokens in, 48 ids ..."."""
    days = sorted(day for answer in answers if (day := _day(answer.body)))
    when = " to ".join(dict.fromkeys([*days[:1], *days[-1:]])) or "no date given"
    given, written = (sum(r.usage.input_tokens or 0 for r in replies), sum(r.usage.output_tokens or 0 for r in replies))
    used = [f"{given} tokens in, {written} out"] if given or written else []
    who = f"answered by {' and '.join(models) or 'a model that it does not name'} (asked: {requested})"
    named = f"{len(ids)} ids of the provider, {ids[0]} to {ids[-1]}" if ids else "no ids given"
    return ", ".join([who, when, *used, named])


def _faults(
    panel: Panel, judge: str, answers: Sequence[_Answer], replies: Sequence[Reply], recorded: Sequence[_Recorded],
    others: Sequence[tuple[str, _Recorded]],
) -> Iterator[tuple[Word, str]]:  # fmt: skip
    """What of these answers contradicts itself (do not merge), and what only looks like it (decide)."""
    keys, of = {answer.key for answer in answers}, f"of {len(answers)} replies"
    before = {a.place: a for one in recorded for a in one.base.values() if a.key not in keys}
    elsewhere = {"the base commit under other requests": (judge, before)}
    for name, one in others:
        elsewhere.setdefault(name, (name, {}))[1].update({a.place: a for a in one.answers.values()})
    doubts: list[tuple[Word, str]] = []
    for whose, (other, those) in elsewhere.items():
        signs = set(_signs(those.values(), whole=other == judge))
        if same := sum(sign in signs for sign in _signs(answers, whole=other == judge)):
            nobody = ": nobody asked it again" if other == judge else ""
            yield "do not merge", f"{judge}: {same} {of} are those of {whose}{nobody}"
        elif same := _word_for_word(answers, those, panel, judge, other):
            doubts.append(("decide", f"{judge}: {same} {of} are word for word those of {whose}"))
    known = panel.judges.get(judge)
    if known and (wrong := other_models(known.wire, known.model, (reply.model for reply in replies))):
        count = sum(reply.model in wrong for reply in replies)
        yield "do not merge", f"{judge}: {count} {of} say that {wrong[0]} answered, and the panel names {known.model}"
    yield from doubts


def _word_for_word(
    answers: Sequence[_Answer], others: Mapping[tuple[str, int, int], _Answer], panel: Panel, judge: str, other: str
) -> int:
    """How many replies read as another's at the same place, if nearly all do and vary (no stand-in does)."""
    pairs = [(a, others[a.place]) for a in answers if a.place in others]
    enough = len(pairs) >= max(FEWEST, SHARE * len(answers))
    if not enough or panel.provenance != "recorded" or not {judge, other} <= panel.judges.keys():
        return 0
    formats = panel.judges[judge].wire, panel.judges[other].wire
    words = [[read_response(how, RawResponse(200, {}, a.body)).text for how, a in zip(formats, pair, strict=True)]
             for pair in pairs]  # fmt: skip
    equal = [one for one, another in words if one == another]
    return len(equal) if len(equal) >= SHARE * len(answers) and len(set(equal)) >= VARIED * len(equal) else 0


def _members(body: bytes) -> Mapping[str, object]:
    value = parsed(body)
    return value if isinstance(value, dict) else {}


def _id(body: bytes) -> str:
    """The name that the provider gave this reply; "" where it gave none that no other reply has."""
    names = map(_members(body).get, ("id", "responseId"))
    return next((name for name in names if isinstance(name, str) and len(name) >= 8), "")


def _signs(answers: Iterable[_Answer], *, whole: bool) -> list[str | bytes]:
    """Of each what no other reply has: its id where it is long and no other's here. A local server may count its ids up
    to a thousand, or give all replies one: then the `whole` where it is dated, which tells days and no judges apart."""
    named = [(_id(answer.body), answer.body) for answer in answers]
    times = Counter(name for name, _ in named)
    signs = (name if times[name] == 1 and len(name) >= LONG else body if whole and _day(body) else ""
             for name, body in named)  # fmt: skip
    return [sign for sign in signs if sign]


def _day(body: bytes) -> str:
    seconds = next((at for at in map(_members(body).get, ("created", "created_at")) if isinstance(at, int | float)), 0)
    return datetime.fromtimestamp(seconds, UTC).date().isoformat() if 0 < seconds < 4e9 else ""
