"""The verdicts of one gate on everything that was measured together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import overload

from recuse.gates.explanation import explain
from recuse.schema import RecuseError, Verdict

__all__ = ["Verdicts"]


class Verdicts(Sequence[Verdict]):
    """An immutable sequence of verdicts, truthy when every one of them lets the run stay green.

    `conclusion`: what all of them together come to, in a sentence, where they were decided for one conclusion.
    `asserted` tells whether anybody asked for its truth: a gate whose answer nobody looks at decides nothing. Without
    any verdict (none of those that were asked for) it is truthy.
    """

    def __init__(self, verdicts: Iterable[Verdict], conclusion: str = "") -> None:
        self._verdicts = tuple(verdicts)
        self.conclusion = conclusion
        self.asserted = False

    def __bool__(self) -> bool:
        self.asserted = True
        return self.stays_green

    @property
    def stays_green(self) -> bool:
        """The truth of it, without counting as asserted."""
        return all(self._verdicts)

    @property
    def gate(self) -> str:
        """The gate that decided; empty where nothing was measured."""
        return self[0].gate if len(self) else ""

    @property
    def objecting(self) -> list[Verdict]:
        """Those on whose account the run turns red."""
        return [verdict for verdict in self if not verdict]

    @property
    def accepted_reasons(self) -> list[str]:
        """Why the accepted ones were accepted."""
        return [v.accepted_fault.reason for v in self if v.outcome == "accepted" and v.accepted_fault]

    def explain(self) -> str:
        """The objecting ones in full, for a terminal; "" where there is none."""
        explanations = [explain(verdict) for verdict in self.objecting]
        return "\n\n".join([*([self.conclusion] if explanations and self.conclusion else []), *explanations])

    def of(self, **subject: str) -> Verdict:
        """The one verdict about `subject`. Raises `RecuseError` where none or several fit."""
        fitting = [verdict for verdict in self if subject.items() <= verdict.subject.items()]
        if len(fitting) != 1:
            wanted = ", ".join(f"{k}={v}" for k, v in subject.items())
            known = "; ".join(", ".join(f"{k}={v}" for k, v in verdict.subject.items()) for verdict in self)
            raise RecuseError(f"{len(fitting)} verdicts for {wanted}, and one is wanted; there are: {known}")
        return fitting[0]

    def only(self, wanted: Callable[[Mapping[str, str]], bool]) -> Verdicts:
        """Those whose subject is wanted. They stay as they were decided, together with all the others."""
        return Verdicts(verdict for verdict in self if wanted(verdict.subject))

    @overload
    def __getitem__(self, at: int) -> Verdict: ...
    @overload
    def __getitem__(self, at: slice) -> Verdicts: ...
    def __getitem__(self, at: int | slice) -> Verdict | Verdicts:
        return Verdicts(self._verdicts[at]) if isinstance(at, slice) else self._verdicts[at]

    def __len__(self) -> int:
        return len(self._verdicts)

    @property
    def marker(self) -> str:
        """How its text begins: tells a failed `assert gate(...)` from another failed assertion."""
        return f"<gate {self.gate}"

    def __repr__(self) -> str:
        return f"{self.marker}: {', '.join(verdict.outcome for verdict in self)}>"
