"""`recuse init` from arguments to files: what is written, what is left as it is, what to do next.

With --from LOG, the texts that a tool's log holds become a task that a judge of yours is asked about. A judge sees the
text and what it answers, nothing else: no rating, no reason, no right answer of the log. People's ratings stand in
people.csv; those of the log's judges in a table of their own, by the same names of items, so that `recuse compare`
holds the new judge against them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from recuse.configuration import NAME
from recuse.gates import Gates
from recuse.gates.gate_tables import uses_for
from recuse.ratings.scale import Nominal, Numeric
from recuse.readers.column_names import PROMPTS, plain
from recuse.readers.file_panel import load_file_panel
from recuse.readers.formats import whole_texts
from recuse.readers.mapping import saved_path
from recuse.schema import RecuseError
from recuse.schema.pandas_when_used import pd
from recuse.security.files import text_of
from recuse.security.sanitize import visible
from recuse.suite.question_runner import read_evals, shipped, shipped_evals
from recuse.tasks import RESERVED

if TYPE_CHECKING:
    from recuse.gates import JudgeDecision
    from recuse.readers.file_ratings import FilePanel

FILES = Path(__file__).parent / "files"
TASK, STORED = "fixtures/tasks/replies", "fixtures/stored_judges.csv"
PANEL = "fixtures/panels/ours.toml"
CONFTEST = b'"""Fixtures of your own for evals/ go here; the shipped questions need none."""\n'
IGNORED = (FILES / "gitignore").read_text(encoding="utf-8")
ENDPOINT = re.compile(r"https?://[^\s\"\\@?#/:][^\s\"\\@?#/]*(/[^\s\"\\@?#]*)?")
ACTION = re.compile(r"[\w.-]+(/[\w.-]+){2,}@[\w./-]+")
READABLE = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".eval", ".gz", ".bz2", ".xz", ".zip")
OWN_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")  # of pytest alone, in its order
SECTIONS = {"tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}
"""Files that hold other settings too, and the section that makes pytest read them."""
TABLES = ("[tool.pytest.ini_options]", "[tool.pytest]")
ALL_REPORTS = re.compile(r"/?reports(/|/\*\*?)?")
KEYS = ["rater", "item", "target", "criterion"]


def init(
    folder: Path, *, ratings: Path | None = None, log: Path | None = None, endpoint: str = "", model: str = "",
    protocol: str = "", action: str = "", adopt: bool = False, use: str = "",
) -> int:  # fmt: skip
    """Write a repository into `folder` and return 0. Without `ratings`, the one file of ratings in the folder is taken,
    or made-up ones; with `log`, the judge at `endpoint` is asked about the texts of that file. `action`: where Recuse's
    action can be reached, for the workflow. `use`: what the judges are used for, or "none" for ratings that are only
    measured. `protocol`: by which the endpoint is asked, merg or, in general, rubric. Nothing is accepted: where a
    judge is not cleared, this says so and the first run is red. `RecuseError`, with nothing written, where a file would
    be overwritten (with `adopt` it stays, and what to add to it is said) and for ratings that cannot be read."""
    if endpoint and not ENDPOINT.fullmatch(endpoint):  # not shown: it may hold a secret
        raise RecuseError("--endpoint is http:// or https:// and a host, with or without a path, and nothing after it")
    if action and not ACTION.fullmatch(action):
        raise RecuseError(f"--action is OWNER/NAME/PATH@VERSION, as GitHub calls an action; got {action!r}")
    if (protocol or model) and not endpoint:
        raise RecuseError("--model and --protocol say how a judge is asked: name its address with --endpoint")
    if log and (ratings or protocol or not endpoint):
        raise RecuseError("--from LOG needs --endpoint URL, the judge to ask, and goes with no --ratings or --protocol")
    if folder.is_file():
        raise RecuseError(f"{folder} is a file: recuse init --ratings {folder} FOLDER starts with what it holds")
    if use:
        own = folder / "evals" / "gates.toml"
        gates = Gates.load(own if own.is_file() else shipped_evals() / "gates.toml", date.today())
        uses_for(use.split(","), (), gates.uses, "--use")
    if protocol not in ("", "merg"):  # whose templates travel with the wheel
        raise RecuseError(f"recuse init has prompts for the protocol merg; got {protocol!r}: write its templates")
    stored, protocol, taken = stored_log(_panel(log, use)) if log else ({}, protocol or "rubric", [])
    folder.mkdir(parents=True, exist_ok=True)
    readable = [path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix.lower() in READABLE]
    if len(readable) > 1 and not (ratings or stored):
        many = f"{folder} holds {len(readable)} files that may be ratings"
        raise RecuseError(f"{many}; name one: recuse init --ratings {readable[0].name}")
    source = ratings or (None if stored else next(iter(readable), None))
    name = PANEL if stored else f"fixtures/{source.name if source else 'example.csv'}"
    evals = shipped_evals()
    files = {f"evals/{path.name}": path.read_bytes() for path in sorted(evals.glob("test_*.py"))}
    shared, *_ = (evals / "gates.toml").read_text(encoding="utf-8").split("\n[[accepted]]")  # of their own panels
    files |= {
        "evals/gates.toml": f"{shared.rstrip()}\n".encode(),
        "conftest.py": CONFTEST, ".gitignore": IGNORED.encode(),
        "pyproject.toml": rendered("settings.toml", panels=name).encode(),
        ".github/workflows/evals.yml": rendered("workflow.yml", action=action).encode(),
        "cassettes/.gitkeep": b"", "reports/.gitkeep": b"",
    }  # fmt: skip
    if stored:
        files |= stored
    elif source:
        panel, saved = _panel(source, use), saved_path(source)
        files |= {f"fixtures/{path.name}": path.read_bytes() for path in (source, saved) if path.is_file()}
        files |= {f"fixtures/{saved.name}": panel.mapping.toml().encode()} if use else {}
    else:
        files[name] = _example_ratings()
        if use:
            files[saved_path(Path(name)).as_posix()] = f"use = {json.dumps(use.split(','))}\n".encode()
    if endpoint:
        uses = json.dumps(use.split(",")) if use else ""
        judge = {"endpoint": endpoint, "model": model or "MODEL", "protocol": protocol, "use": uses}
        files[PANEL] = rendered("panel.toml", **judge).encode()
    if endpoint and not stored:
        of = FILES / protocol  # a task that this protocol asks about
        files |= {f"{TASK}/{p.relative_to(of).as_posix()}": p.read_bytes() for p in of.rglob("*.*") if p.is_file()}
        if protocol == "merg":
            prompts = shipped("merg", Path("fixtures", "tasks", "writing", "prompts"), "merg.rubric.user.j2", "prompts")
            files |= {f"{TASK}/prompts/{path.name}": path.read_bytes() for path in sorted(prompts.glob("merg.*.j2"))}
    settings = settings_file(folder)
    if settings != "pyproject.toml":  # pytest reads one file, and theirs is another
        del files["pyproject.toml"]
    written = dict.fromkeys((*files, "README.md", settings))
    there = [path for path in written if (folder / path).exists()]
    if there and not adopt:
        raise RecuseError(
            f"{folder / there[0]} is there already; start in an empty folder, or add to this one with --adopt, which "
            "overwrites nothing"
        )
    new = [path for path in written if path not in there]
    for path in new:
        for place in (place for place in [folder / path, *(folder / path).parents] if folder in place.parents):
            if place.is_symlink():
                raise RecuseError(f"{place} is a link, and init writes through none; put a file or folder in its place")
            if place != folder / path and place.exists() and not place.is_dir():
                raise RecuseError(f"{place} is a file, and {path} needs a folder there; move it away")
    try:
        with ExitStack() as undo:  # where anything fails, what was written goes again
            for path in files.keys() & set(new):
                _write(folder / path, files[path], undo)
            judges = [] if stored or "evals/gates.toml" in there else _decided(folder / name)
            if (path := "README.md") in new:
                first = [one.sentence for one in judges]
                readme = rendered("readme.md", panels=[name], first=first, endpoint=bool(endpoint))
                _write(folder / path, readme.encode(), undo)
            undo.pop_all()
    except OSError as error:
        raise RecuseError(f"{error.filename or folder / path}: {error.strerror}; nothing was written") from error
    print("\n".join(map(visible, _summary(folder, name, source, there, judges, endpoint, taken))))
    return 0


def _panel(source: Path, use: str) -> FilePanel:
    """The file read. `RecuseError` where it cannot be read as ratings."""
    if not source.is_file():
        raise RecuseError(f"{source} is not there")
    try:
        return load_file_panel(source, use=use)
    except RecuseError as error:
        raise RecuseError(
            f"{error}\nNothing was written. `recuse check {source}` tries it, its options say what is what, and --save "
            "keeps that for `recuse init`"
        ) from error


def _example_ratings() -> bytes:
    """Made-up ratings of 400 replies, without chance: two people, and a judge that errs less often and is cleared."""
    lines = ["item,system,judge,anna,ben"]
    for k in range(400):
        wrong = (k % 29 == 4, k % 19 == 5, k % 13 == 6)  # the judge, anna, ben
        answers = ("pass" if ((k * 7) % 12 < 7) != errs else "fail" for errs in wrong)
        lines.append(",".join([f"reply {k + 1}", "ab"[k % 2], *answers]))
    return "\n".join([*lines, ""]).encode()


def _decided(ratings: Path) -> list[JudgeDecision]:
    """The word on each judge for what it is used for. Only shipped questions are asked, nothing of somebody's own."""
    from recuse.run.run import ask_file

    decision = ask_file(load_file_panel(ratings), *read_evals(shipped_evals(), date.today())).decision
    return [one for one in decision.judges if one.stated]


