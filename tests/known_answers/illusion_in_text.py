"""What the text of "Beyond the illusion of consensus" (paper 002) says, beside what follows from its own numbers:

    python tests/known_answers/illusion_in_text.py

`illusion` has what our measures make of Table 9; here are the figures of the running text and the appendices, which
follow from each other and from tables 3, 4, 5 and 9 by a line of arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator

import illusion
import numpy as np
from illusion import TIERS, Row, agree, by_tier, table_9
from merg import CASES, delta_k_table
from scipy import stats

TABLE_4 = (7.77, 6.83, 6.72, 6.69, 6.62, 3.33, 2.97, 2.20, 2.04, 1.22)
TABLE_5 = (0.89, 0.88, 0.87, 0.87, 0.86, 0.67, 0.67, 0.62, 0.60, 0.60)
SIZE_OF = {"Qwen3-4B": 4, "Qwen3-8B": 8, "Qwen3-14B": 14, "Qwen3-30B": 30, "Qwen3-32B": 32, "Qwen3-235B": 235}
F_OF_PAIRS = 14.7  # sec. 3.1
OVER_TEMPERATURES = {"Base": 0.76, "Thinking": 0.70}  # sec. 3.2, mean r over all temperatures
FLAT = 0.05  # points of r between the highest and the lowest of three temperatures
BANDS = ((3.0, 5.5), (5.0, 7.0), (5.5, 7.5))  # app. F, by tier
GEMINI, THE_OTHERS = 9.0, (7.1, 6.9)  # app. C
IN_APPENDIX_C = (6.4, 6.5)  # Claude's scores of the patent and the pitch
BASELINE_MEANS = (9.3, 4.7, 5.0, 8.0, 7.7, 8.7, 7.3)  # app. E: means over three judges of whole scores


def rows() -> Iterator[Row]:
    yield from _resolutions()
    yield from _tiers()
    yield from _tables_4_and_5()
    yield from _temperature()
    yield from _appendix_f()
    yield from _cases()


def told(place: str, what: str, printed: float, computed: float, digits: int) -> Row:
    return place, what, f"{printed:.{digits}f}", f"{computed:.{digits}f}", agree(printed, computed, digits)


def _resolutions() -> Iterator[Row]:
    """Sec. 3.2. The printed steps mix temperatures and units; Table 9 has prompt means at temperature 0."""
    rho = np.mean([0.992, 0.992, 0.984])
    yield told("12", "mean rho of the three pairs", 0.989, float(rho), 3)
    yield told("14", "rho less r, as printed", 0.27, 0.989 - 0.72, 2)
    at_zero = float(table_9()["agreement"].mean())
    yield told("14", "rho less r, both at temperature 0", 0.27, 0.989 - at_zero, 2)
    yield told("15", "mean r of the three pairs", 0.72, float(np.mean([0.77, 0.71, 0.69])), 2)
    p = stats.f.sf(F_OF_PAIRS, 2, 93)
    yield "16", "p of F(2, 93) = 14.7", "< .001", f"{p:.1e}", bool(p < 0.001)
    yield "16", "p of the same F over 32 models that repeat, F(2, 62)", "", f"{stats.f.sf(F_OF_PAIRS, 2, 62):.1e}", None
    weighted = float(np.average([0.75, 0.65, 0.63], weights=[8, 13, 11]))
    yield told("21", "mean ICC of the tiers, by their models", 0.67, weighted, 2)
    yield told("22", "r less ICC, as printed", 0.05, 0.72 - 0.67, 2)
    yield told("22", "r less ICC, both of prompt means at temperature 0", 0.05, at_zero - weighted, 2)


def _tiers() -> Iterator[Row]:
    agreement = by_tier("agreement")
    grand = OVER_TEMPERATURES["Base"] - OVER_TEMPERATURES["Thinking"]
    at_zero = float(agreement["Base"].mean() - agreement["Thinking"].mean())
    shown = f"{grand:.2f} to {at_zero:.2f}"
    yield "20", "Base less Thinking: does it widen at temperature 0?", "yes", shown, at_zero > grand
    anova = stats.f_oneway(*agreement.values()).pvalue
    welch = stats.ttest_ind(agreement["Base"], agreement["Thinking"], equal_var=False).pvalue
    yield "25", "p of the three tiers' agreement, analysis of variance", "", f"{anova:.2f}", None
    yield "25", "p of Base and Thinking, Welch", "", f"{welch:.2f}", None
    ranks = np.flatnonzero(table_9()["tier"] == "Base") + 1
    place = f"{len(ranks)} of 13, {ranks.min()} to {ranks.max()}"
    yield "37", "Base among ranks 20 to 32", "8 of 13, 20 to 32", place, place == "8 of 13, 20 to 32"


def _tables_4_and_5() -> Iterator[Row]:
    scores, agreement = (np.sort(table_9()[name].to_numpy(dtype=float))[::-1] for name in ("score", "agreement"))
    for place, name, printed, known, digits in (
        ("34", "Table 4", TABLE_4, scores, 2),
        ("35", "Table 5", TABLE_5, agreement, 2),
    ):
        ends = np.concatenate([known[:5], known[-5:]])
        same = sum(agree(a, float(b), digits) for a, b in zip(printed, ends, strict=True))
        yield place, f"{name}, top and bottom five as in Table 9", "10", str(same), same == 10
    yield told("38", "mean r of the five best models", 0.76, float(table_9()["agreement"].head(5).mean()), 2)
    best = table_9()["agreement"].head(2).to_numpy(dtype=float)
    yield "75", "r of the two best models", "0.55 to 0.65", f"{best[0]:.3f} and {best[1]:.3f}", bool(best.max() <= 0.65)
    lower = int((table_9()["agreement"] < best.max()).sum()) - 1
    yield "75", "others with less than the second of them", "0", str(lower), lower == 0


def _temperature() -> Iterator[Row]:
    """Figs. 2 and 5 beside Table 3."""
    frame = delta_k_table()
    means = frame[frame["pair"] == "Mean"].set_index("temperature")
    gap = means["delta_k"].abs()
    yield "33", "temperature of the widest gap", "0.3", f"{gap.idxmax():g}", bool(gap.idxmax() == 0.3)
    base = {t: float(means.loc[t, "base_r"]) for t in (0.0, 0.3, 1.0)}
    shown = ", ".join(f"{r:.3f}" for r in base.values())
    lower = base[0.0] < base[0.3]
    yield "33", "is baseline agreement lower at temperature 0 than at 0.3?", "yes", "yes" if lower else "no", lower
    flat = max(base.values()) - min(base.values()) <= FLAT
    yield "73", "baseline agreement at temperatures 0, 0.3, 1", "flat", shown, flat
    pairs = frame[(frame["pair"] != "Mean") & (frame["temperature"] == 0)].set_index("pair")["base_r"]
    most = str(pairs.idxmax())
    yield "74", "pair that agrees most at temperature 0", "Claude/GPT", most, most == "Claude/GPT"


def _appendix_f() -> Iterator[Row]:
    scores = by_tier("score")
    for tier, (low, high) in zip(TIERS, BANDS, strict=True):
        inside = low - 0.05 <= scores[tier].min() and scores[tier].max() <= high + 0.05
        shown = f"{scores[tier].min():.2f} to {scores[tier].max():.2f}"
        yield "77", f"mean scores, {tier}", f"{low:.1f} to {high:.1f}", shown, bool(inside)
    for tier, printed in (("Thinking", 1.5), ("Base", 3.5)):
        yield told("78", f"best less worst model, {tier}", printed, float(np.ptp(scores[tier])), 1)
    above = [GEMINI - other for other in THE_OTHERS]
    shown = f"{above[0]:.1f} and {above[1]:.1f}"
    yield "79", "Gemini above the others (app. C)", "0.5 to 1.0", shown, all(0.45 <= more <= 1.05 for more in above)
    for tier in TIERS:
        yield "81", f"points per tenfold size, Qwen3 {tier}", "0.3 to 0.5", f"{slope(tier):.2f}", slope(tier) <= 0.5


def slope(tier: str) -> float:
    """Least squares of the mean score on log10 of the size, over the Qwen3 models of a tier."""
    frame = table_9()[table_9()["tier"] == tier]
    known = {name: size for name, size in SIZE_OF.items() if f"{name}-{tier}" in set(frame["model"])}
    score = frame.set_index("model")["score"]
    x, y = [np.log10(size) for size in known.values()], [float(score[f"{name}-{tier}"]) for name in known]
    return round(float(np.polyfit(x, y, 1)[0]), 3)


def _cases() -> Iterator[Row]:
    thirds = sum(abs(3 * mean - round(3 * mean)) <= 0.15 + 1e-9 for mean in BASELINE_MEANS)
    shown = f"{thirds}: {', '.join(map(str, BASELINE_MEANS))}"
    yield "67", "baseline means of the cases that three whole scores can have", "7", shown, thirds == 7
    patent = CASES[0][2]
    low, high = ((patent[2] - 1) / (top - 1) for top in (10, 5))
    shown = f"{low:.0%}, {high:.0%}"
    yield "69", "where 3.2 lies on 1-10, and on 1-5", "a bit above the middle", shown, 0.5 < low < 0.6
    in_e = [scores[0] for _, name, scores, _ in CASES if name in ("patent", "pitch")]
    same = all(agree(short, long, 1) for short, long in zip(IN_APPENDIX_C, in_e, strict=True))
    yield "92", "scores of two cases in app. C and E", "6.4, 6.5", ", ".join(map(str, in_e)), same


def markdown() -> str:
    return illusion.markdown(rows())


if __name__ == "__main__":
    print(markdown())
