"""People who come out of a model are called so wherever numbers about them may stand, and others are not."""

from __future__ import annotations

import re

import pytest
import samples
from page_reader import page

from recuse.report.canonical_form import normalised
from recuse.report.first_line import headline
from recuse.report.page import summary
from recuse.report.terminal_text import terminal


def results(*, simulated: bool) -> samples.Results:
    found = samples.both()
    task = found["verdicts"][0]["subject"]["task"]
    known = {entry["name"]: entry for entry in found.get("tasks") or ()}
    about = known.setdefault(task, {"name": task, "criteria": []}) | ({"people_simulated": True} if simulated else {})
    return found | {"tasks": [*(entry for name, entry in known.items() if name != task), about]}


def written(name: str, results: samples.Results) -> str:
    if name == "terminal":
        return terminal(results, 200)
    plain = normalised(results)
    plain["headline"] = headline(plain)
    return summary(plain) if name == "summary" else page(plain, plain["headline"])


@pytest.mark.parametrize("name", ["terminal", "summary", "page"])
def test_every_group_of_the_task_says_so(name: str) -> None:
    assert "simulated" not in written(name, results(simulated=False))
    text = written(name, results(simulated=True))
    marked = "people simulated" if name != "page" else '<span class="badge people simulated">'
    groups = {"terminal": r"^ *published \(", "summary": r"^\*\*published\*\*", "page": r"<h3>Panel published,"}[name]
    lines = re.findall(rf"{groups}.*", text, flags=re.MULTILINE)
    assert lines
    assert all(marked in line for line in lines)
