"""Generation: a model writes its own five-level rationale set and picks three categories per level (merchant-risk
paper, sec. 2), of the whole table of categories, or of one line of trade at a time (`[[segment]]`). With a file of
merchants (`merchants = "merchants.csv"`: id, name, what else a prompt tells) it explains and places one at a time,
whose id is then the item.

Rows: item = category code, criterion "risk_level", score = its level; criterion "rationale", response = the text, item
= its level; and, where the task has rules (`RationaleRules`), criterion "rule: ...", response "kept" or the breach."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from recuse.protocols import reading, wording
from recuse.ratings import Numeric, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply
from recuse.tasks import Task

OFFERS = "picks"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
CRITERION, RATIONALE, RULE = "risk_level", "rationale", "rule: "
PICKS_PER_LEVEL = 3
THREE = "three codes"
KEPT = "kept"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """The whole table of categories as one item, or one item a line of trade, with the judge as the target: it writes
    its own. `RecuseError` for a table that cannot be read or lacks a category of a line of trade."""
    author = judge.author or judge.name
    if "merchants" in task.data:
        merchants = _merchants(task.folder / task.data["merchants"])
        return tuple(Item(task.name, one["id"], author, {"merchant": one}) for one in merchants)
    table = _table(task.folder / task.data.get("reference", {}).get("names", "mcc.csv"))
    if "segment" not in task.data:
        return (Item(task.name, "category-table", author, {"mccs": table}),)
    named, each = {row["mcc"]: row for row in table}, []
    for segment in task.data["segment"]:
        if strange := [code for code in segment["mccs"] if code not in named]:
            listed = f"segment {segment['id']} lists {strange[0]}, which the table of categories does not have"
            raise RecuseError(f"{task.folder / 'task.toml'}: {listed}")
        mccs = [named[code] for code in segment["mccs"]]
        each.append(Item(task.name, segment["id"], author, {"segment": segment, "mccs": mccs}))
    return tuple(each)


def headline(task: Task) -> tuple[str, ...]:
    """The risk level of a category; texts and rules stand beside it."""
    return (CRITERION,)


def scales(task: Task) -> dict[str, Scale]:
    """Of the risk level: the task's levels, from the lowest to the highest."""
    levels = _levels(task)
    return {CRITERION: Numeric(float(min(levels)), float(max(levels)), 1.0, unit="levels")}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """Table and levels; the reply is a list with one object a level, which servers that enforce a schema by grammar are
    held to level by level. Of one merchant, an object: the reasons, then the level."""
    words = wording.messages(task, "generation", task=task.data, **item.fields)
    levels, rationale = _levels(task), wording.text_schema(task, "rationale")
    any_level = {"type": "integer", "enum": levels}
    if "merchant" in item.fields:  # reasons first: what is written after the level would only defend it
        schema = wording.object_schema({"rationale": rationale, "level": any_level})
        return Prompt(words, temperature=0.7, max_tokens=400, schema=schema)
    picks = wording.list_schema({"enum": [row["mcc"] for row in item.fields["mccs"]]}, PICKS_PER_LEVEL)

    def entry(level: dict[str, Any]) -> dict[str, Any]:
        return wording.object_schema({"level": level, "rationale": rationale, "mccs": picks})

    schema = wording.list_schema(entry(any_level), len(levels))
    # For servers that enforce a schema by grammar: level by level, so that none comes twice
    stepwise = {**schema, "prefixItems": [entry({"const": k}) for k in levels]}
    del stepwise["items"]
    return Prompt(words, temperature=0.7, max_tokens=1400, schema=schema, grammar_schema=stepwise)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row per pick; a level that cannot be read is one failed row, named by its level. Where the task has rules,
    the rationales follow, each beside a row per rule."""
    alone, levels, rules = "merchant" in item.fields, _levels(task), rules_of(task)
    try:
        answer = reading.json_value(reply, dict if alone else list)
    except reading.Unreadable as failure:
        return reading.all_failed([CRITERION], failure)
    if alone:
        level = answer.get("level")
        why = f"level is {level!r}, one of {', '.join(map(str, levels))} is wanted"
        row = Judgement(CRITERION, status="unparsed", why=why, item=item.id)
        if level in levels and not isinstance(level, bool):
            row = Judgement(CRITERION, score=float(level), item=item.id)
        texts = _rationale([answer], item.id, [], rules) if rules else []
        return [row, *(one for one in texts if one.criterion != RULE + THREE)]
    known = {int(row["mcc"]) for row in item.fields["mccs"]}
    rows: list[Judgement] = []
    texts = []
    for level in levels:
        name = f"{item.id}-level-{level}" if "segment" in item.fields else f"level-{level}"
        picks = _level(answer, level, name, known, {row.item for row in rows})
        rows += picks
        if rules is not None:
            texts += _rationale(_entries(answer, level), name, picks, rules)
    return rows + texts


def written(task: Task, item: Item, reply: Reply) -> dict[str, Any] | None:
    """What judges are shown. Of a set the text of every level and its categories as the model picked them, those that
    break a rule among them; of a merchant all that is known of it, its level and the reasons. `true_completeness`: a
    point per dimension that a text speaks to, of 10, by the task's rules, if it has any. None where a text lacks."""
    alone = "merchant" in item.fields
    try:
        answer = reading.json_value(reply, dict if alone else list)
    except reading.Unreadable:
        return None
    if alone:
        label = next((entry["label"] for entry in task.data["level"] if entry["level"] == answer.get("level")), None)
        text = _on_one_line(answer)
        shown = {"level": answer.get("level"), "label": label, "rationale": text}
        return {**item.fields, **shown, **_points(task, [text])} if label and text else None
    names = {row["mcc"]: row["name"] for row in item.fields["mccs"]}
    levels = []
    for level in task.data["level"]:
        entry = next(iter(_entries(answer, level["level"])), {})
        mccs = [{"mcc": code, "name": names[code]} for code in entry.get("mccs") or () if code in names]
        known = {"level": level["level"], "label": level["label"]}
        levels.append({**known, "rationale": _on_one_line(entry), "mccs": mccs})
    if not all(level["rationale"] for level in levels):
        return None
    segment = {"segment": item.fields["segment"]["label"]} if "segment" in item.fields else {}
    return {**segment, "rationales": levels, **_points(task, [level["rationale"] for level in levels])}


