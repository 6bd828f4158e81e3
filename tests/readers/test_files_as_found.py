"""Files as strangers leave them: other languages, forms, spreadsheets, codes, nested records. What each says was
written down before it was read; it is read as that, or one question is asked that an option answers."""

from __future__ import annotations

import csv
import io
import json
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

ITEMS = 40
PEOPLE = ("anna", "ben")
Said = dict[str, list]
FILES = {}


def scores(seed: int, low: int = 1, high: int = 5, who: tuple[str, ...] = (*PEOPLE, "gpt-4o")) -> Said:
    rng = np.random.default_rng(seed)
    quality = rng.uniform(low, high, ITEMS)
    return {one: [int(np.clip(round(q + rng.normal(0, 0.8)), low, high)) for q in quality] for one in who}


def words(seed: int, options: tuple[str, ...]) -> Said:
    return {who: [options[k] for k in values] for who, values in scores(seed, 0, len(options) - 1).items()}


def table(header: list[str], rows: list[list], sep: str = ",") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=sep).writerows([header, *rows])
    return stream.getvalue()


def wide(said: Said, names: tuple[str, ...], item: str = "id", sep: str = ",", write=str, more=(), ids="T{}") -> str:
    cells = [["" if value is None else write(value) for value in own] for own in said.values()]
    rows = [[ids.format(k), *(own[k] for own in cells), *(made(k) for _, made in more)] for k in range(ITEMS)]
    return table([item, *names, *(name for name, _ in more)], rows, sep)


def meant(said: Said, as_read=lambda value: value) -> dict[str, list[list]]:
    kinds: dict[str, list[list]] = {"person": [], "judge": []}
    for who, values in said.items():
        kinds["person" if who in PEOPLE else "judge"].append([as_read(value) for value in values if value is not None])
    return kinds


def file(name: str):
    def kept(make):
        FILES[name] = make
        return make

    return kept


def of_numbers(name: str, columns: tuple[str, ...], **how) -> None:
    """A column for each of two people and a judge."""
    said = scores(len(FILES))
    FILES[name] = lambda: (wide(said, columns, **how), meant(said))


def of_words(name: str, options: tuple[str, ...], columns: tuple[str, ...], **how) -> None:
    said = words(len(FILES), options)
    FILES[name] = lambda: (wide(said, columns, **how), meant(said, str.lower))


TRIAGE = {1: "1 (immediate)", 2: "2 (emergent)", 3: "3 (urgent)", 4: "4 (less urgent)", 5: "5 (non-urgent)"}
OFTEN = [("Created", lambda k: "3/1/2026 9:00am"), ("Status", lambda k: ("Done", "In review")[k % 2])]
of_numbers("airtable.csv", ("Reviewer Anna", "Reviewer Ben", "AI Score"), item="Record ID", ids="rec{}xYz", more=OFTEN,
           write=lambda stars: "\u2b50" * stars)  # fmt: skip
of_numbers("triage.csv", ("nurse_a", "nurse_b", "model_triage"), item="visit", write=TRIAGE.get)
of_numbers("turkish.csv", ("De\u011ferlendirici 1", "De\u011ferlendirici 2", "YZ puan\u0131"), item="Kay\u0131t")
of_numbers("russian.csv", ("Эксперт 1", "Эксперт 2", "Оценка ИИ"), item="Обращение", sep=";")
of_numbers("korean.csv", ("평가자1", "평가자2", "모델 점수"), item="번호")
of_numbers("chinese.csv", ("人工评分1", "人工评分2", "大模型评分"), item="编号")
of_numbers("tabs.csv", ("Anna", "Ben", "gpt-4o"), item="case", sep="\t")
of_words("notion.csv", ("No", "Yes"), ("Anna OK?", "Ben OK?", "GPT OK?"), item="Name")
of_words("icd.csv", ("I10", "E11.9", "J45.909", "M54.5"), ("coder_1", "coder_2", "llm_coder"), item="encounter")
of_words("legal.csv", ("Reversed", "Remanded", "Affirmed"), ("Attorney 1", "Attorney 2", "Claude"), item="Docket No.")
of_words("likert.csv", ("Strongly disagree", "Disagree", "Somewhat disagree", "Neither agree nor disagree",
                        "Somewhat agree", "Agree", "Strongly agree"), ("P01", "P02", "gpt-4o"))  # fmt: skip
of_words("french.csv", ("Pas du tout d'accord", "Pas d'accord", "Neutre", "D'accord", "Tout à fait d'accord"),
         ("Correcteur 1", "Correctrice 2", "IA"), item="Copie", sep=";")  # fmt: skip
