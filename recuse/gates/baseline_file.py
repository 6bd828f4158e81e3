"""A committed baseline: results reduced to what can be compared with later ones.

    baseline.write(path, results, gates, because)       # pytest --update-baseline [--because "..."]
    comparison = changes.compare(baseline.load(path), results, gates)

An entry keeps what a test of the change needs. Beside the entries stand the gates, which tests were asked of which
judges, and digests of what these were asked. Texts (rule, reason, remedy, note) are left out: rewording moves nothing.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, cast

from recuse.gates.gate_set import Gates
from recuse.gates.gate_tables import AcceptedFault, Gate, RunTable, UseTable
from recuse.git import BaseCommit
from recuse.schema import RecuseError, verdict_rows
from recuse.schema.results import Results
from recuse.schema.verdict_rows import Baseline, BaselineEntry, EntryRow, Examined, Matrix, SourceRow, detail_as
from recuse.security.files import write_files

SCHEMA, EARLIER = 3, (1, 2)
FIGURES = ("value", "se", "df", "low", "high", "level", "unit", "over", "n", "n_clusters", "n_excluded")
KINDS = ("verdict", "measurement")
UPDATE = "write a new one with `pytest evals/ --update-baseline` and review what changed in it"
_subject = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode  # made once: it is asked for by the thousand
_STRICT: Any = {"sort_keys": True, "ensure_ascii": False, "allow_nan": False}
SHAPE: dict[str, Any] = {"gates": {"uses": {}, "gates": {}, "accepted": []},
                         "asked": {"tests": [], "judges": {}, "uses": {}}}  # fmt: skip
REASON: dict[str, Any] = {"reason": "", "covers": []}
ENTRY: dict[str, Any] = {"kind": "", "what": "", "subject": {}, "figures": {}}
WORDS: Any = {"reason": True, "label": True, "because": True, "question": True, "on": {"__all__": {"reason"}}}
UNTOLD = "as when the baseline was written"
SOURCES = {"items": "the items", "prompt": "the prompt", "rubric": "the rubric", "scale": "the scale",
           "people": "ratings by people", "truth": "true values", "provenance": "the label of provenance"}  # fmt: skip
OPTIONAL = ("people", "truth", "provenance")  # sources that a baseline of an earlier version does not have


class BaselineError(RecuseError):
    """The baseline cannot be used; the message names the file and the remedy."""


def reduce(results: Results, gates: Gates, because: verdict_rows.Because | None = None) -> Baseline:
    """Results reduced to a baseline, as `write` puts it on disk; an entry's `what` is the gate or the metric."""
    entries = [_entry("measurement", m["estimate"]["metric"], m) for m in results["measurements"]]
    for v in results["verdicts"]:
        entries.append({**_entry("verdict", v["gate"], v), "outcome": v["outcome"], "limit": v["limit"]})
    return {
        "schema": SCHEMA, "because": because, "gates": stated(gates), "asked": examined(results),
        "sources": results.get("sources") or {},
        "entries": sorted(entries, key=lambda entry: json.dumps([*identity(entry), entry])),
    }  # fmt: skip


def examined(results: Results) -> Examined:
    """Which tests came to a conclusion, about which judges of each panel, and what these are used for."""
    records = [*results["verdicts"], *results["measurements"]]
    tests = sorted({str(record["test"]).partition("[")[0] for record in records if record.get("test")})
    judges: dict[str, set[str]] = {}
    for subject in (record["subject"] for record in records if "judge" in record["subject"]):
        judges.setdefault(subject.get("panel", ""), set()).add(subject["judge"])
    uses = {panel["name"]: list(panel.get("uses") or ()) for panel in results["panels"]}
    return {"tests": tests, "judges": {panel: sorted(names) for panel, names in sorted(judges.items())}, "uses": uses}


def load(path: Path, text: str | None = None) -> Baseline:
    """The baseline at `path`, or the `text` that stood there at another commit; else `BaselineError`."""
    try:
        baseline = json.loads(path.read_text(encoding="utf-8") if text is None else text)
    except FileNotFoundError:
        raise BaselineError(f"there is no baseline at {path}: {UPDATE}") from None
    except UnicodeDecodeError as error:
        raise BaselineError(f"the baseline {path} is not UTF-8 (byte {error.start}): {UPDATE}") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}: {error.msg}"
        step = f"after a merge look for conflict marks. Restore it from version control, or {UPDATE}"
        raise BaselineError(f"the baseline {path} is not JSON ({place}); {step}") from None
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise BaselineError(f"the baseline {path} cannot be used ({why}): {UPDATE}") from None
    schema = baseline.get("schema") if isinstance(baseline, dict) else None
    if schema in EARLIER:
        why = "which did not say what judges are used for, so nothing can be compared with it"
        raise BaselineError(f"the baseline {path} was written by an earlier Recuse (schema {schema}), {why}: {UPDATE}")
    if schema != SCHEMA:
        version = repr(schema) if isinstance(baseline, dict) else f"a JSON {type(baseline).__name__}"
        raise BaselineError(f"the baseline {path} should have schema {SCHEMA}; it has {version}: {UPDATE}")
    reason, entries, wrong = baseline.get("because"), baseline.get("entries"), None
    if isinstance(entries, list):
        wrong = [i for i, entry in enumerate(entries) if not (_fits(entry, ENTRY) and entry["kind"] in KINDS)]
    if wrong is None or wrong or not _fits(baseline, SHAPE) or not (reason is None or _fits(reason, REASON)):
        where = "no list of entries, gates or tests" if not wrong else f"a damaged entry (number {wrong[0] + 1})"
        raise BaselineError(f"the baseline {path} has {where}: {UPDATE}")
    return cast("Baseline", dict(baseline))


