"""Where each thing stands, permanent and short: places on the page that links lead to; files and anchors of replies."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from recuse.report.gated_number import Number, plain_name
from recuse.schema.results import ExcerptRow, RepliesRow

FOLDER, STUDIES = "replies", "studies"
JUDGES, PROMPTS = "~judges", "~prompts"


def verdict_anchor(n: Number) -> str:
    """A verdict's cell in the matrix."""
    return f"v-{digest([n.gate, *n.about])}"


def fault_anchor(n: Number) -> str:
    """The accepted failure that covers a verdict, in the list of gates; "" without one."""
    fault = n.accepted_fault
    return f"k-{digest([n.question, n.gate, fault['accept'], fault['until'], fault['reason']])}" if fault else ""


def named_anchor(kind: str, *names: str) -> str:
    """The section of a question ("q"), or what a gate of it turns red ("red")."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", "-".join((kind, *names)))


def digest(value: Any) -> str:
    """Eight hexadecimal digits that stand for a value in an anchor."""
    return f"{zlib.crc32(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()):08x}"


def page_name(name: str, part: int = 0) -> str:
    """ "gpt.html"; "gpt~2.html" for what the first page could not hold."""
    return f"{name}~{part + 1}.html" if part else f"{name}.html"


class ReplyPlaces:
    """Addresses from a page whose way to the folder of replies is `base`. `written`: "panel/task/protocol[/candidate]"
    -> what `write_transcript` gave; where nothing was written, there is no address."""

    def __init__(self, written: Mapping[str, RepliesRow], base: str = f"{FOLDER}/") -> None:
        self._base = base
        self._written = {place: account for place, account in written.items() if account}
        self._pages: dict[str, dict[str, str]] = {}  # place -> judge -> the address of its replies there
        for key, account in self._written.items():  # of the judges in use, and of every candidate
            pages = self._pages.setdefault("/".join(key.split("/")[:3]), {})
            for judge, names in account["pages"].items():
                pages.setdefault(judge, f"{base}{quote(names[0])}")

    def __bool__(self) -> bool:
        return bool(self._written)

    @property
    def index(self) -> str:
        """The page that lists all replies."""
        return f"{self._base}index.html"

    def of(self, number: Number) -> str:
        """The page behind a number: its judge's replies; where it is about all judges, the list of theirs."""
        place = _place(number.subject)
        listed = f"{self.index}#{place_anchor(place)}" if place in self._written else ""
        return self._pages.get(place, {}).get(number.who, listed)

    def of_judges(self, numbers: Iterable[Number]) -> list[tuple[str, list[tuple[str, str]]]]:
        """Per protocol (judge, address) of everybody whose replies lie behind these numbers."""
        protocols: dict[str, dict[str, str]] = {}
        for place in dict.fromkeys(_place(number.subject) for number in numbers):
            for judge, address in self._pages.get(place, {}).items():
                protocols.setdefault(place.rpartition("/")[2], {}).setdefault(judge, address)
        return [(protocol, list(judges.items())) for protocol, judges in protocols.items()]

    def said_by(self, panel: str, judge: str) -> list[tuple[str, str]]:
        """("task, protocol", address) of everything a judge said."""
        places: dict[str, str] = {}
        for place, pages in self._pages.items():
            of, *where = place.split("/")
            if of == panel and judge in pages:
                places.setdefault(", ".join(map(plain_name, where)), pages[judge])
        return list(places.items())

    def judge(self, panel: str, judge: str) -> str:
        """The page with every number about a judge, also one that was not asked; "" where no replies were written."""
        return f"{self._base}{quote(judge_page(panel, judge))}" if self else ""

    def reply(self, row: ExcerptRow) -> str:
        """The address of one reply that results.json quotes."""
        judge, reply, place = row.get("judge"), row.get("reply"), f"{_place(row)}/"
        for key, account in self._written.items():
            if f"{key}/".startswith(place) and (pages := account["pages"].get(judge)):
                page = pages[account["further"].get(judge, {}).get(reply, 0)]
                return f"{self._base}{quote(page)}#{reply or ''}".rstrip("#")
        return ""


def _place(about: Mapping[str, object]) -> str:
    return "/".join(str(about.get(part, "")) for part in ("panel", "task", "protocol"))


def judge_page(panel: str, judge: str) -> str:
    """Path, from reports/replies/, of the page with every number about a judge."""
    return f"{panel}/{JUDGES}/{page_name(judge)}"


def place_anchor(place: str) -> str:
    """Anchor of a place, "panel/task/protocol", on the page that lists them."""
    return place.replace("/", "--")
