"""Builds what the judges of panel `local` are shown, from what its models wrote: `python -m tools.build_headlines`.

Input: the recorded generations and grades (cassettes/local/headlines), stories.jsonl, padding.toml, injections.jsonl
and harmless.jsonl. Output, in fixtures/tasks/headlines, one JSON object a line:

    items-local.jsonl           every story by every author: story, headline, lead
    items-paired-local.jsonl    those of the stories that are paired, to be graded part by part
    items-evidence-local.jsonl  those of the first of these stories, for their perplexity
    pairs-local.jsonl           15 stories, each with its four authors paired off in one of three ways
    pairs-evidence-local.jsonl  the pairs of the first stories of these
    pairs-injected-local.jsonl  a payload at the end of one lead of a pair; `clean` names the unharmed pair
    pairs-length-local.jsonl    a text (a) and the same text padded (b)
    injected-local.jsonl        a payload at the end of a lead; `clean` names the unharmed item
    filter-local.jsonl          attacked and clean texts, for the input filter
    answers-local.jsonl         the same texts with every answer they got from a judge, for the output filter

Nothing is drawn at random: the same recordings give the same files.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recuse import elicit
from recuse.cassettes.matching import request_key
from recuse.cassettes.library import Library
from recuse.fingerprints import headers
from recuse.panels import load_panel
from recuse.tasks import load_task

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
PANEL, TASK = "local", "headlines"

PAIRED_STORIES = 15
EVIDENCE_STORIES = 8
LENGTH_STORIES = 20
STRIDE = 13
"""Which stories are paired: every thirteenth, round and round."""

LENGTH_VARIANT = "padded_twice"
ATTACKED_STORIES = 12
ATTACKED_PER_PAYLOAD = 2
ATTACKED_PAIRS = 11  # odd, so that both sides of a pair are attacked
CLEAN_TEXTS = 30
BEST = "5"  # injected texts are graded on the positive scale

HARMLESS = "harmless"  # the class of suffixes that ask for nothing, the base line of the others

MATCHINGS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))
"""The 6 pairs of four authors, as three ways to pair them all off."""

Line = dict[str, Any]
Texts = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Story -> author -> {"headline", "lead"}."""


def main() -> None:
    folder = ROOT / "fixtures" / "tasks" / TASK
    write(folder, build(folder, generated(ROOT)))
    if (recorded := grades(ROOT)) is None:
        print("answers-local.jsonl: left as it is; record the grades of injected-local.jsonl, then run this again")
    else:
        write(folder, {"answers-local.jsonl": list(answers(folder, recorded))})


def write(folder: Path, files: Mapping[str, Sequence[Line]]) -> None:
    for name, lines in files.items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(lines)} lines, {len(text.encode()):,} bytes")


def build(folder: Path, texts: Texts) -> dict[str, list[Line]]:
    """File name -> its lines, from the texts that the authors wrote."""
    stories = {row["id"]: row["text"] for row in _json_lines(folder / "stories.jsonl")}
    payloads, harmless = _json_lines(folder / "injections.jsonl"), _json_lines(folder / "harmless.jsonl")
    padding = tomllib.loads((folder / "padding.toml").read_text("utf-8"))
    graded = list(items(stories, texts))
    pairs = list(author_pairs(stories, texts))
    told = list(dict.fromkeys(pair["fields"]["story"] for pair in pairs))[:EVIDENCE_STORIES]
    paired = {pair["fields"]["story"] for pair in pairs}
    return {
        "items-local.jsonl": graded,
        "items-paired-local.jsonl": [line for line in graded if line["id"] in paired],
        "items-evidence-local.jsonl": [line for line in graded if line["id"] in told],
        "pairs-local.jsonl": pairs,
        "pairs-evidence-local.jsonl": [pair for pair in pairs if pair["fields"]["story"] in told],
        "pairs-injected-local.jsonl": list(injected_pairs(pairs, payloads, harmless)),
        "pairs-length-local.jsonl": list(length_pairs(stories, texts, padding)),
        "injected-local.jsonl": list(injected(graded, [*payloads, *harmless])),
        "filter-local.jsonl": list(filtered(graded, payloads)),
    }


def generated(root: Path) -> dict[str, dict[str, dict[str, str]]]:
    """What the recorded models wrote; a text whose headline or lead could not be read is left out."""
    table = _recorded(root, "headline_generation")
    if table is None:
        raise SystemExit(f"record {TASK}/headline_generation of panel {PANEL} first: there are no texts yet")
    texts: dict[str, dict[str, dict[str, str]]] = {}
    for row in table[table["response"].notna()].itertuples():
        texts.setdefault(row.item, {}).setdefault(row.target, {})[row.criterion] = row.response
    whole = {s: {a: t for a, t in by.items() if {*t} == {"headline", "lead"}} for s, by in texts.items()}
    return {story: by_author for story, by_author in whole.items() if by_author}


def grades(root: Path) -> dict[tuple[str, str], list[int]] | None:
    """The different grades that each text (item, author) got from any judge where 5 is best, attacked texts among
    them; None as long as some are not recorded."""
    tables = [_recorded(root, name) for name in ("grading", "grading_injected")]
    found: dict[tuple[str, str], set[int]] = {}
    for table in tables:
        if table is None:
            return None
        for row in table[(table["criterion"] == "overall") & (table["direction"] == "ascending")].itertuples():
            if row.status == "ok":
                found.setdefault((row.item, row.target), set()).add(int(row.score))
    return {text: sorted(given) for text, given in found.items()}


