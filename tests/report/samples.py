"""Sample results for the report's tests, in the form that the plugin hands over.

`published()` carries the merchant-risk paper's final scores (App. E, Tables 1-10, and sec. 3.5); everything else is
invented to try the report: panels of 2 to 40 judges, holes, long and hostile names, several tasks, failures.
Intervals and verdicts are made up around the values: the report must draw them, not believe them.
"""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from sample_parts import (
    ACCEPTED_FAULTS,
    HUMAN,
    JUDGES,
    LABELS,
    NAMES,
    SCORES,
    SDS,
    TASK,
    Results,
    add_footers,
    ask_consensus,
    ask_coverage,
    ask_ground_truth,
    ask_human,
    ask_reported,
    ask_stability,
    baseline_of,
    counted,
    empty,
    estimated,
    matrix_of,
    measured,
    panel_of,
    remedy_of,
    verdict_on,
    words_of,
)

# --------------------------------------------------------------------------- whole samples


def copied(make: Callable[..., Results]) -> Callable[..., Results]:
    """A sample is made once; each who asks for it gets a copy to change."""

    @cache
    def kept(*given: Any, **named: Any) -> bytes:
        return pickle.dumps(make(*given, **named))

    return wraps(make)(lambda *given, **named: pickle.loads(kept(*given, **named)))


@copied
def published() -> Results:
    """The merchant-risk panel: five judges, five questions, known biases accepted."""
    panel = panel_of(
        "published", "reconstructed", JUDGES, LABELS, "The five frontier judges of the merchant-risk study."
    )
    results = empty([panel])
    ask_consensus(results, panel, SCORES, SDS)
    ask_stability(results, panel, SCORES, SDS)
    ask_human(results, panel, SCORES, HUMAN)
    ask_ground_truth(results, panel, (0.56, 0.69, 0.61, 0.77, 0.49))
    ask_reported(
        results,
        panel,
        {
            "gpt-5.1": [("shown", "claude-4.5-sonnet", 9.02, 9.22)],
            "claude-4.5-sonnet": [("shown", "gpt-5.1", 8.80, 9.00)],
            "perplexity-sonar": [("shown", "gemini-2.5-pro", 8.58, 8.18)],
        },
    )
    ask_coverage(results, panel, dict.fromkeys(JUDGES, 1.0))
    add_footers(results)
    results["excerpts"] = words_of("published", JUDGES, NAMES)
    results["baseline"] = baseline_of(summary="Nothing changed against reports/baseline.json (134 results compared).")
    return counted(results)


@copied
def both() -> Results:
    """What `pytest evals/` of this repository shows: the published panel and three small recorded models."""
    results = published()
    names = ("smollm2-135m", "gemma-3-270m", "qwen2.5-coder-1.5b")
    labels = ("SmolLM2 135M", "Gemma 3 270M (base)", "Qwen2.5 Coder 1.5B")
    panel = panel_of(
        "local", "recorded", names, labels, "Three small open-weight models. Expect them to fail.", authors=False
    )
    results["panels"].append(panel)
    rng = random.Random(7)
    means = {c: [[round(rng.gauss(7.2 + i / 2, 0.5), 2) for _ in JUDGES] for i in range(3)] for c in NAMES}
    sds = {c: [[round(abs(rng.gauss(1.4 - 0.4 * i, 0.3)), 2) for _ in JUDGES] for i in range(3)] for c in NAMES}
    for name in names:
        for gate in ("repeat_difference", "repeat_reliability", "human_offset", "human_order", "parse_rate",
                     "leniency"):  # fmt: skip
            ACCEPTED_FAULTS.setdefault(
                (gate, name),
                {
                    "accept": {"outcome": ["undecided", "not measured"]},
                    "until": "2027-06-30",
                    "reason": "a small model, kept to be caught",
                },
            )
    ask_consensus(results, panel, means, sds, targets=JUDGES)
    ask_stability(results, panel, means, sds, targets=JUDGES)
    ask_human(results, panel, means, HUMAN, targets=JUDGES)
    ask_coverage(results, panel, {"smollm2-135m": 0.83, "gemma-3-270m": 0.61, "qwen2.5-coder-1.5b": 0.998})
    results["excerpts"] += words_of("local", names, NAMES)
    results["cassettes"]["by_panel"]["local"] = {"files": 33, "interactions": 315, "used": 315, "unused": 2}
    add_footers(results)
    return counted(results)


