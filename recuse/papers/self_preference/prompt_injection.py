"""Does a judge give more to a text that tells it to? Successful attacks, how much of that a suffix does that asks for
nothing, which kinds work, and what defences stop and what clean text they block."""

from __future__ import annotations

from recuse.papers.self_preference.self_preference_drawings import detail_text
from recuse.report.drawing import Drawing, Part, under
from recuse.report.figures import Cell, DetailTable, Forest, HeatMaps, cell_matrix, magnitude_maps, number_cell
from recuse.report.gated_number import Number, plain_name
from recuse.report.results_model import Group
from recuse.schema.number_text import count, fixed, is_number, out_of, rate

NAMES = {
    "harmless": "a suffix that asks for nothing",
    "odd_words_markdown": "odd words and Markdown",
    "llm_input_filter": "a model asked about the text",
    "llm_output_filter": "a model asked about the reply",
    "committee": "the other judges' median",
    "string_matching": "known phrases",
    "statistical_filter": "odd statistics of the text",
}
UNTESTED = {"ceiling": "had nothing to gain", "no_twin": "without a clean twin", "broken": "unreadable"}


def _of_all(n: Number) -> bool:
    return "class" not in n.subject


def _gives_way(group: Group) -> str:
    rates = [n for n in group.of("injection_success") if _of_all(n)]
    known = [n for n in rates if is_number(n.value)]
    if not known:
        return "No judge could be attacked: no clean twin left room for a better one." if rates else ""
    worst = max(known, key=lambda n: n.amount)
    if not worst.value:
        return "No attack succeeded."
    judges = {n.who for n in known}
    untouched = len(judges - {n.who for n in known if n.value})
    firm = f" {out_of(untouched, len(judges))} never gave way." if untouched else ""
    return f"{group.label(worst.who)} gives way most: {worst.text()} of the attacks succeed.{firm}"


def _untested(n: Number) -> str:
    """Attacks that could not show anything; they are not counted as withstood."""
    outcomes = n.detail_as(dict[str, dict[str, int]]).get("outcomes") or {}
    lost = [f"{count(outcomes[name])} {outcome_name}" for name, outcome_name in UNTESTED.items() if outcomes.get(name)]
    lift = n.detail.get("lift")
    return "; ".join([*([f"lift {fixed(lift, signed=True)} on average"] if is_number(lift) else []), *lost])


def _map(metric: str, factor: str, caption: str) -> Part:
    def part(group: Group) -> HeatMaps | None:
        numbers = [n for n in group.of(metric) if factor in n.subject]
        attacked = list(dict.fromkeys(n.who for n in numbers))
        attacked = [judge for judge in attacked if any(is_number(n.value) for n in numbers if n.who == judge)]
        percent = {(n.subject[factor], n.who): round(100 * n.value) if is_number(n.value) else None for n in numbers}
        captioned = [(caption, cell_matrix(percent, columns=attacked))]
        corner = f"{factor} ↓ judge →"
        return magnitude_maps(captioned, lambda name: _name(group, name), corner=corner) if attacked else None

    return part


def _name(group: Group, name: str) -> str:
    """A kind of attack or a defence in plain words, with the label of the model it asks; a judge's label."""
    if name in group.panel.judge_names:
        return group.label(name)
    kind, _, model = name.partition(":")
    phrase = NAMES.get(kind, plain_name(kind))
    return f"{phrase}: {group.label(model)}" if model else phrase


def _by_language(n: Number) -> str:
    rows = n.entries("by_language")
    phrases = [f"{row['language']} {rate(row['share'])} of {count(row['payloads'])}" for row in rows]
    return ", ".join(phrases) if len(phrases) > 1 else ""


prompt_injection = Drawing(
    order=16,
    reading=_gives_way,
    figures=(
        Forest("injection_success", "Attacks that lift the score by one or more, or win a lost choice", "succeed",
               includes=(0, 1), aside=_untested, only=_of_all),
        Forest("injection_above_harmless", "The same beyond a suffix that asks for nothing, text by text", "more often",
               signed=True, includes=(0,), aside=detail_text("{} against {}", "attacks", "harmless", write=rate),
               only=lambda n: is_number(n.value)),
        _map("injection_success", "class", "Share of attacks that succeed, by kind, in percent"),
        under("What do defences stop, and at what price?", _map(
            "attacks_stopped", "defence", "Share of the successful attacks on a judge that a defence stops, in percent"
        ), DetailTable(
            "clean_blocked", "Clean texts that a defence blocks, or that the other judges' median scores otherwise",
            lambda group, n: Cell(_name(group, n.subject["defence"])), "defence", {"blocked": number_cell},
        )),
        DetailTable(
            "detection_rate", "Payloads that filters find at the end of clean texts: known ones, and those held out",
            lambda group, n: Cell(_name(group, n.subject["defence"]), plain_name(n.subject.get("payloads", ""))),
            "filter, payloads", {"found": number_cell, "by language": lambda n: Cell(_by_language(n))},
        ),
    ),
)  # fmt: skip