def _write(path: Path, data: bytes, undo: ExitStack) -> None:
    """Write a new file, and the folders for it; `undo` takes them away."""
    for parent in reversed([parent for parent in path.parents if not parent.exists()]):
        parent.mkdir()
        undo.callback(parent.rmdir)
    with path.open("xb") as stream:
        undo.callback(path.unlink, missing_ok=True)  # what somebody else made a moment before stays
        stream.write(data)


def _summary(
    folder: Path, name: str, source: Path | None, there: list[str], judges: Sequence[JudgeDecision], endpoint: str,
    taken: Sequence[str],
) -> list[str]:  # fmt: skip
    at = "" if folder == Path(".") else f"cd {folder} && "
    what = "" if taken else f": {'your ' + source.name if source else 'a made-up example'} is {name}"
    lines = [f"Started in {folder.resolve().name}{what}.", *taken]
    if there:
        lines += [f"Left as they were: {', '.join(there)}.", *to_add(folder, there, name)]
    for one in judges:
        lines += [one.sentence, *([f"  next: {one.next}"] if one.next else [])]
    if any(one.word != "cleared" for one in judges):
        lines += [
            "So the first run is red, and nothing was accepted. Mend the judge, label more texts or leave it out; a",
            f'judge that is only measured has the line use = ["none"] in {saved_path(Path(name))}.',
        ]
    lines += ["Next:", *([] if taken else [f"  {at}pytest evals/", f"  {at}recuse check {name}"])]
    if endpoint:
        first = f"word the question in {TASK}/prompts" if taken else f"put your texts into {TASK}"
        lines += [
            f"  {first}, say in {PANEL} what the judge costs",
            "  (price, or free = true), set JUDGE_API_KEY, then",
            f"  {at}pytest evals/ {'' if taken else f'--panel {PANEL} '}--record=missing",
        ]
    elif not source:
        lines.append("  put your own ratings into fixtures/ and name them in recuse_panels (pyproject.toml)")
    return lines