@copied
def failing() -> Results:
    """Something new is wrong with every kind of outcome, and the baseline moved."""
    results = published()
    for verdict in results["verdicts"]:
        who = verdict["subject"].get("judge")
        if verdict["gate"] == "self_bias" and who == "grok-4":
            verdict.update(
                outcome="fail",
                accepted_fault=None,
                remedy=remedy_of(
                    "outside",
                    "0.71 is above 0.50 by 0.21.",
                    "Record again, or accept it knowingly and for a time in evals/gates.toml.",
                    '[[accepted]]\ngate = "self_bias"\nuntil = "YYYY-MM-DD"',
                ),
            )
        if verdict["gate"] == "repeat_difference" and who == "perplexity-sonar":
            remedy = remedy_of("not measured", "Could not be measured: no target has two usable repeats.")
            verdict.update(outcome="not measured", accepted_fault=None, remedy=remedy)
            verdict["estimate"].update(
                value=math.nan, low=math.nan, high=math.nan, note="undefined: no target has two usable repeats"
            )
        if verdict["gate"] == "human_order" and who == "gpt-5.1":
            verdict.update(
                outcome="undecided", allowed=False, remedy=remedy_of("straddles", "About 40 items would decide.")
            )
    moved = {
        "what": "self_bias",
        "subject": {"panel": "published", "task": TASK, "judge": "grok-4", "names": "shown"},
        "kind": "verdict",
        "field": "value",
        "before": 0.61,
        "after": 0.71,
        "delta": 0.1,
    }
    brief = {
        "kind": "verdict",
        "what": "repeat_difference",
        "subject": {"panel": "published", "judge": "gpt-5.1"},
        "outcome": "pass",
        "value": 0.2,
    }
    widened = "reports/baseline.json: self_bias limit widened: within [-0.5, +0.5] -> within [-1, +1]"
    results["baseline"] = baseline_of() | {
        "objections": [widened],
        "moved": [moved, {**moved, "field": "outcome", "before": "accepted", "after": "fail", "delta": None}],
        "appeared": [brief],
        "vanished": [{**brief, "what": "leniency"}],
        "limits": [
            {
                "gate": "self_bias",
                "where": {},
                "key": "limit",
                "before": "within [-0.5, +0.5]",
                "after": "within [-1, +1]",
                "change": "widened",
                "otherwise": [{"subject": {"judge": "grok-4"}, "outcome": "fail", "now": "pass"}],
                "about": "limit widened",
                "consequence": "grok-4 fails",
                "sentence": widened.partition(": ")[2] + "; without that grok-4 fails",
            }
        ],
        "named": [
            {
                "kind": "verdict",
                "what": "self_bias",
                "subject": {"panel": "published", "judge": "grok-4"},
                "before": 0.2,
                "after": 0.71,
                "change": 0.51,
                "low": 0.3,
                "high": 0.72,
                "level": 0.999,
                "test": "same texts",
                "beyond": "across the limit, within [-0.5, +0.5]",
            }
        ],
        "outcomes": [{**brief, "before": "pass", "after": "undecided", "named": False}],
        "removed": ["the test evals/test_x.py::test_y is gone"],
        "sources": ["published/merchant_risk/rubric: the prompt changed"],
        "because": {"reason": "the rubric was reworded", "covers": []},
        "summary": "2 results of 134 moved.",
    }
    results["unmeasured"] = [
        {"test": "evals/test_score_stability.py::test_steady[x]", "why": "RecuseError: the cassette lacks repeat 4"}
    ]
    results["objections"] = ["The accepted failure for self_bias (judge = grok-4) expired: it held until 2024-01-01."]
    return counted(results)


