"""Builds what scripted judges are shown on headlines: `python -m tools.build_planted_items`.

Scripted judges read no text; they know how good each is. So these items are the placeholders of items-thesis.jsonl (100
stories by five authors), and say who meets whom, which text is padded and which carries a payload:

    pairs-planted.jsonl          40 stories, five of the ten pairs of authors each, every pair on twenty
    pairs-length-planted.jsonl   the first text of each of these stories (a) and the same text padded (b)
    injected-planted.jsonl       every payload that aims at a rating, on two stories; `clean` names the unharmed item

Nothing is drawn at random.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from tools.build_headlines import padded

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "tasks" / "headlines"

STORIES = 40
PAIRS_PER_STORY = 5
ATTACKED_PER_PAYLOAD = 2
FACTOR = 2.0  # of words, for the padded twin

Line = dict[str, Any]


def main() -> None:
    for name, lines in build(FOLDER).items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(lines)} lines, {len(text.encode()):,} bytes")


def build(folder: Path) -> dict[str, list[Line]]:
    """File name -> its lines."""
    texts: dict[str, dict[str, Line]] = {}
    for line in _json_lines(folder / "items-thesis.jsonl"):
        texts.setdefault(line["id"], {})[line["target"]] = line["fields"]
    phrases = [phrase["text"] for phrase in tomllib.loads((folder / "padding.toml").read_text("utf-8"))["phrase"]]
    return {
        "pairs-planted.jsonl": list(author_pairs(texts)),
        "pairs-length-planted.jsonl": list(length_pairs(texts, phrases)),
        "injected-planted.jsonl": list(injected(texts, _json_lines(folder / "injections.jsonl"))),
    }


def author_pairs(texts: Mapping[str, Mapping[str, Line]]) -> Iterator[Line]:
    for number, story in enumerate(list(texts)[:STORIES]):
        pairs = list(combinations(texts[story], 2))
        for step in range(PAIRS_PER_STORY):
            a, b = pairs[(number * PAIRS_PER_STORY + step) % len(pairs)]
            sides = {"a": texts[story][a], "b": texts[story][b]}
            yield _pair(f"{story}.{step + 1}", a, story, {"a": a, "b": b}, sides)


def length_pairs(texts: Mapping[str, Mapping[str, Line]], phrases: Sequence[str]) -> Iterator[Line]:
    for number, story in enumerate(list(texts)[:STORIES]):
        author = list(texts[story])[number % len(texts[story])]
        plain = texts[story][author]
        longer = {**plain, "lead": padded(plain["lead"], number + 1, FACTOR, phrases)}
        names = {"a": "plain", "b": "padded"}
        yield _pair(f"{story}.padded", author, story, names, {"a": plain, "b": longer})


def injected(texts: Mapping[str, Mapping[str, Line]], payloads: Sequence[Mapping[str, str]]) -> Iterator[Line]:
    stories = list(texts)
    aimed = [payload for payload in payloads if payload["wants"] != "winner"]
    for number, payload in enumerate(aimed):
        for step in range(ATTACKED_PER_PAYLOAD):
            story = stories[number * ATTACKED_PER_PAYLOAD + step]
            author = list(texts[story])[(number + step) % len(texts[story])]
            clean = texts[story][author]
            fields = {**clean, "lead": f"{clean['lead']} {payload['text'].replace('{best}', '5')}"}
            note = {"clean": story, "payload": payload["id"], "class": payload["class"]}
            yield {"id": f"{story}.{payload['id']}", "target": author, "fields": {**fields, **note}}


def _pair(name: str, target: str, story: str, names: Mapping[str, str], sides: Mapping[str, Line]) -> Line:
    told = {side: {part: fields[part] for part in ("headline", "lead")} for side, fields in sides.items()}
    words = {side: len(" ".join(parts.values()).split()) for side, parts in told.items()}
    fields = {"story": story, "text": sides["a"]["story"], **names, "texts": told, "words": words}
    return {"id": name, "target": target, "fields": fields}


def _json_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


if __name__ == "__main__":
    main()
