"""Every link of a built site leads to a file of it and to a place on that page, and nothing is fetched from elsewhere.

python tests/packaging/site_links.py FOLDER
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src")}


class Page(HTMLParser):
    """Ids, links and what a browser would fetch."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.ids.add(value)
            elif (tag, name) == ("a", "href") and value:
                self.links.append(value)
            elif (tag, name) in FETCHED and value and dict(attrs).get("rel") != "canonical":
                self.fetched.append(value)


def faults(site: Path) -> list[str]:
    """What is wrong, in words; nothing where all is well."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        return [f"{site} holds no page"]
    found = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links are absolute
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{path.name}: {link} leads to no file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                found.append(f"{path.name}: {link} leads to no place on {target.name}")
        for one in page.fetched:
            parts = urlsplit(one)
            if parts.netloc:
                found.append(f"{path.name}: fetches {one}")
            elif not parts.scheme and parts.path and not (path.parent / unquote(parts.path)).exists():
                found.append(f"{path.name}: shows {one}, which is no file")
    return found


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print("\n".join(wrong) or "Every link leads somewhere, and nothing is fetched from elsewhere.")
    sys.exit(bool(wrong))
