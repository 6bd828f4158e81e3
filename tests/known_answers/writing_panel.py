"""What the recorded panel `writing` gives on knowledge, rubrics and planted flaws, and what the stages cost:

    python tests/known_answers/writing_panel.py

Intervals are over prompts. Where a pair of judges has no correlation, or no interval can be had of so few prompts, the
table says so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from fixtures.makers.recorded import stored_files
from recuse.cassettes.cell_file import contents
from recuse.papers.illusion.cited_evidence import evidence_overlap, flaw_penalty, quotes_in_text, repeated_numbers
from recuse.papers.illusion.rubric_commensurability import agreement_by_rubric, delta_k, structural_share
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates
from recuse.schema.factors import LEVELS, RUBRIC, level_words
from recuse.schema.number_text import fixed
from recuse.suite import Elicitation, Suite

ROOT = Path(__file__).parents[2]
ELICITATION = Elicitation("writing", "writing", "merg")


def recorded(root: Path = ROOT) -> Ratings:
    """The ratings of the panel, replayed."""
    with Suite.from_options(
        root=root, panels=[ELICITATION.panel], judges=[], record="none", yes=False, models=root / "models",
        gates=root / "evals" / "gates.toml", distributed=False,
    ) as suite:  # fmt: skip
        return suite.ratings(ELICITATION)


def markdown(ratings: Ratings, root: Path = ROOT) -> str:
    tables = (_of_pairs(ratings), _of_judges(ratings), _of_copies(ratings), _of_cost(root))
    return "\n\n".join("\n".join(table) for table in tables)


def _of_pairs(ratings: Ratings) -> Iterator[str]:
    yield "| of pairs of judges | value | 95 % interval | texts of prompts | what is lacking |"
    yield "|---|---|---|---|---|"
    levels = agreement_by_rubric(ratings)
    for source in LEVELS[RUBRIC]:
        yield _row(f"r, {level_words(RUBRIC, source)}", levels.of(rubric_source=source))
    changes = delta_k(ratings)
    for source in ("independent", "dimensions", "shared"):
        yield _row(f"delta-K, {level_words(RUBRIC, source)}", changes.of(rubric_source=source))
    for whole in ("dimensions", "shared"):
        share = structural_share(ratings, whole).of(of=whole)
        yield _row(f"structural share, of {level_words(RUBRIC, whole)}", share)
    shared = evidence_overlap(ratings)
    for levels in shared:
        yield _row(f"shared evidence, {level_words(RUBRIC, *levels)}", shared[levels])


def _row(what: str, found: Estimate) -> str:
    value = fixed(found.value, signed=True) if found.defined else "not measured"
    size = f"{found.detail.get('texts', 0)} of {found.n}"
    return f"| {what} | {value} | {_interval(found) or 'none'} | {size} | {_lacking(found)} |"


def _interval(found: Estimate) -> str:
    ends = [fixed(end, signed=True) for end in (found.low, found.high)]
    return " to ".join(ends) if found.low == found.low else ""


def _lacking(found: Estimate) -> str:
    return found.note.removeprefix("undefined: ").split(";")[0]


def _of_judges(ratings: Ratings) -> Iterator[str]:
    """Sound less flawed, judges by rubrics."""
    found = flaw_penalty(ratings)
    yield f"| sound less flawed, points | {' | '.join(level_words(RUBRIC, source) for source in LEVELS[RUBRIC])} |"
    yield "|---" * (1 + len(LEVELS[RUBRIC])) + "|"
    for judge in ratings.judges:
        yield f"| {judge} | {' | '.join(_penalty(found, judge, source) for source in LEVELS[RUBRIC])} |"


def _penalty(found: Estimates, judge: str, source: str) -> str:
    one = found.of(judge=judge, rubric_source=source)
    inside = _interval(one) or "no interval"
    return f"{fixed(one.value, 1, signed=True)} ({inside}), {one.n}" if one.defined else f"not measured, {one.n}"


def _of_copies(ratings: Ratings) -> Iterator[str]:
    """Replies whose scores repeat the numbers of the prompt, and quotes that stand in the text."""
    yield f"| copied | {' | '.join(level_words(RUBRIC, source) for source in LEVELS[RUBRIC])} |"
    yield "|---" * (1 + len(LEVELS[RUBRIC])) + "|"
    for what, found in (("scores", repeated_numbers(ratings)), ("quotes in the text", quotes_in_text(ratings))):
        for judge in ratings.judges:
            known = [found.get((judge, source)) for source in LEVELS[RUBRIC]]
            shares = (f"{fixed(100 * one.value, 0)} % of {one.n}" if one else "none asked" for one in known)
            yield f"| {what}, {judge} | {' | '.join(shares)} |"


def _of_cost(root: Path) -> Iterator[str]:
    """Tokens of a judgement by a judge's own rubric over those of one by the checklist: its three stages paid by one
    text alone, by both twins, and by so many that they no longer count."""
    yield "| tokens, own rubric over checklist | one text | both twins | many texts |"
    yield "|---|---|---|---|"
    for judge, mean in tokens(root).items():
        stages = mean["knowledge"] + mean["reflection"] + mean["rubric"]
        ratios = ((stages * share + mean["independent"]) / mean["checklist"] for share in (1.0, 0.5, 0.0))
        yield f"| {judge} | {' | '.join(fixed(ratio, 1) for ratio in ratios)} |"


def calls(ratings: Ratings, root: Path = ROOT) -> tuple[int, int]:
    """Answers that the cassettes of the panel hold; and those that one more prompt takes if none is lost: an evaluation
    per judgement, three stages by `independent` and one, the rubric, by `dimensions` for every judge."""
    files = stored_files(root / "cassettes" / "writing" / "writing" / "merg").values()
    lines = (json.loads(line) for path in files for line in contents(path)[0].splitlines())
    table = ratings.table[ratings.table["criterion"] == "overall"]
    each = len(table) // table["item"].nunique()
    return sum(line["kind"] == "answer" for line in lines), each + (3 + 1) * table["rater"].nunique()


def copied(ratings: Ratings) -> tuple[int, int, int, int]:
    """Replies with five scores, and those of them that repeat the prompt's numbers; quotes, and those that stand in the
    text: over all judges and sources."""
    both = (repeated_numbers(ratings).values(), quotes_in_text(ratings).values())
    (replies, repeated), (quotes, there) = ((sum(e.n for e in of), round(sum(e.n * e.value for e in of)))
                                            for of in map(list, both))  # fmt: skip
    return replies, repeated, quotes, there


def tokens(root: Path) -> dict[str, dict[str, float]]:
    """Judge -> stage or source -> mean tokens of a call, as the servers counted them."""
    counts: dict[str, dict[str, list[int]]] = {}
    for cell, path in stored_files(root / "cassettes" / "writing" / "writing" / "merg").items():
        judge, *place = cell.split("~")
        if place == ["rubric", "dimensions"]:
            continue
        name = place[0] if len(place) == 1 or place[0] == "rubric" else place[1]
        lines = map(json.loads, contents(path)[0].splitlines())
        spent = [line["json"]["usage"]["total_tokens"] for line in lines if line["kind"] == "answer"]
        counts.setdefault(judge, {}).setdefault(name, []).extend(spent)
    return {judge: {name: fmean(found) for name, found in by.items()} for judge, by in counts.items()}


if __name__ == "__main__":
    where = Path(sys.argv[1]) if sys.argv[1:] else ROOT
    print(markdown(recorded(where), where))
