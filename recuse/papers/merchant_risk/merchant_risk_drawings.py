"""Drawings of the merchant-risk study: does a judge score its own work as its peers do, does it say the same twice, do
the figures that it reports follow from its own scores, do models keep the rules of the task when they write, and do
judges score as people do?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from recuse.papers.self_preference.self_preference_drawings import detail_text
from recuse.report.drawing import Drawing, chance, folded, pair, under
from recuse.report.figures import Cell, Forest, Table, cross_table, deviation_maps, magnitude_maps, main_matrices, table
from recuse.report.gated_number import Number, plain_name, varied
from recuse.report.questions.generic import all_but, mean_scores, usable_replies
from recuse.report.results_model import Group
from recuse.schema.number_text import MISSING, decimals_for, fixed, in_unit, in_words, is_number, out_of, short
from recuse.schema.plain_values import grouped
from recuse.schema.verdict_rows import Matrix

WHERE = {
    "above": "above the peers' consensus", "below": "below the peers' consensus",
    "": "no further from the peers' consensus than chance would put it",
}  # fmt: skip


def _against_peers(group: Group) -> str:
    own = group.of("self_bias")
    factor = varied(own)
    known, lexicon = {n.subject[factor] for n in own if factor in n.subject}, group.view.lexicon
    ordinary = min(known, key=lambda level: lexicon.level_order(factor, level), default=None)
    sides = Counter(n.side_of_zero for n in own if n.subject.get(factor) == ordinary and is_number(n.low))
    phrases = [
        f"{in_words(sides[side])} judge{' scores its' if sides[side] == 1 else 's score their'} own work {where}"
        for side, where in WHERE.items() if sides[side]
    ]  # fmt: skip
    if not phrases:
        return "No judge's own work could be compared with its peers' view of it."
    start = f"With {lexicon.level(factor, ordinary)}, " if ordinary else ""
    text = start + ", ".join(phrases)
    text = f"{text[:1].upper()}{text[1:]}."
    if not sides["above"] + sides["below"]:
        return text
    # What hiding the names does: by how much self-bias shrinks, and the signs kept
    mean = next((n for n in group.of("bias_gone_without_names") if is_number(n.value)), None)
    kept = [n.detail.get("direction_kept") for n in group.of("name_effect")]
    turned, effects = sum(k is False for k in kept), []
    if mean:
        changes = "shrinks" if mean.amount >= 0 else "enlarges"
        effects.append(f"{changes} the bias by {fixed(abs(mean.amount), 1)} % on average")
    if any(k is not None for k in kept):
        effects.append(f"turns {in_words(turned)} sign{'s' if turned > 1 else ''} around")
    return f"{text} Hiding the names {' and '.join(effects)}." if effects else text


def _shrinks(n: Number) -> str:
    percent, kept = n.detail.get("gone_pct"), n.detail.get("direction_kept")
    shown = f"bias {fixed(abs(percent), 1)} % {'smaller' if percent >= 0 else 'larger'}" if is_number(percent) else ""
    return "; ".join(filter(None, (shown, "turns round" if kept is False else "")))


consensus_deviation = Drawing(
    order=10,
    reading=_against_peers,
    figures=(
        Forest("self_bias", "Self-bias: a judge's score of its own work minus the mean of its peers'", "self-bias",
               signed=True),
        under("Who over- and under-scores whom?",
              lambda group: deviation_maps(main_matrices(group, "consensus_deviation"), group.label)),
        under("What did they score?", mean_scores),
        under("What does hiding the names change?",
              Forest("name_effect", "Self-bias with names shown minus with names hidden", "effect of the name",
                     signed=True, aside=_shrinks)),
        under("What lies behind it?", pair(
            Forest("leniency", "Leniency: how a judge scores the others' work, against its peers", "points",
                   signed=True),
            Forest("self_preference", "Self-preference: self-bias beyond the judge's general leniency", "points",
                   signed=True),
        )),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- does a judge say the same thing twice?

FEWEST_CRITERIA = 2  # from so many on a table of criteria says more than the heat map of the one score
MOST_NUMBERS = 4000  # that a page carries: more are for results.json and the tables in reports/tables/


def _how_far(group: Group) -> str:
    known = [n for n in group.of("repeat_difference") if is_number(n.value)]
    if not known:
        return ""
    least, most = (choose(known, key=lambda n: n.amount) for choose in (min, max))
    if least.who == most.who:
        return f"Two answers of {group.label(most.who)} to one text lie {fixed(most.value)} points apart on average."
    still = len({n.who for n in known if n.value == 0})
    moved = f" {in_words(still, capital=True)} never moved at all." if still else ""
    return (
        f"Two answers of one judge to one text lie {fixed(least.value)} points ({group.label(least.who)}) to "
        f"{fixed(most.value)} ({group.label(most.who)}) apart on average.{moved}"
    )


def _spread_of_cells(group: Group) -> object:
    spreads = [
        (f"{caption}, SD of each cell", Matrix(rows=m["rows"], columns=m["columns"], own=m.get("own") or (), values=sd))
        for caption, m in main_matrices(group, "score_matrix")
        if (sd := m.get("sd"))
    ]
    return magnitude_maps(spreads, group.label, least="never moved", most="moves most")


def _needed(group: Group) -> Table:
    numbers = group.of("runs_needed")
    wanted = short(next((n.detail.get("half_width") for n in numbers if "half_width" in n.detail), None))
    columns = {level: level or "all repeats" for level in group.circumstances(numbers)}
    caption = f"Repeats per text that would give its mean to ±{wanted} points"
    return cross_table(caption, "judge", numbers, rows=group.label, columns=columns)


def cell_tables(group: Group) -> list[Table]:
    """What every judge gave every target on every criterion, mean ± SD, as studies print it in an appendix: judges in
    panel order, each under every combination of the factors; none where there is a single criterion, or more than
    `MOST_NUMBERS` in all."""
    held = [n for n in group.of("score_matrix") if "criterion" in n.subject and n.detail.get("rows")]
    if sum(len(n.entries("rows")) * len(n.entries("columns")) for n in held) > MOST_NUMBERS:
        return []
    judges = dict.fromkeys(judge for n in held for judge in n.entries("rows"))
    by_way = grouped(held, lambda n: n.circumstances_but("criterion"))
    ways = {way: of for way, of in by_way.items() if len(of) >= FEWEST_CRITERIA}
    return [_cell_table(group, judge, way, of) for judge in judges for way, of in ways.items()]


def _cell_table(group: Group, judge: str, way: str, numbers: list[Number]) -> Table:
    def mean_and_sd(n: Number, target: str) -> str:
        detail = n.detail_as(Matrix)
        if judge not in detail["rows"] or target not in detail["columns"]:
            return MISSING
        i, j = list(detail["rows"]).index(judge), list(detail["columns"]).index(target)
        mean, sds = detail["values"][i][j], detail.get("sd")
        sd = sds[i][j] if sds and is_number(mean) else None
        return fixed(mean) + (f" ± {fixed(sd)}" if is_number(sd) else "")

    targets = list(dict.fromkeys(target for n in numbers for target in n.detail_as(Matrix)["columns"]))
    rows = ([group.label(target), *(mean_and_sd(n, target) for n in numbers)] for target in targets)
    caption = f"{group.label(judge)}{', ' + way if way else ''}: mean ± SD over repeats"
    columns = ["target", *(plain_name(n.subject["criterion"]) for n in numbers)]
    return table(caption, columns, rows, range(1, len(columns)))


score_stability = Drawing(
    order=20,
    reading=_how_far,
    figures=(
        usable_replies,
        Forest("repeat_difference", "How far two answers to one text lie apart, on average", "difference",
               includes=(0,)),
        _spread_of_cells,
        Forest("repeat_reliability", "Reliability: how well its mean scores tell the texts apart", "ICC",
               includes=(0, 1)),
        _needed,
        folded("Mean and SD of every criterion", ", judge by judge", cell_tables),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- figures that a judge reports

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
