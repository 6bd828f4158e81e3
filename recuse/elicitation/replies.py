"""Reads every reply once: plan -> (call, response) -> read() -> ratings table, usage and excerpts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from recuse.elicitation.chains import Chain
from recuse.elicitation.excerpts import Excerpts
from recuse.elicitation.plan import Plan
from recuse.elicitation.usage import Usages
from recuse.judges import read_response, wire
from recuse.protocols import ElicitationProtocol, called, protocol
from recuse.ratings.ratings_table import COLUMNS, JUDGE, check_table
from recuse.schema import Call, Exchange, Judgement, RawResponse
from recuse.schema.cycle_collector import paused_cycle_collector

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Elicited", "read_replies"]


@dataclass(frozen=True)
class Elicited:
    """What one pass over the replies found. `table` has the factors under the names of `recuse.ratings.factors`."""

    table: pd.DataFrame
    usage: list[dict[str, Any]]
    excerpts: list[dict[str, Any]]


@paused_cycle_collector()
def read_replies(
    plan: Plan,
    responses: Iterable[tuple[Call, RawResponse]],
    chain: Chain | None = None,
    exchanges: list[Exchange] | None = None,
) -> Elicited:
    """The checked table with one row per call and criterion, in the order of the plan's calls, and what the replies
    say beside the scores. Each reply is decoded and read once.

    `responses` are those to the calls that judge. Where calls come before them, `chain` holds what was read there; the
    judgements that an earlier reply cost are rows at the end, with its stage in their status. `exchanges`: where every
    call is put down as it went, for those who want to read them."""
    how = protocol(plan.protocol)
    judge = (chain or Chain(plan)).judge
    formats = {name: wire(judge.wire) for name, judge in plan.judges.items()}
    usages, excerpts = Usages(plan), Excerpts(plan)
    rows = _Rows()
    for call, response in responses:
        reply = read_response(formats[call.judge], response)
        judgements = judge(call, reply)
        usages.count(call, reply, response.seconds)
        excerpts.note(call, reply, judgements)
        rows.add(call, judgements)
        if exchanges is not None:
            exchanges.append(Exchange(call, reply, judgements))
    if chain is not None:
        _add_earlier(chain, rows, usages, excerpts)
        if exchanges is not None:
            exchanges += _earlier_exchanges(chain)
    columns = {factor: called(how, factor) for factor in plan.factors}
    table, of = rows.table(how, columns)
    check_table(table, tuple(columns.values()), of)
    return Elicited(table, usages.rows(), excerpts.rows())


def _add_earlier(chain: Chain, rows: _Rows, usages: Usages, excerpts: Excerpts) -> None:
    """What the calls before the judging ones cost, and what their unreadable replies lost."""
    for call, reply in chain.replies.items():
        usages.count(call, reply)
    for call, reply, failure in chain.failures():
        excerpts.note(call, reply, [failure])
    for lost in chain.lost:
        rows.add(*chain.judgements_of(lost))


def _earlier_exchanges(chain: Chain) -> Iterator[Exchange]:
    failed = {call: [failure] for call, _, failure in chain.failures()}
    for call, reply in chain.replies.items():
        yield Exchange(call, reply, failed.get(call, []))


class _Rows:
    """Collects judgements, and makes the table column by column. What a call has is one value for all its rows; every
    text is stored once and pointed to, which takes a fraction of the time and memory of building row after row."""

    CHUNK = 20_000

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._sizes: list[int] = []  # rows of each call
        self._pending: list[Judgement] = []
        self._elsewhere: dict[int, tuple[str | None, str | None]] = {}  # row -> item and target that are not the call's
        self._parts: list[dict[str, Any]] = []
        self._count = 0

    def add(self, call: Call, judgements: Sequence[Judgement]) -> None:
        self._calls.append(call)
        self._sizes.append(len(judgements))
        self._pending += judgements
        if len(self._pending) >= self.CHUNK:
            self._settle()

    def _settle(self) -> None:
        """Turn the judgements collected so far into columns."""
        import numpy as np

        rows, self._pending = self._pending, []
        self._elsewhere |= {
            n: (row.item, row.target)
            for n, row in enumerate(rows, self._count)
            if row.item is not None or row.target is not None
        }
        self._count += len(rows)
        self._parts.append(
            {
                "criterion": np.array(list(map(attrgetter("criterion"), rows)), dtype=object),
                "score": np.array(list(map(attrgetter("score"), rows)), dtype=np.float64),
                "response": np.array(list(map(attrgetter("response"), rows)), dtype=object),
                "status": np.array([f"{r.stage}: {r.status}" if r.stage else r.status for r in rows], dtype=object),
            }
        )

    def table(self, how: ElicitationProtocol, columns: Mapping[str, str]) -> tuple[pd.DataFrame, Any]:
        """The table, and which call each row is of; nothing where that does not tell judgements apart."""
        import numpy as np
        import pandas as pd

        self._settle()
        of = np.repeat(np.arange(len(self._calls)), self._sizes)

        def spread(values: list[Any]) -> Any:
            return np.array(values, dtype=object)[of] if values else np.array([], dtype=object)

        made: dict[str, Any] = {
            name: np.concatenate([part.pop(name) for part in self._parts])
            for name in ("criterion", "score", "response", "status")
        }
        calls = self._calls
        for name, attribute in _OF_CALLS.items():
            made[name] = spread([getattr(call, attribute) for call in calls])
        made["repeat"] = np.array([call.repeat for call in calls], dtype=np.int64)[of]
        made["kind"] = spread([JUDGE] * len(calls))  # `np.full` would make a text of its own for every row
        for place, (item, target) in self._elsewhere.items():
            made["item"][place] = made["item"][place] if item is None else item
            made["target"][place] = made["target"][place] if target is None else target
        for place, (factor, column) in enumerate(columns.items()):
            levels = {level: called(how, factor, level) for level in {call.factors[place][1] for call in calls}}
            made[column] = spread([levels[call.factors[place][1]] for call in calls])
        typed = {
            name: pd.Series(
                made.pop(name), dtype="float64" if name == "score" else "int64" if name == "repeat" else object
            )
            for name in (*COLUMNS, *columns.values())
        }
        return pd.DataFrame(typed, copy=False), of if self._calls_differ() else None

    def _calls_differ(self) -> bool:
        """Whether no two calls can be about the same judgement, as two that judge items not their own may be."""
        if self._elsewhere:
            return False
        about = {hash((c.task, c.protocol, c.judge, c.item, c.target, c.factors, c.repeat)) for c in self._calls}
        return len(about) == len(self._calls)  # two with one hash are looked at more closely, as any two might be


_OF_CALLS = {
    "task": "task", "protocol": "protocol", "rater": "judge", "item": "item", "target": "target", "request": "key",
}  # fmt: skip