@copied
def invented(n: int, *, holes: float = 0.0, long_names: bool = False, seed: int = 3) -> Results:
    """A panel of `n` judges that judge one another."""
    rng = random.Random(seed)
    names = [
        f"provider-{i:02d}-model-large-instruct-2026-preview" if long_names else f"judge-{i:02d}" for i in range(n)
    ]
    labels = [
        f"Provider {i} Model Large Instruct, preview of 2026 (quantised, 4 bit)" if long_names else f"Judge {i}"
        for i in range(n)
    ]
    panel = panel_of("many" if n > 9 else "few", "scripted", names, labels, "Invented.")
    results = empty([panel])

    def table(mean: float, sd: float) -> dict[str, list[list[Any]]]:
        return {
            c: [[None if rng.random() < holes else round(abs(rng.gauss(mean, sd)), 2) for _ in names] for _ in names]
            for c in NAMES
        }

    means, sds = table(8.0, 0.6), table(0.25, 0.08)
    ask_consensus(results, panel, means, sds)
    ask_stability(results, panel, means, sds)
    ask_human(results, panel, means, [round(rng.gauss(7.7, 0.4), 2) for _ in names])
    ask_coverage(results, panel, {name: rng.choice([1.0, 0.99, 0.9]) for name in names})
    add_footers(results)
    return counted(results)


@copied
def several_tasks() -> Results:
    """Two panels, two tasks, and a question that has no panel of its own."""
    results = both()
    for panel, task in (("published", "headlines"), ("local", "headlines")):
        judges = next(p for p in results["panels"] if p["name"] == panel)["judges"]
        for i, judge in enumerate(judges):
            for direction in ("ascending", "reversed"):
                subject = {"task": task, "panel": panel, "judge": judge["name"], "direction": direction}
                estimate = estimated("framing_shift", 0.3 * i - 0.4, 0.2, over="items", n=100, unit="points")
                results["verdicts"].append(
                    verdict_on("scale_direction", "framing_shift", subject, estimate, {"within": [-0.5, 0.5]})
                )
        matrix = matrix_of(
            [j["name"] for j in judges], list(JUDGES), [[0.1 * (i - k) for k in range(5)] for i in range(len(judges))]
        )
        results["measurements"].append(
            measured(
                "scale_direction", {"task": task, "panel": panel}, estimated("shift_matrix", 0.1, 0.05, detail=matrix)
            )
        )
    results["questions"].append(
        {
            "id": "scale_direction",
            "title": "Does the direction of the scale change the score?",
            "task": "headlines",
            "protocols": ["grading"],
        }
    )
    return counted(results)


@copied
def hostile() -> Results:
    """Judges that write what must never be believed: script, direction overrides, control characters, a huge text."""
    results = published()
    texts = [
        "<script>alert(1)</script><img src=x onerror=alert(1)>",
        "</pre></details></main><style>body{display:none}</style><a href='javascript:alert(1)'>x</a>",
        "safe \u202egnp.exe\u202c and \u2066isolated\u2069 \u200bzero\u200dwidth\ufeff",
        "\x00\x07\x1b[2Jcleared \x1b]0;title\x07 \r overwritten \ud800 lone",
        "hidden \U000e0049\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065 tags",
        "Z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308algo " + "x" * 200_000,
        "{{ 7 * 7 }} {% raw %} ${jndi:ldap://a} ]]> --> &lt;b&gt;",
        "| table | break |\n```\n@everyone #1 [x](http://evil.example)",
    ]
    results["excerpts"] = [
        {
            "panel": "published",
            "task": TASK,
            "protocol": "rubric",
            "judge": JUDGES[i % 5],
            "target": JUDGES[0],
            "factors": {"names": "shown"},
            "repeat": i,
            "status": "unparsed",
            "why": text[:400],
            "text": text,
        }
        for i, text in enumerate(texts)
    ]
    bad = "<b>|`evil`\u202e"
    results["panels"][0]["description"] = f"{bad} description @everyone"
    results["panels"][0]["judges"][0]["label"] = f"{bad} GPT"
    results["verdicts"][0].update(
        outcome="fail",
        reason=f"{bad} reason | pipe",
        remedy=remedy_of("outside", f"{bad} remedy @octocat"),
        accepted_fault=None,
    )
    results["questions"][0]["title"] = f"{bad} question?"
    return counted(results)


def nothing() -> Results:
    return counted(empty([]))
