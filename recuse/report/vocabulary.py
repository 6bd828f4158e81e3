"""What the report calls things: outcomes, provenances, factor levels, and what each metric says of a judge.

An unknown metric, level or gate is called by its own name, so nothing here must change for a new question to appear;
an entry makes its sentences read better.
"""

from __future__ import annotations

from dataclasses import dataclass

# --------------------------------------------------------------------------- outcomes


@dataclass(frozen=True, slots=True)
class OutcomeName:
    mark: str  # one character, told apart by shape, not by colour
    word: str
    shout: str  # in the terminal
    meaning: str


OUTCOME_NAMES = {
    "fail": OutcomeName("✕", "fail", "FAIL", "outside the limit"),
    "not measured": OutcomeName("!", "not measured", "ERROR", "could not be measured"),
    "undecided": OutcomeName("?", "undecided", "undecided", "the interval straddles the limit, or too little was asked"),
    "accepted": OutcomeName("◇", "accepted", "accepted", "outside the limit, accepted with a reason and a date"),
    "pass": OutcomeName("✓", "pass", "pass", "satisfies the limit"),
}
"""Worst first."""


def worst(outcomes: list[str]) -> str:
    return min(outcomes, key=list(OUTCOME_NAMES).index)


# --------------------------------------------------------------------------- provenance

PROVENANCE_MEANINGS = {
    "recorded": "A real model answered every call over HTTP; the replies are its own words.",
    "reconstructed": "No model was asked: replies were drawn so that they carry published statistics. "
    "They test the arithmetic, and say nothing new about the model whose name they bear.",
    "scripted": "No model was asked: a script with a planted behaviour answered, to show that the gates notice it.",
}

# --------------------------------------------------------------------------- factors

_LEVEL_NAMES = {
    "attributed": "names shown",
    "anonymized": "names hidden",
    "positive": "positive framing",
    "negative": "negative framing",
    "grades": "in grades",
    "duels": "in duels",
}


def level_name(level: str, factor: str = "") -> str:
    """A factor level in plain words: "attributed" -> "names shown"; an unknown one with its factor, "divisor n"."""
    known = _LEVEL_NAMES.get(level)
    return known or " ".join(plain_name(part) for part in (factor, level) if part)


def level_order(level: str) -> tuple[int, str]:
    """Known levels in the order above (the ordinary case before its contrast), others by name."""
    known = list(_LEVEL_NAMES)
    return (known.index(level) if level in known else len(known), level)


def plain_name(identifier: str) -> str:
    """ "reported_total" -> "reported total"."""
    return identifier.replace("_", " ")


# --------------------------------------------------------------------------- metrics


@dataclass(frozen=True, slots=True)
class MetricName:
    """How a metric is spoken of.

    `above`, `below`: what a judge does whose value lies above or below the limit, as "promotes itself|promote
    themselves".
    `seat`: whether a judge known (accepted) for this may still sit: a slip in its arithmetic is no favour to anyone.
    """

    name: str
    signed: bool = False
    above: str = ""
    below: str = ""
    seat: bool = False

    def phrase(self, *, above: bool, plural: bool) -> str:
        forms = (self.above if above else self.below) or self.above or self.below
        one, _, many = forms.partition("|")
        return many if plural else one