def _on_one_line(entry: Mapping[str, Any]) -> str:
    return " ".join(str(entry.get("rationale") or "").split())


def _levels(task: Task) -> list[int]:
    return [int(entry["level"]) for entry in task.data["level"]]


def _points(task: Task, texts: Sequence[str]) -> dict[str, float]:
    rules = rules_of(task)
    if rules is None:
        return {}
    points = sum(len(rules.addressed(text)) for text in texts)
    return {"true_completeness": round(10 * points / (len(rules.dimensions) * len(texts)), 1)}


def _entries(answer: list[Any], level: int) -> list[dict[str, Any]]:
    return [e for e in answer if isinstance(e, dict) and e.get("level") == level and e["level"] is not True]


def _level(answer: list[Any], level: int, name: str, known: set[int], taken: set[str | None]) -> list[Judgement]:
    entries = _entries(answer, level)
    picks = entries[0].get("mccs") if len(entries) == 1 else None
    if len(entries) != 1:
        why = f"{len(entries)} entries, one is wanted"
    elif not isinstance(picks, list) or len(picks) != PICKS_PER_LEVEL or len(set(map(repr, picks))) != len(picks):
        why = f"mccs is not a list of {PICKS_PER_LEVEL} different codes"
    elif strange := [p for p in picks if isinstance(p, bool) or not isinstance(p, int) or p not in known]:
        why = f"{', '.join(map(repr, strange))[:120]} is not a code of the table"
    elif again := [p for p in picks if str(p) in taken]:
        why = f"{again[0]} was already put on another level"
    else:
        return [Judgement(CRITERION, score=float(level), item=str(pick)) for pick in picks]
    return [Judgement(CRITERION, status="unparsed", why=f"level {level}: {why}", item=name)]


