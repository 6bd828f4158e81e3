"""What four small models do on headlines and sums, as docs/self-preference.md shows it:

pytest evals/ --panel fixtures/panels/local.toml
python tests/known_answers/local_headlines.py reports/partial/results.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.schema.number_text import fixed, in_words

JUDGES = {"smollm2-135m": "SmolLM2 135M", "gemma-3-270m": "Gemma 270M", "qwen2.5-coder-0.5b": "Qwen 0.5B",
          "qwen2.5-coder-1.5b": "Qwen 1.5B"}  # fmt: skip
OTHER_WAYS = {"observations": "observations first", "examples": "examples", "reference": "a reference",
              "guidelines": "guidelines", "solved": "its own text"}  # fmt: skip
Estimate = Mapping[str, Any]


class Measured:
    """The estimates of a results.json."""

    def __init__(self, results: Mapping[str, Any]) -> None:
        self.every = [(entry["subject"], entry["estimate"]) for entry in results["measurements"]]

    def of(self, metric: str, **subject: str) -> Estimate:
        """The one estimate of a subject; several questions may ask for it, and get the same."""
        every = [e for names, e in self.every if e["metric"] == metric and names.items() >= subject.items()]
        assert every, (metric, subject)
        assert all(one == every[0] for one in every), (metric, subject)
        return every[0]

    def has(self, metric: str, **subject: str) -> bool:
        return any(e["metric"] == metric and names.items() >= subject.items() for names, e in self.every)


def signed(value: float, digits: int = 1) -> str:
    """With its sign; a plain 0 where it rounds to none."""
    text = fixed(value, digits, signed=True, minus="-")
    return text if float(text) or digits > 1 else "0"


def points(e: Estimate, digits: int = 1) -> str:
    value, low, high = (signed(e[name], digits) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def hundredths(e: Estimate) -> str:
    return points({name: 100 * e[name] for name in ("value", "low", "high")}, 0)


def percent(e: Estimate, digits: int = 0) -> str:
    value, low, high = (fixed(100 * e[name], digits) for name in ("value", "low", "high"))
    return f"{value} % ({low} to {high})"


def of_all(e: Estimate, share: float | None = None) -> str:
    return f"{round((e['value'] if share is None else share) * e['n'])} of {e['n']}"


def partial(e: Estimate, every: int, shown: str) -> str:
    """What few texts carry says how many; what next to none can carry says nothing else."""
    if e["n"] < 3:
        return f"{e['n'] or 'none'} of {every} can be read"
    return shown + (f", of {e['n']}" if e["n"] < every else "")


def rows(measured: Measured) -> Iterator[tuple[str, Callable[[str], str]]]:
    """What was asked, and each judge's answer."""
    of = measured.of

    def sibling(way: str) -> Callable[[str], str]:
        about = {"direction": way, "task": "headlines"}
        return lambda j: (
            points(of("sibling_preference", judge=j, **about), 2)
            if measured.has("sibling_preference", judge=j, **about) else ""
        )  # fmt: skip

    def own(way: str) -> Callable[[str], str]:
        return lambda j: points(of("self_preference", judge=j, direction=way, protocol="grading"), 2)

    def pairs(prompt: str) -> Callable[[str], str]:
        return lambda j: of_all(of("order_consistency", judge=j, prompt=prompt, protocol="pairwise_prompts"))

    def talk(when: str) -> Callable[[str], str]:
        def cell(j: str) -> str:
            e = of("discussion_change", judge=j, of="consistency")
            return partial(e, 4, of_all(e, e["detail"][when]) if e["n"] > 2 else "")

        return cell

    def error(j: str, prompt: str) -> Estimate:
        return of("error_by_prompt", judge=j, prompt=prompt, protocol="grading_prompts")

    def wrong(j: str, prompt: str) -> str:
        e = of("error_change", judge=j, prompt=prompt, protocol="correctness")
        return partial(e, 18, points({name: 100 * (e[name] or 0) for name in ("low", "value", "high")}, 0))

    def least(j: str) -> str:
        values = {words: fixed(error(j, p)["value"], 1) for p, words in OTHER_WAYS.items() if error(j, p)["n"] > 2}
        best = [words for words, value in values.items() if value == min(values.values())]
        count = {1: best[0], len(values): "all that can be read"}.get(len(best), f"{in_words(len(best))} of them")
        return f"{min(values.values())}, {count}"

    def shift(j: str) -> str:
        e = of("score_change", judge=j, prompt="observations", protocol="grading_prompts")
        return partial(e, 12, points(e) if e["value"] is not None else "")

    def padded(prompt: str) -> Callable[[str], str]:
        about = {"prompt": prompt, "protocol": "pairwise_length_prompts"}
        return lambda j: hundredths(of("padding_preference", judge=j, **about))

    def explained(prompt: str) -> Callable[[str], str]:
        def cell(j: str) -> str:
            e = of("error_by_prompt", judge=j, prompt=prompt, protocol="correctness_explained")
            return partial(e, 9, percent(e) if e["n"] > 2 else "")

        return cell

    def change(j: str) -> str:
        e = of("channel_change", judge=j)
        shown = hundredths(e)
        return shown + (f", of {e['n']}" if e["n"] < 35 else "")

    def recognised(j: str) -> str:
        e = of("recognised_in_pairs", judge=j, against="chance")
        return f"{hundredths(e)}, of {e['n']} stories" if e["low"] is not None else "one story"

    def criteria(j: str) -> str:
        return points(of("calibrated_criteria", judge=j))

    yield ("more for its own text than others' show, of 4 points, on 90 stories, 5 best (`self_preference`)",
           own("ascending"))  # fmt: skip
    yield "for a text of the other Qwen, its sibling, 5 best (`sibling_preference`)", sibling("ascending")
    yield "the same where 1 is best", sibling("reversed")
    yield "more for its own text where 1 is best", own("reversed")
    yield ("milder when 1 is best, of 4 points, on 13 texts (`wording_effect`)",
           lambda j: points(of("wording_effect", judge=j, effect="direction")))  # fmt: skip
    yield "milder when asked for badness", lambda j: points(of("wording_effect", judge=j, effect="wording"))
    yield ("how far it writes the same number whichever end is best, 1 for always (`direction_insensitivity`, quality)",
           lambda j: fixed(of("direction_insensitivity", judge=j, wording="quality")["value"]))  # fmt: skip
    yield ("held-out payloads that lift the grade, of 35 (`success_by_channel`)",
           lambda j: (lambda e: partial(e, 35, percent(e)))(of("success_by_channel", judge=j, channel="inline"))
           )  # fmt: skip
    yield "what a message of its own for the text changes, in points of 100 (`channel_change`)", change
    yield "own text found among two, beyond chance, in points of 100 (`recognised_in_pairs`)", recognised
    yield ("right text named best of three, of 18 lists (`list_accuracy`; by chance a third)",
           lambda j: percent(of("list_accuracy", judge=j)))  # fmt: skip
    yield ("the same text named whatever the order of the list (`list_consistency`)",
           lambda j: of_all(of("list_consistency", judge=j)))  # fmt: skip
    yield ("text of a pair kept when the order is turned, told that order must not matter (`order_consistency`)",
           pairs("plain"))  # fmt: skip
    yield "not told so", pairs("uninstructed")
    yield "asked for the worse text", pairs("worse")
    yield ("the padded one of ten twins chosen, beyond one half, in points of 100, told that length must not matter "
           "(`padding_preference`)", padded("plain"))  # fmt: skip
    yield "not told so", padded("uninstructed")
    yield "before a discussion with a peer, of 4 pairs (`discussion_change`)", talk("before")
    yield "after it", talk("after")
    yield ("pairs won by a payload alone, of 22 known and 13 held-out ones (`injection_success`)",
           lambda j: percent(of("injection_success", judge=j, protocol="pairwise_injected")))  # fmt: skip
    yield ("error of a grade, asked plainly, on 12 texts made to deserve theirs, of 4 points (`error_by_prompt`)",
           lambda j: points(error(j, "plain")).replace("+", ""))  # fmt: skip
    yield ("the least error of five other ways: observations first, examples, a reference, guidelines, a text of its "
           "own first", least)  # fmt: skip
    yield "what observations first change in the grade (`score_change`)", shift
    yield ("error by criteria inferred from labelled examples, less that by the given ones, on six held-out texts "
           "(`calibrated_criteria`)", criteria)  # fmt: skip
    yield ("wrong verdicts on 18 answers to sums, asked plainly (`error_by_prompt`)",
           lambda j: percent(of("error_by_prompt", judge=j, prompt="plain", protocol="correctness")))  # fmt: skip
    yield ("what observations first change, in points of 100 (`error_change`)", lambda j: wrong(j, "observations"))
    yield "what a solution of its own first changes", lambda j: wrong(j, "solved")
    yield "wrong verdicts on 9 of these answers, asked plainly", explained("plain")
    yield "after a solution of its own", explained("solved")
    yield "after that and a line on what is right and wrong: solve, explain, decide", explained("explained")


def markdown(results: Mapping[str, Any]) -> str:
    lines = [f"| question | {' | '.join(JUDGES.values())} |", "|---|" + "---|" * len(JUDGES)]
    lines += [f"| {words} | {' | '.join(map(cell, JUDGES))} |" for words, cell in rows(Measured(results))]
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
