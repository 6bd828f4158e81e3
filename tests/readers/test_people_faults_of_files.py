"""A person at fault is named in the notes of the file, fails no judge and clears none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.readers import read_file


def test_the_note_and_the_fact(file):
    draw = np.random.default_rng(1)
    quality = draw.normal(size=120)
    marks = np.clip(np.round(3 + quality[:, None] + 0.5 * draw.normal(size=(120, 4))), 1, 5).astype(int)
    marks[:, 1] = 6 - marks[:, 1]
    rows = [f"t{k},{','.join(map(str, row))}" for k, row in enumerate(marks)]
    read = read_file(file("a.csv", "\n".join(["ticket,anna,ben,carla,gpt-4o", *rows])))
    (fault,) = read.people_faults
    assert (fault.kind, fault.people) == ("reversed", ("ben",))
    assert any(note.startswith("ben answers rating in reverse of the other people") for note in read.notes)


AT_FAULT = {
    "reversed": lambda draw, quality: 6 - np.clip(np.round(3 + quality), 1, 5),
    "unrelated": lambda draw, quality: draw.integers(1, 6, len(quality)),
    "constant": lambda draw, quality: np.full(len(quality), 5),
}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("kind", AT_FAULT)
@pytest.mark.parametrize(("noise", "word"), [(0.4, "cleared"), (1.2, "not cleared")])
def test_by_a_person_at_fault_no_judge_is_cleared_and_none_refused(kind, noise, word):
    """He makes people agree less with one another, so that any judge agrees as well as they do."""
    draw = np.random.default_rng(4)
    quality = draw.normal(size=400)
    frame = pd.DataFrame({name: np.clip(np.round(3 + quality + of * draw.normal(size=400)), 1, 5)
                          for name, of in (("maria", 0.4), ("jon", 0.4), ("gpt-4o", noise))})  # fmt: skip
    (alone,) = (one for one in recuse.check(frame, judges="gpt-4o").judges if one.use == "grade")
    frame["lee"] = AT_FAULT[kind](draw, quality)
    (one,) = (one for one in recuse.check(frame, judges="gpt-4o", people="maria,jon,lee").judges if one.use == "grade")
    assert (alone.word, one.word) == (word, "undecided")
    assert "lee" in one.cause.split(";")[0]
    assert one.next.startswith("mend or leave out the ratings")


def test_a_fault_of_several_criteria_is_said_once(file):
    draw = np.random.default_rng(3)
    rows = []
    for item in range(60):
        for criterion in ("form", "content", "tone"):
            quality = draw.integers(2, 5)
            answers = {"ann": quality, "ben": 6 - quality, "cid": quality + draw.integers(-1, 2), "gpt-4o": quality}
            rows += [f"t{item},{criterion},{who},{score}" for who, score in answers.items()]
    read = read_file(file("a.csv", "text,criterion,rater,score\n" + "\n".join(rows)))
    assert len(read.people_faults) == 3
    (note,) = (note for note in read.notes if "ben answers" in note)
    assert "form" in note
    assert note.endswith("No judge is to blame for them; the same is true of content; the same is true of tone")
    assert [fault.sentence() in note for fault in read.people_faults].count(True) == 1
