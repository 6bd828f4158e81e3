"""Does a judge score its own text above what its peers give it, and above what it gives to others? The gated
comparison, S - R beside S - G as published, and who gave whom what."""

from __future__ import annotations

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table, forest_plot, ranking_maps
from recuse.report.gated_number import Number
from recuse.report.lexicon import plain_name
from recuse.report.matrices import is_matrix
from recuse.report.numbers import MISSING, decimals_for, fixed, in_words, is_number
from recuse.report.questions.coverage import usable_replies
from recuse.report.results_model import Group
from recuse.schema.details import ExcludedDetail, Matrix, PowerDetail

ORDER = 12
MOST_ROWS = 60
PARTS = (("S", "s"), ("R", "r"), ("G", "g"))


def draw(group: Group) -> dict[str, object]:
    """What the template shows of own texts judged beside others'."""
    own = group.of("self_preference_controlled")
    return {
        "reading": _reading(own),
        "own": forest_plot(
            own,
            group.label,
            caption="Own text against the peers' view of it, less the same difference on texts neither wrote",
            value_name="points",
            signed=True,
        ),
        "told": next((str(n.detail["told"]) for n in group.of("significant_tests") if n.detail.get("told")), ""),
        "tests": _tests(group),
        "compared": [
            plot
            for metric, caption in _COMPARED.items()
            if (plot := forest_plot(group.of(metric), group.label, caption=caption, value_name="points", signed=True,
                                    aside=_p))
        ],
        "power": _power(group),
        "grades": ranking_maps(
            [(_direction(n), n.detail_as(Matrix)) for n in group.of("score_matrix") if is_matrix(n)], group.label
        ),
        "easy": forest_plot(
            group.of("own_predictability"),
            group.label,
            caption="How much easier its own text is for it than for its peers, beyond texts neither wrote",
            value_name="bits per character",
            signed=True,
            aside=_bits,
        ),
        "paid": forest_plot(
            group.of("grade_on_predictability"),
            group.label,
            caption="What it adds to the peers' grade per bit per character that a text is easier for it",
            value_name="points per bit",
            signed=True,
        ),
        "coverage": usable_replies(group),
    }  # fmt: skip


_COMPARED = {
    "self_minus_received": "S − R: its own text against the peers' grade for it",
    "self_minus_given": "S − G: its own text against the others' texts",
}


def _reading(own: list[Number]) -> str:
    known = {n.who for n in own if is_number(n.value)}
    above = {n.who for n in own if n.side_of_zero == "above"}
    below = {n.who for n in own if n.side_of_zero == "below"} - above
    if not known:
        return "No judge's own text could be compared with its peers' view of it."
    phrases = [
        f"{in_words(len(who))} grade{'s its' if len(who) == 1 else ' their'} own text {side} what peers make of it"
        for who, side in ((above, "above"), (below, "below"))
        if who
    ]
    text = f"Of {in_words(len(known))} judges that are authors, {', '.join(phrases) or 'none stands out'}"
    return f"{text}, once leniency and quality are taken out."


def _bits(n: Number) -> str:
    own, others = n.detail.get("own"), n.detail.get("others")
    return f"own {fixed(own)} bits, others {fixed(others)}" if is_number(own) and is_number(others) else ""


def _tests(group: Group) -> Table | None:
    """S, R and G with both tests, as the thesis prints them; the last columns put both tests, and the first alone, in a
    word."""
    given = {(n.who, n.circumstances): n for n in group.of("self_minus_given")}
    rows = []
    for n in group.of("self_minus_received"):
        other = given.get((n.who, n.circumstances))
        parts = [_mean(n, name) for _, name in PARTS]
        why = estimate_format.why_undefined(n) or str(n.detail.get("reading") or "")
        rows.append([
            Cell(group.label(n.who), _direction(n)), Cell(str(n.estimate.get("n", "")), _lost(n)), *parts,
            _t(n), *([_t(other)] if other else [Cell(MISSING)]), Cell(why),
            Cell(str(n.detail.get("thesis_reading") or MISSING)),
        ])  # fmt: skip
    means = [f"{symbol}, mean ± SD" for symbol, _ in PARTS]
    columns = ["judge", "n", *means, "t of S − R", "t of S − G", "reading", "by S − R alone"]
    shown = rows[:MOST_ROWS]
    return Table("Both comparisons", columns, shown, frozenset({1, 2, 3, 4}), len(rows) - len(shown)) if rows else None


def _mean(n: Number, name: str) -> Cell:
    mean, sd = n.detail.get(f"{name}_mean"), n.detail.get(f"{name}_sd")
    return Cell(fixed(mean, decimals_for([mean])), f"± {fixed(sd)}" if is_number(sd) else "")


def _t(n: Number) -> Cell:
    """t, and what is left of its p-value after the correction."""
    return Cell(fixed(n.detail.get("t"), signed=True), _p(n))


def _p(n: Number) -> str:
    p, adjusted = n.detail.get("p"), n.detail.get("p_holm")
    if not is_number(p):
        return estimate_format.why_undefined(n)
    return f"{_chance(p)}, after Holm {_chance(adjusted)}" if is_number(adjusted) else _chance(p)


def _chance(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {fixed(p, 3)}"


def _lost(n: Number) -> str:
    """What the excluded stories lack; nothing is imputed for them."""
    lacking = n.detail_as(ExcludedDetail).get("excluded") or {}
    lost_how = {"self": "without its own grade", "received": "without a peer's", "given": "without one for others"}
    return ", ".join(f"{count} {lost_how.get(name, plain_name(name))}" for name, count in lacking.items())


def _power(group: Group) -> str:
    """How small a preference these stories could show."""
    numbers = [n for n in group.of("self_minus_received") if is_number(n.detail.get("smallest_effect"))]
    details = [n.detail_as(PowerDetail) for n in numbers]
    if not details:
        return ""
    effects = [d["smallest_effect"] for d in details]
    points = [points for d in details if is_number(points := d.get("smallest_difference"))]
    phrase = _span(effects, "SDs")
    return f"With 80 % power these texts show a difference of {phrase}" + (
        f", here {_span(points, 'points')}." if points else "."
    )


def _span(values: list[float], unit: str) -> str:
    low, high = fixed(min(values)), fixed(max(values))
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def _direction(n: Number) -> str:
    name = n.circumstances
    return name[:1].upper() + name[1:]
