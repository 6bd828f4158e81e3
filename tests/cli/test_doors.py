"""One file, one word: `recuse check`, a run of the shipped questions by pytest, and what was saved of either agree on
every judge and use; and so do the wide and the long form of one table."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recuse.check.check_command import check
from recuse.gates import Decision, decide
from recuse.gates.records import decoded
from recuse.readers.file_panel import load_file_panel
from recuse.report.canonical_form import canonical
from recuse.run.run import ask_file
from recuse.suite.question_runner import read_evals, shipped_evals

pytest_plugins = ["pytester"]

SCALES: Mapping[str, tuple[str, ...]] = {
    "pass or fail": ("fail", "pass"),
    "1-5": tuple("12345"),
    "0-10": tuple(str(k) for k in range(11)),
}
Words = dict[tuple[str, str, str], tuple[Any, ...]]
"""(Panel, judge, use) -> word, cause, gates, whether it is stated."""


@dataclass(frozen=True)
class Design:
    """What a simulated file holds."""

    seed: int
    scale: str
    people: int
    criteria: int
    repeats: int
    systems: bool
    items: int

    @classmethod
    def drawn(cls, seed: int) -> Design:
        """Scales and numbers of people come in turn, the rest by lot."""
        rng = np.random.default_rng([seed, 1])
        criteria, repeats = ((1, 1), (1, 1), (2, 1), (1, 2))[int(rng.integers(4))]
        return cls(
            seed, scale=[*SCALES][seed % 3], people=(3, 1, 3, 2)[seed // 3 % 4], criteria=criteria, repeats=repeats,
            systems=bool(rng.random() < 0.6), items=240 if seed % 7 == 0 else int(rng.choice([45, 80])),
        )  # fmt: skip


def levels(design: Design, rng: np.random.Generator) -> Iterator[tuple[int, int, str, list[str]]]:
    """(item, criterion, rater, its answers): a good, a lenient, a random and a constant judge, and one that leaves one
    text in five unanswered; people err as the good judge does."""
    options = SCALES[design.scale]
    top, noise = len(options) - 1, max((len(options) - 1) / 6, 0.3)
    truth = rng.random((design.items, design.criteria)) * top

    def near(value: float, lift: float = 0.0) -> str:
        return options[int(np.clip(round(value + lift + rng.normal(0, noise)), 0, top))]

    judges: dict[str, Callable[[float], str]] = {
        "good": near,
        "lenient": lambda value: near(value, lift=top / 4),
        "random": lambda value: options[int(rng.integers(top + 1))],
        "constant": lambda value: options[-1],
        "refusing": lambda value: "" if rng.random() < 0.2 else near(value),
    }
    chosen = [name for name in judges if rng.random() < 0.6] or ["good"]
    for item in range(design.items):
        for criterion in range(design.criteria):
            value = float(truth[item, criterion])
            for judge in chosen:
                yield item, criterion, f"{judge}_judge", [judges[judge](value) for _ in range(design.repeats)]
            for person in ("anna", "ben", "cleo")[: design.people]:
                yield item, criterion, f"human_{person}", [near(value)]


def written(folder: Path, design: Design, form: str) -> Path:
    """The file of a design: one row per text, or one per answer."""
    answers = list(levels(design, np.random.default_rng(design.seed)))
    criteria = ("tone", "truth")[: design.criteria]
    system = (lambda item: "ab"[item % 2]) if design.systems else lambda item: ""
    path = folder / f"{form}{design.seed}.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        if form == "long":
            head = ["item", "system", "criterion", "rater", "kind", "repeat", "score"]
            kept = [0, *([1] if design.systems else []), *([2] if design.criteria > 1 else []), 3, 4, 5, 6]
            rows.writerow([head[k] for k in kept])
            for item, criterion, rater, given in answers:
                kind = "person" if rater.startswith("human") else "judge"
                for repeat, answer in enumerate(given):
                    row = [f"t{design.seed}-{item}", system(item), criteria[criterion], rater, kind, repeat, answer]
                    rows.writerow([row[k] for k in kept])
        else:
            table: dict[int, dict[str, str]] = {}
            for item, criterion, rater, given in answers:
                suffix = f"_{criteria[criterion]}" if design.criteria > 1 else ""
                for repeat, answer in enumerate(given):
                    name = rater + suffix + (f".{repeat + 1}" if len(given) > 1 else "")
                    table.setdefault(item, {})[name] = answer
            columns = list(table[0])
            rows.writerow(["item", *(["system"] if design.systems else []), *columns])
            for item, cells in table.items():
                more = [system(item)] if design.systems else []
                rows.writerow([f"t{design.seed}-{item}", *more, *(cells[name] for name in columns)])
    return path


def words(judges: list[Mapping[str, Any]]) -> Words:
    return {
        (one["panel"], one["judge"], one["use"]): (one["word"], one["cause"], one["gates"], one["stated"])
        for one in judges
    }


def saved(results: Mapping[str, Any]) -> Decision:
    """The decision over results.json as it lies on disk."""
    results = json.loads(canonical(results))
    return decide(decoded(results))


def checked(path: Path) -> tuple[Words, Mapping[str, Any]]:
    """By all questions; and by those alone that the decision rests on, as the short text is."""
    answers = ask_file(load_file_panel(path), *read_evals(shipped_evals(), date.today()))
    assert check(path).record() == answers.decision.record()
    return words(answers.decision.record()["judges"]), answers.results


@pytest.fixture
def run_shipped(run_pytest: Callable[..., pytest.RunResult], tmp_path: Path) -> Callable[..., pytest.RunResult]:
    """run_shipped(*paths): the shipped questions asked of these files, in `tmp_path`."""
    root = Path(__file__).parents[2]
    for part in ("evals", "fixtures", "cassettes", "conftest.py", "pyproject.toml"):
        (tmp_path / part).symlink_to(root / part)
    return lambda *paths: run_pytest(
        tmp_path, "evals", "-q", *(part for path in paths for part in ("--ratings", str(path)))
    )


def agree(paths: list[Path], run_shipped: Callable[..., pytest.RunResult], folder: Path) -> Words:
    """The words on all judges of these files, which are the same through every door."""
    assert run_shipped(*paths).ret <= pytest.ExitCode.TESTS_FAILED
    run = json.loads((folder / "reports" / "partial" / "results.json").read_bytes())
    by_pytest = words(run["decision"]["judges"])
    assert words(saved(run).record()["judges"]) == by_pytest
    by_check: Words = {}
    for path in paths:
        found, results = checked(path)
        assert words(saved(results).record()["judges"]) == found
        by_check |= found
    assert by_check == by_pytest
    return by_check


TOGETHER = Design(seed=5, scale="1-5", people=2, criteria=2, repeats=3, systems=False, items=60)
"""Criteria and repeats in one file."""
BATCHES = [[Design.drawn(1)], [TOGETHER, *map(Design.drawn, (0, 2, 3, 4))]]
"""Files that one run of pytest reads: the first always, in the slow run a hundred more."""
BATCHES += [[Design.drawn(seed) for seed in range(first, first + 10)] for first in range(6, 106, 10)]


@pytest.mark.parametrize(
    "designs", [BATCHES[0], *(pytest.param(batch, marks=pytest.mark.slow("whole runs")) for batch in BATCHES[1:])],
    ids=lambda designs: str(designs[0].seed),
)  # fmt: skip
def test_one_file_has_one_word_through_every_door(designs, run_shipped, tmp_path):
    """Its wide and its long form have the same: an empty cell is an answer that could not be used in both."""
    paths = [written(tmp_path, design, ("wide", "long")[design.seed % 2]) for design in designs]
    found = agree(paths, run_shipped, tmp_path)
    for design, path in zip(designs, paths, strict=True):
        words = {key[1:]: said for key, said in found.items() if key[0] == path.stem}
        other = written(tmp_path, design, ("long", "wide")[design.seed % 2])
        assert words
        assert {key[1:]: said for key, said in checked(other)[0].items()} == words


def test_criteria_and_repeats_together_are_compared(recuse, tmp_path):
    path = written(tmp_path, TOGETHER, "long")
    first, other = sorted({name for _, _, name, _ in levels(TOGETHER, np.random.default_rng(5)) if "judge" in name})[:2]
    compared = recuse("compare", path, first, other)
    assert compared.code < 3, compared.err
    assert "(criterion truth)" in compared.out


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("about", [("Behavior", "Regulation", "Fraud", "Volatility", "Operations"), ("Total",)])
@pytest.mark.parametrize("code", ["{}", "MCC {}"])
def test_experts_keyed_by_merchant_category_codes_come_to_a_word(about, code, recuse, tmp_path):
    """The bank's study: merchants by code, number or text, rated by experts on five criteria or in total only."""
    draw = np.random.default_rng(len(about))
    risk = draw.normal(size=(200, len(about)))
    rows = [",".join(["MCC", "Rater", *about])]
    for rater in ("Expert 1", "Expert 2", "Expert 3", "gpt-4o"):
        marks = np.clip(np.round(3 + risk + 0.4 * draw.normal(size=risk.shape)), 1, 5).astype(int)
        rows += [",".join([code.format(5000 + 7 * k), rater, *map(str, own)]) for k, own in enumerate(marks)]
    path = tmp_path / "experts.csv"
    path.write_text("\n".join(rows))
    checked = recuse("check", path)
    assert checked.code < 3, checked.err
    assert "gpt-4o is cleared to grade" in checked.out


