"""`recuse plan`: how many texts does it take for a fair judge to be cleared, before they are rated?

Files of growing size are drawn and asked what `recuse check` asks: from a first try, its texts again with what its
people said and judges drawn as one more of these people; from a panel or options alone, people who agree as stated.
Where four of five are cleared is searched for, and the size printed is one at which that was seen in files drawn anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recuse.experiments.drawn_judges import People, people_by_criterion, with_drawn_judges
from recuse.experiments.simulated_files import PERSON_LIKE, Setting
from recuse.experiments.validate_command import Case, Source, error_of, evals_folder, share_cleared, uses_in, words_for
from recuse.gates import Gates
from recuse.ratings import Ratings
from recuse.ratings.answers import people_beside_truth
from recuse.ratings.array import clusters_of
from recuse.readers.file_panel import load_file_panel, panel_of
from recuse.readers.file_ratings import FilePanel
from recuse.schema import RecuseError
from recuse.schema.number_text import html_table, rate
from recuse.security.sanitize import visible

SIZES = (30, 60, 100, 200, 400, 800, 1600)
JUDGES = {"one more person": "cleared if it is one more person (%)",
          "half a person's error": "cleared at half their error (%)"}  # fmt: skip
WITH_TRUTH = dict(zip(JUDGES, ("cleared if it agrees so well (%)", "cleared at half that error (%)"), strict=True))
"""Judge that is drawn -> what its table is called, of a file with people and of one with right answers alone."""
ENOUGH, TRIES = 0.8, 8
NAMES = ("scale", "agreement", "people", "positive", "systems", "repeats", "losses")
TOGETHER = 5  # judges drawn for one file: they share its people, which costs little beside drawing more files


@dataclass(frozen=True, repr=False)
class Plan:
    """`sizes`: the numbers of texts that were tried; `rows`: per kind of judge and use, the share cleared at each, and
    the number of texts at which four of five are, None beyond the largest; `lines`: what the command prints."""

    sizes: tuple[int, ...]
    rows: tuple[tuple[str, str, tuple[float, ...], int | None], ...]
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return visible("\n".join(self.lines))

    def _repr_html_(self) -> str:
        head = ("judge", "use", *(f"{n} texts" for n in self.sizes), f"texts for {ENOUGH:.0%}")
        rows = [(judge, use, *shares, "beyond" if n is None else n) for judge, use, shares, n in self.rows]
        return html_table(self.lines[0], head, rows)

    def to_frame(self) -> pd.DataFrame:
        """One row per kind of judge and use: judge, use, the share cleared at each size, needed."""
        rows = [(judge, use, *shares, needed) for judge, use, shares, needed in self.rows]
        return pd.DataFrame(rows, columns=["judge", "use", *self.sizes, "needed"])


def run_plan(
    source: Path | None, given: Mapping[str, Any], *, evals: Path | None = None, runs: int = 60, seed: int = 1,
    processes: int = 2,
) -> int:  # fmt: skip
    """The command; always exit code 0: a plan is no verdict. `given`: options of `Setting` that were typed."""
    plan(source, evals=evals, runs=runs, seed=seed, processes=processes, show=print, **given)
    return 0


def plan(
    source: Ratings | Path | str | None = None, *, scale: str | None = None, agreement: float | None = None,
    people: int | None = None, positive: float | None = None, systems: int | None = None, repeats: int | None = None,
    losses: float | None = None, evals: Path | str | None = None, runs: int = 60, seed: int = 1, processes: int = 1,
    sizes: int | Sequence[int] = SIZES, show: Callable[[str], None] = lambda line: None,
) -> Plan:  # fmt: skip
    """How many texts until a judge as good as people is cleared: what `recuse plan` finds, by its options.

    `source`: ratings or the file of a first try, or a panel (.toml); none where only options are known. `sizes`:
    numbers of texts, tried from the smallest. `processes` beyond 1 need a script that can be imported. `show` gets each
    line when it is known: it takes minutes. The same seed gives the same plan. `RecuseError` for what does not fit."""
    if runs < 2 or processes < 1:
        raise RecuseError(f"--runs is a whole number from 2 and --processes one from 1; got {runs} and {processes}")
    tried: list[Any] = np.ravel(np.asarray(sizes)).tolist()
    if not tried or not all(isinstance(n, int | float) and n >= 1 and n % 1 == 0 for n in tried):
        raise RecuseError(f"sizes are numbers of texts, for example (60, 240), or one number; got {sizes}")
    sizes = sorted({*map(int, tried)})
    folder = evals_folder(Path(evals) if evals is not None else None)
    stated = zip(NAMES, (scale, agreement, people, positive, systems, repeats, losses), strict=True)
    source = Path(source) if isinstance(source, str) else source
    files, lines = _source(source, {name: value for name, value in stated if value is not None})
    rows: list[tuple[str, str, tuple[float, ...], int | None]] = []

    def add(line: str) -> None:
        lines.append(line)
        show(line)

    show("\n".join(lines))
    for judge, title in (WITH_TRUTH if isinstance(files, Pilot) and files.truth_alone else JUDGES).items():
        cases = [Case(files, n, judge, _files(files, runs)) for n in sizes]
        drawn = words_for(cases, folder, seed=seed, processes=processes, today=date.today())
        add(f"\n{title:<40}texts{''.join(f'{n:>7,}' for n in sizes)}   texts for 80 %")
        for use in uses_in(drawn[-1]):
            shares = [share_cleared(words, use) or 0.0 for words in drawn]
            size = planned_size(files, judge, use, folder, sizes, shares, seed=seed, processes=processes, runs=runs)
            rows.append((judge, use, tuple(shares), size))
            shown = f"not up to {sizes[-1]:,}" if size is None else f"{size:,}"
            add(f"  to {use:<40}{''.join(f'{100 * share:>7.0f}' for share in shares)}   {shown}")
    within = 200 * error_of(0.5, runs)  # two standard errors
    add(f"\n{runs} judges drawn for each number, so 19 in 20 of them are known to within {within:.0f} points.")
    if isinstance(source, Path) and source.suffix == ".toml":
        add("\n".join(["", *_cost_lines(source, rows[0][3] if rows else None)]))
    return Plan(tuple(sizes), tuple(rows), tuple(lines))


def planned_size(
    files: Source, judge: str, use: str, folder: Path, sizes: Sequence[int], shares: Sequence[float], *, seed: int,
    processes: int, runs: int,
) -> int | None:  # fmt: skip
    """The number of texts at which `ENOUGH` of the judges are cleared: where the shares at `sizes`, made monotone,
    reach it, then a tenth more until twice as many files drawn anew say so. None where that is not seen."""
    from scipy.optimize import isotonic_regression

    rising = isotonic_regression(list(shares)).x
    if rising[-1] < ENOUGH:
        return None
    k = int((rising >= ENOUGH).argmax())
    near = slice(max(k - 1, 0), k + 1)
    size = math.exp(np.interp(ENOUGH, rising[near], np.log(sizes[near])))
    for attempt in range(TRIES):
        more = size * 1.1**attempt
        unit = int(10 ** max(0, math.floor(math.log10(more)) - 1))
        texts = math.ceil(more / unit - 1e-9) * unit  # upwards to two digits
        case = Case(files, texts, judge, _files(files, 2 * runs))
        [words] = words_for([case], folder, seed=seed + 1, processes=processes, today=date.today())
        if (share_cleared(words, use) or 0.0) >= ENOUGH:
            return texts
    return None


def _files(files: Source, judges: int) -> int:
    return max(2, math.ceil(judges / TOGETHER)) if isinstance(files, Pilot) else judges


def _source(source: Ratings | Path | None, given: Mapping[str, Any]) -> tuple[Source, list[str]]:
    if source is None:
        return _stated(Setting(), given, {})
    if isinstance(source, Path) and not source.is_file():
        raise RecuseError(f"{source}: no such file; give a panel (.toml), a file of ratings, or only sizes as options")
    if isinstance(source, Path) and source.suffix == ".toml":
        plan, task, _ = _largest(source)
        low, high = (float(end) for end in task.scale)
        if low != round(low) or high != round(high):
            fault = f"its scale {low:g}-{high:g} has no whole steps"
            raise RecuseError(f"{source}: {fault}; plan from a file of ratings instead")
        systems = len({target for _, _, target in plan.items})
        measured = {"scale": f"{low:.0f}-{high:.0f}", "systems": systems, "repeats": plan.repeats}
        return _stated(Setting(**measured), given, measured)
    rest = {name: value for name, value in given.items() if name != "agreement"}
    scale = {"scale": rest.pop("scale")} if isinstance(source, Path) and "scale" in rest else {}
    if needless := sorted(rest):
        place = source if isinstance(source, Path) else "these ratings"
        raise RecuseError(f"--{needless[0]} is measured from {place}; leave it out, or plan without a file")
    panel = panel_of(source) if isinstance(source, Ratings) else load_file_panel(source, **scale)
    panel = replace(panel, ratings=panel.ratings.single())
    pilot = Pilot(panel, given.get("agreement", Setting().agreement))
    if not pilot.people:
        step = "add a person's ratings, or give sizes alone: recuse plan --scale 0-10 --people 3 --agreement 0.6"
        raise RecuseError(f"nobody's ratings are in this file, so there is no agreement to plan with; {step}")
    return pilot, list(_of_pilot(pilot, panel.path))


def _stated(setting: Setting, given: Mapping[str, Any], measured: Mapping[str, Any]) -> tuple[Source, list[str]]:
    setting = replace(setting, **given)
    known = {*given, *measured, *(() if setting.scale == "pass/fail" else ("positive",))}
    assumed = [name for name in NAMES if name not in known]
    who = "1 person who agrees with others" if setting.people == 1 else f"{setting.people} people who agree"
    agree = f"{who} by {'ICC' if setting.numbers else 'kappa'} {setting.agreement:.2f}"
    passing = f", {rate(setting.positive)} pass" if setting.scale == "pass/fail" else ""
    judge = f"a judge asked {_times(setting.repeats)}, {100 * setting.losses:.3g} % lost"
    lines = [f"planned: scale {setting.scale}, {agree}{passing}, {setting.systems} systems, {judge}"]
    if assumed:
        lines.append(f"assumed, not measured: {', '.join(assumed)}; say what you know with --{', --'.join(assumed)}")
    return setting, lines


def _times(repeats: int) -> str:
    return "once" if repeats == 1 else f"{repeats} times"


def _of_pilot(pilot: Pilot, source: Path) -> Iterator[str]:
    ratings = pilot.panel.ratings
    repeats = int(ratings.table["repeat"].max()) + 1
    for criterion, people in pilot.people.items():
        about = f" of {criterion}" if len(pilot.people) > 1 else ""
        twice = int((people.raters > 1).sum())
        how = f"agree by {people.agreement:.2f} beyond chance on {twice} texts, as measured"
        if not twice:
            how = f"are assumed to agree by {people.agreement:.2f} (--agreement), for no text was rated by two"
        each = float(people.raters.mean())
        some = f", {each:.2g} of them on a text" if each < 0.95 * len(people.values) else ""
        who = f"{len(people.values)} people{some}, who {how}"
        if pilot.truth_alone:
            who = f"right answers ({ratings.truth}), with which judges agree by {people.agreement:.2f} (--agreement)"
        yield f"planned from {source.name}{about}: {len(people.raters)} texts, {who}"
        if people.answers.options:
            options = people.answers.options
            counts = people.answers.evened(np.array([(people.values == k).sum() for k in range(len(options))], float))
            shares = zip(options, counts / max(counts.sum(), 1), strict=True)
            yield "  " + ", ".join(f"{rate(share)} {name}" for name, share in shares)
    yield f"  judges asked {_times(repeats)}, {100 * pilot.losses:.3g} % of replies lost"


def _largest(path: Path) -> tuple[Any, Any, list[Any]]:
    """The largest plan of a panel whose texts are scored, its task, and all of these plans."""
    from recuse.suite import Selection

    # the repository that a panel file belongs to is where its fixtures/ is
    root = next((folder.parent for folder in path.resolve().parents if folder.name == "fixtures"), Path.cwd())
    selection = Selection.load(root, [str(path.resolve())])
    offering, _ = selection.offering(["scores", "numbers"], rests_on="margins")
    if not offering:
        raise RecuseError(f"{path}: no task of this panel has texts scored by numbers; give sizes as options instead")
    plans = [selection.plan(one) for one in offering]
    largest = max(plans, key=lambda plan: len(plan.items) * plan.repeats)
    return largest, selection.task_of(offering[plans.index(largest)]), plans


def _cost_lines(path: Path, needed: int | None) -> list[str]:
    """What the panel's calls cost as it stands, and with the texts that its use needs."""
    from recuse.elicitation.chains import Chain
    from recuse.recording.budget import expected_costs, total

    largest, _, plans = _largest(path)
    chains = [Chain(plan) for plan in plans]
    costs = [cost for chain in chains for cost in expected_costs(chain.expected(), chain.judges)]
    calls, dollars = sum(cost.calls for cost in costs), total(cost.dollars for cost in costs)
    lines = [f"as it stands: {calls:,} calls that score texts, {_money(dollars)}"]
    texts = len({(item, target) for _, item, target in largest.items})
    if needed is not None and needed > texts:
        more = None if dollars is None else dollars * (needed / texts)
        lines.append(f"with {needed:,} texts: {math.ceil(calls * (needed / texts)):,} calls, {_money(more)}")
    return lines


