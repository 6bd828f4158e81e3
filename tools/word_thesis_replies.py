"""Words the RECONSTRUCTED grades of the thesis as replies: `python -m tools.word_thesis_replies`.

No model said any of this. From fixtures/standins/published/headlines/grading.csv.gz (tools/reconstruct_thesis.py) and
unusable.csv it writes, in the same folder, grading.jsonl.gz, what the stand-in server answers with; and
fixtures/tasks/headlines/items-thesis.jsonl, what is asked about: the articles and the texts themselves were never
published, and the items say so.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STANDINS = ROOT / "fixtures" / "standins" / "published" / "headlines"
TASK = ROOT / "fixtures" / "tasks" / "headlines"

NO_RATING = (
    "The headline is clear, and the lead says who did what and when.",
    "Both lines agree with the story. I would not change much.",
    "The lead leaves out the reason, but the headline is good.",
    "Rating: good",
)
NO_ENTRY = ("There is no headline and no lead here that could be graded.",)

Row = Mapping[str, str]
Line = dict[str, Any]


def main() -> None:
    grades, unusable = read(STANDINS)
    text = "".join(json.dumps(line) + "\n" for line in replies(grades, unusable))
    (STANDINS / "grading.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    shown = "".join(json.dumps(line) + "\n" for line in items(grades))
    (TASK / "items-thesis.jsonl").write_text(shown, encoding="utf-8", newline="\n")


def read(folder: Path) -> tuple[list[Row], list[Row]]:
    with gzip.open(folder / "grading.csv.gz", "rt", encoding="utf-8", newline="") as file:
        grades: list[Row] = list(csv.DictReader(file))
    return grades, list(csv.DictReader(io.StringIO((folder / "unusable.csv").read_text("utf-8"))))


def replies(grades: Sequence[Row], unusable: Sequence[Row]) -> list[Line]:
    """One line per grade, in the order of the table; an unusable one gets words without a whole number at the end."""
    why = {_place(row): row["why"] for row in unusable}
    lines, told = [], 0
    for row in grades:
        text = f"Rating: {row['digit']}"
        if not row["digit"]:
            words = NO_ENTRY if why[_place(row)] == "no_entry" else NO_RATING
            text, told = words[told % len(words)], told + 1
        place = {"judge": row["judge"], "item": row["story"], "target": row["target"]}
        lines.append({**place, "factors": {"framing": row["framing"]}, "text": text})
    return lines


def items(grades: Sequence[Row]) -> list[Line]:
    """Every article by every author, once."""
    authors = list(dict.fromkeys(row["target"] for row in grades))
    lines = []
    for article in dict.fromkeys(row["story"] for row in grades):
        number = int(article.split("-")[1])
        for at, author in enumerate(authors, start=1):
            fields = {
                "story": f"[article {number}: text not published; ratings reconstructed]",
                "headline": f"[headline {at} on article {number}: not published]",
                "lead": f"[lead {at} on article {number}: not published]",
            }
            lines.append({"id": article, "target": author, "fields": fields})
    return lines


def _place(row: Row) -> tuple[str, ...]:
    return row["story"], row["judge"], row["target"], row["framing"]


if __name__ == "__main__":
    main()