TEAM_FILES = Path(__file__).parents[1] / "readers" / "team_files"
CLEARED, REFUSED, UNSURE = "cleared", "not cleared", "undecided"
TEAM_WORDS: Mapping[str, Mapping[str, str]] = {
    "05_stars.csv.gz": {"gpt-4.1": CLEARED, "gpt-4.1-mini": REFUSED},
    "22_majority.csv.gz": {"llm_judge": REFUSED},
    "50_slash.csv.gz": {"gpt-4o": CLEARED},
    "01_spreadsheet.csv.gz": {"gpt-4o_LLM judge": CLEARED, "Score v2_LLM judge": REFUSED},
    "06_multiturn.csv.gz": {"llm_judge": CLEARED},
    "50_bracket.csv.gz": {"gpt-4o": CLEARED},
    "08_openai_log.jsonl.gz": {"gpt-4o-2024-08-06": CLEARED},
    "09a_labelstudio.csv.gz": {"gpt4o": CLEARED},
    "50_rating.csv.gz": {"gpt-4o": CLEARED},
    "09b_labelstudio_min.json.gz": {"gpt4o": CLEARED},
    "10_argilla.json.gz": {"gpt-4o": CLEARED},
    "12_langfuse_scores.csv.gz": {"EVAL": UNSURE},  # nobody rated toxicity
    "14_braintrust.jsonl.gz": {"scores.Factuality": CLEARED},
    "16_rankings.csv.gz": {"gpt-4o": CLEARED, "llama-3-8b": REFUSED},
    "50_score.csv.gz": {"gpt-4o": CLEARED},
    "10b_argilla.jsonl.gz": {"gpt-4o": CLEARED},
    "16b_ranks.csv.gz": {"gpt-4o": UNSURE, "llama-3-8b": REFUSED},
    "19_3000_columns.csv.gz": {"gpt-4o": CLEARED, "llama-3": CLEARED},
    "23_mturk.csv.gz": {"Input.judge": CLEARED},
    "25_form.csv.gz": {"gpt-4o": CLEARED},
    "30_week0.csv.gz": {"judge": UNSURE},  # of one week alone, which nobody rated
    "32_repeats.csv.gz": {"judge": UNSURE},  # too few texts, and nothing wrong
    "33_confidence.csv.gz": {"judge": UNSURE},
}
"""What every judge of a file may be used for, by what the ratings are; the judges are one more person, or noise. Three
by three: the same judges on the same texts in one run would be versions of one another."""
ASKED = ("15_sheet.xlsx", "18_thumbs_up.csv.gz", "50_words.csv.gz")


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(k, marks=pytest.mark.slow("whole runs")) for k in range(3, len(TEAM_WORDS), 3))]
)
def test_files_that_teams_have_get_their_word_through_both_doors(batch, run_shipped, tmp_path):
    names = [*TEAM_WORDS][batch : batch + 3]
    found = agree([TEAM_FILES / name for name in names], run_shipped, tmp_path)
    stated = {(panel, judge): word for (panel, judge, _), (word, _, _, of_file) in found.items() if of_file}
    panels = {name: load_file_panel(TEAM_FILES / name).name for name in names}
    assert stated == {(panels[n], judge): word for n in names for judge, word in TEAM_WORDS[n].items()}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_about_is_asked_through_both_doors(name, recuse, run_shipped):
    checked = recuse("check", TEAM_FILES / name)
    question = checked.err.partition(f"{name}: ")[2].strip()
    assert checked.code == 3
    assert " --" in question
    done = run_shipped(TEAM_FILES / name)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert question in f"{done.stdout}{done.stderr}"


def test_every_file_that_teams_have_is_tried():
    files = {path.name for path in TEAM_FILES.iterdir()} - {"README.md", "30_week1.csv.gz", "30_week2.csv.gz"}
    assert files == {*TEAM_WORDS, *ASKED}


def test_weeks_with_other_texts_each_are_no_versions_and_are_charted(recuse):
    weeks = [TEAM_FILES / f"30_week{k}.csv.gz" for k in range(3)]
    refused = recuse("check", *weeks)
    assert (refused.code, "chart them: recuse weeks FILE FILE" in refused.err) == (3, True)
    charted = recuse("weeks", *weeks)
    assert charted.code == 2
    assert charted.first == "judge: 3 weeks; limits need 5 weeks of 5 texts before the one in question"
