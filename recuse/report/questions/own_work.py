"""Does a judge score its own work as its peers do, and above what it gives to others? Self-bias with limits, who over-
and under-scores whom, what hiding the names changes; own texts beside others', S - R beside S - G as published."""

from __future__ import annotations

from recuse.report.drawing import Block, Drawing, Part, Words, folded, pair, under
from recuse.report.figures import Cell, Forest, HeatMaps, Table, deviation_maps, main_matrices, ranking_maps
from recuse.report.gated_number import Number, plain_name, varied
from recuse.report.questions.repeats import usable_replies
from recuse.report.questions.true_order import p_value
from recuse.report.results_model import Group
from recuse.schema.details import JudgingDetail
from recuse.schema.number_text import MISSING, decimals_for, fixed, in_words, is_number

# --------------------------------------------------------------------------- against the peers' consensus


def _against_peers(group: Group) -> str:
    own = group.of("self_bias")
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


def _shrinks(n: Number) -> str:
    """By how much hiding the names changes the size of its bias, and whether the bias turns round."""
    percent, kept = n.detail.get("gone_pct"), n.detail.get("direction_kept")
    shown = f"bias {fixed(abs(percent), 1)} % {'smaller' if percent >= 0 else 'larger'}" if is_number(percent) else ""
    return "; ".join(filter(None, (shown, "turns round" if kept is False else "")))


def _bias(group: Group) -> HeatMaps:
    return deviation_maps(main_matrices(group, "consensus_deviation"), group.label)


def _scores(group: Group) -> HeatMaps:
    return ranking_maps(main_matrices(group, "score_matrix", ", mean ± SD over repeats"), group.label)


