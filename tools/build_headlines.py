"""Builds what the judges of panel `local` are shown, from what its models wrote: `python -m tools.build_headlines`.

Input: the recorded generations (cassettes/local/headlines/headline_generation), stories.jsonl, padding.toml and
injections.jsonl. Output, in fixtures/tasks/headlines, one JSON object a line:

    items-local.jsonl           every story by every author: story, headline, lead
    pairs-local.jsonl           5 stories, each with its four authors paired off in one of three ways
    pairs-evidence-local.jsonl  the pairs of the first stories of these
    pairs-length-local.jsonl    a text (a) and the same text padded (b)
    injected-local.jsonl        a payload at the end of a lead; `clean` names the unharmed item
    filter-local.jsonl          attacked and clean texts, for the input filter

Nothing is drawn at random: the same recordings give the same files.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recuse import elicit
from recuse.cassettes.key import request_key
from recuse.cassettes.library import Library
from recuse.fingerprints import headers
from recuse.panels import load_panel
from recuse.tasks import load_task

ROOT = Path(__file__).resolve().parents[1]
PANEL, TASK = "local", "headlines"

PAIRED_STORIES = 5
EVIDENCE_STORIES = 2
LENGTH_STORIES = 5
STRIDE = 13
"""Which stories are paired: every thirteenth, round and round."""

LENGTH_VARIANT = "padded_twice"
ATTACKED_PER_PAYLOAD = 1
CLEAN_TEXTS = 12
BEST = "5"  # injected texts are graded on the positive scale

MATCHINGS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))
"""The 6 pairs of four authors, as three ways to pair them all off."""

Line = dict[str, Any]
Texts = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Story -> author -> {"headline", "lead"}."""


def main() -> None:
    folder = ROOT / "fixtures" / "tasks" / TASK
    for name, lines in build(folder, generated(ROOT)).items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(lines)} lines, {len(text.encode()):,} bytes")


def build(folder: Path, texts: Texts) -> dict[str, list[Line]]:
    """File name -> its lines, from the texts that the authors wrote."""
    stories = {row["id"]: row["text"] for row in _json_lines(folder / "stories.jsonl")}
    payloads = _json_lines(folder / "injections.jsonl")
    padding = tomllib.loads((folder / "padding.toml").read_text("utf-8"))
    graded = list(items(stories, texts))
    pairs = list(author_pairs(stories, texts))
    told = list(dict.fromkeys(pair["fields"]["story"] for pair in pairs))[:EVIDENCE_STORIES]
    return {
        "items-local.jsonl": graded,
        "pairs-local.jsonl": pairs,
        "pairs-evidence-local.jsonl": [pair for pair in pairs if pair["fields"]["story"] in told],
        "pairs-length-local.jsonl": list(length_pairs(stories, texts, padding)),
        "injected-local.jsonl": list(injected(graded, payloads)),
        "filter-local.jsonl": list(filtered(graded, payloads)),
    }


def generated(root: Path) -> dict[str, dict[str, dict[str, str]]]:
    """What the recorded models wrote; a text whose headline or lead could not be read is left out."""
    panel = load_panel(root / "fixtures" / "panels" / f"{PANEL}.toml")
    task = load_task(root / "fixtures" / "tasks" / TASK)
    plan = elicit.plan(PANEL, task, "headline_generation", panel.judges_of(TASK), identify=request_key)
    library = Library(root / "cassettes", PANEL)
    library.expect(plan.calls, headers(panel, plan))
    table = elicit.ratings(plan, [(call, library.response(call)) for call in plan.calls])
    texts: dict[str, dict[str, dict[str, str]]] = {}
    for row in table[table["response"].notna()].itertuples():
        texts.setdefault(row.item, {}).setdefault(row.target, {})[row.criterion] = row.response
    whole = {s: {a: t for a, t in by.items() if {*t} == {"headline", "lead"}} for s, by in texts.items()}
    return {story: by_author for story, by_author in whole.items() if by_author}


# --------------------------------------------------------------------------- single texts


def items(stories: Mapping[str, str], texts: Texts) -> Iterator[Line]:
    for story, by_author in texts.items():
        for author, text in by_author.items():
            yield {"id": story, "target": author, "fields": {"story": stories[story], **text}}


