"""Drawings of the merchant-risk study: do the totals, means and SDs a judge reports follow from its own scores, do
models keep the rules of the task when they write, and do judges score as people do?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recuse.papers.self_preference.self_preference_drawings import detail_text
from recuse.report.drawing import Drawing, chance, folded, under
from recuse.report.figures import Cell, Forest, Table, cross_table, deviation_maps, main_matrices, table
from recuse.report.gated_number import Number
from recuse.report.questions.generic import all_but
from recuse.report.results_model import Group
from recuse.schema.number_text import MISSING, decimals_for, fixed, in_unit, in_words, is_number, out_of

KINDS = {
    "reported_total": "totals",
    "self_reported_final": "claimed final scores",
    "self_reported_mean": "claimed means",
    "self_reported_sd": "claimed standard deviations",
}
MOST_SLIPS = 12  # slips are listed one by one up to here


def _what_does_not_follow(group: Group) -> str:
    parts = []
    for metric, name in KINDS.items():
        numbers = [n for n in group.of(metric) if is_number(n.value)]
        if wrong := {n.who for n in numbers if n.entries("offenders")}:
            judges = len({n.who for n in numbers})
            parts.append(f"{in_words(len(wrong))} of {in_words(judges)} judges report {name} that do not follow")
    if not parts:
        return "Every figure that was checked follows from the scores beside it."
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}. They are counted and shown, never corrected."


def _overview(group: Group) -> Table:
    numbers = group.of(*KINDS)
    kinds = [(metric, levels) for metric in KINDS for levels in group.circumstances(group.of(metric))]
    return cross_table(
        "Share that does not follow", "judge", numbers, cell=_share, numeric=True,
        rows={who: group.label(who) for who in sorted({n.who for n in numbers}, key=group.place)},
        column=lambda n: (n.metric, n.circumstances),
        columns={kind: ", ".join(filter(None, (KINDS[kind[0]], kind[1]))) for kind in kinds},
    )  # fmt: skip


def _share(n: Number | None) -> Cell:
    if n is None:
        return Cell(MISSING)
    if not is_number(n.value):
        return Cell(n.text(), n.why_undefined, n.state)
    wrong, total = n.detail.get("wrong"), n.detail.get("checked", n.estimate.get("n"))
    small = f"{wrong} of {total}" if is_number(wrong) and is_number(total) else n.spread()
    return Cell(n.text(), small, n.state)


def _slips(group: Group) -> Table:
    slips, rows = [(n, entry) for n in group.of(*KINDS) for entry in n.entries("offenders")], []
    for n, entry in slips:
        reported, computed = entry.get("final", entry.get("sd", entry.get("mean"))), entry.get("mean_of_criteria")
        decimals = decimals_for([reported, computed])
        judge = Cell(group.label(n.who), n.circumstances)
        text = Cell(group.label(str(entry.get("target", ""))), entry.get("criterion", ""))
        figures = (fixed(value, decimals) if is_number(value) else "" for value in (reported, computed))
        replies = f"{entry['wrong']} of {entry['replies']}" if "wrong" in entry and "replies" in entry else "1 of 1"
        rows.append([judge, text, KINDS[n.metric], *figures, replies])
    columns = "judge|text|figure|reported|computed|replies"
    return table("Figures that do not follow", columns, rows, {3, 4}, most=MOST_SLIPS)


reported_statistics = Drawing(reading=_what_does_not_follow, figures=(_overview, _slips))


# --------------------------------------------------------------------------- the rules of the task


def _whole(group: Group) -> list[Number]:
    return [n for n in group.of("rules_kept") if n.subject.get("rule") == "all" and is_number(n.value)]


def _broken(group: Group) -> Table:
    rows = (
        [group.label(n.who), n.subject["rule"], *of] for n in group.of("rules_kept") for of in n.entries("breaches")
    )
    return table("The commonest breaches", "model|rule|what|times", rows, {3})


def _cards(group: Group) -> list[Table]:
    def card(n: Number) -> Table:
        rows = ([item, Cell(words, "; ".join(why))] for item, words, why in n.entries("texts"))
        return table(f"{group.label(n.who)} wrote", "text|words, and what they break", rows)

    return list(map(card, _whole(group)))


rules_kept = Drawing(
    reading=lambda group: (
        f"{out_of(sum(n.value == 1 for n in _whole(group)), len(_whole(group)))} models keep every rule in every text."
    ),
    figures=(
        lambda group: cross_table(
            "Share of texts that keep a rule", "rule", group.of("rules_kept"), row=lambda n: n.subject.get("rule", ""),
            rows=str, column=lambda n: n.who, columns=group.label,
        ),
        _broken, folded("What they wrote", ", the first texts of each", _cards),
        lambda group: all_but(group, "rules_kept"),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- do judges score as people do?

MOST_RANKED = 12


def _offset_in_words(group: Group) -> str:
    panel = next((n for n in group.of("human_panel_offset") if is_number(n.value)), None)
    if panel is None:
        return ""
    share = panel.detail.get("share_positive")
    shown, far = panel.circumstances or "overall", abs(panel.amount)
    by = f"{fixed(far)} points" if panel.unit == "points" else f"{in_unit(far, panel.unit)} of the scale"
    level = "lenient" if panel.amount > 0 else "strict"
    judges = {n.who for n in group.of("human_offset")}
    who = group.label(*judges) if len(judges) == 1 else "the panel"
    than = f"is {by} more {level} than people" if far >= 0.005 else "gives on average what people give"
    offset = f"{shown[:1].upper()}{shown[1:]}, {who} {than}"
    text = f"{offset}; {share} scores lie above theirs." if share else f"{offset}."
    closest = next((n.detail.get("judge") for n in group.of("closest_judge") if len(judges) != 1), None)
    return f"{text} Closest to people is {group.label(str(closest))}." if closest else text


def _closest(group: Group) -> Table | None:
    numbers = [n for n in group.of("closest_judge") if n.entries("ranking")]
    if not numbers:
        return None
    places = [{entry["judge"]: entry for entry in n.entries("ranking")} for n in numbers]

    def distance(entry: Mapping[str, Any] | None) -> Cell:
        first = entry.get("first") if entry else None
        often = f"closest in {fixed(100 * first, 0)} % of bootstrap samples" if is_number(first) else ""
        return Cell(fixed(entry.get("distance")), often) if entry else Cell(MISSING)

    rows = ([group.label(judge), *(distance(place.get(judge)) for place in places)] for judge in places[0])
    columns = ["mean distance from people", *(n.circumstances or "all repeats" for n in numbers)]
    return table("Who is closest to people?", columns, rows, most=MOST_RANKED)


human_alignment = Drawing(
    order=30,
    reading=_offset_in_words,
    figures=(
        Forest("human_offset", "Judge minus people, averaged over the texts", "offset", signed=True),
        under("Judge minus people, text by text",
              lambda group: deviation_maps(main_matrices(group, "human_offset_matrix"), group.label, about="people")),
        Forest("human_panel_offset", "All judges together, minus people", "offset", signed=True, panel="the panel"),
        _closest,
        Forest("human_self_offset", "Its own work, minus people: is a self-critical judge harsh, or right?", "offset",
               signed=True),
        Forest("human_order", "Rank correlation with people's order of the texts", "ρ", signed=True, includes=(-1, 1),
               aside=chance),
        Forest("calibration_change", "Distance from people after calibration on the other texts, less that before",
               "change", signed=True, aside=detail_text("{} → {}", "before", "after")),
    ),
)  # fmt: skip
