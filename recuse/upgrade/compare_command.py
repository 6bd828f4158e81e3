"""`recuse compare` from arguments to exit code: reads, compares, prints, and writes what was asked for. The same
verdict in Python: `compare`."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from recuse.gates import Gates
from recuse.gates import baseline_file as baselines
from recuse.gates.baseline_changes import beyond_chance, place_of, without_levels
from recuse.gates.gate_tables import Uses
from recuse.gates.limits import Limit
from recuse.gates.upgrade_verdict import EXIT, UpgradeVerdict, Word
from recuse.ratings import Ratings
from recuse.ratings.scale import Numeric, check_thresholds
from recuse.readers.file_panel import ReadOptions
from recuse.readers.file_ratings import score_of
from recuse.readers.formats import RatingsSource
from recuse.report.canonical_form import canonical, normalised
from recuse.report.results_model import ResultsModel
from recuse.report.terminal_text import ascii_of
from recuse.report.verdict_tables import upgrade_tables
from recuse.run.run import Run
from recuse.run.show import check_outputs, write_results
from recuse.schema import RecuseError
from recuse.schema.number_text import figure
from recuse.schema.results import Results
from recuse.schema.verdict_rows import Baseline, BaselineEntry, NamedRow, QuestionWords
from recuse.schema.vocabulary import UNDECIDED
from recuse.security.files import is_json_with, is_results, text_of, write_output
from recuse.security.sanitize import shortened, visible
from recuse.suite.question_runner import Asking, Respondents, shipped_evals
from recuse.upgrade import judge_upgrade, worst_of
from recuse.upgrade.sources import Source, files_of, open_sources, pair_up, root_of, split_arguments, subject_of
from recuse.upgrade.yardsticks import SETTINGS

WORDS: QuestionWords = {"question": "upgrade", "title": "May a judge be replaced by its candidate?", "note": ""}
NAME = 22
FIXED = {"items": "", "scale": "s"}  # what two judges must share, and how its verb ends
ROWS = 12


def compare(
    before: Ratings | RatingsSource, after: Ratings | RatingsSource | None = None, *,
    incumbent: str = "", candidate: str = "", gates: Path | str | None = None, change: str | Sequence[str] = (),
    thresholds: float | str | Sequence[float | str] = (), **options: Unpack[ReadOptions],
) -> UpgradeVerdict:  # fmt: skip
    """Whether a candidate may replace the judge in use: what `recuse compare` decides of the same files or panels.

    `after` is left out where `before` holds both judges. `incumbent`, the judge in use, and `candidate` are named where
    they are not clear. `options` as of `recuse.read`, for what was not read yet. Of judges that were asked at several
    places, the worst verdict. Raises `RecuseError` for what cannot be read or compared."""
    if bool(incumbent) != bool(candidate):
        raise RecuseError(f"name two judges, the one in use and its candidate, or none; got {incumbent or candidate}")
    if options and isinstance(before, Ratings) and (after is None or isinstance(after, Ratings)):
        raise RecuseError(f"{', '.join(options)}: give it to recuse.read, which made these ratings")
    given = [Path(one) if isinstance(one, str) else one for one in (before, after) if one is not None]
    limits = Gates.load(Path(gates) if gates is not None else _limits_of(given), today=date.today())
    names = (incumbent, candidate) if candidate else ()
    changes = (change,) if isinstance(change, str) else change
    several = (thresholds,) if isinstance(thresholds, float | int | str) else thresholds
    scores = [score_of(str(score)) for score in several]
    mapping = {name: value for name, value in options.items() if name != "reader"} | _typed(scores)
    sources = open_sources(given, limits, mapping, options.get("reader", ""), names)
    return worst_of(verdict for _, verdict in _decide(sources, names, limits, changes, scores))


def run_compare(
    what: Sequence[str], given: Mapping[str, Any], *, gates: Path | None = None, change: str = "",
    thresholds: str = "", reader: str = "", html: Path | None = None, json: Path | None = None,
) -> int:  # fmt: skip
    """The exit code: 0 may replace, 1 may not, 2 undecided, 3 not comparable. `RecuseError` for what cannot be read."""
    paths, names = split_arguments(what)
    changes, several = ([part.strip() for part in text.split(",") if part.strip()] for text in (change, thresholds))
    scores = [*map(score_of, several)]
    check_outputs(json, html)
    limits = Gates.load(gates or _limits_of(paths), today=date.today())
    held = [one for path in paths if (one := read_estimates(path, limits)) is not None]
    if held:  # where ratings are not there: what baselines keep of the judges
        if len(held) < len(paths):
            step = "to hold a panel against a baseline run pytest evals/ --baseline"
            raise RecuseError(f"{', '.join(map(str, paths))}: a baseline is compared with a baseline; {step}")
        if html:
            step = "compare the panels or files they were made from"
            raise RecuseError(f"--html: baselines hold no ratings to draw; {step}")
        compared = compare_baselines(held[0], held[-1], names, limits, changes)
        print("\n".join(map(visible, compared.lines())))
        if json:
            record = canonical({"headline": compared.sentence, "upgrade": compared._asdict()})
            write_output(json, record, is_results)
        return EXIT[compared.verdict]
    sources = open_sources(paths, limits, {**given, **_typed(scores)}, reader, names)
    verdicts = _decide(sources, names, limits, changes, scores)
    worst = worst_of(verdict for _, verdict in verdicts)
    run = Run(named=[*limits.gates])  # the others decide about no upgrade
    for place, verdict in verdicts:
        asking = Asking("compare", WORDS, Respondents(place, (verdict.candidate,), Uses(()), ()), limits)
        asking.upgrade(verdict)
        run.add(asking.records)
    results = run.conclude(sources[-1].suite.selection, limits) | {"headline": worst.sentence}
    own = [] if gates or limits.path == shipped_evals() / "gates.toml" else [f"limits: {limits.path}"]
    remarks = [remark for source in dict.fromkeys(sources) for remark in source.remarks]
    print("\n".join([verdict_text(results, worst), *map(visible, [*own, *remarks])]))
    write_results(results, json, html)
    return worst.exit_code


def _decide(
    sources: Sequence[Source], names: Sequence[str], limits: Gates, change: Sequence[str], thresholds: Sequence[float]
) -> list[tuple[Mapping[str, str], UpgradeVerdict]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a degenerate table is told in words, not by numpy
        pairs = list(pair_up(sources, names, change))
        if not pairs:
            raise RecuseError("the two judges were never asked the same: no task and protocol has both")
        scales = [scale for _, one in pairs for scale in one.before.scales.values()]
        check_thresholds(thresholds, scales)
        kept = [panel.mapping.threshold or "inf" for panel in files_of(sources)]
        read_so = [float(one) == score for one in kept for score in thresholds]
        if thresholds and not any(isinstance(scale, Numeric) for scale in scales) and read_so != [True] * len(sources):
            place = "given where they are read (recuse.read, or saved beside the file)"
            read = f"of scores that are read as one decision it is one score, {place}"
            raise RecuseError(f"--threshold decides by scores, and there are options only: leave it out; {read}")
        wanted = [(subject_of(at), one.with_thresholds(thresholds) if thresholds else one) for at, one in pairs]
        return [(place, judge_upgrade(limits, one, place, share=1 / len(pairs))) for place, one in wanted]


def _typed(thresholds: Sequence[float]) -> dict[str, str]:
    """A score from which on is decided, for reading: what is typed comes before what is saved beside a file."""
    return {"threshold": str(thresholds[0])} if len(thresholds) == 1 else {}


def _limits_of(paths: Sequence[object]) -> Path:
    """The file with a repository's own limits, as pytest takes it there, if it knows upgrades; or the shipped one."""
    root = root_of(paths)
    settings = "\n".join(text_of(root / name) or "" for name in sorted(SETTINGS))
    named = re.search(r"""^recuse_gates\s*=\s*["']?([^"'\n]+)""", settings, re.M)
    own = root / (named[1].strip() if named else "evals/gates.toml")
    return own if "[upgrade_" in (text_of(own) or "") else shipped_evals() / "gates.toml"


