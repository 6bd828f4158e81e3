"""Asks the position and self-preference questions of verdicts made elsewhere: the PRD data (Li, Patel and Du 2024,
arXiv:2307.02762, MIT), which this repository does not hold.

    python -m tools.examine_prd prd_vicuna80_long.csv.gz

The file has one verdict a line: reviewer, first, second (the authors in the order shown), question, rep, score (1 the
first wins, 2 the second, 3 a tie) and the file it came from. Reviewer "human" is a person per `rep`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from recuse.metrics import position, win_rates
from recuse.schema import Estimates, check_ratings

RESPONSES = {1: "first", 2: "second", 3: "tie"}
DUPLICATED = ("answer-gpt35-", "answer-gpt4-")  # two files that were stored twice under other names


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tools.examine_prd prd_vicuna80_long.csv.gz")
    ratings, items = read(Path(sys.argv[1]))
    own = own_of(ratings, items)
    print(f"{len(ratings)} verdicts, {len(items)} pairs")
    for found in (position.order_consistency, position.first_pick_share):
        show(found(ratings, items))
    show(win_rates.own_win_rate(ratings, items, own))
    show(win_rates.excess(ratings, items, own))
    show(win_rates.controlled_excess(ratings, items, own))


def read(path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The checked ratings table (factor: order) and the items frame. A pair names its authors in alphabetical order."""
    table = pd.read_csv(path)
    table = table[~table["file"].str.startswith(DUPLICATED)]
    a, b = (table[["first", "second"]].agg(which, axis=1) for which in ("min", "max"))
    person = table["reviewer"].eq("human")
    item = a + "-" + b + "-" + table["question"].astype(str)
    ratings = pd.DataFrame({
        "task": "prd", "protocol": "pairwise",
        "judge": table["reviewer"].where(~person, "human:" + table["rep"].astype(str)),
        "item": item, "target": a, "criterion": "winner", "repeat": (table["rep"] - 1).where(~person, 0),
        "score": float("nan"), "response": table["score"].map(RESPONSES), "status": "ok", "request": table["file"],
        "order": table["first"].eq(a).map({True: "ab", False: "ba"}),
    })  # fmt: skip
    items = pd.DataFrame({"item": item, "story": table["question"].astype(str), "a": a, "b": b}).drop_duplicates()
    return check_ratings(ratings.reset_index(drop=True), ("order",)), items.reset_index(drop=True)


def own_of(ratings: pd.DataFrame, items: pd.DataFrame) -> dict[str, str]:
    """Judges that are also authors."""
    authors = {*items["a"], *items["b"]}
    return {judge: judge for judge in ratings["judge"].drop_duplicates() if judge in authors}


def show(family: Estimates) -> None:
    for key, e in family.items():
        told = f"{e.value:.3f} [{e.low:.3f}, {e.high:.3f}]" if e.defined else e.note
        print(f"{e.metric:28} {', '.join(key):28} {told}  n={e.n} excluded={e.n_excluded}")


if __name__ == "__main__":
    main()
