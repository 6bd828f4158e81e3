"""People's single ratings per criterion, given without knowing who wrote what: a file beside their published means.

    [people.single]                         # task.toml
    file = "people.csv"                     # rater, label (or target), criterion, score, and item if there are several
    scale = { minimum = 1, maximum = 10 }   # people's own, which need not be the judges'
    simulated = true                        # drawn from a model; nobody was asked

    [people.single.blind]                   # what people saw in place of the authors' names
    LLM1 = "gpt-5.1"

They stay apart from the judges' ratings: on another scale, scores of people and judges do not subtract.
"""

from __future__ import annotations

from recuse.ratings import Numeric, Ratings
from recuse.schema import RecuseError
from recuse.tasks import Task

__all__ = ["BLINDED", "blinded_people"]

BLINDED = "blinded_people"
"""What they are offered as."""


def blinded_people(task: Task) -> Ratings | None:
    """Ratings of people alone, on their own scale; None where the task names none.

    Raises `RecuseError` for a file that lacks a column, a label that stands for nobody, and an unknown criterion."""
    import pandas as pd

    source = task.data.get("people", {}).get("single")
    if source is None:
        return None
    path = task.folder / source["file"]
    if not path.is_file():
        raise RecuseError(f"{path}: no such file; task.toml of {task.name} names it under [people.single]")
    table, blind = pd.read_csv(path), source.get("blind", {})
    if "target" not in table and "label" in table:
        if unknown := sorted(set(map(str, table["label"])) - set(blind)):
            raise RecuseError(
                f"{path}: label {unknown[0]!r} stands for nobody; task.toml lists {', '.join(blind)} under "
                "[people.single.blind]"
            )
        table = table.assign(target=table["label"].map(blind))
    if missing := [name for name in ("rater", "target", "criterion", "score") if name not in table]:
        raise RecuseError(f"{path}: lacks {', '.join(missing)}; it has {', '.join(map(str, table.columns))}")
    if strange := sorted(set(map(str, table["criterion"])) - set(task.criteria)):
        raise RecuseError(f"{path}: {strange[0]!r} is no criterion of {task.name}; it has {', '.join(task.criteria)}")
    item = table["item"] if "item" in table else table["target"]
    table = table.assign(kind="person", simulated=bool(source.get("simulated")), item=item)
    scale = Numeric(float(source["scale"]["minimum"]), float(source["scale"]["maximum"]), source["scale"].get("step"))
    return Ratings.of(table.drop(columns=[c for c in ("label",) if c in table]), scales=scale, factors=[])
