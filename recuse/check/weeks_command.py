"""`recuse weeks FILE --week COLUMN`: other texts each week; has anything changed, and is it the judge or the system?

Two numbers per week and judge are charted: its share of one answer (of scores the mean), and its agreement with people
on the texts that have labels. A week's limits come from the weeks before it, at least five:

    centre +- t sqrt(T + s^2 / min(n, m) + T sum w^2 + s^2 / N)
    T = max(0, sum w (y - centre)^2 / (1 - sum w^2) - s^2 / m),    m = N (1 - sum w^2) / (k - 1)

y: the values of the k weeks, each with a share w of their N texts, of which the centre is the mean; s^2: variance of
one text's value within weeks; n: texts of this week; t: the 99.5 % quantile of Student's t with 1 / sum w^2 - 1 degrees
of freedom; of equal weeks that is k - 1, and m their number of texts. T is how far weeks differ without any reason,
beyond what their size explains (a chart without it alarms all the time; Laney 2002, Quality Engineering 14, 531-537).
Small weeks hardly tell it, so a larger week is allowed as much as one of their size. So each chart alarms in one week
of a hundred, or less often, where nothing changed. Where fewer than 15 % of the texts differed from the usual value,
the limits are also no narrower than those of an exact test of how many differ.

Anchors are texts of earlier weeks that the judge judges again. What moves on them is the judge; what the week's own
texts moved beyond that is the system, or who uses it.
"""

from __future__ import annotations

import glob
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special, stats

from recuse.metrics.agreement_estimates import agreement_by_text
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED, answers_of
from recuse.ratings.scale import Numeric
from recuse.readers.column_names import plain
from recuse.readers.file_panel import load_file_panel
from recuse.readers.formats import CALLED, read_path
from recuse.readers.mapping import is_pattern, stem_of
from recuse.run.show import Row, check_tables, show_tables
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.schema.factors import in_time
from recuse.schema.number_text import fitting

FEWEST, FEWEST_TEXTS = 5, 5
RARE = 0.15
ALARMS = 0.01  # chance that a chart alarms in a week in which nothing changed
COLUMNS = ("judge", "chart", "week", "value", "low", "high", "texts", "alarm")
WEEK = "week"
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")  # of a call, and no name of a week
DAY = re.compile(r"\d{4}-\d\d-\d\d|\d\d?\.\d\d?\.\d{4}")


class Limits(NamedTuple):
    """Where a week's value lies if it is like the `weeks` before it."""

    centre: float
    low: float
    high: float
    variance: float  # of the centre


class Week(NamedTuple):
    """`values` of the judge's new texts and its `agreement` with people on those of them that have labels, one number
    per text; `moved`: of texts of earlier weeks, how much the judge's value changed."""

    name: str
    values: Floats
    agreement: Floats
    moved: Floats


def chart(weeks: list[Floats], ends: tuple[float, float] = (-math.inf, math.inf)) -> Limits | None:
    """Limits for the last week, from those before it, within `ends`; None where fewer than five have enough texts."""
    before = [values for values in weeks[:-1] if len(values) >= FEWEST_TEXTS]
    last = weeks[-1]
    if len(before) < FEWEST or len(last) < FEWEST_TEXTS:
        return None
    texts, k = np.concatenate(before), len(before)
    sizes, means = np.array([len(values) for values in before]), np.array([values.mean() for values in before])
    within = sum(float(((values - values.mean()) ** 2).sum()) for values in before)
    s2, shares, centre = within / (len(texts) - k), sizes / len(texts), float(texts.mean())
    alone = float(shares @ shares)
    size = len(texts) * (1 - alone) / (k - 1)
    between = max(0.0, float(shares @ (means - centre) ** 2) / (1 - alone) - s2 / size)
    variance = between * alone + s2 / len(texts)
    t = float(special.stdtrit(1 / alone - 1, 1 - ALARMS / 2))
    half = t * math.sqrt(between + s2 / min(len(last), size) + variance)
    low, high = math.inf, -math.inf
    values, counts = np.unique(texts, return_counts=True)
    usual, differing = float(values[counts.argmax()]), len(texts) - int(counts.max())
    if differing <= RARE * len(texts):  # those that differ are a hypergeometric draw, and differ as far as they can
        n = np.arange(1, len(last) + 1)
        chance = stats.hypergeom.sf(n - 1, len(texts) + len(last), differing + n, len(last))
        most = max(1, int(np.sum(chance > ALARMS / 2))) / len(last)
        low, high = usual - most * (usual - ends[0]), usual + most * (ends[1] - usual)
    return Limits(centre, max(ends[0], min(low, centre - half)), min(ends[1], max(high, centre + half)), variance)


