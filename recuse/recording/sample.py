"""A random part of what is recorded, asked again and compared: replies that somebody made up are not what a judge says.
Whether the new replies differ *more* than the judge differs from itself is a permutation test: if the recording is the
judge's, any of the replies to one prompt could as well be the one that came on another day. Nothing new is kept."""

from __future__ import annotations

import math
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Literal

import numpy as np

from recuse.cassettes.library import Library
from recuse.elicitation.plan import Plan, headers
from recuse.judges import read_response
from recuse.judges.client import MissingKeyError, keys_from_environment, secrets_of
from recuse.recording.panel_recording import Chains, Recorder
from recuse.recording.progress import RecordingInterrupted, spent_text
from recuse.schema import Call, RawResponse, RecuseError
from recuse.schema.results import ChangedRow
from recuse.schema.vocabulary import record_command

SHARE, FEWEST = 0.05, 20  # of each judge's replies that is asked again, and at least how many
ALPHA = 0.01  # the chance that any judge of a panel is accused whose recording is its own
PERMUTATIONS = 49_999
CHANCE: random.Random = random.SystemRandom()  # whoever writes a recording must not know which of it will be asked

Answer = tuple[float | None, str | None, str]  # score, response and status of one judgement
Reading = Mapping[tuple[str, str, str, str, str], Answer]  # of a reply, by (task, protocol, criterion, item, target)
Word = Literal["merge", "decide", "do not merge"]
Unit = Sequence[Reading]  # of one judge and prompt: the reply of the other day, then those of one day together


class Sample(Chains):
    """The chains of a recording, of which `drawn` alone is asked again: prompts, with the calls that are made."""

    drawn: Sequence[tuple[Sequence[Call], Sequence[Call]]] = ()

    def calls(self) -> list[Call]:
        """The calls that are made."""
        return [call for _, calls in self.drawn for call in calls]

    expected = calls

    def read(self, call: Call, response: RawResponse) -> Reading:
        """What the protocol reads in a reply."""
        chain = self.chain_of(call)
        read = chain.judge(call, read_response(chain.judges[call.judge].wire, response))
        return {
            (call.task, call.protocol, one.criterion, one.item or "", one.target or ""):
            (None if one.score is None or math.isnan(one.score) else one.score, one.response, one.status)
            for one in read
        }  # fmt: skip


def sample_again(recorder: Recorder, library: Library, plans: Sequence[Plan]) -> list[ChangedRow]:
    """A row per judge, each said as well. Judges without a key at hand, or of whom nothing is recorded, are not asked:
    a row says so and keeps the run red. `RecuseError` where no recording began; `RecordingInterrupted` for a signal."""
    panel, say = recorder.panel, recorder.say
    if panel.stand_in is not None or panel.provenance != "recorded":
        say(f"{panel.name}: its replies are {panel.provenance}; there is nobody to ask again")
        return []
    sample, why = Sample(panel, library, plans), dict.fromkeys((name for plan in plans for name in plan.judges), "")
    recorded = [call for call in Chains.calls(sample) if not call.stage and library.has(call)]  # those that judge
    for name, judge in sample.judges(recorded).items():
        try:
            keys_from_environment({name: judge})
        except MissingKeyError as error:
            why[name] = str(error)
    sample.drawn = list(_drawn([call for call in recorded if not why[call.judge]]))
    with tempfile.TemporaryDirectory(prefix="recuse-sample-") as folder:
        new = Library(Path(folder), panel.name, mode="missing", secrets=secrets_of(panel.judges).values(),
                      texts=library.texts)  # fmt: skip
        for chain in sample.chains:
            own = [call for call in sample.calls() if sample.chain_of(call) is chain]
            new.expect(own, headers(panel, chain.plan, own))
        say(f"{panel.name}: {len(sample.calls())} calls, drawn at random, are made again; nothing of it is kept")
        if report := replace(recorder, library=new).attempt(sample, readable=lambda call, response: None):
            if report.signal:
                raise RecordingInterrupted(f"{report.signal} received; nothing of the new replies is kept")
            say(f"{panel.name}: {report.stored} of {report.planned} came back{spent_text(report.spent, None, ', ')}")
            failed = {call.judge: reason.rstrip(".") for call, reason in reversed(report.failed)}  # the first of each
            why = {name: reason or failed.get(name, report.stopped) for name, reason in why.items()}
        rows = list(_rows(sample, library, new, why))
    for row in rows:
        say(f"{panel.name}: {row['cause']}{'; ' if row['after'] else ''}{row['after'] or ''}")
    return rows


def _drawn(recorded: Sequence[Call]) -> Iterator[tuple[Sequence[Call], Sequence[Call]]]:
    """(a prompt's recorded calls, what is asked again: two of one call, to see how far a judge differs from itself)."""
    prompts: dict[str, dict[tuple[object, ...], list[Call]]] = defaultdict(lambda: defaultdict(list))
    for call in recorded:
        prompts[call.judge][call.task, call.protocol, call.item, call.target, call.factors].append(call)
    for of_judge in prompts.values():
        wanted = max(FEWEST, math.ceil(SHARE * sum(map(len, of_judge.values()))))
        for calls in CHANCE.sample(list(of_judge.values()), min(wanted, len(of_judge))):
            call = CHANCE.choice(calls)
            yield calls, [call] if calls[1:] else [call, replace(call, repeat=call.repeat + 1)]


