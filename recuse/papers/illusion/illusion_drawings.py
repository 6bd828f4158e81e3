"""Drawings of the studies on agreement: do judges agree on single texts, does agreement survive their having to say
what they know, and how much of it is the rubric that they share?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from recuse.papers.self_preference.self_preference_drawings import detail_text
from recuse.report import figures
from recuse.report.drawing import Drawing
from recuse.report.figures import Cell, DetailTable, Forest, HeatMaps, Table, detail_cell, deviation_maps, number_cell
from recuse.report.gated_number import Number
from recuse.report.questions.generic import all_but
from recuse.report.results_model import Group
from recuse.schema.number_text import MISSING, fixed, in_words, is_number, out_of, rate
from recuse.schema.verdict_rows import Matrix

# --------------------------------------------------------------------------- agreement at three resolutions


def _measured(n: Number) -> bool:
    return is_number(n.value)


def _known(group: Group, metric: str) -> list[Number]:
    return list(filter(_measured, group.of(metric)))


RUNGS = (
    ("model", "which target is better", "Spearman's rho over targets"),
    ("sample", "which text is better", "Pearson's r over the texts of a target"),
    ("absolute", "the same score for a text", "ICC(2,1) over the texts of a target"),
)


def _at_three_resolutions(group: Group) -> str:
    if gaps := _known(group, "resolution_gap"):
        widest = max(gaps, key=lambda n: n.amount)
        model, sample, absolute = (widest.detail.get(name) for name, *_ in RUNGS)
        where = f", {widest.circumstances}" if widest.circumstances else ""
        return (
            f"The judges agree to {fixed(model)} on which target is better, to {fixed(sample)} on which text is "
            f"better, and to {fixed(absolute)} on the score itself{where}."
        )
    known = _known(group, "panel_agreement")
    if not known:
        return "No two judges scored enough texts in common."
    lowest = min(known, key=lambda n: n.amount)
    return f"On single texts the judges agree to {fixed(lowest.value)} (ICC)."


_ladders = DetailTable(
    "resolution_gap", "Agreement at three resolutions",
    lambda group, n: Cell(n.circumstances or "all texts"), "the judges agree on",
    {f"{title} ({what})": detail_cell(name) for name, title, what in RUNGS}, frozenset({1, 2, 3}),
    only=_measured,
)  # fmt: skip


def _who_with_whom(group: Group) -> HeatMaps | None:
    """One matrix per circumstances, since all judges of a panel carry the same one."""
    numbers = [n for n in group.of("sample_agreement") if n.detail.get("values") and len(n.entries("rows")) > 2]
    first = {n.circumstances: n for n in reversed(numbers)}
    captioned = [
        (f"Pearson's r on single texts{f', {levels}' if levels else ''}", first[levels].detail_as(Matrix))
        for levels in dict.fromkeys(n.circumstances for n in numbers)
    ]
    return deviation_maps(captioned, group.label, about="zero") if captioned else None


def _judges(group: Group) -> Table:
    others = {(n.metric, n.who, n.circumstances): n for n in group.of("absolute_agreement", "model_agreement")}
    columns: dict[str, Callable[[Number], Cell]] = {
        "which target": lambda n: number_cell(others.get(("model_agreement", n.who, n.circumstances))),
        "which text": number_cell,
        "the same score": lambda n: number_cell(others.get(("absolute_agreement", n.who, n.circumstances))),
    }
    caption = "Each judge's agreement with the others"
    return DetailTable("sample_agreement", caption, lambda group, n: Cell(group.label(n.who), n.circumstances), "judge",
                       columns, frozenset({1, 2, 3}))(group)  # fmt: skip


SLIP = "never leaves the lower half of the scale: does it use another one?"


def _scale(group: Group) -> Table:
    columns: dict[str, Callable[[Number], Cell]] = {"SD beside the others'": number_cell}
    columns |= {name: detail_cell(name.lower()) for name in ("mean", "SD", "lowest", "highest", "skewness")}

    def named(group: Group, n: Number) -> Cell:
        small = n.circumstances, SLIP if n.detail.get("slip") else ""
        return Cell(group.label(n.who), ", ".join(filter(None, small)))

    caption = f"How {in_words(len({n.who for n in _known(group, 'scale_use')}))} judges use the scale"
    return DetailTable("scale_use", caption, named, "judge", columns, frozenset(range(1, 7)), _measured)(group)


def _pairs_differ(n: Number) -> Cell:
    test: Any = n.detail.get("pairs_differ") or {}
    if not is_number(test.get("f")):
        return Cell(MISSING)
    return Cell(f"F({test['df']}, {test['df_rest']}) = {fixed(test['f'])}", f"p = {fixed(test['p'], 3)}")


agreement_resolution = Drawing(
    order=45,
    reading=_at_three_resolutions,
    figures=(
        _ladders,
        Forest("panel_agreement", "Agreement of the panel on single texts", "ICC(2,1)", head="panel",
               includes=(-1, 1)),
        DetailTable(
            "resolution_gap", "Behind the three: all judges at once, pairs of judges, and means of several texts",
            lambda group, n: Cell(n.circumstances or "all judges"), "panel",
            {
                "ICC of all judges": detail_cell("panel_icc"),
                "do some pairs agree better": _pairs_differ,
                "r of means of 10 texts": lambda n: Cell(fixed(dict(n.entries("averaged")).get(10))),
                "of 100 texts": lambda n: Cell(fixed(dict(n.entries("averaged")).get(100))),
            },
            only=_measured,
        ),
        _judges,
        _who_with_whom,
        _scale,
        lambda group: all_but(group, "panel_agreement", "resolution_gap", "sample_agreement", "absolute_agreement",
                              "model_agreement", "scale_use"),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- with what the judges know

RUBRIC = "rubric_source"
FACING = "Agreement is no evidence of being right, and a loss of it none of being wrong."


def _change_in_words(group: Group) -> str:
    known = _known(group, "delta_k")
    if not known:
        none = "Not measured: by no two rubrics do the same two judges tell the same texts apart."
        return none if group.of("delta_k") else ""
    most = max(known, key=lambda n: abs(n.amount))
    what = "more" if most.amount > 0 else "less"
    inside = f" (interval {most.spread()})" if is_number(most.low) else ", without an interval"
    pairs = most.detail.get("pairs", 0)
    texts = f"{most.detail.get('texts', 0)} texts by {pairs} {'pair' if pairs == 1 else 'pairs'} of judges"
    return (
        f"By rubrics from knowledge ({_rubric(most)}) the judges agree by {fixed(abs(most.amount))} {what} than by the "
        f"given checklist{inside}, on {texts}. {FACING}"
    )


def _flaws(group: Group) -> str:
    known = _known(group, "flaw_penalty")
    judges = {n.who for n in known}
    finders = judges - {n.who for n in known if n.side_of_zero != "above"}
    return (
        f"{out_of(len(finders), len(judges))} judges scored sound texts above their polished, flawed twins by every "
        "rubric, beyond chance."
    ) if known else ""  # fmt: skip


def _rubric(number: Number) -> str:
    level = number.subject.get(RUBRIC, "")
    return number.lexicon.level(RUBRIC, level) if level else ""


def _under_rubric(group: Group, n: Number) -> Cell:
    return Cell(_rubric(n))


def _signed(n: Number | None) -> Cell:
    return number_cell(n, fixed(n.value, signed=True), small=_uncertainty(n), outcome=n.state) if n else Cell(MISSING)


def _uncertainty(n: Number) -> str:
    """Its interval, that there is none, or why there is no number."""
    return n.spread(signed=True) or "no interval" if is_number(n.value) else n.why_undefined


def _pairs(group: Group) -> HeatMaps | None:
    """The difference of every pair of judges, by rubric, over the targets both judged: one loss may hide two gains."""
    deltas: dict[tuple[str, str], list[float]] = {}
    for n in group.of("delta_k"):
        for row in n.entries("cells"):
            deltas.setdefault((row["pair"], _rubric(n)), []).extend([row["delta"]] if is_number(row["delta"]) else [])
    cells = {key: fmean(known) if known else None for key, known in deltas.items()}
    return _pair_map(group, "Difference in r, pair by pair", cells) if any(deltas.values()) else None


def _pair_map(group: Group, caption: str, cells: Mapping[tuple[str, str], float | None]) -> HeatMaps | None:
    def label(name: str) -> str:
        judges = name.split(" / ")
        return " / ".join(map(group.label, judges)) if len(judges) == 2 else name

    matrix = figures.cell_matrix(cells)
    if len(matrix["rows"]) < 2:
        return None
    return deviation_maps([(caption, matrix)], label, about="zero", corner="judges ↓ rubric →")


def _groups(group: Group) -> Table:
    """Domains and languages that could be measured; how many could not stands in the caption."""
    numbers = group.of("delta_k_by_group")
    names = dict.fromkeys(n.subject["group"] for n in numbers)
    measured = {n.subject["group"] for n in numbers if is_number(n.value)}
    left = len(names) - len(measured)
    caption = "The difference by domain and language"
    return figures.cross_table(
        caption + (f" (not measured, too few texts: {left} of {len(names)})" if left else ""), "texts", numbers,
        row=lambda n: n.subject["group"], rows={name: name for name in names if name in measured}, column=_rubric,
        columns=str, cell=_signed,
    )  # fmt: skip


def _kinds_of_flaw(n: Number) -> str:
    return ", ".join(f"{kind} {fixed(mean, 1, signed=True)} of {count}" for kind, mean, count in n.entries("by_flaw"))


knowledge_grounding = Drawing(
    order=46,
    reading=lambda group: " ".join(filter(None, (_change_in_words(group), _flaws(group)))),
    figures=(
        DetailTable(
            "delta_k", "Agreement before and after the judges say what they know", _under_rubric, "rubric",
            {
                "r by the checklist": detail_cell("base", signed=True),
                "r by this rubric": detail_cell("grounded", signed=True),
                "difference": _signed,
                "p, corrected": lambda n: Cell(
                    fixed(n.detail.get("p_bonferroni"), 3) if is_number(n.detail.get("t")) else MISSING
                ),
                "pairs of judges": lambda n: Cell(str(n.detail.get("pairs") or 0), f"{n.detail.get('texts', 0)} texts"),
            },
        ),
        _pairs,
        Forest("flaw_penalty", "Sound text less its polished twin with a deep flaw", "points", by="", signed=True,
               aside=detail_text("{} sound ahead, {} flawed, {} level", "sound", "flawed", "neither", write=str)),
        DetailTable("flaw_penalty", "The same by kind of flaw: mean difference, of how many pairs",
                    lambda group, n: Cell(" · ".join(filter(None, (group.label(n.who), _rubric(n))))), "judge",
                    {"kinds": lambda n: Cell(_kinds_of_flaw(n))}, only=lambda n: bool(_kinds_of_flaw(n))),
        DetailTable(
            "evidence_overlap", "Words that two judges cite in common", _under_rubric, "rubric",
            {
                "one text": detail_cell("same"),
                "two texts": detail_cell("other"),
                "shared evidence": _signed,
                "rho with the difference of scores": lambda n: Cell(
                    fixed(n.detail.get("with_difference"), signed=True), f"{n.detail.get('pairs', 0)} citations"
                ),
            },
            only=_measured,
        ),
        _groups,
        lambda group: all_but(group, "delta_k", "delta_k_by_group", "flaw_penalty", "evidence_overlap"),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- by where the rubric came from


def _by_rubric(group: Group, metric: str = "agreement_by_rubric") -> list[Number]:
    """From the given checklist over each judge's own rubric to one for all."""
    return sorted(group.of(metric), key=lambda n: n.lexicon.level_order(RUBRIC, n.subject.get(RUBRIC, "")))


