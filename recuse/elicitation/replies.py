"""Reads every reply once: plan -> (call, response) -> read() -> ratings table, usage and excerpts.

Usage is what the replies cost: calls, tokens and dollars per judge, and the time they took, as recorded. Excerpts are
the replies worth reading: each judge's first on its own work, and the first ones that could not be used.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import Plan
from recuse.judges import other_models, read_response
from recuse.protocols import ElicitationProtocol, called, protocol
from recuse.ratings.ratings_table import COLUMNS, JUDGE, check_table
from recuse.schema import Call, Exchange, Judge, Judgement, RawResponse, Reply, Usage, reply_id
from recuse.schema.pandas_when_used import pd
from recuse.schema.plain_values import paused_cycle_collector

UNUSABLE_SHOWN = 2  # per judge
LONGEST_TEXT = 4000
LONGEST_PROMPT = 1500


@dataclass(frozen=True)
class Elicited:
    """What one pass over the replies found. `table` has the factors under the names of `recuse.schema.factors`."""

    table: pd.DataFrame
    usage: list[dict[str, Any]]
    excerpts: list[dict[str, Any]]


@paused_cycle_collector()
def read_replies(
    plan: Plan, responses: Iterable[tuple[Call, RawResponse]], chain: Chain | None = None,
    exchanges: list[Exchange] | None = None,
) -> Elicited:  # fmt: skip
    """The checked table with one row per call and criterion, in the order of the plan's calls, and what the replies
    say beside the scores. Each reply is decoded and read once.

    `responses` are those to the calls that judge. `chain` holds what was read before; judgements that an earlier reply
    cost are rows at the end, with its stage in their status. `exchanges`: where every call is put down as it went."""
    how = protocol(plan.protocol)
    chain = chain or Chain(plan)
    costs: dict[str, list[Cost]] = defaultdict(list)
    excerpts = Excerpts(plan)
    rows = _Rows()
    for call, response in responses:
        reply = read_response(plan.judges[call.judge].wire, response)
        judgements = chain.judge(call, reply)
        costs[call.judge].append((reply.usage, response.seconds, reply.model))
        excerpts.note(call, reply, judgements)
        rows.add(call, judgements)
        if exchanges is not None:
            exchanges.append(Exchange(call, reply, judgements))
    for call, reply in chain.replies.items():  # what the calls before the judging ones cost
        costs[call.judge].append((reply.usage, None, reply.model))
    for call, failure in (failed := chain.failures()).items():  # and what their unreadable replies lost
        excerpts.note(call, chain.replies[call], failure)
    for lost in chain.lost:
        rows.add(*lost)
    if exchanges is not None:
        exchanges += [Exchange(call, reply, failed.get(call, [])) for call, reply in chain.replies.items()]
    columns = {factor: called(how, factor) for factor in plan.factors}
    table, of = rows.table(how, columns)
    check_table(table, tuple(columns.values()), of)
    return Elicited(table, usage_rows(plan, costs), excerpts.rows)


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
        columns = {name: list(map(attrgetter(name), rows)) for name in ("criterion", "score", "response")}
        columns["status"] = [f"{row.stage}: {row.status}" if row.stage else row.status for row in rows]
        self._parts.append({name: np.array(of, dtype=_TYPES.get(name, object)) for name, of in columns.items()})

    def table(self, how: ElicitationProtocol, columns: Mapping[str, str]) -> tuple[pd.DataFrame, Any]:
        """The table, and which call each row is of; nothing where that does not tell judgements apart."""
        import numpy as np

        self._settle()
        of = np.repeat(np.arange(len(self._calls)), self._sizes)

        def spread(values: list[Any]) -> Any:
            return np.array(values, dtype=object)[of] if values else np.array([], dtype=object)

        made: dict[str, Any] = {
            name: np.concatenate([part.pop(name) for part in self._parts]) for name in tuple(self._parts[0])
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
        names = (*COLUMNS, *columns.values())
        typed = {name: pd.Series(made.pop(name), dtype=_TYPES.get(name, object)) for name in names}
        # Two calls that judge items not their own may be about the same judgement, and two with one hash might be.
        about = {hash((c.task, c.protocol, c.judge, c.item, c.target, c.factors, c.repeat)) for c in calls}
        return pd.DataFrame(typed, copy=False), None if self._elsewhere or len(about) < len(calls) else of


_TYPES: dict[str, Any] = {"score": "float64", "repeat": "int64"}  # of all other columns, object
_OF_CALLS = {
    "task": "task", "protocol": "protocol", "rater": "judge", "item": "item", "target": "target", "request": "key",
}  # fmt: skip


Cost = tuple[Usage, float | None, str | None]
"""Of one call: its tokens, seconds, and the model that its answer names; what is not said is None."""


def usage_rows(plan: Plan, costs: Mapping[str, Sequence[Cost]]) -> list[dict[str, Any]]:
    """One record per judge, as builtins. What one reply does not say is unknown for its whole judge, but for reasoning,
    of which not every provider tells. One that judges nothing here may have written for others."""
    rows = []
    for name, judge in {**plan.judges, **plan.panel_judges}.items():
        of_judge = costs.get(name, ())
        if name not in plan.judges and not of_judge:
            continue
        usages, seconds, models = zip(*of_judge, strict=True) if of_judge else ((),) * 3
        counts = [one.input_tokens for one in usages], [one.output_tokens for one in usages], seconds
        tokens_in, tokens_out, took = (None if None in known else sum(known) for known in counts)
        others = other_models(judge.wire, judge.model, models)
        rows.append(
            {
                "panel": plan.panel, "judge": name, "task": plan.task.name, "protocol": plan.protocol,
                "calls": len(of_judge), "input_tokens": tokens_in, "output_tokens": tokens_out,
                "reasoning_tokens": sum(one.reasoning_tokens or 0 for one in usages),
                "seconds": None if took is None else round(took, 3),
                "dollars": dollars(judge, tokens_in, tokens_out), **({"other_models": others} if others else {}),
            }
        )  # fmt: skip
    return rows


def dollars(judge: Judge, input_tokens: int | None, output_tokens: int | None) -> float | None:
    """Cost at the panel's prices (USD per million tokens); None where a price or a count is unknown."""
    if None in (judge.input_usd_per_mtok, judge.output_usd_per_mtok, input_tokens, output_tokens):
        return None
    return (judge.input_usd_per_mtok * input_tokens + judge.output_usd_per_mtok * output_tokens) / 1e6  # type: ignore[operator]


