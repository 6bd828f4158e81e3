"""Every figure on the pages of the merchant-risk paper and of the thesis is one that `pytest evals/` prints."""

from __future__ import annotations

import inspect
import math
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import test_cut_texts
from local_headlines import JUDGES, Measured, markdown, percent
from scipy.stats import spearmanr
from test_cut_texts import items, replies
from test_merchant_risk_results import ROOT

from recuse.panels import load_panel
from recuse.schema.number_text import fixed, in_words
from recuse.tasks import load_task

pytestmark = pytest.mark.slow("the whole run of three panels")
Run = Callable[..., Mapping[str, Any]]


def page(path: str) -> str:
    """Without the ends of lines."""
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())


HELD: dict[str, list[str]] = {}
"""Page -> the sentences of it that a test has computed."""


def stands(path: str, *words: str) -> None:
    text = page(path)
    HELD.setdefault(path, []).extend(words)
    assert [part for part in words if part not in text] == []


@pytest.fixture(scope="module")
def local(shipped_results: Run) -> Mapping[str, Any]:
    return shipped_results("evals/", "--panel", "fixtures/panels/local.toml")


@pytest.fixture(scope="module")
def published(shipped_results: Run) -> Measured:
    return Measured(shipped_results("evals/", "--panel", "fixtures/panels/published.toml"))


@pytest.fixture(scope="module")
def thesis(shipped_results: Run) -> Measured:
    return Measured(shipped_results("evals/test_self_preference.py", "--panel", "fixtures/panels/thesis.toml"))


def test_no_number_leaves_the_ends_of_its_measure(local, shipped_results):
    """Neither a value nor an end of its interval: an axis stops there, and a reader takes no more for possible."""
    held, outside = 0, []
    for results in (local, shipped_results("evals/", "--panel", "fixtures/panels/published.toml")):
        for estimate in (row["estimate"] for row in results["measurements"]):
            ends = results["measures"][estimate["metric"]]["ends"] or (None, None)
            low, high = (math.inf * sign if end is None else end for end, sign in zip(ends, (-1, 1), strict=True))
            for number in (estimate[name] for name in ("value", "low", "high")):
                if number is not None:
                    held += 1
                    outside += [] if low - 1e-9 <= number <= high + 1e-9 else [(estimate["metric"], number)]
    assert held > 4_000
    assert outside == []


def f(value: float, digits: int = 2) -> str:
    """With the sign of what is below 0, and without a nought before the point of what is not."""
    text = fixed(value, digits, minus="-")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


# --------------------------------------------------------------------------- the thesis


def test_the_table_of_four_small_models(local):
    stands("docs/self-preference.md", " ".join(markdown(local).split()))


def test_what_is_said_of_four_small_models(local):
    of = Measured(local).of
    ends = [of("self_preference", judge=judge, direction=way, protocol="grading")
            for judge in JUDGES for way in ("ascending", "reversed")]  # fmt: skip
    above, inside = [e for e in ends if e["low"] > 0], [e for e in ends if max(-e["low"], e["high"]) <= 0.2]
    moved = max(abs(of("wording_effect", judge=judge, effect="wording")["value"]) for judge in JUDGES)
    talked = [of("discussion_change", judge=judge, of="consistency")["n"] for judge in JUDGES]
    reviews = {judge: [end for _, end in replies("local/headlines/pairwise_discussion", f"{judge}~review~*.jsonl")]
               for judge in ("qwen2.5-coder-0.5b", "smollm2-135m")}  # fmt: skip
    never, seldom = ([end == "length" for end in of_one] for of_one in reviews.values())
    phrases, odd = (of("detection_rate", defence=name, payloads="held_out")
                    for name in ("string_matching", "statistical_filter"))  # fmt: skip
    stands(
        "docs/self-preference.md",
        f"{in_words(len(above), capital=True)} of the {in_words(len(ends))} intervals of self-preference lies above 0",
        f"and so are {in_words(len(ends) - len(inside) - 1)} others; {in_words(len(inside))} pass",
        f"moves them by {fixed(moved, 1)} points at most",
        f"the token limit ends {in_words(sum(never))} of {in_words(len(never))} reviews by Qwen 0.5B and "
        f"{in_words(sum(seldom))} of {in_words(len(seldom))} by SmolLM2, so of {in_words(4 * len(talked))} discussions "
        f"{in_words(sum(talked))} can be read to its end",
        f"phrases find {percent(phrases)} of the held-out ones and odd statistics {percent(odd)}",
    )