def _rationale(
    entries: Sequence[Mapping[str, Any]], name: str, picks: Sequence[Judgement], rules: RationaleRules
) -> list[Judgement]:
    """The text of one level, and what it keeps to; a level without an entry of its own keeps to nothing."""
    text = entries[0].get("rationale") if len(entries) == 1 else None
    if not isinstance(text, str) or not text.strip():
        return [Judgement(RATIONALE, status="unparsed", why=f"{name}: there is no rationale", item=name)]
    why = next((pick.why for pick in picks if pick.why), "")
    breaches = {THREE: why.partition(": ")[2], **rules.breaches(text)}
    judgements = [Judgement(RULE + rule, response=breaches[rule] or KEPT, item=name) for rule in (THREE, *RULES)]
    return [Judgement(RATIONALE, response=text.strip(), item=name), *judgements]


@lru_cache
def _table(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [{"mcc": int(row["mcc"]), "name": row["name"]} for row in csv.DictReader(file)]
    except (OSError, KeyError, TypeError, ValueError) as error:
        what = f"not a table of categories with the columns mcc and name ({type(error).__name__}: {error})"
        raise RecuseError(f"{path}: {what}") from None


@lru_cache
def _merchants(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [dict(row) for row in csv.DictReader(file)]
    except (OSError, ValueError) as error:
        raise RecuseError(f"{path}: not a table of merchants ({error}); it has the columns id and name") from None
    names = [row.get("id") for row in rows]
    if not rows or not all(row.get("id") and row.get("name") for row in rows) or len(set(names)) < len(names):
        raise RecuseError(f"{path}: a merchant a line, each with an id of its own and a name; got {len(rows)} lines")
    return rows


# --------------------------------------------------------------------------- what a written risk rationale keeps to
# Merchant-risk paper, sec. 2.1. Words find a mention, however thin; they say nothing of whether it is right.

RULES = ("written", "dimensions", "plain figures", "plain words", "length")  # of each level's text

NUMBER = re.compile(r"\d[\d.,]*%?|per ?cent\w*", re.IGNORECASE)


@dataclass(frozen=True)
class RationaleRules:
    """`dimensions`: dimension -> the beginnings of words that speak of it; `jargon`: beginnings of words to avoid;
    `longest`: most words of a rationale."""

    dimensions: Mapping[str, re.Pattern[str]]
    jargon: re.Pattern[str] | None
    longest: int

    def addressed(self, text: str) -> tuple[str, ...]:
        """The dimensions that a text speaks to."""
        return tuple(name for name, words in self.dimensions.items() if words.search(text))

    def breaches(self, text: str) -> dict[str, str]:
        """Rule -> what breaks it, in words; the empty text where it is kept."""
        words, addressed = len(text.split()), self.addressed(text)
        missing = [name for name in self.dimensions if name not in addressed]
        figures = NUMBER.findall(text)
        jargon = self.jargon.findall(text) if self.jargon else []
        return {
            "written": "" if re.search(r"\w{2}", text) else "there is no text",
            "dimensions": f"says nothing of {', '.join(missing)}" if missing else "",
            "plain figures": f"gives figures: {', '.join(dict.fromkeys(figures))}" if figures else "",
            "plain words": f"uses {', '.join(dict.fromkeys(map(str.lower, jargon)))}" if jargon else "",
            "length": f"has {words} words, {self.longest} are allowed" if words > self.longest else "",
        }


def rules_of(task: Task) -> RationaleRules | None:
    """The rules of a task; None where it has none. `RecuseError` for a file that cannot be read as rules."""
    path = (task.folder / task.data.get("rules", "rules.toml")).resolve()
    return _rules(path, path.stat().st_mtime_ns) if path.is_file() else None


@lru_cache(maxsize=8)
def _rules(path: Path, changed: int) -> RationaleRules:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        jargon = list(data.get("jargon", {}).get("words", ()))
        dimensions = {str(name): _beginnings(words) for name, words in data["dimensions"].items()}
        return RationaleRules(dimensions, _beginnings(jargon) if jargon else None, int(data["longest_words"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecuseError(
            f"{path}: not a file of rules ({type(error).__name__}: {error}); it has longest_words, [dimensions] with "
            "the beginnings of words for each, and [jargon] with words"
        ) from None


def _beginnings(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"\b{re.escape(word)}" for word in words), re.IGNORECASE)
