"""The rules of written rationales: what reading says is there is found, and every planted breach is named."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from recuse.papers.merchant_risk import generation
from recuse.papers.merchant_risk.generation import rules_of
from recuse.schema import Item, Judge, RecuseError, Reply
from recuse.tasks import Task, load_task

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "tasks" / "merchant_risk"
OWN = FOLDER.with_name("merchant_rationales")
ANN = Judge("ann", "Ann", "openai_chat", "http://api.example", "ann-1", author="smollm2-135m")
RULES = rules_of(load_task(FOLDER))
SOUND = (
    "These shops are stable and rarely close. Licences are routine. Fraud is rare, since buyers come in person. "
    "Returns follow a posted policy. Chargebacks are few."
)


def texts() -> dict[tuple[str, int], str]:
    lines = [json.loads(line) for line in (FOLDER / "items.jsonl").read_text("utf-8").splitlines()]
    return {(line["target"], r["level"]): r["rationale"] for line in lines for r in line["fields"]["rationales"]}


def read_by_people() -> dict[tuple[str, int], set[str]]:
    """completeness.csv: which dimensions each text speaks to, by reading."""
    with (FOLDER / "completeness.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert RULES is not None
    return {(r["target"], int(r["level"])): {name for name in RULES.dimensions if r[name] == "yes"} for r in rows}


def test_the_words_find_what_reading_finds_in_all_25_texts() -> None:
    assert RULES is not None
    assert {place: set(RULES.addressed(text)) for place, text in texts().items()} == read_by_people()


def test_the_items_carry_their_points_as_the_right_score() -> None:
    points: dict[str, int] = {}
    for (target, _), dimensions in read_by_people().items():
        points[target] = points.get(target, 0) + len(dimensions)
    lines = [json.loads(line) for line in (FOLDER / "items.jsonl").read_text("utf-8").splitlines()]
    right = {line["target"]: line["fields"]["true_completeness"] for line in lines}
    assert right == {target: 10 * found / 25 for target, found in points.items()}
    assert sorted(right.values()) == [8.0, 10.0, 10.0, 10.0, 10.0]


def test_a_sound_text_keeps_every_rule() -> None:
    assert RULES is not None
    assert set(RULES.breaches(SOUND).values()) == {""}


@pytest.mark.parametrize(
    ("text", "rule", "why"),
    [
        ("...", "written", "there is no text"),
        (SOUND.replace("Returns follow a posted policy. ", ""), "dimensions", "says nothing of returns"),
        (SOUND + " About 12% of them fail.", "plain figures", "gives figures: 12%"),
        (SOUND + " About ten per cent of them fail.", "plain figures", "gives figures: per cent"),
        (SOUND + " KYC is light.", "plain words", "uses kyc"),
        (SOUND + " And so on." * 30, "length", "has 116 words, 80 are allowed"),
    ],
)
def test_a_planted_breach_is_named_and_no_other(text: str, rule: str, why: str) -> None:
    assert RULES is not None
    broken = {name: words for name, words in RULES.breaches(text).items() if words}
    assert broken.pop(rule) == why
    assert not broken or rule == "written"


@pytest.mark.parametrize(
    "words", ["longest_words = 80", "longest_words = 80\ndimensions = 3", "[dimensions]\na = ['b']"]
)
def test_a_file_that_holds_no_rules_is_named(tmp_path: Path, words: str) -> None:
    (tmp_path / "rules.toml").write_text(words, encoding="utf-8")
    with pytest.raises(RecuseError, match=r"rules\.toml: not a file of rules"):
        rules_of(Task("task", tmp_path, {}))


# --------------------------------------------------------------------------- in the rows of a generation


def rows_of(task: Task, item: Item, entries: list[dict[str, Any]]) -> dict[tuple[str, str | None], Any]:
    rows = generation.read(task, item, {}, Reply(json.dumps(entries)))
    return {(row.criterion, row.item): row for row in rows}


def entries(task: Task, item: Item, **changes: Any) -> list[dict[str, Any]]:
    codes = [row["mcc"] for row in item.fields["mccs"]]
    made = [{"level": n, "rationale": SOUND, "mccs": codes[3 * n - 3 : 3 * n]} for n in range(1, 6)]
    made[1] |= changes
    return made


def test_each_line_of_trade_is_asked_about_by_itself() -> None:
    task = load_task(OWN)
    asked = generation.items(task, ANN)
    assert [item.id for item in asked] == [segment["id"] for segment in task.data["segment"]]
    assert {item.target for item in asked} == {"smollm2-135m"}
    assert [len(item.fields["mccs"]) for item in asked] == [20] * 2
    assert "shops and services of every day" in generation.prompt(task, asked[0], {}).messages[-1].content


def test_texts_and_rules_are_rows_beside_the_picks() -> None:
    task = load_task(OWN)
    item = generation.items(task, ANN)[0]
    rows = rows_of(task, item, entries(task, item))
    assert rows["rationale", "every-day-level-2"].response == SOUND
    assert {row.response for (criterion, _), row in rows.items() if criterion.startswith("rule: ")} == {"kept"}


@pytest.mark.parametrize(
    ("change", "criterion", "told"),
    [
        ({"mccs": [1, 2, 3]}, "rule: three codes", "1, 2, 3 is not a code of the table"),
        ({"rationale": SOUND + " 3 in 4 fail."}, "rule: plain figures", "gives figures: 3, 4"),
    ],
)
def test_a_breach_stands_in_its_row(change: dict[str, Any], criterion: str, told: str) -> None:
    task = load_task(OWN)
    item = generation.items(task, ANN)[0]
    rows = rows_of(task, item, entries(task, item, **change))
    assert rows[criterion, "every-day-level-2"].response == told
    assert rows[criterion, "every-day-level-1"].response == "kept"


@pytest.mark.parametrize("text", [None, "", 7])
def test_a_level_without_a_rationale_is_a_failed_row(text: Any) -> None:
    task = load_task(OWN)
    item = generation.items(task, ANN)[0]
    row = rows_of(task, item, entries(task, item, rationale=text))["rationale", "every-day-level-2"]
    assert (row.status, row.why) == ("unparsed", "every-day-level-2: there is no rationale")


def test_a_category_that_the_table_lacks_is_named() -> None:
    task = load_task(OWN)
    segment = {**task.data["segment"][0], "mccs": [5411, 1]}
    with pytest.raises(RecuseError, match="segment every-day lists 1, which the table of categories does not have"):
        generation.items(Task(task.name, task.folder, {**task.data, "segment": [segment]}), ANN)


def test_a_grammar_tells_no_level_twice() -> None:
    task = load_task(OWN)
    stepwise = generation.prompt(task, generation.items(task, ANN)[0], {}).grammar_schema
    assert stepwise is not None
    assert [level["properties"]["level"] for level in stepwise["prefixItems"]] == [{"const": n} for n in range(1, 6)]
