"""A first suite, of templates below `files/`; prompts and workflows have other marks than their << >> and <% %>."""

import json
from functools import partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FILES = Path(__file__).parent / "files"


def rendered(name: str, **values: object) -> str:
    """The template of this name with the values filled in."""
    env = Environment(
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>",
        loader=FileSystemLoader(FILES), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    env.filters["quoted"] = partial(json.dumps, ensure_ascii=False)
    return env.get_template(name).render(values)
