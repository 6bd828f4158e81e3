"""Drawings of the indeterminacy study: is one answer always right, and does the judge decide as people do where it is
not; which judge would each measure choose, and what does that cost?"""

from __future__ import annotations

from recuse.report.drawing import Drawing, words
from recuse.report.figures import Cell, Forest, Table, cross_table, number_cell, table
from recuse.report.gated_number import Number
from recuse.report.results_model import Group
from recuse.schema.number_text import MISSING, fixed, is_number, out_of
from recuse.schema.plain_values import grouped


def _advice(group: Group) -> str:
    advice = []
    several = next((n for n in group.of("indeterminate_share") if n.subject.get("rater") == "people"), None)
    if several is not None and is_number(several.value):
        advice.append(f"People named more than one option in {fixed(100 * several.value, 0)} % of their answers.")
        if several.value > 0:
            advice.append("Specify the task fully: add an option for what may be either, with a rule when to use it.")
    else:
        advice.append("Whether people would have accepted another option too was not asked; ask for all that apply.")
    needed = [(n, n.detail_as(dict[str, float])) for n in group.of("ratings_needed") if is_number(n.detail.get("have"))]
    if any(of["have"] < 3 for _, of in needed):
        advice.append("Ask three people per text: of fewer nobody can tell how far people differ.")
    if short := [(n.amount, of) for n, of in needed if is_number(n.value) and n.value > of["have"]]:
        most, of = max(short, key=lambda one: one[0])
        advice.append(
            f"{of['have']} ratings per text decide {fixed(100 * of['now'], 0)} % of the texts as everybody would at a "
            f"threshold of {of['tau']:g}; {most:.0f} would decide {fixed(100 * of['wanted'], 0)} %."
        )
    advice.append(
        "Choose judges by a proper score of people's shares (KL from people, squared error) or by response sets, not "
        "by the commonest answer alone."
    )
    return " ".join(advice)


def _grids(group: Group) -> Table:
    grids = [n for n in group.of("consistency_over_beta") if n.entries("value")]
    rows = (
        [Cell(group.label(n.who), ", ".join(filter(None, (f"tau {tau:g}", n.circumstances)))), *map(fixed, values)]
        for n in grids
        for tau, values in zip(n.entries("taus"), n.entries("value"), strict=True)
    )
    columns = ["judge", *(f"beta {beta:g}" for beta in grids[0].entries("betas"))] if grids else []
    return table("Texts decided alike, by threshold and beta", columns, rows)


def _definitions(group: Group) -> Table:
    judges = list(dict.fromkeys(n.who for n in group.of("performance")))
    rows = []
    for name, of in grouped(group.of("performance"), lambda n: n.subject.get("definition", "")).items():
        by_judge = {n.who: n for n in reversed(of)}
        title = next((str(n.detail.get("title")) for n in of if "title" in n.detail), name)
        better = "more is better" if any(n.detail.get("higher") for n in of) else "less is better"
        head = Cell(f"{title} {name[name.find('(') :]}", better)
        rows.append([head, *(number_cell(by_judge.get(judge)) for judge in judges)])
    caption = "Agreement by definition: in brackets what is kept of the judge's and of people's answers"
    return table(caption, ["definition", *map(group.label, judges)], rows)


def _people(group: Group) -> Table:
    by_threshold = grouped(group.of("ratings_needed", "prevalence_shift"), lambda n: n.subject.get("threshold", ""))
    rows = []
    for tau, numbers in by_threshold.items():
        by_metric = {n.metric: n for n in numbers}
        n, shift = by_metric.get("ratings_needed"), by_metric.get("prevalence_shift")
        alike = [n.detail.get(key) if n else None for key in ("now", "one")]
        shares = (shift.entries("prevalence") if shift else []) or [None]
        rows.append([f"tau {tau}", number_cell(n), *map(_percent, (*alike, shares[0], shares[-1]))])
    columns = "threshold|ratings per text for 9 in 10|alike now|alike by one rating|people's share|beta .4"
    return table("What would settle it", columns, rows)


def _percent(value: object) -> str:
    return f"{fixed(100 * value, 0)} %" if is_number(value) else MISSING


def _sets(group: Group) -> Table:
    columns = {"indeterminate_share": "named several options",
               "accepted_both": "chose otherwise, would have accepted it (beta)"}  # fmt: skip
    return cross_table(
        "Response sets beside choices", "rater", group.of(*columns), row=lambda n: n.subject.get("rater", ""),
        rows=lambda rater: rater if rater == "people" else group.label(rater), column=lambda n: n.metric,
        columns=columns,
    )  # fmt: skip


