"""Does a judge's choice between two texts hold when they change places? Consistency, place and letter told apart, what
became of the pairs, close calls, and remedies on the same pairs."""

from __future__ import annotations

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table, forest_plot, number_cell
from recuse.report.gated_number import Number
from recuse.report.numbers import MISSING, count, fixed, in_words, is_number
from recuse.report.questions.coverage import usable_replies
from recuse.report.results_model import Group
from recuse.schema.details import Gap, GapsDetail

ORDER = 14
KINDS = {
    "same_winner": "same winner both times",
    "both_ties": "a tie both times",
    "one_tie": "a tie once",
    "first_twice": "the first both times",
    "second_twice": "the second both times",
}
SCORINGS = {
    "single": "one order",
    "balanced": "both orders",
    "evidence": "evidence first",
    "evidence_balanced": "evidence first, both orders",
}


def draw(group: Group) -> dict[str, object]:
    consistent = group.of("order_consistency")
    return {
        "reading": _reading(consistent),
        "order": forest_plot(
            consistent,
            group.label,
            caption="Pairs with the same verdict in both orders",
            value_name="consistent",
            minimum=0,
            maximum=1,
        ),
        "preferences": [
            plot
            for metric, caption in _PREFERENCES.items()
            if (plot := forest_plot(group.of(metric), group.label, caption=caption, value_name="beyond one half",
                                    signed=True, minimum=-0.5, maximum=0.5))
        ],
        "pairs": _pairs(group, consistent),
        "gaps": _gaps(group),
        "remedies": _remedies(group),
        "coverage": usable_replies(group),
    }  # fmt: skip


_PREFERENCES = {
    "slot_preference": "Wins of the first text, whatever it is and is called",
    "letter_preference": "Wins of the text called A, wherever it stands",
}


def _reading(consistent: list[Number]) -> str:
    known = [n for n in consistent if is_number(n.value)]
    if not known:
        return "No judge chose a winner in both orders of any pair."
    least, most = (fixed(100 * choose(n.amount for n in known), 0) for choose in (min, max))
    phrase = f"{least} %" if least == most else f"{least} to {most} %"
    half = sum(n.amount < 0.5 for n in known)
    text = f"With the two texts swapped, {phrase} of the pairs keep their verdict."
    few = f" {in_words(half, capital=True)} of {in_words(len(known))} judges keep fewer than half."
    return text + few if half else text


def _pairs(group: Group, consistent: list[Number]) -> Table | None:
    """What became of every pair, and the first picks and ties behind it."""
    first = {n.who: n for n in group.of("first_pick_share")}
    ties = {n.who: n for n in group.of("tie_share")}
    rows = [
        [
            Cell(group.label(n.who)),
            *(Cell(count(n.detail.get(kind, 0)) if n.detail else MISSING) for kind in KINDS),
            number_cell(first.get(n.who)),
            number_cell(ties.get(n.who)),
        ]
        for n in consistent
    ]
    columns = ["judge", *KINDS.values(), "first picks among winners", "ties"]
    return Table("What became of the pairs", columns, rows, frozenset(range(1, len(KINDS) + 1))) if rows else None


def _gaps(group: Group) -> Table | None:
    """Share of pairs that the order turns, by how far apart the texts are in the eyes of the other judges."""
    numbers = group.of("gap_effect")
    steps = next((bins for n in numbers if (bins := n.detail_as(GapsDetail).get("bins"))), None)
    if not steps:
        return None
    rows = [
        [Cell(group.label(n.who)), *map(_bin, n.detail_as(GapsDetail).get("bins") or [(None,) * 4] * len(steps)),
         number_cell(n, fixed(n.value, signed=True), small=estimate_format.spread(n, signed=True))]
        for n in numbers
    ]  # fmt: skip
    columns = ["turned by the order", *(f"gap {fixed(low)} to {fixed(high)}" for low, high, *_ in steps), "slope"]
    return Table("Is it close calls that the order decides?", columns, rows)


def _bin(step: Gap) -> Cell:
    _, _, pairs, turned = step
    return Cell(f"{fixed(100 * turned, 0)} %", f"of {pairs}") if is_number(turned) else Cell(MISSING)


def _remedies(group: Group) -> Table | None:
    """Agreement with people or peers under each way of asking, and the gain over one order."""
    numbers = group.of("verdict_agreement")
    gains = {(n.who, n.subject.get("scoring")): n for n in group.of("calibration_gain")}
    by_scoring = {(n.who, n.subject.get("scoring")): n for n in numbers}
    rows = [
        [Cell(group.label(who)), *(_agreed(by_scoring.get((who, s)), gains.get((who, s))) for s in SCORINGS)]
        for who in dict.fromkeys(n.who for n in numbers)
    ]
    columns = ["agreement with the others' verdict", *SCORINGS.values()]
    caption = "Does another way of asking help? Same pairs; below: the gain over one order"
    return Table(caption, columns, rows) if rows else None


def _agreed(n: Number | None, gain: Number | None) -> Cell:
    if n is None or gain is None or not is_number(gain.value):
        return number_cell(n)
    phrase = (
        f"{estimate_format.in_unit(gain.value, 'share', signed=True)} ({estimate_format.spread(gain, signed=True)})"
    )
    return number_cell(n, small=phrase)
