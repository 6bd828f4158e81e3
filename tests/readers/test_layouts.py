"""Tables in layouts drawn at random: read as whoever made them means them, or one question is asked. The seed is
RECUSE_LAYOUTS, 0 where nobody says; continuous integration draws another for every run, and prints it."""

from __future__ import annotations

import csv
import io
import os
import re

import numpy as np
import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

FILES = 40
SEED = int(os.environ.get("RECUSE_LAYOUTS", "0"))
PEOPLE = [
    ("anna", "ben"), ("annotator_1", "annotator_2", "annotator_3"), ("human",), ("Expert A", "Expert B"),
    ("reviewer1", "reviewer2"), ("évaluateur_1", "évaluateur_2"), ("Prüfer A", "Prüfer B"), ("評価者1", "評価者2"),
    ("ann@acme.com", "joe.b@acme.com"), ("anotador_1", "anotador_2"), ("valutatore 1", "valutatore 2"),
]  # fmt: skip
JUDGES = [("gpt-4o",), ("llm_judge",), ("claude-3", "gpt-4.1"), ("judge_v2", "judge_v3"), ("juge_gpt4o",), ("LLM評価",)]
ITEMS = ["id", "ticket_id", "Item ID", "example", "qid", "task_id", "uid", "case_no", "Fall-ID", "id_texte"]
SCALES = {
    "1-5": lambda x: int(np.clip(round(3 + x), 1, 5)),
    "0-10": lambda x: int(np.clip(round(5 + 2 * x), 0, 10)),
    "1-5 halves": lambda x: float(np.clip(round(2 * (3 + x)) / 2, 1, 5)),
    "pass or fail": lambda x: "pass" if x > -0.3 else "fail",
    "yes or no": lambda x: "Yes" if x > 0 else "No",
    "0 or 1": lambda x: int(x > 0),
    "good to bad": lambda x: ("bad", "ok", "good")[int(np.clip(round(1 + x), 0, 2))],
    "oui ou non": lambda x: "oui" if x > 0 else "non",
    "none to high": lambda x: ("none", "low", "medium", "high")[int(np.clip(round(1.5 + x), 0, 3))],
    "topics": lambda x: ("refund", "praise", "question", "other")[int(np.clip(round(1.5 + x), 0, 3))],
}
WRITTEN = ["{}", "{}/5", "Rating: {}", "[[{}]]", "{} stars", "**{}**", "{} of 5", "Score: {}/5.", "Grade {}",
           "The reply is polite and says what was asked for.\n\nRating: {}"]  # fmt: skip