class Excerpts:
    """Collects while the replies are read. Per judge: the first reply on its own work (where it has none, on the first
    target) under each combination of factor levels, and the first replies that could not be used."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.rows: list[dict[str, Any]] = []  # the replies in the order of the plan, as builtins
        self._unusable: Counter[str] = Counter()
        self._noted: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
        targets: dict[str, dict[str, None]] = {name: {} for name in plan.judges}
        for judge, _, target in plan.items:
            targets[judge][target] = None
        self._about = {
            name: judge.author if judge.author in targets[name] else next(iter(targets[name]), None)
            for name, judge in plan.judges.items()
        }

    def note(self, call: Call, reply: Reply, rows: Sequence[Judgement]) -> None:
        """Keep the reply if it is one of those."""
        bad = next((row for row in rows if row.status != "ok"), None)
        own = call.target == self._about.get(call.judge) and (call.judge, call.factors) not in self._noted
        if not own and (bad is None or self._unusable[call.judge] >= UNUSABLE_SHOWN):
            return
        self._unusable[call.judge] += bad is not None
        if own:
            self._noted.add((call.judge, call.factors))
        # Its beginning and its end where it is long: the rubric stands first, the text last.
        prompt, half = "\n\n".join(m.content for m in call.prompt.messages) if call.prompt else "", LONGEST_PROMPT // 2
        how = protocol(call.protocol)
        if len(prompt) > LONGEST_PROMPT:
            prompt = f"{prompt[:half]}\n[... {len(prompt) - 2 * half} characters ...]\n{prompt[-half:]}"
        self.rows.append(
            {
                "panel": self._plan.panel, "task": call.task, "protocol": call.protocol, "judge": call.judge,
                "target": call.target, "repeat": call.repeat, "reply": reply_id(call),
                "factors": {called(how, factor): called(how, factor, level) for factor, level in call.factors},
                "status": bad.status if bad else "ok", "why": bad.why if bad else "",
                "text": reply.text[:LONGEST_TEXT], "prompt": prompt,
            }
        )  # fmt: skip
