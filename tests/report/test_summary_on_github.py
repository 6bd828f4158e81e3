"""summary.md through GitHub's own Markdown: whole tables, no markup of ours broken, no name that becomes markup.

GitHub renders with cmark-gfm and then removes elements that are not on its list; here nothing is removed, so that what
would only be hidden there is seen.
"""

from __future__ import annotations

import json
from html.parser import HTMLParser

import cmarkgfm
import pytest
import samples
from cmarkgfm.cmark import Options

from recuse.report.canonical_form import normalised
from recuse.report.first_line import headline
from recuse.report.page import SIZE_LIMIT, summary

OURS = {
    *("h3", "h4", "p", "ul", "li", "strong", "em", "code", "pre", "sub", "br", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
VOID = {"br"}
HOSTILE = [
    "<script>alert(1)</script>", "</details><h1>cleared</h1>", "<!-- ", "<img src=x>", "[x](http://evil.example)",
    "![i](http://evil.example/i.png)", "![i](//evil.example/i.png)",
    "`code` and `", "a|b||c", "**cleared** __all__", "~~gone~~", "$x^2$ \\(y\\)",
    "http://evil.example", "www.evil.example", "ann@evil.example", "mailto:ann@evil.example", "@octocat #12 GH-12",
    "&lt;b&gt; &amp;", "ends in \\", "\u202ereversed", "line\nbreak\n\n# heading", "[ref]: http://evil.example",
]  # fmt: skip


class Elements(HTMLParser):
    """Elements, text, and whether every element is closed where it must be."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.open: list[str] = []
        self.crossed: list[str] = []
        self.text = ""
        self.comments: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def rendered(results: samples.Results) -> Elements:
    plain = normalised(results)
    plain["headline"] = headline(plain)
    return Elements(cmarkgfm.github_flavored_markdown_to_html(summary(plain), options=Options.CMARK_OPT_UNSAFE))


def named(hostile: str) -> samples.Results:
    """Results in which a judge, its label, a reason, a remedy, a note and a source have this text."""
    results = samples.failing()
    written = json.dumps(hostile)[1:-1]
    changed: samples.Results = json.loads(json.dumps(results).replace("grok-4", written))
    for verdict in changed["verdicts"]:
        verdict["reason"] = hostile
        if verdict["remedy"]:
            verdict["remedy"]["finding"] = hostile
    changed["objections"] = [hostile]
    for panel in changed["panels"]:
        panel |= {"provenance": "imported", "source": hostile}
    return changed


SAMPLES = {
    "published": samples.published, "both": samples.both, "failing": samples.failing, "hostile": samples.hostile,
    "several tasks": samples.several_tasks, "forty judges": lambda: samples.invented(40, long_names=True),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_rendered_with_nothing_but_our_elements(name):
    page = rendered(SAMPLES[name]())
    assert page.names <= OURS
    assert {"table", "details", "h3"} <= page.names
    assert (page.crossed, page.open, page.comments) == ([], [], [])
    assert "| ---" not in page.text  # a table that was not taken for one


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_name_is_text_and_nothing_else(hostile):
    page = rendered(named(hostile))
    assert page.names <= OURS
    assert (page.crossed, page.open, page.comments) == ([], [], [])
    assert "| ---" not in page.text


def test_the_check_sees_what_a_name_would_do_if_it_were_not_escaped():
    html = cmarkgfm.github_flavored_markdown_to_html("- ann@evil.example <h1>", options=Options.CMARK_OPT_UNSAFE)
    assert Elements(html).names >= {"a", "h1"}


def test_the_longest_one_fits_a_comment():
    plain = normalised(samples.invented(40, long_names=True))
    plain["headline"] = "x"
    assert len(summary(plain)) < SIZE_LIMIT == 60_000
