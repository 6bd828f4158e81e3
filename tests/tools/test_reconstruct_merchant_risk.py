"""The reconstructed replies carry every printed number of the merchant-risk paper's Tables 1-10."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import math
import random
import statistics
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from recuse.protocols import generation, rubric, rubric_self_reported
from recuse.schema import Reply
from recuse.standins.sentences import read_sentences
from recuse.tasks import load_task
from tools import reconstruct_merchant_risk as tool
from tools import ten_runs

TASK = load_task(tool.ROOT / "fixtures" / "tasks" / "merchant_risk")
TABLE = tool.read_scores(tool.SCORES)
INCONSISTENT = {  # published/README: printed Final Score minus mean of the printed criteria
    ("attributed", "gpt-5.1", "claude-4.5-sonnet"): Fraction(-20, 100),
    ("attributed", "claude-4.5-sonnet", "gpt-5.1"): Fraction(-20, 100),
    ("attributed", "perplexity-sonar", "gemini-2.5-pro"): Fraction(40, 100),
}
ONE_DECIMAL = {("anonymized", "gemini-2.5-pro", "claude-4.5-sonnet")} | {
    ("anonymized", "perplexity-sonar", target) for target in TASK.targets
}


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress((tool.OUT / name).read_bytes()).decode().splitlines()]


def item(target: str) -> Any:
    return next(item for item in TASK.items if item.target == target)


@pytest.fixture(scope="module")
def runs() -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Cell -> the ten replies in order, numbers as exact fractions."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in lines("rubric.jsonl.gz"):
        cell = found[row["factors"]["condition"], row["judge"], row["item"]]
        assert row["repeat"] == len(cell)
        cell.append(json.loads(row["text"], parse_float=Fraction))
    return dict(found)


def column(replies: list[dict[str, Any]], criterion: str) -> list[Fraction]:
    return [Fraction(r["total"] if criterion == "final" else r[criterion]["score"]) for r in replies]


def decimals(printed: str) -> int:
    return len(printed.partition(".")[2])


def test_there_are_ten_runs_for_every_cell_of_the_tables(runs: Any) -> None:
    assert set(runs) == set(TABLE)
    assert len(runs) == 2 * 5 * 5
    assert {len(replies) for replies in runs.values()} == {10}


@pytest.mark.parametrize("cell", TABLE, ids="~".join)
def test_means_are_the_printed_ones_exactly(runs: Any, cell: Any) -> None:
    for criterion, (mean, _) in TABLE[cell].items():
        assert sum(column(runs[cell], criterion)) / 10 == Fraction(mean), criterion


@pytest.mark.parametrize("cell", TABLE, ids="~".join)
def test_sample_sds_round_to_the_printed_ones(runs: Any, cell: Any) -> None:
    for criterion, (_, sd) in TABLE[cell].items():
        measured = statistics.stdev(map(float, column(runs[cell], criterion)))
        assert f"{measured:.{decimals(sd)}f}" == sd, criterion


@pytest.mark.parametrize("cell", TABLE, ids="~".join)
def test_totals_follow_from_the_scores_except_where_the_paper_s_do_not(runs: Any, cell: Any) -> None:
    for reply in runs[cell]:
        scores = [Fraction(reply[criterion]["score"]) for criterion in tool.CRITERIA]
        assert all((score * 10).denominator == 1 and 0 <= score <= 10 for score in scores)
        difference = Fraction(reply["total"]) - sum(scores) / 5
        if cell in ONE_DECIMAL:
            assert (Fraction(reply["total"]) * 10).denominator == 1
            assert abs(difference) <= Fraction(5, 100)
        else:
            assert difference == INCONSISTENT.get(cell, 0)


def test_the_tables_have_no_other_inconsistent_cells() -> None:
    for cell, printed in TABLE.items():
        difference = Fraction(printed["final"][0]) - sum(Fraction(printed[c][0]) for c in tool.CRITERIA) / 5
        assert tool.cell_of(printed).offset == INCONSISTENT.get(cell, 0)
        assert cell in INCONSISTENT or abs(difference) <= (Fraction(5, 100) if cell in ONE_DECIMAL else 0)


def test_totals_are_given_with_the_decimals_of_the_table() -> None:
    for row in lines("rubric.jsonl.gz"):
        cell = (row["factors"]["condition"], row["judge"], row["item"])
        total = row["text"].rpartition(": ")[2].rstrip("}")
        assert decimals(total) == (1 if cell in ONE_DECIMAL else 2)


def test_the_protocol_reads_every_reply() -> None:
    for row in lines("rubric.jsonl.gz"):
        read = rubric.read(TASK, item(row["item"]), row["factors"], Reply(row["text"]))
        assert [r.status for r in read] == ["ok"] * 6


def test_sentences_are_short_varied_and_name_nobody(runs: Any) -> None:
    names = {str(t[key]).lower() for t in TASK.targets.values() for key in ("id", "label", "anonymous")}
    for replies in runs.values():
        whys = [tuple(reply[criterion]["why"] for criterion in tool.CRITERIA) for reply in replies]
        assert len(set(whys)) > 5
        for why in itertools.chain(*whys):
            assert 3 <= len(why.split()) <= 15
            assert why.endswith(".")
            assert not any(name in why.lower() for name in names)


def test_self_reported_numbers_are_printed_digit_for_digit() -> None:
    rows = lines("rubric_self_reported.jsonl.gz")
    assert {(r["factors"]["condition"], r["judge"], r["item"]) for r in rows} == set(TABLE)
    for row in rows:
        printed = TABLE[row["factors"]["condition"], row["judge"], row["item"]]
        raw = json.loads(row["text"], parse_float=str, parse_int=str)
        assert {name: (raw[name]["mean"], raw[name]["sd"]) for name in printed} == printed
        assert raw["runs"] == "10"
        assert len(raw["strengths"]) == len(raw["weaknesses"]) == 2
        read = rubric_self_reported.read(TASK, item(row["item"]), row["factors"], Reply(row["text"]))
        assert {r.status for r in read} == {"ok"}


def test_generation_is_the_model_s_own_set() -> None:
    rows = {row["judge"]: row["text"] for row in lines("generation.jsonl.gz")}
    assert set(rows) == set(TASK.targets)
    with (tool.ROOT / "fixtures" / "published" / "mcc_levels.csv").open(encoding="utf-8", newline="") as file:
        published = {(r["model"], r["mcc"], float(r["level"])) for r in csv.DictReader(file)}
    categories = {"mccs": generation._categories(TASK.folder)}
    picked = set()
    for model, text in rows.items():
        asked = type(item(model))(TASK.name, "category-table", model, categories)
        picked |= {(model, r.item, r.score) for r in generation.read(TASK, asked, {}, Reply(text))}
        own = [r["rationale"] for r in item(model).fields["rationales"]]
        assert [level["rationale"] for level in json.loads(text)] == own, "items.jsonl changed: build the replies again"
    assert picked == published


def test_the_tool_makes_the_stored_replies(runs: Any) -> None:
    words = read_sentences(tool.SENTENCES)
    stored = defaultdict(list)
    for row in lines("rubric.jsonl.gz"):
        stored[row["factors"]["condition"], row["judge"], row["item"]].append(row)
    hard = [*INCONSISTENT, *sorted(ONE_DECIMAL)[:2], ("attributed", "gpt-5.1", "gpt-5.1")]
    for cell in hard:
        solved = tool.solve(cell, tool.cell_of(TABLE[cell]))
        assert list(tool.rubric_lines(cell, solved, words)) == stored[cell]
    reported = [tool.self_reported_line(cell, printed, words) for cell, printed in TABLE.items()]
    assert reported == lines("rubric_self_reported.jsonl.gz")
    assert list(tool.generation_lines(tool.ITEMS)) == lines("generation.jsonl.gz")


def test_archives_carry_no_clock_and_are_small() -> None:
    total = 0
    for path in tool.OUT.glob("*.gz"):
        data = path.read_bytes()
        assert data[4:8] == b"\0\0\0\0", "gzip time stamp"
        assert data[3] == 0, "gzip flags: no file name"
        total += len(data)
    assert total < 100_000


# --------------------------------------------------------------------------- what ten scores cannot carry


@pytest.fixture(scope="module")
def whole_number_sds() -> dict[tuple[str, int], dict[str, np.ndarray]]:
    """Independent of the tool: all 184,756 sets of ten whole scores from 0 to 10, listed one by one."""
    sets = np.array(list(itertools.combinations_with_replacement(range(11), 10)), dtype=np.int64)
    return {
        divisor: {
            f"{total / 10:.1f}": np.unique(sets[sets.sum(axis=1) == total].std(axis=1, ddof=10 - divisor).round(9))
            for total in range(101)
        }
        for divisor in (9, 10)
    }


def test_unreachable_lists_exactly_what_no_ten_whole_scores_have(whole_number_sds: Any) -> None:
    with (tool.OUT / "unreachable.csv").open(encoding="utf-8", newline="") as file:
        listed = {
            tuple(row[k] for k in ("condition", "judge", "target", "criterion", "grid")): row["nearest"]
            for row in csv.DictReader(file)
        }
    expected = {}
    for (cell, printed), (grid, divisor) in itertools.product(TABLE.items(), tool.GRIDS):
        for criterion in tool.CRITERIA:
            mean, sd = printed[criterion]
            sds = whole_number_sds[divisor][mean]
            if not any(f"{value:.{decimals(sd)}f}" == sd for value in sds):
                below, above = sds[sds < float(sd)][-1:], sds[sds > float(sd)][:1]
                expected[*cell, criterion, grid] = " and ".join(f"{value:.3f}" for value in (*below, *above))
    assert listed == expected  # and nothing in tenths, the grid the stored runs are on


def test_whole_number_attainability_is_as_known() -> None:
    """published/README: sample SD 4, 4, 6 of 25 in Tables 2, 3, 4 and population SD 20, 24, 20; Tables 1 and 6 fit
    neither (0 and 1)."""
    reachable = {}
    for grid, divisor in tool.GRIDS:
        for condition, judge in {cell[:2] for cell in TABLE}:
            cells = [printed for cell, printed in TABLE.items() if cell[:2] == (condition, judge)]
            reachable[condition, judge, grid] = sum(
                not tool.nearest_whole(*printed[criterion], divisor) for printed in cells for criterion in tool.CRITERIA
            )
    sample, population = (grid for grid, _ in tool.GRIDS)
    for judge, counts in {"gemini-2.5-pro": (4, 20), "grok-4": (4, 24), "claude-4.5-sonnet": (6, 20)}.items():
        assert (reachable["attributed", judge, sample], reachable["attributed", judge, population]) == counts
    assert (reachable["attributed", "gpt-5.1", sample], reachable["attributed", "gpt-5.1", population]) == (0, 0)
    assert (reachable["anonymized", "gpt-5.1", sample], reachable["anonymized", "gpt-5.1", population]) == (0, 1)
    totals = [sum(n for key, n in reachable.items() if key[2] == grid) for grid in (sample, population)]
    assert totals == [68, 110]


def cell(**changes: Any) -> ten_runs.Cell:
    usual: dict[str, Any] = {
        "means": ("9.0", "8.0", "8.5", "9.5", "8.0"),
        "sds": ("0.30", "0.41", "0.35", "0.15", "0.38"),
        "final_mean": "8.60",
        "final_sd": "0.19",
        "offset": Fraction(0),
        "decimals": 2,
    }
    return ten_runs.Cell(**(usual | changes))


def test_search_finds_an_ordinary_cell_and_reports_an_impossible_one() -> None:
    found = ten_runs.Search(cell(), random.Random(1)).run()
    assert found.miss == 0
    assert tool.missed_in_tenths(cell(), found) == []
    # In tenths SS is an even whole number, and SD 0.10 needs one between 8.1 and 9.9.
    even = cell(sds=("0.30", "0.41", "0.35", "0.10", "0.38"))
    assert "completeness" in tool.missed_in_tenths(even, ten_runs.Search(even, random.Random(1)).run(2000))
    # Ten scores that average 10.0 are all 10.0; and the SD of a mean of five is at most the mean of their SDs.
    full = cell(means=("10.0", "8.0", "8.5", "9.5", "8.0"), final_mean="8.80")
    assert "accuracy" in tool.missed_in_tenths(full, ten_runs.Search(full, random.Random(1)).run(2000))
    wide = cell(final_sd="0.40")
    assert "final" in tool.missed_in_tenths(wide, ten_runs.Search(wide, random.Random(1)).run(2000))


def test_windows_hold_what_rounds_to_the_printed_sd() -> None:
    allowed = ten_runs.window("0.28", Fraction(1, 10))
    for ss in range(0, 200):
        assert (ss in allowed) == (f"{math.sqrt(ss / 9) / 10:.2f}" == "0.28"), ss
    assert 0 in ten_runs.window("0.00", Fraction(1, 10))
    assert 2 not in ten_runs.window("0.00", Fraction(1, 10))
