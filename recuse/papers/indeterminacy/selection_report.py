"""The report of `recuse experiment selection`: findings, and the figures of the studies as panels of one page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recuse.papers.indeterminacy import selection_study as studies
from recuse.papers.indeterminacy.aggregation import TAUS
from recuse.papers.indeterminacy.definitions import definition
from recuse.papers.indeterminacy.line_chart import LineChart, line_chart
from recuse.papers.indeterminacy.selection_study import (
    ASYMMETRIC,
    SETTINGS,
    FewRatings,
    Progress,
    SelectionStudy,
    selection_study,
)
from recuse.papers.indeterminacy.simulated_ratings import Design
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.security.files import check_output, write_output

SHOWN = (
    "hit_rate(h/h)", "cohen_kappa(h/h)", "kl_people_judge(s/s)", "js_divergence(s/s)", "mse(s/s)", "coverage(h/hrs)",
    "mse(srs/srs)",
)  # fmt: skip
CATEGORICAL = ("hit_rate(h/h)", "krippendorff_alpha(h/h)", "cohen_kappa(h/h)", "scott_pi(h/h)")
DISTRIBUTIONAL = (
    "kl_people_judge(s/s)", "kl_judge_people(s/s)", "cross_entropy_people_judge(s/s)",
    "cross_entropy_judge_people(s/s)", "js_divergence(s/s)", "mse(s/s)",
)  # fmt: skip
RATINGS, CONSISTENT, BIASED = "ratings per item", "consistency", "|bias|"


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure: what it shows, how to read it, and its charts or a table."""

    title: str
    reading: str
    charts: tuple[LineChart, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """What was simulated, what came out, and its drawings."""

    trials: int
    seed: int
    study: SelectionStudy
    findings: tuple[Finding, ...]
    panels: tuple[Panel, ...]


def run(trials: int = 100, *, seed: int = 1, workers: int = 1, progress: Progress | None = None) -> Experiment:
    """Every study; those beside the grid take a quarter of the trials."""
    study = selection_study(trials, seed=seed, workers=workers, progress=progress)
    side = max(2, trials // 4)
    designs = {name: SETTINGS[name] for name in ("fully specified", "symmetric selection")} | {"no selection": Design()}
    few = {name: studies.few_ratings(design, trials=side) for name, design in designs.items()}
    bias = studies.forced_choice_bias(trials=side)
    panels = (*_grid(study), _few(few), _forced(bias), *_errors(side), _by_tau(few["no selection"]))
    return Experiment(trials, seed, study, findings(study, few["symmetric selection"], bias), panels)


def page(experiment: Experiment) -> str:
    """One HTML file without scripts."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    env = Environment(loader=PackageLoader("recuse.experiments"), autoescape=True, undefined=StrictUndefined)
    return env.get_template("experiment.html.j2").render(it=experiment)


def text(experiment: Experiment) -> str:
    """Findings and the main table for the terminal."""
    study = experiment.study
    lines = [f"Judge selection: {experiment.trials} simulated trials per setting, seed {experiment.seed}", ""]
    for finding in experiment.findings:
        word = "holds" if finding.holds else "does not hold"
        lines += [f"Finding {finding.number}, {word} here: {finding.claim}", f"    {finding.here}"]
    lines += ["", f"{'Consistency of the chosen judge, by ratings per item':<54}"
              + "".join(f"{budget:>7d}" for budget in study.budgets)]  # fmt: skip
    for setting in study.settings:
        lines.append(setting)
        for name in SHOWN:
            values = "".join(f"{study.chosen(setting, name, budget):>7.3f}" for budget in study.budgets)
            lines.append(f"    {definition(name).title:<34} {name[name.index('(') :]:<15}{values}")
    lines += ["", "Finding 1a by measure: gained by a second and third rating / at one rating, instead of the hit rate"]
    lines += [f"    {name:<30}" + "".join(f"{cell:>18}" for cell in cells) for name, *cells in _by_measure(study)]
    return "\n".join(lines)


def _grid(study: SelectionStudy) -> tuple[Panel, ...]:
    def charts(names: Sequence[str], what: str, settings: Sequence[str]) -> tuple[LineChart, ...]:
        values = study.consistency if what == CONSISTENT else study.abs_bias
        ends = (0.75, 1.0) if what == CONSISTENT else (0.0, 0.12)
        charts = []
        for setting in settings:
            here = values[study.settings.index(setting)].mean(axis=0)
            lines = {name: here[:, study.names.index(name)].tolist() for name in names}
            charts.append(line_chart(setting, study.budgets, lines, RATINGS, what, logarithmic=True, ends=ends))
        return tuple(charts)

    middle = study.settings[1:3]
    rows = tuple((name, *(f"{study.rho(setting, name):.2f}" for setting in study.settings)) for name in study.names)
    columns = ("definition", *study.settings)
    how = (
        "Spearman's rho of the ranking of 50 judges by a definition with their ranking by consistency; whole "
        "populations."
    )
    four = (
        "Each line is a definition of performance; its judge is scored on all raters, mean over tau of .3, .5, .7. "
        "Parentheses: aggregation of judge and people, h hard, s soft, hrs and srs response sets."
    )
    gained = "Consistency of the chosen judge: by a second and third rating / by the measure instead of the hit rate."
    both = (*charts(SHOWN, CONSISTENT, study.settings), *charts(SHOWN, BIASED, study.settings))
    kinds = (*charts(DISTRIBUTIONAL, CONSISTENT, middle), *charts((*CATEGORICAL, "mse(srs/srs)"), CONSISTENT, middle))
    shown = tuple(row for row in rows if row[0] in SHOWN)
    return (
        Panel("Finding 1a, measure by measure", gained, (), columns, _by_measure(study)),
        Panel("Figure 4. Judges chosen by different definitions", four, both),
        Panel("Figure 5. Which definitions rank judges as their use does", how, (), columns, shown),
        Panel("Figure 13. Distributional and categorical definitions", "As figure 4, without error.", kinds),
        Panel("Figure 14. Every definition", how, (), columns, rows),
    )


def _by_measure(study: SelectionStudy) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (name, *("{:+.3f} / {:+.3f}".format(*_gained(study, setting, name)) for setting in study.settings))
        for name in (*CATEGORICAL, *DISTRIBUTIONAL)
    )


def _few(few: dict[str, studies.FewRatings]) -> Panel:
    budgets = next(iter(few.values())).budgets
    lines = {name: study.consistency.mean(axis=1).tolist() for name, study in few.items()}
    chart = line_chart("mean over tau", budgets, lines, RATINGS, CONSISTENT, logarithmic=True)
    return Panel("Figure 6, left. Decisions of a few raters against those of all", "No judge is involved.", (chart,))


def _forced(bias: dict[float, Floats]) -> Panel:
    lines = {f"tau {tau:g}": [float(values[k]) for values in bias.values()] for k, tau in enumerate(TAUS)}
    chart = line_chart("by selection strength", list(bias), lines, "Gamma", "bias")
    reading = "Prevalence by forced choice less prevalence by response sets: below 0 it underestimates. No rater errs."
    return Panel("Figure 6, right. What forced choice misses", reading, (chart,))


def _errors(trials: int) -> tuple[Panel, ...]:
    chosen = studies.chosen_under_error(trials=trials)
    tasks = {"underspecified": ASYMMETRIC, "specified": replace(ASYMMETRIC, sets=0)}
    ranked = {word: studies.rankings_under_error(design=design, trials=trials) for word, design in tasks.items()}
    biased = {word: studies.prevalence_under_error(specified=word == "specified", trials=trials) for word in tasks}
    ten = [_over(word, _of(chosen, word), CONSISTENT) for word in studies.SELECTION]
    eleven = [
        _over(f"{name}, {word}", _of(rho, name), "rho") for word, rho in ranked.items() for name in studies.RANKED
    ]
    twelve = [_over(word, rho, "bias") for word, rho in biased.items()]
    how = "Spearman's rho of the two rankings; population distributions."
    against = "Against response sets without error, mean over tau."
    return (
        Panel("Figure 10. The hit rate's judge under error and selection", "100 ratings per item.", tuple(ten)),
        Panel("Figure 11. Rankings by people with error against those by people without", how, tuple(eleven)),
        Panel("Figure 12. Prevalence from forced choices with error", against, tuple(twelve)),
    )


def _of(rho: Mapping[tuple[str, float, float], float], name: str) -> dict[tuple[float, float], float]:
    return {(error, skew): value for (key, error, skew), value in rho.items() if key == name}


def _over(title: str, values: Mapping[tuple[float, float], float], y_name: str) -> LineChart:
    """A chart over epsilon with a line per eta."""
    lines = {f"eta {skew:g}": [values[error, skew] for error in studies.ERRORS] for skew in studies.SKEWS}
    return line_chart(title, studies.ERRORS, lines, "epsilon", y_name)


def _by_tau(study: studies.FewRatings) -> Panel:
    charts = []
    for title, values in ((CONSISTENT, study.consistency), ("bias", study.bias)):
        lines = {f"tau {tau:g}": values[:, k].tolist() for k, tau in enumerate(TAUS)}
        charts.append(line_chart(title, study.budgets, lines, RATINGS, title, logarithmic=True))
    return Panel("Figure 15. A few raters by threshold", "Which way the bias goes depends on tau.", tuple(charts))


# --------------------------------------------------------------------------- findings 1 to 4 of Guerdan et al


HIT = "hit_rate(h/h)"
SPECIFIED, SYMMETRIC, SKEWED = "fully specified", "symmetric selection", "asymmetric selection"
RANDOM = "asymmetric, random error"


@dataclass(frozen=True, slots=True)
class Finding:
    """`number` of the paper, the claim, what came out here, and whether the `difference` exceeds `margin`."""

    number: str
    claim: str
    here: str
    difference: float
    margin: float

    @property
    def holds(self) -> bool:
        """Whether the difference exceeds the margin, so that the claim of the paper came out here too."""
        return self.difference > self.margin


def findings(study: SelectionStudy, few: FewRatings, choice_bias: Mapping[float, Floats]) -> tuple[Finding, ...]:
    """From the whole grid, decisions of a few raters on an underspecified task, and the bias of forced choice by
    Gamma. A claim about measures holds where it does for the one that fits it worst, of all that see forced choices
    alone (`CATEGORICAL`, `DISTRIBUTIONAL`): whichever is picked by hand, another may say the opposite."""
    lost = {name: study.rho(SYMMETRIC, name) - study.rho(SKEWED, name) for name in (*CATEGORICAL, *DISTRIBUTIONAL)}
    least, most = min(lost[name] for name in CATEGORICAL), max(lost[name] for name in DISTRIBUTIONAL)
    claim = (
        "Categorical measures fail where the task is underspecified and selection is asymmetric; distributional ones "
        "do not."
    )
    here = (
        f"Rank correlation with consistency falls by {least:.2f} to {max(lost[name] for name in CATEGORICAL):.2f} by a "
        f"categorical measure, by {most:.2f} at most by a distributional one."
    )
    second = Finding("2", claim, here, least - most, 0.1)
    return (*_budget(study), second, _error(study, lost), *_people(few, choice_bias))


def _budget(study: SelectionStudy) -> Iterator[Finding]:
    others = [name for name in (*CATEGORICAL, *DISTRIBUTIONAL) if name != HIT]
    by_name = {name: _gained(study, SKEWED, name) for name in others}
    worst = min(others, key=lambda name: by_name[name][0] - by_name[name][1])
    more, switch = by_name[worst]
    true = sum(gain > other for gain, other in by_name.values())
    effect = study.chosen(SYMMETRIC, HIT, 1) - study.chosen(SKEWED, HIT, 1)
    claim = "Three ratings per item instead of one help more than changing the measure."
    here = (
        f"True of {true} of {len(others)} measures, by consistency under asymmetric selection. {_title(worst)}: "
        f"{more:+.3f} by the second and third rating, {switch:+.3f} by choosing with it instead of the hit rate at "
        f"one. Who keeps the hit rate gains {_gained(study, SKEWED, HIT)[0]:+.3f}. Asymmetric selection costs the hit "
        f"rate {effect:.3f}."
    )
    yield Finding("1a", claim, here, more - switch, 0.005)
    pairs = {name: (study.chosen(SPECIFIED, name, 1), study.chosen(SKEWED, name, 3)) for name in (HIT, *others)}
    name, (one, three) = min(pairs.items(), key=lambda pair: pair[1][0] - pair[1][1])
    claim = "One rating of a fully specified task does as well as three of an underspecified one."
    here = f"Consistency {one:.3f} against {three:.3f} by {_title(name)}, where the two are closest."
    yield Finding("1b", claim, here, one - three, -0.01)


def _title(name: str) -> str:
    """What a measure is called, without its unit."""
    return definition(name).title.partition(",")[0]


def _gained(study: SelectionStudy, setting: str, name: str) -> tuple[float, float]:
    """Consistency gained by the second and third rating, and at one rating by the measure instead of the hit rate."""
    one = study.chosen(setting, name, 1)
    return study.chosen(setting, name, 3) - one, one - study.chosen(setting, HIT, 1)


def _error(study: SelectionStudy, lost: Mapping[str, float]) -> Finding:
    error = {name: study.rho(SKEWED, name) - study.rho(RANDOM, name) for name in CATEGORICAL}
    name = min(CATEGORICAL, key=lambda name: lost[name] - error[name])
    claim = "Error of raters alone changes the ranking of judges less than selection effects do."
    here = (
        f"The rank correlation of {_title(name)} with consistency: {lost[name]:.2f} lost by asymmetric "
        f"selection, {error[name]:.2f} more by errors in 30 % of the ratings."
    )
    return Finding("3", claim, here, lost[name] - error[name], 0.05)


def _people(few: FewRatings, choice_bias: Mapping[float, Floats]) -> Iterator[Finding]:
    first = float(few.consistency[0].mean())
    claim = "Decisions from one rating per item differ from those of everybody for about 30 % of the items."
    yield Finding("4a", claim, f"They differ for {1 - first:.0%}.", 0.1 - abs(first - 0.7), 0.0)
    least = max(float(values.max()) for values in choice_bias.values())
    claim = "Forced choice underestimates prevalence against response sets."
    here = f"The bias is {least:+.2f} at the selection strength and threshold where it is least."
    yield Finding("4b", claim, here, -least, 0.0)


# --------------------------------------------------------------------------- `recuse experiment selection`


def selection(*, trials: int, seed: int, workers: int | None, html: Path | None) -> int:
    """Exit code 0. Progress goes to stderr, findings to stdout. `RecuseError` for fewer than one trial."""
    if trials < 1:
        raise RecuseError(f"--trials is 1 or more; got {trials}")
    check_output(html, _is_ours)
    experiment = run(trials, seed=seed, workers=workers or min(2, os.cpu_count() or 1), progress=_print_progress)
    print(file=sys.stderr)
    print(text(experiment))
    if html is not None:
        write_output(html, page(experiment), _is_ours)
        print(f"\nwrote {html}")
    return 0


def _is_ours(text: str) -> bool:
    return "<title>Judge selection without gold labels</title>" in text


def _print_progress(setting: str, done: int, trials: int) -> None:
    print(f"\r{setting}: {done} of {trials} trials {'':<20}", end="", file=sys.stderr, flush=True)
