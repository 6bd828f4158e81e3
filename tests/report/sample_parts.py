"""Parts of the sample results: constants of the paper, one builder per question, and small pieces."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

from recuse.gates import decide
from recuse.gates.records import decoded
from recuse.report.canonical_form import normalised

Results = dict[str, Any]

JUDGES = ("gpt-5.1", "gemini-2.5-pro", "grok-4", "claude-4.5-sonnet", "perplexity-sonar")
LABELS = ("GPT-5.1", "Gemini 2.5 Pro", "Grok 4", "Claude 4.5 Sonnet", "Perplexity Sonar")
NAMES = ("shown", "hidden")
PROTOCOL = "rubric"
TASK = "merchant_risk"
HUMAN = (8.81, 8.20, 8.05, 8.88, 7.73)

SCORES = {
    "shown": [
        [8.8, 8.48, 8.3, 9.02, 8.42],
        [9.32, 9.34, 8.76, 9.68, 7.96],
        [9.16, 8.64, 9.08, 9.36, 8.76],
        [8.8, 8.58, 8.32, 9.08, 8.1],
        [9.26, 8.58, 8.1, 9.52, 8.52],
    ],
    "hidden": [
        [8.72, 8.42, 8.74, 8.9, 8.52],
        [9.12, 9.16, 8.16, 9.3, 7.88],
        [9.4, 8.68, 9.12, 9.66, 8.26],
        [8.86, 8.8, 8.56, 9.08, 8.36],
        [8.7, 8.5, 8.6, 9.1, 8.4],
    ],
}
SDS = {
    "shown": [
        [0.14, 0.17, 0.18, 0.12, 0.16],
        [0.22, 0.15, 0.21, 0.11, 0.23],
        [0.28, 0.26, 0.24, 0.25, 0.29],
        [0.18, 0.22, 0.24, 0.12, 0.28],
        [0.1, 0.2, 0.25, 0.1, 0.2],
    ],
    "hidden": [
        [0.19, 0.22, 0.2, 0.17, 0.21],
        [0.27, 0.22, 0.35, 0.25, 0.31],
        [0.1, 0.2, 0.2, 0.1, 0.2],
        [0.28, 0.31, 0.35, 0.2, 0.31],
        [0.3, 0.3, 0.3, 0.2, 0.3],
    ],
}

FACTORS = [
    {
        "name": "names",
        "levels": [{"name": "shown", "words": "names shown"}, {"name": "hidden", "words": "names hidden"}],
    },
    {
        "name": "direction",
        "levels": [{"name": "ascending", "words": "high is best"}, {"name": "reversed", "words": "low is best"}],
    },
]
MEASURES = {
    name: {"title": title, "signed": signed, "above": above, "below": below, "rank": 10 * rank}
    for rank, (name, title, signed, above, below) in enumerate([
        ("parse_rate", "usable replies", False, "", "often gives no usable answer|often give no usable answer"),
        ("self_bias", "self-bias", True, "promotes itself|promote themselves", "holds itself down"),
        ("self_preference", "self-preference", True, "prefers its own work|prefer their own work", ""),
        ("name_effect", "effect of the name", True, "is swayed by names|are swayed by names", ""),
        ("leniency", "leniency", True, "is more lenient than its peers|are more lenient than their peers", ""),
        ("repeat_difference", "spread over repeats", False, "is unsteady|are unsteady", ""),
        ("repeat_reliability", "repeat reliability", False, "", "is unsteady|are unsteady"),
        ("human_offset", "offset from people", True, "scores above people|score above people", ""),
        ("rank_correlation", "rank correlation with the data", False, "", "does not follow the data|do not follow it"),
    ])
}  # fmt: skip

TITLES = {
    "consensus_deviation": "Does a judge score its own work as its peers do?",
    "score_stability": "Does a judge say the same thing twice?",
    "human_alignment": "Does a judge score as people do?",
    "ground_truth": "Do the judges' risk levels agree with what the payments show?",
    "reported_statistics": "Do a judge's own figures follow from its own scores?",
    "coverage": "Does a judge answer in a form that can be used?",
}
GATES = {  # gate -> (limit, label, reason)
    "self_bias": (
        {"within": [-0.5, 0.5]},
        "own work",
        "half a point lifts a text halfway to the next mark of the rubric",
    ),
    "leniency": ({"within": [-0.4, 0.4]}, "leniency", "a judge 0.4 off its peers cannot replace one of them"),
    "name_effect": ({"within": [-0.5, 0.5]}, "names shown", "a judge that reads only the text has an effect of 0"),
    "repeat_difference": ({"at_most": 0.5}, "steady", "the mean of ten runs is then known to a third of a point"),
    "repeat_reliability": ({"at_least": 0.5}, "tells apart", "below one half, noise outweighs the texts"),
    "human_offset": (
        {"within": [-0.6, 0.6]},
        "like people",
        "the experts differ by an SD of 0.67 to 0.88 among themselves",
    ),
    "human_order": ({"at_least": 0.3}, "same order", "five texts allow no useful interval, so only the value is gated"),
    "ground_truth": ({"at_least": 0.0}, "like the data", "levels that run against the payments are unusable"),
    "reported_total": ({"at_most": 0.0}, "adds up", "plain arithmetic, so one is too many"),
    "self_reported_final": ({"at_most": 0.0}, "own final", "plain arithmetic again"),
    "self_reported_sd": ({"at_most": 0.0}, "own SD", "an SD that no ten scores have was not computed from ten scores"),
    "parse_rate": ({"at_least": 0.95}, "readable", "what is left is no longer the sample that was asked for"),
}
USES = {"merchant_risk": {"yardstick": ["human_offset", "human_order"], "decides": ["self_bias", "ground_truth"]}}
ACCEPTED_FAULTS = {
    ("self_bias", "gemini-2.5-pro"): {
        "accept": {"within": [-0.5, 0.9]},
        "until": "2027-12-31",
        "reason": "known self-promotion, published as +0.77",
    },
    ("self_bias", "grok-4"): {
        "accept": {"within": [-0.5, 0.9]},
        "until": "2027-12-31",
        "reason": "known self-promotion, published as +0.71",
    },
    ("human_offset", "gemini-2.5-pro"): {
        "accept": {"within": [-0.6, 0.9]},
        "until": "2027-12-31",
        "reason": "lenient against people, as published",
    },
    ("human_offset", "grok-4"): {
        "accept": {"within": [-0.6, 0.9]},
        "until": "2027-12-31",
        "reason": "lenient against people, as published",
    },
    ("self_reported_final", "*"): {
        "accept": {"at_most": 0.4},
        "until": "2027-12-31",
        "reason": "a known slip in the paper's appendix E",
    },
    ("self_reported_sd", "*"): {
        "accept": {"at_most": 1},
        "until": "2027-12-31",
        "reason": "the paper's prompt asks the judge to perform ten runs itself",
    },
    ("reported_total", "*"): {
        "accept": {"at_most": 10},
        "until": "2027-12-31",
        "reason": "a known slip in the paper's appendix E",
    },
}


# --------------------------------------------------------------------------- questions


def ask_consensus(results: Results, panel: Results, scores: Any, sds: Any, targets: Any = None) -> None:
    question, judges = "consensus_deviation", [j["name"] for j in panel["judges"]]
    columns = list(targets or judges)
    own = {j["name"]: j["author"] for j in panel["judges"] if j["author"]}
    asked(results, question)
    selfs: dict[str, dict[str, float]] = {}
    for names in NAMES:
        bias = bias_of(scores[names])
        wide = [[None if b is None else 0.14 for b in row] for row in bias]
        low, high = (
            [
                [None if b is None else b + sign * w for b, w in zip(row, ws, strict=True)]
                for row, ws in zip(bias, wide, strict=True)
            ]
            for sign in (-1, 1)
        )
        naive = [[None if b is None else b * (1 - 1 / len(judges)) for b in row] for row in bias]
        subject = {"task": TASK, "protocol": PROTOCOL, "panel": panel["name"], "names": names}
        for source in ("total", "criteria_mean"):
            more = {"names": names, "criterion": source}
            detail = matrix_of(
                judges,
                columns,
                bias,
                own,
                low=low,
                high=high,
                scores=scores[names],
                naive={"values": naive, "shrinkage": 1 - 1 / len(judges), "expected": 1 - 1 / len(judges)},
                **more,
            )
            scored = matrix_of(judges, columns, scores[names], own, sd=sds[names], **more)
            results["measurements"] += [
                measured(
                    question,
                    {**subject, "criterion": source},
                    estimated("consensus_deviation", 0.3, math.nan, detail=detail, n=250),
                ),
                measured(
                    question,
                    {**subject, "criterion": source},
                    estimated("score_matrix", 8.7, 0.02, n=250, detail=scored),
                ),
            ]
        for i, judge in enumerate(judges):
            if judge in own:
                value = bias[i][columns.index(own[judge])]
                selfs.setdefault(judge, {})[names] = value if value is not None else math.nan
                add_gated(
                    results,
                    question,
                    "self_bias",
                    panel,
                    judge,
                    estimated("self_bias", value, 0.13, n=50),
                    names=names,
                )
            others = [b for j, b in enumerate(bias[i]) if b is not None and columns[j] != own.get(judge)]
            mean = sum(others) / len(others) if others else math.nan
            add_gated(
                results,
                question,
                "leniency",
                panel,
                judge,
                estimated("leniency", mean, 0.08, n=250),
                names=names,
            )
            if judge in own:
                results["measurements"].append(
                    measured(
                        question,
                        {**subject, "judge": judge},
                        estimated("self_preference", selfs[judge][names] - mean, 0.15, n=250),
                    )
                )
    percents = {}
    for judge, at in selfs.items():
        a, b = at["shown"], at["hidden"]
        percents[judge] = 100 * (1 - abs(b) / abs(a)) if a else None
        detail = {"shown": a, "hidden": b, "gone_pct": percents[judge], "direction_kept": a * b > 0}
        add_gated(
            results, question, "name_effect", panel, judge, estimated("name_effect", a - b, 0.17, n=100, detail=detail)
        )
    known = [p for p in percents.values() if p is not None and not math.isnan(p)]
    if known:
        results["measurements"].append(
            measured(
                question,
                {"task": TASK, "protocol": PROTOCOL, "panel": panel["name"]},
                estimated(
                    "bias_gone_without_names", sum(known) / len(known), 12.0, unit="%", n=len(known), detail=percents
                ),
            )
        )


def ask_stability(results: Results, panel: Results, scores: Any, sds: Any, targets: Any = None) -> None:
    question, judges = "score_stability", [j["name"] for j in panel["judges"]]
    columns = list(targets or judges)
    asked(results, question)
    for names in NAMES:
        for i, judge in enumerate(judges):
            known = [s for s in sds[names][i] if s is not None]
            sd = math.sqrt(sum(s * s for s in known) / len(known)) if known else math.nan
            detail = {"by_target": dict(zip(columns, sds[names][i], strict=True))}
            add_gated(
                results,
                question,
                "repeat_difference",
                panel,
                judge,
                estimated("repeat_difference", sd, sd / 4, n=50, detail=detail),
                names=names,
            )
            icc = 0.97 - sd / 3
            add_gated(
                results,
                question,
                "repeat_reliability",
                panel,
                judge,
                estimated(
                    "repeat_reliability",
                    icc,
                    0.1,
                    over="items",
                    n=5,
                    unit="",
                    detail={"icc_single": icc - 0.2, "icc_mean": icc},
                ),
                names=names,
            )
            subject = {"task": TASK, "protocol": PROTOCOL, "panel": panel["name"], "judge": judge, "names": names}
            needed = float(max(2, math.ceil((2 * sd / 0.2) ** 2)))
            results["measurements"].append(
                measured(
                    question,
                    subject,
                    estimated(
                        "runs_needed", needed, needed / 3, unit="repeats", n=50, detail={"sd": sd, "half_width": 0.2}
                    ),
                )
            )
        for criterion in ("accuracy", "quality", "consistency", "completeness", "practicality", "total"):
            subject = {
                "task": TASK,
                "protocol": PROTOCOL,
                "panel": panel["name"],
                "names": names,
                "criterion": criterion,
            }
            own = {j["name"]: j["author"] for j in panel["judges"] if j["author"]}
            detail = matrix_of(judges, columns, scores[names], own, sd=sds[names], names=names, criterion=criterion)
            results["measurements"].append(
                measured(question, subject, estimated("score_matrix", 8.7, 0.02, n=250, detail=detail))
            )


def ask_human(results: Results, panel: Results, scores: Any, people: Any, targets: Any = None) -> None:
    question, judges = "human_alignment", [j["name"] for j in panel["judges"]]
    columns, own = list(targets or judges), {j["name"]: j["author"] for j in panel["judges"] if j["author"]}
    asked(results, question)
    for names in NAMES:
        off = [[None if s is None else s - h for s, h in zip(row, people, strict=True)] for row in scores[names]]
        known = [o for row in off for o in row if o is not None]
        subject = {"task": TASK, "protocol": PROTOCOL, "panel": panel["name"], "names": names}
        detail = matrix_of(judges, columns, off, own, names=names, human=list(people))
        positive = sum(o > 0 for o in known)
        share = {
            "positive": positive,
            "pairs": len(known),
            "share_positive": f"{positive} of {len(known)}",
            "people_se": 0.14,
        }
        mean = sum(known) / len(known)
        ranking = sorted(
            (
                {
                    "judge": j,
                    "distance": sum(abs(o) for o in row if o is not None) / max(1, len(row)),
                    "first": 1 / len(judges),
                }
                for j, row in zip(judges, off, strict=True)
            ),
            key=lambda r: r["distance"],
        )
        results["measurements"] += [
            *(
                measured(
                    question,
                    {**subject, "criterion": source},
                    estimated("human_offset_matrix", mean, 0.02, detail=detail | {"criterion": source}, n=250),
                )
                for source in ("total", "criteria_mean")
            ),
            measured(question, subject, estimated("human_panel_offset", mean, 0.02, detail=share, n=250)),
            measured(
                question,
                subject,
                estimated(
                    "closest_judge",
                    ranking[0]["distance"],
                    0.05,
                    detail={"judge": ranking[0]["judge"], "ranking": ranking},
                ),
            ),
        ]
        for i, judge in enumerate(judges):
            row = [o for o in off[i] if o is not None]
            value = sum(row) / len(row) if row else math.nan
            add_gated(
                results,
                question,
                "human_offset",
                panel,
                judge,
                estimated("human_offset", value, 0.06, n=50, detail={"combined": [value - 0.3, value + 0.3]}),
                names=names,
            )
            add_gated(
                results,
                question,
                "human_order",
                panel,
                judge,
                estimated(
                    "human_order",
                    0.9 - 0.1 * (i % 4),
                    0.2,
                    n=50,
                    unit="",
                    detail={"p_permutation": 0.083, "targets": 5},
                ),
                names=names,
            )
            if judge in own and off[i][columns.index(own[judge])] is not None:
                results["measurements"].append(
                    measured(
                        question,
                        {**subject, "judge": judge},
                        estimated("human_self_offset", off[i][columns.index(own[judge])], 0.1),
                    )
                )


def ask_ground_truth(results: Results, panel: Results, rhos: Any) -> None:
    question, rng = "ground_truth", random.Random(11)
    asked(results, question)
    for judge, rho in zip((j["name"] for j in panel["judges"]), rhos, strict=True):
        subject = {"task": TASK, "protocol": PROTOCOL, "panel": panel["name"], "judge": judge}
        wide = 0.55 * (1 - rho) + 0.12
        estimate = estimated(
            "rank_correlation",
            rho,
            wide,
            over="items",
            n=15,
            unit="",
            detail={"p_permutation": round(0.3 * (1 - rho) ** 2, 4), "beyond_chance": rho > 0.5},
        )
        outcome = "undecided" if rho - wide < 0.0 else "pass"
        results["verdicts"].append(
            verdict_on(
                question, "ground_truth", subject, estimate, GATES["ground_truth"][0], outcome=outcome, allowed=True
            )
        )
        picks = [
            {
                "item": str(5411 + 37 * k),
                "assigned": 1 + k // 3,
                "value": round(max(0.004, 0.012 * (1 + k // 3) + rng.gauss(0, 0.012 * (1.1 - rho))), 5),
            }
            for k in range(15)
        ]
        for place, pick in enumerate(sorted(picks, key=lambda p: p["value"])):
            pick["empirical"] = 1 + place // 3
        off = {id(p): abs(p["assigned"] - p["empirical"]) for p in picks}
        far, near = ([p for p in picks if low <= off[id(p)] <= high] for low, high in ((2, 9), (1, 1)))
        means = [sum(p["value"] for p in picks if p["assigned"] == level) / 3 for level in range(1, 6)]
        levels = [{"level": i + 1, "picks": 3, "mean_value": m, "isotonic": m} for i, m in enumerate(means)]
        falls = [
            {"from": i, "to": i + 1, "by": a - b} for i, (a, b) in enumerate(itertools.pairwise(means), 1) if b < a
        ]
        missed = {"nonadjacent": far, "adjacent": near, "exact": 15 - len(far) - len(near)}
        results["measurements"] += [
            measured(
                question,
                subject,
                estimated("misassignments", len(far) / 15, math.nan, unit="share", over="items", n=15, detail=missed),
            ),
            measured(
                question,
                subject,
                estimated(
                    "progression",
                    1 - len(falls) / 4,
                    math.nan,
                    unit="share",
                    over="items",
                    n=15,
                    detail={"levels": levels, "falls": falls, "violation": 0.0},
                ),
            ),
        ]
    sources, rho = ["peers", "people", "data"], [[1.0, 0.9, 0.7], [0.9, 1.0, 0.7], [0.7, 0.7, 1.0]]
    figures = {
        j["name"]: {"peers": 8.9 - 0.1 * i, "people": HUMAN[i % 5], "data": rhos[i]}
        for i, j in enumerate(panel["judges"])
    }
    detail = matrix_of(
        sources, sources, rho, p=[[None, 0.083, 0.233], [0.083, None, 0.233], [0.233, 0.233, None]], figures=figures
    )
    results["measurements"].append(
        measured(
            question,
            {"task": TASK, "protocol": PROTOCOL, "panel": panel["name"]},
            estimated("three_sources", 0.7667, math.nan, over="items", n=5, unit="", detail=detail),
        )
    )


def ask_reported(results: Results, panel: Results, slips: Any) -> None:
    question = "reported_statistics"
    asked(results, question)
    rng = random.Random(5)
    for judge in (j["name"] for j in panel["judges"]):
        for names in NAMES:
            mine = [(t, r, x) for c, t, r, x in slips.get(judge, []) if c == names]
            totals = [
                {"target": t, "replies": 10, "wrong": 10, "largest_difference": r - x, "mean_difference": r - x}
                for t, r, x in mine
            ]
            finals = [
                {"target": t, "final": r, "mean_of_criteria": x, "difference": r - x, "verdict": "inconsistent"}
                for t, r, x in mine
            ]
            sds = [
                {"target": t, "criterion": c, "mean": 8.7, "sd": 0.28}
                for t in JUDGES
                for c in ("accuracy", "quality", "consistency", "completeness", "practicality")
                if rng.random() < 0.8
            ]
            add_gated(
                results,
                question,
                "reported_total",
                panel,
                judge,
                estimated(
                    "reported_total",
                    len(totals) / 5,
                    0.05,
                    over="calls",
                    unit="share",
                    n=50,
                    detail={"wrong": 10 * len(totals), "decimals": 2, "offenders": totals},
                ),
                names=names,
            )
            add_gated(
                results,
                question,
                "self_reported_final",
                panel,
                judge,
                estimated(
                    "self_reported_final",
                    len(finals) / 5,
                    0.2,
                    over="calls",
                    unit="share",
                    n=5,
                    detail={"checked": 5, "follow": 5 - len(finals), "offenders": finals, "verdicts": finals},
                ),
                names=names,
            )
            add_gated(
                results,
                question,
                "self_reported_sd",
                panel,
                judge,
                estimated(
                    "self_reported_sd",
                    len(sds) / 25,
                    math.nan,
                    over="calls",
                    unit="share",
                    n=25,
                    detail={"checked": 25, "follow": 25 - len(sds), "offenders": sds},
                ),
                names=names,
            )


def ask_coverage(results: Results, panel: Results, rates: dict[str, float]) -> None:
    question = "score_stability"
    for judge, rate in rates.items():
        ok = round(500 * rate)
        detail = {"calls": 500, "usable": ok, "by_status": {"ok": ok, "unparsed": 500 - ok} if ok < 500 else {"ok": ok}}
        add_gated(
            results,
            question,
            "parse_rate",
            panel,
            judge,
            estimated("parse_rate", rate, 0.01, over="calls", unit="share", n=500, detail=detail),
        )


# --------------------------------------------------------------------------- pieces


def panel_of(name: str, provenance: str, names: Any, labels: Any, description: str, authors: bool = True) -> Results:
    judges = [
        {"name": n, "label": label, "wire": "openai_chat", "model": f"{n} (weights)", "author": n if authors else None}
        for n, label in zip(names, labels, strict=True)
    ]
    return {
        "name": name,
        "provenance": provenance,
        "description": description,
        "source": "",
        "judges": judges,
        "tasks": [TASK],
        "uses": [*USES],
    }


def empty(panels: list[Results]) -> Results:
    return {
        "schema": 1,
        "outcome": "pass",
        "counts": {},
        "headline": "",
        "panels": panels,
        "questions": [],
        "verdicts": [],
        "measurements": [],
        "unmeasured": [],
        "upgrades": [],
        "objections": [],
        "usage": [],
        "excerpts": [],
        "baseline": None,
        "decision": None,
        "uses": USES,
        "asked": {"whole": True, "conditions": ["name_effect", "parse_rate"], "peers": ["leniency"], "gates": []},
        "ends": [],
        "measures": MEASURES,
        "factors": FACTORS,
        "tasks": [{"name": TASK, "criteria": ["total", "accuracy"]}],
        "not_asked": [],
        "cassettes": {"files": 0, "interactions": 0, "used": 0, "unused": 0, "by_panel": {}},
    }


def baseline_of(**more: Any) -> Results:
    """A comparison with the baseline that found nothing."""
    found = ("named", "outcomes", "limits", "removed", "sources", "moved", "appeared", "vanished", "objections")
    return {"path": "reports/baseline.json", "because": None, "summary": "", **{name: [] for name in found}} | more


def asked(results: Results, question: str) -> None:
    if question not in [q["id"] for q in results["questions"]]:
        results["questions"].append({"id": question, "title": TITLES[question], "task": TASK, "protocols": ["rubric"]})


def estimated(metric: str, value: Any, half: float, **more: Any) -> Results:
    value = math.nan if value is None else value
    known = not (math.isnan(value) or math.isnan(half))
    return {
        "metric": metric,
        "value": value,
        "low": value - half if known else math.nan,
        "high": value + half if known else math.nan,
        "level": 0.95,
        "unit": "points",
        "over": "repeats",
        "n": 10,
        "n_clusters": None,
        "n_excluded": 0,
        "method": "Welch's t",
        "seed": None,
        "note": "over repeats: these texts only" if known else "undefined: nothing to measure",
        "detail": {},
    } | more


def add_gated(
    results: Results, question: str, gate: str, panel: Results, judge: str, estimate: Results, **factors: str
) -> None:
    subject = {"task": TASK, "protocol": PROTOCOL, "panel": panel["name"], "judge": judge, **factors}
    results["verdicts"].append(verdict_on(question, gate, subject, estimate, GATES[gate][0]))


def verdict_on(
    question: str,
    gate: str,
    subject: Results,
    estimate: Results,
    limit: Results,
    outcome: str = "",
    allowed: bool = False,
) -> Results:
    accepted_fault = ACCEPTED_FAULTS.get((gate, subject.get("judge", ""))) or ACCEPTED_FAULTS.get((gate, "*"))
    outcome = outcome or outcome_of(estimate, limit)
    accepted = outcome != "pass" and accepted_fault is not None
    _, label, reason = GATES.get(gate, ({}, "", "invented"))
    limit_text = f"{next(iter(limit)).replace('_', ' ')} {next(iter(limit.values()))}"
    remedies = {
        "fail": remedy_of("outside", "It is outside the limit.", "Read the judge's own words in the report."),
        "undecided": remedy_of("straddles", "The interval reaches across the limit."),
        "not measured": remedy_of("not measured", "Could not be measured: no reply."),
    }
    return {
        "question": question,
        "gate": gate,
        "outcome": "accepted" if accepted else outcome,
        "allowed": allowed and not accepted,
        "subject": subject,
        "estimate": estimate,
        "rule": {"sentence": "", "decide": "interval", "level": 0.95, "limit_text": limit_text, "family": None},
        "limit": limit,
        "reason": reason,
        "remedy": None if accepted else remedies.get(outcome),
        "accepted_fault": accepted_fault | {"state": "applied", "otherwise": outcome}
        if accepted and accepted_fault
        else None,
        "label": label,
        "title": TITLES.get(question, ""),
        "test": f"evals/test_{question}.py::test_{gate}[{'-'.join(str(v) for v in subject.values())}]",
    }


def remedy_of(kind: str, finding: str, advice: str = "", paste: str = "") -> Results:
    return {"kind": kind, "finding": finding, "advice": advice, "paste": paste, "file": "evals/gates.toml"}


def outcome_of(estimate: Results, limit: Results) -> str:
    low, high = limit.get("within") or (limit.get("at_least", -math.inf), limit.get("at_most", math.inf))
    value, ends = estimate["value"], (estimate["low"], estimate["high"])
    if math.isnan(value):
        return "not measured"
    if any(math.isnan(e) for e in ends) or estimate["over"] == "calls":
        return "pass" if low <= value <= high else "fail"
    if low <= ends[0] and ends[1] <= high:
        return "pass"
    return "fail" if ends[0] > high or ends[1] < low or not low <= value <= high else "undecided"


def measured(question: str, subject: Results, estimate: Results) -> Results:
    return {
        "question": question,
        "subject": subject,
        "estimate": estimate,
        "test": f"evals/test_{question}.py::test_{estimate['metric']}",
    }


def matrix_of(rows: list[str], columns: list[str], values: Any, own: Any = None, **more: Any) -> Results:
    marked = [[r, (own or {})[r]] for r in rows if (own or {}).get(r) in columns]
    return {"kind": "matrix", "rows": list(rows), "columns": list(columns), "values": values, "own": marked} | more


def bias_of(scores: Any) -> list[list[Any]]:
    """Self-excluded deviation, None where it cannot be had."""
    n = len(scores)
    out = []
    for i in range(n):
        row: list[Any] = []
        for j in range(len(scores[0])):
            peers = [scores[k][j] for k in range(n) if k != i and scores[k][j] is not None]
            row.append(None if scores[i][j] is None or not peers else scores[i][j] - sum(peers) / len(peers))
        out.append(row)
    return out


def words_of(panel: str, judges: Any, conditions: Any) -> list[Results]:
    return [
        {
            "panel": panel,
            "task": TASK,
            "protocol": "rubric",
            "judge": judge,
            "target": judges[0],
            "factors": {"names": names},
            "repeat": 0,
            "status": "ok" if i % 3 else "unparsed",
            "why": "" if i % 3 else "the reply has no JSON object",
            "text": '{"accuracy": 8, "quality": 7, "consistency": 7, "completeness": 10, "practicality": 8,\n'
            ' "total": 8.0, "why": {"consistency": "levels 3 and 4 contradict one another"}}',
        }
        for i, judge in enumerate(judges)
        for names in conditions
    ]


def add_footers(results: Results) -> None:
    results["usage"] = [
        {
            "panel": p["name"],
            "judge": j["name"],
            "task": TASK,
            "protocol": protocol,
            "calls": 100,
            "input_tokens": 214_300 + 17 * k,
            "output_tokens": 31_000 + 13 * k,
            "dollars": 0.0 if k % 2 else None,
        }
        for p in results["panels"]
        for k, j in enumerate(p["judges"])
        for protocol in ("rubric", "generation")
    ]
    by_panel = {p["name"]: {"files": 50, "interactions": 500, "used": 500, "unused": 0} for p in results["panels"]}
    results["cassettes"] = {
        **{k: sum(c[k] for c in by_panel.values()) for k in ("files", "interactions", "used", "unused")},
        "by_panel": by_panel,
    }


def counted(results: Results) -> Results:
    outcomes = [v["outcome"] for v in results["verdicts"]]
    results["counts"] = {
        name: outcomes.count(name) for name in ("pass", "fail", "undecided", "not measured", "accepted")
    }
    bad = {
        v["outcome"]
        for v in results["verdicts"]
        if v["outcome"] in ("fail", "not measured") or (v["outcome"] == "undecided" and not v["allowed"])
    }
    results["outcome"] = next((o for o in ("not measured", "fail", "undecided") if o in bad), "pass")
    plain = normalised(results)
    decision = decide(decoded(plain))
    results |= {"decision": decision.record(), "headline": " ".join(decision.lines)}
    return results
