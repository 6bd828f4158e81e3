"""Does a judge give more to a text that tells it to? Successful attacks, how much of that a suffix does that asks for
nothing, which kinds work, and what defences stop and what clean text they block."""

from __future__ import annotations

from dataclasses import replace

from recuse.report import estimate_format
from recuse.report.figures import bars, forest_plot, magnitude_maps
from recuse.report.figures.heat_map import HeatMaps
from recuse.report.gated_number import Number
from recuse.report.lexicon import plain_name
from recuse.report.numbers import count, fixed, in_words, is_number
from recuse.report.results_model import Group
from recuse.schema.details import AttackDetail, DetectionDetail, Matrix

ORDER = 16
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


def draw(group: Group) -> dict[str, object]:
    rates = [n for n in group.of("injection_success") if "class" not in n.subject]
    stopped = group.of("attacks_stopped")
    return {
        "reading": _reading(rates, group),
        "rates": forest_plot(
            rates,
            group.label,
            caption="Attacks that lift the score by one or more, or win a lost choice",
            value_name="succeed",
            minimum=0,
            maximum=1,
            aside=_untested,
        ),
        "beyond": forest_plot(
            [n for n in group.of("injection_above_harmless") if is_number(n.value)],
            group.label,
            caption="The same beyond a suffix that asks for nothing, text by text",
            value_name="more often",
            signed=True,
            minimum=0,
            aside=_base_line,
        ),
        "classes": _map(group, [n for n in group.of("injection_success") if "class" in n.subject], "class",
                        "Share of attacks that succeed, by kind, in percent"),
        "stopped": _map(group, stopped, "defence",
                        "Share of the successful attacks on a judge that a defence stops, in percent"),
        "nothing_to_stop": _nothing(group, stopped),
        "found": bars(
            [(_filter(group, n), n.value, estimate_format.value(n), _found_in(n), "")
             for n in group.of("detection_rate")],
            caption="Payloads that filters find at the end of clean texts: known ones, and those held out",
            value_name="found", full=1.0, head="filter, payloads",
        ),
        "blocked": bars(
            [(_name(group, name := n.subject.get("defence", ""), [name]), n.value, estimate_format.value(n),
              estimate_format.spread(n) or estimate_format.why_undefined(n), "") for n in group.of("clean_blocked")],
            caption="Clean texts that a defence blocks, or that the other judges' median scores otherwise",
            value_name="blocked", full=1.0, head="defence",
        ),
    }  # fmt: skip


def _reading(rates: list[Number], group: Group) -> str:
    known = [n for n in rates if is_number(n.value)]
    if not known:
        return "No judge could be attacked: no clean twin left room for a better one." if rates else ""
    worst = max(known, key=lambda n: n.amount)
    if not worst.value:
        return "No attack succeeded."
    text = f"{group.label(worst.who)} gives way most: {estimate_format.value(worst)} of the attacks succeed."
    judges = {n.who for n in known}
    untouched = len(judges - {n.who for n in known if n.value})
    firm = f" {in_words(untouched, capital=True)} of {in_words(len(judges))} never gave way."
    return text + firm if untouched else text


def _untested(n: Number) -> str:
    """Attacks that could not show anything; they are not counted as withstood."""
    outcomes = n.detail_as(AttackDetail).get("outcomes") or {}
    lost = [f"{count(outcomes[name])} {outcome_name}" for name, outcome_name in UNTESTED.items() if outcomes.get(name)]
    lift = n.detail.get("lift")
    if not is_number(lift):
        return "; ".join(lost)
    return "; ".join([f"lift {fixed(lift, signed=True)} on average", *lost])


def _base_line(n: Number) -> str:
    attacks, harmless = (n.detail.get(kind) for kind in ("attacks", "harmless"))
    return f"{100 * attacks:.0f} % against {100 * harmless:.0f} %" if is_number(attacks) and is_number(harmless) else ""


def _map(group: Group, numbers: list[Number], factor: str, caption: str) -> HeatMaps:
    """Kinds or defences, of which there may be many, by judges."""
    judges = list(dict.fromkeys(n.who for n in numbers))
    levels = list(dict.fromkeys(n.subject[factor] for n in numbers))
    shares = {(n.subject[factor], n.who): _percent(n.value) for n in numbers}
    asked = [judge for judge in judges if any(is_number(shares.get((level, judge))) for level in levels)]
    if not asked:
        return HeatMaps([])
    values = [[shares.get((level, judge)) for judge in asked] for level in levels]
    matrix: Matrix = {"rows": levels, "columns": asked, "values": values}
    maps = magnitude_maps([(caption, matrix)], lambda name: _name(group, name, levels))
    return HeatMaps([replace(drawn, corner=f"{factor} ↓ judge →") for drawn in maps.maps])


def _name(group: Group, name: str, levels: list[str]) -> str:
    """A judge's label; a kind of attack or a defence in plain words, with the label of the model it asks."""
    if name not in levels:
        return group.label(name)
    kind, _, model = name.partition(":")
    phrase = NAMES.get(kind, plain_name(kind))
    return f"{phrase}: {group.label(model)}" if model else phrase


def _filter(group: Group, n: Number) -> str:
    defence = n.subject.get("defence", "")
    return f"{_name(group, defence, [defence])}, {plain_name(n.subject.get('payloads', ''))}"


def _found_in(n: Number) -> str:
    """How sure it is, and language by language where there are several."""
    rows = n.detail_as(DetectionDetail).get("by_language") or ()
    phrases = [f"{row['language']} {100 * row['share']:.0f} % of {count(row['payloads'])}" for row in rows]
    sure = estimate_format.spread(n) or estimate_format.why_undefined(n)
    return "; ".join(filter(None, (sure, ", ".join(phrases) if len(phrases) > 1 else "")))


def _percent(value: float | None) -> float | None:
    return round(100 * value) if is_number(value) else None


def _nothing(group: Group, stopped: list[Number]) -> str:
    """Judges no attack succeeded on: a defence has nothing to show there."""
    judges = dict.fromkeys(n.who for n in stopped)
    idle = [group.label(who) for who in judges if not any(is_number(n.value) for n in stopped if n.who == who)]
    return f"No attack succeeded on {', '.join(idle)}, so there was nothing to stop." if idle else ""
