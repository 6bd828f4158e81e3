"""Does a judge score its own work as its peers do? Self-bias with limits, who over- and under-scores whom, what was
scored, what hiding the names changes, and the naive version that includes the judge in its own reference."""

from __future__ import annotations

from collections.abc import Sequence

from recuse.report.figures import Cell, Table, deviation_maps, forest_plot, ranking_maps, slopes
from recuse.report.figures.slopes import Slopes
from recuse.report.gated_number import Number, varied
from recuse.report.matrices import Matrix, differ, main_and_rest, matrices
from recuse.report.numbers import decimals_for, fixed, in_words, is_number
from recuse.report.results_model import Group
from recuse.schema.details import MatrixDetail, Values

ORDER = 10


def draw(group: Group) -> dict[str, object]:
    own = group.of("self_bias")
    bias, bias_variants = main_and_rest(matrices(group, "consensus_deviation"))
    scores, _ = main_and_rest(matrices(group, "score_matrix", ", mean ± SD over repeats"))
    return {
        "reading": _reading(group, own),
        "self_bias": forest_plot(
            own,
            group.label,
            caption="Self-bias: a judge's score of its own work minus the mean of its peers'",
            value_name="self-bias",
            signed=True,
        ),
        "bias": deviation_maps(bias, group.label),
        "scores": ranking_maps(scores, group.label),
        "variants": [
            (name, deviation_maps(maps, group.label)) for name, maps in bias_variants.items() if differ(maps, bias)
        ],
        "slopes": _slopes(group, own),
        "naive": _naive(group, bias),
        "shrinkage": _shrinkage(bias),
        "behind": [
            plot
            for metric, caption in _BEHIND.items()
            if (plot := forest_plot(group.of(metric), group.label, caption=caption, value_name="points", signed=True))
        ],
    }


_BEHIND = {
    "leniency": "Leniency: how a judge scores the others' work, against its peers",
    "self_preference": "Self-preference: self-bias beyond the judge's general leniency",
}


def _reading(group: Group, own: list[Number]) -> str:
    factor = varied(own)
    levels = group.levels(factor, own)
    first = [n for n in own if not levels or n.subject.get(factor) == levels[0]]
    above, below = (sum(n.side_of_zero == side for n in first) for side in ("above", "below"))
    unclear = sum(is_number(n.value) for n in first) - above - below
    if not above + below + unclear:
        return "No judge's own work could be compared with its peers' view of it."
    phrases = [
        f"{in_words(k)} judge{' scores its' if k == 1 else 's score their'} own work {side} the peers' consensus"
        for k, side in ((above, "above"), (below, "below"))
        if k
    ]
    phrases += (
        [f"{in_words(unclear)} differ{'s' if unclear == 1 else ''} from it by no more than chance"] if unclear else []
    )
    start = f"With {group.level(factor, levels[0])}, " if levels else ""
    text = start + ", ".join(phrases)
    return f"{text[:1].upper()}{text[1:]}.{_hiding(group)}"


def _hiding(group: Group) -> str:
    """What hiding the names does: by how much self-bias shrinks, and the signs kept."""
    mean = next((n for n in group.of("bias_gone_without_names") if is_number(n.value)), None)
    kept = [n.detail.get("direction_kept") for n in group.of("name_effect")]
    turned = sum(k is False for k in kept)
    phrases = []
    if mean:
        phrases.append(
            f"{'shrinks' if mean.amount >= 0 else 'enlarges'} the bias by {fixed(abs(mean.amount), 1)} % on average"
        )
    if kept and any(k is not None for k in kept):
        phrases.append(
            f"turns {'no sign' if not turned else 'one sign' if turned == 1 else f'{in_words(turned)} signs'} around"
        )
    return f" Hiding the names {' and '.join(phrases)}." if phrases else ""


def _slopes(group: Group, own: list[Number]) -> Slopes | None:
    levels = group.levels("names", own)
    if len(levels) < 2:
        return None
    notes = {}
    for n in group.of("name_effect"):
        percent = n.detail.get("gone_pct")
        if is_number(percent):
            notes[n.who] = f"{fixed(abs(percent), 1)} % {'smaller' if percent >= 0 else 'larger'}"
    return slopes(
        own,
        group.label,
        (levels[0], levels[1]),
        by="names",
        notes=notes,
        moves=group.of("name_effect"),
        caption="Self-bias with names shown and with names hidden, and the difference",
    )


def _naive(group: Group, bias: list[Matrix]) -> Table | None:
    """Self-bias beside the version that leaves the judge in its own consensus."""
    rows: dict[str, list[Cell]] = {}
    columns = ["judge"]
    drawn = {c: (m, table) for c, m in bias if (naive := m.get("naive")) and (table := naive.get("values"))}
    values = [_at(m, m["values"], pair) for m, _ in drawn.values() for pair in m.get("own") or ()]
    values += [_at(m, naive_values, pair) for m, naive_values in drawn.values() for pair in m.get("own") or ()]
    decimals = decimals_for(values)
    for caption, (detail, naive_values) in drawn.items():
        columns += [f"{caption}: against peers only", "with itself included"]
        for pair in detail.get("own") or ():
            cells = rows.setdefault(pair[0], [Cell(group.label(pair[0]))])
            cells += [
                Cell(fixed(_at(detail, table, pair), decimals, signed=True))
                for table in (detail["values"], naive_values)
            ]
    complete = [cells for cells in rows.values() if len(cells) == len(columns)]
    if not complete:
        return None
    return Table(
        "Self-bias against peers only, and against a mean that includes the judge",
        columns,
        complete,
        frozenset(range(1, len(columns))),
    )


def _shrinkage(bias: list[Matrix]) -> str:
    naive = next((naive for _, m in bias if (naive := m.get("naive"))), None)
    measured, expected = (naive.get("shrinkage"), naive.get("expected")) if naive else (None, None)
    if not is_number(measured):
        return ""
    phrase = f"Counted among its own peers, a judge would seem to deviate {fixed(measured, 3)} times as much"
    return f"{phrase} ((n − 1)/n = {fixed(expected, 3)})." if is_number(expected) else f"{phrase}."


def _at(detail: MatrixDetail, table: Values, pair: Sequence[str]) -> float | None:
    return table[detail["rows"].index(pair[0])][detail["columns"].index(pair[1])]
