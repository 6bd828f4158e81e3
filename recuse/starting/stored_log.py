"""`recuse init --from LOG`: the texts that a tool's log holds, as a task that a judge of yours is asked about. A judge
sees the text and what it answers, nothing else: no rating, no reason, no right answer of the log. People's ratings
stand in people.csv; those of the log's judges in a table of their own, by the same names of items, so that `recuse
compare` holds the new judge against them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recuse.configuration import NAME
from recuse.ratings.scale import Nominal, Numeric
from recuse.readers.column_names import PROMPTS, plain
from recuse.readers.formats import whole_texts
from recuse.schema import RecuseError
from recuse.schema.pandas_when_used import pd
from recuse.starting import rendered
from recuse.tasks import RESERVED

if TYPE_CHECKING:
    from recuse.readers.file_ratings import FilePanel

TASK = "fixtures/tasks/replies"
STORED = "fixtures/stored_judges.csv"
KEYS = ["rater", "item", "target", "criterion"]


@dataclass(frozen=True)
class StoredLog:
    """`files` of the task, path -> content; `protocol`: by which a judge is asked; `lines`: what was taken over."""

    files: Mapping[str, bytes]
    protocol: str
    lines: tuple[str, ...]


def stored_log(panel: FilePanel) -> StoredLog:
    """The task of a log. `RecuseError` where it holds pairs of texts, sets of options, or no texts."""
    ratings = panel.ratings
    if panel.kind != "scores":
        what = "pairs of texts" if panel.kind == "choices" else "sets of options"
        raise RecuseError(f"{panel.path}: holds {what}; --from takes texts that were rated one by one")
    if not panel.mapping.text:
        raise RecuseError(
            f"{panel.path}: no column holds the texts that were judged; name it, and keep that for recuse init: "
            f"recuse check {panel.path} --text COLUMN --save"
        )
    texts, rows = _texts(panel)
    fields = [str(name) for name in texts if name not in ("item", "target", "text")]
    criteria = {_plain_words(name): ratings.scales[name] for name in ratings.headline}
    numeric = [scale for scale in criteria.values() if isinstance(scale, Numeric)]
    if not all(abs(end) < float("inf") for scale in numeric for end in scale.ends):
        raise RecuseError("the log's scores have no known ends; say them: recuse check LOG --scale 0-10 --save")
    protocol = "verdict" if len(criteria) == 1 and not numeric else "rubric"
    rows = rows[rows["criterion"].isin(ratings.headline)]
    rows = rows.assign(criterion=rows["criterion"].map(_plain_words))
    people, judges = (rows[rows["kind"].eq(kind)] for kind in ("person", "judge"))
    people = people[people["status"].eq("ok")]
    ways = people.groupby(KEYS)[["score", "response"]].transform("nunique").sum(axis=1)
    people = people[ways.gt(1) | ~people.duplicated(KEYS)]  # one rating stands beside each row of its text
    people = people.assign(repeat=people.groupby(KEYS).cumcount())
    items = ({"id": one.pop("item"), "target": one.pop("target"), "fields": one} for one in texts.to_dict("records"))
    lines = [json.dumps(one, ensure_ascii=False) for one in items]
    unordered = [name for name, scale in criteria.items() if isinstance(scale, Nominal)]
    files = {
        f"{TASK}/task.toml": rendered(
            "stored/task.toml", criteria=criteria, targets=dict.fromkeys(texts["target"]), people=len(people),
            truth=ratings.truth and json.dumps(ratings.truth), unordered=unordered,
        ),
        f"{TASK}/items.jsonl": "\n".join(lines) + "\n",
        f"{TASK}/prompts/{protocol}.user.j2": rendered(f"stored/{protocol}.user.j2", fields=fields),
    }  # fmt: skip
    if len(people):
        values = [name for name in ("score", "response") if people[name].notna().any()]
        columns = [*KEYS, *(["repeat"] if people["repeat"].any() else []), *values]
        files[f"{TASK}/people.csv"] = people[columns].to_csv(index=False)
    if len(judges):
        value = judges["score"].map("{:g}".format).where(judges["score"].notna(), judges["response"])
        value = value.where(judges["status"].eq("ok"), judges["status"])  # what had no answer is kept as that
        files[STORED] = judges.assign(value=value)[["kind", *KEYS, "value"]].to_csv(index=False)
    return StoredLog(
        {path: text.encode() for path, text in files.items()}, protocol,
        tuple(_taken(panel, texts, fields, people, judges)),
    )  # fmt: skip


def _taken(
    panel: FilePanel, texts: pd.DataFrame, fields: list[str], people: pd.DataFrame, judges: pd.DataFrame
) -> Iterator[str]:
    shown = " and ".join((panel.mapping.text, *fields))
    yield f"{len(texts):,} texts of {panel.path.name}; the judge is shown {shown}, and nothing else of the log."
    if len(people):
        raters = ", ".join(dict.fromkeys(people["rater"].astype(str)))
        yield f"{len(people):,} ratings by people ({raters}): {TASK}/people.csv"
    if several := list(dict.fromkeys(people.loc[people["repeat"].gt(0), ["rater", "item"]].itertuples(index=False))):
        shown = ", ".join(f"{rater} on {item}" for rater, item in several[:5])
        yield f"  of one text one person said different things {len(several)} times, kept as repeats: {shown}"
    if len(judges):
        yield f"{len(judges):,} ratings by the log's judges: {STORED}; once yours are recorded:"
        yield f"  recuse compare {STORED} fixtures/panels/ours.toml {judges['rater'].iloc[0]} judge"


def _texts(read: FilePanel) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row per text with item, target, text and what it answers, and the rows of the judgements by the same names.
    Another text under the same name, as of a model asked again, is an item of its own."""
    frame, rows = read.raw.frame, read.rows
    column = read.mapping.text
    known = {column, read.mapping.reason, read.mapping.target, *read.mapping.factors}
    prompts = {*PROMPTS} - {*RESERVED, "text", "item", "target", "id"}
    fields = {plain(name): name for name in map(str, frame.columns) if plain(name) in prompts and name not in known}
    at = rows["row"].to_numpy(dtype=int)
    cells = {field: frame[name].fillna("").astype(str).to_numpy()[at] for field, name in fields.items()}
    cells = {field: values for field, values in cells.items() if (values != "").any()}
    text = frame[column].fillna("").astype(str).to_numpy()[at]
    each = rows.assign(text=text, **{f"asked_{field}": values for field, values in cells.items()})
    each = each[each["text"].str.strip() != ""].copy()
    if each.empty:
        raise RecuseError(f"{read.path}: column {column} is empty, so there is nothing to ask a judge about")
    key = ["item", "target", "text"]
    once = each[[*key, *(f"asked_{field}" for field in cells)]].drop_duplicates(key)
    again = once.groupby(["item", "target"], sort=False).cumcount()
    items = once["item"].astype(str).where(again.eq(0), once["item"].astype(str) + "-" + (again + 1).astype(str))
    items = items.map(_safe_names(items, "text"))
    targets = once["target"].astype(str).map(_safe_names(once["target"].astype(str), "system"))
    each = each.merge(once[key].assign(new_item=items, new_target=targets), on=key)
    each = each.assign(item=each["new_item"], target=each["new_target"])
    shown = {"item": items, "target": targets, "text": whole_texts(read.path, list(once["text"]))}
    shown |= {field: whole_texts(read.path, list(once[f"asked_{field}"])) for field in cells}
    return pd.DataFrame(shown), each


def _safe_names(names: Iterable[str], otherwise: str) -> dict[str, str]:
    """Each name as it is where it can be part of a path, else the nearest that can; no two alike."""
    given: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        base = re.sub(r"\.\.+", ".", re.sub(r"[^A-Za-z0-9._-]+", "-", name)).strip("._-")[:56].strip("._-")
        near = name if NAME.fullmatch(name) and ".." not in name else base or otherwise
        tries = (near, *(f"{near[:56]}-{k}" for k in range(2, len(given) + 3)))
        given[name] = next(one for one in tries if one.lower() not in taken)
        taken.add(given[name].lower())
    return given


def _plain_words(name: object) -> str:
    """A criterion's name without what would end a quoted text or begin a template's expression."""
    return " ".join(re.sub(r'["\\{}%]', " ", str(name)).split()) or "rating"
