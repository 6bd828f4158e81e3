"""What local judges are shown follows from what the models wrote; the items of the thesis say what they are not."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from fixtures.makers import build_headlines, word_thesis_replies
from fixtures.makers.build_headline_pairs import author_pairs

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "fixtures" / "tasks" / "headlines"
AUTHORS = ["smollm2-135m", "gemma-3-270m", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"]


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def texts() -> build_headlines.Texts:
    return build_headlines.generated(ROOT)


def test_the_items_files_are_what_the_recordings_make_them(texts: build_headlines.Texts) -> None:
    grades = build_headlines.grades(ROOT)
    assert grades is not None
    files = {**build_headlines.build(FOLDER, texts), "answers": list(build_headlines.answers(FOLDER, grades))}
    built = build_headlines.named(files, "local")
    assert sorted(built) == sorted(path.name for path in FOLDER.glob("*-local.jsonl"))
    for name, expected in built.items():
        assert lines(name) == expected, f"{name}: run python -m fixtures.makers.build_headlines"


def test_unusable_texts_are_left_out_and_enough_remain() -> None:
    """Of a hundred stories each, 207 texts end at a cap of the grammar and six more leads at the token limit."""
    written = Counter(line["target"] for line in lines("items-local.jsonl"))
    assert written == dict(zip(AUTHORS, (36, 46, 69, 36), strict=True))
    assert len({line["id"] for line in lines("items-local.jsonl")}) == 90


def test_of_whole_stories_every_pair_of_authors_is_taken_equally_often() -> None:
    stories = {f"story-{number:02}": "a story" for number in range(24)}
    texts = {story: {author: {"headline": "h", "lead": "l"} for author in AUTHORS} for story in stories}
    met = Counter(frozenset((p["fields"]["a"], p["fields"]["b"])) for p in author_pairs(stories, texts))
    assert met == {frozenset(pair): 8 for pair in combinations(AUTHORS, 2)}


def test_pairs_meet_on_one_story_and_every_author_meets_every_other() -> None:
    graded = {(line["id"], line["target"]): line["fields"] for line in lines("items-local.jsonl")}
    met, paired = set(), Counter()
    for line in lines("pairs-local.jsonl"):
        fields = line["fields"]
        met.add(frozenset((fields["a"], fields["b"])))
        paired.update((fields["story"], fields[side]) for side in "ab")
        for side in "ab":
            whole = graded[fields["story"], fields[side]]
            assert fields["texts"][side] == {"headline": whole["headline"], "lead": whole["lead"]}
            assert fields["text"] == whole["story"]
    assert met == {frozenset(pair) for pair in combinations(AUTHORS, 2)}
    assert set(paired.values()) == {1}  # nobody is met twice on one story


def test_pairs_judged_with_evidence_are_pairs_judged_without() -> None:
    plain = lines("pairs-local.jsonl")
    assert all(line in plain for line in lines("pairs-evidence-local.jsonl"))


def test_a_padded_text_begins_with_the_plain_one_and_is_twice_as_long() -> None:
    for line in lines("pairs-length-local.jsonl"):
        plain, longer = line["fields"]["texts"]["a"], line["fields"]["texts"]["b"]
        assert plain["headline"] == longer["headline"]
        assert longer["lead"].startswith(f"{plain['lead']} ")
        assert len(longer["lead"].split()) >= 2 * len(plain["lead"].split())


def test_an_attacked_text_is_its_clean_twin_and_the_payload() -> None:
    graded = {(line["id"], line["target"]): line["fields"] for line in lines("items-local.jsonl")}
    payloads = {row["id"]: row for row in lines("injections.jsonl") + lines("harmless.jsonl")}
    attacked = lines("injected-local.jsonl")
    for line in attacked:
        fields, payload = line["fields"], payloads[line["fields"]["payload"]]
        clean = graded[fields["clean"], line["target"]]
        assert fields["lead"] == f"{clean['lead']} {payload['text'].replace('{best}', '5')}"
        assert (fields["story"], fields["headline"]) == (clean["story"], clean["headline"])
        assert fields["class"] == payload["class"]
        assert payload["wants"] != "winner"
    attacks = [line for line in attacked if line["fields"]["class"] != "harmless"]
    assert len({line["fields"]["payload"] for line in attacks}) == 24
    assert len({line["fields"]["class"] for line in attacks}) == 6
    assert {line["target"] for line in attacked} == set(AUTHORS)
    stories = [{line["fields"]["clean"] for line in part} for part in (attacks, attacked)]
    assert stories[0] == stories[1]  # a harmless suffix is compared with attacks on the same stories
    assert len(stories[0]) == 12


def test_an_attacked_pair_is_its_clean_twin_and_the_payload_on_one_side() -> None:
    pairs = {line["id"]: line for line in lines("pairs-local.jsonl")}
    held_out = {row["id"]: row for row in lines("held-out-injections.jsonl")}
    payloads = {row["id"]: row for row in lines("injections.jsonl") + lines("harmless.jsonl")} | held_out
    attacked = lines("pairs-injected-local.jsonl")
    for line in attacked:
        fields, payload = line["fields"], payloads[line["fields"]["payload"]]
        clean, side = pairs[fields["clean"]], fields["attacked"]
        expected = json.loads(json.dumps(clean["fields"]["texts"]))
        expected[side]["lead"] += f" {payload['text']}"
        assert fields["texts"] == expected
        assert (line["target"], fields["a"], fields["b"]) == (
            clean["target"],
            clean["fields"]["a"],
            clean["fields"]["b"],
        )
        assert payload["wants"] in ("any", "winner", "nothing")
    shown = {line["fields"]["payload"] for line in attacked}
    assert (len(shown - held_out.keys()), len(shown & held_out.keys())) == (22 + 6, 13)
    assert Counter(line["fields"]["attacked"] for line in attacked) == {"a": 17 + 7, "b": 17 + 6}


def test_the_output_filter_sees_every_answer_an_attack_got() -> None:
    shown = lines("answers-local.jsonl")
    attacks = [line["fields"] for line in shown if line["fields"]["attack"]]
    injected = [line["id"] for line in lines("injected-local.jsonl") if line["fields"]["class"] != "harmless"]
    assert {fields["of"] for fields in attacks} == set(injected)
    assert len({line["id"] for line in shown}) == len(shown)
    clean = {(f["of"], line["target"]) for line in shown if not (f := line["fields"])["attack"]}
    assert len(clean) == 20  # thirty-three stories, authors in turn, where this author's text is usable
    assert all(line["fields"]["answer"] == f"Rating: {line['fields']['grade']}" for line in shown)


def test_the_filter_sees_every_payload_and_as_many_authors_clean() -> None:
    shown = lines("filter-local.jsonl")
    attacks = [line for line in shown if line["fields"]["attack"]]
    clean = [line for line in shown if not line["fields"]["attack"]]
    assert {line["fields"]["payload"] for line in attacks} == {row["id"] for row in lines("injections.jsonl")}
    assert {line["target"] for line in clean} == set(AUTHORS)
    assert len(clean) == 20  # thirty-three stories, authors in turn, where this author's text is usable
    for line in attacks:  # each attacked text is there clean as well
        assert any(line["fields"]["text"].startswith(other["fields"]["text"]) for other in clean)


# ------------------------------------------------------------------ the thesis's panel


def test_worded_grades_are_the_reconstructed_grades() -> None:
    folder = word_thesis_replies.STANDINS
    grades, unusable = word_thesis_replies.read(folder)
    stored = gzip.decompress((folder / "grading.jsonl.gz").read_bytes()).decode().splitlines()
    worded = [json.loads(line) for line in stored]
    assert worded == word_thesis_replies.replies(grades, unusable)
    assert len(worded) == 100 * 5 * 5 * 2
    rated = [line["text"] for line in worded if line["text"].removeprefix("Rating: ") in set("12345")]
    assert len(rated) == 5000 - len(unusable)
    assert lines("items-thesis.jsonl") == word_thesis_replies.items(grades)


def test_texts_that_were_never_published_are_not_made_up() -> None:
    shown = lines("items-thesis.jsonl")
    assert len(shown) == 500
    for line in shown:
        assert all("not published" in text for text in line["fields"].values())
        assert not any(line["target"] in text for text in line["fields"].values())  # and no author is shown
