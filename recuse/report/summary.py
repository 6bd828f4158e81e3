"""summary.md: the report as a pull-request comment. Short, GitHub Markdown, failures first; no judge's words in it.

Drawn by summary.md.j2 from the parts that the page is drawn from. Whatever others wrote passes a filter of here:
nothing in it formats, links, breaks a table, mentions a person or ends a block.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from jinja2 import Environment

from recuse.report.first_line import decision_lines
from recuse.report.page import environment, parts
from recuse.report.questions import Drawings
from recuse.report.results_model import ResultsModel
from recuse.report.sections.about_the_run import digests, in_one_line, not_asked
from recuse.report.verdict_tables import verdict_table
from recuse.schema.results import Known, Results
from recuse.security.sanitize import shortened, visible

SIZE_LIMIT = 60_000
"""Characters; GitHub refuses comments beyond 65,536."""

LONGEST_TEXT = 600
LONGEST_NAME = 100

PARTED = "\f"
"""What the template puts between sections; in a text it is spelled out."""


def summary(
    results: Results, size_limit: int = SIZE_LIMIT, drawings: Sequence[str] = (),
    known: Known | None = None,
) -> str:  # fmt: skip
    """Markdown for normalised `results`; whole sections are left out from the end where it would grow too long."""
    view, order = ResultsModel(results), Drawings(drawings).order
    questions = sorted(view.questions, key=lambda q: order(q.id))
    of_gates = [(q, [group for group in view.groups(q) if group.gates]) for q in questions]
    text = _environment().get_template("summary.md.j2").render(
        **parts(view, questions, known or {}),
        lines=decision_lines(view),
        questions=[
            (q, [(group, verdict_table([group])) for group in groups],
             [n.state for group in groups for measured in group.gates.values() for n in measured])
            for q, groups in of_gates if groups
        ],
        unasked=not_asked(view),
        unasked_in_short=in_one_line(view),
        digests=digests(view),
    )  # fmt: skip
    sections = [re.sub("\n{3,}", "\n\n", section.strip()) for section in text.split(PARTED)]
    note = "\n\n_Shortened: the rest is in the report (index.html)._\n"
    kept: list[str] = []
    for section in filter(None, sections):
        if sum(len(part) + 2 for part in [*kept, section]) + len(note) > size_limit:
            return "\n\n".join(kept)[: size_limit - len(note)] + note
        kept.append(section)
    return "\n\n".join(kept) + "\n"


@cache
def _environment() -> Environment:
    env = environment().overlay(autoescape=False, finalize=None)
    env.filters = env.filters | {"md": escaped, "html": escaped_html, "code": code_span, "fenced": fenced}
    return env


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


def fenced(code: str) -> str:
    """A block of code that nothing in it can end."""
    clean = "\n".join(visible(line) for line in shortened(code, LONGEST_TEXT)[0].splitlines())
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", clean)), default=0))
    return f"{fence}toml\n{clean}\n{fence}"
