"""Every text on every ground of the page keeps the contrast of WCAG 2 level AA, light and dark."""

from __future__ import annotations

import colorsys
import re

import pytest

from recuse.report.page import environment
from recuse.report.style import ON_SHADE, PALETTE, RAMPS, STEPS, STRONGEST, Mode

TEXTS = (
    "ink",
    "dim",
    "first",
    "second",
    "third",
    "pass",
    "fail",
    "not measured",
    "accepted failure",
    "accepted doubt",
    "undecided",
)
GROUNDS = ("bg", "card")
MODES = pytest.mark.parametrize("mode", ["light", "dark"])


def contrast(a: str, b: str) -> float:
    """WCAG 2 contrast ratio of two hex colours, 1 to 21."""
    darker, lighter = sorted((_luminance(a), _luminance(b)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    r, g, b = linear_rgb(colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def shades(mode: Mode) -> dict[str, str]:
    """Heat-map class -> background, as the style sheet asks a browser to mix it."""
    style = environment().get_template("style.css.j2").render()
    rule = r"\.([a-z]\d)\{background:color-mix\(in oklab,var\(--([a-z]+)\) (\d+)%,var\(--card\)\)\}"
    colours = PALETTE[mode]
    return {n: mix(colours["card"], colours[of], int(share) / 100) for n, of, share in re.findall(rule, style)}


def mix(a: str, b: str, share: float) -> str:
    """`share` of b in a, mixed in OKLab (Ottosson 2020), as hex."""
    left, right = _oklab(a), _oklab(b)
    lab = [x + (y - x) * share for x, y in zip(left, right, strict=True)]
    linear = _times(_FROM_LMS, [c**3 for c in _times(_FROM_LAB, lab)])
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, _gamma(c)))):02x}" for c in linear)


def linear_rgb(colour: str) -> list[float]:
    """Red, green and blue of "#rrggbb" as shares of the light that a screen emits (sRGB, IEC 61966-2-1), 0 to 1."""
    eight_bit = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in eight_bit]


_TO_LMS = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
           (0.0883024619, 0.2817188376, 0.6299787005))  # fmt: skip
_TO_LAB = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
           (0.0259040371, 0.7827717662, -0.8086757660))  # fmt: skip
_FROM_LAB = (
    (1.0, 0.3963377774, 0.2158037573),
    (1.0, -0.1055613458, -0.0638541728),
    (1.0, -0.0894841775, -1.2914855480),
)
_FROM_LMS = ((4.0767416621, -3.3077115913, 0.2309699292), (-1.2684380046, 2.6097574011, -0.3413193965),
             (-0.0041960863, -0.7034186147, 1.7076147010))  # fmt: skip


def _times(matrix: tuple[tuple[float, ...], ...], vector: list[float]) -> list[float]:
    return [sum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix]


def _oklab(colour: str) -> list[float]:
    return _times(_TO_LAB, [c ** (1 / 3) for c in _times(_TO_LMS, linear_rgb(colour))])


def _gamma(c: float) -> float:
    return 12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055


def test_contrast_of_black_on_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # the well-known grey that just fails


@MODES
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ground", GROUNDS)
def test_text_on_ground(mode: Mode, text: str, ground: str) -> None:
    assert contrast(PALETTE[mode][text], PALETTE[mode][ground]) >= 4.5


@MODES
@pytest.mark.parametrize("mark", ["first", "second", "third", "ink", "edge"])
@pytest.mark.parametrize("ground", ["bg", "card", "band"])
def test_marks_in_pictures(mode: Mode, mark: str, ground: str) -> None:
    """What is drawn rather than written needs 3 to 1; the dots also lie on the band of the limits."""
    assert contrast(PALETTE[mode][mark], PALETTE[mode][ground]) >= 3


@MODES
def test_text_on_every_shade_of_a_heat_map(mode: Mode) -> None:
    grounds = shades(mode)
    assert len(grounds) == len(RAMPS) * STEPS
    assert mix("#000000", "#ffffff", STRONGEST / 100) > mix("#000000", "#ffffff", STRONGEST / 200)
    assert min(contrast(ON_SHADE[mode], ground) for ground in grounds.values()) >= 4.5


@MODES
@pytest.mark.parametrize("ramp", "ourm")
def test_stronger_shades_stand_out_more(mode: Mode, ramp: str) -> None:
    grounds = shades(mode)
    away = [contrast(grounds[f"{ramp}{step}"], PALETTE[mode]["card"]) for step in range(1, STEPS + 1)]
    assert away == sorted(away)
    assert away[-1] > 1.5 * away[0]


def test_mixing_ends_at_its_ends() -> None:
    assert mix("#d1472f", "#2f6db5", 0) == "#d1472f"
    assert mix("#d1472f", "#2f6db5", 1) == "#2f6db5"


@MODES
@pytest.mark.parametrize("mark", ["first", "second", "third", "rank", "amount", "band"])
@pytest.mark.parametrize("meaning", ["over", "under"])
def test_red_and_blue_mean_above_and_below_and_nothing_else(mode: Mode, mark: str, meaning: str) -> None:
    """Their hues lie 25 degrees or more from whatever else is drawn, unless that has no hue to speak of."""
    hues = [_hue_and_saturation(PALETTE[mode][name]) for name in (mark, meaning)]
    apart = abs(hues[0][0] - hues[1][0])
    assert min(apart, 1 - apart) >= 25 / 360 or hues[0][1] < 0.2, (mark, meaning)


def test_their_variables_are_used_by_shades_alone() -> None:
    style = environment().get_template("style.css.j2").render()
    for name in ("over", "under"):
        assert style.count(f"var(--{name})") == style.count(f"color-mix(in oklab,var(--{name}) ") == STEPS


def _hue_and_saturation(colour: str) -> tuple[float, float]:
    hue, saturation, _ = colorsys.rgb_to_hsv(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    return hue, saturation