def write(path: Path, results: Results, gates: Gates, because: verdict_rows.Because | None = None) -> None:
    """Make `results` the baseline, all of it or nothing."""
    baseline = reduce(results, gates, because)
    head = json.dumps({k: v for k, v in baseline.items() if k != "entries"}, indent=1, **_STRICT)
    lines = ",\n".join(f"  {json.dumps(entry, **_STRICT)}" for entry in baseline["entries"])
    # A line per entry, so that version control shows which of them changed.
    write_files(path.parent, {path.name: f'{head[:-2]},\n "entries": [\n{lines}\n ]\n}}\n'})


def identity(entry: EntryRow) -> tuple[str, str, str]:
    """What an entry is about: its kind, what, and subject."""
    return entry["kind"], entry["what"], _subject(entry["subject"])


def _entry(kind: Literal["verdict", "measurement"], what: str, source: verdict_rows.MeasurementRow) -> BaselineEntry:
    estimate = source["estimate"]
    known = {name: as_kept(estimate.get(name)) for name in FIGURES if estimate.get(name) is not None}
    figures = cast("verdict_rows.Figures", known)
    if per_item := estimate.get("per_item"):
        figures["per_item"] = {str(item): float(f"{value:.6g}") for item, value in per_item.items()}
    detail = estimate.get("detail") or {}
    if ends := detail.get("these_texts"):
        figures["these_texts"] = [as_kept(end) for end in ends]
        figures["these_texts_df"] = as_kept(detail.get("these_texts_df"))
    if chosen := detail.get("slice"):
        figures["slice"] = chosen
    if detail.get("kind") == "matrix":  # by name, so that a moved cell says who judged whom
        matrix = detail_as(Matrix, detail)
        rows = zip(matrix["rows"], matrix["values"], strict=True)
        figures["cells"] = {f"{row} / {column}": as_kept(value) for row, values in rows
                            for column, value in zip(matrix["columns"], values, strict=True)}  # fmt: skip
    return {
        "kind": kind, "what": what, "question": source.get("question", ""), "subject": dict(source["subject"]),
        "figures": figures,
    }  # fmt: skip


def as_kept(value: Any) -> Any:
    """Ten significant digits, as results.json has them; what is not finite is unknown."""
    return value if not isinstance(value, float) else float(f"{value:.10g}") if math.isfinite(value) else None


def _fits(value: object, shape: object) -> bool:
    """Whether a value of JSON has these members of these kinds, and maybe more."""
    if not isinstance(shape, dict):
        return isinstance(value, type(shape))
    return isinstance(value, dict) and all(name in value and _fits(value[name], of) for name, of in shape.items())


def difference(written: Baseline, results: Results, gates: Gates, *, complete: bool) -> str:
    """Where a baseline first differs, by more than rounding, from what `write` makes of these results, e.g.
    "entries.3.figures.se: 1000.0, not 0.04"; of a part (`complete=False`) in entries of both and gates; else ""."""
    own = cast("Baseline", json.loads(json.dumps(reduce(results, gates, written["because"]))))
    if not complete:
        known = keyed(own["entries"])
        kept = [entry for key, entry in keyed(written["entries"]).items() if key in known]
        written = {**written, "entries": kept, "asked": own["asked"], "sources": own["sources"]}
    return next(_differences(written, own, ()), "")


