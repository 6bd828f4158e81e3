"""The pages beside the report: the shell they share (no script, nothing fetched), a page per judge with every number
about it, and the list of all replies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from recuse.report.addresses import FOLDER, STUDIES, ReplyPlaces, judge_page, place_anchor
from recuse.report.gated_number import without_twins
from recuse.report.page import environment
from recuse.report.results_model import Panel, ResultsModel
from recuse.report.style import style_hash
from recuse.schema.results import RepliesRow
from recuse.schema.vocabulary import SHOWN
from recuse.security.files import delete_pages, write_files


def small_page(template: str, *, depth: int, **shown: Any) -> str:
    """The page; `depth`: folders between it and the report, whose address `up` is."""
    style = _style()
    about = {**shown, "up": "../" * depth, "style": Markup(style), "style_hash": style_hash(style)}
    return environment().get_template(template).render(about).strip() + "\n"


@cache
def _style() -> str:
    return environment().get_template("replies/style.css.j2").render().strip()


def write_overview(view: ResultsModel, written: Mapping[str, RepliesRow], reports: Path) -> list[Path]:
    """Write the index and a page per judge, and delete our pages that no cassette of this run stands behind. Nothing is
    written, and an old folder goes, where no replies were."""
    folder, places = reports / FOLDER, ReplyPlaces(written, "../../")
    pages = {judge_page(panel.name, judge): _judge_page(view, places, panel, judge)
             for panel in view.panels for judge in panel.judge_names if places}  # fmt: skip
    accounts = {place: account for place, account in sorted(written.items()) if account}
    if places:
        size = sum(account["bytes"] for account in accounts.values()) + sum(map(len, pages.values()))
        pages |= {"index.html": small_page(
            "replies/index.html.j2", depth=1, view=view, judge_page=judge_page, size=f"{size / 1e6:.1f}",
            places=[(*place.split("/", 1), place_anchor(place), account) for place, account in accounts.items()],
            files=len(pages) + sum(len(account["files"]) for account in accounts.values()),
            replies=sum(account["replies"] for account in accounts.values()),
        )}  # fmt: skip
    paths = write_files(reports, {f"{FOLDER}/{name}": text for name, text in pages.items()})
    kept = {folder / name for account in accounts.values() for name in account["files"]} | set(paths)
    delete_pages(reports, folder.rglob("*.html"), kept)
    return paths


def _judge_page(view: ResultsModel, places: ReplyPlaces, panel: Panel, judge: str) -> str:
    own = without_twins(n for n in view.numbers if n.who == judge and n.subject.get("panel") == panel.name)
    badness = list(SHOWN)
    return small_page(
        "replies/judge.html.j2",
        depth=3,
        panel=panel,
        label=view.label(judge, panel),
        words=view.words_on(panel.name, judge),
        gated=sorted((n for n in own if n.verdict), key=lambda n: (badness.index(n.state), *view.rank(n))),
        report=f"{STUDIES}/{panel.name}.html" if panel.name in view.studies else "index.html",
        others=sorted((n for n in own if not n.verdict), key=lambda n: (n.measure["rank"], n.metric, view.rank(n))),
        places=places,
        replies=places.said_by(panel.name, judge),
    )