def weeks_of(ratings: Ratings, factor: str, judge: str) -> tuple[str, list[Week]]:
    """What is counted, in words, and the weeks in order."""
    parts = {names[-1] if names else "": part for names, part in ratings.each(*COMPARED)}
    if (names := in_time([*parts])) is None:
        few = ", ".join(sorted(parts)[:3])
        named = f"{few}{', ...' if len(parts) > 3 else ''}: their order in time cannot be told by these names"
        raise RecuseError(f"{named}; call the weeks as 2026-01-19, as 2026-W04, or by a number")
    every = {name: answers_of(parts[name], ratings, people=False).people_and_truth[0] for name in names}
    options, place, title = next(iter(every.values())).options, 0, "mean score"
    if options:
        totals = sum(np.nansum(answers.judge_shares, axis=(0, 1)) for answers in every.values())
        stated, rarest = ratings.positive.get(ratings.criterion, ""), np.argmin(np.where(totals > 0, totals, np.inf))
        place = options.index(stated) if stated in options else int(rarest)
        title = f"share of {options[place]}"
    known: dict[tuple[str, str], float] = {}
    weeks = []
    for name, answers in every.items():
        if judge not in answers.judges:
            continue
        k = answers.judges.index(judge)
        values = answers.judge_shares[k][:, place] if options else answers.judge_means[k]
        texts = list(zip(answers.items, answers.targets, strict=True))
        there = [u for u in range(len(texts)) if np.isfinite(values[u])]
        new = [u for u in there if texts[u] not in known]
        moved = [values[u] - known[texts[u]] for u in there if texts[u] in known]
        labelled = agreement_by_text(answers, k)[new]
        weeks.append(Week(name, values[new], labelled[np.isfinite(labelled)], np.array(moved)))
        known |= {texts[u]: float(values[u]) for u in new}
    return title, weeks


def run_weeks(
    files: Sequence[Path], given: Mapping[str, Any], week: str = "", *, to_json: Path | None = None,
    to_csv: Path | None = None,
) -> int:  # fmt: skip
    """The exit code: 1 where a chart alarms in the last week, 2 where no week can be told yet, else 0."""
    check_tables(COLUMNS, to_json, to_csv)
    file, source = files[0], files[0] if len(files) == 1 and week else _below_one_another(files)
    week = week or WEEK
    factors = ",".join(filter(None, (str(given.get("factors") or ""), week)))
    panel = load_file_panel(source, **{**given, "factors": factors})
    ratings = _by_the_calendar(panel.ratings.single(), plain(week))
    if len(ratings.headline) > 1:
        raise RecuseError(f"{file}: weeks are charted for one criterion; leave the columns of the others out: --ignore")
    if others := [name for name in ratings.factors if name not in (*COMPARED, plain(week))]:
        raise RecuseError(f"{file}: texts differ in {', '.join(others)} beside {week}; keep the rows of one")
    codes, printed, rows, anchors = [], [], [], {}
    for judge in panel.judges:
        title, weeks = weeks_of(ratings, plain(week), judge)
        ends = ratings.scale.ends if isinstance(ratings.scale, Numeric) else (0.0, 1.0)
        charts = {title: [one.values for one in weeks], "agreement with people": [one.agreement for one in weeks]}
        own, whose = list[Row](), _whose(weeks)
        for what, values in charts.items():  # a row for each week of each chart that has limits
            for end, one in enumerate(weeks):
                limits = chart(values[: end + 1], ends if what == "mean score" else (0.0, 1.0))
                if limits is not None:
                    value, low, high = float(values[end].mean()), limits.low, limits.high
                    figures = (value, low, high, len(values[end]), not low <= value <= high)
                    own.append(dict(zip(COLUMNS, (judge, what, one.name, *figures), strict=True)))
        code, lines = _in_words(judge, title, weeks, own, whose, 4 if len(panel.judges) < 3 else 1)
        codes.append(code)
        printed += lines
        rows += own
        anchors[judge] = {"texts": len(weeks[-1].moved) if weeks else 0, **whose}
    code = max(codes, key=(0, 2, 1).index, default=2)
    facts = {"week": week, "exit_code": code, "anchors": anchors}
    lines = fitting(printed, 25, "more lines; --judges A shows those of one")
    show_tables("weeks", lines, COLUMNS, rows, facts, to_json, to_csv)
    return code


