"""The page of `recuse validate`: operating curves as figures, and the table they come with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from recuse.experiments.scripted_panel import EFFECTS
from recuse.experiments.scripted_tests import TEST_EFFECTS
from recuse.experiments.scripted_upgrade import CALL_EFFECTS

__all__ = ["page"]

EVERY = {**EFFECTS, **TEST_EFFECTS, **CALL_EFFECTS}
"""What each planted effect is, in words."""
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 320, 190, 40, 34, 12

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #6b7280; --line: #d5d9de; --fail: #b3261e; --pass: #1f6f43 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --soft: #9aa3ad; --line: #3a4048; --fail: #ff8a80; --pass: #7bd3a0 }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink) }
figure { display: inline-block; margin: 0 1rem 1.5rem 0; vertical-align: top } figcaption { max-width: 320px }
svg text { font-size: 11px; fill: var(--soft) } pre { overflow-x: auto; font-size: 13px; line-height: 1.45 }
small { color: var(--soft) }
"""


def page(record: Mapping[str, Any], table: str) -> str:
    """One self-contained page without scripts; the same record gives the same bytes."""
    figures = "\n".join(_figure(gate) for gate in (*record["gates"], *_candidates(record["upgrade"])) if gate["curve"])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Operating curves of the gates</title>'
        f'<meta name="viewport" content="width=device-width">\n<style>{STYLE}</style></head><body>\n'
        "<h1>How often are the gates wrong?</h1>\n"
        "<p>Simulated panels, the real measures, the real gates. Each figure shows one gate and one judge whose fault "
        "grows from left to right: how often it fails (solid), and how often it does not pass (dashed). Dotted: 80 %."
        f"</p>\n{figures}\n<h2>All gates</h2>\n<pre>{escape(table)}</pre>\n</body></html>\n"
    )


def _candidates(upgrade: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The verdict on a candidate as one more gate per fault: worse is failed, may replace is passed."""
    for effect in dict.fromkeys(point["effect"] for point in upgrade.get("curve", ())):
        points = [p for p in upgrade["curve"] if p["effect"] == effect]
        curve = [{"effect": effect, "size": p["size"], "fails": p["worse"], "passes": p["accepted"]} for p in points]
        yield {"gate": "upgrade", "curve": curve}


def _figure(gate: Mapping[str, Any]) -> str:
    curve = sorted(gate["curve"], key=lambda point: point["size"])
    most = max(point["size"] for point in curve)
    fails = [(p["size"] / most, p["fails"]) for p in curve]
    not_passed = [(p["size"] / most, 1 - p["passes"]) for p in curve]
    phrase = "; ".join(f"{p['size']:.3g}: fails {p['fails']:.0%}, passes {p['passes']:.0%}" for p in curve)
    ticks = "".join(_tick(p["size"], p["size"] / most) for p in curve)
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{escape(gate["gate"])}: {escape(phrase)}">'
        f"{_level(0.0, 'var(--line)')}{_level(0.8, 'var(--soft)', '2 3')}{_level(1.0, 'var(--line)')}{ticks}"
        f"{_line(not_passed, 'var(--pass)', '5 4')}{_line(fails, 'var(--fail)')}</svg>"
        f"<figcaption><b>{escape(gate['gate'])}</b><br><small>{escape(EVERY[curve[0]['effect']])}</small>"
        "</figcaption></figure>"
    )


def _x(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - 12), 1)


def _y(rate: float) -> float:
    return round(HEIGHT - BOTTOM - rate * (HEIGHT - BOTTOM - TOP), 1)


def _line(points: Sequence[tuple[float, float]], color: str, dash: str = "") -> str:
    path = " ".join(f"{_x(x)},{_y(y)}" for x, y in points)
    dots = "".join(f'<circle cx="{_x(x)}" cy="{_y(y)}" r="2.5" fill="{color}"/>' for x, y in points)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"{dashed}/>{dots}'


def _level(rate: float, color: str, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    line = f'<line x1="{LEFT}" x2="{WIDTH - 12}" y1="{_y(rate)}" y2="{_y(rate)}" stroke="{color}"{dashed}/>'
    return f'{line}<text x="{LEFT - 6}" y="{_y(rate) + 4}" text-anchor="end">{100 * rate:.0f} %</text>'


def _tick(size: float, share: float) -> str:
    return f'<text x="{_x(share)}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{size:.3g}</text>'
