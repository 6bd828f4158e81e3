"""What "Beyond the illusion of consensus" (paper 002) prints of knowledge and rubrics, beside what follows from its own
tables 3, 6 and 7 by our measures:

    python tests/known_answers/merg.py

A row says where the figure is printed, what is printed, what follows, and whether the two agree to the printed digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from illusion import agree
from scipy import stats

from recuse.statistics.paired import Paired

PUBLISHED = Path(__file__).parents[2] / "fixtures" / "published"
PAIRS = ["claude_gemini", "claude_gpt", "gemini_gpt"]
VARIANTS = ("Original 4-Stage", "5-Dim Per-Dim", "Shared Stages", "Universal ($t=0.0$)")
MODELS = ("DeepSeek-R1", "Qwen3-235B")
FLAG = 0.15  # sec. 4: flag |delta-K| above
BELOW_ZERO = (10, 10)  # below Table 3: conditions with delta-K below 0, of how many
OWN_RUBRICS = (0.224, 0.254)  # Table 6, averages of "Original 4-Stage"
HALF = 0.0005  # how far a correlation can lie from what is printed, with three digits
Row = tuple[str, str, str, str, bool | None]
"""Requirement, what, printed, computed, whether they agree; None where nothing is printed."""

Table6 = dict[str, list[float | None]]


def delta_k_table() -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / "illusion_delta_k.csv")


def language_table() -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / "illusion_language.csv")


def ablation(model: str) -> Table6:
    """Variant -> r of the three pairs, None where the table has N/A."""
    frame = pd.read_csv(PUBLISHED / "illusion_ablation.csv")
    frame = frame[frame["target_model"] == model].set_index("method")
    return {v: [None if math.isnan(r) else float(r) for r in frame.loc[v, PAIRS].astype(float)] for v in VARIANTS}


def mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known)


def told(place: str, what: str, printed: float, computed: float, digits: int = 3, rounding: float = 0.0) -> Row:
    shown = (f"{printed:+.{digits}f}", f"{computed:+.{digits}f}")
    return place, what, *shown, agree(printed, computed, digits, rounding)


def rows() -> Iterator[Row]:
    yield from _table_3()
    yield from _in_the_text()
    yield from _domains()
    yield from _table_7()
    for model in MODELS:
        yield from _table_6(model)
    yield from _structure()
    yield from _which_variant()
    yield from _cases()


def _table_3() -> Iterator[Row]:
    frame = delta_k_table()
    cells = frame[frame["pair"] != "Mean"]
    for row in cells.itertuples():
        yield told(
            "26" if row.temperature == 0 else "27",
            f"{row.pair}, t={row.temperature:g}",
            row.delta_k,
            row.merg_r - row.base_r,
        )
    for row in frame[(frame["pair"] == "Mean") & (frame["temperature"] < 1)].itertuples():
        here = cells[cells["temperature"] == row.temperature]
        yield told(
            "26" if row.temperature == 0 else "27",
            f"mean, t={row.temperature:g}",
            row.delta_k,
            (here["merg_r"] - here["base_r"]).mean(),
        )
    last = frame[frame["temperature"] == 1].iloc[0]
    yield told("28", "mean, t=1", last["delta_k"], last["merg_r"] - last["base_r"])
    test = Paired.of((cells["merg_r"] - cells["base_r"]).to_numpy())
    yield "10", "paired t over the six cells", "", f"t({test.n - 1}) = {test.t:.2f}, p = {test.p:.4f}", None
    yield "10", "the same with Bonferroni, k = 3", "", f"p = {min(1.0, 3 * test.p):.4f}", None
    yield "29", "mean over SD of the six cells, which is no d of single texts", "", f"{abs(test.dz[0]):.2f}", None
    for sides, alternative in (("two", "two-sided"), ("one", "greater")):
        p = stats.binomtest(*BELOW_ZERO, alternative=alternative).pvalue
        yield "32", f"10 of 10 below 0, sign test, {sides}-sided", "< .001", f"{p:.5f}", bool(p < 0.001)
    flagged = int((frame["delta_k"].abs() > FLAG).sum())
    yield "83", f"rows of Table 3 with |delta-K| > {FLAG}", "", f"{flagged} of {len(frame)}", None


def _in_the_text() -> Iterator[Row]:
    """Sec. 3.1: the drops of the two models, from the correlations printed beside them."""
    for place, model, base, grounded, drop, share, d in (
        ("29", "DeepSeek-R1", 0.643, 0.426, -0.217, 33.7, 1.42), ("30", "Qwen3-235B", 0.667, 0.529, -0.138, 20.7, 0.97),
    ):  # fmt: skip
        yield told(place, f"{model}, delta-K", drop, grounded - base)
        lost = 100 * (base - grounded) / base
        yield place, f"{model}, share of agreement lost", f"{share:.1f} %", f"{lost:.1f} %", agree(share, lost, 1)
        yield place, f"{model}, SD that d = {d:g} implies", "", f"{abs(drop) / d:.3f}", None
    of_two = max(100 * (base - grounded) / base for base, grounded in ((0.643, 0.426), (0.667, 0.529)))
    yield "31", "larger share of agreement lost, of the two models", "34 %", f"{of_two:.1f} %", agree(34, of_two, 0)
    table = delta_k_table()
    most = (100 * (1 - table["merg_r"] / table["base_r"])).max()
    yield "31", "largest share of agreement lost in a row of Table 3", "", f"{most:.1f} %", None


def _domains() -> Iterator[Row]:
    """Fig. 4 beside Table 3: three domains are printed, none of the others lies below -0.06 in the figure."""
    printed, overall = (0.22, 0.27, -0.06), -0.178
    sixth = 6 * overall - sum(printed) - 2 * min(printed)
    least = min(printed)
    yield "40", "sixth domain, if six average to the mean of Table 3", ">= -0.06", f"{sixth:.2f}", sixth >= least
    yield "41", "SE of a difference of two Fisher z, 16 prompts", "", f"{math.sqrt(2 / 13):.2f}", None


def _table_7() -> Iterator[Row]:
    frame = language_table()
    for row in frame.itertuples():
        yield told(
            "43" if row.target_model == MODELS[0] else "44",
            f"{row.target_model}, {row.language}",
            row.delta_k,
            row.merg_r - row.base_r,
            2,
        )
    changes = (frame["merg_r"] - frame["base_r"]).to_numpy()
    yield told("44", "mean over both models, as in Table 3, t=0", -0.178, float(changes.mean()))
    z = np.arctanh(frame["merg_r"].to_numpy()) - np.arctanh(frame["base_r"].to_numpy())
    three_way = (z[0] - z[1]) - (z[2] - z[3])
    statistic = three_way / math.sqrt(8 / 47)
    p = float(2 * stats.norm.sf(abs(statistic)))
    shown = f"z = {statistic:.2f}, p = {p:.3f}"
    yield "45", "model x language x knowledge, Fisher z, n = 50", "p < .05", shown, p < 0.05
    within = [(z[0] - z[1]) / math.sqrt(4 / 47), (z[2] - z[3]) / math.sqrt(4 / 47)]
    for model, value in zip(MODELS, within, strict=True):
        yield (
            "45",
            f"language x knowledge, {model} alone",
            "",
            f"z = {value:.2f}, p = {2 * stats.norm.sf(abs(value)):.3f}",
            None,
        )


def _table_6(model: str) -> Iterator[Row]:
    place = "56" if model == MODELS[0] else "57"
    table = ablation(model)
    frame = pd.read_csv(PUBLISHED / "illusion_ablation.csv")
    frame = frame[frame["target_model"] == model].set_index("method")
    for variant in VARIANTS:
        printed = float(frame.loc[variant, "avg"])
        computed = mean(table[variant])
        same = agree(printed, computed, 3, HALF)
        yield place, f"{model}, {variant}, average", f"{printed:.3f}", f"{computed:.4f}", same
    averages = [float(frame.loc[variant, "avg"]) for variant in VARIANTS]  # the paper subtracts what it prints
    like = same_pair_steps(table)
    for variant, before, after in zip(VARIANTS[1:], averages, averages[1:], strict=False):
        printed = float(frame.loc[variant, "delta_r"])
        yield told(place, f"{model}, {variant}, step between printed averages", printed, after - before)
        yield told(place, f"{model}, {variant}, step on the same pairs", printed, like[variant], rounding=2 * HALF)


def same_pair_steps(table: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """From a printed table, variant -> r per pair (None where a pair is not given), what each variant adds to the one
    before it on the pairs that both give. NaN where they share none."""
    rows = {name: np.array([np.nan if r is None else r for r in given], dtype=float) for name, given in table.items()}
    steps = {}
    for before, name in zip(rows, list(rows)[1:], strict=False):
        both = np.isfinite(rows[before]) & np.isfinite(rows[name])
        steps[name] = round(float((rows[name] - rows[before])[both].mean()), 6) if both.any() else float("nan")
    return steps


def _structure() -> Iterator[Row]:
    own = [mean(ablation(model)["Original 4-Stage"]) for model in MODELS]
    named = [mean(ablation(model)["5-Dim Per-Dim"]) for model in MODELS]
    shared = [mean(ablation(model)["Shared Stages"]) for model in MODELS]
    share = (sum(named) - sum(own)) / sum(named)
    yield (
        "58",
        "structural share, of agreement with given names",
        "62 %",
        f"{100 * share:.1f} %",
        agree(62, 100 * share, 0),
    )
    for model, a, b, c in zip(MODELS, own, named, shared, strict=True):
        yield "58", f"{model}, of agreement with given names", "", f"{100 * (b - a) / b:.1f} %", None
        yield "58", f"{model}, of agreement by one judge's rubric", "", f"{100 * (b - a) / c:.1f} %", None
        yield "58", f"{model}, given names over own", "2.4 to 2.8", f"{b / a:.2f}", 2.35 <= b / a <= 2.85
    for model, r in zip(MODELS, OWN_RUBRICS, strict=True):
        p = float(2 * stats.t.sf(r * math.sqrt(98 / (1 - r * r)), 98))
        yield "59", f"{model}, own rubrics: p of r = {r} at n = 100", "near random", f"{p:.3f}", p > 0.05
    for model, a, b in ((MODELS[0], 0.589, 0.606), (MODELS[1], 0.591, 0.649)):
        yield (
            "61",
            f"{model}: is the universal rubric below the shared one?",
            "yes" if model == MODELS[1] else "no",
            "yes" if a < b else "no",
            (a < b) is (model == MODELS[1]),
        )


def _which_variant() -> Iterator[Row]:
    """Sec. 3.1 calls .426 and .529 agreement under MERG; no row of Table 6 has them. The checklist is shared by all,
    so the variant to set beside it is the one that shares a rubric."""
    for model, merg, base in ((MODELS[0], 0.426, 0.643), (MODELS[1], 0.529, 0.667)):
        averages = {variant: mean(ablation(model)[variant]) for variant in VARIANTS}
        near = min(averages.values(), key=lambda r: abs(r - merg))
        yield "60", f"{model}, MERG as a variant of Table 6", f"{merg:.3f}", f"nearest {near:.3f}", agree(merg, near, 3)
        yield "60", f"{model}, delta-K with a shared rubric", "", f"{averages['Shared Stages'] - base:+.3f}", None
        yield "60", f"{model}, delta-K with given names", "", f"{averages['5-Dim Per-Dim'] - base:+.3f}", None


CASES = (  # app. C and E: the scores of Claude, Gemini and GPT, and the spread that is printed
    ("63", "patent", (6.43, 10.0, 3.2), 6.80), ("63", "fiction", (3.0, 9.7, 7.1), 6.70),
    ("63", "pitch", (6.48, 9.9, 3.7), 6.20), ("64", "furniture", (8.28, 8.35, 8.40), 0.12),
    ("64", "gaming", (4.53, 4.60, 4.68), 0.15), ("64", "drama", (6.10, 5.90, 5.80), 0.30),
)  # fmt: skip
BASELINE_OF_THE_PITCH = (8.7, 8.7, 7.3)  # app. E.4, means over three judges


def _cases() -> Iterator[Row]:
    """App. C, E and Fig. 1: the cases that were picked for their spread."""
    for place, name, scores, printed in CASES:
        yield told(place, f"spread of the case {name}", printed, max(scores) - min(scores), 2)
    apart = (2.32, 1.10, 2.34)  # mean absolute differences of the three pairs over 100 texts
    yield "66", "mean spread: half the sum of the three mean differences", "", f"{sum(apart) / 2:.2f}", None
    tenths = [name for _, name, scores, _ in CASES if any(abs(10 * s - round(10 * s)) > 1e-6 for s in scores)]
    shown = "yes" if not tenths else f"not in {', '.join(tenths)}"
    yield "50", "overall is the plain mean of five half-point scores", "yes", shown, not tenths
    best = max(BASELINE_OF_THE_PITCH)
    yield "68", "baseline scores of the pitch", "> 9.0", f"at most {best:.1f}", best > 9


def markdown() -> str:
    words = {True: "yes", False: "**no**", None: ""}
    lines = ["| | figure | printed | follows from the tables | agrees |", "|---|---|---|---|---|"]
    for place, what, printed, computed, same in rows():
        lines.append(f"| {place} | {what} | {printed} | {computed} | {words[same]} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown())
