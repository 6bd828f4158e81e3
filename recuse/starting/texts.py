"""The files that `recuse init` writes, and the first prompts for a stored log: templates below `files/`, whose marks,
`<< name >>` and `<% if name %>`, are told from those of prompts and of workflows."""

from __future__ import annotations

import json
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FILES = Path(__file__).parent / "files"
CONFTEST = '"""Fixtures of your own for evals/ go here; the shipped questions need none."""\n'
IGNORED = (FILES / "gitignore").read_text(encoding="utf-8")
PYTEST_TABLE = "[tool.pytest.ini_options]"


def rendered(name: str, **values: object) -> str:
    """The template of this name with the values filled in."""
    env = Environment(
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>",
        loader=FileSystemLoader(FILES), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    return env.get_template(name).render(values)


def task(protocol: str) -> dict[str, str]:
    """An example of a task that this protocol asks about, path below the task's folder -> text."""
    folder = FILES / protocol
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.*") if path.is_file()
    }  # fmt: skip


def pyproject(panels: list[str]) -> str:
    """pyproject.toml of a new repository that examines these panels."""
    return rendered("settings.toml", panels=", ".join(json.dumps(panel, ensure_ascii=False) for panel in panels))


def readme(panels: list[str], first: list[str], *, endpoint: bool = False) -> str:
    """README.md of a new repository. `first`: what the first run says of each judge; `endpoint`: with a panel of a
    judge to record."""
    return rendered("readme.md", panels=panels, first=first, endpoint=endpoint)


def workflow(action: str = "") -> str:
    """The workflow: Recuse's actions where they can be reached (`action`: the address of the first), else their steps.
    What a pull request brings runs without any right to write; its comment is a job that checks out nothing."""
    return rendered("workflow.yml", action=action)


def panel(endpoint: str, model: str, protocol: str = "rubric", use: str = "") -> str:
    """A panel file for a judge at this endpoint, and for a second one where `protocol` compares judges."""
    uses = json.dumps(use.split(",")) if use else ""
    return rendered("panel.toml", endpoint=endpoint, model=model, protocol=protocol, use=uses)


def example_ratings() -> str:
    """Made-up ratings of 400 replies: two people, and a judge that errs less often than they do and is cleared to
    decide. No random numbers."""
    lines = ["item,system,judge,anna,ben"]
    for k in range(400):
        passes = (k * 7) % 12 < 7
        wrong = {"judge": k % 29 == 4, "anna": k % 19 == 5, "ben": k % 13 == 6}
        answers = ("pass" if passes != wrong[name] else "fail" for name in ("judge", "anna", "ben"))
        lines.append(",".join([f"reply {k + 1}", "ab"[k % 2], *answers]))
    return "\n".join(lines) + "\n"
