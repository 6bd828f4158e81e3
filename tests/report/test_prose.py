"""Words from docstrings on a page: stress and names become elements, everything else stays as it is."""

from __future__ import annotations

import pytest

from recuse.report.style import prose


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the mean of the *other* judges' scores", "the mean of the <em>other</em> judges&#39; scores"),
        ("which only `controlled` takes out", "which only <code>controlled</code> takes out"),
        ("2 * 3 * 4 and a*b*c", "2 * 3 * 4 and a*b*c"),
        ("a footnote*", "a footnote*"),
        ("*<script>*", "*&lt;script&gt;*"),
        ("`<b>` \u202e", "<code>&lt;b&gt;</code> ⟦U+202E⟧"),
    ],
)
def test_prose(text: str, shown: str) -> None:
    assert prose(text) == shown
