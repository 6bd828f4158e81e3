"""Every figure on the pages of the merchant-risk paper and of the thesis is one that `pytest evals/` prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from local_headlines import JUDGES, Measured, markdown, percent
from test_merchant_risk_results import ROOT

from recuse.schema.number_text import fixed, in_words

pytestmark = pytest.mark.slow("the whole run of three panels")
Run = Callable[..., Mapping[str, Any]]


def page(path: str) -> str:
    """Without the ends of lines."""
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())


def stands(path: str, *words: str) -> None:
    text = page(path)
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


def f(value: float, digits: int = 2) -> str:
    """With the sign of what is below 0, and without a nought before the point of what is not."""
    text = fixed(value, digits, minus="-")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


# --------------------------------------------------------------------------- the thesis


def test_the_table_of_four_small_models(local):
    assert markdown(local) in (ROOT / "docs" / "self-preference.md").read_text(encoding="utf-8")


def test_what_is_said_of_four_small_models(local):
    of = Measured(local).of
    ends = [of("self_preference", judge=judge, direction=way, protocol="grading")
            for judge in JUDGES for way in ("ascending", "reversed")]  # fmt: skip
    above, inside = [e for e in ends if e["low"] > 0], [e for e in ends if max(-e["low"], e["high"]) <= 0.2]
    moved = max(abs(of("wording_effect", judge=judge, effect="wording")["value"]) for judge in JUDGES)
    talked = of("discussion_change", judge="qwen2.5-coder-1.5b", of="consistency")
    phrases, odd = (of("detection_rate", defence=name, payloads="held_out")
                    for name in ("string_matching", "statistical_filter"))  # fmt: skip
    stands(
        "docs/self-preference.md",
        f"{in_words(len(above), capital=True)} of the {in_words(len(ends))} intervals of self-preference lies above 0",
        f"and so are {in_words(len(ends) - len(inside) - 1)} others; {in_words(len(inside))} pass",
        f"moves them by {fixed(moved, 1)} points at most",
        f"in none before: a change of {fixed(talked['low'])} at the least (95 %)",
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

    qwen, gemma, smol = "qwen2.5-coder-0.5b", "gemma-3-270m", "smollm2-135m"
    apart = every("repeat_difference").values()
    known = every("known_score_error", criterion="completeness")
    assert all(abs(value) <= 0.7 for judge, value in known.items() if not judge.startswith(qwen))
    usable = every("parse_rate", "rubric_joint").values()
    shift = [e for names, e in here if e["metric"] == "joint_shift"]
    ranked = [e for names, e in here if e["metric"] == "ranking_follows_scores" and e["value"] is not None]
    wrong = [10 * value for value in every("reported_total").values()]
    of = {(names["finding"], names["judge"]): e["value"] for names, e in here if e["metric"] == "explanation_finding"}
    lacking = [of["ungrounded", judge] for judge in (qwen, gemma, smol)]
    assert all(round(of["copied", judge], 1) == 0.5 for judge in (gemma, smol))
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
        f"| {f(stable[gemma], 0)}, {f(stable[smol])} and {f(stable[qwen], 0)} |",
        "Qwen 0.5B {} with names shown, {} hidden; Gemma {}; SmolLM2 {} |".format(
            *both("criterion_self_bias", qwen, **mean).split(", "), both("criterion_self_bias", gemma, **mean),
            both("criterion_self_bias", smol, **mean)),
        f"Qwen {both('self_bias', qwen)}; Gemma {both('self_bias', gemma)}; SmolLM2 {both('self_bias', smol)}: "
        f"{in_words(round(min(wrong)))} to {in_words(round(max(wrong)))} totals in ten",
        f"Qwen {fixed(known[qwen + 'shown'], 0)} to {fixed(known[qwen + 'hidden'], 0)} points of 10 too many",
        f"{fixed(100 * min(usable), 0)} to {fixed(100 * max(usable), 0)} % of the sets can be used",
        f"lies {fixed(-min(e['value'] for e in shift), 1)} points lower to {fixed(max(e['value'] for e in shift), 1)} "
        f"higher, on {in_words(min(e['n'] for e in shift))} to {in_words(max(e['n'] for e in shift))} texts; "
        f"{in_words(beside)} of {in_words(len(shift))} intervals lies beside 0",
        f"of the {in_words(replies)} replies that do not, {in_words(contradicted)} are contradicted",
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
