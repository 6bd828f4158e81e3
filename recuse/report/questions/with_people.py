"""Does a judge agree with people, item by item? The judge and people among themselves, the ceiling with its margin, and
whom of them it may stand in for."""

from __future__ import annotations

from recuse.report.drawing import Drawing, Part, p_value, pair
from recuse.report.figures import Forest, HeatMaps, Scatters, magnitude_maps, scatters
from recuse.report.figures.plain_table import Cell, DetailTable, Table, cross_table, detail_cell, table
from recuse.report.gated_number import Number
from recuse.report.results_model import Group
from recuse.schema.number_text import fixed, is_number
from recuse.schema.verdict_rows import Matrix
from recuse.schema.vocabulary import PASS, UNDECIDED

COEFFICIENTS = (
    "percent_agreement cohen_kappa scott_pi gwet_ac krippendorff_alpha concordance icc_with_people pearson spearman "
    "kendall mean_error absolute_error true_positive_rate true_negative_rate precision f1"
)
MOST_GROUPS, MOST_SLICES = 10, 8


def _beyond_chance_in_words(group: Group) -> str:
    ceiling = next((n for n in group.of("human_ceiling") if is_number(n.value)), None)
    if ceiling is None:
        return ""
    judge, people = (fixed(ceiling.detail.get(name)) for name in ("judge_human", "human_human"))
    who, power, right = group.label(ceiling.who), ceiling.detail.get("power"), ceiling.detail.get("held_against")
    whom, others = (right, right) if right else ("people", "each other")
    text = f"Beyond chance, {who} agrees with {whom} by {judge}, and people with {others} by {people}."
    if is_number(power):
        often = f"{100 * power:.0f} times in 100"
        text += f" With these texts, a judge that is one more person would pass this gate {often}."
    return text


def _confusions(group: Group) -> HeatMaps:
    """How often each answer of the judge meets each of people's; a text that several rated is shared out."""
    captioned: list[tuple[str, Matrix]] = []
    for n in group.of("confusion"):
        options, counts = n.detail_as(Matrix)["rows"], n.detail_as(Matrix)["values"]
        values = [[None if v is None else round(v, 1) for v in row] for row in counts]
        table: Matrix = {"rows": options, "columns": options, "values": values, "own": [[one, one] for one in options]}
        captioned.append((_named(group, n), table))
    corner = "judge says ↓ people say →"
    return magnitude_maps(captioned, str, least="0 texts", most="most", corner=corner, outlined="the same answer")


def _text_by_text(group: Group) -> Scatters | None:
    numbers = [n for n in group.of("mean_error") if n.detail.get("pairs")]
    return scatters(numbers, lambda n: _named(group, n), caption="Text by text: people's mean, and the judge's")


def _winning(group: Group) -> Table:
    rows = [[Cell(f"{_named(group, n)}, in place of {entry['person']}", outcome=PASS if entry["won"] else UNDECIDED),
             "yes" if entry["won"] else "not shown", fixed(entry["advantage"], signed=True), p_value(entry["p"]),
             entry["n"]]
            for n in group.of("winning_rate") for entry in n.detail.get("people") or ()]  # fmt: skip
    columns = "whom it may stand in for|as well as that person|advantage|p|texts"
    return table("Alternative annotator test, corrected over people", columns, rows, (2, 3, 4))


def _delegation(group: Group) -> Table:
    rows = []
    for n in group.of("delegable_share"):
        bound = n.detail.get("bound") or 0.0
        for g in (n.detail.get("groups") or [])[:MOST_GROUPS]:
            if is_number(g["at_most"]):
                texts = f"the surest {100 * g['share']:.0f} %" if g["share"] < 1 else "all texts"
                labels = f"{100 * g['errors']:.1f} % of {g['labels']}"
                left, most = "yes" if g["at_most"] <= bound else "no", f"{100 * g['at_most']:.1f} %"
                rows.append([_named(group, n), texts, left, most, f"{100 * bound:.0f} %", labels])
    columns = "judge|texts|may be left to it|errors, at most|errors allowed|errors among labels"
    return table("What may be left to a judge alone", columns, rows, (3, 4, 5))


def _coefficients(group: Group) -> Table:
    numbers = group.of(*COEFFICIENTS.split())
    measured = {n.metric for n in numbers if is_number(n.value)}
    return cross_table(
        "Every coefficient that fits the scale", "coefficient", numbers, row=lambda n: n.metric,
        rows={n.metric: n.measure["title"] for n in numbers if n.metric in measured},
        column=lambda n: _named(group, n), columns=str,
    )  # fmt: skip


def _slices(metric: str, caption: str, value: str, *, signed: bool = False) -> Part:
    """What was found slice by slice; the likeliest fault first."""

    def part(group: Group) -> Table:
        rows = [[f"{_named(group, n)}, {entry['column'].replace('target', 'system')} {entry['level']}",
                 fixed(entry["mean"], signed=signed), fixed(entry["difference"], signed=True), p_value(entry["p"]),
                 entry["n"]]
                for n in group.of(metric) for entry in (n.detail.get("slices") or [])[:MOST_SLICES]]  # fmt: skip
        return table(caption, f"slice|{value}|less elsewhere|p, for all looks|texts", rows, (1, 2, 3, 4))

    return part


def _named(group: Group, n: Number) -> str:
    return ", ".join(part for part in (group.label(n.who), n.circumstances) if part)


agreement_with_people = Drawing(
    order=5, reading=_beyond_chance_in_words, figures=(
        DetailTable(
            "human_ceiling", "Agreement beyond chance, on the texts that people share (1 is full agreement)",
            lambda group, n: Cell(_named(group, n), outcome=n.state), "judge",
            {"with people": detail_cell("judge_human"), "people among themselves": detail_cell("human_human"),
             "texts": lambda n: Cell(str(n.estimate.get("n")))}, frozenset({1, 2, 3}),
            only=lambda n: is_number(n.value),
        ),
        _confusions, _text_by_text,
        Forest("human_ceiling", "Agreement with people less people's own, on the same texts",
               "agreement with people less people's own", signed=True),
        Forest("advantage_over_person", "Alternative annotator test: the judge against each person",
               "alternative annotator test: the judge against each person", signed=True),
        _winning, _delegation,
        Forest("gain_over_constant", "Gain over a constant answer, less people's own",
               "gain over a constant answer, less people's own", signed=True),
        Forest("unanswered", "Texts that people rated and the judge did not",
               "texts that people rated and the judge did not"),
        _coefficients,
        Forest("prediction_powered_mean", "Mean as people would rate, over all texts", "mean as people would rate"),
        pair(
            _slices("worst_slice", "Agreement with people, slice by slice", "agreement"),
            _slices("slice_favour", "The judge less people, slice by slice", "judge less people, of the scale",
                    signed=True),
        ),
    ),
)  # fmt: skip