LABELLED = ["{}", "Verdict: {}", "**{}**", "[[{}]]", "The reply was read twice and compared.\nVerdict: {}"]
NOISE = {
    "created_at": lambda k, draw: f"2026-03-{k % 28 + 1:02}",
    "latency_ms": lambda k, draw: int(draw.integers(200, 4000)),
    "tokens": lambda k, draw: int(draw.integers(20, 400)),
    "topic": lambda k, draw: ("billing", "login", "orders")[k % 3],
    "reply": lambda k, draw: f"This is the reply to ticket number {k}, with a few words more in it.",
    "notes": lambda k, draw: ("", "ok", "check again")[k % 3],
    "difficulty": lambda k, draw: int(draw.integers(1, 4)),
    "cost_usd": lambda k, draw: f"{draw.random() / 100:.5f}",
    "session_id": lambda k, draw: f"s{k // 3}",
    "export": lambda k, draw: "march",
    "judge_confidence": lambda k, draw: round(0.5 + draw.random() / 2, 2),
    "annotator_count": lambda k, draw: int(draw.integers(2, 5)),
    "model_version": lambda k, draw: ("2026-03", "2026-05")[k % 2],
    "page": lambda k, draw: int(draw.integers(1, 6)),
    "user_id": lambda k, draw: f"u{k % 17}",
    "reviewed": lambda k, draw: ("yes", "no")[int(draw.integers(2))],
    "week": lambda k, draw: k // 20 + 1,
    "is_test": lambda k, draw: 0,
    "needs_review": lambda k, draw: ("no", "yes")[k % 7 == 0],
    "region": lambda k, draw: ("north", "south", "west")[k // 9 % 3],
}


def drawn(seed):
    """(text, truth: (rater, item) -> what it says, kind by rater) of one layout."""
    draw = np.random.default_rng(seed if not SEED else [SEED, seed])
    pick = lambda options: options[int(draw.integers(len(options)))]  # noqa: E731
    people, judges, scale = pick(PEOPLE), pick(JUDGES), SCALES[name := pick(list(SCALES))]
    item, noise = pick(ITEMS), [n for n in NOISE if draw.random() < 0.35]
    quality = draw.normal(size=60)
    write = pick(WRITTEN) if name == "1-5" else pick(LABELLED) if name == "pass or fail" else "{}"
    said = {
        who: [scale(q + 0.6 * draw.normal()) for q in quality] for who in (*people, *judges)
    }  # fmt: skip
    lost = {(who, k) for who in judges for k in range(60) if draw.random() < 0.05}
    facts = [[f"T-{k}", *(NOISE[n](k, draw) for n in noise)] for k in range(60)]
    cell = lambda who, k: "" if (who, k) in lost else write.format(said[who][k]) if who in judges else said[who][k]  # noqa: E731
    raters = [*people, *judges]
    draw.shuffle(raters)
    if draw.random() < 0.5:
        header = [item, *noise, *raters]
        rows = [[*facts[k], *(cell(who, k) for who in raters)] for k in range(60)]
    else:
        who, value = (
            pick(["rater", "annotator", "judge", "evaluator", "Bewerter", "annotateur", "evaluador"]),
            pick(["score", "rating", "label", "verdict", "Punkte", "puntuación"]),
        )
        header = [item, *noise, who, value]
        rows = [[*facts[k], who, cell(who, k)] for k in range(60) for who in raters if (who, k) not in lost]
    stream = io.StringIO()
    csv.writer(stream, delimiter=pick([",", ";", "\t"])).writerows([header, *rows])
    truth = {(who, f"T-{k}"): None if (who, k) in lost else said[who][k] for who in raters for k in range(60)}
    return stream.getvalue(), truth, {who: "judge" if who in judges else "person" for who in raters}


def spelled(value):
    if value is None or value != value:
        return None
    try:
        return float(value)
    except ValueError:
        return str(value).lower()


def wrong(path, truth, kinds):
    """Why a file was misread; "" where it was read right, None where it was asked about."""
    try:
        read = read_file(path)
    except RecuseError as error:
        return None if "--" in str(error) or "scale" in str(error) else f"no option answers: {error}"
    if dict(read.ratings.raters) != kinds:
        return f"raters {dict(read.ratings.raters)} for {kinds}"
    table = read.ratings.table
    if set(table["repeat"]) != {0} or len(read.ratings.headline) != 1:
        return "repeats or criteria"
    value = table["score"].where(table["response"].isna(), table["response"])
    got = {(r, i): spelled(v) for r, i, v in zip(table["rater"], table["item"], value, strict=True)}
    meant = {key: spelled(v) for key, v in truth.items()}
    return "" if got == meant else f"{sum(got.get(k, 0) != v for k, v in meant.items())} cells"


def blocks(first, *slow):
    """Seeds by default, and those of the slow part, which has the first ones as well: two of a block may be asked."""
    return pytest.mark.parametrize("seeds", [first, *(pytest.param(seeds, marks=pytest.mark.slow) for seeds in slow)])


@blocks(range(12), *(range(start, start + FILES) for start in range(0, 13 * FILES, FILES)))
def test_no_layout_is_misread(file, seeds):
    asked, misread = 0, []
    for seed in seeds:
        text, truth, kinds = drawn(seed)
        why = wrong(file(f"{seed}.csv", text), truth, kinds)
        if "anna" in kinds and "judge" in re.split("[,;\t]", text.splitlines()[0]):
            misread += [] if why is None else [f"{seed}: nothing there says whether Anna judges or is a person"]
        elif why is None:
            asked += 1
        elif why:
            misread += [f"{seed}: {why}"]
    assert misread == [], f"RECUSE_LAYOUTS={SEED}"
    assert asked <= 2, f"{asked} of {len(seeds)} were asked about"


@blocks(range(6), range(20))
def test_criteria_and_repeats_in_columns_are_never_misread(file, seeds):
    """rater x criterion x repeat in the names of columns, in either order, by several signs."""
    asked = 0
    for seed in seeds:
        draw = np.random.default_rng([SEED, seed])
        sign, last = draw.choice(["_", " ", "-", ": "]), draw.choice([".{}", "_r{}", "_run{}"])
        criteria = (("tone", "accuracy"), ("clarity", "safety", "style"))[seed % 2]
        people, judge, repeats = PEOPLE[seed % 2], JUDGES[seed % 2][0], int(draw.integers(2, 5))
        said, header = {}, ["item_id"]
        for who in (*people, judge):
            for about in criteria:
                for k in range(repeats if who == judge else 1):
                    name = sign.join((who, about) if seed % 3 else (about, who))
                    header.append(name + (last.format(k + 1) if who == judge else ""))
                    said[who, about, k] = draw.integers(1, 6, size=30)
        rows = [[f"T-{k}", *(values[k] for values in said.values())] for k in range(30)]
        stream = io.StringIO()
        csv.writer(stream).writerows([header, *rows])
        try:
            table = read_file(file(f"{seed}.csv", stream.getvalue())).ratings.table
        except RecuseError as error:
            asked += 1 if "--" in str(error) else len(header)
            continue
        got = {key: list(part["score"]) for key, part in table.groupby(["rater", "criterion", "repeat"], observed=True)}
        assert got == {key: list(values) for key, values in said.items()}, f"RECUSE_LAYOUTS={SEED}, {header}"
    assert asked <= 2, f"RECUSE_LAYOUTS={SEED}: {asked} of {len(seeds)} were asked about"
