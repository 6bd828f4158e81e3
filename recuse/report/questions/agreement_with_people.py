"""Does a judge agree with people, item by item? The judge beside people among themselves, the ceiling with its margin,
whom of them it may stand in for, what may be left to it, every coefficient, and the slices."""

from __future__ import annotations

from recuse.report.figures import Bars, Cell, ForestPlot, Table, bars, forest_plot, number_cell
from recuse.report.gated_number import Number
from recuse.report.numbers import fixed, is_number
from recuse.report.results_model import Group
from recuse.schema.details import DelegableDetail, SlicesDetail, WinningDetail

ORDER = 5
COEFFICIENTS = (
    "percent_agreement", "cohen_kappa", "scott_pi", "gwet_ac", "krippendorff_alpha", "concordance", "icc_with_people",
    "pearson", "spearman", "kendall", "mean_error", "absolute_error", "true_positive_rate", "true_negative_rate",
    "precision", "f1",
)  # fmt: skip
MOST_GROUPS, MOST_SLICES = 10, 8


def draw(group: Group) -> dict[str, object]:
    return {
        "reading": _reading(group),
        "beyond_chance": _beyond_chance(group),
        "ceiling": _forest(group, "human_ceiling", "Agreement with people less people's own, on the same texts"),
        "annotators": _forest(
            group, "advantage_over_person", "Alternative annotator test: the judge against each person"
        ),
        "winning": _winning(group),
        "delegation": _delegation(group),
        "gain": _forest(group, "gain_over_constant", "Gain over always giving the commonest answer"),
        "unanswered": _forest(group, "unanswered", "Texts that people rated and the judge did not", signed=False),
        "coefficients": _coefficients(group),
        "corrected": _forest(
            group, "prediction_powered_mean", "Mean as people would rate, over all texts", signed=False
        ),
        "slices": _slices(group),
    }


def _reading(group: Group) -> str:
    ceiling = next((n for n in group.of("human_ceiling") if is_number(n.value)), None)
    if ceiling is None:
        return ""
    judge, people = (fixed(ceiling.detail.get(name)) for name in ("judge_human", "human_human"))
    power = ceiling.detail.get("power")
    promised = (
        f" With these texts, a judge that is one more person would be cleared {round(100 * power)} times in 100."
        if is_number(power)
        else ""
    )
    return (
        f"Beyond chance, {group.label(ceiling.who)} agrees with people by {judge}, and people with each other by "
        f"{people}.{promised}"
    )


def _forest(group: Group, metric: str, caption: str, *, signed: bool = True) -> ForestPlot | None:
    return forest_plot(
        group.of(metric), group.label, caption=caption, value_name=caption.partition(",")[0].lower(), signed=signed
    )


def _beyond_chance(group: Group) -> Bars | None:
    """The judges' agreement with people, and people's own on the same texts as the bar to reach."""
    rows = []
    for n in group.of("human_ceiling"):
        judge, people = n.detail.get("judge_human"), n.detail.get("human_human")
        if is_number(judge) and is_number(people):
            name = _named(group, n)
            rows += [
                (f"{name} with people", max(judge, 0.0), fixed(judge), "", n.state),
                (f"people among themselves, same {n.estimate.get('n')} texts", max(people, 0.0), fixed(people), "", ""),
            ]
    return bars(rows, caption="Agreement beyond chance", value_name="1 is full agreement", full=1.0)


def _winning(group: Group) -> Table | None:
    """Whom of the people the judge may stand in for, person by person."""
    rows = [
        [
            Cell(f"{_named(group, n)}, in place of {entry['person']}", outcome="pass" if entry["won"] else "undecided"),
            Cell("yes" if entry["won"] else "not shown"),
            Cell(fixed(entry["advantage"], signed=True)),
            Cell(fixed(entry["p"], 3)),
            Cell(str(entry["n"])),
        ]
        for n in group.of("winning_rate")
        for entry in n.detail_as(WinningDetail).get("people") or ()
    ]
    columns = ["whom it may stand in for", "as well as that person", "advantage", "p", "texts"]
    caption = "Alternative annotator test, corrected over people"
    return Table(caption, columns, rows, frozenset({2, 3, 4})) if rows else None


def _delegation(group: Group) -> list[Bars]:
    """Per judge its groups of texts, surest first: the most errors that labels leave possible, against the bound."""
    drawn = []
    for n in group.of("delegable_share"):
        delegable = n.detail_as(DelegableDetail)
        groups, bound = (delegable.get("groups") or [])[:MOST_GROUPS], delegable.get("bound")
        rows = [
            (
                f"the surest {100 * g['share']:.0f} %" if g["share"] < 1 else "all texts", g["at_most"],
                f"at most {100 * g['at_most']:.1f} % errors", f"{100 * g['errors']:.1f} % of {g['labels']} labels",
                "pass" if g["at_most"] <= bound else "fail",
            )
            for g in groups
            if is_number(bound) and is_number(g["at_most"])
        ]  # fmt: skip
        caption = f"What may be left to {_named(group, n)} at {100 * (bound or 0):.0f} % errors"
        if figure := bars(rows, caption=caption, value_name="bound on errors", head="texts"):
            drawn.append(figure)
    return drawn


def _coefficients(group: Group) -> Table | None:
    """A row per coefficient, a column per judge."""
    judges = list(dict.fromkeys(_named(group, n) for n in group.of(*COEFFICIENTS)))
    by_metric = {(n.metric, _named(group, n)): n for n in group.of(*COEFFICIENTS)}
    rows = [
        [Cell(next(n for (m, _), n in by_metric.items() if m == metric).measure.title),
         *(number_cell(by_metric.get((metric, judge))) for judge in judges)]
        for metric in COEFFICIENTS
        if any(m == metric and is_number(n.value) for (m, _), n in by_metric.items())
    ]  # fmt: skip
    return Table("Every coefficient that fits the scale", ["", *judges], rows) if rows else None


def _slices(group: Group) -> list[Table]:
    """Agreement, and what the judge gives beyond people, slice by slice; the likeliest fault first."""
    tables = []
    for metric, caption, value in (
        ("worst_slice", "Agreement with people, slice by slice", "agreement"),
        ("slice_favour", "The judge less people, slice by slice", "judge less people, of the scale"),
    ):
        rows = [
            [Cell(f"{_named(group, n)}, {entry['column'].replace('target', 'system')} {entry['level']}"),
             Cell(fixed(entry["mean"], signed=metric == "slice_favour")), Cell(fixed(entry["difference"], signed=True)),
             Cell(fixed(entry["p"], 3)), Cell(str(entry["n"]))]
            for n in group.of(metric)
            for entry in (n.detail_as(SlicesDetail).get("slices") or [])[:MOST_SLICES]
        ]  # fmt: skip
        if rows:
            columns = ["slice", value, "less elsewhere", "p, for all looks", "texts"]
            tables.append(Table(caption, columns, rows, frozenset({1, 2, 3, 4})))
    return tables


def _named(group: Group, n: Number) -> str:
    return ", ".join(part for part in (group.label(n.who), n.circumstances) if part)