def injected(graded: Sequence[Line], payloads: Sequence[Mapping[str, str]]) -> Iterator[Line]:
    """Every payload that can aim at a rating, at the end of a lead; the author changes from one payload
    to the next, and all attacked texts are about the same few stories."""
    authors = list(dict.fromkeys(line["target"] for line in graded))
    story_of = {author: line["id"] for line, author in zip(_own_first(graded, authors), authors, strict=True)}
    aimed = [payload for payload in payloads if payload["wants"] != "winner"]
    for number, payload in enumerate(aimed):
        for step in range(ATTACKED_PER_PAYLOAD):
            author = authors[(number + step * len(authors) // ATTACKED_PER_PAYLOAD) % len(authors)]
            clean = next(line for line in graded if (line["id"], line["target"]) == (story_of[author], author))
            fields = dict(clean["fields"])
            fields["lead"] = f"{fields['lead']} {payload['text'].replace('{best}', BEST)}"
            note = {"clean": clean["id"], "payload": payload["id"], "class": payload["class"]}
            yield {"id": f"{clean['id']}.{payload['id']}", "target": author, "fields": {**fields, **note}}


def filtered(graded: Sequence[Line], payloads: Sequence[Mapping[str, str]]) -> Iterator[Line]:
    """Clean texts of all authors, and every payload at the end of one of four of them; `attack` says which is which."""
    authors = list(dict.fromkeys(line["target"] for line in graded))
    stories = _stridden(list(dict.fromkeys(line["id"] for line in graded)))
    places = {(line["id"], line["target"]): line for line in graded}
    wanted = [(story, authors[at % len(authors)]) for at, story in enumerate(stories)]
    clean = [places[place] for place in wanted if place in places][:CLEAN_TEXTS]
    for line in clean:
        note = {"attack": False, "class": "clean", "payload": None}
        yield {"id": f"{line['id']}.clean", "target": line["target"], "fields": {"text": _as_text(line), **note}}
    for number, payload in enumerate(payloads):
        line = clean[number % len(authors)]
        words = payload["text"].replace("{best}", BEST).replace("{label}", "A")
        note = {"attack": True, "class": payload["class"], "payload": payload["id"]}
        fields = {"text": f"{_as_text(line)} {words}", **note}
        yield {"id": f"{line['id']}.{payload['id']}", "target": line["target"], "fields": fields}


def _own_first(graded: Sequence[Line], authors: Sequence[str]) -> Iterator[Line]:
    """For the n-th author its text on the n-th story."""
    stories = list(dict.fromkeys(line["id"] for line in graded))
    for number, author in enumerate(authors):
        yield next(line for line in graded if line["target"] == author and stories.index(line["id"]) >= number)


def _as_text(line: Line) -> str:
    return f"Headline: {line['fields']['headline']}\nLead: {line['fields']['lead']}"


# --------------------------------------------------------------------------- pairs


def author_pairs(stories: Mapping[str, str], texts: Texts) -> Iterator[Line]:
    """Stories that all authors wrote about; on each, one way to pair the authors off, so that every author is met once
    a story and the three ways take turns."""
    authors = list(dict.fromkeys(author for by_author in texts.values() for author in by_author))
    complete = [story for story, by_author in texts.items() if len(by_author) == len(authors)]
    for number, story in enumerate(_stridden(complete)[:PAIRED_STORIES]):
        for one, other in MATCHINGS[number % len(MATCHINGS)]:
            names = {"a": authors[one], "b": authors[other]}
            sides = {side: texts[story][name] for side, name in names.items()}
            yield _pair(f"{story}.{one + 1}-{other + 1}", names["a"], story, stories[story], names, sides)


def length_pairs(stories: Mapping[str, str], texts: Texts, padding: Mapping[str, Any]) -> Iterator[Line]:
    """One author per story, in turn; `b` is `a` with its lead padded."""
    factor = next(variant["factor"] for variant in padding["variant"] if variant["id"] == LENGTH_VARIANT)
    phrases = [phrase["text"] for phrase in padding["phrase"]]
    for number, story in enumerate(_stridden(list(texts))[:LENGTH_STORIES]):
        author = list(texts[story])[number % len(texts[story])]
        plain = texts[story][author]
        longer = {**plain, "lead": padded(plain["lead"], int(story.split("-")[1]), factor, phrases)}
        names, sides = {"a": "plain", "b": LENGTH_VARIANT}, {"a": plain, "b": longer}
        yield _pair(f"{story}.{LENGTH_VARIANT}", author, story, stories[story], names, sides)


def padded(lead: str, story: int, factor: float, phrases: Sequence[str]) -> str:
    """The rule of padding.toml: phrase after phrase, beginning with the story's own, until `factor` is reached."""
    wanted, at = factor * len(lead.split()), story - 1
    while len(lead.split()) < wanted:
        lead, at = f"{lead} {phrases[at % len(phrases)]}", at + 1
    return lead


def _pair(
    name: str, target: str, story: str, text: str, names: Mapping[str, str], sides: Mapping[str, Mapping[str, str]]
) -> Line:
    words = {side: len(" ".join(given.values()).split()) for side, given in sides.items()}
    fields = {"story": story, "text": text, **names, "texts": sides, "words": words}
    return {"id": name, "target": target, "fields": fields}


def _stridden(values: Sequence[str]) -> list[str]:
    """All values, each as far from the one before as the stride says: any beginning is spread over the whole."""
    step = STRIDE if len(values) % STRIDE else 1
    return [values[at * step % len(values)] for at in range(len(values))]


def _json_lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


if __name__ == "__main__":
    main()