def test_the_table_of_text_filters(local):
    of = Measured(local).of
    for words, name in (("known phrases", "string_matching"), ("odd statistics", "statistical_filter")):
        cells = (percent(of("detection_rate", defence=name, payloads=kind)) for kind in ("known", "held_out"))
        stands("fixtures/tasks/headlines/README.md", f"| {words} | {' | '.join(cells)} |")


def test_what_the_table_of_the_thesis_says(thesis):
    short = {"gemini-2.5-pro-preview-05-06": "Gemini", "gpt-4.1-2025-04-14": "GPT-4.1", "sonar-reasoning-pro": "Sonar",
             "deepseek-chat": "DeepSeek", "claude-3-7-sonnet-20250219": "Claude"}  # fmt: skip
    ways = {"ascending": "5 best", "reversed": "1 best"}
    readings = {(j, way): thesis.of("self_minus_received", judge=j, direction=way)["detail"]
                for way in ways for j in short}  # fmt: skip
    by_thesis = {way: [name for j, name in short.items() if readings[j, way]["thesis_reading"] == "harmful"]
                 for way in ways}  # fmt: skip
    by_both = [key for key, detail in readings.items() if detail["reading"] == "harmful"]
    assert by_thesis == {"ascending": ["Gemini", "GPT-4.1", "Sonar"], "reversed": ["GPT-4.1", "DeepSeek"]}
    assert by_both == [("gemini-2.5-pro-preview-05-06", "ascending")]
    fair = {way: thesis.of("distance_from_fair", judge="deepseek-chat", direction=way) for way in ways}
    assert [fair[way]["detail"]["rank"] for way in ways] == [1, 5]
    wrote = {(name, way): thesis.of("author_score", target=j, direction=way)
             for j, name in short.items() for way in ways}  # fmt: skip
    first = [name for (name, way), e in wrote.items() if e["detail"]["rank"] == 1]
    second = {way: name for (name, way), e in wrote.items() if e["detail"]["rank"] == 2}
    assert (first, second) == (["Claude"] * 2, {"ascending": "DeepSeek", "reversed": "Gemini"})
    counts = thesis.of("significant_tests")["detail"]
    board = {(name, way): thesis.of("leaderboard_inflation", target=j, direction=way)["detail"]
             for j, name in short.items() for way in ways}  # fmt: skip
    assert {way for (_, way), detail in board.items() if detail["gained"]} == {"reversed"}
    places = [board["DeepSeek", "reversed"][rank] for rank in ("rank_without", "rank")]
    assert max(detail["gained"] for detail in board.values()) == places[0] - places[1]
    stands(
        "docs/self-preference.md",
        "with 5 best they move no rank; with 1 best they lift DeepSeek from {} to {}".format(
            *(("first", "second", "third")[place - 1] for place in places)),
        f"{counts['significant']} of {counts['tests']} significant, and all {counts['survive']} survive Holm's",
        "five of ten cells: Gemini, GPT-4.1 and Sonar with 5 best, DeepSeek and GPT-4.1 with 1 best",
        "of these only Gemini with 5 best is also significantly above what it gives to others; the other four",
        "with 5 best {} and {}; with 1 best {}, and Gemini is second".format(
            *(fixed(wrote[key]["value"]) for key in
              (("Claude", "ascending"), ("DeepSeek", "ascending"), ("Claude", "reversed")))),
        f"with 5 best, {fixed(fair['ascending']['value'])} from fair; with 1 best it is the last of five, "
        f"{fixed(fair['reversed']['value'])}",
    )  # fmt: skip


# --------------------------------------------------------------------------- merchant risk


