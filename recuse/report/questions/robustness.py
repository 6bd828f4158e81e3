"""What should not move a judge, and may: the order of two texts, and their length."""

from __future__ import annotations

from recuse.report.drawing import Drawing, pair, under
from recuse.report.figures import Cell, Forest, Table, cross_table, number_cell, table
from recuse.report.gated_number import Number, plain_name
from recuse.report.questions.generic import usable_replies
from recuse.report.results_model import Group
from recuse.schema.number_text import MISSING, count, fixed, in_unit, in_words, is_number, out_of, rate
from recuse.schema.plain_values import grouped
from recuse.schema.verdict_rows import Gap

KINDS = {
    "same_winner": "same winner both times", "both_ties": "a tie both times", "one_tie": "a tie once",
    "first_twice": "the first both times", "second_twice": "the second both times",
}  # fmt: skip
SCORINGS = {"single": "one order", "balanced": "both orders", "evidence": "evidence first",
            "evidence_balanced": "evidence first, both orders"}  # fmt: skip
_LIKE_LENGTH = "Longer texts' wins among texts of like length"
_REFERENCES = {"any": "against any text", "same_length": "against the nearest in length", "change": "change"}


def _kept(group: Group) -> str:
    known = [n for n in group.of("order_consistency") if is_number(n.value)]
    if not known:
        return "No judge chose a winner in both orders of any pair."
    least, most = (fixed(100 * choose(n.amount for n in known), 0) for choose in (min, max))
    phrase = f"{least} %" if least == most else f"{least} to {most} %"
    half = sum(n.amount < 0.5 for n in known)
    few = f" {out_of(half, len(known))} judges keep fewer than half." if half else ""
    return f"With the two texts swapped, {phrase} of the pairs keep their verdict.{few}"


def _pairs(group: Group) -> Table:
    first, ties = ({n.who: n for n in group.of(metric)} for metric in ("first_pick_share", "tie_share"))
    rows = ([group.label(n.who), *(count(n.detail.get(kind, 0)) if n.detail else MISSING for kind in KINDS),
             number_cell(first.get(n.who)), number_cell(ties.get(n.who))]
            for n in group.of("order_consistency"))  # fmt: skip
    columns = ["judge", *KINDS.values(), "first picks among winners", "ties"]
    return table("What became of the pairs", columns, rows, range(1, len(KINDS) + 1))


def _gaps(group: Group) -> Table | None:
    numbers = group.of("gap_effect")
    steps = next((bins for n in numbers if (bins := n.detail.get("bins"))), None)
    if not steps:
        return None
    none: list[Gap] = [(None, None, None, None)] * len(steps)
    rows = []
    for n in numbers:
        shares = (Cell(rate(turned), f"of {pairs}") if is_number(turned) else Cell(MISSING)
                  for *_, pairs, turned in n.detail.get("bins") or none)  # fmt: skip
        slope = number_cell(n, fixed(n.value, signed=True), small=n.spread(signed=True))
        rows.append([group.label(n.who), *shares, slope])
    columns = ["turned by the order", *(f"gap {fixed(low)} to {fixed(high)}" for low, high, *_ in steps), "slope"]
    return table("Is it close calls that the order decides?", columns, rows)


def _ways_of_asking(group: Group) -> Table:
    gains = {(n.who, n.subject.get("scoring")): n for n in group.of("calibration_gain")}

    def agreed(n: Number | None) -> Cell:
        gain = gains.get((n.who, n.subject.get("scoring"))) if n else None
        if gain is None or not is_number(gain.value):
            return number_cell(n)
        return number_cell(n, small=f"{in_unit(gain.value, 'share', signed=True)} ({gain.spread(signed=True)})")

    return cross_table(
        "Does another way of asking help? Same pairs; below: the gain over one order",
        "agreement with the others' verdict", group.of("verdict_agreement"), rows=group.label,
        column=lambda n: n.subject.get("scoring"), columns=SCORINGS, cell=agreed,
    )  # fmt: skip


def _padded(group: Group) -> str:
    known = [n for n in group.of("padding_preference") if is_number(n.value)]
    if not known:
        return "No judge gave a usable verdict on a text and its padded twin in both orders."
    sides = (("above", "for"), ("below", "against"))
    counts = [(sum(n.side_of_zero == side for n in known), verb) for side, verb in sides]
    if not (phrases := [f"{in_words(k)} {verb}" for k, verb in counts if k]):
        return "No judge prefers padding, or avoids it, beyond chance."
    return f"Of {in_words(len(known))} judges, {' and '.join(phrases)} the text with the padding."


def _counts(n: Number) -> str:
    parts = [n.detail.get(name) for name in ("longer_wins", "shorter_wins", "neither")]
    return "longer {}, shorter {}, neither {}".format(*map(count, parts)) if all(map(is_number, parts)) else ""


def _raw(n: Number) -> str:
    raw = n.detail.get("raw")
    return f"{fixed(raw, signed=True)} before the peers are taken off" if is_number(raw) else ""


def _like_length(group: Group) -> list[Table]:
    def levels_of(n: Number) -> str:
        return ", ".join(filter(None, (plain_name(n.subject.get("protocol", "")), n.circumstances_but("reference"))))

    def gain(n: Number | None) -> Cell:
        text = in_unit(n.value, "share", signed=True) if n and is_number(n.value) else ""
        return number_cell(n, text, small=n.spread(signed=True) if n else "")

    return [
        cross_table(
            f"{_LIKE_LENGTH}, {levels}" if levels else _LIKE_LENGTH, "longer text's wins beyond the peers", numbers,
            rows=group.label, column=lambda n: n.subject.get("reference"), columns=_REFERENCES, cell=gain,
        )
        for levels, numbers in grouped(group.of("same_length_reference"), levels_of).items()
        if any(is_number(n.value) for n in numbers)
    ]  # fmt: skip


position_bias = Drawing(
    order=14, reading=_kept, figures=(
        Forest("order_consistency", "Pairs with the same verdict in both orders", "consistent", includes=(0, 1)),
        under(
            "Is it the place or the letter?",
            pair(
                Forest("slot_preference", "Wins of the first text, whatever it is and is called", "beyond one half",
                       signed=True, includes=(-0.5, 0.5)),
                Forest("letter_preference", "Wins of the text called A, wherever it stands", "beyond one half",
                       signed=True, includes=(-0.5, 0.5)),
            ),
        ),
        _pairs, _gaps, _ways_of_asking, usable_replies,
    ),
)  # fmt: skip
length_bias = Drawing(
    order=15, reading=_padded, figures=(
        Forest("padding_preference", "Wins of the padded twin, which says no more", "beyond one half", signed=True,
               includes=(-0.5, 0.5), aside=_counts),
        under(
            "And in ordinary texts, where length goes with content?",
            Forest("length_coefficient", "In scores: points per doubling of the length, beyond the peers",
                   "per doubling", signed=True, aside=_raw),
            Forest("choice_length_coefficient", "In choices: win share per doubling of the length, beyond the peers",
                   "per doubling", signed=True, aside=_raw),
        ),
        _like_length,
    ),
)  # fmt: skip
