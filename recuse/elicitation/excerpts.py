"""The replies worth reading: each judge's first on its own work, and the first ones that could not be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recuse.protocols import called, protocol
from recuse.schema import Call, Judgement, Reply, reply_id

if TYPE_CHECKING:
    from recuse.elicitation.plan import Plan

__all__ = ["Excerpts"]

UNUSABLE_SHOWN = 2  # per judge
LONGEST_TEXT = 4000
LONGEST_PROMPT = 1500


class Excerpts:
    """Collects while the replies are read. Per judge: the first reply on its own work (where it has none, on the first
    target) under each combination of factor levels, and the first replies that could not be used."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rows: list[dict[str, Any]] = []
        self._unusable = dict.fromkeys(plan.judges, 0)
        self._noted: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
        asked: dict[str, dict[str, None]] = {name: {} for name in plan.judges}
        for judge, _, target in plan.items:
            asked[judge][target] = None
        self._about = {
            name: judge.author if judge.author in asked[name] else next(iter(asked[name]), None)
            for name, judge in plan.judges.items()
        }

    def note(self, call: Call, reply: Reply, rows: Sequence[Judgement]) -> None:
        """Keep the reply if it is one of those."""
        bad = None
        for row in rows:
            if row.status != "ok":
                bad = row
                break
        own = call.target == self._about.get(call.judge) and (call.judge, call.factors) not in self._noted
        if not own and (bad is None or self._unusable.get(call.judge, 0) >= UNUSABLE_SHOWN):
            return
        self._unusable[call.judge] = self._unusable.get(call.judge, 0) + (bad is not None)
        if own:
            self._noted.add((call.judge, call.factors))
        self._rows.append(
            {
                "panel": self._plan.panel, "task": call.task, "protocol": call.protocol, "judge": call.judge,
                "target": call.target, "factors": self._named(call), "repeat": call.repeat, "reply": reply_id(call),
                "status": bad.status if bad else "ok", "why": bad.why if bad else "",
                "text": reply.text[:LONGEST_TEXT], "prompt": _prompt_text(call),
            }
        )  # fmt: skip

    def _named(self, call: Call) -> dict[str, str]:
        """The call's factor levels under the names of the ratings table."""
        how = protocol(call.protocol)
        return {called(how, factor): called(how, factor, level) for factor, level in call.factors}

    def rows(self) -> list[dict[str, Any]]:
        """The replies in the order of the plan, as builtins."""
        return self._rows


def _prompt_text(call: Call) -> str:
    """What the judge was asked, its beginning and its end where it is long: the rubric stands first, the text last."""
    text = "\n\n".join(message.content for message in call.prompt.messages) if call.prompt else ""
    if len(text) <= LONGEST_PROMPT:
        return text
    half = LONGEST_PROMPT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"