def test_what_the_printed_tables_of_merchant_risk_say(published):
    of = published.of
    rank = {judge: of("rank_stability", judge=judge)["value"]
            for judge in ("gpt-5.1", "perplexity-sonar", "grok-4", "gemini-2.5-pro", "claude-4.5-sonnet")}  # fmt: skip
    assert [rank[name] for name in ("gemini-2.5-pro", "claude-4.5-sonnet")] == [1, 1]
    steps = [of("people_difference", pair=pair)["detail"]["z"] for pair in (
        "claude-4.5-sonnet - gpt-5.1", "gpt-5.1 - gemini-2.5-pro", "gemini-2.5-pro - grok-4",
        "grok-4 - perplexity-sonar")]  # fmt: skip
    alike = {names: of("profile_correlation", pair="self-bias and distance from people", names=names)
             for names in ("shown", "hidden")}  # fmt: skip
    hidden = {judge: both["distance"] for judge, both in alike["hidden"]["detail"]["judges"].items()}
    assert sorted(hidden, key=hidden.__getitem__).index("claude-4.5-sonnet") == 3
    quality = of("profile_correlation", pair="own quality and self-bias", names="shown")
    helps = of("calibration_helps", calibration="offset")["detail"]
    together = {(names, name): of("ensemble_change", ensemble=name, names=names)["detail"]
                for names in ("shown", "hidden") for name in ("mean", "calibrated")}  # fmt: skip
    plain = together["shown", "mean"]
    less = (f(part) for part in (together["hidden", "mean"]["together"], together["hidden", "mean"]["alone"],
                                 together["hidden", "calibrated"]["together"]))  # fmt: skip
    picks = of("pick_overlap")["detail"]
    w = (f(of("kendalls_w", names=names)["value"]) for names in ("shown", "hidden"))
    stands(
        "docs/merchant-risk.md",
        f"GPT-5.1 ranks the authors with rho {f(rank['gpt-5.1'])}, Sonar {f(rank['perplexity-sonar'])}; "
        f"Grok 4 {f(rank['grok-4'])}, the others 1",
        "Kendall's W {} with names shown, {} hidden".format(*w),
        f"{in_words(int(of('people_groups')['value']))} groups: neighbours lie z = {', '.join(map(f, steps))} apart",
        f"with the scales matched +{fixed(of('scale_matched_offset', names='shown')['value'])}",
        f"judges +{fixed(of('human_panel_offset', names='shown')['value'])} above people (4.4)",
        f"rho {f(alike['shown']['value'])} with names shown, {f(alike['hidden']['value'])} hidden; hidden, Claude is "
        "fourth of five",
        f"| {fixed(of('self_bias_span', names='shown')['value'], 3)} | `self_bias_span` |",
        f"rho {f(quality['value'])} over five judges, which is chance (p {f(quality['detail']['p_permutation'])})",
        f'"modest positive bias" of +{fixed(of("self_bias", judge="perplexity-sonar", names="shown")["value"])} (4.3)',
        "completeness " + fixed(of("criterion_self_bias", judge="perplexity-sonar", names="shown",
                                   criterion="completeness")["value"], minus="-"),
        f"helps {helps['helped']} of {helps['tried']} judge x condition",
        f"gains nothing ({f(plain['together'])} from people, one judge alone {f(plain['alone'])}); with offsets learnt "
        f"on the other texts {f(together['shown', 'calibrated']['together'])} (names hidden {', '.join(less)})",
        f"of {picks['items']} categories, {len(picks['shared'])} by two models or more; all of these at most one level",
    )  # fmt: skip
    assert picks["adjacent"] == len(picks["shared"])


