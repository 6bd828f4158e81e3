"""What docs/rubrics.md says of the recorded panel is what its cassettes give."""

from __future__ import annotations

import writing_panel


def test_the_page_shows_what_was_recorded():
    page = (writing_panel.ROOT / "docs" / "rubrics.md").read_text(encoding="utf-8")
    assert writing_panel.markdown(writing_panel.recorded()) in page
