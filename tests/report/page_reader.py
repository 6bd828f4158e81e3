"""Reads a page for the tests: a strict tree of its elements, in the standard library's terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from recuse.report.page import pages

VOID = {"meta", "link", "br", "hr", "img", "input", "col"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    def all(self, tag: str = "", **attributes: str) -> Iterator[Element]:
        """Descendants with this tag and these attributes; `class_="a"` asks for one of the classes."""
        for child in self.children:
            if isinstance(child, Element):
                if (not tag or child.tag == tag) and child._has(attributes):
                    yield child
                yield from child.all(tag, **attributes)

    def one(self, tag: str = "", **attributes: str) -> Element:
        found = list(self.all(tag, **attributes))
        assert len(found) == 1, f"{len(found)} elements {tag} {attributes}"
        return found[0]

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def _has(self, attributes: dict[str, str]) -> bool:
        return all(
            value in self.classes if name == "class_" else self.attributes.get(name.replace("_", "-")) == value
            for name, value in attributes.items()
        )


class _Reader(HTMLParser):
    """Fails on an end tag that closes nothing or something else, and on a repeated attribute."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("document", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> repeats an attribute: {names} at line {self.getpos()[0]}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}> at line {self.getpos()[0]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(html: str) -> Element:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert [element.tag for element in reader.open] == ["document"], f"never closed: {[e.tag for e in reader.open]}"
    return reader.open[0]


def page(results: Any, headline: str, *settings: Any, **named: Any) -> str:
    """The whole report in one page, studies among its questions."""
    return pages({**results, "headline": headline}, *settings, **named, studies=())["index.html"]