def test_what_the_loop_with_models_that_run_here_says(local):
    measured = Measured(local)
    here = [(names, e) for names, e in measured.every if names.get("task") == "merchant_rationales"]

    def every(metric: str, protocol: str = "rubric", **subject: str) -> dict[str, float | None]:
        wanted = {"protocol": protocol, **subject}.items()
        return {names.get("judge", "") + names.get("names", ""): e["value"] for names, e in here
                if e["metric"] == metric and names.items() >= wanted}  # fmt: skip

    def both(metric: str, judge: str, **subject: str) -> str:
        found = every(metric, judge=judge, **subject)
        return ", ".join(fixed(found[judge + names], 1, signed=True, minus="-") for names in ("shown", "hidden"))

    qwen, gemma, large = "qwen2.5-coder-0.5b", "gemma-3-270m", "qwen2.5-coder-1.5b"
    apart = every("repeat_difference").values()
    known = every("known_score_error", criterion="completeness").values()
    usable = every("parse_rate", "rubric_joint").values()
    shift = [e for names, e in here if e["metric"] == "joint_shift"]
    ranked = [e for names, e in here if e["metric"] == "ranking_follows_scores" and e["value"] is not None]
    wrong = [10 * value for value in every("reported_total").values()]
    of = {(names["finding"], names["judge"]): e["value"] for names, e in here if e["metric"] == "explanation_finding"}
    lacking = [of["ungrounded", judge] for judge in (qwen, gemma, large)]
    assert of["copied", large] == 0
    beside = sum(e["low"] is not None and (e["low"] > 0 or e["high"] < 0) for e in shift)
    contradicted = sum(round(e["detail"]["contradicting"] * e["detail"]["replies"]) for e in ranked)
    replies = sum(e["detail"]["replies"] for e in ranked)
    w = [every("kendalls_w")[names] for names in ("shown", "hidden")]
    stable = every("rank_stability")
    mean = {"criterion": "criteria_mean"}
    stands(
        "docs/merchant-risk.md",
        f"{fixed(min(apart), 1)} to {fixed(max(apart), 1)} apart on 0 to 10",
        f"| {f(w[0])} with names shown, {f(w[1])} hidden |",
        f"| Gemma {f(stable[gemma])}, Qwen 0.5B {f(stable[qwen], 0)}, Qwen 1.5B {f(stable[large])} |",
        "Qwen 0.5B {} with names shown, {} hidden; Gemma {}; Qwen 1.5B {}: on one text or two".format(
            *both("criterion_self_bias", qwen, **mean).split(", "), both("criterion_self_bias", gemma, **mean),
            both("criterion_self_bias", large, **mean)),
        f"Qwen 0.5B {both('self_bias', qwen)}; Gemma {both('self_bias', gemma)}; "
        f"Qwen 1.5B {both('self_bias', large)}: "
        f"{in_words(round(min(wrong)))} to {in_words(round(max(wrong)))} totals in ten",
        f"all three give {fixed(min(known), 1)} to {fixed(max(known), 1)} points of 10 too many",
        f"{fixed(100 * min(usable), 0)} to {fixed(100 * max(usable), 0)} % of the sets can be used",
        f"lies {fixed(-min(e['value'] for e in shift), 1)} points lower to {fixed(max(e['value'] for e in shift), 1)} "
        f"higher, on {in_words(min(e['n'] for e in shift))} to {in_words(max(e['n'] for e in shift))} texts; "
        f"{in_words(beside) if beside else 'none'} of {in_words(len(shift))} intervals lies beside 0",
        f"Of the {in_words(replies)} replies that do not, {in_words(contradicted)} is contradicted",
        f"{fixed(100 * of['copied', gemma], 0)} % of Gemma's, {fixed(100 * of['copied', qwen], 0)} % of Qwen 0.5B's "
        "and none",
        f"{fixed(100 * min(lacking), 0)} to {fixed(100 * max(lacking), 0)} % have no word of the text they judge",
    )  # fmt: skip


def test_how_alike_models_write(local):
    alike = Measured(local).of("text_homogeneity", task="merchant_rationales", protocol="generation")
    stands(
        "docs/merchant-risk.md",
        f"of one level and line of trade {fixed(100 * alike['value'], 0)} % of the words are common to both, of one "
        f"model's two rationales {fixed(100 * alike['detail']['own'], 0)} %",
    )


def test_what_reasons_are_worth(local):
    of = Measured(local).of
    share = {(finding, judge): of("explanation_finding", task="merchant_risk", finding=finding, judge=judge)
             for finding, judge in (("rubric", "qwen2.5-coder-1.5b"), ("copied", "gemma-3-270m"),
                                    ("empty", "smollm2-135m"))}  # fmt: skip
    words = [fixed(100 * e["value"], 0) + " %" for e in share.values()]
    stands(
        "docs/merchant-risk.md",
        f"({min(e['n'] for e in share.values())} to {max(e['n'] for e in share.values())} reasons a judge)",
        "Qwen2.5 Coder 1.5B copies the rubric in {}, Gemma 3 270M repeats one sentence for several criteria in {}, and "
        "SmolLM2 135M says nothing at all in {}.".format(*words),
    )


# --------------------------------------------------------------------------- nothing else has a digit

THESIS = ROOT / "fixtures" / "panels" / "thesis.toml"
PLACES = re.compile(
    r"\((\d\.\d(, )?)+\)|Eötvös Loránd University, 20\d\d|`[^`]*`|```.*?```|Qwen(2\.5 Coder)? [01]\.5B|SmolLM2( 135M)?"
    r"|Gemma 3 270M"
)
QUOTED = (  # words of a paper, the ends of a scale, a way to write a grade
    'hierarchy" by 26 experts', '"The same 1-10 scale"', "judges score 0-10", "from 0 to 100", '"4 out of 5"',
    "where 5 is best or 1 is", "where 1 is best", "Where 1 is best", "completeness is 25 of 25 or 20 of 25 points",
)  # fmt: skip


def verdicts(judge: str, protocol: str = "correctness", level: str = "observations") -> list[list[str]]:
    """Of every sum that a judge is asked to observe first: what its reply begins with, and the verdicts in it."""
    said = [text for text, _ in replies(f"local/word_problems/{protocol}", f"{judge}~*~{level}.jsonl")]
    return [[text[:15], *re.findall(r"(?i)answer: *(yes|no)", text)] for text in said]


