"""A panel file as it is written: its own keys, its tasks, what stands in for its judges, and how these fit together."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from recuse.configuration.toml_files import Table
from recuse.panels.judge_table import JudgeTable
from recuse.schema import SourceFixes


class TaskTable(Table):
    """[[task]] of a panel file: what its judges are asked, and how much of it."""

    name: str
    protocols: list[str] = Field(min_length=1)
    repeats: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    targets: list[str] | None = None
    judges: list[str] | None = None  # which of the panel's judges; all unless given
    factors: dict[str, dict[str, list[str]]] = Field(default_factory=dict)  # protocol -> factor -> levels asked
    items: dict[str, str] = Field(default_factory=dict)  # protocol -> file of the task folder, instead of items.jsonl
    first: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)  # protocol -> so many items, not all


class StandIn(Table):
    """What answers in place of the judges while recording: stored replies, or behaviours planted in code."""

    kind: Literal["table", "scripted"]
    folder: str | None = None


class PanelTable(Table):
    """A panel file."""

    name: str
    description: str
    provenance: Literal["recorded", "reconstructed", "scripted"]
    source: str
    budget_usd: float = Field(default=0.0, ge=0)
    free: bool = False  # nobody is paid for these judges: recording asks no price
    source_fixes: SourceFixes = "pairs"
    use: str | list[str] | None = None  # what its judges are used for, as the gates file names it; "none": a study
    stand_in: StandIn | None = None
    task: list[TaskTable] = Field(min_length=1)
    judge: list[JudgeTable] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.stand_in is None) == (self.provenance != "recorded"):
            raise ValueError('a "recorded" panel has no [stand_in]; a "reconstructed" or "scripted" one needs it')
        if self.source_fixes != "pairs" and self.provenance != "reconstructed":
            raise ValueError(
                f'the replies of a "{self.provenance}" panel are the judges\' own, so source_fixes is "pairs"; '
                f'got "{self.source_fixes}"'
            )
        for judge in self.judge:
            if judge.host.endswith(".invalid") == (self.provenance == "recorded"):
                raise ValueError(
                    f"judge {judge.name}: a stand-in is reached at a host that ends in .invalid, a real judge never is "
                    f"(got {judge.host}, provenance {self.provenance})"
                )
        self._check_candidates()
        return self

    def _check_candidates(self) -> None:
        in_use = [judge.name for judge in self.judge if judge.replaces is None]
        for judge in self.judge:
            if judge.replaces is not None and judge.replaces not in in_use:
                known = ", ".join(in_use) or "none"
                raise ValueError(
                    f"judge {judge.name}: replaces names a judge of this panel that is in use; got {judge.replaces!r}, "
                    f"in use: {known}"
                )
            for kind, key, own in (("prompt", "prompts", judge.prompts), ("rubric", "rubric", judge.rubric)):
                self._check_words(judge, kind, key, own)

    def _check_words(self, judge: JudgeTable, kind: Any, key: str, own: str | None) -> None:
        if own is not None and judge.replaces is None:
            raise ValueError(
                f"judge {judge.name}: judges in use are asked with the task's {kind}, so that they can be compared; "
                f'{key} = "{own}" needs replaces, the judge that this one would replace'
            )
        if own is None and judge.replaces is not None and kind in judge.change:
            example = "prompts-v2" if key == "prompts" else "rubric-v2.toml"
            raise ValueError(
                f"judge {judge.name}: change names the {kind}, and it is asked with the task's; name its own by {key}, "
                f'beside the task\'s, e.g. {key} = "{example}"'
            )
