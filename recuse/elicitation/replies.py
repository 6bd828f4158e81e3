"""Reads every reply once: plan -> (call, response) -> read() -> ratings table, usage and excerpts; and makes `Ratings`
of the table, with its scales, authors, texts and references.

Usage is what the replies cost: calls, tokens and dollars per judge, and the time they took, as recorded. Excerpts are
the replies worth reading: each judge's first on its own work, and the first ones that could not be used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import Plan
from recuse.judges import other_models, read_response
from recuse.protocols import ElicitationProtocol, called, headline_of, parts_of, protocol
from recuse.protocols.wording import facts_of
from recuse.ratings import Nominal, Ratings, array
from recuse.ratings.pair_array import PAIRED
from recuse.ratings.ratings_table import COLUMNS, JUDGE, PERSON, check_table, completed
from recuse.ratings.scale import Numeric, Scale
from recuse.references import SUMMARY, checked_people, payloads_of, people_of, reference_of
from recuse.schema import Call, Exchange, Judge, Judgement, RawResponse, Reply, Usage, reply_id
from recuse.schema.factors import DIRECTION, LEVELS
from recuse.schema.pandas_when_used import pd
from recuse.schema.plain_values import leaves, paused_cycle_collector
from recuse.tasks import Task

UNUSABLE_SHOWN = 2  # per judge
LONGEST_TEXT = 4000
LONGEST_PROMPT = 1500
_TYPES: dict[str, Any] = {"score": "float64", "repeat": "int64"}  # of all other columns, object
_IN_PARTS: dict[str, Any] = {"score": "float64", "criterion": "intp", "status": "intp"}  # places among the words
_OF_CALLS = {
    "task": "task", "protocol": "protocol", "rater": "judge", "item": "item", "target": "target", "request": "key",
}  # fmt: skip
_ABOUT = attrgetter("task", "protocol", "judge", "item", "target", "factors", "repeat")
Cost = tuple[Usage, float | None, str | None]  # tokens, seconds and model of a call; what is not said is None
REMARKS = EXPLANATIONS, QUOTES = "explanations", "quotes"
"""What a protocol calls its readers of reasons and of quoted places, and what these are offered as."""

WORDS = Nominal(("words", "other words"))  # reasons are free text; no measure takes them for options


class Elicited(NamedTuple):
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
    table, of, coded = rows.table(how, columns)
    check_table(table, tuple(columns.values()), of, coded)
    return Elicited(table, list(usage_rows(plan, costs)), excerpts.rows)


class _Rows:
    """Collects judgements, and makes the table column by column. What a call has is one value for all its rows; every
    text is stored once and pointed to, which takes a fraction of the time and memory of building row after row."""

    CHUNK = 20_000

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._sizes: list[int] = []  # rows of each call
        self._pending: list[Judgement] = []
        self._elsewhere: dict[int, tuple[str | None, str | None]] = {}  # row -> item and target that are not the call's
        self._words: dict[str, dict[str, int]] = {"criterion": {}, "status": {}}  # each different one with its place
        self._parts: list[dict[str, Any]] = []
        self._count = 0

    def add(self, call: Call, judgements: Sequence[Judgement]) -> None:
        self._calls.append(call)
        self._sizes.append(len(judgements))
        self._pending += judgements
        if len(self._pending) >= self.CHUNK:
            self._settle()

    def _settle(self) -> None:
        import numpy as np

        rows, self._pending = self._pending, []
        different = {id(row): row for row in rows}  # readers give one judgement for all replies that say the same
        place = {name: n for n, name in enumerate(different)}
        of = np.fromiter(map(place.__getitem__, map(id, rows)), dtype=np.intp, count=len(rows))
        if any(row.item is not None or row.target is not None for row in different.values()):
            self._elsewhere |= {n: (row.item, row.target) for n, row in enumerate(rows, self._count)}
        self._count += len(rows)
        part = {n: [getattr(row, n) for row in different.values()] for n in ("criterion", "score", "response")}
        part["status"] = [f"{row.stage}: {row.status}" if row.stage else row.status for row in different.values()]
        for name, words in self._words.items():
            part[name] = [words.setdefault(word, len(words)) for word in part[name]]
        self._parts.append({n: np.array(part[n], dtype=_IN_PARTS.get(n, object))[of] for n in part})

    def table(self, how: ElicitationProtocol, columns: Mapping[str, str]) -> tuple[pd.DataFrame, Any, Any]:
        """The table; which call each row is of, nothing where that does not tell judgements apart; and its columns as
        `recuse.ratings.array.coded` gives them."""
        import numpy as np

        self._settle()
        of = np.repeat(np.arange(len(self._calls)), self._sizes)

        def spread(values: list[Any]) -> Any:
            return np.array(values, dtype=object)[of] if values else np.array([], dtype=object)

        calls, parts = self._calls, self._parts
        made: dict[str, Any] = {name: np.concatenate([part.pop(name) for part in parts]) for name in tuple(parts[0])}
        for name, attribute in _OF_CALLS.items():
            made[name] = spread(list(map(attrgetter(attribute), calls)))
        made["repeat"] = np.array([call.repeat for call in calls], dtype=np.int64)[of]
        known = {name: (tuple(map(str, words)), made[name]) for name, words in self._words.items()}
        known["kind"] = (JUDGE,), np.zeros(len(of), dtype=np.intp)
        # One text for all rows that have it: `np.full` would make one for every row.
        made |= {name: np.array(words, dtype=object)[places] for name, (words, places) in known.items()}
        for place, (item, target) in self._elsewhere.items():
            made["item"][place] = made["item"][place] if item is None else item
            made["target"][place] = made["target"][place] if target is None else target
        for place, (factor, column) in enumerate(columns.items()):
            levels = {level: called(how, factor, level) for level in {call.factors[place][1] for call in calls}}
            made[column] = spread([levels[call.factors[place][1]] for call in calls])
        names = (*COLUMNS, *columns.values())
        # Indexes: series would be aligned with each other first, and the texts of arrays turned into Arrow's.
        typed = {name: pd.Index(made.pop(name), dtype=_TYPES.get(name, object), copy=False) for name in names}
        # Two calls that judge items not their own may be about the same judgement, and two with one hash might be.
        about = set(map(hash, map(_ABOUT, calls)))
        table, telling = pd.DataFrame(typed, copy=False), not self._elsewhere and len(about) == len(calls)
        coded = lambda name: known[name] if name in known else array.coded(table.loc[:, name])  # noqa: E731
        return table, of if telling else None, coded


def usage_rows(plan: Plan, costs: Mapping[str, Sequence[Cost]]) -> Iterator[dict[str, Any]]:
    """One record per judge, as builtins. What one reply does not say is unknown for its whole judge, but for reasoning,
    of which not every provider tells. One that judges nothing here may have written for others."""
    for name, judge in {**plan.judges, **plan.panel_judges}.items():
        of_judge = costs.get(name, ())
        if name not in plan.judges and not of_judge:
            continue
        usages, seconds, models = zip(*of_judge, strict=True) if of_judge else ((),) * 3
        counts = [one.input_tokens for one in usages], [one.output_tokens for one in usages], seconds
        tokens_in, tokens_out, took = (None if None in known else sum(known) for known in counts)
        others = other_models(judge.wire, judge.model, models)
        yield {
            "panel": plan.panel, "judge": name, "task": plan.task.name, "protocol": plan.protocol,
            "calls": len(of_judge), "input_tokens": tokens_in, "output_tokens": tokens_out,
            "reasoning_tokens": sum(one.reasoning_tokens or 0 for one in usages),
            "seconds": None if took is None else round(took, 3),
            "dollars": dollars(judge, tokens_in, tokens_out), **({"other_models": others} if others else {}),
        }  # fmt: skip


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
        first = {judge: target for judge, _, target in reversed([*plan.items])}
        judged = {(judge, target) for judge, _, target in plan.items}
        authors = ((name, judge.author) for name, judge in plan.judges.items())
        self._about = {name: author if (name, author) in judged else first.get(name) for name, author in authors}

    def note(self, call: Call, reply: Reply, rows: Sequence[Judgement]) -> None:
        """Keep the reply if it is one of those."""
        bad = failed[0] if (failed := [row for row in rows if row.status != "ok"]) else None
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
        excerpt = {
            "panel": self._plan.panel, "task": call.task, "protocol": call.protocol, "judge": call.judge,
            "target": call.target, "repeat": call.repeat, "reply": reply_id(call),
            "factors": {called(how, factor): called(how, factor, level) for factor, level in call.factors},
            "status": bad.status if bad else "ok", "why": bad.why if bad else "",
            "text": reply.text[:LONGEST_TEXT], "prompt": prompt,
        }  # fmt: skip
        self.rows.append(excerpt)


def panel_ratings(
    plan: Plan, table: pd.DataFrame, *, authors: Mapping[str, str], families: Mapping[str, str] | None = None,
    beside: Callable[[str], Ratings | None] = lambda kind: None,
) -> Ratings:  # fmt: skip
    """The ratings of one panel, task and protocol. Scales are the protocol's or the task's; people join the table as
    raters where they are known one by one, and stay a summary where only means are."""
    how, task = protocol(plan.protocol), plan.task
    people = people_of(task, plan.protocol)
    summary = people if people is not None and set(SUMMARY) <= set(people.columns) else None
    scales, headline = scales_of(how, task), headline_of(how, task)
    persons = None if people is None or summary is not None else checked_people(task, people, scales, headline)
    parts = parts_of(how, task)
    if persons is not None and parts and len(headline) == 1:
        persons = with_total(persons, parts, headline[0])
    factors = [called(how, factor) for factor in plan.factors]
    return Ratings.of(
        table if persons is None else with_people(table, persons, factors, headline, scales),
        scales=scales, factors=factors, authors=authors, families=families or {}, enforced=enforced_judges(plan),
        headline=headline, parts=parts, texts=texts_of(plan), clusters=task.clusters, people=summary, truth=task.truth,
        reference=reference_of(task), payloads=payloads_of(task), tiers=task.tiers, beside=beside,
        thresholds={name: task.thresholds for name, scale in scales.items() if isinstance(scale, Numeric)},
    )  # fmt: skip


def enforced_judges(plan: Plan) -> frozenset[str]:
    """Judges whose server binds replies to a grammar of this protocol: they can be read whatever a judge would say."""
    prompts = {call.judge: call.prompt for call in plan.calls}  # none of several calls, whose stages all name a form
    return frozenset(
        name
        for name, judge in plan.judges.items()
        if judge.grammar
        and (not prompts or (prompt := prompts[name]) is None or prompt.grammar or (judge.structured and prompt.schema))
    )


def scales_of(how: ElicitationProtocol, task: Task) -> dict[str, Scale]:
    """Criterion -> its scale: the task's, unless the protocol has another one for it."""
    return {**task.scales, **getattr(how, "scales", lambda task: {})(task)}


