"""Every text on every ground of the page keeps the contrast of WCAG 2 level AA, light and dark."""

from __future__ import annotations

import colorsys

import pytest

from recuse.report.style import ON_SHADE, PALETTE, STEPS, Mode, linear_rgb, mix, shades

TEXTS = (
    "ink",
    "dim",
    "first",
    "second",
    "third",
    "pass",
    "fail",
    "not measured",
    "accepted fault",
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
    assert len(grounds) == 4 * STEPS
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
    from recuse.report.page import environment

    style = environment().get_template("style.css.j2").render()
    assert "var(--over)" not in style
    assert "var(--under)" not in style


def _hue_and_saturation(colour: str) -> tuple[float, float]:
    hue, saturation, _ = colorsys.rgb_to_hsv(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    return hue, saturation
