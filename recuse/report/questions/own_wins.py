"""Does a judge prefer its own text when it chooses between two? How often it wins by whose choice, what is left of that
beyond neutral peers, and what asking in both orders changes."""

from __future__ import annotations

from recuse.report.figures import Cell, Table, forest_plot, number_cell
from recuse.report.gated_number import Number
from recuse.report.numbers import in_words, is_number
from recuse.report.questions.mitigations import remedy_tables, untried
from recuse.report.results_model import Group

ORDER = 13.5


def draw(group: Group) -> dict[str, object]:
    changes, controlled = group.of("own_win_excess_change"), group.of("controlled_own_win_excess")
    return {
        "reading": _reading(controlled),
        "controlled": forest_plot(
            controlled,
            group.label,
            caption="Own wins beyond neutral peers, its unsteadiness allowed for",
            value_name="share of pairs",
            signed=True,
        ),
        "excess": forest_plot(
            group.of("own_win_excess"),
            group.label,
            caption="Own wins beyond those that neutral peers give the same texts",
            value_name="share of pairs",
            signed=True,
        ),
        "wins": _wins(group),
        "remedies": remedy_tables(group, changes, "Own wins beyond neutral peers"),
        "missing": untried(changes),
    }


def _reading(controlled: list[Number]) -> str:
    known = [n for n in controlled if is_number(n.value)]
    if not known:
        return "No judge's choices about its own text could be compared with those of neutral peers."
    above, below = (sum(n.side_of_zero == side for n in known) for side in ("above", "below"))
    phrases = [f"{in_words(k)} {verb}" for k, verb in ((above, "for"), (below, "against")) if k]
    if not phrases:
        return f"Of {in_words(len(known))} judges that are authors, none differs from neutral peers beyond chance."
    sides = " and ".join(phrases)
    return f"Of {in_words(len(known))} judges that are authors, {sides} its own text more than neutral peers."


def _wins(group: Group) -> Table | None:
    """How often its own text wins, by whose verdict."""
    numbers = group.of("own_win_rate")
    asked = [v for v in _SEEN if any(is_number(n.value) for n in numbers if n.subject.get("seen_by") == v)]
    wins = {(n.who, n.subject.get("seen_by")): n for n in numbers}
    rows = [
        [Cell(group.label(who)), *(number_cell(wins.get((who, view))) for view in asked)]
        for who in dict.fromkeys(n.who for n in numbers)
    ]
    columns = ["own text wins, as seen by", *(_SEEN[view] for view in asked)]
    return Table("Pairs its own text won", columns, rows) if rows and asked else None


_SEEN = {"self": "itself", "peers": "its peers", "neutral_peers": "peers that wrote neither", "people": "people"}