def verdict_text(results: Results, worst: UpgradeVerdict) -> str:
    """The whole text; lines are not wrapped. A table per task and protocol, each under its own sentence."""
    tables = upgrade_tables(ResultsModel(normalised(results)), minus="-")
    lines = worst.sentences
    for table in tables:
        if len(tables) > 1:
            lines += ["", "{task}, {protocol}: {sentence}".format(**table.upgrade)]
        if table.rows:
            head = tuple(shortened(cell, NAME)[0] for cell in table.head)
            rows = [tuple(map(ascii_of, cells)) for cells in (head, *(row.cells for row in table.rows))]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            cells = ("   ".join(map(str.ljust, row, widths)) for row in rows)
            lines += ["", *(f"  {row}".rstrip() for row in cells), *table.foot]
    return "\n".join(ascii_of(line) for line in lines)


# --------------------------------------------------------------------------- two judges by their baselines
# Components of an upgrade (agreement text by text, decisions flipped, order, losses) need the ratings, so no baseline
# can show that a judge may replace another. It can show that it may not: where a measure that a gate decides changed
# beyond chance, corrected over all that both baselines hold, and lies outside the limit that the judge in use keeps.


class BaselineVerdict(NamedTuple):
    """As JSON has it. `changes`: as of `recuse.gates.baseline_changes.beyond_chance`, the deciding one first."""

    verdict: Word
    sentence: str
    changes: Sequence[NamedRow] = ()
    shared: int = 0
    tested: int = 0
    reasons: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """What the terminal prints: the sentence, why it is so, and the changes, the deciding one first."""
        yield self.sentence
        yield from (f"  {reason}" for reason in self.reasons)
        if self.shared:
            beyond = f"{len(self.changes)} of them beyond chance (5 % over all, Holm)"
            yield f"{self.shared} results of both, {self.tested} differ and can be tested, {beyond}"
        for row in self.changes[:ROWS]:
            about = ", ".join(f"{k} {v}" for k, v in sorted(row["subject"].items()) if k not in ("judge", "panel"))
            by, low, high = (figure(value, signed=True) for value in (row["change"], row["low"], row["high"]))
            how = f"{by} ({low} to {high}), {row['test']}   {about}" + (f"   {row['beyond']}" if row["beyond"] else "")
            yield f"  {row['what']:<24} {figure(row['before'])} -> {figure(row['after'])}   {how}"
        if len(self.changes) > ROWS:
            yield f"  and {len(self.changes) - ROWS} more"