def _most_by(group: Group) -> str:
    known = [n for n in _by_rubric(group) if is_number(n.value)]
    if not known:
        return "Not measured: by no rubric do two judges tell the same texts apart."
    best = max(known, key=lambda n: n.amount)
    most = f"Judges agree most by the rubric \u201c{_rubric(best)}\u201d, r = {fixed(best.value)}."
    share = next(iter(group.of("structural_share", of="dimensions")), None)
    if share and is_number(share.value):
        return (
            f"{most} Of the agreement with given names, {rate(share.value)} is gone when judges name the "
            "dimensions themselves: it came with the structure."
        )
    if best.amount <= 0:
        return f"{most} The judges hardly agree at all, so no share of agreement can be ascribed to the rubric."
    return most


_agreement = Forest("agreement_by_rubric", "Agreement on texts, by where the rubric came from", "mean r over pairs",
                    by="", head="rubric", signed=True, panel="")  # fmt: skip


def _steps(group: Group) -> Table:
    rows = (
        [Cell(_rubric(n), f"after: {n.lexicon.level(RUBRIC, str(n.detail.get('before', '')))}"),
         number_cell(n, fixed(n.value, signed=True), small=_uncertainty(n)),
         Cell(str(n.detail.get("pairs", "")), f"{n.detail.get('texts', 0)} texts")]
        for n in _by_rubric(group, "rubric_step")
    )  # fmt: skip
    caption = "What each step towards one rubric adds, on the same pairs and texts"
    return figures.table(caption, "rubric|change of r|pairs of judges", rows)


rubric_commensurability = Drawing(
    order=47,
    reading=_most_by,
    figures=(
        lambda group: _agreement.plot(_by_rubric(group), group.label),
        lambda group: _pair_map(group, "r of every pair of judges", {
            (row["pair"], _rubric(n)): row["r"] for n in _by_rubric(group) for row in n.entries("pairs")
        }),
        _steps,
        DetailTable(
            "structural_share", "How much of it is gone when judges name the dimensions themselves",
            lambda group, n: Cell(f"of the agreement by {n.lexicon.level(RUBRIC, n.subject.get('of', ''))}"),
            "structural share",
            {
                "share": lambda n: number_cell(n, small=_uncertainty(n)),
                "r, own rubrics": detail_cell("independent", signed=True),
                "r, given names": detail_cell("dimensions", signed=True),
            },
        ),
        lambda group: all_but(group, "agreement_by_rubric", "rubric_step", "structural_share"),
    ),
)  # fmt: skip