def _differences(one: Any, other: Any, at: Sequence[str]) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}):
            yield from _differences(one.get(name), other.get(name), (*at, name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for n, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(*pair, (*at, str(n)))
    elif one != other and not (type(one) is type(other) is float and math.isclose(one, other, rel_tol=1e-6)):
        yield f"{'.'.join(at)}: {one!r:.60}, not {other!r:.60}"


def keyed(entries: Iterable[BaselineEntry]) -> dict[tuple[str, str, str, int], BaselineEntry]:
    """By kind, what and subject; entries that share all three are told apart by their place in the sorted list."""
    by_key: dict[tuple[str, str, str, int], BaselineEntry] = {}
    places: Counter[tuple[str, str, str]] = Counter()
    for entry in entries:
        key = identity(entry)
        by_key[*key, places[key]] = entry
        places[key] += 1
    return by_key


def stated(gates: Gates) -> verdict_rows.StatedGates:
    """What a gates file decides with, as builtins: {"run", "uses", "gates": {name: ...}, "accepted": [...]}."""
    return {
        "run": stated_table(gates.run),
        "uses": {name: stated_table(use) for name, use in gates.uses.items()},
        "gates": {name: stated_table(gate) for name, gate in gates.gates.items()},
        "accepted": [stated_table(one) for one in sorted(gates.accepted_faults, key=described)],
    }


def as_stated(stated: verdict_rows.StatedGates, now: Gates) -> Gates:
    """The gates of a baseline, on the day and under the path of `now`; `RecuseError` for impossible ones."""
    accepted = [{**one, "reason": UNTOLD} for one in stated["accepted"]]

    def with_words(table: Mapping[str, Any]) -> dict[str, object]:
        because = {"because": UNTOLD} if table.get("undecided") == "allow" else {}
        on = {"on": [{**one, "reason": UNTOLD} for one in table["on"]]} if isinstance(table.get("on"), list) else {}
        return {**table, "reason": UNTOLD, **because, **on}

    try:
        return replace(
            now,
            run=RunTable.model_validate(stated.get("run") or {}),
            uses={name: UseTable.model_validate(table) for name, table in stated["uses"].items()},
            gates={name: Gate.model_validate(with_words(table)) for name, table in stated["gates"].items()},
            accepted_faults=tuple(map(AcceptedFault.model_validate, accepted)),
        )
    except ValueError as error:
        raise RecuseError(f"the baseline holds gates that no gates file could have: {error}") from None


def with_former(now: Gates, before: verdict_rows.StatedGates) -> Gates:
    """The gates with those of before beside them, if they decide anything otherwise."""
    return now if stated(now) == before else replace(now, former=as_stated(before, now))


def gates_at(commit: BaseCommit, path: str, today: date) -> Gates | None:
    """The gates file of a commit; None where there was none, or today's Recuse cannot read it."""
    with tempfile.TemporaryDirectory(prefix="recuse-base-") as folder, suppress(RecuseError):
        commit.copy([path], Path(folder))
        return Gates.load(Path(folder) / path, today)
    return None


def described(one: AcceptedFault) -> str:
    """Gate and subject, its names in alphabetical order: what identifies an accepted failure."""
    parts = (f"{name} = {' | '.join(one.values(name))}" for name in sorted(one.subject))
    return f"{one.gate} ({', '.join(parts)})"


def stated_table(table: Gate | AcceptedFault | RunTable | UseTable) -> dict[str, Any]:
    """What a table of a gates file decides with: without its words, and what is as by default."""
    return table.model_dump(mode="json", exclude_defaults=True, exclude=WORDS)


def removed(before: Examined, after: Examined) -> list[str]:
    """Tests that concluded nothing any more, judges that are gone, and panels that are used for something else."""
    # without its file, which may be called something else now; other code is a change of its own
    new = [test.rpartition("::")[2] for test in after["tests"] if test not in before["tests"]]
    tests = []
    for test in (test for test in before["tests"] if test not in after["tests"]):
        if (name := test.rpartition("::")[2]) in new:
            new.remove(name)
        else:
            tests.append(f"the test {test} is gone")
    judges = [f"{judge} is no longer in the panel {panel}" for panel, names in before["judges"].items()
              for judge in names if judge not in after["judges"].get(panel, ())]  # fmt: skip
    uses = [f"the panel {panel} is used {_for(after['uses'][panel])}, no longer {_for(names)}"
            for panel, names in before["uses"].items() if after["uses"].get(panel, names) != names]  # fmt: skip
    return tests + judges + uses


def _for(uses: Sequence[str]) -> str:
    return f"for {', '.join(uses)}" if uses else "as a study"


def changed_sources(before: Mapping[str, SourceRow], after: Mapping[str, SourceRow]) -> list[str]:
    """What the judges were asked, who they are and what they are measured by, where it is not what it was."""
    phrases = []
    for place in sorted(before.keys() & after.keys()):
        was, now = before[place], after[place]
        phrases += [f"{place}: {words} changed" for name, words in SOURCES.items()
                    if was.get(name) != now.get(name) and (name in was or name not in OPTIONAL)]  # fmt: skip
        judges = was.get("judges") or {}, now.get("judges") or {}
        phrases += [f"{place}: {j} changed" for j in sorted(judges[0].keys() & judges[1].keys())
                 if judges[0][j] != judges[1][j]]  # fmt: skip
    return phrases
