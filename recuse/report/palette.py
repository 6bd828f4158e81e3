"""The report's colours, light and dark, and the shades of its heat maps.

Shades are mixed here, in OKLab, rather than by the browser: then the contrast of every text on every background is a
number that a test checks (WCAG AA), and old browsers and printers get the same picture.

Red and blue mean one thing, above and below ("over", "under"), in heat maps; series ("first", "second", "third"), bars
and ladders have other hues, and an outcome's colour only repeats its mark.
"""

from __future__ import annotations

from typing import Literal

Mode = Literal["light", "dark"]
STEPS = 9
"""Shades per direction in a heat map, faintest to strongest."""

PALETTE: dict[Mode, dict[str, str]] = {
    "light": {
        "bg": "#fbfaf7", "ink": "#1c1b19", "dim": "#625e57", "line": "#e3dfd6", "card": "#ffffff", "edge": "#8a857b",
        "over": "#d1472f", "under": "#2f6db5", "rank": "#7f9a55", "amount": "#b07d1e", "band": "#eef0e4",
        "first": "#00696f", "second": "#57534b", "third": "#7d5a9c",
        "pass": "#2a6a3b", "fail": "#b3261e", "not measured": "#8f1d56", "accepted fault": "#7a5600",
        "accepted doubt": "#4a5a6b", "undecided": "#4a4d9d",
    },
    "dark": {
        "bg": "#161513", "ink": "#ece9e2", "dim": "#a8a399", "line": "#34322d", "card": "#1e1d1a", "edge": "#7d776c",
        "over": "#d9573f", "under": "#4f86d6", "rank": "#86a55c", "amount": "#c08a2c", "band": "#24281f",
        "first": "#5fc7cc", "second": "#b9b3a6", "third": "#c8a8e6",
        "pass": "#7cc48e", "fail": "#f2867c", "not measured": "#ee8fc0", "accepted fault": "#e0b95a",
        "accepted doubt": "#aebdcb", "undecided": "#abaef2",
    },
}  # fmt: skip

# How much of the full colour the strongest shade takes: enough to stand out, not so much that its number drowns.
_STRONGEST = {"light": 0.80, "dark": 0.72}
ON_SHADE: dict[Mode, str] = {"light": "#1c1b19", "dark": "#ffffff"}
"""Text on any shade."""

_RAMPS = {"o": "over", "u": "under", "r": "rank", "m": "amount"}


def shades(mode: Mode) -> dict[str, str]:
    """Heat-map class ("o1" .. "o9" over, "u" under, "r" rank, "m" amount) -> background."""
    base = PALETTE[mode]
    return {
        f"{letter}{step}": mix(base["card"], base[name], _STRONGEST[mode] * step / STEPS)
        for letter, name in _RAMPS.items()
        for step in range(1, STEPS + 1)
    }


def mix(a: str, b: str, share: float) -> str:
    """`share` of b in a, mixed in OKLab (Ottosson 2020), as hex."""
    left, right = _oklab(a), _oklab(b)
    return _hex([x + (y - x) * share for x, y in zip(left, right, strict=True)])


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


def _hex(lab: list[float]) -> str:
    linear = _times(_FROM_LMS, [c**3 for c in _times(_FROM_LAB, lab)])
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, _gamma(c)))):02x}" for c in linear)


def _gamma(c: float) -> float:
    return 12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055
