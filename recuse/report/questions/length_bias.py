"""Does a judge choose the longer text when it says no more? Padded twins, length in scores and in choices beyond what
the peers make of it, and meeting texts of like length only."""

from __future__ import annotations

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table, forest_plot, number_cell
from recuse.report.gated_number import Number
from recuse.report.lexicon import plain_name
from recuse.report.numbers import count, fixed, in_words, is_number
from recuse.report.results_model import Group

ORDER = 15
_COEFFICIENTS = {
    "length_coefficient": "In scores: points per doubling of the length, beyond the peers",
    "choice_length_coefficient": "In choices: win share per doubling of the length, beyond the peers",
}
_LIKE_LENGTH = "Longer texts' wins among texts of like length"
_REFERENCES = {"any": "against any text", "same_length": "against the nearest in length", "change": "change"}


def draw(group: Group) -> dict[str, object]:
    twins = group.of("padding_preference")
    return {
        "reading": _reading(twins),
        "twins": forest_plot(
            twins,
            group.label,
            caption="Wins of the padded twin, which says no more",
            value_name="beyond one half",
            signed=True,
            minimum=-0.5,
            maximum=0.5,
            aside=_counts,
        ),
        "coefficients": [
            plot
            for metric, caption in _COEFFICIENTS.items()
            if any(is_number(n.value) for n in group.of(metric))
            and (plot := forest_plot(group.of(metric), group.label, caption=caption, value_name="per doubling",
                                     signed=True, aside=_raw))
        ],
        "unknown": _unknown(group),
        "references": _references(group),
    }  # fmt: skip


def _reading(twins: list[Number]) -> str:
    known = [n for n in twins if is_number(n.value)]
    if not known:
        return "No judge gave a usable verdict on a text and its padded twin in both orders."
    likes = sum(n.side_of_zero == "above" for n in known)
    dislikes = sum(n.side_of_zero == "below" for n in known)
    phrases = [f"{in_words(k)} {verb}" for k, verb in ((likes, "for"), (dislikes, "against")) if k]
    if not phrases:
        return "No judge prefers padding, or avoids it, beyond chance."
    return f"Of {in_words(len(known))} judges, {' and '.join(phrases)} the text with the padding."


def _unknown(group: Group) -> list[tuple[str, str]]:
    """What no judge has, each with the reason."""
    captions = {**_COEFFICIENTS, "same_length_reference": _LIKE_LENGTH}
    return [
        (caption, estimate_format.why_undefined(numbers[0]))
        for metric, caption in captions.items()
        if (numbers := group.of(metric)) and not any(is_number(n.value) for n in numbers)
    ]


def _counts(n: Number) -> str:
    parts = [n.detail.get(name) for name in ("longer_wins", "shorter_wins", "neither")]
    return "longer {}, shorter {}, neither {}".format(*map(count, parts)) if all(map(is_number, parts)) else ""


def _raw(n: Number) -> str:
    raw = n.detail.get("raw")
    return f"{fixed(raw, signed=True)} before the peers are taken off" if is_number(raw) else ""


def _references(group: Group) -> list[Table]:
    """What the longer text gains, whatever it meets and when it meets its like; one table per protocol and level."""
    parts: dict[str, list[Number]] = {}
    for n in group.of("same_length_reference"):
        circumstances = (plain_name(n.subject.get("protocol", "")), n.circumstances_but("reference"))
        parts.setdefault(", ".join(part for part in circumstances if part), []).append(n)
    return [
        _reference(group, circumstances, mine)
        for circumstances, mine in parts.items()
        if any(is_number(n.value) for n in mine)
    ]


def _reference(group: Group, circumstances: str, numbers: list[Number]) -> Table:
    by_reference = {(n.who, n.subject.get("reference")): n for n in numbers}
    rows = [
        [Cell(group.label(who)), *(_gain(by_reference.get((who, name))) for name in _REFERENCES)]
        for who in dict.fromkeys(n.who for n in numbers)
    ]
    columns = ["longer text's wins beyond the peers", *_REFERENCES.values()]
    return Table(f"{_LIKE_LENGTH}, {circumstances}" if circumstances else _LIKE_LENGTH, columns, rows)


def _gain(n: Number | None) -> Cell:
    if n is None or not is_number(n.value):
        return number_cell(n)
    text = estimate_format.in_unit(n.value, "share", signed=True)
    return number_cell(n, text, small=estimate_format.spread(n, signed=True))
