"""What a recording costs at most, said before its first call: calls, tokens, dollars; the budget, and what is spent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, NamedTuple

from recuse.elicitation.replies import dollars
from recuse.judges import read_response
from recuse.judges.provider_responses import parsed
from recuse.schema import Call, Judge, RawResponse, RecuseError, Request
from recuse.schema.plain_values import grouped

BYTES_PER_TOKEN = 4  # a rule of thumb for English prose and JSON; replies are bounded by the request's own limit

OUTPUT_LIMITS = frozenset({  # every name under which an API bounds the tokens of an answer
    "max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens_to_sample", "max_gen_len",
    "n_predict", "num_predict", "maxTokens", "maxOutputTokens", "maxNewTokens", "maxTokenCount", "max_length",
})  # fmt: skip
# Every name under which an API allows tokens for reasoning. Some count them inside the limit of the answer and some
# beside it; the expected cost is an upper bound, so they are added.
REASONING_BUDGETS = {"budget_tokens", "thinking_budget", "thinkingBudget", "reasoning_budget", "max_thinking_tokens"}
ANSWERS_PER_REQUEST = frozenset(["n", "best_of", "candidateCount", "candidate_count", "num_generations"])
REASONING = frozenset(["thinkingConfig", "thinking_config", "thinking", "reasoning", "reasoning_config"])
SETTINGS = REASONING | frozenset({  # objects of a body that hold settings; in others the same names may be text
    "generationConfig", "generation_config", "inferenceConfig", "inferenceConfiguration", "textGenerationConfig",
    "options", "parameters", "additionalModelRequestFields", "extra_body", "chat_template_kwargs",
})  # fmt: skip


class Cost(NamedTuple):
    """Expected calls and input tokens, and the largest possible number of output tokens and dollars. `output_tokens` is
    None where a request names no limit, `dollars` where that or the price is not known."""

    judge: str
    calls: int
    input_tokens: int
    output_tokens: int | None
    dollars: float | None
    priced: bool = True

    def __str__(self) -> str:
        money = f"at most ${self.dollars:,.2f}" if self.dollars is not None else "cost unknown"
        if not self.priced:
            money = "price unknown"
        out = "any number of tokens" if self.output_tokens is None else f"at most {self.output_tokens:,}"
        return f"{self.judge}: {self.calls:,} calls, about {self.input_tokens:,} tokens in, {out} out, {money}"


def expected_costs(
    calls: Iterable[Call], judges: Mapping[str, Judge], free: Collection[str] = (), share: float = 1.0
) -> list[Cost]:
    """One `Cost` per judge, in the order of `judges`, for calls that are still to be made; `free` judges cost nothing.
    Dollars = input tokens x input price + limit on the answer x output price, at a `share` of the prices."""
    by_judge, costs = grouped(calls, attrgetter("judge")), []
    for name in filter(by_judge.__contains__, judges):
        asked_for, judge = by_judge[name], judges[name]
        judge = replace(judge, input_usd_per_mtok=0.0, output_usd_per_mtok=0.0) if name in free else judge
        sizes = {call.key: tokens_of(call.request) for call in asked_for}  # repeats ask the same
        tokens_in = sum(sizes[call.key][0] for call in asked_for)
        answered = total(sizes[call.key][1] for call in asked_for)
        most = dollars(judge, tokens_in, answered if judge.output_usd_per_mtok else answered or 0)
        priced = None not in (judge.input_usd_per_mtok, judge.output_usd_per_mtok)
        costs.append(Cost(name, len(asked_for), tokens_in, answered, None if most is None else share * most, priced))
    return costs


def total(numbers: Iterable[Any]) -> Any:
    """The sum; None where one of them is not known."""
    every = list(numbers)
    return None if None in every else sum(every)


def cost_text(costs: Sequence[Cost]) -> str:
    """What a recording will cost, judge by judge, in words."""
    if not costs:
        return "nothing to record: every call of the plan has its answer"
    everything = Cost(
        "all judges", sum(c.calls for c in costs), sum(c.input_tokens for c in costs),
        total(c.output_tokens for c in costs), total(c.dollars for c in costs), all(c.priced for c in costs),
    )  # fmt: skip
    return "\n".join(["to record:", *(f"  {cost}" for cost in [*costs, *([everything] if costs[1:] else [])])])


def check_budget(costs: Sequence[Cost], budget_usd: float, allowed: bool) -> None:
    """`RecuseError` unless the largest possible cost is known and within `budget_usd`, or `allowed` (--yes)."""
    dollars = total(cost.dollars for cost in costs)
    if allowed or (dollars is not None and dollars <= budget_usd):
        return
    why = f"it may cost ${dollars or 0:,.2f}, the budget is ${budget_usd:,.2f}"
    if unbounded := [cost.judge for cost in costs if cost.dollars is None]:
        why = f"the requests to {', '.join(unbounded)} set no limit on the length of an answer (such as max_tokens)"
    if unpriced := [cost.judge for cost in costs if not cost.priced]:
        why = f"no price is known for {', '.join(unpriced)}"
    remedy = "Add --yes to go ahead, or set `price` and `budget_usd` in the panel file"
    raise RecuseError(f"not started: {why}. {remedy} (`free = true` where nothing is charged)\n{cost_text(costs)}")


def tokens_of(request: Request) -> tuple[int, int | None]:
    """About how many tokens a request carries, and how many its answers may have at most (None: it names no limit)."""
    body = parsed(request.body)
    settings = list(_settings(body)) if isinstance(body, dict) else []
    limits = [n for name, n in settings if name in OUTPUT_LIMITS]
    budgets = [n for name, n in settings if name in REASONING_BUDGETS]
    answers = [n for name, n in settings if name in ANSWERS_PER_REQUEST and n > 0]
    bounded = bool(limits) and min(limits + budgets) >= 0  # some APIs spell "as many as you like" -1
    largest = (max(limits) + sum(budgets)) * max(answers, default=1) if bounded else None
    return -(-len(request.body) // BYTES_PER_TOKEN), largest


def _settings(value: Mapping[str, Any], within: str = "") -> Iterable[tuple[str, int]]:
    """Every whole number of the body and of the settings nested in it, with its name."""
    for name, member in value.items():
        if isinstance(member, int | float) and not isinstance(member, bool) and member == int(member):
            yield "reasoning_budget" if within in REASONING and name in OUTPUT_LIMITS else name, int(member)
        elif isinstance(member, dict) and name in SETTINGS:
            yield from _settings(member, name)


@dataclass
class Spending:
    """The bill so far, in dollars, from the tokens that providers say they counted, at a `share` of the prices of
    `judges`; a judge that is none of them is not counted, and `spent` is None if there is none at all. Where an answer
    does not say how many tokens it took, they are estimated from its length. `allowed`: None is no bound."""

    judges: Mapping[str, Judge] = field(default_factory=dict)
    share: float = 1.0
    expected: float | None = None  # at most, as it was said before the first call
    allowed: float | None = None
    _dollars: float = 0.0

    @property
    def spent(self) -> float | None:
        """Dollars so far; None where no judge has a price."""
        return self._dollars if self.judges else None

    @property
    def exceeded(self) -> str:
        """What to say when more was spent than is allowed, else nothing."""
        if self.allowed is None or self._dollars <= self.allowed:
            return ""
        why = f"${self._dollars:,.2f} are spent, more than the ${self.allowed:,.2f} that were allowed"
        remedy = "look at the prices and limits in the panel file, then record again"
        return f"{why}; {remedy} (what is missing is estimated anew)"

    def add(self, call: Call, response: RawResponse) -> None:
        """Count one answer at its judge's price."""
        if (judge := self.judges.get(call.judge)) is None:
            return
        usage = read_response(judge.wire, response).usage
        tokens_in = tokens_of(call.request)[0] if usage.input_tokens is None else usage.input_tokens
        answered = -(-len(response.body) // BYTES_PER_TOKEN) if usage.output_tokens is None else usage.output_tokens
        self._dollars += self.share * (dollars(judge, tokens_in, answered) or 0.0)
