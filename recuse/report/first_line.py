"""What every output begins with: the decision in two lines, and who may be used for what, in lines or as a table. All
of it stands in results.json as `decision` (`recuse.gates.decision`); here it is only arranged."""

from __future__ import annotations

from typing import NamedTuple

from recuse.report.results_model import Panel, ResultsModel
from recuse.report.verdict_tables import upgrade_tables
from recuse.schema import number_text as numbers
from recuse.schema.plain_values import grouped
from recuse.schema.results import JudgeDecisionRow, Results
from recuse.schema.vocabulary import CLEARED, WORD_MEANINGS, printed

MOST_NAMES = 7
JudgesByPanel = list[tuple[Panel, list[tuple[str, list[tuple[str, JudgeDecisionRow | None]]]]]]
"""Of each panel its judges, and of each judge every use with the word on it."""


class Standing(NamedTuple):
    """Those of a panel with the same word for a use; the cause of the `first` that nobody accepted stands for all."""

    state: str  # an identifier of `recuse.schema.vocabulary`
    names: list[str]
    first: JudgeDecisionRow

    @property
    def text(self) -> str:
        """ "not cleared: grok-4 and gpt-5; of grok-4: it scores 0.7 above your people (accepted)"."""
        who = f"{printed(self.state)}: {numbers.listed(self.names, most=MOST_NAMES)}"
        if self.state == CLEARED:
            return who
        first = f"; of {self.first['judge']}" if self.names[1:] else ""
        return f"{who}{first}: {self.first['cause']}{' (accepted)' if self.first['accepted'] else ''}"

    def short(self, *, why: bool) -> str:
        """ "not cleared: grok-4 (scores 0.7 above your people) and gpt-5"."""
        first = self.first["judge"]
        others = [name for name in self.names if name != first]
        if why and self.state != CLEARED:
            first += f" ({self.first.get('brief', '').removeprefix('it ')})"
        return f"{printed(self.state)}: {numbers.listed([first, *others], most=MOST_NAMES)}"


class Line(NamedTuple):
    """One panel and use, and whom it clears, does not clear or leaves undecided."""

    panel: str
    use: str
    standings: list[Standing]

    @property
    def text(self) -> str:
        """ "panel published, use grade: not cleared: grok-4: it ...; cleared: gpt-5.1."."""
        return f"panel {self.panel}, use {self.use}: {'; '.join(s.text for s in self.standings)}."

    def short(self, room: int) -> str:
        """The same in so many characters where possible: with every first cause, with the worst word's, with none."""
        way = ""
        for n in (len(self.standings), 1, 0):
            words = "; ".join(one.short(why=k < n) for k, one in enumerate(self.standings))
            if len(way := f"panel {self.panel}, use {self.use}: {words}.") <= room:
                break
        return way


def opening(results: Results) -> list[str]:
    """The two lines that every output begins with: this change, and these judges."""
    decision = results.get("decision")
    return list(decision["lines"] if decision else [headline(results)])


def heading(results: Results) -> tuple[str, str, str]:
    """The first of them, parted at its word: on the change, or of a file on a judge."""
    line, decision = opening(results)[0], results.get("decision")
    on_change = [decision["word"]] if decision and line.startswith("This change: ") else []
    words = on_change or map(printed, WORD_MEANINGS)
    return next((parted for word in words if (parted := line.partition(word))[1]), (line, "", ""))


def headline(results: Results) -> str:
    """The sentence that these results carry: merge, do not merge or decide, and why."""
    return str(results.get("headline") or "Nothing was decided: these results carry no decision.")


def next_step(results: Results) -> str:
    """What to do first; "" where there is nothing to do."""
    decision = results.get("decision")
    return decision["next"] if decision else ""


def expiring(results: Results) -> str:
    """ "2 accepted failures expire by 2027-12-31 (in 12 days at the earliest)"; "" where none does soon."""
    soon = [end for end in results.get("ends") or () if end["days"] >= 0]
    if not soon:
        return ""
    many = "1 accepted failure expires" if len(soon) == 1 else f"{len(soon)} accepted failures expire"
    return f"{many} soon, the first on {soon[0]['until']} (in {soon[0]['days']} days): {soon[0]['gate']}."


def decision_lines(view: ResultsModel) -> list[Line]:
    """Of each panel and use that it states who is cleared, who is not and who is undecided, and why."""
    lines = []
    stated = (one for one in view.judges if one["stated"])
    for (panel, use), judged in grouped(stated, lambda one: (one["panel"], one["use"])).items():
        by_word = grouped(judged, lambda one: str(one["word"]))
        standings = [Standing(word, [one["judge"] for one in rows], min(rows, key=lambda one: one["accepted"]))
                     for word in WORD_MEANINGS if (rows := by_word.get(word))]  # fmt: skip
        lines.append(Line(panel, use, standings))
    return lines


def used(view: ResultsModel) -> tuple[list[str], JudgesByPanel] | None:
    """The uses, and every word on a judge, of a use that its panel states or not; None where there is none."""
    if not any(one["stated"] for one in view.judges):
        return None
    words = {(one["panel"], one["judge"], one["use"]): one for one in view.judges}
    uses = list(dict.fromkeys(use for _, _, use in words))
    panels = {panel: dict.fromkeys(judge for of, judge, _ in words if of == panel) for panel, _, _ in words}
    rows = [
        (view.panel(panel), [(judge, [(use, words.get((panel, judge, use))) for use in uses]) for judge in judges])
        for panel, judges in panels.items()
    ]
    return uses, rows


def upgrade_lines(view: ResultsModel, minus: str = numbers.MINUS) -> list[str]:
    """Each upgrade's own sentence with the number that decided it."""
    lines = []
    for table in upgrade_tables(view, minus=minus):
        phrase = ""
        for row in table.rows[:1]:
            values = f"{row.incumbent} -> {row.candidate}, " if row.incumbent and row.candidate else ""
            phrase = f" {row.title[:1].upper()}{row.title[1:]}: {values}change {row.change}, allowed {row.allowed}"
        lines.append(f"{table.upgrade['sentence']}{phrase} ({table.where}){'.' if phrase else ''}")
    return lines
