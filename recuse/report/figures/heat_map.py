"""Heat maps of judge x target matrices: what is above and below, who ranks whom where, how large. Maps drawn together
(names shown, names hidden) share one scale of shades, so a colour means the same in both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from recuse.report.gated_number import Number, place_in
from recuse.report.results_model import Group
from recuse.report.style import STEPS
from recuse.schema.number_text import MISSING, decimals_for, fixed, is_number
from recuse.schema.verdict_rows import Matrix

Label = Callable[[str], str]
Captioned = tuple[str, Matrix]
Key = tuple[str, str, str]  # what the faint end means, the shades in order, what the strong end means
MANY_COLUMNS = 9
"""From here on columns are narrow and their names stand upright."""
CORNER = "judge ↓ target →"
OWN = "its own work"
"""What an outlined cell is of, where a drawing says nothing else."""


class HeatMap(NamedTuple):
    """One matrix as its template draws it. A cell: its `text` with a `small` one, its `shade`, a class of the palette
    ("" for none), and whether it is one's `own`, `missing`, or `sure`, with an interval that excludes zero."""

    caption: str
    columns: list[str]
    rows: list[tuple[str, list[dict[str, object]]]]
    dense: bool


class HeatMaps(NamedTuple):
    """Maps side by side under one key. False where there is none."""

    maps: list[HeatMap]
    key: Key
    corner: str
    outlined: str

    def __bool__(self) -> bool:
        return bool(self.maps)

    def has(self, what: str) -> bool:
        """Whether any cell of the first map is one's own, missing, or surely not zero."""
        return any(cell[what] for _, cells in self.maps[0].rows for cell in cells)


def deviation_maps(
    matrices: Sequence[Captioned], label: Label, *, about: str = "consensus", corner: str = CORNER
) -> HeatMaps:
    """Signed matrices: red above zero, blue below, the stronger the farther. `matrices`: (caption, matrix)."""
    extent, decimals = max(map(abs, _values(matrices)), default=0) or 1, _decimals(matrices)
    return _maps(
        matrices, label, (f"below {about}", "u9,u6,u3,,o3,o6,o9", f"above {about}"),
        lambda value, _: _step("o" if value > 0 else "u", abs(value) / extent),
        lambda value: fixed(value, decimals, signed=True), corner=corner,
    )  # fmt: skip


def ranking_maps(matrices: Sequence[Captioned], label: Label) -> HeatMaps:
    """Scores shaded by the judge's own ranking of the targets: its favourite darkest, whatever its severity."""
    decimals = _decimals(matrices)

    def shade(value: float, row: Sequence[float | None]) -> str:
        known = [v for v in row if is_number(v)]
        below, ties = sum(v < value for v in known), sum(v == value for v in known)
        return _step("r", (below + (ties + 1) / 2) / len(known))

    key = ("this judge's last", "r1,r3,r5,r7,r9", "its first")
    return _maps(matrices, label, key, shade, lambda value: fixed(value, decimals))


def magnitude_maps(
    matrices: Sequence[Captioned], label: Label, *, least: str = "0", most: str = "largest", corner: str = CORNER,
    outlined: str = OWN,
) -> HeatMaps:  # fmt: skip
    """Matrices of sizes (SDs, counts, shares), shaded from zero to the largest."""
    values = _values(matrices)
    extent = max(map(abs, values), default=0) or 1
    digits = next((digits for digits in (0, 1) if all(v == round(v, digits) for v in values)), 2)
    return _maps(
        matrices, label, (least, ",m2,m4,m6,m9", most), lambda value, _: _step("m", abs(value) / extent),
        lambda value: fixed(value, digits), corner=corner, outlined=outlined,
    )  # fmt: skip


def is_matrix(number: Number) -> bool:
    """Whether a number carries a judge x target matrix."""
    return number.detail.get("kind") == "matrix" and bool(number.detail.get("values"))


def main_matrices(group: Group, metric: str, suffix: str = "") -> list[Captioned]:
    """Its matrices by factor levels, of the criterion that stands for the judgement as a whole, else of the first."""
    known = group.view.lexicon.criteria.get(group.task, [])

    def criterion(n: Number) -> tuple[int, str]:
        return place_in(known, n.subject.get("criterion") or str(n.detail.get("criterion") or ""))

    numbers = [n for n in group.of(metric) if is_matrix(n)]  # levels in order
    first = min(map(criterion, numbers), default=None)
    levels = [(n.circumstances_but("criterion") or "all repeats", n) for n in numbers if criterion(n) == first]
    return [(level[:1].upper() + level[1:] + suffix, n.detail_as(Matrix)) for level, n in levels]


def cell_matrix(cells: Mapping[tuple[str, str], float | None], columns: Iterable[str] | None = None) -> Matrix:
    """A matrix of (row, column) -> value; rows as they occur, and columns in this order, else as they occur."""
    across = list(dict.fromkeys(c for _, c in cells) if columns is None else columns)
    down = list(dict.fromkeys(r for r, _ in cells))
    return {"rows": down, "columns": across, "values": [[cells.get((r, c)) for c in across] for r in down]}


def _maps(
    matrices: Sequence[Captioned], label: Label, key: Key,
    shade: Callable[[float, Sequence[float | None]], str], write: Callable[[float], str], *, corner: str = CORNER,
    outlined: str = OWN,
) -> HeatMaps:  # fmt: skip
    """How they are shaded and written is the same for all: a colour means the same in each."""

    def cell(matrix: Matrix, i: int, j: int) -> dict[str, object]:
        row, pair = matrix["values"][i], [matrix["rows"][i], matrix["columns"][j]]
        drawn = {"text": MISSING, "shade": "", "small": "", "missing": True, "sure": False,
                 "own": pair in [list(one) for one in matrix.get("own") or ()]}  # fmt: skip
        if is_number(value := row[j]):
            beside = (matrix.get("sd"), matrix.get("low"), matrix.get("high"))
            spread, low, high = ((of[i][j] if of else None) for of in beside)
            small = f"± {fixed(spread)}" if is_number(spread) and not _is_dense(matrix) else ""
            sure = is_number(low) and is_number(high) and (low > 0 or high < 0)
            shown = shade(value, row) if value else ""
            drawn |= {"text": write(value), "shade": shown, "small": small, "missing": False, "sure": sure}
        return drawn

    maps = []
    for caption, matrix in matrices:
        names = enumerate(matrix["rows"])
        rows = [(label(name), [cell(matrix, i, j) for j in range(len(matrix["columns"]))]) for i, name in names]
        maps.append(HeatMap(caption, [label(c) for c in matrix["columns"]], rows, _is_dense(matrix)))
    return HeatMaps(maps, key, corner, outlined)


def _is_dense(matrix: Matrix) -> bool:
    return len(matrix["columns"]) >= MANY_COLUMNS


def _decimals(matrices: Sequence[Captioned]) -> int:
    """2, or 3 where two would break ties and the columns are wide enough to show them."""
    return decimals_for(_values(matrices), 2 if any(_is_dense(m) for _, m in matrices) else 3)


def _step(letter: str, share: float) -> str:
    return f"{letter}{min(STEPS, max(1, round(share * STEPS)))}"


def _values(matrices: Sequence[Captioned]) -> list[float]:
    return [v for _, matrix in matrices for row in matrix["values"] for v in row if is_number(v)]