def read_estimates(path: Path, gates: Gates) -> Baseline | None:
    """A baseline, or results.json reduced to one; None where the file is neither."""
    text = (text_of(path) if path.suffix == ".json" else None) or ""
    if is_json_with("entries")(text):
        return baselines.load(path)
    held: Any = json.loads(text) if is_json_with("verdicts", "measurements")(text) else {}
    known = held and all(isinstance(held[name], list) for name in ("verdicts", "measurements"))
    return baselines.reduce(held, gates) if known else None


def compare_baselines(
    old: Baseline, new: Baseline, names: Sequence[str], gates: Gates, change: Sequence[str] = ()
) -> BaselineVerdict:
    """`names`: the judge in use and its candidate; none where both hold one judge alone. Judges of one recording are
    each other's company, and not independent, so that only what is kept item by item is tested."""
    incumbent, candidate = _judges(old, new, names)
    before, after = _entries((old, incumbent), (new, candidate))
    called = (incumbent, candidate) if incumbent != candidate else (f"{incumbent} before", f"{candidate} after")
    pairs, unlike = list[tuple[BaselineEntry, BaselineEntry]](), set[str]()
    for key in sorted(before.keys() & after.keys()):
        was, now = before[key], after[key]
        sources = [held.get("sources", {}).get(place_of(entry), {}) for held, entry in ((old, was), (new, now))]
        wanted = (name for name in (*FIXED, "prompt", "rubric") if name not in change)
        if differing := [name for name in wanted if sources[0].get(name) != sources[1].get(name)]:
            about = f"{now['subject'].get('task', '')}, {now['subject'].get('protocol', '')}"
            unlike |= {f"{about}: the {name} differ{FIXED.get(name, f's; if that is the upgrade, say --change {name}')}"
                       for name in differing}  # fmt: skip
        else:
            pairs.append((was, now))
    reasons = sorted(unlike)
    if not pairs:
        first, *others = reasons or ["the two judges share no result"]
        sentence = f"{called[0]} and {called[1]} cannot be compared: {first}."
        return BaselineVerdict("not comparable", sentence, reasons=others)
    # Of one recording: what is kept of the candidate stands in the incumbent's baseline as well.
    there = [entry["figures"] for entry in old["entries"] if entry["subject"] in [e["subject"] for e in after.values()]]
    together = any(entry["figures"] in there for entry in after.values())
    named, tested = beyond_chance(pairs, {place_of(now) for _, now in pairs}, gates, only_paired=together)
    limits = {(entry["what"], *sorted(about.items())): Limit.of(entry["limit"])
              for entry in after.values() if "limit" in entry  # of all levels together there is no entry
              for about in (without_levels(entry["subject"]), entry["subject"])}  # fmt: skip
    red = (row for row in named if row["kind"] == "verdict" and row["beyond"])
    bounds = ((row, limits[row["what"], *sorted(row["subject"].items())]) for row in red)
    worse = [row for row, limit in bounds if limit.holds(row["before"]) and not limit.holds(row["after"])]
    named = [*worse, *(row for row in named if row not in worse)]
    why = "nothing that they hold speaks against it, but they hold no ratings text by text"
    sentence = f"Whether {called[1]} may replace {called[0]} cannot be told from baselines: {why}; "
    sentence += "compare the panels or files that they were made from."
    for row in worse[:1]:
        moved = f"goes from {figure(row['before'])} to {figure(row['after'])}, {row['beyond']}"
        sentence = f"Do not replace {called[0]} by {called[1]}: {row['what']} {moved}."
    return BaselineVerdict("worse" if worse else UNDECIDED, sentence, named, len(pairs), len(tested), reasons)