def settings_file(folder: Path) -> str:
    """The file that pytest takes its settings from here: the first in pytest's own order, else "pyproject.toml"."""
    here = [name for name in OWN_FILES if (folder / name).is_file()]
    if not any(table in (text_of(folder / "pyproject.toml") or "") for table in TABLES):
        here += [name for name, section in SECTIONS.items() if section in (text_of(folder / name) or "")]
    return (*here, "pyproject.toml")[0]


def to_add(folder: Path, there: list[str], panel: str) -> Iterator[str]:
    """What the files that were left as they were need, so that the next commands work: lines for the terminal."""
    settings = settings_file(folder)
    text, toml = text_of(folder / settings) or "", settings.endswith(".toml")
    unnamed = settings in there and panel not in text
    if unnamed and "recuse_panels" in text:
        yield f"Add to recuse_panels in {settings}: {json.dumps(panel) if toml else panel}"
    elif unnamed:
        known = TABLES if settings == "pyproject.toml" else (SECTIONS.get(settings, "[pytest]"),)
        section = next((table for table in known if table in text), "")
        line = f"recuse_panels = {json.dumps([panel]) if toml else panel}"
        yield f"Add to {section or settings}{f' of {settings}' if section else ''}:"
        yield from (f"  {added}" for added in ([line] if section else [known[0], line]))
    if ".gitignore" in there:
        lines = (text_of(folder / ".gitignore") or "").split()
        known_lines = {line.strip("/") for line in lines}
        if wanted := [line for line in IGNORED.split() if line.strip("/") not in known_lines]:
            yield "Add to .gitignore what runs and recordings leave behind:"
            yield from (f"  {line}" for line in wanted)
        if wholesale := [line for line in lines if ALL_REPORTS.fullmatch(line) and line != "/reports/*"]:
            yield f"  and take out {wholesale[0]}: it also hides reports/baseline.json, which is to be committed"
    if "conftest.py" in there and ".github/workflows/evals.yml" not in there:
        yield (
            ".github/workflows/evals.yml installs recuse alone: add what conftest.py and evals/ import to its line "
            "`pip install`."
        )


