"""The words behind the numbers: a few replies worth reading. A judge wrote them, so they are hostile until shown
otherwise: every invisible character is spelled out, and long texts are cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report.hostile import shortened, visible
from recuse.report.numbers import count
from recuse.report.view import View
from recuse.report.vocabulary import level_name, plain_name

MOST_REPLIES = 12
MOST_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class Words:
    judge: str
    target: str
    panel: str
    provenance: str
    circumstances: str
    status: str
    why: str
    text: str
    cut: str  # how many characters were left out, in words


def words(view: View) -> tuple[list[Words], int]:
    """The replies to show, and how many more there are in results.json."""
    entries = view.results.get("words") or []
    return [_words(view, entry) for entry in entries[:MOST_REPLIES]], max(0, len(entries) - MOST_REPLIES)


def _words(view: View, entry: Mapping[str, Any]) -> Words:
    panel = next((p for p in view.panels if p.name == entry.get("panel")), None)
    text, cut = shortened(str(entry.get("text") or ""), MOST_CHARACTERS)
    factors = [level_name(str(level)) for level in (entry.get("factors") or {}).values()]
    repeat = entry.get("repeat")
    run = [f"run {repeat + 1}"] if isinstance(repeat, int) else []
    about = [plain_name(str(entry.get("protocol") or "")), *factors, *run]
    return Words(
        judge=view.label(str(entry.get("judge") or ""), panel),
        target=view.label(str(entry.get("target") or ""), panel),
        panel=str(entry.get("panel") or ""),
        provenance=panel.provenance if panel else "",
        circumstances=", ".join(part for part in about if part),
        status=plain_name(str(entry.get("status") or "")),
        why=visible(shortened(str(entry.get("why") or ""), 300)[0]),
        text=visible(text),
        cut=f"{count(cut)} more characters in results.json" if cut else "",
    )
