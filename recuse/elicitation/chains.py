"""The calls of a protocol of several stages: known as far as the replies they are made from have been read.

chain = Chain(plan)
chain.unfold(answer)            # every call whose prompt is known; `answer` gives the recorded replies
chain.calls, chain.lost         # what was asked, and the judgements that an unreadable reply cost

A protocol of one call is a chain of one: its calls are the plan's, known from the beginning. Nothing here asks or
stores: replay and recording unfold the chain with what the library has: the same cassettes give the same calls."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from recuse.elicitation.plan import Plan, lacking_fields_named, seed_for
from recuse.judges import read_response, wire
from recuse.protocols import headline_of, parts_of, protocol
from recuse.protocols.reading import Unreadable
from recuse.schema import Call, Item, Judge, Judgement, RawResponse, RecuseError, Reply

Answer = Callable[[Call], RawResponse | None]  # the recorded reply to a call; None where there is none yet


class Step(NamedTuple):
    """A call of a chain before its prompt is known. What its stage does not differ by is empty: one step for all."""

    stage: str
    judge: str
    item: str
    target: str
    factors: tuple[tuple[str, str], ...]
    repeat: int


class Chain:
    """One plan unfolded: `calls` in the order of the stages, those that judge last."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.how: Any = protocol(plan.protocol)
        self.stages = tuple(getattr(self.how, "STAGES", ()))
        # The last stage, "", is the protocol itself: it has `prompt`, `read` and `uses` as the others do.
        self._asking: dict[str, Any] = {**{stage.name: stage for stage in self.stages}, "": self.how}
        self.calls: Sequence[Call] = () if self.stages else plan.calls
        self.lost: list[tuple[Call, list[Judgement]]] = []  # never asked: an earlier reply could not be read
        self.replies: dict[Call, Reply] = {}  # of the earlier stages, each decoded once
        self._known: dict[Step, Call] = {}
        self._step_of: dict[Call, Step] = {}
        self._read: dict[Step, Any] = {}  # what the stage's reader made of the reply
        self._failed: dict[Step, tuple[Call, Unreadable]] = {}
        self.judges: dict[str, Judge] = {**plan.panel_judges, **plan.judges}
        self._items = _items_shown(plan) if self.stages else {}
        self._steps: dict[str, dict[Step, None]] = {name: {} for name in self._asking}  # "": those that judge
        if taken := [stage.name for stage in self.stages if stage.name in plan.task.targets]:
            why = f"its stage {taken[0]!r} is called like a target of task {plan.task.name}"
            raise RecuseError(f"protocol {plan.protocol}: {why}; their cassettes would share a name. Rename one")
        if self.stages:
            crossed = itertools.product(plan.items, plan.crossed_levels, range(plan.repeats))
            self._steps[""] = dict.fromkeys(Step("", *where, chosen, repeat) for where, chosen, repeat in crossed)
        for name in reversed(self._steps):  # an earlier step is there because a later one uses it
            for step in self._steps[name]:
                for used in self._uses(step).values():
                    self._steps[used.stage][used] = None

    def expected(self, answer: Answer = lambda call: None) -> Sequence[Call]:
        """Every call that may have to be made; replies that `answer` does not know are as long as they come."""
        return Chain(self.plan).unfold(answer, guess=True)

    def unfold(self, answer: Answer, *, guess: bool = False) -> Sequence[Call]:
        """Every call that can be made now: each stage is read as far as `answer` knows its replies, each reply once;
        `guess`: those that it does not know are read from specimens."""
        if not self.stages:
            return self.calls
        calls: list[Call] = []
        for stage in self.stages:
            for step in self._steps[stage.name]:
                if (call := self._call(step)) is None:
                    continue
                calls.append(call)
                if call not in self.replies and (response := answer(call)) is not None:
                    reply = self.replies[call] = read_response(self.judges[call.judge].wire, response)
                    try:
                        self._read[step] = self._reading(step, reply)
                    except Unreadable as failure:
                        self._failed[step] = call, failure
                elif call not in self.replies and guess:
                    self._read[step] = stage.specimen(self.plan.task, self._item(step), dict(step.factors))
        judging = [(step, self._call(step)) for step in self._steps[""]]
        self.lost = []
        # Every wanted criterion of a judgement that was lost has stage and status of the reply that failed, and points
        # at its request.
        for step in (step for step, call in judging if call is None):
            if cause := self._failure(step):
                failed, fault = cause
                why, task = f"stage {failed.stage}: {fault.why}", self.plan.task
                criteria = dict.fromkeys((*headline_of(self.how, task), *parts_of(self.how, task)))
                rows = [Judgement(one, status=fault.status, why=why, stage=failed.stage) for one in criteria]
                call = Call(failed.task, failed.protocol, *step[1:], failed.request, failed.key, failed.cell)
                self.lost.append((call, rows))
        self.calls = [*calls, *(call for _, call in judging if call is not None)]
        return self.calls

    @property
    def complete(self) -> bool:
        """Whether every call is known: all replies that others are made from have been read, well or in vain."""
        known = sum(not call.stage for call in self.calls)
        return not self.stages or known + len(self.lost) == len(self._steps[""])

    @property
    def final_calls(self) -> Sequence[Call]:
        """The calls that judge."""
        return [call for call in self.calls if not call.stage] if self.stages else self.calls

    def item(self, call: Call) -> Item:
        """What a call is shown."""
        return self._item(self._step_of[call]) if call.stage else self.plan.items[call.judge, call.item, call.target]

    def judge(self, call: Call, reply: Reply) -> list[Judgement]:
        """What the protocol reads in the reply to a judging call."""
        item = self.plan.items[call.judge, call.item, call.target]
        earlier = (self._earlier(self._step_of[call]),) if self.stages else ()
        judgements: list[Judgement] = self.how.read(self.plan.task, item, dict(call.factors), reply, *earlier)
        return judgements

    def why_unreadable(self, call: Call, response: RawResponse) -> tuple[str, str] | None:
        """Why nothing can be read in a reply of any stage, and its words; None where something can, or it declines."""
        reply = read_response(self.judges[call.judge].wire, response)
        if call.stage:
            try:
                self._reading(self._step_of[call], reply)
            except Unreadable as failure:
                return None if failure.status == "refused" else (failure.why, reply.text)
            return None
        reading = self.judge(call, reply)
        if not reading or any(one.status not in ("unparsed", "error") for one in reading):
            return None
        return next((one.why for one in reading if one.why), "nothing in it could be read"), reply.text

    def failures(self) -> dict[Call, list[Judgement]]:
        """The calls of earlier stages whose reply could not be read, each with a judgement of nothing."""
        return {
            call: [Judgement("", status=failure.status, why=f"stage {call.stage}: {failure.why}")]
            for call, failure in self._failed.values()
        }

    def _call(self, step: Step) -> Call | None:
        """The step's call; None while it depends on a reply that is not there, or that could not be read."""
        if step not in self._known:
            if any(used not in self._read for used in self._uses(step).values()):
                return None
            plan, judge, item = self.plan, self.judges[step.judge], self._item(step)
            with lacking_fields_named(plan.protocol, plan.task, item):
                prompt = self._asking[step.stage].prompt(plan.task, item, dict(step.factors), self._earlier(step))
            about = Item(plan.task.name, step.item, step.target, {})
            seed = seed_for(plan.task.name, plan.protocol, about, step.factors, step.repeat, step.stage)
            request = wire(judge.wire).request(judge, prompt, seed if judge.seeded else None)
            names = (step.judge, step.stage, step.target, *(level for _, level in step.factors))
            cell = f"{plan.panel}/{plan.task.name}/{plan.protocol}/{'~'.join(name for name in names if name)}"
            where = (plan.task.name, plan.protocol, *step[1:])
            call = Call(*where, request, plan.identify(request), cell, step.stage, prompt)
            self._known[step], self._step_of[call] = call, step
        return self._known[step]

    def _reading(self, step: Step, reply: Reply) -> Any:
        about = self.plan.task, self._item(step), dict(step.factors)
        return self._asking[step.stage].read(*about, reply, self._earlier(step))

    def _earlier(self, step: Step) -> dict[str, Any]:
        return {name: self._read[used] for name, used in self._uses(step).items()}

    def _item(self, step: Step) -> Item:
        own = self.plan.items.get((step.judge, step.item, step.target))
        return self._items[step.item, step.target] if own is None else own

    def _failure(self, step: Step) -> tuple[Call, Unreadable] | None:
        used = self._uses(step).values()
        return self._failed.get(step) or next((failure for one in used if (failure := self._failure(one))), None)

    def _uses(self, step: Step) -> dict[str, Step]:
        plan, names = self.plan, list(self._asking)
        earlier = names[: names.index(step.stage)]
        used: dict[str, Step] = {}
        for use in self._asking[step.stage].uses(dict(step.factors)):
            if use.stage not in earlier:
                where = f"protocol {plan.protocol}{f', stage {step.stage}' if step.stage else ''}"
                known = ", ".join(earlier) or "none"
                raise RecuseError(f"{where} uses {use.stage!r}, which is no earlier stage; earlier: {known}")
            whose, panel = step.judge, list(plan.panel_judges or plan.judges)
            if use.next_judge and len(panel) < 2:
                raise RecuseError(f"stage {use.stage} of a peer is used, and {whose} has no peer; add a second judge")
            if use.next_judge:
                whose = panel[(panel.index(whose) + 1) % len(panel)]
            elif use.first_judge:
                whose = panel[0]
            per = self._asking[use.stage].per
            levels = {**dict(step.factors), **use.factors}
            used[f"peer {use.stage}" if use.next_judge else use.stage] = Step(
                use.stage, whose,
                step.item if "item" in per else "", step.target if "target" in per else "",
                tuple((factor, levels[factor]) for factor in plan.factors if factor in per),
                step.repeat if "repeat" in per else 0,
            )  # fmt: skip
        return used


def _items_shown(plan: Plan) -> dict[tuple[str, str], Item]:
    """(item, target) -> what its calls are shown: without either, what all have in common and is no judged text."""
    unique: dict[tuple[str, str], Item] = {}
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for item in plan.items.values():
        unique.setdefault((item.id, item.target), item)
        for group in ((item.id, ""), ("", item.target), ("", "")):
            groups[group].append(item.fields)
    for (name, target), fields in groups.items():
        unjudged = {key: value for key, value in fields[0].items() if key not in plan.task.text}
        shown = {
            key: value for key, value in unjudged.items() if all(key in one and one[key] == value for one in fields)
        }
        unique[name, target] = Item(plan.task.name, name, target, shown)
    return unique