def texts_of(plan: Plan) -> pd.DataFrame:
    """One row per item and target that was asked about: columns item, target, and what the protocol tells of each."""
    how = protocol(plan.protocol)
    items = {(item.id, item.target): item for item in plan.items.values()}
    rows = [{**facts_of(how, plan.task, item), "item": item.id, "target": item.target} for item in items.values()]
    return pd.DataFrame(rows)


def with_total(persons: pd.DataFrame, parts: Sequence[str], total: str) -> pd.DataFrame:
    """People's scores by criterion with a row more for a total that they gave none of: the mean of all the parts."""
    if "criterion" not in persons or persons["criterion"].eq(total).any():
        return persons
    keys = [name for name in persons.columns if name not in ("criterion", "score", "response")]
    parts_of_person = persons[persons["criterion"].isin(parts) & persons["score"].notna()]
    means = parts_of_person.groupby(keys, sort=False, dropna=False)["score"].agg(["mean", "size"]).reset_index()
    whole = means[means["size"].eq(len(parts))].assign(criterion=total, score=lambda rows: rows["mean"].round(12))
    return pd.concat([persons, whole.drop(columns=["mean", "size"])], ignore_index=True)


def with_people(
    table: pd.DataFrame, persons: pd.DataFrame, factors: Sequence[str], headline: Sequence[str],
    scales: Mapping[str, Scale],
) -> pd.DataFrame:  # fmt: skip
    """The table with people's rows, which count under every combination of the levels of factors that they do not have
    themselves. Who chose between two texts and does not say how they stood saw a first: a choice names a place, so it
    cannot count under both orders. Without a criterion theirs is the headline's, where there is one."""
    usual = {name: LEVELS[name][0] for name in PAIRED if name in factors and name not in persons}
    if "criterion" not in persons and len(headline) == 1:
        usual["criterion"] = headline[0]
    rows = completed(persons.assign(kind=PERSON, **usual))
    rows = rows[rows["item"].isin(table["item"].unique())]
    rows = rows.assign(task=table["task"].iloc[0], protocol=table["protocol"].iloc[0])
    crossed = [name for name in factors if name not in rows]
    rows = rows.merge(table[crossed].drop_duplicates(), how="cross") if crossed else rows
    if DIRECTION in crossed:  # as they would be written there: `Ratings.where` turns every score of that level back
        sums = {name: scale.minimum + scale.maximum for name, scale in scales.items() if isinstance(scale, Numeric)}
        turned = rows["criterion"].map(sums) - rows["score"]
        rows = rows.assign(score=rows["score"].mask(rows[DIRECTION] == "reversed", turned))
    return pd.concat([table, rows.reindex(columns=list(table.columns))], ignore_index=True)


