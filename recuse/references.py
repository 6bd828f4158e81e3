"""What judges are compared with beside each other: what people said, what is true, payloads of attacks. Read from the
files that a task's task.toml names under [people], [people.single], [reference] and [payloads] (docs/merchant-risk.md).
A key of [reference] beside `file` and `names` names a function, path -> columns item, value, value_<year>: an entry
point of group recuse.references, or a dotted path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from os.path import normpath
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from recuse.configuration import named
from recuse.ratings import Nominal, Numeric, Ordinal, Ratings
from recuse.ratings.scale import Scale
from recuse.schema import RecuseError
from recuse.schema.pandas_when_used import pd
from recuse.tasks import Task

State = tuple[Path, int, int]  # a file, when it was changed, and its size
NAMES = {"item": str, "target": str, "rater": str}  # columns of names: 0742, the code of a category, is no number
KEYS, VALUES = ("rater", "item", "target", "criterion"), ("score", "response")
SUMMARY = ("target", "mean", "sd", "n")
BLINDED = "blinded_people"
"""What people's single ratings are offered as. They stay apart from the judges' ratings: on another scale, scores of
people and judges do not subtract."""


def people_of(task: Task, protocol: str) -> pd.DataFrame | None:
    """Ratings by people as the task's file has them, those by this protocol where it tells them apart; None where there
    are none. A table of means has the columns `SUMMARY`, any other the columns rater, item, and score or response."""
    if "people" not in task.data:
        return None
    table = _table(task, task.data["people"]["file"])
    columns = set(table.columns)
    if not set(SUMMARY) <= columns and not ({"rater", "item"} <= columns and columns & {*VALUES}):
        raise RecuseError(
            f"{task.folder / task.data['people']['file']}: ratings by people have the columns rater, item, and score "
            f"or response, means of people {', '.join(SUMMARY)}; there is {', '.join(table.columns)}"
        )
    if set(SUMMARY) <= columns and (scale := task.data["people"].get("scale")):
        table = table.assign(minimum=float(scale["minimum"]), maximum=float(scale["maximum"]))
    if "protocol" not in table:
        return table
    rows = table[table["protocol"] == protocol].drop(columns="protocol").reset_index(drop=True)
    return rows if len(rows) else None


def persons_of(task: Task, protocol: str) -> pd.DataFrame | None:
    """Ratings by people one by one; None where the task names none or knows their means alone."""
    people = people_of(task, protocol)
    return people if people is not None and "rater" in people else None


def checked_people(
    task: Task, persons: pd.DataFrame, scales: Mapping[str, Scale], headline: Sequence[str]
) -> pd.DataFrame:
    """Single ratings by people with all of their columns, each on something that may be asked: `scales` of the criteria
    of the protocol, `headline` those that stand for the whole. Items that no judge was asked about are no fault.
    `RecuseError` with the row for any other: misspelt, it would count for nobody, and nothing would say so."""
    path, values = task.folder / task.data["people"]["file"], [name for name in VALUES if name in persons]
    criteria, of_item = dict.fromkeys([*task.criteria, *scales]), {item.id: item.target for item in task.items}
    for name, why, needed in (
        ("target", "several systems answered an item", len(of_item) < len(task.items)),
        ("criterion", f"there are several: {', '.join(headline)}", len(headline) > 1),
    ):
        if needed and name not in persons:
            raise RecuseError(f"{path}: ratings by people need the column {name}, since {why}; there is "
                              f"{', '.join(persons.columns)}")  # fmt: skip

    def refuse(wrong: Any, rule: str) -> None:
        if len(rows := persons[wrong]):
            cells = {name: rows[name].iloc[0] for name in (*KEYS, *values)}
            got = ", ".join(f"{name} {cell}" for name, cell in cells.items() if pd.notna(cell))
            raise RecuseError(f"{path}: {rule}; there is {got}: mend or delete this row")

    persons = persons if "target" in persons else persons.assign(target=persons["item"].map(of_item))
    persons = persons if "criterion" in persons else persons.assign(criterion=next(iter(headline), ""))
    refuse(persons[["rater", "item"]].isna().any(axis=1), "every rating has its rater and its item")
    strange = persons["item"].isin([*of_item]) & ~persons["target"].isin([*task.targets])
    refuse(strange, f"targets of {task.name} are {', '.join(task.targets)}")
    another = "; where people were asked by several protocols, a column protocol says which"
    refuse(~persons["criterion"].isin([*criteria]), f"criteria of {task.name} are {', '.join(criteria)}{another}")
    for name, scale in scales.items():
        own = persons["criterion"].eq(name)
        if isinstance(scale, Numeric) and "score" in values:
            within = pd.to_numeric(persons["score"], errors="coerce").between(*scale.ends) | persons["score"].isna()
            refuse(own & ~within, f"scores lie between {scale.minimum:g} and {scale.maximum:g}")
        elif isinstance(scale, Nominal | Ordinal) and "response" in values:
            within = persons["response"].isin(scale.options) | persons["response"].isna()
            refuse(own & ~within, f"responses are one of {', '.join(scale.options)}")
    known = [name for name in persons if name not in VALUES]
    refuse(persons.duplicated(known), "a person rates a text once by a criterion, unless a column repeat numbers them")
    return persons


def said_by_people(task: Task, protocol: str, headline: Sequence[str]) -> dict[tuple[str, str], list[float | str]]:
    """(item, target) -> what each person said of the text as a whole; item "" where only a mean per target is known."""
    table = people_of(task, protocol)
    if table is None:
        return {}
    if set(SUMMARY) <= set(table.columns):
        return {("", target): [mean] for target, mean in zip(table["target"], table["mean"], strict=True)}
    table = table[table["criterion"].isin(headline)] if "criterion" in table else table
    table = table if "target" in table else table.assign(target="")
    column = "score" if "score" in table else "response"
    by_text = table.dropna(subset=[column]).groupby(["item", "target"], sort=False, dropna=False)[column]
    by_people: dict[Any, list[float | str]] = {text: answers.tolist() for text, answers in by_text}
    return by_people


def reference_of(task: Task) -> pd.DataFrame | None:
    """The true value of each item: columns item, value, and name; None where the task names none."""
    if "reference" not in task.data:
        return None
    given = task.data["reference"]
    kind = next((name for name in given if name not in ("file", "names")), None)
    if kind is None:
        table = _table(task, given["file"])
    else:
        path = Path(normpath(task.folder / given[kind]))
        if not path.is_file():
            raise RecuseError(f"{path}: no such file; task.toml of {task.name} names it")
        read: Callable[[Path], pd.DataFrame] = named(kind, what="kind of true values", package="recuse.references")
        table = read(path)
    if missing := [name for name in ("item", "value") if name not in table]:
        raise RecuseError(f"task {task.name}: the reference lacks the column(s) {', '.join(missing)}")
    about = {"item": table["item"].astype(str)}
    if "names" in given:
        names = _table(task, given["names"])
        called = names[names.columns[0]].astype(str)
        if len(twice := called[called.duplicated()]):
            raise RecuseError(f"{task.folder / given['names']}: {twice.iloc[0]} is named twice; keep one row of it")
        about["name"] = about["item"].map(dict(zip(called, names["name"], strict=True)))
    return table.assign(**about)


def blinded_people(task: Task) -> Ratings | None:
    """Ratings of people alone, on their own scale; None where the task names none. `RecuseError` for a file that lacks
    a column, a label that stands for nobody, and an unknown criterion."""
    source = task.data.get("people", {}).get("single")
    if source is None:
        return None
    path = task.folder / source["file"]
    if not path.is_file():
        raise RecuseError(f"{path}: no such file; task.toml of {task.name} names it under [people.single]")
    table, blind = pd.read_csv(path, dtype=NAMES), source.get("blind", {})
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
    return Ratings.of(table.drop(columns="label", errors="ignore"), scales=scale, factors=[])


def payloads_of(task: Task) -> pd.DataFrame | None:
    """Instructions that attackers add to texts: columns payload, class, language, text, and held_out, whether it was
    written after and apart from the defences; None where the task names none. "{best}" in a text becomes the best
    score, "{label}" the letter A."""
    if "payloads" not in task.data:
        return None
    known, held_out = (_state(task, task.data["payloads"][name]) for name in ("known", "held_out"))
    return _payloads(known, held_out, f"{task.scale[1]:g}").copy()


@lru_cache(maxsize=16)
def _payloads(known: State, held_out: State, best: str) -> pd.DataFrame:
    tables = []
    for file in (known, held_out):
        table = _read(*file, "lines")
        if missing := [column for column in ("id", "class", "text") if column not in table]:
            raise RecuseError(f"{file[0]}: a payload has id, class and text; missing: {', '.join(missing)}")
        texts = [text.replace("{best}", best).replace("{label}", "A") for text in table["text"]]
        language = table["language"].fillna("en") if "language" in table else "en"
        about = {"payload": table["id"], "class": table["class"], "language": language, "text": texts}
        tables.append(pd.DataFrame({**about, "held_out": file is held_out}))
    return pd.concat(tables, ignore_index=True)


def _table(task: Task, file: str) -> pd.DataFrame:
    """A file of the task, read once per state of the file: every protocol of a task asks for it."""
    return _read(*_state(task, file)).copy()


def _state(task: Task, file: str) -> State:
    path: Path = task.folder / file
    if not path.is_file():
        raise RecuseError(f"{path}: no such file; task.toml of {task.name} names it")
    about = path.stat()
    return path, about.st_mtime_ns, about.st_size


@lru_cache(maxsize=16)
def _read(path: Path, changed: int, size: int, kind: str = "csv") -> pd.DataFrame:
    if kind != "csv":
        return pd.read_json(path, lines=True, dtype=False)
    try:
        with catch_warnings():
            simplefilter("error", pd.errors.ParserWarning)  # that cells are lost
            return pd.read_csv(path, dtype=NAMES, index_col=False)
    except (ValueError, pd.errors.ParserWarning) as error:  # another encoding, more cells in a row than in the first
        why = str(error).strip()
        raise RecuseError(f"{path}: not a table in UTF-8 with as many cells in each row: {why}") from None