def test_what_stands_beside_the_numbers_of_the_thesis(local, thesis):
    large, small = verdicts("qwen2.5-coder-1.5b"), verdicts("qwen2.5-coder-0.5b")
    at_once = sum(start.startswith("Answer") for start, *_ in large)
    twice = sum(len({*given}) > 1 for _, *given in small)
    gemma, large_too, small_too = (
        verdicts(judge, "correctness_explained", "explained")
        for judge in ("gemma-3-270m", "qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b")
    )
    assert gemma == [["ANSWER TO CHECK", "yes"]] * 9
    assert small_too == []
    changes = [Measured(local).of("padding_change", judge=judge) for judge in JUDGES]
    assert max(abs(e["value"]) * 2 * e["n"] for e in changes) <= 1 + 1e-9
    gates = tomllib.loads((ROOT / "evals" / "gates.toml").read_text("utf-8"))
    low, high = load_task(ROOT / "fixtures" / "tasks" / "headlines").scale
    limit = gates["self_preference"]["within"][1] * (high - low)
    answers = load_task(ROOT / "fixtures" / "tasks" / "word_problems").with_items("items-few-local.jsonl").items
    authors, judges = {item.target for item in answers}, load_panel(THESIS).judges
    level = Measured(local).of("wording_effect", judge="gemma-3-270m", effect="wording")["level"]
    stands(
        "docs/self-preference.md",
        f"{thesis.of('significant_tests')['detail']['tests']} comparisons of own grades",
        f"{len(items('headlines/items-thesis.jsonl')) * len(judges) * len(('ascending', 'reversed')):,} grades",
        f"intervals are {level:.0%}".replace("%", " %"),
        f"The limit is {limit:g}",
        f"Of the {len(answers)} answers, which {in_words(len(authors))} of the four wrote themselves",
        f"writes its verdict at once in {at_once} of {len(large)} replies, Qwen 0.5B writes a first verdict and "
        f"another one in {twice}",
        f"Qwen 1.5B its verdict twice in {in_words(sum(len(given) == 2 for _, *given in large_too))} of "
        f"{in_words(len(large_too))}",
    )


def test_what_stands_beside_the_numbers_of_merchant_risk(local):
    orders = [spearmanr(range(5), order).statistic for order in permutations(range(5))]
    often = sum(abs(rho) >= 0.9 - 1e-9 for rho in orders) / len(orders)
    assert often == pytest.approx(1 / 12)
    random = np.abs(np.subtract.outer(range(11), range(11))).mean()
    loop = {name: sum(of["calls"] for of in local["usage"]
                      if (of["task"], of["protocol"]) == ("merchant_rationales", name))
            for name in ("rubric", "rubric_joint")}  # fmt: skip
    reasons = [e["n"] for names, e in Measured(local).every
               if (names.get("task"), names.get("finding")) == ("merchant_rationales", "copied")]  # fmt: skip
    categories = (ROOT / "fixtures/tasks/merchant_risk/mcc.csv").read_text("utf-8").count("\n") - 1
    stands(
        "docs/merchant-risk.md",
        "lies at .90 or above, either way, by chance once in twelve",
        f"each twice: {loop['rubric']} replies",
        f"drawn at random lie {fixed(random, 1)} apart",
        f"(`rubric_joint`, {loop['rubric_joint']} replies)",
        f"(`explanation_finding`, {min(reasons)} to {max(reasons)} a judge)",
        f"of the {categories} categories",
    )


@pytest.mark.parametrize("path", ["docs/merchant-risk.md", "docs/self-preference.md"])
def test_every_figure_is_one_that_a_command_prints(path, local, published, thesis):
    runs = {"local": local, "published": published, "thesis": thesis}
    HELD.clear()
    for name, check in vars(sys.modules[__name__]).items():
        if name.startswith("test_") and callable(check) and {*inspect.signature(check).parameters} <= {*runs}:
            check(**{run: runs[run] for run in inspect.signature(check).parameters})
    counts = {name: count() for name, count in test_cut_texts.COUNTS.items()}
    whole = page(path)
    for part in (*HELD[path], *(words.format_map(counts) for words in test_cut_texts.SAID[path]), *QUOTED):
        whole = whole.replace(part, "")
    left = PLACES.sub("", whole)
    assert [left[max(0, m.start() - 60) : m.end() + 20] for m in re.finditer(r"\d[\d.,]*", left)] == []