def explanations_of(
    plan: Plan, replies: Callable[[], Iterable[tuple[Call, RawResponse]]], authors: Mapping[str, str],
    kind: str = EXPLANATIONS,
) -> Ratings | None:  # fmt: skip
    """One row per reason, or per place cited: response = its words, `rubric` = what the task tells a judge of its
    criteria. Texts carry all that the prompt shows of an item. None where nothing of the kind is read."""
    how = protocol(plan.protocol)
    read = getattr(how, kind, None)
    if read is None:
        return None
    rubric = _words(list(plan.task.data["criterion"]))
    rows = []
    for call, response in replies():
        item = plan.items[call.judge, call.item, call.target]
        levels = dict(call.factors)
        for reason in read(plan.task, item, levels, read_response(plan.judges[call.judge].wire, response)):
            rows.append(
                {"rater": call.judge, "item": call.item, "target": call.target, "criterion": reason.criterion,
                 "repeat": call.repeat, "response": reason.response, "rubric": rubric,
                 **{called(how, name): called(how, name, level) for name, level in levels.items()}}
            )  # fmt: skip
    if not rows:
        return None
    shown = {(item.id, item.target): _words(item.fields) for item in plan.items.values()}
    texts = pd.DataFrame([{"item": i, "target": t, "text": text} for (i, t), text in shown.items()])
    frame = pd.DataFrame(rows)
    return Ratings.of(
        frame, factors=[called(how, name) for name in plan.factors], authors=authors, texts=texts,
        scales=dict.fromkeys(frame["criterion"].unique(), WORDS),
    )  # fmt: skip


def _words(value: Any) -> str:
    return " ".join(text for _, text in leaves(value) if isinstance(text, str))