def _judges(old: Baseline, new: Baseline, names: Sequence[str]) -> tuple[str, str]:
    there = [sorted({j for judges in held["asked"]["judges"].values() for j in judges}) for held in (old, new)]
    if not names:
        if old is new or len(there[0]) != 1 or there[0] != there[1]:
            held = ", and ".join(dict.fromkeys(map(", ".join, there)))
            which = "say which judge is in use and which would replace it, after the baselines"
            raise RecuseError(f"{which}; they hold {held}")
        return there[0][0], there[1][0]
    for name, judges in zip(names, there, strict=True):
        if name not in judges:
            raise RecuseError(f"the baseline has no judge {name}; it has {', '.join(judges)}")
    if old is new and names[0] == names[1]:
        raise RecuseError(f"an upgrade is between two judges; {names[0]} was named as both")
    return names[0], names[1]


def _entries(*sides: tuple[Baseline, str]) -> list[dict[str, BaselineEntry]]:
    """By what they are about besides the judge, and the panel where each judge is in one alone."""
    each = [[entry for entry in held["entries"] if entry["subject"].get("judge") == judge] for held, judge in sides]
    alone = all(len({entry["subject"].get("panel") for entry in entries}) == 1 for entries in each)
    left_out = {"judge", "panel"} if alone else {"judge"}

    def about(entry: BaselineEntry) -> str:
        subject = {name: value for name, value in entry["subject"].items() if name not in left_out}
        return json.dumps([entry["kind"], entry["what"], subject], sort_keys=True)

    return [{about(entry): entry for entry in entries} for entries in each]