def rendered(name: str, **values: object) -> str:
    """The template of this name with the values filled in."""
    env = Environment(
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>",
        loader=FileSystemLoader(FILES), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    env.filters["quoted"] = partial(json.dumps, ensure_ascii=False)
    return env.get_template(name).render(values)


def stored_log(panel: FilePanel) -> tuple[dict[str, bytes], str, list[str]]:
    """The task of a log: path -> content of its files, the protocol by which a judge is asked, and what was taken over,
    in lines. `RecuseError` where it holds pairs of texts, sets of options, or no texts."""
    ratings = panel.ratings
    if panel.kind != "scores":
        what = "pairs of texts" if panel.kind == "choices" else "sets of options"
        raise RecuseError(f"{panel.path}: holds {what}; --from takes texts that were rated one by one")
    if not panel.mapping.text:
        raise RecuseError(
            f"{panel.path}: no column holds the texts that were judged; name it, and keep that for recuse init: "
            f"recuse check {panel.path} --text COLUMN --save"
        )
    texts, rows = _texts_of(panel)
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
    unordered = [name for name, scale in criteria.items() if isinstance(scale, Nominal)]
    files = {
        f"{TASK}/task.toml": rendered(
            "stored/task.toml", criteria=criteria, targets=dict.fromkeys(texts["target"]), people=len(people),
            truth=ratings.truth and json.dumps(ratings.truth), unordered=unordered,
        ),
        f"{TASK}/items.jsonl": "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in items),
        f"{TASK}/prompts/{protocol}.user.j2": rendered(f"stored/{protocol}.user.j2", fields=fields),
    }  # fmt: skip
    shown = " and ".join((panel.mapping.text, *fields))
    taken = [f"{len(texts):,} texts of {panel.path.name}; the judge is shown {shown}, and nothing else of the log."]
    if len(people):
        values = [name for name in ("score", "response") if people[name].notna().any()]
        columns = [*KEYS, *(["repeat"] if people["repeat"].any() else []), *values]
        files[f"{TASK}/people.csv"] = people[columns].to_csv(index=False)
        raters = ", ".join(dict.fromkeys(people["rater"].astype(str)))
        taken.append(f"{len(people):,} ratings by people ({raters}): {TASK}/people.csv")
    if several := list(dict.fromkeys(people.loc[people["repeat"].gt(0), ["rater", "item"]].itertuples(index=False))):
        shown = ", ".join(f"{rater} on {item}" for rater, item in several[:5])
        taken.append(f"  of one text one person said different things {len(several)} times, kept as repeats: {shown}")
    if len(judges):
        value = judges["score"].map("{:g}".format).where(judges["score"].notna(), judges["response"])
        value = value.where(judges["status"].eq("ok"), judges["status"])  # what had no answer is kept as that
        files[STORED] = judges.assign(value=value)[["kind", *KEYS, "value"]].to_csv(index=False)
        taken.append(f"{len(judges):,} ratings by the log's judges: {STORED}; once yours are recorded:")
        taken.append(f"  recuse compare {STORED} {PANEL} {judges['rater'].iloc[0]} judge")
    return {path: text.encode() for path, text in files.items()}, protocol, taken


def _texts_of(read: FilePanel) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Texts by item, target and what they answer, and judgements by these names; another text of a name is an item."""
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
