"""GitHub Markdown from texts of others: nothing in them formats, links, breaks a table, mentions a person or ends a
block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from recuse.report.figures import Table
from recuse.security.sanitize import shortened, visible

LONGEST_TEXT = 600
LONGEST_NAME = 100


def escaped(text: str) -> str:
    """Plain text as Markdown: nothing in it formats, links, breaks a table, mentions a person or closes a comment."""
    return re.sub(r"([\\`*_\[\]|~$])", r"\\\1", escaped_html(text))


def escaped_html(text: str) -> str:
    """For text inside an HTML tag: Markdown is not read there, HTML is."""
    clean = " ".join(visible(shortened(text, LONGEST_TEXT)[0]).split())
    inert = clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # neither @someone nor #12 nor a bare address calls anyone or becomes a link
    silent = re.sub(r"([@#])(?=\w)", "\\1\u2060", inert)
    return silent.replace("://", ":\u2060//").replace("www.", "www\u2060.")


def code_span(text: str) -> str:
    """A name in a code span, where nothing is Markdown."""
    clean = " ".join(visible(shortened(text, LONGEST_NAME)[0]).split())
    inert = clean.replace("`", "'").replace("|", "/")
    return f"`{inert}`"


def table_head(names: Sequence[str]) -> list[str]:
    """The two lines that open a table; the names are Markdown already."""
    return [table_row(names), table_row(["---"] * len(names))]


def table_row(cells: Iterable[str]) -> str:
    """A line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def of_table(table: Table, most: int) -> list[str]:
    """The lines of a table of the page, its first `most` rows, and how many more there are."""
    texts = [[" ".join(part for part in (cell.text, cell.small) if part) for cell in row] for row in table.rows[:most]]
    more = len(table.rows) + table.left_out - len(texts)
    lines = [*table_head([escaped(name) for name in table.columns]), *(table_row(map(escaped, row)) for row in texts)]
    return [*lines, *(["", f"{more} more in the report."] if more else [])] if texts else []


def folded(head: str, body: str, unfolded: str = "") -> str:
    """What is shown on a click on `head`, or at once where `unfolded` is " open"; both are Markdown already."""
    return f"<details{unfolded}><summary>{head}</summary>\n\n{body}\n\n</details>"


def fenced(code: str) -> str:
    """A block of code that nothing in it can end."""
    clean = "\n".join(visible(line) for line in shortened(code, LONGEST_TEXT)[0].splitlines())
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", clean)), default=0))
    return f"{fence}toml\n{clean}\n{fence}"