_METRICS = {
    # Order matters: the first finding of a judge is the one its headline tells.
    "parse_rate": MetricName("usable replies", below="often gives no usable answer|often give no usable answer"),
    "self_bias": MetricName(
        "self-bias", True, "promotes itself|promote themselves", "holds itself down|hold themselves down"
    ),
    "self_preference": MetricName(
        "self-preference",
        True,
        "prefers its own work|prefer their own work",
        "disfavours its own work|disfavour their own work",
    ),
    "self_preference_controlled": MetricName(
        "own text beyond leniency and quality",
        True,
        "favours its own texts|favour their own texts",
        "marks its own texts down|mark their own texts down",
    ),
    "own_predictability": MetricName("ease of its own text", True),
    "grade_on_predictability": MetricName("reward for what is easy", True),
    "injection_success": MetricName(
        "successful injections", above="obeys the texts it judges|obey the texts they judge"
    ),
    "direction_insensitivity": MetricName(
        "deafness to direction",
        True,
        "does not notice which end of the scale is best|do not notice which end of the scale is best",
    ),
    "framing_shift": MetricName(
        "shift with the scale turned",
        True,
        "is kinder where 1 is best|are kinder where 1 is best",
        "is harsher where 1 is best|are harsher where 1 is best",
    ),
    "order_consistency": MetricName(
        "same verdict in both orders",
        below="changes its choice with the order|change their choice with the order",
    ),
    "slot_preference": MetricName(
        "preference for the first place",
        True,
        "favours what stands first|favour what stands first",
        "favours what stands second|favour what stands second",
    ),
    "letter_preference": MetricName(
        "preference for the letter A",
        True,
        "favours the letter A|favour the letter A",
        "favours the letter B|favour the letter B",
    ),
    "padding_preference": MetricName(
        "preference for padding",
        True,
        "prefers padded texts|prefer padded texts",
        "marks padding down|mark padding down",
    ),
    "name_effect": MetricName("effect of the name", True, "is swayed by names|are swayed by names"),
    "attenuation": MetricName("attenuation", True, "is swayed by names|are swayed by names"),
    "leniency": MetricName(
        "leniency",
        True,
        "is more lenient than its peers|are more lenient than their peers",
        "is harsher than its peers|are harsher than their peers",
    ),
    "consensus_deviation": MetricName(
        "deviation from consensus", True, "departs from its peers|depart from their peers"
    ),
    "score_matrix": MetricName("mean scores"),
    "runs_needed": MetricName("runs needed"),
    "run_sd": MetricName("spread over runs", above="is unsteady|are unsteady"),
    "repeat_reliability": MetricName("repeat reliability", below="is unsteady|are unsteady"),
    "human_offset": MetricName(
        "offset from people", True, "scores above people|score above people", "scores below people|score below people"
    ),
    "human_panel_offset": MetricName(
        "offset of the panel", True, "scores above people|score above people", "scores below people|score below people"
    ),
    "human_order": MetricName(
        "order against people", True, below="ranks the texts unlike people|rank the texts unlike people"
    ),
    "human_self_offset": MetricName("own work against people", True),
    "human_offset_matrix": MetricName("offset from people, text by text", True),
    "closest_judge": MetricName("distance of the closest judge"),
    "rank_correlation": MetricName(
        "rank correlation with the data", below="does not follow the data|do not follow the data"
    ),
    "misassignments": MetricName("misassignments", above="misplaces categories|misplace categories"),
    "progression": MetricName(
        "steps that rise", below="does not rise with the data's risk|do not rise with the data's risk"
    ),
    "three_sources": MetricName("agreement of peers, people and data", True),
    "reported_total": MetricName(
        "totals that do not follow",
        above="reports totals that do not add up|report totals that do not add up",
        seat=True,
    ),
    "self_reported_mean": MetricName(
        "means out of reach", above="reports means no ten scores have|report means no ten scores have", seat=True
    ),
    "self_reported_final": MetricName(
        "finals that do not follow",
        above="reports finals that do not add up|report finals that do not add up",
        seat=True,
    ),
    "self_reported_sd": MetricName(
        "SDs out of reach", above="reports spreads no ten scores have|report spreads no ten scores have", seat=True
    ),
}


def metric_name(metric: str) -> MetricName:
    return _METRICS.get(metric, MetricName(plain_name(metric)))


def headline_order(metric: str) -> int:
    """Which of a judge's findings is told first, and which gate stands first."""
    known = list(_METRICS)
    return known.index(metric) if metric in known else len(known)