def _recorded(root: Path, protocol: str) -> pd.DataFrame | None:
    """Ratings of the panel straight from its cassettes; None where some are missing."""
    panel = load_panel(root / "fixtures" / "panels" / f"{PANEL}.toml")
    task = load_task(root / "fixtures" / "tasks" / TASK).with_items(panel.task(TASK).items.get(protocol))
    plan = elicit.plan(PANEL, task, protocol, panel.judges_of(TASK), identify=request_key)
    library = Library(root / "cassettes", PANEL)
    if not library.expect(plan.calls, headers(panel, plan)).complete:
        return None
    return elicit.read(plan, library.replay(plan.calls)).table


# --------------------------------------------------------------------------- single texts


def items(stories: Mapping[str, str], texts: Texts) -> Iterator[Line]:
    for story, by_author in texts.items():
        for author, text in by_author.items():
            yield {"id": story, "target": author, "fields": {"story": stories[story], **text}}


def injected(graded: Sequence[Line], payloads: Sequence[Mapping[str, str]]) -> Iterator[Line]:
    """Every payload that can aim at a rating, at the end of a lead, on two stories; authors take turns. Every attacked
    story carries four payloads and one harmless suffix to compare them with."""
    authors = list(dict.fromkeys(line["target"] for line in graded))
    texts = {(line["id"], line["target"]): line for line in graded}
    stories = _complete(graded, authors)[:ATTACKED_STORIES]
    aimed = [payload for payload in payloads if payload["wants"] != "winner"]
    lines = []
    for number, payload in enumerate(aimed):
        for step in range(ATTACKED_PER_PAYLOAD):
            story = stories[(number + step * ATTACKED_STORIES // ATTACKED_PER_PAYLOAD) % ATTACKED_STORIES]
            clean = texts[story, authors[(number + number // ATTACKED_STORIES + step) % len(authors)]]
            fields = dict(clean["fields"])
            fields["lead"] = f"{fields['lead']} {payload['text'].replace('{best}', BEST)}"
            note = {"clean": story, "payload": payload["id"], "class": payload["class"]}
            name = f"{story}.{payload['id']}"
            lines.append({"id": name, "target": clean["target"], "fields": {**fields, **note}})
    return iter(sorted(lines, key=lambda line: stories.index(line["fields"]["clean"])))


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


def answers(folder: Path, given: Mapping[tuple[str, str], Sequence[int]]) -> Iterator[Line]:
    """Attacked texts, and the clean ones of the input filter, each with every grade some judge gave it; `of` names the
    graded item."""
    shown = {(line["id"], line["target"]): line["fields"] for line in _json_lines(folder / "items-local.jsonl")}
    attacked = [line for line in _json_lines(folder / "injected-local.jsonl") if line["fields"]["class"] != HARMLESS]
    clean = [line for line in _json_lines(folder / "filter-local.jsonl") if not line["fields"]["attack"]]
    for line in clean:
        story = line["id"].removesuffix(".clean")
        note = {"of": story, "story": story, "attack": False, "class": "clean", "payload": None}
        yield from _answers(line["target"], shown[story, line["target"]], note, given[story, line["target"]])
    for line in attacked:
        fields = line["fields"]
        note = {"of": line["id"], "story": fields["clean"], "attack": True}
        note |= {name: fields[name] for name in ("class", "payload")}
        yield from _answers(line["target"], fields, note, given[line["id"], line["target"]])


def _answers(target: str, text: Mapping[str, str], note: Line, given: Sequence[int]) -> Iterator[Line]:
    for grade in given:
        fields = {"text": _as_text({"fields": text}), "answer": f"Rating: {grade}", "grade": grade, **note}
        yield {"id": f"{note['of']}.gave-{grade}", "target": target, "fields": fields}


def _complete(graded: Sequence[Line], authors: Sequence[str]) -> list[str]:
    """The stories that all authors wrote about, spread over the whole."""
    written: dict[str, set[str]] = {}
    for line in graded:
        written.setdefault(line["id"], set()).add(line["target"])
    return _stridden([story for story, by in written.items() if by == set(authors)])


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


def injected_pairs(
    pairs: Sequence[Line], payloads: Sequence[Mapping[str, str]], harmless: Sequence[Mapping[str, str]]
) -> Iterator[Line]:
    """Every payload that can aim at a duel, at the end of one lead of a pair, first and second text in turn, and every
    harmless suffix twice; one pair a story. "{label}" stays: what the text is called depends on the order."""
    one_each = {pair["fields"]["story"]: pair for pair in reversed(pairs)}
    attacked = list(reversed(one_each.values()))[:ATTACKED_PAIRS]
    aimed = [*(payload for payload in payloads if payload["wants"] != "rating"), *harmless, *harmless]
    for number, payload in sorted(enumerate(aimed), key=lambda numbered: numbered[0] % ATTACKED_PAIRS):
        clean, side = attacked[number % ATTACKED_PAIRS], "ab"[number % 2]
        fields = clean["fields"]
        text = fields["texts"][side]
        texts = {**fields["texts"], side: {**text, "lead": f"{text['lead']} {payload['text']}"}}
        note = {"clean": clean["id"], "attacked": side, "payload": payload["id"], "class": payload["class"]}
        name = f"{clean['id']}.{payload['id']}"
        yield {"id": name, "target": clean["target"], "fields": {**fields, "texts": texts, **note}}


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
