"""What `recuse experiment selection` prints: the findings of the paper, and what they rest on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recuse.papers.indeterminacy import selection_study as simulated
from recuse.papers.indeterminacy.aggregation import TAUS
from recuse.papers.indeterminacy.definitions import definition
from recuse.papers.indeterminacy.selection_study import CATEGORICAL, DISTRIBUTIONAL, SETTINGS, SelectionStudy
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

HIT = "hit_rate(h/h)"
SPECIFIED, SYMMETRIC, SKEWED, RANDOM, _ = SETTINGS


def selection(*, trials: int, seed: int, workers: int | None) -> int:
    """`recuse experiment selection`: exit code 0. Progress goes to stderr, findings and tables to stdout; what stands
    beside the study takes a quarter of the trials, errors an eighth. `RecuseError` for fewer than one trial."""
    if trials < 1:
        raise RecuseError(f"--trials is 1 or more; got {trials}")

    def progress(setting: str, done: int, trials: int) -> None:
        print(f"\r{setting}: {done} of {trials} trials {'':<20}", end="", file=sys.stderr, flush=True)

    workers, side = workers or min(2, os.cpu_count() or 1), max(2, trials // 4)
    study = simulated.selection_study(trials, seed=seed, workers=workers, progress=progress)
    few = simulated.few_ratings(SETTINGS[SYMMETRIC], trials=side)
    bias = simulated.forced_choice_bias(trials=side)
    print(file=sys.stderr)
    print(f"Judge selection: {trials} simulated trials per setting, seed {seed}\n\n{text(study, few, bias)}")
    print(*simulated.error_tables(max(2, trials // 8)), sep="\n")
    return 0


def text(study: SelectionStudy, few: simulated.FewRatings, choice_bias: Mapping[float, Floats]) -> str:
    """Findings; then, by setting and measure, what its judge is worth (figures 4 and 13) and what finding 1a rests on;
    how every measure ranks judges (figures 5 and 14); what people's own answers miss by threshold (6 and 15)."""
    lines = []
    for finding in findings(study, few, choice_bias):
        word = "holds" if finding.holds else "does not hold"
        lines += [f"Finding {finding.number}, {word} here: {finding.claim}", f"    {finding.here}"]
    lines += ["", "Of the judge that a measure chooses, by ratings per item: consistency, |bias|; then what is gained",
              "by a second and third rating / by it for the hit rate at one"
              ]  # fmt: skip
    for setting in study.settings:
        lines += ["", f"{setting:<44}" + "".join(f"{budget:>14d}" for budget in study.budgets)]
        for name in study.names:
            pairs = ((study.chosen(setting, name, n), study.biased(setting, name, n)) for n in study.budgets)
            gained = "{:+.3f} / {:+.3f}".format(*_gained(study, setting, name))
            values = "".join(f"{consistent:>7.3f}, {off:.3f}" for consistent, off in pairs)
            lines.append(f"    {name:<40}{values}   {gained}")
    short = "".join(f"{setting.split()[-2]:>14}" for setting in study.settings)
    lines += ["", f"{'Rank correlation with consistency':<44}{short}"]
    for each in simulated.RANKING:
        lines.append(f"    {each.name:<40}" + "".join(f"{study.rho(s, each.name):>14.2f}" for s in study.settings))
    people = {f"{n:g} of many ratings": few.bias[k] for k, n in enumerate(few.budgets)}
    people |= {f"choices for sets, Gamma {strength:g}": bias for strength, bias in choice_bias.items()}
    lines += ["", f"{'Prevalence too high, by threshold':<44}" + "".join(f"{tau:>14g}" for tau in TAUS)]
    lines += [f"    {name:<40}" + "".join(f"{value:>+14.3f}" for value in bias) for name, bias in people.items()]
    alike = "".join(f"{value:>14.3f}" for value in few.consistency[0])
    return "\n".join([*lines, f"    {'decided by one rating as by many':<40}{alike}"])


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


def findings(study: SelectionStudy, few: simulated.FewRatings, choice_bias: Mapping[float, Floats]) -> list[Finding]:
    """From the whole grid, decisions of a few raters on an underspecified task, and the bias of forced choice by
    Gamma. A claim about measures holds where it does for the one that fits it worst, of all that see forced choices
    alone (`CATEGORICAL`, `DISTRIBUTIONAL`): whichever is picked by hand, another may say the opposite."""
    first = float(few.consistency[0].mean())
    claim = "Decisions from one rating per item differ from those of everybody for about 30 % of the items."
    people = [Finding("4a", claim, f"They differ for {1 - first:.0%}.", 0.1 - abs(first - 0.7), 0.0)]
    least = max(float(values.max()) for values in choice_bias.values())
    claim = "Forced choice underestimates prevalence against response sets."
    here = f"The bias is {least:+.2f} at the selection strength and threshold where it is least."
    return [*_budget(study), *_ranking(study), *people, Finding("4b", claim, here, -least, 0.0)]


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
    return definition(name).title.partition(",")[0]


def _gained(study: SelectionStudy, setting: str, name: str) -> tuple[float, float]:
    """Consistency gained by the second and third rating, and at one rating by the measure instead of the hit rate."""
    one = study.chosen(setting, name, 1)
    return study.chosen(setting, name, 3) - one, one - study.chosen(setting, HIT, 1)


def _ranking(study: SelectionStudy) -> Iterator[Finding]:
    lost = {name: study.rho(SYMMETRIC, name) - study.rho(SKEWED, name) for name in (*CATEGORICAL, *DISTRIBUTIONAL)}
    categorical = [lost[name] for name in CATEGORICAL]
    least, most = min(categorical), max(lost[name] for name in DISTRIBUTIONAL)
    claim = (
        "Categorical measures fail where the task is underspecified and selection is asymmetric; distributional ones "
        "do not."
    )
    here = (
        f"Rank correlation with consistency falls by {least:.2f} to {max(categorical):.2f} by a categorical measure, "
        f"by {most:.2f} at most by a distributional one."
    )
    yield Finding("2", claim, here, least - most, 0.1)
    error = {name: study.rho(SKEWED, name) - study.rho(RANDOM, name) for name in CATEGORICAL}
    name = min(CATEGORICAL, key=lambda name: lost[name] - error[name])
    claim = "Error of raters alone changes the ranking of judges less than selection effects do."
    here = (
        f"The rank correlation of {_title(name)} with consistency: {lost[name]:.2f} lost by asymmetric "
        f"selection, {error[name]:.2f} more by errors in 30 % of the ratings."
    )
    yield Finding("3", claim, here, lost[name] - error[name], 0.05)