consensus_deviation = Drawing(
    order=10,
    reading=_against_peers,
    figures=(
        Forest("self_bias", "Self-bias: a judge's score of its own work minus the mean of its peers'", "self-bias",
               signed=True),
        under("Who over- and under-scores whom?", _bias),
        under("What did they score?", _scores),
        under("What does hiding the names change?",
              Forest("name_effect", "Self-bias with names shown minus with names hidden", "effect of the name",
                     signed=True, aside=_shrinks)),
        under(
            "What lies behind it?",
            pair(
                Forest("leniency", "Leniency: how a judge scores the others' work, against its peers", "points",
                       signed=True),
                Forest("self_preference", "Self-preference: self-bias beyond the judge's general leniency", "points",
                       signed=True),
            ),
        ),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- own texts beside others'

MOST_ROWS = 60
PARTS = (("S", "s"), ("R", "r"), ("G", "g"))
SYMBOLS = (
    "S is the judge's score of its own text, R its peers' mean for it, G its mean for the others' texts; all on the "
    "scale where high is best."
)


def _above_others(group: Group) -> str:
    own = group.of("self_preference_controlled")
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


def _symbols(group: Group) -> str:
    """What the letters mean, what the tests say together, and what they could have found."""
    tests = next((str(n.detail["summary"]) for n in group.of("significant_tests") if n.detail.get("summary")), "")
    return " ".join(part for part in (SYMBOLS, f"{tests}." if tests else "", _power(group)) if part)


def _tests(group: Group) -> Table:
    """S, R and G with both tests, as the thesis prints them; the last columns put both tests, and the first alone, in a
    word."""
    given = {(n.who, n.circumstances): n for n in group.of("self_minus_given")}
    rows = []
    for n in group.of("self_minus_received"):
        other = given.get((n.who, n.circumstances))
        why = n.why_undefined or str(n.detail.get("reading") or "")
        rows.append([
            Cell(group.label(n.who), _levels(n)), Cell(str(n.estimate.get("n", "")), _lost(n)),
            *(_mean(n, name) for _, name in PARTS), _t(n), _t(other) if other else Cell(MISSING), Cell(why),
            Cell(str(n.detail.get("thesis_reading") or MISSING)),
        ])  # fmt: skip
    means = [f"{symbol}, mean ± SD" for symbol, _ in PARTS]
    columns = ["judge", "n", *means, "t of S − R", "t of S − G", "reading", "by S − R alone"]
    shown = rows[:MOST_ROWS]
    return Table("Both comparisons", columns, shown, frozenset({1, 2, 3, 4}), len(rows) - len(shown))


def _mean(n: Number, name: str) -> Cell:
    mean, sd = n.detail.get(f"{name}_mean"), n.detail.get(f"{name}_sd")
    return Cell(fixed(mean, decimals_for([mean])), f"± {fixed(sd)}" if is_number(sd) else "")


def _t(n: Number) -> Cell:
    """t, and what is left of its p-value after the correction."""
    return Cell(fixed(n.detail.get("t"), signed=True), _p(n))


def _p(n: Number) -> str:
    p, adjusted = n.detail.get("p"), n.detail.get("p_holm")
    if not is_number(p):
        return n.why_undefined
    raw = f"p {p_value(p, equals='= ')}"
    return f"{raw}, after Holm {p_value(adjusted)}" if is_number(adjusted) else raw


def _lost(n: Number) -> str:
    """What the excluded stories lack; nothing is imputed for them."""
    lacking = n.detail_as(JudgingDetail).get("excluded") or {}
    lost_how = {"self": "without its own grade", "received": "without a peer's", "given": "without one for others"}
    return ", ".join(f"{count} {lost_how.get(name, plain_name(name))}" for name, count in lacking.items())


def _power(group: Group) -> str:
    """How small a preference these stories could show."""
    numbers = [n for n in group.of("self_minus_received") if is_number(n.detail.get("smallest_effect"))]
    details = [n.detail_as(JudgingDetail) for n in numbers]
    if not details:
        return ""
    effects = _span([d["smallest_effect"] for d in details], "SDs")
    points = [points for d in details if is_number(points := d.get("smallest_difference"))]
    here = f", here {_span(points, 'points')}" if points else ""
    return f"With 80 % power these texts show a difference of {effects}{here}."


def _span(values: list[float], unit: str) -> str:
    low, high = fixed(min(values)), fixed(max(values))
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def _levels(n: Number) -> str:
    return n.circumstances[:1].upper() + n.circumstances[1:]


def _bits(n: Number) -> str:
    own, others = n.detail.get("own"), n.detail.get("others")
    return f"own {fixed(own)} bits, others {fixed(others)}" if is_number(own) and is_number(others) else ""


_COMPARED: tuple[Part, ...] = (
    Forest("self_minus_received", "S − R: its own text against the peers' grade for it", "points", signed=True,
           aside=_p),
    Forest("self_minus_given", "S − G: its own text against the others' texts", "points", signed=True, aside=_p),
)  # fmt: skip


def _published(group: Group) -> Block | None:
    """The published test, under the meaning of its letters."""
    parts: tuple[Part, ...] = (_tests, folded("Both comparisons with their intervals", "", *_COMPARED))
    figures = [figure for part in parts if (figure := part(group))]
    explained = [Words("read", [_symbols(group)]), *figures]
    return Block("under", explained, "What does the published test say?") if figures else None


self_preference = Drawing(
    order=12,
    reading=_above_others,
    figures=(
        Forest("self_preference_controlled",
               "Own text against the peers' view of it, less the same difference on texts neither wrote", "points",
               signed=True),
        _published,
        under("Who gave whom what?", _scores),
        under(
            "Is it because its own words are easy for it to predict?",
            Forest("own_predictability",
                   "How much easier its own text is for it than for its peers, beyond texts neither wrote",
                   "bits per character", signed=True, aside=_bits),
            Forest("grade_on_predictability",
                   "What it adds to the peers' grade per bit per character that a text is easier for it",
                   "points per bit", signed=True),
        ),
        usable_replies,
    ),
)  # fmt: skip