of_words("spanish.csv", ("No", "Sí"), ("Evaluadora Ana", "Evaluador Beto", "Juez LLM"), item="Folio", sep=";")
of_words("essays.csv", ("F", "D", "C", "B", "A"), ("Teacher 1", "Teacher 2", "Autograder"), item="Student essay")
of_words("plus_minus.csv", ("C", "C+", "B-", "B", "B+", "A-", "A"), ("Teacher 1", "Teacher 2", "Autograder"))
of_words("emoji.csv", ("\U0001f44e", "\U0001f44d"), ("Anna", "Ben", "Claude 3.5"), item="#")
of_words("excel.csv", ("FALSE", "TRUE"), ("SME 1", "SME 2", "LLM-as-judge"), item="Conversation ID")
of_words("four.csv", ("A", "B", "C", "D"), ("Annotator 1", "Annotator 2", "gpt-4o"), item="question_no")
of_words("guard.csv", ("unsafe", "safe"), ("anna", "ben", "llama-guard"), item="prompt_hash",
         more=[("n_chars", lambda k: 100 + 7 * k)])  # fmt: skip


@file("form_long.csv")
def _():
    said = scores(1)
    who = {"anna": "anna@x.example", "ben": "ben@x.example", "gpt-4o": "gpt-4o"}
    rows = [[f"2026/03/0{k % 9 + 1} 9:00:00 AM GMT+1", who[w], f"Ticket {k}", said[w][k], "fine" if k % 3 else ""]
            for k in range(ITEMS) for w in who]  # fmt: skip
    header = ["Timestamp", "Email Address", "Which ticket?", "How helpful is the answer?", "Anything else?"]
    return table(header, rows), meant(said)


@file("form_grid.csv")
def _():
    said = scores(2)
    header = ["Timestamp", "Your name", *(f"Rate each answer [Answer {k + 1}]" for k in range(ITEMS))]
    return table(header, [["2026/03/01 10:00", who, *said[who]] for who in said]), meant(said)


@file("airtable_lookup.csv")
def _():
    said = scores(4)
    rows = [[f"rec{k}", f"{said['anna'][k]}, {said['ben'][k]}", said["gpt-4o"][k]] for k in range(ITEMS)]
    return table(["Record", "Rating (from Reviews)", "LLM rating"], rows), meant(said)


@file("merged_header.csv")
def _():
    said = scores(6)
    rows = [f"C{k}," + ",".join(str(said[w][k]) for w in said) for k in range(ITEMS)]
    return "Calibration 3,,,\n,,,\n,Humans,,Model\nCase,Anna,Ben,gpt-4o\n" + "\n".join(rows), meant(said)


@file("merged_items.csv")
def _():
    said = scores(7)
    rows = [[f"T{k}" if w == "anna" else "", w, said[w][k]] for k in range(ITEMS) for w in said]
    return table(["Ticket", "Rater", "Score"], rows), meant(said)


@file("icd_sets.csv")
def _():
    said = words(9, ("I10", "E11.9", "I10; E11.9", "J45.909"))
    read = {"I10; E11.9": "e11.9|i10"}
    return wide(said, ("coder_1", "coder_2", "llm_coder")), meant(said, lambda word: read.get(word, word.lower()))


@file("halves.csv")
def _():
    said = {who: [value / 2 for value in values] for who, values in scores(15, 2, 10).items()}
    names = ("ocena_anna", "ocena_ben", "ocena_gpt")
    return wide(said, names, "Nr zgłoszenia", ";", lambda value: str(value).replace(".", ",")), meant(said)


@file("long_portuguese.csv")
def _():
    said = scores(20)
    rows = [[f"Caso {k}", who, said[who][k]] for k in range(ITEMS) for who in said]
    return table(["Caso", "Avaliador", "Nota"], rows, ";"), meant(said)


@file("nested.json")
def _():
    said = scores(21)
    items = [
        {"id": f"T{k}", "text": f"text number {k}", "ratings": {
            "human": {who: said[who][k] for who in PEOPLE}, "judge": {"gpt-4o": said["gpt-4o"][k]}}}
        for k in range(ITEMS)
    ]  # fmt: skip
    return json.dumps({"run": "march", "items": items}), meant(said)


@file("by_rater.json")
def _():
    said = scores(22)
    return json.dumps({who: {f"T{k}": value for k, value in enumerate(own)} for who, own in said.items()}), meant(said)


@file("by_item.json")
def _():
    said = scores(23)
    return json.dumps({f"T{k}": {who: said[who][k] for who in said} for k in range(ITEMS)}), meant(said)


@file("prediction.jsonl")
def _():
    said = words(24, ("fail", "pass"))
    lines = (
        {"id": k, "annotations": [{"annotator": who, "label": said[who][k]} for who in PEOPLE],
         "prediction": {"model": "gpt-4o", "label": said["gpt-4o"][k]}} for k in range(ITEMS)
    )  # fmt: skip
    return "\n".join(map(json.dumps, lines)), meant(said)


def parquet(ratings: list) -> bytes:
    stream = io.BytesIO()
    pd.DataFrame({"id": [f"T{k}" for k in range(ITEMS)], "ratings": ratings}).to_parquet(stream)
    return stream.getvalue()


@file("struct.parquet")
def _():
    said = scores(25)
    return parquet([{who: said[who][k] for who in said} for k in range(ITEMS)]), meant(said)


@file("structs.parquet")
def _():
    said = scores(26)
    return parquet([[{"rater": who, "score": said[who][k]} for who in said] for k in range(ITEMS)]), meant(said)


