"""Do models keep the rules of the task when they write? Shares rule by rule, the commonest breaches, and the first
texts of each model as cards."""

from __future__ import annotations

from recuse.report.figures import Cell, Table, number_cell
from recuse.report.numbers import in_words, is_number
from recuse.report.results_model import Group
from recuse.schema.details import RulesDetail

ALL = "all"


def draw(group: Group) -> dict[str, object]:
    numbers = group.of("rules_kept")
    judges = list(dict.fromkeys(n.who for n in numbers))
    rules = list(dict.fromkeys(n.subject.get("rule", "") for n in numbers))
    by_rule = {(n.who, n.subject.get("rule", "")): n for n in numbers}
    whole = [n for n in numbers if n.subject.get("rule") == ALL and is_number(n.value)]
    sound = sum(n.value == 1 for n in whole)
    rows = [[Cell(rule), *(number_cell(by_rule.get((who, rule))) for who in judges)] for rule in rules]
    broken = [
        [Cell(group.label(n.who)), Cell(n.subject["rule"]), Cell(str(what)), Cell(str(times))]
        for n in numbers
        for what, times in n.detail_as(RulesDetail).get("breaches") or ()
    ]
    return {
        "reading": f"{in_words(sound, capital=True)} of {in_words(len(whole))} models keep every rule in every text.",
        "kept": Table("Share of texts that keep a rule", ["rule", *map(group.label, judges)], rows) if rows else None,
        "broken": Table("The commonest breaches", ["model", "rule", "what", "times"], broken, frozenset({3})),
        "cards": [_card(group, n.who, texts) for n in whole if (texts := n.detail_as(RulesDetail).get("texts"))],
    }


def _card(group: Group, who: str, texts: list[tuple[str, str, list[str]]]) -> Table:
    rows = [[Cell(item), Cell(words, "; ".join(why))] for item, words, why in texts]
    return Table(f"{group.label(who)} wrote", ["text", "words, and what they break"], rows)
