"""Is one answer always right, and does the judge decide as people do where it is not? Decisions and their doubt, how
thresholds and beta move them, agreement by definition, and what would settle it."""

from __future__ import annotations

from recuse.report.figures import Cell, Table, forest_plot, number_cell
from recuse.report.gated_number import Number
from recuse.report.numbers import fixed, is_number
from recuse.report.results_model import Group
from recuse.schema.details import GridDetail, PrevalenceDetail, RatingsNeededDetail

ORDER = 31


def draw(group: Group) -> dict[str, object]:
    return {
        "reading": " ".join(_advice(group)),
        "consistency": forest_plot(
            [*group.of("decision_consistency"), *group.of("consistency_over_beta")], group.label,
            caption="Texts decided as people decide", value_name="share", minimum=0, maximum=1,
        ),
        "bias": forest_plot(
            [*group.of("prevalence_bias"), *group.of("bias_over_beta")], group.label,
            caption="Share of positive texts, judge less people", value_name="share", signed=True,
        ),
        "grids": _grids(group),
        "definitions": _definitions(group),
        "people": _people(group),
        "sets": _sets(group),
    }  # fmt: skip


def _advice(group: Group) -> list[str]:
    """What to do, decided by what was measured."""
    advice = []
    several = next((n for n in group.of("indeterminate_share") if n.subject.get("rater") == "people"), None)
    if several is not None and is_number(several.value):
        advice.append(f"People named more than one option in {fixed(100 * several.value, 0)} % of their answers.")
        if several.value > 0:
            advice.append("Specify the task fully: add an option for what may be either, with a rule when to use it.")
    else:
        advice.append("Whether people would have accepted another option too was not asked; ask for all that apply.")
    numbers = [n for n in group.of("ratings_needed") if is_number(n.detail.get("have"))]
    needed = [(n, n.detail_as(RatingsNeededDetail)) for n in numbers]
    if any(there["have"] < 3 for _, there in needed):
        advice.append("Ask three people per text, not one: that helps more than another measure would.")
    short = [(n, there) for n, there in needed if is_number(n.value) and n.value > there["have"]]
    if short:
        most, there = max(short, key=lambda one: one[0].amount)
        advice.append(
            f"{there['have']} ratings per text decide {fixed(100 * there['now'], 0)} % of the texts as "
            f"everybody would at a threshold of {there['tau']:g}; {most.value:.0f} would decide "
            f"{fixed(100 * there['wanted'], 0)} %."
        )
    advice.append("Choose judges by shares (Jensen-Shannon) or response sets, not by the commonest answer alone.")
    return advice


def _grids(group: Group) -> Table | None:
    """Consistency by threshold and beta, a row per judge and threshold."""
    numbers = [(n, n.detail_as(GridDetail)) for n in group.of("consistency_over_beta") if n.detail.get("value")]
    rows = [
        [
            Cell(group.label(n.who), ", ".join(filter(None, (f"tau {tau:g}", n.circumstances)))),
            *(Cell(fixed(value)) for value in values),
        ]
        for n, grid in numbers
        for tau, values in zip(grid["taus"], grid["value"], strict=True)
    ]
    columns = ["judge", *(f"beta {beta:g}" for beta in numbers[0][1]["betas"])] if numbers else []
    return Table("Texts decided alike, by threshold and beta", columns, rows) if rows else None


def _definitions(group: Group) -> Table | None:
    numbers = group.of("performance")
    judges = list(dict.fromkeys(n.who for n in numbers))
    rows = []
    for name in dict.fromkeys(n.subject.get("definition", "") for n in numbers):
        mine = [n for n in numbers if n.subject.get("definition") == name]
        by_judge = {n.who: n for n in reversed(mine)}
        title = next((str(n.detail["title"]) for n in mine if "title" in n.detail), name)
        better = "more is better" if any(n.detail.get("higher") for n in mine) else "less is better"
        aggregation = name[name.find("(") :]
        rows.append([Cell(f"{title} {aggregation}", better), *(number_cell(by_judge.get(judge)) for judge in judges)])
    caption = "Agreement by definition: in brackets what is kept of the judge's and of people's answers"
    return Table(caption, ["definition", *map(group.label, judges)], rows) if rows else None


def _people(group: Group) -> Table | None:
    """By threshold: how many ratings settle it, and how far people's share could move."""
    needed = {n.subject.get("threshold", ""): n for n in group.of("ratings_needed")}
    moved = {n.subject.get("threshold", ""): n for n in group.of("prevalence_shift")}
    rows = [
        [
            Cell(f"tau {tau}"),
            number_cell(needed.get(tau)),
            *(_share(needed.get(tau), key) for key in ("now", "one")),
            *_prevalence(moved.get(tau)),
        ]
        for tau in dict.fromkeys([*needed, *moved])
    ]
    columns = [
        "threshold",
        "ratings per text for 9 in 10",
        "alike now",
        "alike by one rating",
        "people's share",
        "beta .4",
    ]
    return Table("What would settle it", columns, rows) if rows else None


def _share(number: Number | None, key: str) -> Cell:
    value = number.detail.get(key) if number is not None else None
    return Cell(f"{fixed(100 * value, 0)} %" if is_number(value) else "–")


def _prevalence(number: Number | None) -> list[Cell]:
    shares = number.detail_as(PrevalenceDetail).get("prevalence", ()) if number is not None else ()
    ends = (shares[0], shares[-1]) if shares else (None, None)
    return [Cell(f"{fixed(100 * value, 0)} %" if is_number(value) else "–") for value in ends]


def _sets(group: Group) -> Table | None:
    several, beta = (
        {n.subject.get("rater", ""): n for n in group.of(name)} for name in ("indeterminate_share", "accepted_both")
    )
    rows = [
        [
            Cell(rater if rater == "people" else group.label(rater)),
            number_cell(several.get(rater)),
            number_cell(beta.get(rater)),
        ]
        for rater in dict.fromkeys([*several, *beta])
    ]
    columns = ["rater", "named several options", "chose otherwise, would have accepted it (beta)"]
    return Table("Response sets beside choices", columns, rows) if rows else None
