"""Do the levels a model assigns agree with the data? Rank correlation with limits, one ladder per model, the
items it misplaces by name, and whether peers, people and data agree about the models."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from recuse.report.drawing import Drawing, chance, folded, p_value, pair, words
from recuse.report.figures import Cell, Forest, Ladders, Table, ladders, table
from recuse.report.gated_number import Number
from recuse.report.results_model import Group
from recuse.schema.number_text import fixed, in_words, is_number, out_of, short

MOST_MISPLACED = 60


def _follow_the_data(group: Group) -> str:
    known = [n for n in group.of("rank_correlation") if is_number(n.value)]
    if not known:
        return "No model's levels could be compared with the data."
    best = max(known, key=lambda n: n.amount)
    tested = [n.detail.get("beyond_chance") is True for n in known if n.detail.get("beyond_chance") is not None]
    many = f"{out_of(sum(tested), len(tested))} models follow the data beyond chance"
    lead = f"{many}, each taken by itself. " if tested else ""
    return f"{lead}{group.label(best.who)} follows them best (ρ = {fixed(best.value)})."


def _unknown(group: Group) -> str:
    uncovered = ((n.who, n.entries("unknown")) for n in group.of("rank_correlation"))
    phrases = [f"{group.label(who)}: {', '.join(map(str, items))}" for who, items in uncovered if items]
    return f"Picks that the data do not cover: {'; '.join(phrases)}." if phrases else ""


def _ladders(group: Group) -> Ladders | None:
    steps = group.of("progression")
    levels = {n.who: n.entries("levels") for n in steps if n.entries("levels")}
    return ladders(
        {who: [(short(step["level"]), step.get("mean_value")) for step in each] for who, each in levels.items()},
        group.label,
        caption="Mean true value of each level, model by model", unit="value",
        items={n.who: _items(n) for n in group.of("misassignments")}, notes={n.who: _falls(n) for n in steps},
        falls={n.who: [short(fall["to"]) for fall in n.entries("falls")] for n in steps},
    )  # fmt: skip


def _falls(number: Number) -> str:
    if number.detail.get("falls") is None:
        return ""
    count = len(number.entries("falls"))
    return f"falls at {in_words(count)} {'step' if count == 1 else 'steps'}" if count else "rises at every step"


def _items(number: Number) -> dict[str, list[tuple[float | None, str, str]]]:
    """Level -> (true value, how far off, what it is) of each pick, those in place too where listed."""
    placed: dict[str, list[tuple[float | None, str, str]]] = {}
    for name, how in (("nonadjacent", "non-adjacent"), ("adjacent", "adjacent"), ("in_place", "")):
        for pick in number.entries(name):
            what = " ".join(str(pick[key]) for key in ("item", "name") if pick.get(key))
            placed.setdefault(short(pick.get("assigned")), []).append((pick.get("value"), how, what))
    return placed


def _far(group: Group) -> Table:
    rows = [
        [group.label(n.who), Cell(str(pick.get("item", "")), str(pick.get("name") or "")),
         short(pick.get("assigned")), short(pick.get("empirical")), fixed(pick.get("value"), 4)]
        for n in group.of("misassignments") for pick in n.entries("nonadjacent")
    ]  # fmt: skip
    caption = "Items two or more levels away from where the data put them"
    return table(caption, "model|item|its level|level by the data|true value", rows, {2, 3, 4}, most=MOST_MISPLACED)


def _near(group: Group) -> list[str]:
    """ "gpt: 5651 (2, by the data 3), ..." for the picks one level off."""
    return [
        f"{group.label(n.who)}: " + ", ".join(
            f"{pick.get('item', '')} ({short(pick.get('assigned'))}, by the data {short(pick.get('empirical'))})"
            for pick in n.entries("adjacent")
        )
        for n in group.of("misassignments") if n.entries("adjacent")
    ]  # fmt: skip


def _sources(group: Group) -> Table | None:
    number = next((n for n in group.of("three_sources") if n.detail.get("values")), None)
    if number is None:
        return None
    names, rho, p = (number.entries(name) for name in ("rows", "values", "p"))
    rows = []
    for i, j in combinations(range(len(names)), 2):
        by_chance = p_value(p[i][j]) if p and is_number(p[i][j]) else ""
        rows.append([f"{names[i]} and {names[j]}", fixed(rho[i][j]), by_chance])
    return table("Do peers, people and data rank the models alike?", "sources|ρ|p, by permutation", rows, {1, 2})


def _figures(group: Group) -> Table | None:
    figures: Any = next((f for n in group.of("three_sources") if (f := n.detail.get("figures"))), None)
    if not figures:
        return None
    sources = list(next(iter(figures.values())))
    ordered = sorted(figures, key=group.place)
    rows = ([group.label(model), *(fixed(figures[model].get(s)) for s in sources)] for model in ordered)
    return table("The figures behind it", ["model", *sources], rows, range(1, len(sources) + 1))


ground_truth = Drawing(
    order=40,
    reading=_follow_the_data,
    figures=(
        Forest("rank_correlation", "Rank correlation of assigned level and true value", "ρ", head="model",
               includes=(0, 1), aside=chance),
        words(_unknown),
        _ladders,
        _far,
        folded("Items one level off", " the boundaries are fuzzy", words(_near, "list")),
        pair(_sources, _figures),
    ),
)  # fmt: skip
