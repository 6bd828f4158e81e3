"""Asks the position and self-preference questions of verdicts made elsewhere: the PRD data (Li, Patel and Du 2024,
arXiv:2307.02762, MIT), which this repository does not hold.

    python tests/known_answers/examine_prd.py prd_vicuna80_long.csv.gz

The file has one verdict a line: reviewer, first, second (the authors in the order shown), question, rep, score (1 the
first wins, 2 the second, 3 a tie) and the file it came from. Reviewer "human" is a person per `rep`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from recuse.metrics import presentation
from recuse.papers.self_preference import choice_changes, pairwise_bias
from recuse.ratings import Ratings
from recuse.schema import Estimates
from tests.ratings.choices import read_choices

RESPONSES = {1: "first", 2: "second", 3: "tie"}
DUPLICATED = ("answer-gpt35-", "answer-gpt4-")  # two files that were stored twice under other names


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python tests/known_answers/examine_prd.py prd_vicuna80_long.csv.gz")
    ratings = read(Path(sys.argv[1]))
    print(f"{len(ratings.table)} verdicts, {ratings.table['item'].nunique()} pairs")
    for measure in (
        presentation.order_consistency, pairwise_bias.first_pick_share, pairwise_bias.own_win_rate,
        pairwise_bias.own_win_excess, pairwise_bias.controlled_own_win_excess, choice_changes.verdict_agreement,
    ):  # fmt: skip
        show(measure(ratings))


def read(path: Path) -> Ratings:
    """The file's verdicts as ratings: every column under the name that a table of choices has for it."""
    table = pd.read_csv(path)
    table = table[~table["file"].str.startswith(DUPLICATED)]
    person = table["reviewer"].eq("human")
    named = table.rename(columns={"question": "item"}).assign(
        rater=table["reviewer"].where(~person, "human:" + table["rep"].astype(str)),
        kind=person.map({True: "person", False: "judge"}),
        repeat=(table["rep"] - 1).where(~person, 0),
        response=table["score"].map(RESPONSES),
    )
    columns = ["rater", "kind", "item", "first", "second", "repeat", "response"]
    return read_choices(named[columns], clusters="questions")


def show(family: Estimates) -> None:
    for key, e in family.items():
        told = f"{e.value:.3f} [{e.low:.3f}, {e.high:.3f}]" if e.defined else e.note
        print(f"{e.metric:28} {', '.join(key):28} {told}  n={e.n} excluded={e.n_excluded}")


if __name__ == "__main__":
    main()
