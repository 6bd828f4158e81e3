"""Does a judge score its own work as its peers do, and above what it gives to others? Self-bias with limits, who over-
and under-scores whom, what hiding the names changes."""

from __future__ import annotations

from collections import Counter

from recuse.report.drawing import Drawing, pair, under
from recuse.report.figures import Forest, deviation_maps, main_matrices
from recuse.report.gated_number import Number, varied
from recuse.report.questions.generic import mean_scores
from recuse.report.results_model import Group
from recuse.schema.number_text import fixed, in_words, is_number

WHERE = {
    "above": "above the peers' consensus", "below": "below the peers' consensus",
    "": "no further from the peers' consensus than chance would put it",
}  # fmt: skip


def _against_peers(group: Group) -> str:
    own = group.of("self_bias")
    factor = varied(own)
    known, lexicon = {n.subject[factor] for n in own if factor in n.subject}, group.view.lexicon
    ordinary = min(known, key=lambda level: lexicon.level_order(factor, level), default=None)
    first = [n for n in own if n.subject.get(factor) == ordinary]
    sides = Counter(n.side_of_zero for n in first if is_number(n.low))
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