def _matrices(group: Group) -> list[Table]:
    tables = []
    for n in (n for n in group.of("indeterminate_share") if "choice" in n.detail):
        by_set = [zip(*n.entries(f"choice{end}"), strict=True) for end in ("", "_low", "_high")]
        sets_behind = [n.entries(f"reverse{end}") for end in ("", "_low", "_high")]
        rows = [
            [name, *map(_chance, *ends[:3]), *map(_chance, *ends[3:])]
            for name, *ends in zip(n.entries("sets"), *by_set, *sets_behind, strict=True)
        ]
        columns = [f"{word} {name}" for word in ("chooses", "who chose") for name in n.entries("options")]
        who = n.subject.get("rater", "")
        caption = (
            f"{'People' if who == 'people' else group.label(who)}: which option is chosen where a response set is held "
            "(F), and which sets stand behind a choice (F')"
        )
        tables.append(table(caption, ["response set", *columns], rows))
    return tables


def _chance(value: float | None, low: float | None, high: float | None) -> Cell:
    return Cell(fixed(value), f"{fixed(low)} to {fixed(high)}" if value else "")


def _identifiable(group: Group) -> list[str]:
    words = dict.fromkeys(str(n.detail.get("words")) for n in group.of("indeterminate_share") if n.detail.get("words"))
    taken_back = [
        f"People would take back {_percent(n.value)} of their answers ({n.spread()}), by {n.estimate['n']} pairs of "
        "answers that one person gave one text."
        for n in group.of("rater_error")
        if is_number(n.value)
    ]
    unknown = (
        "How often raters give a set or a choice that they would take back (E) is in no such data: it takes people who "
        "answer a text twice."
    )
    return [*words, *(taken_back or [unknown])] if words else []


indeterminate_ratings = Drawing(
    order=31,
    reading=_advice,
    figures=(
        Forest("decision_consistency consistency_over_beta", "Texts decided as people decide", "share",
               includes=(0, 1)),
        Forest("prevalence_bias bias_over_beta", "Share of positive texts, judge less people", "share", signed=True),
        _grids, _sets, _matrices, words(_identifiable), _people, _definitions,
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- which judge each measure chooses


def _chosen(group: Group) -> str:
    numbers = [n for n in group.of("regret_over_beta") if "survives" in n.detail]
    if not numbers:
        return "No judge could be chosen from these ratings."
    judges = list(dict.fromkeys(row["chosen"] for n in numbers for row in n.entries("over_beta")))
    phrases = f"Which judge is chosen depends on the measure: {', '.join(map(group.label, judges))}."
    if len(judges) == 1:
        phrases = f"Every measure chooses {group.label(judges[0])}."
    kept = sum(bool(n.detail.get("survives")) for n in numbers)
    phrases += f" {out_of(kept, len(numbers))} measures always choose the best one, whatever people's choices hide."
    lost = {_title(n): n.amount for n in group.of("selection_regret") if is_number(n.value)}
    most = max(lost, key=lambda name: lost[name], default="")
    if not most or lost[most] <= 0:
        return phrases
    least = min(lost.values())
    if least == lost[most]:
        return f"{phrases} At face value each loses as much consistency ({fixed(least)})."
    by = ", ".join(name for name, cost in lost.items() if cost == least)
    return (
        f"{phrases} At face value the least consistency is lost by {by} ({fixed(least)}), the most by {most} "
        f"({fixed(lost[most])})."
    )


def _choices(group: Group) -> Table:
    rows = []
    for n in group.of("selection_regret"):
        detail = n.detail
        judges = (group.label(str(detail.get(key))) if key in detail else MISSING for key in ("chosen", "best"))
        name = _title(n).strip() or n.subject.get("definition", "")
        doubts = _percent(detail.get("right")), fixed(detail.get("regret_bias"))
        rows.append([name, *judges, number_cell(n, outcome=n.state), *doubts])
    columns = "measure|chooses|best|consistency lost|chance that it is right|bias added"
    return table("The judge each measure chooses", columns, rows)


def _over_beta(group: Group) -> Table | None:
    numbers = [n for n in group.of("regret_over_beta") if n.entries("over_beta")]
    if not numbers:
        return None
    rows = [
        [Cell(_title(n), "survives" if n.detail.get("survives") else "", n.state),
         *(Cell(group.label(r["chosen"]), f"{fixed(r['consistency'])} (−{fixed(r['regret'])})")
           for r in n.entries("over_beta"))]
        for n in numbers
    ]  # fmt: skip
    first = numbers[0].entries("over_beta")
    columns = ["measure", *(f"beta {row['beta']:g}" for row in first)]
    caption = "The same by beta: judge chosen, its consistency, and what is lost against the best one"
    return table(caption, columns, [*rows, ["the best judge", *(group.label(row["best"]) for row in first)]])


def _title(n: Number) -> str:
    _, bracket, sides = n.subject.get("definition", "").partition("(")
    return f"{n.detail.get('title', '')} {bracket}{sides}"


judge_selection = Drawing(
    order=32,
    reading=_chosen,
    figures=(
        Forest("best_judge", "Chance to be the judge that decides most often as people do", "share of resamples",
               includes=(0, 1)),
        _choices,
        _over_beta,
        Forest("common_class_recall", "Without labels: finds the classes that judges have in common. Not accuracy",
               "share", includes=(0, 1)),
    ),
)  # fmt: skip