@file("percent.csv")
def _():
    said = {who: [5 * value for value in values] for who, values in scores(27, 0, 20).items()}
    return wide(said, ("anna", "ben", "gpt-4o"), write="{}%".format), meant(said)


@file("out_of_five.csv")
def _():
    said = scores(30)
    rows = [[f"T{k}", f"{said['anna'][k]}/5", f"{said['ben'][k]}/5", said["gpt-4o"][k]] for k in range(ITEMS)]
    return table(["id", "anna", "ben", "gpt-4o"], rows), meant(said)


@file("sep_line.csv")
def _():
    said = scores(31)
    return "\ufeffsep=;\r\n" + wide(said, ("Anna", "Ben", "GPT"), "Nr", ";"), meant(said)


@file("pandas_index.csv")
def _():
    said = scores(32)
    rows = [[k, f"case {k}", *(said[who][k] for who in said)] for k in range(ITEMS)]
    return table(["", "case", "anna", "ben", "gpt-4o"], rows), meant(said)


@file("systems.csv")
def _():
    one, other = scores(33), scores(34)
    rows = [[f"P{k}", *(said[who][k] for said in (one, other) for who in said)] for k in range(ITEMS)]
    names = [f"{system}: {who}" for system in ("llama-3-8b", "qwen2-7b") for who in ("Human 1", "Human 2", "Judge")]
    both = {who: [*chain.from_iterable(zip(one[who], other[who], strict=True))] for who in one}
    return table(["prompt_id", *names], rows), meant(both)


@file("missing.csv")
def _():
    said = scores(36)
    said["ben"] = [None if k % 4 == 0 else value for k, value in enumerate(said["ben"])]
    return wide(said, ("anna", "ben", "gpt-4o")).replace(",,", ",N/A,"), meant(said)


@file("prose_first.csv")
def _():
    said = scores(38)
    rows = [[f"T{k}", said["anna"][k], said["ben"][k], f"{said['gpt-4o'][k]} - the answer says what was asked of it"]
            for k in range(ITEMS)]  # fmt: skip
    return table(["id", "anna", "ben", "gpt_judge"], rows), meant(said)


@file("units.csv")
def _():
    said = scores(39)
    header, rows = wide(said, ("anna", "ben", "gpt-4o")).split("\n", 1)
    return f"{header}\n,(1-5),(1-5),(1-5)\n{rows}", meant(said)


@file("criteria.csv")
def _():
    one, other = scores(40), scores(41)
    rows = [[f"T{k}", *(said[who][k] for said in (one, other) for who in said)] for k in range(ITEMS)]
    names = [f"{about} ({who})" for about in ("Tone", "Accuracy") for who in ("Anna", "Ben", "GPT-4o")]
    return table(["id", *names], rows), meant({who: one[who] + other[who] for who in one})


@file("revised.csv")
def _():
    said = scores(42)
    rows = [[f"T{k}", who, said[who][k], "2026-03-01"] for k in range(ITEMS) for who in said]
    again = [["T3", "anna", said["anna"][3], "2026-03-02"]]
    said["anna"].append(said["anna"][3])
    return table(["item", "rater", "score", "date"], rows + again), meant(said)


@file("pairs.csv")
def _():
    rng = np.random.default_rng(44)
    good = rng.random(ITEMS) < 0.5
    said = {who: list(np.where(good ^ (rng.random(ITEMS) < 0.15), "first", "second")) for who in ("anna", "gpt-4o")}
    rows = [[f"Q{k}", "llama", "qwen", who, "AB"[said[who][k] == "second"]] for k in range(ITEMS) for who in said]
    return table(["question", "model A", "model B", "evaluator", "better"], rows), meant(said)


@file("python_json.csv")
def _():
    said = scores(47)
    rows = [[f"T{k}", said["anna"][k], said["ben"][k], str({"score": said["gpt-4o"][k], "reason": "it's fine"})]
            for k in range(ITEMS)]  # fmt: skip
    return table(["id", "anna", "ben", "judge"], rows), meant(said)


@file("first_names.csv")
def _():
    said = scores(48)
    return wide(said, ("Maria", "Jonas", "Atlas"), "Ticket"), meant(said)


ASKED = {"first_names.csv": {"judges": "Atlas"}}
"""Asked about, with the option that answers."""


def spelled(value: object) -> object:
    return value.lower() if isinstance(value, str) else float(value)


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", FILES)
def test_a_strangers_file_says_what_it_was_made_to_say(name: str, tmp_path: Path) -> None:
    content, truth = FILES[name]()
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if name in ASKED:
        with pytest.raises(RecuseError, match=" --"):
            read_file(path)
    rows = read_file(path, **ASKED.get(name, {})).ratings.table
    found: dict[str, list[list]] = {"person": [], "judge": []}
    for _, own in rows.groupby("rater", sort=False, observed=True):
        value = own["score"].where(own["response"].isna(), own["response"])
        found[own["kind"].iloc[0]].append([spelled(one) for one in value])
    for kind, values in truth.items():
        want = [[spelled(one) for one in own] for own in values]
        assert sorted(map(str, found[kind])) == sorted(map(str, want)), kind