def _rows(sample: Sample, library: Library, new: Library, why: Mapping[str, str]) -> Iterator[ChangedRow]:
    units: dict[str, list[Unit]] = defaultdict(list)
    same: dict[str, list[bool]] = defaultdict(list)
    for recorded, calls in sample.drawn:
        now = [sample.read(call, new.response(call)) for call in calls if new.has(call)]
        before = [sample.read(call, library.response(call)) for call in recorded]
        if len(now) == len(calls):
            same[calls[0].judge].append(now[0] == before[recorded.index(calls[0])])
            units[calls[0].judge].append([before[0], *now] if now[1:] else [now[0], *before])
    drawn = Counter(calls[0].judge for _, calls in sample.drawn)
    for name, reason in why.items():
        word: Word = "decide"
        cause, counts, step = f"{name} was not asked again: {reason or 'none of its replies is recorded'}", None, ""
        if of_judge := units[name]:
            limit = ALPHA / len(drawn)
            pairs = [a == b for _, *together in of_judge for a, b in combinations(together, 2)]
            counts = (f"{sum(same[name])} of {len(same[name])} replies are as recorded, "
                      f"{sum(pairs)} of {len(pairs)} pairs of its own repeats are alike")  # fmt: skip
            if chance_of_as_much(of_judge) < limit:
                word, cause = "do not merge", f"{name}, asked again, differs from its recording more than from itself"
                step = "find out who recorded it, and when; then ask the judge itself: "
                step += record_command(sample.panel.name, name, "all")
            elif len(of_judge) < drawn[name]:
                cause = f"{name}, asked again, answered only {len(of_judge)} of {drawn[name]} prompts: {reason}"
            elif least_chance(of_judge) >= limit:
                cause = (f"{name} was asked again, but {len(of_judge)} prompts are too few to tell its replies from "
                         "made-up ones")  # fmt: skip
                step = f"record more texts, or ask all anew: {record_command(sample.panel.name, name, 'all')}"
            else:
                word, cause = "merge", f"{name}, asked again, says what is recorded"
        yield _row(sample.panel.name, name, word, cause, counts, step)


def not_sampled(panel: str, error: RecuseError) -> ChangedRow:
    """The row of a panel of which nobody was asked again, and why."""
    return _row(panel, "", "decide", f"{panel} was not asked again: {str(error).splitlines()[0]}")


def _row(panel: str, judge: str, word: Word, cause: str, counts: str | None = None, step: str = "") -> ChangedRow:
    return {
        "kind": "recording", "what": f"sample of {judge or 'all'} ({panel})", "before": None, "after": counts,
        "word": word, "cause": cause, "place": {"panel": panel, **({"judge": judge} if judge else {})},
        "red": word != "merge", "next": step,
    }  # fmt: skip


def chance_of_as_much(units: Sequence[Unit]) -> float:
    """The chance that one reply to each prompt, whichever, stands out among the others as the first does: the smaller
    of two permutation tests, doubled. One looks at the mean distance of a reply from the others to its prompt, too far
    or too near: of two scores their difference in parts of the widest there is, of anything else 0 where it is the same
    and 1 where not. The other looks at what shifts over all prompts: mean scores, and how often each answer and status
    is given."""
    scores: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for reading in (one for unit in units for one in unit):
        for key, (score, _, _) in reading.items():
            if score is not None:
                scores[key[:3]].append(score)
    widest = {key: max(of) - min(of) or 1.0 for key, of in scores.items()}
    features = [[_features(reply, widest) for reply in unit] for unit in units]
    names = list(dict.fromkeys(name for of_unit in features for reply in of_unit for name in reply))
    chance = np.random.default_rng(0)
    distances, total = np.zeros(PERMUTATIONS + 1), np.zeros((PERMUTATIONS + 1, len(names)))
    scatter = np.zeros(len(names))
    for unit, of_unit in zip(units, features, strict=True):
        apart = np.array([[_distance(a, b, widest) for b in unit] for a in unit]).sum(axis=1)
        alone = np.concatenate([[0], chance.integers(len(unit), size=PERMUTATIONS)])  # in each permutation
        distances += apart[alone] / (len(unit) - 1)
        table = np.array([[reply.get(name, 0.0) for name in names] for reply in of_unit])
        shift = (table - table.mean(axis=0)) * len(unit) / (len(unit) - 1)
        total += shift[alone]
        scatter += (shift**2).mean(axis=0)
    shifted = (total[:, scatter > 0] ** 2 / scatter[scatter > 0]).sum(axis=1)
    far, near, moved = (float((one >= one[0] - 1e-9).mean()) for one in (distances, -distances, shifted))
    return min(1.0, 2 * min(2 * far, 2 * near, moved))


def least_chance(units: Sequence[Unit]) -> float:
    """The smallest that `chance_of_as_much` can be with so many replies, whatever they are."""
    return 2 * math.prod(1 / len(unit) for unit in units)


def _distance(a: Reading, b: Reading, widest: Mapping[tuple[str, ...], float]) -> float:
    distances = []
    for key in a.keys() | b.keys():
        one, other = a.get(key), b.get(key)
        if one is not None and other is not None and one[0] is not None and other[0] is not None:
            distances.append(abs(one[0] - other[0]) / widest.get(key[:3], 1.0))
        else:
            distances.append(float(one != other))
    return fmean(distances) if distances else 0.0


def _features(reading: Reading, widest: Mapping[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
    """Mean score, and counts of answers and of what is no answer, by criterion and target."""
    features: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for (task, protocol, criterion, _, target), (score, response, status) in reading.items():
        place = task, protocol, criterion, target
        if score is not None:
            features[*place, "score"].append(score / widest[place[:3]])
        if score is None or response is not None:
            features[*place, status, response or ""].append(1.0)
    return {name: fmean(values) if name[-1] == "score" else sum(values) for name, values in features.items()}
