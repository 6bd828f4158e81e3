"""Drawings of the self-preference study: what would a remedy have changed, does a judge prefer its own text when it
chooses between two, and when it scores them; S - R beside S - G as published; the direction of the scale; does it give
more to a text that tells it to?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from recuse.report import figures
from recuse.report.drawing import Drawing, Part, Words, folded, p_value, under, words
from recuse.report.figures import Cell, DetailTable, Forest, HeatMaps, Table, cell_matrix, deviation_maps, number_cell
from recuse.report.gated_number import Number, plain_name
from recuse.report.questions.generic import mean_scores, usable_replies
from recuse.report.results_model import Group
from recuse.schema.number_text import MISSING, count, decimals_for, fixed, in_words, interval, is_number, out_of, rate
from recuse.schema.plain_values import grouped

REMEDIES = {
    "poll": "mean of all judges but the reference",
    "weighted_poll": "mean, a judge weighing less on texts it predicts well (perplexity)",
    "peer_rank": "mean, weighing as own texts win (Peer Rank)",
    "peer_rank_battles": "the same, wins counted in choices",
    "inverted_mix": "mean of both directions of the scale",
    "probability_weighted": "expected score over the options' probabilities",
    "segments": "parts scored one by one",
    "position_calibration": "both orders of every pair",
}


def _nearer(group: Group) -> str:
    known = [n for n in group.of("self_preference_change") if is_number(n.value)]
    if not known:
        return "No remedy could be tried on these ratings."
    smaller = sum(bool(n.detail.get("nearer")) for n in known)
    return (
        f"{in_words(smaller, capital=True)} of {len(known)} trials bring a judge's score of its own text nearer to "
        "its peers' (S − R nearer to 0). A mean with the peers does so whatever the cause: the judge then has less "
        "to say, and is no fairer."
    )


def _remedies(metric: str, what: str) -> Part:
    """A table per combination of levels; then the remedies that could not be tried, and why."""

    def part(group: Group) -> list[object]:
        numbers = group.of(metric)
        by_levels = grouped(numbers, lambda n: n.circumstances_but("mitigation"))
        tables = [_table(group, of, f"{what}, {levels}" if levels else what) for levels, of in by_levels.items()]
        by_remedy = grouped(numbers, lambda n: n.subject.get("mitigation"))
        untried = [
            f"{REMEDIES[remedy]} ({by_remedy[remedy][0].why_undefined})"
            for remedy in REMEDIES
            if remedy in by_remedy and not any(is_number(n.value) for n in by_remedy[remedy])
        ]
        return [*tables, Words("note", [f"Not tried here: {'; '.join(untried)}."]) if untried else None]

    return part


def _table(group: Group, numbers: list[Number], what: str) -> Table:
    tried = {n.subject.get("mitigation") for n in numbers if is_number(n.value)}
    remedies = [remedy for remedy in REMEDIES if remedy in tried]
    rows = []
    for who, of in grouped(numbers, lambda n: n.who).items():
        by_mitigation = {n.subject.get("mitigation"): n for n in of}
        after = [by_mitigation.get(remedy) for remedy in remedies]
        first = next((n for n in after if n and is_number(n.value)), None)
        before = Cell(fixed(_at(first, "before"), signed=True))
        rows.append([Cell(group.label(who)), before, *(_after(n, first) for n in after)])
    caption = f"{what}: before, and after each remedy (below: the change)"
    return Table(caption, ["judge", "before", *(REMEDIES[r] for r in remedies)], rows if remedies else [])


def _after(n: Number | None, first: Number | None) -> Cell:
    """After the remedy, and the change; with its own start where it was tried on other texts than the first one."""
    if n is None or not is_number(n.value):
        return Cell(MISSING, n.why_undefined if n else "")
    change = f"{fixed(n.value, signed=True)} ({interval(n.low, n.high, signed=True)})" if is_number(n.low) else ""
    tried = n.estimate.get("n")
    if first and tried != first.estimate.get("n") and is_number(_at(n, "before")):
        start = f"from {fixed(_at(n, 'before'), signed=True)} on {count(tried)} {n.units}"
        change = f"{start}: {change}" if change else start
    return Cell(fixed(_at(n, "after"), signed=True), change)


def _at(n: Number | None, when: Literal["before", "after"]) -> Any:
    of = n.detail.get(when) if n else None
    return of.get("value") if isinstance(of, Mapping) else None


mitigations = Drawing(order=17, reading=_nearer, figures=(
    _remedies("self_preference_change", "own text above its peers (S − R), points"),
))  # fmt: skip


# --------------------------------------------------------------------------- choices between two texts

_SEEN = {"self": "itself", "peers": "its peers", "neutral_peers": "peers that wrote neither", "people": "people"}


def _own_wins(group: Group) -> str:
    known = [n for n in group.of("controlled_own_win_excess") if is_number(n.value)]
    if not known:
        return "No judge's choices about its own text could be compared with those of neutral peers."
    sides = [n.side_of_zero for n in known]
    counts = ((sides.count("above"), "for"), (sides.count("below"), "against"))
    which = " and ".join(f"{in_words(k)} {verb}" for k, verb in counts if k)
    rest = f"{which} its own text more than neutral peers" if which else "none differs from neutral peers beyond chance"
    return f"Of {in_words(len(known))} judges that are authors, {rest}."


def _wins(group: Group) -> Table:
    numbers = group.of("own_win_rate")
    seen = {n.subject.get("seen_by") for n in numbers if is_number(n.value)}
    return figures.cross_table(
        "Pairs its own text won", "own text wins, as seen by", numbers, rows=group.label,
        column=lambda n: n.subject.get("seen_by"), columns={view: name for view, name in _SEEN.items() if view in seen},
    )  # fmt: skip


own_wins = Drawing(
    order=13.5,
    reading=_own_wins,
    figures=(
        Forest("controlled_own_win_excess", "Own wins beyond neutral peers, its unsteadiness allowed for",
               "share of pairs", signed=True),
        _wins,
        folded("Without allowing for unsteadiness", "", Forest(
            "own_win_excess", "Own wins beyond those that neutral peers give the same texts", "share of pairs",
            signed=True,
        )),
        _remedies("own_win_excess_change", "Own wins beyond neutral peers"),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- own texts beside others'

MOST_ROWS = 60
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
    """What the letters mean, what the tests say together, and what they could have found; nothing without a test."""
    tested = group.of("self_minus_received")
    if not tested and not any(is_number(n.value) for n in group.of("self_minus_given")):
        return ""
    tests = next((f"{n.detail.get('summary')}." for n in group.of("significant_tests") if n.detail.get("summary")), "")
    effects, points = (
        [value for n in tested if is_number(value := n.detail.get(name))]
        for name in ("smallest_effect", "smallest_difference")
    )
    here = f", here {_span(points, 'points')}" if points else ""
    power = f"With 80 % power these texts show a difference of {_span(effects, 'SDs')}{here}." if effects else ""
    return " ".join(filter(None, (SYMBOLS, tests, power)))


def _tests(group: Group) -> Table:
    """S, R and G with both tests, as the thesis prints them; both tests, and the first alone, in a word."""
    given = {(n.who, n.circumstances): n for n in group.of("self_minus_given")}
    rows = []
    for n in group.of("self_minus_received"):
        tests = n, given.get((n.who, n.circumstances))
        moments = ([n.detail.get(f"{symbol.lower()}_{name}") for name in ("mean", "sd")] for symbol in "SRG")
        why = n.why_undefined or str(n.detail.get("reading") or "")
        rows.append([
            Cell(group.label(n.who), n.circumstances[:1].upper() + n.circumstances[1:]),
            Cell(str(n.estimate.get("n", "")), _lost(n)),
            *(Cell(fixed(m, decimals_for([m])), f"± {fixed(sd)}" if is_number(sd) else "") for m, sd in moments),
            *(Cell(fixed(one.detail.get("t"), signed=True), _p(one)) if one else Cell(MISSING) for one in tests),
            Cell(why), Cell(str(n.detail.get("thesis_reading") or MISSING)),
        ])  # fmt: skip
    means = [f"{symbol}, mean ± SD" for symbol in "SRG"]
    columns = ["judge", "n", *means, "t of S − R", "t of S − G", "reading", "by S − R alone"]
    return Table("Both comparisons", columns, rows[:MOST_ROWS], frozenset({1, 2, 3, 4}), len(rows[MOST_ROWS:]))


def _p(n: Number) -> str:
    p, adjusted = n.detail.get("p"), n.detail.get("p_holm")
    if not is_number(p):
        return n.why_undefined
    raw = f"p {p_value(p, equals='= ')}"
    return f"{raw}, after Holm {p_value(adjusted)}" if is_number(adjusted) else raw


def _lost(n: Number) -> str:
    lacking = n.detail.get("excluded")
    lost_how = {"self": "without its own grade", "received": "without a peer's", "given": "without one for others"}
    counts = lacking.items() if isinstance(lacking, Mapping) else ()
    return ", ".join(f"{count} {lost_how.get(name, plain_name(name))}" for name, count in counts)


def _span(values: list[float], unit: str) -> str:
    low, high = fixed(min(values)), fixed(max(values))
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def detail_text(form: str, *names: str, write: Callable[[float], str] = fixed) -> Callable[[Number], str]:
    """Numbers of a detail in a phrase; "" where one of them is not there."""

    def text(n: Number) -> str:
        known = [value for name in names if is_number(value := n.detail.get(name))]
        return form.format(*map(write, known)) if len(known) == len(names) else ""

    return text


self_preference = Drawing(
    order=12,
    reading=_above_others,
    figures=(
        Forest("self_preference_controlled",
               "Own text against the peers' view of it, less the same difference on texts neither wrote", "points",
               signed=True),
        under("What does the published test say?", words(_symbols, "read"), _tests, folded(
            "Both comparisons with their intervals", "",
            Forest("self_minus_received", "S − R: its own text against the peers' grade for it", "points", signed=True,
                   aside=_p),
            Forest("self_minus_given", "S − G: its own text against the others' texts", "points", signed=True,
                   aside=_p),
        )),
        under("Who gave whom what?", mean_scores),
        under(
            "Is it because its own words are easy for it to predict?",
            Forest("own_predictability",
                   "How much easier its own text is for it than for its peers, beyond texts neither wrote",
                   "bits per character", signed=True, aside=detail_text("own {} bits, others {}", "own", "others")),
            Forest("grade_on_predictability",
                   "What it adds to the peers' grade per bit per character that a text is easier for it",
                   "points per bit", signed=True),
        ),
        usable_replies,
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- the direction of the scale


def _direction(group: Group) -> str:
    known = [n for n in group.of("direction_insensitivity") if is_number(n.value)]
    if not known:
        return "No judge graded the same texts in both directions of the scale."
    blind = sum(n.amount > 0 for n in known)
    moved = [abs(n.amount) for n in group.of("framing_shift") if "target" not in n.subject and is_number(n.value)]
    text = (
        f"{out_of(blind, len(known))} judges more often keep the digit than mirror it "
        "when the scale is turned round: they write a number, not a grade."
        if blind
        else f"All {in_words(len(known))} judges follow the direction of the scale."
    )
    return f"{text} The level moves by up to {fixed(max(moved))} points." if moved and blind < len(known) else text


def _by_author(group: Group) -> HeatMaps | None:
    numbers = [n for n in group.of("framing_shift") if "target" in n.subject]
    if not any(is_number(n.value) for n in numbers):
        return None
    targets = sorted({n.subject["target"] for n in numbers}, key=group.place)
    matrix = cell_matrix({(n.who, n.subject["target"]): n.value for n in numbers}, columns=targets)
    return deviation_maps([("Milder where low is best, author by author", matrix)], group.label, about="no change")


scale_framing = Drawing(
    order=13,
    reading=_direction,
    figures=(
        Forest("direction_insensitivity", "Same digit (right) or mirrored digit (left) when the scale is turned round",
               "index", signed=True, includes=(-1, 1),
               aside=detail_text("{} same, {} mirrored, {} neither", "same", "mirrored", "neither", write=str)),
        Forest("framing_shift", "How much milder where low is best", "points", signed=True,
               aside=detail_text("{} where high is best, {} where low is", "ascending", "reversed"),
               only=lambda n: "target" not in n.subject),
        _by_author,
        Forest("framing_change", "Change of its self-preference when the scale is turned round: against the grades it "
               "received (S − R), those it gave (S − G), without leniency and quality", "change", signed=True),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- texts that tell the judge

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


def _gives_way(group: Group) -> str:
    rates = [n for n in group.of("injection_success") if "class" not in n.subject]
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
        return figures.magnitude_maps(captioned, lambda name: _name(group, name), corner=corner) if attacked else None

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
               includes=(0, 1), aside=_untested, only=lambda n: "class" not in n.subject),
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
