"""A person who answers the other way round is named in the notes of the file."""

from __future__ import annotations

import numpy as np

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
