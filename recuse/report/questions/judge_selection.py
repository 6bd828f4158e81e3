"""Which judge would each measure choose, and what does it cost? A row per measure, and what the answers alone say."""

from __future__ import annotations

from typing import Any

from recuse.report.figures import Cell, Table, bars, forest_plot, number_cell
from recuse.report.gated_number import Number
from recuse.report.numbers import fixed, in_words, is_number
from recuse.report.results_model import Group
from recuse.schema.details import Chosen, OverBetaDetail

ORDER = 32


def draw(group: Group) -> dict[str, object]:
    return {
        "reading": _reading(group),
        "best": bars(
            [(group.label(n.who), n.value, _percent(n.value), n.circumstances, "") for n in group.of("best_judge")],
            caption="Chance to be the judge that decides most often as people do", value_name="share of resamples",
            full=1.0,
        ),
        "choices": _choices(group),
        "over_beta": _over_beta(group),
        "common": forest_plot(
            group.of("common_class_recall"), group.label,
            caption="Without labels: finds the classes that judges have in common. Not accuracy", value_name="share",
            minimum=0, maximum=1,
        ),
    }  # fmt: skip


def _reading(group: Group) -> str:
    numbers = [n for n in group.of("regret_over_beta") if "survives" in n.detail]
    if not numbers:
        return "No judge could be chosen from these ratings."
    judges = list(dict.fromkeys(str(row["chosen"]) for n in numbers for row in _rows(n)))
    phrases = (
        f"Every measure chooses {group.label(judges[0])}."
        if len(judges) == 1
        else f"Which judge is chosen depends on the measure: {', '.join(map(group.label, judges))}."
    )
    kept = sum(bool(n.detail["survives"]) for n in numbers)
    some = f"{in_words(kept, capital=True)} of" if kept else "None of"
    return f"{phrases} {some} the {len(numbers)} measures always chooses the best one, whatever people's choices hide."


def _choices(group: Group) -> Table | None:
    rows = []
    for n in group.of("selection_regret"):
        detail = n.detail
        chosen, best = (group.label(str(detail[key])) if key in detail else "–" for key in ("chosen", "best"))
        name = f"{detail.get('title', '')} {_sides(n)}".strip() or n.subject.get("definition", "")
        right, added = _percent(detail.get("right")), fixed(detail.get("regret_bias"))
        rows.append([Cell(name), Cell(chosen), Cell(best), number_cell(n, outcome=n.state), Cell(right), Cell(added)])
    columns = ["measure", "chooses", "best", "consistency lost", "chance that it is right", "bias added"]
    return Table("The judge each measure chooses", columns, rows) if rows else None


def _over_beta(group: Group) -> Table | None:
    numbers = [n for n in group.of("regret_over_beta") if _rows(n)]
    if not numbers:
        return None
    betas = [row["beta"] for row in _rows(numbers[0])]
    rows = [
        [
            Cell(f"{n.detail.get('title', '')} {_sides(n)}", "survives" if n.detail.get("survives") else "", n.state),
            *(
                Cell(group.label(str(row["chosen"])), f"{fixed(row['consistency'])} (−{fixed(row['regret'])})")
                for row in _rows(n)
            ),
        ]
        for n in numbers
    ]
    best = [Cell(group.label(str(row["best"]))) for row in _rows(numbers[0])]
    columns = ["measure", *(f"beta {beta:g}" for beta in betas)]
    caption = "The same by beta: judge chosen, its consistency, and what is lost against the best one"
    return Table(caption, columns, [*rows, [Cell("the best judge"), *best]])


def _rows(n: Number) -> list[Chosen]:
    return n.detail_as(OverBetaDetail).get("over_beta") or []


def _sides(n: Number) -> str:
    name = n.subject.get("definition", "")
    return name[name.find("(") :] if "(" in name else ""


def _percent(value: Any) -> str:
    return f"{fixed(100 * value, 0)} %" if is_number(value) else "–"