def _by_the_calendar(ratings: Ratings, factor: str) -> Ratings:
    """With the calendar's weeks, 2026-W04, in place of times, and of days of which several lie in one week."""
    levels = ratings.levels(factor)
    days = bool(levels) and all(map(DAY.fullmatch, levels))
    if not (days or (levels and all(map(TIME.match, levels)))):
        return ratings
    form = "%d.%m.%Y" if days and "." in levels[0] else "ISO8601"
    times = pd.to_datetime(pd.Series(levels, index=levels), format=form, utc=True, errors="coerce")
    weeks = times.dt.strftime("%G-W%V")
    if weeks.isna().any() or (days and weeks.is_unique):
        return ratings
    return replace(ratings, table=ratings.table.assign(**{factor: ratings.table[factor].map(weeks)}), _memory={})


def _below_one_another(files: Sequence[Path]) -> pd.DataFrame | Path:
    """One table of all files, by names or pattern, with a column that names each; the only file, where it has one."""
    each = ([Path(name) for name in sorted(glob.glob(str(one)))] if is_pattern(one) else [one] for one in files)
    paths = [path for group in each for path in group]
    tables = [read_path(path).frame for path in paths]
    if len(paths) == 1 and WEEK in tables[0]:
        return paths[0]
    if len(paths) < 2:
        raise RecuseError(f"{files[0]}: say which column names the week, --week COLUMN, or give a file for each week")
    named = (table.assign(**{WEEK: stem_of(path)}) for table, path in zip(tables, paths, strict=True))
    together = pd.concat(named, ignore_index=True).fillna("")
    together.attrs[CALLED] = ", ".join(file.name for file in files)
    return together


def _in_words(
    judge: str, title: str, weeks: list[Week], rows: list[Row], whose: Mapping[str, Any], shown: int
) -> tuple[int, list[str]]:
    if not rows:
        need = f"limits need {FEWEST} weeks of {FEWEST_TEXTS} texts before the one in question"
        return 2, [f"{judge}: {len(weeks)} weeks; {need}"]
    last, printed = weeks[-1].name, {week.name for week in weeks[-shown:]}
    lines = [
        f"  {r['week']:<12}{r['chart']:<24}{r['value']:>7.3f}   expected {r['low']:.3f} to {r['high']:.3f}, "
        f"{r['texts']:,} texts{'   ALARM' if r['alarm'] else ''}" for r in rows if r["week"] in printed
    ]  # fmt: skip
    newest = [r for r in rows if r["week"] == last]
    unknown = " and ".join(sorted({r["chart"] for r in rows} - {r["chart"] for r in newest}))
    alarming = (r for r in newest if r["alarm"])
    alarms = [f"{r['chart']} {r['value']:.3f}, expected {r['low']:.3f} to {r['high']:.3f}" for r in alarming]
    if unknown and not alarms:  # what is left out is not like the weeks before
        why = f"it has fewer than {FEWEST_TEXTS} texts for that"
        return 2, [f"{judge}: {unknown} of {last} cannot be told; {why}.", *lines]
    if not alarms:
        return 0, [f"{judge}: {last} is like the weeks before it.", *lines]
    number = len(weeks[-1].moved)
    again = f"{number} texts of earlier weeks were judged again; put about 100 into every week"
    cause = f"  judge or system? {again}: what moves on them is the judge"
    if whose:
        one, other = ("{:+.3f} ({:+.3f} to {:+.3f})".format(*whose[name]) for name in ("judge", "system"))
        cause = f"  of {whose['total']:+.3f} in {title}, the judge is {one} by {number} anchors, the system {other}"
    return 1, [f"{judge}: {last} has changed: {'; '.join(alarms)}.", cause, *lines]


def _whose(weeks: list[Week]) -> dict[str, Any]:
    """By anchors: what the last week moved in `total`, and of that the `judge` and the `system`, with intervals."""
    if not weeks:
        return {}
    moved, last = weeks[-1].moved, weeks[-1].values
    limits = chart([one.values for one in weeks])
    if len(moved) < FEWEST_TEXTS or limits is None:
        return {}
    total, judge = float(last.mean()) - limits.centre, float(moved.mean())
    gaps = np.diff(np.unique(np.concatenate([one.values for one in weeks])))
    step = float(gaps[gaps > 1e-9 * gaps.sum()].min()) if len(gaps) else 1.0
    of_judge = max(float(moved.var(ddof=1)), step**2 / len(moved)) / len(moved)  # one more may have moved by a step
    of_total = float(last.var(ddof=1)) / len(last) + limits.variance
    t = float(special.stdtrit(len(moved) - 1, 0.975))
    parts = ((judge, of_judge), (total - judge, of_total + of_judge))
    halves = ((value, t * math.sqrt(variance)) for value, variance in parts)
    one, other = ((value, value - half, value + half) for value, half in halves)
    return {"total": total, "judge": one, "system": other}