def _money(dollars: float | None) -> str:
    return "price unknown (give judges a price in the panel file)" if dollars is None else f"at most ${dollars:,.2f}"


class Pilot(NamedTuple):
    """A file of ratings to draw larger ones from. `assumed`: how well people agree, where the file has one person."""

    panel: FilePanel
    assumed: float

    @property
    def people(self) -> dict[str, People]:
        """What people said, by criterion."""
        return people_by_criterion(self.panel.ratings, self.assumed)

    @property
    def truth_alone(self) -> bool:
        """Whether judges are held against right answers, and nobody else rated."""
        return bool(self.panel.ratings.truth) and not people_beside_truth(self.panel.ratings)

    @property
    def losses(self) -> float:
        """Share of the judges' replies that cannot be used."""
        table = self.panel.ratings.table
        judged = table[table["kind"] == "judge"]
        return float((judged["status"] != "ok").mean()) if len(judged) else 0.0

    def draw(self, texts: int, judge: str, rng: np.random.Generator, gates: Gates) -> FilePanel:
        """As `Source.draw`: whole clusters (items, where texts share none) are drawn with replacement."""
        ratings = self.panel.ratings
        known, items = ratings.texts, ratings.coded("item")[0]
        units = dict(zip(items, clusters_of(ratings, items), strict=True))
        counts = ratings.table.drop_duplicates(["item", "target"])["item"].astype(str).map(units).value_counts()
        drawn = counts.index.to_numpy()[rng.choice(len(counts), size=max(2, round(texts / counts.mean())))]
        table = _repeated(ratings.table, units, drawn)
        known = None if known is None else _repeated(known, units, drawn)
        ratings = replace(ratings, table=table, texts=known, _memory={})
        people = people_by_criterion(ratings, self.assumed)
        ratings = with_drawn_judges(ratings, people, TOGETHER, rng, PERSON_LIKE[judge])
        table = ratings.table.copy()
        lost = (table["kind"] == "judge").to_numpy() & (rng.random(len(table)) < self.losses)
        table.loc[lost, ["score", "response", "status"]] = [np.nan, None, "unparsed"]
        return replace(self.panel, ratings=replace(ratings, table=table, _memory={}), older=())


def _repeated(frame: pd.DataFrame, units: Mapping[str, str], drawn: Iterable[str]) -> pd.DataFrame:
    """The rows of each unit as often as it was drawn, under new names of items and clusters."""
    of_row = frame["item"].astype(str).map(units)
    rows = of_row.groupby(of_row).indices
    parts = [rows.get(unit, np.array([], dtype=np.intp)) for unit in drawn]
    repeated = frame.iloc[np.concatenate(parts)].reset_index(drop=True)
    turn = np.repeat(np.arange(len(parts)), [len(part) for part in parts]).astype(str)
    for name in ("item", "cluster"):
        if name in repeated:
            repeated[name] = repeated[name].astype(str) + np.char.add(" draw ", turn)
    return repeated
